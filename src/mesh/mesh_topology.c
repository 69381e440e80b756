/* Converts triangles to sparsity patterns: each vertex's neighbours, and the triangles between them.
 *
 * At a vertex i each of its triangles (i, j, k) passes along two edges (Bolz et al. 2003, 3.1.2). It leaves
 * along ij, where its third vertex k is called next. It returns along ki, where its third vertex j is called
 * previous. After sorting by neighbour, the two records of an inner edge are adjacent. A single record is a
 * boundary edge. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/core/core.h"
#include "mesh_operator.h"

/* The triangles at each vertex, as corners 3 t + k for vertex k of triangle t. */
typedef struct incidence {
  int32_t *first, *corners;
  int32_t most; /* maximum number of triangles at a vertex */
} incidence;

/* A triangle at an edge of the current vertex. */
typedef struct edge_side {
  int32_t neighbour, third, triangle;
  int leaves; /* 1: the triangle passes from the vertex to the neighbour, third is next; 0: third is previous */
} edge_side;

typedef struct builder {
  ts_context *context;
  const ts_mesh_flow_desc *desc;
  incidence at;
  edge_side *sides;
  int32_t *neighbours, *boundary_edges; /* per vertex */
} builder;

/* ---- Triangles ---- */

static ts_status check_triangles(ts_context *context, const ts_mesh_flow_desc *desc) {
  if (desc->triangles > INT32_MAX / 3)
    return tsi_fail(context, TS_ERROR_LIMIT, "triangles is %d; a mesh has at most %d", desc->triangles,
                    INT32_MAX / 3);
  if (desc->vertices > TSI_MAX_SIZE)
    return tsi_fail(context, TS_ERROR_LIMIT, "vertices is %d; a mesh has at most %d", desc->vertices,
                    TSI_MAX_SIZE);
  for (int32_t t = 0; t < desc->triangles; t++) {
    const int32_t *v = desc->triangle_vertices + 3 * (size_t)t;
    for (int k = 0; k < 3; k++)
      if (v[k] < 0 || v[k] >= desc->vertices)
        return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "triangle %d has vertex %d; it must be 0 to %d", t,
                        v[k], desc->vertices - 1);
    for (int k = 0; k < 3; k++)
      if (v[k] == v[(k + 1) % 3])
        return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "triangle %d has vertex %d twice", t, v[k]);
  }
  return TS_OK;
}

/* Counting sort of all corners by vertex. */
static ts_status collect_incidence(builder *b) {
  const ts_mesh_flow_desc *desc = b->desc;
  const size_t corners = 3 * (size_t)desc->triangles, vertices = (size_t)desc->vertices;
  incidence *at = &b->at;
  at->first = tsi_calloc(b->context, vertices + 2, sizeof *at->first);
  at->corners = tsi_malloc(b->context, corners, sizeof *at->corners);
  if (!at->first || !at->corners)
    return tsi_out_of_memory(b->context, "a mesh", (corners + vertices) * sizeof *at->corners);
  for (size_t c = 0; c < corners; c++) at->first[desc->triangle_vertices[c] + 2]++;
  for (size_t v = 2; v < vertices + 2; v++) {
    if (at->first[v] > at->most) at->most = at->first[v];
    at->first[v] += at->first[v - 1];
  }
  for (size_t c = 0; c < corners; c++) at->corners[at->first[desc->triangle_vertices[c] + 1]++] = (int32_t)c;
  return TS_OK;
}

/* ---- Edges ---- */

static int compare_sides(const void *a, const void *b) {
  const edge_side *x = a, *y = b;
  if (x->neighbour != y->neighbour) return x->neighbour < y->neighbour ? -1 : 1;
  return x->triangle < y->triangle ? -1 : x->triangle > y->triangle;
}

static void sort_sides(edge_side *sides, int32_t count) {
  enum { few = 48 };
  if (count > few) {
    qsort(sides, (size_t)count, sizeof *sides, compare_sides);
    return;
  }
  for (int32_t k = 1; k < count; k++) {
    const edge_side side = sides[k];
    int32_t to = k;
    for (; to > 0 && compare_sides(&sides[to - 1], &side) > 0; to--) sides[to] = sides[to - 1];
    sides[to] = side;
  }
}

