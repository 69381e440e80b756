/* Maximum-product matching with scalings (Duff and Koster 2001, "On algorithms for permuting large entries to
 * the diagonal of a sparse matrix", section 4; MC64's job 5).
 *
 * The product of matched |a_ij| is maximal if the sum of
 *
 *   c_ij = log2 max_k |a_ik| - log2 |a_ij|  >= 0
 *
 * is minimal: an assignment problem. Duals u_i + v_j <= c_ij, with equality at matched entries, prove
 * optimality. They also are the scalings: |a_ij| 2^(u_i + v_j) / max_k |a_ik| <= 1, with equality at matched
 * entries.
 *
 * A cheap start: u_i = 0, v_j = min_i c_ij, and rows are matched with free columns where c_ij = u_i + v_j. Each
 * remaining row is matched by the shortest augmenting path in reduced costs c_ij - u_i - v_j >= 0, by
 * Dijkstra's algorithm with a heap of columns. The duals are updated along the path.
 *
 * Logarithms distinguish numbers from 1e-300 to 1e300, and their sums stay in range. */
#include "matching.h"

#include <math.h>
#include <string.h>

typedef struct matcher {
  const tsi_csr *A;
  double *costs;       /* c_ij; infinite: no entry */
  double *u, *v;       /* duals of rows and columns */
  double *row_largest; /* log2 of the largest entry */
  double *distances;   /* of columns from the unmatched row; infinite: not reached */
  int32_t *columns;    /* of rows; -1: not matched */
  int32_t *rows;       /* of columns */
  int32_t *parents;    /* the row from which a column was reached */
  int32_t *heap;       /* columns, the nearest first */
  int32_t *places;     /* of columns in the heap; -1: not in it */
  int32_t *reached;    /* columns with a finite distance */
  int32_t *final;      /* columns that left the heap */
  int32_t heap_size, reached_count, final_count;
  int64_t steps, most_steps;
} matcher;

/* ---- Memory ---- */

void tsi_matching_free(ts_context *context, tsi_matching *matching) {
  tsi_free(context, matching->columns);
  tsi_free(context, matching->rows_log2);
  tsi_free(context, matching->unmatched_rows);
  *matching = (tsi_matching){0};
}

static ts_status make_result(ts_context *context, size_t n, tsi_matching *out) {
  *out = (tsi_matching){.columns = tsi_malloc(context, n, sizeof *out->columns),
                        .rows_log2 = tsi_malloc(context, 2 * n, sizeof *out->rows_log2),
                        .unmatched_rows = tsi_malloc(context, n, sizeof *out->unmatched_rows)};
  if (out->columns && out->rows_log2 && out->unmatched_rows) {
    out->columns_log2 = out->rows_log2 + n;
    return TS_OK;
  }
  tsi_matching_free(context, out);
  return tsi_out_of_memory(context, "a matching", 24 * n);
}

/* Allocates one block of doubles and one of integers. The caller frees *numbers and *indices. */
static ts_status make_matcher(ts_context *context, matcher *m, double **numbers, int32_t **indices) {
  const size_t n = (size_t)m->A->rows, entries = (size_t)m->A->row_offsets[n];
  *numbers = tsi_malloc(context, entries + 2 * n, sizeof **numbers);
  *indices = tsi_malloc(context, 6 * n, sizeof **indices);
  if (!*numbers || !*indices) return tsi_out_of_memory(context, "a matching", 8 * entries + 40 * n);
  m->costs = *numbers;
  m->row_largest = m->costs + entries;
  m->distances = m->row_largest + n;
  m->rows = *indices;
  m->parents = m->rows + n;
  m->heap = m->parents + n;
  m->places = m->heap + n;
  m->reached = m->places + n;
  m->final = m->reached + n;
  return TS_OK;
}

/* ---- The heap of columns ---- */

static void put(matcher *m, int32_t place, int32_t column) {
  m->heap[place] = column;
  m->places[column] = place;
}

/* Moves a column towards the front from `place`, which is free. */
static void rise(matcher *m, int32_t place, int32_t column) {
  while (place > 0) {
    const int32_t parent = (place - 1) / 2;
    if (m->distances[m->heap[parent]] <= m->distances[column]) break;
    put(m, place, m->heap[parent]);
    place = parent;
  }
  put(m, place, column);
}

static void sink(matcher *m, int32_t place, int32_t column) {
  for (;;) {
    int32_t child = 2 * place + 1;
    if (child >= m->heap_size) break;
    if (child + 1 < m->heap_size && m->distances[m->heap[child + 1]] < m->distances[m->heap[child]]) child++;
    if (m->distances[column] <= m->distances[m->heap[child]]) break;
    put(m, place, m->heap[child]);
    place = child;
  }
  put(m, place, column);
}

