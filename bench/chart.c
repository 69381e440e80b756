#include "chart.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static const double TAU = 6.283185307179586;
static const double FONT_SIZE = 11, PALE = 0.35;

struct chart {
  cairo_surface_t *surface;
  cairo_t *cr;
  const char *path;
  double scale; /* pixels a unit */
  int is_png;
};

static int ends_with(const char *path, const char *ending) {
  const size_t n = strlen(path), m = strlen(ending);
  return n > m && !strcmp(path + n - m, ending);
}

static void set_weight(chart *c, cairo_font_weight_t weight) {
  cairo_select_font_face(c->cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL, weight);
}

chart *chart_open(const char *path, double width, double height) {
  chart *c = calloc(1, sizeof *c);
  if (!c) {
    bench_error("%s: out of memory", path);
    return NULL;
  }
  c->path = path;
  c->scale = 1;
  if (ends_with(path, ".svg")) {
    c->surface = cairo_svg_surface_create(path, width, height);
  } else if (ends_with(path, ".pdf")) {
    c->surface = cairo_pdf_surface_create(path, width, height);
  } else if (ends_with(path, ".png")) {
    c->is_png = 1;
    c->scale = 1.5;
    c->surface =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)(width * c->scale), (int)(height * c->scale));
  } else {
    bench_error("%s: the name of a picture ends with .svg, .png or .pdf", path);
    free(c);
    return NULL;
  }
  c->cr = cairo_create(c->surface);
  if (cairo_status(c->cr) != CAIRO_STATUS_SUCCESS) {
    bench_error("%s: %s", path, cairo_status_to_string(cairo_status(c->cr)));
    cairo_destroy(c->cr);
    cairo_surface_destroy(c->surface);
    free(c);
    return NULL;
  }
  cairo_scale(c->cr, c->scale, c->scale);
  cairo_set_source_rgb(c->cr, 1, 1, 1);
  cairo_paint(c->cr);
  set_weight(c, CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(c->cr, FONT_SIZE);
  return c;
}

static double place_x(const chart_panel *p, double x) {
  if (p->scale == CHART_LINEAR) return p->left + p->width * (x - p->x_least) / (p->x_most - p->x_least);
  return p->left + p->width * log(x / p->x_least) / log(p->x_most / p->x_least);
}

static double place_y(const chart_panel *p, double y) {
  return p->top + p->height * (1 - log(y / p->y_least) / log(p->y_most / p->y_least));
}

/* `align`: the part of the text that is left of x. */
static void put_text(chart *c, double x, double y, double align, const char *text) {
  cairo_text_extents_t extents;
  cairo_text_extents(c->cr, text, &extents);
  cairo_move_to(c->cr, x - align * extents.x_advance, y);
  cairo_show_text(c->cr, text);
  cairo_new_path(c->cr);
}

static void black_text(chart *c, double x, double y, const char *text) {
  cairo_set_source_rgb(c->cr, 0, 0, 0);
  put_text(c, x, y, 0, text);
}

void chart_heading(chart *c, double x, double y, const char *text) {
  set_weight(c, CAIRO_FONT_WEIGHT_BOLD);
  cairo_set_font_size(c->cr, 1.15 * FONT_SIZE);
  black_text(c, x, y, text);
  cairo_set_font_size(c->cr, FONT_SIZE);
  set_weight(c, CAIRO_FONT_WEIGHT_NORMAL);
}

void chart_small_text(chart *c, double x, double y, double width, const char *text) {
  char shown[96];
  cairo_text_extents_t extents;
  cairo_set_font_size(c->cr, 0.82 * FONT_SIZE);
  for (int length = (int)strlen(text), cut = 0; length > 0; cut = 1, --length) {
    snprintf(shown, sizeof shown, "%.*s%s", length < 80 ? length : 80, text, cut || length > 80 ? "..." : "");
    cairo_text_extents(c->cr, shown, &extents);
    if (extents.x_advance <= width) break;
  }
  cairo_set_source_rgb(c->cr, 0.35, 0.35, 0.35);
  put_text(c, x, y, 0, shown);
  cairo_set_font_size(c->cr, FONT_SIZE);
}

