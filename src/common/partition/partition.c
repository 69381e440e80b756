/* Parts of the rows of a matrix: their cost, and the choice between blocks and METIS. */
#include "partition.h"

#include <string.h>

#include "common/core/core.h"

/* If the halo of blocks is below this fraction of the rows, it is cheap compared with the product. METIS, which
 * takes as long as hundreds of iterations of CG, is not called then. */
static const double small_halo = 0.25;
/* Parts of the graph scatter rows that are adjacent in the user's order, so their halo must be smaller by this
 * factor. */
static const int64_t metis_pays = 4;
/* With fewer rows METIS takes a second or two. A network of 256 k rows took it ten seconds without a
 * benefit. */
static const int32_t many_rows = 1 << 16;

int tsi_partition_is_small(int64_t halo, int64_t rows) {
  return (double)halo <= small_halo * (double)rows;
}

int tsi_partition_pays(int64_t halo, int64_t smaller) {
  return halo > metis_pays * smaller;
}

/* ---- Number of parts ---- */

int tsi_partition_worth(const ts_context *context, ts_partition how, int32_t rows, int64_t entries, int parts) {
  const double row_cost = tsi_partition_row_cost, usual = tsi_partition_row_entries + row_cost;
  const double cost = ((double)entries + row_cost * rows) / usual, work = cost > rows ? cost : rows;
  const double least = context->tuning.part_rows;
  if (how != TS_PARTITION_AUTO || work >= least * parts) return parts;
  return work < 2 * least ? 1 : (int)(work / least);
}

void tsi_partition_evenly(const ts_context *context, ts_partition how, int32_t size, int parts,
                          int32_t *first) {
  const int64_t entries = (int64_t)tsi_partition_row_entries * size;
  const int worth = tsi_partition_worth(context, how, size, entries, parts);
  for (int p = 0; p <= parts; p++) first[p] = p < worth ? (int32_t)((int64_t)size * p / worth) : size;
}

/* ---- The halo of parts ---- */

/* The rows of part 0, then those of part 1, ... */
static void sort_by_part(const tsi_partition *p, int32_t rows, int32_t *next, int32_t *order) {
  memcpy(next, p->first, (size_t)p->parts * sizeof *next);
  for (int32_t i = 0; i < rows; i++) order[next[p->part_of[i]]++] = i;
}

/* Adds the halo and the entries of one part. Its own columns are at columns[part] .. columns[part + 1] - 1.
 * `order` is NULL for blocks; seen_by[j] is the last part that read column j. */
static void visit_part(const tsi_host_csr *csr, tsi_partition *p, int part, const int32_t *columns,
                       const int32_t *order, int32_t *seen_by) {
  const int32_t begin = p->first[part], end = p->first[part + 1];
  const int32_t own = columns[part], own_end = columns[part + 1];
  for (int32_t k = own; k < own_end; k++) seen_by[order ? order[k] : k] = part;
  int64_t entries = 0;
  for (int32_t k = begin; k < end; k++) {
    const int32_t i = order ? order[k] : k;
    entries += csr->row_offsets[i + 1] - csr->row_offsets[i];
    for (int32_t e = csr->row_offsets[i]; e < csr->row_offsets[i + 1]; e++) {
      const int32_t j = csr->column_indices[e];
      p->halo += seen_by[j] != part;
      seen_by[j] = part;
    }
  }
  if (entries > p->largest_entries) p->largest_entries = entries;
}

/* Sets halo and largest_entries. */
static ts_status measure(ts_context *context, const tsi_host_csr *csr, ts_partition how, tsi_partition *p) {
  const size_t rows = p->part_of ? (size_t)csr->rows : 0, parts = (size_t)p->parts;
  const size_t size = (size_t)csr->columns + rows + parts + parts + 1;
  int32_t *memory = tsi_malloc(context, size, sizeof *memory);
  if (!memory) return tsi_out_of_memory(context, "the columns of parts", size * sizeof *memory);
  int32_t *seen_by = memory, *order = p->part_of ? memory + csr->columns : NULL;
  int32_t *columns = memory + csr->columns + rows + parts;
  if (csr->rows == csr->columns)
    memcpy(columns, p->first, (parts + 1) * sizeof *columns);
  else
    tsi_partition_evenly(context, how, csr->columns, p->parts, columns);
  for (int32_t j = 0; j < csr->columns; j++) seen_by[j] = -1;
  if (order) sort_by_part(p, csr->rows, order + rows, order);
  for (int part = 0; part < p->parts; part++) visit_part(csr, p, part, columns, order, seen_by);
  tsi_free(context, memory);
  return TS_OK;
}

/* ---- Blocks and METIS ---- */

