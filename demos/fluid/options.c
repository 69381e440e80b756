/* The options of fluid. */
#include <math.h>
#include <stdio.h>

#include "arguments.h"
#include "fluid.h"
#include "message.h"

static const char *const advections[] = {"auto", "semi-lagrangian", "maccormack", NULL};
static const char *const layouts[] = {"auto", "staggered", "collocated", NULL};

static void parse_scene(void *options, const char *text) {
  program_options *o = options;
  o->simulation.scene = scene_at(arguments_named("--scene", text, scene_names));
}

static void parse_probe(void *options, const char *text) {
  program_options *o = options;
  char x[64], y[64], rest;
  if (sscanf(text, "%63[^,],%63s%c", x, y, &rest) != 2 || parse_double(x, &o->probe[0]) ||
      parse_double(y, &o->probe[1]))
    arguments_usage("--probe: '%.40s', expected X,Y in metres, such as 1.2,0.5", text);
}

#define CHANGES(field) simulation.changes.field

static const option_row rows[] = {
    OPTION_HEADING("Scene:"),
    OPTION_PARSED("scene", "NAME", parse_scene,
                  "splat, backward-step, cylinder, smoke or cavity (default: splat)"),
    OPTION_SIZE("size", simulation.width, 4, 32768, "cells, such as 513x129",
                "cells of the grid; the domain is 1 m high (default: the scene's)"),
    OPTION_TEXT("walls", "IMAGE", simulation.walls,
                "use the dark pixels of a PNG file that covers the domain as walls, instead of the scene's"),
    OPTION_NUMBER("time-step", "T", CHANGES(time_step), 1e-9, 1000, "seconds from 1e-9 to 1000, such as 0.02",
                  "time step in s (default: the scene's)"),
    OPTION_NUMBER("viscosity", "NU", CHANGES(viscosity), 0, 1e6, "m^2/s from 0 to 1e6, such as 1e-3",
                  "kinematic viscosity in m^2/s (default: the scene's)"),
    OPTION_NUMBER("reynolds", "RE", CHANGES(reynolds), 1e-6, 1e12, "a number from 1e-6 to 1e12, such as 1000",
                  "set the viscosity by the Reynolds number, with the speed and length of the scene's step, "
                  "cylinder or lid"),
    OPTION_NUMBER("vorticity-confinement", "E", CHANGES(vorticity_confinement), 0, 1e6,
                  "a number from 0 to 1e6, such as 0.2",
                  "restore eddies lost to numerical diffusion, with strength E (default: the scene's)"),
    OPTION_NUMBER("buoyancy", "A", CHANGES(buoyancy), -1e6, 1e6, "m/s^2 from -1e6 to 1e6, such as 3",
                  "upward acceleration of hot fluid, in m/s^2 (default: the scene's)"),
    OPTION_WORD("advection", "NAME", CHANGES(advection), advections,
                "auto, semi-lagrangian or maccormack (default: auto, the scene's)"),
    OPTION_WORD("layout", "NAME", simulation.layout, layouts,
                "positions of the velocities: auto, staggered, or collocated as in Bolz et al. 2003 (default: "
                "auto, staggered)"),
    OPTION_WHOLE("particles", "N", simulation.particles, 0, 16000000,
                 "approximate number of particles, 0 for none (default: the scene's)"),
    OPTION_HEADING("Pressure:"),
    OPTION_NAME("solver", "NAME", CHANGES(solver), pressure_name,
                "multigrid, multigrid-cg, cg or jacobi (default: multigrid)"),
    OPTION_WHOLE("iterations", "N", CHANGES(iterations), 1, 1000,
                 "per time step: cycles of multigrid (default: 2), iterations of multigrid-cg (4), cg (50) or "
                 "jacobi (20)"),
    OPTION_FLAG("cold-start", CHANGES(cold_start), "start from zero instead of the previous pressure"),
    OPTION_NAME("smoother", "NAME", CHANGES(multigrid.smoother), smoother_names,
                "auto, jacobi, chebyshev, red-black or four-colour"),
    OPTION_NAME("storage", "NAME", CHANGES(multigrid.storage), storage_names,
                "auto, plain, layered or parities"),
    OPTION_NAME("interpolation", "NAME", CHANGES(multigrid.interpolation), interpolation_names,
                "auto, bilinear or operator"),
    OPTION_NAME("cycle", "NAME", CHANGES(multigrid.cycle), cycle_names, "auto, V, W or F (default: auto, V)"),
    OPTION_WHOLE("pre", "N", CHANGES(multigrid.pre), 0, 16,
                 "smoothing steps before the coarse-grid correction (default: the smoother's)"),
    OPTION_WHOLE("post", "N", CHANGES(multigrid.post), 0, 16,
                 "smoothing steps after the coarse-grid correction (default: the smoother's)"),
    OPTION_HEADING("Backend:"),
    OPTIONS_DEVICE(simulation.backend, simulation.platform),
    OPTION_HEADING("Pictures:"),
    OPTIONS_FRAMES("100", "the scene's", "a whole number of pixels per cell"),
    OPTION_NAME("view", "NAME", look.field, field_names,
                "dye, speed, pressure, divergence or vorticity (default: the scene's)"),
    OPTION_NUMBER("range", "R", look.range, 1e-30, 1e30, "a number from 1e-30 to 1e30",
                  "value at the end of the colour scale, in the view's unit (default: follows the data)"),
    OPTION_FLAG("arrows", look.arrows, "draw the velocity as arrows"),
    OPTION_HEADING("Figures:"),
    OPTION_TEXT("profile", "FILE", profile, "velocities along both centre lines after the last frame, as CSV"),
    OPTION_PARSED("probe", "X,Y", parse_probe,
                  "with --json: report the velocity at this point, in m, after each frame"),
    OPTIONS_RUN("time a step and its parts, and compare the solvers (default size: 513x513)",
                "report as one JSON object on standard output, with times and divergence of every frame",
                "print a line for every frame, even if the output is not a terminal"),
    OPTION_END};

static const char description[] =
    "Simulates a fluid, with a multigrid pressure solver on the device. Without --headless a window "
    "opens.\vExit status: 0 all frames were made; 1 error; 2 wrong usage; 3 the flow became infinite or NaN: "
    "the outputs so far are still written.";

void options_parse(int argc, char **argv, program_options *o) {
  *o = (program_options){.simulation = {.particles = -1, .changes = simulation_no_changes()},
                         .look = {.particles = 1},
                         .probe = {NAN, NAN},
                         .run.frames = -1};
  options_read("fluid", rows, description, argc, argv, o);
  o->field_given = options_given("view");
  if (options_given("viscosity") && options_given("reynolds"))
    arguments_usage("--viscosity and --reynolds are both given, expected one of them");
  if (!o->run.json) options_refuse("", OPTION_NAMES("probe"), " needs --json");
  run_options_check(&o->run);
}
