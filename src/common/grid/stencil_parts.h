/* The runs of a stencil's rows, and the parts that they form. Host code only. */
#ifndef TSI_STENCIL_PARTS_H
#define TSI_STENCIL_PARTS_H

#include "stencil_rows.h"

typedef struct tsi_stencil_runs {
  tsi_stencil_run *list;
  int32_t count, capacity;
  int32_t below, row;  /* first run of the row below and of this row */
  int32_t first_count; /* runs of the first row */
} tsi_stencil_runs;

/* Adds the runs of row j, after its marks are set, and joins them with those of the row below. Call it in the
 * order of the rows. */
ts_status tsi_stencil_runs_add(ts_context *context, const tsi_stencil_rows *rows, tsi_stencil_runs *runs);
/* Closes a periodic dimension, after `rows` has advanced from the last row to the first. */
void tsi_stencil_runs_close(tsi_stencil_rows *rows, tsi_stencil_runs *runs);
/* Finds the null-space components, and the values without the dropped equations. `facts` takes ownership of the
 * runs. */
ts_status tsi_stencil_find_parts(ts_context *context, size_t points, tsi_stencil_runs *runs,
                                 tsi_stencil_facts *facts);

#endif
