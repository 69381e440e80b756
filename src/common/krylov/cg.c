/* Conjugate gradients with a preconditioner M (Hestenes and Stiefel 1952; Buatois et al. 2008, section 1.2),
 * written once for all backends over the ops table:
 *
 *   r = b - A x;  e = 0;  d = M^-1 r;  delta_0 = r^T M^-1 r
 *   for k = 0, 1, ...
 *     q = A d
 *     alpha = delta_k / d^T q
 *     e = e + alpha d;  r = r - alpha q
 *     delta_k+1 = r^T M^-1 r
 *     d = M^-1 r + (delta_k+1 / delta_k) d
 *
 * Every delta and d^T q stays in a device slot; alpha and beta are quotients of slots that the updates evaluate
 * themselves. The host reads the slots of all iterations since the last check at once. A device may carry out
 * many iterations by itself (ops->cg->iterate) and writes the same numbers into the same slots.
 *
 * Where a pass costs more than its work, the two reductions of an iteration become one (Meurant 1987,
 * "Multitasking the conjugate gradient method on the CRAY X-MP/48"), since r_k+1 = r_k - alpha q and d^T q =
 * r_k^T M^-1 q:
 *
 *   q = A d
 *   delta_k = r^T M^-1 r;  d^T q;  q^T M^-1 q
 *   alpha = delta_k / d^T q;  beta = alpha (q^T M^-1 q) / (d^T q) - 1
 *   e = e + alpha d;  r = r - alpha q;  d = M^-1 r + beta d
 *
 * delta is summed from r in every iteration, so that the error of a beta does not live on in the next.
 *
 * When the recurrence residual meets the rule, r is computed from x = x + e; if that does not confirm it, the
 * iteration begins again from there. When two such verifications in a row do not halve the residual, it is at
 * the limit of the precision: stagnation.
 *
 * In mixed and double precision x, b and A have several parts, and r is computed from x already where it has
 * fallen by a factor (reliable updates: Sleijpen and van der Vorst 1996; van der Vorst and Ye 2000; Clark et
 * al. 2010; as inner and outer iterations in Cevahir et al. 2009, section 2.2). The directions go on:
 *
 *   x = x + e;  r = b - A x
 *   e = mu p;  r = r - mu A p;  mu = p^T r / p^T A p
 *   d = M^-1 r - (r^T M^-1 A p / p^T A p) p
 *
 * where p = beta d is what the last d has beside M^-1 r. r is orthogonal to p again and d conjugate, however
 * far the recurrence's r was from b - A x. Where r is so small that its squares would leave the range of
 * floats, r, e and d are multiplied by a power of two.
 *
 * d^T q <= 0 may be an indefinite matrix or rounding. Where d^T q against d^T M d leaves a doubt, the iteration
 * begins again with a check and d^T d in each iteration (checked mode), where the two can be told apart. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cg_operations.h"
#include "common/core/core.h"
#include "solver.h"

/* Vectors and slots of its own: a few numbers, then delta and d^T A d of every iteration in a ring. */
enum { D, Q, R_NEXT, D_NEXT, VECTORS };
enum {
  SLOT_DD = TSI_SLOT_OWN, /* d^T d, in checked mode */
  SLOT_QMQ,               /* q^T M^-1 q, with one reduction */
  SLOT_PQ, /* of the direction that is kept where r is replaced: p^T A p, p^T r and r^T M^-1 A p */
  SLOT_PR,
  SLOT_QZ,
  SLOT_DONE, /* iterations that the device has carried out by itself since the last check */
  SLOT_RING
};

static int delta_slot(const ts_solver *k, int iteration) {
  return SLOT_RING + 2 * (iteration % k->ring);
}
static int dq_slot(const ts_solver *k, int iteration) {
  return delta_slot(k, iteration) + 1;
}
/* Numbers of an iteration, without the scale that r had in it. */
static double unscaled(const tsi_solve *s, int iteration, double squared) {
  const double scale = iteration >= s->scale_from ? s->scale : s->scale_before;
  return squared / (scale * scale);
}
static double delta_of(const tsi_solve *s, int iteration, int component) {
  return unscaled(s, iteration, tsi_number(s->solver, delta_slot(s->solver, iteration), component));
}
static double dq_of(const tsi_solve *s, int iteration, int component) {
  return unscaled(s, iteration, tsi_number(s->solver, dq_slot(s->solver, iteration), component));
}

