/* The operation table of the CPU backend, and opening it. */
#include <stdio.h>
#include <string.h>

#include "cpu.h"

#ifdef __linux__

/* The processor name as reported by the system. */
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

/* The host's memory as reported by the system. */
static size_t read_memory(void) {
  unsigned long long kib = 0;
  FILE *file = fopen("/proc/meminfo", "r");
  if (!file) return 0;
  if (fscanf(file, "MemTotal: %llu kB", &kib) != 1) kib = 0;
  fclose(file);
  return (size_t)kib * 1024;
}

#else

static void read_device_name(char *name, size_t size) {
#ifdef __EMSCRIPTEN__
  snprintf(name, size, "WebAssembly");
#else
  snprintf(name, size, "CPU");
#endif
}

static size_t read_memory(void) {
  return 0; /* unknown */
}

#endif

static const char *instruction_set(void) {
#ifdef CPU_IS_CLONED
  if (__builtin_cpu_supports("avx512f")) return "AVX-512";
  if (__builtin_cpu_supports("avx2")) return "AVX2";
#endif
#ifdef __wasm_simd128__
  return "128-bit SIMD";
#endif
  return "baseline instructions";
}

ts_status cpu_open(ts_context *context) {
  /* Only "cpu:0" exists. */
  if (context->device_index > 0)
    return tsi_fail(context, TS_ERROR_UNAVAILABLE, "device %d of backend cpu: there is only device 0",
                    context->device_index);
  cpu_state *state = tsi_calloc(context, 1, sizeof *state);
  if (!state) return tsi_out_of_memory(context, "the CPU backend", sizeof *state);
  context->backend = state;
  const ts_status status = tsi_threads(context, &state->threads);
  if (status < 0) {
    tsi_free(context, state);
    return status;
  }

  tsi_caps *caps = &context->caps;
  *caps = (tsi_caps){
      .csr_on_host = 1,
      .pairs = 1,
      .is_hardware = 1,
      .linear_spaces = 1,
      .rectangle_width = 1,
      .rectangle_height = 1,
      .formats = 0 TSI_CPU_FORMATS(TSI_FORMAT_BIT),
      .threads = state->threads,
      .bytes_total = read_memory(),
      .grid_storages = 1u << TS_GRID_STORAGE_PARITIES,
      .pointwise_storage = TS_GRID_STORAGE_PARITIES,
  };
  context->tuning = tsi_tuning_cpu;
  read_device_name(caps->device, sizeof caps->device);
  snprintf(caps->driver, sizeof caps->driver, "%d thread%s, %s", state->threads, state->threads == 1 ? "" : "s",
           instruction_set());
  return TS_OK;
}

void cpu_close(ts_context *context) {
  cpu_state *state = cpu_state_of(context);
  tsi_free(context, state->partials);
  tsi_free(context, state);
  context->backend = NULL;
}

ts_status cpu_enter(ts_context *context) {
  (void)context;
  return TS_OK;
}

void cpu_leave(ts_context *context) {
  (void)context;
}

/* Every operation is complete when it returns. */
ts_status cpu_finish(ts_context *context) {
  (void)context;
  return TS_OK;
}

const tsi_ops tsi_cpu_ops = {.dot3 = cpu_dot3,
                             .axpy2 = cpu_axpy2,
                             .axpy2_dot = cpu_axpy2_dot,
                             .multiply_add = cpu_multiply_add,
                             .matrix_refer = cpu_matrix_refer,
                             .grid = &cpu_grid_ops,
                             .mesh = &cpu_mesh_ops,
                             .fluid = &cpu_fluid_ops,
                             .lcp = &cpu_lcp_ops,
                             .part = &cpu_part_ops,
                             .amg_part = &cpu_amg_part_ops,
                             TSI_CORE_OPERATIONS(TSI_ENTRY, TSI_ENTRY, TSI_OMIT, cpu_)};
