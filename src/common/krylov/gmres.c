/* Restarted GMRES (Saad and Schultz 1986) with M from the right, written once for all backends on top of the
 * ops table. A cycle of up to m iterations builds an orthonormal basis of the Krylov space:
 *
 *   v_0 = r / beta,  beta = |r|
 *   for j = 0 .. m - 1
 *     w = A M^-1 v_j
 *     for i = 0 .. j:  h_ij = w^T v_i;  w = w - h_ij v_i         modified Gram-Schmidt
 *     h_j+1,j = |w|;  v_j+1 = w / h_j+1,j
 *
 * and e = sum of y_j v_j with the y that minimises |beta e_0 - H y|; x + M^-1 e is the better x. All
 * coefficients are device slots. The host reads the columns of H at checks and reduces H to triangular form by
 * rotations in double precision. This gives |r| of every iteration. At the end of the cycle the host writes y
 * back. Modified Gram-Schmidt loses orthogonality, but GMRES with it is as accurate as with reflections (Paige,
 * Rozloznik and Strakos 2006). Classical Gram-Schmidt, applied twice, would need more passes.
 *
 * A cycle ends early if |r| is small enough in every component, or as small as the precision allows in one
 * cycle. A component that reaches this before the others uses only the columns up to there, since later ones
 * consist of rounding. So do those after a breakdown: if A M^-1 v_j is in the space of v_0 .. v_j, the
 * remaining w is rounding. It counts as 0, the space contains the solution, and the cycle ends.
 *
 * m is fixed if the caller set it. Otherwise it doubles after a cycle that left more than half of the residual.
 * Short cycles stagnate on some systems; long ones cost more sums per iteration and more memory. */
#include <math.h>
#include <stdio.h>

#include "common/core/core.h"
#include "solver.h"

/* Slots: beta, the columns of H one after the other, y. */
static int column_slot(int column) {
  return TSI_SLOT_OWN + 1 + column * (column + 3) / 2;
}

/* The maximum length of a cycle. */
static int longest_cycle(const ts_solver *k) {
  const int32_t unknowns = tsi_unknowns(k->matrix);
  if (!k->restart_is_open) return k->desc.restart;
  return unknowns < TSI_LONGEST_RESTART ? (int)unknowns : TSI_LONGEST_RESTART;
}

static int y_slot(const ts_solver *k) {
  return column_slot(k->desc.restart);
}

/* On the host, for each component: the triangular matrix R, column by column, the rotations, and Q^T beta e_0,
 * with the residual as its last entry. */
typedef struct least_squares {
  double *r, *cosine, *sine, *g;
} least_squares;

static least_squares part(const ts_solver *k, int component) {
  const int m = k->desc.restart, size = m * m + 3 * m + 1;
  double *start = k->work + (size_t)component * (size_t)size;
  double *cosine = start + (size_t)m * (size_t)m;
  return (least_squares){start, cosine, cosine + m, cosine + 2 * (size_t)m};
}

static void gmres_plan(ts_solver *k) {
  const int m = k->desc.restart;
  k->own_vectors = m + 1;
  k->most_own_vectors = longest_cycle(k) + 1;
  k->own_slots = y_slot(k) + m - TSI_SLOT_OWN;
  k->work_size = 4 * (m * m + 3 * m + 1);
  k->history_size = m;
}

/* ---- On the device ---- */

static const ts_slot one = {NULL, 0};

/* Starts from the residual of x. */
static ts_status gmres_begin(tsi_solve *s) {
  const ts_solver *k = s->solver;
  const tsi_ops *ops = k->context->ops;
  const ts_slot beta = {k->slots, TSI_SLOT_OWN};
  s->phase_start = s->iteration;
  s->columns = 0;
  for (int c = 0; c < k->components; c++) part(k, c).g[0] = s->norm_r[c];
  TSI_TRY(ops->reduce(k->slots, beta.index, TSI_REDUCE_NORM2, k->r, k->r));
  return ops->axpby(k->own[0], ts_quotient(1, one, beta), k->r, ts_constant(0), k->r);
}

