/* Operators: functions used as matrices. Most of them apply a stored matrix, and all results are compared with
 * it. */
#include <texsolve/operator.h>
#include <texsolve/solver.h>

#include "krylov_solve.h"

#include "common/core/backend.h"

static ts_context *context;

enum { N = 14 * 11 };

/* The data of a function: its behaviour and a count of its calls. */
typedef struct function {
  ts_matrix *M;
  ts_vector *between; /* the intermediate vector of M^T M or of a copy; may be NULL */
  int calls, fail_at, nan_at, nan_in_transposed, nothing;
  ts_status returned;
  ts_matrix *self;
  ts_solver *solver;
  ts_vector *b, *x; /* of a solve inside the function */
  ts_context *other;
  ts_status inner; /* the status of a call inside the function, and its message */
  char message[256];
} function;

static ts_status apply(void *user, ts_vector *y, const ts_vector *x) {
  function *f = user;
  f->calls++;
  if (f->nothing) return TS_OK;
  if (f->fail_at && f->calls >= f->fail_at)
    return f->returned ? f->returned : ts_matrix_multiply(y, f->M, NULL);
  if (f->nan_at && f->calls >= f->nan_at) return ts_vector_fill(y, NAN);
  if (!f->between || ts_vector_get_components(f->between) != ts_vector_get_components(x))
    return ts_matrix_multiply(y, f->M, x);
  const ts_status status = ts_matrix_multiply(f->between, f->M, x);
  return status < 0 ? status : ts_vector_copy(y, f->between);
}

static ts_status apply_transposed(void *user, ts_vector *y, const ts_vector *x) {
  function *f = user;
  f->calls++;
  if (f->nan_in_transposed) return ts_vector_fill(y, INFINITY);
  return ts_matrix_multiply_transposed(y, f->M, x);
}

static ts_status apply_normal(void *user, ts_vector *y, const ts_vector *x) {
  function *f = user;
  const ts_status status = ts_matrix_multiply(f->between, f->M, x);
  return status < 0 ? status : ts_matrix_multiply_transposed(y, f->M, f->between);
}

static ts_matrix *store(const ref_matrix *m, const unsigned char *constrained) {
  const ts_matrix_desc desc = {.csr = ref_csr(m), .constrained = constrained, .keep_host_copy = 1};
  ts_matrix *M = NULL;
  CHECK_OK(context, ts_matrix_create(context, &desc, &M));
  return M;
}

/* With precision auto. */
static ts_vector *make_auto(ts_space *space, int components) {
  const ts_vector_desc desc = {.components = components};
  ts_vector *v = NULL;
  CHECK_OK(context, ts_vector_create(space, &desc, &v));
  return v;
}

static ts_vector *diagonal_of(const ts_matrix *M) {
  ts_vector *d = make_vector(ts_matrix_get_row_space(M), 1, NULL);
  CHECK_OK(context, ts_matrix_diagonal(d, M));
  return d;
}

/* An operator that applies f->M, optionally with its diagonal. */
static ts_matrix *wrap(function *f, int symmetric, int with_diagonal) {
  ts_vector *d = with_diagonal ? diagonal_of(f->M) : NULL;
  const ts_operator_desc desc = {.apply = apply,
                                 .apply_transposed = symmetric ? NULL : apply_transposed,
                                 .user = f,
                                 .symmetric = symmetric,
                                 .diagonal = d};
  ts_matrix *A = NULL;
  CHECK_OK(context,
           ts_operator_create(ts_matrix_get_row_space(f->M), ts_matrix_get_column_space(f->M), &desc, &A));
  ts_vector_destroy(&d);
  return A;
}

static int are_equal(const ts_vector *a, const ts_vector *b) {
  double *as = read_doubles(a), *bs = read_doubles(b);
  const int equal = memcmp(as, bs, vector_count(a) * sizeof *as) == 0;
  free(as), free(bs);
  return equal;
}

/* y = A x, A^T x and the diagonal have the bits of the stored matrix. b - A x has the bits of b minus A x. */
static void check_products(ts_matrix *A, const ts_matrix *M, int components, int parts) {
  ts_space *rows = ts_matrix_get_row_space(M), *columns = ts_matrix_get_column_space(M);
  const size_t n = (size_t)ts_space_get_size(rows) * (size_t)components;
  double *xs = ref_doubles((size_t)ts_space_get_size(columns) * (size_t)components, 4, -1, 1),
         *bs = ref_doubles(n, 5, -1, 1);
  ts_vector *x = make_parts(columns, components, parts, xs), *b = make_parts(rows, components, parts, bs),
            *y = make_parts(rows, components, parts, NULL),
            *expected = make_parts(rows, components, parts, NULL),
            *t = make_parts(columns, components, parts, NULL),
            *expected_t = make_parts(columns, components, parts, NULL);
  for (int again = 0; again < 2; again++) {
    CHECK_OK(context, ts_matrix_multiply(expected, M, x));
    CHECK_OK(context, ts_matrix_multiply(y, A, x));
    CHECK(are_equal(y, expected));
    CHECK_PADDING(y);
  }
  CHECK_OK(context, ts_matrix_multiply_transposed(expected_t, M, b));
  CHECK_OK(context, ts_matrix_multiply_transposed(t, A, b));
  CHECK(are_equal(t, expected_t));
  CHECK_OK(context, ts_matrix_residual(expected, b, M, x));
  CHECK_OK(context, ts_matrix_residual(y, b, A, x));
  double *r = read_doubles(y), *s = read_doubles(expected);
  for (size_t k = 0; k < n; k++)
    if (!CHECK_CLOSE(r[k], s[k], parts > 1 ? 0x1p-40 : 0x1p-19)) break;
  CHECK_OK(context, ts_matrix_residual(b, b, A, x));
  CHECK(are_equal(b, y));
  free(r), free(s), free(xs), free(bs);
  ts_vector_destroy(&x);
  ts_vector_destroy(&b);
  ts_vector_destroy(&y);
  ts_vector_destroy(&expected);
  ts_vector_destroy(&t);
  ts_vector_destroy(&expected_t);
}

