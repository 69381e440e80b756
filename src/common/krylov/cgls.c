/* CGLS (Hestenes and Stiefel 1952) with a preconditioner M of A^T A, written once for all backends on top of
 * the ops table:
 *
 *   r = b - A x;  e = 0;  s = A^T r;  p = M^-1 s;  gamma_0 = s^T M^-1 s
 *   for k = 0, 1, ...
 *     q = A p
 *     alpha = gamma_k / q^T q
 *     e = e + alpha p;  r = r - alpha q
 *     s = A^T r;  gamma_k+1 = s^T M^-1 s
 *     p = M^-1 s + (gamma_k+1 / gamma_k) p
 *
 * In mixed precision s is recomputed from x to about 48 bits when it has fallen far. Between these replacements
 * it follows
 *
 *     s = s - alpha A^T q
 *
 * since A^T r, if r is not small, is only as accurate as the rounding of r. The directions are kept, as in
 * cg.c.
 *
 * A^T A is never formed, neither as a matrix nor in s (the gradient). s is a product with r, so that the
 * rounding of the residual enters once, and not squared with the condition of A. */
#include <math.h>

#include "common/matrix/csr.h"
#include "common/core/core.h"
#include "common/core/ranks.h"
#include "solver.h"

/* The method's vectors: p and A^T q over the columns, followed by q over the rows. */
enum { P, T, VECTORS };

/* Numbers of each iteration. */
enum { GAMMA, SS, QQ, NUMBERS };
/* The slots before those: gamma of the replaced s, and its change. */
enum { SLOT_GAMMA = TSI_SLOT_OWN, SLOT_RING };

static int slot_of(const ts_solver *k, int iteration, int which) {
  return SLOT_RING + NUMBERS * (iteration % k->ring) + which;
}

static ts_vector *q_of(const ts_solver *k) {
  return k->vectors[k->vector_count - 1];
}

static void cgls_plan(ts_solver *k) {
  k->ring = k->desc.check_interval + k->pipelined + 1;
  k->own_vectors = VECTORS;
  k->own_row_vectors = 1;
  k->own_slots = SLOT_RING - TSI_SLOT_OWN + NUMBERS * k->ring;
  k->history_size = k->ring;
}

/* The matrix whose entries are read: the transposed one if the user provided it, so that columns of A are its
 * rows. NULL if both are functions. */
static const ts_matrix *readable(const ts_solver *k) {
  if (k->desc.transposed && !k->transposed->kind->has_no_entries) return k->transposed;
  return k->matrix->kind->has_no_entries ? NULL : k->matrix;
}

/* The sums of squares of the columns of A. */
static ts_status sum_squares(const ts_solver *k, const ts_matrix *from, double *squares) {
  tsi_matrix_entries entries = {0};
  const tsi_csr *A = &entries.csr;
  TSI_TRY(from->host_copy ? tsi_matrix_stored_copy(from, &entries.csr) : tsi_matrix_read(from, &entries));
  for (int32_t i = 0; i < A->rows; i++)
    for (int32_t e = A->row_offsets[i]; e < A->row_offsets[i + 1]; e++) {
      const double value = A->double_values ? A->double_values[e] : (double)A->values[e];
      squares[from == k->matrix ? A->column_indices[e] : i] += value * value;
    }
  tsi_matrix_entries_free(k->context, &entries);
  return TS_OK;
}

static ts_status find_norm(ts_solver *k, const double *squares) {
  double all = 0;
  for (int32_t j = 0; j < k->matrix->info.columns; j++) all += squares[j];
  if (k->matrix->all_rows) TSI_TRY(k->context->ops->ranks->add(k->context, &all, 1));
  k->frobenius = sqrt(all);
  return TS_OK;
}

/* Writes each component of m. m is 0 for a column of zeros, and bounded so that products with it stay in the
 * range of floats. */
static ts_status write_inverse(const ts_solver *k, const double *squares) {
  const size_t columns = (size_t)k->matrix->info.columns, components = (size_t)k->components;
  float *values = tsi_malloc(k->context, columns * components, sizeof *values);
  if (!values) return tsi_out_of_memory(k->context, "a preconditioner", columns * components * sizeof *values);
  for (size_t j = 0; j < columns; j++)
    for (size_t c = 0; c < components; c++)
      values[j * components + c] = squares[j] > 0 ? (float)fmin(1 / squares[j], 1e30) : 0;
  const ts_status status = tsi_vector_write_floats(k->m, values);
  tsi_free(k->context, values);
  return status;
}

