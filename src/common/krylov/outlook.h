/* How long conjugate gradients with Jacobi will still take, and what AMG would cost instead: what auto changes
 * by, in the midst of a solve.
 *
 * Of the iterations so far two numbers tell how many more there will be. The condition of M^-1 A, which their
 * coefficients approach from below (lanczos.h), gives one: it is too few
 * while the smallest eigenvalue is not yet in sight, and too many if few are small or the residual is smooth.
 * The pace of the last half of the iterations gives another, too many while residuals are still those of a
 * start. The smaller of the two counts.
 *
 * AMG's price is counted in iterations too, by the entries and rows of A (amg_entry_nanoseconds, ... in
 * core/tuning.h): about half of it is set-up, and half are cycles to a residual of 1e-8. Times of the machine's
 * clock play no part, so that a solve takes the same way each time, and on all ranks. */
#ifndef TSI_OUTLOOK_H
#define TSI_OUTLOOK_H

#include "lanczos.h"
#include "solver.h"

enum { TSI_MOST_LOOKS = 96 };

typedef struct tsi_outlook {
  int is_open;          /* AMG may take over */
  double entries, rows; /* of the matrix, on all ranks */
  int component;        /* that the coefficients are of; -1: none so far */
  int next;             /* the iteration of the next look */
  int looks, at[TSI_MOST_LOOKS];
  double residual[TSI_MOST_LOOKS]; /* relative to the rule's norm */
  int is_smooth;                   /* the residual of the first iteration */
  int is_sudden;                   /* the condition has grown by more than iterations do to it as a rule */
  double rest, price;              /* at the last look: iterations that are left, and that AMG costs */
  double condition;                /* so far */
  double goal;                     /* then */
  int changes;                     /* of the matrix, when `paid` was last added to */
  double paid; /* by solves with Jacobi from their first to their last iteration, beyond AMG's cycles */
  tsi_lanczos lanczos;
} tsi_outlook;

/* For a solver that is created: whether AMG may take over from it. Over ranks all come here together. */
ts_status tsi_outlook_create(const ts_solver *k, tsi_outlook *o);
/* A solve begins. */
void tsi_outlook_begin(tsi_outlook *o);
/* The numbers of an iteration. */
void tsi_outlook_add(tsi_outlook *o, const tsi_solve *s, int iteration);
/* After a check: 1 if it was time for a look, and there is a new one. `goal`: the relative residual that is
 * asked for. `is_needed`: also if AMG may not take over. */
int tsi_outlook_look(tsi_outlook *o, const tsi_solve *s, int checked, double goal, int is_needed);
/* Whether AMG would cost less than what is left, at that look. */
int tsi_outlook_prefers_amg(const tsi_outlook *o, int checked);
/* A solve has ended with Jacobi after so many iterations; and whether, were there another, AMG would be worth
 * its set-up by now, as for a skier who buys skis after having paid their price in rent. */
void tsi_outlook_pay(tsi_outlook *o, const ts_solver *k, int iterations);
int tsi_outlook_has_paid(const tsi_outlook *o, const ts_solver *k);
/* How many of `steps` iterations should come before the next look. */
int tsi_outlook_steps(const tsi_outlook *o, int iteration, int steps);

#endif
