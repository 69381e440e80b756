/* The arguments of `texsolve lcp`. */
#include "lcp.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "arguments.h"
#include "options.h"

typedef lcp_options program_options;

static const char *scheme_at(int value) {
  return ts_lcp_scheme_name((ts_lcp_scheme)value);
}

static const char *storage_at(int value) {
  return ts_lcp_storage_name((ts_lcp_storage)value);
}

static const char *local_at(int value) {
  return ts_lcp_local_name((ts_lcp_local)value);
}

static const char *acceleration_at(int value) {
  return ts_lcp_acceleration_name((ts_lcp_acceleration)value);
}

static const char *const precisions[] = {"auto", "single", "double", NULL};

static void add_input(void *options, const char *text) {
  lcp_options *o = options;
  if (!o->input)
    o->input = text;
  else if (!o->q)
    o->q = text;
  else
    arguments_usage("'%.80s' after the files, expected one file, or M and q", text);
}

static const option_row rows[] = {
    {.kind = OPTION_IS_INPUT, .argument = "PROBLEM\nM q", .parse = add_input},
    OPTION_HEADING("Files:"),
    OPTION_OUTPUT("write z (with friction the reaction r) to this file: a Matrix Market array, or if FILE ends "
                  "with .hdf5 or .h5 and PROBLEM is an FCLIB file, a copy of PROBLEM with this solution"),
    OPTION_TEXT("w", "FILE", w, "write w = M z + q to this file, as a Matrix Market array"),
    OPTION_TEXT("z0", "FILE", z0, "initial guess (default: 0)"),
    OPTION_WHOLE("guess", "N", guess, 0, INT_MAX,
                 "start from guess N of an FCLIB file; 0: start from 0 (default: the first guess of the file)"),
    OPTION_TEXT("lower", "FILE", lower, "lower bounds, which may be -inf (default: 0)"),
    OPTION_TEXT("upper", "FILE", upper, "upper bounds, which may be inf (default: inf)"),
    OPTION_NUMBER("friction", "MU", friction, 0, HUGE_VAL, "a number that is not negative",
                  "coefficient of friction of every contact, at least 0 (default: the file's)"),
    OPTION_HEADING("Backend:"),
    OPTIONS_COMMAND_DEVICE,
    OPTION_HEADING("Gauss-Seidel:"),
    OPTION_NAME("scheme", "NAME", scheme, scheme_at,
                "how a sweep is divided among threads: row, column, block, graph, graph-2, relaxed, colour, or "
                "auto (default), the fastest for the size"),
    OPTION_NAME("storage", "NAME", storage, storage_at,
                "storage of M: dense; sparse, the nonzero blocks; or auto (default), the one with less to read "
                "per sweep"),
    OPTION_NAME("local", "NAME", local, local_at,
                "how the law of one contact is solved: exact, projection, or auto (default)"),
    OPTION_NAME("acceleration", "NAME", acceleration, acceleration_at,
                "the start of a sweep: none, the last iterate; momentum, a point beyond it; or auto (default), "
                "none, then momentum if M is symmetric and many sweeps are left after 20"),
    OPTION_WORD("precision", "NAME", precision, precisions,
                "precision of M, z and the sweeps: single, double, or auto (default), single until it "
                "stagnates, then double; double at once for an R below 1e-6"),
    OPTION_RTOL(rtol, "relative tolerance of the residual, between 0 and 1 (default: 1e-5)"),
    OPTION_WHOLE("max-sweeps", "N", max_sweeps, 1, 1000000000, "stop after N sweeps (default: 10000)"),
    OPTION_WHOLE("check-interval", "N", check_interval, 1, 1000000,
                 "compute the residual every N sweeps (default: 10; up to 10 by rows on the cpu)"),
    OPTIONS_REPORT,
    OPTION_END};

static const char description[] =
    "Solves w = M z + q, 0 <= z, 0 <= w, z w = 0, also with bounds or with Coulomb friction, by parallel "
    "Gauss-Seidel. PROBLEM is a file of Siconos (text) or FCLIB (HDF5); M and q are Matrix Market files; `-' "
    "is standard input.\vExit status: 0 converged; 1 error; 2 wrong usage; 3 not converged: the best z is "
    "still written.";

void lcp_parse(int argc, char **argv, lcp_options *options) {
  *options = (lcp_options){.backend = "auto", .rtol = 1e-5, .friction = -1, .guess = -1, .max_sweeps = 10000};
  options_read("texsolve lcp", rows, description, argc, argv, options);
  const lcp_options *o = options;
  if (!o->input) arguments_usage("no file, expected PROBLEM, or M and q");
  const char *const inputs[] = {o->input, o->q, o->z0, o->lower, o->upper};
  int from_input = 0;
  for (int i = 0; i < 5; i++) from_input += inputs[i] && !strcmp(inputs[i], "-");
  if (o->guess > 0 && o->z0) arguments_usage("--guess and --z0, expected one start");
  if (from_input > 1) arguments_usage("'-' given for several files, expected one file on standard input");
}
