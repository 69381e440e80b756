/* What all Krylov methods share. The path: solver.c (API), solver_resolve.c (descriptor), solver_workspace.c,
 * solver_run.c (a solve: solver_precision.c, solver_start.c), a method's own file (its recurrence and its
 * checks), with solver_iterate.c, solver_verify.c, solver_progress.c and solver_reason.c.
 *
 * b is scaled by a power of two so that its largest element is about 1, each component by its own
 * (solver_scale.h). What iterations add up is kept apart from x, in `e`, so that x is not rounded at every
 * small step. A recurrence's residual drifts away from b - A x: no method judges itself by it. Convergence is
 * what the residual computed from x says. */
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
  int preconditioned_from_right; /* e is of A M^-1 e = r: x is x + M^-1 e */
  /* How many vectors (row_vectors of them over the rows) and slots of its own it needs; for how many iterations
   * there are numbers. */
  void (*plan)(ts_solver *solver);
  /* Fills vectors of its own that solves do not change. May be NULL. */
  ts_status (*prepare)(ts_solver *solver);
  /* One more sum of the residual that a recurrence begins with, next to its norm. May be NULL. */
  ts_status (*residual_sum)(const tsi_solve *s, tsi_dot *sum);
  /* Begins, and iterates from x and its residual r until `ended`, or max_iterations. */
  ts_status (*run)(tsi_solve *s);
  /* desc.fixed_iterations of them, without a look at a number. */
  ts_status (*run_fixed)(tsi_solve *s);
  /* For methods that run by tsi_solve_run and tsi_solve_run_fixed: begin from x and its residual r, make one
   * iteration, and look at the numbers of iterations reported .. checked-1. */
  ts_status (*begin)(tsi_solve *s);
  ts_status (*iterate)(tsi_solve *s);
  ts_status (*judge)(tsi_solve *s, int checked);
  /* How many of `steps` iterations should come before the next check, at least 1. NULL: all. */
  int (*round_steps)(const tsi_solve *s, int steps);
  /* Brings what has not yet been added to x into it, and its residual into the result. */
  ts_status (*settle)(tsi_solve *s);
} tsi_method;

struct ts_solver {
  ts_context *context;
  ts_matrix *matrix,
      *transposed; /* transposed: least squares, else NULL; desc.transposed or the matrix's own */
  const tsi_method *method;
  ts_solver_desc desc;               /* resolved */
  ts_preconditioner *preconditioner; /* given, or the solver's own. Of cgls Jacobi is one of A^T A */
  int pipelined;                     /* iterations begun before a check's numbers are awaited */
  int on_device;                     /* cg: the device iterates by itself, up to the next check */
  int ring;                          /* iterations whose numbers the slots hold */
  int own_vectors, own_row_vectors, own_slots, history_size, work_size; /* by plan() */
  int most_own_vectors; /* that there may come to be; as many if plan() says nothing else */
  int restart_is_open;  /* gmres: the restart is the default, and may grow */
  double *history;      /* for the progress callback */
  double *work;         /* the method's, on the host */
  double *numbers;      /* the slots on the host */

  /* Workspace for vectors of `components`, 0 if there is none yet. */
  int components, vector_count;
  int pairs; /* precision double: its vectors have two parts, but for m, and z where it is not m times */
  ts_vector **vectors;  /* all of them */
  ts_vector *e;         /* what iterations have added since x last took it in */
  ts_vector *b, *r;     /* over rows */
  ts_vector *r_low;     /* mixed precision: the low part of r while it is computed from x; else NULL */
  int residual_parts;   /* of x and A that matter for a residual of the size that is expected: 2 or 3 */
  ts_vector *x, *x_new; /* over columns. x_new: NULL for cg and richardson, which always take e in. In mixed
                           precision b, x and x_new have low parts */
  ts_vector *gradient;  /* A^T r of least squares, else NULL */
  ts_vector *best;      /* cg, richardson: the best x, once x has become worse than that; else NULL */
  ts_vector *m;         /* 1 / diagonal, or of a matrix far from 1 that of its size; NULL without it */
  ts_vector *z;         /* M^-1 times a vector; NULL where it is not needed */
  ts_vector *scratch;   /* NULL if all operations are fused */
  ts_vector **own;      /* the method's, named once more: it may exchange them */
  ts_scalars *slots;
  tsi_null_space *null_space; /* NULL: none that could be taken out */
  double frobenius;           /* norm of A, with Jacobi of least squares */
  int jacobi_changes;         /* of `transposed` when m was written; -1: it was not */
  int is_running;             /* a solve, whose functions of the caller's may not begin another with it */

