#include "mesh_repair.h"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

extern "C" {
#include "mesh_edges.h"
}

namespace {

using std::vector;

/* The original indices of the present vertices and triangles. */
struct origin {
  vector<int32_t> vertex, triangle;
};

/* ---- Vertices at the same position ---- */

/* Sets now[v] to the lowest vertex at the position of v. */
void find_duplicates(const mesh *m, vector<int32_t> &now, mesh_repair_report *report) {
  struct placed {
    std::array<double, 3> place;
    int32_t vertex;
    bool operator<(const placed &b) const { return std::tie(place, vertex) < std::tie(b.place, b.vertex); }
  };
  vector<bool> used((size_t)m->vertex_count);
  vector<placed> all;
  for (size_t i = 0; i < 3 * (size_t)m->triangle_count; i++) used[m->triangles[i]] = true;
  for (int32_t v = 0; v < m->vertex_count; v++) {
    const double *p = m->positions + 3 * (size_t)v;
    if (used[v]) all.push_back({{p[0], p[1], p[2]}, v});
  }
  std::sort(all.begin(), all.end());
  for (size_t i = 1; i < all.size(); i++) {
    if (all[i - 1].place != all[i].place) continue;
    const int32_t v = all[i].vertex;
    now[v] = now[all[i - 1].vertex];
    if (report->merged_vertices++ && report->first_merged[1] < v) continue;
    report->first_merged[0] = now[v];
    report->first_merged[1] = v;
  }
}

/* Renumbers the remaining vertices in order. `now` becomes the new number of each old vertex. */
void renumber(mesh *m, vector<int32_t> &now, origin &from) {
  int32_t count = 0;
  for (int32_t v = 0; v < m->vertex_count; v++) {
    if (now[v] != v) {
      now[v] = now[now[v]]; /* the lower vertex already has its new number */
      if (m->held) m->held[now[v]] |= m->held[v];
      continue;
    }
    memmove(m->positions + 3 * (size_t)count, m->positions + 3 * (size_t)v, 3 * sizeof *m->positions);
    if (m->held) m->held[count] = m->held[v];
    from.vertex.push_back(v);
    now[v] = count++;
  }
  for (size_t i = 0; i < 3 * (size_t)m->triangle_count; i++) m->triangles[i] = now[m->triangles[i]];
  m->vertex_count = count;
}

/* ---- Degenerate and repeated triangles ---- */

void drop_triangles(mesh *m, origin &from, mesh_repair_report *report) {
  vector<std::pair<std::array<int32_t, 3>, int32_t>> sorted;
  vector<bool> drop((size_t)m->triangle_count);
  for (int32_t t = 0; t < m->triangle_count; t++) {
    const int32_t *v = m->triangles + 3 * (size_t)t;
    std::array<int32_t, 3> corner = {v[0], v[1], v[2]};
    std::sort(corner.begin(), corner.end());
    sorted.push_back({corner, t});
    drop[t] = corner[0] == corner[1] || corner[1] == corner[2];
  }
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 1; i < sorted.size(); i++)
    if (sorted[i - 1].first == sorted[i].first) drop[sorted[i].second] = true;
  for (int32_t t = 0; t < m->triangle_count; t++) {
    if (drop[t]) {
      if (report->dropped_triangles++ == 0) report->first_dropped = t;
      continue;
    }
    std::copy_n(m->triangles + 3 * (size_t)t, 3, m->triangles + 3 * from.triangle.size());
    from.triangle.push_back(t);
  }
  m->triangle_count = (int32_t)from.triangle.size();
}

/* The limit is that of the cotangents in include/texsolve/mesh.h. */
void count_slivers(const mesh *m, const origin &from, mesh_repair_report *report) {
  for (int32_t t = 0; t < m->triangle_count; t++) {
    double edge[3][3], squares = 0;
    for (int k = 0; k < 3; k++)
      for (int c = 0; c < 3; c++) {
        edge[k][c] = m->positions[3 * (size_t)m->triangles[3 * (size_t)t + (size_t)(k + 1) % 3] + (size_t)c] -
                     m->positions[3 * (size_t)m->triangles[3 * (size_t)t + (size_t)k] + (size_t)c];
        squares += edge[k][c] * edge[k][c];
      }
    double normal_square = 0;
    for (int c = 0; c < 3; c++) {
      const int d = (c + 1) % 3, e = (c + 2) % 3;
      const double n = edge[0][d] * edge[1][e] - edge[0][e] * edge[1][d];
      normal_square += n * n;
    }
    if (normal_square >= 1e-6 * squares * squares && squares > 0) continue;
    if (report->slivers++ == 0) report->first_sliver = from.triangle[t];
  }
}

