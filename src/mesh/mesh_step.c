/* Steps of the mesh flow.
 *
 * The unknown is the change e of the positions: A e = M x - A x, from e = 0. The right-hand side is a sum of
 * differences of neighbours, a_ij (x_i - x_j). Single precision represents it to a few bits regardless of the
 * magnitude of x, the time step and the valence. M x - A x as written would lose these bits, and a flat patch
 * would tremble. x is rounded once per step. Rows outside a system are rows of the identity with a right-hand
 * side of 0, so e is 0 there.
 *
 * The systems use a unit of length, a power of two, in which lambda dt is about 1. A step follows lengths of
 * about sqrt(lambda dt). So neither their squares nor the entries leave the range of single precision,
 * regardless of the size of the mesh. A mesh and its copy scaled by 2^k, with 4^k dt, give the same bits.
 *
 * If the boundary flows, its own system is solved first. x then contains the new positions of the boundary, and
 * the surface's right-hand side uses them as boundary values. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/core/core.h"
#include "mesh_operator.h"

static const double unit_speed = 3; /* the lambda for which x follows dx/dt = -H n */
enum { largest_exponent = 126 };    /* the largest power of two with a reciprocal in single precision */
/* Shorter edges of the boundary, in units of sqrt(2 dt), count as this long. The vertices at their ends move as
 * one anyway, and 1 / l stays in the range of single precision. */
static const double shortest_edge = 1e-3;

static ts_status check_positions(const ts_mesh_flow *flow, const ts_vector *x) {
  TSI_TRY(tsi_check_space(x, flow->surface.matrix->row_space, "x", "the mesh flow", "the mesh flow's space",
                          "ts_mesh_flow_get_space"));
  if (x->components != 3)
    return tsi_fail(flow->context, TS_ERROR_INCOMPATIBLE, "x has %d components; positions have 3",
                    x->components);
  return TS_OK;
}

/* lambda dt is between 1 and 4 in the square of the unit. */
double tsi_mesh_scale(const ts_mesh_flow *flow, double time_step) {
  const double exponent = -floor(0.5 * ilogb(flow->speed * time_step));
  return ldexp(1, (int)fmin(fmax(exponent, -largest_exponent), largest_exponent));
}

double tsi_mesh_factor(const ts_mesh_flow *flow, double time_step) {
  const double scale = tsi_mesh_scale(flow, time_step);
  return flow->speed * time_step * scale * scale;
}

static int has_factor(const ts_mesh_flow *flow, double time_step) {
  const double factor = tsi_mesh_factor(flow, time_step);
  return factor >= FLT_MIN && factor <= FLT_MAX;
}

static ts_status check_time_step(const ts_mesh_flow *flow, double time_step) {
  if (!(time_step > 0 && isfinite(time_step)))
    return tsi_fail(flow->context, TS_ERROR_INVALID_ARGUMENT, "time_step is %g; it must be positive and finite",
                    time_step);
  if (!has_factor(flow, time_step))
    return tsi_fail(
        flow->context, TS_ERROR_INVALID_ARGUMENT,
        "time_step is %g; times the speed, %g, it is beyond the squares of what single precision holds",
        time_step, flow->speed);
  return TS_OK;
}

/* ---- The two halves ---- */

static ts_status assemble(ts_mesh_flow *flow, const ts_vector *x, double time_step) {
  ts_context *context = flow->context;
  const tsi_ops *ops = context->ops;
  const double factor = tsi_mesh_factor(flow, time_step), along = 2 * factor / unit_speed;
  const float scale = (float)tsi_mesh_scale(flow, time_step);
  flow->time_step = 0;
  flow->is_current = 0;
  TSI_TRY(TSI_ENTER_WITH(context, x));
  ts_status status = ops->mesh->assemble(&flow->surface, x, scale, (float)factor, 0);
  if (status == TS_OK && flow->curve.matrix)
    status = ops->mesh->assemble(&flow->curve, x, scale, (float)along, (float)(shortest_edge * sqrt(along)));
  tsi_leave(context, status);
  if (status == TS_OK) flow->time_step = time_step;
  return status;
}

