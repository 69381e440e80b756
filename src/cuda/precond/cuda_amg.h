/* The set-up of algebraic multigrid on the device: the hierarchy that common/precond/amg makes on the host, bit
 * for bit.
 *
 * The path: cuda_amg.c (level by level), with cuda_amg_source.cu (A as csr), cuda_amg_units.cu,
 * cuda_amg_strength.cu, cuda_amg_aggregate.cu, cuda_amg_tentative.cu, cuda_amg_eigenvalue.cu,
 * cuda_amg_smooth.cu, cuda_amg_twice.cu, cuda_amg_transpose.cu, cuda_amg_galerkin.cu, cuda_amg_places.cu,
 * cuda_amg_long.cu, cuda_amg_coarsest.cu; cuda_amg_memory.cu and cuda_amg_sort.cu have what they share. Each
 * does what its namesake in common/precond/amg says.
 *
 * Sums are in double, in the host's order: one thread adds what belongs to one sum. These files are compiled
 * without contraction of products and sums. C, as cuda.h. */
#ifndef CUDA_AMG_H
#define CUDA_AMG_H

#include "cuda/core/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "common/precond/amg/amg.h"

/* ---- Memory (cuda_amg_memory.cu) ---- */

enum {
  CUDA_AMG_BLOCKS = 16,
  CUDA_AMG_MOST_BLOCKS = 1 << 20 /* of a grid, whose kernel loops over what is left */
};

/* Blocks of device memory that are given back together. */
typedef struct cuda_amg_memory {
  ts_context *context;
  const char *what; /* for messages; NULL: a level of amg */
  int count;
  struct {
    void *data;
    size_t bytes;
  } blocks[CUDA_AMG_BLOCKS];
} cuda_amg_memory;

ts_status cuda_amg_take(cuda_amg_memory *memory, size_t count, size_t size, void **to);
/* Takes room for `count` of what the pointer `to` points to. */
#define CUDA_AMG_TAKE(memory, count, to)                                                                       \
  TSI_TRY(cuda_amg_take((memory), (size_t)(count), sizeof *(to), (void **)&(to)))
/* In stream order, as cuda_give. */
void cuda_amg_give(cuda_amg_memory *memory);

/* A sparse matrix on the device, columns of a row ascending. Indices and values have room for a multiple of
 * eight entries, and are 0 behind the last one. */
typedef struct cuda_amg_csr {
  int32_t rows, columns, entries;
  int32_t *offsets, *indices;
  float *values;
} cuda_amg_csr;

static inline size_t cuda_amg_room(size_t entries) {
  return (entries + 7) / 8 * 8;
}

/* Offsets alone, offsets[0] = 0. */
ts_status cuda_amg_csr_begin(ts_context *context, int32_t rows, int32_t columns, cuda_amg_csr *A);
/* When offsets[i + 1] is the length of row i, these are added up and the entries have room. Waits for the
 * device. On failure A is freed. */
ts_status cuda_amg_csr_finish(ts_context *context, cuda_amg_csr *A);
/* Instead, where the number of entries is known: room for them; offsets are the caller's to write. On failure A
 * is freed. */
ts_status cuda_amg_csr_room(ts_context *context, int64_t entries, cuda_amg_csr *A);
void cuda_amg_csr_free(ts_context *context, cuda_amg_csr *A);

/* ---- Sums and sorts (cuda_amg_sort.cu) ---- */

/* numbers[i] becomes the sum of those before it, numbers[count] that of all; there is room for count + 1. */
ts_status cuda_amg_scan(ts_context *context, int32_t *numbers, size_t count);
/* offsets[i + 1], the length of row i, becomes the sum of the lengths up to it; offsets[0] is 0. */
ts_status cuda_amg_add_lengths(ts_context *context, int32_t *offsets, size_t rows);
/* As cuda_amg_scan for 64-bit numbers. */
ts_status cuda_amg_scan64(ts_context *context, int64_t *numbers, size_t count);
/* The numbers of `count` items in the order of the low `bits` of their keys, 1 to 31, and the keys in that
 * order; items with equal ones keep theirs. Both are in `memory`. */