static void products(void) {
  for (int kind = 0; kind < 3; kind++) {
    ref_matrix m = kind == 0 ? ref_grid(14, 11) : kind == 1 ? ref_skewed_grid(14, 11) : ref_gaps(61, 43, 2);
    function f = {.M = store(&m, NULL)};
    ts_matrix *A = wrap(&f, kind == 0, kind != 2);
    const ts_matrix_info info = matrix_info(A);
    CHECK_INT(info.format, TS_FORMAT_OPERATOR);
    CHECK(strcmp(ts_format_name(info.format), "operator") == 0);
    CHECK_INT(info.rows, m.rows);
    CHECK_INT(info.columns, m.columns);
    CHECK_INT(info.symmetric, kind == 0);
    for (int components = 1; components <= 4; components++)
      for (int parts = 1; parts <= (context->caps.pairs ? 3 : 1); parts += 2) {
        test_context_label("kind %d, %d components, %d parts", kind, components, parts);
        check_products(A, f.M, components, parts);
        if (kind == 2) continue;
        ts_vector *d = make_vector(ts_matrix_get_row_space(A), components, NULL), *expected = NULL;
        expected = make_vector(ts_matrix_get_row_space(A), components, NULL);
        CHECK_OK(context, ts_matrix_diagonal(d, A));
        CHECK_OK(context, ts_matrix_diagonal(expected, f.M));
        CHECK(are_equal(d, expected));
        ts_vector_destroy(&d);
        ts_vector_destroy(&expected);
      }
    ts_matrix_destroy(&A);
    ts_matrix_destroy(&f.M);
    ref_free(&m);
  }
}

/* The function need not handle exponents of vectors. */
static void far_vectors(void) {
  if (!context->caps.pairs) return;
  ref_matrix m = ref_skewed_grid(14, 11);
  function f = {.M = store(&m, NULL)};
  f.between = make_auto(ts_matrix_get_row_space(f.M), 1);
  ts_matrix *A = wrap(&f, 0, 1);
  for (int exponent = -900; exponent <= 900; exponent += 300) {
    double *xs = ref_doubles(N, 4, -1, 1);
    for (int k = 0; k < N; k++) xs[k] = ldexp(xs[k], exponent);
    ts_vector *x = make_parts(ts_matrix_get_row_space(A), 1, 3, xs),
              *b = make_parts(ts_matrix_get_row_space(A), 1, 3, xs),
              *y = make_auto(ts_matrix_get_row_space(A), 1),
              *expected = make_auto(ts_matrix_get_row_space(A), 1);
    test_context_label("2^%d", exponent);
    CHECK_OK(context, ts_matrix_multiply(y, A, x));
    CHECK_OK(context, ts_matrix_multiply(expected, f.M, x));
    CHECK(are_equal(y, expected));
    /* The solution may be of any size. */
    ts_result result;
    const ts_solver_desc desc = {.rtol = 1e-10, .zero_start = 1};
    CHECK_OK(context, solve_vectors(A, b, x, &desc, &result));
    CHECK_OK(context, ts_matrix_residual(y, b, f.M, x));
    double *rs = read_doubles(y), above = 0, below = 0;
    for (int k = 0; k < N; k++) {
      above += pow(ldexp(rs[k], -exponent), 2);
      below += pow(ldexp(xs[k], -exponent), 2);
    }
    CHECK(sqrt(above / below) <= 1.1e-10);
    free(xs), free(rs);
    ts_vector_destroy(&x);
    ts_vector_destroy(&b);
    ts_vector_destroy(&y);
    ts_vector_destroy(&expected);
  }
  ts_matrix_destroy(&A);
  ts_vector_destroy(&f.between);
  ts_matrix_destroy(&f.M);
  ref_free(&m);
}

