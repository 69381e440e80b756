/* A fluid, and the part of it that backends see.
 *
 * Call path: fluid.c (descriptor, queries), fluid_walls.c (converts walls and boundaries to prescribed
 * velocities), fluid_parameters.c, fluid_step.c (the step), fluid_pressure.c and fluid_viscosity.c (its
 * systems), the backend's fluid_... operations.
 *
 * Positions here are in cells: cell (i, j) is the square from (i, j) to (i + 1, j + 1). With the layout
 * STAGGERED the horizontal velocity u(i, j) is at (i, j + 1/2) and the vertical one v(i, j) at (i + 1/2, j).
 * With COLLOCATED both are at (i + 1/2, j + 1/2). "Face" means the place of either, in both layouts.
 *
 *   velocity   2 components over (width + 1) x (height + 1). In a periodic dimension the last column (row) of u
 *              (v) is a copy of the first
 *   prescribed 2 components over the same grid: the prescribed velocity (walls, inlets, the inside of solids),
 *              0 if there is no face, TSI_FLUID_FREE if the fluid determines the velocity
 *   walls      2 components over the cells: 1 in solid cells
 *   dye        4 components over the cells: r, g, b, temperature
 *
 * Sampling is bilinear between the four nearest faces. Beyond the outermost faces the nearest value is used,
 * except towards a WALL's boundary, where values lie on a line that ends at the wall with the wall's velocity.
 * Fluid that enters through a boundary (an outlet, or a wall with a normal velocity) has no dye. Between the
 * outermost centre and the place one cell further out, dye falls to 0. */
#ifndef TSI_FLUID_H
#define TSI_FLUID_H

#include <texsolve/fluid.h>

#include "common/core/backend.h"

enum { TSI_LEFT, TSI_RIGHT, TSI_BOTTOM, TSI_TOP };

#define TSI_FLUID_FREE 1e30f /* in `prescribed`; smaller values are velocities */

/* A function that CUDA kernels also call. */
#ifdef __CUDACC__
#define TSI_FLUID_INLINE static __host__ __device__ __forceinline__
#else
#define TSI_FLUID_INLINE static inline
#endif

typedef struct tsi_fluid_domain {
  int32_t width, height;
  float cell_size;
  ts_fluid_layout layout;
  int periodic_x, periodic_y;
  ts_fluid_boundary boundaries[4]; /* velocities are 0 except a WALL's */
  /* The bounding rectangle of all solid cells: first and last column, first and last row. The last precedes the
   * first if there are none. */
  int32_t solid_columns[2], solid_rows[2];
} tsi_fluid_domain;

/* Dye carried in from beyond an open boundary is 0. */
TSI_FLUID_INLINE int tsi_fluid_is_open(const tsi_fluid_domain *d, int side) {
  const ts_fluid_boundary *s = &d->boundaries[side];
  return s->kind == TS_FLUID_BOUNDARY_OUTLET ||
         (s->kind == TS_FLUID_BOUNDARY_WALL && s->velocity[side / 2] != 0);
}

/* The changes of velocities in m/s by a step, already multiplied by dt. */
typedef struct tsi_fluid_forces {
  float gravity[2];
  float buoyancy, smoke_weight; /* per temperature; per brightness, (r + g + b) / 3 */
  /* dt epsilon h, the factor of (N_y omega, -N_x omega). N = g / (|g| + |omega| / 1000), where g is the
   * difference of
   * |omega| over two cells. The second term of the divisor keeps N from following rounding errors if |omega|
   * hardly changes. */
  float confinement;
} tsi_fluid_forces;

/* Values that are added with the weight exp(-|x - centre|^2 / radius^2). With `sets` they replace the contents
 * of a disc (half_height 0) or a rectangle. Lengths are in cells. */
typedef struct tsi_fluid_stamp {
  int sets, sets_color, sets_temperature; /* sets_color, sets_temperature: the components of dye to replace */
  float x, y, half_width, half_height;    /* half_width: radius of a splat or a disc */
  float velocity[2];
  float dye[4];
} tsi_fluid_stamp;

typedef struct tsi_fluid_transport {
  float dt;
  float color_left, temperature_left; /* factors */
} tsi_fluid_transport;

typedef struct tsi_fluid_particles {
  float dt, lifetime; /* lifetime 0: unlimited */
  uint32_t seed;      /* changes at every step */
} tsi_fluid_particles;

/* Pseudorandom numbers from 0 to 1 for particle `index`; shaders/fluid/fluid_particles.frag has the same
 * code. */
