/* Gauss-Seidel sweeps over a complementarity problem until a test stops them (Courtecuisse and Allard 2009).
 *
 *   for i = 0 .. n - 1:  z_i = P_i(z_i - (q_i + sum over j of M_ij z_j) / M_ii)
 *
 * A contact has the block M_cc of M and uses the law of lcp_law.h. The natural map of z is computed every
 * check_interval sweeps, or earlier if it may be small enough. The solver keeps the z with the smallest norm.
 * Instead of giving up it continues from that z, first without acceleration, then with the projection unless
 * the caller chose the law.
 *
 * A solve reports the residual of the z that it returns, rounded to the caller's vector and with an exact w,
 * because sweeps cannot see errors hidden by rounding. A q far from 1 is scaled by a power of two, together
 * with z and the bounds. */
#include <math.h>

#include "lcp.h"

enum {
  SLOT_Q = 1,
  patience_accelerated = 10, /* tests without progress, and a third of all, before acceleration is given up */
  patience = 30,    /* stagnation after this many tests without progress, if they are a third of all tests: the
                       residual of contacts rises for a while and falls again */
  plain = 20,       /* sweeps before auto accelerates: shorter solves do not gain */
  few = 10,         /* sweeps left that do not justify acceleration */
  few_carried = 50, /* sweeps left that do not justify acceleration if the scheme carries w or momentum is
                       vector operations: an accelerated sweep takes two or three times as long */
  longest_cycle = 4 /* maximum period, in tests, of repeating residuals */
};
static const double growth = 1e6; /* relative to the smallest residual: divergence */
/* If the norm of q is outside this range, q may need scaling or may have underflowed. */
static const double least_norm = 0x1p-24, most_norm = 0x1p24;

typedef struct solve_state {
  ts_lcp *lcp;
  const ts_vector *q; /* scaled, like all numbers here */
  const ts_vector *given_q;
  ts_vector *z; /* the caller's */
  int exponent; /* numbers are divided by 2^exponent */
  const ts_lcp_settings *settings;
  ts_lcp_result *result;
  double norm_q, least;
  double tolerance;
  const char *text;   /* the reason of the end; NULL: converged */
  int is_handed_back; /* z holds the iterate of `least` */
  double gained;      /* the residual after the last fall by more than a thousandth, in one or several tests */
  double last[longest_cycle];       /* residuals of the last tests, newest first */
  int repeats[longest_cycle];       /* successive tests with the same residual as k + 1 tests before */
  int tests, idle;                  /* tests; tests since `gained` fell */
  int foresees;                     /* tests are scheduled for when the residual should be small enough */
  double tested;                    /* residual of the last test */
  int pause;                        /* sweeps between the last two tests */
  int goes_back;                    /* the next sweeps start from the best z */
  int is_best;                      /* lcp->z is the best z, not yet copied to lcp->best */
  ts_lcp_acceleration acceleration; /* of the next sweeps, like lcp->local */
  int may_accelerate;               /* after `plain` sweeps */
  int had_momentum;                 /* momentum was given up */
} solve_state;

/* ---- Sweeps ---- */

static ts_status sweep(const solve_state *s, int sweeps) {
  const ts_lcp *lcp = s->lcp;
  TSI_TRY(s->acceleration == TS_LCP_ACCELERATION_NONE
              ? lcp->context->ops->lcp->sweep(lcp->z, lcp, s->q, s->settings->scheme, sweeps)
              : tsi_lcp_accelerate(lcp, s->q, s->settings->scheme, sweeps));
  s->result->sweeps += sweeps;
  return TS_OK;
}

static ts_status find_norm_q(solve_state *s) {
  const ts_lcp *lcp = s->lcp;
  const ts_vector q = tsi_first_part(s->q);
  double values[4];
  TSI_TRY(lcp->context->ops->reduce(lcp->slots, SLOT_Q, TSI_REDUCE_NORM2, &q, NULL));
  TSI_TRY(tsi_scalars_read(lcp->slots, SLOT_Q, 1, values));
  s->norm_q = values[0];
  return TS_OK;
}

