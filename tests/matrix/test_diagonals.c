/* Matrices with entries on few diagonals, for which the CPU stores values by diagonals (cpu_dia.c): symmetric
 * and not, with gaps, with constant coefficients, with an entry elsewhere, of sizes around a tile's, and with
 * new values. All steps of a polynomial in one sweep (cpu_dia_sweep.c). */
#include "common/precond/polynomial.h"

#include "common/core/core.h"

#include "helpers.h"

static ts_context *context;

typedef struct bands {
  int32_t rows, offsets[8];
  int count;
  double fill;   /* probability of an entry */
  int symmetric; /* the pattern of the diagonals is symmetric anyway */
} bands;

static float value_at(int32_t i, int32_t j, uint64_t seed) {
  ref_random r = {seed + 0x9e3779b97f4a7c15u * ((uint64_t)(uint32_t)i << 32 | (uint32_t)j)};
  ref_next(&r);
  return ref_uniform(&r, -1, 1);
}

/* A value depends on its row and column, and on the seed. */
static void fill_values(const ref_matrix *m, int symmetric, int constant, uint64_t seed) {
  for (int32_t i = 0; i < m->rows; i++)
    for (int32_t k = m->offsets[i]; k < m->offsets[i + 1]; k++) {
      const int32_t j = m->indices[k], low = constant ? 0 : i < j ? i : j;
      if (constant) {
        const int32_t offset = symmetric ? abs(j - i) : j - i;
        m->values[k] = value_at(0, offset, seed);
        continue;
      }
      m->values[k] = symmetric ? value_at(low, i + j - low, seed) : value_at(i, j, seed);
    }
}

/* constant: each diagonal has one value. */
static ref_matrix make_bands(const bands *b, int constant) {
  const size_t most = (size_t)b->rows * (size_t)b->count;
  ref_matrix m = {.rows = b->rows,
                  .columns = b->rows,
                  .offsets = malloc(((size_t)b->rows + 1) * sizeof(int32_t)),
                  .indices = malloc(most * sizeof(int32_t)),
                  .values = malloc(most * sizeof(float))};
  int32_t entries = 0;
  for (int32_t i = 0; i < b->rows; i++) {
    m.offsets[i] = entries;
    for (int d = 0; d < b->count; d++) {
      const int32_t j = i + b->offsets[d], low = i < j ? i : j;
      if (j < 0 || j >= b->rows) continue;
      if (b->offsets[d] && value_at(low, i + j - low, 5) > 2 * b->fill - 1) continue;
      m.indices[entries++] = j;
    }
  }
  m.offsets[b->rows] = entries;
  fill_values(&m, b->symmetric, constant, 1);
  return m;
}

/* ---- The operations ---- */

typedef struct operands {
  ts_vector *x, *b, *w, *y;
  float *xs, *bs, *ws;
} operands;

static operands make_operands(const ts_matrix *A, size_t rows) {
  operands o = {
      .xs = ref_values(rows, 2, -1, 1), .bs = ref_values(rows, 3, -1, 1), .ws = ref_values(rows, 4, 0, 1)};
  ts_space *space = ts_matrix_get_row_space(A);
  o.x = make_vector(space, 1, o.xs);
  o.b = make_vector(space, 1, o.bs);
  o.w = make_vector(space, 1, o.ws);
  o.y = make_vector(space, 1, NULL);
  return o;
}

static void free_operands(operands *o) {
  free(o->xs), free(o->bs), free(o->ws);
  ts_vector_destroy(&o->x);
  ts_vector_destroy(&o->b);
  ts_vector_destroy(&o->w);
  ts_vector_destroy(&o->y);
}

enum { PRODUCT, RESIDUAL, QUICK_RESIDUAL, STEP, OPERATIONS };

static ts_status compute(const ts_matrix *A, const operands *o, int what) {
  const tsi_smoothing step = {
      .w = o->w, .b = o->b, .x = o->x, .before = o->y, .scale = 0.5f, .alpha = 0.25f, .gamma = 0.125f};
  if (what == PRODUCT) return ts_matrix_multiply(o->y, A, o->x);
  if (what == RESIDUAL) return ts_matrix_residual(o->y, o->b, A, o->x);
  TSI_TRY(tsi_enter(context));
  return tsi_leave(context, what == STEP ? A->kind->smooth(o->y, A, &step)
                                         : A->kind->quick_residual(o->y, o->b, A, o->x));
}

