/* The data that a multigrid cycle fetches, reads and writes, and the least time for it. */
#ifndef BENCH_MULTIGRID_MODEL_H
#define BENCH_MULTIGRID_MODEL_H

#include <texsolve/grid.h>

#include "device_limits.h"

typedef struct cycle_model {
  double seconds;
  double fetches; /* texels; CPU: 0 */
  double bytes;   /* read and written */
  int passes;     /* CPU: loops */
} cycle_model;

/* One cycle of a solver with a five-point stencil on the finest level and nine-point stencils on the others. */
int cycle_model_of(const device_limits *limits, const ts_multigrid *multigrid, const ts_multigrid_desc *desc,
                   cycle_model *model);

#endif
