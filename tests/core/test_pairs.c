/* Arithmetic of pairs: component-wise operations and reductions of vectors with two parts, some operands having
 * one part, compared with sums of about 100 bits.
 *
 * Each step of pair arithmetic has an error of a few times 2^-48. A result passes if it is within 2^-45 of the
 * sum of the magnitudes of its terms. Single precision has an error of 2^-24 and would fail. */
#include <float.h>

#include "common/core/core.h"
#include "helpers.h"

static ts_context *context;

static const double tolerance = 0x1p-45;

static const int32_t sizes[] = {1, 17, 257, 4093, 100003};
enum { size_count = sizeof sizes / sizeof sizes[0] };

/* Direct calls of the operation table are made between these two. */
static void enter(void) {
  CHECK_OK(context, tsi_enter(context));
}
static void leave(void) {
  CHECK_OK(context, tsi_leave(context, TS_OK));
}

/* Numbers of many magnitudes and both signs. Some are 0, and some have a low part of 0. */
static double *various(size_t count, uint64_t seed) {
  double *values = ref_doubles(count, seed, -2, 2);
  for (size_t i = 0; i < count; i++) {
    values[i] = ldexp(values[i], (int)((i * 7 + seed) % 20) - 10);
    if ((i + seed) % 29 == 0) values[i] = 0;
    if ((i + seed) % 31 == 0) values[i] = (double)(float)values[i];
  }
  return values;
}

/* ---- Coefficients ---- */

typedef struct factor {
  ts_coefficient coefficient;
  double value[4];
} factor;

static ts_scalars *one_part, *two_parts; /* slots 0 and 1 hold numbers, slot 2 values that count as 0 */

static factor constant(double value) {
  return (factor){ts_constant(value), {value, value, value, value}};
}

static factor quotient(double scale, const ts_scalars *n, int n_index, const ts_scalars *d, int d_index) {
  factor f = {ts_quotient(scale, (ts_slot){n, n_index}, (ts_slot){d, d_index}), {0}};
  double above[4] = {1, 1, 1, 1}, below[4] = {1, 1, 1, 1};
  if (n) CHECK_OK(context, ts_scalars_read((ts_scalars *)n, n_index, ts_host(above, 4)));
  if (d) CHECK_OK(context, ts_scalars_read((ts_scalars *)d, d_index, ts_host(below, 4)));
  for (int c = 0; c < 4; c++) f.value[c] = fabs(below[c]) < FLT_MIN ? 0 : scale * above[c] / below[c];
  return f;
}

enum { factor_count = 8 };
static factor factors[factor_count];

static int make_factors(int round) {
  (void)round;
  const double tiny[] = {0, 1e-40, -1e-40, 0};
  double *values = ref_doubles(8, 99, 1, 3);
  one_part = make_scalars(context, 3);
  two_parts = make_pair_scalars(context, 3);
  for (int k = 0; k < 8; k += 3) values[k] = -values[k];
  CHECK_OK(context, ts_scalars_write(one_part, 0, ts_host(values, 8)));
  CHECK_OK(context, ts_scalars_write(two_parts, 0, ts_host(values, 8)));
  CHECK_OK(context, ts_scalars_write(two_parts, 2, HOST(tiny)));
  free(values);
  factors[0] = constant(1);
  factors[1] = constant(-1.0 / 3);
  factors[2] = quotient(1.0 / 7, one_part, 0, NULL, 0);
  factors[3] = quotient(-1, two_parts, 0, NULL, 0);
  factors[4] = quotient(1, two_parts, 0, two_parts, 1);
  factors[5] = quotient(0.1, two_parts, 1, one_part, 0);
  factors[6] = quotient(3, two_parts, 0, two_parts, 2); /* 0, because the divisor counts as 0 */
  factors[7] = constant(0);                             /* the term is dropped */
  return 1;
}

static void drop_factors(void) {
  ts_scalars_destroy(&one_part);
  ts_scalars_destroy(&two_parts);
}

/* ---- Component-wise operations ---- */

typedef enum operation { AXPBY, MULTIPLY, RECIPROCAL, MULTIPLY_ADD, OPERATIONS } operation;
static const int inputs_of[] = {2, 2, 1, 3};
static const char *const names[] = {"axpby", "multiply", "reciprocal", "multiply_add"};

