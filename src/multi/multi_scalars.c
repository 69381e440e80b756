/* Slots, with the same copy in every part, and reductions. Each part reduces its own elements. The results are
 * added in the order of the parts, in double: on the host, or on the devices if these can communicate. */
#include <math.h>

#include "multi.h"

typedef struct multi_scalars {
  int reader; /* the part that the host reads from */
  ts_scalars *local[];
} multi_scalars;

static ts_scalars **locals_of(const ts_scalars *s) {
  return ((multi_scalars *)s->impl)->local;
}
static int reader_of(const ts_scalars *s) {
  return ((const multi_scalars *)s->impl)->reader;
}

void multi_read_from(ts_scalars *s, int p) {
  ((multi_scalars *)s->impl)->reader = p;
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
  for (int p = 0; p < multi_count(context); p++) {
    ts_context *part = multi_part(context, p);
    if (!part) continue;
    tsi_clear_error(part);
    TSI_TRY(
        multi_report(context, p, tsi_scalars_create(part, s->count, TS_PRECISION_SINGLE, &locals_of(s)[p])));
  }
  return TS_OK;
}

ts_status multi_scalars_create(ts_scalars *s) {
  ts_context *context = s->context;
  const size_t bytes = sizeof(multi_scalars) + (size_t)multi_count(context) * sizeof(ts_scalars *);
  s->impl = tsi_calloc(context, 1, bytes);
  if (!s->impl) return tsi_out_of_memory(context, "scalars", bytes);
  multi_read_from(s, multi_state_of(context)->first);
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
    if (multi_part(context, p))
      MULTI_TRY(context, p, multi_ops_of(context, p)->scalars_write(locals_of(s)[p], first, count, values));
  return TS_OK;
}

/* All parts have the same numbers, except those of iterations that they run (multi_cg.c). */
ts_status multi_scalars_read_begin(ts_scalars *s, int first, int count) {
  const int p = reader_of(s);
  MULTI_TRY(s->context, p, multi_ops_of(s->context, p)->scalars_read_begin(locals_of(s)[p], first, count));
  return TS_OK;
}

ts_status multi_scalars_read_end(ts_scalars *s, double *values) {
  const int p = reader_of(s);
  MULTI_TRY(s->context, p, multi_ops_of(s->context, p)->scalars_read_end(locals_of(s)[p], values));
  return multi_check_run(s->context);
}

ts_status multi_scalars_normalise(ts_scalars *s, int from, int to) {
  ts_context *context = s->context;
  for (int p = 0; p < multi_count(context); p++)
    if (multi_part(context, p))
      MULTI_TRY(context, p, multi_ops_of(context, p)->scalars_normalise(locals_of(s)[p], from, to));
  return TS_OK;
}

/* ---- Reductions ---- */

static int is_largest(tsi_reduction kind) {
  return kind == TSI_REDUCE_MAX || kind == TSI_REDUCE_MAX_ABS;
}

static double larger(double a, double b) {
  return b != b || b > a ? b : a;
}

/* Sums for up to TSI_MAX_DOTS slots. */
typedef struct totals {
  double of[TSI_MAX_DOTS][4];
} totals;

static void merge_sums(void *mine, const void *other) {
  totals *a = mine;
  const totals *b = other;
  for (int k = 0; k < TSI_MAX_DOTS; k++)
    for (int c = 0; c < 4; c++) a->of[k][c] += b->of[k][c];
}

static void merge_largest(void *mine, const void *other) {
  totals *a = mine;
  const totals *b = other;
  for (int c = 0; c < 4; c++) a->of[0][c] = larger(a->of[0][c], b->of[0][c]);
}

/* Reads the results of part p from `count` slots. */
static ts_status read_sums(ts_context *context, int p, int slot, int count, int pair, totals *sums) {
  const tsi_ops *ops = multi_ops_of(context, p);
  ts_scalars *sum = multi_state_of(context)->sums[p];
  totals low = {{{0}}};
  MULTI_TRY(context, p, ops->scalars_read_begin(sum, slot, count));
  if (pair) MULTI_TRY(context, p, ops->scalars_read_begin(sum->low, slot, count));
  MULTI_TRY(context, p, ops->scalars_read_end(sum, sums->of[0]));
  if (pair) MULTI_TRY(context, p, ops->scalars_read_end(sum->low, low.of[0]));
  merge_sums(sums, &low);
  return TS_OK;
}

