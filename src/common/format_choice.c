/* The format of a matrix whose descriptor leaves it to the library: by what a product reads.
 *
 * In linear spaces that is bytes. Zeros inside blocks count, so blocks win where the unknowns of a node are
 * numbered together, and lose elsewhere. A device with many more threads than a small matrix has rows is not
 * held up by bytes but by how long one thread takes: there threads share the rows of csr. In textures it is
 * fetches; blocks are left out there where nobody says that vectors have one component, since over their spaces
 * they cannot have more. */
#include <stdio.h>
#include <string.h>

#include "common.h"
#include "layout_build.h"

/* Entries from which on a product on a device with a plan for rows is limited by bytes; measured on an H200. */
static const int64_t many_entries = 1 << 20;

/* What a block of n x n must save to be taken: its products are not quicker than its bytes. */
static const double worth_blocks = 0.9;

typedef struct candidate {
  ts_format format;
  double cost; /* bytes or fetches an entry */
  double fill; /* of blocks; 0: has none */
} candidate;

/* Bytes of the matrix, or fetches of a product. */
static candidate measure(const ts_context *context, const tsi_host_csr *csr, ts_format format) {
  const double rows = csr->rows, entries = csr->row_offsets[csr->rows] > 0 ? csr->row_offsets[csr->rows] : 1;
  const int textures = context->caps.max_texture_size != 0;
  candidate c = {format, 8 + 4 * rows / entries, 0};
  const int log2_block = tsi_format_log2_block(format);
  if (log2_block) {
    const double numbers = (double)(1 << 2 * log2_block), blocks = (double)tsi_blocks_count(csr, log2_block);
    c.fill = blocks > 0 ? entries / (blocks * numbers) : 1;
    if (textures) /* its pointer; x and four numbers at a time, where a texel of four counts as two fetches */
      c.cost = ((log2_block == 1 ? 2 : 3) + 2 * numbers / 4) * blocks / entries;
    else
      c.cost = ((4 * numbers + 4) * blocks + 4 * rows / (1 << log2_block)) / entries;
  } else if (textures) {
    c.cost = format == TS_FORMAT_JAGGED ? 2 : 3;
  } else if (format == TS_FORMAT_JAGGED) {
    c.cost = tsi_slices_bytes(csr) / entries;
  }
  return c;
}

static void append(char *text, size_t size, const char *part) {
  const size_t used = strlen(text);
  if (used + strlen(part) < size) memcpy(text + used, part, strlen(part) + 1);
}

static void describe(const ts_context *context, const candidate *taken, const candidate *all, int count,
                     int small, int blocks, char *text, size_t size) {
  const char *unit = context->caps.max_texture_size ? "fetches" : "bytes";
  snprintf(text, size, "%s: %s%.1f %s an entry", ts_format_name(taken->format),
           small ? "few entries, so threads share rows; " : "", taken->cost, unit);
  if (taken->fill > 0) {
    char part[32];
    snprintf(part, sizeof part, " (fill %.2f)", taken->fill);
    append(text, size, part);
  }
  const char *separator = "; ";
  for (int i = 0; i < count; i++) {
    char part[48];
    if (all[i].format == taken->format) continue;
    int used = snprintf(part, sizeof part, "%s%s %.1f", separator, ts_format_name(all[i].format), all[i].cost);
    if (all[i].fill > 0) snprintf(part + used, sizeof part - (size_t)used, " (fill %.2f)", all[i].fill);
    append(text, size, part);
    separator = ", ";
  }
  if (context->caps.max_texture_size && count > 2 && blocks != TSI_ONE_COMPONENT)
    append(text, size, ", for one component only");
}

ts_format tsi_format_choose(const ts_context *context, const tsi_host_csr *csr, int blocks, char *text,
                            size_t size) {
  static const ts_format known[] = {TS_FORMAT_JAGGED, TS_FORMAT_CSR, TS_FORMAT_SEGMENTS, TS_FORMAT_BCRS2,
                                    TS_FORMAT_BCRS4};
  const int textures = context->caps.max_texture_size != 0;
  candidate all[sizeof known / sizeof known[0]];
  int count = 0, best = 0;
  for (size_t f = 0; f < sizeof known / sizeof known[0]; f++) {
    /* Segments are there for comparison, and never better. */
    if (!(context->caps.formats & 1u << known[f]) || (known[f] == TS_FORMAT_SEGMENTS && !textures)) continue;
    if (tsi_format_log2_block(known[f]) && (!blocks || csr->row_offsets[csr->rows] == 0)) continue;
    all[count++] = measure(context, csr, known[f]);
  }
  const int small = context->caps.row_plans && csr->row_offsets[csr->rows] < many_entries;
  for (int i = 0; i < count; i++) {
    if (all[i].fill > 0 ? (textures && blocks != TSI_ONE_COMPONENT) || small ||
                              !(all[i].cost < worth_blocks * all[best].cost)
        : small ? all[i].format != TS_FORMAT_CSR
                : !(all[i].cost < all[best].cost))
      continue;
    best = i;
  }
  describe(context, &all[best], all, count, small, blocks, text, size);
  return all[best].format;
}
