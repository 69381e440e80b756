/* Batches with systems that cannot be solved: each reports its reason, and its neighbours are solved. Refusals,
 * and memory that runs out. */
#include "batch_samples.h"
#include "heap.h"

static ts_context *context;

static ts_status solve(batch *s, const ts_batch_desc *desc) {
  return batch_solve(context, s, desc);
}

/* ---- Systems that fail among others ---- */

enum { BAD = 8, GOOD = 3, MIXED = BAD * (GOOD + 1) };

/* Makes system k one that cannot be solved; returns the reasons that are right, as bits. */
static unsigned spoil(batch *s, size_t k, int how) {
  double *values = s->values + k * s->entries, *b = s->b + k * (size_t)s->n;
  const int32_t i = s->n / 2;
  switch (how) {
  case 0: /* singular: row i is 0, and b is not */
    for (int32_t e = s->offsets[i]; e < s->offsets[i + 1]; e++) values[e] = 0;
    break;
  case 1: /* every entry is 0 */
    for (size_t e = 0; e < s->entries; e++) values[e] = 0;
    break;
  case 2:
    values[s->entries / 3] = NAN;
    return 1u << TS_REASON_NAN_INPUT;
  case 3:
    b[1] = INFINITY;
    return 1u << TS_REASON_NAN_INPUT;
  case 4: /* the Laplacian of a path: constants are in its null space, and b is not orthogonal to them */
    for (int32_t row = 0; row < s->n; row++)
      for (int32_t e = s->offsets[row]; e < s->offsets[row + 1]; e++) {
        const int32_t j = s->columns[e];
        values[e] = j == row ? (row > 0) + (row < s->n - 1) : abs(j - row) == 1 ? -1 : 0;
      }
    for (int32_t row = 0; row < s->n; row++) b[row] = 1 + row % 3;
    break;
  case 5: /* a zero on the diagonal, which Jacobi refuses */
    for (int32_t e = s->offsets[i]; e < s->offsets[i + 1]; e++)
      if (s->columns[e] == i) values[e] = 0;
    return 1u << TS_REASON_ZERO_DIAGONAL;
  case 6: /* two equal rows, and different numbers of b */
    for (int32_t e = s->offsets[i]; e < s->offsets[i + 1]; e++) values[e] = s->columns[e] == i;
    for (int32_t e = s->offsets[i + 1]; e < s->offsets[i + 2]; e++) values[e] = s->columns[e] == i;
    b[i] = 1, b[i + 1] = 2;
    break;
  default:
    values[0] = INFINITY;
    return 1u << TS_REASON_NAN_INPUT;
  }
  return 0;
}

/* The systems that can be solved have the bits that they have among themselves, and the others say why not. */
static void check_mixed(ts_method method, ts_preconditioner_kind preconditioner, batch_family kind) {
  enum { n = 24 };
  batch good = batch_make(n, MIXED, kind), mixed = batch_make(n, MIXED, kind);
  ts_batch_desc desc = batch_desc(&good);
  unsigned reasons[MIXED] = {0};
  int solvable[MIXED], failed = 0;
  char count[60];
  desc.method = method;
  desc.preconditioner_kind = preconditioner;
  test_context_label("%s, %s", ts_method_name(method), ts_preconditioner_kind_name(preconditioner));
  CHECK_OK(context, solve(&good, &desc));
  for (size_t k = 0; k < MIXED; k++) {
    solvable[k] = k % (GOOD + 1) != 1;
    if (!solvable[k]) reasons[k] = spoil(&mixed, k, (int)(k / (GOOD + 1)));
  }
  desc.values = ts_host((const double *)mixed.values, MIXED * mixed.entries);
  CHECK_FAILS(context, solve(&mixed, &desc), TS_NOT_CONVERGED, "system 1: ");
  for (size_t k = 0; k < MIXED; k++) {
    const ts_batch_result *result = &mixed.results[k];
    const double *x = mixed.x + k * n;
    test_context_label("%s, %s, system %zu", ts_method_name(method),
                       ts_preconditioner_kind_name(preconditioner), k);
    failed += result->reason > TS_REASON_FIXED_ITERATIONS;
    if (solvable[k]) {
      CHECK(memcmp(x, good.x + k * n, n * sizeof *x) == 0);
      CHECK(memcmp(result, &good.results[k], sizeof *result) == 0);
      continue;
    }
    /* Only Jacobi needs the diagonal. Without it the system may have a solution. */
    if (reasons[k] == 1u << TS_REASON_ZERO_DIAGONAL && preconditioner != TS_PRECONDITIONER_JACOBI) {
      if (result->reason <= TS_REASON_FIXED_ITERATIONS) batch_check_converged(&mixed, k, 1e-10);
      continue;
    }
    if (CHECK(result->reason > TS_REASON_FIXED_ITERATIONS) && reasons[k])
      CHECK(reasons[k] & 1u << (unsigned)result->reason);
    for (int i = 0; i < n; i++)
      if (!CHECK(isfinite(x[i]))) break;
    if (result->reason == TS_REASON_NAN_INPUT) {
      CHECK(isnan(result->relative_residual));
      continue;
    }
    CHECK(result->relative_residual > 1e-10 && result->relative_residual <= 1);
    CHECK_CLOSE(result->relative_residual, batch_residual(&mixed, k), 1e-12);
  }
  snprintf(count, sizeof count, "%d of %d systems did not converge", failed, MIXED);
  CHECK_CONTAINS(ts_last_error(context), count);
  batch_free(&good);
  batch_free(&mixed);
}

