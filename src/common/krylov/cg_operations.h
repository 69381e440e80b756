/* Operations of conjugate gradients that a backend may implement: the table tsi_ops.cg. */
#ifndef TSI_CG_OPERATIONS_H
#define TSI_CG_OPERATIONS_H

#include "common/core/backend.h"

/* Vectors of a CG iteration with one reduction (cg.c). */
typedef struct tsi_cg_update {
  ts_vector *e, *r_new, *d_new;
  const ts_vector *r, *d, *q, *m; /* NULL: 1 */
  const ts_scalars *slots;
  int delta, dq, qmq; /* slots: r^T M^-1 r, d^T q, q^T M^-1 q */
} tsi_cg_update;

/* CG iterations that the device does on its own (cg.c). */
typedef struct tsi_cg_iterations {
  const ts_matrix *matrix;
  ts_vector *e, *r, *d, *q;
  const ts_vector *m; /* NULL: 1 */
  ts_scalars *slots;
  int ring, ring_size; /* slots: delta of iteration k is ring + 2 (k mod ring_size), followed by its d^T q */
  int rr, done;        /* slots: r^T r after the last iteration, if requested; the number of iterations done */
  int iteration;       /* the first one; its delta is available */
  int count;           /* maximum number of iterations, at least 1 */
  /* The iterations end if delta, or r^T r, of every component is at most `enough`, or if delta is not finite.
   * They also end if d^T q is not above 0 in a component with delta above `visible`. */
  int stop_by_residual;
  float enough[4], visible[4];
} tsi_cg_iterations;

/* clang-format off */
#define TSI_CG_OPERATIONS(REQUIRED, OPTIONAL, prefix)                                                          \
  /* alpha = delta / dq and beta = alpha qmq / dq - 1, both 0 where |dq| < FLT_MIN, beta also where it is not  \
   * above 1e-5 (what rounding leaves of it); e = e + alpha d; r_new = r - alpha q; d_new = m r_new + beta d.  \
   * r_new and d_new are none of the others. For backends with tsi_ops.dots. */                                \
  REQUIRED(prefix, ts_status, update, (const tsi_cg_update *update))                                           \
                                                                                                               \
  /* Whole iterations with two reductions, for matrices that fit; both or none. Afterwards r, d and e are those\
   * of the next iteration, and q is undefined. */                                                             \
  OPTIONAL(prefix, int, fits, (const ts_matrix *A))                                                            \
  OPTIONAL(prefix, ts_status, iterate, (const tsi_cg_iterations *run))
/* clang-format on */

struct tsi_cg_ops {
  TSI_CG_OPERATIONS(TSI_FIELD, TSI_FIELD, )
};

#endif
