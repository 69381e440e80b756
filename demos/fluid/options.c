/* The arguments of fluid. */
#include <argp.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "fluid.h"
#include "message.h"

enum {
  KEY_SCENE = 256,
  KEY_SIZE,
  KEY_WALLS,
  KEY_TIME_STEP,
  KEY_VISCOSITY,
  KEY_REYNOLDS,
  KEY_CONFINEMENT,
  KEY_BUOYANCY,
  KEY_ADVECTION,
  KEY_LAYOUT,
  KEY_PARTICLES,
  KEY_SOLVER,
  KEY_ITERATIONS,
  KEY_COLD_START,
  KEY_SMOOTHER,
  KEY_STORAGE,
  KEY_INTERPOLATION,
  KEY_CYCLE,
  KEY_PRE,
  KEY_POST,
  KEY_BACKEND,
  KEY_GL_PLATFORM,
  KEY_FRAMES,
  KEY_STEPS_PER_FRAME,
  KEY_FRAMES_DIR,
  KEY_FILM,
  KEY_SCREENSHOT,
  KEY_PICTURE_SIZE,
  KEY_VIEW,
  KEY_RANGE,
  KEY_ARROWS,
  KEY_PROFILE,
  KEY_PROBE,
  KEY_HEADLESS,
  KEY_BENCH,
  KEY_JSON
};

