#include "window_state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void window_show_mesh(window_state *w) {
  window_open_scene(w);
  w->selected = -1;
  if (w->scene.view) window_mark_controls(w);
  w->last = (step_report){0};
  w->times.count = 0;
}

/* ---- The flow ---- */

void window_run_or_pause(window_state *w) {
  w->steps_to_make = w->steps_to_make ? 0 : -1;
  if (w->steps_to_make) app_tell(&w->app, "%s", "");
}

void window_step(window_state *w) {
  app_tell(&w->app, "%s", "");
  w->steps_to_make = 1;
}

int window_compiles(window_state *w) {
  const smoother_options *o = &w->s->options;
  char uses[200];
  snprintf(uses, sizeof uses, "%d %d %d %d", (int)o->method, (int)o->format, (int)o->boundary,
           o->preserve_volume);
  return app_compiles(&w->app, w->s->device.info.backend, uses);
}

void window_make_step(window_state *w) {
  char message[MESH_MESSAGE];
  if (window_compiles(w)) return;
  if (w->steps_to_make > 0) w->steps_to_make--;
  window_commit(w);
  /* An interpolation needs a single solve. */
  if (w->s->options.method == SMOOTHER_DSI) w->steps_to_make = 0;
  if (smoother_step(w->s, 0, 0, &w->last, message)) {
    app_tell_error(&w->app, message);
    return;
  }
  const double matrix = isfinite(w->last.seconds_matrix) ? w->last.seconds_matrix : 0;
  app_times_add(&w->times, WINDOW_TIMES, 1e3 * (matrix + w->last.seconds_setup + w->last.seconds_solve));
  if (!w->last.substeps) {
    snprintf(message, sizeof message, "the step failed: %s", w->last.message);
    app_tell_error(&w->app, message);
  } else if (w->last.substeps > 1) {
    app_tell(&w->app, "step %d was split into %d: %s", w->last.number, w->last.substeps, w->last.message);
  }
  window_moved(w);
}

/* Changes the mesh outside of a run. */
static void go(window_state *w, int (*where)(smoother *s, char message[MESH_MESSAGE]), const char *done) {
  char message[MESH_MESSAGE];
  w->steps_to_make = 0;
  window_commit(w);
  if (where(w->s, message))
    app_tell_error(&w->app, message);
  else
    app_tell(&w->app, "%s", done);
  window_moved(w);
}

void window_undo(window_state *w) {
  /* An interpolation in progress becomes undoable when it is committed. */
  if (w->s->past || w->s->live)
    go(w, smoother_undo, "undone");
  else
    app_tell(&w->app, "nothing to undo");
}
void window_redo(window_state *w) {
  if (w->s->future && !w->s->live)
    go(w, smoother_redo, "redone");
  else
    app_tell(&w->app, "nothing to redo");
}
void window_reset(window_state *w) {
  go(w, smoother_reset, "back at the start");
}

void window_add_noise(window_state *w) {
  char message[MESH_MESSAGE];
  window_commit(w);
  if (smoother_add_noise(w->s, w->noise, w->seed++, message))
    app_tell_error(&w->app, message);
  else
    app_tell(&w->app, "added noise of %.2g of the diagonal; this is the new start", w->noise);
  window_moved(w);
}

void window_set_options(window_state *w, const smoother_options *options) {
  char message[MESH_MESSAGE];
  const smoother_options before = w->s->options;
  const int other_device = smoother_needs_other_device(options, &before);
  const int other_context = strcmp(options->backend, before.backend) != 0;
  window_commit(w);
  if (smoother_set_options(w->s, options, message)) {
    app_tell_error(&w->app, message);
    return;
  }
  if (options->method == SMOOTHER_DSI && before.method == SMOOTHER_DSI &&
      (options->fit != before.fit || options->weights != before.weights ||
       options->boundary != before.boundary))
    window_follow_on(w);
  if (!other_device) return;
  if (other_context) w->app.compiled.count = 0; /* the new context has not compiled any shaders */
  w->scene.positions.drawn = NULL;              /* a new vector may have the address of the old one */
  window_moved(w);
  w->times.count = 0;
  if (!w->app.note_is_error) app_tell(&w->app, "%s", "");
}

/* ---- Files ---- */

static int write_mesh(window_state *w, const char *path, char message[MESH_MESSAGE]) {
  mesh m;
  window_commit(w);
  if (mesh_file_can_write(path, message) || smoother_current_mesh(w->s, &m, message)) return 1;
  const int failed = mesh_file_write(path, &m, message);
  mesh_destroy(&m);
  return failed;
}

void window_export(window_state *w) {
  mesh_window_export(&w->files, &w->app, &w->s->start->m, write_mesh);
}

void window_open_file(window_state *w, const char *path) {
  char message[MESH_MESSAGE];
  load_report report;
  mesh m;
  smoother *made = NULL;
  if (mesh_window_load(&w->app, path, w->options->load.keep_duplicates, &m, &report)) return;
  smoother_options same = w->s->options;
  mesh_measures measures;
  /* A mesh with a boundary has no volume to preserve. */
  int failed = mesh_measure(&m, &measures, message);
  if (!failed && !measures.closed) same.preserve_volume = 0;
  if (failed)
    mesh_destroy(&m);
  else
    failed = smoother_create(&m, &same, &made, message);
  if (failed) {
    mesh_window_tell_error(&w->app, path, message);
    return;
  }
  smoother_destroy(&w->s);
  w->s = made;
  w->app.compiled.count = 0; /* the new context has not compiled any shaders */
  w->steps_to_make = w->following = 0;
  mesh_window_tell(&w->app, &report, &repair_words, &made->start->m);
  mesh_window_name(&w->files, &w->app, path, "-smooth.ply", ".png", NULL, NULL);
  window_show_mesh(w);
}
