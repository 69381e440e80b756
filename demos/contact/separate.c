/* Separates penetrating bodies by displacements, which do not change velocities. A few sweeps of projected
 * Gauss-Seidel without friction solve H M^-1 H^T p = d, 0 <= p, where d is a fraction of the depth. */
#include <string.h>

#include "vector.h"
#include "world.h"

/* may_stay: a penetration that is left, in metres, so that contacts persist. part: the fraction of the rest
 * that a step removes. at_most: the limit per step, in metres. */
static const double may_stay = 5e-4, part = 0.25, at_most = 0.05;
enum { sweeps = 10 };

/* Computes a body's row of H and multiplies it by the inverse mass. Returns its contribution to the diagonal of
 * H M^-1 H^T. */
static double put_lever(const body *b, const contact *c, press *p, int side) {
  double arm[3];
  p->inverse_mass[side] = 0;
  memset(p->arm[side], 0, sizeof p->arm[side]);
  memset(p->turn[side], 0, sizeof p->turn[side]);
  if (!(b->mass > 0)) return 0;
  subtract(c->point, b->position, arm);
  cross(arm, c->axes[0], p->arm[side]);
  multiply((const double(*)[3])b->inverse, p->arm[side], p->turn[side]);
  p->inverse_mass[side] = 1 / b->mass;
  return p->inverse_mass[side] + dot(p->arm[side], p->turn[side]);
}

static double moved(const body *b, const double normal[3], const double arm[3]) {
  return b->shifted ? dot(normal, b->shift) + dot(arm, b->twist) : 0;
}

static void move(body *b, const press *p, int side, const double normal[3], double change) {
  b->shifted |= b->mass > 0;
  add_scaled(b->shift, change * p->inverse_mass[side], normal);
  add_scaled(b->twist, change, p->turn[side]);
}

static void relax(world *w, contact *c, press *p) {
  body *a = &w->bodies[c->a], *b = &w->bodies[c->b];
  if (!(c->depth > 0) && !a->shifted && !b->shifted) return; /* neither penetrates nor moves */
  if (!(p->inverse > 0)) {
    const double of_a = put_lever(a, c, p, 0), of_b = put_lever(b, c, p, 1);
    p->inverse = of_a + of_b;
  }
  const double *n = c->axes[0], before = c->pressed;
  const double way = moved(a, n, p->arm[0]) - moved(b, n, p->arm[1]);
  c->pressed = fmax(before + (fmin(part * c->depth, at_most) - way) / p->inverse, 0);
  const double change = c->pressed - before;
  if (!(change > 0) && !(change < 0)) return;
  move(a, p, 0, n, change);
  move(b, p, 1, n, -change);
}

void world_separate(world *w) {
  int deep = 0;
  for (int k = 0; k < w->count; k++) {
    memset(w->bodies[k].shift, 0, sizeof w->bodies[k].shift);
    memset(w->bodies[k].twist, 0, sizeof w->bodies[k].twist);
    w->bodies[k].shifted = 0;
  }
  for (int k = 0; k < w->contact_count; k++) {
    contact *c = &w->contacts[k];
    c->pressed = w->presses[k].inverse = 0;
    c->depth = -(c->gap + w->step * world_relative_velocity(w, c)) - may_stay;
    deep |= c->depth > 0;
  }
  /* Includes contacts without penetration: the displacements must not cause new ones. */
  for (int sweep = 0; deep && sweep < sweeps; sweep++)
    for (int k = 0; k < w->contact_count; k++) relax(w, &w->contacts[k], &w->presses[k]);
}
