/* The CPU backend: vectors and matrices in host memory, threads, vectorised loops.
 *
 * A space is linear: component c of index i of a vector is data[i * components + c], without padding. Loops
 * over vectors run over blocks of CPU_BLOCK floats for any number of components. This works because CPU_LANES
 * divides CPU_BLOCK and is a multiple of 1, 2, 3 and 4. Lane l of every group of CPU_LANES floats belongs to
 * component l mod components. */
#ifndef CPU_H
#define CPU_H

#include <math.h>

#include "common/core/core.h"
#include "common/layout/layout.h"
#include "cpu_pace.h"
#include "common/core/pool.h"
#include "common/core/clones.h"

enum {
  CPU_LANES = 48,
  CPU_BLOCK = CPU_LANES * 64, /* 12 KiB, three pages, so that threads touch separate pages */
  CPU_ALIGNMENT = 64
};

typedef struct cpu_state {
  int threads;
  cpu_pace pace;
  double *partials; /* partial results of a reduction, four components per block */
  size_t partial_blocks;
} cpu_state;

typedef struct cpu_vector {
  float *data; /* aligned; the CPU_ALIGNMENT bytes after the last element are 0, for blocks that extend beyond
                  it */
  void *block; /* as allocated */
  size_t count, bytes;
} cpu_vector;

typedef struct cpu_scalars {
  float *values;   /* four per slot */
  float *snapshot; /* values requested by scalars_read_begin */
  int snapshot_slots;
} cpu_scalars;

/* The values by diagonals, if all lie on few of them (matrix/cpu_dia.c). */
typedef struct cpu_dia cpu_dia;

/* Compressed rows of entries or of n x n blocks. With blocks, rows and columns are block rows and columns. */
typedef struct cpu_matrix {
  int log2_block; /* of n; 0: entries */
  int32_t rows;
  int32_t *row_offsets, *column_indices;
  float *values;
  int parts;          /* equal to the number of threads */
  int32_t *part_rows; /* part p computes rows part_rows[p] .. part_rows[p + 1] - 1 */
  /* Only for a part of a larger matrix, otherwise NULL. From cuts[first_cut[p]], the first row of thread p,
   * runs of interior and boundary rows alternate. Each run ends at the next cut; a run may be empty. */
  int32_t *cuts, *first_cut;
  double interior; /* fraction of the entries that are in interior rows */
  size_t bytes;
  int is_low_part;     /* a low-order part: shares everything but the values with another matrix */
  int is_view;         /* shares the offsets, columns and values */
  int borrows_pattern; /* the application owns offsets and columns */
  int wants_dia;       /* the next product looks for diagonals */
  cpu_dia *dia;        /* or NULL */
  double *x;           /* for products in pairs; allocated by the first one */
  size_t x_count;
} cpu_matrix;

static inline cpu_state *cpu_state_of(const ts_context *context) {
  return context->backend;
}
static inline cpu_vector *cpu_vector_of(const ts_vector *v) {
  return v->impl;
}
static inline float *cpu_data(const ts_vector *v) {
  return cpu_vector_of(v)->data;
}
static inline size_t cpu_count(const ts_vector *v) {
  return cpu_vector_of(v)->count;
}

/* The row ranges cut[0] .. cut[width] - 1, starting at `cut` and every `stride` cuts, up to `end`. */
typedef struct cpu_ranges {
  const int32_t *cut, *end;
  size_t width, stride;
} cpu_ranges;

/* The row ranges of threads first .. last-1. */
CPU_INLINE cpu_ranges cpu_ranges_of(const cpu_matrix *m, tsi_rows rows, size_t first, size_t last) {
  if (rows == TSI_ALL_ROWS)
    return (cpu_ranges){m->part_rows + first, m->part_rows + last, last - first, last - first};
  const int32_t *cuts = m->cuts + (rows == TSI_BOUNDARY_ROWS);
  return (cpu_ranges){cuts + m->first_cut[first], cuts + m->first_cut[last], 1, 2};
}

