/* The watched operations on complementarity problems. */
#include "check/core/check.h"

ts_status check_lcp_sweep(ts_vector *z, const ts_lcp *lcp, const ts_vector *q, ts_lcp_scheme scheme,
                          int sweeps) {
  TSI_TRY(check_remember(q));
  TSI_TRY(check_state_of(z->context)->inner->lcp->sweep(z, lcp, q, scheme, sweeps));
  check_count(z->context, "lcp_sweep");
  TSI_TRY(check_unchanged("lcp_sweep", q));
  return check_parts("lcp_sweep", z, 2, 0);
}

ts_status check_lcp_residual(ts_vector *map, const ts_lcp *lcp, const ts_vector *q, const ts_vector *z,
                             int exact) {
  TSI_TRY(check_poison_pair(map));
  TSI_TRY(check_remember(z));
  TSI_TRY(check_state_of(map->context)->inner->lcp->residual(map, lcp, q, z, exact));
  check_count(map->context, "lcp_residual");
  TSI_TRY(check_unchanged("lcp_residual", z));
  return check_parts("lcp_residual", map, 2, 0);
}