static ts_status gmres_iterate(tsi_solve *s) {
  const ts_solver *k = s->solver;
  const tsi_ops *ops = k->context->ops;
  const int j = s->iteration - s->phase_start, column = column_slot(j);
  ts_vector *w = k->own[j + 1];
  TSI_TRY(tsi_solver_apply(k, w, k->own[j]));
  for (int i = 0; i <= j; i++) {
    TSI_TRY(ops->reduce(k->slots, column + i, TSI_REDUCE_DOT, w, k->own[i]));
    TSI_TRY(ops->axpby(w, ts_scaled(-1, k->slots, column + i), k->own[i], ts_constant(1), w));
  }
  const ts_slot norm = {k->slots, column + j + 1};
  TSI_TRY(ops->reduce(k->slots, norm.index, TSI_REDUCE_NORM2, w, w));
  s->iteration++;
  return ops->axpby(w, ts_quotient(1, one, norm), w, ts_constant(0), w);
}

/* ---- On the host ---- */

/* Rounding errors in a column of H, if exact arithmetic gives 0, in units of epsilon and of the column's size.
 * For the last entry, at the end of the space, the measured maximum was 123, with two to five distinct
 * eigenvalues and 6 to 1,000,000 unknowns. The diagonal of R is small for ill-conditioned matrices too. */
enum { LAST_ENTRY = 256, DIAGONAL = 4 };

/* Rotates column j of H, in `h`, and adds it to R. */
static void rotate(const least_squares *p, int m, int j, double *h, double epsilon) {
  double squares = 0;
  for (int i = 0; i <= j + 1; i++) squares += h[i] * h[i];
  const double unit = epsilon * sqrt(squares);
  if (h[j + 1] <= LAST_ENTRY * unit) h[j + 1] = 0;
  for (int i = 0; i < j; i++) {
    const double upper = p->cosine[i] * h[i] + p->sine[i] * h[i + 1];
    h[i + 1] = p->cosine[i] * h[i + 1] - p->sine[i] * h[i];
    h[i] = upper;
  }
  double length = hypot(h[j], h[j + 1]);
  if (length <= DIAGONAL * unit) length = 0;
  p->cosine[j] = length > 0 ? h[j] / length : 1;
  p->sine[j] = length > 0 ? h[j + 1] / length : 0;
  h[j] = length;
  for (int i = 0; i <= j; i++) p->r[j * m + i] = h[i];
  p->g[j + 1] = -p->sine[j] * p->g[j];
  p->g[j] *= p->cosine[j];
}

/* The residual at which a cycle ends. It is slightly below the rule, so that rounding does not cost another
 * cycle, or the rounding error of the residual at the start of the cycle. */
static double enough(const tsi_solve *s, int component) {
  return fmax(0.9 * s->tolerance[component], 4 * tsi_epsilon(s->solver) * s->norm_r[component]);
}

/* Adds the columns up to `checked` to R and to the history. The cycle is over if every component is small
 * enough, or if a number is not finite. */
static ts_status add_columns(tsi_solve *s, int checked, int *cycle_is_over) {
  const ts_solver *k = s->solver;
  const int m = k->desc.restart, first = s->columns;
  double h[TSI_LONGEST_RESTART + 1] = {0};
  for (int j = first; j < checked - s->phase_start; j++) {
    double largest = 0;
    int over = 1;
    for (int c = 0; c < k->components; c++) {
      const least_squares p = part(k, c);
      for (int i = 0; i <= j + 1; i++) h[i] = tsi_number(k, column_slot(j) + i, c);
      rotate(&p, m, j, h, tsi_epsilon(k));
      const double residual = fabs(p.g[j + 1]);
      if (!isfinite(residual))
        largest = INFINITY;
      else if (s->norm_rule[c] > 0)
        largest = fmax(largest, residual / s->norm_rule[c]);
      if (residual > enough(s, c)) over = 0;
    }
    k->history[j - first] = largest;
    tsi_solve_note(s, largest);
    s->phase_low = largest;
    s->columns = j + 1;
    if (over || isinf(largest)) {
      *cycle_is_over = 1;
      break;
    }
  }
  return tsi_solve_progress(s, s->phase_start + s->columns, s->columns - first);
}

/* The number of usable columns of a component: up to the first with a small enough residual, excluding numbers
 * that are not finite. */
static int worth(const tsi_solve *s, int component) {
  const least_squares p = part(s->solver, component);
  const int m = s->solver->desc.restart;
  double residual = s->norm_r[component];
  for (int j = 0; j < s->columns; j++) {
    residual *= fabs(p.sine[j]);
    if (!isfinite(residual) || !(p.r[j * m + j] > 0)) return j;
    if (residual <= enough(s, component)) return j + 1;
  }
  return s->columns;
}

