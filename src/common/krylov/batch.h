/* Methods whose coefficients need roots and rotations, which device slots do not have: minres, lsmr.
 *
 * The device builds a basis by a recurrence whose coefficients are quotients of slots. The host reads the
 * numbers of a batch of iterations at once, rotates in double precision, and writes the coefficients of the
 * solution's update into slots; the device adds the batch to e. Until then the vectors of the batch are kept in
 * a ring.
 *
 * The basis is scaled by the Euclidean norm, the only root that a slot can hold:
 *
 *   y = M^-1 u;  sigma = |y|;  v = y / sigma;  kappa = u^T v
 *
 * so that |u| = sqrt(sigma kappa) in the norm of M^-1 and |v| = sqrt(kappa / sigma) in that of M. Without M
 * kappa = sigma.
 *
 * What the recurrence makes small is a norm of M^-1, and the rule is about the Euclidean one. The ratio of the
 * two when r was last computed from x predicts when the rule is met. That x is verified: if the residual
 * computed from it agrees with the recurrence, the recurrence goes on with the new ratio; if not, rounding has
 * separated them, and the method begins again from x. */
#ifndef TSI_BATCH_H
#define TSI_BATCH_H

#include "solver.h"

enum {
  TSI_BATCH = 8,           /* iterations between two reads, at most */
  TSI_BATCH_ROTATIONS = 10 /* numbers that a method keeps of its rotations */
};

/* The numbers of every iteration: of its u and v, and one of the method's. */
enum { TSI_BATCH_SIGMA, TSI_BATCH_KAPPA, TSI_BATCH_OTHER, TSI_BATCH_NUMBERS };

/* Of a component, since the method last began from x. */
typedef struct tsi_batch {
  double norm;       /* by the recurrence, times s->scale, in M^-1's norm */
  double start;      /* at the beginning */
  double ratio;      /* of the Euclidean norm to it */
  double size;       /* of A in this basis: its largest column so far */
  double indefinite; /* u^T M^-1 u, if that is negative */
  double rotations[TSI_BATCH_ROTATIONS];
  int is_over;   /* exhausted: what follows is rounding */
  int is_least;  /* the norm is as small as it gets, since A M^-1 r is 0 but for rounding */
  int is_broken; /* a number is not finite */
} tsi_batch;

typedef struct tsi_batch_method {
  int coefficients; /* of an iteration */
  /* Iteration i of a component that is not over: its rotations, and the coefficients of the update. */
  void (*rotate)(const tsi_solve *s, tsi_batch *of, int component, int i, double *coefficients);
  /* Adds iterations first to end - 1 to e; tsi_batch_coefficient has their coefficients. */
  ts_status (*update)(const tsi_solve *s, int first, int end);
  /* x has all of e, r is its residual, and of some component it is as small as it gets: what follows from that
   * in double precision, or *is_settled = 0. May be NULL. */
  ts_status (*settle_least)(tsi_solve *s, int *is_settled);
} tsi_batch_method;

/* For plan(): `vectors` of its own over the columns, then the ring. */
void tsi_batch_plan(ts_solver *k, int vectors, int coefficients);
/* v of an iteration, in the ring; and the slots of its numbers. */
ts_vector *tsi_batch_vector(const ts_solver *k, int iteration);
int tsi_batch_slot(const ts_solver *k, int iteration, int number);
/* The slot of a coefficient of the batch's iteration `at`, counted from its first one. */
int tsi_batch_coefficient(const ts_solver *k, const tsi_batch_method *method, int at, int number);
tsi_batch *tsi_batch_of(const ts_solver *k, int component);
/* What a number of size `size` may be but for rounding, where exact arithmetic has 0. */
double tsi_batch_rounding(const ts_solver *k, double size);

/* v, sigma and kappa of an iteration from its u. */
ts_status tsi_batch_scale(const tsi_solve *s, int iteration, const ts_vector *u);
/* |u| and |v| on the host; |v| is 1 where u is 0. */
void tsi_batch_norms(const tsi_solve *s, tsi_batch *of, int component, int iteration, double *u, double *v);

/* From x and r (or the gradient), e = 0: u becomes that times a power of two. */
ts_status tsi_batch_begin(tsi_solve *s, ts_vector *u);
/* The same, but for u. */
ts_status tsi_batch_begin_phase(tsi_solve *s);
/* Looks at iterations reported .. checked-1, and adds them to e. `work` is over the columns. */
ts_status tsi_batch_judge(tsi_solve *s, const tsi_batch_method *method, ts_vector *work, int checked);
/* Where the iterations or the callback ended the solve within a batch. */
ts_status tsi_batch_settle(tsi_solve *s, ts_vector *work);
ts_status tsi_batch_run_fixed(tsi_solve *s, const tsi_batch_method *method);

/* minres.c: u of an iteration. */
ts_vector *tsi_minres_residual(const ts_solver *k, int iteration);
/* minres_singular.c */
ts_status tsi_minres_settle_least(tsi_solve *s, int *is_settled);

#endif
