/* Packing of indices into rectangles (Bolz et al. 2003, section 3.2.2). */
#include <string.h>

#include "core.h"

static int log2_of(int n) {
  int bits = 0;
  while ((1 << bits) < n) bits++;
  return bits;
}

/* Sorts free texels by decreasing length, and equal lengths in natural order: a counting sort. */
static ts_status sort_by_length(ts_context *context, int32_t size, const int32_t *lengths,
                                const unsigned char *constrained, int32_t *positions) {
  int32_t longest = 0;
  for (int32_t i = 0; i < size; i++)
    if (lengths[i] > longest) longest = lengths[i];
  int32_t *next = tsi_calloc(context, (size_t)longest + 2, sizeof *next);
  if (!next) return tsi_out_of_memory(context, "sorting rows", ((size_t)longest + 2) * sizeof *next);
  for (int32_t i = 0; i < size; i++)
    if (!constrained || !constrained[i]) next[lengths[i]]++;
  int32_t first = 0;
  for (int32_t k = longest; k >= 0; k--) {
    const int32_t count = next[k];
    next[k] = first;
    first += count;
  }
  for (int32_t i = 0; i < size; i++)
    if (!constrained || !constrained[i]) positions[i] = next[lengths[i]]++;
  tsi_free(context, next);
  return TS_OK;
}

/* A nearly square shape; of the nearby shapes the one with the least waste. Returns 0 if none fits. */
static int choose_shape(tsi_tiling *t, int64_t rectangles, int32_t max_size) {
  const int32_t w = 1 << t->log2_width, h = 1 << t->log2_height;
  const int32_t max_x = max_size / w, max_y = max_size / h;
  if (max_x < 1 || max_y < 1 || rectangles > (int64_t)max_x * max_y) return 0;
  int32_t x = 1;
  while ((int64_t)x * x * w < rectangles * h) x++; /* x w >= (rectangles / x) h */
  if (x > max_x) x = max_x;
  while ((rectangles + x - 1) / x > max_y) x++;
  int32_t best = x;
  int64_t best_waste = INT64_MAX;
  for (int32_t c = x; c <= max_x && c < x + 8 && c <= rectangles; c++) {
    const int64_t waste = (rectangles + c - 1) / c * c - rectangles;
    if (waste < best_waste) {
      best_waste = waste;
      best = c;
    }
  }
  t->rectangles_x = best;
  t->width = best * w;
  t->height = (int32_t)((rectangles + best - 1) / best) * h;
  return 1;
}

/* Finds the texels with constrained indices only. *whole is NULL if constrained is NULL. */
static ts_status find_constrained(ts_context *context, tsi_tiling *t, const unsigned char *constrained,
                                  unsigned char **whole) {
  const int32_t texels = tsi_texels_in_use(t);
  *whole = NULL;
  if (!constrained) return TS_OK;
  *whole = tsi_malloc(context, (size_t)texels, 1);
  if (!*whole) return tsi_out_of_memory(context, "constrained rows", (size_t)texels);
  memset(*whole, 1, (size_t)texels);
  for (int32_t i = 0; i < t->size; i++)
    if (!constrained[i]) (*whole)[i >> t->log2_block] = 0;
  for (int32_t k = 0; k < texels; k++) t->constrained_count += (*whole)[k];
  return TS_OK;
}

static ts_status place(ts_context *context, tsi_tiling *t, const int32_t *lengths,
                       const unsigned char *constrained) {
  const int32_t texels = tsi_texels_in_use(t);
  t->log2_width = log2_of(context->caps.rectangle_width);
  t->log2_height = log2_of(context->caps.rectangle_height);
  const int bits = t->log2_width + t->log2_height;
  const int64_t area = (int64_t)1 << bits;
  const int64_t free_rectangles = (t->free_count + area - 1) >> bits;
  const int64_t tail = free_rectangles << bits; /* the first position after the rectangles */
  const int64_t zero = t->free_count < tail ? t->free_count : tail + t->constrained_count;
  const int64_t end = tail + t->constrained_count > zero + 1 ? tail + t->constrained_count : zero + 1;
  const int64_t rectangles = (end + area - 1) >> bits;
  if (end > INT32_MAX || !choose_shape(t, rectangles, context->caps.max_texture_size))
    return tsi_fail(
        context, TS_ERROR_LIMIT,
        "an index space of %d needs %lld rectangles of %d x %d texels, which do not fit in the device's "
        "largest texture, %d x %d",
        t->size, (long long)rectangles, 1 << t->log2_width, 1 << t->log2_height, context->caps.max_texture_size,
        context->caps.max_texture_size);
  t->free_rectangles = (int32_t)free_rectangles;
  t->zero_position = (int32_t)zero;
  if (!lengths && !t->constrained_count) return TS_OK;

  t->positions = tsi_malloc(context, (size_t)texels, sizeof *t->positions);
  if (!t->positions) return tsi_out_of_memory(context, "an index space", (size_t)texels * sizeof *t->positions);
  if (lengths) {
    const ts_status status = sort_by_length(context, texels, lengths, constrained, t->positions);
    if (status < 0) {
      tsi_free(context, t->positions);
      t->positions = NULL;
      return status;
    }
  }
  int32_t next_free = 0, next_constrained = (int32_t)tail;
  for (int32_t k = 0; k < texels; k++) {
    if (constrained && constrained[k])
      t->positions[k] = next_constrained++;
    else if (!lengths)
      t->positions[k] = next_free++;
  }
  return TS_OK;
}

ts_status tsi_tiling_create_blocks(ts_context *context, int32_t size, int log2_block, const int32_t *lengths,
                                   const unsigned char *constrained, tsi_tiling *t) {
  const int linear = context->caps.linear_spaces;
  *t = (tsi_tiling){.size = size, .log2_block = linear ? 0 : log2_block, .linear = linear};
  unsigned char *whole = NULL;
  TSI_TRY(find_constrained(context, t, constrained, &whole));
  t->free_count = tsi_texels_in_use(t) - t->constrained_count;
  ts_status status = TS_OK;
  if (linear) {
    t->rectangles_x = t->width = size;
    t->height = 1;
    t->zero_position = -1;
  } else {
    status = place(context, t, lengths, whole);
  }
  tsi_free(context, whole);
  return status;
}

ts_status tsi_tiling_create(ts_context *context, int32_t size, const int32_t *lengths,
                            const unsigned char *constrained, tsi_tiling *t) {
  return tsi_tiling_create_blocks(context, size, 0, lengths, constrained, t);
}
