/* The arguments of `texsolve solve`. */
#include "solve.h"

#include <string.h>

#include "arguments.h"
#include "options.h"

typedef solve_options program_options;

static const char *const rules[] = {"residual", "delta", NULL};

static const char *partition_at(int value) {
  return ts_partition_name((ts_partition)value);
}

static const char *precision_at(int value) {
  return ts_precision_name((ts_precision)value);
}

static const char *smoother_at(int value) {
  return ts_amg_smoother_name((ts_amg_smoother)value);
}

static const char *scaling_at(int value) {
  return ts_scaling_name((ts_scaling)value);
}

static void parse_method(void *options, const char *text) {
  static const char *const names[] = {"auto", "cg",   "minres",     "bicgstab", "idr", "gmres",
                                      "lsmr", "cgls", "richardson", "direct",   NULL};
  solve_options *const o = options;
  const char *name = names[arguments_one_of("--solver", text, names)];
  o->is_direct = !strcmp(name, "direct");
  o->method = o->is_direct ? TS_METHOD_RICHARDSON : (ts_method)ts_method_from_name(name);
}

static void parse_preconditioner(void *options, const char *text) {
  static const char *const names[] = {"auto", "none", "jacobi", "block-jacobi", "chebyshev", "isai",
                                      "ilu",  "ic",   "amg",    "direct",       NULL};
  const char *name = names[arguments_one_of("--preconditioner", text, names)];
  ((solve_options *)options)->preconditioner = (ts_preconditioner_kind)ts_preconditioner_kind_from_name(name);
}