/* 0 sweeps: only the residual. */
static ts_status sweep_and_find_residual(solve_state *s, int sweeps, double *residual) {
  const ts_lcp *lcp = s->lcp;
  ts_context *context = lcp->context;
  const int is_fused =
      context->ops->lcp->sweep_and_test && !(context->desc.flags & TS_CONTEXT_NO_FUSED_OPERATIONS);
  const int with_it = is_fused && s->acceleration == TS_LCP_ACCELERATION_NONE ? sweeps : 0;
  double *norm_q = s->tests == 0 ? &s->norm_q : NULL;
  if (sweeps > with_it) TSI_TRY(sweep(s, sweeps));
  if (!is_fused) {
    if (norm_q) TSI_TRY(find_norm_q(s));
    return tsi_lcp_find_residual(lcp, s->q, lcp->z, 0, residual);
  }
  s->result->sweeps += with_it;
  context->host_synchronisations++;
  return context->ops->lcp->sweep_and_test(lcp->z, lcp, s->q, s->settings->scheme, with_it, residual, norm_q);
}

/* ---- Tests ---- */

static int end(solve_state *s, ts_reason reason, const char *text) {
  s->result->reason = reason;
  s->text = text;
  return 1;
}

/* Writes `z` to the caller's z, and sets `residual` to the residual of the result. */
static ts_status hand_back(solve_state *s, const ts_vector *z, double *residual) {
  const ts_lcp *lcp = s->lcp;
  const int is_far = s->exponent > TSI_ORDINARY_VECTOR || s->exponent < -TSI_ORDINARY_VECTOR;
  if (lcp->is_double || is_far) TSI_TRY(tsi_hold_doubles(s->z));
  const int is_rounded = s->exponent != 0 || (lcp->is_double && !s->z->low);
  s->z->exponent = is_far && tsi_may_have_exponent(s->z) ? s->exponent : 0;
  TSI_TRY(tsi_lcp_shift(s->z, s->exponent, z));
  if (is_rounded) TSI_TRY(tsi_lcp_shift(lcp->scale->z, -s->exponent, s->z));
  return tsi_lcp_find_residual(lcp, s->q, is_rounded ? lcp->scale->z : z, 1, residual);
}

/* Called when the residual of lcp->z is small enough in the sweeps' arithmetic. `ends`: the exact residual is
 * also small enough, but the caller's vector cannot hold this z. */
static ts_status confirm(solve_state *s, double *residual, int *ends) {
  double own;
  TSI_TRY(hand_back(s, s->lcp->z, residual));
  s->is_handed_back = *residual <= s->tolerance;
  if (s->is_handed_back || (s->exponent == 0 && !(s->lcp->is_double && !s->z->low))) return TS_OK;
  TSI_TRY(tsi_lcp_find_residual(s->lcp, s->q, s->lcp->z, 1, &own));
  if (own <= s->tolerance)
    *ends = isfinite(*residual) ? end(s, TS_REASON_STAGNATED, "z does not hold the solution in its precision")
                                : end(s, TS_REASON_BREAKDOWN, "z overflows in single precision");
  *residual = own;
  return TS_OK;
}

static int is_cycling(solve_state *s, double residual) {
  int cycles = 0;
  for (int k = 0; k < longest_cycle; k++) {
    const int same = s->tests > k && fabs(residual - s->last[k]) <= 1e-9 * residual;
    s->repeats[k] = same ? s->repeats[k] + 1 : 0;
    cycles |= s->repeats[k] >= patience;
  }
  for (int k = longest_cycle - 1; k > 0; k--) s->last[k] = s->last[k - 1];
  s->last[0] = residual;
  return cycles;
}

/* Before giving up, selects sweeps without acceleration. Next it selects the other law of a contact if the
 * caller left it open, again with momentum if that was in use. Returns 0 if nothing is left. */
static int has_other_sweeps(solve_state *s) {
  if (s->acceleration != TS_LCP_ACCELERATION_NONE) {
    s->had_momentum = 1;
    s->acceleration = TS_LCP_ACCELERATION_NONE;
  } else if (s->lcp->dimension > 1 && s->settings->local == TS_LCP_LOCAL_AUTO &&
             s->lcp->local == TS_LCP_LOCAL_EXACT) {
    s->lcp->local = TS_LCP_LOCAL_PROJECTION;
    s->may_accelerate = s->had_momentum;
  } else {
    return 0;
  }
  s->goes_back = 1;
  s->idle = 0;
  s->gained = s->least;
  for (int k = 0; k < longest_cycle; k++) s->last[k] = s->repeats[k] = 0;
  return 1;
}