/* ||b - M x|| / ||b||, or for least squares ||M^T (b - M x)|| / ||M^T b||, in double precision on the host. */
static double residual_of(const ref_matrix *m, int least_squares, int components, const double *b,
                          const double *x) {
  double worst = 0;
  for (int c = 0; c < components; c++) {
    double *g = calloc((size_t)m->columns, sizeof *g), *h = calloc((size_t)m->columns, sizeof *h);
    double above = 0, below = 0;
    for (int32_t i = 0; i < m->rows; i++) {
      const double bi = b[i * components + c];
      ref_sum r = {bi, 0};
      for (int32_t e = m->offsets[i]; e < m->offsets[i + 1]; e++)
        ref_add_product(&r, -(double)m->values[e], x[m->indices[e] * components + c]);
      const double ri = r.value + r.low;
      if (!least_squares) above += ri * ri, below += bi * bi;
      for (int32_t e = m->offsets[i]; e < m->offsets[i + 1]; e++) {
        g[m->indices[e]] += (double)m->values[e] * ri;
        h[m->indices[e]] += (double)m->values[e] * bi;
      }
    }
    for (int32_t j = 0; least_squares && j < m->columns; j++) above += g[j] * g[j], below += h[j] * h[j];
    worst = fmax(worst, sqrt(above / below));
    free(g), free(h);
  }
  return worst;
}

static ts_status identity(void *user, ts_vector *z, const ts_vector *r) {
  (void)user;
  return ts_vector_copy(z, r);
}

static void check_solve(const ref_matrix *m, ts_matrix *A, const ts_solver_desc *desc, int components) {
  const size_t rows = (size_t)m->rows * (size_t)components, columns = (size_t)m->columns * (size_t)components;
  double *bs = ref_doubles(rows, 6, -1, 1);
  ts_vector *b = make_parts(ts_matrix_get_row_space(A), components, context->caps.pairs ? 3 : 1, bs), *x = NULL;
  x = make_auto(ts_matrix_get_column_space(A), components);
  double *given = read_doubles(b);
  ts_result result;
  if (CHECK_OK(context, solve_vectors(A, b, x, desc, &result))) {
    CHECK_INT(result.reason, TS_REASON_CONVERGED);
    double *xs = read_doubles(x);
    const double left =
        residual_of(m, desc->method == TS_METHOD_CGLS || m->rows != m->columns, components, given, xs);
    if (!(left <= 1.2 * desc->rtol)) test_fail(__FILE__, __LINE__, "%.3g of %.3g", left, desc->rtol);
    free(xs);
  }
  (void)columns;
  free(bs), free(given);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
}

/* Every method in every precision, with every preconditioner that supports operators. */
static void solves(void) {
  static const ts_method methods[] = {TS_METHOD_CG,  TS_METHOD_BICGSTAB, TS_METHOD_GMRES,
                                      TS_METHOD_IDR, TS_METHOD_CGLS,     TS_METHOD_RICHARDSON};
  static const ts_preconditioner_kind kinds[] = {TS_PRECONDITIONER_NONE, TS_PRECONDITIONER_JACOBI,
                                                 TS_PRECONDITIONER_CHEBYSHEV, TS_PRECONDITIONER_AUTO};
  ref_matrix spd = ref_random_spd(150, 6, 3), other = ref_random_dominant(150, 5, 4);
  for (size_t k = 0; k < sizeof methods / sizeof methods[0]; k++)
    for (size_t p = 0; p < sizeof kinds / sizeof kinds[0]; p++)
      for (int precision = 0; precision <= TS_PRECISION_DOUBLE; precision++) {
        const ts_method method = methods[k];
        const int is_cgls = method == TS_METHOD_CGLS, is_spd = method != TS_METHOD_GMRES && !is_cgls;
        const ref_matrix *m = is_spd ? &spd : &other;
        if (is_cgls && (kinds[p] == TS_PRECONDITIONER_JACOBI || kinds[p] == TS_PRECONDITIONER_CHEBYSHEV))
          continue;
        if (method == TS_METHOD_RICHARDSON && kinds[p] == TS_PRECONDITIONER_NONE) continue;
        if (kinds[p] == TS_PRECONDITIONER_CHEBYSHEV && !is_spd) continue;
        if (precision > TS_PRECISION_SINGLE && !context->caps.pairs) continue;
        if (test_is_brief() && (k + p + (size_t)precision) % 3) continue;
        function f = {.M = store(m, NULL)};
        f.between = make_auto(ts_matrix_get_row_space(f.M), 2);
        ts_matrix *A = wrap(&f, is_spd, 1);
        const int is_exact = precision != TS_PRECISION_SINGLE && context->caps.pairs;
        const ts_solver_desc desc = {.method = method,
                                     .preconditioner_kind = kinds[p],
                                     .precision = (ts_precision)precision,
                                     .rtol = is_exact ? 1e-10 : 1e-5};
        test_context_label("%s, %s, %s", ts_method_name(method), ts_preconditioner_kind_name(kinds[p]),
                           ts_precision_name((ts_precision)precision));
        check_solve(m, A, &desc, 2);
        CHECK(f.calls > 2);
        ts_matrix_destroy(&A);
        ts_vector_destroy(&f.between);
        ts_matrix_destroy(&f.M);
      }
  ref_free(&spd);
  ref_free(&other);
}

