/* TS_PRECONDITIONER_ILU: M^-1 r = D_c Q U^-1 D^-1 L^-1 P D_r r with incomplete factors L D U of the matrix in
 * another order and scaling, which nobody outside sees.
 *
 * Factors are computed on the host in double precision from the host copy; of the rows of a rank from their
 * square part, so that M is block Jacobi between ranks. Triangular systems are solved there too, or by sweeps
 * on the device. */
#include "ilu.h"

#include <math.h>

#include "common/core/ranks.h"
#include "common/matrix/csr.h"

typedef struct ilu {
  tsi_ilu_order order;
  tsi_ilu_factors factors;
  ts_scaling scaling;    /* that they were made with */
  double error;          /* of tsi_ilu_error */
  tsi_ilu_sweeps sweeps; /* if the descriptor asks for sweeps; otherwise on the host: */
  int components;        /* of the vectors that there is room for */
  double *numbers;       /* r, then z; as many to work in */
  float *floats;
} ilu;

static const double default_fill = 10, default_drop = 1e-4;
static const double more_fill = 3, less_drop = 0.01; /* of factors that are too far from A */

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

static void free_factors(ts_context *context, ilu *parts) {
  tsi_ilu_factors_free(context, &parts->factors);
  tsi_ilu_order_free(context, &parts->order);
}

static void destroy_parts(ts_context *context, ilu *parts) {
  tsi_ilu_sweeps_destroy(&parts->sweeps);
  free_factors(context, parts);
  tsi_free(context, parts->numbers);
  tsi_free(context, parts->floats);
  tsi_free(context, parts);
}

static void destroy(ts_preconditioner *M) {
  destroy_parts(M->context, M->state);
}

/* ---- Factors ---- */

/* What may be tried. The next ones are if those before are far from A: how far is what applies. */
typedef struct attempt {
  ts_scaling scaling;
  tsi_ilu_limits limits;
} attempt;

static const double good = 0.1, poor = 0.5; /* errors: that is enough; that is a reason for larger factors */

static ts_status factorise_so(const ts_preconditioner *M, const tsi_csr *A, const attempt *how, ilu *made) {
  ts_context *context = M->context;
  const unsigned char *constrained = M->matrix->row_space->constrained;
  tsi_ilu_rows B;
  TSI_TRY(tsi_ilu_order_create(context, A, constrained, how->scaling, &made->order, &B));
  ts_status status = tsi_ilu_factorise(context, &B, &how->limits, &made->order, &made->factors);
  tsi_ilu_rows_free(context, &B);
  if (status == TS_OK)
    status = tsi_ilu_error(context, A, constrained, &made->order, &made->factors, &made->error);
  return status;
}

/* The better of what is there and what comes. */
static ts_status attempt_at(const ts_preconditioner *M, const tsi_csr *A, const attempt *how, ilu *made) {
  ilu other = {0};
  const ts_status status = factorise_so(M, A, how, &other);
  if (status == TS_OK && (!made->order.rows || other.error < made->error)) {
    const ilu before = *made;
    made->order = other.order;
    made->factors = other.factors;
    made->error = other.error;
    made->scaling = how->scaling;
    other = before;
  }
  free_factors(M->context, &other);
  return status;
}

static tsi_ilu_limits limits_of(const ts_preconditioner_desc *desc) {
  const double drop = desc->drop_tolerance;
  return (tsi_ilu_limits){.fill = desc->fill == 0 ? default_fill : desc->fill,
                          .drop = drop == 0    ? default_drop
                                  : drop == -1 ? 0
                                               : drop,
                          .levels = desc->levels == -1 ? 0
                                    : desc->levels > 0 ? desc->levels
                                                       : -1};
}

/* With the diagonal where it is, with a matching, and with larger factors, as far as the descriptor leaves it
 * open. A matching may take what is coupled strongly both ways apart, as convection does on coarse grids. */
static ts_status factorise_entries(const ts_preconditioner *M, const tsi_csr *csr, ilu *made) {
  const ts_preconditioner_desc *desc = &M->desc;
  const int is_open = desc->fill == 0 && desc->drop_tolerance == 0 && desc->levels == 0;
  attempt how = {desc->scaling == TS_SCALING_AUTO ? TS_SCALING_NONE : desc->scaling, limits_of(desc)};
  TSI_TRY(attempt_at(M, csr, &how, made));
  how.scaling = TS_SCALING_MATCHING;
  if (desc->scaling == TS_SCALING_AUTO && !(made->error <= good)) TSI_TRY(attempt_at(M, csr, &how, made));
  how.scaling = made->scaling;
  how.limits.fill *= more_fill;
  how.limits.drop *= less_drop;
  return is_open && !(made->error <= poor) ? attempt_at(M, csr, &how, made) : TS_OK;
}

/* Those that are read back with all their digits are rounded. */
static ts_status round_entries(ts_context *context, tsi_matrix_entries *entries) {
  const size_t count = (size_t)entries->csr.row_offsets[entries->csr.rows];
  if (entries->csr.values) return TS_OK;
  entries->values = tsi_malloc(context, count + 1, sizeof *entries->values);
  if (!entries->values) return tsi_out_of_memory(context, "incomplete factors", 4 * count);
  for (size_t e = 0; e < count; e++) entries->values[e] = (float)entries->doubles[e];
  entries->csr.values = entries->values;
  return TS_OK;
}

