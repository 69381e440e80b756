#include "fluid.h"

#include <math.h>
#include <stdio.h>

#include "message.h"
#include "platform.h"
#include "progress.h"
#include "reports.h"

void report_begin(const work_report *w) {
  const ts_fluid_info *info = &w->s->info;
  const ts_fluid_parameters *p = &w->s->parameters;
  const double reynolds = simulation_reynolds(w->s);
  printf("scene       %s: %s\n", (w->s->options.scene)->name, (w->s->options.scene)->text);
  printf("grid        %d x %d cells of %.4g m, %d of them fluid; %s\n", (int)info->width, (int)info->height,
         info->cell_size, (int)info->fluid_cells,
         info->layout == TS_FLUID_LAYOUT_STAGGERED ? "staggered" : "collocated");
  printf("backend     %s: %s", w->s->device.backend, w->s->device.device);
  if (w->options->run.verbosity) printf("; %.1f MB on the device", 1e-6 * (double)info->bytes_device);
  putchar('\n');
  printf("step        %.4g s, viscosity %.4g m^2/s", p->time_step, p->viscosity);
  if (isfinite(reynolds)) printf(", Reynolds number %.4g", reynolds);
  printf("; %s\n", p->advection == TS_FLUID_ADVECTION_MACCORMACK ? "MacCormack" : "semi-Lagrangian");
  if (!w->options->run.verbosity) return;
  const pressure_choice pressure = pressure_of(&p->pressure);
  printf("pressure    %s, %d %s per step", pressure_name(pressure.solver), pressure.iterations,
         pressure.solver == PRESSURE_MULTIGRID ? "cycles" : "iterations");
  if (pressure_has_cycles(pressure.solver)) printf(", %d levels", info->levels);
  printf("%s\n", p->pressure.zero_start ? ", start from 0" : "");
}

void report_frame(const work_report *w) {
  const program_options *o = w->options;
  const frame_report *f = &w->frames[w->frame_count - 1];
  if (o->run.json || o->run.quiet || (!o->run.verbosity && !platform_is_terminal(stdout))) return;
  progress_clear();
  if (w->frame_count == 1)
    printf("frame    step     time  divergence before   and after   step ms   draw ms\n");
  printf("%5d  %6d  %7.3f  %17.3e  %10.3e  %8.2f", w->frame_count, f->last.steps, f->last.time,
         f->last.divergence_before, f->last.divergence_after, 1e3 * f->seconds / w->steps_per_frame);
  if (isfinite(f->draw))
    printf("  %8.2f\n", 1e3 * f->draw);
  else
    printf("  %8s\n", "-");
  fflush(stdout);
}

int report_end(const work_report *w) {
  const program_options *o = w->options;
  double steps = 0, draw = 0;
  for (int k = 0; k < w->frame_count; k++) {
    steps += w->frames[k].seconds;
    if (isfinite(w->frames[k].draw)) draw += w->frames[k].draw;
  }
  const int count = w->frame_count * w->steps_per_frame;
  printf("result      %d frames of %d step%s", w->frame_count, w->steps_per_frame,
         w->steps_per_frame == 1 ? "" : "s");
  if (w->frame_count) {
    const frame_report *f = &w->frames[w->frame_count - 1];
    printf(", %.4g s of simulated time", f->last.time);
    printf("; %.1f frames per second\n", w->frame_count / w->total);
    if (o->run.verbosity && isfinite(f->last.divergence_before))
      printf("divergence  %.3e 1/s before the last projection, %.3e after it\n", f->last.divergence_before,
             f->last.divergence_after);
    printf("seconds     prepare %.3f, steps %.3f (%.2f ms each), draw %.3f", w->prepare, steps,
           1e3 * steps / count, draw);
    if (w->drawn && o->run.verbosity) printf(" (fields: %s)", w->drawn);
    putchar('\n');
  } else {
    putchar('\n');
  }
  if (o->run.picture)
    printf("picture     %s, %d x %d pixels\n", message_safe(o->run.picture), w->picture_width,
           w->picture_height);
  if (o->run.video)
    printf("video       %s, %d x %d pixels\n", message_safe(o->run.video), w->picture_width, w->picture_height);
  if (o->run.frames_dir)
    printf("frames      %s/frame-00000.png ..., %d x %d pixels\n", message_safe(o->run.frames_dir),
           w->picture_width, w->picture_height);
  if (o->profile) printf("profile     %s\n", message_safe(o->profile));
  return message_flush_stdout();
}