static ts_status write_total(ts_scalars *out, int index, const double *total, int pair) {
  float high[4], low[4];
  for (int c = 0; c < 4; c++) {
    high[c] = (float)total[c];
    low[c] = isfinite(high[c]) ? (float)(total[c] - (double)high[c]) : 0;
  }
  TSI_TRY(multi_scalars_write(out, index, 1, high));
  return pair && out->low ? multi_scalars_write(out->low, index, 1, low) : TS_OK;
}

/* Combines the parts' results, which are in their sums starting at `slot`, and writes them to slots of all
 * parts. `x`: the vector that was reduced. */
static ts_status combine_on_host(ts_scalars *out, const int *index, int count, tsi_reduction kind,
                                 const ts_vector *x, int slot) {
  ts_context *context = out->context;
  totals all = {{{0}}};
  if (kind == TSI_REDUCE_MAX)
    for (int c = 0; c < x->components; c++) all.of[0][c] = -INFINITY;
  for (int p = 0; p < multi_count(context); p++) {
    totals part = {{{0}}};
    if (!multi_has(x, p)) continue;
    TSI_TRY(read_sums(context, p, slot, count, x->low != NULL, &part));
    for (int c = 0; c < 4 && kind == TSI_REDUCE_NORM2; c++) part.of[0][c] *= part.of[0][c];
    (is_largest(kind) ? merge_largest : merge_sums)(&all, &part);
  }
  TSI_TRY(multi_merge_ranks(context, &all, sizeof all, is_largest(kind) ? merge_largest : merge_sums));
  for (int c = 0; c < 4 && kind == TSI_REDUCE_NORM2; c++) all.of[0][c] = sqrt(all.of[0][c]);
  for (int k = 0; k < count; k++) TSI_TRY(write_total(out, index[k], all.of[k], x->low != NULL));
  return TS_OK;
}

static ts_status combine_on_devices(ts_scalars *out, const int *index, int number, tsi_reduction kind,
                                    const ts_vector *x, int slot) {
  ts_context *context = out->context;
  const multi_state *state = multi_state_of(context);
  const tsi_part_ops *part = state->parts[0]->ops->part;
  ts_scalars *sums[MULTI_MOST_PARTS];
  int count = 0;
  for (int p = 0; p < state->count; p++)
    if (multi_has(x, p)) sums[count++] = state->sums[p];
  MULTI_TRY(context, 0, part->join(state->parts, state->count));
  for (int p = 0; p < state->count; p++)
    for (int k = 0; k < number; k++)
      MULTI_TRY(context, p,
                part->combine(multi_local_scalars(out, p, &(multi_slots){{{0}}}), index[k], kind, x->components,
                              x->low != NULL, sums, count, slot + k));
  return TS_OK;
}

/* The contribution of a rank without elements. */
static ts_status write_nothing(ts_context *context, int p, int slot, int count, tsi_reduction kind, int pair) {
  ts_scalars *sums = multi_state_of(context)->sums[p];
  const tsi_ops *ops = multi_ops_of(context, p);
  float nothing[4 * TSI_MAX_DOTS] = {0};
  if (pair) MULTI_TRY(context, p, ops->scalars_write(sums->low, slot, count, nothing));
  for (int c = 0; c < 4 * count && kind == TSI_REDUCE_MAX; c++) nothing[c] = -INFINITY;
  MULTI_TRY(context, p, ops->scalars_write(sums, slot, count, nothing));
  return TS_OK;
}

/* The host does not wait for other ranks. */
static ts_status combine_by_channel(ts_scalars *out, const int *index, int count, tsi_reduction kind,
                                    const ts_vector *x, int slot) {
  ts_context *context = out->context;
  multi_state *state = multi_state_of(context);
  const int p = state->first, pair = x->low != NULL;
  if (!multi_has(x, p)) TSI_TRY(write_nothing(context, p, slot, count, kind, pair));
  state->channel.is_used = 1;
  MULTI_TRY(context, p,
            multi_ops_of(context, p)
                ->part->channel_combine(multi_local_scalars(out, p, &(multi_slots){{{0}}}), index, count, kind,
                                        x->components, pair, state->sums[p], slot));
  return TS_OK;
}

