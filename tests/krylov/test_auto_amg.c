/* Auto changes between Jacobi and AMG within a solve. The tests check which systems change, that the iterations
 * spent are reported, that the result is right, and that auto respects a request for Jacobi. The costs are set
 * explicitly, so that they are equal on all machines. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <texsolve/amg.h>

#include "common/core/core.h"
#include "common/krylov/lanczos.h"
#include "krylov_solve.h"

static ts_context *context;

enum { SIDE = 64, PRICE = 80 /* the cost of AMG in iterations */ };

typedef struct outcome {
  ts_status status;
  ts_result result;
  double residual; /* ||b - A x|| / ||b|| */
  int stages, first_iterations;
  ts_reason first_reason;
  ts_preconditioner_kind first, last;
  char choice[200]; /* of the last stage */
} outcome;

/* One iteration costs 1 us regardless of the matrix, which is too cheap for direct factors. AMG costs `price`
 * iterations. */
static void set_prices(double price) {
  CHECK_OK(context, ts_context_set_tuning(context, "iteration_nanoseconds", 1e3));
  CHECK_OK(context, ts_context_set_tuning(context, "entry_nanoseconds", 1e-9));
  CHECK_OK(context, ts_context_set_tuning(context, "row_nanoseconds", 1e-9));
  CHECK_OK(context, ts_context_set_tuning(context, "amg_nanoseconds", price * 1e3));
  CHECK_OK(context, ts_context_set_tuning(context, "amg_entry_nanoseconds", 1e-9));
  CHECK_OK(context, ts_context_set_tuning(context, "amg_row_nanoseconds", 1e-9));
  CHECK_OK(context, ts_context_set_tuning(context, "look_iterations", 5));
}

/* Matrices over several processes keep host copies only on request. */
static ts_matrix *make_as(const ref_matrix *m, int keep, ts_format format) {
  ts_matrix *A = NULL;
  const ts_matrix_desc desc = {
      .csr = ref_csr(m), .format = format, .keep_host_copy = test_is_ranks() && keep == 0 ? 1 : keep};
  CHECK_OK(context, ts_matrix_create(context, &desc, &A));
  return A;
}

static ts_matrix *make(const ref_matrix *m, int keep) {
  return make_as(m, keep, TS_FORMAT_AUTO);
}

/* True if the backend supports AMG for this matrix. */
static int has_amg(ts_matrix *A) {
  ts_preconditioner *M = NULL;
  const ts_status status =
      ts_preconditioner_create(A, &(ts_preconditioner_desc){.kind = TS_PRECONDITIONER_AMG}, &M);
  ts_preconditioner_destroy(&M);
  return status == TS_OK;
}

static ts_preconditioner_kind kind_of(const ts_solver *solver, outcome *out) {
  ts_preconditioner_info info;
  CHECK_OK(context, ts_preconditioner_get_info(ts_solver_get_preconditioner(solver), &info));
  snprintf(out->choice, sizeof out->choice, "%s", info.choice);
  return info.kind;
}

static void read_stages(const ts_solver *solver, outcome *out) {
  int iterations = 0;
  out->stages = ts_solver_get_stage_count(solver);
  out->first = out->last = kind_of(solver, out);
  for (int i = 0; i < out->stages; i++) {
    ts_stage_info info;
    CHECK_OK(context, ts_solver_get_stage(solver, i, &info));
    iterations += info.iterations;
    if (i == 0) out->first = info.preconditioner;
    if (i == 0) out->first_iterations = info.iterations;
    if (i == 0) out->first_reason = info.reason;
    if (i == out->stages - 1) CHECK(info.preconditioner == out->last);
  }
  if (out->stages) CHECK_INT(iterations, out->result.iterations);
}

/* The largest value over the components, with x as doubles. */
static double residual_of(const ref_matrix *m, int components, const double *x, const float *b) {
  double worst = 0;
  for (int c = 0; c < components; c++) {
    long double of_r = 0, of_b = 0;
    for (int32_t i = 0; i < m->rows; i++) {
      const long double given = (long double)b[i * components + c];
      long double r = given;
      for (int32_t k = m->offsets[i]; k < m->offsets[i + 1]; k++)
        r -= (long double)m->values[k] * (long double)x[m->indices[k] * components + c];
      of_r += r * r;
      of_b += given * given;
    }
    worst = fmax(worst, (double)sqrtl(of_r / of_b));
  }
  return worst;
}

