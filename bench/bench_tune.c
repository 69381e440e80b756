/* texsolve bench tune: the parameters that steer the library's choices on this device, and the cost of the
 * alternatives. Measures products y = A x and conjugate gradients in the format that the library chooses, with
 * each parameter halved and doubled. Compares the times with those of the present value. */
#include "bench.h"

#include <math.h>
#include <stdio.h>

#include "cg_measure.h"
#include "report.h"
#include "spmv_measure.h"

enum { NUMBERS = 64, ITERATIONS = 100 };

static const char *const MATRICES[] = {"grid", "laplace3d", "random", "fem3", "fem4", "delaunay", "rmat"};

static const report_column COLUMNS[] = {
    {"name", "number", 's', -25, 0},
    {"in_use", "in use", 'f', 10, 2},
    {"half_product", "half: A x", 'f', 9, 1},
    {"half_cg", "CG", 'f', 6, 1},
    {"double_product", "twice: A x", 'f', 10, 1},
    {"double_cg", "CG", 'f', 6, 1},
};

static const report_column MEANINGS[] = {{"name", "number", 's', -25, 0}, {"meaning", "meaning", 's', -47, 0}};

typedef struct cost {
  double product, iteration; /* seconds; for a parameter: logarithms of times relative to those in use */
} cost;

typedef struct number {
  ts_tuning_entry entry;
  cost at[2]; /* half, double */
} number;

static int measure_cost(ts_context *context, const generated_matrix *A, const bench_options *o, cost *c) {
  const ts_matrix_desc desc = {.csr = generated_csr(A), .components = o->components};
  ts_matrix *matrix = NULL;
  spmv_result product = {0};
  double spread;
  const int failed = bench_check(ts_matrix_create(context, &desc, &matrix), context, "making the matrix") ||
                     spmv_measure_matrix(context, matrix, A, o->components, o->repeat, &product) ||
                     cg_measure_solve(context, matrix, ITERATIONS, o->repeat, &c->iteration, &spread);
  ts_matrix_destroy(&matrix);
  c->product = product.t.seconds;
  return failed;
}

/* Adds one matrix's result for a parameter. */
static int vary(ts_context *context, const generated_matrix *A, const bench_options *o, const cost *in_use,
                number *n) {
  static const double factors[2] = {0.5, 2};
  const ts_tuning_entry *e = &n->entry;
  for (int k = 0; k < 2; ++k) {
    cost c;
    if (ts_context_set_tuning(context, e->name, e->value * factors[k]) < 0) {
      n->at[k] = (cost){NAN, NAN}; /* out of range: one iteration cannot be halved */
      continue;
    }
    if (measure_cost(context, A, o, &c)) return 1;
    n->at[k].product += log(c.product / in_use->product);
    n->at[k].iteration += log(c.iteration / in_use->iteration);
  }
  return bench_check(ts_context_set_tuning(context, e->name, e->value), context, "restoring a number");
}

static int measure_matrix(ts_context *context, const char *name, const bench_options *o, int32_t rows,
                          number *numbers, int count) {
  generated_matrix A;
  cost in_use;
  if (bench_matrix(&A, name, rows)) return 1;
  int failed = measure_cost(context, &A, o, &in_use);
  for (int i = 0; i < count && !failed; ++i) failed = vary(context, &A, o, &in_use, &numbers[i]);
  generated_free(&A);
  return failed;
}

/* Lists the parameters of the backend. */
static int list_numbers(ts_context *context, number *numbers) {
  int count = 0;
  ts_tuning_entry entry;
  for (int i = 0; count < NUMBERS && ts_context_get_tuning(context, i, &entry) == TS_OK; ++i)
    if (entry.value > 0) numbers[count++].entry = entry;
  return count;
}

static double percent(double logarithms, int matrices) {
  return 100 * (exp(logarithms / matrices) - 1);
}

int bench_tune(const bench_options *o, report *r) {
  const int all = (int)(sizeof MATRICES / sizeof *MATRICES), matrices = o->matrix ? 1 : all;
  number numbers[NUMBERS] = {0};
  bench_device device;
  ts_context *context = NULL;
  if (bench_describe(o, r, &device) || bench_open(o, 0, 0, &context)) return 1;
  const int32_t rows = o->size ? o->size : !device.is_hardware && device.is_gl ? 1 << 14 : 1 << 18;
  const int count = list_numbers(context, numbers);
  int failed = 0;
  for (int m = 0; m < matrices && !failed; ++m)
    failed = measure_matrix(context, o->matrix ? o->matrix : MATRICES[m], o, rows, numbers, count);
  ts_context_destroy(&context);
  if (failed) return 1;
  report_table(r, "tuning", "Additional time in % (negative: less) with each value halved and doubled", COLUMNS,
               sizeof COLUMNS / sizeof *COLUMNS);
  for (int i = 0; i < count; ++i) {
    const number *n = &numbers[i];
    report_row(r, n->entry.name, n->entry.value, percent(n->at[0].product, matrices),
               percent(n->at[0].iteration, matrices), percent(n->at[1].product, matrices),
               percent(n->at[1].iteration, matrices));
  }
  report_table(r, "meanings", "Meaning of the values", MEANINGS, sizeof MEANINGS / sizeof *MEANINGS);
  for (int i = 0; i < count; ++i) report_row(r, numbers[i].entry.name, numbers[i].entry.meaning);
  report_note(r, "%d matrices of %d rows, geometric mean. ts_context_set_tuning changes a value;", matrices,
              rows);
  report_note(r, "src/common/core/tuning.c documents their origin.");
  return 0;
}
