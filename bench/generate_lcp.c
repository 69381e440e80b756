/* Complementarity problems for `texsolve bench lcp`.
 *
 * dense: M_ij = exp(-|i - j| / 10), the compliance of a body pressed in at many places, plus 0.1 on the
 * diagonal; q is random.
 *
 * piles2d, piles3d: balls of radius 1/2 and mass 1 in layers on the floor. Each touches the balls below and
 * next to it; normals are slightly tilted. W = H M^-1 H^T, where row k of a contact maps the velocities and
 * spins of a pair to the relative velocity along direction k at the point of contact. q = H v, where v is a
 * step of gravity plus a random part; mu = 0.4. A ball with more contacts than it needs makes W singular, as in
 * real piles.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lcp_solves.h"

enum { FLOOR = -1, DOFS = 6 };

static double chance(int32_t i, uint32_t seed) {
  return 2 * (double)generated_noise((uint32_t)i, seed) - 1;
}

/* Rows e and arm x e: the map from velocity and spin of the two balls to `dimension` directions. */
typedef struct contact {
  int32_t ball[2];
  double row[2][3][DOFS];
} contact;

static void cross(const double *a, const double *b, double *c) {
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

static void normalise(double *a) {
  const double length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
  for (int k = 0; k < 3; k++) a[k] /= length;
}

/* Ball `upper` rests on `lower` along the axis, 0 to 2. */
static void make_contact(contact *c, int dimension, int32_t number, int32_t upper, int32_t lower, int axis) {
  double e[3][3] = {{0}}; /* the normal, towards `upper`, and the tangents */
  for (int k = 0; k < 3; k++)
    if (k != 1 || dimension == 3) e[0][k] = (k == axis) + 0.1 * chance(3 * number + k, 11);
  normalise(e[0]);
  if (dimension == 2) {
    e[1][0] = -e[0][2], e[1][2] = e[0][0];
  } else {
    const double other[3] = {axis == 1, axis == 2, axis == 0};
    cross(e[0], other, e[1]);
    normalise(e[1]);
    cross(e[0], e[1], e[2]);
  }
  c->ball[0] = upper, c->ball[1] = lower;
  for (int k = 0; k < dimension; k++) {
    const double arms[2][3] = {{-e[0][0] / 2, -e[0][1] / 2, -e[0][2] / 2},
                               {e[0][0] / 2, e[0][1] / 2, e[0][2] / 2}};
    for (int side = 0; side < 2; side++) {
      const double sign = side ? -1 : 1;
      double *row = c->row[side][k];
      cross(arms[side], e[k], row + 3);
      for (int j = 0; j < 3; j++) row[j] = sign * e[k][j], row[3 + j] *= sign;
    }
  }
}

/* Creates balls in layers of side^(dimension - 1), until they have `count` contacts. */
static void make_contacts(contact *contacts, int dimension, int32_t count) {
  int32_t made = 0;
  const int32_t side = (int32_t)ceil(pow(count / (double)dimension, 1.0 / dimension));
  const int32_t layer = dimension == 3 ? side * side : side;
  for (int32_t ball = 0; made < count; ball++) {
    const int32_t x = ball % side, y = ball % layer / side;
    make_contact(&contacts[made], dimension, made, ball, ball < layer ? FLOOR : ball - layer, 2);
    made++;
    if (x && made < count) make_contact(&contacts[made], dimension, made, ball, ball - 1, 0), made++;
    if (y && made < count) make_contact(&contacts[made], dimension, made, ball, ball - side, 1), made++;
  }
}

/* The change of velocity along `k` of contact a by an impulse along `l` of contact b. */
static double coupling(const contact *a, int k, const contact *b, int l) {
  static const double inverse_mass[DOFS] = {1, 1, 1, 10, 10, 10}; /* a ball's inertia: 2/5 of 1/4 */
  double sum = 0;
  for (int s = 0; s < 2; s++)
    for (int t = 0; t < 2; t++) {
      if (a->ball[s] != b->ball[t] || a->ball[s] == FLOOR) continue;
      for (int j = 0; j < DOFS; j++) sum += a->row[s][k][j] * inverse_mass[j] * b->row[t][l][j];
    }
  return sum;
}

/* Along direction k: a step of gravity plus a random part. */
static double free_velocity(const contact *c, int k) {
  double sum = 0;
  for (int s = 0; s < 2; s++)
    for (int j = 0; j < 3 && c->ball[s] != FLOOR; j++)
      sum += c->row[s][k][j] * (0.05 * chance(3 * c->ball[s] + j, 13) - (j == 2 ? 0.1 : 0));
  return sum;
}

/* Copies the nonzero entries to the problem, and frees the matrix. */
static int compress(double *matrix, lcp_problem *p) {
  const size_t n = (size_t)p->size;
  mm_csr *csr = &p->matrix;
  *csr = (mm_csr){.rows = p->size, .columns = p->size};
  for (size_t k = 0; k < n * n; k++) csr->nonzeros += matrix[k] != 0;
  csr->row_offsets = calloc(n + 1, sizeof *csr->row_offsets);
  csr->column_indices = calloc((size_t)csr->nonzeros + 1, sizeof *csr->column_indices);
  csr->values = calloc((size_t)csr->nonzeros + 1, sizeof *csr->values);
  const int is_whole = csr->row_offsets && csr->column_indices && csr->values;
  for (size_t i = 0, e = 0; is_whole && i < n; i++) {
    for (size_t j = 0; j < n; j++)
      if (matrix[i * n + j] != 0) {
        csr->column_indices[e] = (int32_t)j;
        csr->values[e++] = matrix[i * n + j];
      }
    csr->row_offsets[i + 1] = (int32_t)e;
  }
  free(matrix);
  return is_whole ? 0 : 2;
}

static int generate_pile(lcp_problem *p, int dimension, int32_t size) {
  const int32_t count = size < dimension ? 1 : size / dimension;
  const size_t d = (size_t)dimension, n = (size_t)count * d;
  double *matrix = calloc(n * n, sizeof *matrix);
  contact *contacts = calloc((size_t)count, sizeof *contacts);
  *p = (lcp_problem){.dimension = dimension,
                     .size = (int32_t)n,
                     .q = calloc(n, sizeof *p->q),
                     .friction = calloc((size_t)count, sizeof *p->friction)};
  if (!contacts || !matrix || !p->q || !p->friction) {
    free(contacts), free(matrix);
    return 2;
  }
  make_contacts(contacts, dimension, count);
  for (size_t i = 0; i < n; i++) {
    p->q[i] = free_velocity(&contacts[i / d], (int)(i % d));
    p->friction[i / d] = 0.4;
    for (size_t j = 0; j < n; j++)
      matrix[i * n + j] = coupling(&contacts[i / d], (int)(i % d), &contacts[j / d], (int)(j % d));
  }
  free(contacts);
  return compress(matrix, p);
}

static int generate_dense(lcp_problem *p, int32_t size) {
  const size_t n = (size_t)size;
  double *matrix = calloc(n * n, sizeof *matrix);
  *p = (lcp_problem){.dimension = 1, .size = size, .q = calloc(n, sizeof *p->q)};
  if (!matrix || !p->q) {
    free(matrix);
    return 2;
  }
  for (size_t i = 0; i < n; i++) {
    p->q[i] = chance((int32_t)i, 17);
    for (size_t j = 0; j < n; j++)
      matrix[i * n + j] = exp(-fabs((double)i - (double)j) / 10) + (i == j ? 0.1 : 0);
  }
  return compress(matrix, p);
}

static const char *const NAMES[] = {"dense", "piles2d", "piles3d"};

static int number_of(const char *name) {
  for (int k = 0; k < 3; k++)
    if (!strcmp(name, NAMES[k])) return k;
  return -1;
}

int lcp_is_generated(const char *name) {
  return number_of(name) >= 0;
}

int lcp_generate(lcp_problem *p, const char *name, int32_t size) {
  const int number = number_of(name);
  if (number < 0) return 1;
  if (number ? generate_pile(p, number + 1, size) : generate_dense(p, size)) {
    lcp_free(p);
    return 2;
  }
  return 0;
}
