/* Peers: other libraries to compare with. Each is a separate program, so that texsolve starts without the
 * library. It reads its problem from standard input and answers with a JSON object. */
#ifndef BENCH_PEER_PROGRAM_H
#define BENCH_PEER_PROGRAM_H

#include <jansson.h>
#include <stdio.h>

enum { PEER_PATH_SIZE = 4096 };

/* The program's path: in TEXSOLVE_PEER_DIR, or next to this program in the build, or in the installation.
 * Returns 0 if it does not exist. */
int peer_find(const char *program, char path[PEER_PATH_SIZE]);

/* Writes the problem to a file. Nonzero on failure. */
typedef int (*peer_write)(FILE *file, const void *problem);

/* The answer of the program arguments[0]; NULL after a message. */
json_t *peer_ask(const char *const arguments[], peer_write write, const void *problem);

#endif
