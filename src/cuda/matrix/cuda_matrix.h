/* Matrices on the device: what matrix_create keeps in ts_matrix.impl. C, as cuda.h. Where a pointer names what
 * layout.h describes, it points to the same on the device. */
#ifndef CUDA_MATRIX_H
#define CUDA_MATRIX_H

#include "cuda/core/cuda.h"

/* Compressed sparse rows. */
typedef struct cuda_csr {
  int32_t rows;
  int log2_subwarp; /* a row is shared by 1 << log2_subwarp threads of a warp */
  int32_t limit;    /* rows of more entries have row blocks of their own; 0: no row has */
  const int32_t *row_offsets, *columns;
  const float *values;
  const uint16_t *ends; /* with row blocks: what tsi_row_plan has; then columns and values go on with zeros */
} cuda_csr;

/* Jagged diagonals in slices. */
typedef struct cuda_slices {
  int32_t rows, count;
  /* Which kernels serve it best, by its bytes and its rows' mean length. */
  int prefetched;   /* products prefetch slices of short rows */
  int streamed;     /* products have entries come ahead: multiply_streamed */
  int lean_product; /* products of one component in few registers: multiply_lean */
  int lean;         /* conjugate gradients in few registers: cg_slices */
  const tsi_slice *slices;
  const uint8_t *lengths, *order; /* order: NULL where rows are in natural order */
  const uint32_t *words;
  const int32_t *bases;
  const float *values;
} cuda_slices;

/* The paper's segments: runs of entries, the diagonal apart (NULL: none). */
typedef struct cuda_segments {
  int32_t rows;
  const uint32_t *starts, *pointers;
  const float *values, *diagonal;
} cuda_segments;

/* Compressed rows of n x n blocks: rows, offsets and columns are those of blocks. */
typedef struct cuda_bcrs {
  int log2_block;   /* of n */
  int log2_subwarp; /* threads that share a row of blocks, set for each product */
  int32_t rows, count;
  int32_t width; /* columns of the matrix; the last block may have more */
  const int32_t *offsets, *columns;
  const float *values; /* n x n a block, row by row */
} cuda_bcrs;

enum { CUDA_PIECE_WORDS = 8 }; /* two a component */

/* Row blocks, one for each block of threads (tsi_row_block), and what the pieces of a long row hand to the last
 * of them. */
typedef struct cuda_row_blocks {
  int32_t count;
  const tsi_row_block *row_blocks;
  const int32_t *columns; /* that first and end count in */
  const float *values;
  /* Two sums a row block, CUDA_PIECE_WORDS each: its piece of a row that began before, and of one that goes on.
   */
  unsigned long long *sums; /* 0 between operations */
  unsigned *tickets;        /* of a row's pieces, at its first row block; 0 between operations */
} cuda_row_blocks;

enum { CUDA_MOST_RUNS = 8 };

/* Some of the items that the threads of a product share: runs of neighbours. Number k of them is item k +
 * shift[r], with the least r for which k < end[r]; behind the last run `end` is INT32_MAX. */
typedef struct cuda_runs {
  int32_t count; /* of items */
  int32_t end[CUDA_MOST_RUNS + 1], shift[CUDA_MOST_RUNS + 1];
} cuda_runs;

/* The items of interior rows, in the longest runs that there are, and all others. */
typedef struct cuda_interior {
  cuda_runs interior, boundary;
} cuda_interior;

enum { CUDA_MATRIX_BLOCKS = 16 };

typedef struct cuda_matrix {
  cuda_csr csr;
  cuda_slices slices;
  cuda_segments segments;
  cuda_bcrs bcrs;
  cuda_row_blocks row_blocks;       /* of csr or of the long rows of slices */
  const unsigned char *constrained; /* flags of rows where a residual is 0, NULL: none */
  float *values;                    /* all of them */
  size_t value_count;
  uint64_t fingerprint; /* of slices that were made on the device: cuda_given_fingerprint */
  double *dots;         /* of slices: the sum of each in cuda_jagged_spmv_dot, NULL before the first */
  /* Of a part of a larger matrix, all 0 where it has no interior. Items are slices, row blocks of csr, rows, or
   * rows of blocks. Where they are row blocks: the same in rows. */
  cuda_interior items, rows;
  struct {
    void *data;
    size_t bytes;
  } blocks[CUDA_MATRIX_BLOCKS]; /* all device memory */
  int block_count;
} cuda_matrix;

static inline cuda_matrix *cuda_matrix_of(const ts_matrix *A) {
  return (cuda_matrix *)A->impl;
}

#ifdef __cplusplus
extern "C" {
#endif

/* How a format is stored. */
typedef struct cuda_format {
  const tsi_matrix_kind *kind;
  size_t size; /* of A->impl: a cuda_matrix, or what begins with one */
  /* What is packed, to the device: A->impl is there, all 0 but `constrained`; on failure the caller destroys
   * it. */
  ts_status (*create)(ts_matrix *A, const tsi_packed *packed);
} cuda_format;

#define CUDA_FORMAT_ROW(name, format) extern const cuda_format cuda_format_##name;
TSI_CUDA_FORMATS(CUDA_FORMAT_ROW)
#undef CUDA_FORMAT_ROW

/* Device memory of a matrix, which goes with it: with `from` a copy of it, else zeros. */
ts_status cuda_matrix_take(ts_matrix *A, const void *from, size_t count, size_t size, void **to);
#define CUDA_TAKE(A, from, count, to)                                                                          \
  TSI_TRY(cuda_matrix_take((A), (from), (size_t)(count), sizeof *(to), (void **)&(to)))
void cuda_matrix_destroy(ts_matrix *A);
/* Room for `count` row blocks, with a copy of `row_blocks` or zeros. */
ts_status cuda_matrix_create_row_blocks(ts_matrix *A, const tsi_row_block *row_blocks, int32_t count);
/* cuda_interior.c: finds `items` and `rows`, once the format is created. */
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
