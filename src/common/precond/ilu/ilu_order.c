/* The matrix to be factorised: B = P D_r A D_c Q.
 *
 * A matching moves large entries to the diagonal and scales them to 1, so that the order of the rows does not
 * cause zero pivots (Duff and Koster 2001). Rows and columns are then ordered by reverse Cuthill-McKee. It
 * gives better incomplete factors of unsymmetric matrices than other orders (Benzi, Szyld and van Duin 1999,
 * "Orderings for incomplete factorization preconditioning of nonsymmetric problems"). */
#include <math.h>
#include <string.h>

#include "common/matrix/matching.h"
#include "common/system/reorder.h"
#include "ilu.h"

/* A matching visits each entry a few times; for an adversarial matrix it may take rows x entries. */
enum { STEPS_AN_ENTRY = 200, STEPS_AT_LEAST = 1 << 26 };
static const double largest_log2 = 800; /* of a scale, so that products with floats fit in doubles */

void tsi_ilu_order_free(ts_context *context, tsi_ilu_order *order) {
  tsi_free(context, order->rows);
  tsi_free(context, order->row_scales);
  *order = (tsi_ilu_order){0};
}

static ts_status make_order(ts_context *context, int32_t rows, tsi_ilu_order *order) {
  const size_t n = (size_t)rows;
  *order = (tsi_ilu_order){.n = rows,
                           .rows = tsi_malloc(context, 2 * n, sizeof *order->rows),
                           .row_scales = tsi_malloc(context, 2 * n, sizeof *order->row_scales)};
  if (!order->rows || !order->row_scales) {
    tsi_ilu_order_free(context, order);
    return tsi_out_of_memory(context, "incomplete factors", 24 * n);
  }
  order->columns = order->rows + n;
  order->column_scales = order->row_scales + n;
  return TS_OK;
}

void tsi_ilu_rows_free(ts_context *context, tsi_ilu_rows *rows) {
  tsi_free(context, rows->offsets);
  tsi_free(context, rows->columns);
  tsi_free(context, rows->values);
  *rows = (tsi_ilu_rows){0};
}

ts_status tsi_ilu_rows_create(ts_context *context, int32_t n, int64_t entries, tsi_ilu_rows *rows) {
  const size_t room = (size_t)entries + 1;
  *rows = (tsi_ilu_rows){tsi_calloc(context, (size_t)n + 1, sizeof *rows->offsets),
                         tsi_malloc(context, room, sizeof *rows->columns),
                         tsi_malloc(context, room, sizeof *rows->values)};
  if (rows->offsets && rows->columns && rows->values) return TS_OK;
  tsi_ilu_rows_free(context, rows);
  return tsi_out_of_memory(context, "incomplete factors", room * (sizeof(double) + sizeof(int32_t)));
}

/* ---- A without constrained rows ---- */

static int is_equation(const unsigned char *constrained, int32_t i) {
  return !constrained || !constrained[i];
}

/* Copies A with these rows and columns replaced by those of the identity. */
static void copy_equations(const tsi_csr *A, const unsigned char *constrained, int32_t *offsets,
                           int32_t *columns, float *values) {
  int32_t next = 0;
  for (int32_t i = 0; i < A->rows; i++) {
    offsets[i] = next;
    if (!is_equation(constrained, i)) {
      columns[next] = i;
      values[next++] = 1;
      continue;
    }
    for (int32_t e = A->row_offsets[i]; e < A->row_offsets[i + 1]; e++) {
      if (!is_equation(constrained, A->column_indices[e])) continue;
      columns[next] = A->column_indices[e];
      values[next++] = A->values[e];
    }
  }
  offsets[A->rows] = next;
}

/* ---- Matching and scaling ---- */

static double scale_of(double log2) {
  return exp2(fmax(-largest_log2, fmin(log2, largest_log2)));
}

