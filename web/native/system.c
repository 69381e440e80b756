/* Hands the equations of a system over in one call. */
#include <texsolve/system.h>

#include "system.h"

static ts_status add_entries(ts_system *system, int32_t count, const int32_t *i, const int32_t *j,
                             const double *a) {
  ts_status status = TS_OK;
  for (int32_t k = 0; k < count && status == TS_OK; k++)
    status = i[k] >= 0 ? ts_system_add(system, i[k], j[k], a[k])
                       : ts_system_add_right_hand_side(system, -1 - i[k], j[k], a[k]);
  return status;
}

ts_status tsw_system_assemble(ts_system *system, int components, int32_t rows, const int32_t *offsets,
                              const int32_t *unknowns, const double *coefficients,
                              const double *right_hand_sides, const double *weights, int32_t entries,
                              const int32_t *i, const int32_t *j, const double *a) {
  ts_status status = ts_system_begin(system);
  for (int32_t row = 0; row < rows && status == TS_OK; row++) {
    const int32_t first = offsets[row];
    status = ts_system_row(system, offsets[row + 1] - first, unknowns + first, coefficients + first,
                           right_hand_sides + (size_t)row * (size_t)components, weights[row]);
  }
  if (status == TS_OK) status = add_entries(system, entries, i, j, a);
  return status == TS_OK ? ts_system_end(system) : status;
}
