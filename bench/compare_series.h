/* The curves in the report of `texsolve bench compare` and `texsolve bench paper`. */
#ifndef BENCH_COMPARE_SERIES_H
#define BENCH_COMPARE_SERIES_H

#include "chart.h"

struct json_t;

typedef enum quantity { AXPY, DOT, SPMV, CG, QUANTITIES } quantity;

typedef struct quantity_look {
  const char *key, *title, *x_title;
  double paper; /* the largest that Buatois et al. 2008 give, on a QuadroFX 5600 (3.1, 3.2); 0: none */
} quantity_look;
extern const quantity_look QUANTITY[QUANTITIES];

/* What stands at the line of the paper's figure. */
#define PAPER_LEVEL "Buatois et al. 2008, at best, in CUDA"

enum { MAX_SERIES = 48, SERIES_LABEL = 40 };

/* One implementation with one format; points from left to right. */
typedef struct series {
  char label[SERIES_LABEL];
  const char *implementation, *format; /* borrowed from the report */
  chart_style style;
  double *x, *y;
  int count;
} series;

typedef struct series_list {
  series all[MAX_SERIES];
  int count;
} series_list;

/* A number and a text of a row of the report; 0 and "" where there is none. */
double row_number(const struct json_t *row, const char *key);
const char *row_text(const struct json_t *row, const char *key);

/* A colour for each implementation, a marker for each format. */
chart_style series_style(const char *implementation, const char *format, int is_peer);

/* Of the rows in `results` those of a matrix (NULL: of all), x being their number of rows, or with `names` the
 * place of the matrix among these from 1 on. Peers are one series each, their best, as are vectors of a
 * backend, which have no format. Nonzero after a message. To be freed in any case. */
int series_collect(series_list *list, const struct json_t *results, quantity q, const char *matrix,
                   const char *const *names, int name_count);
void series_free(series_list *list);

/* Makes the panel's limits as wide as the series. */
void series_limits(const series_list *list, chart_panel *panel);

#endif