/* y = R^-1 g, written to the slots of y. */
static ts_status write_y(const tsi_solve *s, double *y, int *count) {
  const ts_solver *k = s->solver;
  const int m = k->desc.restart;
  *count = 0;
  for (int i = 0; i < 4 * s->columns; i++) y[i] = 0;
  for (int c = 0; c < k->components; c++) {
    const least_squares p = part(k, c);
    const int columns = worth(s, c);
    if (columns > *count) *count = columns;
    double solution[TSI_LONGEST_RESTART];
    for (int i = columns - 1; i >= 0; i--) {
      double sum = p.g[i];
      for (int j = i + 1; j < columns; j++) sum -= p.r[j * m + i] * solution[j];
      solution[i] = sum / p.r[i * m + i];
      y[4 * i + c] = solution[i];
    }
  }
  return *count ? tsi_scalars_write(k->slots, y_slot(k), *count, y) : TS_OK;
}

/* e = sum of y_j v_j. Iterations beyond the last checked column do not count. `count` is 0 if nothing was
 * found. */
static ts_status combine(tsi_solve *s, int *count) {
  const ts_solver *k = s->solver;
  double y[4 * TSI_LONGEST_RESTART];
  TSI_TRY(write_y(s, y, count));
  s->iteration = s->phase_start + s->columns;
  s->columns = 0;
  for (int i = 0; i < *count; i++)
    TSI_TRY(k->context->ops->axpby(k->e, ts_scaled(1, k->slots, y_slot(k) + i), k->own[i], ts_constant(i > 0),
                                   k->e));
  return TS_OK;
}

/* Adds the result of the cycle to x if that reduces the residual. */
static ts_status end_cycle(tsi_solve *s) {
  int count = 0;
  TSI_TRY(combine(s, &count));
  return count ? tsi_solve_try(s, s->solver->e, s->solver->own[0]) : TS_OK;
}

/* Iterates until the next check and reads the columns. During the check the device does `pipelined` more
 * iterations. */
static ts_status advance(tsi_solve *s, int *cycle_is_over) {
  const ts_solver *k = s->solver;
  const int rest = k->desc.restart - (s->iteration - s->phase_start);
  int steps, pipelined;
  tsi_solve_plan_steps(s, s->iteration, &steps, &pipelined);
  if (steps > rest) steps = rest;
  if (pipelined > rest - steps) pipelined = rest - steps;
  for (int i = 0; i < steps; i++) TSI_TRY(gmres_iterate(s));
  const int checked = s->iteration, first = column_slot(s->columns),
            end = column_slot(checked - s->phase_start);
  TSI_TRY(tsi_solve_read(s, first, end - first, pipelined, gmres_iterate));
  TSI_TRY(add_columns(s, checked, cycle_is_over));
  if (checked - s->phase_start >= k->desc.restart || checked >= k->desc.max_iterations) *cycle_is_over = 1;
  return TS_OK;
}

/* ---- Longer cycles ---- */

/* The memory limit for the vectors of a cycle: a quarter of the total. */
static double most_bytes(const ts_context *context) {
  const size_t limit = context->desc.max_device_bytes, total = context->caps.bytes_total;
  const size_t memory = limit && (limit < total || !total) ? limit : total;
  return memory ? 0.25 * (double)memory : 0x1p28;
}

/* Twice the current cycle, within the memory limit. Auto precision may need two parts of each vector later. */
static int longer_cycle(const ts_solver *k) {
  const int parts = k->pairs || k->desc.precision == TS_PRECISION_AUTO ? 2 : 1;
  const double bytes = 4.0 * parts * k->components * ts_space_get_size(k->r->space);
  const double most = fmin(most_bytes(k->context) / bytes - 1, longest_cycle(k));
  return (int)fmin(2.0 * k->desc.restart, most);
}

/* Whether the cycle was too short for the system, according to the fraction of the residual that is left. A
 * residual left by rounding does not count. */
static int is_too_short(const tsi_solve *s, double left) {
  const ts_solver *k = s->solver;
  const int may_grow = k->restart_is_open && !s->is_full && !s->met && s->iteration < k->desc.max_iterations;
  return may_grow && left > 0.5 && !(s->result->relative_residual <= 4 * s->result->attainable_residual);
}

