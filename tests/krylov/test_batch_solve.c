/* Batches of small systems: every method, size and type against a direct solution, scales, starts, patterns and
 * threads. */
#include <float.h>

#include "batch_samples.h"

static ts_context *context;

static ts_status solve(batch *s, const ts_batch_desc *desc) {
  return batch_solve(context, s, desc);
}

/* ---- Solutions ---- */

static void check_solutions(int n, size_t systems, batch_family kind, ts_method method,
                            ts_preconditioner_kind preconditioner) {
  batch s = batch_make(n, systems, kind);
  ts_batch_desc desc = batch_desc(&s);
  desc.method = method;
  desc.preconditioner_kind = preconditioner;
  test_context_label("%zu %s systems of %d, %s, %s", systems, kind == SYMMETRIC ? "symmetric" : "unsymmetric",
                     n, ts_method_name(method), ts_preconditioner_kind_name(preconditioner));
  CHECK_OK(context, solve(&s, &desc));
  for (size_t k = 0; k < systems; k++) {
    if (!batch_check_converged(&s, k, 1e-10)) break;
    CHECK_INT(s.results[k].method, method ? method : kind == SYMMETRIC ? TS_METHOD_CG : TS_METHOD_BICGSTAB);
    CHECK(s.results[k].iterations > 0);
  }
  for (size_t k = 0; k < systems && (n < 300 || k < 1); k += 3) CHECK(batch_error(&s, k) <= 1e-8);
  batch_free(&s);
}

static void solutions(void) {
  static const int sizes[] = {1, 2, 3, 31, 32, 33, 64, 100, 257, 1000};
  static const ts_preconditioner_kind kinds[] = {TS_PRECONDITIONER_AUTO, TS_PRECONDITIONER_NONE,
                                                 TS_PRECONDITIONER_JACOBI};
  for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++)
    for (int p = 0; p < 3; p++) {
      const size_t systems = sizes[n] == 1000 ? 9 : 21;
      if (sizes[n] == 1000 && p > 0) continue;
      check_solutions(sizes[n], systems, SYMMETRIC, TS_METHOD_AUTO, kinds[p]);
      check_solutions(sizes[n], systems, SYMMETRIC, TS_METHOD_CG, kinds[p]);
      check_solutions(sizes[n], systems, SYMMETRIC, TS_METHOD_BICGSTAB, kinds[p]);
      check_solutions(sizes[n], systems, UNSYMMETRIC, TS_METHOD_BICGSTAB, kinds[p]);
      if (sizes[n] > 1) check_solutions(sizes[n], systems, UNSYMMETRIC, TS_METHOD_AUTO, kinds[p]);
    }
}

static void counts(void) {
  batch none = batch_make(10, 0, SYMMETRIC);
  ts_batch_desc desc = batch_desc(&none);
  CHECK_OK(context, solve(&none, &desc));
  desc.values = (ts_array){0};
  CHECK_OK(context, ts_batch_solve(context, &desc, (ts_array){0}, (ts_array){0}, NULL));
  batch_free(&none);
  for (size_t systems = 1; systems <= 18; systems++)
    check_solutions(40, systems, SYMMETRIC, TS_METHOD_AUTO, TS_PRECONDITIONER_AUTO);
  check_solutions(100, test_is_brief() ? 2000 : 10000, SYMMETRIC, TS_METHOD_AUTO, TS_PRECONDITIONER_AUTO);
  check_solutions(20, test_is_brief() ? 2000 : 10000, UNSYMMETRIC, TS_METHOD_AUTO, TS_PRECONDITIONER_AUTO);
}

/* Systems too large to be solved together, or for the fast memory of a GPU. */
static void large(void) {
  check_solutions(3001, 5, SYMMETRIC, TS_METHOD_BICGSTAB, TS_PRECONDITIONER_NONE);
  batch s = batch_make(60000, 5, SYMMETRIC);
  ts_batch_desc desc = batch_desc(&s);
  CHECK_OK(context, solve(&s, &desc));
  for (size_t k = 0; k < s.systems; k++) batch_check_converged(&s, k, 1e-10);
  batch_fill_values(&s, UNSYMMETRIC, 3);
  desc.zero_start = 1;
  CHECK_OK(context, solve(&s, &desc));
  for (size_t k = 0; k < s.systems; k++) batch_check_converged(&s, k, 1e-10);
  batch_free(&s);
}

