/* The contact law that the library chooses: first the exact one, and projection if the exact one makes no
 * progress. */
#include <string.h>
#include <texsolve/lcp.h>

#include "common/core/core.h"
#include "helpers.h"
#include "lcp_contacts.h"

static ts_context *context;

enum { contacts = 16, size = 2 * contacts };

static ts_lcp_result solve(unsigned seed, ts_lcp_settings settings, ts_status expected, double *r) {
  test_context_label("seed %u, %s, %s", seed, ts_lcp_local_name(settings.local),
                     ts_lcp_acceleration_name(settings.acceleration));
  lcp_contacts s = lcp_contacts_random(2, contacts, 2.048, seed);
  ts_lcp *lcp = lcp_contacts_make(context, &s, TS_PRECISION_DOUBLE);
  ts_vector *q = make_parts(ts_lcp_get_space(lcp), 1, 2, s.q),
            *z = make_parts(ts_lcp_get_space(lcp), 1, 2, NULL);
  ts_lcp_result result;
  CHECK_INT(ts_lcp_solve(lcp, q, z, &settings, &result), expected);
  double *found = read_doubles(z);
  memcpy(r, found, size * sizeof *r);
  if (!settings.fixed_sweeps)
    CHECK_CLOSE(lcp_contacts_residual(&s, r), result.residual, 1e-6 * result.residual + 1e-12);
  free(found);
  ts_vector_destroy(&q);
  ts_vector_destroy(&z);
  ts_lcp_destroy(&lcp);
  lcp_contacts_free(&s);
  return result;
}

/* Problems on which the exact law cycles and projection converges. */
static void exact_does_not_converge(void) {
  static const unsigned seeds[] = {2, 38};
  for (int k = 0; k < 2; k++) {
    double r[size];
    ts_lcp_settings settings = {.local = TS_LCP_LOCAL_EXACT, .rtol = 1e-8};
    const ts_lcp_result exact = solve(seeds[k], settings, TS_NOT_CONVERGED, r);
    CHECK(exact.reason == TS_REASON_CYCLING || exact.reason == TS_REASON_STAGNATED);
    settings.local = TS_LCP_LOCAL_PROJECTION;
    const ts_lcp_result projection = solve(seeds[k], settings, TS_OK, r);
    settings.local = TS_LCP_LOCAL_AUTO;
    const ts_lcp_result chosen = solve(seeds[k], settings, TS_OK, r);
    CHECK(chosen.sweeps <= exact.sweeps + 2 * projection.sweeps);
    /* The projection has no sweeps left. */
    settings.max_sweeps = exact.sweeps;
    CHECK_INT(solve(seeds[k], settings, TS_NOT_CONVERGED, r).reason, exact.reason);
    settings.max_sweeps = 0;
    settings.acceleration = TS_LCP_ACCELERATION_MOMENTUM;
    solve(seeds[k], settings, TS_OK, r);
  }
}

/* The choice starts with the exact law, and stays with it if the residual is not tested. */
static void starts_exact(void) {
  double exact[size], chosen[size], projection[size];
  ts_lcp_settings settings = {.local = TS_LCP_LOCAL_EXACT, .fixed_sweeps = 400};
  solve(2, settings, TS_OK, exact);
  settings.local = TS_LCP_LOCAL_AUTO;
  solve(2, settings, TS_OK, chosen);
  settings.local = TS_LCP_LOCAL_PROJECTION;
  solve(2, settings, TS_OK, projection);
  CHECK(memcmp(exact, chosen, sizeof exact) == 0);
  CHECK(memcmp(exact, projection, sizeof exact) != 0);
}

TEST_MAIN(CASES_IN_CONTEXT(exact_does_not_converge, starts_exact))
