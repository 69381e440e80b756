/* Conjugate gradients with a preconditioner M (Hestenes and Stiefel 1952; Buatois et al. 2008, section 1.2),
 * written once for all backends on top of the ops table:
 *
 *   r = b - A x;  e = 0;  d = M^-1 r;  delta_0 = r^T M^-1 r
 *   for k = 0, 1, ...
 *     q = A d
 *     alpha = delta_k / d^T q
 *     e = e + alpha d;  r = r - alpha q
 *     delta_k+1 = r^T M^-1 r
 *     d = M^-1 r + (delta_k+1 / delta_k) d
 *
 * Every delta and d^T q stays in a device slot. The updates compute alpha and beta as quotients of slots. The
 * host reads the slots of all iterations since the last check at once. A device may do many iterations on its
 * own (ops->cg->iterate). It writes the same numbers to the same slots.
 *
 * If a pass costs more than its work, the two reductions of an iteration become one (Meurant 1987,
 * "Multitasking the conjugate gradient method on the CRAY X-MP/48"). This is possible since r_k+1 = r_k - alpha
 * q and d^T q = r_k^T M^-1 q:
 *
 *   q = A d
 *   delta_k = r^T M^-1 r;  d^T q;  q^T M^-1 q
 *   alpha = delta_k / d^T q;  beta = alpha (q^T M^-1 q) / (d^T q) - 1
 *   e = e + alpha d;  r = r - alpha q;  d = M^-1 r + beta d
 *
 * Every iteration sums delta from r, so that the error of a beta does not propagate.
 *
 * When the recurrence residual meets the rule, the solver computes r from x = x + e. If that does not confirm
 * it, the iteration restarts from there. If two such verifications in a row do not halve the residual, it is at
 * the limit of the precision: stagnation (cg_check.c, cg_replace.c).
 *
 * In mixed and double precision x, b and A have several parts. The solver already computes r from x when r has
 * fallen by a factor (reliable updates: Sleijpen and van der Vorst 1996; van der Vorst and Ye 2000; Clark et
 * al. 2010; as inner and outer iterations in Cevahir et al. 2009, section 2.2). The directions are kept:
 *
 *   x = x + e;  r = b - A x
 *   e = mu p;  r = r - mu A p;  mu = p^T r / p^T A p
 *   d = M^-1 r - (r^T M^-1 A p / p^T A p) p
 *
 * where p = beta d is the last d without M^-1 r. Then r is again orthogonal to p and d is conjugate, no matter
 * how far the recurrence residual was from b - A x. When the squares of r would leave the range of floats, r, e
 * and d are multiplied by a power of two.
 *
 * d^T q <= 0 is the sign of an indefinite matrix, or of rounding. If d^T q and d^T M d do not decide it, the
 * iteration restarts in checked mode. A check and d^T d in each iteration then distinguish the two
 * (cg_curvature.c). */
#include <math.h>

#include "cg.h"
#include "cg_operations.h"
#include "common/core/core.h"
#include "stages.h"

static void cg_plan(ts_solver *k) {
  k->own_vectors = k->desc.reductions == 1 ? TSI_CG_VECTORS : 2;
  k->ring = 2 * (k->desc.check_interval + k->pipelined + 1);
  k->own_slots = TSI_CG_SLOT_RING - TSI_SLOT_OWN + 2 * k->ring;
  k->history_size = k->ring;
}

/* ---- The recurrence ---- */

ts_status tsi_cg_sum_delta(const tsi_solve *s, tsi_dot *sum) {
  const ts_solver *k = s->solver;
  const int slot = tsi_cg_delta_slot(k, s->iteration);
  if (k->z) TSI_TRY(tsi_solver_precondition(k, k->z, k->r));
  *sum = k->z ? (tsi_dot){slot, k->r, k->z, NULL} : (tsi_dot){slot, k->r, k->r, k->m};
  return TS_OK;
}

void tsi_cg_begin_watch(tsi_solve *s) {
  s->phase_best = INFINITY;
  s->phase_peak = 0;
  s->phase_low = INFINITY;
  s->phase_best_at = s->iteration;
}

