/* Matrices from host arrays with a layout made on the device have the bits of those with a layout made on the
 * host: storage, facts, products, new values, errors. */
#include <math.h>

#include "common/core/core.h"
#include "common/layout/layout_build.h"
#include "common/matrix/csr.h"
#include "helpers.h"

static ts_context *context;

/* An application's matrix. Its values are those of m times a factor, and its columns may be in any order. */
typedef struct given {
  ref_matrix m;
  double *values;
  int32_t entries;
  int are_floats;
  ts_format format;
  ts_precision precision;
} given;

static given make_given(ref_matrix m, double factor) {
  given g = {.m = m, .entries = m.offsets[m.rows]};
  g.values = malloc(((size_t)g.entries + 1) * sizeof *g.values);
  for (int32_t e = 0; e < g.entries; e++) g.values[e] = (double)m.values[e] * factor;
  return g;
}

static void free_given(given *g) {
  ref_free(&g->m);
  free(g->values);
}

static ts_csr csr_of(const given *g) {
  const size_t entries = (size_t)g->entries;
  return (ts_csr){.rows = g->m.rows,
                  .columns = g->m.columns,
                  .row_offsets = ts_host(g->m.offsets, (size_t)g->m.rows + 1),
                  .column_indices = ts_host(g->m.indices, entries),
                  .values = g->are_floats ? ts_host(g->m.values, entries) : ts_host(g->values, entries)};
}

static void lay_out_on(int device) {
  if (context->device_ops->arrays)
    CHECK_OK(context, ts_context_set_tuning(context, "device_entries", device ? 1 : 1e15));
}

static ts_status create(const given *g, int device, ts_matrix **A) {
  const ts_matrix_desc desc = {
      .csr = csr_of(g), .format = g->format, .precision = g->precision, .keep_host_copy = -1};
  lay_out_on(device);
  return ts_matrix_create(context, &desc, A);
}

/* ---- Comparisons ---- */

typedef struct entries {
  int32_t count, room;
  struct entry {
    int32_t row, column;
    float value;
  } * list;
} entries;

static void keep(void *user, int32_t row, int32_t column, float value) {
  entries *e = user;
  if (e->count < e->room) e->list[e->count] = (struct entry){row, column, value};
  e->count++;
}

static entries entries_of(const ts_matrix *A) {
  const size_t room = (size_t)A->info.stored_entries + 1;
  entries e = {.room = (int32_t)room, .list = calloc(room, sizeof *e.list)};
  CHECK_OK(context, tsi_matrix_visit(A, keep, &e));
  return e;
}

static void compare_entries(const ts_matrix *A, const ts_matrix *B) {
  entries a = entries_of(A), b = entries_of(B);
  CHECK_INT(a.count, b.count);
  CHECK(a.count <= a.room && b.count <= b.room);
  CHECK(a.count == b.count && memcmp(a.list, b.list, (size_t)a.count * sizeof *a.list) == 0);
  free(a.list), free(b.list);
}

static void compare_packed(const ts_matrix *A, const ts_matrix *B) {
  const tsi_slices *s = &A->layout->slices;
  tsi_packed a = {0}, b = {0};
  tsi_host_csr a_csr = {0}, b_csr = {0};
  CHECK_OK(context, tsi_enter(context));
  CHECK_OK(context, context->ops->matrix_read(A, &a, &a_csr));
  CHECK_OK(context, context->ops->matrix_read(B, &b, &b_csr));
  tsi_leave(context, TS_OK);
  if (a.words && b.words) {
    CHECK(memcmp(a.words, b.words, s->words * sizeof *a.words) == 0);
    CHECK(memcmp(a.bases, b.bases, s->bases * sizeof *a.bases) == 0);
    CHECK(memcmp(a.values, b.values, (s->entries + (size_t)s->long_entries) * sizeof *a.values) == 0);
    CHECK(memcmp(a.long_columns, b.long_columns, (size_t)s->long_entries * sizeof *a.long_columns) == 0);
  }
  tsi_packed_free(context, &a);
  tsi_packed_free(context, &b);
  tsi_csr_free(context, &a_csr);
  tsi_csr_free(context, &b_csr);
}

