/* The application's arrays in memory that the device can access. C, as cuda.h. */
#ifndef CUDA_ARRAYS_H
#define CUDA_ARRAYS_H

#include "cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "common/core/array.h"
#include "common/layout/format_samples.h"

/* The context's stream waits for the work that is in the array's stream now; and the reverse. The device is
 * current. */
ts_status cuda_after(ts_context *context, const ts_array *array);
ts_status cuda_before(ts_context *context, const ts_array *array);

/* Parts of doubles: parts[p] is NULL from the first one that is not wanted on. */
typedef struct cuda_parts {
  float *part[3];
} cuda_parts;
static inline cuda_parts cuda_parts_of(const ts_vector *v) {
  cuda_parts parts = {{0}};
  for (int p = 0; v && p < 3; p++, v = v->low) parts.part[p] = cuda_data(v);
  return parts;
}

/* cuda_given.cu: tsi_array_ops of matrices. */
ts_status cuda_given_take(ts_context *context, const ts_csr *csr, const ts_triplets *triplets,
                          tsi_given_options options, tsi_given *given);
void cuda_given_free(ts_context *context, tsi_given *given);
ts_status cuda_given_offsets(ts_context *context, const tsi_given *given, int32_t **offsets);
ts_status cuda_given_samples(ts_context *context, const tsi_given *given, const tsi_samples *samples,
                             int32_t *columns);
ts_status cuda_given_lay_out(ts_context *context, ts_format format, tsi_given *given, tsi_layout *layout);
ts_status cuda_given_has_pattern(const ts_matrix *A, const tsi_given *given, int *same);

#ifdef __cplusplus
}
#endif

#endif
