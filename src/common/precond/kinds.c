/* The table of preconditioner kinds, and the small kinds. */
#include <math.h>
#include <string.h>

#include "common/core/core.h"
#include "multigrid/multigrid.h"
#include "preconditioner.h"

/* ---- None, Jacobi ---- */

static ts_status none_write(const ts_preconditioner *M, ts_vector *m) {
  return M->context->ops->fill(m, 1);
}

static const tsi_preconditioner_kind none = {
    .kind = TS_PRECONDITIONER_NONE, .is_from_matrix = 1, .write_diagonal = none_write};

static ts_status jacobi_write(const ts_preconditioner *M, ts_vector *m) {
  TSI_TRY(tsi_diagonal(m, M->matrix));
  return M->context->ops->reciprocal(m, m);
}

static const tsi_preconditioner_kind jacobi = {.kind = TS_PRECONDITIONER_JACOBI,
                                               .is_from_matrix = 1,
                                               .needs_diagonal = 1,
                                               .has_scale = 1,
                                               .write_diagonal = jacobi_write};

/* ---- A cycle of multigrid ---- */

static ts_status multigrid_resolve(const ts_matrix *A, ts_preconditioner_desc *desc) {
  if (!desc->multigrid)
    return tsi_fail(A->context, TS_ERROR_INVALID_ARGUMENT,
                    "kind is multigrid and multigrid is NULL; create one with ts_multigrid_create");
  if (desc->multigrid->matrix->row_space == A->row_space) return TS_OK;
  return tsi_fail(A->context, TS_ERROR_INCOMPATIBLE, "multigrid was made for a matrix over another space");
}

static ts_status multigrid_measure(const ts_preconditioner *M, tsi_cost *cost) {
  tsi_multigrid_cost(M->desc.multigrid, &cost->products, &cost->operations);
  return TS_OK;
}

static ts_status multigrid_prepare(const ts_preconditioner *M, int components) {
  if (components != 1)
    return tsi_fail(M->context, TS_ERROR_INCOMPATIBLE,
                    "b and x have %d components; multigrid as a preconditioner supports one", components);
  return tsi_multigrid_check_current(M->desc.multigrid);
}

static ts_status multigrid_apply(const ts_preconditioner *M, ts_vector *z, const ts_vector *r) {
  return tsi_multigrid_precondition(M->desc.multigrid, z, r);
}

static ts_status multigrid_project(const ts_preconditioner *M, ts_vector *b, double *removed) {
  ts_multigrid *mg = M->desc.multigrid;
  const tsi_stencil *stencil = mg->matrix->stencil;
  if (stencil->part_count == 0) return TS_OK;
  TSI_TRY(tsi_multigrid_sum_parts(mg, b, TSI_MG_SUMS_B));
  TSI_TRY(tsi_multigrid_remove_means(mg, b, TSI_MG_SUMS_B));
  double sums[4 * 8];
  double squares = 0;
  TSI_TRY(tsi_scalars_read(mg->slots, TSI_MG_SUMS_B, stencil->part_count, sums));
  for (int k = 0; k < stencil->part_count; k++)
    squares += sums[4 * (size_t)k] * sums[4 * (size_t)k] / stencil->part_sizes[k];
  *removed = sqrt(squares);
  return TS_OK;
}

static const tsi_preconditioner_kind multigrid = {.kind = TS_PRECONDITIONER_MULTIGRID,
                                                  .fields = TSI_FIELD_MULTIGRID,
                                                  .has_scale = 1,
                                                  .resolve = multigrid_resolve,
                                                  .measure = multigrid_measure,
                                                  .prepare = multigrid_prepare,
                                                  .apply = multigrid_apply,
                                                  .project = multigrid_project};

/* ---- The caller's function ---- */

static ts_status check_cost(ts_context *context, const char *field, double cost) {
  if (cost >= 0 && isfinite(cost)) return TS_OK;
  return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "%s is %g; it must be a number of at least 0", field,
                  cost);
}

static ts_status custom_resolve(const ts_matrix *A, ts_preconditioner_desc *desc) {
  if (!desc->apply) return tsi_fail(A->context, TS_ERROR_INVALID_ARGUMENT, "kind is custom and apply is NULL");
  TSI_TRY(check_cost(A->context, "products", desc->products));
  return check_cost(A->context, "sums", desc->sums);
}

/* About three vector passes per product, as in a step of a polynomial. */
static ts_status custom_measure(const ts_preconditioner *M, tsi_cost *cost) {
  *cost = (tsi_cost){.products = M->desc.products,
                     .sums = M->desc.sums,
                     .operations = 1 + 3 * M->desc.products + M->desc.sums};
  return TS_OK;
}

static int custom_is_symmetric(const ts_preconditioner *M) {
  return M->desc.symmetric;
}

static ts_status custom_apply(const ts_preconditioner *M, ts_vector *z, const ts_vector *r) {
  return tsi_call(M->context, M->desc.apply, M->desc.user, z, r, "the preconditioner's function");
}

static const tsi_preconditioner_kind custom = {.kind = TS_PRECONDITIONER_CUSTOM,
                                               .fields = TSI_FIELD_CUSTOM,
                                               .unsymmetric =
                                                   "the preconditioner is not declared symmetric "
                                                   "(ts_preconditioner_desc.symmetric), as cg and minres need",
                                               .resolve = custom_resolve,
                                               .measure = custom_measure,
                                               .is_symmetric = custom_is_symmetric,
                                               .apply = custom_apply};

/* ---- The table ---- */

const tsi_preconditioner_kind *tsi_preconditioner_row(ts_preconditioner_kind kind) {
  enum { count = TS_PRECONDITIONER_IC + 1 };
  static const tsi_preconditioner_kind *const rows[count] = {
      [TS_PRECONDITIONER_AUTO] = &tsi_preconditioner_auto,
      [TS_PRECONDITIONER_NONE] = &none,
      [TS_PRECONDITIONER_JACOBI] = &jacobi,
      [TS_PRECONDITIONER_BLOCK_JACOBI] = &tsi_preconditioner_block_jacobi,
      [TS_PRECONDITIONER_CHEBYSHEV] = &tsi_preconditioner_chebyshev,
      [TS_PRECONDITIONER_ISAI] = &tsi_preconditioner_isai,
      [TS_PRECONDITIONER_AMG] = &tsi_preconditioner_amg,
      [TS_PRECONDITIONER_MULTIGRID] = &multigrid,
      [TS_PRECONDITIONER_CUSTOM] = &custom,
      [TS_PRECONDITIONER_DIRECT] = &tsi_preconditioner_direct,
      [TS_PRECONDITIONER_ILU] = &tsi_preconditioner_ilu,
      [TS_PRECONDITIONER_IC] = &tsi_preconditioner_ic};
  return (unsigned)kind < count ? rows[kind] : NULL;
}
