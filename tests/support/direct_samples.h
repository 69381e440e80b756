/* Square systems in doubles for direct solves, made from dense arrays, and access to the module that solves
 * them. */
#ifndef DIRECT_SAMPLES_H
#define DIRECT_SAMPLES_H

#include "helpers.h"

/* True if the module was built and the backend is one process. Also passes the module's path to the library, so
 * every case must call it first. */
int direct_is_built(void);
/* Makes the library look for the module at `path`, which does not exist. */
void direct_hide(const char *path);

typedef struct direct_sample {
  int n, family;
  double *dense; /* n x n, by rows */
  int32_t *offsets, *columns;
  double *values;
  float *floats; /* the values, rounded to float */
} direct_sample;

/* Takes ownership of the dense array. Its zeros are not stored as entries. */
direct_sample direct_of(int n, double *dense);
void direct_free(direct_sample *s);
/* Rounds the values to float. */
void direct_round(direct_sample *s);
/* Multiplies the values by 2^exponent. */
void direct_scale(direct_sample *s, int exponent);

enum {
  DIRECT_POSITIVE,      /* symmetric positive definite */
  DIRECT_NEGATIVE,      /* the negative of DIRECT_POSITIVE */
  DIRECT_INDEFINITE,    /* symmetric, with a positive diagonal and eigenvalues of both signs */
  DIRECT_KKT,           /* symmetric, with a block of zeros on the diagonal */
  DIRECT_PERMUTATION,   /* one entry per row and column, none on the diagonal */
  DIRECT_ZERO_DIAGONAL, /* unsymmetric, without a diagonal */
  DIRECT_RANDOM,        /* unsymmetric, with large off-diagonal entries */
  DIRECT_UNITS,         /* DIRECT_RANDOM with very different units of rows and columns */
  DIRECT_FAMILIES
};
direct_sample direct_make(int family, int n);
/* The binary exponent of a row's unit. */
int direct_row_exponent(const direct_sample *s, int i);

ts_matrix *direct_matrix(ts_context *context, const direct_sample *s, int as_floats);
/* The maximum of ||b - A x|| / ||b|| over the components, in long double. */
double direct_residual(const direct_sample *s, int components, const double *x, const double *b);

#endif
