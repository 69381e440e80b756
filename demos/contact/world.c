/* Rigid bodies: their acceleration and their motion in a time step.
 *
 * This is the scheme of Moreau and Jean. The velocities v and the contact impulses r are those at the ends of
 * steps of length h:
 *
 *   v_free = v + h M^-1 f,   v' = v_free + M^-1 H^T r,   u' = H v',   (u', r) obey the laws of contact,
 *   x' = x + h (theta v' + (1 - theta) v)
 *
 * theta = 1/2 conserves the energy in flight and gives the exact sliding distance. Bodies that hit something in
 * this step use theta = 1, so that gaps kept open by the contact laws do not close.
 *
 * Remaining penetration is removed by displacements alone. They do not change velocities and so add no kinetic
 * energy. */
#include "world.h"

#include <stdlib.h>
#include <string.h>

#include "vector.h"

/* ---- Contents ---- */

static int grow(void **items, int *capacity, int count, size_t size) {
  if (count <= *capacity) return 0;
  int next = *capacity ? *capacity : 64;
  while (next < count) next *= 2;
  void *larger = realloc(*items, (size_t)next * size);
  if (!larger) return 1;
  *items = larger;
  *capacity = next;
  return 0;
}

body *world_add(world *w, body_shape shape, const double half[3], double taper, const double position[3],
                double density) {
  void *bodies = w->bodies;
  if (grow(&bodies, &w->capacity, w->count + 1, sizeof *w->bodies)) return NULL;
  w->bodies = bodies;
  body *b = &w->bodies[w->count++];
  *b = (body){.shape = shape,
              .half = {half[0], half[1], half[2]},
              .taper = taper,
              .rotation = {1, 0, 0, 0},
              .position = {position[0], position[1], position[2]},
              .colour = {0.6F, 0.6F, 0.6F}};
  body_weigh(b, density);
  return b;
}

int world_reserve_contacts(world *w, int count) {
  void *contacts = w->contacts, *presses = w->presses;
  int capacity = w->contact_capacity; /* for the contacts; `presses` has the same capacity */
  if (grow(&presses, &capacity, count, sizeof *w->presses)) return 1;
  w->presses = presses;
  const int failed = grow(&contacts, &w->contact_capacity, count, sizeof *w->contacts);
  w->contacts = contacts;
  return failed;
}

void world_destroy(world *w) {
  free(w->bodies);
  free(w->contacts);
  free(w->presses);
  *w = (world){.held = -1};
}

/* ---- Before the solve ---- */

/* Integrates h spin x (I spin) in the body's own axes: one Newton step of the implicit equation. The implicit
 * equation dissipates energy; the explicit one would add energy. */
static void turn_freely(body *b, double step) {
  double s[3], momentum[3], torque[3], J[3][3], change[3];
  const double(*axes)[3] = (const double(*)[3])b->axes;
  for (int k = 0; k < 3; k++)
    s[k] = axes[0][k] * b->spin[0] + axes[1][k] * b->spin[1] + axes[2][k] * b->spin[2];
  for (int k = 0; k < 3; k++) momentum[k] = b->inertia[k] * s[k];
  cross(s, momentum, torque);
  for (int j = 0; j < 3; j++) { /* column j of I + h (spin x I - (I spin) x) */
    const double unit[3] = {j == 0, j == 1, j == 2},
                 own[3] = {unit[0] * b->inertia[j], unit[1] * b->inertia[j], unit[2] * b->inertia[j]};
    double first[3], second[3];
    cross(s, own, first);
    cross(momentum, unit, second);
    for (int i = 0; i < 3; i++) J[i][j] = own[i] + step * (first[i] - second[i]);
  }
  double rows[3][3]; /* rows of the inverse times the determinant: cross products of the columns */
  for (int k = 0; k < 3; k++) {
    const int m = (k + 1) % 3, n = (k + 2) % 3;
    const double p[3] = {J[0][m], J[1][m], J[2][m]}, q[3] = {J[0][n], J[1][n], J[2][n]};
    cross(p, q, rows[k]);
  }
  const double determinant = J[0][0] * rows[0][0] + J[1][0] * rows[0][1] + J[2][0] * rows[0][2];
  for (int k = 0; k < 3; k++) change[k] = -step * dot(rows[k], torque) / determinant;
  for (int k = 0; k < 3; k++) b->spin[k] += dot(axes[k], change);
}

/* A spring between the grip and the target, by an implicit step. It is critically damped for the body's whole
 * mass at the grip. */
