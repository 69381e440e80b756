/* The matrix values of a mesh operator, and M x - A x. Neighbouring threads share a row. Numbers are in double
 * precision until they are stored; that costs less than the loads of the positions. */
#include "mesh/mesh_operator.h"

#include "cuda/matrix/cuda_rows.cuh"

extern "C" {
TSI_MESH_OPERATIONS(TSI_PROTOTYPE, TSI_PROTOTYPE, cuda_mesh_)
}

typedef struct cuda_mesh {
  int32_t rows;
  size_t entries;
  const int32_t *row_offsets, *columns; /* the pattern, which is the matrix's own if it is stored as csr */
  int32_t *own_offsets, *own_columns, *places;
  int32_t *previous, *next; /* third vertices of the triangles at every entry; NULL for a curve */
} cuda_mesh;

typedef struct mesh_job {
  const float *x;
  double scale, factor, shortest; /* factor and shortest: in units of length after `scale` */
} mesh_job;

enum { LOG2_SUBWARP = 3, SUBWARP = 1 << LOG2_SUBWARP };

/* ---- Triangles ---- */

struct vec3 {
  double x, y, z;
};

static __device__ __forceinline__ vec3 position(const float *x, int32_t i) {
  const float *p = x + 3 * (size_t)i;
  return {p[0], p[1], p[2]};
}

static __device__ __forceinline__ vec3 difference(const vec3 &p, const vec3 &q) {
  return {p.x - q.x, p.y - q.y, p.z - q.z};
}

static __device__ __forceinline__ double dot(const vec3 &u, const vec3 &v) {
  return u.x * v.x + u.y * v.y + u.z * v.z;
}

/* |u x v|: twice the area of a triangle. */
static __device__ __forceinline__ double cross_length(const vec3 &u, const vec3 &v) {
  const vec3 n = {u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x};
  return sqrt(dot(n, n));
}

/* The cotangent of the angle at b; see include/texsolve/mesh.h for its floor. */
static __device__ double cotangent(const vec3 &a, const vec3 &b, const vec3 &c) {
  const vec3 u = difference(a, b), v = difference(c, b), w = difference(a, c);
  const double least = 1e-3 * (dot(u, u) + dot(v, v) + dot(w, w)), sine = cross_length(u, v);
  const double over = sine > least ? sine : least;
  return over != 0 ? dot(u, v) / over : 0;
}

/* ---- Entries ---- */

struct mesh_entry {
  float value; /* a_ij */
  double mass; /* contribution to m_i */
};

static __device__ __forceinline__ mesh_entry surface_entry(const mesh_job &job, int32_t i, int32_t j,
                                                           int32_t previous, int32_t next) {
  /* The order is independent of the direction of an edge, so both of its entries have the same bits. */
  const bool upper = i < j;
  const vec3 low = position(job.x, upper ? i : j), high = position(job.x, upper ? j : i);
  const vec3 first = position(job.x, upper ? previous : next),
             second = position(job.x, upper ? next : previous);
  const double sum = cotangent(low, first, high) + cotangent(low, second, high);
  const vec3 &own = upper ? low : high, &other = upper ? high : low, &third = upper ? first : second;
  return {(float)(-job.factor * sum),
          2 * job.scale * job.scale * cross_length(difference(third, own), difference(other, own))};
}

static __device__ __forceinline__ mesh_entry curve_entry(const mesh_job &job, int32_t i, int32_t j) {
  const vec3 u = difference(position(job.x, i), position(job.x, j));
  const double length = job.scale * sqrt(dot(u, u));
  return {(float)(-job.factor / (length > job.shortest ? length : job.shortest)), length};
}

/* ---- Rows ---- */

/* The position of an entry's value. */
static __device__ __forceinline__ int32_t place(const cuda_mesh &mesh, int32_t entry) {
  return mesh.places ? mesh.places[entry] : entry;
}

__global__ static void assemble(const cuda_mesh mesh, float *values, const mesh_job job) {
  const int64_t row = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) >> LOG2_SUBWARP;
  const int lane = threadIdx.x & (SUBWARP - 1);
  const int32_t i = (int32_t)row;
  int32_t diagonal = -1;
  double sum[1] = {0};
  if (row < mesh.rows)
    for (int32_t e = mesh.row_offsets[i] + lane; e < mesh.row_offsets[i + 1]; e += SUBWARP) {
      const int32_t j = mesh.columns[e];
      if (j == i) {
        diagonal = e;
        continue;
      }
      const mesh_entry a =
          mesh.next ? surface_entry(job, i, j, mesh.previous[e], mesh.next[e]) : curve_entry(job, i, j);
      values[place(mesh, e)] = a.value;
      sum[0] += a.mass - a.value;
    }
  cuda_subwarp_sum<1>(LOG2_SUBWARP, sum);
  if (diagonal >= 0) values[place(mesh, diagonal)] = sum[0] == 0 ? 1 : (float)sum[0];
}

