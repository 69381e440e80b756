/* Gauss-Seidel sweeps with an extrapolation after each. F is a sweep, y its start, and z = F(y) the iterate,
 * which is within the bounds. d = F(y) - y replaces a gradient; d' is the previous d.
 *
 * Nesterov's momentum. It restarts by the sign of a product (O'Donoghue and Candes 2015; for contacts Mazhar et
 * al. 2015). It also restarts if d grows, because F is not a gradient step and may amplify errors that the
 * product does not detect:
 *
 *   m = F(y) - z,  z = F(y),  k = d^T m > 0 and d^T d < 1.2 d'^T d' ? k + 1 : 0,  y = z + k / (k + 3) m
 *
 * For sparse contacts each unit (lcp_sparse.h) has its own momentum, if the backend supports it. In a heap the
 * extrapolation fails for the few contacts that slip at the moment. The others need not restart with them, and
 * no sweep waits for a global sum. The products are over the unit:
 *
 *   k = d^T m >= 0 and m^T (y - z) >= 0 ? k + 1 : k / 3
 *
 * The second product, of two successive steps, detects a unit that oscillates, such as a body that slides on
 * three points. Then d and m both cross the unit's rest point and have the same sign.
 *
 * Nothing waits for the device. Device coefficients are quotients without branches, so a number s is stored as
 * a vector (s, 0) with the largest element max(s, 0). s / max(s, 0) is 1 if s > 0 and 0 otherwise. The products
 * are over the whole batch, in single precision. */
#include "lcp.h"

enum { SLOT_SIGN, SLOT_POSITIVE, SLOT_COUNT, SLOT_COUNT_3, SLOT_DD, slot_count = SLOT_DD + 2 };
static const double largest_growth = 1.2;

struct tsi_lcp_accelerator {
  ts_space *space;           /* with two indices */
  ts_vector *unit;           /* (1, 0) */
  ts_vector *count, *number; /* (k, 0); (s, 0) */
  ts_vector *from;           /* y */
  ts_vector *last;           /* z, temporarily m */
  ts_vector *step;
  ts_scalars *slots;
  int odd; /* number of sweeps, modulo 2 */
};

/* ---- Storage ---- */

static ts_status lcp_accelerate_create(ts_lcp *lcp, tsi_lcp_accelerator *a) {
  static const float unit[2] = {1, 0};
  const ts_precision precision = lcp->is_double ? TS_PRECISION_DOUBLE : TS_PRECISION_SINGLE;
  const ts_vector_desc one = {.components = 1}, vector = {.components = 1, .precision = precision};
  TSI_TRY(ts_space_create(lcp->context, &(ts_space_desc){.size = 2}, &a->space));
  TSI_TRY(ts_scalars_create(lcp->context, &(ts_scalars_desc){.count = slot_count}, &a->slots));
  TSI_TRY(ts_vector_create(a->space, &one, &a->unit));
  TSI_TRY(ts_vector_create(a->space, &one, &a->count));
  TSI_TRY(ts_vector_create(a->space, &one, &a->number));
  TSI_TRY(ts_vector_create(lcp->space, &vector, &a->from));
  TSI_TRY(ts_vector_create(lcp->space, &vector, &a->last));
  TSI_TRY(ts_vector_create(lcp->space, &vector, &a->step));
  return tsi_vector_write_floats(a->unit, unit);
}

void tsi_lcp_accelerator_destroy(ts_lcp *lcp) {
  tsi_lcp_accelerator *a = lcp->accelerator;
  if (!a) return;
  ts_vector_destroy(&a->unit);
  ts_vector_destroy(&a->count);
  ts_vector_destroy(&a->number);
  ts_vector_destroy(&a->from);
  ts_vector_destroy(&a->last);
  ts_vector_destroy(&a->step);
  ts_scalars_destroy(&a->slots);
  ts_space_destroy(&a->space);
  tsi_free(lcp->context, a);
  lcp->accelerator = NULL;
}

ts_status tsi_lcp_accelerator_create(ts_lcp *lcp) {
  if (lcp->accelerator) return TS_OK;
  lcp->accelerator = tsi_calloc(lcp->context, 1, sizeof *lcp->accelerator);
  if (!lcp->accelerator) return tsi_out_of_memory(lcp->context, "an acceleration", sizeof *lcp->accelerator);
  const ts_status status = lcp_accelerate_create(lcp, lcp->accelerator);
  if (status < 0) tsi_lcp_accelerator_destroy(lcp);
  return status;
}

/* ---- Numbers on the device ---- */

static ts_slot slot(const tsi_lcp_accelerator *a, int index) {
  return (ts_slot){a->slots, index};
}

/* Slots of d^T d: this sweep's and the previous one's. */
static int now(const tsi_lcp_accelerator *a) {
  return SLOT_DD + a->odd;
}
static int before(const tsi_lcp_accelerator *a) {
  return SLOT_DD + !a->odd;
}

