/* Matrices of discretised differential equations in double precision: what algebraic multigrid is tried on.
 * All are symmetric and positive definite. */
#ifndef BENCH_GENERATE_PROBLEM_H
#define BENCH_GENERATE_PROBLEM_H

#include "generate.h"

/* A matrix whose arrays are its own, to be freed with generated_problem_free. */
typedef struct generated_problem {
  int32_t rows;
  int32_t *row_offsets, *column_indices;
  double *values;
  int unknowns;        /* of a node, rows that follow each other */
  int dimensions;      /* of the coordinates; 0: there are none */
  double *coordinates; /* of the nodes */
  int vectors;         /* of the near-null space; 0: constants, or what the coordinates say */
  double *near_null;   /* rows x vectors */
} generated_problem;

/* "anisotropic2d", "anisotropic3d": poisson2d and poisson3d with couplings of 1000 along the last axis
 * "jumps2d", "jumps3d": every cell has the coefficient 1 or 1e6 by chance, a face the harmonic mean of its two
 *               cells'
 * "cantilever"  displacements of a beam of 3 w x w x w trilinear cubes, Poisson's ratio 0.3. The nodes of one
 *               end are held: their rows are the identity's, and their columns are eliminated
 * The first four have exactly `rows` rows, the last one at most as many, three a node, and coordinates.
 * Generated matrices of other names are those of generate_matrix, lscm with a near-null space and two rows a
 * node, an even number of them. Returns as that does. */
int generate_problem(generated_problem *p, const char *name, int32_t rows);
void generated_problem_free(generated_problem *p);
/* Whether it is one of the above. */
int generated_is_problem(const char *name);

/* One of the above, rounded to single precision. */
int generate_rounded_problem(generated_matrix *A, const char *name, int32_t rows);

/* Arrays for a matrix, the coordinates' included. Returns 0; 2 without memory or with more entries than a
 * 32-bit offset counts. */
int generated_problem_allocate(generated_problem *p, int32_t rows, int64_t entries, int unknowns,
                               int dimensions);
/* generate_cantilever.c */
int generate_cantilever(generated_problem *p, int32_t rows);

#endif
