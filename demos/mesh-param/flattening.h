/* A mesh and its UV map: charts, pins, the solution, the UV map packed into the unit square, and its
 * distortion. Functions return 0, or 1 with one line in `message`. */
#ifndef FLATTENING_H
#define FLATTENING_H

#include "conformal.h"

typedef struct flattening_pin {
  int32_t vertex; /* of the mesh */
  double u, v;
  int32_t place; /* 1 + the flat vertex, because a vertex on a cut has several; 0: the first */
} flattening_pin;

typedef struct flattening {
  mesh m;
  mesh_measures measures;
  charts c;
  cut_report cut;
  start_method method;
  int fresh;      /* `solved` is still the start, possibly moved to pins */
  double *start;  /* u, v of each flat vertex from start_find */
  double *solved; /* u, v in the solver's coordinates, or the start */
  double *uv;     /* packed or pinned u, v, as written to files */
  /* files need double precision, because single precision would flip or collapse triangles */
  int uv_is_double;
  int32_t *auto_pins;    /* two flat vertices per chart */
  unsigned char *pinned; /* flag for each flat vertex */
  int32_t pin_count;     /* number of given pins */
  int32_t *pins;         /* their flat vertices */
  int32_t pinned_charts; /* number of charts with a given pin */
  distortion d;          /* of `uv`, and so of the file that flattening_write writes */
  pack_report packed;    /* scale 0 with given pins, which prevent packing */
} flattening;

typedef struct flattening_options {
  int cut; /* cut closed parts and handles; default: they are an error */
  start_method start;
} flattening_options;

/* The map on the device, as the solver left it. */
typedef struct flattening_places {
  ts_vector *places; /* see conformal_solve; NULL: there was nothing to solve */
  similarity *frame; /* for each chart: from these coordinates to those of `solved` */
} flattening_places;

/* call before the context is destroyed; zeros are allowed */
void flattening_places_free(flattening_places *p);

/* Takes over the mesh, also on failure. Sets the start and automatic pins. */
int flattening_create(mesh *m, const flattening_options *options, flattening *f, char message[MESH_MESSAGE]);
void flattening_destroy(flattening *f);

/* Sets the given pins; count 0: automatic pins. A chart with one pin gets a second one far away, a chart
 * without pins gets two. The next solve starts from the last solution, moved to the pins. It is an error if a
 * vertex is out of range, has no triangle or occurs twice. Coordinates must be finite and at most 1e30. The
 * pins of a chart must not coincide in single precision. On failure the pins are unchanged. */
int flattening_set_pins(flattening *f, const flattening_pin *pins, int32_t count, char message[MESH_MESSAGE]);

/* Computes the least-squares conformal map, then calls flattening_update. `places` returns the map on the
 * device, and may be NULL. The caller frees it, also on failure. */
int flattening_solve(flattening *f, ts_context *context, const conformal_options *options,
                     flattening_places *places, conformal_result *result, char message[MESH_MESSAGE]);
/* Computes only the map, and replaces `uv`. `pinned` is as in the flattening, which is not changed. */
int flattening_find(const flattening *f, ts_context *context, const unsigned char *pinned,
                    const conformal_options *options, double *uv, flattening_places *places,
                    conformal_result *result, char message[MESH_MESSAGE]);
/* The transform from `solved` to `uv` for chart k. */
similarity flattening_placement(const flattening *f, int32_t k);
/* Restores the start and automatic pins. */
int flattening_restart(flattening *f, char message[MESH_MESSAGE]);

/* Computes `uv` and the distortion from `solved`. Without given pins charts are packed into the unit square.
 * With pins u and v are as requested, and charts without pins are packed to the right of the others, at the
 * same scale. */
int flattening_update(flattening *f, char message[MESH_MESSAGE]);

/* Writes the mesh with u, v as texture coordinates. An OBJ file has the mesh's vertices. A PLY file has the
 * flat ones, because its vertices have one position in the UV map. */
int flattening_write(const flattening *f, const char *path, char message[MESH_MESSAGE]);

/* ---- Appearance (flat_view.h) ---- */

typedef enum flat_colour { FLAT_COLOUR_NONE, FLAT_COLOUR_ANGLE, FLAT_COLOUR_AREA, FLAT_COLOURS } flat_colour;

typedef struct flat_look {
  flat_colour colour;
  int wireframe;
  int squares;   /* squares of the checkerboard across the UV map; 0: none */
  double range;  /* of the colours; 0: chosen from the data, and returned here by drawing */
  int mesh_only; /* the UV map does not exist yet */
  int legend;    /* 1: in the lower right corner of the mesh's half; 2: in the upper right one */
} flat_look;

#endif
