/* The model of mesh-smooth: a mesh, the device it lives on, how it is smoothed, and its past. The window and
 * the headless program drive it alike. Functions return 0, or 1 with one line in `message`. */
#ifndef SMOOTHER_H
#define SMOOTHER_H

#include <texsolve/mesh.h>
#include <texsolve/gl.h>

#include "dsi.h"
#include "mesh.h"

typedef enum smoother_method {
  SMOOTHER_FLOW, /* steps of mean-curvature flow */
  SMOOTHER_DSI   /* discrete smooth interpolation: one step is the whole solution */
} smoother_method;

typedef enum smoother_preconditioner { SMOOTHER_JACOBI, SMOOTHER_AMG } smoother_preconditioner;

/* "jacobi", "amg" */
const char *smoother_preconditioner_name(smoother_preconditioner preconditioner);
ts_preconditioner_kind smoother_preconditioner_kind(smoother_preconditioner preconditioner);

typedef struct smoother_options {
  smoother_method method;
  const char *backend;     /* "gl", "cpu", ...; default: "auto". Copied */
  ts_gl_platform platform; /* CURRENT in a window, EGL or WINDOW without */
  ts_format format;
  ts_mesh_boundary boundary; /* FLOW: free, where the method is DSI */
  double time_step;          /* in squares of the bounding box's diagonal; default 1e-5 */
  smoother_preconditioner preconditioner;
  double rtol;         /* default 1e-4, of DSI 1e-5 */
  int cg_iterations;   /* 0: until rtol; else as the paper does: at most so many, the step counts anyway */
  int preserve_volume; /* scaled about the box's centre after each step; refused where the mesh is not closed */
  dsi_weights weights; /* of DSI, as is */
  double fit;          /* how much a vertex is held at its place; 0: not at all */
  int forgets;         /* nothing is kept that could be undone; cannot be changed */
} smoother_options;

enum { SMOOTHER_RESIDUALS = 256 };

/* How a step went. */
typedef struct step_report {
  int number; /* of the step, from 1 */
  int converged, iterations, substeps;
  double relative_residual;             /* of DSI that of the normal equations */
  double area, volume;                  /* in the file's units; NAN unless measured */
  double roughness_before, roughness;   /* of DSI, in parts of the diagonal; NAN unless measured */
  int setups;                           /* of the preconditioner: how often as a whole */
  double seconds_matrix, seconds_solve; /* without `timed` the matrix's are the solve's */
  double seconds_setup;                 /* of the preconditioner, or of its update */
  double seconds_draw;                  /* NAN, to be filled in by who draws */
  char message[160];                    /* why it was cut or failed, "" otherwise */
} step_report;

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
  ts_context_info info; /* of it */
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

/* To be read; what changes it are the functions below. The context and the vector of positions change only with
 * a device, a format, a boundary or the flow's preconditioner (smoother_set_options): steps, undo and redo go
 * on in the same vector. The start is the mesh as it came; noise makes the noisy mesh the start, and undoing
 * that brings the older start back, which has another number. */
typedef struct smoother {
  smoother_options options;
  char backend[64];       /* options.backend */
  mesh_measures measures; /* of the start; its box is that of the mesh as it came */
  smoother_start *start;
  int starts; /* made so far */
  smoother_device device;
  int steps;                           /* between the start and now */
  float *host;                         /* room for the positions */
  float residuals[SMOOTHER_RESIDUALS]; /* of the last solve's iterations: sqrt(delta / delta_0) after each */
  int residual_count;
  dsi *interpolation;          /* for this device and start; made when it is needed */
  dsi_controls controls;       /* outlive a change of device, and noise */
  ts_system_result dsi_result; /* of the last solve; all 0 before */
  ts_vector *live; /* where the interpolation has the vertices, until that is the mesh; NULL: x has */
  /* states[0 .. past) can be undone, the last one first; states[past .. past + future) can be redone. */
  past_state *states;
  int past, future, room;
} smoother;

