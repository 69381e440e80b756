/* Compressed sparse rows: validation and canonical form. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "common/core/core.h"
#include "common/core/pool.h"
#include "csr.h"

/* What blocks of rows are looked at for, and what was found in each. */
typedef struct look {
  const tsi_csr *csr;
  const unsigned char *constrained;
  unsigned char *found;
  uint64_t *hashes;
} look;

/* Whether something was found in any block. */
static int find_in_blocks(const ts_context *context, tsi_body body, look l) {
  unsigned char found[TSI_BLOCKS] = {0};
  l.found = found;
  tsi_in_blocks(context, l.csr->rows, body, &l);
  for (int b = 0; b < TSI_BLOCKS; b++)
    if (found[b]) return 1;
  return 0;
}

/* ---- Validation ---- */

static void find_decrease(const void *arguments, size_t first, size_t last) {
  const look *l = arguments;
  const int32_t *offsets = l->csr->row_offsets;
  for (size_t b = first; b < last; b++) {
    int found = 0;
    for (int32_t i = tsi_block_begin(l->csr->rows, b); i < tsi_block_begin(l->csr->rows, b + 1); i++)
      found |= offsets[i + 1] < offsets[i];
    l->found[b] = (unsigned char)found;
  }
}

static int is_outside(const tsi_csr *csr, int32_t e) {
  return csr->column_indices[e] < 0 || csr->column_indices[e] >= csr->columns;
}
static int is_infinite(const tsi_csr *csr, int32_t e) {
  return (csr->values && !isfinite(csr->values[e])) || (csr->double_values && !isfinite(csr->double_values[e]));
}

/* Loops that a compiler turns into vectors. */
static int find_bad(const tsi_csr *csr, int32_t first, int32_t end) {
  int found = 0;
  for (int32_t e = first; e < end; e++) found |= (uint32_t)csr->column_indices[e] >= (uint32_t)csr->columns;
  for (int32_t e = first; csr->values && e < end; e++) found |= !(fabsf(csr->values[e]) <= FLT_MAX);
  for (int32_t e = first; csr->double_values && e < end; e++)
    found |= !(fabs(csr->double_values[e]) <= DBL_MAX);
  return found;
}

static void find_bad_entry(const void *arguments, size_t first, size_t last) {
  const look *l = arguments;
  const int32_t *offsets = l->csr->row_offsets, rows = l->csr->rows;
  for (size_t b = first; b < last; b++)
    l->found[b] = (unsigned char)find_bad(l->csr, offsets[tsi_block_begin(rows, b)],
                                          offsets[tsi_block_begin(rows, b + 1)]);
}

static ts_status report_decrease(ts_context *context, const tsi_csr *csr) {
  int32_t i = 0;
  while (csr->row_offsets[i + 1] >= csr->row_offsets[i]) i++;
  return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                  "row_offsets[%d] is %d, less than row_offsets[%d], which is %d", i + 1,
                  csr->row_offsets[i + 1], i, csr->row_offsets[i]);
}

static ts_status report_bad_entry(ts_context *context, const tsi_csr *csr) {
  int32_t e = 0, i = 0;
  while (!is_outside(csr, e) && !is_infinite(csr, e)) e++;
  while (csr->row_offsets[i + 1] <= e) i++;
  const int32_t j = csr->column_indices[e];
  if (is_outside(csr, e))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "column_indices[%d] in row %d is %d; columns go from 0 to %d", e, i, j, csr->columns - 1);
  return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "values[%d] in row %d, column %d is %g", e, i, j,
                  csr->values ? (double)csr->values[e] : csr->double_values[e]);
}

