/* The operation tables of the backends: each has all required operations, and the check backend wraps all that
 * it should. */
#include "check/core/check.h"
#include "test.h"

/* `ops` is the table that is checked, `inner` the table that it wraps. */
#define IS_THERE(prefix, result, name, parameters) CHECK(ops->name != NULL);
#define IS_WATCHED(prefix, result, name, parameters) CHECK(ops->name != inner->name);

static void tables_are_complete(const tsi_ops *table) {
  {
    const tsi_ops *ops = table;
    TSI_CORE_OPERATIONS(IS_THERE, IS_THERE, TSI_OMIT, )
  }
  if (table->cg) {
    const tsi_cg_ops *ops = table->cg;
    TSI_CG_OPERATIONS(IS_THERE, TSI_OMIT, )
    CHECK(!ops->fits == !ops->iterate);
  }
  if (table->grid) {
    const tsi_grid_ops *ops = table->grid;
    TSI_GRID_OPERATIONS(IS_THERE, IS_THERE, TSI_OMIT, )
  }
  if (table->mesh) {
    const tsi_mesh_ops *ops = table->mesh;
    TSI_MESH_OPERATIONS(IS_THERE, IS_THERE, )
  }
  if (table->fluid) {
    const tsi_fluid_ops *ops = table->fluid;
    TSI_FLUID_OPERATIONS(IS_THERE, )
  }
}

static void required(void) {
  tables_are_complete(&tsi_cpu_ops);
#ifdef TEXSOLVE_HAVE_GL
  tables_are_complete(&tsi_gl_ops);
#endif
#ifdef TEXSOLVE_HAVE_CUDA
  tables_are_complete(&tsi_cuda_ops);
#endif
}

static void watched(void) {
  const ts_context_desc desc = {.backend = "check:cpu"};
  ts_context *context = NULL;
  REQUIRE_OK(NULL, ts_context_create(&desc, &context));
  const tsi_ops *table = context->ops, *wrapped = tsi_check_inner(context);
  tables_are_complete(table);
  {
    const tsi_ops *ops = table, *inner = wrapped;
    TSI_CORE_OPERATIONS(IS_WATCHED, TSI_OMIT, TSI_OMIT, )
    CHECK(ops->dot3 != inner->dot3 && ops->dots == NULL);
  }
  {
    const tsi_grid_ops *ops = table->grid, *inner = wrapped->grid;
    TSI_GRID_OPERATIONS(IS_WATCHED, TSI_OMIT, TSI_OMIT, )
  }
  {
    const tsi_mesh_ops *ops = table->mesh, *inner = wrapped->mesh;
    TSI_MESH_OPERATIONS(IS_WATCHED, TSI_OMIT, )
  }
  {
    const tsi_fluid_ops *ops = table->fluid, *inner = wrapped->fluid;
    TSI_FLUID_OPERATIONS(IS_WATCHED, )
  }
  ts_context_destroy(&context);
}

TEST_MAIN_ON_HOST(CASES(required, watched))
