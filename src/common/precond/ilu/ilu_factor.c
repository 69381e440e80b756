/* ILUT with column pivoting (Saad 1994, "ILUT: a dual threshold incomplete LU factorization"; Saad 2003,
 * "Iterative methods for sparse linear systems", 10.4.1 and 10.4.4). Row i of B, in w:
 *
 *   for k = 0 .. i - 1 with w_k not 0
 *     w = w - w_k u_k
 *     l_ik = w_k / d_k, dropped before that if it is below drop
 *   exchange column i with that of the largest of w_i .. w_n, if w_i is below a tenth of it
 *   d_i = w_i,  u_i = w_i+1 .. w_n without entries below drop times the mean of |b_i|, divided by d_i
 *
 * and the largest of these are kept. All rows up to i together have at most `fill` times the entries of the
 * same rows of B. A row that uses fewer leaves the remainder to later rows.
 *
 * A pivot that is 0 or a rounding error is replaced. L D U is then exact for a modified row, and no row stops
 * the factorisation.
 *
 * With levels it is ILU(k) (Saad 2003, 10.3.3) instead. The level of an entry is the length of its fill path.
 * Entries up to level k are kept regardless of their size, and columns stay in place.
 *
 * Several threads compute the rows (ilu_pipeline.h). The place of a column is final when the row of that place
 * is complete. Until then it may be exchanged, and a row with an entry in it waits with this entry. */
#include <math.h>
#include <string.h>

#include "ilu_pipeline.h"

static const double least_share = 0.1; /* of the largest entry: a pivot of this size stays */
static const double rounding = 0x1p-26, replacement = 0.1; /* limit and replacement, relative to a row's mean */

/* A thread's row. */
typedef struct worker {
  double *w;                     /* by column */
  unsigned char *is_set, *level; /* by column */
  int32_t *heap;                 /* final places to be eliminated, the lowest first */
  int32_t *left, *right; /* columns of l_i; columns with a place that was not final when they were added */
  tsi_ilu_candidate *kept;
  int32_t known; /* number of final places this row knows: all rows of these places are complete */
  int32_t heap_size, left_count, right_count;
  double operations;
  double mean; /* of the magnitudes in the row of B */
} worker;

typedef struct factoriser {
  tsi_ilu_pipeline pipeline;
  ts_context *context;
  const tsi_ilu_rows *B;
  int32_t *at;       /* the column of each place */
  atomic_int *place; /* of each column; other rows read it concurrently and find it final or not */
  tsi_ilu_factors *out;
  tsi_ilu_limits limits;
  tsi_ilu_store lower, upper;
  worker workers[TSI_ILU_WORKERS];
  ts_status status; /* of the row that stopped the factorisation */
} factoriser;

/* ---- Memory ---- */

void tsi_ilu_factors_free(ts_context *context, tsi_ilu_factors *factors) {
  tsi_ilu_rows_free(context, &factors->lower);
  tsi_ilu_rows_free(context, &factors->upper);
  tsi_free(context, factors->inverse);
  *factors = (tsi_ilu_factors){0};
}

static ts_status make_worker(ts_context *context, size_t n, worker *w) {
  w->w = tsi_malloc(context, n, sizeof *w->w);
  w->is_set = tsi_calloc(context, 2 * n, 1);
  w->heap = tsi_malloc(context, 3 * n, sizeof *w->heap);
  w->kept = tsi_malloc(context, n, sizeof *w->kept);
  if (!w->w || !w->is_set || !w->heap || !w->kept)
    return tsi_out_of_memory(context, "incomplete factors", 38 * n);
  w->level = w->is_set + n;
  w->left = w->heap + n;
  w->right = w->left + n;
  return TS_OK;
}

