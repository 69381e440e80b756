#include "window_state.h"

#include <stdio.h>

#include "mesh_view.h"
#include "message.h"

/* ---- The mesh and its UV map ---- */

/* Explains why the mesh cannot be flattened without a cut, and how to allow it. */
static void ask(window_state *w) {
  const cut_report *cut = &w->f.cut;
  app_tell(&w->app,
           "%s %s, so it cannot be flattened without a cut; tick \"cut closed meshes\" at the left, or press "
           "X to cut it open",
           w->files.name,
           cut->closed ? cut->handles ? "is closed and has handles" : "is closed" : "has handles");
}

int window_asks(window_state *w) {
  if (w->asks_cut) ask(w);
  return w->asks_cut;
}

void window_image_changed(window_state *w, const flat_source *source) {
  const char *why = w->view ? flat_view_update(w->view, &w->f, source) : NULL;
  if (why) app_tell_error(&w->app, why);
  w->options.look.range = 0;
  w->app.screen.stale = 1;
}

void window_fit(window_state *w) {
  mesh_view_fit(&w->app.camera, &w->f.measures);
  flat_view_fit_image(&w->f, &w->window);
  w->app.screen.stale = 1;
}

void window_show_mesh(window_state *w) {
  flat_view_destroy(&w->view);
  const char *why = flat_view_create(&w->f, &w->view);
  if (why) app_tell_error(&w->app, why);
  window_fit(w);
  w->has_ended = 0;
  w->asks_cut = w->f.cut.edges && !w->options.flattening.cut;
  w->wanted = !w->asks_cut;
  w->options.look.mesh_only = w->asks_cut;
  if (w->asks_cut) ask(w);
  w->options.look.range = 0;
}

/* ---- Solving ---- */

static void read_solution(window_state *w) {
  char message[MESH_MESSAGE];
  worker_result result;
  worker_read_result(w->solver, w->f.solved, &result);
  if (result.failed) {
    app_tell_error(&w->app, result.message);
    return;
  }
  w->solved = result.solved;
  w->f.fresh = 0;
  const int first = !w->has_ended;
  w->has_ended = 1;
  if (flattening_update(&w->f, message)) app_tell_error(&w->app, message);
  window_image_changed(w, worker_source(w->solver));
  if (first && w->view && w->options.run.verbosity) {
    printf("u and v     %s\n", view_way_name(flat_view_way(w->view)));
    message_flush_stdout();
  }
  if (w->app.note_is_error) return; /* keep an error about something that the user did meanwhile */
  if (w->solved.converged)
    app_tell(&w->app, "converged after %d iterations, residual %.1e", w->solved.iterations, w->solved.residual);
  else
    app_tell(&w->app, "not converged after %d iterations, residual %.1e: %s", w->solved.iterations,
             w->solved.residual, w->solved.message);
  if (w->f.d.flipped)
    app_tell_more(&w->app, "%d triangle%s flipped", (int)w->f.d.flipped, w->f.d.flipped == 1 ? " is" : "s are");
}

void window_solve(window_state *w) {
  w->state = worker_look(w->solver, &w->progress);
  if (w->state == WORKER_DONE) {
    if (w->wanted)
      worker_stop(w->solver);
    else
      read_solution(w);
    w->state = WORKER_IDLE;
  }
  if (w->state != WORKER_IDLE || !w->wanted || w->asks_cut) return;
  w->options.device.backend = w->backend;
  const char *why = worker_start(w->solver, &w->f, &w->options.device, &w->options.conformal);
  if (why) app_tell_error(&w->app, why);
  w->wanted = 0;
  w->state = WORKER_BUSY;
}

void window_solve_or_stop(window_state *w) {
  if (window_asks(w)) return;
  if (w->state == WORKER_BUSY) {
    worker_stop(w->solver);
    w->wanted = 0;
    app_tell(&w->app, "stopped");
  } else {
    w->wanted = 1;
    app_tell(&w->app, "%s", "");
  }
}

void window_cut(window_state *w) {
  w->options.flattening.cut = w->asks_cut || !w->options.flattening.cut;
  if (!w->asks_cut) {
    app_tell(&w->app, "closed meshes will %sbe cut when they are opened",
             w->options.flattening.cut ? "" : "not ");
    return;
  }
  w->asks_cut = w->options.look.mesh_only = 0;
  w->wanted = 1;
  w->app.screen.stale = 1;
  app_tell(&w->app, "%s: cut open along %d edges", w->files.name, (int)w->f.cut.edges);
}

/* ---- Files ---- */

const char *window_picture(window_state *w, int is_video, int width, int height, unsigned char *rgb) {
  flat_look look = w->options.look;
  (void)is_video;
  look.legend = 1;
  return w->view ? flat_view_picture(w->view, &w->app.camera, &w->window, &look, width, height, rgb)
                 : "there is no mesh to draw";
}

static int write_mesh(window_state *w, const char *path, char message[MESH_MESSAGE]) {
  return flattening_write(&w->f, path, message);
}

void window_export(window_state *w) {
  if (window_asks(w)) return;
  mesh_window_export(&w->files, &w->app, &w->f.m, write_mesh);
}

void window_open_file(window_state *w, const char *path) {
  char message[MESH_MESSAGE];
  const flattening_options cut = {.cut = 1, .start = w->options.flattening.start};
  load_report report;
  mesh m;
  flattening made;
  if (mesh_window_load(&w->app, path, w->options.load.keep_duplicates, &m, &report)) return;
  if (flattening_create(&m, &cut, &made, message)) {
    mesh_window_tell_error(&w->app, path, message);
    return;
  }
  worker_stop(w->solver);
  flattening_destroy(&w->f);
  w->f = made;
  w->pin_count = 0;
  window_forget(w);
  mesh_window_tell(&w->app, &report, &repair_words, &w->f.m);
  mesh_window_name(&w->files, &w->app, path, "-uv.obj", "-uv.png", NULL, NULL);
  window_show_mesh(w);
}
