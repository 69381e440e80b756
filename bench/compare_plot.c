#include "compare_plot.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "compare_series.h"

enum { MAX_NAMES = 64 };

/* Sizes of the picture, in points. */
static const double PANEL_WIDTH = 350, PANEL_HEIGHT = 230, GAP_X = 75, GAP_Y = 75, LEFT = 60, TOP = 40,
                    LEGEND_WIDTH = 150;

typedef struct plot {
  const json_t *results;
  const char *names[MAX_NAMES]; /* of the matrices */
  int sizes[MAX_NAMES];         /* how many each is there in */
  int name_count;
  char legend[MAX_SERIES][SERIES_LABEL];
  chart_style legend_styles[MAX_SERIES];
  int legend_count;
} plot;

static int name_index(const plot *p, const char *name) {
  for (int i = 0; i < p->name_count; ++i)
    if (!strcmp(p->names[i], name)) return i;
  return -1;
}

/* The matrices, and in how many sizes each is there. */
static void find_names(plot *p) {
  for (size_t i = 0; i < json_array_size(p->results); ++i) {
    const json_t *row = json_array_get(p->results, i);
    const char *name = row_text(row, "matrix");
    int k = name_index(p, name);
    if (k < 0) {
      if (p->name_count == MAX_NAMES) continue;
      k = p->name_count++;
      p->names[k] = name;
    }
    int seen = 0;
    for (size_t j = 0; j < i && !seen; ++j) {
      const json_t *other = json_array_get(p->results, j);
      seen = !strcmp(row_text(other, "matrix"), name) && row_number(other, "rows") == row_number(row, "rows");
    }
    if (!seen) ++p->sizes[k];
  }
}

static void remember(plot *p, const series *s) {
  for (int i = 0; i < p->legend_count; ++i)
    if (!strcmp(p->legend[i], s->label)) return;
  if (p->legend_count == MAX_SERIES) return;
  memcpy(p->legend[p->legend_count], s->label, SERIES_LABEL);
  p->legend_styles[p->legend_count++] = s->style;
}

/* `matrix` NULL: all of them; `by_place`: side by side. */
static void draw_panel(plot *p, chart *c, double left, double top, quantity q, const char *matrix,
                       int by_place) {
  static series_list list;
  char title[96];
  chart_panel panel = {.left = left,
                       .top = top,
                       .width = PANEL_WIDTH,
                       .height = PANEL_HEIGHT,
                       .scale = by_place ? CHART_LINEAR : CHART_BINARY,
                       .title = title,
                       .x_title = by_place ? "" : QUANTITY[q].x_title,
                       .y_title = "GFLOP/s"};
  const int failed = series_collect(&list, p->results, q, matrix, by_place ? p->names : NULL, p->name_count);
  series_limits(&list, &panel);
  if (!failed && panel.y_most > 0) {
    snprintf(title, sizeof title, "%s%s%.40s", QUANTITY[q].title, matrix ? ", " : "", matrix ? matrix : "");
    panel.y_least = pow(10, floor(log10(panel.y_least)));
    panel.y_most = pow(10, ceil(log10(panel.y_most) + 1e-9));
    const double margin = panel.x_most > 4 * panel.x_least ? 1.3 : 2.5;
    panel.x_least = by_place ? 0.5 : panel.x_least / margin;
    panel.x_most = by_place ? p->name_count + 0.5 : panel.x_most * margin;
    chart_axes(c, &panel, by_place ? p->names : NULL, p->name_count);
    if (QUANTITY[q].paper > 0) chart_level(c, &panel, QUANTITY[q].paper, PAPER_LEVEL);
    for (int i = 0; i < list.count; ++i) {
      const series *s = &list.all[i];
      chart_series(c, &panel, &s->style, s->x, s->y, s->count, !by_place);
      remember(p, s);
    }
  }
  series_free(&list);
}

int compare_plot(const json_t *report, const char *path) {
  static plot p;
  memset(&p, 0, sizeof p);
  p.results = json_object_get(report, "results");
  if (!json_array_size(p.results)) {
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
