#include "compare_plot.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "chart.h"

typedef enum quantity { AXPY, DOT, SPMV, CG, QUANTITIES } quantity;

static const struct {
  const char *key, *title, *x_title;
  double paper; /* the largest that Buatois et al. 2008 give, on a QuadroFX 5600 (3.1, 3.2); 0: none */
} QUANTITY[QUANTITIES] = {
    {"axpy_gflops", "y = a x + y", "elements", 11.0},
    {"dot_gflops", "x . y", "elements", 15.5},
    {"spmv_gflops", "y = A x", "rows", 6.8},
    {"cg_gflops", "conjugate gradients", "rows", 0},
};

enum { MAX_SERIES = 48, MAX_NAMES = 64, LABEL_SIZE = 40 };

/* Sizes of the picture, in points. */
static const double PANEL_WIDTH = 350, PANEL_HEIGHT = 230, GAP_X = 75, GAP_Y = 75, LEFT = 60, TOP = 40,
                    LEGEND_WIDTH = 150;

typedef struct series {
  char label[LABEL_SIZE];
  chart_style style;
  double *x, *y;
  int count;
} series;

typedef struct plot {
  const json_t *results;
  size_t row_count;
  const char *names[MAX_NAMES]; /* of the matrices */
  int sizes[MAX_NAMES];         /* how many each is there in */
  int name_count;
  char legend[MAX_SERIES][LABEL_SIZE];
  chart_style legend_styles[MAX_SERIES];
  int legend_count;
} plot;

static const char *text_of(const json_t *row, const char *key) {
  const char *text = json_string_value(json_object_get(row, key));
  return text ? text : "";
}

static double number_of(const json_t *row, const char *key) {
  return json_number_value(json_object_get(row, key));
}

static chart_style style_of(const char *implementation, const char *format, int is_peer) {
  static const struct {
    const char *name;
    double red, green, blue;
  } colours[] = {{"gl", 0.12, 0.40, 0.75},       {"cuda", 0.25, 0.60, 0.10},   {"cpu", 0.90, 0.45, 0.05},
                 {"cuSPARSE", 0.15, 0.15, 0.15}, {"cuBLAS", 0.15, 0.15, 0.15}, {"Eigen", 0.55, 0.25, 0.65}};
  static const char *const formats[] = {"jagged", "segments", "csr", "bcrs2", "bcrs4"};
  chart_style style = {0.5, 0.5, 0.5, CHART_MARKERS - 1, is_peer};
  for (size_t i = 0; i < sizeof colours / sizeof *colours; ++i) {
    if (strncmp(implementation, colours[i].name, strlen(colours[i].name)) != 0) continue;
    style.red = colours[i].red;
    style.green = colours[i].green;
    style.blue = colours[i].blue;
  }
  for (int i = 0; i < (int)(sizeof formats / sizeof *formats); ++i)
    if (!strcmp(format, formats[i])) style.marker = i;
  if (is_peer) style.marker = 0;
  return style;
}

static int name_index(const plot *p, const char *name) {
  for (int i = 0; i < p->name_count; ++i)
    if (!strcmp(p->names[i], name)) return i;
  return -1;
}

/* The matrices, and in how many sizes each is there. */
static void find_names(plot *p) {
  for (size_t i = 0; i < p->row_count; ++i) {
    const json_t *row = json_array_get(p->results, i);
    const char *name = text_of(row, "matrix");
    int k = name_index(p, name);
    if (k < 0) {
      if (p->name_count == MAX_NAMES) continue;
      k = p->name_count++;
      p->names[k] = name;
    }
    int seen = 0;
    for (size_t j = 0; j < i && !seen; ++j) {
      const json_t *other = json_array_get(p->results, j);
      seen = !strcmp(text_of(other, "matrix"), name) && number_of(other, "rows") == number_of(row, "rows");
    }
    if (!seen) ++p->sizes[k];
  }
}

/* A point where its series has none yet, or where it is higher. */
static void add_point(series *s, double x, double y) {
  int i = 0;
  while (i < s->count && s->x[i] < x) ++i;
  if (i < s->count && s->x[i] == x) {
    if (y > s->y[i]) s->y[i] = y;
    return;
  }
  memmove(s->x + i + 1, s->x + i, (size_t)(s->count - i) * sizeof *s->x);
  memmove(s->y + i + 1, s->y + i, (size_t)(s->count - i) * sizeof *s->y);
  s->x[i] = x;
  s->y[i] = y;
  ++s->count;
}

/* Peers are one series each, their best, as are a backend's vectors, which have no format. */
static series *series_of(const plot *p, const json_t *row, quantity q, series *all, int *count) {
  char label[LABEL_SIZE];
  const char *implementation = text_of(row, "implementation"), *format = text_of(row, "format");
  const int is_peer = number_of(row, "peer") > 0;
  if (q < SPMV) format = "";
  snprintf(label, sizeof label, "%.18s %.18s", implementation, is_peer ? "" : format);
  for (int i = 0; i < *count; ++i)
    if (!strcmp(all[i].label, label)) return &all[i];
  if (*count == MAX_SERIES) return NULL;
  series *s = &all[*count];
  memset(s, 0, sizeof *s);
  s->x = calloc(p->row_count + 1, sizeof *s->x);
  s->y = calloc(p->row_count + 1, sizeof *s->y);
  ++*count;
  if (!s->x || !s->y) return NULL;
  snprintf(s->label, sizeof s->label, "%s", label);
  s->style = style_of(implementation, format, is_peer);
  return s;
}

