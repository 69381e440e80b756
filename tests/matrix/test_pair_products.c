/* Products and residuals of pairs, in every format and on grids, compared with sums of about 100 bits. Operands
 * have one to three parts, matrices may hold doubles, and rows may be constrained.
 *
 * A product has an error of about 2^-48 of its terms. A residual has an error of 2^-70 of its terms, plus the
 * rounding of the result to a pair. Over a row of n entries errors add up like sqrt(n). */
#include "common/core/core.h"
#include "grid_samples.h"
#include "helpers.h"

static ts_context *context;

static void enter(void) {
  CHECK_OK(context, tsi_enter(context));
}
static void leave(void) {
  CHECK_OK(context, tsi_leave(context, TS_OK));
}

/* ---- Samples: a matrix and its values, independent of the storage on the device ---- */

typedef struct sample {
  ts_matrix *matrix;
  int32_t rows, columns;
  const int32_t *offsets, *indices;
  const double *values;
  const unsigned char *constrained;
  double growth; /* of the error with the length of rows */
} sample;

static double growth_of(int32_t longest) {
  return 1 + sqrt((double)longest) / 2;
}

/* b - A x, or A x if b is NULL. `size` receives the sums of the magnitudes of the terms. */
static void exact_product(const sample *s, int components, const double *x, const double *b, double *result,
                          double *size) {
  for (int32_t i = 0; i < s->rows; i++)
    for (int c = 0; c < components; c++) {
      const size_t at = (size_t)i * (size_t)components + (size_t)c;
      ref_sum sum = {b ? b[at] : 0, 0};
      size[at] = b ? fabs(b[at]) : 0;
      for (int32_t k = s->offsets[i]; k < s->offsets[i + 1]; k++) {
        const double xj = x[(size_t)s->indices[k] * (size_t)components + (size_t)c];
        ref_add_product(&sum, b ? -s->values[k] : s->values[k], xj);
        size[at] += fabs(s->values[k] * xj);
      }
      result[at] = sum.value + sum.low;
      if (!s->constrained || !s->constrained[i]) continue;
      result[at] = size[at] = 0;
    }
}

static void check_results(const ts_vector *y, const double *right, const double *size, double of_size,
                          double of_result) {
  const size_t count = vector_count(y);
  float *high = read_vector(y), *low = read_vector(y->low);
  for (size_t i = 0; i < count; i++) {
    const double found = (double)high[i] + (double)low[i];
    if (!CHECK_CLOSE(found, right[i], of_size * size[i] + of_result * fabs(right[i]))) break;
    if (!CHECK(fabs((double)low[i]) <= 1.001 * EPSILON * fabs((double)high[i]))) break;
  }
  CHECK_PADDING(y);
  CHECK_PADDING(y->low);
  free(high), free(low);
}

/* y = A x together with the dot product of x and y, in pairs. */
static void check_product_with_dot(const sample *s, const ts_vector *x, const double *x_values, ts_vector *y,
                                   const double *right, const double *size) {
  const size_t count = vector_count(y), components = (size_t)y->components;
  ts_scalars *slots = make_pair_scalars(context, 1);
  double found[4];
  enter();
  CHECK_OK(context, tsi_spmv_dot(y, s->matrix, x, slots, 0));
  leave();
  check_results(y, right, size, 0x1p-46 * s->growth, 0);
  CHECK_OK(context, ts_scalars_read(slots, 0, ts_host(found, 4)));
  for (size_t c = 0; c < 4; c++) {
    ref_sum sum = {0, 0};
    double magnitude = 0;
    for (size_t i = c; c < components && i < count; i += components) {
      ref_add_product(&sum, x_values[i], right[i]);
      magnitude += fabs(x_values[i]) * size[i];
    }
    CHECK_CLOSE(found[c], sum.value + sum.low, 0x1p-45 * s->growth * magnitude);
  }
  ts_scalars_destroy(&slots);
}

