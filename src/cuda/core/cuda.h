/* The CUDA backend: vectors and matrices in the memory of one device, every operation asked for on one stream.
 *
 * A space is linear: element c of index i of a vector is data[i * components + c]; vectors are aligned for
 * loads of 16 bytes, and what is behind their last element up to a multiple of 16 bytes is 0. Operations start
 * kernels and return; they wait for the device only where backend.h says so.
 *
 * This header is C: cuda_backend.c and files without kernels include it as it is, files with kernels through
 * cuda_kernels.cuh.
 */
#ifndef CUDA_BACKEND_H
#define CUDA_BACKEND_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "common/core/core.h"
#include "common/layout/layout.h"

typedef struct cuda_shared cuda_shared; /* cuda_gl.c: a vector that OpenGL draws */

typedef struct cuda_state {
  int device;
  int application_device; /* which was current before the library was entered */
  int multiprocessors;
  int threads, registers; /* of a multiprocessor */
  int cooperative;        /* kernels whose blocks can wait for each other */
  int overlap;            /* kernels may begin before the one before has ended (cuda_start) */
  int pools;              /* memory is taken and given back in stream order */
  size_t l2_bytes;
  cudaStream_t stream, own_stream; /* the same, unless the application gave one */
  void *partials;                  /* what the blocks of a reduction hand to the last one */
  unsigned *arrivals;              /* counters of blocks, 0 between operations */
  cuda_shared *shared;
  int lent; /* how many of them OpenGL has now */
} cuda_state;

enum {
  CUDA_MAX_BLOCKS = 4096, /* of a reduction: room in partials */
  CUDA_ARRIVALS = 64
};

typedef struct cuda_vector {
  float *data;
  size_t count, bytes;
  int borrowed;        /* the application's memory */
  cuda_shared *shared; /* in an OpenGL buffer, or NULL */
} cuda_vector;

typedef struct cuda_space {
  unsigned char *locked; /* a flag for every index */
  size_t bytes;
} cuda_space;

typedef struct cuda_scalars {
  float *values;   /* on the device, four a slot */
  float *snapshot; /* pinned: what scalars_read_begin asked for */
  int snapshot_slots;
  cudaEvent_t copied;
} cuda_scalars;

static inline cuda_state *cuda_state_of(const ts_context *context) {
  return (cuda_state *)context->backend;
}
static inline cudaStream_t cuda_stream(const ts_context *context) {
  return cuda_state_of(context)->stream;
}
static inline cuda_vector *cuda_vector_of(const ts_vector *v) {
  return (cuda_vector *)v->impl;
}
static inline float *cuda_data(const ts_vector *v) {
  return cuda_vector_of(v)->data;
}
static inline size_t cuda_count(const ts_vector *v) {
  return cuda_vector_of(v)->count;
}

/* ---- cuda_overlap.cu ---- */

/* Sets `overlap`. */
ts_status cuda_find_overlap(ts_context *context);

/* ---- cuda_error.c ---- */

/* Turns an error of the runtime into a status whose message names the call and its place. */
ts_status cuda_report(ts_context *context, cudaError_t error, const char *call, const char *file, int line);

