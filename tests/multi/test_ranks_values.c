/* New values of matrices over several ranks: from each rank for its own rows, or from one rank for all. */
#include <texsolve/preconditioner.h>
#include <time.h>

#include "common/partition/partition.h"
#include "heap.h"
#include "ranks_rows.h"

/* Doubles that are floats on all ranks except one, first in a new matrix and then as new values. */
static void doubles_of_one_rank(void) {
  ref_matrix m = ref_laplacian_3d(7);
  rows r = copy_rows(&m);
  const int32_t entries = r.offsets[r.count], start = m.offsets[r.first];
  double *values = malloc((size_t)entries * sizeof *values), *found;
  ts_matrix *matrix = NULL;
  double *xs = ref_doubles((size_t)m.rows, 5, -1, 1);
  for (int by = 0; by < ranks; by++) {
    test_context_label("rank %d", by);
    const double factor = rank == by ? 1 / 3.0 : 1;
    ts_ranks_matrix_desc desc = describe(&m, &r);
    for (int32_t e = 0; e < entries; e++) values[e] = (double)m.values[start + e] * factor;
    desc.csr.values = ts_host(values, (size_t)entries);
    if (by == 0) REQUIRE_OK(context, ts_ranks_matrix_create(context, &desc, &matrix));
    if (by > 0) CHECK_OK(context, ts_ranks_matrix_set_values(matrix, &desc));
    ts_space *space = ts_matrix_get_row_space(matrix);
    ts_vector *x = make_parts(space, 1, 2, xs + r.first), *y = make_parts(space, 1, 2, NULL);
    for (int k = 0; k < 2; k++) CHECK_OK(context, ts_matrix_multiply(y, matrix, x));
    found = read_doubles(y);
    for (int32_t i = 0; i < r.count; i++) {
      double sum = 0;
      for (int32_t e = r.offsets[i]; e < r.offsets[i + 1]; e++) sum += values[e] * xs[m.indices[start + e]];
      CHECK_CLOSE(found[i], sum, 0x1p-40);
    }
    free(found);
    ts_vector_destroy(&x);
    ts_vector_destroy(&y);
  }
  ts_matrix_destroy(&matrix);
  free(values), free(xs);
  free_rows(&r);
  ref_free(&m);
}

/* An updated preconditioner takes as many iterations as a new one for the same values. */
static int iterations_with(ts_matrix *A, ts_preconditioner *M, ts_vector *b, ts_vector *x) {
  ts_result result = {0};
  const ts_solver_desc desc = {.method = TS_METHOD_CG, .preconditioner = M, .rtol = 1e-9};
  CHECK_OK(context, ts_vector_fill(x, 0));
  CHECK_OK(context, solve_vectors(A, b, x, &desc, &result));
  return result.iterations;
}

/* `solver` has its own preconditioner, which it updates automatically. */
static void check_update(const ref_matrix *other, ts_matrix *matrix, ts_preconditioner_kind kind,
                         ts_preconditioner *M, ts_solver *solver) {
  const ts_preconditioner_desc desc = {.kind = kind};
  const ts_vector_desc pairs = {.precision = TS_PRECISION_DOUBLE};
  ts_matrix *made = make_rows_matrix(other, 1);
  ts_preconditioner *fresh = NULL;
  ts_vector *b[2] = {0}, *x[2] = {0};
  ts_matrix *A[2] = {matrix, made};
  double *ones = ref_doubles((size_t)other->rows, 3, 1, 2);
  CHECK_OK(context, ts_preconditioner_update(M));
  REQUIRE_OK(context, ts_preconditioner_create(made, &desc, &fresh));
  for (int k = 0; k < 2; k++) {
    ts_space *space = ts_matrix_get_row_space(A[k]);
    REQUIRE_OK(context, ts_vector_create(space, &pairs, &b[k]));
    REQUIRE_OK(context, ts_vector_create(space, &pairs, &x[k]));
    CHECK_OK(context, ts_vector_write(b[k], ts_host(ones, (size_t)ts_space_get_size(space))));
  }
  const int expected = iterations_with(made, fresh, b[1], x[1]);
  ts_result result = {0};
  CHECK_INT(iterations_with(matrix, M, b[0], x[0]), expected);
  CHECK_OK(context, ts_vector_fill(x[0], 0));
  CHECK_OK(context, ts_solver_solve(solver, b[0], x[0], &result));
  CHECK_INT(result.iterations, expected);
  for (int k = 0; k < 2; k++) ts_vector_destroy(&b[k]), ts_vector_destroy(&x[k]);
  ts_preconditioner_destroy(&fresh);
  ts_matrix_destroy(&made);
  free(ones);
}

