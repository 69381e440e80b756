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
  int block_size;              /* of block Jacobi; 0: the library's default */
  int degree;                  /* of chebyshev; 0: the library's default */
  double fill, drop_tolerance; /* of ilu and ic; 0: the library's default */
  ts_scaling scaling;          /* of ilu and ic; 0: default */
  int sweeps, levels;          /* of ilu and ic; 0: default */
  ts_amg_desc amg;             /* settings of amg */
  ts_precision precision;
  ts_stop stop;
  double rtol;
  int max_iterations, check_interval, restart; /* 0: the library's default */
  int threads;
  ts_partition partition;
  int rectangle_width, rectangle_height;
  int json, quiet, verbosity;
} solve_options;

/* Fills in the options. Ends the program with EXIT_USAGE after a message, or with 0 after --help. */
void solve_parse(int argc, char **argv, solve_options *options);

typedef struct solve_exponents {
  int b, x;
} solve_exponents;

/* The system from the files. Numbers far from 1 are divided by powers of two so that floats can represent them:
 * the file's matrix is 2^exponent A. b and x are stored column by column. Column c of the files is
 * 2^exponents[c].b b and 2^exponents[c].x x. A column of b has A's row count, a column of x A's column
 * count. */
typedef struct solve_system {
  mm_csr A;
  int columns; /* of b and x */
  double *b;
  double *x0; /* NULL: not given */
  /* Least squares: */
  int is_least_squares;
  int has_unlike_columns;  /* the norms of its columns are far apart, so scaling may help */
  long double *transposed; /* workspace, 3 numbers per column of A; otherwise NULL */
  int exponent;
  solve_exponents *exponents; /* per column */
  double *near_null;          /* rows x near_null_vectors, for amg; NULL: not given */
  int near_null_vectors;
  double *coordinates; /* nodes x dimensions; NULL: not given */
  int dimensions;
} solve_system;

/* Reads the files and rejects systems that cannot be solved. Returns 0, or -1 after a message. */
int solve_read(const solve_options *options, solve_system *system);
void solve_free(solve_system *system);

/* The accuracy of a column of the file's x, computed in long double. `residual` decides: ||b - A x|| / ||b||,
 * or ||b - A x|| if b is 0. `rounding` is the error from rounding x to double, 2^-53 || |A| |x| || / ||b||.
 * `left` is ||b - A x|| / ||b||.
 *
 * For least squares ||A^T (b - A x)|| / ||A^T b|| decides, without the divisor if A^T b is 0. Rounding x and b
 * contributes 2^-53 || |A|^T (|A| |x| + |b|) || / ||A^T b||. Residuals are rounded to nine digits, the maximum
 * that is ever shown. */
typedef struct solve_accuracy {
  double residual, rounding, left;
} solve_accuracy;
solve_accuracy solve_residual(const solve_system *system, const double *x, int column);
/* Rejects options that do not fit the method for a matrix of the file's size. Returns 0, or -1 after a
 * message. */
int solve_check_shape(const solve_options *options, const mm_file *file);
/* Prepares A for least squares. Returns 0, or -1 after a message. */
int solve_begin_least_squares(solve_system *system);
/* The residual with at least four digits, and enough of them to show whether it is above `rtol`. */
const char *solve_residual_text(double relative_residual, double rtol);

/* The levels of AMG. */
typedef struct solve_hierarchy {
  ts_amg_info info;
  ts_amg_level_info levels[30];
} solve_hierarchy;

typedef struct solve_column {
  double residual, left; /* as in solve_accuracy */
  int is_solved;
  int is_at_limit; /* rounding x to double causes about this residual */
} solve_column;

/* A method that auto tried. */
enum { SOLVE_MOST_STAGES = 8 };
typedef struct solve_stage {
  ts_method method;
  ts_preconditioner_kind preconditioner;
  int iterations;
  double relative_residual;
  char message[160];
} solve_stage;

/* Columns are solved in groups. The result contains the total iterations and host synchronisations. Its other
 * fields and the message are those of the group that was stopped or that has the largest residual. */
