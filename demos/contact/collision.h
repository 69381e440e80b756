/* Where bodies touch, by Bullet's collision detection. Its persistent manifolds keep the points of a contact
 * from step to step, and what was stored at them. */
#ifndef COLLISION_H
#define COLLISION_H

#include "world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct collision collision;

/* For the bodies of a world as they are now. NULL without memory. */
collision *collision_create(const world *w);
void collision_destroy(collision **made);

/* Fills in the contacts of the world for its bodies' positions: points, normals and tangents, gaps, and the
 * reactions that collision_remember left at points that persist, 0 at others. Points of bodies that come close
 * are contacts already, with a gap. Returns 0, or 1 without memory. */
int collision_detect(collision *c, world *w);
/* Stores the contacts' reactions where the next step finds them. */
void collision_remember(world *w);
/* Every point is as new. */
void collision_forget(world *w);

/* The first body that moves on a ray of any length, and where it is hit; -1: none. */
int collision_pick(const collision *c, const double origin[3], const double direction[3], double point[3]);

#ifdef __cplusplus
}
#endif
#endif
