/* Times of repeated operations: batches long enough for the clock, the median of several batches. */
#ifndef BENCH_TIMING_H
#define BENCH_TIMING_H

typedef struct timing {
  double seconds;  /* median time of one operation */
  double fastest;  /* of the fastest batch: what the device can do when nothing disturbs it */
  double spread;   /* (slowest - fastest batch) / median */
  long batch;      /* operations in a batch */
  int repetitions; /* batches measured */
} timing;

/* Does the operation `count` times and returns when the device has finished them. Nonzero: failed. */
typedef int (*timing_fn)(void *user, long count);

/* Monotonic clock, in seconds. */
double timing_now(void);

/* Devices that were idle for a while, as they are while the host builds a matrix, have lowered their clock, and
 * need some work to raise it again: after a pause, timing_measure first does the operation for `seconds`
 * without counting. 0, the default, for devices whose clock it does not concern. */
void timing_set_warm_up(double seconds);

/* Of several processes that measure together, each with its own clock: `slowest` gives all of them the largest
 * of their times, which then counts, and decides how many operations a batch has. NULL, the default: one
 * process. */
void timing_set_slowest(double (*slowest)(void *user, double seconds), void *user);

/* Batches that would take longer than `seconds` in all are fewer, but two. 0, the default: as many as asked
 * for. */
void timing_set_longest(double seconds);

/* Warms up, finds a batch that takes at least `min_seconds`, measures `repetitions` batches. Queries of the
 * device's own clock are unreliable on some drivers, and a batch's end is a wait for the device, so that the
 * time is the user's. Returns what `fn` returned if that is not 0. */
int timing_measure(timing *t, int repetitions, double min_seconds, timing_fn fn, void *user);

/* The largest spread of all measurements so far. */
double timing_largest_spread(void);
/* One that another program measured. */
void timing_add_spread(double spread);

#endif
