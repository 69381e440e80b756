/* A step of a fluid:
 *
 *   advection   u carried along itself; MacCormack corrects it by carrying the result back
 *   forces      gravity, buoyancy, vorticity confinement, sources
 *   viscosity   (I - nu dt laplace) u = u, per component (fluid_viscosity.c)
 *   pressure    -laplace p = -(1 / dt) div u from the pressure of the last step (fluid_pressure.c)
 *   projection  u = u - dt grad p
 *   transport   dye, temperature and particles along the new u
 *
 * No operation writes the vector that it reads. A field is updated by exchanging its two vectors. Prescribed
 * faces keep their value in every operation. */
#include <math.h>

#include "common/core/core.h"
#include "fluid_object.h"

enum { all_measures = TS_FLUID_MEASURE_DIVERGENCE | TS_FLUID_MEASURE_TIMES };

static void exchange(ts_vector **a, ts_vector **b) {
  ts_vector *c = *a;
  *a = *b;
  *b = c;
}

/* ---- Stages: called between tsi_enter and tsi_leave, except those that solve ---- */

static ts_status advect(ts_fluid *f) {
  const tsi_ops *ops = f->context->ops;
  const float dt = (float)f->parameters.time_step;
  TSI_TRY(ops->fluid->advect(&f->domain, f->velocity_next, f->velocity, f->prescribed, dt));
  if (f->parameters.advection == TS_FLUID_ADVECTION_MACCORMACK) {
    TSI_TRY(
        ops->fluid->correct(&f->domain, f->velocity_third, f->velocity, f->prescribed, f->velocity_next, dt));
    exchange(&f->velocity_next, &f->velocity_third);
  }
  exchange(&f->velocity, &f->velocity_next);
  return TS_OK;
}

static ts_status add_forces(ts_fluid *f) {
  const tsi_ops *ops = f->context->ops;
  const ts_fluid_parameters *p = &f->parameters;
  const double dt = p->time_step;
  const tsi_fluid_forces forces = {.gravity = {(float)(dt * p->gravity[0]), (float)(dt * p->gravity[1])},
                                   .buoyancy = (float)(dt * p->buoyancy),
                                   .smoke_weight = (float)(dt * p->smoke_weight),
                                   .confinement = (float)(dt * p->vorticity_confinement * f->cell_size)};
  const int confines = forces.confinement != 0;
  if (confines || forces.gravity[0] != 0 || forces.gravity[1] != 0 || forces.buoyancy != 0 ||
      forces.smoke_weight != 0) {
    if (confines) TSI_TRY(ops->fluid->vorticity(&f->domain, f->vorticity, f->velocity, f->walls));
    TSI_TRY(ops->fluid->forces(&f->domain, f->velocity_next, f->velocity, f->prescribed, f->dye,
                               confines ? f->vorticity : NULL, &forces));
    exchange(&f->velocity, &f->velocity_next);
  }
  return tsi_fluid_apply_sources(f, 1);
}

static ts_status diverge(ts_fluid *f, int measures) {
  const tsi_ops *ops = f->context->ops;
  const float scale = (float)(-1 / f->parameters.time_step);
  TSI_TRY(ops->fluid->divergence(&f->domain, f->right, f->velocity, f->walls, f->compatibility, scale));
  if (!measures) return TS_OK;
  TSI_TRY(ops->reduce(f->slots, TSI_FLUID_NORM_BEFORE, TSI_REDUCE_NORM2, f->right, f->right));
  return ops->reduce(f->slots, TSI_FLUID_LARGEST_BEFORE, TSI_REDUCE_MAX_ABS, f->right, f->right);
}