ts_status cuda_amg_sort(cuda_amg_memory *memory, const uint32_t *keys, int32_t count, int bits,
                        uint32_t **sorted, int32_t **order);

/* ---- Levels ---- */

/* Where the products of a row's entries are added: a number for each node of the right factor's rows that they
 * name, from begins[row] on. */
typedef struct cuda_amg_places {
  int64_t *begins;
  uint8_t *list;
} cuda_amg_places;

/* What the first update of a level notes for further ones. */
typedef struct cuda_amg_again {
  cuda_amg_memory memory, of_order; /* of what follows, and of `order` */
  int is_noted, is_refused;         /* refused: rows are too long */
  int32_t sums_AP, sums_C;          /* the most numbers of a row of A P, and of C */
  int64_t nodes;                    /* of A P: begins of its rows, and how many each has */
  int64_t *begins;
  int32_t *counts;
  cuda_amg_places of_AP, of_C;
  int32_t *order; /* of each entry of R: the entry of P */
} cuda_amg_again;

/* A level on the device; pointers are to device memory. As tsi_amg_host_level but for R. */
typedef struct cuda_amg_level {
  cuda_amg_csr A, P;
  cuda_amg_csr R; /* -P^T, which is what a cycle multiplies by */
  int unknowns, vectors;
  unsigned char *strong;
  int32_t nodes;
  int32_t *aggregates;
  int32_t aggregate_count;
  float *tentative;
  float *weights;
  double *near_null;
  double bound, eigenvalue, energies;
  int smooths_twice;
  cuda_amg_again again;
} cuda_amg_level;

/* A cycle with these vectors, of which the second and further ones are launched as a whole. */
typedef struct cuda_amg_recording {
  const float *x, *b;
  cudaGraphExec_t graph; /* NULL: not recorded */
  int refused;           /* it cannot be */
} cuda_amg_recording;

enum { CUDA_AMG_RECORDINGS = 4 };

/* The matrix as csr, of a host copy. */
typedef struct cuda_amg_kept_source {
  cuda_amg_memory memory;
  cuda_amg_csr csr; /* offsets NULL: none yet */
} cuda_amg_kept_source;

/* What updates need. Matrices of levels have the arrays of A, P and R once these are theirs. */
typedef struct cuda_amg_hierarchy {
  cuda_amg_level level[TSI_AMG_MAX_LEVELS];
  cuda_amg_memory kept[TSI_AMG_MAX_LEVELS];  /* strong, aggregates, tentative, weights */
  cuda_amg_memory modes[TSI_AMG_MAX_LEVELS]; /* near_null, until the next level's is there */
  cuda_amg_kept_source source;               /* from the first update on */
  cuda_amg_recording recordings[CUDA_AMG_RECORDINGS];
  int newest;
} cuda_amg_hierarchy;

/* cuda_amg.c, cuda_amg_cycle.c */
TSI_AMG_OPERATIONS(TSI_PROTOTYPE, cuda_amg_)

/* cuda_amg_strength.cu. The graph's arrays are in `memory`. */
typedef struct cuda_amg_graph {
  int32_t nodes;
  int32_t *begins, *ends, *indices;
  float *magnitudes;
} cuda_amg_graph;
ts_status cuda_amg_strength(cuda_amg_memory *memory, const cuda_amg_level *level, double strength, int depth,
                            cuda_amg_graph *graph);
/* cuda_amg_units.cu. As tsi_amg_units. */
ts_status cuda_amg_units(ts_context *context, const cuda_amg_level *level);
/* The first row without a positive diagonal that is not constrained (`constrained` may be NULL), and what it
 * has there; -1: none. */
ts_status cuda_amg_check_diagonal(ts_context *context, const cuda_amg_csr *A, const unsigned char *constrained,
                                  int32_t *row, float *value);

