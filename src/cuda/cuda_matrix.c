/* Matrices in device memory: made, given new values, given back. */
#include "cuda_matrix.h"
#include "cuda_grid.h"

/* As many threads as share a row with about four entries each. */
static int lanes_for(const tsi_host_csr *csr) {
  const int32_t rows = csr->rows, entries = csr->row_offsets[rows];
  int log2_lanes = 0;
  while (log2_lanes < 5 && (int64_t)rows * (10 << log2_lanes) < entries) log2_lanes++;
  return log2_lanes;
}

static ts_status write_values(ts_context *context, const cuda_csr *m, const tsi_host_csr *csr) {
  const size_t bytes = (size_t)m->entries * sizeof(float);
  if (csr->values) return cuda_upload(context, m->values, csr->values, bytes);
  if (bytes) CUDA_TRY(context, cudaMemsetAsync(m->values, 0, bytes, cuda_stream(context)));
  return TS_OK;
}

static ts_status csr_create(ts_context *context, cuda_csr *m, const tsi_host_csr *csr) {
  const size_t rows = (size_t)csr->rows, entries = (size_t)csr->row_offsets[rows];
  m->rows = csr->rows;
  m->entries = csr->row_offsets[rows];
  m->log2_lanes = lanes_for(csr);
  TSI_TRY(cuda_take_copy(context, (void **)&m->row_offsets, csr->row_offsets, (rows + 1) * sizeof(int32_t),
                         "row offsets"));
  TSI_TRY(cuda_take_copy(context, (void **)&m->columns, csr->column_indices, entries * sizeof(int32_t),
                         "column indices"));
  TSI_TRY(cuda_take(context, (void **)&m->values, entries * sizeof(float), "a matrix's values"));
  return write_values(context, m, csr);
}

static void release(ts_matrix *A) {
  ts_context *context = A->context;
  cuda_matrix *m = cuda_matrix_of(A);
  const size_t rows = (size_t)m->csr.rows, entries = (size_t)m->csr.entries;
  cuda_give(context, m->csr.row_offsets, (rows + 1) * sizeof(int32_t));
  cuda_give(context, m->csr.columns, entries * sizeof(int32_t));
  cuda_give(context, m->csr.values, entries * sizeof(float));
  cuda_give(context, m->locked, (size_t)A->row_space->tiling.size);
  tsi_free(context, m);
  A->impl = NULL;
}

ts_status cuda_matrix_create(ts_matrix *A, const tsi_packed *packed) {
  ts_context *context = A->context;
  cuda_matrix *m = tsi_calloc(context, 1, sizeof *m);
  if (!m) return tsi_out_of_memory(context, "a matrix", sizeof *m);
  A->impl = m;
  ts_status status = csr_create(context, &m->csr, packed->csr);
  if (status == TS_OK && A->row_space->locked)
    status = cuda_take_copy(context, (void **)&m->locked, A->row_space->locked,
                            (size_t)A->row_space->tiling.size, "locked rows");
  if (status < 0) release(A);
  return status;
}

ts_status cuda_matrix_write(ts_matrix *A, const tsi_packed *packed) {
  return write_values(A->context, &cuda_matrix_of(A)->csr, packed->csr);
}

void cuda_matrix_destroy(ts_matrix *A) {
  if (A->stencil)
    cuda_stencil_destroy(A);
  else
    release(A);
}
