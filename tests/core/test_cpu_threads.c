/* The threads of the CPU backend: how they divide work, who waits for whom, when they sleep, when one thread
 * works alone, and the default number of threads. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/core/cores.h"
#include "cpu/core/cpu_pace.h"
#include "helpers.h"

enum { large = 400003 };

/* ---- Threads that the system does not schedule ---- */

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER; /* locked: new threads wait before they start */
static atomic_int begun;

typedef struct beginning {
  void *(*routine)(void *);
  void *argument;
} beginning;

static void *begin(void *argument) {
  const beginning b = *(beginning *)argument;
  free(argument);
  pthread_mutex_lock(&gate);
  pthread_mutex_unlock(&gate);
  atomic_fetch_add(&begun, 1);
  return b.routine(b.argument);
}

/* Replaces the C library's function, so that every thread of the library passes the gate. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*routine)(void *),
                   void *argument) {
  static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  if (!real) *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
  beginning *b = malloc(sizeof *b);
  if (!b) return 11;
  *b = (beginning){routine, argument};
  return real(thread, attributes, begin, b);
}

static ts_context *open_threads(int threads) {
  const ts_context_desc desc = {.backend = "cpu", .threads = threads};
  ts_context *context = NULL;
  CHECK_OK(NULL, ts_context_create(&desc, &context));
  return context;
}

/* ||v|| of a vector over `space`, after operations on all threads. */
static float norm(ts_context *context, ts_space *space) {
  float *values = ref_values(large, 3, -1, 1), result[4] = {0};
  ts_vector *u = make_vector(space, 1, values), *v = make_vector(space, 1, values);
  ts_scalars *slots = make_scalars(context, 1);
  for (int i = 0; i < 20; i++) CHECK_OK(context, ts_vector_axpby(v, ts_constant(0.5f), u, ts_constant(0.75f)));
  CHECK_OK(context, ts_vector_norm(slots, 0, v, TS_NORM_2));
  CHECK_OK(context, ts_scalars_read(slots, 0, ts_host(result, 4)));
  ts_scalars_destroy(&slots);
  ts_vector_destroy(&u);
  ts_vector_destroy(&v);
  free(values);
  return result[0];
}

static float norm_of(int threads) {
  ts_context *context = open_threads(threads);
  ts_space *space = make_space(context, large);
  const float result = norm(context, space);
  ts_space_destroy(&space);
  ts_context_destroy(&context);
  return result;
}

static void none_waits_for_a_thread_that_does_not_run(void) {
  const float expected = norm_of(1);
  ts_context *context = open_threads(4);
  ts_space *space = make_space(context, large);
  const int before = atomic_load(&begun);
  alarm(100); /* kills the test if the library waits */
  pthread_mutex_lock(&gate);
  const float result = norm(context, space);
  CHECK_INT(atomic_load(&begun), before);
  pthread_mutex_unlock(&gate);
  alarm(0);
  CHECK(result == expected);
  CHECK(norm(context, space) == expected);
  ts_space_destroy(&space);
  ts_context_destroy(&context);
#ifdef TEXSOLVE_HAVE_THREADS
  CHECK_INT(atomic_load(&begun), before + 3);
#endif
}

/* A child process has its parent's memory but not its threads. */
static void children(void) {
  ts_context *context = open_threads(4);
  ts_space *space = make_space(context, large);
  const float expected = norm(context, space);
  const pid_t child = fork();
  if (child == 0) {
    alarm(100);
    const int right = norm(context, space) == expected;
    ts_space_destroy(&space);
    ts_context_destroy(&context);
    _exit(right && !context ? 0 : 1);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK(norm(context, space) == expected);
  ts_space_destroy(&space);
  ts_context_destroy(&context);
}

/* ---- Threads without work ---- */

static double seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Idle threads use no processor time while the program does something else. */
static void threads_sleep(void) {
  ts_context *context = open_threads(2);
  ts_space *space = make_space(context, large);
  norm(context, space);
  const double before = seconds(CLOCK_PROCESS_CPUTIME_ID);
  nanosleep(&(struct timespec){.tv_nsec = 200 * 1000 * 1000}, NULL);
  const double used = seconds(CLOCK_PROCESS_CPUTIME_ID) - before;
  test_context_label("%.1f ms", 1e3 * used);
  CHECK(used < 2e-3);
  test_context_label("%s", "");
  ts_space_destroy(&space);
  ts_context_destroy(&context);
}

/* ---- Sharing ---- */

/* Operations of all sizes in sequence, so that threads join a job early, late or not at all. */
static void many_operations(void) {
  static const int sizes[] = {140000, 3, 70001, 200000, 1, 131072, 400003, 90000};
  ts_context *context = open_threads(5), *alone = open_threads(1);
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    float *values = ref_values((size_t)sizes[s], (unsigned)s, -1, 1);
    ts_context *const contexts[2] = {alone, context};
    float *results[2];
    for (int k = 0; k < 2; k++) {
      ts_space *space = make_space(contexts[k], sizes[s]);
      ts_vector *v = make_vector(space, 1, values), *w = make_vector(space, 1, values);
      for (int i = 0; i < 300; i++) {
        CHECK_OK(contexts[k], ts_vector_axpby(w, ts_constant(0.9f), v, ts_constant(0.5f)));
        CHECK_OK(contexts[k], ts_vector_multiply(v, v, w));
        CHECK_OK(contexts[k], ts_vector_axpby(v, ts_constant(0.3f), w, ts_constant(1)));
      }
      results[k] = read_vector(v);
      ts_vector_destroy(&v);
      ts_vector_destroy(&w);
      ts_space_destroy(&space);
    }
    CHECK(memcmp(results[0], results[1], (size_t)sizes[s] * sizeof(float)) == 0);
    free(results[0]), free(results[1]), free(values);
  }
  ts_context_destroy(&context);
  ts_context_destroy(&alone);
}

