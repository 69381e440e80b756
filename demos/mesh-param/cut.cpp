#include <algorithm>
#include <cstdio>
#include <exception>
#include <numeric>
#include <vector>

extern "C" {
#include "charts.h"
}
#include "distances.hpp"

namespace {

using std::vector;

/* The mesh, its edges, its charts before the cut, and the state of the cut. */
struct cutter {
  const mesh *m;
  const mesh_edges *edges;
  const charts *c;
  distances d;
  vector<int32_t> edge_of;    /* for each halfedge */
  vector<unsigned char> cut;  /* for each edge */
  vector<unsigned char> tree; /* for each edge: 1 if it is in the tree of shortest paths */
  vector<int32_t> degree;     /* for each flat vertex: number of cut edges */
  vector<int32_t> face_set;   /* disjoint sets of triangles, followed by flat vertices for boundary loops */

  cutter(const mesh *m_, const mesh_edges *edges_, const charts *c_)
      : m(m_), edges(edges_), c(c_), d(*m_, *c_), edge_of(3 * (size_t)m->triangle_count),
        cut((size_t)edges->count), tree((size_t)edges->count), degree((size_t)c->vertices),
        face_set((size_t)m->triangle_count + (size_t)c->vertices) {
    for (int32_t e = 0; e < edges->count; e++)
      for (int32_t i = edges->first[e]; i < edges->first[e + 1]; i++) edge_of[edges->halfedges[i]] = e;
    std::iota(face_set.begin(), face_set.end(), 0);
  }
};

/* ---- A sphere: a path ---- */

/* Cuts along the shortest path from a vertex towards the source, until it meets an existing cut. */
void cut_path(cutter *w, int32_t vertex) {
  while (w->d.from[vertex] >= 0 && !w->cut[w->edge_of[w->d.from[vertex]]]) {
    const int32_t halfedge = w->d.from[vertex];
    w->cut[w->edge_of[halfedge]] = 1;
    vertex = w->d.other_end(halfedge, vertex);
  }
}

/* Measures distances from a vertex at one end of the part. */
void find_end(cutter *w, int32_t k) {
  w->d.measure(k, w->c->chart[k].first_vertex);
  w->d.measure(k, w->d.farthest(k, false, w->d.distance));
}

/* ---- Handles: loops ---- */

struct candidate {
  double length; /* length of the loop that crosses this edge */
  int32_t halfedge;

