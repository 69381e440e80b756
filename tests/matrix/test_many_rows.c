/* Matrices with enough rows for several threads to examine them during creation: the findings and the messages
 * are those of one thread. */
#include "common/core/pool.h"
#include "helpers.h"

static ts_context *open_with(int threads) {
  ts_context_desc desc = test_desc();
  ts_context *context = NULL;
  desc.threads = threads;
  CHECK_OK(NULL, ts_context_create(&desc, &context));
  return context;
}

static ref_matrix many(void) {
  return ref_grid(300, TSI_MANY / 300 + 3);
}

static int32_t entry_of(const ref_matrix *m, int32_t row, int32_t column) {
  int32_t e = m->offsets[row];
  while (e < m->offsets[row + 1] - 1 && m->indices[e] != column) e++;
  CHECK_INT(m->indices[e], column);
  return e;
}

/* With one thread and with five. */
static void check_info(const ref_matrix *m, int symmetric, int32_t row, int32_t column, int32_t zero) {
  for (int threads = 1; threads <= 5; threads += 4) {
    ts_context *context = open_with(threads);
    if (!context) continue;
    ts_matrix *A = make_matrix(context, m, TS_FORMAT_AUTO);
    const ts_matrix_info info = matrix_info(A);
    CHECK_INT(info.symmetric, symmetric);
    CHECK_INT(info.unsymmetric_row, row);
    CHECK_INT(info.unsymmetric_column, column);
    CHECK_INT(info.zero_diagonal_row, zero);
    ts_matrix_destroy(&A);
    test_close(&context);
  }
}

static void what_is_found(void) {
  ref_matrix m = many();
  const int32_t last = m.rows - 1, middle = m.rows / 2;
  check_info(&m, 1, -1, -1, -1);
  /* The message names the first row of the pair, and then a pair in an earlier row. */
  float *value = &m.values[entry_of(&m, last, last - 1)];
  *value *= 2;
  check_info(&m, 0, last - 1, last, -1);
  m.values[entry_of(&m, middle, middle + 1)] *= 2;
  check_info(&m, 0, middle, middle + 1, -1);
  m.values[entry_of(&m, last, last)] = 0;
  m.values[entry_of(&m, middle, middle)] = 0;
  check_info(&m, 0, middle, middle + 1, middle);
  ref_free(&m);
}

/* An entry that has no mirror image, below the diagonal and above it. */
static void lone_entries(void) {
  for (int below = 0; below < 2; below++) {
    ref_matrix m = many();
    const int32_t row = m.rows - 400, to = below ? row - 7 : row + 7;
    const int32_t e = entry_of(&m, row, below ? row - 1 : row + 1);
    test_context_label("%s", below ? "below" : "above");
    m.indices[e] = to; /* the old entry's mirror image is now alone too */
    const int32_t other = below ? row - 1 : row + 1, mirror = entry_of(&m, other, row);
    m.values[mirror] = 0;
    check_info(&m, 0, below ? row : row, to, -1);
    ref_free(&m);
  }
}

static void refuse(ts_context *context, const ts_csr *csr, const char *what, const char *where) {
  const ts_matrix_desc desc = {.csr = *csr};
  ts_matrix *A = NULL;
  CHECK_FAILS(context, ts_matrix_create(context, &desc, &A), TS_ERROR_INVALID_ARGUMENT, what, where);
  CHECK(A == NULL);
}

/* The first of several faults is reported, regardless of the thread that finds it. */
static void what_is_refused(void) {
  ts_context *context = open_with(5);
  if (!context) return;
  ref_matrix m = many();
  const ts_csr csr = ref_csr(&m);
  const int32_t row = m.rows - 5, e = m.offsets[row] + 1, later = m.offsets[m.rows] - 1;
  char where[64], at[64];
  const int32_t column = m.indices[e];
  m.indices[later] = -3;
  m.indices[e] = m.columns;
  snprintf(where, sizeof where, "column_indices[%d] in row %d", e, row);
  refuse(context, &csr, where, "it must be 0 to");
  m.indices[e] = column;
  m.values[e] = INFINITY;
  snprintf(where, sizeof where, "values[%d] in row %d", e, row);
  snprintf(at, sizeof at, "column %d is inf", column);
  refuse(context, &csr, where, at);
  m.values[e] = 1;
  m.indices[later] = m.columns - 1;
  m.offsets[row + 1] = m.offsets[row] - 1;
  snprintf(where, sizeof where, "row_offsets[%d] is %d", row + 1, m.offsets[row] - 1);
  refuse(context, &csr, where, "less than");
  ref_free(&m);
  test_close(&context);
}

/* Unordered rows are sorted. A different pattern is recognised, even if only a late row differs. */
static void order_and_pattern(void) {
  ts_context *context = open_with(5);
  if (!context) return;
  ref_matrix m = many();
  const int32_t row = m.rows - 2, e = m.offsets[row];
  ts_matrix *A = make_matrix(context, &m, TS_FORMAT_AUTO);
  const ts_csr csr = ref_csr(&m);
  CHECK_OK(context, ts_matrix_set_values(A, &csr));
  const int32_t columns[] = {m.indices[e], m.indices[e + 1]};
  const float values[] = {m.values[e], m.values[e + 1]};
  m.indices[e] = columns[1], m.indices[e + 1] = columns[0];
  if (!A->made_on_device) /* it sorts the entries again */
    CHECK_FAILS(context, ts_matrix_set_values(A, &csr), TS_ERROR_INCOMPATIBLE, "column indices differ",
                "created");
  m.indices[e] = m.indices[e + 1];
  CHECK_FAILS(context, ts_matrix_set_values(A, &csr), TS_ERROR_INCOMPATIBLE, "column indices differ",
              "created");
  m.indices[e] = columns[1];
  ts_matrix_destroy(&A);
  m.values[e] = values[1], m.values[e + 1] = values[0];
  A = make_matrix(context, &m, TS_FORMAT_AUTO);
  CHECK_INT(matrix_info(A).symmetric, 1);
  CHECK_INT(matrix_info(A).duplicates, 0);
  ts_matrix_destroy(&A);
  ref_free(&m);
  test_close(&context);
}

TEST_MAIN(CASES(what_is_found, lone_entries, what_is_refused, order_and_pattern))