static ts_status run_operation(operation op, ts_vector *out, ts_vector *const *in, const factor *a,
                               const factor *b) {
  const tsi_ops *ops = context->ops;
  switch (op) {
  case AXPBY:
    return ops->axpby(out, a->coefficient, in[0], b->coefficient, in[1]);
  case MULTIPLY:
    return ops->multiply(out, in[0], in[1]);
  case RECIPROCAL:
    return ops->reciprocal(out, in[0]);
  default:
    return ops->multiply_add(out, in[0], in[1], b->coefficient, in[2]);
  }
}

/* Returns the result for one number. `size` receives the sum of the magnitudes of its terms. */
static double expected(operation op, const double *in, double a, double b, double *size) {
  ref_sum sum = {0, 0};
  double terms[2] = {0, 0};
  switch (op) {
  case AXPBY:
    ref_add_product(&sum, a, in[0]);
    ref_add_product(&sum, b, in[1]);
    terms[0] = a * in[0], terms[1] = b * in[1];
    break;
  case MULTIPLY:
    ref_add_product(&sum, in[0], in[1]);
    terms[0] = in[0] * in[1];
    break;
  case RECIPROCAL:
    sum.value = terms[0] = in[0] == 0 ? 0 : 1 / in[0];
    break;
  default:
    ref_add_product(&sum, in[0], in[1]);
    ref_add_product(&sum, b, in[2]);
    terms[0] = in[0] * in[1], terms[1] = b * in[2];
  }
  *size = fabs(terms[0]) + fabs(terms[1]);
  return sum.value + sum.low;
}

/* A pair's low part is at most half an ulp of its high part. */
static int check_normalised(const ts_vector *v) {
  const size_t count = vector_count(v);
  float *high = read_vector(v), *low = read_vector(v->low);
  size_t i = 0;
  while (i < count && fabs((double)low[i]) <= 1.001 * EPSILON * fabs((double)high[i])) i++;
  const int good = i == count;
  if (!good) test_fail(__FILE__, __LINE__, "%zu: %.9g and %.9g overlap", i, (double)high[i], (double)low[i]);
  free(high), free(low);
  return good;
}

/* Each input is a new vector of two parts or of one part, the output itself, or the first input again. */
typedef enum choice { PAIR, SINGLE, OUT, FIRST, CHOICES } choice;

static void check_operation(operation op, ts_space *space, int components, int out_parts, const choice *choices,
                            const factor *a, const factor *b) {
  const size_t count = (size_t)ts_space_get_size(space) * (size_t)components;
  double *initial = various(count, 11), *values[3] = {NULL, NULL, NULL};
  ts_vector *out = make_parts(space, components, out_parts, initial), *own[3] = {NULL, NULL, NULL}, *in[3];
  for (int k = 0; k < inputs_of[op]; k++) {
    if (choices[k] == PAIR || choices[k] == SINGLE) {
      double *numbers = various(count, 3 + (uint64_t)k);
      const int dropped = (op == AXPBY && (k ? b : a)->coefficient.scale == 0) ||
                          (op == MULTIPLY_ADD && k == 2 && b->coefficient.scale == 0);
      for (size_t i = 0; dropped && i < count; i++) numbers[i] = (double)NAN;
      own[k] = make_parts(space, components, choices[k] == PAIR ? 2 : 1, numbers);
      free(numbers);
    }
    in[k] = own[k] ? own[k] : choices[k] == OUT ? out : in[0];
    values[k] = read_doubles(in[k]);
  }
  /* Operations on pairs must not touch a third part. */
  enter();
  if (out_parts == 3) CHECK_OK(context, context->ops->fill(out->low->low, 7));
  CHECK_OK(context, run_operation(op, out, in, a, b));
  leave();
  float *third = out_parts == 3 ? read_vector(out->low->low) : NULL;
  for (size_t i = 0; third && i < count && CHECK(third[i] == 7); i++) continue;
  float *high = read_vector(out), *low = read_vector(out->low);
  for (size_t i = 0; i < count; i++) {
    double of[3] = {0, 0, 0}, size;
    for (int k = 0; k < inputs_of[op]; k++) of[k] = isnan(values[k][i]) ? 0 : values[k][i];
    const int c = (int)(i % (size_t)components);
    const double exact = expected(op, of, a->value[c], b->value[c], &size);
    if (!CHECK_CLOSE((double)high[i] + (double)low[i], exact, tolerance * size)) break;
  }
  check_normalised(out);
  CHECK_PADDING(out);
  CHECK_PADDING(out->low);
  for (int k = 0; k < 3; k++) {
    ts_vector_destroy(&own[k]);
    free(values[k]);
  }
  ts_vector_destroy(&out);
  free(initial), free(third), free(high), free(low);
}

