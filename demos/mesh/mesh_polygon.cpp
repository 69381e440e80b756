#include "mesh_polygon.hpp"

#include <algorithm>
#include <cmath>

using std::size_t, std::vector;

namespace {

/* Limits for the shape of a triangle: twice its area over the sum of its squared edges, at most 0.29. thin:
 * programs cannot use triangles below this (mesh_repair.h). straight: single precision bends straight sides by
 * less. nothing: below this the sign is rounding. */
const double thin = 1e-3, straight = 1e-5, nothing = 1e-12;
/* Limit on the tests of a corner against a triangle. After that the rest is cut without tests: a
 * self-intersecting polygon with 100000 corners would take hours. */
const int64_t most_tests = 5000000000;
/* In larger polygons the search for good ears is not restarted after each thin one. */
const size_t most_careful = 1000;

} // namespace

bool mesh_polygon_reduce(vector<int32_t> &corners) {
  const size_t before = corners.size();
  vector<int32_t> kept;
  const auto add = [&kept](int32_t corner) {
    if (!kept.empty() && kept.back() == corner) return;
    kept.push_back(corner);
    if (kept.size() > 2 && kept[kept.size() - 3] == corner) kept.resize(kept.size() - 2);
  };
  for (const int32_t corner : corners) add(corner);
  /* Apply the same rules across the seam between the last and the first corner. */
  size_t first = 0;
  for (bool more = true; more && kept.size() - first > 1;) {
    const size_t last = kept.size() - 1;
    more = true;
    if (kept[first] == kept[last]) {
      kept.pop_back();
    } else if (kept.size() - first > 2 && kept[first + 1] == kept[last]) {
      first++;
      kept.pop_back();
    } else if (kept.size() - first > 2 && kept[first] == kept[last - 1]) {
      kept.resize(last - 1);
    } else {
      more = false;
    }
  }
  corners.assign(kept.begin() + (std::ptrdiff_t)first, kept.end());
  return corners.size() != before;
}

bool mesh_polygon_cutter::project(const double *positions, const vector<int32_t> &corners) {
  const size_t count = corners.size();
  const double *origin = positions + 3 * (size_t)corners[0];
  vector<std::array<double, 3>> p(count);
  for (size_t i = 0; i < count; i++)
    for (size_t c = 0; c < 3; c++) p[i][c] = positions[3 * (size_t)corners[i] + c] - origin[c];
  double n[3] = {}, squares = 0;
  for (size_t i = 0; i < count; i++) {
    const auto &a = p[i], &b = p[i + 1 < count ? i + 1 : 0];
    squares += a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
    for (size_t c = 0; c < 3; c++)
      n[c] += (a[(c + 1) % 3] - b[(c + 1) % 3]) * (a[(c + 2) % 3] + b[(c + 2) % 3]);
  }
  const double length = std::sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  if (!(length > nothing * squares)) return false;
  for (double &c : n) c /= length;
  /* Choose two axes perpendicular to the normal. The first one is in a coordinate plane, so that axis-aligned
   * rectangles remain axis-aligned. */
  const bool steep = std::fabs(n[2]) > 0.7;
  const double u[3] = {steep ? n[2] : -n[1], steep ? 0 : n[0], steep ? -n[0] : 0};
  const double along = std::sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
  const double v[3] = {n[1] * u[2] - n[2] * u[1], n[2] * u[0] - n[0] * u[2], n[0] * u[1] - n[1] * u[0]};
  points_.resize(count);
  for (size_t i = 0; i < count; i++) {
    points_[i].x = (p[i][0] * u[0] + p[i][1] * u[1] + p[i][2] * u[2]) / along;
    points_[i].y = (p[i][0] * v[0] + p[i][1] * v[1] + p[i][2] * v[2]) / along;
  }
  return true;
}

/* Twice the area over the sum of the squared edges; negative if c is to the right of a to b. */
double mesh_polygon_cutter::shape(size_t a, size_t b, size_t c) const {
  const point &p = points_[a], &q = points_[b], &r = points_[c];
  const double ux = q.x - p.x, uy = q.y - p.y, vx = r.x - p.x, vy = r.y - p.y;
  const double squares = ux * ux + uy * uy + vx * vx + vy * vy + (vx - ux) * (vx - ux) + (vy - uy) * (vy - uy);
  return squares > 0 ? (ux * vy - uy * vx) / squares : 0;
}

/* If all triangles of the fan are on the left, they cover exactly the polygon, once: the number of triangles
 * over a point is then the winding number of the boundary. */
bool mesh_polygon_cutter::fan(const vector<int32_t> &corners, vector<int32_t> &triangles) const {
  for (size_t i = 2; i < corners.size(); i++)
    if (!(shape(0, i - 1, i) > straight)) return false;
  for (size_t i = 2; i < corners.size(); i++)
    triangles.insert(triangles.end(), {corners[0], corners[i - 1], corners[i]});
  return true;
}

bool mesh_polygon_cutter::is_bent(size_t at) const {
  return !(shape(before_[at], at, next_[at]) > nothing);
}

