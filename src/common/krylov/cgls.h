/* CGLS, shared by cgls.c (API, workspace) and cgls_run.c (the method). */
#ifndef TSI_CGLS_H
#define TSI_CGLS_H

#include <texsolve/krylov.h>

#include "common/core/backend.h"
#include "solve_scale.h"

enum { TSI_CGLS_COLUMN_VECTORS = 6, TSI_CGLS_ROW_VECTORS = 3 };

struct ts_cgls {
  ts_context *context;
  ts_matrix *matrix, *transposed;
  ts_krylov_desc desc; /* resolved */
  int overlap;         /* iterations begun before a check's numbers are awaited */
  int ring;            /* iterations whose numbers the slots hold */
  double *history;     /* for the progress callback */
  float *numbers;      /* the slots on the host */

  /* Workspace for vectors of `components`, 0 if there is none yet. */
  int components;
  ts_vector *column_vectors[TSI_CGLS_COLUMN_VECTORS + 1], *row_vectors[TSI_CGLS_ROW_VECTORS];
  int column_vector_count;
  ts_vector *x, *x_new, *e, *s, *p; /* over columns; s = A^T r */
  ts_vector *m;                     /* 1 / diag(A^T A); its vector is there without Jacobi too, unused */
  int exponent;         /* A and A^T are multiplied by 2^-exponent, which is not 0 where they are far
                           from 1, and x by 2^exponent */
  double frobenius;     /* norm of that A, with Jacobi */
  ts_vector *scratch;   /* NULL if all operations are fused */
  ts_vector *b, *r, *q; /* over rows */
  ts_scalars *slots;
};

enum {
  TSI_CGLS_SCALE, /* a power of two that brings max |b| to about 1 */
  TSI_CGLS_UNSCALE,
  TSI_CGLS_MAX_B,
  TSI_CGLS_MAX_X, /* only where x may overflow, or something is not finite */
  TSI_CGLS_BB,    /* b^T b */
  TSI_CGLS_SB,    /* |A^T b|^2 */
  TSI_CGLS_RR,    /* r^T r with r = b - A x computed anew */
  TSI_CGLS_SS,    /* |A^T r|^2 */
  TSI_CGLS_DX,    /* x^T D D x with D = diag(A^T A) */
  TSI_CGLS_RING
};

/* A whole solve on a prepared workspace; b and x are the user's. */
ts_status tsi_cgls_run(ts_cgls *k, const ts_vector *b, ts_vector *x, ts_cg_result *result);

#endif
