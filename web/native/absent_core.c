/* What the module of texsolve/core does not contain: grids, meshes, fluids and complementarity problems. No
 * function that it exports reaches their operations. */
#include "common/precond/multigrid/multigrid.h"
#include "cpu/core/cpu.h"

const tsi_grid_ops cpu_grid_ops = {0};
const tsi_mesh_ops cpu_mesh_ops = {0};
const tsi_fluid_ops cpu_fluid_ops = {0};
const tsi_lcp_ops cpu_lcp_ops = {0};

#ifdef TEXSOLVE_HAVE_GL
#include "gl/core/gl.h"

const tsi_grid_ops gl_grid_ops = {0};
const tsi_mesh_ops gl_mesh_ops = {0};
const tsi_fluid_ops gl_fluid_ops = {0};
const tsi_lcp_ops gl_lcp_ops = {0};
#endif

/* Preconditioners of kind multigrid need a hierarchy on a grid, which cannot be created. */
ts_status tsi_multigrid_precondition(ts_multigrid *mg, ts_vector *z, const ts_vector *r) {
  (void)mg;
  (void)z;
  (void)r;
  return TS_ERROR_UNSUPPORTED;
}

void tsi_multigrid_cost(const ts_multigrid *mg, double *products, double *operations) {
  (void)mg;
  *products = *operations = 0;
}

ts_status tsi_multigrid_sum_parts(ts_multigrid *mg, const ts_vector *v, int first) {
  (void)mg;
  (void)v;
  (void)first;
  return TS_ERROR_UNSUPPORTED;
}

ts_status tsi_multigrid_remove_means(ts_multigrid *mg, ts_vector *v, int first) {
  (void)mg;
  (void)v;
  (void)first;
  return TS_ERROR_UNSUPPORTED;
}

ts_status tsi_multigrid_check_current(const ts_multigrid *mg) {
  (void)mg;
  return TS_ERROR_UNSUPPORTED;
}
