/* Several ranks: matrices from the rows of each rank or from one rank that holds all rows, solves with them,
 * and errors of one rank that all ranks return. Every rank runs this program and checks its own part. */
#include <texsolve/preconditioner.h>
#include <texsolve/ranks.h>
#include <texsolve/solver.h>

#include "common/partition/partition.h"
#include "heap.h"
#include "ranks_rows.h"

static void products(void) {
  ref_sample sample;
  for (int k = 0; ref_get_sample(k, &sample); k++) {
    const ref_matrix *m = &sample.matrix;
    test_context_label("%s", sample.name);
    if (m->rows == m->columns && m->rows > 2 * ranks) {
      ts_matrix *matrix = make_rows_matrix(m, 0);
      for (int parts = 1; matrix && parts <= 2; parts++) check_product(m, matrix, parts);
      ts_matrix_destroy(&matrix);
    }
    ref_free(&sample.matrix);
  }
  ref_matrix grid = ref_laplacian_3d(9);
  ts_matrix *matrix = make_rows_matrix(&grid, 0);
  check_info(&grid, matrix);
  ts_matrix_destroy(&matrix);
  ref_free(&grid);
}

/* ---- Facts about the whole matrix that all ranks know ---- */

static void check_symmetry(ref_matrix m, int symmetric, int32_t row, int32_t column) {
  ts_matrix *matrix = make_rows_matrix(&m, 0);
  const ts_matrix_info info = matrix_info(matrix);
  CHECK_INT(info.symmetric, symmetric);
  if (row >= 0) CHECK_INT(info.unsymmetric_row, row);
  if (row >= 0) CHECK_INT(info.unsymmetric_column, column);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

static void symmetry(void) {
  check_symmetry(ref_laplacian_3d(7), 1, -1, -1);
  check_symmetry(ref_random_spd(300, 6, 2), 1, -1, -1);
  check_symmetry(ref_arrow(60), 1, -1, -1);
  check_symmetry(ref_skewed_grid(12, 13), 0, -1, -1);
  check_symmetry(ref_cyclic_shift(40), 0, -1, -1);
  ref_matrix m = ref_laplacian_3d(8); /* one entry between the first rank and the next one differs */
  const int32_t row = first_row(m.rows, 1) % m.rows;
  int32_t e = m.offsets[row];
  m.values[e] *= 1.5f;
  const int32_t column = m.indices[e];
  check_symmetry(m, column == row, ranks > 1 ? column : -1, row);
  m = ref_laplacian_3d(6);
  const int32_t last = m.rows - 1;
  for (e = m.offsets[last]; e < m.offsets[last + 1]; e++)
    if (m.indices[e] == last) m.values[e] = 0;
  ts_matrix *matrix = make_rows_matrix(&m, 0);
  CHECK_INT(matrix_info(matrix).zero_diagonal_row, last);
  ts_solver *solver = NULL; /* all ranks choose the same method */
  CHECK_OK(context, ts_solver_create(matrix, NULL, &solver));
  ts_solver_destroy(&solver);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

/* ---- Solves ---- */

static void check_solve(const ref_matrix *m, ts_matrix *matrix, const ts_solver_desc *desc, double limit) {
  const int32_t first = first_row(m->rows, rank), count = first_row(m->rows, rank + 1) - first;
  double *xs = ref_doubles((size_t)m->rows, 11, -1, 1), *bs = malloc((size_t)m->rows * sizeof *bs);
  multiply(m, xs, bs);
  ts_space *space = ts_matrix_get_row_space(matrix);
  ts_vector *b = make_parts(space, 1, 3, bs + first), *x = make_parts(space, 1, 3, NULL);
  ts_result result;
  CHECK_OK(context, solve_vectors(matrix, b, x, desc, &result));
  double *found = read_doubles(x);
  for (int32_t i = 0; i < count; i++) CHECK_CLOSE(found[i], xs[first + i], limit);
  free(found), free(xs), free(bs);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
}

static void solves(void) {
  ref_matrix m = ref_laplacian_3d(11);
  ts_matrix *matrix = make_rows_matrix(&m, 1);
  static const ts_precision precisions[] = {TS_PRECISION_SINGLE, TS_PRECISION_MIXED, TS_PRECISION_DOUBLE};
  static const ts_preconditioner_kind kinds[] = {TS_PRECONDITIONER_NONE,      TS_PRECONDITIONER_JACOBI,
                                                 TS_PRECONDITIONER_CHEBYSHEV, TS_PRECONDITIONER_BLOCK_JACOBI,
                                                 TS_PRECONDITIONER_ISAI,      TS_PRECONDITIONER_AMG,
                                                 TS_PRECONDITIONER_AUTO};
  for (size_t k = 0; matrix && k < sizeof kinds / sizeof kinds[0]; k++)
    for (size_t p = 0; p < 3; p++) {
      test_context_label("preconditioner %d, precision %d", (int)kinds[k], (int)precisions[p]);
      const ts_solver_desc desc = {.method = TS_METHOD_CG,
                                   .preconditioner_kind = kinds[k],
                                   .precision = precisions[p],
                                   .rtol = p ? 1e-11 : 1e-6};
      check_solve(&m, matrix, &desc, p ? 1e-9 : 1e-4);
    }
  ts_matrix_destroy(&matrix);
  ref_free(&m);
  m = ref_convection(24, 25, 0.8f);
  matrix = make_rows_matrix(&m, 0);
  static const ts_method methods[] = {TS_METHOD_AUTO, TS_METHOD_BICGSTAB, TS_METHOD_GMRES, TS_METHOD_IDR};
  for (int k = 0; matrix && k < 4; k++) {
    test_context_label("%s", ts_method_name(methods[k]));
    check_solve(&m, matrix, &(ts_solver_desc){.method = methods[k], .rtol = 1e-11}, 1e-7);
  }
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

/* The same bits on every run. */
static void repeats(void) {
  ref_matrix m = ref_random_spd(2000, 9, 4);
  double *first = NULL;
  float *bs = ref_values((size_t)m.rows, 3, -1, 1);
  for (int run = 0; run < 3; run++) {
    ts_matrix *matrix = make_rows_matrix(&m, 0);
    ts_vector *b = make_vector(ts_matrix_get_row_space(matrix), 1, bs + first_row(m.rows, rank)),
              *x = make_vector(ts_matrix_get_row_space(matrix), 1, NULL);
    CHECK_OK(context, solve_vectors(matrix, b, x, NULL, NULL));
    double *found = read_doubles(x);
    if (first) CHECK(memcmp(found, first, vector_count(x) * sizeof *found) == 0);
    if (first)
      free(found);
    else
      first = found;
    ts_vector_destroy(&b);
    ts_vector_destroy(&x);
    ts_matrix_destroy(&matrix);
  }
  free(first), free(bs);
  ref_free(&m);
}

/* ---- From one rank ---- */

static void check_from(const ref_matrix *m, int root, int doubles) {
  const size_t n = (size_t)m->rows;
  double *values = malloc((size_t)ref_nonzeros(m) * sizeof *values), *xs = ref_doubles(n, 9, -1, 1),
         *bs = malloc(n * sizeof *bs), *found = calloc(n, sizeof *found);
  for (int64_t e = 0; e < ref_nonzeros(m); e++) values[e] = (double)m->values[e];
  multiply(m, xs, bs);
  ts_csr csr = ref_csr(m);
  if (doubles) csr.values = ts_host(values, csr.column_indices.count);
  const ts_matrix_desc desc = {.csr = rank == root ? csr : (ts_csr){0}};
  ts_matrix *matrix = NULL;
  ts_vector *b = NULL, *x = NULL;
  const ts_vector_desc in_double = {.precision = TS_PRECISION_DOUBLE};
  ts_ranks_matrix_info info;
  if (CHECK_OK(context, ts_ranks_matrix_from(context, root, &desc, &matrix)) &&
      CHECK_OK(context, ts_ranks_matrix_get_info(matrix, &info)) &&
      CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(matrix), &in_double, &b)) &&
      CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(matrix), &in_double, &x))) {
    CHECK_INT(info.rows, m->rows);
    CHECK(info.choice[0] != 0);
    CHECK_OK(context, ts_ranks_vector_from(b, root, on_rank(root, bs, n)));
    CHECK_OK(context, solve_vectors(matrix, b, x, &(ts_solver_desc){.rtol = 1e-11}, NULL));
    CHECK_OK(context, ts_ranks_vector_to(x, root, on_rank(root, found, n)));
    for (size_t i = 0; i < n && rank == root; i++) CHECK_CLOSE(found[i], xs[i], 1e-8);
  }
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  ts_matrix_destroy(&matrix);
  free(values), free(xs), free(bs), free(found);
}

