/* Component-wise vector operations compared with double precision: sizes at the corner cases of textures, all
 * combinations of aliased operands, and all kinds of coefficients. */
#include <float.h>

#include "common/core/core.h"
#include "helpers.h"

static ts_context *context;

/* Sizes around the limits of rectangles, texture widths and passes. The large one is the last. */
static const int32_t sizes[] = {1, 2, 3, 15, 16, 17, 255, 256, 257, 1021, 2048, 4093, 16383, 16385, 100003};
enum { size_count = sizeof sizes / sizeof sizes[0] };

typedef struct operands {
  ts_space *space;
  ts_vector *x, *y, *z;
  float *xs, *ys, *zs; /* the values that were written */
  double *expected, *scale;
  size_t count;
  int components;
} operands;

static int setup(operands *o, int32_t size, int components) {
  memset(o, 0, sizeof *o);
  o->components = components;
  o->count = (size_t)size * (size_t)components;
  o->space = make_space(context, size);
  if (!o->space) return 0;
  o->xs = ref_values(o->count, 1, -4, 4);
  o->ys = ref_values(o->count, 2, -4, 4);
  o->zs = ref_values(o->count, 3, -4, 4);
  for (size_t i = 0; i < o->count; i += 7) o->xs[i] = 0;
  o->x = make_vector(o->space, components, o->xs);
  o->y = make_vector(o->space, components, o->ys);
  o->z = make_vector(o->space, components, o->zs);
  o->expected = calloc(o->count, sizeof *o->expected);
  o->scale = calloc(o->count, sizeof *o->scale);
  return o->x && o->y && o->z;
}

static void teardown(operands *o) {
  ts_vector_destroy(&o->x);
  ts_vector_destroy(&o->y);
  ts_vector_destroy(&o->z);
  ts_space_destroy(&o->space);
  free(o->xs), free(o->ys), free(o->zs), free(o->expected), free(o->scale);
}

/* The result has the expected values and zero padding, and the other vectors still have the values written. */
static void check(const operands *o, const ts_vector *result, double tolerance, const double *scale) {
  float *values = read_vector(result);
  CHECK_VALUES(values, o->expected, scale, o->count, tolerance);
  CHECK_PADDING(result);
  free(values);
  const ts_vector *const vectors[] = {o->x, o->y, o->z};
  const float *const written[] = {o->xs, o->ys, o->zs};
  for (int k = 0; k < 3; k++) {
    if (vectors[k] == result) continue;
    values = read_vector(vectors[k]);
    CHECK(memcmp(values, written[k], o->count * sizeof *values) == 0);
    free(values);
  }
}

static void write_back(operands *o) {
  CHECK_OK(context, ts_vector_write(o->x, ts_host(o->xs, o->count)));
  CHECK_OK(context, ts_vector_write(o->y, ts_host(o->ys, o->count)));
  CHECK_OK(context, ts_vector_write(o->z, ts_host(o->zs, o->count)));
}

static int is_left_out(int n, int components) {
  if (sizes[n] > 5000) return test_is_brief() ? components != (n % 2 ? 1 : 4) : components % 3 != 1;
  return test_is_brief() && (n + components) % 4;
}

#define FOR_EACH_SIZE(o)                                                                                       \
  for (int n_ = 0; n_ < size_count; n_++)                                                                      \
    for (int components = 1; components <= 4; components++)                                                    \
      if (test_context_label("%d x %d", sizes[n_], components), is_left_out(n_, components)) {                 \
      } else if (setup(&o, sizes[n_], components))

static void transfer(void) {
  operands o;
  FOR_EACH_SIZE(o) {
    ts_vector *fresh = make_vector(o.space, components, NULL);
    float *values = read_vector(fresh);
    for (size_t i = 0; i < o.count; i++)
      if (!CHECK(values[i] == 0)) break;
    CHECK_PADDING(fresh);
    free(values);
    ts_vector_destroy(&fresh);
    for (size_t i = 0; i < o.count; i++) o.expected[i] = o.xs[i];
    check(&o, o.x, 0, NULL);
    CHECK(ts_vector_get_space(o.x) == o.space);
    CHECK_INT(ts_vector_get_components(o.x), components);
    CHECK_INT(ts_space_get_size(o.space), sizes[n_]);
    teardown(&o);
  }
}

