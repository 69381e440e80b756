/* The arguments of mesh-param. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

#include "arguments.h"
#include "mesh_param.h"
#include "message.h"

enum {
  KEY_GENERATE = 256,
  KEY_NOISE,
  KEY_SEED,
  KEY_KEEP_DUPLICATES,
  KEY_CUT,
  KEY_PIN,
  KEY_START,
  KEY_BACKEND,
  KEY_FORMAT,
  KEY_SOLVER,
  KEY_NORMAL,
  KEY_PRECONDITIONER,
  KEY_RTOL,
  KEY_ITERATIONS,
  KEY_THREADS,
  KEY_GL_PLATFORM,
  KEY_SCREENSHOT,
  KEY_SIZE,
  KEY_COLOUR,
  KEY_SQUARES,
  KEY_WIREFRAME,
  KEY_HEADLESS,
  KEY_BENCH,
  KEY_JSON
};

static const struct argp_option option_list[] = {
    {0, 0, 0, 0, "The mesh:", 1},
    {"generate", KEY_GENERATE, "WHAT", 0,
     "instead of a file: cap, bent, cone, face, patches, scan, sphere, cube or torus, with :N for about N "
     "vertices "
     "(default: 10000)",
     1},
    {"noise", KEY_NOISE, "AMOUNT", 0,
     "move vertices along their normals, by AMOUNT of the bounding box's diagonal (standard deviation)", 1},
    {"seed", KEY_SEED, "N", 0, "seed of the random noise (default: 1)", 1},
    {"keep-duplicates", KEY_KEEP_DUPLICATES, 0, 0, "do not merge vertices at the same place", 1},
    {"cut", KEY_CUT, 0, 0, "cut closed components and those with handles open; without it they are refused", 1},
    {"output", 'o', "FILE", 0, "write the mesh with u, v as texture coordinates here: .obj or .ply", 1},
    {0, 0, 0, 0, "The map:", 2},
    {"pin", KEY_PIN, "V,U,V", 0,
     "vertex V, counted from 0, goes to the place (U, V); at least two in a part, or one and the program takes "
     "another (default: two of each part, far apart, and the parts are packed into the unit square)",
     2},
    {"start", KEY_START, "WHAT", 0,
     "where the solver starts: levels, coarser meshes, distances, along the mesh, or plane, the projection "
     "(default: levels)",
     2},
    {0, 0, 0, 0, "The linear system:", 3},
    {"backend", KEY_BACKEND, "NAME", 0,
     "auto, cuda, gl, cuda:N or gl:N (device N), cpu, or check:NAME (default: auto, which takes the first of "
     "CUDA, "
     "OpenGL on a GPU, and the CPU)",
     3},
    {"format", KEY_FORMAT, "NAME", 0,
     "auto, bcrs2, bcrs4, jagged, segments or csr (default: auto, the backend's fastest for the matrix)", 3},
    {"solver", KEY_SOLVER, "NAME", 0, "auto, cg, cgls, bicgstab or gmres (default: auto, cg)", 3},
    {"normal", KEY_NORMAL, "HOW", 0,
     "auto, formed or applied: A^T A as one matrix, or A and A^T one after the other (default: auto)", 3},
    {"preconditioner", KEY_PRECONDITIONER, "NAME", 0,
     "jacobi or multilevel, from coarser meshes (default: jacobi)", 3},
    {"rtol", KEY_RTOL, "R", 0, "relative residual of the normal equations, between 0 and 1 (default: 1e-6)", 3},
    {"max-iterations", KEY_ITERATIONS, "N", 0, "stop after N iterations (default: 100000)", 3},
    {"threads", KEY_THREADS, "N", 0, "threads of the CPU backend", 3},
    {"gl-platform", KEY_GL_PLATFORM, "NAME", 0,
     "where --headless takes OpenGL from: egl, or window, a hidden one (default: egl)", 3},
    {0, 0, 0, 0, "Pictures:", 4},
    {"screenshot", KEY_SCREENSHOT, "FILE", 0, "the mesh on the left and its flat image on the right, as PNG",
     4},
    {"size", KEY_SIZE, "WxH", 0, "size of the picture in pixels (default: 1600x800)", 4},
    {"colour", KEY_COLOUR, "WHAT", 0, "none, angle or area: what is distorted how much (default: none)", 4},
    {"squares", KEY_SQUARES, "N", 0, "squares of the checkerboard across the UV map; 0: none (default: 40)", 4},
    {"wireframe", KEY_WIREFRAME, 0, 0, "draw the edges", 4},
    {0, 0, 0, 0, "How it runs:", 5},
    {"headless", KEY_HEADLESS, 0, 0, "without a window", 5},
    {"bench", KEY_BENCH, 0, 0, "time every format that the backend has (default mesh: face:50000)", 5},
    {"json", KEY_JSON, 0, 0, "report as one JSON object on standard output", 5},
    {"quiet", 'q', 0, 0, "print errors only, no report and no notes", 5},
    {"verbose", 'v', 0, 0, "say why the format was chosen; in a window, how u and v are drawn", 5},
    {0, 0, 0, 0, "Help:", -1},
    {0}};

static const char description[] =
    "Flattens a triangle mesh by least-squares conformal maps, which distort angles as little as possible, and "
    "packs its charts into the unit square. FILE is an OBJ, PLY, OFF or STL file. Without --headless a window "
    "opens.\v"
    "Exit status: 0 the map was found; 1 error; 2 wrong usage; 3 not converged, where what was reached is "
    "still "
    "written.";

/* "12,0.5,-1" */
static void add_pin(program_options *o, const char *text) {
  flattening_pin pin = {0};
  char vertex[20], u[40], v[40];
  const int parts = sscanf(text, "%19[^,],%39[^,],%39s", vertex, u, v);
  int number = 0;
  if (parts != 3 || parse_int(vertex, 0, INT32_MAX, &number) || parse_double(u, &pin.u) ||
      parse_double(v, &pin.v))
    arguments_usage("--pin: '%.40s', expected a vertex and its place, such as 0,0.5,0.5", text);
  if (o->pin_count == MOST_PINS) arguments_usage("--pin: more than %d of them", MOST_PINS);
  if (!o->pins) o->pins = malloc(MOST_PINS * sizeof *o->pins);
  if (!o->pins) arguments_usage("--pin: out of memory");
  pin.vertex = number;
  o->pins[o->pin_count++] = pin;
}

