/* The arguments of `texsolve poisson`. */
#include "poisson.h"

#include <argp.h>
#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "message.h"

const char *const poisson_problem_names[PROBLEM_COUNT] = {
#define PROBLEM_TEXT(name, text) text,
    POISSON_PROBLEM_LIST(PROBLEM_TEXT)
#undef PROBLEM_TEXT
};

enum {
  KEY_BOUNDARY = 256,
  KEY_SAMPLES,
  KEY_SIGMA,
  KEY_PROBLEM,
  KEY_RHS,
  KEY_COEFFICIENT,
  KEY_SOLID,
  KEY_BACKEND,
  KEY_THREADS,
  KEY_SMOOTHER,
  KEY_STORAGE,
  KEY_INTERPOLATION,
  KEY_CYCLE,
  KEY_PRE,
  KEY_POST,
  KEY_DAMPING,
  KEY_SYMMETRIC,
  KEY_FULL,
  KEY_LEVELS,
  KEY_COARSEST_SWEEPS,
  KEY_RTOL,
  KEY_MAX_CYCLES,
  KEY_CG,
  KEY_JSON
};

static const struct argp_option option_list[] = {
    {0, 0, 0, 0, "The problem:", 1},
    {"size", 's', "W[xH]", 0, "samples of the grid, at least 3 each way (default: 257)", 1},
    {"boundary", KEY_BOUNDARY, "SIDES", 0,
     "dirichlet, neumann, periodic, mixed (Dirichlet on the left, else Neumann), or "
     "LEFT,RIGHT,BOTTOM,TOP (default: dirichlet)",
     1},
    {"samples", KEY_SAMPLES, "WHERE", 0,
     "points: the outermost lie on the sides; cells: in the middle of cells that fill the rectangle (default: "
     "points)",
     1},
    {"sigma", KEY_SIGMA, "S", 0, "coefficient of u in the Helmholtz equation, at least 0 (default: 0)", 1},
    {"problem", KEY_PROBLEM, "NAME", 0,
     "smooth or variable, whose solution is known; noise, jumps or obstacles (default: smooth; noise where "
     "files are given, which take the place of its parts)",
     1},
    {"rhs", KEY_RHS, "FILE", 0, "the right-hand side g, with 0 on all sides", 1},
    {"coefficient", KEY_COEFFICIENT, "FILE", 0, "the coefficient k, positive numbers (default: 1)", 1},
    {"solid", KEY_SOLID, "FILE", 0, "walls: samples where this is not 0", 1},
    {"output", 'o', "FILE", 0,
     "write the solution here: NumPy's format if FILE ends with .npy, else Matrix Market", 1},
    {0, 0, 0, 0, "Where:", 2},
    {"backend", KEY_BACKEND, "NAME", 0,
     "auto, cuda, cuda:N (device N), gl, gl:N, cpu, or check:NAME; see `texsolve info' (default: auto)", 2},
    {"threads", KEY_THREADS, "N", 0, "threads of the CPU backend", 2},
    {0, 0, 0, 0, "Multigrid:", 3},
    {"smoother", KEY_SMOOTHER, "NAME", 0, "jacobi, chebyshev, red-black or four-colour (default)", 3},
    {"storage", KEY_STORAGE, "NAME", 0,
     "plain, layered (Bolz et al. 2003) or parities (default: the fastest for the smoother)", 3},
    {"interpolation", KEY_INTERPOLATION, "NAME", 0,
     "bilinear, or operator: follows walls and jumps of k (default: auto)", 3},
    {"cycle", KEY_CYCLE, "NAME", 0, "V (default), W or F", 3},
    {"pre", KEY_PRE, "N", 0,
     "smoothing steps before the coarse-grid correction (default: 1; jacobi 4, chebyshev 2)", 3},
    {"post", KEY_POST, "N", 0,
     "smoothing steps after the coarse-grid correction (default: 1; jacobi and chebyshev 2)", 3},
    {"damping", KEY_DAMPING, "W", 0, "omega of Jacobi, above 0 and at most 1 (default: 2/3)", 3},
    {"symmetric", KEY_SYMMETRIC, 0, 0, "reverse the order of colours after the coarse-grid correction", 3},
    {"full", KEY_FULL, 0, 0, "start with full multigrid", 3},
    {"levels", KEY_LEVELS, "N", 0, "use at most N levels (default: as many as help)", 3},
    {"coarsest-sweeps", KEY_COARSEST_SWEEPS, "N", 0,
     "smooth N times on the coarsest level instead of solving exactly, 1 to 1000", 3},
    {"cg", KEY_CG, 0, 0, "conjugate gradients, with a cycle as the preconditioner", 3},
    {"rtol", KEY_RTOL, "R", 0, "relative tolerance of the residual, between 0 and 1 (default: 1e-6)", 3},
    {"max-cycles", KEY_MAX_CYCLES, "N", 0, "stop after N cycles (default: 100)", 3},
    {0, 0, 0, 0, "Output:", 4},
    {"json", KEY_JSON, 0, 0, "report as one JSON object on standard output", 4},
    {"quiet", 'q', 0, 0, "print no report, only errors and failures to converge", 4},
    {"verbose", 'v', 0, 0, "log what the library does; twice: in detail", 4},
    {0, 0, 0, 0, "Help:", -1},
    {0}};

