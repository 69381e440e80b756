/* Conjugate gradients with a diagonal preconditioner M, or one cycle of multigrid (Buatois et al. 2008,
 * section 1.2), written once for all backends over the ops table:
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
 * themselves. The host reads the slots of all iterations since the last check at once.
 *
 * A device may carry out many iterations by itself (cg_iterate). It writes the same numbers into the same
 * slots.
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
 * Against single precision:
 * - Steps are added up in e, which becomes part of x when r is computed from x. Adding every small step to x at
 * once would round x as often.
 * - b is scaled by a power of two so that its largest element is about 1, each component by its own
 * (solve_scale.h). A solution that single precision does not hold is a breakdown, and x stays what it was.
 * - r follows a recurrence and drifts away from b - A x. When the recurrence claims convergence, r is computed
 * anew; if that does not confirm it, the iteration begins again from there. When two such replacements in a row
 * do not halve the residual, it is at the limit of single precision: stagnation.
 * - d^T q <= 0 may be an indefinite matrix or rounding. Where d^T q against d^T M d leaves a doubt, the
 * iteration begins again with a check and d^T d in each iteration (careful mode), where the two can be told
 * apart. */
#include <math.h>
#include <stdio.h>

#include "cg.h"
#include "common/core/core.h"
#include "common/precond/multigrid/multigrid.h"

ts_status tsi_cg_read_slots(ts_cg *cg) {
  return tsi_scalars_read(cg->slots, 0, TSI_CG_RING + 2 * cg->ring, cg->numbers);
}

/* ---- The recurrence ---- */

static tsi_dot delta_of(const ts_cg *cg, int slot) {
  if (cg->z) return (tsi_dot){slot, cg->r, cg->z, NULL};
  return (tsi_dot){slot, cg->r, cg->r, cg->m};
}

/* d = M^-1 r + beta d */
static ts_status update_direction(ts_cg *cg, ts_coefficient beta) {
  if (cg->m) return tsi_multiply_add(cg->d, cg->m, cg->r, beta, cg->d, cg->scratch);
  if (cg->z) return cg->context->ops->axpby(cg->d, ts_constant(1), cg->z, beta, cg->d);
  return cg->context->ops->axpby(cg->d, ts_constant(1), cg->r, beta, cg->d);
}

/* The sums of r that tell where the solve stands; `more` may be one further sum. */
static ts_status sum_residual(const tsi_cg_state *s, const tsi_dot *more) {
  const ts_cg *cg = s->cg;
  if (cg->z) TSI_TRY(tsi_multigrid_precondition(cg->desc.multigrid, cg->z, cg->r));
  tsi_dot sums[TSI_MAX_DOTS] = {delta_of(cg, tsi_cg_delta_slot(cg, s->iteration)),
                                {TSI_CG_RR, cg->r, cg->r, NULL}};
  if (more) sums[2] = *more;
  return tsi_dots(cg->slots, sums, more ? 3 : 2, cg->scratch);
}

/* r = b - A x with all of x */
ts_status tsi_cg_replace_residual(const tsi_cg_state *s, const tsi_dot *more) {
  const ts_cg *cg = s->cg;
  TSI_TRY(cg->context->ops->residual(cg->r, cg->b, cg->matrix, cg->x));
  return sum_residual(s, more);
}

/* e = 0, d = M^-1 r */
ts_status tsi_cg_begin_directions(tsi_cg_state *s) {
  s->begun = s->iteration;
  s->settled = 0;
  TSI_TRY(s->cg->context->ops->fill(s->cg->e, 0));
  return update_direction(s->cg, ts_constant(0));
}

static void swap(ts_vector **a, ts_vector **b) {
  ts_vector *c = *a;
  *a = *b;
  *b = c;
}

