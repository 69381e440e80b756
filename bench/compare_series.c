#include "compare_series.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

const quantity_look QUANTITY[QUANTITIES] = {
    {"axpy_gflops", "y = a x + y", "elements", 11.0},
    {"dot_gflops", "x . y", "elements", 15.5},
    {"spmv_gflops", "y = A x", "rows", 6.8},
    {"cg_gflops", "conjugate gradients", "rows", 0},
};

const char *row_text(const json_t *row, const char *key) {
  const char *text = json_string_value(json_object_get(row, key));
  return text ? text : "";
}

double row_number(const json_t *row, const char *key) {
  return json_number_value(json_object_get(row, key));
}

chart_style series_style(const char *implementation, const char *format, int is_peer) {
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

static series *series_of(series_list *list, const json_t *row, size_t row_count, quantity q) {
  char label[SERIES_LABEL];
  const char *implementation = row_text(row, "implementation"), *format = row_text(row, "format");
  const int is_peer = row_number(row, "peer") > 0;
  if (q < SPMV) format = "";
  snprintf(label, sizeof label, "%.18s %.18s", implementation, is_peer ? "" : format);
  for (int i = 0; i < list->count; ++i)
    if (!strcmp(list->all[i].label, label)) return &list->all[i];
  if (list->count == MAX_SERIES) return NULL;
  series *s = &list->all[list->count];
  memset(s, 0, sizeof *s);
  s->x = calloc(row_count + 1, sizeof *s->x);
  s->y = calloc(row_count + 1, sizeof *s->y);
  ++list->count;
  if (!s->x || !s->y) return NULL;
  memcpy(s->label, label, sizeof label);
  s->implementation = implementation;
  s->format = format;
  s->style = series_style(implementation, format, is_peer);
  return s;
}

static int place_of(const char *name, const char *const *names, int name_count) {
  for (int i = 0; i < name_count; ++i)
    if (!strcmp(names[i], name)) return i + 1;
  return 0;
}

int series_collect(series_list *list, const json_t *results, quantity q, const char *matrix,
                   const char *const *names, int name_count) {
  const size_t row_count = json_array_size(results);
  list->count = 0;
  for (size_t i = 0; i < row_count; ++i) {
    const json_t *row = json_array_get(results, i);
    const char *name = row_text(row, "matrix");
    const double value = row_number(row, QUANTITY[q].key);
    if (!(value > 0) || (matrix && strcmp(name, matrix) != 0)) continue;
    series *s = series_of(list, row, row_count, q);
    if (!s) {
      bench_error("no memory for a picture of so many formats");
      return 1;
    }
    add_point(s, names ? place_of(name, names, name_count) : row_number(row, "rows"), value);
  }
  return 0;
}

void series_free(series_list *list) {
  for (int i = 0; i < list->count; ++i) {
    free(list->all[i].x);
    free(list->all[i].y);
  }
  list->count = 0;
}

void series_limits(const series_list *list, chart_panel *panel) {
  panel->x_least = panel->y_least = INFINITY;
  panel->x_most = panel->y_most = 0;
  for (int i = 0; i < list->count; ++i)
    for (int k = 0; k < list->all[i].count; ++k) {
      panel->x_least = fmin(panel->x_least, list->all[i].x[k]);
      panel->x_most = fmax(panel->x_most, list->all[i].x[k]);
      panel->y_least = fmin(panel->y_least, list->all[i].y[k]);
      panel->y_most = fmax(panel->y_most, list->all[i].y[k]);
    }
}
