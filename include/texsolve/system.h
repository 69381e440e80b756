/* The system builder: equations are stated row by row or entry by entry, in double precision, and solved on any
 * backend in any format; the front end of Buatois et al. 2008.
 *
 *   ts_system_create
 *   ts_system_set_value, ts_system_lock              unknowns: starting values, and those that are given
 *   ts_system_begin
 *     ts_system_row, or begin_row .. end_row         row by row, and
 *     ts_system_add                                  entry by entry, in any order
 *   ts_system_end
 *   ts_system_solve
 *   ts_system_get_value
 *
 * A square system has as many equations as unknowns. A least-squares system has any number of conditions, of
 * which sum w_r (a_r . x - b_r)^2 is made as small as can be; w_r is the condition's weight. With several
 * components every unknown and every right-hand side is a tuple (the x, y and z of a vertex, say): one matrix
 * and 1 to 4 systems that are solved at once.
 *
 * A locked unknown keeps its value, which moves to the right-hand side. What is cheap: other values of locked
 * unknowns, other right-hand sides (no matrix is touched), and other coefficients at the same places
 * (begin .. end once more with the same unknowns in the same order: the layout stays). Locking and unlocking
 * lay the matrix out anew.
 *
 * Coefficients, right-hand sides and values are double precision, added up in double precision, and rounded to
 * single once, when the matrix is uploaded. Unknown j is index j of the matrix, locked or not (unless it is to
 * be reordered), so unknowns that are numbered together stand side by side, and blocks of 2 x 2 (u, v of a
 * vertex) are full.
 *
 * Errors: a call that fails changes nothing; what was stated before it is kept, and the system stays usable.
 * The message (ts_last_error) names the row or the unknown. The functions may be used by the thread that uses
 * the context.
 */
#ifndef TEXSOLVE_SYSTEM_H
#define TEXSOLVE_SYSTEM_H

#include <texsolve/reorder.h>
#include <texsolve/texsolve.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ts_system ts_system;

typedef struct ts_system_desc {
  int32_t unknowns;  /* at least 1 */
  int components;    /* of every unknown and right-hand side, 1 to 4; default: 1 */
  int least_squares; /* rows are conditions, any number; default: row k is equation k, see ts_system_begin_row
                      */
  int symmetric;     /* only one triangle is stated: a coefficient of unknown j in equation i, i != j, is one of
                        unknown i in equation j too. Not with least_squares, which is symmetric anyway */
  int allow_singular; /* least squares: solve though conditions leave unknowns undetermined, for the solution
                         near the starting values. Default: that is an error where it can be seen
                         (ts_system_solve) */
  int group; /* so many unknowns that are numbered together stay together in another order (ts_order): 1 to 4,
                2 for u and v of a vertex. Default: 1 */
} ts_system_desc;

/* Makes a system without equations, all values 0, nothing locked.
 * Errors: TS_ERROR_INVALID_ARGUMENT, TS_ERROR_LIMIT (unknowns x components above 2^31 - 1024), memory. */
TS_API ts_status ts_system_create(ts_context *context, const ts_system_desc *desc, ts_system **system);
TS_API void ts_system_destroy(ts_system **system);

TS_API ts_context *ts_system_context(const ts_system *system); /* borrowed */

/* ---- Unknowns; at any time ------------------------------------------------------------------- */

/* The value of an unknown, `components` finite numbers: where the next solve starts, and after it the solution.
 * A locked unknown keeps the value that is set here. Reading waits for the device after a solve with
 * leave_on_device. Errors: TS_ERROR_INVALID_ARGUMENT (no such unknown, NaN or infinity), those of the device.
 */
TS_API ts_status ts_system_set_value(ts_system *system, int32_t unknown, const double *value);
TS_API ts_status ts_system_get_value(ts_system *system, int32_t unknown, double *value);

/* All values: component c of unknown j is values[j * components + c]; `count` is unknowns * components. */
TS_API ts_status ts_system_set_values(ts_system *system, const double *values, size_t count);
TS_API ts_status ts_system_get_values(ts_system *system, double *values, size_t count);

/* Locked unknowns are no unknowns of the next solve. Locking twice, or unlocking what is not locked, is no
 * error. */
TS_API ts_status ts_system_lock(ts_system *system, int32_t unknown);
TS_API ts_status ts_system_unlock(ts_system *system, int32_t unknown);
TS_API int ts_system_is_locked(const ts_system *system,
                               int32_t unknown); /* 0 for unknowns that there are not */

/* ---- Equations ------------------------------------------------------------------------------- */

