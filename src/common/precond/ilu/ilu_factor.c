/* ILUT with column pivoting (Saad 1994, "ILUT: a dual threshold incomplete LU factorization"; Saad 2003,
 * "Iterative methods for sparse linear systems", 10.4.1 and 10.4.4). Row i of B, in w:
 *
 *   for k = 0 .. i - 1 with w_k not 0
 *     w_k = w_k / u_kk, dropped if it is below drop
 *     w = w - w_k u_k
 *   exchange column i with that of the largest of w_i .. w_n, if w_i is below a tenth of it
 *   l_i = w_0 .. w_i-1,  u_i = w_i .. w_n without what is below drop times the mean of |b_i|
 *
 * and the largest of these are kept. All rows up to i have together at most `fill` times the entries that B has
 * there: a row that needs fewer leaves the others to those behind it.
 *
 * A pivot that is rounding, or 0, is replaced: L U is then that of another row, and no row ends the
 * factorisation. */
#include <math.h>
#include <string.h>

#include "ilu.h"

static const double least_share = 0.1;                     /* of the largest entry: a pivot that stays */
static const double rounding = 0x1p-26, replacement = 0.1; /* of a row's mean, as pivots */

typedef struct candidate {
  double size; /* |l_ik|, or |u_ij / u_ii| */
  int32_t column;
} candidate;

typedef struct factoriser {
  ts_context *context;
  const tsi_ilu_rows *B;
  double fill, drop;
  int32_t *at, *place;   /* the column at a place, and the place of a column */
  double *w;             /* by column */
  unsigned char *is_set; /* by column */
  int32_t *heap;         /* places left of i that are still to be eliminated, the first in front */
  int32_t *left, *right; /* columns of l_i and u_i */
  candidate *kept;
  int32_t heap_size, left_count, right_count;
  int64_t lower_room, upper_room;
  tsi_ilu_factors *out;
} factoriser;

/* ---- Memory ---- */

void tsi_ilu_factors_free(ts_context *context, tsi_ilu_factors *factors) {
  tsi_ilu_rows_free(context, &factors->lower);
  tsi_ilu_rows_free(context, &factors->upper);
  tsi_free(context, factors->inverse);
  *factors = (tsi_ilu_factors){0};
}

static ts_status make(factoriser *f, int32_t rows) {
  const size_t n = (size_t)rows;
  const int64_t room = f->B->offsets[rows];
  TSI_TRY(tsi_ilu_rows_create(f->context, rows, room, &f->out->lower));
  TSI_TRY(tsi_ilu_rows_create(f->context, rows, room, &f->out->upper));
  f->lower_room = f->upper_room = room;
  f->out->n = rows;
  f->out->inverse = tsi_malloc(f->context, n, sizeof *f->out->inverse);
  f->at = tsi_malloc(f->context, 5 * n, sizeof *f->at);
  f->w = tsi_malloc(f->context, n, sizeof *f->w);
  f->is_set = tsi_calloc(f->context, n, 1);
  f->kept = tsi_malloc(f->context, n, sizeof *f->kept);
  if (!f->out->inverse || !f->at || !f->w || !f->is_set || !f->kept)
    return tsi_out_of_memory(f->context, "incomplete factors", 53 * n);
  f->place = f->at + n;
  f->heap = f->place + n;
  f->left = f->heap + n;
  f->right = f->left + n;
  for (int32_t k = 0; k < rows; k++) f->at[k] = f->place[k] = k;
  return TS_OK;
}

static void free_work(factoriser *f) {
  tsi_free(f->context, f->at);
  tsi_free(f->context, f->w);
  tsi_free(f->context, f->is_set);
  tsi_free(f->context, f->kept);
}

