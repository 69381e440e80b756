/* Threads, locks and conditions as the pool needs them: POSIX's, or those of Windows. C11's own (<threads.h>)
 * are missing from macOS and from MinGW.
 *
 * cpu_thread_start   a thread that runs body(argument) and receives none of the application's signals; 0:
 * refused cpu_thread_join    waits for its end cpu_thread_core    the core that the calling thread is on; -1
 * where the system does not tell cpu_process        a number of this process, which a child made by fork does
 * not share; never 0 */
#ifndef CPU_THREAD_H
#define CPU_THREAD_H

typedef void (*cpu_thread_body)(void *argument);

#if defined(_WIN32)

#define WIN32_LEAN_AND_MEAN
#include <process.h>
#include <windows.h>

typedef struct cpu_thread {
  HANDLE handle;
  cpu_thread_body body;
  void *argument;
} cpu_thread;
typedef SRWLOCK cpu_lock;
typedef CONDITION_VARIABLE cpu_condition;

static unsigned __stdcall cpu_thread_main(void *argument) {
  const cpu_thread *thread = argument;
  thread->body(thread->argument);
  return 0;
}

static inline int cpu_thread_start(cpu_thread *thread, cpu_thread_body body, void *argument) {
  thread->body = body;
  thread->argument = argument;
  thread->handle = (HANDLE)_beginthreadex(NULL, 0, cpu_thread_main, thread, 0, NULL);
  return thread->handle != NULL;
}

static inline void cpu_thread_join(cpu_thread *thread) {
  WaitForSingleObject(thread->handle, INFINITE);
  CloseHandle(thread->handle);
}

static inline int cpu_thread_core(void) {
  return (int)GetCurrentProcessorNumber();
}

static inline long cpu_process(void) {
  return 1; /* there is no fork */
}

static inline void cpu_lock_create(cpu_lock *lock) {
  InitializeSRWLock(lock);
}
static inline void cpu_lock_take(cpu_lock *lock) {
  AcquireSRWLockExclusive(lock);
}
static inline void cpu_lock_give(cpu_lock *lock) {
  ReleaseSRWLockExclusive(lock);
}

static inline void cpu_condition_create(cpu_condition *condition) {
  InitializeConditionVariable(condition);
}
static inline void cpu_condition_wait(cpu_condition *condition, cpu_lock *lock) {
  SleepConditionVariableSRW(condition, lock, INFINITE, 0);
}
static inline void cpu_condition_signal(cpu_condition *condition) {
  WakeConditionVariable(condition);
}

#else

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

typedef struct cpu_thread {
  pthread_t handle;
  cpu_thread_body body;
  void *argument;
} cpu_thread;
typedef pthread_mutex_t cpu_lock;
typedef pthread_cond_t cpu_condition;

static void *cpu_thread_main(void *argument) {
  const cpu_thread *thread = argument;
  thread->body(thread->argument);
  return NULL;
}

static inline int cpu_thread_start(cpu_thread *thread, cpu_thread_body body, void *argument) {
  thread->body = body;
  thread->argument = argument;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int refused = pthread_create(&thread->handle, NULL, cpu_thread_main, thread);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return !refused;
}

static inline void cpu_thread_join(cpu_thread *thread) {
  pthread_join(thread->handle, NULL);
}

static inline int cpu_thread_core(void) {
#ifdef __linux__
  return sched_getcpu();
#else
  return -1;
#endif
}

static inline long cpu_process(void) {
  return (long)getpid();
}

static inline void cpu_lock_create(cpu_lock *lock) {
  pthread_mutex_init(lock, NULL);
}
static inline void cpu_lock_take(cpu_lock *lock) {
  pthread_mutex_lock(lock);
}
static inline void cpu_lock_give(cpu_lock *lock) {
  pthread_mutex_unlock(lock);
}

static inline void cpu_condition_create(cpu_condition *condition) {
  pthread_cond_init(condition, NULL);
}
static inline void cpu_condition_wait(cpu_condition *condition, cpu_lock *lock) {
  pthread_cond_wait(condition, lock);
}
static inline void cpu_condition_signal(cpu_condition *condition) {
  pthread_cond_signal(condition);
}

#endif
#endif