static ts_status iterate_with_one_reduction(tsi_cg_state *s) {
  ts_cg *cg = s->cg;
  const tsi_ops *ops = cg->context->ops;
  const int delta = tsi_cg_delta_slot(cg, s->iteration), dq = tsi_cg_dq_slot(cg, s->iteration);
  const tsi_dot sums[TSI_MAX_DOTS] = {
      {dq, cg->d, cg->q, NULL}, {delta, cg->r, cg->r, cg->m}, {TSI_CG_QMQ, cg->q, cg->q, cg->m}};
  TSI_TRY(ops->spmv(cg->q, cg->matrix, cg->d));
  TSI_TRY(tsi_dots(cg->slots, sums, TSI_MAX_DOTS, cg->scratch));
  const tsi_cg_update update = {.e = cg->e,
                                .r_new = cg->r_next,
                                .d_new = cg->d_next,
                                .r = cg->r,
                                .d = cg->d,
                                .q = cg->q,
                                .m = cg->m,
                                .slots = cg->slots,
                                .delta = delta,
                                .dq = dq,
                                .qmq = TSI_CG_QMQ};
  TSI_TRY(ops->cg->update(&update));
  swap(&cg->r, &cg->r_next);
  swap(&cg->d, &cg->d_next);
  s->iteration++;
  return TS_OK;
}

static ts_status iterate(tsi_cg_state *s) {
  ts_cg *cg = s->cg;
  if (cg->r_next && !s->careful) return iterate_with_one_reduction(s);
  const tsi_ops *ops = cg->context->ops;
  const ts_slot delta = {cg->slots, tsi_cg_delta_slot(cg, s->iteration)};
  const ts_slot dq = {cg->slots, tsi_cg_dq_slot(cg, s->iteration)};
  const ts_slot delta_new = {cg->slots, tsi_cg_delta_slot(cg, s->iteration + 1)};
  TSI_TRY(ops->spmv(cg->q, cg->matrix, cg->d));
  TSI_TRY(ops->reduce(cg->slots, dq.index, TSI_REDUCE_DOT, cg->d, cg->q));
  if (s->careful) TSI_TRY(ops->reduce(cg->slots, TSI_CG_DD, TSI_REDUCE_DOT, cg->d, cg->d));
  if (cg->z) {
    TSI_TRY(tsi_axpy2(cg->e, ts_quotient(1, delta, dq), cg->d, cg->r, ts_quotient(-1, delta, dq), cg->q));
    TSI_TRY(tsi_multigrid_precondition(cg->desc.multigrid, cg->z, cg->r));
    TSI_TRY(ops->reduce(cg->slots, delta_new.index, TSI_REDUCE_DOT, cg->r, cg->z));
  } else {
    TSI_TRY(tsi_axpy2_dot(cg->e, ts_quotient(1, delta, dq), cg->d, cg->r, ts_quotient(-1, delta, dq), cg->q,
                          cg->m, cg->slots, delta_new.index, cg->scratch));
  }
  TSI_TRY(update_direction(cg, ts_quotient(1, delta_new, delta)));
  s->iteration++;
  return TS_OK;
}

/* ---- Set-up ---- */

/* What b and x are multiplied by, or with `back` what brings them back. */
static ts_coefficient scale_of(const ts_cg *cg, int back) {
  const int target = tsi_scale_target(cg->matrix);
  return ts_scaled(ldexpf(1, back ? -target : target), cg->slots, back ? TSI_CG_UNSCALE : TSI_CG_SCALE);
}

static ts_status fill_preconditioner(const ts_cg *cg) {
  const tsi_ops *ops = cg->context->ops;
  if (!cg->m) return TS_OK;
  if (cg->desc.preconditioner == TS_PRECONDITIONER_NONE)
    return ops->fill(cg->m, ldexpf(1, -tsi_scale_exponent(cg->matrix)));
  TSI_TRY(ops->diagonal(cg->m, cg->matrix));
  return ops->reciprocal(cg->m, cg->m);
}