/* Doubles are rounded before they are sent to the device. If one is out of range, the message names it and
 * nothing is written. */
static void doubles(void) {
  ts_space *space = make_space(context, 5);
  REQUIRE(space);
  ts_vector *v = make_vector(space, 3, NULL);
  double written[15], read[15];
  for (int k = 0; k < 15; k++) written[k] = (k - 7) / 3.0;
  written[14] = INFINITY;
  CHECK_OK(context, ts_vector_write(v, ts_host(written, 15)));
  CHECK_OK(context, ts_vector_read(v, ts_host(read, 15)));
  for (int k = 0; k < 15; k++) CHECK(read[k] == (double)(float)written[k]);
  double large[15] = {[10] = -1e39};
  CHECK_FAILS(context, ts_vector_write(v, ts_host(large, 15)), TS_ERROR_INVALID_ARGUMENT,
              "component 1 of index 3", "-1e+39", "single precision");
  CHECK_OK(context, ts_vector_read(v, ts_host(read, 15)));
  for (int k = 0; k < 15; k++) CHECK(read[k] == (double)(float)written[k]);
  CHECK_FAILS(context, ts_vector_write(v, ts_host(written, 14)), TS_ERROR_INVALID_ARGUMENT,
              "values has 14 numbers", "15");
  ts_vector_destroy(&v);
  ts_space_destroy(&space);
}

/* Infinities, NaNs and the largest numbers are written and read exactly. */
static void special_values(void) {
  const float values[] = {INFINITY, -INFINITY, NAN, 3.4028235e38f, -3.4028235e38f, 1.17549435e-38f, -0.0f, 1};
  ts_space *space = make_space(context, 8);
  ts_vector *x = make_vector(space, 1, values), *y = make_vector(space, 1, NULL);
  CHECK_OK(context, ts_vector_copy(y, x));
  float *read = read_vector(y);
  for (int i = 0; i < 8; i++) CHECK(isnan(values[i]) ? isnan(read[i]) : read[i] == values[i]);
  free(read);
  ts_vector_destroy(&x);
  ts_vector_destroy(&y);
  ts_space_destroy(&space);
}

static void fill_and_copy(void) {
  operands o;
  FOR_EACH_SIZE(o) {
    for (size_t i = 0; i < o.count; i++) o.expected[i] = -2.5;
    CHECK_OK(context, ts_vector_fill(o.y, -2.5f));
    check(&o, o.y, 0, NULL);
    for (size_t i = 0; i < o.count; i++) o.expected[i] = o.xs[i];
    CHECK_OK(context, ts_vector_copy(o.y, o.x));
    check(&o, o.y, 0, NULL);
    CHECK_OK(context, ts_vector_copy(o.x, o.x));
    CHECK_OK(context, ts_vector_write(o.y, ts_host(o.ys, o.count)));
    check(&o, o.x, 0, NULL);
    teardown(&o);
  }
}

static void multiply(void) {
  operands o;
  FOR_EACH_SIZE(o) {
    ts_vector *const v[] = {o.x, o.y, o.z};
    const float *const s[] = {o.xs, o.ys, o.zs};
    for (int alias = 0; alias < 27; alias++) { /* z = x y with any vector as each operand */
      const int out = alias / 9, a = alias / 3 % 3, b = alias % 3;
      if (sizes[n_] > 300 && alias % 5) continue;
      for (size_t i = 0; i < o.count; i++) o.expected[i] = (double)s[a][i] * s[b][i];
      CHECK_OK(context, ts_vector_multiply(v[out], v[a], v[b]));
      check(&o, v[out], 2, NULL);
      write_back(&o);
    }
    teardown(&o);
  }
}

static void reciprocal(void) {
  operands o;
  FOR_EACH_SIZE(o) {
    for (size_t i = 0; i < o.count; i++) o.expected[i] = o.xs[i] != 0 ? 1.0 / o.xs[i] : 0;
    CHECK_OK(context, ts_vector_reciprocal(o.z, o.x));
    check(&o, o.z, 6, NULL);
    CHECK_OK(context, ts_vector_write(o.z, ts_host(o.zs, o.count)));
    CHECK_OK(context, ts_vector_reciprocal(o.x, o.x));
    check(&o, o.x, 6, NULL);
    teardown(&o);
  }
}

