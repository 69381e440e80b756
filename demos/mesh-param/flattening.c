#include "flattening.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mesh_file.h"
#include "triangle.h"

static const double gap = 0.004; /* between charts, relative to the side of the square: two texels of 512 */
static const double farthest_pin = 1e30, nearest_pins = 1e-30; /* files hold numbers in single precision */

/* Rounds as files do, so that the measured map is the written one. */
static void round_to_single(double *numbers, size_t count) {
  for (size_t i = 0; i < count; i++) numbers[i] = (float)numbers[i];
}

int flattening_create(mesh *m, const flattening_options *options, flattening *f, char message[MESH_MESSAGE]) {
  *f = (flattening){.m = *m, .method = options->start};
  *m = (mesh){0};
  /* Positions relative to an origin are stored in double precision. */
  const double *origin = f->m.origin;
  if (origin[0] == 0 && origin[1] == 0 && origin[2] == 0)
    round_to_single(f->m.positions, 3 * (size_t)f->m.vertex_count);
  int failed = mesh_measure(&f->m, &f->measures, message);
  if (!failed && !(f->measures.area > 1e-12 * f->measures.diagonal * f->measures.diagonal))
    failed = mesh_fail(message, "all triangles are degenerate, so there is nothing to flatten");
  if (!failed) failed = cut_into_disks(&f->m, options->cut, &f->c, &f->cut, message);
  if (!failed) {
    const size_t vertices = (size_t)f->c.vertices, charts = (size_t)f->c.count;
    f->start = malloc(2 * vertices * sizeof *f->start);
    f->solved = malloc(2 * vertices * sizeof *f->solved);
    f->uv = malloc(2 * vertices * sizeof *f->uv);
    f->auto_pins = malloc(2 * charts * sizeof *f->auto_pins);
    f->pinned = calloc(vertices, 1);
    failed = !f->start || !f->solved || !f->uv || !f->auto_pins || !f->pinned;
    if (failed) mesh_fail(message, "out of memory for %d flat vertices", (int)f->c.vertices);
  }
  if (!failed) failed = start_find(&f->m, &f->c, options->start, f->start, f->auto_pins, message);
  if (!failed) failed = flattening_restart(f, message) || flattening_update(f, message);
  if (failed) flattening_destroy(f);
  return failed;
}

void flattening_destroy(flattening *f) {
  mesh_destroy(&f->m);
  charts_free(&f->c);
  distortion_free(&f->d);
  free(f->start);
  free(f->solved);
  free(f->uv);
  free(f->auto_pins);
  free(f->pinned);
  free(f->pins);
  *f = (flattening){0};
}

/* ---- Pins ---- */

/* Finds the lowest flat vertex of each pin. Refuses invalid pins. */
static int find_places(const flattening *f, const flattening_pin *pins, int32_t count, int32_t *flat,
                       char message[MESH_MESSAGE]) {
  for (int32_t i = 0; i < count; i++) {
    flat[i] = -1;
    if (pins[i].vertex < 0 || pins[i].vertex >= f->m.vertex_count)
      return mesh_fail(message, "pin at vertex %d, expected one of 0 to %d", (int)pins[i].vertex,
                       (int)f->m.vertex_count - 1);
    if (!(fabs(pins[i].u) <= farthest_pin) || !(fabs(pins[i].v) <= farthest_pin))
      return mesh_fail(message, "pin at vertex %d to %g, %g, expected finite numbers of at most %g",
                       (int)pins[i].vertex, pins[i].u, pins[i].v, farthest_pin);
    if (pins[i].place) flat[i] = pins[i].place - 1;
    for (int32_t v = 0; v < f->c.vertices && flat[i] < 0; v++)
      if (f->c.vertex[v] == pins[i].vertex) flat[i] = v;
    for (int32_t k = 0; k < i; k++)
      if (flat[k] == flat[i] && flat[i] >= 0)
        return mesh_fail(message, "two pins at vertex %d, expected one", (int)pins[i].vertex);
    if (flat[i] < 0)
      return mesh_fail(message, "pin at vertex %d, which does not belong to a triangle", (int)pins[i].vertex);
  }
  return 0;
}

static int chart_has(const chart *at, int32_t flat) {
  return flat >= at->first_vertex && flat < at->first_vertex + at->vertices;
}