static void failures(void) {
  check_mixed(TS_METHOD_AUTO, TS_PRECONDITIONER_AUTO, SYMMETRIC);
  check_mixed(TS_METHOD_AUTO, TS_PRECONDITIONER_AUTO, UNSYMMETRIC);
  check_mixed(TS_METHOD_AUTO, TS_PRECONDITIONER_JACOBI, SYMMETRIC);
  check_mixed(TS_METHOD_CG, TS_PRECONDITIONER_JACOBI, SYMMETRIC);
  check_mixed(TS_METHOD_CG, TS_PRECONDITIONER_NONE, SYMMETRIC);
  check_mixed(TS_METHOD_BICGSTAB, TS_PRECONDITIONER_JACOBI, UNSYMMETRIC);
  check_mixed(TS_METHOD_BICGSTAB, TS_PRECONDITIONER_NONE, UNSYMMETRIC);
}

static void reasons(void) {
  static const double definite[] = {4, 1, 0, 0, 1, 4, 1, 0, 0, 1, 4, 1, 0, 0, 1, 4},
                      indefinite[] = {1, 3, 0, 0, 3, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1},
                      negative[] = {4, 1, 0, 0, 1, -4, 1, 0, 0, 1, 4, 1, 0, 0, 1, 4},
                      unsymmetric[] = {4, 2, 0, 0, 1, 4, 1, 0, 0, 1, 4, 1, 0, 0, 1, 4},
                      almost[] = {4, 1.000001, 0, 0, 1, 4, 1, 0, 0, 1, 4, 1, 0, 0, 1, 4},
                      skew[] = {0, 1, 2, 3, -1, 0, 4, 5, -2, -4, 0, 6, -3, -5, -6, 0}, b[] = {1, -2, 3, 0.5};
  const ts_batch_desc cg = {.method = TS_METHOD_CG};
  double x[4] = {0}, start[4] = {1, 2, 3, 4}, kept[4] = {1, 2, 3, 4};
  ts_batch_result result;
  CHECK_OK(context, batch_solve_four(context, almost, b, x, cg, &result));
  CHECK_FAILS(context, batch_solve_four(context, unsymmetric, b, start, cg, &result), TS_NOT_CONVERGED,
              "system 0: ", "not symmetric");
  CHECK_INT(result.reason, TS_REASON_NOT_SYMMETRIC);
  CHECK(memcmp(start, kept, sizeof kept) == 0);
  CHECK_INT(result.iterations, 0);
  CHECK_FAILS(context, batch_solve_four(context, negative, b, start, cg, &result), TS_NOT_CONVERGED,
              "not positive definite");
  CHECK(memcmp(start, kept, sizeof kept) == 0);
  CHECK_FAILS(context, batch_solve_four(context, indefinite, b, x, cg, &result), TS_NOT_CONVERGED,
              "not positive definite");
  CHECK_INT(result.reason, TS_REASON_INDEFINITE);
  /* auto continues with bicgstab. */
  CHECK_OK(context, batch_solve_four(context, indefinite, b, x, (ts_batch_desc){.zero_start = 1}, &result));
  CHECK_INT(result.method, TS_METHOD_BICGSTAB);
  CHECK(result.restarts > 0);
  CHECK_OK(context, batch_solve_four(context, unsymmetric, b, x, (ts_batch_desc){.zero_start = 1}, &result));
  CHECK_OK(context, batch_solve_four(context, negative, b, x, (ts_batch_desc){.zero_start = 1}, &result));
  /* r^T A r is 0 for every r, and omega with it. */
  const ts_status status = batch_solve_four(context, skew, b, x, (ts_batch_desc){.zero_start = 1}, &result);
  CHECK_INT(status == TS_OK, result.relative_residual <= 1e-10);
  /* The maximum of iterations, and a tolerance that no rounding meets. */
  const ts_batch_desc two = {.max_iterations = 2, .zero_start = 1}, none = {.rtol = -1, .zero_start = 1};
  CHECK_FAILS(context, batch_solve_four(context, definite, b, x, two, &result), TS_NOT_CONVERGED,
              "maximum number of iterations");
  CHECK_INT(result.iterations, 2);
  CHECK(result.relative_residual < 0.5 && result.relative_residual > 1e-10);
  if (batch_solve_four(context, definite, b, x, none, &result) == TS_NOT_CONVERGED)
    CHECK_INT(result.reason, TS_REASON_STAGNATED);
  CHECK(result.relative_residual <= 1e-15 && result.iterations < 100);
}

