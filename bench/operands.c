#include "operands.h"

/* As in a solver, each operation needs the previous result or at least another target. So operations cannot
 * overlap, and none is dropped because the next one covers its target. The values stay nearly constant. */
static ts_status apply(const operands *o, long i) {
  ts_vector *to = i & 1 ? o->x : o->y, *from = i & 1 ? o->y : o->x;
  switch (o->operation) {
  case OPERATION_FILL:
    return ts_vector_fill(to, 1.0f);
  case OPERATION_COPY:
    return ts_vector_copy(to, from);
  case OPERATION_SCALE:
    return ts_vector_scale(o->y, ts_constant(-1.0f));
  case OPERATION_AXPY: /* alternates, so that y stays bounded */
    return ts_vector_axpby(o->y, ts_constant(i & 1 ? 0.5f : -0.5f), o->x, ts_constant(1));
  case OPERATION_AXPBY:
    return ts_vector_axpby(o->y, ts_constant(0.5f), o->x, ts_constant(0.5f));
  case OPERATION_AXPBY_SLOTS:
    return ts_vector_axpby(o->y, ts_scaled(1.0f, o->s, 1), o->x, ts_scaled(1.0f, o->s, 1));
  case OPERATION_MULTIPLY:
    return ts_vector_multiply(to, o->z, from);
  case OPERATION_RECIPROCAL:
    return ts_vector_reciprocal(to, from);
  case OPERATION_DOT:
    return ts_vector_dot(o->s, 0, o->x, o->y);
  case OPERATION_NORM_2:
    return ts_vector_norm(o->s, 0, o->x, TS_NORM_2);
  case OPERATION_NORM_INFINITY:
    return ts_vector_norm(o->s, 0, o->x, TS_NORM_INFINITY);
  case OPERATION_SUM:
    return ts_vector_sum(o->s, 0, o->x);
  default:
    return ts_vector_max(o->s, 0, o->x);
  }
}

int operands_run(void *user, long count) {
  const operands *o = user;
  ts_status status = TS_OK;
  for (long i = 0; i < count && status >= 0; ++i) status = apply(o, i);
  if (status >= 0) status = ts_context_finish(o->context);
  return bench_check(status, o->context, "an operation on vectors");
}

int operands_make(operands *o, ts_context *context, int32_t rows, int components) {
  static const float half[4] = {0.5f, 0.5f, 0.5f, 0.5f};
  ts_space *space = NULL;
  *o = (operands){.context = context};
  const int failed = bench_check(ts_space_create(context, &(ts_space_desc){.size = rows}, &space), context,
                                 "making a space") ||
                     bench_check(ts_scalars_create(context, &(ts_scalars_desc){.count = 2}, &o->s), context,
                                 "making scalars") ||
                     bench_vector(space, components, &o->x) || bench_vector(space, components, &o->y) ||
                     bench_vector(space, components, &o->z) ||
                     bench_check(ts_vector_fill(o->z, 1.0f), context, "filling a vector") ||
                     bench_check(ts_scalars_write(o->s, 1, ts_host(half, 4)), context, "writing a scalar");
  ts_space_destroy(&space);
  return failed;
}

void operands_free(operands *o) {
  ts_vector_destroy(&o->z);
  ts_vector_destroy(&o->y);
  ts_vector_destroy(&o->x);
  ts_scalars_destroy(&o->s);
}
