/* Scenes: the bodies and their initial positions. */
#ifndef SCENE_H
#define SCENE_H

#include "world.h"

typedef struct scene {
  const char *name, *text; /* text: a description in one line */
  int bodies;              /* default number of moving bodies */
  /* default maximum of sweeps; higher for scenes whose few bodies depend strongly on each other */
  int sweeps;
  double friction; /* default coefficient */
  /* Position of the viewer, and the point to look at, in metres. */
  double eye[3], middle[3];
  /* Adds about `bodies` moving bodies to an empty world. Returns 0, or 1 if memory runs out. */
  int (*build)(world *w, int bodies);
} scene;

int scene_count(void);
const scene *scene_at(int index);          /* NULL past the last one */
const scene *scene_find(const char *name); /* NULL if unknown */

#endif