static const char description[] =
    "Solves -div(k grad u) + S u = g on a rectangle by multigrid, and reports the residual after every cycle. "
    "FILEs are Matrix Market or NumPy files with as many rows and columns as the grid, whose first row is the "
    "lowest; `-' is standard input.\v"
    "Exit status: 0 converged; 1 error; 2 wrong usage; 3 not converged, where the last u is still written.";

/* Names of the library's lists, which begin with 0. */
typedef const char *(*name_fn)(int value);
#define NAME_FUNCTION(prefix, type)                                                                            \
  static const char *name_##prefix(int value) {                                                                \
    return prefix##_name((type)value);                                                                         \
  }
NAME_FUNCTION(ts_smoother, ts_smoother)
NAME_FUNCTION(ts_grid_storage, ts_grid_storage)
NAME_FUNCTION(ts_interpolation, ts_interpolation)
NAME_FUNCTION(ts_cycle, ts_cycle)
#undef NAME_FUNCTION

static int option_name(const char *option, const char *text, int value, name_fn name) {
  if (value >= 0) return value;
  char known[128] = "";
  for (int i = 0; name(i); i++) {
    const size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", name(i));
  }
  arguments_usage("%s: unknown %s '%.40s', expected one of %s", option, option + 2, text, known);
}

static int option_problem(const char *text) {
  for (int i = 0; i < PROBLEM_COUNT; i++)
    if (!strcmp(text, poisson_problem_names[i])) return i;
  arguments_usage("--problem: unknown problem '%.40s', expected smooth, variable, noise, jumps or obstacles",
                  text);
}

static void set_size(const char *text, poisson_options *o) {
  enum { MOST = 1 << 20, MOST_SAMPLES = INT32_MAX - 1023 };
  int failed =
      strchr(text, 'x') ? parse_size(text, &o->width, &o->height) : parse_int(text, 1, MOST, &o->width);
  if (!failed && !strchr(text, 'x')) o->height = o->width;
  if (failed || o->width < 3 || o->height < 3)
    arguments_usage("--size: '%.40s', expected WIDTH or WIDTHxHEIGHT of 3 to %d samples, such as 1025x513",
                    text, MOST);
  if ((long long)o->width * o->height > MOST_SAMPLES)
    arguments_usage("--size: '%.40s' are %lld samples, expected at most %d", text,
                    (long long)o->width * o->height, MOST_SAMPLES);
}

static void set_boundary(const char *text, poisson_options *o) {
  ts_side *const sides[4] = {&o->left, &o->right, &o->bottom, &o->top};
  const char *rest = text;
  if (!strcmp(text, "mixed")) {
    o->left = TS_SIDE_DIRICHLET;
    o->right = o->bottom = o->top = TS_SIDE_NEUMANN;
    return;
  }
  int count = 0;
  for (;;) {
    char name[16];
    const size_t length = strcspn(rest, ",");
    int side = -1;
    if (length < sizeof name) {
      memcpy(name, rest, length);
      name[length] = '\0';
      side = ts_side_from_name(name);
    }
    if (side < 0)
      arguments_usage(
          "--boundary: unknown side '%.*s', expected dirichlet, neumann or periodic, mixed, or four of the "
          "first three as LEFT,RIGHT,BOTTOM,TOP",
          length < 40 ? (int)length : 40, rest);
    if (count < 4) *sides[count] = (ts_side)side;
    count++;
    rest += length;
    if (!*rest) break;
    rest++;
  }
  if (count == 1) o->right = o->bottom = o->top = o->left;
  if (count != 1 && count != 4)
    arguments_usage("--boundary: '%.80s' has %d sides, expected 1 or 4 (LEFT,RIGHT,BOTTOM,TOP)", text, count);
  const char *lone = NULL;
  if ((o->left == TS_SIDE_PERIODIC) != (o->right == TS_SIDE_PERIODIC)) lone = "left and right";
  if ((o->bottom == TS_SIDE_PERIODIC) != (o->top == TS_SIDE_PERIODIC)) lone = "bottom and top";
  if (lone) arguments_usage("--boundary: only one of %s is periodic, expected both or none", lone);
}

