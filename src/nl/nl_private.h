/* texsolve-nl, in six steps: contexts and errors (nl_context.c), devices (nl_device.c), parameters
 * (nl_parameters.c), variables (nl_variables.c), equations as assembled (nl_equations.c), and solving: the
 * system that texsolve solves (nl_system.c), b - A x in double precision (nl_residual.c), corrections
 * (nl_solve.c). */
#ifndef NL_PRIVATE_H
#define NL_PRIVATE_H

#include <stddef.h>
#include <stdio.h>

#include <texsolve-nl/nl.h>
#include <texsolve/system.h>

/* Where the calls of a program have got to. */
typedef enum tsn_state {
  TSN_INITIAL,
  TSN_SYSTEM,  /* in NL_SYSTEM, before NL_MATRIX */
  TSN_PATTERN, /* in NL_MATRIX_PATTERN */
  TSN_MATRIX,
  TSN_ROW,
  TSN_MATRIX_DONE, /* in NL_SYSTEM, after NL_MATRIX */
  TSN_READY        /* after NL_SYSTEM: to be solved, or solved */
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

/* What the last nlSolve did. */
typedef struct tsn_result {
  int iterations, passes;
  int64_t nonzeros;
  double error, seconds, operations;
} tsn_result;

/* The coefficients: of row r as assembled in least squares; else of equation i, which belongs to variable i. */
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
  int refused; /* a call that states the system failed, so that it must not be solved */
  NLenum error;
  char error_text[720];
  char report[760];
  tsn_parameters parameters;
  tsn_result result;

  /* Variables: `n` x `systems`, made by the first nlBegin(NL_SYSTEM). */
  size_t n, systems;
  double *values;
  unsigned char *locked;
  char **buffers; /* of each system; NULL: in `values` */
  size_t *strides;
  size_t free_count; /* unlocked variables, counted by nlBegin(NL_MATRIX) */

  /* Equations as assembled. Entries of nlAddIJCoefficient have the row -1 - i until nlEnd(NL_MATRIX). */
  tsn_entries entries;
  size_t row_count, row_capacity, added_count;
  double *right_hand_sides; /* row_count x systems; after nlEnd(NL_MATRIX) those of a square system are in... */
  double *added;            /* ... here, n x systems */
  double *row_right_hand_side; /* of the open row */
  size_t row_first;            /* its first entry */
  double row_scaling;
  int square;          /* not least squares, or its normal equations entry by entry */
  int updated;         /* nlUpdateRightHandSide: `added` is without what locked variables contribute */
  int new_numbers;     /* assembled, and not yet given to texsolve */
  unsigned char *idle; /* unlocked, in no equation */
  size_t idle_count, first_idle; /* `free_count` is with them */

  tsn_device *device;
  ts_system *system;
  size_t system_size; /* that it was made with, and so the following */
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

/* The current context; where there is none an error in the name of `function`, and NULL. */
tsn_context *tsn_current(const char *function);
/* The same without an error. */
tsn_context *tsn_current_or_null(void);

/* Sets an error, unless one is waiting for nlGetError. `c` may be NULL. */
void tsn_fail(tsn_context *c, NLenum error, const char *format, ...) TSN_PRINTF(3, 4);
/* The same of a call that states the system. */
void tsn_refuse(tsn_context *c, NLenum error, const char *format, ...) TSN_PRINTF(3, 4);
/* Only the text of nlGetErrorString, for what is no error: an extension that is not there. */
void tsn_explain(const char *format, ...) TSN_PRINTF(1, 2);
/* An error of texsolve, as ours, with its text. */
void tsn_fail_status(tsn_context *c, const char *function, ts_status status);

/* NL_MAX_ITERATIONS, or the default. */
NLint tsn_max_iterations(const tsn_context *c);

/* Hands nlGetReport's line to the functions of nlPrintfFuncs. */
void tsn_print_report(const tsn_context *c);

/* ---- nl_device.c ---- */

/* The device of the context; opened if need be. NULL and an error where there is none. */
tsn_device *tsn_device_of(tsn_context *c);
void tsn_device_give_back(tsn_device *device);

/* ---- nl_variables.c ---- */

/* Where the value of variable i in system k is. */
double *tsn_value(const tsn_context *c, size_t i, size_t k);
/* Arrays for the variables, 0 where memory is out. */
int tsn_variables_create(tsn_context *c);
void tsn_variables_free(tsn_context *c);

/* ---- nl_equations.c, nl_finish.c ---- */
void tsn_equations_free(tsn_context *c);
/* Room for one more entry, and 0 where memory is out. */
int tsn_reserve_entry(tsn_entries *entries);
/* From rows and entries as assembled the equations to be solved; a refusal where there are too few. */
void tsn_equations_finish(tsn_context *c);

/* ---- nl_system.c ---- */

/* What to solve with, and what it is in place of ("" if nothing). */
typedef struct tsn_method {
  ts_method method;
  ts_preconditioner_kind preconditioner;
  ts_normal normal;
  ts_format format;
  char note[160];
} tsn_method;

tsn_method tsn_method_of(const tsn_context *c);

/* Makes the system that texsolve solves, or gives it the equations of now. 0 and an error if it cannot. */
int tsn_system_state(tsn_context *c);
void tsn_system_free(tsn_context *c);

/* ---- nl_residual.c ---- */

/* Rows of residuals, which are those of the system: conditions, or equations. */
size_t tsn_residual_rows(const tsn_context *c);

/* r = b - A x, rows x systems, 0 in equations of locked and idle variables, and the ratio that NL_THRESHOLD
 * bounds for each system in `ratios`; returns the largest. `work` has room for 2 x n x systems numbers. */
double tsn_residual(const tsn_context *c, const double *x, double *r, double *ratios, double *work);

#endif
