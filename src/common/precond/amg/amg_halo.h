/* Levels over several ranks. Each rank has the rows of its own nodes. Its ghosts are the nodes of other ranks
 * that these rows refer to; it requests their data. The unknowns of a node are adjacent, and so are its
 * columns: those of own nodes are first, those of ghosts follow. */
#ifndef TSI_AMG_HALO_H
#define TSI_AMG_HALO_H

#include "amg.h"
#include "common/core/ranks.h"

/* The columns of a rank. */
typedef struct tsi_amg_numbering {
  int64_t first;         /* own nodes: globally first .. first + own - 1, */
  int32_t own;           /* locally 0 .. own - 1 */
  int32_t count;         /* the ghosts follow them */
  const int64_t *ghosts; /* their global numbers, ascending */
  int32_t unknowns;
} tsi_amg_numbering;

static inline int64_t tsi_amg_global(const tsi_amg_numbering *n, int32_t column) {
  const int32_t node = column / n->unknowns;
  return (node < n->own ? n->first + node : n->ghosts[node - n->own]) * n->unknowns + column % n->unknowns;
}

/* Returns -1 for a column of neither an own node nor a ghost. */
int32_t tsi_amg_local(const tsi_amg_numbering *n, int64_t column);

struct tsi_amg_halo {
  int ranks, rank;
  int64_t *first;           /* first node of each rank, and the end */
  int64_t *ghosts;          /* nodes of other ranks, ascending */
  int32_t count;            /* of ghosts; those of rank r are from[r] .. from[r + 1] - 1 */
  int32_t *from, *to, *own; /* own[to[r]] .. own[to[r + 1] - 1]: own nodes that are ghosts of rank r */
};

/* Computes the global number of each rank's first node, and the end; this rank has `nodes`. The array is
 * allocated with tsi_malloc. */
ts_status tsi_amg_count_nodes(ts_context *context, int32_t nodes, int64_t **first);
/* Takes ownership of `first` and `ghosts`, also on failure. */
ts_status tsi_amg_halo_create(ts_context *context, int64_t *first, int64_t *ghosts, int32_t count,
                              tsi_amg_halo **out);
void tsi_amg_halo_free(ts_context *context, tsi_amg_halo *halo);
/* Computes the first ghost of each rank, and the end: ranks + 1 numbers. */
void tsi_amg_find_owners(const int64_t *first, int ranks, const int64_t *ghosts, int32_t count, int32_t *from);
tsi_amg_numbering tsi_amg_number(const tsi_amg_halo *halo, int32_t unknowns);
/* Sorts and removes duplicates; returns the remaining count. */
int32_t tsi_amg_unite(int64_t *list, size_t count);

/* ---- amg_entries.c ---- */

/* An entry of one rank that another rank needs. */
typedef struct tsi_amg_entry {
  int64_t row, column; /* global */
  float value;
  uint32_t order; /* of arrival, by ranks */
} tsi_amg_entry;

typedef struct tsi_amg_entries {
  tsi_amg_entry *list;
  size_t count;
} tsi_amg_entries;

/* Rows that this rank sends. Rank r gets those of nodes[begins[r]] .. nodes[begins[r + 1] - 1], or if `nodes`
 * is NULL, those of the ghosts with these numbers. */
typedef struct tsi_amg_sending {
  const tsi_amg_csr *A;
  tsi_amg_numbering rows, columns;
  const int32_t *begins, *nodes;
} tsi_amg_sending;
ts_status tsi_amg_send_rows(ts_context *context, const tsi_amg_sending *sending, tsi_amg_entries *arrived);
/* Computes C with `count` rows: the first `before` rows of A plus the entries. Entries with the same place are
 * added to the entry of A, in the order of ranks. The entries are sorted in place. A has the column numbers of
 * C. Entries in columns without a local number are dropped. */
ts_status tsi_amg_add_entries(ts_context *context, const tsi_amg_csr *A, int32_t before,
                              const tsi_amg_entries *entries, const tsi_amg_numbering *rows,
                              const tsi_amg_numbering *columns, int32_t count, tsi_amg_csr *C);

#endif
