/* Short forms of what most tests do with the library. A failure is reported and yields NULL. */
#ifndef HELPERS_H
#define HELPERS_H

#include <texsolve/gl.h>
#include <texsolve/grid.h>
#include <texsolve/solver.h>

#include "reference.h"
#include "test.h"

/* The whole of an array of C; and numbers of a grid's stencil, nine a point. */
#define HOST(array) ts_host(array, sizeof(array) / sizeof *(array))
#define stencil_over(grid, values) ts_host(values, 9 * (size_t)ts_space_get_size(grid))
#define stencil_of(matrix, values) stencil_over(ts_matrix_get_row_space(matrix), values)
/* The points of a ts_poisson_desc or a ts_grid_desc. */
#define POINTS(desc) ((size_t)(desc)->width * (size_t)(desc)->height)

#define EPSILON 5.9604644775390625e-8 /* 2^-24: half the distance from 1 to the next float */

ts_space *make_space(ts_context *context, int32_t size);
ts_vector *make_vector(ts_space *space, int components, const float *values); /* values NULL: zeros */
/* Of 1 to 3 parts; two: a pair. values NULL: zeros. */
ts_vector *make_parts(ts_space *space, int components, int parts, const double *values);
ts_scalars *make_scalars(ts_context *context, int count);
ts_scalars *make_pair_scalars(ts_context *context, int count);
ts_matrix *make_matrix(ts_context *context, const ref_matrix *m, ts_format format);
ts_solver *make_cg(ts_matrix *matrix, const ts_solver_desc *desc);
/* Creates a solver, solves and destroys it. */
ts_status solve_vectors(ts_matrix *matrix, const ts_vector *b, ts_vector *x, const ts_solver_desc *desc,
                        ts_result *result);
/* With `method` where desc (may be NULL) leaves it open. */
ts_status create_solver(ts_matrix *matrix, ts_method method, const ts_solver_desc *desc, ts_solver **solver);
ts_status create_cgls(ts_matrix *matrix, ts_matrix *transposed, const ts_solver_desc *desc, ts_solver **solver);
ts_preconditioner *make_cycle(ts_multigrid *multigrid); /* of multigrid */
ts_preconditioner *make_preconditioner(ts_matrix *matrix, const ts_preconditioner_desc *desc);
/* All 0 if there is none. */
ts_preconditioner_info preconditioner_info(const ts_preconditioner *M);

float *read_vector(const ts_vector *vector);   /* malloc; NaN where reading fails */
double *read_doubles(const ts_vector *vector); /* the same, with all parts */
void read_slot(ts_scalars *scalars, int index, float values[4]);
size_t vector_count(const ts_vector *vector);

/* Whether multigrid's residuals are computed in double or with their rounding errors, so that solves go on far
 * below what single precision leaves of b - A x: about 2^-24 a difference of neighbours, divided by h^2. OpenGL
 * without fused operations, or without ARB_gpu_shader5, has neither. */
int has_precise_residuals(ts_context *context);

/* A format in which the backend stores no matrices, TS_FORMAT_AUTO where it has them all. */
ts_format missing_format(const ts_context *context);

ts_context_info context_info(const ts_context *context);
ts_gl_info gl_info(const ts_context *context); /* of an OpenGL backend */
ts_matrix_info matrix_info(const ts_matrix *matrix);

/* Texels that belong to no index hold 0, so that reductions and products may read them. */
#define CHECK_PADDING(vector) check_padding(__FILE__, __LINE__, vector)
int check_padding(const char *file, int line, const ts_vector *vector);

/* The formats that the context's backend offers, in the order of the enumeration; AUTO comes first. */
int list_formats(ts_context *context, ts_format formats[8]);
/* The format of single entries in textures that follows, TS_FORMAT_AUTO behind the last: of all of them by
 *   for (ts_format f = texture_format_after(TS_FORMAT_AUTO); f; f = texture_format_after(f)) */
ts_format texture_format_after(ts_format format);
/* How many components vectors over a matrix in this format may have. */
int most_components(ts_format format);
/* Those that the matrix of a mesh can have: all but blocks. */
int list_mesh_formats(ts_context *context, ts_format formats[8]);

/* Every value is within `tolerance` epsilons of `scale` (per value; NULL: of the expected value's magnitude).
 * Reports the first that is not, once. */
int check_values(const char *file, int line, const float *actual, const double *expected, const double *scale,
                 size_t count, double tolerance);
#define CHECK_VALUES(actual, expected, scale, count, tolerance)                                                \
  check_values(__FILE__, __LINE__, actual, expected, scale, count, tolerance)

#endif
