/* Regular grids: vectors that are images, matrices that are nine-point stencils, and their multigrid solver
 * (Bolz et al. 2003, section 4). This example solves -laplace u = 1 in the unit square with u = 0 on its
 * boundary:
 *
 *   enum { N = 65 };
 *   static double values[9 * N * N], g[N * N], right_hand_side[N * N], u[N * N];
 *   ts_poisson_desc problem = {.width = N, .height = N};
 *   ts_grid_desc desc = {.width = N, .height = N};
 *   ts_space *grid;
 *   ts_matrix *A;
 *   ts_vector *b, *x;
 *   ts_multigrid *multigrid;
 *   for (int i = 0; i < N * N; i++)
 *     g[i] = 1;
 *   ts_poisson_stencil(context, &problem, ts_host(values, 9 * N * N));
 *   ts_poisson_right_hand_side(context, &problem, ts_host(g, N * N), NULL, ts_host(right_hand_side, N * N),
 *                              ts_host(u, N * N));
 *   ts_grid_create(context, &desc, &grid);
 *   ts_stencil_create(grid, ts_host(values, 9 * N * N), &A);
 *   ts_vector_create(grid, NULL, &b);
 *   ts_vector_create(grid, NULL, &x);
 *   ts_vector_write(b, ts_host(right_hand_side, N * N));
 *   ts_multigrid_create(A, NULL, &multigrid);
 *   ts_multigrid_solve(multigrid, b, x, NULL);
 *   ts_vector_read(x, ts_host(u, N * N)); // u[N * N / 2] is 0.0737
 *   ts_multigrid_destroy(&multigrid);
 *   ts_vector_destroy(&x);
 *   ts_vector_destroy(&b);
 *   ts_matrix_destroy(&A);
 *   ts_space_destroy(&grid);
 *
 * Point (i, j) of a grid of width x height points has the index j * width + i: i increases to the right (east),
 * j upwards (north). On the gl backend a vector over a grid is a texture of width x height texels, with point
 * (i, j) at texel (i, j), and can be drawn directly (texsolve/gl.h).
 *
 * Threads, version, common errors and ownership are as in texsolve.h: the thread that uses the context may call
 * all functions. Any thread may call the name functions, and the host functions whose comments say so. */
#ifndef TEXSOLVE_GRID_H
#define TEXSOLVE_GRID_H

#include <texsolve/solver.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Grids ----------------------------------------------------------------------------------- */

typedef struct ts_grid_desc {
  int32_t width, height;      /* points in each direction, at least 1; on gl at most the maximum texture size */
  int periodic_x, periodic_y; /* 1: the last column is the western neighbour of the first one; rows likewise. A
                                 periodic dimension needs at least 3 points */
  uint64_t reserved[8];       /* 0 */
} ts_grid_desc;

/* Creates an index space whose indices are the points of a grid, for vectors of 1 to 4 components and stencils.
 * ts_matrix_create does not accept it (TS_ERROR_UNSUPPORTED). Destroy it with ts_space_destroy.
 * Errors: TS_ERROR_INVALID_ARGUMENT, TS_ERROR_LIMIT (the maximum texture size), memory. */
TS_API ts_status ts_grid_create(ts_context *context, const ts_grid_desc *desc, ts_space **grid);

/* Returns the descriptor of a grid.
 * Errors: TS_ERROR_INVALID_ARGUMENT (another kind of space). */
TS_API ts_status ts_grid_get_desc(const ts_space *grid, ts_grid_desc *desc);

/* ---- Stencils -------------------------------------------------------------------------------- */

/* Creates a matrix over a grid from nine coefficients per point, which may vary from point to point (format
 * TS_FORMAT_STENCIL):
 *
 *   (A x)(i, j) = sum over di, dj in {-1, 0, 1} of
 *                 values[9 (j width + i) + 3 (dj + 1) + (di + 1)] x(i + di, j + dj)
 *
 * Coefficients that point out of a non-periodic grid must be 0. A point with centre coefficient 0 is
 * constrained: it does not have an equation. Its other eight coefficients must also be 0, and A x and residuals
 * are 0 there. Its unknown keeps its value, which the equations of its neighbours use. Examples are a Dirichlet
 * point, and a point inside a wall to which no neighbour couples.
 *
 * If constants are in the null space of many connected components of the grid, the eight largest components are
 * kept as they are. In each of the others the first point is grounded: it loses its equation (see
 * ts_multigrid_create).
 *
 * The stencil can be used like any ts_matrix, in ts_matrix_multiply, _residual, _diagonal and ts_solver_create;
 * constrained rows are the points without equation. The values are copied; the matrix keeps the grid alive.
 *
 * Doubles are stored as a float and low-order parts, which products in double precision and residuals read.
 * Multigrid smooths with the float, which is rounded such that the sum of a row does not change. If all values
 * are floats, there are no low-order parts. A warning is logged if digits are lost below the range of floats.
 * Errors: TS_ERROR_INVALID_ARGUMENT, memory. Invalid arguments are a space that is not a grid, NaN and
 * infinity, a coefficient that overflows a float, and a centre coefficient that underflows one. So is a
 * coefficient that points out of the grid or belongs to a point without equation; the message names the point
 * and direction. */