TSI_FLUID_INLINE uint32_t tsi_fluid_hash(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  return x ^ x >> 16;
}

/* The reach of a stamp in cells from its centre. Beyond it the change is below 2^-24 of the stamp. */
static inline void tsi_fluid_stamp_reach(const tsi_fluid_stamp *s, float *x, float *y) {
  *x = s->sets ? s->half_width : 4.1f * s->half_width;
  *y = s->sets && s->half_height > 0 ? s->half_height : *x;
}

/* ---- The table tsi_ops.fluid ----
 *
 * No function synchronises with the device. Vectors are distinct unless documented otherwise; their contents
 * are described above. Prescribed faces keep their velocity, and the velocity is 0 where a face does not
 * exist. */

/* clang-format off */
#define TSI_FLUID_OPERATIONS(REQUIRED, prefix)                                                                 \
  /* Semi-Lagrangian: out = velocity carried along itself for `dt` seconds, back along the midpoint rule. */   \
  REQUIRED(prefix, ts_status, advect,                                                                          \
           (const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity, const ts_vector *prescribed, \
            float dt))                                                                                         \
  /* MacCormack: out = carried + (velocity - what carrying `carried` back in time makes) / 2, no less and no   \
   * more than the four velocities that `carried` was interpolated from. */                                    \
  REQUIRED(prefix, ts_status, correct,                                                                         \
           (const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity, const ts_vector *prescribed, \
            const ts_vector *carried, float dt))                                                               \
  /* out = dv/dx - du/dy at the centres of cells; 0 in walls. */                                               \
  REQUIRED(prefix, ts_status, vorticity,                                                                       \
           (const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,                         \
            const ts_vector *walls))                                                                           \
  /* out = velocity + forces. `vorticity` is NULL without confinement. */                                      \
  REQUIRED(prefix, ts_status, forces,                                                                          \
           (const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity, const ts_vector *prescribed, \
            const ts_vector *dye, const ts_vector *vorticity, const tsi_fluid_forces *forces))                 \
  /* In place: a splat or a source. */                                                                         \
  REQUIRED(prefix, ts_status, stamp_velocity,                                                                  \
           (const tsi_fluid_domain *domain, ts_vector *velocity, const ts_vector *prescribed,                       \
            const tsi_fluid_stamp *stamp))                                                                     \
  REQUIRED(prefix, ts_status, stamp_dye,                                                                       \
           (const tsi_fluid_domain *domain, ts_vector *dye, const tsi_fluid_stamp *stamp))                     \
  /* In place: faces that are given. */                                                                        \
  REQUIRED(prefix, ts_status, boundary,                                                                        \
           (const tsi_fluid_domain *domain, ts_vector *velocity, const ts_vector *prescribed))                      \
  /* out = scale (div velocity - compatibility); 0 in walls. `compatibility` may be NULL: 0. */                                \
  REQUIRED(prefix, ts_status, divergence,                                                                      \
           (const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity, const ts_vector *walls, \
            const ts_vector *compatibility, float scale))                                                              \
  /* out = velocity - dt grad pressure. */                                                                     \
  REQUIRED(prefix, ts_status, project,                                                                         \
           (const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity, const ts_vector *prescribed, \
            const ts_vector *pressure, float dt))                                                              \
  /* The two components, over grids without the periodic copies, and together again. */                        \
  REQUIRED(prefix, ts_status, split,                                                                           \
           (const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity, int component))         \
  REQUIRED(prefix, ts_status, merge,                                                                           \
           (const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *u, const ts_vector *v))           \
  /* out = dye carried by the velocity, with `carried` (else NULL) corrected as above, times what is left of   \
   * it. */                                                                                                    \
  REQUIRED(prefix, ts_status, transport,                                                                       \
           (const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *dye, const ts_vector *velocity,   \
            const ts_vector *walls, const ts_vector *carried, const tsi_fluid_transport *transport))           \
  REQUIRED(prefix, ts_status, particles,                                                                       \
           (const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *particles,                        \
            const ts_vector *velocity, const ts_vector *walls, const tsi_fluid_particles *step))               \
  /* out = |velocity| at the centres of cells; 0 in walls. */                                                  \
  REQUIRED(prefix, ts_status, speed,                                                                           \
           (const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,                         \
            const ts_vector *walls))
/* clang-format on */

struct tsi_fluid_ops {
  TSI_FLUID_OPERATIONS(TSI_FIELD, )
};

#endif
