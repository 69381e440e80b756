/* Regular grids: vectors that are pictures, matrices that are nine-point stencils, and their multigrid solver
 * (Bolz et al. 2003, section 4).
 *
 * Point (i, j) of a grid of width x height points has the index j * width + i: i counts to the right (east), j
 * upwards (north). On the gl backend a vector over a grid is a texture of width x height texels, point (i, j)
 * at texel (i, j), and can be drawn as it is (texsolve/gl.h).
 *
 * Threads, errors and ownership are as in texsolve.h.
 */
#ifndef TEXSOLVE_GRID_H
#define TEXSOLVE_GRID_H

#include <texsolve/texsolve.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Grids ----------------------------------------------------------------------------------- */

typedef struct ts_grid_desc {
  int32_t width, height;      /* points; at least 1 each, at most the largest texture on gl */
  int periodic_x, periodic_y; /* the last column is the first one's western neighbour; rows likewise. A periodic
                                 dimension has at least 3 points */
} ts_grid_desc;

/* An index space whose indices are the points of a grid. It takes vectors of 1 to 4 components and stencils;
 * ts_matrix_create refuses it (TS_ERROR_UNSUPPORTED). Destroy it with ts_space_destroy.
 * Errors: TS_ERROR_INVALID_ARGUMENT, TS_ERROR_LIMIT (a texture's largest size), memory. */
TS_API ts_status ts_grid_create(ts_context *context, const ts_grid_desc *desc, ts_space **grid);

/* The descriptor of a grid; TS_ERROR_INVALID_ARGUMENT for another kind of space. */
TS_API ts_status ts_grid_get_desc(const ts_space *grid, ts_grid_desc *desc);

/* ---- Stencils -------------------------------------------------------------------------------- */

/* A matrix over a grid by nine coefficients a point, free to vary from point to point (format
 * TS_FORMAT_STENCIL):
 *
 *   (A x)(i, j) = sum over di, dj in {-1, 0, 1} of values[9 (j width + i) + 3 (dj + 1) + (di + 1)] x(i+di,
 * j+dj)
 *
 * Coefficients that point out of the grid, where it is not periodic, must be 0. A point whose centre
 * coefficient is 0 has no equation: its other eight must be 0 too, A x and residuals are 0 there, and its
 * unknown keeps its value, which the equations of its neighbours use: a Dirichlet point, or one inside a wall
 * to which no neighbour has a coefficient.
 *
 * A stencil may leave constants alone in many parts of the grid that are not connected. In all but the eight
 * largest of them (see ts_multigrid_create) the first point loses its equation.
 *
 * The matrix works wherever a ts_matrix does: ts_matrix_multiply, _residual, _diagonal, ts_cg_create (locked
 * rows: points without equation). The values are copied.
 * Errors: TS_ERROR_INVALID_ARGUMENT (no grid; NaN or Inf; a coefficient that points out of the grid or belongs
 * to a point without equation: point and direction are named), memory. */
TS_API ts_status ts_stencil_create(ts_space *grid, const float *values, ts_matrix **matrix);

/* Other values on the same grid; points may gain or lose their equations. Solvers made for the matrix use them
 * from then on (a multigrid after ts_multigrid_update). On failure the old values stay. */
TS_API ts_status ts_stencil_set_values(ts_matrix *matrix, const float *values);

/* The values as the device holds them, nine a point. Waits for the device. TS_ERROR_INVALID_ARGUMENT for a
 * matrix that is no stencil, here and above. */
TS_API ts_status ts_stencil_read(const ts_matrix *matrix, float *values);

/* ---- Poisson and Helmholtz problems ------------------------------------------------------------ */

/* What holds at a side of the rectangle. */
#define TS_SIDE_LIST(X)                                                                                        \
  X(TS_SIDE_DIRICHLET, 0, "dirichlet") /* u is given */                                                        \
  X(TS_SIDE_NEUMANN, 1, "neumann")     /* k n . grad u is given, n pointing outwards */                        \
  X(TS_SIDE_PERIODIC, 2, "periodic")   /* both opposite sides */

typedef enum ts_side {
#define TS_SIDE_ENUM(name, value, text) name = value,
  TS_SIDE_LIST(TS_SIDE_ENUM)
#undef TS_SIDE_ENUM
} ts_side;

