/* The stages of a level that parts share: aggregates, the prolongator, and the next level's rows. */
#include <math.h>

#include "multi_amg.h"

/* ---- Aggregates ---- */

/* The first level also gets its near-null space, which the votes have chosen. */
static ts_status group(multi_amg_work *s, ts_context *part, int p) {
  tsi_amg_part_level *level = &s->level.part[p];
  if (s->depth == 0) TSI_TRY(s->ops->units(part, level, s->scaled));
  return s->ops->group(part, level, s->amg->desc.strength, s->depth);
}

/* Copies the rows of the window that belong to part q. */
static ts_status bring_from(const multi_amg_work *s, ts_context *part, int p, int q) {
  const tsi_amg_part_level *to = &s->level.part[p], *from = &s->level.part[q];
  const int32_t begin = from->own.begin > to->window.begin ? from->own.begin : to->window.begin;
  const int32_t end = from->own.end < to->window.end ? from->own.end : to->window.end;
  if (begin >= end) return TS_OK;
  const int32_t there = begin - from->window.begin, here = begin - to->window.begin;
  const size_t count = (size_t)(end - begin);
  TSI_TRY(s->ops->copy(part, to->aggregates + here, from->aggregates + there, count * sizeof *to->aggregates));
  if (!s->has_tentative) return TS_OK;
  TSI_TRY(s->ops->copy(part, to->weights + here, from->weights + there, count * sizeof *to->weights));
  return s->ops->copy(part, to->tentative + here, from->tentative + there, count * sizeof *to->tentative);
}

static ts_status bring(multi_amg_work *s, ts_context *part, int p) {
  for (int q = 0; q < s->parts; q++)
    if (q != p) TSI_TRY(bring_from(s, part, p, q));
  return TS_OK;
}

/* Copies the rows of all windows that belong to other parts. */
static ts_status bring_all(multi_amg_work *s) {
  TSI_TRY(multi_join(s->context));
  TSI_TRY(multi_amg_each(s, bring));
  return multi_join(s->context);
}

static int has_cut_off(const multi_amg_work *s) {
  for (int p = 0; p < s->parts; p++)
    if (s->level.part[p].cut_off > 0) return 1;
  return 0;
}

static ts_status number(multi_amg_work *s, ts_context *part, int p) {
  return s->ops->number(part, &s->level.part[p]);
}

ts_status multi_amg_group(multi_amg_work *s, int depth, int32_t *count) {
  double votes = 0;
  for (int p = 0; p < s->parts; p++) votes += s->votes[p];
  s->scaled = tsi_amg_elect(votes, s->level.first[s->parts]);
  s->depth = depth;
  s->has_tentative = 0;
  TSI_TRY(multi_amg_each(s, group));
  if (has_cut_off(s)) TSI_TRY(bring_all(s));
  TSI_TRY(multi_amg_each(s, number));
  s->coarse_first[0] = 0;
  for (int p = 0; p < s->parts; p++)
    s->coarse_first[p + 1] = s->coarse_first[p] + s->level.part[p].aggregate_count;
  *count = s->coarse_first[s->parts];
  return TS_OK;
}

/* Whether few rows are strongly coupled to those of other parts. Aggregates end there, so they would be small.
 */
int multi_amg_is_compact(const multi_amg_work *s) {
  double boundary = 0;
  for (int p = 0; p < s->parts; p++) boundary += s->level.part[p].boundary;
  return 3 * boundary <= s->level.first[s->parts];
}

static ts_status make_tentative(multi_amg_work *s, ts_context *part, int p) {
  tsi_amg_part_level *level = &s->level.part[p];
  TSI_TRY(s->ops->take(part, (size_t)level->aggregate_count * sizeof(double), (void **)&s->coarse[p]));
  return s->ops->tentative(part, level, s->coarse_first[p], s->coarse[p]);
}

static ts_status attach(multi_amg_work *s, ts_context *part, int p) {
  return s->ops->attach(part, &s->level.part[p]);
}

/* ---- The prolongator ---- */

static ts_status estimate(multi_amg_work *s, ts_context *part, int p) {
  TSI_TRY(s->ops->renumber(part, &s->level.part[p]));
  return s->ops->estimate(part, &s->level.part[p], &s->estimates[p]);
}