TS_API ts_status ts_stencil_create(ts_space *grid, ts_array values, ts_matrix **matrix);

/* Replaces the values; points may gain or lose their equations. Solvers of the matrix then use the new values
 * (multigrid after ts_multigrid_update). On failure the old values are kept. Errors: as ts_stencil_create. */
TS_API ts_status ts_stencil_set_values(ts_matrix *matrix, ts_array values);

/* Reads the values that the device holds, nine per point; for doubles these are the floats that multigrid
 * smooths with. Synchronises with the device.
 * Errors: TS_ERROR_INVALID_ARGUMENT (not a stencil; also in ts_stencil_set_values). */
TS_API ts_status ts_stencil_read(const ts_matrix *matrix, ts_array values);

/* ---- Poisson and Helmholtz problems ------------------------------------------------------------ */

/* Boundary conditions of a scalar problem. Name, value, text. (For flows use ts_fluid_boundary, which combines
 * a condition on the velocity with one on the pressure.) */
#define TS_BOUNDARY_LIST(X)                                                                                    \
  X(TS_BOUNDARY_DIRICHLET, 0, "dirichlet") /* u is given */                                                    \
  X(TS_BOUNDARY_NEUMANN, 1, "neumann")     /* k n . grad u is given, n pointing outwards */                    \
  X(TS_BOUNDARY_PERIODIC, 2, "periodic")   /* both opposite boundaries */

typedef enum ts_boundary {
#define TS_BOUNDARY_ENUM(name, value, text) name = value,
  TS_BOUNDARY_LIST(TS_BOUNDARY_ENUM)
#undef TS_BOUNDARY_ENUM
} ts_boundary;

/* Return a boundary condition's text, or NULL for other values; and the condition with that text, or -1. Any
 * thread. */
TS_API const char *ts_boundary_name(ts_boundary boundary);
TS_API int ts_boundary_from_name(const char *name);

/* Positions of the unknowns. Vertex-centred: the outermost points are on the boundary of the rectangle, which
 * has the size (width - 1) h x (height - 1) h. In a periodic direction it has the length width h: the last
 * point is h before the first one's image. Points on a Dirichlet boundary have no equation. Cell-centred:
 * points are the centres of square cells that fill the rectangle, width h x height h. */
typedef enum ts_centring { TS_CENTRING_VERTEX = 0, TS_CENTRING_CELL = 1 } ts_centring;

/* -div(k grad u) + sigma u = g on a rectangle, discretised by finite volumes on a grid of square cells of size
 * h; second order in h for smooth k. Between two points k is their harmonic mean. Every equation is divided by
 * h^2: the interior stencil for k = 1 is (4 + sigma h^2, -1, -1, -1, -1) / h^2. A vertex-centred point on a
 * Neumann boundary has half a volume (in a corner a quarter), which keeps the matrix symmetric. */
typedef struct ts_poisson_desc {
  int32_t width, height; /* points in each direction */
  double spacing; /* h. Default: 1 / (width - 1) vertex-centred, 1 / width cell-centred or with periodic x */
  ts_centring centring;
  ts_boundary left, right, bottom, top;
  ts_array coefficient;       /* k, width * height positive numbers on the host. Default: 1 */
  ts_array sigma;             /* width * height nonnegative numbers on the host. Default: uniform_sigma */
  double uniform_sigma;       /* default: 0 */
  const unsigned char *solid; /* width * height flags: points inside walls have no equation and no flux to other
                                 points. Default: none */
  uint64_t reserved[8];       /* 0 */
} ts_poisson_desc;

/* Returns the grid of a problem. Host only, any thread; ts_last_error(NULL) explains an error. Errors: as
 * ts_poisson_stencil. */
TS_API ts_status ts_poisson_grid(const ts_poisson_desc *desc, ts_grid_desc *grid);