static int has(const ts_matrix *A, int what) {
  return what == STEP ? A->kind->smooth != NULL : what == QUICK_RESIDUAL ? A->kind->quick_residual != NULL : 1;
}

/* The exact result from the product, with the sum of the magnitudes. */
static void expect(const operands *o, int what, size_t rows, double *product, double *size) {
  for (size_t i = 0; i < rows && what != PRODUCT; i++) {
    if (what == STEP) {
      const double x = 0.5 * (double)o->xs[i], w = 0.25 * (double)o->ws[i], b = (double)o->bs[i], before = 0.75;
      product[i] = x + w * (b - 0.5 * product[i]) + 0.125 * (x - before);
      size[i] = fabs(x) + w * (fabs(b) + size[i]) + 0.125 * (fabs(x) + before);
    } else {
      product[i] = (double)o->bs[i] - product[i];
      size[i] += fabs((double)o->bs[i]);
    }
  }
}

static void check_operations(const ref_matrix *m, const ts_matrix *A) {
  const size_t rows = (size_t)m->rows;
  operands o = make_operands(A, rows);
  double *product = malloc(rows * sizeof *product), *size = malloc(rows * sizeof *size);
  for (int what = 0; what < OPERATIONS; what++) {
    if (!has(A, what)) continue;
    ref_spmv(m, NULL, 1, o.xs, product, size);
    expect(&o, what, rows, product, size);
    CHECK_OK(context, ts_vector_fill(o.y, what == STEP ? 0.75f : NAN));
    CHECK_OK(context, compute(A, &o, what));
    float *found = read_vector(o.y);
    CHECK_VALUES(found, product, size, rows, 16);
    free(found);
  }
  free(product), free(size);
  free_operands(&o);
}

/* ---- Cases ---- */

static void patterns(void) {
  static const bands all[] = {
      {513, {-1, 0, 1}, 3, 1, 1},
      {511, {-1, 0, 1}, 3, 1, 0}, /* too few rows */
      {1025, {-32, -1, 0, 1, 32}, 5, 1, 1},
      {4096, {-64, -1, 0, 1, 64}, 5, 0.9, 1},
      {4097, {-64, -1, 0, 1, 64}, 5, 0.9, 0},
      {6000, {-400, -20, -1, 0, 1, 20, 400}, 7, 0.95, 1},
      {6001, {-400, -20, -1, 0, 1, 20, 400}, 7, 0.95, 0},
      {3000, {-700, -3, 0, 3, 700}, 5, 1, 1}, /* few rows have all columns */
      {3000, {-1, 0, 1}, 3, 0.3, 1},          /* mostly gaps */
      {20000, {0}, 1, 1, 1},
      {20000, {-1, 1}, 2, 1, 0},   /* no main diagonal */
      {20000, {0, 1, 5}, 3, 1, 0}, /* none below the main diagonal */
      {30000, {-150, -149, 0, 149, 150}, 5, 1, 1},
  };
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
    for (int constant = 0; constant < 2; constant++) {
      const bands b = all[k];
      test_context_label("%d rows, %d %s diagonals, fill %g", b.rows, b.count,
                         constant ? "constant" : "varying", b.fill);
      ref_matrix m = make_bands(&b, constant);
      ts_matrix *A = make_matrix(context, &m, TS_FORMAT_AUTO);
      check_operations(&m, A);
      ts_matrix_destroy(&A);
      ref_free(&m);
    }
  }
}

/* Each set of values is multiplied, so that what a product keeps of the last one would show. */
static void new_values(void) {
  static const bands b = {5000, {-70, -1, 0, 1, 70}, 5, 0.95, 1};
  static const int symmetric[] = {1, 0, 1, 1, 0, 0, 1, 1}, constant[] = {0, 0, 0, 1, 1, 0, 1, 0};
  ref_matrix m = make_bands(&b, 0);
  ts_matrix *A = make_matrix(context, &m, TS_FORMAT_AUTO);
  for (int k = 0; k < 8; k++) {
    test_context_label("values %d", k);
    fill_values(&m, symmetric[k], constant[k], 10 + (uint64_t)k);
    const ts_csr csr = ref_csr(&m);
    CHECK_OK(context, ts_matrix_set_values(A, &csr));
    if (k != 2) check_operations(&m, A); /* and once without a product between two sets */
  }
  ts_matrix_destroy(&A);
  ref_free(&m);
}

