/* The runs of a stencil's rows, and the parts that they make up. Host code only. */
#ifndef TSI_STENCIL_PARTS_H
#define TSI_STENCIL_PARTS_H

#include "stencil_rows.h"

typedef struct tsi_stencil_runs {
  tsi_stencil_run *list;
  int32_t count, capacity;
  int32_t below, row;  /* where the runs of the row below and of this row begin */
  int32_t first_count; /* of the first row's */
} tsi_stencil_runs;

/* The runs of row j, whose marks are made, joined with those of the row below. In order of the rows. */
ts_status tsi_stencil_runs_add(ts_context *context, const tsi_stencil_rows *rows, tsi_stencil_runs *runs);
/* Of a periodic dimension: `rows` has gone on from the last row to the first. */
void tsi_stencil_runs_close(tsi_stencil_rows *rows, tsi_stencil_runs *runs);
/* The null-space components, and values without the equations that were dropped. `facts` takes the runs. */
ts_status tsi_stencil_find_parts(ts_context *context, size_t points, tsi_stencil_runs *runs,
                                 tsi_stencil_facts *facts);

#endif