/* ---- Orientation ---- */

int edge_has_two(const mesh_edges *edges, int32_t e) {
  return edges->first[e + 1] - edges->first[e] == 2;
}

/* Returns 1 if the two halfedges of an edge have the same direction. Those of consistently oriented neighbours
 * have opposite directions. */
int disagree(const mesh *m, const int32_t *pair) {
  return mesh_halfedge_from(m, pair[0]) == mesh_halfedge_from(m, pair[1]);
}

/* Finds the triangles to reverse so that their component is oriented consistently, as far as possible.
 * Propagates over edges with two triangles. `edge_of` has the edge of each halfedge. */
vector<signed char> find_flips(const mesh *m, const mesh_edges *edges, const vector<int32_t> &edge_of) {
  vector<signed char> flip((size_t)m->triangle_count, -1);
  vector<int32_t> queue;
  for (int32_t start = 0; start < m->triangle_count; start++) {
    if (flip[start] >= 0) continue;
    int32_t flipped = 0;
    flip[start] = 0;
    queue.assign(1, start);
    for (size_t done = 0; done < queue.size(); done++) {
      const int32_t t = queue[done];
      flipped += flip[t];
      for (int32_t h = 3 * t; h < 3 * t + 3; h++) {
        if (!edge_has_two(edges, edge_of[h])) continue;
        const int32_t *pair = edges->halfedges + edges->first[edge_of[h]];
        const int32_t other = (pair[0] == h ? pair[1] : pair[0]) / 3;
        if (flip[other] >= 0) continue;
        flip[other] = (signed char)(flip[t] ^ disagree(m, pair));
        queue.push_back(other);
      }
    }
    for (size_t i = 0; i < queue.size() && 2 * (size_t)flipped > queue.size(); i++) flip[queue[i]] ^= 1;
  }
  return flip;
}

void note_edge(const mesh *m, const origin &from, int32_t halfedge, int32_t *count, int32_t first[2]) {
  if ((*count)++) return;
  first[0] = from.vertex[mesh_halfedge_from(m, halfedge)];
  first[1] = from.vertex[mesh_halfedge_to(m, halfedge)];
  if (first[0] > first[1]) std::swap(first[0], first[1]);
}

void hold_edge(mesh *m, int32_t halfedge) {
  m->held[mesh_halfedge_from(m, halfedge)] = 1;
  m->held[mesh_halfedge_to(m, halfedge)] = 1;
}

/* Reverses triangles, and holds the vertices of edges across which the surface does not continue. */
void orient(mesh *m, const mesh_edges *edges, const vector<signed char> &flip, const origin &from,
            mesh_repair_report *report) {
  int32_t flipped_edges = 0;
  for (int32_t e = 0; e < edges->count; e++) {
    const int32_t *pair = edges->halfedges + edges->first[e];
    if (edges->first[e + 1] - edges->first[e] > 2) {
      note_edge(m, from, pair[0], &report->nonmanifold_edges, report->first_nonmanifold);
      hold_edge(m, pair[0]);
    }
    if (!edge_has_two(edges, e)) continue;
    const int flipped = flip[pair[0] / 3] != flip[pair[1] / 3];
    if (disagree(m, pair) != flipped) {
      note_edge(m, from, pair[0], &report->unorientable_edges, report->first_unorientable);
      hold_edge(m, pair[0]);
    } else if (flipped) {
      note_edge(m, from, pair[0], &flipped_edges, report->first_flipped);
    }
  }
  for (int32_t t = 0; t < m->triangle_count; t++) {
    if (!flip[t]) continue;
    report->flipped_triangles++;
    std::swap(m->triangles[3 * (size_t)t + 1], m->triangles[3 * (size_t)t + 2]);
  }
}

