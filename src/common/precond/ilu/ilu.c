/* TS_PRECONDITIONER_ILU and TS_PRECONDITIONER_IC: M^-1 r = D_c Q U^-1 D^-1 L^-1 P D_r r with incomplete factors
 * L D U of the matrix in another order and scaling, which nobody outside sees. Of IC U = L^T, Q = P^T and D_c =
 * D_r.
 *
 * Factors are computed on the host in double precision from the host copy; of the rows of a rank from their
 * square part, so that M is block Jacobi between ranks. Triangular systems are solved there too, or by sweeps
 * on the device. */
#include "ilu.h"

#include <math.h>

#include "common/core/ranks.h"

static ts_status resolve(const ts_matrix *A, ts_preconditioner_desc *desc) {
  ts_context *context = A->context;
  if (desc->fill != 0 && !(desc->fill >= 1 && desc->fill <= 1000))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "fill is %g; it must be 1 to 1000", desc->fill);
  if (!(desc->drop_tolerance == -1 || (desc->drop_tolerance >= 0 && desc->drop_tolerance < 1)))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "drop_tolerance is %g; it must be from 0 to below 1, or -1 to drop nothing",
                    desc->drop_tolerance);
  if (!ts_scaling_name(desc->scaling))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "scaling is %d, an invalid ts_scaling",
                    (int)desc->scaling);
  if (desc->sweeps < 0 || desc->sweeps > 32)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "sweeps is %d; it must be 0 to 32", desc->sweeps);
  if (desc->levels < -1 || desc->levels > 100)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "levels is %d; it must be -1 to 100", desc->levels);
  if (desc->levels != 0 && (desc->fill != 0 || desc->drop_tolerance != 0))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "levels is %d beside fill or drop_tolerance; entries are kept by one or the other",
                    desc->levels);
  return TS_OK;
}

static void destroy_parts(ts_context *context, tsi_ilu *parts) {
  tsi_ilu_sweeps_destroy(&parts->sweeps);
  tsi_ilu_free(context, parts);
  tsi_free(context, parts->numbers);
  tsi_free(context, parts->floats);
  tsi_free(context, parts);
}

static void destroy(ts_preconditioner *M) {
  destroy_parts(M->context, M->state);
}

/* New parts, so that after a failure the old ones are as they were. */
static ts_status build_anew(ts_preconditioner *M) {
  ts_context *context = M->context;
  tsi_ilu *made = tsi_calloc(context, 1, sizeof *made);
  if (!made) return tsi_out_of_memory(context, "a preconditioner", sizeof *made);
  ts_status status = tsi_ilu_build(M, made);
  if (status == TS_OK && M->desc.sweeps)
    status = tsi_ilu_sweeps_create(M->matrix, &made->order, &made->factors, &made->sweeps);
  if (status < 0) {
    destroy_parts(context, made);
    return status;
  }
  if (M->state) destroy(M);
  M->state = made;
  return TS_OK;
}

static ts_status measure(const ts_preconditioner *M, tsi_cost *cost) {
  const tsi_ilu *parts = M->state;
  const int32_t n = parts->order.n;
  const int sweeps = M->desc.sweeps;
  const double entries = (double)(parts->factors.lower.offsets[n] + parts->factors.upper.offsets[n]);
  cost->operations = sweeps ? 3 + 2 * sweeps : 2;
  return tsi_preconditioner_products(M, (sweeps ? sweeps : 1) * entries + n, &cost->products);
}

/* A singular matrix has a pivot of 0, and its factors multiply the rounding of r by whatever is there instead.
 * The answer of one rank is that of all. */
static int disappoints(const ts_preconditioner *M, char *why, size_t size) {
  const tsi_ilu *parts = M->state;
  const tsi_ranks_ops *ranks = M->context->ops->ranks;
  const int is_far = parts->factors.shifted > 0 && !(parts->error <= 1);
  double disappointed = M->matrix->info.zero_diagonal_row < 0 && is_far;
  if (M->matrix->all_rows && ranks->largest(M->context, &disappointed, 1) < 0) return 0;
  if (disappointed == 0) return 0;
  snprintf(why, size, "the matrix is near a singular one: ilu replaced %d pivots, and its error is %.2g",
           parts->factors.shifted, parts->error);
  return 1;
}

static ts_status prepare(const ts_preconditioner *M, int components) {
  tsi_ilu *parts = M->state;
  const size_t count = (size_t)parts->order.n * (size_t)components;
  if (M->desc.sweeps) return tsi_ilu_sweeps_prepare(M->matrix, components, &parts->sweeps);
  if (parts->components == components) return TS_OK;
  double *numbers = tsi_malloc(M->context, 2 * count, sizeof *numbers);
  float *floats = tsi_malloc(M->context, count, sizeof *floats);
  if (!numbers || !floats) {
    tsi_free(M->context, numbers);
    tsi_free(M->context, floats);
    return tsi_out_of_memory(M->context, "a preconditioner", 20 * count);
  }
  tsi_free(M->context, parts->numbers);
  tsi_free(M->context, parts->floats);
  parts->numbers = numbers;
  parts->floats = floats;
  parts->components = components;
  return TS_OK;
}

static ts_status apply_sweeps(const ts_preconditioner *M, ts_vector *z, const ts_vector *r) {
  TSI_TRY(tsi_clear_low(z));
  return tsi_ilu_sweeps_apply(&((const tsi_ilu *)M->state)->sweeps, M->desc.sweeps, z, r);
}

/* All parts of z: if A is ill-conditioned and z is rounded to floats, A z is far from r. Rounding r does no
 * such harm. */
static ts_status apply(const ts_preconditioner *M, ts_vector *z, const ts_vector *r) {
  const tsi_ilu *parts = M->state;
  if (M->desc.sweeps) return apply_sweeps(M, z, r);
  const size_t count = (size_t)parts->order.n * (size_t)r->components;
  TSI_TRY(tsi_read_floats(r, parts->floats));
  for (size_t k = 0; k < count; k++) parts->numbers[k] = (double)parts->floats[k];
  tsi_ilu_solve(&parts->order, &parts->factors, r->components, parts->numbers, parts->numbers + count);
  return tsi_write_parts(z, parts->numbers, count, parts->floats);
}

static int is_unsymmetric(const ts_preconditioner *M) {
  (void)M;
  return 0;
}

#define TSI_ILU_KIND(kind_, fields_)                                                                           \
  .kind = (kind_), .fields = (fields_), .is_from_matrix = 1, .needs_entries = 1, .reads_entries = 1,           \
  .has_scale = 1, .resolve = resolve, .create = build_anew, .update = build_anew, .destroy = destroy,          \
  .disappoints = disappoints, .measure = measure, .prepare = prepare, .writes_low = 1, .apply = apply

const tsi_preconditioner_kind tsi_preconditioner_ilu = {
    TSI_ILU_KIND(TS_PRECONDITIONER_ILU, TSI_FIELD_ILU | TSI_FIELD_SCALING),
    .unsymmetric = "ilu is not symmetric, as cg and minres need; ic is", .is_symmetric = is_unsymmetric};
const tsi_preconditioner_kind tsi_preconditioner_ic = {TSI_ILU_KIND(TS_PRECONDITIONER_IC, TSI_FIELD_ILU)};
