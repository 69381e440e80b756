/* Complementarity problems: the object and the operations of a backend. Call path: lcp.c (descriptor and
 * matrix), lcp_matrix.c or lcp_sparse.c, lcp_solve.c (sweeps and tests), the backend's sweep and residual,
 * lcp_law.h (one unknown or one contact).
 */
#ifndef TSI_LCP_H
#define TSI_LCP_H

#include <math.h>

#include <texsolve/lcp.h>

#include "common/core/array.h"
#include "common/core/core.h"
#include "lcp_sparse.h"

typedef struct tsi_lcp_accelerator tsi_lcp_accelerator; /* lcp_accelerate.c */

/* q, z and the bounds, divided by a power of two if q is far from 1. M and the residual relative to ||q|| do
 * not change, and squares and low-order parts stay within the range of single precision. */
typedef struct tsi_lcp_scale {
  int target;   /* exponent of the scaled q: half that of a matrix far from 1, which keeps z equally near 1 */
  int exponent; /* the device holds the bounds divided by 2^exponent */
  ts_vector *q, *z; /* q as a pair; z as read back from the caller's vector, in lcp's precision */
  ts_scalars *max;  /* one slot */
} tsi_lcp_scale;

/* Exactly one is set. The dense matrices of a batch follow one another. */
typedef struct tsi_lcp_matrix {
  const float *single;
  const double *doubles;
  tsi_lcp_sparse *sparse; /* sparse storage; once written, lcp->sparse uses it until the next write */
} tsi_lcp_matrix;

/* lcp_given.c: the descriptor with host pointers, and the owners of its arrays. All 0 initially. */
typedef struct tsi_lcp_given {
  tsi_lcp_desc desc;
  tsi_csr jacobian, sparse;
  tsi_loans loans;
} tsi_lcp_given;

struct ts_lcp {
  ts_context *context;
  ts_space *space;
  int32_t size, batch; /* unknowns per problem; problems */
  int dimension;       /* unknowns per contact: 1 without friction */
  int is_double;
  ts_lcp_storage storage; /* DENSE or SPARSE */
  tsi_lcp_sparse *sparse; /* NULL with dense storage, and before the first matrix */
  tsi_lcp_sparse *spare;  /* memory for the next matrix; NULL before the second */
  ts_lcp_local local;     /* law of the next sweeps, PROJECTION or EXACT; set by a solve */
  /* Bounds per unknown, friction per contact. NULL: bounds 0 and infinity, or no friction. */
  double *lower, *upper, *friction;
  ts_vector *z, *best, *map; /* iterate, iterate with the smallest residual, natural map; in lcp's precision */
  ts_scalars *slots;
  tsi_lcp_scale *scale;
  tsi_lcp_accelerator *accelerator; /* NULL until first used */
  void *impl;                       /* private data of the backend */
};

/* Momentum is the default if M_ij and M_ji never differ by more than this times M_ii + M_jj. Matrices of bodies
 * that were assembled in single precision, or at slightly different times, differed by up to 0.0095. */
#define TSI_LCP_SLACK 0.01

static inline size_t tsi_lcp_unknowns(const ts_lcp *lcp) {
  return (size_t)lcp->size * (size_t)lcp->batch;
}
static inline size_t tsi_lcp_entries(const ts_lcp *lcp) {
  return tsi_lcp_unknowns(lcp) * (size_t)lcp->size;
}

/* Bound i as stored on the device. `bounds` is lcp->lower or lcp->upper. */
static inline double tsi_lcp_bound(const ts_lcp *lcp, const double *bounds, size_t i, double otherwise) {
  return bounds ? ldexp(bounds[i], -lcp->scale->exponent) : otherwise;
}

/* ---- The table tsi_ops.lcp ---- */

/* clang-format off */
#define TSI_LCP_OPERATIONS(REQUIRED, UNWATCHED, prefix)                                                        \
  /* Storage for the matrices and limits, which follow. Leaves nothing on failure. That of sparse matrices     \
   * comes with each of them, whose failure leaves the old one. */                                             \
  UNWATCHED(prefix, ts_status, create, (ts_lcp *lcp))                                                          \
  UNWATCHED(prefix, void, destroy, (ts_lcp *lcp))                                                              \
  UNWATCHED(prefix, ts_status, write_matrix, (ts_lcp *lcp, const tsi_lcp_matrix *matrix))                      \
  /* The bounds as tsi_lcp_bound has them, lcp->friction. */                                                                           \
  UNWATCHED(prefix, ts_status, write_limits, (const ts_lcp *lcp))                                                  \
  /* The scheme for TS_LCP_SCHEME_AUTO; 0 where it does not have `scheme`, which fits lcp's storage. */                                 \
  UNWATCHED(prefix, ts_lcp_scheme, scheme, (const ts_context *context, const ts_lcp *lcp, ts_lcp_scheme scheme)) \
  /* z after so many sweeps, in single precision or as a pair. Does not wait for the device. */                \
  REQUIRED(prefix, ts_status, sweep,                                                                           \
           (ts_vector *z, const ts_lcp *lcp, const ts_vector *q, ts_lcp_scheme scheme, int sweeps))            \
  /* The natural map z - P(z - w); `map` is neither q nor z. `exact`: the rounding of w = M z + q does not      \
   * count, so that this is what z is worth; else w is as sweeps have it. */                                   \
  REQUIRED(prefix, ts_status, residual,                                                                        \
           (ts_vector *map, const ts_lcp *lcp, const ts_vector *q, const ts_vector *z, int exact))
