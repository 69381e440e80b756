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

typedef struct cuda_shared cuda_shared;   /* cuda_gl.c: a vector that OpenGL draws */
typedef struct cuda_channel cuda_channel; /* cuda_nccl.c: messages to and from other ranks */
typedef struct cuda_staging cuda_staging; /* cuda_staging.c: buffers for uploads */

/* How many blocks of a kernel a multiprocessor holds, as the driver says. */
typedef struct cuda_occupancy {
  const void *kernel; /* NULL: none yet */
  unsigned threads;   /* of a block */
  unsigned blocks;    /* at least 1 */
} cuda_occupancy;
enum { CUDA_OCCUPANCIES = 64 };

typedef struct cuda_state {
  int device;
  int application_device; /* which was current before the library was entered */
  int multiprocessors;
  int cooperative;      /* kernels whose blocks can wait for each other */
  int dependent_launch; /* kernels may begin before the one before has ended (cuda_start) */
  int pools;            /* memory is taken and given back in stream order */
  size_t l2_bytes;
  cudaStream_t stream, own_stream;              /* the same, unless the application gave one */
  void *partials;                               /* what the blocks of a reduction hand to the last one */
  unsigned *tickets;                            /* ticket counters of blocks, 0 between operations */
  cuda_occupancy occupancies[CUDA_OCCUPANCIES]; /* cuda_blocks_of */
  uint64_t kernels_spare_cache;                 /* a bit for each kernel: cuda_spare_cache has been called */
  cuda_shared *shared;
  int lent;              /* how many of them OpenGL has now */
  cudaEvent_t reached;   /* by the stream, where other parts wait for it (cuda_part.cu) */
  cudaEvent_t marked;    /* the same, where the host does */
  cudaStream_t beside;   /* for ghosts that come while the stream is busy; NULL before the first */
  cudaEvent_t come;      /* they have */
  cuda_channel *channel; /* NULL: none */
  cuda_staging *staging; /* NULL before the first large upload */

  struct cuda_vector *mirrors; /* vectors beside doubles of the application; NULL: none */
} cuda_state;

enum {
  CUDA_MAX_BLOCKS = 4096, /* of a reduction: room in partials */
  CUDA_TICKETS = 64
};

typedef struct cuda_vector {
  float *data;
  size_t count, bytes;
  int borrowed;        /* the application's memory */
  cuda_shared *shared; /* in an OpenGL buffer, or NULL */
  /* Of the first part of a vector beside doubles of the application: these, the vector, the next such one. */
  double *mirrored;
  const ts_vector *mirror;
  struct cuda_vector *next_mirror;
} cuda_vector;

typedef struct cuda_space {
  unsigned char *constrained; /* a flag for every index */
  size_t bytes;
} cuda_space;

typedef struct cuda_scalars {
  float *values;   /* on the device, four a slot */
  float *snapshot; /* page-locked: what scalars_read_begin asked for */
  int snapshot_slots;
  cudaEvent_t copied;
  unsigned long exchanges; /* that came before the copy */
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

/* ---- cuda_launch.cu ---- */

/* Sets `dependent_launch`. */
ts_status cuda_find_dependent_launch(ts_context *context);

/* ---- cuda_error.c ---- */

/* Turns an error of the runtime into a status whose message names the call and its place. */
ts_status cuda_report(ts_context *context, cudaError_t error, const char *call, const char *file, int line);

#define CUDA_TRY(context, call)                                                                                \
  do {                                                                                                         \
    const cudaError_t cuda_error_ = (call);                                                                    \
    if (cuda_error_ != cudaSuccess) return cuda_report((context), cuda_error_, #call, __FILE__, __LINE__);     \
  } while (0)

/* ---- cuda_backend.c ---- */

/* Blocks of a kernel that a multiprocessor holds at once. The driver is asked once for each kernel and number
 * of threads. */
ts_status cuda_blocks_of(ts_context *context, const void *kernel, unsigned threads, unsigned *blocks);

/* ---- cuda_memory.c ---- */

/* Device memory, accounted; its contents are undefined. `what` is for the message: "a vector". */
ts_status cuda_take(ts_context *context, void **block, size_t bytes, const char *what);
/* The same, all 0. */
ts_status cuda_take_zeroed(ts_context *context, void **block, size_t bytes, const char *what);
/* Accepts NULL. In stream order: operations that were asked for before still find it. */
void cuda_give(ts_context *context, void *block, size_t bytes);
/* Copies between host and device in stream order. An upload has read `from` when it returns, and small ones do
 * not wait for the device unless `from` is page-locked memory; a download does. */
ts_status cuda_upload(ts_context *context, void *to, const void *from, size_t bytes);
ts_status cuda_download(ts_context *context, void *to, const void *from, size_t bytes);
/* cuda_staging.c: an upload of a large array from pageable memory by several threads, for cuda_upload; `done`
 * is 0 if it is not worth that. */
ts_status cuda_stage(ts_context *context, void *to, const void *from, size_t bytes, int *done);
void cuda_staging_destroy(ts_context *context);
/* cuda_take and cuda_upload of an array of host memory. */
ts_status cuda_take_copy(ts_context *context, void **block, const void *from, size_t bytes, const char *what);

/* ---- cuda_nccl.c ---- */

/* Before the host waits for the stream: until messages of other ranks that it waits for have come. Fails where
 * another rank has failed or is gone. Nothing to wait for, as a rule. */
ts_status cuda_wait_for_messages(ts_context *context);
/* The same for what the stream had to do when so many exchanges had been begun. */
unsigned long cuda_exchanges(const ts_context *context);
ts_status cuda_wait_for_exchanges(ts_context *context, unsigned long count);

/* ---- cuda_interop.c ---- */

/* The objects of the context are those of one CUDA device. */
ts_status cuda_require(ts_context *context, const char *function);

/* ---- cuda_gl.c: vectors in OpenGL buffers ---- */

/* All that OpenGL has is CUDA's again, behind what was drawn until now. */
ts_status cuda_gl_take_back(ts_context *context);
void cuda_gl_destroy(ts_context *context, cuda_vector *impl);

/* ---- cuda_backend.c ---- */

/* The device is current on this thread until cuda_leave, which puts the application's back. */
ts_status cuda_make_current(ts_context *context);

/* ---- The operations, as in backend.h ---- */
TSI_CORE_OPERATIONS(TSI_PROTOTYPE, TSI_PROTOTYPE, TSI_PROTOTYPE, cuda_)
extern const tsi_cg_ops cuda_cg_ops;
extern const tsi_grid_ops cuda_grid_ops;
extern const tsi_mesh_ops cuda_mesh_ops;
extern const tsi_amg_ops cuda_amg_ops;
extern const tsi_ilu_ops cuda_ilu_ops;
extern const tsi_fluid_ops cuda_fluid_ops;
extern const tsi_lcp_ops cuda_lcp_ops;
extern const tsi_part_ops cuda_part_ops;
extern const tsi_array_ops cuda_array_ops;

/* ---- cuda_mirror.cu: doubles of the application, and vectors beside them ---- */
ts_status cuda_mirrors_split(ts_context *context);
void cuda_mirrors_join(ts_context *context);
void cuda_mirror_forget(ts_context *context, cuda_vector *impl);

/* cuda_interior.c: as tsi_part_ops.has_interior. */
int cuda_matrix_has_interior(const ts_matrix *A);

/* The flags of constrained rows on the device, NULL where no row is constrained. */
ts_status cuda_constrained(ts_space *space, const unsigned char **flags);

#ifdef __cplusplus
}
#endif

#endif
