/* Dense matrices of complementarity problems: given as arrays, scattered from sparse rows, or H M^-1 H^T. */
#include <math.h>

#include "common/matrix/csr.h"
#include "lcp.h"

/* ---- Checks ---- */

static ts_status refuse(const ts_lcp *lcp, const char *what, size_t problem, size_t row, double value) {
  char where[48] = "";
  if (lcp->batch > 1) snprintf(where, sizeof where, " of problem %zu", problem);
  return tsi_fail(lcp->context, TS_ERROR_INVALID_ARGUMENT, "%s in row %zu%s is %g; it must be positive", what,
                  row, where, value);
}

/* A sweep divides by a row's diagonal entry. For a contact it divides by the normal entry only, so the tangent
 * entries may be 0. */
ts_status tsi_lcp_check_diagonal(const ts_lcp *lcp, size_t index, double value) {
  const size_t problem = index / (size_t)lcp->size, row = index % (size_t)lcp->size;
  if (row % (size_t)lcp->dimension != 0 && value >= 0) return TS_OK;
  if (!(value > 0)) return refuse(lcp, "the diagonal entry", problem, row, value);
  if (!lcp->is_double && !((float)value > 0))
    return refuse(lcp, "the diagonal entry in single precision", problem, row, (double)(float)value);
  return TS_OK;
}

static ts_status check_diagonal(const ts_lcp *lcp, const tsi_lcp_matrix *m) {
  const size_t n = (size_t)lcp->size;
  for (size_t i = 0; i < tsi_lcp_unknowns(lcp); i++) {
    const size_t at = i * n + i % n;
    TSI_TRY(tsi_lcp_check_diagonal(lcp, i, m->single ? (double)m->single[at] : m->doubles[at]));
  }
  return TS_OK;
}

int tsi_lcp_is_number(const ts_lcp *lcp, double value) {
  return isfinite(value) && (lcp->is_double || isfinite((float)value));
}

static ts_status check_entries(const ts_lcp *lcp, const tsi_lcp_matrix *m) {
  const size_t entries = tsi_lcp_entries(lcp), n = (size_t)lcp->size;
  for (size_t k = 0; k < entries; k++) {
    const double value = m->single ? (double)m->single[k] : m->doubles[k];
    if (tsi_lcp_is_number(lcp, value)) continue;
    return tsi_fail(lcp->context, TS_ERROR_INVALID_ARGUMENT, "the matrix%s holds %g in row %zu, column %zu%s%s",
                    lcp->batch > 1 ? "es" : "", value, k / n, k % n,
                    lcp->batch > 1 ? ", rows of all problems counted" : "",
                    isfinite(value) ? ", beyond single precision" : "");
  }
  return TS_OK;
}

/* ---- Sparse matrices ---- */

/* Numbers that overflow lcp's precision are detected later. */
static ts_status check_sparse(const ts_lcp *lcp, const tsi_csr *csr) {
  tsi_csr pattern = *csr;
  pattern.values = NULL, pattern.double_values = NULL;
  TSI_TRY(tsi_csr_validate(lcp->context, &pattern));
  if ((size_t)csr->rows != tsi_lcp_unknowns(lcp) || csr->columns != csr->rows)
    return tsi_fail(lcp->context, TS_ERROR_INVALID_ARGUMENT, "sparse_matrix is %d x %d; there are %zu unknowns",
                    csr->rows, csr->columns, tsi_lcp_unknowns(lcp));
  for (int32_t i = 0; i < csr->rows && lcp->batch > 1; i++)
    for (int32_t e = csr->row_offsets[i]; e < csr->row_offsets[i + 1]; e++)
      if (csr->column_indices[e] / lcp->size != i / lcp->size)
        return tsi_fail(lcp->context, TS_ERROR_INVALID_ARGUMENT,
                        "sparse_matrix has column %d in row %d, which is another problem's",
                        csr->column_indices[e], i);
  return TS_OK;
}

static ts_status scatter(const ts_lcp *lcp, const tsi_csr *csr, double **out) {
  const size_t n = (size_t)lcp->size;
  *out = tsi_calloc(lcp->context, tsi_lcp_entries(lcp), sizeof **out);
  if (!*out) return tsi_out_of_memory(lcp->context, "a dense matrix", tsi_lcp_entries(lcp) * sizeof **out);
  for (size_t i = 0; i < tsi_lcp_unknowns(lcp); i++)
    for (int32_t e = csr->row_offsets[i]; e < csr->row_offsets[i + 1]; e++)
      (*out)[i * n + (size_t)csr->column_indices[e] % n] += tsi_lcp_value(csr, e);
  return TS_OK;
}

/* ---- H M^-1 H^T ---- */

static ts_status check_factors(const ts_lcp *lcp, const tsi_lcp_desc *desc) {
  ts_context *context = lcp->context;
  const tsi_csr *H = desc->jacobian;
  const int32_t block = desc->mass_block ? desc->mass_block : 1;
  if (!desc->inverse_mass)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "inverse_mass is NULL; jacobian needs it");
  TSI_TRY(tsi_csr_validate(context, H));
  if ((size_t)H->rows != tsi_lcp_unknowns(lcp))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "jacobian has %d rows; there are %zu unknowns", H->rows,
                    tsi_lcp_unknowns(lcp));
  if (block < 1 || H->columns % block != 0)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "mass_block is %d; it must divide the %d columns of jacobian", block, H->columns);
  return TS_OK;
}