/* An entry that no diagonal has, in a row that is not among those that show the diagonals. */
static void entry_elsewhere(void) {
  static const bands b = {5000, {-70, -1, 0, 1, 70}, 5, 1, 0};
  static const int32_t rows[] = {0, 1, 2499, 4998, 4999};
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
    ref_matrix m = make_bands(&b, 0);
    if (rows[k] < 100)
      m.indices[m.offsets[rows[k] + 1] - 1] = 4000;
    else
      m.indices[m.offsets[rows[k]]] = 3;
    test_context_label("row %d", rows[k]);
    ts_matrix *A = make_matrix(context, &m, TS_FORMAT_AUTO);
    check_operations(&m, A);
    ts_matrix_destroy(&A);
    ref_free(&m);
  }
}

/* One value of a diagonal differs. */
static void almost_constant(void) {
  static const bands b = {5000, {-70, -1, 0, 1, 70}, 5, 0.95, 1};
  static const int32_t rows[] = {0, 1, 2499, 4998, 4999};
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
    ref_matrix m = make_bands(&b, 1);
    m.values[m.offsets[rows[k]]] *= 2;
    test_context_label("row %d", rows[k]);
    ts_matrix *A = make_matrix(context, &m, TS_FORMAT_AUTO);
    check_operations(&m, A);
    ts_matrix_destroy(&A);
    ref_free(&m);
  }
}

/* ---- Sweeps ---- */

static int is_cpu(void) {
  return !strcmp(context_info(context).backend, "cpu");
}

/* Step by step. The result is in y. */
static ts_status steps_one_by_one(const ts_matrix *A, const operands *o, const tsi_smoothing *steps, int count,
                                  ts_vector *other) {
  const tsi_ops *ops = context->ops;
  ts_vector *now = count % 2 ? o->y : other, *next = now == other ? o->y : other;
  TSI_TRY(ops->multiply(now, o->w, o->b));
  TSI_TRY(ops->axpby(now, ts_constant((double)steps[0].alpha), now, ts_constant(0), now));
  for (int k = 1; k < count; k++) {
    tsi_smoothing step = steps[k];
    step.x = now;
    step.before = k > 1 ? next : NULL;
    TSI_TRY(A->kind->smooth(next, A, &step));
    ts_vector *const written = next;
    next = now, now = written;
  }
  return TS_OK;
}

/* A sweep has the results of the steps, to the last bit. Returns whether there was one. */
static int check_sweep(const ts_matrix *A, const operands *o, int count) {
  tsi_smoothing steps[TSI_POLYNOMIAL_MOST];
  int done = 0;
  const size_t rows = (size_t)matrix_info(A).rows;
  for (int k = 0; k < count; k++)
    steps[k] = (tsi_smoothing){
        .w = o->w, .b = o->b, .scale = 1, .alpha = 0.3f + 0.1f * (float)k, .gamma = 0.5f - 0.03f * (float)k};
  ts_vector *other = make_vector(ts_matrix_get_row_space(A), 1, NULL);
  CHECK_OK(context, ts_vector_fill(o->x, NAN));
  CHECK_OK(context, tsi_enter(context));
  CHECK_OK(context, tsi_leave(context, A->kind->smooth_all(o->x, A, steps, count, &done)));
  if (done) {
    CHECK_OK(context, tsi_enter(context));
    CHECK_OK(context, tsi_leave(context, steps_one_by_one(A, o, steps, count, other)));
    float *found = read_vector(o->x), *wanted = read_vector(o->y);
    size_t same = 0;
    for (size_t i = 0; i < rows; i++) same += found[i] == wanted[i];
    CHECK_INT((int)same, (int)rows);
    free(found), free(wanted);
  }
  ts_vector_destroy(&other);
  return done;
}

