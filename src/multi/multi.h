/* The multi backend: several contexts of one kind act as one, each on a part of every vector and matrix.
 *
 * "multi:cpu+cpu" has two parts. The first matrix over a space determines which part owns which indices, and so
 * which rows (common/partition). By default these are contiguous blocks with about as many entries each. If
 * METIS reduces the communication enough, they are its parts.
 *
 * A part of a matrix is a ts_matrix of the part's own context. Its columns are the part's own indices, followed
 * by its ghosts: the indices of other parts that its rows refer to. A product first exchanges the ghosts, then
 * multiplies part by part. During an exchange with other ranks, it computes the rows that need no ghosts. All
 * element-wise operations are local. A reduction adds up the results of the parts in order, in double, and
 * writes the sum to the slots of all parts. So all parts always have the same numbers.
 *
 * A part without indices of a space has no objects for it and takes part in scalars only.
 *
 * Parts may be on several ranks, that is, processes connected by a transport (texsolve/ranks.h). Each rank
 * opens the same number of parts and has no contexts for the parts of other ranks. Ghosts of another rank's
 * part are sent as messages, through the host or from device memory, or by NCCL. Sums are exchanged between
 * ranks.
 * A space is either whole or made of rank-local rows. A whole space is known to all ranks, and each keeps the
 * elements of its parts. With rank-local rows, the space has the size of this rank's rows and is divided among
 * its parts. Columns of other ranks are then numbered from tsi_first_ghost, like the ghosts of a part.
 *
 *   multi_backend.c    names, opening, closing, the table
 *   multi_ranks.c      messages, sums over the ranks, agreement on errors
 *   multi_space.c      owners of indices
 *   multi_vector.c     vectors and their element-wise operations
 *   multi_scalars.c    slots, reductions
 *   multi_halo.c       the indices a part needs from others
 *   multi_exchange.c   the exchange of these indices' elements
 *   multi_channel.c    NCCL for exchanges and sums between devices
 *   multi_matrix.c     dividing a matrix
 *   multi_product.c    products
 *   multi_cg.c         conjugate gradient iterations run by the parts
 *   multi_amg.c        algebraic multigrid set up by the parts: _windows, _stages, _matrices
 *   multi_rows.c       matrices from the rows of each rank
 *   multi_inspect.c    facts about the whole matrix
 *   multi_low_parts.c  the low-order parts of their double values
 *   multi_values.c     their new values
 *   multi_levels.c     what the matrices of their levels need (common/core/ranks.h)
 *   multi_whole.c      matrices from one rank, and whole vectors
 *   multi_move.c       rows that PT-Scotch moves to other ranks, using multi_graph.c
 *   multi_given.c      vectors in the order of the rows before the move */
#ifndef MULTI_H
#define MULTI_H

#include "common/core/array.h"
#include "common/core/core.h"
#include "common/core/ranks.h"
#include "common/layout/layout.h"
#include "part.h"

/* State of the communication between ranks. Messages belong to an epoch. It ends when the ranks agree on the
 * status of a common operation. Before that, they may call products and sums, which communicate without an
 * agreement and are counted. */
typedef struct multi_ranks {
  ts_transport transport;
  int epoch;
  int calls;       /* in this epoch, including the current one */
  int failed_call; /* the first call of the epoch that failed on this rank; 0: none */
  int stopped;     /* a rank has failed in this epoch: this rank reported it, */
  int heard;       /* or received a report */
  char why[256];   /* reason why another rank is gone; "" while all are present */
} multi_ranks;

/* The tuning number ghost_transfer:
 *   host      page-locked memory
 *   device    device memory if the transport supports it, otherwise like host
 *   channel   the channel, otherwise like device
 *   best      like device if the transport supports device memory, otherwise like channel */
enum { MULTI_TRANSFER_HOST = 1, MULTI_TRANSFER_DEVICE, MULTI_TRANSFER_CHANNEL, MULTI_TRANSFER_BEST };

/* The channel between all ranks (multi_channel.c). */
typedef struct multi_channel {
  int was_tried, is_open;
  int is_used;  /* in this epoch */
  char why[96]; /* why it could not be opened */
} multi_channel;

