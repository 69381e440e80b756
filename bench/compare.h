/* What the parts of `texsolve bench compare` share. */
#ifndef BENCH_COMPARE_H
#define BENCH_COMPARE_H

#include "bench.h"

typedef enum compare_operation {
  COMPARE_SPMV,
  COMPARE_CG,
  COMPARE_AXPY,
  COMPARE_DOT,
  COMPARE_NRM2,
  COMPARE_OPERATIONS
} compare_operation;

enum { COMPARE_ITERATIONS = 100 /* of the solves that are timed */, COMPARE_BACKENDS = 8 };

/* What one implementation does with one matrix. */
typedef struct compare_row {
  char matrix[BENCH_NAME_SIZE];
  int32_t rows;
  int64_t nonzeros;
  char implementation[16];            /* a backend, or a library */
  char format[16];                    /* or the library's algorithm; "" for operations on vectors alone */
  char backend[16];                   /* on whose device it runs */
  int is_peer, is_default;            /* the format that the backend takes by itself */
  double seconds[COMPARE_OPERATIONS]; /* NaN: not measured */
  double spread[COMPARE_OPERATIONS];
  double spmv_bytes; /* that one product has to move */
} compare_row;

/* A backend that was asked for. */
typedef struct compare_backend {
  char name[16];
  int is_absent, is_gpu;
  char device[96];
  double copy_rate; /* bytes a second, read and written ones */
} compare_backend;

typedef struct compare_results {
  compare_row *rows;
  int count, capacity;
  compare_backend backends[COMPARE_BACKENDS];
  int backend_count;
  int no_peers; /* other libraries are not asked for */
  int left_out; /* something that was asked for by name could not be measured */
} compare_results;

/* The keys of the report and of the peers' output: "spmv", "cg", ... */
const char *compare_operation_name(compare_operation operation);

/* A row in which nothing is measured yet; NULL after a message without memory. It lives until the next call. */
compare_row *compare_add(compare_results *results, const char *matrix, const generated_matrix *A,
                         const char *backend);
void compare_free(compare_results *results);

/* Useful operations: 2 for each entry of A as it is given, 2 for each element in axpy, dot and nrm2; an
 * iteration of conjugate gradients has 12 for each unknown beside its product. */
double compare_flops(const compare_row *row, compare_operation operation);

/* Bytes that must be moved at least. An iteration of conjugate gradients whose operations are fused reads and
 * writes 13 vectors: q = A d and d . q; x, r and delta; d. */
double compare_bytes(const compare_row *row, compare_operation operation);

/* Finds out the device and its copy rate. Nonzero after a message: the backend is left out. */
int compare_open(const bench_options *options, compare_backend *backend);

/* The backends of the options, by default gl, cuda and cpu as far as they are there. Nonzero after a message:
 * there is none. */
int compare_open_all(const bench_options *options, compare_results *results);

/* Every format of a backend on a matrix, and operations on vectors of its size. Nonzero: not all that was asked
 * for could be measured, as messages have said. */
int compare_measure(const bench_options *options, const compare_backend *backend, const char *matrix,
                    const generated_matrix *A, compare_results *results);

/* The libraries that compare with a backend, each in a program of its own (peer/) that may be absent. Nonzero
 * after a message: one failed. */
int compare_peers(const bench_options *options, const compare_backend *backend, const char *matrix,
                  const generated_matrix *A, compare_results *results);

/* Which program has the peers of a backend, NULL if there are none, and whether it is there. */
const char *compare_peer_name(const char *backend, int *is_present);

#endif
