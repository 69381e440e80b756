/* The pressure of a fluid: -laplace p = b on the fluid cells. The derivative is 0 at walls and at boundaries
 * with a prescribed velocity; p is 0 at outlets.
 *
 * The stencil is that of ts_poisson_stencil for cells, and the projection subtracts the matching gradient. Next
 * to an outlet the pressure beyond is the negative of the cell's own; this gives the stencil's 2. So staggered
 * velocities have no divergence except that of the solver and rounding, about 2^-24 (|u| + |p| dt / h) / h. */
#include "common/core/core.h"
#include "common/krylov/solver.h"
#include "fluid_object.h"

/* ---- The matrix ---- */

static ts_status compute_stencil(const ts_fluid *fluid, ts_array values) {
  static const ts_boundary boundaries[] = {[TS_FLUID_BOUNDARY_WALL] = TS_BOUNDARY_NEUMANN,
                                           [TS_FLUID_BOUNDARY_SLIP] = TS_BOUNDARY_NEUMANN,
                                           [TS_FLUID_BOUNDARY_OUTLET] = TS_BOUNDARY_DIRICHLET,
                                           [TS_FLUID_BOUNDARY_PERIODIC] = TS_BOUNDARY_PERIODIC};
  const tsi_fluid_domain *d = &fluid->domain;
  const ts_poisson_desc desc = {.width = d->width,
                                .height = d->height,
                                .spacing = fluid->cell_size,
                                .centring = TS_CENTRING_CELL,
                                .left = boundaries[d->boundaries[TSI_LEFT].kind],
                                .right = boundaries[d->boundaries[TSI_RIGHT].kind],
                                .bottom = boundaries[d->boundaries[TSI_BOTTOM].kind],
                                .top = boundaries[d->boundaries[TSI_TOP].kind],
                                .solid = fluid->solid};
  return ts_poisson_stencil(fluid->context, &desc, values);
}

/* ---- The choice of solver ---- */

/* Whether a stopping rule ends the iterations, rather than their number. */
static int has_test(const ts_solver_desc *d) {
  return d->rtol != 0 || d->atol != 0 || d->max_iterations || d->stop || d->check_interval || d->progress;
}

static ts_status resolve(const ts_matrix *A, const ts_solver_desc *given, ts_solver_desc *how) {
  *how = *given;
  if (how->method == TS_METHOD_AUTO) how->method = TS_METHOD_RICHARDSON;
  if (how->preconditioner_kind == TS_PRECONDITIONER_AUTO)
    how->preconditioner_kind = TS_PRECONDITIONER_MULTIGRID;
  if (how->precision == TS_PRECISION_AUTO) how->precision = TS_PRECISION_SINGLE; /* same cost per step */
  const int is_richardson = how->method == TS_METHOD_RICHARDSON;
  const int is_multigrid = how->preconditioner_kind == TS_PRECONDITIONER_MULTIGRID;
  if (!how->fixed_iterations && !has_test(how))
    how->fixed_iterations = is_richardson ? (is_multigrid ? 2 : 20) : (is_multigrid ? 4 : 50);
  /* ts_solver_create does not support multigrid. */
  ts_solver_desc checked = *how, resolved;
  if (is_multigrid) checked.preconditioner_kind = TS_PRECONDITIONER_NONE;
  return tsi_solver_resolve(A, &checked, &resolved);
}

/* Whether a multigrid runs without a solver around it: as cycles, or as sweeps of Jacobi. */
static int runs_cycles(const ts_solver_desc *how) {
  return how->method == TS_METHOD_RICHARDSON && how->fixed_iterations &&
         how->precision == TS_PRECISION_SINGLE &&
         (how->preconditioner_kind == TS_PRECONDITIONER_MULTIGRID ||
          how->preconditioner_kind == TS_PRECONDITIONER_JACOBI);
}

static int uses_multigrid(const ts_solver_desc *how) {
  return how->preconditioner_kind == TS_PRECONDITIONER_MULTIGRID || runs_cycles(how);
}

/* Jacobi's method is a multigrid of one level. Its cycle has the given number of undamped sweeps. */
static ts_multigrid_desc describe_multigrid(const ts_fluid_parameters *p, const ts_solver_desc *how) {
  if (how->preconditioner_kind == TS_PRECONDITIONER_JACOBI)
    return (ts_multigrid_desc){.smoother = TS_SMOOTHER_JACOBI,
                               .damping = 1,
                               .max_levels = 1,
                               .coarsest_sweeps = how->fixed_iterations};
  ts_multigrid_desc desc = p->multigrid;
  desc.progress = NULL;
  desc.progress_user = NULL;
  return desc;
}

