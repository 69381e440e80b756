/* Shared declarations of `texsolve bench lcp PROBLEM...`: problems that the library and others solve to a
 * tolerance. */
#ifndef BENCH_LCP_SOLVES_H
#define BENCH_LCP_SOLVES_H

#include "bench.h"
#include "lcp.h"

enum { LCP_MAX_SWEEPS = 10000 };

/* The result of one solver for one problem. */
typedef struct lcp_solve {
  char solver[16]; /* texsolve or a library */
  char setting[40];
  int is_peer, sweeps;           /* sweeps: 0 if a library does not report them */
  double seconds, spread, setup; /* seconds: NaN if the residual exceeds the tolerance */
  double residual;               /* ts_lcp_residual / ||q||; NaN: z is not finite */
} lcp_solve;

typedef struct lcp_solves {
  lcp_solve *rows;
  int count, capacity;
} lcp_solves;

/* Adds a row of zeros at the end. Returns NULL after a message if memory is exhausted. The row is valid until
 * the next call. */
lcp_solve *lcp_solves_add(lcp_solves *solves);

/* Generated problems: "dense", an LCP; "piles2d" and "piles3d", contacts with friction of `size` unknowns or
 * slightly fewer. Returns 1 for an unknown name, 2 if memory is exhausted. */
int lcp_generate(lcp_problem *problem, const char *name, int32_t size);
int lcp_is_generated(const char *name);

/* Solves all problems in the options. BENCH_INCOMPLETE: some were skipped. */
int bench_lcp_solves(const bench_options *options, const bench_device *device, struct report *r);

/* Runs every library with an available program. Nonzero after a message: one failed. */
int lcp_peers(const bench_options *options, const lcp_problem *problem, lcp_solves *solves);
/* The available peers, such as "lcp-siconos lcp-eigen", or "". */
void lcp_peer_names(char *names, size_t size);

#endif
