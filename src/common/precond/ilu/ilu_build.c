/* Selects the factors of a matrix: tries several and keeps the best. */
#include <math.h>
#include <stdio.h>

#include "common/matrix/csr.h"
#include "ilu.h"

static const double default_fill = 10, default_drop = 1e-4;
static const double more_fill = 3, less_drop = 0.01; /* if the error of the factors is too large */
static const double ic_fill = 10, ic_drop = 1e-2;

void tsi_ilu_free(ts_context *context, tsi_ilu *parts) {
  tsi_ilu_factors_free(context, &parts->factors);
  for (int k = 0; k < 2; k++) tsi_ilu_levels_free(context, &parts->levels[k]);
  tsi_ilu_order_free(context, &parts->order);
}

/* ---- Factors ---- */

/* One set of parameters. The next one is tried if the error of the factors so far is too large. */
typedef struct attempt {
  tsi_ilu_scaling scaling;
  tsi_ilu_limits limits;
} attempt;

static const double good = 0.1, poor = 0.5; /* errors: low enough to stop; high enough to try larger factors */

static ts_status factorise_so(const ts_preconditioner *M, const tsi_csr *A, const attempt *how, tsi_ilu *made) {
  ts_context *context = M->context;
  const unsigned char *constrained = M->matrix->row_space->constrained;
  tsi_ilu_rows B;
  TSI_TRY(tsi_poll(context));
  TSI_TRY(tsi_ilu_order_create(context, A, constrained, how->scaling, &made->order, &B));
  ts_status status = how->scaling == TSI_ILU_SYMMETRIC
                         ? tsi_ilu_factorise_symmetric(context, &B, &how->limits, &made->order, &made->factors)
                         : tsi_ilu_factorise(context, &B, &how->limits, &made->order, &made->factors);
  tsi_ilu_rows_free(context, &B);
  if (status == TS_OK) status = tsi_poll(context);
  if (status == TS_OK)
    status = tsi_ilu_error(context, A, constrained, &made->order, &made->factors, &made->error);
  return status;
}

/* Keeps the better of the present factors and the new ones. */
static ts_status attempt_at(const ts_preconditioner *M, const tsi_csr *A, const attempt *how, tsi_ilu *made) {
  tsi_ilu other = {0};
  const ts_status status = factorise_so(M, A, how, &other);
  if (status == TS_OK && (!made->order.rows || other.error < made->error)) {
    const tsi_ilu before = *made;
    made->order = other.order;
    made->factors = other.factors;
    made->error = other.error;
    made->scaling = how->scaling;
    other = before;
  }
  tsi_ilu_free(M->context, &other);
  return status;
}

static tsi_ilu_limits limits_of(const ts_preconditioner_desc *desc) {
  const int is_symmetric = desc->kind == TS_PRECONDITIONER_IC;
  tsi_ilu_limits limits = {is_symmetric ? ic_fill : default_fill, is_symmetric ? ic_drop : default_drop, -1};
  if (desc->fill != 0) limits.fill = desc->fill;
  if (desc->drop_tolerance != 0) limits.drop = fmax(desc->drop_tolerance, 0);
  if (desc->levels != 0) limits.levels = desc->levels > 0 ? desc->levels : 0;
  return limits;
}

/* Tries the diagonal in place, then a matching, then larger factors, as far as the descriptor leaves the choice
 * open. A matching may separate unknowns that are strongly coupled in both directions, as with convection on
 * coarse grids. */
static ts_status factorise_entries(const ts_preconditioner *M, const tsi_csr *csr, tsi_ilu *made) {
  const ts_preconditioner_desc *desc = &M->desc;
  const int is_open = desc->fill == 0 && desc->drop_tolerance == 0 && desc->levels == 0;
  attempt how = {desc->scaling == TS_SCALING_MATCHING ? TSI_ILU_MATCHING : TSI_ILU_ROWS, limits_of(desc)};
  TSI_TRY(attempt_at(M, csr, &how, made));
  how.scaling = TSI_ILU_MATCHING;
  if (desc->scaling == TS_SCALING_AUTO && !(made->error <= good)) TSI_TRY(attempt_at(M, csr, &how, made));
  how.scaling = made->scaling;
  how.limits.fill *= more_fill;
  how.limits.drop *= less_drop;
  return is_open && !(made->error <= poor) ? attempt_at(M, csr, &how, made) : TS_OK;
}

