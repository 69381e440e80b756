/* The model of mesh-smooth: a mesh, its device, the method and the undo history. The window and the headless
 * program share it. Functions return 0, or 1 with one line in `message`. */
#ifndef SMOOTHER_H
#define SMOOTHER_H

#include <texsolve/mesh.h>
#include <texsolve/gl.h>

#include "dsi.h"
#include "mesh.h"

typedef enum smoother_method {
  SMOOTHER_FLOW, /* mean-curvature flow in steps */
  SMOOTHER_DSI   /* discrete smooth interpolation; one step is the complete solution */
} smoother_method;

typedef enum smoother_preconditioner { SMOOTHER_JACOBI, SMOOTHER_AMG } smoother_preconditioner;

/* "jacobi", "amg" */
const char *smoother_preconditioner_name(smoother_preconditioner preconditioner);
ts_preconditioner_kind smoother_preconditioner_kind(smoother_preconditioner preconditioner);

typedef struct smoother_options {
  smoother_method method;
  const char *backend;     /* "gl", "cpu", ...; default: "auto". Copied */
  ts_gl_platform platform; /* CURRENT in a window, otherwise EGL or WINDOW */
  ts_format format;
  ts_mesh_boundary boundary; /* with DSI, FLOW means a free boundary */
  double time_step;          /* in squares of the bounding box's diagonal; default 1e-5 */
  smoother_preconditioner preconditioner;
  double rtol; /* default 1e-4; with DSI 1e-5 */
  /* 0: iterate to rtol; otherwise the maximum, after which the result is accepted, as in the paper */
  int cg_iterations;
  int preserve_volume; /* rescale about the box's centre after each step; refused if the mesh is not closed */
  dsi_weights weights; /* for DSI */
  double fit;          /* weight that holds vertices in place; 0: none */
  int forgets;         /* do not record the history; cannot be changed */
} smoother_options;

enum { SMOOTHER_RESIDUALS = 256 };

/* Outcome of a step. */
typedef struct step_report {
  int number; /* from 1 */
  int converged, iterations, substeps;
  double relative_residual;             /* for DSI that of the normal equations */
  double area, volume;                  /* in the file's units; NAN unless measured */
  double roughness_before, roughness;   /* for DSI, relative to the diagonal; NAN unless measured */
  int setups;                           /* number of complete set-ups of the preconditioner */
  double seconds_matrix, seconds_solve; /* unless `timed`, seconds_solve includes the matrix */
  double seconds_setup;                 /* for the preconditioner, including updates */
  double seconds_draw;                  /* NAN; set by the caller that draws */
  char message[160];                    /* why the step was split or failed, otherwise "" */
} step_report;

/* A start: a mesh, and its positions in unit coordinates. The history may hold several starts. */
typedef struct smoother_start {
  int references, number;
  mesh m;
  float *unit; /* 3 per vertex */
  double area, volume;
} smoother_start;

/* Objects that belong to one device. */
typedef struct smoother_device {
  ts_context *context;
  ts_context_info info; /* about the context */
  ts_mesh_flow *flow;
  ts_vector *x;      /* the present positions */
  ts_vector *before; /* spare vector: x before a step */
  ts_vector *mobile; /* 1 for movable vertices, otherwise 0; only to preserve the volume */
  ts_vector *change; /* only to preserve the volume */
} smoother_device;

/* A state that undo or redo can restore. */
typedef struct past_state {
  ts_vector *x;
  smoother_start *start;
  int steps;
} past_state;

/* Read-only for callers. The functions below change it. The context and the vector of positions change only
 * when the device, format, boundary or the flow's preconditioner changes (smoother_set_options). Steps, undo
 * and redo keep using the same vector. The start is the mesh as loaded. Noise makes the noisy mesh the start.
 * Undoing the noise restores the previous start, which has a different number. */
typedef struct smoother {
  smoother_options options;
  char backend[64];       /* storage of options.backend */
  mesh_measures measures; /* of the start; the box is that of the mesh as loaded */
  smoother_start *start;
  int starts; /* number of starts created so far */
  smoother_device device;
  int steps;                           /* number of steps since the start */
  float *host;                         /* workspace for the positions */
  float residuals[SMOOTHER_RESIDUALS]; /* of each iteration of the last solve: sqrt(delta / delta_0) */
  int residual_count;
  dsi *interpolation;          /* for this device and start; created on first use */
  dsi_controls controls;       /* kept when the device changes, and after noise */
  ts_system_result dsi_result; /* of the last solve; zeros before the first */
  ts_vector *live;             /* positions of an interpolation in progress; NULL: x has the positions */
  /* states[0 .. past) can be undone, the last one first. states[past .. past + future) can be redone. */
  past_state *states;
  int past, future, room;
} smoother;

