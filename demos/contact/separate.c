/* What penetrates is moved apart, by displacements that are no velocities: a few sweeps of projected
 * Gauss-Seidel without friction on H M^-1 H^T p = d, 0 <= p, where d is a part of the depth. */
#include <string.h>

#include "vector.h"
#include "world.h"

/* Left alone, so that contacts last; of the rest so much in a step, and no more than that at once. */
static const double may_stay = 5e-4, part = 0.25, at_most = 0.05;
enum { sweeps = 10 };

/* The row of a body in H, times its inverse mass. */
typedef struct lever {
  double arm[3], turn[3], inverse_mass;
} lever;

static lever lever_of(const body *b, const contact *c) {
  lever l;
  double arm[3], inverse[3][3];
  memset(&l, 0, sizeof l);
  if (!(b->mass > 0)) return l;
  subtract(c->point, b->position, arm);
  cross(arm, c->axes[0], l.arm);
  body_inverse_inertia(b, inverse);
  multiply((const double(*)[3])inverse, l.arm, l.turn);
  l.inverse_mass = 1 / b->mass;
  return l;
}

static void relax(world *w, contact *c, double depth) {
  body *a = &w->bodies[c->a], *b = &w->bodies[c->b];
  const lever of_a = lever_of(a, c), of_b = lever_of(b, c);
  const double *n = c->axes[0];
  const double inverse =
      of_a.inverse_mass + of_b.inverse_mass + dot(of_a.arm, of_a.turn) + dot(of_b.arm, of_b.turn);
  const double moved = dot(n, a->shift) + dot(of_a.arm, a->twist) - dot(n, b->shift) - dot(of_b.arm, b->twist);
  const double before = c->pressed;
  c->pressed = fmax(before + (fmin(part * depth, at_most) - moved) / inverse, 0);
  const double change = c->pressed - before;
  add_scaled(a->shift, change * of_a.inverse_mass, n);
  add_scaled(a->twist, change, of_a.turn);
  add_scaled(b->shift, -change * of_b.inverse_mass, n);
  add_scaled(b->twist, -change, of_b.turn);
}

void world_separate(world *w) {
  int deep = 0;
  for (int k = 0; k < w->count; k++) {
    memset(w->bodies[k].shift, 0, sizeof w->bodies[k].shift);
    memset(w->bodies[k].twist, 0, sizeof w->bodies[k].twist);
  }
  for (int k = 0; k < w->contact_count; k++) {
    contact *c = &w->contacts[k];
    c->pressed = 0;
    c->depth = -(c->gap + w->step * world_relative_velocity(w, c)) - may_stay;
    deep |= c->depth > 0;
  }
  /* Also contacts that do not penetrate: what is moved is not to penetrate there. */
  for (int sweep = 0; deep && sweep < sweeps; sweep++)
    for (int k = 0; k < w->contact_count; k++) relax(w, &w->contacts[k], w->contacts[k].depth);
}
