/* Workers, and the tickets by which ranges are handed out. */
#define _GNU_SOURCE 1 /* sched_getcpu in cpu_thread.h */
#include "cpu_pool.h"

#include <stdatomic.h>

#include "cpu_thread.h"

/* A worker's ticket is 4 times the job's number, plus the state of its range. Whoever turns OPEN into something
 * else has the range: the worker (TAKEN) or the calling thread (DONE). */
enum { DONE = 0, OPEN = 1, TAKEN = 2, CLOSED = 3, STATES = 4 };
typedef uint_fast64_t ticket;

enum { CACHE_LINE = 64 };

/* In seconds: how long a worker looks for a job before it sleeps; between two looks, where it was off its core,
 * which others want then: it sleeps at once; how long the calling thread waits for a worker before it sleeps.
 */
static const double looking = 200e-6, absence = 300e-6, patience = 300e-6;

typedef struct worker {
  _Alignas(CACHE_LINE) atomic_uint_fast64_t ticket;
  atomic_int sleeps, core;
  cpu_pool *pool;
  cpu_thread thread;
  cpu_lock lock;
  cpu_condition wake;
} worker;

struct cpu_pool {
  int threads;
  int started; /* workers 1 .. started - 1 run */
  long process;
  ticket number;
  cpu_job job;
  atomic_int caller_sleeps, caller_core;
  cpu_lock lock;
  cpu_condition done;
  worker *workers; /* one a range; the first is the calling thread's and stays unused */
};

/* A moment in a loop that waits. */
static void pause_briefly(void) {
#if defined(_WIN32)
  YieldProcessor();
#elif defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
  __builtin_ia32_pause();
#elif defined(__GNUC__) && defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/* Two threads on one core must not wait for each other without sleeping. */
static int same_core(const atomic_int *core) {
  const int own = cpu_thread_core();
  return own >= 0 && own == atomic_load(core);
}

static void note_core(atomic_int *core) {
  atomic_store(core, cpu_thread_core());
}

static int state_of(ticket t) {
  return (int)(t % STATES);
}

static int calls(ticket t) {
  return state_of(t) == OPEN || state_of(t) == CLOSED;
}

static void run_range(const cpu_job *job, int range) {
  const size_t first = job->items * (size_t)range / (size_t)job->ranges;
  const size_t last = job->items * ((size_t)range + 1) / (size_t)job->ranges;
  if (first < last) job->body(job->arguments, first, last);
}

/* ---- Workers ---- */

static ticket look(worker *w) {
  const double begun = tsi_seconds();
  double now = begun, before;
  ticket t;
  do {
    for (int i = 0; i < 32; i++) {
      if (calls(t = atomic_load(&w->ticket))) return t;
      pause_briefly();
    }
    before = now;
    now = tsi_seconds();
  } while (now - begun < looking && now - before < absence && !same_core(&w->pool->caller_core));
  return t;
}

static ticket sleep_until_called(worker *w) {
  ticket t;
  cpu_lock_take(&w->lock);
  atomic_store(&w->sleeps, 1);
  while (!calls(t = atomic_load(&w->ticket))) cpu_condition_wait(&w->wake, &w->lock);
  atomic_store(&w->sleeps, 0);
  cpu_lock_give(&w->lock);
  return t;
}

static void call(worker *w, ticket t) {
  atomic_store(&w->ticket, t);
  if (!atomic_load(&w->sleeps)) return;
  cpu_lock_take(&w->lock);
  cpu_condition_signal(&w->wake);
  cpu_lock_give(&w->lock);
}

static void work(void *argument) {
  worker *w = argument;
  cpu_pool *pool = w->pool;
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
    cpu_lock_take(&pool->lock);
    cpu_condition_signal(&pool->done);
    cpu_lock_give(&pool->lock);
  }
}

/* ---- The pool ---- */

ts_status cpu_pool_create(ts_context *context, int threads, cpu_pool **pool) {
  const size_t bytes = sizeof(cpu_pool) + ((size_t)threads + 1) * sizeof(worker);
  void *block = tsi_calloc(context, 1, bytes);
  if (!block) return tsi_out_of_memory(context, "the threads of the CPU backend", bytes);
  const uintptr_t workers = ((uintptr_t)block + sizeof(cpu_pool) + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
  *pool = block;
  **pool = (cpu_pool){.threads = threads, .workers = (worker *)workers};
  return TS_OK;
}

static void start(cpu_pool *pool) {
  pool->process = cpu_process();
  atomic_init(&pool->caller_sleeps, 0);
  cpu_lock_create(&pool->lock);
  cpu_condition_create(&pool->done);
  for (pool->started = 1; pool->started < pool->threads; pool->started++) {
    worker *w = &pool->workers[pool->started];
    w->pool = pool;
    atomic_init(&w->ticket, DONE);
    atomic_init(&w->sleeps, 0);
    cpu_lock_create(&w->lock);
    cpu_condition_create(&w->wake);
    if (!cpu_thread_start(&w->thread, work, w)) break;
  }
}

void cpu_pool_destroy(ts_context *context, cpu_pool **pool) {
  cpu_pool *p = *pool;
  if (p && p->process == cpu_process()) {
    for (int i = 1; i < p->started; i++) call(&p->workers[i], CLOSED);
    for (int i = 1; i < p->started; i++) cpu_thread_join(&p->workers[i].thread);
  }
  tsi_free(context, p);
  *pool = NULL;
}

static void wait_for(cpu_pool *pool, worker *w, ticket done) {
  const double begun = tsi_seconds();
  do {
    for (int i = 0; i < 32; i++) {
      if (atomic_load(&w->ticket) == done) return;
      pause_briefly();
    }
  } while (tsi_seconds() - begun < patience && !same_core(&w->core));
  cpu_lock_take(&pool->lock);
  atomic_store(&pool->caller_sleeps, 1);
  while (atomic_load(&w->ticket) != done) cpu_condition_wait(&pool->done, &pool->lock);
  atomic_store(&pool->caller_sleeps, 0);
  cpu_lock_give(&pool->lock);
}

double cpu_pool_run(cpu_pool *pool, const cpu_job *job) {
  if (pool->process != cpu_process()) start(pool);
  pool->job = *job;
  const ticket number = pool->number += STATES;
  const int called = job->ranges < pool->started ? job->ranges : pool->started;
  const double begun = tsi_seconds();
  note_core(&pool->caller_core);
  for (int i = 1; i < called; i++) call(&pool->workers[i], number + OPEN);
  const double own = tsi_seconds();
  run_range(job, 0);
  int ranges = 1;
  for (int i = 1; i < job->ranges; i++) {
    ticket open = number + OPEN;
    if (i < called && !atomic_compare_exchange_strong(&pool->workers[i].ticket, &open, number + DONE)) continue;
    run_range(job, i);
    ranges++;
  }
  const double each = (tsi_seconds() - own) / ranges;
  for (int i = 1; i < called; i++) wait_for(pool, &pool->workers[i], number + DONE);
  return tsi_seconds() - begun - each * job->ranges;
}