static void sweeps(void) {
  static const bands all[] = {
      {513, {-1, 0, 1}, 3, 1, 1},
      {1025, {-32, -1, 0, 1, 32}, 5, 1, 1},
      {4096, {-64, -1, 0, 1, 64}, 5, 0.9, 0},
      {20000, {0}, 1, 1, 1},
      {20000, {-1, 1}, 2, 1, 0},
      {40001, {-400, -20, -1, 0, 1, 20, 400}, 7, 0.95, 1},
      {100000, {-1025, -1, 0, 1, 1025}, 5, 1, 1},
      {100000, {-1024, -1, 0, 1, 1024}, 5, 1, 0},
      {200000, {-1535, -2, 0, 2, 1535}, 5, 0.8, 1},
      {3000, {-700, -3, 0, 3, 700}, 5, 1, 1}, /* too far apart */
  };
  static const int counts[] = {2, 3, 4, 7, TSI_POLYNOMIAL_MOST};
  int swept = 0;
  for (size_t k = 0; k < 2 * sizeof all / sizeof all[0]; k++) {
    const bands b = all[k / 2];
    ref_matrix m = make_bands(&b, k % 2);
    ts_matrix *A = make_matrix(context, &m, TS_FORMAT_AUTO);
    operands o = make_operands(A, (size_t)b.rows);
    for (size_t c = 0; A->kind->smooth_all && c < sizeof counts / sizeof counts[0]; c++) {
      test_context_label("%d rows, %d %s diagonals, %d steps", b.rows, b.count, k % 2 ? "constant" : "varying",
                         counts[c]);
      swept += check_sweep(A, &o, counts[c]);
    }
    free_operands(&o);
    ts_matrix_destroy(&A);
    ref_free(&m);
  }
  test_context_label("%d sweeps", swept);
  if (is_cpu()) CHECK(swept >= 60);
  test_context_label("%s", "");
}

/* ---- Memory ---- */

static double device_bytes(void) {
  return (double)context_info(context).bytes_device;
}

/* The first product makes the diagonals, half of them if A is symmetric; and none without memory. */
static void memory(void) {
  for (int symmetric = 0; is_cpu() && symmetric < 2; symmetric++) {
    const bands b = {5000, {-70, -1, 0, 1, 70}, 5, 1, symmetric};
    ref_matrix m = make_bands(&b, 0);
    ts_matrix *A = make_matrix(context, &m, TS_FORMAT_CSR);
    operands o = make_operands(A, 5000);
    const double before = device_bytes(), diagonals = symmetric ? 3 : 5;
    CHECK_OK(context, ts_matrix_multiply(o.y, A, o.x));
    CHECK(device_bytes() - before == diagonals * 5000 * sizeof(float));
    CHECK_OK(context, ts_matrix_multiply(o.y, A, o.x));
    CHECK(device_bytes() - before == diagonals * 5000 * sizeof(float));
    free_operands(&o);
    ts_matrix_destroy(&A);
    ref_free(&m);
  }
}

static void no_memory(void) {
  static const bands b = {5000, {-70, -1, 0, 1, 70}, 5, 1, 0};
  if (!is_cpu()) return;
  ref_matrix m = make_bands(&b, 0);
  for (int diagonals = 0; diagonals < 6; diagonals++) {
    ts_context_desc desc = test_desc();
    const double of_matrix = (double)ref_nonzeros(&m) * 8 + 5001 * 4, of_vectors = 4 * 5000 * 4;
    desc.max_device_bytes = (uint64_t)(of_matrix + of_vectors + diagonals * 5000 * 4 + 4000);
    ts_context *whole = context;
    CHECK_OK(NULL, ts_context_create(&desc, &context));
    ts_matrix *A = make_matrix(context, &m, TS_FORMAT_CSR);
    check_operations(&m, A);
    ts_matrix_destroy(&A);
    ts_context_destroy(&context);
    context = whole;
  }
  ref_free(&m);
}

static const test_fixture fixture = {.context = &context};

TEST_MAIN(CASES_WITH(&fixture, patterns, new_values, entry_elsewhere, almost_constant, sweeps, memory,
                     no_memory))
