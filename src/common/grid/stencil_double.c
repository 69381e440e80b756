/* Stencils in doubles: a float per coefficient, which multigrid uses, and the remainders in two more stencils,
 * the low-order parts of the matrix. Host code only.
 *
 * The floats of a row must have the same sum as the doubles. Otherwise the rounding of nine numbers acts like a
 * sigma, which on fine grids is larger than the smallest eigenvalue. The centre therefore absorbs the rounding
 * errors of the other coefficients, and only its own rounding remains. */
#include <float.h>
#include <math.h>

#include "common/core/core.h"
#include "common/matrix/csr.h"
#include "stencil.h"

/* ---- The floats ---- */

static int are_floats(const double *values, size_t count) {
  for (size_t k = 0; k < count; k++)
    if ((double)(float)values[k] != values[k]) return 0;
  return 1;
}

static void split_point(const double *values, float *high) {
  double lost = 0;
  for (int k = 0; k < 9; k++) {
    if (k == TSI_CENTRE) continue;
    high[k] = (float)values[k];
    lost += values[k] - (double)high[k];
  }
  /* Without a dominant diagonal the centre stays unchanged, because the smoother depends on it. */
  const double centre = values[TSI_CENTRE];
  high[TSI_CENTRE] = (float)(fabs(lost) <= 0x1p-18 * fabs(centre) ? centre + lost : centre);
}

/* Rejects a finite coefficient outside the range of floats; a centre rounded to 0 would drop the equation. */
static ts_status check_range(ts_context *context, const tsi_grid *g, size_t point, const double *values,
                             const float *high) {
  for (int k = 0; k < 9; k++) {
    const int too_small = k == TSI_CENTRE && values[k] != 0 && fabsf(high[k]) < FLT_MIN;
    if (!isfinite(values[k]) || (isfinite(high[k]) && !too_small)) continue;
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "the %s coefficient of point (%d, %d) is %g, which leaves the range of single precision",
                    tsi_stencil_directions[k], (int)(point % (size_t)g->width), (int)(point / (size_t)g->width),
                    values[k]);
  }
  return TS_OK;
}

ts_status tsi_stencil_high_parts(ts_context *context, const tsi_grid *g, const double *values, float **high) {
  const size_t points = (size_t)g->width * (size_t)g->height;
  const int plain = are_floats(values, 9 * points);
  float *a = *high = tsi_malloc(context, 9 * points, sizeof *a);
  if (!a) return tsi_out_of_memory(context, "a stencil", 9 * points * sizeof *a);
  for (size_t p = 0; p < points; p++, a += 9, values += 9) {
    if (plain)
      for (int k = 0; k < 9; k++) a[k] = (float)values[k];
    else
      split_point(values, a);
    TSI_TRY(check_range(context, g, p, values, a));
  }
  return TS_OK;
}

/* ---- The low-order parts ---- */

/* The float part of a remainder. At a point with an equation the centre is never 0, because backends would
 * treat it as a point without one. 2^-80 of the centre is far below the last digit of a double. */
static float low_part_of(double remainder, int k, float centre) {
  const float least = fmaxf(fabsf(centre) * 0x1p-80F, FLT_MIN);
  const float low = (float)remainder;
  return k == TSI_CENTRE && fabsf(low) < least ? least : low;
}

/* Fills the low-order part of `depth` 0 or 1; returns whether it is nonzero. */
static int fill_low_part(size_t points, const double *values, const float *high, int depth, float *low,
                         double *lost) {
  int any = 0;
  for (size_t p = 0; p < points; p++, values += 9, high += 9, low += 9)
    for (int k = 0; k < 9; k++) {
      const float centre = high[TSI_CENTRE];
      low[k] = 0;
      if (centre == 0) continue; /* includes a grounded point */
      double remainder = values[k] - (double)high[k];
      if (depth) remainder -= (double)low_part_of(remainder, k, centre);
      low[k] = low_part_of(remainder, k, centre);
      any |= fabs(remainder) > 0x1p-79 * fabs((double)centre);
      *lost = fmax(*lost, fabs(remainder - (double)low[k]));
    }
  return any;
}

static ts_status create_low_part(ts_matrix *A, const float *values) {
  ts_context *context = A->context;
  ts_matrix *low = tsi_calloc(context, 1, sizeof *low);
  if (!low) return tsi_out_of_memory(context, "a matrix", sizeof *low);
  *low = (ts_matrix){.context = context,
                     .row_space = A->row_space,
                     .column_space = A->column_space,
                     .has_diagonal = 1,
                     .stencil = A->stencil,
                     .whole = A->whole ? A->whole : A,
                     .info = A->info,
                     .norm_infinity = ldexp(A->norm_infinity, -23)};
  const size_t bytes = context->bytes_device;
  const ts_status status = context->ops->grid->stencil_create(low, values);
  if (status < 0) {
    tsi_free(context, low);
    return status;
  }
  low->info.bytes_device = context->bytes_device - bytes;
  tsi_space_retain(low->row_space);
  tsi_space_retain(low->column_space);
  A->low = low;
  return TS_OK;
}

ts_status tsi_stencil_create_low_parts(ts_matrix *A, const double *values, const float *high) {
  ts_context *context = A->context;
  const size_t points = (size_t)A->row_space->tiling.size;
  float *low = tsi_malloc(context, 9 * points, sizeof *low);
  if (!low) return tsi_out_of_memory(context, "a stencil", 9 * points * sizeof *low);
  ts_status status = TS_OK;
  double lost = 0;
  ts_matrix *to = A;
  for (int depth = 0; depth < 2 && status == TS_OK; depth++, to = to->low) {
    lost = 0;
    if (!fill_low_part(points, values, high, depth, low, &lost)) break;
    status = create_low_part(to, low);
  }
  tsi_free(context, low);
  if (status < 0) tsi_matrix_destroy_low_parts(A);
  tsi_matrix_warn_of_lost_digits(A, lost);
  return status;
}
