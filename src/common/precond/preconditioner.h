/* A preconditioner applies z = M^-1 r for a solver; its kind is a table of functions.
 *
 * The files:
 *
 * - preconditioner.c: the API
 * - choose.c, choose_facts.c: the choice of auto
 * - kinds.c: the table of kinds, and the small kinds
 * - block_jacobi.c, chebyshev.c, isai.c, ilu/, amg/
 * - multigrid/: hierarchies
 * - direct.h: factors
 * - balance.c: the dense systems of these
 *
 * A new kind adds a table, its line in kinds.c and one in TS_PRECONDITIONER_LIST. */
#ifndef TSI_PRECONDITIONER_H
#define TSI_PRECONDITIONER_H

#include <texsolve/preconditioner.h>

#include "common/core/backend.h"

typedef struct tsi_preconditioner_kind tsi_preconditioner_kind;

/* As in ts_preconditioner_info. All ranks have the same result. */
typedef struct tsi_cost {
  double products, sums, operations;
  int waits; /* each application waits for the device, because the host computes a part of it */
} tsi_cost;

struct ts_preconditioner {
  ts_context *context;
  int references;
  const tsi_preconditioner_kind *kind;
  ts_matrix *matrix;           /* A */
  ts_preconditioner_desc desc; /* resolved */
  int changes;                 /* A->changes when M was computed */
  void *state;                 /* of the kind; may be NULL */
  tsi_cost cost;
  double seconds;                  /* of the last set-up */
  size_t bytes_device;             /* allocated by set-ups, and for vectors */
  double rtol;                     /* tolerance of the solver, used by auto; 0: unknown */
  char choice[200];                /* the kind that auto has chosen, and the reason */
  ts_preconditioner_kind left_out; /* the first choice of auto if it was abandoned; auto: none */
};

/* Fields of the descriptor that only some kinds use. */
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

/* Functions may be NULL unless their comment excludes it. */
struct tsi_preconditioner_kind {
  ts_preconditioner_kind kind;
  unsigned fields;            /* TSI_FIELD_... */
  int is_from_matrix;         /* needs only the matrix, so solvers can create it */
  int needs_entries;          /* is computed from the matrix's host copy */
  int reads_entries;          /* reads the entries from the device if there is no host copy */
  int accepts_device_entries; /* tsi_preconditioner_reads_on_device is enough */
  int is_exact;               /* M = A up to rounding, so the method is refinement */
  int is_double;              /* apply writes all parts of z; other kinds write only the first */
  int needs_diagonal;         /* an operator may lack one */
  int has_scale; /* M^-1 has the scale of the stored values, the user's times 2^-exponent; otherwise that of the
                    user's, or none */
  const char *unsymmetric; /* the error if M is not symmetric and the solver is cg */

  /* Auto: chooses the kind of M. */
  ts_status (*choose)(const ts_matrix *A, double rtol, ts_preconditioner_kind *kind, char *choice, size_t size);
  /* Validates the fields that belong to the kind, and sets their defaults. */
  ts_status (*resolve)(const ts_matrix *A, ts_preconditioner_desc *desc);
  /* Compute M->state from the current values of the matrix: the first time, and after changes. A failure leaves
   * M unchanged. */
  ts_status (*create)(ts_preconditioner *M);
  ts_status (*update)(ts_preconditioner *M);
  void (*destroy)(ts_preconditioner *M);
  /* Called after create if auto chose the kind: returns 1 and the reason if Jacobi is better after all. */
  int (*disappoints)(const ts_preconditioner *M, char *why, size_t size);
  ts_status (*measure)(const ts_preconditioner *M, tsi_cost *cost);           /* NULL: no cost */
  void (*describe)(const ts_preconditioner *M, ts_preconditioner_info *info); /* sets fields of the kind */
  int (*is_symmetric)(const ts_preconditioner *M);                            /* NULL: always */

