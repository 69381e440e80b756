/* Distribution of rows to threads, and their synchronisation. */
#define _GNU_SOURCE 1 /* sched_getcpu in thread.h */
#include "ilu_pipeline.h"

#include <math.h>

#include "common/core/pool.h"

#ifdef TEXSOLVE_HAVE_THREADS
#include "common/core/thread.h"
#endif

enum { entries_for_threads = 20000 }; /* below, waking a thread takes longer than it saves */
enum { spins = 256 };
enum { rows_a_look = 16, most_distance = 16 }; /* rows per look at the clock; maximum segments between trials */

/* Seconds of a segment for one thread and for all: a sleeping thread may have to wait for a core. The other
 * choice must take less than `gain` times the present one to replace it. */
static const double segment_times[2] = {2e-3, 4e-3}, gain = 0.9;

ts_status tsi_ilu_pipeline_init(ts_context *context, int32_t n, int64_t entries, tsi_ilu_pipeline *p) {
  int threads = 1;
  if (entries >= entries_for_threads) TSI_TRY(tsi_threads(context, &threads));
  p->context = context;
  p->n = n;
  p->workers = threads < TSI_ILU_WORKERS ? threads : TSI_ILU_WORKERS;
  tsi_ilu_pipeline_restart(p);
  return TS_OK;
}

void tsi_ilu_pipeline_restart(tsi_ilu_pipeline *p) {
  atomic_init(&p->is_stopped, 0);
  atomic_init(&p->begun, 0);
  atomic_init(&p->complete, 0);
}

/* ---- Rows ---- */

int32_t tsi_ilu_pipeline_next(tsi_ilu_pipeline *p) {
  if (atomic_load_explicit(&p->is_over, memory_order_relaxed)) return -1;
  const int row = atomic_fetch_add_explicit(&p->begun, 1, memory_order_relaxed);
  if (row >= p->n) return -1;
  if (row % rows_a_look == 0 && tsi_seconds() > p->end)
    atomic_store_explicit(&p->is_over, 1, memory_order_relaxed);
  return row;
}

/* If a waiting thread has lost its core, it needs this one. */
static void pause_or_yield(int spin) {
#ifdef TEXSOLVE_HAVE_THREADS
  if (spin < spins)
    tsi_thread_pause();
  else
    tsi_thread_yield();
#else
  (void)spin;
#endif
}

int tsi_ilu_pipeline_wait(const tsi_ilu_pipeline *p, int32_t rows) {
  for (int spin = 0; tsi_ilu_pipeline_complete(p) < rows; spin += spin < spins) pause_or_yield(spin);
  return !atomic_load_explicit(&p->is_stopped, memory_order_relaxed);
}

void tsi_ilu_pipeline_put(tsi_ilu_pipeline *p, int32_t row, int stop) {
  if (stop) {
    atomic_store_explicit(&p->is_stopped, 1, memory_order_relaxed);
    atomic_store_explicit(&p->begun, p->n, memory_order_relaxed);
  }
  atomic_store_explicit(&p->complete, stop ? p->n : row + 1, memory_order_release);
}

/* ---- Segments ---- */

typedef struct segment {
  tsi_ilu_work work;
  void *factoriser;
  double operations[TSI_ILU_WORKERS];
} segment;

static void work_on(const void *arguments, size_t first, size_t last) {
  segment *s = *(segment *const *)arguments;
  for (size_t k = first; k < last; k++) s->operations[k] = s->work(s->factoriser, (int)k);
}

/* Returns the seconds per operation. */
static double run_segment(tsi_ilu_pipeline *p, segment *s, int is_shared) {
  const int workers = is_shared ? p->workers : 1;
  const double begun = tsi_seconds();
  double operations = 0;
  p->end = p->workers == 1 && !tsi_polls_now(p->context) ? INFINITY : begun + segment_times[is_shared];
  atomic_init(&p->is_over, 0);
  tsi_parallel(p->context, (size_t)workers, work_on, &s);
  const double seconds = tsi_seconds() - begun;
  for (int k = 0; k < workers; k++) operations += s->operations[k];
  return seconds / fmax(operations, 1);
}

/* Runs segments on one thread or on all. It tries the other choice now and then, because rows differ, and so
 * does the load of other programs. */
ts_status tsi_ilu_pipeline_run(tsi_ilu_pipeline *p, tsi_ilu_work work, void *factoriser) {
  segment current = {.work = work, .factoriser = factoriser};
  double pace[2] = {0, 0}; /* of one thread and of all */
  int is_shared = 0, to_trial = 1, distance = 1;
  while (tsi_ilu_pipeline_complete(p) < p->n) {
    const int is_trial = p->workers > 1 && to_trial == 0, way = is_shared ^ is_trial;
    pace[way] = run_segment(p, &current, way);
    if (is_trial) {
      if (pace[way] < gain * pace[!way]) is_shared = way;
      distance = distance < most_distance ? 2 * distance : most_distance;
    }
    to_trial = is_trial ? distance : to_trial - (to_trial > 0);
    TSI_TRY(tsi_poll(p->context));
  }
  return TS_OK;
}