/* b is random, and x starts from 0 in all components. */
static outcome run(ts_solver *solver, const ref_matrix *m, ts_matrix *A, int components, uint64_t seed) {
  outcome out = {0};
  const size_t count = (size_t)m->rows * (size_t)components;
  float *bs = ref_values(count, seed, -1, 1);
  ts_vector *b = NULL, *x = NULL;
  const ts_vector_desc vectors = {.components = components};
  CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), &vectors, &b));
  CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), &vectors, &x));
  CHECK_OK(context, ts_vector_write(b, ts_host(bs, count)));
  out.status = ts_solver_solve(solver, b, x, &out.result);
  double *xs = read_doubles(x);
  out.residual = residual_of(m, components, xs, bs);
  read_stages(solver, &out);
  free(bs), free(xs);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  return out;
}

static outcome solve(const ref_matrix *m, int keep, const ts_solver_desc *desc, int components) {
  ts_matrix *A = make(m, keep);
  ts_solver *solver = NULL;
  CHECK_OK(context, ts_solver_create(A, desc, &solver));
  const outcome out = run(solver, m, A, components, 5);
  ts_solver_destroy(&solver);
  ts_matrix_destroy(&A);
  return out;
}

/* M + t L on a grid, with M = I. */
static ref_matrix heat(int32_t side, double t) {
  ref_matrix m = ref_graph(side, side);
  for (int32_t i = 0; i < m.rows; i++)
    for (int32_t k = m.offsets[i]; k < m.offsets[i + 1]; k++)
      m.values[k] = (float)(t * (double)m.values[k] + (m.indices[k] == i));
  return m;
}

static int amg_is_there(void) {
  ref_matrix m = heat(SIDE, 1);
  ts_matrix *A = make(&m, 1);
  const int there = has_amg(A);
  ts_matrix_destroy(&A);
  ref_free(&m);
  return there;
}

static const ts_solver_desc usual = {.rtol = 1e-5};

static void check_solved(const outcome *out, ts_preconditioner_kind last) {
  if (!CHECK_INT(out->status, TS_OK)) printf("  %s\n", ts_last_error(context));
  if (!CHECK(out->residual <= 1.001e-5)) printf("  %g\n", out->residual);
  CHECK_INT(out->last, last);
}

/* Checks a solve that began with Jacobi and ended with AMG. */
static void check_changed(const outcome *out) {
  check_solved(out, TS_PRECONDITIONER_AMG);
  CHECK_INT(out->stages, 2);
  CHECK(out->first == TS_PRECONDITIONER_JACOBI && out->first_reason == TS_REASON_STOPPED);
  CHECK(out->first_iterations >= 10 && out->first_iterations <= PRICE);
  CHECK(out->result.iterations > out->first_iterations);
  char said[64];
  snprintf(said, sizeof said, "amg: after %d iterations of jacobi", out->first_iterations);
  if (!CHECK(!strncmp(out->choice, said, strlen(said)))) printf("  %s\n", out->choice);
}

/* From t = 0, the identity, to a matrix that is almost L alone. */
static void from_mass_to_stiffness(void) {
  static const struct {
    double t;
    int changes;
  } cases[] = {{0, 0}, {1e-3, 0}, {0.1, 0}, {1, 0}, {10, 0}, {1e4, 1}, {1e6, 1}};
  const int there = amg_is_there();
  set_prices(PRICE);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ref_matrix m = heat(SIDE, cases[i].t);
    test_context_label("t = %g", cases[i].t);
    const outcome out = solve(&m, 0, &usual, 1);
    if (cases[i].changes && there)
      check_changed(&out);
    else
      check_solved(&out, TS_PRECONDITIONER_JACOBI);
    ref_free(&m);
  }
}

/* Random coefficients of 1 and 1e6. */
static ref_matrix jumps(void) {
  ref_matrix m = ref_graph(SIDE, SIDE);
  for (int32_t i = 0; i < m.rows; i++) {
    double sum = 0;
    int32_t diagonal = 0;
    for (int32_t k = m.offsets[i]; k < m.offsets[i + 1]; k++) {
      const int large =
          (int)((uint32_t)i * 2654435769u >> 31) + (int)((uint32_t)m.indices[k] * 2654435769u >> 31);
      if (m.indices[k] == i)
        diagonal = k;
      else
        sum -= (double)(m.values[k] *= large == 2 ? 1e6f : large == 1 ? 2 : 1);
    }
    m.values[diagonal] = (float)(sum * (1 + 1e-6));
  }
  return m;
}

