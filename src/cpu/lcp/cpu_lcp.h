/* Complementarity problems on the CPU: dense matrices by rows, in floats or doubles. */
#ifndef CPU_LCP_H
#define CPU_LCP_H

#include "cpu/core/cpu.h"
#include "cpu_lcp_team.h"
#include "lcp/lcp.h"

enum {
  CPU_LCP_LANES = 16,         /* a row's stride is a multiple of this */
  CPU_LCP_BLOCK = 64,         /* m, the rows of a block: a multiple of the lanes */
  CPU_LCP_CONTACT_BLOCK = 48, /* m for contacts: also a multiple of 2 and 3, at most CPU_LCP_BLOCK */
  CPU_LCP_REDUCED = 14        /* LCP_REDUCED in lcp_law.h */
};

/* A matrix of lcp_sparse.h in the type of the sweeps. Its lists are those of lcp->sparse. */
typedef struct cpu_lcp_sparse {
  size_t stride; /* numbers per row of `blocks` and `mass_blocks`, and per body in v */
  void *blocks, *mass_blocks, *diagonal, *v;
  double *exact_v;            /* v for residuals: its numbers, followed by their rounding errors */
  void *from, *last, *counts; /* of momentum by units, like z; counts: at each unit's first unknown */
  void *reduced;              /* per contact: the result of lcp_contact_reduce for `diagonal` */
  tsi_memory memory;          /* the whole allocation */
  size_t bytes;               /* bytes in use */
} cpu_lcp_sparse;

/* All arrays have the matrix's type. */
typedef struct cpu_lcp {
  size_t stride; /* numbers from row to row; the padding after the last column is 0 */
  size_t rows; /* per problem: n, rounded up to a multiple of four if there are several blocks; padding rows are
                  0 */
  void *matrix;     /* aligned; float or double as in lcp->is_double. A contact's own block is 0 here */
  void *diagonal;   /* per unknown: the column of its diagonal block. NULL for problems of one block without
                       contacts */
  void *reduced;    /* LCP_REDUCED numbers per contact */
  void *z, *q;      /* of one sweep or residual, in the matrix's type, `stride` numbers per problem */
  void *w, *deltas; /* for schemes by columns, laid out like z */
  void *copies, *shared;          /* for the relaxed scheme: z of each member, and the shared z */
  void *lower, *upper, *friction; /* per unknown and per contact, in the matrix's type; NULL only if unused */
  double *sums;                   /* sums of row blocks for products, two each */
  void *block;                    /* the whole allocation */
  size_t bytes, vector_bytes;     /* total, and the part before the diagonal blocks and the matrix */
  /* The matrix by columns, created by the first sweep that needs it. */
  int symmetry;                  /* 1 or -1: result of cpu_lcp_is_nearly_symmetric; 0: not yet computed */
  int has_columns, is_symmetric; /* symmetric: the rows serve as columns, and `columns` is NULL */
  void *columns, *columns_block; /* aligned, and as allocated */
  size_t columns_bytes;
  cpu_lcp_sparse sparse; /* replaces the matrix */
} cpu_lcp;

/* A number of sweeps over one problem. */
typedef struct cpu_lcp_run {
  const ts_lcp *lcp;
  const cpu_lcp_member *self;
  size_t problem;
  ts_lcp_scheme scheme;
  int sweeps;
} cpu_lcp_run;

TSI_LCP_OPERATIONS(TSI_PROTOTYPE, TSI_PROTOTYPE, cpu_lcp_)