static void from_one_rank(void) {
  ref_matrix m = ref_laplacian_3d(9);
  for (int root = 0; root < ranks; root++) check_from(&m, root, root & 1);
  ref_free(&m);
  m = ref_random_spd(500, 5, 8);
  ts_context *kept = context;
  ts_context_desc desc = test_desc();
  if (tsi_partition_has_metis) desc.partition = TS_PARTITION_METIS; /* rows are moved */
  ts_context *other = NULL;
  if (CHECK_OK(NULL, ts_context_create(&desc, &other))) {
    context = other;
    check_from(&m, ranks - 1, 1);
    context = kept;
  }
  test_close(&other);
  ref_free(&m);
}

/* ---- Errors of one rank ---- */

static void fails(const ts_ranks_matrix_desc *desc, ts_status status, int by, const char *part) {
  ts_matrix *matrix = NULL;
  char who[16];
  snprintf(who, sizeof who, ranks > 1 ? "rank %d: " : "", by);
  CHECK_FAILS(context, ts_ranks_matrix_create(context, desc, &matrix), status, who, part);
  CHECK(matrix == NULL);
}

static void errors(void) {
  ref_matrix m = ref_laplacian_3d(6);
  const int32_t n = m.rows;
  for (int by = 0; by < ranks; by++) {
    test_context_label("rank %d", by);
    rows r = copy_rows(&m);
    ts_ranks_matrix_desc desc = describe(&m, &r);
    float *values = malloc((size_t)r.offsets[r.count] * sizeof *values);
    memcpy(values, desc.csr.values.data, (size_t)r.offsets[r.count] * sizeof *values);
    if (rank == by) {
      values[r.offsets[2]] = NAN;
      desc.csr.values = ts_host(values, desc.csr.values.count);
    }
    fails(&desc, TS_ERROR_INVALID_ARGUMENT, by, "row 2");
    desc = describe(&m, &r);
    if (rank == by) r.columns[1] = n;
    fails(&desc, TS_ERROR_INVALID_ARGUMENT, by, "out of range");
    if (rank == by) r.columns[1] = -1;
    fails(&desc, TS_ERROR_INVALID_ARGUMENT, by, "column -1");
    free_rows(&r);
    r = copy_rows(&m);
    desc = describe(&m, &r);
    if (rank == by) desc.csr.rows = 0;
    fails(&desc, TS_ERROR_INVALID_ARGUMENT, by, "rows is 0");
    free_rows(&r);
    free(values);
    ts_matrix *sound = make_rows_matrix(&m, 0); /* the ranks continue to work */
    check_product(&m, sound, 1);
    ts_matrix_destroy(&sound);
  }
  ts_matrix *matrix = NULL;
  ref_matrix small = ref_laplacian_3d(1); /* one row */
  const ts_matrix_desc whole = {.csr = ref_csr(&small)};
  if (ranks > 1)
    CHECK_FAILS(context, ts_ranks_matrix_from(context, 0, &whole, &matrix), TS_ERROR_INVALID_ARGUMENT,
                "1 rows are fewer than");
  CHECK_FAILS(context, ts_ranks_matrix_from(context, ranks, &whole, &matrix), TS_ERROR_INVALID_ARGUMENT,
              "root is");
  ref_free(&small);
  ref_free(&m);
}

