/* Calls out of order or out of range: each is an error with a text that names the fault, and none crashes. A
 * system that contains one of them is not solved. */
#include "check.h"

static void begin(int n) {
  nlNewContext();
  nlSolverParameteri(NL_NB_VARIABLES, n);
  nlBegin(NL_SYSTEM);
}

static void end(void) {
  nlEnd(NL_MATRIX);
  nlEnd(NL_SYSTEM);
}

/* x_0 = 1, x_1 = 2. */
static void state_two_rows(void) {
  for (NLuint i = 0; i < 2; i++) {
    nlBegin(NL_ROW);
    nlCoefficient(i, 2);
    nlRightHandSide(2 + 2.0 * i);
    nlEnd(NL_ROW);
  }
}

static void no_context(void) {
  NLint value = 17;
  NLdouble real = 17;
  nlMakeCurrent(NULL);
  CHECK(nlGetError() == NL_NO_ERROR);
  nlBegin(NL_SYSTEM);
  CHECK_ERROR(NL_INVALID_OPERATION, "no context is current");
  CHECK(nlGetError() == NL_NO_ERROR);
  CHECK(!nlSolve());
  CHECK_ERROR(NL_INVALID_OPERATION, "nlSolve");
  nlEnd(NL_ROW);
  nlCoefficient(0, 1);
  nlRightHandSide(1);
  nlSetVariable(0, 1);
  nlLockVariable(0);
  nlAddIJCoefficient(0, 0, 1);
  nlUpdateRightHandSide(NULL);
  nlSolverParameteri(NL_NB_VARIABLES, 3);
  nlSolverParameterd(NL_THRESHOLD, 1);
  nlGetIntegerv(NL_NB_VARIABLES, &value);
  nlGetDoublev(NL_THRESHOLD, &real);
  CHECK(value == 17 && real == 17);
  CHECK(isnan(nlGetVariable(0)));
  CHECK(!nlVariableIsLocked(0) && !nlIsEnabled(NL_VERBOSE));
  nlDeleteContext(NULL);
  nlGetError();
  nlDeleteContext(&value);
  CHECK_ERROR(NL_INVALID_VALUE, "the context does not exist");
  nlMakeCurrent(&value);
  CHECK_ERROR(NL_INVALID_VALUE, "the context does not exist");
  CHECK(nlGetReport()[0] == 0);
}

static void deleted_twice(void) {
  const NLContext context = nlNewContext();
  nlDeleteContext(context);
  nlDeleteContext(context);
  CHECK_ERROR(NL_INVALID_VALUE, "the context does not exist");
}

static void parameters(void) {
  nlNewContext();
  nlSolverParameteri(NL_NB_VARIABLES, 0);
  CHECK_ERROR(NL_INVALID_VALUE, "NL_NB_VARIABLES is 0");
  nlSolverParameteri(NL_MAX_ITERATIONS, -1);
  CHECK_ERROR(NL_INVALID_VALUE, "NL_MAX_ITERATIONS is -1");
  nlSolverParameterd(NL_THRESHOLD, -1);
  CHECK_ERROR(NL_INVALID_VALUE, "NL_THRESHOLD is -1");
  nlSolverParameterd(NL_OMEGA, 2);
  CHECK_ERROR(NL_INVALID_VALUE, "NL_OMEGA is 2");
  nlSolverParameteri(NL_SOLVER, NL_CHOLMOD_EXT);
  CHECK_ERROR(NL_NOT_SUPPORTED, "0x214");
  nlSolverParameteri(NL_SOLVER, 5);
  CHECK_ERROR(NL_INVALID_ENUM, "0x5");
  nlSolverParameteri(NL_PRECONDITIONER, NL_PRECOND_USER);
  CHECK_ERROR(NL_NOT_SUPPORTED, "NL_PRECOND_USER");
  nlSolverParameteri(NL_PRECONDITIONER, NL_CG);
  CHECK_ERROR(NL_INVALID_ENUM, "0x200");
  nlSolverParameteri(NL_ERROR, 1);
  CHECK_ERROR(NL_INVALID_ENUM, "0x108");
  nlSolverParameterd(NL_SOLVER, 1);
  CHECK_ERROR(NL_INVALID_ENUM, "0x100");
  nlEnable(0x999);
  CHECK_ERROR(NL_INVALID_ENUM, "0x999");
  nlGetIntegerv(NL_THRESHOLD, NULL);
  CHECK_ERROR(NL_INVALID_VALUE, "params is NULL");
  nlBegin(NL_SYSTEM);
  CHECK_ERROR(NL_INVALID_OPERATION, "NL_NB_VARIABLES");
  nlBegin(NL_SYSTEM);
  nlSolverParameteri(NL_NB_VARIABLES, 2);
  nlBegin(NL_SYSTEM); /* forgets that the previous system was refused */
  nlSolverParameteri(NL_NB_VARIABLES, 3);
  CHECK_ERROR(NL_INVALID_OPERATION, "before nlBegin(NL_SYSTEM)");
  nlDeleteContext(nlGetCurrent());
}

