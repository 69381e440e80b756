/* The system builder: the matrix without locked unknowns, and their coupling to it. */
#include <float.h>
#include <math.h>

#include "system.h"

void tsi_reduced_free(ts_context *context, tsi_reduced *r) {
  tsi_free(context, r->offsets);
  tsi_free(context, r->columns);
  tsi_free(context, r->values);
  tsi_free(context, r->coupling_offsets);
  tsi_free(context, r->coupling_columns);
  tsi_free(context, r->coupling_values);
  tsi_free(context, r->right_hand_sides);
  *r = (tsi_reduced){0};
}

ts_status tsi_reduced_begin(ts_context *context, tsi_reduced *r, int32_t rows) {
  if (!r->offsets) r->offsets = tsi_malloc(context, (size_t)rows + 1, sizeof *r->offsets);
  if (!r->coupling_offsets)
    r->coupling_offsets = tsi_malloc(context, (size_t)rows + 1, sizeof *r->coupling_offsets);
  if (!r->offsets || !r->coupling_offsets)
    return tsi_out_of_memory(context, "a system's matrix", ((size_t)rows + 1) * sizeof *r->offsets);
  r->offsets[0] = r->coupling_offsets[0] = 0;
  r->count = r->coupling_count = 0;
  r->positive_diagonal = 1;
  return TS_OK;
}

static ts_status reserve(ts_context *context, int32_t **columns, void **values, size_t size, int64_t used,
                         int64_t *capacity, int64_t more) {
  if (more > INT32_MAX - used)
    return tsi_fail(context, TS_ERROR_LIMIT, "the matrix of the system has more than %d entries", INT32_MAX);
  if (used + more <= *capacity) return TS_OK;
  const int64_t larger = tsi_system_larger(*capacity, used + more);
  TSI_TRY(tsi_system_grow(context, (void **)columns, used, larger, sizeof **columns, "a system's matrix"));
  TSI_TRY(tsi_system_grow(context, values, used, larger, size, "a system's matrix"));
  *capacity = larger;
  return TS_OK;
}

ts_status tsi_reduced_reserve(ts_context *context, tsi_reduced *r, int64_t more) {
  TSI_TRY(reserve(context, &r->columns, (void **)&r->values, sizeof *r->values, r->count, &r->capacity, more));
  return reserve(context, &r->coupling_columns, (void **)&r->coupling_values, sizeof *r->coupling_values,
                 r->coupling_count, &r->coupling_capacity, more);
}

void tsi_reduced_append(tsi_reduced *r, int32_t column, double value, int locked) {
  if (locked) {
    r->coupling_columns[r->coupling_count] = column;
    r->coupling_values[r->coupling_count++] = value;
  } else {
    r->columns[r->count] = column;
    r->values[r->count++] = r->scale * value;
  }
}

ts_status tsi_reduced_end_row(const ts_system *s, tsi_reduced *r, int32_t row) {
  int any = 0, positive = 0;
  for (int64_t e = r->offsets[row]; e < r->count; e++) {
    const float rounded = (float)r->values[e];
    any |= rounded != 0;
    positive |= r->columns[e] == row && rounded > 0;
  }
  r->offsets[row + 1] = (int32_t)r->count;
  r->coupling_offsets[row + 1] = (int32_t)r->coupling_count;
  if (s->locked[row]) return TS_OK;
  r->positive_diagonal &= positive;
  if (!any)
    return tsi_fail(s->context, TS_ERROR_INVALID_ARGUMENT,
                    "%s %d: its coefficients are less than 1e-38 of the largest in the system, below the range "
                    "of single precision",
                    s->desc.least_squares ? "the conditions of unknown" : "equation", row);
  return TS_OK;
}

/* The matrix of a square system. */
ts_status tsi_system_reduce(ts_system *s) {
  const tsi_equations *q = &s->equations;
  tsi_reduced *r = &s->reduced;
  TSI_TRY(tsi_reduced_begin(s->context, r, q->rows));
  for (int32_t i = 0; i < q->rows; i++) {
    if (!s->locked[i]) {
      TSI_TRY(tsi_reduced_reserve(s->context, r, q->offsets[i + 1] - q->offsets[i]));
      for (int32_t e = q->offsets[i]; e < q->offsets[i + 1]; e++)
        tsi_reduced_append(r, q->columns[e], q->values[e], s->locked[q->columns[e]]);
    }
    TSI_TRY(tsi_reduced_end_row(s, r, i));
  }
  return TS_OK;
}

/* The error for a right-hand side, scaled like the matrix, outside the range of floats. `row` has the largest
 * number of the component. */
static ts_status out_of_range(const ts_system *s, int component, int32_t row, double value) {
  return tsi_fail(s->context, TS_ERROR_INVALID_ARGUMENT,
                  "the right-hand side of %s %d, component %d, is %.3g relative to the largest coefficient: %s "
                  "the range of single precision",
                  s->desc.least_squares && !s->applied ? "the conditions of unknown" : "equation", row,
                  component, value, fabs(value) > 1 ? "beyond" : "below");
}

ts_status tsi_system_right_hand_sides(const ts_system *s, double *out) {
  const tsi_reduced *r = &s->reduced;
  const size_t components = (size_t)s->desc.components;
  double largest[4] = {0};
  int32_t largest_row[4] = {0};
  const double *b = r->right_hand_sides ? r->right_hand_sides : s->equations.right_hand_sides;
  for (int32_t i = 0; i < tsi_system_rows(s); i++) {
    double sum[4] = {0};
    const size_t at = (size_t)i * components,
                 to = (s->applied ? (size_t)i : tsi_system_place(s, i)) * components;
    const int counts = s->applied || !s->locked[i];
    const double scale = s->applied ? r->scale * sqrt(s->equations.weights[i]) : r->scale;
    for (size_t c = 0; c < components && counts; c++) {
      sum[c] = scale * b[at + c];
      if (sum[c] == 0 && b[at + c] != 0) sum[c] = copysign(DBL_MIN, b[at + c]); /* below the double range */
    }
    for (int32_t e = r->coupling_offsets[i]; e < r->coupling_offsets[i + 1]; e++) {
      const double *value = s->values + (size_t)r->coupling_columns[e] * components;
      for (size_t c = 0; c < components; c++) sum[c] -= r->scale * r->coupling_values[e] * value[c];
    }
    for (size_t c = 0; c < components; c++) {
      out[to + c] = sum[c];
      if (fabs(sum[c]) <= fabs(largest[c])) continue;
      largest[c] = sum[c];
      largest_row[c] = i;
    }
  }
  for (int c = 0; c < s->desc.components; c++)
    if (fabs(largest[c]) > FLT_MAX || (largest[c] != 0 && fabs(largest[c]) < FLT_MIN))
      return out_of_range(s, c, largest_row[c], largest[c]);
  return TS_OK;
}
