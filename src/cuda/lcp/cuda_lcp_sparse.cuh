/* Sparse complementarity problems on CUDA: what lcp_sparse.h describes, in device memory. */
#ifndef CUDA_LCP_SPARSE_CUH
#define CUDA_LCP_SPARSE_CUH

#include "cuda_lcp.cuh"

/* Contacts begin .. end - 1, whose blocks begin at `block`; so many numbers have those of the first. Bit k of
 * `first`: it is the first in its order that has the body of block k, where the units are not wide. */
struct alignas(16) lcp_unit {
  int begin, end, block, numbers;
  unsigned first;
};

enum {
  LCP_LAW =
      24 /* numbers that a contact's law is solved with: those of lcp_contact_reduce, and its block of M */
};

/* The order of a sweep. */
struct lcp_steps {
  void *block;
  size_t bytes;
  lcp_unit *units; /* as in tsi_lcp_steps */
  int *start;
  int count, most; /* steps, and units of the longest */
};

/* The numbers are in the type of the problem's. */
struct lcp_sparse {
  void *block; /* all arrays */
  size_t bytes;
  void *blocks, *mass_blocks, *diagonal;
  void *v, *next; /* of bodies: now, and where the next sweep starts */
  bool is_wide;   /* units have more numbers or rows than a warp has lanes, or no bodies */
  void *laws;     /* of contacts: LCP_LAW numbers */
  int *row_start, *columns;
  lcp_unit *units; /* in their own order */
  /* Of factors: body b has the blocks body_blocks[body_start[b]] .. of contacts body_contacts[..], ascending.
   */
  int *body_start, *body_blocks, *body_contacts;
  lcp_steps levels, colours; /* made with the first sweep that needs them */
};

/* Replaces what is in `to`, which is kept on failure. */
ts_status cuda_lcp_write_sparse(const ts_lcp *lcp, const tsi_lcp_sparse *sparse, lcp_sparse *to);
void cuda_lcp_forget_sparse(ts_context *context, lcp_sparse *sparse);
/* Units in an order; NULL: their own. */
ts_status cuda_lcp_write_units(ts_context *context, const tsi_lcp_sparse *sparse, const int *order,
                               lcp_unit *to);

/* Sweeps from data.z to data.z. */
ts_status cuda_lcp_sweep_sparse(const ts_lcp *lcp, lcp_sparse *sparse, const lcp_run *run,
                                const lcp_data<float> *data);
ts_status cuda_lcp_sweep_sparse(const ts_lcp *lcp, lcp_sparse *sparse, const lcp_run *run,
                                const lcp_data<double> *data);
/* data.sums = M z. */
ts_status cuda_lcp_product_sparse(const ts_lcp *lcp, lcp_sparse *sparse, const lcp_data<float> *data);
ts_status cuda_lcp_product_sparse(const ts_lcp *lcp, lcp_sparse *sparse, const lcp_data<double> *data);

#endif
