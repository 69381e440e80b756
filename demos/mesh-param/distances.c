#include "distances.h"

#include <math.h>
#include <stdlib.h>

int distances_create(const mesh *m, const charts *c, distances *d, char message[MESH_MESSAGE]) {
  const size_t vertices = (size_t)c->vertices, corners = 3 * (size_t)m->triangle_count;
  *d = (distances){.distance = malloc((vertices + 1) * sizeof *d->distance),
                   .from = malloc((vertices + 1) * sizeof *d->from),
                   .first = calloc(vertices + 2, sizeof *d->first),
                   .corners = malloc((corners + 1) * sizeof *d->corners),
                   .heap = malloc((vertices + 1) * sizeof *d->heap),
                   .place = malloc((vertices + 1) * sizeof *d->place)};
  if (!d->distance || !d->from || !d->first || !d->corners || !d->heap || !d->place) {
    distances_free(d);
    return mesh_fail(message, "out of memory for distances between %d vertices", (int)c->vertices);
  }
  /* Counted one place too far on, so that filling leaves the offsets where they belong. */
  for (size_t h = 0; h < corners; h++) d->first[c->corner[h] + 2]++;
  for (size_t v = 0; v < vertices; v++) d->first[v + 2] += d->first[v + 1];
  for (size_t h = 0; h < corners; h++) d->corners[d->first[c->corner[h] + 1]++] = (int32_t)h;
  return 0;
}

void distances_free(distances *d) {
  free(d->distance);
  free(d->from);
  free(d->first);
  free(d->corners);
  free(d->heap);
  free(d->place);
  *d = (distances){0};
}

double distances_length(const mesh *m, const charts *c, int32_t a, int32_t b) {
  const double *p = m->positions + 3 * (size_t)c->vertex[a], *q = m->positions + 3 * (size_t)c->vertex[b];
  return sqrt((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) + (p[2] - q[2]) * (p[2] - q[2]));
}

int32_t distances_other_end(const charts *c, int32_t halfedge, int32_t vertex) {
  const int32_t a = c->corner[halfedge], b = c->corner[mesh_halfedge_next(halfedge)];
  return a == vertex ? b : a;
}

/* ---- A heap that knows where each vertex is ---- */

static void put(distances *d, int32_t place, int32_t vertex) {
  d->heap[place] = vertex;
  d->place[vertex] = place;
}

static void rise(distances *d, int32_t place) {
  const int32_t vertex = d->heap[place];
  for (; place > 0; place = (place - 1) / 2) {
    const int32_t above = d->heap[(place - 1) / 2];
    if (d->distance[above] <= d->distance[vertex]) break;
    put(d, place, above);
  }
  put(d, place, vertex);
}

static int32_t take_nearest(distances *d) {
  const int32_t nearest = d->heap[0], vertex = d->heap[--d->heap_size];
  int32_t place = 0;
  for (;;) {
    int32_t below = 2 * place + 1;
    if (below >= d->heap_size) break;
    if (below + 1 < d->heap_size && d->distance[d->heap[below + 1]] < d->distance[d->heap[below]]) below++;
    if (d->distance[d->heap[below]] >= d->distance[vertex]) break;
    put(d, place, d->heap[below]);
    place = below;
  }
  if (d->heap_size) put(d, place, vertex);
  return nearest;
}

/* ---- Dijkstra's method ---- */

static void reach(const mesh *m, const charts *c, distances *d, int32_t vertex, int32_t halfedge) {
  const int32_t other = distances_other_end(c, halfedge, vertex);
  const double distance = d->distance[vertex] + distances_length(m, c, vertex, other);
  if (!(distance < d->distance[other])) return;
  const int seen = d->distance[other] < INFINITY;
  d->distance[other] = distance;
  d->from[other] = halfedge;
  if (!seen) put(d, d->heap_size++, other);
  rise(d, d->place[other]);
}

void distances_from(const mesh *m, const charts *c, int32_t k, int32_t source, distances *d) {
  const chart *at = &c->chart[k];
  for (int32_t v = at->first_vertex; v < at->first_vertex + at->vertices; v++) d->distance[v] = INFINITY;
  d->heap_size = 0;
  d->distance[source] = 0;
  d->from[source] = -1;
  put(d, d->heap_size++, source);
  while (d->heap_size) {
    const int32_t vertex = take_nearest(d);
    for (int32_t i = d->first[vertex]; i < d->first[vertex + 1]; i++) {
      const int32_t h = d->corners[i], before = h % 3 == 0 ? h + 2 : h - 1;
      reach(m, c, d, vertex, h);
      reach(m, c, d, vertex, before);
    }
  }
}

int32_t distances_farthest(const charts *c, int32_t k, int on_boundary, const double *of) {
  const chart *at = &c->chart[k];
  int32_t farthest = -1;
  for (int32_t v = at->first_vertex; v < at->first_vertex + at->vertices; v++)
    if ((c->boundary[v] || !on_boundary) && (farthest < 0 || of[v] > of[farthest])) farthest = v;
  return farthest;
}
