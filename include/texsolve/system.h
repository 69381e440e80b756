/* The system builder: assembles equations row by row or entry by entry, in double precision, and solves them on
 * any backend in any format; the front end of Buatois et al. 2008. Three numbers that differ by 1, the first
 * one given:
 *
 *   ts_system_desc desc = {.unknowns = 3, .least_squares = 1};
 *   const double first = 5, one = 1, coefficients[] = {-1, 1};
 *   double values[3];
 *   ts_system *system;
 *   ts_system_create(context, &desc, &system);
 *   ts_system_set_value(system, 0, &first);
 *   ts_system_lock(system, 0);
 *   ts_system_begin(system);
 *   for (int i = 0; i < 2; i++) {
 *     const int pair[] = {i, i + 1}; // or ts_system_begin_row .. ts_system_end_row, or ts_system_add
 *     ts_system_row(system, 2, pair, coefficients, &one, 1);
 *   }
 *   ts_system_end(system);
 *   ts_system_solve(system, NULL, NULL);
 *   ts_system_get_values(system, ts_host(values, 3)); // 5 6 7
 *   ts_system_destroy(&system);
 *
 * A square system has as many equations as unknowns. A least-squares system has any number of rows and
 * minimises sum w_r (a_r . x - b_r)^2, with the weight w_r of a row. With several components every unknown and
 * every right-hand side is a tuple (the x, y and z of a vertex, say): one matrix and 1 to 4 systems solved at
 * once.
 *
 * A locked unknown (Dirichlet value) keeps its value, which moves to the right-hand side. Cheap between solves:
 * other values of locked unknowns and other right-hand sides (the matrix is unchanged), and other coefficients
 * in the same pattern (begin .. end again with the same unknowns in the same order: the layout is kept).
 * Locking and unlocking rebuild the layout.
 *
 * Coefficients, right-hand sides and values are summed in double precision, and the device gets the doubles;
 * with TS_PRECISION_SINGLE they are rounded once, at upload. Unknown j is index j of the matrix, locked or not
 * (unless it is reordered), so unknowns that are numbered together are adjacent, and blocks of 2 x 2 (u, v of a
 * vertex) are full.
 *
 * Errors: a call that fails changes nothing, and the system stays usable. The message (ts_last_error) names the
 * row or the unknown. Threads and version are as in texsolve.h: the thread that uses the context may call all
 * functions.
 */
#ifndef TEXSOLVE_SYSTEM_H
#define TEXSOLVE_SYSTEM_H

#include <texsolve/reorder.h>
#include <texsolve/solver.h>
#include <texsolve/texsolve.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ts_system ts_system;

typedef struct ts_system_desc {
  int32_t unknowns;  /* at least 1 */
  int components;    /* of every unknown and right-hand side, 1 to 4; default: 1 */
  int least_squares; /* any number of weighted rows; default: row k is equation k, see ts_system_begin_row */
  int symmetric;     /* add only one triangle: a coefficient of unknown j in equation i, i != j, is also that of
                        unknown i in equation j. Not with least_squares, which is symmetric anyway */
  int allow_singular; /* least squares: solve even if rows leave unknowns undetermined, for the solution near
                         the initial values. Default: an error if it is detected (ts_system_solve) */
  int group; /* unknowns that stay together when reordered (ts_order): 1 to 4, 2 for u and v of a vertex.
                Default: 1 */
  uint64_t reserved[8]; /* 0 */
} ts_system_desc;

/* Creates a system without equations, all values 0, nothing locked. Destroy it before its context.
 * Errors: TS_ERROR_INVALID_ARGUMENT, TS_ERROR_LIMIT (unknowns x components above 2^31 - 1024), memory. */
TS_API ts_status ts_system_create(ts_context *context, const ts_system_desc *desc, ts_system **system);
TS_API void ts_system_destroy(ts_system **system);

TS_API ts_context *ts_system_get_context(const ts_system *system); /* the context it was created on */

/* ---- Unknowns, at any time ------------------------------------------------------------------- */

/* Sets or returns the value of an unknown, `components` finite numbers: the initial guess of the next solve,
 * and after it the solution. A locked unknown keeps the value that is set here. The first read after a solve
 * with leave_on_device synchronises with the device. Errors: TS_ERROR_INVALID_ARGUMENT (no such unknown, NaN or
 * infinity), those of the device. */
TS_API ts_status ts_system_set_value(ts_system *system, int32_t unknown, const double *value);
TS_API ts_status ts_system_get_value(ts_system *system, int32_t unknown, double *value);

/* Sets or returns all values: component c of unknown j is values[j * components + c]; values.count
 * is unknowns * components. Errors as above. */
