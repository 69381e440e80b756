/* The system builder assembles equations row by row or entry by entry, in double precision, and solves them on
 * any backend in any format. Its design follows Buatois et al. 2008. This example computes three numbers that
 * differ by 1, with the first one given:
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
 * A square system has one equation per unknown. A least-squares system has any number of rows and minimises sum
 * w_r (a_r . x - b_r)^2, where w_r is the weight of row r. With several components (1 to 4), every unknown and
 * every right-hand side is a tuple, such as the x, y and z of a vertex. One solve then solves for all
 * components, with the same matrix.
 *
 * A locked unknown (Dirichlet value) keeps its value, and its terms move to the right-hand side. Between
 * solves, you can change values of locked unknowns and right-hand sides at little cost, because the matrix is
 * unchanged. New coefficients in the same pattern are cheap too: repeat begin .. end with the same unknowns in
 * the same order, and the library keeps the layout. Locking and unlocking rebuild the layout.
 *
 * The library adds up coefficients and right-hand sides in double precision, and uploads doubles;
 * TS_PRECISION_SINGLE rounds them once, on upload. Unless the system is reordered, unknown j is index j of the
 * matrix, whether it is locked or not. So unknowns with consecutive numbers are adjacent in the matrix, and
 * their blocks, such as the 2 x 2 blocks of a vertex's u and v, are full.
 *
 * A call that fails changes nothing, and the system remains usable. The message (ts_last_error) names the row
 * or the unknown. Threads and version are as in texsolve.h: the thread that uses the context may call all
 * functions. */
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
  int32_t unknowns;  /* number of unknowns, at least 1 */
  int components;    /* components of every unknown and right-hand side, 1 to 4. Default: 1 */
  int least_squares; /* 1: any number of weighted rows. Default: a square system (ts_system_begin_row) */
  int symmetric; /* 1: you add only one triangle of the matrix. The coefficient of unknown j in equation i, i !=
                    j, is then also that of unknown i in equation j. Not with least_squares */
  int allow_singular; /* least squares. 1: if the rows do not determine all unknowns, compute the solution
                         closest to the initial values. Default: an error if that is detected
                         (ts_system_solve) */
  int group; /* a reordering (ts_order) keeps this number of consecutive unknowns together: 1 to 4, such as 2
                for u and v of a vertex. Default: 1 */
  uint64_t reserved[8]; /* 0 */
} ts_system_desc;

/* Creates a system without equations: all values are 0 and all unknowns unlocked. Destroy it before its
 * context.
 * Errors: TS_ERROR_INVALID_ARGUMENT, TS_ERROR_LIMIT (unknowns x components above 2^31 - 1024), memory. */
TS_API ts_status ts_system_create(ts_context *context, const ts_system_desc *desc, ts_system **system);
TS_API void ts_system_destroy(ts_system **system);

TS_API ts_context *ts_system_get_context(const ts_system *system); /* the system's context */

/* ---- Unknowns, at any time ------------------------------------------------------------------- */

/* Set or return the value of an unknown: `components` finite numbers. The next solve uses the value as the
 * initial guess, and replaces it by the solution. A locked unknown keeps the value that is set here. The first
 * read after a solve with leave_on_device synchronises with the device.
 * Errors: TS_ERROR_INVALID_ARGUMENT (an unknown out of range, NaN or infinity), device errors. */
TS_API ts_status ts_system_set_value(ts_system *system, int32_t unknown, const double *value);
TS_API ts_status ts_system_get_value(ts_system *system, int32_t unknown, double *value);

/* Set or return all values: component c of unknown j is values[j * components + c], and values.count is
 * unknowns * components. Errors: as ts_system_set_value. */
TS_API ts_status ts_system_set_values(ts_system *system, ts_array values);
TS_API ts_status ts_system_get_values(ts_system *system, ts_array values);

/* Lock or unlock an unknown. The next solve does not change locked unknowns. Locking a locked unknown, or
 * unlocking an unlocked one, has no effect.
 * Errors: TS_ERROR_INVALID_ARGUMENT (an unknown out of range). */
TS_API ts_status ts_system_lock(ts_system *system, int32_t unknown);
TS_API ts_status ts_system_unlock(ts_system *system, int32_t unknown);
TS_API int ts_system_is_locked(const ts_system *system, int32_t unknown); /* 0 if out of range */

/* ---- Equations ------------------------------------------------------------------------------- */

/* Begins the assembly and discards the previous equations.
 * Errors: TS_ERROR_INVALID_ARGUMENT (out of order). */
