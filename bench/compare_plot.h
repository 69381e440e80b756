/* Figures 8 and 9 of Buatois et al. 2008 from the report of `texsolve bench compare`. */
#ifndef BENCH_COMPARE_PLOT_H
#define BENCH_COMPARE_PLOT_H

struct json_t;

/* GFLOP/s over the size of vectors (axpy, dot) and of matrices (products, conjugate gradients); matrices that
 * are there in one size only stand side by side. `report` is the JSON object. Nonzero after a message. */
int compare_plot(const struct json_t *report, const char *path);

/* The same from a file that --json wrote. */
int compare_plot_file(const char *json_path, const char *path);

#endif
