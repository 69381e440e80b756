/* One rigid body: its mass, position and velocities. */
#include <string.h>

#include "vector.h"
#include "world.h"

void body_matrix(const body *b, double rows[3][3]) {
  const double w = b->rotation[0], x = b->rotation[1], y = b->rotation[2], z = b->rotation[3];
  const double matrix[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                               {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                               {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
  memcpy(rows, matrix, sizeof matrix);
}

void body_point(const body *b, const double local[3], double world_point[3]) {
  double rows[3][3];
  body_matrix(b, rows);
  multiply((const double(*)[3])rows, local, world_point);
  add_scaled(world_point, 1, b->position);
}

void body_local(const body *b, const double world_point[3], double local[3]) {
  double rows[3][3], arm[3];
  body_matrix(b, rows);
  subtract(world_point, b->position, arm);
  for (int k = 0; k < 3; k++) local[k] = rows[0][k] * arm[0] + rows[1][k] * arm[1] + rows[2][k] * arm[2];
}

void body_velocity_at(const body *b, const double world_point[3], double velocity[3]) {
  double arm[3];
  subtract(world_point, b->position, arm);
  cross(b->spin, arm, velocity);
  add_scaled(velocity, 1, b->velocity);
}

/* The trapezoid of a wedge: half the mean width, half the difference of the widths, and the height of its
 * centroid above the middle. The difference is 0 for a box. */
static double trapezoid(const body *b, double *mean, double *difference) {
  const double taper = b->shape == BODY_WEDGE ? b->taper : 1;
  *mean = 0.5 * (1 + taper) * b->half[0];
  *difference = 0.5 * (1 - taper) * b->half[0];
  return b->half[2] * *difference / (3 * *mean);
}

void body_corners(const body *b, double corners[8][3]) {
  double mean, difference;
  const double centroid = trapezoid(b, &mean, &difference);
  for (int k = 0; k < 8; k++) {
    const double top = k & 4 ? 1 : -1;
    corners[k][0] = (k & 1 ? 1 : -1) * (mean + top * difference);
    corners[k][1] = (k & 2 ? 1 : -1) * b->half[1];
    corners[k][2] = top * b->half[2] - centroid;
  }
}

void body_weigh(body *b, double density) {
  const double *h = b->half;
  double mean, difference;
  if (b->shape == BODY_SPHERE) {
    b->mass = density * 4 / 3 * 3.14159265358979323846 * h[0] * h[0] * h[0];
    for (int k = 0; k < 3; k++) b->inertia[k] = 0.4 * b->mass * h[0] * h[0];
    return;
  }
  const double centroid = trapezoid(b, &mean, &difference);
  b->mass = density * 8 * mean * h[1] * h[2];
  const double moments[3] = {(mean * mean + difference * difference) / 3, h[1] * h[1] / 3,
                             h[2] * h[2] / 3 - centroid * centroid};
  for (int k = 0; k < 3; k++) b->inertia[k] = b->mass * (moments[(k + 1) % 3] + moments[(k + 2) % 3]);
}

void body_inverse_inertia(const body *b, double rows[3][3]) {
  double axes[3][3];
  memset(rows, 0, 9 * sizeof(double));
  if (!(b->mass > 0)) return;
  body_matrix(b, axes);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 3; k++) rows[i][j] += axes[i][k] * axes[j][k] / b->inertia[k];
}

void body_turn(body *b, const double axis[3], double angle) {
  const double c = cos(0.5 * angle), s = sin(0.5 * angle), *q = b->rotation;
  const double turn[3] = {s * axis[0], s * axis[1], s * axis[2]};
  double next[4] = {c * q[0] - dot(turn, q + 1)}, length = 0;
  cross(turn, q + 1, next + 1);
  for (int k = 1; k < 4; k++) next[k] += c * q[k] + q[0] * turn[k - 1];
  for (int k = 0; k < 4; k++) length += next[k] * next[k];
  for (int k = 0; k < 4; k++) b->rotation[k] = next[k] / sqrt(length);
}

void body_move(body *b, const double displacement[3], const double rotation[3]) {
  const double angle = sqrt(dot(rotation, rotation));
  add_scaled(b->position, 1, displacement);
  if (!(angle > 0)) return;
  const double axis[3] = {rotation[0] / angle, rotation[1] / angle, rotation[2] / angle};
  body_turn(b, axis, angle);
}
