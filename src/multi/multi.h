/* The multi backend: several contexts of one kind work as one, each on a part of every vector and matrix.
 *
 * "multi:cpu+cpu" has two parts. The first matrix over a space decides which part has which indices, and so
 * rows (common/partition): contiguous blocks with about as many entries, or, where they need far less of each
 * other, METIS's parts. A part of a matrix is a ts_matrix of the part's own context, whose columns are the
 * part's own indices, and behind them its ghosts: the indices of other parts that its rows refer to. A product
 * first brings the ghosts, then multiplies part by part; while those of other ranks are on their way it
 * computes rows that need none. Everything component-wise is local. A reduction is one of each part, and their
 * sum in the order of the parts, in double, which goes back into the slots of all parts: all have the same
 * numbers at all times.
 *
 * A part that has no indices of a space has no objects for it, and takes part in scalars only.
 *
 * Parts may be on several ranks, processes that a transport joins (texsolve/ranks.h): each rank opens as many,
 * and of those of others it has no contexts. Ghosts of another rank's part come as messages, through the host
 * or from device memory, or by NCCL; sums go from rank to rank.
 * A space is whole, known to all ranks, of which each keeps its parts' elements; or it is made of rows that
 * each rank has by itself: then the space's size is this rank's, its parts are cut from that, and columns of
 * other ranks have the numbers behind tsi_first_ghost, like a part's ghosts.
 *
 *   multi_backend.c    names, opening, closing, the table
 *   multi_ranks.c      messages, sums over the ranks, agreement on errors
 *   multi_space.c      who owns which indices
 *   multi_vector.c     vectors and their component-wise operations
 *   multi_scalars.c    slots, reductions
 *   multi_halo.c       which indices a part needs of others
 *   multi_exchange.c   their exchange
 *   multi_channel.c    NCCL, which carries them and sums between devices
 *   multi_matrix.c     cutting a matrix
 *   multi_product.c    products
 *   multi_cg.c         iterations of conjugate gradients by the parts themselves
 *   multi_rows.c       matrices from the rows of each rank
 *   multi_inspect.c    what is known of the whole
 *   multi_rests.c      their double values beyond floats
 *   multi_values.c     their new values
 *   multi_levels.c     what matrices of their levels need (common/core/ranks.h)
 *   multi_whole.c      the same from a matrix that one rank holds; whole vectors
 *   multi_move.c       rows that PT-Scotch moves to other ranks, by multi_graph.c
 *   multi_given.c      vectors in the order of the rows before they moved */
#ifndef MULTI_H
#define MULTI_H

#include "common/core/array.h"
#include "common/core/core.h"
#include "common/core/ranks.h"
#include "common/layout/layout.h"
#include "part.h"

/* Messages belong to an epoch, which ends where the ranks agree on the status of what they did together. Before
 * that they may call what communicates without agreeing, products and sums, which is counted. */
typedef struct multi_ranks {
  ts_transport transport;
  int epoch;
  int calls;       /* of this epoch, the running one included */
  int failed_call; /* the first of them that has failed here; 0: none */
  int stopped;     /* a rank has failed in this epoch: this one has told, */
  int heard;       /* or was told */
  char why[256];   /* another rank is gone; "" while all are there */
} multi_ranks;

/* The number ghost_transfer:
 *   host      page-locked memory
 *   device    memory of the device if the transport takes it, else the host's
 *   channel   the channel, else as device
 *   best      as device if the transport takes memory of the device, else as channel */
enum { MULTI_TRANSFER_HOST = 1, MULTI_TRANSFER_DEVICE, MULTI_TRANSFER_CHANNEL, MULTI_TRANSFER_BEST };

/* Of all ranks (multi_channel.c). */
typedef struct multi_channel {
  int was_tried, is_open;
  int is_used;  /* in this epoch */
  char why[96]; /* it could not be opened */
} multi_channel;

typedef struct multi_state {
  int count;          /* of the parts of all ranks */
  int first, own;     /* this rank's */
  multi_ranks *ranks; /* NULL: one process */
  ts_context **parts; /* NULL: another rank's */
  ts_scalars **sums;  /* what each part adds to a reduction: twice TSI_MAX_DOTS slots, with low parts */
  int turn;           /* the slots of the next one: parts may still read the last one's */
  size_t own_bytes;   /* of device memory, of the parts' own */
  multi_channel channel;
  tsi_ops table; /* of the operations that all parts have */
  /* Of runs of iterations that the parts carry out together, in one process: what each knows of the others, how
   * many there were, with how many rounds since the peers were cleared, and of the last one its parts by number
   * and how long they wait for each other. */
  void *peers[MULTI_MOST_PARTS];
  uint32_t runs, rounds;
  int run_parts[MULTI_MOST_PARTS];
  double wait_seconds;
} multi_state;