/* Returns true if the triangle and its border contain no other corner. It is enough to test the corners that
 * are not convex. */
bool mesh_polygon_cutter::is_free(size_t a, size_t b, size_t c) {
  const point &p = points_[a], &q = points_[b], &r = points_[c];
  const double low = std::min({p.x, q.x, r.x}), high = std::max({p.x, q.x, r.x});
  const double bottom = std::min({p.y, q.y, r.y}), top = std::max({p.y, q.y, r.y});
  const auto is_at = [](const point &s, const point &t) { return s.x == t.x && s.y == t.y; };
  auto i = std::lower_bound(bent_.begin(), bent_.end(), std::make_pair(low, (size_t)0));
  for (; i != bent_.end() && i->first <= high; ++i) {
    const size_t d = i->second;
    tests_++;
    const point &s = points_[d];
    if (s.y < bottom || s.y > top || next_[d] == d || d == a || d == b || d == c) continue;
    if (is_at(s, p) || is_at(s, q) || is_at(s, r)) continue;
    if (shape(a, b, d) < -nothing || shape(b, c, d) < -nothing || shape(c, a, d) < -nothing) continue;
    if (is_bent(d)) return false;
  }
  return true;
}

mesh_polygon_cutter::kind mesh_polygon_cutter::find_kind(size_t b) {
  const double s = shape(before_[b], b, next_[b]);
  return !(s > nothing) || !is_free(before_[b], b, next_[b]) ? ear_no : s > thin ? ear_good : ear_thin;
}

void mesh_polygon_cutter::remove(size_t at) {
  next_[before_[at]] = next_[at];
  before_[next_[at]] = before_[at];
  next_[at] = before_[at] = at;
  left_--;
}

/* After a loop has been cut off, a polygon that touches itself at a vertex has spikes there. Removes them. */
size_t mesh_polygon_cutter::drop_spikes(size_t at, const vector<int32_t> &corners) {
  while (left_ > 2 && corners[before_[at]] == corners[next_[at]]) {
    const size_t base = before_[at];
    remove(next_[at]);
    remove(at);
    at = base;
  }
  return at;
}

/* If there is no ear, cuts the rest into a fan from this corner. */
bool mesh_polygon_cutter::cut_remaining(size_t at, const vector<int32_t> &corners,
                                        vector<int32_t> &triangles) const {
  bool good = true;
  for (size_t b = next_[at]; next_[b] != at; b = next_[b]) {
    good = good && shape(at, b, next_[b]) >= -nothing;
    triangles.insert(triangles.end(), {corners[at], corners[b], corners[next_[b]]});
  }
  return good;
}

/* Walks around the polygon and skips a corner after each cut, because adjacent ears make more thin triangles.
 * Cuts a thin ear only if a whole round has found no good one. */
bool mesh_polygon_cutter::cut_ears(const vector<int32_t> &corners, vector<int32_t> &triangles) {
  const size_t count = corners.size();
  before_.resize(count);
  next_.resize(count);
  for (size_t i = 0; i < count; i++) {
    next_[i] = i + 1 < count ? i + 1 : 0;
    before_[next_[i]] = i;
  }
  bent_.clear();
  for (size_t i = 0; i < count; i++)
    if (is_bent(i)) bent_.push_back({points_[i].x, i});
  std::sort(bent_.begin(), bent_.end());
  left_ = count;
  tests_ = 0;
  kind least = ear_good;
  size_t at = 0, since = 0, cuts = 0; /* since: corners examined since the last cut */
  while (left_ > 3 && tests_ < most_tests) {
    if (find_kind(at) < least) {
      at = next_[at];
      if (++since < left_) continue;
      if (least == ear_thin) break;
      least = ear_thin;
      since = 0;
      continue;
    }
    const size_t a = before_[at], c = next_[at];
    triangles.insert(triangles.end(), {corners[a], corners[at], corners[c]});
    remove(at);
    at = next_[drop_spikes(next_[drop_spikes(a, corners)], corners)];
    since = 0;
    /* Drop corners that are removed or have become convex. */
    if (++cuts > bent_.size() / 8) {
      const auto end = std::remove_if(bent_.begin(), bent_.end(), [this](const std::pair<double, size_t> &b) {
        return next_[b.second] == b.second || !is_bent(b.second);
      });
      bent_.erase(end, bent_.end());
      cuts = 0;
    }
    if (count <= most_careful) least = ear_good;
  }
  return left_ < 3 || cut_remaining(at, corners, triangles);
}

bool mesh_polygon_cutter::cut(const double *positions, const vector<int32_t> &corners,
                              vector<int32_t> &triangles) {
  if (corners.size() > 3 && project(positions, corners))
    return fan(corners, triangles) || cut_ears(corners, triangles);
  for (size_t i = 2; i < corners.size(); i++)
    triangles.insert(triangles.end(), {corners[0], corners[i - 1], corners[i]});
  return corners.size() == 3;
}