  /* Auto in stages (stages.c). */
  tsi_stages *stages;    /* of the caller's solver, if auto may go on with others; else NULL */
  tsi_stages *part_of;   /* of each stage: those stages; else NULL */
  int iterations_before; /* of the stages before in a solve */
  int is_left;           /* the stage has ended its iterations itself */
  double stage_best;     /* the smallest number of the history, */
  double stage_low;      /* and since r was last computed from x, */
  int stage_verified;    /* in this iteration */
  double least_left;     /* with TS_REASON_INCOMPATIBLE: ||r|| / ||b|| without the part that no x reaches, */
  double least_gradient; /* and of a stage ||A r|| / (||A|| ||r||): 0 if ||r|| is the smallest that there is */
};

/* The slots that all methods have; the method's own follow. */
enum {
  TSI_SLOT_SCALE, /* a power of two that brings max |b| to about 1 */
  TSI_SLOT_UNSCALE,
  TSI_SLOT_MAX_B,
  TSI_SLOT_MAX_X, /* only where x may overflow or has low parts, something is not finite, or it matters whether
                     x is 0 */
  TSI_SLOT_BB,    /* b^T b */
  TSI_SLOT_GB,    /* |A^T b|^2 of least squares */
  TSI_SLOT_DX,    /* x^T D D x with D = diag(A), or diag(A^T A) */
  TSI_SLOT_RR,    /* r^T r with r = b - A x computed from x */
  TSI_SLOT_GG,    /* |A^T r|^2 of least squares */
  TSI_SLOT_OWN
};

enum { TSI_IDR_DIMENSION = 8 /* s of IDR(s) */, TSI_RESTART = 30 /* of gmres */, TSI_LONGEST_RESTART = 200 };

/* A solve under way. All numbers are of the scaled system. */
struct tsi_solve {
  ts_solver *solver;
  ts_result *result;
  const ts_vector *user_b;
  int b_exponent;         /* of user_b */
  ts_vector *kept;        /* x with all parts between two precisions */
  int at_limit;           /* the reason is the precision */
  ts_precision precision; /* at present: single, mixed or double */
  int precision_from;     /* the iteration since */
  int x_is_zero;          /* x + e rounds nothing */
  int x_was_zeroed;       /* the user's x was no start: the workspace's is 0 in its place */
  int iteration;          /* done so far */
  int reported;           /* iterations whose numbers were read */
  int ended;
  double norm_b[4];
  double norm_constrained[4]; /* where b = 0: of what constrained unknowns bring in its place */
  double
      norm_rule[4]; /* what rtol is relative to: that of b (or A^T b), or where it is 0 of the first residual */
  double norm_start[4]; /* of the first residual (or gradient) */
  double norm_r[4];     /* of x's */
  double left_start;    /* the first ||r|| / ||b|| */
  double tolerance[4];  /* what the rule asks of norm_r */
  int scale_x[4];       /* the user's x is x times 2^-scale_x */
  int is_far;           /* x may overflow by that: its largest number is read with its residual */
  int read_as_doubles;  /* x, from the user's vector */
  int is_rounded;       /* the workspace's x was, to doubles */
  double max_x[4];      /* of x, then */
  double dx[4];         /* ||diag(A) x|| when it was last measured, 0 before */
  double null_part[4]; /* norm of b's part in the null space that is known, which b, r and norm_b are without */
  double incompatible[4]; /* norm of what the method has found of b that no x reaches, which r is without */
  int projections;        /* how often such a part was taken out of b */
  double measure;         /* of x: the largest norm_r / norm_rule, with what rounding adds to it */
  double best;            /* the smallest relative residual of an x that was measured */
  int best_is_kept;       /* in k->best, since x is no longer that */
  int met;                /* by x: the rule */
  int settled;            /* e is part of x, and the result has the numbers of x */

