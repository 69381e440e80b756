/* Incomplete factors: exact if nothing is dropped, for any diagonal; bounds of their size; sweeps; what is
 * refused. */
#include <texsolve/solver.h>

#include "common/core/core.h"
#include "helpers.h"
#include "krylov_solve.h"

static ts_context *context;

static ts_matrix *make_with_copy(const ref_matrix *m, const unsigned char *constrained, ts_format format) {
  const ts_matrix_desc desc = {
      .csr = ref_csr(m), .format = format, .keep_host_copy = 1, .constrained = constrained};
  ts_matrix *matrix = NULL;
  CHECK_OK(context, ts_matrix_create(context, &desc, &matrix));
  return matrix;
}

static float *apply_to(ts_preconditioner *M, ts_space *space, int components, const float *rs) {
  ts_vector *r = make_vector(space, components, rs), *z = make_vector(space, components, NULL);
  CHECK_OK(context, ts_preconditioner_apply(M, z, r));
  CHECK_PADDING(z);
  float *zs = read_vector(z);
  ts_vector_destroy(&r);
  ts_vector_destroy(&z);
  return zs;
}

/* Row i of m becomes row 7 i mod rows, which leaves few entries on the diagonal. */
static ref_matrix permuted(const ref_matrix *m) {
  const size_t entries = (size_t)ref_nonzeros(m);
  ref_matrix p = {.rows = m->rows, .columns = m->columns};
  p.offsets = malloc(((size_t)m->rows + 1) * sizeof *p.offsets);
  p.indices = malloc(entries * sizeof *p.indices);
  p.values = malloc(entries * sizeof *p.values);
  int32_t next = 0;
  for (int32_t i = 0; i < m->rows; i++) {
    const int32_t from = (int32_t)(7 * (int64_t)i % m->rows);
    p.offsets[i] = next;
    for (int32_t k = m->offsets[from]; k < m->offsets[from + 1]; k++, next++) {
      p.indices[next] = m->indices[k];
      p.values[next] = m->values[k];
    }
  }
  p.offsets[m->rows] = next;
  return p;
}

static const ts_preconditioner_desc nothing_dropped = {
    .kind = TS_PRECONDITIONER_ILU, .fill = 1000, .drop_tolerance = -1};

/* ---- Exact factors ---- */

/* Checks that A z = r. */
static void check_inverse(ts_preconditioner *M, ts_matrix *matrix, const ref_matrix *m, int components) {
  const size_t count = (size_t)m->rows * (size_t)components;
  float *rs = ref_values(count, 5, -1, 1);
  float *zs = apply_to(M, ts_matrix_get_row_space(matrix), components, rs);
  CHECK(ref_worst_residual(m, NULL, components, zs, rs) < 2e-5);
  free(rs), free(zs);
}

/* The diagonal is 0 in most rows. Repeated with new values. */
static void nothing_is_dropped(void) {
  ts_format formats[8];
  const int format_count = list_formats(context, formats);
  ref_matrix grid = ref_convection(11, 9, 2), m = permuted(&grid);
  for (int f = 0; f < format_count; f++)
    for (int components = 1; components <= most_components(formats[f]); components += 2) {
      test_context_label("%s, %d components", ts_format_name(formats[f]), components);
      ts_matrix *matrix = make_with_copy(&m, NULL, formats[f]);
      ts_preconditioner *M = make_preconditioner(matrix, &nothing_dropped);
      if (M && !test_is_ranks()) check_inverse(M, matrix, &m, components);
      for (int64_t k = 0; k < ref_nonzeros(&m); k++) m.values[k] *= k % 3 ? 1 : -2;
      const ts_csr other = ref_csr(&m);
      CHECK_OK(context, ts_matrix_set_values(matrix, &other));
      CHECK_OK(context, ts_preconditioner_update(M));
      if (M && !test_is_ranks()) check_inverse(M, matrix, &m, components);
      ts_preconditioner_destroy(&M);
      ts_matrix_destroy(&matrix);
      for (int64_t k = 0; k < ref_nonzeros(&m); k++) m.values[k] *= k % 3 ? 1 : -0.5f;
    }
  ref_free(&grid), ref_free(&m);
}

/* The triangular systems are solved after one sweep per level, without a synchronisation. */
static void many_sweeps(void) {
  ref_matrix grid = ref_convection(3, 4, 2), m = permuted(&grid);
  ts_matrix *matrix = make_with_copy(&m, NULL, TS_FORMAT_AUTO);
  ts_preconditioner_desc desc = nothing_dropped;
  desc.sweeps = 12;
  ts_preconditioner *M = make_preconditioner(matrix, &desc);
  if (M && !test_is_ranks()) check_inverse(M, matrix, &m, 1);
  ts_vector *r = make_vector(ts_matrix_get_row_space(matrix), 1, NULL), *z = NULL;
  z = make_vector(ts_matrix_get_row_space(matrix), 1, NULL);
  const uint64_t before = context->host_synchronisations;
  CHECK_OK(context, ts_preconditioner_apply(M, z, r));
  CHECK_INT(context->host_synchronisations - before, 0);
  CHECK_INT((int)preconditioner_info(M).operations, 27);
  ts_vector_destroy(&r);
  ts_vector_destroy(&z);
  ts_preconditioner_destroy(&M);
  ts_matrix_destroy(&matrix);
  ref_free(&grid), ref_free(&m);
}

