/* The parts of `texsolve solve`. */
#ifndef CLI_SOLVE_H
#define CLI_SOLVE_H

#include <texsolve/amg.h>
#include <texsolve/system.h>
#include <texsolve/gl.h>

#include "matrix_market.h"
#include "reorder.h"

typedef struct solve_options {
  const char *matrix; /* file names; NULL: not given */
  const char *b, *x0, *output, *history;
  const char *near_null, *coordinates;
  const char *backend;
  ts_format format;
  reorder_kind reorder;
  ts_method method;
  int is_direct; /* --solver direct */
  ts_preconditioner_kind preconditioner;
  int block_size;              /* of block Jacobi, 0: the library's */
  int degree;                  /* of chebyshev, 0: the library's */
  double fill, drop_tolerance; /* of ilu and ic, 0: the library's */
  ts_scaling scaling;          /* the same */
  int sweeps, levels;          /* the same */
  ts_amg_desc amg;             /* how, where it is amg */
  ts_precision precision;
  ts_stop stop;
  double rtol;
  int max_iterations, check_interval, restart; /* 0: the library's */
  int threads;
  ts_partition partition;
  int rectangle_width, rectangle_height;
  int json, quiet, verbosity;
} solve_options;

/* Fills in the options; ends the program with EXIT_USAGE after a message, and with 0 after --help. */
void solve_parse(int argc, char **argv, solve_options *options);

typedef struct solve_exponents {
  int b, x;
} solve_exponents;

/* The system that was read, divided by powers of two where numbers are far from 1, so that floats hold them:
 * the file's matrix is 2^exponent A. b and x are stored column by column; column c of the files is
 * 2^exponents[c].b b and 2^exponents[c].x x. b has as many numbers in a column as A has rows, x as many as A
 * has columns. */
typedef struct solve_system {
  mm_csr A;
  int columns; /* of b and x */
  double *b;
  double *x0; /* NULL: not given */
  /* Least squares: */
  int is_least_squares;
  int has_unlike_columns;  /* their norms are far apart, and scaling may help */
  long double *transposed; /* workspace: 3 numbers for each column of A; else NULL */
  int exponent;
  solve_exponents *exponents; /* of each column */
  double *near_null;          /* rows x near_null_vectors, for amg; NULL: not given */
  int near_null_vectors;
  double *coordinates; /* of nodes, x dimensions; NULL: not given */
  int dimensions;
} solve_system;

/* Reads the files and refuses what cannot be solved. Returns 0, or -1 after a message. */
int solve_read(const solve_options *options, solve_system *system);
void solve_free(solve_system *system);

/* How good a column of the file's x is, in long double: what decides, ||b - A x|| / ||b||, or ||b - A x|| if b
 * is 0; what rounding x to double leaves of that, 2^-53 || |A| |x| || / ||b||; and ||b - A x|| / ||b|| again.
 * With least squares ||A^T (b - A x)|| / ||A^T b|| decides, or without the divisor if A^T b is 0. Rounding x
 * and b leaves 2^-53 || |A|^T (|A| |x| + |b|) || / ||A^T b|| of it. Residuals have nine digits, which are all
 * that is ever shown. */
typedef struct solve_accuracy {
  double residual, rounding, left;
} solve_accuracy;
solve_accuracy solve_residual(const solve_system *system, const double *x, int column);
/* Refuses options that do not belong to the method of a matrix with the file's sizes. Returns 0 or -1 after a
 * message. */
int solve_check_shape(const solve_options *options, const mm_file *file);
/* Prepares what least squares need of A: 0, or -1 after a message. */
int solve_begin_least_squares(solve_system *system);
/* With as many digits, at least four, as agree with which side of `rtol` it is on. */
const char *solve_residual_text(double relative_residual, double rtol);

/* The levels of amg. */
typedef struct solve_hierarchy {
  ts_amg_info info;
  ts_amg_level_info levels[30];
} solve_hierarchy;

typedef struct solve_column {
  double residual, left; /* as in solve_accuracy */
  int is_solved;
  int is_at_limit; /* of doubles: rounding x to them leaves about that residual */
} solve_column;

/* A method that auto has tried. */
enum { SOLVE_MOST_STAGES = 8 };
typedef struct solve_stage {
  ts_method method;
  ts_preconditioner_kind preconditioner;
  int iterations;
  double relative_residual;
  char message[160];
} solve_stage;