  /* r, e and the directions are those of the system times this power of two: 1 until the residual is so small
   * that its squares would leave the range of single precision. Numbers of iterations before scale_from are of
   * the scale before. */
  double scale, scale_before;
  int scale_from;

  /* Since the method last began from x, and how it fared. */
  int phase_start;   /* the iteration */
  double phase_best; /* smallest number of the history, and when it was seen */
  int phase_best_at; /* iteration */
  double phase_peak; /* largest number of the history: from a new one on, others count as small */
  double phase_low;  /* smallest number of the history, or the last of a cycle of gmres */
  int in_vain;       /* restarts or verifications in a row that gained nothing */

  /* The smallest number of the history since an iteration, and before that (solver_progress.c). */
  int window_start;
  double window_best, window_before;
  int is_slow; /* at that pace the iterations that are left will not be enough */

  /* cg */
  int checked_mode; /* a check and d^T d in every iteration */
  int carried;      /* directions have gone on since r was last computed from x */
  int never_carry;  /* that has been in vain */
  double delta_0[4];
  double delta_begin[4]; /* when r was last computed from x */
  double direction[4];   /* d^T M d of the iteration that comes next, from the recurrence */
  double verified;       /* the smallest measure of a verification */
  double peak[4];        /* the largest norm of r, or square root of delta, since r was last computed from x */
  /* minres: components, as bits, for which e is a part of M^-1 r and none of x (minres_singular.c) */
  unsigned purified;
  /* gmres: columns of the Hessenberg matrix that the host has seen; there is no memory for a longer cycle */
  int columns, is_full;
  /* bicgstab, idr: since r was last b - A (x + M^-1 e) computed from x */
  int replaced_at;                /* the iteration */
  double largest;                 /* number of the history */
  double phase_start_measure;     /* of the phase's first x */
  int false_convergences;         /* in a row, whose residual had not halved */
  int shadow;                     /* restarts that asked for another shadow vector */
  double number_now, number_kept; /* of the history: the last, and of the e that was kept */
  int kept_at;                    /* the iteration of that e, -1: none */
  /* idr: where the present round of s + 1 products began; how many g_i there are, and the iterations that made
   * them */
  int round_start, directions, made_at[TSI_IDR_DIMENSION];
};

/* What rounding leaves of a number in the iterations. */
/* Of all ranks; those beyond an int32_t do not change what is decided by them. */
static inline int32_t tsi_unknowns(const ts_matrix *A) {
  return A->all_rows > INT32_MAX ? INT32_MAX : A->all_rows ? (int32_t)A->all_rows : A->info.columns;
}
/* So many iterations without a better residual are too many. */
static inline int tsi_window(const ts_matrix *A) {
  return tsi_unknowns(A) > 1000 ? tsi_unknowns(A) : 1000;
}
/* After so many the method begins again. Where n directions solve n unknowns but for rounding, restarts are in
 * time for a budget of 10 n. Of the factors from 1 to 8, 3 solved the most of 150 systems by BiCGSTAB. */
static inline int tsi_patience(const ts_matrix *A, int factor) {
  const double n = factor * (double)tsi_unknowns(A), most = tsi_window(A);
  return (int)(n > most ? most : n > 50 ? n : 50);
}
static inline double tsi_epsilon(const ts_solver *k) {
  return k->pairs ? 0x1p-46 : 0x1p-24;
}
static inline int tsi_is_memory(ts_status status) {
  return status == TS_ERROR_OUT_OF_HOST_MEMORY || status == TS_ERROR_OUT_OF_DEVICE_MEMORY;
}
/* It multiplies by A^T too, and is about A^T (b - A x). */
static inline int tsi_is_least_squares(ts_method method) {
  return method == TS_METHOD_CGLS || method == TS_METHOD_LSMR;
}
/* It is for symmetric matrices and preconditioners. */
static inline int tsi_is_symmetric_method(ts_method method) {
  return method == TS_METHOD_CG || method == TS_METHOD_MINRES;
}
/* Jacobi's m is the method's own, since M has to be positive and the diagonal need not be. */
/* M is of the user's matrix, or of a stored one with the other sign. One that is said to be symmetric is
 * positive definite, whatever the sign of A. */
