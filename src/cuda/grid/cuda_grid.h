/* Stencil matrices and multigrid levels on CUDA. Read in this order: cuda_stencil.cu, cuda_level.cuh (storage
 * order, computations at a point), cuda_level.cu (memory of a level), cuda_level_smooth.cu. Then
 * cuda_level_transfer.cu (between two levels), cuda_level_steps.cu and cuda_level_tiles.cu (several steps per
 * kernel), cuda_level_weights.cu and cuda_level_coarsen.cu (coarse matrices), cuda_level_uniform.cu. */
#ifndef CUDA_GRID_H
#define CUDA_GRID_H

#include "cuda/core/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "common/grid/grid.h"

/* Coefficients are planes of numbers in this order, in two blocks: the centre and the sides, and the corners.
 * The corners are absent if all are 0. */
enum { CUDA_C, CUDA_W, CUDA_E, CUDA_S, CUDA_N, CUDA_SW, CUDA_SE, CUDA_NW, CUDA_NE, CUDA_DIRECTIONS };
enum { CUDA_SIDES = 5, CUDA_CORNERS = 4, CUDA_PATCH = 16, CUDA_REFERENCE = CUDA_DIRECTIONS + 1 };

typedef struct cuda_stencil {
  float *sides, *corners; /* point p of plane k: [k * points + p] */
} cuda_stencil;

static inline cuda_stencil *cuda_stencil_of(const ts_matrix *A) {
  return (cuda_stencil *)A->impl;
}

extern const tsi_matrix_kind cuda_stencil_kind;
extern const tsi_cg_kernels cuda_stencil_cg; /* cuda_cg_stencil.cu */
TSI_GRID_OPERATIONS(TSI_PROTOTYPE, TSI_PROTOTYPE, TSI_PROTOTYPE, cuda_)

/* ---- Levels ---- */

typedef struct cuda_level {
  size_t size;            /* elements per field */
  float *sides, *corners; /* in the level's storage */
  int borrowed;           /* the coefficients belong to the matrix */
  float *fields[2], *b;   /* x is fields[x]; a step that reads neighbours writes to the other field */
  int x;
  float *direction; /* of Chebyshev, allocated on first use */
  float *weights;   /* of interpolation from the next coarser level: eight planes over its cells */
  size_t cells;
  int *general; /* on the device; 0: the weights are bilinear and need not be read */
  unsigned char
      *uniform; /* per patch of CUDA_PATCH x CUDA_PATCH points: 1 if all points have the stencil `reference` */
  float *reference; /* the coefficients, and 1 if their weights are bilinear */
  float *dense;     /* the inverse of the coarsest matrix */
} cuda_level;

static inline cuda_level *cuda_level_of(const tsi_level *level) {
  return (cuda_level *)level->impl;
}
static inline float *cuda_level_x(const tsi_level *level) {
  return cuda_level_of(level)->fields[cuda_level_of(level)->x];
}
static inline float *cuda_level_next(const tsi_level *level) {
  return cuda_level_of(level)->fields[1 - cuda_level_of(level)->x];
}

/* ---- cuda_level_tiles.cu ---- */

/* Runs interpolation, smoothing steps and restriction on one level in one kernel. It takes the longest such
 * group that begins with the first step; *taken may be 0. */
ts_status cuda_level_run_tiles(const tsi_step *steps, int count, int *taken);

/* ---- cuda_level_uniform.cu ---- */

/* Allocates `uniform` and `reference`; finds them from the coefficients. */
ts_status cuda_level_create_uniform(tsi_level *level);
void cuda_level_destroy_uniform(tsi_level *level);
ts_status cuda_level_find_uniform(tsi_level *level);

/* ---- cuda_level_weights.cu ---- */

/* Computes the weights from the next coarser level, from the stencil of this one. */
ts_status cuda_level_make_weights(tsi_level *level);

#ifdef __cplusplus
}
#endif

#endif
