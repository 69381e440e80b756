#include "outlook.h"

#include <math.h>

#include "cg.h"
#include "common/core/core.h"
#include "common/core/ranks.h"
#include "common/matrix/csr.h"

enum { FEWEST = 15 /* needed iterations */ };

/* A residual is smooth if z^T A z is below this fraction of z^T D z. It contains the smallest eigenvalues from
 * the first iterations on. The bound then does not grow as with other residuals, and is far above the
 * iterations that conjugate gradients need. 7-point stencil on 60^3: 198 iterations with b = 1, 217 with a
 * random b. After 15 iterations the bound is 318 and 60. */
static const double SMOOTH = 0.1, part_of_bound = 0.65;

/* ---- Whether AMG may follow ---- */

/* The set-up of AMG needs the entries: on the host, or read back if the copy was omitted only to save
 * memory. */
static int has_entries(const ts_matrix *A) {
  if (A->host_copy) return 1;
  if (A->made_on_device) return A->context->ops->amg != NULL;
  return A->without_copy[0] && !A->device_values && !A->context->ops->ranks;
}

static int may_be_amg(const ts_solver *k) {
  const ts_matrix *A = k->matrix;
  const ts_preconditioner_kind kind = k->preconditioner->kind->kind;
  const int is_quick = kind == TS_PRECONDITIONER_JACOBI || kind == TS_PRECONDITIONER_CHEBYSHEV;
  return k->desc.method == TS_METHOD_CG && is_quick && k->preconditioner->choice[0] &&
         k->preconditioner->left_out != TS_PRECONDITIONER_AMG && k->context->tuning.amg_entry_nanoseconds > 0 &&
         A->info.symmetric && !A->kind->has_no_entries && !A->row_space->constrained &&
         tsi_all_rows(A) >= TSI_CHANGE_ROWS && has_entries(A);
}

ts_status tsi_outlook_create(const ts_solver *k, tsi_outlook *o) {
  const ts_matrix *A = k->matrix;
  double closed = !may_be_amg(k) || tsi_preconditioner_has_nodes(A);
  double sizes[] = {(double)A->info.nonzeros, (double)A->info.rows};
  if (A->all_rows) TSI_TRY(A->context->ops->ranks->largest(A->context, &closed, 1));
  if (A->all_rows) TSI_TRY(A->context->ops->ranks->add(A->context, sizes, 2));
  o->is_open = closed == 0;
  o->entries = sizes[0];
  o->rows = sizes[1];
  o->apart = (int)A->context->tuning.look_iterations;
  return TS_OK;
}

/* ---- Observations ---- */

void tsi_outlook_begin(tsi_outlook *o) {
  o->component = -1;
  o->next = o->apart;
  o->looks = o->is_sudden = 0;
  o->remaining = o->price = o->condition = 0;
  tsi_lanczos_begin(&o->lanczos);
}

/* The first component that must be solved. */
static int component_of(const tsi_solve *s) {
  int c = 0;
  while (c < s->solver->components - 1 && !(s->norm_rule[c] > 0)) c++;
  return c;
}

void tsi_outlook_add(tsi_outlook *o, const tsi_solve *s, int iteration) {
  if (iteration < s->phase_start) return;
  if (o->component < 0) o->component = component_of(s);
  const double delta = tsi_cg_delta_of(s, iteration, o->component),
               dq = tsi_cg_dq_of(s, iteration, o->component);
  if (iteration == s->phase_start) tsi_lanczos_begin(&o->lanczos);
  if (iteration == s->phase_start) o->is_smooth = dq < SMOOTH * delta;
  tsi_lanczos_add(&o->lanczos, delta, dq, tsi_cg_delta_of(s, iteration + 1, o->component));
}

/* The maximum over the components, according to the recurrence. */
static double residual_of(const tsi_solve *s) {
  double largest = 0;
  for (int c = 0; c < s->solver->components; c++)
    if (s->norm_rule[c] > 0) largest = tsi_larger(largest, s->norm_r[c] / s->norm_rule[c]);
  return largest;
}

static void note(tsi_outlook *o, int checked, double residual) {
  if (o->looks == TSI_MOST_LOOKS) return;
  o->at[o->looks] = checked;
  o->residual[o->looks] = o->looks ? fmin(residual, o->residual[o->looks - 1]) : residual;
  o->looks++;
}

