/* The measured vector operations. */
#ifndef BENCH_OPERANDS_H
#define BENCH_OPERANDS_H

#include "bench.h"

typedef enum vector_operation {
  OPERATION_FILL,
  OPERATION_COPY,
  OPERATION_SCALE,
  OPERATION_AXPY,
  OPERATION_AXPBY,
  OPERATION_AXPBY_SLOTS, /* with coefficients on the device */
  OPERATION_MULTIPLY,
  OPERATION_RECIPROCAL,
  OPERATION_DOT,
  OPERATION_NORM_2,
  OPERATION_NORM_INFINITY,
  OPERATION_SUM,
  OPERATION_MAX,
  OPERATION_COUNT
} vector_operation;

typedef struct operands {
  ts_context *context;
  ts_vector *x, *y, *z;
  ts_scalars *s;
  vector_operation operation;
} operands;

/* Creates vectors with `rows` rows. Nonzero after a message; free them in any case. */
int operands_make(operands *o, ts_context *context, int32_t rows, int components);
void operands_free(operands *o);

/* Performs the operation `count` times and waits; a timing_fn. */
int operands_run(void *user, long count);

#endif
