#include "pressure.h"

static const struct {
  const char *name;
  ts_method method;
  ts_preconditioner_kind preconditioner_kind;
  int iterations;
} solvers[PRESSURE_SOLVERS] = {{"multigrid", TS_METHOD_RICHARDSON, TS_PRECONDITIONER_MULTIGRID, 2},
                               {"multigrid-cg", TS_METHOD_CG, TS_PRECONDITIONER_MULTIGRID, 4},
                               {"cg", TS_METHOD_CG, TS_PRECONDITIONER_JACOBI, 50},
                               {"jacobi", TS_METHOD_RICHARDSON, TS_PRECONDITIONER_JACOBI, 20}};

const char *pressure_name(int solver) {
  return solver >= 0 && solver < PRESSURE_SOLVERS ? solvers[solver].name : NULL;
}

int pressure_has_cycles(int solver) {
  return solvers[solver].preconditioner_kind == TS_PRECONDITIONER_MULTIGRID;
}

pressure_choice pressure_default(int solver) {
  return (pressure_choice){.solver = solver, .iterations = solvers[solver].iterations};
}

pressure_choice pressure_of(const ts_solver_desc *desc) {
  int solver = PRESSURE_SOLVERS - 1;
  while (solver > 0 && (solvers[solver].method != desc->method ||
                        solvers[solver].preconditioner_kind != desc->preconditioner_kind))
    solver--;
  return (pressure_choice){.solver = solver,
                           .iterations = desc->rtol > 0 ? desc->max_iterations : desc->fixed_iterations,
                           .tolerance = desc->rtol};
}

void pressure_set(ts_solver_desc *desc, const pressure_choice *choice) {
  const int has_test = choice->tolerance > 0;
  desc->method = solvers[choice->solver].method;
  desc->preconditioner_kind = solvers[choice->solver].preconditioner_kind;
  desc->rtol = choice->tolerance;
  desc->max_iterations = has_test ? choice->iterations : 0;
  desc->fixed_iterations = has_test ? 0 : choice->iterations;
}
