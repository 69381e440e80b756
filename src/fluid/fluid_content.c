/* The contents of a fluid: splats, sources, particles, and clearing. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/core/core.h"
#include "fluid_object.h"

/* ---- Stamps ---- */

/* A stamp that crosses a periodic boundary has images beyond the opposite one. */
static ts_status stamp_all(ts_fluid *fluid, const tsi_fluid_stamp *stamp, int velocity, int dye) {
  const tsi_fluid_domain *d = &fluid->domain;
  const tsi_ops *ops = fluid->context->ops;
  float reach_x, reach_y;
  tsi_fluid_stamp_reach(stamp, &reach_x, &reach_y);
  for (int y = -d->periodic_y; y <= d->periodic_y; y++)
    for (int x = -d->periodic_x; x <= d->periodic_x; x++) {
      tsi_fluid_stamp image = *stamp;
      image.x += (float)(x * d->width);
      image.y += (float)(y * d->height);
      if (image.x + reach_x < 0 || image.x - reach_x > (float)d->width || image.y + reach_y < 0 ||
          image.y - reach_y > (float)d->height)
        continue;
      if (velocity) TSI_TRY(ops->fluid->stamp_velocity(d, fluid->velocity, fluid->prescribed, &image));
      if (dye) TSI_TRY(ops->fluid->stamp_dye(d, fluid->dye, &image));
    }
  return TS_OK;
}

static int all_finite(const float *values, int count) {
  for (int k = 0; k < count; k++)
    if (!isfinite(values[k])) return 0;
  return 1;
}

/* Checks that a place is finite in single precision, and near enough that cells are distinguishable. */
static ts_status check_place(ts_context *context, double x, double y) {
  if (fabs(x) <= 1e12 && fabs(y) <= 1e12) return TS_OK;
  return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "the position (%g, %g) is not finite", x, y);
}

ts_status ts_fluid_splat(ts_fluid *fluid, double x, double y, double radius, const float velocity[2],
                         const float dye[3], float temperature) {
  TSI_BEGIN(fluid, fluid->context);
  ts_context *context = fluid->context;
  TSI_TRY(check_place(context, x, y));
  if (!(radius > 0 && radius <= 1e12))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "radius is %g m; it must be positive and finite",
                    radius);
  if (velocity && !all_finite(velocity, 2))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "velocity is (%g, %g) m/s; it must be finite",
                    (double)velocity[0], (double)velocity[1]);
  if (dye && !all_finite(dye, 3))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "dye is (%g, %g, %g); it must be finite",
                    (double)dye[0], (double)dye[1], (double)dye[2]);
  if (!isfinite(temperature))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "temperature is %g; it must be finite",
                    (double)temperature);
  const double h = fluid->cell_size;
  tsi_fluid_stamp stamp = {.x = (float)(x / h), .y = (float)(y / h), .half_width = (float)(radius / h)};
  if (velocity) memcpy(stamp.velocity, velocity, sizeof stamp.velocity);
  if (dye) memcpy(stamp.dye, dye, 3 * sizeof *dye);
  stamp.dye[3] = temperature;
  TSI_TRY(tsi_enter(context));
  return tsi_leave(context, stamp_all(fluid, &stamp, velocity != NULL, dye || temperature != 0));
}

/* ---- Sources ---- */

static ts_status check_source(ts_context *context, const ts_fluid_source *s, int k) {
  TSI_TRY(check_place(context, (double)s->x, (double)s->y));
  if (!(s->half_width > 0 && s->half_width <= 1e12f))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "half_width of source %d is %g m; it must be positive and finite", k,
                    (double)s->half_width);
  if (!(s->half_height >= 0 && s->half_height <= 1e12f))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "half_height of source %d is %g m; it must be finite and not negative", k,
                    (double)s->half_height);
  if (!all_finite(s->dye, 3) || !all_finite(s->velocity, 2) || !isfinite(s->temperature))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "dye, velocity or temperature of source %d is not finite", k);
  char prefix[32];
  snprintf(prefix, sizeof prefix, "sources[%d].", k);
  return tsi_check_reserved(context, prefix, s->reserved, sizeof s->reserved);
}

ts_status ts_fluid_set_sources(ts_fluid *fluid, const ts_fluid_source *sources, int count) {
  TSI_BEGIN(fluid, fluid->context);
  ts_context *context = fluid->context;
  if (count < 0 || count > TS_FLUID_MAX_SOURCES)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "count is %d; a fluid has 0 to %d sources", count,
                    TS_FLUID_MAX_SOURCES);
  if (count > 0) TSI_REQUIRE(context, sources);
  for (int k = 0; k < count; k++) TSI_TRY(check_source(context, &sources[k], k));
  if (count > 0) memcpy(fluid->sources, sources, (size_t)count * sizeof *sources);
  fluid->source_count = count;
  return TS_OK;
}

