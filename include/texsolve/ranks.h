/* texsolve: a system on several processes, the ranks of a job.
 *
 * Each rank opens a context on the transport that joins them (texsolve/mpi.h has MPI's) and makes matrices from
 * rows of its own with columns of all, as other distributed libraries take them: no rank ever holds the whole.
 * Vectors, preconditioners and solvers are then used as in one process:
 *
 *   ts_ranks_matrix_desc desc = {.csr = ts_host_csr(rows, 0, offsets, columns, values)}; // this rank's rows
 *   ts_result result;
 *   ts_ranks_matrix_create(context, &desc, &A);
 *   ts_vector_create(ts_matrix_get_row_space(A), NULL, &b);
 *   ts_vector_create(ts_matrix_get_row_space(A), NULL, &x);
 *   ts_ranks_vector_write(b, ts_host(numbers, rows)); // this rank's elements
 *   ts_solver_create(A, NULL, &solver);
 *   ts_solver_solve(solver, b, x, &result);           // the same result on every rank
 *
 * Conventions beside those of texsolve.h:
 *
 * - What makes or destroys an object, sets values or solves is called by all ranks in the same order, with
 *   descriptors that ask for the same. So are reductions, products and updates of vectors.
 * - Where a call of this kind fails on one rank, it returns the same status on all of them, and
 *   ts_last_error() is that rank's with "rank N: " before it. Where a rank is gone, the others' calls return
 *   TS_ERROR_UNREACHABLE, which names it, and so do all later ones on the context.
 * - Numbers do not depend on how many ranks there are beyond rounding, and are the same bits on every run with
 *   the same ranks and parts.
 * - Objects over spaces that were made by ts_space_create, or by ts_matrix_create without spaces, are the same
 *   on all ranks: each gives the whole matrix and whole vectors and gets whole vectors, of which the device has
 *   its part only. A matrix that ts_matrix_create makes over the space of a rank's rows couples no ranks.
 *
 * The method is that of Cevahir, Nukada, Matsuoka 2009, section 3.3. */
#ifndef TEXSOLVE_RANKS_H
#define TEXSOLVE_RANKS_H

#include <texsolve/texsolve.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Transport ---- */

/* A message between this rank and another one. */
typedef struct ts_message {
  int rank;     /* the other one */
  int receives; /* 1: `data` is written; 0: it is read */
  void *data;   /* of the host, or see takes_device_memory; left alone until the batch has ended */
  size_t bytes; /* the same on both sides, up to 2^31 - 1 */
} ts_message;

/* A graph whose vertices ranks have in their order: this rank's, with their neighbours. */
typedef struct ts_ranks_graph {
  const int64_t *first;      /* of each rank, and of the end */
  const int32_t *offsets;    /* of this rank's vertices, and of the end, from 0 */
  const int64_t *neighbours; /* numbers of all ranks' vertices; no vertex is its own, and each is the other's */
  const int32_t *weights;    /* of this rank's vertices, from 1 on */
} ts_ranks_graph;

/* What carries messages. Those from one rank to another arrive in the order in which they were begun, those of
 * other epochs apart. What the ranks do in an epoch is counted, on each of them alike: a rank that fails stops
 * the others in the call in which it has failed and in later ones, not in earlier ones that they are behind
 * with. The functions return TS_OK, or TS_ERROR_UNREACHABLE with one line in `error`. */
typedef struct ts_transport {
  int rank, ranks;           /* this one, and how many */
  int host_rank, host_ranks; /* the same among those of this host: they share its GPUs */
  int takes_device_memory; /* 1: `data` of a message may be memory of a CUDA device, as with a CUDA-aware MPI */
  void *user;
  /* Begins `count` messages of an epoch. */
  ts_status (*begin)(void *user, int epoch, const ts_message *messages, int count, void **batch, char *error,
                     size_t size);
  /* Waits for a batch and takes it back. Where another rank has stopped this call of the epoch, or an earlier
   * one, it waits no longer and sets *stopped; what has not arrived never will. call -1: it waits all the same.
   */
  ts_status (*end)(void *user, void *batch, int call, int *stopped, char *error, size_t size);
  /* Ends the waits of the other ranks in an epoch, from this call on. */
  ts_status (*stop)(void *user, int epoch, int call, char *error, size_t size);
  /* Without waiting: sets *stopped where another rank has stopped this call or an earlier one, and fails where
   * one is gone. For what waits beside the transport, NCCL's messages; NULL: there are none. */
  ts_status (*look)(void *user, int epoch, int call, int *stopped, char *error, size_t size);
  /* rank_of[0 ..]: for each of this rank's vertices the rank that it should go to, so that weights are about
   * even and few neighbours are apart; the same on every run. All ranks call it together. NULL where nothing
   * divides graphs. */
  ts_status (*divide)(void *user, const ts_ranks_graph *graph, int32_t *rank_of, char *error, size_t size);
  /* With the context; may be NULL. */
  void (*close)(void *user);
  char name[96]; /* what carries them, for ts_context_info.driver: "Open MPI 4.1.4" */
} ts_transport;