/* ---- When one thread works alone ---- */

/* Jobs of 0.1 ms in sequence for `length` seconds. When threads share jobs, one job takes 2 ms longer after
 * every `every` seconds of shared work (0: never). Returns the time lost. */
static double simulate(cpu_pace *pace, double *now, double length, double every, double *alone) {
  const double end = *now + length;
  double shared = 0, lost = 0;
  *alone = 0;
  while (*now < end) {
    if (cpu_pace_alone(pace, *now)) {
      *now += 1e-4;
      *alone += 1e-4;
      continue;
    }
    double loss = -0.4e-4;
    shared += 1e-4;
    if (every > 0 && shared >= every) loss = 2e-3, shared = 0, lost += loss;
    *now += 1e-4 + loss;
    cpu_pace_note(pace, *now, loss);
  }
  return lost;
}

static void pace(void) {
  cpu_pace p = {0};
  double now = 1000, alone;
  CHECK(!cpu_pace_alone(&p, now));
  CHECK(simulate(&p, &now, 10, 0, &alone) == 0 && alone == 0); /* no other load: always shared */
  cpu_pace_note(&p, now, 200e-6); /* a thread that was slow to wake up, but did not lose its core */
  CHECK(!cpu_pace_alone(&p, now));
  double lost = simulate(&p, &now, 0.1, 3e-3, &alone); /* other programs use the cores: a short run ... */
  CHECK(lost > 0 && lost < 0.1 * 0.1);
  lost = simulate(&p, &now, 10, 3e-3, &alone); /* ... and a long one lose little time */
  CHECK(lost < 0.01 * 10 && alone > 0.95 * 10);
  CHECK(lost > 0);                  /* sharing is tried again */
  simulate(&p, &now, 1, 0, &alone); /* the other programs have stopped */
  CHECK(alone <= 0.5);
  simulate(&p, &now, 1, 0, &alone);
  CHECK(alone == 0);
  lost = simulate(&p, &now, 10, 0.2, &alone); /* a rare disturbance costs little of the gain */
  CHECK(alone < 0.25 * 10 && lost < 0.02 * 10);
}

/* ---- The default number of threads ---- */

static void put(const char *directory, const char *name, const char *text) {
  char path[300];
  mkdir(directory, 0700);
  snprintf(path, sizeof path, "%s/%s", directory, name);
  FILE *file = fopen(path, "w");
  REQUIRE(file != NULL);
  fputs(text, file);
  fclose(file);
}

static void quotas(void) {
  char root[] = "/tmp/texsolve-quota-XXXXXX", outer[64], inner[80], group[64], command[128];
  REQUIRE(mkdtemp(root) != NULL);
  snprintf(outer, sizeof outer, "%s/outer", root);
  snprintf(inner, sizeof inner, "%s/inner", outer);
  snprintf(group, sizeof group, "%s/group", root);
  put(root, "group", "1:name=systemd:/elsewhere\n0::/outer/inner\n");
  CHECK_INT(tsi_quota(group, root), 0); /* the groups do not exist */
  put(outer, "cpu.max", "max 100000\n");
  put(inner, "cpu.max", "max 100000\n");
  CHECK_INT(tsi_quota(group, root), 0);
  put(inner, "cpu.max", "350000 100000\n");
  CHECK_INT(tsi_quota(group, root), 3);
  put(outer, "cpu.max", "200000 100000\n"); /* a lower limit in the parent group */
  CHECK_INT(tsi_quota(group, root), 2);
  put(outer, "cpu.max", "50000 100000\n"); /* half a core allows one thread */
  CHECK_INT(tsi_quota(group, root), 1);
  put(root, "cpu.max", "400000 100000\n"); /* inside a container its own group appears as the root */
  put(root, "group", "0::/\n");
  CHECK_INT(tsi_quota(group, root), 4);
  put(root, "cpu.max", "nonsense\n");
  CHECK_INT(tsi_quota(group, root), 0);
  put(root, "group", "2:cpu:/\n"); /* control groups version 1 */
  CHECK_INT(tsi_quota(group, root), 0);
  CHECK_INT(tsi_quota("/nowhere/at/all", root), 0);
  snprintf(command, sizeof command, "rm -r %s", root);
  CHECK_INT(system(command), 0);
}

static void default_count(void) {
  setenv("OMP_NUM_THREADS", "7,3", 1);
  CHECK_INT(tsi_default_threads(), 7);
  setenv("OMP_NUM_THREADS", "none", 1);
  CHECK(tsi_default_threads() >= 1);
  unsetenv("OMP_NUM_THREADS");
  CHECK(tsi_default_threads() >= 1 && tsi_default_threads() <= sysconf(_SC_NPROCESSORS_CONF));
}

TEST_MAIN_ON_HOST(CASES(none_waits_for_a_thread_that_does_not_run, children, threads_sleep, many_operations,
                        pace, quotas, default_count))
