/* Least squares: a line through points, without restrictions, with a locked slope, and with weights, as in the
 * examples of OpenNL's documentation. */
#include "check.h"

enum { POINTS = 60 };

static double xs[POINTS], ys[POINTS];

static void make_points(void) {
  for (int i = 0; i < POINTS; i++) {
    xs[i] = 0.25 * i - 3;
    ys[i] = 1.75 * xs[i] - 4 + 0.5 * sin(7.0 * i);
  }
}

/* Computes the slope, unless it is given, and the intercept from sums. */
static void expected_line(double *a, double *b, int slope_given) {
  double x = 0, y = 0, xx = 0, xy = 0;
  for (int i = 0; i < POINTS; i++) {
    x += xs[i] / POINTS;
    y += ys[i] / POINTS;
    xx += xs[i] * xs[i] / POINTS;
    xy += xs[i] * ys[i] / POINTS;
  }
  if (!slope_given) *a = (xy - x * y) / (xx - x * x);
  *b = y - *a * x;
}

static void fit(double *a, double *b, int slope_given) {
  nlNewContext();
  nlSolverParameteri(NL_NB_VARIABLES, 2);
  nlSolverParameteri(NL_LEAST_SQUARES, NL_TRUE);
  nlSolverParameterd(NL_THRESHOLD, 1e-12);
  nlBegin(NL_SYSTEM);
  if (slope_given) {
    nlLockVariable(0);
    nlSetVariable(0, *a);
  }
  nlBegin(NL_MATRIX);
  for (int i = 0; i < POINTS; i++) {
    nlBegin(NL_ROW);
    nlCoefficient(0, xs[i]);
    nlCoefficient(1, 1.0);
    nlRightHandSide(ys[i]);
    nlEnd(NL_ROW);
  }
  nlEnd(NL_MATRIX);
  nlEnd(NL_SYSTEM);
  CHECK(solve());
  *a = nlGetVariable(0);
  *b = nlGetVariable(1);
  nlDeleteContext(nlGetCurrent());
}

/* A row with scaling 3 counts as nine equal rows. */
static void weights(void) {
  nlNewContext();
  nlSolverParameteri(NL_NB_VARIABLES, 1);
  nlSolverParameteri(NL_LEAST_SQUARES, NL_TRUE);
  nlBegin(NL_SYSTEM);
  nlBegin(NL_MATRIX);
  for (int i = 0; i < 2; i++) {
    if (i == 1) nlRowScaling(3);
    nlBegin(NL_ROW);
    nlCoefficient(0, 1);
    nlRightHandSide(i);
    nlEnd(NL_ROW);
  }
  nlEnd(NL_MATRIX);
  nlEnd(NL_SYSTEM);
  CHECK(solve());
  CHECK_CLOSE(nlGetVariable(0), 0.9, 1e-6);
  nlDeleteContext(nlGetCurrent());
}

int main(void) {
  need_device();
  make_points();
  for (int slope_given = 0; slope_given < 2; slope_given++) {
    double a = 2, b = 0, expected_a = 2, expected_b = 0;
    expected_line(&expected_a, &expected_b, slope_given);
    fit(&a, &b, slope_given);
    CHECK_CLOSE(a, expected_a, 1e-10);
    CHECK_CLOSE(b, expected_b, 1e-10);
  }
  weights();
  return report();
}
