/* The normal equations of a conformal map as a matrix on the host. */
#ifndef CONFORMAL_NORMAL_H
#define CONFORMAL_NORMAL_H

#include "charts.h"
#include "sparse.h"

/* A^T W A of the conditions (conformal.h), 2 unknowns a flat vertex; rows and columns of pinned ones are those
 * of the identity. What rounding leaves of 0 is taken out: u and v are coupled along the boundary alone, which
 * makes it half the entries. Returns 0, or 1 where memory is out. */
int conformal_normal(const mesh *m, const charts *c, const unsigned char *pinned, sparse *N);

#endif
