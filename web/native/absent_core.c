/* What the module of texsolve/core does not contain: grids, meshes, fluids and complementarity problems, whose
 * operations are not reached by exported functions, and the CPU's products by diagonals. */
#include "common/matrix/csr.h"
#include "common/grid/grid.h"
#include "cpu/core/cpu.h"
#include "fluid/fluid.h"
#include "lcp/lcp.h"
#include "mesh/mesh_operator.h"

#ifdef TEXSOLVE_HAVE_GL
#include "gl/core/gl.h"
#endif

const tsi_grid_ops cpu_grid_ops = {0};
const tsi_mesh_ops cpu_mesh_ops = {0};
const tsi_fluid_ops cpu_fluid_ops = {0};
const tsi_lcp_ops cpu_lcp_ops = {0};

int tsi_csr_diagonals(int32_t rows, const int32_t *row_offsets, const int32_t *columns, int32_t *offsets) {
  (void)rows, (void)row_offsets, (void)columns, (void)offsets;
  return 0;
}
void cpu_dia_destroy(ts_context *context, cpu_matrix *m) {
  (void)context, (void)m;
}
int cpu_dia_spmv(ts_vector *y, const ts_matrix *A, const ts_vector *x) {
  (void)y, (void)A, (void)x;
  return 0;
}
int cpu_dia_spmv_dot(ts_vector *y, const ts_matrix *A, const ts_vector *x, ts_scalars *out, int index) {
  (void)y, (void)A, (void)x, (void)out, (void)index;
  return 0;
}
int cpu_dia_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x, int is_quick) {
  (void)r, (void)b, (void)A, (void)x, (void)is_quick;
  return 0;
}
int cpu_dia_smooth(ts_vector *out, const ts_matrix *A, const tsi_smoothing *s) {
  (void)out, (void)A, (void)s;
  return 0;
}
int cpu_dia_diagonal(ts_vector *d, const ts_matrix *A) {
  (void)d, (void)A;
  return 0;
}
ts_status cpu_csr_smooth_all(ts_vector *x, const ts_matrix *A, const tsi_smoothing *steps, int count,
                             int *done) {
  (void)x, (void)A, (void)steps, (void)count;
  *done = 0;
  return TS_OK;
}

#ifdef TEXSOLVE_HAVE_GL

const tsi_grid_ops gl_grid_ops = {0};
const tsi_mesh_ops gl_mesh_ops = {0};
const tsi_fluid_ops gl_fluid_ops = {0};
const tsi_lcp_ops gl_lcp_ops = {0};
#endif
