/* What the view of a flattening keeps on the device. Internal to flat_view. */
#ifndef FLAT_VIEW_DATA_H
#define FLAT_VIEW_DATA_H

#include "flat_view.h"
#include "legend.h"

struct flat_view {
  int32_t triangles, pins;
  double unit;         /* how long the UV map is, 1 for the unit square */
  int packed;          /* into that */
  double ranges[2];    /* of the distortion of angles and of areas: most triangles are within */
  unsigned places;     /* a buffer: place, normal, seams; 7 floats a corner */
  unsigned flat;       /* a buffer: the flat vertex at each corner */
  unsigned image;      /* a list: u, v of every flat vertex */
  unsigned distortion; /* a list: of angles and of areas, of every triangle */
  unsigned framebuffer, empty_array, place_program[2]; /* draw `image`, from a texture or a buffer */
  view_way way;
  unsigned pin_buffer; /* place, u, v, whether it was given; 6 floats a pin */
  unsigned vertex_array, pin_array;
  unsigned surface[2][FLAT_COLOURS][2]; /* programs, 0 until they are used: mesh or image, colour, wireframe */
  unsigned pin_program;
  legend *legend;
};

const char *flat_view_build(flat_view *view, const flattening *f);
const char *flat_view_surface(flat_view *view, int image, const flat_look *look, unsigned *program);

#endif