/* Begins to state equations; those of before are forgotten. */
TS_API ts_status ts_system_begin(ts_system *system);

/* One row: coefficients in any order, those of the same unknown added up; right-hand sides that are not stated
 * are 0. The weight of a condition multiplies its square and is at least 0 (0: it does not count); an equation
 * of a square system is multiplied by its weight on both sides, which must not be 0.
 *
 * In a square system row k is equation k and belongs to unknown k, on the diagonal; rows of locked unknowns are
 * not used. Instead of them all, as many rows as there are unlocked unknowns may be stated: then row k belongs
 * to the k-th unlocked unknown.
 * Errors: TS_ERROR_INVALID_ARGUMENT (out of order, no such unknown, NaN or infinity, a negative weight, more
 * rows than unknowns in a square system), TS_ERROR_LIMIT (2^31 - 1 coefficients), memory. */
TS_API ts_status ts_system_begin_row(ts_system *system);
TS_API ts_status ts_system_coefficient(ts_system *system, int32_t unknown, double a);
TS_API ts_status ts_system_right_hand_side(ts_system *system, int component, double b); /* adds b to it */
TS_API ts_status ts_system_end_row(ts_system *system, double weight);

/* The same in one call: `right_hand_sides` has `components` numbers, NULL: 0. */
TS_API ts_status ts_system_row(ts_system *system, int count, const int32_t *unknowns,
                               const double *coefficients, const double *right_hand_sides, double weight);

/* Square systems, outside of rows: adds to the coefficient of unknown j in equation i, and to the right-hand
 * side of equation i. Also beside rows. */
TS_API ts_status ts_system_add(ts_system *system, int32_t i, int32_t j, double a);
TS_API ts_status ts_system_add_right_hand_side(ts_system *system, int32_t i, int component, double b);

/* Ends the statement. Errors: TS_ERROR_INVALID_ARGUMENT (out of order; neither no rows nor as many as unknowns,
 * or as unlocked unknowns, in a square system: state more of them and end again; no equation at all), memory.
 */
TS_API ts_status ts_system_end(ts_system *system);

/* Other right-hand sides for the equations as stated: `components` numbers for row r, and for all rows (rows *
 * components numbers). The rows of a square system are its equations, as many as unknowns. Weights stay. */
TS_API ts_status ts_system_set_right_hand_side(ts_system *system, int32_t row, const double *right_hand_sides);
TS_API ts_status ts_system_set_right_hand_sides(ts_system *system, const double *right_hand_sides,
                                                size_t count);

/* ---- Solving --------------------------------------------------------------------------------- */

#define TS_METHOD_LIST(X)                                                                                      \
  X(TS_METHOD_AUTO, 0, "auto")         /* cg for symmetric matrices with a positive diagonal, else bicgstab */ \
  X(TS_METHOD_CG, 1, "cg")             /* conjugate gradients */                                               \
  X(TS_METHOD_BICGSTAB, 2, "bicgstab") /* stabilised bi-conjugate gradients */                                 \
  X(TS_METHOD_GMRES, 3, "gmres")       /* generalised minimal residual, restarted */                           \
  X(TS_METHOD_CGLS, 4, "cgls")         /* conjugate gradients on A and A^T, of TS_NORMAL_APPLIED */

typedef enum ts_method {
#define TS_METHOD_ENUM(name, value, text) name = value,
  TS_METHOD_LIST(TS_METHOD_ENUM)
#undef TS_METHOD_ENUM
} ts_method;

/* A method's text, NULL if there is no such method; and the method with a text, -1 if none. Any thread. */
TS_API const char *ts_method_name(ts_method method);
TS_API int ts_method_from_name(const char *name);

/* The normal equations A^T W A x = A^T W b of a least-squares system. */
typedef enum ts_normal {
  TS_NORMAL_AUTO = 0, /* formed, unless that has many more bytes than A and A^T; see ts_system_result.choice */
  TS_NORMAL_FORMED = 1, /* A^T W A, from outer products of rows in double precision, solved like any matrix */
  TS_NORMAL_APPLIED = 2 /* A and A^T one after the other, by CGLS, which loses fewer digits to rounding */
} ts_normal;

/* How unknowns are numbered on the device; nothing else shows it than ts_system_index. */
typedef enum ts_order {
  TS_ORDER_STATED = 0, /* as they are */
  TS_ORDER_RCM = 1 /* reverse Cuthill-McKee (texsolve/reorder.h), for meshes whose vertices are in no order */
} ts_order;

