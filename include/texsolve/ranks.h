/* texsolve on several processes: the ranks of a job solve one system.
 *
 * Each rank opens a context on the transport that connects the ranks (texsolve/mpi.h provides MPI's). It
 * creates matrices from its own rows, with columns of all ranks, so no rank ever holds the whole matrix.
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
 * Conventions in addition to those of texsolve.h:
 *
 * - All ranks must make the same collective calls in the same order, with descriptors that request the same.
 *   Collective calls are those that create or destroy an object, set values or solve, and reductions, products
 *   and updates of vectors.
 * - If a collective call fails on one rank, it returns the same status on all ranks, and ts_last_error() is
 *   that rank's message after "rank N: ". If a rank is gone, this call and all later ones of the other ranks
 *   return TS_ERROR_UNREACHABLE, and the message names the rank.
 * - Results depend on the number of ranks only by rounding. With the same ranks and parts they are bitwise
 *   identical on every run.
 * - Spaces created by ts_space_create, or by ts_matrix_create without given spaces, are common to all ranks.
 *   For objects over them each rank passes the whole matrix and whole vectors, and reads whole vectors. The
 *   device holds only the rank's part. A matrix that ts_matrix_create makes over the space of a rank's rows
 *   does not couple ranks.
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
  int rank;     /* the other rank */
  int receives; /* 1: `data` is written; 0: `data` is read */
  void *data;   /* host memory, or see takes_device_memory. It must stay valid until the batch has ended */
  size_t bytes; /* number of bytes, equal on both sides, up to 2^31 - 1 */
} ts_message;

/* A graph whose vertices are distributed over the ranks in order: this rank's vertices with their
 * neighbours. */
typedef struct ts_ranks_graph {
  const int64_t *first;      /* first vertex of each rank, and the end */
  const int32_t *offsets;    /* first neighbour of each of this rank's vertices, from 0, and the end */
  const int64_t *neighbours; /* global vertex numbers. The graph is symmetric; no vertex is its own neighbour */
  const int32_t *weights;    /* weights of this rank's vertices, at least 1 */
} ts_ranks_graph;

/* A transport carries messages between ranks. Messages from one rank to another arrive in the order in which
 * they were begun, separately for each epoch. Every rank counts its calls in an epoch in the same way. A rank
 * that fails stops the others in the call in which it failed and in later ones, but not in earlier calls that
 * they have not reached yet. The functions return TS_OK, or TS_ERROR_UNREACHABLE with one line in `error`. */
typedef struct ts_transport {
  int rank, ranks;           /* this rank, and the number of ranks */
  int host_rank, host_ranks; /* this rank among those of its host, and their number; they share its GPUs */
  int takes_device_memory; /* 1: `data` of a message may be memory of a CUDA device, as with a CUDA-aware MPI */
  void *user;
  /* Begins `count` messages of an epoch. */
  ts_status (*begin)(void *user, int epoch, const ts_message *messages, int count, void **batch, char *error,
                     size_t size);
  /* Waits for a batch and frees it. If another rank has stopped this call of the epoch or an earlier one, it
   * stops waiting and sets *stopped; messages that have not arrived by then never arrive. If `call` is -1, it
   * waits unconditionally. */
  ts_status (*end)(void *user, void *batch, int call, int *stopped, char *error, size_t size);
  /* Ends the waits of the other ranks in an epoch, from this call on. */
  ts_status (*stop)(void *user, int epoch, int call, char *error, size_t size);
  /* Does not wait. Sets *stopped if another rank has stopped this call or an earlier one, and fails if a rank
   * is gone. Used while waiting for messages outside the transport, those of NCCL. NULL if there are none. */
  ts_status (*look)(void *user, int epoch, int call, int *stopped, char *error, size_t size);
  /* Partitions a graph: rank_of[k] is the rank for this rank's vertex k, such that weights are nearly balanced
   * and few edges are cut. The result is identical on every run. All ranks call it together. NULL if the
   * transport cannot partition graphs. */
  ts_status (*divide)(void *user, const ts_ranks_graph *graph, int32_t *rank_of, char *error, size_t size);
  /* Called when the context is destroyed; may be NULL. */
  void (*close)(void *user);
  char name[96]; /* name of the transport, for ts_context_info.driver: "Open MPI 4.1.4" */
} ts_transport;

