/* Estimates the remaining time of conjugate gradients with Jacobi, and the cost of AMG instead. Auto uses them
 * to change within a solve.
 *
 * The iterations so far give two estimates of how many more are needed. One follows from the condition number
 * of M^-1 A, which the coefficients approach from below (lanczos.h). It is too low while the smallest
 * eigenvalue is not yet visible, and too high if few eigenvalues are small or the residual is smooth. The other
 * follows from the rate of the last half of the iterations, and is too high in the initial phase. The smaller
 * one counts.
 *
 * The price of AMG is also counted in iterations, from the entries and rows of A (amg_entry_nanoseconds, ... in
 * core/tuning.h). About half of it is set-up, and half are cycles to a residual of 1e-8. Wall-clock times are
 * not used, so that a solve takes the same decisions every time, and on all ranks. */
#ifndef TSI_OUTLOOK_H
#define TSI_OUTLOOK_H

#include "lanczos.h"
#include "solver.h"

enum { TSI_MOST_LOOKS = 96 };

typedef struct tsi_outlook {
  int is_open;          /* AMG may replace Jacobi */
  double entries, rows; /* of the matrix, over all ranks */
  int component;        /* that the coefficients belong to; -1: none yet */
  int apart;            /* iterations between the first evaluations */
  int next;             /* iteration of the next evaluation */
  int looks, at[TSI_MOST_LOOKS];
  double residual[TSI_MOST_LOOKS]; /* relative to the rule's norm */
  int is_smooth;                   /* the residual of the first iteration is smooth */
  int is_sudden;                   /* the condition number has grown faster than usual */
  /* At the last evaluation: remaining iterations, and the price of AMG in iterations. */
  double remaining, price;
  double condition; /* condition number so far */
  double goal;      /* at the last evaluation */
  int changes;      /* change counter of the matrix when `paid` was last updated */
  double paid;      /* iterations of solves with Jacobi, in excess of AMG's cycles */
  tsi_lanczos lanczos;
} tsi_outlook;

/* For a new solver: whether AMG may replace its Jacobi. Collective over the ranks. */
ts_status tsi_outlook_create(const ts_solver *k, tsi_outlook *o);
/* Starts a solve. */
void tsi_outlook_begin(tsi_outlook *o);
/* Records the numbers of an iteration. */
void tsi_outlook_add(tsi_outlook *o, const tsi_solve *s, int iteration);
/* After a check: returns 1 if a new evaluation was due and made. `goal`: the requested relative residual.
 * `is_needed`: evaluate even if AMG may not follow. */
int tsi_outlook_look(tsi_outlook *o, const tsi_solve *s, int checked, double goal, int is_needed);
/* Whether AMG would cost less than the remaining iterations, at the last evaluation. */
int tsi_outlook_prefers_amg(const tsi_outlook *o, int checked);
/* Records a solve that Jacobi ended after this number of iterations. The second function returns whether AMG
 * would by now be worth its set-up in another solve, as in the ski rental problem. */
void tsi_outlook_pay(tsi_outlook *o, const ts_solver *k, int iterations);
int tsi_outlook_has_paid(const tsi_outlook *o, const ts_solver *k);
/* How many of `steps` iterations should precede the next evaluation. */
int tsi_outlook_steps(const tsi_outlook *o, int iteration, int steps);

#endif
