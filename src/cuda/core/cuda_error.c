/* Errors of the CUDA runtime as statuses. */
#include <string.h>

#include "cuda.h"

/* Sticky errors of kernels: CUDA returns them from every later call. */
static int is_lost(cudaError_t error) {
  switch (error) {
  case cudaErrorIllegalAddress:
  case cudaErrorMisalignedAddress:
  case cudaErrorInvalidAddressSpace:
  case cudaErrorInvalidPc:
  case cudaErrorIllegalInstruction:
  case cudaErrorHardwareStackError:
  case cudaErrorAssert:
  case cudaErrorLaunchFailure:
  case cudaErrorLaunchTimeout:
  case cudaErrorECCUncorrectable:
    return 1;
  default:
    return 0;
  }
}

ts_status cuda_report(ts_context *context, cudaError_t error, const char *call, const char *file, int line) {
  /* Clears the error if possible, so that the next call does not report it again. */
  cudaGetLastError();
  const char *slash = strrchr(file, '/');
  const ts_status status = error == cudaErrorMemoryAllocation ? TS_ERROR_OUT_OF_DEVICE_MEMORY : TS_ERROR_DEVICE;
  const size_t name = strcspn(call, "(<");
  return tsi_fail(context, status, "CUDA: %.*s failed: %s (%s, at %s:%d)%s", (int)name, call,
                  cudaGetErrorString(error), cudaGetErrorName(error), slash ? slash + 1 : file, line,
                  is_lost(error) ? "; a kernel failed, and this process cannot use the device any more" : "");
}
