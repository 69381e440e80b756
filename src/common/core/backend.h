/* The seam between solvers and backends: the objects behind the public handles, what a backend can do
 * (tsi_caps), and the table of its operations (tsi_ops).
 *
 * Rules: src/common validates before it calls, so a backend trusts its arguments. A backend never decides a
 * layout. Every operation that writes a vector writes all of its texels and leaves 0 in those that belong to
 * no index. A backend allocates host memory with tsi_malloc, reports with tsi_fail, and accounts device
 * memory with tsi_device_take and tsi_device_give.
 */
#ifndef TSI_OPS_H
#define TSI_OPS_H

#include <texsolve/grid.h>
#include <texsolve/texsolve.h>

#include "common/layout/tiling.h"

/* Indices, rows, columns, unknowns, vertices and points of a grid: so many at most, so that a count plus 1, or
 * rounded up to whole blocks, slices or quads, is an int32_t too. */
enum { TSI_MAX_SIZE = INT32_MAX - 1023 };

typedef struct tsi_ops tsi_ops;
typedef struct tsi_layout tsi_layout; /* layout.h */
typedef struct tsi_packed tsi_packed;
typedef struct tsi_mesh_operator tsi_mesh_operator; /* mesh_operator.h */
typedef struct tsi_mesh_packed tsi_mesh_packed;
typedef struct tsi_stencil tsi_stencil; /* grid.h */
typedef struct tsi_level tsi_level;
typedef struct tsi_sweep tsi_sweep;
typedef struct tsi_step tsi_step;
typedef struct tsi_fluid_domain tsi_fluid_domain; /* fluid.h */
typedef struct tsi_fluid_forces tsi_fluid_forces;
typedef struct tsi_fluid_stamp tsi_fluid_stamp;
typedef struct tsi_fluid_transport tsi_fluid_transport;
typedef struct tsi_fluid_particles tsi_fluid_particles;

typedef struct tsi_caps {
  char device[128], driver[160];
  int is_hardware;
  int max_texture_size;                  /* 0: no textures, linear spaces */
  int rectangle_width, rectangle_height; /* the default, best measured for this device */
  unsigned formats;                      /* bit 1 << TS_FORMAT_... */
  int row_plans;                         /* CSR comes with a tsi_row_plan */
  int check_interval;                    /* a solver's default */
  int check_overlap;                     /* iterations worth starting before a check's numbers are awaited */
  int one_reduction_texels; /* up to which CG is faster with one reduction an iteration than with two */
  int single_residuals;     /* b - A x is summed in single precision, without its rounding errors */
  int texture_barrier;
  int threads;
  unsigned grid_storages;            /* bit 1 << TS_GRID_STORAGE_...; 0: no grids */
  ts_grid_storage pointwise_storage; /* the fastest for Jacobi and Chebyshev */
} tsi_caps;

struct ts_context {
  const tsi_ops *ops;
  void *backend;        /* the backend's state */
  void *check;          /* the state of the check backend around it (check.h), NULL without */
  ts_context_desc desc; /* resolved; its strings are not kept */
  char backend_name[32];
  int device_index; /* the N of "gl:N", -1 if none was given */
  tsi_caps caps;
  size_t bytes_device;
  uint64_t waits;
  char error[512];
};

/* The grid that a space is; width 0 where it is none. Its tiling is natural with rectangles of one texel,
 * `width` of which stand side by side; there is no zero texel. */
typedef struct tsi_grid {
  int32_t width, height;
  int periodic_x, periodic_y;
} tsi_grid;

struct ts_space {
  ts_context *context;
  int references;
  tsi_tiling tiling;
  unsigned char *locked; /* per index, NULL if none is */
  tsi_grid grid;
  void *impl; /* the backend's, may be NULL */
};

struct ts_vector {
  ts_context *context;
  ts_space *space;
  int components;
  void *impl;
};

/* What a texel holds: the components of an index, or the one component of a block of them. */
static inline int tsi_lanes(const ts_vector *v) {
  return v->components << v->space->tiling.log2_block;
}