typedef struct multi_state {
  int count;          /* parts of all ranks */
  int first, own;     /* parts of this rank */
  multi_ranks *ranks; /* NULL: a single process */
  ts_context **parts; /* NULL for parts of other ranks */
  ts_scalars **sums;  /* per part, its contributions to a reduction: twice TSI_MAX_DOTS slots, with low parts */
  int half;           /* the half of the slots for the next reduction; parts may still read the other */
  size_t own_bytes;   /* of device memory, for the parts */
  multi_channel channel;
  tsi_ops table; /* operations that all parts have */
  /* State of iterations that the parts of one process run together: what each part knows of the others, the
   * number of runs, and the rounds since the peers were cleared. Of the last run: the index of each part, and
   * how long parts wait for each other. */
  void *peers[MULTI_MOST_PARTS];
  uint32_t runs, rounds;
  int run_parts[MULTI_MOST_PARTS];
  double wait_seconds;
} multi_state;

/* Positions are indices sorted by part: part p has positions first[p] .. first[p + 1] - 1. Within a part,
 * indices and positions ascend. */
typedef struct multi_space {
  ts_space **local;        /* per part; NULL if it has no indices */
  int32_t *first;          /* parts + 1 */
  int32_t *order, *places; /* index of a position, and position of an index; NULL: they are equal */
  char choice[160];        /* why these parts were chosen */
  struct multi_rows *rows; /* for rank-local rows; NULL: the space is whole */
} multi_space;

/* The owners of the rows of all ranks. */
typedef struct multi_rows {
  int64_t *first;  /* first row of each part, and the end */
  int64_t *ghosts; /* columns of other ranks in this rank's rows, ascending */
  int64_t all_nonzeros;
  int32_t ghost_count;
  int32_t *order; /* root only: the row of its matrix for each position of all ranks; NULL: they are equal */
  struct multi_given *given; /* NULL: the rows were not moved */
} multi_rows;

/* For parts of any rank. */
static inline int multi_has_rows(const multi_space *s, int p) {
  return s->rows ? s->rows->first[p + 1] > s->rows->first[p] : s->first[p + 1] > s->first[p];
}

static inline int32_t multi_index(const multi_space *s, int32_t position) {
  return s->order ? s->order[position] : position;
}
static inline int32_t multi_position(const multi_space *s, int32_t index) {
  return s->places ? s->places[index] : index;
}

/* The ghosts of one part that another part owns. */
typedef struct multi_exchange {
  int from, to;         /* at least one of them is on this rank */
  int32_t first, count; /* a run of ghosts of `to` */
  void *list;           /* belongs to `from`; NULL if that is on another rank */
  float *message;       /* to or from another rank: this number of floats; NULL until needed */
  size_t floats;
  int on_device;             /* whether the message is in device memory */
  unsigned char has_channel; /* the channel of the ranks may carry it while open */
} multi_exchange;

typedef struct multi_halo {
  int32_t *ghosts;  /* per part */
  int32_t **places; /* per part: the positions of its ghosts, ascending; or NULL: they are consecutive, */
  int32_t *starts;  /* and this is the first */
  multi_exchange *exchanges; /* those between two ranks have the same order on both */
  int exchange_count;
  int remote;           /* number of exchanges with other ranks */
  ts_message *messages; /* two per remote exchange */
  /* Between multi_begin_ghosts and multi_end_ghosts: whether there are messages, their number, and their
   * batch. */
  int is_begun, message_count;
  void *batch;
  /* If vectors have no room for the ghosts: a space with room, otherwise NULL. Also copies of x and of its low
   * part in that space. */
  ts_space **extended;
  ts_vector **copies[2];
} multi_halo;

/* The position of ghost k of part p. */
static inline int32_t multi_ghost_place(const multi_halo *halo, int p, int32_t k) {
  return halo->places[p] ? halo->places[p][k] : halo->starts[p] + k;
}

typedef struct multi_matrix {
  ts_matrix **local; /* per part; NULL if it has no rows */
  multi_halo *halo;
  int is_low_part; /* shares everything but this array with another matrix */
  int is_view;     /* the parts' matrices belong to others */
} multi_matrix;

