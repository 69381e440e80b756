/* The two halves of a step, a few iterations instead of a solution, and steps that fail: divided, undone,
 * stopped. */
#include "common/core/core.h"
#include "helpers.h"
#include "mesh/mesh_operator.h"
#include "mesh_run.h"

static ts_context *context;

/* ---- The halves, and the paper's few iterations ---- */

static void assemble_and_solve(void) {
  for (int flows = 0; flows < 2; flows++) {
    const ts_mesh_flow_desc desc = {.boundary = flows ? TS_MESH_BOUNDARY_FLOW : TS_MESH_BOUNDARY_FIXED};
    mesh_run whole = {0}, halves = {0};
    if (mesh_run_open(&whole, context, mesh_irregular(16, 1, 8), desc) && mesh_run_steps(&whole, 2, 1e-3) &&
        mesh_run_open(&halves, context, mesh_irregular(16, 1, 8), desc)) {
      for (int k = 0; k < 2; k++) {
        ts_mesh_flow_result result;
        CHECK_OK(context, ts_mesh_flow_assemble(halves.flow, halves.x, 1e-3));
        CHECK_OK(context, ts_mesh_flow_solve(halves.flow, halves.x, &result));
        CHECK_INT(result.substeps, 1);
        CHECK(result.iterations > 0 && result.host_synchronisations > 0 && result.smallest_time_step == 1e-3);
        CHECK((result.boundary.iterations > 0) == flows);
      }
      CHECK(mesh_run_is_at(&whole, mesh_run_look(&halves)));
      mesh_run_close(&halves);
    }
    mesh_run_close(&whole);
  }
}

static void few_iterations(void) {
  mesh_run r = {0};
  if (mesh_run_open(&r, context, mesh_irregular(24, 0, 9), (ts_mesh_flow_desc){.solver.max_iterations = 5})) {
    ts_mesh_flow_result result;
    CHECK_OK(context, ts_mesh_flow_step(r.flow, r.x, 1e-3, &result));
    CHECK_INT(result.surface.reason, TS_REASON_MAX_ITERATIONS);
    CHECK_INT(result.iterations, 5);
    CHECK(result.surface.reduction < 0.5 && result.message[0] == 0);
    /* Other options, and then the defaults. */
    const ts_solver_desc two = {.max_iterations = 2};
    CHECK_OK(context, ts_mesh_flow_set_solver(r.flow, &two));
    CHECK_OK(context, ts_mesh_flow_step(r.flow, r.x, 1e-3, &result));
    CHECK_INT(result.iterations, 2);
    CHECK_OK(context, ts_mesh_flow_set_solver(r.flow, NULL));
    CHECK_OK(context, ts_mesh_flow_step(r.flow, r.x, 1e-3, &result));
    CHECK_INT(result.surface.reason, TS_REASON_CONVERGED);
  }
  mesh_run_close(&r);
}

/* A tolerance below single precision: the solves stagnate at its limit, and the steps are valid. */
static void beyond_single_precision(void) {
  static const double lengths[] = {1e-4, 1e-2, 10};
  const int brief = test_is_brief(), side = brief ? 12 : 24;
  for (int k = 0; k < 6; k++) {
    mesh_run r = {0};
    if (brief && k % 3 != 1) continue;
    if (mesh_run_open(&r, context, mesh_irregular(side, k & 1, 5), (ts_mesh_flow_desc){.solver.rtol = 1e-12}) &&
        mesh_run_steps(&r, 1, lengths[k / 2])) {
      ts_mesh_flow_result result;
      CHECK_OK(context, ts_mesh_flow_step(r.flow, r.x, lengths[k / 2], &result));
      CHECK_INT(result.substeps, 1);
      CHECK_INT(result.surface.reason, TS_REASON_STAGNATED);
      CHECK(result.surface.relative_residual <= 2 * result.surface.attainable_residual);
      CHECK(result.surface.attainable_residual < 1e-5);
    }
    mesh_run_close(&r);
  }
}

/* ---- Steps that fail ---- */

/* From now on an assembly with a factor above the limit gives a matrix that no solver can use. */
static tsi_ops limited_ops;
static tsi_mesh_ops limited_mesh_ops;
static const tsi_ops *whole_ops;
static float factor_limit;

static ts_status limited_assemble(tsi_mesh_operator *op, const ts_vector *x, float scale, float factor,
                                  float shortest) {
  return whole_ops->mesh->assemble(op, x, scale, factor / (scale * scale) > factor_limit ? NAN : factor,
                                   shortest);
}

typedef ts_status (*assemble_function)(tsi_mesh_operator *, const ts_vector *, float, float, float);

static void use_assemble(assemble_function assemble) {
  whole_ops = context->ops;
  limited_ops = *whole_ops;
  limited_mesh_ops = *whole_ops->mesh;
  limited_mesh_ops.assemble = assemble;
  limited_ops.mesh = &limited_mesh_ops;
  context->ops = &limited_ops;
}

static void limit_steps(double longest) {
  use_assemble(limited_assemble);
  factor_limit = (float)(3 * longest * 1.001);
}

