/* Operations of a backend that acts as a part of a larger one: the table tsi_ops.part. A part of a vector has
 * room after its elements for its ghosts: elements of other parts that a product reads (ts_space.ghosts). */
#ifndef TSI_PART_H
#define TSI_PART_H

#include "common/krylov/cg_operations.h"

enum { MULTI_MOST_PARTS = 64, TSI_CHANNEL_BYTES = 128 };

/* look(whole) fails if another rank has failed or is gone. whole->error contains the reason. */
typedef struct tsi_watch {
  ts_status (*look)(ts_context *whole);
  ts_context *whole;
} tsi_watch;

/* Elements of a part that are ghosts of another part. `list` selects them. The pointers are the first ghost in
 * the other part's e, d, r, q and m of conjugate gradients (m is NULL if unused). */
typedef struct tsi_part_push {
  const void *list;
  float *e, *d, *r, *q, *m;
} tsi_part_push;

/* Arguments of one part for conjugate gradient iterations that several parts run together. */
typedef struct tsi_part_cg {
  void *const *peers; /* of all parts that have rows, in order */
  int number, count;  /* index of this part, and number of parts */
  const tsi_part_push *pushes;
  int push_count;
  int32_t ghosts;       /* of this part */
  uint32_t run;         /* starts at 1 and increases by one per run */
  uint32_t first_round; /* 1 + the maximum number of rounds of earlier runs; see tsi_part_rounds */
  double wait_seconds;  /* maximum wait for another part */
} tsi_part_cg;

/* The number of rounds, in which all parts wait for each other: one before the first iteration, and two per
 * iteration. */
static inline uint32_t tsi_part_rounds(const tsi_cg_iterations *run) {
  return 1 + 2 * (uint32_t)run->count;
}