/* The example of the header, a rectangular operator, a custom preconditioner, and a preconditioner of a stored
 * matrix. */
static void more_solves(void) {
  ref_matrix tall = ref_uneven_rows(200, 50, 9, 2), spd = ref_random_spd(150, 6, 3);
  function f = {.M = store(&tall, NULL)};
  f.between = make_auto(ts_matrix_get_row_space(f.M), 1);
  ts_space *space = ts_matrix_get_column_space(f.M);
  const ts_operator_desc normal = {.apply = apply_normal, .user = &f, .symmetric = 1};
  ts_matrix *A = NULL;
  if (CHECK_OK(context, ts_operator_create(space, space, &normal, &A))) {
    ts_vector *b = make_vector(space, 1, NULL), *x = make_vector(space, 1, NULL), *right = NULL;
    float *bs = ref_values(200, 6, -1, 1);
    right = make_vector(ts_matrix_get_row_space(f.M), 1, bs);
    CHECK_OK(context, ts_matrix_multiply_transposed(b, f.M, right));
    const ts_solver_desc desc = {.preconditioner_kind = TS_PRECONDITIONER_AUTO, .rtol = 1e-6};
    ts_result result;
    test_context_label("normal equations");
    CHECK_OK(context, solve_vectors(A, b, x, &desc, &result));
    CHECK_INT(result.method, TS_METHOD_CG);
    CHECK(isnan(result.attainable_residual));
    double *right_doubles = read_doubles(right), *xs = read_doubles(x);
    CHECK(residual_of(&tall, 1, 1, right_doubles, xs) <= 1.1e-6);
    free(bs), free(right_doubles), free(xs);
    ts_vector_destroy(&b);
    ts_vector_destroy(&x);
    ts_vector_destroy(&right);
  }
  ts_matrix_destroy(&A);
  ts_vector_destroy(&f.between);
  A = wrap(&f, 0, 0);
  const ts_solver_desc least = {.preconditioner_kind = TS_PRECONDITIONER_AUTO, .rtol = 1e-6};
  test_context_label("rectangular");
  check_solve(&tall, A, &least, 3);
  ts_matrix_destroy(&A);
  ts_matrix_destroy(&f.M);

  f = (function){.M = store(&spd, NULL)};
  A = wrap(&f, 1, 0);
  const ts_preconditioner_desc custom = {.kind = TS_PRECONDITIONER_CUSTOM, .apply = identity, .symmetric = 1},
                               isai = {.kind = TS_PRECONDITIONER_ISAI};
  ts_preconditioner *own = make_preconditioner(A, &custom), *stored = make_preconditioner(f.M, &isai);
  const ts_solver_desc by_own = {.preconditioner = own, .rtol = 1e-5},
                       by_stored = {.preconditioner = stored, .rtol = 1e-5};
  test_context_label("a custom preconditioner");
  check_solve(&spd, A, &by_own, 1);
  test_context_label("a preconditioner of a stored matrix");
  if (stored) check_solve(&spd, A, &by_stored, 1);
  ts_preconditioner_destroy(&own);
  ts_preconditioner_destroy(&stored);
  ts_matrix_destroy(&A);
  ts_matrix_destroy(&f.M);
  ref_free(&tall);
  ref_free(&spd);
}

static void constrained_rows(void) {
  ref_matrix m = ref_grid(14, 11);
  unsigned char constrained[N];
  for (int k = 0; k < N; k++) constrained[k] = k % 9 == 0 || k < 14;
  function f = {.M = store(&m, constrained)};
  ts_matrix *A = wrap(&f, 1, 1);
  float *bs = ref_values(N, 5, -1, 1), by_operator[N], by_matrix[N];
  float *start = ref_values(N, 6, -1, 1);
  memcpy(by_operator, start, sizeof by_operator);
  memcpy(by_matrix, start, sizeof by_matrix);
  CHECK_INT(matrix_info(A).constrained_rows, matrix_info(f.M).constrained_rows);
  const ts_solver_desc desc = {.rtol = 1e-6};
  ts_result result;
  CHECK_OK(context, krylov_solve(TS_METHOD_CG, A, &desc, 1, bs, by_operator, &result));
  CHECK_OK(context, krylov_solve(TS_METHOD_CG, f.M, &desc, 1, bs, by_matrix, &result));
  for (int k = 0; k < N; k++) {
    if (constrained[k]) CHECK(by_operator[k] == start[k]);
    if (!CHECK_CLOSE(by_operator[k], by_matrix[k], 1e-4)) break;
  }
  free(bs), free(start);
  ts_matrix_destroy(&A);
  ts_matrix_destroy(&f.M);
  ref_free(&m);
}

