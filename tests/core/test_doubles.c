/* Arrays of doubles on the host, written to vectors and read back. Every part, the exponent and the numbers
 * read must have the bits that a plain loop gives. Some arrays are small. Others are large enough for threads
 * and, on CUDA, for kernels that convert the doubles on the device. */
#include <float.h>

#include "common/core/core.h"
#include "helpers.h"
#include "host_arrays.h"

static ts_context *context;
static int is_staged_by_host; /* the CPU backend simulates a device that converts doubles */
static host_arrays did;

/* Counts of numbers, over all components: small, one below and at CUDA's threshold for converting doubles on
 * the device, and large enough for threads. */
static const int32_t counts[] = {12, 1020, 16383, 16384, 70008};
enum { count_count = sizeof counts / sizeof counts[0] };

/* ---- Samples ---- */

enum { FLOATS, ANY, LARGE, SUBNORMAL, SPREAD, ZEROS, SPECIAL, FLOATS_AND_NAN, LARGE_AND_ZEROS };
enum { ALL_EXPONENTS = LARGE_AND_ZEROS + 1, SMALL_FLOATS, BEYOND, ROUNDED_UP, samples };

static const char *const sample_names[] = {"floats",
                                           "any doubles",
                                           "large",
                                           "subnormal",
                                           "spread",
                                           "zeros",
                                           "not finite",
                                           "floats and NaN",
                                           "large and zeros",
                                           "all exponents",
                                           "subnormal as floats",
                                           "out of range",
                                           "on the edge of the range"};

/* The largest float plus half of its last place, which rounds to infinity, and the next smaller double. */
static const double edge = 0x1.ffffffp127, below_edge = 0x1.fffffefffffffp127;

static double sample_number(int sample, size_t k, size_t count, double value) {
  switch (sample) {
  case FLOATS:
    return (double)(float)value;
  case LARGE:
    return value * 1e200;
  case SUBNORMAL:
    return value * 1e-310;
  case SPREAD:
    return ldexp(value, (int)(k % 150) - 75);
  case ZEROS:
    return k % 2 ? 0.0 : -0.0;
  case SPECIAL:
    return k == 5 ? NAN : k == 7 ? (double)INFINITY : k + 2 == count ? -(double)INFINITY : value;
  case FLOATS_AND_NAN:
    return k % 7 ? (double)(float)value : k % 2 ? NAN : (double)INFINITY;
  case LARGE_AND_ZEROS:
    return k % 3 ? value * 1e200 : 0;
  case ALL_EXPONENTS:
    return k == 0 ? DBL_MAX : k == 1 ? DBL_TRUE_MIN : ldexp(value, (int)(k % 2090) - 1070);
  case SMALL_FLOATS:
    return ldexp(value, -(int)(k % 30) - 125);
  case BEYOND:
    return k + 3 == count ? -1e39 : k + 1 == count ? 1e300 : value;
  case ROUNDED_UP:
    return k + 3 == count ? edge : k + 4 == count ? -below_edge : k % 3 ? value : -below_edge;
  default:
    return value;
  }
}

static double *sample_of(int sample, size_t count) {
  double *values = ref_doubles(count, 17, -1, 1);
  for (size_t k = 0; k < count; k++) values[k] = sample_number(sample, k, count, values[k]);
  return values;
}

/* ---- The expected contents of a vector ---- */

typedef struct expectation {
  int are_floats, exponent;
  int parts;
  size_t failed; /* the first number outside the range of floats; `count` if there is none */
  float *part[3];
  double *read;
} expectation;

static int exponent_for(const double *values, size_t count) {
  tsi_exponents found = tsi_no_exponents;
  for (size_t k = 0; k < count; k++) {
    int exponent;
    if (!isfinite(values[k]) || values[k] == 0) continue;
    frexp(values[k], &exponent);
    if (exponent > found.largest) found.largest = exponent;
    if (exponent < found.smallest) found.smallest = exponent;
  }
  return tsi_scaling_exponent(found, TSI_ORDINARY_VECTOR);
}

static int are_floats(const double *values, size_t count) {
  size_t k = 0;
  while (k < count && (isnan(values[k]) || values[k] == (double)(float)values[k])) k++;
  return k == count;
}

