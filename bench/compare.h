/* Shared declarations of `texsolve bench compare`. */
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

enum { COMPARE_ITERATIONS = 100 /* iterations of the timed solves */, COMPARE_BACKENDS = 8 };

/* Results of one implementation for one matrix. */
typedef struct compare_row {
  char matrix[BENCH_NAME_SIZE];
  int32_t rows;
  int64_t nonzeros;
  char implementation[16];            /* a backend, or a library */
  char format[16];                    /* or the library's algorithm; "" for vector operations */
  char backend[16];                   /* the backend of the device that it runs on */
  int is_peer, is_default;            /* is_default: the format that the backend selects automatically */
  double seconds[COMPARE_OPERATIONS]; /* NaN: not measured */
  double spread[COMPARE_OPERATIONS];
  double spmv_bytes; /* minimum bytes moved by a product */
} compare_row;

/* A requested backend. */
typedef struct compare_backend {
  char name[16];
  int is_absent, is_gpu;
  char device[96];
  double copy_rate; /* bytes per second, read and written */
} compare_backend;

typedef struct compare_results {
  compare_row *rows;
  int count, capacity;
  compare_backend backends[COMPARE_BACKENDS];
  int backend_count;
  int no_peers; /* other libraries are not run */
  int left_out; /* something requested by name could not be measured */
} compare_results;

/* The keys of the report and of the peers' output: "spmv", "cg", ... */
const char *compare_operation_name(compare_operation operation);

/* Adds a row without measurements. Returns NULL after a message if memory is exhausted. The row is valid until
 * the next call. */
compare_row *compare_add(compare_results *results, const char *matrix, const generated_matrix *A,
                         const char *backend);
void compare_free(compare_results *results);

/* Useful operations: 2 per entry of A as given; 2 per element in axpy, dot and nrm2. An iteration of conjugate
 * gradients has 12 per unknown in addition to its product. */
double compare_flops(const compare_row *row, compare_operation operation);

/* The minimum bytes moved. An iteration of conjugate gradients with fused operations reads and writes 13
 * vectors: q = A d and d . q; x, r and delta; d. */
double compare_bytes(const compare_row *row, compare_operation operation);

/* Finds the device and its copy rate. Nonzero after a message: the backend is skipped. */
int compare_open(const bench_options *options, compare_backend *backend);

/* Opens the backends in the options, by default the available ones of gl, cuda and cpu. Nonzero after a
 * message: none is available. */
int compare_open_all(const bench_options *options, compare_results *results);

/* Measures every format of a backend on a matrix, and vector operations of its size. Nonzero, after messages,
 * if something requested could not be measured. */
int compare_measure(const bench_options *options, const compare_backend *backend, const char *matrix,
                    const generated_matrix *A, compare_results *results);

/* Runs the libraries that compare with a backend, each in its own program (peer/), which may be missing.
 * Nonzero after a message: one failed. */
int compare_peers(const bench_options *options, const compare_backend *backend, const char *matrix,
                  const generated_matrix *A, compare_results *results);

/* The program with the peers of a backend, or NULL, and whether it exists. */
const char *compare_peer_name(const char *backend, int *is_present);

#endif
