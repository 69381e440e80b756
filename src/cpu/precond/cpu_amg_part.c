/* One part's share of the set-up of algebraic multigrid, in host memory, with the functions of the host's
 * set-up (common/precond/amg). cpu_amg_pieces.c has the sparse matrices. */
#include <string.h>

#include "cpu_amg.h"

/* ---- Memory ---- */

ts_status cpu_amg_part_take(ts_context *context, size_t bytes, void **to) {
  *to = tsi_malloc(context, bytes, 1);
  return *to ? TS_OK : tsi_out_of_memory(context, "a level of amg", bytes);
}

void cpu_amg_part_give(ts_context *context, void *block, size_t bytes) {
  (void)bytes;
  tsi_free(context, block);
}

ts_status cpu_amg_part_copy(ts_context *context, void *to, const void *from, size_t bytes) {
  (void)context;
  if (bytes > 0) memcpy(to, from, bytes);
  return TS_OK;
}

ts_status cpu_amg_part_read(ts_context *context, void *to_host, const void *from, size_t bytes) {
  return cpu_amg_part_copy(context, to_host, from, bytes);
}

/* ---- The level as the host's set-up has it ---- */

static tsi_amg_csr csr_of(const tsi_amg_piece *piece) {
  return (tsi_amg_csr){piece->rows, piece->columns, piece->offsets, piece->indices, piece->values};
}

/* All rows of the window. */
static tsi_amg_host_level whole(const tsi_amg_part_level *level) {
  return (tsi_amg_host_level){.A = csr_of(&level->A),
                              .unknowns = 1,
                              .vectors = 1,
                              .nodes = level->A.rows,
                              .strong = level->strong,
                              .aggregates = level->aggregates,
                              .aggregate_count = level->columns,
                              .tentative = level->tentative,
                              .weights = level->weights,
                              .near_null = level->near_null};
}

/* Own rows, counted from the first of the window. */
static tsi_amg_range own_of(const tsi_amg_part_level *level) {
  return (tsi_amg_range){level->own.begin - level->window.begin, level->own.end - level->window.begin};
}

ts_status cpu_amg_part_votes(ts_context *context, const tsi_amg_part_level *level, double *votes) {
  const tsi_amg_host_level host = whole(level);
  return tsi_amg_vote(context, &host, own_of(level), votes);
}

ts_status cpu_amg_part_units(ts_context *context, const tsi_amg_part_level *level, int scaled) {
  const tsi_amg_host_level host = whole(level);
  return tsi_amg_write_units(context, &host, scaled);
}

/* ---- Aggregates ---- */

/* Removes connections of and to rows of other parts. */
static void restrict_graph(const tsi_amg_graph *graph, tsi_amg_range own) {
  for (int32_t i = 0; i < graph->nodes; i++) {
    int32_t to = graph->begins[i];
    const int is_own = i >= own.begin && i < own.end;
    for (int32_t e = to; e < graph->ends[i] && is_own; e++) {
      if (graph->indices[e] < own.begin || graph->indices[e] >= own.end) continue;
      graph->indices[to] = graph->indices[e];
      graph->magnitudes[to++] = graph->magnitudes[e];
    }
    graph->ends[i] = to;
  }
}

/* Whether entry e couples its row strongly to a row of another part. */
static int is_foreign(const tsi_amg_part_level *level, tsi_amg_range own, int32_t e) {
  const int32_t j = level->A.indices[e];
  return level->strong[e] == TSI_AMG_STRONG && (j < own.begin || j >= own.end);
}

static int is_on_boundary(const tsi_amg_part_level *level, tsi_amg_range own, int32_t i) {
  for (int32_t e = level->A.offsets[i]; e < level->A.offsets[i + 1]; e++)
    if (is_foreign(level, own, e)) return 1;
  return 0;
}