/* What the module TS_RANKS_MODULE exports as "texsolve_mpi": MPI's transport for a program that is linked
 * without MPI and loads the module only if mpirun has started it. */
#define TS_RANKS_MODULE "texsolve-ranks.so"
typedef struct ts_ranks_module {
  /* Starts MPI unless it is started, and makes a transport of all ranks. `error`: one line if that fails. */
  ts_status (*start)(ts_transport *transport, char *error, size_t size);
  /* Ends MPI. 0: all ranks call it. Else it ends the whole job with that status. */
  void (*finish)(int failed);
} ts_ranks_module;

/* For a transport that could not be made: `text` is what ts_last_error(NULL) returns next. Returns `status`. */
TS_API ts_status ts_ranks_report(ts_status status, const char *text);

/* Opens a context of all ranks. desc->backend is what each rank has: "cpu", "cuda" (the GPU that has the rank's
 * number on its host), "cuda:1", "cuda:0+1", "multi:cpu+cpu". The transport is copied and closed with the
 * context, and at once if it cannot be opened. All ranks call it.
 * Errors: those of ts_context_create, TS_ERROR_UNREACHABLE. Message: ts_last_error(NULL). */
TS_API ts_status ts_ranks_context_create(const ts_context_desc *desc, const ts_transport *transport,
                                         ts_context **context);

/* The rank and how many there are; 0 and 1 of a context of one process. No host synchronisation. */
TS_API int ts_ranks_get_rank(const ts_context *context);
TS_API int ts_ranks_get_count(const ts_context *context);

/* For what a program does by itself, a file that one rank cannot read, say: where some ranks pass a failure,
 * all return the first one's status, and its text is their error. */
TS_API ts_status ts_ranks_agree(ts_context *context, ts_status status, const char *text);

/* `data` of all ranks becomes the root's. Errors: TS_ERROR_INVALID_ARGUMENT (no such rank),
 * TS_ERROR_UNREACHABLE, memory. */
TS_API ts_status ts_ranks_broadcast(ts_context *context, int root, void *data, size_t bytes);

/* ---- Matrices ---- */

typedef struct ts_ranks_matrix_desc {
  /* The rows of this rank, 1 to 2^31 - 1024, which follow those of the rank before. Columns are those of all
   * ranks together, 0 to the rows of all - 1; csr.columns is not read. Arrays are on the host. */
  ts_csr csr;
  ts_format format;   /* as in ts_matrix_desc, and the same on all ranks; so are the others */
  int keep_host_copy; /* as in ts_matrix_desc: the columns of this rank's rows that it has itself */
  ts_precision precision;
  int components;
  /* 1: rows may move to other ranks, as ts_context_desc.partition says: with "scotch" to where PT-Scotch wants
   * them; with "auto" only if ranks then need far fewer columns of each other; else they stay. Vectors then go
   * through ts_ranks_vector_write and ts_ranks_vector_read. */
  int may_move;
  uint64_t reserved[8]; /* 0 */
} ts_ranks_matrix_desc;

/* Creates a square matrix from the rows of each rank, over a new space of them, which ts_matrix_get_row_space
 * gives and on which ts_space_get_size is the rows of this rank. Columns of other ranks come before each
 * product. Its info has rows, columns and entries of this rank; symmetric, unsymmetric_row, unsymmetric_column
 * and zero_diagonal_row are of the whole (rows beyond 2^31 - 1 are shown as that). Block Jacobi, isai and
 * ilu precondition each rank's own block; amg has levels of all ranks, whose aggregates stay within one.
 * ts_matrix_set_values does not apply; ts_ranks_matrix_set_values does. Errors: those of ts_matrix_create,
 * TS_ERROR_UNREACHABLE. */