/* Takes over the mesh, also on failure. Opens the device and uploads the mesh in units of its box's
 * diagonal. */
int smoother_create(mesh *m, const smoother_options *options, smoother **out, char message[MESH_MESSAGE]);
void smoother_destroy(smoother **out);

ts_vector *smoother_positions(const smoother *s); /* on the device, in unit coordinates */

/* Time step, rtol, iterations and volume change in place. The others (backend, format, boundary,
 * preconditioner) move the present positions to a new device. On failure nothing changes. */
int smoother_set_options(smoother *s, const smoother_options *options, char message[MESH_MESSAGE]);
/* Returns 1 if the options need a new device, after which smoother_positions is a different vector. */
int smoother_needs_other_device(const smoother_options *a, const smoother_options *b);

/* Makes one step. `measured`: reads the positions back to compute area and volume. `timed`: synchronises
 * between matrix and solve to time both. A step that fails leaves the mesh unchanged and returns 0; its report
 * has converged 0 and substeps 0. */
int smoother_step(smoother *s, int measured, int timed, step_report *report, char message[MESH_MESSAGE]);

/* The history: steps, noise and resets can be undone and redone, within 256 MiB of device memory (at least
 * once), unless `forgets` is set. They return 1 with a message if there is nothing to undo or redo. */
int smoother_undo(smoother *s, char message[MESH_MESSAGE]);
int smoother_redo(smoother *s, char message[MESH_MESSAGE]);
int smoother_reset(smoother *s, char message[MESH_MESSAGE]);
int smoother_add_noise(smoother *s, double amount, uint64_t seed, char message[MESH_MESSAGE]);

/* A copy of the start with the present positions, in the file's units. The caller destroys it. */
int smoother_current_mesh(const smoother *s, mesh *m, char message[MESH_MESSAGE]);

/* ---- Discrete smooth interpolation: control points and dragging ---- */

/* Copies the control points, which must belong to the mesh. */
int smoother_set_controls(smoother *s, const dsi_controls *controls, char message[MESH_MESSAGE]);

/* Makes `iterations` iterations towards the solution for the present control points, from the last result. The
 * positions are then in another vector until smoother_commit makes them the mesh, as an undoable step. It does
 * nothing if there is no such vector. */
int smoother_follow(smoother *s, int iterations, int *converged, char message[MESH_MESSAGE]);
int smoother_commit(smoother *s, char message[MESH_MESSAGE]);

/* ---- smoother_device.c ---- */

/* mesh_fail with the library's last error. */
int smoother_fail_status(const ts_context *context, ts_status status, const char *what,
                         char message[MESH_MESSAGE]);

/* Opens the device of the options, in `context` unless that is NULL, with x at the start. On failure it
 * releases everything except the given context. */
int smoother_device_open(smoother *s, const smoother_options *options, ts_context *context,
                         smoother_device *device, char message[MESH_MESSAGE]);
void smoother_device_close(smoother_device *device, int keep_context);
ts_solver_desc smoother_solver(smoother *s, const smoother_options *options, const ts_context_info *device);
int smoother_keep_residuals(const ts_progress *progress, void *user);
/* Copy to and from s->host. */
ts_status smoother_read(const smoother *s, const ts_vector *x);
ts_status smoother_write(const smoother *s, ts_vector *x);
/* Present area and volume, in units of the diagonal. */
ts_status smoother_measure(const smoother *s, double *area, double *volume);

/* ---- smoother_dsi.c ---- */

int smoother_dsi_step(smoother *s, int measured, step_report *report, char message[MESH_MESSAGE]);
/* Call when the device or the start changes. */
void smoother_dsi_forget(smoother *s);

/* ---- smoother_past.c ---- */

smoother_start *smoother_start_create(smoother *s, mesh *m, char message[MESH_MESSAGE]);
void smoother_start_release(smoother_start *start);
void smoother_set_start(smoother *s, smoother_start *start); /* also updates the measures */
/* Copies x to device.before. After the operation `commit` adds it to the history, with the old start and number
 * of steps. */
int smoother_past_prepare(smoother *s, char message[MESH_MESSAGE]);
void smoother_past_commit(smoother *s, smoother_start *start, int steps);
void smoother_past_forget(smoother *s);
/* Copies the history to another device. smoother_past_move_done replaces the old vectors by the copies. */
int smoother_past_move(smoother *s, const smoother_device *to, ts_vector ***moved, char message[MESH_MESSAGE]);
void smoother_past_move_done(smoother *s, ts_vector **moved);

#endif
