/* Shared by tests of several ranks: rows of a matrix that every rank knows, products with it, and the
 * context. */
#ifndef RANKS_ROWS_H
#define RANKS_ROWS_H

#include <texsolve/ranks.h>

#include "helpers.h"

static ts_context *context;
static int rank, ranks;

enum { by_nccl = 3 }; /* a value of ghost_transfer */

/* ---- Rows of a matrix that every rank knows, for comparison ---- */

typedef struct rows {
  int32_t first, count;
  int32_t *offsets;
  int64_t *columns;
} rows;

/* Deliberately uneven. */
static inline int32_t first_row(int32_t n, int r) {
  const int32_t even = (int32_t)((int64_t)n * r / ranks);
  return r > 0 && r < ranks && even + 1 < n ? even + (r & 1) : even;
}

static inline rows copy_rows(const ref_matrix *m) {
  rows r = {.first = first_row(m->rows, rank),
            .count = first_row(m->rows, rank + 1) - first_row(m->rows, rank)};
  const int32_t start = m->offsets[r.first], entries = m->offsets[r.first + r.count] - start;
  r.offsets = calloc((size_t)r.count + 1, sizeof *r.offsets);
  r.columns = calloc((size_t)entries + 1, sizeof *r.columns);
  for (int32_t i = 0; i <= r.count; i++) r.offsets[i] = m->offsets[r.first + i] - start;
  for (int32_t e = 0; e < entries; e++) r.columns[e] = m->indices[start + e];
  return r;
}

static inline ts_ranks_matrix_desc describe(const ref_matrix *m, const rows *r) {
  return (ts_ranks_matrix_desc){
      .csr = ts_host_csr(r->count, m->columns, r->offsets, r->columns, m->values + m->offsets[r->first])};
}

/* An array that only one rank holds. */
static inline ts_array on_rank(int owner, double *numbers, size_t count) {
  return rank == owner ? ts_host(numbers, count) : (ts_array){0};
}

static inline void free_rows(rows *r) {
  free(r->offsets);
  free(r->columns);
}

static inline ts_matrix *make_rows_matrix(const ref_matrix *m, int keep) {
  rows r = copy_rows(m);
  ts_ranks_matrix_desc desc = describe(m, &r);
  desc.keep_host_copy = keep;
  ts_matrix *matrix = NULL;
  CHECK_OK(context, ts_ranks_matrix_create(context, &desc, &matrix));
  free_rows(&r);
  return matrix;
}

/* ---- Products ---- */

static inline void multiply(const ref_matrix *m, const double *x, double *y) {
  for (int32_t i = 0; i < m->rows; i++) {
    ref_sum sum = {0, 0};
    for (int32_t k = m->offsets[i]; k < m->offsets[i + 1]; k++)
      ref_add_product(&sum, (double)m->values[k], x[m->indices[k]]);
    y[i] = sum.value + sum.low;
  }
}

static inline void check_product(const ref_matrix *m, ts_matrix *matrix, int parts) {
  const int32_t first = first_row(m->rows, rank), count = first_row(m->rows, rank + 1) - first;
  double *xs = ref_doubles((size_t)m->rows, 5, -1, 1), *expected = calloc((size_t)m->rows, sizeof *expected);
  for (int32_t i = 0; i < m->rows && parts == 1; i++) xs[i] = (double)(float)xs[i];
  multiply(m, xs, expected);
  ts_space *space = ts_matrix_get_row_space(matrix);
  CHECK_INT(ts_space_get_size(space), count);
  ts_vector *x = make_parts(space, 1, parts, xs + first), *y = make_parts(space, 1, parts, NULL);
  CHECK_OK(context, ts_matrix_multiply(y, matrix, x));
  double *found = read_doubles(y);
  const double tolerance = (ref_longest_row(m) + 4) * (parts == 1 ? EPSILON : 0x1p-44) * 16;
  for (int32_t i = 0; i < count; i++) CHECK_CLOSE(found[i], expected[first + i], tolerance);
  free(found), free(xs), free(expected);
  ts_vector_destroy(&x);
  ts_vector_destroy(&y);
}

static inline void check_info(const ref_matrix *m, const ts_matrix *matrix) {
  ts_ranks_matrix_info info;
  CHECK_OK(context, ts_ranks_matrix_get_info(matrix, &info));
  CHECK_INT(info.rows, m->rows);
  CHECK_INT(info.nonzeros, ref_nonzeros(m));
  CHECK_INT(info.first_row, first_row(m->rows, rank));
  CHECK(info.ghosts >= 0 && info.ghosts <= m->rows);
  CHECK(info.ghosts > 0 || ranks == 1 || ref_longest_row(m) <= 1);
}

/* Transfers of ghosts between ranks, one per round: the best, NCCL if available, device memory if MPI accepts
 * it, the host. CPUs have one. */
static int way;

static inline int choose_way(int round) {
  way = 4 - round;
  rank = ts_ranks_get_rank(context);
  ranks = ts_ranks_get_count(context);
  if (test_is_cpu()) return round == 0;
  CHECK_OK(context, ts_context_set_tuning(context, "ghost_transfer", way));
  if (ranks > 1) CHECK_CONTAINS(context_info(context).driver, ", ghosts ");
  return 1;
}

static inline void name_way(void) {
  const char *ghosts = strstr(context_info(context).driver, ", ghosts ");
  if (way == by_nccl && rank == 0 && ghosts && !strstr(ghosts, "by NCCL"))
    printf("skipped: ghosts by NCCL; they go %s\n", ghosts + strlen(", ghosts "));
}

static const test_fixture each_way = {
    .context = &context, .rounds = 4, .setup = choose_way, .teardown = name_way};

#endif
