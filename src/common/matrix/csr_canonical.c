/* Conversion to canonical form: columns ascend in every row, entries are unique, constrained rows are empty,
 * and values are floats with the low-order parts of doubles. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/core/clones.h"
#include "common/core/core.h"
#include "common/core/pool.h"
#include "csr.h"

typedef struct conversion {
  const tsi_csr *from;
  const unsigned char *constrained;
  tsi_host_csr *to;
  uint64_t *order;                  /* merged rows: column and index in the row, per entry */
  int32_t kept[TSI_BLOCKS];         /* entries in a block of merged rows */
  unsigned char low[TSI_BLOCKS];    /* bit p: low-order part p is nonzero */
  int32_t infinite_row[TSI_BLOCKS]; /* row with an infinite sum of duplicates; -1: none */
} conversion;

static int32_t first_row(const conversion *c, size_t block) {
  return tsi_block_begin(c->from->rows, block);
}

static int32_t first_entry(const conversion *c, size_t block) {
  return c->from->row_offsets[first_row(c, block)];
}

/* ---- Memory ---- */

static int alloc_array(ts_context *context, size_t count, int wanted, float **array) {
  if (wanted) *array = tsi_malloc(context, count, sizeof **array);
  return !wanted || *array;
}

static ts_status allocate(ts_context *context, const tsi_csr *from, int with_pattern, int with_low_parts,
                          tsi_host_csr *to) {
  const size_t entries = (size_t)from->row_offsets[from->rows];
  int there = alloc_array(context, entries, from->values || from->double_values, &to->values);
  to->owns_values = 1;
  for (int p = 0; p < 2; p++) there = there && alloc_array(context, entries, with_low_parts, &to->low[p]);
  if (with_pattern) {
    to->owned = 1;
    to->row_offsets = tsi_malloc(context, (size_t)from->rows + 1, sizeof *to->row_offsets);
    to->column_indices = tsi_malloc(context, entries, sizeof *to->column_indices);
    there = there && to->row_offsets && to->column_indices;
  }
  if (there) return TS_OK;
  tsi_csr_free(context, to);
  return tsi_out_of_memory(context, "a copy of the matrix", entries * 8 + (size_t)from->rows * 4);
}

void tsi_csr_free(ts_context *context, tsi_host_csr *csr) {
  if (csr->owned) {
    tsi_free(context, csr->row_offsets);
    tsi_free(context, csr->column_indices);
  }
  if (csr->owned || csr->owns_values) tsi_free(context, csr->values);
  for (int p = 0; p < 2; p++) tsi_free(context, csr->low[p]);
  *csr = (tsi_host_csr){0};
}

/* ---- Values ---- */

CPU_CLONES static void round_values(const double *from, size_t count, float *to) {
  for (size_t e = 0; e < count; e++) to[e] = (float)from[e];
}

CPU_INLINE void split(double value, float *high, float *middle, float *low) {
  *high = (float)value;
  value -= (double)*high;
  *middle = (float)value;
  value -= (double)*middle;
  *low = (float)value;
}

/* Bit p is set if part p + 1 is nonzero. */
CPU_CLONES static int split_values(const double *from, size_t count, float *high, float *middle, float *low) {
  int has_middle = 0, has_low = 0;
  for (size_t e = 0; e < count; e++) {
    split(from[e], &high[e], &middle[e], &low[e]);
    has_middle |= middle[e] != 0;
    has_low |= low[e] != 0;
  }
  return has_middle | has_low << 1;
}

/* Frees low-order parts that are 0 everywhere. */
static void drop_zero_low_parts(ts_context *context, conversion *c) {
  int used = 0;
  for (int b = 0; b < TSI_BLOCKS; b++) used |= c->low[b];
  for (int p = 0; p < 2; p++) {
    if (used >> p & 1) continue;
    tsi_free(context, c->to->low[p]);
    c->to->low[p] = NULL;
  }
}

/* ---- A matrix in order ---- */

