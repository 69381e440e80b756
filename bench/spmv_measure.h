/* One product y = A x, measured and verified, and the data that it moves. */
#ifndef BENCH_SPMV_MEASURE_H
#define BENCH_SPMV_MEASURE_H

#include "device_limits.h"

typedef struct spmv_result {
  timing t;
  ts_matrix_info info;
  work w;
  double error; /* maximum |y - A x| / (|A| |x|) of a row, against sums in double precision */
} spmv_result;

/* Nonzero after a message, also if the product is wrong. */
int spmv_measure(ts_context *context, const generated_matrix *A, ts_format format, int components, int repeat,
                 spmv_result *result);
/* Measures an existing matrix that was created from A. */
int spmv_measure_matrix(ts_context *context, ts_matrix *matrix, const generated_matrix *A, int components,
                        int repeat, spmv_result *result);

/* The bytes of a matrix and `vectors` vectors: the data that an operation accesses. */
double spmv_bytes(const generated_matrix *A, int components, int vectors);

/* The name of a valid format. */
const char *spmv_format(ts_format format);

#endif
