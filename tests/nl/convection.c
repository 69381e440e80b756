/* An unsymmetric matrix: convection and diffusion on a line, -u'' + p u' = 0 with given ends, by central
 * differences. The solution is known: u_i = (q^i - 1) / (q^n - 1), q = (2 + p h) / (2 - p h). Solved by
 * BiCGSTAB, GMRES and the library's choice. Then the system of OpenNL's first example, and one with zeros on
 * the diagonal. */
#include "check.h"

enum { N = 60 };

static const double convection = 20;

static void solve_line(NLenum solver, NLenum preconditioner, const char *method) {
  const double p = convection / N, q = (2 + p) / (2 - p);
  nlNewContext();
  nlSolverParameteri(NL_NB_VARIABLES, N + 1);
  nlSolverParameteri(NL_SOLVER, (NLint)solver);
  if (solver != NL_SOLVER_DEFAULT) nlSolverParameteri(NL_PRECONDITIONER, (NLint)preconditioner);
  if (solver == NL_GMRES) nlSolverParameteri(NL_INNER_ITERATIONS, 30);
  nlSolverParameteri(NL_MAX_ITERATIONS, 4000);
  nlSolverParameterd(NL_THRESHOLD, 1e-9);
  nlBegin(NL_SYSTEM);
  nlSetVariable(0, 0);
  nlSetVariable(N, 1);
  nlLockVariable(0);
  nlLockVariable(N);
  nlBegin(NL_MATRIX);
  for (NLuint i = 1; i < N; i++) {
    nlBegin(NL_ROW);
    nlCoefficient(i - 1, -1 - p / 2);
    nlCoefficient(i, 2);
    nlCoefficient(i + 1, -1 + p / 2);
    nlEnd(NL_ROW);
  }
  nlEnd(NL_MATRIX);
  nlEnd(NL_SYSTEM);
  CHECK(solve());
  for (int i = 0; i <= N; i++) CHECK_CLOSE(nlGetVariable((NLuint)i), (pow(q, i) - 1) / (pow(q, N) - 1), 1e-7);
  CHECK(strstr(nlGetReport(), method) != NULL);
  nlDeleteContext(nlGetCurrent());
}

/* Two full equations: a x + b y = e, c x + d y = f. */
static void solve_two(const double a[4], double e, double f, double x, double y) {
  nlNewContext();
  nlSolverParameteri(NL_NB_VARIABLES, 2);
  nlBegin(NL_SYSTEM);
  nlBegin(NL_MATRIX);
  nlBegin(NL_ROW);
  nlCoefficient(0, a[0]);
  nlCoefficient(1, a[1]);
  nlRightHandSide(e);
  nlEnd(NL_ROW);
  nlBegin(NL_ROW);
  nlCoefficient(0, a[2]);
  nlCoefficient(1, a[3]);
  nlRightHandSide(f);
  nlEnd(NL_ROW);
  nlEnd(NL_MATRIX);
  nlEnd(NL_SYSTEM);
  CHECK(solve());
  CHECK_CLOSE(nlGetVariable(0), x, 1e-4);
  CHECK_CLOSE(nlGetVariable(1), y, 1e-4);
  nlDeleteContext(nlGetCurrent());
}

int main(void) {
  static const double documented[4] = {1, 2, 3, 4}, no_diagonal[4] = {0, 2, 3, 0}, negative[4] = {-4, 1, 1, -3};
  need_device();
  solve_line(NL_SOLVER_DEFAULT, NL_PRECOND_NONE, " of bicgstab ");
  solve_line(NL_BICGSTAB, NL_PRECOND_JACOBI, " of bicgstab ");
  solve_line(NL_BICGSTAB, NL_PRECOND_NONE, " of bicgstab ");
  solve_line(NL_GMRES, NL_PRECOND_JACOBI, " of gmres ");
  solve_line(NL_GMRES, NL_PRECOND_NONE, " of gmres ");
  solve_line(NL_CG, NL_PRECOND_NONE, "instead of cg: the matrix is not symmetric");
  solve_two(documented, 5, 6, -4, 4.5);
  solve_two(no_diagonal, 4, 6, 2, 2);
  solve_two(negative, 3, 4, -13.0 / 11, -19.0 / 11);
  return report();
}
