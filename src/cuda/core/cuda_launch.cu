/* Kernel launches, and a check whether kernels can start before the previous one has ended (cuda_start). Both
 * the device and the compiled code must support it. */
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

ts_status cuda_launch_kernel(ts_context *context, const char *name, const void *kernel, dim3 blocks,
                             dim3 threads, bool early, void **arguments) {
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attribute = {};
  config.gridDim = blocks;
  config.blockDim = threads;
  config.stream = cuda_stream(context);
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  config.attrs = &attribute;
  config.numAttrs = early && cuda_state_of(context)->dependent_launch ? 1 : 0;
  const cudaError_t error = cudaLaunchKernelExC(&config, kernel, arguments);
  return error == cudaSuccess ? TS_OK : cuda_report(context, error, name, __FILE__, __LINE__);
}