/* Floats a texel: RGB is not a format that can be rendered to, so 3 components are stored as 4, the last 0. */
static inline int tsi_texel_floats(const ts_vector *v) {
  return v->components == 3 && !v->space->tiling.linear ? 4 : tsi_lanes(v);
}

struct ts_scalars {
  ts_context *context;
  int count;
  void *impl;
};

struct ts_matrix {
  ts_context *context;
  int references;
  ts_space *row_space, *column_space;
  int has_diagonal;     /* row and column space are one: the diagonal is stored by itself */
  tsi_layout *layout;   /* NULL for a stencil */
  tsi_stencil *stencil; /* NULL for others */
  ts_matrix_info info;
  uint64_t fingerprint; /* of the sparsity pattern as given */
  double norm_infinity; /* largest sum of magnitudes in a row */
  int device_values;    /* the device computes the values: nothing is known of them on the host */
  struct tsi_host_csr *host_copy;
  void *impl;
};

typedef enum tsi_reduction {
  TSI_REDUCE_DOT,    /* sum x y */
  TSI_REDUCE_NORM2,  /* sqrt(sum x x) */
  TSI_REDUCE_SUM,    /* sum x */
  TSI_REDUCE_MAX,    /* max x over the indices of the space */
  TSI_REDUCE_MAX_ABS /* max |x| */
} tsi_reduction;

/* sum x y w of each component, or sum x y where w is NULL, into a slot. */
typedef struct tsi_dot {
  int index;
  const ts_vector *x, *y, *w;
} tsi_dot;

/* The vectors of a CG iteration with one reduction (cg_run.c). */
typedef struct tsi_cg_update {
  ts_vector *e, *r_new, *d_new;
  const ts_vector *r, *d, *q, *m; /* m may be NULL: 1 */
  const ts_scalars *slots;
  int delta, dq, qmq; /* slots: r^T M^-1 r, d^T q, q^T M^-1 q */
} tsi_cg_update;

/* Iterations of CG that the device carries out by itself (cg_run.c). */
typedef struct tsi_cg_iterations {
  const ts_matrix *matrix;
  ts_vector *e, *r, *d, *q;
  const ts_vector *m; /* may be NULL: 1 */
  ts_scalars *slots;
  int ring, ring_size; /* slots: delta of iteration k is ring + 2 (k mod ring_size), d^T q the next one */
  int rr, done;  /* slots: r^T r after the last iteration where it is asked for, and how many there were */
  int iteration; /* the first one; its delta is there */
  int count;     /* at most so many, at least 1 */
  /* They end where delta, or r^T r, of every component is at most `enough`, where delta is not finite, and
   * where d^T q is not above 0 in a component whose delta is above `visible`. */
  int stop_by_residual;
  float enough[4], visible[4];
} tsi_cg_iterations;

/* The unknown and the right-hand side of a level. */
typedef enum tsi_level_field { TSI_LEVEL_X, TSI_LEVEL_B } tsi_level_field;

struct tsi_ops {
  /* ---- Required ---- */

  /* Fills context->caps and context->backend. On failure nothing stays behind; close is not called. */
  ts_status (*open)(ts_context *context);
  void (*close)(ts_context *context);

  ts_status (*finish)(ts_context *context);

  /* The caller has set context, space and components; a new vector is all 0. */
  ts_status (*vector_create)(ts_vector *v);
  void (*vector_destroy)(ts_vector *v);
  /* All texels of the space's texture in row-major order, tsi_texel_floats(v) floats each. */
  ts_status (*vector_write)(ts_vector *v, const float *texels);
  ts_status (*vector_read)(const ts_vector *v, float *texels);

  ts_status (*scalars_create)(ts_scalars *s);
  void (*scalars_destroy)(ts_scalars *s);
  ts_status (*scalars_write)(ts_scalars *s, int first, int count, const float *values);
  /* The only operation of a solver that waits. scalars_read_begin asks for the values of now, and
   * scalars_read_end waits for them; operations between the two do not change what is read. One read at a
   * time per ts_scalars. */
  ts_status (*scalars_read_begin)(ts_scalars *s, int first, int count);
  ts_status (*scalars_read_end)(ts_scalars *s, float *values);

