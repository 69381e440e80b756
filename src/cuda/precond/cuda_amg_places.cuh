/* Updates of R A P for cuda_amg_galerkin.cu, as cuda_amg_places.cu says. */
#ifndef CUDA_AMG_PLACES_CUH
#define CUDA_AMG_PLACES_CUH

#include "cuda_amg_product.cuh"

/* Fills in `again`, whose memory the caller gives back on failure, from a product that is there: `of_AP` with
 * the nodes of A P. Waits. */
ts_status cuda_amg_note_places(cuda_amg_again *again, const product &of_AP, const cuda_amg_csr *R,
                               const cuda_amg_csr *C);
/* The values of C, by notes that are not refused. */
ts_status cuda_amg_multiply_placed(const cuda_amg_again *again, const cuda_amg_csr *R, const cuda_amg_csr *A,
                                   const cuda_amg_csr *P, int unknowns, const cuda_amg_csr *C);

#endif
