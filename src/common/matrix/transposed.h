/* The transpose of a matrix, as a matrix of its own. */
#ifndef TSI_TRANSPOSED_H
#define TSI_TRANSPOSED_H

#include "common/core/backend.h"

/* A^T over the same two spaces, with A's present values and exponent. A owns it; it is made with the first
 * call, and replaced if the pattern that the device stores has changed. */
ts_status tsi_matrix_transpose(ts_matrix *A, ts_matrix **transposed);
void tsi_transposed_destroy(ts_matrix *A);

#endif
