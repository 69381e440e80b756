/* The parts of `texsolve poisson`. */
#ifndef CLI_POISSON_H
#define CLI_POISSON_H

#include <texsolve/grid.h>
#include <texsolve/texsolve.h>

/* Problems that need no file. The first two have a known solution. */
#define POISSON_PROBLEM_LIST(X)                                                                                \
  X(PROBLEM_SMOOTH, "smooth")       /* a smooth u, k = 1 */                                                    \
  X(PROBLEM_VARIABLE, "variable")   /* the same u, a smooth k from 1/2 to 3/2 */                               \
  X(PROBLEM_NOISE, "noise")         /* random numbers as right-hand side, k = 1 */                             \
  X(PROBLEM_JUMPS, "jumps")         /* the same, k 1 or 1000 in random squares of 8 x 8 points */              \
  X(PROBLEM_OBSTACLES, "obstacles") /* random numbers as right-hand side, k = 1, discs and thin walls */

typedef enum poisson_problem_name {
#define PROBLEM_ENUM(name, text) name,
  POISSON_PROBLEM_LIST(PROBLEM_ENUM)
#undef PROBLEM_ENUM
      PROBLEM_COUNT
} poisson_problem_name;

extern const char *const poisson_problem_names[PROBLEM_COUNT + 1]; /* ends with NULL */

typedef struct poisson_options {
  int width, height;
  ts_boundary left, right, bottom, top;
  ts_centring centring;
  int problem; /* poisson_problem_name; -1: not given */
  double sigma;
  const char *rhs, *coefficient, *solid, *output; /* file names; NULL: not given */
  const char *backend;
  int threads;
  ts_multigrid_desc multigrid;
  double rtol;
  int max_cycles;
  int cg;
  ts_precision precision; /* of x and of CG */
  int json, quiet, verbosity;
} poisson_options;

/* Fills in the options. Ends the program with EXIT_USAGE after a message, or with 0 after --help. */
void poisson_parse(int argc, char **argv, poisson_options *options);

typedef struct poisson_problem {
  ts_poisson_desc desc; /* points to the arrays below */
  double *coefficient;
  unsigned char *solid;
  double *g;
  double *boundaries[4]; /* boundary values on the left, right, bottom and top; NULL: 0 */
  int exponent;          /* the solution is x 2^exponent, because k, sigma and g are scaled */
  double *exact;         /* solution of the differential equation; NULL: unknown */
} poisson_problem;

/* Sets only the size, boundaries and spacing, to ask the device whether it supports the grid. */
void poisson_describe(const poisson_options *options, ts_poisson_desc *desc);

/* Reads the files and computes the rest. Returns 0, or -1 after a message. poisson_free also accepts a zeroed
 * problem. */
int poisson_make(const poisson_options *options, poisson_problem *problem);
void poisson_free(poisson_problem *problem);

/* Manufactured problems: k, g, the boundary values and u at the points of `desc`. */
typedef struct manufactured {
  double k, g, u, flux_x, flux_y; /* k du/dx, k du/dy */
} manufactured;
void poisson_manufactured(const ts_poisson_desc *desc, poisson_problem_name name, double x, double y,
                          manufactured *m);

/* Positions of the points in one dimension, and the length of the rectangle. */
double poisson_position(const ts_poisson_desc *desc, int32_t index);
double poisson_length(const ts_poisson_desc *desc, int32_t count, int periodic);

enum { POISSON_HISTORY = 1001 };

typedef struct poisson_outcome {
  ts_status status; /* TS_OK or TS_NOT_CONVERGED */
  ts_reason reason;
  char message[200];
  ts_context_info context;
  ts_multigrid_info multigrid;
  int cycles, host_synchronisations;
  double history[POISSON_HISTORY]; /* per cycle; with CG sqrt(delta / delta_0) */
  int history_count;
  double factor;
  ts_precision precision;      /* at the end */
  int precision_iterations[4]; /* number of cycles by ts_precision */
  double solver_residual;      /* ||b - A x|| / ||b|| as computed by the solver */
  double rounded_residual;     /* of x as written */
  double incompatible;         /* incompatible part of b; NaN with CG */
  double error_max, error_rms; /* relative to the exact solution; NaN: unknown */
  double seconds_make, seconds_setup, seconds_solve;
} poisson_outcome;

/* "converged", "not converged" or "stopped" */
const char *poisson_how_it_ended(const poisson_outcome *outcome);
/* Prints the line of the history's last cycle immediately. Does nothing unless the report is text. */
void poisson_report_cycle(const poisson_options *options, const poisson_outcome *outcome, int cycle);
void poisson_report_start(const poisson_options *options, const poisson_problem *problem,
                          const poisson_outcome *outcome);
void poisson_report_text(const poisson_options *options, const poisson_problem *problem,
                         const poisson_outcome *outcome);
/* Returns 0, or -1 after a message. */
int poisson_report_json(const poisson_options *options, const poisson_problem *problem,
                        const poisson_outcome *outcome);

/* Solves on an open context and checks the result; x receives width * height numbers. Returns 0, or -1 after a
 * message. */
int poisson_solve(const poisson_options *options, const poisson_problem *problem, ts_context *context,
                  poisson_outcome *outcome, double **x);

/* The boundary values in the library's form. */
ts_boundary_values poisson_boundaries(const poisson_problem *problem);

/* ||b - A x|| / ||b||, computed on the host from the problem's doubles. If the whole grid is one null-space
 * component, the mean is excluded; with several components the means count. Returns 0, or -1 after a
 * message. */
int poisson_residual(const poisson_problem *problem, const double *x, int null_space_components,
                     double *residual);

/* Nonzero, after a message, if the device does not support grids of this size. */
int poisson_check_grid(const poisson_options *options, ts_context *context);

#endif
