/* The tables of figure 11: a row per number of iterations, a column per solver. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "paper.h"

enum { FIXED_COLUMNS = 4, MAX_CURVES = PAPER_CURVES };

typedef struct column_list {
  report_column columns[FIXED_COLUMNS + MAX_CURVES];
  int count;
} column_list;

static void name_columns(column_list *list, const paper_curve *curves, int count) {
  static const report_column fixed[FIXED_COLUMNS] = {{"iterations", "iterations", 'i', 10, 0},
                                                     {"mesh", "", 's', 0, 0},
                                                     {"unknowns", "", 'i', 0, 0},
                                                     {"charts", "", 'i', 0, 0}};
  memcpy(list->columns, fixed, sizeof fixed);
  for (int i = 0; i < count; ++i) {
    const report_column column = {curves[i].name, curves[i].name, 'e', 9, 2};
    list->columns[FIXED_COLUMNS + i] = column;
  }
  list->count = FIXED_COLUMNS + count;
}

static void report_samples(report *r, const char *mesh, const paper_system *s, const paper_curve *curves,
                           int count, int errors) {
  for (int k = 0; k < PAPER_SAMPLES; ++k) {
    double v[MAX_CURVES];
    for (int i = 0; i < MAX_CURVES; ++i) {
      const int is_there = i < count && k < curves[i].count;
      v[i] = !is_there ? NAN : errors ? curves[i].error[k] : curves[i].residual[k];
    }
    /* A table uses only the numbers of its columns. */
    report_row(r, (long long)PAPER_ITERATION[k], mesh, (long long)s->A.rows, (long long)s->charts, v[0], v[1],
               v[2], v[3], v[4], v[5], v[6], v[7], v[8]);
  }
}

void paper_report_curves(report *r, const char *mesh, const paper_system *s, const paper_curve *curves,
                         int count) {
  static column_list columns; /* lives as long as the report */
  char title[128];
  name_columns(&columns, curves, count);
  for (int errors = 0; errors < 2; ++errors) {
    snprintf(title, sizeof title, "%s after iterations of conjugate gradients: %d unknowns in %d charts",
             errors ? "|x - x*| / |x*|" : "|b - A x| / |b|", s->A.rows, s->charts);
    report_table(r, errors ? "errors" : "residuals", title, columns.columns, columns.count);
    report_samples(r, mesh, s, curves, count, errors);
  }
}