/* Checks the requirements of Cholesky factors. */
static ts_status check_symmetric(const ts_preconditioner *M, const tsi_csr *csr) {
  const ts_matrix *A = M->matrix;
  const unsigned char *constrained = A->row_space->constrained;
  if (!A->info.symmetric)
    return tsi_fail(M->context, TS_ERROR_INVALID_ARGUMENT,
                    "ic needs a symmetric matrix; the entries (%d, %d) and (%d, %d) differ",
                    A->info.unsymmetric_row, A->info.unsymmetric_column, A->info.unsymmetric_column,
                    A->info.unsymmetric_row);
  for (int32_t i = 0; i < csr->rows; i++) {
    float diagonal = 0;
    for (int32_t e = csr->row_offsets[i]; e < csr->row_offsets[i + 1]; e++)
      if (csr->column_indices[e] == i) diagonal = csr->values[e];
    if (!(diagonal > 0) && !(constrained && constrained[i]))
      return tsi_fail(M->context, TS_ERROR_INVALID_ARGUMENT,
                      "ic needs a matrix that is positive on the diagonal; row %d has %g there", i,
                      (double)diagonal);
  }
  return TS_OK;
}

static ts_status factorise_symmetric(const ts_preconditioner *M, const tsi_csr *csr, tsi_ilu *made) {
  const attempt how = {TSI_ILU_SYMMETRIC, limits_of(&M->desc)};
  TSI_TRY(check_symmetric(M, csr));
  return attempt_at(M, csr, &how, made);
}

/* Entries that were read back in full precision are rounded. */
static ts_status round_entries(ts_context *context, tsi_matrix_entries *entries) {
  const size_t count = (size_t)entries->csr.row_offsets[entries->csr.rows];
  if (entries->csr.values) return TS_OK;
  entries->values = tsi_malloc(context, count + 1, sizeof *entries->values);
  if (!entries->values) return tsi_out_of_memory(context, "incomplete factors", 4 * count);
  for (size_t e = 0; e < count; e++) entries->values[e] = (float)entries->doubles[e];
  entries->csr.values = entries->values;
  return TS_OK;
}

static ts_status factorise(const ts_preconditioner *M, tsi_ilu *made) {
  tsi_matrix_entries entries = {0};
  const ts_matrix *A = M->matrix;
  TSI_TRY(A->host_copy ? tsi_matrix_stored_copy(A, &entries.csr) : tsi_matrix_read(A, &entries));
  ts_status status = round_entries(M->context, &entries);
  if (status == TS_OK)
    status =
        (M->desc.kind == TS_PRECONDITIONER_IC ? factorise_symmetric : factorise_entries)(M, &entries.csr, made);
  tsi_matrix_entries_free(M->context, &entries);
  return status;
}

static void say(const ts_preconditioner *M, const tsi_ilu *made) {
  const int32_t n = made->order.n;
  const tsi_ilu_factors *f = &made->factors;
  const double entries = made->entries + n;
  char how[40] = "diagonal as it is";
  if (M->desc.kind == TS_PRECONDITIONER_IC)
    snprintf(how, sizeof how, "shift %.2g", f->shift);
  else if (made->order.is_matched)
    snprintf(how, sizeof how, "matched and scaled");
  tsi_log(M->context, TS_LOG_LEVEL_INFO, "%s: %s, %.0f entries, %.2f times those of the matrix%s, error %.2g",
          ts_preconditioner_kind_name(M->desc.kind), how, entries,
          entries / fmax(1, (double)M->matrix->info.nonzeros),
          f->is_full ? ", which is all that fill allows" : "", made->error);
  if (f->shifted)
    tsi_log(M->context, TS_LOG_LEVEL_WARNING, "ilu: %d pivots of %d were too small and are replaced",
            f->shifted, n);
}

ts_status tsi_ilu_build(const ts_preconditioner *M, tsi_ilu *made) {
  TSI_TRY(factorise(M, made));
  made->entries =
      (double)(made->factors.lower.offsets[made->order.n] + made->factors.upper.offsets[made->order.n]);
  say(M, made);
  return TS_OK;
}