/* Brings b and x into the workspace, scaled. Locked rows of b are no equations and become 0. */
static ts_status take_in(ts_cg *cg, const ts_vector *b, const ts_vector *x) {
  const tsi_ops *ops = cg->context->ops;
  const ts_coefficient zero = ts_constant(0), scale = scale_of(cg, 0);
  if (cg->matrix->row_space->locked) {
    TSI_TRY(ops->free_rows(cg->b, b));
    b = cg->b;
  } else if (cg->matrix->stencil && cg->matrix->stencil->has_holes) {
    /* b - A 0, which is 0 at points without equation, whatever b holds there. */
    TSI_TRY(ops->fill(cg->x, 0));
    TSI_TRY(ops->residual(cg->b, b, cg->matrix, cg->x));
    b = cg->b;
  }
  TSI_TRY(ops->reduce(cg->slots, TSI_CG_MAX_B, TSI_REDUCE_MAX_ABS, b, b));
  TSI_TRY(ops->scalars_normalise(cg->slots, TSI_CG_MAX_B, TSI_CG_SCALE));
  TSI_TRY(ops->axpby(cg->b, scale, b, zero, b));
  if (cg->z) { /* the iterations see nothing of what no x reaches */
    TSI_TRY(tsi_multigrid_sum_parts(cg->desc.multigrid, cg->b, TSI_MG_SUMS_B));
    TSI_TRY(tsi_multigrid_remove_means(cg->desc.multigrid, cg->b, TSI_MG_SUMS_B));
  }
  TSI_TRY(cg->desc.zero_start ? ops->fill(cg->x, 0) : ops->axpby(cg->x, scale, x, zero, x));
  return fill_preconditioner(cg);
}

/* The norm of what b was freed from; a singular system waits once for it. */
static ts_status read_incompatible(tsi_cg_state *s) {
  const ts_multigrid *mg = s->cg->desc.multigrid;
  const int parts = s->cg->z ? mg->matrix->stencil->part_count : 0;
  if (parts == 0) return TS_OK;
  float sums[4 * 8];
  double squares = 0;
  TSI_TRY(tsi_scalars_read(mg->slots, TSI_MG_SUMS_B, parts, sums));
  for (int k = 0; k < parts; k++)
    squares += (double)sums[4 * (size_t)k] * sums[4 * (size_t)k] / mg->matrix->stencil->part_sizes[k];
  s->incompatible = sqrt(squares);
  return TS_OK;
}

/* With a start from 0, r is b. */
static ts_status first_residual(const tsi_cg_state *s) {
  const ts_cg *cg = s->cg;
  const tsi_dot bb = {TSI_CG_BB, cg->b, cg->b, NULL};
  if (!cg->desc.zero_start) return tsi_cg_replace_residual(s, &bb);
  TSI_TRY(cg->context->ops->axpby(cg->r, ts_constant(1), cg->b, ts_constant(0), cg->b));
  return sum_residual(s, NULL);
}

/* One interval of iterations that the device carries out by itself. It ends earlier where the numbers will end
 * the solve, or change its way. */
static ts_status advance_on_device(tsi_cg_state *s, int *ended) {
  const ts_cg *cg = s->cg;
  const int left = cg->desc.max_iterations - s->iteration;
  const double rtol = cg->desc.rtol;
  tsi_cg_iterations run = {
      .matrix = cg->matrix,
      .e = cg->e,
      .r = cg->r,
      .d = cg->d,
      .q = cg->q,
      .m = cg->m,
      .slots = cg->slots,
      .ring = TSI_CG_RING,
      .ring_size = cg->ring,
      .rr = TSI_CG_RR,
      .done = TSI_CG_DONE,
      .iteration = s->iteration,
      .count = left < cg->desc.check_interval ? left : cg->desc.check_interval,
      .stop_by_residual = cg->desc.stop == TS_STOP_RESIDUAL,
  };
  for (int c = 0; c < cg->components; c++) {
    const double norm = s->norm_rule[c];
    run.enough[c] = (float)(rtol * rtol * (run.stop_by_residual ? norm * norm : s->delta_0[c]));
    run.visible[c] = (float)tsi_cg_visible(s, c);
  }
  TSI_TRY(cg->context->ops->cg->iterate(&run));
  TSI_TRY(tsi_cg_read_slots(s->cg));
  const int done = (int)tsi_cg_number(cg, TSI_CG_DONE, 0);
  if (done < 1 || done > run.count)
    return tsi_fail(cg->context, TS_ERROR_DEVICE, "the device reports %d iterations of %d", done, run.count);
  s->iteration += done;
  for (int c = 0; c < cg->components; c++) s->norm_r[c] = sqrt((double)tsi_cg_number(cg, TSI_CG_RR, c));
  return tsi_cg_judge(s, s->iteration, ended);
}