ts_status cpu_amg_part_group(ts_context *context, tsi_amg_part_level *level, double strength, int depth) {
  const tsi_amg_host_level host = whole(level);
  const tsi_amg_range own = own_of(level);
  tsi_amg_graph graph;
  TSI_TRY(tsi_amg_strength(context, &host, strength, depth, &graph));
  restrict_graph(&graph, own);
  const ts_status status = tsi_amg_aggregate(context, &graph, level->aggregates, &level->aggregate_count);
  tsi_amg_graph_free(context, &graph);
  level->boundary = level->cut_off = 0;
  for (int32_t i = own.begin; i < own.end && status == TS_OK; i++) {
    const int on_boundary = is_on_boundary(level, own, i);
    level->boundary += on_boundary;
    level->cut_off += on_boundary && level->aggregates[i] < 0;
  }
  return status;
}

/* ---- Aggregates of several parts ---- */

/* The entry that couples row i most strongly to an aggregate of another part; -1: none. */
static int32_t find_host(const tsi_amg_part_level *level, tsi_amg_range own, int32_t i) {
  int32_t best = -1;
  for (int32_t e = level->A.offsets[i]; e < level->A.offsets[i + 1]; e++)
    if (is_foreign(level, own, e) && level->aggregates[level->A.indices[e]] >= 0 &&
        (best < 0 || fabsf(level->A.values[e]) > fabsf(level->A.values[best])))
      best = e;
  return best;
}

ts_status cpu_amg_part_number(ts_context *context, tsi_amg_part_level *level) {
  const tsi_amg_range own = own_of(level);
  const size_t count = (size_t)level->aggregate_count;
  int32_t *numbers = tsi_malloc(context, count, sizeof *numbers);
  if (!numbers) return tsi_out_of_memory(context, "aggregates of amg", count * sizeof *numbers);
  if (count > 0) memset(numbers, -1, count * sizeof *numbers);
  level->aggregate_count = 0;
  for (int32_t i = own.begin; i < own.end; i++) {
    int32_t *aggregate = &level->aggregates[i];
    if (*aggregate >= 0) {
      if (numbers[*aggregate] < 0) numbers[*aggregate] = level->aggregate_count++;
      *aggregate = numbers[*aggregate];
    } else if (is_on_boundary(level, own, i) && find_host(level, own, i) < 0)
      *aggregate = level->aggregate_count++;
  }
  tsi_free(context, numbers);
  return TS_OK;
}

/* Its part of the near-null vector is in proportion to that of the row it is coupled to. */
ts_status cpu_amg_part_attach(ts_context *context, tsi_amg_part_level *level) {
  const tsi_amg_range own = own_of(level);
  (void)context;
  for (int32_t i = own.begin; i < own.end; i++) {
    const int32_t e = level->aggregates[i] < 0 ? find_host(level, own, i) : -1;
    if (e < 0) continue;
    const int32_t j = level->A.indices[e];
    level->aggregates[i] = level->aggregates[j];
    level->tentative[i] = tsi_amg_attached(level->weights[i], level->tentative[j], level->weights[j]);
  }
  return TS_OK;
}

ts_status cpu_amg_part_tentative(ts_context *context, tsi_amg_part_level *level, int32_t first,
                                 double *coarse) {
  const tsi_amg_range own = own_of(level);
  tsi_amg_host_level host = whole(level);
  host.nodes = own.end - own.begin;
  host.aggregate_count = level->aggregate_count;
  host.aggregates += own.begin;
  host.tentative += own.begin;
  host.weights += own.begin;
  host.near_null += own.begin;
  TSI_TRY(tsi_amg_tentative(context, &host, coarse));
  for (int32_t i = own.begin; i < own.end; i++)
    if (level->aggregates[i] >= 0) level->aggregates[i] += first;
  return TS_OK;
}

ts_status cpu_amg_part_renumber(ts_context *context, tsi_amg_part_level *level) {
  (void)context;
  tsi_amg_range found = {INT32_MAX, 0};
  for (int32_t i = 0; i < level->A.rows; i++) {
    const int32_t aggregate = level->aggregates[i];
    if (aggregate < 0) continue;
    if (aggregate < found.begin) found.begin = aggregate;
    if (aggregate >= found.end) found.end = aggregate + 1;
  }
  level->base = found.end > 0 ? found.begin : 0;
  level->columns = found.end - level->base;
  for (int32_t i = 0; i < level->A.rows; i++)
    if (level->aggregates[i] >= 0) level->aggregates[i] -= level->base;
  return TS_OK;
}