/* Positions are indices in the order of the parts, in which part p has first[p] .. first[p + 1] - 1. Within a
 * part both ascend. */
typedef struct multi_space {
  ts_space **local;        /* of each part, NULL where it has no indices */
  int32_t *first;          /* parts + 1 */
  int32_t *order, *places; /* the index at a position, and the position of an index; NULL: they are the same */
  char choice[160];        /* why the parts are these */
  struct multi_rows *rows; /* of ranks that have rows by themselves; NULL: the space is whole */
} multi_space;

/* Who has which rows of all ranks. */
typedef struct multi_rows {
  int64_t *first;  /* of each part, and of the end */
  int64_t *ghosts; /* columns of other ranks that this one's rows refer to, ascending */
  int64_t all_nonzeros;
  int32_t ghost_count;
  int32_t *order; /* the root's: the row of its matrix at each place of all; NULL: they are the same */
  struct multi_given *given; /* NULL: the rows are where they were given */
} multi_rows;

/* Of whatever rank. */
static inline int multi_has_rows(const multi_space *s, int p) {
  return s->rows ? s->rows->first[p + 1] > s->rows->first[p] : s->first[p + 1] > s->first[p];
}

static inline int32_t multi_index(const multi_space *s, int32_t position) {
  return s->order ? s->order[position] : position;
}
static inline int32_t multi_position(const multi_space *s, int32_t index) {
  return s->places ? s->places[index] : index;
}

/* The ghosts of one part that another one has. */
typedef struct multi_exchange {
  int from, to;         /* one of them at least is this rank's */
  int32_t first, count; /* ghosts of `to` */
  void *list;           /* of `from`, NULL if that is another rank's */
  float *message;       /* to or from another rank, so many floats; NULL before it is needed */
  size_t floats;
  int on_device;             /* where the message is */
  unsigned char has_channel; /* it may go by the channel of the ranks, while there is one */
} multi_exchange;

typedef struct multi_halo {
  int32_t *ghosts;           /* of each part */
  int32_t **places;          /* of each part: the positions of its ghosts, ascending */
  multi_exchange *exchanges; /* those from one rank to another are in the same order on both */
  int exchange_count;
  int remote;           /* how many are with other ranks */
  ts_message *messages; /* twice as many */
  /* Between multi_begin_ghosts and multi_end_ghosts: whether there are messages, how many, and their batch. */
  int is_begun, message_count;
  void *batch;
  /* Where vectors have no room for so many ghosts: the space of copies that have, NULL elsewhere; and copies of
   * x and of its low part. */
  ts_space **extended;
  ts_vector **copies[2];
} multi_halo;

typedef struct multi_matrix {
  ts_matrix **local; /* of each part; NULL where it has no rows */
  multi_halo *halo;
  int is_rest; /* all of this but the array is another matrix's */
} multi_matrix;

static inline multi_state *multi_state_of(const ts_context *context) {
  return context->backend;
}
static inline int multi_count(const ts_context *context) {
  return multi_state_of(context)->count;
}
/* NULL: another rank's. */
static inline ts_context *multi_part(const ts_context *context, int p) {
  return multi_state_of(context)->parts[p];
}
static inline const tsi_ops *multi_ops_of(const ts_context *context, int p) {
  return multi_part(context, p)->ops;
}

/* This rank's first one. */
static inline int64_t multi_first_row(const ts_context *context, const multi_rows *rows) {
  return rows->first[multi_state_of(context)->first];
}

/* ---- multi_backend.c ---- */
/* Before and after an operation of part p. The second one hands its failure to the context, with the part's
 * name. */
ts_status multi_begin(ts_context *context, int p);
ts_status multi_end(ts_context *context, int p, ts_status status);
/* The second half of that, after a public function. */
ts_status multi_report(ts_context *context, int p, ts_status status);
/* What the driver is, and how ranks reach each other. */
void multi_describe_driver(ts_context *context);
/* The device memory of all parts is the context's. */
void multi_account(ts_context *context);

