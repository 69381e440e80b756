/* The pressure of a fluid: -laplace p = b on the fluid cells. Walls, and boundaries with a given velocity, take
 * part with the derivative 0, outlets with p = 0 at the boundary. The stencil is that of ts_poisson_stencil for
 * cells, and the gradient that a projection subtracts is the one that it is made of: in a cell beside an outlet
 * the pressure beyond is the negative of the cell's own, hence the stencil's 2. So staggered velocities have no
 * divergence but the solver's and rounding's, about 2^-24 (|u| + |p| dt / h) / h. */
#include "common/core/core.h"
#include "fluid_object.h"

/* ---- The matrix ---- */

static ts_status compute_stencil(const ts_fluid *fluid, float *values) {
  static const ts_boundary boundaries[] = {[TS_FLUID_WALL] = TS_BOUNDARY_NEUMANN,
                                           [TS_FLUID_SLIP] = TS_BOUNDARY_NEUMANN,
                                           [TS_FLUID_OUTLET] = TS_BOUNDARY_DIRICHLET,
                                           [TS_FLUID_PERIODIC] = TS_BOUNDARY_PERIODIC};
  const tsi_fluid_domain *d = &fluid->domain;
  const ts_poisson_desc desc = {.width = d->width,
                                .height = d->height,
                                .spacing = fluid->cell_size,
                                .centring = TS_CELL_CENTRED,
                                .left = boundaries[d->boundaries[TSI_LEFT].kind],
                                .right = boundaries[d->boundaries[TSI_RIGHT].kind],
                                .bottom = boundaries[d->boundaries[TSI_BOTTOM].kind],
                                .top = boundaries[d->boundaries[TSI_TOP].kind],
                                .solid = fluid->solid};
  return ts_poisson_stencil(fluid->context, &desc, values);
}

/* ---- Solvers ---- */

static int uses_multigrid(const ts_fluid_parameters *p) {
  return p->solver != TS_FLUID_CG;
}

static int uses_cg(const ts_fluid_parameters *p) {
  return p->solver == TS_FLUID_CG || p->solver == TS_FLUID_MULTIGRID_CG;
}

/* Plain Jacobi iterations are a multigrid of one level whose cycle is that many undamped sweeps. */
static void describe_multigrid(const ts_fluid_parameters *p, ts_multigrid_desc *desc) {
  if (p->solver == TS_FLUID_JACOBI) {
    *desc = (ts_multigrid_desc){.smoother = TS_SMOOTHER_JACOBI,
                                .damping = 1,
                                .max_levels = 1,
                                .coarsest_sweeps = tsi_fluid_iterations(p)};
    return;
  }
  *desc = p->multigrid;
  desc->progress = NULL;
  desc->progress_user = NULL;
}

static int same_multigrid(const ts_fluid_parameters *a, const ts_fluid_parameters *b) {
  if (uses_multigrid(a) != uses_multigrid(b)) return 0;
  ts_multigrid_desc x, y;
  describe_multigrid(a, &x);
  describe_multigrid(b, &y);
  return x.smoother == y.smoother && x.storage == y.storage && x.interpolation == y.interpolation &&
         x.cycle == y.cycle && x.pre == y.pre && x.post == y.post && x.damping == y.damping &&
         x.symmetric == y.symmetric && x.full == y.full && x.max_levels == y.max_levels &&
         x.coarsest_sweeps == y.coarsest_sweeps && x.rtol == y.rtol && x.max_cycles == y.max_cycles;
}

static ts_status create_cg(const ts_fluid_parameters *p, tsi_fluid_pressure *solver) {
  const int iterations = tsi_fluid_iterations(p);
  ts_solver_desc desc = {.method = TS_METHOD_CG, .precision = TS_PRECISION_SINGLE}; /* a step costs the same */
  if (p->tolerance > 0) {
    desc.rtol = p->tolerance;
    desc.max_iterations = iterations;
  } else {
    desc.fixed_iterations = iterations;
  }
  ts_preconditioner *M = NULL;
  if (p->solver == TS_FLUID_MULTIGRID_CG) {
    const ts_preconditioner_desc cycle = {.kind = TS_PRECONDITIONER_MULTIGRID, .multigrid = solver->multigrid};
    TSI_TRY(ts_preconditioner_create(solver->matrix, &cycle, &M));
    desc.preconditioner = M;
  }
  const ts_status status = ts_solver_create(solver->matrix, &desc, &solver->cg);
  ts_preconditioner_destroy(&M); /* the solver keeps it */
  return status;
}