ts_status tsi_cgls_measure(ts_solver *k) {
  const ts_matrix *from = readable(k);
  if (!from || k->jacobi_changes == k->transposed->changes) return TS_OK;
  const size_t columns = (size_t)k->matrix->info.columns;
  double *squares = tsi_calloc(k->context, columns, sizeof *squares);
  ts_status status = squares ? sum_squares(k, from, squares)
                             : tsi_out_of_memory(k->context, "the norm of a matrix", columns * sizeof *squares);
  if (status == TS_OK) status = find_norm(k, squares);
  if (status == TS_OK && k->m) status = write_inverse(k, squares);
  if (status == TS_OK) k->jacobi_changes = k->transposed->changes;
  tsi_free(k->context, squares);
  return status;
}

/* ---- The recurrence ---- */

static ts_status sum_gradient(const tsi_solve *s) {
  const ts_solver *k = s->solver;
  ts_vector *g = k->gradient;
  if (k->z) TSI_TRY(tsi_solver_precondition(k, k->z, g));
  const tsi_dot sums[2] = {{slot_of(k, s->iteration, GAMMA), g, k->z ? k->z : g, k->m},
                           {slot_of(k, s->iteration, SS), g, g, NULL}};
  return tsi_dots(k->slots, sums, 2, k->scratch);
}

/* Starts from x and its r and s. */
static ts_status cgls_begin(tsi_solve *s) {
  s->phase_start = s->phase_best_at = s->iteration;
  s->phase_best = INFINITY;
  s->largest = 0;
  TSI_TRY(tsi_fill(s->solver->e, 0));
  TSI_TRY(sum_gradient(s));
  return tsi_solver_update_direction(s->solver, s->solver->own[P], s->solver->gradient, ts_constant(0));
}

static ts_status cgls_iterate(tsi_solve *s) {
  const ts_solver *k = s->solver;
  const tsi_ops *ops = k->context->ops;
  ts_vector *p = k->own[P], *q = q_of(k);
  const ts_slot gamma = {k->slots, slot_of(k, s->iteration, GAMMA)},
                qq = {k->slots, slot_of(k, s->iteration, QQ)},
                gamma_new = {k->slots, slot_of(k, s->iteration + 1, GAMMA)};
  const ts_coefficient one = ts_constant(1);
  TSI_TRY(tsi_spmv(q, k->matrix, p));
  TSI_TRY(ops->reduce(k->slots, qq.index, TSI_REDUCE_DOT, q, q));
  TSI_TRY(ops->axpby(k->e, ts_quotient(1, gamma, qq), p, one, k->e));
  if (s->precision == TS_PRECISION_MIXED) {
    TSI_TRY(tsi_spmv(k->own[T], k->transposed, q));
    TSI_TRY(ops->axpby(k->gradient, ts_quotient(-1, gamma, qq), k->own[T], one, k->gradient));
  } else {
    TSI_TRY(ops->axpby(k->r, ts_quotient(-1, gamma, qq), q, one, k->r));
    TSI_TRY(tsi_spmv(k->gradient, k->transposed, k->r));
  }
  s->iteration++;
  TSI_TRY(sum_gradient(s));
  return tsi_solver_update_direction(k, p, k->gradient, ts_quotient(1, gamma_new, gamma));
}

/* ---- Checks ---- */

/* Checks A^T (b - A x): the recurrence residual meets the rule, or the recurrence cannot continue. */
static ts_status verify(tsi_solve *s, int must_end) {
  const double before = s->measure;
  TSI_TRY(tsi_solve_try(s, s->solver->e, s->solver->own[P]));
  if (s->met) {
    tsi_solve_finish_converged(s);
    return TS_OK;
  }
  s->result->restarts++;
  s->in_vain = s->measure <= 0.5 * before ? 0 : s->in_vain + 1;
  if (!must_end && s->in_vain < 2) return cgls_begin(s);
  tsi_solve_finish_stagnated(s);
  return TS_OK;
}

/* As in cg_replace.c. */
static const double replacement_factor = 3e-2;

static int may_replace(const tsi_solve *s) {
  return s->precision == TS_PRECISION_MIXED || s->solver->desc.precision == TS_PRECISION_AUTO;
}

static ts_status sum_gamma(const tsi_solve *s, int slot) {
  const ts_solver *k = s->solver;
  ts_vector *g = k->gradient;
  if (k->z) TSI_TRY(tsi_solver_precondition(k, k->z, g));
  const tsi_dot sum = {slot, g, k->z ? k->z : g, k->m};
  return tsi_dots(k->slots, &sum, 1, k->scratch);
}

