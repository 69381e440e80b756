/* Incomplete Cholesky factors, B + shift I ~ L D L^T, by size (Jones and Plassmann 1995, "An improved
 * incomplete Cholesky factorization") or by levels of fill. Row i of U = L^T, in w:
 *
 *   w = b_i, i .. n, with 1 + shift times the diagonal
 *   for k = 0 .. i - 1 with u_ki not 0:  w = w - u_ki d_k u_k
 *   d_i = w_i,  u_i = w_i+1 .. w_n without entries below drop times the mean of |b_i|, divided by d_i
 *
 * and the largest of these are kept. Dropping entries may cause a pivot that is not positive. The factorisation
 * then restarts with a larger shift (Manteuffel 1980, "An incomplete factorization technique for positive
 * definite linear systems"). The diagonal of B is 1, so a shift that makes it dominant always suffices. D is
 * positive, so M = L D L^T is positive definite for any B. M equals its transpose to the last bit.
 *
 * Several threads compute the rows (ilu_pipeline.h). A list per column i holds the rows with an entry in this
 * column, in ascending order. The thread that completes a row appends to the list while others read it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ilu_pipeline.h"

static const double least_pivot = 1e-8; /* relative to a diagonal of 1 */
static const double first_shift = 1e-3, more_shift = 4, most_shift = 1e12;

/* A thread's row. */
typedef struct worker {
  double *w;                     /* by column */
  unsigned char *is_set, *level; /* by column */
  int32_t *columns;              /* columns that are set */
  tsi_ilu_candidate *kept;
  int32_t count, kept_count;
  double pivot, operations;
} worker;

typedef struct factoriser {
  tsi_ilu_pipeline pipeline;
  ts_context *context;
  const tsi_ilu_rows *B;
  tsi_ilu_factors *out;
  tsi_ilu_link *first; /* by column: its first entry in U; 0: none yet */
  tsi_ilu_link **last; /* by column: where to store the link to the next entry */
  double *pivots;      /* D */
  double shift;
  tsi_ilu_limits limits;
  tsi_ilu_store upper;
  worker workers[TSI_ILU_WORKERS];
  ts_status status; /* of the row that stopped the factorisation */
  int has_failed;   /* a pivot was not positive */
} factoriser;

/* ---- Memory ---- */

static ts_status make_worker(ts_context *context, size_t n, worker *w) {
  w->w = tsi_malloc(context, n, sizeof *w->w);
  w->is_set = tsi_calloc(context, 2 * n, 1);
  w->columns = tsi_malloc(context, n, sizeof *w->columns);
  w->kept = tsi_malloc(context, n, sizeof *w->kept);
  if (!w->w || !w->is_set || !w->columns || !w->kept)
    return tsi_out_of_memory(context, "incomplete factors", 30 * n);
  w->level = w->is_set + n;
  return TS_OK;
}

static ts_status make(factoriser *f, int32_t rows) {
  const size_t n = (size_t)rows;
  TSI_TRY(tsi_ilu_pipeline_init(f->context, rows, f->B->offsets[rows], &f->pipeline));
  f->out->n = rows;
  f->out->inverse = tsi_malloc(f->context, n, sizeof *f->out->inverse);
  f->first = tsi_malloc(f->context, n, sizeof *f->first);
  f->last = tsi_malloc(f->context, n, sizeof *f->last);
  f->pivots = tsi_malloc(f->context, n, sizeof *f->pivots);
  if (!f->out->inverse || !f->first || !f->last || !f->pivots)
    return tsi_out_of_memory(f->context, "incomplete factors", 32 * n);
  for (int k = 0; k < f->pipeline.workers; k++) TSI_TRY(make_worker(f->context, n, &f->workers[k]));
  return TS_OK;
}

static void free_work(factoriser *f) {
  for (int k = 0; k < TSI_ILU_WORKERS; k++) {
    tsi_free(f->context, f->workers[k].w);
    tsi_free(f->context, f->workers[k].is_set);
    tsi_free(f->context, f->workers[k].columns);
    tsi_free(f->context, f->workers[k].kept);
  }
  tsi_ilu_store_free(&f->upper);
  tsi_free(f->context, f->first);
  tsi_free(f->context, f->last);
  tsi_free(f->context, f->pivots);
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
  w->columns[w->count++] = column;
}

