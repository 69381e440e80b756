/* Methods with short recurrences that may break down, and with a residual that oscillates and drifts: bicgstab,
 * idr.
 *
 * A check looks for trouble in the numbers of all iterations since the last one. Trouble is a divisor that is 0
 * or only rounding, or a residual that is not finite or has grown until no digit of x is correct. The method
 * then restarts from the best x with other shadow vectors. It does so too when r has not become smaller for
 * many iterations (tsi_patience). r follows e for any coefficients, so that the gain of a phase is not lost.
 *
 * In single precision r drifts away from b - A (x + M^-1 e), by more the larger it was in between. That
 * residual replaces r when r has fallen by 1000 from its peak, and when r meets the rule. The directions are
 * kept (Sleijpen and van der Vorst 1996, "Reliable updated residuals in hybrid Bi-CG methods"). The method
 * restarts only if r was wrong twice.
 *
 * If a check finds the residual much smaller than before, it keeps e. A solve then neither ends nor restarts
 * with an x that later iterations made worse. */
#ifndef TSI_PHASES_H
#define TSI_PHASES_H

#include "solver.h"

/* The parts of such a method other than begin and iterate. */
typedef struct tsi_phases {
  const char *title; /* for messages */
  int best, work;    /* indices of own vectors: for the best e, and one that is free between iterations */
  int (*residual_slot)(const ts_solver *k, int iteration); /* of r^T r at the start of the iteration */
  /* Describes the breakdown in an iteration; NULL if none. */
  const char *(*broken)(const tsi_solve *s, int iteration);
  /* Continues the iterations with an r that was computed from x: computes the sums of r. */
  ts_status (*resume)(tsi_solve *s);
  int (*may_resume)(const tsi_solve *s); /* without a loss in this iteration; NULL: always */
} tsi_phases;

extern const char tsi_phases_out_of_range[], tsi_phases_grown[];

/* A fixed sequence of numbers from -1 to 1. `state` must not be 0. */
float tsi_phases_random(uint32_t *state);

/* Starts a phase from x and its residual r; e = 0. */
ts_status tsi_phases_begin(tsi_solve *s);
/* Checks the numbers of iterations reported .. checked-1. */
ts_status tsi_phases_check(tsi_solve *s, const tsi_phases *of, int checked);
/* For a solve that the maximum of iterations or the callback ended within a phase. */
ts_status tsi_phases_finish(tsi_solve *s, const tsi_phases *of);

#endif