static ts_status project(ts_fluid *f, int measures) {
  const tsi_ops *ops = f->context->ops;
  const float dt = (float)f->parameters.time_step;
  TSI_TRY(ops->fluid->project(&f->domain, f->velocity_next, f->velocity, f->prescribed, f->pressure, dt));
  exchange(&f->velocity, &f->velocity_next);
  if (!measures) return TS_OK;
  TSI_TRY(ops->fluid->divergence(&f->domain, f->divergence, f->velocity, f->walls, f->compatibility, 1));
  TSI_TRY(ops->reduce(f->slots, TSI_FLUID_NORM_AFTER, TSI_REDUCE_NORM2, f->divergence, f->divergence));
  TSI_TRY(ops->reduce(f->slots, TSI_FLUID_LARGEST_AFTER, TSI_REDUCE_MAX_ABS, f->divergence, f->divergence));
  /* The right-hand side is free for reuse. */
  TSI_TRY(ops->fluid->speed(&f->domain, f->right, f->velocity, f->walls));
  TSI_TRY(ops->reduce(f->slots, TSI_FLUID_NORM_SPEED, TSI_REDUCE_NORM2, f->right, f->right));
  return ops->reduce(f->slots, TSI_FLUID_LARGEST_SPEED, TSI_REDUCE_MAX_ABS, f->right, f->right);
}

static ts_status transport(ts_fluid *f) {
  const tsi_ops *ops = f->context->ops;
  const ts_fluid_parameters *p = &f->parameters;
  const double dt = p->time_step;
  const tsi_fluid_transport plain = {(float)dt, 1, 1};
  const tsi_fluid_transport decaying = {(float)dt, (float)exp(-dt * p->dye_decay),
                                        (float)exp(-dt * p->temperature_decay)};
  if (p->advection == TS_FLUID_ADVECTION_MACCORMACK) {
    TSI_TRY(ops->fluid->transport(&f->domain, f->dye_third, f->dye, f->velocity, f->walls, NULL, &plain));
    TSI_TRY(
        ops->fluid->transport(&f->domain, f->dye_next, f->dye, f->velocity, f->walls, f->dye_third, &decaying));
  } else {
    TSI_TRY(ops->fluid->transport(&f->domain, f->dye_next, f->dye, f->velocity, f->walls, NULL, &decaying));
  }
  exchange(&f->dye, &f->dye_next);
  TSI_TRY(tsi_fluid_apply_sources(f, 0));
  if (!f->particles) return TS_OK;
  const tsi_fluid_particles step = {(float)dt, (float)f->lifetime, ++f->seed};
  TSI_TRY(ops->fluid->particles(&f->domain, f->particles_next, f->particles, f->velocity, f->walls, &step));
  exchange(&f->particles, &f->particles_next);
  return TS_OK;
}

/* ---- Measures ---- */

/* Returns TS_NOT_CONVERGED if a field contains NaN or infinity. */
static ts_status read_measures(ts_fluid *f, ts_fluid_result *result) {
  double values[TSI_FLUID_SLOTS][4]; /* one component is used */
  TSI_TRY(tsi_scalars_read(f->slots, 0, TSI_FLUID_SLOTS, values[0]));
  const double root = sqrt((double)f->info.fluid_cells), dt = f->parameters.time_step;
  result->divergence_before = dt * values[TSI_FLUID_NORM_BEFORE][0] / root;
  result->largest_before = dt * values[TSI_FLUID_LARGEST_BEFORE][0];
  result->divergence_after = values[TSI_FLUID_NORM_AFTER][0] / root;
  result->largest_after = values[TSI_FLUID_LARGEST_AFTER][0];
  result->largest_speed = values[TSI_FLUID_LARGEST_SPEED][0];
  /* A maximum may ignore a NaN; a sum does not. */
  const double all = result->divergence_before + result->divergence_after + values[TSI_FLUID_NORM_SPEED][0] +
                     values[TSI_FLUID_NORM_DYE][0];
  return isfinite(all) ? TS_OK : TS_NOT_CONVERGED;
}

/* ---- The step ---- */