/* ---- P, R, and the next level's rows ---- */

ts_status cpu_amg_part_estimate(ts_context *context, tsi_amg_part_level *level, tsi_amg_estimates *found) {
  tsi_amg_host_level host = whole(level);
  return tsi_amg_estimate(context, &host, own_of(level), found);
}

static tsi_amg_piece piece_of(const tsi_amg_csr *csr) {
  return (tsi_amg_piece){csr->rows,    csr->columns, csr->offsets ? csr->offsets[csr->rows] : 0,
                         csr->offsets, csr->indices, csr->values};
}

ts_status cpu_amg_part_prolong(ts_context *context, tsi_amg_part_level *level, double omega, int32_t reach,
                               double sums[4]) {
  tsi_amg_host_level host = whole(level);
  cpu_amg_part_piece_free(context, &level->P);
  const ts_status status = tsi_amg_prolong(context, &host, own_of(level), omega, reach, sums);
  if (status == TS_OK)
    level->P = piece_of(&host.P);
  else
    tsi_amg_csr_free(context, &host.P);
  return status;
}

/* Gives rows of zeros a positive diagonal. */
static void fill_zeros(const tsi_amg_csr *C, int32_t first) {
  for (int32_t i = 0; i < C->rows; i++) {
    int32_t diagonal = -1, is_zero = 1;
    for (int32_t e = C->offsets[i]; e < C->offsets[i + 1]; e++) {
      if (C->values[e] != 0) is_zero = 0;
      if (C->indices[e] == first + i) diagonal = e;
    }
    if (is_zero && diagonal >= 0) C->values[diagonal] = 1;
  }
}

static ts_status multiply(ts_context *context, const tsi_amg_part_level *level, int32_t first,
                          const tsi_amg_piece *R, tsi_amg_piece *C) {
  const tsi_amg_csr left = csr_of(R), A = csr_of(&level->A), P = csr_of(&level->P);
  tsi_amg_csr product = {0};
  const ts_status status = tsi_amg_product(context, &left, &A, &P, 1, &product);
  if (status < 0) {
    tsi_amg_csr_free(context, &product);
    return status;
  }
  fill_zeros(&product, first - level->base);
  *C = piece_of(&product);
  return TS_OK;
}

ts_status cpu_amg_part_coarsen(ts_context *context, tsi_amg_part_level *level, int32_t first, tsi_amg_piece *R,
                               tsi_amg_piece *C) {
  const tsi_amg_csr P = csr_of(&level->P);
  tsi_amg_csr T = {0};
  const tsi_amg_range rows = {first, first + level->aggregate_count}, columns = {0, level->A.rows};
  ts_status status = tsi_amg_transpose(context, &P, &T);
  const tsi_amg_run run = {.piece = piece_of(&T), .first = level->base};
  if (status == TS_OK) status = cpu_amg_part_gather(context, &run, 1, rows, columns, R);
  tsi_amg_csr_free(context, &T);
  if (status == TS_OK) status = multiply(context, level, first, R, C);
  if (status < 0) cpu_amg_part_piece_free(context, R);
  return status;
}

ts_status cpu_amg_part_adopt(ts_context *context, tsi_amg_piece *piece, ts_space *row_space,
                             ts_space *column_space, ts_matrix **matrix) {
  const tsi_matrix_desc desc = {.csr = {.rows = piece->rows,
                                        .columns = piece->columns,
                                        .row_offsets = piece->offsets,
                                        .column_indices = piece->indices,
                                        .values = piece->values},
                                .row_space = row_space,
                                .column_space = column_space};
  TSI_TRY(cpu_matrix_refer(context, &desc, matrix));
  ((cpu_matrix *)(*matrix)->impl)->is_view = 0;
  *piece = (tsi_amg_piece){0};
  return TS_OK;
}

const tsi_amg_part_ops cpu_amg_part_ops = {TSI_AMG_PART_OPERATIONS(TSI_ENTRY, cpu_amg_part_)};
