/* How a mesh and its UV map are drawn. */
#ifndef FLAT_LOOK_H
#define FLAT_LOOK_H

typedef enum flat_colour { FLAT_COLOUR_NONE, FLAT_COLOUR_ANGLE, FLAT_COLOUR_AREA, FLAT_COLOURS } flat_colour;

typedef struct flat_look {
  flat_colour colour;
  int wireframe;
  int squares;  /* of the checkerboard, across the UV map; 0: none */
  double range; /* of the colours; 0: chosen from the data, and returned here after drawing */
  int legend;   /* of the colours: 1: in the lower right corner of the mesh's half; 2: in the upper one */
} flat_look;

#endif
