/* Constants have OpenNL's values, and parameters its defaults. Extensions choose the device. Names of OpenNL 3
 * work. */
#include <stdarg.h>

#include "check.h"

/* If a value differs this is a division by zero, which no compiler accepts. */
enum {
  same_values = 1 / (NL_SOLVER == 0x100 && NL_NB_VARIABLES == 0x101 && NL_LEAST_SQUARES == 0x102 &&
                     NL_MAX_ITERATIONS == 0x103 && NL_THRESHOLD == 0x104 && NL_OMEGA == 0x105 &&
                     NL_SYMMETRIC == 0x106 && NL_USED_ITERATIONS == 0x107 && NL_ERROR == 0x108 &&
                     NL_INNER_ITERATIONS == 0x109 && NL_ELAPSED_TIME == 0x10a && NL_PRECONDITIONER == 0x10b &&
                     NL_GFLOPS == 0x10c && NL_NNZ == 0x10d && NL_NB_SYSTEMS == 0x10e),
  same_choices =
      1 / (NL_SOLVER_DEFAULT == 0 && NL_CG == 0x200 && NL_BICGSTAB == 0x201 && NL_GMRES == 0x202 &&
           NL_PRECOND_NONE == 0 && NL_PRECOND_JACOBI == 0x300 && NL_PRECOND_SSOR == 0x301 &&
           NL_NORMALIZE_ROWS == 0x400 && NL_VERBOSE == 0x401 && NL_NO_VARIABLES_INDIRECTION == 0x402 &&
           NL_RIGHT_HAND_SIDE == 0x500 && NL_ROW_SCALING == 0x501 && NL_VARIABLES_BUFFER == 0x1000 &&
           NL_SYSTEM == 0 && NL_MATRIX == 1 && NL_ROW == 2 && NL_TRUE == 1 && NL_FALSE == 0)
};

static void defaults(void) {
  static const NLenum names[] = {
      NL_SOLVER,           NL_PRECONDITIONER, NL_NB_VARIABLES,   NL_NB_SYSTEMS,      NL_LEAST_SQUARES,
      NL_INNER_ITERATIONS, NL_SYMMETRIC,      NL_MAX_ITERATIONS, NL_USED_ITERATIONS, NL_NNZ};
  static const NLint values[] = {NL_SOLVER_DEFAULT, NL_PRECOND_NONE, 0, 1, 0, 5, 0, 100, 0, 0};
  static const NLenum flags[] = {NL_NORMALIZE_ROWS, NL_VERBOSE, NL_NO_VARIABLES_INDIRECTION,
                                 NL_VARIABLES_BUFFER};
  NLint value;
  NLdouble real;
  NLboolean truth;
  nlNewContext();
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    nlGetIntegerv(names[i], &value);
    CHECK(value == values[i]);
  }
  for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
    CHECK(!nlIsEnabled(flags[i]));
    nlEnable(flags[i]);
    CHECK(nlIsEnabled(flags[i]));
    nlDisable(flags[i]);
    CHECK(!nlIsEnabled(flags[i]));
  }
  nlGetDoublev(NL_THRESHOLD, &real);
  CHECK(real == 1e-6);
  nlGetDoublev(NL_OMEGA, &real);
  CHECK(real == 1.5);
  nlSolverParameteri(NL_LEAST_SQUARES, NL_TRUE);
  nlGetBooleanv(NL_LEAST_SQUARES, &truth);
  CHECK(truth == NL_TRUE);
  nlGetBooleanv(NL_SYMMETRIC, &truth);
  CHECK(truth == NL_FALSE);
  nlSolverParameteri(NL_NB_VARIABLES, 1000);
  nlGetIntergerv(NL_MAX_ITERATIONS, &value);
  CHECK(value == 5000);
  nlSolverParameteri(NL_MAX_ITERATIONS, 7);
  nlGetIntegerv(NL_MAX_ITERATIONS, &value);
  CHECK(value == 7);
  CHECK(nlGetError() == NL_NO_ERROR && nlGetErrorString()[0] == 0);
  nlDeleteContext(nlGetCurrent());
}

/* (3 x0 = 6), normalized and with weight 2, together with (x0 = 5): x0 = (4 2 + 5) / 5; and 3 x1 + 4 x2 = 5
 * divided by two. */
static void state_old_rows(void) {
  nlEnable(NL_NORMALIZE_ROWS);
  nlRowParameterd(NL_RIGHT_HAND_SIDE, 6);
  nlRowParameteri(NL_ROW_SCALING, 2);
  nlBegin(NL_ROW);
  nlCoefficient(0, 3);
  nlEnd(NL_ROW);
  nlDisable(NL_NORMALIZE_ROWS);
  nlRowParameterd(NL_RIGHT_HAND_SIDE, 5);
  nlBegin(NL_ROW);
  nlCoefficient(0, 1);
  nlEnd(NL_ROW);
  nlBegin(NL_ROW);
  nlCoefficient(1, 6);
  nlCoefficient(2, 4);
  nlCoefficient(2, 4);
  nlRightHandSide(10);
  nlScaleRow(0.5);
  nlEnd(NL_ROW);
  nlBegin(NL_ROW);
  nlCoefficient(1, 1);
  nlCoefficient(2, -1);
  nlEnd(NL_ROW);
}

static char printed[1024];

static int print(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int count = vsnprintf(printed, sizeof printed, format, arguments);
  va_end(arguments);
  return count;
}

