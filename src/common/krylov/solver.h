/* The base of all Krylov methods. Control flow of a solve: solver.c (API), solver_resolve.c (descriptor),
 * solver_workspace.c, solver_run.c (one solve, with solver_precision.c and solver_start.c), and the file of the
 * method (its recurrence and its checks). The methods share solver_iterate.c, solver_verify.c,
 * solver_progress.c and solver_reason.c.
 *
 * The solver scales each component of b by a power of two, so that its largest element is about 1
 * (solver_scale.h). The iterations accumulate their update in `e`, separate from x, so that small steps do not
 * round x. The residual of a recurrence drifts away from b - A x. Therefore no method trusts it: convergence is
 * decided by the residual computed from x. */
#ifndef TSI_SOLVER_H
#define TSI_SOLVER_H

#include <texsolve/solver.h>

#include "common/core/backend.h"
#include "common/precond/preconditioner.h"
#include "null_space.h"
#include "solver_scale.h"

typedef struct tsi_solve tsi_solve;
typedef struct tsi_stages tsi_stages;

typedef struct tsi_method {
  const char *name;
  int preconditioned_from_right; /* e solves A M^-1 e = r, and the solution is x + M^-1 e */
  /* Sets how many vectors (row_vectors of them over the rows) and slots the method needs, and for how many
   * iterations the slots keep numbers. */
  void (*plan)(ts_solver *solver);
  /* Fills vectors of the method that solves do not change. May be NULL. */
  ts_status (*prepare)(ts_solver *solver);
  /* An additional sum of the first residual that the recurrence starts from, next to its norm. May be NULL. */
  ts_status (*residual_sum)(const tsi_solve *s, tsi_dot *sum);
  /* Starts from x and its residual r, and iterates until `ended` or max_iterations. */
  ts_status (*run)(tsi_solve *s);
  /* Runs desc.fixed_iterations iterations without reading any numbers. */
  ts_status (*run_fixed)(tsi_solve *s);
  /* For methods that run through tsi_solve_run and tsi_solve_run_fixed: start from x and its residual r, do one
   * iteration, and check the numbers of iterations reported .. checked-1. */
  ts_status (*begin)(tsi_solve *s);
  ts_status (*iterate)(tsi_solve *s);
  ts_status (*check)(tsi_solve *s, int checked);
  /* The number of iterations, 1 to `steps`, before the next check. NULL: `steps`. */
  int (*round_steps)(const tsi_solve *s, int steps);
  /* Adds the pending update to x, and writes the residual of x to the result. */
  ts_status (*finish)(tsi_solve *s);
} tsi_method;

/* The numbers of all iterations of the last solve. */
typedef struct tsi_history {
  double *numbers;
  int count, capacity;
  int is_full; /* memory for more was refused */
} tsi_history;

/* Columns that ts_solver_solve_arrays solves for at a time: the components of a vector. */
enum { TSI_MOST_COLUMNS = 4 };

struct ts_solver {
  ts_context *context;
  ts_matrix *matrix,
      *transposed; /* least squares: desc.transposed or the matrix's own transpose; otherwise NULL */
  const tsi_method *method;
  ts_solver_desc desc;               /* resolved */
  ts_preconditioner *preconditioner; /* the user's, or owned by the solver. For cgls, Jacobi is that of A^T A */
  int pipelined;                     /* iterations enqueued before the host waits for the numbers of a check */
  int on_device;                     /* cg: the device iterates on its own until the next check */
  int ring;                          /* number of iterations with numbers in the slots */
  int own_vectors, own_row_vectors, own_slots, history_size, work_size; /* set by plan() */
  int most_own_vectors;     /* maximum after a growth; equals own_vectors unless plan() sets it */
  int restart_is_open;      /* gmres: the restart is the default, and may grow */
  double *history;          /* since the last check, for the progress callback */
  tsi_history kept_history; /* with desc.keep_history; of all stages */
  double *work;             /* host workspace of the method */
  double *numbers;          /* host copy of the slots */