static const struct argp_option option_list[] = {
    {0, 0, 0, 0, "What flows:", 1},
    {"scene", KEY_SCENE, "NAME", 0, "splat, backward-step, cylinder, smoke or cavity (default: splat)", 1},
    {"size", KEY_SIZE, "WxH", 0, "cells of the grid; the domain is 1 m high (default: the scene's)", 1},
    {"walls", KEY_WALLS, "IMAGE", 0,
     "take walls from the dark pixels of a PNG file that covers the domain, instead of the scene's", 1},
    {"time-step", KEY_TIME_STEP, "T", 0, "time step in s (default: the scene's)", 1},
    {"viscosity", KEY_VISCOSITY, "NU", 0, "kinematic viscosity in m^2/s (default: the scene's)", 1},
    {"reynolds", KEY_REYNOLDS, "RE", 0,
     "set the viscosity by the Reynolds number, with the speed and length of the scene's step, cylinder or lid",
     1},
    {"vorticity-confinement", KEY_CONFINEMENT, "E", 0,
     "restore eddies lost to numerical diffusion, with strength E (default: the scene's)", 1},
    {"buoyancy", KEY_BUOYANCY, "A", 0, "upward acceleration of hot fluid, in m/s^2 (default: the scene's)", 1},
    {"advection", KEY_ADVECTION, "NAME", 0, "semi-lagrangian or maccormack (default: the scene's)", 1},
    {"layout", KEY_LAYOUT, "NAME", 0,
     "where velocities are stored: staggered, or collocated as in the paper (default: staggered)", 1},
    {"particles", KEY_PARTICLES, "N", 0, "about N particles, 0 for none (default: the scene's)", 1},
    {0, 0, 0, 0, "The pressure:", 2},
    {"solver", KEY_SOLVER, "NAME", 0, "multigrid, multigrid-cg, cg or jacobi (default: multigrid)", 2},
    {"iterations", KEY_ITERATIONS, "N", 0,
     "per time step: cycles of multigrid (default: 2), iterations of multigrid-cg (4), cg (50) or jacobi (20)",
     2},
    {"cold-start", KEY_COLD_START, 0, 0, "start from zero instead of the previous pressure", 2},
    {"smoother", KEY_SMOOTHER, "NAME", 0, "auto, jacobi, chebyshev, red-black or four-colour", 2},
    {"storage", KEY_STORAGE, "NAME", 0, "auto, plain, layered or parities", 2},
    {"interpolation", KEY_INTERPOLATION, "NAME", 0, "auto, bilinear or operator", 2},
    {"cycle", KEY_CYCLE, "NAME", 0, "V, W or F (default: V)", 2},
    {"pre", KEY_PRE, "N", 0, "smoothing steps before the coarse-grid correction (default: the smoother's)", 2},
    {"post", KEY_POST, "N", 0, "smoothing steps after the coarse-grid correction (default: the smoother's)", 2},
    {0, 0, 0, 0, "Where it is computed:", 3},
    {"backend", KEY_BACKEND, "NAME", 0,
     "auto, cuda, gl, cuda:N or gl:N (device N), cpu, or check:NAME (default: auto, which takes the first of "
     "CUDA, "
     "OpenGL on a GPU, and the CPU)",
     3},
    {"gl-platform", KEY_GL_PLATFORM, "NAME", 0,
     "where --headless takes OpenGL from: egl, or window, a hidden one (default: egl)", 3},
    {0, 0, 0, 0, "Pictures:", 4},
    {"frames", KEY_FRAMES, "N", 0, "frames to compute without a window (default: 100)", 4},
    {"steps-per-frame", KEY_STEPS_PER_FRAME, "N", 0, "time steps per frame (default: the scene's)", 4},
    {"film", KEY_FILM, "FILE", 0, "a film of all frames, by ffmpeg: .mp4, .mkv, .mov or .webm", 4},
    {"frames-dir", KEY_FRAMES_DIR, "DIR", 0, "every frame, as DIR/frame-00000.png and so on", 4},
    {"screenshot", KEY_SCREENSHOT, "FILE", 0, "the last frame, as PNG", 4},
    {"picture-size", KEY_PICTURE_SIZE, "WxH", 0,
     "size of pictures in pixels (default: a whole number of pixels per cell)", 4},
    {"view", KEY_VIEW, "NAME", 0, "dye, speed, pressure, divergence or vorticity (default: the scene's)", 4},
    {"range", KEY_RANGE, "R", 0,
     "value at the end of the colour scale, in the view's unit (default: follows the data)", 4},
    {"arrows", KEY_ARROWS, 0, 0, "draw the velocity as arrows", 4},
    {0, 0, 0, 0, "Figures:", 5},
    {"profile", KEY_PROFILE, "FILE", 0, "velocities along both centre lines after the last frame, as CSV", 5},
    {"probe", KEY_PROBE, "X,Y", 0, "with --json: report the velocity at this point, in m, after each frame", 5},
    {"json", KEY_JSON, 0, 0,
     "report as one JSON object on standard output, with times and divergence of every frame", 5},
    {0, 0, 0, 0, "How it runs:", 6},
    {"headless", KEY_HEADLESS, 0, 0, "without a window", 6},
    {"bench", KEY_BENCH, 0, 0, "time a step and its parts, and compare the solvers (default size: 513x513)", 6},
    {"quiet", 'q', 0, 0, "print errors only, no report and no notes", 6},
    {"verbose", 'v', 0, 0, "print a line for every frame, even if the output is not a terminal", 6},
    {0, 0, 0, 0, "Help:", -1},
    {0}};

static const char description[] = "Simulates a fluid, solving for its pressure by multigrid on the device. "
                                  "Without --headless a window opens.\v"
                                  "Exit status: 0 all frames were made; 1 error; 2 wrong usage; 3 the flow did "
                                  "not stay finite; the outputs so far are still "
                                  "written.";

static const char *scene_names(int k) {
  return scene_at(k) ? scene_name(scene_at(k)) : NULL;
}
static const char *advection_names(int k) {
  static const char *const names[] = {"semi-lagrangian", "maccormack", NULL};
  return names[k];
}
static const char *layout_names(int k) {
  static const char *const names[] = {"staggered", "collocated", NULL};
  return names[k];
}
static const char *platform_names(int k) {
  static const char *const names[] = {"egl", "window", NULL};
  return names[k];
}
static const char *solver_names(int k) {
  return ts_fluid_solver_name((ts_fluid_solver)k);
}
static const char *smoother_names(int k) {
  return ts_smoother_name((ts_smoother)k);
}
static const char *storage_names(int k) {
  return ts_grid_storage_name((ts_grid_storage)k);
}
static const char *interpolation_names(int k) {
  return ts_interpolation_name((ts_interpolation)k);
}
static const char *cycle_names(int k) {
  return ts_cycle_name((ts_cycle)k);
}
static const char *field_names(int k) {
  return fluid_field_name((fluid_field)k);
}