/* A hub that is connected to all other nodes, plus 1/10 on the diagonal. Two eigenvalues of its Laplacian
 * differ from the rest. */
static ref_matrix star(int32_t n) {
  ref_matrix m = ref_arrow(n);
  for (int32_t i = 0; i < n; i++)
    for (int32_t k = m.offsets[i]; k < m.offsets[i + 1]; k++) {
      const int is_own = m.indices[k] == i, is_of_hub = i == 0 || m.indices[k] == 0;
      m.values[k] = is_own ? 0.1f + (i == 0 ? (float)(n - 1) : 1) : is_of_hub ? -1 : 0;
    }
  return m;
}

static void unlike_coefficients(void) {
  ref_matrix of_jumps = jumps(), of_star = star(5000);
  const int there = amg_is_there();
  set_prices(PRICE);
  test_context_label("jumps");
  outcome out = solve(&of_jumps, 0, &usual, 1);
  if (there)
    check_changed(&out);
  else
    CHECK_INT(out.status, TS_OK);
  test_context_label("star");
  out = solve(&of_star, 0, &usual, 1);
  check_solved(&out, TS_PRECONDITIONER_JACOBI);
  CHECK(out.result.iterations < PRICE);
  ref_free(&of_jumps), ref_free(&of_star);
}

/* A chain of 1e5 rows: AMG is chosen before the first iteration because of the graph's diameter. */
static void chain(void) {
  ref_matrix m = ref_graph(1, 100000);
  for (int32_t i = 0; i < m.rows; i++)
    for (int32_t k = m.offsets[i]; k < m.offsets[i + 1]; k++)
      if (m.indices[k] == i) m.values[k] += 1e-3f;
  ts_matrix *A = make(&m, 0);
  const int there = has_amg(A);
  ts_matrix_destroy(&A);
  if (there) {
    const outcome out = solve(&m, 0, &usual, 1);
    check_solved(&out, TS_PRECONDITIONER_AMG);
    CHECK(out.stages == 1 && strstr(out.choice, "graph diameter"));
  }
  ref_free(&m);
}

/* A loose tolerance saves iterations of Jacobi, but no part of AMG's set-up. */
static void tolerances(void) {
  static const struct {
    double rtol;
    ts_preconditioner_kind kind;
    const char *why;
  } cases[] = {{1e-8, TS_PRECONDITIONER_AMG, "at least 150"},
               {1e-5, TS_PRECONDITIONER_AMG, "at least 150"},
               {1e-2, TS_PRECONDITIONER_JACOBI, "less than 300"}};
  ref_matrix m = heat(130, 1e6);
  ts_matrix *A = make(&m, 1);
  CHECK_OK(context, ts_context_set_tuning(context, "amg_couplings", 150));
  CHECK_OK(context, ts_context_set_tuning(context, "diagonals_part", 1));
  for (int i = 0; i < 3 && has_amg(A); i++) {
    ts_solver *solver = NULL;
    outcome out = {0};
    CHECK_OK(context, ts_solver_create(A, &(ts_solver_desc){.rtol = cases[i].rtol}, &solver));
    CHECK_INT(kind_of(solver, &out), cases[i].kind);
    if (!CHECK(strstr(out.choice, cases[i].why) != NULL)) printf("  %s\n", out.choice);
    ts_solver_destroy(&solver);
  }
  ts_matrix_destroy(&A);
  ref_free(&m);
}

/* The second solve begins with the preconditioner that finished the first one, even after new values. */
static void second_solve(void) {
  ref_matrix m = heat(SIDE, 1e4), stiffer = heat(SIDE, 3e4);
  ts_matrix *A = make(&m, 0);
  ts_solver *solver = NULL;
  const int there = amg_is_there();
  set_prices(PRICE);
  CHECK_OK(context, ts_solver_create(A, &usual, &solver));
  outcome out = run(solver, &m, A, 1, 5);
  if (there) {
    check_changed(&out);
    const int with_amg = out.result.iterations - out.first_iterations;
    out = run(solver, &m, A, 1, 6);
    check_solved(&out, TS_PRECONDITIONER_AMG);
    CHECK(out.stages == 1 && out.result.iterations <= 2 * with_amg);
    const ts_csr csr = ref_csr(&stiffer);
    CHECK_OK(context, ts_matrix_set_values(A, &csr));
    out = run(solver, &stiffer, A, 1, 7);
    check_solved(&out, TS_PRECONDITIONER_AMG);
    CHECK_INT(out.stages, 1);
  }
  ts_solver_destroy(&solver);
  ts_matrix_destroy(&A);
  ref_free(&m), ref_free(&stiffer);
}

