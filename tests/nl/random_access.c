/* Entries in random order and in pieces; other right-hand sides for the same matrix, also with locked
 * variables; normal equations entry by entry, which OpenNL accepts in least squares. */
#include "check.h"

enum { N = 50 };

static unsigned long seed = 12345;

static int below(int bound) {
  seed = (seed * 1103515245UL + 12345UL) & 0x7fffffffUL;
  return (int)((seed >> 8) % (unsigned long)bound);
}

/* A ring in which every variable is coupled with its two neighbours and with the opposite one. */
static double coefficient(int i, int j) {
  if (i == j) return 4.5;
  const int distance = abs(i - j);
  return distance == 1 || distance == N - 1 ? -1 : distance == N / 2 ? -0.5 - 0.01 * (i < j ? i : j) : 0;
}

static double exact(int i) {
  return 1 + cos(0.4 * i);
}

static double times_exact(int i) {
  double sum = 0;
  for (int j = 0; j < N; j++) sum += coefficient(i, j) * exact(j);
  return sum;
}

static void state_in_random_order(void) {
  int order[2 * N * N];
  for (int k = 0; k < 2 * N * N; k++) order[k] = k / 2;
  for (int k = 2 * N * N - 1; k > 0; k--) {
    const int other = below(k + 1), t = order[k];
    order[k] = order[other];
    order[other] = t;
  }
  for (int k = 0; k < 2 * N * N; k++) {
    const int i = order[k] / N, j = order[k] % N;
    if (coefficient(i, j) != 0) nlAddIJCoefficient((NLuint)i, (NLuint)j, coefficient(i, j) / 2);
  }
  for (int i = N - 1; i >= 0; i--) {
    nlAddIRightHandSide((NLuint)i, times_exact(i) - 3);
    nlAddIRightHandSide((NLuint)i, 3);
  }
}

static void begin(int least_squares) {
  nlNewContext();
  nlSolverParameteri(NL_NB_VARIABLES, N);
  nlSolverParameteri(NL_LEAST_SQUARES, least_squares);
  nlSolverParameteri(NL_SOLVER, NL_CG);
  nlSolverParameteri(NL_PRECONDITIONER, NL_PRECOND_JACOBI);
  nlSolverParameterd(NL_THRESHOLD, 1e-11);
  nlBegin(NL_SYSTEM);
  nlBegin(NL_MATRIX_PATTERN);
  for (NLuint i = 0; i < N; i++) nlSetRowLength(i, 4);
  nlEnd(NL_MATRIX_PATTERN);
}

static void finish(double scale) {
  nlEnd(NL_MATRIX);
  nlEnd(NL_SYSTEM);
  CHECK(solve());
  for (int i = 0; i < N; i++) CHECK_CLOSE(nlGetVariable((NLuint)i), scale * exact(i), 1e-9);
}

static void any_order(int least_squares) {
  double values[N];
  begin(least_squares);
  nlBegin(NL_MATRIX);
  state_in_random_order();
  finish(1);
  for (int i = 0; i < N; i++) values[i] = -2 * times_exact(i);
  nlUpdateRightHandSide(values);
  CHECK(solve());
  for (int i = 0; i < N; i++) CHECK_CLOSE(nlGetVariable((NLuint)i), -2 * exact(i), 1e-9);
  nlDeleteContext(nlGetCurrent());
}

/* The terms of locked variables are part of the new right-hand side. */
static void locked(void) {
  double values[N - 1];
  begin(NL_FALSE);
  nlSetVariable(4, exact(4));
  nlLockVariable(4);
  nlBegin(NL_MATRIX);
  state_in_random_order();
  finish(1);
  for (int i = 0, k = 0; i < N; i++)
    if (i != 4) values[k++] = 3 * (times_exact(i) - coefficient(i, 4) * exact(4));
  nlUpdateRightHandSide(values);
  CHECK(solve());
  for (int i = 0; i < N; i++) CHECK_CLOSE(nlGetVariable((NLuint)i), (i == 4 ? 1 : 3) * exact(i), 1e-9);
  nlDeleteContext(nlGetCurrent());
}

int main(void) {
  need_device();
  any_order(NL_FALSE);
  any_order(NL_TRUE);
  locked();
  return report();
}