/* Computes the stencil of a problem: 9 * width * height floats or doubles on the host. An isolated point (all
 * neighbours solid, sigma 0) has no equation. In floats fluxes are rounded to 21 bits, so that the sum of a row
 * stays exact; doubles have all of their digits. `context` keeps the error message; if it is NULL, any thread
 * may call.
 * Errors: TS_ERROR_INVALID_ARGUMENT (a size below 3, a periodic boundary without its opposite, a k that is not
 * positive and finite, a negative sigma: the message names the field and point), TS_ERROR_LIMIT (more than
 * 2^31 - 1024 points). */
TS_API ts_status ts_poisson_stencil(ts_context *context, const ts_poisson_desc *desc, ts_array values);

/* Boundary values on the host, one number for each point along a boundary (left, right: height numbers; bottom,
 * top: width numbers). They are u on a Dirichlet boundary, and k n . grad u on a Neumann boundary. An array
 * that is not given means 0. Values on periodic boundaries are ignored. */
typedef struct ts_boundary_values {
  ts_array left, right, bottom, top;
  uint64_t reserved[8]; /* 0 */
} ts_boundary_values;

/* Computes the right-hand side b and the initial x of a problem. g has width * height numbers, one per point;
 * not given: 0. x is u at Dirichlet points and 0 elsewhere. All arrays are on the host. `boundary` may be NULL.
 * At a corner of two Dirichlet boundaries the left or right one applies. `context` is as in ts_poisson_stencil.
 * g and `boundary` are not checked for NaN and infinity.
 * Errors: as ts_poisson_stencil; TS_ERROR_INVALID_ARGUMENT (b or x holds floats, and its largest number exceeds
 * their range). */
TS_API ts_status ts_poisson_right_hand_side(ts_context *context, const ts_poisson_desc *desc, ts_array g,
                                            const ts_boundary_values *boundary, ts_array b, ts_array x);

/* ---- Multigrid ------------------------------------------------------------------------------- */

/* Smoothers of multigrid. Name, value, text. */
#define TS_SMOOTHER_LIST(X)                                                                                    \
  X(TS_SMOOTHER_AUTO, 0, "auto")           /* four colours */                                                  \
  X(TS_SMOOTHER_JACOBI, 1, "jacobi")       /* damped by `damping`; Bolz et al. 2003 */                         \
  X(TS_SMOOTHER_CHEBYSHEV, 2, "chebyshev") /* polynomial in D^-1 A; `pre` and `post` are its degrees */        \
  X(TS_SMOOTHER_RED_BLACK, 3,                                                                                  \
    "red-black") /* Gauss-Seidel in two colours for five-point stencils, otherwise in four */                  \
  X(TS_SMOOTHER_FOUR_COLOUR, 4,                                                                                \
    "four-colour") /* Gauss-Seidel: the parities (even, even), (odd, even), (even, odd), (odd, odd) in turn */

typedef enum ts_smoother {
#define TS_SMOOTHER_ENUM(name, value, text) name = value,
  TS_SMOOTHER_LIST(TS_SMOOTHER_ENUM)
#undef TS_SMOOTHER_ENUM
} ts_smoother;

/* Storage of the levels' vectors and stencils. Name, value, text. */
#define TS_GRID_STORAGE_LIST(X)                                                                                \
  X(TS_GRID_STORAGE_AUTO, 0, "auto")   /* the backend's fastest that the smoother supports */                  \
  X(TS_GRID_STORAGE_PLAIN, 1, "plain") /* one texture per grid. Not for Gauss-Seidel */                        \
  X(TS_GRID_STORAGE_LAYERED, 2,                                                                                \
    "layered") /* the four parities in the channels of one RGBA texture, with a border of copies (Bolz et al.  \
                  2003, section 4.2). Not for Gauss-Seidel */                                                  \
  X(TS_GRID_STORAGE_PARITIES, 3, "parities") /* the four parities side by side: Gauss-Seidel updates one in    \
                                                place and reads the other three */

typedef enum ts_grid_storage {
#define TS_GRID_STORAGE_ENUM(name, value, text) name = value,
  TS_GRID_STORAGE_LIST(TS_GRID_STORAGE_ENUM)
#undef TS_GRID_STORAGE_ENUM
} ts_grid_storage;

/* Interpolation S from a coarse level to a fine one. With the restriction P = S^T / 4 the coarse matrix is A_2h
 * = P A_h S. Name, value, text. */