/* clang-format off */
#define TSI_PART_OPERATIONS(REQUIRED, OPTIONAL, prefix)                                                        \
  /* Keeps indices of a space of `size` that another part needs, each once, where gather reads them. If        \
   * `indices` is NULL, they are the `count` ones from `first` on. */                                          \
  REQUIRED(prefix, ts_status, list_create,                                                                     \
           (ts_context *context, const int32_t *indices, int32_t first, int32_t count, int32_t size,           \
            void **list))                                                                                      \
  REQUIRED(prefix, void, list_destroy, (ts_context *context, void *list))                                      \
  /* The first float of x's ghosts. */                                                                         \
  REQUIRED(prefix, float *, ghosts, (const ts_vector *x))                                                      \
  /* The components of x at the indices of a list, one after the other, from `to` on: ghosts of another part,  \
   * or memory of the host. */                                                                                 \
  REQUIRED(prefix, ts_status, gather, (const ts_vector *x, const void *list, float *to))                       \
  /* Memory that gather may write to, of the host, or of the device for a transport that takes it; and a copy  \
   * from it to x's ghosts from `first` on, `count` floats, which nothing uses that was asked for since the    \
   * last mark. NULL: all memory is the host's. */                                                             \
  OPTIONAL(prefix, ts_status, message_create,                                                                  \
           (ts_context *context, size_t bytes, int on_device, void **message))                                 \
  OPTIONAL(prefix, void, message_destroy, (ts_context *context, void *message, int on_device))                 \
  OPTIONAL(prefix, ts_status, ghosts_write,                                                                    \
           (const ts_vector *x, size_t first, size_t count, const float *message))                             \
  /* A channel of one part of each rank; all of these or none. channel_find fails where there can be none, and \
   * makes the number of a new one unless that is NULL. channel_open is called by all ranks with the number of \
   * one of them; where it fails it leaves nothing behind. Messages between memory of the devices, what        \
   * message_create gave or ghosts, are then carried in the order of the part's operations. Whoever waits for  \
   * them asks `watch` from time to time, and breaks the channel where that fails: all messages fail then.     \
   * channel_close waits for the other ranks if it `finishes`. */                                              \
  OPTIONAL(prefix, ts_status, channel_find, (ts_context *context, unsigned char *number))                      \
  OPTIONAL(prefix, ts_status, channel_open,                                                                    \
           (ts_context *context, int rank, int ranks, const unsigned char *number, const tsi_watch *watch))    \
  OPTIONAL(prefix, ts_status, channel_exchange, (ts_context *context, const ts_message *messages, int count))  \
  /* As combine, in the order of the ranks and with the same numbers on all: out[index[k]] = what slot         \
   * `slot` + k of the ranks' sums is together, in the order of the part's operations. */                      \
  OPTIONAL(prefix, ts_status, channel_combine,                                                                 \
           (ts_scalars *out, const  int *index, int count, tsi_reduction kind, int components, int pair,       \
            ts_scalars *sums, int slot))                                                                       \
  OPTIONAL(prefix, int, channel_is_broken, (const ts_context *context))                                        \
  OPTIONAL(prefix, void, channel_close, (ts_context *context, int finishes))                                   \
  OPTIONAL(prefix, void, channel_describe, (const ts_context *context, char *text, size_t size))               \
  /* All that was asked for on one of the parts until now comes before all that is asked for later on any.     \
   * NULL: operations are done when they return. */                                                            \
  OPTIONAL(prefix, ts_status, join, (ts_context *const *parts, int count))                                     \
  /* Marks how far the part's operations have been asked for; and waits until those are done, whatever has     \
   * been asked for since. NULL: operations are done when they return. */                                      \
  OPTIONAL(prefix, ts_status, mark, (ts_context *context))                                                     \
  OPTIONAL(prefix, ts_status, wait_for_mark, (ts_context *context))                                            \
  /* Before anything else, for each pair of parts: operations of `from` may write memory of `to`. */           \
  OPTIONAL(prefix, ts_status, connect, (ts_context *from, const ts_context *to))                               \
  /* out[index] = what the slots of `sums` are together, of those parts that have some of the vector, after a  \
   * join. NULL: the host does it. */                                                                          \
  OPTIONAL(prefix, ts_status, combine,                                                                         \
           (ts_scalars *out, int index, tsi_reduction kind, int components, int pair, ts_scalars *const *sums, \
            int count, int slot))                                                                              \
  /* Iterations of conjugate gradients that several parts carry out by themselves, with matrices that          \
   * tsi_cg_ops.fits; all of these or none. `peers`: what a part keeps for them. */                            \
  OPTIONAL(prefix, ts_status, peers_create, (ts_context *context, void **peers))                               \
  OPTIONAL(prefix, void, peers_destroy, (ts_context *context, void *peers))                                    \
  /* What was said in rounds before is forgotten: their numbers begin again. Before a join. */                 \
  OPTIONAL(prefix, ts_status, peers_clear, (ts_context *context, void *peers))                                 \
  /* Whether these parts can run at the same time. */                                                          \
  OPTIONAL(prefix, int, cg_fits, (void *const *peers, int count))                                              \
  /* As tsi_cg_ops.iterate: after a join, first prepare for each part, then start for each. Between the starts \
   * nothing may wait for a device. All parts come to the same numbers in their slots. */                      \
  OPTIONAL(prefix, ts_status, cg_prepare, (const tsi_cg_iterations *run, const tsi_part_cg *with))             \
  OPTIONAL(prefix, ts_status, cg_start, (void *peers))                                                         \
  /* Where a run was given up, as far as is known: 1 + the number among its parts of one that did not answer   \
   * this one in time, or -1 where another part gave it up first; else 0. Then forgets it. */                  \
  OPTIONAL(prefix, int, cg_silent, (void *peers))
/* clang-format on */

struct tsi_part_ops {
  TSI_PART_OPERATIONS(TSI_FIELD, TSI_FIELD, )
  /* Whether A has enough interior rows, and its products can skip rows (ts_matrix.rows). NULL: no. */
  int (*has_interior)(const ts_matrix *A);
};

#endif
