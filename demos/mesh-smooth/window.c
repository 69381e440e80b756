/* The window of mesh-smooth: shows a mesh, smooths it, compares before and after, and exports it. */
#include "window_state.h"

#include <math.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

/* ---- Keys ---- */

static void next_colour(window_state *w) {
  w->scene.look.colour = (w->scene.look.colour + 1) % MESH_COLOURS;
  w->app.screen.stale = w->scene.range_stale = 1;
  w->scene.range_chosen = 0;
}
static void next_shading(window_state *w) {
  w->scene.look.shading = (w->scene.look.shading + 1) % MESH_SHADINGS;
  w->app.screen.stale = 1;
}
static void switch_wireframe(window_state *w) {
  w->scene.look.wireframe = !w->scene.look.wireframe;
  w->app.screen.stale = 1;
}
static void switch_before_after(window_state *w) {
  w->scene.look.before_after = !w->scene.look.before_after;
  w->app.screen.stale = 1;
}
static void pause_steps(window_state *w) {
  w->steps_to_make = 0;
}

static const app_key keys[] = {
    {GLFW_KEY_SPACE, 0, window_run_or_pause, "Space", "run or pause", 0, 0},
    {'S', 0, window_step, "S", "one step", 1, 0},
    {'R', 0, window_reset, "R", "go back to the start", 0, 0},
    {'N', 0, window_add_noise, "N", "add noise", 0, 0},
    {'X', 0, window_remove_control, "X", "remove the control point (also Delete)", 0, 0},
    {GLFW_KEY_DELETE, 0, window_remove_control, NULL, NULL, 0, 0},
    {'F', 0, window_fit, "F", "fit the mesh into the picture", 0, 0},
    {'D', 0, next_shading, "D", "smooth or flat shading", 0, 0},
    {'W', 0, switch_wireframe, "W", "show or hide the wireframe", 0, 0},
    {'C', 0, next_colour, "C", "next colour (none, curvature, distance moved)", 0, 0},
    {'B', 0, switch_before_after, "B", "show or hide before and after", 0, 0},
    {'E', 0, window_export, "E", "export the mesh", 0, 0},
    {0}};

static const ui_row pointer[] = {
    {"left button", "orbit; drag the line between before and after"},
    {"on a control point", "drag it; Ctrl and left button on the mesh adds one (interpolation)"},
    {"right button", "pan (also middle button, or Shift and left button)"},
    {"wheel", "zoom"},
    {"drop a file", "open it (OBJ, PLY, OFF or STL)"},
    {0}};

/* ---- The pointer ---- */

static int is_on_split(const window_state *w) {
  int width, height;
  app_scene_size(&w->app, &width, &height);
  return w->scene.look.before_after &&
         fabs(w->app.x - (double)w->scene.look.split * width) < 8 * (double)w->app.scale;
}

static void press(window_state *w, int button, int modifiers) {
  if (button != GLFW_MOUSE_BUTTON_LEFT || (modifiers & GLFW_MOD_SHIFT))
    w->app.drag = APP_DRAG_PAN;
  else if (window_grab_control(w, (modifiers & GLFW_MOD_CONTROL) != 0))
    w->app.drag = DRAG_CONTROL;
  else
    w->app.drag = is_on_split(w) ? DRAG_SPLIT : APP_DRAG_ORBIT;
}

static void move(window_state *w, double x, double y) {
  int width, height;
  app_scene_size(&w->app, &width, &height);
  app_drag_camera(&w->app, x, y, width, height);
  if (w->app.drag == DRAG_CONTROL)
    window_drag_control(w, (float)w->app.x, (float)w->app.y, (float)x, (float)y, width, height);
  if (w->app.drag == DRAG_SPLIT) w->scene.look.split = fminf(fmaxf((float)x / (float)width, 0), 1);
}

/* ---- Frames ---- */

static void work(window_state *w, double seconds) {
  (void)seconds;
  window_renew_range(w);
  if (w->app.note_is_error) w->steps_to_make = 0;
  if (w->steps_to_make)
    window_make_step(w);
  else if (w->following)
    window_follow(w);
}

static double idle_seconds(const window_state *w) {
  return w->steps_to_make || w->following ? 0 : 0.05;
}

static int begin(window_state *w) {
  program_options options = *w->options;
  options.smoother.platform = TS_GL_PLATFORM_CURRENT;
  if (input_open(&options, &w->in, &w->s)) return 1;
  mesh_window_name(&w->files, &w->app, w->in.report.name, "-smooth.ply", ".png", options.output,
                   options.run.picture);
  window_show_mesh(w);
  return w->app.note_is_error; /* begin has already printed the error */
}

static void end(window_state *w) {
  window_close_scene(w);
  smoother_destroy(&w->s);
}

static const app_program program = {.name = "mesh-smooth",
                                    .panel_width = 286,
                                    .keys = keys,
                                    .pointer = pointer,
                                    .still = 1,
                                    .begin = begin,
                                    .end = end,
                                    .work = work,
                                    .draw = window_draw_scene,
                                    .picture = window_picture,
                                    .controls = window_panel_draw,
                                    .stop = pause_steps,
                                    .idle_seconds = idle_seconds,
                                    .undo = window_undo,
                                    .redo = window_redo,
                                    .press = press,
                                    .move = move,
                                    .open_dropped_file = window_open_file,
                                    .file_kind = MESH_FILE_KIND,
                                    .file_patterns = MESH_FILE_PATTERNS};

int run_window(const program_options *options) {
  window_state w = {.options = options,
                    .scene.look = options->look,
                    .scene.keep_range = options->look.range > 0,
                    .noise = 0.002,
                    .seed = 1,
                    .steps_to_make = options->steps > 0 ? options->steps : 0,
                    .selected = -1,
                    .new_fixed = 1,
                    .new_weight = 10};
  if (input_read(options, &w.in)) return EXIT_ERROR;
  const int status = app_main(&w, &program, &options->run);
  input_free(&w.in);
  return status;
}