/* If the function changes, the solver's derived data is updated. */
static void changes(void) {
  ref_matrix m = ref_random_spd(150, 6, 3);
  function f = {.M = store(&m, NULL)};
  ts_matrix *A = wrap(&f, 1, 1);
  ts_solver *solver = NULL;
  const ts_solver_desc desc = {.preconditioner_kind = TS_PRECONDITIONER_CHEBYSHEV, .rtol = 1e-5};
  REQUIRE_OK(context, ts_solver_create(A, &desc, &solver));
  float *bs = ref_values(150, 6, -1, 1);
  ts_vector *b = make_vector(ts_matrix_get_row_space(A), 1, bs),
            *x = make_vector(ts_matrix_get_row_space(A), 1, NULL);
  ts_result first, second;
  CHECK_OK(context, ts_solver_solve(solver, b, x, &first));
  for (int32_t i = 0; i < m.rows; i++)
    for (int32_t e = m.offsets[i]; e < m.offsets[i + 1]; e++) m.values[e] *= 64;
  const ts_csr csr = ref_csr(&m);
  CHECK_OK(context, ts_matrix_set_values(f.M, &csr));
  ts_vector *d = diagonal_of(f.M);
  CHECK_OK(context, ts_operator_update(A, d));
  CHECK_OK(context, ts_vector_fill(x, 0));
  CHECK_OK(context, ts_solver_solve(solver, b, x, &second));
  CHECK_INT(second.iterations, first.iterations);
  CHECK_OK(context, ts_operator_update(A, NULL));
  CHECK_FAILS(context, ts_operator_update(f.M, d), TS_ERROR_INVALID_ARGUMENT, "not an operator");
  CHECK_FAILS(NULL, ts_operator_update(NULL, d), TS_ERROR_INVALID_ARGUMENT, "matrix is NULL");
  free(bs);
  ts_vector_destroy(&d);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  ts_solver_destroy(&solver);
  ts_matrix_destroy(&A);
  ts_matrix_destroy(&f.M);
  ref_free(&m);
}

/* ---- Faulty functions ---- */

typedef struct trial {
  ref_matrix m;
  function f;
  ts_matrix *A;
  ts_vector *b, *x;
} trial;

static void open_trial(trial *t, ts_method method) {
  t->m = method == TS_METHOD_CG ? ref_random_spd(150, 6, 3) : ref_random_dominant(150, 5, 4);
  t->f = (function){.M = store(&t->m, NULL)};
  t->A = wrap(&t->f, method == TS_METHOD_CG, 1);
  float *bs = ref_values(150, 6, -1, 1);
  t->b = make_vector(ts_matrix_get_row_space(t->A), 1, bs);
  t->x = make_vector(ts_matrix_get_row_space(t->A), 1, NULL);
  free(bs);
}

static void close_trial(trial *t) {
  ts_vector_destroy(&t->b);
  ts_vector_destroy(&t->x);
  ts_matrix_destroy(&t->A);
  ts_matrix_destroy(&t->f.M);
  ref_free(&t->m);
}

static const ts_method all_methods[] = {TS_METHOD_CG,  TS_METHOD_BICGSTAB, TS_METHOD_GMRES,
                                        TS_METHOD_IDR, TS_METHOD_CGLS,     TS_METHOD_RICHARDSON};
enum { METHODS = sizeof all_methods / sizeof all_methods[0] };

/* Jacobi if the method supports it. */
static ts_solver_desc desc_of(ts_method method) {
  return (ts_solver_desc){.method = method,
                          .preconditioner_kind =
                              method == TS_METHOD_CGLS ? TS_PRECONDITIONER_NONE : TS_PRECONDITIONER_JACOBI,
                          .rtol = 1e-5};
}

static void function_fails(void) {
  for (int k = 0; k < METHODS; k++)
    for (int at = 1; at <= 4; at += 3) {
      trial t;
      ts_result result;
      open_trial(&t, all_methods[k]);
      const ts_solver_desc desc = desc_of(all_methods[k]);
      test_context_label("%s, call %d", ts_method_name(all_methods[k]), at);
      t.f.fail_at = at;
      t.f.returned = TS_ERROR_LIMIT; /* without a message */
      CHECK_FAILS(context, solve_vectors(t.A, t.b, t.x, &desc, &result), TS_ERROR_LIMIT, "operator's function",
                  "TS_ERROR_LIMIT");
      t.f.calls = 0, t.f.returned = TS_OK; /* a call of the library inside the function fails */
      CHECK_FAILS(context, solve_vectors(t.A, t.b, t.x, &desc, &result), TS_ERROR_INVALID_ARGUMENT,
                  "ts_matrix_multiply: x is NULL");
      t.f.calls = 0, t.f.returned = TS_NOT_CONVERGED;
      CHECK_FAILS(context, solve_vectors(t.A, t.b, t.x, &desc, &result), TS_ERROR_INVALID_ARGUMENT,
                  "operator's function", "TS_NOT_CONVERGED");
      t.f.calls = 0, t.f.fail_at = 0;
      CHECK_OK(context, ts_vector_fill(t.x, 0));
      CHECK_OK(context, solve_vectors(t.A, t.b, t.x, &desc, &result));
      close_trial(&t);
    }
  trial t;
  open_trial(&t, TS_METHOD_CG);
  t.f.fail_at = 1;
  t.f.returned = TS_ERROR_DEVICE;
  CHECK_FAILS(context, ts_matrix_multiply(t.x, t.A, t.b), TS_ERROR_DEVICE, "operator's function");
  close_trial(&t);
}

