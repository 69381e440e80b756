/* Auto in stages: the continuation of a solve if the method or the preconditioner that auto chose fails. */
#ifndef TSI_STAGES_H
#define TSI_STAGES_H

#include "solver.h"

/* Whether auto may continue with other stages: the caller left the method and the preconditioner open. */
int tsi_stages_are_open(const ts_solver_desc *asked);
/* Called when a solver is created: the solver becomes the first stage. */
ts_status tsi_stages_create(ts_solver *first, const ts_solver_desc *asked);
void tsi_stages_destroy(ts_solver *first);
/* ts_solver_solve with valid arguments, stage by stage. */
ts_status tsi_stages_solve(ts_solver *first, const ts_vector *b, ts_vector *x, ts_result *result);
/* The stage that ended the last solve; before the first solve, the caller's solver. */
const ts_solver *tsi_stages_present(const ts_solver *first);
/* The running solve of a stage, or of a solver without stages, if its progress callback is running; otherwise
 * NULL. */
const tsi_solve *tsi_stages_at_check(const ts_solver *first);

/* Records the numbers of an iteration of cg. The second function returns how many of `steps` iterations should
 * precede the next check. */
void tsi_stage_note_iteration(const tsi_solve *s, int iteration);
int tsi_stage_steps(const ts_solver *k, int iteration, int steps);
/* After a check: ends the iterations of a stage that is no longer worth its time (s->solver->is_left). */
void tsi_stage_watch(tsi_solve *s, int checked, int count);

/* Whether the next solve starts from 0. Each stage after the first continues with x. */
int *tsi_solver_zero_start(ts_solver *k);

#endif
