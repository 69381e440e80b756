/* Rows that PT-Scotch moves to other ranks before they become a matrix. All ranks together determine the new
 * rank of each row. Each rank sends its rows with the new numbers of their columns, and sorts the rows it
 * receives by source rank. */
#include <string.h>

#include "common/partition/partition.h"
#include "multi_row_block.h"
#include "multi_given.h"

/* The state before any row moves. */
typedef struct plan {
  multi_graph graph;
  int32_t *rank_of;
  int64_t *counts;     /* ranks x ranks: the number of rows that one rank sends to another */
  int64_t *held;       /* the first row of each rank in the new numbering, and the end */
  int64_t *numbers;    /* new numbers of this rank's rows */
  int64_t *others;     /* and of graph.others */
  int32_t *seen;       /* one per rank */
  int64_t halo, stays; /* columns needed from other ranks, with and without moving */
} plan;

static void free_plan(ts_context *context, plan *p) {
  multi_graph_free(context, &p->graph);
  tsi_free(context, p->rank_of);
  tsi_free(context, p->counts);
  tsi_free(context, p->held);
  tsi_free(context, p->numbers);
  tsi_free(context, p->others);
  tsi_free(context, p->seen);
}

static int64_t row_count(const ts_context *context, const plan *p) {
  return p->graph.first[ts_ranks_get_count(context)];
}

static ts_status allocate(ts_context *context, plan *p) {
  const size_t ranks = (size_t)ts_ranks_get_count(context), rows = (size_t)p->graph.desc->rows;
  p->rank_of = tsi_malloc(context, rows, sizeof *p->rank_of);
  p->counts = tsi_calloc(context, (ranks + 1) * ranks, sizeof *p->counts);
  p->held = tsi_calloc(context, ranks + 1, sizeof *p->held);
  p->numbers = tsi_malloc(context, rows, sizeof *p->numbers);
  p->others = tsi_malloc(context, (size_t)p->graph.other_count, sizeof *p->others);
  p->seen = tsi_malloc(context, ranks, sizeof *p->seen);
  if (p->rank_of && p->counts && p->held && p->numbers && p->others && p->seen) return TS_OK;
  return tsi_out_of_memory(context, "rows that move", rows * 20);
}

/* ---- New ranks of rows ---- */

static void add(void *mine, const void *other) {
  *(int64_t *)mine += *(const int64_t *)other;
}

static ts_status find_stays(ts_context *context, plan *p) {
  p->stays = p->graph.other_count;
  return multi_merge_ranks(context, &p->stays, sizeof p->stays, add);
}

/* Graph partitioning may wait forever for a missing rank. When the sum is complete, all ranks have arrived. */
static ts_status divide(ts_context *context, plan *p) {
  const ts_transport *t = &multi_ranks_of(context)->transport;
  const ts_ranks_graph graph = {.first = p->graph.first,
                                .offsets = p->graph.offsets,
                                .neighbours = p->graph.neighbours,
                                .weights = p->graph.weights};
  char why[256] = "";
  int64_t arrived = 1;
  TSI_TRY(multi_merge_ranks(context, &arrived, sizeof arrived, add));
  const ts_status status = t->divide(t->user, &graph, p->rank_of, why, sizeof why);
  return status < 0 ? tsi_fail(context, status, "%s", why) : TS_OK;
}

/* Computes counts, held and numbers. */
static ts_status number_rows(ts_context *context, plan *p) {
  const int ranks = ts_ranks_get_count(context), mine = ts_ranks_get_rank(context);
  int64_t *next = p->counts + (size_t)ranks * (size_t)ranks;
  for (int32_t i = 0; i < p->graph.desc->rows; i++) next[p->rank_of[i]]++;
  TSI_TRY(multi_collect(context, next, (size_t)ranks * sizeof *next, p->counts));
  for (int r = 0; r < ranks; r++) {
    p->held[r + 1] = p->held[r];
    for (int sender = 0; sender < ranks; sender++) {
      if (sender == mine) next[r] = p->held[r + 1];
      p->held[r + 1] += p->counts[sender * ranks + r];
    }
  }
  for (int32_t i = 0; i < p->graph.desc->rows; i++) p->numbers[i] = next[p->rank_of[i]]++;
  return multi_graph_ask(context, &p->graph, p->numbers, p->others);
}

static int holder(const plan *p, int64_t number) {
  int r = 0;
  while (p->held[r + 1] <= number) r++;
  return r;
}

/* The new number of a column. */
static int64_t number_of(const ts_context *context, const plan *p, int64_t column) {
  const int64_t own = column - p->graph.first[ts_ranks_get_rank(context)];
  return own >= 0 && own < p->graph.desc->rows ? p->numbers[own]
                                               : p->others[multi_graph_other(&p->graph, column)];
}

