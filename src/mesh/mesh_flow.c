/* The mesh flow: its descriptor, its parts and its queries. mesh_step.c has the steps. */
#include <math.h>

#include "common/core/core.h"
#include "common/precond/preconditioner.h"
#include "mesh_operator.h"

enum { most_halvings = 30 };

/* ---- The descriptor ---- */

static ts_status mesh_flow_validate(ts_context *context, const ts_mesh_flow_desc *desc) {
  if (!context->ops->mesh)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED, "backend %s does not support meshes", context->backend_name);
  TSI_TRY(tsi_check_reserved(context, "", desc->reserved, sizeof desc->reserved));
  const tsi_format *format = tsi_format_of(desc->format);
  if (format && format->log2_block)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED,
                    "format is %s, a block format; the rows and columns of a mesh's matrix are vertices",
                    ts_format_name(desc->format));
  if (format && format->no_meshes)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED, "format is %s, which meshes do not support",
                    ts_format_name(desc->format));
  if (desc->vertices < 3)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "vertices is %d; a mesh has at least 3",
                    desc->vertices);
  if (desc->triangles < 1)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "triangles is %d; a mesh has at least 1",
                    desc->triangles);
  if (!desc->triangle_vertices)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "triangle_vertices is NULL");
  if (desc->boundary != TS_MESH_BOUNDARY_FIXED && desc->boundary != TS_MESH_BOUNDARY_FLOW)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "boundary is %d, not a ts_mesh_boundary",
                    desc->boundary);
  if (!(desc->speed >= 0 && isfinite(desc->speed)))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "speed is %g; it must be positive and finite",
                    (double)desc->speed);
  if (desc->max_halvings < -1 || desc->max_halvings > most_halvings)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "max_halvings is %d; it must be -1 to %d",
                    desc->max_halvings, most_halvings);
  return TS_OK;
}

/* ---- Parts ---- */

/* A flow accepts preconditioners made from the matrix, whose values first exist in the first step. */
static ts_status check_preconditioner(const ts_mesh_flow *flow, const ts_solver_desc *desc) {
  const tsi_preconditioner_kind *kind = tsi_preconditioner_row(desc->preconditioner_kind);
  if (!kind || !kind->needs_entries || flow->pattern.rows) return TS_OK;
  return tsi_fail(
      flow->context, TS_ERROR_INVALID_ARGUMENT,
      "preconditioner_kind is %s, for which the host must keep the mesh; set it in ts_mesh_flow_desc.solver",
      ts_preconditioner_kind_name(desc->preconditioner_kind));
}

/* A preconditioner made from values is created in the first step. The boundary's system then uses Jacobi,
 * because curves have few vertices. */
static ts_status create_solvers(ts_mesh_flow *flow, const ts_solver_desc *solver) {
  ts_solver_desc desc = {0};
  if (solver) desc = *solver;
  if (desc.method == TS_METHOD_AUTO) desc.method = TS_METHOD_CG;
  if (desc.precision == TS_PRECISION_AUTO) desc.precision = TS_PRECISION_SINGLE; /* same cost per step */
  desc.zero_start = 1;                                                           /* the unknown is the change */
  const ts_solver_desc whole = desc;
  TSI_TRY(check_preconditioner(flow, &whole));
  if (tsi_mesh_is_made(flow, &desc)) desc.preconditioner_kind = TS_PRECONDITIONER_JACOBI;
  ts_solver *surface = NULL, *curve = NULL;
  TSI_TRY(ts_solver_create(flow->surface.matrix, &desc, &surface));
  const ts_status status = flow->curve.matrix ? ts_solver_create(flow->curve.matrix, &desc, &curve) : TS_OK;
  if (status < 0) {
    ts_solver_destroy(&surface);
    return status;
  }
  tsi_mesh_drop_preconditioner(flow);
  ts_solver_destroy(&flow->surface_solver);
  ts_solver_destroy(&flow->curve_solver);
  flow->surface_solver = surface;
  flow->curve_solver = curve;
  flow->limited = desc.max_iterations > 0;
  flow->desc = whole;
  return TS_OK;
}

static void destroy_parts(ts_mesh_flow *flow) {
  tsi_mesh_drop_preconditioner(flow);
  ts_solver_destroy(&flow->surface_solver);
  ts_solver_destroy(&flow->curve_solver);
  ts_vector_destroy(&flow->force);
  ts_vector_destroy(&flow->change);
  ts_vector_destroy(&flow->border);
  ts_vector_destroy(&flow->start);
  tsi_mesh_operator_destroy(&flow->surface);
  tsi_mesh_operator_destroy(&flow->curve);
  tsi_mesh_pattern_free(flow->context, &flow->pattern);
  tsi_free(flow->context, flow->positions);
}

