/* mesh-param without a window: computes a map, then writes files. */
#include <stdio.h>

#include "drawing.h"
#include "interrupt.h"
#include "mesh_file.h"
#include "message.h"
#include "output_file.h"
#include "progress.h"
#include "mesh_param.h"

static int check_outputs(const program_options *o) {
  char why[MESH_MESSAGE];
  if (o->output && mesh_file_can_write_textured(o->output, why)) return progress_fail(why);
  return output_check(o->output, o->load.path) || output_check(o->run.picture, o->load.path) ? -1 : 0;
}

/* Each pass has its own residual. */
static int show_progress(const ts_progress *progress, void *user) {
  (void)user;
  if (progress->count)
    progress_step(-1, "iteration %d, residual of this pass %.1e", progress->iteration,
                  progress->history[progress->count - 1]);
  return interrupt_is_asked();
}

static int solve(const program_options *o, ts_context *context, flattening *f, flattening_places *places,
                 conformal_result *result, work_report *report) {
  char why[MESH_MESSAGE];
  conformal_options conformal = o->conformal;
  conformal.progress = show_progress;
  const double begin = seconds_now();
  progress_begin("solving");
  interrupt_begin();
  const int failed = flattening_solve(f, context, &conformal, o->run.picture ? places : NULL, result, why);
  progress_clear();
  report->seconds.solve = seconds_now() - begin;
  if (interrupt_is_asked() && !result->converged) snprintf(result->message, sizeof result->message, "stopped");
  if (failed) message("%s: %s", report->loaded->name, why);
  return failed ? -1 : 0;
}

static int write_files(const program_options *o, ts_context *context, const flattening *f,
                       flattening_places *places, work_report *report) {
  char why[MESH_MESSAGE];
  double begin = seconds_now();
  if (o->output) progress_begin("writing %.50s", o->output);
  if (o->output && flattening_write(f, o->output, why)) return progress_fail(why);
  report->seconds.write = seconds_now() - begin;
  begin = seconds_now();
  if (o->run.picture) progress_begin("drawing");
  if (o->run.picture && drawing_save(f, context, places, o->gl.platform, &o->look, o->run.picture_width,
                                     o->run.picture_height, o->run.picture, &report->drawn, why))
    return progress_fail(why);
  report->seconds.draw = seconds_now() - begin;
  progress_clear();
  return 0;
}

static int work(const program_options *o, ts_context *context, flattening *f, conformal_result *result,
                work_report *report) {
  if (!o->run.json && !o->run.quiet) report_begin(report);
  fflush(stdout); /* the rest may take minutes */
  flattening_places places = {0};
  const int failed =
      solve(o, context, f, &places, result, report) || write_files(o, context, f, &places, report);
  flattening_places_free(&places);
  if (failed) return EXIT_ERROR;
  if (o->run.json ? report_json(report) : !o->run.quiet && report_end(report)) return EXIT_ERROR;
  if (result->converged) return EXIT_MADE;
  if (interrupt_is_asked()) {
    message("%s: stopped after %d iterations at a residual of %.1e", report->loaded->name, result->iterations,
            result->residual);
    return EXIT_NOT_MADE;
  }
  message("%s: not converged: a residual of %.1e after %d iterations, expected %g; %s", report->loaded->name,
          result->residual, result->iterations, o->conformal.rtol, result->message);
  return EXIT_NOT_MADE;
}

int run_headless(const program_options *o) {
  load_report loaded;
  flattening f;
  ts_context *context = NULL;
  ts_context_info device;
  conformal_result result = {0};
  work_report report = {.options = o, .loaded = &loaded, .f = &f, .device = &device, .solved = &result};
  if (check_outputs(o)) return EXIT_ERROR;
  const double begin = seconds_now();
  if (open_flattening(o, o->flattening.cut, &loaded, &f)) return EXIT_ERROR;
  report.seconds.read = loaded.seconds;
  report.seconds.charts = seconds_now() - begin - loaded.seconds;
  int status = EXIT_ERROR;
  ts_context_desc desc = o->device;
  desc.gl = &o->gl;
  if (ts_context_create(&desc, &context) != TS_OK || ts_context_get_info(context, &device) != TS_OK)
    message("%s", ts_last_error(context));
  else
    status = work(o, context, &f, &result, &report);
  ts_context_destroy(&context);
  flattening_destroy(&f);
  return status;
}