static void compare_slices(const tsi_slices *a, const tsi_slices *b) {
  const size_t places = (size_t)a->count * TSI_SLICE_ROWS, pieces = (size_t)a->row_block_count;
  CHECK_INT(a->count, b->count);
  CHECK_INT(a->entries, b->entries);
  CHECK_INT(a->words, b->words);
  CHECK_INT(a->bases, b->bases);
  CHECK_INT(a->long_entries, b->long_entries);
  CHECK_INT(a->row_block_count, b->row_block_count);
  CHECK(!a->order == !b->order);
  if (a->count != b->count || a->row_block_count != b->row_block_count || !a->order != !b->order) return;
  CHECK(memcmp(a->slices, b->slices, (size_t)a->count * sizeof *a->slices) == 0);
  CHECK(memcmp(a->lengths, b->lengths, places) == 0);
  CHECK(!a->order || memcmp(a->order, b->order, places) == 0);
  CHECK(!pieces || memcmp(a->row_blocks, b->row_blocks, pieces * sizeof *a->row_blocks) == 0);
}

static void compare_info(const ts_matrix *A, const ts_matrix *B) {
  const ts_matrix_info a = matrix_info(A), b = matrix_info(B);
  CHECK_INT(a.rows, b.rows);
  CHECK_INT(a.columns, b.columns);
  CHECK_INT(a.nonzeros, b.nonzeros);
  CHECK_INT(a.duplicates, b.duplicates);
  CHECK_INT(a.stored_entries, b.stored_entries);
  CHECK_INT(a.longest_row, b.longest_row);
  CHECK_INT(a.split_rows, b.split_rows);
  CHECK_INT(a.format, b.format);
  CHECK_INT(a.symmetric, b.symmetric);
  CHECK_INT(a.unsymmetric_row, b.unsymmetric_row);
  CHECK_INT(a.unsymmetric_column, b.unsymmetric_column);
  CHECK_INT(a.zero_diagonal_row, b.zero_diagonal_row);
  CHECK_INT(a.negative_diagonal, b.negative_diagonal);
  CHECK(llabs((long long)a.bytes_device - (long long)b.bytes_device) <= 4); /* the ends are rounded to words */
  CHECK_INT(a.bytes_low_order, b.bytes_low_order);
  CHECK(!strcmp(a.choice, b.choice));
  CHECK(A->norm_infinity == B->norm_infinity && A->exponent == B->exponent && A->negated == B->negated);
  CHECK_INT(A->loses_digits, B->loses_digits);
}

static double *multiply(const ts_matrix *A) {
  const ts_vector_desc desc = {.precision = TS_PRECISION_DOUBLE};
  const size_t rows = (size_t)matrix_info(A).rows, columns = (size_t)matrix_info(A).columns;
  double *xs = ref_doubles(columns, 8, -1, 1), *ys = calloc(rows, sizeof *ys);
  ts_vector *x = NULL, *y = NULL;
  CHECK_OK(context, ts_vector_create(ts_matrix_get_column_space(A), &desc, &x));
  CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), &desc, &y));
  CHECK_OK(context, ts_vector_write(x, ts_host(xs, columns)));
  CHECK_OK(context, ts_matrix_multiply(y, A, x));
  CHECK_OK(context, ts_vector_read(y, ts_host(ys, rows)));
  ts_vector_destroy(&x);
  ts_vector_destroy(&y);
  free(xs);
  return ys;
}

static void compare(const ts_matrix *A, const ts_matrix *B) {
  if (!CHECK(A && B)) return;
  compare_info(A, B);
  if (A->layout->format != B->layout->format) return;
  if (A->layout->format == TS_FORMAT_JAGGED) compare_slices(&A->layout->slices, &B->layout->slices);
  compare_packed(A, B);
  const ts_matrix *a = A, *b = B;
  for (; a && b; a = a->low, b = b->low) compare_entries(a, b);
  CHECK(!a && !b);
  double *of_a = multiply(A), *of_b = multiply(B);
  CHECK(memcmp(of_a, of_b, (size_t)A->info.rows * sizeof *of_a) == 0);
  free(of_a), free(of_b);
}

/* New values with another exponent and sign. */
static void replace(const given *g, ts_matrix *A, ts_matrix *B) {
  given other = *g;
  other.values = malloc(((size_t)g->entries + 1) * sizeof *other.values);
  other.are_floats = 0;
  for (int32_t e = 0; e < g->entries; e++) other.values[e] = -1e7 / 3 * g->values[e] * (1 + e % 3);
  const ts_csr csr = csr_of(&other);
  CHECK_OK(context, ts_matrix_set_values(A, &csr));
  CHECK_OK(context, ts_matrix_set_values(B, &csr));
  compare(A, B);
  free(other.values);
}

