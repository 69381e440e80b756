/* What the parts of `texsolve bench lcp PROBLEM...` share: problems that are solved to a tolerance by the
 * library and by others. */
#ifndef BENCH_LCP_SOLVES_H
#define BENCH_LCP_SOLVES_H

#include "bench.h"
#include "lcp.h"

enum { LCP_MAX_SWEEPS = 10000 };

/* What one solver did with one problem. */
typedef struct lcp_solve {
  char solver[16]; /* texsolve or a library */
  char setting[40];
  int is_peer, sweeps;           /* sweeps: 0 where a library does not say */
  double seconds, spread, setup; /* seconds: NaN where the residual is larger than asked for */
  double residual;               /* ts_lcp_residual's by ||q||; NaN: no finite z */
} lcp_solve;

typedef struct lcp_solves {
  lcp_solve *rows;
  int count, capacity;
} lcp_solves;

/* A row of zeros at the end; NULL after a message without memory. It lives until the next call. */
lcp_solve *lcp_solves_add(lcp_solves *solves);

/* The problems that are generated: "dense", an LCP; "piles2d" and "piles3d", contacts with friction of `size`
 * unknowns or a few fewer. Nonzero: 1 no such name, 2 no memory. */
int lcp_generate(lcp_problem *problem, const char *name, int32_t size);
int lcp_is_generated(const char *name);

/* All problems of the options. BENCH_INCOMPLETE: some were left out. */
int bench_lcp_solves(const bench_options *options, const bench_device *device, struct report *r);

/* Every library whose program is there. Nonzero after a message: one failed. */
int lcp_peers(const bench_options *options, const lcp_problem *problem, lcp_solves *solves);
/* "lcp-siconos lcp-eigen": those that are there; "" without any. */
void lcp_peer_names(char *names, size_t size);

#endif
