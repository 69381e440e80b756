/* Shortest distances along the edges of a chart. */
#ifndef DISTANCES_HPP
#define DISTANCES_HPP

#include <cstddef>
#include <vector>

extern "C" {
#include "charts.h"
}

class distances {
public:
  distances(const mesh &m, const charts &c);

  std::vector<double> distance; /* for flat vertices of the chart measured last; others keep older values */
  std::vector<int32_t> from; /* the last halfedge of the shortest path, in either direction; -1: the source */

  /* Measures from a flat vertex in chart `k`. */
  void measure(int32_t k, int32_t source);
  /* The vertex of chart k with the largest value in `of`, among boundary vertices or all; the first one if
   * several are equal. */
  int32_t farthest(int32_t k, bool on_boundary, const std::vector<double> &of) const;
  /* The flat vertex at the other end of a halfedge. */
  int32_t other_end(int32_t halfedge, int32_t vertex) const;
  double length(int32_t a, int32_t b) const;

private:
  void put(size_t at, int32_t vertex);
  void rise(size_t at);
  int32_t take_nearest();
  void reach(int32_t vertex, int32_t halfedge);

  const mesh &m_;
  const charts &c_;
  std::vector<int32_t> first_, corners_; /* corners of each flat vertex */
  std::vector<int32_t> heap_;            /* vertices seen so far, nearest first */
  std::vector<size_t> place_;            /* position in heap_ */
};

#endif
