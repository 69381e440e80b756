/* Matrices on the device: the contents of ts_matrix.impl. C, like cuda.h. A pointer named after a field of
 * layout.h points to the device copy of that field. */
#ifndef CUDA_MATRIX_H
#define CUDA_MATRIX_H

#include "cuda/core/cuda.h"

/* Compressed sparse rows. */
typedef struct cuda_csr {
  int32_t rows;
  int log2_subwarp; /* 1 << log2_subwarp threads of a warp share a row */
  int32_t limit;    /* not 0: only longer rows are in row blocks (cuda_amg_long.cu) */
  const int32_t *row_offsets, *columns;
  const float *values;
  const uint16_t *ends; /* tsi_row_plan.ends, with row blocks; columns and values are then padded with zeros */
} cuda_csr;

/* Jagged diagonals in slices. */
typedef struct cuda_slices {
  int32_t rows, count;
  /* The best kernels, chosen by the bytes of the matrix and the mean length of its rows. */
  int prefetched;   /* products prefetch slices of short rows */
  int streamed;     /* products copy entries ahead: multiply_streamed */
  int lean_product; /* products of one component use few registers: multiply_lean */
  int lean;         /* conjugate gradients use few registers: cg_slices */
  const tsi_slice *slices;
  const uint8_t *lengths, *order; /* order: NULL if rows are in natural order */
  const uint32_t *words;
  const int32_t *bases;
  const float *values;
} cuda_slices;

/* The paper's segments: runs of entries. The diagonal is separate (NULL: none). */
typedef struct cuda_segments {
  int32_t rows;
  const uint32_t *starts, *pointers;
  const float *values, *diagonal;
} cuda_segments;

/* Compressed rows of n x n blocks. Rows, offsets and columns count blocks. */
typedef struct cuda_bcrs {
  int log2_block;   /* of n */
  int log2_subwarp; /* threads that share a block row, set for each product */
  int32_t rows, count;
  int32_t width; /* columns of the matrix; the last block may extend beyond it */
  const int32_t *offsets, *columns;
  const float *values; /* n x n per block, row by row */
} cuda_bcrs;

enum { CUDA_PIECE_WORDS = 8 }; /* two per component */

/* Row blocks, one for each thread block (tsi_row_block), and the partial sums that the pieces of a long row
 * pass to the last of them. */
typedef struct cuda_row_blocks {
  int32_t count;
  const tsi_row_block *row_blocks;
  const int32_t *columns; /* indexed by `first` and `end` */
  const float *values;
  /* Two sums per row block, CUDA_PIECE_WORDS each: its piece of a row that began earlier, and of a row that
   * continues. */
  unsigned long long *sums; /* 0 between operations */
  unsigned *tickets;        /* per row, counts its pieces, at its first row block; 0 between operations */
} cuda_row_blocks;

enum { CUDA_MOST_RUNS = 8 };

/* A subset of the items that the threads of a product share, as runs of consecutive items. Number k of the
 * subset is item k + shift[r], with the smallest r for which k < end[r]. After the last run, `end` is
 * INT32_MAX. */
typedef struct cuda_runs {
  int32_t count; /* of items */
  int32_t end[CUDA_MOST_RUNS + 1], shift[CUDA_MOST_RUNS + 1];
} cuda_runs;

/* The items of interior rows, from the longest runs, and all other items. */
typedef struct cuda_interior {
  cuda_runs interior, boundary;
} cuda_interior;

enum { CUDA_MATRIX_BLOCKS = 16 };

typedef struct cuda_matrix {
  cuda_csr csr;
  cuda_slices slices;
  cuda_segments segments;
  cuda_bcrs bcrs;
  cuda_row_blocks row_blocks;       /* of csr, or of the long rows of slices */
  const unsigned char *constrained; /* flags of rows with residual 0, NULL: none */
  float *values;                    /* the array of all values */
  size_t value_count;
  uint64_t fingerprint; /* of slices that the device made: cuda_given_fingerprint */
  double *dots;         /* per-slice sums of cuda_jagged_spmv_dot, NULL until needed */
  /* Only in a part of a larger matrix; all 0 if it has no interior. Items are slices, row blocks of csr, rows,
   * or block rows. If they are row blocks, `rows` is the same division in rows. */
  cuda_interior items, rows;
  struct {
    void *data;
    size_t bytes;
  } blocks[CUDA_MATRIX_BLOCKS]; /* all of its device memory */
  int block_count;
} cuda_matrix;

static inline cuda_matrix *cuda_matrix_of(const ts_matrix *A) {
  return (cuda_matrix *)A->impl;
}

#ifdef __cplusplus
extern "C" {
#endif

/* The implementation of a format. */
typedef struct cuda_format {
  const tsi_matrix_kind *kind;
  size_t size; /* of A->impl: a cuda_matrix, or a struct that begins with one */
  /* Uploads the packed matrix. A->impl is zero except for `constrained`. On failure the caller destroys it. */
  ts_status (*create)(ts_matrix *A, const tsi_packed *packed);
} cuda_format;

#define CUDA_FORMAT_ROW(name, format) extern const cuda_format cuda_format_##name;
TSI_CUDA_FORMATS(CUDA_FORMAT_ROW)
#undef CUDA_FORMAT_ROW

/* Allocates device memory that is freed with the matrix: a copy of `from`, or zeros if it is NULL. */
ts_status cuda_matrix_alloc(ts_matrix *A, const void *from, size_t count, size_t size, void **to);
#define CUDA_ALLOC(A, from, count, to)                                                                         \
  TSI_TRY(cuda_matrix_alloc((A), (from), (size_t)(count), sizeof *(to), (void **)&(to)))
void cuda_matrix_destroy(ts_matrix *A);
/* Allocates `count` row blocks: a copy of `row_blocks`, or zeros if it is NULL. */
ts_status cuda_matrix_create_row_blocks(ts_matrix *A, const tsi_row_block *row_blocks, int32_t count);
/* cuda_interior.c: sets `items` and `rows` after the format is created. */
ts_status cuda_matrix_find_interior(ts_matrix *A, const tsi_host_csr *csr);

/* cuda_spmv.cu and cuda_diagonal.cu; cuda_spmv_bcrs.cu */
#define QUICK_PROTOTYPES(prefix)                                                                               \
  ts_status prefix##quick_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x);  \
  ts_status prefix##smooth(ts_vector *out, const ts_matrix *A, const tsi_smoothing *s);
TSI_MATRIX_OPERATIONS(TSI_PROTOTYPE, cuda_csr_)
QUICK_PROTOTYPES(cuda_csr_)
TSI_MATRIX_OPERATIONS(TSI_PROTOTYPE, cuda_jagged_)
QUICK_PROTOTYPES(cuda_jagged_)
ts_status cuda_jagged_spmv_dot(ts_vector *y, const ts_matrix *A, const ts_vector *x, ts_scalars *out,
                               int index);
TSI_MATRIX_OPERATIONS(TSI_PROTOTYPE, cuda_segments_)
TSI_MATRIX_OPERATIONS(TSI_PROTOTYPE, cuda_bcrs_)
QUICK_PROTOTYPES(cuda_bcrs_)
/* cuda_cg.cu, cuda_cg_bcrs.cu */
extern const tsi_cg_kernels cuda_csr_cg, cuda_jagged_cg, cuda_bcrs_cg;

#ifdef __cplusplus
}
#endif

#endif
