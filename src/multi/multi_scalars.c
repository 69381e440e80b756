/* Slots, of which every part has the same copy, and reductions: each part's own, then their sum in the order of
 * the parts, in double. */
#include <math.h>

#include "multi.h"

static ts_scalars **locals_of(const ts_scalars *s) {
  return s->impl;
}

ts_scalars *multi_local_scalars(const ts_scalars *s, int p, multi_slots *view) {
  if (!s) return NULL;
  view->parts[0] = *locals_of(s)[p];
  if (s->low) {
    view->parts[1] = *locals_of(s->low)[p];
    view->parts[0].low = &view->parts[1];
  }
  return &view->parts[0];
}

ts_coefficient multi_coefficient(ts_coefficient c, int p, multi_slots *numerator, multi_slots *denominator) {
  c.numerator.scalars = multi_local_scalars(c.numerator.scalars, p, numerator);
  c.denominator.scalars = multi_local_scalars(c.denominator.scalars, p, denominator);
  return c;
}

/* ---- Storage ---- */

static ts_status create_locals(ts_scalars *s) {
  ts_context *context = s->context;
  const ts_scalars_desc desc = {.count = s->count};
  for (int p = 0; p < multi_count(context); p++)
    TSI_TRY(multi_report(context, p, ts_scalars_create(multi_part(context, p), &desc, &locals_of(s)[p])));
  return TS_OK;
}

ts_status multi_scalars_create(ts_scalars *s) {
  ts_context *context = s->context;
  const size_t parts = (size_t)multi_count(context);
  s->impl = tsi_calloc(context, parts, sizeof(ts_scalars *));
  if (!s->impl) return tsi_out_of_memory(context, "scalars", parts * sizeof(ts_scalars *));
  const ts_status status = create_locals(s);
  if (status < 0) multi_scalars_destroy(s);
  multi_account(context);
  return status;
}

void multi_scalars_destroy(ts_scalars *s) {
  ts_context *context = s->context;
  for (int p = 0; p < multi_count(context); p++) ts_scalars_destroy(&locals_of(s)[p]);
  tsi_free(context, s->impl);
  s->impl = NULL;
  multi_account(context);
}

ts_status multi_scalars_write(ts_scalars *s, int first, int count, const float *values) {
  ts_context *context = s->context;
  for (int p = 0; p < multi_count(context); p++)
    MULTI_TRY(context, p, multi_ops_of(context, p)->scalars_write(locals_of(s)[p], first, count, values));
  return TS_OK;
}

/* All parts have the same numbers. */
ts_status multi_scalars_read_begin(ts_scalars *s, int first, int count) {
  MULTI_TRY(s->context, 0, multi_ops_of(s->context, 0)->scalars_read_begin(locals_of(s)[0], first, count));
  return TS_OK;
}

ts_status multi_scalars_read_end(ts_scalars *s, double *values) {
  MULTI_TRY(s->context, 0, multi_ops_of(s->context, 0)->scalars_read_end(locals_of(s)[0], values));
  return TS_OK;
}

ts_status multi_scalars_normalise(ts_scalars *s, int from, int to) {
  ts_context *context = s->context;
  for (int p = 0; p < multi_count(context); p++)
    MULTI_TRY(context, p, multi_ops_of(context, p)->scalars_normalise(locals_of(s)[p], from, to));
  return TS_OK;
}

/* ---- Reductions ---- */

static double combine(tsi_reduction kind, double total, double part) {
  switch (kind) {
  case TSI_REDUCE_MAX:
  case TSI_REDUCE_MAX_ABS:
    return part != part || part > total ? part : total;
  case TSI_REDUCE_NORM2:
    return total + part * part;
  default:
    return total + part;
  }
}

/* What part p has left in its slot of sums. */
static ts_status read_sum(ts_context *context, int p, int slot, int pair, double values[4]) {
  const tsi_ops *ops = multi_ops_of(context, p);
  ts_scalars *sum = multi_state_of(context)->sums[p];
  double low[4] = {0, 0, 0, 0};
  MULTI_TRY(context, p, ops->scalars_read_begin(sum, slot, 1));
  if (pair) MULTI_TRY(context, p, ops->scalars_read_begin(sum->low, slot, 1));
  MULTI_TRY(context, p, ops->scalars_read_end(sum, values));
  if (pair) MULTI_TRY(context, p, ops->scalars_read_end(sum->low, low));
  for (int c = 0; c < 4; c++) values[c] += low[c];
  return TS_OK;
}

