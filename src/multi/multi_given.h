/* Rows that have moved from the ranks that passed them in to other ranks. */
#ifndef MULTI_GIVEN_H
#define MULTI_GIVEN_H

#include "multi.h"

/* A rank sorts its rows by the rank that passed them in, and keeps the order within each of these. */
typedef struct multi_given {
  int64_t *first;   /* the first row that each rank passed in, and the end */
  int32_t *rank_of; /* per row that this rank passed in: its new rank */
  int64_t *from;    /* of this rank's rows: the first from each source rank, and the end */
  int64_t *rows;    /* the original numbers of those rows */
} multi_given;

/* ---- multi_graph.c ---- */

/* The rows that this rank passed in, as vertices of a graph: A + A^T without its diagonal. */
typedef struct multi_graph {
  const tsi_ranks_matrix_desc *desc;
  int64_t *first; /* first vertex of each rank, and the end */
  int32_t *offsets, *weights;
  int64_t *neighbours; /* of a vertex: ascending and unique */
  int64_t *others;     /* those on other ranks, ascending and unique */
  int32_t other_count;
} multi_graph;

ts_status multi_graph_create(ts_context *context, const tsi_ranks_matrix_desc *desc, multi_graph *graph);
void multi_graph_free(ts_context *context, multi_graph *graph);
/* answers[k] = the value of vertex others[k] in its rank's `mine`, which has one number per vertex. */
ts_status multi_graph_ask(ts_context *context, const multi_graph *graph, const int64_t *mine, int64_t *answers);
/* The index of another rank's vertex in `others`. */
int32_t multi_graph_other(const multi_graph *graph, int64_t vertex);

/* ---- multi_move.c ---- */

/* A matrix's rows after the move, in separate memory if they have moved. */
typedef struct multi_moved {
  tsi_ranks_matrix_desc desc;
  void *block;        /* that memory */
  multi_given *given; /* NULL: no row has moved */
  char choice[160];   /* "" if there is nothing to report */
} multi_moved;

/* Lets PT-Scotch move the rows, if the partition of the context requires it or if it reduces communication
 * enough. */
ts_status multi_move_rows(ts_context *context, const tsi_ranks_matrix_desc *desc, multi_moved *moved);
void multi_moved_free(ts_context *context, multi_moved *moved);
void multi_given_destroy(ts_context *context, multi_given *given);

/* ---- multi_given.c ---- */

/* Moves `bytes` per row from the ranks that passed in the rows to those that hold them, or back. */
ts_status multi_carry_given(ts_context *context, const multi_given *given, size_t bytes, const void *values,
                            void *held);
ts_status multi_carry_back(ts_context *context, const multi_given *given, size_t bytes, const void *held,
                           void *values);
/* Elements of this rank's rows in their original order. */
ts_status multi_write_given(ts_vector *v, const double *values);
ts_status multi_read_given(const ts_vector *v, double *values);
/* Replaces the row numbers in the matrix's facts by the original ones. */
ts_status multi_name_given_rows(ts_matrix *A);

#endif
