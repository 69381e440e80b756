/* Complementarity problems on CUDA: their storage as kernels see it, and the block of unknowns that a warp
 * solves.
 *
 * Rows come in blocks of LCP_BLOCK, or of n where a problem is smaller. Within a block the numbers of a few
 * columns, as many as 16 bytes hold, follow each other row by row: neighbouring threads with a row each load
 * neighbouring packs of 16 bytes. Columns are filled up to a whole pack, rows to a whole block, with 0. */
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
  LCP_BLOCK = 64, /* unknowns that one warp solves: two a lane */
  LCP_THREADS = 256,
  LCP_SHARES = LCP_THREADS / LCP_BLOCK, /* threads that share a row of a tile of LCP_BLOCK columns */
  LCP_COLUMNS = LCP_BLOCK / LCP_SHARES, /* of a tile for each of them */
  LCP_SLICES = 8                        /* thread blocks that share a row of the whole matrix, at most */
};

/* Arrays of the problems in the type of their matrices. Vectors have `pitch` numbers a problem. */
template <typename T> struct lcp_data {
  T *matrix;
  T *inverse; /* of the diagonal, or with friction 1; 0 in rows that fill up */
  union {
    T *lower;
    T *friction; /* of each contact, in all of its rows */
  };
  T *upper;
  T *z, *q;
  T *carried;                /* what a row's next sweep knows already, between two visits of its block */
  T *from, *last, *counts;   /* of momentum by units (tsi_lcp_ops.sweep_ahead); NULL but for sparse contacts */
  T *sums;                   /* LCP_SLICES vectors: products of rows that came in shares */
  unsigned long long *words; /* z for other thread blocks (cuda_lcp_words.cuh) */
  int n, batch, blocks, height; /* n: rows up to that of the last unknown */
  size_t stride, pitch;
};

template <typename T> struct lcp_pack { static constexpr int size = 16 / sizeof(T); };

/* A run of sweeps. */
struct lcp_run {
  ts_context *context;
  ts_lcp_scheme scheme;
  int sweeps;
  int dimension, exact; /* of contacts, and how they are solved */
  bool ahead;           /* sparse contacts: from data.from, with momentum by units */
};

/* ---- The sweeps of each scheme, from data.z to data.z ---- */

/* cuda_lcp_small.cu: problems of one block, a warp each. */
ts_status cuda_lcp_sweep_small(const lcp_run *run, const lcp_data<float> *data);
ts_status cuda_lcp_sweep_small(const lcp_run *run, const lcp_data<double> *data);
/* cuda_lcp_steps.cu: by rows, columns and blocks. */
ts_status cuda_lcp_sweep_steps(const lcp_run *run, const lcp_data<float> *data);
ts_status cuda_lcp_sweep_steps(const lcp_run *run, const lcp_data<double> *data);
/* cuda_lcp_graph.cu: by the graph, and relaxed. */
ts_status cuda_lcp_sweep_graph(const lcp_run *run, const lcp_data<float> *data);
ts_status cuda_lcp_sweep_graph(const lcp_run *run, const lcp_data<double> *data);

/* cuda_lcp_product.cu: sums = the products of all rows with z, in `slices` shares; of columns behind a row's
 * block alone, or of all. */
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
  if (v.part[1]) v.part[1][i] = cuda_rest(value, (float)value);
}

/* The next part of a block of memory. NULL for `block`: counts what the parts need. */
static inline void *lcp_part_of(unsigned char *block, size_t *used, size_t bytes) {
  void *part = block ? block + *used : NULL;
  *used += (bytes + 255) / 256 * 256;
  return part;
}

/* ---- Bounds ---- */

/* P of an unknown. What is no number stays none. */
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

/* Where the pack of row `row` of a block is that begins at column 0; that of column c is c * height further. */
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

/* A thread's numbers of a tile: columns `first` .. first + LCP_COLUMNS - 1 of the row at `row`. */
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

/* a[j * SIZE + i] = -M_ij / M_ii, or with friction -M_ij; 0 on the diagonal, in a contact's own block and where
 * there is no row or column: loaded by `threads` threads, which have to meet afterwards. */
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

/* P's bounds, side by side for one load. */
template <typename T> struct alignas(2 * sizeof(T)) lcp_bounds { T lower, upper; };

/* A lane has ROWS rows of a block that follow each other, so that their numbers come in one load, as shared
 * memory is what a sweep of a block takes longest for. */
template <int ROWS> LCP_INLINE int lcp_row_of(int lane, int h) {
  return ROWS * lane + h;
}

/* What a lane has of them. */
template <typename T, int ROWS> struct lcp_rows {
  T next[ROWS]; /* z_i of the next sweep before its bounds, as far as it is known */
  T base[ROWS]; /* -q_i / M_ii, which it starts from */
  T z[ROWS];
};

/* Before the first sweep: what unknowns behind a row in its block add. */
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

/* What four unknowns are solved with, from shared memory. */
template <typename T, int ROWS> struct lcp_group {
  lcp_bounds<T> bounds[4];
  lcp_numbers<T, 2> among[4][2]; /* what each adds to all four */
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

/* Rows j .. j + 3. */
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

/* Solves the first `count` unknowns of a block one after the other. An unknown that is solved is added to all
 * rows: of those behind it the sweep is the same, of those before it the next, which begins at `base` when a
 * row is solved.
 *
 * A value takes longer from lane to lane than an unknown takes to be solved, so all lanes solve four unknowns
 * by themselves and only their starts come from other lanes. The numbers of the next four are on their way
 * meanwhile. In doubles by a loop: of an unrolled one the compiler moves the loads to where they are used, and
 * each unknown waits for shared memory, 84 cycles instead of 49 on an H100. Floats wait as little either way,
 * and the loop takes registers that the tiles of the graph need. */
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
