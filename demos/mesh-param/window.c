/* The window of mesh-param: the mesh next to its UV map. The user adds, moves and removes pins. */
#include "window_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "message.h"

/* ---- Keys ---- */

static void next_colour(window_state *w) {
  w->options.look.colour = (w->options.look.colour + 1) % FLAT_COLOURS;
  w->options.look.range = 0;
  w->app.screen.stale = 1;
}
static void switch_wireframe(window_state *w) {
  w->options.look.wireframe = !w->options.look.wireframe;
  w->app.screen.stale = 1;
}
static void switch_squares(window_state *w) {
  w->options.look.squares = w->options.look.squares ? 0 : 40;
  w->app.screen.stale = 1;
}
static void stop(window_state *w) {
  if (w->state == WORKER_BUSY) window_solve_or_stop(w);
}

static const app_key keys[] = {{GLFW_KEY_SPACE, 0, window_solve_or_stop, "Space", "solve or stop", 0, 0},
                               {'X', 0, window_cut, "X", "cut closed meshes", 0, 0},
                               {'A', 0, window_automatic_pins, "A", "use automatic pins", 0, 0},
                               {'F', 0, window_fit, "F", "fit mesh and UV map into the picture", 0, 0},
                               {'W', 0, switch_wireframe, "W", "show or hide the wireframe", 0, 0},
                               {'K', 0, switch_squares, "K", "show or hide the checkerboard", 0, 0},
                               {'C', 0, next_colour, "C", "next colour (none, angles, areas)", 0, 0},
                               {'E', 0, window_export, "E", "export the mesh with u and v", 0, 0},
                               {0}};

static const ui_row pointer[] = {{"left button", "orbit the mesh; pan the UV map; drag a pin in the UV map"},
                                 {"right button", "pan (also middle button)"},
                                 {"Shift and left", "pin or unpin a vertex, on the mesh or in the UV map"},
                                 {"wheel", "zoom"},
                                 {"drop a file", "open it (OBJ, PLY, OFF or STL)"},
                                 {0}};

/* ---- The pointer ---- */

static int in_image(const window_state *w) {
  int width, height;
  app_scene_size(&w->app, &width, &height);
  const int left = width / 2;
  return w->app.x >= left;
}

static void pick(window_state *w) {
  if (window_asks(w)) return;
  const int32_t pin = window_find_pin(w, w->app.x, w->app.y);
  const int32_t vertex = pin < 0 ? window_find_vertex(w, w->app.x, w->app.y) : -1;
  if (pin >= 0) window_remove_pin(w, pin);
  if (vertex >= 0) window_add_pin(w, vertex);
}

static void press_left(window_state *w) {
  const int32_t pin = in_image(w) && !w->asks_cut ? window_find_pin(w, w->app.x, w->app.y) : -1;
  if (pin >= 0) window_grab_pin(w, pin);
  w->app.drag = pin >= 0 ? DRAG_PIN : in_image(w) ? DRAG_IMAGE : APP_DRAG_ORBIT;
}

static void press(window_state *w, int button, int modifiers) {
  if (button != GLFW_MOUSE_BUTTON_LEFT)
    w->app.drag = in_image(w) ? DRAG_IMAGE : APP_DRAG_PAN;
  else if (modifiers & GLFW_MOD_SHIFT)
    pick(w);
  else
    press_left(w);
}

static void release(window_state *w, int button) {
  (void)button;
  w->dragged = w->grabbed = -1;
}

static void move(window_state *w, double x, double y) {
  int width, height;
  app_scene_size(&w->app, &width, &height);
  const int shorter = width - width / 2 < height ? width - width / 2 : height;
  app_drag_camera(&w->app, x, y, width / 2, height);
  if (w->app.drag == DRAG_IMAGE) {
    w->window.middle[0] -= (x - w->app.x) * w->window.size / shorter;
    w->window.middle[1] += (y - w->app.y) * w->window.size / shorter;
  }
  if (w->app.drag == DRAG_PIN) window_move_pin(w, x, y);
}

