/* The levels of a triangle (Anderson and Saad 1989, "Solving sparse triangular linear systems on parallel
 * computers"). The level of a row is one more than the highest level of the rows it needs, so rows of one level
 * are independent. */
#include "ilu.h"

void tsi_ilu_levels_free(ts_context *context, tsi_ilu_levels *levels) {
  tsi_free(context, levels->rows);
  tsi_free(context, levels->begins);
  *levels = (tsi_ilu_levels){0};
}

/* Computes level[] and returns the number of levels. */
static int32_t find_levels(const tsi_ilu_rows *rows, int32_t n, int is_upper, int32_t *level) {
  int32_t count = 0;
  for (int32_t p = 0; p < n; p++) {
    const int32_t k = is_upper ? n - 1 - p : p;
    tsi_poll_rows(p);
    int32_t own = 0;
    for (int64_t e = rows->offsets[k]; e < rows->offsets[k + 1]; e++) {
      const int32_t other = level[rows->columns[e]] + 1;
      if (other > own) own = other;
    }
    level[k] = own;
    if (own >= count) count = own + 1;
  }
  return count;
}

/* Sorts rows by level, and within a level by number. */
static void sort_rows(int32_t n, const int32_t *level, tsi_ilu_levels *levels) {
  int32_t *begins = levels->begins;
  for (int32_t l = 0; l <= levels->count; l++) begins[l] = 0;
  for (int32_t k = 0; k < n; k++) begins[level[k] + 1]++;
  for (int32_t l = 0; l < levels->count; l++) begins[l + 1] += begins[l];
  for (int32_t k = 0; k < n; k++) levels->rows[begins[level[k]]++] = k;
  for (int32_t l = levels->count; l > 0; l--) begins[l] = begins[l - 1]; /* each had become the next level's */
  begins[0] = 0;
}

static ts_status make_levels(ts_context *context, const tsi_ilu_rows *rows, int32_t n, int is_upper,
                             int32_t *level, tsi_ilu_levels *levels) {
  const size_t count = (size_t)find_levels(rows, n, is_upper, level);
  *levels = (tsi_ilu_levels){.count = (int32_t)count,
                             .begins = tsi_malloc(context, count + 1, sizeof *levels->begins),
                             .rows = tsi_malloc(context, (size_t)n, sizeof *levels->rows)};
  if (!levels->begins || !levels->rows) {
    tsi_ilu_levels_free(context, levels);
    return tsi_out_of_memory(context, "incomplete factors", 4 * (count + (size_t)n));
  }
  sort_rows(n, level, levels);
  return TS_OK;
}

ts_status tsi_ilu_levels_create(ts_context *context, const tsi_ilu_rows *rows, int32_t n, int is_upper,
                                tsi_ilu_levels *levels) {
  int32_t *level = tsi_malloc(context, (size_t)n, sizeof *level);
  *levels = (tsi_ilu_levels){0};
  if (!level) return tsi_out_of_memory(context, "incomplete factors", 4 * (size_t)n);
  const ts_status status = make_levels(context, rows, n, is_upper, level, levels);
  tsi_free(context, level);
  return status;
}
