/* The window of mesh-param: the mesh and its UV map side by side; pins are picked and moved. */
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
  w->screen.stale = 1;
}
static void switch_wireframe(window_state *w) {
  w->options.look.wireframe = !w->options.look.wireframe;
  w->screen.stale = 1;
}
static void switch_squares(window_state *w) {
  w->options.look.squares = w->options.look.squares ? 0 : 40;
  w->screen.stale = 1;
}
static void stop(window_state *w) {
  if (w->state == WORKER_BUSY) window_solve_or_stop(w);
}

static const app_key keys[] = {{GLFW_KEY_SPACE, 0, window_solve_or_stop, "Space", "solve, stop", 0},
                               {'Z', 0, window_undo, "Z", "undo a change of pins (also Ctrl+Z)", 1},
                               {'Z', 1, window_undo, NULL, NULL, 1},
                               {'Y', 0, window_redo, "Y", "redo (also Ctrl+Y)", 1},
                               {'Y', 1, window_redo, NULL, NULL, 1},
                               {'Z', 2, window_redo, NULL, NULL, 1},
                               {'X', 0, window_cut, "X", "cut closed meshes", 0},
                               {'A', 0, window_automatic_pins, "A", "automatic pins", 0},
                               {'F', 0, window_fit, "F", "fit mesh and UV map into the picture", 0},
                               {'W', 0, switch_wireframe, "W", "wireframe", 0},
                               {'K', 0, switch_squares, "K", "checkerboard", 0},
                               {'C', 0, next_colour, "C", "colour: none, angles, areas", 0},
                               {'P', 0, window_save_picture, "P", "save a picture", 0},
                               {'E', 0, window_export, "E", "export the mesh with u and v", 0},
                               {0}};

static const ui_row pointer[] = {{"left button", "orbit the mesh; pan the UV map; drag a pin in the UV map"},
                                 {"right button", "pan (also the middle one)"},
                                 {"Shift, left", "pin a vertex, on the mesh or in the UV map; or unpin it"},
                                 {"wheel", "zoom"},
                                 {"drop a file", "open it: OBJ, PLY, OFF or STL"},
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
  w->drag = pin >= 0 ? DRAG_PIN : in_image(w) ? DRAG_IMAGE : DRAG_ORBIT;
}

static void press(window_state *w, int button, int modifiers) {
  if (button != GLFW_MOUSE_BUTTON_LEFT)
    w->drag = in_image(w) ? DRAG_IMAGE : DRAG_PAN;
  else if (modifiers & GLFW_MOD_SHIFT)
    pick(w);
  else
    press_left(w);
}

static void release(window_state *w, int button) {
  (void)button;
  w->drag = DRAG_NONE;
  w->dragged = w->grabbed = -1;
}

static void move(window_state *w, double x, double y) {
  int width, height;
  app_scene_size(&w->app, &width, &height);
  const float x0 = (float)w->app.x, y0 = (float)w->app.y;
  const int shorter = width - width / 2 < height ? width - width / 2 : height;
  if (w->drag == DRAG_ORBIT) camera_orbit(&w->camera, x0, y0, (float)x, (float)y, width / 2, height);
  if (w->drag == DRAG_PAN) camera_pan(&w->camera, x0, y0, (float)x, (float)y, width / 2, height);
  if (w->drag == DRAG_IMAGE) {
    w->window.middle[0] -= (x - w->app.x) * w->window.size / shorter;
    w->window.middle[1] += (y - w->app.y) * w->window.size / shorter;
  }
  if (w->drag == DRAG_PIN) window_move_pin(w, x, y);
  if (w->drag != DRAG_NONE) w->screen.stale = 1;
}

static void scroll(window_state *w, double amount) {
  if (in_image(w))
    w->window.size *= pow(0.9, amount);
  else
    camera_zoom(&w->camera, (float)amount);
  w->screen.stale = 1;
}

/* ---- Frames ---- */

static const char *draw_view(void *user, int width, int height) {
  window_state *w = user;
  return w->view ? flat_view_draw(w->view, &w->camera, &w->window, &w->options.look, width, height) : NULL;
}

static void draw(window_state *w, int left, int width, int height) {
  const char *why = view_gl_show(&w->screen, left, width, height, draw_view, w);
  if (why) app_tell_error(&w->app, why);
}

static void work(window_state *w, double seconds) {
  (void)seconds;
  window_solve(w);
}

static double rest(const window_state *w) {
  return w->state == WORKER_BUSY ? 0.03 : 0.1;
}

static const char *hint(const window_state *w) {
  return w->state == WORKER_BUSY && !w->has_ended && !w->progress.iterations ? "setting up the solver ..." : "";
}

static const app_program program = {.name = "mesh-param",
                                    .width = 1400,
                                    .height = 800,
                                    .least_width = 640,
                                    .least_height = 320,
                                    .panel_width = 286,
                                    .ground = {0.945f, 0.95f, 0.955f},
                                    .keys = keys,
                                    .pointer = pointer,
                                    .stops = "stop",
                                    .stop = stop,
                                    .work = work,
                                    .draw = draw,
                                    .controls = window_panel_draw,
                                    .rest = rest,
                                    .hint = hint,
                                    .press = press,
                                    .release = release,
                                    .move = move,
                                    .scroll = scroll,
                                    .take_file = window_open_file,
                                    .file_kind = MESH_FILE_KIND,
                                    .file_patterns = MESH_FILE_PATTERNS};

/* ---- The solver's context ---- */

static void enter_shared(void *user) {
  glfwMakeContextCurrent(user);
}
static void leave_shared(void *user) {
  (void)user;
  glfwMakeContextCurrent(NULL);
}

static int take_given_pins(window_state *w, const flattening *f) {
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

static int run(window_state *w, const char *name, GLFWwindow *shared) {
  const worker_sharing sharing = {shared ? enter_shared : NULL, shared ? leave_shared : NULL, shared};
  const char *why = worker_create(&sharing, &w->solver);
  if (!why && take_given_pins(w, w->f)) why = "out of memory";
  if (why) message("no window: %s", why);
  if (why) return EXIT_ERROR;
  mesh_window_name(&w->files, &w->app, name, "-uv.obj", "-uv.png", w->options.output, w->options.screenshot);
  window_take_mesh(w);
  if (w->app.note_is_error) return EXIT_ERROR; /* which it has said */
  app_run(&w->app);
  return EXIT_FLAT;
}

int run_window(const program_options *options) {
  window_state w = {.options = *options, .dragged = -1, .grabbed = -1};
  char why[MESH_MESSAGE];
  load_report report;
  flattening f;
  if (open_flattening(options, 1, &report, &f)) return EXIT_ERROR;
  w.f = &f;
  w.options.look.legend = 2; /* below is what the user is told */
  snprintf(w.backend, sizeof w.backend, "%s", options->device.backend ? options->device.backend : "auto");
  int status = EXIT_ERROR;
  if (app_open(&w.app, &program, &w, options->ui_scale, why, sizeof why)) {
    message("%s; --headless does without", why);
  } else {
    /* Hidden, the solver's: its context shares the window's objects. NULL: none. */
    glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
    GLFWwindow *shared = glfwCreateWindow(16, 16, "mesh-param's solver", NULL, w.app.handle);
    status = run(&w, report.name, shared);
    worker_destroy(&w.solver);
    flat_view_destroy(&w.view);
    view_gl_destroy_screen(&w.screen);
    if (shared) glfwDestroyWindow(shared);
    app_close(&w.app);
  }
  free(w.pins);
  window_forget(&w);
  flattening_destroy(&f);
  return status;
}
