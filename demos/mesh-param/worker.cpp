#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

extern "C" {
#include "worker.h"
}

struct worker {
  std::mutex lock;
  std::condition_variable changed;
  /* Protected by the lock. */
  worker_state state = WORKER_IDLE;
  bool stop = false, quit = false;
  worker_progress progress{};
  int thinning = 1, skipped = 0; /* thinning: the curve has one of this many iterations */
  worker_result result{};
  /* Used by the thread while it is busy, otherwise by the caller. */
  const flattening *f = nullptr;
  std::vector<double> uv;
  std::vector<unsigned char> pinned;
  conformal_options options{};
  std::string backend;
  ts_context_desc device{};
  flat_source source{}; /* of the last solution */
  /* Used by the thread only. */
  worker_sharing sharing;
  int shares = 0; /* 1 if its context is the one of `sharing` */
  ts_context *context = nullptr;
  std::string opened; /* the requested backend of the open context */
  std::thread thread;

  explicit worker(const worker_sharing &s) : sharing(s) {}
};

using guard = std::unique_lock<std::mutex>;

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
  p->curve[p->count++] = (float)std::log10(std::fmax(value, 1e-12));
}

static int on_progress(const ts_progress *progress, void *user) {
  worker *w = (worker *)user;
  const guard locked(w->lock);
  w->progress.iterations += progress->count;
  for (int k = 0; k < progress->count; k++) add_to_curve(w, progress->history[k]);
  return w->stop;
}

static int open_context(worker *w, char message[MESH_MESSAGE]) {
  ts_context_info info;
  if (w->context && w->opened == w->backend) return 0;
  ts_context_destroy(&w->context);
  ts_context_desc desc = w->device;
  desc.backend = w->backend.empty() ? nullptr : w->backend.c_str();
  /* With a device number the context cannot be the shared one, because the shared context chose its device
   * itself. */
  const std::string ours[] = {"", "auto", "gl", "check:gl"};
  w->shares = w->sharing.enter && std::find(ours, ours + 4, w->backend) != ours + 4;
  ts_gl_desc gl{};
  gl.platform = w->shares ? TS_GL_PLATFORM_CURRENT : TS_GL_PLATFORM_AUTO;
  desc.gl = &gl;
  if (ts_context_create(&desc, &w->context) != TS_OK || ts_context_get_info(w->context, &info) != TS_OK) {
    mesh_fail(message, "%s", ts_last_error(w->context));
    ts_context_destroy(&w->context);
    return 1;
  }
  w->opened = w->backend;
  const guard locked(w->lock);
  snprintf(w->progress.backend, sizeof w->progress.backend, "%s", info.backend);
  snprintf(w->progress.device, sizeof w->progress.device, "%s", info.device);
  w->progress.formats = info.formats;
  return 0;
}

static void solve(worker *w) {
  worker_result result{};
  conformal_options options = w->options;
  flattening_places places{};
  options.progress = on_progress;
  options.progress_user = w;
  flat_source_close(&w->source); /* call before its context is destroyed */
  result.failed =
      open_context(w, result.message) || flattening_find(w->f, w->context, w->pinned.data(), &options,
                                                         w->uv.data(), &places, &result.solved, result.message);
  if (!result.failed) {
    const char *why = flat_source_open(&w->source, w->f, w->context, w->shares, &places);
    if (why) result.failed = mesh_fail(result.message, "%s", why);
  }
  flattening_places_free(&places);
  const guard locked(w->lock);
  w->result = result;
  w->state = WORKER_DONE;
  w->changed.notify_all();
}

static void solve_jobs(worker *w) {
  if (w->sharing.enter) w->sharing.enter(w->sharing.user);
  for (guard locked(w->lock); !w->quit;) {
    w->changed.wait(locked, [w] { return w->quit || w->state == WORKER_BUSY; });
    if (w->quit) break;
    locked.unlock();
    solve(w);
    locked.lock();
  }
  flat_source_close(&w->source);
  ts_context_destroy(&w->context);
  if (w->sharing.leave) w->sharing.leave(w->sharing.user);
}

/* ---- The caller's side ---- */

const char *worker_create(const worker_sharing *sharing, worker **made) {
  worker *w = *made = new (std::nothrow) worker(*sharing);
  if (!w) return "out of memory";
  try {
    w->thread = std::thread(solve_jobs, w);
    return nullptr;
  } catch (const std::system_error &) {
    delete w;
    *made = nullptr;
    return "cannot start a thread";
  }
}

void worker_destroy(worker **made) {
  worker *w = *made;
  if (!w) return;
  worker_stop(w);
  {
    const guard locked(w->lock);
    w->quit = true;
    w->changed.notify_all();
  }
  w->thread.join();
  delete w;
  *made = nullptr;
}

const char *worker_start(worker *w, const flattening *f, const ts_context_desc *device,
                         const conformal_options *options) {
  const size_t vertices = (size_t)f->c.vertices;
  try {
    w->uv.assign(f->solved, f->solved + 2 * vertices);
    w->pinned.assign(f->pinned, f->pinned + vertices);
    w->backend = device->backend ? device->backend : "";
  } catch (const std::bad_alloc &) {
    return "out of memory";
  }
  w->f = f;
  w->device = *device;
  w->options = *options;
  const guard locked(w->lock);
  w->stop = false;
  w->thinning = 1;
  w->skipped = 0;
  w->progress.iterations = w->progress.count = 0;
  w->state = WORKER_BUSY;
  w->changed.notify_all();
  return nullptr;
}

worker_state worker_look(worker *w, worker_progress *progress) {
  const guard locked(w->lock);
  *progress = w->progress;
  return w->state;
}

void worker_read_result(worker *w, double *solved, worker_result *result) {
  const guard locked(w->lock);
  *result = w->result;
  w->state = WORKER_IDLE;
  if (!result->failed) std::copy(w->uv.begin(), w->uv.end(), solved);
}

const flat_source *worker_source(const worker *w) {
  return w->source.where ? &w->source : nullptr;
}

void worker_stop(worker *w) {
  guard locked(w->lock);
  w->stop = true;
  w->changed.wait(locked, [w] { return w->state != WORKER_BUSY; });
  w->state = WORKER_IDLE;
}