/* Keeps the pattern, and scales rows and columns. */
static void rescale(ref_matrix *m) {
  float *scales = ref_values((size_t)m->rows, 21, 0.5f, 1);
  for (int32_t i = 0; i < m->rows; i++)
    for (int32_t e = m->offsets[i]; e < m->offsets[i + 1]; e++)
      m->values[e] *= scales[i] * scales[m->indices[e]];
  free(scales);
}

static void set_values(ts_matrix *matrix, const ref_matrix *m) {
  rows r = copy_rows(m);
  const ts_ranks_matrix_desc desc = describe(m, &r);
  CHECK_OK(context, ts_ranks_matrix_set_values(matrix, &desc));
  free_rows(&r);
}

static void new_values(void) {
  static const ts_preconditioner_kind kinds[] = {TS_PRECONDITIONER_JACOBI, TS_PRECONDITIONER_BLOCK_JACOBI,
                                                 TS_PRECONDITIONER_ISAI, TS_PRECONDITIONER_CHEBYSHEV,
                                                 TS_PRECONDITIONER_AMG};
  ref_matrix m = ref_laplacian_3d(9), other = ref_laplacian_3d(9);
  rescale(&other);
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    test_context_label("preconditioner %d", (int)kinds[k]);
    const ts_solver_desc desc = {.method = TS_METHOD_CG, .preconditioner_kind = kinds[k], .rtol = 1e-9};
    ts_preconditioner *M = NULL;
    ts_solver *solver = NULL;
    ts_matrix *matrix = make_rows_matrix(&m, 1);
    REQUIRE_OK(context, ts_solver_create(matrix, &desc, &solver));
    REQUIRE_OK(context, ts_preconditioner_create(matrix, &(ts_preconditioner_desc){.kind = kinds[k]}, &M));
    set_values(matrix, &other);
    for (int parts = 1; parts <= 2; parts++) check_product(&other, matrix, parts);
    check_update(&other, matrix, kinds[k], M, solver);
    ts_csr block;
    CHECK_OK(context, ts_matrix_get_host_copy(matrix, &block));
    CHECK_FAILS(context, ts_matrix_set_values(matrix, &block), TS_ERROR_UNSUPPORTED,
                "ts_ranks_matrix_set_values");
    ts_solver_destroy(&solver);
    ts_preconditioner_destroy(&M);
    ts_matrix_destroy(&matrix);
  }
  ref_free(&m), ref_free(&other);
}

/* The facts that all ranks know are those of the new values, and then those of the old ones again. */
static void knowledge_of_new_values(void) {
  ref_matrix m = ref_laplacian_3d(8), other = ref_laplacian_3d(8);
  const int32_t row = first_row(m.rows, 1) % m.rows;
  const int32_t e = m.offsets[row], column = m.indices[e], last = m.rows - 1;
  other.values[e] *= column == row ? 1 : 1.5f;
  other.values[other.offsets[m.rows] - 1] = 0; /* the diagonal entry of the last row */
  ts_matrix *matrix = make_rows_matrix(&m, 0);
  const ts_matrix_info before = matrix_info(matrix);
  set_values(matrix, &other);
  ts_matrix_info info = matrix_info(matrix);
  CHECK_INT(info.symmetric, column == row);
  if (column != row && ranks > 1) CHECK_INT(info.unsymmetric_row, column);
  CHECK_INT(info.zero_diagonal_row, last);
  CHECK_INT(info.halo, before.halo);
  set_values(matrix, &m);
  info = matrix_info(matrix);
  CHECK_INT(info.symmetric, 1);
  CHECK_INT(info.zero_diagonal_row, -1);
  check_info(&m, matrix);
  ts_matrix_destroy(&matrix);
  ref_free(&m), ref_free(&other);
}

static void drop_row(ts_csr *csr) {
  *csr = ts_csr_make(csr->rows - 1, csr->columns, csr->row_offsets, csr->column_indices, csr->values);
}

static void check_refused(ts_matrix *matrix, const ts_ranks_matrix_desc *desc, ts_status status, int by,
                          const char *part) {
  char who[24];
  snprintf(who, sizeof who, ranks > 1 ? "rank %d: " : "", by);
  CHECK_FAILS(context, ts_ranks_matrix_set_values(matrix, desc), status, who, part);
}

