/* The CPU backend: vectors and matrices in host memory, threads, vectorised loops.
 *
 * A space is linear: element c of index i of a vector is data[i * components + c], without padding. Loops over
 * vectors run over blocks of CPU_BLOCK floats whatever the number of components, because CPU_LANES, which
 * divides CPU_BLOCK, is a multiple of 1, 2, 3 and 4: lane l of every group of CPU_LANES floats belongs to
 * component l mod components.
 */
#ifndef CPU_H
#define CPU_H

#include "common/core/core.h"
#include "common/layout/layout.h"
#include "cpu_pace.h"
#include "cpu_pool.h"
#include "cpu_target.h"

enum {
  CPU_LANES = 48,
  CPU_BLOCK = CPU_LANES * 64, /* 12 KiB: three pages, so that threads touch pages of their own */
  CPU_ALIGNMENT = 64
};

typedef struct cpu_state {
  int threads;
  cpu_pool *pool; /* NULL: one thread */
  cpu_pace pace;
  double *partials; /* what each block adds to a reduction, four components a block */
  size_t partial_blocks;
} cpu_state;

typedef struct cpu_vector {
  float *data; /* aligned; CPU_ALIGNMENT bytes behind the last element are 0, for blocks that reach beyond it */
  void *block; /* as allocated */
  size_t count, bytes;
} cpu_vector;

typedef struct cpu_scalars {
  float *values;   /* four a slot */
  float *snapshot; /* what scalars_read_begin asked for */
  int snapshot_slots;
} cpu_scalars;

/* Compressed rows, of entries or of n x n blocks: then rows and columns are those of blocks. */
typedef struct cpu_matrix {
  int log2_block; /* of n; 0: entries */
  int32_t rows;
  int32_t *row_offsets, *column_indices;
  float *values;
  int parts;          /* as many as threads */
  int32_t *part_rows; /* part p works on rows part_rows[p] .. part_rows[p + 1] - 1 */
  size_t bytes;
} cpu_matrix;

static inline cpu_state *cpu_state_of(const ts_context *context) {
  return context->backend;
}
static inline cpu_vector *cpu_vector_of(const ts_vector *v) {
  return v->impl;
}
static inline float *cpu_data(const ts_vector *v) {
  return cpu_vector_of(v)->data;
}
static inline size_t cpu_count(const ts_vector *v) {
  return cpu_vector_of(v)->count;
}

/* ---- cpu_parallel.c ---- */

/* Works on items first .. last-1. */
/* Shares `items` among threads in contiguous ranges, the same ones at every call, so that a thread finds the
 * pages it touched first. `cost` is the number of floats an item stands for: little work takes fewer threads.
 */
void cpu_for(const ts_context *context, size_t items, size_t cost, cpu_body body, const void *arguments);

static inline size_t cpu_blocks(size_t count) {
  return (count + CPU_BLOCK - 1) / CPU_BLOCK;
}
/* The floats of blocks first .. last-1 of `count`. */
static inline size_t cpu_block_end(size_t last, size_t count) {
  return last * CPU_BLOCK < count ? last * CPU_BLOCK : count;
}

/* ---- The operations, as in backend.h ---- */
ts_status cpu_vector_create(ts_vector *v);
void cpu_vector_destroy(ts_vector *v);
ts_status cpu_vector_write(ts_vector *v, const float *texels);
ts_status cpu_vector_read(const ts_vector *v, float *texels);

ts_status cpu_scalars_create(ts_scalars *s);
void cpu_scalars_destroy(ts_scalars *s);
ts_status cpu_scalars_write(ts_scalars *s, int first, int count, const float *values);
ts_status cpu_scalars_normalise(ts_scalars *s, int from, int to);
ts_status cpu_scalars_read_begin(ts_scalars *s, int first, int count);
ts_status cpu_scalars_read_end(ts_scalars *s, float *values);
/* A coefficient in every lane. */
void cpu_coefficient(ts_coefficient c, int components, float lanes[CPU_LANES]);
/* Where a reduction puts its result. */
float *cpu_slot(ts_scalars *s, int index);

