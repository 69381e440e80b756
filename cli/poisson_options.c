/* The arguments of `texsolve poisson`. */
#include "poisson.h"

#include <math.h>
#include <string.h>

#include "arguments.h"
#include "message.h"
#include "options.h"

typedef poisson_options program_options;

const char *const poisson_problem_names[PROBLEM_COUNT + 1] = {
#define PROBLEM_TEXT(name, text) text,
    POISSON_PROBLEM_LIST(PROBLEM_TEXT)
#undef PROBLEM_TEXT
};

/* Names from the library's lists, which begin with 0. */
#define NAME_FUNCTION(prefix)                                                                                  \
  static const char *prefix##_at(int value) {                                                                  \
    return prefix##_name((prefix)value);                                                                       \
  }
NAME_FUNCTION(ts_smoother)
NAME_FUNCTION(ts_grid_storage)
NAME_FUNCTION(ts_interpolation)
NAME_FUNCTION(ts_cycle)
NAME_FUNCTION(ts_precision)
#undef NAME_FUNCTION

static void set_size(void *options, const char *text) {
  poisson_options *o = options;
  enum { MOST = 1 << 20, MOST_SAMPLES = INT32_MAX - 1023 };
  int failed =
      strchr(text, 'x') ? parse_size(text, &o->width, &o->height) : parse_int(text, 1, MOST, &o->width);
  if (!failed && !strchr(text, 'x')) o->height = o->width;
  if (failed || o->width < 3 || o->height < 3)
    arguments_usage("--size: '%.40s', expected WIDTH or WIDTHxHEIGHT of 3 to %d points, such as 1025x513", text,
                    MOST);
  if ((long long)o->width * o->height > MOST_SAMPLES)
    arguments_usage("--size: '%.40s' has %lld points, expected at most %d", text,
                    (long long)o->width * o->height, MOST_SAMPLES);
}

static void set_boundary(void *options, const char *text) {
  poisson_options *o = options;
  ts_boundary *const boundaries[4] = {&o->left, &o->right, &o->bottom, &o->top};
  const char *rest = text;
  if (!strcmp(text, "mixed")) {
    o->left = TS_BOUNDARY_DIRICHLET;
    o->right = o->bottom = o->top = TS_BOUNDARY_NEUMANN;
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
      side = ts_boundary_from_name(name);
    }
    if (side < 0)
      arguments_usage(
          "--boundary: unknown boundary '%.*s', expected dirichlet, neumann or periodic, mixed, or four of the "
          "first three as LEFT,RIGHT,BOTTOM,TOP",
          length < 40 ? (int)length : 40, rest);
    if (count < 4) *boundaries[count] = (ts_boundary)side;
    count++;
    rest += length;
    if (!*rest) break;
    rest++;
  }
  if (count == 1) o->right = o->bottom = o->top = o->left;
  if (count != 1 && count != 4)
    arguments_usage("--boundary: '%.80s' has %d boundaries, expected 1 or 4 (LEFT,RIGHT,BOTTOM,TOP)", text,
                    count);
  const char *lone = NULL;
  if ((o->left == TS_BOUNDARY_PERIODIC) != (o->right == TS_BOUNDARY_PERIODIC)) lone = "left and right";
  if ((o->bottom == TS_BOUNDARY_PERIODIC) != (o->top == TS_BOUNDARY_PERIODIC)) lone = "bottom and top";
  if (lone) arguments_usage("--boundary: only one of %s is periodic, expected both or none", lone);
}

static const char *const centrings[] = {"vertex", "cell", NULL};

