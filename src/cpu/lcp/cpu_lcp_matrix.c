/* Matrices of complementarity problems on the CPU. The threads that sweep over a matrix write it, so that its
 * pages are in their memory (Courtecuisse and Allard 2009, IV.B). Also creates the matrix by columns. */
#include "cpu_lcp.h"

typedef struct write_job {
  const ts_lcp *lcp;
  const tsi_lcp_matrix *matrix;
  size_t problem, shares; /* the first problem; shares of the blocks of each problem */
} write_job;

/* Items are the shares of the first problem, then of the second, and so on. */
static void body_write(const void *arguments, size_t first, size_t last) {
  const write_job *job = arguments;
  const size_t blocks = cpu_lcp_blocks(job->lcp);
  for (size_t item = first; item < last; item++)
    for (size_t b = item % job->shares; b < blocks; b += job->shares)
      (job->lcp->is_double ? cpu_lcp_write_double : cpu_lcp_write_float)(job->lcp, job->matrix,
                                                                         job->problem + item / job->shares, b);
}

void cpu_lcp_forget_columns(const ts_lcp *lcp) {
  cpu_lcp *impl = lcp->impl;
  tsi_device_free(lcp->context, impl->columns_bytes);
  tsi_free(lcp->context, impl->columns_block);
  impl->columns = impl->columns_block = NULL;
  impl->columns_bytes = 0;
  impl->has_columns = impl->is_symmetric = 0;
}

/* If threads share each problem, writes one problem at a time, so that a range is the share of one thread. */
ts_status cpu_lcp_write_matrix(ts_lcp *lcp, const tsi_lcp_matrix *matrix) {
  const size_t shares = cpu_lcp_threads(lcp), n = (size_t)lcp->size;
  if (matrix->sparse) return cpu_lcp_write_sparse(lcp, matrix->sparse);
  const size_t problems = shares > 1 ? 1 : (size_t)lcp->batch;
  cpu_lcp_forget_columns(lcp);
  ((cpu_lcp *)lcp->impl)->symmetry = 0;
  for (size_t k = 0; k < (size_t)lcp->batch; k += problems)
    cpu_for(lcp->context, shares * problems, n * n / shares, body_write, &(write_job){lcp, matrix, k, shares});
  return TS_OK;
}

/* ---- By columns ---- */

typedef struct column_job {
  const ts_lcp *lcp;
  size_t problem;
} column_job;

static void body_columns(const void *arguments, size_t first, size_t last) {
  const column_job *job = arguments;
  const size_t n = (size_t)job->lcp->size, block = cpu_lcp_block(job->lcp), end = last * block;
  (job->lcp->is_double ? cpu_lcp_transpose_double : cpu_lcp_transpose_float)(job->lcp, job->problem,
                                                                             first * block, end < n ? end : n);
}

int cpu_lcp_is_nearly_symmetric(const ts_lcp *lcp) {
  cpu_lcp *impl = lcp->impl;
  if (impl->symmetry == 0)
    impl->symmetry =
        (lcp->is_double ? cpu_lcp_is_symmetric_double : cpu_lcp_is_symmetric_float)(lcp, TSI_LCP_SLACK) ? 1
                                                                                                        : -1;
  return impl->symmetry > 0;
}

ts_status cpu_lcp_make_columns(const ts_lcp *lcp) {
  cpu_lcp *impl = lcp->impl;
  if (impl->has_columns) return TS_OK;
  impl->is_symmetric = (lcp->is_double ? cpu_lcp_is_symmetric_double : cpu_lcp_is_symmetric_float)(lcp, 0);
  if (!impl->is_symmetric) {
    const size_t problem = impl->rows * impl->stride * cpu_lcp_size_of(lcp);
    const size_t bytes = (size_t)lcp->batch * problem + CPU_ALIGNMENT;
    TSI_TRY(tsi_device_alloc(lcp->context, bytes, "a dense matrix by columns"));
    impl->columns_block = tsi_malloc(lcp->context, bytes, 1);
    if (!impl->columns_block) {
      tsi_device_free(lcp->context, bytes);
      return tsi_out_of_memory(lcp->context, "a dense matrix by columns", bytes);
    }
    impl->columns_bytes = bytes;
    impl->columns =
        (void *)(((uintptr_t)impl->columns_block + CPU_ALIGNMENT - 1) / CPU_ALIGNMENT * CPU_ALIGNMENT);
    for (size_t k = 0; k < (size_t)lcp->batch; k++)
      cpu_for(lcp->context, cpu_lcp_blocks(lcp), (size_t)lcp->size * cpu_lcp_block(lcp), body_columns,
              &(column_job){lcp, k});
  }
  impl->has_columns = 1;
  return TS_OK;
}
