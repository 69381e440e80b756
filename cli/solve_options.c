/* The arguments of `texsolve solve`. */
#include "solve.h"

#include <string.h>

#include "arguments.h"
#include "options.h"

typedef solve_options program_options;

static const char *const methods[] = {"auto", "cg", "bicgstab", "gmres", NULL},
                         *const preconditioners[] = {"jacobi", "none", "block-jacobi", NULL},
                         *const rules[] = {"residual", "delta", NULL};

static const char *precision_at(int value) {
  return ts_precision_name((ts_precision)value);
}

static const option_row rows[] = {
    OPTION_ROW(INPUT, "matrix", "MATRIX", matrix, .help = NULL),
    OPTION_HEADING("Files:"),
    OPTION_ROW(TEXT, NULL, "FILE", b, .letter = 'b',
               .help = "right-hand side: 1 to 4 columns, solved together (default: all ones)"),
    OPTION_OUTPUT("write the solution x here, as a Matrix Market array"),
    OPTION_TEXT("x0", "FILE", x0, "starting value, of the size of b (default: 0)"),
    OPTION_TEXT(
        "history", "FILE", history,
        "write sqrt(delta / delta_0) of every iteration here, or ||r|| / ||b|| where the method is not cg, "
        "as CSV"),
    OPTION_HEADING("Where and how the matrix is stored:"),
    OPTIONS_COMMAND_DEVICE,
    OPTION_FORMAT(format, NULL, "(default: auto, the backend's fastest)"),
    OPTION_WORD("reorder", "NAME", reorder, reorder_names,
                "order of the unknowns on the device: rcm (reverse Cuthill-McKee), random, or none, "
                "that of the file (default: none); x is written in the file's"),
    OPTION_SIZE("rectangle", rectangle_width, 4, 256, "texels, powers of two, such as 32x16",
                "pack rows in rectangles of W x H texels, powers of two from 4 to 256"),
    OPTION_HEADING("The method:"),
    OPTION_WORD(
        "solver", "NAME", method, methods,
        "cg, for symmetric positive definite matrices; bicgstab or gmres, for any; auto: cg for symmetric "
        "matrices, else bicgstab (default: auto)"),
    OPTION_WHOLE("restart", "M", restart, 1, 200, "restart gmres every M iterations, 1 to 200 (default: 30)"),
    OPTION_WORD("preconditioner", "NAME", preconditioner, preconditioners,
                "none, jacobi or block-jacobi, with blocks of 4 rows (default: jacobi)"),
    OPTION_NAME("precision", "NAME", precision, precision_at,
                "single: the device computes in floats; mixed: the same, with x and the residual in double; "
                "double: all of it; auto: one after the other, as far as the tolerance needs (default: auto)"),
    OPTION_RTOL(rtol, "relative tolerance, between 0 and 1 (default: 1e-5)"),
    OPTION_WORD(
        "stop", "RULE", stop, rules,
        "residual: ||b - A x|| <= R ||b||; delta, with cg: delta <= R^2 delta_0 with delta = r^T M^-1 r "
        "(default: residual)"),
    OPTION_WHOLE("max-iterations", "N", max_iterations, 1, 1000000000,
                 "stop after N (default: 10 times the rows, from 1000 to 100000)"),
    OPTION_WHOLE("check-interval", "N", check_interval, 1, 1024,
                 "check the residual every N iterations, 1 to 1024; each check synchronises with the device"),
    OPTIONS_REPORT,
    OPTION_END};

static const char description[] =
    "Solves A x = b by a Krylov method. MATRIX is a Matrix Market file with a square matrix; `-' is standard "
    "input.\v"
    "Exit status: 0 converged; 1 error; 2 wrong usage; 3 not converged, where the last x is still written.";

void solve_parse(int argc, char **argv, solve_options *options) {
  *options = (solve_options){.backend = "auto", .stop = TS_STOP_RESIDUAL, .rtol = 1e-5};
  options_read("texsolve solve", rows, description, argc, argv, options);
  if (!options->matrix) arguments_usage("no matrix given, expected `texsolve solve MATRIX'");
  const solve_options *o = options;
  const int from_input =
      !strcmp(o->matrix, "-") + (o->b && !strcmp(o->b, "-")) + (o->x0 && !strcmp(o->x0, "-"));
  if (o->restart && o->method != TS_METHOD_GMRES)
    arguments_usage("--restart: expected --solver gmres beside it");
  if (o->stop == TS_STOP_DELTA && o->method > TS_METHOD_CG)
    arguments_usage("--stop delta: expected --solver cg, whose rule it is");
  if (from_input > 1) arguments_usage("'-' given for several files, expected one file on standard input");
  if (o->output && o->history && !strcmp(o->output, o->history))
    arguments_usage("-o and --history are both '%.80s', expected two files", o->output);
}
