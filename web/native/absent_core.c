/* What the module of texsolve/core does not contain: grids, meshes, fluids and complementarity problems. No
 * function that it exports reaches their operations. */
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

#ifdef TEXSOLVE_HAVE_GL

const tsi_grid_ops gl_grid_ops = {0};
const tsi_mesh_ops gl_mesh_ops = {0};
const tsi_fluid_ops gl_fluid_ops = {0};
const tsi_lcp_ops gl_lcp_ops = {0};
#endif
