/* Complementarity problems in OpenGL: their textures and the supported schemes. See gl_lcp_sweep.c for the
 * passes. */
#include <math.h>
#include <string.h>

#include "gl_lcp_sparse.h"

/* Number of quads in the columns that are written at a time. */
enum { strip_quads = 16 };

/* ---- Storage ---- */

static int even(int n) {
  return n + n % 2;
}

static ts_status create_parts(const ts_lcp *lcp, GLenum format, int width, int height, const char *what,
                              gl_texture **textures) {
  for (int part = 0; part < gl_lcp_of(lcp)->parts; part++)
    TSI_TRY(gl_texture_create(lcp->context, format, width, height, what, &textures[part]));
  return TS_OK;
}

/* If passes may draw into the texture they read, w and z share one texture, so the target never changes. */
static ts_status create_quads(const ts_lcp *lcp, gl_lcp *impl) {
  enum { count = 4 };
  gl_lcp_quads *const quads[count] = {&impl->w[0], &impl->w[1], &impl->z[0], &impl->z[1]};
  static const char what[] = "the unknowns of complementarity problems";
  const int max = lcp->context->caps.max_texture_size;
  /* Sizes are even, so that no 2 x 2 texels span two problems. If quads are folded, all quads of a block are
   * drawn. */
  const int blocks = (impl->quads - 1) / GL_LCP_BLOCK + 1;
  const int width = impl->folded ? blocks * GL_LCP_BLOCK / 2 : even(impl->quads),
            height = even(impl->folded ? 2 : lcp->batch);
  const int is_shared = lcp->context->caps.texture_barrier && count * height <= max;
  for (int k = 0; k < count; k++) {
    if (k == 0 || !is_shared) {
      TSI_TRY(
          create_parts(lcp, GL_RGBA32F, width, is_shared ? count * height : height, what, quads[k]->textures));
      continue;
    }
    *quads[k] = *quads[0];
    quads[k]->y = k * height;
    for (int part = 0; part < impl->parts; part++) quads[k]->textures[part]->references++;
  }
  return TS_OK;
}

static ts_status create_exact(const ts_lcp *lcp, gl_lcp *impl) {
  const gl_texture *like = impl->w[0].textures[0];
  for (int part = 0; part < GL_LCP_PARTS && impl->parts == 1 && lcp->dimension > 1 && lcp->context->caps.pairs;
       part++)
    TSI_TRY(gl_texture_create(lcp->context, GL_RGBA32F, like->width, like->height,
                              "the unknowns of complementarity problems", &impl->exact_w.textures[part]));
  return TS_OK;
}

static ts_status create_textures(const ts_lcp *lcp, gl_lcp *impl) {
  const int rows = gl_lcp_rows(impl), batch = lcp->batch;
  const int stacked = (batch - 1) / impl->abreast + 1;
  static const char quads[] = "the unknowns of complementarity problems, a row each,";
  TSI_TRY(create_parts(lcp, GL_RGBA32F, impl->quads * impl->abreast, rows * stacked, "a dense matrix",
                       impl->matrix));
  TSI_TRY(create_parts(lcp, GL_RGBA32F, impl->quads, batch, quads, impl->lower));
  if (lcp->dimension == 1) TSI_TRY(create_parts(lcp, GL_RGBA32F, impl->quads, batch, quads, impl->upper));
  TSI_TRY(create_quads(lcp, impl));
  TSI_TRY(create_exact(lcp, impl));
  for (int k = 0; k < 2; k++) TSI_TRY(create_parts(lcp, GL_RG32F, rows, batch, quads, impl->states[k]));
  if (lcp->context->caps.texture_barrier) return TS_OK;
  return create_parts(lcp, GL_RGBA32F, 1, batch, quads, impl->row);
}

/* Matrices are stacked up to the maximum texture size, then placed side by side. */
static int count_abreast(const ts_lcp *lcp, int rows) {
  const int max = lcp->context->caps.max_texture_size, stacked = rows < max ? max / rows : 1;
  return (lcp->batch - 1) / stacked + 1;
}

