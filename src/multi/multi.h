/* The multi backend: several contexts of one kind work as one, each on a part of every vector and matrix.
 *
 * "multi:cpu+cpu" has two parts. The first matrix over a space decides which part has which indices, and so
 * rows (common/partition): contiguous blocks with about as many entries, or, where they need far less of each
 * other, METIS's parts. A part of a matrix is a ts_matrix of the part's own context, whose columns are the
 * part's own indices, and behind them its ghosts: the indices of other parts that its rows refer to. A product
 * first brings the ghosts, then multiplies part by part. Everything component-wise is local. A reduction is one
 * of each part, and their sum in the order of the parts, in double, which goes back into the slots of all
 * parts: all have the same numbers at all times.
 *
 * A part that has no indices of a space has no objects for it, and takes part in scalars only.
 *
 *   multi_backend.c    names, opening, closing, the table
 *   multi_space.c      who owns which indices
 *   multi_vector.c     vectors and their component-wise operations
 *   multi_scalars.c    slots, reductions
 *   multi_halo.c       which indices a part needs of others, and their exchange
 *   multi_matrix.c     cutting a matrix; products */
#ifndef MULTI_H
#define MULTI_H

#include "common/core/core.h"
#include "common/layout/layout.h"
#include "part.h"

typedef struct multi_state {
  int count;
  ts_context *parts[MULTI_MOST_PARTS];
  ts_scalars *sums[MULTI_MOST_PARTS]; /* what each part adds to a reduction: two slots, with low parts */
  int turn;                           /* the slot of the next one: parts may still read the last one's */
  size_t own_bytes;                   /* of device memory, of the parts' own */
  tsi_ops table;                      /* of the operations that all parts have */
} multi_state;

/* Positions are indices in the order of the parts, in which part p has first[p] .. first[p + 1] - 1. Within a
 * part both ascend. */
typedef struct multi_space {
  ts_space **local;        /* of each part, NULL where it has no indices */
  int32_t *first;          /* parts + 1 */
  int32_t *order, *places; /* the index at a position, and the position of an index; NULL: they are the same */
  char choice[160];        /* why the parts are these */
} multi_space;

static inline int32_t multi_index(const multi_space *s, int32_t position) {
  return s->order ? s->order[position] : position;
}
static inline int32_t multi_position(const multi_space *s, int32_t index) {
  return s->places ? s->places[index] : index;
}

/* The ghosts of one part that another one has. */
typedef struct multi_exchange {
  int from, to;
  int32_t first, count; /* ghosts of `to` */
  void *list;           /* of `from` */
} multi_exchange;

typedef struct multi_halo {
  int32_t *ghosts;  /* of each part */
  int32_t **places; /* of each part: the positions of its ghosts, ascending */
  multi_exchange *exchanges;
  int exchange_count;
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
static inline ts_context *multi_part(const ts_context *context, int p) {
  return multi_state_of(context)->parts[p];
}
static inline const tsi_ops *multi_ops_of(const ts_context *context, int p) {
  return multi_part(context, p)->ops;
}

/* ---- multi_backend.c ---- */
/* Before and after an operation of part p. The second one hands its failure to the context, with the part's
 * name. */
ts_status multi_begin(ts_context *context, int p);
ts_status multi_end(ts_context *context, int p, ts_status status);
/* The second half of that, after a public function. */
ts_status multi_report(ts_context *context, int p, ts_status status);
/* The device memory of all parts is the context's. */
void multi_account(ts_context *context);

/* Runs `call` on part p, or leaves the function with its failure. */
#define MULTI_TRY(context, p, call)                                                                            \
  do {                                                                                                         \
    ts_status multi_status_ = multi_begin(context, p);                                                         \
    if (multi_status_ == TS_OK) multi_status_ = multi_end(context, p, call);                                   \
    if (multi_status_ < 0) return multi_status_;                                                               \
  } while (0)

/* ---- multi_space.c ---- */
/* Who owns the indices; decided where it is first asked for: by a partition of the rows of `csr`, or with NULL
 * in blocks of one size. */
ts_status multi_space_of(ts_space *space, const tsi_host_csr *csr, multi_space **out);
/* A space for a part, of the indices at positions `first` .. `first + size - 1`. */
ts_status multi_space_create_part(const ts_space *space, const multi_space *s, ts_context *part, int32_t first,
                                  int32_t size, ts_space **local);
/* The part that has a position. */
int multi_owner(const multi_space *s, int parts, int32_t position);

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
ts_scalars *multi_local_scalars(const ts_scalars *s, int p, multi_slots *view);
ts_coefficient multi_coefficient(ts_coefficient c, int p, multi_slots *numerator, multi_slots *denominator);
#define COEFFICIENT(c) multi_coefficient(c, p, &(multi_slots){{{0}}}, &(multi_slots){{{0}}})

/* ---- multi_halo.c ---- */
/* Of the rows of csr that each part of `rows` has, and columns that are spread as `columns`. */
ts_status multi_halo_create(ts_context *context, const tsi_host_csr *csr, const multi_space *rows,
                            const multi_space *columns, multi_halo **out);
void multi_halo_destroy(ts_context *context, multi_halo *halo);
/* Room for the ghosts in the vectors of the column space where it has none yet, or in copies. */
ts_status multi_halo_make_room(multi_halo *halo, const multi_space *rows, const ts_space *columns);
/* The space of the columns of part p. */
ts_space *multi_halo_columns(const multi_halo *halo, const multi_space *columns, int p);
/* The number of the ghost at a position. */
int32_t multi_ghost(const multi_halo *halo, int p, int32_t position);
/* Brings the ghosts of `parts` parts of x, 1 or 2. */
ts_status multi_exchange_ghosts(const multi_halo *halo, const ts_vector *x, int parts);
/* Part p of x with its ghosts. */
ts_vector *multi_with_ghosts(const multi_halo *halo, const ts_vector *x, int p, multi_view *view);

/* ---- The operations, as in backend.h ---- */
TSI_CORE_OPERATIONS(TSI_PROTOTYPE, TSI_PROTOTYPE, TSI_PROTOTYPE, multi_)

#endif
