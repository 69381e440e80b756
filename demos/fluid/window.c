/* The window of fluid. The user pushes the fluid, draws walls and changes parameters. */
#include <GL/glew.h>

#include "window_state.h"

#include <math.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "message.h"
#include "reports.h"

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
  window_set_solver(w, (pressure_of(&w->s->parameters.pressure).solver + 1) % PRESSURE_SOLVERS);
  const pressure_choice now = pressure_of(&w->s->parameters.pressure);
  if (!w->app.note_is_error)
    app_tell(&w->app, "pressure by %s, %d iterations", pressure_name(now.solver), now.iterations);
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

static const app_key keys[] = {{'C', 0, window_clear_walls, "C", "clear walls", 0, 0},
                               {'N', 0, next_scene, "N", "next scene", 0, 0},
                               {'M', 0, next_solver, "M", "next pressure solver", 0, 0},
                               {'1', 0, show_dye, "1", "show dye", 0, 0},
                               {'2', 0, show_speed, "2", "show speed", 0, 0},
                               {'3', 0, show_pressure, "3", "show pressure", 0, 0},
                               {'4', 0, show_divergence, "4", "show divergence", 0, 0},
                               {'5', 0, show_vorticity, "5", "show vorticity", 0, 0},
                               {'A', 0, switch_arrows, "A", "show or hide velocity arrows", 0, 0},
                               {'O', 0, switch_particles, "O", "show or hide particles", 0, 0},
                               {'[', 0, smaller_brush, "[", "smaller brush", 1, 0},
                               {']', 0, larger_brush, "]", "larger brush", 1, 0},
                               {0}};

static const ui_row pointer_rows[] = {{"left button", "push the fluid and add dye"},
                                      {"right button", "draw walls"},
                                      {"middle button", "erase walls (also Shift and right button)"},
                                      {"wheel", "change the size of the brush"},
                                      {"drop a PNG file", "use its dark pixels as walls"},
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

/* Converts to metres in the fluid. Areas count from the lower left of the framebuffer. */
static void move(window_state *w, double x, double y) {
  int width, height;
  double metres_x, metres_y;
  if (!w->s) return; /* not created yet */
  app_scene_size(&w->app, &width, &height);
  fluid_view_metres(w->s, window_area(w), x + app_panel_width(&w->app), height - y, &metres_x, &metres_y);
  pointer_move(&w->pointer, metres_x, metres_y);
}

static void scroll(window_state *w, double amount) {
  set_brush(w, w->pointer.brush * pow(1.15, amount));
}

/* ---- Frames ---- */

static const char *draw(window_state *w, int left, int width, int height) {
  (void)left, (void)width, (void)height;
  const double begin = glfwGetTime();
  const char *why = fluid_view_draw(w->view, w->s, &w->look, window_area(w));
  if (w->measure_times) { /* otherwise drawing is asynchronous and has no meaningful time */
    glFinish();
    simulation_note_draw(w->s, glfwGetTime() - begin);
  }
  return why;
}

/* The size of the fluid in the window. */
static void picture_size(const window_state *w, int *width, int *height) {
  const fluid_area area = window_area(w);
  *width = area.width;
  *height = area.height;
}

static const char *draw_picture(window_state *w, int is_video, int width, int height, unsigned char *rgb) {
  (void)is_video;
  return fluid_view_picture(w->view, w->s, &w->look, width, height, rgb);
}

static void work(window_state *w, double seconds) {
  char message[SIMULATION_MESSAGE];
  window_follow_size(w, seconds);
  /* Apply the pointer also while paused. If frames are slow, simulated time passes more slowly than real time,
   * but the fluid should still follow the hand. */
  const double frames = fmin(fmax(60 * seconds, 1), 4);
  const double passed = frames * w->steps_per_frame * w->s->parameters.time_step;
  if (pointer_apply(&w->pointer, w->s, passed, glfwGetTime(), message)) app_tell_error(&w->app, message);
  window_make_steps(w, seconds);
}

static const char *hint(const window_state *w) {
  return w->s->warning;
}

/* ---- The report ---- */

static json_t *describe(const window_state *w) {
  const ts_fluid_info *info = &w->s->info;
  const ts_fluid_result *r = &w->s->result;
  const unsigned char *solid = w->s->solid;
  int walls = 0;
  for (int32_t k = 0; k < info->width * info->height; k++) walls += solid[k] != 0;
  json_t *report = report_simulation_json(w->s);
  json_t *state =
      json_pack("{s:s, s:b, s:i, s:f, s:i, s:i, s:i, s:f, s:o, s:o}", "view", fluid_field_name(w->look.field),
                "paused", w->app.paused, "steps", r->steps, "time", r->time, "wall_cells", walls, "particles",
                w->look.particles ? w->particles : 0, "iterations", r->iterations, "frames_per_second",
                1 / w->app.frame_seconds, "divergence_before", report_number(r->divergence_before),
                "divergence_after", report_number(r->divergence_after));
  return app_join_reports(report, state);
}

static void apply_options(window_state *w, const program_options *o) {
  window_show_scene(w);
  if (o->field_given) show_field(w, o->look.field);
  w->look.legend = 1;
  w->look.arrows |= o->look.arrows;
  if (o->look.range > 0) w->look.range = o->look.range;
  w->own_range = w->look.range > 0;
  if (o->run.steps_per_frame > 0) w->steps_per_frame = o->run.steps_per_frame;
}

static int begin(window_state *w) {
  simulation_options simulated = w->options->simulation;
  char why[SIMULATION_MESSAGE];
  simulated.platform = TS_GL_PLATFORM_CURRENT;
  w->own_size = simulated.width > 0;
  if (!simulated.scene) simulated.scene = scene_at(0);
  if (!simulated.walls && !w->own_size) {
    simulated.width = window_fitting_width(w, simulated.scene, simulated.scene->height);
    simulated.height = simulated.width ? simulated.scene->height : 0;
  }
  const char *fault = simulation_create(&simulated, &w->s, why) ? why : fluid_view_create(&w->view);
  if (fault) {
    message("%s", fault);
    return 1;
  }
  apply_options(w, w->options);
  return 0;
}

static void end(window_state *w) {
  fluid_view_destroy(&w->view);
  simulation_destroy(&w->s);
}

static const float ground[3] = {0.20f, 0.21f, 0.22f};
static const app_program program = {.name = "fluid",
                                    .ground = ground,
                                    .keys = keys,
                                    .pointer = pointer_rows,
                                    .begin = begin,
                                    .end = end,
                                    .work = work,
                                    .draw = draw,
                                    .picture = draw_picture,
                                    .picture_size = picture_size,
                                    .controls = window_panel_draw,
                                    .reset = window_reset,
                                    .describe = describe,
                                    .hint = hint,
                                    .press = press,
                                    .release = release,
                                    .move = move,
                                    .scroll = scroll,
                                    .open_dropped_file = window_load_walls,
                                    .file_kind = "pictures of walls",
                                    .file_patterns = "*.png *.PNG"};

int run_window(const program_options *options) {
  window_state w = {.options = options, .measure_divergence = 1};
  for (int k = 0; k < PRESSURE_SOLVERS; k++) w.iterations[k] = pressure_default(k).iterations;
  pointer_set_up(&w.pointer);
  return app_main(&w, &program, &options->run);
}
