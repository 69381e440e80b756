/* The least-squares conformal map of a piece of a cylinder, which unrolls exactly: two vertices are pinned, and
 * all others must be at their places on the unrolled sheet. Variables 2 v and 2 v + 1 are u and v of a
 * vertex. */
#include "check.h"

enum { WIDE = 13, HIGH = 9, VERTICES = WIDE * HIGH };

static const double angle = 0.19, height = 0.23;

static int vertex(int i, int j) {
  return j * WIDE + i;
}

static void position(int v, double p[3]) {
  p[0] = cos(angle * (v % WIDE));
  p[1] = sin(angle * (v % WIDE));
  p[2] = height * (v / WIDE);
}

/* A triangle has the length of the chord, not of the arc. */
static double flat_u(int v) {
  return 2 * sin(angle / 2) * (v % WIDE);
}
static double flat_v(int v) {
  return height * (v / WIDE);
}

/* The triangle in its own plane: (0, 0), (x1, 0), (x2, y2). */
static void project(const int t[3], double *x1, double *x2, double *y2) {
  double p[3][3], a[3], b[3], aa = 0, ab = 0, bb = 0;
  for (int k = 0; k < 3; k++) position(t[k], p[k]);
  for (int k = 0; k < 3; k++) {
    a[k] = p[1][k] - p[0][k];
    b[k] = p[2][k] - p[0][k];
    aa += a[k] * a[k];
    ab += a[k] * b[k];
    bb += b[k] * b[k];
  }
  *x1 = sqrt(aa);
  *x2 = ab / *x1;
  *y2 = sqrt(bb - *x2 * *x2);
}

/* The gradients of u and v are perpendicular and have equal length, which gives two rows. */
static void state_triangle(int v0, int v1, int v2) {
  const int t[3] = {v0, v1, v2};
  double x1, x2, y2;
  project(t, &x1, &x2, &y2);
  nlBegin(NL_ROW);
  nlCoefficient(2 * (NLuint)v0, x2 - x1);
  nlCoefficient(2 * (NLuint)v0 + 1, -y2);
  nlCoefficient(2 * (NLuint)v1, -x2);
  nlCoefficient(2 * (NLuint)v1 + 1, y2);
  nlCoefficient(2 * (NLuint)v2, x1);
  nlEnd(NL_ROW);
  nlBegin(NL_ROW);
  nlCoefficient(2 * (NLuint)v0, y2);
  nlCoefficient(2 * (NLuint)v0 + 1, x2 - x1);
  nlCoefficient(2 * (NLuint)v1, -y2);
  nlCoefficient(2 * (NLuint)v1 + 1, -x2);
  nlCoefficient(2 * (NLuint)v2 + 1, x1);
  nlEnd(NL_ROW);
}

static void pin(int v) {
  nlSetVariable(2 * (NLuint)v, flat_u(v));
  nlSetVariable(2 * (NLuint)v + 1, flat_v(v));
  nlLockVariable(2 * (NLuint)v);
  nlLockVariable(2 * (NLuint)v + 1);
}

int main(void) {
  int iterations;
  double gflops, seconds;
  need_device();
  nlNewContext();
  nlSolverParameteri(NL_SOLVER, NL_CG);
  nlSolverParameteri(NL_PRECONDITIONER, NL_PRECOND_JACOBI);
  nlSolverParameteri(NL_NB_VARIABLES, 2 * VERTICES);
  nlSolverParameteri(NL_LEAST_SQUARES, NL_TRUE);
  nlSolverParameteri(NL_MAX_ITERATIONS, 10 * VERTICES);
  nlSolverParameterd(NL_THRESHOLD, 1e-10);
  nlBegin(NL_SYSTEM);
  pin(vertex(0, 0));
  pin(vertex(WIDE - 1, HIGH - 1));
  nlBegin(NL_MATRIX);
  for (int j = 0; j + 1 < HIGH; j++)
    for (int i = 0; i + 1 < WIDE; i++) {
      state_triangle(vertex(i, j), vertex(i + 1, j), vertex(i, j + 1));
      state_triangle(vertex(i + 1, j), vertex(i + 1, j + 1), vertex(i, j + 1));
    }
  nlEnd(NL_MATRIX);
  nlEnd(NL_SYSTEM);
  CHECK(solve());
  for (int v = 0; v < VERTICES; v++) {
    CHECK_CLOSE(nlGetVariable(2 * (NLuint)v), flat_u(v), 1e-6);
    CHECK_CLOSE(nlGetVariable(2 * (NLuint)v + 1), flat_v(v), 1e-6);
  }
  CHECK(nlGetVariable(0) == flat_u(0));
  nlGetIntegerv(NL_USED_ITERATIONS, &iterations);
  nlGetDoublev(NL_ELAPSED_TIME, &seconds);
  nlGetDoublev(NL_GFLOPS, &gflops);
  CHECK(iterations > 10 && seconds > 0 && gflops > 0);
  printf("%s\n", nlGetReport());
  nlDeleteContext(nlGetCurrent());
  return report();
}
