/* Whether threads pay.
 *
 * Where other programs want the cores, the system takes a worker off its core in the middle of a range, and the
 * job ends milliseconds late. Each such loss is followed by a while of one thread alone, so long that losses
 * stay a twentieth of the time; it doubles while they come again, up to half a second. */
#ifndef CPU_PACE_H
#define CPU_PACE_H

/* In seconds. Begins with zeros. */
typedef struct cpu_pace {
  double alone_until, pause;
} cpu_pace;

static inline int cpu_pace_alone(const cpu_pace *pace, double now) {
  return now < pace->alone_until;
}

/* A job ended `now`, `loss` later than one thread would have ended it. */
static inline void cpu_pace_note(cpu_pace *pace, double now, double loss) {
  /* A core that is lost is lost for longer; so long does a worker take to wake up, or ranges to differ. */
  if (loss < 250e-6) return;
  const int again = now - pace->alone_until < pace->pause;
  const double twice = again ? 2 * pace->pause : 0;
  pace->pause = 20 * loss > twice ? 20 * loss : twice;
  if (pace->pause > 0.5) pace->pause = 0.5;
  pace->alone_until = now + pace->pause;
}

#endif