static ts_status make(factoriser *f, int32_t rows) {
  const size_t n = (size_t)rows;
  const int has_levels = f->limits.levels >= 0;
  TSI_TRY(tsi_ilu_pipeline_init(f->context, rows, f->B->offsets[rows], &f->pipeline));
  TSI_TRY(tsi_ilu_store_create(f->context, rows, 0, 0, &f->lower));
  TSI_TRY(tsi_ilu_store_create(f->context, rows, 0, has_levels, &f->upper));
  f->out->n = rows;
  f->out->inverse = tsi_malloc(f->context, n, sizeof *f->out->inverse);
  f->at = tsi_malloc(f->context, n, sizeof *f->at);
  f->place = tsi_malloc(f->context, n, sizeof *f->place);
  if (!f->out->inverse || !f->at || !f->place)
    return tsi_out_of_memory(f->context, "incomplete factors", 16 * n);
  for (int32_t k = 0; k < rows; k++) {
    f->at[k] = k;
    atomic_init(&f->place[k], k);
  }
  for (int k = 0; k < f->pipeline.workers; k++) TSI_TRY(make_worker(f->context, n, &f->workers[k]));
  return TS_OK;
}

static void free_work(factoriser *f) {
  for (int k = 0; k < TSI_ILU_WORKERS; k++) {
    tsi_free(f->context, f->workers[k].w);
    tsi_free(f->context, f->workers[k].is_set);
    tsi_free(f->context, f->workers[k].heap);
    tsi_free(f->context, f->workers[k].kept);
  }
  tsi_ilu_store_free(&f->lower);
  tsi_ilu_store_free(&f->upper);
  tsi_free(f->context, f->at);
  tsi_free(f->context, f->place);
}

/* ---- The places to be eliminated ---- */

static void push(worker *w, int32_t place) {
  int32_t k = w->heap_size++;
  for (; k > 0 && w->heap[(k - 1) / 2] > place; k = (k - 1) / 2) w->heap[k] = w->heap[(k - 1) / 2];
  w->heap[k] = place;
}

static int32_t pop(worker *w) {
  const int32_t first = w->heap[0], last = w->heap[--w->heap_size];
  int32_t k = 0;
  for (;;) {
    int32_t child = 2 * k + 1;
    if (child >= w->heap_size) break;
    if (child + 1 < w->heap_size && w->heap[child + 1] < w->heap[child]) child++;
    if (w->heap[child] >= last) break;
    w->heap[k] = w->heap[child];
    k = child;
  }
  w->heap[k] = last;
  return first;
}

static int32_t place_of(const factoriser *f, int32_t column) {
  return atomic_load_explicit(&f->place[column], memory_order_relaxed);
}

static void set_place(factoriser *f, int32_t column, int32_t place) {
  f->at[place] = column;
  atomic_store_explicit(&f->place[column], place, memory_order_relaxed);
}

/* ---- A row before its turn ---- */

static void add(const factoriser *f, worker *w, int32_t column, double value, int level) {
  if (w->is_set[column]) {
    w->w[column] += value;
    if (level < w->level[column]) w->level[column] = (unsigned char)level;
    return;
  }
  if (level > 0 && f->limits.levels == 0) return; /* the entry cannot return to level 0 */
  w->is_set[column] = 1;
  w->w[column] = value;
  w->level[column] = (unsigned char)level;
  const int32_t place = place_of(f, column);
  if (place < w->known)
    push(w, place);
  else
    w->right[w->right_count++] = column;
}

static void load_row(const factoriser *f, worker *w, int32_t i) {
  const int64_t begin = f->B->offsets[i], end = f->B->offsets[i + 1];
  double sum = 0;
  w->known = tsi_ilu_pipeline_complete(&f->pipeline);
  w->heap_size = w->left_count = w->right_count = 0;
  for (int64_t e = begin; e < end; e++) {
    add(f, w, f->B->columns[e], f->B->values[e], 0);
    sum += fabs(f->B->values[e]);
  }
  w->operations += (double)(end - begin);
  w->mean = end > begin ? sum / (double)(end - begin) : 0;
}