/* ---- In one type ---- */
#define CPU_LCP_FUNCTIONS(type)                                                                                \
  void cpu_lcp_sweep_##type(const cpu_lcp_run *run);                                                           \
  /* The natural map of rows first .. last - 1 of a problem. With `q`, of these rows, w is exact but for its   \
   * last digits, else as sweeps have it. */                                                                   \
  void cpu_lcp_map_##type(const ts_lcp *lcp, const double *q, size_t problem, size_t first, size_t last,       \
                          double *out);                                                                        \
  /* Rows of a block, from where nothing was before. */                                                        \
  void cpu_lcp_write_##type(const ts_lcp *lcp, const tsi_lcp_matrix *matrix, size_t problem, size_t block);    \
  /* But for `slack` times two diagonal entries. A contact's own block is left out. */                         \
  int cpu_lcp_is_symmetric_##type(const ts_lcp *lcp, double slack);                                            \
  /* impl->columns, of rows first .. last - 1. */                                                              \
  void cpu_lcp_transpose_##type(const ts_lcp *lcp, size_t problem, size_t first, size_t last);                 \
  /* `steps` is NULL: in the order of the contacts, by one member. `ahead`: with momentum, from `from`. */     \
  void cpu_lcp_sweep_sparse_##type(const ts_lcp *lcp, const tsi_lcp_steps *steps, const cpu_lcp_member *self,  \
                                   int sweeps, int ahead);                                                     \
  /* v of z, for the map. */                                                                                   \
  void cpu_lcp_velocity_sparse_##type(const ts_lcp *lcp, int exact);                                           \
  void cpu_lcp_write_sparse_##type(const tsi_lcp_sparse *s, const cpu_lcp_sparse *to);
CPU_LCP_FUNCTIONS(float)
CPU_LCP_FUNCTIONS(double)

/* ---- cpu_lcp_matrix.c ---- */
ts_status cpu_lcp_make_columns(const ts_lcp *lcp);
/* Symmetric up to a hundredth of two diagonal entries. This is weaker than the exact symmetry needed to use
 * rows as columns. */
int cpu_lcp_is_nearly_symmetric(const ts_lcp *lcp);
void cpu_lcp_forget_columns(const ts_lcp *lcp);

/* ---- cpu_lcp_sparse.c ---- */
ts_status cpu_lcp_write_sparse(ts_lcp *lcp, const tsi_lcp_sparse *sparse);
void cpu_lcp_forget_sparse(ts_lcp *lcp);
ts_status cpu_lcp_sweep_sparse(const ts_lcp *lcp, ts_lcp_scheme scheme, int sweeps, int ahead);
ts_lcp_scheme cpu_lcp_sparse_scheme(const ts_lcp *lcp, ts_lcp_scheme scheme);

/* ---- cpu_lcp_momentum.c ---- */
ts_status cpu_lcp_add_momentum(const ts_lcp *lcp, ts_vector *from, ts_vector *last, ts_vector *state,
                               double growth);

/* ---- cpu_lcp.c ---- */
enum { cpu_lcp_rows_at_once = 48 }; /* for residuals and momentum, a multiple of every dimension */
static inline size_t cpu_lcp_row_blocks(size_t rows) {
  return (rows + cpu_lcp_rows_at_once - 1) / cpu_lcp_rows_at_once;
}
/* The number of threads that may share one problem. 1: the threads share the batch. */
size_t cpu_lcp_threads(const ts_lcp *lcp);

static inline int cpu_lcp_is_sparse(const ts_lcp *lcp) {
  return lcp->storage == TS_LCP_STORAGE_SPARSE;
}
/* Takes the next part of a block of memory, aligned. If `block` is NULL, only counts the bytes. */
static inline void *cpu_lcp_suballoc(unsigned char *block, size_t *used, size_t bytes) {
  void *taken = block ? block + *used : NULL;
  *used += (bytes + CPU_ALIGNMENT - 1) / CPU_ALIGNMENT * CPU_ALIGNMENT;
  return taken;
}
static inline size_t cpu_lcp_size_of(const ts_lcp *lcp) {
  return lcp->is_double ? sizeof(double) : sizeof(float);
}
/* The rows of a block. */
static inline size_t cpu_lcp_block(const ts_lcp *lcp) {
  return lcp->dimension > 1 ? CPU_LCP_CONTACT_BLOCK : CPU_LCP_BLOCK;
}
static inline size_t cpu_lcp_blocks(const ts_lcp *lcp) {
  return ((size_t)lcp->size + cpu_lcp_block(lcp) - 1) / cpu_lcp_block(lcp);
}

#endif