TS_API const char *ts_side_name(ts_side side);  /* NULL if there is no such side. Any thread. */
TS_API int ts_side_from_name(const char *name); /* -1 if none */

/* Where the samples lie. At points, the outermost ones lie on the sides of the rectangle, whose size is
 * (width - 1) h x (height - 1) h (with periodic sides width h: the last point is h before the first one's
 * image); points on a Dirichlet side have no equation. In cells, samples are the centres of square cells that
 * fill the rectangle, width h x height h. */
typedef enum ts_samples { TS_SAMPLES_POINTS = 0, TS_SAMPLES_CELLS = 1 } ts_samples;

/* -div(k grad u) + sigma u = g on a rectangle, by finite volumes on a grid of square cells of size h: second
 * order in h for smooth k. Between two samples k is their harmonic mean. Every equation is divided by h^2, so
 * that the interior stencil for k = 1 is (4 + sigma h^2, -1, -1, -1, -1) / h^2; a sample on a Neumann side has
 * half a volume (in a corner a quarter), so that the matrix is symmetric. */
typedef struct ts_poisson_desc {
  int32_t width, height; /* samples */
  double spacing;        /* h; default: 1 / (width - 1) at points, 1 / width in cells and with periodic x */
  ts_samples samples;
  ts_side left, right, bottom, top;
  const float *coefficient;   /* k, width * height positive numbers; default: 1 */
  const float *sigma;         /* width * height numbers, not negative; default: uniform_sigma */
  double uniform_sigma;       /* default: 0 */
  const unsigned char *solid; /* width * height flags: samples inside walls have no equation, and nothing
                                 flows between them and others. Default: none */
} ts_poisson_desc;

/* The grid of a problem: its size, and periodic where its sides are. Host only, any thread; the message of an
 * error is that of ts_last_error(NULL). Errors: as ts_poisson_stencil. */
TS_API ts_status ts_poisson_grid(const ts_poisson_desc *desc, ts_grid_desc *grid);

/* Its stencil: `values` has room for 9 * width * height floats. Host only. An isolated sample (all neighbours
 * solid, sigma 0) has no equation. `context` takes the error message and may be NULL.
 * Errors: TS_ERROR_INVALID_ARGUMENT (a size below 3, one periodic side without its opposite, k not positive or
 * not finite, sigma negative: the field and sample are named), TS_ERROR_LIMIT (more than 2^31 - 1024
 * samples). */
TS_API ts_status ts_poisson_stencil(ts_context *context, const ts_poisson_desc *desc, float *values);

/* What is given on the sides, a number for each sample along it (left, right: height numbers; bottom, top:
 * width): u on a Dirichlet side, k n . grad u on a Neumann side. NULL: 0. Ignored on periodic sides. */
typedef struct ts_poisson_boundary {
  const float *left, *right, *bottom, *top;
} ts_poisson_boundary;

/* The right-hand side of the problem from g at the samples (width * height numbers, NULL: 0), and what the
 * unknowns without equation hold: b and x have room for width * height floats; x gets u at Dirichlet points and
 * 0 elsewhere. `boundary` may be NULL. At a corner of two Dirichlet sides left and right count. Host only.
 * `context` and errors as in ts_poisson_stencil, and TS_ERROR_INVALID_ARGUMENT where the largest number of b
 * and x is too large or too small for single precision; a NaN or an infinity in g or `boundary` is not looked
 * for. */
TS_API ts_status ts_poisson_right_hand_side(ts_context *context, const ts_poisson_desc *desc, const float *g,
                                            const ts_poisson_boundary *boundary, float *b, float *x);

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

/* How the levels' vectors and stencils are stored. */
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

/* Coarse to fine. With P = S^T / 4 the coarse matrix is A_2h = P A_h S. */
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
  X(TS_CYCLE_V, 0, "V")                                                                                        \
  X(TS_CYCLE_W, 1, "W")                                                                                        \
  X(TS_CYCLE_F, 2, "F")

typedef enum ts_cycle {
#define TS_CYCLE_ENUM(name, value, text) name = value,
  TS_CYCLE_LIST(TS_CYCLE_ENUM)
#undef TS_CYCLE_ENUM
} ts_cycle;