ts_status tsi_cg_begin_sum(tsi_solve *s) {
  s->x_is_current = 0;
  for (int c = 0; c < s->solver->components; c++)
    s->peak[c] = s->solver->desc.stop == TS_STOP_RESIDUAL ? s->norm_r[c] : 0;
  return tsi_fill(s->solver->e, 0);
}

ts_status tsi_cg_begin(tsi_solve *s) {
  s->phase_start = s->iteration;
  s->carried = 0;
  TSI_TRY(tsi_cg_begin_sum(s));
  return tsi_solver_update_direction(s->solver, s->solver->own[TSI_CG_D], s->solver->r, ts_constant(0));
}

ts_status tsi_cg_begin_rescaled(tsi_solve *s) {
  const ts_solver *k = s->solver;
  double factor;
  TSI_TRY(tsi_solve_rescale(s, &factor));
  if (s->scale != 1) {
    tsi_dot delta;
    TSI_TRY(tsi_cg_sum_delta(s, &delta));
    TSI_TRY(tsi_dots(k->slots, &delta, 1, k->scratch));
  }
  return tsi_cg_begin(s);
}

static void swap(ts_vector **a, ts_vector **b) {
  ts_vector *c = *a;
  *a = *b;
  *b = c;
}

static ts_status iterate_with_one_reduction(tsi_solve *s) {
  ts_solver *k = s->solver;
  const tsi_ops *ops = k->context->ops;
  ts_vector *q = k->own[TSI_CG_Q];
  const int delta = tsi_cg_delta_slot(k, s->iteration), dq = tsi_cg_dq_slot(k, s->iteration);
  const tsi_dot sums[TSI_MAX_DOTS] = {
      {dq, k->own[TSI_CG_D], q, NULL}, {delta, k->r, k->r, k->m}, {TSI_CG_SLOT_QMQ, q, q, k->m}};
  TSI_TRY(tsi_spmv(q, k->matrix, k->own[TSI_CG_D]));
  TSI_TRY(tsi_dots(k->slots, sums, TSI_MAX_DOTS, k->scratch));
  const tsi_cg_update update = {.e = k->e,
                                .r_new = k->own[TSI_CG_R_NEXT],
                                .d_new = k->own[TSI_CG_D_NEXT],
                                .r = k->r,
                                .d = k->own[TSI_CG_D],
                                .q = q,
                                .m = k->m,
                                .slots = k->slots,
                                .delta = delta,
                                .dq = dq,
                                .qmq = TSI_CG_SLOT_QMQ};
  TSI_TRY(ops->cg->update(&update));
  swap(&k->r, &k->own[TSI_CG_R_NEXT]);
  swap(&k->own[TSI_CG_D], &k->own[TSI_CG_D_NEXT]);
  s->iteration++;
  return TS_OK;
}

/* Only single precision uses the faster forms. */
static int has_one_reduction_now(const tsi_solve *s) {
  return s->solver->desc.reductions == 1 && !s->solver->pairs && !s->checked_mode;
}

static ts_status iterate_cg(tsi_solve *s) {
  ts_solver *k = s->solver;
  if (has_one_reduction_now(s)) return iterate_with_one_reduction(s);
  const tsi_ops *ops = k->context->ops;
  ts_vector *d = k->own[TSI_CG_D], *q = k->own[TSI_CG_Q];
  const ts_slot delta = {k->slots, tsi_cg_delta_slot(k, s->iteration)},
                dq = {k->slots, tsi_cg_dq_slot(k, s->iteration)},
                delta_new = {k->slots, tsi_cg_delta_slot(k, s->iteration + 1)};
  TSI_TRY(tsi_spmv_dot(q, k->matrix, d, k->slots, dq.index));
  if (s->checked_mode) TSI_TRY(ops->reduce(k->slots, TSI_CG_SLOT_DD, TSI_REDUCE_DOT, d, d));
  if (k->z) {
    TSI_TRY(tsi_axpy2(k->e, ts_quotient(1, delta, dq), d, k->r, ts_quotient(-1, delta, dq), q));
    TSI_TRY(tsi_solver_precondition(k, k->z, k->r));
    TSI_TRY(ops->reduce(k->slots, delta_new.index, TSI_REDUCE_DOT, k->r, k->z));
  } else {
    TSI_TRY(tsi_axpy2_dot(k->e, ts_quotient(1, delta, dq), d, k->r, ts_quotient(-1, delta, dq), q, k->m,
                          k->slots, delta_new.index, k->scratch));
  }
  TSI_TRY(tsi_solver_update_direction(k, d, k->r, ts_quotient(1, delta_new, delta)));
  s->iteration++;
  return TS_OK;
}