/* Floats and integers of 64 bits. */
static void types(void) {
  batch s = batch_make(50, 19, UNSYMMETRIC);
  const size_t numbers = batch_numbers(&s), values = s.systems * s.entries;
  float *float_values = malloc(values * sizeof(float)), *b = malloc(numbers * sizeof(float)),
        *x = calloc(numbers, sizeof(float));
  int64_t *offsets = malloc(51 * sizeof *offsets), *columns = malloc(s.entries * sizeof *columns);
  for (size_t k = 0; k < values; k++) s.values[k] = (double)(float_values[k] = (float)s.values[k]);
  for (size_t k = 0; k < numbers; k++) s.b[k] = (double)(b[k] = (float)s.b[k]);
  for (size_t k = 0; k < 51; k++) offsets[k] = s.offsets[k];
  for (size_t k = 0; k < s.entries; k++) columns[k] = s.columns[k];
  ts_batch_desc desc = batch_desc(&s);
  CHECK_OK(context, solve(&s, &desc));
  double *expected = malloc(numbers * sizeof *expected);
  memcpy(expected, s.x, numbers * sizeof *expected);
  desc.values = ts_host((const float *)float_values, values);
  desc.row_offsets = ts_host(offsets, 51);
  desc.column_indices = ts_host(columns, s.entries);
  memset(s.x, 0, numbers * sizeof *s.x);
  CHECK_OK(context, ts_batch_solve(context, &desc, ts_host(b, numbers), ts_host(s.x, numbers), s.results));
  CHECK(memcmp(expected, s.x, numbers * sizeof *expected) == 0);
  CHECK_OK(context, ts_batch_solve(context, &desc, ts_host(b, numbers), ts_host(x, numbers), s.results));
  for (size_t k = 0; k < numbers; k++)
    if (!CHECK(x[k] == (float)expected[k])) break;
  /* What an array of floats holds is less exact, and the result reports it. */
  for (size_t k = 0; k < numbers; k++) s.x[k] = (double)x[k];
  for (size_t k = 0; k < s.systems; k++) {
    CHECK(s.results[k].relative_residual <= 1e-10 && s.results[k].rounded_residual > 1e-10);
    CHECK_CLOSE(s.results[k].rounded_residual, batch_residual(&s, k), 1e-12);
  }
  free(float_values), free(b), free(x), free(offsets), free(columns), free(expected);
  batch_free(&s);
}

/* ---- Scales ---- */

static void scales(void) {
  static const double sizes[] = {1e-300, 1e-200, 1e-30, 1, 1e30, 1e200, 1e300};
  enum { count = sizeof sizes / sizeof *sizes, n = 12 };
  for (int kind = SYMMETRIC; kind <= UNSYMMETRIC; kind++) {
    batch s = batch_make(n, count * count, (batch_family)kind);
    ts_batch_desc desc = batch_desc(&s);
    desc.zero_start = 1;
    for (size_t k = 0; k < s.systems; k++) {
      for (size_t e = 0; e < s.entries; e++) s.values[k * s.entries + e] *= sizes[k / count] / 8;
      for (size_t i = 0; i < n; i++) s.b[k * n + i] *= sizes[k % count];
    }
    const ts_status status = solve(&s, &desc);
    CHECK_INT(status, TS_NOT_CONVERGED); /* of some, doubles do not hold the solution */
    for (size_t k = 0; k < s.systems; k++) {
      const double size = log10(sizes[k % count]) - log10(sizes[k / count]);
      test_context_label("A of %g, b of %g", sizes[k / count], sizes[k % count]);
      if (size > 309) {
        CHECK_INT(s.results[k].reason, TS_REASON_BREAKDOWN);
        CHECK(s.x[k * n] == 0 && isnan(s.results[k].rounded_residual));
      } else if (CHECK(s.results[k].reason == TS_REASON_CONVERGED) && size > -290) {
        batch_check_converged(&s, k, 1e-10);
      } else {
        CHECK(s.results[k].relative_residual <= 1e-10); /* x has lost digits */
      }
    }
    batch_free(&s);
  }
}