ts_status tsi_fluid_apply_sources(ts_fluid *fluid, int velocity) {
  const float h = fluid->domain.cell_size;
  for (int k = 0; k < fluid->source_count; k++) {
    const ts_fluid_source *s = &fluid->sources[k];
    const int dye = s->sets_dye || s->sets_temperature;
    const tsi_fluid_stamp stamp = {.sets = 1,
                                   .sets_color = s->sets_dye,
                                   .sets_temperature = s->sets_temperature,
                                   .x = s->x / h,
                                   .y = s->y / h,
                                   .half_width = s->half_width / h,
                                   .half_height = s->half_height / h,
                                   .velocity = {s->velocity[0], s->velocity[1]},
                                   .dye = {s->dye[0], s->dye[1], s->dye[2], s->temperature}};
    if (velocity ? s->sets_velocity : dye) TSI_TRY(stamp_all(fluid, &stamp, velocity, !velocity));
  }
  return TS_OK;
}

/* ---- Particles ---- */

/* Spreads particles evenly. Their ages are also spread, so that they do not all restart at once. */
static ts_status spread_particles(ts_fluid *fluid) {
  ts_context *context = fluid->context;
  const tsi_grid *g = &fluid->particles->space->grid;
  const size_t count = (size_t)g->width * (size_t)g->height;
  float *values = tsi_malloc(context, 4 * count, sizeof *values);
  if (!values) return tsi_out_of_memory(context, "particles", 4 * count * sizeof *values);
  const double h = fluid->cell_size;
  for (size_t k = 0; k < count; k++) {
    const size_t i = k % (size_t)g->width, j = k / (size_t)g->width;
    values[4 * k] = (float)(((double)i + 0.5) / g->width * fluid->domain.width * h);
    values[4 * k + 1] = (float)(((double)j + 0.5) / g->height * fluid->domain.height * h);
    values[4 * k + 2] = (float)(0.75 * fluid->lifetime * (tsi_fluid_hash((uint32_t)k) >> 8) * ldexp(1, -24));
    values[4 * k + 3] = 0;
  }
  const ts_status status = tsi_vector_write_floats(fluid->particles, values);
  tsi_free(context, values);
  return status;
}

static ts_status set_particles(ts_fluid *fluid, int32_t width, int32_t height, double lifetime) {
  ts_context *context = fluid->context;
  const size_t before = context->bytes_device;
  ts_vector *particles = NULL, *next = NULL;
  if (width > 0) {
    ts_space *grid = NULL;
    const ts_vector_desc four = {.components = 4};
    TSI_TRY(ts_grid_create(context, &(ts_grid_desc){.width = width, .height = height}, &grid));
    ts_status status = ts_vector_create(grid, &four, &particles);
    if (status == TS_OK) status = ts_vector_create(grid, &four, &next);
    ts_space_destroy(&grid); /* the vectors retain it */
    if (status < 0) {
      ts_vector_destroy(&particles);
      return status;
    }
  }
  ts_vector_destroy(&fluid->particles);
  ts_vector_destroy(&fluid->particles_next);
  fluid->particles = particles;
  fluid->particles_next = next;
  fluid->lifetime = lifetime;
  fluid->info.bytes_device += context->bytes_device - before;
  return particles ? spread_particles(fluid) : TS_OK;
}

ts_status ts_fluid_set_particles(ts_fluid *fluid, int32_t width, int32_t height, double lifetime) {
  TSI_BEGIN(fluid, fluid->context);
  ts_context *context = fluid->context;
  if (width < 0 || height < 0 || (width == 0) != (height == 0))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "%d x %d particles; both numbers are positive, or both 0 for none", width, height);
  if (!(lifetime >= 0 && lifetime <= 1e6))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "lifetime is %g s; it must be 0 (for ever) to 1e6 s",
                    lifetime);
  tsi_stay_begin(context);
  return tsi_stay_end(context, set_particles(fluid, width, height, lifetime));
}

/* ---- The beginning ---- */

static ts_status reset(ts_fluid *fluid) {
  TSI_TRY(ts_vector_fill(fluid->dye, 0));
  TSI_TRY(ts_vector_fill(fluid->pressure, 0));
  TSI_TRY(ts_vector_fill(fluid->divergence, 0));
  TSI_TRY(tsi_fluid_set_at_rest(fluid));
  if (fluid->particles) TSI_TRY(spread_particles(fluid));
  fluid->time = 0;
  fluid->steps = 0;
  fluid->seed = 0;
  return TS_OK;
}

ts_status ts_fluid_reset(ts_fluid *fluid) {
  TSI_REQUIRE(NULL, fluid);
  tsi_stay_begin(fluid->context);
  return tsi_stay_end(fluid->context, reset(fluid));
}