/* If the values of one rank are refused, no rank uses any. */
static void refused_values(void) {
  ref_matrix m = ref_laplacian_3d(6), other = ref_laplacian_3d(6);
  rescale(&other);
  ts_matrix *matrix = make_rows_matrix(&m, 1);
  for (int by = 0; by < ranks; by++) {
    test_context_label("rank %d", by);
    rows r = copy_rows(&other);
    ts_ranks_matrix_desc desc = describe(&other, &r);
    float *values = malloc((size_t)r.offsets[r.count] * sizeof *values);
    memcpy(values, desc.csr.values.data, (size_t)r.offsets[r.count] * sizeof *values);
    if (rank == by) values[r.offsets[2]] = NAN;
    desc.csr.values = ts_host(values, desc.csr.values.count);
    check_refused(matrix, &desc, TS_ERROR_INVALID_ARGUMENT, by, "row 2");
    desc.csr.values = describe(&other, &r).csr.values;
    const int64_t column = r.columns[1];
    if (rank == by) r.columns[1] = r.columns[0];
    check_refused(matrix, &desc, TS_ERROR_INCOMPATIBLE, by, "differ from those");
    if (rank == by) r.columns[1] = m.rows;
    check_refused(matrix, &desc, TS_ERROR_INCOMPATIBLE, by, "differ from those");
    r.columns[1] = column;
    if (rank == by) desc.csr.values.count--;
    check_refused(matrix, &desc, TS_ERROR_INVALID_ARGUMENT, by, "values has");
    if (rank == by) drop_row(&desc.csr);
    check_refused(matrix, &desc, TS_ERROR_INCOMPATIBLE, by, "this rank has");
    check_product(&m, matrix, 1);
    CHECK_INT(matrix_info(matrix).symmetric, 1);
    free_rows(&r);
    free(values);
  }
  set_values(matrix, &other);
  check_product(&other, matrix, 1);
  ts_matrix_destroy(&matrix);
  ref_free(&m), ref_free(&other);
}

/* Rank 0 is late with a product. The last rank has finished it and fails in the next call. The ranks that wait
 * for rank 0 must continue to wait. */
