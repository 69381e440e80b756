#include "dsi.h"

#include <math.h>
#include <stdlib.h>

#include "mesh_edges.h"

/* Cotangents of opposite angles. The area of slivers has a lower bound, as in the flow (docs/mesh-smooth.md).
 * Weights must be positive, otherwise a vertex could be forced outside of its neighbours, so sums below `least`
 * are raised to `least`. */
static const double sliver = 1e-3, least = 1e-2;

static double cotangent(const mesh *m, int32_t halfedge) {
  const int32_t next = mesh_halfedge_next(halfedge);
  const double *a = m->positions + 3 * (size_t)mesh_halfedge_from(m, halfedge);
  const double *b = m->positions + 3 * (size_t)mesh_halfedge_from(m, next);
  const double *apex = m->positions + 3 * (size_t)mesh_halfedge_to(m, next);
  double u[3], v[3], dot = 0, squares = 0;
  for (int c = 0; c < 3; c++) {
    u[c] = a[c] - apex[c];
    v[c] = b[c] - apex[c];
    dot += u[c] * v[c];
    squares += u[c] * u[c] + v[c] * v[c] + (b[c] - a[c]) * (b[c] - a[c]);
  }
  const double x = u[1] * v[2] - u[2] * v[1], y = u[2] * v[0] - u[0] * v[2], z = u[0] * v[1] - u[1] * v[0];
  const double cross = fmax(sqrt(x * x + y * y + z * z), sliver * squares);
  return cross > 0 ? dot / cross : 0;
}

static double length(const mesh *m, int32_t a, int32_t b) {
  double squares = 0;
  for (size_t c = 0; c < 3; c++) {
    const double d = m->positions[3 * (size_t)a + c] - m->positions[3 * (size_t)b + c];
    squares += d * d;
  }
  return sqrt(squares);
}

/* The weight of an edge. A boundary edge is part of a curve, on which the weight is 1 / length. */
static double edge_weight(const mesh *m, const mesh_edges *edges, int32_t e, dsi_weights kind,
                          double shortest) {
  if (kind == DSI_UNIFORM) return 1;
  const int32_t first = edges->first[e], end = edges->first[e + 1], h = edges->halfedges[first];
  if (end - first == 1) return 1 / fmax(length(m, mesh_halfedge_from(m, h), mesh_halfedge_to(m, h)), shortest);
  double sum = 0;
  for (int32_t k = first; k < end; k++) sum += cotangent(m, edges->halfedges[k]);
  return fmax(sum, least);
}

/* Returns 1 if the edge is a condition's neighbour for the vertex. Boundary vertices use only their neighbours
 * along the boundary, because the others would pull them inwards. */
static int counts_for(const dsi_rows *rows, int on_boundary, int32_t vertex) {
  return on_boundary || !rows->boundary[vertex];
}

static void mark_boundary(const mesh *m, const mesh_edges *edges, dsi_rows *rows) {
  for (int32_t e = 0; e < edges->count; e++) {
    const int32_t h = edges->halfedges[edges->first[e]];
    if (edges->first[e + 1] - edges->first[e] != 1) continue;
    rows->boundary[mesh_halfedge_from(m, h)] = rows->boundary[mesh_halfedge_to(m, h)] = 1;
  }
}

static void fill(const mesh *m, const mesh_edges *edges, dsi_weights kind, double shortest, dsi_rows *rows) {
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t e = 0; e < edges->count; e++) {
      const int32_t h = edges->halfedges[edges->first[e]];
      const int on_boundary = edges->first[e + 1] - edges->first[e] == 1;
      const int32_t ends[2] = {mesh_halfedge_from(m, h), mesh_halfedge_to(m, h)};
      const double weight = pass ? edge_weight(m, edges, e, kind, shortest) : 0;
      for (int k = 0; k < 2; k++) {
        if (!counts_for(rows, on_boundary, ends[k])) continue;
        int32_t *const at = &rows->offsets[ends[k] + 1];
        if (pass) {
          rows->neighbours[*at] = ends[1 - k];
          rows->weights[*at] = weight;
        }
        ++*at;
      }
    }
    if (pass) break;
    /* offsets[v + 1] is now set to the beginning of v. The second pass advances it to the end of v. */
    int32_t begin = 0;
    for (int32_t v = 0; v < m->vertex_count; v++) {
      const int32_t count = rows->offsets[v + 1];
      rows->offsets[v + 1] = begin;
      begin += count;
    }
  }
  for (int32_t v = 0; v < m->vertex_count; v++) {
    double sum = 0;
    for (int32_t k = rows->offsets[v]; k < rows->offsets[v + 1]; k++) sum += rows->weights[k];
    for (int32_t k = rows->offsets[v]; k < rows->offsets[v + 1]; k++) rows->weights[k] /= sum;
  }
}

int dsi_rows_create(const mesh *m, dsi_weights kind, dsi_rows *rows, char message[MESH_MESSAGE]) {
  mesh_edges edges;
  mesh_measures measures;
  *rows = (dsi_rows){0};
  if (mesh_measure(m, &measures, message) || mesh_edges_find(m, &edges, message)) return 1;
  const size_t vertices = (size_t)m->vertex_count, most = 2 * (size_t)edges.count + 1;
  *rows = (dsi_rows){calloc(vertices + 1, sizeof *rows->offsets), malloc(most * sizeof *rows->neighbours),
                     malloc(most * sizeof *rows->weights), calloc(vertices, 1)};
  const int failed = !rows->offsets || !rows->neighbours || !rows->weights || !rows->boundary;
  if (failed) {
    dsi_rows_free(rows);
    mesh_fail(message, "out of memory for the neighbours of %d vertices", (int)m->vertex_count);
  } else {
    mark_boundary(m, &edges, rows);
    fill(m, &edges, kind, 1e-9 * measures.diagonal, rows);
  }
  mesh_edges_free(&edges);
  return failed;
}

void dsi_rows_free(dsi_rows *rows) {
  free(rows->offsets);
  free(rows->neighbours);
  free(rows->weights);
  free(rows->boundary);
  *rows = (dsi_rows){0};
}