static inline multi_state *multi_state_of(const ts_context *context) {
  return context->backend;
}
static inline int multi_count(const ts_context *context) {
  return multi_state_of(context)->count;
}
/* NULL: a part of another rank. */
static inline ts_context *multi_part(const ts_context *context, int p) {
  return multi_state_of(context)->parts[p];
}
static inline const tsi_ops *multi_ops_of(const ts_context *context, int p) {
  return multi_part(context, p)->ops;
}

/* The first row of this rank. */
static inline int64_t multi_first_row(const ts_context *context, const multi_rows *rows) {
  return rows->first[multi_state_of(context)->first];
}

/* ---- multi_backend.c ---- */
/* Called before and after an operation of part p. multi_end passes a failure on to the context, with the name
 * of the part. */
ts_status multi_begin(ts_context *context, int p);
ts_status multi_end(ts_context *context, int p, ts_status status);
/* The part of multi_end that reports, for use after a public function. */
ts_status multi_report(ts_context *context, int p, ts_status status);
/* Describes the driver and the connection between ranks. */
void multi_describe_driver(ts_context *context);
/* Sets the context's device memory to the total of all parts. */
void multi_account(ts_context *context);

/* Runs `call` on part p, and returns from the function if it fails. */
#define MULTI_TRY(context, p, call)                                                                            \
  do {                                                                                                         \
    ts_status multi_status_ = multi_begin(context, p);                                                         \
    if (multi_status_ == TS_OK) multi_status_ = multi_end(context, p, call);                                   \
    if (multi_status_ < 0) return multi_status_;                                                               \
  } while (0)

/* ---- multi_ranks.c ---- */
static inline multi_ranks *multi_ranks_of(const ts_context *context) {
  return multi_state_of(context)->ranks;
}
static inline int multi_rank_of_part(const ts_context *context, int p) {
  return p / multi_state_of(context)->own;
}
/* Takes ownership of the transport. From then on, failures of this rank must go through multi_agree. */
ts_status multi_ranks_open(ts_context *context, tsi_opening *opening, multi_ranks **ranks);
void multi_ranks_close(ts_context *context, multi_ranks *ranks);
/* The first starts sending and receiving; the second waits until all data has arrived. */
ts_status multi_begin_messages(ts_context *context, const ts_message *messages, int count, void **batch);
ts_status multi_end_messages(ts_context *context, void *batch);
/* Begins and ends. */
ts_status multi_exchange_messages(ts_context *context, const ts_message *messages, int count);
/* merge(mine, other): must give the same bits on both ranks of a pair. */
typedef void (*multi_merge)(void *mine, const void *other);
/* Merges `data`, at most 1024 bytes, over all ranks. All ranks get the same bits. */
ts_status multi_merge_ranks(ts_context *context, void *data, size_t bytes, multi_merge merge);
/* `all` receives the `bytes` of each rank, in rank order. */
ts_status multi_collect(ts_context *context, const void *mine, size_t bytes, void *all);
typedef tsi_parcels multi_parcels;
ts_status multi_parcels_create(ts_context *context, multi_parcels *parcels);
void multi_parcels_destroy(ts_context *context, multi_parcels *parcels);
/* Allocates out_bytes[rank] for out[rank], then sets out_bytes to 0. */
ts_status multi_parcels_allocate(ts_context *context, multi_parcels *parcels);
/* Sends `out` and fills in `in`. */
ts_status multi_parcels_exchange(ts_context *context, multi_parcels *parcels);
ts_status multi_agree(ts_context *context, ts_status status);
/* Enclose a call that all ranks make without an agreement. */
void multi_begin_call(ts_context *context);
ts_status multi_end_call(ts_context *context, ts_status status);
/* Does not wait. Fails if another rank has failed or is gone. */
ts_status multi_look(ts_context *context);
/* For public functions: checks that there are ranks and that `root` is one of them. */
ts_status multi_check_root(ts_context *context, int root);

/* ---- multi_space.c ---- */
/* The owners of the indices, determined by the first call: by a partition of the rows of `csr`, or in blocks of
 * equal size if it is NULL. */
ts_status multi_space_of(ts_space *space, const tsi_host_csr *csr, multi_space **out);
/* Creates a space with these first indices of the parts, and the end. `locals`, unless NULL, are the spaces of
 * the parts that have indices. */
ts_status multi_space_create_in_order(ts_context *context, const int32_t *first, ts_space *const *locals,
                                      ts_space **space);
