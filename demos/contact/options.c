/* The options of contact. */
#include <math.h>

#include "arguments.h"
#include "contact.h"

static void parse_scene(void *options, const char *text) {
  program_options *o = options;
  o->simulation.scene = scene_at(arguments_named("--scene", text, scene_names));
}

static void parse_precision(void *options, const char *text) {
  program_options *o = options;
  static const ts_precision precisions[] = {TS_PRECISION_AUTO, TS_PRECISION_SINGLE, TS_PRECISION_DOUBLE};
  o->simulation.precision = precisions[arguments_named("--precision", text, precision_names)];
}

#define SET(field) simulation.parameters.field

static const option_row rows[] = {
    OPTION_HEADING("Scene:"),
    OPTION_PARSED("scene", "NAME", parse_scene,
                  "pile, boxes, wall, arch, cards, stack, slope or slide (default: pile)"),
    OPTION_WHOLE("bodies", "N", simulation.bodies, 1, 100000,
                 "approximate number of moving bodies (default: the scene's, 2000 in a pile)"),
    OPTION_NUMBER("friction", "MU", SET(friction), 0, 100, "a number from 0 to 100, such as 0.5",
                  "coefficient of friction (default: the scene's)"),
    OPTION_NUMBER("restitution", "E", SET(restitution), 0, 1, "a number from 0 to 1, such as 0.3",
                  "coefficient of restitution, the fraction of the normal speed after an impact (default: 0)"),
    OPTION_NUMBER("time-step", "T", SET(step), 1e-5, 0.1, "seconds from 1e-5 to 0.1, such as 0.01",
                  "time step in s (default: 1/60)"),
    OPTION_HEADING("Contact forces:"),
    OPTION_NAME("scheme", "NAME", SET(scheme), scheme_names,
                "auto, row, column, block, graph, graph-2 or relaxed (default: auto)"),
    OPTION_NAME("acceleration", "NAME", SET(acceleration), acceleration_names,
                "auto, none or momentum (default: auto, which is momentum)"),
    OPTION_WHOLE("max-sweeps", "N", SET(sweeps), 1, 1000000,
                 "maximum number of Gauss-Seidel sweeps per step (default: the scene's, 2000 in a pile)"),
    OPTION_RTOL(SET(tolerance), "stop when the residual is at most R ||q|| (default: 1e-4)"),
    OPTION_FLAG("cold-start", SET(cold_start), "start from 0 instead of the forces of the previous step"),
    OPTION_HEADING("Backend:"),
    OPTIONS_DEVICE(simulation.backend, simulation.platform),
    OPTION_WHOLE("threads", "N", simulation.threads, 1, 4096,
                 "threads of the CPU backend and of collision detection"),
    OPTION_PARSED("precision", "NAME", parse_precision,
                  "auto, single or double (default: auto, double on cpu)"),
    OPTION_HEADING("Pictures:"),
    OPTIONS_FRAMES("300", "1", "1280x720"),
    OPTION_NAME("shading", "NAME", shading, shading_names,
                "auto, coarse or full: coarse has harder shadows and no anti-aliasing, and takes a fifth of "
                "the time (default: auto, coarse for videos drawn by software)"),
    OPTION_FLAG("forces", forces, "draw the forces of the contacts"),
    OPTIONS_RUN("time the parts of a step, started from the forces of the previous step and from 0",
                "report as one JSON object on standard output, with times and residual of every frame",
                "print a line for every frame, even if the output is not a terminal"),
    OPTION_END};

static const char description[] =
    "Simulates rigid bodies with friction; Gauss-Seidel on the device computes the forces between them. "
    "Without --headless a window opens.\vExit status: 0 all frames were made; 1 error; 2 wrong usage; 3 the "
    "positions of the bodies diverged: the outputs so far are still written.";

void options_parse(int argc, char **argv, program_options *o) {
  *o = (program_options){.simulation = {.parameters = {.friction = NAN, .restitution = NAN}}, .run.frames = -1};
  options_read("contact", rows, description, argc, argv, o);
  run_options_check(&o->run);
}