/* The levels that a solve with auto has made have the entries of those made from a copy, in every format: zeros
 * that fill blocks are not entries. New values reach them. */
static void formats(void) {
  ts_format all[8];
  const int count = list_formats(context, all), there = amg_is_there();
  ref_matrix m = heat(SIDE, 1e4), stiffer = heat(SIDE, 3e4);
  set_prices(PRICE);
  for (int f = 0; f < count && there; f++) {
    test_context_label("%s", ts_format_name(all[f]));
    ts_matrix *A = make_as(&m, 0, all[f]), *copied = make_as(&m, 1, all[f]);
    ts_solver *solver = NULL;
    ts_preconditioner *M = NULL;
    CHECK_OK(context, ts_solver_create(A, &usual, &solver));
    outcome out = run(solver, &m, A, 1, 5);
    check_changed(&out);
    const int with_amg = out.result.iterations - out.first_iterations;
    CHECK_OK(context,
             ts_preconditioner_create(copied, &(ts_preconditioner_desc){.kind = TS_PRECONDITIONER_AMG}, &M));
    ts_amg_level_info made, expected;
    CHECK_OK(context, ts_preconditioner_get_amg_level(ts_solver_get_preconditioner(solver), 1, &made));
    CHECK_OK(context, ts_preconditioner_get_amg_level(M, 1, &expected));
    CHECK_INT(made.rows, expected.rows);
    CHECK_INT(made.entries, expected.entries);
    for (int i = 0; i < 2; i++) {
      const ref_matrix *next = i ? &m : &stiffer;
      const ts_csr csr = ref_csr(next);
      CHECK_OK(context, ts_matrix_set_values(A, &csr));
      out = run(solver, next, A, 1, 7);
      check_solved(&out, TS_PRECONDITIONER_AMG);
      CHECK_INT(out.stages, 1);
      if (!CHECK(out.result.iterations <= with_amg + 1))
        printf("  %d iterations instead of %d\n", out.result.iterations, with_amg);
    }
    ts_preconditioner_destroy(&M);
    ts_solver_destroy(&solver);
    ts_matrix_destroy(&A);
    ts_matrix_destroy(&copied);
  }
  ref_free(&m), ref_free(&stiffer);
}

/* M + t L with couplings along one diagonal too, `diagonal` times as large. */
static ref_matrix heat_on_triangles(double t, double diagonal) {
  ref_matrix m = ref_grid(SIDE, SIDE);
  for (int32_t i = 0; i < m.rows; i++) {
    double sum = 0;
    int32_t own = 0;
    for (int32_t k = m.offsets[i]; k < m.offsets[i + 1]; k++) {
      const int32_t apart = abs(m.indices[k] - i);
      const double coupling = apart == 0 ? 0 : apart == 1 || apart == SIDE ? t : diagonal * t;
      if (apart == 0) own = k;
      sum += coupling;
      m.values[k] = (float)-coupling;
    }
    m.values[own] = (float)(1 + sum);
  }
  return m;
}

/* Stored zeros may get other values. A copy that was read back from the device lacks them. */
static void stored_zeros(void) {
  ts_format all[8];
  const int count = list_formats(context, all), there = amg_is_there();
  ref_matrix m = heat_on_triangles(1e4, 0), coupled = heat_on_triangles(1e4, 3);
  set_prices(PRICE);
  for (int f = 0; f < count && there; f++) {
    test_context_label("%s", ts_format_name(all[f]));
    ts_matrix *A = make_as(&m, 0, all[f]), *fresh = make_as(&coupled, 1, all[f]);
    ts_solver *solver = NULL, *expected = NULL;
    CHECK_OK(context, ts_solver_create(A, &usual, &solver));
    const ts_solver_desc with_amg = {.rtol = usual.rtol, .preconditioner_kind = TS_PRECONDITIONER_AMG};
    CHECK_OK(context, ts_solver_create(fresh, &with_amg, &expected));
    outcome out = run(solver, &m, A, 1, 5);
    check_changed(&out);
    const ts_csr csr = ref_csr(&coupled);
    CHECK_OK(context, ts_matrix_set_values(A, &csr));
    const int iterations = run(expected, &coupled, fresh, 1, 7).result.iterations;
    out = run(solver, &coupled, A, 1, 7);
    check_solved(&out, TS_PRECONDITIONER_AMG);
    if (!CHECK(out.stages == 1 && out.result.iterations <= 2 * iterations))
      printf("  %d iterations instead of %d\n", out.result.iterations, iterations);
    ts_solver_destroy(&expected);
    ts_solver_destroy(&solver);
    ts_matrix_destroy(&A);
    ts_matrix_destroy(&fresh);
  }
  ref_free(&m), ref_free(&coupled);
}