static void unsupported(void) {
  NLfunc function;
  nlNewContext();
  nlSetFunction(NL_FUNC_MATRIX, (NLfunc)unsupported);
  CHECK_ERROR(NL_NOT_SUPPORTED, "NL_FUNC_PROGRESS");
  nlGetFunction(NL_FUNC_MATRIX, &function);
  CHECK(function == NULL);
  nlSetFunction(NL_FUNC_PROGRESS, (NLfunc)unsupported);
  nlGetFunction(NL_FUNC_PROGRESS, &function);
  CHECK(function == (NLfunc)unsupported);
  CHECK(nlGetError() == NL_NO_ERROR);
  nlEigenSolve();
  CHECK_ERROR(NL_NOT_SUPPORTED, "does not compute eigenvalues");
  nlEigenSolverParameteri(NL_NB_EIGENS, 3);
  CHECK_ERROR(NL_NOT_SUPPORTED, "does not compute eigenvalues");
  CHECK(isnan(nlGetEigenValue(0)));
  CHECK_ERROR(NL_NOT_SUPPORTED, "does not compute eigenvalues");
  nlMatrixMode(NL_STIFFNESS_MATRIX);
  CHECK(nlGetError() == NL_NO_ERROR);
  nlMatrixMode(NL_MASS_MATRIX);
  CHECK_ERROR(NL_NOT_SUPPORTED, "does not compute eigenvalues");
  CHECK(!nlInitExtension("SUPERLU"));
  CHECK_ERROR(NL_NO_ERROR, "not support extension \"SUPERLU\"");
  CHECK(!nlInitExtension(NULL) && !nlExtensionIsInitialized("CHOLMOD"));
  nlDeleteContext(nlGetCurrent());
}

static void variables(void) {
  nlNewContext();
  nlSolverParameteri(NL_NB_VARIABLES, 2);
  nlSetVariable(0, 1);
  CHECK_ERROR(NL_INVALID_OPERATION, "there are no variables yet");
  nlBegin(NL_SYSTEM);
  nlSetVariable(2, 1);
  CHECK_ERROR(NL_INVALID_VALUE, "variable 2 is out of range; it must be 0 to 1");
  nlMultiSetVariable(0, 1, 1);
  CHECK_ERROR(NL_INVALID_VALUE, "system 1 is out of range");
  nlSetVariable(1, NAN);
  CHECK_ERROR(NL_INVALID_VALUE, "variable 1 is nan");
  CHECK(isnan(nlGetVariable(7)));
  CHECK_ERROR(NL_INVALID_VALUE, "variable 7");
  nlLockVariable(5);
  CHECK_ERROR(NL_INVALID_VALUE, "variable 5");
  nlBindBuffer(NL_VARIABLES_BUFFER, 0, NULL, 0);
  CHECK_ERROR(NL_INVALID_OPERATION, "not enabled");
  nlEnable(NL_VARIABLES_BUFFER);
  nlBindBuffer(NL_VARIABLES_BUFFER, 0, NULL, 0);
  CHECK_ERROR(NL_INVALID_VALUE, "stride 0");
  nlBegin(NL_MATRIX);
  nlLockVariable(0);
  CHECK_ERROR(NL_INVALID_OPERATION, "before NL_MATRIX");
  nlSetVariable(0, 1);
  CHECK_ERROR(NL_INVALID_OPERATION, "outside of NL_MATRIX");
  nlDeleteContext(nlGetCurrent());
}

