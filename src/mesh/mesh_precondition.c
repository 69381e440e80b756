/* Preconditioners of the flow's surface that are made from the values of its matrix, primarily AMG.
 *
 * The device computes the values, but most of these preconditioners are built on the host. So the host reads
 * the positions and computes the same values: three numbers per vertex, compared with about seven in the
 * matrix's own layout. A step changes values little. So a hierarchy is built once and only its numbers are
 * updated, until the iteration count shows that it is worn. */
#include <math.h>

#include "common/core/core.h"
#include "common/core/pool.h"
#include "common/precond/preconditioner.h"
#include "mesh_operator.h"
#include "mesh_row.h"

int tsi_mesh_needs_host(ts_preconditioner_kind kind, const tsi_mesh_topology *topology) {
  const tsi_preconditioner_kind *row = tsi_preconditioner_row(kind);
  const int is_for_choice = topology->surface.rows >= TSI_AUTO_ROWS && !topology->constrained_vertices;
  return row && (row->needs_entries || (row->choose && is_for_choice));
}

int tsi_mesh_is_made(const ts_mesh_flow *flow, const ts_solver_desc *desc) {
  const tsi_preconditioner_kind *row = tsi_preconditioner_row(desc->preconditioner_kind);
  return row && (row->create || (row->choose && flow->pattern.rows && !desc->fixed_iterations));
}

/* ---- Values on the host ---- */

typedef struct rows_job {
  tsi_mesh_rows rows;
  float *values;
} rows_job;

static void fill_rows(const void *arguments, size_t first, size_t last) {
  const rows_job *job = arguments;
  const int32_t *offsets = job->rows.offsets;
  for (size_t i = first; i < last; i++) {
    tsi_mesh_fill_row(&job->rows, (int32_t)i, job->values);
    /* The unknown is 0 in an isolated row. Without the columns of such rows the matrix is symmetric. */
    for (int32_t e = offsets[i]; e < offsets[i + 1] && offsets[i + 1] - offsets[i] > 1; e++) {
      const int32_t j = job->rows.columns[e];
      if (offsets[j + 1] - offsets[j] <= 1) job->values[e] = 0;
    }
  }
}

static int are_numbers(const float *values, size_t count) {
  for (size_t k = 0; k < count; k++)
    if (!isfinite(values[k])) return 0;
  return 1;
}

/* Fills the host copy from positions x; `usable` is 0 if it contains NaN or infinity. */
static ts_status fill_host_copy(const ts_mesh_flow *flow, const ts_vector *x, int *usable) {
  ts_context *context = flow->context;
  const tsi_mesh_pattern *p = &flow->pattern;
  int threads;
  TSI_TRY(tsi_threads(context, &threads));
  TSI_TRY(tsi_vector_read_floats(x, flow->positions));
  const rows_job job = {{.offsets = p->row_offsets,
                         .columns = p->columns,
                         .previous = p->previous,
                         .next = p->next,
                         .x = flow->positions,
                         .scale = tsi_mesh_scale(flow, flow->time_step),
                         .factor = (float)tsi_mesh_factor(flow, flow->time_step)},
                        flow->surface.matrix->host_copy->values};
  tsi_parallel(context, (size_t)p->rows, fill_rows, &job);
  *usable = are_numbers(job.values, (size_t)p->row_offsets[p->rows]);
  return TS_OK;
}

/* ---- The preconditioner ---- */

void tsi_mesh_drop_preconditioner(ts_mesh_flow *flow) {
  ts_preconditioner_destroy(&flow->preconditioner);
  flow->is_current = flow->is_worn = flow->first_iterations = 0;
}

/* Rebuilds the preconditioner and its solver, and replaces the old ones. */
static ts_status make(ts_mesh_flow *flow) {
  const ts_preconditioner_desc how = {.kind = flow->desc.preconditioner_kind};
  ts_preconditioner *M = NULL;
  ts_solver *solver = NULL;
  TSI_TRY(ts_preconditioner_create(flow->surface.matrix, &how, &M));
  ts_solver_desc desc = flow->desc;
  desc.preconditioner = M;
  desc.preconditioner_kind = TS_PRECONDITIONER_AUTO;
  const ts_status status = ts_solver_create(flow->surface.matrix, &desc, &solver);
  if (status < 0) {
    ts_preconditioner_destroy(&M);
    return status;
  }
  tsi_mesh_drop_preconditioner(flow);
  ts_solver_destroy(&flow->surface_solver);
  flow->surface_solver = solver;
  flow->preconditioner = M;
  return TS_OK;
}

/* If auto selected the diagonal, its update is automatic. */
static int is_of_no_values(const ts_mesh_flow *flow) {
  return flow->preconditioner && tsi_preconditioner_is_diagonal(flow->preconditioner);
}

ts_status tsi_mesh_precondition(ts_mesh_flow *flow, const ts_vector *x, ts_mesh_flow_result *result) {
  const double start = tsi_seconds();
  int usable = 1;
  if (!tsi_mesh_is_made(flow, &flow->desc)) return TS_OK;
  if ((flow->is_current || is_of_no_values(flow)) && !flow->is_worn) {
    flow->is_fresh = 0;
    return TS_OK;
  }
  if (flow->pattern.rows && !flow->is_current) TSI_TRY(fill_host_copy(flow, x, &usable));
  if (!usable) return TS_OK; /* the solver reports the cause */
  flow->is_fresh = !flow->preconditioner || flow->is_worn;
  TSI_TRY(flow->is_fresh ? make(flow) : ts_preconditioner_update(flow->preconditioner));
  flow->is_current = 1;
  result->setups += flow->is_fresh;
  result->seconds_setup += tsi_seconds() - start;
  return TS_OK;
}

int tsi_mesh_can_renew(const ts_mesh_flow *flow) {
  return flow->preconditioner && !flow->is_fresh && !is_of_no_values(flow);
}

void tsi_mesh_note_iterations(ts_mesh_flow *flow, int iterations) {
  enum { few = 4 };
  if (!flow->preconditioner) return;
  if (flow->is_fresh) flow->first_iterations = iterations;
  flow->is_worn = 2 * iterations > 3 * flow->first_iterations + 2 * few;
}
