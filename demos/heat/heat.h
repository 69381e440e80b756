/* Declarations that the parts of the program heat share. */
#ifndef HEAT_H
#define HEAT_H

#include <texsolve/solver.h>
#include <texsolve/gl.h>

#include "png_image.h"

/* ---- heat_plate.c ---- */

/* A metal plate with round holes, divided into square cells, and the linear system of its steady
 * temperature.
 *
 * Each cell of the plate is an unknown. For a free cell the heat flows in and out balance: the sum of (x_i -
 * x_j) over its neighbours j is 0. The edges of the plate and the rim of a heated hole have fixed temperatures:
 * their rows are constrained, and x holds their temperatures. No heat crosses the rim of an insulated hole.
 * That is the natural boundary condition and needs no equation. */
enum { plate_holes = 2, hottest = 100 }; /* degrees; the coldest is 0 */

typedef struct plate_hole {
  float x, y, radius; /* in cells, y upwards; cell (i, j) is at x = i, y = j */
  int heated;         /* held at `hottest`; otherwise insulated */
} plate_hole;

typedef struct plate {
  int width, height; /* in cells */
  plate_hole holes[plate_holes];
  int32_t unknowns, held;
  int32_t *index;             /* the unknown of cell (i, j) at [j * width + i]; -1 in a hole */
  unsigned char *constrained; /* flag for each unknown */
  float *start;               /* initial temperatures: the fixed ones, otherwise 0 */
  int32_t *row_offsets, *columns;
  float *values;
} plate;

/* The plate is `size` cells high and one and a half times as wide. Returns 0, or -1 if memory runs out. */
int plate_create(plate *p, int size);
void plate_destroy(plate *p);

/* The norm of b - A x over the free unknowns, with b = 0, in double precision. For x = start it is the norm of
 * the right-hand side after elimination of the fixed temperatures. */
double plate_residual(const plate *p, const float *x);

/* ---- heat_picture.c: draws the plate on the host ---- */

enum { colour_count = 256, picture_width = 936, picture_height = 600 };

/* The colour of temperature k / (colour_count - 1) * hottest. Lightness increases linearly with the
 * temperature, so that equal steps look equal, also in greyscale. */
void colour_table(unsigned char colours[colour_count][3]);

/* In pixels, from the top left corner. */
typedef struct rectangle {
  float x, y, width, height;
} rectangle;

/* The largest position of the plate in a picture of this size. `unit` is the size of a pixel of the standard
 * picture. */
rectangle plate_rectangle(int width, int height, float *unit);

/* Draws everything except the plate: the paper and the legend. */
void draw_paper(image *picture);

/* Draws the plate over the paper, from the temperatures of the unknowns. */
void draw_plate(image *picture, const plate *p, const float *temperatures);

/* ---- heat_gl.c: draws the same from the solution's texture, with heat.frag ---- */

typedef struct heat_gl {
  unsigned program, vertex_array, cells, colours, paper;
  int paper_width, paper_height;
  const plate *plate;
  ts_gl_texture solution;
} heat_gl;

/* Needs a current context that shares the textures of x. Returns NULL, or the reason of a failure. */
const char *heat_gl_create(heat_gl *gl, const plate *p, ts_vector *x);
void heat_gl_destroy(heat_gl *gl);

/* Draws into the bound framebuffer, which has this size. Returns NULL, or the reason of a failure. */
const char *heat_gl_draw(heat_gl *gl, int width, int height);

/* Draws a picture of the size of `picture`. */
const char *heat_gl_draw_picture(heat_gl *gl, image *picture);

/* ---- The program ---- */

typedef struct program_options {
  const char *backend, *picture; /* picture: NULL in a window without --picture */
  int size;
  int window, headless;
  int frames; /* close the window after this many; 0: the user closes it */
  int iterations_per_frame;
} program_options;

typedef struct heat_system {
  plate plate;
  ts_context *context;
  ts_matrix *matrix;
  ts_vector *b, *x; /* b is 0: the plate has no heat sources */
  ts_solver *cg;
  double norm_start; /* norm of b - A x at the start */
} heat_system;

/* Outcome of a solve. */
typedef struct heat_outcome {
  int converged, iterations, host_synchronisations;
  double seconds;    /* time of the solve */
  char message[160]; /* the reason if it did not converge */
} heat_outcome;

extern const double heat_tolerance; /* limit of ||b - A x|| relative to the start */

/* Prints one line on standard error. Returns 1, the exit status of an error. */
int heat_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Opens the device described by `device` and creates the plate's system on it. Returns 0, or 1 after a
 * message. */
int heat_open(heat_system *system, const ts_context_desc *device, const ts_solver_desc *method, int size);
void heat_close(heat_system *system);

/* Draws the solution into a new picture, from its texture if it has one. Returns 0, or 1 after a message. */
int heat_draw(heat_system *system, image *picture);

/* Shows the solution in a window while it is computed. The functions that return int return 0, or 1 after a
 * message. */
int heat_window_open(void);
int heat_window_run(heat_system *system, const program_options *options, heat_outcome *outcome);
void heat_window_close(void);

#endif
