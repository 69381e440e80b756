/* The CPU as one part of a multi-device backend. Ghosts are ordinary host memory. */
#include "cpu.h"
#include "multi/part.h"

typedef struct index_list {
  int32_t count;
  int32_t indices[];
} index_list;

static ts_status cpu_part_list_create(ts_context *context, const int32_t *indices, int32_t first, int32_t count,
                                      int32_t size, void **list) {
  (void)size;
  const size_t bytes = sizeof(index_list) + (size_t)count * sizeof *indices;
  index_list *made = tsi_malloc(context, bytes, 1);
  if (!made) return tsi_out_of_memory(context, "a list of indices", bytes);
  made->count = count;
  for (int32_t k = 0; k < count; k++) made->indices[k] = indices ? indices[k] : first + k;
  *list = made;
  return TS_OK;
}

static void cpu_part_list_destroy(ts_context *context, void *list) {
  tsi_free(context, list);
}

static float *cpu_part_ghosts(const ts_vector *x) {
  return cpu_data(x) + (size_t)tsi_first_ghost(x->space) * (size_t)x->components;
}

typedef struct gather_job {
  const index_list *list;
  const float *x;
  float *to;
  size_t components;
} gather_job;

static void body_gather(const void *arguments, size_t first, size_t last) {
  const gather_job *job = arguments;
  const size_t n = job->components;
  for (size_t k = first; k < last; k++)
    for (size_t c = 0; c < n; c++) job->to[k * n + c] = job->x[(size_t)job->list->indices[k] * n + c];
}

static ts_status cpu_part_gather(const ts_vector *x, const void *list, float *to) {
  const gather_job job = {list, cpu_data(x), to, (size_t)x->components};
  cpu_for(x->context, (size_t)job.list->count, 2 * job.components, body_gather, &job);
  return TS_OK;
}

static int cpu_part_has_interior(const ts_matrix *A) {
  const cpu_matrix *m = A->impl;
  return m->interior > 0;
}

const tsi_part_ops cpu_part_ops = {TSI_PART_OPERATIONS(TSI_ENTRY, TSI_OMIT, cpu_part_).has_interior =
                                       cpu_part_has_interior};
