/* fluid without a window: computes frames, then writes files. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "drawing.h"
#include "interrupt.h"
#include "message.h"
#include "output_file.h"
#include "pictures.h"
#include "platform.h"
#include "progress.h"
#include "fluid.h"

enum { default_frames = 100, frames_per_second = 30, wide_enough = 960 };

/* ---- Velocities at points; functions return 0, or 1 with one line in `message` ---- */

typedef struct velocity_field {
  float *values; /* two components for (width + 1) x (height + 1) samples */
  int width, height, staggered;
} velocity_field;

static int read_field(const simulation *s, velocity_field *field, char message[SIMULATION_MESSAGE]) {
  const ts_fluid_info *info = &s->info;
  const size_t count = 2 * ((size_t)info->width + 1) * ((size_t)info->height + 1);
  *field = (velocity_field){malloc(count * sizeof *field->values), info->width, info->height,
                            info->layout == TS_FLUID_LAYOUT_STAGGERED};
  if (!field->values) return simulation_fail(message, "out of memory for %zu velocities", count);
  const ts_status status = ts_vector_read(ts_fluid_get_velocity(s->fluid), ts_host(field->values, count));
  if (status == TS_OK) return 0;
  free(field->values);
  simulation_fail_status(s->context, status, message);
  return 1;
}

static double clamp(double value, double most) {
  return fmin(fmax(value, 0), most);
}

/* Component c at a point given in units of cells. */
static double velocity_at(const velocity_field *f, int c, double x, double y) {
  const double columns = f->staggered && c == 0 ? f->width : f->width - 1;
  const double rows = f->staggered && c == 1 ? f->height : f->height - 1;
  x = clamp(f->staggered && c == 0 ? x : x - 0.5, columns);
  y = clamp(f->staggered && c == 1 ? y : y - 0.5, rows);
  const size_t i = (size_t)fmin(floor(x), columns - 1), j = (size_t)fmin(floor(y), rows - 1);
  const size_t row = (size_t)f->width + 1;
  const float *lower = &f->values[2 * (j * row + i) + (size_t)c], *upper = lower + 2 * row;
  const double part_x = x - (double)i, part_y = y - (double)j;
  return (1 - part_y) * ((1 - part_x) * (double)lower[0] + part_x * (double)lower[2]) +
         part_y * ((1 - part_x) * (double)upper[0] + part_x * (double)upper[2]);
}

/* Interpolates the velocity at a point in metres. Synchronises with the device and reads the whole field. */
static int probe(const simulation *s, const double at[2], double velocity[2],
                 char message[SIMULATION_MESSAGE]) {
  const double h = s->info.cell_size;
  velocity_field field;
  if (read_field(s, &field, message)) return 1;
  for (int c = 0; c < 2; c++) velocity[c] = velocity_at(&field, c, at[0] / h, at[1] / h);
  free(field.values);
  return 0;
}

/* Writes CSV: u along the vertical centre line and v along the horizontal one, at the cells' centres. */
static int print_profile(const simulation *s, FILE *file, char message[SIMULATION_MESSAGE]) {
  const double h = s->info.cell_size;
  velocity_field f;
  if (read_field(s, &f, message)) return 1;
  fprintf(file, "line,position,u,v\n");
  for (int j = 0; j < f.height; j++)
    fprintf(file, "vertical,%.9g,%.9g,%.9g\n", (j + 0.5) * h, velocity_at(&f, 0, 0.5 * f.width, j + 0.5),
            velocity_at(&f, 1, 0.5 * f.width, j + 0.5));
  for (int i = 0; i < f.width; i++)
    fprintf(file, "horizontal,%.9g,%.9g,%.9g\n", (i + 0.5) * h, velocity_at(&f, 0, i + 0.5, 0.5 * f.height),
            velocity_at(&f, 1, i + 0.5, 0.5 * f.height));
  free(f.values);
  return 0;
}

/* ---- Work ---- */

