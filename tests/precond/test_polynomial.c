/* Polynomials in D^-1 A compared with their exact values at each eigenvalue, and estimates of the largest
 * eigenvalue. */
#include "common/precond/polynomial.h"

#include "common/core/core.h"
#include "grid_samples.h"
#include "grid_solve.h"
#include "helpers.h"

static ts_context *context;

/* ---- Polynomials ---- */

enum { ROWS = 40, MOST = 16 };

/* T_k for any argument. */
static double first_kind(int k, double x) {
  return fabs(x) <= 1 ? cos(k * acos(x)) : (x < 0 && k % 2 ? -1 : 1) * cosh(k * acosh(fabs(x)));
}

/* W_k: sin((k + 1/2) t) / sin(t / 2) with x = cos t. */
static double fourth_kind(int k, double x) {
  const double t = acos(x);
  return t < 1e-6 ? 2 * k + 1 : sin((k + 0.5) * t) / sin(t / 2);
}

/* The factor that remains of an error in the direction of an eigenvalue. */
static double error_left(int fourth, int degree, double eigenvalue, double largest, double ratio) {
  const double smallest = largest / ratio, middle = (largest + smallest) / 2, half = (largest - smallest) / 2;
  if (fourth) return fourth_kind(degree, 1 - 2 * eigenvalue / largest) / (2 * degree + 1);
  return first_kind(degree, (middle - eigenvalue) / half) / first_kind(degree, middle / half);
}

static void check_smoothing(const ts_matrix *A, const float *eigenvalues, int components, int fourth,
                            int degree, int from_zero) {
  ts_space *space = ts_matrix_get_row_space(A);
  const double largest = eigenvalues[ROWS - 1], ratio = 7;
  float ones[ROWS * 4], *bs = ref_values(ROWS * 4, 3, -1, 1), *xs = ref_values(ROWS * 4, 5, -1, 1);
  for (int i = 0; i < ROWS * 4; i++) ones[i] = 1;
  ts_vector *inverse = make_vector(space, components, ones), *b = make_vector(space, components, bs);
  ts_vector *x = make_vector(space, components, xs), *r = make_vector(space, components, NULL), *d = NULL;
  d = make_vector(space, components, NULL);
  tsi_polynomial_step steps[MOST];
  if (fourth)
    tsi_polynomial_fourth_kind(degree, largest, steps);
  else
    tsi_polynomial_first_kind(degree, largest, ratio, steps);
  CHECK_OK(context, tsi_enter(context));
  CHECK_OK(context,
           tsi_leave(context, tsi_polynomial_smooth(steps, degree, A, inverse, x, b, r, d, from_zero)));
  CHECK_PADDING(x);
  float *got = read_vector(x);
  double worst = 0;
  for (int i = 0; i < ROWS * components; i++) {
    const double eigenvalue = eigenvalues[i / components], solution = (double)bs[i] / eigenvalue;
    const double start = from_zero ? 0 : (double)xs[i];
    const double left = error_left(fourth, degree, eigenvalue, largest, ratio);
    const double wanted = solution + left * (start - solution);
    worst = fmax(worst, fabs((double)got[i] - wanted) / (1 + fabs(solution)));
  }
  test_context_label("%s, %s kind, degree %d, %d components, %s", ts_format_name(matrix_info(A).format),
                     fourth ? "fourth" : "first", degree, components, from_zero ? "from 0" : "from x");
  CHECK_CLOSE(worst, 0, 2e-6 * degree);
  free(got), free(bs), free(xs);
  ts_vector_destroy(&inverse);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  ts_vector_destroy(&r);
  ts_vector_destroy(&d);
}

/* A diagonal matrix has its eigenvalues on the diagonal, and with D = I they are those of D^-1 A. */
static void polynomials(void) {
  const int degrees[] = {1, 2, 3, 7, MOST};
  ref_matrix m = ref_diagonal(ROWS, 0.02f, 1.9f);
  ts_format formats[8];
  const int format_count = list_formats(context, formats);
  for (int f = 0; f < format_count; f++) {
    ts_matrix *A = make_matrix(context, &m, formats[f]);
    for (int k = 0; A && k < 5; k++)
      for (int fourth = 0; fourth < 2; fourth++)
        for (int from_zero = 0; from_zero < 2; from_zero++)
          for (int components = 1; components <= most_components(formats[f]); components++)
            check_smoothing(A, m.values, components, fourth, degrees[k], from_zero);
    ts_matrix_destroy(&A);
  }
  ref_free(&m);
}