/* Computes the change from the operator's system at x, in the unit of the system. */
static ts_status solve_change(ts_mesh_flow *flow, const tsi_mesh_operator *op, ts_solver *cg,
                              const ts_vector *x, ts_result *result) {
  ts_context *context = flow->context;
  TSI_TRY(TSI_ENTER_WITH(context, x));
  ts_status status =
      context->ops->mesh->force(flow->force, op, x, (float)tsi_mesh_scale(flow, flow->time_step));
  TSI_TRY(tsi_leave(context, status));
  status = ts_solver_solve(cg, flow->force, flow->change, result);
  /* The paper stops after a few iterations, regardless of the residual. */
  if (status == TS_NOT_CONVERGED && flow->limited && result->reason == TS_REASON_MAX_ITERATIONS &&
      result->reduction < 1)
    status = TS_OK;
  /* The change is accurate to its last bits, the best possible result. attainable_residual is the rounding
   * error of e. On a device that cannot correct its products, their own rounding doubles it. */
  if (status == TS_NOT_CONVERGED && result->reason == TS_REASON_STAGNATED &&
      result->relative_residual <= 2 * result->attainable_residual)
    status = TS_OK;
  return status;
}

static ts_status add_change(ts_mesh_flow *flow, ts_vector *out, const ts_vector *x) {
  ts_context *context = flow->context;
  TSI_TRY(TSI_ENTER_WITH(context, out, x));
  const ts_coefficient unit = ts_constant((float)(1 / tsi_mesh_scale(flow, flow->time_step)));
  return tsi_leave_computed(out, context->ops->axpby(out, unit, flow->change, ts_constant(1), x));
}

static void explain(ts_mesh_flow_result *result, const char *which, const ts_result *cg) {
  const char *text =
      cg->reason == TS_REASON_NAN_INPUT
          ? "the positions, or the matrix made of them, hold a NaN or an infinity; or the time step is "
            "far too short for a mesh of this size"
          : cg->message;
  snprintf(result->message, sizeof result->message, "%s%.140s", which, text);
}

/* If nothing moves, finds out whether the device flushed all positions to 0. */
static ts_status check_range(const ts_mesh_flow *flow, const ts_vector *x) {
  ts_context *context = flow->context;
  const size_t floats = 3 * (size_t)flow->info.vertices;
  float *positions = tsi_malloc(context, floats, sizeof *positions), largest = 0;
  if (!positions) return tsi_out_of_memory(context, "positions", floats * sizeof *positions);
  const ts_status status = tsi_vector_read_floats(x, positions);
  for (size_t i = 0; i < floats; i++) largest = fmaxf(largest, fabsf(positions[i]));
  tsi_free(context, positions);
  if (status < 0 || largest == 0) return status;
  if (largest < FLT_MIN)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "x: no coordinate is larger than %.3g; the backend treats numbers below %.3g as 0",
                    (double)largest, (double)FLT_MIN);
  if (largest * tsi_mesh_scale(flow, flow->time_step) < FLT_MIN)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "time_step is %g, too long for positions whose largest coordinate is %.3g", flow->time_step,
                    (double)largest);
  return TS_OK;
}

/* A caller that stops a step wants neither a retry nor a halved step. */
static int is_stopped(const ts_mesh_flow_result *result) {
  return result->surface.reason == TS_REASON_STOPPED || result->boundary.reason == TS_REASON_STOPPED;
}

/* The values are those of positions x. `from` additionally has the border's new positions. */
static ts_status solve_surface(ts_mesh_flow *flow, const ts_vector *x, const ts_vector *from,
                               ts_mesh_flow_result *result) {
  TSI_TRY(tsi_mesh_precondition(flow, x, result));
  const ts_status status = solve_change(flow, &flow->surface, flow->surface_solver, from, &result->surface);
  result->iterations += result->surface.iterations;
  return status;
}

/* Moves x if all solves succeed. Adds to the result's iterations. */
static ts_status mesh_step_solve(ts_mesh_flow *flow, ts_vector *x, ts_mesh_flow_result *result) {
  const ts_vector *from = x;
  result->boundary = (ts_result){0};
  if (flow->curve.matrix) {
    const ts_status status = solve_change(flow, &flow->curve, flow->curve_solver, x, &result->boundary);
    result->iterations += result->boundary.iterations;
    if (status != TS_OK) {
      result->surface = (ts_result){0};
      explain(result, "the boundary: ", &result->boundary);
      return status;
    }
    TSI_TRY(add_change(flow, flow->border, x));
    from = flow->border;
  }
  ts_status status = solve_surface(flow, x, from, result);
  if (status == TS_NOT_CONVERGED && tsi_mesh_can_renew(flow) && !is_stopped(result)) {
    flow->is_worn = 1;
    status = solve_surface(flow, x, from, result);
  }
  if (status != TS_OK) {
    explain(result, "", &result->surface);
    return status;
  }
  tsi_mesh_note_iterations(flow, result->surface.iterations);
  if (result->surface.iterations + result->boundary.iterations == 0) TSI_TRY(check_range(flow, x));
  return add_change(flow, x, from);
}

