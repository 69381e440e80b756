/* The table of the CPU backend, and opening it. */
#include <stdio.h>
#include <string.h>

#include "cpu.h"
#include "cpu_cores.h"
#include "cpu/grid/cpu_level.h"
#include "cpu/grid/cpu_grid.h"

/* The processor's name as Linux tells it; "CPU" elsewhere. */
static void read_device_name(char *name, size_t size) {
  snprintf(name, size, "CPU");
  FILE *file = fopen("/proc/cpuinfo", "r");
  if (!file) return;
  char line[256];
  while (fgets(line, sizeof line, file)) {
    const char *colon = strchr(line, ':');
    if (strncmp(line, "model name", 10) != 0 || !colon) continue;
    const char *text = colon + 1 + strspn(colon + 1, " \t");
    const size_t length = strcspn(text, "\n");
    if (length > 0) snprintf(name, size, "%.*s", (int)(length < size ? length : size - 1), text);
    break;
  }
  fclose(file);
}

static const char *instruction_set(void) {
#ifdef CPU_IS_CLONED
  if (__builtin_cpu_supports("avx512f")) return "AVX-512";
  if (__builtin_cpu_supports("avx2")) return "AVX2";
#endif
  return "baseline instructions";
}

static ts_status cpu_open(ts_context *context) {
  /* "cpu:0" is the CPU; there is no second one. */
  if (context->device_index > 0)
    return tsi_fail(context, TS_ERROR_UNAVAILABLE, "device %d of backend cpu: there is only device 0",
                    context->device_index);
  cpu_state *state = tsi_calloc(context, 1, sizeof *state);
  if (!state) return tsi_out_of_memory(context, "the CPU backend", sizeof *state);
  state->threads = context->desc.threads > 0 ? context->desc.threads : cpu_default_threads();
  context->backend = state;
#ifdef TEXSOLVE_HAVE_THREADS
  const ts_status status = state->threads > 1 ? cpu_pool_create(context, state->threads, &state->pool) : TS_OK;
  if (status < 0) {
    tsi_free(context, state);
    return status;
  }
#else
  state->threads = 1;
#endif

  tsi_caps *caps = &context->caps;
  *caps = (tsi_caps){
      .is_hardware = 1,
      .max_texture_size = 0,
      .rectangle_width = 1,
      .rectangle_height = 1,
      .formats = 1u << TS_FORMAT_CSR | 1u << TS_FORMAT_BCRS2 | 1u << TS_FORMAT_BCRS4,
      .check_interval = 1,
      .check_overlap = 0,
      .threads = state->threads,
      .grid_storages = 1u << TS_GRID_STORAGE_PARITIES,
      .pointwise_storage = TS_GRID_STORAGE_PARITIES,
  };
  read_device_name(caps->device, sizeof caps->device);
  snprintf(caps->driver, sizeof caps->driver, "%d thread%s, %s", state->threads, state->threads == 1 ? "" : "s",
           instruction_set());
  return TS_OK;
}

static void cpu_close(ts_context *context) {
  cpu_state *state = cpu_state_of(context);
#ifdef TEXSOLVE_HAVE_THREADS
  cpu_pool_destroy(context, &state->pool);
#endif
  tsi_free(context, state->partials);
  tsi_free(context, state);
  context->backend = NULL;
}

/* Every operation is done when it returns. */
static ts_status cpu_finish(ts_context *context) {
  (void)context;
  return TS_OK;
}

const tsi_ops tsi_cpu_ops = {
    .open = cpu_open,
    .close = cpu_close,
    .finish = cpu_finish,
    .vector_create = cpu_vector_create,
    .vector_destroy = cpu_vector_destroy,
    .vector_write = cpu_vector_write,
    .vector_read = cpu_vector_read,
    .scalars_create = cpu_scalars_create,
    .scalars_destroy = cpu_scalars_destroy,
    .scalars_write = cpu_scalars_write,
    .scalars_normalise = cpu_scalars_normalise,
    .scalars_read_begin = cpu_scalars_read_begin,
    .scalars_read_end = cpu_scalars_read_end,
    .fill = cpu_fill,
    .axpby = cpu_axpby,
    .multiply = cpu_multiply,
    .reciprocal = cpu_reciprocal,
    .free_rows = cpu_free_rows,
    .reduce = cpu_reduce,
    .matrix_create = cpu_matrix_create,
    .matrix_write = cpu_matrix_write,
    .matrix_destroy = cpu_matrix_destroy,
    .spmv = cpu_spmv,
    .residual = cpu_residual,
    .diagonal = cpu_diagonal,
    /* Fused: each saves passes over memory. */
    .dot3 = cpu_dot3,
    .axpy2 = cpu_axpy2,
    .multiply_add = cpu_multiply_add,
    /* Meshes. */
    .mesh_create = cpu_mesh_create,
    .mesh_destroy = cpu_mesh_destroy,
    .mesh_assemble = cpu_mesh_assemble,
    .mesh_force = cpu_mesh_force,
    /* Grids. */
    .stencil_create = cpu_stencil_create,
    .stencil_write = cpu_stencil_write,
    .stencil_read = cpu_stencil_read,
    .stencil_residual = cpu_stencil_residual,
    .add_to_pair = cpu_add_to_pair,
    .level_create = cpu_level_create,
    .level_destroy = cpu_level_destroy,
    .level_prepare = cpu_level_prepare,
    .level_coarsen = cpu_level_coarsen,
    .level_read = cpu_level_read,
    .level_set_inverse = cpu_level_set_inverse,
    .level_coarse_solve = cpu_level_coarse_solve,
    .level_load = cpu_level_load,
    .level_store = cpu_level_store,
    .level_clear = cpu_level_clear,
    .level_smooth = cpu_level_smooth,
    .level_restrict_residual = cpu_level_restrict_residual,
    .level_restrict = cpu_level_restrict,
    .level_inject = cpu_level_inject,
    .level_prolong = cpu_level_prolong,
    /* Fluids. */
    .fluid_advect = cpu_fluid_advect,
    .fluid_correct = cpu_fluid_correct,
    .fluid_vorticity = cpu_fluid_vorticity,
    .fluid_forces = cpu_fluid_forces,
    .fluid_stamp_velocity = cpu_fluid_stamp_velocity,
    .fluid_stamp_dye = cpu_fluid_stamp_dye,
    .fluid_boundary = cpu_fluid_boundary,
    .fluid_divergence = cpu_fluid_divergence,
    .fluid_project = cpu_fluid_project,
    .fluid_split = cpu_fluid_split,
    .fluid_merge = cpu_fluid_merge,
    .fluid_transport = cpu_fluid_transport,
    .fluid_particles = cpu_fluid_particles,
    .fluid_speed = cpu_fluid_speed,
};
