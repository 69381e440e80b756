/* Complementarity problems on CUDA: their storage in kernels, and the block of unknowns that a warp solves.
 *
 * Rows are stored in blocks of LCP_BLOCK, or of n if a problem is smaller. Within a block, a pack has the
 * numbers of a row in a few columns, which fill 16 bytes. Packs follow each other row by row, so that
 * neighbouring threads with one row each load neighbouring packs. Columns are padded with zeros to a whole
 * pack, rows to a whole block. */
#ifndef CUDA_LCP_CUH
#define CUDA_LCP_CUH

#include "cuda/core/cuda_kernels.cuh"
#include "lcp/lcp.h"

extern "C" {
TSI_LCP_OPERATIONS(TSI_PROTOTYPE, TSI_PROTOTYPE, cuda_lcp_)
/* cuda_lcp_momentum.cu */
ts_status cuda_lcp_add_momentum(const ts_lcp *lcp, ts_vector *from, ts_vector *last, ts_vector *state,
                                double growth);
}

#define LCP_INLINE static __device__ __forceinline__

enum {
  LCP_BLOCK = 64, /* unknowns per warp: two per lane */
  LCP_THREADS = 256,
  LCP_SHARES = LCP_THREADS / LCP_BLOCK, /* threads that share a row of a tile, which has LCP_BLOCK columns */
  LCP_COLUMNS = LCP_BLOCK / LCP_SHARES, /* columns of a tile per thread */
  LCP_SLICES = 8                        /* maximum of thread blocks that share a row of the whole matrix */
};

/* The arrays of all problems, in the type of the matrices. A vector has `pitch` numbers per problem. */
template <typename T> struct lcp_data {
  T *matrix;
  T *inverse; /* of the diagonal; 1 with friction; 0 in padding rows */
  union {
    T *lower;
    T *friction; /* of each contact, repeated in all of its rows */
  };
  T *upper;
  T *z, *q;
  T *carried;              /* the known part of a row's next sweep, between two visits of its block */
  T *from, *last, *counts; /* of momentum by units (tsi_lcp_ops.sweep_ahead); NULL except for sparse contacts */
  T *sums;                 /* LCP_SLICES vectors: products of rows, in shares */
  unsigned long long *words;    /* z for other thread blocks (cuda_lcp_words.cuh) */
  int n, batch, blocks, height; /* n: rows up to the last unknown */
  size_t stride, pitch;
};

template <typename T> struct lcp_pack { static constexpr int size = 16 / sizeof(T); };

/* A run of sweeps. */
struct lcp_run {
  ts_context *context;
  ts_lcp_scheme scheme;
  int sweeps;
  int dimension, exact; /* of contacts, and their local solver */
  bool ahead;           /* sparse contacts: starts from data.from, with momentum by units */
};

/* ---- The sweeps of each scheme, in place in data.z ---- */

/* cuda_lcp_small.cu: problems of one block, one warp each. */
ts_status cuda_lcp_sweep_small(const lcp_run *run, const lcp_data<float> *data);
ts_status cuda_lcp_sweep_small(const lcp_run *run, const lcp_data<double> *data);
/* cuda_lcp_steps.cu: by rows, columns and blocks. */
ts_status cuda_lcp_sweep_steps(const lcp_run *run, const lcp_data<float> *data);
ts_status cuda_lcp_sweep_steps(const lcp_run *run, const lcp_data<double> *data);
/* cuda_lcp_graph.cu: by the dependency graph, and relaxed. */
ts_status cuda_lcp_sweep_graph(const lcp_run *run, const lcp_data<float> *data);
ts_status cuda_lcp_sweep_graph(const lcp_run *run, const lcp_data<double> *data);

/* cuda_lcp_product.cu: sums = the products of all rows with z, in `slices` shares. If `behind`, only the
 * columns after a row's block are included. */
ts_status cuda_lcp_product(ts_context *context, const lcp_data<float> *data, bool behind, int *slices);
ts_status cuda_lcp_product(ts_context *context, const lcp_data<double> *data, bool behind, int *slices);

/* ---- Vectors of the context, in single precision or as pairs ---- */

struct lcp_vector {
  float *part[3]; /* NULL: 0 */
};

static inline lcp_vector lcp_vector_of(const ts_vector *v) {
  const ts_vector *low = v->low, *third = low ? low->low : NULL;
  return {{cuda_data(v), low ? cuda_data(low) : NULL, third ? cuda_data(third) : NULL}};
}

LCP_INLINE double lcp_number(const lcp_vector &v, size_t i) {
  return (double)v.part[0][i] +
         ((v.part[1] ? (double)v.part[1][i] : 0) + (v.part[2] ? (double)v.part[2][i] : 0));
}

