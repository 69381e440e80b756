/* IDR(s) (Sonneveld and van Gijzen 2008) in the bi-orthogonal variant (van Gijzen and Sonneveld 2011,
 * "Algorithm 913: an elegant IDR(s) variant that efficiently exploits biorthogonality properties"). M is
 * applied from the right, and the method is written once for all backends on top of the ops table. P = (p_0 ..
 * p_s-1) are orthonormal shadow vectors:
 *
 *   r = b - A x;  e = 0;  omega = 1
 *   repeat
 *     for k = 0 .. s - 1                                          r is orthogonal to p_0 .. p_k-1
 *       v = r
 *       for i = k .. s - 1:  gamma = p_i^T v / mu_i;  v = v - gamma g_i;  u = sum of gamma u_i
 *       u_k = u + omega v;  g_k = A M^-1 u_k
 *       for i = 0 .. k - 1:  alpha = p_i^T g_k / mu_i;  g_k = g_k - alpha g_i;  u_k = u_k - alpha u_i
 *       mu_k = p_k^T g_k;  beta = p_k^T r / mu_k
 *       e = e + beta u_k;  r = r - beta g_k
 *     t = A M^-1 r;  omega = t^T r / t^T t;  e = e + omega r;  r = r - omega t
 *
 * and x + M^-1 e is the solution. In the first round the missing g_i are 0. An iteration is one product. s + 1
 * products move r into a space with s dimensions less, whereas bicgstab needs 2 products for 1 dimension.
 *
 * The article solves a triangular system with the numbers p_i^T g_k for all gamma at once. Here each gamma is
 * computed from the v that the previous ones have updated, as in modified Gram-Schmidt. The number of sums is
 * the same, all coefficients are quotients of device slots, and P^T v is 0 up to rounding.
 *
 * omega minimises |r|, unless r and t are nearly orthogonal. Then, if the cosine of their angle is below kappa,
 * kappa replaces it (Sleijpen and van der Vorst 1995, "Maintaining convergence properties of BiCGstab methods
 * in finite precision arithmetic"). A spectrum near the imaginary axis needs that; bicgstab breaks down there.
 * But such an omega increases r, with the usual kappa of 0.7 by 1.22 in each round. That is too much for
 * central differences at high Peclet numbers. A quotient of slots cannot choose: the host reads three numbers
 * and writes omega, with one synchronisation in s + 1 iterations.
 *
 * s = 8 and kappa = 0.3 were the best of s = 4, 8 and kappa = 0.1 .. 0.7 (docs/notes/conjugate-gradients.md).
 * In single precision P^T r is 0 only up to the rounding of earlier, larger r. That costs up to three times the
 * iterations, so auto precision is double.
 *
 * P changes after a restart without a gain (phases.h). */
#include <math.h>

#include "common/core/core.h"
#include "phases.h"

enum { S = TSI_IDR_DIMENSION };
static const double kappa = 0.3;
/* WORK holds v and t alternately. */
enum { WORK, BEST_E, P, U = P + S, G = U + S, VECTORS = G + S };

/* Numbers of each iteration: r^T r and p_k^T r at its start, then its divisor, mu_k or t^T t, and t^T r. */
enum { RR, PHI, DIVISOR, TR, NUMBERS };

/* Slots that each product overwrites, then the ring. */
enum { OMEGA = TSI_SLOT_OWN, WEIGHT, RING = WEIGHT + S };

static int slot_of(const ts_solver *k, int iteration, int number) {
  return RING + NUMBERS * (iteration % k->ring) + number;
}

static double number(const ts_solver *k, int iteration, int which, int component) {
  return tsi_number(k, slot_of(k, iteration, which), component);
}

/* s, but at most the number of unknowns. */
static int dimension(const ts_solver *k) {
  return tsi_unknowns(k->matrix) < S ? (int)tsi_unknowns(k->matrix) : S;
}

static void idr_plan(ts_solver *k) {
  k->pipelined = 0;                         /* the slots are read between checks */
  k->ring = k->desc.check_interval + 4 * S; /* the ring also keeps the divisor of each g_i */
  k->own_vectors = VECTORS;
  k->own_slots = RING - TSI_SLOT_OWN + NUMBERS * k->ring;
  k->history_size = k->ring;
}