/* Chooses omega. Returns whether the level may need a second smoothing step, which parts cannot do. */
static int combine_estimates(multi_amg_work *s, double *eigenvalue) {
  tsi_amg_estimates all = {0};
  for (int p = 0; p < s->parts; p++) {
    const tsi_amg_estimates *one = &s->estimates[p];
    if (!multi_amg_rows_of(&s->level, p)) continue;
    all.bound = fmax(all.bound, one->bound);
    all.filtered_bound = fmax(all.filtered_bound, one->filtered_bound);
    all.eigenvalue = fmax(all.eigenvalue, one->eigenvalue);
    all.positive += one->positive;
  }
  s->omega = tsi_amg_omega(all.eigenvalue, all.bound, all.filtered_bound);
  *eigenvalue = all.eigenvalue;
  return tsi_amg_wants_energies(s->level.first[s->parts], all.positive, s->coarse_first[s->parts]);
}

static ts_status prolong(multi_amg_work *s, ts_context *part, int p) {
  return s->ops->prolong(part, &s->level.part[p], s->omega, s->reach, s->sums[p]);
}

/* Makes P, and again with a smaller limit in networks. */
static ts_status prolong_all(multi_amg_work *s) {
  double sums[4] = {0};
  s->reach = TSI_AMG_REACH;
  TSI_TRY(multi_amg_each(s, prolong));
  for (int p = 0; p < s->parts; p++)
    for (int k = 0; k < 4 && multi_amg_rows_of(&s->level, p); k++) sums[k] += s->sums[p][k];
  s->reach = tsi_amg_reach(sums);
  return s->reach == TSI_AMG_REACH ? TS_OK : multi_amg_each(s, prolong);
}

/* ---- The next level ---- */

/* Makes own rows of P, R and the next level. A part without aggregates has only rows of P. */
static ts_status make_next(multi_amg_work *s, ts_context *part, int p) {
  tsi_amg_part_level *level = &s->level.part[p];
  tsi_amg_run *P = &s->P.part[p], *R = &s->R.part[p], *A = &s->level.A.part[p];
  const tsi_amg_run all = {level->P, level->window.begin, level->base};
  const tsi_amg_range columns = {level->base, level->base + level->columns};
  *P = (tsi_amg_run){.first = level->own.begin, .shift = level->base};
  *R = (tsi_amg_run){.first = s->coarse_first[p], .shift = level->window.begin};
  *A = (tsi_amg_run){.first = s->coarse_first[p], .shift = level->base};
  TSI_TRY(s->ops->gather(part, &all, 1, level->own, columns, &P->piece));
  if (level->aggregate_count == 0) return TS_OK;
  return s->ops->coarsen(part, level, s->coarse_first[p], &R->piece, &A->piece);
}

static void move_down(multi_amg_work *s) {
  multi_amg_level *level = &s->level;
  for (int p = 0; p < s->parts; p++) {
    level->near_null[p] = s->coarse[p];
    s->coarse[p] = NULL;
  }
  for (int p = 0; p <= s->parts; p++) level->first[p] = s->coarse_first[p];
}

ts_status multi_amg_estimate(multi_amg_work *s, double *eigenvalue, int *is_suitable) {
  TSI_TRY(multi_amg_each(s, make_tentative));
  s->has_tentative = 1;
  TSI_TRY(bring_all(s));
  if (has_cut_off(s)) {
    TSI_TRY(multi_amg_each(s, attach));
    TSI_TRY(bring_all(s));
  }
  TSI_TRY(multi_amg_each(s, estimate));
  *is_suitable = !combine_estimates(s, eigenvalue);
  return TS_OK;
}

ts_status multi_amg_coarsen(multi_amg_work *s) {
  TSI_TRY(prolong_all(s));
  multi_amg_free_rows(s, &s->level.A);
  TSI_TRY(multi_amg_each(s, make_next));
  multi_amg_close_windows(s);
  multi_amg_free_arrays(s, s->level.near_null, s->level.first);
  move_down(s);
  return TS_OK;
}