/* Creates a part's space of the indices at positions `first` .. `first + size - 1`. */
ts_status multi_space_create_part(const ts_space *space, const multi_space *s, ts_context *part, int32_t first,
                                  int32_t size, ts_space **local);
/* Turns the space into one of rank-local indices. Takes ownership of `rows`, also on failure. */
ts_status multi_space_of_rows(ts_space *space, multi_rows *rows);
void multi_rows_destroy(ts_context *context, multi_rows *rows);
/* The part that owns a position, which may be a column of another rank. */
int multi_owner(const ts_space *space, int32_t position);
/* The last part with a first row of at most this row. */
int multi_owner_of_row(const multi_rows *rows, int parts, int64_t row);

/* ---- multi_vector.c: part p of a vector with its low-order parts; NULL if the part has none ---- */
typedef struct multi_view {
  ts_vector parts[3];
} multi_view;
ts_vector *multi_local(const ts_vector *v, int p, multi_view *view);
#define LOCAL(v) multi_local(v, p, &(multi_view){{{0}}})
int multi_has(const ts_vector *v, int p);

/* ---- multi_scalars.c: part p of slots and of a coefficient ---- */
typedef struct multi_slots {
  ts_scalars parts[2];
} multi_slots;
/* From now on, the host reads these slots from part p. Only that part has the iteration counts if other parts
 * have no rows. */
void multi_read_from(ts_scalars *s, int p);
ts_scalars *multi_local_scalars(const ts_scalars *s, int p, multi_slots *view);
ts_coefficient multi_coefficient(ts_coefficient c, int p, multi_slots *numerator, multi_slots *denominator);
#define COEFFICIENT(c) multi_coefficient(c, p, &(multi_slots){{{0}}}, &(multi_slots){{{0}}})

/* ---- multi_levels.c ---- */
extern const tsi_ranks_ops multi_ranks_ops;

/* ---- multi_halo.c ---- */
/* Determines the ghosts of each part: its rows are those of csr in `rows`, and columns are distributed as in
 * `columns`. */
ts_status multi_halo_create(const tsi_host_csr *csr, const multi_space *rows, const ts_space *columns,
                            multi_halo **out);
/* Creates a halo of these ghosts of each part. Takes ownership of the arrays places[p], allocated by
 * tsi_malloc; those that remain after a failure belong to the caller. */
ts_status multi_halo_take(const ts_space *columns, int32_t **places, const int32_t *starts,
                          const int32_t *ghosts, multi_halo **out);
void multi_halo_destroy(ts_context *context, multi_halo *halo);
/* Makes room for the ghosts in the vectors of the column space if it has none yet, otherwise in copies. */
ts_status multi_halo_make_room(multi_halo *halo, const multi_space *rows, const ts_space *columns);
/* The column space of part p. */
ts_space *multi_halo_columns(const multi_halo *halo, const multi_space *columns, int p);
/* The index of the ghost at a position. */
int32_t multi_ghost(const multi_halo *halo, int p, int32_t position);

/* ---- multi_matrix.c ---- */
/* Makes a matrix of the matrices of the parts, `local`, and its halo. It owns the halo, also after a failure,
 * and after a success the parts' matrices unless `is_view`. */
ts_status multi_matrix_join(ts_space *rows, ts_space *columns, ts_matrix *const *local, multi_halo *halo,
                            int is_view, ts_matrix **matrix);

/* ---- multi_exchange.c ---- */
void multi_message_destroy(ts_context *part, multi_exchange *e);
/* Orders all earlier work on any part before all later work on any part. */
ts_status multi_join(ts_context *context);
/* Exchange the ghosts of x's first part. The first begins. The second waits until they have arrived and must be
 * called even after a failure. In between, x must not be changed, and rows that need no ghosts may be
 * computed. */
ts_status multi_begin_ghosts(multi_halo *halo, const ts_vector *x);
ts_status multi_end_ghosts(multi_halo *halo, const ts_vector *x);
/* Exchanges the ghosts of `parts` parts of x, 1 or 2. */
ts_status multi_exchange_ghosts(multi_halo *halo, const ts_vector *x, int parts);
/* Part p of x with its ghosts. */
ts_vector *multi_with_ghosts(const multi_halo *halo, const ts_vector *x, int p, multi_view *view);