static void copy_block(conversion *c, size_t b) {
  const tsi_csr *from = c->from;
  tsi_host_csr *to = c->to;
  const int32_t row = first_row(c, b);
  const size_t first = (size_t)first_entry(c, b), count = (size_t)first_entry(c, b + 1) - first;
  if (to->owned) {
    memcpy(to->row_offsets + row, from->row_offsets + row,
           (size_t)(first_row(c, b + 1) - row) * sizeof(int32_t));
    memcpy(to->column_indices + first, from->column_indices + first, count * sizeof(int32_t));
  }
  if (from->values)
    memcpy(to->values + first, from->values + first, count * sizeof(float));
  else if (from->double_values && to->low[0])
    c->low[b] = (unsigned char)split_values(from->double_values + first, count, to->values + first,
                                            to->low[0] + first, to->low[1] + first);
  else if (from->double_values)
    round_values(from->double_values + first, count, to->values + first);
}

static void copy_blocks(const void *arguments, size_t first, size_t last) {
  for (size_t b = first; b < last; b++) copy_block(*(conversion *const *)arguments, b);
}

static ts_status copy_in_order(ts_context *context, conversion *c, int with_pattern, int with_low_parts) {
  tsi_host_csr *to = c->to;
  to->row_offsets = (int32_t *)c->from->row_offsets;
  to->column_indices = (int32_t *)c->from->column_indices;
  TSI_TRY(allocate(context, c->from, with_pattern, with_low_parts, to));
  conversion *const one = c;
  tsi_in_blocks(context, c->from->rows, copy_blocks, &one);
  if (to->owned) to->row_offsets[to->rows] = c->from->row_offsets[to->rows];
  drop_zero_low_parts(context, c);
  return TS_OK;
}

/* ---- Rows out of order ---- */

static int compare(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

static void sort(uint64_t *order, int32_t count) {
  if (count > 32) {
    qsort(order, (size_t)count, sizeof *order, compare);
    return;
  }
  for (int32_t k = 1; k < count; k++) {
    const uint64_t moved = order[k];
    int32_t at = k;
    for (; at > 0 && order[at - 1] > moved; at--) order[at] = order[at - 1];
    order[at] = moved;
  }
}

static double value_at(const tsi_csr *csr, int32_t e) {
  return csr->values ? (double)csr->values[e] : csr->double_values ? csr->double_values[e] : 0;
}

static void put(conversion *c, size_t block, int32_t row, int32_t to, double sum) {
  tsi_host_csr *out = c->to;
  if (!out->values) return;
  float low[3];
  split(sum, &low[0], &low[1], &low[2]);
  out->values[to] = low[0];
  if (!isfinite(low[0]) && c->infinite_row[block] < 0) c->infinite_row[block] = row;
  for (int p = 0; p < 2 && out->low[0]; p++) {
    out->low[p][to] = low[p + 1];
    if (low[p + 1] != 0) c->low[block] |= (unsigned char)(1 << p);
  }
}

/* Writes row i from `to` on. Equal columns are added in the order in which they were given. */
static int32_t merge_row(conversion *c, size_t block, int32_t i, int32_t to) {
  const tsi_csr *from = c->from;
  const int32_t first = from->row_offsets[i], count = from->row_offsets[i + 1] - first;
  uint64_t *order = c->order + first;
  for (int32_t k = 0; k < count; k++)
    order[k] = (uint64_t)(uint32_t)from->column_indices[first + k] << 32 | (uint32_t)k;
  sort(order, count);
  for (int32_t k = 0; k < count;) {
    const uint32_t column = (uint32_t)(order[k] >> 32);
    double sum = 0;
    for (; k < count && order[k] >> 32 == column; k++)
      sum += value_at(from, first + (int32_t)(uint32_t)order[k]);
    c->to->column_indices[to] = (int32_t)column;
    put(c, block, i, to++, sum);
  }
  return to;
}

/* Packs the rows of a block from its first entry on; offsets become lengths. */
static void merge_block(conversion *c, size_t b) {
  const int32_t begin = first_entry(c, b);
  int32_t to = begin;
  c->infinite_row[b] = -1;
  for (int32_t i = first_row(c, b); i < first_row(c, b + 1); i++) {
    const int32_t before = to;
    if (!c->constrained || !c->constrained[i]) to = merge_row(c, b, i, to);
    c->to->row_offsets[i + 1] = to - before;
  }
  c->kept[b] = to - begin;
}

static void merge_blocks(const void *arguments, size_t first, size_t last) {
  for (size_t b = first; b < last; b++) merge_block(*(conversion *const *)arguments, b);
}

static void move_back(void *array, int32_t from, int32_t to, int32_t count, size_t size) {
  char *bytes = array;
  if (array && from != to)
    memmove(bytes + (size_t)to * size, bytes + (size_t)from * size, (size_t)count * size);
}

/* Closes the gaps between blocks. */
static void join_blocks(conversion *c) {
  tsi_host_csr *out = c->to;
  int32_t to = 0;
  for (size_t b = 0; b < TSI_BLOCKS; b++) {
    const int32_t begin = first_entry(c, b), kept = c->kept[b];
    move_back(out->column_indices, begin, to, kept, sizeof(int32_t));
    move_back(out->values, begin, to, kept, sizeof(float));
    for (int p = 0; p < 2; p++) move_back(out->low[p], begin, to, kept, sizeof(float));
    to += kept;
  }
  out->row_offsets[0] = 0;
  for (int32_t i = 0; i < out->rows; i++) out->row_offsets[i + 1] += out->row_offsets[i];
}

/* The number of entries that were merged with others. */
static int64_t count_duplicates(const conversion *c) {
  int64_t count = c->from->row_offsets[c->from->rows] - (int64_t)c->to->row_offsets[c->to->rows];
  for (int32_t i = 0; c->constrained && i < c->from->rows; i++)
    if (c->constrained[i]) count -= c->from->row_offsets[i + 1] - c->from->row_offsets[i];
  return count;
}

static ts_status check_sums(ts_context *context, const conversion *c) {
  const tsi_host_csr *out = c->to;
  for (int b = 0; b < TSI_BLOCKS; b++) {
    const int32_t i = c->infinite_row[b];
    if (i < 0) continue;
    int32_t e = out->row_offsets[i];
    while (isfinite(out->values[e])) e++;
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "the sum of the duplicates in row %d, column %d is infinite", i, out->column_indices[e]);
  }
  return TS_OK;
}

