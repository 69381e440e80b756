/* The CUDA backend: vectors and matrices in the memory of one device. Every operation is enqueued on one
 * stream.
 *
 * A space is linear: component c of index i of a vector is data[i * components + c]. Vectors are aligned for
 * 16-byte loads, and zeros pad their last element to a multiple of 16 bytes. Operations launch kernels and
 * return. They wait for the device only where backend.h documents it.
 *
 * This header is C. cuda_backend.c and files without kernels include it directly, files with kernels through
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

/* The occupancy of a kernel: the number of its blocks that fit on a multiprocessor, from the driver. */
typedef struct cuda_occupancy {
  const void *kernel; /* NULL: unused */
  unsigned threads;   /* per block */
  unsigned blocks;    /* at least 1 */
} cuda_occupancy;
enum { CUDA_OCCUPANCIES = 64 };

enum { CUDA_SPARE_LOCKED = 8 };

typedef struct cuda_state {
  int device;
  int application_device; /* the current device before the library was entered */
  int multiprocessors;
  int cooperative;      /* cooperative launches: the blocks of a kernel can wait for each other */
  int dependent_launch; /* kernels may start before the previous one has ended (cuda_start) */
  int pools;            /* memory is allocated and freed in stream order */
  size_t l2_bytes;
  cudaStream_t stream, own_stream; /* equal unless the application has set a stream */
  void *partials;                  /* partial sums that the blocks of a reduction pass to the last one */
  unsigned *tickets;               /* counters that find the last block, 0 between operations */
  cuda_occupancy occupancies[CUDA_OCCUPANCIES]; /* cuda_blocks_of */
  uint64_t kernels_spare_cache;                 /* bit k: cuda_spare_cache was called for kernel k */
  cuda_shared *shared;
  int lent;              /* how many of the shared vectors OpenGL holds now */
  cudaEvent_t reached;   /* recorded when other parts wait for the stream (cuda_part.cu) */
  cudaEvent_t marked;    /* recorded when the host waits for it */
  cudaStream_t beside;   /* for ghosts that arrive while the stream is busy; NULL until needed */
  cudaEvent_t come;      /* their arrival */
  cuda_channel *channel; /* NULL: none */
  cuda_staging *staging; /* NULL before the first large upload */
  void *spare_locked[CUDA_SPARE_LOCKED]; /* page-locked blocks, or NULL: allocating one takes a millisecond */

  struct cuda_vector *mirrors; /* vectors that mirror doubles of the application; NULL: none */
} cuda_state;

enum {
  CUDA_MAX_BLOCKS = 4096, /* of a reduction: the size of `partials` */
  CUDA_TICKETS = 64
};

typedef struct cuda_vector {
  float *data;
  size_t count, bytes;
  int borrowed;        /* the application's memory */
  cuda_shared *shared; /* in an OpenGL buffer, or NULL */
  /* Only in the first part of a vector that mirrors doubles of the application: these doubles, the vector, and
   * the next such vector. */
  double *mirrored;
  const ts_vector *mirror;
  struct cuda_vector *next_mirror;
} cuda_vector;

typedef struct cuda_space {
  unsigned char *constrained; /* a flag per index */
  size_t bytes;
} cuda_space;