/* 10000 as 10k, 1048576 as 1M: what the option --size takes. */
static void number_text(char text[16], double value, int binary) {
  const double k = binary ? 1024 : 1000;
  if (value >= k * k)
    snprintf(text, 16, "%.3gM", value / k / k);
  else if (value >= k)
    snprintf(text, 16, "%.3gk", value / k);
  else
    snprintf(text, 16, "%.3g", value);
}

static void line(chart *c, double x0, double y0, double x1, double y1) {
  cairo_move_to(c->cr, x0, y0);
  cairo_line_to(c->cr, x1, y1);
  cairo_stroke(c->cr);
}

/* A power of ten with its exponent raised. */
static void put_power(chart *c, double x, double y, int power) {
  char text[8];
  cairo_text_extents_t extents;
  snprintf(text, sizeof text, "%d", power);
  cairo_set_font_size(c->cr, 0.75 * FONT_SIZE);
  cairo_text_extents(c->cr, text, &extents);
  put_text(c, x, y - 0.4 * FONT_SIZE, 1, text);
  cairo_set_font_size(c->cr, FONT_SIZE);
  put_text(c, x - extents.x_advance - 1, y, 1, "10");
}

static void set_grey(chart *c, double lightness) {
  cairo_set_source_rgb(c->cr, lightness, lightness, lightness);
}

/* A logarithmic axis has a line at every power of ten and, where there are few of them, at some multiples.
 * Returns the lines' places from the least to the most. */
enum { MAX_TICKS = 64 };
static int decimal_ticks(double least, double most, double ticks[MAX_TICKS]) {
  static const double many[] = {1, 2, 3, 5, 7}, some[] = {1, 2, 5};
  const int is_short = most / least < 20, is_long = most / least >= 2000;
  const double *parts = is_short ? many : some;
  const int part_count = is_short ? 5 : is_long ? 1 : 3;
  int count = 0;
  for (int power = (int)floor(log10(least) - 1e-9); power <= (int)floor(log10(most) + 1e-9); ++power)
    for (int k = 0; k < part_count; ++k) {
      const double tick = parts[k] * pow(10, power);
      if (tick < least * (1 - 1e-9) || tick > most * (1 + 1e-9) || count == MAX_TICKS) continue;
      ticks[count++] = tick;
    }
  return count;
}

static void y_axis(chart *c, const chart_panel *p) {
  char text[16];
  double ticks[MAX_TICKS];
  const int count = decimal_ticks(p->y_least, p->y_most, ticks), powers = p->y_least < 1e-3;
  for (int i = 0; i < count; ++i) {
    const double y = place_y(p, ticks[i]);
    set_grey(c, 0.88);
    line(c, p->left, y, p->left + p->width, y);
    set_grey(c, 0);
    number_text(text, ticks[i], 0);
    if (powers)
      put_power(c, p->left - 5, y + 4, (int)lround(log10(ticks[i])));
    else
      put_text(c, p->left - 5, y + 4, 1, text);
  }
}

static void x_tick(chart *c, const chart_panel *p, double tick, const char *text) {
  const double x = place_x(p, tick);
  set_grey(c, 0.88);
  line(c, x, p->top, x, p->top + p->height);
  set_grey(c, 0);
  put_text(c, x, p->top + p->height + 14, 0.5, text);
}

static void x_axis_binary(chart *c, const chart_panel *p) {
  char text[16];
  const int step = p->x_most / p->x_least > 1e5 ? 4 : 2, last = (int)floor(log2(p->x_most) + 1e-9);
  for (int power = 2 * (int)ceil(log2(p->x_least) / 2 - 1e-9); power <= last; power += step) {
    number_text(text, pow(2, power), 1);
    x_tick(c, p, pow(2, power), text);
  }
}