static int32_t take_nearest(matcher *m) {
  const int32_t nearest = m->heap[0], last = m->heap[--m->heap_size];
  if (m->heap_size > 0) sink(m, 0, last);
  m->places[nearest] = -1;
  return nearest;
}

static void come_nearer(matcher *m, int32_t column, double distance) {
  if (m->distances[column] == INFINITY) m->reached[m->reached_count++] = column;
  m->distances[column] = distance;
  rise(m, m->places[column] >= 0 ? m->places[column] : m->heap_size++, column);
}

/* ---- Costs and the cheap start ---- */

static double log2_of(const tsi_csr *A, int32_t entry) {
  return log2(fabs(A->double_values ? A->double_values[entry] : A->values ? (double)A->values[entry] : 0));
}

static void set_costs(const matcher *m, int32_t row) {
  const tsi_csr *A = m->A;
  double largest = -INFINITY;
  for (int32_t e = A->row_offsets[row]; e < A->row_offsets[row + 1]; e++) {
    m->costs[e] = log2_of(A, e);
    largest = fmax(largest, m->costs[e]);
  }
  m->row_largest[row] = largest == -INFINITY ? 0 : largest;
  for (int32_t e = A->row_offsets[row]; e < A->row_offsets[row + 1]; e++)
    m->costs[e] = m->row_largest[row] - m->costs[e];
}

static void start_duals(const matcher *m) {
  const tsi_csr *A = m->A;
  const int32_t n = A->rows, entries = A->row_offsets[n];
  for (int32_t i = 0; i < n; i++) {
    m->u[i] = 0;
    m->v[i] = INFINITY;
    set_costs(m, i);
  }
  for (int32_t e = 0; e < entries; e++)
    m->v[A->column_indices[e]] = fmin(m->v[A->column_indices[e]], m->costs[e]);
  for (int32_t j = 0; j < n; j++)
    if (m->v[j] == INFINITY) m->v[j] = 0;
}

static double reduced(const matcher *m, int32_t row, int32_t entry) {
  return fmax(0, m->costs[entry] - m->u[row] - m->v[m->A->column_indices[entry]]);
}

/* A free column at zero cost, preferably the diagonal, so that a good diagonal stays in place. */
static int32_t free_column(const matcher *m, int32_t row) {
  const tsi_csr *A = m->A;
  int32_t found = -1;
  for (int32_t e = A->row_offsets[row]; e < A->row_offsets[row + 1]; e++) {
    const int32_t j = A->column_indices[e];
    if (m->rows[j] >= 0 || reduced(m, row, e) > 0) continue;
    if (j == row) return j;
    if (found < 0) found = j;
  }
  return found;
}

static void match(const matcher *m, int32_t row, int32_t column) {
  m->columns[row] = column;
  m->rows[column] = row;
}

/* Matches rows with their diagonals first, so that other rows cannot use these columns. */
static void start(matcher *m) {
  const int32_t n = m->A->rows;
  for (int32_t i = 0; i < n; i++) m->columns[i] = m->rows[i] = -1;
  start_duals(m);
  for (int32_t i = 0; i < n; i++)
    if (free_column(m, i) == i) match(m, i, i);
  for (int32_t i = 0; i < n; i++) {
    const int32_t j = m->columns[i] < 0 ? free_column(m, i) : -1;
    if (j >= 0) match(m, i, j);
  }
  m->steps = 3 * (int64_t)m->A->row_offsets[n];
}

/* ---- Shortest augmenting paths ---- */

/* Scans a row at `distance`. A free column nearer than *nearest replaces it. */
static void look_along(matcher *m, int32_t row, double distance, double *nearest, int32_t *end) {
  const tsi_csr *A = m->A;
  m->steps += A->row_offsets[row + 1] - A->row_offsets[row] + 1;
  for (int32_t e = A->row_offsets[row]; e < A->row_offsets[row + 1]; e++) {
    const int32_t j = A->column_indices[e];
    const double there = distance + reduced(m, row, e);
    if (!(there < *nearest) || !(there < m->distances[j])) continue;
    m->parents[j] = row;
    if (m->rows[j] >= 0) {
      come_nearer(m, j, there);
    } else {
      *nearest = there;
      *end = j;
    }
  }
}