static void split(expectation *e, const double *values, size_t count) {
  for (size_t k = 0; k < count; k++) {
    double remainder = ldexp(values[k], -e->exponent), sum = 0;
    for (int p = 0; p < e->parts; p++) {
      e->part[p][k] = isfinite(remainder) || p == 0 ? (float)remainder : 0;
      if (isfinite(remainder)) remainder -= (double)e->part[p][k];
    }
    for (int p = e->parts - 1; p >= 0; p--) sum += (double)e->part[p][k];
    e->read[k] = ldexp(sum, e->exponent);
  }
}

static expectation expect(const double *values, size_t count, ts_precision precision) {
  expectation e = {.are_floats = are_floats(values, count), .parts = 1};
  const int grows = precision == TS_PRECISION_AUTO && !e.are_floats && context->caps.pairs;
  if (precision == TS_PRECISION_DOUBLE || grows) e.parts = 3;
  if (e.parts == 3) e.exponent = exponent_for(values, count);
  while (e.failed < count &&
         (!isfinite(values[e.failed]) || isfinite((float)ldexp(values[e.failed], -e.exponent))))
    e.failed++;
  for (int p = 0; p < e.parts; p++) e.part[p] = malloc(count * sizeof *e.part[p]);
  e.read = malloc(count * sizeof *e.read);
  split(&e, values, count);
  return e;
}

static void forget(expectation *e) {
  for (int p = 0; p < e->parts; p++) free(e->part[p]);
  free(e->read);
}

/* ---- Comparisons: NaN equals NaN, and 0 differs from -0 ---- */

static void check_floats(const float *found, const float *expected, size_t count) {
  for (size_t k = 0; k < count; k++) {
    if (isnan(expected[k]) && isnan(found[k])) continue;
    if (!CHECK(found[k] == expected[k] && !signbit(found[k]) == !signbit(expected[k]))) {
      fprintf(stderr, "number %zu is %a and should be %a\n", k, (double)found[k], (double)expected[k]);
      return;
    }
  }
}

static void check_doubles(const double *found, const double *expected, size_t count) {
  for (size_t k = 0; k < count; k++) {
    if (isnan(expected[k]) && isnan(found[k])) continue;
    if (!CHECK(found[k] == expected[k] && !signbit(found[k]) == !signbit(expected[k]))) {
      fprintf(stderr, "number %zu is %a and should be %a\n", k, found[k], expected[k]);
      return;
    }
  }
}

static void check_parts(const ts_vector *v, float *const *expected, int parts, size_t count) {
  int p = 0;
  float *found = calloc(count, sizeof *found);
  for (const ts_vector *part = v; part && CHECK(p < parts); part = part->low, p++) {
    CHECK_OK(context, tsi_enter(context));
    CHECK_OK(context, tsi_leave(context, tsi_read_floats(part, found)));
    check_floats(found, expected[p], count);
    CHECK_PADDING(part);
  }
  CHECK_INT(p, parts);
  free(found);
}

/* Reading as floats gives the first part, and fails if the exponent moves it out of the range of floats. */
static void check_read_floats(const ts_vector *v, const expectation *e, size_t count) {
  float *found = malloc(count * sizeof *found), *expected = malloc(count * sizeof *expected);
  double largest = 0;
  for (size_t k = 0; k < count; k++) {
    const double value = ldexp((double)e->part[0][k], e->exponent);
    if (isfinite(e->part[0][k])) largest = fmax(largest, fabs(value));
    expected[k] = (float)value;
  }
  if (e->exponent && largest != 0 && (largest > FLT_MAX || largest < FLT_MIN)) {
    CHECK_FAILS(context, ts_vector_read(v, ts_host(found, count)), TS_ERROR_INVALID_ARGUMENT,
                "the largest number of the vector", largest > FLT_MAX ? "beyond" : "below");
  } else {
    CHECK_OK(context, ts_vector_read(v, ts_host(found, count)));
    check_floats(found, expected, count);
  }
  free(found), free(expected);
}

/* ---- Writing ---- */

static ts_vector *make_of(ts_space *space, int components, ts_precision precision) {
  const ts_vector_desc desc = {.components = components, .precision = precision};
  ts_vector *v = NULL;
  CHECK_OK(context, ts_vector_create(space, &desc, &v));
  return v;
}