static void x_axis_decimal(chart *c, const chart_panel *p) {
  char text[16];
  double ticks[MAX_TICKS];
  const int count = decimal_ticks(p->x_least, p->x_most, ticks), crowded = p->x_most / p->x_least > 300;
  for (int i = 0; i < count; ++i) {
    const double power = log10(ticks[i]);
    number_text(text, ticks[i], 0);
    x_tick(c, p, ticks[i], crowded && fabs(power - round(power)) > 1e-9 ? "" : text);
  }
}

/* Some five steps of 1, 2 or 5 times a power of ten. */
static void x_axis_linear(chart *c, const chart_panel *p) {
  char text[16];
  const double rough = (p->x_most - p->x_least) / 6, power = pow(10, floor(log10(rough)));
  const double step = power * (rough > 5 * power ? 10 : rough > 2 * power ? 5 : rough > power ? 2 : 1);
  const int last = (int)floor(p->x_most / step + 1e-9);
  for (int k = (int)ceil(p->x_least / step - 1e-9); k <= last; ++k) {
    snprintf(text, sizeof text, "%.6g", k * step);
    x_tick(c, p, k * step, text);
  }
}

static void x_axis(chart *c, const chart_panel *p) {
  if (p->scale == CHART_LINEAR)
    x_axis_linear(c, p);
  else if (p->scale == CHART_DECIMAL)
    x_axis_decimal(c, p);
  else
    x_axis_binary(c, p);
}

/* Names of matrices are long: aslant. */
static void x_names(chart *c, const chart_panel *p, const char *const *names, int count) {
  for (int i = 0; i < count; ++i) {
    cairo_save(c->cr);
    cairo_translate(c->cr, place_x(p, i + 1) + 4, p->top + p->height + 12);
    cairo_rotate(c->cr, -TAU / 12);
    cairo_set_source_rgb(c->cr, 0, 0, 0);
    put_text(c, 0, 0, 1, names[i]);
    cairo_restore(c->cr);
  }
}

void chart_axes(chart *c, const chart_panel *p, const char *const *names, int count) {
  cairo_set_line_width(c->cr, 0.8);
  y_axis(c, p);
  if (names)
    x_names(c, p, names, count);
  else
    x_axis(c, p);
  cairo_set_source_rgb(c->cr, 0.5, 0.5, 0.5);
  cairo_rectangle(c->cr, p->left, p->top, p->width, p->height);
  cairo_stroke(c->cr);
  cairo_set_source_rgb(c->cr, 0, 0, 0);
  put_text(c, p->left, p->top - 7, 0, p->title);
  put_text(c, p->left + p->width / 2, p->top + p->height + 30, 0.5, p->x_title);
  cairo_save(c->cr);
  cairo_translate(c->cr, p->left - 38, p->top + p->height / 2);
  cairo_rotate(c->cr, -TAU / 4);
  put_text(c, 0, 0, 0.5, p->y_title);
  cairo_restore(c->cr);
}

static void polygon(cairo_t *cr, double x, double y, int corners, double radius, double turn) {
  for (int i = 0; i < corners; ++i) {
    const double angle = TAU * (i + turn) / corners - TAU / 4;
    cairo_line_to(cr, x + radius * cos(angle), y + radius * sin(angle));
  }
  cairo_close_path(cr);
}

static void marker(chart *c, const chart_style *style, double x, double y) {
  cairo_new_path(c->cr);
  switch (style->marker) {
  case 0:
    cairo_arc(c->cr, x, y, 3, 0, TAU);
    break;
  case 1:
    polygon(c->cr, x, y, 3, 4, 0);
    break;
  case 2:
    polygon(c->cr, x, y, 4, 4, 0.5);
    break;
  case 3:
    polygon(c->cr, x, y, 4, 4, 0);
    break;
  case 4:
    polygon(c->cr, x, y, 3, 4, 0.5);
    break;
  default:
    polygon(c->cr, x, y, 6, 3.5, 0);
    break;
  }
  if (style->dashed) {
    cairo_set_source_rgb(c->cr, 1, 1, 1);
    cairo_fill_preserve(c->cr);
  }
  cairo_set_source_rgb(c->cr, style->red, style->green, style->blue);
  if (style->dashed)
    cairo_stroke(c->cr);
  else
    cairo_fill(c->cr);
}