static int parse_flow(int key, char *text, program_options *o) {
  simulation_changes *c = &o->simulation.changes;
  int width, height;
  switch (key) {
  case KEY_SCENE:
    o->simulation.scene = scene_at(arguments_named("--scene", text, scene_names));
    return 0;
  case KEY_SIZE:
    if (parse_size(text, &width, &height) || width < 4 || height < 4 || width > 32768 || height > 32768)
      arguments_usage("--size: '%.40s', expected WIDTHxHEIGHT of 4 to 32768 cells, such as 513x129", text);
    o->simulation.width = width;
    o->simulation.height = height;
    return 0;
  case KEY_WALLS:
    o->simulation.walls = text;
    return 0;
  case KEY_TIME_STEP:
    c->time_step = arguments_number("--time-step", text, 1e-9, 1000, "seconds from 1e-9 to 1000, such as 0.02");
    return 0;
  case KEY_VISCOSITY:
    c->viscosity = arguments_number("--viscosity", text, 0, 1e6, "m^2/s from 0 to 1e6, such as 1e-3");
    return 0;
  case KEY_REYNOLDS:
    c->reynolds = arguments_number("--reynolds", text, 1e-6, 1e12, "a number from 1e-6 to 1e12, such as 1000");
    return 0;
  case KEY_CONFINEMENT:
    c->vorticity_confinement =
        arguments_number("--vorticity-confinement", text, 0, 1e6, "a number from 0 to 1e6, such as 0.2");
    return 0;
  case KEY_BUOYANCY:
    c->buoyancy = arguments_number("--buoyancy", text, -1e6, 1e6, "m/s^2 from -1e6 to 1e6, such as 3");
    return 0;
  case KEY_ADVECTION:
    c->advection = arguments_named("--advection", text, advection_names);
    return 0;
  case KEY_LAYOUT:
    o->simulation.layout = (ts_fluid_layout)arguments_named("--layout", text, layout_names);
    return 0;
  case KEY_PARTICLES:
    o->simulation.particles = arguments_whole_number("--particles", text, 0, 16000000);
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static int parse_solver(int key, char *text, program_options *o) {
  simulation_changes *c = &o->simulation.changes;
  switch (key) {
  case KEY_SOLVER:
    c->solver = arguments_named("--solver", text, solver_names);
    return 0;
  case KEY_ITERATIONS:
    c->iterations = arguments_whole_number("--iterations", text, 1, 1000);
    return 0;
  case KEY_COLD_START:
    c->cold_start = 1;
    return 0;
  case KEY_SMOOTHER:
    c->multigrid.smoother = (ts_smoother)arguments_named("--smoother", text, smoother_names);
    return 0;
  case KEY_STORAGE:
    c->multigrid.storage = (ts_grid_storage)arguments_named("--storage", text, storage_names);
    return 0;
  case KEY_INTERPOLATION:
    c->multigrid.interpolation =
        (ts_interpolation)arguments_named("--interpolation", text, interpolation_names);
    return 0;
  case KEY_CYCLE:
    c->multigrid.cycle = (ts_cycle)arguments_named("--cycle", text, cycle_names);
    return 0;
  case KEY_PRE:
    c->multigrid.pre = arguments_whole_number("--pre", text, 0, 16);
    return 0;
  case KEY_POST:
    c->multigrid.post = arguments_whole_number("--post", text, 0, 16);
    return 0;
  case KEY_BACKEND:
    o->simulation.backend = arguments_backend(text);
    return 0;
  case KEY_GL_PLATFORM:
    o->simulation.platform =
        arguments_named("--gl-platform", text, platform_names) ? TS_GL_PLATFORM_WINDOW : TS_GL_PLATFORM_EGL;
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static void parse_probe(const char *text, double at[2]) {
  char first[64];
  const char *comma = strchr(text, ',');
  const size_t length = comma ? (size_t)(comma - text) : 0;
  int bad = !length || length >= sizeof first;
  if (!bad) {
    memcpy(first, text, length);
    first[length] = 0;
    bad = parse_double(first, &at[0]) || parse_double(comma + 1, &at[1]);
  }
  if (bad) arguments_usage("--probe: '%.40s', expected X,Y in metres, such as 1.2,0.5", text);
}

static int parse_picture(int key, char *text, program_options *o) {
  switch (key) {
  case KEY_FRAMES:
    o->frames = arguments_whole_number("--frames", text, 0, 10000000);
    return 0;
  case KEY_STEPS_PER_FRAME:
    o->steps_per_frame = arguments_whole_number("--steps-per-frame", text, 1, 10000);
    return 0;
  case KEY_FILM:
    o->film = text;
    return 0;
  case KEY_FRAMES_DIR:
    o->frames_dir = text;
    return 0;
  case KEY_SCREENSHOT:
    o->screenshot = text;
    return 0;
  case KEY_PICTURE_SIZE:
    if (parse_size(text, &o->picture_width, &o->picture_height) || o->picture_width < 16 ||
        o->picture_height < 16 || o->picture_width > 16384 || o->picture_height > 16384)
      arguments_usage("--picture-size: '%.40s', expected WIDTHxHEIGHT of 16 to 16384 pixels, such as 1280x720",
                      text);
    return 0;
  case KEY_VIEW:
    o->look.field = (fluid_field)arguments_named("--view", text, field_names);
    o->field_given = 1;
    return 0;
  case KEY_RANGE:
    o->look.range = arguments_number("--range", text, 1e-30, 1e30, "a number from 1e-30 to 1e30");
    return 0;
  case KEY_ARROWS:
    o->look.arrows = 1;
    return 0;
  case KEY_PROFILE:
    o->profile = text;
    return 0;
  case KEY_PROBE:
    parse_probe(text, o->probe);
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static error_t parse(int key, char *text, struct argp_state *state) {
  program_options *o = state->input;
  switch (key) {
  case KEY_HEADLESS:
    o->headless = 1;
    return 0;
  case KEY_BENCH:
    o->bench = 1;
    return 0;
  case KEY_JSON:
    o->json = 1;
    return 0;
  case 'q':
    o->quiet = 1;
    return 0;
  case 'v':
    o->verbosity++;
    return 0;
  case ARGP_KEY_ARG:
    arguments_usage("'%.80s', expected options only", text);
  default:
    break;
  }
  if (!parse_flow(key, text, o) || !parse_solver(key, text, o)) return 0;
  return parse_picture(key, text, o);
}

void options_parse(int argc, char **argv, program_options *o) {
  static const struct argp argp = {.options = option_list, .parser = parse, .doc = description};
  *o = (program_options){.simulation = {.particles = -1, .changes = simulation_no_changes()},
                         .look = {.particles = 1},
                         .probe = {NAN, NAN},
                         .frames = -1};
  arguments_parse("fluid", &argp, argc, argv, o);
  const simulation_changes *c = &o->simulation.changes;
  if (!isnan(c->viscosity) && !isnan(c->reynolds))
    arguments_usage("--viscosity and --reynolds, expected one of them");
  if (o->bench && (o->film || o->screenshot || o->frames_dir || o->profile))
    arguments_usage(
        "--bench writes no files, expected it without --film, --screenshot, --frames-dir and --profile");
  if (!isnan(o->probe[0]) && !o->json) arguments_usage("--probe needs --json");
  if (o->headless || o->bench) return;
  const char *needs = o->frames_dir    ? "--frames-dir"
                      : o->profile     ? "--profile"
                      : o->json        ? "--json"
                      : o->frames >= 0 ? "--frames"
                                       : NULL;
  if (needs) arguments_usage("%s needs --headless", needs);
}
