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

typedef struct smoother_options {
  smoother_method method;
  const char *backend;     /* "gl", "cpu", ...; default: "auto". Copied */
  ts_gl_platform platform; /* CURRENT in a window, EGL or WINDOW without */
  ts_format format;
  ts_mesh_boundary boundary; /* FLOW: free, where the method is DSI */
  double time_step;          /* in squares of the bounding box's diagonal; default 1e-5 */
  double rtol;               /* default 1e-4, of DSI 1e-5 */
  int cg_iterations;   /* 0: until rtol; else as the paper does: at most so many, the step counts anyway */
  int preserve_volume; /* scaled about the box's centre after each step; refused where the mesh is not closed */
  dsi_weights weights; /* of DSI, as is */
  double fit;          /* how much a vertex is held at its place; 0: not at all */
  int forgets;         /* nothing is kept that could be undone; cannot be changed */
} smoother_options;

typedef struct smoother smoother;

enum { SMOOTHER_RESIDUALS = 256 };

/* How a step went. */
typedef struct step_report {
  int number; /* of the step, from 1 */
  int converged, iterations, substeps;
  double relative_residual;             /* of DSI that of the normal equations */
  double area, volume;                  /* in the file's units; NAN unless measured */
  double roughness_before, roughness;   /* of DSI, in parts of the diagonal; NAN unless measured */
  double seconds_matrix, seconds_solve; /* without `timed` all is the solve's */
  double seconds_draw;                  /* NAN, to be filled in by who draws */
  char message[160];                    /* why it was cut or failed, "" otherwise */
} step_report;

/* Takes the mesh over (also on failure). Opens the device, puts the mesh on it, in units of its box's diagonal.
 */
int smoother_create(mesh *m, const smoother_options *options, smoother **out, char message[MESH_MESSAGE]);
void smoother_destroy(smoother **out);

/* What it works on; borrowed, valid until the next call that changes it. The context and the vector of
 * positions change only with a device, a format or a boundary (smoother_set_options): steps, undo and redo go
 * on in the same vector. The start is the mesh as it came; noise makes the noisy mesh the start, and undoing
 * that brings the older start back, which smoother_start_number tells by another number. */
const mesh *smoother_mesh(const smoother *s);                    /* as it was at the start, noise included */
const mesh_measures *smoother_start_measures(const smoother *s); /* box: that of the mesh as it came */
ts_context *smoother_context(const smoother *s);
ts_mesh_flow *smoother_flow(const smoother *s);
ts_vector *smoother_positions(const smoother *s);         /* on the device, unit coordinates */
const float *smoother_start_positions(const smoother *s); /* unit coordinates, 3 a vertex */
int smoother_start_number(const smoother *s);
const smoother_options *smoother_get_options(const smoother *s);
/* Of the last solve's iterations, up to SMOOTHER_RESIDUALS: sqrt(delta / delta_0) after each. */
const float *smoother_residuals(const smoother *s, int *count);

/* Changes options that need no new device: time step, rtol, iterations, volume. The others (backend, format,
 * boundary) move the current positions to the new device; on failure everything stays as it was. */
int smoother_set_options(smoother *s, const smoother_options *options, char message[MESH_MESSAGE]);

/* One step; measured: read the positions back for area and volume; timed: wait between matrix and solve to time
 * both. A step that could not be made leaves the mesh as it was, returns 0 and says so in the report (converged
 * 0, substeps 0). */
int smoother_step(smoother *s, int measured, int timed, step_report *report, char message[MESH_MESSAGE]);

/* The past: every step, noise and reset can be undone and redone, as far back as 256 MiB of device memory reach
 * (at least once), unless the smoother forgets. Return 1 with a message when there is nothing more. */
int smoother_undo(smoother *s, char message[MESH_MESSAGE]);
int smoother_redo(smoother *s, char message[MESH_MESSAGE]);
int smoother_can_undo(const smoother *s);
int smoother_can_redo(const smoother *s);
int smoother_reset(smoother *s, char message[MESH_MESSAGE]);
int smoother_add_noise(smoother *s, double amount, uint64_t seed, char message[MESH_MESSAGE]);
int smoother_step_count(const smoother *s); /* steps between the start and now */

/* The current mesh in the file's units: a copy of the start with its positions moved. The caller destroys it.
 */
int smoother_current_mesh(const smoother *s, mesh *m, char message[MESH_MESSAGE]);

/* ---- Discrete smooth interpolation: control points, dragged ones too ---- */

/* They outlive a change of device, and noise. Taken over by a copy; they must be those of the mesh. */
int smoother_set_controls(smoother *s, const dsi_controls *controls, char message[MESH_MESSAGE]);
const dsi_controls *smoother_controls(const smoother *s);
/* What the last solve was like; all 0 before. */
const ts_system_result *smoother_dsi_result(const smoother *s);

/* So many iterations towards the solution for the control points as they are now, from where the last ones have
 * ended. The positions live in another vector from then on, until they settle: that makes them the mesh, as a
 * step does, which can be undone. To settle what is not live does nothing. */
int smoother_follow(smoother *s, int iterations, int *converged, char message[MESH_MESSAGE]);
int smoother_is_live(const smoother *s);
int smoother_settle(smoother *s, char message[MESH_MESSAGE]);

#endif
