/* What fluid --bench finds. Times in s. */
#ifndef BENCH_H
#define BENCH_H

#include "fluid.h"

enum { BENCH_PAPER_CYCLES = 2, BENCH_WARM_STEPS = 12, BENCH_POPULAR_JACOBI = 20 };

typedef struct bench_step {
  double median, fastest;
  int steps; /* timed, in groups that the device is waited for once */
} bench_step;

/* One solution of the same pressure problem from 0. */
typedef struct bench_case {
  ts_fluid_solver solver;
  int iterations;
  double seconds; /* of the pressure alone */
  double before, after;
} bench_case;

typedef struct bench_result {
  bench_step paper, usual; /* two V(4,2) cycles with Jacobi; the solver that is set */
  double stages[TS_FLUID_STAGES];
  bench_case multigrid, equal_time, popular, paper_case;
} bench_result;

void bench_print(const simulation *s, const bench_result *r);
/* Returns 0, or -1 after a message. */
int bench_print_json(const simulation *s, const bench_result *r);

#endif
