/* The arguments of `texsolve solve`. */
#include "solve.h"

#include <argp.h>
#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "message.h"

enum {
  KEY_BACKEND = 256,
  KEY_FORMAT,
  KEY_REORDER,
  KEY_SOLVER,
  KEY_RESTART,
  KEY_PRECONDITIONER,
  KEY_RTOL,
  KEY_MAX_ITERATIONS,
  KEY_CHECK_INTERVAL,
  KEY_STOP,
  KEY_HISTORY,
  KEY_JSON,
  KEY_X0,
  KEY_RECTANGLE,
  KEY_THREADS
};

static const struct argp_option option_list[] = {
    {0, 0, 0, 0, "Files:", 1},
    {0, 'b', "FILE", 0, "right-hand side: 1 to 4 columns, solved together (default: all ones)", 1},
    {"output", 'o', "FILE", 0, "write the solution x here, as a Matrix Market array", 1},
    {"x0", KEY_X0, "FILE", 0, "starting value, of the size of b (default: 0)", 1},
    {"history", KEY_HISTORY, "FILE", 0,
     "write sqrt(delta / delta_0) of every iteration here, or ||r|| / ||b|| where the method is not cg, as CSV",
     1},
    {0, 0, 0, 0, "Where and how the matrix is stored:", 2},
    {"backend", KEY_BACKEND, "NAME", 0,
     "auto, cuda, cuda:N (device N), gl, gl:N, cpu, or check:NAME; see `texsolve info' (default: auto, which "
     "takes CUDA "
     "where there is a device, else OpenGL on a GPU, else the CPU)",
     2},
    {"format", KEY_FORMAT, "NAME", 0,
     "auto, jagged, segments, csr, bcrs2 or bcrs4 (default: auto, the backend's fastest)", 2},
    {"reorder", KEY_REORDER, "NAME", 0,
     "order of the unknowns on the device: rcm (reverse Cuthill-McKee), amd, metis, random, or none, that of "
     "the "
     "file (default: none); x is written in the file's",
     2},
    {"rectangle", KEY_RECTANGLE, "WxH", 0,
     "pack rows in rectangles of W x H texels, powers of two from 4 to 256", 2},
    {"threads", KEY_THREADS, "N", 0, "threads of the CPU backend", 2},
    {0, 0, 0, 0, "The method:", 3},
    {"solver", KEY_SOLVER, "NAME", 0,
     "cg, for symmetric positive definite matrices; bicgstab or gmres, for any; auto: cg for symmetric "
     "matrices, "
     "else bicgstab (default: auto)",
     3},
    {"restart", KEY_RESTART, "M", 0, "restart gmres every M iterations, 1 to 200 (default: 30)", 3},
    {"preconditioner", KEY_PRECONDITIONER, "NAME", 0, "none or jacobi (default: jacobi)", 3},
    {"rtol", KEY_RTOL, "R", 0, "relative tolerance, between 0 and 1 (default: 1e-5)", 3},
    {"stop", KEY_STOP, "RULE", 0,
     "residual: ||b - A x|| <= R ||b||; delta, with cg: delta <= R^2 delta_0 with delta = r^T M^-1 r "
     "(default: residual)",
     3},
    {"max-iterations", KEY_MAX_ITERATIONS, "N", 0,
     "stop after N (default: 10 times the rows, from 1000 to 100000)", 3},
    {"check-interval", KEY_CHECK_INTERVAL, "N", 0,
     "check the residual every N iterations, 1 to 1024; each check synchronises with the device", 3},
    {0, 0, 0, 0, "Output:", 4},
    {"json", KEY_JSON, 0, 0, "report as one JSON object on standard output", 4},
    {"quiet", 'q', 0, 0, "print no report, only errors and failures to converge", 4},
    {"verbose", 'v', 0, 0, "log what the library does; twice: in detail", 4},
    {0, 0, 0, 0, "Help:", -1},
    {0}};

static const char description[] =
    "Solves A x = b by a Krylov method. MATRIX is a Matrix Market file with a square matrix; `-' is standard "
    "input.\v"
    "Exit status: 0 converged; 1 error; 2 wrong usage; 3 not converged, where the last x is still written.";

