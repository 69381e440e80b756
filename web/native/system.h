/* Equations in one call: see tsw_system_assemble. */
#ifndef TEXSOLVE_WEB_SYSTEM_H
#define TEXSOLVE_WEB_SYSTEM_H

#include <texsolve/system.h>

/* Assembles a system: rows in compressed form, with `components` right-hand sides each, then entries. Entry k
 * adds a[k] to the coefficient of unknown j[k] in equation i[k]; with i[k] = -1 - e it adds a[k] to right-hand
 * side j[k] of equation e. */
ts_status tsw_system_assemble(ts_system *system, int components, int32_t rows, const int32_t *offsets,
                              const int32_t *unknowns, const double *coefficients,
                              const double *right_hand_sides, const double *weights, int32_t entries,
                              const int32_t *i, const int32_t *j, const double *a);

#endif
