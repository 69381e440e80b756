/* Sweeps of Gauss-Seidel over a complementarity problem until a test ends them (Courtecuisse and Allard 2009).
 *
 *   for i = 0 .. n - 1:  z_i = P_i(z_i - (q_i + sum over j of M_ij z_j) / M_ii)
 *
 * and of a contact, whose block of M is M_cc, the law of lcp_law.h. Every check_interval sweeps, or earlier
 * where it may be small enough, the natural map is computed from z; the z with the smallest norm of it is kept.
 * Where the sweeps would be given up, others follow from that z: without acceleration, then, unless the law was
 * chosen, with the projection. */
#include <math.h>

#include "lcp.h"

enum {
  SLOT_MAP = 0,
  SLOT_Q = 1,
  hope = 10,        /* tests without any gain, and a third of all, before acceleration is given up */
  patience = 30,    /* tests without any gain, and a third of all, before it is stagnation: the residual of
                       contacts rises for a while and falls again */
  plain = 20,       /* sweeps before auto accelerates: problems that take fewer gain nothing */
  few = 10,         /* that are left: no reason to begin then */
  few_carried = 50, /* of schemes that carry w, whose accelerated sweeps take two or three times as long */
  longest_cycle = 4 /* tests after which the residuals of a cycle repeat */
};
static const double growth = 1e6; /* from the smallest residual on: divergence */

typedef struct solve_state {
  ts_lcp *lcp;
  const ts_vector *q;
  const ts_lcp_settings *settings;
  ts_lcp_result *result;
  double norm_q, least;
  double gained; /* `least` when it last fell by more than a thousandth, over as many tests as that took */
  double last[longest_cycle];       /* residuals of the last tests, the newest first */
  int repeats[longest_cycle];       /* how often in a row they were those of k + 1 tests before */
  int tests, idle;                  /* tests, and those since `gained` fell */
  int foresees;                     /* tests come when the residual should be there */
  double tested;                    /* residual of the last test */
  int pause;                        /* sweeps between the last two tests */
  int goes_back;                    /* the sweeps that follow start from the best z */
  int is_best;                      /* lcp->z is that, and lcp->best not yet */
  ts_lcp_acceleration acceleration; /* of the sweeps that follow, as lcp->local */
  int may_accelerate;               /* after `plain` sweeps */
  int had_momentum;                 /* which was given up */
} solve_state;

/* ---- Residuals ---- */

static ts_status read_slot(ts_scalars *slots, int index, double *value) {
  double values[4];
  TSI_TRY(tsi_scalars_read(slots, index, 1, values));
  *value = values[0];
  return TS_OK;
}

static ts_status residual_of(const ts_lcp *lcp, const ts_vector *q, const ts_vector *z, double *residual) {
  const tsi_ops *ops = lcp->context->ops;
  TSI_TRY(ops->lcp->residual(lcp->map, lcp, q, z));
  TSI_TRY(ops->reduce(lcp->slots, SLOT_MAP, TSI_REDUCE_NORM2, lcp->map, NULL));
  return read_slot(lcp->slots, SLOT_MAP, residual);
}

static ts_status check_vector(const ts_lcp *lcp, const ts_vector *v, const char *name) {
  TSI_TRY(tsi_check_space(v, lcp->space, name, "the problem", "the problem's space", "ts_lcp_space"));
  if (v->components != 1)
    return tsi_fail(lcp->context, TS_ERROR_INCOMPATIBLE, "%s has %d components; expected 1", name,
                    v->components);
  return TS_OK;
}

ts_status ts_lcp_residual(const ts_lcp *lcp, const ts_vector *q, const ts_vector *z, double *residual) {
  TSI_BEGIN(lcp, lcp->context);
  ts_context *context = lcp->context;
  TSI_REQUIRE(context, q);
  TSI_REQUIRE(context, z);
  TSI_REQUIRE(context, residual);
  TSI_TRY(check_vector(lcp, q, "q"));
  TSI_TRY(check_vector(lcp, z, "z"));
  TSI_TRY(TSI_ENTER_WITH(context, q, z));
  ts_status status = tsi_copy_parts(lcp->z, ts_constant(1), z);
  if (status == TS_OK) status = residual_of(lcp, q, lcp->z, residual);
  return tsi_leave(context, status);
}

/* ---- The settings ---- */

static ts_status check_storage(const ts_lcp *lcp, ts_lcp_scheme scheme) {
  const ts_lcp_storage needed = ts_lcp_scheme_storage(scheme);
  if (needed == TS_LCP_STORAGE_AUTO || needed == lcp->storage) return TS_OK;
  return tsi_fail(lcp->context, TS_ERROR_UNSUPPORTED, "the scheme %s is for %s problems; this one is %s",
                  ts_lcp_scheme_name(scheme), ts_lcp_storage_name(needed), ts_lcp_storage_name(lcp->storage));
}

