/* Unsolvable systems: nlSolve returns NL_FALSE and the reason, and never reports a false solution. */
#include "check.h"

enum { N = 200 };

static void begin(int n, int least_squares) {
  nlNewContext();
  nlSolverParameteri(NL_NB_VARIABLES, n);
  nlSolverParameteri(NL_LEAST_SQUARES, least_squares);
}

static void end(void) {
  nlEnd(NL_MATRIX);
  nlEnd(NL_SYSTEM);
}

static void state_row(NLuint i, double a, NLuint j, double b, double right_hand_side) {
  nlBegin(NL_ROW);
  nlCoefficient(i, a);
  if (b != 0) nlCoefficient(j, b);
  nlRightHandSide(right_hand_side);
  nlEnd(NL_ROW);
}

/* A chain needs one iteration per variable. */
static void too_few_iterations(void) {
  NLint used;
  double error;
  begin(N, NL_TRUE);
  nlSolverParameteri(NL_MAX_ITERATIONS, 5);
  nlBegin(NL_SYSTEM);
  nlBegin(NL_MATRIX);
  state_row(0, 1, 0, 0, 1);
  for (NLuint i = 1; i < N; i++) state_row(i, 1, i - 1, -1, 0);
  end();
  CHECK(!solve());
  nlGetIntegerv(NL_USED_ITERATIONS, &used);
  nlGetDoublev(NL_ERROR, &error);
  CHECK(used <= 5 && error > 1e-3);
  CHECK(nlGetVariable(0) != 0); /* the last iterate is kept */
  CHECK_ERROR(NL_NOT_CONVERGED, "maximum number of iterations");
  CHECK(strncmp(nlGetReport(), "not converged", 13) == 0);
  nlSolverParameteri(NL_MAX_ITERATIONS, 100 * N); /* continues from there */
  CHECK(solve());
  for (NLuint i = 0; i < N; i++) CHECK_CLOSE(nlGetVariable(i), 1, 1e-2);
  nlDeleteContext(nlGetCurrent());
}

/* x + y is 1 and 2: a contradiction, with neither a solution nor an approximation. */
static void contradiction(void) {
  begin(2, NL_FALSE);
  nlBegin(NL_SYSTEM);
  nlBegin(NL_MATRIX);
  state_row(0, 1, 1, 1, 1);
  state_row(0, 1, 1, 1, 2);
  end();
  CHECK(!solve());
  CHECK_ERROR(NL_NOT_CONVERGED, "not converged");
  nlDeleteContext(nlGetCurrent());
}

/* No double reaches this accuracy. */
static void impossible_threshold(void) {
  begin(3, NL_FALSE);
  nlSolverParameterd(NL_THRESHOLD, 1e-30);
  nlBegin(NL_SYSTEM);
  nlBegin(NL_MATRIX);
  for (NLuint i = 0; i < 3; i++) state_row(i, 3, (i + 1) % 3, 0.7, 1 / 3.0 + i);
  end();
  if (!solve()) CHECK_ERROR(NL_NOT_CONVERGED, "not converged");
  CHECK_CLOSE(3 * nlGetVariable(0) + 0.7 * nlGetVariable(1), 1 / 3.0, 1e-14);
  nlDeleteContext(nlGetCurrent());
}

/* Variable 2 is in no equation: it keeps its value, and the others are solved. */
static void idle_variable(int least_squares) {
  begin(4, least_squares);
  nlBegin(NL_SYSTEM);
  nlSetVariable(2, 7.5);
  nlBegin(NL_MATRIX);
  state_row(0, 2, 1, 1, 4);
  state_row(1, 3, 0, 1, 7);
  if (!least_squares) {
    nlBegin(NL_ROW);
    nlEnd(NL_ROW);
  }
  state_row(3, 4, 0, 0, 8);
  end();
  CHECK(!nlSolve());
  CHECK_ERROR(NL_SINGULAR, "variable 2 ");
  CHECK(nlGetVariable(2) == 7.5);
  CHECK_CLOSE(nlGetVariable(0), 1, 1e-5);
  CHECK_CLOSE(nlGetVariable(1), 2, 1e-5);
  CHECK_CLOSE(nlGetVariable(3), 2, 1e-5);
  nlEnable(NL_ALLOW_SINGULAR);
  CHECK(solve());
  CHECK(nlGetVariable(2) == 7.5);
  nlDeleteContext(nlGetCurrent());
}