/* y = A x with a pair y, and x of 1 to 3 parts. */
static void check_product(const sample *s, int components, int parts) {
  const size_t rows = (size_t)s->rows * (size_t)components, columns = (size_t)s->columns * (size_t)components;
  double *xs = ref_doubles(columns, 5, -1, 1), *right = malloc(rows * sizeof *right),
         *size = malloc(rows * sizeof *size);
  ts_vector *x = make_parts(s->matrix->column_space, components, parts, xs);
  ts_vector *y = make_parts(s->matrix->row_space, components, 2, NULL);
  double *x_values = read_doubles(x);
  exact_product(s, components, x_values, NULL, right, size);
  for (int again = 0; again < 2; again++) { /* the second round overwrites a result */
    enter();
    CHECK_OK(context, tsi_spmv(y, s->matrix, x));
    leave();
    check_results(y, right, size, 0x1p-46 * s->growth, 0);
  }
  if (parts == 2 && s->matrix->has_diagonal) check_product_with_dot(s, x, x_values, y, right, size);
  double *x_after = read_doubles(x);
  CHECK(memcmp(x_after, x_values, columns * sizeof *x_after) == 0);
  free(xs), free(x_values), free(x_after), free(right), free(size);
  ts_vector_destroy(&x);
  ts_vector_destroy(&y);
}

/* r = b - A x as a pair, into a separate vector or over b, with an x that nearly solves the system. */
static void check_residual(const sample *s, int components, int x_parts, int b_parts) {
  const size_t rows = (size_t)s->rows * (size_t)components, columns = (size_t)s->columns * (size_t)components;
  double *xs = ref_doubles(columns, 6, 1, 2), *bs = malloc(rows * sizeof *bs),
         *right = malloc(rows * sizeof *right), *size = malloc(rows * sizeof *size);
  ts_vector *x = make_parts(s->matrix->column_space, components, x_parts, xs);
  double *x_values = read_doubles(x);
  exact_product(s, components, x_values, NULL, bs, size);
  for (size_t i = 0; i < rows; i++) bs[i] += ldexp(size[i], i % 3 == 0 ? -40 : -22);
  for (int over = 0; over < 2; over++) {
    if (over && b_parts != 2) continue;
    ts_vector *b = make_parts(s->matrix->row_space, components, b_parts, bs), *r = b;
    if (!over) r = make_parts(s->matrix->row_space, components, 2, NULL);
    double *b_values = read_doubles(b);
    exact_product(s, components, x_values, b_values, right, size);
    enter();
    CHECK_OK(context, tsi_residual(r, b, s->matrix, x));
    leave();
    check_results(r, right, size, 0x1p-62 * s->growth, 0x1p-46);
    if (!over) {
      double *b_after = read_doubles(b);
      CHECK(memcmp(b_after, b_values, rows * sizeof *b_after) == 0);
      free(b_after);
      ts_vector_destroy(&r);
    }
    free(b_values);
    ts_vector_destroy(&b);
  }
  free(xs), free(x_values), free(bs), free(right), free(size);
  ts_vector_destroy(&x);
}

static void check_all(const sample *s, int components) {
  for (int parts = 1; parts <= 3; parts++) {
    check_product(s, components, parts);
    check_residual(s, components, parts, 4 - parts);
  }
  check_residual(s, components, 3, 3);
  check_residual(s, components, 3, 2);
}

/* ---- Matrices ---- */

/* The values are floats, or doubles with low-order parts. */
static void check_matrix(const ref_matrix *m, ts_format format, int doubles, const unsigned char *constrained) {
  const size_t count = (size_t)ref_nonzeros(m);
  double *values = malloc((count + 1) * sizeof *values);
  for (size_t k = 0; k < count; k++)
    values[k] = doubles ? (double)m->values[k] * (1 + 1.0 / (7 + (double)(k % 11))) : (double)m->values[k];
  ts_matrix_desc desc = {.csr = ref_csr(m), .format = format, .constrained = constrained};
  desc.csr.values = ts_host(values, desc.csr.column_indices.count);
  sample s = {NULL,       m->rows, m->columns,  m->offsets,
              m->indices, values,  constrained, growth_of(ref_longest_row(m))};
  if (CHECK_OK(context, ts_matrix_create(context, &desc, &s.matrix))) {
    CHECK((s.matrix->low != NULL) == (doubles && count > 0));
    for (int components = 1; components <= most_components(format); components++)
      if (!test_is_brief() || components == 1 || components == 3) check_all(&s, components);
    ts_matrix_destroy(&s.matrix);
  }
  free(values);
}

