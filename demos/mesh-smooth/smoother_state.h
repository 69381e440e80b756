/* What the smoother consists of, for its own files. */
#ifndef SMOOTHER_STATE_H
#define SMOOTHER_STATE_H

#include "smoother.h"

/* A start: the mesh, and where its vertices are on the device's scale. The past may hold several. */
typedef struct smoother_start {
  int references, number;
  mesh m;
  float *unit; /* 3 a vertex */
  double area, volume;
} smoother_start;

/* What belongs to one device. */
typedef struct smoother_device {
  ts_context *context;
  ts_mesh_flow *flow;
  ts_vector *x;      /* where the vertices are */
  ts_vector *before; /* a vector to spare: x before a step */
  ts_vector *mobile; /* 1 for vertices that may move, 0 for others; only to preserve the volume */
  ts_vector *change; /* only to preserve the volume */
} smoother_device;

/* Positions with their start: a step, noise or a reset can go back to them. */
typedef struct past_state {
  ts_vector *x;
  smoother_start *start;
  int steps;
} past_state;

struct smoother {
  smoother_options options;
  char backend[64];       /* options.backend */
  mesh_measures measures; /* of the start; its box is that of the mesh as it came */
  smoother_start *start;
  int starts; /* made so far */
  smoother_device device;
  int steps;
  float *host; /* room for the positions */
  float residuals[SMOOTHER_RESIDUALS];
  int residual_count;
  dsi *interpolation; /* for this device and start; made when it is needed */
  dsi_controls controls;
  ts_system_result dsi_result;
  ts_vector *live; /* where the interpolation has the vertices, until that is the mesh; NULL: x has */
  /* states[0 .. past) can be undone, the last one first; states[past .. past + future) can be redone. */
  past_state *states;
  int past, future, room;
};

/* ---- smoother_device.c ---- */

/* mesh_fail with the library's last words. */
int smoother_fail_status(const ts_context *context, ts_status status, const char *what,
                         char message[MESH_MESSAGE]);

/* Opens what the options say, in `context` unless that is NULL, with x where the start is. Leaves nothing
 * behind on failure, but the context that was given. */
int smoother_device_open(smoother *s, const smoother_options *options, ts_context *context,
                         smoother_device *device, char message[MESH_MESSAGE]);
void smoother_device_close(smoother_device *device, int keep_context);
ts_solver_desc smoother_solver(smoother *s, const smoother_options *options, const ts_context *context);
int smoother_keep_residuals(int iteration, const double *history, int count, void *user);
/* To and from s->host. */
ts_status smoother_read(const smoother *s, const ts_vector *x);
ts_status smoother_write(const smoother *s, ts_vector *x);
/* Area and volume now, in units of the diagonal. */
ts_status smoother_measure(const smoother *s, double *area, double *volume);

/* ---- smoother_dsi.c ---- */

int smoother_dsi_step(smoother *s, int measured, step_report *report, char message[MESH_MESSAGE]);
/* It was for another device or start. */
void smoother_dsi_forget(smoother *s);

/* ---- smoother_past.c ---- */

smoother_start *smoother_start_create(smoother *s, mesh *m, char message[MESH_MESSAGE]);
void smoother_start_release(smoother_start *start);
void smoother_take_start(smoother *s, smoother_start *start); /* measures follow */
/* Copies x to device.before; when what was planned is done, `commit` makes it the past, with the start and the
 * number of steps of then. */
int smoother_past_prepare(smoother *s, char message[MESH_MESSAGE]);
void smoother_past_commit(smoother *s, smoother_start *start, int steps);
void smoother_past_forget(smoother *s);
/* The vectors of the past in another device's space: new ones, to be taken with smoother_past_move_done. */
int smoother_past_move(smoother *s, const smoother_device *to, ts_vector ***moved, char message[MESH_MESSAGE]);
void smoother_past_move_done(smoother *s, ts_vector **moved);

#endif
