/* Conjugate gradients: what is claimed is judged by the true residual, computed here in double precision. */
#include "helpers.h"

static ts_context *context;
static ts_format formats[8];
static int format_count;

typedef struct watch {
  int calls, last_iteration, stop_at, numbers;
  int out_of_order; /* calls whose counts do not fit together */
  double last;
} watch;

static int observe(int iteration, const double *history, int count, void *user) {
  watch *w = user;
  w->calls++;
  if (iteration <= w->last_iteration || count != iteration - w->last_iteration) w->out_of_order++;
  for (int k = 0; k < count; k++)
    if (!(history[k] >= 0)) w->out_of_order++;
  w->numbers += count;
  w->last_iteration = iteration;
  w->last = history[count - 1];
  return w->stop_at && iteration >= w->stop_at;
}

/* One solve from host arrays; `xs` holds the start and receives the result. */
static ts_status solve(ts_matrix *matrix, const ts_cg_desc *desc, int components, const float *bs, float *xs,
                       ts_cg_result *result) {
  ts_space *space = ts_matrix_row_space(matrix);
  ts_vector *b = make_vector(space, components, bs), *x = make_vector(space, components, xs);
  ts_cg *cg = make_cg(matrix, desc);
  ts_status status = TS_ERROR_DEVICE;
  memset(result, 0x55, sizeof *result);
  if (cg && b && x) {
    status = ts_cg_solve(cg, b, x, result);
    float *solution = read_vector(x), *after = read_vector(b);
    CHECK(memcmp(after, bs, vector_count(b) * sizeof *bs) == 0);
    memcpy(xs, solution, vector_count(x) * sizeof *xs);
    CHECK_PADDING(x);
    free(solution), free(after);
  }
  ts_cg_destroy(&cg);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  return status;
}

/* A solve from 0 that has to converge: to `rtol` in the true residual, within what single precision allows. */
static void solve_and_judge(const ref_matrix *m, ts_matrix *matrix, const ts_cg_desc *desc, int components,
                            double allowed) {
  const size_t count = (size_t)m->rows * (size_t)components;
  float *bs = ref_values(count, 41, -1, 1), *xs = calloc(count, sizeof *xs);
  ts_cg_result result;
  watch w = {0};
  ts_cg_desc own = *desc;
  own.progress = observe;
  own.progress_user = &w;
  CHECK_OK(context, solve(matrix, &own, components, bs, xs, &result));
  CHECK_INT(result.reason, TS_REASON_CONVERGED);
  const double residual = ref_worst_residual(m, NULL, components, xs, bs);
  if (!(residual <= allowed))
    test_fail(__FILE__, __LINE__, "true residual %.3g after %d iterations, allowed %.3g (it says %.3g; \"%s\")",
              residual, result.iterations, allowed, result.relative_residual, result.message);
  /* What it says of the residual is what the residual is. */
  CHECK_CLOSE(result.relative_residual, residual, 0.2 * residual + 4 * result.attainable_residual + 1e-7);
  CHECK(result.iterations >= 1 && result.iterations <= 10 * m->rows + 1000);
  CHECK(result.waits >= w.calls);
  CHECK_INT(w.out_of_order, 0);
  CHECK(w.last_iteration <= result.iterations);
  CHECK_CONTAINS(result.message, "converged");
  free(bs), free(xs);
}

/* Every preconditioner, stopping rule, format and number of components, on every sample that is definite. */
static void samples(void) {
  ref_sample sample;
  for (int n = 0; ref_get_sample(n, &sample); n++) {
    for (int f = 0; sample.spd && f < format_count; f++) {
      ts_matrix *matrix = make_matrix(context, &sample.matrix, formats[f]);
      for (int kind = 0; matrix && kind < 4; kind++)
        for (int components = 1; components <= 4; components++) {
          if (formats[f] != TS_FORMAT_AUTO && (kind + components) % 4) continue;
          ts_cg_desc desc = {0};
          desc.preconditioner = kind & 1 ? TS_PRECONDITIONER_NONE : TS_PRECONDITIONER_JACOBI;
          desc.stop = kind & 2 ? TS_STOP_RESIDUAL : TS_STOP_DELTA;
          desc.rtol = 1e-5;
          test_context_label("%s, %s, %s, %s, %d components", sample.name, ts_format_name(formats[f]),
                             kind & 1 ? "none" : "jacobi", kind & 2 ? "residual" : "delta", components);
          /* delta bounds the residual in another norm: by the square root of the diagonal's spread. */
          const double allowed = kind & 2                                              ? 1.01e-5
                                 : strcmp(sample.name, "diagonal") == 0 && !(kind & 1) ? 1e-3
                                                                                       : 1e-4;
          solve_and_judge(&sample.matrix, matrix, &desc, components, allowed);
        }
      ts_matrix_destroy(&matrix);
    }
    ref_free(&sample.matrix);
  }
}