/* ---- JSON ---- */

static json_t *multigrid(const ts_multigrid_desc *m) {
  return json_pack("{s:s, s:s, s:s, s:s, s:i, s:i}", "smoother", ts_smoother_name(m->smoother), "storage",
                   ts_grid_storage_name(m->storage), "interpolation", ts_interpolation_name(m->interpolation),
                   "cycle", ts_cycle_name(m->cycle), "pre", m->pre, "post", m->post);
}

static json_t *parameters(const simulation *s) {
  const ts_fluid_parameters *p = &s->parameters;
  const pressure_choice pressure = pressure_of(&p->pressure);
  return json_pack("{s:o, s:o, s:o, s:o, s:o, s:[o, o], s:o, s:o, s:o, s:s, s:s, s:i, s:o, s:b, s:o}",
                   "time_step", report_number(p->time_step), "viscosity", report_number(p->viscosity),
                   "reynolds", report_number(simulation_reynolds(s)), "buoyancy", report_number(p->buoyancy),
                   "smoke_weight", report_number(p->smoke_weight), "gravity", report_number(p->gravity[0]),
                   report_number(p->gravity[1]), "vorticity_confinement",
                   report_number(p->vorticity_confinement), "dye_decay", report_number(p->dye_decay),
                   "temperature_decay", report_number(p->temperature_decay), "advection",
                   p->advection == TS_FLUID_ADVECTION_MACCORMACK ? "maccormack" : "semi-lagrangian", "solver",
                   pressure_name(pressure.solver), "iterations", pressure.iterations, "tolerance",
                   report_number(pressure.tolerance), "cold_start", p->pressure.zero_start, "multigrid",
                   multigrid(&p->multigrid));
}

json_t *report_simulation_json(const simulation *s) {
  const ts_fluid_info *info = &s->info;
  const simulation_options *o = &s->options;
  json_t *const object = json_object();
  int lost = !object;
#define PUT(key, value) lost |= json_object_set_new(object, key, value)
  PUT("scene", json_string((s->options.scene)->name));
  PUT("size", json_pack("[i, i]", (int)info->width, (int)info->height));
  PUT("cell_size", report_number(info->cell_size));
  PUT("fluid_cells", json_integer(info->fluid_cells));
  PUT("layout", json_string(info->layout == TS_FLUID_LAYOUT_STAGGERED ? "staggered" : "collocated"));
  PUT("backend", json_string(s->device.backend));
  PUT("device", json_string(s->device.device));
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
  for (int k = 0; k < TS_FLUID_STAGE_COUNT; k++)
    lost |=
        json_object_set_new(object, ts_fluid_stage_name((ts_fluid_stage)k), report_milliseconds(seconds[k]));
  lost |= json_object_set_new(object, "draw", report_milliseconds(draw));
  lost |= json_object_set_new(object, "steps", report_milliseconds(total));
  if (!lost) return object;
  json_decref(object);
  return NULL;
}

static json_t *frame(const frame_report *f, int probed) {
  json_t *object = json_pack(
      "{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:i}", "step", f->last.steps, "time", report_number(f->last.time),
      "milliseconds", stages(f->stages, f->draw, f->seconds), "divergence_before",
      report_number(f->last.divergence_before), "divergence_after", report_number(f->last.divergence_after),
      "largest_divergence_after", report_number(f->last.largest_after), "largest_speed",
      report_number(f->last.largest_speed), "cycles", f->iterations);
  if (object && probed)
    json_object_set_new(object, "probe",
                        json_pack("[o, o]", report_number(f->probe[0]), report_number(f->probe[1])));
  return object;
}

static json_t *total(const work_report *w) {
  double sum[TS_FLUID_STAGE_COUNT] = {0}, draw = 0, steps = 0;
  int iterations = 0;
  for (int k = 0; k < w->frame_count; k++) {
    const frame_report *f = &w->frames[k];
    for (int stage = 0; stage < TS_FLUID_STAGE_COUNT; stage++) sum[stage] += f->stages[stage];
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
  lost |= json_object_set_new(object, "stopped", json_boolean(w->stopped));
  lost |= json_object_set_new(object, "finite", json_boolean(!w->s->broken));
  lost |= json_object_set_new(object, "frames", frames);
  lost |= json_object_set_new(object, "total", total(w));
  return report_print(object, lost);
}