LCP_INLINE void lcp_put_number(const lcp_vector &v, size_t i, double value) {
  v.part[0][i] = (float)value;
  if (v.part[1]) v.part[1][i] = cuda_low_part(value, (float)value);
}

/* The next part of a block of memory. If `block` is NULL, only counts the required bytes. */
static inline void *lcp_part_of(unsigned char *block, size_t *used, size_t bytes) {
  void *part = block ? block + *used : NULL;
  *used += (bytes + 255) / 256 * 256;
  return part;
}

/* ---- Bounds ---- */

/* Projects an unknown onto its bounds P. NaN remains NaN. */
LCP_INLINE float lcp_clamp(float z, float lower, float upper) {
#if __CUDA_ARCH__ >= 800
  float result;
  asm("{ .reg .f32 t; max.NaN.f32 t, %1, %2; min.NaN.f32 %0, t, %3; }"
      : "=f"(result)
      : "f"(z), "f"(lower), "f"(upper));
  return result;
#else
  return z < lower ? lower : z > upper ? upper : z;
#endif
}

LCP_INLINE double lcp_clamp(double z, double lower, double upper) {
  return z < lower ? lower : z > upper ? upper : z;
}

/* ---- The matrix ---- */

/* The address of the pack at column 0 of row `row` of a block. The pack of column c is c * height further. */
template <typename T> LCP_INLINE const T *lcp_row(const lcp_data<T> &d, size_t problem, int block, int row) {
  return d.matrix + ((problem * (size_t)d.blocks + (size_t)block) * d.stride * (size_t)d.height) +
         (size_t)row * lcp_pack<T>::size;
}

LCP_INLINE void lcp_load(const float *from, float *to) {
  const float4 v = __ldg((const float4 *)from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}
LCP_INLINE void lcp_load(const double *from, double *to) {
  const double2 v = __ldg((const double2 *)from);
  to[0] = v.x, to[1] = v.y;
}

/* Loads a thread's part of a tile: columns `first` .. first + LCP_COLUMNS - 1 of the row at `row`. */
template <typename T>
LCP_INLINE void lcp_load_tile(const lcp_data<T> &d, const T *row, int first, T (&tile)[LCP_COLUMNS]) {
#pragma unroll
  for (int c = 0; c < LCP_COLUMNS; c += lcp_pack<T>::size) {
    const size_t column = (size_t)(first + c);
    if (column < d.stride)
      lcp_load(row + column * (size_t)d.height, tile + c);
    else
      for (int k = 0; k < lcp_pack<T>::size; k++) tile[c + k] = 0;
  }
}

/* ---- A diagonal block ---- */

/* Loads a[j * SIZE + i] = -M_ij / M_ii, or -M_ij with friction. It is 0 on the diagonal, in a contact's own
 * block and in padding. `threads` threads share the loads and must synchronise afterwards. */
template <typename T, int SIZE, int DIM>
LCP_INLINE void lcp_load_block(const lcp_data<T> &d, size_t problem, int block, int thread, int threads, T *a) {
  for (int e = thread; e < SIZE * (SIZE / lcp_pack<T>::size); e += threads) {
    const int i = e % SIZE, first = e / SIZE * lcp_pack<T>::size;
    const size_t column = (size_t)block * LCP_BLOCK + (size_t)first;
    T values[lcp_pack<T>::size] = {}, scale = 0;
    if (i < d.height && column < d.stride) {
      lcp_load(lcp_row(d, problem, block, i) + column * (size_t)d.height, values);
      scale = -d.inverse[problem * d.pitch + (size_t)(block * LCP_BLOCK + i)];
    }
    for (int k = 0; k < lcp_pack<T>::size; k++)
      a[(first + k) * SIZE + i] = (first + k) / DIM == i / DIM ? (T)0 : scale * values[k];
  }
}

/* The bounds of P, adjacent for one load. */
template <typename T> struct alignas(2 * sizeof(T)) lcp_bounds { T lower, upper; };

/* A lane has ROWS consecutive rows of a block, so that one load fetches their numbers. Shared memory is the
 * bottleneck of a sweep over a block. */
template <int ROWS> LCP_INLINE int lcp_row_of(int lane, int h) {
  return ROWS * lane + h;
}

/* The numbers of a lane's rows. */
template <typename T, int ROWS> struct lcp_rows {
  T next[ROWS]; /* z_i of the next sweep before projection, as far as it is known */
  T base[ROWS]; /* -q_i / M_ii, the initial value of `next` */
  T z[ROWS];
};

/* Before the first sweep: adds the contributions of later unknowns in the block. */
template <typename T, int ROWS> LCP_INLINE void lcp_begin_block(const T *a, int lane, lcp_rows<T, ROWS> *r) {
  constexpr int size = 32 * ROWS;
#pragma unroll
  for (int h = 0; h < ROWS; h++) r->next[h] = r->base[h];
#pragma unroll 4
  for (int first = 0; first < size; first += ROWS)
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
      const int j = first + k;
      const T z = __shfl_sync(0xffffffffu, r->z[k], first / ROWS);
#pragma unroll
      for (int h = 0; h < ROWS; h++)
        if (j > lcp_row_of<ROWS>(lane, h)) r->next[h] += a[j * size + lcp_row_of<ROWS>(lane, h)] * z;
    }
}

