/* What Krylov methods for matrices that are not symmetric have in common. The path: krylov.c (API, workspace),
 * krylov_run.c (start, verification, end of a solve), a method's own file (its iterations). */
#ifndef TSI_KRYLOV_H
#define TSI_KRYLOV_H

#include <texsolve/krylov.h>

#include "common/core/backend.h"
#include "solve_scale.h"

typedef struct tsi_krylov_state tsi_krylov_state;

typedef struct tsi_krylov_method {
  const char *name;
  /* How many vectors, slots and numbers on the host it needs, and for how many iterations the history. */
  void (*plan)(ts_krylov *solver);
  /* Fills vectors of its own that solves do not change. May be NULL. */
  ts_status (*prepare)(ts_krylov *solver);
  /* Iterates from x and its residual r until `ended`, or max_iterations. */
  ts_status (*run)(tsi_krylov_state *s);
  /* Brings what has not yet been added to x into it, and its residual into the result. */
  ts_status (*settle)(tsi_krylov_state *s);
} tsi_krylov_method;

struct ts_krylov {
  ts_context *context;
  ts_matrix *matrix;
  const tsi_krylov_method *method;
  ts_krylov_desc desc; /* resolved */
  int overlap;         /* iterations begun before a check's numbers are awaited */
  int own_vectors, own_slots, history_size, work_size; /* by plan() */
  double *history;                                     /* for the progress callback */
  double *work;                                        /* the method's, on the host */
  float *numbers;                                      /* the slots on the host */

  /* Workspace for vectors of `components`, 0 if there is none yet. */
  int components, vector_count; /* of which there is room for two more */
  ts_vector **vectors;          /* all of them */
  ts_vector *b, *x, *x_new, *r;
  ts_vector *m;       /* 1 / diagonal, or of a matrix far from 1 that of its size; NULL without it */
  ts_vector *z;       /* M^-1 times a vector; NULL without m */
  ts_vector *scratch; /* NULL if all operations are fused */
  ts_vector **own;    /* the method's */
  ts_scalars *slots;
};

/* The slots that all methods have; the method's own follow. */
enum {
  TSI_KRYLOV_SCALE, /* a power of two that brings max |b| to about 1 */
  TSI_KRYLOV_UNSCALE,
  TSI_KRYLOV_MAX_B,
  TSI_KRYLOV_MAX_X, /* only where x may overflow, or something is not finite */
  TSI_KRYLOV_BB,    /* b^T b */
  TSI_KRYLOV_DX,    /* x^T D D x with D = diag(A) */
  TSI_KRYLOV_RR,    /* r^T r with r = b - A x computed anew */
  TSI_KRYLOV_OWN
};

/* A solve under way. */
struct tsi_krylov_state {
  ts_krylov *solver;
  ts_cg_result *result;
  int iteration; /* done so far */
  int reported;  /* iterations whose numbers were read */
  int ended;
  double norm_b[4];     /* of the scaled b */
  double norm_rule[4];  /* what rtol is relative to: norm_b, or where b is 0 that of the first residual */
  double norm_start[4]; /* of the first residual */
  double norm_r[4];     /* of x's residual */
  double unscale[4];    /* what x is multiplied by at the end */
  int may_overflow;     /* by that */
  double max_x[4];      /* of x, then */
  double measure;       /* the largest of norm_r / norm_rule */

  /* Since the method last began anew from x, and how it fared. */
  int phase_start;   /* the iteration */
  double phase_best; /* smallest number of the history, and when it was seen */
  int phase_best_at; /* iteration */
  int columns;       /* GMRES: of the Hessenberg matrix that the host has seen */
  int in_vain;       /* restarts in a row that gained nothing */

  /* BiCGSTAB: since r was last b - A (x + M^-1 e) computed anew. */
  int replaced_at;            /* the iteration */
  double peak;                /* largest number of the history */
  double phase_start_measure; /* of the phase's first x */
  int claims_in_vain;         /* in a row, whose residual had not halved */
  int turn;                   /* restarts that asked for another shadow vector */
};

static inline double tsi_krylov_number(const ts_krylov *k, int slot, int component) {
  return k->numbers[4 * slot + component];
}

/* ---- krylov_run.c ---- */

/* A whole solve on a prepared workspace; b and x are the user's. */
ts_status tsi_krylov_run(ts_krylov *k, const ts_vector *b, ts_vector *x, ts_cg_result *result);

/* out = A M^-1 v; out is neither v nor z. */
ts_status tsi_krylov_apply(const ts_krylov *k, ts_vector *out, const ts_vector *v);
/* The reason and its text, or `message`, into the result. */
void tsi_krylov_finish(tsi_krylov_state *s, ts_reason reason, const char *message);
/* Takes x + M^-1 e if its residual, computed anew, is smaller than that of x. Afterwards r and the state's
 * numbers are those of x. Waits. `work` is overwritten. */
ts_status tsi_krylov_try(tsi_krylov_state *s, const ts_vector *e, ts_vector *work);
/* "stagnated at ...": with what single precision can reach. */
void tsi_krylov_finish_stagnated(tsi_krylov_state *s);
/* The callback; sets `ended` where it stops the solve. */
void tsi_krylov_progress(tsi_krylov_state *s, int checked, int count);

/* The user's descriptor with its defaults, for `unknowns` unknowns. */
ts_status tsi_krylov_resolve(ts_context *context, int32_t unknowns, const ts_krylov_desc *desc,
                             ts_krylov_desc *out);

/* ---- The methods ---- */
extern const tsi_krylov_method tsi_bicgstab, tsi_gmres;

#endif
