/* Gzip files, using zlib if the build has it (TEXSOLVE_ZLIB). */
#ifndef CLI_GZIP_H
#define CLI_GZIP_H

#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The first byte of every gzip file; text files never begin with it. */
enum { GZIP_FIRST_BYTE = 0x1f };

/* Whether the functions below are implemented. */
int gzip_is_built(void);

/* Uncompresses all bytes and appends a zero byte; the caller frees the result. On failure returns NULL and the
 * cause in *why, or NULL in *why if memory is exhausted. */
char *gzip_unpack(const char *bytes, size_t length, size_t *unpacked, const char **why);

/* Opens a stream that compresses into `to` with several threads. fclose fails if a write failed; `to` stays
 * open. Returns NULL and sets errno on failure. */
FILE *gzip_open_writer(FILE *to);

#ifdef __cplusplus
}
#endif
#endif
