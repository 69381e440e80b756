/* What the parts of the program heat share. */
#ifndef HEAT_H
#define HEAT_H

#include <texsolve/solver.h>
#include <texsolve/gl.h>

#include "png_image.h"

/* ---- heat_plate.c ---- */

/* A metal plate with round holes, cut into square cells, and the linear system of its steady temperature.
 *
 * Every cell of the plate is one unknown. A free cell has as much heat flowing in as out: the sum over its
 * neighbours j of (x_i - x_j) is 0. The edges of the plate and the rim of a heated hole are held at a
 * temperature: their rows are constrained, and their temperature stands in x. No heat flows across the rim of
 * an insulated hole, which is what happens when nothing is done about it. */
enum { plate_holes = 2, hottest = 100 }; /* degrees; the coldest is 0 */

typedef struct plate_hole {
  float x, y, radius; /* in cells, y upwards; cell (i, j) is at x = i, y = j */
  int heated;         /* held at `hottest`, else insulated */
} plate_hole;

typedef struct plate {
  int width, height; /* in cells */
  plate_hole holes[plate_holes];
  int32_t unknowns, held;
  int32_t *index;             /* unknown of cell (i, j) at [j * width + i], or -1 in a hole */
  unsigned char *constrained; /* of every unknown */
  float *start;               /* temperatures to start from: those that are held, and 0 */
  int32_t *row_offsets, *columns;
  float *values;
} plate;

/* `size` cells high and one and a half times as wide. Returns 0, or -1 without memory. */
int plate_create(plate *p, int size);
void plate_destroy(plate *p);

/* The norm of b - A x over the free unknowns, with b = 0, in double precision. At x = start this is the norm of
 * the right-hand side that remains when the held temperatures are eliminated. */
double plate_residual(const plate *p, const float *x);

/* ---- heat_picture.c: how the plate's temperature is drawn ---- */

enum { colour_count = 256, picture_width = 936, picture_height = 600 };

/* The colour of temperature k / (colour_count - 1) * hottest. Lightness grows evenly from cold to hot, so that
 * equal steps of temperature look equal, in grey too. */
void colour_table(unsigned char colours[colour_count][3]);

/* In pixels from the top left corner. */
typedef struct rectangle {
  float x, y, width, height;
} rectangle;

/* Where the plate is in a picture of this size, as large as fits. `unit` is the size of a pixel of the standard
 * picture. */
rectangle plate_rectangle(int width, int height, float *unit);

/* Everything but the plate: the paper and the legend. */
void draw_paper(image *picture);

/* The plate over the paper, from the temperature of every unknown. */
void draw_plate(image *picture, const plate *p, const float *temperatures);

/* ---- heat_gl.c: from the solution's texture, as heat.frag draws the same plate ---- */

typedef struct heat_gl {
  unsigned program, vertex_array, cells, colours, paper;
  int paper_width, paper_height;
  const plate *plate;
  ts_gl_texture solution;
} heat_gl;

/* Needs a current context that sees the textures of x. Returns NULL, or why it failed. */
const char *heat_gl_create(heat_gl *gl, const plate *p, ts_vector *x);
void heat_gl_destroy(heat_gl *gl);

/* Into the framebuffer that is bound, of this size. Returns NULL, or why it failed. */
const char *heat_gl_draw(heat_gl *gl, int width, int height);

/* Into `picture`, which gives the size. */
const char *heat_gl_draw_picture(heat_gl *gl, image *picture);

/* ---- The program ---- */

typedef struct program_options {
  const char *backend, *picture; /* picture: NULL in a window when no picture is asked for */
  int size;
  int window, headless;
  int frames; /* close the window after so many; 0: when the user does */
  int iterations_per_frame;
} program_options;

typedef struct heat_system {
  plate plate;
  ts_context *context;
  ts_matrix *matrix;
  ts_vector *b, *x; /* b is 0: no heat comes from within the plate */
  ts_solver *cg;
  double norm_start; /* of b - A x at the start */
} heat_system;

/* How a solve went. */
typedef struct heat_outcome {
  int converged, iterations, host_synchronisations;
  double seconds;    /* of the solve */
  char message[160]; /* why it did not converge */
} heat_outcome;

extern const double heat_tolerance; /* of ||b - A x|| relative to the start */

/* One line on standard error. Returns 1, the exit status of an error. */
int heat_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Opens the device that `device` describes and puts the plate's system on it. Returns 0, or 1 after a message.
 */
int heat_open(heat_system *system, const ts_context_desc *device, const ts_solver_desc *method, int size);
void heat_close(heat_system *system);

/* Draws the solution into a new picture, from its texture where it has one. Returns 0, or 1 after a message. */
int heat_draw(heat_system *system, image *picture);

/* Shows the solution in a window while it is computed. Returns 0, or 1 after a message. */
int heat_window_open(void);
int heat_window_run(heat_system *system, const program_options *options, heat_outcome *outcome);
void heat_window_close(void);

#endif
