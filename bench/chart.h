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

/* Of the x axis; the y axis is logarithmic. */
typedef enum chart_scale {
  CHART_BINARY,  /* logarithmic, numbers such as 16k = 2^14 */
  CHART_DECIMAL, /* logarithmic, numbers such as 10k = 10^4 */
  CHART_LINEAR
} chart_scale;

/* Part of the picture with axes of its own. */
typedef struct chart_panel {
  double left, top, width, height; /* of the area between the axes */
  double x_least, x_most, y_least, y_most;
  chart_scale scale;
  const char *title, *x_title, *y_title;
} chart_panel;

/* NULL after a message: an unknown ending, or a file that cannot be written. */
chart *chart_open(const char *path, double width, double height);

/* Frame, grid, numbers and titles. `names`, if not NULL: what stands along the x axis at 1, 2, ..., `count`. */
void chart_axes(chart *c, const chart_panel *p, const char *const *names, int count);

/* `count` points with markers, joined by lines if `joined`. */
void chart_series(chart *c, const chart_panel *p, const chart_style *style, const double *x, const double *y,
                  int count, int joined);

/* A line without markers, broad and pale, as far as it is inside: what others are compared with. */
void chart_line(chart *c, const chart_panel *p, const chart_style *style, const double *x, const double *y,
                int count);

/* A dotted line from side to side, with words on it (NULL: none). */
void chart_level(chart *c, const chart_panel *p, double y, const char *text);

/* A line of the legend at (x, y), of a series, a line without markers or a dotted line, and words alone,
 * larger, or smaller and cut to `width`. */
void chart_legend(chart *c, const chart_style *style, double x, double y, const char *text);
void chart_legend_line(chart *c, const chart_style *style, double x, double y, const char *text);
void chart_legend_level(chart *c, double x, double y, const char *text);
void chart_heading(chart *c, double x, double y, const char *text);
void chart_small_text(chart *c, double x, double y, double width, const char *text);

/* Writes the file. Nonzero after a message: it is not there. */
int chart_close(chart **c);

#endif