/* Denormal numbers, the largest numbers, and a float array that is too small for the solution. */
static void limits(void) {
  static const double a[] = {2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2}, ones[] = {1, 1, 1, 1};
  double scaled[16], b[4], x[4] = {7, 7, 7, 7};
  ts_batch_result result;
  for (int k = 0; k < 16; k++) scaled[k] = a[k] * 5e-324;
  CHECK_FAILS(context, batch_solve_four(context, scaled, ones, x, (ts_batch_desc){0}, &result),
              TS_NOT_CONVERGED, "breakdown");
  CHECK(x[0] == 7 && x[3] == 7);
  for (int k = 0; k < 4; k++) b[k] = 4 * 5e-324;
  CHECK_OK(context, batch_solve_four(context, scaled, b, x, (ts_batch_desc){0}, &result));
  CHECK(x[0] == 2 && x[3] == 2);
  for (int k = 0; k < 16; k++) scaled[k] = a[k] * (DBL_MAX / 2);
  for (int k = 0; k < 4; k++) b[k] = DBL_MAX;
  CHECK_OK(context, batch_solve_four(context, scaled, b, x, (ts_batch_desc){.zero_start = 1}, &result));
  CHECK_CLOSE(x[0], 1, 1e-9);
  /* 1e39 is not a float. */
  static const int32_t offsets[] = {0, 1}, columns[] = {0};
  const double value[] = {1}, large[] = {1e39};
  float too_small[] = {3};
  const ts_batch_desc one = {.systems = 1,
                             .rows = 1,
                             .row_offsets = HOST(offsets),
                             .column_indices = HOST(columns),
                             .values = HOST(value)};
  CHECK_FAILS(context, ts_batch_solve(context, &one, HOST(large), HOST(too_small), &result), TS_NOT_CONVERGED,
              "breakdown");
  CHECK(too_small[0] == 3);
  CHECK_INT(result.reason, TS_REASON_BREAKDOWN);
}

/* ---- Starts ---- */

static void starts(void) {
  enum { n = 30 };
  batch s = batch_make(n, 11, SYMMETRIC);
  ts_batch_desc desc = batch_desc(&s);
  const size_t numbers = batch_numbers(&s);
  CHECK_OK(context, solve(&s, &desc));
  CHECK(s.results[0].iterations > 3);
  /* From the solution; the tolerance is now above its residual. */
  desc.rtol = 2e-10;
  CHECK_OK(context, solve(&s, &desc));
  for (size_t k = 0; k < s.systems; k++) {
    CHECK_INT(s.results[k].iterations, 0);
    batch_check_converged(&s, k, 2e-10);
  }
  /* From near it; from far away; from numbers whose residual is infinite; from garbage that does not count. */
  const int cold = 40;
  for (int way = 0; way < 4; way++) {
    test_context_label("start %d", way);
    desc.zero_start = way == 3;
    for (size_t k = 0; k < numbers; k++)
      s.x[k] = way == 0 ? s.x[k] * (1 + 1e-6) : way == 1 ? 1e10 : way == 2 ? 1e308 : k % 2 ? NAN : -INFINITY;
    CHECK_OK(context, solve(&s, &desc));
    for (size_t k = 0; k < s.systems; k++) {
      batch_check_converged(&s, k, 2e-10);
      CHECK(s.results[k].iterations < (way == 0 ? 15 : cold));
    }
  }
  /* A start with a NaN stays as it is, and its neighbours are solved. */
  desc.zero_start = 0;
  memset(s.x, 0, numbers * sizeof *s.x);
  s.x[4 * n + 7] = NAN, s.x[4 * n + 8] = 5;
  CHECK_FAILS(context, solve(&s, &desc), TS_NOT_CONVERGED, "system 4: ", "NaN");
  CHECK(isnan(s.x[4 * n + 7]) && s.x[4 * n + 8] == 5 && s.x[4 * n] == 0);
  for (size_t k = 0; k < s.systems; k++)
    if (k != 4) batch_check_converged(&s, k, 2e-10);
  batch_free(&s);
}

static void zeros(void) {
  enum { n = 9 };
  batch s = batch_make(n, 10, UNSYMMETRIC);
  ts_batch_desc desc = batch_desc(&s);
  memset(s.b + 3 * n, 0, n * sizeof *s.b);
  memset(s.b + 5 * n, 0, n * sizeof *s.b);
  for (int i = 0; i < n; i++) s.x[3 * n + i] = 1e-3;
  CHECK_OK(context, solve(&s, &desc));
  for (size_t k = 0; k < s.systems; k++) batch_check_converged(&s, k, 1e-10);
  for (int i = 0; i < n; i++) CHECK(s.x[3 * n + i] == 0 && s.x[5 * n + i] == 0);
  CHECK_INT(s.results[3].reason, TS_REASON_CONVERGED);
  CHECK_INT(s.results[5].reason, TS_REASON_ZERO_RESIDUAL);
  CHECK(s.results[3].relative_residual == 0 && s.results[3].iterations == 0);
  batch_free(&s);
}

static void in_place(void) {
  batch s = batch_make(40, 20, UNSYMMETRIC);
  ts_batch_desc desc = batch_desc(&s);
  desc.zero_start = 1;
  CHECK_OK(context, solve(&s, &desc));
  double *both = malloc(batch_numbers(&s) * sizeof *both);
  memcpy(both, s.b, batch_numbers(&s) * sizeof *both);
  CHECK_OK(context, ts_batch_solve(context, &desc, ts_host(both, batch_numbers(&s)),
                                   ts_host(both, batch_numbers(&s)), NULL));
  CHECK(memcmp(both, s.x, batch_numbers(&s) * sizeof *both) == 0);
  free(both);
  batch_free(&s);
}

