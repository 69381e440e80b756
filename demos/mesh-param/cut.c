#include "cut.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "distances.h"

/* What cutting works on: the mesh, its edges, and its charts before the cut. */
typedef struct cutter {
  const mesh *m;
  const mesh_edges *edges;
  const charts *c;
  distances d;
  int32_t *edge_of;    /* of a halfedge */
  unsigned char *cut;  /* of an edge */
  unsigned char *tree; /* of an edge: whether the shortest paths run along it */
  int32_t *degree;     /* of a flat vertex: edges that are cut */
  int32_t *face_set;   /* triangles, and flat vertices for boundary loops */
} cutter;

/* ---- A sphere: a path ---- */

/* Cuts the shortest path to the source, up to where it is cut already. */
static void cut_path(cutter *w, int32_t vertex) {
  while (w->d.from[vertex] >= 0 && !w->cut[w->edge_of[w->d.from[vertex]]]) {
    const int32_t halfedge = w->d.from[vertex];
    w->cut[w->edge_of[halfedge]] = 1;
    vertex = distances_other_end(w->c, halfedge, vertex);
  }
}

/* A vertex at one end of the part, with the distances from there. */
static int32_t find_end(cutter *w, int32_t k) {
  distances_from(w->m, w->c, k, w->c->chart[k].first_vertex, &w->d);
  const int32_t end = distances_farthest(w->c, k, 0, w->d.distance);
  distances_from(w->m, w->c, k, end, &w->d);
  return end;
}

/* ---- Handles: loops ---- */

typedef struct candidate {
  double length; /* of the loop over this edge */
  int32_t halfedge;
} candidate;

/* The longest loop first; the order of edges decides between equals. */
static int compare_candidates(const void *a, const void *b) {
  const candidate *p = a, *q = b;
  if (p->length != q->length) return p->length > q->length ? -1 : 1;
  return (p->halfedge > q->halfedge) - (p->halfedge < q->halfedge);
}

/* Edges of the part that the paths do not use: one halfedge of each, and every one on the boundary. */
static size_t list_candidates(const cutter *w, int32_t k, candidate *list) {
  size_t count = 0;
  for (int32_t e = 0; e < w->edges->count; e++) {
    const int joins = charts_edge_joins(w->m, w->edges, e);
    const int32_t first = w->edges->first[e], end = joins ? first + 1 : w->edges->first[e + 1];
    for (int32_t i = first; i < end && !w->tree[e]; i++) {
      const int32_t h = w->edges->halfedges[i], a = w->c->corner[h], b = w->c->corner[mesh_halfedge_next(h)];
      if (w->c->chart_of[h / 3] != k) continue;
      list[count].length = w->d.distance[a] + w->d.distance[b] + distances_length(w->m, w->c, a, b);
      list[count++].halfedge = h;
    }
  }
  return count;
}

/* The set of faces on the other side of a halfedge: a triangle's, or that of a boundary loop, which counts as a
 * face and has the numbers of its vertices after those of triangles. */
static int32_t face_across(const cutter *w, int32_t h) {
  const int32_t e = w->edge_of[h], *pair = w->edges->halfedges + w->edges->first[e];
  if (!charts_edge_joins(w->m, w->edges, e)) return w->m->triangle_count + w->c->corner[h];
  return (pair[0] == h ? pair[1] : pair[0]) / 3;
}

static void join_boundary_loops(cutter *w, int32_t k) {
  for (int32_t h = 0; h < 3 * w->m->triangle_count; h++)
    if (w->c->chart_of[h / 3] == k && !charts_edge_joins(w->m, w->edges, w->edge_of[h]))
      mesh_set_join(w->face_set, w->m->triangle_count + w->c->corner[h],
                    w->m->triangle_count + w->c->corner[mesh_halfedge_next(h)]);
}

/* Faces are joined over the edges that make the longest loops, as long as no ring of faces closes; the edges
 * left over, two for every handle, close the short loops that open the part. */
static int cut_loops(cutter *w, int32_t k) {
  const chart *at = &w->c->chart[k];
  candidate *list = malloc((3 * (size_t)w->m->triangle_count + 1) * sizeof *list);
  if (!list) return 1;
  for (int32_t v = at->first_vertex; v < at->first_vertex + at->vertices; v++)
    if (w->d.from[v] >= 0) w->tree[w->edge_of[w->d.from[v]]] = 1;
  join_boundary_loops(w, k);
  const size_t count = list_candidates(w, k, list);
  qsort(list, count, sizeof *list, compare_candidates);
  for (size_t i = 0; i < count; i++) {
    const int32_t h = list[i].halfedge;
    if (mesh_set_join(w->face_set, h / 3, face_across(w, h))) continue;
    w->cut[w->edge_of[h]] = 1;
    cut_path(w, w->c->corner[h]);
    cut_path(w, w->c->corner[mesh_halfedge_next(h)]);
  }
  free(list);
  return 0;
}