ts_status cpu_fill(ts_vector *y, float value);
ts_status cpu_axpby(ts_vector *out, ts_coefficient a, const ts_vector *x, ts_coefficient b, const ts_vector *y);
ts_status cpu_multiply(ts_vector *out, const ts_vector *x, const ts_vector *y);
ts_status cpu_reciprocal(ts_vector *out, const ts_vector *x);
ts_status cpu_free_rows(ts_vector *out, const ts_vector *x);
ts_status cpu_axpy2(ts_vector *x, ts_coefficient a, const ts_vector *d, ts_vector *r, ts_coefficient b,
                    const ts_vector *q);
ts_status cpu_multiply_add(ts_vector *out, const ts_vector *w, const ts_vector *x, ts_coefficient b,
                           const ts_vector *y);

/* Makes room for the partial sums of vectors of `count` floats, so that reductions need no memory. */
ts_status cpu_reserve_partials(ts_context *context, size_t count);
ts_status cpu_reduce(ts_scalars *out, int index, tsi_reduction kind, const ts_vector *x, const ts_vector *y);
ts_status cpu_dot3(ts_scalars *out, int index, const ts_vector *x, const ts_vector *y, const ts_vector *w);

ts_status cpu_matrix_create(ts_matrix *A, const tsi_packed *packed);
ts_status cpu_matrix_write(ts_matrix *A, const tsi_packed *packed);
void cpu_matrix_destroy(ts_matrix *A);
ts_status cpu_diagonal(ts_vector *d, const ts_matrix *A);
ts_status cpu_spmv(ts_vector *y, const ts_matrix *A, const ts_vector *x);
ts_status cpu_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x);
/* The same for blocks. */
ts_status cpu_bcrs_spmv(ts_vector *y, const ts_matrix *A, const ts_vector *x);
ts_status cpu_bcrs_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x);
ts_status cpu_bcrs_diagonal(ts_vector *d, const ts_matrix *A);

ts_status cpu_mesh_create(tsi_mesh_operator *op, const tsi_mesh_packed *packed);
void cpu_mesh_destroy(tsi_mesh_operator *op);
ts_status cpu_mesh_assemble(tsi_mesh_operator *op, const ts_vector *x, float scale, float factor,
                            float shortest);
ts_status cpu_mesh_force(ts_vector *g, const tsi_mesh_operator *op, const ts_vector *x, float scale);

ts_status cpu_fluid_advect(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                           const ts_vector *faces, float dt);
ts_status cpu_fluid_correct(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                            const ts_vector *faces, const ts_vector *carried, float dt);
ts_status cpu_fluid_vorticity(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                              const ts_vector *walls);
ts_status cpu_fluid_forces(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                           const ts_vector *faces, const ts_vector *dye, const ts_vector *vorticity,
                           const tsi_fluid_forces *forces);
ts_status cpu_fluid_stamp_velocity(const tsi_fluid_domain *domain, ts_vector *velocity, const ts_vector *faces,
                                   const tsi_fluid_stamp *stamp);
ts_status cpu_fluid_stamp_dye(const tsi_fluid_domain *domain, ts_vector *dye, const tsi_fluid_stamp *stamp);
ts_status cpu_fluid_boundary(const tsi_fluid_domain *domain, ts_vector *velocity, const ts_vector *faces);
ts_status cpu_fluid_divergence(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                               const ts_vector *walls, const ts_vector *drain, float scale);
ts_status cpu_fluid_project(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                            const ts_vector *faces, const ts_vector *pressure, float dt);
ts_status cpu_fluid_split(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                          int component);
ts_status cpu_fluid_merge(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *u,
                          const ts_vector *v);
ts_status cpu_fluid_transport(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *dye,
                              const ts_vector *velocity, const ts_vector *walls, const ts_vector *carried,
                              const tsi_fluid_transport *transport);
ts_status cpu_fluid_particles(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *particles,
                              const ts_vector *velocity, const ts_vector *walls,
                              const tsi_fluid_particles *step);
ts_status cpu_fluid_speed(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                          const ts_vector *walls);

#endif
