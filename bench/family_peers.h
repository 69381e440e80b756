/* The peers of `texsolve bench families`: programs of other libraries (peer/peer_system.h) that make a family's
 * matrix and right-hand side themselves. */
#ifndef BENCH_FAMILY_PEERS_H
#define BENCH_FAMILY_PEERS_H

#include "bench.h"

/* What a library does in its quickest setting that reaches the tolerance, else in the one nearest to it. */
typedef struct family_peer {
  char setting[64];
  int levels, iterations;
  double cost, setup, solve; /* operator complexity, seconds */
  double residual;
} family_peer;

/* Their number; the library's name; whether its program is there. */
int family_peer_count(void);
const char *family_peer_name(int index);
int family_peer_is_built(int index);

/* Nonzero after a message. */
int family_peer_run(const bench_options *options, int index, const char *family, int32_t rows,
                    family_peer *result);

#endif