typedef struct headless_work {
  work_report report;
  const program_options *options;
  simulation *s;
  drawing *d; /* NULL if no picture is requested */
  pictures pictures;
  output_file profile;
  int frames, measure;
  double begin;
} headless_work;

/* A whole number of pixels per cell. Sizes are even, as videos require. */
static void choose_size(headless_work *w) {
  const program_options *o = w->options;
  const ts_fluid_info *info = &w->s->info;
  int width = o->run.picture_width, height = o->run.picture_height;
  if (!width) {
    const int larger = info->width > info->height ? info->width : info->height;
    const int scale = larger >= wide_enough ? 1 : (wide_enough + larger / 2) / larger;
    width = scale * info->width;
    height = scale * info->height;
    width += width % 2;
    height += height % 2;
  }
  w->report.picture_width = width;
  w->report.picture_height = height;
}

static int check_probe(const headless_work *w) {
  const double *at = w->options->probe, h = w->s->info.cell_size;
  const double width = w->s->info.width * h, height = w->s->info.height * h;
  if (isnan(at[0]) || (at[0] >= 0 && at[0] <= width && at[1] >= 0 && at[1] <= height)) return 0;
  char why[SIMULATION_MESSAGE];
  snprintf(why, sizeof why, "--probe: %g,%g, expected a point of the domain, from 0,0 to %.4g,%.4g m", at[0],
           at[1], width, height);
  return progress_fail(why);
}

static int prepare(headless_work *w) {
  const program_options *o = w->options;
  char why[SIMULATION_MESSAGE];
  const double begin = seconds_now();
  progress_begin("preparing");
  if (simulation_create(&o->simulation, &w->s, why)) return progress_fail(why);
  w->report.s = w->s;
  if (check_probe(w)) return -1;
  w->report.steps_per_frame = o->run.steps_per_frame ? o->run.steps_per_frame : w->s->setup.steps_per_frame;
  fluid_look look = o->look;
  if (!o->field_given) look.field = w->s->setup.field;
  if (o->run.json) w->measure = TS_FLUID_MEASURE_TIMES;
  if (o->run.json || o->run.verbosity || look.field == FLUID_FIELD_DIVERGENCE ||
      (!o->run.quiet && platform_is_terminal(stdout)))
    w->measure |= TS_FLUID_MEASURE_DIVERGENCE;
  w->report.measured = w->measure;
  progress_clear();
  if (*w->s->warning) message_note("%s", w->s->warning);
  if (pictures_are_wanted(&w->pictures, 1)) {
    choose_size(w);
    if (drawing_open(w->s, &look, w->report.picture_width, w->report.picture_height, &w->d, why))
      return progress_fail(why);
  }
  if (pictures_open(&w->pictures, w->report.picture_width, w->report.picture_height, frames_per_second))
    return -1;
  w->report.prepare = seconds_now() - begin;
  return 0;
}

static int draw(headless_work *w, int number, int last, double *seconds) {
  char why[SIMULATION_MESSAGE];
  const image *picture;
  *seconds = NAN;
  if (!pictures_are_wanted(&w->pictures, last)) return 0;
  const double begin = seconds_now();
  if (drawing_make(w->d, &picture, why)) return progress_fail(why);
  if (pictures_add(&w->pictures, picture, number, last)) return -1;
  *seconds = seconds_now() - begin;
  w->report.drawn = drawing_way(w->d);
  return 0;
}