/* All combinations of kinds of inputs. */
static void operands(void) {
  for (int op = 0; op < OPERATIONS; op++) {
    if (op == MULTIPLY_ADD && !context->ops->multiply_add) continue;
    int combinations = 1;
    for (int k = 0; k < inputs_of[op]; k++) combinations *= CHOICES;
    for (int n = 0; n < combinations; n++) {
      const choice choices[3] = {n % CHOICES, n / CHOICES % CHOICES, n / CHOICES / CHOICES};
      if (choices[0] == FIRST) continue;
      const int components = 1 + n % 4;
      test_context_label("%s, operands %d %d %d, %d components", names[op], choices[0], choices[1], choices[2],
                         components);
      ts_space *space = make_space(context, 257);
      check_operation(op, space, components, 2 + n % 2, choices, &factors[1], &factors[4]);
      ts_space_destroy(&space);
    }
  }
}

static void coefficients(void) {
  const choice pairs[3] = {PAIR, PAIR, PAIR};
  ts_space *space = make_space(context, 41);
  for (int a = 0; a < factor_count; a++)
    for (int b = 0; b < factor_count; b++)
      for (int op = AXPBY; op <= MULTIPLY_ADD; op += MULTIPLY_ADD - AXPBY) {
        if (op == MULTIPLY_ADD && (a > 0 || !context->ops->multiply_add)) continue;
        test_context_label("%s, coefficients %d and %d", names[op], a, b);
        check_operation(op, space, 1 + (a + b) % 4, 2, pairs, &factors[a], &factors[b]);
      }
  ts_space_destroy(&space);
}

static void lengths(void) {
  const choice pairs[3] = {PAIR, PAIR, PAIR};
  for (int s = 0; s < size_count - 1; s++)
    for (int op = 0; op < OPERATIONS; op++)
      for (int components = 1; components <= 4; components++) {
        if (op == MULTIPLY_ADD && !context->ops->multiply_add) continue;
        if (test_is_brief() && components != 1 + (s + op) % 4) continue;
        test_context_label("%s, %d x %d", names[op], sizes[s], components);
        ts_space *space = make_space(context, sizes[s]);
        check_operation(op, space, components, 2, pairs, &factors[5], &factors[1]);
        ts_space_destroy(&space);
      }
}

/* If the output has one part, the low parts of the inputs are ignored: the bits equal those without low
 * parts. */
static void single_outputs(void) {
  ts_space *space = make_space(context, 257);
  enum { count = 514 };
  double *values = various(count, 1), *others = various(count, 2);
  ts_vector *x = make_parts(space, 2, 2, values), *y = make_parts(space, 2, 2, others);
  ts_vector *out = make_parts(space, 2, 1, NULL);
  for (int op = 0; op < OPERATIONS; op++) {
    if (op == MULTIPLY_ADD && !context->ops->multiply_add) continue;
    ts_vector x_part = tsi_first_part(x), y_part = tsi_first_part(y);
    ts_vector *const with[3] = {x, y, x}, *const without[3] = {&x_part, &y_part, &x_part};
    test_context_label("%s", names[op]);
    for (int f = 0; f < factor_count; f++) {
      enter();
      CHECK_OK(context, run_operation(op, out, with, &factors[f], &factors[1]));
      leave();
      float *found = read_vector(out);
      enter();
      CHECK_OK(context, run_operation(op, out, without, &factors[f], &factors[1]));
      leave();
      float *right = read_vector(out);
      for (size_t i = 0; i < count && CHECK(found[i] == right[i]); i++) continue;
      free(found), free(right);
    }
  }
  free(values), free(others);
  ts_vector_destroy(&x);
  ts_vector_destroy(&y);
  ts_vector_destroy(&out);
  ts_space_destroy(&space);
}

