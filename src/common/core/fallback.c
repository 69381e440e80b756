/* Fused operations: the backend's own, or combinations of required ones. */
#include "core.h"

static int fused(const ts_context *context) {
  return !(context->desc.flags & TS_CONTEXT_NO_FUSED_OPERATIONS);
}

int tsi_needs_scratch(const ts_context *context) {
  return !fused(context) || !context->ops->dot3 || !context->ops->multiply_add;
}

ts_status tsi_spmv_dot(ts_vector *y, const ts_matrix *A, const ts_vector *x, ts_scalars *out, int index) {
  const int is_single = !y->low && !x->low, is_pair = y->low && x->low && !A->low;
  if (A->kind->spmv_dot && fused(y->context) && (is_single || is_pair))
    return A->kind->spmv_dot(y, A, x, out, index);
  TSI_TRY(tsi_spmv(y, A, x));
  return y->context->ops->reduce(out, index, TSI_REDUCE_DOT, x, y);
}

int tsi_smooths(const ts_matrix *A) {
  return A->kind->smooth && fused(A->context);
}

static ts_status dot3(ts_scalars *out, int index, const ts_vector *x, const ts_vector *y, const ts_vector *w,
                      ts_vector *scratch) {
  const tsi_ops *ops = x->context->ops;
  if (ops->dot3 && fused(x->context)) return ops->dot3(out, index, x, y, w);
  TSI_TRY(ops->multiply(scratch, y, w));
  return ops->reduce(out, index, TSI_REDUCE_DOT, x, scratch);
}

ts_status tsi_dots(ts_scalars *out, const tsi_dot *sums, int count, ts_vector *scratch) {
  const tsi_ops *ops = out->context->ops;
  if (count > 0 && ops->dots && fused(out->context)) return ops->dots(out, sums, count);
  for (int k = 0; k < count; k++) {
    const tsi_dot *sum = &sums[k];
    if (sum->w)
      TSI_TRY(dot3(out, sum->index, sum->x, sum->y, sum->w, scratch));
    else
      TSI_TRY(ops->reduce(out, sum->index, TSI_REDUCE_DOT, sum->x, sum->y));
  }
  return TS_OK;
}

ts_status tsi_axpy2(ts_vector *x, ts_coefficient a, const ts_vector *d, ts_vector *r, ts_coefficient b,
                    const ts_vector *q) {
  const tsi_ops *ops = x->context->ops;
  if (ops->axpy2 && fused(x->context)) return ops->axpy2(x, a, d, r, b, q);
  TSI_TRY(ops->axpby(x, a, d, ts_constant(1), x));
  return ops->axpby(r, b, q, ts_constant(1), r);
}

ts_status tsi_axpy2_dot(ts_vector *x, ts_coefficient a, const ts_vector *d, ts_vector *r, ts_coefficient b,
                        const ts_vector *q, const ts_vector *w, ts_scalars *out, int index,
                        ts_vector *scratch) {
  const tsi_ops *ops = x->context->ops;
  if (ops->axpy2_dot && fused(x->context)) return ops->axpy2_dot(x, a, d, r, b, q, w, out, index);
  TSI_TRY(tsi_axpy2(x, a, d, r, b, q));
  return w ? dot3(out, index, r, r, w, scratch) : ops->reduce(out, index, TSI_REDUCE_DOT, r, r);
}

ts_status tsi_multiply_add(ts_vector *out, const ts_vector *w, const ts_vector *x, ts_coefficient b,
                           const ts_vector *y, ts_vector *scratch) {
  const tsi_ops *ops = out->context->ops;
  if (ops->multiply_add && fused(out->context)) return ops->multiply_add(out, w, x, b, y);
  TSI_TRY(ops->multiply(scratch, w, x));
  return ops->axpby(out, ts_constant(1), scratch, b, y);
}