/* Names as above; NULL or -1 if there is none. Any thread. */
TS_API const char *ts_smoother_name(ts_smoother smoother);
TS_API int ts_smoother_from_name(const char *name);
TS_API const char *ts_grid_storage_name(ts_grid_storage storage);
TS_API int ts_grid_storage_from_name(const char *name);
TS_API const char *ts_interpolation_name(ts_interpolation interpolation);
TS_API int ts_interpolation_from_name(const char *name);
TS_API const char *ts_cycle_name(ts_cycle cycle);
TS_API int ts_cycle_from_name(const char *name);

/* Called by ts_multigrid_solve before the first cycle (cycle 0) and after each with ||b - A x|| / ||b||.
 * Returning nonzero stops the solve. */
typedef int (*ts_multigrid_progress_fn)(int cycle, double relative_residual, void *user);

typedef struct ts_multigrid_desc {
  ts_smoother smoother;
  ts_grid_storage storage;
  ts_interpolation interpolation;
  ts_cycle cycle;
  int pre, post;       /* smoothing steps before and after the coarse correction, 0 to 16, not both 0.
                          Default (both 0): 1 and 1; for Jacobi 4 and 2, the paper's; for Chebyshev 2 and 2 */
  double damping;      /* omega of Jacobi, in (0, 1]; default: 2/3 */
  int symmetric;       /* the colours in reverse order after the coarse correction, which makes the cycle a
                          symmetric operator. Default: 0, which converges faster by itself. What ts_cg uses as a
                          preconditioner is always symmetric, whatever this says: as many steps after as before,
                          the mean of `pre` and `post` rounded up, and a V-cycle instead of an F-cycle */
  int full;            /* solves and cycles begin with one pass of full multigrid from 0 instead of from x. It
                          counts as a cycle */
  int max_levels;      /* default: until the coarsest is small enough for its exact solution */
  int coarsest_sweeps; /* smoothing steps that stand for the solution on the coarsest level, 1 to 1000 (the
                          paper's way). Default: an exact solution by a dense inverse; 50 sweeps where more than
                          400 points are left by max_levels */
  double rtol;         /* ts_multigrid_solve ends at ||b - A x|| <= rtol ||b||; default: 1e-6 */
  int max_cycles;      /* of ts_multigrid_solve; default: 100 */
  ts_multigrid_progress_fn progress; /* default: none */
  void *progress_user;
} ts_multigrid_desc;

typedef struct ts_multigrid ts_multigrid;

/* Prepares multigrid for a stencil: the coarse matrices are computed on the device. Keeps the matrix alive.
 * `desc` may be NULL.
 *
 * Parts of the grid that are connected with each other and with no Dirichlet value, and where the rows' sums
 * are 0, are singular (a pure Neumann problem; a pocket inside walls): their constants are no matter. The means
 * of b over each of the eight largest is ignored and x has mean 0 there; in any further one its first point
 * has no equation since the stencil was made. Residuals there end at about 2^-24 of the mean that is ignored.
 *
 * Where a periodic dimension is odd, two points of one colour are neighbours at its seam, which costs a little:
 * 512 x 512 points take 5 cycles, 513 x 513 take 6 and 1000 x 5 take 7.
 *
 * Errors: TS_ERROR_INVALID_ARGUMENT (a field and its value; a matrix that is no stencil), TS_ERROR_UNSUPPORTED
 * (a storage that the smoother cannot use or the backend lacks), memory. */
TS_API ts_status ts_multigrid_create(ts_matrix *stencil, const ts_multigrid_desc *desc,
                                     ts_multigrid **multigrid);
TS_API void ts_multigrid_destroy(ts_multigrid **multigrid);

/* Builds the hierarchy anew after ts_stencil_set_values, without which solves and cycles fail
 * (TS_ERROR_INVALID_ARGUMENT). Waits for the device once (the coarsest matrix). Errors: memory; then only an
 * update that succeeds makes it usable again. */
TS_API ts_status ts_multigrid_update(ts_multigrid *multigrid);

typedef struct ts_multigrid_info {
  int levels;
  ts_smoother smoother;
  ts_grid_storage storage;
  ts_interpolation interpolation;
  int pre, post;
  int32_t coarsest_width, coarsest_height;
  int singular_parts, pinned_points; /* see above */
  size_t bytes_device;
  double seconds_setup; /* of the last creation or update */
} ts_multigrid_info;

