/* Conjugate gradients, shared by cg.c (API, workspace) and cg_run.c (the method). */
#ifndef TSI_CG_H
#define TSI_CG_H

#include "ops.h"

struct ts_cg {
  ts_context *context;
  ts_matrix *matrix;
  ts_cg_desc desc; /* resolved */
  int overlap;     /* iterations begun before a check's numbers are awaited */
  int ring;        /* iterations whose numbers the slots hold */
  double *history; /* for the progress callback */
  float *numbers;  /* the slots on the host */

  /* Workspace for vectors of `components`, 0 if there is none yet. */
  int components;
  ts_vector *x, *r, *d, *q, *b;
  ts_vector *e;               /* what was added to x since r was last computed from it */
  ts_vector *m;               /* 1 / diagonal; NULL without preconditioner */
  ts_vector *scratch;         /* NULL if all operations are fused */
  ts_vector *r_next, *d_next; /* of an iteration with one reduction; NULL where there are two */
  ts_scalars *slots;
};

/* The slots: a few numbers, then delta and d^T A d of every iteration in a ring. */
enum {
  TSI_CG_SCALE, /* a power of two that brings max |b| to about 1 */
  TSI_CG_UNSCALE,
  TSI_CG_MAX_B,
  TSI_CG_MAX_X, /* only where something is not finite */
  TSI_CG_BB,    /* b^T b */
  TSI_CG_DX,    /* x^T D D x with D = diag(A) */
  TSI_CG_RR,    /* r^T r */
  TSI_CG_DD,    /* d^T d, in careful mode */
  TSI_CG_QMQ,   /* q^T M^-1 q, with one reduction */
  TSI_CG_RING
};

/* Runs the method on a prepared workspace; b and x are the user's. */
ts_status tsi_cg_run(ts_cg *cg, const ts_vector *b, ts_vector *x, ts_cg_result *result);

#endif
