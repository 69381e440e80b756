/* Where bodies touch, by Bullet's collision detection. */
#ifndef COLLISION_H
#define COLLISION_H

#include "workers.h"
#include "world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct collision collision;

/* For the bodies of a world as they are now; `shared` stays the caller's. NULL without memory. */
collision *collision_create(const world *w, workers *shared);
void collision_destroy(collision **made);

/* Replaces the contacts of the world by those of its bodies' present positions. Bodies that come close have
 * some already, with a gap. Each begins with the reaction of the one that was there in the last step, or with
 * 0. Returns 0, or 1 without memory. */
int collision_detect(collision *c, world *w);

/* The body on a ray of any length, and where it is hit; -1: none, or a fixed one before it. */
int collision_pick(const collision *c, const double origin[3], const double direction[3], double point[3]);

#ifdef __cplusplus
}
#endif
#endif