/* Whether the sweeps end. */
static int check(solve_state *s, double residual) {
  const ts_lcp_settings *settings = s->settings;
  const int most = s->acceleration == TS_LCP_ACCELERATION_NONE ? patience : patience_accelerated;
  const int cycles = is_cycling(s, residual), idles = s->idle >= most && s->idle >= (s->tests + 1) / 3;
  const int diverges = !isfinite(residual) || residual > growth * s->least;
  s->tests++;
  if (s->least <= s->tolerance) {
    s->result->reason = s->result->sweeps || s->least > 0 ? TS_REASON_CONVERGED : TS_REASON_ZERO_RESIDUAL;
    return 1;
  }
  if ((diverges || cycles || idles) && s->result->sweeps < settings->max_sweeps && has_other_sweeps(s))
    return 0;
  if (diverges) return end(s, TS_REASON_DIVERGED, "diverged");
  if (cycles && residual > 2 * s->least) return end(s, TS_REASON_CYCLING, "cycling");
  if (cycles || idles) return end(s, TS_REASON_STAGNATED, "stagnated");
  if (s->result->sweeps >= settings->max_sweeps) return end(s, TS_REASON_MAX_ITERATIONS, "not converged");
  return 0;
}

/* Acts on the residual of lcp->z. */
static ts_status check_z(solve_state *s, double residual, int *ends) {
  ts_lcp *lcp = s->lcp;
  int is_lost = 0;
  if (residual <= s->tolerance) TSI_TRY(confirm(s, &residual, &is_lost));
  s->tested = residual;
  s->idle++;
  if (s->tests == 0 || residual < s->least) {
    s->least = residual;
    if (s->tests == 0 || residual < 0.999 * s->gained) s->idle = 0, s->gained = residual;
    s->is_best = 1;
  }
  *ends = is_lost || check(s, residual);
  if (s->goes_back && !s->is_best) TSI_TRY(tsi_copy_parts(lcp->z, ts_constant(1), lcp->best));
  s->goes_back = 0;
  const double relative = s->norm_q > 0 ? residual / s->norm_q : ldexp(residual, s->exponent);
  const int polled = tsi_poll_stops(lcp->context);
  const ts_progress progress = {
      .iteration = s->result->sweeps, .count = 1, .history = &relative, .relative_residual = relative};
  int stops = 0;
  if (s->settings->progress)
    TSI_TRY(
        tsi_call_progress(lcp->context, s->settings->progress, &progress, s->settings->progress_user, &stops));
  if (stops && !*ends) *ends = end(s, TS_REASON_STOPPED, "stopped by the progress callback");
  if (polled && !*ends) *ends = end(s, TS_REASON_STOPPED, ts_status_text(TS_ERROR_STOPPED));
  return TS_OK;
}

/* Performs `sweeps` sweeps and a test. `ends`: the solve ends. */
static ts_status test(solve_state *s, int sweeps, int *ends) {
  ts_lcp *lcp = s->lcp;
  double residual;
  if (s->is_best && sweeps > 0) TSI_TRY(tsi_copy_parts(lcp->best, ts_constant(1), lcp->z));
  s->is_best = 0;
  TSI_TRY(sweep_and_find_residual(s, sweeps, &residual));
  return check_z(s, residual, ends);
}

/* Sweeps until convergence, if the residual keeps falling as fast as between the last two tests. */
static double sweeps_left(const solve_state *s, double before) {
  const double fall = log(before / s->tested), left = log(s->tested / s->tolerance);
  return ceil(left / fall * s->pause);
}

/* The number of sweeps before the next test, at most check_interval. One sweep measures how fast the residual
 * falls. */
static int sweeps_ahead(const solve_state *s, double before) {
  const int most = s->settings->check_interval;
  if (!s->foresees || s->acceleration != TS_LCP_ACCELERATION_NONE) return most;
  if (s->tests == 1) return 1;
  const double sweeps = sweeps_left(s, before);
  return sweeps >= 1 && sweeps < most ? (int)sweeps : most;
}

/* Whether automatic acceleration should begin. */
static int is_long(const solve_state *s, double before) {
  const ts_lcp_scheme scheme = s->settings->scheme;
  const int carries = scheme == TS_LCP_SCHEME_COLUMN || scheme == TS_LCP_SCHEME_BLOCK ||
                      !s->lcp->context->ops->lcp->add_momentum;
  const double left = sweeps_left(s, before);
  return s->may_accelerate && s->result->sweeps >= plain &&
         !(left >= 0 && left <= (carries ? few_carried : few));
}