/* ---- Shadow vectors ---- */

/* P is orthonormal in every block of rows. Therefore it is orthonormal as a whole, up to a common factor, even
 * if each rank creates its own part. */
enum { BLOCK = 256, MOST_ROWS = 2 * BLOCK };

static double dot(const double *x, const double *y, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += x[i] * y[i];
  return sum;
}

/* Gram-Schmidt, applied twice. A column that depends on the previous ones is left as it is: there are fewer
 * rows than columns. */
static void orthonormalise(double columns[S][MOST_ROWS], size_t rows) {
  for (int j = 0; j < S; j++) {
    double kept[MOST_ROWS], *const column = columns[j];
    for (size_t i = 0; i < rows; i++) kept[i] = column[i];
    for (int pass = 0; pass < 2; pass++)
      for (int i = 0; i < j; i++) {
        const double weight = dot(columns[i], column, rows);
        for (size_t row = 0; row < rows; row++) column[row] -= weight * columns[i][row];
      }
    const double norm = sqrt(dot(column, column, rows));
    const int is_left = norm > 1e-6;
    for (size_t i = 0; i < rows; i++) column[i] = is_left ? column[i] / norm : kept[i];
  }
}

/* Writes column j of row i to values[j * rows + i]. */
static void fill_shadows(float *values, size_t rows, uint32_t state) {
  double columns[S][MOST_ROWS];
  for (size_t first = 0, count; first < rows; first += count) {
    count = rows - first < MOST_ROWS ? rows - first : BLOCK;
    for (size_t i = 0; i < count; i++)
      for (int j = 0; j < S; j++) columns[j][i] = (double)tsi_phases_random(&state);
    orthonormalise(columns, count);
    for (int j = 0; j < S; j++)
      for (size_t i = 0; i < count; i++) values[(size_t)j * rows + first + i] = (float)columns[j][i];
  }
}

/* Writes the same numbers to each component. */
static ts_status write_shadow(ts_vector *p, const float *values, size_t rows, float *all) {
  const size_t components = (size_t)p->components;
  for (size_t i = 0; i < rows; i++)
    for (size_t c = 0; c < components; c++) all[i * components + c] = values[i];
  return tsi_write_floats(p, all);
}

/* Creates P for the solve's current s->shadow. */
static ts_status choose_shadows(const tsi_solve *s) {
  const ts_solver *k = s->solver;
  const size_t rows = (size_t)ts_space_get_size(k->r->space), most = S + (size_t)k->components;
  if (k->work[0] == s->shadow) return TS_OK;
  float *values = tsi_malloc(k->context, rows * most, sizeof *values);
  if (!values) return tsi_out_of_memory(k->context, "a solver", rows * most * sizeof *values);
  fill_shadows(values, rows, 2463534242u + 0x9e3779b9u * (uint32_t)s->shadow);
  ts_status status = TS_OK;
  for (int j = 0; j < S && status == TS_OK; j++)
    status = write_shadow(k->own[P + j], values + (size_t)j * rows, rows, values + S * rows);
  tsi_free(k->context, values);
  k->work[0] = s->shadow;
  return status;
}

/* A new workspace has no shadow vectors. */
static ts_status idr_prepare(ts_solver *k) {
  k->work[0] = -1;
  return TS_OK;
}

/* ---- Iterations ---- */

/* The index of the current product in its round of s + 1. */
static int position(const tsi_solve *s) {
  return s->iteration - s->round_start;
}

/* The sums of r at the start of an iteration. */
static ts_status sum_residual(const tsi_solve *s) {
  const ts_solver *k = s->solver;
  const int at = position(s);
  const tsi_dot sums[2] = {{slot_of(k, s->iteration, RR), k->r, k->r, NULL},
                           {slot_of(k, s->iteration, PHI), k->own[P + (at < S ? at : 0)], k->r, NULL}};
  return tsi_dots(k->slots, sums, at < dimension(k) ? 2 : 1, k->scratch);
}

