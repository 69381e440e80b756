/* The pressure solvers that the program offers, as descriptors of the library. */
#ifndef PRESSURE_H
#define PRESSURE_H

#include <texsolve/solver.h>

enum { PRESSURE_MULTIGRID, PRESSURE_MULTIGRID_CG, PRESSURE_CG, PRESSURE_JACOBI, PRESSURE_SOLVERS };

typedef struct pressure_choice {
  int solver;
  int iterations;   /* cycles of multigrid; the maximum if there is a tolerance */
  double tolerance; /* relative to the right-hand side; 0: do all iterations */
} pressure_choice;

const char *pressure_name(int solver); /* NULL past the last one */
int pressure_has_cycles(int solver);

/* Uses the default number of iterations of the library. */
pressure_choice pressure_default(int solver);
pressure_choice pressure_of(const ts_solver_desc *desc);
void pressure_set(ts_solver_desc *desc, const pressure_choice *choice);

#endif