/* Extends the workspace for a longer cycle. If memory is insufficient, the cycle keeps its length. */
static ts_status grow(tsi_solve *s, double left) {
  ts_solver *k = s->solver;
  const ts_solver before = *k;
  const int longer = longer_cycle(k);
  if (longer <= k->desc.restart) return TS_OK;
  k->desc.restart = longer;
  gmres_plan(k);
  const ts_status status = tsi_solver_extend_workspace(k, &before);
  if (tsi_is_memory(status)) {
    k->desc.restart = before.desc.restart;
    gmres_plan(k);
    s->is_full = 1;
    tsi_clear_error(k->context);
    return TS_OK;
  }
  s->in_vain = 0;
  tsi_log(k->context, TS_LOG_LEVEL_INFO, "gmres: restart %d instead of %d: a cycle left %.2g of the residual",
          longer, before.desc.restart, left);
  return status;
}

static void finish_stagnated(tsi_solve *s) {
  const ts_solver *k = s->solver;
  if (s->result->relative_residual <= 4 * s->result->attainable_residual ||
      k->desc.restart == tsi_unknowns(k->matrix)) {
    tsi_solve_finish_stagnated(s);
    return;
  }
  char text[160];
  snprintf(
      text, sizeof text,
      "GMRES(%d) stagnated at a relative residual of %.2g: %d restarts gained nothing; a larger restart may "
      "help",
      k->desc.restart, s->result->relative_residual, s->in_vain);
  tsi_solve_finish(s, TS_REASON_STAGNATED, text);
  s->at_limit = 1; /* of the restart or the precision, which auto raises */
}

static ts_status gmres_run(tsi_solve *s) {
  const ts_solver *k = s->solver;
  const ts_solver_desc *desc = &k->desc;
  while (!s->ended && s->iteration < desc->max_iterations) {
    const double before = s->measure;
    int cycle_is_over = 0;
    if (s->iteration > 0) s->result->restarts++;
    TSI_TRY(gmres_begin(s));
    while (!s->ended && !cycle_is_over) TSI_TRY(advance(s, &cycle_is_over));
    if (s->ended) return TS_OK;
    TSI_TRY(end_cycle(s));
    s->in_vain = s->measure <= 0.999 * before ? 0 : s->in_vain + 1;
    const double left = s->phase_low / before;
    if (is_too_short(s, left)) TSI_TRY(grow(s, left));
    if (s->met)
      tsi_solve_finish_converged(s);
    else if (s->in_vain >= 2 || tsi_solve_should_rise(s, s->iteration, s->norm_rule))
      finish_stagnated(s);
  }
  return TS_OK;
}

/* Whole cycles, with the last one cut to the remaining iterations. One host synchronisation per cycle, for the
 * columns. */
static ts_status run_fixed(tsi_solve *s) {
  const ts_solver *k = s->solver;
  while (s->iteration < k->desc.fixed_iterations) {
    const int left = k->desc.fixed_iterations - s->iteration;
    const int columns = left < k->desc.restart ? left : k->desc.restart, end = s->iteration + columns;
    int count = 0, cycle_is_over = 0;
    TSI_TRY(gmres_begin(s));
    while (s->iteration < end) TSI_TRY(gmres_iterate(s));
    TSI_TRY(tsi_solve_read(s, TSI_SLOT_OWN, column_slot(columns) - TSI_SLOT_OWN, 0, gmres_iterate));
    for (int c = 0; c < k->components; c++) part(k, c).g[0] = s->norm_r[c] = tsi_number(k, TSI_SLOT_OWN, c);
    TSI_TRY(add_columns(s, end, &cycle_is_over));
    TSI_TRY(combine(s, &count));
    s->iteration = end;
    if (count == 0) TSI_TRY(tsi_fill(k->e, 0));
    if (end == k->desc.fixed_iterations) return TS_OK;
    TSI_TRY(tsi_solve_add(s, k->x, k->e));
    TSI_TRY(tsi_solver_residual(k, k->x));
  }
  return TS_OK;
}

/* For a solve that the callback stopped within a cycle. */
static ts_status gmres_finish(tsi_solve *s) {
  if (s->ended && s->result->reason != TS_REASON_STOPPED) return TS_OK;
  return s->columns > 0 ? end_cycle(s) : TS_OK;
}

const tsi_method tsi_gmres = {.name = "gmres",
                              .preconditioned_from_right = 1,
                              .plan = gmres_plan,
                              .run = gmres_run,
                              .run_fixed = run_fixed,
                              .finish = gmres_finish};
