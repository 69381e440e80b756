/* Threads, locks and conditions for the pool, from POSIX or Windows. Those of C11 (<threads.h>) are missing
 * from macOS and MinGW.
 *
 * - tsi_thread_start: starts a thread that runs body(argument), without the application's signals; 0: refused
 * - tsi_thread_join: waits for its end
 * - tsi_thread_pause: a short pause in a loop that waits; tsi_thread_yield: yields the core to other threads
 * - tsi_condition_wait_for: waits for a signal, at most so long; the clock may be set meanwhile
 * - tsi_thread_core: the core of the calling thread; -1: unknown
 * - tsi_process: a number of this process, different in a child made by fork; never 0 */
#ifndef TSI_THREAD_H
#define TSI_THREAD_H

typedef void (*tsi_thread_body)(void *argument);

#if defined(_WIN32)

#define WIN32_LEAN_AND_MEAN
#include <process.h>
#include <windows.h>

typedef struct tsi_thread {
  HANDLE handle;
  tsi_thread_body body;
  void *argument;
} tsi_thread;
typedef SRWLOCK tsi_lock;
#define TSI_LOCK_INITIAL SRWLOCK_INIT /* initialises a static lock, without tsi_lock_create */
typedef CONDITION_VARIABLE tsi_condition;

static unsigned __stdcall tsi_thread_main(void *argument) {
  const tsi_thread *thread = argument;
  thread->body(thread->argument);
  return 0;
}

static inline int tsi_thread_start(tsi_thread *thread, tsi_thread_body body, void *argument) {
  thread->body = body;
  thread->argument = argument;
  thread->handle = (HANDLE)_beginthreadex(NULL, 0, tsi_thread_main, thread, 0, NULL);
  return thread->handle != NULL;
}

static inline void tsi_thread_join(tsi_thread *thread) {
  WaitForSingleObject(thread->handle, INFINITE);
  CloseHandle(thread->handle);
}

static inline int tsi_thread_core(void) {
  return (int)GetCurrentProcessorNumber();
}

static inline void tsi_thread_pause(void) {
  YieldProcessor();
}

static inline void tsi_thread_yield(void) {
  SwitchToThread();
}

static inline long tsi_process(void) {
  return 1; /* Windows does not have fork */
}

static inline void tsi_lock_create(tsi_lock *lock) {
  InitializeSRWLock(lock);
}
static inline void tsi_lock_acquire(tsi_lock *lock) {
  AcquireSRWLockExclusive(lock);
}
static inline void tsi_lock_release(tsi_lock *lock) {
  ReleaseSRWLockExclusive(lock);
}

static inline void tsi_condition_create(tsi_condition *condition) {
  InitializeConditionVariable(condition);
}
static inline void tsi_condition_wait(tsi_condition *condition, tsi_lock *lock) {
  SleepConditionVariableSRW(condition, lock, INFINITE, 0);
}
static inline void tsi_condition_wait_for(tsi_condition *condition, tsi_lock *lock, int milliseconds) {
  SleepConditionVariableSRW(condition, lock, (DWORD)milliseconds, 0);
}
static inline void tsi_condition_signal(tsi_condition *condition) {
  WakeConditionVariable(condition);
}

#else

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

typedef struct tsi_thread {
  pthread_t handle;
  tsi_thread_body body;
  void *argument;
} tsi_thread;
typedef pthread_mutex_t tsi_lock;
#define TSI_LOCK_INITIAL PTHREAD_MUTEX_INITIALIZER
typedef pthread_cond_t tsi_condition;

static void *tsi_thread_main(void *argument) {
  const tsi_thread *thread = argument;
  thread->body(thread->argument);
  return NULL;
}

static inline int tsi_thread_start(tsi_thread *thread, tsi_thread_body body, void *argument) {
  thread->body = body;
  thread->argument = argument;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int refused = pthread_create(&thread->handle, NULL, tsi_thread_main, thread);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return !refused;
}

static inline void tsi_thread_join(tsi_thread *thread) {
  pthread_join(thread->handle, NULL);
}

static inline int tsi_thread_core(void) {
#ifdef __linux__
  return sched_getcpu();
#else
  return -1;
#endif
}

static inline void tsi_thread_pause(void) {
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
  __builtin_ia32_pause();
#elif defined(__GNUC__) && defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static inline void tsi_thread_yield(void) {
  sched_yield();
}

static inline long tsi_process(void) {
  return (long)getpid();
}

static inline void tsi_lock_create(tsi_lock *lock) {
  pthread_mutex_init(lock, NULL);
}
static inline void tsi_lock_acquire(tsi_lock *lock) {
  pthread_mutex_lock(lock);
}
static inline void tsi_lock_release(tsi_lock *lock) {
  pthread_mutex_unlock(lock);
}

static inline void tsi_condition_create(tsi_condition *condition) {
  pthread_cond_init(condition, NULL);
}
static inline void tsi_condition_wait(tsi_condition *condition, tsi_lock *lock) {
  pthread_cond_wait(condition, lock);
}
static inline void tsi_condition_wait_for(tsi_condition *condition, tsi_lock *lock, int milliseconds) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += (long)milliseconds * 1000000;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  pthread_cond_timedwait(condition, lock, &until);
}
static inline void tsi_condition_signal(tsi_condition *condition) {
  pthread_cond_signal(condition);
}

#endif
#endif
