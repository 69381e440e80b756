/* Files that gzip has compressed, by zlib where the build has it (TEXSOLVE_ZLIB). */
#ifndef CLI_GZIP_H
#define CLI_GZIP_H

#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The first byte of every such file; no text begins with it. */
enum { GZIP_FIRST_BYTE = 0x1f };

/* Whether the functions below do anything. */
int gzip_is_built(void);

/* All that the compressed bytes hold, with a zero byte behind it, to be freed. Returns NULL and in *why what is
 * wrong with them; NULL there means that there is no memory. */
char *gzip_unpack(const char *bytes, size_t length, size_t *unpacked, const char **why);

/* A stream that compresses what is written to it into `to`, by several threads. Closing it is an error where a
 * write was; `to` stays open. NULL with errno. */
FILE *gzip_open_writer(FILE *to);

#ifdef __cplusplus
}
#endif
#endif