/* The Laplacian of a path plus 10^-k: the solution is 10^k times b, and its rounding limits the residual. The
 * recurrence does not know that. */
static void hard(void) {
  enum { n = 60, systems = 13 };
  batch s = batch_make(n, systems, SYMMETRIC);
  for (size_t k = 0; k < systems; k++)
    for (int32_t i = 0; i < n; i++)
      for (int32_t e = s.offsets[i]; e < s.offsets[i + 1]; e++) {
        const int32_t j = s.columns[e];
        s.values[k * s.entries + (size_t)e] = j == i            ? (i > 0) + (i < n - 1) + pow(10, -(double)k)
                                              : abs(j - i) == 1 ? -1
                                                                : 0;
      }
  for (size_t i = 0; i < systems * n; i++) s.b[i] = 1 + (double)(i % 7) / 7;
  for (int method = TS_METHOD_CG; method <= TS_METHOD_BICGSTAB; method++) {
    ts_batch_desc desc = batch_desc(&s);
    desc.method = (ts_method)method;
    desc.zero_start = 1;
    const ts_status status = solve(&s, &desc);
    int stagnated = 0;
    for (size_t k = 0; k < systems; k++) {
      const ts_batch_result *result = &s.results[k];
      const double residual = batch_residual(&s, k);
      test_context_label("%s, shift 1e-%zu, %s", ts_method_name(desc.method), k,
                         ts_reason_text(result->reason));
      CHECK_CLOSE(result->relative_residual, residual, 1e-14 * pow(10, (double)k) + 0.01 * residual);
      if (result->reason <= TS_REASON_FIXED_ITERATIONS)
        CHECK(result->relative_residual <= 1e-10 && k < 10);
      else
        CHECK(result->relative_residual > 1e-10 && k > 2);
      stagnated += result->reason == TS_REASON_STAGNATED;
    }
    CHECK_INT(status, TS_NOT_CONVERGED);
    CHECK(stagnated > 0);
  }
  batch_free(&s);
}

/* ---- Refusals ---- */