static void old_names(void) {
  nlNewContext();
  nlSolverParameteri(NL_NB_VARIABLES, 3);
  nlSolverParameteri(NL_LEAST_SQUARES, NL_TRUE);
  nlSolverParameteri(NL_SOLVER, NL_CNC_FLOAT_BCRS2);
  nlSolverParameteri(NL_PRECONDITIONER, NL_PRECOND_SSOR);
  nlEnable(NL_VERBOSE);
  nlPrintfFuncs(print, NULL);
  nlBegin(NL_SYSTEM);
  nlBegin(NL_MATRIX);
  state_old_rows();
  nlEnd(NL_MATRIX);
  nlEnd(NL_SYSTEM);
  CHECK(solve());
  nlPrintfFuncs(NULL, NULL);
  CHECK_CLOSE(nlGetVariable(0), 13.0 / 5, 1e-5);
  CHECK_CLOSE(nlGetVariable(1), 5.0 / 7, 1e-5);
  CHECK_CLOSE(nlGetVariable(2), 5.0 / 7, 1e-5);
  CHECK(strstr(nlGetReport(), "Jacobi preconditioner instead of SSOR") != NULL);
  CHECK(strstr(nlGetReport(), "bcrs2") != NULL);
  CHECK(strstr(printed, nlGetReport()) != NULL);
  nlDeleteContext(nlGetCurrent());
}

/* Called for each iteration except the last few. The first error is at most that of the start, and the last one
 * is below NL_THRESHOLD. */
static NLuint calls, last_iteration;
static double first_error, last_error;

static void progress(NLuint iteration, NLuint max_iterations, double error, double max_error) {
  if (!calls++) first_error = error;
  last_iteration = iteration;
  last_error = error;
  CHECK(iteration <= max_iterations && max_error == 1e-6 * 1e-6);
}

static void progress_function(void) {
  NLint used;
  nlNewContext();
  nlSolverParameteri(NL_NB_VARIABLES, 100);
  nlSetFunction(NL_FUNC_PROGRESS, (NLfunc)progress);
  nlBegin(NL_SYSTEM);
  nlBegin(NL_MATRIX);
  for (NLuint i = 0; i < 100; i++) {
    nlAddIJCoefficient(i, i, 2.5 + 0.01 * i);
    if (i > 0) nlAddIJCoefficient(i, i - 1, -1);
    if (i < 99) nlAddIJCoefficient(i, i + 1, -1);
    nlAddIRightHandSide(i, 1);
  }
  nlEnd(NL_MATRIX);
  nlEnd(NL_SYSTEM);
  CHECK(solve());
  nlGetIntegerv(NL_USED_ITERATIONS, &used);
  CHECK(used > 3 && calls > (NLuint)used / 2 && calls <= last_iteration && last_iteration <= (NLuint)used);
  CHECK(first_error > 1e-6 && last_error < 1e-10);
  nlDeleteContext(nlGetCurrent());
}

/* The number of iterations for a diagonal of all magnitudes, which Jacobi reduces to the identity. */
static NLint iterations_with(NLenum solver, NLint preconditioner) {
  NLint used;
  nlNewContext();
  nlSolverParameteri(NL_NB_VARIABLES, 60);
  nlSolverParameteri(NL_SOLVER, (NLint)solver);
  if (preconditioner >= 0) nlSolverParameteri(NL_PRECONDITIONER, preconditioner);
  nlBegin(NL_SYSTEM);
  nlBegin(NL_MATRIX);
  for (NLuint i = 0; i < 60; i++) {
    nlAddIJCoefficient(i, i, 1 + i * i);
    nlAddIRightHandSide(i, 1);
  }
  nlEnd(NL_MATRIX);
  nlEnd(NL_SYSTEM);
  CHECK(solve());
  nlGetIntegerv(NL_USED_ITERATIONS, &used);
  nlDeleteContext(nlGetCurrent());
  return used;
}

static void preconditioners(void) {
  const NLint jacobi = iterations_with(NL_CG, NL_PRECOND_JACOBI),
              none = iterations_with(NL_CG, NL_PRECOND_NONE);
  CHECK(none > jacobi + 10);
  CHECK(iterations_with(NL_CG, -1) == none);
  CHECK(iterations_with(NL_SOLVER_DEFAULT, -1) == jacobi);
}

/* TEXSOLVE_BACKEND takes precedence if it is set. */
static void extensions(void) {
  const char *backend = getenv("TEXSOLVE_BACKEND");
  static char program[] = "program", yes[] = "nl:OPENGL=true", no[] = "nl:OPENGL=false",
              other[] = "nl:", more[] = "x=true";
  char *arguments[] = {program, other, more, yes};
  const int gl = backend && strstr(backend, "gl"), cuda = backend && strstr(backend, "cuda");
  if (!backend) return;
  nlNewContext();
  CHECK(nlInitExtension("OPENGL") == gl);
  CHECK(nlExtensionIsInitialized("GL") == gl);
  if (!gl) CHECK_ERROR(NL_NO_ERROR, "TEXSOLVE_BACKEND is ");
  CHECK(nlInitExtension("CUDA") == cuda);
  CHECK(nlInitExtension("CPU") == (!gl && !cuda));
  CHECK(nlInitExtension("CNC") == (gl || cuda));
  nlInitialize(4, arguments);
  CHECK(nlExtensionIsInitialized("OPENGL") == gl);
  arguments[3] = no;
  nlInitialize(4, arguments);
  CHECK(!nlExtensionIsInitialized("OPENGL"));
  nlDeleteContext(nlGetCurrent());
}

int main(void) {
  need_device();
  CHECK(same_values && same_choices);
  extensions();
  defaults();
  old_names();
  progress_function();
  preconditioners();
  return report();
}