/* ---- Remaining iterations and the price of AMG ---- */

/* In iterations of the solver. Components share the set-up. */
static double price_of(const tsi_outlook *o, const ts_solver *k, double residual, double goal) {
  return tsi_preconditioner_amg_price(k->matrix, k->preconditioner->kind->kind, o->rows, o->entries,
                                      k->components, k->components * log(residual / goal) / log(1e8));
}

/* The remaining iterations at the rate of the second half so far. Residuals are the smallest ones up to each
 * evaluation. */
static double remaining_by_pace(const tsi_outlook *o, int checked, double goal) {
  int from = o->looks - 1;
  const double residual = o->residual[from];
  while (from >= 0 && 2 * o->at[from] > checked) from--;
  const double before = from >= 0 ? o->residual[from] : 1;
  const int length = checked - (from >= 0 ? o->at[from] : 0);
  return residual < before ? length * log(residual / goal) / log(before / residual) : INFINITY;
}

static void estimate_remaining(tsi_outlook *o, int checked, double residual, double goal) {
  const double before = o->condition, remaining = o->remaining,
               step = o->looks > 1 ? (double)checked / o->at[o->looks - 2] : 1, usual = step * step * step;
  const double bound = tsi_lanczos_iterations(&o->lanczos, residual / goal, &o->condition);
  o->remaining = fmin(remaining_by_pace(o, checked, goal), o->is_smooth ? part_of_bound * bound : bound);
  o->is_sudden = before > 0 && (o->condition > usual * before || o->remaining > usual * remaining);
}

/* AMG is rarely chosen late (below), so estimates are further apart then. */
static int late_by(const tsi_outlook *o, int checked) {
  return o->is_open && o->price > 0 ? (int)fmax(0, checked - 0.25 * o->price) : 0;
}

/* The price of direct factors is found at a look too, so it must not be too late. */
static int interval_after(const tsi_outlook *o, int checked) {
  const int usual = checked / 8 > o->apart ? checked / 8 : o->apart;
  const int late = late_by(o, checked), most = checked / 2;
  if (late <= usual) return usual;
  return late < most ? late : most;
}

int tsi_outlook_look(tsi_outlook *o, const tsi_solve *s, int checked, double goal, int is_needed) {
  const double residual = residual_of(s);
  if (checked < o->next) return 0;
  o->next = checked + interval_after(o, checked);
  note(o, checked, residual);
  if ((!o->is_open && !is_needed) || !(residual > goal)) return 0;
  estimate_remaining(o, checked, residual, goal);
  o->price = price_of(o, s->solver, residual, goal);
  o->goal = goal;
  return 1;
}

/* When a small eigenvalue becomes visible, the condition number and the remaining iterations grow faster than
 * usual, that is, than the square of the iterations. Residuals grow too and are useless then. The end of a slow
 * solve is visible early. That of a quick one is visible late, when the work done would be lost. On 139 systems
 * these factors had the fewest losses. */
int tsi_outlook_prefers_amg(const tsi_outlook *o, int checked) {
  const double least = 0.8 * o->price + checked + 3 * late_by(o, checked);
  return o->is_open && checked >= FEWEST && !o->is_sudden && o->remaining > least;
}

/* ---- Several solves ---- */

/* About half of the price for 1e-8 is that of the cycles. */
static double set_up_of(const tsi_outlook *o, const ts_solver *k) {
  return price_of(o, k, 1, 1);
}

void tsi_outlook_pay(tsi_outlook *o, const ts_solver *k, int iterations) {
  if (o->changes != k->matrix->changes) o->paid = 0; /* AMG would need a new set-up */
  o->changes = k->matrix->changes;
  if (!o->is_open || !(o->goal > 0)) return;
  o->paid += fmax(0, iterations - (price_of(o, k, 1, o->goal) - set_up_of(o, k)));
}

int tsi_outlook_has_paid(const tsi_outlook *o, const ts_solver *k) {
  return o->is_open && o->changes == k->matrix->changes && o->paid > set_up_of(o, k);
}

int tsi_outlook_steps(const tsi_outlook *o, int iteration, int steps) {
  const int left = o->next - iteration;
  return o->is_open && left > 0 && left < steps ? left : steps;
}
