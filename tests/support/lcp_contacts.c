#include "lcp_contacts.h"

#include "common/core/core.h"
#include "helpers.h"

/* ---- Random bodies ---- */

static lcp_contacts empty(int dimension, int32_t contacts) {
  lcp_contacts s = {.dimension = dimension, .contacts = contacts, .n = dimension * contacts};
  s.matrix = calloc((size_t)s.n * (size_t)s.n, sizeof *s.matrix);
  s.q = calloc((size_t)s.n, sizeof *s.q);
  s.friction = calloc((size_t)contacts, sizeof *s.friction);
  return s;
}

static void cross(const double *a, const double *b, double *out) {
  for (int k = 0; k < 3; k++) out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static void normalize(double *v) {
  const double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  for (int k = 0; k < 3; k++) v[k] /= length;
}

/* The rows of the frame are the normal and the tangents. In two dimensions they are in the plane of the first
 * two axes. */
static void random_frame(ref_random *random, int dimension, double frame[3][3]) {
  double other[3];
  for (int k = 0; k < 3; k++) {
    frame[0][k] = dimension == 2 && k == 2 ? 0 : (double)ref_uniform(random, -1, 1);
    other[k] = dimension == 2 ? k == 2 : (double)ref_uniform(random, -1, 1);
  }
  normalize(frame[0]);
  cross(other, frame[0], frame[1]);
  normalize(frame[1]);
  cross(frame[0], frame[1], frame[2]);
}

/* Adds the row of H for a force along `axis` at `arm` of a body: 3 or 6 numbers, velocity first, then
 * rotation. */
static void add_force(int dimension, const double *axis, const double *arm, double sign, double *row) {
  double torque[3];
  cross(arm, axis, torque);
  for (int k = 0; k < dimension; k++) row[k] += sign * axis[k];
  if (dimension == 2)
    row[2] += sign * torque[2];
  else
    for (int k = 0; k < 3; k++) row[3 + k] += sign * torque[k];
}

static void add_contact(ref_random *random, const lcp_contacts *s, int32_t contact, double *H) {
  const int dofs = s->dimension == 2 ? 3 : 6;
  const size_t columns = (size_t)dofs * (size_t)s->contacts;
  const int32_t first = contact, second = ref_below(random, s->contacts + 1); /* the last one is the ground */
  double frame[3][3], arms[2][3];
  random_frame(random, s->dimension, frame);
  for (int k = 0; k < 6; k++)
    arms[k / 3][k % 3] = s->dimension == 2 && k % 3 == 2 ? 0 : (double)ref_uniform(random, -1, 1);
  for (int k = 0; k < s->dimension; k++) {
    double *row = H + ((size_t)contact * (size_t)s->dimension + (size_t)k) * columns;
    add_force(s->dimension, frame[k], arms[0], 1, row + (size_t)first * (size_t)dofs);
    if (second < s->contacts && second != first)
      add_force(s->dimension, frame[k], arms[1], -1, row + (size_t)second * (size_t)dofs);
  }
}

lcp_contacts lcp_contacts_random(int dimension, int32_t contacts, double friction, unsigned seed) {
  lcp_contacts s = empty(dimension, contacts);
  const size_t columns = (dimension == 2 ? 3U : 6U) * (size_t)contacts, n = (size_t)s.n;
  ref_random random = {seed};
  double *H = calloc(n * columns, sizeof *H), *velocity = ref_doubles(columns, seed + 1, -1, 1),
         *inverse_mass = ref_doubles(columns, seed + 2, 0.5, 2);
  for (int32_t k = 0; k < contacts; k++) {
    add_contact(&random, &s, k, H);
    s.friction[k] = (double)ref_uniform(&random, 0, (float)friction);
  }
  for (size_t i = 0; i < n; i++)
    for (size_t c = 0; c < columns; c++) {
      s.q[i] += H[i * columns + c] * velocity[c];
      for (size_t j = 0; j < n; j++)
        s.matrix[i * n + j] += H[i * columns + c] * inverse_mass[c] * H[j * columns + c];
    }
  for (size_t k = 0; k < n * n; k++) s.matrix[k] = (double)(float)s.matrix[k];
  for (size_t k = 0; k < n; k++) s.q[k] = (double)(float)s.q[k];
  free(H), free(velocity), free(inverse_mass);
  return s;
}

/* ---- A box ----
 * The axes are the normal of the slope and two directions in its plane. The corners are `height` below the
 * centre and at a distance of 1 in each direction. */
lcp_contacts lcp_contacts_box(int dimension, double tangent, double phi, double friction) {
  const double height = 0.25, angle = atan(tangent);
  const double velocity[3] = {-cos(angle), sin(angle) * cos(phi), sin(angle) * sin(phi)};
  lcp_contacts s = empty(dimension, dimension == 2 ? 2 : 4);
  double H[12][6] = {{0}};
  for (int32_t i = 0; i < s.n; i++) {
    const int corner = i / dimension, axis = i % dimension;
    const double arm[3] = {-height, corner % 2 ? 1 : -1, dimension == 2 ? 0 : corner / 2 ? 1 : -1};
    double unit[3] = {0}, torque[3];
    unit[axis] = 1;
    cross(arm, unit, torque);
    for (int k = 0; k < 3; k++) H[i][k] = unit[k], H[i][3 + k] = torque[k];
    s.q[i] = velocity[axis];
  }
  for (int32_t i = 0; i < s.n * s.n; i++)
    for (int k = 0; k < 6; k++) s.matrix[i] += H[i / s.n][k] * H[i % s.n][k];
  for (int32_t k = 0; k < s.contacts; k++) s.friction[k] = friction;
  return s;
}

lcp_contacts lcp_contacts_given(int dimension, int32_t contacts, const double *matrix, const double *q,
                                const double *friction) {
  lcp_contacts s = empty(dimension, contacts);
  const size_t n = (size_t)s.n;
  memcpy(s.matrix, matrix, n * n * sizeof *matrix);
  memcpy(s.q, q, n * sizeof *q);
  memcpy(s.friction, friction, (size_t)contacts * sizeof *friction);
  return s;
}

void lcp_contacts_free(lcp_contacts *s) {
  free(s->matrix), free(s->q), free(s->friction);
  *s = (lcp_contacts){0};
}

ts_lcp *lcp_contacts_make(ts_context *context, const lcp_contacts *s, ts_precision precision) {
  const ts_lcp_desc desc = {.size = s->n,
                            .dimension = s->dimension,
                            .matrix = ts_host(s->matrix, (size_t)s->n * (size_t)s->n),
                            .friction = ts_host(s->friction, (size_t)s->contacts),
                            .precision = precision};
  ts_lcp *lcp = NULL;
  CHECK_OK(context, ts_lcp_create(context, &desc, &lcp));
  return lcp;
}

/* ---- Laws ---- */

void lcp_contacts_velocity(const lcp_contacts *s, const double *r, double *u) {
  const size_t n = (size_t)s->n;
  for (size_t i = 0; i < n; i++) {
    u[i] = s->q[i];
    for (size_t j = 0; j < n; j++) u[i] += s->matrix[i * n + j] * r[j];
  }
}

static double tangent_length(const double *v, int dimension) {
  return dimension == 2 ? fabs(v[1]) : hypot(v[1], v[2]);
}

/* Projects the point (a, t) of a half plane, t >= 0, onto the cone t <= mu a. The result is on the cone's edge,
 * is 0, or is the point itself. */
static void project(double mu, double a, double t, double *normal, double *tangent) {
  const double cosine = 1 / sqrt(1 + mu * mu), sine = mu * cosine;
  const double along = a * cosine + t * sine, across = t * cosine - a * sine;
  const double edge = fmax(along, 0);
  const int inside = across <= 0 && a >= 0;
  *normal = inside ? a : edge * cosine;
  *tangent = inside ? t : edge * sine;
}

double lcp_contacts_residual(const lcp_contacts *s, const double *r) {
  double *u = calloc((size_t)s->n, sizeof *u), sum = 0;
  lcp_contacts_velocity(s, r, u);
  for (int32_t k = 0; k < s->contacts; k++) {
    const double *rk = r + k * s->dimension, *uk = u + k * s->dimension, mu = s->friction[k];
    double point[3] = {rk[0] - uk[0] - mu * tangent_length(uk, s->dimension)}, normal, tangent;
    for (int c = 1; c < s->dimension; c++) point[c] = rk[c] - uk[c];
    const double length = tangent_length(point, s->dimension);
    project(mu, point[0], length, &normal, &tangent);
    sum += (rk[0] - normal) * (rk[0] - normal);
    for (int c = 1; c < s->dimension; c++) {
      const double next = length > 0 ? tangent * (point[c] / length) : 0;
      sum += (rk[c] - next) * (rk[c] - next);
    }
  }
  free(u);
  return sqrt(sum);
}

double lcp_contacts_fault(const lcp_contacts *s, const double *r, const double *u, int32_t k) {
  const double *rk = r + k * s->dimension, *uk = u + k * s->dimension, mu = s->friction[k];
  double dot = 0;
  for (int c = 1; c < s->dimension; c++) dot += rk[c] * uk[c];
  double fault = fmax(fmax(-rk[0], -uk[0]), fabs(rk[0] * uk[0]));
  fault = fmax(fault, tangent_length(rk, s->dimension) - mu * rk[0]);
  return fmax(fault, fabs(mu * rk[0] * tangent_length(uk, s->dimension) + dot));
}
