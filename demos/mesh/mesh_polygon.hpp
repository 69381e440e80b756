/* Cuts polygons into triangles. Internal to mesh_file. */
#ifndef MESH_POLYGON_HPP
#define MESH_POLYGON_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

/* Removes repeated corners, and spikes (from a vertex to another one and back), because they enclose no area.
 * Returns true if there were any. */
bool mesh_polygon_reduce(std::vector<int32_t> &corners);

/* Cuts one polygon at a time. If a fan from the first corner covers the polygon, as it does for every strictly
 * convex one, the polygon becomes this fan. Otherwise ears are cut off (G. H. Meisters: Polygons have ears,
 * American Mathematical Monthly 82, 1975). Corners are first projected along Newell's normal, so they need not
 * be exactly planar. "Left" is as seen by an observer to whom the normal points. */
class mesh_polygon_cutter {
public:
  /* `positions` has 3 numbers per vertex. Appends triangles with the polygon's orientation: two fewer than it
   * has corners, unless it touches itself at a vertex. Returns true if all of them are on its left. If not, the
   * polygon crosses itself, is far from planar or has zero area, and triangles overlap. The polygon must be
   * reduced and have at least three corners. */
  bool cut(const double *positions, const std::vector<int32_t> &corners, std::vector<int32_t> &triangles);

private:
  struct point {
    double x, y;
  };
  enum kind { ear_no, ear_thin, ear_good };

  /* Returns false if the normal is 0: the sides are collinear, or cancel as in a figure of eight. */
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

  std::vector<point> points_;         /* corners, in the plane */
  std::vector<size_t> before_, next_; /* ring of the remaining corners; a removed corner points to itself */
  std::vector<std::pair<double, size_t>> bent_; /* x and index of the corners that were not convex, sorted */
  size_t left_ = 0;
  int64_t tests_ = 0;
};

#endif