static const option_row rows[] = {
    OPTION_HEADING("Problem:"),
    {.kind = OPTION_IS_PARSED,
     .name = "size",
     .letter = 's',
     .argument = "W[xH]",
     .parse = set_size,
     .help = "grid points, at least 3 in each direction (default: 257)"},
    OPTION_PARSED("boundary", "KINDS", set_boundary,
                  "dirichlet, neumann, periodic, mixed (Dirichlet on the left, Neumann elsewhere), or "
                  "LEFT,RIGHT,BOTTOM,TOP (default: dirichlet)"),
    OPTION_WORD("centring", "WHERE", centring, centrings,
                "vertex: the outermost points are on the boundary; cell: points are the centres of cells that "
                "fill the rectangle (default: vertex)"),
    OPTION_NUMBER("sigma", "S", sigma, 0, HUGE_VAL, "a number that is not negative",
                  "coefficient of u in the Helmholtz equation, at least 0 (default: 0)"),
    OPTION_WORD("problem", "NAME", problem, poisson_problem_names,
                "smooth or variable, with known solutions; noise, jumps or obstacles (default: smooth; noise "
                "with files, which replace parts of it)"),
    OPTION_TEXT("rhs", "FILE", rhs, "the right-hand side g, with 0 on every boundary"),
    OPTION_TEXT("coefficient", "FILE", coefficient, "the coefficient k, positive numbers (default: 1)"),
    OPTION_TEXT("solid", "FILE", solid, "walls: points where this is not 0"),
    OPTION_OUTPUT(
        "write the solution to this file: NumPy format if FILE ends with .npy, otherwise Matrix Market"),
    OPTION_HEADING("Backend:"),
    OPTIONS_COMMAND_DEVICE,
    OPTION_HEADING("Multigrid:"),
    OPTION_NAME("smoother", "NAME", multigrid.smoother, ts_smoother_at,
                "jacobi, chebyshev, red-black or four-colour (default)"),
    OPTION_NAME("storage", "NAME", multigrid.storage, ts_grid_storage_at,
                "plain, layered (Bolz et al. 2003) or parities (default: the fastest for the smoother)"),
    OPTION_NAME("interpolation", "NAME", multigrid.interpolation, ts_interpolation_at,
                "bilinear, or operator: follows walls and jumps of k (default: auto)"),
    OPTION_NAME("cycle", "NAME", multigrid.cycle, ts_cycle_at, "V (default), W or F"),
    OPTION_WHOLE("pre", "N", multigrid.pre, 0, 16,
                 "smoothing steps before the coarse-grid correction (default: 1; jacobi 4, chebyshev 2)"),
    OPTION_WHOLE("post", "N", multigrid.post, 0, 16,
                 "smoothing steps after the coarse-grid correction (default: 1; jacobi and chebyshev 2)"),
    OPTION_POSITIVE("damping", "W", multigrid.damping, 1, "a number above 0 and at most 1",
                    "omega of Jacobi, above 0 and at most 1 (default: 2/3)"),
    OPTION_FLAG("symmetric", multigrid.symmetric,
                "reverse the order of colours after the coarse-grid correction"),
    OPTION_FLAG("full", multigrid.full, "start with full multigrid"),
    OPTION_WHOLE("levels", "N", multigrid.max_levels, 1, 32, "maximum number of levels (default: automatic)"),
    OPTION_WHOLE("coarsest-sweeps", "N", multigrid.coarsest_sweeps, 1, 1000,
                 "smooth N times on the coarsest level instead of solving exactly, 1 to 1000"),
    OPTION_FLAG("cg", cg, "conjugate gradients with a cycle as the preconditioner"),
    OPTION_NAME(
        "precision", "NAME", precision, ts_precision_at,
        "single: x is in floats, and CG computes in them; mixed, double: x keeps the digits of doubles (of two "
        "floats with cycles), and CG computes accordingly; auto: as the tolerance requires (default: auto)"),
    OPTION_RTOL(rtol, "relative tolerance of the residual, between 0 and 1 (default: 1e-6)"),
    OPTION_WHOLE("max-cycles", "N", max_cycles, 1, 1000000, "stop after N cycles (default: 100)"),
    OPTIONS_REPORT,
    OPTION_END};

static const char description[] =
    "Solves -div(k grad u) + S u = g on a rectangle by multigrid, and reports the residual after every cycle. "
    "FILEs are Matrix Market or NumPy files with as many rows and columns as the grid; the first row is the "
    "lowest. `-' is standard input.\vExit status: 0 converged; 1 error; 2 wrong usage; 3 not converged: the "
    "last u is still written.";

/* The library treats both as given if one is. */
static void set_steps(ts_multigrid_desc *m) {
  const int jacobi = m->smoother == TS_SMOOTHER_JACOBI, chebyshev = m->smoother == TS_SMOOTHER_CHEBYSHEV;
  if (m->pre < 0) m->pre = jacobi ? 4 : chebyshev ? 2 : 1;
  if (m->post < 0) m->post = jacobi || chebyshev ? 2 : 1;
  if (m->pre == 0 && m->post == 0)
    arguments_usage("--pre 0 and --post 0, expected at least one smoothing step");
}

void poisson_parse(int argc, char **argv, poisson_options *options) {
  *options = (poisson_options){.width = 257,
                               .height = 257,
                               .problem = -1,
                               .backend = "auto",
                               .rtol = 1e-6,
                               .max_cycles = 100,
                               .multigrid = {.pre = -1, .post = -1}};
  options_read("texsolve poisson", rows, description, argc, argv, options);
  const poisson_options *o = options;
  const char *const inputs[] = {o->rhs, o->coefficient, o->solid};
  int from_input = 0;
  for (int i = 0; i < 3; i++) from_input += inputs[i] && !strcmp(inputs[i], "-");
  if (from_input > 1) arguments_usage("'-' given for several files, expected one file on standard input");
  set_steps(&options->multigrid);
  if (o->cg && o->multigrid.full)
    arguments_usage("--cg and --full: a cycle as preconditioner starts from 0, expected one of them");
  if (o->cg && o->multigrid.cycle == TS_CYCLE_F)
    arguments_usage("--cg and --cycle F, which is not a symmetric operator; expected V or W");
  const char *const file = o->rhs ? "--rhs" : o->coefficient ? "--coefficient" : o->solid ? "--solid" : NULL;
  if (o->problem < 0) options->problem = file ? PROBLEM_NOISE : PROBLEM_SMOOTH;
  if (file && (o->problem == PROBLEM_SMOOTH || o->problem == PROBLEM_VARIABLE))
    arguments_usage("%s and --problem %s, which defines all of its data; expected one of them, or --problem "
                    "noise, jumps or obstacles",
                    file, poisson_problem_names[o->problem]);
}
