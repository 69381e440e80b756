/* A thread that solves in its own context, so that a window stays responsive. */
#ifndef WORKER_H
#define WORKER_H

#include "flat_source.h"

enum { WORKER_CURVE = 256, WORKER_NAME = 120 };

typedef struct worker worker;

typedef enum worker_state { WORKER_IDLE, WORKER_BUSY, WORKER_DONE } worker_state;

/* Progress of the current job, or the last one. */
typedef struct worker_progress {
  int iterations;
  int count; /* entries of the curve: log10 of the residual reduction in each pass; thinned out as it grows */
  float curve[WORKER_CURVE];
  char backend[40], device[WORKER_NAME]; /* "" until the first job opens a context */
  unsigned formats;                      /* supported formats, as in ts_context_info */
} worker_progress;

/* Outcome of a job. If `failed`, `message` has the reason, and there is no solution. */
typedef struct worker_result {
  int failed;
  char message[MESH_MESSAGE];
  conformal_result solved;
} worker_result;

/* An OpenGL context that shares objects with the drawing context. `enter` makes it current on the thread, which
 * uses it if the backend is OpenGL. `leave` is called before the thread ends. If `enter` is NULL the thread
 * opens its own context. */
typedef struct worker_sharing {
  void (*enter)(void *user), (*leave)(void *user);
  void *user;
} worker_sharing;

/* Returns NULL, or the reason of a failure. */
const char *worker_create(const worker_sharing *sharing, worker **made);
void worker_destroy(worker **made); /* stops a running job */

/* Starts a solve of `f`. The mesh and charts must not change before worker_read_result or worker_stop; pins and
 * positions are copied. Call it only when idle. Returns NULL, or the reason of a failure. */
const char *worker_start(worker *w, const flattening *f, const ts_context_desc *device,
                         const conformal_options *options);
worker_state worker_look(worker *w, worker_progress *progress);
/* Call when done. Copies u, v of all flat vertices to `solved`, unless the job failed. The worker is idle
 * afterwards. */
void worker_read_result(worker *w, double *solved, worker_result *result);
/* The last solution on the device, valid until the next start or stop; NULL if it is not available there. */
const flat_source *worker_source(const worker *w);
/* Stops the job as soon as the device permits, and discards its results. The worker is idle afterwards. */
void worker_stop(worker *w);

#endif
