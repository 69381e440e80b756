/* texsolve bench compare: every format on every backend, compared with commonly used libraries. */
#include <string.h>

#include "compare.h"
#include "compare_report.h"
#include "report.h"

/* One matrix on all backends. */
static int run_matrix(const bench_options *o, const char *name, int32_t size, compare_results *results,
                      report *r) {
  generated_matrix A;
  if (bench_matrix(&A, name, size)) return 1;
  int failed = 0;
  compare_report_matrix(r, name, &A);
  for (int i = 0; i < results->backend_count; ++i) {
    compare_backend *backend = &results->backends[i];
    if (backend->is_absent) continue;
    const int first = results->count;
    failed |= compare_measure(o, backend, name, &A, results);
    failed |= compare_peers(o, backend, name, &A, results);
    compare_report_rows(r, results, first);
  }
  generated_free(&A);
  return failed;
}

/* A generated matrix has one size or, for plots, several. A file has its own. */
static int run_sizes(const bench_options *o, const char *name, compare_results *results, report *r) {
  int32_t sizes[BENCH_SIZES] = {1 << 20};
  int count = 1, gpu = 0, failed = 0;
  for (int i = 0; i < results->backend_count; ++i) gpu |= results->backends[i].is_gpu;
  if (!generated_is_name(name)) {
    count = 1;
  } else if (o->size_count) {
    count = o->size_count;
    memcpy(sizes, o->sizes, sizeof sizes);
  } else if (!gpu) {
    sizes[0] = 1 << 17;
  }
  for (int i = 0; i < count; ++i) failed |= run_matrix(o, name, sizes[i], results, r);
  return failed;
}

static int compare_all(const bench_options *o, compare_results *results, report *r) {
  int failed = 0;
  for (int i = 0; i < o->matrix_count; ++i) failed |= run_sizes(o, o->matrices[i], results, r);
  if (o->matrix) failed |= run_sizes(o, o->matrix, results, r);
  if (o->set)
    for (int i = 0; generated_name(i); ++i) failed |= run_sizes(o, generated_name(i), results, r);
  if (!o->matrix_count && !o->matrix && !o->set) failed |= run_sizes(o, "grid", results, r);
  return failed;
}

int bench_compare(const bench_options *options, report *r) {
  compare_results results;
  memset(&results, 0, sizeof results);
  if (compare_open_all(options, &results)) return 1;
  compare_report_begin(r, &results);
  results.left_out |= compare_all(options, &results, r);
  const int nothing = results.count == 0;
  if (!nothing) compare_report_ratios(r, &results);
  const int left_out = results.left_out;
  compare_free(&results);
  return nothing ? 1 : left_out ? BENCH_INCOMPLETE : 0;
}