static ts_status create_blocks(ts_context *context, const tsi_host_csr *csr, ts_partition how,
                               tsi_partition *p) {
  p->first = tsi_malloc(context, (size_t)p->parts + 1, sizeof *p->first);
  if (!p->first) return tsi_out_of_memory(context, "parts", ((size_t)p->parts + 1) * sizeof *p->first);
  tsi_partition_blocks(csr, p->worth, p->first);
  for (int q = p->worth + 1; q <= p->parts; q++) p->first[q] = csr->rows;
  return measure(context, csr, how, p);
}

static ts_status create_metis(ts_context *context, const tsi_host_csr *csr, ts_partition how,
                              tsi_partition *p) {
  const size_t rows = (size_t)csr->rows, parts = (size_t)p->parts;
  p->first = tsi_calloc(context, parts + 1, sizeof *p->first);
  p->part_of = tsi_malloc(context, rows, sizeof *p->part_of);
  if (!p->first || !p->part_of)
    return tsi_out_of_memory(context, "parts", (rows + parts + 1) * sizeof *p->part_of);
  TSI_TRY(tsi_partition_metis(context, csr, p->worth, p->part_of));
  for (size_t i = 0; i < rows; i++) p->first[p->part_of[i] + 1]++;
  for (size_t q = 0; q < parts; q++) p->first[q + 1] += p->first[q];
  return measure(context, csr, how, p);
}

/* ---- The choice ---- */

/* Creates one of the two or both. The chosen one gets its `choice`. */
static ts_status partition_create(ts_context *context, const tsi_host_csr *csr, ts_partition how,
                                  tsi_partition *blocks, tsi_partition *metis) {
  const char *unsuited = tsi_partition_metis_unsuited(csr, blocks->worth), *note = NULL;
  if (how == TS_PARTITION_METIS && (!unsuited || !tsi_partition_has_metis)) {
    TSI_TRY(create_metis(context, csr, how, metis));
    snprintf(metis->choice, sizeof metis->choice, "METIS: %lld columns from other parts",
             (long long)metis->halo);
    return TS_OK;
  }
  TSI_TRY(create_blocks(context, csr, how, blocks));
  const int is_small = tsi_partition_is_small(blocks->halo, csr->rows);
  if (how == TS_PARTITION_METIS || (how == TS_PARTITION_AUTO && !is_small)) note = unsuited;
  if (how == TS_PARTITION_SCOTCH) note = "PT-Scotch only moves rows between processes";
  char more[80] = "";
  const int asks = how == TS_PARTITION_AUTO && !is_small && !unsuited;
  if (asks && csr->rows >= many_rows && tsi_partition_expands(context, csr)) {
    note = "not METIS: the graph diameter is small";
  } else if (asks) {
    TSI_TRY(create_metis(context, csr, how, metis));
    if (tsi_partition_pays(blocks->halo, metis->halo)) {
      snprintf(metis->choice, sizeof metis->choice,
               "METIS: %lld columns from other parts; blocks of rows: %lld", (long long)metis->halo,
               (long long)blocks->halo);
      return TS_OK;
    }
    snprintf(more, sizeof more, "METIS: %lld", (long long)metis->halo);
    note = more;
  }
  snprintf(blocks->choice, sizeof blocks->choice, "blocks of rows: %lld columns from other parts%s%s",
           (long long)blocks->halo, note ? "; " : "", note ? note : "");
  return TS_OK;
}

/* Prepends the reason for fewer parts to the choice, or replaces it if only one part is used. */
static void explain_few(int32_t rows, tsi_partition *p) {
  char chosen[sizeof p->choice];
  memcpy(chosen, p->choice, sizeof chosen);
  if (p->worth == 1)
    snprintf(p->choice, sizeof p->choice, "%d rows are too few to share", rows);
  else
    snprintf(p->choice, sizeof p->choice, "%d rows are too few for more; %.100s", rows, chosen);
}

ts_status tsi_partition_create(ts_context *context, const tsi_host_csr *csr, int parts, ts_partition how,
                               tsi_partition *out) {
  const int worth = tsi_partition_worth(context, how, csr->rows, csr->row_offsets[csr->rows], parts);
  tsi_partition blocks = {.parts = parts, .worth = worth}, metis = blocks;
  *out = (tsi_partition){0};
  const ts_status status = partition_create(context, csr, how, &blocks, &metis);
  tsi_partition *chosen = metis.choice[0] ? &metis : &blocks;
  if (status == TS_OK) {
    *out = *chosen;
    *chosen = (tsi_partition){0};
    if (worth < parts) explain_few(csr->rows, out);
  }
  tsi_partition_free(context, &blocks);
  tsi_partition_free(context, &metis);
  return status;
}

void tsi_partition_free(ts_context *context, tsi_partition *partition) {
  tsi_free(context, partition->part_of);
  tsi_free(context, partition->first);
  *partition = (tsi_partition){0};
}
