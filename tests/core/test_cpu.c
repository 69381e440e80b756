/* Threads, which only the CPU backend has. Their number changes no bit of any result, for any shape of matrix,
 * and may exceed the number of rows. */
#include "helpers.h"

/* Enough floats to give work to all threads, and an odd number. */
enum { large = 200003 };

static ts_context *open_threads(int threads) {
  const ts_context_desc desc = {.backend = "cpu", .threads = threads};
  ts_context *context = NULL;
  CHECK_OK(NULL, ts_context_create(&desc, &context));
  return context;
}

/* Everything that depends on how work is divided: products, residuals, reductions. Returns *count floats, which
 * the caller frees. */
static float *results(int threads, const ref_matrix *m, int components, size_t *count) {
  const size_t rows = (size_t)m->rows * (size_t)components;
  *count = 2 * rows + (size_t)5 * 4;
  float *all = calloc(*count, sizeof *all);
  ts_context *context = open_threads(threads);
  if (!context) return all;
  ts_matrix *A = make_matrix(context, m, TS_FORMAT_AUTO);
  float *xs = ref_values((size_t)m->columns * (size_t)components, 3, -1, 1), *bs = ref_values(rows, 4, -1, 1);
  ts_vector *x = make_vector(ts_matrix_get_column_space(A), components, xs);
  ts_vector *b = make_vector(ts_matrix_get_row_space(A), components, bs);
  ts_vector *y = make_vector(ts_matrix_get_row_space(A), components, NULL);
  ts_scalars *slots = make_scalars(context, 5);
  CHECK_OK(context, ts_matrix_multiply(y, A, x));
  CHECK_OK(context, ts_vector_read(y, ts_host(all, rows)));
  CHECK_OK(context, ts_vector_dot(slots, 0, y, b));
  CHECK_OK(context, ts_vector_norm(slots, 1, y, TS_NORM_2));
  CHECK_OK(context, ts_vector_norm(slots, 2, y, TS_NORM_INFINITY));
  CHECK_OK(context, ts_vector_sum(slots, 3, y));
  CHECK_OK(context, ts_vector_max(slots, 4, y));
  CHECK_OK(context, ts_scalars_read(slots, 0, ts_host(all + 2 * rows, 20)));
  CHECK_OK(context, ts_matrix_residual(y, b, A, x));
  CHECK_OK(context, ts_vector_axpby(y, ts_scaled(0.5f, slots, 1), b,
                                    ts_quotient(1, (ts_slot){slots, 0}, (ts_slot){slots, 1})));
  CHECK_OK(context, ts_vector_read(y, ts_host(all + rows, rows)));
  free(xs), free(bs);
  ts_vector_destroy(&x);
  ts_vector_destroy(&b);
  ts_vector_destroy(&y);
  ts_scalars_destroy(&slots);
  ts_matrix_destroy(&A);
  ts_context_destroy(&context);
  return all;
}

static void same_bits(const char *name, ref_matrix m) {
  for (int components = 1; components <= 4; components++) {
    size_t count;
    float *one = results(1, &m, components, &count);
    CHECK(one[0] != 0 || one[1] != 0 || one[count - 20] != 0); /* the computation was not skipped */
    static const int threads[] = {2, 3, 7, 64};
    for (int t = 0; t < 4; t++) {
      test_context_label("%s, %d components, %d threads", name, components, threads[t]);
      float *many = results(threads[t], &m, components, &count);
      CHECK(memcmp(one, many, count * sizeof *one) == 0);
      free(many);
    }
    free(one);
  }
  test_context_label("%s", "");
  ref_free(&m);
}

static void threads_change_no_bit(void) {
  same_bits("grid", ref_grid(331, 229));
  same_bits("uneven rows", ref_uneven_rows(30011, 20011, 90, 5));
  same_bits("a dense row first", ref_dense_row(40009, 0, 6));
  same_bits("a dense row last", ref_dense_row(40009, 40008, 7));
  same_bits("empty rows", ref_gaps(60013, 60013, 8));
  same_bits("one row of many entries", ref_dense(1, 50021, 9));
  same_bits("fewer rows than threads", ref_dense(5, 30011, 10));
  same_bits("one row", ref_diagonal(1, 2, 2));
}

static void transfers(void) {
  ts_context *context = open_threads(5);
  ts_space *space = make_space(context, large);
  for (int components = 1; components <= 4; components++) {
    float *values = ref_values((size_t)large * (size_t)components, 11, -1, 1);
    ts_vector *v = make_vector(space, components, values);
    float *back = read_vector(v);
    CHECK(memcmp(values, back, vector_count(v) * sizeof *back) == 0);
    CHECK_OK(context, ts_vector_fill(v, 3));
    float *filled = read_vector(v);
    size_t wrong = 0;
    for (size_t i = 0; i < vector_count(v); i++) wrong += filled[i] != 3;
    CHECK_INT(wrong, 0);
    free(values), free(back), free(filled);
    ts_vector_destroy(&v);
  }
  ts_space_destroy(&space);
  ts_context_destroy(&context);
}

static void information(void) {
  ts_context *context = open_threads(3);
  const ts_context_info info = context_info(context);
  CHECK(info.threads == 3 || info.threads == 1); /* 1 if built without threads */
  CHECK(info.device[0] != '\0');
  CHECK_CONTAINS(info.driver, "thread");
  CHECK_INT(info.is_hardware, 1);
  ts_context_destroy(&context);
  const ts_context_desc second = {.backend = "cpu:1"};
  CHECK_FAILS(NULL, ts_context_create(&second, &context), TS_ERROR_UNAVAILABLE, "device 1");
}

TEST_MAIN_ON_HOST(CASES(threads_change_no_bit, transfers, information))