/* ---- multi_product.c: operations of matrix kinds, as in backend.h ---- */
TSI_MATRIX_OPERATIONS(TSI_PROTOTYPE, multi_)
ts_status multi_quick_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x);
ts_status multi_smooth(ts_vector *out, const ts_matrix *A, const tsi_smoothing *s);

/* ---- multi_channel.c ---- */
/* Called when the context is opened. */
ts_status multi_channel_open(ts_context *context);
/* With `finishes`, all ranks close it together; otherwise it is aborted at once. */
void multi_channel_close(ts_context *context, int finishes);
/* Sets has_channel in exchanges between ranks if all ranks want that. All ranks must call this. */
ts_status multi_channel_choose(ts_context *context, multi_exchange *exchanges, int count);
/* Whether a failure in this epoch may have left messages in the channel. */
int multi_channel_is_spoilt(const ts_context *context);
/* All ranks close the channel and open a new one if possible. */
void multi_channel_renew(ts_context *context);
/* Describes the transfer of ghosts between ranks, such as ", ghosts by NCCL 2.27.3"; "" if the parts use host
 * memory. */
void multi_ghosts_describe(const ts_context *context, char *text, size_t size);

/* ---- multi_rows.c ---- */
/* Checks the number of rows and that their offsets ascend. */
/* ts_ranks_matrix_desc with its arrays on the host. */
typedef struct tsi_ranks_matrix_desc {
  int32_t rows;
  const int32_t *row_offsets;
  const int64_t *column_indices;
  const float *values; /* at most one of the two */
  const double *double_values;
  ts_format format;
  int keep_host_copy;
  ts_precision precision;
  int components;
  int may_move;
} tsi_ranks_matrix_desc;
ts_status multi_rows_given(ts_context *context, const ts_ranks_matrix_desc *given, tsi_loans *loans,
                           tsi_ranks_matrix_desc *desc);
ts_status multi_create_matrix(ts_context *context, const tsi_ranks_matrix_desc *desc, ts_matrix **matrix);
ts_status multi_set_values(ts_matrix *A, const tsi_ranks_matrix_desc *desc);
ts_status multi_check_offsets(ts_context *context, const tsi_ranks_matrix_desc *desc);
/* Checks that these columns exist on the ranks. */
ts_status multi_check_columns(ts_context *context, const tsi_ranks_matrix_desc *desc, int64_t rows);
/* Numbers the columns in the space of the rows, in memory of tsi_malloc. A column that the space lacks is
 * -1. */
ts_status multi_number_columns(const ts_space *space, const tsi_ranks_matrix_desc *desc, int32_t **numbers);
/* Merges tsi_exponents. */
void multi_merge_exponents(void *mine, const void *other);
/* The rows of this rank times 2^-exponent, with an exponent common to all ranks: tsi_csr_scale. */
ts_status multi_scale_rows(ts_context *context, const tsi_csr *csr, int *exponent, int *loses_digits,
                           tsi_csr *scaled, void **memory);

/* ---- multi_inspect.c ---- */
/* Merges the facts about these rows over all ranks into A's. `block` receives the entries in this rank's own
 * columns. `ghosts`, unless NULL, receives those in columns of others, counted from 0. The caller owns both. */
ts_status multi_inspect(ts_matrix *A, const tsi_csr *csr, tsi_host_csr *block, tsi_host_csr *ghosts);

/* ---- multi_low_parts.c ---- */
/* Gives all ranks the maximum number of low-order parts of any rank. csr has A's rows. */
ts_status multi_even_low_parts(ts_matrix *A, const tsi_csr *csr);

/* ---- multi_cg.c ---- */
extern const tsi_cg_ops multi_cg_ops, multi_cg_ops_of_ranks; /* the second one for several processes */
/* Fails if a part has aborted its iterations. Call it after the host has waited for their results. */
ts_status multi_check_run(ts_context *context);

/* ---- multi_amg.c ---- */
extern const tsi_amg_ops multi_amg_ops;

/* ---- The operations, as in backend.h ---- */
TSI_CORE_OPERATIONS(TSI_PROTOTYPE, TSI_PROTOTYPE, TSI_PROTOTYPE, multi_)

#endif
