/* Fits the camera and the light to a scene. */
#include <math.h>
#include <stdlib.h>

#include "colours.h"
#include "view_parts.h"

/* ---- The box around the bodies ---- */

static void bound_body(const body *b, double low[3], double high[3]) {
  double corners[8][3], at[3];
  for (int k = 0; k < 3; k++) {
    low[k] = b->position[k] - b->half[0];
    high[k] = b->position[k] + b->half[0];
  }
  if (b->shape == BODY_SPHERE) return;
  body_corners(b, corners);
  for (int corner = 0; corner < 8; corner++) {
    body_point(b, corners[corner], at);
    for (int k = 0; k < 3; k++) {
      low[k] = corner ? fmin(low[k], at[k]) : at[k];
      high[k] = corner ? fmax(high[k], at[k]) : at[k];
    }
  }
}

/* Ignores 2 % of the moving bodies at each side. `values` has room for 6 numbers per body. */
static void bound_bodies(const world *w, float *values, float low[3], float high[3]) {
  const size_t room = (size_t)w->count;
  size_t count = 0;
  for (int k = 0; k < w->count; k++) {
    double least[3], most[3];
    if (!(w->bodies[k].mass > 0)) continue;
    bound_body(&w->bodies[k], least, most);
    for (size_t axis = 0; axis < 3; axis++) {
      values[axis * room + count] = (float)least[axis];
      values[(3 + axis) * room + count] = (float)most[axis];
    }
    count++;
  }
  for (size_t k = 0; k < 3; k++) {
    low[k] = count ? colours_sorted(values + k * room, count, count / 50) : -1;
    high[k] = count ? colours_sorted(values + (3 + k) * room, count, count - 1 - count / 50) : 1;
  }
}

/* Extends the box by the fixed bodies other than the ground. Returns their number. */
static int add_walls(const world *w, float low[3], float high[3]) {
  int walls = 0;
  for (int k = 0; k < w->count; k++) {
    double least[3], most[3];
    if (w->bodies[k].mass > 0 || view_is_ground(&w->bodies[k])) continue;
    bound_body(&w->bodies[k], least, most);
    for (int axis = 0; axis < 3; axis++) {
      low[axis] = fminf(low[axis], (float)least[axis]);
      high[axis] = fmaxf(high[axis], (float)most[axis]);
    }
    walls++;
  }
  return walls;
}

/* Bodies that fall from above `height` spread on the ground, unless there are walls. */
static void leave_room(int walls, float height, float low[3], float high[3]) {
  const float above = fminf(fmaxf(high[2] / height - 1, 0), 1);
  if (!walls)
    for (int k = 0; k < 2; k++) {
      const float wider = 0.3f * above * (high[k] - low[k]);
      low[k] -= wider;
      high[k] += wider;
    }
  high[2] = fmaxf(fminf(high[2], height), low[2] + 0.1f);
}

/* ---- The camera ---- */

/* Moves back until the farthest corner of the box just fits into a picture slightly wider than high. */
static void move_back(camera *c, const float low[3], const float high[3]) {
  const float slope = tanf(0.5f * c->field_of_view), wider = 1.3f;
  float m[16], distance = 0;
  camera_view_matrix(c, m);
  for (int corner = 0; corner < 8; corner++) {
    float eye[3] = {0, 0, 0};
    for (int row = 0; row < 3; row++)
      for (int k = 0; k < 3; k++)
        eye[row] += m[4 * k + row] * ((corner >> k & 1 ? high[k] : low[k]) - c->target[k]);
    distance = fmaxf(distance, 1.12f * fmaxf(fabsf(eye[0]) / wider, fabsf(eye[1])) / slope + eye[2]);
  }
  c->distance = distance;
}

const char *contact_view_fit(const scene *s, const world *w, camera *c, contact_look *look) {
  float *values = malloc((6 * (size_t)w->count + 1) * sizeof *values);
  float low[3], high[3], eye[3], middle[3];
  if (!values) return "out of memory";
  bound_bodies(w, values, low, high);
  free(values);
  leave_room(add_walls(w, low, high), 2 * (float)s->middle[2], low, high);
  for (int k = 0; k < 3; k++) {
    middle[k] = 0.5f * (low[k] + high[k]);
    eye[k] = middle[k] + (float)(s->eye[k] - s->middle[k]);
  }
  camera_look_at(c, eye, middle, 1);
  const float least = 0.6f * c->distance; /* leaves room for bodies to move */
  move_back(c, low, high);
  c->distance = fmaxf(c->distance, least);
  look->reach = c->distance;
  c->size = 3 * look->reach;
  /* The sun is behind the viewer's left shoulder, at an elevation of 50 degrees. */
  const float aside = atan2f(eye[1] - middle[1], eye[0] - middle[0]) - 0.85f, above = 0.87f;
  look->sun[0] = cosf(above) * cosf(aside);
  look->sun[1] = cosf(above) * sinf(aside);
  look->sun[2] = sinf(above);
  return NULL;
}