/* row = H_i M^-1. Only the blocks that H_i touches are written: they are cleared, then summed. */
static void multiply_mass(const tsi_csr *H, const double *mass, int32_t block, int32_t i, double *row) {
  const int32_t *offsets = H->row_offsets, *columns = H->column_indices;
  for (int32_t e = offsets[i]; e < offsets[i + 1]; e++)
    for (int32_t c = 0; c < block; c++) row[columns[e] / block * block + c] = 0;
  for (int32_t e = offsets[i]; e < offsets[i + 1]; e++) {
    const int32_t first = columns[e] / block * block;
    const double *m = mass + (size_t)columns[e] * (size_t)block;
    for (int32_t c = 0; c < block; c++) row[first + c] += tsi_lcp_value(H, e) * m[c];
  }
}

static void clear_mass(const tsi_csr *H, int32_t block, int32_t i, double *row) {
  for (int32_t e = H->row_offsets[i]; e < H->row_offsets[i + 1]; e++)
    for (int32_t c = 0; c < block; c++) row[H->column_indices[e] / block * block + c] = 0;
}

static double dot_row(const tsi_csr *H, int32_t j, const double *row) {
  double sum = 0;
  for (int32_t e = H->row_offsets[j]; e < H->row_offsets[j + 1]; e++)
    sum += tsi_lcp_value(H, e) * row[H->column_indices[e]];
  return sum;
}

static ts_status multiply_factors(const ts_lcp *lcp, const tsi_lcp_desc *desc, double **out) {
  const tsi_csr *H = desc->jacobian;
  const int32_t block = desc->mass_block ? desc->mass_block : 1, n = lcp->size;
  double *row = tsi_calloc(lcp->context, (size_t)H->columns, sizeof *row);
  *out = tsi_malloc(lcp->context, tsi_lcp_entries(lcp), sizeof **out);
  if (!row || !*out) {
    tsi_free(lcp->context, row);
    return tsi_out_of_memory(lcp->context, "H M^-1 H^T", tsi_lcp_entries(lcp) * sizeof **out);
  }
  for (int32_t i = 0; i < H->rows; i++) {
    const int32_t first = i / n * n;
    multiply_mass(H, desc->inverse_mass, block, i, row);
    for (int32_t j = 0; j < n; j++) (*out)[(size_t)i * (size_t)n + (size_t)j] = dot_row(H, first + j, row);
    clear_mass(H, block, i, row);
  }
  tsi_free(lcp->context, row);
  return TS_OK;
}

/* ---- */

ts_status tsi_lcp_check_given(const ts_lcp *lcp, const tsi_lcp_desc *desc) {
  const int given = (desc->matrix != NULL) + (desc->double_matrix != NULL) + (desc->jacobian != NULL) +
                    (desc->sparse_matrix != NULL);
  if (given != 1)
    return tsi_fail(lcp->context, TS_ERROR_INVALID_ARGUMENT,
                    given ? "more than one of matrix, jacobian and sparse_matrix are given"
                          : "matrix, jacobian and sparse_matrix are NULL; one of them is needed");
  if (desc->jacobian) return check_factors(lcp, desc);
  return desc->sparse_matrix ? check_sparse(lcp, desc->sparse_matrix) : TS_OK;
}

static double entry(const tsi_lcp_matrix *m, size_t at) {
  return m->single ? (double)m->single[at] : m->doubles[at];
}

int tsi_lcp_is_nearly_symmetric(const ts_lcp *lcp, const tsi_lcp_matrix *m) {
  const size_t n = (size_t)lcp->size;
  for (size_t p = 0; p < (size_t)lcp->batch; p++)
    for (size_t i = 0, first = p * n * n; i < n; i++)
      for (size_t j = 0; j < i; j++) {
        const double slack = TSI_LCP_SLACK * (entry(m, first + i * n + i) + entry(m, first + j * n + j));
        if (fabs(entry(m, first + i * n + j) - entry(m, first + j * n + i)) > slack) return 0;
      }
  return 1;
}

ts_status tsi_lcp_matrix_of(const ts_lcp *lcp, const tsi_lcp_desc *desc, tsi_lcp_matrix *matrix,
                            double **made) {
  *made = NULL;
  TSI_TRY(tsi_lcp_check_given(lcp, desc));
  ts_status status = TS_OK;
  if (desc->jacobian) status = multiply_factors(lcp, desc, made);
  if (desc->sparse_matrix) status = scatter(lcp, desc->sparse_matrix, made);
  *matrix = (tsi_lcp_matrix){.single = desc->matrix, .doubles = *made ? *made : desc->double_matrix};
  if (status == TS_OK) status = check_entries(lcp, matrix);
  if (status == TS_OK) status = check_diagonal(lcp, matrix);
  if (status < 0) {
    tsi_free(lcp->context, *made);
    *made = NULL;
  }
  return status;
}