#define TS_INTERPOLATION_LIST(X)                                                                               \
  X(TS_INTERPOLATION_AUTO, 0, "auto")                                                                          \
  X(TS_INTERPOLATION_BILINEAR, 1, "bilinear") /* Bolz et al. 2003 */                                           \
  X(TS_INTERPOLATION_OPERATOR, 2,                                                                              \
    "operator") /* weights in proportion to the stencil's coefficients (Alcouffe et al. 1981, Dendy 1982),     \
                   which respects walls and jumps; bilinear if the coefficients are constant */

typedef enum ts_interpolation {
#define TS_INTERPOLATION_ENUM(name, value, text) name = value,
  TS_INTERPOLATION_LIST(TS_INTERPOLATION_ENUM)
#undef TS_INTERPOLATION_ENUM
} ts_interpolation;

#define TS_CYCLE_LIST(X)                                                                                       \
  X(TS_CYCLE_AUTO, 0, "auto") /* V */                                                                          \
  X(TS_CYCLE_V, 1, "V")                                                                                        \
  X(TS_CYCLE_W, 2, "W")                                                                                        \
  X(TS_CYCLE_F, 3, "F")

typedef enum ts_cycle {
#define TS_CYCLE_ENUM(name, value, text) name = value,
  TS_CYCLE_LIST(TS_CYCLE_ENUM)
#undef TS_CYCLE_ENUM
} ts_cycle;

/* Return the text of a value, or NULL for other values; and the value with that text, or -1. Any thread. */
TS_API const char *ts_smoother_name(ts_smoother smoother);
TS_API int ts_smoother_from_name(const char *name);
TS_API const char *ts_grid_storage_name(ts_grid_storage storage);
TS_API int ts_grid_storage_from_name(const char *name);
TS_API const char *ts_interpolation_name(ts_interpolation interpolation);
TS_API int ts_interpolation_from_name(const char *name);
TS_API const char *ts_cycle_name(ts_cycle cycle);
TS_API int ts_cycle_from_name(const char *name);

typedef struct ts_multigrid_desc {
  ts_smoother smoother;
  ts_grid_storage storage;
  ts_interpolation interpolation;
  ts_cycle cycle;
  int pre, post;  /* smoothing steps before and after the coarse correction, 0 to 16, not both 0. Default (both
                     0): 1 and 1; for Jacobi 4 and 2, as in Bolz et al. 2003; for Chebyshev 2 and 2 */
  double damping; /* omega of Jacobi, in (0, 1]. Default: 2/3 */
  /* 1: the colours are in reverse order after the coarse correction, which makes the cycle a symmetric
   * operator. Default: 0, which converges faster as a standalone iteration. As a preconditioner
   * (texsolve/preconditioner.h) the cycle is always symmetric. It then has equal numbers of steps before and
   * after, the mean of `pre` and `post` rounded up, and a V-cycle instead of an F-cycle. */
  int symmetric;
  int full;       /* 1: solves and cycles start with one pass of full multigrid from 0, which counts as a cycle,
                     instead of from x */
  int max_levels; /* default: until the coarsest level is small enough for an exact solution */
  int coarsest_sweeps; /* smoothing steps on the coarsest level instead of the exact solution, 1 to 1000, as in
                          Bolz et al. 2003. Default: an exact solution by a dense inverse, or 50 steps if
                          max_levels leaves more than 400 points */
  double rtol;         /* ts_multigrid_solve ends when ||b - A x|| <= rtol ||b||. Default: 1e-6 */
  int max_cycles;      /* maximum of ts_multigrid_solve. Default: 100 */
  ts_progress_fn progress; /* called by ts_multigrid_solve before the first cycle (iteration 0) and after each,
                              with ||b - A x|| / ||b||. Default: none */
  void *progress_user;
  uint64_t reserved[8]; /* 0 */
} ts_multigrid_desc;

typedef struct ts_multigrid ts_multigrid;

/* Creates a multigrid hierarchy for a stencil and computes the coarse matrices on the device. It keeps the
 * matrix alive; destroy it before the context. `desc` may be NULL.
 *
 * Null-space components are connected components of the grid without a Dirichlet value whose rows sum to 0,
 * such as a pure Neumann problem or a pocket inside walls. They determine u only up to a constant. In each of
 * the eight largest components the mean of b is ignored and x has mean 0. In each of the others the first point
 * is grounded (ts_stencil_create). Residuals there end at about 2^-24 of the ignored mean.
 *
 * In an odd periodic dimension two points of one colour are neighbours at the seam, which is slightly slower:
 * 512 x 512 points need 5 cycles, 513 x 513 points 6, and 1000 x 5 points 7.
 *
 * Errors: TS_ERROR_INVALID_ARGUMENT (an invalid field; not a stencil), TS_ERROR_UNSUPPORTED (a storage that the
 * smoother or the backend does not support), memory. */