/* Room for `more` entries behind the `used` ones. */
static ts_status grow(const factoriser *f, tsi_ilu_rows *rows, int64_t *room, int64_t used, int64_t more) {
  if (used + more <= *room) return TS_OK;
  const size_t wanted = (size_t)(used + more) + (size_t)(used / 2) + 1024;
  int32_t *columns = tsi_malloc(f->context, wanted, sizeof *columns);
  double *values = tsi_malloc(f->context, wanted, sizeof *values);
  if (!columns || !values) {
    tsi_free(f->context, columns);
    tsi_free(f->context, values);
    return tsi_out_of_memory(f->context, "incomplete factors", wanted * (sizeof *columns + sizeof *values));
  }
  memcpy(columns, rows->columns, (size_t)used * sizeof *columns);
  memcpy(values, rows->values, (size_t)used * sizeof *values);
  tsi_free(f->context, rows->columns);
  tsi_free(f->context, rows->values);
  rows->columns = columns;
  rows->values = values;
  *room = (int64_t)wanted;
  return TS_OK;
}

/* ---- The places that are to be eliminated ---- */

static void push(factoriser *f, int32_t place) {
  int32_t k = f->heap_size++;
  for (; k > 0 && f->heap[(k - 1) / 2] > place; k = (k - 1) / 2) f->heap[k] = f->heap[(k - 1) / 2];
  f->heap[k] = place;
}

static int32_t pop(factoriser *f) {
  const int32_t first = f->heap[0], last = f->heap[--f->heap_size];
  int32_t k = 0;
  for (;;) {
    int32_t child = 2 * k + 1;
    if (child >= f->heap_size) break;
    if (child + 1 < f->heap_size && f->heap[child + 1] < f->heap[child]) child++;
    if (f->heap[child] >= last) break;
    f->heap[k] = f->heap[child];
    k = child;
  }
  f->heap[k] = last;
  return first;
}

/* ---- A row ---- */

static void add(factoriser *f, int32_t i, int32_t column, double value) {
  if (f->is_set[column]) {
    f->w[column] += value;
    return;
  }
  f->is_set[column] = 1;
  f->w[column] = value;
  if (f->place[column] < i)
    push(f, f->place[column]);
  else
    f->right[f->right_count++] = column;
}

/* Row i of B. Returns the mean magnitude of its entries. */
static double take_row(factoriser *f, int32_t i) {
  const int64_t begin = f->B->offsets[i], end = f->B->offsets[i + 1];
  double sum = 0;
  f->heap_size = f->left_count = f->right_count = 0;
  for (int64_t e = begin; e < end; e++) {
    add(f, i, f->B->columns[e], f->B->values[e]);
    sum += fabs(f->B->values[e]);
  }
  if (!f->is_set[f->at[i]]) add(f, i, f->at[i], 0);
  return end > begin ? sum / (double)(end - begin) : 0;
}

static void eliminate(factoriser *f, int32_t i) {
  const tsi_ilu_rows *U = &f->out->upper;
  while (f->heap_size > 0) {
    const int32_t k = pop(f), column = f->at[k];
    const double factor = f->w[column] * f->out->inverse[k];
    if (!(fabs(factor) > f->drop && isfinite(factor))) {
      f->is_set[column] = 0;
      continue;
    }
    f->w[column] = factor;
    f->left[f->left_count++] = column;
    for (int64_t e = U->offsets[k]; e < U->offsets[k + 1]; e++)
      add(f, i, U->columns[e], -factor * U->values[e]);
  }
}

static void choose_pivot(factoriser *f, int32_t i, double mean) {
  const int32_t own = f->at[i];
  int32_t best = own;
  for (int32_t k = 0; k < f->right_count; k++)
    if (fabs(f->w[f->right[k]]) > fabs(f->w[best])) best = f->right[k];
  if (!(fabs(f->w[own]) < least_share * fabs(f->w[best]))) best = own;
  f->at[f->place[best]] = own;
  f->place[own] = f->place[best];
  f->at[i] = best;
  f->place[best] = i;
  if (!(fabs(f->w[best]) > rounding * mean && isfinite(f->w[best]))) {
    f->w[best] = copysign(mean > 0 ? replacement * mean : 1, f->w[best]);
    f->out->shifted++;
  }
  f->out->inverse[i] = 1 / f->w[best];
}