/* Returns 0, 1 if the flow is no longer finite (with the reason in `why`), or -1 after a message. */
static int make_frame(headless_work *w, int last, char why[SIMULATION_MESSAGE]) {
  frame_report *f = &w->report.frames[w->report.frame_count];
  const int steps = w->report.steps_per_frame;
  *f = (frame_report){.probe = {NAN, NAN}};
  const double begin = seconds_now();
  for (int k = 0; k < steps; k++) {
    /* The run's last step is always measured, for the report. */
    int measure = w->measure & TS_FLUID_MEASURE_TIMES;
    if (k + 1 == steps && (last || w->measure)) measure |= TS_FLUID_MEASURE_DIVERGENCE;
    const int failed = simulation_step(w->s, measure, 1, why);
    if (failed && !w->s->broken) return progress_fail(why);
    const ts_fluid_result *r = &w->s->result;
    for (int stage = 0; stage < TS_FLUID_STAGE_COUNT; stage++) f->stages[stage] += r->seconds[stage];
    f->iterations += r->iterations;
    if (failed) return 1;
  }
  f->last = w->s->result;
  f->seconds = seconds_now() - begin;
  if (isfinite(w->options->probe[0]) && probe(w->s, w->options->probe, f->probe, why))
    return progress_fail(why);
  return 0;
}

static int make_frames(headless_work *w, char broken[SIMULATION_MESSAGE]) {
  broken[0] = 0;
  w->report.frames = calloc((size_t)w->frames + 1, sizeof *w->report.frames);
  if (!w->report.frames) return progress_fail("out of memory for that many frames");
  w->begin = seconds_now();
  progress_begin("computing");
  interrupt_begin();
  for (int k = 0; k < w->frames && !*broken && !interrupt_is_asked(); k++) {
    char why[SIMULATION_MESSAGE];
    int last = k + 1 == w->frames;
    progress_step((double)k / w->frames, "frame %d of %d", k + 1, w->frames);
    const int result = make_frame(w, last, why);
    if (result < 0) return -1;
    frame_report *f = &w->report.frames[k];
    if (result) {
      snprintf(broken, SIMULATION_MESSAGE, "%s", why);
    } else {
      w->report.frame_count++;
    }
    last |= interrupt_is_asked();
    if (draw(w, k, last || *broken, &f->draw)) return -1;
    if (!*broken) report_frame(&w->report);
  }
  double seconds;
  if (!w->frames && draw(w, 0, 1, &seconds)) return -1;
  w->report.total = seconds_now() - w->begin;
  w->report.stopped = !*broken && w->report.frame_count < w->frames;
  progress_clear();
  return 0;
}

static int write_profile(headless_work *w) {
  char why[SIMULATION_MESSAGE];
  if (!w->options->profile) return 0;
  if (output_open(&w->profile, w->options->profile)) return -1;
  if (print_profile(w->s, w->profile.stream, why)) {
    output_discard(&w->profile);
    return progress_fail(why);
  }
  return output_commit(&w->profile);
}

static int work(headless_work *w) {
  const program_options *o = w->options;
  char broken[SIMULATION_MESSAGE];
  if (!o->run.json && !o->run.quiet) report_begin(&w->report);
  if (make_frames(w, broken) || pictures_finish(&w->pictures) || write_profile(w)) return EXIT_ERROR;
  if (o->run.json ? report_json(&w->report) : !o->run.quiet && report_end(&w->report)) return EXIT_ERROR;
  if (w->report.stopped) message("stopped after %d of %d frames", w->report.frame_count, w->frames);
  if (!*broken) return w->report.stopped ? EXIT_NOT_MADE : EXIT_MADE;
  message("%s", broken);
  return EXIT_NOT_MADE;
}

int run_headless(const program_options *o) {
  const char *walls = o->simulation.walls;
  headless_work w = {
      .report = {.options = o},
      .options = o,
      .pictures = {.video = o->run.video, .directory = o->run.frames_dir, .last = o->run.picture},
      .frames = o->run.frames < 0 ? default_frames : o->run.frames};
  if (output_check(o->profile, walls) || pictures_check(&w.pictures, walls)) return EXIT_ERROR;
  const int status = prepare(&w) ? EXIT_ERROR : work(&w);
  progress_clear();
  pictures_close(&w.pictures);
  drawing_close(&w.d);
  simulation_destroy(&w.s);
  free(w.report.frames);
  return status;
}
