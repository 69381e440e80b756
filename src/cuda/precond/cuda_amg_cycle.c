/* Cycles as graphs. A cycle consists of about a hundred short kernels, and most take less time than their
 * launch. A solver repeats the same cycle with the same vectors in each iteration. From the second time on the
 * cycle is launched as a whole. */
#include "cuda_amg.h"

void cuda_amg_forget_cycles(const tsi_amg *amg) {
  cuda_amg_hierarchy *h = amg->device;
  for (int k = 0; h && k < CUDA_AMG_RECORDINGS; k++) {
    if (h->recordings[k].graph) cudaGraphExecDestroy(h->recordings[k].graph);
    h->recordings[k] = (cuda_amg_recording){0};
  }
}

/* The recording of a cycle with these vectors. A new one replaces the oldest. */
static cuda_amg_recording *find(cuda_amg_hierarchy *h, const float *x, const float *b, int *is_new) {
  *is_new = 0;
  for (int k = 0; k < CUDA_AMG_RECORDINGS; k++)
    if (h->recordings[k].x == x && h->recordings[k].b == b) return &h->recordings[k];
  *is_new = 1;
  h->newest = (h->newest + 1) % CUDA_AMG_RECORDINGS;
  cuda_amg_recording *r = &h->recordings[h->newest];
  if (r->graph) cudaGraphExecDestroy(r->graph);
  *r = (cuda_amg_recording){.x = x, .b = b};
  return r;
}

/* Records the kernels that `body` launches, without launching them. If that fails, they are launched one by
 * one. */
static void record(const tsi_amg *amg, ts_vector *x, const ts_vector *b, tsi_amg_body *body,
                   cuda_amg_recording *r) {
  const cudaStream_t stream = cuda_stream(amg->context);
  cudaGraph_t graph = NULL;
  r->refused = 1;
  if (cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) != cudaSuccess) {
    cudaGetLastError();
    return;
  }
  const ts_status status = body(amg, x, b);
  const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
  if (ended == cudaSuccess && status == TS_OK)
    r->refused = cudaGraphInstantiateWithFlags(&r->graph, graph, 0) != cudaSuccess;
  if (graph) cudaGraphDestroy(graph);
  cudaGetLastError();
}

ts_status cuda_amg_cycle(const tsi_amg *amg, ts_vector *x, const ts_vector *b, tsi_amg_body *body) {
  int is_new;
  cuda_amg_recording *r = find(amg->device, cuda_data(x), cuda_data(b), &is_new);
  if (!is_new && !r->graph && !r->refused) record(amg, x, b, body, r);
  if (!r->graph) return body(amg, x, b);
  CUDA_TRY(amg->context, cudaGraphLaunch(r->graph, cuda_stream(amg->context)));
  return TS_OK;
}
