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
const cpu_dia *cpu_dia_of(const ts_matrix *A) {
  (void)A;
  return NULL;
}
void cpu_dia_destroy(ts_context *context, cpu_matrix *m) {
  (void)context, (void)m;
}
void cpu_dia_product(const cpu_dia *d, const float *x, int32_t row, int32_t count, float *y) {
  (void)d, (void)x, (void)row, (void)count, (void)y;
}
void cpu_dia_subtract(const cpu_dia *d, const float *x, int32_t row, int32_t count, double *rest) {
  (void)d, (void)x, (void)row, (void)count, (void)rest;
}
void cpu_dia_subtract_exactly(const cpu_dia *d, const float *x, int32_t row, int32_t count, double *sum,
                              double *lost) {
  (void)d, (void)x, (void)row, (void)count, (void)sum, (void)lost;
}
void cpu_dia_diagonal(const cpu_dia *d, int32_t row, int32_t count, float *diagonal) {
  (void)d, (void)row, (void)count, (void)diagonal;
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
