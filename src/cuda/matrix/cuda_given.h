/* A matrix of the application's arrays in device memory, in canonical form there: cuda_given.cu checks the
 * arrays and converts them, cuda_given_sort.cu sorts entries, cuda_given_inspect.cu finds what the host wants
 * to know, cuda_given_plan.cu makes the plan of rows. C, as cuda.h. */
#ifndef CUDA_GIVEN_H
#define CUDA_GIVEN_H

#include "cuda/core/cuda_arrays.h"
#include "cuda/precond/cuda_amg.h"

#ifdef __cplusplus
extern "C" {
#endif

/* tsi_given.impl: device memory, each NULL once a matrix has it. */
typedef struct cuda_given {
  int32_t *offsets, *columns; /* columns and values: 0 behind the last entry */
  float *values[3];           /* the first is there even if no values were given */
  tsi_row_block *row_blocks;  /* as in tsi_row_plan */
  size_t row_block_bytes;
  uint16_t *ends;
} cuda_given;

/* Loads of eight entries at once go beyond the last one. */
static inline size_t cuda_given_room(size_t entries) {
  return (entries + 7) / 8 * 8;
}
/* A number for each TSI_ROW_BLOCK_STEPS entries; whole words, for atomic operations. */
static inline size_t cuda_given_ends_bytes(size_t entries) {
  return (entries / TSI_ROW_BLOCK_STEPS + 2) / 2 * 4;
}

/* Entries in the order of the rows that were given as such, or that `rows` has; their values are 2^exponent
 * times too large. */
typedef struct cuda_entries {
  const int32_t *rows, *columns;
  const void *values; /* NULL: none */
  ts_type type;
  int exponent;
  int32_t count;
} cuda_entries;

/* cuda_given_sort.cu: sorts entries by rows and columns, and adds up duplicates in double precision and in the
 * order of the list. Makes offsets, columns and, if there are values, `sums`, which the caller gives back.
 * Waits. */
ts_status cuda_given_sort(ts_context *context, const cuda_entries *entries, tsi_given *given, double **sums);

/* cuda_given_inspect.cu: sets norm_infinity, longest_row, zero_diagonal_row, unsymmetric_row and _column, and
 * the steps of threads for the plan of rows. Waits. */
ts_status cuda_given_inspect(ts_context *context, tsi_given *given, int64_t *thread_steps);

/* cuda_given_plan.cu: as tsi_row_plan_create. Waits if there are row blocks. */
ts_status cuda_given_plan(ts_context *context, int64_t thread_steps, tsi_given *given);

#ifdef __cplusplus
}
#endif

#endif