/* ---- The solve ---- */

/* Momentum requires a symmetric matrix, and its vectors are created only if it may run. If anything fails here,
 * the sweeps continue without it. */
static ts_status begin_momentum(solve_state *s) {
  ts_lcp *lcp = s->lcp;
  ts_context *context = lcp->context;
  s->may_accelerate = 0;
  const int is_symmetric = lcp->sparse
                               ? tsi_lcp_sparse_is_symmetric(lcp->sparse)
                               : context->ops->lcp->is_symmetric && context->ops->lcp->is_symmetric(lcp);
  if (!is_symmetric) return TS_OK;
  if (!lcp->accelerator) {
    tsi_leave(context, TS_OK);
    (void)tsi_lcp_accelerator_create(lcp);
    TSI_TRY(tsi_enter(context));
  }
  if (!lcp->accelerator) return TS_OK;
  s->acceleration = TS_LCP_ACCELERATION_MOMENTUM;
  return tsi_lcp_accelerate_begin(lcp);
}

/* lcp->z becomes the caller's z, or 0. */
static ts_status set_start(const solve_state *s, int is_zero) {
  return is_zero ? tsi_fill(s->lcp->z, 0) : tsi_lcp_shift(s->lcp->z, -s->exponent, s->z);
}

/* Scales q, z and the bounds if q is far from 1. */
static ts_status scale(solve_state *s, double *residual) {
  TSI_TRY(tsi_lcp_find_exponent(s->lcp, s->given_q, &s->exponent));
  s->q = s->given_q;
  TSI_TRY(tsi_lcp_set_exponent(s->lcp, s->exponent, &s->q));
  if (s->exponent == 0 && s->q == s->given_q) return TS_OK;
  TSI_TRY(set_start(s, s->settings->zero_start));
  return sweep_and_find_residual(s, 0, residual);
}

static double tolerance_of(const solve_state *s) {
  return fmax(s->settings->rtol * s->norm_q, ldexp(s->settings->atol, -s->exponent));
}

/* The residual of the start. 0 replaces the caller's z if M z overflows, or if q is 0 and 0 is a solution. */
static ts_status find_first_residual(solve_state *s, double *residual) {
  double other;
  int is_finite = 1;
  TSI_TRY(tsi_lcp_set_exponent(s->lcp, 0, &s->q));
  TSI_TRY(sweep_and_find_residual(s, 0, residual));
  if (s->lcp->scale->target || !(s->norm_q > least_norm && s->norm_q < most_norm)) TSI_TRY(scale(s, residual));
  s->tolerance = tolerance_of(s);
  const int is_lost = !isfinite(*residual);
  if (s->settings->zero_start || !(is_lost || (s->norm_q == 0 && *residual > s->tolerance))) return TS_OK;
  if (is_lost) TSI_TRY(tsi_lcp_is_finite(s->lcp, s->z, &is_finite));
  if (!is_finite) return TS_OK;
  TSI_TRY(set_start(s, 1));
  TSI_TRY(sweep_and_find_residual(s, 0, &other));
  if (is_lost || other <= s->tolerance) {
    *residual = other;
    return TS_OK;
  }
  return set_start(s, 0);
}

/* Sets z, its residual and the message. A z beyond the range of single precision becomes 0. */
static ts_status finish(solve_state *s) {
  const ts_lcp *lcp = s->lcp;
  ts_lcp_result *r = s->result;
  if (!s->is_handed_back) TSI_TRY(hand_back(s, s->is_best ? lcp->z : lcp->best, &s->least));
  if (!isfinite(s->least)) {
    TSI_TRY(tsi_fill(lcp->z, 0));
    TSI_TRY(hand_back(s, lcp->z, &s->least));
  }
  r->relative_residual = s->norm_q > 0 ? s->least / s->norm_q : ldexp(s->least, s->exponent);
  r->residual = ldexp(s->least, s->exponent);
  if (!s->text) return TS_OK;
  if (s->least <= s->tolerance)
    r->reason = TS_REASON_CONVERGED;
  else
    snprintf(r->message, sizeof r->message, "%s after %d sweeps: the residual is %.3g of ||q||", s->text,
             r->sweeps, r->relative_residual);
  return TS_OK;
}

