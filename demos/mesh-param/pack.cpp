#include <algorithm>
#include <cmath>
#include <exception>
#include <tuple>
#include <vector>

extern "C" {
#include "charts.h"
#include "triangle.h"
}

using std::vector;

/* ---- The smallest box: one of its sides is along the convex hull ---- */

struct place {
  double x, y;
  bool operator<(const place &b) const { return std::tie(x, y) < std::tie(b.x, b.y); }
};

static double turn(place a, place b, place c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

/* Andrew's monotone chain. The result is counterclockwise. */
static vector<place> find_hull(vector<place> sorted) {
  vector<place> hull;
  std::sort(sorted.begin(), sorted.end());
  for (int upper = 0; upper < 2; upper++) {
    const size_t least = hull.size() + 1;
    for (size_t i = 0; i < sorted.size(); i++) {
      const place p = sorted[upper ? sorted.size() - 1 - i : i];
      while (hull.size() > least && turn(hull[hull.size() - 2], hull.back(), p) <= 0) hull.pop_back();
      hull.push_back(p);
    }
    hull.pop_back(); /* the last point is the first of the other side */
  }
  return hull;
}

/* The direction of the hull's edge with the smallest box. Rotating calipers: the extreme points to the right,
 * above and to the left advance with the edge. */
static place smallest_box(const vector<place> &hull) {
  const size_t count = hull.size();
  place best = {1, 0};
  size_t right = 1, above = 1, left = 1;
  double least = INFINITY;
  for (size_t i = 0; i < count && count > 2; i++) {
    const place p = hull[i], q = hull[(i + 1) % count];
    const double length = hypot(q.x - p.x, q.y - p.y);
    if (!(length > 0)) continue;
    const place along = {(q.x - p.x) / length, (q.y - p.y) / length};
#define ALONG(k) (along.x * hull[(k) % count].x + along.y * hull[(k) % count].y)
#define ACROSS(k) (along.x * hull[(k) % count].y - along.y * hull[(k) % count].x)
    if (right < i + 1) right = i + 1;
    while (right < 2 * count + i && ALONG(right + 1) > ALONG(right)) right++;
    if (above < right) above = right;
    while (above < 2 * count + i && ACROSS(above + 1) > ACROSS(above)) above++;
    if (left < above) left = above;
    while (left < 2 * count + i && ALONG(left + 1) < ALONG(left)) left++;
    const double size = (ALONG(right) - ALONG(left)) * (ACROSS(above) - ACROSS(i));
#undef ALONG
#undef ACROSS
    if (size >= least) continue;
    least = size;
    best = along;
  }
  return best;
}

/* ---- One chart: scaled to its area, rotated, with its lower left corner at 0 ----  */

struct shape {
  double width, height;
  int32_t chart;
  double left, lower; /* position in the square */

  /* Sorts the highest first. */
  bool operator<(const shape &b) const { return height != b.height ? height > b.height : chart < b.chart; }
};

static double chart_scale(const mesh *m, const charts *c, const chart *at, const double *uv, double *area) {
  double image = 0;
  *area = 0;
  for (int32_t i = at->first_triangle; i < at->first_triangle + at->triangles; i++) {
    const int32_t *corner = c->corner + 3 * (size_t)c->order[i];
    *area += 0.5 * triangle_flat(m, c->order[i]).double_area;
    image += 0.5 * fabs(triangle_double_area(uv + 2 * (size_t)corner[0], uv + 2 * (size_t)corner[1],
                                             uv + 2 * (size_t)corner[2]));
  }
  return image > 0 && *area > 0 ? sqrt(*area / image) : 1;
}

/* Rotates a chart so that it is wider than high. */
static shape lay_down(const mesh *m, const charts *c, int32_t k, double *uv, double *area) {
  const chart *at = &c->chart[k];
  const double scale = chart_scale(m, c, at, uv, area);
  double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
  double *first = uv + 2 * (size_t)at->first_vertex;
  vector<place> places;
  for (int32_t v = 0; v < at->vertices; v++)
    if (c->boundary[at->first_vertex + v]) places.push_back({first[2 * (size_t)v], first[2 * (size_t)v + 1]});
  const place along = smallest_box(find_hull(std::move(places)));
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t v = 0; v < at->vertices; v++) {
      double *p = first + 2 * (size_t)v;
      const double x = p[0], y = p[1];
      p[0] = pass ? y : scale * (along.x * x + along.y * y);
      p[1] = pass ? -x : scale * (along.x * y - along.y * x);
    }
    for (int i = 0; i < 2; i++) low[i] = INFINITY, high[i] = -INFINITY;
    for (int32_t v = 0; v < at->vertices; v++)
      for (int i = 0; i < 2; i++) {
        low[i] = fmin(low[i], first[2 * (size_t)v + (size_t)i]);
        high[i] = fmax(high[i], first[2 * (size_t)v + (size_t)i]);
      }
    if (high[0] - low[0] >= high[1] - low[1]) break;
  }
  for (int32_t v = 0; v < at->vertices; v++)
    for (int i = 0; i < 2; i++) first[2 * (size_t)v + (size_t)i] -= low[i];
  return {high[0] - low[0], high[1] - low[1], k, 0, 0};
}

