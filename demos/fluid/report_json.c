#include <math.h>
#include <stdio.h>

#include "message.h"
#include "report.h"

/* JSON has no NaN and no infinity. */
static json_t *number(double value) {
  return isfinite(value) ? json_real(value) : json_null();
}

static json_t *multigrid(const ts_multigrid_desc *m) {
  return json_pack("{s:s, s:s, s:s, s:s, s:i, s:i}", "smoother", ts_smoother_name(m->smoother), "storage",
                   ts_grid_storage_name(m->storage), "interpolation", ts_interpolation_name(m->interpolation),
                   "cycle", ts_cycle_name(m->cycle), "pre", m->pre, "post", m->post);
}

static json_t *parameters(const simulation *s) {
  const ts_fluid_parameters *p = simulation_parameters(s);
  return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:i, s:b, s:o}", "time_step",
                   number(p->time_step), "viscosity", number(p->viscosity), "reynolds",
                   number(simulation_reynolds(s)), "buoyancy", number(p->buoyancy), "smoke_weight",
                   number(p->smoke_weight), "vorticity_confinement", number(p->vorticity_confinement),
                   "dye_decay", number(p->dye_decay), "temperature_decay", number(p->temperature_decay),
                   "advection", p->advection == TS_FLUID_MACCORMACK ? "maccormack" : "semi-lagrangian",
                   "solver", ts_fluid_solver_name(p->solver), "iterations", p->iterations, "cold_start",
                   p->cold_start, "multigrid", multigrid(&p->multigrid));
}

json_t *report_simulation_json(const simulation *s) {
  const ts_fluid_info *info = simulation_info(s);
  const simulation_options *o = simulation_get_options(s);
  ts_context_info device = {.backend = "", .device = ""};
  ts_context_get_info(simulation_context(s), &device);
  json_t *const object = json_object();
  int lost = !object;
#define PUT(key, value) lost |= json_object_set_new(object, key, value)
  PUT("scene", json_string(scene_name(simulation_scene(s))));
  PUT("size", json_pack("[i, i]", (int)info->width, (int)info->height));
  PUT("cell_size", number(info->cell_size));
  PUT("fluid_cells", json_integer(info->fluid_cells));
  PUT("layout", json_string(info->layout == TS_FLUID_STAGGERED ? "staggered" : "collocated"));
  PUT("backend", json_string(device.backend));
  PUT("device", json_string(device.device));
  PUT("bytes_device", json_integer((json_int_t)info->bytes_device));
  PUT("levels", json_integer(info->levels));
  PUT("walls", o->walls ? json_string(o->walls) : json_null());
  PUT("outlet_closed", json_boolean(info->outlet_closed));
  PUT("inflow", number(info->inflow));
  PUT("incompatible", number(info->incompatible));
  PUT("warning", *simulation_warning(s) ? json_string(simulation_warning(s)) : json_null());
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
    lost |= json_object_set_new(object, ts_fluid_stage_name((ts_fluid_stage)k), number(1e3 * seconds[k]));
  lost |= json_object_set_new(object, "draw", number(1e3 * draw));
  lost |= json_object_set_new(object, "steps", number(1e3 * total));
  if (!lost) return object;
  json_decref(object);
  return NULL;
}

static json_t *frame(const frame_report *f, int probed) {
  json_t *object = json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:i}", "step", f->step, "time",
                             number(f->time), "milliseconds", stages(f->stages, f->draw, f->seconds),
                             "divergence_before", number(f->divergence_before), "divergence_after",
                             number(f->divergence_after), "largest_divergence_after", number(f->largest_after),
                             "largest_speed", number(f->largest_speed), "cycles", f->iterations);
  if (object && probed)
    json_object_set_new(object, "probe", json_pack("[o, o]", number(f->probe[0]), number(f->probe[1])));
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
                   stages(sum, draw, steps), "prepare_milliseconds", number(1e3 * w->prepare), "seconds",
                   number(w->total), "frames_per_second",
                   number(w->total > 0 ? w->frame_count / w->total : NAN));
}

int report_json(const work_report *w) {
  json_t *object = report_simulation_json(w->s), *frames = json_array();
  const int probed = isfinite(w->options->probe[0]);
  int lost = !object;
  for (int k = 0; k < w->frame_count; k++) lost |= json_array_append_new(frames, frame(&w->frames[k], probed));
  lost |= json_object_set_new(object, "steps_per_frame", json_integer(w->steps_per_frame));
  lost |= json_object_set_new(object, "drawn", w->drawn ? json_string(w->drawn) : json_null());
  lost |= json_object_set_new(object, "finite", json_boolean(!simulation_broken(w->s)));
  lost |= json_object_set_new(object, "frames", frames);
  lost |= json_object_set_new(object, "total", total(w));
  if (!lost) lost = json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
  putchar('\n');
  json_decref(object);
  if (message_flush_stdout()) return -1;
  if (lost) message("out of memory, or a file name that is not UTF-8: no JSON object");
  return lost ? -1 : 0;
}