/* The kinds of coefficients and their values per component. fill_slots writes slots 0 to 3 of `scalars`. */
static const float slot_values[16] = {1.5f, -0.25f, 3, 0.125f, 2, 0.5f, -4,    0.75f,
                                      0,    0,      0, 0,      7, 0,    -0.5f, 1e-40f};

static int coefficient(int kind, const ts_scalars *scalars, ts_coefficient *c, double value[4]) {
  int numerator = -1, denominator = -1;
  float scale = 1;
  switch (kind) {
  case 0:
    scale = 0.75f;
    break;
  case 1:
    scale = 0;
    break;
  case 2:
    scale = 1;
    break;
  case 3:
    scale = -2, numerator = 0;
    break;
  case 4:
    scale = 0.5f, numerator = 0, denominator = 1;
    break;
  case 5:
    scale = 3, numerator = 1, denominator = 2;
    break; /* x / 0 is 0 */
  case 6:
    scale = 3, numerator = 2, denominator = 2;
    break; /* 0 / 0 is 0 */
  case 7:
    scale = -1, numerator = 1, denominator = 3;
    break; /* 0 or a tiny number in some components */
  case 8:
    scale = 2, denominator = 1;
    break; /* a denominator without a numerator */
  case 9:
    scale = 1, numerator = 2;
    break;
  default:
    return 0;
  }
  *c = ts_constant(scale);
  const ts_slot up = {scalars, numerator}, down = {scalars, denominator}, none = {NULL, 0};
  if (numerator >= 0 && denominator < 0) *c = ts_scaled(scale, scalars, numerator);
  if (denominator >= 0) *c = ts_quotient(scale, numerator >= 0 ? up : none, down);
  for (int k = 0; k < 4; k++) {
    const double n = numerator >= 0 ? slot_values[4 * numerator + k] : 1;
    const double d = denominator >= 0 ? slot_values[4 * denominator + k] : 1;
    value[k] = fabs(d) < FLT_MIN ? 0 : scale * n / d;
  }
  return 1;
}

static ts_scalars *make_slots(void) {
  ts_scalars *scalars = make_scalars(context, 4);
  if (scalars) CHECK_OK(context, ts_scalars_write(scalars, 0, ts_host(slot_values, 16)));
  return scalars;
}

static void scale(void) {
  ts_scalars *scalars = make_slots();
  operands o;
  FOR_EACH_SIZE(o) {
    ts_coefficient a;
    double value[4];
    for (int kind = 0; coefficient(kind, scalars, &a, value); kind++) {
      if (sizes[n_] > 5000 && kind % 3) continue;
      test_context_label("%d x %d, coefficient %d", sizes[n_], components, kind);
      for (size_t i = 0; i < o.count; i++) o.expected[i] = value[i % (size_t)components] * o.ys[i];
      CHECK_OK(context, ts_vector_scale(o.y, a));
      check(&o, o.y, 8, NULL);
      CHECK_OK(context, ts_vector_write(o.y, ts_host(o.ys, o.count)));
    }
    teardown(&o);
  }
  ts_scalars_destroy(&scalars);
}

/* y = a x + b y for every pair of coefficients, also with y = x. */
static void axpby(void) {
  ts_scalars *scalars = make_slots();
  operands o;
  FOR_EACH_SIZE(o) {
    ts_coefficient a, b;
    double va[4], vb[4];
    for (int first = 0; coefficient(first, scalars, &a, va); first++)
      for (int second = 0; coefficient(second, scalars, &b, vb); second++) {
        if (sizes[n_] > (test_is_brief() ? 1 : 20) && (first * 10 + second) % (sizes[n_] > 5000 ? 31 : 7))
          continue;
        for (int alias = 0; alias < 2; alias++) {
          test_context_label("%d x %d, coefficients %d and %d%s", sizes[n_], components, first, second,
                             alias ? ", x is y" : "");
          const float *xs = alias ? o.ys : o.xs;
          for (size_t i = 0; i < o.count; i++) {
            const double p = va[i % (size_t)components] * xs[i], q = vb[i % (size_t)components] * o.ys[i];
            o.expected[i] = p + q;
            o.scale[i] = fabs(p) + fabs(q);
          }
          CHECK_OK(context, ts_vector_axpby(o.y, a, alias ? o.y : o.x, b));
          check(&o, o.y, 8, o.scale);
          CHECK_OK(context, ts_vector_write(o.y, ts_host(o.ys, o.count)));
        }
      }
    teardown(&o);
  }
  ts_scalars_destroy(&scalars);
}