/* Divides rows by their largest entry, so that the size of a number is relative to its row. */
static void keep_order(const tsi_csr *A, const tsi_ilu_order *order) {
  for (int32_t k = 0; k < order->n; k++) {
    double largest = 0;
    tsi_poll_rows(k);
    for (int32_t e = A->row_offsets[k]; e < A->row_offsets[k + 1]; e++)
      largest = fmax(largest, fabs((double)A->values[e]));
    order->rows[k] = order->columns[k] = k;
    order->row_scales[k] = largest > 0 ? 1 / largest : 1;
    order->column_scales[k] = 1;
  }
}

/* Scales rows and columns to a diagonal of ones instead. */
static void scale_diagonal(const tsi_csr *A, const tsi_ilu_order *order) {
  for (int32_t i = 0; i < order->n; i++) {
    tsi_poll_rows(i);
    for (int32_t e = A->row_offsets[i]; e < A->row_offsets[i + 1]; e++)
      if (A->column_indices[e] == i)
        order->row_scales[i] = order->column_scales[i] = 1 / sqrt((double)A->values[e]);
  }
}

static void apply_matching(const tsi_matching *matching, tsi_ilu_order *order) {
  for (int32_t i = 0; i < order->n; i++) {
    const int32_t j = matching->columns[i];
    order->rows[i] = i;
    order->columns[i] = j;
    order->row_scales[i] = scale_of(matching->rows_log2[i]);
    order->column_scales[i] = scale_of(matching->columns_log2[j]);
  }
  order->is_matched = 1;
}

static void say_matching(ts_context *context, const tsi_matching *matching) {
  char text[160];
  if (matching->unmatched == 0) return;
  tsi_matching_say(matching, text, sizeof text);
  tsi_log(context, TS_LOG_LEVEL_WARNING, "the matrix is structurally singular: %s", text);
}

/* Computes P, D_r and D_c; does without the matching if it takes too long. */
static ts_status match(ts_context *context, const tsi_csr *A, tsi_ilu_scaling scaling, tsi_ilu_order *order) {
  tsi_matching matching;
  keep_order(A, order);
  if (scaling == TSI_ILU_SYMMETRIC) scale_diagonal(A, order);
  if (scaling != TSI_ILU_MATCHING) return TS_OK;
  const int64_t most = STEPS_AT_LEAST + STEPS_AN_ENTRY * (int64_t)A->row_offsets[A->rows];
  const ts_status status = tsi_match(context, A, most, &matching);
  if (status == TS_ERROR_LIMIT) {
    tsi_log(context, TS_LOG_LEVEL_WARNING, "%s; incomplete factors do without", context->error);
    tsi_clear_error(context);
    return TS_OK;
  }
  TSI_TRY(status);
  say_matching(context, &matching);
  apply_matching(&matching, order);
  tsi_matching_free(context, &matching);
  return TS_OK;
}

/* ---- B ---- */

/* place[columns[k]] = k. */
static void invert(int32_t n, const int32_t *columns, int32_t *place) {
  for (int32_t k = 0; k < n; k++) place[columns[k]] = k;
}

/* Reorders with the pattern of B in the order so far. */
static ts_status reorder(ts_context *context, const tsi_csr *A, int32_t *place, tsi_ilu_order *order) {
  const size_t n = (size_t)A->rows, entries = (size_t)A->row_offsets[n];
  int32_t *pattern = tsi_malloc(context, entries + 2 * n + 1, sizeof *pattern);
  double *scales = tsi_malloc(context, 2 * n, sizeof *scales);
  if (!pattern || !scales) {
    tsi_free(context, pattern);
    tsi_free(context, scales);
    return tsi_out_of_memory(context, "incomplete factors", 4 * entries + 24 * n);
  }
  int32_t *sorted = pattern + entries, *columns = sorted + n;
  invert(A->rows, order->columns, place);
  for (int32_t i = 0; i < A->rows; i++) {
    tsi_poll_rows(i);
    for (int32_t e = A->row_offsets[i]; e < A->row_offsets[i + 1]; e++)
      pattern[e] = place[A->column_indices[e]];
  }
  const tsi_csr B = {
      .rows = A->rows, .columns = A->rows, .row_offsets = A->row_offsets, .column_indices = pattern};
  ts_status status = tsi_poll(context);
  if (status == TS_OK) status = tsi_reorder_rcm(context, &B, sorted);
  for (size_t k = 0; status == TS_OK && k < n; k++) {
    columns[k] = order->columns[sorted[k]];
    scales[k] = order->row_scales[sorted[k]];
    scales[n + k] = order->column_scales[sorted[k]];
  }
  if (status == TS_OK) {
    memcpy(order->rows, sorted, n * sizeof *sorted);
    memcpy(order->columns, columns, n * sizeof *columns);
    memcpy(order->row_scales, scales, 2 * n * sizeof *scales);
  }
  tsi_free(context, pattern);
  tsi_free(context, scales);
  return status;
}

