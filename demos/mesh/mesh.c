#include "mesh.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "mesh_edges.h"

int mesh_fail(char message[MESH_MESSAGE], const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, MESH_MESSAGE, format, arguments);
  va_end(arguments);
  return 1;
}

int mesh_create(int32_t vertices, int32_t triangles, mesh *m, char message[MESH_MESSAGE]) {
  *m = (mesh){0};
  /* Numbers of halfedges and coordinates must fit into 32 bits. */
  if (vertices < 0 || vertices > INT32_MAX / 3 - 1 || triangles < 0 || triangles > INT32_MAX / 3 - 1)
    return mesh_fail(message, "a mesh of %d vertices and %d triangles is too large", vertices, triangles);
  m->positions = calloc((size_t)vertices + 1, 3 * sizeof *m->positions);
  m->triangles = calloc((size_t)triangles + 1, 3 * sizeof *m->triangles);
  if (!m->positions || !m->triangles) {
    mesh_destroy(m);
    return mesh_fail(message, "out of memory for a mesh of %d vertices and %d triangles", vertices, triangles);
  }
  m->vertex_count = vertices;
  m->triangle_count = triangles;
  return 0;
}

void mesh_destroy(mesh *m) {
  if (!m) return;
  free(m->positions);
  free(m->triangles);
  free(m->held);
  *m = (mesh){0};
}

/* ---- Measures ---- */

/* Adds the area of a triangle, and the volume of the tetrahedron that it forms with the centre. */
static void add_triangle(const double p[3][3], const double centre[3], double *area, double *volume) {
  double u[3], v[3], w[3];
  for (int c = 0; c < 3; c++) {
    u[c] = p[1][c] - p[0][c];
    v[c] = p[2][c] - p[0][c];
    w[c] = p[0][c] - centre[c];
  }
  const double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
  *area += sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) / 2;
  *volume += (n[0] * w[0] + n[1] * w[1] + n[2] * w[2]) / 6;
}

void mesh_area_volume(const mesh *m, const float *positions, int stride, const double centre[3], double *area,
                      double *volume) {
  *area = *volume = 0;
  for (int32_t t = 0; t < m->triangle_count; t++) {
    double p[3][3];
    for (int k = 0; k < 3; k++)
      for (int c = 0; c < 3; c++) p[k][c] = positions[(size_t)m->triangles[3 * t + k] * (size_t)stride + c];
    add_triangle(p, centre, area, volume);
  }
}

static void centre_of(const mesh_measures *measures, double centre[3]) {
  for (int c = 0; c < 3; c++) centre[c] = measures->low[c] / 2 + measures->high[c] / 2;
}

/* Measures the box of the vertices that have triangles, and counts the other vertices. */
static void measure_box(const mesh *m, const unsigned char *used, mesh_measures *measures) {
  for (int c = 0; c < 3; c++) {
    measures->low[c] = INFINITY;
    measures->high[c] = -INFINITY;
  }
  for (int32_t v = 0; v < m->vertex_count; v++) {
    measures->unreferenced += !used[v];
    for (int c = 0; c < 3 && used[v]; c++) {
      measures->low[c] = fmin(measures->low[c], m->positions[3 * v + c]);
      measures->high[c] = fmax(measures->high[c], m->positions[3 * v + c]);
    }
  }
  const double *low = measures->low, *high = measures->high;
  const double size[3] = {high[0] - low[0], high[1] - low[1], high[2] - low[2]};
  measures->diagonal = sqrt(size[0] * size[0] + size[1] * size[1] + size[2] * size[2]);
}

/* Corner c of a triangle is at the start of halfedge c. Corners of a vertex are joined across edges between
 * triangles, and then along the boundary, so that boundary loops that touch at a vertex remain separate. */
