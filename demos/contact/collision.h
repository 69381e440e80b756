/* Contact points between bodies, by Bullet's collision detection. */
#ifndef COLLISION_H
#define COLLISION_H

#include "workers.h"
#include "world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct collision collision;

/* For the current bodies of a world. `shared` remains the caller's. Returns NULL if memory runs out. */
collision *collision_create(const world *w, workers *shared);
void collision_destroy(collision **made);

/* Replaces the world's contacts by those of the current positions. Bodies that are close have contacts with a
 * positive gap before they touch. A contact starts with the reaction of the matching contact of the previous
 * step, or with 0. Returns 0, or 1 if memory runs out. */
int collision_detect(collision *c, world *w);

/* Returns the first body on a ray of any length, and the point of the hit. Returns -1 if the ray hits none, or
 * hits a fixed body first. */
int collision_pick(const collision *c, const double origin[3], const double direction[3], double point[3]);

#ifdef __cplusplus
}
#endif
#endif
