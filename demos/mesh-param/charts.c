#include "charts.h"

#include <stdlib.h>

int charts_edge_joins(const mesh *m, const mesh_edges *edges, int32_t e) {
  const int32_t *pair = edges->halfedges + edges->first[e];
  return edges->first[e + 1] - edges->first[e] == 2 &&
         mesh_halfedge_from(m, pair[0]) != mesh_halfedge_from(m, pair[1]);
}

static int joins(const mesh *m, const mesh_edges *edges, const unsigned char *cut, int32_t e) {
  return charts_edge_joins(m, edges, e) && !(cut && cut[e]);
}

/* Corner k of triangle t has the number 3 t + k, and is the start of the halfedge with that number. Corners of
 * a vertex are one flat vertex if edges at the vertex join their triangles. Builds disjoint sets of corners and
 * of triangles. */
static void join_corners(const mesh *m, const mesh_edges *edges, const unsigned char *cut, int32_t *corner_set,
                         int32_t *triangle_set) {
  for (int32_t h = 0; h < 3 * m->triangle_count; h++) corner_set[h] = h;
  for (int32_t t = 0; t < m->triangle_count; t++) triangle_set[t] = t;
  for (int32_t e = 0; e < edges->count; e++) {
    if (!joins(m, edges, cut, e)) continue;
    const int32_t g = edges->halfedges[edges->first[e]], h = edges->halfedges[edges->first[e] + 1];
    mesh_set_join(triangle_set, g / 3, h / 3);
    mesh_set_join(corner_set, g, mesh_halfedge_next(h));
    mesh_set_join(corner_set, mesh_halfedge_next(g), h);
  }
}

/* Numbers charts in the order of their first triangles. */
static int number_charts(const mesh *m, int32_t *triangle_set, charts *c) {
  for (int32_t t = 0; t < m->triangle_count; t++) {
    const int32_t root = mesh_set_find(triangle_set, t);
    c->chart_of[t] = root == t ? c->count++ : c->chart_of[root];
  }
  c->chart = calloc((size_t)c->count + 1, sizeof *c->chart);
  if (!c->chart) return 1;
  for (int32_t t = 0; t < m->triangle_count; t++) c->chart[c->chart_of[t]].triangles++;
  for (int32_t i = 1; i < c->count; i++)
    c->chart[i].first_triangle = c->chart[i - 1].first_triangle + c->chart[i - 1].triangles;
  for (int32_t i = 0; i < c->count; i++) c->chart[i].triangles = 0;
  for (int32_t t = 0; t < m->triangle_count; t++) {
    chart *at = &c->chart[c->chart_of[t]];
    c->order[at->first_triangle + at->triangles++] = t;
  }
  return 0;
}

/* Numbers flat vertices chart by chart, within a chart in the order of the mesh's vertices. `first` and
 * `by_vertex` have room for the corners of all vertices. */
static void number_vertices(const mesh *m, int32_t *corner_set, int32_t *first, int32_t *by_vertex, charts *c) {
  const int32_t corners = 3 * m->triangle_count;
  for (int32_t v = 0; v <= m->vertex_count; v++) first[v] = 0;
  for (int32_t h = 0; h < corners; h++) {
    if (mesh_set_find(corner_set, h) != h) continue;
    c->chart[c->chart_of[h / 3]].vertices++;
    first[m->triangles[h] + 1]++;
    c->vertices++;
  }
  for (int32_t i = 1; i < c->count; i++)
    c->chart[i].first_vertex = c->chart[i - 1].first_vertex + c->chart[i - 1].vertices;
  for (int32_t i = 0; i < c->count; i++) c->chart[i].vertices = 0;
  for (int32_t v = 0; v < m->vertex_count; v++) first[v + 1] += first[v];
  for (int32_t h = 0; h < corners; h++)
    if (corner_set[h] == h) by_vertex[first[m->triangles[h]]++] = h;
  for (int32_t i = 0; i < c->vertices; i++) {
    const int32_t h = by_vertex[i];
    chart *at = &c->chart[c->chart_of[h / 3]];
    c->corner[h] = at->first_vertex + at->vertices++;
    c->vertex[c->corner[h]] = m->triangles[h];
  }
  for (int32_t h = 0; h < corners; h++) c->corner[h] = c->corner[mesh_set_find(corner_set, h)];
}

/* Finds boundary loops, as disjoint sets of flat vertices joined by boundary edges: a flat vertex is on at most
 * one loop. Computes the genus from Euler's formula V - E + F = 2 - 2 g - loops. */
static void find_boundary(const mesh *m, const mesh_edges *edges, const unsigned char *cut, int32_t *loop_set,
                          charts *c) {
  for (int32_t i = 0; i < c->vertices; i++) loop_set[i] = i;
  for (int32_t e = 0; e < edges->count; e++) {
    if (joins(m, edges, cut, e)) continue;
    for (int32_t i = edges->first[e]; i < edges->first[e + 1]; i++) {
      const int32_t h = edges->halfedges[i], a = c->corner[h], b = c->corner[mesh_halfedge_next(h)];
      chart *at = &c->chart[c->chart_of[h / 3]];
      at->boundary_edges++;
      at->loops += !mesh_set_join(loop_set, a, b);
      c->boundary[a] = c->boundary[b] = 1;
    }
  }
  for (int32_t i = 0; i < c->count; i++) {
    chart *at = &c->chart[i];
    const int32_t edges_of_it = (3 * at->triangles + at->boundary_edges) / 2;
    at->genus = (2 - at->loops - (at->vertices - edges_of_it + at->triangles)) / 2;
  }
}

int charts_find(const mesh *m, const mesh_edges *edges, const unsigned char *cut, charts *c,
                char message[MESH_MESSAGE]) {
  const size_t triangles = (size_t)m->triangle_count, corners = 3 * triangles;
  int32_t *corner_set = malloc((corners + 1) * sizeof *corner_set),
          *triangle_set = malloc((triangles + 1) * sizeof *triangle_set),
          *first = malloc(((size_t)m->vertex_count + 1) * sizeof *first),
          *by_vertex = calloc(corners + 1, sizeof *by_vertex);
  *c = (charts){.corner = malloc((corners + 1) * sizeof *c->corner),
                .vertex = malloc((corners + 1) * sizeof *c->vertex),
                .order = malloc((triangles + 1) * sizeof *c->order),
                .chart_of = malloc((triangles + 1) * sizeof *c->chart_of),
                .boundary = calloc(corners + 1, 1)};
  int failed = !corner_set || !triangle_set || !first || !by_vertex || !c->corner || !c->vertex || !c->order ||
               !c->chart_of || !c->boundary;
  if (!failed) {
    join_corners(m, edges, cut, corner_set, triangle_set);
    failed = number_charts(m, triangle_set, c);
  }
  if (!failed) {
    number_vertices(m, corner_set, first, by_vertex, c);
    find_boundary(m, edges, cut, corner_set, c);
  }
  free(corner_set);
  free(triangle_set);
  free(first);
  free(by_vertex);
  if (!failed) return 0;
  charts_free(c);
  return mesh_fail(message, "out of memory for the charts of %d triangles", (int)m->triangle_count);
}

void charts_free(charts *c) {
  free(c->chart);
  free(c->corner);
  free(c->vertex);
  free(c->order);
  free(c->chart_of);
  free(c->boundary);
  *c = (charts){0};
}
