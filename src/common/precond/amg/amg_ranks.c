/* The matrix of the next level, if several ranks share the rows.
 *
 * Aggregates never cross ranks. A rank smooths its own rows of P; their columns are its own aggregates and
 * those of its ghosts. It receives the rows of P of its ghosts. P^T A P, computed from its own rows of A and P,
 * contributes to its rows of the next level and to those of other ranks. The contributions to other ranks are
 * sent to the owners, together with the entries of P^T. */
#include <string.h>

#include "amg_halo.h"

/* ---- Aggregates ---- */

/* Whether a node has no aggregate and is strongly connected only to nodes of other ranks. */
static int is_cut_off(const tsi_amg_host_level *level, int32_t node) {
  const tsi_amg_csr *A = &level->A;
  const int32_t unknowns = level->unknowns;
  if (level->aggregates[node] >= 0) return 0;
  const int32_t first = node * unknowns, end = first + unknowns;
  for (int32_t e = A->offsets[first]; e < A->offsets[end]; e++)
    if (level->strong[e] == TSI_AMG_STRONG && A->indices[e] >= A->rows) return 1;
  return 0;
}

void tsi_amg_keep_cut_off(const tsi_amg_host_level *level, int32_t *count) {
  for (int32_t i = 0; i < level->nodes; i++)
    if (is_cut_off(level, i)) level->aggregates[i] = (*count)++;
}