/* Takes the mesh over (also on failure). Opens the device, puts the mesh on it, in units of its box's diagonal.
 */
int smoother_create(mesh *m, const smoother_options *options, smoother **out, char message[MESH_MESSAGE]);
void smoother_destroy(smoother **out);

ts_vector *smoother_positions(const smoother *s); /* on the device, unit coordinates */

/* Changes options that need no new device: time step, rtol, iterations, volume. The others (backend, format,
 * boundary, preconditioner) move the current positions to the new device; on failure everything stays as it
 * was. */
int smoother_set_options(smoother *s, const smoother_options *options, char message[MESH_MESSAGE]);
/* Whether they differ in such options, so that smoother_positions is another vector. */
int smoother_needs_other_device(const smoother_options *a, const smoother_options *b);

/* One step; measured: read the positions back for area and volume; timed: wait between matrix and solve to time
 * both. A step that could not be made leaves the mesh as it was, returns 0 and says so in the report (converged
 * 0, substeps 0). */
int smoother_step(smoother *s, int measured, int timed, step_report *report, char message[MESH_MESSAGE]);

/* The past: every step, noise and reset can be undone and redone, as far back as 256 MiB of device memory reach
 * (at least once), unless the smoother forgets. Return 1 with a message when there is nothing more. */
int smoother_undo(smoother *s, char message[MESH_MESSAGE]);
int smoother_redo(smoother *s, char message[MESH_MESSAGE]);
int smoother_reset(smoother *s, char message[MESH_MESSAGE]);
int smoother_add_noise(smoother *s, double amount, uint64_t seed, char message[MESH_MESSAGE]);

/* The current mesh in the file's units: a copy of the start with its positions moved. The caller destroys it.
 */
int smoother_current_mesh(const smoother *s, mesh *m, char message[MESH_MESSAGE]);

/* ---- Discrete smooth interpolation: control points, dragged ones too ---- */

/* Taken over by a copy; they must be those of the mesh. */
int smoother_set_controls(smoother *s, const dsi_controls *controls, char message[MESH_MESSAGE]);

/* So many iterations towards the solution for the control points as they are now, from where the last ones have
 * ended. The positions live in another vector from then on, until they settle: that makes them the mesh, as a
 * step does, which can be undone. To settle what is not live does nothing. */
int smoother_follow(smoother *s, int iterations, int *converged, char message[MESH_MESSAGE]);
int smoother_commit(smoother *s, char message[MESH_MESSAGE]);

/* ---- smoother_device.c ---- */

/* mesh_fail with the library's last words. */
int smoother_fail_status(const ts_context *context, ts_status status, const char *what,
                         char message[MESH_MESSAGE]);

/* Opens what the options say, in `context` unless that is NULL, with x where the start is. Leaves nothing
 * behind on failure, but the context that was given. */
int smoother_device_open(smoother *s, const smoother_options *options, ts_context *context,
                         smoother_device *device, char message[MESH_MESSAGE]);
void smoother_device_close(smoother_device *device, int keep_context);
ts_solver_desc smoother_solver(smoother *s, const smoother_options *options, const ts_context_info *device);
int smoother_keep_residuals(const ts_progress *progress, void *user);
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
void smoother_set_start(smoother *s, smoother_start *start); /* measures follow */
/* Copies x to device.before; when what was planned is done, `commit` makes it the past, with the start and the
 * number of steps of then. */
int smoother_past_prepare(smoother *s, char message[MESH_MESSAGE]);
void smoother_past_commit(smoother *s, smoother_start *start, int steps);
void smoother_past_forget(smoother *s);
/* The vectors of the past in another device's space: new ones, to be taken with smoother_past_move_done. */
int smoother_past_move(smoother *s, const smoother_device *to, ts_vector ***moved, char message[MESH_MESSAGE]);
void smoother_past_move_done(smoother *s, ts_vector **moved);

#endif