  /* Workspace for vectors of `components` components; 0: not created yet. */
  int components, vector_count;
  int pairs; /* double precision: vectors have two parts, except m, and z unless it is m times a vector */
  ts_vector **vectors;  /* all of them */
  ts_vector *e;         /* the update since it was last added to x */
  ts_vector *b, *r;     /* over the rows */
  ts_vector *r_low;     /* mixed precision: the low part of r while r is computed from x; otherwise NULL */
  int residual_parts;   /* parts of x and A that matter for a residual of the expected size: 2 or 3 */
  ts_vector *x, *x_new; /* over the columns. x_new: NULL for cg and richardson, which always accept e. In mixed
                           precision b, x and x_new have low parts */
  ts_vector *gradient;  /* A^T r for least squares; otherwise NULL */
  ts_vector *best;      /* cg, richardson: the best x, after x has become worse; otherwise NULL */
  ts_vector *m;         /* 1 / diagonal, or its magnitude for a matrix far from 1; NULL if not used */
  ts_vector *z;         /* M^-1 times a vector; NULL if not needed */
  ts_vector *scratch;   /* NULL if all operations are fused */
  ts_vector **own;      /* the method's vectors, also in `vectors`; the method may swap them */
  ts_scalars *slots;
  tsi_null_space *null_space; /* NULL: no null space that could be removed */
  double frobenius;           /* norm of A, for least squares; 0 if A is a function */
  int jacobi_changes;         /* change counter of the preconditioner's matrix when m was written; -1: never */
  int is_running;             /* a solve is running; its callbacks must not start another one */
  int is_later_group;         /* ts_solver_solve_arrays: the history continues that of the columns before */
  ts_vector *columns[TSI_MOST_COLUMNS]
                    [2];     /* ts_solver_solve_arrays: b and x of so many columns; NULL: not needed yet */
  const tsi_solve *at_check; /* the solve whose progress callback is running; otherwise NULL */

  /* Auto in stages (stages.c). */
  tsi_stages *stages;    /* of the caller's solver, if auto may continue with other solvers; otherwise NULL */
  tsi_stages *part_of;   /* of a stage: the stages it belongs to; otherwise NULL */
  int iterations_before; /* of the earlier stages of this solve */
  int is_left;           /* the stage ended its iterations on its own */
  double stage_best;     /* smallest number of the history */
  double stage_low;      /* the same, since r was last computed from x */
  int stage_verified;    /* the iteration in which r was last computed from x */
  double least_left;     /* with TS_REASON_INCOMPATIBLE: ||r|| / ||b|| without the unreachable part */
  double least_gradient; /* of a stage: ||A r|| / (||A|| ||r||); 0 if ||r|| is minimal */
};

/* Slots of all methods. The method's own slots follow. */
enum {
  TSI_SLOT_SCALE, /* a power of two that scales max |b| to about 1 */
  TSI_SLOT_UNSCALE,
  TSI_SLOT_MAX_B,
  TSI_SLOT_MAX_X, /* read only if x may overflow, has low parts or may be 0, or if a number is not finite */
  TSI_SLOT_BB,    /* b^T b */
  TSI_SLOT_GB,    /* |A^T b|^2 for least squares */
  TSI_SLOT_DX,    /* x^T D D x with D = diag(A), or diag(A^T A) */
  TSI_SLOT_RR,    /* r^T r with r = b - A x computed from x */
  TSI_SLOT_GG,    /* |A^T r|^2 for least squares */
  TSI_SLOT_OWN
};

enum { TSI_IDR_DIMENSION = 8 /* s of IDR(s) */, TSI_RESTART = 30 /* of gmres */, TSI_LONGEST_RESTART = 200 };

/* State of a running solve. All numbers belong to the scaled system. */
struct tsi_solve {
  ts_solver *solver;
  ts_result *result;
  const ts_vector *user_b;
  int b_exponent;         /* of user_b */
  ts_vector *kept;        /* x with all parts, between two precisions */
  int at_limit;           /* the precision is the reason for the end */
  ts_precision precision; /* the current one: single, mixed or double */
  int precision_from;     /* the iteration that it started in */
  int x_is_zero;          /* x + e does not round */
  int x_was_zeroed;       /* the user's x is not used as the start: the workspace's is 0 instead */
  int iteration;          /* completed iterations */
  int reported;           /* iterations with numbers already read */
  int ended;
  double norm_b[4];
  double norm_constrained[4]; /* if b = 0: the norm of the constrained unknowns' contribution */
  double norm_rule[4];  /* reference of rtol: the norm of b (or A^T b), or of the first residual if that is 0 */
  double norm_start[4]; /* of the first residual (or gradient) */
  double norm_r[4];     /* of the residual of x */
  double left_start;    /* the first ||r|| / ||b|| */
  double tolerance[4];  /* limit of norm_r according to the rule */
  int scale_x[4];       /* the user's x is x times 2^-scale_x */
  int is_far;           /* unscaling may overflow x: max |x| is read along with the residual */
  int read_as_doubles;  /* the application reads x from its vector as doubles */
  int is_rounded;       /* the workspace's x was rounded to doubles */
  double max_x[4];      /* max |x| when it was last read */
  double dx[4];         /* ||diag(A) x|| at its last measurement; 0 before */
  double null_part[4];  /* norm of the part of b in the known null space. b, r and norm_b exclude it */
  double incompatible[4]; /* norm of the part of b that the method found unreachable. r excludes it */
  int projections;        /* how often an unreachable part was removed from b */
  double measure;         /* largest norm_r / norm_rule of x, including the effect of rounding */
  double best;            /* smallest measured relative residual of any x */
  int best_is_kept;       /* in k->best, because x has become worse */
  int met;                /* x meets the rule */
  int x_is_current;       /* e has been added to x, and the result has the numbers of x */

