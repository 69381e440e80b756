/* What tsi_format.unpack finds in packed arrays, against the matrix that they were made of. */
#ifndef UNPACKED_H
#define UNPACKED_H

#include "common/layout/layout_build.h"

/* Every entry of input->csr once, with its value; all else that is stored is 0. */
void check_unpacked(ts_context *context, const tsi_layout *layout, const tsi_layout_input *input,
                    const tsi_packed *packed);

#endif
