/* Short forms of frequent calls of the library. A failure is reported and returns NULL. */
#ifndef HELPERS_H
#define HELPERS_H

#include <texsolve/gl.h>
#include <texsolve/grid.h>
#include <texsolve/solver.h>

#include "reference.h"
#include "test.h"

/* A whole C array, and the coefficients of a grid's stencil, nine per point. */
#define HOST(array) ts_host(array, sizeof(array) / sizeof *(array))
#define stencil_over(grid, values) ts_host(values, 9 * (size_t)ts_space_get_size(grid))
#define stencil_of(matrix, values) stencil_over(ts_matrix_get_row_space(matrix), values)
/* The number of points of a ts_poisson_desc or a ts_grid_desc. */
#define POINTS(desc) ((size_t)(desc)->width * (size_t)(desc)->height)

#define EPSILON 5.9604644775390625e-8 /* 2^-24: half the distance from 1 to the next float */

ts_space *make_space(ts_context *context, int32_t size);
ts_vector *make_vector(ts_space *space, int components, const float *values); /* NULL: zeros */
/* With 1 to 3 parts; two parts are a pair. values NULL: zeros. */
ts_vector *make_parts(ts_space *space, int components, int parts, const double *values);
ts_scalars *make_scalars(ts_context *context, int count);
ts_scalars *make_pair_scalars(ts_context *context, int count);
ts_matrix *make_matrix(ts_context *context, const ref_matrix *m, ts_format format);
ts_solver *make_cg(ts_matrix *matrix, const ts_solver_desc *desc);
/* Creates a solver, solves with it and destroys it. */
ts_status solve_vectors(ts_matrix *matrix, const ts_vector *b, ts_vector *x, const ts_solver_desc *desc,
                        ts_result *result);
/* Uses `method` if desc, which may be NULL, does not choose one. */
ts_status create_solver(ts_matrix *matrix, ts_method method, const ts_solver_desc *desc, ts_solver **solver);
ts_status create_cgls(ts_matrix *matrix, ts_matrix *transposed, const ts_solver_desc *desc, ts_solver **solver);
ts_preconditioner *make_cycle(ts_multigrid *multigrid); /* one multigrid cycle */
ts_preconditioner *make_preconditioner(ts_matrix *matrix, const ts_preconditioner_desc *desc);
/* All fields are 0 if M is NULL. */
ts_preconditioner_info preconditioner_info(const ts_preconditioner *M);

float *read_vector(const ts_vector *vector);   /* the caller frees it; NaN if reading fails */
double *read_doubles(const ts_vector *vector); /* likewise, with all parts */
void read_slot(ts_scalars *scalars, int index, float values[4]);
size_t vector_count(const ts_vector *vector);

/* True if multigrid computes residuals in double precision or with their rounding errors. Solves then continue
 * far below the limit of single precision, which is about 2^-24 per difference of neighbours, divided by h^2.
 * OpenGL without fused operations or without ARB_gpu_shader5 has neither. */
int has_precise_residuals(ts_context *context);

/* A format that the backend does not support, or TS_FORMAT_AUTO if it supports all. */
ts_format missing_format(const ts_context *context);

ts_context_info context_info(const ts_context *context);
ts_gl_info gl_info(const ts_context *context); /* only for an OpenGL backend */
ts_matrix_info matrix_info(const ts_matrix *matrix);

/* Texels without an index must hold 0, because reductions and products may read them. */
#define CHECK_PADDING(vector) check_padding(__FILE__, __LINE__, vector)
int check_padding(const char *file, int line, const ts_vector *vector);

/* The formats of the context's backend, in the order of the enumeration, with AUTO first. */
int list_formats(ts_context *context, ts_format formats[8]);
/* The next format of single entries in textures, or TS_FORMAT_AUTO after the last one:
 *   for (ts_format f = texture_format_after(TS_FORMAT_AUTO); f; f = texture_format_after(f)) */
ts_format texture_format_after(ts_format format);
/* The largest number of components of vectors over a matrix in this format. */
int most_components(ts_format format);
/* The formats that the matrix of a mesh supports: all except blocks. */
int list_mesh_formats(ts_context *context, ts_format formats[8]);

/* Checks that every value is within `tolerance` epsilons of `scale` (per value; NULL: the expected value's
 * magnitude). Reports only the first fault. */
int check_values(const char *file, int line, const float *actual, const double *expected, const double *scale,
                 size_t count, double tolerance);
#define CHECK_VALUES(actual, expected, scale, count, tolerance)                                                \
  check_values(__FILE__, __LINE__, actual, expected, scale, count, tolerance)

#endif