/* What of `old` serves `p` too is taken over. */
static ts_status create_solvers(const ts_fluid_parameters *p, const ts_fluid_parameters *old_parameters,
                                const tsi_fluid_pressure *old, tsi_fluid_pressure *solver) {
  *solver = (tsi_fluid_pressure){.matrix = old->matrix};
  if (uses_multigrid(p)) {
    if (old->multigrid && same_multigrid(p, old_parameters)) {
      solver->multigrid = old->multigrid;
    } else {
      ts_multigrid_desc desc;
      describe_multigrid(p, &desc);
      TSI_TRY(ts_multigrid_create(old->matrix, &desc, &solver->multigrid));
    }
  }
  if (!uses_cg(p)) return TS_OK;
  const ts_status status = create_cg(p, solver);
  if (status < 0 && solver->multigrid != old->multigrid) ts_multigrid_destroy(&solver->multigrid);
  return status;
}

static void count_levels(ts_fluid *fluid) {
  ts_multigrid_info info;
  fluid->info.levels = 0;
  if (fluid->solver.multigrid && ts_multigrid_get_info(fluid->solver.multigrid, &info) == TS_OK)
    fluid->info.levels = info.levels;
}

ts_status tsi_fluid_pressure_change(ts_fluid *fluid, const ts_fluid_parameters *p) {
  tsi_fluid_pressure *old = &fluid->solver, solver;
  TSI_TRY(create_solvers(p, &fluid->parameters, old, &solver));
  ts_solver_destroy(&old->cg); /* before the multigrid that it may use */
  if (old->multigrid != solver.multigrid) ts_multigrid_destroy(&old->multigrid);
  *old = solver;
  count_levels(fluid);
  return TS_OK;
}

ts_status tsi_fluid_pressure_update(ts_fluid *fluid) {
  ts_context *context = fluid->context;
  tsi_fluid_pressure *solver = &fluid->solver;
  const size_t count = 9 * (size_t)fluid->domain.width * (size_t)fluid->domain.height;
  float *values = tsi_malloc(context, count, sizeof *values);
  if (!values) return tsi_out_of_memory(context, "the pressure's matrix", count * sizeof *values);
  ts_status status = compute_stencil(fluid, values);
  const int is_first = !solver->matrix;
  if (status == TS_OK)
    status = is_first ? ts_stencil_create(fluid->cells, values, &solver->matrix)
                      : ts_stencil_set_values(solver->matrix, values);
  tsi_free(context, values);
  if (status < 0) return status;
  if (is_first) return tsi_fluid_pressure_change(fluid, &fluid->parameters);
  if (solver->multigrid) TSI_TRY(ts_multigrid_update(solver->multigrid));
  count_levels(fluid);
  return TS_OK;
}

void tsi_fluid_pressure_destroy(tsi_fluid_pressure *solver) {
  ts_solver_destroy(&solver->cg);
  ts_multigrid_destroy(&solver->multigrid);
  ts_matrix_destroy(&solver->matrix);
}

/* ---- Solving ---- */

ts_status tsi_fluid_pressure_solve(ts_fluid *fluid, ts_fluid_result *result) {
  const ts_fluid_parameters *p = &fluid->parameters;
  tsi_fluid_pressure *solver = &fluid->solver;
  if (p->cold_start) TSI_TRY(ts_vector_fill(fluid->pressure, 0));
  result->iterations = tsi_fluid_iterations(p);
  result->pressure_reason = TS_REASON_CONVERGED;
  if (!uses_cg(p)) {
    const int cycles = p->solver == TS_FLUID_JACOBI ? 1 : result->iterations;
    return ts_multigrid_cycle(solver->multigrid, fluid->right, fluid->pressure, cycles);
  }
  ts_result own;
  const ts_status status = ts_solver_solve(solver->cg, fluid->right, fluid->pressure, &own);
  if (status < 0) return status;
  result->iterations = own.iterations;
  result->pressure_reason = own.reason;
  return TS_OK;
}