ts_status tsi_csr_validate(ts_context *context, const tsi_csr *csr) {
  if (csr->rows < 1 || csr->columns < 1)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "the matrix is %d x %d; it needs at least one row and column", csr->rows, csr->columns);
  if (csr->rows > TSI_MAX_SIZE || csr->columns > TSI_MAX_SIZE)
    return tsi_fail(context, TS_ERROR_LIMIT, "the matrix is %d x %d; it has at most %d rows and columns",
                    csr->rows, csr->columns, TSI_MAX_SIZE);
  if (!csr->row_offsets) return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "row_offsets is NULL");
  if (csr->row_offsets[0] != 0)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "row_offsets[0] is %d, not 0", csr->row_offsets[0]);
  TSI_TRY(tsi_threads_for(context, csr->rows));
  if (find_in_blocks(context, find_decrease, (look){.csr = csr})) return report_decrease(context, csr);
  const int32_t nonzeros = csr->row_offsets[csr->rows];
  if (nonzeros && !csr->column_indices)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "column_indices is NULL and there are %d entries",
                    nonzeros);
  if (find_in_blocks(context, find_bad_entry, (look){.csr = csr})) return report_bad_entry(context, csr);
  return TS_OK;
}

/* ---- Fingerprint ---- */

static uint64_t mixed(uint64_t h, uint32_t word) {
  h = (h ^ word) * 0xc4ceb9fe1a85ec53u;
  return h ^ h >> 29;
}

static void hash_rows(const void *arguments, size_t first, size_t last) {
  const look *l = arguments;
  const tsi_csr *csr = l->csr;
  for (size_t b = first; b < last; b++) {
    const int32_t row = tsi_block_begin(csr->rows, b), end = tsi_block_begin(csr->rows, b + 1);
    uint64_t h = 0x9e3779b97f4a7c15u;
    for (int32_t i = row; i < end; i++) h = mixed(h, (uint32_t)csr->row_offsets[i + 1]);
    for (int32_t e = csr->row_offsets[row]; e < csr->row_offsets[end]; e++)
      h = mixed(h, (uint32_t)csr->column_indices[e]);
    l->hashes[b] = h;
  }
}

uint64_t tsi_csr_fingerprint(const ts_context *context, const tsi_csr *csr) {
  uint64_t hashes[TSI_BLOCKS], h = mixed((uint64_t)(uint32_t)csr->rows, (uint32_t)csr->columns);
  const look l = {.csr = csr, .hashes = hashes};
  tsi_in_blocks(context, csr->rows, hash_rows, &l);
  for (int b = 0; b < TSI_BLOCKS; b++) {
    h = mixed(h, (uint32_t)hashes[b]);
    h = mixed(h, (uint32_t)(hashes[b] >> 32));
  }
  return h;
}

/* ---- Canonical form ---- */

static void find_disorder(const void *arguments, size_t first, size_t last) {
  const look *l = arguments;
  const int32_t *offsets = l->csr->row_offsets, *columns = l->csr->column_indices;
  for (size_t b = first; b < last; b++) {
    int found = 0;
    for (int32_t i = tsi_block_begin(l->csr->rows, b); i < tsi_block_begin(l->csr->rows, b + 1); i++) {
      found |= l->constrained && l->constrained[i] && offsets[i + 1] > offsets[i];
      for (int32_t e = offsets[i] + 1; e < offsets[i + 1]; e++) found |= columns[e] <= columns[e - 1];
    }
    l->found[b] = (unsigned char)found;
  }
}

typedef struct column_value {
  int32_t column, order;
  double value;
} column_value;