/* One interval: iterations, then the numbers. Meanwhile the device goes on with `overlap` iterations. */
static ts_status advance(tsi_cg_state *s, int *ended) {
  ts_cg *cg = s->cg;
  if (cg->on_device && !s->careful) return advance_on_device(s, ended);
  const int left = cg->desc.max_iterations - s->iteration;
  int steps = s->careful ? 1 : cg->desc.check_interval, overlap = s->careful ? 0 : cg->overlap;
  if (steps > left) steps = left;
  if (overlap > left - steps) overlap = left - steps;
  for (int k = 0; k < steps; k++) TSI_TRY(iterate(s));
  const int checked = s->iteration;
  /* What the iterations themselves have not summed up. */
  tsi_dot sums[2];
  int count = 0;
  if (cg->r_next && !s->careful) sums[count++] = delta_of(cg, tsi_cg_delta_slot(cg, checked));
  if (cg->desc.stop == TS_STOP_RESIDUAL) sums[count++] = (tsi_dot){TSI_CG_RR, cg->r, cg->r, NULL};
  TSI_TRY(tsi_dots(cg->slots, sums, count, cg->scratch));
  TSI_TRY(cg->context->ops->scalars_read_begin(cg->slots, 0, TSI_CG_RING + 2 * cg->ring));
  for (int k = 0; k < overlap; k++) TSI_TRY(iterate(s));
  cg->context->waits++;
  TSI_TRY(cg->context->ops->scalars_read_end(cg->slots, cg->numbers));
  for (int c = 0; c < cg->components; c++) s->norm_r[c] = sqrt((double)tsi_cg_number(cg, TSI_CG_RR, c));
  return tsi_cg_judge(s, checked, ended);
}

/* ---- The end ---- */

/* After a breakdown: nothing of e, if it is not finite. */
static ts_status drop_what_is_not_finite(const ts_cg *cg) {
  const tsi_ops *ops = cg->context->ops;
  TSI_TRY(ops->axpby(cg->d, ts_constant(1), cg->e, ts_constant(1), cg->x));
  TSI_TRY(ops->residual(cg->q, cg->b, cg->matrix, cg->d));
  TSI_TRY(ops->reduce(cg->slots, TSI_CG_RR, TSI_REDUCE_DOT, cg->q, cg->q));
  TSI_TRY(tsi_scalars_read(cg->slots, TSI_CG_RR, 1, cg->numbers));
  for (int c = 0; c < cg->components; c++)
    if (!isfinite(cg->numbers[c])) return ops->fill(cg->e, 0);
  return TS_OK;
}

/* All of e into x, and what that leaves. */
static ts_status settle(tsi_cg_state *s, int ended) {
  const ts_cg *cg = s->cg;
  double measure;
  if (s->settled) return TS_OK;
  if (s->result->reason == TS_REASON_BREAKDOWN) TSI_TRY(drop_what_is_not_finite(cg));
  TSI_TRY(tsi_cg_verify(s, &measure));
  if (ended) return TS_OK;
  if (measure <= cg->desc.rtol) {
    tsi_cg_finish_converged(s);
    return TS_OK;
  }
  char text[160];
  snprintf(text, sizeof text, "the maximum of %d iterations was reached at a relative residual of %.2g",
           cg->desc.max_iterations, s->result->relative_residual);
  tsi_cg_finish(s, TS_REASON_MAX_ITERATIONS, text);
  return TS_OK;
}