/* Moves the `wanted` largest to the front (Hoare 1961, "Algorithm 65: find"). */
static void select_largest(candidate *c, int32_t count, int32_t wanted) {
  int32_t low = 0, high = count - 1;
  while (low < high) {
    const double middle = c[low + (high - low) / 2].size;
    int32_t a = low, b = high;
    while (a <= b) {
      while (c[a].size > middle) a++;
      while (c[b].size < middle) b--;
      if (a > b) break;
      const candidate t = c[a];
      c[a++] = c[b];
      c[b--] = t;
    }
    if (wanted <= b)
      high = b;
    else if (wanted >= a)
      low = a;
    else
      break;
  }
}

/* What is large enough of l_i and u_i, as many as the row may have. Returns how many. */
static int32_t choose_entries(factoriser *f, int32_t i, double mean) {
  const double inverse = fabs(f->out->inverse[i]);
  const int64_t used = f->out->lower.offsets[i] + f->out->upper.offsets[i] + i;
  const double room = floor(f->fill * (double)f->B->offsets[i + 1]) - (double)used - 1;
  int32_t count = 0;
  for (int32_t k = 0; k < f->left_count; k++)
    f->kept[count++] = (candidate){fabs(f->w[f->left[k]]), f->left[k]};
  for (int32_t k = 0; k < f->right_count; k++) {
    const double size = fabs(f->w[f->right[k]]);
    if (f->right[k] != f->at[i] && size > f->drop * mean && isfinite(size))
      f->kept[count++] = (candidate){size * inverse, f->right[k]};
  }
  if (count <= room) return count;
  const int32_t wanted = room > 0 ? (int32_t)room : 0;
  f->out->is_full = 1;
  if (wanted > 0) select_largest(f->kept, count, wanted);
  return wanted;
}

static ts_status store(factoriser *f, int32_t i, int32_t count) {
  tsi_ilu_rows *L = &f->out->lower, *U = &f->out->upper;
  int64_t l = L->offsets[i], u = U->offsets[i];
  TSI_TRY(grow(f, L, &f->lower_room, l, count));
  TSI_TRY(grow(f, U, &f->upper_room, u, count));
  for (int32_t k = 0; k < count; k++) {
    const int32_t column = f->kept[k].column;
    if (f->place[column] < i) {
      L->columns[l] = f->place[column]; /* which it keeps */
      L->values[l++] = f->w[column];
    } else {
      U->columns[u] = column;
      U->values[u++] = f->w[column];
    }
  }
  L->offsets[i + 1] = l;
  U->offsets[i + 1] = u;
  for (int32_t k = 0; k < f->left_count; k++) f->is_set[f->left[k]] = 0;
  for (int32_t k = 0; k < f->right_count; k++) f->is_set[f->right[k]] = 0;
  return TS_OK;
}

/* ---- All rows ---- */

static ts_status factorise(factoriser *f, int32_t n) {
  TSI_TRY(make(f, n));
  for (int32_t i = 0; i < n; i++) {
    const double mean = take_row(f, i);
    eliminate(f, i);
    choose_pivot(f, i, mean);
    TSI_TRY(store(f, i, choose_entries(f, i, mean)));
  }
  return TS_OK;
}

/* Columns of U get the places that they have at the end. */
static ts_status take_places(const factoriser *f, tsi_ilu_order *order) {
  const size_t n = (size_t)order->n;
  const int64_t entries = f->out->upper.offsets[n];
  int32_t *columns = f->heap;
  double *scales = f->w;
  for (int64_t e = 0; e < entries; e++) f->out->upper.columns[e] = f->place[f->out->upper.columns[e]];
  for (size_t k = 0; k < n; k++) {
    columns[k] = order->columns[f->at[k]];
    scales[k] = order->column_scales[f->at[k]];
  }
  memcpy(order->columns, columns, n * sizeof *columns);
  memcpy(order->column_scales, scales, n * sizeof *scales);
  return TS_OK;
}

ts_status tsi_ilu_factorise(ts_context *context, const tsi_ilu_rows *B, double fill, double drop,
                            tsi_ilu_order *order, tsi_ilu_factors *factors) {
  factoriser f = {.context = context, .B = B, .fill = fill, .drop = drop, .out = factors};
  *factors = (tsi_ilu_factors){0};
  ts_status status = factorise(&f, order->n);
  if (status == TS_OK) status = take_places(&f, order);
  free_work(&f);
  if (status < 0) tsi_ilu_factors_free(context, factors);
  return status;
}
