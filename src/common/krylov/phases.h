/* Methods with short recurrences that may break down, and a residual that oscillates and drifts: bicgstab, idr.
 *
 * A check looks for trouble in the numbers of all iterations since the last one: a divisor that is 0 or only
 * rounding, a residual that is not finite or has grown so far that no digit of x is left. Then, and when r has
 * not become smaller for many iterations (tsi_patience), the method restarts from the best x with other shadow
 * vectors. r has followed e with any coefficients, so that the gain of a phase is not lost.
 *
 * In single precision r drifts away from b - A (x + M^-1 e), the further the larger it was in between. When it
 * has fallen by 1000 from its peak, and when it meets the rule, that residual replaces it, and the directions
 * stay (Sleijpen and van der Vorst 1996, "Reliable updated residuals in hybrid Bi-CG methods"). Only if it was
 * wrong twice does the method restart.
 *
 * If a check finds the residual much smaller than before, it keeps e, so that a solve neither ends nor restarts
 * with what later iterations made worse. */
#ifndef TSI_PHASES_H
#define TSI_PHASES_H

#include "solver.h"

/* The rest of such a method, besides begin and iterate. */
typedef struct tsi_phases {
  const char *title; /* for messages */
  int best, work;    /* of its own vectors: for the best e, and one that is free between iterations */
  int (*residual_slot)(const ts_solver *k, int iteration); /* of r^T r at its start */
  /* What broke down in an iteration, NULL if nothing did. */
  const char *(*broken)(const tsi_solve *s, int iteration);
  /* The iterations continue with r, which was computed from x: sums of it. */
  ts_status (*resume)(tsi_solve *s);
  int (*may_resume)(const tsi_solve *s); /* at this iteration without a loss; NULL: always */
} tsi_phases;

extern const char tsi_phases_out_of_range[], tsi_phases_grown[];

/* Numbers from -1 to 1 that are always the same; `state` is any number but 0. */
float tsi_phases_random(uint32_t *state);

/* A phase begins, from x and its residual r; e = 0. */
ts_status tsi_phases_begin(tsi_solve *s);
/* Looks at the numbers of iterations reported .. checked-1. */
ts_status tsi_phases_judge(tsi_solve *s, const tsi_phases *of, int checked);
/* Where the iterations or the callback ended the solve within a phase. */
ts_status tsi_phases_settle(tsi_solve *s, const tsi_phases *of);

#endif