/* ---- The descriptor ---- */

static int has_one_reduction(const ts_context *context) {
  return context->ops->dots && context->ops->cg && !(context->desc.flags & TS_CONTEXT_NO_FUSED_OPERATIONS);
}

static ts_preconditioner_kind kind_of(const ts_preconditioner *M, const ts_solver_desc *desc) {
  return M ? M->desc.kind : desc->preconditioner_kind;
}

static int is_diagonal(const ts_preconditioner *M, const ts_solver_desc *desc) {
  const ts_preconditioner_kind kind = kind_of(M, desc);
  return kind == TS_PRECONDITIONER_JACOBI || kind == TS_PRECONDITIONER_NONE;
}

/* Only where nothing else is asked for than what the device does by itself. */
int tsi_cg_runs_on_device(const ts_matrix *A, const ts_preconditioner *M, const ts_solver_desc *resolved) {
  const tsi_ops *ops = A->context->ops;
  return ops->cg && ops->cg->iterate && !(A->context->desc.flags & TS_CONTEXT_NO_FUSED_OPERATIONS) &&
         is_diagonal(M, resolved) && resolved->reductions == 2 && ops->cg->fits(A);
}

static ts_status resolve_reductions(ts_context *context, const ts_matrix *A, int diagonal,
                                    ts_solver_desc *desc) {
  const tsi_tiling *t = &A->row_space->tiling;
  if (desc->reductions < 0 || desc->reductions > 2)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "reductions is %d; it is 1 or 2, or 0 for the default",
                    desc->reductions);
  if (!diagonal) {
    if (desc->reductions == 1)
      return tsi_fail(context, TS_ERROR_UNSUPPORTED,
                      "reductions is 1; iterations with a preconditioner that is not diagonal have 2");
    desc->reductions = 2;
  }
  if (desc->reductions == 1 && !has_one_reduction(context))
    return tsi_fail(
        context, TS_ERROR_UNSUPPORTED, "reductions is 1; backend %s has iterations with 2 reductions only%s",
        context->backend_name, context->ops->cg && context->ops->dots ? " without fused operations" : "");
  if (desc->reductions == 0)
    desc->reductions =
        has_one_reduction(context) && (double)t->width * t->height <= context->tuning.one_reduction_texels ? 1
                                                                                                           : 2;
  return TS_OK;
}

ts_status tsi_cg_resolve(ts_context *context, const ts_matrix *A, const ts_preconditioner *M,
                         ts_solver_desc *desc) {
  TSI_TRY(resolve_reductions(context, A, is_diagonal(M, desc), desc));
  /* A cycle of multigrid costs more than a wait. A device that iterates by itself also knows when to end. */
  enum { on_device = 250 };
  const ts_preconditioner_kind kind = kind_of(M, desc);
  const int cycles = kind == TS_PRECONDITIONER_MULTIGRID || kind == TS_PRECONDITIONER_AMG;
  const int interval = (int)context->tuning.check_interval;
  /* What is around a cycle costs little even in double, and residuals need not be replaced then. */
  if (desc->precision == TS_PRECISION_AUTO && kind == TS_PRECONDITIONER_AMG)
    desc->precision = TS_PRECISION_DOUBLE;
  const int degree = M && M->desc.degree ? M->desc.degree : TSI_CHEBYSHEV_DEGREE;
  if (desc->check_interval == 0)
    desc->check_interval = cycles                                ? 1
                           : kind == TS_PRECONDITIONER_CHEBYSHEV ? (interval + degree - 1) / degree
                           : tsi_cg_runs_on_device(A, M, desc)   ? on_device
                                                                 : interval;
  return TS_OK;
}

static void plan(ts_solver *k) {
  k->own_vectors = k->desc.reductions == 1 ? VECTORS : 2;
  k->ring = 2 * (k->desc.check_interval + k->pipelined + 1);
  k->own_slots = SLOT_RING - TSI_SLOT_OWN + 2 * k->ring;
  k->history_size = k->ring;
}

/* ---- The recurrence ---- */

