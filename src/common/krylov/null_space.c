/* The null space of a symmetric matrix, V with A V = 0 and V^T V = I:
 *
 *   b = b - V V^T b, which x can reach entirely;  x = x - V V^T x, the shortest solution
 *
 * V is set by the application. Otherwise it is the constants, if A maps them to 0, as for Neumann conditions,
 * graphs and differences. cg and minres find further null space parts (cg_singular.c, minres_singular.c), but
 * only after they have tried to reach them. */
#include "null_space.h"

#include <math.h>
#include <string.h>

#include "common/core/array.h"
#include "common/core/core.h"
#include "solver.h"

static size_t unknowns_of(const ts_matrix *A) {
  return (size_t)A->info.columns;
}

/* ---- Lifetime ---- */

static void destroy_vectors(tsi_null_space *space) {
  for (int v = 0; v < TSI_MOST_NULL_VECTORS; v++) ts_vector_destroy(&space->vectors[v]);
  ts_vector_destroy(&space->work);
  ts_scalars_destroy(&space->sums);
  space->components = 0;
}

void tsi_null_space_destroy(tsi_null_space **space) {
  tsi_null_space *s = *space;
  *space = NULL;
  if (!s || --s->references > 0) return;
  ts_context *context = s->matrix->context;
  destroy_vectors(s);
  tsi_free(context, s->values);
  tsi_free(context, s);
}

void tsi_null_space_share(tsi_null_space **to, tsi_null_space *space) {
  if (!space) return;
  tsi_null_space_destroy(to);
  space->references++;
  *to = space;
}

/* ---- Vectors of the application ---- */

static ts_status check(const ts_matrix *A, const ts_null_space_desc *given) {
  ts_context *context = A->context;
  TSI_TRY(tsi_check_reserved(context, "null_space.", given->reserved, sizeof given->reserved));
  if (given->count < 1 || given->count > TSI_MOST_NULL_VECTORS)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "null_space.count is %d; it must be 1 to %d",
                    given->count, TSI_MOST_NULL_VECTORS);
  if (!A->info.symmetric)
    return tsi_fail(
        context, TS_ERROR_INVALID_ARGUMENT,
        "null_space is for symmetric matrices; the entry in row %d, column %d differs from its mirror",
        A->info.unsymmetric_row, A->info.unsymmetric_column);
  if (A->row_space->constrained)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "null_space is set, but the matrix has constrained rows");
  if (A->all_rows)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED, "null_space is not for matrices of several ranks");
  return TS_OK;
}

/* Stores one vector after the other, each scaled to about 1. */
static ts_status scale_vectors(ts_context *context, const double *given, size_t unknowns, int count,
                               double *to) {
  for (int v = 0; v < count; v++) {
    double largest = 0;
    for (size_t i = 0; i < unknowns; i++) {
      const double value = given[i * (size_t)count + (size_t)v];
      if (!isfinite(value))
        return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "null_space.vectors[%zu][%d] is %g", i, v, value);
      largest = fmax(largest, fabs(value));
    }
    if (largest == 0)
      return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "null_space.vectors: vector %d is 0", v);
    int exponent;
    frexp(largest, &exponent);
    for (size_t i = 0; i < unknowns; i++)
      to[(size_t)v * unknowns + i] = ldexp(given[i * (size_t)count + (size_t)v], -exponent);
  }
  return TS_OK;
}

static double dot(const double *x, const double *y, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += x[i] * y[i];
  return sum;
}

/* Modified Gram-Schmidt, applied twice. */
static ts_status orthonormalise(ts_context *context, double *vectors, size_t unknowns, int count) {
  for (int v = 0; v < count; v++) {
    double *own = vectors + (size_t)v * unknowns;
    const double before = sqrt(dot(own, own, unknowns));
    for (int pass = 0; pass < 2; pass++)
      for (int w = 0; w < v; w++) {
        const double *other = vectors + (size_t)w * unknowns, factor = dot(own, other, unknowns);
        for (size_t i = 0; i < unknowns; i++) own[i] -= factor * other[i];
      }
    const double norm = sqrt(dot(own, own, unknowns));
    if (!(norm > 1e-8 * before))
      return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                      "null_space.vectors: vector %d is a combination of those before it", v);
    for (size_t i = 0; i < unknowns; i++) own[i] /= norm;
  }
  return TS_OK;
}