static const option_row rows[] = {
    OPTION_ROW(INPUT, "matrix", "MATRIX", matrix, .help = NULL),
    OPTION_HEADING("Files:"),
    OPTION_ROW(TEXT, NULL, "FILE", b, .letter = 'b',
               .help = "right-hand sides, one per column (default: one column, all ones)"),
    OPTION_OUTPUT("write the solution x here, as a Matrix Market array"),
    OPTION_TEXT("x0", "FILE", x0, "initial guess (default: 0)"),
    OPTION_TEXT("history", "FILE", history,
                "write sqrt(delta / delta_0) of every iteration to this CSV file; ||r|| / ||b|| for methods "
                "other than cg, ||A^T r|| / ||A^T b|| for least squares"),
    OPTION_HEADING("Storage of the matrix:"),
    OPTIONS_COMMAND_DEVICE,
    OPTION_NAME("partition", "NAME", partition, partition_at,
                "distribution of the rows over several devices: blocks, metis, scotch (computed by the "
                "processes together), or auto (default): METIS if its parts communicate much less, and fewer "
                "devices for small systems"),
    OPTION_FORMAT(format, NULL, "(default: auto, the backend's fastest)"),
    OPTION_WORD("reorder", "NAME", reorder, reorder_names,
                "order of the unknowns on the device: rcm (reverse Cuthill-McKee), random, or none, that of "
                "the file (default: none); files keep their own order"),
    OPTION_SIZE("rectangle", rectangle_width, 4, 256, "texels, powers of two, such as 32x16",
                "pack rows in rectangles of W x H texels, powers of two from 4 to 256"),
    OPTION_HEADING("Method:"),
    OPTION_PARSED(
        "solver", "NAME", parse_method,
        "cg, for symmetric positive definite matrices; minres, for symmetric ones; bicgstab, idr or gmres, for "
        "any square matrix; lsmr or cgls, least squares, for any matrix; richardson, the preconditioner as a "
        "standalone iteration; direct, short for richardson with --preconditioner direct; auto: lsmr if the "
        "matrix is not square; cg if it is symmetric with a positive diagonal, minres for other symmetric "
        "ones; "
        "otherwise bicgstab, or idr with ilu; richardson with direct (default: auto)"),
    OPTION_WHOLE("restart", "M", restart, 1, 200,
                 "restart gmres every M iterations, 1 to 200 (default: 30, increased if that is too few)"),
    OPTION_PARSED(
        "preconditioner", "NAME", parse_preconditioner,
        "none; jacobi; block-jacobi, the diagonal blocks; chebyshev, a polynomial; isai, approximate inverses "
        "of factors; ilu, incomplete factors; ic, incomplete Cholesky factors, for cg; amg, algebraic "
        "multigrid, for a positive diagonal; direct, exact factors, for small or hard systems; lsmr and cgls "
        "support none and jacobi only; auto: ilu if the matrix is not symmetric, amg if it suits the matrix "
        "and is worthwhile, otherwise jacobi, or none if the diagonal contains a zero (default: auto)"),
    OPTION_WHOLE("block-size", "N", block_size, 2, 16,
                 "rows per block of block-jacobi, such as the unknowns of a node, 2 to 16 (default: 4, or the "
                 "format's)"),
    OPTION_WHOLE("degree", "N", degree, 1, 16, "terms of chebyshev's polynomial, 1 to 16 (default: 4)"),
    OPTION_NUMBER("fill", "F", fill, 1, 1000, "a number from 1 to 1000",
                  "ilu, ic: maximum entries of the factors, relative to the matrix (default: 10; 30 if ilu's "
                  "factors with 10 are far from the matrix)"),
    OPTION_NUMBER("drop-tolerance", "T", drop_tolerance, 0, 0.99, "a number from 0 to 0.99",
                  "ilu, ic: drop entries of the factors below T times the mean of their row (default: ilu "
                  "1e-4, with a fill of 30 1e-6; ic 1e-2)"),
    OPTION_WHOLE(
        "levels", "K", levels, 0, 100,
        "ilu, ic: select entries by K levels of fill instead of by magnitude; 0: the pattern of the matrix"),
    OPTION_NAME("scaling", "NAME", scaling, scaling_at,
                "ilu: matching (large entries are permuted to the diagonal and scaled to 1), none, or auto: "
                "the one whose factors are closer to the matrix (default: auto)"),
    OPTION_WHOLE(
        "sweeps", "N", sweeps, 1, 32,
        "ilu, ic: solve triangular systems by N Jacobi sweeps on the device, instead of exactly on the host"),
    OPTION_NUMBER(
        "amg-strength", "S", amg.strength, 0, 0.99, "a number from 0 to 0.99",
        "threshold of strong couplings: negative entries are strong from 4 S times the row's largest one, "
        "relative to sqrt(a_ii min(a_ii, a_jj)) (default: 0.08, or 0.15 if the matrix is not symmetric)"),
    OPTION_NAME("amg-smoother", "NAME", amg.smoother, smoother_at,
                "auto: chebyshev, or polynomials by gmres if the matrix is not symmetric; chebyshev; "
                "chebyshev4 (fourth kind); jacobi; or l1-jacobi (default: auto)"),
    OPTION_WHOLE("amg-sweeps", "N", amg.sweeps, 1, 16,
                 "smoothing steps before and after each coarse correction (default: 2; chosen by level if the "
                 "matrix is not symmetric)"),
    OPTION_WHOLE("amg-visits", "N", amg.visits, 1, 2, "1, a V-cycle, or 2, a W-cycle (default: 2)"),
    OPTION_WHOLE("amg-levels", "N", amg.max_levels, 1, 30, "maximum number of levels (default: 30)"),
    OPTION_WHOLE("amg-coarsest", "N", amg.coarsest, 1, 1000,
                 "maximum rows of the coarsest level, which is solved exactly (default: 500)"),
    OPTION_WHOLE("amg-unknowns", "N", amg.unknowns, 1, 8,
                 "unknowns per node of the mesh, in consecutive rows (default: 1)"),
    OPTION_TEXT("near-null-space", "FILE", near_null,
                "amg: 1 to 8 columns that the matrix almost maps to 0 (default: constants)"),
    OPTION_TEXT("coordinates", "FILE", coordinates,
                "amg: coordinates, one row per node and 2 or 3 columns; each node has one unknown per column, "
                "and rigid-body modes are the near-null space"),
    OPTION_NAME("precision", "NAME", precision, precision_at,
                "single: the device computes in floats; mixed: x and the residual are in double precision; "
                "double: everything is; auto: one after the other, as the tolerance requires (default: auto)"),
    OPTION_RTOL(rtol, "relative tolerance, between 0 and 1 (default: 1e-5)"),
    OPTION_WORD("stop", "RULE", stop, rules,
                "residual: ||b - A x|| <= R ||b||, or with least squares ||A^T (b - A x)|| <= R ||A^T b||; "
                "delta, with cg: delta <= R^2 delta_0 with delta = r^T M^-1 r "
                "(default: residual)"),
    OPTION_WHOLE("max-iterations", "N", max_iterations, 1, 1000000000,
                 "maximum number of iterations (default: 10 times the columns, from 1000 to 100000)"),
    OPTION_WHOLE("check-interval", "N", check_interval, 1, 1024,
                 "check the residual every N iterations, 1 to 1024; each check synchronises with the device"),
    OPTIONS_REPORT,
    OPTION_END};

