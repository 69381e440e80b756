/* Decides whether using threads is worthwhile.
 *
 * If other programs compete for the cores, the system may suspend a worker in the middle of a range. The job
 * then ends milliseconds late. After each such loss, work runs on one thread for a while, long enough that
 * losses stay below a twentieth of the time. The pause doubles while losses recur, up to half a second. */
#ifndef CPU_PACE_H
#define CPU_PACE_H

/* In seconds. Initially all zeros. */
typedef struct cpu_pace {
  double alone_until, pause;
} cpu_pace;

static inline int cpu_pace_alone(const cpu_pace *pace, double now) {
  return now < pace->alone_until;
}

/* Records that a job ended at `now`, `loss` seconds later than one thread would have ended it. */
static inline void cpu_pace_note(cpu_pace *pace, double now, double loss) {
  /* Losing a core costs more than this. Smaller delays come from waking workers or from uneven ranges. */
  if (loss < 250e-6) return;
  const int again = now - pace->alone_until < pace->pause;
  const double twice = again ? 2 * pace->pause : 0;
  pace->pause = 20 * loss > twice ? 20 * loss : twice;
  if (pace->pause > 0.5) pace->pause = 0.5;
  pace->alone_until = now + pace->pause;
}

#endif
