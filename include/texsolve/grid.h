/* Regular grids: vectors that are images, matrices that are nine-point stencils, and their multigrid solver
 * (Bolz et al. 2003, section 4). -laplace u = 1 in the unit square, u = 0 on its boundary:
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
 * Point (i, j) of a grid of width x height points has the index j * width + i: i counts to the right (east), j
 * upwards (north). On the gl backend a vector over a grid is a texture of width x height texels, point (i, j)
 * at texel (i, j), and can be drawn as it is (texsolve/gl.h).
 *
 * Threads, version, common errors and ownership are as in texsolve.h: the thread that uses the context may call
 * all functions, any thread those of names and the host functions that say so.
 */
#ifndef TEXSOLVE_GRID_H
#define TEXSOLVE_GRID_H

#include <texsolve/solver.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Grids ----------------------------------------------------------------------------------- */

typedef struct ts_grid_desc {
  int32_t width, height;      /* points; at least 1 each, at most the largest texture on gl */
  int periodic_x, periodic_y; /* the last column is the first one's western neighbour; rows likewise. A
                                 periodic dimension has at least 3 points */
  uint64_t reserved[8];       /* 0 */
} ts_grid_desc;

/* Creates an index space whose indices are the points of a grid, for vectors of 1 to 4 components and stencils;
 * ts_matrix_create refuses it (TS_ERROR_UNSUPPORTED). Destroy it with ts_space_destroy.
 * Errors: TS_ERROR_INVALID_ARGUMENT, TS_ERROR_LIMIT (a texture's largest size), memory. */
TS_API ts_status ts_grid_create(ts_context *context, const ts_grid_desc *desc, ts_space **grid);

/* Returns the descriptor of a grid. Errors: TS_ERROR_INVALID_ARGUMENT (another kind of space). */
TS_API ts_status ts_grid_get_desc(const ts_space *grid, ts_grid_desc *desc);

/* ---- Stencils -------------------------------------------------------------------------------- */

/* Creates a matrix over a grid from nine coefficients a point, which may vary from point to point (format
 * TS_FORMAT_STENCIL):
 *
 *   (A x)(i, j) = sum over di, dj in {-1, 0, 1} of values[9 (j width + i) + 3 (dj + 1) + (di + 1)] x(i+di,
 * j+dj)
 *
 * Coefficients that point out of a non-periodic grid must be 0. A point whose centre coefficient is 0 has no
 * equation (it is constrained): its other eight must be 0 too, A x and residuals are 0 there, and its unknown
 * keeps its value, which the equations of its neighbours use: a Dirichlet point, or one inside a wall to which
 * no neighbour couples.
 *
 * If constants are in the null space of many connected components of the grid, the first point of all but the
 * eight largest is grounded: it loses its equation (see ts_multigrid_create).
 *
 * The matrix works wherever a ts_matrix does: ts_matrix_multiply, _residual, _diagonal, ts_solver_create
 * (constrained rows: points without equation). The values are copied; the matrix keeps the grid alive. Errors:
 * TS_ERROR_INVALID_ARGUMENT (not a grid; NaN or Inf; a coefficient that points out of the grid or belongs to a
 * point without equation: point and direction are named), memory.
 *
 * Doubles are kept as a float and low-order parts, which products in double precision and residuals read;
 * multigrid smooths with the float, which is chosen so that a row's sum stays what it is. If all of them are
 * floats, there are no low-order parts. A warning is logged if digits are lost below the range of floats.
 * TS_ERROR_INVALID_ARGUMENT for a coefficient that overflows a float and a centre that underflows one. */
TS_API ts_status ts_stencil_create(ts_space *grid, ts_array values, ts_matrix **matrix);

/* Replaces the values; points may gain or lose their equations. Solvers of the matrix use them from then on (a
 * multigrid after ts_multigrid_update). On failure the old values are kept. Errors: as ts_stencil_create. */
TS_API ts_status ts_stencil_set_values(ts_matrix *matrix, ts_array values);

/* Reads the values that the device holds, nine a point; of doubles the floats that multigrid smooths with.
 * Synchronises with the device. Errors: TS_ERROR_INVALID_ARGUMENT (not a stencil, here and above). */
TS_API ts_status ts_stencil_read(const ts_matrix *matrix, ts_array values);

/* ---- Poisson and Helmholtz problems ------------------------------------------------------------ */

/* Boundary conditions of a scalar problem. (Those of a flow, each of which stands for one on the velocity and
 * one on the pressure, are ts_fluid_boundary.) */