static void cut_steps(void) {
  if (test_is_check()) return; /* it would report the NaN */
  const int side = test_is_brief() ? 10 : 16;
  for (int flows = 0; flows < 2; flows++) {
    const ts_mesh_flow_desc desc = {.boundary = flows ? TS_MESH_BOUNDARY_FLOW : TS_MESH_BOUNDARY_FIXED};
    mesh_run cut = {0}, by_hand = {0}, none = {0};
    ts_mesh_flow_result result;
    if (mesh_run_open(&cut, context, mesh_irregular(side, 0, 8), desc) &&
        mesh_run_open(&by_hand, context, mesh_irregular(side, 0, 8), desc)) {
      CHECK(mesh_run_steps(&by_hand, 8, 1e-3 / 8));
      limit_steps(1e-3 / 8);
      CHECK_OK(context, ts_mesh_flow_step(cut.flow, cut.x, 1e-3, &result));
      context->ops = whole_ops;
      CHECK_INT(result.substeps, 8);
      CHECK(result.smallest_time_step == 1e-3 / 8);
      CHECK_CONTAINS(result.message, "the matrix made of them, hold a NaN");
      CHECK(mesh_run_is_at(&cut, mesh_run_look(&by_hand)));

      /* The necessary step is too short: x keeps its bits, whether or not a part had succeeded. */
      limit_steps(1e-9);
      CHECK_INT(ts_mesh_flow_step(cut.flow, cut.x, 1e-3, &result), TS_NOT_CONVERGED);
      CHECK_INT(result.substeps, 0);
      CHECK_CLOSE(result.smallest_time_step, 1e-3 / 64, 1e-12);
      CHECK_CONTAINS(result.message, "the matrix made of them, hold a NaN");
      context->ops = whole_ops;
      CHECK(mesh_run_is_at(&cut, by_hand.now));
      /* The flow still works. */
      CHECK(mesh_run_steps(&cut, 1, 1e-3));
    }
    mesh_run_close(&by_hand);
    mesh_run_close(&cut);
    ts_mesh_flow_desc never = desc;
    never.max_halvings = -1;
    if (mesh_run_open(&none, context, mesh_irregular(side, 0, 8), never)) {
      limit_steps(1e-3 / 2);
      CHECK_INT(ts_mesh_flow_step(none.flow, none.x, 1e-3, &result), TS_NOT_CONVERGED);
      CHECK_INT(ts_mesh_flow_step(none.flow, none.x, 1e-3, NULL), TS_NOT_CONVERGED);
      context->ops = whole_ops;
      CHECK_INT(result.substeps, 0);
      CHECK(result.smallest_time_step == 1e-3);
      CHECK(mesh_run_is_at(&none, none.mesh.x));
    }
    mesh_run_close(&none);
  }
}

/* The first half of a divided step succeeds and the rest fails, so the half is undone. */
static int assemblies;

static ts_status tiring_assemble(tsi_mesh_operator *op, const ts_vector *x, float scale, float factor,
                                 float shortest) {
  return whole_ops->mesh->assemble(op, x, scale, ++assemblies == 1 || assemblies > 2 ? NAN : factor, shortest);
}

static void step_is_undone(void) {
  mesh_run r = {0};
  if (!test_is_check() && mesh_run_open(&r, context, mesh_irregular(16, 0, 8), (ts_mesh_flow_desc){0})) {
    ts_mesh_flow_result result;
    use_assemble(tiring_assemble);
    assemblies = 0;
    CHECK_INT(ts_mesh_flow_step(r.flow, r.x, 1e-3, &result), TS_NOT_CONVERGED);
    context->ops = whole_ops;
    CHECK_INT(result.substeps, 0);
    CHECK(assemblies > 3);
    CHECK(mesh_run_is_at(&r, r.mesh.x));
    mesh_run_close(&r);
  }
}

static int stop_at_once(const ts_progress *progress, void *user) {
  (void)progress;
  ++*(int *)user;
  return 1;
}

/* A step stopped by the user is not divided. Positions with NaN are unchanged. */
static void stopped_or_broken(void) {
  mesh_run r = {0};
  int calls = 0;
  const ts_mesh_flow_desc desc = {.solver = {.progress = stop_at_once, .progress_user = &calls, .rtol = 1e-7}};
  if (mesh_run_open(&r, context, mesh_irregular(16, 0, 8), desc)) {
    ts_mesh_flow_result result;
    const size_t floats = 3 * (size_t)r.mesh.vertices;
    CHECK_INT(ts_mesh_flow_step(r.flow, r.x, 1e-2, &result), TS_NOT_CONVERGED);
    CHECK_INT(calls, 1);
    CHECK_CONTAINS(result.message, "stopped");
    CHECK(mesh_run_is_at(&r, r.mesh.x));
    float *broken = malloc(floats * sizeof *broken);
    memcpy(broken, r.mesh.x, floats * sizeof *broken);
    broken[3 * 40 + 1] = NAN;
    CHECK_OK(context, ts_vector_write(r.x, ts_host(broken, floats)));
    CHECK_INT(ts_mesh_flow_step(r.flow, r.x, 1e-2, &result), TS_NOT_CONVERGED);
    CHECK_CONTAINS(result.message, "NaN");
    CHECK_INT(calls, 1);
    CHECK(mesh_run_is_at(&r, broken));
    free(broken);
  }
  mesh_run_close(&r);
}

TEST_MAIN(CASES_IN_CONTEXT(assemble_and_solve, few_iterations, beyond_single_precision, cut_steps,
                           step_is_undone, stopped_or_broken))
