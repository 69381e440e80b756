/* Matrices of discretised differential equations in double precision, for tests of algebraic multigrid. All are
 * symmetric positive definite. */
#ifndef BENCH_GENERATE_PROBLEM_H
#define BENCH_GENERATE_PROBLEM_H

#include "generate.h"

/* A matrix that owns its arrays. Free it with generated_problem_free. */
typedef struct generated_problem {
  int32_t rows;
  int32_t *row_offsets, *column_indices;
  double *values;
  int unknowns;        /* unknowns per node, in consecutive rows */
  int dimensions;      /* of the coordinates; 0: none */
  double *coordinates; /* of the nodes */
  int vectors;         /* of the near-null space; 0: constants, or derived from the coordinates */
  double *near_null;   /* rows x vectors */
} generated_problem;

/* Generates a matrix by name:
 *
 *   "anisotropic2d", "anisotropic3d": poisson2d and poisson3d with couplings of 1000 along the last axis
 *   "jumps2d", "jumps3d": random coefficients 1 or 1e6 per cell; a face has the harmonic mean of its two cells
 *   "cantilever"  displacements of a beam of 3 w x w x w trilinear cubes, Poisson's ratio 0.3. The nodes of one
 *                 end are fixed: their rows are the identity's, and their columns are eliminated
 *
 * The first four have exactly `rows` rows. The last has at most `rows` rows, three per node, and coordinates.
 * Other names create the matrices of generate_matrix. lscm then has a near-null space, two rows per node and an
 * even number of rows. Returns as generate_matrix. */
int generate_problem(generated_problem *p, const char *name, int32_t rows);
void generated_problem_free(generated_problem *p);
/* Whether the name is one of the above. */
int generated_is_problem(const char *name);

/* One of the above, rounded to single precision. */
int generate_rounded_problem(generated_matrix *A, const char *name, int32_t rows);

/* Allocates the arrays of a matrix, including the coordinates. Returns 0, or 2 if memory is exhausted or the
 * entries exceed a 32-bit offset. */
int generated_problem_allocate(generated_problem *p, int32_t rows, int64_t entries, int unknowns,
                               int dimensions);
/* generate_cantilever.c */
int generate_cantilever(generated_problem *p, int32_t rows);

#endif