static error_t parse_method(int key, char *text, poisson_options *o) {
  ts_multigrid_desc *m = &o->multigrid;
  switch (key) {
  case KEY_SMOOTHER:
    m->smoother = (ts_smoother)option_name("--smoother", text, ts_smoother_from_name(text), name_ts_smoother);
    break;
  case KEY_STORAGE:
    m->storage =
        (ts_grid_storage)option_name("--storage", text, ts_grid_storage_from_name(text), name_ts_grid_storage);
    break;
  case KEY_INTERPOLATION:
    m->interpolation = (ts_interpolation)option_name("--interpolation", text, ts_interpolation_from_name(text),
                                                     name_ts_interpolation);
    break;
  case KEY_CYCLE:
    m->cycle = (ts_cycle)option_name("--cycle", text, ts_cycle_from_name(text), name_ts_cycle);
    break;
  case KEY_PRE:
    m->pre = arguments_whole_number("--pre", text, 0, 16);
    break;
  case KEY_POST:
    m->post = arguments_whole_number("--post", text, 0, 16);
    break;
  case KEY_DAMPING:
    m->damping = arguments_positive("--damping", text, 1, "a number above 0 and at most 1");
    break;
  case KEY_SYMMETRIC:
    m->symmetric = 1;
    break;
  case KEY_FULL:
    m->full = 1;
    break;
  case KEY_LEVELS:
    m->max_levels = arguments_whole_number("--levels", text, 1, 32);
    break;
  case KEY_COARSEST_SWEEPS:
    m->coarsest_sweeps = arguments_whole_number("--coarsest-sweeps", text, 1, 1000);
    break;
  case KEY_CG:
    o->cg = 1;
    break;
  case KEY_RTOL:
    o->rtol = arguments_rtol(text);
    break;
  case KEY_MAX_CYCLES:
    o->max_cycles = arguments_whole_number("--max-cycles", text, 1, 1000000);
    break;
  default:
    return ARGP_ERR_UNKNOWN;
  }
  return 0;
}

static error_t parse(int key, char *text, struct argp_state *state) {
  poisson_options *o = state->input;
  switch (key) {
  case 's':
    set_size(text, o);
    break;
  case KEY_BOUNDARY:
    set_boundary(text, o);
    break;
  case KEY_SAMPLES:
    if (strcmp(text, "points") && strcmp(text, "cells"))
      arguments_usage("--samples: '%.40s', expected points or cells", text);
    o->samples = !strcmp(text, "cells") ? TS_SAMPLES_CELLS : TS_SAMPLES_POINTS;
    break;
  case KEY_SIGMA:
    if (parse_double(text, &o->sigma) || o->sigma < 0)
      arguments_usage("--sigma: '%.40s', expected a number that is not negative", text);
    break;
  case KEY_PROBLEM:
    o->problem = option_problem(text);
    break;
  case KEY_RHS:
    o->rhs = text;
    break;
  case KEY_COEFFICIENT:
    o->coefficient = text;
    break;
  case KEY_SOLID:
    o->solid = text;
    break;
  case 'o':
    o->output = text;
    break;
  case KEY_BACKEND:
    o->backend = text;
    break;
  case KEY_THREADS:
    o->threads = arguments_whole_number("--threads", text, 1, 4096);
    break;
  case KEY_JSON:
    o->json = 1;
    break;
  case 'q':
    o->quiet = 1;
    break;
  case 'v':
    o->verbosity++;
    break;
  case ARGP_KEY_ARG:
    arguments_usage("'%.80s', expected options only, such as --rhs FILE", text);
  default:
    return parse_method(key, text, o);
  }
  return 0;
}

/* The library takes both as given where one is. */
static void set_steps(ts_multigrid_desc *m) {
  const int jacobi = m->smoother == TS_SMOOTHER_JACOBI, chebyshev = m->smoother == TS_SMOOTHER_CHEBYSHEV;
  if (m->pre < 0) m->pre = jacobi ? 4 : chebyshev ? 2 : 1;
  if (m->post < 0) m->post = jacobi || chebyshev ? 2 : 1;
  if (m->pre == 0 && m->post == 0)
    arguments_usage("--pre 0 and --post 0, expected at least one smoothing step");
}

void poisson_parse(int argc, char **argv, poisson_options *options) {
  static const struct argp argp = {.options = option_list, .parser = parse, .doc = description};
  *options = (poisson_options){.width = 257,
                               .height = 257,
                               .problem = -1,
                               .backend = "auto",
                               .rtol = 1e-6,
                               .max_cycles = 100,
                               .multigrid = {.pre = -1, .post = -1}};
  arguments_parse_command(&argp, argc, argv, options);
  const poisson_options *o = options;
  const char *const inputs[] = {o->rhs, o->coefficient, o->solid};
  int from_input = 0;
  for (int i = 0; i < 3; i++) from_input += inputs[i] && !strcmp(inputs[i], "-");
  if (from_input > 1) arguments_usage("'-' given for several files, expected one file on standard input");
  set_steps(&options->multigrid);
  if (o->cg && o->multigrid.full)
    arguments_usage("--cg and --full: a cycle that preconditions begins from 0, expected one of them");
  if (o->cg && o->multigrid.cycle == TS_CYCLE_F)
    arguments_usage("--cg and --cycle F, which is no symmetric operator; expected V or W");
  const char *const file = o->rhs ? "--rhs" : o->coefficient ? "--coefficient" : o->solid ? "--solid" : NULL;
  if (o->problem < 0) options->problem = file ? PROBLEM_NOISE : PROBLEM_SMOOTH;
  if (file && (o->problem == PROBLEM_SMOOTH || o->problem == PROBLEM_VARIABLE))
    arguments_usage(
        "%s and --problem %s, which has all of its own; expected one of them, or --problem noise, jumps or "
        "obstacles",
        file, poisson_problem_names[o->problem]);
}
