#include "mesh_repair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mesh_edges.h"

/* Where vertices and triangles of the mesh as it is now came from. */
typedef struct origin {
  int32_t *vertex, *triangle;
} origin;

/* ---- Vertices at the same place ---- */

typedef struct placed_vertex {
  double place[3];
  int32_t vertex;
} placed_vertex;

static int compare_places(const placed_vertex *a, const placed_vertex *b) {
  for (int c = 0; c < 3; c++)
    if (a->place[c] != b->place[c]) return a->place[c] < b->place[c] ? -1 : 1;
  return 0;
}

/* By place, and at one place by number. */
static int compare_placed(const void *a, const void *b) {
  const placed_vertex *p = a, *q = b;
  const int order = compare_places(p, q);
  return order ? order : (p->vertex > q->vertex) - (p->vertex < q->vertex);
}

/* stays[v]: the vertex with the lowest number at the place of v. */
static int find_duplicates(const mesh *m, int32_t *stays, mesh_repair_report *report) {
  unsigned char *used = calloc((size_t)m->vertex_count + 1, 1);
  placed_vertex *placed = malloc(sizeof *placed * ((size_t)m->vertex_count + 1));
  const int failed = !used || !placed;
  int32_t count = 0;
  for (size_t i = 0; i < 3 * (size_t)m->triangle_count && used; i++) used[m->triangles[i]] = 1;
  for (int32_t v = 0; v < m->vertex_count && !failed; v++) {
    if (!used[v]) continue;
    placed[count].vertex = v;
    memcpy(placed[count++].place, m->positions + 3 * (size_t)v, sizeof placed->place);
  }
  if (!failed) qsort(placed, (size_t)count, sizeof *placed, compare_placed);
  for (int32_t i = 1; i < count; i++) {
    if (compare_places(&placed[i - 1], &placed[i]) != 0) continue;
    const int32_t v = placed[i].vertex;
    stays[v] = stays[placed[i - 1].vertex];
    if (report->merged_vertices++ && report->first_merged[1] < v) continue;
    report->first_merged[0] = stays[v];
    report->first_merged[1] = v;
  }
  free(used);
  free(placed);
  return failed;
}

/* Numbers the vertices that stay again, in their order; `now` becomes the number of each vertex of before. */
static void renumber(mesh *m, int32_t *now, origin *from) {
  int32_t count = 0;
  for (int32_t v = 0; v < m->vertex_count; v++) {
    if (now[v] != v) {
      now[v] = now[now[v]]; /* of a lower vertex, which has its number */
      if (m->held) m->held[now[v]] |= m->held[v];
      continue;
    }
    memmove(m->positions + 3 * (size_t)count, m->positions + 3 * (size_t)v, 3 * sizeof *m->positions);
    if (m->held) m->held[count] = m->held[v];
    from->vertex[count] = v;
    now[v] = count++;
  }
  for (size_t i = 0; i < 3 * (size_t)m->triangle_count; i++) m->triangles[i] = now[m->triangles[i]];
  m->vertex_count = count;
}

/* ---- Triangles that are none, or that are there twice ---- */

typedef struct sorted_triangle {
  int32_t corner[3], triangle;
} sorted_triangle;

static void swap_if_greater(int32_t *a, int32_t *b) {
  const int32_t low = *a < *b ? *a : *b, high = *a < *b ? *b : *a;
  *a = low;
  *b = high;
}

static int compare_triangles(const void *a, const void *b) {
  const sorted_triangle *s = a, *t = b;
  for (int k = 0; k < 3; k++)
    if (s->corner[k] != t->corner[k]) return s->corner[k] < t->corner[k] ? -1 : 1;
  return (s->triangle > t->triangle) - (s->triangle < t->triangle);
}

static int drop_triangles(mesh *m, origin *from, mesh_repair_report *report) {
  sorted_triangle *sorted = calloc((size_t)m->triangle_count + 1, sizeof *sorted);
  unsigned char *drop = calloc((size_t)m->triangle_count + 1, 1);
  const int failed = !sorted || !drop;
  for (int32_t t = 0; t < m->triangle_count && !failed; t++) {
    int32_t *corner = sorted[t].corner;
    memcpy(corner, m->triangles + 3 * (size_t)t, sizeof sorted->corner);
    swap_if_greater(corner, corner + 1);
    swap_if_greater(corner + 1, corner + 2);
    swap_if_greater(corner, corner + 1);
    sorted[t].triangle = t;
    drop[t] = corner[0] == corner[1] || corner[1] == corner[2];
  }
  if (!failed) qsort(sorted, (size_t)m->triangle_count, sizeof *sorted, compare_triangles);
  for (int32_t i = 1; i < m->triangle_count && !failed; i++)
    if (memcmp(sorted[i - 1].corner, sorted[i].corner, sizeof sorted->corner) == 0)
      drop[sorted[i].triangle] = 1;
  int32_t count = 0;
  for (int32_t t = 0; t < m->triangle_count && !failed; t++) {
    if (drop[t]) {
      if (report->dropped_triangles++ == 0) report->first_dropped = t;
      continue;
    }
    memmove(m->triangles + 3 * (size_t)count, m->triangles + 3 * (size_t)t, 3 * sizeof *m->triangles);
    from->triangle[count++] = t;
  }
  if (!failed) m->triangle_count = count;
  free(sorted);
  free(drop);
  return failed;
}