  /* r, e and the directions are multiplied by this power of two. It is 1 until the squares of the residual
   * would leave the range of single precision. Numbers of iterations before scale_from have the scale
   * scale_before. */
  double scale, scale_before;
  int scale_from;

  /* Progress since the method last started from x (a phase). */
  int phase_start;   /* first iteration */
  double phase_best; /* smallest number of the history */
  int phase_best_at; /* iteration of phase_best */
  double phase_peak; /* largest number of the history; a new peak resets phase_best */
  double phase_low;  /* smallest number of the history, or the last one of a gmres cycle */
  int in_vain;       /* consecutive restarts or verifications without a gain */

  /* The smallest number of the history since window_start, and before it (solver_progress.c). */
  int window_start;
  double window_best, window_before;
  int is_slow; /* at this rate the remaining iterations are not enough */

  /* cg */
  int checked_mode; /* check after every iteration, with d^T d */
  int carried;      /* the directions were kept when r was last computed from x */
  int never_carry;  /* keeping them has failed */
  double delta_0[4];
  double delta_begin[4]; /* when r was last computed from x */
  double direction[4];   /* d^T M d of the next iteration, from the recurrence */
  double verified;       /* smallest measure of a verification */
  double peak[4];        /* largest norm of r, or square root of delta, since r was last computed from x */
  /* minres: bit mask of the components in which e is a part of M^-1 r rather than of x (minres_singular.c) */
  unsigned purified;
  /* gmres: columns of the Hessenberg matrix that the host has read; whether memory for a longer cycle is
   * exhausted */
  int columns, is_full;
  /* bicgstab, idr: state since r was last computed as b - A (x + M^-1 e) */
  int replaced_at;                /* the iteration */
  double largest;                 /* largest number of the history */
  double phase_start_measure;     /* measure of the first x of the phase */
  int false_convergences;         /* consecutive ones that did not halve the residual */
  int shadow;                     /* restarts that requested a new shadow vector */
  double number_now, number_kept; /* numbers of the history: the last one, and that of the kept e */
  int kept_at;                    /* iteration of the kept e; -1: none */
  /* idr: first iteration of the current round of s + 1 products; the number of g_i, and the iterations that
   * made them */
  int round_start, directions, made_at[TSI_IDR_DIMENSION];
};

/* The unknowns of all ranks. Numbers above INT32_MAX do not change any decision. */
static inline int32_t tsi_unknowns(const ts_matrix *A) {
  return A->all_rows > INT32_MAX ? INT32_MAX : A->all_rows ? (int32_t)A->all_rows : A->info.columns;
}
/* The maximum number of iterations without a better residual. */
static inline int tsi_window(const ts_matrix *A) {
  return tsi_unknowns(A) > 1000 ? tsi_unknowns(A) : 1000;
}
/* The number of iterations after which the method restarts. In exact arithmetic n directions solve n unknowns,
 * so these restarts are early enough for a budget of 10 n. Of the factors 1 to 8, 3 solved the most of 150
 * systems with BiCGSTAB. */
