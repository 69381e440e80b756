#include "window_state.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "mesh_file.h"
#include "mesh_smooth.h"
#include "message.h"

/* ---- What the user is told ---- */

void window_tell(window_state *w, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(w->note, sizeof w->note, format, arguments);
  va_end(arguments);
  w->note_is_error = 0;
}

void window_tell_error(window_state *w, const char *text) {
  /* A terminal keeps it; a fault in drawing comes with every frame. */
  if (!w->note_is_error || strcmp(w->note, text) != 0) message("%s", text);
  window_tell(w, "%s", text);
  w->note_is_error = 1;
  w->steps_to_make = 0;
}

/* ---- The mesh has changed ---- */

static void moved(window_state *w) {
  const char *why = window_scene_moved(&w->scene, *w->s);
  if (why) window_tell_error(w, why);
}

void window_take_mesh(window_state *w) {
  char title[MESH_MESSAGE + 20];
  const char *why = window_scene_open(&w->scene, *w->s);
  if (why) window_tell_error(w, why);
  w->selected = -1;
  if (!why) window_mark_controls(w);
  w->last = (step_report){0};
  w->time_count = 0;
  snprintf(title, sizeof title, "%s - mesh-smooth", w->name);
  glfwSetWindowTitle(w->handle, title);
}

void window_fit(window_state *w) {
  window_scene_fit(&w->scene, *w->s);
}

/* ---- The flow ---- */

void window_run_or_pause(window_state *w) {
  w->steps_to_make = w->steps_to_make ? 0 : -1;
  if (w->steps_to_make) window_tell(w, "%s", "");
}

void window_step(window_state *w) {
  window_tell(w, "%s", "");
  w->steps_to_make = 1;
}

void window_remember_time(window_state *w, double seconds) {
  if (w->time_count == WINDOW_TIMES) {
    memmove(w->times, w->times + 1, (WINDOW_TIMES - 1) * sizeof w->times[0]);
    w->time_count--;
  }
  w->times[w->time_count++] = (float)(1e3 * seconds);
}

int window_compiles(window_state *w) {
  const smoother_options *o = smoother_get_options(*w->s);
  ts_context_info device;
  char uses[200];
  w->compiling = 0;
  if (ts_context_get_info(smoother_context(*w->s), &device) != TS_OK || !strstr(device.backend, "gl")) return 0;
  snprintf(uses, sizeof uses, "%s %d %d %d %d", device.backend, (int)o->method, (int)o->format,
           (int)o->boundary, o->preserve_volume);
  w->compiling = first_time(&w->compiled, uses);
  return w->compiling;
}

void window_make_step(window_state *w) {
  char message[MESH_MESSAGE];
  if (window_compiles(w)) return;
  if (w->steps_to_make > 0) w->steps_to_make--;
  window_settle(w);
  /* An interpolation is solved at once. */
  if (smoother_get_options(*w->s)->method == SMOOTHER_DSI) w->steps_to_make = 0;
  if (smoother_step(*w->s, 0, 0, &w->last, message)) {
    window_tell_error(w, message);
    return;
  }
  window_remember_time(w,
                       (isfinite(w->last.seconds_matrix) ? w->last.seconds_matrix : 0) + w->last.seconds_solve);
  if (!w->last.substeps) {
    snprintf(message, sizeof message, "the step could not be made: %s", w->last.message);
    window_tell_error(w, message);
  } else if (w->last.substeps > 1) {
    window_tell(w, "step %d was cut into %d: %s", w->last.number, w->last.substeps, w->last.message);
  }
  moved(w);
}

/* Something that moves the mesh, outside of a run. */
static void go(window_state *w, int (*where)(smoother *s, char message[MESH_MESSAGE]), const char *done) {
  char message[MESH_MESSAGE];
  w->steps_to_make = 0;
  window_settle(w);
  if (where(*w->s, message))
    window_tell_error(w, message);
  else
    window_tell(w, "%s", done);
  moved(w);
}

void window_undo(window_state *w) {
  /* What is followed can be undone once it is settled. */
  if (smoother_can_undo(*w->s) || smoother_is_live(*w->s))
    go(w, smoother_undo, "undone");
  else
    window_tell(w, "nothing to undo");
}
void window_redo(window_state *w) {
  if (smoother_can_redo(*w->s) && !smoother_is_live(*w->s))
    go(w, smoother_redo, "done again");
  else
    window_tell(w, "nothing to redo");
}
void window_reset(window_state *w) {
  go(w, smoother_reset, "back at the start");
}

void window_add_noise(window_state *w) {
  char message[MESH_MESSAGE];
  window_settle(w);
  if (smoother_add_noise(*w->s, w->noise, w->seed++, message))
    window_tell_error(w, message);
  else
    window_tell(w, "noise of %.2g of the diagonal; this is the start now", w->noise);
  moved(w);
}

static int needs_device(const smoother_options *a, const smoother_options *b) {
  return strcmp(a->backend, b->backend) != 0 || a->format != b->format || a->boundary != b->boundary;
}

