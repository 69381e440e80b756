/* One row of a product of sparse matrices, for cuda_amg_galerkin.cu.
 *
 * The threads that own the row process the rows of the right factor for its entries one after the other, which
 * is the order of the sums. Within such a row each thread takes one entry, since its columns differ. A row of
 * the right factor has entries for all unknowns of a node or for none, so a place is found once per node. The
 * sums are in a hash table in shared memory, which refuses rows that do not fit. */
#ifndef CUDA_AMG_PRODUCT_CUH
#define CUDA_AMG_PRODUCT_CUH

#include "cuda/core/cuda_kernels.cuh"
#include "cuda_amg.h"

enum {
  MULTIPLY_AP, /* rows of A P, nodes in any order */
  COUNT_NODES, /* rows of C, from R and A P: one row per node */
  FILL_C       /* rows of C */
};

struct product {
  int unknowns;
  int32_t nodes; /* of P's columns */
  cuda_amg_csr left, P, C;
  /* A P: row i has counts[i] nodes from begins[i] on, and one value per unknown for each node. */
  int64_t *begins;
  int32_t *counts, *product_nodes;
  float *product_values;
};

/* The rows to compute: all, or those of a list with its length on the device. Rows that do not fit go to
 * `refused`. */
struct row_list {
  int32_t count;
  const int32_t *rows, *length; /* NULL: all */
  int32_t *refused, *refused_length;
};

static __device__ __forceinline__ int32_t length_of(const row_list &l) {
  return l.rows ? *l.length : l.count;
}

/* How the threads of a row share a row of the right factor: each has one unknown of every `step`-th node. */
struct lane_share {
  int lane, node, unknown, step;
  bool idle; /* without a share */
};

template <int LANES> static __device__ __forceinline__ lane_share share_of(int lane, int unknowns) {
  const lane_share s = {lane, lane / unknowns, lane % unknowns, LANES / unknowns,
                        lane / unknowns >= LANES / unknowns};
  return s;
}

/* The threads that own a row are part of a warp. Its loops continue until all rows of the warp are done. */
template <int LANES> static __device__ __forceinline__ bool any_lane(bool is) {
  return LANES < 32 ? __any_sync(0xffffffffu, is) : is;
}

/* ---- The table ---- */

/* For a row of few nodes. */
template <int SLOTS, int MOST_UNKNOWNS> struct hash_table {
  static constexpr int most = SLOTS / 4 * 3; /* maximum nodes */
  int32_t keys[SLOTS];                       /* -1: empty */
  uint16_t found[most];                      /* slots in the order of their use */
  int32_t count;                             /* more than `most`: refused */
  double sums[MOST_UNKNOWNS > 0 ? SLOTS *MOST_UNKNOWNS : 1];

  __device__ __forceinline__ bool is_refused(void) const { return count > most; }

  /* The place of a node, which is inserted if it is missing; -1 if the table is full. */
  __device__ __forceinline__ int place(int32_t node, int unknowns) {
    unsigned slot = (unsigned)node * 2654435769u >> 16 & (SLOTS - 1);
    for (int tries = 0; tries < SLOTS; tries++, slot = (slot + 1) & (SLOTS - 1)) {
      int32_t key = keys[slot];
      if (key < 0) {
        if (count > most) return -1;
        key = atomicCAS(&keys[slot], -1, node);
        if (key < 0) {
          const int32_t number = atomicAdd(&count, 1);
          if (number < most) found[number] = (uint16_t)slot;
          if constexpr (MOST_UNKNOWNS > 0)
            for (int u = 0; u < unknowns; u++) sums[(int)slot * unknowns + u] = 0;
          return (int)slot;
        }
      }
      if (key == node) return (int)slot;
    }
    return -1;
  }
};

/* ---- The row ---- */

/* A row of the right factor: its nodes and its factor. */
struct right_row {
  int64_t begin;
  int32_t count;
  double factor;
};

template <int MODE>
static __device__ __forceinline__ right_row right_row_of(const product &p, int unknowns, int32_t e,
                                                         int32_t end) {
  right_row row = {0, 0, 0};
  if (e >= end) return row;
  const int32_t k = p.left.indices[e];
  if (MODE == MULTIPLY_AP) {
    row.begin = p.P.offsets[k] / unknowns;
    row.count = p.P.offsets[k + 1] / unknowns - (int32_t)row.begin;
  } else {
    row.begin = p.begins[k];
    row.count = p.counts[k];
  }
  if (MODE == MULTIPLY_AP) row.factor = (double)p.left.values[e];
  if (MODE == FILL_C) row.factor = -(double)p.left.values[e]; /* R is stored as -P^T */
  return row;
}

