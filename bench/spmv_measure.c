#include "spmv_measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <texsolve/gl.h>

#include "product_error.h"

typedef struct product {
  ts_context *context;
  ts_matrix *A;
  ts_vector *x, *y;
} product;

static int product_run(void *user, long count) {
  product *p = user;
  ts_status status = TS_OK;
  for (long i = 0; i < count && status >= 0; ++i) status = ts_matrix_multiply(p->y, p->A, p->x);
  if (status >= 0) status = ts_context_finish(p->context);
  return bench_check(status, p->context, "multiplying");
}

const char *spmv_format(ts_format format) {
  const char *name = ts_format_name(format);
  return name ? name : "?";
}

double spmv_bytes(const generated_matrix *A, int components, int vectors) {
  return 8.0 * (double)A->row_offsets[A->rows] + 4.0 * components * vectors * (double)A->rows;
}

/* Blocks in textures: per block its texels of numbers, a pointer and a texel of x. Diagonal blocks have no
 * pointer. A pointer is an R32UI texel, as fast as R32F. */
static void block_work(const ts_matrix_info *info, int64_t diagonal_blocks, work *w) {
  const int n = info->format == TS_FORMAT_BCRS2 ? 2 : 4;
  const limit_format vector = limit_format_of_components(n);
  const double blocks = (double)info->stored_entries / (n * n), rows = ceil((double)info->rows / n);
  w->streamed[LIMIT_RGBA32F] = blocks * (n == 2 ? 1 : 4);
  w->streamed[LIMIT_R32F] = blocks - (double)diagonal_blocks;
  w->reused[vector] = blocks;
  w->written[vector] = rows;
  w->bytes = 4 * (double)info->stored_entries + 4 * w->streamed[LIMIT_R32F] +
             limit_format_bytes[vector] * (rows + ceil((double)info->columns / n));
}

/* The data of one product y = A x on textures:
 *
 *   jagged    per stored off-diagonal entry one RG32UI fetch and one of x
 *   segments  per stored off-diagonal entry three fetches (value, pointer, x), per row one more (its start)
 *   both      per row the diagonal and its own x, one texel written
 *
 * CSR has 8 bytes per entry, 4 per row offset, and reads x and writes y once. */
static void count_work(const ts_matrix_info *info, int is_gl, int64_t row_texels, int components, work *w) {
  const limit_format vector = limit_format_of_components(components);
  const double rows = info->rows, columns = info->columns;
  memset(w, 0, sizeof *w);
  w->flops = 2.0 * (double)info->nonzeros * components;
  if (!is_gl) { /* compressed rows: offsets, columns and values, and both vectors once */
    const int n = info->format == TS_FORMAT_BCRS2 ? 2 : info->format == TS_FORMAT_BCRS4 ? 4 : 1;
    const double columns_stored = n > 1 ? info->blocks : (double)info->nonzeros;
    w->bytes = 4 * (double)info->stored_entries + 4 * columns_stored + 4 * (ceil(rows / n) + 1) +
               4.0 * components * (rows + columns);
    return;
  }
  const int has_diagonal = info->rows == info->columns;
  if (info->blocks) {
    block_work(info, has_diagonal ? row_texels : 0, w);
    return;
  }
  const double entries = (double)(info->stored_entries - (has_diagonal ? row_texels : 0));
  w->reused[vector] = entries;
  if (info->format == TS_FORMAT_SEGMENTS)
    w->streamed[LIMIT_R32F] = 2 * entries + rows;
  else
    w->streamed[LIMIT_RG32UI] = entries;
  w->written[vector] = rows;
  if (has_diagonal) {
    w->streamed[LIMIT_R32F] += rows;
    w->reused[vector] += rows;
  }
  const double texel = limit_format_bytes[vector];
  w->bytes = 8 * entries + (info->format == TS_FORMAT_SEGMENTS ? 4 * rows : 0) + (has_diagonal ? 4 * rows : 0) +
             texel * (rows + columns);
}

static int check_product(const product *p, const generated_matrix *A, int components, spmv_result *result) {
  const size_t nx = (size_t)A->columns * (size_t)components, ny = (size_t)A->rows * (size_t)components;
  float *x = malloc(nx * sizeof *x), *y = malloc(ny * sizeof *y);
  int failed = 0;
  if (!x || !y) {
    bench_error("no memory to check the product");
    failed = 1;
  }
  failed = failed || bench_check(ts_vector_read(p->x, ts_host(x, nx)), p->context, "reading x") ||
           bench_check(ts_vector_read(p->y, ts_host(y, ny)), p->context, "reading y");
  if (!failed) {
    const double bound = product_error_bound(result->info.longest_row);
    result->error = product_error(A, components, x, y);
    if (!(result->error <= bound)) {
      bench_error("the product as %s is wrong: relative error %.2g, at most %.2g is rounding",
                  spmv_format(result->info.format), result->error, bound);
      failed = 1;
    }
  }
  free(x);
  free(y);
  return failed;
}

/* The texels of a vector over the matrix's rows; the diagonal has as many. */
static int count_texels(const product *p, int64_t *texels) {
#ifdef TEXSOLVE_HAVE_GL
  int width = 0, height = 0;
  const ts_status status = ts_gl_space_get_size(ts_matrix_get_row_space(p->A), &width, &height);
  *texels = (int64_t)width * height;
  return bench_check(status, p->context, "reading a size");
#else
  (void)p;
  *texels = 0;
  return 0;
#endif
}

int spmv_measure_matrix(ts_context *context, ts_matrix *matrix, const generated_matrix *A, int components,
                        int repeat, spmv_result *result) {
  ts_context_info device;
  product p;
  memset(result, 0, sizeof *result);
  memset(&p, 0, sizeof p);
  p.A = matrix;
  p.context = context;

  int failed = bench_check(ts_context_get_info(context, &device), context, "reading the device's limits") ||
               bench_check(ts_matrix_get_info(p.A, &result->info), context, "reading the matrix's layout") ||
               bench_vector(ts_matrix_get_column_space(p.A), components, &p.x) ||
               bench_vector(ts_matrix_get_row_space(p.A), components, &p.y);
  const int is_gl = !failed && strstr(device.backend, "gl");
  int64_t row_texels = 0;
  if (is_gl) failed = count_texels(&p, &row_texels);
  if (!failed) {
    count_work(&result->info, is_gl, row_texels, components, &result->w);
    failed = timing_measure(&result->t, repeat, BENCH_BATCH_SECONDS, product_run, &p) ||
             check_product(&p, A, components, result);
  }
  ts_vector_destroy(&p.y);
  ts_vector_destroy(&p.x);
  return failed;
}

int spmv_measure(ts_context *context, const generated_matrix *A, ts_format format, int components, int repeat,
                 spmv_result *result) {
  const ts_matrix_desc desc = {.csr = generated_csr(A), .format = format, .components = components};
  ts_matrix *matrix = NULL;
  memset(result, 0, sizeof *result);
  const int failed = bench_check(ts_matrix_create(context, &desc, &matrix), context, "making the matrix") ||
                     spmv_measure_matrix(context, matrix, A, components, repeat, result);
  ts_matrix_destroy(&matrix);
  return failed;
}
