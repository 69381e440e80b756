/* Algebraic multigrid (AMG) by smoothed aggregation (Vanek, Mandel, Brezina 1996, "Algebraic multigrid by
 * smoothed aggregation for second and fourth order elliptic problems"). It needs only the matrix, which may be
 * symmetric positive definite, or a discretisation of convection and diffusion.
 *
 *   ts_amg_desc amg = {.sweeps = 1}; // fields that are 0 have their defaults; .amg = NULL: all defaults
 *   ts_preconditioner_desc desc = {.kind = TS_PRECONDITIONER_AMG, .amg = &amg};
 *   ts_preconditioner *M;
 *   ts_amg_info info;
 *   ts_preconditioner_create(A, &desc, &M);
 *   ts_preconditioner_get_amg_info(M, &info);
 *   printf("%d levels with %.2f times the entries of A\n", info.levels, info.operator_complexity);
 *   ts_preconditioner_destroy(&M);
 *
 * The set-up groups strongly connected unknowns into aggregates, which are the unknowns of the next level, and
 * repeats this until the level is small. One application of M^-1 is one cycle over the levels, in single
 * precision; the solver's precision is independent of it. A cycle is symmetric if the matrix is, as conjugate
 * gradients require. Threads, version, errors and ownership are as in texsolve.h.
 *
 * A matrix that is not symmetric needs bicgstab, idr or gmres as its solver. Aggregates follow the strong
 * couplings of A and A^T. The prolongator is smoothed by A and the restriction by A^T (Brezina, Manteuffel,
 * McCormick, Ruge and Sanders 2010, "Towards adaptive smoothed aggregation for nonsymmetric problems").
 * Eigenvalues may be complex, so the smoothers are polynomials in D^-1 A, with D the diagonal of A. For each
 * level gmres computes the polynomial from noise during the set-up (Loe and Morgan 2022, "Toward efficient
 * polynomial preconditioning for GMRES"). The set-up runs on the host, with every backend. The method is for
 * diffusion with convection, discretised by upwind or central differences or streamline diffusion, up to cell
 * Peclet numbers of about 100. */
#ifndef TEXSOLVE_AMG_H
#define TEXSOLVE_AMG_H

#include <texsolve/preconditioner.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The smoother damps the part of the error that the next level cannot correct. Name, value, text. */
#define TS_AMG_SMOOTHER_LIST(X)                                                                                \
  X(TS_AMG_SMOOTHER_AUTO, 0, "auto")           /* chebyshev; polynomials by gmres if A is not symmetric */     \
  X(TS_AMG_SMOOTHER_CHEBYSHEV, 1, "chebyshev") /* polynomials of the first kind in D^-1 A */                   \
  X(TS_AMG_SMOOTHER_CHEBYSHEV4, 2,                                                                             \
    "chebyshev4")                        /* of the fourth kind (Lottes 2022), without a smallest eigenvalue */ \
  X(TS_AMG_SMOOTHER_JACOBI, 3, "jacobi") /* damped by 4/3 over the largest eigenvalue of D^-1 A */             \
  X(TS_AMG_SMOOTHER_L1_JACOBI, 4, "l1-jacobi") /* with the row sums of magnitudes instead of D */

typedef enum ts_amg_smoother {
#define TS_AMG_SMOOTHER_ENUM(name, value, text) name = value,
  TS_AMG_SMOOTHER_LIST(TS_AMG_SMOOTHER_ENUM)
#undef TS_AMG_SMOOTHER_ENUM
} ts_amg_smoother;

/* The first function returns a smoother's text, or NULL for other values. The second returns the smoother with
 * that text, or -1. Any thread. */
TS_API const char *ts_amg_smoother_name(ts_amg_smoother smoother);
TS_API int ts_amg_smoother_from_name(const char *name);

/* A descriptor filled with zeros selects the defaults. ts_preconditioner_create reads the arrays and does not
 * keep them. On several ranks (ranks.h) the arrays of a rank describe its own rows, which must be whole nodes.
 * All ranks must pass the same number of vectors. */
