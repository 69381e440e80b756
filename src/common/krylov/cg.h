/* Conjugate gradients, shared by cg.c (API, workspace), cg_run.c (the method) and cg_checks.c (how a solve
 * ends). */
#ifndef TSI_CG_H
#define TSI_CG_H

#include "cg_operations.h"
#include "solve_scale.h"

struct ts_cg {
  ts_context *context;
  ts_matrix *matrix;
  ts_cg_desc desc; /* resolved */
  int overlap;     /* iterations begun before a check's numbers are awaited */
  int ring;        /* iterations whose numbers the slots hold */
  int on_device;   /* the device carries out iterations by itself, up to the next check */
  double *history; /* for the progress callback */
  float *numbers;  /* the slots on the host */

  /* Workspace for vectors of `components`, 0 if there is none yet. */
  int components;
  ts_vector *x, *r, *d, *q, *b;
  ts_vector *e;               /* what was added to x since r was last computed from it */
  ts_vector *m;               /* 1 / diagonal, or of a matrix far from 1 that of its size; NULL without it */
  ts_vector *z;               /* M^-1 r by multigrid; NULL without it */
  ts_vector *scratch;         /* NULL if all operations are fused */
  ts_vector *r_next, *d_next; /* of an iteration with one reduction; NULL where there are two */
  ts_scalars *slots;
};

/* The slots: a few numbers, then delta and d^T A d of every iteration in a ring. */
enum {
  TSI_CG_SCALE, /* a power of two that brings max |b| to about 1 */
  TSI_CG_UNSCALE,
  TSI_CG_MAX_B,
  TSI_CG_MAX_X, /* only where x may overflow, or something is not finite */
  TSI_CG_BB,    /* b^T b */
  TSI_CG_DX,    /* x^T D D x with D = diag(A) */
  TSI_CG_RR,    /* r^T r */
  TSI_CG_DD,    /* d^T d, in careful mode */
  TSI_CG_QMQ,   /* q^T M^-1 q, with one reduction */
  TSI_CG_DONE,  /* iterations that the device has carried out by itself since the last check */
  TSI_CG_RING
};

/* A solve under way. */
typedef struct tsi_cg_state {
  ts_cg *cg;
  ts_cg_result *result;
  int iteration; /* done so far */
  int reported;  /* iterations whose numbers were read */
  int careful;
  int begun;           /* the iteration that the directions last began with */
  double direction[4]; /* d^T M d of the iteration that comes next, from the recurrence */
  double delta_0[4];
  double norm_b[4];     /* of the scaled b */
  double norm_start[4]; /* of the first residual */
  double unscale[4];    /* what x is multiplied by at the end */
  int may_overflow;     /* by that */
  int settled;          /* e is part of x, and the result has the numbers of x */
  double norm_rule[4];  /* what TS_STOP_RESIDUAL is relative to: norm_b, or where b is 0 that of the first
                           residual */
  double norm_r[4];     /* of the recurrence, at the last check; for TS_STOP_RESIDUAL */
  double incompatible;  /* norm of the part of b that no x reaches, which r is without */
  double best;          /* smallest delta ratio so far, and when it was seen */
  int best_iteration;
  double verified; /* the rule's measure at the last verification, and how often it did not halve */
  int verified_in_vain;
} tsi_cg_state;

static inline int tsi_cg_delta_slot(const ts_cg *cg, int iteration) {
  return TSI_CG_RING + 2 * (iteration % cg->ring);
}
static inline int tsi_cg_dq_slot(const ts_cg *cg, int iteration) {
  return tsi_cg_delta_slot(cg, iteration) + 1;
}
static inline double tsi_cg_number(const ts_cg *cg, int slot, int component) {
  return cg->numbers[4 * slot + component];
}

/* ---- cg_run.c ---- */

/* Runs the method on a prepared workspace; b and x are the user's. */
ts_status tsi_cg_run(ts_cg *cg, const ts_vector *b, ts_vector *x, ts_cg_result *result);

ts_status tsi_cg_read_slots(ts_cg *cg);
/* r = b - A x with all of x, and the sums of it that tell where the solve stands; `more` may be one further
 * sum. */
ts_status tsi_cg_replace_residual(const tsi_cg_state *s, const tsi_dot *more);
/* e = 0, d = M^-1 r */
ts_status tsi_cg_begin_directions(tsi_cg_state *s);

/* ---- cg_checks.c ---- */

/* The reason and its text, or `message`, into the result. Returns 1. */
int tsi_cg_finish(tsi_cg_state *s, ts_reason reason, const char *message);
/* Converged, but for a part of b that no x reaches. Returns 1. */
int tsi_cg_finish_converged(tsi_cg_state *s);
/* Looks at the numbers of the start; x is what the solve began with. Sets `*ended` if there is nothing to
 * iterate. */
ts_status tsi_cg_judge_start(tsi_cg_state *s, const ts_vector *x, int *ended);
/* Looks at the numbers of the iterations since the last check, up to `checked`. */
ts_status tsi_cg_judge(tsi_cg_state *s, int checked, int *ended);
/* The recurrence claims convergence, or has not improved for long: look at b - A x. */
ts_status tsi_cg_judge_by_residual(tsi_cg_state *s, int must_end, int *ended);
/* d^T q <= 0 means something where delta is above this. */
double tsi_cg_visible(const tsi_cg_state *s, int component);
/* What the recurrence says of the stopping rule: a number that is at most rtol on convergence. */
double tsi_cg_claimed(const tsi_cg_state *s, int iteration);
/* x = x + e; computes r anew, and the numbers of the result from it. To go on from there, begin_directions. */
ts_status tsi_cg_verify(tsi_cg_state *s, double *measure);

#endif
