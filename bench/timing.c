#include "timing.h"

#include <stdlib.h>

#include "platform.h"
#include "reports.h"

enum { MAX_REPETITIONS = 101 };

/* A shorter pause does not change the state of the device. */
static const double PAUSE_SECONDS = 0.02;

static double largest_spread;
static double warm_up_seconds;
static double longest_seconds;
static double last_end; /* of the last measurement */
static double (*slowest_of_all)(void *user, double seconds);
static void *slowest_user;

void timing_set_warm_up(double seconds) {
  warm_up_seconds = seconds;
}

void timing_set_longest(double seconds) {
  longest_seconds = seconds;
}

void timing_set_slowest(double (*slowest)(void *user, double seconds), void *user) {
  slowest_of_all = slowest;
  slowest_user = user;
}

static double seconds_since(double start) {
  const double seconds = timing_now() - start;
  return slowest_of_all ? slowest_of_all(slowest_user, seconds) : seconds;
}

double timing_largest_spread(void) {
  return largest_spread;
}

void timing_add_spread(double spread) {
  if (spread > largest_spread) largest_spread = spread;
}

double timing_now(void) {
  return seconds_now();
}

static int warm_up(double seconds, timing_fn fn, void *user) {
  const double start = timing_now();
  int failed = 0;
  for (long count = 1; !failed && seconds_since(start) < seconds; count = count < 16 ? 2 * count : count)
    failed = fn(user, count);
  return failed;
}

/* Reduces the requested repetitions if one takes `seconds`. */
static int limit_repetitions(int repetitions, double seconds) {
  if (longest_seconds <= 0 || repetitions * seconds <= longest_seconds || repetitions < 2) return repetitions;
  const int fit = (int)(longest_seconds / seconds);
  return fit < 2 ? 2 : fit;
}

int timing_measure(timing *t, int repetitions, double min_seconds, timing_fn fn, void *user) {
  double seconds[MAX_REPETITIONS];
  if (repetitions < 1) repetitions = 1;
  if (repetitions > MAX_REPETITIONS) repetitions = MAX_REPETITIONS;
  const char *shorter = getenv("TEXSOLVE_BENCH_SECONDS"); /* the smoke tests do not evaluate times */
  if (shorter) min_seconds = atof(shorter);

  const double pause = seconds_since(last_end);
  /* The first call compiles, allocates and pages in; it is not counted. */
  int failed = fn(user, 1);
  if (!failed && pause > PAUSE_SECONDS) failed = warm_up(warm_up_seconds, fn, user);
  if (failed) return failed;
  long batch = 1;
  int i = 0; /* measured */
  for (;;) {
    const double start = timing_now();
    failed = fn(user, batch);
    if (failed) return failed;
    const double elapsed = seconds_since(start);
    if (elapsed >= min_seconds) {
      repetitions = limit_repetitions(repetitions, elapsed);
      /* A single slow operation may be an accident, but one much longer than a batch counts. */
      if (batch == 1 && elapsed >= 10 * min_seconds) seconds[i++] = elapsed;
      break;
    }
    /* Aim slightly above the goal, but extrapolate from a short batch by at most a factor of 16. */
    double factor = elapsed > 0 ? 1.2 * min_seconds / elapsed : 16;
    if (factor > 16) factor = 16;
    if (factor < 1.1) factor = 1.1;
    batch = (long)((double)batch * factor) + 1;
  }

  for (; i < repetitions; ++i) {
    const double start = timing_now();
    failed = fn(user, batch);
    if (failed) return failed;
    seconds[i] = seconds_since(start) / (double)batch;
  }
  last_end = timing_now();
  t->seconds = report_median(seconds, repetitions); /* sorts */
  t->fastest = seconds[0];
  t->spread = (seconds[repetitions - 1] - seconds[0]) / t->seconds;
  timing_add_spread(t->spread);
  t->batch = batch;
  t->repetitions = repetitions;
  return 0;
}
