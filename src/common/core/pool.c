/* Workers, and the tickets that assign ranges to them. */
#define _GNU_SOURCE 1 /* sched_getcpu in thread.h */
#include "pool.h"

#include <stdatomic.h>

#include "thread.h"

/* A worker's ticket is 4 times the job's number plus the state of its range. The thread that changes OPEN to
 * another state owns the range: the worker (TAKEN) or the calling thread (DONE). */
enum { DONE = 0, OPEN = 1, TAKEN = 2, CLOSED = 3, STATES = 4 };
typedef uint_fast64_t ticket;

enum { CACHE_LINE = 64 };

/* How long the calling thread sleeps before it calls the poll function. In seconds: looking: how long a worker
 * spins for a job before it sleeps. absence: a gap between two polls that shows that others need its core, so
 * that it sleeps at once. patience: how long the calling thread spins for a worker before it sleeps. */
enum { POLL_MILLISECONDS = 5 };
static const double looking = 200e-6, absence = 300e-6, patience = 300e-6;

typedef struct worker {
  _Alignas(CACHE_LINE) atomic_uint_fast64_t ticket;
  atomic_int sleeps, core;
  tsi_pool *pool;
  tsi_thread thread;
  tsi_lock lock;
  tsi_condition wake;
} worker;

struct tsi_pool {
  int threads;
  int started; /* workers 1 .. started - 1 run */
  long process;
  ticket number;
  tsi_job job;
  atomic_int caller_sleeps, caller_core;
  tsi_lock lock;
  tsi_condition done;
  worker *workers; /* one per range; the first belongs to the calling thread and is unused */
};

/* Two threads on one core must not spin for each other. */
static int same_core(const atomic_int *core) {
  const int own = tsi_thread_core();
  return own >= 0 && own == atomic_load(core);
}

static void note_core(atomic_int *core) {
  atomic_store(core, tsi_thread_core());
}

static int state_of(ticket t) {
  return (int)(t % STATES);
}

static int calls(ticket t) {
  return state_of(t) == OPEN || state_of(t) == CLOSED;
}

static size_t begin_of(const tsi_job *job, int range) {
  return job->items * (size_t)range / (size_t)job->ranges;
}

static void run_range(const tsi_job *job, int range) {
  const size_t first = begin_of(job, range), last = begin_of(job, range + 1);
  if (first < last) job->body(job->arguments, first, last);
}

static void run_on_caller(const tsi_job *job, int range) {
  const size_t first = begin_of(job, range), last = begin_of(job, range + 1);
  if (!job->polls)
    run_range(job, range);
  else if (first < last)
    tsi_polled_range(job->polls, job->body, job->arguments, first, last);
}

/* ---- Workers ---- */

static ticket look(worker *w) {
  const double begun = tsi_seconds();
  double now = begun, before;
  ticket t;
  do {
    for (int i = 0; i < 32; i++) {
      if (calls(t = atomic_load(&w->ticket))) return t;
      tsi_thread_pause();
    }
    before = now;
    now = tsi_seconds();
  } while (now - begun < looking && now - before < absence && !same_core(&w->pool->caller_core));
  return t;
}

static ticket sleep_until_called(worker *w) {
  ticket t;
  tsi_lock_acquire(&w->lock);
  atomic_store(&w->sleeps, 1);
  while (!calls(t = atomic_load(&w->ticket))) tsi_condition_wait(&w->wake, &w->lock);
  atomic_store(&w->sleeps, 0);
  tsi_lock_release(&w->lock);
  return t;
}

static void call(worker *w, ticket t) {
  atomic_store(&w->ticket, t);
  if (!atomic_load(&w->sleeps)) return;
  tsi_lock_acquire(&w->lock);
  tsi_condition_signal(&w->wake);
  tsi_lock_release(&w->lock);
}