/* ---- Types of arrays ---- */

static void check_rows_of_type(const ref_matrix *m, int kind) {
  rows r = copy_rows(m);
  ts_ranks_matrix_desc desc = describe(m, &r);
  const size_t count = (size_t)r.count, entries = desc.csr.column_indices.count;
  int64_t *wide = malloc((count + 1) * sizeof *wide);
  int32_t *narrow = malloc((entries + 1) * sizeof *narrow);
  double *doubles = malloc((entries + 1) * sizeof *doubles);
  for (size_t i = 0; i <= count; i++) wide[i] = r.offsets[i];
  for (size_t e = 0; e < entries; e++) {
    narrow[e] = (int32_t)r.columns[e];
    doubles[e] = (double)m->values[m->offsets[r.first] + (int32_t)e];
  }
  if (kind & 1) desc.csr.row_offsets = ts_host(wide, count + 1);
  if (kind & 2) desc.csr.column_indices = ts_host(narrow, entries);
  if (kind & 4) desc.csr.values = ts_host(doubles, entries);
  ts_matrix *matrix = NULL;
  test_context_label("kind %d", kind);
  if (CHECK_OK(context, ts_ranks_matrix_create(context, &desc, &matrix))) {
    check_product(m, matrix, 1);
    CHECK_OK(context, ts_ranks_matrix_set_values(matrix, &desc));
    check_product(m, matrix, 1);
  }
  ts_matrix_destroy(&matrix);
  free(wide), free(narrow), free(doubles);
  free_rows(&r);
}

