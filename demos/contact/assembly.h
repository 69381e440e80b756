/* The contacts of a step as a complementarity problem: H, M^-1, q, mu for ts_lcp_desc. */
#ifndef ASSEMBLY_H
#define ASSEMBLY_H

#include <texsolve/lcp.h>

#include "world.h"

typedef struct assembly {
  ts_csr jacobian;      /* H: three rows a contact, six columns for each body that moves */
  double *inverse_mass; /* blocks of 6 x 6, times `mass` */
  double *q, *z;        /* q = H v_free and what the gap or the impact adds; z: the reactions, by `mass` */
  double *friction;
  double
      mass;   /* the mean of the bodies that move: with it as the unit reactions and velocities are of a size */
  int *slots; /* of each body: its six columns; -1: fixed */
  int32_t *row_offsets, *columns;
  double *values;
  int body_capacity, contact_capacity;
} assembly;

/* For the velocities after world_accelerate; nothing where nothing touches. Returns 0, or 1 without memory. */
int assembly_make(assembly *a, const world *w, int warm_start);
/* Puts z into the contacts' reactions. */
void assembly_write_reactions(const assembly *a, world *w);
void assembly_free(assembly *a);

#endif