/* The module TS_RANKS_MODULE exports this struct as "texsolve_mpi". It provides MPI's transport to a program
 * that is linked without MPI and loads the module only if mpirun started it. */
#define TS_RANKS_MODULE "texsolve-ranks.so"
typedef struct ts_ranks_module {
  /* Starts MPI if necessary, and creates a transport of all ranks. `error` receives one line if that fails. */
  ts_status (*start)(ts_transport *transport, char *error, size_t size);
  /* Ends MPI. If `failed` is 0, all ranks must call it. Otherwise it ends the whole job with that status. */
  void (*finish)(int failed);
} ts_ranks_module;

/* Reports that a transport could not be created: ts_last_error(NULL) then returns `text`. Returns `status`. */
TS_API ts_status ts_ranks_report(ts_status status, const char *text);

/* Opens a context of all ranks. desc->backend is the backend of each rank: "cpu", "cuda" (the GPU with the
 * rank's number on its host), "cuda:1", "cuda:0+1", "multi:cpu+cpu". The transport is copied. It is closed with
 * the context, or at once if the context cannot be opened. All ranks call it. ts_last_error(NULL) explains an
 * error.
 * Errors: those of ts_context_create, TS_ERROR_UNREACHABLE. */
TS_API ts_status ts_ranks_context_create(const ts_context_desc *desc, const ts_transport *transport,
                                         ts_context **context);

/* Return the rank and the number of ranks; 0 and 1 for a context of one process. No host synchronisation. */
TS_API int ts_ranks_get_rank(const ts_context *context);
TS_API int ts_ranks_get_count(const ts_context *context);

/* Shares the application's own failures, such as a file that one rank cannot read. If some ranks pass a
 * failure, all ranks return the status of the first one, with its text as the error message. */
TS_API ts_status ts_ranks_agree(ts_context *context, ts_status status, const char *text);

/* Copies `data` from rank `root` to all ranks.
 * Errors: TS_ERROR_INVALID_ARGUMENT (a rank out of range), TS_ERROR_UNREACHABLE, memory. */
TS_API ts_status ts_ranks_broadcast(ts_context *context, int root, void *data, size_t bytes);

/* ---- Matrices ---- */

typedef struct ts_ranks_matrix_desc {
  /* The rows of this rank, 1 to 2^31 - 1024, which follow those of the previous rank. Column indices are
   * global: 0 to the total number of rows - 1; csr.columns is not read. Arrays must be on the host. */
  ts_csr csr;
  ts_format format;   /* as in ts_matrix_desc. All ranks must pass equal values in this and the following
                         fields */
  int keep_host_copy; /* as in ts_matrix_desc; the copy has the columns of this rank's own rows */
  ts_precision precision;
  int components;
  /* 1: rows may move to other ranks according to ts_context_desc.partition. With "scotch" they move as
   * PT-Scotch partitions them; with "auto" they move only if the ranks then communicate much less; otherwise
   * they stay. Access vectors with ts_ranks_vector_write and ts_ranks_vector_read then. */
  int may_move;
  uint64_t reserved[8]; /* 0 */
} ts_ranks_matrix_desc;

/* Creates a square matrix from the rows of each rank, over a new space of these rows. ts_matrix_get_row_space
 * returns the space; its size is this rank's number of rows. Each product first receives the columns of other
 * ranks. ts_matrix_info has the rows, columns and entries of this rank. symmetric, unsymmetric_row,
 * unsymmetric_column and zero_diagonal_row are those of the whole matrix (rows beyond 2^31 - 1 are reported as
 * 2^31 - 1). Block Jacobi, isai and ilu precondition each rank's own block. amg has levels over all ranks; its
 * aggregates stay within one rank. Set new values with ts_ranks_matrix_set_values instead of
 * ts_matrix_set_values.
 * Errors: those of ts_matrix_create, TS_ERROR_UNREACHABLE. */