/* Starts a round. The existing g_i may be kept: each new one is in the next space in any case. */
static ts_status resume(tsi_solve *s) {
  s->round_start = s->iteration;
  return sum_residual(s);
}

static ts_status write_omega(const tsi_solve *s, const double omega[4]) {
  return tsi_scalars_write(s->solver->slots, OMEGA, 1, omega);
}

static ts_status idr_begin(tsi_solve *s) {
  static const double ones[4] = {1, 1, 1, 1};
  TSI_TRY(tsi_phases_begin(s));
  TSI_TRY(choose_shadows(s));
  TSI_TRY(write_omega(s, ones));
  s->directions = 0;
  return resume(s);
}

/* mu_i. */
static ts_slot divisor(const tsi_solve *s, int i) {
  return (ts_slot){s->solver->slots, slot_of(s->solver, s->made_at[i], DIVISOR)};
}

/* p_i^T v / mu_i from now on. */
static ts_status weigh(const tsi_solve *s, int i, const ts_vector *v, ts_slot *weight) {
  const ts_solver *k = s->solver;
  *weight = (ts_slot){k->slots, WEIGHT + i};
  return k->context->ops->reduce(k->slots, weight->index, TSI_REDUCE_DOT, k->own[P + i], v);
}

/* u_k = omega v + sum of gamma u_i with v = r - sum of gamma g_i, which is orthogonal to P. */
static ts_status next_direction(const tsi_solve *s, int at) {
  const ts_solver *k = s->solver;
  const tsi_ops *ops = k->context->ops;
  const ts_coefficient omega = ts_scaled(1, k->slots, OMEGA), one = ts_constant(1), zero = ts_constant(0);
  ts_vector *u = k->own[U + at], *v = k->own[WORK];
  if (at >= s->directions) return ops->axpby(u, omega, k->r, zero, k->r);
  ts_slot gamma = {k->slots, slot_of(k, s->iteration, PHI)};
  TSI_TRY(ops->axpby(v, ts_quotient(-1, gamma, divisor(s, at)), k->own[G + at], one, k->r));
  TSI_TRY(ops->axpby(u, ts_quotient(1, gamma, divisor(s, at)), u, zero, u));
  for (int i = at + 1; i < s->directions; i++) {
    TSI_TRY(weigh(s, i, v, &gamma));
    TSI_TRY(tsi_axpy2(u, ts_quotient(1, gamma, divisor(s, i)), k->own[U + i], v,
                      ts_quotient(-1, gamma, divisor(s, i)), k->own[G + i]));
  }
  return ops->axpby(u, omega, v, one, u);
}

/* g_k = A M^-1 u_k, makes both bi-orthogonal to P, and steps along them. */
static ts_status step_along(tsi_solve *s, int at) {
  const ts_solver *k = s->solver;
  ts_vector *u = k->own[U + at], *g = k->own[G + at];
  const ts_slot phi = {k->slots, slot_of(k, s->iteration, PHI)};
  TSI_TRY(tsi_solver_apply(k, g, u));
  for (int i = 0; i < at; i++) {
    ts_slot alpha;
    TSI_TRY(weigh(s, i, g, &alpha));
    TSI_TRY(tsi_axpy2(u, ts_quotient(-1, alpha, divisor(s, i)), k->own[U + i], g,
                      ts_quotient(-1, alpha, divisor(s, i)), k->own[G + i]));
  }
  s->made_at[at] = s->iteration;
  if (s->directions <= at) s->directions = at + 1;
  const ts_slot mu = divisor(s, at);
  TSI_TRY(k->context->ops->reduce(k->slots, mu.index, TSI_REDUCE_DOT, k->own[P + at], g));
  TSI_TRY(tsi_axpy2(k->e, ts_quotient(1, phi, mu), u, k->r, ts_quotient(-1, phi, mu), g));
  s->iteration++;
  return sum_residual(s);
}

/* From t^T r, t^T t and r^T r. */
static double choose_omega(double tr, double tt, double rr) {
  if (!(tt > 0) || !(rr > 0) || !isfinite(tr) || !isfinite(tt)) return 0;
  const double length = kappa * sqrt(rr) / sqrt(tt);
  if (fabs(tr) >= kappa * sqrt(tt) * sqrt(rr)) return tr / tt;
  return tr < 0 ? -length : length;
}

