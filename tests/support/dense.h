/* Systems as dense arrays in double precision, solved by elimination. They are the reference for the system
 * builder. */
#ifndef DENSE_H
#define DENSE_H

#include <texsolve/system.h>

#include "reference.h"

enum { DENSE_COMPONENTS = 4 };

/* Equations or least-squares conditions over n unknowns, and the values of locked unknowns. */
typedef struct dense {
  int rows, n, components, least_squares;
  double *a, *b, *weights; /* rows x n, rows x components, rows */
  double *values;          /* n x components: set for locked unknowns, computed by dense_solve for the others */
  unsigned char *locked;
} dense;

dense dense_create(int rows, int n, int components, int least_squares);
void dense_free(dense *d);

/* Elimination with pivoting, in place. The `components` right-hand sides become the solution. Returns 0 if a
 * pivot is 0. */
int dense_eliminate(int n, int components, double *a, double *b);

/* Computes the unlocked unknowns from the equations, or in least squares from the normal equations. */
int dense_solve(dense *d);

/* Random systems that elimination solves to about ten digits: diagonally dominant ones, symmetric or not, and
 * conditions with few coefficients each, including one condition for each single unknown. */
dense dense_square(int n, int per_row, int symmetric, int components, uint64_t seed);
dense dense_least_squares(int rows, int n, int per_row, int components, uint64_t seed);

/* Locks every `step`-th unknown to a random value. */
void dense_lock(dense *d, int first, int step, uint64_t seed);

/* ---- The same systems in the system builder ---- */
void dense_lock_system(ts_system *system, const dense *d);                   /* and sets their values */
ts_system *dense_system(ts_context *context, const dense *d, int symmetric); /* also locks and sets values */
void dense_state_rows(ts_system *system, const dense *d);                    /* begin .. end */
/* The largest difference between a value and that of `d`, relative to the largest value of its component. */
double dense_difference(ts_system *system, const dense *d);

#endif