static void failure_after_a_product(void) {
  ref_matrix m = ref_laplacian_3d(6);
  ts_matrix *matrix = make_rows_matrix(&m, 1);
  rows r = copy_rows(&m);
  ts_ranks_matrix_desc desc = describe(&m, &r);
  if (rank == ranks - 1) drop_row(&desc.csr);
  for (int k = 0; k < 3; k++) {
    if (rank == 0) nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    check_product(&m, matrix, 1);
    check_refused(matrix, &desc, TS_ERROR_INCOMPATIBLE, ranks - 1, "this rank has");
  }
  free_rows(&r);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

/* Rank 0 fails in the product and reports it, so the others do not wait for it. */
static void failure_in_a_product(void) {
  ref_matrix m = ref_laplacian_3d(6);
  ts_matrix *matrix = make_rows_matrix(&m, 1);
  ts_space *space = ts_matrix_get_row_space(matrix);
  ts_vector *x = make_vector(space, 1, NULL), *y = make_vector(space, 1, NULL);
  for (int k = 0; k < 3; k++) {
    check_product(&m, matrix, 1);
    const ts_status status = rank == 0 ? TS_ERROR_DEVICE : ts_matrix_multiply(y, matrix, x);
    if (rank == 1) CHECK_INT(status, TS_ERROR_UNREACHABLE);
    CHECK_FAILS(context, ts_ranks_agree(context, rank == 0 ? status : TS_OK, "no product"), TS_ERROR_DEVICE,
                "no product");
  }
  ts_vector_destroy(&x);
  ts_vector_destroy(&y);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

/* A matrix that the root distributed gets its new values from the root, in the root's order. */
static void check_new_values_from(int root) {
  ref_matrix m = ref_random_spd(500, 5, 8), other = ref_random_spd(500, 5, 8);
  rescale(&other);
  const size_t n = (size_t)m.rows;
  const ts_csr csr = ref_csr(&other);
  const ts_matrix_desc desc = {.csr = rank == root ? ref_csr(&m) : (ts_csr){0}};
  ts_matrix *matrix = NULL;
  REQUIRE_OK(context, ts_ranks_matrix_from(context, root, &desc, &matrix));
  double *xs = ref_doubles(n, 9, -1, 1), *expected = calloc(n, sizeof *expected),
         *found = calloc(n, sizeof *found);
  for (size_t i = 0; i < n; i++) xs[i] = (double)(float)xs[i];
  multiply(&other, xs, expected);
  CHECK_FAILS(context, ts_ranks_matrix_set_values_from(matrix, root, NULL), TS_ERROR_INVALID_ARGUMENT,
              "csr is NULL");
  ts_csr small = csr;
  small.rows = small.columns = 10; /* with the offsets of 500 rows */
  CHECK_FAILS(context, ts_ranks_matrix_set_values_from(matrix, root, &small), TS_ERROR_INVALID_ARGUMENT,
              "row_offsets has 501 numbers");
  small = ts_host_csr(10, 10, other.offsets, other.indices, other.values);
  CHECK_FAILS(context, ts_ranks_matrix_set_values_from(matrix, root, &small), TS_ERROR_INCOMPATIBLE,
              "500 rows");
  CHECK_OK(context, ts_ranks_matrix_set_values_from(matrix, root, rank == root ? &csr : NULL));
  ts_vector *x = make_vector(ts_matrix_get_row_space(matrix), 1, NULL),
            *y = make_vector(ts_matrix_get_row_space(matrix), 1, NULL);
  CHECK_OK(context, ts_ranks_vector_from(x, root, on_rank(root, xs, n)));
  CHECK_OK(context, ts_matrix_multiply(y, matrix, x));
  CHECK_OK(context, ts_ranks_vector_to(y, root, on_rank(root, found, n)));
  for (size_t i = 0; i < n && rank == root; i++) CHECK_CLOSE(found[i], expected[i], 1e-4);
  ts_vector_destroy(&x);
  ts_vector_destroy(&y);
  ts_matrix_destroy(&matrix);
  free(xs), free(expected), free(found);
  ref_free(&m), ref_free(&other);
}

static void new_values_from_one_rank(void) {
  for (int root = 0; root < ranks; root++) check_new_values_from(root);
  if (!tsi_partition_has_metis) return;
  ts_context *kept = context;
  ts_context_desc desc = test_desc();
  desc.partition = TS_PARTITION_METIS; /* rows are moved */
  context = NULL;
  if (CHECK_OK(NULL, ts_context_create(&desc, &context))) check_new_values_from(ranks - 1);
  test_close(&context);
  context = kept;
}

/* Memory of one rank runs out at each of its allocations. All ranks return the error, and the next attempt sets
 * the values. */
static void memory_of_a_rank(void) {
  ref_matrix m = ref_laplacian_3d(5), other = ref_laplacian_3d(5);
  ts_context_desc desc = heap_desc();
  desc.threads = 1;
  rescale(&other);
  other.values[other.offsets[other.rows] - 1] = 0;
  REQUIRE_OK(NULL, ts_context_create(&desc, &context));
  ts_matrix *matrix = make_rows_matrix(&m, 1);
  rows r = copy_rows(&other);
  const ts_ranks_matrix_desc values = describe(&other, &r);
  const int by = ranks - 1;
  int succeeded = 0;
  for (long n = 0; n < 2000 && !succeeded; n = heap_next(n)) {
    test_context_label("allocation %ld", n);
    set_values(matrix, &m);
    memory.countdown = rank == by ? n : -1;
    memory.failed = 0;
    const ts_status status = ts_ranks_matrix_set_values(matrix, &values);
    memory.countdown = -1;
    if (status == TS_OK)
      succeeded = rank != by || CHECK_INT(memory.failed, 0);
    else
      CHECK_FAILS(context, status, TS_ERROR_OUT_OF_HOST_MEMORY, "memory");
    CHECK_INT(matrix_info(matrix).zero_diagonal_row, status == TS_OK ? other.rows - 1 : -1);
    set_values(matrix, &other);
    check_product(&other, matrix, 1);
  }
  CHECK(succeeded);
  free_rows(&r);
  ref_free(&m), ref_free(&other);
  ts_matrix_destroy(&matrix);
  test_close(&context);
  CHECK_INT(memory.live, 0);
}

TEST_MAIN(CASES_WITH(&each_way, doubles_of_one_rank, new_values, knowledge_of_new_values, refused_values,
                     failure_after_a_product, failure_in_a_product, new_values_from_one_rank),
          CASES(memory_of_a_rank))