#define TS_BOUNDARY_LIST(X)                                                                                    \
  X(TS_BOUNDARY_DIRICHLET, 0, "dirichlet") /* u is given */                                                    \
  X(TS_BOUNDARY_NEUMANN, 1, "neumann")     /* k n . grad u is given, n pointing outwards */                    \
  X(TS_BOUNDARY_PERIODIC, 2, "periodic")   /* both opposite boundaries */

typedef enum ts_boundary {
#define TS_BOUNDARY_ENUM(name, value, text) name = value,
  TS_BOUNDARY_LIST(TS_BOUNDARY_ENUM)
#undef TS_BOUNDARY_ENUM
} ts_boundary;

/* The text of a value, NULL if there is no such value; and the value with a text, -1 if there is none. Any
 * thread. */
TS_API const char *ts_boundary_name(ts_boundary boundary);
TS_API int ts_boundary_from_name(const char *name);

/* Where the unknowns are. Vertex-centred: the outermost points are on the boundary of the rectangle, of size
 * (width - 1) h x (height - 1) h (if periodic, width h: the last point is h before the first one's image);
 * points on a Dirichlet boundary have no equation. Cell-centred: points are the centres of square cells that
 * fill the rectangle, width h x height h. */
typedef enum ts_centring { TS_CENTRING_VERTEX = 0, TS_CENTRING_CELL = 1 } ts_centring;

/* -div(k grad u) + sigma u = g on a rectangle, discretized by finite volumes on a grid of square cells of size
 * h: second order in h for smooth k. Between two points k is their harmonic mean. Every equation is divided by
 * h^2, so that the interior stencil for k = 1 is (4 + sigma h^2, -1, -1, -1, -1) / h^2; a vertex-centred point
 * on a Neumann boundary has half a volume (in a corner a quarter), so that the matrix is symmetric. */
typedef struct ts_poisson_desc {
  int32_t width, height; /* points */
  double spacing; /* h; default: 1 / (width - 1) vertex-centred, 1 / width cell-centred or with periodic x */
  ts_centring centring;
  ts_boundary left, right, bottom, top;
  ts_array coefficient;       /* k, width * height positive numbers on the host; default: 1 */
  ts_array sigma;             /* width * height numbers on the host, not negative; default: uniform_sigma */
  double uniform_sigma;       /* default: 0 */
  const unsigned char *solid; /* width * height flags: points inside walls have no equation and no flux to
                                       others. Default: none */
  uint64_t reserved[8];       /* 0 */
} ts_poisson_desc;

/* Returns the grid of a problem. Host only, any thread; the message of an error is that of ts_last_error(NULL).
 * Errors: as ts_poisson_stencil. */
TS_API ts_status ts_poisson_grid(const ts_poisson_desc *desc, ts_grid_desc *grid);

/* Computes the stencil of a problem: 9 * width * height floats or doubles on the host. An isolated point (all
 * neighbours solid, sigma 0) has no equation. Flows are rounded to 21 bits in floats, so that the sum of a row
 * stays exact; doubles have all of their digits. `context` keeps the error message and may be NULL: then any
 * thread may call. Errors: TS_ERROR_INVALID_ARGUMENT (a size below 3, a periodic boundary without its opposite,
 * k not positive or not finite, sigma negative: the field and point are named), TS_ERROR_LIMIT (more than 2^31
 * - 1024 points). */
TS_API ts_status ts_poisson_stencil(ts_context *context, const ts_poisson_desc *desc, ts_array values);

/* Boundary values, a number for each point along a boundary (left, right: height numbers; bottom, top: width),
 * on the host: u on a Dirichlet boundary, k n . grad u on a Neumann boundary. Not given: 0. Ignored on periodic
 * boundaries. */
typedef struct ts_boundary_values {
  ts_array left, right, bottom, top;
  uint64_t reserved[8]; /* 0 */
} ts_boundary_values;

/* Computes the right-hand side b of a problem from g at the points (width * height numbers; not given: 0), and
 * the initial x: u at Dirichlet points, 0 elsewhere. All arrays are on the host. `boundary` may be NULL. At a
 * corner of two Dirichlet boundaries left and right count. `context` as above.
 * Errors: as ts_poisson_stencil, and TS_ERROR_INVALID_ARGUMENT if b or x holds floats and its largest number is
 * out of their range; g and `boundary` are not checked for NaN and infinity. */
TS_API ts_status ts_poisson_right_hand_side(ts_context *context, const ts_poisson_desc *desc, ts_array g,
                                            const ts_boundary_values *boundary, ts_array b, ts_array x);

/* ---- Multigrid ------------------------------------------------------------------------------- */

