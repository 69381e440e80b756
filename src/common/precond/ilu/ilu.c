/* TS_PRECONDITIONER_ILU and TS_PRECONDITIONER_IC: M^-1 r = D_c Q U^-1 D^-1 L^-1 P D_r r with incomplete factors
 * L D U of the matrix in another order and scaling, which is internal. For IC, U = L^T, Q = P^T and D_c = D_r.
 *
 * Factors are computed on the host in double precision from the host copy. Each rank factorises the square part
 * of its rows, so M is block Jacobi between ranks. Triangular systems are solved on the host or on the device.
 * The device solves exactly, if the backend supports it and it is quicker, or by sweeps. */
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
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "scaling is %d, not a ts_scaling", (int)desc->scaling);
  if (desc->sweeps < 0 || desc->sweeps > 32)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "sweeps is %d; it must be 0 to 32", desc->sweeps);
  if (desc->levels < -1 || desc->levels > 100)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "levels is %d; it must be -1 to 100", desc->levels);
  if (desc->levels != 0 && (desc->fill != 0 || desc->drop_tolerance != 0))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "levels is %d and fill or drop_tolerance is set; entries are selected by one or the other",
                    desc->levels);
  return TS_OK;
}

static void destroy_parts(ts_context *context, tsi_ilu *parts) {
  tsi_ilu_sweeps_destroy(&parts->sweeps);
  if (parts->device) {
    tsi_enter_to_destroy(context);
    context->ops->ilu->destroy(context, parts->device);
    tsi_leave(context, TS_OK);
  }
  tsi_ilu_free(context, parts);
  tsi_free(context, parts->numbers);
  tsi_free(context, parts->floats);
  tsi_free(context, parts);
}

static void destroy(ts_preconditioner *M) {
  destroy_parts(M->context, M->state);
}

/* ---- Where triangular systems are solved ---- */

/* Host times in nanoseconds: waiting for r and copying r and z; then one core's time per row and per entry. */
static const double host_wait = 30000, host_row = 8, host_entry = 1;

/* The device processes one level after the other. */
static int is_for_device(const ts_context *context, const tsi_ilu *made) {
  const double levels = (double)made->levels[0].count + (double)made->levels[1].count;
  return context->tuning.ilu_level_nanoseconds * levels <
         host_wait + host_row * made->order.n + host_entry * made->entries;
}

/* If the device lacks memory for the factors, the host keeps them. */
static ts_status move_to_device(ts_context *context, tsi_ilu *made) {
  TSI_TRY(tsi_enter(context));
  const ts_status status = tsi_leave(context, context->ops->ilu->create(context, made));
  if (status == TS_ERROR_OUT_OF_DEVICE_MEMORY) {
    tsi_log(context, TS_LOG_LEVEL_WARNING, "%s; triangular systems are solved on the host", context->error);
    tsi_clear_error(context);
    return TS_OK;
  }
  TSI_TRY(status);
  tsi_ilu_rows_free(context, &made->factors.lower);
  tsi_ilu_rows_free(context, &made->factors.upper);
  return TS_OK;
}

static ts_status place_factors(const ts_preconditioner *M, tsi_ilu *made) {
  ts_context *context = M->context;
  if (M->desc.sweeps) return tsi_ilu_sweeps_create(M->matrix, &made->order, &made->factors, &made->sweeps);
  if (!context->ops->ilu) return TS_OK;
  TSI_TRY(tsi_ilu_levels_create(context, &made->factors.lower, made->order.n, 0, &made->levels[0]));
  TSI_TRY(tsi_ilu_levels_create(context, &made->factors.upper, made->order.n, 1, &made->levels[1]));
  if (is_for_device(context, made)) TSI_TRY(move_to_device(context, made));
  for (int k = 0; k < 2; k++) {
    made->level_counts[k] = made->levels[k].count;
    tsi_ilu_levels_free(context, &made->levels[k]);
  }
  tsi_log(context, TS_LOG_LEVEL_INFO, "%s: triangles of %d and %d levels, solved on the %s",
          ts_preconditioner_kind_name(M->desc.kind), made->level_counts[0], made->level_counts[1],
          made->device ? "device" : "host");
  return TS_OK;
}

/* ---- The functions of the kinds ---- */

/* Creates new factors, so that a failure leaves the old ones unchanged. */
static ts_status build_anew(ts_preconditioner *M) {
  ts_context *context = M->context;
  tsi_ilu *made = tsi_calloc(context, 1, sizeof *made);
  if (!made) return tsi_out_of_memory(context, "a preconditioner", sizeof *made);
  ts_status status = tsi_ilu_build(M, made);
  if (status == TS_OK) status = place_factors(M, made);
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
  const int sweeps = M->desc.sweeps;
  const double levels_a_pass = 4; /* a pass takes a few microseconds */
  cost->operations = sweeps ? 3 + 2 * sweeps : 2;
  if (parts->device) cost->operations += (parts->level_counts[0] + parts->level_counts[1]) / levels_a_pass;
  double found[] = {cost->operations, !sweeps && !parts->device};
  if (M->matrix->all_rows) TSI_TRY(M->context->ops->ranks->largest(M->context, found, 2));
  cost->operations = found[0];
  cost->waits = found[1] > 0;
  return tsi_preconditioner_products(M, (sweeps ? sweeps : 1) * parts->entries + parts->order.n,
                                     &cost->products);
}

/* A singular matrix has a pivot of 0. Its replacement makes the factors amplify the rounding errors of r. All
 * ranks get the same answer. */
static int disappoints(const ts_preconditioner *M, char *why, size_t size) {
  const tsi_ilu *parts = M->state;
  const tsi_ranks_ops *ranks = M->context->ops->ranks;
  const int is_far = parts->factors.shifted > 0 && !(parts->error <= 1);
  double disappointed = M->matrix->info.zero_diagonal_row < 0 && is_far;
  if (M->matrix->all_rows && ranks->largest(M->context, &disappointed, 1) < 0) return 0;
  if (disappointed == 0) return 0;
  snprintf(why, size, "the matrix is nearly singular: ilu replaced %d pivots, and its error is %.2g",
           parts->factors.shifted, parts->error);
  return 1;
}

static ts_status prepare_device(ts_context *context, tsi_ilu *parts, int components) {
  TSI_TRY(tsi_enter(context));
  parts->components = 0;
  TSI_TRY(tsi_leave(context, context->ops->ilu->prepare(context, parts->device, components)));
  parts->components = components;
  return TS_OK;
}

static ts_status prepare(const ts_preconditioner *M, int components) {
  tsi_ilu *parts = M->state;
  const size_t count = (size_t)parts->order.n * (size_t)components;
  if (M->desc.sweeps) return tsi_ilu_sweeps_prepare(M->matrix, components, &parts->sweeps);
  if (parts->components == components) return TS_OK;
  if (parts->device) return prepare_device(M->context, parts, components);
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

/* Writes all parts of z: if A is ill-conditioned and z is rounded to floats, A z is far from r. Rounding r does
 * not have this effect. */
static ts_status apply(const ts_preconditioner *M, ts_vector *z, const ts_vector *r) {
  const tsi_ilu *parts = M->state;
  if (M->desc.sweeps) return apply_sweeps(M, z, r);
  if (parts->device) return M->context->ops->ilu->apply(parts->device, z, r);
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
