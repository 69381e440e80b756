/* contact without a window: computes frames, then writes files. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "contact.h"
#include "drawing.h"
#include "interrupt.h"
#include "message.h"
#include "pictures.h"
#include "platform.h"
#include "progress.h"

enum { default_frames = 300, default_width = 1280, default_height = 720 };

typedef struct headless_work {
  work_report report;
  const program_options *options;
  simulation *s;
  drawing *d; /* NULL if no picture is requested */
  pictures pictures;
  int frames;
} headless_work;

static int frames_per_second(const headless_work *w) {
  const double seconds = w->s->parameters.step * w->report.steps_per_frame;
  return (int)fmin(fmax(round(1 / seconds), 1), 120);
}

static int prepare(headless_work *w) {
  const program_options *o = w->options;
  work_report *r = &w->report;
  char why[SIMULATION_MESSAGE];
  const double begin = seconds_now();
  progress_begin("preparing");
  if (simulation_create(&o->simulation, &w->s, why)) return progress_fail(why);
  r->s = w->s;
  r->steps_per_frame = o->run.steps_per_frame ? o->run.steps_per_frame : 1;
  if (pictures_are_wanted(&w->pictures, 1)) {
    r->picture_width = o->run.picture_width ? o->run.picture_width : default_width;
    r->picture_height = o->run.picture_width ? o->run.picture_height : default_height;
    /* A single picture may be slow to draw, so it gets full shading. The frames of a video get the default. */
    const int is_video = o->run.video || o->run.frames_dir;
    const contact_shading shading =
        o->shading == CONTACT_SHADING_AUTO && !is_video ? CONTACT_SHADING_FULL : o->shading;
    if (drawing_open(w->s, o->forces, shading, r->picture_width, r->picture_height, &w->d, why))
      return progress_fail(why);
  }
  if (pictures_open(&w->pictures, r->picture_width, r->picture_height, frames_per_second(w))) return -1;
  r->prepare = seconds_now() - begin;
  progress_clear();
  return 0;
}

/* ---- Frames ---- */

static int draw(headless_work *w, int number, int last, double *seconds) {
  char why[SIMULATION_MESSAGE];
  const image *picture;
  *seconds = NAN;
  if (!pictures_are_wanted(&w->pictures, last)) return 0;
  const double begin = seconds_now();
  if (drawing_make(w->d, &picture, why)) return progress_fail(why);
  if (pictures_add(&w->pictures, picture, number, last)) return -1;
  *seconds = seconds_now() - begin;
  return 0;
}

static void add_figures(simulation_figures *sum, const simulation_figures *step) {
  const simulation_figures before = *sum;
  *sum = *step;
  sum->collision += before.collision;
  sum->assembly += before.assembly;
  sum->solve += before.solve;
  sum->sweeps += before.sweeps;
  sum->missed += before.missed;
  sum->residual = fmax(sum->residual, before.residual);
  sum->penetration = fmax(sum->penetration, before.penetration);
}

/* Returns 0, 1 if the positions diverged (with the reason in `why`), or -1 after a message. */
static int make_frame(headless_work *w, char why[SIMULATION_MESSAGE]) {
  frame_report *f = &w->report.frames[w->report.frame_count];
  *f = (frame_report){.draw = NAN};
  for (int k = 0; k < w->report.steps_per_frame; k++) {
    if (simulation_step(w->s, why)) return w->s->broken ? 1 : progress_fail(why);
    add_figures(&f->figures, &w->s->figures);
  }
  return 0;
}

static int make_frames(headless_work *w, char broken[SIMULATION_MESSAGE]) {
  broken[0] = 0;
  w->report.frames = calloc((size_t)w->frames + 1, sizeof *w->report.frames);
  if (!w->report.frames) return progress_fail("out of memory for that many frames");
  const double begin = seconds_now();
  progress_begin("computing");
  interrupt_begin();
  for (int k = 0; k < w->frames && !interrupt_is_asked(); k++) {
    progress_step((double)k / w->frames, "frame %d of %d", k + 1, w->frames);
    const int result = make_frame(w, broken);
    if (result < 0) return -1;
    if (result) break; /* diverged positions cannot be drawn */
    frame_report *f = &w->report.frames[w->report.frame_count++];
    if (draw(w, k, k + 1 == w->frames || interrupt_is_asked(), &f->draw)) return -1;
    report_frame(&w->report);
  }
  double seconds;
  if (!w->frames && draw(w, 0, 1, &seconds)) return -1;
  w->report.total = seconds_now() - begin;
  w->report.stopped = !*broken && w->report.frame_count < w->frames;
  progress_clear();
  return 0;
}

static int work(headless_work *w) {
  const program_options *o = w->options;
  char broken[SIMULATION_MESSAGE];
  if (!o->run.json && !o->run.quiet) report_begin(&w->report);
  if (make_frames(w, broken) || pictures_finish(&w->pictures)) return EXIT_ERROR;
  if (o->run.json ? report_json(&w->report) : !o->run.quiet && report_end(&w->report)) return EXIT_ERROR;
  if (w->report.stopped) message("stopped after %d of %d frames", w->report.frame_count, w->frames);
  if (!*broken) return w->report.stopped ? EXIT_NOT_MADE : EXIT_MADE;
  message("%s", broken);
  return EXIT_NOT_MADE;
}

int run_headless(const program_options *o) {
  headless_work w = {
      .report = {.options = o},
      .options = o,
      .pictures = {.video = o->run.video, .directory = o->run.frames_dir, .last = o->run.picture},
      .frames = o->run.frames < 0 ? default_frames : o->run.frames};
  if (pictures_check(&w.pictures, NULL)) return EXIT_ERROR;
  const int status = prepare(&w) ? EXIT_ERROR : work(&w);
  progress_clear();
  pictures_close(&w.pictures);
  drawing_close(&w.d);
  simulation_destroy(&w.s);
  free(w.report.frames);
  return status;
}
