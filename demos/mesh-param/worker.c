#include "worker.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

struct worker {
  thrd_t thread;
  mtx_t lock;
  cnd_t changed;
  /* Under the lock. */
  worker_state state;
  int stop, quit;
  worker_progress progress;
  int thinning, skipped; /* every so many iterations are in the curve */
  worker_result result;
  /* The thread's while it is busy, else the caller's. */
  const flattening *f;
  double *uv;
  unsigned char *pinned;
  conformal_options options;
  char backend[40];
  ts_context_desc device;
  flat_source source; /* of the last solution */
  /* The thread's own. */
  worker_sharing sharing;
  int shares; /* its context is the one of `sharing` */
  ts_context *context;
  char opened[40]; /* the backend that was asked for when the context was opened */
};

/* ---- The thread ---- */

static void add_to_curve(worker *w, double value) {
  worker_progress *p = &w->progress;
  if (++w->skipped < w->thinning) return;
  w->skipped = 0;
  if (p->count == WORKER_CURVE) {
    for (int i = 0; i < WORKER_CURVE / 2; i++) p->curve[i] = p->curve[2 * i + 1];
    p->count = WORKER_CURVE / 2;
    w->thinning *= 2;
  }
  p->curve[p->count++] = (float)log10(fmax(value, 1e-12));
}

static int on_progress(int iteration, const double *history, int count, void *user) {
  worker *w = user;
  (void)iteration;
  mtx_lock(&w->lock);
  w->progress.iterations += count;
  for (int k = 0; k < count; k++) add_to_curve(w, history[k]);
  const int stop = w->stop;
  mtx_unlock(&w->lock);
  return stop;
}

/* Which device of several is the context's own choice. */
static int can_share(const worker *w) {
  static const char *const backends[] = {"", "auto", "gl", "check:gl"};
  for (size_t k = 0; k < sizeof backends / sizeof backends[0]; k++)
    if (strcmp(w->backend, backends[k]) == 0) return w->sharing.enter != NULL;
  return 0;
}

static int open_context(worker *w, char message[MESH_MESSAGE]) {
  ts_context_info info;
  if (w->context && strcmp(w->opened, w->backend) == 0) return 0;
  ts_context_destroy(&w->context);
  ts_context_desc desc = w->device;
  desc.backend = w->backend[0] ? w->backend : NULL;
  w->shares = can_share(w);
  const ts_gl_desc gl = {.platform = w->shares ? TS_GL_PLATFORM_CURRENT : TS_GL_PLATFORM_DEFAULT};
  desc.gl = &gl;
  if (ts_context_create(&desc, &w->context) != TS_OK || ts_context_get_info(w->context, &info) != TS_OK) {
    mesh_fail(message, "%s", ts_last_error(w->context));
    ts_context_destroy(&w->context);
    return 1;
  }
  snprintf(w->opened, sizeof w->opened, "%s", w->backend);
  mtx_lock(&w->lock);
  snprintf(w->progress.backend, sizeof w->progress.backend, "%s", info.backend);
  snprintf(w->progress.device, sizeof w->progress.device, "%s", info.device);
  mtx_unlock(&w->lock);
  return 0;
}

static void solve(worker *w) {
  worker_result result = {0};
  conformal_options options = w->options;
  flattening_places places = {0};
  options.progress = on_progress;
  options.progress_user = w;
  flat_source_close(&w->source); /* before its context may go */
  result.failed =
      open_context(w, result.message) ||
      flattening_find(w->f, w->context, w->pinned, &options, w->uv, &places, &result.solved, result.message);
  if (!result.failed) {
    const char *why = flat_source_open(&w->source, w->f, w->context, w->shares, &places);
    if (why) result.failed = mesh_fail(result.message, "%s", why);
  }
  flattening_places_free(&places);
  mtx_lock(&w->lock);
  w->result = result;
  w->state = WORKER_DONE;
  cnd_broadcast(&w->changed);
  mtx_unlock(&w->lock);
}

static int run(void *user) {
  worker *w = user;
  if (w->sharing.enter) w->sharing.enter(w->sharing.user);
  mtx_lock(&w->lock);
  while (!w->quit) {
    if (w->state != WORKER_BUSY) {
      cnd_wait(&w->changed, &w->lock);
      continue;
    }
    mtx_unlock(&w->lock);
    solve(w);
    mtx_lock(&w->lock);
  }
  mtx_unlock(&w->lock);
  flat_source_close(&w->source);
  ts_context_destroy(&w->context);
  if (w->sharing.leave) w->sharing.leave(w->sharing.user);
  return 0;
}

/* ---- The window's side ---- */

const char *worker_create(const worker_sharing *sharing, worker **made) {
  worker *w = *made = calloc(1, sizeof *w);
  if (!w) return "out of memory";
  w->sharing = *sharing;
  mtx_init(&w->lock, mtx_plain);
  cnd_init(&w->changed);
  if (thrd_create(&w->thread, run, w) == thrd_success) return NULL;
  cnd_destroy(&w->changed);
  mtx_destroy(&w->lock);
  free(w);
  *made = NULL;
  return "no thread can be started";
}

void worker_destroy(worker **made) {
  worker *w = *made;
  if (!w) return;
  worker_stop(w);
  mtx_lock(&w->lock);
  w->quit = 1;
  cnd_broadcast(&w->changed);
  mtx_unlock(&w->lock);
  thrd_join(w->thread, NULL);
  cnd_destroy(&w->changed);
  mtx_destroy(&w->lock);
  free(w->uv);
  free(w->pinned);
  free(w);
  *made = NULL;
}

const char *worker_start(worker *w, const flattening *f, const ts_context_desc *device,
                         const conformal_options *options) {
  const size_t vertices = (size_t)f->c.vertices;
  free(w->uv);
  free(w->pinned);
  w->uv = malloc(2 * vertices * sizeof *w->uv);
  w->pinned = malloc(vertices);
  if (!w->uv || !w->pinned) return "out of memory";
  memcpy(w->uv, f->solved, 2 * vertices * sizeof *w->uv);
  memcpy(w->pinned, f->pinned, vertices);
  w->f = f;
  w->device = *device;
  snprintf(w->backend, sizeof w->backend, "%s", device->backend ? device->backend : "");
  w->options = *options;
  mtx_lock(&w->lock);
  w->stop = 0;
  w->thinning = 1;
  w->skipped = 0;
  w->progress.iterations = w->progress.count = 0;
  w->state = WORKER_BUSY;
  cnd_broadcast(&w->changed);
  mtx_unlock(&w->lock);
  return NULL;
}

worker_state worker_look(worker *w, worker_progress *progress) {
  mtx_lock(&w->lock);
  const worker_state state = w->state;
  *progress = w->progress;
  mtx_unlock(&w->lock);
  return state;
}

void worker_take(worker *w, double *solved, worker_result *result) {
  mtx_lock(&w->lock);
  *result = w->result;
  w->state = WORKER_IDLE;
  mtx_unlock(&w->lock);
  if (!result->failed) memcpy(solved, w->uv, 2 * (size_t)w->f->c.vertices * sizeof *solved);
}

const flat_source *worker_source(const worker *w) {
  return w->source.where ? &w->source : NULL;
}

void worker_stop(worker *w) {
  mtx_lock(&w->lock);
  w->stop = 1;
  while (w->state == WORKER_BUSY) cnd_wait(&w->changed, &w->lock);
  w->state = WORKER_IDLE;
  mtx_unlock(&w->lock);
}