static int compare_columns(const void *a, const void *b) {
  const column_value *x = a, *y = b;
  if (x->column != y->column) return x->column < y->column ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

/* Sorts one row's entries, adds up equal columns in the order given, and writes them from `to` on. */
static int32_t merge_row(const tsi_csr *csr, int32_t row, column_value *scratch, tsi_host_csr *out,
                         int32_t to) {
  const int32_t first = csr->row_offsets[row], count = csr->row_offsets[row + 1] - first;
  int sorted = 1;
  for (int32_t k = 0; k < count; k++) {
    const double value = csr->values          ? (double)csr->values[first + k]
                         : csr->double_values ? csr->double_values[first + k]
                                              : 0;
    scratch[k] = (column_value){csr->column_indices[first + k], k, value};
    sorted = sorted && (k == 0 || scratch[k].column >= scratch[k - 1].column);
  }
  if (!sorted) qsort(scratch, (size_t)count, sizeof *scratch, compare_columns);
  for (int32_t k = 0; k < count;) {
    double sum = 0;
    const int32_t column = scratch[k].column;
    for (; k < count && scratch[k].column == column; k++) sum += scratch[k].value;
    out->column_indices[to] = column;
    if (out->values) out->values[to] = (float)sum;
    if (out->values && out->rests[0]) {
      sum -= (double)out->values[to];
      out->rests[0][to] = (float)sum;
      sum -= (double)out->rests[0][to];
      out->rests[1][to] = (float)sum;
    }
    to++;
  }
  return to;
}

/* A rest that is 0 everywhere is none. */
static void drop_zero_rests(ts_context *context, tsi_host_csr *csr) {
  const int32_t nonzeros = csr->row_offsets[csr->rows];
  for (int p = 0; p < 2 && csr->rests[p]; p++) {
    int32_t e = 0;
    while (e < nonzeros && csr->rests[p][e] == 0) e++;
    if (e < nonzeros) continue;
    tsi_free(context, csr->rests[p]);
    csr->rests[p] = NULL;
  }
}

ts_status tsi_csr_canonical(ts_context *context, const tsi_csr *csr, const unsigned char *constrained,
                            unsigned flags, tsi_host_csr *out, int64_t *duplicates) {
  const int32_t nonzeros = csr->row_offsets[csr->rows];
  const int has_values = csr->values || csr->double_values;
  *duplicates = 0;
  *out = (tsi_host_csr){.rows = csr->rows, .columns = csr->columns};
  if (!(flags & TSI_CSR_COPY) && !csr->double_values &&
      !find_in_blocks(context, find_disorder, (look){.csr = csr, .constrained = constrained})) {
    out->row_offsets = (int32_t *)csr->row_offsets;
    out->column_indices = (int32_t *)csr->column_indices;
    out->values = (float *)csr->values;
    return TS_OK;
  }
  out->owned = 1;
  int32_t longest = 1;
  for (int32_t i = 0; i < csr->rows; i++) {
    const int32_t length = csr->row_offsets[i + 1] - csr->row_offsets[i];
    if (length > longest) longest = length;
  }
  out->row_offsets = tsi_malloc(context, (size_t)csr->rows + 1, sizeof *out->row_offsets);
  out->column_indices = tsi_malloc(context, (size_t)nonzeros, sizeof *out->column_indices);
  if (has_values) out->values = tsi_malloc(context, (size_t)nonzeros, sizeof *out->values);
  const int rests = csr->double_values && flags & TSI_CSR_RESTS;
  for (int p = 0; rests && p < 2; p++)
    out->rests[p] = tsi_malloc(context, (size_t)nonzeros, sizeof *out->rests[p]);
  column_value *scratch = tsi_malloc(context, (size_t)longest, sizeof *scratch);
  if (!out->row_offsets || !out->column_indices || (has_values && !out->values) || !scratch ||
      (rests && (!out->rests[0] || !out->rests[1]))) {
    tsi_free(context, scratch);
    tsi_csr_free(context, out);
    return tsi_out_of_memory(context, "a copy of the matrix", (size_t)nonzeros * 8 + (size_t)csr->rows * 4);
  }
  int32_t to = 0;
  out->row_offsets[0] = 0;
  for (int32_t i = 0; i < csr->rows; i++) {
    if (!constrained || !constrained[i]) {
      const int32_t before = to;
      to = merge_row(csr, i, scratch, out, to);
      *duplicates += csr->row_offsets[i + 1] - csr->row_offsets[i] - (to - before);
    }
    out->row_offsets[i + 1] = to;
  }
  tsi_free(context, scratch);
  drop_zero_rests(context, out);
  for (int32_t i = 0; out->values && i < csr->rows; i++)
    for (int32_t e = out->row_offsets[i]; e < out->row_offsets[i + 1]; e++)
      if (!isfinite(out->values[e])) {
        const int32_t column = out->column_indices[e];
        tsi_csr_free(context, out);
        return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                        "the sum of the duplicates in row %d, column %d is infinite", i, column);
      }
  return TS_OK;
}

void tsi_csr_free(ts_context *context, tsi_host_csr *csr) {
  if (csr->owned) {
    tsi_free(context, csr->row_offsets);
    tsi_free(context, csr->column_indices);
    tsi_free(context, csr->values);
  }
  for (int p = 0; p < 2; p++) tsi_free(context, csr->rests[p]);
  *csr = (tsi_host_csr){0};
}