/* All edge sides at a vertex, sorted by neighbour and triangle. */
static int32_t collect_sides(builder *b, int32_t vertex) {
  int32_t count = 0;
  for (int32_t n = b->at.first[vertex]; n < b->at.first[vertex + 1]; n++) {
    const int32_t corner = b->at.corners[n], t = corner / 3, k = corner % 3;
    const int32_t *v = b->desc->triangle_vertices + 3 * (size_t)t;
    const int32_t following = v[(k + 1) % 3], before = v[(k + 2) % 3];
    b->sides[count++] = (edge_side){following, before, t, 1};
    b->sides[count++] = (edge_side){before, following, t, 0};
  }
  sort_sides(b->sides, count);
  return count;
}

/* The number of sides from `first` that share a neighbour. */
static int32_t sides_of_edge(const builder *b, int32_t first, int32_t count) {
  int32_t end = first + 1;
  while (end < count && b->sides[end].neighbour == b->sides[first].neighbour) end++;
  return end - first;
}

static ts_status refuse_edge(const builder *b, int32_t vertex, const edge_side *sides, int32_t count) {
  const int32_t low = vertex < sides->neighbour ? vertex : sides->neighbour;
  const int32_t high = vertex < sides->neighbour ? sides->neighbour : vertex;
  if (count == 2)
    return tsi_fail(b->context, TS_ERROR_INVALID_ARGUMENT,
                    "triangles %d and %d traverse edge %d-%d in the same direction; flip one of them, or "
                    "constrain both vertices",
                    sides[0].triangle, sides[1].triangle, low, high);
  char list[96] = "";
  for (int32_t k = 0; k < count && k < 5; k++) {
    const size_t used = strlen(list);
    snprintf(list + used, sizeof list - used, "%s%d", k ? ", " : "", sides[k].triangle);
  }
  return tsi_fail(
      b->context, TS_ERROR_INVALID_ARGUMENT,
      "edge %d-%d has %d triangles: %s%s; an edge has two at most, unless both vertices are constrained", low,
      high, count, list, count > 5 ? ", ..." : "");
}

/* Counts the neighbours and boundary edges of each vertex, and rejects triangles that do not form a surface. */
static ts_status look_at_edges(builder *b) {
  const unsigned char *constrained = b->desc->constrained;
  for (int32_t v = 0; v < b->desc->vertices; v++) {
    const int32_t count = collect_sides(b, v);
    for (int32_t k = 0, n; k < count; k += n) {
      const edge_side *side = &b->sides[k];
      n = sides_of_edge(b, k, count);
      if ((n > 2 || (n == 2 && side[0].leaves == side[1].leaves)) &&
          !(constrained && constrained[v] && constrained[side->neighbour]))
        return refuse_edge(b, v, side, n);
      b->neighbours[v]++;
      b->boundary_edges[v] += n == 1;
    }
  }
  return TS_OK;
}

/* ---- Patterns ---- */

void tsi_mesh_pattern_free(ts_context *context, tsi_mesh_pattern *pattern) {
  tsi_free(context, pattern->row_offsets);
  tsi_free(context, pattern->columns);
  tsi_free(context, pattern->previous);
  tsi_free(context, pattern->next);
  *pattern = (tsi_mesh_pattern){0};
}

void tsi_mesh_topology_free(ts_context *context, tsi_mesh_topology *topology) {
  tsi_free(context, topology->constrained);
  tsi_mesh_pattern_free(context, &topology->surface);
  tsi_mesh_pattern_free(context, &topology->curve);
}

/* Off-diagonal entries of a vertex's row. */
static int32_t row_length(const builder *b, tsi_mesh_kind kind, int32_t v) {
  if (kind == TSI_MESH_CURVE) return b->boundary_edges[v];
  return b->boundary_edges[v] ? 0 : b->neighbours[v];
}

static ts_status allocate_pattern(const builder *b, const unsigned char *constrained, tsi_mesh_kind kind,
                                  tsi_mesh_pattern *p) {
  ts_context *context = b->context;
  const int32_t rows = b->desc->vertices;
  p->row_offsets = tsi_malloc(context, (size_t)rows + 1, sizeof *p->row_offsets);
  if (!p->row_offsets) return tsi_out_of_memory(context, "a mesh", (size_t)rows * sizeof *p->row_offsets);
  int64_t entries = 0;
  for (int32_t v = 0; v < rows; v++) {
    p->row_offsets[v] = (int32_t)entries;
    if (!constrained[v]) entries += row_length(b, kind, v) + 1;
    if (entries > INT32_MAX)
      return tsi_fail(context, TS_ERROR_LIMIT, "the mesh has more than %d pairs of neighbours", INT32_MAX);
  }
  p->row_offsets[rows] = (int32_t)entries;
  p->rows = rows;
  p->columns = tsi_malloc(context, (size_t)entries, sizeof *p->columns);
  if (kind == TSI_MESH_SURFACE) {
    p->previous = tsi_malloc(context, (size_t)entries, sizeof *p->previous);
    p->next = tsi_malloc(context, (size_t)entries, sizeof *p->next);
  }
  if (!p->columns || (kind == TSI_MESH_SURFACE && (!p->previous || !p->next)))
    return tsi_out_of_memory(context, "a mesh", (size_t)entries * 3 * sizeof *p->columns);
  return TS_OK;
}

