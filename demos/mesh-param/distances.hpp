/* Distances along the edges of a chart. */
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

  std::vector<double>
      distance; /* of every flat vertex of the chart that was asked for; others hold what they did */
  std::vector<int32_t>
      from; /* the halfedge, in either direction, that the shortest path came over last; -1: the source */

  /* From one flat vertex, in its chart `k`. */
  void measure(int32_t k, int32_t source);
  /* The vertex of chart k where `of` is largest, among those on the boundary or all; the first one of equals.
   */
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
  std::vector<int32_t> first_, corners_; /* of each flat vertex */
  std::vector<int32_t> heap_;            /* vertices that have been seen, the nearest first */
  std::vector<size_t> place_;            /* in it */
};

#endif
