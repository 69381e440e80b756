/* A matrix of the application's arrays in device memory, in canonical form there: cuda_given.cu checks the
 * arrays and converts them, cuda_given_sort.cu sorts entries, cuda_given_inspect.cu finds what the host wants
 * to know, cuda_given_plan.cu makes the plan of rows, cuda_given_slices.cu slices. C, as cuda.h. */
#ifndef CUDA_GIVEN_H
#define CUDA_GIVEN_H

#include "cuda/core/cuda_arrays.h"
#include "cuda/precond/cuda_amg.h"
#include "cuda_matrix.h"

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
 * thread_steps; `is_negative`: the whole diagonal is there and negative. Waits. */
ts_status cuda_given_inspect(ts_context *context, tsi_given *given, int *is_negative);
/* Changes the sign of all values. */
ts_status cuda_given_negate(ts_context *context, tsi_given *given);

/* cuda_given_plan.cu: as tsi_row_plan_create. Waits. */
ts_status cuda_given_plan(ts_context *context, tsi_given *given);

/* cuda_given_slices.cu: as tsi_slices_create, on the host; and the values of one of the parts to the slices of
 * m, with the columns if `with_columns`. The first waits. */
ts_status cuda_given_slices(ts_context *context, const tsi_given *given, tsi_slices *slices);
ts_status cuda_given_pack(ts_context *context, const tsi_given *given, int part, const cuda_matrix *m,
                          int with_columns);
/* A number that other patterns have not. Waits. */
ts_status cuda_given_fingerprint(ts_context *context, const tsi_given *given, uint64_t *fingerprint);

#ifdef __cplusplus
}
#endif

#endif
