/* Charts with logarithmic axes, drawn by cairo into a file whose ending says what it is: .svg, .png or .pdf. */
#ifndef BENCH_CHART_H
#define BENCH_CHART_H

typedef struct chart chart;

/* How a series looks. */
typedef struct chart_style {
  double red, green, blue;
  int marker; /* 0 to CHART_MARKERS - 1 */
  int dashed;
} chart_style;
enum { CHART_MARKERS = 6 };

/* Part of the picture with axes of its own. */
typedef struct chart_panel {
  double left, top, width, height; /* of the area between the axes */
  double x_least, x_most, y_least, y_most;
  int is_linear; /* along x */
  const char *title, *x_title, *y_title;
} chart_panel;

/* NULL after a message: an unknown ending, or a file that cannot be written. */
chart *chart_open(const char *path, double width, double height);

/* Frame, grid, numbers and titles. `names`, if not NULL: what stands along the x axis at 1, 2, ..., `count`. */
void chart_axes(chart *c, const chart_panel *p, const char *const *names, int count);

/* `count` points, joined by lines if `joined`. */
void chart_series(chart *c, const chart_panel *p, const chart_style *style, const double *x, const double *y,
                  int count, int joined);

/* A dotted line from side to side, with words on it. */
void chart_level(chart *c, const chart_panel *p, double y, const char *text);

/* A line of the legend at (x, y). */
void chart_legend(chart *c, const chart_style *style, double x, double y, const char *text);

/* Writes the file. Nonzero after a message: it is not there. */
int chart_close(chart **c);

#endif