/* Each row is a ghost on every rank that holds one of its neighbours. */
static ts_status find_halo(ts_context *context, plan *p) {
  const multi_graph *g = &p->graph;
  for (int r = 0; r < ts_ranks_get_count(context); r++) p->seen[r] = -1;
  for (int32_t i = 0; i < g->desc->rows; i++) {
    p->seen[p->rank_of[i]] = i;
    for (int32_t e = g->offsets[i]; e < g->offsets[i + 1]; e++) {
      const int r = holder(p, number_of(context, p, g->neighbours[e]));
      p->halo += p->seen[r] != i;
      p->seen[r] = i;
    }
  }
  return multi_merge_ranks(context, &p->halo, sizeof p->halo, add);
}

static int idle_rank(const ts_context *context, const plan *p) {
  for (int r = 0; r < ts_ranks_get_count(context); r++)
    if (p->held[r] == p->held[r + 1]) return r;
  return -1;
}

/* Fills in `choice` if there is something to report. */
static ts_status choose(ts_context *context, plan *p, int *moves, char *choice, size_t size) {
  const ts_partition how = context->desc.partition;
  const int64_t rows = row_count(context, p);
  *moves = 0;
  TSI_TRY(find_stays(context, p));
  if (how == TS_PARTITION_AUTO && tsi_partition_is_small(p->stays, rows)) return TS_OK;
  TSI_TRY(allocate(context, p));
  TSI_TRY(divide(context, p));
  TSI_TRY(number_rows(context, p));
  TSI_TRY(find_halo(context, p));
  const int idle = idle_rank(context, p);
  if (idle >= 0)
    snprintf(choice, size, "rows as given: PT-Scotch leaves rank %d without any", idle);
  else if (how == TS_PARTITION_AUTO && !tsi_partition_pays(p->stays, p->halo))
    snprintf(choice, size, "rows as given: %lld columns from other ranks, with PT-Scotch %lld",
             (long long)p->stays, (long long)p->halo);
  else {
    *moves = 1;
    snprintf(choice, size, "PT-Scotch: %lld columns from other ranks, as given %lld", (long long)p->halo,
             (long long)p->stays);
  }
  return TS_OK;
}

/* ---- Rows ---- */

static ts_status reserve_blocks(ts_context *context, const plan *p, multi_parcels *out) {
  const tsi_ranks_matrix_desc *desc = p->graph.desc;
  const int ranks = ts_ranks_get_count(context), mine = ts_ranks_get_rank(context);
  for (int r = 0; r < ranks; r++) {
    multi_row_block_header h = {.rows = (int32_t)p->counts[mine * ranks + r],
                                .doubles = desc->double_values ? 1
                                           : desc->values      ? 0
                                                               : -1};
    for (int32_t i = 0; i < desc->rows; i++)
      if (p->rank_of[i] == r) h.entries += desc->row_offsets[i + 1] - desc->row_offsets[i];
    out->out_bytes[r] = multi_row_block_bytes(&h);
    out->out[r] = tsi_malloc(context, out->out_bytes[r], 1);
    if (!out->out[r]) return tsi_out_of_memory(context, "rows that move", out->out_bytes[r]);
    memcpy(out->out[r], &h, sizeof h);
  }
  return TS_OK;
}

static void write_block(const ts_context *context, const plan *p, int rank, void *memory) {
  const tsi_ranks_matrix_desc *desc = p->graph.desc;
  const multi_row_block block = multi_row_block_at(memory);
  int32_t row = 0, to = 0;
  for (int32_t i = 0; i < desc->rows; i++) {
    if (p->rank_of[i] != rank) continue;
    block.offsets[row++] = to;
    for (int32_t e = desc->row_offsets[i]; e < desc->row_offsets[i + 1]; e++, to++) {
      block.columns[to] = number_of(context, p, desc->column_indices[e]);
      if (block.header->doubles > 0) ((double *)block.values)[to] = desc->double_values[e];
      if (block.header->doubles == 0) ((float *)block.values)[to] = desc->values[e];
    }
  }
  block.offsets[row] = to;
}

/* The block from rank r. The block from this rank was not sent. */
static void *block_of(const ts_context *context, const multi_parcels *p, int r) {
  return r == ts_ranks_get_rank(context) ? p->out[r] : p->in[r];
}

static ts_status measure_blocks(ts_context *context, const multi_parcels *p, multi_row_block_header *all) {
  int64_t rows = 0, entries = 0;
  const multi_row_block_header *first = block_of(context, p, 0);
  *all = *first;
  for (int r = 0; r < ts_ranks_get_count(context); r++) {
    const multi_row_block_header *h = block_of(context, p, r);
    rows += h->rows;
    entries += h->entries;
    if (h->doubles != first->doubles)
      return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                      "the values of ranks 0 and %d are not both doubles, both floats or both NULL", r);
  }
  if (rows > TSI_MAX_SIZE || entries > INT32_MAX)
    return tsi_fail(context, TS_ERROR_LIMIT, "PT-Scotch gives this rank %lld rows and %lld entries",
                    (long long)rows, (long long)entries);
  all->rows = (int32_t)rows;
  all->entries = (int32_t)entries;
  return TS_OK;
}