template <typename T, int COUNT> struct alignas(COUNT * sizeof(T)) lcp_numbers { T of[COUNT]; };

/* The data to solve four unknowns, from shared memory. */
template <typename T, int ROWS> struct lcp_group {
  lcp_bounds<T> bounds[4];
  lcp_numbers<T, 2> among[4][2]; /* the contribution of each to all four */
  lcp_numbers<T, ROWS> column[4];
};

template <typename T, int ROWS>
LCP_INLINE void lcp_load_group(const T *a, const lcp_bounds<T> *bounds, int j, int lane,
                               lcp_group<T, ROWS> *g) {
#pragma unroll
  for (int k = 0; k < 4; k++) {
    const T *column = a + (j + k) * 32 * ROWS;
    g->bounds[k] = bounds[j + k];
#pragma unroll
    for (int l = k / 2; l < 2; l++) g->among[k][l] = *(const lcp_numbers<T, 2> *)(column + j + 2 * l);
    g->column[k] = *(const lcp_numbers<T, ROWS> *)(column + lcp_row_of<ROWS>(lane, 0));
  }
}

/* Solves rows j .. j + 3. */
template <typename T, int ROWS>
LCP_INLINE void lcp_solve_group(const lcp_group<T, ROWS> &g, int j, int lane, lcp_rows<T, ROWS> *r) {
  constexpr int together = 4;
  T z[together];
#pragma unroll
  for (int k = 0; k < together; k++) z[k] = __shfl_sync(0xffffffffu, r->next[k % ROWS], (j + k) / ROWS);
#pragma unroll
  for (int k = 0; k < together; k++) {
    z[k] = lcp_clamp(z[k], g.bounds[k].lower, g.bounds[k].upper);
#pragma unroll
    for (int l = k + 1; l < together; l++) z[l] += g.among[k][l / 2].of[l % 2] * z[k];
#pragma unroll
    for (int h = 0; h < ROWS; h++) r->next[h] += g.column[k].of[h] * z[k];
    constexpr int rows = ROWS;
    if (lane == (j + k) / rows) r->z[k % rows] = z[k], r->next[k % rows] = r->base[k % rows];
  }
}

/* Solves the first `count` unknowns of a block one after the other. A solved unknown is added to all rows: to
 * later rows for this sweep, to earlier rows for the next one. The next sweep of a row begins at `base` when
 * the row is solved.
 *
 * A shuffle between lanes takes longer than the solution of an unknown. So all lanes solve the same four
 * unknowns redundantly, and only their initial values are shuffled. The loads for the next four are in flight
 * meanwhile. Doubles use a loop: in unrolled code the compiler moves the loads to their uses, and each unknown
 * waits for shared memory, 84 cycles instead of 49 on an H100. Floats wait equally little either way, and a
 * loop would take registers that the tiles of the graph need. */
template <typename T, int ROWS>
LCP_INLINE void lcp_solve_block(const T *a, const lcp_bounds<T> *bounds, int count, int lane,
                                lcp_rows<T, ROWS> *r) {
  constexpr int size = 32 * ROWS, together = 4;
  if constexpr (sizeof(T) == 8) {
    lcp_group<T, ROWS> even, odd;
    lcp_load_group<T, ROWS>(a, bounds, 0, lane, &even);
#pragma unroll 1
    for (int j = 0; j < count; j += 2 * together) {
      lcp_load_group<T, ROWS>(a, bounds, j + together, lane, &odd);
      lcp_solve_group<T, ROWS>(even, j, lane, r);
      lcp_load_group<T, ROWS>(a, bounds, (j + 2 * together) % size, lane, &even);
      lcp_solve_group<T, ROWS>(odd, j + together, lane, r);
    }
  } else {
    lcp_group<T, ROWS> groups[2];
    lcp_load_group<T, ROWS>(a, bounds, 0, lane, &groups[0]);
#pragma unroll
    for (int j = 0; j < size; j += together) {
      if (j >= count) continue;
      const lcp_group<T, ROWS> &g = groups[j / together % 2];
      if (j + together < count)
        lcp_load_group<T, ROWS>(a, bounds, j + together, lane, &groups[(j / together + 1) % 2]);
      lcp_solve_group<T, ROWS>(g, j, lane, r);
    }
  }
}

#endif
