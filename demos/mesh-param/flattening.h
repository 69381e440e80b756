/* A mesh and its UV map: charts, pins, the solution, the UV map packed into the unit square, its distortion.
 * Functions return 0, or 1 with one line in `message`. */
#ifndef FLATTENING_H
#define FLATTENING_H

#include "conformal.h"

typedef struct flattening_pin {
  int32_t vertex; /* of the mesh */
  double u, v;
  int32_t place; /* 1 + the flat vertex, since a vertex on a cut has several; 0: the first one */
} flattening_pin;

typedef struct flattening {
  mesh m;
  mesh_measures measures;
  charts c;
  cut_report cut;
  start_method method;
  int fresh;          /* `solved` is still the start, or that moved to pins */
  double *start;      /* u, v of every flat vertex as start_find has them */
  double *solved;     /* as they were solved for, or the start */
  double *uv;         /* packed, or as pinned; as files hold them */
  int uv_is_double;   /* files hold u, v in double precision, because single precision would harm triangles */
  int32_t *auto_pins; /* two flat vertices a chart */
  unsigned char *pinned; /* a flag for each flat vertex */
  int32_t pin_count;     /* that were given */
  int32_t *pins;         /* their flat vertices */
  int32_t pinned_charts; /* with at least one of them */
  distortion d;          /* of `uv`, and so of the file that flattening_write writes */
  pack_report packed;    /* scale 0 where pins were given: nothing is packed then */
} flattening;

typedef struct flattening_options {
  int cut; /* closed parts and handles are cut; default: refused */
  start_method start;
} flattening_options;

/* The map where the solver has left it on the device. */
typedef struct flattening_places {
  ts_vector *places; /* as conformal_solve leaves them; NULL: nothing had to be solved */
  similarity *frame; /* of each chart: from these coordinates to those of `solved` */
} flattening_places;

void flattening_places_free(flattening_places *p); /* before the context; of zeros is fine */

/* Takes the mesh over, also on failure. Everything is as at the start, with automatic pins. */
int flattening_create(mesh *m, const flattening_options *options, flattening *f, char message[MESH_MESSAGE]);
void flattening_destroy(flattening *f);

/* Pins, 0 for automatic ones. A chart with one of them gets a second one far away, a chart with none two; what
 * is solved for then starts from the last solution, moved to the pins. Fails where a vertex is out of range, in
 * no triangle or named twice, a coordinate is not finite or above 1e30, or all pins of a chart are at one place
 * as far as single precision tells; pins are then as before. */
int flattening_set_pins(flattening *f, const flattening_pin *pins, int32_t count, char message[MESH_MESSAGE]);

/* The least-squares conformal map; then what flattening_update does. `places`: where it is on the device, for
 * the caller to free, also on failure; may be NULL. */
int flattening_solve(flattening *f, ts_context *context, const conformal_options *options,
                     flattening_places *places, conformal_result *result, char message[MESH_MESSAGE]);
/* The map alone, from `uv` and into it; `pinned` as in the flattening, of which this changes nothing. */
int flattening_find(const flattening *f, ts_context *context, const unsigned char *pinned,
                    const conformal_options *options, double *uv, flattening_places *places,
                    conformal_result *result, char message[MESH_MESSAGE]);
/* From `solved` of chart k to `uv`. */
similarity flattening_placement(const flattening *f, int32_t k);
/* Back to the start, with automatic pins. */
int flattening_restart(flattening *f, char message[MESH_MESSAGE]);

/* From `solved`: packs charts into the unit square where no pins were given, and measures the distortion. With
 * pins u and v are those that were asked for, and charts without pins are packed beside these, in their scale.
 */
int flattening_update(flattening *f, char message[MESH_MESSAGE]);

/* The mesh with u, v as texture coordinates: an OBJ file has the mesh's vertices, a PLY file the flat ones,
 * since each of its vertices has one place. */
int flattening_write(const flattening *f, const char *path, char message[MESH_MESSAGE]);

/* ---- How it is drawn beside its mesh (flat_view.h) ---- */

typedef enum flat_colour { FLAT_COLOUR_NONE, FLAT_COLOUR_ANGLE, FLAT_COLOUR_AREA, FLAT_COLOURS } flat_colour;

typedef struct flat_look {
  flat_colour colour;
  int wireframe;
  int squares;   /* of the checkerboard, across the UV map; 0: none */
  double range;  /* of the colours; 0: chosen from the data, and returned here after drawing */
  int mesh_only; /* there is no UV map yet */
  int legend;    /* of the colours: 1: in the lower right corner of the mesh's half; 2: in the upper one */
} flat_look;

#endif
