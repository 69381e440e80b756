#include <cfloat>
#include <cmath>
#include <exception>
#include <utility>
#include <vector>

extern "C" {
#include "charts.h"
#include "triangle.h"
}
#include "distances.hpp"

using std::vector;

enum { most_landmarks = 10 };

/* ---- Eigenvectors of a small symmetric matrix, by Jacobi rotations ---- */

typedef double square[most_landmarks][most_landmarks];

static void rotate(square a, square q, int n, int i, int j) {
  const double theta = (a[j][j] - a[i][i]) / (2 * a[i][j]);
  const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
  const double cosine = 1 / sqrt(t * t + 1), sine = t * cosine;
  for (int k = 0; k < n; k++) {
    const double ki = a[k][i], kj = a[k][j];
    a[k][i] = cosine * ki - sine * kj;
    a[k][j] = sine * ki + cosine * kj;
  }
  for (int k = 0; k < n; k++) {
    const double ik = a[i][k], jk = a[j][k], qki = q[k][i], qkj = q[k][j];
    a[i][k] = cosine * ik - sine * jk;
    a[j][k] = sine * ik + cosine * jk;
    q[k][i] = cosine * qki - sine * qkj;
    q[k][j] = sine * qki + cosine * qkj;
  }
}

/* Diagonalizes a. `largest` returns the columns of q that belong to the two largest eigenvalues. */
static void find_eigenvectors(square a, int n, square q, int largest[2]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) q[i][j] = i == j;
  for (int sweep = 0; sweep < 30; sweep++) {
    double off = 0, diagonal = 0;
    for (int i = 0; i < n; i++) diagonal += fabs(a[i][i]);
    for (int i = 0; i < n; i++)
      for (int j = i + 1; j < n; j++) off += fabs(a[i][j]);
    if (off <= 1e-14 * diagonal) break;
    for (int i = 0; i < n; i++)
      for (int j = i + 1; j < n; j++)
        if (fabs(a[i][j]) > DBL_MIN) rotate(a, q, n, i, j);
  }
  largest[0] = 0;
  for (int i = 1; i < n; i++)
    if (a[i][i] > a[largest[0]][largest[0]]) largest[0] = i;
  largest[1] = largest[0] == 0;
  for (int i = 0; i < n; i++)
    if (i != largest[0] && a[i][i] > a[largest[1]][largest[1]]) largest[1] = i;
}

/* ---- The plane ---- */

static void project(const mesh *m, const charts *c, const chart *at, double *uv) {
  double mean[3] = {0};
  square a = {{0}}, q;
  int axis[2];
  for (int32_t v = at->first_vertex; v < at->first_vertex + at->vertices; v++)
    for (int k = 0; k < 3; k++) mean[k] += m->positions[3 * (size_t)c->vertex[v] + (size_t)k] / at->vertices;
  for (int32_t v = at->first_vertex; v < at->first_vertex + at->vertices; v++) {
    const double *p = m->positions + 3 * (size_t)c->vertex[v];
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) a[i][j] += (p[i] - mean[i]) * (p[j] - mean[j]);
  }
  find_eigenvectors(a, 3, q, axis);
  for (int32_t v = at->first_vertex; v < at->first_vertex + at->vertices; v++) {
    const double *p = m->positions + 3 * (size_t)c->vertex[v];
    for (int i = 0; i < 2; i++) {
      uv[2 * (size_t)v + (size_t)i] = 0;
      for (int k = 0; k < 3; k++) uv[2 * (size_t)v + (size_t)i] += q[k][axis[i]] * (p[k] - mean[k]);
    }
  }
}

/* ---- Distances to landmarks ---- */

struct landmarks {
  int count = 0;
  int32_t vertex[most_landmarks];
  vector<double>
      square[most_landmarks]; /* squared distances from each landmark, for the vertices of the chart */
};

/* The landmarks are the two ends of the boundary, then repeatedly the vertex farthest from all earlier ones.
 * `nearest` is workspace. */