/* The message names the number, and the vector is unchanged. */
static void check_refusal(ts_vector *v, const double *values, const expectation *e, size_t count) {
  char place[80];
  const size_t n = (size_t)ts_vector_get_components(v);
  snprintf(place, sizeof place, "component %zu of index %zu is", e->failed % n, e->failed / n);
  CHECK_OK(context, ts_vector_fill(v, 2.5));
  CHECK_FAILS(context, ts_vector_write(v, ts_host(values, count)), TS_ERROR_INVALID_ARGUMENT, place,
              "out of the range of single precision");
  double *found = read_doubles(v);
  for (size_t k = 0; k < count && CHECK(found[k] == 2.5); k++) continue;
  free(found);
}

/* From this count on CUDA converts doubles on the device, unless it is wrapped by the check backend. */
enum { STAGED = 16384 };

static int accepts_doubles(void) {
  return context->ops->arrays && context->ops == context->device_ops;
}

static int is_staged(size_t count) {
  return accepts_doubles() && count >= STAGED;
}

static uint64_t waits(void) {
  return context->host_synchronisations;
}

static void write_and_read(ts_vector *v, const double *values, const expectation *e, size_t count) {
  uint64_t before = waits();
  CHECK_OK(context, ts_vector_write(v, ts_host(values, count)));
  CHECK_INT(waits() - before, is_staged(count) ? 2 : 0); /* for the copy and for the exponent */
  CHECK_INT(v->exponent, e->exponent);
  check_parts(v, e->part, e->parts, count);
  before = waits();
  double *found = read_doubles(v);
  if (accepts_doubles()) CHECK_INT(waits() - before, is_staged(count) ? 1 : e->parts);
  check_doubles(found, e->read, count);
  free(found);
  check_read_floats(v, e, count);
  CHECK_INT(v->exponent, e->exponent);
}

/* Writes to a new vector, and to one that held large numbers. */
static void check_sample(ts_space *space, int components, ts_precision precision, int sample) {
  const size_t count = (size_t)ts_space_get_size(space) * (size_t)components;
  double *values = sample_of(sample, count);
  expectation e = expect(values, count, precision);
  ts_vector *v = make_of(space, components, precision);
  if (e.failed < count) {
    check_refusal(v, values, &e, count);
  } else {
    write_and_read(v, values, &e, count);
    if (precision == TS_PRECISION_DOUBLE) {
      double *others = sample_of(LARGE, count);
      CHECK_OK(context, ts_vector_write(v, ts_host(others, count)));
      free(others);
      write_and_read(v, values, &e, count);
    }
  }
  ts_vector_destroy(&v);
  forget(&e);
  free(values);
}

static void every_sample(void) {
  static const ts_precision precisions[] = {TS_PRECISION_AUTO, TS_PRECISION_SINGLE, TS_PRECISION_DOUBLE};
  for (int c = 0; c < count_count; c++)
    for (int components = 1; components <= 4; components++) {
      if (counts[c] % components || (test_is_brief() && (c + components) % 2 && counts[c] % 4 == 0)) continue;
      ts_space *space = make_space(context, counts[c] / components);
      for (int p = 0; p < (context->caps.pairs ? 3 : 2); p++)
        for (int s = 0; s < samples; s++) {
          test_context_label("%d numbers, %d components, %s, %s", counts[c], components,
                             ts_precision_name(precisions[p]), sample_names[s]);
          check_sample(space, components, precisions[p], s);
        }
      ts_space_destroy(&space);
    }
}

/* A vector that has gained parts keeps them, and stores floats and doubles from then on. */
static void growth(void) {
  for (int c = 0; c < count_count && context->caps.pairs; c++) {
    const size_t count = (size_t)counts[c];
    ts_space *space = make_space(context, counts[c]);
    ts_vector *v = make_of(space, 1, TS_PRECISION_AUTO);
    static const int order[] = {FLOATS, SPECIAL, FLOATS, ZEROS, LARGE, SPREAD, FLOATS};
    test_context_label("%d numbers", counts[c]);
    for (int k = 0; k < (int)(sizeof order / sizeof order[0]); k++) {
      double *values = sample_of(order[k], count);
      expectation e = expect(values, count, k == 0 ? TS_PRECISION_AUTO : TS_PRECISION_DOUBLE);
      write_and_read(v, values, &e, count);
      forget(&e);
      free(values);
    }
    ts_vector_destroy(&v);
    ts_space_destroy(&space);
  }
}

/* ---- Rounding ---- */

