/* NL_PRECOND_AMG. Heat flows in a plate with a border at 0 and a source derived from the solution x y (1 - x)
 * (1 - y) e^(x - 2 y). AMG takes fewer iterations than Jacobi. The same context gets other right-hand sides and
 * other values. Then least squares, for which A^T A is formed although a row is full, and matrices that are
 * refused. */
#include "check.h"

enum { N = 65 };

static double exact(int i) {
  const double x = (i % N) / (N - 1.0), y = (i / N) / (N - 1.0);
  return 16 * x * y * (1 - x) * (1 - y) * exp(x - 2 * y);
}

static int is_border(int i) {
  return i % N == 0 || i % N == N - 1 || i / N == 0 || i / N == N - 1;
}

/* The five-point stencil times `scale`. The solution is `factor` times the one above, and k + 1 times in system
 * k. */
static void state_plate(double scale, double factor, int systems) {
  nlBegin(NL_SYSTEM);
  for (int i = 0; i < N * N; i++)
    if (is_border(i)) nlLockVariable((NLuint)i);
  nlBegin(NL_MATRIX);
  for (int i = 0; i < N * N; i++) {
    if (is_border(i)) continue;
    const int neighbours[4] = {i - N, i - 1, i + 1, i + N};
    double source = 4 * exact(i);
    for (int k = 0; k < 4; k++) {
      nlAddIJCoefficient((NLuint)i, (NLuint)neighbours[k], -scale);
      source -= exact(neighbours[k]);
    }
    nlAddIJCoefficient((NLuint)i, (NLuint)i, 4 * scale);
    for (int k = 0; k < systems; k++)
      nlMultiAddIRightHandSide((NLuint)i, (NLuint)k, scale * factor * (k + 1) * source);
  }
  nlEnd(NL_MATRIX);
  nlEnd(NL_SYSTEM);
}

static void compare_plate(double factor, int systems) {
  for (int i = 0; i < N * N; i++)
    for (int k = 0; k < systems; k++)
      CHECK_CLOSE(nlMultiGetVariable((NLuint)i, (NLuint)k), factor * (k + 1) * exact(i), 1e-7);
}

static NLint plate(NLenum solver, NLenum preconditioner, int systems) {
  NLint iterations, asked;
  nlNewContext();
  nlSolverParameteri(NL_NB_VARIABLES, N * N);
  nlSolverParameteri(NL_NB_SYSTEMS, systems);
  nlSolverParameteri(NL_SOLVER, (NLint)solver);
  nlSolverParameteri(NL_PRECONDITIONER, (NLint)preconditioner);
  nlSolverParameterd(NL_THRESHOLD, 1e-9);
  nlGetIntegerv(NL_PRECONDITIONER, &asked);
  CHECK(asked == (NLint)preconditioner);
  state_plate(1, 1, systems);
  CHECK(solve());
  compare_plate(1, systems);
  nlGetIntegerv(NL_USED_ITERATIONS, &iterations);
  nlDeleteContext(nlGetCurrent());
  return iterations;
}

static void fewer_iterations(void) {
  static const NLenum solvers[] = {NL_SOLVER_DEFAULT, NL_CG, NL_BICGSTAB, NL_GMRES};
  const NLint jacobi = plate(NL_CG, NL_PRECOND_JACOBI, 1);
  for (int k = 0; k < 4; k++) CHECK(plate(solvers[k], NL_PRECOND_AMG, k == 0 ? 5 : 1) < jacobi / 3);
}

static void other_numbers(void) {
  nlNewContext();
  nlSolverParameteri(NL_NB_VARIABLES, N * N);
  nlSolverParameteri(NL_PRECONDITIONER, NL_PRECOND_AMG);
  nlSolverParameterd(NL_THRESHOLD, 1e-9);
  for (int pass = 0; pass < 3; pass++) {
    state_plate(1 + pass / 2, 1 + pass, 1);
    CHECK(solve());
    compare_plate(1 + pass, 1);
  }
  CHECK(strstr(nlGetReport(), " of cg ") != NULL);
  nlDeleteContext(nlGetCurrent());
}

/* x_i - x_(i-1) = 1 starting with x_0 = 0, and the sum of all with a small weight. The conditions are
 * consistent, and x_i = i. */