/* delta of the present r. */
static ts_status sum_delta(const tsi_solve *s, tsi_dot *sum) {
  const ts_solver *k = s->solver;
  const int slot = delta_slot(k, s->iteration);
  if (k->z) TSI_TRY(tsi_solver_precondition(k, k->z, k->r));
  *sum = k->z ? (tsi_dot){slot, k->r, k->z, NULL} : (tsi_dot){slot, k->r, k->r, k->m};
  return TS_OK;
}

static void begin_watch(tsi_solve *s) {
  s->phase_best = INFINITY;
  s->phase_peak = 0;
  s->phase_best_at = s->iteration;
}

/* e = 0 */
static ts_status begin_sum(tsi_solve *s) {
  s->settled = 0;
  for (int c = 0; c < s->solver->components; c++)
    s->peak[c] = s->solver->desc.stop == TS_STOP_RESIDUAL ? s->norm_r[c] : 0;
  return tsi_fill(s->solver->e, 0);
}

/* e = 0, d = M^-1 r */
static ts_status begin(tsi_solve *s) {
  s->phase_start = s->iteration;
  TSI_TRY(begin_sum(s));
  return tsi_solver_turn(s->solver, s->solver->own[D], s->solver->r, ts_constant(0));
}

static void swap(ts_vector **a, ts_vector **b) {
  ts_vector *c = *a;
  *a = *b;
  *b = c;
}

static ts_status iterate_with_one_reduction(tsi_solve *s) {
  ts_solver *k = s->solver;
  const tsi_ops *ops = k->context->ops;
  ts_vector *q = k->own[Q];
  const int delta = delta_slot(k, s->iteration), dq = dq_slot(k, s->iteration);
  const tsi_dot sums[TSI_MAX_DOTS] = {
      {dq, k->own[D], q, NULL}, {delta, k->r, k->r, k->m}, {SLOT_QMQ, q, q, k->m}};
  TSI_TRY(tsi_spmv(q, k->matrix, k->own[D]));
  TSI_TRY(tsi_dots(k->slots, sums, TSI_MAX_DOTS, k->scratch));
  const tsi_cg_update update = {.e = k->e,
                                .r_new = k->own[R_NEXT],
                                .d_new = k->own[D_NEXT],
                                .r = k->r,
                                .d = k->own[D],
                                .q = q,
                                .m = k->m,
                                .slots = k->slots,
                                .delta = delta,
                                .dq = dq,
                                .qmq = SLOT_QMQ};
  TSI_TRY(ops->cg->update(&update));
  swap(&k->r, &k->own[R_NEXT]);
  swap(&k->own[D], &k->own[D_NEXT]);
  s->iteration++;
  return TS_OK;
}

/* The forms for speed are in single precision. */
static int has_one_reduction_now(const tsi_solve *s) {
  return s->solver->desc.reductions == 1 && !s->solver->pairs && !s->checked_mode;
}

static ts_status iterate(tsi_solve *s) {
  ts_solver *k = s->solver;
  if (has_one_reduction_now(s)) return iterate_with_one_reduction(s);
  const tsi_ops *ops = k->context->ops;
  ts_vector *d = k->own[D], *q = k->own[Q];
  const ts_slot delta = {k->slots, delta_slot(k, s->iteration)}, dq = {k->slots, dq_slot(k, s->iteration)},
                delta_new = {k->slots, delta_slot(k, s->iteration + 1)};
  TSI_TRY(tsi_spmv_dot(q, k->matrix, d, k->slots, dq.index));
  if (s->checked_mode) TSI_TRY(ops->reduce(k->slots, SLOT_DD, TSI_REDUCE_DOT, d, d));
  if (k->z) {
    TSI_TRY(tsi_axpy2(k->e, ts_quotient(1, delta, dq), d, k->r, ts_quotient(-1, delta, dq), q));
    TSI_TRY(tsi_solver_precondition(k, k->z, k->r));
    TSI_TRY(ops->reduce(k->slots, delta_new.index, TSI_REDUCE_DOT, k->r, k->z));
  } else {
    TSI_TRY(tsi_axpy2_dot(k->e, ts_quotient(1, delta, dq), d, k->r, ts_quotient(-1, delta, dq), q, k->m,
                          k->slots, delta_new.index, k->scratch));
  }
  TSI_TRY(tsi_solver_turn(k, d, k->r, ts_quotient(1, delta_new, delta)));
  s->iteration++;
  return TS_OK;
}

