/* MINRES (Paige and Saunders 1975, "Solution of sparse indefinite systems of linear equations", section 6) with
 * a positive definite preconditioner M (Elman, Silvester and Wathen 2014, algorithm 4.1). It is written once
 * for all backends on top of the ops table. A is symmetric, and may be indefinite or singular:
 *
 *   u_0 = 0;  u_1 = b - A x;  v_1 = M^-1 u_1 / sigma_1
 *   for j = 1, 2, ...
 *     q = A v_j
 *     u_j+1 = q - (v_j^T q / kappa_j) u_j - (kappa_j / kappa_j-1) u_j-1          kappa_j = u_j^T v_j
 *     v_j+1 = M^-1 u_j+1 / sigma_j+1                                             sigma_j = |M^-1 u_j|
 *
 * is the Lanczos process without the roots of its usual scaling, and
 *
 *   alpha_j = (v_j^T q) sigma_j / kappa_j;  beta_j+1 = sqrt(kappa_j+1 sigma_j+1 sigma_j / kappa_j)
 *
 * are the entries of its tridiagonal matrix. Rotations on the host reduce it to triangular form, with gamma_j,
 * delta_j and epsilon_j in its rows. The directions are w_j = (v_j / |v_j| - delta_j w_j-1 - epsilon_j w_j-2) /
 * gamma_j. The device stores them as
 *
 *   d_j = v_j - b1 d_j-1 - b2 d_j-2,   in place of v_j;   e = e + t d_j        (series.h)
 *
 * The norm of r in M^-1 is minimal in the Krylov space, and never grows. If A is singular and b has a part that
 * no x reaches, A M^-1 r falls to 0 but r does not: minres_singular.c. */
#include <math.h>

#include "series.h"
#include "common/core/core.h"
#include "common/matrix/csr.h"

/* u_j-1, u_j and u_j+1, cyclically. */
enum { VECTORS = 3 };
/* Update coefficients of an iteration. */
enum { B1, B2, STEP, COEFFICIENTS };
/* State of the rotations: the last rotation; delta_j+1 before it, and epsilon_j+1. The last two of gamma times
 * the size of v. The smallest |A M^-1 r| / |r|, and the norm at that time. */
enum { COSINE, SINE, DELTA, EPSILON, SCALE_1, SCALE_2, LOWEST, LOWEST_NORM };

static void minres_plan(ts_solver *k) {
  tsi_series_plan(k, VECTORS, COEFFICIENTS);
}

/* ---- The Lanczos process ---- */

ts_vector *tsi_minres_residual(const ts_solver *k, int iteration) {
  return k->own[iteration % VECTORS];
}

static ts_slot slot(const ts_solver *k, int iteration, int number) {
  return (ts_slot){k->slots, tsi_series_slot(k, iteration, number)};
}

static ts_status minres_begin(tsi_solve *s) {
  return tsi_series_begin(s, tsi_minres_residual(s->solver, s->iteration));
}

static ts_status minres_iterate(tsi_solve *s) {
  const ts_solver *k = s->solver;
  const tsi_ops *ops = k->context->ops;
  const int j = s->iteration;
  const ts_slot vq = slot(k, j, TSI_SERIES_OTHER), kappa = slot(k, j, TSI_SERIES_KAPPA);
  const ts_coefficient one = ts_constant(1);
  ts_vector *u = tsi_minres_residual(k, j + 1);
  TSI_TRY(tsi_spmv_dot(u, k->matrix, tsi_series_vector(k, j), k->slots, vq.index));
  TSI_TRY(ops->axpby(u, ts_quotient(-1, vq, kappa), tsi_minres_residual(k, j), one, u));
  if (j > s->phase_start)
    TSI_TRY(ops->axpby(u, ts_quotient(-1, kappa, slot(k, j - 1, TSI_SERIES_KAPPA)),
                       tsi_minres_residual(k, j + 2), one, u));
  s->iteration++;
  return tsi_series_scale(s, j + 1, u);
}

/* ---- Series ---- */

/* Whether the residual before this iteration is entirely unreachable: then |A M^-1 r| = `change` |r| is 0.
 * Rounding perturbs the eigenvalue 0 of the tridiagonal matrix. From about the square root of the rounding
 * error on, `change` grows again although the norm does not fall. x then grows along the null space. A restart
 * from x gets closer to 0. */
static int is_least(const ts_solver *k, tsi_series *of, double change) {
  const double rounding = tsi_epsilon(k), ratio = change / of->size;
  double *const lowest = &of->rotations[LOWEST], *const norm = &of->rotations[LOWEST_NORM];
  if (ratio < *lowest || of->norm < 0.9 * *norm) {
    *lowest = ratio;
    *norm = of->norm;
  }
  return ratio <= 64 * rounding || (*lowest <= 4 * sqrt(rounding) && ratio > 16 * *lowest);
}

