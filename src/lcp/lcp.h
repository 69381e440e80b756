/* Complementarity problems: the object, and what a backend does for it. The path: lcp.c (the descriptor, the
 * matrix), lcp_matrix.c or lcp_sparse.c, lcp_solve.c (sweeps and tests), a backend's sweep and residual,
 * lcp_law.h (one unknown, one contact).
 */
#ifndef TSI_LCP_H
#define TSI_LCP_H

#include <math.h>

#include <texsolve/lcp.h>

#include "common/core/array.h"
#include "common/core/core.h"
#include "lcp_sparse.h"

typedef struct tsi_lcp_accelerator tsi_lcp_accelerator; /* lcp_accelerate.c */

/* q, z and the bounds divided by a power of two, which brings a q that is far from 1 near it: M and the
 * residual relative to ||q|| stay as they are, and squares and low parts stay within the range of single
 * precision. */
typedef struct tsi_lcp_scale {
  int target;   /* the exponent that q is brought to: half that of a matrix far from 1, so that z is as near */
  int exponent; /* the bounds on the device are divided by 2^exponent */
  ts_vector *q, *z; /* q, as a pair; and z as it comes back from the caller's vector, in lcp's precision */
  ts_scalars *max;  /* one slot */
} tsi_lcp_scale;

/* One of the three; of the first two the problems one after the other. */
typedef struct tsi_lcp_matrix {
  const float *single;
  const double *doubles;
  tsi_lcp_sparse *sparse; /* of sparse storage; once written it is lcp->sparse until the next one is */
} tsi_lcp_matrix;

/* lcp_given.c: such a descriptor, and what holds its arrays; all 0 at first. */
typedef struct tsi_lcp_given {
  tsi_lcp_desc desc;
  tsi_csr jacobian, sparse;
  tsi_loans loans;
} tsi_lcp_given;

struct ts_lcp {
  ts_context *context;
  ts_space *space;
  int32_t size, batch; /* unknowns of a problem, and problems */
  int dimension;       /* unknowns of a contact: 1 without friction */
  int is_double;
  ts_lcp_storage storage; /* DENSE or SPARSE */
  tsi_lcp_sparse *sparse; /* NULL with dense storage, and before its first matrix */
  tsi_lcp_sparse *spare;  /* memory for the next one; NULL before the second */
  ts_lcp_local local;     /* of the sweeps that follow, PROJECTION or EXACT; set by a solve */
  /* Per unknown, or per contact: NULL where the bounds are 0 and infinity, and without friction. */
  double *lower, *upper, *friction;
  ts_vector *z, *best,
      *map; /* iterate, the one with the smallest residual, the natural map; in lcp's precision */
  ts_scalars *slots;
  tsi_lcp_scale *scale;
  tsi_lcp_accelerator *accelerator; /* NULL before it is asked for */
  void *impl;                       /* the backend's */
};

/* How much M may differ from M^T in an entry, times two of the diagonal, for momentum by default: that of
 * bodies assembled in single precision, or a little apart in time, differed by up to 0.0095. */
#define TSI_LCP_SLACK 0.01

static inline size_t tsi_lcp_unknowns(const ts_lcp *lcp) {
  return (size_t)lcp->size * (size_t)lcp->batch;
}
static inline size_t tsi_lcp_entries(const ts_lcp *lcp) {
  return tsi_lcp_unknowns(lcp) * (size_t)lcp->size;
}

/* Bound i as the device has it, where `bounds` are lcp->lower or lcp->upper. */
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
  /* `sweep`, which no sweeps leave out, the norm of `residual` and, unless NULL, of q. NULL: one operation
   * after the other. */
  ts_status (*sweep_and_test)(ts_vector *z, const ts_lcp *lcp, const ts_vector *q, ts_lcp_scheme scheme,
                              int sweeps, double *residual, double *norm_q);
  /* The momentum of lcp_accelerate.c, whose recurrence says what `from` (y), `last` and `state` become, in few
   * launches. `state`: two numbers of the backend's own, 0 before the first sweep. NULL: as operations on
   * vectors. */
  ts_status (*add_momentum)(const ts_lcp *lcp, ts_vector *from, ts_vector *last, ts_vector *state,
                            double growth);
  /* Sweeps of sparse contacts with momentum by units, from `from` (y) to lcp->z; lcp_accelerate.c says what
   * `from`, `last` and `counts` become, the latter k of each unit at its first unknown, all 0 at first. */
  ts_status (*sweep_ahead)(const ts_lcp *lcp, const ts_vector *q, ts_lcp_scheme scheme, int sweeps,
                           ts_vector *from, ts_vector *last, ts_vector *counts);
  /* Whether the dense matrices are symmetric. NULL: not known. */
  int (*is_symmetric)(const ts_lcp *lcp);
  int tests_early; /* a test costs no more than a sweep by rows: its time is foreseen from the last two */
};