/* Takes ownership of the pattern. */
static ts_status keep_on_host(ts_mesh_flow *flow, tsi_mesh_pattern *pattern) {
  const size_t floats = 3 * (size_t)pattern->rows;
  flow->pattern = *pattern;
  *pattern = (tsi_mesh_pattern){0};
  flow->positions = tsi_malloc(flow->context, floats, sizeof *flow->positions);
  return flow->positions ? TS_OK
                         : tsi_out_of_memory(flow->context, "positions", floats * sizeof *flow->positions);
}

static ts_status create_parts(ts_mesh_flow *flow, const ts_mesh_flow_desc *desc, tsi_mesh_topology *topology) {
  ts_context *context = flow->context;
  static const ts_vector_desc three = {.components = 3};
  const int host_copy = tsi_mesh_needs_host(desc->solver.preconditioner_kind, topology);
  TSI_TRY(tsi_mesh_operator_create(context, TSI_MESH_SURFACE, &topology->surface, desc->format, NULL,
                                   topology->constrained, host_copy, &flow->surface));
  ts_space *space = flow->surface.matrix->row_space;
  TSI_TRY(ts_vector_create(space, &three, &flow->force));
  TSI_TRY(ts_vector_create(space, &three, &flow->change));
  if (topology->curve.rows) {
    TSI_TRY(tsi_mesh_operator_create(context, TSI_MESH_CURVE, &topology->curve, desc->format, space, NULL, 0,
                                     &flow->curve));
    TSI_TRY(ts_vector_create(space, &three, &flow->border));
  }
  if (host_copy) TSI_TRY(keep_on_host(flow, &topology->surface));
  return create_solvers(flow, &desc->solver);
}

ts_status ts_mesh_flow_create(ts_context *context, const ts_mesh_flow_desc *desc, ts_mesh_flow **out) {
  TSI_BEGIN(context, context);
  TSI_REQUIRE(context, out);
  *out = NULL;
  TSI_REQUIRE(context, desc);
  TSI_TRY(mesh_flow_validate(context, desc));
  tsi_mesh_topology topology;
  TSI_TRY(tsi_mesh_topology_create(context, desc, &topology));
  const size_t bytes_before = context->bytes_device;
  ts_status status = TS_OK;
  ts_mesh_flow *flow = tsi_calloc(context, 1, sizeof *flow);
  if (flow) {
    flow->context = context;
    flow->boundary = desc->boundary;
    flow->speed = desc->speed > 0 ? desc->speed : 3;
    flow->max_halvings = desc->max_halvings == 0 ? 6 : desc->max_halvings < 0 ? 0 : desc->max_halvings;
    tsi_stay_begin(context);
    status = tsi_stay_end(context, create_parts(flow, desc, &topology));
    if (status < 0) {
      destroy_parts(flow);
      tsi_free(context, flow);
    } else {
      flow->info = (ts_mesh_flow_info){.vertices = desc->vertices,
                                       .triangles = desc->triangles,
                                       .boundary_vertices = topology.boundary_vertices,
                                       .constrained_vertices = topology.constrained_vertices,
                                       .format = flow->surface.matrix->info.format,
                                       .bytes_device = context->bytes_device - bytes_before};
      *out = flow;
    }
  } else {
    status = tsi_out_of_memory(context, "a mesh flow", sizeof *flow);
  }
  tsi_mesh_topology_free(context, &topology);
  return status;
}

void ts_mesh_flow_destroy(ts_mesh_flow **flow) {
  if (!flow || !*flow) return;
  ts_context *context = (*flow)->context;
  tsi_stay_begin(context);
  destroy_parts(*flow);
  tsi_stay_end(context, TS_OK);
  tsi_free(context, *flow);
  *flow = NULL;
}

ts_status ts_mesh_flow_set_solver(ts_mesh_flow *flow, const ts_solver_desc *solver) {
  TSI_REQUIRE(NULL, flow);
  tsi_stay_begin(flow->context);
  return tsi_stay_end(flow->context, create_solvers(flow, solver));
}

/* ---- Queries ---- */

ts_status ts_mesh_flow_get_info(const ts_mesh_flow *flow, ts_mesh_flow_info *info) {
  TSI_BEGIN(flow, flow->context);
  TSI_REQUIRE(flow->context, info);
  *info = flow->info;
  return TS_OK;
}

ts_space *ts_mesh_flow_get_space(const ts_mesh_flow *flow) {
  return flow ? flow->surface.matrix->row_space : NULL;
}

const ts_matrix *ts_mesh_flow_get_matrix(const ts_mesh_flow *flow) {
  return flow ? flow->surface.matrix : NULL;
}

const ts_matrix *ts_mesh_flow_get_boundary_matrix(const ts_mesh_flow *flow) {
  return flow ? flow->curve.matrix : NULL;
}