TS_API ts_status ts_system_set_values(ts_system *system, ts_array values);
TS_API ts_status ts_system_get_values(ts_system *system, ts_array values);

/* Locks or unlocks an unknown. Locked unknowns are excluded from the next solve. Locking twice, or unlocking
 * what is not locked, has no effect. Errors: TS_ERROR_INVALID_ARGUMENT (no such unknown). */
TS_API ts_status ts_system_lock(ts_system *system, int32_t unknown);
TS_API ts_status ts_system_unlock(ts_system *system, int32_t unknown);
TS_API int ts_system_is_locked(const ts_system *system, int32_t unknown); /* 0 if no such unknown */

/* ---- Equations ------------------------------------------------------------------------------- */

/* Begins the assembly; discards the previous equations. Errors: TS_ERROR_INVALID_ARGUMENT (out of order). */
TS_API ts_status ts_system_begin(ts_system *system);

/* Add a row: coefficients in any order, duplicates are summed; right-hand sides are 0 by default. In a
 * least-squares system the weight multiplies the square of the row's residual and is at least 0 (0: the row
 * does not count); in a square system it multiplies the equation on both sides and must not be 0.
 *
 * In a square system row k is equation k and belongs to unknown k, on the diagonal; rows of locked unknowns are
 * ignored. Alternatively add as many rows as there are unlocked unknowns: then row k belongs to the k-th
 * unlocked unknown.
 * Errors: TS_ERROR_INVALID_ARGUMENT (out of order, no such unknown, NaN or infinity, a negative weight, more
 * rows than unknowns in a square system), TS_ERROR_LIMIT (2^31 - 1 coefficients), memory. */
TS_API ts_status ts_system_begin_row(ts_system *system);
TS_API ts_status ts_system_coefficient(ts_system *system, int32_t unknown, double a);
TS_API ts_status ts_system_right_hand_side(ts_system *system, int component, double b); /* adds b */
TS_API ts_status ts_system_end_row(ts_system *system, double weight);

/* Adds a row in one call: `right_hand_sides` has `components` numbers, NULL: 0. Errors as above. */
TS_API ts_status ts_system_row(ts_system *system, int count, const int32_t *unknowns,
                               const double *coefficients, const double *right_hand_sides, double weight);

/* Add to the coefficient of unknown j in equation i, and to the right-hand side of equation i: square systems,
 * between rows, instead of rows or in addition to them. Errors as above. */
TS_API ts_status ts_system_add(ts_system *system, int32_t i, int32_t j, double a);
TS_API ts_status ts_system_add_right_hand_side(ts_system *system, int32_t i, int component, double b);

/* Ends the assembly. Errors: TS_ERROR_INVALID_ARGUMENT (out of order; no equation at all; in a square system,
 * rows that are neither none, nor as many as unknowns, nor as many as unlocked unknowns: add more and end
 * again), memory. */
TS_API ts_status ts_system_end(ts_system *system);

/* Replace right-hand sides of the assembled equations: `components` numbers of one row, or rows * components
 * numbers of all. The rows of a square system are its equations, as many as unknowns. Weights are kept.
 * Errors: TS_ERROR_INVALID_ARGUMENT (not assembled, no such row, a wrong count, NaN or infinity). */
TS_API ts_status ts_system_set_right_hand_side(ts_system *system, int32_t row, const double *right_hand_sides);
TS_API ts_status ts_system_set_right_hand_sides(ts_system *system, ts_array right_hand_sides);

/* ---- Solving --------------------------------------------------------------------------------- */

/* The normal equations A^T W A x = A^T W b of a least-squares system. */
typedef enum ts_normal {
  TS_NORMAL_AUTO = 0, /* formed, unless that has many more bytes than A and A^T; see ts_system_result.choice */
  TS_NORMAL_FORMED = 1, /* A^T W A, from outer products of rows in double precision, solved like any matrix */
  TS_NORMAL_APPLIED = 2 /* A and A^T one after the other, by CGLS, which loses fewer digits to rounding */
} ts_normal;

/* The order of the unknowns on the device, visible only through ts_system_get_index. */
typedef enum ts_order {
  TS_ORDER_AUTO = 0,    /* as numbered */
  TS_ORDER_NATURAL = 1, /* as numbered */
  TS_ORDER_RCM = 2      /* reverse Cuthill-McKee (texsolve/reorder.h), for badly ordered meshes */
} ts_order;