static void set_dash(chart *c, double on, double off) {
  const double dash[] = {on, off};
  cairo_set_dash(c->cr, dash, on > 0 ? 2 : 0, 0);
}

void chart_series(chart *c, const chart_panel *p, const chart_style *style, const double *x, const double *y,
                  int count, int joined) {
  cairo_set_line_width(c->cr, 1.4);
  cairo_set_source_rgb(c->cr, style->red, style->green, style->blue);
  set_dash(c, style->dashed ? 5 : 0, 3);
  cairo_new_path(c->cr);
  for (int i = 0; i < count && joined; ++i) cairo_line_to(c->cr, place_x(p, x[i]), place_y(p, y[i]));
  cairo_stroke(c->cr);
  set_dash(c, 0, 0);
  cairo_set_line_width(c->cr, 1);
  for (int i = 0; i < count; ++i) marker(c, style, place_x(p, x[i]), place_y(p, y[i]));
}

void chart_line(chart *c, const chart_panel *p, const chart_style *style, const double *x, const double *y,
                int count) {
  cairo_save(c->cr);
  cairo_rectangle(c->cr, p->left, p->top, p->width, p->height);
  cairo_clip(c->cr);
  cairo_set_line_width(c->cr, 4);
  cairo_set_source_rgba(c->cr, style->red, style->green, style->blue, PALE);
  cairo_new_path(c->cr);
  for (int i = 0; i < count; ++i) cairo_line_to(c->cr, place_x(p, x[i]), place_y(p, y[i]));
  cairo_stroke(c->cr);
  cairo_restore(c->cr);
}

static void dotted_line(chart *c, double x0, double x1, double y) {
  cairo_set_source_rgb(c->cr, 0.45, 0.45, 0.45);
  cairo_set_line_width(c->cr, 1);
  set_dash(c, 1.5, 2.5);
  line(c, x0, y, x1, y);
  set_dash(c, 0, 0);
}

void chart_level(chart *c, const chart_panel *p, double y, const char *text) {
  if (y < p->y_least || y > p->y_most) return;
  dotted_line(c, p->left, p->left + p->width, place_y(p, y));
  if (text) put_text(c, p->left + p->width - 4, place_y(p, y) - 3, 1, text);
}

void chart_legend_level(chart *c, double x, double y, const char *text) {
  dotted_line(c, x, x + 24, y - 4);
  black_text(c, x + 30, y, text);
}

void chart_legend(chart *c, const chart_style *style, double x, double y, const char *text) {
  cairo_set_line_width(c->cr, 1.4);
  cairo_set_source_rgb(c->cr, style->red, style->green, style->blue);
  set_dash(c, style->dashed ? 5 : 0, 3);
  line(c, x, y - 4, x + 24, y - 4);
  set_dash(c, 0, 0);
  cairo_set_line_width(c->cr, 1);
  marker(c, style, x + 12, y - 4);
  black_text(c, x + 30, y, text);
}

void chart_legend_line(chart *c, const chart_style *style, double x, double y, const char *text) {
  cairo_set_line_width(c->cr, 4);
  cairo_set_source_rgba(c->cr, style->red, style->green, style->blue, PALE);
  line(c, x, y - 4, x + 24, y - 4);
  black_text(c, x + 30, y, text);
}

int chart_close(chart **c) {
  cairo_surface_t *surface = (*c)->surface;
  cairo_status_t status = cairo_status((*c)->cr);
  cairo_destroy((*c)->cr);
  if (status == CAIRO_STATUS_SUCCESS && (*c)->is_png) status = cairo_surface_write_to_png(surface, (*c)->path);
  cairo_surface_finish(surface);
  if (status == CAIRO_STATUS_SUCCESS) status = cairo_surface_status(surface);
  cairo_surface_destroy(surface);
  if (status != CAIRO_STATUS_SUCCESS) bench_error("%s: %s", (*c)->path, cairo_status_to_string(status));
  free(*c);
  *c = NULL;
  return status != CAIRO_STATUS_SUCCESS;
}