static void work(void *argument) {
  worker *w = argument;
  tsi_pool *pool = w->pool;
  for (;;) {
    ticket t = look(w);
    if (!calls(t)) t = sleep_until_called(w);
    if (state_of(t) == CLOSED) return;
    const ticket number = t - OPEN;
    note_core(&w->core);
    if (!atomic_compare_exchange_strong(&w->ticket, &t, number + TAKEN)) continue;
    run_range(&pool->job, (int)(w - pool->workers));
    atomic_store(&w->ticket, number + DONE);
    if (!atomic_load(&pool->caller_sleeps)) continue;
    tsi_lock_acquire(&pool->lock);
    tsi_condition_signal(&pool->done);
    tsi_lock_release(&pool->lock);
  }
}

/* ---- The pool ---- */

ts_status tsi_pool_create(ts_context *context, int threads, tsi_pool **pool) {
  const size_t bytes = sizeof(tsi_pool) + ((size_t)threads + 1) * sizeof(worker);
  void *block = tsi_calloc(context, 1, bytes);
  if (!block) return tsi_out_of_memory(context, "the threads of a context", bytes);
  const uintptr_t workers = ((uintptr_t)block + sizeof(tsi_pool) + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
  *pool = block;
  **pool = (tsi_pool){.threads = threads, .workers = (worker *)workers};
  return TS_OK;
}

static void pool_start(tsi_pool *pool) {
  pool->process = tsi_process();
  atomic_init(&pool->caller_sleeps, 0);
  tsi_lock_create(&pool->lock);
  tsi_condition_create(&pool->done);
  for (pool->started = 1; pool->started < pool->threads; pool->started++) {
    worker *w = &pool->workers[pool->started];
    w->pool = pool;
    atomic_init(&w->ticket, DONE);
    atomic_init(&w->sleeps, 0);
    tsi_lock_create(&w->lock);
    tsi_condition_create(&w->wake);
    if (!tsi_thread_start(&w->thread, work, w)) break;
  }
}

void tsi_pool_destroy(ts_context *context, tsi_pool **pool) {
  tsi_pool *p = *pool;
  if (p && p->process == tsi_process()) {
    for (int i = 1; i < p->started; i++) call(&p->workers[i], CLOSED);
    for (int i = 1; i < p->started; i++) tsi_thread_join(&p->workers[i].thread);
  }
  tsi_free(context, p);
  *pool = NULL;
}

static void wait_for(tsi_pool *pool, worker *w, ticket done) {
  const double begun = tsi_seconds();
  do {
    for (int i = 0; i < 32; i++) {
      if (atomic_load(&w->ticket) == done) return;
      tsi_thread_pause();
    }
  } while (tsi_seconds() - begun < patience && !same_core(&w->core));
  tsi_lock_acquire(&pool->lock);
  atomic_store(&pool->caller_sleeps, 1);
  while (atomic_load(&w->ticket) != done) {
    if (!pool->job.polls) {
      tsi_condition_wait(&pool->done, &pool->lock);
      continue;
    }
    tsi_condition_wait_for(&pool->done, &pool->lock, POLL_MILLISECONDS);
    tsi_lock_release(&pool->lock);
    tsi_poll_within(pool->job.polls);
    tsi_lock_acquire(&pool->lock);
  }
  atomic_store(&pool->caller_sleeps, 0);
  tsi_lock_release(&pool->lock);
}

double tsi_pool_run(tsi_pool *pool, const tsi_job *job) {
  if (pool->process != tsi_process()) pool_start(pool);
  pool->job = *job;
  const ticket number = pool->number += STATES;
  const int called = job->ranges < pool->started ? job->ranges : pool->started;
  const double begun = tsi_seconds();
  note_core(&pool->caller_core);
  for (int i = 1; i < called; i++) call(&pool->workers[i], number + OPEN);
  const double own = tsi_seconds();
  run_on_caller(job, 0);
  int ranges = 1;
  for (int i = 1; i < job->ranges; i++) {
    ticket open = number + OPEN;
    if (i < called && !atomic_compare_exchange_strong(&pool->workers[i].ticket, &open, number + DONE)) continue;
    run_on_caller(job, i);
    ranges++;
  }
  const double each = (tsi_seconds() - own) / ranges;
  for (int i = 1; i < called; i++) wait_for(pool, &pool->workers[i], number + DONE);
  return tsi_seconds() - begun - each * job->ranges;
}