static void find_landmarks(const charts *c, int32_t k, int wanted, distances &d, vector<double> &nearest,
                           landmarks *l) {
  const size_t first = (size_t)c->chart[k].first_vertex, vertices = (size_t)c->chart[k].vertices;
  d.measure(k, d.farthest(k, true, nearest));
  l->vertex[0] = d.farthest(k, true, d.distance);
  for (l->count = 0; l->count < wanted;) {
    d.measure(k, l->vertex[l->count]);
    l->square[l->count].resize(vertices);
    for (size_t v = 0; v < vertices; v++) {
      const double distance = d.distance[first + v];
      l->square[l->count][v] = distance * distance;
      nearest[first + v] = l->count ? fmin(nearest[first + v], distance) : distance;
    }
    const int32_t next = d.farthest(k, l->count == 0, nearest);
    if (++l->count < most_landmarks) l->vertex[l->count] = next;
    if (nearest[next] <= 0) break;
  }
}

static void place_by_landmarks(const chart *at, const landmarks *l, double *uv) {
  const int n = l->count;
  square a, q;
  double mean[most_landmarks] = {0}, all = 0;
  int axis[2];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      a[i][j] = l->square[i][l->vertex[j] - at->first_vertex];
      mean[i] += a[i][j] / n;
    }
  for (int i = 0; i < n; i++) all += mean[i] / n;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i][j] = -0.5 * (l->square[i][l->vertex[j] - at->first_vertex] - mean[i] - mean[j] + all);
  find_eigenvectors(a, n, q, axis);
  for (int32_t v = 0; v < at->vertices; v++)
    for (int i = 0; i < 2; i++) {
      const double value = a[axis[i]][axis[i]];
      double sum = 0;
      for (int k = 0; k < n && value > 0; k++) sum -= 0.5 * q[k][axis[i]] * (l->square[k][v] - mean[k]);
      uv[2 * ((size_t)at->first_vertex + (size_t)v) + (size_t)i] = value > 0 ? sum / sqrt(value) : 0;
    }
}

/* ---- Both methods ---- */

/* Centres the chart at the middle of its pins, scales it to an area of 1 on the mesh, and makes its orientation
 * positive. */
static void normalise(const mesh *m, const charts *c, const chart *at, const int32_t pins[2], double *uv) {
  double area = 0, flat = 0;
  for (int32_t i = at->first_triangle; i < at->first_triangle + at->triangles; i++) {
    const int32_t *corner = c->corner + 3 * (size_t)c->order[i];
    area += 0.5 * triangle_flat(m, c->order[i]).double_area;
    flat += triangle_double_area(uv + 2 * (size_t)corner[0], uv + 2 * (size_t)corner[1],
                                 uv + 2 * (size_t)corner[2]);
  }
  double *a = uv + 2 * (size_t)pins[0], *b = uv + 2 * (size_t)pins[1];
  const double scale = area > 0 ? 1 / sqrt(area) : 1, middle[2] = {0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])};
  for (int32_t v = at->first_vertex; v < at->first_vertex + at->vertices; v++) {
    uv[2 * (size_t)v] = scale * (uv[2 * (size_t)v] - middle[0]);
    uv[2 * (size_t)v + 1] = (flat < 0 ? -scale : scale) * (uv[2 * (size_t)v + 1] - middle[1]);
  }
  if (hypot(a[0] - b[0], a[1] - b[1]) > 0.01) return;
  /* Coincident pins would leave only a single point as the solution. */
  a[0] = -0.5;
  b[0] = 0.5;
  a[1] = b[1] = 0;
}

int start_find(const mesh *m, const charts *c, start_method method, double *uv, int32_t *pins,
               char message[MESH_MESSAGE]) {
  try {
    distances d(*m, *c);
    landmarks l;
    vector<double> nearest((size_t)c->vertices);
    for (int32_t k = 0; k < c->count; k++) {
      const chart *at = &c->chart[k];
      find_landmarks(c, k, method == START_PLANE ? 2 : most_landmarks, d, nearest, &l);
      pins[2 * (size_t)k] = l.vertex[0];
      pins[2 * (size_t)k + 1] = l.vertex[1];
      if (method == START_PLANE)
        project(m, c, at, uv);
      else
        place_by_landmarks(at, &l, uv);
      normalise(m, c, at, pins + 2 * (size_t)k, uv);
    }
    return 0;
  } catch (const std::exception &) {
    return mesh_fail(message, "out of memory for a start of %d vertices", (int)c->vertices);
  }
}
