/* Multigrid: its descriptor, and the hierarchy of levels (Bolz et al. 2003, section 4). */
#include <string.h>

#include "common/core/array.h"
#include "common/core/core.h"
#include "multigrid.h"

/* ---- The descriptor ---- */

static ts_status check_enumerations(ts_context *context, const ts_multigrid_desc *desc) {
  if (!ts_smoother_name(desc->smoother))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "smoother is %d, not a ts_smoother", desc->smoother);
  if (!ts_grid_storage_name(desc->storage))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "storage is %d, not a ts_grid_storage", desc->storage);
  if (!ts_interpolation_name(desc->interpolation))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "interpolation is %d, not a ts_interpolation",
                    desc->interpolation);
  if (!ts_cycle_name(desc->cycle))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "cycle is %d, not a ts_cycle", desc->cycle);
  return TS_OK;
}

static ts_status check_range(ts_context *context, const char *name, int value, int first, int last) {
  if (value >= first && value <= last) return TS_OK;
  return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "%s is %d; it must be %d to %d", name, value, first,
                  last);
}

static ts_status check_numbers(ts_context *context, const ts_multigrid_desc *desc) {
  TSI_TRY(tsi_check_reserved(context, "", desc->reserved, sizeof desc->reserved));
  TSI_TRY(check_range(context, "pre", desc->pre, 0, 16));
  TSI_TRY(check_range(context, "post", desc->post, 0, 16));
  TSI_TRY(check_range(context, "max_levels", desc->max_levels, 0, TSI_MAX_LEVELS));
  TSI_TRY(check_range(context, "coarsest_sweeps", desc->coarsest_sweeps, 0, 1000));
  if (desc->max_cycles < 0)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "max_cycles is %d, less than 0", desc->max_cycles);
  if (!(desc->damping >= 0 && desc->damping <= 1))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "damping is %g; it must be above 0 and at most 1",
                    desc->damping);
  if (!(desc->rtol >= 0 && desc->rtol < 1))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "rtol is %g; it must be at least 0 and less than 1",
                    desc->rtol);
  return TS_OK;
}

static int is_pointwise(ts_smoother smoother) {
  return smoother == TS_SMOOTHER_JACOBI || smoother == TS_SMOOTHER_CHEBYSHEV;
}

static ts_status resolve_storage(ts_context *context, ts_multigrid_desc *desc) {
  const int pointwise = is_pointwise(desc->smoother);
  if (desc->storage == TS_GRID_STORAGE_AUTO)
    desc->storage = pointwise ? context->caps.pointwise_storage : TS_GRID_STORAGE_PARITIES;
  if (!pointwise && desc->storage != TS_GRID_STORAGE_PARITIES)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED,
                    "the %s smoother cannot use storage %s; Gauss-Seidel needs parities",
                    ts_smoother_name(desc->smoother), ts_grid_storage_name(desc->storage));
  if (context->caps.grid_storages & 1u << desc->storage) return TS_OK;
  char known[64] = "";
  for (int s = 1; ts_grid_storage_name((ts_grid_storage)s); s++) {
    if (!(context->caps.grid_storages & 1u << s)) continue;
    if (known[0]) strcat(known, ", ");
    strcat(known, ts_grid_storage_name((ts_grid_storage)s));
  }
  return tsi_fail(context, TS_ERROR_UNSUPPORTED, "backend %s does not store grids as %s; it has %s",
                  context->backend_name, ts_grid_storage_name(desc->storage), known);
}

static ts_status resolve(ts_context *context, const ts_multigrid_desc *desc, ts_multigrid_desc *out) {
  static const ts_multigrid_desc defaults;
  *out = desc ? *desc : defaults;
  TSI_TRY(check_enumerations(context, out));
  TSI_TRY(check_numbers(context, out));
  if (out->smoother == TS_SMOOTHER_AUTO) out->smoother = TS_SMOOTHER_FOUR_COLOUR;
  if (out->cycle == TS_CYCLE_AUTO) out->cycle = TS_CYCLE_V;
  if (out->interpolation == TS_INTERPOLATION_AUTO) out->interpolation = TS_INTERPOLATION_OPERATOR;
  if (out->pre == 0 && out->post == 0) {
    out->pre = out->smoother == TS_SMOOTHER_JACOBI ? 4 : out->smoother == TS_SMOOTHER_CHEBYSHEV ? 2 : 1;
    out->post = out->smoother == TS_SMOOTHER_JACOBI ? 2 : out->pre;
  }
  if (out->damping == 0) out->damping = 2.0 / 3;
  if (out->max_levels == 0) out->max_levels = TSI_MAX_LEVELS;
  if (out->rtol == 0) out->rtol = 1e-6;
  if (out->max_cycles == 0) out->max_cycles = 100;
  return resolve_storage(context, out);
}