/* The share of these rows in the work of a product. */
static inline size_t cpu_work_of(const cpu_matrix *m, tsi_rows rows, size_t work) {
  if (rows == TSI_ALL_ROWS) return work;
  return (size_t)((double)work * (rows == TSI_INTERIOR_ROWS ? m->interior : 1 - m->interior));
}

/* ---- cpu_parallel.c ---- */

/* Divides `items` among threads in contiguous ranges. They are the same in every call, so that a thread finds
 * the pages it touched first. `cost` is the work per item in floats; little work uses fewer threads. */
void cpu_for(const ts_context *context, size_t items, size_t cost, tsi_body body, const void *arguments);

static inline size_t cpu_blocks(size_t count) {
  return (count + CPU_BLOCK - 1) / CPU_BLOCK;
}
/* The end, in floats, of blocks first .. last-1 of `count` floats. */
static inline size_t cpu_block_end(size_t last, size_t count) {
  return last * CPU_BLOCK < count ? last * CPU_BLOCK : count;
}

/* ---- Pairs: operations compute with them in double precision ---- */

/* The parts of a vector. Missing parts are NULL. */
typedef struct cpu_parts {
  float *high, *low, *lowest;
} cpu_parts;

/* NULL: no vector; nothing reads its parts. */
static inline cpu_parts cpu_parts_of(const ts_vector *v) {
  const ts_vector *low = v ? v->low : NULL, *lowest = low ? low->low : NULL;
  return (cpu_parts){v ? cpu_data(v) : NULL, low ? cpu_data(low) : NULL, lowest ? cpu_data(lowest) : NULL};
}

/* A block of zeros. */
extern const float cpu_zeros[CPU_BLOCK];

/* A block of a pair, starting at float `begin`. A missing part is read as zeros. */
typedef struct cpu_operand {
  const float *high, *low;
} cpu_operand;

CPU_INLINE cpu_operand cpu_operand_at(cpu_parts v, size_t begin) {
  return (cpu_operand){v.high ? v.high + begin : cpu_zeros, v.low ? v.low + begin : cpu_zeros};
}

CPU_INLINE double cpu_value(cpu_operand v, size_t i) {
  return (double)v.high[i] + (double)v.low[i];
}

/* The low part of an infinity or a NaN is a NaN. A branch to avoid that would prevent vectorisation. */
CPU_INLINE void cpu_split(double value, float *high, float *low) {
  const float first = (float)value;
  *high = first;
  *low = (float)(value - (double)first);
}

/* A sum in single precision of x y, or of x y w if w is not NULL, in parts: a loop that writes a block of the
 * vectors adds it while it is in the cache. The result is that of cpu_reduce and cpu_dot3, to the last bit. */
typedef struct cpu_reduction {
  size_t count;
  int components;
  cpu_parts x, y, w;
  double *partials; /* four per block */
} cpu_reduction;

cpu_reduction cpu_dot_begin(const ts_vector *x, const ts_vector *y, const ts_vector *w);
void cpu_dot_block(const cpu_reduction *job, size_t block);
ts_status cpu_dot_end(const cpu_reduction *job, ts_scalars *out, int index);

/* A sum in double and its accumulated rounding errors by Knuth's two-sum. */
typedef struct cpu_exact {
  double sum, lost;
} cpu_exact;

CPU_INLINE void cpu_exact_add(cpu_exact *to, double term) {
  const double sum = to->sum + term, part = sum - to->sum;
  to->lost += (to->sum - (sum - part)) + (term - part);
  to->sum = sum;
}

CPU_INLINE cpu_exact cpu_exact_value(cpu_parts v, size_t i) {
  cpu_exact value = {(double)v.high[i], 0};
  if (v.low) cpu_exact_add(&value, (double)v.low[i]);
  if (v.lowest) cpu_exact_add(&value, (double)v.lowest[i]);
  return value;
}

CPU_INLINE void cpu_exact_split(cpu_exact from, float *high, float *low) {
  const float first = (float)(from.sum + from.lost);
  *high = first;
  *low = (float)((from.sum - (double)first) + from.lost);
}

