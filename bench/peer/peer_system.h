/* What the programs share that solve A x = b, b = 1, with multigrid of other libraries:
 *
 *   PROGRAM MATRIX [--size=N] [--rtol=1e-8] [--repeats=3] [--threads=N] [--json]
 *
 * MATRIX is one that texsolve bench generates, of N rows, or a Matrix Market file; or a family of `texsolve
 * bench families', which has a b of its own in place of 1. With --json the answer is one JSON object with the
 * array "results" of objects with "setting", "levels", "cost", "setup" and "solve" (seconds, the shortest),
 * "iterations" and, unless it is not finite, "residual". */
#ifndef BENCH_PEER_SYSTEM_H
#define BENCH_PEER_SYSTEM_H

#ifdef __cplusplus
extern "C" {
#endif

#include "../generate_problem.h"

typedef struct peer_system {
  generated_problem A;
  double *b;
  const char *matrix;
  int size, repeats, threads; /* 0: the default */
  double rtol;
  int json, rows_written;
} peer_system;

enum { PEER_REPEATS = 101 };

/* Reads an option of the above; returns 0 where it is none. */
int peer_system_option(peer_system *s, const char *argument);
/* Makes the matrix and b. Nonzero after a message. */
int peer_system_make(peer_system *s, const char *program);
void peer_system_free(peer_system *s);

/* ||b - A x|| / ||b||, in long double. */
double peer_system_residual(const peer_system *s, const double *x);

/* The times of a repetition, in seconds. */
typedef struct peer_times {
  double setup[PEER_REPEATS], solve[PEER_REPEATS];
} peer_times;

/* The table's header, its rows: medians, and the least of both; and the end. `library`: name and version. */
void peer_system_header(const peer_system *s, const char *library);
void peer_system_row(peer_system *s, const char *setting, int levels, double cost, peer_times *times,
                     int iterations, double residual);
void peer_system_end(const peer_system *s);

#ifdef __cplusplus
}
#endif
#endif
