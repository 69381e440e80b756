/* The system builder: normal equations A^T W A x = A^T W b of least squares. Row i of A^T W A is the weighted
 * sum of the conditions that contain unknown i. It is summed in a dense row with a mark for each unknown
 * (Gustavson 1978), so memory is linear in A and in the result. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "system.h"

/* A by columns: the conditions of unknown j, and their entries. */
typedef struct transposed {
  int32_t *offsets, *rows, *entries;
} transposed;

/* The dense row of sums. */
typedef struct accumulator {
  double *sums;
  int32_t *marks; /* the last row with an entry in this column, plus 1 */
  int32_t *list;  /* the columns of this row */
  int32_t count;
} accumulator;

static ts_status transpose(const ts_system *s, transposed *t) {
  const tsi_equations *q = &s->equations;
  const int32_t unknowns = s->desc.unknowns;
  const size_t entries = (size_t)q->offsets[q->rows];
  t->offsets = tsi_calloc(s->context, (size_t)unknowns + 1, sizeof *t->offsets);
  t->rows = tsi_malloc(s->context, entries, sizeof *t->rows);
  t->entries = tsi_malloc(s->context, entries, sizeof *t->entries);
  if (!t->offsets || !t->rows || !t->entries)
    return tsi_out_of_memory(s->context, "normal equations", 2 * entries * sizeof *t->rows);
  for (size_t e = 0; e < entries; e++) t->offsets[q->columns[e]]++;
  int32_t end = 0;
  for (int32_t j = 0; j <= unknowns; j++) t->offsets[j] = end += t->offsets[j];
  for (int32_t r = q->rows - 1; r >= 0; r--)
    for (int32_t e = q->offsets[r + 1] - 1; e >= q->offsets[r]; e--) {
      const int32_t to = --t->offsets[q->columns[e]];
      t->rows[to] = r;
      t->entries[to] = e;
    }
  return TS_OK;
}

static int compare(const void *a, const void *b) {
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

static void sort_columns(int32_t *list, int32_t count) {
  enum { few = 48 };
  if (count > few) {
    qsort(list, (size_t)count, sizeof *list, compare);
    return;
  }
  for (int32_t k = 1; k < count; k++) {
    const int32_t column = list[k];
    int32_t at = k;
    for (; at > 0 && list[at - 1] > column; at--) list[at] = list[at - 1];
    list[at] = column;
  }
}

/* The product of the two coefficients is computed first, so that the matrix is symmetric to the last bit. */
static void add_up_row(const tsi_equations *q, const transposed *t, int32_t i, accumulator *a) {
  a->count = 0;
  for (int32_t k = t->offsets[i]; k < t->offsets[i + 1]; k++) {
    const int32_t r = t->rows[k];
    const double own = q->values[t->entries[k]], weight = q->weights[r];
    for (int32_t e = q->offsets[r]; e < q->offsets[r + 1]; e++) {
      const int32_t j = q->columns[e];
      if (a->marks[j] != i + 1) {
        a->marks[j] = i + 1;
        a->sums[j] = 0;
        a->list[a->count++] = j;
      }
      a->sums[j] += weight * (own * q->values[e]);
    }
  }
}

static ts_status form_rows(ts_system *s, const transposed *t, accumulator *a, int64_t most, int *fits) {
  tsi_reduced *r = &s->reduced;
  TSI_TRY(tsi_reduced_begin(s->context, r, s->desc.unknowns));
  for (int32_t i = 0; i < s->desc.unknowns; i++) {
    if (!s->locked[i]) {
      add_up_row(&s->equations, t, i, a);
      *fits = r->count + a->count <= most;
      if (!*fits) return TS_OK;
      sort_columns(a->list, a->count);
      TSI_TRY(tsi_reduced_reserve(s->context, r, a->count));
      for (int32_t k = 0; k < a->count; k++)
        tsi_reduced_append(r, a->list[k], a->sums[a->list[k]], s->locked[a->list[k]]);
    }
    TSI_TRY(tsi_reduced_end_row(s, r, i));
  }
  return TS_OK;
}

ts_status tsi_system_form_normal(ts_system *s, int64_t most, int *fits) {
  const size_t unknowns = (size_t)s->desc.unknowns;
  transposed t = {0};
  accumulator a = {tsi_malloc(s->context, unknowns, sizeof(double)),
                   tsi_calloc(s->context, unknowns, sizeof(int32_t)),
                   tsi_malloc(s->context, unknowns, sizeof(int32_t)), 0};
  ts_status status = TS_OK;
  *fits = 1;
  if (!a.sums || !a.marks || !a.list) status = tsi_out_of_memory(s->context, "normal equations", 16 * unknowns);
  if (status == TS_OK) status = transpose(s, &t);
  if (status == TS_OK) status = form_rows(s, &t, &a, most, fits);
  tsi_free(s->context, a.sums);
  tsi_free(s->context, a.marks);
  tsi_free(s->context, a.list);
  tsi_free(s->context, t.offsets);
  tsi_free(s->context, t.rows);
  tsi_free(s->context, t.entries);
  return status;
}

ts_status tsi_system_normal_right_hand_sides(ts_system *s) {
  const tsi_equations *q = &s->equations;
  const size_t components = (size_t)s->desc.components;
  double **sums = &s->reduced.right_hand_sides;
  if (!*sums) *sums = tsi_malloc(s->context, tsi_system_numbers(s), sizeof **sums);
  if (!*sums) return tsi_out_of_memory(s->context, "right-hand sides", tsi_system_numbers(s) * sizeof **sums);
  memset(*sums, 0, tsi_system_numbers(s) * sizeof **sums);
  for (int32_t r = 0; r < q->rows; r++)
    for (int32_t e = q->offsets[r]; e < q->offsets[r + 1]; e++)
      for (size_t c = 0; c < components; c++) {
        const double b = q->right_hand_sides[(size_t)r * components + c];
        double term = q->weights[r] * (q->values[e] * b);
        if (term == 0 && q->weights[r] != 0 && q->values[e] != 0 && b != 0) term = DBL_MIN; /* not exactly 0 */
        (*sums)[(size_t)q->columns[e] * components + c] += term;
      }
  return TS_OK;
}