  /* For each component of slot `from`, which holds max |v|: slot `to` becomes the power of two that brings it
   * to between 1/2 and 1, and slot `to` + 1 the inverse; both at most 2^120, and 1 where the number is 0 or not
   * finite. */
  ts_status (*scalars_normalise)(ts_scalars *s, int from, int to);

  /* Any vector may be any other one here. A coefficient whose scale is 0 drops its term unread. */
  ts_status (*fill)(ts_vector *y, float value);
  ts_status (*axpby)(ts_vector *out, ts_coefficient a, const ts_vector *x, ts_coefficient b,
                     const ts_vector *y);
  ts_status (*multiply)(ts_vector *out, const ts_vector *x, const ts_vector *y);
  ts_status (*reciprocal)(ts_vector *out, const ts_vector *x);
  /* out = x where the space has an equation, 0 at locked indices, whatever x is there. */
  ts_status (*free_rows)(ts_vector *out, const ts_vector *x);
  /* y is read by DOT only. Writes as many components of the slot as x has, and 0 to the others. */
  ts_status (*reduce)(ts_scalars *out, int index, tsi_reduction kind, const ts_vector *x, const ts_vector *y);

  /* matrix->layout is set; `packed` is to be uploaded and is freed by the caller. */
  ts_status (*matrix_create)(ts_matrix *A, const tsi_packed *packed);
  ts_status (*matrix_write)(ts_matrix *A, const tsi_packed *packed); /* new values, same layout */
  void (*matrix_destroy)(ts_matrix *A);
  /* y = A x; y is not x. Locked rows of y become 0. */
  ts_status (*spmv)(ts_vector *y, const ts_matrix *A, const ts_vector *x);
  /* r = b - A x; r may be b, and is not x. Locked rows of r become 0. */
  ts_status (*residual)(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x);
  /* The diagonal into every component; A has has_diagonal. Locked rows become 0. */
  ts_status (*diagonal)(ts_vector *d, const ts_matrix *A);

  /* ---- Optional: NULL, or a fused form. fallback.c holds the generic forms. ---- */

  /* Called before and after the public functions: make the device current, keep an application's state. */
  ts_status (*enter)(ts_context *context);
  void (*leave)(ts_context *context);
  void (*space_destroy)(ts_space *space);

  /* `count` vectors over one space, and slots, that will be used together. On failure nothing is made. */
  ts_status (*group_create)(ts_vector **vectors, int count, ts_scalars *scalars);

  /* sum x y w */
  ts_status (*dot3)(ts_scalars *out, int index, const ts_vector *x, const ts_vector *y, const ts_vector *w);
  /* x = x + a d;  r = r + b q. Four different vectors. */
  ts_status (*axpy2)(ts_vector *x, ts_coefficient a, const ts_vector *d, ts_vector *r, ts_coefficient b,
                     const ts_vector *q);
  /* The same, then sum r r w, or sum r r where w is NULL. A backend may be quicker where x and r are the first
   * two vectors of a group. */
  ts_status (*axpy2_dot)(ts_vector *x, ts_coefficient a, const ts_vector *d, ts_vector *r, ts_coefficient b,
                         const ts_vector *q, const ts_vector *w, ts_scalars *out, int index);
  /* out = w x + b y, component-wise product w x. */
  ts_status (*multiply_add)(ts_vector *out, const ts_vector *w, const ts_vector *x, ts_coefficient b,
                            const ts_vector *y);
  /* Up to TSI_MAX_DOTS sums over one space that do not wait for each other. */
  ts_status (*dots)(ts_scalars *out, const tsi_dot *sums, int count);
  /* alpha = delta / dq and beta = alpha qmq / dq - 1, both 0 where |dq| < FLT_MIN, beta also where it is not
   * above 1e-5 (what rounding leaves of it);  e = e + alpha d;  r_new = r - alpha q;  d_new = m r_new + beta d.
   * r_new and d_new are none of the others.
   */
  ts_status (*cg_update)(const tsi_cg_update *update);
  /* Whole iterations with two reductions, for matrices that fit; both or none. Afterwards r, d and e are those
   * of the next iteration, and q is undefined. */
  int (*cg_fits)(const ts_matrix *A);
  ts_status (*cg_iterate)(const tsi_cg_iterations *run);

