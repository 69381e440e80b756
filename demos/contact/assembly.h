/* The contacts of a step as a complementarity problem: H, M^-1, q and mu for ts_lcp_desc. */
#ifndef ASSEMBLY_H
#define ASSEMBLY_H

#include <texsolve/lcp.h>

#include "world.h"

typedef struct assembly {
  ts_csr jacobian;      /* H: three rows per contact, six columns per moving body */
  double *inverse_mass; /* 6 x 6 blocks, multiplied by `mass` */
  double *q, *z;        /* q = H v_free + bias; z: the reactions divided by `mass` */
  double *friction;
  double mass; /* mean mass of the moving bodies; this unit makes reactions and velocities similar in size */
  int *slots;  /* first of the six columns of each body; -1: fixed */
  int32_t *row_offsets, *columns;
  double *values;
  int body_capacity, contact_capacity;
} assembly;

/* Assembles the problem for the velocities after world_accelerate. Does nothing without contacts. Returns 0, or
 * 1 if memory runs out. */
int assembly_make(assembly *a, const world *w, int warm_start);
/* Copies z to the contacts' reactions. */
void assembly_write_reactions(const assembly *a, world *w);
void assembly_free(assembly *a);

#endif
