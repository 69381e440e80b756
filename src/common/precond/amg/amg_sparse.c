/* Products of sparse matrices, row by row.
 *
 * Each entry is a sum in double in the order of the columns of the left factor, rounded to a float once. */
#include <string.h>

#include "amg_row.h"

ts_status tsi_amg_csr_begin(ts_context *context, int32_t rows, int32_t columns, tsi_amg_csr *A) {
  *A = (tsi_amg_csr){.rows = rows, .columns = columns};
  A->offsets = tsi_malloc(context, (size_t)rows + 1, sizeof *A->offsets);
  if (!A->offsets) return tsi_out_of_memory(context, "a level of amg", ((size_t)rows + 1) * sizeof *A->offsets);
  A->offsets[0] = 0;
  return TS_OK;
}

static ts_status make_room(ts_context *context, int64_t entries, tsi_amg_csr *A) {
  ts_status status = TS_OK;
  if (entries > INT32_MAX)
    status = tsi_fail(context, TS_ERROR_LIMIT, "a matrix of a level of amg has %lld entries; the most are %d",
                      (long long)entries, INT32_MAX);
  else {
    A->indices = tsi_malloc(context, (size_t)entries, sizeof *A->indices);
    A->values = tsi_malloc(context, (size_t)entries + TSI_AMG_PIECE, sizeof *A->values);
    if (!A->indices || !A->values)
      status = tsi_out_of_memory(context, "a level of amg",
                                 (size_t)entries * (sizeof *A->indices + sizeof *A->values));
    else
      memset(A->values + entries, 0, TSI_AMG_PIECE * sizeof *A->values);
  }
  if (status < 0) tsi_amg_csr_free(context, A);
  return status;
}

ts_status tsi_amg_csr_finish(ts_context *context, tsi_amg_csr *A) {
  int64_t entries = 0;
  for (int32_t i = 0; i < A->rows; i++) {
    entries += A->offsets[i + 1];
    A->offsets[i + 1] = (int32_t)(entries < INT32_MAX ? entries : INT32_MAX);
  }
  return make_room(context, entries, A);
}

ts_status tsi_amg_csr_create(ts_context *context, int32_t rows, int32_t columns, int64_t entries,
                             tsi_amg_csr *A) {
  TSI_TRY(tsi_amg_csr_begin(context, rows, columns, A));
  return make_room(context, entries, A);
}

void tsi_amg_csr_free(ts_context *context, tsi_amg_csr *A) {
  tsi_free(context, A->offsets);
  tsi_free(context, A->indices);
  tsi_free(context, A->values);
  *A = (tsi_amg_csr){0};
}

/* ---- Transposition ---- */

typedef struct transposition {
  const tsi_amg_csr *A, *T;
  int parts;
  int32_t *counts; /* of entries of A's columns, by parts of its rows; later the next index */
} transposition;

static void count_columns(const void *arguments, size_t first, size_t last) {
  const transposition *t = arguments;
  const tsi_amg_csr *A = t->A;
  for (size_t p = first; p < last; p++) {
    int32_t *counts = t->counts + p * (size_t)A->columns;
    memset(counts, 0, (size_t)A->columns * sizeof *counts);
    const int32_t end = A->offsets[tsi_amg_begin(A->rows, p + 1, t->parts)];
    for (int32_t e = A->offsets[tsi_amg_begin(A->rows, p, t->parts)]; e < end; e++) counts[A->indices[e]]++;
  }
}

static void place_entries(const void *arguments, size_t first, size_t last) {
  const transposition *t = arguments;
  const tsi_amg_csr *A = t->A;
  for (size_t p = first; p < last; p++) {
    int32_t *next = t->counts + p * (size_t)A->columns;
    for (int32_t i = tsi_amg_begin(A->rows, p, t->parts); i < tsi_amg_begin(A->rows, p + 1, t->parts); i++) {
      tsi_poll_rows(i);
      for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++) {
        const int32_t to = next[A->indices[e]]++;
        t->T->indices[to] = i;
        t->T->values[to] = -A->values[e];
      }
    }
  }
}