/* ---- Shelves ---- */

/* Maximum of shelves to try for a box, newest first. Without it the time would be quadratic in the number of
 * boxes. */
enum { most_looked_at = 64 };

/* Fills shelves of the given width, each box on the first shelf with room. Returns the side of the square that
 * holds them. */
static double fill_shelves(vector<shape> &shapes, double width, double gap) {
  vector<place> shelves; /* the lower left corner of the free part of each shelf */
  double top = gap, widest = 0;
  for (shape &box : shapes) {
    size_t k = shelves.size() > most_looked_at ? shelves.size() - most_looked_at : 0;
    while (k < shelves.size() && shelves[k].x + box.width + gap > width) k++;
    if (k == shelves.size()) { /* the new shelf is as high as this box, and later boxes are lower */
      shelves.push_back({gap, top});
      top += box.height + gap;
    }
    box.left = shelves[k].x;
    box.lower = shelves[k].y;
    shelves[k].x += box.width + gap;
    widest = fmax(widest, shelves[k].x);
  }
  return fmax(widest, top);
}

/* Tries several widths and returns the one with the smallest square. The gap is relative to the square. */
static double choose_width(vector<shape> &shapes, double gap_share, double *gap) {
  double area = 0, widest = 0, best_side = INFINITY, best_width = 0;
  for (const shape &box : shapes) {
    area += box.width * box.height;
    widest = fmax(widest, box.width);
  }
  const double least = fmax(sqrt(area), widest);
  for (int k = 0; k <= 60; k++) {
    const double width = least * (1 + k / 50.0), try_gap = gap_share * width;
    const double side = fill_shelves(shapes, width + 2 * try_gap, try_gap);
    if (side >= best_side) continue;
    best_side = side;
    best_width = width + 2 * try_gap;
    *gap = try_gap;
  }
  return best_width;
}

static void place_charts(const charts *c, const vector<shape> &shapes, double side, double *uv,
                         pack_box *boxes) {
  for (const shape &s : shapes) {
    const chart *at = &c->chart[s.chart];
    const double corner[2] = {s.left, s.lower}, size[2] = {s.width, s.height};
    for (int32_t v = at->first_vertex; v < at->first_vertex + at->vertices; v++)
      for (int k = 0; k < 2; k++)
        uv[2 * (size_t)v + (size_t)k] = (uv[2 * (size_t)v + (size_t)k] + corner[k]) / side;
    for (int k = 0; k < 2 && boxes; k++) {
      boxes[s.chart].low[k] = corner[k] / side;
      boxes[s.chart].high[k] = (corner[k] + size[k]) / side;
    }
  }
}

int pack_charts(const mesh *m, const charts *c, double gap, double *uv, pack_box *boxes, pack_report *report,
                char message[MESH_MESSAGE]) {
  double covered = 0, margin = 0;
  try {
    vector<shape> shapes;
    for (int32_t k = 0; k < c->count; k++) {
      double area;
      shapes.push_back(lay_down(m, c, k, uv, &area));
      covered += area;
    }
    std::sort(shapes.begin(), shapes.end());
    const double width = choose_width(shapes, gap, &margin);
    double side = fill_shelves(shapes, width, margin);
    if (!(side > 0)) side = 1;
    place_charts(c, shapes, side, uv, boxes);
    *report = {covered / (side * side), 1 / side};
    return 0;
  } catch (const std::exception &) {
    return mesh_fail(message, "out of memory to pack %d charts", (int)c->count);
  }
}