/* ---- Solves ---- */

static void check_solve(const ref_matrix *m, const unsigned char *constrained, ts_method method,
                        const ts_preconditioner_desc *how, int most) {
  ts_matrix *matrix = make_with_copy(m, constrained, TS_FORMAT_AUTO);
  ts_preconditioner *M = make_preconditioner(matrix, how);
  float *bs = ref_values((size_t)m->rows, 9, -1, 1);
  ts_vector *b = make_vector(ts_matrix_get_row_space(matrix), 1, bs), *x = NULL;
  x = make_vector(ts_matrix_get_row_space(matrix), 1, NULL);
  ts_result result = {0};
  const ts_solver_desc desc = {.method = method, .preconditioner = M, .check_interval = 1};
  CHECK_OK(context, solve_vectors(matrix, b, x, &desc, &result));
  float *xs = read_vector(x);
  CHECK(ref_relative_residual(m, constrained, 1, 0, xs, bs) < 2e-5);
  CHECK(result.iterations <= most || test_is_ranks());
  for (int32_t i = 0; constrained && i < m->rows; i++) CHECK(!constrained[i] || xs[i] == 0);
  free(xs), free(bs);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  ts_preconditioner_destroy(&M);
  ts_matrix_destroy(&matrix);
}

/* For comparison, BiCGSTAB with Jacobi takes 55 and 113 iterations in the grid's own order. In the other order
 * Jacobi fails because of zeros on the diagonal. */
static void few_iterations(void) {
  unsigned char constrained[600] = {0};
  for (int i = 0; i < 600; i += 7) constrained[i] = 1;
  ref_matrix grid = ref_convection(20, 30, 3), m = permuted(&grid);
  const ts_preconditioner_desc usual = {.kind = TS_PRECONDITIONER_ILU},
                               small = {.kind = TS_PRECONDITIONER_ILU, .fill = 2, .drop_tolerance = 0.01},
                               as_it_is = {.kind = TS_PRECONDITIONER_ILU, .scaling = TS_SCALING_NONE},
                               swept = {.kind = TS_PRECONDITIONER_ILU, .sweeps = 8};
  for (int k = 0; k < KRYLOV_METHODS; k++) {
    test_context_label("%s", ts_method_name(krylov_methods[k]));
    check_solve(&grid, NULL, krylov_methods[k], &usual, 6);
    check_solve(&grid, constrained, krylov_methods[k], &usual, 6);
    check_solve(&grid, NULL, krylov_methods[k], &as_it_is, 6);
    check_solve(&m, NULL, krylov_methods[k], &usual, 6);
    check_solve(&m, NULL, krylov_methods[k], &small, 20);
    check_solve(&grid, NULL, krylov_methods[k], &swept, 30);
  }
  ref_free(&grid), ref_free(&m);
}

/* The factors have at most `fill` times the entries of A. The diagonal is counted once. */
static void fill_is_a_bound(void) {
  ref_matrix m = ref_uneven_rows(300, 300, 40, 3);
  for (double fill = 1; fill < 20; fill *= 3) {
    const ts_preconditioner_desc desc = {
        .kind = TS_PRECONDITIONER_ILU, .fill = fill, .drop_tolerance = 1e-9, .scaling = TS_SCALING_MATCHING};
    ts_matrix *matrix = make_with_copy(&m, NULL, TS_FORMAT_AUTO);
    ts_preconditioner *M = make_preconditioner(matrix, &desc);
    const double products = preconditioner_info(M).products,
                 diagonal = (double)m.rows / (double)ref_nonzeros(&m);
    CHECK(products <= fill + diagonal);
    CHECK(products > 0.5 * fill || fill > 6);
    ts_preconditioner_destroy(&M);
    ts_matrix_destroy(&matrix);
  }
  ref_free(&m);
}

/* ---- Singular and badly scaled matrices ---- */