void repair_edges(mesh *m, const origin &from, mesh_repair_report *report) {
  char message[MESH_MESSAGE];
  struct owned : mesh_edges {
    ~owned() { mesh_edges_free(this); }
  } edges{};
  if (!m->held) m->held = (unsigned char *)calloc((size_t)m->vertex_count + 1, 1);
  if (!m->held || mesh_edges_find(m, &edges, message)) throw std::bad_alloc();
  vector<int32_t> edge_of(3 * (size_t)m->triangle_count);
  for (int32_t e = 0; e < edges.count; e++)
    for (int32_t i = edges.first[e]; i < edges.first[e + 1]; i++) edge_of[edges.halfedges[i]] = e;
  orient(m, &edges, find_flips(m, &edges, edge_of), from, report);
  report->held_vertices = m->vertex_count - (int32_t)std::count(m->held, m->held + m->vertex_count, 0);
  if (report->held_vertices) return;
  free(m->held);
  m->held = nullptr;
}

} // namespace

/* ---- The whole repair ---- */

int mesh_repair(mesh *m, const mesh_repair_options *options, mesh_repair_report *report,
                int32_t **vertex_of_original, char message[MESH_MESSAGE]) {
  mesh_repair_report unused;
  if (!report) report = &unused;
  *report = {};
  const int32_t vertices = m->vertex_count, triangles = m->triangle_count;
  try {
    vector<int32_t> now((size_t)vertices);
    origin from;
    std::iota(now.begin(), now.end(), 0);
    if (!(options && options->keep_duplicates)) find_duplicates(m, now, report);
    renumber(m, now, from);
    drop_triangles(m, from, report);
    if (m->triangle_count == 0)
      return mesh_fail(message, "%d triangle%s, none with three distinct vertices in single precision",
                       (int)triangles, triangles == 1 ? "" : "s");
    count_slivers(m, from, report);
    repair_edges(m, from, report);
    if (!vertex_of_original) return 0;
    *vertex_of_original = (int32_t *)malloc((now.size() + 1) * sizeof **vertex_of_original);
    if (!*vertex_of_original) throw std::bad_alloc();
    std::copy(now.begin(), now.end(), *vertex_of_original);
    return 0;
  } catch (const std::exception &) {
    return mesh_fail(message, "out of memory to repair a mesh of %d vertices", (int)vertices);
  }
}

void mesh_repair_tell(void (*print)(const char *line, void *user), void *user, const char *format, ...) {
  char line[MESH_MESSAGE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  print(line, user);
}

void mesh_repair_describe(const mesh_repair_report *r, const mesh_repair_words *words,
                          void (*print)(const char *line, void *user), void *user) {
  if (r->merged_vertices)
    mesh_repair_tell(print, user,
                     "%d %s merged with another one at the same position (the first: vertex %d with %d)",
                     r->merged_vertices, r->merged_vertices == 1 ? "vertex was" : "vertices were",
                     r->first_merged[1], r->first_merged[0]);
  if (r->dropped_triangles)
    mesh_repair_tell(print, user,
                     "%d triangle%s dropped: a repeated vertex, or the same vertices as another one (the "
                     "first: triangle %d)",
                     r->dropped_triangles, r->dropped_triangles == 1 ? " was" : "s were", r->first_dropped);
  if (r->slivers)
    mesh_repair_tell(print, user, "%d triangle%s so thin %s (the first: triangle %d)", r->slivers,
                     r->slivers == 1 ? " is" : "s are", words->thin, r->first_sliver);
  if (r->flipped_triangles)
    mesh_repair_tell(print, user,
                     "%d triangle%s flipped to match the neighbours (the first edge: vertices %d and %d)",
                     r->flipped_triangles, r->flipped_triangles == 1 ? " was" : "s were", r->first_flipped[0],
                     r->first_flipped[1]);
  if (r->nonmanifold_edges)
    mesh_repair_tell(print, user, "%d edge%s more than two triangles (the first: vertices %d and %d); %s",
                     r->nonmanifold_edges, r->nonmanifold_edges == 1 ? " has" : "s have",
                     r->first_nonmanifold[0], r->first_nonmanifold[1], words->odd_edge);
  if (r->unorientable_edges)
    mesh_repair_tell(
        print, user,
        "the triangles at %d edge%s cannot agree in orientation (the first: vertices %d and %d); %s",
        r->unorientable_edges, r->unorientable_edges == 1 ? "" : "s", r->first_unorientable[0],
        r->first_unorientable[1], words->odd_edge);
}
