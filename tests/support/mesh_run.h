/* A mesh, its flow and its positions, as tests of the mesh flow's steps use them. */
#ifndef MESH_RUN_H
#define MESH_RUN_H

#include <texsolve/mesh.h>

#include "mesh_samples.h"

typedef struct mesh_run {
  mesh_sample mesh;
  ts_mesh_flow *flow;
  ts_vector *x;
  float *now; /* positions on the host, as of the last look */
} mesh_run;

/* Takes the mesh over; `desc` is completed with it. Returns 0 on failure; close it all the same. */
int mesh_run_open(mesh_run *r, ts_context *context, mesh_sample mesh, ts_mesh_flow_desc desc);
void mesh_run_close(mesh_run *r);

const float *mesh_run_look(mesh_run *r);
/* The positions are these, to the last bit. */
int mesh_run_is_at(mesh_run *r, const float *positions);

/* Steps that succeed at their full length, and tell so in their result. Returns 0 if one does not. */
int mesh_run_steps(mesh_run *r, int count, double time_step);

#endif