/* Rows and columns are multiplied by powers of two from 2^-40 to 2^40. */
static void scales_do_not_matter(void) {
  ref_matrix m = ref_convection(12, 12, 2);
  for (int32_t i = 0; i < m.rows; i++)
    for (int32_t k = m.offsets[i]; k < m.offsets[i + 1]; k++)
      m.values[k] = ldexpf(m.values[k], (37 * i % 81) - 40 + (53 * m.indices[k] % 31) - 15);
  ts_matrix *matrix = make_with_copy(&m, NULL, TS_FORMAT_AUTO);
  ts_preconditioner *M = make_preconditioner(matrix, &nothing_dropped);
  float *rs = ref_values((size_t)m.rows, 5, 0.5f, 1);
  for (int32_t i = 0; i < m.rows; i++) rs[i] = ldexpf(rs[i], (37 * i % 81) - 40);
  float *zs = apply_to(M, ts_matrix_get_row_space(matrix), 1, rs);
  double *product = malloc((size_t)m.rows * sizeof *product);
  ref_spmv(&m, NULL, 1, zs, product, NULL);
  for (int32_t i = 0; i < m.rows && !test_is_ranks(); i++) CHECK_CLOSE(product[i] / (double)rs[i], 1, 1e-3);
  free(rs), free(zs), free(product);
  ts_preconditioner_destroy(&M);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

/* All zeros, a row of zeros, two equal rows, and one much larger entry: M^-1 r is finite. */
static void singular_matrices(void) {
  for (int kind = 0; kind < 4; kind++) {
    ref_matrix m = ref_convection(8, 8, 2);
    for (int64_t k = 0; k < ref_nonzeros(&m); k++)
      if (kind == 0) m.values[k] = 0;
    for (int32_t k = m.offsets[20]; k < m.offsets[21]; k++)
      if (kind == 1) m.values[k] = 0;
    if (kind == 2)
      for (int32_t k = m.offsets[20], j = m.offsets[21]; k < m.offsets[21]; k++, j++) {
        m.indices[j] = m.indices[k];
        m.values[j] = m.values[k];
      }
    if (kind == 3) m.values[m.offsets[20]] = 1e30f;
    test_context_label("kind %d", kind);
    ts_matrix *matrix = make_with_copy(&m, NULL, TS_FORMAT_AUTO);
    ts_preconditioner *M =
        make_preconditioner(matrix, &(ts_preconditioner_desc){.kind = TS_PRECONDITIONER_ILU});
    float *rs = ref_values((size_t)m.rows, 5, -1, 1);
    float *zs = M ? apply_to(M, ts_matrix_get_row_space(matrix), 1, rs) : NULL;
    for (int32_t i = 0; zs && i < m.rows; i++) CHECK(isfinite(zs[i]));
    free(rs), free(zs);
    ts_preconditioner_destroy(&M);
    ts_matrix_destroy(&matrix);
    ref_free(&m);
  }
}

/* ---- Refusals ---- */

#define INVALID(call, ...) CHECK_FAILS(context, call, TS_ERROR_INVALID_ARGUMENT, __VA_ARGS__)
#define ILU(...) (&(ts_preconditioner_desc){.kind = TS_PRECONDITIONER_ILU, __VA_ARGS__})

static void errors(void) {
  ref_matrix m = ref_convection(6, 6, 1);
  ts_matrix *matrix = make_with_copy(&m, NULL, TS_FORMAT_AUTO), *bare = NULL;
  const ts_matrix_desc without = {.csr = ref_csr(&m), .keep_host_copy = -1};
  CHECK_OK(context, ts_matrix_create(context, &without, &bare));
  ts_preconditioner *M = NULL;
  INVALID(ts_preconditioner_create(matrix, ILU(.fill = 0.5), &M), "fill is 0.5");
  INVALID(ts_preconditioner_create(matrix, ILU(.fill = NAN), &M), "fill is ");
  INVALID(ts_preconditioner_create(matrix, ILU(.drop_tolerance = 1), &M), "drop_tolerance is 1");
  INVALID(ts_preconditioner_create(matrix, ILU(.drop_tolerance = -2), &M), "drop_tolerance is -2");
  INVALID(ts_preconditioner_create(matrix, ILU(.scaling = (ts_scaling)3), &M), "scaling is 3");
  INVALID(ts_preconditioner_create(matrix, ILU(.sweeps = 33), &M), "sweeps is 33");
  INVALID(ts_preconditioner_create(matrix, ILU(.degree = 3), &M), "degree is set");
  INVALID(ts_preconditioner_create(matrix, &(ts_preconditioner_desc){.fill = 3}, &M), "fill is set", "auto");
  CHECK(M == NULL);
  if (test_is_ranks())
    CHECK_FAILS(context, ts_preconditioner_create(bare, ILU(.fill = 3), &M), TS_ERROR_UNSUPPORTED,
                "no host copy");
  else
    M = make_preconditioner(bare, ILU(.fill = 3)); /* it reads the entries back */
  ts_preconditioner_destroy(&M);
  M = make_preconditioner(matrix, ILU(.fill = 3));
  ts_solver *solver = NULL;
  INVALID(ts_solver_create(matrix, &(ts_solver_desc){.method = TS_METHOD_CG, .preconditioner = M}, &solver),
          "ilu is not symmetric");
  CHECK(!preconditioner_info(M).symmetric);
  ts_preconditioner_destroy(&M);
  ts_matrix_destroy(&matrix);
  ts_matrix_destroy(&bare);
  ref_free(&m);
}

TEST_MAIN(CASES_IN_CONTEXT(nothing_is_dropped, many_sweeps, few_iterations, fill_is_a_bound,
                           scales_do_not_matter, singular_matrices, errors))
