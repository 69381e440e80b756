/* The watched operations of conjugate gradients. */
#include "check/core/check.h"

static const tsi_cg_ops *inner_of(const ts_context *context) {
  return check_state_of(context)->inner->cg;
}

int check_cg_fits(const ts_matrix *A) {
  return inner_of(A->context)->fits(A);
}

ts_status check_cg_update(const tsi_cg_update *u) {
  TSI_TRY(check_poison(u->r_new));
  TSI_TRY(check_poison(u->d_new));
  TSI_TRY(inner_of(u->e->context)->update(u));
  check_count(u->e->context, "cg_update");
  TSI_TRY(check_vector("cg_update", u->e, 0));
  TSI_TRY(check_vector("cg_update", u->r_new, 0));
  return check_vector("cg_update", u->d_new, 0);
}

ts_status check_cg_iterate(const tsi_cg_iterations *run) {
  TSI_TRY(check_poison(run->q));
  TSI_TRY(check_poison_slot(run->slots, run->rr, 0));
  TSI_TRY(check_poison_slot(run->slots, run->done, 0));
  TSI_TRY(inner_of(run->e->context)->iterate(run));
  check_count(run->e->context, "cg_iterate");
  TSI_TRY(check_vector("cg_iterate", run->e, 0));
  TSI_TRY(check_vector("cg_iterate", run->r, 0));
  TSI_TRY(check_vector("cg_iterate", run->d, 0));
  TSI_TRY(check_slot("cg_iterate", run->slots, run->rr, run->e->components, 0));
  return check_slot("cg_iterate", run->slots, run->done, 1, 0);
}
