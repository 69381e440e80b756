#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "compare_series.h"
#include "paper.h"

/* Sizes of the pictures, in points. */
static const double PANEL_WIDTH = 330, PANEL_HEIGHT = 225, GAP_X = 70, GAP_Y = 72, LEFT = 62, TOP = 66,
                    LEGEND_WIDTH = 195, BOTTOM = 48;
#define TALL 1.3 /* times as high are the panels of figure 11 */

static double panel_left(int column) {
  return LEFT + column * (PANEL_WIDTH + GAP_X);
}

static double panel_top(int row) {
  return TOP + row * (PANEL_HEIGHT + GAP_Y);
}

static double legend_left(void) {
  return panel_left(2) - GAP_X + 24;
}

/* ---- Legends: the backends with their devices, and under each its formats ---- */

typedef struct legend {
  series entries[MAX_SERIES]; /* without points */
  int count;
} legend;

static void remember(legend *l, const series *s) {
  for (int i = 0; i < l->count; ++i)
    if (!strcmp(l->entries[i].label, s->label)) return;
  if (l->count < MAX_SERIES) l->entries[l->count++] = *s;
}

static void draw_device(chart *c, const json_t *report, const char *backend, double y) {
  const json_t *devices = json_object_get(report, "devices");
  chart_heading(c, legend_left(), y, backend);
  for (size_t i = 0; i < json_array_size(devices); ++i) {
    const json_t *row = json_array_get(devices, i);
    if (strcmp(row_text(row, "backend"), backend) != 0) continue;
    chart_small_text(c, legend_left(), y + 14, LEGEND_WIDTH, row_text(row, "device"));
  }
}

static void draw_legend(chart *c, const json_t *report, const legend *l, const char *any_format) {
  double y = TOP + 10;
  for (int i = 0; i < l->count; ++i) {
    const series *s = &l->entries[i];
    if (!i || strcmp(s->implementation, l->entries[i - 1].implementation) != 0) {
      if (i) y += 14;
      draw_device(c, report, s->implementation, y);
      y += 32;
    }
    chart_legend(c, &s->style, legend_left(), y, any_format ? any_format : s->format);
    y += 17;
  }
  chart_legend_level(c, legend_left(), y + 14, "the paper's best, in CUDA");
}

/* ---- GFLOP/s over sizes: figures 8 and 9 ---- */

/* The next of 1, 2, 5, 10, ... below or above. */
static double round_limit(double value, int up) {
  static const double parts[] = {1, 2, 5, 10};
  const double power = pow(10, floor(log10(value)));
  double best = power;
  for (int i = 0; i < 4; ++i) {
    if (!up && parts[i] * power <= value) best = parts[i] * power;
    if (up && parts[i] * power >= value) return parts[i] * power;
  }
  return best;
}

/* Limits that hold all series of two quantities, so that the panels of a figure compare. Nonzero: there are
 * none. */
static int find_limits(const json_t *report, quantity first, quantity last, chart_panel *limits) {
  static series_list list;
  double x_least = INFINITY, x_most = 0, y_least = INFINITY, y_most = 0;
  for (quantity q = first; q <= last; ++q) {
    if (!series_collect(&list, json_object_get(report, "results"), q, NULL, NULL, 0)) {
      series_limits(&list, limits);
      x_least = fmin(x_least, limits->x_least);
      x_most = fmax(x_most, limits->x_most);
      y_least = fmin(y_least, limits->y_least);
      y_most = fmax(y_most, fmax(limits->y_most, QUANTITY[q].paper));
    }
    series_free(&list);
  }
  limits->x_least = fmin(x_least / 1.3, 1000);
  limits->x_most = fmax(x_most * 1.3, 10 * limits->x_least);
  if (!(x_most > 0)) return 1;
  limits->y_least = round_limit(y_least / 1.1, 0);
  limits->y_most = round_limit(y_most * 1.1, 1);
  return 0;
}