/* A solve never reports convergence, and its message names the function at fault. The same solver succeeds when
 * the function is correct again. Coefficients become NaN and so does the padding of textures, which the check
 * backend reports first. */
static void nan_writer(void) {
  if (test_is_check() && test_is_gl()) return;
  for (int k = 0; k < METHODS; k++)
    for (int precision = 0; precision <= (context->caps.pairs ? TS_PRECISION_DOUBLE : TS_PRECISION_SINGLE);
         precision++)
      for (int kind = 0; kind < 4; kind++) { /* NaN from the first call or a later one; nothing; zero_start */
        trial t;
        ts_result result;
        if (test_is_brief() && (k + precision + kind) % 3) continue;
        open_trial(&t, all_methods[k]);
        ts_solver_desc desc = desc_of(all_methods[k]);
        desc.precision = (ts_precision)precision;
        desc.zero_start = kind == 3;
        test_context_label("%s, %s, kind %d", ts_method_name(all_methods[k]),
                           ts_precision_name((ts_precision)precision), kind);
        t.f.nan_at = kind == 0 || kind == 3 ? 1 : kind == 1 ? 3 : 0;
        t.f.nothing = kind == 2;
        ts_solver *solver = NULL;
        CHECK_OK(context, ts_solver_create(t.A, &desc, &solver));
        CHECK_INT(ts_solver_solve(solver, t.b, t.x, &result), TS_NOT_CONVERGED);
        CHECK_INT(result.reason, TS_REASON_BREAKDOWN);
        CHECK_CONTAINS(result.message, "operator");
        CHECK_CONTAINS(ts_last_error(context), "operator");
        float *xs = read_vector(t.x);
        int finite = 1;
        for (int i = 0; i < 150; i++) finite &= isfinite(xs[i]) != 0;
        CHECK(finite);
        free(xs);
        t.f.nan_at = t.f.nothing = 0;
        CHECK_OK(context, ts_solver_solve(solver, t.b, t.x, &result));
        ts_solver_destroy(&solver);
        close_trial(&t);
      }
}

static void infinity_in_transposed(void) {
  trial t;
  ts_result result;
  open_trial(&t, TS_METHOD_CGLS);
  const ts_solver_desc desc = desc_of(TS_METHOD_CGLS);
  t.f.nan_in_transposed = 1;
  CHECK_INT(solve_vectors(t.A, t.b, t.x, &desc, &result), TS_NOT_CONVERGED);
  CHECK_INT(result.reason, TS_REASON_BREAKDOWN);
  CHECK_CONTAINS(result.message, "operator's apply_transposed");
  close_trial(&t);
}

static ts_status apply_within(void *user, ts_vector *y, const ts_vector *x) {
  function *f = user;
  f->calls++;
  if (f->self) f->inner = ts_matrix_multiply(f->b, f->self, x);
  if (f->solver) f->inner = ts_solver_solve(f->solver, f->b, f->x, NULL);
  if (f->other) {
    ts_space *space = NULL;
    ts_vector *v = NULL;
    const ts_space_desc desc = {.size = 1000};
    f->inner = ts_space_create(f->other, &desc, &space);
    if (f->inner == TS_OK) f->inner = ts_vector_create(space, NULL, &v);
    if (f->inner == TS_OK) f->inner = ts_vector_fill(v, 3);
    ts_vector_destroy(&v);
    ts_space_destroy(&space);
  }
  if (f->inner) snprintf(f->message, sizeof f->message, "%s", ts_last_error(f->other ? f->other : y->context));
  return ts_matrix_multiply(y, f->M, x);
}

/* Calls from inside a function: another context and another solver are allowed, its own operator and solver are
 * refused. */