static void fill_rows(const tsi_csr *A, const tsi_ilu_order *order, const int32_t *place, tsi_ilu_rows *B) {
  int64_t next = 0;
  for (int32_t k = 0; k < order->n; k++) {
    const int32_t i = order->rows[k];
    tsi_poll_rows(k);
    for (int32_t e = A->row_offsets[i]; e < A->row_offsets[i + 1]; e++) {
      const int32_t column = place[A->column_indices[e]];
      if (A->values[e] == 0) continue;
      B->columns[next] = column;
      B->values[next++] = (double)A->values[e] * order->row_scales[k] * order->column_scales[column];
    }
    B->offsets[k + 1] = next;
  }
}

static ts_status make_rows(ts_context *context, const tsi_csr *A, tsi_ilu_scaling scaling, tsi_ilu_order *order,
                           tsi_ilu_rows *B) {
  TSI_TRY(match(context, A, scaling, order));
  TSI_TRY(tsi_poll(context));
  int32_t *place = tsi_malloc(context, (size_t)A->rows, sizeof *place);
  if (!place) return tsi_out_of_memory(context, "incomplete factors", 4 * (size_t)A->rows);
  ts_status status = reorder(context, A, place, order);
  if (status == TS_OK) status = tsi_ilu_rows_create(context, A->rows, A->row_offsets[A->rows], B);
  if (status == TS_OK) {
    invert(A->rows, order->columns, place);
    fill_rows(A, order, place, B);
  }
  tsi_free(context, place);
  return status;
}

static ts_status make_rows_of_equations(ts_context *context, const tsi_csr *A, const unsigned char *constrained,
                                        tsi_ilu_scaling scaling, tsi_ilu_order *order, tsi_ilu_rows *B) {
  const size_t n = (size_t)A->rows, room = (size_t)A->row_offsets[n] + n;
  int32_t *offsets = tsi_malloc(context, n + 1 + room, sizeof *offsets);
  float *values = tsi_malloc(context, room, sizeof *values);
  ts_status status = TS_OK;
  if (offsets && values) {
    copy_equations(A, constrained, offsets, offsets + n + 1, values);
    const tsi_csr equations = {A->rows, A->rows, offsets, offsets + n + 1, values, NULL};
    status = make_rows(context, &equations, scaling, order, B);
  } else {
    status = tsi_out_of_memory(context, "incomplete factors", 8 * room);
  }
  tsi_free(context, offsets);
  tsi_free(context, values);
  return status;
}

ts_status tsi_ilu_order_create(ts_context *context, const tsi_csr *A, const unsigned char *constrained,
                               tsi_ilu_scaling scaling, tsi_ilu_order *order, tsi_ilu_rows *B) {
  *B = (tsi_ilu_rows){0};
  TSI_TRY(make_order(context, A->rows, order));
  const ts_status status = constrained ? make_rows_of_equations(context, A, constrained, scaling, order, B)
                                       : make_rows(context, A, scaling, order, B);
  if (status < 0) tsi_ilu_order_free(context, order);
  return status;
}
