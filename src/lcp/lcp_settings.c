/* The settings of a solve: validation and defaults. */
#include <math.h>

#include "lcp.h"

static ts_status check_storage(const ts_lcp *lcp, ts_lcp_scheme scheme) {
  const ts_lcp_storage needed = ts_lcp_scheme_storage(scheme);
  if (needed == TS_LCP_STORAGE_AUTO || needed == lcp->storage) return TS_OK;
  return tsi_fail(lcp->context, TS_ERROR_UNSUPPORTED, "the scheme %s is for %s problems; this one is %s",
                  ts_lcp_scheme_name(scheme), ts_lcp_storage_name(needed), ts_lcp_storage_name(lcp->storage));
}

ts_status tsi_lcp_check_settings(const ts_lcp *lcp, ts_lcp_settings *s) {
  ts_context *context = lcp->context;
  TSI_TRY(tsi_check_reserved(context, "", s->reserved, sizeof s->reserved));
  if (!ts_lcp_scheme_name(s->scheme))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "scheme is %d, not a ts_lcp_scheme", s->scheme);
  if (!ts_lcp_local_name(s->local))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "local is %d, not a ts_lcp_local", s->local);
  if (!ts_lcp_acceleration_name(s->acceleration))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "acceleration is %d, not a ts_lcp_acceleration",
                    s->acceleration);
  if (!(s->rtol < 1) || isnan(s->atol) || s->atol < 0)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "rtol is %g and atol %g; expected below 1, and at least 0", s->rtol, s->atol);
  if (s->max_sweeps < 0 || s->fixed_sweeps < 0 || s->check_interval < 0)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "max_sweeps is %d, fixed_sweeps %d, check_interval %d; none may be negative", s->max_sweeps,
                    s->fixed_sweeps, s->check_interval);
  if (s->fixed_sweeps && (s->rtol != 0 || s->atol != 0 || s->max_sweeps || s->check_interval || s->progress))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "fixed_sweeps is %d; rtol, atol, max_sweeps, check_interval and progress must be 0 with it",
                    s->fixed_sweeps);
  if (s->rtol == 0) s->rtol = 1e-5;
  if (s->rtol < 0) s->rtol = 0;
  if (s->max_sweeps == 0) s->max_sweeps = 1000;
  if (s->check_interval == 0) s->check_interval = 10;
  const int has_scheme = ts_lcp_has_scheme(context, s->scheme);
  if (has_scheme) TSI_TRY(check_storage(lcp, s->scheme));
  const ts_lcp_scheme scheme = has_scheme ? context->ops->lcp->scheme(context, lcp, s->scheme) : 0;
  if (!scheme)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED, "backend %s does not have the scheme %s",
                    context->backend_name, ts_lcp_scheme_name(s->scheme));
  s->scheme = scheme;
  return TS_OK;
}
