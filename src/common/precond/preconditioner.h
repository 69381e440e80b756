/* What a preconditioner is to a solver: something that applies z = M^-1 r, of a kind that is a row of
 * functions.
 *
 * The path: preconditioner.c (API), choose.c and choose_facts.c (what auto becomes), kinds.c (the rows, and the
 * kinds that are small), block_jacobi.c, chebyshev.c, isai.c, ilu/, amg/, multigrid/ (hierarchies), direct.h
 * (factors); balance.c for the dense systems of these. A new kind is a row, its line in kinds.c and one in
 * TS_PRECONDITIONER_LIST. */
#ifndef TSI_PRECONDITIONER_H
#define TSI_PRECONDITIONER_H

#include <texsolve/preconditioner.h>

#include "common/core/backend.h"

typedef struct tsi_preconditioner_kind tsi_preconditioner_kind;

/* As in ts_preconditioner_info. All ranks have one result. */
typedef struct tsi_cost {
  double products, sums, operations;
} tsi_cost;

struct ts_preconditioner {
  ts_context *context;
  int references;
  const tsi_preconditioner_kind *kind;
  ts_matrix *matrix;           /* that it was made for */
  ts_preconditioner_desc desc; /* resolved */
  int changes;                 /* of the matrix when M was computed */
  void *state;                 /* the kind's; NULL: it has none */
  tsi_cost cost;
  double seconds;                  /* of the last set-up */
  size_t bytes_device;             /* taken by set-ups and vectors */
  double rtol;                     /* of the solver that it is for, which auto looks at; 0: not known */
  char choice[200];                /* what auto has become, and why */
  ts_preconditioner_kind left_out; /* what auto chose before, and was made in vain; auto: nothing */
};

/* Fields of the descriptor that belong to some kinds only. */
enum {
  TSI_FIELD_BLOCK_SIZE = 1,
  TSI_FIELD_MULTIGRID = 2,
  TSI_FIELD_AMG = 4,
  TSI_FIELD_DEGREE = 8,
  TSI_FIELD_CUSTOM = 16,
  TSI_FIELD_DIRECT = 32,
  TSI_FIELD_ILU = 64,
  TSI_FIELD_SCALING = 128
};

/* Functions may be NULL unless they say otherwise. */
struct tsi_preconditioner_kind {
  ts_preconditioner_kind kind;
  unsigned fields;          /* TSI_FIELD_... */
  int is_from_matrix;       /* the matrix alone makes it, so that solvers can */
  int needs_entries;        /* it is computed from the matrix's host copy */
  int reads_entries;        /* from the device, if there is no such copy */
  int takes_device_entries; /* or from a matrix made on the device: there, or read back */
  int is_exact;             /* M = A but for rounding, so that refinement is the method */
  int is_double;            /* apply writes all parts of z; others write the first alone */
  int needs_diagonal;       /* which an operator may lack */
  int has_scale; /* M^-1 is that of the matrix's stored values, which are the user's times 2^-exponent; else it
                    is of no scale, or of the user's */
  const char *unsymmetric; /* the error if cg is given an M that is not symmetric */

  /* Auto: the kind that M will be. */
  ts_status (*choose)(const ts_matrix *A, double rtol, ts_preconditioner_kind *kind, char *choice, size_t size);
  /* Checks the fields that belong to the kind, and fills in their defaults. */
  ts_status (*resolve)(const ts_matrix *A, ts_preconditioner_desc *desc);
  /* M->state from the matrix's present values, at first and later. Both leave M as it was on failure. */
  ts_status (*create)(ts_preconditioner *M);
  ts_status (*update)(ts_preconditioner *M);
  void (*destroy)(ts_preconditioner *M);
  /* Of what auto has chosen and create has made: 1 and the reason if Jacobi is better after all. */
  int (*disappoints)(const ts_preconditioner *M, char *why, size_t size);
  ts_status (*measure)(const ts_preconditioner *M, tsi_cost *cost);           /* NULL: it costs nothing */
  void (*describe)(const ts_preconditioner *M, ts_preconditioner_info *info); /* adds fields of its own */
  int (*is_symmetric)(const ts_preconditioner *M);                            /* NULL: it is */

  /* If M is a diagonal, the solver has M^-1 in its own workspace and fuses it into its passes: m = M^-1. Kinds
   * that have this have neither prepare nor apply, and others have apply. */
  ts_status (*write_diagonal)(const ts_preconditioner *M, ts_vector *m);
  /* Whether M can be applied to vectors with this many components now, with vectors for it. Not within another
   * function of the library. */
  ts_status (*prepare)(const ts_preconditioner *M, int components);
  ts_status (*apply)(const ts_preconditioner *M, ts_vector *z, const ts_vector *r);
  int writes_low; /* apply writes all parts that z has; else the first, and solvers have no others */
  /* M knows that the matrix is singular: takes the part that no x reaches out of b, and returns its norm. One
   * host synchronisation then, else none. */
  ts_status (*project)(const ts_preconditioner *M, ts_vector *b, double *removed);
};

/* ---- kinds.c ---- */

/* The row of a kind; NULL if there is no such kind. */
const tsi_preconditioner_kind *tsi_preconditioner_row(ts_preconditioner_kind kind);

/* ---- preconditioner.c ---- */

/* ts_preconditioner_create of a valid matrix and descriptor, within the caller's entry: A need not be square if
 * the kind is a diagonal that the solver writes itself, as with cgls. */