/* ---- Reductions ---- */

/* The sum of x y w over one component. NULL counts as a vector of ones. */
static double sum_of(size_t count, int components, int c, const double *x, const double *y, const double *w,
                     double *size) {
  ref_sum sum = {0, 0};
  *size = 0;
  for (size_t i = (size_t)c; i < count; i += (size_t)components) {
    const double xy = y ? x[i] * y[i] : x[i], low = y ? fma(x[i], y[i], -xy) : 0;
    ref_add_product(&sum, xy, w ? w[i] : 1);
    ref_add_product(&sum, low, w ? w[i] : 1);
    *size += fabs(xy * (w ? w[i] : 1));
  }
  return sum.value + sum.low;
}

typedef struct sums {
  ts_space *space;
  int components;
  size_t count;
  double *xs, *ys, *ws;
  ts_vector *x, *y, *w, *scratch;
  ts_scalars *slots;
} sums;

static void open_sums(sums *s, int32_t size, int components, int parts) {
  s->space = make_space(context, size);
  s->components = components;
  s->count = (size_t)size * (size_t)components;
  double *xs = various(s->count, 1), *ys = various(s->count, 2), *ws = various(s->count, 3);
  s->x = make_parts(s->space, components, 2, xs);
  s->y = make_parts(s->space, components, parts, ys);
  s->w = make_parts(s->space, components, parts, ws);
  s->scratch = make_parts(s->space, components, 2, NULL);
  free(xs), free(ys), free(ws);
  s->xs = read_doubles(s->x), s->ys = read_doubles(s->y), s->ws = read_doubles(s->w);
  s->slots = make_pair_scalars(context, 8);
  double ones[32];
  for (int k = 0; k < 32; k++) ones[k] = 1.0 / 3;
  CHECK_OK(context, ts_scalars_write(s->slots, 0, ts_host(ones, 32)));
}

static void close_sums(sums *s) {
  free(s->xs), free(s->ys), free(s->ws);
  ts_vector_destroy(&s->x);
  ts_vector_destroy(&s->y);
  ts_vector_destroy(&s->w);
  ts_vector_destroy(&s->scratch);
  ts_scalars_destroy(&s->slots);
  ts_space_destroy(&s->space);
}

static void check_sum(const sums *s, const double *slot, const double *x, const double *y, const double *w) {
  for (int c = 0; c < 4; c++) {
    double size = 0, exact = 0;
    if (c < s->components) exact = sum_of(s->count, s->components, c, x, y, w, &size);
    CHECK_CLOSE(slot[c], exact, tolerance * size);
  }
}