TS_API ts_status ts_multigrid_create(ts_matrix *stencil, const ts_multigrid_desc *desc,
                                     ts_multigrid **multigrid);
TS_API void ts_multigrid_destroy(ts_multigrid **multigrid);

/* Rebuilds the hierarchy after ts_stencil_set_values. Until then solves and cycles fail
 * (TS_ERROR_INVALID_ARGUMENT). One host synchronisation (the coarsest matrix). Errors: memory. After an error
 * the hierarchy is unusable until an update succeeds. */
TS_API ts_status ts_multigrid_update(ts_multigrid *multigrid);

typedef struct ts_multigrid_info {
  int levels;
  ts_smoother smoother;
  ts_grid_storage storage;
  ts_interpolation interpolation;
  ts_cycle cycle;
  int pre, post;
  int32_t coarsest_width, coarsest_height;
  int null_space_components, grounded_points; /* see ts_multigrid_create */
  size_t bytes_device;
  double seconds_setup; /* wall-clock time of the last creation or update */
  uint64_t reserved[8];
} ts_multigrid_info;

/* Returns the resolved options and sizes. */
TS_API ts_status ts_multigrid_get_info(const ts_multigrid *multigrid, ts_multigrid_info *info);

/* Returns the size and the stencil of a level, 0 being the finest, for inspection. `values` receives nine
 * numbers per point; it is optional, and `grid` may be NULL. Synchronises with the device.
 * Errors: TS_ERROR_INVALID_ARGUMENT (a level out of range). */
TS_API ts_status ts_multigrid_read_level(const ts_multigrid *multigrid, int level, ts_grid_desc *grid,
                                         ts_array values);

/* Runs `count` cycles on A x = b from the values in x, without host synchronisation and without a check of the
 * residual, for solves inside a frame. b and x have one component over the stencil's grid.
 * Errors: TS_ERROR_INCOMPATIBLE (another space), TS_ERROR_INVALID_ARGUMENT (b is x). */
TS_API ts_status ts_multigrid_cycle(ts_multigrid *multigrid, const ts_vector *b, ts_vector *x, int count);

/* Solves A x = b by cycles from the values in x or, with `full`, by full multigrid first. One host
 * synchronisation per cycle. `result` may be NULL. Its iterations are cycles.
 *
 * The solution is the sum of two floats per number, x + low. Residuals are computed from both parts, in double
 * precision or with error terms if the device supports them (ts_gl_info.exact_sums). Each step computes r = b -
 * A (x + low), runs a cycle on A e = r from 0, and adds e to (x, low). Rounding x to single precision would
 * leave a residual of about 2^-24 ||A|| ||x||; the second part avoids this limit. A vector of doubles receives
 * and keeps both parts of x. A vector of precision auto does so if floats would miss rtol. Of a b in doubles
 * all digits that two floats hold are used. relative_residual is that of the two-float solution, and
 * rounded_residual that of x as its vector holds it.
 *
 * b and x may have any magnitude that their vectors can hold: if squares would leave the range of floats,
 * copies scaled by a power of two are solved. If b is 0, x becomes 0 regardless of the start, except for the
 * contribution of points without equation, which then replaces b in the stopping rule. If x's vector cannot
 * hold the solution, the reason is TS_REASON_DIVERGED, and the message reports the size; if the solution is too
 * large, x keeps its values.
 *
 * Returns TS_OK, or TS_NOT_CONVERGED with the reason in `result` and the last iterate in x. After an error x is
 * undefined. Errors: as ts_multigrid_cycle, memory. */
TS_API ts_status ts_multigrid_solve(ts_multigrid *multigrid, const ts_vector *b, ts_vector *x,
                                    ts_result *result);

enum { TS_MULTIGRID_HISTORY = 101 };

/* Returns the relative residuals of the last ts_multigrid_solve, at its start and after each cycle: `count`
 * numbers, borrowed until the next solve. It keeps up to TS_MULTIGRID_HISTORY numbers; with more cycles the
 * last number is that of the last cycle. NULL and 0 before the first solve. */
TS_API const double *ts_multigrid_get_history(const ts_multigrid *multigrid, int *count);

#ifdef __cplusplus
}
#endif
#endif
