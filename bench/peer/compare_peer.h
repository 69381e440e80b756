/* Shared code of the programs that `texsolve bench compare` runs to compare with another library.
 *
 *   PROGRAM REPEAT THREADS DEVICE <matrix >answer
 *
 * REPEAT is the number of batches per measurement, THREADS that of the CPU (0: the default), and DEVICE the
 * index of the device. The input is a peer_matrix_header and the three CSR arrays. The answer is a JSON object
 * with an array "results" of objects with "implementation", "format", "operation" (spmv, cg, axpy, dot, nrm2),
 * "seconds" and "spread". A product in a format that moves other bytes than CSR adds "bytes". An error is one
 * line on standard error and a nonzero status. */
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

/* Iterations of a solve, and between two checks of its residual. */
enum { PEER_ITERATIONS = 100, PEER_CHECK_INTERVAL = 25 };

typedef struct peer {
  int repeat, threads, device;
  generated_matrix A;
  int32_t longest_row;
  float *x, *y; /* over A's columns and rows, between 0.5 and 1.5 */
} peer;

/* Reads arguments and matrix. Ends the program on failure. */
void peer_begin(peer *p, const char *program, int argc, char **argv);

/* Ends the program with a line on standard error. */
__attribute__((format(printf, 1, 2), noreturn)) void peer_fail(const char *format, ...);

/* Times `fn`, which performs the operation `times` times per call, and records the result. `bytes`: moved by a
 * product; 0: as in CSR. Returns the seconds of one operation. */
double peer_measure(const peer *p, const char *implementation, const char *format, const char *operation,
                    double times, double bytes, timing_fn fn, void *user);

/* Ends the program if y differs from A x by more than rounding. */
void peer_check_product(const peer *p, const char *format, const float *y);

/* Writes the answer. Returns the program's status. */
int peer_end(peer *p);

#ifdef __cplusplus
}
#endif
#endif