void window_set_options(window_state *w, const smoother_options *options) {
  char message[MESH_MESSAGE];
  const smoother_options before = *smoother_get_options(*w->s);
  const int other_device = needs_device(options, &before);
  const int other_context = strcmp(options->backend, before.backend) != 0;
  window_settle(w);
  if (smoother_set_options(*w->s, options, message)) {
    window_tell_error(w, message);
    return;
  }
  if (options->method == SMOOTHER_DSI && before.method == SMOOTHER_DSI &&
      (options->fit != before.fit || options->weights != before.weights ||
       options->boundary != before.boundary))
    window_follow_on(w);
  if (!other_device) return;
  if (other_context) w->compiled.count = 0; /* shaders are a context's */
  w->scene.drawn = NULL;                    /* another vector may have the old one's address */
  moved(w);
  w->time_count = 0;
  if (!w->note_is_error) window_tell(w, "%s", "");
}

/* ---- Files ---- */

static const char *without_directory(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

void window_name_files(window_state *w, const char *name, const window_options *options) {
  snprintf(w->name, sizeof w->name, "%s", without_directory(name));
  static const char generated[] = "generated ";
  const size_t skip = strncmp(w->name, generated, sizeof generated - 1) == 0 ? sizeof generated - 1 : 0;
  char stem[MESH_MESSAGE - 20];
  snprintf(stem, sizeof stem, "%.*s", (int)sizeof stem - 1, w->name + skip);
  char *dot = strrchr(stem, '.');
  if (dot && dot != stem) *dot = 0;
  for (char *c = stem; *c; c++)
    if (*c == ' ' || *c == ':') *c = '-';
  if (options && options->output)
    snprintf(w->output, sizeof w->output, "%s", options->output);
  else
    snprintf(w->output, sizeof w->output, "%s-smooth.ply", stem);
  if (options && options->screenshot)
    snprintf(w->screenshot, sizeof w->screenshot, "%s", options->screenshot);
  else
    snprintf(w->screenshot, sizeof w->screenshot, "%s.png", stem);
}

void window_save_picture(window_state *w) {
  char message[MESH_MESSAGE], question[OVERWRITE_QUESTION];
  if (!overwrite_may(&w->picture_file, w->screenshot, question))
    window_tell(w, "%s", question);
  else if (window_scene_save(&w->scene, w->screenshot, message))
    window_tell_error(w, message);
  else
    window_tell(w, "%s: a picture of %d x %d pixels%s", w->screenshot, w->scene.width, w->scene.height,
                overwrite_done(&w->picture_file, w->screenshot));
}

void window_export(window_state *w) {
  char message[MESH_MESSAGE], question[OVERWRITE_QUESTION];
  mesh m;
  if (!overwrite_may(&w->mesh_file, w->output, question)) {
    window_tell(w, "%s", question);
    return;
  }
  window_settle(w);
  if (mesh_file_can_write(w->output, message) || smoother_current_mesh(*w->s, &m, message)) {
    window_tell_error(w, message);
    return;
  }
  if (mesh_file_write(w->output, &m, message))
    window_tell_error(w, message);
  else
    window_tell(w, "%s: %d vertices, %d triangles%s", w->output, (int)m.vertex_count, (int)m.triangle_count,
                overwrite_done(&w->mesh_file, w->output));
  mesh_destroy(&m);
}

static void collect_note(const char *line, void *user) {
  window_state *w = user;
  const size_t used = strlen(w->note);
  snprintf(w->note + used, sizeof w->note - used, "; %s", line);
}

void window_open_file(window_state *w) {
  const load_options options = {.path = w->to_open, .keep_duplicates = w->keep_duplicates};
  char message[MESH_MESSAGE], text[MESH_MESSAGE + sizeof w->to_open + 2];
  const char *told = message;
  load_report report;
  mesh m;
  smoother *made = NULL;
  int failed = load_mesh(&options, &m, NULL, &report, message);
  if (!failed) {
    smoother_options same = *smoother_get_options(*w->s);
    mesh_measures measures;
    /* A mesh with a border has no volume to keep. */
    failed = mesh_measure(&m, &measures, message);
    if (!failed && !measures.closed) same.preserve_volume = 0;
    if (failed)
      mesh_destroy(&m);
    else
      failed = smoother_create(&m, &same, &made, message);
    if (failed) {
      snprintf(text, sizeof text, "%s: %s", without_directory(w->to_open), message);
      told = text;
    }
  }
  if (failed) {
    window_tell_error(w, told);
  } else {
    smoother_destroy(w->s);
    *w->s = made;
    w->compiled.count = 0; /* shaders are a context's */
    w->steps_to_make = w->following = 0;
    window_tell(w, "%s: %d vertices, %d triangles", without_directory(w->to_open),
                (int)smoother_mesh(made)->vertex_count, (int)smoother_mesh(made)->triangle_count);
    load_describe(&report, &repair_words, collect_note, w);
    window_name_files(w, w->to_open, NULL);
    window_take_mesh(w);
  }
  w->to_open[0] = 0;
}