/* The user's x from the workspace's, unless single precision does not hold it: then it stays what it was. */
static ts_status hand_back(tsi_cg_state *s, ts_vector *x) {
  ts_cg *cg = s->cg;
  const tsi_ops *ops = cg->context->ops;
  ts_cg_result *result = s->result;
  tsi_scale_end end = {.components = cg->components,
                       .size = cg->matrix->norm_infinity,
                       .unknowns = cg->matrix->info.rows,
                       .rtol = cg->desc.rtol};
  for (int c = 0; c < cg->components; c++) {
    end.unscale[c] = s->unscale[c];
    end.norm_b[c] = s->norm_rule[c];
    if (s->may_overflow) end.max_x[c] = tsi_cg_number(cg, TSI_CG_MAX_X, c);
  }
  char text[160];
  const double largest = tsi_scale_overflow(&end);
  if (largest > 0) {
    result->delta_ratio = result->relative_residual = 0;
    for (int c = 0; c < cg->components; c++) {
      if (s->norm_start[c] > 0) result->delta_ratio = 1;
      const double ratio = s->norm_b[c] > 0 ? s->norm_start[c] / s->norm_b[c] : s->norm_start[c];
      result->relative_residual = fmax(result->relative_residual, ratio);
    }
    tsi_scale_say_overflow(text, sizeof text, largest);
    tsi_cg_finish(s, TS_REASON_BREAKDOWN, text);
    return cg->desc.zero_start ? ops->fill(x, 0) : TS_OK;
  }
  TSI_TRY(ops->axpby(x, scale_of(cg, 1), cg->x, ts_constant(0), cg->x));
  if (!tsi_scale_underflow(&end)) return TS_OK;
  double measure;
  TSI_TRY(ops->axpby(cg->x, scale_of(cg, 0), x, ts_constant(0), x));
  TSI_TRY(ops->fill(cg->e, 0));
  TSI_TRY(tsi_cg_verify(s, &measure));
  if (result->reason != TS_REASON_CONVERGED || measure <= cg->desc.rtol) return TS_OK;
  tsi_scale_say_underflow(text, sizeof text, result->relative_residual);
  tsi_cg_finish(s, TS_REASON_BREAKDOWN, text);
  return TS_OK;
}

ts_status tsi_cg_run(ts_cg *cg, const ts_vector *b, ts_vector *x, ts_cg_result *result) {
  tsi_cg_state s = {.cg = cg, .result = result, .best = INFINITY, .verified = INFINITY};
  int ended = 0;
  TSI_TRY(take_in(cg, b, x));
  TSI_TRY(first_residual(&s));
  TSI_TRY(tsi_cg_begin_directions(&s));
  TSI_TRY(tsi_cg_read_slots(cg));
  TSI_TRY(read_incompatible(&s));
  TSI_TRY(tsi_cg_judge_start(&s, x, &ended));
  /* There is nothing to iterate; x is as it was. */
  if (ended) return cg->desc.zero_start ? cg->context->ops->fill(x, 0) : TS_OK;
  /* The starting value may already satisfy the rule ||r|| <= rtol ||b||. */
  if (cg->desc.stop == TS_STOP_RESIDUAL && tsi_cg_claimed(&s, 0) <= cg->desc.rtol)
    TSI_TRY(tsi_cg_judge_by_residual(&s, 0, &ended));
  while (!ended && s.iteration < cg->desc.max_iterations) TSI_TRY(advance(&s, &ended));

  TSI_TRY(settle(&s, ended));
  result->iterations = s.iteration;
  return hand_back(&s, x);
}