typedef struct ts_amg_desc {
  /* Threshold for strong couplings. Let s_ij = |a_ij| / sqrt(a_ii min(a_ii, a_jj)). Row i depends strongly on j
   * if a_ij < 0 and s_ij is at least 4 strength times the row's largest s_ik with a_ik < 0. Both 4 strength and
   * s_ik are limited to 1. If the negative a_ik of a row add up to at most a_ii / 2, the rule is s_ij >=
   * strength for either sign of a_ij, and this strength is halved from level to level. With a near-null vector
   * w, given or found, w_i a_ij w_j replaces a_ij. Blocks of several unknowns are compared by their Frobenius
   * norms. They are strongly coupled if s_ij >= strength, halved from level to level. They also are if the
   * largest s_ik is below 1/4 and s_ij is at least 4 strength times as large. Default: 0.08; with several
   * unknowns per node 0.02; for a matrix that is not symmetric, with one unknown, 0.15. Negative: 0, all
   * couplings are strong. */
  double strength;
  ts_amg_smoother smoother;
  int sweeps; /* smoothing steps before and after each coarse correction, or the degree of a polynomial: 1 to
                 16, default 2. Polynomials by gmres have by default the lowest degree from 4 to 32 that reduces
                 noise to 0.2 of its norm */
  int visits; /* visits of a level per visit of the level above, from the third level on; the second level is
                 visited once per cycle. 1: a V-cycle; 2, the default: a W-cycle below the second level */
  int max_levels; /* 1 to 30, default 30. If the last level has more than 1000 rows, it is solved by direct
                     factors if these are available and small, and otherwise smoothed */
  int coarsest;   /* maximum rows of the coarsest level, which is solved exactly: 1 to 1000, default 500 */
  int unknowns;   /* unknowns per node of a mesh, in consecutive rows: 1 to 8, default 1 */
  int near_null_vectors; /* number of near-null vectors, 1 to 8. Default: 0, one constant per unknown of a node,
                            or 1 / sqrt(a_ii) if that suits more than half of the rows, as for A = D L D with a
                            Laplacian L */
  ts_array near_null;    /* vectors that A almost maps to 0: rows x near_null_vectors, row by row */
  int dimensions;        /* dimensions of the coordinates, 2 or 3; `unknowns` must be the same */
  ts_array coordinates;  /* nodes x dimensions; the near-null space is that of rigid-body modes */
  uint64_t reserved[8];  /* 0 */
} ts_amg_desc;

/* Properties of an AMG hierarchy. On several ranks the numbers are those of all ranks, except for
 * bytes_device. */
typedef struct ts_amg_info {
  int levels;
  double operator_complexity; /* entries of all levels' matrices / entries of A */
  double grid_complexity;     /* rows of all levels / rows of A */
  double seconds;             /* time of the last set-up or update, including the upload */
  size_t bytes_device;        /* device memory of the levels below A, transfers and vectors */
  int stalled; /* 1: few rows of the last level are strongly coupled, so that level is too large for an exact
                  solution and is only smoothed. If there is one level, AMG is only its smoother. A smaller
                  strength may help, unless the diagonal is dominant */
  uint64_t reserved[8];
} ts_amg_info;

typedef struct ts_amg_level_info {
  int32_t rows;
  int64_t entries;
  double eigenvalue; /* estimated largest eigenvalue of D^-1 A, or its bound by row sums if A is not symmetric;
                        0 for a last level that is solved exactly */
  uint64_t reserved[4];
} ts_amg_level_info;

/* These functions describe the hierarchy and one of its levels; level 0 is A.
 * Errors: TS_ERROR_INVALID_ARGUMENT (a preconditioner that is not AMG, a level out of range). */
TS_API ts_status ts_preconditioner_get_amg_info(const ts_preconditioner *preconditioner, ts_amg_info *info);
TS_API ts_status ts_preconditioner_get_amg_level(const ts_preconditioner *preconditioner, int level,
                                                 ts_amg_level_info *info);

#ifdef __cplusplus
}
#endif
#endif
