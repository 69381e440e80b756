/* The arguments of mesh-smooth. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

#include "arguments.h"
#include "mesh_smooth.h"
#include "message.h"

enum {
  KEY_STEPS = 256,
  KEY_TIME_STEP,
  KEY_RTOL,
  KEY_CG_ITERATIONS,
  KEY_BOUNDARY,
  KEY_VOLUME,
  KEY_METHOD,
  KEY_FIT,
  KEY_WEIGHTS,
  KEY_CONTROL,
  KEY_FIX,
  KEY_BACKEND,
  KEY_FORMAT,
  KEY_GL_PLATFORM,
  KEY_NOISE,
  KEY_SEED,
  KEY_GENERATE,
  KEY_KEEP_DUPLICATES,
  KEY_SCREENSHOT,
  KEY_FRAMES,
  KEY_SIZE,
  KEY_COLOUR,
  KEY_SHADING,
  KEY_WIREFRAME,
  KEY_BEFORE_AFTER,
  KEY_HEADLESS,
  KEY_BENCH,
  KEY_FORMATS,
  KEY_JSON
};

static const struct argp_option option_list[] = {
    {0, 0, 0, 0, "The mesh:", 1},
    {"generate", KEY_GENERATE, "WHAT", 0,
     "instead of a file: sphere, cube, torus, scan, cap, bent, cone, face or patches, with :N for about N "
     "vertices (default: 10000)",
     1},
    {"noise", KEY_NOISE, "AMOUNT", 0,
     "move vertices along their normals, by AMOUNT of the bounding box's diagonal (standard deviation)", 1},
    {"seed", KEY_SEED, "N", 0, "seed of the random noise (default: 1)", 1},
    {"keep-duplicates", KEY_KEEP_DUPLICATES, 0, 0, "do not merge vertices at the same place", 1},
    {"output", 'o', "FILE", 0, "write the smoothed mesh here: .obj, .ply, .off or .stl", 1},
    {0, 0, 0, 0, "How it is smoothed:", 2},
    {"method", KEY_METHOD, "NAME", 0,
     "flow, of mean curvature, in steps, or dsi, discrete smooth interpolation (default: flow)", 2},
    {"steps", KEY_STEPS, "N", 0, "steps to make (default: 10; in a window: 0)", 2},
    {"time-step", KEY_TIME_STEP, "T", 0,
     "length of a step, in squares of the bounding box's diagonal (default: 1e-5)", 2},
    {"boundary", KEY_BOUNDARY, "WHAT", 0,
     "fixed or free (which the flow calls flow, too): what boundary vertices do (default: fixed)", 2},
    {"volume", KEY_VOLUME, 0, 0, "rescale a closed mesh after each step to keep its volume", 2},
    {"fit", KEY_FIT, "WEIGHT", 0, "dsi: how strongly vertices are held in place; 0: not at all (default: 0.1)",
     2},
    {"weights", KEY_WEIGHTS, "WHAT", 0, "dsi: of neighbours, uniform or cotangent (default: uniform)", 2},
    {"control", KEY_CONTROL, "FILE", 0,
     "dsi: control points, a line each: VERTEX X Y Z, and after it a weight where it is not fixed there; "
     "vertices "
     "count from 0",
     2},
    {"fix", KEY_FIX, "VERTEX,...", 0, "dsi: vertices that keep their positions", 2},
    {0, 0, 0, 0, "The linear systems:", 3},
    {"backend", KEY_BACKEND, "NAME", 0,
     "auto, cuda, gl, cuda:N or gl:N (device N), cpu, or check:NAME (default: auto, which takes the first of "
     "CUDA, "
     "OpenGL on a GPU, and the CPU)",
     3},
    {"format", KEY_FORMAT, "NAME", 0,
     "auto, jagged, segments or csr; dsi: bcrs2 or bcrs4 too (default: auto, the backend's fastest)", 3},
    {"rtol", KEY_RTOL, "R", 0, "relative tolerance, between 0 and 1 (default: 1e-4; dsi: 1e-5)", 3},
    {"cg-iterations", KEY_CG_ITERATIONS, "N", 0,
     "stop each solve after N iterations and accept what it has reached (default: iterate to the tolerance)",
     3},
    {"gl-platform", KEY_GL_PLATFORM, "NAME", 0,
     "where --headless takes OpenGL from: egl, or window, a hidden one (default: egl)", 3},
    {0, 0, 0, 0, "Pictures:", 4},
    {"screenshot", KEY_SCREENSHOT, "FILE", 0, "a picture of the mesh after the last step, as PNG", 4},
    {"frames", KEY_FRAMES, "DIR", 0, "a picture of every step, as DIR/frame-00000.png and so on", 4},
    {"size", KEY_SIZE, "WxH", 0, "size of pictures in pixels (default: 1200x900)", 4},
    {"colour", KEY_COLOUR, "WHAT", 0, "none, curvature or displacement (default: none)", 4},
    {"shading", KEY_SHADING, "WHAT", 0, "smooth or flat (default: smooth)", 4},
    {"wireframe", KEY_WIREFRAME, 0, 0, "draw the edges", 4},
    {"before-after", KEY_BEFORE_AFTER, 0, 0,
     "show the initial mesh in the left half and the current one in the right", 4},
    {0, 0, 0, 0, "How it runs:", 5},
    {"headless", KEY_HEADLESS, 0, 0, "without a window", 5},
    {"bench", KEY_BENCH, 0, 0,
     "time a step and its parts (default mesh: scan:37000); dsi: a frame in which a control point moves "
     "(scan:100000)",
     5},
    {"formats", KEY_FORMATS, 0, 0, "dsi: --bench also times an iteration in every format, and of blocks", 5},
    {"json", KEY_JSON, 0, 0, "report as one JSON object on standard output", 5},
    {"quiet", 'q', 0, 0, "print errors only, no report and no notes", 5},
    {"verbose", 'v', 0, 0, "print a line for every step, even if the output is not a terminal", 5},
    {0, 0, 0, 0, "Help:", -1},
    {0}};

static const char description[] =
    "Smooths a triangle mesh by mean-curvature flow, with implicit steps whose matrix is computed on the "
    "device, or by discrete smooth interpolation, which control points hold. "
    "FILE is an OBJ, PLY, OFF or STL file. Without --headless a window opens.\v"
    "Exit status: 0 all steps were made; 1 error; 2 wrong usage; 3 a step could not be made, or a solve has "
    "not "
    "converged, where what was reached is still written.";

static ts_format parse_format(const char *name) {
  const int format = ts_format_from_name(name);
  if (format < 0)
    arguments_usage("--format: '%.40s', expected auto, jagged, segments, csr, bcrs2 or bcrs4", name);
  return (ts_format)format;
}

static int parse_mesh(int key, char *text, program_options *o) {
  int seed;
  switch (key) {
  case KEY_GENERATE:
    o->load.generate = text;
    return 0;
  case KEY_NOISE:
    if (parse_double(text, &o->load.noise) || o->load.noise < 0 || o->load.noise > 1)
      arguments_usage(
          "--noise: '%.40s', expected a number from 0 to 1, in parts of the bounding box's diagonal", text);
    return 0;
  case KEY_SEED:
    if (parse_int(text, 0, 2147483647, &seed))
      arguments_usage("--seed: '%.40s', expected a whole number from 0 to 2147483647", text);
    o->load.seed = (uint64_t)seed;
    return 0;
  case KEY_KEEP_DUPLICATES:
    o->load.keep_duplicates = 1;
    return 0;
  case 'o':
    o->output = text;
    return 0;
  case ARGP_KEY_ARG:
    if (o->load.path) arguments_usage("'%.80s' after the mesh, expected one mesh only", text);
    o->load.path = text;
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static int parse_flow(int key, char *text, program_options *o) {
  static const char *const boundaries[] = {"fixed", "flow", "free", NULL};
  static const char *const platforms[] = {"egl", "window", NULL};
  switch (key) {
  case KEY_STEPS:
    o->steps = arguments_whole_number("--steps", text, 0, 1000000);
    return 0;
  case KEY_TIME_STEP:
    o->smoother.time_step =
        arguments_positive("--time-step", text, 1,
                           "a number greater than 0 and at most 1: in squares of the bounding box's "
                           "diagonal, 1 flattens everything");
    return 0;
  case KEY_RTOL:
    o->smoother.rtol = arguments_rtol(text);
    return 0;
  case KEY_CG_ITERATIONS:
    o->smoother.cg_iterations = arguments_whole_number("--cg-iterations", text, 1, 1000000);
    return 0;
  case KEY_BOUNDARY:
    o->smoother.boundary =
        arguments_one_of("--boundary", text, boundaries) ? TS_MESH_BOUNDARY_FLOW : TS_MESH_BOUNDARY_FIXED;
    return 0;
  case KEY_VOLUME:
    o->smoother.preserve_volume = 1;
    return 0;
  case KEY_BACKEND:
    o->smoother.backend = arguments_backend(text);
    return 0;
  case KEY_FORMAT:
    o->smoother.format = parse_format(text);
    return 0;
  case KEY_GL_PLATFORM:
    o->smoother.platform =
        arguments_one_of("--gl-platform", text, platforms) ? TS_GL_PLATFORM_WINDOW : TS_GL_PLATFORM_EGL;
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static int parse_interpolation(int key, char *text, program_options *o) {
  static const char *const methods[] = {"flow", "dsi", NULL}, *const weights[] = {"uniform", "cotangent", NULL};
  switch (key) {
  case KEY_METHOD:
    o->smoother.method = (smoother_method)arguments_one_of("--method", text, methods);
    return 0;
  case KEY_FIT:
    if (parse_double(text, &o->smoother.fit) || !(o->smoother.fit >= 0 && o->smoother.fit <= 1e6))
      arguments_usage("--fit: '%.40s', expected a number from 0 to 1e6", text);
    o->interpolates = "--fit";
    return 0;
  case KEY_WEIGHTS:
    o->smoother.weights = (dsi_weights)arguments_one_of("--weights", text, weights);
    o->interpolates = "--weights";
    return 0;
  case KEY_CONTROL:
    o->control = text;
    o->interpolates = "--control";
    return 0;
  case KEY_FIX:
    o->fix = text;
    o->interpolates = "--fix";
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static int parse_picture(int key, char *text, program_options *o) {
  static const char *const colours[] = {"none", "curvature", "displacement", NULL}, *const shadings[] = {
                                                                                        "smooth", "flat", NULL};
  switch (key) {
  case KEY_SCREENSHOT:
    o->screenshot = text;
    return 0;
  case KEY_FRAMES:
    o->frames = text;
    return 0;
  case KEY_SIZE:
    arguments_size(text, &o->width, &o->height);
    return 0;
  case KEY_COLOUR:
    o->look.colour = (mesh_colour)arguments_one_of("--colour", text, colours);
    return 0;
  case KEY_SHADING:
    o->look.shading = (mesh_shading)arguments_one_of("--shading", text, shadings);
    return 0;
  case KEY_WIREFRAME:
    o->look.wireframe = 1;
    return 0;
  case KEY_BEFORE_AFTER:
    o->look.before_after = 1;
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
  case KEY_FORMATS:
    o->formats = 1;
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
  default:
    break;
  }
  if (!parse_mesh(key, text, o) || !parse_flow(key, text, o) || !parse_interpolation(key, text, o)) return 0;
  return parse_picture(key, text, o);
}

/* What belongs to the other method. */
static void check_method(const program_options *o) {
  const int is_dsi = o->smoother.method == SMOOTHER_DSI;
  if (!is_dsi && o->interpolates) arguments_usage("%s is for --method dsi", o->interpolates);
  if (o->formats && !(is_dsi && o->bench)) arguments_usage("--formats is for --bench --method dsi");
  if (is_dsi && o->smoother.preserve_volume) arguments_usage("--volume is for --method flow");
  if (is_dsi && o->smoother.time_step > 0) arguments_usage("--time-step is for --method flow");
  if (is_dsi && o->steps > 1 && !o->bench)
    arguments_usage("--steps: %d, expected at most 1 with --method dsi, which is solved at once", o->steps);
}