static int stays(const factoriser *f, double size, double least, int level) {
  return isfinite(size) && (f->limits.levels >= 0 ? level <= f->limits.levels : size > least);
}

static void eliminate(const factoriser *f, worker *w, int32_t k) {
  enum { most_levels = 255 };
  const int32_t column = f->at[k];
  const tsi_ilu_row *u = &f->upper.rows[k];
  const double value = w->w[column], factor = value * f->out->inverse[k];
  const int level = w->level[column] + 1;
  if (!stays(f, fabs(factor), f->limits.drop, level - 1)) {
    w->is_set[column] = 0;
    return;
  }
  w->w[column] = factor;
  w->left[w->left_count++] = column;
  w->operations += u->count + 1;
  for (int32_t e = 0; e < u->count; e++) {
    const int sum = u->levels ? level + u->levels[e] : 0;
    add(f, w, u->columns[e], -value * u->values[e], sum < most_levels ? sum : most_levels);
  }
}

/* Computes l_i, with rows as they become complete. Returns 0 if the factorisation was stopped. */
static int eliminate_all(const factoriser *f, worker *w, int32_t i) {
  for (;;) {
    while (w->heap_size > 0) eliminate(f, w, pop(w));
    if (w->known >= i) return 1;
    if (!tsi_ilu_pipeline_wait(&f->pipeline, w->known + 1)) return 0;
    const int32_t k = w->known++;
    if (w->is_set[f->at[k]]) eliminate(f, w, k);
  }
}

/* ---- In the order of the rows ---- */

/* Removes columns from the right that have moved to the left: they are in l_i or were dropped. */
static void leave_right(const factoriser *f, worker *w, int32_t i) {
  int32_t count = 0;
  for (int32_t k = 0; k < w->right_count; k++)
    if (place_of(f, w->right[k]) >= i) w->right[count++] = w->right[k];
  w->right_count = count;
  if (!w->is_set[f->at[i]]) add(f, w, f->at[i], 0, 0);
}

static void choose_pivot(factoriser *f, worker *w, int32_t i) {
  const int32_t own = f->at[i];
  int32_t best = own;
  for (int32_t k = 0; k < w->right_count; k++)
    if (fabs(w->w[w->right[k]]) > fabs(w->w[best])) best = w->right[k];
  if (f->limits.levels >= 0 || !(fabs(w->w[own]) < least_share * fabs(w->w[best]))) best = own;
  set_place(f, own, place_of(f, best));
  set_place(f, best, i);
  if (!(fabs(w->w[best]) > rounding * w->mean && isfinite(w->w[best]))) {
    w->w[best] = copysign(w->mean > 0 ? replacement * w->mean : 1, w->w[best]);
    f->out->shifted++;
  }
  f->out->inverse[i] = 1 / w->w[best];
}

/* Selects the entries of l_i and u_i that are large enough, up to the limit of the row. Returns their
 * number. */
static int32_t choose_entries(const factoriser *f, worker *w, int32_t i) {
  const double inverse = fabs(f->out->inverse[i]);
  const double used = (double)(f->lower.entries + f->upper.entries + i);
  const double room = floor(f->limits.fill * (double)f->B->offsets[i + 1]) - used - 1;
  int32_t count = 0;
  for (int32_t k = 0; k < w->left_count; k++)
    w->kept[count++] = (tsi_ilu_candidate){fabs(w->w[w->left[k]]), w->left[k]};
  for (int32_t k = 0; k < w->right_count; k++) {
    const int32_t column = w->right[k];
    const double size = fabs(w->w[column]);
    if (column != f->at[i] && stays(f, size, f->limits.drop * w->mean, w->level[column]))
      w->kept[count++] = (tsi_ilu_candidate){size * inverse, column};
  }
  if (count <= room || f->limits.levels >= 0) return count;
  const int32_t wanted = room > 0 ? (int32_t)room : 0;
  f->out->is_full = 1;
  if (wanted > 0) tsi_ilu_select_largest(w->kept, count, wanted);
  return wanted;
}