ts_status tsi_preconditioner_create(ts_matrix *A, const ts_preconditioner_desc *desc, ts_preconditioner **out);
/* The same for a solver with this tolerance. */
ts_status tsi_preconditioner_create_for(ts_matrix *A, const ts_preconditioner_desc *desc, double rtol,
                                        ts_preconditioner **out);
void tsi_preconditioner_retain(ts_preconditioner *M);
/* Whether A has the entries that a preconditioner of this kind is computed from, on the host or on the device.
 */
int tsi_preconditioner_has_entries(const ts_matrix *A, ts_preconditioner_kind kind);

/* M is a diagonal, which the solver takes into its own workspace. */
static inline int tsi_preconditioner_is_diagonal(const ts_preconditioner *M) {
  return M->kind->write_diagonal != NULL;
}
/* Jacobi, which has to divide by the matrix's diagonal. */
static inline int tsi_preconditioner_inverts_diagonal(const ts_preconditioner *M) {
  return M->kind->write_diagonal && M->kind->has_scale;
}
/* Conjugate gradients may take it. */
static inline int tsi_preconditioner_is_symmetric(const ts_preconditioner *M) {
  return !M->kind->is_symmetric || M->kind->is_symmetric(M);
}
/* M^-1 is an inverse of the user's matrix times 2^exponent, and -1 if it is negated. */
static inline int tsi_preconditioner_is_negated(const ts_preconditioner *M) {
  return M->kind->has_scale && M->matrix->negated;
}
static inline int tsi_preconditioner_exponent(const ts_preconditioner *M) {
  return M->kind->has_scale ? M->matrix->exponent : 0;
}
/* Prepares M for vectors with this many components, or returns the error that says why it cannot be applied. */
ts_status tsi_preconditioner_prepare(ts_preconditioner *M, int components);
/* z = M^-1 r of a kind that is not diagonal; on a context that is entered. */
static inline ts_status tsi_precondition(const ts_preconditioner *M, ts_vector *z, const ts_vector *r) {
  return M->kind->apply(M, z, r);
}
/* Entries of all ranks that an application reads over those of A; `entries` are of this rank. */
ts_status tsi_preconditioner_products(const ts_preconditioner *M, double entries, double *products);

/* ---- choose.c ---- */

/* What auto becomes for the matrix's present values; `choice` says why. `rtol`: of a solver, 0: not known. */
ts_status tsi_preconditioner_choose(const ts_matrix *A, double rtol, ts_preconditioner_kind *kind, char *choice,
                                    size_t size);
/* What auto is if nothing is to be made: Jacobi, or none if the matrix has no diagonal to divide by. */
ts_preconditioner_kind tsi_preconditioner_choose_diagonal(const ts_matrix *A);
enum { TSI_AUTO_ROWS = 8192 }; /* smaller matrices get a diagonal */
/* Whether a matrix needs the host copy that it has at present, since auto makes something of it; if not the
 * matrix keeps the reason. */
ts_status tsi_preconditioner_wants_copy(ts_matrix *A, int *wanted);

/* ---- choose_facts.c ---- */

/* Auto looks at the host copy of a matrix each time, since its values may have changed. Without a host copy it
 * uses facts that were found when the matrix got its values. */

/* Finds these facts. `entries` are in host memory, valid, floats or doubles; columns ascend in each row without
 * duplicates. A stores them times 2^-exponent, or -2^-exponent if `negated`, as from tsi_csr_scale. Call it
 * after A has its spaces and info and A->changes counts these values: the next change forgets the facts. Finds
 * nothing without values, nor if A is not square, has constrained rows or belongs to several ranks. */
ts_status tsi_preconditioner_find_facts(ts_matrix *A, const tsi_csr *entries, int exponent, int negated);
/* Whether there is a host copy to look at, or facts of the present values. The next two functions need that. */
int tsi_preconditioner_knows_entries(const ts_matrix *A);
/* All ranks call it together, and find the same; the other functions are rank-local. */
ts_status tsi_preconditioner_couplings(const ts_matrix *A, tsi_couplings *couplings);
/* Whether all rows of a sample have at most nine tenths of their diagonal beside it: Jacobi alone takes some
 * 200 iterations then, and methods a tenth of that. */
int tsi_preconditioner_is_dominant(const ts_matrix *A);
/* Whether a matrix that is not symmetric looks like one of convection and diffusion, to AMG: a sample of rows
 * is positive on the diagonal and has sums of about 0. */
int tsi_preconditioner_is_transport(const ts_matrix *A);
/* Whether rows come in groups of one pattern, as those of a mesh whose nodes have several unknowns each: AMG,
 * unless it is told of them, takes as long as Jacobi there. */
int tsi_preconditioner_has_nodes(const ts_matrix *A);

/* ---- balance.c ---- */

/* Multiplies a_ij of an n x n matrix, n up to 64, by 2^(rows[i] + columns[j]), so that the largest numbers of
 * rows and of columns are near each other. A matrix that has this already stays as it is. */
void tsi_balance(double *a, int n, int *rows, int *columns);

/* ---- The rows: each is in the file that its kind is in ---- */
extern const tsi_preconditioner_kind tsi_preconditioner_auto, tsi_preconditioner_block_jacobi,
    tsi_preconditioner_chebyshev, tsi_preconditioner_isai, tsi_preconditioner_amg, tsi_preconditioner_direct,
    tsi_preconditioner_ilu, tsi_preconditioner_ic;

#endif