ts_status tsi_amg_transpose(ts_context *context, const tsi_amg_csr *A, tsi_amg_csr *T) {
  transposition t = {.A = A, .T = T};
  TSI_TRY(tsi_threads(context, &t.parts));
  if (!T->offsets) TSI_TRY(tsi_amg_csr_create(context, A->columns, A->rows, A->offsets[A->rows], T));
  const size_t parts = (size_t)t.parts, columns = (size_t)A->columns;
  t.counts = tsi_malloc(context, parts * columns, sizeof *t.counts);
  if (!t.counts) return tsi_out_of_memory(context, "a level of amg", parts * columns * sizeof *t.counts);
  tsi_parallel(context, parts, count_columns, &t);
  int32_t to = 0;
  for (size_t j = 0; j < columns; j++) {
    T->offsets[j] = to;
    for (size_t p = 0; p < parts; p++) {
      const int32_t count = t.counts[p * columns + j];
      t.counts[p * columns + j] = to;
      to += count;
    }
  }
  T->offsets[columns] = to;
  tsi_parallel(context, parts, place_entries, &t);
  tsi_free(context, t.counts);
  return TS_OK;
}

/* ---- Sorting ---- */

/* Heap sort, for rows of any length. */
static void sift(int32_t *list, int32_t root, int32_t count) {
  const int32_t value = list[root];
  for (int32_t child; (child = 2 * root + 1) < count; root = child) {
    if (child + 1 < count && list[child + 1] > list[child]) child++;
    if (list[child] <= value) break;
    list[root] = list[child];
  }
  list[root] = value;
}

void tsi_amg_sort(int32_t *list, int32_t count) {
  if (count <= 64) {
    for (int32_t i = 1; i < count; i++) {
      const int32_t value = list[i];
      int32_t k = i;
      for (; k > 0 && list[k - 1] > value; k--) list[k] = list[k - 1];
      list[k] = value;
    }
    return;
  }
  for (int32_t i = count / 2; i-- > 0;) sift(list, i, count);
  for (int32_t last = count - 1; last > 0; last--) {
    const int32_t largest = list[0];
    list[0] = list[last];
    list[last] = largest;
    sift(list, 0, last);
  }
}

/* ---- -R (A P) ---- */

/* Functions of rows are also compiled for one unknown. Nodes in a row of A P are in the order in which they are
 * found, which does not affect the second product. The rows of a part are contiguous, with room for their
 * maximum length. */
typedef struct product {
  const tsi_amg_csr *R, *A, *P;
  int parts, unknowns;
  tsi_amg_row *rows; /* per part */
  size_t *begins;    /* of the nodes in rows of A P; their number */
  int32_t *counts;
  int32_t *nodes;
  float *values; /* per node, one for each of its unknowns */
  size_t *room;  /* per part: where it starts, later the maximum entries of its rows of C */
  tsi_amg_target C;
} product;

static void measure(const void *arguments, size_t first, size_t last) {
  const product *m = arguments;
  const tsi_amg_csr *A = m->A, *P = m->P;
  for (size_t p = first; p < last; p++) {
    size_t sum = 0;
    const int32_t end = A->offsets[tsi_amg_begin(A->rows, p + 1, m->parts)];
    for (int32_t e = A->offsets[tsi_amg_begin(A->rows, p, m->parts)]; e < end; e++)
      sum += (size_t)(P->offsets[A->indices[e] + 1] - P->offsets[A->indices[e]]);
    m->room[p] = sum / (size_t)m->unknowns;
  }
}