static void within(void) {
  trial t;
  open_trial(&t, TS_METHOD_CG);
  const ts_operator_desc how = {.apply = apply_within, .user = &t.f, .symmetric = 1};
  ts_matrix *A = NULL;
  ts_solver *inner = NULL, *outer = NULL;
  ts_result result;
  REQUIRE_OK(context, ts_operator_create(ts_matrix_get_row_space(t.A), ts_matrix_get_row_space(t.A), &how, &A));
  t.f.b = make_vector(ts_matrix_get_row_space(A), 1, NULL);
  t.f.x = make_vector(ts_matrix_get_row_space(A), 1, NULL);
  CHECK_OK(context, ts_vector_fill(t.f.b, 1));
  const ts_solver_desc desc = {.preconditioner_kind = TS_PRECONDITIONER_NONE, .rtol = 1e-5, .zero_start = 1};
  REQUIRE_OK(context, ts_solver_create(A, &desc, &outer));
  REQUIRE_OK(context, ts_solver_create(t.f.M, &desc, &inner));
  for (int warm = 0; warm < 2; warm++) CHECK_OK(context, ts_solver_solve(outer, t.b, t.x, &result));
  const int iterations = result.iterations;
  double *alone = read_doubles(t.x);
  for (int kind = 0; kind < 4; kind++) {
    test_context_label("kind %d", kind);
    t.f.solver = kind == 0 ? inner : kind == 2 ? outer : NULL;
    t.f.self = kind == 3 ? A : NULL;
    t.f.other = kind == 1 ? test_open() : NULL;
    t.f.inner = TS_OK, t.f.message[0] = 0;
    CHECK_OK(context, ts_solver_solve(outer, t.b, t.x, &result));
    CHECK_INT(result.iterations, iterations);
    double *xs = read_doubles(t.x);
    CHECK(memcmp(xs, alone, 150 * sizeof *xs) == 0);
    free(xs);
    CHECK_INT(t.f.inner, kind < 2 ? TS_OK : TS_ERROR_INVALID_ARGUMENT);
    if (kind == 2) CHECK_CONTAINS(t.f.message, "solver is already running");
    if (kind == 3) CHECK_CONTAINS(t.f.message, "applies the operator itself");
    test_close(&t.f.other);
  }
  free(alone);
  ts_solver_destroy(&inner);
  ts_solver_destroy(&outer);
  ts_vector_destroy(&t.f.b);
  ts_vector_destroy(&t.f.x);
  ts_matrix_destroy(&A);
  close_trial(&t);
}

/* A function of single precision is never called with more parts, and its solvers use single precision. */
static ts_status apply_floats(void *user, ts_vector *y, const ts_vector *x) {
  function *f = user;
  f->calls++;
  f->nothing |= x->low || y->low;
  return ts_matrix_multiply(y, f->M, x);
}

static void single_precision(void) {
  trial t;
  open_trial(&t, TS_METHOD_CG);
  const ts_operator_desc how = {
      .apply = apply_floats, .user = &t.f, .symmetric = 1, .precision = TS_PRECISION_SINGLE};
  ts_matrix *A = NULL;
  ts_result result;
  REQUIRE_OK(context, ts_operator_create(ts_matrix_get_row_space(t.A), ts_matrix_get_row_space(t.A), &how, &A));
  const ts_solver_desc desc = {.preconditioner_kind = TS_PRECONDITIONER_NONE, .rtol = 1e-5};
  CHECK_OK(context, solve_vectors(A, t.b, t.x, &desc, &result));
  CHECK_INT(result.precision, TS_PRECISION_SINGLE);
  if (context->caps.pairs) {
    const ts_solver_desc more = {.preconditioner_kind = TS_PRECONDITIONER_NONE,
                                 .precision = TS_PRECISION_DOUBLE};
    ts_vector *y = make_parts(ts_matrix_get_row_space(A), 1, 3, NULL),
              *x = make_parts(ts_matrix_get_row_space(A), 1, 3, NULL);
    CHECK_FAILS(context, solve_vectors(A, t.b, t.x, &more, &result), TS_ERROR_INVALID_ARGUMENT,
                "precision is double", "operator");
    CHECK_OK(context, ts_matrix_multiply(y, A, x));
    ts_vector_destroy(&x);
    ts_vector_destroy(&y);
  }
  CHECK(t.f.calls > 2 && !t.f.nothing);
  ts_matrix_destroy(&A);
  close_trial(&t);
}