static void refusals(void) {
  enum { n = 5, systems = 3 };
  batch s = batch_make(n, systems, SYMMETRIC);
  const ts_batch_desc sound = batch_desc(&s);
  const int64_t far[] = {0, INT64_C(1) << 40};
  const int32_t down[] = {0, 3, 2, 8, 10, 13}, late[] = {1, 3, 6, 8, 10, 13};
  int32_t outside[13];
  double kept[n * systems];
  memcpy(outside, s.columns, sizeof outside);
  outside[7] = n;
  for (size_t k = 0; k < batch_numbers(&s); k++) kept[k] = s.x[k] = (double)k;
  CHECK_INT(s.entries, 13 + 4);
#define REFUSED_AS(status, field, value, ...)                                                                  \
  do {                                                                                                         \
    ts_batch_desc desc = sound;                                                                                \
    desc.field = value;                                                                                        \
    CHECK_FAILS(context, solve(&s, &desc), status, __VA_ARGS__);                                               \
  } while (0)
#define REFUSED(field, value, ...) REFUSED_AS(TS_ERROR_INVALID_ARGUMENT, field, value, __VA_ARGS__)
  REFUSED(systems, -1, "systems is -1");
  REFUSED(systems, 4, "values has 51 numbers", "68");
  REFUSED(systems, INT64_MAX, "values has 51 numbers");
  REFUSED(rows, 0, "rows is 0");
  REFUSED(rows, 6, "row_offsets has 6 numbers", "7");
  REFUSED_AS(TS_ERROR_LIMIT, rows, INT64_C(1) << 31, "rows is 2147483648");
  REFUSED_AS(TS_ERROR_LIMIT, column_indices, ts_host(s.columns, (size_t)INT32_MAX),
             "column_indices has 2147483647");
  REFUSED(row_offsets, (ts_array){0}, "row_offsets is NULL");
  REFUSED(row_offsets, ts_host(s.values, n + 1), "row_offsets holds doubles");
  REFUSED(row_offsets, HOST(down), "row_offsets[5] is 13", "17");
  REFUSED(column_indices, ts_host(s.columns, s.entries - 1), "values has 51 numbers", "48");
  REFUSED(values, ts_host(s.columns, s.entries), "values holds integers");
  REFUSED(method, (ts_method)77, "method is 77");
  REFUSED(method, TS_METHOD_GMRES, "method is gmres");
  REFUSED(preconditioner_kind, (ts_preconditioner_kind)77, "preconditioner_kind is 77");
  REFUSED(preconditioner_kind, TS_PRECONDITIONER_AMG, "preconditioner_kind is amg");
  REFUSED(rtol, 1, "rtol is 1");
  REFUSED(rtol, NAN, "rtol is ");
  REFUSED(max_iterations, -2, "max_iterations is -2");
  REFUSED(reserved[3], 9, "reserved[3] is 9");
  ts_batch_desc desc = sound;
  desc.column_indices = ts_host(s.columns, 13);
  desc.values = ts_host(s.values, 13 * systems);
  desc.row_offsets = HOST(down);
  CHECK_FAILS(context, solve(&s, &desc), TS_ERROR_INVALID_ARGUMENT, "row");
  desc.row_offsets = HOST(late);
  CHECK_FAILS(context, solve(&s, &desc), TS_ERROR_INVALID_ARGUMENT, "row");
  desc = sound;
  memcpy(s.columns + 7, &outside[7], sizeof outside[7]);
  CHECK_FAILS(context, solve(&s, &desc), TS_ERROR_INVALID_ARGUMENT, "column", "5");
  s.columns[7] = -1;
  CHECK_FAILS(context, solve(&s, &desc), TS_ERROR_INVALID_ARGUMENT, "column", "-1");
  desc.rows = 1;
  desc.row_offsets = HOST(far);
  CHECK(ts_batch_solve(context, &desc, ts_host(s.b, systems), ts_host(s.x, systems), NULL) < 0);
  CHECK(memcmp(s.x, kept, sizeof kept) == 0);
#define REFUSED_ARRAYS(b, x, ...)                                                                              \
  CHECK_FAILS(context, ts_batch_solve(context, &sound, b, x, s.results), TS_ERROR_INVALID_ARGUMENT, __VA_ARGS__)
  REFUSED_ARRAYS((ts_array){0}, ts_host(s.x, n * systems), "b is NULL");
  REFUSED_ARRAYS(ts_host(s.b, n * systems), (ts_array){0}, "x is NULL");
  REFUSED_ARRAYS(ts_host(s.b, n), ts_host(s.x, n * systems), "b has 5 numbers", "15");
  REFUSED_ARRAYS(ts_host(s.b, n * systems), ts_host(s.x, n), "x has 5 numbers", "15");
  REFUSED_ARRAYS(ts_host(s.b, n * systems), ts_host((const double *)s.x, n * systems), "x", "const");
  REFUSED_ARRAYS(ts_host(s.columns, n * systems), ts_host(s.x, n * systems), "b holds integers");
  CHECK_FAILS(context, ts_batch_solve(context, NULL, ts_host(s.b, 15), ts_host(s.x, 15), NULL),
              TS_ERROR_INVALID_ARGUMENT, "desc is NULL");
  CHECK_FAILS(NULL, ts_batch_solve(NULL, &sound, ts_host(s.b, 15), ts_host(s.x, 15), NULL),
              TS_ERROR_INVALID_ARGUMENT, "context is NULL");
  CHECK(memcmp(s.x, kept, sizeof kept) == 0);
  batch_free(&s);
}

/* ---- Memory ---- */

static void memory_runs_out(void) {
  const ts_context_desc with = heap_desc();
  ts_context *own = NULL;
  REQUIRE_OK(NULL, ts_context_create(&with, &own));
  batch s = batch_make(33, 20, SYMMETRIC);
  ts_batch_desc desc = batch_desc(&s);
  int64_t offsets[34], *columns = malloc(s.entries * sizeof *columns);
  for (int i = 0; i < 34; i++) offsets[i] = s.offsets[i];
  for (size_t e = 0; e < s.entries; e++) columns[e] = s.columns[e];
  desc.row_offsets = HOST(offsets); /* which are converted */
  desc.column_indices = ts_host(columns, s.entries);
  FAIL_EACH_USE(
      own, ts_batch_solve(own, &desc, ts_host(s.b, batch_numbers(&s)), ts_host(s.x, batch_numbers(&s)), NULL));
  CHECK_OK(own, batch_solve(own, &s, &desc));
  for (size_t k = 0; k < s.systems; k++) batch_check_converged(&s, k, 1e-10);
  free(columns);
  batch_free(&s);
  test_close(&own);
  CHECK_INT(memory.live, 0);
}

TEST_MAIN(CASES_IN_CONTEXT(failures, reasons, hard, refusals), CASES(memory_runs_out))
