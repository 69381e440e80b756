/* Incomplete Cholesky factors as a preconditioner: exact if nothing is dropped; symmetric and positive definite
 * in every form of application, as cg and minres require; what is refused. */
#include <texsolve/solver.h>

#include "common/core/core.h"
#include "helpers.h"

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

static const ts_preconditioner_desc nothing_dropped = {
    .kind = TS_PRECONDITIONER_IC, .fill = 1000, .drop_tolerance = -1};

/* ---- Exact factors ---- */

static void check_inverse(ts_preconditioner *M, ts_matrix *matrix, const ref_matrix *m, int components) {
  float *rs = ref_values((size_t)m->rows * (size_t)components, 5, -1, 1);
  float *zs = apply_to(M, ts_matrix_get_row_space(matrix), components, rs);
  CHECK(ref_worst_residual(m, NULL, components, zs, rs) < 2e-5);
  free(rs), free(zs);
}

/* Also with new values, and for a negative definite matrix. */
static void nothing_is_dropped(void) {
  ts_format formats[8];
  const int format_count = list_formats(context, formats);
  ref_matrix m = ref_grid(13, 9);
  for (int f = 0; f < format_count; f++)
    for (int components = 1; components <= most_components(formats[f]); components++) {
      test_context_label("%s, %d components", ts_format_name(formats[f]), components);
      ts_matrix *matrix = make_with_copy(&m, NULL, formats[f]);
      ts_preconditioner *M = make_preconditioner(matrix, &nothing_dropped);
      if (M && !test_is_ranks()) check_inverse(M, matrix, &m, components);
      for (int64_t k = 0; k < ref_nonzeros(&m); k++) m.values[k] *= 3;
      const ts_csr other = ref_csr(&m);
      CHECK_OK(context, ts_matrix_set_values(matrix, &other));
      CHECK_OK(context, ts_preconditioner_update(M));
      if (M && !test_is_ranks()) check_inverse(M, matrix, &m, components);
      ts_preconditioner_destroy(&M);
      ts_matrix_destroy(&matrix);
      for (int64_t k = 0; k < ref_nonzeros(&m); k++) m.values[k] /= -3;
    }
  ref_free(&m);
}

/* ---- Symmetry ---- */

/* x M^-1 y = y M^-1 x up to rounding to floats, and x M^-1 x > 0. */
static void check_symmetry(const ref_matrix *m, const ts_preconditioner_desc *desc) {
  const size_t n = (size_t)m->rows;
  ts_matrix *matrix = make_with_copy(m, NULL, TS_FORMAT_AUTO);
  ts_preconditioner *M = make_preconditioner(matrix, desc);
  CHECK(!M || preconditioner_info(M).symmetric);
  float *x = ref_values(n, 5, -1, 1), *y = ref_values(n, 6, -1, 1);
  float *Mx = apply_to(M, ts_matrix_get_row_space(matrix), 1, x),
        *My = apply_to(M, ts_matrix_get_row_space(matrix), 1, y);
  double size, other_size;
  const double one = ref_dot(n, 1, 0, x, My, &size), other = ref_dot(n, 1, 0, y, Mx, &other_size);
  CHECK(fabs(one - other) <= 1e-6 * (size + other_size));
  CHECK(ref_dot(n, 1, 0, x, Mx, &size) > 0 && ref_dot(n, 1, 0, y, My, &size) > 0);
  free(x), free(y), free(Mx), free(My);
  ts_preconditioner_destroy(&M);
  ts_matrix_destroy(&matrix);
}

static void symmetric_and_positive(void) {
  const ts_preconditioner_desc how[] = {{.kind = TS_PRECONDITIONER_IC},
                                        {.kind = TS_PRECONDITIONER_IC, .levels = -1},
                                        {.kind = TS_PRECONDITIONER_IC, .levels = 1, .sweeps = 3},
                                        {.kind = TS_PRECONDITIONER_IC, .fill = 1.5, .drop_tolerance = 1e-6}};
  ref_matrix samples[] = {ref_grid(17, 12), ref_random_spd(200, 7, 3), ref_hubs(200, 60, 4),
                          ref_indefinite(12, 12)};
  for (int s = 0; s < 4; s++) {
    for (int k = 0; k < 4; k++) {
      test_context_label("sample %d, way %d", s, k);
      check_symmetry(&samples[s], &how[k]);
    }
    ref_free(&samples[s]);
  }
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

static void few_iterations(void) {
  unsigned char constrained[1600] = {0};
  for (int i = 0; i < 1600; i += 7) constrained[i] = 1;
  ref_matrix m = ref_laplacian_3d(11), grid = ref_grid(40, 40);
  const ts_preconditioner_desc usual = {.kind = TS_PRECONDITIONER_IC},
                               no_fill = {.kind = TS_PRECONDITIONER_IC, .levels = -1},
                               swept = {.kind = TS_PRECONDITIONER_IC, .sweeps = 6};
  const ts_method methods[] = {TS_METHOD_CG, TS_METHOD_MINRES};
  for (int k = 0; k < 2; k++) {
    test_context_label("%s", ts_method_name(methods[k]));
    check_solve(&m, NULL, methods[k], &usual, 9);
    check_solve(&m, NULL, methods[k], &no_fill, 15);
    check_solve(&m, NULL, methods[k], &swept, 14);
    check_solve(&grid, constrained, methods[k], &usual, 12);
  }
  ref_free(&m), ref_free(&grid);
}

/* ---- Refusals ---- */

#define INVALID(call, ...) CHECK_FAILS(context, call, TS_ERROR_INVALID_ARGUMENT, __VA_ARGS__)
#define IC(...) (&(ts_preconditioner_desc){.kind = TS_PRECONDITIONER_IC, __VA_ARGS__})

static void errors(void) {
  ref_matrix wind = ref_convection(6, 6, 1), m = ref_grid(6, 6);
  ts_matrix *skewed = make_with_copy(&wind, NULL, TS_FORMAT_AUTO), *matrix = NULL;
  ts_preconditioner *M = NULL;
  INVALID(ts_preconditioner_create(skewed, IC(.fill = 2), &M), "ic needs a symmetric matrix", "differ");
  matrix = make_with_copy(&m, NULL, TS_FORMAT_AUTO);
  INVALID(ts_preconditioner_create(matrix, IC(.fill = 0.5), &M), "fill is 0.5");
  INVALID(ts_preconditioner_create(matrix, IC(.levels = -2), &M), "levels is -2");
  INVALID(ts_preconditioner_create(matrix, IC(.levels = 1, .fill = 2), &M), "levels is 1", "fill");
  INVALID(ts_preconditioner_create(matrix, IC(.scaling = TS_SCALING_NONE), &M), "scaling is set", "ic");
  ts_matrix_destroy(&matrix);
  for (int32_t k = m.offsets[8]; k < m.offsets[9]; k++)
    if (m.indices[k] == 8) m.values[k] = -1;
  matrix = make_with_copy(&m, NULL, TS_FORMAT_AUTO);
  INVALID(ts_preconditioner_create(matrix, IC(.fill = 2), &M), "ic needs a matrix that is positive", "has -1");
  CHECK(M == NULL);
  ts_matrix_destroy(&matrix);
  ts_matrix_destroy(&skewed);
  ref_free(&wind), ref_free(&m);
}

TEST_MAIN(CASES_IN_CONTEXT(nothing_is_dropped, symmetric_and_positive, few_iterations, errors))