/* The floor is the one of the cotangents of include/texsolve/mesh.h. */
static void count_slivers(const mesh *m, const origin *from, mesh_repair_report *report) {
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
    if (report->slivers++ == 0) report->first_sliver = from->triangle[t];
  }
}

/* ---- Orientation ---- */

static int edge_has_two(const mesh_edges *edges, int32_t e) {
  return edges->first[e + 1] - edges->first[e] == 2;
}

/* Whether two halfedges of an edge pass it in one direction, which neighbours that agree do not. */
static int disagree(const mesh *m, const int32_t *pair) {
  return mesh_halfedge_from(m, pair[0]) == mesh_halfedge_from(m, pair[1]);
}

/* turn[t]: whether t has to be turned for its component to agree, as far as it can; spreads over the edges with
 * two triangles. `queue`: room for every triangle; `edge_of`: the edge of each halfedge. */
static void find_turns(const mesh *m, const mesh_edges *edges, const int32_t *edge_of, int32_t *queue,
                       signed char *turn) {
  memset(turn, -1, (size_t)m->triangle_count);
  for (int32_t start = 0; start < m->triangle_count; start++) {
    if (turn[start] >= 0) continue;
    int32_t length = 0, turned = 0;
    turn[start] = 0;
    queue[length++] = start;
    for (int32_t done = 0; done < length; done++) {
      const int32_t t = queue[done];
      turned += turn[t];
      for (int32_t h = 3 * t; h < 3 * t + 3; h++) {
        if (!edge_has_two(edges, edge_of[h])) continue;
        const int32_t *pair = edges->halfedges + edges->first[edge_of[h]];
        const int32_t other = (pair[0] == h ? pair[1] : pair[0]) / 3;
        if (turn[other] >= 0) continue;
        turn[other] = (signed char)(turn[t] ^ disagree(m, pair));
        queue[length++] = other;
      }
    }
    for (int32_t i = 0; i < length && turned > length - turned; i++) turn[queue[i]] ^= 1;
  }
}

static void note_edge(const mesh *m, const origin *from, int32_t halfedge, int32_t *count, int32_t first[2]) {
  if ((*count)++) return;
  first[0] = from->vertex[mesh_halfedge_from(m, halfedge)];
  first[1] = from->vertex[mesh_halfedge_to(m, halfedge)];
  swap_if_greater(first, first + 1);
}

static void hold_edge(mesh *m, int32_t halfedge) {
  m->held[mesh_halfedge_from(m, halfedge)] = 1;
  m->held[mesh_halfedge_to(m, halfedge)] = 1;
}

/* Turns triangles, and holds the vertices of edges where no surface goes on. */
static void orient(mesh *m, const mesh_edges *edges, const signed char *turn, const origin *from,
                   mesh_repair_report *report) {
  int32_t settled_edges = 0;
  for (int32_t e = 0; e < edges->count; e++) {
    const int32_t *pair = edges->halfedges + edges->first[e];
    if (edges->first[e + 1] - edges->first[e] > 2) {
      note_edge(m, from, pair[0], &report->nonmanifold_edges, report->first_nonmanifold);
      hold_edge(m, pair[0]);
    }
    if (!edge_has_two(edges, e)) continue;
    const int turned = turn[pair[0] / 3] != turn[pair[1] / 3];
    if (disagree(m, pair) != turned) {
      note_edge(m, from, pair[0], &report->unorientable_edges, report->first_unorientable);
      hold_edge(m, pair[0]);
    } else if (turned) {
      note_edge(m, from, pair[0], &settled_edges, report->first_turned);
    }
  }
  for (int32_t t = 0; t < m->triangle_count; t++) {
    if (!turn[t]) continue;
    report->turned_triangles++;
    int32_t *corner = m->triangles + 3 * (size_t)t, second = corner[1];
    corner[1] = corner[2];
    corner[2] = second;
  }
}

