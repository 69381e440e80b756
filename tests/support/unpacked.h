/* Compares the result of tsi_format.unpack on packed arrays with the matrix they were made from. */
#ifndef UNPACKED_H
#define UNPACKED_H

#include "common/layout/layout_build.h"

/* Every entry of input->csr must occur once, with its value, and all other stored values must be 0. */
void check_unpacked(ts_context *context, const tsi_layout *layout, const tsi_layout_input *input,
                    const tsi_packed *packed);

#endif