#define CUDA_TRY(context, call)                                                                                \
  do {                                                                                                         \
    const cudaError_t cuda_error_ = (call);                                                                    \
    if (cuda_error_ != cudaSuccess) return cuda_report((context), cuda_error_, #call, __FILE__, __LINE__);     \
  } while (0)

/* After a kernel was started: KERNEL<<<...>>>(...); CUDA_LAUNCHED(context, "KERNEL"). */
#define CUDA_LAUNCHED(context, kernel)                                                                         \
  do {                                                                                                         \
    const cudaError_t cuda_error_ = cudaGetLastError();                                                        \
    if (cuda_error_ != cudaSuccess) return cuda_report((context), cuda_error_, (kernel), __FILE__, __LINE__);  \
  } while (0)

/* ---- cuda_memory.c ---- */

/* Device memory, accounted; its contents are undefined. `what` is for the message: "a vector". */
ts_status cuda_take(ts_context *context, void **block, size_t bytes, const char *what);
/* The same, all 0. */
ts_status cuda_take_zeroed(ts_context *context, void **block, size_t bytes, const char *what);
/* Accepts NULL. In stream order: operations that were asked for before still find it. */
void cuda_give(ts_context *context, void *block, size_t bytes);
/* Copies between host and device in stream order. An upload has read `from` when it returns, and small ones do
 * not wait for the device unless `from` is pinned memory; a download does. */
ts_status cuda_upload(ts_context *context, void *to, const void *from, size_t bytes);
ts_status cuda_download(ts_context *context, void *to, const void *from, size_t bytes);
/* cuda_take and cuda_upload of an array of host memory. */
ts_status cuda_take_copy(ts_context *context, void **block, const void *from, size_t bytes, const char *what);

/* ---- cuda_gl.c: vectors in OpenGL buffers ---- */

/* All that OpenGL has is CUDA's again, behind what was drawn until now. */
ts_status cuda_gl_take_back(ts_context *context);
void cuda_gl_destroy(ts_context *context, cuda_vector *impl);

/* ---- cuda_backend.c ---- */

/* The device is current on this thread until cuda_leave, which puts the application's back. */
ts_status cuda_make_current(ts_context *context);
void cuda_leave(ts_context *context);

/* ---- The operations, as in backend.h ---- */

ts_status cuda_vector_create(ts_vector *v);
void cuda_vector_destroy(ts_vector *v);
ts_status cuda_vector_write(ts_vector *v, const float *texels);
ts_status cuda_vector_read(const ts_vector *v, float *texels);
ts_status cuda_fill(ts_vector *y, float value);
ts_status cuda_axpby(ts_vector *out, ts_coefficient a, const ts_vector *x, ts_coefficient b,
                     const ts_vector *y);
ts_status cuda_multiply(ts_vector *out, const ts_vector *x, const ts_vector *y);
ts_status cuda_reciprocal(ts_vector *out, const ts_vector *x);
ts_status cuda_free_rows(ts_vector *out, const ts_vector *x);
/* The flags of locked rows on the device, NULL where no row is locked. */
ts_status cuda_locked(ts_space *space, const unsigned char **flags);
void cuda_space_destroy(ts_space *space);

ts_status cuda_reduce(ts_scalars *out, int index, tsi_reduction kind, const ts_vector *x, const ts_vector *y);
ts_status cuda_dot3(ts_scalars *out, int index, const ts_vector *x, const ts_vector *y, const ts_vector *w);
ts_status cuda_dots(ts_scalars *out, const tsi_dot *sums, int count);

ts_status cuda_axpy2(ts_vector *x, ts_coefficient a, const ts_vector *d, ts_vector *r, ts_coefficient b,
                     const ts_vector *q);
ts_status cuda_axpy2_dot(ts_vector *x, ts_coefficient a, const ts_vector *d, ts_vector *r, ts_coefficient b,
                         const ts_vector *q, const ts_vector *w, ts_scalars *out, int index);
ts_status cuda_multiply_add(ts_vector *out, const ts_vector *w, const ts_vector *x, ts_coefficient b,
                            const ts_vector *y);
ts_status cuda_cg_update(const tsi_cg_update *update);
int cuda_cg_fits(const ts_matrix *A);
ts_status cuda_cg_iterate(const tsi_cg_iterations *run);

ts_status cuda_scalars_create(ts_scalars *s);
void cuda_scalars_destroy(ts_scalars *s);
ts_status cuda_scalars_write(ts_scalars *s, int first, int count, const float *values);
ts_status cuda_scalars_read_begin(ts_scalars *s, int first, int count);
ts_status cuda_scalars_read_end(ts_scalars *s, float *values);
ts_status cuda_scalars_normalise(ts_scalars *s, int from, int to);

ts_status cuda_matrix_create(ts_matrix *A, const tsi_packed *packed);
ts_status cuda_matrix_write(ts_matrix *A, const tsi_packed *packed);
void cuda_matrix_destroy(ts_matrix *A);
ts_status cuda_spmv(ts_vector *y, const ts_matrix *A, const ts_vector *x);
ts_status cuda_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x);
ts_status cuda_diagonal(ts_vector *d, const ts_matrix *A);

ts_status cuda_mesh_create(tsi_mesh_operator *op, const tsi_mesh_packed *packed);
void cuda_mesh_destroy(tsi_mesh_operator *op);
ts_status cuda_mesh_assemble(tsi_mesh_operator *op, const ts_vector *x, float scale, float factor,
                             float shortest);
ts_status cuda_mesh_force(ts_vector *g, const tsi_mesh_operator *op, const ts_vector *x, float scale);

/* ---- Fluids ---- */

ts_status cuda_fluid_advect(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                            const ts_vector *faces, float dt);
ts_status cuda_fluid_correct(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                             const ts_vector *faces, const ts_vector *carried, float dt);
ts_status cuda_fluid_vorticity(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                               const ts_vector *walls);
ts_status cuda_fluid_forces(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                            const ts_vector *faces, const ts_vector *dye, const ts_vector *vorticity,
                            const tsi_fluid_forces *forces);
ts_status cuda_fluid_stamp_velocity(const tsi_fluid_domain *domain, ts_vector *velocity, const ts_vector *faces,
                                    const tsi_fluid_stamp *stamp);
ts_status cuda_fluid_stamp_dye(const tsi_fluid_domain *domain, ts_vector *dye, const tsi_fluid_stamp *stamp);
ts_status cuda_fluid_boundary(const tsi_fluid_domain *domain, ts_vector *velocity, const ts_vector *faces);
ts_status cuda_fluid_divergence(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                                const ts_vector *walls, const ts_vector *drain, float scale);
ts_status cuda_fluid_project(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                             const ts_vector *faces, const ts_vector *pressure, float dt);
ts_status cuda_fluid_split(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                           int component);
ts_status cuda_fluid_merge(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *u,
                           const ts_vector *v);
ts_status cuda_fluid_transport(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *dye,
                               const ts_vector *velocity, const ts_vector *walls, const ts_vector *carried,
                               const tsi_fluid_transport *step);
ts_status cuda_fluid_particles(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *particles,
                               const ts_vector *velocity, const ts_vector *walls,
                               const tsi_fluid_particles *step);
ts_status cuda_fluid_speed(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                           const ts_vector *walls);

#ifdef __cplusplus
}
#endif

#endif