/* Lets the device do at most `count` iterations on its own. */
static ts_status iterate_on_device(const tsi_solve *s, int count, const float enough[4],
                                   const float visible[4]) {
  const ts_solver *k = s->solver;
  tsi_cg_iterations run = {
      .matrix = k->matrix,
      .e = k->e,
      .r = k->r,
      .d = k->own[TSI_CG_D],
      .q = k->own[TSI_CG_Q],
      .m = k->m,
      .slots = k->slots,
      .ring = TSI_CG_SLOT_RING,
      .ring_size = k->ring,
      .rr = TSI_SLOT_RR,
      .done = TSI_CG_SLOT_DONE,
      .iteration = s->iteration,
      .count = count,
      .stop_by_residual = k->desc.stop == TS_STOP_RESIDUAL,
  };
  for (int c = 0; c < 4; c++) {
    run.enough[c] = enough[c];
    run.visible[c] = visible[c];
  }
  return k->context->ops->cg->iterate(&run);
}

/* ---- Intervals between checks ---- */

static void read_norms(tsi_solve *s, int iteration) {
  for (int c = 0; c < s->solver->components; c++)
    s->norm_r[c] = sqrt(tsi_cg_unscaled(s, iteration, tsi_number(s->solver, TSI_SLOT_RR, c)));
}

/* Computes the sums that the iterations omit. */
static ts_status sum_up(const tsi_solve *s) {
  const ts_solver *k = s->solver;
  tsi_dot sums[2];
  int count = 0;
  if (has_one_reduction_now(s)) sums[count++] = (tsi_dot){tsi_cg_delta_slot(k, s->iteration), k->r, k->r, k->m};
  if (!tsi_cg_stops_by_delta(s)) sums[count++] = (tsi_dot){TSI_SLOT_RR, k->r, k->r, NULL};
  return tsi_dots(k->slots, sums, count, k->scratch);
}

ts_status tsi_cg_read_present(tsi_solve *s) {
  TSI_TRY(sum_up(s));
  TSI_TRY(tsi_solve_read(s, 0, TSI_SLOT_OWN + s->solver->own_slots, 0, iterate_cg));
  read_norms(s, s->iteration);
  return TS_OK;
}

/* One interval of iterations on the device. The device ends it early if the numbers will end the solve or need
 * a decision. */
static ts_status advance_on_device(tsi_solve *s) {
  const ts_solver *k = s->solver;
  const int left = k->desc.max_iterations - s->iteration;
  const int interval = tsi_stage_steps(k, s->iteration, k->desc.check_interval);
  const int count = left < interval ? left : interval;
  float enough[4] = {0}, seen[4] = {0};
  for (int c = 0; c < k->components; c++) {
    s->peak[c] = fmax(s->peak[c], tsi_cg_size(s, s->iteration, c));
    const double size = tsi_cg_enough(s, c) * s->scale;
    enough[c] = (float)(size * size);
    seen[c] = (float)(tsi_cg_visible(s, c) * s->scale * s->scale);
  }
  TSI_TRY(iterate_on_device(s, count, enough, seen));
  TSI_TRY(tsi_scalars_read(k->slots, 0, TSI_SLOT_OWN + k->own_slots, k->numbers));
  const int done = (int)tsi_number(k, TSI_CG_SLOT_DONE, 0);
  if (done < 1 || done > count)
    return tsi_fail(k->context, TS_ERROR_DEVICE, "the device reports %d iterations of %d", done, count);
  s->iteration += done;
  read_norms(s, s->iteration);
  return tsi_cg_check(s, s->iteration);
}

