/* The setup of algebraic multigrid on the device. The hierarchy is bitwise equal to the one that
 * common/precond/amg makes on the host.
 *
 * Control flow: cuda_amg.c (level by level) calls cuda_amg_source.cu (A as csr), cuda_amg_units.cu,
 * cuda_amg_strength.cu, cuda_amg_aggregate.cu, cuda_amg_tentative.cu, cuda_amg_eigenvalue.cu,
 * cuda_amg_smooth.cu, cuda_amg_twice.cu, cuda_amg_transpose.cu, cuda_amg_galerkin.cu, cuda_amg_places.cu,
 * cuda_amg_long.cu and cuda_amg_coarsest.cu. If several devices share the rows, multi/multi_amg.c calls
 * cuda_amg_part.cu and cuda_amg_pieces.cu instead. They share cuda_amg_memory.cu and cuda_amg_sort.cu. The
 * algorithms are documented in their namesakes in common/precond/amg.
 *
 * Sums are in double precision and in the host's order: a single thread adds the terms of one sum. These files
 * are compiled without contraction of products and sums. C, like cuda.h. */
#ifndef CUDA_AMG_H
#define CUDA_AMG_H

#include "cuda/core/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "common/precond/amg/amg_part.h"

/* ---- Memory (cuda_amg_memory.cu) ---- */

enum {
  CUDA_AMG_BLOCKS = 16,
  CUDA_AMG_MOST_BLOCKS = 1 << 20 /* maximum of a grid; its kernel loops over the rest */
};

/* Blocks of device memory that are freed together. */
typedef struct cuda_amg_memory {
  ts_context *context;
  const char *what; /* for messages; NULL: "a level of amg" */
  int count;
  struct {
    void *data;
    size_t bytes;
  } blocks[CUDA_AMG_BLOCKS];
} cuda_amg_memory;

ts_status cuda_amg_alloc(cuda_amg_memory *memory, size_t count, size_t size, void **to);
/* Allocates `count` elements of the type that `to` points to. */
#define CUDA_AMG_ALLOC(memory, count, to)                                                                      \
  TSI_TRY(cuda_amg_alloc((memory), (size_t)(count), sizeof *(to), (void **)&(to)))
/* Frees in stream order, like cuda_free. */
void cuda_amg_free(cuda_amg_memory *memory);

/* A sparse matrix on the device. */
typedef tsi_amg_piece cuda_amg_csr;

static inline size_t cuda_amg_room(size_t entries) {
  return (entries + 7) / 8 * 8;
}

/* Allocates only the offsets and sets offsets[0] = 0. */
ts_status cuda_amg_csr_begin(ts_context *context, int32_t rows, int32_t columns, cuda_amg_csr *A);
/* With the length of row i in offsets[i + 1]: adds the lengths up and allocates the entries. Waits for the
 * device. On failure A is freed. */
ts_status cuda_amg_csr_finish(ts_context *context, cuda_amg_csr *A);
/* Alternative if the number of entries is known: allocates them. The caller writes the offsets. On failure A is
 * freed. */
ts_status cuda_amg_csr_room(ts_context *context, int64_t entries, cuda_amg_csr *A);
void cuda_amg_csr_free(ts_context *context, cuda_amg_csr *A);

/* ---- Sums and sorts (cuda_amg_sort.cu) ---- */

/* Exclusive sum: numbers[i] becomes the sum of the numbers before it, numbers[count] the total. The array has
 * count + 1 elements. */
ts_status cuda_amg_scan(ts_context *context, int32_t *numbers, size_t count);
/* Inclusive sum: offsets[i + 1], the length of row i, becomes the sum of lengths 0 .. i. offsets[0] becomes
 * 0. */
ts_status cuda_amg_add_lengths(ts_context *context, int32_t *offsets, size_t rows);
/* cuda_amg_scan for 64-bit numbers. */
ts_status cuda_amg_scan64(ts_context *context, int64_t *numbers, size_t count);
/* Sorts the indices of `count` items by the low `bits` of their keys, 1 to 31. The sort is stable. `sorted`
 * receives the keys, `order` the indices; both are allocated in `memory`. */
ts_status cuda_amg_sort(cuda_amg_memory *memory, const uint32_t *keys, int32_t count, int bits,
                        uint32_t **sorted, int32_t **order);

/* ---- Levels ---- */

