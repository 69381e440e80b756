/* The peers of `texsolve bench families`: programs of other libraries (peer/peer_system.h), which generate a
 * family's matrix and right-hand side themselves. */
#ifndef BENCH_FAMILY_PEERS_H
#define BENCH_FAMILY_PEERS_H

#include "bench.h"

/* The result of a library's fastest setting that reaches the tolerance, or of the setting nearest to it. */
typedef struct family_peer {
  char setting[64];
  int levels, iterations;
  double cost, setup, solve; /* operator complexity, seconds */
  double residual;
} family_peer;

/* The number of peers; a library's name; whether its program exists. */
int family_peer_count(void);
const char *family_peer_name(int index);
int family_peer_is_built(int index);

/* Nonzero after a message. */
int family_peer_run(const bench_options *options, int index, const char *family, int32_t rows,
                    family_peer *result);

#endif