/* Runs `call` on part p, or leaves the function with its failure. */
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
/* Takes over the transport; this rank then fails by multi_agree only. */
ts_status multi_ranks_open(ts_context *context, tsi_opening *opening, multi_ranks **ranks);
void multi_ranks_close(ts_context *context, multi_ranks *ranks);
/* Begins to send and receive, and waits until all is there. */
ts_status multi_begin_messages(ts_context *context, const ts_message *messages, int count, void **batch);
ts_status multi_end_messages(ts_context *context, void *batch);
/* Both. */
ts_status multi_exchange_messages(ts_context *context, const ts_message *messages, int count);
/* merge(mine, other): both ranks of a pair get the same bits. */
typedef void (*multi_merge)(void *mine, const void *other);
/* `data`, at most 1024 bytes, becomes what all ranks' are together, the same bits on all. */
ts_status multi_merge_ranks(ts_context *context, void *data, size_t bytes, multi_merge merge);
/* `all` becomes the `bytes` of each rank, in their order. */
ts_status multi_collect(ts_context *context, const void *mine, size_t bytes, void *all);
typedef tsi_parcels multi_parcels;
ts_status multi_parcels_create(ts_context *context, multi_parcels *parcels);
void multi_parcels_destroy(ts_context *context, multi_parcels *parcels);
/* out[rank] gets room for out_bytes[rank], which become 0. */
ts_status multi_parcels_allocate(ts_context *context, multi_parcels *parcels);
/* Sends `out` and fills in `in`. */
ts_status multi_parcels_exchange(ts_context *context, multi_parcels *parcels);
ts_status multi_agree(ts_context *context, ts_status status);
/* Around what all ranks call and do not agree on. */
void multi_begin_call(ts_context *context);
ts_status multi_end_call(ts_context *context, ts_status status);
/* Without waiting: fails where another rank has failed or is gone. */
ts_status multi_look(ts_context *context);
/* Of a public function: there are ranks, and this is one of them. */
ts_status multi_check_root(ts_context *context, int root);

/* ---- multi_space.c ---- */
/* Who owns the indices; decided where it is first asked for: by a partition of the rows of `csr`, or with NULL
 * in blocks of one size. */
ts_status multi_space_of(ts_space *space, const tsi_host_csr *csr, multi_space **out);
/* A space for a part, of the indices at positions `first` .. `first + size - 1`. */
ts_status multi_space_create_part(const ts_space *space, const multi_space *s, ts_context *part, int32_t first,
                                  int32_t size, ts_space **local);
/* A space whose indices are this rank's own; takes `rows` over, also on failure. */
ts_status multi_space_of_rows(ts_space *space, multi_rows *rows);
void multi_rows_destroy(ts_context *context, multi_rows *rows);
/* The part that has a position, a column of another rank's included. */
int multi_owner(const ts_space *space, int32_t position);
/* The last part whose first row is at most this one. */
int multi_owner_of_row(const multi_rows *rows, int parts, int64_t row);

/* ---- multi_vector.c: part p of a vector with all that is below it; NULL where the part has none ---- */
typedef struct multi_view {
  ts_vector parts[3];
} multi_view;
ts_vector *multi_local(const ts_vector *v, int p, multi_view *view);
#define LOCAL(v) multi_local(v, p, &(multi_view){{{0}}})
int multi_has(const ts_vector *v, int p);

/* ---- multi_scalars.c: the same of slots, and of a coefficient ---- */
typedef struct multi_slots {
  ts_scalars parts[2];
} multi_slots;
/* From now on the host reads these slots from part p: the only ones with numbers of iterations in them, where
 * others have no rows. */
void multi_read_from(ts_scalars *s, int p);
ts_scalars *multi_local_scalars(const ts_scalars *s, int p, multi_slots *view);
ts_coefficient multi_coefficient(ts_coefficient c, int p, multi_slots *numerator, multi_slots *denominator);
#define COEFFICIENT(c) multi_coefficient(c, p, &(multi_slots){{{0}}}, &(multi_slots){{{0}}})

/* ---- multi_levels.c ---- */
extern const tsi_ranks_ops multi_ranks_ops;

/* ---- multi_halo.c ---- */
/* Of the rows of csr that each part of `rows` has, and columns that are spread as `columns`. */
ts_status multi_halo_create(const tsi_host_csr *csr, const multi_space *rows, const ts_space *columns,
                            multi_halo **out);