static inline int tsi_differs_in_sign(const ts_solver *k) {
  const ts_preconditioner *M = k->preconditioner;
  const int is_negated = k->matrix->negated;
  return M->kind->has_scale ? M->matrix->negated != is_negated : k->z && is_negated && !M->desc.symmetric;
}
static inline int tsi_writes_jacobi(const ts_solver *k) {
  return k->desc.method == TS_METHOD_MINRES && tsi_preconditioner_inverts_diagonal(k->preconditioner);
}
static inline double tsi_number(const ts_solver *k, int slot, int component) {
  return k->numbers[4 * slot + component];
}
/* A NaN wins. */
static inline double tsi_larger(double a, double b) {
  return a != a || a > b ? a : b;
}
/* ---- solver_resolve.c ---- */

/* Checks a descriptor for A, and fills in the defaults but for those of cg, which depend on the preconditioner.
 */
ts_status tsi_solver_resolve(const ts_matrix *A, const ts_solver_desc *desc, ts_solver_desc *out);
/* For ts_solver_desc.check_interval. */
int tsi_check_interval(const ts_matrix *A, const ts_preconditioner *M);
/* ---- solver.c ---- */

/* ts_solver_create and ts_solver_solve of valid arguments, without stages, within the caller's entry. */
ts_status tsi_solver_create(ts_matrix *matrix, const ts_solver_desc *desc, ts_solver **solver);
ts_status tsi_solver_solve_once(ts_solver *solver, const ts_vector *b, ts_vector *x, ts_result *result);
/* The solver's own preconditioner, if the matrix has other values than it was made from. */
ts_status tsi_solver_update_preconditioner(const ts_solver *k);

/* ---- solver_resolve.c, again ---- */

/* isai is known to be symmetric only once it is made, and may change with the matrix's values. */
ts_status tsi_solver_check_symmetric(ts_method method, const ts_preconditioner *M);

/* ---- solver_workspace.c ---- */

/* What is on the host, of which plan() tells how much. On failure the caller frees what there is. */
ts_status tsi_solver_allocate(ts_solver *k);
void tsi_solver_free(const ts_solver *k);
ts_status tsi_solver_create_workspace(ts_solver *k, int components, int pairs);
void tsi_solver_destroy_workspace(ts_solver *k);
/* Within a solve: plan() has asked for more vectors, slots and numbers of its own than there were in `before`.
 * The vectors and the slots of all methods keep what they hold. On failure nothing has changed but the plan. */
ts_status tsi_solver_extend_workspace(ts_solver *k, const ts_solver *before);

/* ---- solver_run.c ---- */

/* A whole solve of the user's b and x on a prepared workspace. `s` is new, or the same solve in another
 * precision, which goes on from s->kept: where it is there afterwards, the solve should go on with pairs. */
ts_status tsi_solver_run(tsi_solve *s, const ts_vector *b, ts_vector *x);
tsi_solve tsi_solve_of(ts_solver *k, const ts_vector *b, ts_result *result);

/* ---- solver_precision.c ---- */

