/* Chebyshev: M^-1 = p(D^-1 A) D^-1, with a polynomial of polynomial.h. If lambda is the largest eigenvalue of
 * D^-1 A, the polynomial maps the eigenvalues in [lambda / ratio, lambda] close to 1. Smaller eigenvalues grow
 * by a factor of up to about degree^2. Conjugate gradients then take fewer iterations with more products each,
 * and therefore need fewer sums and host synchronisations. */
#include "common/core/core.h"
#include "polynomial.h"
#include "preconditioner.h"

typedef struct chebyshev {
  double eigenvalue;
  int components; /* of the vectors; 0: not allocated */
  ts_vector *inverse, *r, *d;
} chebyshev;

/* A wider interval damps small eigenvalues more and the others less. Measured. */
static double ratio_of(int degree) {
  return 1.5 * degree * degree + 2;
}

static void drop_vectors(chebyshev *c) {
  ts_vector_destroy(&c->inverse);
  ts_vector_destroy(&c->r);
  ts_vector_destroy(&c->d);
  c->components = 0;
}

static void destroy(ts_preconditioner *M) {
  drop_vectors(M->state);
  tsi_free(M->context, M->state);
}

static ts_status invert_diagonal(ts_vector *inverse, const ts_matrix *A) {
  TSI_TRY(tsi_diagonal(inverse, A));
  return A->context->ops->reciprocal(inverse, inverse);
}

/* ---- The eigenvalue ---- */

static ts_status chebyshev_iterate(const ts_matrix *A, ts_vector **vectors, ts_scalars *slots,
                                   double *numbers) {
  TSI_TRY(invert_diagonal(vectors[0], A));
  TSI_TRY(tsi_eigenvalue_begin(A, vectors[0], vectors[1], vectors[2], vectors[3], slots, 0));
  return tsi_scalars_read(slots, 0, TSI_EIGENVALUE_SLOTS, numbers);
}

static ts_status estimate(const ts_matrix *A, double *eigenvalue) {
  ts_context *context = A->context;
  ts_vector *vectors[4] = {NULL};
  ts_scalars *slots = NULL;
  double numbers[4 * TSI_EIGENVALUE_SLOTS];
  TSI_TRY(tsi_enter(context));
  ts_status status =
      tsi_leave(context, tsi_arena_create(A->row_space, 1, 1, vectors, 4, TSI_EIGENVALUE_SLOTS, &slots));
  if (status == TS_OK) status = tsi_eigenvalue_start(A, vectors[1]);
  if (status == TS_OK) status = tsi_enter(context);
  if (status == TS_OK) status = tsi_leave(context, chebyshev_iterate(A, vectors, slots, numbers));
  for (int k = 0; k < 4; k++) ts_vector_destroy(&vectors[k]);
  ts_scalars_destroy(&slots);
  if (status == TS_OK) *eigenvalue = tsi_eigenvalue_end(A, 1, numbers);
  return status;
}

/* ---- The functions of the kind ---- */

static ts_status resolve(const ts_matrix *A, ts_preconditioner_desc *desc) {
  enum { usual = 4 };
  if (desc->degree < 0 || desc->degree > TSI_POLYNOMIAL_MOST)
    return tsi_fail(A->context, TS_ERROR_INVALID_ARGUMENT,
                    "degree is %d; it must be 1 to %d, or 0 for the default", desc->degree,
                    TSI_POLYNOMIAL_MOST);
  if (desc->degree == 0) desc->degree = usual;
  return TS_OK;
}

static ts_status build(ts_preconditioner *M) {
  ts_context *context = M->context;
  const ts_matrix *A = M->matrix;
  double eigenvalue;
  if (A->info.zero_diagonal_row >= 0)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "chebyshev needs a diagonal without zeros; it is 0 or missing in row %d",
                    A->info.zero_diagonal_row);
  TSI_TRY(estimate(A, &eigenvalue));
  if (!(eigenvalue > 0))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "chebyshev finds no positive eigenvalue of the matrix divided by its diagonal");
  if (!M->state) M->state = tsi_calloc(context, 1, sizeof(chebyshev));
  if (!M->state) return tsi_out_of_memory(context, "a preconditioner", sizeof(chebyshev));
  chebyshev *c = M->state;
  c->eigenvalue = eigenvalue;
  c->components = 0; /* the vectors hold the old diagonal */
  return TS_OK;
}

static ts_status make_vectors(chebyshev *c, const ts_matrix *A, int components) {
  ts_vector *made[3];
  TSI_TRY(tsi_arena_create(A->row_space, components, 1, made, 3, 0, NULL));
  c->inverse = made[0], c->r = made[1], c->d = made[2];
  return invert_diagonal(c->inverse, A);
}

static ts_status prepare(const ts_preconditioner *M, int components) {
  chebyshev *c = M->state;
  if (c->components == components) return TS_OK;
  drop_vectors(c);
  TSI_TRY(tsi_check_channels(M->matrix->row_space, components));
  TSI_TRY(tsi_enter(M->context));
  TSI_TRY(tsi_leave(M->context, make_vectors(c, M->matrix, components)));
  c->components = components;
  return TS_OK;
}

static ts_status apply(const ts_preconditioner *M, ts_vector *z, const ts_vector *r) {
  const chebyshev *c = M->state;
  tsi_polynomial_step steps[TSI_POLYNOMIAL_MOST];
  tsi_polynomial_first_kind(M->desc.degree, c->eigenvalue, ratio_of(M->desc.degree), steps);
  return tsi_polynomial_smooth(steps, M->desc.degree, M->matrix, c->inverse, z, r, c->r, c->d, 1);
}

static ts_status measure(const ts_preconditioner *M, tsi_cost *cost) {
  cost->products = M->desc.degree - 1;
  cost->operations = 3 * M->desc.degree;
  return TS_OK;
}

const tsi_preconditioner_kind tsi_preconditioner_chebyshev = {.kind = TS_PRECONDITIONER_CHEBYSHEV,
                                                              .fields = TSI_FIELD_DEGREE,
                                                              .is_from_matrix = 1,
                                                              .needs_diagonal = 1,
                                                              .has_scale = 1,
                                                              .resolve = resolve,
                                                              .create = build,
                                                              .update = build,
                                                              .destroy = destroy,
                                                              .measure = measure,
                                                              .prepare = prepare,
                                                              .apply = apply};