/* ---- Eigenvalues ---- */

/* Without the safety factor the estimate is at most 4 % too small, and too large only by rounding. */
static void check_eigenvalue(const ts_matrix *A, const char *name, double largest, double below) {
  ts_space *space = ts_matrix_get_row_space(A);
  ts_vector *vectors[4];
  for (int k = 0; k < 4; k++) vectors[k] = make_vector(space, 1, NULL);
  ts_scalars *slots = make_scalars(context, TSI_EIGENVALUE_SLOTS + 2);
  double numbers[4 * TSI_EIGENVALUE_SLOTS];
  CHECK_OK(context, tsi_eigenvalue_start(A, vectors[1]));
  CHECK_OK(context, tsi_enter(context));
  CHECK_OK(context, tsi_leave(context, tsi_diagonal(vectors[0], A)));
  CHECK_OK(context, ts_vector_reciprocal(vectors[0], vectors[0]));
  const uint64_t before = context->host_synchronisations;
  CHECK_OK(context, tsi_enter(context));
  CHECK_OK(context, tsi_leave(context, tsi_eigenvalue_begin(A, vectors[0], vectors[1], vectors[2], vectors[3],
                                                            slots, 2)));
  CHECK_INT(context->host_synchronisations - before, 0);
  CHECK_OK(context, tsi_enter(context));
  CHECK_OK(context, tsi_leave(context, tsi_scalars_read(slots, 2, TSI_EIGENVALUE_SLOTS, numbers)));
  const double estimate = tsi_eigenvalue_end(A, 1, numbers);
  test_context_label("%s: %g of %g", name, estimate, largest);
  CHECK(estimate >= 1.1 * below * largest && estimate <= 1.1 * 1.001 * largest);
  for (int k = 0; k < 4; k++) ts_vector_destroy(&vectors[k]);
  ts_scalars_destroy(&slots);
}

static void check_matrix(ref_matrix m, const char *name, double largest, double below) {
  ts_format formats[8];
  const int format_count = list_formats(context, formats);
  for (int f = 0; f < format_count; f++) {
    ts_matrix *A = make_matrix(context, &m, formats[f]);
    if (A) check_eigenvalue(A, name, largest, below);
    ts_matrix_destroy(&A);
  }
  ref_free(&m);
}

static ref_matrix scaled(ref_matrix m, float factor) {
  for (int64_t k = 0; k < ref_nonzeros(&m); k++) m.values[k] *= factor;
  return m;
}

static void eigenvalues(void) {
  const double pi = acos(-1);
  check_matrix(ref_laplacian_3d(12), "Laplacian", 1 + cos(pi / 13), 0.96);
  check_matrix(scaled(ref_laplacian_3d(12), 0x1p100f), "large Laplacian", 1 + cos(pi / 13), 0.96);
  check_matrix(scaled(ref_laplacian_3d(12), 0x1p-100f), "small Laplacian", 1 + cos(pi / 13), 0.96);
  check_matrix(scaled(ref_laplacian_3d(7), -1), "negative Laplacian", 1 + cos(pi / 8), 0.96);
  check_matrix(ref_diagonal(1, 3, 3), "one row", 1, 0.999);
  check_matrix(ref_diagonal(5000, 1e-3f, 1e3f), "diagonal", 1, 0.999);
  check_matrix(ref_dense(1, 1, 3), "one number", 1, 0.999);
  /* I + S / 4 with a skew S: the eigenvalues are on a line through 1, up to about 1 + i / 2. */
  check_matrix(ref_shifted_skew(500, 4), "complex eigenvalues", sqrt(1.25), 0.9);
  if (!context->caps.grid_storages) return;
  grid_sample sample = grid_poisson(&(grid_problem){30, 30, "DDDD", NULL, NULL, 0});
  ts_matrix *A = make_stencil(context, &sample);
  if (A) check_eigenvalue(A, "stencil", 2, 0.9);
  ts_matrix_destroy(&A);
  grid_free(&sample);
}

TEST_MAIN(CASES_IN_CONTEXT(polynomials, eigenvalues))
