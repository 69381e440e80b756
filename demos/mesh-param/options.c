/* The options of mesh-param. */
#include <stdio.h>
#include <stdlib.h>

#include "arguments.h"
#include "mesh_param.h"
#include "message.h"

/* Parses a pin such as "12,0.5,-1". */
static void add_pin(void *options, const char *text) {
  program_options *o = options;
  flattening_pin pin = {0};
  char vertex[20], u[40], v[40];
  const int parts = sscanf(text, "%19[^,],%39[^,],%39s", vertex, u, v);
  int number = 0;
  if (parts != 3 || parse_int(vertex, 0, INT32_MAX, &number) || parse_double(u, &pin.u) ||
      parse_double(v, &pin.v))
    arguments_usage("--pin: '%.40s', expected a vertex and its position, such as 0,0.5,0.5", text);
  if (o->pin_count == MOST_PINS) arguments_usage("--pin: more than %d of them", MOST_PINS);
  if (!o->pins) o->pins = malloc(MOST_PINS * sizeof *o->pins);
  if (!o->pins) arguments_usage("--pin: out of memory");
  pin.vertex = number;
  o->pins[o->pin_count++] = pin;
}

static const char *const starts[] = {"levels", "distances", "plane", NULL},
                         *const solvers[] = {"auto", "cg", "bicgstab", "gmres", "cgls", NULL},
                         *const preconditioners[] = {"auto", "jacobi", "amg", NULL},
                         *const normals[] = {"auto", "formed", "applied", NULL},
                         *const colours[] = {"none", "angle", "area", NULL};

static const option_row rows[] = {
    OPTION_HEADING("Mesh:"),
    OPTIONS_MESH("cap, bent, cone, face, patches, scan, sphere, cube or torus"),
    OPTION_FLAG("cut", flattening.cut,
                "cut components open that are closed or have handles; without it they are an error"),
    OPTION_OUTPUT("write the mesh with u, v as texture coordinates to this file: .obj or .ply"),
    OPTION_HEADING("Map:"),
    OPTION_PARSED("pin", "V,U,V", add_pin,
                  "fix vertex V, counted from 0, at (U, V). A chart needs two pins; the program "
                  "adds a second one (default: two per chart, far apart, and the charts are "
                  "packed into the unit square)"),
    OPTION_WORD("start", "WHAT", flattening.start, starts,
                "start of the solver: levels, the maps of coarser meshes; distances along the mesh; or plane, "
                "the projection (default: levels)"),
    OPTION_HEADING("Linear system:"),
    OPTIONS_DEVICE(device.backend, gl.platform),
    OPTION_FORMAT(conformal.format, "auto, bcrs2, bcrs4, jagged, segments or csr",
                  "auto, bcrs2, bcrs4, jagged, segments or csr (default: auto, the backend's fastest for the "
                  "matrix)"),
    OPTION_WORD("solver", "NAME", conformal.method, solvers,
                "auto, cg, cgls, bicgstab or gmres (default: auto, cg)"),
    OPTION_WORD("normal", "HOW", conformal.normal, normals,
                "auto; formed, A^T A as one matrix; or applied, A and A^T in turn (default: auto)"),
    OPTION_WORD("preconditioner", "NAME", conformal.preconditioner, preconditioners,
                "auto, jacobi or amg, algebraic multigrid (default: auto, amg if "
                "a chart has 2500 vertices or more, otherwise jacobi)"),
    OPTION_RTOL(conformal.rtol, "relative residual of the normal equations, between 0 and 1 (default: 1e-6)"),
    OPTION_WHOLE("max-iterations", "N", conformal.max_iterations, 1, 100000000,
                 "stop after N iterations (default: 100000)"),
    OPTION_WHOLE("threads", "N", device.threads, 1, 4096, "threads of the CPU backend"),
    OPTION_HEADING("Pictures:"),
    OPTIONS_PICTURE("the mesh on the left and its UV map on the right", "1600x800"),
    OPTION_WORD("colour", "WHAT", look.colour, colours,
                "distortion to show: none, angle or area (default: none)"),
    OPTION_WHOLE("squares", "N", look.squares, 0, 10000,
                 "squares of the checkerboard across the UV map; 0: none (default: 40)"),
    OPTION_FLAG("wireframe", look.wireframe, "draw the edges"),
    OPTIONS_RUN("time every format of the backend (default mesh: face:50000)",
                "report as one JSON object on standard output",
                "print why the format was chosen; in a window, how u and v are drawn"),
    OPTION_END};

static const char description[] =
    "Flattens a triangle mesh by least-squares conformal maps, which distort angles as little as possible, and "
    "packs its charts into the unit square. FILE is an OBJ, PLY, OFF or STL file. Without --headless a window "
    "opens.\vExit status: 0 the map was found; 1 error; 2 wrong usage; 3 not converged: the last iterate is "
    "still written.";

void options_parse(int argc, char **argv, program_options *o) {
  *o = (program_options){.load.seed = 1,
                         .conformal.rtol = 1e-6,
                         .look = {.squares = 40, .legend = 1},
                         .run = {.picture_width = 1600, .picture_height = 800}};
  options_read("mesh-param", rows, description, argc, argv, o);
  const int other = (o->conformal.method != TS_METHOD_AUTO && o->conformal.method != TS_METHOD_CG) ||
                    o->conformal.normal == TS_NORMAL_APPLIED;
  if (o->conformal.preconditioner > CONFORMAL_JACOBI && other)
    arguments_usage("--preconditioner %s is for conjugate gradients on formed normal equations, expected it "
                    "without other --solver and --normal",
                    conformal_preconditioner_name(o->conformal.preconditioner));
  run_options_check(&o->run);
  load_resolve(&o->load, "mesh-param", o->run.bench ? "face:50000" : o->run.headless ? NULL : "face");
}
