#include "window_state.h"

#include <stdio.h>

#include "mesh_view.h"
#include "message.h"

/* ---- The mesh and its UV map ---- */

void window_image_changed(window_state *w, const flat_source *source) {
  const char *why = w->view ? flat_view_update(w->view, w->f, source) : NULL;
  if (why) app_tell_error(&w->app, why);
  w->options.look.range = 0;
  w->screen.stale = 1;
}

void window_fit(window_state *w) {
  mesh_view_fit(&w->camera, &w->f->measures);
  flat_view_fit_image(w->f, &w->window);
  w->screen.stale = 1;
}

void window_take_mesh(window_state *w) {
  flat_view_destroy(&w->view);
  const char *why = flat_view_create(w->f, &w->view);
  if (why) app_tell_error(&w->app, why);
  window_fit(w);
  w->has_ended = 0;
  w->wanted = 1;
  w->options.look.range = 0;
}

/* ---- Solving ---- */

static void take_solution(window_state *w) {
  char message[MESH_MESSAGE];
  worker_result result;
  worker_take(w->solver, w->f->solved, &result);
  if (result.failed) {
    app_tell_error(&w->app, result.message);
    return;
  }
  w->solved = result.solved;
  w->f->fresh = 0;
  const int first = !w->has_ended;
  w->has_ended = 1;
  if (flattening_update(w->f, message)) app_tell_error(&w->app, message);
  window_image_changed(w, worker_source(w->solver));
  if (first && w->view && w->options.verbosity) {
    printf("u and v     %s\n", view_way_name(flat_view_way(w->view)));
    message_flush_stdout();
  }
  if (w->app.note_is_error) return; /* of what the user did meanwhile */
  if (w->solved.converged)
    app_tell(&w->app, "converged after %d iterations, residual %.1e", w->solved.iterations, w->solved.residual);
  else
    app_tell(&w->app, "not converged after %d iterations, residual %.1e: %s", w->solved.iterations,
             w->solved.residual, w->solved.message);
  if (w->solved.why_not[0]) app_tell_more(&w->app, "no multilevel preconditioner: %s", w->solved.why_not);
  if (w->f->d.flipped)
    app_tell_more(&w->app, "%d triangle%s flipped", (int)w->f->d.flipped,
                  w->f->d.flipped == 1 ? " is" : "s are");
}

void window_solve(window_state *w) {
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
  if (why) app_tell_error(&w->app, why);
  w->wanted = 0;
  w->state = WORKER_BUSY;
}

void window_solve_or_stop(window_state *w) {
  if (w->state == WORKER_BUSY) {
    worker_stop(w->solver);
    w->wanted = 0;
    app_tell(&w->app, "stopped");
  } else {
    w->wanted = 1;
    app_tell(&w->app, "%s", "");
  }
}

/* ---- Files ---- */

static const char *draw_picture(window_state *w, int width, int height, unsigned char *rgb) {
  flat_look look = w->options.look;
  look.legend = 1;
  return w->view ? flat_view_picture(w->view, &w->camera, &w->window, &look, width, height, rgb)
                 : "there is no mesh to draw";
}

void window_save_picture(window_state *w) {
  app_save_picture(&w->app, &w->files.picture, w->screen.width, w->screen.height, draw_picture);
}

static int write_mesh(window_state *w, const char *path, char message[MESH_MESSAGE]) {
  return flattening_write(w->f, path, message);
}

void window_export(window_state *w) {
  mesh_window_export(&w->files, &w->app, &w->f->m, write_mesh);
}

void window_open_file(window_state *w, const char *path) {
  const load_options options = {.path = path, .keep_duplicates = w->options.load.keep_duplicates};
  char message[MESH_MESSAGE], text[MESH_MESSAGE + APP_PATH];
  load_report report;
  mesh m;
  flattening made;
  if (load_mesh(&options, &m, NULL, &report, message)) {
    app_tell_error(&w->app, message);
    return;
  }
  if (flattening_create(&m, &w->options.flattening, &made, message)) {
    snprintf(text, sizeof text, "%s: %s", app_file_name(path), message);
    app_tell_error(&w->app, text);
    return;
  }
  worker_stop(w->solver);
  flattening_destroy(w->f);
  *w->f = made;
  w->pin_count = 0;
  mesh_window_tell(&w->app, &report, &repair_words, &w->f->m);
  mesh_window_name(&w->files, &w->app, path, "-uv.obj", "-uv.png", NULL, NULL);
  window_take_mesh(w);
}
