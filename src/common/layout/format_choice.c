/* Choice of the format when the descriptor leaves it to the library: the format whose product reads least.
 *
 * A product reads bytes in linear spaces and fetches texels in textures. Each count is weighted by the time
 * that one read takes in the format, relative to csr and jagged. Zeros inside blocks are read too. Blocks
 * therefore win if the unknowns of a node have consecutive numbers, and lose otherwise.
 *
 * On a device with many more threads than a small matrix has rows, bytes are not the limit. The limit is the
 * time of one thread and the latency of its loads (format_of_few). In textures, blocks require vectors of one
 * component, so they are excluded unless the caller guarantees one. They are also excluded on a GPU if the
 * matrix has few entries.
 *
 * The choice minimises the time of y = A x for one component, or for several if the caller announces them. It
 * cannot know whether the matrix will serve conjugate gradients, where the product is only part of an
 * iteration. On CUDA, csr and jagged share one kernel there and differ less than in products. */
#include <stdio.h>
#include <string.h>

#include "common/core/core.h"
#include "layout_build.h"

typedef struct candidate {
  ts_format format;
  tsi_estimate e;
} candidate;

static double cost(const candidate *c) {
  return c->e.reads * c->e.weight;
}

static void append(char *text, size_t size, const char *part) {
  const size_t used = strlen(text);
  if (used + strlen(part) < size) memcpy(text + used, part, strlen(part) + 1);
}

/* Details of the number: " (fill 0.92, x 0.75)". */
static void append_terms(char *text, size_t size, const candidate *c) {
  char fill[24] = "", weight[24] = "", part[64];
  if (c->e.fill > 0) snprintf(fill, sizeof fill, "fill %.2f", c->e.fill);
  if (c->e.weight < 0.995 || c->e.weight > 1.005) snprintf(weight, sizeof weight, "x %.2f", c->e.weight);
  if (!fill[0] && !weight[0]) return;
  snprintf(part, sizeof part, " (%s%s%s)", fill, fill[0] && weight[0] ? ", " : "", weight);
  append(text, size, part);
}

static const char *reason_of_few(ts_format format, int textures, int uneven) {
  if (textures) return "few entries; ";
  if (uneven) return "few entries in uneven rows; ";
  if (format == TS_FORMAT_JAGGED) return "few entries in short rows; ";
  if (tsi_format_log2_block(format)) return "few entries, so threads share rows of blocks; ";
  return "few entries, so threads share rows; ";
}

static void describe(const ts_context *context, const candidate *chosen, const candidate *all, int count,
                     int small, int uneven, int blocks, char *text, size_t size) {
  const int textures = !context->caps.linear_spaces;
  const char *unit = textures ? "fetches" : "bytes";
  const char *why = small ? reason_of_few(chosen->format, textures, uneven) : "";
  snprintf(text, size, "%s: %s%.1f %s an entry", ts_format_name(chosen->format), why, chosen->e.reads, unit);
  append_terms(text, size, chosen);
  const char *separator = "; ";
  for (int i = 0; i < count; i++) {
    char part[48];
    if (all[i].format == chosen->format) continue;
    snprintf(part, sizeof part, "%s%s %.1f", separator, ts_format_name(all[i].format), all[i].e.reads);
    append(text, size, part);
    append_terms(text, size, &all[i]);
    separator = ", ";
  }
  if (textures && count > 2 && blocks != TSI_ONE_COMPONENT) append(text, size, ", for one component only");
}

int tsi_has_few_entries(const ts_context *context, double entries, int blocks) {
  return entries < context->tuning.many_entries ||
         (blocks == TSI_ONE_COMPONENT && entries < context->tuning.block_entries);
}

/* The format of a matrix with few entries, on a device with a row plan. Measured on an H200 over 39 matrices of
 * up to 2^20 entries, relative to the best format of each: products take 1.06 times and iterations of conjugate
 * gradients 1.02 times as long in the returned format, 1.10 and 1.22 times in csr. Blocks are faster although
 * most of their numbers are 0: a block is one read, and a thread has fewer dependent loads. With three
 * components blocks also win, by up to a fifth of an iteration. From 37 k short rows on, however, csr is a
 * tenth faster than jagged. */
static ts_format format_of_few(const tsi_host_csr *csr, int uneven, int blocks) {
  const int one_component = blocks == TSI_LINEAR_BLOCKS || blocks == TSI_ONE_COMPONENT;
  if (uneven) return TS_FORMAT_CSR;
  if (csr->row_offsets[csr->rows] <= 8 * (int64_t)csr->rows)
    return one_component ? TS_FORMAT_JAGGED : TS_FORMAT_CSR;
  return blocks ? TS_FORMAT_BCRS2 : TS_FORMAT_CSR;
}

ts_format tsi_format_choose(const ts_context *context, const tsi_host_csr *csr, int blocks, char *text,
                            size_t size) {
#define ROW(name, format) &tsi_format_##name,
  static const tsi_format *const known[] = {TSI_FORMATS(ROW)};
#undef ROW
  const int plans = context->caps.row_plans;
  const int small = tsi_has_few_entries(context, csr->row_offsets[csr->rows], blocks);
  const int without_blocks = !context->caps.linear_spaces && (blocks != TSI_ONE_COMPONENT || small);
  candidate all[sizeof known / sizeof known[0]];
  int count = 0, best = 0;
  for (size_t f = 0; f < sizeof known / sizeof known[0]; f++) {
    if (!(context->caps.formats & 1u << known[f]->format) || !known[f]->estimate) continue;
    if (blocks == TSI_NO_BLOCKS && known[f]->no_meshes) continue;
    if (known[f]->suits && !known[f]->suits(context, csr, blocks)) continue;
    all[count] = (candidate){known[f]->format, {.weight = 1}};
    known[f]->estimate(context, csr, blocks, &all[count++].e);
  }
  const int uneven = small && plans && tsi_rows_are_uneven(&context->tuning, csr);
  const ts_format of_few = small && plans ? format_of_few(csr, uneven, blocks) : TS_FORMAT_AUTO;
  for (int i = 0; i < count; i++) {
    if (small && plans ? all[i].format == of_few
                       : cost(&all[i]) < cost(&all[best]) && (all[i].e.fill == 0 || !without_blocks))
      best = i;
  }
  describe(context, &all[best], all, count, small, uneven, blocks, text, size);
  return all[best].format;
}