/* The destinations of products: for every entry of a row and every node of the right factor's row, the node's
 * place in the product's row. The list of a row begins at begins[row]. */
typedef struct cuda_amg_places {
  int64_t *begins;
  uint8_t *list;
} cuda_amg_places;

/* Notes that the first update of a level makes for later ones. */
typedef struct cuda_amg_again {
  cuda_amg_memory memory, of_order; /* for the fields below, and for `order` */
  int is_noted, is_refused;         /* refused: rows are too long */
  int32_t sums_AP, sums_C;          /* maximum numbers per row of A P and of C */
  int64_t nodes;                    /* of A P: where its rows begin, and their numbers of nodes */
  int64_t *begins;
  int32_t *counts;
  cuda_amg_places of_AP, of_C;
  int32_t *order; /* for each entry of R, the entry of P */
} cuda_amg_again;

/* A level on the device; pointers are to device memory. Fields are as in tsi_amg_host_level, except R. */
typedef struct cuda_amg_level {
  cuda_amg_csr A, P;
  cuda_amg_csr R; /* -P^T, as a cycle needs it */
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

/* A cycle with these vectors. From its second run on it is launched as a graph. */
typedef struct cuda_amg_recording {
  const float *x, *b;
  cudaGraphExec_t graph; /* NULL: not recorded */
  int refused;           /* recording failed */
} cuda_amg_recording;

enum { CUDA_AMG_RECORDINGS = 4 };

/* The matrix as csr, from a host copy. */
typedef struct cuda_amg_kept_source {
  cuda_amg_memory memory;
  cuda_amg_csr csr; /* offsets NULL: not uploaded yet */
} cuda_amg_kept_source;

/* The data for updates. The matrices of levels take over the arrays of A, P and R. */
typedef struct cuda_amg_hierarchy {
  cuda_amg_level level[TSI_AMG_MAX_LEVELS];
  cuda_amg_memory kept[TSI_AMG_MAX_LEVELS];  /* strong, aggregates, tentative, weights */
  cuda_amg_memory modes[TSI_AMG_MAX_LEVELS]; /* near_null, until the next level has its own */
  cuda_amg_kept_source source;               /* used from the first update on */
  cuda_amg_recording recordings[CUDA_AMG_RECORDINGS];
  int newest;
} cuda_amg_hierarchy;

/* cuda_amg.c, cuda_amg_cycle.c */
TSI_AMG_OPERATIONS(TSI_PROTOTYPE, cuda_amg_)
/* Makes a matrix that takes over the arrays of `csr`. */
ts_status cuda_amg_adopt(ts_context *context, const cuda_amg_csr *csr, ts_space *row_space,
                         ts_space *column_space, ts_matrix **matrix);
/* cuda_amg_part.cu, cuda_amg_pieces.cu */
TSI_AMG_PART_OPERATIONS(TSI_PROTOTYPE, cuda_amg_part_)

/* cuda_amg_strength.cu. Allocates the graph's arrays in `memory`. */
typedef struct cuda_amg_graph {
  int32_t nodes;
  int32_t *begins, *ends, *indices;
  float *magnitudes;
} cuda_amg_graph;
ts_status cuda_amg_strength(cuda_amg_memory *memory, const cuda_amg_level *level, double strength, int depth,
                            cuda_amg_graph *graph);
/* cuda_amg_units.cu. Like tsi_amg_units. */
ts_status cuda_amg_units(ts_context *context, const cuda_amg_level *level);
/* The two parts of this, like tsi_amg_vote and tsi_amg_write_units. Between them the near-null vector is
 * theirs. */
ts_status cuda_amg_vote(ts_context *context, const cuda_amg_level *level, tsi_amg_range own, double *votes);
ts_status cuda_amg_write_units(ts_context *context, const cuda_amg_level *level, int scaled);
/* Finds the first unconstrained row without a positive diagonal (`constrained` may be NULL), and the value
 * there. The row is -1 if none exists. */
ts_status cuda_amg_check_diagonal(ts_context *context, const cuda_amg_csr *A, const unsigned char *constrained,
                                  int32_t *row, float *value);

/* cuda_amg_aggregate.cu */
ts_status cuda_amg_aggregate(ts_context *context, const cuda_amg_graph *graph, int32_t *aggregates,
                             int32_t *count);

/* cuda_amg_tentative.cu. Copies the near-null space of the first level from the descriptor to level->near_null,
 * which has rows x vectors numbers. Rows without a positive diagonal become 0. */
ts_status cuda_amg_near_null(ts_context *context, const ts_amg_desc *desc, const cuda_amg_level *level);
ts_status cuda_amg_tentative(ts_context *context, const cuda_amg_level *level, double *coarse);

/* cuda_amg_eigenvalue.cu. `long_rows`: the rows of A with more than CUDA_AMG_LONG entries. */
enum { CUDA_AMG_LONG = 512 };
typedef struct cuda_amg_rows {
  const int32_t *rows;
  int32_t count;
} cuda_amg_rows;
ts_status cuda_amg_eigenvalue(ts_context *context, cuda_amg_level *level, cuda_amg_rows long_rows);

/* Sets level->energies, like tsi_amg_energies. `filtered` is on the device. */
ts_status cuda_amg_energies(ts_context *context, cuda_amg_level *level, const double *filtered,
                            cuda_amg_rows long_rows);

/* cuda_amg_twice.cu, like tsi_amg_smooth_again. */
ts_status cuda_amg_smooth_again(ts_context *context, const cuda_amg_level *level, const double *filtered,
                                double omega, const cuda_amg_csr *once, cuda_amg_csr *P);

/* cuda_amg_smooth.cu. If level->P has offsets, its pattern is reused. */
ts_status cuda_amg_smooth(ts_context *context, cuda_amg_level *level);
/* Two parts of this for one part of a level's rows, like tsi_amg_estimate and tsi_amg_prolong. The first
 * allocates the diagonal of the filtered matrix for the second, unless there are long rows. */
ts_status cuda_amg_estimate(ts_context *context, cuda_amg_level *level, tsi_amg_range own,
                            tsi_amg_estimates *found, double **diagonal);
ts_status cuda_amg_prolong(ts_context *context, cuda_amg_level *level, tsi_amg_range own, double *diagonal,
                           double omega, int32_t reach, double sums[4]);

/* cuda_amg_transpose.cu: T = -A^T. Allocates the arrays of T. */
ts_status cuda_amg_transpose(ts_context *context, const cuda_amg_csr *A, cuda_amg_csr *T);
/* Recomputes the values of level->R from those of level->P. */
ts_status cuda_amg_transpose_again(ts_context *context, cuda_amg_level *level);

/* cuda_amg_galerkin.cu: C = -R (A P). If C has a pattern, only its values are computed. cuda_amg_galerkin, with
 * R = -P^T, also gives rows of zeros a positive diagonal. */
ts_status cuda_amg_product(ts_context *context, const cuda_amg_csr *R, const cuda_amg_csr *A,
                           const cuda_amg_csr *P, int unknowns, cuda_amg_csr *C);
ts_status cuda_amg_galerkin(ts_context *context, const cuda_amg_csr *R, const cuda_amg_csr *A,
                            const cuda_amg_csr *P, int unknowns, cuda_amg_csr *C);
/* Like cuda_amg_galerkin with the pattern of C. Uses the level's notes (cuda_amg_places.cu), and makes them on
 * the first call. */
ts_status cuda_amg_galerkin_again(ts_context *context, cuda_amg_level *level, cuda_amg_csr *C);

/* cuda_amg_long.cu: makes row blocks for rows of the matrices that are much longer than others. Waits. */
ts_status cuda_amg_part_long_rows(ts_context *context, ts_matrix *const *matrices, int count);

/* cuda_amg_coarsest.cu. Computes the inverse of a small matrix, like tsi_amg_invert, as rows x rows numbers.
 * The second function allocates a matrix with a dense pattern. */
ts_status cuda_amg_invert(ts_context *context, const cuda_amg_csr *A, float *inverse);
ts_status cuda_amg_csr_dense(ts_context *context, int32_t rows, cuda_amg_csr *A);

/* cuda_amg_source.cu: the values of a matrix as csr on the device. The arrays are allocated in `memory`; a csr
 * matrix lends its own. If the source is the host copy and `kept` is given, they are kept there, and later
 * calls upload only the values. */
ts_status cuda_amg_source(cuda_amg_memory *memory, cuda_amg_kept_source *kept, const ts_matrix *matrix,
                          cuda_amg_csr *A);

#ifdef __cplusplus
}
#endif
#endif