  /* Sorts the longest loop first; equal ones in the order of edges. */
  bool operator<(const candidate &b) const {
    return length != b.length ? length > b.length : halfedge < b.halfedge;
  }
};

/* Lists the edges of the part outside the tree of paths: one halfedge of each, and every boundary edge. */
vector<candidate> list_candidates(const cutter *w, int32_t k) {
  vector<candidate> list;
  for (int32_t e = 0; e < w->edges->count; e++) {
    const int joins = charts_edge_joins(w->m, w->edges, e);
    const int32_t first = w->edges->first[e], end = joins ? first + 1 : w->edges->first[e + 1];
    for (int32_t i = first; i < end && !w->tree[e]; i++) {
      const int32_t h = w->edges->halfedges[i], a = w->c->corner[h], b = w->c->corner[mesh_halfedge_next(h)];
      if (w->c->chart_of[h / 3] != k) continue;
      list.push_back({w->d.distance[a] + w->d.distance[b] + w->d.length(a, b), h});
    }
  }
  return list;
}

/* The face on the other side of a halfedge: a triangle, or a boundary loop. Loops count as faces. They are
 * numbered by their vertices, after the triangles. */
int32_t face_across(const cutter *w, int32_t h) {
  const int32_t e = w->edge_of[h], *pair = w->edges->halfedges + w->edges->first[e];
  if (!charts_edge_joins(w->m, w->edges, e)) return w->m->triangle_count + w->c->corner[h];
  return (pair[0] == h ? pair[1] : pair[0]) / 3;
}

void join_boundary_loops(cutter *w, int32_t k) {
  for (int32_t h = 0; h < 3 * w->m->triangle_count; h++)
    if (w->c->chart_of[h / 3] == k && !charts_edge_joins(w->m, w->edges, w->edge_of[h]))
      mesh_set_join(w->face_set.data(), w->m->triangle_count + w->c->corner[h],
                    w->m->triangle_count + w->c->corner[mesh_halfedge_next(h)]);
}

/* Joins faces across the edges with the longest loops, unless that closes a ring of faces. Two edges per handle
 * remain. Their loops are short, and cutting along them opens the part. */
void cut_loops(cutter *w, int32_t k) {
  const chart *at = &w->c->chart[k];
  for (int32_t v = at->first_vertex; v < at->first_vertex + at->vertices; v++)
    if (w->d.from[v] >= 0) w->tree[w->edge_of[w->d.from[v]]] = 1;
  join_boundary_loops(w, k);
  vector<candidate> list = list_candidates(w, k);
  std::sort(list.begin(), list.end());
  for (const candidate &one : list) {
    const int32_t h = one.halfedge;
    if (mesh_set_join(w->face_set.data(), h / 3, face_across(w, h))) continue;
    w->cut[w->edge_of[h]] = 1;
    cut_path(w, w->c->corner[h]);
    cut_path(w, w->c->corner[mesh_halfedge_next(h)]);
  }
}

/* Removes dead ends of the cut: the common part of the loops, next to their common vertex. */
void trim(cutter *w, int32_t k) {
  int trimmed = 1;
  std::fill(w->degree.begin(), w->degree.end(), 0);
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

/* ---- All parts ---- */

int needs_cut(const chart *at) {
  return at->loops == 0 || at->genus > 0;
}

int refuse(const charts *c, int32_t k, char message[MESH_MESSAGE]) {
  const chart *at = &c->chart[k];
  char handles[60] = "";
  if (at->genus)
    snprintf(handles, sizeof handles, "%s %d handle%s", at->loops ? "has" : "and has", (int)at->genus,
             at->genus == 1 ? "" : "s");
  return mesh_fail(message,
                   "part %d of %d, %d triangles, %s%s, so it cannot be flattened; use --cut, or cut it "
                   "along edges in a modelling program",
                   (int)k + 1, (int)c->count, (int)at->triangles,
                   at->loops   ? ""
                   : at->genus ? "is closed "
                               : "is closed",
                   handles);
}

void cut_parts(cutter *w, cut_report *report) {
  for (int32_t k = 0; k < w->c->count; k++) {
    const chart *at = &w->c->chart[k];
    if (!needs_cut(at)) continue;
    find_end(w, k);
    if (at->genus > 0) {
      cut_loops(w, k);
      trim(w, k);
    } else {
      cut_path(w, w->d.farthest(k, false, w->d.distance));
    }
    report->closed += at->loops == 0;
    report->handles += at->genus;
  }
  report->edges = (int32_t)std::count(w->cut.begin(), w->cut.end(), 1);
}

int cut_open(const mesh *m, const mesh_edges *edges, charts *c, cut_report *report,
             char message[MESH_MESSAGE]) {
  charts opened;
  try {
    cutter w(m, edges, c);
    cut_parts(&w, report);
    if (charts_find(m, edges, w.cut.data(), &opened, message)) return 1;
  } catch (const std::exception &) {
    return mesh_fail(message, "out of memory to cut %d triangles", (int)m->triangle_count);
  }
  charts_free(c);
  *c = opened;
  return 0;
}

} // namespace

int cut_into_disks(const mesh *m, int may_cut, charts *c, cut_report *report, char message[MESH_MESSAGE]) {
  mesh_edges edges;
  *report = {};
  if (mesh_edges_find(m, &edges, message)) return 1;
  int failed = charts_find(m, &edges, nullptr, c, message), closed = 0;
  for (int32_t k = 0; k < c->count && !failed; k++) {
    if (!needs_cut(&c->chart[k])) continue;
    closed = 1;
    if (!may_cut) failed = refuse(c, k, message);
  }
  if (!failed && closed) failed = cut_open(m, &edges, c, report, message);
  /* The first cut of a part with holes and handles may leave a part that needs another. */
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