static const char description[] =
    "Solves A x = b by a Krylov method, as a least-squares problem if A is not square. MATRIX is a Matrix "
    "Market file; `-' is standard input.\vExit status: 0 converged; 1 error; 2 wrong usage; 3 not converged: "
    "the last x is still written.";

void solve_parse(int argc, char **argv, solve_options *options) {
  *options = (solve_options){.backend = "auto", .stop = TS_STOP_RESIDUAL, .rtol = 1e-5};
  options_read("texsolve solve", rows, description, argc, argv, options);
  if (!options->matrix) arguments_usage("no matrix given, expected `texsolve solve MATRIX'");
  const solve_options *o = options;
  const char *const inputs[] = {o->matrix, o->b, o->x0, o->near_null, o->coordinates};
  int from_input = 0;
  for (int k = 0; k < 5; k++) from_input += inputs[k] && !strcmp(inputs[k], "-");
  if (o->is_direct && options_given("preconditioner") && o->preconditioner != TS_PRECONDITIONER_DIRECT)
    arguments_usage("--solver direct: expected --preconditioner direct or none given");
  if (o->is_direct) options->preconditioner = TS_PRECONDITIONER_DIRECT;
  if (solve_is_least_squares(o->method) && o->preconditioner > TS_PRECONDITIONER_AUTO &&
      o->preconditioner != TS_PRECONDITIONER_NONE && o->preconditioner != TS_PRECONDITIONER_JACOBI)
    arguments_usage("--preconditioner %s: expected auto, none or jacobi with --solver %s",
                    ts_preconditioner_kind_name(o->preconditioner), ts_method_name(o->method));
  if (o->restart && o->method != TS_METHOD_GMRES) arguments_usage("--restart: requires --solver gmres");
  if (o->preconditioner != TS_PRECONDITIONER_BLOCK_JACOBI)
    options_refuse("", OPTION_NAMES("block-size"), ": requires --preconditioner block-jacobi");
  if (o->preconditioner != TS_PRECONDITIONER_CHEBYSHEV)
    options_refuse("", OPTION_NAMES("degree"), ": requires --preconditioner chebyshev");
  if (o->preconditioner != TS_PRECONDITIONER_ILU)
    options_refuse("", OPTION_NAMES("scaling"), ": requires --preconditioner ilu");
  if (o->preconditioner != TS_PRECONDITIONER_ILU && o->preconditioner != TS_PRECONDITIONER_IC)
    options_refuse("", OPTION_NAMES("fill", "drop-tolerance", "levels", "sweeps"),
                   ": requires --preconditioner ilu or ic");
  if (options_given("levels"))
    options_refuse("", OPTION_NAMES("fill", "drop-tolerance"), ": cannot be combined with --levels");
  if (o->preconditioner != TS_PRECONDITIONER_AMG)
    options_refuse("",
                   OPTION_NAMES("amg-strength", "amg-smoother", "amg-sweeps", "amg-visits", "amg-levels",
                                "amg-coarsest", "amg-unknowns", "near-null-space", "coordinates"),
                   ": requires --preconditioner amg");
  if (o->near_null && o->coordinates)
    arguments_usage("--near-null-space and --coordinates are both given, expected one of them");
  if (o->reorder && (o->coordinates || o->amg.unknowns > 1))
    arguments_usage("--reorder separates the unknowns of a node, expected none with --%s",
                    o->coordinates ? "coordinates" : "amg-unknowns");
  if (options_given("amg-strength") && o->amg.strength == 0) options->amg.strength = -1; /* 0: the default */
  if (options_given("drop-tolerance") && o->drop_tolerance == 0) options->drop_tolerance = -1; /* as well */
  if (options_given("levels") && o->levels == 0) options->levels = -1;
  if (o->stop == TS_STOP_DELTA && o->method > TS_METHOD_CG)
    arguments_usage("--stop delta: requires --solver cg");
  if (from_input > 1) arguments_usage("'-' given for several files, expected one file on standard input");
  if (o->output && o->history && !strcmp(o->output, o->history))
    arguments_usage("-o and --history are both '%.80s', expected two files", o->output);
}