/* Appends to the existing rows. */
static void append(const multi_row_block *from, const multi_row_block *to, int32_t row, int32_t entry) {
  const size_t entries = (size_t)from->header->entries, bytes = multi_value_bytes(from->header->doubles);
  if (entries) memcpy(to->columns + entry, from->columns, entries * sizeof *to->columns);
  if (entries && from->values && to->values)
    memcpy((char *)to->values + (size_t)entry * bytes, from->values, entries * bytes);
  for (int32_t i = 0; i <= from->header->rows; i++) to->offsets[row + i] = entry + from->offsets[i];
}

/* Joins all blocks into one. Its header precedes the arrays of the descriptor. */
static ts_status join_blocks(ts_context *context, const multi_parcels *p, multi_moved *moved) {
  multi_row_block_header all;
  TSI_TRY(measure_blocks(context, p, &all));
  void *memory = tsi_malloc(context, multi_row_block_bytes(&all), 1);
  if (!memory) return tsi_out_of_memory(context, "rows that move", multi_row_block_bytes(&all));
  memcpy(memory, &all, sizeof all);
  const multi_row_block to = multi_row_block_at(memory);
  for (int32_t r = 0, row = 0, entry = 0; r < ts_ranks_get_count(context); r++) {
    const multi_row_block from = multi_row_block_at(block_of(context, p, r));
    append(&from, &to, row, entry);
    row += from.header->rows;
    entry += from.header->entries;
  }
  moved->block = memory;
  moved->desc.rows = all.rows;
  moved->desc.row_offsets = to.offsets;
  moved->desc.column_indices = to.columns;
  moved->desc.values = all.doubles == 0 ? to.values : NULL;
  moved->desc.double_values = all.doubles > 0 ? to.values : NULL;
  return TS_OK;
}

static ts_status carry_rows(ts_context *context, const plan *p, multi_moved *moved) {
  multi_parcels parcels;
  TSI_TRY(multi_parcels_create(context, &parcels));
  ts_status status = reserve_blocks(context, p, &parcels);
  for (int r = 0; r < ts_ranks_get_count(context) && status == TS_OK; r++)
    write_block(context, p, r, parcels.out[r]);
  if (status == TS_OK) status = multi_parcels_exchange(context, &parcels);
  if (status == TS_OK) status = join_blocks(context, &parcels, moved);
  multi_parcels_destroy(context, &parcels);
  return status;
}

/* ---- Records of the move ---- */

static ts_status keep(ts_context *context, plan *p, multi_moved *moved) {
  const int ranks = ts_ranks_get_count(context), mine = ts_ranks_get_rank(context);
  multi_given *given = tsi_calloc(context, 1, sizeof *given);
  if (!given) return tsi_out_of_memory(context, "rows that moved", sizeof *given);
  moved->given = given;
  given->from = tsi_calloc(context, (size_t)ranks + 1, sizeof *given->from);
  given->rows = tsi_malloc(context, (size_t)moved->desc.rows, sizeof *given->rows);
  if (!given->from || !given->rows)
    return tsi_out_of_memory(context, "rows that moved", (size_t)moved->desc.rows * sizeof *given->rows);
  for (int sender = 0; sender < ranks; sender++)
    given->from[sender + 1] = given->from[sender] + p->counts[sender * ranks + mine];
  given->first = p->graph.first;
  given->rank_of = p->rank_of;
  p->rank_of = NULL;
  p->graph.first = NULL;
  for (int32_t i = 0; i < p->graph.desc->rows; i++) p->numbers[i] = given->first[mine] + i;
  return multi_carry_given(context, given, sizeof *given->rows, p->numbers, given->rows);
}

static ts_status move(ts_context *context, plan *p, multi_moved *moved) {
  int moves;
  TSI_TRY(choose(context, p, &moves, moved->choice, sizeof moved->choice));
  if (!moves) return TS_OK;
  TSI_TRY(carry_rows(context, p, moved));
  return keep(context, p, moved);
}

ts_status multi_move_rows(ts_context *context, const tsi_ranks_matrix_desc *desc, multi_moved *moved) {
  const ts_partition how = context->desc.partition;
  plan p = {.halo = 0};
  *moved = (multi_moved){.desc = *desc};
  if (!desc->may_move || ts_ranks_get_count(context) == 1) return TS_OK;
  if (how != TS_PARTITION_AUTO && how != TS_PARTITION_SCOTCH) return TS_OK;
  if (!multi_ranks_of(context)->transport.divide)
    return how == TS_PARTITION_AUTO ? TS_OK
                                    : tsi_fail(context, TS_ERROR_UNAVAILABLE,
                                               "moving rows of ranks needs PT-Scotch, which is not built in");
  ts_status status = multi_graph_create(context, desc, &p.graph);
  if (status == TS_OK) status = move(context, &p, moved);
  free_plan(context, &p);
  if (status < 0) multi_moved_free(context, moved);
  return status;
}

void multi_moved_free(ts_context *context, multi_moved *moved) {
  multi_given_destroy(context, moved->given);
  tsi_free(context, moved->block);
  moved->given = NULL;
  moved->block = NULL;
}