static void pull(world *w) {
  enum { stiffness = 100, damping = 20, turning = 4 };
  body *b = &w->bodies[w->held];
  const double h = w->step, share = b->mass * h / (1 + h * damping + h * h * stiffness);
  double grip[3], velocity[3], impulse[3], arm[3], torque[3], inverse[3][3], spin[3];
  body_point(b, w->grip, grip);
  body_velocity_at(b, grip, velocity);
  for (int k = 0; k < 3; k++)
    impulse[k] = share * (stiffness * (w->target[k] - grip[k] - h * velocity[k]) - damping * velocity[k]);
  subtract(grip, b->position, arm);
  cross(arm, impulse, torque);
  body_inverse_inertia(b, inverse);
  multiply((const double(*)[3])inverse, torque, spin);
  add_scaled(b->velocity, 1 / b->mass, impulse);
  for (int k = 0; k < 3; k++) b->spin[k] = (b->spin[k] + spin[k]) / (1 + turning * h);
}

double world_relative_velocity(const world *w, const contact *c) {
  double of_a[3], of_b[3];
  body_velocity_at(&w->bodies[c->a], c->point, of_a);
  body_velocity_at(&w->bodies[c->b], c->point, of_b);
  return dot(c->axes[0], of_a) - dot(c->axes[0], of_b);
}

void world_begin(world *w) {
  for (int k = 0; k < w->count; k++) {
    body_matrix(&w->bodies[k], w->bodies[k].axes);
    body_inverse_inertia(&w->bodies[k], w->bodies[k].inverse);
  }
}

void world_accelerate(world *w) {
  for (int k = 0; k < w->contact_count; k++)
    w->contacts[k].approach = world_relative_velocity(w, &w->contacts[k]);
  for (int k = 0; k < w->count; k++) {
    body *b = &w->bodies[k];
    if (!(b->mass > 0)) continue;
    memcpy(b->before[0], b->velocity, sizeof b->velocity);
    memcpy(b->before[1], b->spin, sizeof b->spin);
    b->velocity[2] -= w->step * w->gravity;
    if (b->shape != BODY_SPHERE) turn_freely(b, w->step);
  }
  if (w->held >= 0) pull(w);
}

/* ---- After the solve ---- */

static void push(body *b, const double point[3], const double impulse[3], double sign) {
  double arm[3], torque[3], spin[3];
  b->touches++;
  if (!(b->mass > 0)) return;
  subtract(point, b->position, arm);
  cross(arm, impulse, torque);
  multiply((const double(*)[3])b->inverse, torque, spin);
  add_scaled(b->velocity, sign / b->mass, impulse);
  add_scaled(b->spin, sign, spin);
}

static void react(world *w) {
  for (int k = 0; k < w->count; k++) w->bodies[k].touches = w->bodies[k].hit = 0;
  for (int k = 0; k < w->contact_count; k++) {
    const contact *c = &w->contacts[k];
    double impulse[3] = {0};
    for (int i = 0; i < 3; i++) add_scaled(impulse, c->reaction[i], c->axes[i]);
    push(&w->bodies[c->a], c->point, impulse, 1);
    push(&w->bodies[c->b], c->point, impulse, -1);
  }
}

/* Returns 1 if the contact changed its normal velocity by more than rounding explains. */
static int is_impact(const world *w, const contact *c) {
  const double little = 0.05 * w->gravity * w->step;
  return c->reaction[0] > 0 && fabs(world_relative_velocity(w, c) - c->approach) > little;
}

static void travel(const world *w, body *b) {
  const double theta = b->hit ? 1 : 0.5;
  double way[3], turn[3];
  for (int k = 0; k < 3; k++) {
    way[k] = w->step * (theta * b->velocity[k] + (1 - theta) * b->before[0][k]) + b->shift[k];
    turn[k] = w->step * (theta * b->spin[k] + (1 - theta) * b->before[1][k]) + b->twist[k];
  }
  body_move(b, way, turn);
}

void world_advance(world *w) {
  react(w);
  for (int k = 0; k < w->contact_count; k++)
    if (is_impact(w, &w->contacts[k])) w->bodies[w->contacts[k].a].hit = w->bodies[w->contacts[k].b].hit = 1;
  world_separate(w);
  for (int k = 0; k < w->count; k++)
    if (w->bodies[k].mass > 0) travel(w, &w->bodies[k]);
  w->time += w->step;
}

world_energy world_energy_of(const world *w) {
  world_energy energy = {0, 0};
  for (int k = 0; k < w->count; k++) {
    const body *b = &w->bodies[k];
    double axes[3][3];
    if (!(b->mass > 0)) continue;
    body_matrix(b, axes);
    energy.potential += b->mass * w->gravity * b->position[2];
    energy.kinetic += 0.5 * b->mass * dot(b->velocity, b->velocity);
    for (int i = 0; i < 3; i++) {
      const double spin = axes[0][i] * b->spin[0] + axes[1][i] * b->spin[1] + axes[2][i] * b->spin[2];
      energy.kinetic += 0.5 * b->inertia[i] * spin * spin;
    }
  }
  return energy;
}