/* clang-format on */

struct tsi_lcp_ops {
  TSI_LCP_OPERATIONS(TSI_FIELD, TSI_FIELD, )
  /* `sweep` with at least one sweep, then the norm of `residual` and, unless `norm_q` is NULL, of q. NULL: the
   * operations run one by one. */
  ts_status (*sweep_and_test)(ts_vector *z, const ts_lcp *lcp, const ts_vector *q, ts_lcp_scheme scheme,
                              int sweeps, double *residual, double *norm_q);
  /* The momentum of lcp_accelerate.c in few launches; its recurrence defines the new `from` (y), `last` and
   * `state`. `state`: two private numbers of the backend, 0 before the first sweep. NULL: vector operations. */
  ts_status (*add_momentum)(const ts_lcp *lcp, ts_vector *from, ts_vector *last, ts_vector *state,
                            double growth);
  /* Sweeps of sparse contacts with momentum per unit, from `from` (y) to lcp->z. lcp_accelerate.c defines the
   * new `from`, `last` and `counts`. `counts` holds k of each unit at its first unknown, all 0 initially. */
  ts_status (*sweep_ahead)(const ts_lcp *lcp, const ts_vector *q, ts_lcp_scheme scheme, int sweeps,
                           ts_vector *from, ts_vector *last, ts_vector *counts);
  /* Whether the dense matrices are symmetric. NULL: unknown. */
  int (*is_symmetric)(const ts_lcp *lcp);
  int tests_early; /* a test costs no more than a sweep by rows, so the last two tests may predict the time of
                      the next */
};

/* ---- lcp_given.c ---- */
ts_status tsi_lcp_matrix_given(const ts_lcp *lcp, const ts_lcp_desc *desc, tsi_lcp_given *out);
ts_status tsi_lcp_bounds_given(const ts_lcp *lcp, const ts_array *lower, const ts_array *upper,
                               tsi_lcp_given *out);
ts_status tsi_lcp_friction_given(const ts_lcp *lcp, const ts_array *friction, tsi_lcp_given *out);

/* ---- lcp_matrix.c ---- */
/* Converts a descriptor's matrix to one array, and checks every number and the diagonal. The caller frees
 * `made`, which is NULL if the array is the application's. */
ts_status tsi_lcp_matrix_of(const ts_lcp *lcp, const tsi_lcp_desc *desc, tsi_lcp_matrix *matrix, double **made);
/* Checks that one matrix is given, and the sizes of jacobian or sparse_matrix. */
ts_status tsi_lcp_check_given(const ts_lcp *lcp, const tsi_lcp_desc *desc);
/* `index`: a row, counted over all problems. */
ts_status tsi_lcp_check_diagonal(const ts_lcp *lcp, size_t index, double value);
/* Whether a number is finite, also in lcp's precision. */
int tsi_lcp_is_number(const ts_lcp *lcp, double value);

/* Whether dense matrices that are about to be written are symmetric, except for TSI_LCP_SLACK. */
int tsi_lcp_is_nearly_symmetric(const ts_lcp *lcp, const tsi_lcp_matrix *matrix);

static inline double tsi_lcp_value(const tsi_csr *csr, int32_t entry) {
  return csr->double_values ? csr->double_values[entry] : csr->values ? (double)csr->values[entry] : 0;
}

/* ---- lcp_settings.c ---- */
ts_status tsi_lcp_check_settings(const ts_lcp *lcp, ts_lcp_settings *settings);

/* ---- lcp_residual.c ---- */
/* Checks that a vector has one component and is over lcp's space. */
ts_status tsi_lcp_check_vector(const ts_lcp *lcp, const ts_vector *v, const char *name);
/* `largest`: the largest entry of the matrix's diagonal. */
void tsi_lcp_set_target(const ts_lcp *lcp, double largest);
/* Finds the exponent of 2 by which this q and its z are divided. It is 0 if scaling makes no difference. */
ts_status tsi_lcp_find_exponent(const ts_lcp *lcp, const ts_vector *q, int *exponent);
/* Scales the bounds. *q becomes the scaled copy, or stays q. */
ts_status tsi_lcp_set_exponent(const ts_lcp *lcp, int exponent, const ts_vector **q);
/* to = 2^exponent from. */
ts_status tsi_lcp_shift(ts_vector *to, int exponent, const ts_vector *from);
/* The norm of the natural map; `exact` as in the table. */
ts_status tsi_lcp_find_residual(const ts_lcp *lcp, const ts_vector *q, const ts_vector *z, int exact,
                                double *residual);
/* Whether a vector over lcp's space contains neither NaN nor infinity. */
ts_status tsi_lcp_is_finite(const ts_lcp *lcp, const ts_vector *v, int *is);

/* ---- lcp_accelerate.c ---- */
/* Creates the vectors for accelerated sweeps on first use. Call it outside tsi_enter. */
ts_status tsi_lcp_accelerator_create(ts_lcp *lcp);
void tsi_lcp_accelerator_destroy(ts_lcp *lcp);
/* Starts from lcp->z. */
ts_status tsi_lcp_accelerate_begin(const ts_lcp *lcp);
/* Performs `sweeps` sweeps; lcp->z becomes the result of the last. Does not wait for the device. */
ts_status tsi_lcp_accelerate(const ts_lcp *lcp, const ts_vector *q, ts_lcp_scheme scheme, int sweeps);

#endif
