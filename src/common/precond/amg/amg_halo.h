/* Levels over several ranks: each has the rows of its own nodes, and of the nodes of other ranks that these
 * refer to, its ghosts, what it asks for. A node's unknowns are together, and so are its columns: those of the
 * own nodes come first, those of the ghosts follow. */
#ifndef TSI_AMG_HALO_H
#define TSI_AMG_HALO_H

#include "amg.h"
#include "common/core/ranks.h"

/* The columns of a rank. */
typedef struct tsi_amg_numbering {
  int64_t first;         /* the own nodes are first .. first + own - 1 of all, */
  int32_t own;           /* here 0 .. own - 1; */
  int32_t count;         /* and the ghosts behind them */
  const int64_t *ghosts; /* are these, ascending */
  int32_t unknowns;
} tsi_amg_numbering;

static inline int64_t tsi_amg_global(const tsi_amg_numbering *n, int32_t column) {
  const int32_t node = column / n->unknowns;
  return (node < n->own ? n->first + node : n->ghosts[node - n->own]) * n->unknowns + column % n->unknowns;
}

/* -1: neither its own nor a ghost's. */
int32_t tsi_amg_local(const tsi_amg_numbering *n, int64_t column);

struct tsi_amg_halo {
  int ranks, rank;
  int64_t *first;           /* node of each rank, and the end */
  int64_t *ghosts;          /* nodes of other ranks, ascending */
  int32_t count;            /* of them; those of rank r are from[r] .. from[r + 1] - 1 */
  int32_t *from, *to, *own; /* own[to[r]] .. own[to[r + 1] - 1]: own nodes that are ghosts of rank r */
};

/* Where the nodes of `nodes` of this rank begin among those of all, for each rank and the end: memory of
 * tsi_malloc. */
ts_status tsi_amg_count_nodes(ts_context *context, int32_t nodes, int64_t **first);
/* Takes `first` and `ghosts` over, also on failure. */
ts_status tsi_amg_halo_create(ts_context *context, int64_t *first, int64_t *ghosts, int32_t count,
                              tsi_amg_halo **out);
void tsi_amg_halo_free(ts_context *context, tsi_amg_halo *halo);
/* Where the ghosts of each rank begin, and the end: ranks + 1. */
void tsi_amg_find_owners(const int64_t *first, int ranks, const int64_t *ghosts, int32_t count, int32_t *from);
tsi_amg_numbering tsi_amg_number(const tsi_amg_halo *halo, int32_t unknowns);
/* Sorts, and leaves one of each; returns how many. */
int32_t tsi_amg_unite(int64_t *list, size_t count);

/* ---- amg_entries.c ---- */

/* An entry that one rank has and another one needs. */
typedef struct tsi_amg_entry {
  int64_t row, column; /* of all */
  float value;
  uint32_t order; /* among those that have arrived, by ranks */
} tsi_amg_entry;

typedef struct tsi_amg_entries {
  tsi_amg_entry *list;
  size_t count;
} tsi_amg_entries;

/* Rows that this rank sends: to rank r those of the nodes nodes[begins[r]] .. nodes[begins[r + 1] - 1], or
 * where `nodes` is NULL of the ghosts with such numbers. */
typedef struct tsi_amg_sending {
  const tsi_amg_csr *A;
  tsi_amg_numbering rows, columns;
  const int32_t *begins, *nodes;
} tsi_amg_sending;
ts_status tsi_amg_send_rows(ts_context *context, const tsi_amg_sending *sending, tsi_amg_entries *arrived);
/* C, which has so many rows, is the first `before` of A and the entries, which are sorted meanwhile: those for
 * the same place are added to what A has there, by ranks. Columns of A are numbered as in C. Entries in columns
 * without a number are dropped. */
ts_status tsi_amg_add_entries(ts_context *context, const tsi_amg_csr *A, int32_t before,
                              const tsi_amg_entries *entries, const tsi_amg_numbering *rows,
                              const tsi_amg_numbering *columns, int32_t count, tsi_amg_csr *C);

#endif