static ts_status store(factoriser *f, worker *w, int32_t i, int32_t count) {
  int32_t left = 0;
  for (int32_t k = 0; k < count; k++) left += place_of(f, w->kept[k].column) < i;
  TSI_TRY(tsi_ilu_store_row(&f->lower, i, left));
  TSI_TRY(tsi_ilu_store_row(&f->upper, i, count - left));
  const tsi_ilu_row *l = &f->lower.rows[i], *u = &f->upper.rows[i];
  for (int32_t k = 0, to_l = 0, to_u = 0; k < count; k++) {
    const int32_t column = w->kept[k].column, place = place_of(f, column);
    if (place < i) {
      l->columns[to_l] = place; /* its place is final */
      l->values[to_l++] = w->w[column];
    } else {
      if (u->levels) u->levels[to_u] = w->level[column];
      u->columns[to_u] = column;
      u->values[to_u++] = w->w[column] * f->out->inverse[i];
    }
  }
  return TS_OK;
}

static void clear(worker *w) {
  for (int32_t k = 0; k < w->left_count; k++) w->is_set[w->left[k]] = 0;
  for (int32_t k = 0; k < w->right_count; k++) w->is_set[w->right[k]] = 0;
}

/* ---- All rows ---- */

static double work(void *argument, int index) {
  factoriser *f = argument;
  worker *w = &f->workers[index];
  w->operations = 0;
  for (int32_t i; (i = tsi_ilu_pipeline_next(&f->pipeline)) >= 0;) {
    load_row(f, w, i);
    if (!eliminate_all(f, w, i)) break;
    leave_right(f, w, i);
    choose_pivot(f, w, i);
    const ts_status status = store(f, w, i, choose_entries(f, w, i));
    if (status < 0) f->status = status;
    tsi_ilu_pipeline_put(&f->pipeline, i, status < 0);
    clear(w);
  }
  return w->operations;
}

static ts_status factorise(factoriser *f, int32_t n) {
  TSI_TRY(make(f, n));
  TSI_TRY(tsi_ilu_pipeline_run(&f->pipeline, work, f));
  TSI_TRY(f->status);
  TSI_TRY(tsi_ilu_store_collect(&f->lower, n, &f->out->lower));
  TSI_TRY(tsi_poll(f->context));
  return tsi_ilu_store_collect(&f->upper, n, &f->out->upper);
}

/* Replaces the columns of U by their final places. */
static void apply_places(const factoriser *f, tsi_ilu_order *order) {
  const size_t n = (size_t)order->n;
  const int64_t entries = f->out->upper.offsets[n];
  int32_t *columns = f->workers[0].heap;
  double *scales = f->workers[0].w;
  for (int64_t e = 0; e < entries; e++) f->out->upper.columns[e] = place_of(f, f->out->upper.columns[e]);
  for (size_t k = 0; k < n; k++) {
    columns[k] = order->columns[f->at[k]];
    scales[k] = order->column_scales[f->at[k]];
  }
  memcpy(order->columns, columns, n * sizeof *columns);
  memcpy(order->column_scales, scales, n * sizeof *scales);
}

ts_status tsi_ilu_factorise(ts_context *context, const tsi_ilu_rows *B, const tsi_ilu_limits *limits,
                            tsi_ilu_order *order, tsi_ilu_factors *factors) {
  factoriser f = {.context = context, .B = B, .limits = *limits, .out = factors};
  *factors = (tsi_ilu_factors){0};
  const ts_status status = factorise(&f, order->n);
  if (status == TS_OK) apply_places(&f, order);
  free_work(&f);
  if (status < 0) tsi_ilu_factors_free(context, factors);
  return status;
}