static inline int tsi_patience(const ts_matrix *A, int factor) {
  const double n = factor * (double)tsi_unknowns(A), most = tsi_window(A);
  return (int)(n > most ? most : n > 50 ? n : 50);
}
/* The relative rounding error of a number in the iterations. */
static inline double tsi_epsilon(const ts_solver *k) {
  return k->pairs ? 0x1p-46 : 0x1p-24;
}
static inline int tsi_is_memory(ts_status status) {
  return status == TS_ERROR_OUT_OF_HOST_MEMORY || status == TS_ERROR_OUT_OF_DEVICE_MEMORY;
}
/* These methods also multiply by A^T, and their residual is A^T (b - A x). */
static inline int tsi_is_least_squares(ts_method method) {
  return method == TS_METHOD_CGLS || method == TS_METHOD_LSMR;
}
/* These methods need a symmetric matrix and a symmetric preconditioner. */
static inline int tsi_is_symmetric_method(ts_method method) {
  return method == TS_METHOD_CG || method == TS_METHOD_MINRES;
}
/* M belongs to the user's matrix, or to a stored matrix of opposite sign. A preconditioner that is declared
 * symmetric is positive definite, regardless of the sign of A. */
static inline int tsi_differs_in_sign(const ts_solver *k) {
  const ts_preconditioner *M = k->preconditioner;
  const int is_negated = k->matrix->negated;
  return M->kind->has_scale ? M->matrix->negated != is_negated : k->z && is_negated && !M->desc.symmetric;
}
/* MINRES writes the m of Jacobi itself: M must be positive, but the diagonal may not be. */
static inline int tsi_writes_jacobi(const ts_solver *k) {
  return k->desc.method == TS_METHOD_MINRES && tsi_preconditioner_inverts_diagonal(k->preconditioner);
}
static inline double tsi_number(const ts_solver *k, int slot, int component) {
  return k->numbers[4 * slot + component];
}
/* A NaN takes precedence. */
static inline double tsi_larger(double a, double b) {
  return a != a || a > b ? a : b;
}
/* ---- solver_resolve.c ---- */

/* Validates a descriptor for A and fills in the defaults, except those of cg, which depend on the
 * preconditioner. */
ts_status tsi_solver_resolve(const ts_matrix *A, const ts_solver_desc *desc, ts_solver_desc *out);
/* The default of ts_solver_desc.check_interval. */
int tsi_check_interval(const ts_matrix *A, const ts_preconditioner *M);
/* ---- solver.c ---- */

/* ts_solver_create and ts_solver_solve with valid arguments, without stages, called from an API function. */
ts_status tsi_solver_create(ts_matrix *matrix, const ts_solver_desc *desc, ts_solver **solver);
ts_status tsi_solver_solve_once(ts_solver *solver, const ts_vector *b, ts_vector *x, ts_result *result);
/* Updates the solver's own preconditioner if the values of the matrix have changed. */
ts_status tsi_solver_update_preconditioner(const ts_solver *k);

/* ---- solver_resolve.c, again ---- */

/* The symmetry of isai is known only after its set-up, and may change with the matrix's values. */
ts_status tsi_solver_check_symmetric(ts_method method, const ts_preconditioner *M);

/* ---- solver_workspace.c ---- */

/* The host memory, in the sizes that plan() sets. On failure the caller frees what was allocated. */
ts_status tsi_solver_allocate(ts_solver *k);
void tsi_solver_free(const ts_solver *k);
ts_status tsi_solver_create_workspace(ts_solver *k, int components, int pairs);
void tsi_solver_destroy_workspace(ts_solver *k);
/* Within a solve: plan() has requested more vectors, slots and numbers than `before` has. The existing vectors
 * and the slots of all methods keep their contents. On failure only the plan has changed. */
ts_status tsi_solver_extend_workspace(ts_solver *k, const ts_solver *before);

/* ---- solver_run.c ---- */

/* Solves for the user's b and x on a prepared workspace. `s` is new, or the same solve in another precision,
 * which continues from s->kept. If s->kept is set on return, the solve should continue with pairs. */
ts_status tsi_solver_run(tsi_solve *s, const ts_vector *b, ts_vector *x);
tsi_solve tsi_solve_of(ts_solver *k, const ts_vector *b, ts_result *result);
/* The exponent of a vector that receives x, so that its numbers are about as large as those of the
 * workspace. */
int tsi_solve_exponent_of_x(const tsi_solve *s, const ts_vector *x);

/* ---- solver_precision.c ---- */

