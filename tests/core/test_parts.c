/* Vectors and matrices of several parts: doubles are written and read exactly, sums of parts are normalised,
 * and a residual uses every part. */
#include <float.h>

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

/* x + 2^-k e, with x of two parts and of three parts, compared with long double. */
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

/* A matrix's values as doubles that are not floats. */
static double *doubles_of(const ref_matrix *m) {
  const int64_t count = ref_nonzeros(m);
  double *values = calloc((size_t)count, sizeof *values);
  for (int64_t k = 0; k < count; k++) values[k] = (double)m->values[k] * (1 + 1.0 / (3 + (double)(k % 11)));
  return values;
}

/* b - A x of doubles, with an x that nearly solves the system, compared with long double. The residual is 2^-22
 * of its terms, and in single precision it has a relative error of 2^-24. */
static void residual_in(ts_format format, const ref_matrix *m) {
  ts_csr csr = ref_csr(m);
  double *values = doubles_of(m);
  csr.values = ts_host(values, csr.column_indices.count);
  const ts_matrix_desc desc = {.csr = csr, .format = format};
  ts_matrix *A = NULL;
  if (!CHECK_OK(context, ts_matrix_create(context, &desc, &A))) return;
  CHECK(A->low != NULL);
  CHECK(matrix_info(A).bytes_low_order > 0);
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
  /* Seven differences of at most 2^-22 are rounded to float. */
  const double tolerance = 7 * 0x1p-46;
  for (size_t i = 0; i < count; i++)
    if (!CHECK_CLOSE(found[i], (double)exact[i], tolerance * (double)size[i])) break;
  /* Values that are floats need no low-order parts. */
  csr.values = ts_host(m->values, csr.column_indices.count);
  CHECK_OK(context, ts_matrix_set_values(A, &csr));
  CHECK(A->low == NULL);
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

/* Doubles of any size keep all their digits when they are written, read, copied and scaled. They are read as
 * floats if their range allows it. */
static void any_size(void) {
  static const int exponents[] = {-1000, -400, -130, -60, 0, 60, 130, 400, 1000};
  enum { count = 7 };
  ts_space *space = make_space(context, count);
  const ts_vector_desc desc = {.precision = TS_PRECISION_DOUBLE};
  ts_vector *x = NULL, *y = NULL, *single = make_vector(space, 1, NULL);
  CHECK_OK(context, ts_vector_create(space, &desc, &x));
  CHECK_OK(context, ts_vector_create(space, &desc, &y));
  for (size_t k = 0; k < sizeof exponents / sizeof *exponents; k++) {
    double values[count], found[count];
    test_context_label("2^%d", exponents[k]);
    for (int i = 0; i < count; i++) values[i] = ldexp((i - 3) / 3.0 + 1e-9, exponents[k] + 3 * i);
    CHECK_OK(context, ts_vector_write(x, ts_host(values, count)));
    CHECK_OK(context, ts_vector_copy(y, x));
    CHECK_OK(context, ts_vector_read(y, ts_host(found, count)));
    for (int i = 0; i < count; i++) CHECK(found[i] == values[i]);
    CHECK_OK(context, ts_vector_scale(y, ts_constant(0.5)));
    CHECK_OK(context, ts_vector_read(y, ts_host(found, count)));
    for (int i = 0; i < count; i++) CHECK_CLOSE(found[i], values[i] / 2, fabs(values[i]) * 0x1p-44);
    CHECK_OK(context, ts_vector_fill(y, values[5]));
    CHECK_OK(context, ts_vector_read(y, ts_host(found, count)));
    CHECK(found[0] == values[5]);
    CHECK_OK(context, ts_vector_copy(single, x));
    float *floats = read_vector(single);
    for (int i = 0; i < count; i++) {
      const float expected = (float)values[i];
      CHECK(floats[i] == expected || fabsf(expected) < FLT_MIN);
    }
    free(floats);
    /* Arithmetic has the range of floats, so the sum is checked only inside it. */
    CHECK_OK(context, ts_vector_axpby(x, ts_constant(1), x, ts_constant(1)));
    CHECK_OK(context, ts_vector_read(x, ts_host(found, count)));
    for (int i = 0; i < count; i++)
      if (abs(exponents[k]) <= 60) CHECK_CLOSE(found[i], 2 * values[i], fabs(values[i]) * 0x1p-44);
  }
  ts_vector_destroy(&x);
  ts_vector_destroy(&y);
  ts_vector_destroy(&single);
  ts_space_destroy(&space);
}

/* A x and b - A x of matrices with entries far from 1, if the result is within the range of floats. */
static void far_products(void) {
  for (int exponent = -240; exponent <= 240; exponent += 40) {
    ref_matrix m = ref_grid(7, 5);
    const int64_t entries = ref_nonzeros(&m);
    double *values = doubles_of(&m), *xs = ref_doubles((size_t)m.rows, 3, 1, 2),
           *ys = calloc((size_t)m.rows, sizeof *ys);
    for (int64_t k = 0; k < entries; k++) values[k] = ldexp(values[k], exponent);
    for (int32_t i = 0; i < m.rows; i++) xs[i] = ldexp(xs[i], exponent > 0 ? -100 : exponent < 0 ? 100 : 0);
    for (int32_t i = 0; i < m.rows; i++)
      for (int32_t k = m.offsets[i]; k < m.offsets[i + 1]; k++) ys[i] += values[k] * xs[m.indices[k]];
    ts_csr csr = ref_csr(&m);
    csr.values = ts_host(values, csr.column_indices.count);
    const ts_matrix_desc desc = {.csr = csr, .keep_host_copy = 1};
    ts_matrix *A = NULL;
    test_context_label("A times 2^%d", exponent);
    CHECK_OK(context, ts_matrix_create(context, &desc, &A));
    ts_vector *x = make_parts(A->column_space, 1, 3, xs), *y = make_parts(A->row_space, 1, 3, NULL),
              *b = make_parts(A->row_space, 1, 3, ys);
    CHECK_OK(context, ts_matrix_multiply(y, A, x));
    double *found = read_doubles(y);
    for (int32_t i = 0; i < m.rows && abs(exponent) <= 200; i++)
      if (!CHECK_CLOSE(found[i], ys[i], fabs(ys[i]) * 1e-6)) break;
    free(found);
    CHECK_OK(context, ts_matrix_residual(y, b, A, x));
    found = read_doubles(y);
    for (int32_t i = 0; i < m.rows && abs(exponent) <= 200; i++)
      if (!CHECK_CLOSE(found[i], 0, fabs(ys[i]) * 1e-6)) break;
    free(found);
    ts_csr copy;
    if (abs(exponent) < 120) {
      CHECK_OK(context, ts_matrix_get_host_copy(A, &copy));
      for (int64_t k = 0; k < entries; k++)
        if (!CHECK(((const float *)copy.values.data)[k] == (float)values[k])) break;
    } else if (exponent > 126) {
      CHECK_FAILS(context, ts_matrix_get_host_copy(A, &copy), TS_ERROR_UNSUPPORTED, "single precision", "2^");
    }
    /* New values replace the scale too. */
    csr.values = ts_host(m.values, csr.column_indices.count);
    CHECK_OK(context, ts_matrix_set_values(A, &csr));
    CHECK_OK(context, ts_matrix_get_host_copy(A, &copy));
    CHECK(*(const float *)copy.values.data == m.values[0]);
    ts_vector_destroy(&x);
    ts_vector_destroy(&y);
    ts_vector_destroy(&b);
    ts_matrix_destroy(&A);
    free(values), free(xs), free(ys);
    ref_free(&m);
  }
}

static const test_fixture fixture = {.context = &context, .needs_pairs = 1};

TEST_MAIN(CASES_WITH(&fixture, round_trip, additions, residuals, any_size, far_products))