  /* ---- Meshes: all four, or none: ts_mesh_flow_create then says that the backend has no meshes ---- */

  /* op->matrix is made, its values are 0; `packed` is the caller's. */
  ts_status (*mesh_create)(tsi_mesh_operator *op, const tsi_mesh_packed *packed);
  void (*mesh_destroy)(tsi_mesh_operator *op);
  /* The values of op->matrix from the positions `scale` x, three components: a_ij as tsi_mesh_kind says, where
   * no length counts as less than `shortest`, and a_ii = m_i - sum of a_ij, or 1 in a row where that is 0.
   * `scale` is a power of two; the other two are in the unit that it makes. */
  ts_status (*mesh_assemble)(tsi_mesh_operator *op, const ts_vector *x, float scale, float factor,
                             float shortest);
  /* g = (M x - A x) scale from differences: g_i = sum of a_ij scale (x_i - x_j). g is not x. Locked rows of g
   * become 0. */
  ts_status (*mesh_force)(ts_vector *g, const tsi_mesh_operator *op, const ts_vector *x, float scale);

  /* ---- Grids (grid.h): all, or none. Only stencil_read and level_read wait ---- */

  /* A->stencil is set and A->row_space is a grid; values: nine a point, validated. spmv, residual, diagonal and
   * matrix_destroy take stencil matrices too (A->stencil is not NULL): rows without equation become 0. */
  ts_status (*stencil_create)(ts_matrix *A, const float *values);
  ts_status (*stencil_write)(ts_matrix *A, const float *values);
  ts_status (*stencil_read)(const ts_matrix *A, float *values);
  /* r = b - A (x + low), in double or with the rounding errors of products and sums as second numbers. r may be
   * b and is none of the others. Rows without equation become 0. */
  ts_status (*stencil_residual)(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x,
                                const ts_vector *low);
  /* (x, low) = (x, low) + e, so that x is the sum rounded to single precision and low what is missing. Three
   * different vectors over a grid. */
  ts_status (*add_to_pair)(ts_vector *x, ts_vector *low, const ts_vector *e);

  /* Everything of `level` but impl is set. Level 0 uses its matrix's coefficients. New fields are 0. */
  ts_status (*level_create)(tsi_level *level);
  void (*level_destroy)(tsi_level *level);
  /* After the coefficients of a level have changed, before anything else is done with it: brings them into the
   * level's storage. */
  ts_status (*level_prepare)(tsi_level *level);
  /* The weights between two prepared levels, and then the coarse stencil from them. */
  ts_status (*level_coarsen)(tsi_level *coarse, tsi_level *fine);
  ts_status (*level_read)(const tsi_level *level, float *values); /* nine a point */
  /* x = inverse b, dense, row-major, n x n for the n = width * height points in their order. */
  ts_status (*level_set_inverse)(tsi_level *level, const float *inverse);
  ts_status (*level_coarse_solve)(tsi_level *level);

  /* A field from and to a vector over the finest grid (one component). `add`: v = v + x, else v = x, where
   * points without equation keep what v holds. */
  ts_status (*level_load)(tsi_level *level, tsi_level_field field, const ts_vector *v);
  ts_status (*level_store)(ts_vector *v, const tsi_level *level, int add);
  ts_status (*level_clear)(tsi_level *level); /* x = 0 */