TS_API ts_status ts_ranks_matrix_create(ts_context *context, const ts_ranks_matrix_desc *desc,
                                        ts_matrix **matrix);

/* Creates a matrix that rank `root` holds as a whole. The root distributes the rows as
 * ts_context_desc.partition requests. desc->csr is read on the root only, the other fields on all ranks; spaces
 * and constrained rows must not be given. Otherwise as ts_ranks_matrix_create. */
TS_API ts_status ts_ranks_matrix_from(ts_context *context, int root, const ts_matrix_desc *desc,
                                      ts_matrix **matrix);

/* Replaces the values and keeps the layout. Each rank passes its rows with the original offsets and columns, in
 * the same order; the other fields of `desc` are ignored. symmetric, zero_diagonal_row and similar fields of
 * ts_matrix_info are recomputed. Solvers created for the matrix use the new values; preconditioners do after
 * ts_preconditioner_update. If the rows of one rank are invalid, all ranks keep the old values. A matrix whose
 * rows have moved returns an error.
 * Errors: TS_ERROR_INCOMPATIBLE (other rows or columns), TS_ERROR_INVALID_ARGUMENT (NaN or infinity, a matrix
 * of another function), TS_ERROR_UNREACHABLE, memory. If memory runs out while values are written, each rank
 * may have old or new values until a further call succeeds. */
TS_API ts_status ts_ranks_matrix_set_values(ts_matrix *matrix, const ts_ranks_matrix_desc *desc);

/* Replaces the values by those of the whole matrix, which `root` passes with the original offsets and columns.
 * If ts_ranks_matrix_create made the matrix, the rows are in the order of the ranks. `csr` is read on the root
 * only. Errors: as ts_ranks_matrix_set_values. */
TS_API ts_status ts_ranks_matrix_set_values_from(ts_matrix *matrix, int root, const ts_csr *csr);

typedef struct ts_ranks_matrix_info {
  int64_t rows, nonzeros; /* of all ranks */
  int64_t first_row;      /* first row of this rank */
  int64_t ghosts;         /* columns that this rank needs from others */
  const char *choice;     /* why the rows were distributed in this way; "" if every rank keeps its own. Lives as
                             long as the matrix */
  uint64_t reserved[8];
} ts_ranks_matrix_info;

/* Describes the distribution of a matrix. No host synchronisation.
 * Errors: TS_ERROR_INVALID_ARGUMENT (a matrix not created by a function of this header). */
TS_API ts_status ts_ranks_matrix_get_info(const ts_matrix *matrix, ts_ranks_matrix_info *info);

/* Returns the global numbers of this rank's rows, in ascending order: `rows` receives ts_space_get_size of the
 * matrix's space numbers. They count the rows as the ranks passed them, those of rank 0 first. Row data for a
 * preconditioner (coordinates, near-null vectors) must be in this order. No host synchronisation.
 * Errors: TS_ERROR_INVALID_ARGUMENT (a matrix not created by ts_ranks_matrix_create). */
TS_API ts_status ts_ranks_matrix_get_rows(const ts_matrix *matrix, int64_t *rows);

/* ---- Vectors over the rows of such a matrix ---- */

/* Copy the elements of the rows that this rank passed to ts_ranks_matrix_create, regardless of their present
 * rank. `values` has one number per row and component. All ranks call it.
 * Errors: TS_ERROR_INVALID_ARGUMENT (NULL; another space), TS_ERROR_UNREACHABLE, memory. */
TS_API ts_status ts_ranks_vector_write(ts_vector *vector, ts_array values);
TS_API ts_status ts_ranks_vector_read(const ts_vector *vector, ts_array values);

/* Copy a whole vector from the root to the parts of all ranks, or back. `values` is used on the root only. Its
 * order is that of the matrix that `root` passed, or of the rows as the ranks passed them to
 * ts_ranks_matrix_create. Errors: as ts_ranks_vector_write. */
TS_API ts_status ts_ranks_vector_from(ts_vector *vector, int root, ts_array values);
TS_API ts_status ts_ranks_vector_to(const ts_vector *vector, int root, ts_array values);

#ifdef __cplusplus
}
#endif
#endif
