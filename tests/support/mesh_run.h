/* A mesh with its flow and its positions, for tests of steps of the mesh flow. */
#ifndef MESH_RUN_H
#define MESH_RUN_H

#include <texsolve/mesh.h>

#include "mesh_samples.h"

typedef struct mesh_run {
  mesh_sample mesh;
  ts_mesh_flow *flow;
  ts_vector *x;
  float *now; /* positions on the host, when they were last read */
} mesh_run;

/* Takes ownership of the mesh and adds it to `desc`. Returns 0 on failure, and must be closed even then. */
int mesh_run_open(mesh_run *r, ts_context *context, mesh_sample mesh, ts_mesh_flow_desc desc);
void mesh_run_close(mesh_run *r);

const float *mesh_run_look(mesh_run *r);
/* Checks that the positions equal these bit for bit. */
int mesh_run_is_at(mesh_run *r, const float *positions);

/* Takes steps that must succeed at full length, and must report it. Returns 0 if one does not. */
int mesh_run_steps(mesh_run *r, int count, double time_step);

#endif
