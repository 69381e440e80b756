/* The watched operations on meshes. A matrix cannot be read back. Instead of poison, an assembly with the
 * factor NaN makes every entry a NaN. If a product then contains a NaN, the next assembly did not write some
 * entry. */
#include <math.h>

#include "check/core/check.h"

/* Larger numbers may overflow in intermediate results, so that a NaN would be correct. */
static const float harmless = 1e6f;

static ts_status is_harmless(const ts_vector *x, float scale, float factor, int *harmless_out) {
  const float *found = NULL;
  size_t count = 0;
  TSI_TRY(check_read(x, &found, &count));
  *harmless_out = factor <= harmless;
  for (size_t i = 0; i < count && *harmless_out; i++) *harmless_out = fabsf(scale * found[i]) <= harmless;
  return TS_OK;
}

static ts_status check_no_nan(const tsi_mesh_operator *op, const ts_vector *y, const char *what) {
  const float *found = NULL;
  size_t count = 0;
  TSI_TRY(check_read(y, &found, &count));
  for (size_t i = 0; i < count; i++)
    if (isnan(found[i]))
      return tsi_fail(op->context, TS_ERROR_DEVICE, "check: mesh_assemble did not write %s of texel %zu", what,
                      i / (size_t)tsi_texel_floats(y));
  return TS_OK;
}

static ts_status check_entries(const tsi_ops *inner, const tsi_mesh_operator *op, const ts_vector *x) {
  const tsi_matrix_kind *kind = check_inner_kind(op->matrix);
  ts_vector y = {.context = x->context, .space = x->space, .components = x->components};
  TSI_TRY(inner->vector_create(&y));
  ts_status status = kind->diagonal(&y, op->matrix);
  if (status == TS_OK) status = check_no_nan(op, &y, "the diagonal");
  if (status == TS_OK) status = kind->spmv(&y, op->matrix, x);
  if (status == TS_OK) status = check_no_nan(op, &y, "an entry in the row");
  inner->vector_destroy(&y);
  return status;
}

ts_status check_mesh_assemble(tsi_mesh_operator *op, const ts_vector *x, float scale, float factor,
                              float shortest) {
  const tsi_ops *inner = check_state_of(op->context)->inner;
  int may_look = 0;
  TSI_TRY(is_harmless(x, scale, factor, &may_look));
  TSI_TRY(check_remember(x));
  TSI_TRY(inner->mesh->assemble(op, x, scale, NAN, shortest));
  TSI_TRY(inner->mesh->assemble(op, x, scale, factor, shortest));
  check_count(op->context, "mesh_assemble");
  TSI_TRY(check_unchanged("mesh_assemble", x));
  return may_look ? check_entries(inner, op, x) : TS_OK;
}

ts_status check_mesh_force(ts_vector *g, const tsi_mesh_operator *op, const ts_vector *x, float scale) {
  TSI_TRY(check_poison(g));
  TSI_TRY(check_remember(x));
  TSI_TRY(check_state_of(op->context)->inner->mesh->force(g, op, x, scale));
  check_count(op->context, "mesh_force");
  TSI_TRY(check_unchanged("mesh_force", x));
  return check_vector("mesh_force", g, 1);
}