/* 1 if a->number is (s, 0) with s > 0; 0 otherwise. */
static ts_status find_sign(const tsi_lcp_accelerator *a, ts_coefficient *is_positive) {
  const tsi_ops *ops = a->space->context->ops;
  TSI_TRY(ops->reduce(a->slots, SLOT_SIGN, TSI_REDUCE_SUM, a->number, NULL));
  TSI_TRY(ops->reduce(a->slots, SLOT_POSITIVE, TSI_REDUCE_MAX, a->number, NULL));
  *is_positive = ts_quotient(1, slot(a, SLOT_SIGN), slot(a, SLOT_POSITIVE));
  return TS_OK;
}

static ts_status dot(const tsi_lcp_accelerator *a, int index, const ts_vector *x, const ts_vector *y) {
  const ts_vector first = tsi_first_part(x), second = tsi_first_part(y);
  return a->space->context->ops->reduce(a->slots, index, TSI_REDUCE_DOT, &first, &second);
}

/* ---- One sweep ---- */

/* 1 unless d^T d has grown too much since the previous sweep. */
static ts_status find_fall(tsi_lcp_accelerator *a, ts_coefficient *falls) {
  const tsi_ops *ops = a->space->context->ops;
  a->odd = !a->odd;
  TSI_TRY(dot(a, now(a), a->step, a->step));
  TSI_TRY(ops->axpby(a->number, ts_scaled(largest_growth, a->slots, before(a)), a->unit,
                     ts_scaled(-1, a->slots, now(a)), a->unit));
  return find_sign(a, falls);
}

static ts_status add_momentum(const ts_lcp *lcp, tsi_lcp_accelerator *a) {
  const tsi_ops *ops = lcp->context->ops;
  const ts_coefficient one = ts_constant(1), minus = ts_constant(-1), none = ts_constant(0);
  ts_coefficient goes_on;
  if (ops->lcp->add_momentum && !(lcp->context->desc.flags & TS_CONTEXT_NO_FUSED_OPERATIONS))
    return ops->lcp->add_momentum(lcp, a->from, a->last, a->count, largest_growth);
  TSI_TRY(ops->axpby(a->step, one, lcp->z, minus, a->from));
  TSI_TRY(ops->axpby(a->last, one, lcp->z, minus, a->last)); /* m */
  TSI_TRY(find_fall(a, &goes_on));
  TSI_TRY(ops->axpby(a->count, goes_on, a->count, goes_on, a->unit));
  TSI_TRY(dot(a, SLOT_SIGN, a->step, a->last));
  TSI_TRY(ops->axpby(a->number, ts_scaled(1, a->slots, SLOT_SIGN), a->unit, none, a->unit));
  TSI_TRY(find_sign(a, &goes_on));
  TSI_TRY(ops->axpby(a->count, goes_on, a->count, none, a->unit));
  TSI_TRY(ops->reduce(a->slots, SLOT_COUNT, TSI_REDUCE_SUM, a->count, NULL));
  TSI_TRY(ops->axpby(a->number, one, a->count, ts_constant(3), a->unit));
  TSI_TRY(ops->reduce(a->slots, SLOT_COUNT_3, TSI_REDUCE_SUM, a->number, NULL));
  const ts_coefficient weight = ts_quotient(1, slot(a, SLOT_COUNT), slot(a, SLOT_COUNT_3));
  TSI_TRY(ops->axpby(a->from, one, lcp->z, weight, a->last));
  return tsi_copy_parts(a->last, one, lcp->z);
}

static int is_by_units(const ts_lcp *lcp) {
  return lcp->storage == TS_LCP_STORAGE_SPARSE && lcp->dimension > 1 && lcp->context->ops->lcp->sweep_ahead;
}

ts_status tsi_lcp_accelerate_begin(const ts_lcp *lcp) {
  tsi_lcp_accelerator *a = lcp->accelerator;
  a->odd = 0;
  TSI_TRY(tsi_fill(a->count, 0));
  for (int k = SLOT_DD; k < slot_count; k++)
    TSI_TRY(lcp->context->ops->reduce(a->slots, k, TSI_REDUCE_SUM, a->count, NULL));
  TSI_TRY(tsi_copy_parts(a->from, ts_constant(1), lcp->z));
  if (is_by_units(lcp)) TSI_TRY(tsi_fill(a->step, 0)); /* the counts */
  return tsi_copy_parts(a->last, ts_constant(1), lcp->z);
}

ts_status tsi_lcp_accelerate(const ts_lcp *lcp, const ts_vector *q, ts_lcp_scheme scheme, int sweeps) {
  tsi_lcp_accelerator *a = lcp->accelerator;
  if (is_by_units(lcp))
    return lcp->context->ops->lcp->sweep_ahead(lcp, q, scheme, sweeps, a->from, a->last, a->step);
  for (int k = 0; k < sweeps; k++) {
    TSI_TRY(tsi_copy_parts(lcp->z, ts_constant(1), a->from));
    TSI_TRY(lcp->context->ops->lcp->sweep(lcp->z, lcp, q, scheme, 1));
    TSI_TRY(add_momentum(lcp, a));
  }
  return TS_OK;
}
