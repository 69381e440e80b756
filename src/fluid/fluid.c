/* A fluid: its descriptor, its vectors, its queries, and additions to it. */
#include "common/core/core.h"
#include "fluid_object.h"

/* ---- The descriptor ---- */

static ts_status fluid_validate(ts_context *context, const ts_fluid_desc *desc) {
  if (!context->ops->fluid)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED, "backend %s does not support fluids", context->backend_name);
  if (desc->width < 4)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "width is %d; a fluid needs at least 4 x 4 cells",
                    desc->width);
  if (desc->height < 4)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "height is %d; a fluid needs at least 4 x 4 cells",
                    desc->height);
  if (((int64_t)desc->width + 1) * ((int64_t)desc->height + 1) > INT32_MAX / 16)
    return tsi_fail(context, TS_ERROR_LIMIT, "a fluid of %d x %d cells is too large", desc->width,
                    desc->height);
  if (desc->cell_size != 0 && !(desc->cell_size >= 1e-9 && desc->cell_size <= 1e9))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "cell_size is %g m; it must be 1e-9 to 1e9 m, or 0 for the default", desc->cell_size);
  if ((int)desc->layout < TS_FLUID_LAYOUT_AUTO || desc->layout > TS_FLUID_LAYOUT_COLLOCATED)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "layout is %d, not a ts_fluid_layout", desc->layout);
  TSI_TRY(tsi_check_reserved(context, "", desc->reserved, sizeof desc->reserved));
  return desc->parameters ? tsi_fluid_check_parameters(context, desc->parameters) : TS_OK;
}

static void set_domain(ts_fluid *fluid, const ts_fluid_desc *desc) {
  const ts_fluid_boundary boundaries[4] = {desc->left, desc->right, desc->bottom, desc->top};
  fluid->cell_size = desc->cell_size > 0 ? desc->cell_size : 1.0 / desc->height;
  fluid->domain = (tsi_fluid_domain){.width = desc->width,
                                     .height = desc->height,
                                     .cell_size = (float)fluid->cell_size,
                                     .layout = desc->layout ? desc->layout : TS_FLUID_LAYOUT_STAGGERED};
  tsi_fluid_set_domain_boundaries(&fluid->domain, boundaries);
  if (desc->parameters)
    fluid->parameters = *desc->parameters;
  else
    ts_fluid_default_parameters(&fluid->parameters);
  fluid->info = (ts_fluid_info){.width = desc->width,
                                .height = desc->height,
                                .cell_size = fluid->cell_size,
                                .layout = fluid->domain.layout};
}

/* ---- Parts ---- */

static ts_status create_vectors(ts_fluid *fluid) {
  const struct {
    ts_vector **vector;
    ts_space *space;
    int components;
  } vectors[] = {{&fluid->velocity, fluid->points, 2},   {&fluid->velocity_next, fluid->points, 2},
                 {&fluid->prescribed, fluid->points, 2}, {&fluid->walls, fluid->cells, 2},
                 {&fluid->dye, fluid->cells, 4},         {&fluid->dye_next, fluid->cells, 4},
                 {&fluid->pressure, fluid->cells, 1},    {&fluid->right, fluid->cells, 1},
                 {&fluid->divergence, fluid->cells, 1}};
  for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++)
    TSI_TRY(ts_vector_create(vectors[k].space, &(ts_vector_desc){.components = vectors[k].components},
                             vectors[k].vector));
  return TS_OK;
}

static ts_status create_parts(ts_fluid *fluid, const ts_fluid_desc *desc) {
  ts_context *context = fluid->context;
  const tsi_fluid_domain *d = &fluid->domain;
  const size_t cells = (size_t)d->width * (size_t)d->height;
  fluid->solid = tsi_malloc(context, cells, 1);
  fluid->solid_velocity = tsi_malloc(context, 2 * cells, sizeof(float));
  if (!fluid->solid || !fluid->solid_velocity)
    return tsi_out_of_memory(context, "the walls of a fluid", cells * (1 + 2 * sizeof(float)));
  tsi_fluid_copy_walls(fluid, desc->solid, desc->solid_velocity);
  TSI_TRY(
      ts_grid_create(context, &(ts_grid_desc){.width = d->width + 1, .height = d->height + 1}, &fluid->points));
  TSI_TRY(ts_grid_create(
      context,
      &(ts_grid_desc){
          .width = d->width, .height = d->height, .periodic_x = d->periodic_x, .periodic_y = d->periodic_y},
      &fluid->cells));
  TSI_TRY(create_vectors(fluid));
  TSI_TRY(ts_scalars_create(context, &(ts_scalars_desc){.count = TSI_FLUID_SLOTS}, &fluid->slots));
  TSI_TRY(tsi_fluid_build(fluid));
  return tsi_fluid_set_at_rest(fluid);
}

