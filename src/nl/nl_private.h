/* texsolve-nl, in six parts: contexts and errors (nl_context.c), devices (nl_device.c), parameters
 * (nl_parameters.c), variables (nl_variables.c), equations as assembled (nl_equations.c, nl_finish.c), and
 * solving. Solving consists of the system passed to texsolve (nl_system.c), b - A x in double precision
 * (nl_residual.c) and corrections (nl_solve.c). */
#ifndef NL_PRIVATE_H
#define NL_PRIVATE_H

#include <stddef.h>
#include <stdio.h>

#include <texsolve-nl/nl.h>
#include <texsolve/system.h>

/* The state of a context between calls. */
typedef enum tsn_state {
  TSN_INITIAL,
  TSN_SYSTEM,  /* in NL_SYSTEM, before NL_MATRIX */
  TSN_PATTERN, /* in NL_MATRIX_PATTERN */
  TSN_MATRIX,
  TSN_ROW,
  TSN_MATRIX_DONE, /* in NL_SYSTEM, after NL_MATRIX */
  TSN_READY        /* after NL_SYSTEM: ready to solve, or solved */
} tsn_state;

typedef struct tsn_parameters {
  NLenum solver, preconditioner;
  int preconditioner_set;
  NLint variables, systems, max_iterations, inner_iterations; /* 0: not set */
  int least_squares, symmetric;
  double threshold, omega;
  int normalize_rows, verbose, no_indirection, variables_buffer, allow_singular;
  NLfunc progress;
} tsn_parameters;

/* The result of the last nlSolve. */
typedef struct tsn_result {
  int iterations, passes;
  int64_t nonzeros;
  double error, seconds, operations;
} tsn_result;

/* The coefficients. Least squares: `row` is a row as assembled. Otherwise: equation i, which belongs to
 * variable i. */
typedef struct tsn_entries {
  int32_t *rows, *columns;
  double *values;
  size_t count, capacity;
} tsn_entries;

/* An open device, shared by all contexts that use it. */
typedef struct tsn_device {
  char backend[64];
  ts_context *context;
  int users;
  struct tsn_device *next;
} tsn_device;

typedef struct tsn_context {
  struct tsn_context *next;
  tsn_state state;
  int refused; /* a call that defines the system failed, so nlSolve must not solve it */
  NLenum error;
  char error_text[720];
  char report[760];
  tsn_parameters parameters;
  tsn_result result;

  /* Variables: `n` x `systems`, created by the first nlBegin(NL_SYSTEM). */
  size_t n, systems;
  double *values;
  unsigned char *locked;
  char **buffers; /* buffer of each system; NULL: in `values` */
  size_t *strides;
  size_t free_count; /* unlocked variables, counted by nlBegin(NL_MATRIX) */

  /* Equations as assembled. Until nlEnd(NL_MATRIX), entries of nlAddIJCoefficient have the row -1 - i. */
  tsn_entries entries;
  size_t row_count, row_capacity, added_count;
  double *right_hand_sides;    /* row_count x systems; after nlEnd(NL_MATRIX) a square system uses `added` */
  double *added;               /* n x systems */
  double *row_right_hand_side; /* of the open row */
  size_t row_first;            /* first entry of the open row */
  double row_scaling;
  int square;      /* not least squares, or its normal equations given entry by entry */
  int updated;     /* nlUpdateRightHandSide was called: `added` lacks the contribution of locked variables */
  int new_numbers; /* assembled, not yet passed to texsolve */
  unsigned char *idle;           /* per variable: unlocked, in no equation */
  size_t idle_count, first_idle; /* `free_count` includes them */

  tsn_device *device;
  ts_system *system;
  size_t system_size; /* `n` when the system below was created */
  int system_components, system_square, system_singular;
} tsn_context;

/* ---- nl_context.c ---- */

#if defined(__MINGW_PRINTF_FORMAT) /* of <stdio.h> */
#define TSN_PRINTF(string, first) __attribute__((format(__MINGW_PRINTF_FORMAT, string, first)))
#elif defined(__GNUC__)
#define TSN_PRINTF(string, first) __attribute__((format(printf, string, first)))
#else
#define TSN_PRINTF(string, first)
#endif

/* The current context. Without one it reports an error in the name of `function` and returns NULL. */
tsn_context *tsn_current(const char *function);
/* The current context or NULL, without an error. */
tsn_context *tsn_current_or_null(void);

/* Sets an error, unless nlGetError has one pending. `c` may be NULL. */
void tsn_fail(tsn_context *c, NLenum error, const char *format, ...) TSN_PRINTF(3, 4);
/* Sets an error of a call that defines the system. */
void tsn_refuse(tsn_context *c, NLenum error, const char *format, ...) TSN_PRINTF(3, 4);
/* Sets only the text of nlGetErrorString, such as for a missing extension. */
void tsn_explain(const char *format, ...) TSN_PRINTF(1, 2);
/* Converts an error of texsolve, with its text. */
void tsn_fail_status(tsn_context *c, const char *function, ts_status status);

/* NL_MAX_ITERATIONS, or the default. */
NLint tsn_max_iterations(const tsn_context *c);

/* Passes nlGetReport's line to the functions of nlPrintfFuncs. */
void tsn_print_report(const tsn_context *c);

/* ---- nl_device.c ---- */

/* The device of the context, opened if necessary. On failure sets an error and returns NULL. */
tsn_device *tsn_device_of(tsn_context *c);
void tsn_device_release(tsn_device *device);

/* ---- nl_variables.c ---- */

/* The address of variable i in system k. */
double *tsn_value(const tsn_context *c, size_t i, size_t k);
/* Allocates the arrays of variables. Returns 0 if memory is exhausted. */
int tsn_variables_create(tsn_context *c);
void tsn_variables_free(tsn_context *c);

/* ---- nl_equations.c, nl_finish.c ---- */
void tsn_equations_free(tsn_context *c);
/* Reserves one more entry. Returns 0 if memory is exhausted. */
int tsn_reserve_entry(tsn_entries *entries);
/* Converts rows and entries as assembled to the equations to solve. Refuses if there are too few. */
void tsn_equations_finish(tsn_context *c);

/* ---- nl_system.c ---- */

/* The method, and the method that it replaces ("" if none). */
typedef struct tsn_method {
  ts_method method;
  ts_preconditioner_kind preconditioner;
  ts_normal normal;
  ts_format format;
  char note[160];
} tsn_method;

tsn_method tsn_method_of(const tsn_context *c);

/* Creates the system that texsolve solves, or updates its equations. Returns 0 and sets an error on failure. */
int tsn_system_state(tsn_context *c);
void tsn_system_free(tsn_context *c);

/* ---- nl_residual.c ---- */

/* Rows of the residual, which are rows of the system: conditions, or equations. */
size_t tsn_residual_rows(const tsn_context *c);

/* r = b - A x, rows x systems, 0 in equations of locked and idle variables. `ratios` receives the ratio that
 * NL_THRESHOLD bounds, per system; returns the maximum. `work` has room for 2 x n x systems numbers. */
double tsn_residual(const tsn_context *c, const double *x, double *r, double *ratios, double *work);

#endif
