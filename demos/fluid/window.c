/* The window of fluid: push the fluid with the mouse, draw walls, change anything. */
#include <GL/glew.h>

#include "window_state.h"

#include <math.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "message.h"

fluid_area window_area(const window_state *w) {
  fluid_area space = {.x = app_panel_width(&w->app)};
  app_scene_size(&w->app, &space.width, &space.height);
  return fluid_view_fit(w->s, space);
}

/* ---- Keys ---- */

static void show_field(window_state *w, fluid_field field) {
  w->look.field = field;
  if (!w->own_range) w->look.range = 0;
  w->look.legend = field != FLUID_FIELD_DYE;
}
static void show_dye(window_state *w) {
  show_field(w, FLUID_FIELD_DYE);
}
static void show_speed(window_state *w) {
  show_field(w, FLUID_FIELD_SPEED);
}
static void show_pressure(window_state *w) {
  show_field(w, FLUID_FIELD_PRESSURE);
}
static void show_divergence(window_state *w) {
  show_field(w, FLUID_FIELD_DIVERGENCE);
}
static void show_vorticity(window_state *w) {
  show_field(w, FLUID_FIELD_VORTICITY);
}
static void switch_arrows(window_state *w) {
  w->look.arrows = !w->look.arrows;
}
static void switch_particles(window_state *w) {
  window_set_particles(w, w->look.particles && w->particles ? 0 : 4096);
}
static void next_solver(window_state *w) {
  const int next = ((int)w->s->parameters.solver + 1) % WINDOW_SOLVERS;
  window_set_solver(w, (ts_fluid_solver)next);
  if (!w->app.note_is_error)
    app_tell(&w->app, "pressure by %s, %d iterations", ts_fluid_solver_name((ts_fluid_solver)next),
             w->s->parameters.iterations);
}
static void next_scene(window_state *w) {
  window_set_scene(w, (scene_index(w->s->options.scene) + 1) % scene_count(), 0, 0);
}
static void set_brush(window_state *w, double brush) {
  w->pointer.brush = fmin(fmax(brush, POINTER_SMALLEST), POINTER_LARGEST);
}
static void smaller_brush(window_state *w) {
  set_brush(w, w->pointer.brush / 1.2);
}
static void larger_brush(window_state *w) {
  set_brush(w, w->pointer.brush * 1.2);
}
static void pause_steps(window_state *w) {
  w->paused = 1;
}

static const app_key keys[] = {{GLFW_KEY_SPACE, 0, window_run_or_pause, "Space", "run, pause", 0},
                               {'S', 0, window_step, "S", "one step", 1},
                               {'R', 0, window_reset, "R", "restart", 0},
                               {'C', 0, window_clear_walls, "C", "clear walls", 0},
                               {'N', 0, next_scene, "N", "next scene", 0},
                               {'M', 0, next_solver, "M", "next pressure solver", 0},
                               {'1', 0, show_dye, "1", "dye", 0},
                               {'2', 0, show_speed, "2", "speed", 0},
                               {'3', 0, show_pressure, "3", "pressure", 0},
                               {'4', 0, show_divergence, "4", "divergence", 0},
                               {'5', 0, show_vorticity, "5", "vorticity", 0},
                               {'A', 0, switch_arrows, "A", "velocity arrows", 0},
                               {'O', 0, switch_particles, "O", "particles", 0},
                               {'[', 0, smaller_brush, "[", "smaller brush", 1},
                               {']', 0, larger_brush, "]", "larger brush", 1},
                               {'P', 0, window_save_picture, "P", "save a picture", 0},
                               {'F', 0, window_video, "F", "start or stop a video", 0},
                               {'J', 0, window_save_report, "J", "save settings and measurements, as JSON", 0},
                               {0}};

static const ui_row pointer_rows[] = {{"left button", "push the fluid, with dye"},
                                      {"right button", "draw walls"},
                                      {"middle button", "erase walls (also Shift and the right one)"},
                                      {"wheel", "larger or smaller brush"},
                                      {"drop a PNG", "dark pixels become walls"},
                                      {0}};

/* ---- The pointer ---- */

static void press(window_state *w, int button, int modifiers) {
  unsigned does = POINTER_PUSH;
  if (button == GLFW_MOUSE_BUTTON_RIGHT) does = modifiers & GLFW_MOD_SHIFT ? POINTER_ERASE : POINTER_WALL;
  if (button == GLFW_MOUSE_BUTTON_MIDDLE) does = POINTER_ERASE;
  pointer_press(&w->pointer, button, does);
  w->touched |= does == POINTER_PUSH;
}

static void release(window_state *w, int button) {
  pointer_release(&w->pointer, button);
}

