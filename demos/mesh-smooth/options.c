/* The options of mesh-smooth. */
#include "arguments.h"
#include "mesh_smooth.h"

static const char *const methods[] = {"flow", "dsi", NULL}, *const boundaries[] = {"fixed", "free", NULL},
                         *const weights[] = {"uniform", "cotangent", NULL},
                         *const preconditioners[] = {"jacobi", "amg", NULL},
                         *const colours[] = {"none", "curvature", "displacement", NULL},
                         *const shadings[] = {"smooth", "flat", NULL};

static const option_row rows[] = {
    OPTION_HEADING("Mesh:"),
    OPTIONS_MESH("sphere, cube, torus, scan, cap, bent, cone, face or patches"),
    OPTION_OUTPUT("write the smoothed mesh to this file: .obj, .ply, .off or .stl"),
    OPTION_HEADING("Smoothing:"),
    OPTION_WORD("method", "NAME", smoother.method, methods,
                "flow, mean-curvature flow in steps, or dsi, discrete smooth interpolation (default: flow)"),
    OPTION_WHOLE("steps", "N", steps, 0, 1000000, "number of steps (default: 10; in a window: 0)"),
    OPTION_POSITIVE(
        "time-step", "T", smoother.time_step, 1,
        "a number greater than 0 and at most 1: in squares of the bounding box's diagonal, 1 flattens "
        "everything",
        "length of a step, in squares of the bounding box's diagonal (default: 1e-5)"),
    OPTION_WORD("boundary", "WHAT", smoother.boundary, boundaries,
                "boundary vertices: fixed or free (default: fixed)"),
    OPTION_FLAG("volume", smoother.preserve_volume, "rescale a closed mesh after each step to keep its volume"),
    OPTION_NUMBER("fit", "WEIGHT", smoother.fit, 0, 1e6, "a number from 0 to 1e6",
                  "dsi: weight that holds vertices in place; 0: none (default: 0.1)"),
    OPTION_WORD("weights", "WHAT", smoother.weights, weights,
                "dsi: weights of neighbours, uniform or cotangent (default: uniform)"),
    OPTION_TEXT("control", "FILE", control,
                "dsi: control points, one per line: VERTEX X Y Z, followed by a weight if the vertex is not "
                "fixed there; vertices count from 0"),
    OPTION_TEXT("fix", "VERTEX,...", fix, "dsi: vertices that keep their positions"),
    OPTION_HEADING("Linear systems:"),
    OPTIONS_DEVICE(smoother.backend, smoother.platform),
    OPTION_FORMAT(
        smoother.format, "auto, jagged, segments, csr, bcrs2 or bcrs4",
        "auto, jagged, segments or csr; dsi: bcrs2 or bcrs4 too (default: auto, the backend's fastest)"),
    OPTION_WORD("preconditioner", "NAME", smoother.preconditioner, preconditioners,
                "jacobi; or amg, algebraic multigrid, for long steps, and for dsi (default: jacobi)"),
    OPTION_RTOL(smoother.rtol, "relative tolerance, between 0 and 1 (default: 1e-4; dsi: 1e-5)"),
    OPTION_WHOLE(
        "iterations", "N", smoother.cg_iterations, 1, 1000000,
        "stop each solve after N iterations and accept its result (default: iterate to the tolerance)"),
    OPTION_HEADING("Pictures:"),
    OPTIONS_PICTURE("the mesh after the last step", "1200x900"),
    OPTION_FRAMES_DIR("step"),
    OPTION_WORD("colour", "WHAT", look.colour, colours, "none, curvature or displacement (default: none)"),
    OPTION_WORD("shading", "WHAT", look.shading, shadings, "smooth or flat (default: smooth)"),
    OPTION_FLAG("wireframe", look.wireframe, "draw the edges"),
    OPTION_FLAG("before-after", look.before_after,
                "show the initial mesh in the left half and the current one in the right"),
    OPTIONS_RUN("time a step and its parts (default mesh: scan:37000); dsi: a frame in which a control point "
                "moves (scan:100000)",
                "report as one JSON object on standard output",
                "print a line for every step, even if the output is not a terminal"),
    OPTION_FLAG("formats", formats, "dsi: --bench also times an iteration in every format, and in blocks"),
    OPTION_END};

static const char description[] =
    "Smooths a triangle mesh by mean-curvature flow, with implicit steps and a matrix that is computed on the "
    "device, or by discrete smooth interpolation between control points. FILE is an OBJ, PLY, OFF or STL file. "
    "Without --headless a window opens.\vExit status: 0 all steps were made; 1 error; 2 wrong usage; 3 a step "
    "failed, or a solve did not converge: the result so far is still written.";

/* Refuses options of the other method. */
static void check_method(const program_options *o) {
  if (o->smoother.method != SMOOTHER_DSI) {
    options_refuse("", OPTION_NAMES("fit", "weights", "control", "fix"), " is for --method dsi");
    options_refuse("", OPTION_NAMES("formats"), " is for --bench --method dsi");
    return;
  }
  if (!o->run.bench) options_refuse("", OPTION_NAMES("formats"), " is for --bench --method dsi");
  options_refuse("", OPTION_NAMES("volume", "time-step"), " is for --method flow");
  if (o->steps > 1 && !o->run.bench)
    arguments_usage("--steps: %d, expected at most 1 with --method dsi, which is solved at once", o->steps);
}

void options_parse(int argc, char **argv, program_options *o) {
  *o = (program_options){.load.seed = 1,
                         .smoother.fit = 0.1,
                         .look = {.split = 0.5f, .legend = 1},
                         .run = {.picture_width = 1200, .picture_height = 900},
                         .steps = -1};
  options_read("mesh-smooth", rows, description, argc, argv, o);
  check_method(o);
  run_options_check(&o->run);
  const char *const timed = o->smoother.method == SMOOTHER_DSI ? "scan:100000" : "scan:37000";
  load_resolve(&o->load, "mesh-smooth", o->run.bench ? timed : o->run.headless ? NULL : "scan");
}
