/* Opens and closes the check backend around another one. */
#include <stdlib.h>
#include <string.h>

#include "check.h"

tsi_check_counts *tsi_check_counts_of(const ts_context *context) {
  return context && context->check ? &check_state_of(context)->counts : NULL;
}

const tsi_ops *tsi_check_inner(const ts_context *context) {
  return context->check ? check_state_of(context)->inner : context->ops;
}

typedef struct inner_backend {
  const char *name;
  const tsi_ops *ops;
} inner_backend;

static ts_status check_open(ts_context *context);

static const inner_backend inner_backends[] = {
#ifdef TEXSOLVE_HAVE_GL
    {"gl", &tsi_gl_ops},
#else
    {"gl", NULL},
#endif
    {"cpu", &tsi_cpu_ops},
#ifdef TEXSOLVE_HAVE_CUDA
    {"cuda", &tsi_cuda_ops},
#else
    {"cuda", NULL},
#endif
};

/* Finds "gl" or "gl:1" after "check:". The device index is stored in the context, where the inner backend looks
 * for it. */
static ts_status find_inner(ts_context *context, const tsi_ops **ops) {
  const char *name = strchr(context->backend_name, ':') + 1;
  const size_t length = strcspn(name, ":");
  for (size_t i = 0; i < sizeof inner_backends / sizeof inner_backends[0]; i++) {
    const inner_backend *inner = &inner_backends[i];
    if (strlen(inner->name) != length || strncmp(inner->name, name, length) != 0) continue;
    context->device_index = -1;
    if (name[length]) {
      char *end = NULL;
      const long index = strtol(name + length + 1, &end, 10);
      if (end == name + length + 1 || *end || index < 0 || index > 1000000) break;
      context->device_index = (int)index;
    }
    *ops = inner->ops;
    if (inner->ops) return TS_OK;
    return tsi_fail(context, TS_ERROR_UNAVAILABLE, "backend %s is not available: not built",
                    context->backend_name);
  }
  return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                  "unknown backend \"%s\"; check wraps gl, gl:N, cpu, cuda and cuda:N", context->backend_name);
}

static void check_close(ts_context *context) {
  check_state *state = check_state_of(context);
  state->inner->close(context);
  check_release(context, state);
  context->check = NULL;
}

/* Operations that the inner backend lacks remain NULL, so that the fallbacks behave as they would without
 * checks. */
#define CHECK_WATCH(prefix, result, name, parameters)                                                          \
  if (table->name) table->name = prefix##name;

static void watch_core(check_state *state) {
  tsi_ops *table = &state->table;
  TSI_CORE_OPERATIONS(CHECK_WATCH, TSI_OMIT, CHECK_WATCH, check_)
  table->open = check_open;
  table->close = check_close;
  table->space_destroy = check_space_destroy; /* the checks keep data for every space */
}

static void watch_cg(check_state *state) {
  tsi_cg_ops *table = &state->cg;
  *table = *state->inner->cg;
  TSI_CG_OPERATIONS(CHECK_WATCH, CHECK_WATCH, check_cg_)
  state->table.cg = table;
}

static void watch_grids(check_state *state) {
  tsi_grid_ops *table = &state->grid;
  *table = *state->inner->grid;
  TSI_GRID_OPERATIONS(CHECK_WATCH, TSI_OMIT, TSI_OMIT, check_)
  table->level_steps = NULL; /* each step is watched separately */
  state->table.grid = table;
}

static void watch_meshes(check_state *state) {
  tsi_mesh_ops *table = &state->mesh;
  *table = *state->inner->mesh;
  TSI_MESH_OPERATIONS(CHECK_WATCH, TSI_OMIT, check_mesh_)
  state->table.mesh = table;
}

static void watch_fluids(check_state *state) {
  tsi_fluid_ops *table = &state->fluid;
  *table = *state->inner->fluid;
  TSI_FLUID_OPERATIONS(CHECK_WATCH, check_fluid_)
  state->table.fluid = table;
}

static void watch_lcps(check_state *state) {
  tsi_lcp_ops *table = &state->lcp;
  *table = *state->inner->lcp;
  TSI_LCP_OPERATIONS(CHECK_WATCH, TSI_OMIT, check_lcp_)
  table->sweep_and_test = NULL; /* its parts are watched */
  state->table.lcp = table;
}

static ts_status check_open(ts_context *context) {
  const tsi_ops *inner = NULL;
  const ts_status found = find_inner(context, &inner);
  if (!inner) return found;
  check_state *state = tsi_calloc(context, 1, sizeof *state);
  if (!state) return tsi_out_of_memory(context, "the check backend", sizeof *state);
  const ts_status status = inner->open(context);
  if (status < 0) {
    tsi_free(context, state);
    return status;
  }
  state->inner = inner;
  state->table = *inner;
  state->table.amg = NULL; /* the host builds hierarchies, with watched matrices */
  state->table.ilu = NULL; /* and solves with factors */
  state->table.matrix_refer = NULL;
  watch_core(state);
  if (inner->cg) watch_cg(state);
  if (inner->grid) watch_grids(state);
  if (inner->mesh) watch_meshes(state);
  if (inner->fluid) watch_fluids(state);
  if (inner->lcp) watch_lcps(state);
  context->check = state;
  context->ops = &state->table;
  context->device_ops = inner;
  return TS_OK;
}

/* Contains only `open` and `close`: an opened context has a separate table. */
const tsi_ops tsi_check_ops = {.open = check_open, .close = check_close};
