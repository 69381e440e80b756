/* The application's arrays in device-accessible memory. C, like cuda.h. */
#ifndef CUDA_ARRAYS_H
#define CUDA_ARRAYS_H

#include "cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "common/core/array.h"
#include "common/layout/format_samples.h"

/* cuda_after: the context's stream waits for the work enqueued so far on the array's stream. cuda_before: the
 * array's stream waits for the context's. The device must be current. */
ts_status cuda_after(ts_context *context, const ts_array *array);
ts_status cuda_before(ts_context *context, const ts_array *array);

/* The parts of doubles. part[p] is NULL for unwanted parts, which are the last ones. */
typedef struct cuda_parts {
  float *part[3];
} cuda_parts;
static inline cuda_parts cuda_parts_of(const ts_vector *v) {
  cuda_parts parts = {{0}};
  for (int p = 0; v && p < 3; p++, v = v->low) parts.part[p] = cuda_data(v);
  return parts;
}

/* cuda_given.cu: the matrix functions of tsi_array_ops. */
ts_status cuda_given_create(ts_context *context, const ts_csr *csr, const ts_triplets *triplets,
                            tsi_given_options options, tsi_given *given);
void cuda_given_free(ts_context *context, tsi_given *given);
ts_status cuda_given_offsets(ts_context *context, const tsi_given *given, int32_t **offsets);
ts_status cuda_given_samples(ts_context *context, const tsi_given *given, const tsi_samples *samples,
                             int are_offsets, int32_t *numbers);
ts_status cuda_given_lay_out(ts_context *context, ts_format format, tsi_given *given, tsi_layout *layout);
ts_status cuda_given_has_pattern(const ts_matrix *A, const tsi_given *given, int *same);

#ifdef __cplusplus
}
#endif

#endif