typedef struct ts_system_solve_desc {
  ts_solver_desc solver; /* as for ts_solver_create, with what the system makes itself left 0: `transposed` and
                            `preconditioner`. Preconditioners made from a copy of the matrix are not for normal
                            equations that are applied, where auto is Jacobi. fixed_iterations and zero_start
                            are not used: 0 */
  ts_format format;      /* default: TS_FORMAT_AUTO */
  ts_normal normal;      /* of least squares; default: TS_NORMAL_AUTO */
  ts_order order;        /* default: TS_ORDER_AUTO; TS_ORDER_RCM not with TS_NORMAL_APPLIED */
  int leave_on_device;   /* read the solution back only when a value is requested: no true residual (NaN in the
                            result), no synchronisation for it. For a few iterations a frame */
  uint64_t reserved[8];  /* 0 */
} ts_system_solve_desc;

typedef struct ts_system_result {
  ts_reason reason;
  ts_method method; /* used */
  ts_format format;
  ts_normal normal; /* formed or applied; TS_NORMAL_AUTO in a square system */
  int iterations;
  ts_precision precision;      /* in which it ended */
  int precision_iterations[4]; /* how many of the iterations were done in each, by ts_precision */
  int host_synchronisations;
  int32_t unknowns; /* not locked */
  int32_t rows;     /* assembled */
  int64_t
      nonzeros; /* of the matrix: the coefficients of unlocked unknowns, or of the normal equations formed */
  /* ||b - A x|| / ||b|| of the assembled system, in double precision on the host, the largest component: A has
   * the unlocked unknowns, b is the right-hand side minus the terms of locked ones; weighted in least squares,
   * where it tells how well the rows are satisfied. ||b - A x|| if b is 0. */
  double relative_residual;
  /* Least squares: ||A^T W (b - A x)|| / ||A^T W b||, small at the solution. Square: relative_residual. */
  double normal_residual;
  double reduction;                          /* reduction of the method's own measure, as in its result; of cgls
                                                  ||A^T r|| / ||A^T b|| */
  double attainable_residual;                /* as in ts_result */
  ts_bandwidth bandwidth, bandwidth_natural; /* of the matrix on the device, and in the original order; 0 if
                                               normal equations are applied */
  size_t bytes_device;                       /* of the matrix; of both with TS_NORMAL_APPLIED */
  double seconds_build;                      /* wall-clock: rows to matrix; 0 if nothing changed */
  double seconds_layout;                     /* layout and upload; 0 if nothing changed */
  double seconds_setup; /* of a preconditioner that is not a diagonal, or of its update; 0 if nothing
                           changed */
  double seconds_solve; /* without these */
  char choice[340];     /* why this format, and why normal equations are formed or applied, in bytes */
  char message[200];    /* the reason in one line, with the row, unknown or number concerned */
  uint64_t reserved[8];
} ts_system_result;

/* Solves, starting from the current values of the unknowns. `desc` and `result` may be NULL.
 *
 * Returns TS_OK if the method has converged, or if all unknowns are locked, so that there is nothing to solve
 * (`message` says so); TS_NOT_CONVERGED with the reason in `result` and the last iterate as values; or an
 * error, values unchanged:
 * - TS_ERROR_INVALID_ARGUMENT: not assembled, or not ended; an option of `desc`; an unlocked unknown in no row,
 * or an equation without unlocked unknowns, by number; a singular least-squares system (unless allow_singular),
 *   if it is detected: fewer rows than unlocked unknowns, or unknowns to which a constant can be added. Other
 *   singular systems end as TS_NOT_CONVERGED or at one of the solutions; right-hand sides out of the range of
 *   single precision where the largest coefficient is 1;
 * - TS_ERROR_UNSUPPORTED: a format that the backend lacks; TS_ERROR_LIMIT; memory; the device's.
 */
TS_API ts_status ts_system_solve(ts_system *system, const ts_system_solve_desc *desc, ts_system_result *result);

/* Returns the solution on the device, for example to draw it: one index an unknown, locked ones with their
 * values; in doubles unless the solve was in single precision. Owned by the system; valid until the next call
 * on it other than reading values. NULL before the first solve, and if all unknowns are locked. */
TS_API ts_vector *ts_system_get_vector(const ts_system *system);

/* Returns the index of an unknown in that vector: its own number unless the system is reordered; -1 if there is
 * no such unknown. */
TS_API int32_t ts_system_get_index(const ts_system *system, int32_t unknown);

/* Returns the solved matrix, for inspection: rows and columns of locked unknowns are empty. Owned by the
 * system, validity and NULL as above; A if normal equations are applied. */
TS_API const ts_matrix *ts_system_get_matrix(const ts_system *system);

#ifdef __cplusplus
}
#endif

#endif