static int repair_edges(mesh *m, const origin *from, mesh_repair_report *report, char message[MESH_MESSAGE]) {
  const size_t halfedges = 3 * (size_t)m->triangle_count;
  mesh_edges edges;
  if (mesh_edges_find(m, &edges, message)) return 1;
  int32_t *edge_of = calloc(halfedges, sizeof *edge_of),
          *queue = malloc(sizeof *queue * (size_t)m->triangle_count);
  signed char *turn = malloc((size_t)m->triangle_count);
  if (!m->held) m->held = calloc((size_t)m->vertex_count + 1, 1);
  const int failed = !edge_of || !queue || !turn || !m->held;
  if (failed) {
    mesh_fail(message, "out of memory to repair %d triangles", m->triangle_count);
  } else {
    for (int32_t e = 0; e < edges.count; e++)
      for (int32_t i = edges.first[e]; i < edges.first[e + 1]; i++) edge_of[edges.halfedges[i]] = e;
    find_turns(m, &edges, edge_of, queue, turn);
    orient(m, &edges, turn, from, report);
    for (int32_t v = 0; v < m->vertex_count; v++) report->held_vertices += m->held[v] != 0;
    if (report->held_vertices == 0) {
      free(m->held);
      m->held = NULL;
    }
  }
  mesh_edges_free(&edges);
  free(edge_of);
  free(queue);
  free(turn);
  return failed;
}

/* ---- All of it ---- */

int mesh_repair(mesh *m, const mesh_repair_options *options, mesh_repair_report *report,
                int32_t **vertex_of_original, char message[MESH_MESSAGE]) {
  mesh_repair_report unused;
  if (!report) report = &unused;
  *report = (mesh_repair_report){0};
  const size_t vertices = (size_t)m->vertex_count, triangles = (size_t)m->triangle_count;
  int32_t *now = malloc(sizeof *now * (vertices + 1));
  origin from = {malloc(sizeof *from.vertex * (vertices + 1)), malloc(sizeof *from.triangle * (triangles + 1))};
  int failed = !now || !from.vertex || !from.triangle;
  for (int32_t v = 0; v < m->vertex_count && !failed; v++) now[v] = v;
  if (!failed && !(options && options->keep_duplicates)) failed = find_duplicates(m, now, report);
  if (!failed) renumber(m, now, &from);
  if (!failed) failed = drop_triangles(m, &from, report);
  if (failed) mesh_fail(message, "out of memory to repair a mesh of %zu vertices", vertices);
  if (!failed && m->triangle_count == 0) {
    failed = 1;
    mesh_fail(
        message,
        "of %zu triangle%s none has vertices at three places, as far as single precision tells them apart",
        triangles, triangles == 1 ? "" : "s");
  }
  if (!failed) {
    count_slivers(m, &from, report);
    failed = repair_edges(m, &from, report, message);
  }
  free(from.vertex);
  free(from.triangle);
  if (vertex_of_original && !failed)
    *vertex_of_original = now;
  else
    free(now);
  return failed;
}

void mesh_repair_describe(const mesh_repair_report *report, const mesh_repair_words *words,
                          void (*print)(const char *line, void *user), void *user) {
  char line[MESH_MESSAGE];
  const mesh_repair_report *r = report;
  if (r->merged_vertices) {
    snprintf(line, sizeof line,
             "%d %s at the place of another one and merged with it (the first: vertex %d with %d)",
             r->merged_vertices, r->merged_vertices == 1 ? "vertex was" : "vertices were", r->first_merged[1],
             r->first_merged[0]);
    print(line, user);
  }
  if (r->dropped_triangles) {
    snprintf(
        line, sizeof line,
        "%d triangle%s dropped: a vertex twice, or the same vertices as another one (the first: triangle %d)",
        r->dropped_triangles, r->dropped_triangles == 1 ? " was" : "s were", r->first_dropped);
    print(line, user);
  }
  if (r->slivers) {
    snprintf(line, sizeof line, "%d triangle%s so thin %s (the first: triangle %d)", r->slivers,
             r->slivers == 1 ? " is" : "s are", words->thin, r->first_sliver);
    print(line, user);
  }
  if (r->turned_triangles) {
    snprintf(line, sizeof line,
             "%d triangle%s turned to agree with the neighbours (the first edge: vertices %d and %d)",
             r->turned_triangles, r->turned_triangles == 1 ? " was" : "s were", r->first_turned[0],
             r->first_turned[1]);
    print(line, user);
  }
  if (r->nonmanifold_edges) {
    snprintf(line, sizeof line, "%d edge%s more than two triangles (the first: vertices %d and %d); %s",
             r->nonmanifold_edges, r->nonmanifold_edges == 1 ? " has" : "s have", r->first_nonmanifold[0],
             r->first_nonmanifold[1], words->odd_edge);
    print(line, user);
  }
  if (r->unorientable_edges) {
    snprintf(line, sizeof line,
             "the triangles at %d edge%s cannot agree in orientation (the first: vertices %d and %d); %s",
             r->unorientable_edges, r->unorientable_edges == 1 ? "" : "s", r->first_unorientable[0],
             r->first_unorientable[1], words->odd_edge);
    print(line, user);
  }
}
