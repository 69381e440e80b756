/* The values of a mesh operator's matrix, computed row by row, and M x - A x. */
#include <string.h>

#include "mesh/mesh_operator.h"
#include "mesh/mesh_row.h"
#include "cpu/core/cpu.h"

TSI_MESH_OPERATIONS(TSI_PROTOTYPE, TSI_PROTOTYPE, cpu_mesh_)

/* The third vertices of the triangles at every entry. Both are NULL for a curve. */
typedef struct cpu_mesh {
  int32_t *previous, *next;
  size_t bytes;
} cpu_mesh;

typedef struct mesh_job {
  cpu_matrix *m;
  tsi_mesh_rows rows;
  float *g;
} mesh_job;

static void body_assemble(const void *arguments, size_t first, size_t last) {
  const mesh_job *job = arguments;
  const cpu_matrix *m = job->m;
  for (int32_t i = m->part_rows[first]; i < m->part_rows[last]; i++)
    tsi_mesh_fill_row(&job->rows, i, m->values);
}

static void body_force(const void *arguments, size_t first, size_t last) {
  const mesh_job *job = arguments;
  const cpu_matrix *m = job->m;
  for (int32_t i = m->part_rows[first]; i < m->part_rows[last]; i++) {
    double sum[3] = {0, 0, 0};
    for (int32_t e = m->row_offsets[i]; e < m->row_offsets[i + 1]; e++) {
      const tsi_mesh_vec3 u = tsi_mesh_difference(job->rows.x, i, m->column_indices[e]);
      const double a = m->values[e];
      sum[0] += a * u.x, sum[1] += a * u.y, sum[2] += a * u.z;
    }
    for (int c = 0; c < 3; c++) job->g[3 * (size_t)i + (size_t)c] = (float)(job->rows.scale * sum[c]);
  }
}

/* ---- Operations ---- */

static void cpu_mesh_run(const tsi_mesh_operator *op, tsi_body body, size_t cost_of_entry, mesh_job *job) {
  const cpu_mesh *mesh = op->impl;
  job->m = op->matrix->impl;
  job->rows.offsets = job->m->row_offsets;
  job->rows.columns = job->m->column_indices;
  job->rows.previous = mesh->previous;
  job->rows.next = mesh->next;
  const size_t parts = (size_t)job->m->parts, entries = (size_t)job->m->row_offsets[job->m->rows];
  cpu_for(op->context, parts, cost_of_entry * entries / parts, body, job);
}

ts_status cpu_mesh_assemble(tsi_mesh_operator *op, const ts_vector *x, float scale, float factor,
                            float shortest) {
  const tsi_mesh_rows rows = {.x = cpu_data(x), .scale = scale, .factor = factor, .shortest = shortest};
  cpu_mesh_run(op, body_assemble, 48, &(mesh_job){.rows = rows});
  cpu_dia_outdate(op->matrix->impl);
  return TS_OK;
}

ts_status cpu_mesh_force(ts_vector *g, const tsi_mesh_operator *op, const ts_vector *x, float scale) {
  cpu_mesh_run(op, body_force, 4, &(mesh_job){.rows = {.x = cpu_data(x), .scale = scale}, .g = cpu_data(g)});
  return TS_OK;
}

static void release(ts_context *context, cpu_mesh *mesh) {
  tsi_free(context, mesh->previous);
  tsi_free(context, mesh->next);
  tsi_free(context, mesh);
}

ts_status cpu_mesh_create(tsi_mesh_operator *op, const tsi_mesh_packed *packed) {
  ts_context *context = op->context;
  const tsi_mesh_pattern *pattern = packed->pattern;
  const size_t entries = (size_t)pattern->row_offsets[pattern->rows];
  const size_t bytes = pattern->next ? 2 * entries * sizeof(int32_t) : 0;
  TSI_TRY(tsi_device_alloc(context, bytes, "a mesh"));
  cpu_mesh *mesh = tsi_calloc(context, 1, sizeof *mesh);
  if (mesh && pattern->next) {
    mesh->previous = tsi_malloc(context, entries, sizeof *mesh->previous);
    mesh->next = tsi_malloc(context, entries, sizeof *mesh->next);
  }
  if (!mesh || (pattern->next && (!mesh->previous || !mesh->next))) {
    if (mesh) release(context, mesh);
    tsi_device_free(context, bytes);
    return tsi_out_of_memory(context, "a mesh", bytes);
  }
  mesh->bytes = bytes;
  if (pattern->next) {
    memcpy(mesh->previous, pattern->previous, entries * sizeof *mesh->previous);
    memcpy(mesh->next, pattern->next, entries * sizeof *mesh->next);
  }
  op->impl = mesh;
  return TS_OK;
}

void cpu_mesh_destroy(tsi_mesh_operator *op) {
  cpu_mesh *mesh = op->impl;
  tsi_device_free(op->context, mesh->bytes);
  release(op->context, mesh);
  op->impl = NULL;
}

const tsi_mesh_ops cpu_mesh_ops = {TSI_MESH_OPERATIONS(TSI_ENTRY, TSI_ENTRY, cpu_mesh_)};
