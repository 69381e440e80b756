/* The residual of a complementarity problem, and the power of two that scales q and z for it. */
#include <limits.h>
#include <math.h>

#include "lcp.h"

enum {
  SLOT_MAP = 0,
  ordinary = 24, /* exponents of q that are not scaled */
  squares = 40 /* exponents of a norm for which its square and its parts' squares are within single precision */
};

/* ---- Scale ---- */

static ts_status find_max(const ts_lcp *lcp, const ts_vector *v, double *max) {
  const ts_vector first = tsi_first_part(v);
  TSI_TRY(lcp->context->ops->reduce(lcp->scale->max, 0, TSI_REDUCE_MAX_ABS, &first, NULL));
  return tsi_scalars_read(lcp->scale->max, 0, 1, max);
}

static int exponent_of(double value) {
  int exponent = 0;
  if (value > 0 && isfinite(value)) frexp(value, &exponent);
  return exponent;
}

static int is_ordinary(int exponent) {
  return exponent >= -ordinary && exponent <= ordinary;
}

void tsi_lcp_set_target(const ts_lcp *lcp, double largest) {
  const int exponent = exponent_of(largest);
  lcp->scale->target = is_ordinary(exponent) ? 0 : exponent / 2;
}

ts_status tsi_lcp_find_exponent(const ts_lcp *lcp, const ts_vector *q, int *exponent) {
  double max[4];
  TSI_TRY(find_max(lcp, q, max));
  *exponent = exponent_of(max[0]) + q->exponent - lcp->scale->target;
  if (!(max[0] > 0 && isfinite(max[0])) || (lcp->scale->target == 0 && is_ordinary(*exponent))) *exponent = 0;
  return TS_OK;
}

ts_status tsi_lcp_shift(ts_vector *to, int exponent, const ts_vector *from) {
  enum { most = 120 }; /* some devices pass factors as floats */
  const int all = exponent + from->exponent - to->exponent, part = all > most    ? most
                                                                   : all < -most ? -most
                                                                                 : all;
  TSI_TRY(tsi_copy_parts(to, ts_constant(ldexp(1, part)), from));
  return tsi_multiply_by_power(to, all - part);
}

ts_status tsi_lcp_set_exponent(const ts_lcp *lcp, int exponent, const ts_vector **q) {
  tsi_lcp_scale *scale = lcp->scale;
  if (scale->exponent != exponent) {
    scale->exponent = exponent;
    const ts_status status = lcp->lower || lcp->upper ? lcp->context->ops->lcp->write_limits(lcp) : TS_OK;
    if (status < 0) {
      scale->exponent = INT_MIN; /* force a rewrite */
      return status;
    }
  }
  if (exponent == 0 && (*q)->exponent == 0) return TS_OK;
  TSI_TRY(tsi_lcp_shift(scale->q, -exponent, *q));
  *q = scale->q;
  return TS_OK;
}

/* ---- The residual ---- */

static ts_status find_norm(const ts_lcp *lcp, const ts_vector *v, double *norm) {
  double values[4];
  TSI_TRY(lcp->context->ops->reduce(lcp->slots, SLOT_MAP, TSI_REDUCE_NORM2, v, NULL));
  TSI_TRY(tsi_scalars_read(lcp->slots, SLOT_MAP, 1, values));
  *norm = values[0];
  return TS_OK;
}

ts_status tsi_lcp_find_residual(const ts_lcp *lcp, const ts_vector *q, const ts_vector *z, int exact,
                                double *residual) {
  double max[4];
  TSI_TRY(lcp->context->ops->lcp->residual(lcp->map, lcp, q, z, exact));
  TSI_TRY(find_norm(lcp, lcp->map, residual));
  if (*residual > ldexp(1, -squares) && *residual < ldexp(1, squares)) return TS_OK;
  TSI_TRY(find_max(lcp, lcp->map, max));
  const int exponent = exponent_of(max[0]);
  if (exponent == 0) return TS_OK;
  TSI_TRY(tsi_lcp_shift(lcp->map, -exponent, lcp->map));
  TSI_TRY(find_norm(lcp, lcp->map, residual));
  *residual = ldexp(*residual, exponent);
  return TS_OK;
}

ts_status tsi_lcp_is_finite(const ts_lcp *lcp, const ts_vector *v, int *is) {
  double norm;
  TSI_TRY(tsi_lcp_shift(lcp->map, -100, v)); /* the square of any finite number is finite then */
  TSI_TRY(find_norm(lcp, lcp->map, &norm));
  *is = isfinite(norm);
  return TS_OK;
}

ts_status tsi_lcp_check_vector(const ts_lcp *lcp, const ts_vector *v, const char *name) {
  TSI_TRY(tsi_check_space(v, lcp->space, name, "the problem", "the problem's space", "ts_lcp_get_space"));
  if (v->components != 1)
    return tsi_fail(lcp->context, TS_ERROR_INCOMPATIBLE, "%s has %d components; expected 1", name,
                    v->components);
  return TS_OK;
}

static ts_status find_scaled(const ts_lcp *lcp, const ts_vector *q, const ts_vector *z, double *residual) {
  int exponent;
  TSI_TRY(tsi_lcp_find_exponent(lcp, q, &exponent));
  TSI_TRY(tsi_lcp_set_exponent(lcp, exponent, &q));
  TSI_TRY(tsi_lcp_shift(lcp->z, -exponent, z));
  TSI_TRY(tsi_lcp_find_residual(lcp, q, lcp->z, 1, residual));
  *residual = ldexp(*residual, exponent);
  return TS_OK;
}

ts_status ts_lcp_residual(const ts_lcp *lcp, const ts_vector *q, const ts_vector *z, double *residual) {
  TSI_BEGIN(lcp, lcp->context);
  ts_context *context = lcp->context;
  TSI_REQUIRE(context, q);
  TSI_REQUIRE(context, z);
  TSI_REQUIRE(context, residual);
  TSI_TRY(tsi_lcp_check_vector(lcp, q, "q"));
  TSI_TRY(tsi_lcp_check_vector(lcp, z, "z"));
  TSI_TRY(tsi_enter(context));
  return tsi_leave(context, find_scaled(lcp, q, z, residual));
}