/* ---- The hierarchy ---- */

/* One dimension of a level. */
typedef struct dimension {
  int32_t size;
  int periodic;
  double gap; /* periodic: distance from the last point to the first, in units of the other gaps */
} dimension;

/* grid.h documents when the two points at the seam are merged. */
static void coarsen_dimension(dimension *d) {
  if (!d->periodic) {
    d->size = d->size / 2 + 1;
  } else if (d->size % 2 == 0) {
    d->size /= 2;
    d->gap = (d->gap + 1) / 2;
  } else if (d->size >= 3 && d->gap <= 0.7) {
    d->size /= 2;
    d->gap = 1;
  } else {
    d->size = (d->size + 1) / 2;
    d->gap /= 2;
  }
}

/* Computes the dimensions of the next level. Returns 0 if this level is the coarsest. */
static int coarsen_grid(dimension d[2]) {
  const int64_t points = (int64_t)d[0].size * d[1].size;
  const int32_t width = d[0].size, height = d[1].size;
  const int is_thin = (d[0].periodic && width < 3) || (d[1].periodic && height < 3);
  if (points <= (is_thin ? TSI_INVERSE_POINTS : TSI_COARSEST_POINTS)) return 0;
  coarsen_dimension(&d[0]);
  coarsen_dimension(&d[1]);
  return d[0].size < width || d[1].size < height;
}

static void plan_levels(ts_multigrid *mg) {
  const tsi_grid *g = &mg->matrix->row_space->grid;
  dimension d[2] = {{g->width, g->periodic_x, 1}, {g->height, g->periodic_y, 1}};
  mg->level_count = 0;
  do
    mg->levels[mg->level_count++] = (tsi_level){.context = mg->context,
                                                .grid = {.width = d[0].size,
                                                         .height = d[1].size,
                                                         .periodic_x = g->periodic_x,
                                                         .periodic_y = g->periodic_y},
                                                .storage = mg->desc.storage,
                                                .interpolation = mg->desc.interpolation};
  while (mg->level_count < mg->desc.max_levels && coarsen_grid(d));
  mg->levels[0].matrix = mg->matrix;
  mg->levels[0].five_point = mg->matrix->stencil->five_point;
  tsi_level *coarsest = &mg->levels[mg->level_count - 1];
  const int64_t points = (int64_t)coarsest->grid.width * coarsest->grid.height;
  mg->exact = mg->desc.coarsest_sweeps == 0 && points <= TSI_INVERSE_POINTS;
  coarsest->coarsest = mg->exact;
}

static void destroy_levels(ts_multigrid *mg) {
  while (mg->level_count > 0) mg->context->ops->grid->level_destroy(&mg->levels[--mg->level_count]);
}

static ts_status create_levels(ts_multigrid *mg) {
  plan_levels(mg);
  const int count = mg->level_count;
  for (mg->level_count = 0; mg->level_count < count; mg->level_count++) {
    ts_status status = tsi_poll(mg->context);
    if (status == TS_OK) status = mg->context->ops->grid->level_create(&mg->levels[mg->level_count]);
    if (status == TS_OK) continue;
    destroy_levels(mg);
    return status;
  }
  return TS_OK;
}

/* Computes the matrices of all levels from the values of the stencil. */
static ts_status fill_levels(ts_multigrid *mg) {
  const tsi_ops *ops = mg->context->ops;
  TSI_TRY(ops->grid->level_prepare(&mg->levels[0]));
  for (int l = 1; l < mg->level_count; l++) {
    TSI_TRY(tsi_poll(mg->context));
    TSI_TRY(ops->grid->level_coarsen(&mg->levels[l], &mg->levels[l - 1]));
    TSI_TRY(ops->grid->level_prepare(&mg->levels[l]));
  }
  return mg->exact ? tsi_multigrid_invert_coarsest(mg) : TS_OK;
}