ts_status ts_fluid_create(ts_context *context, const ts_fluid_desc *desc, ts_fluid **out) {
  TSI_BEGIN(context, context);
  TSI_REQUIRE(context, out);
  *out = NULL;
  TSI_REQUIRE(context, desc);
  TSI_TRY(fluid_validate(context, desc));
  ts_fluid *fluid = tsi_calloc(context, 1, sizeof *fluid);
  if (!fluid) return tsi_out_of_memory(context, "a fluid", sizeof *fluid);
  const size_t before = context->bytes_device;
  fluid->context = context;
  set_domain(fluid, desc);
  const ts_fluid_boundary boundaries[4] = {desc->left, desc->right, desc->bottom, desc->top};
  ts_status status = tsi_fluid_check_boundaries(context, boundaries);
  if (status == TS_OK)
    status = tsi_fluid_check_walls(context, &fluid->domain, desc->solid, desc->solid_velocity);
  tsi_stay_begin(context);
  if (status == TS_OK) status = create_parts(fluid, desc);
  tsi_stay_end(context, status);
  if (status < 0) {
    ts_fluid_destroy(&fluid);
    return status;
  }
  fluid->info.bytes_device = context->bytes_device - before;
  *out = fluid;
  return TS_OK;
}

void ts_fluid_destroy(ts_fluid **out) {
  if (!out || !*out) return;
  ts_fluid *fluid = *out;
  tsi_stay_begin(fluid->context);
  tsi_fluid_pressure_destroy(&fluid->solver);
  tsi_fluid_viscosity_destroy(&fluid->viscosity);
  ts_vector **vectors[] = {&fluid->velocity,  &fluid->velocity_next, &fluid->velocity_third,
                           &fluid->dye,       &fluid->dye_next,      &fluid->dye_third,
                           &fluid->pressure,  &fluid->right,         &fluid->divergence,
                           &fluid->walls,     &fluid->prescribed,    &fluid->compatibility,
                           &fluid->vorticity, &fluid->particles,     &fluid->particles_next};
  for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++) ts_vector_destroy(vectors[k]);
  ts_scalars_destroy(&fluid->slots);
  ts_space_destroy(&fluid->cells);
  ts_space_destroy(&fluid->points);
  tsi_stay_end(fluid->context, TS_OK);
  tsi_free(fluid->context, fluid->solid);
  tsi_free(fluid->context, fluid->solid_velocity);
  tsi_free(fluid->context, fluid->prescribed_host);
  tsi_free(fluid->context, fluid);
  *out = NULL;
}

/* ---- Queries ---- */

ts_status ts_fluid_get_info(const ts_fluid *fluid, ts_fluid_info *info) {
  TSI_BEGIN(fluid, fluid->context);
  TSI_REQUIRE(fluid->context, info);
  *info = fluid->info;
  return TS_OK;
}

ts_vector *ts_fluid_get_velocity(ts_fluid *fluid) {
  return fluid ? fluid->velocity : NULL;
}
ts_vector *ts_fluid_get_pressure(ts_fluid *fluid) {
  return fluid ? fluid->pressure : NULL;
}
ts_vector *ts_fluid_get_divergence(ts_fluid *fluid) {
  return fluid ? fluid->divergence : NULL;
}
ts_vector *ts_fluid_get_dye(ts_fluid *fluid) {
  return fluid ? fluid->dye : NULL;
}
ts_vector *ts_fluid_get_walls(ts_fluid *fluid) {
  return fluid ? fluid->walls : NULL;
}
ts_vector *ts_fluid_get_particles(ts_fluid *fluid) {
  return fluid ? fluid->particles : NULL;
}