static void draw_speeds(chart *c, const json_t *report, quantity q, const char *matrix,
                        const chart_panel *panel, legend *l) {
  static series_list list;
  if (!series_collect(&list, json_object_get(report, "results"), q, matrix, NULL, 0)) {
    chart_axes(c, panel, NULL, 0);
    if (QUANTITY[q].paper > 0) chart_level(c, panel, QUANTITY[q].paper, NULL);
    for (int i = 0; i < list.count; ++i) {
      const series *s = &list.all[i];
      chart_series(c, panel, &s->style, s->x, s->y, s->count, 1);
      remember(l, s);
    }
  }
  series_free(&list);
}

static void draw_speed_panel(chart *c, const json_t *report, quantity q, const char *matrix, const char *title,
                             int column, int row, const chart_panel *limits, legend *l) {
  chart_panel panel = *limits;
  panel.left = panel_left(column);
  panel.top = panel_top(row);
  panel.width = PANEL_WIDTH;
  panel.height = PANEL_HEIGHT;
  panel.scale = CHART_DECIMAL;
  panel.title = title;
  panel.x_title = matrix ? "unknowns" : "elements";
  panel.y_title = "GFLOP/s";
  draw_speeds(c, report, q, matrix, &panel, l);
}

static void draw_figure8(chart *c, const json_t *report) {
  static legend l;
  chart_panel limits;
  l.count = 0;
  chart_heading(c, LEFT, 28, "Operations on vectors (figure 8)");
  if (find_limits(report, AXPY, DOT, &limits)) return;
  draw_speed_panel(c, report, AXPY, NULL, "y = a x + y", 0, 0, &limits, &l);
  draw_speed_panel(c, report, DOT, NULL, "x . y", 1, 0, &limits, &l);
  draw_legend(c, report, &l, "vectors");
}

static void draw_figure9(chart *c, const json_t *report) {
  static const char *const matrices[] = {"lscm", "dsi"};
  static const char *const titles[2][2] = {
      {"parameterization: y = A x", "parameterization: Jacobi-preconditioned conjugate gradients"},
      {"smoothing: y = A x", "smoothing: Jacobi-preconditioned conjugate gradients"}};
  static legend l;
  chart_panel limits;
  l.count = 0;
  chart_heading(c, LEFT, 28, "Sparse matrices (figure 9): useful operations over the time that passes");
  if (find_limits(report, SPMV, CG, &limits)) return;
  for (int row = 0; row < 2; ++row)
    for (int column = 0; column < 2; ++column)
      draw_speed_panel(c, report, column ? CG : SPMV, matrices[row], titles[row][column], column, row, &limits,
                       &l);
  draw_legend(c, report, &l, NULL);
}

/* ---- Residuals and errors over iterations: figure 11 ---- */

static int read_curve(const json_t *rows, const char *key, double *x, double *y) {
  int count = 0;
  for (size_t i = 0; i < json_array_size(rows) && count < PAPER_SAMPLES; ++i) {
    const json_t *row = json_array_get(rows, i);
    if (!(row_number(row, key) > 0)) continue;
    x[count] = row_number(row, "iterations");
    y[count++] = row_number(row, key);
  }
  return count;
}

static const chart_style DOUBLE_STYLE = {0.3, 0.3, 0.3, 0, 0};

/* Curves lie upon each other, so that each backend has a marker of its own. */
static chart_style curve_style(const char *name, int place) {
  chart_style style = series_style(name, "", 0);
  style.marker = place % CHART_MARKERS;
  style.dashed = place > 0;
  return style;
}

/* The power of ten below all samples, 1e-8 to 1e-6: single precision has long come to its end there. */
static double least_of_curves(const json_t *report) {
  static const char *const tables[] = {"residuals", "errors"};
  double least = 1e-6;
  for (int t = 0; t < 2; ++t) {
    const json_t *rows = json_object_get(report, tables[t]);
    for (size_t i = 0; i < json_array_size(rows); ++i) {
      const char *key;
      json_t *value;
      json_object_foreach(json_array_get(rows, i), key, value) {
        const double number = json_number_value(value);
        if (json_is_real(value) && number > 0) least = fmin(least, number);
      }
    }
  }
  return fmax(pow(10, floor(log10(least))), 1e-8);
}