static void check_reductions(int32_t size, int components, int parts) {
  sums s;
  open_sums(&s, size, components, parts);
  const tsi_ops *ops = context->ops;
  const tsi_dot dots[3] = {{5, s.x, s.y, NULL}, {6, s.x, s.x, s.w}, {7, s.x, s.x, NULL}};
  enter();
  CHECK_OK(context, ops->reduce(s.slots, 0, TSI_REDUCE_DOT, s.x, s.y));
  CHECK_OK(context, ops->reduce(s.slots, 1, TSI_REDUCE_NORM2, s.x, s.x));
  CHECK_OK(context, ops->reduce(s.slots, 2, TSI_REDUCE_SUM, s.x, s.x));
  CHECK_OK(context, ops->reduce(s.slots, 3, TSI_REDUCE_MAX, s.x, s.x));
  CHECK_OK(context, ops->reduce(s.slots, 4, TSI_REDUCE_MAX_ABS, s.x, s.x));
  CHECK_OK(context, tsi_dots(s.slots, dots, 3, s.scratch));
  leave();
  double found[32], magnitude;
  CHECK_OK(context, ts_scalars_read(s.slots, 0, ts_host(found, 32)));
  check_sum(&s, found, s.xs, s.ys, NULL);
  check_sum(&s, found + 8, s.xs, NULL, NULL);
  check_sum(&s, found + 20, s.xs, s.ys, NULL);
  check_sum(&s, found + 24, s.xs, s.xs, s.ws);
  check_sum(&s, found + 28, s.xs, s.xs, NULL);
  for (int c = 0; c < 4; c++) {
    double most = c < components ? -INFINITY : 0, most_abs = 0, norm = 0;
    if (c < components) norm = sqrt(sum_of(s.count, components, c, s.xs, s.xs, NULL, &magnitude));
    for (size_t i = (size_t)c; c < components && i < s.count; i += (size_t)components) {
      most = fmax(most, s.xs[i]);
      most_abs = fmax(most_abs, fabs(s.xs[i]));
    }
    CHECK_CLOSE(found[4 + c], norm, tolerance * norm);
    CHECK_CLOSE(found[12 + c], most, 0);
    CHECK_CLOSE(found[16 + c], most_abs, 0);
  }
  /* A repeated sum has the same bits, and a slot of one part receives the first part of the sum. */
  ts_scalars *single = make_scalars(context, 1);
  double again[4];
  float rounded[4];
  enter();
  CHECK_OK(context, ops->reduce(s.slots, 1, TSI_REDUCE_DOT, s.x, s.y));
  CHECK_OK(context, ops->reduce(single, 0, TSI_REDUCE_DOT, s.x, s.y));
  leave();
  CHECK_OK(context, ts_scalars_read(s.slots, 1, ts_host(again, 4)));
  for (int c = 0; c < 4; c++) CHECK(again[c] == found[c]);
  read_slot(single, 0, rounded);
  for (int c = 0; c < components; c++)
    CHECK_CLOSE((double)rounded[c], found[c], 1.01 * EPSILON * fabs(found[c]));
  ts_scalars_destroy(&single);
  close_sums(&s);
}

static void reductions(void) {
  for (int s = 0; s < size_count; s++)
    for (int components = 1; components <= 4; components++)
      for (int parts = 1; parts <= 2; parts++) {
        if (sizes[s] > 5000 ? components != 1 + parts : test_is_brief() && (components + s) % 2) continue;
        test_context_label("%d x %d, others of %d parts", sizes[s], components, parts);
        check_reductions(sizes[s], components, parts);
      }
}

/* Negative numbers that differ only in their low parts. The zeros of the padding must not win either. */
static void close_maxima(void) {
  for (int s = 1; s < size_count - 1; s++) {
    const size_t count = (size_t)sizes[s];
    double *values = calloc(count, sizeof *values), found[8], most = -INFINITY;
    for (size_t i = 0; i < count; i++) values[i] = -1 - ldexp((double)(1 + i * 7919 % count), -40);
    for (size_t i = 0; i < count; i++) most = fmax(most, values[i]);
    test_context_label("%d", sizes[s]);
    ts_space *space = make_space(context, sizes[s]);
    ts_vector *x = make_parts(space, 1, 2, values);
    ts_scalars *slots = make_pair_scalars(context, 2);
    enter();
    CHECK_OK(context, context->ops->reduce(slots, 0, TSI_REDUCE_MAX, x, x));
    CHECK_OK(context, context->ops->reduce(slots, 1, TSI_REDUCE_MAX_ABS, x, x));
    leave();
    CHECK_OK(context, ts_scalars_read(slots, 0, ts_host(found, 8)));
    CHECK_CLOSE(found[0], most, 0);
    CHECK_CLOSE(found[4], 1 + ldexp((double)count, -40), 0);
    free(values);
    ts_vector_destroy(&x);
    ts_scalars_destroy(&slots);
    ts_space_destroy(&space);
  }
}

