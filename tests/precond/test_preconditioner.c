/* Every method with every preconditioner, standalone preconditioners, and what is refused. */
#include <texsolve/amg.h>
#include <texsolve/solver.h>

#include "common/core/core.h"
#include "krylov_solve.h"
#include "grid_samples.h"
#include "grid_solve.h"

static ts_context *context;

static const ts_method square_methods[] = {TS_METHOD_CG, TS_METHOD_BICGSTAB, TS_METHOD_GMRES, TS_METHOD_IDR};
enum { SQUARE_METHODS = 4 };

/* ---- Application ---- */

static ts_matrix *make_with_copy(const ref_matrix *m, ts_format format) {
  const ts_matrix_desc desc = {.csr = ref_csr(m), .format = format, .keep_host_copy = 1};
  ts_matrix *matrix = NULL;
  CHECK_OK(context, ts_matrix_create(context, &desc, &matrix));
  return matrix;
}

static double entry(const ref_matrix *m, int32_t i, int32_t j) {
  double sum = 0;
  for (int32_t k = m->offsets[i]; k < m->offsets[i + 1]; k++)
    if (m->indices[k] == j) sum += m->values[k];
  return sum;
}

/* M z = r for blocks of n rows of A, in double precision. */
static void check_blocks(const ref_matrix *m, int n, int components, const float *rs, const float *zs) {
  double worst = 0, size = 0;
  for (int32_t i = 0; i < m->rows; i++)
    for (int c = 0; c < components; c++) {
      double sum = 0;
      const int32_t first = i / n * n;
      for (int32_t j = first; j < first + n && j < m->rows; j++)
        sum += entry(m, i, j) * (double)zs[j * components + c];
      worst = fmax(worst, fabs(sum - (double)rs[i * components + c]));
      size = fmax(size, fabs((double)rs[i * components + c]));
    }
  CHECK_CLOSE(worst, 0, 2e-5 * size);
}

static void block_jacobi(void) {
  ts_format formats[8];
  const int format_count = list_formats(context, formats);
  ref_matrix m = ref_grid(7, 5), scaled = ref_grid(7, 5);
  for (int64_t k = 0; k < ref_nonzeros(&m); k++) scaled.values[k] *= 3;
  for (int f = 0; f < format_count; f++) {
    ts_matrix *matrix = make_with_copy(&m, formats[f]);
    const int components = most_components(formats[f]) < 3 ? 1 : 3;
    const int sizes[] = {0, 2, 3, 16};
    for (size_t s = 0; s < (formats[f] == TS_FORMAT_BCRS2 || formats[f] == TS_FORMAT_BCRS4 ? 1 : 4); s++) {
      ts_preconditioner *M = make_preconditioner(
          matrix, &(ts_preconditioner_desc){.kind = TS_PRECONDITIONER_BLOCK_JACOBI, .block_size = sizes[s]});
      const int n = sizes[s] ? sizes[s] : formats[f] == TS_FORMAT_BCRS2 ? 2 : 4;
      float *rs = ref_values(35 * 3, 5, -1, 1);
      ts_space *space = ts_matrix_get_row_space(matrix);
      ts_vector *r = make_vector(space, components, rs), *z = make_vector(space, components, NULL);
      test_context_label("%s, blocks of %d", ts_format_name(formats[f]), n);
      for (int round = 0; M && round < 2; round++) {
        const ts_csr values = ref_csr(round ? &scaled : &m);
        CHECK_OK(context, ts_matrix_set_values(matrix, &values));
        CHECK_OK(context, ts_preconditioner_update(M));
        CHECK_OK(context, ts_preconditioner_apply(M, z, r));
        CHECK_PADDING(z);
        float *zs = read_vector(z);
        check_blocks(round ? &scaled : &m, n, components, rs, zs);
        free(zs);
      }
      ts_preconditioner_destroy(&M);
      ts_vector_destroy(&r);
      ts_vector_destroy(&z);
      free(rs);
    }
    ts_matrix_destroy(&matrix);
  }
  ref_free(&m);
  ref_free(&scaled);
}

