/* Whether kernels can begin before the one before has ended (cuda_start): the device must, and the code must be
 * made for such a one. */
#include "cuda_kernels.cuh"

static __global__ void nothing(void) {}

ts_status cuda_find_dependent_launch(ts_context *context) {
  cuda_state *state = cuda_state_of(context);
  struct cudaFuncAttributes attributes;
  int major = 0;
  CUDA_TRY(context, cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, state->device));
  CUDA_TRY(context, cudaFuncGetAttributes(&attributes, (const void *)nothing));
  state->dependent_launch = CUDA_KNOWS_DEPENDENT_LAUNCH && major >= 9 && attributes.ptxVersion >= 90;
  return TS_OK;
}
