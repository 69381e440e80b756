/* Methods with coefficients that need roots and rotations, which device slots do not support: minres, lsmr.
 *
 * The device builds a basis by a recurrence with quotients of slots as coefficients. The host reads the numbers
 * of a series of iterations at once and rotates in double precision. It writes the coefficients of the
 * solution's update to slots, and the device adds the series to e. Until then the vectors of the series stay in
 * a ring.
 *
 * The basis is scaled by the Euclidean norm, the only root that a slot can hold:
 *
 *   y = M^-1 u;  sigma = |y|;  v = y / sigma;  kappa = u^T v
 *
 * so that |u| = sqrt(sigma kappa) in the norm of M^-1 and |v| = sqrt(kappa / sigma) in that of M. Without M,
 * kappa = sigma.
 *
 * The recurrence minimises a norm of M^-1, but the rule is about the Euclidean norm. The ratio of the two when
 * r was last computed from x predicts when the rule is met. That x is verified. If its residual agrees with the
 * recurrence, the recurrence continues with the new ratio. Otherwise rounding has separated them, and the
 * method restarts from x. */
#ifndef TSI_SERIES_H
#define TSI_SERIES_H

#include "solver.h"

enum {
  TSI_SERIES = 8,           /* maximum number of iterations between two reads */
  TSI_SERIES_ROTATIONS = 10 /* numbers of the rotations that a method keeps */
};

/* The numbers of each iteration: two for its u and v, and one of the method. */
enum { TSI_SERIES_SIGMA, TSI_SERIES_KAPPA, TSI_SERIES_OTHER, TSI_SERIES_NUMBERS };

/* State of a component since the method last started from x. */
typedef struct tsi_series {
  double norm;       /* by the recurrence, times s->scale, in the norm of M^-1 */
  double start;      /* the norm at the start */
  double ratio;      /* of the Euclidean norm to `norm` */
  double size;       /* of A in this basis: its largest column so far */
  double indefinite; /* u^T M^-1 u, if negative */
  double rotations[TSI_SERIES_ROTATIONS];
  int is_over;   /* exhausted: further iterations are only rounding */
  int is_least;  /* the norm is minimal, since A M^-1 r is 0 up to rounding */
  int is_broken; /* a number is not finite */
} tsi_series;

typedef struct tsi_series_method {
  int coefficients; /* number of coefficients per iteration */
  /* Computes the rotations of iteration i, for a component that is not over, and the coefficients of the
   * update. */
  void (*rotate)(const tsi_solve *s, tsi_series *of, int component, int i, double *coefficients);
  /* Adds iterations first to end - 1 to e. tsi_series_coefficient returns the slots of their coefficients. */
  ts_status (*update)(const tsi_solve *s, int first, int end);
  /* Called when x includes all of e, r is its residual, and some component of r is minimal. Continues in double
   * precision, or sets *is_handled = 0. May be NULL. */
  ts_status (*handle_least)(tsi_solve *s, int *is_handled);
} tsi_series_method;

/* For plan(): `vectors` own vectors over the columns, followed by the ring. */
void tsi_series_plan(ts_solver *k, int vectors, int coefficients);
/* v of an iteration, in the ring; and the slots of its numbers. */
ts_vector *tsi_series_vector(const ts_solver *k, int iteration);
int tsi_series_slot(const ts_solver *k, int iteration, int number);
/* The slot of a coefficient of iteration `at` of a series, counted from its first one. */
int tsi_series_coefficient(const ts_solver *k, const tsi_series_method *method, int at, int number);
tsi_series *tsi_series_of(const ts_solver *k, int component);
/* The rounding error of a number that would be 0 in exact arithmetic, given the size of its terms. */
double tsi_series_rounding(const ts_solver *k, double size);

/* Computes v, sigma and kappa of an iteration from its u. */
ts_status tsi_series_scale(const tsi_solve *s, int iteration, const ts_vector *u);
/* |u| and |v| on the host; |v| is 1 if u is 0. */
void tsi_series_norms(const tsi_solve *s, tsi_series *of, int component, int iteration, double *u, double *v);

/* Starts from x and r (or the gradient) with e = 0. u becomes r times a power of two. */
ts_status tsi_series_begin(tsi_solve *s, ts_vector *u);
/* Starts without setting u. */
ts_status tsi_series_begin_phase(tsi_solve *s);
/* Checks iterations reported .. checked-1 and adds them to e. `work` is over the columns. */
ts_status tsi_series_check(tsi_solve *s, const tsi_series_method *method, ts_vector *work, int checked);
/* For a solve that the maximum of iterations or the callback ended within a series. */
ts_status tsi_series_finish(tsi_solve *s, ts_vector *work);
ts_status tsi_series_run_fixed(tsi_solve *s, const tsi_series_method *method);

/* minres.c: u of an iteration. */
ts_vector *tsi_minres_residual(const ts_solver *k, int iteration);
/* minres_singular.c */
ts_status tsi_minres_handle_least(tsi_solve *s, int *is_handled);

#endif
