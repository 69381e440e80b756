/* Split rows: the entries of a row past the loop of its rectangle are cut into pieces of TSI_STAGE_LENGTH
 * entries. Stage 0 sums each piece. Every further stage adds TSI_STAGE_LENGTH sums of the previous one, until
 * each split row has one sum. Sum t of the last stage belongs to the t-th split row in the order of positions.
 * After the last sum follows a 0, for rows that share a rectangle with split ones.
 *
 * Entry k of sum t has number k * count + t: neighbouring fragments fetch neighbouring texels. */
#include <math.h>

#include "common/core/core.h"
#include "layout_build.h"

/* Lists the surplus of every split row in the order of positions; returns the number of split rows. */
static int32_t list_surplus(const tsi_layout *layout, const tsi_layout_input *input, const int32_t *order,
                            int32_t *surplus) {
  const int bits = input->rows->log2_width + input->rows->log2_height;
  int32_t count = 0;
  for (int32_t p = 0; p < input->rows->free_count; p++) {
    const tsi_rectangle *rectangle = &layout->rectangles[p >> bits];
    if (!rectangle->spill) {
      p |= (1 << bits) - 1; /* skip to the next rectangle */
      continue;
    }
    const int32_t more = tsi_row_length(input, order[p]) - rectangle->length;
    if (more <= 0) continue;
    if (surplus) surplus[count] = more;
    count++;
  }
  return count;
}

static int32_t pieces_of(int32_t entries, int32_t length) {
  return (entries + length - 1) / length;
}

/* Chooses a texture for `count` entries of 1 << log2_texels texels, stored row by row. Its width is a power of
 * two, and it is nearly square. Returns 0 if it does not fit. */
static int shape(int64_t count, int32_t max_size, int log2_texels, int32_t *log2_width, int32_t *height) {
  int32_t bits = 0;
  while (((int64_t)1 << (2 * bits)) < count && (2 << (bits + log2_texels)) <= max_size) bits++;
  const int64_t rows = (count + ((int64_t)1 << bits) - 1) >> bits;
  if (rows > max_size) return 0;
  *log2_width = bits;
  *height = (int32_t)rows;
  return 1;
}

uint32_t tsi_split_sum_pointer(const tsi_layout *layout, int32_t t) {
  const int bits = layout->stages[layout->stage_count - 1].log2_sum_width;
  return ((uint32_t)t & ((1u << bits) - 1)) | (uint32_t)t >> bits << 16;
}

ts_status tsi_split_build(ts_context *context, tsi_layout *layout, const tsi_layout_input *input,
                          const int32_t *order, ts_matrix_info *info) {
  const int32_t rows = list_surplus(layout, input, order, NULL);
  info->split_rows = rows;
  layout->stage_count = 0;
  if (rows == 0) return TS_OK;
  int32_t *left = tsi_malloc(context, (size_t)rows, sizeof *left); /* terms not yet added, per row */
  if (!left) return tsi_out_of_memory(context, "split rows", (size_t)rows * sizeof *left);
  list_surplus(layout, input, order, left);
  ts_status status = TS_OK;
  int32_t most = 2;
  while (most > 1 && status == TS_OK) {
    tsi_stage *stage = &layout->stages[layout->stage_count++];
    int32_t longest = 1;
    for (int32_t t = 0; t < rows; t++)
      if (left[t] > longest) longest = left[t];
    stage->length = longest < TSI_STAGE_LENGTH ? longest : TSI_STAGE_LENGTH;
    int64_t count = 1; /* the zero */
    most = 0;
    for (int32_t t = 0; t < rows; t++) {
      left[t] = pieces_of(left[t], stage->length);
      count += left[t];
      if (left[t] > most) most = left[t];
    }
    stage->count = (int32_t)count;
    if (count > INT32_MAX ||
        !shape(count * stage->length, input->max_texture_size,
               layout->stage_count == 1 ? input->log2_texels : 0, &stage->log2_width, &stage->height) ||
        !shape(count, input->max_texture_size, 0, &stage->log2_sum_width, &stage->sum_height))
      status = tsi_fail(
          context, TS_ERROR_LIMIT,
          "the long rows of the matrix need %lld texels, which do not fit in the device's largest texture, "
          "%d x %d",
          (long long)count * stage->length, input->max_texture_size, input->max_texture_size);
  }
  tsi_free(context, left);
  return status;
}

/* Packs a later stage: sums of the previous stage, each with factor 1. */
static void pack_next(const tsi_layout *layout, int s, int32_t rows, int32_t *pieces, tsi_entry *entries) {
  const tsi_stage *stage = &layout->stages[s];
  const int bits = layout->stages[s - 1].log2_sum_width;
  int64_t source = 0, sum = 0;
  for (int32_t row = 0; row < rows; row++) {
    for (int32_t k = 0; k < pieces[row]; k++, source++) {
      const int64_t number = (int64_t)(k % stage->length) * stage->count + sum + k / stage->length;
      entries[number].value = 1;
      entries[number].pointer = ((uint32_t)source & ((1u << bits) - 1)) | (uint32_t)source >> bits << 16;
    }
    pieces[row] = pieces_of(pieces[row], stage->length);
    sum += pieces[row];
  }
}

ts_status tsi_split_pack(ts_context *context, const tsi_layout *layout, const tsi_layout_input *input,
                         const int32_t *order, tsi_packed *packed) {
  if (layout->stage_count == 0) return TS_OK;
  const int32_t rows = list_surplus(layout, input, order, NULL);
  int32_t *pieces = tsi_malloc(context, (size_t)rows, sizeof *pieces);
  if (!pieces) return tsi_out_of_memory(context, "split rows", (size_t)rows * sizeof *pieces);
  list_surplus(layout, input, order, pieces);
  for (int32_t row = 0; row < rows; row++) pieces[row] = pieces_of(pieces[row], layout->stages[0].length);
  for (int s = 0; s < layout->stage_count; s++) {
    const tsi_stage *stage = &layout->stages[s];
    const size_t texels = ((size_t)1 << stage->log2_width) * (size_t)stage->height;
    packed->stages[s] = tsi_malloc(context, texels, sizeof(tsi_entry));
    if (!packed->stages[s]) {
      tsi_free(context, pieces);
      return tsi_out_of_memory(context, "split rows", texels * sizeof(tsi_entry));
    }
    /* Padding points to the zero of x, or of the previous stage. */
    uint32_t zero = tsi_pointer(input->columns, input->columns->zero_position);
    if (s > 0) {
      const tsi_stage *before = &layout->stages[s - 1];
      const uint32_t t = (uint32_t)before->count - 1;
      zero = (t & ((1u << before->log2_sum_width) - 1)) | t >> before->log2_sum_width << 16;
    }
    for (size_t k = 0; k < texels; k++) packed->stages[s][k] = (tsi_entry){0, zero};
    if (s > 0) pack_next(layout, s, rows, pieces, packed->stages[s]);
  }
  tsi_free(context, pieces);
  return TS_OK;
}