static ts_status check_settings(const ts_lcp *lcp, ts_lcp_settings *s) {
  ts_context *context = lcp->context;
  TSI_TRY(tsi_check_reserved(context, "", s->reserved, sizeof s->reserved));
  if (!ts_lcp_scheme_name(s->scheme))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "scheme is %d, which is no ts_lcp_scheme", s->scheme);
  if (!ts_lcp_local_name(s->local))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "local is %d, which is no ts_lcp_local", s->local);
  if (!ts_lcp_acceleration_name(s->acceleration))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "acceleration is %d, which is no ts_lcp_acceleration",
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

/* ---- Sweeps ---- */

static ts_status sweep(const solve_state *s, int sweeps) {
  const ts_lcp *lcp = s->lcp;
  TSI_TRY(s->acceleration == TS_LCP_ACCELERATION_NONE
              ? lcp->context->ops->lcp->sweep(lcp->z, lcp, s->q, s->settings->scheme, sweeps)
              : tsi_lcp_accelerate(lcp, s->q, s->settings->scheme, s->acceleration, sweeps));
  s->result->sweeps += sweeps;
  return TS_OK;
}

static ts_status find_norm_q(solve_state *s) {
  const ts_lcp *lcp = s->lcp;
  const ts_vector q = tsi_first_part(s->q);
  TSI_TRY(lcp->context->ops->reduce(lcp->slots, SLOT_Q, TSI_REDUCE_NORM2, &q, NULL));
  return read_slot(lcp->slots, SLOT_Q, &s->norm_q);
}

/* 0 sweeps: the residual alone. */
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
    return residual_of(lcp, s->q, lcp->z, residual);
  }
  s->result->sweeps += with_it;
  context->host_synchronisations++;
  return context->ops->lcp->sweep_and_test(lcp->z, lcp, s->q, s->settings->scheme, with_it, residual, norm_q);
}

/* ---- Tests ---- */

