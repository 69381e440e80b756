/* The rows that threads begin, wait for and complete. */
#define _GNU_SOURCE 1 /* sched_getcpu in thread.h */
#include "ilu_pipeline.h"

#include <math.h>

#include "common/core/pool.h"

#ifdef TEXSOLVE_HAVE_THREADS
#include "common/core/thread.h"
#endif

enum { entries_for_threads = 20000 }; /* with fewer, waking a thread takes longer than it saves */
enum { spins = 256 };
enum {
  first_rows = 64,
  trial_distance = 32
}; /* rows of the first segment; segments by one thread between trials */

/* Seconds of a segment; shares of one thread's time for an operation, by which all threads are worth a trial
 * and stay at work. */
static const double segment_time = 1e-3, trial_time = 2e-4, gain = 0.8, loss = 0.95;

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
  p->limit = 0;
  atomic_init(&p->is_stopped, 0);
  atomic_init(&p->begun, 0);
  atomic_init(&p->complete, 0);
}

/* ---- Rows ---- */

/* `begun` is never beyond the limit, where the next segment begins. */
int32_t tsi_ilu_pipeline_next(tsi_ilu_pipeline *p) {
  int row = atomic_load_explicit(&p->begun, memory_order_relaxed);
  while (row < p->limit)
    if (atomic_compare_exchange_weak_explicit(&p->begun, &row, row + 1, memory_order_relaxed,
                                              memory_order_relaxed))
      return row;
  return -1;
}

/* A thread that has lost its core needs this one. */
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

/* Rows up to the limit. Returns seconds for an operation, and how many for a row. */
static double run_segment(tsi_ilu_pipeline *p, segment *s, int workers, double *row_time) {
  const int32_t begin = tsi_ilu_pipeline_complete(p);
  const double begun = tsi_seconds();
  double operations = 0;
  tsi_parallel(p->context, (size_t)workers, work_on, &s);
  const double seconds = tsi_seconds() - begun;
  for (int k = 0; k < workers; k++) operations += s->operations[k];
  *row_time = fmax(seconds, 1e-9) / fmax(p->limit - begin, 1);
  return seconds / fmax(operations, 1);
}

static void set_limit(tsi_ilu_pipeline *p, double rows) {
  const int32_t begin = tsi_ilu_pipeline_complete(p);
  p->limit = rows < p->n - begin ? begin + (int32_t)fmax(rows, 1) : p->n;
}

/* By all threads while that pays; if not, by one until the next trial. */
void tsi_ilu_pipeline_run(tsi_ilu_pipeline *p, tsi_ilu_work work, void *factoriser) {
  segment current = {.work = work, .factoriser = factoriser};
  double alone = 0, together, row_time = 0;
  int to_trial = 1, is_shared = 0;
  while (tsi_ilu_pipeline_complete(p) < p->n) {
    const int is_trial = !is_shared && p->workers > 1 && to_trial == 0;
    const double time = is_trial ? trial_time : segment_time;
    set_limit(p, p->workers == 1 ? p->n : row_time > 0 ? time / row_time : first_rows);
    if (is_shared || is_trial) {
      together = run_segment(p, &current, p->workers, &row_time);
      is_shared = together < (is_trial ? gain : loss) * alone;
      to_trial = trial_distance;
    } else {
      alone = run_segment(p, &current, 1, &row_time);
      to_trial -= to_trial > 0;
    }
  }
}
