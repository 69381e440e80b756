/* Cycles of algebraic multigrid, written once for all backends on the ops table:
 *
 *   cycle(l):  on the last level:  x = A^-1 b, a product with the inverse, or by factors
 *              smooth x
 *              b' = P^T (b - A x);  x' = 0
 *              cycle(l + 1), from the second level on `visits` times
 *              x = x + P x'
 *              smooth x
 *
 * R is stored as -P^T. So x' has the opposite sign, and x = x - P x' is a residual, one operation.
 *
 * Smoothers are polynomials in D^-1 A (../polynomial.h). The alternatives are Jacobi's iteration
 *
 *   x = x + omega D^-1 (b - A x),  omega = 4 / (3 lambda)
 *
 * with lambda the largest eigenvalue, or the same with row sums of magnitudes in place of D and omega = 1. If
 * the matrix is not symmetric, the set-up has made a polynomial for each level, and R is not -P^T. */
#include <math.h>
#include <string.h>

#include "amg.h"
#include "common/precond/polynomial.h"

/* ---- Smoothing ---- */

enum { MOST_STEPS = 256, IN_PLACE_OF_INVERSE = 8 /* in units of the usual steps */ };

/* The level's own polynomial; NULL: none. */
static const tsi_amg_polynomial *own_polynomial(const tsi_amg *amg, int l) {
  const tsi_amg_polynomial *own = &amg->host.level[l].polynomial;
  return own->degree > 0 ? own : NULL;
}

/* The number of smoothing steps before the correction, and again after it. */
static int steps_of(const tsi_amg *amg, int l) {
  const tsi_amg_polynomial *own = own_polynomial(amg, l);
  return own ? own->degree : amg->desc.sweeps;
}

static void amg_cycle_plan(const tsi_amg *amg, int l, int steps, tsi_polynomial_step *polynomial) {
  const tsi_amg_polynomial *own = own_polynomial(amg, l);
  const double ratio = 4, eigenvalue = amg->level[l].eigenvalue;
  const double lambda = eigenvalue > 0 ? eigenvalue : 1; /* 0: the matrix has only constrained rows */
  for (int k = 0; own && k < steps; k++) polynomial[k] = own->steps[k % own->degree];
  if (own) return;
  switch (amg->desc.smoother) {
  case TS_AMG_SMOOTHER_CHEBYSHEV:
    tsi_polynomial_first_kind(steps, lambda, ratio, polynomial);
    return;
  case TS_AMG_SMOOTHER_CHEBYSHEV4:
    tsi_polynomial_fourth_kind(steps, lambda, polynomial);
    return;
  default:
    for (int k = 0; k < steps; k++)
      polynomial[k] =
          (tsi_polynomial_step){amg->desc.smoother == TS_AMG_SMOOTHER_JACOBI ? 4 / (3 * lambda) : 1, 0};
  }
}

static ts_status smooth(const tsi_amg *amg, int l, int times, ts_vector *x, const ts_vector *b, int x_is_zero) {
  const tsi_amg_level *level = &amg->level[l];
  const int steps = times * steps_of(amg, l);
  tsi_polynomial_step polynomial[MOST_STEPS];
  amg_cycle_plan(amg, l, steps, polynomial);
  return tsi_polynomial_smooth(polynomial, steps, level->A, level->inverse, x, b, level->r, level->d,
                               x_is_zero);
}

/* ---- Cycles ---- */

/* The visits of level l + 1 during one visit of level l. */
static int visits_below(const tsi_amg *amg, int l) {
  return l == 0 || (l + 2 == amg->levels && tsi_amg_ends_exactly(amg)) ? 1 : amg->desc.visits;
}

static ts_status cycle(const tsi_amg *amg, int l, ts_vector *x, const ts_vector *b, int x_is_zero) {
  const tsi_amg_level *level = &amg->level[l], *next = level + 1;
  if (l + 1 == amg->levels && amg->factors.direct) return tsi_direct_apply(&amg->factors, x, b);
  if (l + 1 == amg->levels) {
    return amg->inverse ? tsi_spmv(x, amg->inverse, b) : smooth(amg, l, IN_PLACE_OF_INVERSE, x, b, 1);
  }
  TSI_TRY(smooth(amg, l, 1, x, b, x_is_zero));
  TSI_TRY(tsi_quick_residual(level->r, b, level->A, x));
  TSI_TRY(tsi_spmv(next->b, level->R, level->r));
  for (int visit = 0; visit < visits_below(amg, l); visit++)
    TSI_TRY(cycle(amg, l + 1, next->x, next->b, visit == 0));
  TSI_TRY(tsi_quick_residual(x, x, level->P, next->x));
  return smooth(amg, l, 1, x, b, 0);
}

static ts_status whole_cycle(const tsi_amg *amg, ts_vector *x, const ts_vector *b) {
  return cycle(amg, 0, x, b, 1);
}

