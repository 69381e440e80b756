/* The transpose of a matrix, as a separate matrix. */
#ifndef TSI_TRANSPOSED_H
#define TSI_TRANSPOSED_H

#include "common/core/backend.h"

/* A^T over the same two spaces, with A's current values and exponent. A owns it. It is created by the first
 * call, and replaced if the pattern stored on the device has changed. */
ts_status tsi_matrix_transpose(ts_matrix *A, ts_matrix **transposed);
void tsi_transposed_destroy(ts_matrix *A);

#endif
