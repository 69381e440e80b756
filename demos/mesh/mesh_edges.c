#include "mesh_edges.h"

#include <stdlib.h>

/* Sorts `count` halfedges by their lower or higher vertex. The sort is stable. */
static void sort_by_vertex(const mesh *m, int higher, const int32_t *from, int32_t count, int32_t *to,
                           int32_t *offsets) {
  for (int32_t v = 0; v <= m->vertex_count; v++) offsets[v] = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t i = 0; i < count; i++) {
      const int32_t a = mesh_halfedge_from(m, from[i]), b = mesh_halfedge_to(m, from[i]);
      const int32_t key = (a < b) == higher ? b : a;
      if (pass)
        to[offsets[key]++] = from[i];
      else
        offsets[key + 1]++;
    }
    if (!pass)
      for (int32_t v = 0; v < m->vertex_count; v++) offsets[v + 1] += offsets[v];
  }
}

static int same_edge(const mesh *m, int32_t g, int32_t h) {
  const int32_t a = mesh_halfedge_from(m, g), b = mesh_halfedge_to(m, g);
  const int32_t c = mesh_halfedge_from(m, h), d = mesh_halfedge_to(m, h);
  return (a == c && b == d) || (a == d && b == c);
}

int mesh_edges_find(const mesh *m, mesh_edges *edges, char message[MESH_MESSAGE]) {
  const size_t halfedges = 3 * (size_t)m->triangle_count;
  int32_t *by_higher = malloc(sizeof *by_higher * (halfedges + 1));
  int32_t *offsets = malloc(sizeof *offsets * ((size_t)m->vertex_count + 1));
  *edges = (mesh_edges){0, calloc(halfedges + 1, sizeof *edges->halfedges),
                        malloc(sizeof *edges->first * (halfedges + 1))};
  if (!by_higher || !offsets || !edges->halfedges || !edges->first) {
    free(by_higher);
    free(offsets);
    mesh_edges_free(edges);
    return mesh_fail(message, "out of memory for the edges of %d triangles", m->triangle_count);
  }
  int32_t count = 0;
  for (int32_t h = 0; h < (int32_t)halfedges; h++)
    if (mesh_halfedge_from(m, h) != mesh_halfedge_to(m, h)) edges->halfedges[count++] = h;
  sort_by_vertex(m, 1, edges->halfedges, count, by_higher, offsets);
  sort_by_vertex(m, 0, by_higher, count, edges->halfedges, offsets);
  for (int32_t i = 0; i < count; i++)
    if (i == 0 || !same_edge(m, edges->halfedges[i - 1], edges->halfedges[i])) edges->first[edges->count++] = i;
  edges->first[edges->count] = count;
  free(by_higher);
  free(offsets);
  return 0;
}

void mesh_edges_free(mesh_edges *edges) {
  free(edges->halfedges);
  free(edges->first);
  *edges = (mesh_edges){0};
}

int32_t mesh_set_find(int32_t *parent, int32_t i) {
  while (parent[i] != i) {
    parent[i] = parent[parent[i]];
    i = parent[i];
  }
  return i;
}

int mesh_set_join(int32_t *parent, int32_t i, int32_t j) {
  i = mesh_set_find(parent, i);
  j = mesh_set_find(parent, j);
  if (i == j) return 0;
  if (i < j)
    parent[j] = i;
  else
    parent[i] = j;
  return 1;
}
