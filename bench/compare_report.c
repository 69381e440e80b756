#include "compare_report.h"

#include <math.h>
#include <string.h>

static const report_column DEVICES[] = {
    {"backend", "backend", 's', -8, 0},
    {"device", "device", 's', -60, 0},
    {"copy_gigabytes_per_second", "copy GB/s", 'f', 9, 1},
    {"peers", "peers", 's', -16, 0},
};

static const report_column RESULTS[] = {
    {"implementation", "by", 's', -8, 0},
    {"format", "format", 's', -9, 0},
    {"default", "*", 's', 1, 0},
    {"spmv_microseconds", "SpMV us", 'f', 9, 1},
    {"spmv_gflops", "GFLOP/s", 'f', 7, 2},
    {"spmv_gigabytes_per_second", "GB/s", 'f', 6, 1},
    {"spmv_percent_of_copy", "copy%", 'f', 5, 1},
    {"cg_microseconds", "CG us", 'f', 9, 1},
    {"cg_gflops", "GFLOP/s", 'f', 7, 2},
    {"axpy_gflops", "axpy", 'f', 5, 1},
    {"dot_gflops", "dot", 'f', 5, 1},
    {"spread_percent", "+-%", 'f', 5, 1},
    {"matrix", "", 's', 0, 0},
    {"rows", "", 'i', 0, 0},
    {"nonzeros", "", 'i', 0, 0},
    {"backend", "", 's', 0, 0},
    {"peer", "", 'i', 0, 0},
    {"cg_gigabytes_per_second", "", 'f', 0, 0},
    {"cg_percent_of_copy", "", 'f', 0, 0},
    {"axpy_microseconds", "", 'f', 0, 0},
    {"axpy_percent_of_copy", "", 'f', 0, 0},
    {"dot_microseconds", "", 'f', 0, 0},
    {"dot_percent_of_copy", "", 'f', 0, 0},
    {"nrm2_microseconds", "", 'f', 0, 0},
    {"nrm2_gflops", "", 'f', 0, 0},
};

static const report_column RATIOS[] = {
    {"matrix", "matrix", 's', -12, 0}, {"rows", "rows", 'i', 8, 0}, {"backend", "backend", 's', -8, 0},
    {"format", "format", 's', -8, 0},  {"spmv", "SpMV", 'f', 6, 2}, {"best_format", "best", 's', -8, 0},
    {"best_spmv", "SpMV", 'f', 6, 2},  {"cg", "CG", 'f', 6, 2},     {"axpy", "axpy", 'f', 6, 2},
    {"dot", "dot", 'f', 6, 2},         {"nrm2", "nrm2", 'f', 6, 2},
};

#define COUNT(columns) ((int)(sizeof(columns) / sizeof *(columns)))

void compare_report_begin(report *r, const compare_results *results) {
  report_note(r, "GFLOP/s: useful operations, 2 per entry of A, over wall-clock time, overheads included.");
  report_note(
      r, "GB/s: compulsory bytes, of csr or the blocks, with x and y. copy%%: of the rate of y = x below.");
  report_note(r, "CG: an iteration with Jacobi's preconditioner, in a whole solve of %d.", COMPARE_ITERATIONS);
  report_note(r, "* the format that auto selects. +-%%: the largest spread of a row's measurements.");
  report_table(r, "devices", "Devices", DEVICES, COUNT(DEVICES));
  for (int i = 0; i < results->backend_count; ++i) {
    const compare_backend *b = &results->backends[i];
    int present;
    const char *program = compare_peer_name(b->name, &present);
    if (b->is_absent) continue;
    report_row(r, b->name, b->device, b->copy_rate * 1e-9,
               !program            ? "none"
               : results->no_peers ? "left out"
               : present           ? program
                                   : "not built");
  }
  report_table(r, "results", NULL, RESULTS, COUNT(RESULTS));
}

void compare_report_matrix(report *r, const char *name, const generated_matrix *A) {
  report_section(r, "%s: %d rows, %d entries", name, A->rows, A->row_offsets[A->rows]);
}

static double copy_rate(const compare_results *results, const char *backend) {
  for (int i = 0; i < results->backend_count; ++i)
    if (!strcmp(results->backends[i].name, backend)) return results->backends[i].copy_rate;
  return NAN;
}

