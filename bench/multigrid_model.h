/* What a cycle of multigrid has to fetch, read and write, and the least time that takes. */
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

/* One cycle of a solver whose finest stencil has five points and the coarser ones nine. */
int cycle_model_of(const device_limits *limits, const ts_multigrid *multigrid, const ts_multigrid_desc *desc,
                   cycle_model *model);

#endif
