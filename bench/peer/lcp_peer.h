/* Shared code of the programs that `texsolve bench lcp FILE` runs to compare with another library.
 *
 *   PROGRAM REPEAT RTOL MAX_SWEEPS <problem >answer
 *
 * The input is a lcp_peer_header, then doubles: the matrix row by row, q, and the bounds or mu. The answer is a
 * JSON object with an array "results" of objects with "implementation", "setting", "sweeps", "seconds",
 * "spread", "setup" and "residual". The residual is ts_lcp_residual / ||q|| of the z that the library returned.
 * An error is one line on standard error and a nonzero status. */
#ifndef BENCH_LCP_PEER_H
#define BENCH_LCP_PEER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "../timing.h"

#define LCP_PEER_MAGIC "tsLCP64d"

typedef struct lcp_peer_header {
  char magic[8];
  int32_t size, dimension; /* 1: no friction */
  int32_t has_bounds, reserved;
} lcp_peer_header;

typedef struct lcp_peer {
  int repeat, max_sweeps;
  double rtol, norm_q;
  int32_t size;
  int dimension;
  double *matrix, *q, *friction; /* friction: NULL if there is none */
  double *lower, *upper;         /* 0 and infinity in an LCP; NULL with friction */
} lcp_peer;

/* Reads arguments and problem. Ends the program on failure. Restarts the program, to limit BLAS to one
 * thread. */
void lcp_peer_begin(lcp_peer *p, const char *program, int argc, char **argv);

/* Ends the program with a line on standard error. */
__attribute__((format(printf, 1, 2), noreturn)) void lcp_peer_fail(const char *format, ...);

/* Allocates zeros. Ends the program if memory is exhausted. */
void *lcp_peer_memory(size_t count, size_t size);

/* ||z - P(z - w)|| / ||q|| by ts_lcp_residual. */
double lcp_peer_residual(const double *z);

/* Solves from z = 0 to a tolerance of the library's own measure, in at most `max_sweeps` sweeps. Returns their
 * number; negative: failed. */
typedef int (*lcp_peer_solve)(void *user, double tolerance, int max_sweeps, double *z);

/* Finds the largest of the library's own tolerances that gives the requested residual, times solves to it, and
 * records the result. If none does, the best z counts. Runs longer than 5 seconds get fewer sweeps. */
void lcp_peer_measure(const char *implementation, const char *setting, double setup_seconds,
                      lcp_peer_solve solve, void *user);

/* Writes the answer. Returns the program's status. */
int lcp_peer_end(void);

#ifdef __cplusplus
}
#endif
#endif