static void measure_edges(const mesh *m, const mesh_edges *edges, int32_t *triangle_set, int32_t *corner_set,
                          mesh_measures *measures) {
  measures->components = m->triangle_count;
  for (int32_t t = 0; t < m->triangle_count; t++) triangle_set[t] = t;
  for (int32_t h = 0; h < 3 * m->triangle_count; h++) corner_set[h] = h;
  for (int32_t e = 0; e < edges->count; e++) {
    const int32_t begin = edges->first[e], end = edges->first[e + 1], g = edges->halfedges[begin];
    for (int32_t i = begin + 1; i < end; i++)
      measures->components -= mesh_set_join(triangle_set, g / 3, edges->halfedges[i] / 3);
    if (end - begin != 2) continue;
    const int32_t h = edges->halfedges[begin + 1];
    const int agree = mesh_halfedge_from(m, g) != mesh_halfedge_from(m, h);
    mesh_set_join(corner_set, g, agree ? mesh_halfedge_next(h) : h);
    mesh_set_join(corner_set, mesh_halfedge_next(g), agree ? h : mesh_halfedge_next(h));
  }
  for (int32_t e = 0; e < edges->count; e++) {
    const int32_t h = edges->halfedges[edges->first[e]];
    if (edges->first[e + 1] - edges->first[e] > 1) continue;
    measures->boundary_edges++;
    measures->boundary_loops += !mesh_set_join(corner_set, h, mesh_halfedge_next(h));
  }
  measures->closed = measures->boundary_edges == 0;
}

int mesh_measure(const mesh *m, mesh_measures *measures, char message[MESH_MESSAGE]) {
  *measures = (mesh_measures){0};
  if (m->triangle_count == 0) return mesh_fail(message, "the mesh has no triangles");
  unsigned char *used = calloc((size_t)m->vertex_count + 1, 1);
  int32_t *triangle_set = malloc(sizeof *triangle_set * (size_t)m->triangle_count);
  int32_t *corner_set = malloc(sizeof *corner_set * 3 * (size_t)m->triangle_count);
  mesh_edges edges = {0};
  int failed = !used || !triangle_set || !corner_set;
  if (failed) mesh_fail(message, "out of memory to measure %d triangles", m->triangle_count);
  if (!failed) failed = mesh_edges_find(m, &edges, message);
  if (!failed) {
    for (size_t i = 0; i < 3 * (size_t)m->triangle_count; i++) used[m->triangles[i]] = 1;
    measure_box(m, used, measures);
    measure_edges(m, &edges, triangle_set, corner_set, measures);
    double centre[3];
    centre_of(measures, centre);
    for (int32_t t = 0; t < m->triangle_count; t++) {
      double p[3][3];
      for (int k = 0; k < 3; k++)
        for (int c = 0; c < 3; c++) p[k][c] = m->positions[3 * (size_t)m->triangles[3 * t + k] + (size_t)c];
      add_triangle(p, centre, &measures->area, &measures->volume);
    }
    if (measures->diagonal == 0)
      failed = mesh_fail(message, "all vertices of the triangles have the same position");
    else if (!isfinite(measures->area) || !isfinite(measures->volume))
      failed = mesh_fail(message, "the mesh is too large to measure: its bounding box has a diagonal of %g",
                         measures->diagonal);
  }
  free(used);
  free(triangle_set);
  free(corner_set);
  mesh_edges_free(&edges);
  return failed;
}

/* ---- Unit coordinates ---- */

void mesh_to_unit(const mesh *m, const mesh_measures *measures, float *unit) {
  double centre[3];
  centre_of(measures, centre);
  for (int32_t v = 0; v < m->vertex_count; v++)
    for (int c = 0; c < 3; c++)
      unit[3 * v + c] = (float)((m->positions[3 * v + c] - centre[c]) / measures->diagonal);
}

void mesh_from_unit(const mesh *m, const mesh_measures *measures, const float *unit_start, const float *unit,
                    double *positions) {
  for (size_t i = 0; i < 3 * (size_t)m->vertex_count; i++)
    positions[i] = m->positions[i] + ((double)unit[i] - (double)unit_start[i]) * measures->diagonal;
}
