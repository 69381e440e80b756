/* Incomplete factors: B = P D_r A D_c Q ~ L D U. The files, in the order of the steps:
 *
 *   ilu_order.c    P, D_r and D_c from a matching; an order Q; B as rows for the factorisation
 *   ilu_factor.c   L, D and U by ILUT with column pivoting, or by ILU(k)
 *   ilu_cholesky.c L, D and U = L^T of a symmetric B, by incomplete Cholesky
 *   ilu_pipeline.c computes rows by several threads; ilu_store.c stores them
 *   ilu_solve.c    z = D_c Q U^-1 D^-1 L^-1 P D_r r exactly, on the host
 *   ilu_sweeps.c   the same approximately, by products on the device
 *   ilu_levels.c   the rows of a triangle that can be computed simultaneously
 *   ilu_build.c    selects the factors of a matrix
 *   ilu.c          the functions of the kinds */
#ifndef TSI_ILU_H
#define TSI_ILU_H

#include "common/core/core.h"
#include "common/precond/preconditioner.h"

/* The scaling before the order. ROWS: rows by their largest entries. MATCHING: by a matching, which also
 * permutes. SYMMETRIC: rows and columns alike, to a diagonal of ones; it must be positive. */
typedef enum tsi_ilu_scaling { TSI_ILU_ROWS, TSI_ILU_MATCHING, TSI_ILU_SYMMETRIC } tsi_ilu_scaling;

/* B, the scaled and permuted matrix: row k is row rows[k] of A times row_scales[k], and column k is column
 * columns[k] of A times column_scales[k]. */
typedef struct tsi_ilu_order {
  int32_t n;
  int32_t *rows, *columns;
  double *row_scales, *column_scales;
  int is_matched;
} tsi_ilu_order;

/* Rows of entries. */
typedef struct tsi_ilu_rows {
  int64_t *offsets;
  int32_t *columns;
  double *values;
} tsi_ilu_rows;

/* L and U without their diagonals of ones, and the inverse of D. */
typedef struct tsi_ilu_factors {
  int32_t n;
  tsi_ilu_rows lower, upper;
  double *inverse;
  int32_t shifted; /* pivots that were too small and were replaced */
  double shift;    /* added to the diagonal of B, for Cholesky factors */
  int is_full;     /* rows were cut to the limit of `fill` */
} tsi_ilu_factors;

/* ---- ilu_order.c ---- */

/* Computes the order for a matrix's host copy, and B. `constrained` rows become rows of the identity. */
ts_status tsi_ilu_order_create(ts_context *context, const tsi_csr *A, const unsigned char *constrained,
                               tsi_ilu_scaling scaling, tsi_ilu_order *order, tsi_ilu_rows *B);
void tsi_ilu_order_free(ts_context *context, tsi_ilu_order *order);
void tsi_ilu_rows_free(ts_context *context, tsi_ilu_rows *rows);
ts_status tsi_ilu_rows_create(ts_context *context, int32_t n, int64_t entries, tsi_ilu_rows *rows);

/* ---- ilu_factor.c ---- */

/* Either by size: at most `fill` times the entries of B, without entries below `drop` times the mean of their
 * row. Or by `levels` levels of fill in addition to the entries of B; -1: by size. */
typedef struct tsi_ilu_limits {
  double fill, drop;
  int levels;
} tsi_ilu_limits;

/* Factorises B. Columns are exchanged for larger pivots, also in `order`. */
ts_status tsi_ilu_factorise(ts_context *context, const tsi_ilu_rows *B, const tsi_ilu_limits *limits,
                            tsi_ilu_order *order, tsi_ilu_factors *factors);
/* Computes Cholesky factors of B, which is symmetric with a diagonal of ones: D is positive. */
ts_status tsi_ilu_factorise_symmetric(ts_context *context, const tsi_ilu_rows *B, const tsi_ilu_limits *limits,
                                      const tsi_ilu_order *order, tsi_ilu_factors *factors);
void tsi_ilu_factors_free(ts_context *context, tsi_ilu_factors *factors);

/* ---- ilu_solve.c ---- */

