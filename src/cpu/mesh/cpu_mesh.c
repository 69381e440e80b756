/* The values of a mesh operator's matrix, row by row, and M x - A x. Numbers are in double until they are
 * stored: they cost less than the positions take to arrive. */
#include <math.h>
#include <string.h>

#include "mesh/mesh_operator.h"
#include "cpu/core/cpu.h"

TSI_MESH_OPERATIONS(TSI_PROTOTYPE, TSI_PROTOTYPE, cpu_mesh_)

/* Third vertices of the triangles at every entry; both NULL for a curve. */
typedef struct cpu_mesh {
  int32_t *previous, *next;
  size_t bytes;
} cpu_mesh;

typedef struct mesh_job {
  cpu_matrix *m;
  const cpu_mesh *mesh;
  const float *x;
  float *g;
  double scale, factor, shortest; /* of assembly: the last two in the unit of lengths that `scale` makes */
} mesh_job;

/* ---- Triangles ---- */

typedef struct vec3 {
  double x, y, z;
} vec3;

CPU_INLINE vec3 difference(const float *x, int32_t a, int32_t b) {
  const float *p = x + 3 * (size_t)a, *q = x + 3 * (size_t)b;
  return (vec3){(double)p[0] - q[0], (double)p[1] - q[1], (double)p[2] - q[2]};
}

CPU_INLINE double dot(vec3 u, vec3 v) {
  return u.x * v.x + u.y * v.y + u.z * v.z;
}

/* |u x v|: twice the area of a triangle. */
CPU_INLINE double cross_length(vec3 u, vec3 v) {
  const vec3 n = {u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x};
  return sqrt(dot(n, n));
}

/* The cotangent of the angle at b; see include/texsolve/mesh.h for its floor. */
CPU_INLINE double cotangent(const float *x, int32_t a, int32_t b, int32_t c) {
  const vec3 u = difference(x, a, b), v = difference(x, c, b), w = difference(x, a, c);
  const double least = 1e-3 * (dot(u, u) + dot(v, v) + dot(w, w)), sine = cross_length(u, v);
  const double over = sine > least ? sine : least;
  return over != 0 ? dot(u, v) / over : 0;
}

/* ---- Rows: entries, and the diagonal in its place among them ---- */

typedef struct entry {
  float value; /* a_ij */
  double mass; /* what the entry adds to m_i */
} entry;

CPU_INLINE entry surface_entry(const mesh_job *job, int32_t i, int32_t j, int32_t e) {
  const float *x = job->x;
  const int32_t p = job->mesh->previous[e], n = job->mesh->next[e];
  /* In one order for both entries of an edge, so that they come to the same bits. */
  const double sum =
      i < j ? cotangent(x, i, p, j) + cotangent(x, i, n, j) : cotangent(x, j, n, i) + cotangent(x, j, p, i);
  return (entry){(float)(-job->factor * sum),
                 2 * job->scale * job->scale * cross_length(difference(x, p, i), difference(x, j, i))};
}

CPU_INLINE entry curve_entry(const mesh_job *job, int32_t i, int32_t j) {
  const vec3 u = difference(job->x, i, j);
  const double length = job->scale * sqrt(dot(u, u));
  return (entry){(float)(-job->factor / (length > job->shortest ? length : job->shortest)), length};
}

static void body_assemble(const void *arguments, size_t first, size_t last) {
  const mesh_job *job = arguments;
  cpu_matrix *m = job->m;
  for (int32_t i = m->part_rows[first]; i < m->part_rows[last]; i++) {
    const int32_t begin = m->row_offsets[i], end = m->row_offsets[i + 1];
    if (begin == end) continue;
    int32_t diagonal = begin;
    double sum = 0;
    for (int32_t e = begin; e < end; e++) {
      const int32_t j = m->column_indices[e];
      if (j == i) {
        diagonal = e;
        continue;
      }
      const entry a = job->mesh->next ? surface_entry(job, i, j, e) : curve_entry(job, i, j);
      m->values[e] = a.value;
      sum += a.mass - a.value;
    }
    m->values[diagonal] = sum == 0 ? 1 : (float)sum;
  }
}

static void body_force(const void *arguments, size_t first, size_t last) {
  const mesh_job *job = arguments;
  const cpu_matrix *m = job->m;
  for (int32_t i = m->part_rows[first]; i < m->part_rows[last]; i++) {
    double sum[3] = {0, 0, 0};
    for (int32_t e = m->row_offsets[i]; e < m->row_offsets[i + 1]; e++) {
      const vec3 u = difference(job->x, i, m->column_indices[e]);
      const double a = m->values[e];
      sum[0] += a * u.x, sum[1] += a * u.y, sum[2] += a * u.z;
    }
    for (int c = 0; c < 3; c++) job->g[3 * (size_t)i + (size_t)c] = (float)(job->scale * sum[c]);
  }
}

/* ---- Operations ---- */

static void run(const tsi_mesh_operator *op, tsi_body body, size_t cost_of_entry, mesh_job *job) {
  job->m = op->matrix->impl;
  job->mesh = op->impl;
  const size_t parts = (size_t)job->m->parts, entries = (size_t)job->m->row_offsets[job->m->rows];
  cpu_for(op->context, parts, cost_of_entry * entries / parts, body, job);
}

ts_status cpu_mesh_assemble(tsi_mesh_operator *op, const ts_vector *x, float scale, float factor,
                            float shortest) {
  run(op, body_assemble, 48,
      &(mesh_job){.x = cpu_data(x), .scale = scale, .factor = factor, .shortest = shortest});
  return TS_OK;
}

ts_status cpu_mesh_force(ts_vector *g, const tsi_mesh_operator *op, const ts_vector *x, float scale) {
  run(op, body_force, 4, &(mesh_job){.x = cpu_data(x), .g = cpu_data(g), .scale = scale});
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
  TSI_TRY(tsi_device_take(context, bytes, "a mesh"));
  cpu_mesh *mesh = tsi_calloc(context, 1, sizeof *mesh);
  if (mesh && pattern->next) {
    mesh->previous = tsi_malloc(context, entries, sizeof *mesh->previous);
    mesh->next = tsi_malloc(context, entries, sizeof *mesh->next);
  }
  if (!mesh || (pattern->next && (!mesh->previous || !mesh->next))) {
    if (mesh) release(context, mesh);
    tsi_device_give(context, bytes);
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
  tsi_device_give(op->context, mesh->bytes);
  release(op->context, mesh);
  op->impl = NULL;
}

const tsi_mesh_ops cpu_mesh_ops = {TSI_MESH_OPERATIONS(TSI_ENTRY, TSI_ENTRY, cpu_mesh_)};