static ts_status factorise(const ts_preconditioner *M, ilu *made) {
  tsi_matrix_entries entries = {0};
  const ts_matrix *A = M->matrix;
  TSI_TRY(A->host_copy ? tsi_matrix_stored_copy(A, &entries.csr) : tsi_matrix_read(A, &entries));
  ts_status status = round_entries(M->context, &entries);
  if (status == TS_OK) status = factorise_entries(M, &entries.csr, made);
  tsi_matrix_entries_free(M->context, &entries);
  return status;
}

static void say(const ts_preconditioner *M, const ilu *made) {
  const int32_t n = made->order.n;
  const tsi_ilu_factors *f = &made->factors;
  const double entries = (double)(f->lower.offsets[n] + f->upper.offsets[n]) + n;
  tsi_log(M->context, TS_LOG_LEVEL_INFO, "ilu: %s, %.0f entries, %.2f times those of the matrix%s, error %.2g",
          made->order.is_matched ? "matched and scaled" : "diagonal as it is", entries,
          entries / fmax(1, (double)M->matrix->info.nonzeros),
          f->is_full ? ", which is all that fill allows" : "", made->error);
  if (f->shifted)
    tsi_log(M->context, TS_LOG_LEVEL_WARNING, "ilu: %d pivots of %d were too small and are replaced",
            f->shifted, n);
}

/* New parts, so that after a failure the old ones are as they were. */
static ts_status build_anew(ts_preconditioner *M) {
  ts_context *context = M->context;
  ilu *made = tsi_calloc(context, 1, sizeof *made);
  if (!made) return tsi_out_of_memory(context, "a preconditioner", sizeof *made);
  ts_status status = factorise(M, made);
  if (status == TS_OK && M->desc.sweeps)
    status = tsi_ilu_sweeps_create(M->matrix, &made->order, &made->factors, &made->sweeps);
  if (status < 0) {
    destroy_parts(context, made);
    return status;
  }
  say(M, made);
  if (M->state) destroy(M);
  M->state = made;
  return TS_OK;
}

static ts_status measure(const ts_preconditioner *M, tsi_cost *cost) {
  const ilu *parts = M->state;
  const int32_t n = parts->order.n;
  const int sweeps = M->desc.sweeps;
  const double entries = (double)(parts->factors.lower.offsets[n] + parts->factors.upper.offsets[n]);
  cost->operations = sweeps ? 3 + 2 * sweeps : 2;
  return tsi_preconditioner_products(M, (sweeps ? sweeps : 1) * entries + n, &cost->products);
}

/* A singular matrix has a pivot of 0, and its factors multiply the rounding of r by whatever is there instead.
 * The answer of one rank is that of all. */
static int disappoints(const ts_preconditioner *M, char *why, size_t size) {
  const ilu *parts = M->state;
  const tsi_ranks_ops *ranks = M->context->ops->ranks;
  const int is_far = parts->factors.shifted > 0 && !(parts->error <= 1);
  double disappointed = M->matrix->info.zero_diagonal_row < 0 && is_far;
  if (M->matrix->all_rows && ranks->largest(M->context, &disappointed, 1) < 0) return 0;
  if (disappointed == 0) return 0;
  snprintf(why, size, "the matrix is near a singular one: ilu replaced %d pivots, and its error is %.2g",
           parts->factors.shifted, parts->error);
  return 1;
}

static int is_symmetric(const ts_preconditioner *M) {
  (void)M;
  return 0;
}

static ts_status prepare(const ts_preconditioner *M, int components) {
  ilu *parts = M->state;
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
  return tsi_ilu_sweeps_apply(&((const ilu *)M->state)->sweeps, M->desc.sweeps, z, r);
}

/* All parts of z: if A is ill-conditioned and z is rounded to floats, A z is far from r. Rounding r does no
 * such harm. */
static ts_status apply(const ts_preconditioner *M, ts_vector *z, const ts_vector *r) {
  const ilu *parts = M->state;
  if (M->desc.sweeps) return apply_sweeps(M, z, r);
  const size_t count = (size_t)parts->order.n * (size_t)r->components;
  TSI_TRY(tsi_read_floats(r, parts->floats));
  for (size_t k = 0; k < count; k++) parts->numbers[k] = (double)parts->floats[k];
  tsi_ilu_solve(&parts->order, &parts->factors, r->components, parts->numbers, parts->numbers + count);
  return tsi_write_parts(z, parts->numbers, count, parts->floats);
}

const tsi_preconditioner_kind tsi_preconditioner_ilu = {.kind = TS_PRECONDITIONER_ILU,
                                                        .fields = TSI_FIELD_ILU,
                                                        .is_from_matrix = 1,
                                                        .needs_entries = 1,
                                                        .reads_entries = 1,
                                                        .has_scale = 1,
                                                        .unsymmetric = "ilu is not symmetric, as cg needs",
                                                        .resolve = resolve,
                                                        .create = build_anew,
                                                        .update = build_anew,
                                                        .destroy = destroy,
                                                        .disappoints = disappoints,
                                                        .measure = measure,
                                                        .is_symmetric = is_symmetric,
                                                        .prepare = prepare,
                                                        .writes_low = 1,
                                                        .apply = apply};
