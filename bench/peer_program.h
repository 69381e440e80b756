/* Other libraries beside texsolve: each is a program of its own, so that texsolve starts where the library is
 * missing. It gets its problem on standard input and answers with a JSON object. */
#ifndef BENCH_PEER_PROGRAM_H
#define BENCH_PEER_PROGRAM_H

#include <jansson.h>
#include <stdio.h>

enum { PEER_PATH_SIZE = 4096 };

/* Its path: in TEXSOLVE_PEER_DIR, or else beside this program, where it is built, or where it is installed.
 * 0: there is none. */
int peer_find(const char *program, char path[PEER_PATH_SIZE]);

/* Writes the problem to a file, nonzero on failure. */
typedef int (*peer_write)(FILE *file, const void *problem);

/* The answer of the program arguments[0]; NULL after a message. */
json_t *peer_ask(const char *const arguments[], peer_write write, const void *problem);

#endif
