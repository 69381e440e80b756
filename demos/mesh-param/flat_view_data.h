/* Device data of the view of a flattening. Internal to flat_view. */
#ifndef FLAT_VIEW_DATA_H
#define FLAT_VIEW_DATA_H

#include "flat_view.h"
#include "legend.h"

struct flat_view {
  int32_t triangles, pins;
  double unit;         /* extent of the UV map; 1 for the unit square */
  int packed;          /* 1 if it is packed into the unit square */
  double ranges[2];    /* colour ranges of angles and of areas; most triangles are within */
  unsigned places;     /* a buffer: position, normal, seams; 7 floats per corner */
  unsigned flat;       /* a buffer: the flat vertex of each corner */
  unsigned image;      /* a list: u, v of each flat vertex */
  unsigned distortion; /* a list: angle and area distortion of each triangle */
  unsigned framebuffer, empty_array, place_program[2]; /* these draw `image`, from a texture or a buffer */
  view_way way;
  unsigned pin_buffer; /* position, u, v, given or not; 6 floats per pin */
  unsigned vertex_array, pin_array;
  /* programs, compiled on first use; indices: mesh or image, colour, wireframe */
  unsigned surface[2][FLAT_COLOURS][2];
  unsigned pin_program;
  legend *legend;
};

const char *flat_view_build(flat_view *view, const flattening *f);
const char *flat_view_surface(flat_view *view, int image, const flat_look *look, unsigned *program);

#endif
