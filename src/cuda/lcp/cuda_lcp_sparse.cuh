/* Sparse complementarity problems on CUDA: what lcp_sparse.h describes, in device memory. */
#ifndef CUDA_LCP_SPARSE_CUH
#define CUDA_LCP_SPARSE_CUH

#include "cuda_lcp.cuh"

/* Contacts begin .. end - 1, whose blocks begin at `block`; so many numbers have those of the first. */
struct alignas(16) lcp_unit {
  int begin, end, block, numbers;
};

/* Of a block of a unit's first contact: its body, how many units of the order have that, and how many do
 * before. */
struct lcp_turn {
  int body, units, before;
};

enum {
  LCP_LAW =
      24 /* numbers that a contact's law is solved with: those of lcp_contact_reduce, and its block of M */
};

/* The order of a sweep. */
struct lcp_order {
  void *block;
  size_t bytes;
  lcp_unit *units;
  lcp_turn *turns; /* of blocks as `columns` has them; where units are wide there are none */
  int *start;      /* of steps, whose units have nothing in common; NULL: each unit follows the one before */
  int steps, most; /* most: units of the longest step */
};

/* The numbers are in the type of the problem's. */
struct lcp_sparse {
  void *block; /* all arrays */
  size_t bytes;
  void *blocks, *mass_blocks, *diagonal;
  void *v;
  double *exact_v; /* v of exact residuals: its numbers, and then what rounding has left out of them */
  void *words;  /* of v and of what the next sweep starts from, of each of v's numbers (cuda_lcp_words.cuh) */
  bool is_wide; /* units have more numbers or rows than a warp has lanes, or no bodies */
  void *laws;   /* of contacts: LCP_LAW numbers */
  int *row_start, *columns;
  /* Of factors: body b has the blocks body_blocks[body_start[b]] .. of contacts body_contacts[..], ascending.
   */
  int *body_start, *body_blocks, *body_contacts;
  lcp_order own, levels, colours; /* made with the first sweep that needs them */
};

/* Replaces what is in `to`, which is kept on failure. */
ts_status cuda_lcp_write_sparse(const ts_lcp *lcp, const tsi_lcp_sparse *sparse, lcp_sparse *to);
void cuda_lcp_forget_sparse(ts_context *context, lcp_sparse *sparse);
ts_status cuda_lcp_order_of(const ts_lcp *lcp, ts_lcp_scheme scheme, lcp_sparse *sparse,
                            const lcp_order **order);

/* Sweeps from data.z to data.z. */
ts_status cuda_lcp_sweep_sparse(const ts_lcp *lcp, lcp_sparse *sparse, const lcp_run *run,
                                const lcp_data<float> *data);
ts_status cuda_lcp_sweep_sparse(const ts_lcp *lcp, lcp_sparse *sparse, const lcp_run *run,
                                const lcp_data<double> *data);
/* cuda_lcp_exact.cu: the map of data.z with an exact w. `sparse`: NULL with dense storage. */
ts_status cuda_lcp_exact_map(const ts_lcp *lcp, const lcp_sparse *sparse, const lcp_data<float> *data,
                             const lcp_vector &q, const lcp_vector &map);
ts_status cuda_lcp_exact_map(const ts_lcp *lcp, const lcp_sparse *sparse, const lcp_data<double> *data,
                             const lcp_vector &q, const lcp_vector &map);
/* data.sums = M z. */
ts_status cuda_lcp_product_sparse(const ts_lcp *lcp, lcp_sparse *sparse, const lcp_data<float> *data);
ts_status cuda_lcp_product_sparse(const ts_lcp *lcp, lcp_sparse *sparse, const lcp_data<double> *data);

#endif