ts_status ts_mesh_flow_assemble(ts_mesh_flow *flow, const ts_vector *x, double time_step) {
  TSI_BEGIN(flow, flow->context);
  TSI_REQUIRE(flow->context, x);
  TSI_TRY(check_positions(flow, x));
  TSI_TRY(check_time_step(flow, time_step));
  return assemble(flow, x, time_step);
}

ts_status ts_mesh_flow_solve(ts_mesh_flow *flow, ts_vector *x, ts_mesh_flow_result *result) {
  TSI_BEGIN(flow, flow->context);
  ts_context *context = flow->context;
  TSI_REQUIRE(context, x);
  TSI_TRY(check_positions(flow, x));
  if (flow->time_step == 0)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "%s: nothing is assembled; call ts_mesh_flow_assemble",
                    __func__);
  ts_mesh_flow_result own;
  if (!result) result = &own;
  *result = (ts_mesh_flow_result){.smallest_time_step = flow->time_step};
  const uint64_t before = context->host_synchronisations;
  tsi_stay_begin(context);
  const ts_status status = tsi_stay_end(context, mesh_step_solve(flow, x, result));
  result->substeps = status == TS_OK;
  result->host_synchronisations = (int)(context->host_synchronisations - before);
  return status;
}

/* ---- A step, halved if necessary ---- */

static ts_status copy(ts_context *context, ts_vector *to, const ts_vector *from) {
  TSI_TRY(TSI_ENTER_WITH(context, to, from));
  return tsi_leave(context, context->ops->axpby(to, ts_constant(1), from, ts_constant(0), from));
}

/* Saves x before the first of several substeps moves it. */
static ts_status keep_start(ts_mesh_flow *flow, const ts_vector *x) {
  static const ts_vector_desc three = {.components = 3};
  if (!flow->start) TSI_TRY(ts_vector_create(x->space, &three, &flow->start));
  return copy(flow->context, flow->start, x);
}

/* The unit of time is time_step / 2^max_halvings. A substep at level h takes 2^(max_halvings - h) units. After
 * the second half of a substep, the next one tries twice the length. */
static ts_status step(ts_mesh_flow *flow, ts_vector *x, double time_step, ts_mesh_flow_result *result) {
  const int most = flow->max_halvings;
  const int64_t units = (int64_t)1 << most;
  int64_t done = 0;
  int level = 0;
  char message[sizeof result->message] = ""; /* of the first failure */
  result->smallest_time_step = time_step;
  while (done < units) {
    const double length = ldexp(time_step, -level);
    if (length < result->smallest_time_step) result->smallest_time_step = length;
    if (done == 0 && level > 0) TSI_TRY(keep_start(flow, x));
    TSI_TRY(assemble(flow, x, length));
    const ts_status status = mesh_step_solve(flow, x, result);
    if (status < 0) return status;
    if (status == TS_OK) {
      result->substeps++;
      done += units >> level;
      while (level > 0 && done % (units >> (level - 1)) == 0) level--;
      continue;
    }
    if (!message[0]) memcpy(message, result->message, sizeof message);
    if (level == most || is_stopped(result) || !has_factor(flow, length / 2)) {
      result->substeps = 0;
      if (done > 0) TSI_TRY(copy(flow->context, x, flow->start));
      return TS_NOT_CONVERGED;
    }
    level++;
  }
  memcpy(result->message, message, sizeof message);
  return TS_OK;
}

ts_status ts_mesh_flow_step(ts_mesh_flow *flow, ts_vector *x, double time_step, ts_mesh_flow_result *result) {
  TSI_BEGIN(flow, flow->context);
  ts_context *context = flow->context;
  TSI_REQUIRE(context, x);
  TSI_TRY(check_positions(flow, x));
  TSI_TRY(check_time_step(flow, time_step));
  ts_mesh_flow_result own;
  if (!result) result = &own;
  *result = (ts_mesh_flow_result){0};
  const uint64_t before = context->host_synchronisations;
  tsi_stay_begin(context);
  const ts_status status = tsi_stay_end(context, step(flow, x, time_step, result));
  result->host_synchronisations = (int)(context->host_synchronisations - before);
  return status;
}