/* Brings what the parts have in their sums into the slot of all of them. `x`: what was reduced. */
static ts_status combine_on_host(ts_scalars *out, int index, tsi_reduction kind, const ts_vector *x, int slot) {
  ts_context *context = out->context;
  const int pair = x->low != NULL;
  double total[4] = {0, 0, 0, 0};
  if (kind == TSI_REDUCE_MAX)
    for (int c = 0; c < x->components; c++) total[c] = -INFINITY;
  for (int p = 0; p < multi_count(context); p++) {
    double part[4] = {0, 0, 0, 0};
    if (!multi_has(x, p)) continue;
    TSI_TRY(read_sum(context, p, slot, pair, part));
    for (int c = 0; c < x->components; c++) total[c] = combine(kind, total[c], part[c]);
  }
  float high[4], low[4];
  for (int c = 0; c < 4; c++) {
    if (kind == TSI_REDUCE_NORM2) total[c] = sqrt(total[c]);
    high[c] = (float)total[c];
    low[c] = isfinite(high[c]) ? (float)(total[c] - (double)high[c]) : 0;
  }
  TSI_TRY(multi_scalars_write(out, index, 1, high));
  return pair && out->low ? multi_scalars_write(out->low, index, 1, low) : TS_OK;
}

static ts_status combine_on_devices(ts_scalars *out, int index, tsi_reduction kind, const ts_vector *x,
                                    int slot) {
  ts_context *context = out->context;
  const multi_state *state = multi_state_of(context);
  const tsi_part_ops *part = state->parts[0]->ops->part;
  ts_scalars *sums[MULTI_MOST_PARTS];
  int count = 0;
  for (int p = 0; p < state->count; p++)
    if (multi_has(x, p)) sums[count++] = state->sums[p];
  MULTI_TRY(context, 0, part->join(state->parts, state->count));
  for (int p = 0; p < state->count; p++)
    MULTI_TRY(context, p,
              part->combine(multi_local_scalars(out, p, &(multi_slots){{{0}}}), index, kind, x->components,
                            x->low != NULL, sums, count, slot));
  return TS_OK;
}

static ts_status finish(ts_scalars *out, int index, tsi_reduction kind, const ts_vector *x) {
  multi_state *state = multi_state_of(out->context);
  const int slot = state->turn;
  state->turn = !slot;
  return state->parts[0]->ops->part->combine ? combine_on_devices(out, index, kind, x, slot)
                                             : combine_on_host(out, index, kind, x, slot);
}

/* A single part leaves its sum where it belongs. */
static int is_single(const ts_context *context) {
  return multi_count(context) == 1;
}

static ts_scalars *target(ts_scalars *out, int p, multi_slots *view) {
  return is_single(out->context) ? multi_local_scalars(out, p, view) : multi_state_of(out->context)->sums[p];
}
#define TARGET target(out, p, &(multi_slots){{{0}}})

ts_status multi_reduce(ts_scalars *out, int index, tsi_reduction kind, const ts_vector *x, const ts_vector *y) {
  ts_context *context = out->context;
  const int slot = is_single(context) ? index : multi_state_of(context)->turn;
  for (int p = 0; p < multi_count(context); p++)
    if (multi_has(x, p))
      MULTI_TRY(context, p, multi_ops_of(context, p)->reduce(TARGET, slot, kind, LOCAL(x), LOCAL(y)));
  return is_single(context) ? TS_OK : finish(out, index, kind, x);
}

ts_status multi_dot3(ts_scalars *out, int index, const ts_vector *x, const ts_vector *y, const ts_vector *w) {
  ts_context *context = out->context;
  const int slot = is_single(context) ? index : multi_state_of(context)->turn;
  for (int p = 0; p < multi_count(context); p++)
    if (multi_has(x, p))
      MULTI_TRY(context, p, multi_ops_of(context, p)->dot3(TARGET, slot, LOCAL(x), LOCAL(y), LOCAL(w)));
  return is_single(context) ? TS_OK : finish(out, index, TSI_REDUCE_DOT, x);
}
