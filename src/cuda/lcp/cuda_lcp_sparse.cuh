/* Sparse complementarity problems on CUDA: what lcp_sparse.h describes, in device memory. */
#ifndef CUDA_LCP_SPARSE_CUH
#define CUDA_LCP_SPARSE_CUH

#include "cuda_lcp.cuh"

/* The order of a sweep. */
struct lcp_steps {
  void *block;
  size_t bytes;
  int *start, *units; /* as in tsi_lcp_steps */
  int count, most;    /* steps, and units of the longest */
};

/* The numbers are in the type of the problem's. */
struct lcp_sparse {
  void *block; /* all arrays */
  size_t bytes;
  void *blocks, *mass_blocks, *diagonal, *v;
  int *row_start, *columns, *unit_start;
  /* Of factors: body b has the blocks body_blocks[body_start[b]] .. of contacts body_contacts[..], ascending.
   */
  int *body_start, *body_blocks, *body_contacts;
  lcp_steps levels, colours; /* made with the first sweep that needs them */
};

/* Replaces what is in `to`, which is kept on failure. */
ts_status cuda_lcp_write_sparse(const ts_lcp *lcp, const tsi_lcp_sparse *sparse, lcp_sparse *to);
void cuda_lcp_forget_sparse(ts_context *context, lcp_sparse *sparse);

/* Sweeps from data.z to data.z. */
ts_status cuda_lcp_sweep_sparse(const ts_lcp *lcp, lcp_sparse *sparse, const lcp_run *run,
                                const lcp_data<float> *data);
ts_status cuda_lcp_sweep_sparse(const ts_lcp *lcp, lcp_sparse *sparse, const lcp_run *run,
                                const lcp_data<double> *data);
/* data.sums = M z. */
ts_status cuda_lcp_product_sparse(const ts_lcp *lcp, lcp_sparse *sparse, const lcp_data<float> *data);
ts_status cuda_lcp_product_sparse(const ts_lcp *lcp, lcp_sparse *sparse, const lcp_data<double> *data);

#endif
