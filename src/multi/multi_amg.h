/* Set-up of algebraic multigrid by the parts of one process, each on its own device: the levels under
 * construction. The operations of a part are in common/precond/amg/amg_part.h.
 *
 * The parts make their rows of a level together while it has enough rows to share. The first part then receives
 * all rows of the next level, and makes the levels below alone. */
#ifndef MULTI_AMG_H
#define MULTI_AMG_H

#include "common/precond/amg/amg_part.h"
#include "multi.h"

/* A matrix under construction: own rows of each part, and its ghosts once columns are split. */
typedef struct multi_amg_rows {
  tsi_amg_run part[MULTI_MOST_PARTS];
  int32_t *places[MULTI_MOST_PARTS], starts[MULTI_MOST_PARTS], ghosts[MULTI_MOST_PARTS]; /* see multi_halo */
} multi_amg_rows;

/* The level that the parts work on. Parts without rows have empty ranges and no arrays. */
typedef struct multi_amg_level {
  int32_t first[MULTI_MOST_PARTS + 1]; /* first row of each part, and the end */
  tsi_amg_part_level part[MULTI_MOST_PARTS];
  double *near_null[MULTI_MOST_PARTS]; /* of own rows; NULL on the first level */
  multi_amg_rows A;
} multi_amg_level;

typedef struct multi_amg_work multi_amg_work;

/* An operation of one part. */
typedef ts_status multi_amg_body(multi_amg_work *s, ts_context *part, int p);

struct multi_amg_work {
  tsi_amg *amg;
  ts_context *context;
  const tsi_amg_part_ops *ops;
  int parts;
  int is_parallel;       /* the parts' operations run at the same time */
  multi_amg_level level; /* the last one so far */
  multi_amg_rows P, R;   /* between the level above and this one */
  int depth;             /* of the level */
  int has_tentative;     /* of the level: not only aggregates */
  double omega;
  int32_t reach;
  double sums[MULTI_MOST_PARTS][4]; /* arguments of tsi_amg_reach */
  double votes[MULTI_MOST_PARTS];   /* for scaled constants */
  tsi_amg_estimates estimates[MULTI_MOST_PARTS];
  int scaled;
  int32_t bad_row[MULTI_MOST_PARTS]; /* the first without a positive diagonal, or -1; and that number */
  float bad_value[MULTI_MOST_PARTS];
  double *coarse[MULTI_MOST_PARTS]; /* near-null vector of the next level's own rows */
  int32_t coarse_first[MULTI_MOST_PARTS + 1];
  int is_declined; /* the host has to make the hierarchy */
  /* Arguments of operations that multi_amg_all runs. */
  multi_amg_body *body;
  multi_amg_rows *rows;
  const int32_t *columns;
  const multi_halo *halo;
  const ts_space *row_space, *column_space;
  ts_matrix **local;
};

static inline int32_t multi_amg_rows_of(const multi_amg_level *level, int p) {
  return level->first[p + 1] - level->first[p];
}
static inline int32_t multi_amg_count(const tsi_amg_range *range) {
  return range->end - range->begin;
}

/* Runs an operation of all parts; the second one of those that have rows of the level. */
ts_status multi_amg_all(multi_amg_work *s, multi_amg_body *body);
ts_status multi_amg_each(multi_amg_work *s, multi_amg_body *body);

/* ---- multi_amg_windows.c ---- */

/* The first level's rows, and the windows of a level. */
ts_status multi_amg_take_rows(multi_amg_work *s);
ts_status multi_amg_open_windows(multi_amg_work *s);
void multi_amg_close_windows(multi_amg_work *s);
void multi_amg_free_rows(const multi_amg_work *s, multi_amg_rows *rows);
/* Frees arrays of doubles of the parts, with first[p + 1] - first[p] each. */
void multi_amg_free_arrays(const multi_amg_work *s, double **arrays, const int32_t *first);

/* ---- multi_amg_stages.c ---- */

/* Groups the rows into aggregates; *count is their number. */
ts_status multi_amg_group(multi_amg_work *s, int depth, int32_t *count);
int multi_amg_is_compact(const multi_amg_work *s);
/* Then: finds the eigenvalue, and whether the parts can make P. */
ts_status multi_amg_estimate(multi_amg_work *s, double *eigenvalue, int *is_suitable);
/* Makes s->P, s->R and the next level's rows, and then replaces the level by the next. */
ts_status multi_amg_coarsen(multi_amg_work *s);

/* ---- multi_amg_matrices.c ---- */

/* Makes the level's matrix over a new space, and the transfers from the level above. */
ts_status multi_amg_make_matrices(multi_amg_work *s, int l);
/* Makes all levels from this one on by the first part alone, and the transfers from the level above. */
ts_status multi_amg_make_below(multi_amg_work *s, int l);

/* What the hierarchy keeps: the first part's levels. */
typedef struct multi_amg {
  tsi_amg *below;
  ts_matrix *last; /* the matrix of the first of these levels */
} multi_amg;

#endif