static double sum_of_products(const float *a, const float *b, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += (double)a[i] * (double)b[i];
  return sum;
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

/* With degree 1, M^-1 is a multiple of D^-1. With any degree it is symmetric and positive, and is divided by 3
 * if the matrix is multiplied by 3. */
static void check_chebyshev(ts_matrix *matrix, const ref_matrix *m, const ref_matrix *scaled, int components,
                            int degree) {
  const size_t count = (size_t)m->rows * (size_t)components;
  const ts_csr values[2] = {ref_csr(m), ref_csr(scaled)};
  ts_preconditioner *M = make_preconditioner(
      matrix, &(ts_preconditioner_desc){.kind = TS_PRECONDITIONER_CHEBYSHEV, .degree = degree});
  if (!M) return;
  ts_space *space = ts_matrix_get_row_space(matrix);
  float *u = ref_values(count, 5, 0.1f, 1), *v = ref_values(count, 6, -1, 1);
  float *Mu = apply_to(M, space, components, u), *Mv = apply_to(M, space, components, v);
  CHECK(sum_of_products(u, Mu, count) > 0 && sum_of_products(v, Mv, count) > 0);
  CHECK_CLOSE(sum_of_products(u, Mv, count), sum_of_products(v, Mu, count),
              1e-5 * sum_of_products(u, Mu, count));
  const double factor = (double)Mu[0] / (double)u[0] * entry(m, 0, 0);
  for (size_t i = 0; i < count && degree == 1; i++) {
    const int32_t row = (int32_t)(i / (size_t)components);
    CHECK_CLOSE((double)Mu[i] * entry(m, row, row), factor * (double)u[i], 1e-6);
  }
  CHECK_OK(context, ts_matrix_set_values(matrix, &values[1]));
  const uint64_t before = context->host_synchronisations;
  CHECK_OK(context, ts_preconditioner_update(M));
  CHECK_INT(context->host_synchronisations - before, 1);
  float *third = apply_to(M, space, components, u);
  for (size_t i = 0; i < count; i++) CHECK_CLOSE(3 * (double)third[i], Mu[i], 1e-5);
  CHECK_OK(context, ts_matrix_set_values(matrix, &values[0]));
  free(third), free(Mu), free(Mv), free(u), free(v);
  ts_preconditioner_destroy(&M);
}

static void chebyshev(void) {
  ts_format formats[8];
  const int format_count = list_formats(context, formats), degrees[] = {0, 1, 5, 16};
  ref_matrix m = ref_random_spd(90, 3, 4), scaled = ref_random_spd(90, 3, 4);
  for (int64_t k = 0; k < ref_nonzeros(&m); k++) scaled.values[k] *= 3;
  for (int f = 0; f < format_count; f++) {
    ts_matrix *matrix = make_matrix(context, &m, formats[f]);
    for (int components = 1; components <= most_components(formats[f]); components += 2)
      for (int k = 0; k < 4; k++) {
        test_context_label("%s, degree %d, %d components", ts_format_name(formats[f]), degrees[k], components);
        check_chebyshev(matrix, &m, &scaled, components, degrees[k]);
      }
    ts_matrix_destroy(&matrix);
  }
  ref_free(&m);
  ref_free(&scaled);
}

/* A stencil with points without an equation. M^-1 r is 0 there. */
static void chebyshev_of_a_stencil(void) {
  if (!context->caps.grid_storages) return;
  grid_sample sample = grid_poisson(&(grid_problem){40, 33, "DHND", NULL, NULL, 0});
  const size_t points = grid_points(&sample);
  ts_matrix *matrix = make_stencil(context, &sample);
  ts_preconditioner *M =
      make_preconditioner(matrix, &(ts_preconditioner_desc){.kind = TS_PRECONDITIONER_CHEBYSHEV});
  float *bs = ref_values(points, 7, -1, 1), *zs = apply_to(M, ts_matrix_get_row_space(matrix), 1, bs);
  for (size_t i = 0; i < points; i++) CHECK(grid_has_equation(&sample, i) || zs[i] == 0);
  ts_vector *b = make_vector(ts_matrix_get_row_space(matrix), 1, bs), *x = NULL;
  x = make_vector(ts_matrix_get_row_space(matrix), 1, NULL);
  ts_result jacobi, result;
  CHECK_OK(context, solve_vectors(matrix, b, x, NULL, &jacobi));
  CHECK_OK(context, ts_vector_fill(x, 0));
  CHECK_OK(context, solve_vectors(matrix, b, x, &(ts_solver_desc){.preconditioner = M}, &result));
  CHECK(result.iterations < jacobi.iterations);
  free(bs), free(zs);
  ts_preconditioner_destroy(&M);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  ts_matrix_destroy(&matrix);
  grid_free(&sample);
}

/* ---- Approximate inverses ---- */

/* If the pattern is full, the approximate inverse is exact: A z = r. */
static void check_full(const ref_matrix *m, ts_format format, int components) {
  ts_matrix *matrix = make_with_copy(m, format);
  ts_preconditioner *M = make_preconditioner(matrix, &(ts_preconditioner_desc){.kind = TS_PRECONDITIONER_ISAI});
  const size_t count = (size_t)m->rows * (size_t)components;
  float *rs = ref_values(count, 5, -1, 1), *zs = NULL;
  double *product = malloc(count * sizeof *product);
  if (M) zs = apply_to(M, ts_matrix_get_row_space(matrix), components, rs);
  if (zs) ref_spmv(m, NULL, components, zs, product, NULL);
  for (size_t i = 0; zs && i < count; i++) CHECK_CLOSE(product[i], (double)rs[i], 1e-4);
  free(rs), free(zs), free(product);
  ts_preconditioner_destroy(&M);
  ts_matrix_destroy(&matrix);
}

/* Symmetric and positive if A is, and divided by 3 if A is multiplied by 3. */
static void check_symmetric_isai(const ref_matrix *m, const ref_matrix *scaled, ts_format format,
                                 int components) {
  const size_t count = (size_t)m->rows * (size_t)components;
  const ts_csr other = ref_csr(scaled);
  ts_matrix *matrix = make_with_copy(m, format);
  ts_preconditioner *M = make_preconditioner(matrix, &(ts_preconditioner_desc){.kind = TS_PRECONDITIONER_ISAI});
  if (!M) return;
  ts_space *space = ts_matrix_get_row_space(matrix);
  float *u = ref_values(count, 5, 0.1f, 1), *v = ref_values(count, 6, -1, 1);
  float *Mu = apply_to(M, space, components, u), *Mv = apply_to(M, space, components, v);
  CHECK(sum_of_products(u, Mu, count) > 0 && sum_of_products(v, Mv, count) > 0);
  CHECK_CLOSE(sum_of_products(u, Mv, count), sum_of_products(v, Mu, count),
              1e-5 * sum_of_products(u, Mu, count));
  CHECK_OK(context, ts_matrix_set_values(matrix, &other));
  CHECK_OK(context, ts_preconditioner_update(M));
  float *third = apply_to(M, space, components, u);
  for (size_t i = 0; i < count; i++) CHECK_CLOSE(3 * (double)third[i], Mu[i], 1e-5 * (1 + fabs((double)Mu[i])));
  free(third), free(Mu), free(Mv), free(u), free(v);
  ts_preconditioner_destroy(&M);
  ts_matrix_destroy(&matrix);
}

static void isai(void) {
  ts_format formats[8];
  const int format_count = list_formats(context, formats);
  ref_matrix full = ref_dense(23, 23, 3), m = ref_random_spd(90, 3, 4), scaled = ref_random_spd(90, 3, 4);
  for (int32_t i = 0; i < 23; i++) full.values[full.offsets[i] + i] += 5;
  for (int64_t k = 0; k < ref_nonzeros(&m); k++) scaled.values[k] *= 3;
  for (int f = 0; f < format_count; f++)
    for (int components = 1; components <= most_components(formats[f]); components += 2) {
      test_context_label("%s, %d components", ts_format_name(formats[f]), components);
      check_full(&full, formats[f], components);
      check_symmetric_isai(&m, &scaled, formats[f], components);
    }
  ref_free(&full), ref_free(&m), ref_free(&scaled);
}

/* If new values make a matrix indefinite or unsymmetric, M becomes unsymmetric. */
static void isai_of_new_values(void) {
  ref_matrix m = ref_random_spd(90, 3, 4);
  ts_matrix *matrix = make_with_copy(&m, TS_FORMAT_AUTO);
  ts_vector *b = make_vector(ts_matrix_get_row_space(matrix), 1, NULL), *x = NULL;
  ts_solver *cg = NULL;
  x = make_vector(ts_matrix_get_row_space(matrix), 1, NULL);
  CHECK_OK(context, ts_vector_fill(b, 1));
  CHECK_OK(context, create_solver(matrix, TS_METHOD_CG,
                                  &(ts_solver_desc){.preconditioner_kind = TS_PRECONDITIONER_ISAI}, &cg));
  CHECK_OK(context, ts_solver_solve(cg, b, x, NULL));
  for (int32_t i = 40; i < 90; i++)
    for (int32_t k = m.offsets[i]; k < m.offsets[i + 1]; k++)
      if (m.indices[k] == i) m.values[k] *= -1;
  const ts_csr csr = ref_csr(&m);
  CHECK_OK(context, ts_matrix_set_values(matrix, &csr));
  CHECK_FAILS(context, ts_solver_solve(cg, b, x, NULL), TS_ERROR_INVALID_ARGUMENT, "positive definite");
  ts_result result;
  const ts_solver_desc desc = {.method = TS_METHOD_BICGSTAB, .preconditioner_kind = TS_PRECONDITIONER_ISAI};
  CHECK_OK(context, solve_vectors(matrix, b, x, &desc, &result));
  CHECK(result.iterations < 20);
  ts_solver_destroy(&cg);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

/* A saddle-point system (K B; B^T 0). The equations of the pressures have no diagonal entry. */
static ref_matrix saddle_point(int32_t nx, int32_t ny) {
  ref_matrix K = ref_grid(nx, ny);
  const int32_t n = K.rows, pairs = n / 2;
  const int64_t entries = ref_nonzeros(&K) + 4 * (int64_t)pairs;
  ref_matrix m = {.rows = n + pairs, .columns = n + pairs};
  m.offsets = malloc(((size_t)m.rows + 1) * sizeof *m.offsets);
  m.indices = malloc((size_t)entries * sizeof *m.indices);
  m.values = malloc((size_t)entries * sizeof *m.values);
  int32_t next = 0;
  for (int32_t i = 0; i < m.rows; i++) {
    m.offsets[i] = next;
    for (int32_t k = i < n ? K.offsets[i] : 0; i < n && k < K.offsets[i + 1]; k++, next++) {
      m.indices[next] = K.indices[k];
      m.values[next] = K.values[k] + (K.indices[k] > i ? 0.1f : 0);
    }
    for (int32_t k = 0; k < (i < n ? i / 2 < pairs : 2); k++, next++) {
      m.indices[next] = i < n ? n + i / 2 : 2 * (i - n) + k;
      m.values[next] = (i < n ? i : k) % 2 ? -1 : 1.5f;
    }
  }
  m.offsets[m.rows] = next;
  ref_free(&K);
  return m;
}

static void check_fewer(const ref_matrix *m, const unsigned char *constrained, ts_method method,
                        ts_preconditioner_kind than, const char *name) {
  const ts_matrix_desc desc = {.csr = ref_csr(m), .keep_host_copy = 1, .constrained = constrained};
  ts_matrix *matrix = NULL;
  CHECK_OK(context, ts_matrix_create(context, &desc, &matrix));
  float *bs = ref_values((size_t)m->rows, 9, -1, 1), *xs[2];
  ts_result results[2];
  for (int k = 0; k < 2; k++) {
    ts_vector *b = make_vector(ts_matrix_get_row_space(matrix), 1, bs), *x = NULL;
    x = make_vector(ts_matrix_get_row_space(matrix), 1, NULL);
    const ts_solver_desc how = {
        .method = method, .preconditioner_kind = k ? TS_PRECONDITIONER_ISAI : than, .check_interval = 1};
    const ts_status status = solve_vectors(matrix, b, x, &how, &results[k]);
    xs[k] = read_vector(x);
    test_context_label("%s, %s", name, ts_preconditioner_kind_name(how.preconditioner_kind));
    CHECK(status == TS_OK || (k == 0 && status == TS_NOT_CONVERGED));
    ts_vector_destroy(&b);
    ts_vector_destroy(&x);
  }
  test_context_label("%s: %d and %d iterations", name, results[0].iterations, results[1].iterations);
  CHECK(results[1].iterations < results[0].iterations);
  CHECK(ref_relative_residual(m, constrained, 1, 0, xs[1], bs) < 2e-5);
  for (int32_t i = 0; constrained && i < m->rows; i++) CHECK(!constrained[i] || xs[1][i] == 0);
  free(bs), free(xs[0]), free(xs[1]);
  ts_matrix_destroy(&matrix);
}

/* One row and one column with singular submatrices, next to regular ones. */
static void isai_of_singular_parts(void) {
  ref_matrix m = ref_convection(12, 12, 2);
  for (int32_t k = m.offsets[50]; k < m.offsets[51]; k++)
    if (m.indices[k] <= 50) m.values[k] = 0;
  for (int32_t i = 0; i < 2; i++)
    for (int32_t k = m.offsets[i]; k < m.offsets[i + 1]; k++)
      m.values[k] = m.indices[k] == i || m.indices[k] == 12 + i ? 1 : 0;
  ts_matrix *matrix = make_with_copy(&m, TS_FORMAT_AUTO);
  ts_preconditioner *M = make_preconditioner(matrix, &(ts_preconditioner_desc){.kind = TS_PRECONDITIONER_ISAI});
  float *rs = ref_values((size_t)m.rows, 5, -1, 1);
  float *zs = M ? apply_to(M, ts_matrix_get_row_space(matrix), 1, rs) : NULL;
  for (int32_t i = 0; zs && i < m.rows; i++) CHECK(fabs((double)zs[i]) < 1e6);
  free(rs), free(zs);
  ts_preconditioner_destroy(&M);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

static void isai_iterations(void) {
  unsigned char constrained[900] = {0};
  for (int i = 0; i < 900; i += 7) constrained[i] = 1;
  ref_matrix samples[] = {ref_grid(30, 30), ref_convection(30, 30, 3), saddle_point(16, 16), ref_arrow(300)};
  check_fewer(&samples[0], NULL, TS_METHOD_CG, TS_PRECONDITIONER_JACOBI, "grid");
  check_fewer(&samples[0], constrained, TS_METHOD_CG, TS_PRECONDITIONER_JACOBI, "grid with constrained rows");
  check_fewer(&samples[1], NULL, TS_METHOD_BICGSTAB, TS_PRECONDITIONER_JACOBI, "convection");
  check_fewer(&samples[1], constrained, TS_METHOD_GMRES, TS_PRECONDITIONER_JACOBI, "convection, constrained");
  check_fewer(&samples[2], NULL, TS_METHOD_BICGSTAB, TS_PRECONDITIONER_NONE, "saddle point");
  check_fewer(&samples[3], NULL, TS_METHOD_CG, TS_PRECONDITIONER_NONE, "a row with many entries");
  for (int k = 0; k < 4; k++) ref_free(&samples[k]);
}

/* ---- Solves ---- */

/* z = r / diag(A) with the library's functions, which equals Jacobi. */
typedef struct own_jacobi {
  ts_vector *inverse;
  int calls, fail_at;
} own_jacobi;

static ts_status apply_own(void *user, ts_vector *z, const ts_vector *r) {
  own_jacobi *own = user;
  if (++own->calls == own->fail_at) return ts_vector_copy(z, NULL);
  return ts_vector_multiply(z, own->inverse, r);
}

static own_jacobi make_own(ts_matrix *matrix, int components) {
  own_jacobi own = {.inverse = make_vector(ts_matrix_get_row_space(matrix), components, NULL)};
  CHECK_OK(context, ts_matrix_diagonal(own.inverse, matrix));
  CHECK_OK(context, ts_vector_reciprocal(own.inverse, own.inverse));
  return own;
}

static ts_result solve_with(const ref_matrix *m, ts_matrix *matrix, ts_solver_desc desc, double rtol) {
  const size_t count = (size_t)m->rows * 2;
  float *bs = ref_values(count, 9, -1, 1), *xs = calloc(count, sizeof *xs);
  ts_result result = {0};
  desc.rtol = rtol;
  desc.check_interval = 1;
  ts_vector *b = make_vector(ts_matrix_get_row_space(matrix), 2, bs), *x = NULL;
  x = make_vector(ts_matrix_get_row_space(matrix), 2, NULL);
  CHECK_OK(context, solve_vectors(matrix, b, x, &desc, &result));
  CHECK_INT(result.reason, TS_REASON_CONVERGED);
  CHECK_INT(result.method, desc.method);
  float *solution = read_vector(x);
  CHECK(ref_worst_residual(m, NULL, 2, solution, bs) <= 1.2 * rtol);
  CHECK_PADDING(x);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  free(solution), free(bs), free(xs);
  return result;
}

/* ---- Auto ---- */

/* Auto becomes `kind` and gives the reason. A solver's auto does the same. */
static void check_auto(const ref_matrix *m, int keep, const unsigned char *constrained,
                       ts_preconditioner_kind kind, const char *why) {
  const ts_preconditioner_desc automatic = {.kind = TS_PRECONDITIONER_AUTO};
  const ts_matrix_desc desc = {.csr = ref_csr(m), .keep_host_copy = keep, .constrained = constrained};
  ts_matrix *matrix = NULL;
  ts_solver *solver = NULL;
  test_context_label("%d rows, %s", m->rows, why);
  CHECK_OK(context, ts_matrix_create(context, &desc, &matrix));
  ts_preconditioner *M = make_preconditioner(matrix, &automatic);
  CHECK(preconditioner_info(M).kind == kind);
  CHECK(strstr(preconditioner_info(M).choice, ts_preconditioner_kind_name(kind)) != NULL);
  CHECK(strstr(preconditioner_info(M).choice, why) != NULL);
  ts_amg_info info;
  CHECK(ts_preconditioner_get_amg_info(M, &info) ==
        (kind == TS_PRECONDITIONER_AMG ? TS_OK : TS_ERROR_INVALID_ARGUMENT));
  CHECK_OK(context, ts_preconditioner_update(M));
  CHECK(preconditioner_info(M).kind == kind);
  CHECK_OK(context,
           ts_solver_create(matrix, &(ts_solver_desc){.preconditioner_kind = TS_PRECONDITIONER_AUTO}, &solver));
  CHECK(preconditioner_info(ts_solver_get_preconditioner(solver)).kind == kind);
  ts_solver_destroy(&solver);
  ts_preconditioner_destroy(&M);
  ts_matrix_destroy(&matrix);
}

/* Rows are coupled equally with `reach` rows on each side. If `reach` is large, each coupling is small compared
 * with the diagonal. */
static ref_matrix band(int32_t n, int32_t reach) {
  ref_matrix m = {.rows = n, .columns = n};
  m.offsets = malloc(((size_t)n + 1) * sizeof *m.offsets);
  m.indices = malloc((size_t)n * (size_t)(2 * reach + 1) * sizeof *m.indices);
  m.values = malloc((size_t)n * (size_t)(2 * reach + 1) * sizeof *m.values);
  int32_t k = 0;
  for (int32_t i = 0; i < n; i++) {
    m.offsets[i] = k;
    for (int32_t j = i > reach ? i - reach : 0; j < n && j <= i + reach; j++) {
      m.indices[k] = j;
      m.values[k++] = i == j ? (float)(2 * reach) : -1.0f;
    }
  }
  m.offsets[n] = k;
  return m;
}

static void automatic(void) {
  ref_matrix small = ref_graph(90, 90), wide = ref_graph(130, 130), large = ref_graph(50, 400);
  ref_matrix narrow = band(16384, 1), spread = band(16384, 16), skewed = ref_skewed_grid(60, 300);
  if (context->device_ops->arrays) /* a device that creates layouts needs no copies */
    CHECK_OK(context, ts_context_set_tuning(context, "device_entries", 1e15));
  CHECK_OK(context, ts_context_set_tuning(context, "amg_couplings", 256)); /* depends on the backend */
  CHECK_OK(context, ts_context_set_tuning(context, "diagonals_part", 1));  /* likewise */
  check_auto(&small, 1, NULL, TS_PRECONDITIONER_JACOBI, "8100 rows, less than 8192");
  check_auto(&wide, 1, NULL, TS_PRECONDITIONER_JACOBI, ", less than 256");
  check_auto(&large, 1, NULL, TS_PRECONDITIONER_AMG, ", at least 256");
  ref_add_jumps(&wide);
  check_auto(&wide, 1, NULL, TS_PRECONDITIONER_AMG, ", jumping coefficients, at least 64");
  check_auto(&narrow, 1, NULL, TS_PRECONDITIONER_AMG, ", at least 256");
  check_auto(&spread, 1, NULL, TS_PRECONDITIONER_AMG, ", at least 256");
  check_auto(&skewed, 1, NULL, TS_PRECONDITIONER_ILU, "not symmetric");
  check_auto(&skewed, 0, NULL, TS_PRECONDITIONER_ILU, "not symmetric");
  check_auto(&skewed, -1, NULL, TS_PRECONDITIONER_JACOBI, "not symmetric, and has no host copy");
  for (int32_t i = 0; i < skewed.rows; i++)
    for (int32_t k = skewed.offsets[i]; k < skewed.offsets[i + 1]; k++)
      if (skewed.indices[k] == i) skewed.values[k] *= 3;
  check_auto(&skewed, 0, NULL, TS_PRECONDITIONER_JACOBI, "not symmetric, and its diagonal is dominant");
  check_auto(&large, -1, NULL, TS_PRECONDITIONER_JACOBI, "no host copy");
  unsigned char *constrained = calloc((size_t)large.rows, 1);
  constrained[7] = 1;
  check_auto(&large, 1, constrained, TS_PRECONDITIONER_JACOBI, "constrained rows");
  /* First a row that the choice does not sample, then the first one that it samples. */
  for (int32_t i = 9000; i >= 0; i -= 9000) {
    for (int32_t k = large.offsets[i]; k < large.offsets[i + 1]; k++)
      if (large.indices[k] == i) large.values[k] *= -1;
    check_auto(&large, 1, NULL, TS_PRECONDITIONER_JACOBI,
               i ? "positive on the diagonal; row 9000 has -" : "row 0 is not positive on the diagonal");
  }
  for (int64_t k = 0; k < ref_nonzeros(&wide); k++)
    if (wide.values[k] > 0) wide.values[k] *= 1.01f;
  check_auto(&wide, 1, NULL, TS_PRECONDITIONER_JACOBI, "constants are far from the null space");
  /* Other kinds report no choice. A solver accepts either a kind or a preconditioner. */
  ts_matrix *matrix = make_with_copy(&small, TS_FORMAT_AUTO);
  ts_preconditioner *M =
      make_preconditioner(matrix, &(ts_preconditioner_desc){.kind = TS_PRECONDITIONER_JACOBI});
  ts_solver *solver = NULL;
  CHECK(preconditioner_info(M).choice[0] == 0);
  CHECK_FAILS(
      context,
      ts_solver_create(matrix,
                       &(ts_solver_desc){.preconditioner_kind = TS_PRECONDITIONER_JACOBI, .preconditioner = M},
                       &solver),
      TS_ERROR_INVALID_ARGUMENT, "both set");
  ts_preconditioner_destroy(&M);
  ts_matrix_destroy(&matrix);
  free(constrained);
  ref_free(&small), ref_free(&wide), ref_free(&large), ref_free(&narrow), ref_free(&spread), ref_free(&skewed);
}

/* ---- Iterations ---- */

/* If a solve takes many iterations, a polynomial of degree 4 takes a third to a quarter of them. */
static void fewer_iterations(void) {
  ref_matrix m = ref_laplacian_3d(17);
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  for (int k = 0; k < SQUARE_METHODS && matrix; k++) {
    ts_solver_desc desc = {.method = square_methods[k]};
    const ts_result jacobi = solve_with(&m, matrix, desc, 1e-5);
    desc.preconditioner_kind = TS_PRECONDITIONER_CHEBYSHEV;
    const ts_result polynomial = solve_with(&m, matrix, desc, 1e-5);
    test_context_label("%s: %d and %d iterations", ts_method_name(desc.method), jacobi.iterations,
                       polynomial.iterations);
    CHECK(2 * polynomial.iterations < jacobi.iterations);
  }
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

/* Blocks with strong couplings inside and weak couplings between them, which suit block Jacobi. */
static ref_matrix strong_blocks(int32_t n) {
  ref_matrix m = ref_random_spd(n, 3, 4);
  for (int32_t i = 0; i < n; i++)
    for (int32_t k = m.offsets[i]; k < m.offsets[i + 1]; k++)
      if (m.indices[k] / 4 != i / 4) m.values[k] *= 0.02f;
  return m;
}

static void every_method(void) {
  ref_matrix m = strong_blocks(400);
  ts_matrix *matrix = make_with_copy(&m, TS_FORMAT_AUTO);
  own_jacobi own = make_own(matrix, 2);
  ts_preconditioner *custom = make_preconditioner(
      matrix, &(ts_preconditioner_desc){
                  .kind = TS_PRECONDITIONER_CUSTOM, .apply = apply_own, .user = &own, .symmetric = 1});
  ts_preconditioner *blocks =
      make_preconditioner(matrix, &(ts_preconditioner_desc){.kind = TS_PRECONDITIONER_BLOCK_JACOBI});
  ts_preconditioner *jacobi = make_preconditioner(matrix, NULL);
  ts_preconditioner *polynomial =
      make_preconditioner(matrix, &(ts_preconditioner_desc){.kind = TS_PRECONDITIONER_CHEBYSHEV});
  const double rtol = 1e-5;
  for (int k = 0; k < SQUARE_METHODS && custom && blocks; k++) {
    const ts_method method = square_methods[k];
    test_context_label("%s", ts_method_name(method));
    const ts_result none = solve_with(
        &m, matrix, (ts_solver_desc){.method = method, .preconditioner_kind = TS_PRECONDITIONER_NONE}, rtol);
    const ts_result plain = solve_with(&m, matrix, (ts_solver_desc){.method = method}, rtol);
    const ts_result object =
        solve_with(&m, matrix, (ts_solver_desc){.method = method, .preconditioner = jacobi}, rtol);
    const ts_result by_kind = solve_with(
        &m, matrix, (ts_solver_desc){.method = method, .preconditioner_kind = TS_PRECONDITIONER_BLOCK_JACOBI},
        rtol);
    const ts_result block =
        solve_with(&m, matrix, (ts_solver_desc){.method = method, .preconditioner = blocks}, rtol);
    const ts_result chebyshev_object =
        solve_with(&m, matrix, (ts_solver_desc){.method = method, .preconditioner = polynomial}, rtol);
    const ts_result chebyshev_kind = solve_with(
        &m, matrix, (ts_solver_desc){.method = method, .preconditioner_kind = TS_PRECONDITIONER_CHEBYSHEV},
        rtol);
    own.calls = 0;
    const ts_result mine =
        solve_with(&m, matrix, (ts_solver_desc){.method = method, .preconditioner = custom}, rtol);
    CHECK_INT(object.iterations, plain.iterations); /* the same bits */
    CHECK(object.relative_residual == plain.relative_residual);
    CHECK_INT(by_kind.iterations, block.iterations);
    CHECK(block.iterations < plain.iterations && block.iterations < none.iterations);
    CHECK_INT(chebyshev_kind.iterations, chebyshev_object.iterations);
    CHECK(abs(mine.iterations - plain.iterations) <= 2); /* rounded in a different order */
    CHECK(own.calls >= mine.iterations);
  }
  ts_vector_destroy(&own.inverse);
  ts_preconditioner_destroy(&custom);
  ts_preconditioner_destroy(&blocks);
  ts_preconditioner_destroy(&jacobi);
  ts_preconditioner_destroy(&polynomial);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

/* An error of the caller's function ends the solve, which returns the error with its message. */
static void failing_function(void) {
  ref_matrix m = ref_grid(9, 9);
  ts_matrix *matrix = make_with_copy(&m, TS_FORMAT_AUTO);
  own_jacobi own = make_own(matrix, 1);
  ts_preconditioner *M = make_preconditioner(
      matrix, &(ts_preconditioner_desc){
                  .kind = TS_PRECONDITIONER_CUSTOM, .apply = apply_own, .user = &own, .symmetric = 1});
  ts_vector *b = make_vector(ts_matrix_get_row_space(matrix), 1, NULL), *x = NULL;
  x = make_vector(ts_matrix_get_row_space(matrix), 1, NULL);
  CHECK_OK(context, ts_vector_fill(b, 1));
  for (int k = 0; k < SQUARE_METHODS && M; k++)
    for (int at = 1; at < 6; at++) {
      const ts_solver_desc desc = {.method = square_methods[k], .preconditioner = M};
      own.calls = 0, own.fail_at = at;
      test_context_label("%s, call %d", ts_method_name(desc.method), at);
      CHECK_FAILS(context, solve_vectors(matrix, b, x, &desc, NULL), TS_ERROR_INVALID_ARGUMENT, "x is NULL");
      /* The first rank that fails stops the others, some of them before their own call. */
      if (test_is_ranks())
        CHECK(own.calls == at || own.calls == at - 1);
      else
        CHECK_INT(own.calls, at);
    }
  own.fail_at = 0;
  CHECK_OK(context, ts_vector_fill(x, 0)); /* the next solve succeeds */
  CHECK_OK(context, solve_vectors(matrix, b, x, &(ts_solver_desc){.preconditioner = M}, NULL));
  ts_vector_destroy(&own.inverse);
  ts_preconditioner_destroy(&M);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

/* One cycle as the preconditioner of the methods for unsymmetric matrices. */
static void multigrid(void) {
  if (!context->caps.grid_storages) return;
  grid_sample sample = grid_poisson(&(grid_problem){40, 33, "DNND", NULL, NULL, 0});
  const size_t points = grid_points(&sample);
  ts_matrix *matrix = make_stencil(context, &sample);
  ts_multigrid *mg = make_multigrid(matrix, NULL);
  ts_preconditioner *cycle = make_cycle(mg);
  float *bs = ref_values(points, 7, -1, 1);
  for (int k = 0; k < SQUARE_METHODS && cycle; k++) {
    ts_vector *b = make_vector(ts_matrix_get_row_space(matrix), 1, bs), *x = NULL;
    x = make_vector(ts_matrix_get_row_space(matrix), 1, NULL);
    const ts_solver_desc desc = {.method = square_methods[k], .preconditioner = cycle};
    ts_result result;
    test_context_label("%s", ts_method_name(desc.method));
    CHECK_OK(context, solve_vectors(matrix, b, x, &desc, &result));
    CHECK(result.iterations <= 8);
    float *xs = read_vector(x);
    CHECK(grid_relative_residual(&sample, xs, bs) < 2e-5);
    free(xs);
    ts_vector_destroy(&b);
    ts_vector_destroy(&x);
  }
  free(bs);
  ts_preconditioner_destroy(&cycle);
  ts_multigrid_destroy(&mg);
  ts_matrix_destroy(&matrix);
  grid_free(&sample);
}

/* CGLS or LSMR with a custom M = diag(A^T A) equals the method with Jacobi, up to rounding. Each iteration is
 * checked: where checks are many iterations apart, rounding at the tolerance would decide on that many. */
static void least_squares(void) {
  ref_matrix m = ref_uneven_rows(120, 30, 9, 5), t = ref_transpose(&m);
  for (int32_t i = 0; i < 30; i++) m.values[m.offsets[i]] += 4;
  ref_free(&t);
  t = ref_transpose(&m);
  ts_matrix *A = make_matrix(context, &m, TS_FORMAT_AUTO), *At = NULL, *square = NULL;
  const ts_matrix_desc transposed = {.csr = ref_csr(&t),
                                     .row_space = ts_matrix_get_column_space(A),
                                     .column_space = ts_matrix_get_row_space(A),
                                     .keep_host_copy = 1};
  CHECK_OK(context, ts_matrix_create(context, &transposed, &At));
  ref_matrix identity = ref_diagonal(30, 1, 1); /* M must be created for a matrix over the column space */
  const ts_matrix_desc over_columns = {.csr = ref_csr(&identity), .row_space = ts_matrix_get_column_space(A)};
  CHECK_OK(context, ts_matrix_create(context, &over_columns, &square));
  float squares[30] = {0}, *bs = ref_values(120, 3, -1, 1);
  for (int32_t i = 0; i < 30; i++) {
    for (int32_t k = t.offsets[i]; k < t.offsets[i + 1]; k++) squares[i] += t.values[k] * t.values[k];
    squares[i] = squares[i] > 0 ? 1 / squares[i] : 0;
  }
  own_jacobi own = {.inverse = make_vector(ts_matrix_get_column_space(A), 1, squares)};
  ts_preconditioner *M = make_preconditioner(
      square, &(ts_preconditioner_desc){.kind = TS_PRECONDITIONER_CUSTOM, .apply = apply_own, .user = &own});
  ts_vector *b = make_vector(ts_matrix_get_row_space(A), 1, bs), *x = NULL, *y = NULL;
  x = make_vector(ts_matrix_get_column_space(A), 1, NULL),
  y = make_vector(ts_matrix_get_column_space(A), 1, NULL);
  ts_result mine = {0}, jacobi = {0};
  for (int is_lsmr = 0; is_lsmr < 2; is_lsmr++) {
    ts_solver_desc desc = {.method = is_lsmr ? TS_METHOD_LSMR : TS_METHOD_CGLS,
                           .transposed = At,
                           .zero_start = 1,
                           .check_interval = 1};
    test_context_label("%s", ts_method_name(desc.method));
    CHECK_OK(context, solve_vectors(A, b, y, &desc, &jacobi));
    desc.preconditioner = M;
    CHECK_OK(context, solve_vectors(A, b, x, &desc, &mine));
    CHECK_INT(mine.method, desc.method);
    CHECK(abs(mine.iterations - jacobi.iterations) <= 2);
    float *xs = read_vector(x), *ys = read_vector(y);
    for (int i = 0; i < 30; i++) CHECK_CLOSE(xs[i], ys[i], 1e-3);
    free(xs), free(ys);
  }
  free(bs);
  ts_preconditioner_destroy(&M);
  ts_vector_destroy(&own.inverse);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  ts_vector_destroy(&y);
  ts_matrix_destroy(&A);
  ts_matrix_destroy(&At);
  ts_matrix_destroy(&square);
  ref_free(&m), ref_free(&t), ref_free(&identity);
}

/* ---- Refusals ---- */

#define INVALID(call, ...) CHECK_FAILS(context, call, TS_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

static void errors(void) {
  ref_matrix m = ref_grid(6, 6), wide = ref_dense(3, 5, 1), singular = ref_diagonal(8, 1, 2);
  for (int32_t k = singular.offsets[5]; k < singular.offsets[6]; k++) singular.values[k] = 0;
  ts_matrix *matrix = make_with_copy(&m, TS_FORMAT_AUTO), *bare = make_matrix(context, &m, TS_FORMAT_AUTO),
            *rectangular = make_matrix(context, &wide, TS_FORMAT_AUTO),
            *broken = make_with_copy(&singular, TS_FORMAT_AUTO);
  ts_preconditioner *M = NULL;
  INVALID(ts_preconditioner_create(matrix, &(ts_preconditioner_desc){.kind = (ts_preconditioner_kind)99}, &M),
          "kind is 99");
  INVALID(ts_preconditioner_create(matrix, &(ts_preconditioner_desc){.block_size = 4}, &M),
          "block_size is set");
  INVALID(ts_preconditioner_create(matrix, &(ts_preconditioner_desc){.symmetric = 1}, &M), "symmetric is set");
  INVALID(ts_preconditioner_create(matrix, &(ts_preconditioner_desc){.reserved = {0, 1}}, &M), "reserved[1]");
  INVALID(ts_preconditioner_create(matrix, &(ts_preconditioner_desc){.kind = TS_PRECONDITIONER_CUSTOM}, &M),
          "apply is NULL");
  const ts_preconditioner_desc large = {.kind = TS_PRECONDITIONER_BLOCK_JACOBI, .block_size = 17},
                               blocks = {.kind = TS_PRECONDITIONER_BLOCK_JACOBI};
  INVALID(ts_preconditioner_create(matrix, &large, &M), "block_size is 17");
  INVALID(ts_preconditioner_create(bare, &blocks, &M), "keep_host_copy");
  const ts_preconditioner_desc high = {.kind = TS_PRECONDITIONER_CHEBYSHEV, .degree = 17},
                               negative = {.kind = TS_PRECONDITIONER_CHEBYSHEV, .degree = -1},
                               polynomial = {.kind = TS_PRECONDITIONER_CHEBYSHEV};
  INVALID(ts_preconditioner_create(matrix, &high, &M), "degree is 17");
  INVALID(ts_preconditioner_create(matrix, &negative, &M), "degree is -1");
  INVALID(ts_preconditioner_create(matrix, &(ts_preconditioner_desc){.degree = 2}, &M), "degree is set");
  INVALID(ts_preconditioner_create(broken, &polynomial, &M), "row 5");
  const ts_preconditioner_desc inverses = {.kind = TS_PRECONDITIONER_ISAI};
  INVALID(ts_preconditioner_create(bare, &inverses, &M), "keep_host_copy");
  INVALID(ts_preconditioner_create(rectangular, &blocks, &M), "3 x 5");
  CHECK_INT((int)ts_last_error_row(context), -1);
  INVALID(ts_preconditioner_create(broken, &blocks, &M), "rows 4 to 7 is singular");
  /* A rank receives the message of another rank, but not the row. */
  if (!context->ops->ranks) CHECK_INT((int)ts_last_error_row(context), 4);
  CHECK_FAILS(NULL, ts_preconditioner_create(NULL, NULL, &M), TS_ERROR_INVALID_ARGUMENT, "matrix");
  CHECK(M == NULL);
  ts_solver *solver = NULL;
  own_jacobi own = make_own(matrix, 1);
  M = make_preconditioner(
      matrix, &(ts_preconditioner_desc){.kind = TS_PRECONDITIONER_CUSTOM, .apply = apply_own, .user = &own});
  INVALID(ts_solver_create(matrix, &(ts_solver_desc){.method = TS_METHOD_CG, .preconditioner = M}, &solver),
          "symmetric");
  CHECK_FAILS(context, ts_solver_create(bare, &(ts_solver_desc){.preconditioner = M}, &solver),
              TS_ERROR_INCOMPATIBLE, "another space");
  CHECK(solver == NULL);
  ts_vector *r = make_vector(ts_matrix_get_row_space(matrix), 1, NULL), *two = NULL;
  two = make_vector(ts_matrix_get_row_space(matrix), most_components(matrix_info(matrix).format) < 2 ? 1 : 2,
                    NULL);
  INVALID(ts_preconditioner_apply(M, r, r), "z is r");
  if (ts_vector_get_components(two) == 2)
    CHECK_FAILS(context, ts_preconditioner_apply(M, two, r), TS_ERROR_INCOMPATIBLE, "components");
  ts_vector_destroy(&r);
  ts_vector_destroy(&two);
  ts_vector_destroy(&own.inverse);
  ts_preconditioner_destroy(&M);
  ts_matrix_destroy(&matrix);
  ts_matrix_destroy(&bare);
  ts_matrix_destroy(&rectangular);
  ts_matrix_destroy(&broken);
  ref_free(&m), ref_free(&wide), ref_free(&singular);
}

TEST_MAIN(CASES_IN_CONTEXT(block_jacobi, chebyshev, chebyshev_of_a_stencil, isai, isai_of_new_values,
                           isai_of_singular_parts, isai_iterations, automatic, fewer_iterations, every_method,
                           failing_function, multigrid, least_squares, errors))