static void matrices(void) {
  ts_format formats[8];
  const int format_count = list_formats(context, formats);
  ref_matrix samples[] = {ref_grid(23, 19),    ref_hubs(900, 700, 6),     ref_uneven_rows(83, 301, 120, 7),
                          ref_gaps(97, 45, 8), ref_random_spd(301, 9, 4), ref_diagonal(1, 3, 3)};
  for (size_t n = 0; n < sizeof samples / sizeof samples[0]; n++) {
    const ref_matrix *m = &samples[n];
    unsigned char *flags = calloc((size_t)m->rows, 1);
    for (int32_t i = 0; i < m->rows; i++) flags[i] = i % 5 == 2;
    for (int f = 0; f < format_count; f++)
      for (int kind = 0; kind < 3; kind++) {
        if (kind == 2 && m->rows != m->columns) continue;
        if (kind == 0 && test_is_brief() && n > 1) continue;
        test_context_label("sample %zu as %s, %s", n, ts_format_name(formats[f]),
                           (const char *[]){"floats", "doubles", "constrained"}[kind]);
        check_matrix(m, formats[f], kind > 0, kind == 2 ? flags : NULL);
      }
    free(flags);
    ref_free(&samples[n]);
  }
}

/* ---- Grids ---- */

/* A sparse matrix with the values of the stencil. Rows of points that have no equation are constrained. */
static void check_stencil(const ts_grid_desc *grid, int corners, int constrained, int doubles) {
  grid_sample g = grid_random(grid, corners, constrained, 9);
  const int32_t points = grid->width * grid->height;
  int32_t *offsets = calloc((size_t)points + 1, sizeof *offsets),
          *indices = calloc((size_t)points, 9 * sizeof *indices);
  double *values = calloc((size_t)points, 9 * sizeof *values),
         *given = calloc((size_t)points, 9 * sizeof *given);
  unsigned char *flags = calloc((size_t)points, 1);
  for (int32_t p = 0, entries = 0; p < points; p++) {
    flags[p] = !grid_has_equation(&g, (size_t)p);
    for (int k = 0; k < 9; k++) {
      const int32_t q = grid_neighbour(grid, p % grid->width, p / grid->width, k);
      const size_t at = 9 * (size_t)p + (size_t)k;
      given[at] = (double)g.values[at] * (doubles ? 1 + 1.0 / (7 + (double)(at % 11)) : 1);
      if (q < 0 || given[at] == 0) continue;
      indices[entries] = q;
      values[entries++] = given[at];
    }
    offsets[p + 1] = entries;
  }
  sample s = {NULL, points, points, offsets, indices, values, flags, growth_of(9)};
  ts_space *space = NULL;
  CHECK_OK(context, ts_grid_create(context, grid, &space));
  if (CHECK_OK(context, ts_stencil_create(space, stencil_over(space, given), &s.matrix))) {
    ts_matrix_info before, after;
    CHECK((s.matrix->low != NULL) == doubles);
    CHECK_OK(context, ts_matrix_get_info(s.matrix, &before));
    CHECK((before.bytes_low_order > 0) == doubles);
    /* Alternating floats and doubles must restore the memory that creation used. */
    CHECK_OK(context, ts_stencil_set_values(s.matrix, stencil_of(s.matrix, g.values)));
    CHECK(s.matrix->low == NULL);
    CHECK_OK(context, ts_stencil_set_values(s.matrix, stencil_of(s.matrix, given)));
    CHECK_OK(context, ts_matrix_get_info(s.matrix, &after));
    CHECK_INT((int)after.bytes_device, (int)before.bytes_device);
    CHECK_INT((int)after.bytes_low_order, (int)before.bytes_low_order);
    for (int components = 1; components <= 4; components++)
      if (!test_is_brief() || components == 1 || components == 3) check_all(&s, components);
    ts_matrix_destroy(&s.matrix);
  }
  ts_space_destroy(&space);
  free(offsets), free(indices), free(values), free(given), free(flags);
  grid_free(&g);
}

static void stencils(void) {
  static const ts_grid_desc grids[] = {{1, 1, 0, 0, {0}},  {1, 7, 0, 0, {0}},   {7, 1, 0, 0, {0}},
                                       {2, 3, 0, 0, {0}},  {33, 18, 0, 0, {0}}, {17, 16, 1, 0, {0}},
                                       {16, 9, 0, 1, {0}}, {31, 65, 1, 1, {0}}};
  if (test_is_multi()) return; /* the refusal is tested in test_multi */
  for (size_t n = 0; n < sizeof grids / sizeof grids[0]; n++)
    for (int corners = 0; corners < 2; corners++)
      for (int constrained = 0; constrained <= 7; constrained += 7) {
        for (int doubles = 0; doubles < 2; doubles++) {
          test_context_label("grid %zu, %s%s, %s", n, corners ? "nine points" : "five points",
                             constrained ? ", some without equation" : "", doubles ? "doubles" : "floats");
          check_stencil(&grids[n], corners, constrained, doubles);
        }
      }
}

