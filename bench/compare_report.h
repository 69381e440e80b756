/* The tables of `texsolve bench compare`. */
#ifndef BENCH_COMPARE_REPORT_H
#define BENCH_COMPARE_REPORT_H

#include "compare.h"
#include "report.h"

/* The devices, and what the columns are. */
void compare_report_begin(report *r, const compare_results *results);
/* The heading of a matrix's rows, and rows from `first` on. */
void compare_report_matrix(report *r, const char *name, const generated_matrix *A);
void compare_report_rows(report *r, const compare_results *results, int first);
/* How many times as fast as the fastest peer. */
void compare_report_ratios(report *r, const compare_results *results);

#endif
