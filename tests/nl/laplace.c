/* A symmetric matrix with locked variables: Laplace's equation on a grid with given border values. x^2 - y^2
 * solves the five-point equations exactly. Written by rows, for all variables and for unlocked ones; entry by
 * entry; and with NL_SYMMETRIC, in both triangles and in one. */
#include "check.h"

enum { N = 17 };

typedef enum how { ALL_ROWS, UNLOCKED_ROWS, ENTRIES, SYMMETRIC_ROWS, SYMMETRIC_ENTRIES, LOWER_TRIANGLE } how;

static double exact(int i) {
  const double x = (double)(i % N) / (N - 1), y = (double)(i / N) / (N - 1);
  return x * x - y * y;
}

static int is_border(int i) {
  return i % N == 0 || i % N == N - 1 || i / N == 0 || i / N == N - 1;
}

static void state(int i, how way) {
  const int neighbours[4] = {i - N, i - 1, i + 1, i + N};
  const int entries = way == ENTRIES || way == SYMMETRIC_ENTRIES || way == LOWER_TRIANGLE;
  if (is_border(i)) {
    if (way != ALL_ROWS) return;
    nlBegin(NL_ROW);
    nlEnd(NL_ROW);
    return;
  }
  if (!entries) nlBegin(NL_ROW);
  for (int k = 0; k < 4; k++) {
    if (way == LOWER_TRIANGLE && neighbours[k] > i && !is_border(neighbours[k])) continue;
    if (entries)
      nlAddIJCoefficient((NLuint)i, (NLuint)neighbours[k], -1);
    else
      nlCoefficient((NLuint)neighbours[k], -1);
  }
  if (entries)
    nlAddIJCoefficient((NLuint)i, (NLuint)i, 4);
  else
    nlCoefficient((NLuint)i, 4);
  if (!entries) nlEnd(NL_ROW);
}

static void solve_laplace(how way) {
  NLint entries;
  NLlong entries64;
  nlNewContext();
  nlSolverParameteri(NL_NB_VARIABLES, N * N);
  if (way == ENTRIES) nlSolverParameteri(NL_SOLVER, NL_CG);
  if (way >= SYMMETRIC_ROWS) nlSolverParameteri(NL_SYMMETRIC, NL_TRUE);
  nlSolverParameterd(NL_THRESHOLD, 1e-9);
  nlBegin(NL_SYSTEM);
  for (int i = 0; i < N * N; i++) {
    if (!is_border(i)) continue;
    nlSetVariable((NLuint)i, exact(i));
    nlLockVariable((NLuint)i);
  }
  nlBegin(NL_MATRIX);
  for (int i = 0; i < N * N; i++) state(i, way);
  nlEnd(NL_MATRIX);
  nlEnd(NL_SYSTEM);
  CHECK(solve());
  for (int i = 0; i < N * N; i++) CHECK_CLOSE(nlGetVariable((NLuint)i), exact(i), 1e-8);
  CHECK(nlVariableIsLocked(3) && !nlVariableIsLocked(N + 1));
  nlGetIntegerv(NL_NNZ, &entries);
  nlGetIntegervL(NL_NNZ, &entries64);
  CHECK(entries == (N - 2) * (N - 2) + 4 * (N - 3) * (N - 2));
  CHECK(entries64 == entries);
  CHECK(strstr(nlGetReport(), " of cg ") != NULL);
  nlDeleteContext(nlGetCurrent());
}

int main(void) {
  need_device();
  for (int way = ALL_ROWS; way <= LOWER_TRIANGLE; way++) solve_laplace((how)way);
  return report();
}