  ts_status (*level_smooth)(tsi_level *level, const tsi_sweep *sweep);
  /* coarse b = P (b - A x); and for full multigrid coarse b = P b. */
  ts_status (*level_restrict_residual)(tsi_level *coarse, tsi_level *fine);
  ts_status (*level_restrict)(tsi_level *coarse, tsi_level *fine);
  /* Coarse x = fine x at coarse points without equation that are fine points, 0 elsewhere. */
  ts_status (*level_inject)(tsi_level *coarse, tsi_level *fine);
  /* fine x = x + S coarse x, or with `add` 0 fine x = S coarse x. Points without equation keep their values. */
  ts_status (*level_prolong)(tsi_level *fine, tsi_level *coarse, int add);
  /* Optional also where there are grids: steps of a cycle one after the other, to the same result but for
   * rounding as by the operations that grid.h names. */
  ts_status (*level_steps)(const tsi_step *steps, int count);

  /* ---- Fluids (fluid.h): all, or none. None waits. Vectors are different unless said otherwise; what they are
   * is told in fluid.h. Velocities at faces that are given come out as they are given, and 0 where no face is
   * ---- */

  /* Semi-Lagrangian: out = velocity carried along itself for `dt` seconds, back along the midpoint rule. */
  ts_status (*fluid_advect)(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                            const ts_vector *faces, float dt);
  /* MacCormack: out = carried + (velocity - what carrying `carried` back in time makes) / 2, no less and no
   * more than the four velocities that `carried` was interpolated from. */
  ts_status (*fluid_correct)(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                             const ts_vector *faces, const ts_vector *carried, float dt);
  /* out = dv/dx - du/dy at the centres of cells; 0 in walls. */
  ts_status (*fluid_vorticity)(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                               const ts_vector *walls);
  /* out = velocity + forces. `vorticity` is NULL without confinement. */
  ts_status (*fluid_forces)(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                            const ts_vector *faces, const ts_vector *dye, const ts_vector *vorticity,
                            const tsi_fluid_forces *forces);
  /* In place: a splat or a source. */
  ts_status (*fluid_stamp_velocity)(const tsi_fluid_domain *domain, ts_vector *velocity, const ts_vector *faces,
                                    const tsi_fluid_stamp *stamp);
  ts_status (*fluid_stamp_dye)(const tsi_fluid_domain *domain, ts_vector *dye, const tsi_fluid_stamp *stamp);
  /* In place: faces that are given. */
  ts_status (*fluid_boundary)(const tsi_fluid_domain *domain, ts_vector *velocity, const ts_vector *faces);
  /* out = scale (div velocity - drain); 0 in walls. `drain` may be NULL: 0. */
  ts_status (*fluid_divergence)(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                                const ts_vector *walls, const ts_vector *drain, float scale);
  /* out = velocity - dt grad pressure. */
  ts_status (*fluid_project)(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                             const ts_vector *faces, const ts_vector *pressure, float dt);
  /* The two components, over grids without the periodic copies, and together again. */
  ts_status (*fluid_split)(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                           int component);
  ts_status (*fluid_merge)(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *u,
                           const ts_vector *v);
  /* out = dye carried by the velocity, with `carried` (else NULL) corrected as above, times what is left of it.
   */
  ts_status (*fluid_transport)(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *dye,
                               const ts_vector *velocity, const ts_vector *walls, const ts_vector *carried,
                               const tsi_fluid_transport *transport);
  ts_status (*fluid_particles)(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *particles,
                               const ts_vector *velocity, const ts_vector *walls,
                               const tsi_fluid_particles *step);
  /* out = |velocity| at the centres of cells; 0 in walls. */
  ts_status (*fluid_speed)(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                           const ts_vector *walls);
};

enum { TSI_MAX_DOTS = 3 };

/* The backends. tsi_gl_ops exists only where TEXSOLVE_HAVE_GL is defined, tsi_cuda_ops where TEXSOLVE_HAVE_CUDA
 * is. */
extern const tsi_ops tsi_cpu_ops;
extern const tsi_ops tsi_gl_ops;
extern const tsi_ops tsi_cuda_ops;
extern const tsi_ops tsi_check_ops;

#endif