/* A NaN in x propagates to all reductions. */
static void not_numbers(void) {
  sums s;
  open_sums(&s, 4093, 1, 2);
  for (int place = 0; place < 4093; place += 2046) {
    s.xs[place] = (double)NAN;
    CHECK_OK(context, ts_vector_write(s.x, ts_host(s.xs, s.count)));
    enter();
    for (int kind = TSI_REDUCE_DOT; kind <= TSI_REDUCE_MAX_ABS; kind++)
      CHECK_OK(context, context->ops->reduce(s.slots, kind, (tsi_reduction)kind, s.x, s.y));
    leave();
    double found[20];
    CHECK_OK(context, ts_scalars_read(s.slots, 0, ts_host(found, 20)));
    for (size_t k = 0; k < 5; k++) CHECK(isnan(found[4 * k]));
    s.xs[place] = 1;
  }
  close_sums(&s);
}

/* ---- Two updates and a sum in one ---- */

static void updates(void) {
  for (int s = 0; s < size_count; s++)
    for (int kind = 0; kind < 8; kind++) {
      const int parts = 1 + kind % 2, components = sizes[s] > 5000 ? 1 : 1 + (s + kind) % 4;
      const factor *a = &factors[kind < 6 ? kind : 7], *b = &factors[7 - kind];
      if (sizes[s] > 5000 && kind != 2 && kind != 5) continue;
      test_context_label("%d x %d, others of %d parts, coefficients %d", sizes[s], components, parts, kind);
      sums v;
      open_sums(&v, sizes[s], components, parts); /* computes x += a y and r += b w */
      double *rs = various(v.count, 17);
      ts_vector *r = make_parts(v.space, components, 2, rs);
      enter();
      /* The sum is r r, or r r y. */
      CHECK_OK(context, tsi_axpy2_dot(v.x, a->coefficient, v.y, r, b->coefficient, v.w, kind & 4 ? v.y : NULL,
                                      v.slots, 3, v.scratch));
      leave();
      double *x_found = read_doubles(v.x), *r_found = read_doubles(r), found[4];
      for (size_t i = 0; i < v.count; i++) {
        const int c = (int)(i % (size_t)components);
        double size;
        const double x_in[2] = {v.ys[i], v.xs[i]}, r_in[2] = {v.ws[i], rs[i]};
        const double x_right = expected(AXPBY, x_in, a->value[c], 1, &size);
        if (!CHECK_CLOSE(x_found[i], x_right, tolerance * size)) break;
        const double r_right = expected(AXPBY, r_in, b->value[c], 1, &size);
        if (!CHECK_CLOSE(r_found[i], r_right, tolerance * size)) break;
      }
      check_normalised(v.x);
      check_normalised(r);
      CHECK_OK(context, ts_scalars_read(v.slots, 3, ts_host(found, 4)));
      check_sum(&v, found, r_found, r_found, kind & 4 ? v.ys : NULL);
      free(rs), free(x_found), free(r_found);
      ts_vector_destroy(&r);
      close_sums(&v);
    }
}

/* ---- Vectors and slots created together, as in solvers ---- */

enum { X, R, D, Q, W, TOGETHER }; /* a backend may have a faster path if x and r are the first two */

/* out = w y + a x. NULL counts as a vector of ones. */
static void check_update(const ts_vector *out, const factor *a, const double *x, const double *w,
                         const double *y) {
  double *found = read_doubles(out);
  for (size_t i = 0; i < vector_count(out); i++) {
    double size;
    const double in[3] = {w ? w[i] : 1, y[i], x[i]};
    const double right =
        expected(MULTIPLY_ADD, in, 0, a->value[i % (size_t)ts_vector_get_components(out)], &size);
    if (!CHECK_CLOSE(found[i], right, tolerance * size)) break;
  }
  check_normalised(out);
  free(found);
}