/* `matrix` NULL: every matrix that has one size, x its place among `names`. */
static int collect(const plot *p, quantity q, const char *matrix, int by_place, series *all, int *count) {
  for (size_t i = 0; i < p->row_count; ++i) {
    const json_t *row = json_array_get(p->results, i);
    const double value = number_of(row, QUANTITY[q].key);
    if (!(value > 0) || (matrix && strcmp(text_of(row, "matrix"), matrix) != 0)) continue;
    series *s = series_of(p, row, q, all, count);
    if (!s) {
      bench_error("no memory for a picture of so many formats");
      return 1;
    }
    add_point(s, by_place ? name_index(p, text_of(row, "matrix")) + 1 : number_of(row, "rows"), value);
  }
  return 0;
}

static void remember(plot *p, const series *s) {
  for (int i = 0; i < p->legend_count; ++i)
    if (!strcmp(p->legend[i], s->label)) return;
  if (p->legend_count == MAX_SERIES) return;
  memcpy(p->legend[p->legend_count], s->label, LABEL_SIZE);
  p->legend_styles[p->legend_count++] = s->style;
}

static void draw_panel(plot *p, chart *c, double left, double top, quantity q, const char *matrix,
                       int by_place) {
  static series all[MAX_SERIES];
  char title[96];
  int count = 0;
  chart_panel panel = {left,     top, PANEL_WIDTH, PANEL_HEIGHT, INFINITY, 0,
                       INFINITY, 0,   by_place,    title,        "",       "GFLOP/s"};
  const int failed = collect(p, q, matrix, by_place, all, &count);
  for (int i = 0; i < count; ++i)
    for (int k = 0; k < all[i].count; ++k) {
      panel.x_least = fmin(panel.x_least, all[i].x[k]);
      panel.x_most = fmax(panel.x_most, all[i].x[k]);
      panel.y_least = fmin(panel.y_least, all[i].y[k]);
      panel.y_most = fmax(panel.y_most, all[i].y[k]);
    }
  if (!failed && panel.y_most > 0) {
    snprintf(title, sizeof title, "%s%s%.40s", QUANTITY[q].title, matrix ? ", " : "", matrix ? matrix : "");
    panel.y_least = pow(10, floor(log10(panel.y_least)));
    panel.y_most = pow(10, ceil(log10(panel.y_most) + 1e-9));
    const double margin = panel.x_most > 4 * panel.x_least ? 1.3 : 2.5;
    panel.x_least = by_place ? 0.5 : panel.x_least / margin;
    panel.x_most = by_place ? p->name_count + 0.5 : panel.x_most * margin;
    if (!by_place) panel.x_title = QUANTITY[q].x_title;
    chart_axes(c, &panel, by_place ? p->names : NULL, p->name_count);
    if (QUANTITY[q].paper > 0)
      chart_level(c, &panel, QUANTITY[q].paper, "Buatois et al. 2008, at best, in CUDA");
    for (int i = 0; i < count; ++i) {
      chart_series(c, &panel, &all[i].style, all[i].x, all[i].y, all[i].count, !by_place);
      remember(p, &all[i]);
    }
  }
  for (int i = 0; i < count; ++i) {
    free(all[i].x);
    free(all[i].y);
  }
}

int compare_plot(const json_t *report, const char *path) {
  static plot p;
  memset(&p, 0, sizeof p);
  p.results = json_object_get(report, "results");
  p.row_count = json_array_size(p.results);
  if (!p.row_count) {
    bench_error("%s: there are no results to draw", path);
    return 1;
  }
  find_names(&p);
  int families = 0;
  for (int i = 0; i < p.name_count; ++i) families += p.sizes[i] > 1;
  const int rows = 1 + (families ? families : 1);
  const double width = LEFT + 2 * (PANEL_WIDTH + GAP_X) + LEGEND_WIDTH, step = PANEL_HEIGHT + GAP_Y;
  chart *c = chart_open(path, width, TOP + rows * step);
  if (!c) return 1;
  for (int q = AXPY; q <= DOT; ++q)
    draw_panel(&p, c, LEFT + q * (PANEL_WIDTH + GAP_X), TOP, (quantity)q, NULL, 0);
  int at = 1;
  for (int i = 0; i < p.name_count; ++i) {
    if (families && p.sizes[i] < 2) continue;
    for (int q = SPMV; q <= CG; ++q)
      draw_panel(&p, c, LEFT + (q - SPMV) * (PANEL_WIDTH + GAP_X), TOP + at * step, (quantity)q,
                 families ? p.names[i] : NULL, !families);
    ++at;
    if (!families) break;
  }
  for (int i = 0; i < p.legend_count; ++i)
    chart_legend(c, &p.legend_styles[i], LEFT + 2 * (PANEL_WIDTH + GAP_X) - 30, TOP + 12 + 16 * i, p.legend[i]);
  return chart_close(&c);
}

int compare_plot_file(const char *json_path, const char *path) {
  json_error_t problem;
  json_t *report = json_load_file(json_path, 0, &problem);
  if (!report) {
    bench_error("%s: %s", json_path, problem.text);
    return 1;
  }
  const int failed = compare_plot(report, path);
  json_decref(report);
  return failed;
}