/* Prefetching beyond the end of an array is harmless, but forming a pointer there is not allowed. */
CPU_INLINE void cpu_prefetch(const void *address, size_t bytes_ahead) {
#if defined(__GNUC__)
  __builtin_prefetch((const void *)((uintptr_t)address + bytes_ahead), 0, 3);
#else
  (void)address;
  (void)bytes_ahead;
#endif
}

/* ---- The operations, as in backend.h ---- */
TSI_CORE_OPERATIONS(TSI_PROTOTYPE, TSI_PROTOTYPE, TSI_PROTOTYPE, cpu_)
extern const tsi_grid_ops cpu_grid_ops;
extern const tsi_mesh_ops cpu_mesh_ops;
extern const tsi_fluid_ops cpu_fluid_ops;
extern const tsi_lcp_ops cpu_lcp_ops;
extern const tsi_part_ops cpu_part_ops;
extern const tsi_amg_part_ops cpu_amg_part_ops;

/* Expands a coefficient to all lanes. */
void cpu_coefficient(ts_coefficient c, int components, float lanes[CPU_LANES]);
/* cpu_coefficient for all parts of its slots. */
void cpu_pair_coefficient(ts_coefficient c, int components, double lanes[CPU_LANES]);
/* The address where a reduction stores its result. */
float *cpu_slot(ts_scalars *s, int index);
/* Allocates the partial sums for vectors of `count` floats, so that reductions do not allocate. */
ts_status cpu_reserve_partials(ts_context *context, size_t count);

/* ---- Matrices ---- */

/* How a matrix format is stored. */
typedef struct cpu_format {
  const tsi_matrix_kind *kind;
  ts_status (*create)(ts_matrix *A, const tsi_packed *packed); /* sets A->impl; frees everything on failure */
  ts_status (*write)(ts_matrix *A, const tsi_packed *packed);
} cpu_format;

#define CPU_FORMAT_ROW(name, format) extern const cpu_format cpu_format_##name;
TSI_CPU_FORMATS(CPU_FORMAT_ROW)
#undef CPU_FORMAT_ROW

/* Sets m->x to x in double, followed by zeros as in cpu_vector. Converting each number where it is used, once
 * per entry, costs more than the rest of the product. */
ts_status cpu_matrix_convert_x(const ts_matrix *A, const ts_vector *x);
/* Computes the cuts if some columns are ghosts. */
ts_status cpu_matrix_cut(const ts_matrix *A);
/* matrix/cpu_dia.c and cpu_dia_product.c: operations by diagonals. They return 0 and do nothing if A has none.
 */
int cpu_dia_spmv(ts_vector *y, const ts_matrix *A, const ts_vector *x);
int cpu_dia_spmv_dot(ts_vector *y, const ts_matrix *A, const ts_vector *x, ts_scalars *out, int index);
int cpu_dia_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x, int is_quick);
int cpu_dia_smooth(ts_vector *out, const ts_matrix *A, const tsi_smoothing *s);
int cpu_dia_diagonal(ts_vector *d, const ts_matrix *A);
static inline void cpu_dia_outdate(cpu_matrix *m) {
  m->wants_dia |= m->dia != NULL;
}
void cpu_dia_destroy(ts_context *context, cpu_matrix *m);
/* As in backend.h. */
ts_status cpu_matrix_refer(ts_context *context, const tsi_matrix_desc *desc, ts_matrix **matrix);

TSI_MATRIX_OPERATIONS(TSI_PROTOTYPE, cpu_csr_)
ts_status cpu_csr_quick_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x);
ts_status cpu_csr_spmv_dot(ts_vector *y, const ts_matrix *A, const ts_vector *x, ts_scalars *out, int index);
ts_status cpu_csr_smooth(ts_vector *out, const ts_matrix *A, const tsi_smoothing *s);
ts_status cpu_csr_smooth_all(ts_vector *x, const ts_matrix *A, const tsi_smoothing *steps, int count,
                             int *done);
TSI_MATRIX_OPERATIONS(TSI_PROTOTYPE, cpu_bcrs_)

#endif