static ts_status copy_given(tsi_null_space *space, const ts_null_space_desc *given) {
  const ts_matrix *A = space->matrix;
  ts_context *context = A->context;
  const size_t unknowns = unknowns_of(A), count = unknowns * (size_t)given->count;
  tsi_loans loans = {0};
  const double *numbers;
  space->values = tsi_malloc(context, count, sizeof *space->values);
  if (!space->values) return tsi_out_of_memory(context, "the null space", count * sizeof *space->values);
  ts_status status =
      tsi_array_borrow_doubles(context, "null_space.vectors", &given->vectors, count, &loans, &numbers);
  if (status == TS_OK) status = scale_vectors(context, numbers, unknowns, given->count, space->values);
  tsi_loans_free(context, &loans);
  if (status == TS_OK) status = orthonormalise(context, space->values, unknowns, given->count);
  space->count = given->count;
  space->square = 1;
  return status;
}

/* A fixed number of iterations, or a solver in single precision only, does not justify time and memory for a
 * test of the matrix. The test does not call the application's functions either. */
static int may_try_constants(const ts_matrix *A, const ts_solver_desc *desc) {
  return A->info.symmetric && !A->row_space->constrained && !A->kind->has_no_entries && !A->function &&
         !tsi_is_least_squares(desc->method) && !desc->fixed_iterations &&
         desc->precision != TS_PRECISION_SINGLE && desc->stop == TS_STOP_RESIDUAL && A->context->caps.pairs;
}

ts_status tsi_null_space_create(ts_matrix *A, const ts_solver_desc *desc, tsi_null_space **space) {
  ts_context *context = A->context;
  *space = NULL;
  if (desc->null_space) TSI_TRY(check(A, desc->null_space));
  if (!desc->null_space && !may_try_constants(A, desc)) return TS_OK;
  *space = tsi_calloc(context, 1, sizeof **space);
  if (!*space) return tsi_out_of_memory(context, "the null space", sizeof **space);
  **space = (tsi_null_space){.matrix = A, .references = 1, .changes = -1};
  const ts_status status = desc->null_space ? copy_given(*space, desc->null_space) : TS_OK;
  if (status < 0) tsi_null_space_destroy(space);
  return status;
}

/* ---- Vectors ---- */

static ts_status create_vector(const tsi_null_space *space, int components, ts_vector **vector) {
  const ts_vector_desc desc = {.components = components, .precision = TS_PRECISION_DOUBLE};
  return ts_vector_create(space->matrix->row_space, &desc, vector);
}

/* Writes the same numbers to all components. */
static ts_status write_vector(const tsi_null_space *space, int v, int components) {
  ts_context *context = space->matrix->context;
  const size_t unknowns = unknowns_of(space->matrix), count = unknowns * (size_t)components;
  const double *values = space->values + (size_t)v * unknowns;
  double *numbers = tsi_malloc(context, count, sizeof *numbers);
  if (!numbers) return tsi_out_of_memory(context, "the null space", count * sizeof *numbers);
  for (size_t i = 0; i < unknowns; i++)
    for (int c = 0; c < components; c++) numbers[i * (size_t)components + (size_t)c] = values[i];
  const ts_status status = ts_vector_write(space->vectors[v], ts_host(numbers, count));
  tsi_free(context, numbers);
  return status;
}

static ts_status create_all(tsi_null_space *space, int count, int components) {
  const ts_scalars_desc sums = {.count = 3, .precision = TS_PRECISION_DOUBLE};
  TSI_TRY(create_vector(space, components, &space->work));
  TSI_TRY(ts_scalars_create(space->matrix->context, &sums, &space->sums));
  for (int v = 0; v < count; v++) {
    TSI_TRY(create_vector(space, components, &space->vectors[v]));
    TSI_TRY(space->values ? write_vector(space, v, components) : ts_vector_fill(space->vectors[v], 1));
  }
  space->components = components;
  return TS_OK;
}

static ts_status create_vectors(tsi_null_space *space, int count, int components) {
  const ts_status status = create_all(space, count, components);
  if (status < 0) destroy_vectors(space);
  return status;
}

static ts_status reduce_product(const ts_matrix *A, const ts_vector *ones, ts_vector *product,
                                ts_scalars *slots, tsi_reduction reduction, double *found) {
  double sums[4];
  TSI_TRY(tsi_fill(product, 0));
  TSI_TRY(tsi_residual(product, product, A, ones));
  const ts_vector first = tsi_first_part(product);
  TSI_TRY(A->context->ops->reduce(slots, 0, reduction, &first, &first));
  TSI_TRY(tsi_scalars_read(slots, 0, 1, sums));
  *found = sums[0];
  return TS_OK;
}

/* Compares the norm of A 1 in floats with that of A. Only a matrix with a small A 1 justifies vectors of
 * doubles and the low-order parts of A. */