/* The ratio of gamma after and before the replacement, as in cg.c. */
static ts_status write_change(const tsi_solve *s) {
  const ts_solver *k = s->solver;
  double change[4] = {0}, before[4], now[4];
  TSI_TRY(tsi_scalars_read(k->slots, SLOT_GAMMA, 1, before));
  TSI_TRY(tsi_scalars_read(k->slots, slot_of(k, s->iteration, GAMMA), 1, now));
  for (int c = 0; c < k->components; c++) {
    const double ratio = now[c] / before[c];
    change[c] = ratio > 0 && ratio <= 4 ? -ratio : 0;
  }
  return tsi_scalars_write(k->slots, SLOT_GAMMA, 1, change);
}

/* s becomes A^T (b - A (x + e)), and the directions are kept. */
static ts_status replace_gradient(tsi_solve *s) {
  ts_solver *k = s->solver;
  const double before = s->measure;
  TSI_TRY(tsi_solver_update_direction(k, k->own[P], k->gradient, ts_constant(-1)));
  TSI_TRY(sum_gamma(s, SLOT_GAMMA));
  TSI_TRY(tsi_solve_try(s, k->e, k->own[T]));
  if (s->met) {
    tsi_solve_finish_converged(s);
    return TS_OK;
  }
  if (!(s->measure <= 0.5 * before)) {
    s->in_vain++;
    s->result->restarts++;
    if (s->in_vain < 2) return cgls_begin(s);
    tsi_solve_finish_stagnated(s);
    return TS_OK;
  }
  s->in_vain = 0;
  s->largest = 0;
  s->phase_best = INFINITY;
  s->phase_best_at = s->iteration;
  TSI_TRY(tsi_fill(k->e, 0));
  TSI_TRY(sum_gradient(s));
  TSI_TRY(write_change(s));
  return tsi_solver_update_direction(k, k->own[P], k->gradient, ts_scaled(1, k->slots, SLOT_GAMMA));
}

static ts_status cgls_check(tsi_solve *s, int checked) {
  const ts_solver *k = s->solver;
  const int first = s->reported;
  for (int i = first; i < checked; i++) {
    const double ratio = tsi_solve_recurrence_residual(s, slot_of(k, i + 1, SS));
    k->history[i - first] = ratio;
    tsi_solve_note(s, ratio);
    if (i >= s->phase_start) s->largest = fmax(s->largest, ratio);
    if (i < s->phase_start || !(ratio < 0.9 * s->phase_best)) continue;
    s->phase_best = ratio;
    s->phase_best_at = i + 1;
  }
  TSI_TRY(tsi_solve_progress(s, checked, checked - first));
  if (s->ended) return TS_OK;
  /* When s is only the rounding of A^T r, it stops falling. */
  const int at_limit = s->phase_best <= s->result->attainable_residual;
  const int window = at_limit ? 25 : tsi_window(k->matrix);
  const int too_long = checked - s->phase_best_at > window || tsi_solve_should_rise(s, checked, s->norm_rule);
  const int slot = slot_of(k, checked, SS);
  const double now = tsi_solve_recurrence_residual(s, slot);
  const int met = tsi_solve_recurrence_converged(s, slot);
  /* The norm of s oscillates, often by more than the factor. An s that is not smaller than the last one that
   * was computed from x shows nothing: comparing the two would look like stagnation. */
  const int has_fallen = now <= replacement_factor * s->largest && now <= 0.5 * s->measure;
  const int replaces = may_replace(s) && !too_long && (met || has_fallen);
  if (!replaces && !met && !too_long && !isinf(now)) return TS_OK;
  if (checked != s->iteration) { /* its numbers may differ much from those of the check */
    TSI_TRY(tsi_scalars_read(k->slots, 0, TSI_SLOT_OWN + k->own_slots, k->numbers));
    return cgls_check(s, s->iteration);
  }
  return replaces ? replace_gradient(s) : verify(s, too_long);
}

static ts_status cgls_finish(tsi_solve *s) {
  if (s->ended && s->result->reason != TS_REASON_STOPPED) return TS_OK;
  return tsi_solve_try(s, s->solver->e, s->solver->own[P]);
}

const tsi_method tsi_cgls = {.name = "cgls",
                             .plan = cgls_plan,
                             .run = tsi_solve_run,
                             .run_fixed = tsi_solve_run_fixed,
                             .begin = cgls_begin,
                             .iterate = cgls_iterate,
                             .check = cgls_check,
                             .finish = cgls_finish};