/* Copies b and x, scaled, into the workspace. Constrained rows are not equations: their b becomes 0. */
ts_status tsi_solve_load(tsi_solve *s, const ts_vector *b, const ts_vector *x, int from_zero);
/* Copies a user's x, scaled, into the workspace; and x back into a vector, which gets this exponent. */
ts_status tsi_solve_read_x(const tsi_solve *s, const ts_vector *x);
ts_status tsi_solve_write_x(const tsi_solve *s, ts_vector *x, int exponent);
/* Removes the part of x in the null space, if the null space is known. */
ts_status tsi_solve_leave_null_space(tsi_solve *s);
/* Copies b only, if the other numbers of the start are known. */
ts_status tsi_solve_load_b(tsi_solve *s, const ts_vector *b);
/* Whether the matrix has constrained rows; and out = v in rows with equations, 0 in the others. The latter
 * overwrites the first part of e. */
int tsi_solve_has_constrained(const ts_solver *k);
ts_status tsi_solve_drop_constrained(const ts_solver *k, ts_vector *out, const ts_vector *v);
void tsi_solve_set_precision(tsi_solve *s, ts_precision precision);
/* Called before e is added to x. The first sum is exact without low parts. If auto has more to add, x gets low
 * parts. */
ts_status tsi_solve_make_room(tsi_solve *s);
/* Scales r, just computed from x, to about 1 if it is small. The directions must be multiplied by the power of
 * two in `factor`. */
ts_status tsi_solve_rescale(tsi_solve *s, double *factor);

/* ---- solver_start.c ---- */

/* Reads the norms of the start, and ends the solve if no iteration is needed. */
ts_status tsi_solve_check_start(tsi_solve *s, const ts_vector *x, int from_zero);
/* Sets the numbers of the result to those of an x with these norms of the residual (or gradient): at the start
 * of a solve, or when auto continues. */
void tsi_solve_set_start(tsi_solve *s, const double norms[4]);

/* ---- solver_reason.c ---- */

/* Writes the reason and its text, or `message`, to the result. */
void tsi_solve_finish(tsi_solve *s, ts_reason reason, const char *message);
/* The result of a solve that the poll function stopped between iterations. */
void tsi_result_stop(ts_result *result);
/* Converged, except for the part of b that no x reaches. */
void tsi_solve_finish_converged(tsi_solve *s);
/* "stagnated in single precision at ...", with a remedy. */
void tsi_solve_finish_stagnated(tsi_solve *s);
void tsi_solve_finish_at_maximum(tsi_solve *s);
/* Sets `reported`, and `ended` if the callback stops the solve. */
ts_status tsi_solve_progress(tsi_solve *s, int checked, int count);
/* The norm of everything that no x reaches. */
double tsi_solve_unreachable(const tsi_solve *s, int component);
/* The norm of a component of b or of a residual, including the unreachable part. */
double tsi_solve_whole_norm(const tsi_solve *s, int component, double norm);
/* The largest part of b that no x reaches, relative to ||b||; 0 if none is known. */
double tsi_solve_incompatible(const tsi_solve *s);

/* ---- solver_history.c ---- */

void tsi_history_begin(tsi_history *history);
/* After a check: keeps `count` numbers of k->history, if the descriptor wants them. */
void tsi_history_add(ts_solver *k, int count);

/* ---- solver_progress.c ---- */

void tsi_solve_begin_windows(tsi_solve *s);
/* Records a number of the history. */
static inline void tsi_solve_note(tsi_solve *s, double number) {
  if (number < s->window_best) s->window_best = number;
}
/* Whether auto should continue in double before this precision reaches its limit. Numbers of the history are
 * relative to `norms`. */
int tsi_solve_should_rise(tsi_solve *s, int checked, const double norms[4]);

/* ---- solver_verify.c ---- */

/* r = b - A x, and the gradient for least squares. */
ts_status tsi_solver_residual(const ts_solver *k, const ts_vector *x);
/* The residual of the start, and the norm of b. When the start is 0, the residual is b. */
ts_status tsi_solve_first_residual(const tsi_solve *s, int from_zero);
ts_status tsi_solver_read_slots(const ts_solver *k);
/* Computes the residual of x, and reads the numbers that measure the quality of x. */
ts_status tsi_solve_measure(const tsi_solve *s, const ts_vector *x, ts_vector *work);
/* Updates the state from the slots, which hold the numbers of x. */
void tsi_solve_read_numbers(tsi_solve *s);
/* Whether rounding x to doubles may be visible in the residual. */
int tsi_solve_rounding_may_show(const tsi_solve *s);
/* Rounds an x that meets the rule to doubles, as its reader receives it, if the rounding may be visible. Then
 * the rounded x is checked again. */