/* Returns 1 if all pins coincide in single precision, the precision of files. */
static int at_one_place(const flattening_pin *pins, int32_t count) {
  double apart = 0, size = 0;
  for (int32_t i = 0; i < count; i++) {
    apart = fmax(apart, fmax(fabs(pins[i].u - pins[0].u), fabs(pins[i].v - pins[0].v)));
    size = fmax(size, fmax(fabs(pins[i].u), fabs(pins[i].v)));
  }
  return count > 1 && apart <= fmax(nearest_pins, 1e-6 * size);
}

/* Sets the `count` given pins of a chart, and adds automatic ones up to two. `places` has room for 4 numbers
 * per pin. */
static void pin_chart(flattening *f, int32_t k, const int32_t *flat, const flattening_pin *pins, int32_t count,
                      double *places) {
  const int32_t *ends = f->auto_pins + 2 * (size_t)k;
  double *const from = places, *const to = places + 2 * (size_t)count;
  for (int32_t i = 0; i < count; i++) {
    memcpy(from + 2 * (size_t)i, f->solved + 2 * (size_t)flat[i], 2 * sizeof *from);
    to[2 * (size_t)i] = pins[i].u;
    to[2 * (size_t)i + 1] = pins[i].v;
  }
  if (count) {
    const chart *at = &f->c.chart[k];
    const similarity s = similarity_fit(from, to, count);
    similarity_apply(&s, f->solved + 2 * (size_t)at->first_vertex, at->vertices);
  }
  for (int32_t i = 0; i < count; i++) {
    f->solved[2 * (size_t)flat[i]] = pins[i].u;
    f->solved[2 * (size_t)flat[i] + 1] = pins[i].v;
    f->pinned[flat[i]] = 1;
  }
  if (count == 1) {
    const double *p = f->start + 2 * (size_t)flat[0], *a = f->start + 2 * (size_t)ends[0],
                 *b = f->start + 2 * (size_t)ends[1];
    f->pinned[hypot(a[0] - p[0], a[1] - p[1]) > hypot(b[0] - p[0], b[1] - p[1]) ? ends[0] : ends[1]] = 1;
  }
  for (int i = 0; i < 2 && count == 0; i++) f->pinned[ends[i]] = 1;
}

int flattening_set_pins(flattening *f, const flattening_pin *pins, int32_t count, char message[MESH_MESSAGE]) {
  int32_t *flat = malloc(((size_t)count + 1) * sizeof *flat),
          *own_flat = calloc((size_t)count + 1, sizeof *own_flat);
  flattening_pin *own = calloc((size_t)count + 1, sizeof *own);
  double *places = malloc((4 * (size_t)count + 1) * sizeof *places);
  int failed = !flat || !own_flat || !own || !places;
  if (failed) mesh_fail(message, "out of memory for %d pins", (int)count);
  if (!failed) failed = find_places(f, pins, count, flat, message);
  /* The first pass checks all pins, the second sets them, so that a failure changes nothing. */
  for (int pass = 0; pass < 2 && !failed; pass++) {
    if (pass) {
      memset(f->pinned, 0, (size_t)f->c.vertices);
      f->pinned_charts = 0;
    }
    for (int32_t k = 0; k < f->c.count && !failed; k++) {
      int32_t here = 0;
      for (int32_t i = 0; i < count; i++) {
        if (!chart_has(&f->c.chart[k], flat[i])) continue;
        own[here] = pins[i];
        own_flat[here++] = flat[i];
      }
      if (pass == 0 && at_one_place(own, here))
        failed = mesh_fail(message, "all %d pins of one chart are at %g, %g, expected at least two positions",
                           (int)here, own[0].u, own[0].v);
      if (pass == 0) continue;
      pin_chart(f, k, own_flat, own, here, places);
      f->pinned_charts += here > 0;
    }
  }
  free(own);
  free(own_flat);
  free(places);
  if (failed) {
    free(flat);
    return 1;
  }
  free(f->pins);
  f->pins = flat;
  f->pin_count = count;
  return 0;
}

/* ---- Solving, packing and measuring ---- */

int flattening_restart(flattening *f, char message[MESH_MESSAGE]) {
  memcpy(f->solved, f->start, 2 * (size_t)f->c.vertices * sizeof *f->start);
  f->fresh = 1;
  return flattening_set_pins(f, NULL, 0, message);
}