/* The stopping rule delta_new <= rtol^2 delta_0 to the letter, with the numbers from the result and from
 * outside. */
static void delta_rule(void) {
  ref_matrix m = ref_laplacian_3d(12);
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  float *bs = ref_values((size_t)m.rows, 2, -1, 1);
  const double rtols[] = {1e-1, 1e-3, 1e-5};
  int before = 0;
  for (int k = 0; k < 3; k++) {
    float *xs = calloc((size_t)m.rows, sizeof *xs);
    watch w = {0};
    ts_cg_desc desc = {0};
    desc.preconditioner = TS_PRECONDITIONER_NONE; /* delta is the residual's square then */
    desc.rtol = rtols[k];
    desc.check_interval = 1;
    desc.progress = observe;
    desc.progress_user = &w;
    ts_cg_result result;
    test_context_label("rtol %g", rtols[k]);
    CHECK_OK(context, solve(matrix, &desc, 1, bs, xs, &result));
    const double residual = ref_relative_residual(&m, NULL, 1, 0, xs, bs);
    CHECK(residual <= 1.001 * rtols[k]);
    CHECK(result.delta_ratio <= rtols[k]);
    CHECK_CLOSE(result.delta_ratio, residual, 1e-3 * residual + 2e-7);
    CHECK(result.iterations > before); /* each is harder than the one before */
    before = result.iterations;
    free(xs);
  }
  free(bs);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

/* In exact arithmetic n steps solve a system of n unknowns. */
static void few_unknowns(void) {
  for (int32_t n = 1; n <= 6; n++) {
    ref_matrix m = ref_random_spd(n, 4, (uint64_t)n + 5);
    ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
    float *bs = ref_values((size_t)n, 3, 0.5f, 1), xs[6] = {0};
    ts_cg_desc desc = {0};
    desc.check_interval = 1;
    ts_cg_result result;
    test_context_label("%d unknowns", n);
    CHECK_OK(context, solve(matrix, &desc, 1, bs, xs, &result));
    CHECK(result.iterations <= n + 2);
    CHECK(ref_relative_residual(&m, NULL, 1, 0, xs, bs) <= 2e-5);
    free(bs);
    ts_matrix_destroy(&matrix);
    ref_free(&m);
  }
}

static void warm_start(void) {
  ref_matrix m = ref_grid(40, 30);
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  const size_t n = (size_t)m.rows;
  float *bs = ref_values(n, 4, -1, 1), *xs = calloc(n, sizeof *xs), *again = calloc(n, sizeof *again);
  ts_cg_desc desc = {0};
  desc.stop = TS_STOP_RESIDUAL;
  desc.check_interval = 1;
  ts_cg_result cold, warm, solved;
  CHECK_OK(context, solve(matrix, &desc, 1, bs, xs, &cold));
  /* Near the solution fewer iterations are needed. */
  for (size_t i = 0; i < n; i++) again[i] = xs[i] * (1 + 1e-3f * (float)(i % 3));
  CHECK_OK(context, solve(matrix, &desc, 1, bs, again, &warm));
  CHECK(warm.iterations < cold.iterations);
  CHECK(ref_relative_residual(&m, NULL, 1, 0, again, bs) <= 1.01e-5);
  /* At the solution none is. */
  memcpy(again, xs, n * sizeof *xs);
  CHECK_OK(context, solve(matrix, &desc, 1, bs, again, &solved));
  CHECK_INT(solved.iterations, 0);
  CHECK(memcmp(again, xs, n * sizeof *xs) == 0);
  free(bs), free(xs), free(again);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

/* Unknowns that are locked keep their values, and the others solve the equations with them. */
static void locked(void) {
  const int32_t nx = 31, ny = 23, n = nx * ny;
  ref_matrix m = ref_grid(nx, ny);
  unsigned char *flags = calloc((size_t)n, 1);
  for (int32_t i = 0; i < n; i++) flags[i] = i % nx == 0 || i % nx == nx - 1;
  for (int f = 0; f < format_count; f++)
    for (int components = 1; components <= 3; components += 2) {
      const size_t count = (size_t)n * (size_t)components;
      float *bs = ref_values(count, 6, -1, 1), *xs = ref_values(count, 7, -1, 1),
            *start = ref_values(count, 7, -1, 1);
      ts_matrix_desc matrix_desc = {0};
      matrix_desc.csr = ref_csr(&m);
      matrix_desc.format = formats[f];
      matrix_desc.locked = flags;
      ts_matrix *matrix = NULL;
      test_context_label("%s, %d components", ts_format_name(formats[f]), components);
      if (CHECK_OK(context, ts_matrix_create(context, &matrix_desc, &matrix))) {
        ts_cg_desc desc = {0};
        desc.stop = TS_STOP_RESIDUAL;
        ts_cg_result result;
        CHECK_OK(context, solve(matrix, &desc, components, bs, xs, &result));
        for (int c = 0; c < components; c++) {
          /* Relative to the right-hand side with the locked values moved over, or to b alone: within a factor.
           */
          const double residual = ref_relative_residual(&m, flags, components, c, xs, bs);
          CHECK(residual <= 2e-5);
        }
        for (size_t i = 0; i < count; i++)
          if (flags[i / (size_t)components] && !CHECK(xs[i] == start[i])) break;
      }
      ts_matrix_destroy(&matrix);
      free(bs), free(xs), free(start);
    }
  free(flags);
  ref_free(&m);
}

/* ---- Reasons for not converging ---- */

/* Solves A x = b with b given (or random), expecting a reason and parts of its message. */
static ts_cg_result expect_reason(const ref_matrix *m, const ts_cg_desc *desc, const float *b, ts_reason reason,
                                  const char *part, const char *other) {
  ts_matrix *matrix = make_matrix(context, m, TS_FORMAT_AUTO);
  float *bs = b ? NULL : ref_values((size_t)m->rows, 8, -1, 1), *xs = calloc((size_t)m->rows, sizeof *xs);
  ts_cg_result result = {0};
  if (matrix) {
    const ts_status status = solve(matrix, desc, 1, b ? b : bs, xs, &result);
    CHECK_INT(status, reason <= TS_REASON_ZERO_RESIDUAL ? TS_OK : TS_NOT_CONVERGED);
    if (result.reason != reason)
      test_fail(__FILE__, __LINE__, "the reason is \"%s\", expected \"%s\": \"%s\"",
                ts_reason_text(result.reason), ts_reason_text(reason), result.message);
    CHECK_CONTAINS(result.message, part);
    CHECK_CONTAINS(result.message, other);
    CHECK(strchr(result.message, '\n') == NULL && strlen(result.message) > 5);
  }
  free(bs), free(xs);
  ts_matrix_destroy(&matrix);
  return result;
}

static void not_symmetric(void) {
  ref_matrix m = ref_grid(20, 20);
  /* One entry off its mirror: row 107, column 108. */
  for (int32_t k = m.offsets[107]; k < m.offsets[108]; k++)
    if (m.indices[k] == 108) m.values[k] *= 1.01f;
  expect_reason(&m, NULL, NULL, TS_REASON_NOT_SYMMETRIC, "107", "108");
  ref_free(&m);
  m = ref_skewed_grid(9, 9);
  expect_reason(&m, NULL, NULL, TS_REASON_NOT_SYMMETRIC, "row 0", "column 1");
  ref_free(&m);
}

static void indefinite(void) {
  for (int kind = 0; kind < 2; kind++) {
    ts_cg_desc desc = {0};
    desc.preconditioner = kind ? TS_PRECONDITIONER_NONE : TS_PRECONDITIONER_JACOBI;
    test_context_label("preconditioner %d", kind);
    ref_matrix m = ref_indefinite(17, 13); /* all of the diagonal positive */
    float *ones = malloc(sizeof *ones * (size_t)m.rows);
    for (int32_t i = 0; i < m.rows; i++) ones[i] = 1 + 0.01f * (float)(i % 7);
    expect_reason(&m, &desc, ones, TS_REASON_INDEFINITE, "not positive definite", "");
    free(ones);
    ref_free(&m);
  }
}

/* Some indefinite systems are solved on the way: it is called so only when it is true, and indefinite
 * otherwise. */
static void indefinite_or_solved(void) {
  for (int kind = 0; kind < 4; kind++) {
    ts_cg_desc desc = {0};
    desc.preconditioner = kind & 1 ? TS_PRECONDITIONER_NONE : TS_PRECONDITIONER_JACOBI;
    ref_matrix m = ref_diagonal(50, 1, 3);
    m.values[31] = -2;
    for (int i = 0; kind & 2 && i < 50; i++) m.values[i] = -1;
    test_context_label("kind %d", kind);
    ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
    float *bs = ref_values(50, 8, -1, 1), xs[50] = {0};
    ts_cg_result result;
    if (solve(matrix, &desc, 1, bs, xs, &result) == TS_OK) {
      CHECK(ref_relative_residual(&m, NULL, 1, 0, xs, bs) <= 1e-5);
    } else {
      CHECK_INT(result.reason, TS_REASON_INDEFINITE);
      CHECK_CONTAINS(result.message, "not positive definite");
    }
    free(bs);
    ts_matrix_destroy(&matrix);
    ref_free(&m);
  }
}

static void zero_diagonal(void) {
  ref_matrix m = ref_grid(10, 10);
  for (int32_t k = m.offsets[42]; k < m.offsets[43]; k++)
    if (m.indices[k] == 42) m.values[k] = 0;
  expect_reason(&m, NULL, NULL, TS_REASON_ZERO_DIAGONAL, "row 42", "Jacobi");
  ref_free(&m);
}

static void nan_input(void) {
  ref_matrix m = ref_grid(10, 10);
  for (int kind = 0; kind < 2; kind++) {
    float *bs = ref_values(100, 9, -1, 1), *xs = calloc(100, sizeof *xs);
    bs[77] = kind ? INFINITY : NAN;
    test_context_label("%s in b", kind ? "infinity" : "NaN");
    expect_reason(&m, NULL, bs, TS_REASON_NAN_INPUT, "right-hand side", "");
    bs[77] = 0;
    xs[33] = kind ? -INFINITY : NAN;
    test_context_label("%s in x", kind ? "infinity" : "NaN");
    ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
    ts_cg_result result;
    CHECK_INT(solve(matrix, NULL, 1, bs, xs, &result), TS_NOT_CONVERGED);
    CHECK_INT(result.reason, TS_REASON_NAN_INPUT);
    CHECK_CONTAINS(result.message, "starting value");
    ts_matrix_destroy(&matrix);
    free(bs), free(xs);
  }
  ref_free(&m);
}

static void max_iterations(void) {
  ref_matrix m = ref_grid(60, 60);
  ts_cg_desc desc = {0};
  for (int most = 1; most <= 21; most += 5) {
    desc.max_iterations = most;
    test_context_label("%d", most);
    const ts_cg_result result = expect_reason(&m, &desc, NULL, TS_REASON_MAX_ITERATIONS, "maximum", "");
    CHECK_INT(result.iterations, most);
    CHECK(result.relative_residual > 1e-5 && result.delta_ratio > 1e-5 && isfinite(result.relative_residual));
  }
  ref_free(&m);
}

/* More than single precision can give is not reached, is said, and ends long before the last iteration. */
static void stagnation(void) {
  ref_matrix m = ref_grid(40, 40);
  for (int stop = 0; stop < 2; stop++) {
    ts_cg_desc desc = {0};
    desc.rtol = 1e-12;
    desc.stop = stop ? TS_STOP_RESIDUAL : TS_STOP_DELTA;
    test_context_label("stop rule %d", stop);
    const ts_cg_result result = expect_reason(&m, &desc, NULL, TS_REASON_STAGNATED, "stagnated", "");
    CHECK(result.iterations < 3000);
    CHECK(result.relative_residual < 1e-5); /* and what could be reached was */
    CHECK(result.attainable_residual > 1e-9 && result.attainable_residual < 1e-4);
  }
  ref_free(&m);
}

static void stopped(void) {
  ref_matrix m = ref_grid(60, 60);
  watch w = {0};
  w.stop_at = 7;
  ts_cg_desc desc = {0};
  desc.check_interval = 1;
  desc.progress = observe;
  desc.progress_user = &w;
  const ts_cg_result result = expect_reason(&m, &desc, NULL, TS_REASON_STOPPED, "callback", "");
  CHECK_INT(w.last_iteration, 7);
  CHECK_INT(w.calls, 7);
  CHECK_INT(w.out_of_order, 0);
  CHECK(result.iterations >= 7 && result.iterations <= 16);
  CHECK(isfinite(result.relative_residual) && result.relative_residual > 0);
  ref_free(&m);
}

static void zero_right_side(void) {
  ref_matrix m = ref_grid(12, 12);
  float *zeros = calloc(144, sizeof *zeros);
  const ts_cg_result result = expect_reason(&m, NULL, zeros, TS_REASON_ZERO_RESIDUAL, "already", "");
  CHECK_INT(result.iterations, 0);
  CHECK_CLOSE(result.relative_residual, 0, 0);
  /* b = 0 and x not 0: the way to 0 is a solve like any other. */
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  float *xs = ref_values(144, 12, -1, 1);
  ts_cg_result homing;
  CHECK_OK(context, solve(matrix, NULL, 1, zeros, xs, &homing));
  CHECK_INT(homing.reason, TS_REASON_CONVERGED);
  for (int i = 0; i < 144; i++)
    if (!CHECK(fabsf(xs[i]) < 1e-3f)) break;
  free(zeros), free(xs);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

/* ---- Waits, history, repeatability, scaling ---- */

/* A solve that runs for a fixed number of iterations waits once a check, and a constant number of times else.
 */
static void waits(void) {
  ref_matrix m = ref_grid(70, 70);
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  const size_t n = (size_t)m.rows;
  float *bs = ref_values(n, 13, -1, 1), *xs = malloc(n * sizeof *xs);
  static const int intervals[] = {1, 4, 16};
  for (int k = 0; k < 3; k++) {
    int constant = -1;
    for (int checks = 1; checks <= 4; checks++) {
      watch w = {0};
      ts_cg_desc desc = {0};
      desc.rtol = 1e-7;
      desc.check_interval = intervals[k];
      desc.max_iterations = checks * intervals[k];
      desc.progress = observe;
      desc.progress_user = &w;
      ts_cg_result result;
      memset(xs, 0, n * sizeof *xs);
      const uint64_t before = context_info(context).waits;
      test_context_label("interval %d, %d checks", intervals[k], checks);
      CHECK_INT(solve(matrix, &desc, 1, bs, xs, &result), TS_NOT_CONVERGED);
      CHECK_INT(result.restarts, 0);
      CHECK_INT(result.iterations, checks * intervals[k]);
      /* `solve` reads x and b afterwards: two waits more that are not the solver's. */
      CHECK_INT(context_info(context).waits - before, result.waits + 2);
      if (constant < 0) constant = result.waits - w.calls;
      CHECK_INT(result.waits, w.calls + constant);
      CHECK(w.calls >= 1 && w.calls <= checks);
      CHECK(constant >= 0 && constant <= 3);
      CHECK_INT(w.out_of_order, 0);
    }
  }
  free(bs), free(xs);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

/* The history has one number for each iteration and does not depend on how often it is looked at. */
typedef struct record {
  int count;
  double numbers[64];
} record;

static int keep(int iteration, const double *history, int count, void *user) {
  record *r = user;
  (void)iteration;
  for (int k = 0; k < count && r->count < 64; k++) r->numbers[r->count++] = history[k];
  return 0;
}

static void history(void) {
  ref_matrix m = ref_grid(50, 50);
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  const size_t n = (size_t)m.rows;
  float *bs = ref_values(n, 13, -1, 1), *xs = malloc(n * sizeof *xs);
  record records[3];
  static const int intervals[] = {1, 7, 64};
  for (int k = 0; k < 3; k++) {
    records[k].count = 0;
    ts_cg_desc desc = {0};
    desc.max_iterations = 28;
    desc.rtol = 1e-7;
    desc.check_interval = intervals[k];
    desc.progress = keep;
    desc.progress_user = &records[k];
    ts_cg_result result;
    memset(xs, 0, n * sizeof *xs);
    solve(matrix, &desc, 1, bs, xs, &result);
    test_context_label("interval %d", intervals[k]);
    CHECK_INT(result.iterations, 28);
    CHECK(records[k].count >= 14 && records[k].count <= 28);
    for (int i = 0; i < records[k].count && i < records[0].count; i++)
      if (!CHECK(records[k].numbers[i] == records[0].numbers[i])) break;
  }
  CHECK(records[0].numbers[20] < 0.9 * records[0].numbers[0]);
  free(bs), free(xs);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

static void same_bits(void) {
  ref_matrix m = ref_torus_mesh(40, 26, 3000, 5);
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  const size_t n = (size_t)m.rows * 3;
  float *bs = ref_values(n, 14, -1, 1), *xs = calloc(n, sizeof *xs), *again = calloc(n, sizeof *again);
  ts_cg_result one, two;
  CHECK_OK(context, solve(matrix, NULL, 3, bs, xs, &one));
  CHECK_OK(context, solve(matrix, NULL, 3, bs, again, &two));
  CHECK(memcmp(xs, again, n * sizeof *xs) == 0);
  CHECK_INT(one.iterations, two.iterations);
  CHECK(one.delta_ratio == two.delta_ratio && one.relative_residual == two.relative_residual);
  free(bs), free(xs), free(again);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

/* Right-hand sides whose squares leave the range of single precision are solved like any other. */
static void scaling(void) {
  ref_matrix m = ref_grid(30, 30);
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  const float factors[] = {1, 1e-20f, 1e20f, 1e-30f, 1e30f};
  int iterations = 0;
  for (int k = 0; k < 5; k++) {
    float *bs = ref_values(900, 15, -1, 1), xs[900] = {0};
    for (int i = 0; i < 900; i++) bs[i] *= factors[k];
    ts_cg_result result;
    ts_cg_desc desc = {0};
    desc.stop = TS_STOP_RESIDUAL;
    test_context_label("b scaled by %g", (double)factors[k]);
    CHECK_OK(context, solve(matrix, &desc, 1, bs, xs, &result));
    CHECK(ref_relative_residual(&m, NULL, 1, 0, xs, bs) <= 1.01e-5);
    CHECK(result.relative_residual <= 1e-5);
    if (k == 0) iterations = result.iterations;
    CHECK(abs(result.iterations - iterations) <= 16);
    free(bs);
  }
  ts_matrix_destroy(&matrix);
  ref_free(&m);
  /* The same with the matrix. */
  for (int k = 0; k < 2; k++) {
    m = ref_grid(30, 30);
    for (int64_t i = 0; i < ref_nonzeros(&m); i++) m.values[i] *= k ? 1e12f : 1e-12f;
    matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
    float *bs = ref_values(900, 15, -1, 1), xs[900] = {0};
    ts_cg_result result;
    test_context_label("A scaled by %g", k ? 1e12 : 1e-12);
    CHECK_OK(context, solve(matrix, NULL, 1, bs, xs, &result));
    CHECK(ref_relative_residual(&m, NULL, 1, 0, xs, bs) <= 1e-4);
    free(bs);
    ts_matrix_destroy(&matrix);
    ref_free(&m);
  }
}

/* Components have step lengths of their own: one that is solved, or far larger, does not disturb the others. */
static void components_apart(void) {
  ref_matrix m = ref_grid(30, 30);
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  float bs[900 * 4], xs[900 * 4] = {0};
  float *values = ref_values(900 * 4, 16, -1, 1);
  for (int i = 0; i < 900; i++) {
    bs[4 * i] = values[4 * i];
    bs[4 * i + 1] = 0; /* x = 0 solves it */
    bs[4 * i + 2] = 1e15f * values[4 * i + 2];
    bs[4 * i + 3] = 1e-15f * values[4 * i + 3];
  }
  ts_cg_desc desc = {0};
  desc.stop = TS_STOP_RESIDUAL;
  ts_cg_result result;
  CHECK_OK(context, solve(matrix, &desc, 4, bs, xs, &result));
  for (int c = 0; c < 4; c++) {
    test_context_label("component %d", c);
    CHECK(ref_relative_residual(&m, NULL, 4, c, xs, bs) <= 1.01e-5);
  }
  for (int i = 0; i < 900; i++)
    if (!CHECK(xs[4 * i + 1] == 0)) break;
  free(values);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

/* One solver for several solves, other numbers of components, and new values of the matrix. */
static void solver_is_reused(void) {
  ref_matrix m = ref_grid(25, 25);
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  ts_cg *cg = make_cg(matrix, NULL);
  ts_space *space = ts_matrix_row_space(matrix);
  for (int round = 0; round < 6; round++) {
    const int components = 1 + round % 3;
    const size_t count = 625 * (size_t)components;
    float *bs = ref_values(count, (uint64_t)round + 50, -1, 1);
    ts_vector *b = make_vector(space, components, bs), *x = make_vector(space, components, NULL);
    test_context_label("round %d", round);
    if (round == 3) {
      for (int64_t k = 0; k < ref_nonzeros(&m); k++) m.values[k] *= 3;
      const ts_csr csr = ref_csr(&m);
      CHECK_OK(context, ts_matrix_set_values(matrix, &csr));
    }
    if (round == 4) ts_matrix_destroy(&matrix); /* the solver keeps it */
    CHECK_OK(context, ts_cg_solve(cg, b, x, NULL));
    float *xs = read_vector(x);
    CHECK(ref_worst_residual(&m, NULL, components, xs, bs) <= 1e-4);
    free(xs), free(bs);
    ts_vector_destroy(&b);
    ts_vector_destroy(&x);
  }
  ts_cg_destroy(&cg);
  ref_free(&m);
}

static void run_all(void (*run)(void)) {
  context = test_open();
  if (context) {
    format_count = list_formats(context, formats);
    run();
  }
  test_context_label("%s", "");
  test_close(&context);
}

#define CASE(name)                                                                                             \
  static void case_##name(void) {                                                                              \
    run_all(name);                                                                                             \
  }
CASE(samples)
CASE(delta_rule)
CASE(few_unknowns)
CASE(warm_start)
CASE(locked)
CASE(not_symmetric)
CASE(indefinite)
CASE(indefinite_or_solved)
CASE(zero_diagonal)
CASE(nan_input)
CASE(max_iterations)
CASE(stagnation)
CASE(stopped)
CASE(zero_right_side)
CASE(waits)
CASE(history)
CASE(same_bits)
CASE(scaling)
CASE(components_apart)
CASE(solver_is_reused)

static const test_case cases[] = {
    {"samples", case_samples},
    {"delta_rule", case_delta_rule},
    {"few_unknowns", case_few_unknowns},
    {"warm_start", case_warm_start},
    {"locked", case_locked},
    {"not_symmetric", case_not_symmetric},
    {"indefinite", case_indefinite},
    {"indefinite_or_solved", case_indefinite_or_solved},
    {"zero_diagonal", case_zero_diagonal},
    {"nan_input", case_nan_input},
    {"max_iterations", case_max_iterations},
    {"stagnation", case_stagnation},
    {"stopped", case_stopped},
    {"zero_right_side", case_zero_right_side},
    {"waits", case_waits},
    {"history", case_history},
    {"same_bits", case_same_bits},
    {"scaling", case_scaling},
    {"components_apart", case_components_apart},
    {"solver_is_reused", case_solver_is_reused},
};
TEST_MAIN(cases, 0)