/* A term with the constant coefficient 0 is dropped, so its NaN does not propagate. */
static void dropped_terms(void) {
  const float bad[4] = {NAN, INFINITY, NAN, -INFINITY}, good[4] = {1, 2, 3, 4};
  ts_space *space = make_space(context, 4);
  ts_vector *x = make_vector(space, 1, bad), *y = make_vector(space, 1, good);
  CHECK_OK(context, ts_vector_axpby(y, ts_constant(0), x, ts_constant(2)));
  float *values = read_vector(y);
  for (int i = 0; i < 4; i++) CHECK_CLOSE(values[i], 2 * good[i], 0);
  free(values);
  CHECK_OK(context, ts_vector_axpby(x, ts_constant(1), y, ts_constant(0)));
  values = read_vector(x);
  for (int i = 0; i < 4; i++) CHECK_CLOSE(values[i], 2 * good[i], 0);
  free(values);
  CHECK_OK(context, ts_vector_write(x, ts_host(bad, 4)));
  CHECK_OK(context, ts_vector_scale(x, ts_constant(0)));
  values = read_vector(x);
  for (int i = 0; i < 4; i++) CHECK_CLOSE(values[i], 0, 0);
  free(values);
  ts_vector_destroy(&x);
  ts_vector_destroy(&y);
  ts_space_destroy(&space);
}

/* ---- Infinite and NaN coefficients: the values equal those of the CPU, and padding stays 0 ---- */

static const float unbounded[] = {INFINITY, -INFINITY, NAN};

static int same(float a, float b) {
  return a == b || (isnan(a) && isnan(b));
}

/* Checks that every value of x is `expected`. The sums would show padding that is not 0. */
static void expect_all(ts_vector *x, ts_scalars *scalars, float expected) {
  float *values = read_vector(x), slots[8];
  const size_t count = vector_count(x);
  size_t i = 0;
  while (i < count && same(values[i], expected)) i++;
  CHECK_INT(i, count);
  free(values);
  CHECK_PADDING(x);
  CHECK_OK(context, ts_vector_sum(scalars, 0, x));
  CHECK_OK(context, ts_vector_dot(scalars, 1, x, x));
  CHECK_OK(context, ts_scalars_read(scalars, 0, ts_host(slots, 8)));
  CHECK(same(slots[0], expected));
  CHECK(same(slots[4], expected * expected));
}

/* With x = 1 and y = 1. */
static void scale_and_add(ts_space *space, int components, ts_scalars *scalars) {
  ts_vector *x = make_vector(space, components, NULL), *y = make_vector(space, components, NULL);
  CHECK_OK(context, ts_vector_fill(y, 1));
  for (int k = 0; k < 6; k++) {
    const float bad = unbounded[k % 3], four[] = {bad, bad, bad, bad};
    test_context_label("%d x %d, %g %s", ts_space_get_size(space), components, (double)bad,
                       k < 3 ? "" : "in a slot");
    CHECK_OK(context, ts_scalars_write(scalars, 3, HOST(four)));
    const ts_coefficient a = k < 3 ? ts_constant(bad) : ts_scaled(1, scalars, 3);
    CHECK_OK(context, ts_vector_fill(x, 1));
    CHECK_OK(context, ts_vector_scale(x, a));
    expect_all(x, scalars, bad);
    CHECK_OK(context, ts_vector_fill(x, 1));
    CHECK_OK(context, ts_vector_axpby(x, a, y, ts_constant(1)));
    expect_all(x, scalars, bad);
    CHECK_OK(context, ts_vector_fill(x, 1));
    CHECK_OK(context, ts_vector_axpby(x, ts_constant(1), y, a));
    expect_all(x, scalars, bad);
  }
  ts_vector_destroy(&x);
  ts_vector_destroy(&y);
}

