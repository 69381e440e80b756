/* Systems as dense arrays in double precision, solved by elimination: what the system builder is held against.
 */
#ifndef DENSE_H
#define DENSE_H

#include <texsolve/system.h>

#include "reference.h"

enum { DENSE_COMPONENTS = 4 };

/* Equations or conditions over n unknowns, and what is known of the unknowns. */
typedef struct dense {
  int rows, n, components, least_squares;
  double *a, *b, *weights; /* rows x n, rows x components, rows */
  double *values;          /* n x components: of locked unknowns; dense_solve fills in the others */
  unsigned char *locked;
} dense;

dense dense_create(int rows, int n, int components, int least_squares);
void dense_free(dense *d);

/* Elimination with pivots, in place; right-hand sides of `components` become the solution. Returns 0 where a
 * pivot is 0. */
int dense_eliminate(int n, int components, double *a, double *b);

/* The unknowns that are not locked, of the equations or, in least squares, of the normal equations. */
int dense_solve(dense *d);

/* Random ones that elimination is right about to some ten digits: diagonally dominant and symmetric or not, and
 * conditions with few coefficients each, among them one for each unknown by itself. */
dense dense_square(int n, int per_row, int symmetric, int components, uint64_t seed);
dense dense_least_squares(int rows, int n, int per_row, int components, uint64_t seed);

/* Locks every `step`-th unknown at random values. */
void dense_lock(dense *d, int first, int step, uint64_t seed);

/* ---- The same for the system builder ---- */
void dense_lock_system(ts_system *system, const dense *d);                   /* and values */
ts_system *dense_system(ts_context *context, const dense *d, int symmetric); /* locks and values too */
void dense_state_rows(ts_system *system, const dense *d);                    /* begin .. end */
/* The largest difference of a value and that of `d`, relative to the largest value of that component. */
double dense_difference(ts_system *system, const dense *d);

#endif