void multi_halo_destroy(ts_context *context, multi_halo *halo);
/* Room for the ghosts in the vectors of the column space where it has none yet, or in copies. */
ts_status multi_halo_make_room(multi_halo *halo, const multi_space *rows, const ts_space *columns);
/* The space of the columns of part p. */
ts_space *multi_halo_columns(const multi_halo *halo, const multi_space *columns, int p);
/* The number of the ghost at a position. */
int32_t multi_ghost(const multi_halo *halo, int p, int32_t position);

/* ---- multi_exchange.c ---- */
void multi_message_destroy(ts_context *part, multi_exchange *e);
/* All that was asked for on a part until now comes before all that is asked for later on any. */
ts_status multi_join(ts_context *context);
/* Brings the ghosts of x's first part: begins to, and after that, whatever else failed, waits until they are
 * there. Meanwhile x is left alone and rows that need none of them may be computed. */
ts_status multi_begin_ghosts(multi_halo *halo, const ts_vector *x);
ts_status multi_end_ghosts(multi_halo *halo, const ts_vector *x);
/* Brings those of `parts` parts, 1 or 2. */
ts_status multi_exchange_ghosts(multi_halo *halo, const ts_vector *x, int parts);
/* Part p of x with its ghosts. */
ts_vector *multi_with_ghosts(const multi_halo *halo, const ts_vector *x, int p, multi_view *view);

/* ---- multi_product.c: of kinds of matrix, as in backend.h ---- */
TSI_MATRIX_OPERATIONS(TSI_PROTOTYPE, multi_)
ts_status multi_quick_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x);
ts_status multi_smooth(ts_vector *out, const ts_matrix *A, const tsi_smoothing *s);

/* ---- multi_channel.c ---- */
/* With the context. */
ts_status multi_channel_open(ts_context *context);
/* With `finishes`, all ranks do it; else at once. */
void multi_channel_close(ts_context *context, int finishes);
/* Exchanges between ranks get has_channel if all ranks want that. All ranks call it. */
ts_status multi_channel_choose(ts_context *context, multi_exchange *exchanges, int count);
/* A failure in this epoch may have left messages in it. */
int multi_channel_is_spoilt(const ts_context *context);
/* All ranks give it up and open another one, if they can. */
void multi_channel_renew(ts_context *context);
/* How ghosts get from rank to rank, such as ", ghosts by NCCL 2.27.3"; "" if memory of the parts is the host's.
 */
void multi_ghosts_describe(const ts_context *context, char *text, size_t size);

/* ---- multi_rows.c ---- */
/* How many rows, and that their offsets ascend. */
/* ts_ranks_matrix_desc with its arrays on the host. */
typedef struct tsi_ranks_matrix_desc {
  int32_t rows;
  const int32_t *row_offsets;
  const int64_t *column_indices;
  const float *values; /* one of the two, or none */
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
/* That all ranks together have those columns. */
ts_status multi_check_columns(ts_context *context, const tsi_ranks_matrix_desc *desc, int64_t rows);
/* The numbers of the columns in the space of the rows, memory of tsi_malloc; -1 of one that it does not have.
 */
ts_status multi_number_columns(const ts_space *space, const tsi_ranks_matrix_desc *desc, int32_t **numbers);
/* Of tsi_exponents. */
void multi_merge_exponents(void *mine, const void *other);
/* The rows of this rank times 2^-exponent, which all ranks agree on: tsi_csr_scale. */
ts_status multi_scale_rows(ts_context *context, const tsi_csr *csr, int *exponent, int *loses_digits,
                           tsi_csr *scaled, void **memory);

/* ---- multi_inspect.c ---- */
/* What all ranks say of these rows becomes what A says. `block` becomes the entries in columns of this rank's
 * own and `ghosts`, unless NULL, those in columns of others, counted from 0; both are the caller's. */
ts_status multi_inspect(ts_matrix *A, const tsi_csr *csr, tsi_host_csr *block, tsi_host_csr *ghosts);

/* ---- multi_rests.c ---- */
/* All ranks have as many rests as the one that has most; csr has A's rows. */
ts_status multi_even_rests(ts_matrix *A, const tsi_csr *csr);

/* ---- multi_cg.c ---- */
extern const tsi_cg_ops multi_cg_ops, multi_cg_ops_of_ranks; /* the second one of several processes */
/* Fails where a part has given up its iterations: after the host has waited for what they lead to. */
ts_status multi_check_run(ts_context *context);

/* ---- The operations, as in backend.h ---- */
TSI_CORE_OPERATIONS(TSI_PROTOTYPE, TSI_PROTOTYPE, TSI_PROTOTYPE, multi_)

#endif