static ts_status run_tested(solve_state *s) {
  const ts_lcp_settings *settings = s->settings;
  int ends = 0;
  double before = 0, residual;
  TSI_TRY(find_first_residual(s, &residual));
  if (!isfinite(residual)) {
    s->result->reason = TS_REASON_NAN_INPUT;
    snprintf(s->result->message, sizeof s->result->message, "%s", ts_reason_text(TS_REASON_NAN_INPUT));
    return TS_OK;
  }
  if (s->acceleration != TS_LCP_ACCELERATION_NONE) TSI_TRY(tsi_lcp_accelerate_begin(s->lcp));
  TSI_TRY(check_z(s, residual, &ends));
  while (!ends) {
    if (is_long(s, before)) TSI_TRY(begin_momentum(s));
    const int left = settings->max_sweeps - s->result->sweeps, ahead = sweeps_ahead(s, before);
    s->pause = left < ahead ? left : ahead;
    before = s->tested;
    TSI_TRY(test(s, s->pause, &ends));
  }
  return finish(s);
}

static ts_status lcp_solve_run(solve_state *s) {
  ts_lcp *lcp = s->lcp;
  TSI_TRY(set_start(s, s->settings->zero_start));
  if (!s->settings->fixed_sweeps) return run_tested(s);
  TSI_TRY(tsi_lcp_set_exponent(lcp, 0, &s->q));
  if (s->acceleration != TS_LCP_ACCELERATION_NONE) TSI_TRY(tsi_lcp_accelerate_begin(lcp));
  TSI_TRY(sweep(s, s->settings->fixed_sweeps));
  s->result->reason = TS_REASON_FIXED_ITERATIONS;
  s->z->exponent = 0;
  return tsi_copy_parts(s->z, ts_constant(1), lcp->z);
}

ts_status ts_lcp_solve(ts_lcp *lcp, const ts_vector *q, ts_vector *z, const ts_lcp_settings *settings,
                       ts_lcp_result *result) {
  TSI_BEGIN(lcp, lcp->context);
  ts_context *context = lcp->context;
  TSI_REQUIRE(context, q);
  TSI_REQUIRE(context, z);
  ts_lcp_settings own_settings = settings ? *settings : (ts_lcp_settings){0};
  ts_lcp_result own_result;
  if (!result) result = &own_result;
  TSI_TRY(tsi_lcp_check_vector(lcp, q, "q"));
  TSI_TRY(tsi_lcp_check_vector(lcp, z, "z"));
  if (q == z) return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "z is q");
  const int is_open = !own_settings.check_interval && context->ops->lcp->tests_early;
  TSI_TRY(tsi_lcp_check_settings(lcp, &own_settings));
  lcp->local = own_settings.local == TS_LCP_LOCAL_AUTO ? TS_LCP_LOCAL_EXACT : own_settings.local;
  *result = (ts_lcp_result){
      .scheme = own_settings.scheme, .storage = lcp->storage, .residual = NAN, .relative_residual = NAN};
  solve_state s = {.lcp = lcp,
                   .q = q,
                   .given_q = q,
                   .z = z,
                   .settings = &own_settings,
                   .result = result,
                   .foresees = is_open && own_settings.scheme == TS_LCP_SCHEME_ROW,
                   .acceleration = own_settings.acceleration};
  if (s.acceleration == TS_LCP_ACCELERATION_AUTO) {
    s.acceleration = TS_LCP_ACCELERATION_NONE;
    s.may_accelerate = !own_settings.fixed_sweeps;
  }
  if (s.acceleration != TS_LCP_ACCELERATION_NONE) TSI_TRY(tsi_lcp_accelerator_create(lcp));
  const uint64_t before = context->host_synchronisations;
  TSI_TRY(tsi_enter(context));
  tsi_stay_begin(context);
  tsi_polls_begin(context);
  const ts_status status = lcp_solve_run(&s);
  tsi_polls_end_in_time(context);
  tsi_stay_end(context, status);
  TSI_TRY(tsi_leave(context, tsi_polls_end(context, status)));
  result->host_synchronisations = (int)(context->host_synchronisations - before);
  if (result->reason <= TS_REASON_FIXED_ITERATIONS) return TS_OK;
  return tsi_fail(context, TS_NOT_CONVERGED, "%s", result->message);
}
