/* Solves of the tests of the system builder. */
#ifndef SYSTEM_SOLVE_H
#define SYSTEM_SOLVE_H

#include "dense.h"
#include "helpers.h"

extern ts_context *context;              /* of the case that runs */
extern const ts_system_solve_desc tight; /* the residual to 1e-6 */

/* Must converge. */
ts_status solve_system(ts_system *system, const ts_system_solve_desc *desc, ts_system_result *result);
/* Compares with the values of `d`, which are the solution. */
void solve_and_compare(ts_system *system, const dense *d, const ts_system_solve_desc *desc,
                       ts_system_result *result);

#endif