/* ---- Creation and update ---- */

static ts_status multigrid_build(ts_multigrid *mg) {
  ts_vector *vectors[2];
  TSI_TRY(tsi_arena_create(mg->matrix->row_space, 1, 1, vectors, 2, TSI_MG_SLOTS, &mg->slots));
  mg->r = vectors[0];
  mg->low = vectors[1];
  TSI_TRY(create_levels(mg));
  return fill_levels(mg);
}

static void release(ts_multigrid *mg) {
  ts_context *context = mg->context;
  tsi_stay_begin(context);
  tsi_enter_to_destroy(context);
  destroy_levels(mg);
  tsi_matrix_release(mg->matrix);
  tsi_leave(context, TS_OK);
  ts_vector_destroy(&mg->r);
  ts_vector_destroy(&mg->low);
  ts_vector_destroy(&mg->scaled_b);
  ts_vector_destroy(&mg->scaled_x);
  ts_scalars_destroy(&mg->slots);
  tsi_stay_end(context, TS_OK);
  tsi_free(context, mg);
}

ts_status ts_multigrid_create(ts_matrix *stencil, const ts_multigrid_desc *desc, ts_multigrid **multigrid) {
  TSI_BEGIN(stencil, stencil->context);
  ts_context *context = stencil->context;
  TSI_REQUIRE(context, multigrid);
  *multigrid = NULL;
  if (!stencil->stencil)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "the matrix is not a stencil, which multigrid needs; create one with ts_stencil_create");
  if (!context->ops->grid)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED, "backend %s does not support multigrid",
                    context->backend_name);
  ts_multigrid_desc resolved;
  TSI_TRY(resolve(context, desc, &resolved));
  ts_multigrid *mg = tsi_calloc(context, 1, sizeof *mg);
  if (!mg) return tsi_out_of_memory(context, "a solver", sizeof *mg);
  mg->context = context;
  mg->matrix = stencil;
  mg->desc = resolved;
  mg->version = stencil->stencil->version;
  stencil->references++;
  const double start = tsi_seconds();
  const size_t before = context->bytes_device;
  tsi_polls_begin(context);
  ts_status status = tsi_enter(context);
  if (status == TS_OK) status = tsi_leave(context, multigrid_build(mg));
  status = tsi_polls_end(context, status);
  if (status < 0) {
    release(mg);
    return status;
  }
  mg->bytes_device = context->bytes_device - before;
  mg->seconds_setup = tsi_seconds() - start;
  const tsi_level *coarsest = &mg->levels[mg->level_count - 1];
  tsi_log(context, TS_LOG_LEVEL_INFO, "multigrid of %d levels down to %d x %d points: %zu bytes, %.3f s",
          mg->level_count, coarsest->grid.width, coarsest->grid.height, mg->bytes_device, mg->seconds_setup);
  *multigrid = mg;
  return TS_OK;
}

void ts_multigrid_destroy(ts_multigrid **multigrid) {
  if (!multigrid || !*multigrid) return;
  release(*multigrid);
  *multigrid = NULL;
}

static ts_status update(ts_multigrid *mg) {
  if (mg->level_count == 0 || mg->levels[0].five_point != mg->matrix->stencil->five_point) {
    destroy_levels(mg);
    TSI_TRY(create_levels(mg));
  }
  return fill_levels(mg);
}

ts_status ts_multigrid_update(ts_multigrid *multigrid) {
  TSI_REQUIRE(NULL, multigrid);
  ts_context *context = multigrid->context;
  TSI_TRY(tsi_enter(context));
  const double start = tsi_seconds();
  const size_t before = context->bytes_device;
  tsi_polls_begin(context);
  const ts_status status = tsi_polls_end(context, tsi_leave(context, update(multigrid)));
  multigrid->stale = status < 0;
  multigrid->version = multigrid->matrix->stencil->version;
  multigrid->bytes_device += context->bytes_device - before;
  multigrid->seconds_setup = tsi_seconds() - start;
  return status;
}