static ts_status merge(ts_context *context, conversion *c, int with_low_parts, int64_t *duplicates) {
  const size_t entries = (size_t)c->from->row_offsets[c->from->rows];
  TSI_TRY(allocate(context, c->from, 1, with_low_parts, c->to));
  c->order = tsi_malloc(context, entries, sizeof *c->order);
  if (!c->order) {
    tsi_csr_free(context, c->to);
    return tsi_out_of_memory(context, "the order of entries", entries * sizeof *c->order);
  }
  conversion *const one = c;
  tsi_in_blocks(context, c->from->rows, merge_blocks, &one);
  tsi_free(context, c->order);
  join_blocks(c);
  drop_zero_low_parts(context, c);
  *duplicates = count_duplicates(c);
  const ts_status status = check_sums(context, c);
  if (status < 0) tsi_csr_free(context, c->to);
  return status;
}

/* ---- The conversion ---- */

ts_status tsi_csr_canonical(ts_context *context, const tsi_csr *csr, const unsigned char *constrained,
                            const tsi_csr_facts *facts, unsigned flags, tsi_host_csr *out,
                            int64_t *duplicates) {
  conversion c = {.from = csr, .constrained = constrained, .to = out};
  tsi_csr_facts own;
  const int may_have_low_parts = csr->double_values && flags & TSI_CSR_LOW_PARTS;
  *duplicates = 0;
  *out = (tsi_host_csr){.rows = csr->rows, .columns = csr->columns};
  if (!facts) TSI_TRY(tsi_csr_look(context, csr, constrained, &own));
  if (!facts) facts = &own;
  /* Sums of floats may be too large for floats, and so may doubles of this size. */
  if (!facts->in_order || facts->exponents.largest >= FLT_MAX_EXP)
    return merge(context, &c, may_have_low_parts, duplicates);
  if (csr->double_values || flags & (TSI_CSR_COPY | TSI_CSR_COPY_VALUES))
    return copy_in_order(context, &c, (flags & TSI_CSR_COPY) != 0, may_have_low_parts && facts->has_low_parts);
  out->row_offsets = (int32_t *)csr->row_offsets;
  out->column_indices = (int32_t *)csr->column_indices;
  out->values = (float *)csr->values;
  return TS_OK;
}
