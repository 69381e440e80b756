/* What the stages of auto share: what there is of each, and the choice among them. */
#ifndef TSI_STAGE_CHOICE_H
#define TSI_STAGE_CHOICE_H

#include "outlook.h"
#include "stages.h"

enum { CHOSEN, CYCLES, MINRES, FACTORS, PLAIN, DIRECT, LEAST, STAGES, MOST_RUNS = 2 * STAGES };

struct tsi_stages {
  ts_solver *solvers[STAGES]; /* NULL: not made so far. The first is the caller's */
  ts_solver_desc asked;       /* with max_iterations resolved */
  unsigned excluded, tried;   /* bits: what cannot be made for the matrix, what has run in this solve */
  int begins_with, last;      /* of the next solve, of the last */
  int leaves_for_amg;         /* the stage that was left */
  double jacobi_time;         /* of the last solve that ended with it, in nanoseconds; 0: none has */
  tsi_outlook outlook;        /* of the first, if its method is cg */
  int is_singular;            /* as the direct factors say, or their failure */
  double direct_time;         /* nanoseconds that factors take; 0: not known so far; INFINITY: there are none */
  int count;                  /* runs of the last solve */
  ts_stage_info runs[MOST_RUNS];
  char choices[MOST_RUNS][200], messages[MOST_RUNS][160];
};

/* What may follow a run that has failed; -1: nothing. */
int tsi_stage_following(tsi_stages *t, int stage, const ts_result *r);
/* A solve has ended with a stage: what the next begins with. */
void tsi_stage_learn(tsi_stages *t, int stage, const ts_result *r);
/* The residual is what rounding x leaves. */
int tsi_stage_is_at_limit(const ts_result *r);
/* Whether no stage can do better. */
int tsi_stage_is_final(const ts_solver *k, const ts_result *r);

#endif