/* Solves with one solver until a solve begins with AMG, at most `most` times. Returns the number of solves
 * before it. */
static int solves_before_amg(ts_solver *solver, const ref_matrix *m, ts_matrix *A, int most) {
  for (int i = 0; i < most; i++) {
    const outcome out = run(solver, m, A, 1, 10 + (uint64_t)i);
    CHECK(out.status == TS_OK && out.residual <= 1.001e-5 && out.stages == 1);
    if (out.last == TS_PRECONDITIONER_AMG) return i;
  }
  return most;
}

/* One solve is cheaper with Jacobi than with AMG and its set-up, but all of them together are not. If AMG's
 * cycles turn out to be slower than Jacobi, later solves return to Jacobi. */
static void many_solves(void) {
  enum { MANY = 12, CHEAP = 56 };
  ref_matrix m = heat(SIDE, 3);
  ts_matrix *A = make(&m, 0);
  const int there = amg_is_there();
  for (int is_dear = 0; is_dear < 2 && there; is_dear++) {
    ts_solver *solver = NULL;
    set_prices(is_dear ? 5 * CHEAP : CHEAP);
    CHECK_OK(context, ts_context_set_tuning(context, "diagonals_part", 1));
    if (is_dear)
      CHECK_OK(context, ts_context_set_tuning(context, "entry_nanoseconds", 4e3 / (double)ref_nonzeros(&m)));
    CHECK_OK(context, ts_solver_create(A, &usual, &solver));
    const int before = solves_before_amg(solver, &m, A, MANY);
    if (!CHECK(before > 1 && before < MANY)) printf("  after %d solves\n", before);
    const outcome next = run(solver, &m, A, 1, 4);
    check_solved(&next, is_dear ? TS_PRECONDITIONER_JACOBI : TS_PRECONDITIONER_AMG);
    CHECK_INT(next.stages, 1);
    ts_solver_destroy(&solver);
  }
  ts_matrix_destroy(&A);
  ref_free(&m);
}

/* A preconditioner that is requested is never changed. A requested method leaves the choice of the
 * preconditioner to auto. */
static void what_was_asked_for(void) {
  ref_matrix m = heat(SIDE, 1e4);
  const int there = amg_is_there();
  set_prices(PRICE);
  const ts_solver_desc jacobi = {.preconditioner_kind = TS_PRECONDITIONER_JACOBI, .rtol = 1e-5};
  outcome out = solve(&m, 0, &jacobi, 1);
  check_solved(&out, TS_PRECONDITIONER_JACOBI);
  CHECK(out.stages == 0 && out.result.iterations > PRICE && !out.choice[0]);
  const int alone = out.result.iterations;
  out = solve(&m, 0, &(ts_solver_desc){.method = TS_METHOD_CG, .rtol = 1e-5}, 1);
  if (there) check_changed(&out);
  out = solve(&m, 0, &(ts_solver_desc){.fixed_iterations = 30}, 1);
  CHECK(out.last == TS_PRECONDITIONER_JACOBI && out.stages == 0 && out.result.iterations == 30);
  out = solve(&m, -1, &usual, 1);
  check_solved(&out, TS_PRECONDITIONER_JACOBI);
  CHECK_INT(out.result.iterations, alone);
  ref_free(&m);
}

/* If AMG costs more than Jacobi's remaining iterations, it is not set up. */
static void prices(void) {
  ref_matrix m = heat(SIDE, 1e4);
  set_prices(1e5);
  const outcome out = solve(&m, 0, &usual, 1);
  check_solved(&out, TS_PRECONDITIONER_JACOBI);
  ref_free(&m);
}