void flattening_places_free(flattening_places *p) {
  ts_vector_destroy(&p->places);
  free(p->frame);
  *p = (flattening_places){0};
}

/* Solves each chart in its own coordinates. */
static int find_in_frames(const flattening *f, ts_context *context, const unsigned char *pinned,
                          const conformal_options *options, double *uv, flattening_places *places,
                          conformal_result *result, char message[MESH_MESSAGE]) {
  conformal_options own = *options;
  levels_result levels = {0};
  for (int32_t k = 0; k < f->c.count; k++) {
    const chart *at = &f->c.chart[k];
    places->frame[k] = similarity_of_pins(at, pinned, uv);
    const similarity into = similarity_inverse(&places->frame[k]);
    similarity_apply(&into, uv + 2 * (size_t)at->first_vertex, at->vertices);
  }
  own.preconditioner = conformal_choose(options, &f->c);
  /* With AMG a start from coarser meshes would save nothing. */
  if (own.preconditioner == CONFORMAL_JACOBI && f->fresh && f->method == START_LEVELS) {
    own.places = NULL;
    if (levels_solve(context, &f->m, &f->c, pinned, &own, uv, &levels, message)) return 1;
    own.places = options->places;
  }
  if (conformal_solve(context, &f->m, &f->c, pinned, &own, uv, result, message)) return 1;
  result->levels = levels;
  for (int32_t k = 0; k < f->c.count; k++)
    similarity_apply(&places->frame[k], uv + 2 * (size_t)f->c.chart[k].first_vertex, f->c.chart[k].vertices);
  return 0;
}

int flattening_find(const flattening *f, ts_context *context, const unsigned char *pinned,
                    const conformal_options *options, double *uv, flattening_places *places,
                    conformal_result *result, char message[MESH_MESSAGE]) {
  const size_t numbers = 2 * (size_t)f->c.vertices;
  flattening_places found = {.frame = malloc(((size_t)f->c.count + 1) * sizeof *found.frame)};
  conformal_options own = *options;
  double *copy = malloc((numbers + 1) * sizeof *copy);
  int failed = !found.frame || !copy;
  if (failed) mesh_fail(message, "out of memory for %d flat vertices", (int)f->c.vertices);
  own.places = places ? &found.places : NULL;
  if (!failed) {
    memcpy(copy, uv, numbers * sizeof *copy);
    failed = find_in_frames(f, context, pinned, &own, copy, &found, result, message);
  }
  /* Pins must stay bit-identical. */
  for (size_t i = 0; i < numbers && !failed; i++)
    if (!pinned[i / 2]) uv[i] = copy[i];
  free(copy);
  if (places)
    *places = found;
  else
    flattening_places_free(&found);
  return failed;
}

int flattening_solve(flattening *f, ts_context *context, const conformal_options *options,
                     flattening_places *places, conformal_result *result, char message[MESH_MESSAGE]) {
  if (flattening_find(f, context, f->pinned, options, f->solved, places, result, message)) return 1;
  f->fresh = 0;
  return flattening_update(f, message);
}

similarity flattening_placement(const flattening *f, int32_t k) {
  const size_t first = 2 * (size_t)f->c.chart[k].first_vertex;
  return similarity_fit(f->solved + first, f->uv + first, f->c.chart[k].vertices);
}

static int has_pins(const flattening *f, int32_t k) {
  for (int32_t i = 0; i < f->pin_count; i++)
    if (chart_has(&f->c.chart[k], f->pins[i])) return 1;
  return 0;
}

/* Keeps pinned charts as solved, and places the others to the right of them. All charts have the same average
 * scale. `packed` has all charts in the unit square. */
