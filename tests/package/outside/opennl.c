/* A program for OpenNL: two equations with two unknowns, as in its documentation. Exit status: 0 if they are
 * solved. */
#include <NL/nl.h>
#include <stdio.h>

int main(void) {
  double x, y;
  nlNewContext();
  nlSolverParameteri(NL_NB_VARIABLES, 2);
  nlSolverParameteri(NL_SYMMETRIC, NL_TRUE);
  nlBegin(NL_SYSTEM);
  nlBegin(NL_MATRIX);
  nlBegin(NL_ROW);
  nlCoefficient(0, 4.0);
  nlCoefficient(1, 1.0);
  nlRightHandSide(1.0);
  nlEnd(NL_ROW);
  nlBegin(NL_ROW);
  nlCoefficient(0, 1.0);
  nlCoefficient(1, 3.0);
  nlRightHandSide(14.0);
  nlEnd(NL_ROW);
  nlEnd(NL_MATRIX);
  nlEnd(NL_SYSTEM);
  if (!nlSolve()) {
    fprintf(stderr, "%s\n", nlGetErrorString());
    return 1;
  }
  x = nlGetVariable(0);
  y = nlGetVariable(1);
  printf("x = %g, y = %g\n", x, y);
  nlDeleteContext(nlGetCurrent());
  return !(x > -1.00001 && x < -0.99999 && y > 4.99995 && y < 5.00005);
}