  /* If M is a diagonal, the solver stores M^-1 in its own workspace and fuses it into its passes: m = M^-1.
   * Kinds with this function have neither prepare nor apply; all others have apply. */
  ts_status (*write_diagonal)(const ts_preconditioner *M, ts_vector *m);
  /* Prepares M for vectors with this number of components and allocates its own vectors, or returns an error.
   * Must not be called inside another function of the library. */
  ts_status (*prepare)(const ts_preconditioner *M, int components);
  ts_status (*apply)(const ts_preconditioner *M, ts_vector *z, const ts_vector *r);
  int writes_low; /* apply writes all parts of z; otherwise only the first, and solvers have no others */
  /* For an M that knows a null space of the matrix: removes the part of b outside the range of A, and returns
   * its norm. Costs one host synchronisation in this case, otherwise none. */
  ts_status (*project)(const ts_preconditioner *M, ts_vector *b, double *removed);
};

/* ---- kinds.c ---- */

/* The functions of a kind; NULL if the kind is unknown. */
const tsi_preconditioner_kind *tsi_preconditioner_row(ts_preconditioner_kind kind);

/* ---- preconditioner.c ---- */

/* ts_preconditioner_create for a valid matrix and descriptor, inside the caller's entry. A need not be square
 * if the kind is a diagonal that the solver writes itself, as in cgls. */
ts_status tsi_preconditioner_create(ts_matrix *A, const ts_preconditioner_desc *desc, ts_preconditioner **out);
/* As above, for a solver with this tolerance. */
ts_status tsi_preconditioner_create_for(ts_matrix *A, const ts_preconditioner_desc *desc, double rtol,
                                        ts_preconditioner **out);
void tsi_preconditioner_retain(ts_preconditioner *M);
/* Whether AMG needs no host copy of A. If it has to work on the host after all, it reads the entries back. */
int tsi_preconditioner_reads_on_device(const ts_matrix *A);
/* Whether A has the entries that this kind of preconditioner requires, on the host or on the device. */
int tsi_preconditioner_has_entries(const ts_matrix *A, ts_preconditioner_kind kind);

/* M is a diagonal, which the solver stores in its own workspace. */
static inline int tsi_preconditioner_is_diagonal(const ts_preconditioner *M) {
  return M->kind->write_diagonal != NULL;
}
/* Jacobi, which divides by the matrix's diagonal. */
static inline int tsi_preconditioner_inverts_diagonal(const ts_preconditioner *M) {
  return M->kind->write_diagonal && M->kind->has_scale;
}
/* Conjugate gradients accept M. */
static inline int tsi_preconditioner_is_symmetric(const ts_preconditioner *M) {
  return !M->kind->is_symmetric || M->kind->is_symmetric(M);
}
/* M^-1 approximates the inverse of the user's matrix times 2^exponent, and times -1 if it is negated. */
static inline int tsi_preconditioner_is_negated(const ts_preconditioner *M) {
  return M->kind->has_scale && M->matrix->negated;
}
static inline int tsi_preconditioner_exponent(const ts_preconditioner *M) {
  return M->kind->has_scale ? M->matrix->exponent : 0;
}
/* Prepares M for vectors with this number of components. The error explains why M cannot be applied. */
ts_status tsi_preconditioner_prepare(ts_preconditioner *M, int components);
/* z = M^-1 r for a kind that is not diagonal; the context must be entered. */
static inline ts_status tsi_precondition(const ts_preconditioner *M, ts_vector *z, const ts_vector *r) {
  return M->kind->apply(M, z, r);
}
/* The entries of all ranks that one application reads, divided by those of A; `entries` is the number of this
 * rank. */
ts_status tsi_preconditioner_products(const ts_preconditioner *M, double entries, double *products);

/* ---- choose.c ---- */

/* Chooses the kind for the matrix's current values; `choice` is the kind and the reason. `rtol`: tolerance of
 * the solver; 0: unknown. */
ts_status tsi_preconditioner_choose(const ts_matrix *A, double rtol, ts_preconditioner_kind *kind, char *choice,
                                    size_t size);
