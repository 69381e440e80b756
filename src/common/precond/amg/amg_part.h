/* Set-up of algebraic multigrid by several parts, each with rows of every level: the operations that a backend
 * provides, the table tsi_ops.amg_part. multi/multi_amg.c calls them.
 *
 * A part works on a window: its own rows, and those of other parts up to four couplings away. The matrix of a
 * window is square, and entries in columns outside are dropped. So a part computes its own rows of P, R and R A
 * P alone, as if the rows of the window were the whole matrix. Rows within three couplings have all entries,
 * and rows that these refer to have their diagonal. Only aggregates, weights and tentative prolongators come
 * from the parts that own the rows. A node has one unknown, and there is one near-null vector. */
#ifndef TSI_AMG_PART_H
#define TSI_AMG_PART_H

#include "amg.h"

/* A sparse matrix in the memory of a part; the columns of a row ascend. Indices and values are padded with
 * zeros to a multiple of eight entries. */
typedef struct tsi_amg_piece {
  int32_t rows, columns, entries;
  int32_t *offsets, *indices;
  float *values;
} tsi_amg_piece;

/* Consecutive rows of a matrix that parts share. Row i of the piece is row first + i of the matrix, and its
 * column j is column shift + j. The piece may belong to any part. */
typedef struct tsi_amg_run {
  tsi_amg_piece piece;
  int32_t first, shift;
} tsi_amg_run;

/* One level of one part. Arrays are in the part's memory, with one element per row of the window. */
typedef struct tsi_amg_part_level {
  tsi_amg_range window, own; /* of the whole level's rows */
  tsi_amg_piece A, P;        /* P: columns count from `base` */
  unsigned char *strong;     /* per entry of A */
  int32_t *aggregates;       /* numbers in the whole level; later they count from `base`; -1: none */
  int32_t aggregate_count;   /* of own rows */
  int32_t boundary;          /* own rows that are strongly coupled to rows of other parts, */
  int32_t cut_off;           /* and those of them without an aggregate of own rows */
  int32_t base, columns;     /* the first aggregate of the window's rows, and the end, counted from it */
  float *weights, *tentative;
  double *near_null;
  double *diagonal; /* of the filtered matrix, if `estimate` leaves it for `prolong`; otherwise NULL */
  double bound, eigenvalue;
} tsi_amg_part_level;

/* The tentative prolongator in a row that joins the aggregate of another, from the weights of both. */
TSI_AMG_INLINE float tsi_amg_attached(float weight, float tentative, float other) {
  return other != 0 ? (float)((double)weight * ((double)tentative / (double)other)) : 0;
}

/* Whether split_columns lists the ghosts. Not if they are all columns after `own`. */
static inline int tsi_amg_lists_ghosts(const tsi_amg_piece *piece, tsi_amg_range own, int32_t count) {
  return count > 0 && (own.begin > 0 || count < piece->columns - own.end);
}

