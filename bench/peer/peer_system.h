/* Shared code of the programs that solve A x = b, b = 1, with multigrid of other libraries:
 *
 *   PROGRAM MATRIX [--size=N] [--rtol=1e-8] [--repeats=3] [--threads=N] [--json]
 *
 * MATRIX is a matrix that texsolve bench generates with N rows, or a Matrix Market file. It may also be a
 * family of `texsolve bench families`, which has its own b instead of 1. With --json the answer is one JSON
 * object with an array "results". Its objects have "setting", "levels", "cost", "setup" and "solve" (minimum
 * seconds), "iterations" and, if it is finite, "residual". */
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

/* Parses an option of the above. Returns 0 for other arguments. */
int peer_system_option(peer_system *s, const char *argument);
/* Creates the matrix and b. Nonzero after a message. */
int peer_system_make(peer_system *s, const char *program);
void peer_system_free(peer_system *s);

/* ||b - A x|| / ||b||, in long double. */
double peer_system_residual(const peer_system *s, const double *x);

/* The times of a repetition, in seconds. */
typedef struct peer_times {
  double setup[PEER_REPEATS], solve[PEER_REPEATS];
} peer_times;

/* The table's header, a row with medians and the minimum of both, and the end. `library`: name and version. */
void peer_system_header(const peer_system *s, const char *library);
void peer_system_row(peer_system *s, const char *setting, int levels, double cost, peer_times *times,
                     int iterations, double residual);
void peer_system_end(const peer_system *s);

#ifdef __cplusplus
}
#endif
#endif
