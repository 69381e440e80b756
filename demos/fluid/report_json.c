#include <math.h>

#include "report.h"
#include "reports.h"

static json_t *multigrid(const ts_multigrid_desc *m) {
  return json_pack("{s:s, s:s, s:s, s:s, s:i, s:i}", "smoother", ts_smoother_name(m->smoother), "storage",
                   ts_grid_storage_name(m->storage), "interpolation", ts_interpolation_name(m->interpolation),
                   "cycle", ts_cycle_name(m->cycle), "pre", m->pre, "post", m->post);
}

static json_t *parameters(const simulation *s) {
  const ts_fluid_parameters *p = &s->parameters;
  return json_pack(
      "{s:o, s:o, s:o, s:o, s:o, s:[o, o], s:o, s:o, s:o, s:s, s:s, s:i, s:o, s:b, s:o}", "time_step",
      report_number(p->time_step), "viscosity", report_number(p->viscosity), "reynolds",
      report_number(simulation_reynolds(s)), "buoyancy", report_number(p->buoyancy), "smoke_weight",
      report_number(p->smoke_weight), "gravity", report_number(p->gravity[0]), report_number(p->gravity[1]),
      "vorticity_confinement", report_number(p->vorticity_confinement), "dye_decay",
      report_number(p->dye_decay), "temperature_decay", report_number(p->temperature_decay), "advection",
      p->advection == TS_FLUID_MACCORMACK ? "maccormack" : "semi-lagrangian", "solver",
      ts_fluid_solver_name(p->solver), "iterations", p->iterations, "tolerance", report_number(p->tolerance),
      "cold_start", p->cold_start, "multigrid", multigrid(&p->multigrid));
}

json_t *report_simulation_json(const simulation *s) {
  const ts_fluid_info *info = &s->info;
  const simulation_options *o = &s->options;
  ts_context_info device = {.backend = "", .device = ""};
  ts_context_get_info(s->context, &device);
  json_t *const object = json_object();
  int lost = !object;
#define PUT(key, value) lost |= json_object_set_new(object, key, value)
  PUT("scene", json_string((s->options.scene)->name));
  PUT("size", json_pack("[i, i]", (int)info->width, (int)info->height));
  PUT("cell_size", report_number(info->cell_size));
  PUT("fluid_cells", json_integer(info->fluid_cells));
  PUT("layout", json_string(info->layout == TS_FLUID_STAGGERED ? "staggered" : "collocated"));
  PUT("backend", json_string(device.backend));
  PUT("device", json_string(device.device));
  PUT("bytes_device", json_integer((json_int_t)info->bytes_device));
  PUT("levels", json_integer(info->levels));
  PUT("walls", report_text(o->walls));
  PUT("outlet_closed", json_boolean(info->outlet_closed));
  PUT("inflow", report_number(info->inflow));
  PUT("incompatible", report_number(info->incompatible));
  PUT("warning", *s->warning ? json_string(s->warning) : json_null());
  PUT("parameters", parameters(s));
#undef PUT
  if (!lost) return object;
  json_decref(object);
  return NULL;
}

static json_t *stages(const double *seconds, double draw, double total) {
  json_t *object = json_object();
  int lost = !object;
  for (int k = 0; k < TS_FLUID_STAGES; k++)
    lost |=
        json_object_set_new(object, ts_fluid_stage_name((ts_fluid_stage)k), report_milliseconds(seconds[k]));
  lost |= json_object_set_new(object, "draw", report_milliseconds(draw));
  lost |= json_object_set_new(object, "steps", report_milliseconds(total));
  if (!lost) return object;
  json_decref(object);
  return NULL;
}

static json_t *frame(const frame_report *f, int probed) {
  json_t *object =
      json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:i}", "step", f->step, "time", report_number(f->time),
                "milliseconds", stages(f->stages, f->draw, f->seconds), "divergence_before",
                report_number(f->divergence_before), "divergence_after", report_number(f->divergence_after),
                "largest_divergence_after", report_number(f->largest_after), "largest_speed",
                report_number(f->largest_speed), "cycles", f->iterations);
  if (object && probed)
    json_object_set_new(object, "probe",
                        json_pack("[o, o]", report_number(f->probe[0]), report_number(f->probe[1])));
  return object;
}

static json_t *total(const work_report *w) {
  double sum[TS_FLUID_STAGES] = {0}, draw = 0, steps = 0;
  int iterations = 0;
  for (int k = 0; k < w->frame_count; k++) {
    const frame_report *f = &w->frames[k];
    for (int stage = 0; stage < TS_FLUID_STAGES; stage++) sum[stage] += f->stages[stage];
    if (isfinite(f->draw)) draw += f->draw;
    steps += f->seconds;
    iterations += f->iterations;
  }
  return json_pack("{s:i, s:i, s:i, s:o, s:o, s:o, s:o}", "frames", w->frame_count, "steps",
                   w->frame_count * w->steps_per_frame, "cycles", iterations, "milliseconds",
                   stages(sum, draw, steps), "prepare_milliseconds", report_milliseconds(w->prepare), "seconds",
                   report_number(w->total), "frames_per_second",
                   report_number(w->total > 0 ? w->frame_count / w->total : NAN));
}

int report_json(const work_report *w) {
  json_t *object = report_simulation_json(w->s), *frames = json_array();
  const int probed = isfinite(w->options->probe[0]);
  int lost = !object;
  for (int k = 0; k < w->frame_count; k++) lost |= json_array_append_new(frames, frame(&w->frames[k], probed));
  lost |= json_object_set_new(object, "steps_per_frame", json_integer(w->steps_per_frame));
  lost |= json_object_set_new(object, "drawn", report_text(w->drawn));
  lost |= json_object_set_new(object, "finite", json_boolean(!w->s->broken));
  lost |= json_object_set_new(object, "frames", frames);
  lost |= json_object_set_new(object, "total", total(w));
  return report_print(object, lost);
}
