/* Converts the application's descriptor of a problem: arrays become pointers to numbers on the host. */
#include "common/matrix/csr.h"
#include "lcp.h"

static ts_status borrow_csr(ts_context *context, const ts_csr *given, tsi_lcp_given *out, tsi_csr *csr,
                            const tsi_csr **field) {
  *field = NULL;
  if (!given) return TS_OK;
  *field = csr;
  return tsi_csr_given(context, given, &out->loans, csr);
}

/* The count of numbers in M_0^-1, one block per body. */
static size_t mass_count(const ts_lcp_desc *desc, const tsi_csr *jacobian) {
  const int32_t block = desc->mass_block > 0 ? desc->mass_block : 1;
  return jacobian ? (size_t)jacobian->columns * (size_t)block : desc->inverse_mass.count;
}

ts_status tsi_lcp_matrix_given(const ts_lcp *lcp, const ts_lcp_desc *desc, tsi_lcp_given *out) {
  ts_context *context = lcp->context;
  tsi_lcp_desc *d = &out->desc;
  TSI_TRY(tsi_array_borrow_values(context, "matrix", &desc->matrix, tsi_lcp_entries(lcp), &out->loans,
                                  &d->matrix, &d->double_matrix));
  TSI_TRY(borrow_csr(context, desc->jacobian, out, &out->jacobian, &d->jacobian));
  TSI_TRY(borrow_csr(context, desc->sparse_matrix, out, &out->sparse, &d->sparse_matrix));
  d->mass_block = desc->mass_block;
  return tsi_array_borrow_doubles(context, "inverse_mass", &desc->inverse_mass, mass_count(desc, d->jacobian),
                                  &out->loans, &d->inverse_mass);
}

ts_status tsi_lcp_bounds_given(const ts_lcp *lcp, const ts_array *lower, const ts_array *upper,
                               tsi_lcp_given *out) {
  const size_t count = tsi_lcp_unknowns(lcp);
  TSI_TRY(tsi_array_borrow_doubles(lcp->context, "lower", lower, count, &out->loans, &out->desc.lower));
  return tsi_array_borrow_doubles(lcp->context, "upper", upper, count, &out->loans, &out->desc.upper);
}

ts_status tsi_lcp_friction_given(const ts_lcp *lcp, const ts_array *friction, tsi_lcp_given *out) {
  const size_t count = tsi_lcp_unknowns(lcp) / (size_t)lcp->dimension;
  return tsi_array_borrow_doubles(lcp->context, "friction", friction, count, &out->loans, &out->desc.friction);
}