ts_status gl_lcp_create(ts_lcp *lcp) {
  ts_context *context = lcp->context;
  const int max = context->caps.max_texture_size;
  const int is_sparse = lcp->storage == TS_LCP_STORAGE_SPARSE;
  if (!is_sparse && lcp->size > max)
    return tsi_fail(context, TS_ERROR_LIMIT, "size is %d; the largest texture has room for %d unknowns",
                    lcp->size, max);
  gl_lcp *impl = tsi_calloc(context, 1, sizeof *impl);
  if (!impl) return tsi_out_of_memory(context, "a complementarity problem", sizeof *impl);
  lcp->impl = impl;
  impl->parts = lcp->is_double ? 2 : 1;
  if (is_sparse) return TS_OK;
  impl->quad_rows = lcp->dimension == 3 ? 3 : 4;
  impl->quads = (lcp->size - 1) / impl->quad_rows + 1;
  impl->abreast = count_abreast(lcp, gl_lcp_rows(impl));
  impl->folded = lcp->batch == 1;
  ts_status status = create_textures(lcp, impl);
  if (status == TS_OK) status = gl_lcp_find_subgroups(lcp);
  if (status < 0) gl_lcp_destroy(lcp);
  return status;
}

void gl_lcp_destroy(ts_lcp *lcp) {
  ts_context *context = lcp->context;
  gl_lcp *impl = gl_lcp_of(lcp);
  for (int part = 0; part < impl->parts; part++) {
    gl_texture_release(context, impl->matrix[part]);
    gl_texture_release(context, impl->lower[part]);
    gl_texture_release(context, impl->upper[part]);
    for (int k = 0; k < 2; k++) {
      gl_texture_release(context, impl->w[k].textures[part]);
      gl_texture_release(context, impl->z[k].textures[part]);
      gl_texture_release(context, impl->states[k][part]);
    }
    gl_texture_release(context, impl->row[part]);
  }
  for (int part = 0; part < GL_LCP_PARTS; part++) gl_texture_release(context, impl->exact_w.textures[part]);
  gl_lcp_forget_sparse(lcp);
  tsi_free(context, impl);
  lcp->impl = NULL;
}

/* ---- The matrix ---- */

static double entry(const ts_lcp *lcp, const tsi_lcp_matrix *matrix, size_t problem, size_t row,
                    size_t column) {
  const size_t n = (size_t)lcp->size;
  if (row >= n || column >= n) return row == column ? 1 : 0;
  const size_t at = (problem * n + row) * n + column;
  return matrix->single ? (double)matrix->single[at] : matrix->doubles[at];
}

static void write_strip(const ts_lcp *lcp, const tsi_lcp_matrix *matrix, int part, int problem, int first,
                        int count, float *strip) {
  const gl_lcp *impl = gl_lcp_of(lcp);
  const size_t rows = (size_t)gl_lcp_rows(impl), quads = (size_t)impl->quads, columns = (size_t)impl->quad_rows;
  for (size_t row = 0; row < rows; row++)
    for (size_t c = 0; c < columns * (size_t)count; c++)
      strip[((c / columns * columns + row % columns) * quads + row / columns) * 4 + c % columns] =
          gl_lcp_part(entry(lcp, matrix, (size_t)problem, row, columns * (size_t)first + c), part);
  gl_texture_write(gl_of(lcp->context), impl->matrix[part], problem % impl->abreast * impl->quads,
                   problem / impl->abreast * (int)rows + impl->quad_rows * first, impl->quads,
                   impl->quad_rows * count, strip);
}

