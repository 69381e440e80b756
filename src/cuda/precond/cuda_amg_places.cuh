/* Updates of R A P for cuda_amg_galerkin.cu; see cuda_amg_places.cu. */
#ifndef CUDA_AMG_PLACES_CUH
#define CUDA_AMG_PLACES_CUH

#include "cuda_amg_product.cuh"

/* Fills in `again` from a finished product. `of_AP` has the nodes of A P. On failure the caller frees the
 * memory of `again`. Waits. */
ts_status cuda_amg_note_places(cuda_amg_again *again, const product &of_AP, const cuda_amg_csr *R,
                               const cuda_amg_csr *C);
/* Computes the values of C from notes that are not refused. */
ts_status cuda_amg_multiply_placed(const cuda_amg_again *again, const cuda_amg_csr *R, const cuda_amg_csr *A,
                                   const cuda_amg_csr *P, int unknowns, const cuda_amg_csr *C);

#endif