static void draw_curves(chart *c, const json_t *report, const char *table, const char *title,
                        const char *y_title, double left) {
  const json_t *rows = json_object_get(report, table), *devices = json_object_get(report, "devices");
  double x[PAPER_SAMPLES], y[PAPER_SAMPLES];
  chart_panel panel = {.left = left,
                       .top = panel_top(0),
                       .width = PANEL_WIDTH,
                       .height = TALL * PANEL_HEIGHT,
                       .x_most = PAPER_ITERATIONS,
                       .y_least = least_of_curves(report),
                       .y_most = 2,
                       .scale = CHART_LINEAR,
                       .title = title,
                       .x_title = "iterations",
                       .y_title = y_title};
  chart_axes(c, &panel, NULL, 0);
  const int count = read_curve(rows, "double", x, y);
  chart_line(c, &panel, &DOUBLE_STYLE, x, y, count);
  for (size_t i = 0; i < json_array_size(devices); ++i) {
    const char *name = row_text(json_array_get(devices, i), "backend");
    const chart_style style = curve_style(name, (int)i);
    const int points = read_curve(rows, name, x, y);
    chart_series(c, &panel, &style, x, y, points, 1);
  }
}

static void draw_figure11(chart *c, const json_t *report) {
  char title[160];
  const json_t *row = json_array_get(json_object_get(report, "residuals"), 0),
               *devices = json_object_get(report, "devices");
  snprintf(title, sizeof title,
           "Single precision (figure 11): a parameterization of %.0f unknowns in %.0f charts",
           row_number(row, "unknowns"), row_number(row, "charts"));
  chart_heading(c, LEFT, 28, title);
  draw_curves(c, report, "residuals", "residual, computed from x in double precision", "|b - A x| / |b|",
              panel_left(0));
  draw_curves(c, report, "errors", "error", "|x - x*| / |x*|", panel_left(1));
  double at = TOP + 10;
  chart_legend_line(c, &DOUBLE_STYLE, legend_left(), at, "double precision");
  for (size_t i = 0; i < json_array_size(devices); ++i) {
    const char *name = row_text(json_array_get(devices, i), "backend");
    const chart_style style = curve_style(name, (int)i);
    at += 32;
    draw_device(c, report, name, at);
    at += 32;
    chart_legend(c, &style, legend_left(), at, "single precision");
  }
}

/* ---- Files ---- */

typedef struct figure {
  const char *name, *table; /* what of the report it needs */
  int rows;                 /* of panels */
  double tall;              /* how high they are */
  void (*draw)(chart *c, const json_t *report);
} figure;

static int draw_file(const figure *f, const json_t *report, const char *directory, const char *ending) {
  char path[1024];
  if (snprintf(path, sizeof path, "%s/%s.%s", directory, f->name, ending) >= (int)sizeof path) {
    bench_error("%s: the name is too long", directory);
    return 1;
  }
  chart *c = chart_open(path, legend_left() + LEGEND_WIDTH + 12,
                        TOP + f->rows * f->tall * PANEL_HEIGHT + (f->rows - 1) * GAP_Y + BOTTOM);
  if (!c) return 1;
  f->draw(c, report);
  return chart_close(&c);
}

int paper_plot(const json_t *report, const char *directory) {
  static const figure figures[] = {{"figure8", "results", 1, 1, draw_figure8},
                                   {"figure9", "results", 2, 1, draw_figure9},
                                   {"figure11", "residuals", 1, TALL, draw_figure11}};
  static const char *const endings[] = {"svg", "png", "pdf"};
  int drawn = 0;
  if (mkdir(directory, 0777) && errno != EEXIST) {
    bench_error("%s: %s", directory, strerror(errno));
    return 1;
  }
  for (size_t i = 0; i < sizeof figures / sizeof *figures; ++i) {
    if (!json_array_size(json_object_get(report, figures[i].table))) continue;
    for (int k = 0; k < 3; ++k, ++drawn)
      if (draw_file(&figures[i], report, directory, endings[k])) return 1;
  }
  if (drawn) return 0;
  bench_error("%s: there are no results to draw", directory);
  return 1;
}

int paper_plot_file(const char *json_path, const char *directory) {
  json_error_t problem;
  json_t *report = json_load_file(json_path, 0, &problem);
  if (!report) {
    bench_error("%s: %s", json_path, problem.text);
    return 1;
  }
  const int failed = paper_plot(report, directory);
  json_decref(report);
  return failed;
}