/* Columns are solved in groups. The result adds up the iterations and the host synchronisations of all; the
 * rest of it and the message are those of the group that was stopped or that has the largest residual. */
typedef struct solve_outcome {
  ts_status status; /* TS_OK or TS_NOT_CONVERGED */
  ts_method method; /* that was used */
  ts_preconditioner_kind preconditioner;
  char preconditioner_choice[200]; /* why, where it was auto */
  int jacobi_may_help;             /* of least squares */
  const char *factors;             /* of direct: their name and entries; else NULL */
  int64_t factor_entries;
  int stages; /* of the group solved last */
  solve_stage stage[SOLVE_MOST_STAGES];
  ts_context_info context;
  ts_matrix_info matrix;                    /* of the matrix as it was uploaded, its rows as in the file */
  ts_bandwidth bandwidth_before, bandwidth; /* of the file and on the device */
  ts_result result;
  char message[320];         /* the reason, with the residual, and what to do instead */
  solve_accuracy accuracy;   /* the worst of all columns */
  int width;                 /* columns of a group */
  int first;                 /* column of the group that the message is about */
  int most_iterations;       /* of a group */
  int worst;                 /* column, which has the largest residual */
  int unsolved;              /* number of columns that are not solved */
  int short_of_limit;        /* those of them whose residual may still fall */
  solve_column *columns;     /* NULL on ranks that do not report */
  solve_hierarchy hierarchy; /* of amg */
  int out_of_range;          /* -1: numbers of x are too small for doubles; 1: too large */
  double seconds_read, seconds_layout, seconds_upload, seconds_setup, seconds_solve;
} solve_outcome;

/* Whether the preconditioner is made by ts_preconditioner_create; and ts_matrix_desc.keep_host_copy for it. */
int solve_has_setup(const solve_options *options);
int solve_host_copy(const solve_options *options);
/* `amg`: how, with its arrays in the order of A's rows. Says what it has made. */
ts_status solve_make_preconditioner(const solve_options *options, const ts_amg_desc *amg, ts_matrix *A,
                                    ts_preconditioner **made, solve_outcome *outcome);
/* What the outcome says of a preconditioner. */
ts_status solve_take_preconditioner(const ts_preconditioner *M, solve_outcome *outcome);
/* Whether the library chooses method and preconditioner, and goes on with others where they do not do. */
int solve_is_open(const solve_options *options, const solve_outcome *outcome);
/* What it has tried, after a solve. */
void solve_take_stages(const ts_solver *solver, solve_outcome *outcome);
int solve_is_least_squares(ts_method method);
/* What the residual is called in messages, up to the number. */
const char *solve_measure(const solve_outcome *outcome);
/* The preconditioner of least squares in the outcome, and why. */
void solve_choose_of_least_squares(const solve_options *options, const solve_system *system,
                                   solve_outcome *outcome);
/* The method that is asked for, or the one for this matrix. */
ts_method solve_choose(const solve_options *options, const ts_matrix_info *matrix);
/* A solver of the method and the preconditioner of the outcome, which is `M` unless that is NULL; the error, if
 * any, is ts_last_error's. */
ts_status solve_create_solver(const solve_options *options, ts_preconditioner *M, ts_matrix *A,
                              ts_progress_fn progress, void *user, const solve_outcome *outcome,
                              ts_solver **solver);
/* "converged", "not converged" or "stopped" */
const char *solve_how_it_ended(const solve_outcome *outcome);
/* Adds the group of columns first to end - 1 with its x. The residual on the host decides whether it is solved;
 * `group` has the status, the result and `out_of_range`. */
void solve_add_group(const solve_options *options, const solve_system *system, const double *x, int first,
                     int end, const solve_outcome *group, solve_outcome *outcome);
/* Adds columns from `first` on that were not begun. */
void solve_add_rest(const solve_options *options, const solve_system *system, const double *x, int first,
                    solve_outcome *outcome);

/* Whether all columns are solved, or as good as doubles can be: x is then what was asked for. */
int solve_is_done(const solve_outcome *outcome);
/* "columns 3, 7 to 9" that are not solved; a long list ends with dots. */
const char *solve_unsolved(const solve_system *system, const solve_outcome *outcome);
/* To standard output. */
void solve_report_text(const solve_options *options, const solve_system *system, const solve_outcome *outcome);
/* Returns 0, or -1 after a message. */
int solve_report_json(const solve_options *options, const solve_system *system, const solve_outcome *outcome);

#endif