/* The free column at the end of the shortest path from `row`; -1: none. */
static int32_t find_path(matcher *m, int32_t row, double *length) {
  int32_t end = -1;
  *length = INFINITY;
  look_along(m, row, 0, length, &end);
  while (m->heap_size > 0 && m->distances[m->heap[0]] < *length) {
    const int32_t j = take_nearest(m);
    m->final[m->final_count++] = j;
    look_along(m, m->rows[j], m->distances[j], length, &end);
  }
  return end;
}

/* Updates the duals so that reduced costs remain nonnegative, and are 0 along the path. */
static void move_duals(const matcher *m, int32_t row, double length) {
  m->u[row] += length;
  for (int32_t k = 0; k < m->final_count; k++) {
    const int32_t j = m->final[k];
    m->v[j] -= length - m->distances[j];
    m->u[m->rows[j]] += length - m->distances[j];
  }
}

static void augment(const matcher *m, int32_t row, int32_t end) {
  int32_t i, j = end;
  do {
    i = m->parents[j];
    const int32_t before = m->columns[i];
    match(m, i, j);
    j = before;
  } while (i != row);
}

static void forget_search(matcher *m) {
  for (int32_t k = 0; k < m->reached_count; k++) {
    m->distances[m->reached[k]] = INFINITY;
    m->places[m->reached[k]] = -1;
  }
  m->heap_size = m->reached_count = m->final_count = 0;
}

static ts_status match_remaining(ts_context *context, matcher *m) {
  const int32_t n = m->A->rows;
  for (int32_t j = 0; j < n; j++) {
    m->distances[j] = INFINITY;
    m->places[j] = -1;
  }
  for (int32_t i = 0; i < n; i++) {
    double length;
    if (m->columns[i] >= 0) continue;
    const int32_t end = find_path(m, i, &length);
    if (end >= 0) {
      move_duals(m, i, length);
      augment(m, i, end);
    }
    forget_search(m);
    if (m->steps > m->most_steps)
      return tsi_fail(context, TS_ERROR_LIMIT, "a matching of %d rows took too long: more than %lld entries", n,
                      (long long)m->most_steps);
  }
  return TS_OK;
}

/* ---- The result ---- */

/* Gives rows without a remaining entry an unused column, their own if it is free. */
static void place_unmatched(const matcher *m, tsi_matching *out) {
  const int32_t n = m->A->rows;
  int32_t next = 0;
  for (int32_t i = 0; i < n; i++)
    if (m->columns[i] < 0) out->unmatched_rows[out->unmatched++] = i;
  for (int32_t k = 0; k < out->unmatched; k++) {
    const int32_t i = out->unmatched_rows[k];
    if (m->rows[i] < 0) match(m, i, i);
  }
  for (int32_t k = 0; k < out->unmatched; k++) {
    if (m->columns[out->unmatched_rows[k]] >= 0) continue;
    while (m->rows[next] >= 0) next++;
    match(m, out->unmatched_rows[k], next);
  }
}

static ts_status run(ts_context *context, matcher *m, tsi_matching *out) {
  start(m);
  TSI_TRY(match_remaining(context, m));
  place_unmatched(m, out);
  for (int32_t i = 0; i < m->A->rows; i++) out->rows_log2[i] -= m->row_largest[i];
  out->steps = m->steps;
  return TS_OK;
}

ts_status tsi_match(ts_context *context, const tsi_csr *A, int64_t most_steps, tsi_matching *out) {
  double *numbers = NULL;
  int32_t *indices = NULL;
  matcher m = {.A = A, .most_steps = most_steps};
  TSI_TRY(make_result(context, (size_t)A->rows, out));
  m.columns = out->columns;
  m.u = out->rows_log2;
  m.v = out->columns_log2;
  ts_status status = make_matcher(context, &m, &numbers, &indices);
  if (status == TS_OK) status = run(context, &m, out);
  tsi_free(context, numbers);
  tsi_free(context, indices);
  if (status < 0) tsi_matching_free(context, out);
  return status;
}

void tsi_matching_say(const tsi_matching *matching, char *text, size_t size) {
  enum { most = 8 };
  const int32_t count = matching->unmatched;
  int used = snprintf(text, size, count == 1 ? "row" : "rows");
  for (int32_t k = 0; k < count && k < most && used < (int)size; k++)
    used += snprintf(text + used, size - (size_t)used, "%s %d", k ? "," : "", matching->unmatched_rows[k]);
  if (used < (int)size)
    snprintf(text + used, size - (size_t)used, "%s no entry left for the diagonal",
             count == 1     ? " has"
             : count > most ? ", ... have"
                            : " have");
}
