/* Times of repeated operations: batches long enough for the clock, the median of several batches. */
#ifndef BENCH_TIMING_H
#define BENCH_TIMING_H

typedef struct timing {
  double seconds;  /* median time of one operation */
  double fastest;  /* of the fastest batch: the undisturbed device */
  double spread;   /* (slowest - fastest batch) / median */
  long batch;      /* operations per batch */
  int repetitions; /* batches measured */
} timing;

/* Performs the operation `count` times and returns when the device has finished. Nonzero: failed. */
typedef int (*timing_fn)(void *user, long count);

/* Monotonic clock, in seconds. */
double timing_now(void);

/* A device that is idle, for example while the host builds a matrix, lowers its clock and needs work to raise
 * it. After a pause, timing_measure first runs the operation for `seconds` without counting. 0, the default, is
 * for devices without this effect. */
void timing_set_warm_up(double seconds);

/* For several processes that measure together, each with its own clock. `slowest` returns the maximum of their
 * times to all of them; it counts, and decides the number of operations per batch. NULL, the default: one
 * process. */
void timing_set_slowest(double (*slowest)(void *user, double seconds), void *user);

/* Reduces the number of batches if they would take longer than `seconds` in total, but not below two. 0, the
 * default: no limit. */
void timing_set_longest(double seconds);

/* Warms up, finds a batch that takes at least `min_seconds`, and measures `repetitions` batches. Queries of the
 * device's own clock are unreliable on some drivers. So a batch ends with a wait for the device, and the time
 * is the user's. Returns the result of `fn` if it is not 0. */
int timing_measure(timing *t, int repetitions, double min_seconds, timing_fn fn, void *user);

/* The largest spread of all measurements so far. */
double timing_largest_spread(void);
/* Adds a spread measured by another program. */
void timing_add_spread(double spread);

#endif
