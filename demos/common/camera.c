#include "camera.h"

#include <math.h>

static const float pi = 3.14159265f;

/* ---- Quaternions: x, y, z, w ---- */

static void multiply(const float a[4], const float b[4], float product[4]) {
  const float p[4] = {a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
                      a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
                      a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
                      a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2]};
  const float length = sqrtf(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]);
  /* otherwise rounding in many small turns adds up to a scaling */
  for (int k = 0; k < 4; k++) product[k] = p[k] / length;
}

static void turn_about(int axis, float angle, float q[4]) {
  for (int k = 0; k < 3; k++) q[k] = k == axis ? sinf(0.5f * angle) : 0;
  q[3] = cosf(0.5f * angle);
}

/* The rows of the rotation are the eye's right, up and backward in the world. */
static void rotation_matrix(const float q[4], float m[3][3]) {
  const float x = q[0], y = q[1], z = q[2], w = q[3];
  m[0][0] = 1 - 2 * (y * y + z * z), m[0][1] = 2 * (x * y - w * z), m[0][2] = 2 * (x * z + w * y);
  m[1][0] = 2 * (x * y + w * z), m[1][1] = 1 - 2 * (x * x + z * z), m[1][2] = 2 * (y * z - w * x);
  m[2][0] = 2 * (x * z - w * y), m[2][1] = 2 * (y * z + w * x), m[2][2] = 1 - 2 * (x * x + y * y);
}

/* ---- Fit ---- */

void camera_fit(camera *c, const float low[3], const float high[3]) {
  float half[3], aside[4], above[4], m[3][3];
  c->field_of_view = 30 * pi / 180;
  c->size = 0;
  for (int k = 0; k < 3; k++) {
    c->target[k] = 0.5f * (low[k] + high[k]);
    half[k] = 0.5f * (high[k] - low[k]);
    c->size += 4 * half[k] * half[k];
  }
  c->size = c->size > 0 ? sqrtf(c->size) : 1;
  turn_about(0, 18 * pi / 180, above);
  turn_about(1, -28 * pi / 180, aside);
  multiply(above, aside, c->rotation);
  /* Place the eye so that the box's farthest corner just fits into a square picture. */
  rotation_matrix(c->rotation, m);
  const float slope = tanf(0.5f * c->field_of_view);
  c->distance = 0.05f * c->size;
  for (int corner = 0; corner < 8; corner++) {
    float eye[3];
    for (int row = 0; row < 3; row++) {
      eye[row] = 0;
      for (int k = 0; k < 3; k++) eye[row] += m[row][k] * (corner >> k & 1 ? half[k] : -half[k]);
    }
    c->distance = fmaxf(c->distance, 1.06f * fmaxf(fabsf(eye[0]), fabsf(eye[1])) / slope + eye[2]);
  }
}

void camera_look_at(camera *c, const float eye[3], const float target[3], float size) {
  float back[3], above[4], aside[4];
  for (int k = 0; k < 3; k++) {
    c->target[k] = target[k];
    back[k] = eye[k] - target[k];
  }
  c->field_of_view = 30 * pi / 180;
  c->size = size;
  c->distance = sqrtf(back[0] * back[0] + back[1] * back[1] + back[2] * back[2]);
  /* Turn about z until the eye is at -y, then about x until it is at z. */
  turn_about(2, -0.5f * pi - atan2f(back[1], back[0]), aside);
  turn_about(0, asinf(back[2] / c->distance) - 0.5f * pi, above);
  multiply(above, aside, c->rotation);
}

/* ---- Moves ---- */

/* Projects the pointer to a ball that fills the window. Outside the ball it uses a hyperbolic sheet, so that
 * the rotation stays smooth across the ball's edge. */
static void on_ball(float x, float y, int width, int height, float p[3]) {
  const float radius = 0.5f * (float)(width < height ? width : height);
  p[0] = (x - 0.5f * (float)width) / radius;
  p[1] = (0.5f * (float)height - y) / radius;
  const float flat = p[0] * p[0] + p[1] * p[1];
  p[2] = flat < 0.5f ? sqrtf(1 - flat) : 0.5f / sqrtf(flat);
  const float length = sqrtf(flat + p[2] * p[2]);
  for (int k = 0; k < 3; k++) p[k] /= length;
}