static void check_together(int32_t size, int components, int parts) {
  ts_space *space = make_space(context, size);
  ts_vector *v[TOGETHER];
  ts_scalars *slots;
  const size_t count = (size_t)size * (size_t)components;
  double *before[TOGETHER], sums[16], magnitude;
  enter();
  CHECK_OK(context, tsi_arena_create(space, components, parts, v, TOGETHER, 4, &slots));
  leave();
  for (int k = 0; k < TOGETHER; k++) {
    double *numbers = various(count, 20 + (uint64_t)k);
    for (size_t i = 0; k == W && i < count; i++)
      numbers[i] = fabs(numbers[i]); /* sums of positive terms do not cancel */
    CHECK_OK(context, ts_vector_write(v[k], ts_host(numbers, count)));
    if (parts == 3) {
      enter();
      CHECK_OK(context, context->ops->fill(v[k]->low->low, 0));
      leave();
    }
    before[k] = read_doubles(v[k]);
    free(numbers);
  }
  ts_vector *scratch = make_parts(space, components, 2, NULL);
  const tsi_dot dots[3] = {{0, v[D], v[D], NULL}, {1, v[R], v[R], v[W]}, {3, v[X], v[D], NULL}};
  enter();
  CHECK_OK(context, tsi_dots(slots, dots, 3, scratch));
  leave();
  CHECK_OK(context, ts_scalars_read(slots, 0, ts_host(sums, 16)));
  for (int c = 0; c < components; c++) {
    const double dd = sum_of(count, components, c, before[D], before[D], NULL, &magnitude);
    CHECK_CLOSE(sums[c], dd, tolerance * magnitude);
    const double xd = sum_of(count, components, c, before[X], before[D], NULL, &magnitude);
    CHECK_CLOSE(sums[12 + c], xd, tolerance * magnitude);
    const double rrw = sum_of(count, components, c, before[R], before[R], before[W], &magnitude);
    CHECK_CLOSE(sums[4 + c], rrw, tolerance * magnitude);
  }
  const factor a = quotient(1.0 / 3, slots, 0, slots, 1), b = quotient(-1, slots, 0, slots, 1);
  enter();
  CHECK_OK(context,
           tsi_axpy2_dot(v[X], a.coefficient, v[D], v[R], b.coefficient, v[Q], v[W], slots, 2, scratch));
  leave();
  check_update(v[X], &a, before[D], NULL, before[X]);
  check_update(v[R], &b, before[Q], NULL, before[R]);
  double *r = read_doubles(v[R]);
  CHECK_OK(context, ts_scalars_read(slots, 2, ts_host(sums + 8, 4)));
  for (int c = 0; c < components; c++) {
    const double rrw = sum_of(count, components, c, r, r, before[W], &magnitude);
    CHECK_CLOSE(sums[8 + c], rrw, tolerance * magnitude);
  }
  const factor beta = quotient(1, slots, 2, slots, 1);
  enter();
  CHECK_OK(context, tsi_multiply_add(v[D], v[W], v[R], beta.coefficient, v[D], scratch));
  leave();
  check_update(v[D], &beta, before[D], before[W], r);
  for (int k = 0; k < TOGETHER; k++) {
    ts_vector_destroy(&v[k]);
    free(before[k]);
  }
  free(r);
  ts_vector_destroy(&scratch);
  ts_scalars_destroy(&slots);
  ts_space_destroy(&space);
}

static void together(void) {
  for (int s = 0; s < size_count; s++)
    for (int components = 1; components <= 4; components++) {
      if (sizes[s] > 5000 && components > 1) continue;
      test_context_label("%d x %d", sizes[s], components);
      check_together(sizes[s], components, 2 + s % 2);
    }
}

/* ---- Public functions: vectors of one part and of three parts ---- */

/* Three parts hold a pair, and the third part is 0. One part holds single precision. */
static void check_public(ts_vector *z, const double *in, int inputs, operation op, double a, double b) {
  const size_t count = vector_count(z);
  double *found = read_doubles(z);
  float *third = z->low ? read_vector(z->low->low) : NULL;
  for (size_t i = 0; i < count; i++) {
    double of[3] = {0, 0, 0}, size;
    for (int k = 0; k < inputs; k++) of[k] = in[(size_t)k * count + i];
    const double exact = expected(op, of, a, b, &size);
    if (!CHECK_CLOSE(found[i], exact, (z->low ? tolerance : 4 * EPSILON) * size)) break;
    if (third && !CHECK(third[i] == 0)) break;
  }
  free(found), free(third);
}