/* At most `count` iterations that the device carries out by itself. */
static ts_status iterate_on_device(const tsi_solve *s, int count, const float enough[4],
                                   const float visible[4]) {
  const ts_solver *k = s->solver;
  tsi_cg_iterations run = {
      .matrix = k->matrix,
      .e = k->e,
      .r = k->r,
      .d = k->own[D],
      .q = k->own[Q],
      .m = k->m,
      .slots = k->slots,
      .ring = SLOT_RING,
      .ring_size = k->ring,
      .rr = TSI_SLOT_RR,
      .done = SLOT_DONE,
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

/* ---- What the numbers say ---- */

static int stops_by_delta(const tsi_solve *s) {
  return s->solver->desc.stop == TS_STOP_DELTA;
}

/* What a residual falls by before it is computed from x again. In single precision conjugate gradients of
 * Poisson problems and stiffness matrices take the fewest iterations with 0.03 to 0.1; from 1e-3 on they take a
 * tenth more, from 1e-4 on twice as many. */
static double replacement_factor(const ts_solver *k) {
  return k->pairs ? 1e-6 : 3e-2;
}

/* In single precision b - A x is only as good as the rounded x: then the directions begin again. */
static int may_replace(const tsi_solve *s) {
  return s->precision != TS_PRECISION_SINGLE || s->solver->desc.precision == TS_PRECISION_AUTO;
}

/* The size of r in an iteration by what ends the solve: delta, or r^T r, which is known at checks. */
static double size_of(const tsi_solve *s, int iteration, int component) {
  return stops_by_delta(s) ? sqrt(fabs(delta_of(s, iteration, component))) : s->norm_r[component];
}

/* The size at which r, whose size was last seen in `iteration`, is small enough to be looked at: in components
 * that are not solved, a part of what it was. */
static double enough_of(const tsi_solve *s, int component) {
  const double rtol = fmax(0, s->solver->desc.rtol);
  const double rule = stops_by_delta(s) ? rtol * sqrt(s->delta_0[component]) : s->tolerance[component];
  return may_replace(s) ? fmax(rule, replacement_factor(s->solver) * s->peak[component]) : rule;
}

static int has_fallen_far(const tsi_solve *s, int iteration) {
  for (int c = 0; c < s->solver->components; c++)
    if (!(size_of(s, iteration, c) <= enough_of(s, c))) return 0;
  return may_replace(s);
}

static double delta_ratio(const tsi_solve *s, int iteration) {
  double largest = 0;
  for (int c = 0; c < s->solver->components; c++) {
    const double delta = delta_of(s, iteration, c);
    if (!isfinite(delta)) return NAN;
    if (s->delta_0[c] > 0) largest = fmax(largest, sqrt(fabs(delta) / s->delta_0[c]));
  }
  return largest;
}

/* The recurrence says that the rule is met. */
static int recurrence_has_converged(const tsi_solve *s, int iteration) {
  if (stops_by_delta(s)) return delta_ratio(s, iteration) <= s->solver->desc.rtol;
  for (int c = 0; c < s->solver->components; c++)
    if (s->norm_rule[c] > 0 && !(s->norm_r[c] <= s->tolerance[c])) return 0;
  return 1;
}

/* x = x + e, and what is left then. To go on from there, begin. */
static ts_status verify(tsi_solve *s) {
  TSI_TRY(tsi_solve_accept(s, s->solver->e, s->solver->own[Q])); /* q is free until the next iteration */
  s->result->reduction = delta_ratio(s, s->iteration);
  for (int c = 0; c < s->solver->components; c++) s->delta_begin[c] = delta_of(s, s->iteration, c);
  if (!stops_by_delta(s)) return TS_OK;
  s->measure = s->result->reduction;
  s->met = s->measure <= s->solver->desc.rtol;
  return TS_OK;
}

/* Where r was scaled. */
static ts_status sum_scaled_delta(const tsi_solve *s) {
  const ts_solver *k = s->solver;
  tsi_dot delta;
  if (s->scale == 1) return TS_OK;
  TSI_TRY(sum_delta(s, &delta));
  return tsi_dots(k->slots, &delta, 1, k->scratch);
}

/* Whether b - A x is the recurrence's r, whose norms were `before`, but for rounding. */
static int is_as_before(const tsi_solve *s, const double before[4]) {
  for (int c = 0; c < s->solver->components; c++)
    if (!(fabs(s->norm_r[c] - before[c]) <= 1e-3 * before[c])) return 0;
  return !stops_by_delta(s);
}

/* delta after r was replaced and multiplied by `factor`. Where little has changed M^-1 r is what it was: to
 * apply M once more costs as much as an iteration. */
static ts_status sum_replaced_delta(const tsi_solve *s, int as_before, double factor, tsi_dot *sum) {
  const ts_solver *k = s->solver;
  if (!k->z || !as_before) return sum_delta(s, sum);
  *sum = (tsi_dot){delta_slot(k, s->iteration), k->r, k->z, NULL};
  return factor != 1 ? tsi_copy_parts(k->z, ts_constant(factor), k->z) : TS_OK;
}

/* r becomes b - A (x + e) and the directions go on: with d = M^-1 r + p already turned, of which p = beta d_k
 * is kept. */
static ts_status replace_residual(tsi_solve *s) {
  ts_solver *k = s->solver;
  double norms[4], factor;
  memcpy(norms, s->norm_r, sizeof norms);
  ts_vector *p = k->own[D], *q = k->own[Q];
  const ts_slot pq = {k->slots, SLOT_PQ}, pr = {k->slots, SLOT_PR}, qz = {k->slots, SLOT_QZ};
  TSI_TRY(tsi_solver_turn(k, p, k->r, ts_constant(-1)));
  TSI_TRY(verify(s));
  if (s->met) return TS_OK;
  const int as_before = is_as_before(s, norms);
  TSI_TRY(tsi_solve_rescale(s, &factor));
  TSI_TRY(begin_sum(s));
  TSI_TRY(tsi_spmv(q, k->matrix, p));
  const tsi_dot before[2] = {{SLOT_PQ, p, q, NULL}, {SLOT_PR, p, k->r, NULL}};
  TSI_TRY(tsi_dots(k->slots, before, 2, k->scratch));
  TSI_TRY(tsi_axpy2(k->e, ts_quotient(1, pr, pq), p, k->r, ts_quotient(-1, pr, pq), q));
  tsi_dot after[2];
  TSI_TRY(sum_replaced_delta(s, as_before, factor, &after[0]));
  after[1] = k->z ? (tsi_dot){SLOT_QZ, q, k->z, NULL} : (tsi_dot){SLOT_QZ, q, k->r, k->m};
  TSI_TRY(tsi_dots(k->slots, after, 2, k->scratch));
  begin_watch(s);
  return tsi_solver_turn(k, p, k->r, ts_quotient(-1, qz, pq));
}

/* The recurrence residual meets the rule, or has fallen far, or has not improved for long: look at b - A x. */
static ts_status judge_by_residual(tsi_solve *s, int must_end) {
  const int keeps = may_replace(s) && !s->checked_mode && !must_end;
  TSI_TRY(keeps ? replace_residual(s) : verify(s));
  if (s->met) {
    tsi_solve_finish_converged(s);
    return TS_OK;
  }
  s->in_vain = s->measure > 0.5 * s->verified ? s->in_vain + 1 : 0;
  s->verified = fmin(s->measure, s->verified);
  if (keeps && !s->in_vain) return TS_OK;
  s->result->restarts++;
  if (must_end || s->in_vain >= 2) {
    tsi_solve_finish_stagnated(s);
    return TS_OK;
  }
  if (!keeps) {
    double factor;
    TSI_TRY(tsi_solve_rescale(s, &factor));
    TSI_TRY(sum_scaled_delta(s));
  }
  return begin(s);
}

/* ---- Curvature ---- */

/* d^T q <= 0 means something where delta is above this. */
static double visible(const tsi_solve *s, int component) {
  const double rounding = tsi_epsilon(s->solver);
  return fmax(25 * rounding * rounding * s->delta_begin[component], FLT_MIN);
}

/* d^T q <= 0 where delta is not yet small. Returns the component, or -1. */
static int lost_curvature(const tsi_solve *s, int iteration) {
  for (int c = 0; c < s->solver->components; c++)
    if (dq_of(s, iteration, c) <= 0 && delta_of(s, iteration, c) > visible(s, c)) return c;
  return -1;
}

/* d^T M d of the iteration after this one. r is orthogonal to the directions before, so that
 * d_k+1 = M^-1 r_k+1 + beta d_k makes it delta_k+1 + beta^2 d_k^T M d_k. */
static void follow_direction(tsi_solve *s, int iteration) {
  for (int c = 0; c < s->solver->components; c++) {
    const double before = delta_of(s, iteration, c), delta = delta_of(s, iteration + 1, c);
    const double beta = before != 0 ? delta / before : 0;
    if (iteration == s->phase_start) s->direction[c] = before;
    s->direction[c] = delta + beta * beta * s->direction[c];
  }
}

/* Of values that the device computed the norm is not known: about twice the largest diagonal entry. */
static ts_status measure_matrix(const ts_solver *k) {
  const tsi_ops *ops = k->context->ops;
  double largest[4];
  TSI_TRY(tsi_diagonal(k->own[Q], k->matrix));
  TSI_TRY(ops->reduce(k->slots, SLOT_DD, TSI_REDUCE_MAX_ABS, k->own[Q], k->own[Q]));
  TSI_TRY(tsi_scalars_read(k->slots, SLOT_DD, 1, largest));
  k->matrix->norm_infinity = 2 * largest[0];
  return TS_OK;
}

static void finish_indefinite(tsi_solve *s, double dq, const char *m, double dmd, int iteration) {
  char text[160];
  snprintf(text, sizeof text,
           "the matrix is not positive definite: d^T A d is %.3g with d^T %sd = %.3g in iteration %d", dq, m,
           dmd, iteration + 1);
  tsi_solve_finish(s, TS_REASON_INDEFINITE, text);
}

/* d^T q <= 0 against d^T M d: beyond doubt more than rounding? The eigenvalues of M^-1 A are about 1 and less,
 * if M is there to make them so. */
static void judge_by_direction(tsi_solve *s, int iteration, int component, double dmd) {
  const ts_solver *k = s->solver;
  const int plain = !k->m && !k->z;
  const double dq = dq_of(s, iteration, component),
               beyond_doubt = (plain ? 160 * k->matrix->norm_infinity : 1600) * tsi_epsilon(k);
  if (dmd > 0 && isfinite(dq) && dq < -beyond_doubt * dmd)
    finish_indefinite(s, dq, plain ? "" : "M ", dmd, iteration);
}

/* In checked mode d^T d of the same iteration tells whether d^T q <= 0 is more than rounding. */
static void judge_curvature(tsi_solve *s, int iteration, int component) {
  const double dq = dq_of(s, iteration, component), dd = tsi_number(s->solver, SLOT_DD, component);
  char text[160];
  if (isfinite(dq) && dq < -16 * tsi_epsilon(s->solver) * s->solver->matrix->norm_infinity * dd) {
    finish_indefinite(s, dq, "", dd, iteration);
    return;
  }
  snprintf(
      text, sizeof text,
      "stagnated: in iteration %d the matrix is singular or too ill-conditioned for %s precision (d^T A d is "
      "%.2g)",
      iteration + 1, s->precision == TS_PRECISION_DOUBLE ? "double" : "single", dq);
  tsi_solve_finish(s, TS_REASON_STAGNATED, text);
  s->at_limit = 1;
}

/* From x + e, with a check in every iteration. */
static ts_status begin_checked(tsi_solve *s) {
  const ts_solver *k = s->solver;
  s->checked_mode = 1;
  s->result->restarts++;
  tsi_dot delta;
  TSI_TRY(tsi_solve_add(s, k->x, k->e));
  s->x_is_zero = 0;
  s->scale = 1;
  s->scale_from = s->iteration;
  TSI_TRY(tsi_solver_residual(k, k->x, k->own[Q]));
  TSI_TRY(sum_delta(s, &delta));
  const tsi_dot sums[2] = {delta, {TSI_SLOT_RR, k->r, k->r, NULL}};
  TSI_TRY(tsi_dots(k->slots, sums, 2, k->scratch));
  return begin(s);
}

/* ---- Checks ---- */

/* Looks at the numbers of iterations reported .. checked-1. */
static ts_status judge(tsi_solve *s, int checked) {
  const ts_solver *k = s->solver;
  const int first = s->reported;
  int curvature_at = -1, component = -1;
  double dmd = 0; /* of that component there */
  for (int i = first; i < checked; i++) {
    const double ratio = delta_ratio(s, i + 1);
    k->history[i - first] = ratio;
    /* Directions of before a restart, on which iterations went on while its check was awaited, are given up. */
    if (i >= s->phase_start && curvature_at < 0 && (component = lost_curvature(s, i)) >= 0) {
      curvature_at = i;
      dmd = i == s->phase_start ? delta_of(s, i, component) : s->direction[component];
    }
    follow_direction(s, i);
    if (curvature_at < 0 && isnan(ratio)) {
      char text[160];
      snprintf(text, sizeof text, "breakdown: a number left the range of single precision in iteration %d",
               i + 1);
      s->reported = checked;
      tsi_solve_finish(s, TS_REASON_BREAKDOWN, text);
      return TS_OK;
    }
    /* What counts is how r falls from its peak, which may be long after it began to rise. */
    const int peaks = ratio > 2 * s->phase_peak;
    if (peaks) s->phase_peak = ratio;
    if (peaks || ratio < 0.9 * s->phase_best) {
      s->phase_best = ratio;
      s->phase_best_at = i + 1;
    }
  }
  tsi_solve_progress(s, checked, checked - first);
  if (s->ended) return TS_OK;
  if (curvature_at >= 0) {
    if (s->checked_mode) {
      judge_curvature(s, curvature_at, component);
      return TS_OK;
    }
    if (k->matrix->device_values) TSI_TRY(measure_matrix(k));
    judge_by_direction(s, curvature_at, component, dmd);
    return s->ended ? TS_OK : begin_checked(s);
  }
  for (int c = 0; c < k->components; c++) s->peak[c] = fmax(s->peak[c], size_of(s, checked, c));
  const int window = tsi_window(k->matrix);
  const int too_long = checked - s->phase_best_at > window;
  return recurrence_has_converged(s, checked) || too_long || has_fallen_far(s, checked)
             ? judge_by_residual(s, too_long)
             : TS_OK;
}

static void take_norms(tsi_solve *s, int iteration) {
  for (int c = 0; c < s->solver->components; c++)
    s->norm_r[c] = sqrt(unscaled(s, iteration, tsi_number(s->solver, TSI_SLOT_RR, c)));
}

/* One interval of iterations that the device carries out by itself. It ends earlier where the numbers will end
 * the solve, or change its way. */
static ts_status advance_on_device(tsi_solve *s) {
  const ts_solver *k = s->solver;
  const int left = k->desc.max_iterations - s->iteration;
  const int count = left < k->desc.check_interval ? left : k->desc.check_interval;
  float enough[4] = {0}, seen[4] = {0};
  for (int c = 0; c < k->components; c++) {
    s->peak[c] = fmax(s->peak[c], size_of(s, s->iteration, c));
    const double size = enough_of(s, c) * s->scale;
    enough[c] = (float)(size * size);
    seen[c] = (float)(visible(s, c) * s->scale * s->scale);
  }
  TSI_TRY(iterate_on_device(s, count, enough, seen));
  TSI_TRY(tsi_scalars_read(k->slots, 0, TSI_SLOT_OWN + k->own_slots, k->numbers));
  const int done = (int)tsi_number(k, SLOT_DONE, 0);
  if (done < 1 || done > count)
    return tsi_fail(k->context, TS_ERROR_DEVICE, "the device reports %d iterations of %d", done, count);
  s->iteration += done;
  take_norms(s, s->iteration);
  return judge(s, s->iteration);
}

/* Where the device iterates by itself and sees when to end, intervals are long. It does not in pairs. */
static int interval_of(const ts_solver *k) {
  const int usual = (int)k->context->tuning.check_interval;
  return k->pairs && k->on_device && k->desc.check_interval > usual ? usual : k->desc.check_interval;
}

/* One interval: iterations, then the numbers. Meanwhile the device goes on with `pipelined` iterations. */
static ts_status advance(tsi_solve *s) {
  ts_solver *k = s->solver;
  if (k->on_device && !k->pairs && !s->checked_mode) return advance_on_device(s);
  const int left = k->desc.max_iterations - s->iteration;
  int steps = s->checked_mode ? 1 : interval_of(k), pipelined = s->checked_mode ? 0 : k->pipelined;
  if (steps > left) steps = left;
  if (pipelined > left - steps) pipelined = left - steps;
  for (int i = 0; i < steps; i++) TSI_TRY(iterate(s));
  const int checked = s->iteration;
  /* What the iterations themselves have not summed up. */
  tsi_dot sums[2];
  int count = 0;
  if (has_one_reduction_now(s)) sums[count++] = (tsi_dot){delta_slot(k, checked), k->r, k->r, k->m};
  if (!stops_by_delta(s)) sums[count++] = (tsi_dot){TSI_SLOT_RR, k->r, k->r, NULL};
  TSI_TRY(tsi_dots(k->slots, sums, count, k->scratch));
  TSI_TRY(tsi_solve_read(s, 0, TSI_SLOT_OWN + k->own_slots, pipelined, iterate));
  take_norms(s, checked);
  return judge(s, checked);
}

/* delta of the start: M may not be positive, or the numbers not in range. */
static void judge_start(tsi_solve *s) {
  const ts_solver *k = s->solver;
  for (int c = 0; c < k->components; c++) {
    const double delta = delta_of(s, s->iteration, c);
    if (s->iteration == 0) s->delta_0[c] = delta;
    s->delta_begin[c] = delta;
    if (s->norm_start[c] <= ldexp(s->incompatible, -20)) continue;
    char text[160];
    if (!isfinite(delta)) {
      tsi_solve_finish(s, TS_REASON_BREAKDOWN,
                       "breakdown: the first residual leaves the range of single precision; scale the system");
      return;
    }
    if (delta < 0) {
      snprintf(text, sizeof text, "the matrix is not positive definite: r^T M^-1 r is %.3g at the start%s",
               delta, k->m ? ", so its diagonal has negative entries" : "");
      tsi_solve_finish(s, TS_REASON_INDEFINITE, text);
      return;
    }
    if (delta == 0) {
      tsi_solve_finish(s, TS_REASON_BREAKDOWN,
                       "breakdown: r^T M^-1 r is 0 at the start, and r is not: the matrix is not positive "
                       "definite, or out of the range of single precision");
      return;
    }
  }
}

static ts_status run(tsi_solve *s) {
  begin_watch(s);
  double factor;
  judge_start(s);
  if (s->ended) return TS_OK;
  TSI_TRY(tsi_solve_rescale(s, &factor));
  TSI_TRY(sum_scaled_delta(s));
  TSI_TRY(begin(s));
  while (!s->ended && s->iteration < s->solver->desc.max_iterations) TSI_TRY(advance(s));
  return TS_OK;
}

static ts_status run_fixed(tsi_solve *s) {
  static const float never[4] = {-1, -1, -1, -1}, any[4] = {INFINITY, INFINITY, INFINITY, INFINITY};
  const ts_solver *k = s->solver;
  const int count = k->desc.fixed_iterations;
  TSI_TRY(begin(s));
  if (k->on_device && !k->pairs) {
    TSI_TRY(iterate_on_device(s, count, never, any));
    s->iteration = count;
  }
  while (s->iteration < count) TSI_TRY(iterate(s));
  return TS_OK;
}

/* After a breakdown: nothing of e, if it is not finite. */
static ts_status drop_what_is_not_finite(const ts_solver *k) {
  const tsi_ops *ops = k->context->ops;
  ts_vector *x = k->own[D], *r = k->own[Q];
  double rr[4];
  TSI_TRY(ops->axpby(x, ts_constant(1), k->e, ts_constant(1), k->x));
  TSI_TRY(tsi_residual(r, k->b, k->matrix, x));
  TSI_TRY(ops->reduce(k->slots, TSI_SLOT_RR, TSI_REDUCE_DOT, r, r));
  TSI_TRY(tsi_scalars_read(k->slots, TSI_SLOT_RR, 1, rr));
  for (int c = 0; c < k->components; c++)
    if (!isfinite(rr[c])) return tsi_fill(k->e, 0);
  return TS_OK;
}

/* All of e into x, and what that leaves. */
static ts_status settle(tsi_solve *s) {
  if (s->settled) return TS_OK;
  if (s->ended && s->result->reason == TS_REASON_BREAKDOWN) TSI_TRY(drop_what_is_not_finite(s->solver));
  return verify(s);
}

const tsi_method tsi_cg = {.name = "cg",
                           .plan = plan,
                           .residual_sum = sum_delta,
                           .run = run,
                           .run_fixed = run_fixed,
                           .settle = settle};
