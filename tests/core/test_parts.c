/* Vectors and matrices of several parts: doubles go in and come out whole, sums of parts are normalised, and a
 * residual counts every part. */
#include "common/core/core.h"
#include "helpers.h"

static ts_context *context;

static const int32_t sizes[] = {1, 17, 257, 4093};
enum { size_count = sizeof sizes / sizeof sizes[0] };

static void round_trip(void) {
  for (int s = 0; s < size_count; s++)
    for (int components = 1; components <= 4; components++) {
      const size_t count = (size_t)sizes[s] * (size_t)components;
      ts_space *space = make_space(context, sizes[s]);
      double *values = ref_doubles(count, 7, -3, 3);
      for (size_t i = 0; i < count; i++) values[i] = ldexp(values[i], (int)(i % 60) - 30);
      ts_vector *v = make_parts(space, components, 3, values), *copy = make_parts(space, components, 3, NULL);
      CHECK_OK(context, ts_vector_copy(copy, v));
      double *found = read_doubles(copy);
      CHECK(memcmp(found, values, count * sizeof *values) == 0);
      float *rounded = read_vector(v);
      for (size_t i = 0; i < count && CHECK(rounded[i] == (float)values[i]); i++) continue;
      free(values), free(found), free(rounded);
      ts_vector_destroy(&v);
      ts_vector_destroy(&copy);
      ts_space_destroy(&space);
    }
}

/* x + 2^-k e, of two parts and of three, against long double. */
static void additions(void) {
  for (int s = 0; s < size_count; s++)
    for (int parts = 2; parts <= 3; parts++) {
      const size_t count = (size_t)sizes[s];
      ts_space *space = make_space(context, sizes[s]);
      double *xs = ref_doubles(count, 1, -1, 1);
      float *es = ref_values(count, 3, -1, 1);
      for (size_t i = 0; i < count; i++) {
        if (i % 7 == 0)
          es[i] = -ldexpf((float)xs[i], 3);
        else
          es[i] = ldexpf(es[i], -(int)(i % 40));
      }
      ts_vector *x = make_parts(space, 1, 3, xs), *e = make_vector(space, 1, es);
      ts_vector *lowest = x->low->low;
      CHECK_OK(context, tsi_enter(context));
      if (parts == 2) {
        CHECK_OK(context, context->ops->fill(lowest, 0));
        x->low->low = NULL;
      }
      CHECK_OK(context, tsi_add_to_parts(x, ts_constant(0.125), e));
      x->low->low = lowest;
      CHECK_OK(context, tsi_leave(context, TS_OK));
      double *found = read_doubles(x);
      float *high = read_vector(x), *low = read_vector(x->low);
      const double tolerance = parts == 2 ? 0x1p-47 : 0x1p-52;
      for (size_t i = 0; i < count; i++) {
        const double sum = (double)((long double)xs[i] + (long double)es[i] / 8);
        const double size = fabs(xs[i]) + fabs((double)es[i]) / 8;
        if (!CHECK_CLOSE(found[i], sum, tolerance * size)) break;
        if (!CHECK(fabs((double)low[i]) <= 1.001 * EPSILON * fabs((double)high[i]))) break;
      }
      free(xs), free(es), free(found), free(high), free(low);
      ts_vector_destroy(&x);
      ts_vector_destroy(&e);
      ts_space_destroy(&space);
    }
}

/* Values of a matrix as doubles: thirds and the like. */
static double *doubles_of(const ref_matrix *m) {
  const int64_t count = ref_nonzeros(m);
  double *values = calloc((size_t)count, sizeof *values);
  for (int64_t k = 0; k < count; k++) values[k] = (double)m->values[k] * (1 + 1.0 / (3 + (double)(k % 11)));
  return values;
}

/* b - A x of doubles, where x nearly solves the system, against long double: in single precision a residual
 * that is 2^-22 of its terms is right to 2^-24 of itself. */