/* clang-format off */
#define TSI_AMG_PART_OPERATIONS(REQUIRED, prefix)                                                              \
  /* Memory of the part. `copy` reads memory of any part, after a join (multi/part.h). */                      \
  REQUIRED(prefix, ts_status, take, (ts_context *context, size_t bytes, void **to))                            \
  REQUIRED(prefix, void, give, (ts_context *context, void *block, size_t bytes))                               \
  REQUIRED(prefix, ts_status, copy, (ts_context *context, void *to, const void *from, size_t bytes))           \
  REQUIRED(prefix, ts_status, read, (ts_context *context, void *to_host, const void *from, size_t bytes))      \
  REQUIRED(prefix, void, piece_free, (ts_context *context, tsi_amg_piece *piece))                              \
  /* The rows of a part's matrix. Columns become positions in the whole space: the part's own begin at `first`, \
   * and those of its ghosts are listed, ascending. If the format is not made of rows, rows->offsets is NULL. */       \
  REQUIRED(prefix, ts_status, source,                                                                          \
           (const ts_matrix *local, int32_t first, const int32_t *ghosts, int32_t count, tsi_amg_piece *rows)) \
  /* Copies rows from the host. */                                                                              \
  REQUIRED(prefix, ts_status, upload, (ts_context *context, const tsi_amg_csr *rows, tsi_amg_piece *piece))     \
  /* The first unconstrained row without a positive diagonal, and the value there; -1: none. */                \
  REQUIRED(prefix, ts_status, bad_row,                                                                         \
           (const ts_matrix *local, const tsi_amg_run *rows, int32_t *row, float *value))                      \
  /* The range of the columns of these rows of the run, in the whole matrix; the end is 0 without entries. The \
   * run may belong to another part, after a join. */                                                          \
  REQUIRED(prefix, ts_status, extent,                                                                          \
           (ts_context *context, const tsi_amg_run *run, tsi_amg_range rows, tsi_amg_range *columns))          \
  /* Makes a piece of these rows and columns of the matrix that the runs share. Its columns count from the     \
   * first. */                                                                                                 \
  REQUIRED(prefix, ts_status, gather,                                                                          \
           (ts_context *context, const tsi_amg_run *runs, int count, tsi_amg_range rows, tsi_amg_range columns, \
            tsi_amg_piece *piece))                                                                             \
  /* The number of own rows for scaled constants (amg_units.c); and then, once, the near-null space. */        \
  REQUIRED(prefix, ts_status, votes, (ts_context *context, const tsi_amg_part_level *level, double *votes))    \
  REQUIRED(prefix, ts_status, units, (ts_context *context, const tsi_amg_part_level *level, int scaled))       \
  /* The strong couplings, and aggregates among own rows. Counts `boundary` and `cut_off`. */                  \
  REQUIRED(prefix, ts_status, group,                                                                           \
           (ts_context *context, tsi_amg_part_level *level, double strength, int depth))                       \
  /* Numbers the aggregates of own rows from 0 in the order of their first members. A cut-off row becomes one,  \
   * unless another part's row that it is strongly coupled to has one. */                                      \
  REQUIRED(prefix, ts_status, number, (ts_context *context, tsi_amg_part_level *level))                        \
  /* The weights and the tentative prolongator of own rows, and the near-null vector of their aggregates.      \
   * level->near_null is overwritten. Then adds `first` to the aggregates. */                                  \
  REQUIRED(prefix, ts_status, tentative,                                                                       \
           (ts_context *context, tsi_amg_part_level *level, int32_t first, double *coarse))                    \
  /* Cut-off rows without an aggregate join the one that other parts' rows couple them to most strongly. */    \
  REQUIRED(prefix, ts_status, attach, (ts_context *context, tsi_amg_part_level *level))                        \
  /* Sets `base` and `columns` from the aggregates of all rows, which then count from `base`. */               \
  REQUIRED(prefix, ts_status, renumber, (ts_context *context, tsi_amg_part_level *level))                      \
  REQUIRED(prefix, ts_status, estimate,                                                                        \
           (ts_context *context, tsi_amg_part_level *level, tsi_amg_estimates *found))                         \
  /* P = S T with this omega. A row that reaches more than `reach` aggregates keeps its row of T. `sums`: see  \
   * tsi_amg_reach, of own rows. */                                                                            \
  REQUIRED(prefix, ts_status, prolong,                                                                         \
           (ts_context *context, tsi_amg_part_level *level, double omega, int32_t reach, double sums[4]))      \
  /* R = -P^T, with a row for each aggregate of own rows, and these rows of the next level's matrix, with the  \
   * columns of P. */                                                                                          \
  REQUIRED(prefix, ts_status, coarsen,                                                                         \
           (ts_context *context, tsi_amg_part_level *level, int32_t first, tsi_amg_piece *R, tsi_amg_piece *C)) \
  /* Lists the columns of the piece outside `own`, ascending, in memory of tsi_malloc; NULL if                 \
   * tsi_amg_lists_ghosts is 0. Own columns then count from 0 and the others from `ghosts`; the columns of a row \
   * still ascend. */                                                                                          \
  REQUIRED(prefix, ts_status, split_columns,                                                                   \
           (ts_context *context, tsi_amg_piece *piece, tsi_amg_range own, int32_t ghosts, int32_t **list,      \
            int32_t *count))                                                                                   \
  /* Makes a matrix that takes over the arrays of the piece. */                                                \
  REQUIRED(prefix, ts_status, adopt,                                                                           \
           (ts_context *context, tsi_amg_piece *piece, ts_space *row_space, ts_space *column_space,            \
            ts_matrix **matrix))
/* clang-format on */

struct tsi_amg_part_ops {
  TSI_AMG_PART_OPERATIONS(TSI_FIELD, )
};

#endif
