/* Stencil matrices and multigrid levels on CUDA. Read order: cuda_stencil.cu, cuda_level.cuh (the place of a
 * point, what is computed at one), cuda_level.cu (a level's memory), cuda_level_smooth.cu,
 * cuda_level_transfer.cu (between two levels), cuda_level_steps.cu and cuda_level_tiles.cu (several steps in a
 * kernel), cuda_level_weights.cu and cuda_level_coarsen.cu (coarse matrices), cuda_level_uniform.cu. */
#ifndef CUDA_GRID_H
#define CUDA_GRID_H

#include "cuda/core/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "common/grid/grid.h"

/* Coefficients are planes of numbers in this order, in two blocks: the centre and the sides, and the corners,
 * which are absent where all are 0. */
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
  size_t size;            /* of a field: elements */
  float *sides, *corners; /* in the level's storage */
  int borrowed;           /* the coefficients are the matrix's */
  float *fields[2], *b;   /* x is fields[x]; a step that reads its neighbours writes the other one */
  int x;
  float *direction; /* Chebyshev's, made when it is needed */
  float *weights;   /* of interpolation from the next coarser level, eight planes of its cells */
  size_t cells;
  int *general; /* on the device: 0 where the weights are bilinear, and need not be read */
  unsigned char
      *uniform;     /* of patches of CUDA_PATCH x CUDA_PATCH points: 1 where all have the stencil `reference` */
  float *reference; /* the coefficients, and 1 if bilinear weights belong to them */
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

/* Interpolation, smoothing steps and restriction on one level in one kernel: as many steps as are such a group,
 * from the first one on; *taken may be 0. */
ts_status cuda_level_run_tiles(const tsi_step *steps, int count, int *taken);

/* ---- cuda_level_uniform.cu ---- */

/* Room for what tells where the stencil is the same everywhere, and that from the coefficients. */
ts_status cuda_level_create_uniform(tsi_level *level);
void cuda_level_destroy_uniform(tsi_level *level);
ts_status cuda_level_find_uniform(tsi_level *level);

/* ---- cuda_level_weights.cu ---- */

/* The weights from the next coarser level, from the stencil of this one. */
ts_status cuda_level_make_weights(tsi_level *level);

#ifdef __cplusplus
}
#endif

#endif