static void least_squares(void) {
  enum { COUNT = 150 };
  NLint entries;
  nlNewContext();
  nlSolverParameteri(NL_NB_VARIABLES, COUNT);
  nlSolverParameteri(NL_LEAST_SQUARES, NL_TRUE);
  nlSolverParameteri(NL_PRECONDITIONER, NL_PRECOND_AMG);
  nlSolverParameterd(NL_THRESHOLD, 1e-10);
  nlBegin(NL_SYSTEM);
  nlLockVariable(0);
  nlBegin(NL_MATRIX);
  for (NLuint i = 1; i < COUNT; i++) {
    nlBegin(NL_ROW);
    nlCoefficient(i, 1);
    nlCoefficient(i - 1, -1);
    nlRightHandSide(1);
    nlEnd(NL_ROW);
  }
  nlRowScaling(1e-3);
  nlBegin(NL_ROW);
  for (NLuint i = 1; i < COUNT; i++) nlCoefficient(i, 1);
  nlRightHandSide(0.5 * COUNT * (COUNT - 1));
  nlEnd(NL_ROW);
  nlEnd(NL_MATRIX);
  nlEnd(NL_SYSTEM);
  CHECK(solve());
  for (NLuint i = 0; i < COUNT; i++) CHECK_CLOSE(nlGetVariable(i), i, 1e-5);
  nlGetIntegerv(NL_NNZ, &entries);
  CHECK(entries == (COUNT - 1) * (COUNT - 1));
  nlDeleteContext(nlGetCurrent());
}

/* Two equations: a x + b y = 1, c x + d y = 1. */
static void refused(const double a[4], NLenum solver, const char *part) {
  nlNewContext();
  nlSolverParameteri(NL_NB_VARIABLES, 2);
  nlSolverParameteri(NL_SOLVER, (NLint)solver);
  nlSolverParameteri(NL_PRECONDITIONER, NL_PRECOND_AMG);
  nlBegin(NL_SYSTEM);
  nlSetVariable(0, 7);
  nlBegin(NL_MATRIX);
  for (NLuint i = 0; i < 2; i++) {
    nlBegin(NL_ROW);
    for (NLuint j = 0; j < 2; j++) nlCoefficient(j, a[2 * i + j]);
    nlRightHandSide(1);
    nlEnd(NL_ROW);
  }
  nlEnd(NL_MATRIX);
  nlEnd(NL_SYSTEM);
  CHECK(!nlSolve());
  CHECK_ERROR(NL_NOT_SUPPORTED, part);
  CHECK(strstr(nlGetReport(), part) != NULL);
  CHECK(nlGetVariable(0) == 7);
  nlDeleteContext(nlGetCurrent());
}

/* 2 x + y = 1, 2 y - x = 1. */
static void without_symmetry(NLenum solver) {
  static const double a[4] = {2, 1, -1, 2};
  nlNewContext();
  nlSolverParameteri(NL_NB_VARIABLES, 2);
  nlSolverParameteri(NL_SOLVER, (NLint)solver);
  nlSolverParameteri(NL_PRECONDITIONER, NL_PRECOND_AMG);
  nlBegin(NL_SYSTEM);
  nlBegin(NL_MATRIX);
  for (NLuint i = 0; i < 2; i++) {
    nlBegin(NL_ROW);
    for (NLuint j = 0; j < 2; j++) nlCoefficient(j, a[2 * i + j]);
    nlRightHandSide(1);
    nlEnd(NL_ROW);
  }
  nlEnd(NL_MATRIX);
  nlEnd(NL_SYSTEM);
  CHECK(nlSolve());
  CHECK_CLOSE(nlGetVariable(0), 0.2, 1e-5);
  CHECK_CLOSE(nlGetVariable(1), 0.6, 1e-5);
  nlDeleteContext(nlGetCurrent());
}

int main(void) {
  static const double unsymmetric[4] = {2, 1, -1, 2}, negative[4] = {2, 1, 1, -2};
  need_device();
  fewer_iterations();
  other_numbers();
  least_squares();
  without_symmetry(NL_SOLVER_DEFAULT);
  without_symmetry(NL_BICGSTAB);
  refused(unsymmetric, NL_CG, "not symmetric");
  refused(negative, NL_SOLVER_DEFAULT, "row 1 has -2");
  return report();
}
