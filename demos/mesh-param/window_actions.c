#include "window_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "message.h"
#include "png_image.h"

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
}

/* ---- The mesh and its image ---- */

void window_image_changed(window_state *w, const flat_source *source) {
  const char *why = w->view ? flat_view_update(w->view, w->f, source) : NULL;
  if (why) window_tell_error(w, why);
  w->options.look.range = 0;
  w->stale = 1;
}

void window_fit(window_state *w) {
  flat_view_fit_mesh(w->f, &w->camera);
  flat_view_fit_image(w->f, &w->window);
  w->stale = 1;
}

void window_take_mesh(window_state *w) {
  char title[MESH_MESSAGE + 20];
  flat_view_destroy(&w->view);
  const char *why = flat_view_create(w->f, &w->view);
  if (why) window_tell_error(w, why);
  window_fit(w);
  w->has_ended = 0;
  w->wanted = 1;
  w->options.look.range = 0;
  snprintf(title, sizeof title, "%s - mesh-param", w->name);
  glfwSetWindowTitle(w->handle, title);
}

/* ---- Solving ---- */

static void take_solution(window_state *w) {
  char message[MESH_MESSAGE];
  worker_result result;
  worker_take(w->solver, w->f->solved, &result);
  if (result.failed) {
    window_tell_error(w, result.message);
    return;
  }
  w->solved = result.solved;
  w->f->fresh = 0;
  const int first = !w->has_ended;
  w->has_ended = 1;
  if (flattening_update(w->f, message)) window_tell_error(w, message);
  window_image_changed(w, worker_source(w->solver));
  if (first && w->view && w->options.verbosity) {
    printf("u and v     %s\n", view_way_name(flat_view_way(w->view)));
    message_flush_stdout();
  }
  if (w->note_is_error) return; /* of what the user did meanwhile */
  if (w->solved.converged)
    window_tell(w, "converged after %d iterations, residual %.1e", w->solved.iterations, w->solved.residual);
  else
    window_tell(w, "not converged after %d iterations, residual %.1e: %s", w->solved.iterations,
                w->solved.residual, w->solved.message);
  if (w->solved.why_not[0]) {
    const size_t used = strlen(w->note);
    snprintf(w->note + used, sizeof w->note - used, "; no multilevel preconditioner: %s", w->solved.why_not);
  }
  if (w->f->d.flipped) {
    const size_t used = strlen(w->note);
    snprintf(w->note + used, sizeof w->note - used, "; %d triangle%s flipped", (int)w->f->d.flipped,
             w->f->d.flipped == 1 ? " is" : "s are");
  }
}

void window_work(window_state *w) {
  w->state = worker_look(w->solver, &w->progress);
  if (w->state == WORKER_DONE) {
    if (w->wanted)
      worker_stop(w->solver);
    else
      take_solution(w);
    w->state = WORKER_IDLE;
  }
  if (w->state != WORKER_IDLE || !w->wanted) return;
  w->options.device.backend = w->backend;
  const char *why = worker_start(w->solver, w->f, &w->options.device, &w->options.conformal);
  if (why) window_tell_error(w, why);
  w->wanted = 0;
  w->state = WORKER_BUSY;
}

void window_solve_or_stop(window_state *w) {
  if (w->state == WORKER_BUSY) {
    worker_stop(w->solver);
    w->wanted = 0;
    window_tell(w, "stopped");
  } else {
    w->wanted = 1;
    window_tell(w, "%s", "");
  }
}

/* ---- Files ---- */

static const char *without_directory(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

void window_name_files(window_state *w, const char *name, const program_options *options) {
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
    snprintf(w->output, sizeof w->output, "%s-uv.obj", stem);
  if (options && options->screenshot)
    snprintf(w->screenshot, sizeof w->screenshot, "%s", options->screenshot);
  else
    snprintf(w->screenshot, sizeof w->screenshot, "%s-uv.png", stem);
}

void window_save_picture(window_state *w) {
  char reason[200], text[MESH_MESSAGE + 240], question[OVERWRITE_QUESTION];
  image picture;
  flat_look look = w->options.look;
  look.legend = 1;
  if (!overwrite_may(&w->picture_file, w->screenshot, question)) {
    window_tell(w, "%s", question);
    return;
  }
  if (image_create(&picture, w->width, w->height)) {
    window_tell_error(w, "out of memory for a picture");
    return;
  }
  const char *why = !w->view ? "there is no mesh to draw"
                             : flat_view_picture(w->view, &w->camera, &w->window, &look, picture.width,
                                                 picture.height, picture.rgb);
  if (!why && png_image_save(w->screenshot, &picture, reason, sizeof reason)) why = reason;
  image_destroy(&picture);
  snprintf(text, sizeof text, "%s: %s", w->screenshot, why ? why : "");
  if (why)
    window_tell_error(w, text);
  else
    window_tell(w, "%s: a picture of %d x %d pixels%s", w->screenshot, w->width, w->height,
                overwrite_done(&w->picture_file, w->screenshot));
}

void window_export(window_state *w) {
  char message[MESH_MESSAGE], question[OVERWRITE_QUESTION];
  if (!overwrite_may(&w->mesh_file, w->output, question))
    window_tell(w, "%s", question);
  else if (flattening_write(w->f, w->output, message))
    window_tell_error(w, message);
  else
    window_tell(w, "%s: %d vertices, %d triangles%s", w->output, (int)w->f->m.vertex_count,
                (int)w->f->m.triangle_count, overwrite_done(&w->mesh_file, w->output));
}

static void collect_note(const char *line, void *user) {
  window_state *w = user;
  const size_t used = strlen(w->note);
  snprintf(w->note + used, sizeof w->note - used, "; %s", line);
}

void window_open_file(window_state *w) {
  const load_options options = {.path = w->to_open, .keep_duplicates = w->options.load.keep_duplicates};
  char message[MESH_MESSAGE], text[MESH_MESSAGE + sizeof w->to_open + 2];
  const char *told = message;
  load_report report;
  mesh m;
  flattening made;
  int failed = load_mesh(&options, &m, NULL, &report, message);
  if (!failed && flattening_create(&m, &w->options.flattening, &made, message)) {
    snprintf(text, sizeof text, "%s: %s", without_directory(w->to_open), message);
    told = text;
    failed = 1;
  }
  if (failed) {
    window_tell_error(w, told);
  } else {
    worker_stop(w->solver);
    flattening_destroy(w->f);
    *w->f = made;
    w->pin_count = 0;
    window_tell(w, "%s: %d vertices, %d triangles", without_directory(w->to_open), (int)w->f->m.vertex_count,
                (int)w->f->m.triangle_count);
    load_describe(&report, &repair_words, collect_note, w);
    window_name_files(w, w->to_open, NULL);
    window_take_mesh(w);
  }
  w->to_open[0] = 0;
}