TS_API ts_status ts_multigrid_get_info(const ts_multigrid *multigrid, ts_multigrid_info *info);

/* Size and stencil of a level, 0 being the finest, to look at: `values` has room for nine floats a point; it
 * and `grid` may be NULL. Waits for the device. TS_ERROR_INVALID_ARGUMENT where there is no such level. */
TS_API ts_status ts_multigrid_read_level(const ts_multigrid *multigrid, int level, ts_grid_desc *grid,
                                         float *values);

/* `count` cycles on A x = b from the values in x, without a wait and without a look at the residual: for those
 * who solve inside a frame. b and x have one component, are over the stencil's grid (TS_ERROR_INCOMPATIBLE
 * otherwise) and are not the same (TS_ERROR_INVALID_ARGUMENT). */
TS_API ts_status ts_multigrid_cycle(ts_multigrid *multigrid, const ts_vector *b, ts_vector *x, int count);

#define TS_MULTIGRID_REASON_LIST(X)                                                                            \
  X(TS_MULTIGRID_CONVERGED, 0, "converged")                                                                    \
  X(TS_MULTIGRID_ZERO_RESIDUAL, 1, "the starting value already solves the system")                             \
  X(TS_MULTIGRID_MAX_CYCLES, 2, "the maximum number of cycles was reached")                                    \
  X(TS_MULTIGRID_STAGNATED, 3, "stagnated: cycles no longer reduce the residual")                              \
  X(TS_MULTIGRID_DIVERGED, 4, "diverged: cycles increase the residual")                                        \
  X(TS_MULTIGRID_NAN_INPUT, 5, "the right-hand side or the starting value holds a NaN or an infinity")         \
  X(TS_MULTIGRID_STOPPED, 6, "stopped by the progress callback")

typedef enum ts_multigrid_reason {
#define TS_MULTIGRID_REASON_ENUM(name, value, text) name = value,
  TS_MULTIGRID_REASON_LIST(TS_MULTIGRID_REASON_ENUM)
#undef TS_MULTIGRID_REASON_ENUM
} ts_multigrid_reason;

/* A reason's text; "unknown reason" for other values. Any thread. */
TS_API const char *ts_multigrid_reason_text(ts_multigrid_reason reason);

enum { TS_MULTIGRID_HISTORY = 101 };

typedef struct ts_multigrid_result {
  ts_multigrid_reason reason;
  int cycles;
  int waits;
  double relative_residual;             /* of the solution as the solve kept it, in two floats a point */
  double rounded_relative_residual;     /* of x, which is that solution in single precision */
  double history[TS_MULTIGRID_HISTORY]; /* relative residuals, at the start and after each cycle; the last one
                                           repeats its place when there are more cycles */
  double factor;       /* geometric mean of the residual's reduction over the last (at most 5) cycles */
  double incompatible; /* ||the part of b that no x can produce|| / ||b||, which is left out (singular parts) */
  char message[160];   /* the reason in one line with its numbers */
} ts_multigrid_result;

/* Solves A x = b by cycles from the values in x, or with `full` by full multigrid first.
 *
 * The solution is kept in two floats a point and residuals are computed with both, in double or with error
 * terms where the device can (gl: ARB_gpu_shader5): r = b - A (x + low), a cycle on A e = r from 0,
 * (x, low) = (x, low) + e. So rounding x to single precision, which alone leaves a residual of about
 * 2^-24 ||A|| ||x||, does not end the convergence. Waits once a cycle.
 *
 * Numbers of b may be of any size that single precision holds: where their squares would not be, copies scaled
 * by a power of two are solved for. A solution that is too large or too small for it is TS_MULTIGRID_DIVERGED,
 * and the message says how large it is; too large, x keeps its values.
 *
 * Returns TS_OK; TS_NOT_CONVERGED with the reason in `result` (may be NULL) and the last iterate in x; or an
 * error, x undefined. */
TS_API ts_status ts_multigrid_solve(ts_multigrid *multigrid, const ts_vector *b, ts_vector *x,
                                    ts_multigrid_result *result);

#ifdef __cplusplus
}
#endif
#endif