ts_status tsi_solve_round(tsi_solve *s, ts_vector *work);
/* Whether x may overflow in the user's vector, or be rounded there. */
static inline int tsi_solve_needs_max_x(const tsi_solve *s) {
  return s->is_far || s->solver->matrix->loses_digits || (s->read_as_doubles && s->solver->x->low);
}
/* The slot of the norm that the rule limits. */
static inline int tsi_norm_slot(const ts_solver *k) {
  return k->transposed ? TSI_SLOT_GG : TSI_SLOT_RR;
}
/* That norm of a component, relative to the norm of b or A^T b. */
double tsi_solve_relative(const tsi_solve *s, int c, double norm);
/* out = x + e, or x + M^-1 e with a preconditioner from the right. */
ts_status tsi_solve_add(const tsi_solve *s, ts_vector *out, const ts_vector *e);
/* x = x + e (right-preconditioned: M^-1 e). Computes the residual of x and the numbers of state and result.
 * Synchronises with the device. `work` is a vector over the columns and is overwritten. */
ts_status tsi_solve_accept(tsi_solve *s, const ts_vector *e, ts_vector *work);
/* Sets k->best to x - e / scale, the best x before e was added, if x has become worse or may have. */
ts_status tsi_solve_keep_before(tsi_solve *s, const ts_vector *e, double scale);
/* After a failure: restores the best x, if it is better. */
ts_status tsi_solve_restore_best(tsi_solve *s);
/* Accepts e only if it reduces the residual. Afterwards r is the residual of x. */
ts_status tsi_solve_try(tsi_solve *s, const ts_vector *e, ts_vector *work);
/* Accepts every finite e; the best x is kept. */
ts_status tsi_solve_try_anyway(tsi_solve *s, const ts_vector *e, ts_vector *work);

/* ---- solver_iterate.c ---- */

/* out = M^-1 v; and out = A M^-1 v, which overwrites z. */
ts_status tsi_solver_precondition(const ts_solver *k, ts_vector *out, const ts_vector *v);
ts_status tsi_solver_apply(const ts_solver *k, ts_vector *out, const ts_vector *v);
/* A new direction of conjugate gradients: d = M^-1 r + beta d. If M is not diagonal, z must be M^-1 r. */
ts_status tsi_solver_update_direction(const ts_solver *k, ts_vector *d, const ts_vector *r,
                                      ts_coefficient beta);

typedef ts_status (*tsi_iterate_fn)(tsi_solve *s);
/* Reads the slots `first` .. `first + count - 1` while the device does `pipelined` more iterations. */
ts_status tsi_solve_read(tsi_solve *s, int first, int count, int pipelined, tsi_iterate_fn iterate);
/* The iterations until the next check. After a start or a restart, the first check is after one iteration, and
 * the interval doubles up to its maximum. */
void tsi_solve_plan_steps(const tsi_solve *s, int done, int *steps, int *pipelined);

ts_status tsi_solve_run(tsi_solve *s);
ts_status tsi_solve_run_fixed(tsi_solve *s);
/* The recurrence's estimate for the iteration with its sums of squares in `slot`: its norm relative to the
 * rule's, as the maximum over the components; and whether the rule is met. */
double tsi_solve_recurrence_residual(const tsi_solve *s, int slot);
int tsi_solve_recurrence_converged(const tsi_solve *s, int slot);

/* ---- The methods ---- */
extern const tsi_method tsi_cg, tsi_bicgstab, tsi_idr, tsi_gmres, tsi_cgls, tsi_richardson, tsi_minres,
    tsi_lsmr;
/* cg_resolve.c: the defaults of cg; and whether the device iterates on its own. It does so only if the
 * descriptor permits it. */
ts_status tsi_cg_resolve(const ts_matrix *A, const ts_preconditioner *M, ts_solver_desc *desc);
int tsi_cg_runs_on_device(const ts_matrix *A, const ts_preconditioner *M, const ts_solver_desc *resolved);
/* cgls.c: for least squares, finds the norm of A and writes 1 / diag(A^T A) to m, if m is used. */
ts_status tsi_cgls_measure(ts_solver *k);
/* minres.c: writes 1 / |diagonal| to m. */
ts_status tsi_minres_write_jacobi(ts_solver *k);

#endif
