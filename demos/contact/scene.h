/* What there is to simulate: bodies as they lie when a scene begins. */
#ifndef SCENE_H
#define SCENE_H

#include "world.h"

typedef struct scene {
  const char *name, *text; /* the latter one line: what one sees */
  int bodies;              /* that move, by default */
  int sweeps;              /* at most, by default: more for few bodies that hang on each other */
  double friction;         /* by default */
  /* From where to look at it, and at what, in metres. */
  double eye[3], middle[3];
  /* Adds about `bodies` of them to an empty world. Returns 0, or 1 without memory. */
  int (*build)(world *w, int bodies);
} scene;

int scene_count(void);
const scene *scene_at(int index);          /* NULL past the end */
const scene *scene_find(const char *name); /* NULL: there is none */

#endif
