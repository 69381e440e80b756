/* The window of mesh-smooth: look at a mesh, smooth it, compare, export. */
#include "window_state.h"

#include <math.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "message.h"

/* ---- Keys ---- */

static void next_colour(window_state *w) {
  w->scene.look.colour = (w->scene.look.colour + 1) % MESH_COLOURS;
  w->scene.screen.stale = w->scene.range_stale = 1;
  w->scene.range_chosen = 0;
}
static void next_shading(window_state *w) {
  w->scene.look.shading = (w->scene.look.shading + 1) % MESH_SHADINGS;
  w->scene.screen.stale = 1;
}
static void switch_wireframe(window_state *w) {
  w->scene.look.wireframe = !w->scene.look.wireframe;
  w->scene.screen.stale = 1;
}
static void switch_before_after(window_state *w) {
  w->scene.look.before_after = !w->scene.look.before_after;
  w->scene.screen.stale = 1;
}
static void pause_steps(window_state *w) {
  w->steps_to_make = 0;
}

static const app_key keys[] = {
    {GLFW_KEY_SPACE, 0, window_run_or_pause, "Space", "run, pause", 0},
    {'S', 0, window_step, "S", "one step", 1},
    {'Z', 0, window_undo, "Z", "undo (also Ctrl+Z)", 1},
    {'Z', 1, window_undo, NULL, NULL, 1},
    {'Y', 0, window_redo, "Y", "redo (also Ctrl+Y)", 1},
    {'Y', 1, window_redo, NULL, NULL, 1},
    {'Z', 2, window_redo, NULL, NULL, 1},
    {'R', 0, window_reset, "R", "back to the start", 0},
    {'N', 0, window_add_noise, "N", "add noise", 0},
    {'X', 0, window_remove_control, "X", "remove the control point (also Delete)", 0},
    {GLFW_KEY_DELETE, 0, window_remove_control, NULL, NULL, 0},
    {'F', 0, window_fit, "F", "fit the mesh into the picture", 0},
    {'D', 0, next_shading, "D", "smooth or flat shading", 0},
    {'W', 0, switch_wireframe, "W", "wireframe", 0},
    {'C', 0, next_colour, "C", "colour: none, curvature, distance moved", 0},
    {'B', 0, switch_before_after, "B", "before and after", 0},
    {'P', 0, window_save_picture, "P", "save a picture", 0},
    {'E', 0, window_export, "E", "export the mesh", 0},
    {0}};

static const ui_row pointer[] = {
    {"left button", "orbit; drag the line between before and after"},
    {"on a control point", "drag it; Ctrl and left on the mesh adds one (interpolation)"},
    {"right button", "pan (also the middle one, or Shift and the left one)"},
    {"wheel", "zoom"},
    {"drop a file", "open it: OBJ, PLY, OFF or STL"},
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
    w->drag = DRAG_PAN;
  else if (window_grab_control(w, (modifiers & GLFW_MOD_CONTROL) != 0))
    w->drag = DRAG_CONTROL;
  else
    w->drag = is_on_split(w) ? DRAG_SPLIT : DRAG_ORBIT;
}

static void release(window_state *w, int button) {
  (void)button;
  w->drag = DRAG_NONE;
}

static void move(window_state *w, double to_x, double to_y) {
  const float x0 = (float)w->app.x, y0 = (float)w->app.y, x = (float)to_x, y = (float)to_y;
  int width, height;
  app_scene_size(&w->app, &width, &height);
  camera *c = &w->scene.camera;
  if (w->drag == DRAG_ORBIT) camera_orbit(c, x0, y0, x, y, width, height);
  if (w->drag == DRAG_PAN) camera_pan(c, x0, y0, x, y, width, height);
  if (w->drag == DRAG_CONTROL) window_drag_control(w, x0, y0, x, y, width, height);
  if (w->drag == DRAG_SPLIT) w->scene.look.split = fminf(fmaxf(x / (float)width, 0), 1);
  if (w->drag != DRAG_NONE) w->scene.screen.stale = 1;
}

static void scroll(window_state *w, double amount) {
  camera_zoom(&w->scene.camera, (float)amount);
  w->scene.screen.stale = 1;
}

/* ---- Frames ---- */

static void work(window_state *w, double seconds) {
  (void)seconds;
  if (w->app.note_is_error) w->steps_to_make = 0;
  if (w->steps_to_make)
    window_make_step(w);
  else if (w->following)
    window_follow(w);
}

static double rest(const window_state *w) {
  return w->steps_to_make || w->following ? 0 : 0.05;
}

static const char *busy(const window_state *w) {
  return w->compiling ? "compiling shaders ..." : "";
}

static const app_program program = {.name = "mesh-smooth",
                                    .width = 1280,
                                    .height = 800,
                                    .least_width = 480,
                                    .least_height = 320,
                                    .panel_width = 286,
                                    .ground = {0.945f, 0.95f, 0.955f},
                                    .keys = keys,
                                    .pointer = pointer,
                                    .stops = "pause",
                                    .stop = pause_steps,
                                    .work = work,
                                    .draw = window_draw_scene,
                                    .controls = window_panel_draw,
                                    .rest = rest,
                                    .busy = busy,
                                    .press = press,
                                    .release = release,
                                    .move = move,
                                    .scroll = scroll,
                                    .take_file = window_open_file,
                                    .file_kind = MESH_FILE_KIND,
                                    .file_patterns = MESH_FILE_PATTERNS};

static int run(window_state *w, const program_options *given, program_input *in) {
  program_options options = *given;
  options.smoother.platform = TS_GL_PLATFORM_CURRENT;
  if (input_open(&options, in, &w->s)) return EXIT_ERROR;
  mesh_window_name(&w->files, &w->app, in->report.name, "-smooth.ply", ".png", options.output,
                   options.screenshot);
  window_take_mesh(w);
  if (w->app.note_is_error) return EXIT_ERROR; /* which it has said */
  app_run(&w->app);
  return EXIT_MADE;
}

int run_window(const program_options *options) {
  window_state w = {.keep_duplicates = options->load.keep_duplicates,
                    .scene.look = options->look,
                    .scene.keep_range = options->look.range > 0,
                    .noise = 0.002,
                    .seed = 1,
                    .steps_to_make = options->steps > 0 ? options->steps : 0,
                    .selected = -1,
                    .new_fixed = 1,
                    .new_weight = 10};
  char why[MESH_MESSAGE];
  program_input in;
  if (input_read(options, &in)) return EXIT_ERROR;
  if (app_open(&w.app, &program, &w, options->ui_scale, why, sizeof why)) {
    message("%s; --headless does without", why);
    input_free(&in);
    return EXIT_ERROR;
  }
  const int status = run(&w, options, &in);
  window_close_scene(&w);
  smoother_destroy(&w.s);
  app_close(&w.app);
  return status;
}