static void check_public_operations(ts_space *space, int x_parts, int y_parts, int z_parts) {
  const size_t count = 514;
  double *values = various(3 * count, 5), *in = calloc(3 * count, sizeof *in);
  ts_vector *x = make_parts(space, 2, x_parts, values), *y = make_parts(space, 2, y_parts, values + count),
            *z = make_parts(space, 2, z_parts, values + 2 * count);
  const double third = -1.0 / 3, tenth = 0.1;
  ts_vector *const all[3] = {x, y, z};
  for (size_t k = 0; k < 3; k++) {
    double *numbers = read_doubles(all[k]);
    memcpy(in + k * count, numbers, count * sizeof *in);
    free(numbers);
  }
  CHECK_OK(context, ts_vector_axpby(z, ts_constant(third), x, ts_constant(tenth)));
  double *x_and_z = calloc(2 * count, sizeof *x_and_z);
  memcpy(x_and_z, in, count * sizeof *in);
  memcpy(x_and_z + count, in + 2 * count, count * sizeof *in);
  check_public(z, x_and_z, 2, AXPBY, third, tenth);
  CHECK_OK(context, ts_vector_write(z, ts_host(values, count)));
  CHECK_OK(context, ts_vector_multiply(z, x, y));
  check_public(z, in, 2, MULTIPLY, 0, 0);
  CHECK_OK(context, ts_vector_write(z, ts_host(values, count)));
  CHECK_OK(context, ts_vector_reciprocal(z, x));
  check_public(z, in, 1, RECIPROCAL, 0, 0);
  CHECK_OK(context, ts_vector_write(z, ts_host(values, count)));
  double *before = read_doubles(z);
  CHECK_OK(context, ts_vector_scale(z, ts_constant(third)));
  check_public(z, before, 1, AXPBY, third, 0);
  /* Reductions overwrite both parts of a slot, even in single precision. */
  ts_scalars *slots = make_pair_scalars(context, 4);
  double found[16], ones[16];
  for (int k = 0; k < 16; k++) ones[k] = 1 + 1e-9;
  CHECK_OK(context, ts_scalars_write(slots, 0, ts_host(ones, 16)));
  CHECK_OK(context, ts_vector_dot(slots, 0, x, y));
  CHECK_OK(context, ts_vector_norm(slots, 1, x, TS_NORM_2));
  CHECK_OK(context, ts_vector_sum(slots, 2, x));
  CHECK_OK(context, ts_vector_max(slots, 3, x));
  CHECK_OK(context, ts_scalars_read(slots, 0, ts_host(found, 16)));
  for (int c = 0; c < 2; c++) {
    double size, most = -INFINITY;
    const double single = 32 * EPSILON, of_dot = x_parts + y_parts > 2 ? tolerance : single,
                 of_x = x_parts > 1 ? tolerance : single;
    for (size_t i = (size_t)c; i < count; i += 2) most = fmax(most, in[i]);
    const double dot = sum_of(count, 2, c, in, in + count, NULL, &size);
    CHECK_CLOSE(found[c], dot, of_dot * size);
    const double norm = sqrt(sum_of(count, 2, c, in, in, NULL, &size));
    CHECK_CLOSE(found[4 + c], norm, of_x * norm);
    const double sum = sum_of(count, 2, c, in, NULL, NULL, &size);
    CHECK_CLOSE(found[8 + c], sum, of_x * size);
    CHECK_CLOSE(found[12 + c], most, 0x1p-47 * fabs(most));
    CHECK(found[2 + c] == 0 && found[14 + c] == 0);
  }
  free(values), free(in), free(x_and_z), free(before);
  ts_scalars_destroy(&slots);
  ts_vector_destroy(&x);
  ts_vector_destroy(&y);
  ts_vector_destroy(&z);
}

static void public_operations(void) {
  ts_space *space = make_space(context, 257);
  for (int k = 0; k < 8; k++) {
    const int x = k & 1 ? 3 : 1, y = k & 2 ? 3 : 1, z = k & 4 ? 3 : 1;
    test_context_label("x of %d, y of %d, z of %d parts", x, y, z);
    check_public_operations(space, x, y, z);
  }
  ts_space_destroy(&space);
}

static const test_fixture fixture = {
    .context = &context, .needs_pairs = 1, .setup = make_factors, .teardown = drop_factors};

TEST_MAIN(CASES_WITH(&fixture, operands, coefficients, lengths, single_outputs, reductions, close_maxima,
                     not_numbers, updates, together, public_operations))