__global__ static void force(const cuda_mesh mesh, const float *values, const float *x, double scale,
                             float *g) {
  const int64_t row = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) >> LOG2_SUBWARP;
  const int lane = threadIdx.x & (SUBWARP - 1);
  double sum[3] = {0, 0, 0};
  if (row < mesh.rows) {
    const vec3 own = position(x, (int32_t)row);
    for (int32_t e = mesh.row_offsets[row] + lane; e < mesh.row_offsets[row + 1]; e += SUBWARP) {
      const vec3 u = difference(own, position(x, mesh.columns[e]));
      const double a = values[place(mesh, e)];
      sum[0] += a * u.x, sum[1] += a * u.y, sum[2] += a * u.z;
    }
  }
  cuda_subwarp_sum<3>(LOG2_SUBWARP, sum);
  if (row < mesh.rows && lane < 3)
    g[3 * row + lane] = (float)(scale * (lane == 0 ? sum[0] : lane == 1 ? sum[1] : sum[2]));
}

/* ---- Operations ---- */

static cuda_mesh *mesh_of(const tsi_mesh_operator *op) {
  return (cuda_mesh *)op->impl;
}

ts_status cuda_mesh_assemble(tsi_mesh_operator *op, const ts_vector *x, float scale, float factor,
                             float shortest) {
  const cuda_mesh &mesh = *mesh_of(op);
  const mesh_job job = {cuda_data(x), scale, factor, shortest};
  enum { threads = 128 };
  const unsigned blocks = cuda_blocks_for((size_t)mesh.rows * SUBWARP, threads);
  TSI_TRY(cuda_launch(op->context, "assemble", assemble, blocks, threads, mesh,
                      cuda_matrix_of(op->matrix)->values, job));
  return TS_OK;
}

ts_status cuda_mesh_force(ts_vector *g, const tsi_mesh_operator *op, const ts_vector *x, float scale) {
  const cuda_mesh &mesh = *mesh_of(op);
  const unsigned blocks = cuda_blocks_for((size_t)mesh.rows * SUBWARP);
  TSI_TRY(cuda_launch(op->context, "force", force, blocks, CUDA_THREADS, mesh,
                      cuda_matrix_of(op->matrix)->values, cuda_data(x), scale, cuda_data(g)));
  return TS_OK;
}

static ts_status copy(ts_context *context, int32_t **to, const int32_t *from, size_t count) {
  return from ? cuda_alloc_copy(context, (void **)to, from, count * sizeof *from, "a mesh") : TS_OK;
}

static ts_status create(tsi_mesh_operator *op, const tsi_mesh_packed *packed) {
  ts_context *context = op->context;
  cuda_mesh *mesh = mesh_of(op);
  const tsi_mesh_pattern *pattern = packed->pattern;
  mesh->rows = pattern->rows;
  mesh->entries = (size_t)pattern->row_offsets[pattern->rows];
  TSI_TRY(copy(context, &mesh->previous, pattern->previous, mesh->entries));
  TSI_TRY(copy(context, &mesh->next, pattern->next, mesh->entries));
  if (!packed->places) {
    mesh->row_offsets = cuda_matrix_of(op->matrix)->csr.row_offsets;
    mesh->columns = cuda_matrix_of(op->matrix)->csr.columns;
    return TS_OK;
  }
  TSI_TRY(copy(context, &mesh->places, packed->places, mesh->entries));
  TSI_TRY(copy(context, &mesh->own_offsets, pattern->row_offsets, (size_t)mesh->rows + 1));
  TSI_TRY(copy(context, &mesh->own_columns, pattern->columns, mesh->entries));
  mesh->row_offsets = mesh->own_offsets;
  mesh->columns = mesh->own_columns;
  return TS_OK;
}

ts_status cuda_mesh_create(tsi_mesh_operator *op, const tsi_mesh_packed *packed) {
  op->impl = tsi_calloc(op->context, 1, sizeof(cuda_mesh));
  if (!op->impl) return tsi_out_of_memory(op->context, "a mesh", sizeof(cuda_mesh));
  const ts_status status = create(op, packed);
  if (status < 0) cuda_mesh_destroy(op);
  return status;
}

void cuda_mesh_destroy(tsi_mesh_operator *op) {
  ts_context *context = op->context;
  cuda_mesh *mesh = mesh_of(op);
  const size_t bytes = mesh->entries * sizeof(int32_t);
  cuda_free(context, mesh->previous, bytes);
  cuda_free(context, mesh->next, bytes);
  cuda_free(context, mesh->places, bytes);
  cuda_free(context, mesh->own_columns, bytes);
  cuda_free(context, mesh->own_offsets, ((size_t)mesh->rows + 1) * sizeof(int32_t));
  tsi_free(context, mesh);
  op->impl = NULL;
}

const tsi_mesh_ops cuda_mesh_ops = {TSI_MESH_OPERATIONS(TSI_ENTRY, TSI_ENTRY, cuda_mesh_)};