static void place_beside(flattening *f, const double *packed) {
  double low = INFINITY, right = -INFINITY, image = 0, area = 0;
  for (int32_t k = 0; k < f->c.count; k++) {
    const chart *at = &f->c.chart[k];
    if (!has_pins(f, k)) continue;
    for (int32_t v = at->first_vertex; v < at->first_vertex + at->vertices; v++) {
      right = fmax(right, f->solved[2 * (size_t)v]);
      low = fmin(low, f->solved[2 * (size_t)v + 1]);
    }
    for (int32_t i = at->first_triangle; i < at->first_triangle + at->triangles; i++) {
      const int32_t *corner = f->c.corner + 3 * (size_t)f->c.order[i];
      const double *p = f->solved + 2 * (size_t)corner[0], *q = f->solved + 2 * (size_t)corner[1],
                   *r = f->solved + 2 * (size_t)corner[2];
      const double *x = packed + 2 * (size_t)corner[0], *y = packed + 2 * (size_t)corner[1],
                   *z = packed + 2 * (size_t)corner[2];
      image += fabs(triangle_double_area(p, q, r));
      area += fabs(triangle_double_area(x, y, z));
    }
  }
  const double scale = image > 0 && area > 0 ? sqrt(image / area) : 1;
  for (int32_t k = 0; k < f->c.count; k++) {
    const chart *at = &f->c.chart[k];
    const int given = has_pins(f, k);
    for (int32_t v = at->first_vertex; v < at->first_vertex + at->vertices; v++) {
      double *p = f->uv + 2 * (size_t)v;
      p[0] = given ? f->solved[2 * (size_t)v] : right + scale * packed[2 * (size_t)v];
      p[1] = given ? f->solved[2 * (size_t)v + 1] : low + scale * packed[2 * (size_t)v + 1];
    }
  }
}

/* Rounds u and v to single precision, unless that flips triangles or makes them degenerate. A program may read
 * the nine digits of a text file in double precision, so these must be as good as the rounded numbers. `room`
 * has as many numbers as `uv`. */
static int choose_precision(flattening *f, double *room, char message[MESH_MESSAGE]) {
  const size_t numbers = 2 * (size_t)f->c.vertices;
  distortion single = {0}, digits = {0};
  distortion_free(&f->d);
  int failed = distortion_find(&f->m, &f->c, f->uv, &f->d, message);
  for (size_t i = 0; i < numbers; i++) room[i] = mesh_file_single(f->uv[i]);
  if (!failed) failed = distortion_find(&f->m, &f->c, room, &digits, message);
  for (size_t i = 0; i < numbers; i++) room[i] = (float)f->uv[i];
  if (!failed) failed = distortion_find(&f->m, &f->c, room, &single, message);
  f->uv_is_double = single.flipped != digits.flipped || single.collapsed != digits.collapsed ||
                    single.flipped + single.collapsed > f->d.flipped + f->d.collapsed;
  if (!failed && !f->uv_is_double) {
    memcpy(f->uv, room, numbers * sizeof *room);
    distortion_free(&f->d);
    f->d = single;
    single = (distortion){0};
  }
  distortion_free(&single);
  distortion_free(&digits);
  return failed;
}

int flattening_update(flattening *f, char message[MESH_MESSAGE]) {
  const size_t numbers = 2 * (size_t)f->c.vertices;
  double *packed = malloc(numbers * sizeof *packed);
  pack_report report;
  if (!packed) return mesh_fail(message, "out of memory for %d flat vertices", (int)f->c.vertices);
  memcpy(packed, f->solved, numbers * sizeof *packed);
  int failed = pack_charts(&f->m, &f->c, gap, packed, NULL, &report, message);
  if (!failed) {
    if (f->pin_count) {
      place_beside(f, packed);
      f->packed = (pack_report){0};
    } else {
      memcpy(f->uv, packed, numbers * sizeof *packed);
      f->packed = report;
    }
    failed = choose_precision(f, packed, message);
  }
  free(packed);
  return failed;
}

int flattening_write(const flattening *f, const char *path, char message[MESH_MESSAGE]) {
  const mesh_texture texture = {f->c.corner, f->uv, f->uv_is_double};
  if (mesh_format_of(path) != MESH_PLY) return mesh_file_write_textured(path, &f->m, &texture, message);
  mesh flat;
  if (mesh_create(f->c.vertices, f->m.triangle_count, &flat, message)) return 1;
  for (int32_t v = 0; v < f->c.vertices; v++)
    memcpy(flat.positions + 3 * (size_t)v, f->m.positions + 3 * (size_t)f->c.vertex[v],
           3 * sizeof *flat.positions);
  memcpy(flat.origin, f->m.origin, sizeof flat.origin);
  memcpy(flat.triangles, f->c.corner, 3 * (size_t)f->m.triangle_count * sizeof *flat.triangles);
  const int failed = mesh_file_write_textured(path, &flat, &texture, message);
  mesh_destroy(&flat);
  return failed;
}