/* Variable 1 is in no equation, and equation 1 contains only variable 0. */
static void empty_column(void) {
  begin(2, NL_FALSE);
  nlBegin(NL_SYSTEM);
  nlBegin(NL_MATRIX);
  state_row(0, 1, 0, 0, 1);
  state_row(0, 1, 0, 0, 2);
  end();
  CHECK(!nlSolve());
  CHECK_ERROR(NL_SINGULAR, "unknown 1 is not locked and in no equation");
  CHECK(nlGetVariable(0) == 0 && nlGetVariable(1) == 0);
  nlDeleteContext(nlGetCurrent());
}

/* A right-hand side without an equation is ignored. */
static void idle_right_hand_side(void) {
  double values[] = {6, 5};
  begin(2, NL_FALSE);
  nlEnable(NL_ALLOW_SINGULAR);
  nlBegin(NL_SYSTEM);
  nlBegin(NL_MATRIX);
  nlAddIJCoefficient(0, 0, 2);
  nlAddIRightHandSide(0, 4);
  nlAddIRightHandSide(1, 4);
  end();
  CHECK(solve());
  CHECK_CLOSE(nlGetVariable(0), 2, 1e-5);
  nlUpdateRightHandSide(values);
  CHECK(solve());
  CHECK_CLOSE(nlGetVariable(0), 3, 1e-5);
  CHECK(nlGetVariable(1) == 0);
  nlDeleteContext(nlGetCurrent());
}

/* Only differences are given. */
static void floating(void) {
  begin(3, NL_TRUE);
  nlBegin(NL_SYSTEM);
  nlSetVariable(0, 10);
  nlBegin(NL_MATRIX);
  for (NLuint i = 0; i < 3; i++) state_row(i, 1, (i + 1) % 3, -1, i == 2 ? 2 : -1);
  end();
  CHECK(!nlSolve());
  CHECK_ERROR(NL_SINGULAR, "the same number can be added");
  CHECK(nlGetVariable(0) == 10 && nlGetVariable(1) == 0);
  nlEnable(NL_ALLOW_SINGULAR);
  CHECK(solve());
  CHECK_CLOSE(nlGetVariable(1) - nlGetVariable(0), 1, 1e-4);
  CHECK_CLOSE(nlGetVariable(2) - nlGetVariable(1), 1, 1e-4);
  nlDeleteContext(nlGetCurrent());
}

/* Coefficients outside the range of single precision. Right-hand sides may have any scale, and many unusual
 * scales work. */
static void scales(void) {
  static const struct {
    double coefficient, right_hand_side;
    int solved;
  } cases[] = {{1e-300, 1, 0}, {1e100, 1, 0},  {1e-30, 1, 1},     {1e30, 1, 1},
               {1, 1e100, 1},  {1, 1e-100, 1}, {1e-12, 1e-200, 1}};
  for (int k = 0; k < 2 * (int)(sizeof cases / sizeof cases[0]); k++) {
    const double a = cases[k / 2].coefficient, b = cases[k / 2].right_hand_side;
    begin(2, k % 2);
    nlBegin(NL_SYSTEM);
    nlBegin(NL_MATRIX);
    for (NLuint i = 0; i < 2; i++) state_row(i, a, 0, 0, b);
    end();
    CHECK(solve() == cases[k / 2].solved);
    if (cases[k / 2].solved) CHECK_CLOSE(nlGetVariable(1) * a / b, 1, 2e-6);
    CHECK((nlGetError() == NL_NO_ERROR) == cases[k / 2].solved);
    nlDeleteContext(nlGetCurrent());
  }
}

static void all_locked(void) {
  begin(2, NL_TRUE);
  nlBegin(NL_SYSTEM);
  for (NLuint i = 0; i < 2; i++) {
    nlSetVariable(i, 3);
    nlLockVariable(i);
  }
  nlBegin(NL_MATRIX);
  state_row(0, 1, 1, 1, 1);
  end();
  CHECK(solve());
  CHECK(strstr(nlGetReport(), "all 2 variables are locked") != NULL);
  CHECK(nlGetVariable(1) == 3);
  nlDeleteContext(nlGetCurrent());
}

int main(void) {
  need_device();
  too_few_iterations();
  contradiction();
  impossible_threshold();
  idle_variable(NL_FALSE);
  idle_variable(NL_TRUE);
  empty_column();
  idle_right_hand_side();
  floating();
  scales();
  all_locked();
  return report();
}