TS_API ts_status ts_system_begin(ts_system *system);

/* Add a row: begin it, add coefficients and right-hand sides in any order, and end it. Several coefficients of
 * one unknown are added up; right-hand sides are 0 by default. In a least-squares system the weight multiplies
 * the square of the row's residual. It must be at least 0; a row with weight 0 has no effect. In a square
 * system the weight multiplies both sides of the equation and must not be 0.
 *
 * In a square system row k is equation k, and its diagonal coefficient is that of unknown k. Rows of locked
 * unknowns are ignored. Alternatively, add one row per unlocked unknown: row k then belongs to the k-th
 * unlocked unknown.
 * Errors: TS_ERROR_INVALID_ARGUMENT (out of order, an unknown out of range, NaN or infinity, a negative weight,
 * more rows than unknowns in a square system), TS_ERROR_LIMIT (2^31 - 1 coefficients), memory. */
TS_API ts_status ts_system_begin_row(ts_system *system);
TS_API ts_status ts_system_coefficient(ts_system *system, int32_t unknown, double a);
TS_API ts_status ts_system_right_hand_side(ts_system *system, int component, double b); /* adds b */
TS_API ts_status ts_system_end_row(ts_system *system, double weight);

/* Adds a row in one call. `right_hand_sides` has `components` numbers; NULL: 0. Errors: as
 * ts_system_begin_row. */
TS_API ts_status ts_system_row(ts_system *system, int count, const int32_t *unknowns,
                               const double *coefficients, const double *right_hand_sides, double weight);

/* Add `a` to the coefficient of unknown j in equation i, and `b` to the right-hand side of equation i. For
 * square systems only. The calls may replace rows or add to them, but not between ts_system_begin_row and
 * ts_system_end_row. Errors: as ts_system_begin_row. */
TS_API ts_status ts_system_add(ts_system *system, int32_t i, int32_t j, double a);
TS_API ts_status ts_system_add_right_hand_side(ts_system *system, int32_t i, int component, double b);

/* Ends the assembly. A square system must have one row per unknown, or one per unlocked unknown, or only
 * entries of ts_system_add. If the number of rows is wrong, add rows and end again.
 * Errors: TS_ERROR_INVALID_ARGUMENT (out of order, no equation, a wrong number of rows), memory. */
TS_API ts_status ts_system_end(ts_system *system);

/* Replace the right-hand sides of the assembled equations: `components` numbers for one row, or rows *
 * components numbers for all rows. A square system has one row per unknown here. Weights are kept.
 * Errors: TS_ERROR_INVALID_ARGUMENT (not assembled, a row out of range, a wrong count, NaN or infinity). */
TS_API ts_status ts_system_set_right_hand_side(ts_system *system, int32_t row, const double *right_hand_sides);
TS_API ts_status ts_system_set_right_hand_sides(ts_system *system, ts_array right_hand_sides);

/* ---- Solving --------------------------------------------------------------------------------- */

/* The normal equations A^T W A x = A^T W b of a least-squares system. */
typedef enum ts_normal {
  TS_NORMAL_AUTO = 0,   /* formed, unless A^T W A is much larger than A and A^T; see ts_system_result.choice */
  TS_NORMAL_FORMED = 1, /* A^T W A, summed from outer products of rows in double precision and solved like any
                           matrix */
  TS_NORMAL_APPLIED = 2 /* products with A and A^T in turn, by CGLS: fewer digits are lost to rounding */
} ts_normal;

/* Order of the unknowns on the device. Only ts_system_get_index shows it. */
typedef enum ts_order {
  TS_ORDER_AUTO = 0,    /* as numbered */
  TS_ORDER_NATURAL = 1, /* as numbered */
  TS_ORDER_RCM = 2      /* reverse Cuthill-McKee (texsolve/reorder.h), for badly ordered meshes */
} ts_order;

typedef struct ts_system_solve_desc {
  /* Options as for ts_solver_create. Leave these 0: `transposed` and `preconditioner`, which the system creates
   * itself, and fixed_iterations and zero_start, which it does not use. Applied normal equations do not support
   * preconditioners that need a copy of the matrix; for them auto is Jacobi. */
  ts_solver_desc solver;
  ts_format format;     /* default: TS_FORMAT_AUTO */
  ts_normal normal;     /* least squares only. Default: TS_NORMAL_AUTO */
  ts_order order;       /* default: TS_ORDER_AUTO. TS_ORDER_RCM is not available with TS_NORMAL_APPLIED */
  int leave_on_device;  /* 1: read the solution back only when a value is requested. This avoids a
                           synchronisation, for example with a few iterations per frame. The true residual is
                           not computed; it is NaN in the result */
  uint64_t reserved[8]; /* 0 */
} ts_system_solve_desc;