typedef struct ts_system_solve_desc {
  ts_method method;                 /* default: TS_METHOD_AUTO */
  ts_preconditioner preconditioner; /* default: Jacobi */
  ts_stop stop;                     /* default: TS_STOP_DELTA, with methods other than CG TS_STOP_RESIDUAL */
  double rtol;                      /* default: 1e-5 */
  int max_iterations;               /* default: 10 times the unknowns, at least 1000, at most 100000 */
  int check_interval;               /* iterations between two checks; default: the method's */
  int restart;                      /* of GMRES, to which alone it matters; default: 30 */
  ts_format format;                 /* default: TS_FORMAT_AUTO */
  ts_normal normal;                 /* of least squares; default: TS_NORMAL_AUTO */
  ts_order order;                   /* default: TS_ORDER_STATED; others not with TS_NORMAL_APPLIED */
  int leave_on_device;     /* do not bring the solution back until a value is asked for: no true residual
                              (NaN in the result), no wait for it. For a few iterations a frame */
  ts_progress_fn progress; /* default: none */
  void *progress_user;
} ts_system_solve_desc;

typedef struct ts_system_result {
  ts_reason reason;
  ts_method method; /* that was used */
  ts_format format;
  ts_normal normal; /* formed or applied; TS_NORMAL_AUTO in a square system */
  int iterations;
  int waits;        /* how often the host waited for the device */
  int32_t unknowns; /* that are not locked */
  int32_t rows;     /* equations or conditions as stated */
  int64_t
      nonzeros; /* of the matrix: the coefficients of unlocked unknowns, or of the normal equations formed */
  /* Of the system as stated, in double precision on the host, the largest component: ||b - A x|| / ||b||, where
   * A has the unlocked unknowns, and b is what locked ones leave of the right-hand side; in least squares
   * weighted, so that it tells how well the conditions are met. ||b - A x|| where b is 0. */
  double relative_residual;
  /* Least squares: ||A^T W (b - A x)|| / ||A^T W b||, which is small at the solution. In a square system the
   * same as relative_residual. */
  double normal_residual;
  double delta_ratio;         /* how far the method's own measure has fallen: as in its result, of cgls
                                 ||A^T r|| / ||A^T b|| */
  double attainable_residual; /* as in ts_cg_result */
  ts_bandwidth bandwidth, bandwidth_stated; /* of the matrix on the device, and in the order as stated; 0 where
                                               normal equations are applied */
  size_t bytes_device;                      /* of the matrix; of both of TS_NORMAL_APPLIED */
  double seconds_build;  /* from ts_system_begin's rows to the matrix to be laid out; 0 where nothing changed */
  double seconds_layout; /* layout and upload; 0 where nothing changed */
  double seconds_solve;
  char choice[340];  /* why this format and why the normal equations are formed or applied, in bytes */
  char message[200]; /* the reason in one line, with the row, unknown or number concerned */
} ts_system_result;

/* Solves from the values that the unknowns have. `desc` may be NULL; `result` may be NULL.
 *
 * Returns TS_OK where the method has converged, and where all unknowns are locked: there is nothing to solve
 * then, and `message` says so. TS_NOT_CONVERGED with the reason in `result`, and the last iterate as values.
 * Or an error, values as they were:
 * - TS_ERROR_INVALID_ARGUMENT: no equations, or not ended; an option of `desc`; an unlocked unknown in no
 *   equation or condition, or an equation without unlocked unknowns, by number; a singular least-squares system
 *   (unless allow_singular), as far as it shows: fewer conditions than unlocked unknowns, or unknowns that a
 *   constant can be added to. Singular systems that do not show end as TS_NOT_CONVERGED or at one of the
 *   solutions; right-hand sides that single precision does not hold where the largest coefficient is 1;
 * - TS_ERROR_UNSUPPORTED: a format that the backend lacks; TS_ERROR_LIMIT; memory; the device's.
 */
TS_API ts_status ts_system_solve(ts_system *system, const ts_system_solve_desc *desc, ts_system_result *result);

/* The solution on the device, one index an unknown, locked ones with their values: to draw it, say. Borrowed
 * until the next call on the system other than reading values. NULL before the first solve, and where all
 * unknowns are locked. */
TS_API ts_vector *ts_system_vector(const ts_system *system);

/* Where an unknown is in it: its own number unless another order was asked for; -1 where there is no such
 * unknown. */
TS_API int32_t ts_system_index(const ts_system *system, int32_t unknown);

/* The matrix that was solved, to look at: rows and columns of locked unknowns are empty. Borrowed and NULL as
 * above; A where it was applied. */
TS_API const ts_matrix *ts_system_matrix(const ts_system *system);

#ifdef __cplusplus
}
#endif

#endif