static void scroll(window_state *w, double amount) {
  if (in_image(w))
    w->window.size *= pow(0.9, amount);
  else
    camera_zoom(&w->app.camera, (float)amount);
}

/* ---- Frames ---- */

static const char *draw(window_state *w, int left, int width, int height) {
  (void)left;
  if (!w->view) return NULL;
  return flat_view_draw(w->view, &w->app.camera, &w->window, &w->options.look, width, height);
}

static void work(window_state *w, double seconds) {
  (void)seconds;
  window_solve(w);
}

static double idle_seconds(const window_state *w) {
  return w->state == WORKER_BUSY ? 0.03 : 0.1;
}

static const char *hint(const window_state *w) {
  return w->state == WORKER_BUSY && !w->has_ended && !w->progress.iterations ? "setting up the solver ..." : "";
}

/* ---- The solver's context ---- */

static void enter_shared(void *user) {
  glfwMakeContextCurrent(user);
}
static void leave_shared(void *user) {
  (void)user;
  glfwMakeContextCurrent(NULL);
}

static int copy_given_pins(window_state *w, const flattening *f) {
  if (f->pin_count) w->pins = malloc((size_t)f->pin_count * sizeof *w->pins);
  if (f->pin_count && !w->pins) return 1;
  for (w->pin_count = 0; w->pin_count < f->pin_count; w->pin_count++) {
    const int32_t flat = f->pins[w->pin_count];
    w->pins[w->pin_count] = (flattening_pin){.vertex = f->c.vertex[flat],
                                             .u = f->solved[2 * (size_t)flat],
                                             .v = f->solved[2 * (size_t)flat + 1],
                                             .place = flat + 1};
  }
  return 0;
}

/* ---- The window ---- */

static int begin(window_state *w) {
  const run_options *run = &w->options.run;
  glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
  w->shared = glfwCreateWindow(16, 16, "mesh-param's solver", NULL, w->app.handle);
  const worker_sharing sharing = {w->shared ? enter_shared : NULL, w->shared ? leave_shared : NULL, w->shared};
  const char *why = worker_create(&sharing, &w->solver);
  if (!why && copy_given_pins(w, &w->f)) why = "out of memory";
  if (why) message("no window: %s", why);
  if (why) return 1;
  mesh_window_name(&w->files, &w->app, w->report.name, "-uv.obj", "-uv.png", w->options.output, run->picture);
  window_show_mesh(w);
  return w->app.note_is_error; /* begin has already printed the error */
}

static void end(window_state *w) {
  worker_destroy(&w->solver);
  flat_view_destroy(&w->view);
  if (w->shared) glfwDestroyWindow(w->shared);
}

static const app_program program = {.name = "mesh-param",
                                    .width = 1400,
                                    .least_width = 640,
                                    .panel_width = 286,
                                    .keys = keys,
                                    .pointer = pointer,
                                    .still = 1,
                                    .begin = begin,
                                    .end = end,
                                    .work = work,
                                    .draw = draw,
                                    .picture = window_picture,
                                    .controls = window_panel_draw,
                                    .stops = "stop",
                                    .stop = stop,
                                    .idle_seconds = idle_seconds,
                                    .hint = hint,
                                    .undo = window_undo,
                                    .redo = window_redo,
                                    .press = press,
                                    .release = release,
                                    .move = move,
                                    .scroll = scroll,
                                    .open_dropped_file = window_open_file,
                                    .file_kind = MESH_FILE_KIND,
                                    .file_patterns = MESH_FILE_PATTERNS};

int run_window(const program_options *options) {
  window_state w = {.options = *options, .dragged = -1, .grabbed = -1};
  if (open_flattening(options, 1, &w.report, &w.f)) return EXIT_ERROR;
  w.options.look.legend = 2; /* at the top, because notes are at the bottom */
  snprintf(w.backend, sizeof w.backend, "%s", options->device.backend ? options->device.backend : "auto");
  const int status = app_main(&w, &program, &options->run);
  free(w.pins);
  window_forget(&w);
  flattening_destroy(&w.f);
  return status;
}
