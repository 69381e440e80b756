#include "distances.hpp"

#include <cmath>

distances::distances(const mesh &m, const charts &c)
    : distance((size_t)c.vertices), from((size_t)c.vertices), m_(m), c_(c), first_((size_t)c.vertices + 2),
      corners_(3 * (size_t)m.triangle_count), place_((size_t)c.vertices) {
  /* The counts are stored one position later than usual. Filling the lists then turns them into the offsets. */
  for (size_t h = 0; h < corners_.size(); h++) first_[c.corner[h] + 2]++;
  for (size_t v = 0; v < distance.size(); v++) first_[v + 2] += first_[v + 1];
  for (size_t h = 0; h < corners_.size(); h++) corners_[first_[c.corner[h] + 1]++] = (int32_t)h;
}

double distances::length(int32_t a, int32_t b) const {
  const double *p = m_.positions + 3 * (size_t)c_.vertex[a], *q = m_.positions + 3 * (size_t)c_.vertex[b];
  return sqrt((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) + (p[2] - q[2]) * (p[2] - q[2]));
}

int32_t distances::other_end(int32_t halfedge, int32_t vertex) const {
  const int32_t a = c_.corner[halfedge], b = c_.corner[mesh_halfedge_next(halfedge)];
  return a == vertex ? b : a;
}

/* ---- A heap with the position of each vertex ---- */

void distances::put(size_t at, int32_t vertex) {
  heap_[at] = vertex;
  place_[vertex] = at;
}

void distances::rise(size_t at) {
  const int32_t vertex = heap_[at];
  for (; at > 0; at = (at - 1) / 2) {
    const int32_t above = heap_[(at - 1) / 2];
    if (distance[above] <= distance[vertex]) break;
    put(at, above);
  }
  put(at, vertex);
}

int32_t distances::take_nearest() {
  const int32_t nearest = heap_.front(), vertex = heap_.back();
  size_t at = 0;
  heap_.pop_back();
  for (;;) {
    size_t below = 2 * at + 1;
    if (below >= heap_.size()) break;
    if (below + 1 < heap_.size() && distance[heap_[below + 1]] < distance[heap_[below]]) below++;
    if (distance[heap_[below]] >= distance[vertex]) break;
    put(at, heap_[below]);
    at = below;
  }
  if (!heap_.empty()) put(at, vertex);
  return nearest;
}

/* ---- Dijkstra's algorithm ---- */

void distances::reach(int32_t vertex, int32_t halfedge) {
  const int32_t other = other_end(halfedge, vertex);
  const double there = distance[vertex] + length(vertex, other);
  if (!(there < distance[other])) return;
  if (distance[other] == INFINITY) {
    heap_.push_back(other);
    place_[other] = heap_.size() - 1;
  }
  distance[other] = there;
  from[other] = halfedge;
  rise(place_[other]);
}

void distances::measure(int32_t k, int32_t source) {
  const chart &at = c_.chart[k];
  for (int32_t v = at.first_vertex; v < at.first_vertex + at.vertices; v++) distance[v] = INFINITY;
  distance[source] = 0;
  from[source] = -1;
  heap_.assign(1, source);
  place_[source] = 0;
  while (!heap_.empty()) {
    const int32_t vertex = take_nearest();
    for (int32_t i = first_[vertex]; i < first_[vertex + 1]; i++) {
      const int32_t h = corners_[i], before = h % 3 == 0 ? h + 2 : h - 1;
      reach(vertex, h);
      reach(vertex, before);
    }
  }
}

int32_t distances::farthest(int32_t k, bool on_boundary, const std::vector<double> &of) const {
  const chart &at = c_.chart[k];
  int32_t found = -1;
  for (int32_t v = at.first_vertex; v < at.first_vertex + at.vertices; v++)
    if ((c_.boundary[v] || !on_boundary) && (found < 0 || of[v] > of[found])) found = v;
  return found;
}