/* ---- Public functions: vectors of one part and of three parts ---- */

static void check_third_part(const ts_vector *v) {
  const size_t count = vector_count(v);
  float *third = read_vector(v->low->low);
  for (size_t i = 0; i < count && CHECK(third[i] == 0); i++) continue;
  free(third);
}

/* y has old numbers in all of its parts, which must be overwritten. */
static void public_functions(void) {
  enum { size = 23 * 19 };
  ref_matrix m = ref_grid(23, 19);
  double values[7 * size], *old = ref_doubles(size, 1, 1, 2), *xs = ref_doubles(size, 2, 1, 2),
                           *bs = ref_doubles(size, 3, 100, 200), right[size], magnitude[size], diagonal[size];
  for (int64_t k = 0; k < ref_nonzeros(&m); k++) values[k] = (double)m.values[k] * (1 + 1.0 / 7);
  ts_matrix_desc desc = {.csr = ref_csr(&m)};
  desc.csr.values = ts_host(values, desc.csr.column_indices.count);
  sample s = {NULL, size, size, m.offsets, m.indices, values, NULL, growth_of(7)};
  REQUIRE_OK(context, ts_matrix_create(context, &desc, &s.matrix));
  for (int32_t i = 0; i < size; i++)
    for (int32_t k = m.offsets[i]; k < m.offsets[i + 1]; k++)
      if (m.indices[k] == i) diagonal[i] = (double)(float)values[k];
  ts_space *space = ts_matrix_get_row_space(s.matrix);
  ts_vector *y = make_parts(space, 1, 3, NULL), *b = make_parts(space, 1, 3, bs);
  for (int parts = 1; parts <= 3; parts += 2) {
    ts_vector *x = make_parts(space, 1, parts, xs);
    double *x_values = read_doubles(x);
    CHECK_OK(context, ts_vector_write(y, ts_host(old, size)));
    CHECK_OK(context, ts_matrix_multiply(y, s.matrix, x));
    exact_product(&s, 1, x_values, NULL, right, magnitude);
    check_results(y, right, magnitude, 0x1p-46 * s.growth, 0);
    check_third_part(y);
    CHECK_OK(context, ts_vector_write(y, ts_host(old, size)));
    CHECK_OK(context, ts_matrix_residual(y, b, s.matrix, x));
    exact_product(&s, 1, x_values, bs, right, magnitude);
    check_results(y, right, magnitude, 0x1p-62 * s.growth, 0x1p-46);
    check_third_part(y);
    CHECK_OK(context, ts_vector_write(y, ts_host(bs, size)));
    CHECK_OK(context, ts_matrix_residual(y, y, s.matrix, x));
    check_results(y, right, magnitude, 0x1p-62 * s.growth, 0x1p-46);
    check_third_part(y);
    ts_vector_destroy(&x);
    free(x_values);
  }
  CHECK_OK(context, ts_vector_write(y, ts_host(old, size)));
  CHECK_OK(context, ts_matrix_diagonal(y, s.matrix));
  check_results(y, diagonal, diagonal, 0, 0);
  check_third_part(y);
  ts_preconditioner *jacobi =
      make_preconditioner(s.matrix, &(ts_preconditioner_desc){.kind = TS_PRECONDITIONER_JACOBI});
  CHECK_OK(context, ts_vector_write(y, ts_host(old, size)));
  CHECK_OK(context, ts_preconditioner_apply(jacobi, y, b));
  for (int i = 0; i < size; i++) right[i] = bs[i] / diagonal[i];
  check_results(y, right, right, 0x1p-45, 0);
  check_third_part(y);
  ts_preconditioner_destroy(&jacobi);
  ts_vector_destroy(&y);
  ts_vector_destroy(&b);
  ts_matrix_destroy(&s.matrix);
  free(old), free(xs), free(bs);
  ref_free(&m);
}

static const test_fixture fixture = {.context = &context, .needs_pairs = 1};

TEST_MAIN(CASES_WITH(&fixture, matrices, stencils, public_functions))
