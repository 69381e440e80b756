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
  ts_method method; /* not CGLS */
  ts_preconditioner_kind preconditioner;
  int block_size;  /* of block Jacobi, 0: the library's */
  int degree;      /* of chebyshev, 0: the library's */
  ts_amg_desc amg; /* how, where it is amg */
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

/* The system that was read, divided by powers of two where numbers are far from 1, so that floats hold them:
 * the file's matrix is 2^exponent A. Vectors hold `components` columns, row by row, of which the files' are
 * 2^b_exponents b and 2^x_exponents x. */
typedef struct solve_system {
  mm_csr A;
  int components;
  double *b;
  double *x0; /* NULL: not given */
  int exponent, b_exponents[4], x_exponents[4];
  double *near_null; /* rows x near_null_vectors, for amg; NULL: not given */
  int near_null_vectors;
  double *coordinates; /* of nodes, x dimensions; NULL: not given */
  int dimensions;
} solve_system;

/* Reads the files and refuses what cannot be solved. Returns 0, or -1 after a message. */
int solve_read(const solve_options *options, solve_system *system);
void solve_free(solve_system *system);

/* How good the file's x is, in long double: ||b - A x|| / ||b||, the largest of the columns, ||b - A x|| of a
 * column whose b is 0, to nine digits, which are all that is ever shown of it; and what rounding x to double
 * leaves of that, 2^-53 || |A| |x| ||. */
typedef struct solve_accuracy {
  double residual, rounding;
} solve_accuracy;
solve_accuracy solve_residual(const solve_system *system, const double *x);
/* With as many digits, at least four, as agree with which side of `rtol` it is on. */
const char *solve_residual_text(double relative_residual, double rtol);

/* The levels of amg. */
typedef struct solve_hierarchy {
  ts_amg_info info;
  ts_amg_level_info levels[30];
} solve_hierarchy;

typedef struct solve_outcome {
  ts_status status; /* TS_OK or TS_NOT_CONVERGED */
  ts_method method; /* that was used */
  ts_preconditioner_kind preconditioner;
  char preconditioner_choice[200]; /* why, where it was auto */
  ts_context_info context;
  ts_matrix_info matrix;                    /* of the matrix as it was uploaded, its rows as in the file */
  ts_bandwidth bandwidth_before, bandwidth; /* of the file and on the device */
  ts_result result;
  char message[320]; /* the reason, with the residual below, and what to do instead */
  solve_accuracy accuracy;
  solve_hierarchy hierarchy; /* of amg */
  ts_precision precision;    /* of x */
  int out_of_range;          /* -1: numbers of x are too small for doubles; 1: too large */
  double seconds_read, seconds_layout, seconds_upload, seconds_setup, seconds_solve;
} solve_outcome;

/* Whether the preconditioner is made by ts_preconditioner_create, and whether that reads the host copy. */
int solve_has_setup(const solve_options *options);
int solve_needs_host_copy(const solve_options *options);
/* `amg`: how, with its arrays in the order of A's rows. Says what it has made, which may be NULL for Jacobi. */
ts_status solve_make_preconditioner(const solve_options *options, const ts_amg_desc *amg, ts_matrix *A,
                                    ts_preconditioner **made, solve_outcome *outcome);
/* The method that is asked for, or the one for this matrix. */
ts_method solve_choose(const solve_options *options, const ts_matrix_info *matrix);
/* x from b by the method and the preconditioner of the outcome, which is `M` unless that is NULL; the error, if
 * any, is ts_last_error's. */
ts_status solve_by_method(const solve_options *options, ts_preconditioner *M, ts_matrix *A, const ts_vector *b,
                          ts_vector *x, ts_progress_fn progress, void *user, solve_outcome *outcome);
/* "converged", "not converged" or "stopped" */
const char *solve_how_it_ended(const solve_outcome *outcome);
/* The status, the reason and the message that agree with `accuracy`. */
void solve_conclude(const solve_options *options, solve_outcome *outcome);

/* To standard output. */
void solve_report_text(const solve_options *options, const solve_system *system, const solve_outcome *outcome);
/* Returns 0, or -1 after a message. */
int solve_report_json(const solve_options *options, const solve_system *system, const solve_outcome *outcome);

#endif