static void check_given(const given *g) {
  ts_matrix *A = NULL, *B = NULL;
  CHECK_OK(context, create(g, 0, &A));
  CHECK_OK(context, create(g, 1, &B));
  if (A && B) {
    CHECK(!A->made_on_device);
    const int is_laid_out = A->info.format == TS_FORMAT_CSR || A->info.format == TS_FORMAT_JAGGED;
    CHECK_INT(B->made_on_device, is_laid_out);
    compare(A, B);
    replace(g, A, B);
  }
  ts_matrix_destroy(&A);
  ts_matrix_destroy(&B);
}

/* ---- Cases ---- */

enum { FAMILIES = 13 };

static ref_matrix family(int f) {
  switch (f) {
  case 0:
    return ref_grid(61, 53);
  case 1:
    return ref_laplacian_3d(17);
  case 2:
    return ref_cube_27(13, 1, 26, -1, -1, -1);
  case 3:
    return ref_random_dominant(5000, 9, 3); /* columns take 2 bytes */
  case 4:
    return ref_random_spd(90000, 4, 5); /* columns take 4 bytes */
  case 5:
    return ref_hubs(4000, 1500, 7); /* long rows */
  case 6:
    return ref_uneven_rows(3001, 2000, 60, 9); /* sorted rows, rectangular */
  case 7:
    return ref_gaps(700, 900, 11);
  case 8:
    return ref_arrow(3000);
  case 9:
    return ref_convection(60, 40, 10);
  case 10:
    return ref_diagonal(1000, 1, 1e6f);
  case 11:
    return ref_skew(333);
  default:
    return ref_diagonal(1, 2, 2);
  }
}

static void families(void) {
  static const ts_format formats[] = {TS_FORMAT_AUTO, TS_FORMAT_CSR, TS_FORMAT_JAGGED};
  for (int f = 0; f < FAMILIES; f++)
    for (int k = 0; k < 3; k++) {
      given g = make_given(family(f), 1);
      g.format = formats[k];
      test_context_label("family %d, %s", f, ts_format_name(g.format));
      check_given(&g);
      g.are_floats = 1;
      check_given(&g);
      free_given(&g);
    }
}

/* Doubles with one, two and three parts, and outside the range of floats. */
static void numbers(void) {
  static const double factors[] = {1, 1.0 / 3, -1, -1.0 / 3, 1e-300, 1e300, 1e-310, 0};
  static const ts_precision precisions[] = {TS_PRECISION_AUTO, TS_PRECISION_SINGLE, TS_PRECISION_DOUBLE};
  for (int k = 0; k < (int)(sizeof factors / sizeof *factors); k++)
    for (int p = 0; p < 3; p++) {
      given g = make_given(ref_grid(40, 40), factors[k]);
      g.format = TS_FORMAT_JAGGED;
      g.precision = precisions[p];
      for (int32_t e = 0; e < g.entries; e += 7) g.values[e] *= 1 + 1e-9;
      test_context_label("times %g, precision %d", factors[k], (int)g.precision);
      check_given(&g);
      free_given(&g);
    }
}

/* Zeros, negative zeros, missing and zero diagonals, almost equal mirror images. */
static void single_entries(void) {
  for (int kind = 0; kind < 6; kind++) {
    given g = make_given(ref_grid(30, 30), 1);
    for (int32_t i = 0; i < g.m.rows; i++)
      for (int32_t e = g.m.offsets[i]; e < g.m.offsets[i + 1]; e++) {
        double *value = &g.values[e];
        const int32_t j = g.m.indices[e];
        if (kind == 0 && e % 5 == 0) *value = 0;
        if (kind == 1 && e % 5 == 0) *value = -0.0;
        if (kind == 2 && i == j && i % 100 == 77) *value = 0;
        if (kind == 3 && j > i) *value *= 1 + 1e-6;
        if (kind == 4 && j > i && i == 500) *value *= 1.01;
        if (kind == 5 && i == j) *value = i == 800 ? 4 : -4;
        g.m.values[e] = (float)*value;
      }
    test_context_label("kind %d", kind);
    check_given(&g);
    g.are_floats = 1;
    check_given(&g);
    free_given(&g);
  }
}

static void swap_entries(given *g, int32_t a, int32_t b) {
  const int32_t column = g->m.indices[a];
  const double value = g->values[a];
  g->m.indices[a] = g->m.indices[b], g->values[a] = g->values[b];
  g->m.indices[b] = column, g->values[b] = value;
}