/* Transfers of a vector with floats and with doubles, and refusals that are the same on all ranks. */
static void check_vectors_of_types(const ref_matrix *m) {
  const size_t n = (size_t)m->rows;
  const size_t first = (size_t)first_row(m->rows, rank), count = (size_t)first_row(m->rows, rank + 1) - first;
  float *floats = ref_values(n, 3, -1, 1), *found = calloc(n, sizeof *found);
  int32_t integers[1] = {0};
  double *doubles = calloc(n, sizeof *doubles);
  ts_matrix *matrix = make_rows_matrix(m, 0);
  ts_vector *x = make_vector(ts_matrix_get_row_space(matrix), 1, NULL);
  CHECK_OK(context, ts_ranks_vector_write(x, ts_host((const float *)floats + first, count)));
  CHECK_OK(context, ts_ranks_vector_read(x, ts_host(doubles, count)));
  for (size_t i = 0; i < count; i++) CHECK(doubles[i] == (double)floats[first + i]);
  CHECK_OK(context, ts_ranks_vector_to(x, 0, rank == 0 ? ts_host(found, n) : (ts_array){0}));
  for (size_t i = 0; i < n && rank == 0; i++) CHECK(found[i] == floats[i]);
  for (size_t i = 0; i < n; i++) doubles[i] = (double)(floats[i] *= 2);
  CHECK_OK(context, ts_ranks_vector_from(x, 0, on_rank(0, doubles, n)));
  CHECK_OK(context, ts_ranks_vector_read(x, ts_host(found, count)));
  for (size_t i = 0; i < count; i++) CHECK(found[i] == floats[first + i]);
  CHECK_OK(context, ts_ranks_vector_from(x, 0, rank == 0 ? ts_host(floats, n) : (ts_array){0}));
  CHECK_OK(context, ts_ranks_vector_read(x, ts_host(doubles, count)));
  for (size_t i = 0; i < count; i++) CHECK(doubles[i] == (double)floats[first + i]);
#define INVALID(call, part) CHECK_FAILS(context, call, TS_ERROR_INVALID_ARGUMENT, part)
  for (int by = 0; by < ranks; by++) {
    const size_t wrong = rank == by ? count + 1 : count;
    test_context_label("rank %d", by);
    INVALID(ts_ranks_vector_write(x, ts_host(doubles, wrong)), "values has");
    INVALID(ts_ranks_vector_read(x, ts_host(doubles, wrong)), "values has");
    INVALID(ts_ranks_vector_read(x, rank == by ? (ts_array){0} : ts_host(doubles, count)), "values is NULL");
    INVALID(ts_ranks_vector_from(x, by, on_rank(by, doubles, n - 1)), "values has");
    INVALID(ts_ranks_vector_to(x, by, on_rank(by, doubles, n - 1)), "values has");
    INVALID(ts_ranks_vector_from(x, by, (ts_array){0}), "values is NULL");
    INVALID(ts_ranks_vector_to(x, by, (ts_array){0}), "values is NULL");
    INVALID(ts_ranks_vector_from(x, by, ts_host(integers, 1)), "values holds integers");
    INVALID(ts_ranks_vector_to(x, by, ts_host((const double *)doubles, n)), "pointer to const");
  }
  CHECK_OK(context, ts_ranks_vector_read(x, ts_host(found, count))); /* the ranks continue to work */
  for (size_t i = 0; i < count; i++) CHECK(found[i] == floats[first + i]);
  ts_vector_destroy(&x);
  ts_matrix_destroy(&matrix);
  free(floats), free(found), free(doubles);
}

static void types(void) {
  ref_matrix m = ref_laplacian_3d(6);
  for (int kind = 0; kind < 8; kind++) check_rows_of_type(&m, kind);
  check_vectors_of_types(&m);
  ref_free(&m);
}

/* Memory of one rank runs out at each of its allocations. All ranks return the error and can continue. */
static void memory_of_a_rank(void) {
  ref_matrix m = ref_laplacian_3d(6);
  ts_context_desc desc = heap_desc();
  desc.threads = 1;
  REQUIRE_OK(NULL, ts_context_create(&desc, &context));
  rows r = copy_rows(&m);
  const ts_ranks_matrix_desc rows_desc = describe(&m, &r);
  const int by = ranks - 1;
  int succeeded = 0;
  for (long n = 0; n < 2000 && !succeeded; n = heap_next(n)) {
    test_context_label("allocation %ld", n);
    ts_matrix *matrix = NULL;
    ts_solver *solver = NULL;
    memory.countdown = rank == by ? n : -1;
    memory.failed = 0;
    ts_status status = ts_ranks_matrix_create(context, &rows_desc, &matrix);
    if (status == TS_OK) status = ts_solver_create(matrix, NULL, &solver);
    memory.countdown = -1;
    ts_solver_destroy(&solver);
    if (status == TS_OK) {
      succeeded = rank != by || CHECK_INT(memory.failed, 0);
      check_product(&m, matrix, 1);
    } else {
      CHECK_FAILS(context, status, TS_ERROR_OUT_OF_HOST_MEMORY, "memory");
    }
    ts_matrix_destroy(&matrix);
    CHECK_INT(context_info(context).bytes_device, 0);
  }
  CHECK(succeeded);
  free_rows(&r);
  ref_free(&m);
  test_close(&context);
  CHECK_INT(memory.live, 0);
}

TEST_MAIN(CASES_WITH(&each_way, products, symmetry, solves, repeats, from_one_rank, errors, types),
          CASES(memory_of_a_rank))
