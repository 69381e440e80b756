/* The tables of `texsolve bench compare`. */
#ifndef BENCH_COMPARE_REPORT_H
#define BENCH_COMPARE_REPORT_H

#include "compare.h"
#include "report.h"

/* The devices, and the meaning of the columns. */
void compare_report_begin(report *r, const compare_results *results);
/* The heading of a matrix's rows, and the rows from `first`. */
void compare_report_matrix(report *r, const char *name, const generated_matrix *A);
void compare_report_rows(report *r, const compare_results *results, int first);
/* Speed relative to the fastest peer. */
void compare_report_ratios(report *r, const compare_results *results);

#endif