void camera_orbit(camera *c, float x0, float y0, float x1, float y1, int width, int height) {
  float a[3], b[3];
  on_ball(x0, y0, width, height, a);
  on_ball(x1, y1, width, height, b);
  const float axis[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
  const float sine = sqrtf(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
  if (sine < 1e-7f) return;
  /* Rotate by twice the angle on the ball: a drag across half the window turns the mesh around. */
  const float angle = 2 * atan2f(sine, a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
  const float s = sinf(0.5f * angle) / sine;
  const float turn[4] = {axis[0] * s, axis[1] * s, axis[2] * s, cosf(0.5f * angle)};
  multiply(turn, c->rotation, c->rotation);
}

void camera_turn(camera *c, float x0, float y0, float x1, float y1, int width, int height) {
  const float radius = 0.5f * (float)(width < height ? width : height);
  float m[3][3], about_z[4], about_x[4];
  rotation_matrix(c->rotation, m);
  const float elevation = asinf(fminf(fmaxf(m[2][2], -1), 1));
  const float tilted = fminf(fmaxf(elevation + (y1 - y0) / radius, 0.03f), 0.5f * pi - 0.01f);
  turn_about(2, (x1 - x0) / radius, about_z);
  turn_about(0, tilted - elevation, about_x);
  multiply(c->rotation, about_z, c->rotation);
  multiply(about_x, c->rotation, c->rotation);
}

/* Size of a pixel in world units, at the distance of the target. */
static float pixel_size(const camera *c, int width, int height) {
  return 2 * c->distance * tanf(0.5f * c->field_of_view) / (float)(width < height ? width : height);
}

void camera_pan(camera *c, float x0, float y0, float x1, float y1, int width, int height) {
  const float unit = pixel_size(c, width, height);
  float m[3][3];
  rotation_matrix(c->rotation, m);
  for (int k = 0; k < 3; k++) c->target[k] -= unit * ((x1 - x0) * m[0][k] - (y1 - y0) * m[1][k]);
}

void camera_zoom(camera *c, float steps) {
  c->distance = fminf(fmaxf(c->distance * powf(0.9f, steps), 0.002f * c->size), 20 * c->size);
}

/* ---- Points and pixels ---- */

/* Distance of a point in front of the camera, along the view direction. */
static float depth(const camera *c, const float point[3]) {
  float m[3][3], z = c->distance;
  rotation_matrix(c->rotation, m);
  for (int k = 0; k < 3; k++) z -= m[2][k] * (point[k] - c->target[k]);
  return z;
}

/* Size of a pixel at distance 1. */
static float pixel_slope(const camera *c, int width, int height) {
  return pixel_size(c, width, height) / c->distance;
}

int camera_project(const camera *c, const float point[3], int width, int height, float *x, float *y) {
  float m[3][3], eye[2] = {0};
  const float z = depth(c, point), unit = z * pixel_slope(c, width, height);
  rotation_matrix(c->rotation, m);
  for (int k = 0; k < 3; k++)
    for (int row = 0; row < 2; row++) eye[row] += m[row][k] * (point[k] - c->target[k]);
  if (!(z > 0)) return 0;
  *x = 0.5f * (float)width + eye[0] / unit;
  *y = 0.5f * (float)height - eye[1] / unit;
  return 1;
}

void camera_ray(const camera *c, float x, float y, int width, int height, float origin[3], float direction[3]) {
  float m[3][3];
  const float slope = pixel_slope(c, width, height);
  const float right = slope * (x - 0.5f * (float)width), up = slope * (0.5f * (float)height - y);
  rotation_matrix(c->rotation, m);
  for (int k = 0; k < 3; k++) {
    origin[k] = c->target[k] + c->distance * m[2][k];
    direction[k] = right * m[0][k] + up * m[1][k] - m[2][k];
  }
}

void camera_drag(const camera *c, float x0, float y0, float x1, float y1, int width, int height,
                 float point[3]) {
  float m[3][3];
  const float unit = depth(c, point) * pixel_slope(c, width, height);
  rotation_matrix(c->rotation, m);
  for (int k = 0; k < 3; k++) point[k] += unit * ((x1 - x0) * m[0][k] - (y1 - y0) * m[1][k]);
}

/* ---- Matrices ---- */

void camera_view_matrix(const camera *c, float m[16]) {
  float r[3][3];
  rotation_matrix(c->rotation, r);
  for (int row = 0; row < 3; row++) {
    float moved = 0;
    for (int k = 0; k < 3; k++) {
      m[4 * k + row] = r[row][k];
      moved -= r[row][k] * c->target[k];
    }
    m[12 + row] = moved - (row == 2 ? c->distance : 0);
    m[4 * row + 3] = 0;
  }
  m[15] = 1;
}

void camera_projection_matrix(const camera *c, int width, int height, float m[16]) {
  /* The field of view is that of the shorter side. A scene that fits into a square picture then fits into any
   * picture. */
  const float slope = tanf(0.5f * c->field_of_view), shorter = (float)(width < height ? width : height);
  const float near = fmaxf(c->distance - 2 * c->size, 0.02f * c->distance), far = c->distance + 2 * c->size;
  for (int k = 0; k < 16; k++) m[k] = 0;
  m[0] = shorter / ((float)width * slope);
  m[5] = shorter / ((float)height * slope);
  m[10] = -(far + near) / (far - near);
  m[11] = -1;
  m[14] = -2 * far * near / (far - near);
}