typedef struct solve_outcome {
  ts_status status; /* TS_OK or TS_NOT_CONVERGED */
  ts_method method; /* the method used */
  ts_preconditioner_kind preconditioner;
  char preconditioner_choice[200]; /* the reason for auto's choice */
  int jacobi_may_help;             /* for least squares */
  const char *factors;             /* for direct: their name and entry count; otherwise NULL */
  int64_t factor_entries;
  int stages; /* of the group solved last */
  solve_stage stage[SOLVE_MOST_STAGES];
  ts_context_info context;
  ts_matrix_info matrix;                    /* the matrix as uploaded, with row numbers of the file */
  ts_bandwidth bandwidth_before, bandwidth; /* in the file; on the device */
  ts_result result;
  char message[320];         /* the reason, the residual and a remedy */
  solve_accuracy accuracy;   /* of the worst column */
  int width;                 /* columns per group */
  int first;                 /* first column of the group in the message */
  int most_iterations;       /* maximum of all groups */
  int worst;                 /* column with the largest residual */
  int unsolved;              /* number of unsolved columns */
  int short_of_limit;        /* unsolved columns with a residual that may still fall */
  solve_column *columns;     /* NULL on ranks that do not report */
  solve_hierarchy hierarchy; /* of amg */
  int out_of_range;          /* -1: x has numbers too small for doubles; 1: too large */
  double seconds_read, seconds_layout, seconds_upload, seconds_setup, seconds_solve;
} solve_outcome;

/* Whether ts_preconditioner_create makes the preconditioner; and the value of ts_matrix_desc.keep_host_copy for
 * it. */
int solve_has_setup(const solve_options *options);
int solve_host_copy(const solve_options *options);
/* `amg`: settings with arrays in the order of A's rows. Stores a description in the outcome. */
ts_status solve_make_preconditioner(const solve_options *options, const ts_amg_desc *amg, ts_matrix *A,
                                    ts_preconditioner **made, solve_outcome *outcome);
/* Stores a preconditioner's description in the outcome. */
ts_status solve_record_preconditioner(const ts_preconditioner *M, solve_outcome *outcome);
/* Whether the library chooses method and preconditioner, and tries others when they fail. */
int solve_is_open(const solve_options *options, const solve_outcome *outcome);
/* After a solve, stores the methods that the library tried. */
void solve_record_stages(const ts_solver *solver, solve_outcome *outcome);
int solve_is_least_squares(ts_method method);
/* The measure's name in messages, up to the number. */
const char *solve_measure(const solve_outcome *outcome);
/* Chooses the preconditioner of least squares, and stores it with the reason in the outcome. */
void solve_choose_of_least_squares(const solve_options *options, const solve_system *system,
                                   solve_outcome *outcome);
/* The requested method, or the one for this matrix. */
ts_method solve_choose(const solve_options *options, const ts_matrix_info *matrix);
/* Creates a solver with the outcome's method and preconditioner, or with `M` unless it is NULL. Message:
 * ts_last_error. */
ts_status solve_create_solver(const solve_options *options, ts_preconditioner *M, ts_matrix *A,
                              ts_progress_fn progress, void *user, const solve_outcome *outcome,
                              ts_solver **solver);
/* "converged", "not converged" or "stopped" */
const char *solve_how_it_ended(const solve_outcome *outcome);
/* Adds the group of columns first to end - 1 with its x. The host computes the residual, which decides whether
 * it is solved. `group` contains the status, the result and `out_of_range`. */
void solve_add_group(const solve_options *options, const solve_system *system, const double *x, int first,
                     int end, const solve_outcome *group, solve_outcome *outcome);
/* Adds the columns from `first`, which were not started. */
void solve_add_remaining(const solve_options *options, const solve_system *system, const double *x, int first,
                         solve_outcome *outcome);

/* Whether all columns are solved, or as accurate as doubles allow. x then fulfils the request. */
int solve_is_done(const solve_outcome *outcome);
/* The unsolved columns: "columns 3, 7 to 9". A long list ends with dots. */
const char *solve_unsolved(const solve_system *system, const solve_outcome *outcome);
/* Prints to standard output. */
void solve_report_text(const solve_options *options, const solve_system *system, const solve_outcome *outcome);
/* Returns 0, or -1 after a message. */
int solve_report_json(const solve_options *options, const solve_system *system, const solve_outcome *outcome);

#endif