/* Columns in any order, and duplicates. */
static void disorder(void) {
  static const ts_format formats[] = {TS_FORMAT_AUTO, TS_FORMAT_CSR, TS_FORMAT_JAGGED};
  for (int k = 0; k < 3; k++) {
    given g = make_given(ref_grid(50, 40), 1.0 / 3);
    g.format = formats[k];
    for (int32_t i = 0; i < g.m.rows; i++)
      if (g.m.offsets[i + 1] - g.m.offsets[i] > 3) swap_entries(&g, g.m.offsets[i] + 1, g.m.offsets[i] + 3);
    for (int32_t i = 0; i < g.m.rows; i += 10)
      if (g.m.offsets[i + 1] - g.m.offsets[i] > 4)
        g.m.indices[g.m.offsets[i] + 2] = g.m.indices[g.m.offsets[i] + 4];
    test_context_label("%s", ts_format_name(g.format));
    ts_matrix *A = NULL, *B = NULL;
    CHECK_OK(context, create(&g, 0, &A));
    CHECK_OK(context, create(&g, 1, &B));
    compare(A, B);
    replace(&g, A, B);
    ts_matrix_destroy(&A);
    ts_matrix_destroy(&B);
    free_given(&g);
  }
}

static void check_error(const given *g) {
  char expected[512];
  ts_matrix *A = NULL;
  const size_t before = context_info(context).bytes_device;
  const ts_status status = create(g, 0, &A);
  snprintf(expected, sizeof expected, "%s", ts_last_error(context));
  CHECK(status < 0 && !A);
  CHECK_INT(create(g, 1, &A), status);
  CHECK(!A && !strcmp(ts_last_error(context), expected));
  CHECK_INT(context_info(context).bytes_device, before);
}

static void errors(void) {
  for (int kind = 0; kind < 8; kind++) {
    given g = make_given(ref_grid(30, 30), 1);
    test_context_label("kind %d", kind);
    if (kind == 0) g.values[1234] = NAN;
    if (kind == 1) g.values[3] = -INFINITY;
    if (kind == 2) g.m.indices[77] = 900;
    if (kind == 3) g.m.indices[77] = -1;
    if (kind == 4) g.m.offsets[5] = g.m.offsets[7];
    if (kind == 5) g.m.offsets[0] = 1;
    if (kind == 6) g.m.offsets[g.m.rows]++;
    if (kind == 7) g.m.offsets[8] = -3;
    check_error(&g);
    g.format = TS_FORMAT_JAGGED;
    check_error(&g);
    free_given(&g);
  }
}

/* New values with a different pattern are refused. */
static void other_patterns(void) {
  given g = make_given(ref_grid(30, 30), 1), other = make_given(ref_grid(30, 30), 1);
  g.format = TS_FORMAT_JAGGED;
  ts_matrix *B = NULL;
  CHECK_OK(context, create(&g, 1, &B));
  other.m.indices[40] += other.m.indices[40] < other.m.indices[41] - 1 ? 1 : 0;
  const int32_t moved = other.m.offsets[10];
  other.m.indices[moved] = 899 - other.m.indices[moved];
  const ts_csr csr = csr_of(&other);
  CHECK_INT(ts_matrix_set_values(B, &csr), TS_ERROR_INCOMPATIBLE);
  CHECK_CONTAINS(ts_last_error(context), "differ from those that the matrix was created with");
  const ts_csr same = csr_of(&g);
  CHECK_OK(context, ts_matrix_set_values(B, &same));
  ts_matrix_destroy(&B);
  free_given(&g), free_given(&other);
}

/* Failing allocations, on the device and on the host, leave nothing behind. */
static void memory(void) {
  given g = make_given(ref_cube_27(13, 1, 26, -1, -1, -1), 1.0 / 3);
  g.format = TS_FORMAT_JAGGED;
  const size_t before = context_info(context).bytes_device;
  ts_matrix *A = NULL;
  for (int64_t limit = 1 << 12; limit < 1 << 26; limit = limit * 5 / 4) {
    context->desc.max_device_bytes = before + (size_t)limit;
    const ts_status status = create(&g, 1, &A);
    CHECK(status == TS_OK || status == TS_ERROR_OUT_OF_DEVICE_MEMORY);
    if (status == TS_OK) CHECK(matrix_info(A).nonzeros == g.entries);
    ts_matrix_destroy(&A);
    CHECK_INT(context_info(context).bytes_device, before);
  }
  context->desc.max_device_bytes = 0;
  free_given(&g);
}

static const test_fixture fixture = {.context = &context};

TEST_MAIN(CASES_WITH(&fixture, families, numbers, single_entries, disorder, errors, other_patterns, memory))