static void order(void) {
  nlNewContext();
  nlSolverParameteri(NL_NB_VARIABLES, 2);
  nlBegin(NL_MATRIX);
  CHECK_ERROR(NL_INVALID_OPERATION, "nlBegin(NL_MATRIX): it belongs in NL_SYSTEM");
  nlBegin(NL_SYSTEM);
  nlEnd(NL_SYSTEM);
  CHECK_ERROR(NL_INVALID_OPERATION, "nlEnd(NL_SYSTEM)");
  nlCoefficient(0, 1);
  CHECK_ERROR(NL_INVALID_OPERATION, "nlCoefficient: it belongs in NL_ROW");
  nlBegin(NL_MATRIX);
  nlBegin(77);
  CHECK_ERROR(NL_INVALID_ENUM, "0x4d");
  nlRightHandSide(1);
  CHECK_ERROR(NL_INVALID_OPERATION, "nlRightHandSide");
  nlBegin(NL_ROW);
  nlAddIJCoefficient(0, 0, 1);
  CHECK_ERROR(NL_INVALID_OPERATION, "nlAddIJCoefficient");
  nlBegin(NL_ROW);
  CHECK_ERROR(NL_INVALID_OPERATION, "nlBegin(NL_ROW)");
  nlDisable(NL_NORMALIZE_ROWS);
  CHECK_ERROR(NL_INVALID_OPERATION, "NL_NORMALIZE_ROWS");
  CHECK(!nlSolve());
  CHECK_ERROR(NL_INVALID_OPERATION, "nlEnd(NL_SYSTEM) comes first");
  nlDeleteContext(nlGetCurrent());
}

/* One of these calls is refused. Then nlSolve must not solve the rest. */
static void out_of_range_variable(void) {
  nlBegin(NL_ROW);
  nlCoefficient(2, 1);
}
static void infinite_coefficient(void) {
  nlBegin(NL_ROW);
  nlCoefficient(1, HUGE_VAL);
}
static void infinite_right_hand_side(void) {
  nlBegin(NL_ROW);
  nlRightHandSide(HUGE_VAL);
}
static void other_system(void) {
  nlBegin(NL_ROW);
  nlMultiRightHandSide(1, 1);
}
static void one_row_more(void) {
  state_two_rows();
  nlBegin(NL_ROW);
}
static void one_row_less(void) {
  nlBegin(NL_ROW);
  nlCoefficient(0, 1);
  nlEnd(NL_ROW);
  nlEnd(NL_MATRIX);
}
static void out_of_range_equation(void) {
  nlAddIJCoefficient(9, 0, 1);
}
static void out_of_range_column(void) {
  nlAddIJCoefficient(0, 9, 1);
}
static void out_of_range_right_hand_side(void) {
  nlAddIRightHandSide(9, 1);
}
static void no_equations(void) {
  nlEnd(NL_MATRIX);
}
static void no_row_parameter(void) {
  nlRowParameterd(NL_CG, 1);
}