static ts_status look_in_floats(const ts_matrix *A, int *is_small) {
  ts_vector *v[2] = {NULL};
  ts_scalars *slots = NULL;
  int exponent;
  double square = INFINITY;
  frexp(A->norm_infinity, &exponent);
  exponent = exponent > 100 ? 100 : exponent < -100 ? -100 : exponent; /* squares stay in range */
  *is_small = 0;
  TSI_TRY(tsi_arena_create(A->row_space, 1, 1, v, 2, 1, &slots));
  ts_status status = tsi_fill(v[0], (float)ldexp(1, -exponent));
  if (status == TS_OK) status = reduce_product(A, v[0], v[1], slots, TSI_REDUCE_DOT, &square);
  *is_small = sqrt(square) <= 0x1p-9 * ldexp(A->norm_infinity, -exponent);
  for (int i = 0; i < 2; i++) tsi_vector_destroy(v[i]);
  tsi_scalars_destroy(slots);
  return status;
}

/* Whether A 1 is 0 up to the rounding of A's entries. */
static ts_status look_in_doubles(const tsi_null_space *space, int *is_zero) {
  const ts_matrix *A = space->matrix;
  double largest = INFINITY;
  TSI_TRY(tsi_enter(A->context));
  TSI_TRY(tsi_leave(A->context, reduce_product(A, space->vectors[0], space->work, space->sums,
                                               TSI_REDUCE_MAX_ABS, &largest)));
  *is_zero = largest <= 0x1p-46 * A->norm_infinity;
  return TS_OK;
}

static ts_status try_constants(tsi_null_space *space, int components) {
  const ts_matrix *A = space->matrix;
  const int changed = space->changes != A->changes;
  int yes = space->count;
  if (changed) {
    TSI_TRY(tsi_enter(A->context));
    TSI_TRY(tsi_leave(A->context, look_in_floats(A, &yes)));
  }
  if (!yes || components != space->components) destroy_vectors(space);
  if (yes && !space->components) TSI_TRY(create_vectors(space, 1, components));
  if (yes && changed) TSI_TRY(look_in_doubles(space, &yes));
  if (!yes) destroy_vectors(space);
  space->changes = A->changes;
  space->square = A->all_rows ? (double)A->all_rows : (double)A->info.rows;
  space->count = yes;
  return TS_OK;
}

ts_status tsi_null_space_prepare(tsi_null_space *space, int components) {
  if (!space->values) return try_constants(space, components);
  if (components == space->components) return TS_OK;
  destroy_vectors(space);
  return create_vectors(space, space->count, components);
}

/* ---- Removal ---- */

/* v_k^T v over all parts of v: one slot per part. */
static ts_status add_parts(const tsi_null_space *space, int k, const ts_vector *v, double sums[4]) {
  const tsi_ops *ops = space->matrix->context->ops;
  double of_parts[3][4];
  int parts = 0;
  for (const ts_vector *part = v; part && parts < 3; part = part->low) {
    const ts_vector one = tsi_first_part(part);
    TSI_TRY(ops->reduce(space->sums, parts++, TSI_REDUCE_DOT, space->vectors[k], &one));
  }
  TSI_TRY(tsi_scalars_read(space->sums, 0, parts, of_parts[0]));
  for (int c = 0; c < 4; c++) {
    sums[c] = 0;
    for (int p = 0; p < parts && c < v->components; p++) sums[c] += of_parts[p][c] / space->square;
  }
  return tsi_scalars_write(space->sums, 0, 1, sums);
}

/* v = v - (slot 0) v_k. */
static ts_status subtract(const tsi_null_space *space, int k, ts_vector *v) {
  const tsi_ops *ops = space->matrix->context->ops;
  const ts_vector *own = space->vectors[k], first = tsi_first_part(own);
  if (!v->low) return ops->axpby(v, ts_constant(1), v, ts_scaled(-1, space->sums, 0), &first);
  TSI_TRY(ops->axpby(space->work, ts_scaled(1, space->sums, 0), own, ts_constant(0), own));
  return tsi_add_to_parts(v, ts_constant(-1), space->work);
}

ts_status tsi_null_space_remove(const tsi_null_space *space, ts_vector *v, double norms[4]) {
  const tsi_ops *ops = space->matrix->context->ops;
  double squares[4] = {0};
  /* The second pass removes the rounding of a large part. */
  for (int pass = 0; pass < 2; pass++)
    for (int k = 0; k < space->count; k++) {
      double sums[4];
      if (norms) {
        TSI_TRY(add_parts(space, k, v, sums));
        for (int c = 0; c < 4 && pass == 0; c++) squares[c] += sums[c] * sums[c] * space->square;
      } else {
        const ts_vector one = tsi_first_part(v);
        TSI_TRY(ops->reduce(space->sums, 0, TSI_REDUCE_DOT, space->vectors[k], &one));
      }
      TSI_TRY(subtract(space, k, v));
    }
  for (int c = 0; c < 4 && norms; c++) norms[c] = sqrt(squares[c]);
  return TS_OK;
}