/* A device estimates the remaining iterations less often. With OpenGL it always does so at checks, every 16. */
static void interval(void) {
  enum { apart = 16 };
  ref_matrix m = heat(SIDE, 1e4);
  const int there = amg_is_there();
  set_prices(PRICE);
  CHECK_OK(context, ts_context_set_tuning(context, "look_iterations", apart));
  const outcome out = solve(&m, 0, &usual, 1);
  if (there) {
    check_changed(&out);
    CHECK(out.first_iterations >= apart);
  }
  ref_free(&m);
}

static void several_components(void) {
  ref_matrix m = heat(SIDE, 1e4);
  const int there = amg_is_there();
  set_prices(PRICE);
  const outcome out = solve(&m, 0, &usual, 3);
  if (there)
    check_changed(&out);
  else
    CHECK_INT(out.status, TS_OK);
  ref_free(&m);
}

/* The stages share max_iterations, and the callback's iteration count continues over all stages. */
static void budget(void) {
  ref_matrix m = heat(SIDE, 1e4);
  const int there = amg_is_there();
  set_prices(PRICE);
  watch w = {0};
  ts_solver_desc desc = {.rtol = 1e-5, .progress = observe, .progress_user = &w};
  outcome out = solve(&m, 0, &desc, 1);
  if (there) check_changed(&out);
  CHECK(w.calls > 0 && w.last_iteration <= out.result.iterations);
  w = (watch){0};
  desc.max_iterations = out.first_iterations + 2;
  out = solve(&m, 0, &desc, 1);
  CHECK_INT(out.status, TS_NOT_CONVERGED);
  CHECK_INT(out.result.iterations, desc.max_iterations);
  ref_free(&m);
}

/* Conjugate gradients on a diagonal matrix with b = 1. Returns the iterations to 1e-8, and what was expected of
 * them after the first `look` iterations. */
static int iterations_of(const double *a, int n, int look, double *expected) {
  tsi_lanczos t;
  double r[200], d[200], delta = n, condition;
  int count = 0;
  CHECK(n <= 200);
  for (int i = 0; i < n; i++) r[i] = d[i] = 1;
  tsi_lanczos_begin(&t);
  for (; delta > 1e-16 * n && count < 5000; count++) {
    double dq = 0, next = 0;
    for (int i = 0; i < n; i++) dq += a[i] * d[i] * d[i];
    for (int i = 0; i < n; i++) {
      r[i] -= delta / dq * a[i] * d[i];
      next += r[i] * r[i];
    }
    if (count < look) tsi_lanczos_add(&t, delta, dq, next);
    for (int i = 0; i < n; i++) d[i] = r[i] + next / delta * d[i];
    delta = next;
  }
  *expected = tsi_lanczos_iterations(&t, 1e8, &condition);
  return count;
}

/* Eigenvalues from 0.02 to 2, and a few far below. Each of these takes about one more iteration, whether others
 * are near it or not. */
static void eigenvalues_far_below(void) {
  static const struct {
    int count;
    double values[8];
  } cases[] = {{0, {0}},
               {1, {3e-5}},
               {2, {3e-5, 4.7e-5}},
               {3, {3e-5, 4e-5, 1e-4}},
               {5, {1e-7, 2e-7, 3e-5, 5e-5, 2e-4}},
               {8, {1e-5, 1.2e-5, 1.5e-5, 2e-5, 3e-5, 5e-5, 8e-5, 1.3e-4}}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    enum { rest = 150 };
    double a[rest + 8], expected;
    memcpy(a, cases[k].values, sizeof cases[k].values);
    for (int i = 0; i < rest; i++) a[cases[k].count + i] = 0.02 * pow(100, i / (rest - 1.0));
    const int n = rest + cases[k].count, count = iterations_of(a, n, 0, &expected);
    iterations_of(a, n, 3 * count / 4, &expected);
    test_context_label("%d: %d iterations, %.0f expected", cases[k].count, count, expected);
    CHECK(expected > 0.5 * count && expected < 3 * count);
    test_context_label("%s", "");
  }
}

static const test_fixture fixture = {.context = &context, .needs_pairs = 1};

TEST_MAIN(CASES_WITH(&fixture, from_mass_to_stiffness, unlike_coefficients, chain, tolerances, second_solve,
                     formats, stored_zeros, many_solves, what_was_asked_for, prices, interval,
                     several_components, budget, eigenvalues_far_below))