/* Brings b and x into the workspace, scaled. Constrained rows of b are no equations and become 0. */
ts_status tsi_solve_take_in(tsi_solve *s, const ts_vector *b, const ts_vector *x, int from_zero);
/* x from a vector of the user's into the workspace, scaled, and back into a vector that gets this exponent. */
ts_status tsi_solve_read_x(const tsi_solve *s, const ts_vector *x);
ts_status tsi_solve_write_x(const tsi_solve *s, ts_vector *x, int exponent);
/* x without its part in the null space, if one is known. */
ts_status tsi_solve_leave_null_space(tsi_solve *s);
/* b alone, when the other numbers of the start are known. */
ts_status tsi_solve_take_in_b(tsi_solve *s, const ts_vector *b);
/* Whether the matrix has constrained rows; and out = v where there are equations, else 0, which uses e's first
 * part. */
int tsi_solve_has_constrained(const ts_solver *k);
ts_status tsi_solve_drop_constrained(const ts_solver *k, ts_vector *out, const ts_vector *v);
void tsi_solve_set_precision(tsi_solve *s, ts_precision precision);
/* Before x takes in e. The first sum is exact without low parts; where auto has more to add, x gets them. */
ts_status tsi_solve_make_room(tsi_solve *s);
/* Brings r, which has just been computed from x, to about 1 where it is small; the power of two in `factor` is
 * what directions have to be multiplied by. */
ts_status tsi_solve_rescale(tsi_solve *s, double *factor);

/* ---- solver_start.c ---- */

/* Takes the norms of the start, and ends the solve where there is nothing to iterate. */
ts_status tsi_solve_judge_start(tsi_solve *s, const ts_vector *x, int from_zero);
/* The result's numbers are those of an x whose residual (or gradient) has these norms, as the solve begins or
 * auto goes on. */
void tsi_solve_set_start(tsi_solve *s, const double norms[4]);

/* ---- solver_reason.c ---- */

/* The reason and its text, or `message`, into the result. */
void tsi_solve_finish(tsi_solve *s, ts_reason reason, const char *message);
/* Converged, but for a part of b that no x reaches. */
void tsi_solve_finish_converged(tsi_solve *s);
/* "stagnated in single precision at ...", and what may help. */
void tsi_solve_finish_stagnated(tsi_solve *s);
void tsi_solve_finish_at_maximum(tsi_solve *s);
/* Sets `reported`, and `ended` where the callback stops the solve. */
void tsi_solve_progress(tsi_solve *s, int checked, int count);
/* The norm of all that no x reaches. */
double tsi_solve_unreachable(const tsi_solve *s, int component);
/* Of a component of b or of a residual, with what no x reaches. */
double tsi_solve_whole_norm(const tsi_solve *s, int component, double norm);
/* The largest part of b that no x reaches, relative to ||b||; 0 if none is known. */
double tsi_solve_incompatible(const tsi_solve *s);

/* ---- solver_progress.c ---- */

void tsi_solve_begin_windows(tsi_solve *s);
/* A number of the history. */
static inline void tsi_solve_note(tsi_solve *s, double number) {
  if (number < s->window_best) s->window_best = number;
}
/* Whether auto should go on in double though this precision has not come to its end. Numbers of the history are
 * relative to `norms`. */
int tsi_solve_should_rise(tsi_solve *s, int checked, const double norms[4]);

/* ---- solver_verify.c ---- */

/* r = b - A x, in least squares the gradient too. */
ts_status tsi_solver_residual(const ts_solver *k, const ts_vector *x);
/* That of the start, and the norm of b. With a start from 0 the residual is b. */
ts_status tsi_solve_first_residual(const tsi_solve *s, int from_zero);
ts_status tsi_solver_read_slots(const ts_solver *k);
/* The residual of x, and the numbers that tell what x is worth, on the host. */
ts_status tsi_solve_measure(const tsi_solve *s, const ts_vector *x, ts_vector *work);
/* The numbers in the slots are those of x. */
void tsi_solve_take_over(tsi_solve *s);
/* Whether rounding x to doubles may show in the residual. */
int tsi_solve_rounding_may_show(const tsi_solve *s);
/* An x that meets the rule becomes what doubles hold of it, which is what its reader gets, if that may show.
 * Then it is judged again. */
