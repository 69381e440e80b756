/* OpenNL's calls in any order, solved on the CPU. */
#include <stdlib.h>

#include <texsolve-nl/nl.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const NLenum primitives[] = {NL_SYSTEM, NL_MATRIX, NL_ROW};
  static const NLenum parameters[] = {NL_NB_VARIABLES, NL_LEAST_SQUARES,  NL_MAX_ITERATIONS,   NL_NB_SYSTEMS,
                                      NL_SOLVER,       NL_PRECONDITIONER, NL_INNER_ITERATIONS, NL_SYMMETRIC};
  static const NLenum solvers[] = {NL_CG, NL_BICGSTAB, NL_GMRES, NL_SOLVER_DEFAULT};
  fuzz_bytes in = {data, data + size};
  setenv("TEXSOLVE_BACKEND", "cpu", 1);
  setenv("OMP_NUM_THREADS", "1", 1);
  nlNewContext();
  nlSolverParameteri(NL_NB_VARIABLES, 1 + fuzz_read(&in, 12));
  nlSolverParameteri(NL_MAX_ITERATIONS, 50);
  for (int calls = 0; in.next < in.end && calls < 300; calls++) {
    const NLuint i = (NLuint)fuzz_read(&in, 14), j = (NLuint)fuzz_read(&in, 14);
    const double value = fuzz_number(&in);
    switch (fuzz_read(&in, 20)) {
    case 0:
    case 1:
      nlBegin(primitives[i % 3]);
      break;
    case 2:
    case 3:
      nlEnd(primitives[i % 3]);
      break;
    case 4:
    case 5:
      nlCoefficient(i, value);
      break;
    case 6:
      nlRightHandSide(value);
      break;
    case 7:
      nlAddIJCoefficient(i, j, value);
      break;
    case 8:
      nlAddIRightHandSide(i, value);
      break;
    case 9:
      nlSetVariable(i, value);
      break;
    case 10:
      nlLockVariable(i);
      break;
    case 11:
      nlUnlockVariable(i);
      break;
    case 12:
      nlSolve();
      break;
    case 13:
      nlRowScaling(value);
      break;
    case 14: {
      const NLenum parameter = parameters[i % (sizeof parameters / sizeof *parameters)];
      nlSolverParameteri(parameter, parameter == NL_SOLVER ? (NLint)solvers[j % 4] : (NLint)j);
      break;
    }
    case 15:
      nlSolverParameterd(NL_THRESHOLD, value);
      break;
    case 16:
      (void)nlGetVariable(i), (void)nlVariableIsLocked(j), (void)nlGetErrorString(), (void)nlGetReport();
      break;
    case 17:
      nlMultiSetVariable(i, j, value);
      break;
    case 18:
      nlMultiRightHandSide(i, value);
      break;
    default:
      nlEnable(NL_NORMALIZE_ROWS);
      break;
    }
  }
  nlDeleteContext(nlGetCurrent());
  return 0;
}
