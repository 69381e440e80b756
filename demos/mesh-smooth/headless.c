/* mesh-smooth without a window: makes steps, then writes files. */
#include <stdio.h>
#include <stdlib.h>

#include "drawing.h"
#include "interrupt.h"
#include "message.h"
#include "output_file.h"
#include "platform.h"
#include "progress.h"
#include "mesh_smooth.h"

enum { default_steps = 10 };

/* Discrete smooth interpolation needs a single solve. */
static int is_dsi(const program_options *o) {
  return o->smoother.method == SMOOTHER_DSI;
}

/* ---- Outputs ---- */

static int check_outputs(const program_options *o, int *made_directory) {
  char why[MESH_MESSAGE];
  *made_directory = 0;
  if (o->output && mesh_file_can_write(o->output, why)) return progress_fail(why);
  if (output_check(o->output, o->load.path) || output_check(o->run.picture, o->load.path)) return -1;
  return output_check_directory(o->run.frames_dir, made_directory);
}

/* ---- Work ---- */

typedef struct headless_work {
  work_report report;
  load_report loaded;
  smoother *s;
  drawing *d;  /* NULL if no picture is requested */
  int stopped; /* a signal ended the run early */
} headless_work;

static int draw(headless_work *w, const char *path, double *seconds) {
  char why[MESH_MESSAGE];
  const double begin = seconds_now();
  if (drawing_make(w->d, path, why)) return progress_fail(why);
  *seconds = seconds_now() - begin;
  w->report.seconds.draw += *seconds;
  w->report.drawn = drawing_way(w->d);
  return 0;
}

static int draw_frame(headless_work *w, int number, double *seconds) {
  char path[4096];
  const char *directory = w->report.options->run.frames_dir;
  if (!directory) return 0;
  if (snprintf(path, sizeof path, "%s/frame-%05d.png", directory, number) >= (int)sizeof path) {
    message("%.80s...: the name is too long", directory);
    return -1;
  }
  return draw(w, path, seconds);
}

static int prepare(const program_options *o, headless_work *w) {
  char why[MESH_MESSAGE];
  const double begin = seconds_now();
  if (open_smoother(o, &w->loaded, &w->s)) return -1;
  w->report.smoother = w->s;
  if ((o->run.picture || o->run.frames_dir) &&
      drawing_open(w->s, &o->look, o->run.picture_width, o->run.picture_height, &w->d, why))
    return progress_fail(why);
  w->report.seconds.read = w->loaded.seconds;
  w->report.seconds.prepare = seconds_now() - begin - w->loaded.seconds;
  return 0;
}

/* Stops at a step that fails. The last report describes the failure. */
static int make_steps(const program_options *o, headless_work *w) {
  char why[MESH_MESSAGE];
  double seconds;
  const int steps = o->steps >= 0 ? o->steps : is_dsi(o) ? 1 : default_steps;
  w->report.steps = calloc((size_t)steps + 1, sizeof *w->report.steps);
  if (!w->report.steps) {
    message("out of memory for %d steps", steps);
    return -1;
  }
  if (draw_frame(w, 0, &seconds)) return -1;
  progress_begin("smoothing");
  interrupt_begin();
  for (int k = 0; k < steps && !interrupt_is_asked(); k++) {
    step_report *r = &w->report.steps[k];
    progress_step((double)k / steps, "step %d of %d", k + 1, steps);
    if (smoother_step(w->s, 1, 1, r, why)) return progress_fail(why);
    w->report.step_count++;
    w->report.seconds.matrix += r->seconds_matrix;
    w->report.seconds.setup += r->seconds_setup;
    w->report.seconds.solve += r->seconds_solve;
    if (!r->substeps) {
      report_step(&w->report, r);
      break;
    }
    if (draw_frame(w, k + 1, &r->seconds_draw)) return -1;
    if (o->run.picture && k + 1 == steps && draw(w, o->run.picture, &r->seconds_draw)) return -1;
    if (!is_dsi(o)) report_step(&w->report, r);
    if (r->substeps > 1)
      message_note("step %d was split into %d parts: %s", r->number, r->substeps, r->message);
  }
  progress_clear();
  w->stopped = interrupt_is_asked() && w->report.step_count < steps;
  /* Otherwise the last step has drawn the picture already. */
  const int all = w->report.step_count == steps && steps && w->report.steps[steps - 1].substeps;
  return o->run.picture && !all ? draw(w, o->run.picture, &seconds) : 0;
}

static int write_mesh(const program_options *o, headless_work *w) {
  char why[MESH_MESSAGE];
  mesh m;
  const double begin = seconds_now();
  progress_begin("writing %.50s", o->output);
  int failed = smoother_current_mesh(w->s, &m, why);
  if (!failed) {
    failed = mesh_file_write(o->output, &m, why);
    mesh_destroy(&m);
  }
  if (failed) message("%s", why);
  w->report.seconds.write = seconds_now() - begin;
  progress_clear();
  return failed ? -1 : 0;
}

static int work(const program_options *o, headless_work *w) {
  /* Properties of an interpolation's system are known only after the solve. So its report begins later, and is
   * omitted if the solve is refused. */
  const int reports = !o->run.json && !o->run.quiet;
  if (reports && !is_dsi(o)) report_begin(&w->report);
  if (make_steps(o, w)) return EXIT_ERROR;
  if (reports && is_dsi(o)) {
    report_begin(&w->report);
    if (w->report.step_count) report_step(&w->report, &w->report.steps[0]);
  }
  if (o->output && write_mesh(o, w)) return EXIT_ERROR;
  if (o->run.json ? report_json(&w->report) : !o->run.quiet && report_end(&w->report)) return EXIT_ERROR;
  if (w->stopped) {
    message("%s: stopped after %d steps", w->loaded.name, w->report.step_count);
    return EXIT_NOT_MADE;
  }
  const step_report *last = w->report.step_count ? &w->report.steps[w->report.step_count - 1] : NULL;
  if (last && is_dsi(o) && !last->converged && !o->smoother.cg_iterations) {
    if (interrupt_is_asked())
      message("%s: stopped after %d iterations at a residual of %.1e", w->loaded.name, last->iterations,
              last->relative_residual);
    else
      message("%s: not converged: %s", w->loaded.name, last->message);
    return EXIT_NOT_MADE;
  }
  if (!last || last->substeps) return EXIT_MADE;
  message("%s: step %d failed: %s", w->loaded.name, last->number, last->message);
  return EXIT_NOT_MADE;
}

int run_headless(const program_options *o) {
  headless_work w = {.report = {.options = o, .loaded = &w.loaded}};
  int made_directory;
  if (check_outputs(o, &made_directory)) return EXIT_ERROR;
  int status = EXIT_ERROR;
  if (!prepare(o, &w)) {
    status = work(o, &w);
    made_directory = 0;
  }
  progress_clear();
  drawing_close(&w.d);
  smoother_destroy(&w.s);
  free(w.report.steps);
  if (made_directory) platform_remove_directory(o->run.frames_dir);
  return status;
}
