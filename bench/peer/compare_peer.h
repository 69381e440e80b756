/* What the programs have in common that `texsolve bench compare` starts to compare with another library.
 *
 *   PROGRAM REPEAT THREADS DEVICE <matrix >answer
 *
 * REPEAT batches a measurement, THREADS of the CPU (0: the default), DEVICE of several. The matrix comes as a
 * peer_matrix_header and the three arrays of CSR. The answer is a JSON object with the array "results" of
 * objects with "implementation", "format", "operation" (spmv, cg, axpy, dot, nrm2), "seconds", "spread" and,
 * for a product whose format moves other bytes than CSR, "bytes". Errors are one line on standard error and a
 * status other than 0. */
#ifndef BENCH_COMPARE_PEER_H
#define BENCH_COMPARE_PEER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "../generate.h"
#include "../timing.h"

#define PEER_MAGIC "tsCSR32f"

typedef struct peer_matrix_header {
  char magic[8];
  int32_t rows, columns;
  int64_t entries;
} peer_matrix_header;

/* Iterations of a solve, and between two looks at its residual. */
enum { PEER_ITERATIONS = 100, PEER_CHECK_INTERVAL = 25 };

typedef struct peer {
  int repeat, threads, device;
  generated_matrix A;
  int32_t longest_row;
  float *x, *y; /* of A's columns and rows, between 0.5 and 1.5 */
} peer;

/* Reads arguments and matrix; ends the program if it cannot. */
void peer_begin(peer *p, const char *program, int argc, char **argv);

/* Ends the program with a line on standard error. */
__attribute__((format(printf, 1, 2), noreturn)) void peer_fail(const char *format, ...);

/* Times `fn`, whose every call does the operation `times`, and takes the result down. `bytes`: that a product
 * moves; 0: as CSR does. Returns the seconds of one. */
double peer_measure(const peer *p, const char *implementation, const char *format, const char *operation,
                    double times, double bytes, timing_fn fn, void *user);

/* Ends the program if y is not A x within rounding. */
void peer_check_product(const peer *p, const char *format, const float *y);

/* Writes the answer. Returns the program's status. */
int peer_end(peer *p);

#ifdef __cplusplus
}
#endif
#endif
