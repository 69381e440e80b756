/* Cutting polygons into triangles. Internal to mesh_file. */
#ifndef MESH_POLYGON_HPP
#define MESH_POLYGON_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

/* Corners that repeat the one before them, and spikes (from a vertex to another one and back), enclose nothing:
 * they are removed. Returns whether there were any. */
bool mesh_polygon_reduce(std::vector<int32_t> &corners);

/* Cuts one polygon at a time. If the triangles from the first corner cover the polygon, as with every strictly
 * convex one, it becomes this fan. Otherwise ears are cut off (G. H. Meisters: Polygons have ears, American
 * Mathematical Monthly 82, 1975). Corners are projected along Newell's normal first, so they need not lie
 * exactly in one plane; the normal points to the observer of "left". */
class mesh_polygon_cutter {
public:
  /* `positions`: 3 for each vertex. Appends triangles with the polygon's orientation: two fewer than it has
   * corners, unless it touches itself at a vertex. Returns whether all of them lie on its left; if not, the
   * polygon crosses itself, is far from planar or has zero area, and triangles overlap. The polygon has been
   * reduced and has at least three corners. */
  bool cut(const double *positions, const std::vector<int32_t> &corners, std::vector<int32_t> &triangles);

private:
  struct point {
    double x, y;
  };
  enum kind { ear_no, ear_thin, ear_good };

  /* Returns false if the normal is 0: the sides lie in one line, or cancel as in a figure of eight. */
  bool project(const double *positions, const std::vector<int32_t> &corners);
  bool fan(const std::vector<int32_t> &corners, std::vector<int32_t> &triangles) const;
  bool cut_ears(const std::vector<int32_t> &corners, std::vector<int32_t> &triangles);
  bool cut_remaining(size_t at, const std::vector<int32_t> &corners, std::vector<int32_t> &triangles) const;
  double shape(size_t a, size_t b, size_t c) const;
  bool is_bent(size_t at) const;
  kind find_kind(size_t b);
  bool is_free(size_t a, size_t b, size_t c);
  void remove(size_t at);
  size_t drop_spikes(size_t at, const std::vector<int32_t> &corners);

  std::vector<point> points_;         /* of corners, in the plane */
  std::vector<size_t> before_, next_; /* the corners that are left, as a ring; of one that is gone itself */
  std::vector<std::pair<double, size_t>> bent_; /* x of corners that were not convex, in order */
  size_t left_ = 0;
  int64_t tests_ = 0;
};

#endif