static void put(tsi_mesh_pattern *p, int32_t e, int32_t column, int32_t previous, int32_t next) {
  p->columns[e] = column;
  if (!p->next) return;
  p->previous[e] = previous;
  p->next[e] = next;
}

/* Fills the row of a vertex from its sorted sides: neighbours, and the diagonal in order. */
static void fill_row(const builder *b, tsi_mesh_kind kind, int32_t vertex, int32_t count, tsi_mesh_pattern *p) {
  int32_t e = p->row_offsets[vertex];
  int diagonal = 0;
  for (int32_t k = 0, n; k < count && row_length(b, kind, vertex) > 0; k += n) {
    const edge_side *side = &b->sides[k];
    n = sides_of_edge(b, k, count);
    if (kind == TSI_MESH_CURVE && n != 1) continue;
    if (!diagonal && side->neighbour > vertex) {
      put(p, e++, vertex, -1, -1);
      diagonal = 1;
    }
    /* A row of the surface has only inner edges. */
    const edge_side *leaving = side[0].leaves ? &side[0] : &side[n - 1];
    const edge_side *coming = side[0].leaves ? &side[n - 1] : &side[0];
    put(p, e++, side->neighbour, coming->third, leaving->third);
  }
  if (!diagonal) put(p, e, vertex, -1, -1);
}

static ts_status make_patterns(builder *b, tsi_mesh_topology *out) {
  const int flows = b->desc->boundary == TS_MESH_BOUNDARY_FLOW && out->boundary_vertices > 0;
  TSI_TRY(allocate_pattern(b, out->constrained, TSI_MESH_SURFACE, &out->surface));
  if (flows) TSI_TRY(allocate_pattern(b, out->constrained, TSI_MESH_CURVE, &out->curve));
  for (int32_t v = 0; v < b->desc->vertices; v++) {
    if (out->constrained[v]) continue;
    const int32_t count = collect_sides(b, v);
    fill_row(b, TSI_MESH_SURFACE, v, count, &out->surface);
    if (flows) fill_row(b, TSI_MESH_CURVE, v, count, &out->curve);
  }
  return TS_OK;
}

static ts_status mesh_topology_build(builder *b, tsi_mesh_topology *out) {
  ts_context *context = b->context;
  const size_t vertices = (size_t)b->desc->vertices;
  TSI_TRY(check_triangles(context, b->desc));
  TSI_TRY(collect_incidence(b));
  b->sides = tsi_malloc(context, 2 * (size_t)b->at.most, sizeof *b->sides);
  b->neighbours = tsi_calloc(context, vertices, sizeof *b->neighbours);
  b->boundary_edges = tsi_calloc(context, vertices, sizeof *b->boundary_edges);
  out->constrained = tsi_calloc(context, vertices, 1);
  if (!b->sides || !b->neighbours || !b->boundary_edges || !out->constrained)
    return tsi_out_of_memory(context, "a mesh", vertices * 9);
  TSI_TRY(look_at_edges(b));
  for (size_t v = 0; v < vertices; v++) {
    const int at_boundary = b->boundary_edges[v] > 0;
    out->boundary_vertices += at_boundary;
    out->constrained[v] = (b->desc->constrained && b->desc->constrained[v]) || b->neighbours[v] == 0 ||
                          (at_boundary && b->desc->boundary == TS_MESH_BOUNDARY_FIXED);
    out->constrained_vertices += out->constrained[v];
  }
  return make_patterns(b, out);
}

ts_status tsi_mesh_topology_create(ts_context *context, const ts_mesh_flow_desc *desc, tsi_mesh_topology *out) {
  builder b = {.context = context, .desc = desc};
  *out = (tsi_mesh_topology){0};
  const ts_status status = mesh_topology_build(&b, out);
  tsi_free(context, b.at.first);
  tsi_free(context, b.at.corners);
  tsi_free(context, b.sides);
  tsi_free(context, b.neighbours);
  tsi_free(context, b.boundary_edges);
  if (status < 0) tsi_mesh_topology_free(context, out);
  return status;
}
