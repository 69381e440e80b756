/* A thread that solves, with a context of its own, so that a window stays quick meanwhile. */
#ifndef WORKER_H
#define WORKER_H

#include "flat_source.h"

enum { WORKER_CURVE = 256, WORKER_NAME = 120 };

typedef struct worker worker;

typedef enum worker_state { WORKER_IDLE, WORKER_BUSY, WORKER_DONE } worker_state;

/* How far it is: of the job that runs, or of the last one. */
typedef struct worker_progress {
  int iterations;
  int count; /* of the curve: log10 of the residual's fall in each pass, thinned out as it grows */
  float curve[WORKER_CURVE];
  char backend[40], device[WORKER_NAME]; /* "" before the first job has opened one */
  unsigned formats;                      /* that it stores, as ts_context_info has them */
} worker_progress;

/* What a job came to. `failed`: `message` says why, and there is no solution. */
typedef struct worker_result {
  int failed;
  char message[MESH_MESSAGE];
  conformal_result solved;
} worker_result;

/* An OpenGL context that shares objects with the one that draws: `enter` makes it current on the thread, which
 * works in it where the backend is OpenGL's; `leave` is called before the thread ends. `enter` NULL: there is
 * none, and the thread opens its own. */
typedef struct worker_sharing {
  void (*enter)(void *user), (*leave)(void *user);
  void *user;
} worker_sharing;

/* Returns NULL, or why it failed. */
const char *worker_create(const worker_sharing *sharing, worker **made);
void worker_destroy(worker **made); /* stops what runs */

/* Solves for what `f` has: its mesh and charts must stay as they are until the job is taken or stopped; pins
 * and places are copied. Only when idle. Returns NULL, or why it failed. */
const char *worker_start(worker *w, const flattening *f, const ts_context_desc *device,
                         const conformal_options *options);
worker_state worker_look(worker *w, worker_progress *progress);
/* When done: u, v of every flat vertex into `solved`, unless it failed; idle afterwards. */
void worker_read_result(worker *w, double *solved, worker_result *result);
/* Where what was taken last is on the device, until the next start or stop; NULL where it is not. */
const flat_source *worker_source(const worker *w);
/* Ends what runs as soon as the device lets it; what it has found is lost. Idle afterwards. */
void worker_stop(worker *w);

#endif
