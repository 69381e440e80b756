/* Files that are compressed, which readers name instead of what their bytes look like. */
#ifndef CLI_COMPRESSED_H
#define CLI_COMPRESSED_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The program that has compressed what begins with these bytes; NULL: none that is known. */
const char *compressed_by(const char *bytes, size_t length);

#ifdef __cplusplus
}
#endif
#endif
