/* Several right-hand sides for one matrix: more than four, with locked variables and separate values, square
 * and in least squares, and in buffers of the program. */
#include "check.h"

enum { N = 40, SYSTEMS = 6 };

static double buffers[N][SYSTEMS + 1];

static double exact(int i, int k) {
  return sin(0.3 * i + k) + 0.1 * k * i;
}

/* The right-hand side of row i. Unknowns beyond the ends are omitted. */
static double times_exact(int i, int k) {
  double sum = (3 + 0.1 * i) * exact(i, k);
  if (i > 0) sum -= exact(i - 1, k);
  if (i < N - 1) sum -= exact(i + 1, k);
  return sum;
}

static void state_row(int i) {
  nlBegin(NL_ROW);
  for (int k = 0; k < SYSTEMS; k++) nlMultiRightHandSide((NLuint)k, times_exact(i, k));
  if (i > 0) nlCoefficient((NLuint)i - 1, -1);
  nlCoefficient((NLuint)i, 3 + 0.1 * i);
  if (i < N - 1) nlCoefficient((NLuint)i + 1, -1);
  nlEnd(NL_ROW);
}

static void state_entries(int i) {
  for (int k = 0; k < SYSTEMS; k++) nlMultiAddIRightHandSide((NLuint)i, (NLuint)k, times_exact(i, k));
  if (i > 0) nlAddIJCoefficient((NLuint)i, (NLuint)i - 1, -1);
  nlAddIJCoefficient((NLuint)i, (NLuint)i, 3 + 0.1 * i);
  if (i < N - 1) nlAddIJCoefficient((NLuint)i, (NLuint)i + 1, -1);
}

static void solve_all(int least_squares, int entries, int buffered) {
  NLint systems;
  nlNewContext();
  nlSolverParameteri(NL_NB_VARIABLES, N);
  nlSolverParameteri(NL_NB_SYSTEMS, SYSTEMS);
  nlSolverParameteri(NL_LEAST_SQUARES, least_squares);
  nlSolverParameterd(NL_THRESHOLD, 1e-10);
  if (buffered) nlEnable(NL_VARIABLES_BUFFER);
  nlBegin(NL_SYSTEM);
  memset(buffers, 0, sizeof buffers);
  for (int k = 0; k < SYSTEMS && buffered; k++)
    nlBindBuffer(NL_VARIABLES_BUFFER, (NLuint)k, &buffers[0][k], sizeof buffers[0]);
  for (int k = 0; k < SYSTEMS; k++) nlMultiSetVariable(7, (NLuint)k, exact(7, k));
  nlLockVariable(7);
  nlBegin(NL_MATRIX);
  for (int i = 0; i < N; i++) entries ? state_entries(i) : state_row(i);
  nlEnd(NL_MATRIX);
  nlEnd(NL_SYSTEM);
  CHECK(solve());
  for (int i = 0; i < N; i++)
    for (int k = 0; k < SYSTEMS; k++) {
      CHECK_CLOSE(nlMultiGetVariable((NLuint)i, (NLuint)k), exact(i, k), 1e-8);
      CHECK_CLOSE(buffers[i][k], buffered ? exact(i, k) : 0, 1e-8);
    }
  for (int i = 0; i < N; i++) CHECK(buffers[i][SYSTEMS] == 0);
  CHECK(nlGetVariable(3) == nlMultiGetVariable(3, 0));
  nlGetIntegerv(NL_NB_SYSTEMS, &systems);
  CHECK(systems == SYSTEMS);
  nlDeleteContext(nlGetCurrent());
}

int main(void) {
  need_device();
  solve_all(NL_FALSE, 0, 0);
  solve_all(NL_FALSE, 1, 1);
  solve_all(NL_TRUE, 0, 0);
  solve_all(NL_TRUE, 0, 1);
  return report();
}
