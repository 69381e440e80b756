/* z = A^-1 r for vectors on a device, by factors on the host. */
#include "common/core/core.h"
#include "direct.h"

static void free_arrays(ts_context *context, tsi_direct_applied *s) {
  tsi_free(context, s->floats);
  tsi_free(context, s->columns);
  s->floats = NULL, s->columns = NULL, s->components = 0;
}

void tsi_direct_drop(ts_context *context, tsi_direct_applied *s) {
  free_arrays(context, s);
  tsi_direct_destroy(context, s->direct);
  s->direct = NULL;
}

ts_status tsi_direct_prepare(ts_context *context, tsi_direct_applied *s, int components) {
  const size_t count = (size_t)s->direct->n * (size_t)components;
  if (s->components == components) return TS_OK;
  free_arrays(context, s);
  s->floats = tsi_malloc(context, count, sizeof *s->floats);
  s->columns = tsi_malloc(context, count, sizeof *s->columns);
  if (!s->floats || !s->columns)
    return tsi_out_of_memory(context, "a preconditioner", count * (sizeof *s->floats + sizeof *s->columns));
  s->components = components;
  return TS_OK;
}

/* Computes z in double precision and writes all its parts. If rows have different units, rounding z to floats
 * may change A z by more than r. */
ts_status tsi_direct_apply(const tsi_direct_applied *s, ts_vector *z, const ts_vector *r) {
  const ts_vector given = tsi_first_part(r);
  const size_t n = (size_t)s->direct->n, width = (size_t)s->components, count = n * width;
  TSI_TRY(tsi_read_floats(&given, s->floats));
  for (size_t c = 0; c < width; c++) {
    double *column = s->columns + c * n;
    for (size_t i = 0; i < n; i++) column[i] = (double)s->floats[i * width + c];
    tsi_direct_solve(s->direct, column);
  }
  for (ts_vector *part = z; part; part = part->low) {
    ts_vector first = tsi_first_part(part);
    for (size_t k = 0; k < count; k++) {
      double *remainder = &s->columns[k % width * n + k / width];
      s->floats[k] = (float)*remainder;
      *remainder -= (double)s->floats[k];
    }
    TSI_TRY(tsi_write_floats(&first, s->floats));
  }
  return TS_OK;
}