/* r = D_c Q U^-1 D^-1 L^-1 P D_r r: numbers in the order of A's rows, `components` per row. `work` has the size
 * of r. */
void tsi_ilu_solve(const tsi_ilu_order *order, const tsi_ilu_factors *factors, int components, double *r,
                   double *work);

/* The error of the factors: |D_c^-1 (M^-1 A x - x)| / |D_c^-1 x| for a random x; infinite if they are
 * useless. */
ts_status tsi_ilu_error(ts_context *context, const tsi_csr *A, const unsigned char *constrained,
                        const tsi_ilu_order *order, const tsi_ilu_factors *factors, double *error);

/* ---- ilu_levels.c ---- */

/* Rows of L, or of U, by levels: level l has rows[begins[l]] .. rows[begins[l + 1] - 1], which need only rows
 * of earlier levels. */
typedef struct tsi_ilu_levels {
  int32_t count, *begins, *rows;
} tsi_ilu_levels;

ts_status tsi_ilu_levels_create(ts_context *context, const tsi_ilu_rows *rows, int32_t n, int is_upper,
                                tsi_ilu_levels *levels);
void tsi_ilu_levels_free(ts_context *context, tsi_ilu_levels *levels);

/* ---- ilu_sweeps.c ---- */

typedef struct tsi_ilu_sweeps {
  ts_matrix *lower, *upper, *back;
  ts_vector *row_scales, *inverse;
  ts_vector *work[3]; /* NULL before they are prepared */
} tsi_ilu_sweeps;

/* Sets all fields; on failure they are zero. */
ts_status tsi_ilu_sweeps_create(const ts_matrix *A, const tsi_ilu_order *order, const tsi_ilu_factors *factors,
                                tsi_ilu_sweeps *s);
ts_status tsi_ilu_sweeps_prepare(const ts_matrix *A, int components, tsi_ilu_sweeps *s);
void tsi_ilu_sweeps_destroy(tsi_ilu_sweeps *s);
ts_status tsi_ilu_sweeps_apply(const tsi_ilu_sweeps *s, int count, ts_vector *z, const ts_vector *r);

/* ---- ilu_build.c ---- */

typedef struct tsi_ilu_device tsi_ilu_device;

typedef struct tsi_ilu {
  tsi_ilu_order order;
  tsi_ilu_factors factors;  /* the rows are freed if the device has them */
  tsi_ilu_scaling scaling;  /* used for these factors */
  double error;             /* as tsi_ilu_error returned */
  double entries;           /* of L and U */
  tsi_ilu_levels levels[2]; /* of L and U, until they are copied to the device */
  int32_t level_counts[2];
  tsi_ilu_sweeps sweeps;  /* if the descriptor requests sweeps */
  tsi_ilu_device *device; /* of the backend's operations; NULL: solved on the host, with the next fields */
  int components;         /* of the vectors that fit */
  double *numbers;        /* r, then z; plus a workspace of the same size */
  float *floats;
} tsi_ilu;

/* Computes order and factors, and logs them. */
ts_status tsi_ilu_build(const ts_preconditioner *M, tsi_ilu *made);
void tsi_ilu_free(ts_context *context, tsi_ilu *parts);

/* ---- Optional operations of a backend: exact solves on its device ---- */

/* clang-format off */
#define TSI_ILU_OPERATIONS(REQUIRED, prefix)                                                                   \
  /* Makes ilu->device of order, factors and levels, which it needs no more then. On failure it is NULL. */    \
  REQUIRED(prefix, ts_status, create, (ts_context *context, tsi_ilu *ilu))                                     \
  REQUIRED(prefix, void, destroy, (ts_context *context, tsi_ilu_device *device))                        \
  /* Room for vectors with this many components. */                                                            \
  REQUIRED(prefix, ts_status, prepare, (ts_context *context, tsi_ilu_device *device, int components))   \
  /* z = M^-1 r in double precision, from the first part of r; all parts of z. No wait. */                     \
  REQUIRED(prefix, ts_status, apply, (tsi_ilu_device *device, ts_vector *z, const ts_vector *r))
/* clang-format on */

struct tsi_ilu_ops {
  TSI_ILU_OPERATIONS(TSI_FIELD, )
};

#endif