/* ---- Patterns ---- */

/* The entries of each row in another order, and with duplicates: the same bits. */
static void patterns(void) {
  enum { n = 35 };
  for (int kind = SYMMETRIC; kind <= UNSYMMETRIC; kind++) {
    batch s = batch_make(n, 13, (batch_family)kind);
    ts_batch_desc desc = batch_desc(&s);
    CHECK_OK(context, solve(&s, &desc));
    for (int doubled = 0; doubled < 2; doubled++) {
      batch other = batch_make(n, 13, (batch_family)kind);
      const size_t entries = s.entries << doubled;
      int32_t offsets[n + 1], *columns = calloc(entries, sizeof *columns);
      double *values = calloc(entries * s.systems, sizeof *values);
      for (int i = 0; i <= n; i++) offsets[i] = s.offsets[i] << doubled;
      for (int32_t i = 0; i < n; i++) {
        const int32_t length = s.offsets[i + 1] - s.offsets[i];
        for (int32_t e = 0; e < length << doubled; e++) { /* 4 3 2 1 0 4 3 2 1 0 */
          const int32_t from = s.offsets[i] + length - 1 - e % length, to = offsets[i] + e;
          columns[to] = s.columns[from];
          for (size_t k = 0; k < s.systems; k++)
            values[k * entries + (size_t)to] = s.values[k * s.entries + (size_t)from] / (1 << doubled);
        }
      }
      test_context_label("%s, %s", kind == SYMMETRIC ? "symmetric" : "unsymmetric",
                         doubled ? "duplicates" : "another order");
      desc.row_offsets = HOST(offsets);
      desc.column_indices = ts_host(columns, entries);
      desc.values = ts_host(values, entries * s.systems);
      CHECK_OK(context, solve(&other, &desc));
      CHECK(memcmp(s.x, other.x, batch_numbers(&s) * sizeof *s.x) == 0);
      CHECK(memcmp(s.results, other.results, s.systems * sizeof *s.results) == 0);
      free(columns), free(values);
      batch_free(&other);
    }
    batch_free(&s);
  }
}

/* Rows without entries, an unsymmetric pattern, and no entries at all. */
static void sparse_patterns(void) {
  const int32_t offsets[] = {0, 2, 2, 4}, columns[] = {0, 2, 2, 1}, none[] = {0, 0, 0, 0};
  const double values[] = {2, 1, 4, 0, 3, 1, 5, 0}, b[] = {3, 0, 4, 4, 0, 5};
  double x[6] = {0};
  ts_batch_result results[2];
  ts_batch_desc desc = {.systems = 2,
                        .rows = 3,
                        .row_offsets = HOST(offsets),
                        .column_indices = HOST(columns),
                        .values = HOST(values),
                        .rtol = 1e-10};
  CHECK_OK(context, ts_batch_solve(context, &desc, HOST(b), HOST(x), results));
  for (int k = 0; k < 2; k++) {
    CHECK_CLOSE(x[3 * k], 1, 1e-9);
    CHECK_CLOSE(x[3 * k + 2], 1, 1e-9);
  }
  desc.row_offsets = HOST(none);
  desc.column_indices = desc.values = (ts_array){0};
  CHECK_FAILS(context, ts_batch_solve(context, &desc, HOST(b), HOST(x), results), TS_NOT_CONVERGED,
              "2 of 2 systems");
}

/* ---- Threads ---- */

/* The number of threads changes no bit. On a GPU there is nothing to compare with. */
static void threads(void) {
  batch one = batch_make(70, 50, UNSYMMETRIC), some = batch_make(70, 50, UNSYMMETRIC);
  ts_batch_desc desc = batch_desc(&one);
  for (int count = 1; count <= 7; count += 2) {
    ts_context_desc with = test_desc();
    ts_context *own = NULL;
    with.threads = count;
    REQUIRE_OK(NULL, ts_context_create(&with, &own));
    memset(some.x, 0, batch_numbers(&some) * sizeof *some.x);
    CHECK_OK(own, batch_solve(own, count == 1 ? &one : &some, &desc));
    if (count > 1) CHECK(memcmp(one.x, some.x, batch_numbers(&one) * sizeof *one.x) == 0);
    test_close(&own);
  }
  batch_free(&one);
  batch_free(&some);
}

TEST_MAIN(CASES_IN_CONTEXT(solutions, counts, large, types, scales, limits, starts, zeros, in_place, patterns,
                           sparse_patterns),
          CASES(threads))