/* ---- Queries and checks ---- */

ts_status ts_multigrid_get_info(const ts_multigrid *multigrid, ts_multigrid_info *info) {
  TSI_BEGIN(multigrid, multigrid->context);
  TSI_REQUIRE(multigrid->context, info);
  const ts_multigrid_desc *desc = &multigrid->desc;
  const tsi_stencil *stencil = multigrid->matrix->stencil;
  *info = (ts_multigrid_info){.levels = multigrid->level_count,
                              .smoother = desc->smoother,
                              .storage = desc->storage,
                              .interpolation = desc->interpolation,
                              .cycle = desc->cycle,
                              .pre = desc->pre,
                              .post = desc->post,
                              .null_space_components = stencil->part_count,
                              .grounded_points = stencil->grounded,
                              .bytes_device = multigrid->bytes_device,
                              .seconds_setup = multigrid->seconds_setup};
  if (multigrid->level_count) {
    const ts_grid_desc *coarsest = &multigrid->levels[multigrid->level_count - 1].grid;
    info->coarsest_width = coarsest->width;
    info->coarsest_height = coarsest->height;
  }
  return TS_OK;
}

ts_status tsi_multigrid_check_current(const ts_multigrid *mg) {
  if (mg->stale)
    return tsi_fail(mg->context, TS_ERROR_INVALID_ARGUMENT,
                    "the last ts_multigrid_update of this multigrid failed; call it again");
  if (mg->version != mg->matrix->stencil->version)
    return tsi_fail(mg->context, TS_ERROR_INVALID_ARGUMENT,
                    "the stencil has new values; call ts_multigrid_update first");
  return TS_OK;
}

static ts_status read_level(const ts_multigrid *mg, int level, const ts_array *values) {
  ts_context *context = mg->context;
  float *floats = tsi_malloc(context, values->count, sizeof *floats);
  if (!floats) return tsi_out_of_memory(context, "a stencil", values->count * sizeof *floats);
  ts_status status = tsi_enter(context);
  if (status == TS_OK) {
    context->host_synchronisations++;
    status = tsi_leave(context, context->ops->grid->level_read(&mg->levels[level], floats));
  }
  if (status == TS_OK) status = tsi_array_put_floats(context, values, floats);
  tsi_free(context, floats);
  return status;
}

ts_status ts_multigrid_read_level(const ts_multigrid *multigrid, int level, ts_grid_desc *grid,
                                  ts_array values) {
  TSI_BEGIN(multigrid, multigrid->context);
  ts_context *context = multigrid->context;
  TSI_TRY(tsi_multigrid_check_current(multigrid));
  if (level < 0 || level >= multigrid->level_count)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "level is %d; this multigrid has levels 0 to %d", level,
                    multigrid->level_count - 1);
  const ts_grid_desc *size = &multigrid->levels[level].grid;
  if (grid) *grid = *size;
  if (!tsi_is_given(&values)) return TS_OK;
  TSI_TRY(tsi_array_check(context, "values", &values, 9 * (size_t)size->width * (size_t)size->height,
                          TSI_FLOATING, TSI_WRITE));
  return read_level(multigrid, level, &values);
}

static ts_status check_vector(const ts_multigrid *mg, const ts_vector *v, const char *name) {
  TSI_TRY(tsi_check_space(v, mg->matrix->row_space, name, "the solver", "the stencil's grid",
                          "ts_matrix_get_row_space"));
  if (v->components != 1)
    return tsi_fail(mg->context, TS_ERROR_INCOMPATIBLE, "%s has %d components; multigrid supports one", name,
                    v->components);
  return TS_OK;
}

ts_status tsi_multigrid_check_vectors(const ts_multigrid *mg, const ts_vector *b, const ts_vector *x) {
  TSI_TRY(check_vector(mg, b, "b"));
  TSI_TRY(check_vector(mg, x, "x"));
  if (b == x) return tsi_fail(mg->context, TS_ERROR_INVALID_ARGUMENT, "b and x are the same vector");
  return tsi_multigrid_check_current(mg);
}
