/* Rows that have moved from the ranks that gave them to others. */
#ifndef MULTI_GIVEN_H
#define MULTI_GIVEN_H

#include "multi.h"

/* A rank has its rows in the order of those who gave them, and of each in the order there. */
typedef struct multi_given {
  int64_t *first;   /* of the rows that each rank gave, and of the end */
  int32_t *rank_of; /* of each row that this rank gave: who has it */
  int64_t *from;    /* of the rows that this rank has: where those of each giver begin, and the end */
  int64_t *rows;    /* of those rows, their numbers as they were given */
} multi_given;

/* ---- multi_graph.c ---- */

/* The rows that this rank gives, as a graph's vertices: A + A^T without its diagonal. */
typedef struct multi_graph {
  const tsi_ranks_matrix_desc *desc;
  int64_t *first; /* of each rank, and of the end */
  int32_t *offsets, *weights;
  int64_t *neighbours; /* of a vertex ascending, each once */
  int64_t *others;     /* those of other ranks, ascending, each once */
  int32_t other_count;
} multi_graph;

ts_status multi_graph_create(ts_context *context, const tsi_ranks_matrix_desc *desc, multi_graph *graph);
void multi_graph_free(ts_context *context, multi_graph *graph);
/* answers[k] = what the rank of others[k] has for it in `mine`, a number for each of its vertices. */
ts_status multi_graph_ask(ts_context *context, const multi_graph *graph, const int64_t *mine, int64_t *answers);
/* Which of `others` a vertex of another rank is. */
int32_t multi_graph_other(const multi_graph *graph, int64_t vertex);

/* ---- multi_move.c ---- */

/* A matrix's rows where they are to be, in memory of their own where they have moved. */
typedef struct multi_moved {
  tsi_ranks_matrix_desc desc;
  void *block;        /* that memory */
  multi_given *given; /* NULL: nothing has moved */
  char choice[160];   /* "": nothing is to be said */
} multi_moved;

/* Lets PT-Scotch move the rows, if the context's partition asks for it or they gain from it. */
ts_status multi_move_rows(ts_context *context, const tsi_ranks_matrix_desc *desc, multi_moved *moved);
void multi_moved_free(ts_context *context, multi_moved *moved);
void multi_given_destroy(ts_context *context, multi_given *given);

/* ---- multi_given.c ---- */

/* `bytes` of each row, from where the rows were given to where they are, or back. */
ts_status multi_carry_given(ts_context *context, const multi_given *given, size_t bytes, const void *values,
                            void *held);
ts_status multi_carry_back(ts_context *context, const multi_given *given, size_t bytes, const void *held,
                           void *values);
/* Elements of this rank's rows as it gave them. */
ts_status multi_write_given(ts_vector *v, const double *values);
ts_status multi_read_given(const ts_vector *v, double *values);
/* Numbers of rows in what the matrix says of itself become those as given. */
ts_status multi_name_given_rows(ts_matrix *A);

#endif