/* ---- lcp_given.c ---- */
ts_status tsi_lcp_matrix_given(const ts_lcp *lcp, const ts_lcp_desc *desc, tsi_lcp_given *out);
ts_status tsi_lcp_bounds_given(const ts_lcp *lcp, const ts_array *lower, const ts_array *upper,
                               tsi_lcp_given *out);
ts_status tsi_lcp_friction_given(const ts_lcp *lcp, const ts_array *friction, tsi_lcp_given *out);

/* ---- lcp_matrix.c ---- */
/* The matrix of a descriptor as one array; `made` is to be freed, NULL where the array is the caller's. Checks
 * every number and the diagonal. */
ts_status tsi_lcp_matrix_of(const ts_lcp *lcp, const tsi_lcp_desc *desc, tsi_lcp_matrix *matrix, double **made);
/* That one matrix is given, and jacobian or sparse_matrix have their sizes. */
ts_status tsi_lcp_check_given(const ts_lcp *lcp, const tsi_lcp_desc *desc);
/* Of row `index` of all problems. */
ts_status tsi_lcp_check_diagonal(const ts_lcp *lcp, size_t index, double value);
/* Finite, also in lcp's precision. */
int tsi_lcp_is_number(const ts_lcp *lcp, double value);

/* But for a hundredth of two diagonal entries: of dense matrices as they are written. */
int tsi_lcp_is_nearly_symmetric(const ts_lcp *lcp, const tsi_lcp_matrix *matrix);

static inline double tsi_lcp_value(const tsi_csr *csr, int32_t entry) {
  return csr->double_values ? csr->double_values[entry] : csr->values ? (double)csr->values[entry] : 0;
}

/* ---- lcp_settings.c ---- */
ts_status tsi_lcp_check_settings(const ts_lcp *lcp, ts_lcp_settings *settings);

/* ---- lcp_residual.c ---- */
/* Of one component, over lcp's space. */
ts_status tsi_lcp_check_vector(const ts_lcp *lcp, const ts_vector *v, const char *name);
/* For a matrix with this largest entry of the diagonal. */
void tsi_lcp_set_target(const ts_lcp *lcp, double largest);
/* For q of this size: what q and z are divided by, 2^exponent, 0 where that makes no difference. */
ts_status tsi_lcp_find_exponent(const ts_lcp *lcp, const ts_vector *q, int *exponent);
/* The bounds, and of q the scaled copy, or q itself. */
ts_status tsi_lcp_set_exponent(const ts_lcp *lcp, int exponent, const ts_vector **q);
/* to = 2^exponent from. */
ts_status tsi_lcp_shift(ts_vector *to, int exponent, const ts_vector *from);
/* The norm of the natural map; `exact` as in the table. */
ts_status tsi_lcp_find_residual(const ts_lcp *lcp, const ts_vector *q, const ts_vector *z, int exact,
                                double *residual);
/* Of a vector of lcp's, neither NaN nor infinite. */
ts_status tsi_lcp_is_finite(const ts_lcp *lcp, const ts_vector *v, int *is);

/* ---- lcp_accelerate.c ---- */
/* Vectors for accelerated sweeps, if there are none yet; outside tsi_enter. */
ts_status tsi_lcp_accelerator_create(ts_lcp *lcp);
void tsi_lcp_accelerator_destroy(ts_lcp *lcp);
/* lcp->z is the start. */
ts_status tsi_lcp_accelerate_begin(const ts_lcp *lcp);
/* lcp->z becomes what the last of so many sweeps gives. Does not wait for the device. */
ts_status tsi_lcp_accelerate(const ts_lcp *lcp, const ts_vector *q, ts_lcp_scheme scheme, int sweeps);

#endif