/* Loads row i into w. Returns the mean magnitude of its entries. */
static double load_row(const factoriser *f, worker *w, int32_t i) {
  const int64_t begin = f->B->offsets[i], end = f->B->offsets[i + 1];
  double sum = 0;
  w->count = 0;
  w->pivot = 0;
  for (int64_t e = begin; e < end; e++) {
    const int32_t column = f->B->columns[e];
    sum += fabs(f->B->values[e]);
    if (column == i) w->pivot += (1 + f->shift) * f->B->values[e];
    if (column > i) add(f, w, column, f->B->values[e], 0);
  }
  w->operations += (double)(end - begin);
  return end > begin ? sum / (double)(end - begin) : 0;
}

static void eliminate(const factoriser *f, worker *w, int32_t k, int32_t at) {
  enum { most_levels = 255 };
  const tsi_ilu_row *u = &f->upper.rows[k];
  const double value = u->values[at], factor = value * f->pivots[k];
  const int level = u->levels ? u->levels[at] + 1 : 0;
  w->pivot -= factor * value;
  w->operations += u->count - at;
  for (int32_t e = at + 1; e < u->count; e++) {
    const int sum = u->levels ? level + u->levels[e] : 0;
    add(f, w, u->columns[e], -factor * u->values[e], sum < most_levels ? sum : most_levels);
  }
}

/* Eliminates with the rows in the list of column i as they arrive, until all rows before i are complete.
 * Returns 0 if the factorisation was stopped. */
static int eliminate_all(const factoriser *f, worker *w, int32_t i) {
  const tsi_ilu_link *next = &f->first[i];
  for (;;) {
    const int32_t complete = tsi_ilu_pipeline_complete(&f->pipeline);
    const uint64_t link = atomic_load_explicit(next, memory_order_acquire);
    if (link) {
      const int32_t k = (int32_t)(link & UINT32_MAX), at = (int32_t)(link >> 32) - 1;
      eliminate(f, w, k, at);
      next = &f->upper.rows[k].links[at];
    } else if (complete >= i) {
      return 1;
    } else if (!tsi_ilu_pipeline_wait(&f->pipeline, complete + 1)) {
      return 0;
    }
  }
}

static int by_column(const void *a, const void *b) {
  const int32_t one = ((const tsi_ilu_candidate *)a)->column, other = ((const tsi_ilu_candidate *)b)->column;
  return (one > other) - (one < other);
}

static void choose_entries(const factoriser *f, worker *w, double mean) {
  w->kept_count = 0;
  for (int32_t k = 0; k < w->count; k++) {
    const int32_t column = w->columns[k];
    const double size = fabs(w->w[column]);
    w->is_set[column] = 0;
    if (f->limits.levels >= 0 ? w->level[column] <= f->limits.levels : size > f->limits.drop * mean)
      w->kept[w->kept_count++] = (tsi_ilu_candidate){size, column};
  }
  qsort(w->kept, (size_t)w->kept_count, sizeof *w->kept, by_column);
}

/* ---- In the order of the rows ---- */

/* L and its transpose together have at most `fill` times the entries of B, counting the diagonal once. */
static void limit_entries(const factoriser *f, worker *w, int32_t i) {
  const double all = floor(f->limits.fill * (double)f->B->offsets[i + 1]) - i - 1;
  const double room = floor(all / 2) - (double)f->upper.entries;
  if (w->kept_count <= room || f->limits.levels >= 0) return;
  const int32_t wanted = room > 0 ? (int32_t)room : 0;
  f->out->is_full = 1;
  if (wanted > 0) tsi_ilu_select_largest(w->kept, w->kept_count, wanted);
  w->kept_count = wanted;
  qsort(w->kept, (size_t)wanted, sizeof *w->kept, by_column);
}

/* Appends an entry; other threads may read it immediately. */
static void append(factoriser *f, int32_t i, int32_t at) {
  const int32_t column = f->upper.rows[i].columns[at];
  const uint64_t link = (uint64_t)(at + 1) << 32 | (uint32_t)i;
  tsi_ilu_link *own = &f->upper.rows[i].links[at];
  atomic_init(own, 0);
  atomic_store_explicit(f->last[column], link, memory_order_release);
  f->last[column] = own;
}