/* out = w x + b y, with vectors of ones. */
static void multiply_and_add(ts_space *space, int components, ts_scalars *scalars) {
  ts_vector *out = make_vector(space, components, NULL), *x = make_vector(space, components, NULL),
            *scratch = make_vector(space, components, NULL);
  CHECK_OK(context, ts_vector_fill(x, 1));
  for (int k = 0; k < 3; k++) {
    test_context_label("%d x %d, 1 + %g", ts_space_get_size(space), components, (double)unbounded[k]);
    REQUIRE_OK(context, tsi_enter(context));
    CHECK_OK(context, tsi_leave(context, tsi_multiply_add(out, x, x, ts_constant(unbounded[k]), x, scratch)));
    expect_all(out, scalars, unbounded[k]);
  }
  ts_vector_destroy(&out);
  ts_vector_destroy(&x);
  ts_vector_destroy(&scratch);
}

static void unbounded_coefficients(void) {
  ts_scalars *scalars = make_scalars(context, 4);
  ref_matrix m = ref_grid(9, 11);
  ts_format formats[8];
  const int format_count = list_formats(context, formats);
  for (int f = -1; f < format_count;
       f++) { /* -1: natural order; others: the order of a matrix in that format */
    ts_matrix *matrix = f < 0 ? NULL : make_matrix(context, &m, formats[f]);
    ts_space *space = f < 0 ? make_space(context, 199) : ts_matrix_get_row_space(matrix);
    for (int components = 1; components <= (f < 0 ? 4 : 1); components++) {
      scale_and_add(space, components, scalars);
      multiply_and_add(space, components, scalars);
    }
    if (f < 0) ts_space_destroy(&space);
    ts_matrix_destroy(&matrix);
  }
  ts_scalars_destroy(&scalars);
  ref_free(&m);
}

/* Slots are written and read exactly, and a new array holds 0. */
static void slots(void) {
  static const int counts[] = {1, 2, 63, 64, 65, 1000, 4096};
  for (size_t n = 0; n < sizeof counts / sizeof counts[0]; n++) {
    const int count = counts[n];
    test_context_label("%d slots", count);
    ts_scalars *scalars = make_scalars(context, count);
    float *written = ref_values((size_t)count * 4, 9, -1, 1), *read = malloc(sizeof *read * (size_t)count * 4);
    CHECK_OK(context, ts_scalars_read(scalars, 0, ts_host(read, 4 * (size_t)count)));
    for (int k = 0; k < 4 * count; k++)
      if (!CHECK(read[k] == 0)) break;
    CHECK_OK(context, ts_scalars_write(scalars, 0, ts_host(written, 4 * (size_t)count)));
    CHECK_OK(context, ts_scalars_read(scalars, 0, ts_host(read, 4 * (size_t)count)));
    CHECK(memcmp(read, written, sizeof *read * (size_t)count * 4) == 0);
    /* Changing one slot in the middle leaves its neighbours unchanged. */
    const float one[4] = {11, 12, 13, 14};
    const int middle = count / 2;
    CHECK_OK(context, ts_scalars_write(scalars, middle, ts_host(one, 4)));
    memcpy(written + 4 * middle, one, sizeof one);
    for (int k = 0; k < count; k += 1 + count / 5) {
      CHECK_OK(context, ts_scalars_read(scalars, k, ts_host(read, 4 * (size_t)(count - k))));
      CHECK(memcmp(read, written + 4 * k, sizeof *read * (size_t)(count - k) * 4) == 0);
    }
    free(written);
    free(read);
    ts_scalars_destroy(&scalars);
  }
}

/* A destroyed space exists until its last vector is destroyed. */
static void lifetime(void) {
  ts_space *space = make_space(context, 100);
  ts_vector *x = make_vector(space, 2, NULL);
  ts_space_destroy(&space);
  CHECK(space == NULL);
  CHECK_OK(context, ts_vector_fill(x, 3));
  CHECK_INT(ts_space_get_size(ts_vector_get_space(x)), 100);
  float *values = read_vector(x);
  CHECK_CLOSE(values[199], 3, 0);
  free(values);
  ts_vector_destroy(&x);
  CHECK(x == NULL);
}

TEST_MAIN(CASES_IN_CONTEXT(transfer, doubles, special_values, fill_and_copy, multiply, reciprocal, scale, axpby,
                           dropped_terms, slots, lifetime, unbounded_coefficients))