/* Entry number `at` of the right factor, counted in nodes. */
template <int MODE>
static __device__ __forceinline__ int32_t node_at(const product &p, int unknowns, int64_t at) {
  return MODE == MULTIPLY_AP ? p.P.indices[at * unknowns] / unknowns : p.product_nodes[at];
}

template <int MODE>
static __device__ __forceinline__ float value_at(const product &p, int unknowns, int64_t at, int unknown) {
  if (MODE == COUNT_NODES) return 0;
  return (MODE == MULTIPLY_AP ? p.P.values : p.product_values)[at * unknowns + unknown];
}

/* Multiplies entries e to `end` of the left factor's row into the table, which is empty. Four rows of the right
 * factor are loaded at a time, while the locations of the next four are read. All threads of the warp enter and
 * leave together. */
template <int MODE, int LANES, typename Table>
static __device__ __forceinline__ void multiply_row(const product &p, int unknowns, int32_t e, int32_t end,
                                                    const lane_share &s, Table &table) {
  constexpr int many = 4;
  right_row next[many];
#pragma unroll
  for (int j = 0; j < many; j++) next[j] = right_row_of<MODE>(p, unknowns, e + j, end);
  for (int32_t left = end - e; any_lane<LANES>(left > 0); left -= many) {
    right_row now[many];
    int32_t node[many];
    float value[many];
#pragma unroll
    for (int j = 0; j < many; j++) {
      now[j] = next[j];
      if (now[j].count > Table::most) { /* then the product does not fit either */
        now[j].count = 0;
        if (s.lane == 0) table.count = Table::most + 1;
      }
      if (s.idle || s.node >= now[j].count) continue;
      node[j] = node_at<MODE>(p, unknowns, now[j].begin + s.node);
      value[j] = value_at<MODE>(p, unknowns, now[j].begin + s.node, s.unknown);
    }
#pragma unroll
    for (int j = 0; j < many; j++)
      next[j] = right_row_of<MODE>(p, unknowns, left > many + j ? end - left + many + j : end, end);
#pragma unroll
    for (int j = 0; j < many; j++)
      for (int32_t from = 0; any_lane<LANES>(from < now[j].count); from += s.step) {
        const int32_t f = from + s.node;
        int place = -1;
        if (!s.idle && f < now[j].count) {
          if (from > 0) {
            node[j] = node_at<MODE>(p, unknowns, now[j].begin + f);
            value[j] = value_at<MODE>(p, unknowns, now[j].begin + f, s.unknown);
          }
          place = table.place(node[j], unknowns);
        }
        if constexpr (MODE != COUNT_NODES) {
          __syncwarp(); /* the previous row has been added, and a new place holds 0 */
          if (place >= 0) table.sums[place * unknowns + s.unknown] += now[j].factor * (double)value[j];
        }
      }
    __syncwarp();
    const bool is_refused = table.is_refused();
    __syncwarp();
    if (is_refused) {
      left = 0;
#pragma unroll
      for (int j = 0; j < many; j++) next[j].count = 0;
    }
  }
  __syncwarp();
}

/* The row of the left factor that item number `item` needs. */
template <int MODE> static __device__ __forceinline__ int32_t left_row(const product &p, int32_t item) {
  return MODE == COUNT_NODES ? item * p.unknowns : item;
}

/* Stores the number of nodes of row `item`. */
template <int MODE>
static __device__ __forceinline__ void write_count(const product &p, int unknowns, int32_t item,
                                                   int32_t count) {
  if (MODE == MULTIPLY_AP) p.counts[item] = count;
  if (MODE == COUNT_NODES)
    for (int u = 0; u < unknowns; u++) p.C.offsets[(size_t)item * unknowns + u + 1] = count * unknowns;
}

/* Stores one unknown of node number `at` of row `item`. */
template <int MODE>
static __device__ __forceinline__ void write_entry(const product &p, int unknowns, int32_t item, int32_t at,
                                                   int32_t node, int unknown, double sum) {
  if (MODE == MULTIPLY_AP) {
    const int64_t to = p.begins[item] + at;
    if (unknown == 0) p.product_nodes[to] = node;
    p.product_values[to * unknowns + unknown] = (float)sum;
  } else {
    const int32_t to = p.C.offsets[item] + at * unknowns + unknown;
    p.C.indices[to] = node * unknowns + unknown;
    p.C.values[to] = (float)sum;
  }
}

#endif
