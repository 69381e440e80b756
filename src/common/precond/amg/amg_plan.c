/* The plan of updates: the places to which the products of R A P are added. The first update of a level
 * computes it, and later ones reuse it. Without updates it does not exist. */
#include "amg_places.h"

struct tsi_amg_plan {
  int is_refused; /* A P has too many entries */
  tsi_amg_csr AP; /* without indices */
  tsi_amg_places of_AP, of_C;
};

static void free_plan(ts_context *context, tsi_amg_plan *plan) {
  tsi_amg_csr_free(context, &plan->AP);
  tsi_amg_places_free(context, &plan->of_AP);
  tsi_amg_places_free(context, &plan->of_C);
}

void tsi_amg_plan_free(ts_context *context, tsi_amg_host_level *level) {
  if (!level->plan) return;
  free_plan(context, level->plan);
  tsi_free(context, level->plan);
  level->plan = NULL;
}

static ts_status find_places(ts_context *context, const tsi_amg_host_level *level, tsi_amg_csr *C,
                             tsi_amg_plan *plan) {
  const int32_t unknowns = level->unknowns, vectors = level->vectors;
  plan->of_AP = (tsi_amg_places){.height = unknowns, .width = unknowns, .wide = vectors};
  plan->of_C = (tsi_amg_places){.height = vectors, .width = unknowns, .wide = vectors};
  TSI_TRY(tsi_amg_places_find(context, &level->A, &level->P, &plan->AP, &plan->of_AP));
  TSI_TRY(tsi_poll(context));
  TSI_TRY(tsi_amg_places_find(context, &level->R, &plan->AP, C, &plan->of_C));
  tsi_free(context, plan->AP.indices);
  plan->AP.indices = NULL;
  return TS_OK;
}

static ts_status make_plan(ts_context *context, tsi_amg_host_level *level, tsi_amg_csr *C) {
  tsi_amg_plan *plan = tsi_calloc(context, 1, sizeof *plan);
  if (!plan) return tsi_out_of_memory(context, "an update of amg", sizeof *plan);
  level->plan = plan;
  const ts_status status = find_places(context, level, C, plan);
  if (status == TS_ERROR_LIMIT) {
    free_plan(context, plan);
    plan->is_refused = 1;
    tsi_clear_error(context);
    return TS_OK;
  }
  if (status < 0) tsi_amg_plan_free(context, level);
  return status;
}

ts_status tsi_amg_galerkin_again(ts_context *context, tsi_amg_host_level *level, tsi_amg_csr *C) {
  if (!level->plan) TSI_TRY(make_plan(context, level, C));
  TSI_TRY(tsi_poll(context));
  const tsi_amg_plan *plan = level->plan;
  if (plan->is_refused) return tsi_amg_galerkin(context, &level->R, &level->A, &level->P, level->vectors, C);
  tsi_amg_multiply(context, &plan->of_AP, 1, &level->A, &level->P, &plan->AP);
  tsi_amg_multiply(context, &plan->of_C, -1, &level->R, &plan->AP, C);
  tsi_amg_fill_zeros(context, C, level->vectors);
  return TS_OK;
}