static int32_t find(const int64_t *list, int32_t count, int64_t number) {
  int32_t first = 0, end = count;
  while (first < end) {
    const int32_t middle = first + (end - first) / 2;
    if (list[middle] < number)
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

/* Numbers the ghosts' aggregates after the own ones; next->ghosts are their global numbers. `numbers` must have
 * room for all nodes. */
static ts_status number_aggregates(ts_context *context, tsi_amg_host_level *level, const int64_t *first,
                                   int64_t *numbers, int64_t *list) {
  const int32_t nodes = level->nodes, ghosts = level->halo->count;
  for (int32_t i = 0; i < nodes; i++)
    numbers[i] = level->aggregates[i] < 0 ? -1 : first[level->halo->rank] + level->aggregates[i];
  TSI_TRY(tsi_amg_exchange(context, level, numbers, sizeof *numbers));
  size_t count = 0;
  for (int32_t i = nodes; i < nodes + ghosts; i++)
    if (numbers[i] >= 0) list[count++] = numbers[i];
  level->ghost_aggregates = tsi_amg_unite(list, count);
  for (int32_t i = nodes; i < nodes + ghosts; i++)
    level->aggregates[i] =
        numbers[i] < 0 ? -1 : level->aggregate_count + find(list, level->ghost_aggregates, numbers[i]);
  return TS_OK;
}

/* ---- Columns of the next level, as its entries become known ---- */

typedef struct coarsening {
  tsi_amg_host_level *level, *next;
  int64_t *first;                        /* first aggregate of each rank, and the end */
  int64_t *aggregates, *known, *columns; /* of ghosts; plus their rows of P; of the next level */
  tsi_amg_csr P, T, C;                   /* P with the ghosts' rows; -P^T and P^T A P from own rows of P */
  tsi_amg_entries of_P, of_T, of_C;
} coarsening;

static tsi_amg_numbering number(const coarsening *c, const int64_t *ghosts, int32_t count) {
  const int64_t first = c->first[c->level->halo->rank];
  return (tsi_amg_numbering){.first = first,
                             .own = c->level->aggregate_count,
                             .count = count,
                             .ghosts = ghosts,
                             .unknowns = c->level->vectors};
}

/* Replaces the column numbers in the first `rows` rows of A. */
static void renumber(tsi_amg_csr *A, int32_t rows, const tsi_amg_numbering *from, const tsi_amg_numbering *to) {
  for (int32_t e = 0; e < A->offsets[rows]; e++)
    if (A->indices[e] >= from->own * from->unknowns)
      A->indices[e] = tsi_amg_local(to, tsi_amg_global(from, A->indices[e]));
  A->columns = (to->own + to->count) * to->unknowns;
}

/* Appends the nodes of entries that belong to other ranks to the list, after its first `count`. */
static size_t list_nodes(const tsi_amg_entries *entries, const tsi_amg_numbering *n, int64_t *list,
                         size_t count) {
  for (size_t k = 0; k < entries->count; k++) {
    const int64_t node = entries->list[k].column / n->unknowns;
    if (node < n->first || node >= n->first + n->own) list[count++] = node;
  }
  return count;
}

static ts_status alloc_list(ts_context *context, size_t count, int64_t **list) {
  *list = tsi_malloc(context, count, sizeof **list);
  return *list ? TS_OK : tsi_out_of_memory(context, "the ghosts of amg", count * sizeof **list);
}

/* ---- Products ---- */

/* Appends the rows of P that belong to ghosts, and the columns that become known by them. */
static ts_status extend_P(ts_context *context, coarsening *c, tsi_amg_numbering *known) {
  tsi_amg_host_level *level = c->level;
  const tsi_amg_halo *halo = level->halo;
  const tsi_amg_numbering fine = tsi_amg_number(halo, level->unknowns),
                          coarse = number(c, c->aggregates, level->ghost_aggregates);
  const tsi_amg_sending sending = {&level->P, fine, coarse, halo->to, halo->own};
  TSI_TRY(tsi_amg_send_rows(context, &sending, &c->of_P));
  TSI_TRY(alloc_list(context, (size_t)coarse.count + c->of_P.count, &c->known));
  if (coarse.count > 0) memcpy(c->known, c->aggregates, (size_t)coarse.count * sizeof *c->known);
  const size_t count = list_nodes(&c->of_P, &coarse, c->known, (size_t)coarse.count);
  *known = number(c, c->known, tsi_amg_unite(c->known, count));
  renumber(&level->P, level->P.rows, &coarse, known);
  return tsi_amg_add_entries(context, &level->P, level->P.rows, &c->of_P, &fine, known,
                             level->P.rows + fine.count * fine.unknowns, &c->P);
}

/* Sends this rank's contributions to T and C in other ranks' rows to their owners. */
static ts_status hand_over(ts_context *context, coarsening *c, const tsi_amg_numbering *known) {
  const tsi_amg_halo *halo = c->level->halo;
  int32_t *begins = tsi_malloc(context, (size_t)halo->ranks + 1, sizeof *begins);
  if (!begins) return tsi_out_of_memory(context, "rows of other ranks", (size_t)halo->ranks * sizeof *begins);
  tsi_amg_find_owners(c->first, halo->ranks, known->ghosts, known->count, begins);
  const tsi_amg_sending T = {&c->T, *known, tsi_amg_number(halo, c->level->unknowns), begins, NULL},
                        C = {&c->C, *known, *known, begins, NULL};
  ts_status status = tsi_amg_send_rows(context, &T, &c->of_T);
  if (status == TS_OK) status = tsi_amg_send_rows(context, &C, &c->of_C);
  tsi_free(context, begins);
  return status;
}

/* Lists the ghosts of the next level: columns of its rows, and of P. */
static ts_status list_columns(ts_context *context, coarsening *c, const tsi_amg_numbering *known,
                              tsi_amg_numbering *columns) {
  const int32_t rows = known->own * known->unknowns;
  size_t count = (size_t)c->level->ghost_aggregates, most = count + (size_t)known->count + c->of_C.count;
  unsigned char *used = tsi_calloc(context, (size_t)known->count, 1);
  if (!used) return tsi_out_of_memory(context, "the ghosts of amg", (size_t)known->count);
  const ts_status status = alloc_list(context, most, &c->columns);
  if (status == TS_OK) {
    if (count > 0) memcpy(c->columns, c->aggregates, count * sizeof *c->columns);
    for (int32_t e = 0; e < c->C.offsets[rows]; e++)
      if (c->C.indices[e] >= rows) used[c->C.indices[e] / known->unknowns - known->own] = 1;
    for (int32_t k = 0; k < known->count; k++)
      if (used[k]) c->columns[count++] = known->ghosts[k];
    count = list_nodes(&c->of_C, known, c->columns, count);
    *columns = number(c, c->columns, tsi_amg_unite(c->columns, count));
  }
  tsi_free(context, used);
  return status;
}

static ts_status multiply(ts_context *context, coarsening *c) {
  tsi_amg_host_level *level = c->level, *next = c->next;
  const tsi_amg_numbering fine = tsi_amg_number(level->halo, level->unknowns);
  tsi_amg_numbering known, columns;
  TSI_TRY(extend_P(context, c, &known));
  TSI_TRY(tsi_amg_transpose(context, &level->P, &c->T));
  TSI_TRY(tsi_amg_product(context, &c->T, &level->A, &c->P, level->vectors, &c->C));
  tsi_amg_csr_free(context, &c->P);
  TSI_TRY(hand_over(context, c, &known));
  TSI_TRY(list_columns(context, c, &known, &columns));
  const int32_t rows = columns.own * columns.unknowns;
  renumber(&c->C, rows, &known, &columns);
  renumber(&level->P, level->P.rows, &known, &columns);
  TSI_TRY(tsi_amg_add_entries(context, &c->C, rows, &c->of_C, &columns, &columns, rows, &next->A));
  tsi_amg_csr_free(context, &c->C);
  tsi_amg_fill_zeros(context, &next->A, level->vectors);
  /* A matrix that is symmetric only up to rounding may lack the mirror of an entry; only P has it then. */
  TSI_TRY(tsi_amg_add_entries(context, &c->T, rows, &c->of_T, &columns, &fine, rows, &level->R));
  int64_t *const first = c->first, *const ghosts = c->columns;
  c->first = c->columns = NULL;
  return tsi_amg_halo_create(context, first, ghosts, columns.count, &next->halo);
}

static ts_status share(ts_context *context, coarsening *c) {
  tsi_amg_host_level *level = c->level;
  const size_t ghosts = (size_t)level->halo->count, nodes = (size_t)level->nodes + ghosts;
  const size_t each = (size_t)level->unknowns * (size_t)level->vectors;
  int64_t *numbers = NULL;
  TSI_TRY(tsi_amg_exchange(context, level, level->weights, sizeof *level->weights));
  TSI_TRY(tsi_amg_exchange(context, level, level->tentative, each * sizeof *level->tentative));
  TSI_TRY(tsi_amg_count_nodes(context, level->aggregate_count, &c->first));
  TSI_TRY(alloc_list(context, ghosts, &c->aggregates));
  ts_status status = alloc_list(context, nodes, &numbers);
  if (status == TS_OK) status = number_aggregates(context, level, c->first, numbers, c->aggregates);
  tsi_free(context, numbers);
  return status;
}

ts_status tsi_amg_coarsen_on_ranks(ts_context *context, tsi_amg_host_level *level, tsi_amg_host_level *next) {
  coarsening c = {.level = level, .next = next};
  ts_status status = share(context, &c);
  if (status == TS_OK) status = tsi_amg_smooth(context, level);
  if (status == TS_OK) status = multiply(context, &c);
  tsi_free(context, c.first);
  tsi_free(context, c.aggregates);
  tsi_free(context, c.known);
  tsi_free(context, c.columns);
  tsi_amg_csr_free(context, &c.P);
  tsi_amg_csr_free(context, &c.T);
  tsi_amg_csr_free(context, &c.C);
  tsi_free(context, c.of_P.list);
  tsi_free(context, c.of_T.list);
  tsi_free(context, c.of_C.list);
  return status;
}