static ts_status combine(ts_scalars *out, const int *index, int count, tsi_reduction kind, const ts_vector *x) {
  multi_state *state = multi_state_of(out->context);
  const int slot = state->half * TSI_MAX_DOTS;
  state->half = !state->half;
  if (state->channel.is_open) return combine_by_channel(out, index, count, kind, x, slot);
  return !state->ranks && state->parts[0]->ops->part->combine
             ? combine_on_devices(out, index, count, kind, x, slot)
             : combine_on_host(out, index, count, kind, x, slot);
}

static ts_status finish(ts_scalars *out, const int *index, int count, tsi_reduction kind, const ts_vector *x) {
  multi_begin_call(out->context);
  return multi_end_call(out->context, combine(out, index, count, kind, x));
}

/* A single part reduces directly into the destination. */
static int is_single(const ts_context *context) {
  return multi_count(context) == 1;
}

static ts_scalars *target(ts_scalars *out, int p, multi_slots *view) {
  return is_single(out->context) ? multi_local_scalars(out, p, view) : multi_state_of(out->context)->sums[p];
}
#define TARGET target(out, p, &(multi_slots){{{0}}})

static int slot_of(const ts_context *context, int index) {
  return is_single(context) ? index : multi_state_of(context)->half * TSI_MAX_DOTS;
}

/* Reduces on each part, then combines. */
#define REDUCE(x, index, kind, call)                                                                           \
  do {                                                                                                         \
    ts_context *context = out->context;                                                                        \
    const int slot = slot_of(context, index);                                                                  \
    for (int p = 0; p < multi_count(context); p++)                                                             \
      if (multi_has(x, p)) MULTI_TRY(context, p, multi_ops_of(context, p)->call);                              \
    return is_single(context) ? TS_OK : finish(out, &(const int){index}, 1, kind, x);                          \
  } while (0)

ts_status multi_reduce(ts_scalars *out, int index, tsi_reduction kind, const ts_vector *x, const ts_vector *y) {
  REDUCE(x, index, kind, reduce(TARGET, slot, kind, LOCAL(x), LOCAL(y)));
}

ts_status multi_dot3(ts_scalars *out, int index, const ts_vector *x, const ts_vector *y, const ts_vector *w) {
  REDUCE(x, index, TSI_REDUCE_DOT, dot3(TARGET, slot, LOCAL(x), LOCAL(y), LOCAL(w)));
}

ts_status multi_axpy2_dot(ts_vector *x, ts_coefficient a, const ts_vector *d, ts_vector *r, ts_coefficient b,
                          const ts_vector *q, const ts_vector *w, ts_scalars *out, int index) {
  REDUCE(r, index, TSI_REDUCE_DOT,
         axpy2_dot(LOCAL(x), COEFFICIENT(a), LOCAL(d), LOCAL(r), COEFFICIENT(b), LOCAL(q), LOCAL(w), TARGET,
                   slot));
}

static ts_status dots_of_part(ts_scalars *out, int p, const tsi_dot *sums, int count) {
  ts_context *context = out->context;
  multi_view views[TSI_MAX_DOTS][3];
  tsi_dot local[TSI_MAX_DOTS];
  for (int k = 0; k < count; k++)
    local[k] = (tsi_dot){.index = is_single(context) ? sums[k].index : slot_of(context, 0) + k,
                         .x = multi_local(sums[k].x, p, &views[k][0]),
                         .y = multi_local(sums[k].y, p, &views[k][1]),
                         .w = multi_local(sums[k].w, p, &views[k][2])};
  return tsi_dots(TARGET, local, count, NULL);
}

ts_status multi_dots(ts_scalars *out, const tsi_dot *sums, int count) {
  ts_context *context = out->context;
  int index[TSI_MAX_DOTS];
  for (int k = 0; k < count; k++) index[k] = sums[k].index;
  for (int p = 0; p < multi_count(context); p++)
    if (multi_has(sums[0].x, p)) MULTI_TRY(context, p, dots_of_part(out, p, sums, count));
  return is_single(context) ? TS_OK : finish(out, index, count, TSI_REDUCE_DOT, sums[0].x);
}