/* Smoothers. */
#define TS_SMOOTHER_LIST(X)                                                                                    \
  X(TS_SMOOTHER_AUTO, 0, "auto")               /* four colours */                                              \
  X(TS_SMOOTHER_JACOBI, 1, "jacobi")           /* damped by `damping`: the paper's */                          \
  X(TS_SMOOTHER_CHEBYSHEV, 2, "chebyshev")     /* polynomial in D^-1 A; `pre` and `post` are its degrees */    \
  X(TS_SMOOTHER_RED_BLACK, 3, "red-black")     /* Gauss-Seidel in two colours where a stencil has five points, \
                                                  in four colours elsewhere */                                 \
  X(TS_SMOOTHER_FOUR_COLOUR, 4, "four-colour") /* Gauss-Seidel: the parities (even, even), (odd, even),        \
                                                  (even, odd), (odd, odd) one after the other */

typedef enum ts_smoother {
#define TS_SMOOTHER_ENUM(name, value, text) name = value,
  TS_SMOOTHER_LIST(TS_SMOOTHER_ENUM)
#undef TS_SMOOTHER_ENUM
} ts_smoother;

/* Storage of the levels' vectors and stencils. */
#define TS_GRID_STORAGE_LIST(X)                                                                                   \
  X(TS_GRID_STORAGE_AUTO, 0, "auto")   /* the backend's fastest that the smoother can use */                      \
  X(TS_GRID_STORAGE_PLAIN, 1, "plain") /* a grid is a texture. Not for Gauss-Seidel */                            \
  X(TS_GRID_STORAGE_LAYERED, 2,                                                                                   \
    "layered")                               /* the four parities in the channels of one RGBA texture with a      \
                                                border of copies (Bolz et al. 2003, 4.2). Not for Gauss-Seidel */ \
  X(TS_GRID_STORAGE_PARITIES, 3, "parities") /* the four parities side by side: Gauss-Seidel updates one in       \
                                                place while it reads the other three */

typedef enum ts_grid_storage {
#define TS_GRID_STORAGE_ENUM(name, value, text) name = value,
  TS_GRID_STORAGE_LIST(TS_GRID_STORAGE_ENUM)
#undef TS_GRID_STORAGE_ENUM
} ts_grid_storage;

/* Interpolation S from coarse to fine. With the restriction P = S^T / 4 the coarse matrix is A_2h = P A_h S. */
#define TS_INTERPOLATION_LIST(X)                                                                               \
  X(TS_INTERPOLATION_AUTO, 0, "auto")                                                                          \
  X(TS_INTERPOLATION_BILINEAR, 1, "bilinear") /* the paper's */                                                \
  X(TS_INTERPOLATION_OPERATOR, 2, "operator") /* weights in proportion to the stencil's coefficients (Alcouffe \
                                                 et al. 1981, Dendy 1982): respects walls and jumps; bilinear  \
                                                 where the coefficients are constant */

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

/* Names and values as above; NULL or -1 if there is none. Any thread. */
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
  int pre, post;       /* smoothing steps before and after the coarse correction, 0 to 16, not both 0.
                          Default (both 0): 1 and 1; for Jacobi 4 and 2, the paper's; for Chebyshev 2 and 2 */
  double damping;      /* omega of Jacobi, in (0, 1]; default: 2/3 */
  int symmetric;       /* colours in reverse order after the coarse correction, so that the cycle is a symmetric
                          operator. Default: 0, which converges faster by itself. As a preconditioner
                          (texsolve/preconditioner.h) it is always symmetric: as many steps after as before, the mean
                          of `pre` and `post` rounded up, and a V-cycle instead of an F-cycle */
  int full;            /* solves and cycles start with one pass of full multigrid from 0 instead of from x; it
                          counts as a cycle */
  int max_levels;      /* default: until the coarsest is small enough for its exact solution */
  int coarsest_sweeps; /* smoothing steps instead of the exact solution on the coarsest level, 1 to 1000, as in
                          the paper. Default: an exact solution by a dense inverse; 50 sweeps if max_levels
                          leaves more than 400 points */
  double rtol;         /* ts_multigrid_solve ends at ||b - A x|| <= rtol ||b||; default: 1e-6 */
  int max_cycles;      /* of ts_multigrid_solve; default: 100 */
  ts_progress_fn progress; /* of ts_multigrid_solve, before the first cycle (iteration 0) and after each, with
                              ||b - A x|| / ||b||. Default: none */
  void *progress_user;
  uint64_t reserved[8]; /* 0 */
} ts_multigrid_desc;

typedef struct ts_multigrid ts_multigrid;

