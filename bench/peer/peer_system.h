/* What the programs share that solve A x = 1 with multigrid of other libraries:
 *
 *   PROGRAM MATRIX [--size=N] [--rtol=1e-8] [--repeats=3] [--threads=N]
 *
 * MATRIX is one that texsolve bench generates, of N rows, or a Matrix Market file. */
#ifndef BENCH_PEER_SYSTEM_H
#define BENCH_PEER_SYSTEM_H

#ifdef __cplusplus
extern "C" {
#endif

#include "../generate_problem.h"

typedef struct peer_system {
  generated_problem A;
  const char *matrix;
  int size, repeats, threads; /* 0: the default */
  double rtol;
} peer_system;

enum { PEER_REPEATS = 101 };

/* Reads an option of the above; returns 0 where it is none. */
int peer_system_option(peer_system *s, const char *argument);
/* Makes the matrix. Nonzero after a message. */
int peer_system_make(peer_system *s, const char *program);
void peer_system_free(peer_system *s);

/* ||1 - A x|| / ||1||, in long double. */
double peer_system_residual(const peer_system *s, const double *x);

/* The times of a repetition, in seconds. */
typedef struct peer_times {
  double setup[PEER_REPEATS], solve[PEER_REPEATS];
} peer_times;

/* The table's header, and a row of it: medians, and the least of both. */
void peer_system_header(const peer_system *s);
void peer_system_row(const peer_system *s, const char *setting, int levels, double cost, peer_times *times,
                     int iterations, double residual);

#ifdef __cplusplus
}
#endif
#endif