/* cuda_amg_aggregate.cu */
ts_status cuda_amg_aggregate(ts_context *context, const cuda_amg_graph *graph, int32_t *aggregates,
                             int32_t *count);

/* cuda_amg_tentative.cu. level->near_null has room for rows x vectors; takes the first level's from the
 * descriptor and sets to 0 what belongs to rows without a positive diagonal. */
ts_status cuda_amg_near_null(ts_context *context, const ts_amg_desc *desc, const cuda_amg_level *level);
ts_status cuda_amg_tentative(ts_context *context, const cuda_amg_level *level, double *coarse);

/* cuda_amg_eigenvalue.cu. `long_rows`: of A's rows those with more than CUDA_AMG_LONG entries. */
enum { CUDA_AMG_LONG = 512 };
typedef struct cuda_amg_rows {
  const int32_t *rows;
  int32_t count;
} cuda_amg_rows;
ts_status cuda_amg_eigenvalue(ts_context *context, cuda_amg_level *level, cuda_amg_rows long_rows);

/* level->energies, as tsi_amg_energies; `filtered` is on the device. */
ts_status cuda_amg_energies(ts_context *context, cuda_amg_level *level, const double *filtered,
                            cuda_amg_rows long_rows);

/* cuda_amg_twice.cu, as tsi_amg_smooth_again. */
ts_status cuda_amg_smooth_again(ts_context *context, const cuda_amg_level *level, const double *filtered,
                                double omega, const cuda_amg_csr *once, cuda_amg_csr *P);

/* cuda_amg_smooth.cu. Where level->P has offsets, its pattern is there. */
ts_status cuda_amg_smooth(ts_context *context, cuda_amg_level *level);

/* cuda_amg_transpose.cu: T = -A^T, which has no arrays yet. */
ts_status cuda_amg_transpose(ts_context *context, const cuda_amg_csr *A, cuda_amg_csr *T);
/* The values of level->R from those of level->P. */
ts_status cuda_amg_transpose_again(ts_context *context, cuda_amg_level *level);

/* cuda_amg_galerkin.cu: C = -R (A P), in the pattern of C where it has one; and with R = -P^T, without rows of
 * zeros. */
ts_status cuda_amg_product(ts_context *context, const cuda_amg_csr *R, const cuda_amg_csr *A,
                           const cuda_amg_csr *P, int unknowns, cuda_amg_csr *C);
ts_status cuda_amg_galerkin(ts_context *context, const cuda_amg_csr *R, const cuda_amg_csr *A,
                            const cuda_amg_csr *P, int unknowns, cuda_amg_csr *C);
/* The same in the pattern of C, by the level's notes (cuda_amg_places.cu), which it makes if there are none. */
ts_status cuda_amg_galerkin_again(ts_context *context, cuda_amg_level *level, cuda_amg_csr *C);

/* cuda_amg_long.cu: row blocks for the rows of matrices that are much longer than others. Waits. */
ts_status cuda_amg_part_long_rows(ts_context *context, ts_matrix *const *matrices, int count);

/* cuda_amg_coarsest.cu. The inverse of a small matrix, as tsi_amg_invert, into rows x rows numbers; and a
 * matrix with room for them. */
ts_status cuda_amg_invert(ts_context *context, const cuda_amg_csr *A, float *inverse);
ts_status cuda_amg_csr_dense(ts_context *context, int32_t rows, cuda_amg_csr *A);

/* cuda_amg_source.cu: the values of a matrix as csr, on the device: arrays of its own in `memory`, or, where
 * these are csr, the matrix's own. If the host copy is the source and `kept` is given, they are there, and the
 * next time only values are uploaded. */
ts_status cuda_amg_source(cuda_amg_memory *memory, cuda_amg_kept_source *kept, const ts_matrix *matrix,
                          cuda_amg_csr *A);

#ifdef __cplusplus
}
#endif
#endif