ts_status gl_lcp_write_matrix(ts_lcp *lcp, const tsi_lcp_matrix *matrix) {
  if (matrix->sparse) return gl_lcp_write_sparse(lcp, matrix->sparse);
  const int quads = gl_lcp_of(lcp)->quads, most = quads < strip_quads ? quads : strip_quads;
  const size_t numbers = 16 * (size_t)quads * (size_t)most;
  float *strip = tsi_calloc(lcp->context, numbers, sizeof *strip);
  if (!strip) return tsi_out_of_memory(lcp->context, "a dense matrix", numbers * sizeof *strip);
  for (int part = 0; part < gl_lcp_of(lcp)->parts; part++)
    for (int problem = 0; problem < lcp->batch; problem++)
      for (int first = 0; first < quads; first += most)
        write_strip(lcp, matrix, part, problem, first, quads - first < most ? quads - first : most, strip);
  tsi_free(lcp->context, strip);
  gl_lcp_of(lcp)->is_symmetric = tsi_lcp_is_nearly_symmetric(lcp, matrix);
  return gl_check(lcp->context, "writing a dense matrix");
}

/* ---- Bounds and friction ---- */

/* Padding has the bounds 0 and no friction. Bounds are per unknown, friction coefficients per contact. */
static void fill_limits(const ts_lcp *lcp, const double *limits, double value, int part, float *texels) {
  const gl_lcp *impl = gl_lcp_of(lcp);
  const size_t n = (size_t)lcp->size, rows = (size_t)impl->quad_rows, dimension = (size_t)lcp->dimension;
  for (size_t i = 0; i < tsi_lcp_unknowns(lcp); i++) {
    const size_t quad = i / n * (size_t)impl->quads + i % n / rows;
    texels[4 * quad + i % n % rows] = gl_lcp_part(
        limits == lcp->friction && limits ? limits[i / dimension] : tsi_lcp_bound(lcp, limits, i, value), part);
  }
}

ts_status gl_lcp_write_limits(const ts_lcp *lcp) {
  if (lcp->storage == TS_LCP_STORAGE_SPARSE) return gl_lcp_write_limits_sparse(lcp);
  const gl_lcp *impl = gl_lcp_of(lcp);
  const size_t numbers = 4 * (size_t)impl->quads * (size_t)lcp->batch;
  float *texels = tsi_calloc(lcp->context, numbers, sizeof *texels);
  if (!texels) return tsi_out_of_memory(lcp->context, "bounds", numbers * sizeof *texels);
  for (int part = 0; part < impl->parts; part++) {
    fill_limits(lcp, lcp->friction ? lcp->friction : lcp->lower, 0, part, texels);
    gl_texture_write(gl_of(lcp->context), impl->lower[part], 0, 0, impl->quads, lcp->batch, texels);
    if (!impl->upper[part]) continue;
    fill_limits(lcp, lcp->upper, (double)INFINITY, part, texels);
    gl_texture_write(gl_of(lcp->context), impl->upper[part], 0, 0, impl->quads, lcp->batch, texels);
  }
  tsi_free(lcp->context, texels);
  return gl_check(lcp->context, "writing bounds");
}

/* ---- Schemes ---- */

/* The graph schemes are unavailable, because passes cannot wait for each other's fragments. A sparse problem
 * draws independent contacts at once, so it also has the row scheme. NULL: a problem in either storage. */
ts_lcp_scheme gl_lcp_scheme(const ts_context *context, const ts_lcp *lcp, ts_lcp_scheme scheme) {
  (void)context;
  if (scheme == TS_LCP_SCHEME_COLOUR) return scheme;
  if (scheme == TS_LCP_SCHEME_AUTO)
    return lcp && lcp->storage == TS_LCP_STORAGE_SPARSE ? TS_LCP_SCHEME_COLOUR : TS_LCP_SCHEME_BLOCK;
  return scheme <= TS_LCP_SCHEME_BLOCK ? scheme : TS_LCP_SCHEME_AUTO;
}

static int is_symmetric(const ts_lcp *lcp) {
  return gl_lcp_of(lcp)->is_symmetric;
}

const tsi_lcp_ops gl_lcp_ops = {TSI_LCP_OPERATIONS(TSI_ENTRY, TSI_ENTRY, gl_lcp_).is_symmetric = is_symmetric};
