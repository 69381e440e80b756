#include "mesh_polygon.hpp"

#include <algorithm>
#include <cmath>

using std::size_t, std::vector;

namespace {

/* Bounds of twice the area of a triangle over the sum of its squared edges, which is 0.29 at most. Programs
 * cannot work with one below `thin` (mesh_repair.h). Coordinates in single precision bend straight sides by
 * less than `straight`. Below `nothing` the sign is rounding. */
const double thin = 1e-3, straight = 1e-5, nothing = 1e-12;
/* Tests of a corner against a triangle, after which the rest is cut as it comes: a polygon of 100000 corners
 * that crosses itself would take hours. */
const int64_t most_tests = 5000000000;
/* In larger polygons the search for good ears is not repeated after each thin one. */
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
  /* The same across the seam between the last corner and the first one. */
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
  /* Two axes at right angles to the normal, the first one in a plane of two coordinates: rectangles along the
   * axes stay so. */
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

/* Twice the area, negative where c lies to the right of a to b, over the sum of the squared edges. */
double mesh_polygon_cutter::shape(size_t a, size_t b, size_t c) const {
  const point &p = points_[a], &q = points_[b], &r = points_[c];
  const double ux = q.x - p.x, uy = q.y - p.y, vx = r.x - p.x, vy = r.y - p.y;
  const double squares = ux * ux + uy * uy + vx * vx + vy * vy + (vx - ux) * (vx - ux) + (vy - uy) * (vy - uy);
  return squares > 0 ? (ux * vy - uy * vx) / squares : 0;
}

/* Triangles that follow each other round the polygon cover it once and nothing else if all of them lie on the
 * left: how often a place is covered is then how often the boundary winds around it. */
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

/* Whether no other corner lies in the triangle or on its border. Only one that is not convex can be the first
 * to. */
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

/* A polygon that touches itself at a vertex leaves spikes when the loop there has been cut off. */
size_t mesh_polygon_cutter::drop_spikes(size_t at, const vector<int32_t> &corners) {
  while (left_ > 2 && corners[before_[at]] == corners[next_[at]]) {
    const size_t base = before_[at];
    remove(next_[at]);
    remove(at);
    at = base;
  }
  return at;
}

/* A fan from this corner, when no ear was found. */
bool mesh_polygon_cutter::cut_remaining(size_t at, const vector<int32_t> &corners,
                                        vector<int32_t> &triangles) const {
  bool good = true;
  for (size_t b = next_[at]; next_[b] != at; b = next_[b]) {
    good = good && shape(at, b, next_[b]) >= -nothing;
    triangles.insert(triangles.end(), {corners[at], corners[b], corners[next_[b]]});
  }
  return good;
}

/* Walks around the polygon and skips a corner after each cut, which makes fewer thin triangles than adjacent
 * ears. Thin ears are cut only if a whole round has found no good one. */
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
  size_t at = 0, since = 0, cuts = 0; /* since: corners that were looked at since the last cut */
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
    /* Corners that are gone or have become convex by now. */
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
