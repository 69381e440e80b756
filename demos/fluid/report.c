#include "report.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "message.h"

static const char *solver_unit(ts_fluid_solver solver) {
  return solver == TS_FLUID_MULTIGRID ? "cycles" : "iterations";
}

void report_begin(const work_report *w) {
  const ts_fluid_info *info = &w->s->info;
  const ts_fluid_parameters *p = &w->s->parameters;
  const double reynolds = simulation_reynolds(w->s);
  ts_context_info device;
  printf("scene       %s: %s\n", (w->s->options.scene)->name, (w->s->options.scene)->text);
  printf("grid        %d x %d cells of %.4g m, %d of them fluid; %s\n", (int)info->width, (int)info->height,
         info->cell_size, (int)info->fluid_cells,
         info->layout == TS_FLUID_STAGGERED ? "staggered" : "collocated");
  if (ts_context_get_info(w->s->context, &device) == TS_OK)
    printf("backend     %s: %s; %.1f MB on the device\n", device.backend, device.device,
           1e-6 * (double)info->bytes_device);
  printf("step        %.4g s, viscosity %.4g m^2/s", p->time_step, p->viscosity);
  if (isfinite(reynolds)) printf(", Reynolds number %.4g", reynolds);
  printf("; %s\n", p->advection == TS_FLUID_MACCORMACK ? "MacCormack" : "semi-Lagrangian");
  printf("pressure    %s, %d %s a step", ts_fluid_solver_name(p->solver), p->iterations,
         solver_unit(p->solver));
  if (p->solver == TS_FLUID_MULTIGRID || p->solver == TS_FLUID_MULTIGRID_CG)
    printf(", %d levels", info->levels);
  printf("%s\n", p->cold_start ? ", from 0" : "");
}

void report_frame(const work_report *w) {
  const program_options *o = w->options;
  const frame_report *f = &w->frames[w->frame_count - 1];
  if (o->json || o->quiet || (!o->verbosity && !isatty(STDOUT_FILENO))) return;
  if (w->frame_count == 1)
    printf("frame    step     time  divergence before   and after   step ms   draw ms\n");
  printf("%5d  %6d  %7.3f  %17.3e  %10.3e  %8.2f", w->frame_count, f->step, f->time, f->divergence_before,
         f->divergence_after, 1e3 * f->seconds / w->steps_per_frame);
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
    printf(", %.4g s of the fluid", f->time);
    printf("; %.1f frames per second\n", w->frame_count / w->total);
    printf("divergence  %.3e 1/s before the last projection, %.3e after it\n", f->divergence_before,
           f->divergence_after);
    printf("seconds     prepare %.3f, steps %.3f (%.2f ms each), draw %.3f", w->prepare, steps,
           1e3 * steps / count, draw);
    if (w->drawn) printf(" (fields: %s)", w->drawn);
    putchar('\n');
  } else {
    putchar('\n');
  }
  if (o->screenshot)
    printf("picture     %s, %d x %d pixels\n", o->screenshot, w->picture_width, w->picture_height);
  if (o->video) printf("video        %s, %d x %d pixels\n", o->video, w->picture_width, w->picture_height);
  if (o->frames_dir)
    printf("frames      %s/frame-00000.png ..., %d x %d pixels\n", o->frames_dir, w->picture_width,
           w->picture_height);
  if (o->profile) printf("profile     %s\n", o->profile);
  return message_flush_stdout();
}