typedef struct cuda_scalars {
  float *values;   /* on the device, four per slot */
  float *snapshot; /* page-locked: the slots that scalars_read_begin copies */
  int snapshot_slots;
  cudaEvent_t copied;
  unsigned long exchanges; /* begun before the copy */
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

/* Converts an error of the runtime to a status. The message names the call and its source line. */
ts_status cuda_report(ts_context *context, cudaError_t error, const char *call, const char *file, int line);

#define CUDA_TRY(context, call)                                                                                \
  do {                                                                                                         \
    const cudaError_t cuda_error_ = (call);                                                                    \
    if (cuda_error_ != cudaSuccess) return cuda_report((context), cuda_error_, #call, __FILE__, __LINE__);     \
  } while (0)

/* ---- cuda_backend.c ---- */

/* The number of blocks of a kernel that a multiprocessor holds at once. The driver is asked once per kernel and
 * number of threads. */
ts_status cuda_blocks_of(ts_context *context, const void *kernel, unsigned threads, unsigned *blocks);

/* ---- cuda_memory.c ---- */

/* Allocates device memory and accounts for it; its contents are undefined. `what` is for messages: "a
 * vector". */
ts_status cuda_alloc(ts_context *context, void **block, size_t bytes, const char *what);
/* Allocates memory filled with zeros. */
ts_status cuda_alloc_zeroed(ts_context *context, void **block, size_t bytes, const char *what);
/* Accepts NULL. Frees in stream order: operations that were enqueued before may still use the memory. */
void cuda_free(ts_context *context, void *block, size_t bytes);
/* Page-locked host memory. Small blocks are kept for later when they are freed; nothing may still use them. */
ts_status cuda_locked_alloc(ts_context *context, void **block, size_t bytes);
void cuda_locked_free(ts_context *context, void *block, size_t bytes);
void cuda_locked_destroy(ts_context *context);
/* Copies between host and device in stream order. An upload has read `from` when it returns; small uploads do
 * not wait for the device unless `from` is page-locked memory. A download waits. */
ts_status cuda_upload(ts_context *context, void *to, const void *from, size_t bytes);
ts_status cuda_download(ts_context *context, void *to, const void *from, size_t bytes);
/* cuda_staging.c: uploads a large array from pageable memory with several threads, for cuda_upload. `done` is 0
 * if that is not worthwhile. */
ts_status cuda_stage(ts_context *context, void *to, const void *from, size_t bytes, int *done);
void cuda_staging_destroy(ts_context *context);
/* cuda_alloc, then cuda_upload of an array in host memory. */
ts_status cuda_alloc_copy(ts_context *context, void **block, const void *from, size_t bytes, const char *what);

/* ---- cuda_nccl.c ---- */

/* Waits for the messages of other ranks that the stream waits for. Called before the host waits for the stream.
 * Fails if another rank has failed or is gone. Usually returns at once. */
ts_status cuda_wait_for_messages(ts_context *context);
/* The number of exchanges begun so far, and a wait for the first `count` of them only. */
unsigned long cuda_exchanges(const ts_context *context);
ts_status cuda_wait_for_exchanges(ts_context *context, unsigned long count);

/* ---- cuda_interop.c ---- */

/* Fails unless the context's objects belong to one CUDA device. */
ts_status cuda_require(ts_context *context, const char *function);

/* ---- cuda_gl.c: vectors in OpenGL buffers ---- */

/* Returns all lent vectors from OpenGL to CUDA, ordered after the drawing so far. */
ts_status cuda_gl_remap(ts_context *context);
void cuda_gl_destroy(ts_context *context, cuda_vector *impl);

/* ---- cuda_backend.c ---- */

/* Makes the device current on this thread. cuda_leave restores the application's device. */
ts_status cuda_make_current(ts_context *context);

/* ---- The operations, as in backend.h ---- */
TSI_CORE_OPERATIONS(TSI_PROTOTYPE, TSI_PROTOTYPE, TSI_PROTOTYPE, cuda_)
extern const tsi_cg_ops cuda_cg_ops;
extern const tsi_batch_ops cuda_batch_ops;
extern const tsi_grid_ops cuda_grid_ops;
extern const tsi_mesh_ops cuda_mesh_ops;
extern const tsi_amg_ops cuda_amg_ops;
extern const tsi_amg_part_ops cuda_amg_part_ops;
extern const tsi_ilu_ops cuda_ilu_ops;
extern const tsi_fluid_ops cuda_fluid_ops;
extern const tsi_lcp_ops cuda_lcp_ops;
extern const tsi_part_ops cuda_part_ops;
extern const tsi_array_ops cuda_array_ops;

/* ---- cuda_mirror.cu: doubles of the application and the vectors that mirror them ---- */
ts_status cuda_mirrors_split(ts_context *context);
void cuda_mirrors_join(ts_context *context);
void cuda_mirror_forget(ts_context *context, cuda_vector *impl);

/* cuda_interior.c: implements tsi_part_ops.has_interior. */
int cuda_matrix_has_interior(const ts_matrix *A);

/* The flags of constrained rows on the device, NULL if no row is constrained. */
ts_status cuda_constrained(ts_space *space, const unsigned char **flags);

#ifdef __cplusplus
}
#endif

#endif