/* A lower bound of the size of A in the basis, which a first residual may not show. */
static double least_size(const ts_solver *k) {
  const ts_matrix *A = k->matrix;
  if (k->z || A->info.longest_row < 1) return 0;
  if (tsi_preconditioner_inverts_diagonal(k->preconditioner)) return 1.0 / A->info.longest_row;
  return ldexp(A->norm_infinity, k->m ? -tsi_scale_exponent(A) : 0) / A->info.longest_row;
}

/* alpha_j; beta_j+1, set to 0 if it is only rounding; and the size of v_j. */
static void tridiagonal(const tsi_solve *s, tsi_series *of, int c, int j, double *alpha, double *beta,
                        double *v) {
  const ts_solver *k = s->solver;
  double u, next;
  tsi_series_norms(s, of, c, j, &u, v);
  *alpha = tsi_number(k, tsi_series_slot(k, j, TSI_SERIES_OTHER), c) / (*v * *v);
  of->size = fmax(of->size, fabs(*alpha));
  tsi_series_norms(s, of, c, j + 1, beta, &next);
  *beta /= *v;
  of->size = fmax(of->size, hypot(*alpha, *beta));
  if (*beta <= tsi_series_rounding(k, of->size)) *beta = 0;
}

static void begin_rotations(const ts_solver *k, tsi_series *of) {
  double *const rotations = of->rotations;
  rotations[COSINE] = -1;
  rotations[SINE] = rotations[DELTA] = rotations[EPSILON] = 0;
  rotations[SCALE_1] = rotations[SCALE_2] = 1;
  rotations[LOWEST] = rotations[LOWEST_NORM] = INFINITY;
  of->size = least_size(k);
}

static void minres_rotate(const tsi_solve *s, tsi_series *of, int c, int j, double *coefficients) {
  double *const last = of->rotations, alpha, beta, v;
  if (j == s->phase_start) begin_rotations(s->solver, of);
  tridiagonal(s, of, c, j, &alpha, &beta, &v);
  const double delta = last[COSINE] * last[DELTA] + last[SINE] * alpha,
               diagonal = last[SINE] * last[DELTA] - last[COSINE] * alpha, next = -last[COSINE] * beta;
  const double gamma = hypot(diagonal, beta);
  if (is_least(s->solver, of, hypot(diagonal, next)) || gamma <= tsi_series_rounding(s->solver, of->size)) {
    of->is_over = of->is_least = 1;
    return;
  }
  coefficients[B1] = -v * delta / last[SCALE_1];
  coefficients[B2] = -v * last[EPSILON] / last[SCALE_2];
  coefficients[STEP] = of->norm * (diagonal / gamma) / (gamma * v);
  of->norm *= beta / gamma;
  if (beta == 0) of->is_over = 1;
  last[EPSILON] = last[SINE] * beta;
  last[DELTA] = next;
  last[COSINE] = diagonal / gamma;
  last[SINE] = beta / gamma;
  last[SCALE_2] = last[SCALE_1];
  last[SCALE_1] = gamma * v;
}

static const tsi_series_method series;

static ts_coefficient coefficient(const ts_solver *k, int at, int number) {
  return ts_scaled(1, k->slots, tsi_series_coefficient(k, &series, at, number));
}

/* d_j in place of v_j, combined with the pending step along d_j-1. */
static ts_status update_direction(const tsi_solve *s, int first, int j) {
  const ts_solver *k = s->solver;
  const tsi_ops *ops = k->context->ops;
  const int at = j - first, before = j - s->phase_start;
  const ts_coefficient one = ts_constant(1);
  ts_vector *d = tsi_series_vector(k, j), *d_1 = before > 0 ? tsi_series_vector(k, j - 1) : NULL,
            *d_2 = before > 1 ? tsi_series_vector(k, j - 2) : NULL;
  if (at > 0 && d_2)
    TSI_TRY(tsi_axpy2(k->e, coefficient(k, at - 1, STEP), d_1, d, coefficient(k, at, B2), d_2));
  else if (at > 0)
    TSI_TRY(ops->axpby(k->e, coefficient(k, at - 1, STEP), d_1, one, k->e));
  else if (d_2)
    TSI_TRY(ops->axpby(d, coefficient(k, at, B2), d_2, one, d));
  return d_1 ? ops->axpby(d, coefficient(k, at, B1), d_1, one, d) : TS_OK;
}