/* A smoothing step is one product, except the first from 0; a visit also has a residual. */
tsi_cost tsi_amg_cost(const tsi_amg *amg) {
  double visits = 1, from_zero = 1, entries = 0, operations = 0;
  for (int l = 0; l < amg->levels; l++) {
    const tsi_amg_level *level = &amg->level[l];
    const double own = (double)level->entries, rows = (double)level->rows;
    const double steps = 2.0 * steps_of(amg, l), last_steps = IN_PLACE_OF_INVERSE * steps_of(amg, l);
    if (l + 1 < amg->levels) {
      entries += visits * ((steps + 1) * own + level->transfers) - from_zero * own;
      operations += visits * (3 * steps + 3);
    } else if (amg->factors.direct) {
      entries += visits * amg->factors.direct->method->reads * amg->factors.direct->entries;
      operations += visits * 2;
    } else {
      entries += visits * (amg->inverse ? rows * rows : (last_steps - 1) * own);
      operations += visits * (amg->inverse ? 1 : 3 * last_steps);
    }
    from_zero = visits;
    visits *= visits_below(amg, l);
  }
  const double all = (double)amg->level[0].entries;
  return (tsi_cost){
      .products = all > 0 ? entries / all : 0, .operations = operations, .waits = amg->factors.direct != NULL};
}

ts_status tsi_amg_cycle(const tsi_amg *amg, ts_vector *z, const ts_vector *r) {
  ts_vector first = tsi_first_part(z);
  const ts_vector given = tsi_first_part(r);
  if (amg->device && !amg->factors.direct)
    return amg->context->ops->amg->cycle(amg, &first, &given, whole_cycle);
  return whole_cycle(amg, &first, &given);
}

/* ---- Vectors ---- */

void tsi_amg_drop_vectors(tsi_amg *amg) {
  amg->components = 0;
  tsi_enter_to_destroy(amg->context);
  if (amg->device) amg->context->ops->amg->forget_cycles(amg);
  for (int l = 0; l < TSI_AMG_MAX_LEVELS; l++) {
    tsi_amg_level *level = &amg->level[l];
    ts_vector **vectors[] = {&level->inverse, &level->r, &level->d, &level->b, &level->x};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++) {
      tsi_vector_destroy(*vectors[k]);
      *vectors[k] = NULL;
    }
  }
  tsi_leave(amg->context, TS_OK);
}

/* 1 / the row sums of magnitudes. */
static ts_status write_sums(const tsi_amg *amg, const tsi_amg_csr *A, ts_vector *inverse) {
  const int components = inverse->components;
  float *values = tsi_malloc(amg->context, (size_t)A->rows, (size_t)components * sizeof *values);
  if (!values) return tsi_out_of_memory(amg->context, "a smoother", (size_t)A->rows * sizeof *values);
  for (int32_t i = 0; i < A->rows; i++) {
    double sum = 0;
    for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++) sum += fabs((double)A->values[e]);
    for (int c = 0; c < components; c++)
      values[(size_t)i * (size_t)components + (size_t)c] = sum > 0 ? (float)(1 / sum) : 0;
  }
  const ts_status status = tsi_vector_write_floats(inverse, values);
  tsi_free(amg->context, values);
  return status;
}

static ts_status write_l1(const tsi_amg *amg, int l) {
  tsi_amg_csr A;
  TSI_TRY(tsi_amg_read_level(amg, l, &A));
  const ts_status status = write_sums(amg, &A, amg->level[l].inverse);
  tsi_amg_forget_level(amg, l, &A);
  return status;
}

static ts_status invert_diagonal(const tsi_amg_level *level) {
  TSI_TRY(tsi_diagonal(level->inverse, level->A));
  return level->A->context->ops->reciprocal(level->inverse, level->inverse);
}

static ts_status make_vectors(tsi_amg *amg, int components) {
  for (int l = 0; l < amg->levels; l++) {
    tsi_amg_level *level = &amg->level[l];
    ts_vector *made[5] = {NULL};
    const int count = l > 0 ? 5 : 3;
    TSI_TRY(tsi_arena_create(level->A->row_space, components, 1, made, count, 0, NULL));
    level->inverse = made[0], level->r = made[1], level->d = made[2], level->b = made[3], level->x = made[4];
  }
  return TS_OK;
}

ts_status tsi_amg_prepare(tsi_amg *amg, int components) {
  if (amg->components == components) return TS_OK;
  tsi_amg_drop_vectors(amg);
  if (amg->factors.direct) TSI_TRY(tsi_direct_prepare(amg->context, &amg->factors, components));
  TSI_TRY(tsi_enter(amg->context));
  ts_status status = make_vectors(amg, components);
  for (int l = 0; l < amg->levels && status == TS_OK && amg->desc.smoother != TS_AMG_SMOOTHER_L1_JACOBI; l++)
    status = invert_diagonal(&amg->level[l]);
  TSI_TRY(tsi_leave(amg->context, status));
  for (int l = 0; l < amg->levels && amg->desc.smoother == TS_AMG_SMOOTHER_L1_JACOBI; l++)
    TSI_TRY(write_l1(amg, l));
  amg->components = components;
  return TS_OK;
}