/* Takes back what leads nowhere: from the loops' common vertex to where they part. */
static void trim(cutter *w, int32_t k) {
  int trimmed = 1;
  memset(w->degree, 0, (size_t)w->c->vertices * sizeof *w->degree);
  for (int32_t h = 0; h < 3 * w->m->triangle_count; h++) {
    const int32_t e = w->edge_of[h];
    if (w->c->chart_of[h / 3] != k || !w->cut[e] || w->edges->halfedges[w->edges->first[e]] != h) continue;
    w->degree[w->c->corner[h]]++;
    w->degree[w->c->corner[mesh_halfedge_next(h)]]++;
  }
  while (trimmed) {
    trimmed = 0;
    for (int32_t e = 0; e < w->edges->count; e++) {
      const int32_t h = w->edges->halfedges[w->edges->first[e]];
      if (!w->cut[e] || w->c->chart_of[h / 3] != k) continue;
      const int32_t a = w->c->corner[h], b = w->c->corner[mesh_halfedge_next(h)];
      const int loose_a = w->degree[a] == 1 && !w->c->boundary[a];
      const int loose_b = w->degree[b] == 1 && !w->c->boundary[b];
      if (!loose_a && !loose_b) continue;
      w->cut[e] = 0;
      w->degree[a]--;
      w->degree[b]--;
      trimmed = 1;
    }
  }
}

/* ---- Every part ---- */

static int needs_cut(const chart *at) {
  return at->loops == 0 || at->genus > 0;
}

static int refuse(const charts *c, int32_t k, char message[MESH_MESSAGE]) {
  const chart *at = &c->chart[k];
  char handles[60] = "";
  if (at->genus)
    snprintf(handles, sizeof handles, "%s %d handle%s", at->loops ? "has" : "and has", (int)at->genus,
             at->genus == 1 ? "" : "s");
  return mesh_fail(message,
                   "part %d of %d, %d triangles, %s%s, so it cannot be laid flat; --cut opens it, or cut it "
                   "along edges in a modelling program",
                   (int)k + 1, (int)c->count, (int)at->triangles,
                   at->loops   ? ""
                   : at->genus ? "is closed "
                               : "is closed",
                   handles);
}

static int cut_parts(cutter *w, cut_report *report, char message[MESH_MESSAGE]) {
  for (int32_t k = 0; k < w->c->count; k++) {
    const chart *at = &w->c->chart[k];
    if (!needs_cut(at)) continue;
    find_end(w, k);
    if (at->genus > 0) {
      if (cut_loops(w, k)) return mesh_fail(message, "out of memory to cut %d edges", (int)w->edges->count);
      trim(w, k);
    } else {
      cut_path(w, distances_farthest(w->c, k, 0, w->d.distance));
    }
    report->closed += at->loops == 0;
    report->handles += at->genus;
  }
  for (int32_t e = 0; e < w->edges->count; e++) report->edges += w->cut[e];
  return 0;
}

static int cut_open(const mesh *m, const mesh_edges *edges, charts *c, cut_report *report,
                    char message[MESH_MESSAGE]) {
  cutter w = {.m = m,
              .edges = edges,
              .c = c,
              .edge_of = malloc(3 * (size_t)m->triangle_count * sizeof *w.edge_of),
              .cut = calloc((size_t)edges->count + 1, 1),
              .tree = calloc((size_t)edges->count + 1, 1),
              .degree = malloc(((size_t)c->vertices + 1) * sizeof *w.degree),
              .face_set = malloc(((size_t)m->triangle_count + (size_t)c->vertices) * sizeof *w.face_set)};
  charts opened = {0};
  int failed = !w.edge_of || !w.cut || !w.tree || !w.degree || !w.face_set;
  if (failed) mesh_fail(message, "out of memory to cut %d triangles", (int)m->triangle_count);
  if (!failed) failed = distances_create(m, c, &w.d, message);
  if (!failed) {
    for (int32_t e = 0; e < edges->count; e++)
      for (int32_t i = edges->first[e]; i < edges->first[e + 1]; i++) w.edge_of[edges->halfedges[i]] = e;
    for (int32_t i = 0; i < m->triangle_count + c->vertices; i++) w.face_set[i] = i;
    failed = cut_parts(&w, report, message);
  }
  if (!failed) failed = charts_find(m, edges, w.cut, &opened, message);
  distances_free(&w.d);
  free(w.edge_of);
  free(w.cut);
  free(w.tree);
  free(w.degree);
  free(w.face_set);
  if (failed) return 1;
  charts_free(c);
  *c = opened;
  return 0;
}

int cut_into_disks(const mesh *m, int may_cut, charts *c, cut_report *report, char message[MESH_MESSAGE]) {
  mesh_edges edges;
  *report = (cut_report){0};
  if (mesh_edges_find(m, &edges, message)) return 1;
  int failed = charts_find(m, &edges, NULL, c, message), closed = 0;
  for (int32_t k = 0; k < c->count && !failed; k++) {
    if (!needs_cut(&c->chart[k])) continue;
    closed = 1;
    if (!may_cut) failed = refuse(c, k, message);
  }
  if (!failed && closed) failed = cut_open(m, &edges, c, report, message);
  /* A part with holes and handles may need a cut of what the first one has left. */
  for (int32_t k = 0; k < c->count && !failed; k++)
    if (needs_cut(&c->chart[k]))
      failed = mesh_fail(message,
                         "part %d of %d still has %d handles after the cut; cut it along edges in a "
                         "modelling program",
                         (int)k + 1, (int)c->count, (int)c->chart[k].genus);
  mesh_edges_free(&edges);
  if (failed) charts_free(c);
  return failed;
}