ts_status tsi_solve_round(tsi_solve *s, ts_vector *work);
/* x may overflow in the user's vector, or be rounded there. */
static inline int tsi_solve_needs_max_x(const tsi_solve *s) {
  return s->is_far || s->solver->matrix->loses_digits || (s->read_as_doubles && s->solver->x->low);
}
/* The slot of the norm that the rule is about. */
static inline int tsi_norm_slot(const ts_solver *k) {
  return k->transposed ? TSI_SLOT_GG : TSI_SLOT_RR;
}
/* That norm of a component, relative to b's or A^T b's. */
double tsi_solve_relative(const tsi_solve *s, int c, double norm);
/* out = x + e, or with a preconditioner from the right x + M^-1 e. */
ts_status tsi_solve_add(const tsi_solve *s, ts_vector *out, const ts_vector *e);
/* x = x + e (right-preconditioned: M^-1 e), computes its residual, and the numbers of state and result.
 * Synchronises with the device. `work` is over the columns and is overwritten. */
ts_status tsi_solve_accept(tsi_solve *s, const ts_vector *e, ts_vector *work);
/* k->best becomes x - e / scale, which was the best x until x took e in: where it has become worse, or may
 * have. */
ts_status tsi_solve_keep_before(tsi_solve *s, const ts_vector *e, double scale);
/* After a failure: x becomes the best that was kept, if that is better. */
ts_status tsi_solve_take_best(tsi_solve *s);
/* The same only if that makes the residual smaller. Afterwards r is x's. */
ts_status tsi_solve_try(tsi_solve *s, const ts_vector *e, ts_vector *work);
/* The same for every e that is finite: the best x is kept. */
ts_status tsi_solve_try_anyway(tsi_solve *s, const ts_vector *e, ts_vector *work);

/* ---- solver_iterate.c ---- */

/* out = M^-1 v, and out = A M^-1 v, which uses z. */
ts_status tsi_solver_precondition(const ts_solver *k, ts_vector *out, const ts_vector *v);
ts_status tsi_solver_apply(const ts_solver *k, ts_vector *out, const ts_vector *v);
/* A new direction of conjugate gradients: d = M^-1 r + beta d, where z is M^-1 r if M is no diagonal. */
ts_status tsi_solver_turn(const ts_solver *k, ts_vector *d, const ts_vector *r, ts_coefficient beta);

typedef ts_status (*tsi_iterate_fn)(tsi_solve *s);
/* Reads the slots `first` .. `first + count - 1` while the device goes on with `pipelined` iterations. */
ts_status tsi_solve_read(tsi_solve *s, int first, int count, int pipelined, tsi_iterate_fn iterate);
/* How many steps: after a start or a restart checks begin with every iteration and double their distance. */
void tsi_solve_plan_steps(const tsi_solve *s, int done, int *steps, int *pipelined);

ts_status tsi_solve_run(tsi_solve *s);
ts_status tsi_solve_run_fixed(tsi_solve *s);
/* What a recurrence says of the iteration whose sums of squares are in `slot`: its norm relative to the rule's,
 * the largest of the components, and whether the rule is met. */
double tsi_solve_recurrence_residual(const tsi_solve *s, int slot);
int tsi_solve_recurrence_converged(const tsi_solve *s, int slot);

/* ---- The methods ---- */
extern const tsi_method tsi_cg, tsi_bicgstab, tsi_idr, tsi_gmres, tsi_cgls, tsi_richardson, tsi_minres,
    tsi_lsmr;
/* cg_resolve.c: what the descriptor leaves open; and whether the device iterates by itself, which it does only
 * where nothing else is asked for. */
ts_status tsi_cg_resolve(const ts_matrix *A, const ts_preconditioner *M, ts_solver_desc *desc);
int tsi_cg_runs_on_device(const ts_matrix *A, const ts_preconditioner *M, const ts_solver_desc *resolved);
/* cgls.c: 1 / diag(A^T A) into m. */
ts_status tsi_cgls_write_jacobi(ts_solver *k);
/* minres.c: 1 / |diagonal| into m. */
ts_status tsi_minres_write_jacobi(ts_solver *k);

#endif