static void residual_in(ts_format format, const ref_matrix *m) {
  ts_csr csr = ref_csr(m);
  double *values = doubles_of(m);
  csr.values = NULL;
  csr.double_values = values;
  const ts_matrix_desc desc = {.csr = csr, .format = format};
  ts_matrix *A = NULL;
  if (!CHECK_OK(context, ts_matrix_create(context, &desc, &A))) return;
  CHECK(A->rest != NULL);
  CHECK(matrix_info(A).bytes_rest > 0);
  const size_t count = (size_t)m->rows;
  double *xs = ref_doubles(count, 5, 1, 2), *bs = calloc(count, sizeof *bs);
  long double *exact = calloc(count, sizeof *exact), *size = calloc(count, sizeof *size);
  for (int32_t i = 0; i < m->rows; i++) {
    long double sum = 0;
    for (int32_t k = m->offsets[i]; k < m->offsets[i + 1]; k++) {
      sum += (long double)values[k] * (long double)xs[m->indices[k]];
      size[i] += fabsl((long double)values[k] * (long double)xs[m->indices[k]]);
    }
    bs[i] = (double)(sum + ldexpl(size[i], -22));
    exact[i] = (long double)bs[i] - sum;
  }
  ts_vector *x = make_parts(A->column_space, 1, 3, xs), *b = make_parts(A->row_space, 1, 3, bs);
  ts_vector *r = make_vector(A->row_space, 1, NULL);
  CHECK_OK(context, ts_matrix_residual(r, b, A, x));
  float *found = read_vector(r);
  /* Seven differences are rounded to float, of 2^-22 at most. */
  const double tolerance = 7 * 0x1p-46;
  for (size_t i = 0; i < count; i++)
    if (!CHECK_CLOSE(found[i], (double)exact[i], tolerance * (double)size[i])) break;
  /* Floats as values: no rest is left. */
  csr.double_values = NULL;
  csr.values = m->values;
  CHECK_OK(context, ts_matrix_set_values(A, &csr));
  CHECK(A->rest == NULL);
  free(values), free(xs), free(bs), free(exact), free(size), free(found);
  ts_vector_destroy(&x);
  ts_vector_destroy(&b);
  ts_vector_destroy(&r);
  ts_matrix_destroy(&A);
}

static void residuals(void) {
  ts_format formats[8];
  const int count = list_formats(context, formats);
  ref_matrix samples[3] = {ref_grid(23, 19), ref_random_spd(301, 9, 4), ref_hubs(900, 700, 6)};
  for (int s = 0; s < 3; s++) {
    for (int f = 0; f < count; f++) residual_in(formats[f], &samples[s]);
    ref_free(&samples[s]);
  }
}

static int warnings;

static void count_warnings(ts_log_level level, const char *text, void *user) {
  (void)user;
  if (level == TS_LOG_WARNING && strstr(text, "below the range of floats")) warnings++;
}

/* What a float and its remainders cannot hold is said. */
static void lost_digits(void) {
  const int32_t offsets[] = {0, 1, 2}, columns[] = {0, 1};
  ts_context *own = NULL;
  const ts_context_desc desc = {.backend = "cpu", .log = count_warnings};
  if (!CHECK_OK(NULL, ts_context_create(&desc, &own))) return;
  for (int exponent = -120; exponent <= 0; exponent += 60) {
    const double values[] = {ldexp(1.0 / 3, exponent), ldexp(2.0 / 3, exponent)};
    const ts_matrix_desc matrix_desc = {.csr = {.rows = 2,
                                                .columns = 2,
                                                .row_offsets = offsets,
                                                .column_indices = columns,
                                                .double_values = values}};
    ts_matrix *A = NULL;
    warnings = 0;
    CHECK_OK(own, ts_matrix_create(own, &matrix_desc, &A));
    CHECK_INT(warnings, exponent == -120);
    ts_matrix_destroy(&A);
  }
  ts_context_destroy(&own);
}

static void run_all(void (*run)(void)) {
  context = test_open();
  if (context && context->caps.pairs) run();
  test_close(&context);
}

#define CASE(name)                                                                                             \
  static void case_##name(void) {                                                                              \
    run_all(name);                                                                                             \
  }
CASE(round_trip)
CASE(additions)
CASE(residuals)
CASE(lost_digits)

static const test_case cases[] = {
    {"round_trip", case_round_trip},
    {"additions", case_additions},
    {"residuals", case_residuals},
    {"lost_digits", case_lost_digits},
};
TEST_MAIN(cases, 0)