/* The choice of auto without set-up: Jacobi, or none if the diagonal is unknown or has a zero. */
ts_preconditioner_kind tsi_preconditioner_choose_diagonal(const ts_matrix *A);
enum {
  TSI_AUTO_ROWS = 8192,  /* smaller matrices get a diagonal */
  TSI_CHANGE_ROWS = 2000 /* in smaller ones no solve changes to AMG */
};
/* Whether auto needs the current host copy of the matrix, because it would choose a kind that uses it, or may
 * change to one. If it chooses another kind, the matrix stores the reason. */
ts_status tsi_preconditioner_wants_copy(ts_matrix *A, int *wanted);

/* ---- choose_facts.c ---- */

/* Auto reads the host copy of a matrix each time, since the values may have changed. Without a host copy it
 * uses facts that were found when the matrix got its values. */

/* Finds these facts. `entries` are in host memory, valid, floats or doubles; columns ascend in each row without
 * duplicates. A stores them times 2^-exponent, or -2^-exponent if `negated`, as returned by tsi_csr_scale. Call
 * it after A has its spaces and info, and after A->changes counts these values: the next change discards the
 * facts. Finds nothing without values, nor if A is not square, has constrained rows or belongs to several
 * ranks. */
ts_status tsi_preconditioner_find_facts(ts_matrix *A, const tsi_csr *entries, int exponent, int negated);
/* Whether there is a host copy, or facts of the current values. The next two functions require that. */
int tsi_preconditioner_knows_entries(const ts_matrix *A);
/* The time of a product and the operations on vectors of an iteration, by the measurements of the tuning.
 * `rows` and `entries` are those of all ranks. */
double tsi_preconditioner_product_time(const ts_matrix *A, double rows, double entries, int components);
/* The time of an iteration of conjugate gradients with Jacobi, or with Chebyshev if auto may choose it, and the
 * time of AMG with set-up and cycles in such iterations. `cycles`: those of all components, as a part of the
 * cycles that one component needs to 1e-8. */
double tsi_preconditioner_iteration_time(const ts_matrix *A, ts_preconditioner_kind kind, double rows,
                                         double entries, int components);
double tsi_preconditioner_amg_price(const ts_matrix *A, ts_preconditioner_kind kind, double rows,
                                    double entries, int components, double cycles);
/* Collective: all ranks call it together and get the same result. The other functions are rank-local. */
ts_status tsi_preconditioner_couplings(const ts_matrix *A, tsi_couplings *couplings);
/* Whether each row of a sample has off-diagonal magnitudes that add up to at most nine tenths of its diagonal.
 * Jacobi as a standalone iteration then takes some 200 iterations, and Krylov methods a tenth of that. */
int tsi_preconditioner_is_dominant(const ts_matrix *A);
/* Whether an unsymmetric matrix looks like one of convection and diffusion, which AMG can solve: the sampled
 * rows have positive diagonals, and most have sums of about 0. */
int tsi_preconditioner_is_transport(const ts_matrix *A);
/* Whether rows form groups with one pattern, as on a mesh with several unknowns per node. AMG then takes as
 * long as Jacobi, unless its descriptor has the number of unknowns. */
int tsi_preconditioner_has_nodes(const ts_matrix *A);
/* Whether A is in compressed rows, with entries on few diagonals (tsi_csr_diagonals). */
int tsi_preconditioner_on_diagonals(const ts_matrix *A);
/* Whether the backend then computes all steps of Chebyshev in one sweep. */
int tsi_preconditioner_sweeps_diagonals(const ts_matrix *A);

/* ---- balance.c ---- */

/* Multiplies a_ij of an n x n matrix, n up to 64, by 2^(rows[i] + columns[j]), so that the maxima of all rows
 * and columns are close to each other. If they already are, the matrix stays unchanged. */
void tsi_balance(double *a, int n, int *rows, int *columns);

/* ---- The kinds: each is defined in the file of its kind ---- */
extern const tsi_preconditioner_kind tsi_preconditioner_auto, tsi_preconditioner_block_jacobi,
    tsi_preconditioner_chebyshev, tsi_preconditioner_isai, tsi_preconditioner_amg, tsi_preconditioner_direct,
    tsi_preconditioner_ilu, tsi_preconditioner_ic;

#endif
