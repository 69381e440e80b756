#include "pack.h"

#include <math.h>
#include <stdlib.h>

#include "triangle.h"

/* ---- The smallest box: one side of it lies along the convex hull ---- */

typedef struct place {
  double x, y;
} place;

static int compare_places(const void *a, const void *b) {
  const place *p = a, *q = b;
  if (p->x != q->x) return p->x < q->x ? -1 : 1;
  return (p->y > q->y) - (p->y < q->y);
}

static double turn(place a, place b, place c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

/* Andrew's monotone chain: counterclockwise, into `hull`, which has room for count + 1. */
static size_t find_hull(place *sorted, size_t count, place *hull) {
  size_t length = 0;
  qsort(sorted, count, sizeof *sorted, compare_places);
  for (int upper = 0; upper < 2; upper++) {
    const size_t least = length + 1;
    for (size_t i = 0; i < count; i++) {
      const place p = sorted[upper ? count - 1 - i : i];
      while (length > least && turn(hull[length - 2], hull[length - 1], p) <= 0) length--;
      hull[length++] = p;
    }
    length--; /* the last one begins the other side */
  }
  return length;
}

/* The direction along the hull whose box is smallest, by calipers that go around with it: the farthest points
 * to the right, above and to the left only move on. */
static place smallest_box(const place *hull, size_t count) {
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

/* ---- One chart: its area, turned, with its lower left corner at 0 ---- */

typedef struct shape {
  double width, height, left, lower; /* the last two in the square that is looked for */
  int32_t chart;
} shape;

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

/* `places` has room for twice the chart's vertices and one more. Longer than high. */
static shape lay_down(const mesh *m, const charts *c, int32_t k, place *places, double *uv, double *area) {
  const chart *at = &c->chart[k];
  const double scale = chart_scale(m, c, at, uv, area);
  double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
  double *first = uv + 2 * (size_t)at->first_vertex;
  size_t count = 0;
  for (int32_t v = 0; v < at->vertices; v++)
    if (c->boundary[at->first_vertex + v])
      places[count++] = (place){first[2 * (size_t)v], first[2 * (size_t)v + 1]};
  place *const hull = places + count;
  place along = smallest_box(hull, find_hull(places, count, hull));
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
  return (shape){.width = high[0] - low[0], .height = high[1] - low[1], .chart = k};
}

/* ---- Shelves ---- */

static int compare_shapes(const void *a, const void *b) {
  const shape *p = a, *q = b;
  if (p->height != q->height) return p->height > q->height ? -1 : 1;
  return (p->chart > q->chart) - (p->chart < q->chart);
}

/* What is free of a shelf begins here. */
typedef struct shelf {
  double x, y;
} shelf;

enum {
  most_looked_at = 64
}; /* shelves, for every box: the newest ones, so that many boxes take no squared time */

/* Fills shelves that are so wide, each box on the first one with room; returns the side of the square that
 * holds them. `shelves` has room for one a box. */
static double fill_shelves(shape *shapes, int32_t count, double width, double gap, shelf *shelves) {
  int32_t made = 0;
  double top = gap, widest = 0;
  for (int32_t i = 0; i < count; i++) {
    int32_t k = made > most_looked_at ? made - most_looked_at : 0;
    while (k < made && shelves[k].x + shapes[i].width + gap > width) k++;
    if (k == made) { /* as high as this box: those to come are lower */
      shelves[made++] = (shelf){gap, top};
      top += shapes[i].height + gap;
    }
    shapes[i].left = shelves[k].x;
    shapes[i].lower = shelves[k].y;
    shelves[k].x += shapes[i].width + gap;
    widest = fmax(widest, shelves[k].x);
  }
  return fmax(widest, top);
}

/* The width for which the square is smallest, of some that are tried; the gap is a share of the square. */
static double choose_width(shape *shapes, int32_t count, double gap_share, shelf *shelves, double *gap) {
  double area = 0, widest = 0, best_side = INFINITY, best_width = 0;
  for (int32_t i = 0; i < count; i++) {
    area += shapes[i].width * shapes[i].height;
    widest = fmax(widest, shapes[i].width);
  }
  const double least = fmax(sqrt(area), widest);
  for (int k = 0; k <= 60; k++) {
    const double width = least * (1 + k / 50.0), try_gap = gap_share * width;
    const double side = fill_shelves(shapes, count, width + 2 * try_gap, try_gap, shelves);
    if (side >= best_side) continue;
    best_side = side;
    best_width = width + 2 * try_gap;
    *gap = try_gap;
  }
  return best_width;
}

static void place_charts(const charts *c, const shape *shapes, double side, double *uv, pack_box *boxes) {
  for (int32_t i = 0; i < c->count; i++) {
    const shape *s = &shapes[i];
    const chart *at = &c->chart[s->chart];
    const double corner[2] = {s->left, s->lower}, size[2] = {s->width, s->height};
    for (int32_t v = at->first_vertex; v < at->first_vertex + at->vertices; v++)
      for (int k = 0; k < 2; k++)
        uv[2 * (size_t)v + (size_t)k] = (uv[2 * (size_t)v + (size_t)k] + corner[k]) / side;
    for (int k = 0; k < 2 && boxes; k++) {
      boxes[s->chart].low[k] = corner[k] / side;
      boxes[s->chart].high[k] = (corner[k] + size[k]) / side;
    }
  }
}

int pack_charts(const mesh *m, const charts *c, double gap, double *uv, pack_box *boxes, pack_report *report,
                char message[MESH_MESSAGE]) {
  int32_t largest = 0;
  double covered = 0;
  for (int32_t k = 0; k < c->count; k++)
    if (c->chart[k].vertices > largest) largest = c->chart[k].vertices;
  place *places = malloc((2 * (size_t)largest + 2) * sizeof *places);
  shape *shapes = malloc(((size_t)c->count + 1) * sizeof *shapes);
  shelf *shelves = malloc(((size_t)c->count + 1) * sizeof *shelves);
  const int failed = !places || !shapes || !shelves;
  if (failed) mesh_fail(message, "out of memory to pack %d charts", (int)c->count);
  for (int32_t k = 0; k < c->count && !failed; k++) {
    double area;
    shapes[k] = lay_down(m, c, k, places, uv, &area);
    covered += area;
  }
  if (!failed) {
    double margin = 0;
    qsort(shapes, (size_t)c->count, sizeof *shapes, compare_shapes);
    const double width = choose_width(shapes, c->count, gap, shelves, &margin);
    double side = fill_shelves(shapes, c->count, width, margin, shelves);
    if (!(side > 0)) side = 1;
    place_charts(c, shapes, side, uv, boxes);
    *report = (pack_report){.fill = covered / (side * side), .scale = 1 / side};
  }
  free(places);
  free(shapes);
  free(shelves);
  return failed;
}