static inline int32_t multiply_row(const product *m, int32_t unknowns, int32_t i, size_t to, tsi_amg_row row) {
  const int32_t *restrict offsets = m->P->offsets, *restrict from = m->P->indices;
  const float *restrict values = m->P->values;
  row.nodes = m->nodes + to;
  row.known = 0;
  for (int32_t e = m->A->offsets[i]; e < m->A->offsets[i + 1]; e++) {
    const double a = (double)m->A->values[e];
    const int32_t k = m->A->indices[e], end = offsets[k + 1];
    for (int32_t f = offsets[k]; f < end; f += unknowns) {
      double *sums = tsi_amg_find(&row, unknowns, from[f] / unknowns);
      for (int32_t u = 0; u < unknowns; u++) sums[u] += a * (double)values[f + u];
    }
  }
  float *restrict out = m->values + to * (size_t)unknowns;
  for (int32_t c = 0; c < row.count * unknowns; c++) {
    out[c] = (float)row.sums[c];
    row.sums[c] = 0;
  }
  for (int32_t c = 0; c < row.count; c++) row.places[row.nodes[c]] = -1;
  m->begins[i] = to;
  m->counts[i] = row.count;
  return row.count;
}

static void multiply(const void *arguments, size_t first, size_t last) {
  const product *m = arguments;
  for (size_t p = first; p < last; p++) {
    size_t to = m->room[p];
    const int32_t end = tsi_amg_begin(m->A->rows, p + 1, m->parts);
    for (int32_t i = tsi_amg_begin(m->A->rows, p, m->parts); i < end; i++) {
      tsi_poll_rows(i);
      to += (size_t)(m->unknowns == 1 ? multiply_row(m, 1, i, to, m->rows[p])
                                      : multiply_row(m, m->unknowns, i, to, m->rows[p]));
    }
  }
}

static void measure_rows(const void *arguments, size_t first, size_t last) {
  const product *m = arguments;
  const tsi_amg_csr *R = m->R;
  for (size_t p = first; p < last; p++) {
    size_t sum = 0;
    const int32_t end = R->offsets[tsi_amg_begin(R->rows, p + 1, m->parts)];
    for (int32_t e = R->offsets[tsi_amg_begin(R->rows, p, m->parts)]; e < end; e++)
      sum += (size_t)m->counts[R->indices[e]];
    m->room[p] = sum * (size_t)m->unknowns;
  }
}

static inline int32_t fill_row(const product *m, int32_t unknowns, int32_t i, tsi_amg_row row, size_t to) {
  const tsi_amg_csr *R = m->R;
  const int32_t *restrict nodes = m->nodes;
  const float *restrict values = m->values;
  tsi_amg_row_begin(&row, unknowns, &m->C, i);
  for (int32_t e = R->offsets[i]; e < R->offsets[i + 1]; e++) {
    const double r = -(double)R->values[e];
    const size_t begin = m->begins[R->indices[e]], end = begin + (size_t)m->counts[R->indices[e]];
    for (size_t f = begin; f < end; f++) {
      double *sums = tsi_amg_find(&row, unknowns, nodes[f]);
      for (int32_t u = 0; u < unknowns; u++) sums[u] += r * (double)values[f * (size_t)unknowns + (size_t)u];
    }
  }
  return tsi_amg_row_write(row, unknowns, m->C.indices + to, m->C.values + to);
}

static void fill(const void *arguments, size_t first, size_t last) {
  const product *m = arguments;
  for (size_t p = first; p < last; p++) {
    size_t to = tsi_amg_target_begin(&m->C, p, m->parts);
    const int32_t end = tsi_amg_begin(m->R->rows, p + 1, m->parts);
    for (int32_t i = tsi_amg_begin(m->R->rows, p, m->parts); i < end; i++) {
      tsi_poll_rows(i);
      const int32_t entries =
          m->unknowns == 1 ? fill_row(m, 1, i, m->rows[p], to) : fill_row(m, m->unknowns, i, m->rows[p], to);
      tsi_amg_target_note(&m->C, i, entries);
      to += (size_t)entries;
    }
  }
}

/* The index of the diagonal in C, if the row has only zeros; otherwise -1. */
static int32_t find_zero(const tsi_amg_csr *C, int32_t i) {
  int32_t diagonal = -1;
  for (int32_t e = C->offsets[i]; e < C->offsets[i + 1]; e++) {
    if (C->values[e] != 0) return -1;
    if (C->indices[e] == i) diagonal = e;
  }
  return diagonal;
}

typedef struct zeros {
  const tsi_amg_csr *C;
  int unknowns;
} zeros;