/* Writes parts with sums that are not representable as doubles, and returns the sums rounded. */
static double *write_sums(ts_vector *v, size_t count) {
  float *high = ref_values(count, 1, -1, 1), *low = ref_values(count, 2, -1, 1),
        *lowest = ref_values(count, 3, -1, 1);
  double *sums = malloc(count * sizeof *sums);
  for (size_t k = 0; k < count; k++) {
    low[k] = ldexpf(low[k], -26), lowest[k] = ldexpf(lowest[k], -51);
    sums[k] = ((double)lowest[k] + (double)low[k]) + (double)high[k];
  }
  CHECK_OK(context, tsi_write_floats(v, high));
  CHECK_OK(context, tsi_write_floats(v->low, low));
  CHECK_OK(context, tsi_write_floats(v->low->low, lowest));
  free(high), free(low), free(lowest);
  return sums;
}

/* Rounding replaces the parts by those of the double that is read. */
static void round_with(ts_vector *v, size_t count, int exponent) {
  REQUIRE_OK(context, tsi_enter(context));
  double *sums = write_sums(v, count);
  v->exponent = exponent;
  CHECK_OK(context, tsi_leave(context, tsi_round_to_doubles(v)));
  CHECK_INT(v->exponent, exponent);
  expectation e = expect(sums, count, TS_PRECISION_DOUBLE);
  check_parts(v, e.part, 3, count);
  double *found = read_doubles(v);
  for (size_t k = 0; k < count; k++) sums[k] = ldexp(sums[k], exponent);
  check_doubles(found, sums, count);
  free(sums), free(found);
  forget(&e);
}

static void rounding(void) {
  static const int exponents[] = {0, 300, -1026}; /* the last one: subnormal when read */
  for (int c = 0; c < count_count && context->caps.pairs; c++) {
    ts_space *space = make_space(context, counts[c]);
    ts_vector *v = make_of(space, 1, TS_PRECISION_DOUBLE);
    for (int k = 0; k < 3; k++) {
      test_context_label("%d numbers, exponent %d", counts[c], exponents[k]);
      round_with(v, (size_t)counts[c], exponents[k]);
    }
    ts_vector_destroy(&v);
    ts_space_destroy(&space);
  }
}

/* ---- Memory ---- */

/* Device memory for only `most` arrays: the bits are the same, no error remains and no memory is held. */
static void lack_of_room(void) {
  const size_t count = 70008;
  ts_space *space = make_space(context, (int32_t)count);
  for (int most = 0; most < 8 && is_staged_by_host; most++) {
    test_context_label("%d arrays", most);
    ts_vector *v = make_of(space, 1, TS_PRECISION_AUTO);
    double *values = sample_of(LARGE, count);
    expectation e = expect(values, count, TS_PRECISION_AUTO);
    did = (host_arrays){.most = most};
    CHECK_OK(context, ts_vector_write(v, ts_host(values, count)));
    check_parts(v, e.part, 3, count);
    double *found = read_doubles(v);
    check_doubles(found, values, count);
    free(found);
    check_read_floats(v, &e, count);
    REQUIRE_OK(context, tsi_enter(context));
    CHECK_OK(context, tsi_leave(context, tsi_round_to_doubles(v)));
    check_parts(v, e.part, 3, count);
    CHECK(!strstr(ts_last_error(context), "no memory"));
    CHECK_INT(did.held, 0);
    CHECK_INT(did.allocated, most < 4 ? most : 4);
    CHECK_INT(did.looks, most > 0);
    CHECK_INT(did.splits, (most > 0) + (most > 3));
    CHECK_INT(did.joins, (most > 1) + (most > 3)); /* reading as floats needs no join */
    forget(&e);
    free(values);
    ts_vector_destroy(&v);
  }
  ts_space_destroy(&space);
}

/* The first round uses the backend as it is, the second one adds operations on arrays, which only CUDA has. */
static int prepare(int round) {
  is_staged_by_host = round;
  if (!round) return 1;
  if (!test_is_cpu() || test_is_check() || test_is_multi()) return 0;
  did = (host_arrays){.most = INT32_MAX};
  host_arrays_install(context, &did);
  return 1;
}

static void finish(void) {
  if (is_staged_by_host) CHECK_INT(did.held, 0);
}

static const test_fixture fixture = {.context = &context, .rounds = 2, .setup = prepare, .teardown = finish};

TEST_MAIN(CASES_WITH(&fixture, every_sample, growth, rounding, lack_of_room))