static int same_multigrid(const ts_multigrid_desc *x, const ts_multigrid_desc *y) {
  return x->smoother == y->smoother && x->storage == y->storage && x->interpolation == y->interpolation &&
         x->cycle == y->cycle && x->pre == y->pre && x->post == y->post && x->damping == y->damping &&
         x->symmetric == y->symmetric && x->full == y->full && x->max_levels == y->max_levels &&
         x->coarsest_sweeps == y->coarsest_sweeps && x->rtol == y->rtol && x->max_cycles == y->max_cycles;
}

static ts_status create_krylov(tsi_fluid_pressure *solver) {
  ts_solver_desc desc = solver->how;
  ts_preconditioner *M = NULL;
  if (desc.preconditioner_kind == TS_PRECONDITIONER_MULTIGRID) {
    const ts_preconditioner_desc cycle = {.kind = TS_PRECONDITIONER_MULTIGRID, .multigrid = solver->multigrid};
    TSI_TRY(ts_preconditioner_create(solver->matrix, &cycle, &M));
    desc.preconditioner = M;
    desc.preconditioner_kind = (ts_preconditioner_kind)0;
  }
  const ts_status status = ts_solver_create(solver->matrix, &desc, &solver->krylov);
  ts_preconditioner_destroy(&M); /* the solver retains it */
  return status;
}

/* Keeps the multigrid of `old` if `p` needs the same. */
static ts_status create_solvers(const ts_fluid_parameters *p, const tsi_fluid_pressure *old,
                                tsi_fluid_pressure *solver) {
  *solver = (tsi_fluid_pressure){.matrix = old->matrix};
  TSI_TRY(resolve(old->matrix, &p->pressure, &solver->how));
  if (uses_multigrid(&solver->how)) {
    solver->hierarchy = describe_multigrid(p, &solver->how);
    if (old->multigrid && same_multigrid(&solver->hierarchy, &old->hierarchy))
      solver->multigrid = old->multigrid;
    else
      TSI_TRY(ts_multigrid_create(old->matrix, &solver->hierarchy, &solver->multigrid));
  }
  if (runs_cycles(&solver->how)) return TS_OK;
  const ts_status status = create_krylov(solver);
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
  TSI_TRY(create_solvers(p, old, &solver));
  ts_solver_destroy(&old->krylov); /* before the multigrid, which it may use */
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
  const ts_array stencil = ts_host(values, count);
  ts_status status = compute_stencil(fluid, stencil);
  const int is_first = !solver->matrix;
  if (status == TS_OK)
    status = is_first ? ts_stencil_create(fluid->cells, stencil, &solver->matrix)
                      : ts_stencil_set_values(solver->matrix, stencil);
  tsi_free(context, values);
  if (status < 0) return status;
  if (is_first) return tsi_fluid_pressure_change(fluid, &fluid->parameters);
  if (solver->multigrid) TSI_TRY(ts_multigrid_update(solver->multigrid));
  count_levels(fluid);
  return TS_OK;
}

void tsi_fluid_pressure_destroy(tsi_fluid_pressure *solver) {
  ts_solver_destroy(&solver->krylov);
  ts_multigrid_destroy(&solver->multigrid);
  ts_matrix_destroy(&solver->matrix);
}

/* ---- Solving ---- */

ts_status tsi_fluid_pressure_solve(ts_fluid *fluid, ts_fluid_result *result) {
  const tsi_fluid_pressure *solver = &fluid->solver;
  const ts_solver_desc *how = &solver->how;
  if (!solver->krylov) {
    const int cycles = how->preconditioner_kind == TS_PRECONDITIONER_JACOBI ? 1 : how->fixed_iterations;
    if (how->zero_start) TSI_TRY(ts_vector_fill(fluid->pressure, 0));
    result->iterations = how->fixed_iterations;
    result->pressure_reason = TS_REASON_FIXED_ITERATIONS;
    return ts_multigrid_cycle(solver->multigrid, fluid->right, fluid->pressure, cycles);
  }
  ts_result own;
  const ts_status status = ts_solver_solve(solver->krylov, fluid->right, fluid->pressure, &own);
  if (status < 0) return status;
  result->iterations = own.iterations;
  result->pressure_reason = own.reason;
  return TS_OK;
}