static void fill_zeros(const void *arguments, size_t first, size_t last) {
  const zeros *m = arguments;
  const tsi_amg_csr *C = m->C;
  for (int32_t node = (int32_t)first; node < (int32_t)last; node++) {
    int32_t found[8], count = 0;
    float least = 0;
    for (int32_t i = node * m->unknowns; i < (node + 1) * m->unknowns; i++) {
      const int32_t zero = find_zero(C, i);
      if (zero >= 0) found[count++] = zero;
    }
    if (count == 0) continue;
    for (int32_t i = node * m->unknowns; i < (node + 1) * m->unknowns; i++)
      for (int32_t e = C->offsets[i]; e < C->offsets[i + 1]; e++)
        if (C->indices[e] == i && C->values[e] > 0 && (least == 0 || C->values[e] < least))
          least = C->values[e];
    for (int32_t k = 0; k < count; k++) C->values[found[k]] = least > 0 ? least : 1;
  }
}

void tsi_amg_fill_zeros(const ts_context *context, const tsi_amg_csr *C, int unknowns) {
  tsi_parallel(context, (size_t)C->rows / (size_t)unknowns, fill_zeros, &(zeros){C, unknowns});
}

/* Converts the sizes of parts to their start indices; returns the sum. */
static size_t add_up(const product *m) {
  size_t sum = 0;
  for (int p = 0; p < m->parts; p++) {
    const size_t size = m->room[p];
    m->room[p] = sum;
    sum += size;
  }
  return sum;
}

static ts_status multiply_all(ts_context *context, product *m, tsi_amg_csr *C) {
  const size_t parts = (size_t)m->parts, unknowns = (size_t)m->unknowns;
  tsi_parallel(context, parts, measure, m);
  const size_t room = add_up(m);
  m->nodes = tsi_malloc(context, room, sizeof *m->nodes);
  m->values = tsi_malloc(context, room * unknowns, sizeof *m->values);
  if (!m->nodes || !m->values)
    return tsi_out_of_memory(context, "a product of amg",
                             room * (sizeof *m->nodes + unknowns * sizeof *m->values));
  TSI_TRY(tsi_poll(context));
  tsi_parallel(context, parts, multiply, m);
  TSI_TRY(tsi_poll(context));
  tsi_parallel(context, parts, measure_rows, m);
  return tsi_amg_assemble(context, m->R->rows, m->P->columns, m->parts, m->room, C, &m->C, fill, m);
}

ts_status tsi_amg_product(ts_context *context, const tsi_amg_csr *R, const tsi_amg_csr *A, const tsi_amg_csr *P,
                          int unknowns, tsi_amg_csr *C) {
  const size_t rows = (size_t)A->rows;
  product m = {.R = R, .A = A, .P = P, .unknowns = unknowns};
  TSI_TRY(tsi_threads(context, &m.parts));
  TSI_TRY(tsi_amg_rows_create(context, m.parts, P->columns / unknowns, unknowns, &m.rows));
  m.begins = tsi_malloc(context, rows, sizeof *m.begins);
  m.counts = tsi_malloc(context, rows, sizeof *m.counts);
  m.room = tsi_malloc(context, (size_t)m.parts, sizeof *m.room);
  const ts_status status = m.begins && m.counts && m.room
                               ? multiply_all(context, &m, C)
                               : tsi_out_of_memory(context, "a product of amg", rows * sizeof *m.begins);
  tsi_free(context, m.begins);
  tsi_free(context, m.counts);
  tsi_free(context, m.room);
  tsi_free(context, m.nodes);
  tsi_free(context, m.values);
  tsi_amg_rows_free(context, m.rows);
  return status;
}

ts_status tsi_amg_galerkin(ts_context *context, const tsi_amg_csr *R, const tsi_amg_csr *A,
                           const tsi_amg_csr *P, int unknowns, tsi_amg_csr *C) {
  TSI_TRY(tsi_amg_product(context, R, A, P, unknowns, C));
  tsi_amg_fill_zeros(context, C, unknowns);
  return TS_OK;
}
