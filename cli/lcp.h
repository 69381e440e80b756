/* The parts of `texsolve lcp`. */
#ifndef CLI_LCP_H
#define CLI_LCP_H

#include <stddef.h>

#include <texsolve/lcp.h>
#include <texsolve/texsolve.h>

#include "matrix_market.h"
#include "output_file.h"

enum { LCP_PRECISION_AUTO, LCP_PRECISION_SINGLE, LCP_PRECISION_DOUBLE };

typedef struct lcp_options {
  const char *input, *q; /* file names; q: NULL, if it is in the input */
  const char *output, *w, *z0, *lower, *upper, *backend;
  int threads, precision; /* precision: one of the three above */
  int json, quiet, verbosity;
  ts_lcp_scheme scheme;
  ts_lcp_storage storage;
  ts_lcp_local local;
  ts_lcp_acceleration acceleration;
  int guess;             /* FCLIB guess; -1: the first, 0: none */
  double rtol, friction; /* friction below 0: use the file's */
  int max_sweeps, check_interval;
} lcp_options;

/* Ends the program if the arguments are invalid. */
void lcp_parse(int argc, char **argv, lcp_options *options);

typedef enum lcp_form { LCP_MATRIX_MARKET, LCP_SICONOS, LCP_FCLIB } lcp_form;

typedef struct lcp_problem {
  lcp_form form;
  int dimension; /* 1: no friction */
  int32_t size;
  mm_csr matrix;  /* without zeros, except sums of entries that cancel */
  double *q, *z0; /* z0: NULL if no start is given */
  int guess;      /* number of the file's guess in z0; 0: z0 is not a guess */
  double *lower, *upper;
  double *friction;
  double *solution; /* the file's solution; NULL: none */
} lcp_problem;

/* Returns 0, or -1 after a message. */
int lcp_read(const lcp_options *options, lcp_problem *problem);
void lcp_free(lcp_problem *problem);
/* Creates the problem on the device. */
ts_status lcp_problem_create(ts_context *context, const lcp_problem *problem, ts_lcp_storage storage,
                             ts_precision precision, ts_lcp **lcp);
/* Names such as "LCP", "boxed LCP" and "contacts with friction in 2-D"; and short names for programs. */
const char *lcp_kind(const lcp_problem *problem);
const char *lcp_kind_name(const lcp_problem *problem);

/* Computed from the file's numbers, in double on the host: w = M z + q with compensated sums, and the norm of
 * the natural map as in ts_lcp_residual. */
void lcp_multiply(const lcp_problem *problem, const double *z, double *w);
double lcp_natural_map(const lcp_problem *problem, const double *z, const double *w);

typedef struct lcp_outcome {
  ts_status status;
  ts_lcp_result result;
  ts_context_info context;
  ts_precision precision;
  double norm_q, residual;                     /* of z as written; the residual is divided by ||q|| */
  double solution_distance, solution_residual; /* relative, of the solution in the file; NaN: none */
  double seconds_read, seconds_setup, seconds_solve;
} lcp_outcome;

/* "converged", "not converged" or "stopped" */
const char *lcp_how_it_ended(const lcp_outcome *outcome);
void lcp_report_text(const lcp_options *options, const lcp_problem *problem, const lcp_outcome *outcome);
int lcp_report_json(const lcp_options *options, const lcp_problem *problem, const lcp_outcome *outcome);

#endif