void options_parse(int argc, char **argv, program_options *options) {
  static const struct argp argp = {
      .options = option_list, .parser = parse, .args_doc = "[FILE]", .doc = description};
  *options = (program_options){.load.seed = 1,
                               .smoother.fit = 0.1,
                               .look = {.split = 0.5f, .legend = 1},
                               .width = 1200,
                               .height = 900,
                               .steps = -1};
  arguments_parse("mesh-smooth", &argp, argc, argv, options);
  program_options *o = options;
  if (o->load.path && o->load.generate)
    arguments_usage("'%.80s' and --generate %.80s, expected one of them", o->load.path, o->load.generate);
  check_method(o);
  if (o->bench && (o->output || o->screenshot || o->frames))
    arguments_usage("--bench writes no files, expected it without -o, --screenshot and --frames");
  if (!o->load.path && !o->load.generate) {
    if (o->headless && !o->bench) arguments_usage("no mesh given, expected `mesh-smooth FILE' or --generate");
    o->load.generate = !o->bench ? "scan" : o->smoother.method == SMOOTHER_DSI ? "scan:100000" : "scan:37000";
  }
  if (!o->headless && !o->bench && (o->frames || o->json))
    arguments_usage("%s needs --headless", o->frames ? "--frames" : "--json");
}
