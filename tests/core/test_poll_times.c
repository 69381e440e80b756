/* The poll function during the set-up of a large matrix: how much of the calling thread's time passes between
 * two calls, and after a stop. Time on the processor, so that other programs do not count. Browsers have no
 * such clock: there the calls and the stops are checked, and no times. */
#include <math.h>
#include <time.h>

#include <texsolve/amg.h>
#include <texsolve/preconditioner.h>

#include "helpers.h"

enum { SIDE = 100 }; /* rows: SIDE^3 */

/* In seconds; ten times what was measured. Typical gaps are below 0.01. A sanitizer or an old processor makes
 * gaps longer, and the whole set-up as well, which takes 0.6 s otherwise. */
static const double longest_gap = 0.3, longest_part = 0.1, mean_gap = 0.02, mean_part = 0.01;

typedef struct times {
  double last, longest;
  long calls, stop;
} times;

static ts_context *context;

/* 0 where there is no clock. */
static double now(void) {
  struct timespec t;
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) != 0) return 0;
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void note(times *t) {
  const double gap = now() - t->last;
  if (gap > t->longest) t->longest = gap;
  t->last = now();
}

static int poll(void *user) {
  times *t = user;
  note(t);
  t->calls++;
  return t->calls == t->stop;
}

/* The 7-point stencil. */
static ref_matrix cube(void) {
  const int32_t n = SIDE, rows = n * n * n, strides[3] = {1, n, n * n};
  ref_matrix m = {.rows = rows, .columns = rows};
  m.offsets = malloc(((size_t)rows + 1) * sizeof *m.offsets);
  m.indices = malloc(7 * (size_t)rows * sizeof *m.indices);
  m.values = malloc(7 * (size_t)rows * sizeof *m.values);
  int32_t e = 0;
  for (int32_t i = 0; i < rows; i++) {
    m.offsets[i] = e;
    for (int k = -3; k <= 3; k++) {
      const int axis = abs(k) - 1, place = k ? i / strides[axis] % n : 0;
      if ((k < 0 && place == 0) || (k > 0 && place == n - 1)) continue;
      m.indices[e] = k < 0 ? i - strides[axis] : k > 0 ? i + strides[axis] : i;
      m.values[e++] = k ? -1 : 6;
    }
  }
  m.offsets[rows] = e;
  return m;
}

static ts_status create_amg(ts_matrix *matrix, ts_preconditioner **M, times *t) {
  const ts_preconditioner_desc desc = {.kind = TS_PRECONDITIONER_AMG};
  t->last = now();
  return ts_preconditioner_create(matrix, &desc, M);
}

/* Returns how long the set-up took. The mean excludes the longest gap: with CUDA the first set-up loads
 * kernels. */
static double check_gaps(const char *name, times *t, double begun) {
  note(t);
  const double all = t->last - begun;
  test_context_label("%s: %ld calls in %.3f s, the longest gap is %.3f s", name, t->calls, all, t->longest);
  CHECK(t->longest < fmax(longest_gap, longest_part * all));
  CHECK(t->calls > 0 && (all - t->longest) / (double)t->calls < fmax(mean_gap, mean_part * all));
  test_context_label("%s", "");
  return all;
}

static void gaps(void) {
  ref_matrix m = cube();
  ts_matrix *matrix = NULL;
  ts_preconditioner *M = NULL;
  times t = {.last = now()};
  const ts_matrix_desc desc = {.csr = ref_csr(&m), .keep_host_copy = 1};
  double begun = now();
  CHECK_OK(context, ts_context_set_poll(context, poll, &t, 0));
  CHECK_OK(context, ts_matrix_create(context, &desc, &matrix));
  check_gaps("a matrix", &t, begun);
  t = (times){0};
  begun = now();
  CHECK_OK(context, create_amg(matrix, &M, &t));
  const double all = check_gaps("amg", &t, begun);
  ts_preconditioner_destroy(&M);
  /* The function is called by the clock, so that a fast set-up may end before a late call. */
  const long calls = t.calls;
  int stopped = 0;
  for (int k = 1; k <= 3; k++) {
    t = (times){.stop = k * calls / 4 > 0 ? k * calls / 4 : 1};
    const ts_status status = create_amg(matrix, &M, &t);
    note(&t);
    test_context_label("a stop at call %ld: %.3f s", t.stop, t.longest);
    if (t.calls < t.stop) {
      CHECK_OK(context, status);
      ts_preconditioner_destroy(&M);
    } else {
      CHECK_INT(status, TS_ERROR_STOPPED);
      CHECK_CONTAINS(ts_last_error(context), "poll function");
      CHECK_INT(t.calls, t.stop);
      stopped++;
    }
    CHECK(t.longest < fmax(longest_gap, longest_part * all));
  }
  CHECK(stopped > 0);
  test_context_label("%s", "");
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

TEST_MAIN(CASES_IN_CONTEXT(gaps))
