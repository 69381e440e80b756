/* Sparse complementarity problems on CUDA: the device copy of the data in lcp_sparse.h. */
#ifndef CUDA_LCP_SPARSE_CUH
#define CUDA_LCP_SPARSE_CUH

#include "cuda_lcp.cuh"

/* A unit: contacts begin .. end - 1. Their blocks begin at `block`; `numbers` is the count of numbers in the
 * blocks of the first contact. */
struct alignas(16) lcp_unit {
  int begin, end, block, numbers;
};

/* For a block of a unit's first contact: its body, the number of units in the order with that body, and how
 * many of them come first. */
struct lcp_body_order {
  int body, units, before;
};

enum {
  LCP_LAW = 24 /* numbers per contact law: those of lcp_contact_reduce, and the contact's block of M */
};

/* The order of the units in a sweep. */
struct lcp_order {
  void *block;
  size_t bytes;
  lcp_unit *units;
  lcp_body_order *body_orders; /* per block, as in `columns`; NULL if units are wide */
  int *start;                  /* of steps with independent units; NULL: each unit follows the previous one */
  int steps, most;             /* most: units of the largest step */
};

/* Numbers are in the type of the problem's matrices. */
struct lcp_sparse {
  void *block; /* memory of all arrays */
  size_t bytes;
  void *blocks, *mass_blocks, *diagonal;
  void *v;
  double *exact_v; /* v of exact residuals: the numbers, then their rounding errors */
  void *words;  /* for each number of v: words of v and of the start of the next sweep (cuda_lcp_words.cuh) */
  bool is_wide; /* units have more numbers or rows than a warp has lanes, or no bodies */
  void *laws;   /* LCP_LAW numbers per contact */
  int *row_start, *columns;
  /* Of factors: body b has the blocks body_blocks[body_start[b]] .. of the contacts body_contacts[..], in
   * ascending order. */
  int *body_start, *body_blocks, *body_contacts;
  lcp_order own, levels, colours; /* made by the first sweep that needs them */
};

/* Replaces the contents of `to`, which are kept on failure. */
ts_status cuda_lcp_write_sparse(const ts_lcp *lcp, const tsi_lcp_sparse *sparse, lcp_sparse *to);
void cuda_lcp_forget_sparse(ts_context *context, lcp_sparse *sparse);
ts_status cuda_lcp_order_of(const ts_lcp *lcp, ts_lcp_scheme scheme, lcp_sparse *sparse,
                            const lcp_order **order);

/* Sweeps in place in data.z. */
ts_status cuda_lcp_sweep_sparse(const ts_lcp *lcp, lcp_sparse *sparse, const lcp_run *run,
                                const lcp_data<float> *data);
ts_status cuda_lcp_sweep_sparse(const ts_lcp *lcp, lcp_sparse *sparse, const lcp_run *run,
                                const lcp_data<double> *data);
/* cuda_lcp_exact.cu: the natural map of data.z with an exact w. `sparse` is NULL with dense storage. */
ts_status cuda_lcp_exact_map(const ts_lcp *lcp, const lcp_sparse *sparse, const lcp_data<float> *data,
                             const lcp_vector &q, const lcp_vector &map);
ts_status cuda_lcp_exact_map(const ts_lcp *lcp, const lcp_sparse *sparse, const lcp_data<double> *data,
                             const lcp_vector &q, const lcp_vector &map);
/* data.sums = M z. */
ts_status cuda_lcp_product_sparse(const ts_lcp *lcp, lcp_sparse *sparse, const lcp_data<float> *data);
ts_status cuda_lcp_product_sparse(const ts_lcp *lcp, lcp_sparse *sparse, const lcp_data<double> *data);

#endif