static ts_format parse_format(const char *name) {
  const int format = ts_format_from_name(name);
  if (format >= 0) return (ts_format)format;
  char known[128] = "";
  for (int i = 0; ts_format_name((ts_format)i); i++) {
    const size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", ts_format_name((ts_format)i));
  }
  arguments_usage("--format: unknown format '%.40s', expected one of %s", name, known);
}

static void set_word(const char *option, const char *text, const char *first, const char *second,
                     int *is_second) {
  if (strcmp(text, first) && strcmp(text, second))
    arguments_usage("%s: unknown %s '%.40s', expected %s or %s", option, option + 2, text, first, second);
  *is_second = !strcmp(text, second);
}

static ts_method parse_solver(const char *name) {
  const int method = ts_method_from_name(name);
  if (method >= 0 && method <= TS_METHOD_GMRES) return (ts_method)method;
  arguments_usage("--solver: unknown solver '%.40s', expected auto, cg, bicgstab or gmres", name);
}

static error_t parse(int key, char *text, struct argp_state *state) {
  solve_options *o = state->input;
  int is_second;
  switch (key) {
  case 'b':
    o->b = text;
    break;
  case 'o':
    o->output = text;
    break;
  case 'q':
    o->quiet = 1;
    break;
  case 'v':
    o->verbosity++;
    break;
  case KEY_X0:
    o->x0 = text;
    break;
  case KEY_HISTORY:
    o->history = text;
    break;
  case KEY_JSON:
    o->json = 1;
    break;
  case KEY_BACKEND:
    o->backend = text;
    break;
  case KEY_FORMAT:
    o->format = parse_format(text);
    break;
  case KEY_REORDER:
    if (reorder_parse(text, &o->reorder))
      arguments_usage("--reorder: unknown order '%.40s', expected " REORDER_NAMES, text);
    break;
  case KEY_SOLVER:
    o->method = parse_solver(text);
    break;
  case KEY_RESTART:
    o->restart = arguments_whole_number("--restart", text, 1, 200);
    break;
  case KEY_PRECONDITIONER:
    set_word("--preconditioner", text, "none", "jacobi", &is_second);
    o->preconditioner = is_second ? TS_PRECONDITIONER_JACOBI : TS_PRECONDITIONER_NONE;
    break;
  case KEY_STOP:
    set_word("--stop", text, "residual", "delta", &is_second);
    o->stop = is_second ? TS_STOP_DELTA : TS_STOP_RESIDUAL;
    break;
  case KEY_RTOL:
    o->rtol = arguments_rtol(text);
    break;
  case KEY_RECTANGLE:
    if (parse_size(text, &o->rectangle_width, &o->rectangle_height))
      arguments_usage("--rectangle: '%.40s', expected WIDTHxHEIGHT, such as 32x16", text);
    break;
  case KEY_MAX_ITERATIONS:
    o->max_iterations = arguments_whole_number("--max-iterations", text, 1, 1000000000);
    break;
  case KEY_CHECK_INTERVAL:
    o->check_interval = arguments_whole_number("--check-interval", text, 1, 1024);
    break;
  case KEY_THREADS:
    o->threads = arguments_whole_number("--threads", text, 1, 4096);
    break;
  case ARGP_KEY_ARG:
    if (o->matrix) arguments_usage("'%.80s' after the matrix, expected one matrix only", text);
    o->matrix = text;
    break;
  case ARGP_KEY_END:
    if (!o->matrix) arguments_usage("no matrix given, expected `texsolve solve MATRIX'");
    break;
  default:
    return ARGP_ERR_UNKNOWN;
  }
  return 0;
}

void solve_parse(int argc, char **argv, solve_options *options) {
  static const struct argp argp = {
      .options = option_list, .parser = parse, .args_doc = "MATRIX", .doc = description};
  *options = (solve_options){.backend = "auto", .stop = TS_STOP_RESIDUAL, .rtol = 1e-5};
  arguments_parse_command(&argp, argc, argv, options);
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
