/* Algebraic multigrid by smoothed aggregation (Vanek, Mandel, Brezina 1996, "Algebraic multigrid by smoothed
 * aggregation for second and fourth order elliptic problems"): a preconditioner for symmetric, positive
 * definite matrices, and for convection and diffusion, that needs only the matrix.
 *
 *   ts_amg_desc amg = {.sweeps = 1}; // what is 0 has its default; .amg = NULL: all defaults
 *   ts_preconditioner_desc desc = {.kind = TS_PRECONDITIONER_AMG, .amg = &amg};
 *   ts_preconditioner *M;
 *   ts_amg_info info;
 *   ts_preconditioner_create(A, &desc, &M);
 *   ts_preconditioner_get_amg_info(M, &info);
 *   printf("%d levels with %.2f times the entries of A\n", info.levels, info.operator_complexity);
 *   ts_preconditioner_destroy(&M);
 *
 * The set-up groups unknowns that are strongly connected into aggregates, which are the unknowns of the next
 * level, and goes on until few are left. One application of M^-1 is one cycle over the levels, in single
 * precision; the solve around it has whatever precision it has. A cycle is symmetric if the matrix is, so
 * that conjugate gradients take it. Threads, version, errors and ownership are as in texsolve.h.
 *
 * A matrix that is not symmetric takes bicgstab, idr or gmres. Aggregates come from the strong couplings of A
 * and of A^T, the prolongator is smoothed by A and the restriction by A^T (Brezina, Manteuffel, McCormick, Ruge
 * and Sanders 2010, "Towards adaptive smoothed aggregation for nonsymmetric problems"). Smoothers are
 * polynomials in D^-1 A that gmres builds from noise during the set-up (Loe and Morgan 2022, "Toward efficient
 * polynomial preconditioning for GMRES"), for each level its own: eigenvalues may be complex. The set-up runs
 * on the host, on every backend. It is for diffusion with convection, by upwind or central differences or
 * streamline diffusion, up to cell Peclet numbers of about 100.
 */
#ifndef TEXSOLVE_AMG_H
#define TEXSOLVE_AMG_H

#include <texsolve/preconditioner.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What damps the part of the error that the next level cannot. */
#define TS_AMG_SMOOTHER_LIST(X)                                                                                \
  X(TS_AMG_SMOOTHER_AUTO, 0, "auto")           /* chebyshev; polynomials by gmres if A is not symmetric */     \
  X(TS_AMG_SMOOTHER_CHEBYSHEV, 1, "chebyshev") /* polynomials of the first kind in D^-1 A */                   \
  X(TS_AMG_SMOOTHER_CHEBYSHEV4, 2,                                                                             \
    "chebyshev4") /* of the fourth kind (Lottes 2022), which need no smallest eigenvalue */                    \
  X(TS_AMG_SMOOTHER_JACOBI, 3, "jacobi")       /* damped by 4/3 over the largest eigenvalue of D^-1 A */       \
  X(TS_AMG_SMOOTHER_L1_JACOBI, 4, "l1-jacobi") /* with the sums of magnitudes of rows in place of D */

typedef enum ts_amg_smoother {
#define TS_AMG_SMOOTHER_ENUM(name, value, text) name = value,
  TS_AMG_SMOOTHER_LIST(TS_AMG_SMOOTHER_ENUM)
#undef TS_AMG_SMOOTHER_ENUM
} ts_amg_smoother;

/* A smoother's text, NULL if there is no such smoother; and the smoother with a text, -1 if none. Any thread.
 */
TS_API const char *ts_amg_smoother_name(ts_amg_smoother smoother);
TS_API int ts_amg_smoother_from_name(const char *name);

/* All 0: the defaults. The arrays are read by ts_preconditioner_create and not needed after it. On several
 * ranks (ranks.h) they are of the rank's own rows, of which whole nodes are there, and all ranks give as many
 * vectors.
 */
typedef struct ts_amg_desc {
  double strength; /* row i depends strongly on j if a_ij < 0 and s_ij >= 4 strength times the row's largest
                      s_ik with a_ik < 0, s_ij = |a_ij| / sqrt(a_ii min(a_ii, a_jj)); 4 strength counts as at
                      most 1, and s_ik too. If the negative a_ik add up to at most a_ii / 2, it does if s_ij >=
                      strength, of either sign, halved from level to level. With a near-null vector w, given or
                      found, a_ij stands for w_i a_ij w_j. Blocks of unknowns go by their Frobenius norms:
                      s_ij >= strength, halved from level to level, or 4 strength times the largest s_ik if
                      that is below 1/4. Default: 0.08, with several unknowns per node 0.02; negative: 0, all
                      are strong. Default of a matrix that is not symmetric, with one unknown: 0.15 */
  ts_amg_smoother smoother;
  int sweeps;     /* smoothing steps before and as many after, the degree of a polynomial: 1 to 16, default 2.
                     Polynomials by gmres have by default 4 to 32, as many as reduce noise to 0.2 of its size */
  int visits;     /* how often a level is visited in one visit of the level above, from the third level on; the
                     second is visited once in a cycle. 1: a V-cycle; 2, the default: a W-cycle below the
                     second level */
  int max_levels; /* 1 to 30, default 30. A last level of more than 1000 rows is solved by direct factors, if
                     these can be had and are small; otherwise it is smoothed */
  int coarsest;   /* a level with at most so many rows is the last and solved exactly. 1 to 1000, default 500 */
  int unknowns;   /* a node of a mesh has so many: rows that stay together. 1 to 8, default 1 */
  int near_null_vectors; /* 1 to 8, default 0: constants, one for each unknown of a node; or, if that suits
                            more than half of the rows, 1 / sqrt(a_ii), as for A = D L D with a Laplacian L */
  ts_array near_null;    /* rows x near_null_vectors, row by row: what A almost maps to 0 */
  int dimensions;        /* of the coordinates, 2 or 3, which unknowns then is too */
  ts_array coordinates;  /* nodes x dimensions: rigid-body modes are the near-null space */
  uint64_t reserved[8];  /* 0 */
} ts_amg_desc;

/* On several ranks numbers of all of them, but bytes. */
typedef struct ts_amg_info {
  int levels;
  double operator_complexity; /* entries of all levels' matrices over those of A */
  double grid_complexity;     /* rows of all levels over those of A */
  double seconds;             /* of the last set-up or update, the upload included */
  size_t bytes_device;        /* of levels below A, transfers and vectors */
  int stalled; /* 1: the last level is too large for an exact solution, since few of its rows are strongly
                  coupled, and is smoothed instead. With one level amg is no more than its smoother. A smaller
                  strength may help, unless the diagonal is dominant */
  uint64_t reserved[8];
} ts_amg_info;

typedef struct ts_amg_level_info {
  int32_t rows;
  int64_t entries;
  double eigenvalue; /* the largest of D^-1 A, estimated, or its bound by row sums if A is not symmetric; 0 of a
                        last level that is solved exactly */
  uint64_t reserved[4];
} ts_amg_level_info;

/* What the set-up has made; level 0 is A. Errors: TS_ERROR_INVALID_ARGUMENT (not AMG; no such level). */
TS_API ts_status ts_preconditioner_get_amg_info(const ts_preconditioner *preconditioner, ts_amg_info *info);
TS_API ts_status ts_preconditioner_get_amg_level(const ts_preconditioner *preconditioner, int level,
                                                 ts_amg_level_info *info);

#ifdef __cplusplus
}
#endif
#endif