static int parse_mesh(int key, char *text, program_options *o) {
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
    o->load.seed = (uint64_t)arguments_whole_number("--seed", text, 0, 2147483647);
    return 0;
  case KEY_KEEP_DUPLICATES:
    o->load.keep_duplicates = 1;
    return 0;
  case KEY_CUT:
    o->flattening.cut = 1;
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

static int parse_map(int key, char *text, program_options *o) {
  static const char *const starts[] = {"levels", "distances", "plane", NULL},
                           *const solvers[] = {"auto", "cg", "bicgstab", "gmres", "cgls", NULL},
                           *const preconditioners[] = {"jacobi", "multilevel", NULL},
                           *const normals[] = {"auto", "formed", "applied", NULL},
                           *const platforms[] = {"egl", "window", NULL};
  int format;
  switch (key) {
  case KEY_PIN:
    add_pin(o, text);
    return 0;
  case KEY_START:
    o->flattening.start = (start_method)arguments_one_of("--start", text, starts);
    return 0;
  case KEY_BACKEND:
    o->device.backend = arguments_backend(text);
    return 0;
  case KEY_FORMAT:
    format = ts_format_from_name(text);
    if (format < 0 || format == TS_FORMAT_STENCIL)
      arguments_usage("--format: '%.40s', expected auto, bcrs2, bcrs4, jagged, segments or csr", text);
    o->conformal.format = (ts_format)format;
    return 0;
  case KEY_SOLVER:
    o->conformal.method = (ts_method)arguments_one_of("--solver", text, solvers);
    return 0;
  case KEY_NORMAL:
    o->conformal.normal = (ts_normal)arguments_one_of("--normal", text, normals);
    return 0;
  case KEY_PRECONDITIONER:
    o->conformal.preconditioner =
        (conformal_preconditioner)arguments_one_of("--preconditioner", text, preconditioners);
    return 0;
  case KEY_RTOL:
    o->conformal.rtol = arguments_rtol(text);
    return 0;
  case KEY_ITERATIONS:
    o->conformal.max_iterations = arguments_whole_number("--max-iterations", text, 1, 100000000);
    return 0;
  case KEY_THREADS:
    o->device.threads = arguments_whole_number("--threads", text, 1, 4096);
    return 0;
  case KEY_GL_PLATFORM:
    o->device.gl_platform =
        arguments_one_of("--gl-platform", text, platforms) ? TS_GL_PLATFORM_WINDOW : TS_GL_PLATFORM_EGL;
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static int parse_picture(int key, char *text, program_options *o) {
  static const char *const colours[] = {"none", "angle", "area", NULL};
  switch (key) {
  case KEY_SCREENSHOT:
    o->picture = text;
    return 0;
  case KEY_SIZE:
    arguments_size(text, &o->width, &o->height);
    return 0;
  case KEY_COLOUR:
    o->look.colour = (flat_colour)arguments_one_of("--colour", text, colours);
    return 0;
  case KEY_SQUARES:
    o->look.squares = arguments_whole_number("--squares", text, 0, 10000);
    return 0;
  case KEY_WIREFRAME:
    o->look.wireframe = 1;
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
  default:
    break;
  }
  if (!parse_mesh(key, text, o) || !parse_map(key, text, o)) return 0;
  return parse_picture(key, text, o);
}

void options_parse(int argc, char **argv, program_options *options) {
  static const struct argp argp = {
      .options = option_list, .parser = parse, .args_doc = "[FILE]", .doc = description};
  *options = (program_options){.load.seed = 1,
                               .conformal.rtol = 1e-6,
                               .look = {.squares = 40, .legend = 1},
                               .width = 1600,
                               .height = 800};
  arguments_parse("mesh-param", &argp, argc, argv, options);
  program_options *o = options;
  if (o->load.path && o->load.generate)
    arguments_usage("'%.80s' and --generate %.80s, expected one of them", o->load.path, o->load.generate);
  const int other = (o->conformal.method != TS_METHOD_AUTO && o->conformal.method != TS_METHOD_CG) ||
                    o->conformal.normal == TS_NORMAL_APPLIED;
  if (o->conformal.preconditioner == CONFORMAL_MULTILEVEL && other)
    arguments_usage(
        "--preconditioner multilevel is one of conjugate gradients on normal equations formed, expected "
        "it without other --solver and --normal");
  if (o->bench && (o->output || o->picture))
    arguments_usage("--bench writes no files, expected it without -o and --screenshot");
  if (!o->load.path && !o->load.generate) {
    if (o->headless && !o->bench) arguments_usage("no mesh given, expected `mesh-param FILE' or --generate");
    o->load.generate = o->bench ? "face:50000" : "face";
  }
  if (!o->headless && !o->bench && o->json) arguments_usage("--json needs --headless");
}
