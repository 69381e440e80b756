/* Solves for the tests of the system builder. */
#ifndef SYSTEM_SOLVE_H
#define SYSTEM_SOLVE_H

#include "dense.h"
#include "helpers.h"

extern ts_context *context;              /* of the running case */
extern const ts_system_solve_desc tight; /* a tolerance of 1e-6 */

/* The solve must converge. */
ts_status solve_system(ts_system *system, const ts_system_solve_desc *desc, ts_system_result *result);
/* Compares the solution with the values of `d`. */
void solve_and_compare(ts_system *system, const dense *d, const ts_system_solve_desc *desc,
                       ts_system_result *result);

#endif
