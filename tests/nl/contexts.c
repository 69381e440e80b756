/* Two contexts that are filled alternately, a context with several systems in sequence, and warm starts. */
#include "check.h"

enum { N = 30 };

/* -x'' = 1 with x = 0 at both ends, times a factor. */
static void state(double factor) {
  nlBegin(NL_MATRIX);
  for (NLuint i = 0; i < N; i++) {
    nlBegin(NL_ROW);
    if (i > 0) nlCoefficient(i - 1, -factor);
    nlCoefficient(i, 2 * factor);
    if (i < N - 1) nlCoefficient(i + 1, -factor);
    nlRightHandSide(1);
    nlEnd(NL_ROW);
  }
  nlEnd(NL_MATRIX);
}

static void check_solution(double factor) {
  for (int i = 0; i < N; i++) CHECK_CLOSE(nlGetVariable((NLuint)i) * factor, 0.5 * (i + 1) * (N - i), 1e-5);
}

static NLContext open_context(void) {
  const NLContext context = nlNewContext();
  CHECK(context != NULL && nlGetCurrent() == context);
  nlSolverParameteri(NL_NB_VARIABLES, N);
  nlSolverParameterd(NL_THRESHOLD, 1e-8);
  return context;
}

static NLint iterations(void) {
  NLint used;
  nlGetIntegerv(NL_USED_ITERATIONS, &used);
  return used;
}

static void alternating(void) {
  const NLContext a = open_context(), b = open_context();
  nlMakeCurrent(a);
  nlBegin(NL_SYSTEM);
  nlMakeCurrent(b);
  nlBegin(NL_SYSTEM);
  state(2);
  nlMakeCurrent(a);
  state(1);
  nlEnd(NL_SYSTEM);
  nlMakeCurrent(b);
  nlEnd(NL_SYSTEM);
  CHECK(solve());
  nlMakeCurrent(a);
  CHECK(solve());
  check_solution(1);
  nlDeleteContext(a);
  CHECK(nlGetCurrent() == NULL);
  nlMakeCurrent(b);
  check_solution(2);
  nlDeleteContext(b);
  CHECK(nlGetCurrent() == NULL);
}

static void one_after_another(void) {
  open_context();
  for (int system = 1; system <= 3; system++) {
    nlBegin(NL_SYSTEM);
    state(system);
    nlEnd(NL_SYSTEM);
    CHECK(solve());
    check_solution(system);
  }
  CHECK(solve()); /* from the solution */
  CHECK(iterations() == 0);
  CHECK(strstr(nlGetReport(), "need no correction") != NULL);
  nlSetVariable(3, 0);
  CHECK(solve());
  CHECK(iterations() > 0);
  check_solution(3);
  nlSolverParameteri(NL_NB_VARIABLES, N + 5); /* another size, and other locks */
  nlBegin(NL_SYSTEM);
  CHECK(nlGetVariable(3) == 0);
  for (NLuint i = N; i < N + 5; i++) nlLockVariable(i);
  state(5);
  nlEnd(NL_SYSTEM);
  CHECK(solve());
  check_solution(5);
  nlDeleteContext(nlGetCurrent());
}

int main(void) {
  need_device();
  alternating();
  one_after_another();
  return report();
}
