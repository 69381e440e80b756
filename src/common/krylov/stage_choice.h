/* Shared by the stages of auto: the state of the stages, and the choice among them. */
#ifndef TSI_STAGE_CHOICE_H
#define TSI_STAGE_CHOICE_H

#include "outlook.h"
#include "stages.h"

enum { CHOSEN, CYCLES, MINRES, FACTORS, PLAIN, DIRECT, LEAST, STAGES, MOST_RUNS = 2 * STAGES };

struct tsi_stages {
  ts_solver *solvers[STAGES]; /* NULL: not created yet. The first is the caller's */
  ts_solver_desc asked;       /* with max_iterations resolved */
  unsigned excluded, tried;   /* bit masks: stages that the matrix rules out; stages that ran in this solve */
  int begins_with, last;      /* the first stage of the next solve, and the last stage of the last solve */
  int leaves_for_amg;         /* the stage was left for amg */
  double jacobi_time;         /* nanoseconds of the last solve that Jacobi ended; 0: none yet */
  tsi_outlook outlook;        /* of the first stage, if its method is cg */
  int is_singular;            /* according to the direct factors, or their failure */
  double direct_time;         /* nanoseconds of the direct factors; 0: not known yet; INFINITY: not available */
  int count;                  /* number of runs of the last solve */
  ts_stage_info runs[MOST_RUNS];
  char choices[MOST_RUNS][200], messages[MOST_RUNS][160];
};

/* The stage that follows a failed run; -1: none. */
int tsi_stage_following(tsi_stages *t, int stage, const ts_result *r);
/* Called when a stage has ended a solve: sets the first stage of the next solve. */
void tsi_stage_learn(tsi_stages *t, int stage, const ts_result *r);
/* The residual is at the limit set by rounding x. */
int tsi_stage_is_at_limit(const ts_result *r);
/* Whether no other stage can do better. */
int tsi_stage_is_final(const ts_solver *k, const ts_result *r);

#endif