static int end(solve_state *s, ts_reason reason, const char *text) {
  s->result->reason = reason;
  snprintf(s->result->message, sizeof s->result->message, "%s after %d sweeps: the residual is %.3g of ||q||",
           text, s->result->sweeps, s->norm_q > 0 ? s->least / s->norm_q : s->least);
  return 1;
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

/* Before sweeps are given up: those without acceleration, and those with the other law of a contact, if that
 * was left open, again with momentum where that was given up. 0: nothing is left. */
static int has_other_sweeps(solve_state *s) {
  if (s->acceleration != TS_LCP_ACCELERATION_NONE) {
    s->had_momentum = s->acceleration == TS_LCP_ACCELERATION_MOMENTUM;
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

/* Whether the sweeps end here. */
static int judge(solve_state *s, double residual) {
  const ts_lcp_settings *settings = s->settings;
  const int most = s->acceleration == TS_LCP_ACCELERATION_NONE ? patience : hope;
  const int cycles = is_cycling(s, residual), idles = s->idle >= most && s->idle >= (s->tests + 1) / 3;
  const int diverges = !isfinite(residual) || residual > growth * s->least;
  s->tests++;
  if (s->least <= fmax(settings->rtol * s->norm_q, settings->atol)) {
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

/* So many sweeps and a test, which says whether they were the last. */
static ts_status test(solve_state *s, int sweeps, int *ends) {
  ts_lcp *lcp = s->lcp;
  double residual;
  if (s->is_best && sweeps > 0) TSI_TRY(tsi_copy_parts(lcp->best, ts_constant(1), lcp->z));
  s->is_best = 0;
  TSI_TRY(sweep_and_find_residual(s, sweeps, &residual));
  s->tested = residual;
  if (s->tests == 0 && !isfinite(residual)) {
    s->result->reason = TS_REASON_NAN_INPUT;
    snprintf(s->result->message, sizeof s->result->message, "%s", ts_reason_text(TS_REASON_NAN_INPUT));
    *ends = 1;
    return TS_OK;
  }
  s->idle++;
  if (s->tests == 0 || residual < s->least) {
    s->least = residual;
    if (s->tests == 0 || residual < 0.999 * s->gained) s->idle = 0, s->gained = residual;
    s->is_best = 1;
  }
  *ends = judge(s, residual);
  if (s->goes_back && !s->is_best) TSI_TRY(tsi_copy_parts(lcp->z, ts_constant(1), lcp->best));
  s->goes_back = 0;
  const double relative = s->norm_q > 0 ? residual / s->norm_q : residual;
  if (s->settings->progress &&
      s->settings->progress(s->result->sweeps, &relative, 1, s->settings->progress_user) && !*ends)
    *ends = end(s, TS_REASON_STOPPED, "stopped by the progress callback");
  return TS_OK;
}

/* Sweeps until the residual is there if it goes on to fall as between the last two tests. */
static double sweeps_left(const solve_state *s, double before) {
  const double aim = fmax(s->settings->rtol * s->norm_q, s->settings->atol);
  const double fall = log(before / s->tested), left = log(s->tested / aim);
  return ceil(left / fall * s->pause);
}

/* So many, at most check_interval. One sweep tells how fast it falls. */
static int sweeps_ahead(const solve_state *s, double before) {
  const int most = s->settings->check_interval;
  if (!s->foresees || s->acceleration != TS_LCP_ACCELERATION_NONE) return most;
  if (s->tests == 1) return 1;
  const double sweeps = sweeps_left(s, before);
  return sweeps >= 1 && sweeps < most ? (int)sweeps : most;
}

/* Whether acceleration auto has reason to begin. */
static int is_long(const solve_state *s, double before) {
  const ts_lcp_scheme scheme = s->settings->scheme;
  const int carries = scheme == TS_LCP_SCHEME_COLUMN || scheme == TS_LCP_SCHEME_BLOCK;
  const double left = sweeps_left(s, before);
  return s->may_accelerate && s->result->sweeps >= plain &&
         !(left >= 0 && left <= (carries ? few_carried : few));
}

/* ---- The solve ---- */

/* Momentum is for symmetric matrices; where nothing accelerates, nothing is to be made for it. Whatever fails
 * here, sweeps go on without it. */
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
  return tsi_lcp_accelerate_begin(lcp, s->acceleration);
}

static ts_status run_tested(solve_state *s, ts_vector *z) {
  const ts_lcp *lcp = s->lcp;
  const ts_lcp_settings *settings = s->settings;
  int ends = 0;
  double before = 0;
  TSI_TRY(test(s, 0, &ends));
  while (!ends) {
    if (is_long(s, before)) TSI_TRY(begin_momentum(s));
    const int left = settings->max_sweeps - s->result->sweeps, ahead = sweeps_ahead(s, before);
    s->pause = left < ahead ? left : ahead;
    before = s->tested;
    TSI_TRY(test(s, s->pause, &ends));
  }
  if (s->result->reason == TS_REASON_NAN_INPUT) return TS_OK;
  s->result->residual = s->least;
  s->result->relative_residual = s->norm_q > 0 ? s->least / s->norm_q : s->least;
  return tsi_copy_parts(z, ts_constant(1), s->is_best ? lcp->z : lcp->best);
}

static ts_status run(solve_state *s, ts_vector *z) {
  ts_lcp *lcp = s->lcp;
  TSI_TRY(s->settings->zero_start ? tsi_fill(lcp->z, 0) : tsi_copy_parts(lcp->z, ts_constant(1), z));
  if (s->acceleration != TS_LCP_ACCELERATION_NONE) TSI_TRY(tsi_lcp_accelerate_begin(lcp, s->acceleration));
  if (!s->settings->fixed_sweeps) return run_tested(s, z);
  TSI_TRY(sweep(s, s->settings->fixed_sweeps));
  s->result->reason = TS_REASON_FIXED_ITERATIONS;
  return tsi_copy_parts(z, ts_constant(1), lcp->z);
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
  TSI_TRY(check_vector(lcp, q, "q"));
  TSI_TRY(check_vector(lcp, z, "z"));
  if (q == z) return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "z is q");
  const int is_open = !own_settings.check_interval && context->ops->lcp->tests_early;
  TSI_TRY(check_settings(lcp, &own_settings));
  lcp->local = own_settings.local == TS_LCP_LOCAL_AUTO ? TS_LCP_LOCAL_EXACT : own_settings.local;
  *result = (ts_lcp_result){
      .scheme = own_settings.scheme, .storage = lcp->storage, .residual = NAN, .relative_residual = NAN};
  solve_state s = {.lcp = lcp,
                   .q = q,
                   .settings = &own_settings,
                   .result = result,
                   .foresees = is_open && own_settings.scheme == TS_LCP_SCHEME_ROW,
                   .acceleration = own_settings.acceleration};
  if (s.acceleration == TS_LCP_ACCELERATION_AUTO) {
    s.acceleration = TS_LCP_ACCELERATION_NONE;
    s.may_accelerate = context->ops->lcp->add_momentum && !own_settings.fixed_sweeps;
  }
  if (s.acceleration != TS_LCP_ACCELERATION_NONE) TSI_TRY(tsi_lcp_accelerator_create(lcp));
  const uint64_t before = context->host_synchronisations;
  TSI_TRY(TSI_ENTER_WITH(context, q, z));
  TSI_TRY(tsi_leave(context, run(&s, z)));
  result->host_synchronisations = (int)(context->host_synchronisations - before);
  if (result->reason <= TS_REASON_FIXED_ITERATIONS) return TS_OK;
  return tsi_fail(context, TS_NOT_CONVERGED, "%s", result->message);
}
