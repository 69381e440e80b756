/* A matrix from the application's arrays, in device memory and in canonical form. cuda_given.cu checks and
 * converts the arrays, cuda_given_sort.cu sorts entries, cuda_given_inspect.cu measures properties for the
 * host. cuda_given_plan.cu makes the row plan, cuda_given_slices.cu the slices. C, like cuda.h. */
#ifndef CUDA_GIVEN_H
#define CUDA_GIVEN_H

#include "cuda/core/cuda_arrays.h"
#include "cuda/precond/cuda_amg.h"
#include "cuda_matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

/* tsi_given.impl: device memory. A pointer becomes NULL when a matrix takes over the memory. */
typedef struct cuda_given {
  int32_t *offsets, *columns; /* columns and values are padded with zeros */
  float *values[3];           /* the first is allocated even without values */
  tsi_row_block *row_blocks;  /* as in tsi_row_plan */
  size_t row_block_bytes;
  uint16_t *ends;
} cuda_given;

/* Loads of eight entries at once read past the last one. */
static inline size_t cuda_given_room(size_t entries) {
  return (entries + 7) / 8 * 8;
}
/* One number per TSI_ROW_BLOCK_STEPS entries, rounded up to whole words for atomic operations. */
static inline size_t cuda_given_ends_bytes(size_t entries) {
  return (entries / TSI_ROW_BLOCK_STEPS + 2) / 2 * 4;
}

/* Threads per row: 8 if rows are short. */
static inline int cuda_lanes_of_rows(int32_t rows, int64_t entries) {
  return entries <= (int64_t)16 * rows ? 8 : 32;
}

/* Entries in the order of the given rows, or with the row indices in `rows`. Their values are 2^exponent times
 * too large. */
typedef struct cuda_entries {
  const int32_t *rows, *columns;
  const void *values; /* NULL: none */
  ts_type type;
  int exponent;
  int32_t count;
} cuda_entries;

/* cuda_given_sort.cu: sorts entries by rows and columns. Duplicates are added in double precision, in the order
 * of the list. Allocates offsets, columns and, if the entries have values, `sums`, which the caller frees.
 * Waits. */
ts_status cuda_given_sort(ts_context *context, const cuda_entries *entries, tsi_given *given, double **sums);

/* cuda_given_inspect.cu: sets norm_infinity, longest_row, zero_diagonal_row, unsymmetric_row,
 * unsymmetric_column and thread_steps. `is_negative`: the whole diagonal is present and negative. Waits. */
ts_status cuda_given_inspect(ts_context *context, tsi_given *given, int *is_negative);
/* Changes the sign of all values. */
ts_status cuda_given_negate(ts_context *context, tsi_given *given);

/* cuda_given_plan.cu: like tsi_row_plan_create. Waits. */
ts_status cuda_given_plan(ts_context *context, tsi_given *given);

/* cuda_given_slices.cu. The first is like tsi_slices_create, with its result on the host, and waits. The second
 * packs the values of one part into the slices of m, and the columns if `with_columns`. */
ts_status cuda_given_slices(ts_context *context, const tsi_given *given, tsi_slices *slices);
ts_status cuda_given_pack(ts_context *context, const tsi_given *given, int part, const cuda_matrix *m,
                          int with_columns);
/* A hash of the pattern. Waits. */
ts_status cuda_given_fingerprint(ts_context *context, const tsi_given *given, uint64_t *fingerprint);

#ifdef __cplusplus
}
#endif

#endif
