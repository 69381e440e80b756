/* Square systems for direct solves, of dense arrays, with doubles; and the module that solves them. */
#ifndef DIRECT_SAMPLES_H
#define DIRECT_SAMPLES_H

#include "helpers.h"

/* Whether the module was built and the backend is one process; the library is told where the module is. Call it
 * first in every case. */
int direct_is_built(void);
/* The library finds no module. */
void direct_hide(const char *path);

typedef struct direct_sample {
  int n, family;
  double *dense; /* n x n, by rows */
  int32_t *offsets, *columns;
  double *values;
  float *floats; /* the values, rounded */
} direct_sample;

/* Zeros of the dense array, which the sample takes over, are no entries. */
direct_sample direct_of(int n, double *dense);
void direct_free(direct_sample *s);
/* The values become those of floats. */
void direct_round(direct_sample *s);
/* The values become those times 2^exponent. */
void direct_scale(direct_sample *s, int exponent);

enum {
  DIRECT_POSITIVE,      /* symmetric positive definite */
  DIRECT_NEGATIVE,      /* its negative */
  DIRECT_INDEFINITE,    /* symmetric, with a positive diagonal and eigenvalues of both signs */
  DIRECT_KKT,           /* symmetric, with a block of zeros on the diagonal */
  DIRECT_PERMUTATION,   /* one entry in each row and column, none on the diagonal */
  DIRECT_ZERO_DIAGONAL, /* not symmetric, nothing on the diagonal */
  DIRECT_RANDOM,        /* not symmetric, large entries away from the diagonal */
  DIRECT_UNITS,         /* the same in rows and columns of very different units */
  DIRECT_FAMILIES
};
direct_sample direct_make(int family, int n);
/* The binary exponent of the unit of a row. */
int direct_row_exponent(const direct_sample *s, int i);

ts_matrix *direct_matrix(ts_context *context, const direct_sample *s, int as_floats);
/* max over components of ||b - A x|| / ||b||, in long double. */
double direct_residual(const direct_sample *s, int components, const double *x, const double *b);

#endif
