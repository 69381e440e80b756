/* Recognizes compressed files, so that readers can name the format instead of complaining about the bytes. */
#ifndef CLI_COMPRESSED_H
#define CLI_COMPRESSED_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The program that compressed a file with these first bytes; NULL: unknown. */
const char *compressed_by(const char *bytes, size_t length);

#ifdef __cplusplus
}
#endif
#endif