typedef struct ts_system_result {
  ts_reason reason;
  ts_method method; /* the method used */
  ts_format format;
  ts_normal normal; /* formed or applied; TS_NORMAL_AUTO in a square system */
  int iterations;
  ts_precision precision;      /* precision at the end */
  int precision_iterations[4]; /* iterations done in each precision, indexed by ts_precision */
  int host_synchronisations;
  int32_t unknowns; /* number of unlocked unknowns */
  int32_t rows;     /* number of assembled rows */
  int64_t nonzeros; /* entries of the matrix: coefficients of unlocked unknowns, or entries of the formed normal
                       equations */
  /* ||b - A x|| / ||b|| of the assembled system, computed in double precision on the host; maximum over the
   * components. A has the columns of the unlocked unknowns, and b is the right-hand side minus the terms of
   * locked unknowns. In least squares the rows are weighted, and the number shows how well they are satisfied.
   * If b is 0, it is ||b - A x||. */
  double relative_residual;
  /* Least squares: ||A^T W (b - A x)|| / ||A^T W b||, which is small at the solution. Square:
   * relative_residual. */
  double normal_residual;
  double reduction; /* reduction of the method's own measure, as in ts_result; for cgls ||A^T r|| / ||A^T b|| */
  double attainable_residual;                /* as in ts_result */
  ts_bandwidth bandwidth, bandwidth_natural; /* bandwidth of the matrix on the device, and in the original
                                                order; 0 if normal equations are applied */
  size_t bytes_device;   /* device memory of the matrix, or of A and A^T with TS_NORMAL_APPLIED */
  double seconds_build;  /* wall-clock time from rows to the matrix; 0 if nothing changed */
  double seconds_layout; /* layout and upload; 0 if nothing changed */
  double seconds_setup;  /* creation or update of a preconditioner that is not diagonal; 0 if nothing changed */
  double seconds_solve;  /* the solve without the times above */
  char choice[340];  /* why this format was chosen, and why normal equations are formed or applied, in bytes */
  char message[200]; /* the reason in one line, with the row, unknown or number concerned */
  uint64_t reserved[8];
} ts_system_result;

/* Solves the system, starting from the current values of the unknowns. `desc` and `result` may be NULL.
 *
 * Returns TS_OK if the method converged, or if all unknowns are locked and nothing is left to solve; `message`
 * reports the latter. Returns TS_NOT_CONVERGED if the method did not converge: `result` has the reason, and the
 * values are the last iterate. After an error the values are unchanged.
 *
 * Errors:
 * - TS_ERROR_INVALID_ARGUMENT: not assembled, or not ended; an invalid option of `desc`; an unlocked unknown
 *   that occurs in no row, or an equation without unlocked unknowns, by number; right-hand sides that exceed
 *   the range of single precision relative to the largest coefficient;
 * - TS_ERROR_INVALID_ARGUMENT: a least-squares system that is detected as singular, unless allow_singular is
 *   set: fewer rows than unlocked unknowns, or unknowns that are determined only up to a constant. Other
 *   singular systems end with TS_NOT_CONVERGED or at one of the solutions;
 * - TS_ERROR_UNSUPPORTED (a format that the backend lacks), TS_ERROR_LIMIT, memory, device errors. */
TS_API ts_status ts_system_solve(ts_system *system, const ts_system_solve_desc *desc, ts_system_result *result);

/* Returns the solution on the device, for example to draw it. The vector has one index per unknown, including
 * locked unknowns, and holds doubles unless the solve was in single precision. The system owns the vector. Only
 * calls that read values leave it valid; any other call on the system may destroy it. Returns NULL before the
 * first solve, and if all unknowns are locked. */
TS_API ts_vector *ts_system_get_vector(const ts_system *system);

/* Returns the index of an unknown in that vector: its own number unless the system is reordered; -1 if the
 * unknown is out of range. */
TS_API int32_t ts_system_get_index(const ts_system *system, int32_t unknown);

/* Returns the matrix that was solved with, for inspection. It is A if normal equations are applied. Rows and
 * columns of locked unknowns are empty. Ownership, validity and NULL are as in ts_system_get_vector. */
TS_API const ts_matrix *ts_system_get_matrix(const ts_system *system);

#ifdef __cplusplus
}
#endif

#endif
