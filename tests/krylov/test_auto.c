/* Precision auto on small ill-conditioned systems. Auto solves every system that double solves within half of
 * the iterations, and every reported result holds for the doubles that are read. */
#include "common/core/core.h"
#include "small_system.h"

static ts_context *context;

enum { SYSTEMS = 500, MOST = 100 };

/* Singular values from 1 to 1 / condition: in geometric progression, one small value, many small values, evenly
 * spaced. */
static void fill_spectrum(double *values, int n, int kind, double condition) {
  for (int i = 0; i < n; i++) {
    const double f = n > 1 ? (double)i / (n - 1) : 0;
    values[i] = kind == 0   ? pow(condition, -f)
                : kind == 1 ? (i == n - 1 && n > 1 ? 1 / condition : 1 + f)
                : kind == 2 ? (i == 0 ? 1 : (1 + f) / condition)
                            : 1 / (1 + f * (condition - 1));
  }
}

typedef struct sample {
  small_system system;
  ts_solver_desc desc;
  double condition;
  int symmetric, spectrum;
} sample;

static sample make(int number) {
  static const double rtols[] = {1e-5, 1e-8, 1e-11};
  ref_random r = {(uint64_t)number};
  double values[MOST];
  sample s = {.symmetric = number % 2 == 0, .spectrum = number / 2 % 4};
  const int n = 1 + ref_below(&r, MOST);
  s.condition = pow(10, 14 * (double)ref_uniform(&r, 0, 1));
  fill_spectrum(values, n, s.spectrum, s.condition);
  s.system = small_random(n, values, s.symmetric, s.spectrum == 2 ? 2 : 6, &r);
  s.desc = (ts_solver_desc){.method = number % 10 == 4 || number % 16 > 8 ? TS_METHOD_GMRES
                                      : s.symmetric                       ? TS_METHOD_CG
                                                                          : TS_METHOD_BICGSTAB,
                            .preconditioner_kind =
                                number / 5 % 2 ? TS_PRECONDITIONER_NONE : TS_PRECONDITIONER_JACOBI,
                            .rtol = rtols[number / 8 % 3],
                            .zero_start = number / 3 % 2};
  return s;
}

static small_outcome solve(const sample *s, int number, ts_precision precision) {
  ts_solver_desc desc = s->desc;
  desc.precision = precision;
  test_context_label("system %d: %d unknowns, condition %.1e, %s, spectrum %d, %s, %s, rtol %g", number,
                     s->system.n, s->condition, s->symmetric ? "symmetric" : "not symmetric", s->spectrum,
                     ts_method_name(desc.method), ts_precision_name(precision), desc.rtol);
  const small_outcome outcome = small_solve(context, &s->system, &desc);
  small_check_honest(&outcome, &desc);
  return outcome;
}

/* Rounding x to doubles leaves a residual close to the tolerance, so it is luck whether x meets it. */
static int is_luck(const sample *s, const small_outcome *outcome) {
  return 0x1p-54 * outcome->size > 0.05 * s->desc.rtol;
}

/* A software rasterizer and several processes solve one system in 40. */
static void ill_conditioned(void) {
  int solved[2] = {0}, missed = 0, lucky = 0;
  const int step = test_is_cpu() && !test_is_ranks() && !test_is_brief() ? 1 : 40;
  for (int number = step / 2; number < SYSTEMS; number += step) {
    sample s = make(number);
    const small_outcome by_double = solve(&s, number, TS_PRECISION_DOUBLE),
                        by_auto = solve(&s, number, TS_PRECISION_AUTO);
    solved[0] += by_double.status == TS_OK;
    solved[1] += by_auto.status == TS_OK;
    if (by_double.status == TS_OK && by_auto.status != TS_OK) {
      if (is_luck(&s, &by_auto))
        lucky++;
      else if (by_double.result.iterations <= 500)
        test_fail(__FILE__, __LINE__, "double took %d iterations, auto %d and has %.2g: %s",
                  by_double.result.iterations, by_auto.result.iterations, by_auto.residual,
                  by_auto.result.message);
      else
        missed++;
    }
    small_free(&s.system);
  }
  test_context_label("%s", "");
  printf("double solves %d, auto %d; %d beyond half of the iterations, %d by luck\n", solved[0], solved[1],
         missed, lucky);
  CHECK(solved[1] + lucky >= 0.95 * solved[0]);
}

/* Hilbert's matrix: with six unknowns its condition is 1.5e7. */
static void hilbert(void) {
  for (int n = 1; n <= 8; n++)
    for (int method = TS_METHOD_CG; method <= TS_METHOD_GMRES; method++) {
      small_system s = small_create(n);
      for (int i = 0; i < n * n; i++) s.a[i] = 1.0 / (i / n + i % n + 1);
      for (int i = 0; i < n; i++) s.b[i] = 1;
      const ts_solver_desc desc = {.method = (ts_method)method, .rtol = 1e-5, .zero_start = n % 2};
      test_context_label("Hilbert, %d unknowns, %s", n, ts_method_name(desc.method));
      const small_outcome outcome = small_solve(context, &s, &desc);
      small_check_honest(&outcome, &desc);
      CHECK_INT(outcome.status, TS_OK);
      small_free(&s);
    }
}

static const test_fixture fixture = {.context = &context, .needs_pairs = 1};

TEST_MAIN(CASES_WITH(&fixture, ill_conditioned, hilbert))