/* Creates multigrid for a stencil and computes the coarse matrices on the device. Keeps the matrix alive;
 * destroy it before the context. `desc` may be NULL.
 *
 * Null-space components: connected components of the grid without a Dirichlet value whose rows sum to 0 (a pure
 * Neumann problem; a pocket inside walls) determine u up to a constant. In each of the eight largest the mean
 * of b is ignored and x has mean 0; in any other the first point is grounded (ts_stencil_create). Residuals
 * there end at about 2^-24 of the ignored mean.
 *
 * An odd periodic dimension makes two points of one colour neighbours at its seam, which costs a little:
 * 512 x 512 points take 5 cycles, 513 x 513 take 6 and 1000 x 5 take 7.
 *
 * Errors: TS_ERROR_INVALID_ARGUMENT (a field and its value; not a stencil), TS_ERROR_UNSUPPORTED (a storage
 * that the smoother cannot use or the backend lacks), memory. */
TS_API ts_status ts_multigrid_create(ts_matrix *stencil, const ts_multigrid_desc *desc,
                                     ts_multigrid **multigrid);
TS_API void ts_multigrid_destroy(ts_multigrid **multigrid);

/* Rebuilds the hierarchy after ts_stencil_set_values; until then solves and cycles fail
 * (TS_ERROR_INVALID_ARGUMENT). One host synchronisation (the coarsest matrix).
 * Errors: memory; then only an update that succeeds makes it usable again. */
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
  double seconds_setup; /* wall-clock, of the last creation or update */
  uint64_t reserved[8];
} ts_multigrid_info;

/* Returns the resolved options and sizes. */
TS_API ts_status ts_multigrid_get_info(const ts_multigrid *multigrid, ts_multigrid_info *info);

/* Returns the size and reads the stencil of a level, 0 being the finest, for inspection: `values` has nine
 * numbers a point; it may be left out, and `grid` NULL. Synchronises with the device.
 * Errors: TS_ERROR_INVALID_ARGUMENT (no such level). */
TS_API ts_status ts_multigrid_read_level(const ts_multigrid *multigrid, int level, ts_grid_desc *grid,
                                         ts_array values);

/* Runs `count` cycles on A x = b from the values in x, without host synchronisation and without a check of the
 * residual: for solves inside a frame. b and x have one component over the stencil's grid.
 * Errors: TS_ERROR_INCOMPATIBLE (another space), TS_ERROR_INVALID_ARGUMENT (b and x are the same). */
TS_API ts_status ts_multigrid_cycle(ts_multigrid *multigrid, const ts_vector *b, ts_vector *x, int count);

/* Solves A x = b by cycles from the values in x, or with `full` by full multigrid first.
 *
 * The solution is a double-float, x + low, and residuals are computed from both parts, in double or with error
 * terms if the device has them (ts_gl_info.exact_sums): r = b - A (x + low), a cycle on A e = r from 0, (x,
 * low) = (x, low) + e. So rounding x to single precision, which alone leaves a residual of about 2^-24 ||A||
 * ||x||, does not end the convergence. A vector that holds doubles takes and keeps both parts of x, one with
 * precision auto if its floats would miss rtol, and all digits that pairs hold of a b in doubles count. One
 * host synchronisation a cycle.
 *
 * b and x may have any magnitude that their vectors hold: if squares would leave the range of floats, copies
 * scaled by a power of two are solved. If b is 0, x becomes 0, regardless of the start, except for what points
 * without equation bring, which then takes the place of b in the rule. A solution that x's vector does not hold
 * is TS_REASON_DIVERGED, and the message says how large it is; if it is too large, x keeps its values.
 *
 * In the result iterations are cycles, relative_residual is that of the double-float solution, and
 * rounded_residual that of x as its vector holds it.
 *
 * Returns TS_OK; TS_NOT_CONVERGED with the reason in `result` (may be NULL) and the last iterate in x; or an
 * error, x undefined. Errors: as ts_multigrid_cycle, memory. */
TS_API ts_status ts_multigrid_solve(ts_multigrid *multigrid, const ts_vector *b, ts_vector *x,
                                    ts_result *result);

enum { TS_MULTIGRID_HISTORY = 101 };

/* The relative residuals of the last ts_multigrid_solve, at its start and after each cycle: `count` numbers,
 * borrowed until the next one. At most TS_MULTIGRID_HISTORY are kept; with more cycles the last number is that
 * of the last cycle. NULL and 0 before the first solve. */
TS_API const double *ts_multigrid_get_history(const ts_multigrid *multigrid, int *count);

#ifdef __cplusplus
}
#endif
#endif