/* To metres in the fluid, whose area counts from the lower left of the framebuffer. */
static void move(window_state *w, double x, double y) {
  int width, height;
  double metres_x, metres_y;
  if (!w->s) return; /* not yet */
  app_scene_size(&w->app, &width, &height);
  fluid_view_metres(w->s, window_area(w), x + app_panel_width(&w->app), height - y, &metres_x, &metres_y);
  pointer_move(&w->pointer, metres_x, metres_y);
}

static void scroll(window_state *w, double amount) {
  set_brush(w, w->pointer.brush * pow(1.15, amount));
}

/* ---- Frames ---- */

static void draw(window_state *w, int left, int width, int height) {
  (void)left, (void)width, (void)height;
  const double begin = glfwGetTime();
  const char *why = fluid_view_draw(w->view, w->s, &w->look, window_area(w));
  if (why) app_tell_error(&w->app, why);
  if (w->measure_times) { /* else nobody waits for it */
    glFinish();
    simulation_note_draw(w->s, glfwGetTime() - begin);
  }
}

static void work(window_state *w, double seconds) {
  char message[SIMULATION_MESSAGE];
  w->frame_seconds += 0.1 * (seconds - w->frame_seconds);
  window_follow_size(w, seconds);
  /* Also while it is paused. Where frames are slow the fluid is slower than the hand, but should answer to it.
   */
  const double frames = fmin(fmax(60 * seconds, 1), 4);
  const double passed = frames * w->steps_per_frame * w->s->parameters.time_step;
  if (pointer_apply(&w->pointer, w->s, passed, glfwGetTime(), message)) app_tell_error(&w->app, message);
  window_make_steps(w, seconds);
  window_write_report(w);
}

static double rest(const window_state *w) {
  return w->paused && !w->single_step && !w->compiling && !w->pointer.buttons ? 0.05 : 0;
}

static const char *busy(const window_state *w) {
  return w->compiling ? "compiling shaders ..." : "";
}
static const char *hint(const window_state *w) {
  return w->s->warning;
}

static const app_program program = {.name = "fluid",
                                    .width = 1280,
                                    .height = 800,
                                    .least_width = 480,
                                    .least_height = 320,
                                    .panel_width = 300,
                                    .ground = {0.20f, 0.21f, 0.22f},
                                    .keys = keys,
                                    .pointer = pointer_rows,
                                    .stops = "pause",
                                    .stop = pause_steps,
                                    .work = work,
                                    .draw = draw,
                                    .controls = window_panel_draw,
                                    .rest = rest,
                                    .busy = busy,
                                    .hint = hint,
                                    .press = press,
                                    .release = release,
                                    .move = move,
                                    .scroll = scroll,
                                    .take_file = window_load_walls,
                                    .file_kind = "pictures of walls",
                                    .file_patterns = "*.png *.PNG"};

static void take_options(window_state *w, const program_options *o) {
  window_take_scene(w);
  if (o->field_given) show_field(w, o->look.field);
  w->look.legend = 1;
  w->look.arrows |= o->look.arrows;
  if (o->look.range > 0) w->look.range = o->look.range;
  w->own_range = w->look.range > 0;
  if (o->steps_per_frame > 0) w->steps_per_frame = o->steps_per_frame;
}

int run_window(const program_options *options) {
  window_state w = {
      .options = options, .measure_divergence = 1, .frame_seconds = 1.0 / 60, .iterations = {2, 4, 50, 20}};
  simulation_options simulated = options->simulation;
  char why[SIMULATION_MESSAGE];
  pointer_set_up(&w.pointer);
  if (app_open(&w.app, &program, &w, options->ui_scale, why, sizeof why)) {
    message("%s; --headless does without", why);
    return EXIT_ERROR;
  }
  simulated.platform = TS_GL_PLATFORM_CURRENT;
  w.own_size = simulated.width > 0;
  if (!simulated.scene) simulated.scene = scene_at(0);
  if (!simulated.walls && !w.own_size) {
    simulated.width = window_fitting_width(&w, simulated.scene, simulated.scene->height);
    simulated.height = simulated.width ? simulated.scene->height : 0;
  }
  int failed = simulation_create(&simulated, &w.s, why);
  const char *fault = failed ? why : fluid_view_create(&w.view);
  if (fault) {
    message("%s", fault);
    failed = 1;
  } else {
    take_options(&w, options);
    app_run(&w.app);
    app_video_end(&w.app, &w.files.video);
  }
  fluid_view_destroy(&w.view);
  simulation_destroy(&w.s);
  app_close(&w.app);
  return failed ? EXIT_ERROR : EXIT_MADE;
}
