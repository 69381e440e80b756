/* A fluid's parameters: names, defaults and validation. */
#include <math.h>
#include <string.h>

#include "common/core/core.h"
#include "fluid_object.h"

#define CASE_TEXT(name, value, text)                                                                           \
  case name:                                                                                                   \
    return text;

const char *ts_fluid_boundary_name(ts_fluid_boundary_kind kind) {
  switch (kind) { TS_FLUID_BOUNDARY_LIST(CASE_TEXT) }
  return NULL;
}

int ts_fluid_boundary_from_name(const char *name) {
  for (int k = 0; name && ts_fluid_boundary_name((ts_fluid_boundary_kind)k); k++)
    if (strcmp(name, ts_fluid_boundary_name((ts_fluid_boundary_kind)k)) == 0) return k;
  return -1;
}

const char *ts_fluid_stage_name(ts_fluid_stage stage) {
#define STAGE_TEXT(name, text) text,
  static const char *const names[] = {TS_FLUID_STAGE_LIST(STAGE_TEXT)};
  return (int)stage >= 0 && stage < TS_FLUID_STAGE_COUNT ? names[stage] : NULL;
}

void ts_fluid_default_parameters(ts_fluid_parameters *parameters) {
  if (parameters) *parameters = (ts_fluid_parameters){.time_step = 1.0 / 60};
}

static ts_status check_finite(ts_context *context, const char *name, double value) {
  if (isfinite((float)value)) return TS_OK;
  return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "%s is %g; it must be a number in single precision", name,
                  value);
}

static ts_status check_not_negative(ts_context *context, const char *name, double value) {
  if (value >= 0 && isfinite((float)value)) return TS_OK;
  return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "%s is %g; it must be finite and not negative", name,
                  value);
}

ts_status tsi_fluid_check_parameters(ts_context *context, const ts_fluid_parameters *p) {
  if (!(p->time_step >= 1e-9 && p->time_step <= 1e3))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "time_step is %g s; it must be 1e-9 to 1000 s, and 1/60 s is usual", p->time_step);
  TSI_TRY(check_not_negative(context, "viscosity", p->viscosity));
  TSI_TRY(check_finite(context, "buoyancy", p->buoyancy));
  TSI_TRY(check_finite(context, "smoke_weight", p->smoke_weight));
  TSI_TRY(check_finite(context, "gravity[0]", p->gravity[0]));
  TSI_TRY(check_finite(context, "gravity[1]", p->gravity[1]));
  TSI_TRY(check_finite(context, "vorticity_confinement", p->vorticity_confinement));
  TSI_TRY(check_not_negative(context, "dye_decay", p->dye_decay));
  TSI_TRY(check_not_negative(context, "temperature_decay", p->temperature_decay));
  if ((int)p->advection < TS_FLUID_ADVECTION_AUTO || p->advection > TS_FLUID_ADVECTION_MACCORMACK)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "advection is %d, not a ts_fluid_advection",
                    p->advection);
  if (p->pressure.preconditioner || p->pressure.transposed)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "pressure.%s is set; it must be NULL",
                    p->pressure.preconditioner ? "preconditioner" : "transposed");
  if (p->pressure.fixed_iterations > 1000)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "pressure.fixed_iterations is %d; it must be 1 to 1000, or 0 for the default",
                    p->pressure.fixed_iterations);
  TSI_TRY(tsi_check_reserved(context, "pressure.", p->pressure.reserved, sizeof p->pressure.reserved));
  TSI_TRY(tsi_check_reserved(context, "multigrid.", p->multigrid.reserved, sizeof p->multigrid.reserved));
  return tsi_check_reserved(context, "parameters.", p->reserved, sizeof p->reserved);
}

ts_status ts_fluid_get_parameters(const ts_fluid *fluid, ts_fluid_parameters *parameters) {
  TSI_BEGIN(fluid, fluid->context);
  TSI_REQUIRE(fluid->context, parameters);
  *parameters = fluid->parameters;
  return TS_OK;
}

ts_status ts_fluid_set_parameters(ts_fluid *fluid, const ts_fluid_parameters *parameters) {
  TSI_BEGIN(fluid, fluid->context);
  ts_context *context = fluid->context;
  TSI_REQUIRE(context, parameters);
  TSI_TRY(tsi_fluid_check_parameters(context, parameters));
  const size_t before = context->bytes_device;
  tsi_stay_begin(context);
  TSI_TRY(tsi_stay_end(context, tsi_fluid_pressure_change(fluid, parameters)));
  fluid->parameters = *parameters;
  fluid->info.bytes_device += context->bytes_device - before;
  return TS_OK;
}