static void errors(void) {
  trial t;
  open_trial(&t, TS_METHOD_BICGSTAB);
  ts_space *space = ts_matrix_get_row_space(t.A), *small = make_space(context, 7);
  ts_vector *d = diagonal_of(t.f.M), *two = make_vector(space, 2, NULL), *foreign = make_vector(small, 1, NULL);
  ts_matrix *A = NULL;
  const ts_operator_desc good = {.apply = apply, .user = &t.f};
#define REFUSED(rows, columns, status, ...)                                                                    \
  do {                                                                                                         \
    CHECK_FAILS(context, ts_operator_create(rows, columns, &bad, &A), status, __VA_ARGS__);                    \
    CHECK(A == NULL);                                                                                          \
    bad = good;                                                                                                \
  } while (0)
  ts_operator_desc bad = good;
  bad.apply = NULL;
  REFUSED(space, space, TS_ERROR_INVALID_ARGUMENT, "apply is NULL");
  bad.symmetric = 1;
  REFUSED(space, small, TS_ERROR_INVALID_ARGUMENT, "symmetric is set");
  bad.symmetric = 2;
  REFUSED(space, space, TS_ERROR_INVALID_ARGUMENT, "symmetric is 2");
  bad.precision = TS_PRECISION_DOUBLE;
  REFUSED(space, space, TS_ERROR_INVALID_ARGUMENT, "precision is 3");
  bad.reserved[5] = 9;
  REFUSED(space, space, TS_ERROR_INVALID_ARGUMENT, "reserved[5] is 9");
  bad.diagonal = d;
  REFUSED(space, small, TS_ERROR_INVALID_ARGUMENT, "diagonal is set");
  bad.diagonal = two;
  REFUSED(space, space, TS_ERROR_INVALID_ARGUMENT, "diagonal has 2 components");
  bad.diagonal = foreign;
  REFUSED(space, space, TS_ERROR_INCOMPATIBLE, "diagonal is not over");
  CHECK_OK(context, ts_vector_fill(d, NAN));
  bad.diagonal = d;
  REFUSED(space, space, TS_ERROR_INVALID_ARGUMENT, "diagonal is nan in row 0");
  CHECK_FAILS(NULL, ts_operator_create(NULL, space, &good, &A), TS_ERROR_INVALID_ARGUMENT, "row_space is NULL");
  CHECK_FAILS(context, ts_operator_create(space, NULL, &good, &A), TS_ERROR_INVALID_ARGUMENT, "column_space");
  CHECK_FAILS(context, ts_operator_create(space, space, NULL, &A), TS_ERROR_INVALID_ARGUMENT, "desc");
  CHECK_FAILS(context, ts_operator_create(space, space, &good, NULL), TS_ERROR_INVALID_ARGUMENT, "matrix");
  ts_context *other = test_open();
  ts_space *elsewhere = make_space(other, 150);
  CHECK_FAILS(context, ts_operator_create(space, elsewhere, &good, &A), TS_ERROR_INCOMPATIBLE,
              "different contexts");
  ts_space_destroy(&elsewhere);
  test_close(&other);

  /* Features that need entries, a diagonal or a transpose report this. */
  REQUIRE_OK(context, ts_operator_create(space, space, &good, &A));
  ts_preconditioner *M = NULL;
  for (int k = 0; k < 4; k++) {
    static const ts_preconditioner_kind kinds[] = {TS_PRECONDITIONER_BLOCK_JACOBI, TS_PRECONDITIONER_AMG,
                                                   TS_PRECONDITIONER_ISAI, TS_PRECONDITIONER_CHEBYSHEV};
    const ts_preconditioner_desc desc = {.kind = kinds[k]};
    const ts_solver_desc own = {.preconditioner_kind = kinds[k]};
    const int needs_diagonal = kinds[k] == TS_PRECONDITIONER_CHEBYSHEV;
    const ts_status status = needs_diagonal ? TS_ERROR_INVALID_ARGUMENT : TS_ERROR_UNSUPPORTED;
    CHECK_FAILS(context, ts_preconditioner_create(A, &desc, &M), status, ts_preconditioner_kind_name(kinds[k]),
                "operator");
    CHECK_FAILS(context, solve_vectors(A, t.b, t.x, &own, NULL), status, ts_preconditioner_kind_name(kinds[k]),
                "operator");
  }
  const ts_solver_desc jacobi = {.preconditioner_kind = TS_PRECONDITIONER_JACOBI},
                       least = {.method = TS_METHOD_CGLS};
  const ts_solver_desc none = {.method = TS_METHOD_CGLS, .preconditioner_kind = TS_PRECONDITIONER_NONE};
  CHECK_FAILS(context, solve_vectors(A, t.b, t.x, &jacobi, NULL), TS_ERROR_INVALID_ARGUMENT, "jacobi",
              "diagonal");
  CHECK_FAILS(context, solve_vectors(A, t.b, t.x, &least, NULL), TS_ERROR_INVALID_ARGUMENT, "apply_transposed");
  CHECK_FAILS(context, solve_vectors(A, t.b, t.x, &none, NULL), TS_ERROR_INVALID_ARGUMENT, "apply_transposed");
  CHECK_FAILS(context, ts_matrix_diagonal(d, A), TS_ERROR_INVALID_ARGUMENT, "operator", "diagonal");
  CHECK_FAILS(context, ts_matrix_multiply_transposed(t.x, A, t.b), TS_ERROR_INVALID_ARGUMENT,
              "apply_transposed");
  ts_csr csr = ref_csr(&t.m);
  CHECK_FAILS(context, ts_matrix_set_values(A, &csr), TS_ERROR_INVALID_ARGUMENT, "operator");
  CHECK_FAILS(context, ts_matrix_get_host_copy(A, &csr), TS_ERROR_INVALID_ARGUMENT, "operator");
  const ts_matrix_desc entries = {.csr = ref_csr(&t.m), .format = TS_FORMAT_OPERATOR};
  ts_matrix *made = NULL;
  CHECK_FAILS(context, ts_matrix_create(context, &entries, &made), TS_ERROR_UNSUPPORTED, "ts_operator_create");
  ts_matrix_destroy(&A);
  ts_vector_destroy(&d);
  ts_vector_destroy(&two);
  ts_vector_destroy(&foreign);
  ts_space_destroy(&small);
  close_trial(&t);
}

TEST_MAIN(CASES_IN_CONTEXT(products, far_vectors, solves, more_solves, constrained_rows, changes,
                           function_fails, nan_writer, infinity_in_transposed, within, single_precision,
                           errors))