static void refused(void) {
  static const struct {
    void (*state)(void);
    NLenum error;
    const char *part;
  } cases[] = {
      {out_of_range_variable, NL_INVALID_VALUE, "row 0: variable 2 is out of range"},
      {infinite_coefficient, NL_INVALID_VALUE, "row 0: the coefficient is inf"},
      {infinite_right_hand_side, NL_INVALID_VALUE, "row 0: the right-hand side is inf"},
      {other_system, NL_INVALID_VALUE, "system 1"},
      {one_row_more, NL_INVALID_OPERATION, "row 2 exceeds"},
      {one_row_less, NL_INVALID_OPERATION, "there are 1 rows; a square system of 2 variables"},
      {out_of_range_equation, NL_INVALID_VALUE, "nlAddIJCoefficient: equation 9 is out of range"},
      {out_of_range_column, NL_INVALID_VALUE, "variable 9 is out of range"},
      {out_of_range_right_hand_side, NL_INVALID_VALUE, "equation 9 is out of range"},
      {no_equations, NL_INVALID_OPERATION, "no equation has a coefficient"},
      {no_row_parameter, NL_INVALID_ENUM, "0x200"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    begin(2);
    nlBegin(NL_MATRIX);
    cases[k].state();
    CHECK_ERROR(cases[k].error, cases[k].part);
    /* The system is incomplete in some respect. Calls out of order change nothing here. */
    nlEnd(NL_ROW);
    state_two_rows();
    nlEnd(NL_ROW);
    end();
    nlEnd(NL_SYSTEM);
    nlGetError();
    CHECK(!nlSolve());
    CHECK_ERROR(NL_INVALID_OPERATION, "failed, so the system");
    CHECK(nlGetVariable(0) == 0);
    /* The next system of the context is independent of it. */
    nlBegin(NL_SYSTEM);
    nlBegin(NL_MATRIX);
    state_two_rows();
    end();
    CHECK(solve());
    CHECK_CLOSE(nlGetVariable(1), 2, 1e-5);
    CHECK(nlGetError() == NL_NO_ERROR);
    nlDeleteContext(nlGetCurrent());
  }
}

/* A variable that could not be set or locked makes the system invalid too. An error is cleared by the next
 * one. */
static void refused_variable(void) {
  begin(2);
  nlLockVariable(2);
  nlBegin(NL_MATRIX);
  state_two_rows();
  end();
  CHECK(!nlSolve());
  CHECK(strstr(nlGetErrorString(), "variable 2") != NULL);
  nlBegin(NL_SYSTEM);
  CHECK(nlGetError() == NL_NO_ERROR);
  nlSetVariable(3, 1);
  nlBegin(NL_MATRIX);
  state_two_rows();
  end();
  CHECK(!nlSolve());
  CHECK_ERROR(NL_INVALID_VALUE, "variable 3");
  nlDeleteContext(nlGetCurrent());
}

/* The first error is reported. */
static void first_of_two(void) {
  begin(2);
  nlBegin(NL_MATRIX);
  nlBegin(NL_ROW);
  nlCoefficient(5, 1);
  nlCoefficient(6, 1);
  nlEnd(NL_ROW);
  end();
  CHECK(!nlSolve());
  CHECK(strstr(nlGetErrorString(), "variable 5") != NULL);
  CHECK_ERROR(NL_INVALID_VALUE, "variable 5");
  nlDeleteContext(nlGetCurrent());
}

static void mixed(void) {
  nlNewContext();
  nlSolverParameteri(NL_NB_VARIABLES, 2);
  nlSolverParameteri(NL_LEAST_SQUARES, NL_TRUE);
  nlBegin(NL_SYSTEM);
  nlBegin(NL_MATRIX);
  state_two_rows();
  nlAddIJCoefficient(0, 0, 1);
  CHECK_ERROR(NL_INVALID_OPERATION, "not mixed with rows");
  nlDeleteContext(nlGetCurrent());
  nlNewContext();
  nlSolverParameteri(NL_NB_VARIABLES, 2);
  nlSolverParameteri(NL_SYMMETRIC, NL_TRUE);
  nlBegin(NL_SYSTEM);
  nlBegin(NL_MATRIX);
  for (NLuint i = 0; i < 2; i++) nlAddIJCoefficient(i, i, 2);
  nlAddIJCoefficient(0, 1, 1);
  nlEnd(NL_MATRIX);
  CHECK_ERROR(NL_INVALID_OPERATION, "above the diagonal");
  nlDeleteContext(nlGetCurrent());
}

int main(void) {
  need_device();
  no_context();
  deleted_twice();
  parameters();
  unsupported();
  variables();
  order();
  refused();
  refused_variable();
  first_of_two();
  mixed();
  return report();
}
