/* Arrows for the contact forces and the pointer's pull. */
#include <GL/glew.h>

#include <math.h>
#include <stdlib.h>

#include "view_gl.h"
#include "view_parts.h"

enum { around = 10, parts = 4, floats = 8 };

const char *view_build_arrows(contact_view *view) {
  float rings[parts * around][3];
  unsigned short indices[(parts - 1) * around * 6], *next = indices;
  for (unsigned v = 0; v < parts * around; v++) {
    const float angle = 6.2831853f * (float)(v % around) / around;
    rings[v][0] = cosf(angle);
    rings[v][1] = sinf(angle);
    const unsigned part = v / around;
    rings[v][2] = (float)part;
  }
  for (unsigned v = 0; v < (parts - 1) * around; v++) {
    const unsigned beside = v % around == around - 1 ? v + 1 - around : v + 1;
    const unsigned quad[] = {v, beside, beside + around, v, beside + around, v + around};
    for (int k = 0; k < 6; k++) *next++ = (unsigned short)quad[k];
  }
  view_build_crowd(&view->arrows, rings[0], 3, parts * around, indices, (parts - 1) * around * 6, floats);
  return view_gl_check("the shape of arrows");
}

/* ---- Forces ---- */

typedef struct arrow {
  float start[3], thickness, vector[3], value;
} arrow;

/* A contact force acts on both bodies. Draw it on the moving one, or on the upper one if both move. */
static double side_of(const world *w, const contact *c, double upward) {
  if (!(w->bodies[c->a].mass > 0)) return -1;
  return w->bodies[c->b].mass > 0 && upward < 0 ? -1 : 1;
}

/* Arrow length of a force in N, scaled by the weight and the size of typical bodies. It grows more slowly for
 * large forces. */
static double length_of(const contact_view *view, double force, double weight) {
  const double x = force / weight, size = (double)view->typical;
  return 0.9 * size * (x < 4 ? x : 4 * (1 + log(x / 4)));
}

static double typical_weight(const world *w) {
  double sum = 0;
  int count = 0;
  for (int k = 0; k < w->count; k++) {
    const body *b = &w->bodies[k];
    if (!(b->mass > 0)) continue;
    sum += log(b->mass);
    count++;
  }
  return count ? 9.81 * exp(sum / count) : 1;
}

static int contact_arrow(const contact_view *view, const world *w, const contact *c, double weight, arrow *a) {
  const double normal = c->reaction[0], tangent = hypot(c->reaction[1], c->reaction[2]);
  const double impulse = hypot(normal, tangent), force = impulse / w->step;
  const double length = length_of(view, force, weight);
  if (!(length > 0.03 * (double)view->typical)) return 0;
  const double thickness = 0.030 * (double)view->typical * (0.6 + sqrt(fmin(force / weight, 9)));
  *a = (arrow){.thickness = (float)thickness,
               .value = w->friction > 0 ? (float)fmin(tangent / (w->friction * normal), 1) : 1};
  double along[3] = {0, 0, 0};
  for (int k = 0; k < 3; k++)
    for (int axis = 0; axis < 3; axis++) along[k] += c->axes[axis][k] * c->reaction[axis];
  const double scale = side_of(w, c, along[2]) * length / impulse;
  for (int k = 0; k < 3; k++) {
    a->start[k] = (float)c->point[k];
    a->vector[k] = (float)(scale * along[k]);
  }
  return 1;
}

static int pull_arrow(const contact_view *view, const world *w, arrow *a) {
  if (w->held < 0 || w->held >= w->count) return 0;
  double from[3];
  body_point(&w->bodies[w->held], w->grip, from);
  *a = (arrow){.thickness = 0.09f * view->typical, .value = 2};
  for (int k = 0; k < 3; k++) {
    a->start[k] = (float)from[k];
    a->vector[k] = (float)(w->target[k] - from[k]);
  }
  return 1;
}

const char *view_update_forces(contact_view *view, const world *w, const contact_look *look) {
  const int contacts = look->forces ? w->contact_count : 0;
  arrow *list = malloc(((size_t)contacts + 1) * sizeof *list);
  if (!list) return "out of memory";
  const double weight = typical_weight(w);
  int count = 0;
  for (int k = 0; k < contacts; k++) count += contact_arrow(view, w, &w->contacts[k], weight, &list[count]);
  count += pull_arrow(view, w, &list[count]);
  const char *why = view_fill_crowd(&view->arrows, list->start, count, floats);
  free(list);
  return why;
}