static ts_status store(factoriser *f, const worker *w, int32_t i) {
  TSI_TRY(tsi_ilu_store_row(&f->upper, i, w->kept_count));
  const tsi_ilu_row *u = &f->upper.rows[i];
  f->pivots[i] = w->pivot;
  f->out->inverse[i] = 1 / w->pivot;
  for (int32_t k = 0; k < w->kept_count; k++) {
    const int32_t column = w->kept[k].column;
    u->columns[k] = column;
    u->values[k] = w->w[column] * f->out->inverse[i];
    if (u->levels) u->levels[k] = w->level[column];
  }
  for (int32_t k = 0; k < w->kept_count; k++) append(f, i, k);
  return TS_OK;
}

/* ---- All rows ---- */

static double work(void *argument, int index) {
  factoriser *f = argument;
  worker *w = &f->workers[index];
  w->operations = 0;
  for (int32_t i; (i = tsi_ilu_pipeline_next(&f->pipeline)) >= 0;) {
    const double mean = load_row(f, w, i);
    const int goes_on = eliminate_all(f, w, i);
    choose_entries(f, w, mean);
    if (!goes_on || !tsi_ilu_pipeline_wait(&f->pipeline, i)) break;
    limit_entries(f, w, i);
    f->has_failed = !(w->pivot > least_pivot && isfinite(w->pivot));
    f->status = f->has_failed ? TS_OK : store(f, w, i);
    tsi_ilu_pipeline_put(&f->pipeline, i, f->has_failed || f->status < 0);
  }
  return w->operations;
}

static ts_status attempt(factoriser *f, double shift) {
  const int32_t n = f->out->n;
  tsi_ilu_store_free(&f->upper);
  TSI_TRY(tsi_ilu_store_create(f->context, n, 1, f->limits.levels >= 0, &f->upper));
  tsi_ilu_pipeline_restart(&f->pipeline);
  for (int32_t k = 0; k < n; k++) {
    atomic_init(&f->first[k], 0);
    f->last[k] = &f->first[k];
  }
  f->shift = f->out->shift = shift;
  f->out->is_full = 0;
  TSI_TRY(tsi_ilu_pipeline_run(&f->pipeline, work, f));
  return f->status;
}

/* Computes the rows of L from those of its transpose. */
static ts_status transpose(ts_context *context, int32_t n, const tsi_ilu_rows *U, tsi_ilu_rows *L) {
  TSI_TRY(tsi_ilu_rows_create(context, n, U->offsets[n], L));
  for (int64_t e = 0; e < U->offsets[n]; e++) L->offsets[U->columns[e] + 1]++;
  for (int32_t k = 0; k < n; k++) L->offsets[k + 1] += L->offsets[k];
  for (int32_t k = 0; k < n; k++) {
    tsi_poll_rows(k);
    for (int64_t e = U->offsets[k]; e < U->offsets[k + 1]; e++) {
      const int64_t to = L->offsets[U->columns[e]]++;
      L->columns[to] = k;
      L->values[to] = U->values[e];
    }
  }
  memmove(L->offsets + 1, L->offsets, (size_t)n * sizeof *L->offsets); /* each had become the next row's */
  L->offsets[0] = 0;
  return TS_OK;
}

static ts_status factorise(factoriser *f, int32_t n) {
  double shift = 0;
  TSI_TRY(make(f, n));
  TSI_TRY(attempt(f, shift));
  while (f->has_failed) {
    shift = shift > 0 ? more_shift * shift : first_shift;
    if (!(shift < most_shift))
      return tsi_fail(f->context, TS_ERROR_INVALID_ARGUMENT, "ic finds no positive pivots with a shift of %g",
                      shift);
    TSI_TRY(attempt(f, shift));
  }
  TSI_TRY(tsi_ilu_store_collect(&f->upper, n, &f->out->upper));
  return transpose(f->context, n, &f->out->upper, &f->out->lower);
}

ts_status tsi_ilu_factorise_symmetric(ts_context *context, const tsi_ilu_rows *B, const tsi_ilu_limits *limits,
                                      const tsi_ilu_order *order, tsi_ilu_factors *factors) {
  factoriser f = {.context = context, .B = B, .limits = *limits, .out = factors};
  *factors = (tsi_ilu_factors){0};
  const ts_status status = factorise(&f, order->n);
  free_work(&f);
  if (status < 0) tsi_ilu_factors_free(context, factors);
  return status;
}