static ts_status read_omega(const tsi_solve *s) {
  const ts_solver *k = s->solver;
  double numbers[4 * NUMBERS], omega[4] = {0};
  TSI_TRY(tsi_scalars_read(k->slots, slot_of(k, s->iteration, 0), NUMBERS, numbers));
  for (int c = 0; c < k->components; c++)
    omega[c] = choose_omega(numbers[4 * TR + c], numbers[4 * DIVISOR + c], numbers[4 * RR + c]);
  return write_omega(s, omega);
}

/* The step along r that reduces it, with which the next round starts. */
static ts_status step_along_residual(tsi_solve *s) {
  const ts_solver *k = s->solver;
  const tsi_ops *ops = k->context->ops;
  ts_vector *t = k->own[WORK];
  const tsi_dot sums[2] = {{slot_of(k, s->iteration, TR), t, k->r, NULL},
                           {slot_of(k, s->iteration, DIVISOR), t, t, NULL}};
  TSI_TRY(tsi_solver_apply(k, t, k->r));
  TSI_TRY(tsi_dots(k->slots, sums, 2, k->scratch));
  TSI_TRY(read_omega(s));
  TSI_TRY(ops->axpby(k->e, ts_scaled(1, k->slots, OMEGA), k->r, ts_constant(1), k->e));
  TSI_TRY(ops->axpby(k->r, ts_scaled(-1, k->slots, OMEGA), t, ts_constant(1), k->r));
  s->iteration++;
  return resume(s);
}

static ts_status idr_iterate(tsi_solve *s) {
  const int at = position(s);
  if (at >= dimension(s->solver)) return step_along_residual(s);
  TSI_TRY(next_direction(s, at));
  return step_along(s, at);
}

/* ---- Checks ---- */

/* Solved components are ignored: their numerators are as small as their divisors. */
static const char *broken(const tsi_solve *s, int iteration) {
  const ts_solver *k = s->solver;
  for (int c = 0; c < k->components; c++) {
    const double rr = number(k, iteration, RR, c), rr_new = number(k, iteration + 1, RR, c),
                 by = number(k, iteration, DIVISOR, c);
    if (!isfinite(rr_new) || !isfinite(by)) return tsi_phases_out_of_range;
    if (sqrt(rr) <= 0.1 * s->tolerance[c]) continue;
    if (by == 0) return "A u is orthogonal to its shadow vector, or 0";
    if (sqrt(rr_new) * tsi_epsilon(k) > s->norm_r[c]) return tsi_phases_grown;
  }
  return NULL;
}

static int residual_slot(const ts_solver *k, int iteration) {
  return slot_of(k, iteration, RR);
}

static int is_at_start(const tsi_solve *s) {
  return position(s) == 0;
}

static const tsi_phases phases = {.title = "IDR",
                                  .best = BEST_E,
                                  .work = WORK,
                                  .residual_slot = residual_slot,
                                  .broken = broken,
                                  .resume = resume,
                                  .may_resume = is_at_start};

static ts_status idr_check(tsi_solve *s, int checked) {
  return tsi_phases_check(s, &phases, checked);
}

static ts_status idr_finish(tsi_solve *s) {
  return tsi_phases_finish(s, &phases);
}

/* Checks are at the end of rounds, unless the check interval is shorter. */
static int round_steps(const tsi_solve *s, int steps) {
  const int round = dimension(s->solver) + 1, at = position(s);
  return steps < round ? steps : (at + steps) / round * round - at;
}

const tsi_method tsi_idr = {.name = "idr",
                            .preconditioned_from_right = 1,
                            .plan = idr_plan,
                            .prepare = idr_prepare,
                            .run = tsi_solve_run,
                            .run_fixed = tsi_solve_run_fixed,
                            .begin = idr_begin,
                            .iterate = idr_iterate,
                            .round_steps = round_steps,
                            .check = idr_check,
                            .finish = idr_finish};