void compare_report_rows(report *r, const compare_results *results, int first) {
  for (int k = first; k < results->count; ++k) {
    const compare_row *row = &results->rows[k];
    const double copy = copy_rate(results, row->backend);
    double gflops[COMPARE_OPERATIONS], rate[COMPARE_OPERATIONS], spread = 0;
    int measured = 0;
    for (int i = 0; i < COMPARE_OPERATIONS; ++i) {
      gflops[i] = compare_flops(row, (compare_operation)i) / row->seconds[i] * 1e-9;
      rate[i] = compare_bytes(row, (compare_operation)i) / row->seconds[i];
      if (row->seconds[i] > 0) measured = 1;
      if (row->spread[i] > spread) spread = row->spread[i];
    }
    if (!measured) continue;
    const double *s = row->seconds;
    report_row(r, row->implementation, row->format, row->is_default ? "*" : "", s[COMPARE_SPMV] * 1e6,
               gflops[COMPARE_SPMV], rate[COMPARE_SPMV] * 1e-9, 100 * rate[COMPARE_SPMV] / copy,
               s[COMPARE_CG] * 1e6, gflops[COMPARE_CG], gflops[COMPARE_AXPY], gflops[COMPARE_DOT], 100 * spread,
               row->matrix, (long long)row->rows, (long long)row->nonzeros, row->backend,
               (long long)row->is_peer, rate[COMPARE_CG] * 1e-9, 100 * rate[COMPARE_CG] / copy,
               s[COMPARE_AXPY] * 1e6, 100 * rate[COMPARE_AXPY] / copy, s[COMPARE_DOT] * 1e6,
               100 * rate[COMPARE_DOT] / copy, s[COMPARE_NRM2] * 1e6, gflops[COMPARE_NRM2]);
  }
}

/* The row of the peer or format that is fastest in an operation, for a backend and a matrix. NULL if none has
 * it. */
static const compare_row *fastest(const compare_results *results, const compare_row *like, int is_peer,
                                  compare_operation operation) {
  const compare_row *best = NULL;
  for (int i = 0; i < results->count; ++i) {
    const compare_row *row = &results->rows[i];
    if (row->is_peer != is_peer || row->rows != like->rows || row->nonzeros != like->nonzeros ||
        strcmp(row->backend, like->backend) != 0 || strcmp(row->matrix, like->matrix) != 0)
      continue;
    if (row->seconds[operation] > 0 && (!best || row->seconds[operation] < best->seconds[operation]))
      best = row;
  }
  return best;
}

static double ratio(const compare_results *results, const compare_row *row, compare_operation operation) {
  const compare_row *peer = fastest(results, row, 1, operation);
  return peer ? peer->seconds[operation] / row->seconds[operation] : NAN;
}

enum { BEST = COMPARE_OPERATIONS, RATIO_COUNT };

typedef struct mean {
  double log_sum[RATIO_COUNT];
  int count[RATIO_COUNT];
} mean;

static double geometric(const mean *m, int i) {
  return m->count[i] ? exp(m->log_sum[i] / m->count[i]) : NAN;
}

/* A backend's rows of the table: one per matrix, and the mean if there are several. */
static void report_backend(report *r, const compare_results *results, const char *backend) {
  mean m;
  int matrices = 0;
  memset(&m, 0, sizeof m);
  for (int k = 0; k < results->count; ++k) {
    const compare_row *row = &results->rows[k];
    if (!row->is_default || strcmp(row->backend, backend) != 0) continue;
    const compare_row *best = fastest(results, row, 0, COMPARE_SPMV);
    if (!best || !fastest(results, row, 1, COMPARE_SPMV)) continue;
    double times[RATIO_COUNT];
    for (int i = 0; i < COMPARE_OPERATIONS; ++i) {
      const compare_row *ours = i < COMPARE_AXPY ? row : fastest(results, row, 0, (compare_operation)i);
      times[i] = ours ? ratio(results, ours, (compare_operation)i) : NAN;
    }
    times[BEST] = ratio(results, best, COMPARE_SPMV);
    for (int i = 0; i < RATIO_COUNT; ++i) {
      if (!(times[i] > 0)) continue;
      m.log_sum[i] += log(times[i]);
      ++m.count[i];
    }
    report_row(r, row->matrix, (long long)row->rows, backend, row->format, times[COMPARE_SPMV], best->format,
               times[BEST], times[COMPARE_CG], times[COMPARE_AXPY], times[COMPARE_DOT], times[COMPARE_NRM2]);
    ++matrices;
  }
  if (matrices > 1)
    report_row(r, "geom. mean", (long long)matrices, backend, "", geometric(&m, COMPARE_SPMV), "",
               geometric(&m, BEST), geometric(&m, COMPARE_CG), geometric(&m, COMPARE_AXPY),
               geometric(&m, COMPARE_DOT), geometric(&m, COMPARE_NRM2));
}

void compare_report_ratios(report *r, const compare_results *results) {
  int have_peers = 0;
  for (int i = 0; i < results->count; ++i) have_peers |= results->rows[i].is_peer;
  if (!have_peers) return;
  report_table(r, "ratios",
               "Times as fast as the fastest peer on the same device, with the default format and the best",
               RATIOS, COUNT(RATIOS));
  for (int i = 0; i < results->backend_count; ++i) report_backend(r, results, results->backends[i].name);
}