static ts_status create_missing(ts_fluid *f) {
  const ts_vector_desc two = {.components = 2}, four = {.components = 4};
  const int corrects = f->parameters.advection == TS_FLUID_ADVECTION_MACCORMACK;
  if (corrects && !f->velocity_third) TSI_TRY(ts_vector_create(f->points, &two, &f->velocity_third));
  if (corrects && !f->dye_third) TSI_TRY(ts_vector_create(f->cells, &four, &f->dye_third));
  if (f->parameters.vorticity_confinement != 0 && !f->vorticity)
    TSI_TRY(ts_vector_create(f->cells, NULL, &f->vorticity));
  return TS_OK;
}

static ts_status run_stage(ts_fluid *f, ts_fluid_stage stage, int measures, ts_fluid_result *result) {
  ts_context *context = f->context;
  /* Solvers are public objects, and enter the context themselves. */
  if (stage == TS_FLUID_STAGE_VISCOSITY) return tsi_fluid_viscosity_solve(f);
  if (stage == TS_FLUID_STAGE_PRESSURE) return tsi_fluid_pressure_solve(f, result);
  TSI_TRY(tsi_enter(context));
  switch (stage) {
  case TS_FLUID_STAGE_ADVECTION:
    return tsi_leave(context, advect(f));
  case TS_FLUID_STAGE_FORCES:
    return tsi_leave(context, add_forces(f));
  case TS_FLUID_STAGE_PROJECTION:
    return tsi_leave(context, project(f, measures));
  default:
    return tsi_leave(context, transport(f));
  }
}

static ts_status step(ts_fluid *f, int measure, ts_fluid_result *result) {
  ts_context *context = f->context;
  const int divergence = (measure & TS_FLUID_MEASURE_DIVERGENCE) != 0;
  const int times = (measure & TS_FLUID_MEASURE_TIMES) != 0;
  TSI_TRY(create_missing(f));
  if (times) TSI_TRY(ts_context_finish(context));
  for (int stage = 0; stage < TS_FLUID_STAGE_COUNT; stage++) {
    if (stage == TS_FLUID_STAGE_PRESSURE) { /* counted with the projection */
      const double begun = tsi_seconds();
      TSI_TRY(tsi_enter(context));
      TSI_TRY(tsi_leave(context, diverge(f, divergence)));
      if (times) TSI_TRY(ts_context_finish(context));
      result->seconds[TS_FLUID_STAGE_PROJECTION] += tsi_seconds() - begun;
    }
    const double begun = tsi_seconds();
    TSI_TRY(run_stage(f, (ts_fluid_stage)stage, divergence, result));
    if (times) TSI_TRY(ts_context_finish(context));
    result->seconds[stage] += tsi_seconds() - begun;
  }
  if (!divergence) return TS_OK;
  TSI_TRY(tsi_enter(context));
  ts_status status = context->ops->reduce(f->slots, TSI_FLUID_NORM_DYE, TSI_REDUCE_NORM2, f->dye, f->dye);
  if (status == TS_OK) status = read_measures(f, result);
  return tsi_leave(context, status);
}

ts_status ts_fluid_step(ts_fluid *fluid, int measure, ts_fluid_result *result) {
  TSI_BEGIN(fluid, fluid->context);
  ts_context *context = fluid->context;
  if (measure & ~all_measures)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "measure is %d, which has unknown flags", measure);
  ts_fluid_result own;
  if (!result) result = &own;
  *result = (ts_fluid_result){.divergence_before = NAN,
                              .divergence_after = NAN,
                              .largest_before = NAN,
                              .largest_after = NAN,
                              .largest_speed = NAN};
  const uint64_t count_before = context->host_synchronisations;
  const size_t before = context->bytes_device;
  tsi_stay_begin(context);
  const ts_status status = tsi_stay_end(context, step(fluid, measure, result));
  fluid->info.bytes_device += context->bytes_device - before;
  if (status < 0) return status;
  if (!(measure & TS_FLUID_MEASURE_TIMES))
    for (int k = 0; k < TS_FLUID_STAGE_COUNT; k++) result->seconds[k] = 0;
  fluid->time += fluid->parameters.time_step;
  fluid->steps++;
  result->time = fluid->time;
  result->steps = fluid->steps;
  result->host_synchronisations = (int)(context->host_synchronisations - count_before);
  return status;
}