static ts_status minres_update(const tsi_solve *s, int first, int end) {
  const ts_solver *k = s->solver;
  for (int j = first; j < end; j++) TSI_TRY(update_direction(s, first, j));
  return k->context->ops->axpby(k->e, coefficient(k, end - 1 - first, STEP), tsi_series_vector(k, end - 1),
                                ts_constant(1), k->e);
}

static const tsi_series_method series = {.coefficients = COEFFICIENTS,
                                         .rotate = minres_rotate,
                                         .update = minres_update,
                                         .handle_least = tsi_minres_handle_least};

/* u_j+1 is free between iterations. */
static ts_vector *free_vector(const tsi_solve *s) {
  return tsi_minres_residual(s->solver, s->iteration + 1);
}

static ts_status minres_check(tsi_solve *s, int checked) {
  return tsi_series_check(s, &series, free_vector(s), checked);
}

static ts_status minres_run_fixed(tsi_solve *s) {
  return tsi_series_run_fixed(s, &series);
}

static ts_status minres_finish(tsi_solve *s) {
  return tsi_series_finish(s, free_vector(s));
}

const tsi_method tsi_minres = {.name = "minres",
                               .plan = minres_plan,
                               .run = tsi_solve_run,
                               .run_fixed = minres_run_fixed,
                               .begin = minres_begin,
                               .iterate = minres_iterate,
                               .check = minres_check,
                               .finish = minres_finish};

/* ---- Jacobi ---- */

/* In rows with a diagonal of 0, the inverse Schur complement with the diagonal of the others, 1 / sum_j a_ij^2
 * / |a_jj|, replaces 1 / |a_ii|. These rows are the constraints of a saddle point (Benzi, Golub and Liesen
 * 2005, section 10.1). It scales like A, row by row. `m` holds 1 / |a_ii| in `components` numbers each. */
static void fill_zeros(const tsi_csr *A, float *m, size_t components) {
  for (int32_t i = 0; i < A->rows; i++) {
    double sum = 0;
    if (m[(size_t)i * components] > 0) continue;
    for (int32_t e = A->row_offsets[i]; e < A->row_offsets[i + 1]; e++) {
      const double a = A->double_values ? A->double_values[e] : (double)A->values[e];
      sum += a * a * fmax(0, (double)m[(size_t)A->column_indices[e] * components]);
    }
    for (size_t c = 0; c < components && sum > 0; c++) m[(size_t)i * components + c] = -(float)(1 / sum);
  }
}

static ts_status look_at_zeros(const ts_solver *k, const ts_matrix *A, float *m) {
  tsi_matrix_entries entries = {0};
  if (A->info.zero_diagonal_row < 0 || !A->layout || A->context->ops->ranks || A->row_space->constrained)
    return TS_OK;
  TSI_TRY(A->host_copy ? tsi_matrix_stored_copy(A, &entries.csr) : tsi_matrix_read(A, &entries));
  fill_zeros(&entries.csr, m, (size_t)k->components);
  tsi_matrix_entries_free(k->context, &entries);
  return TS_OK;
}

/* Takes magnitudes. Remaining zeros get the inverse size of the matrix. */
static ts_status make_positive(const ts_solver *k, const ts_matrix *A, float *m, size_t count) {
  const float size = A->norm_infinity > 0 ? (float)(1 / A->norm_infinity) : 1;
  for (size_t i = 0; i < count; i++) m[i] = fabsf(m[i]);
  TSI_TRY(look_at_zeros(k, A, m));
  for (size_t i = 0; i < count; i++)
    m[i] = ldexpf(m[i] != 0 ? fabsf(m[i]) : size, k->matrix->exponent - A->exponent);
  return TS_OK;
}

static ts_status read_diagonal(const ts_solver *k, float *values) {
  const ts_preconditioner *M = k->preconditioner;
  TSI_TRY(tsi_enter(k->context));
  TSI_TRY(tsi_leave(k->context, M->kind->write_diagonal(M, k->m)));
  return tsi_vector_read_floats(k->m, values);
}

ts_status tsi_minres_write_jacobi(ts_solver *k) {
  const ts_matrix *A = k->preconditioner->matrix;
  if (k->jacobi_changes == A->changes) return TS_OK;
  const size_t count = (size_t)ts_space_get_size(k->m->space) * (size_t)k->components;
  float *values = tsi_malloc(k->context, count, sizeof *values);
  if (!values) return tsi_out_of_memory(k->context, "a preconditioner", count * sizeof *values);
  ts_status status = read_diagonal(k, values);
  if (status == TS_OK) status = make_positive(k, A, values, count);
  if (status == TS_OK) status = tsi_vector_write_floats(k->m, values);
  if (status == TS_OK) k->jacobi_changes = A->changes;
  tsi_free(k->context, values);
  return status;
}