TS_API ts_status ts_ranks_matrix_create(ts_context *context, const ts_ranks_matrix_desc *desc,
                                        ts_matrix **matrix);

/* The same of a matrix that one rank, `root`, holds as a whole: it decides who has which rows as
 * ts_context_desc.partition says, and sends them. desc->csr counts on the root only, the other fields on all;
 * spaces and constrained rows are not given. */
TS_API ts_status ts_ranks_matrix_from(ts_context *context, int root, const ts_matrix_desc *desc,
                                      ts_matrix **matrix);

/* Replaces the values; the layout stays. Each rank gives its rows with the offsets and columns that it created
 * them with, in the same order; of `desc` only these and the values count. symmetric, zero_diagonal_row and so
 * on are found again; solvers made for the matrix use the new values, and preconditioners after
 * ts_preconditioner_update. Where a rank's rows are at fault all keep the old values. A matrix
 * whose rows have moved is refused.
 * Errors: TS_ERROR_INCOMPATIBLE (other rows or columns), TS_ERROR_INVALID_ARGUMENT (NaN or Inf; a matrix that
 * neither function above made), TS_ERROR_UNREACHABLE, memory: if it runs out of that while values are written,
 * it is not known which ranks have the new ones, until this function succeeds. */
TS_API ts_status ts_ranks_matrix_set_values(ts_matrix *matrix, const ts_ranks_matrix_desc *desc);

/* The same by the whole matrix that `root` gave to ts_ranks_matrix_from, with the same offsets and columns; of
 * a matrix of ts_ranks_matrix_create, by its rows in the order of the ranks. `csr` counts on the root only. */
TS_API ts_status ts_ranks_matrix_set_values_from(ts_matrix *matrix, int root, const ts_csr *csr);

typedef struct ts_ranks_matrix_info {
  int64_t rows, nonzeros; /* of all ranks */
  int64_t first_row;      /* of this one */
  int64_t ghosts;         /* columns that this rank needs of others */
  const char *choice;     /* why the rows are where they are; "" if every rank keeps what it gave. Lives as long
                             as the matrix */
  uint64_t reserved[8];
} ts_ranks_matrix_info;

/* No host synchronisation. TS_ERROR_INVALID_ARGUMENT for a matrix that neither function above made. */
TS_API ts_status ts_ranks_matrix_get_info(const ts_matrix *matrix, ts_ranks_matrix_info *info);

/* The rows that this rank has, ts_space_get_size of the matrix's space, by their numbers as ranks gave them:
 * those of rank 0 first. They ascend. What a preconditioner is told of each row (coordinates, vectors of a
 * near-null space) has their order. No host synchronisation. Errors: TS_ERROR_INVALID_ARGUMENT for a matrix
 * that neither function above made, or that one rank held. */
TS_API ts_status ts_ranks_matrix_get_rows(const ts_matrix *matrix, int64_t *rows);

/* ---- Vectors over the rows of such a matrix ---- */

/* Transfers the elements of the rows that this rank gave to ts_ranks_matrix_create, wherever they are now:
 * `values` has as many numbers, times the vector's components. All ranks call it. Errors:
 * TS_ERROR_INVALID_ARGUMENT (NULL; another space), TS_ERROR_UNREACHABLE, memory. */
TS_API ts_status ts_ranks_vector_write(ts_vector *vector, ts_array values);
TS_API ts_status ts_ranks_vector_read(const ts_vector *vector, ts_array values);

/* Copies a whole vector, in the order of the matrix that `root` had, from the root to the parts of all, or
 * back; `values` counts on the root only. With ts_ranks_matrix_create the order is that of the rows as ranks
 * gave them. */
TS_API ts_status ts_ranks_vector_from(ts_vector *vector, int root, ts_array values);
TS_API ts_status ts_ranks_vector_to(const ts_vector *vector, int root, ts_array values);

#ifdef __cplusplus
}
#endif
#endif