/* Intervals are long if the device iterates on its own and detects the end. With pairs it does not. */
static int interval_of(const ts_solver *k) {
  const int usual = (int)k->context->tuning.check_interval;
  return k->pairs && k->on_device && k->desc.check_interval > usual ? usual : k->desc.check_interval;
}

/* One interval: iterations, then a check. During the check the device does `pipelined` more iterations. */
static ts_status advance(tsi_solve *s) {
  ts_solver *k = s->solver;
  if (k->on_device && !k->pairs && !s->checked_mode) return advance_on_device(s);
  const int left = k->desc.max_iterations - s->iteration;
  int steps = s->checked_mode ? 1 : interval_of(k), pipelined = s->checked_mode ? 0 : k->pipelined;
  if (steps > left) steps = left;
  if (pipelined > left - steps) pipelined = left - steps;
  for (int i = 0; i < steps; i++) TSI_TRY(iterate_cg(s));
  const int checked = s->iteration;
  TSI_TRY(sum_up(s));
  TSI_TRY(tsi_solve_read(s, 0, TSI_SLOT_OWN + k->own_slots, pipelined, iterate_cg));
  read_norms(s, checked);
  return tsi_cg_check(s, checked);
}

/* ---- The solve ---- */

static ts_status cg_run(tsi_solve *s) {
  tsi_cg_begin_watch(s);
  tsi_cg_check_start(s);
  if (s->ended) return TS_OK;
  TSI_TRY(tsi_cg_begin_rescaled(s));
  while (!s->ended && s->iteration < s->solver->desc.max_iterations) TSI_TRY(advance(s));
  return TS_OK;
}

static ts_status run_fixed(tsi_solve *s) {
  static const float never[4] = {-1, -1, -1, -1}, any[4] = {INFINITY, INFINITY, INFINITY, INFINITY};
  const ts_solver *k = s->solver;
  const int count = k->desc.fixed_iterations;
  TSI_TRY(tsi_cg_begin(s));
  if (k->on_device && !k->pairs) {
    TSI_TRY(iterate_on_device(s, count, never, any));
    s->iteration = count;
  }
  while (s->iteration < count) TSI_TRY(iterate_cg(s));
  return TS_OK;
}

/* After a breakdown: drops e if it is not finite. */
static ts_status drop_what_is_not_finite(const ts_solver *k) {
  const tsi_ops *ops = k->context->ops;
  ts_vector *x = k->own[TSI_CG_D], *r = k->own[TSI_CG_Q];
  double rr[4];
  TSI_TRY(ops->axpby(x, ts_constant(1), k->e, ts_constant(1), k->x));
  TSI_TRY(tsi_residual(r, k->b, k->matrix, x));
  TSI_TRY(ops->reduce(k->slots, TSI_SLOT_RR, TSI_REDUCE_DOT, r, r));
  TSI_TRY(tsi_scalars_read(k->slots, TSI_SLOT_RR, 1, rr));
  for (int c = 0; c < k->components; c++)
    if (!isfinite(rr[c])) return tsi_fill(k->e, 0);
  return TS_OK;
}

/* Adds e to x and computes the residual. */
static ts_status cg_finish(tsi_solve *s) {
  if (s->x_is_current) return TS_OK;
  if (s->ended && s->result->reason == TS_REASON_BREAKDOWN) TSI_TRY(drop_what_is_not_finite(s->solver));
  return tsi_cg_verify(s);
}

const tsi_method tsi_cg = {.name = "cg",
                           .plan = cg_plan,
                           .residual_sum = tsi_cg_sum_delta,
                           .run = cg_run,
                           .run_fixed = run_fixed,
                           .finish = cg_finish};
