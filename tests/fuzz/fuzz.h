/* Fuzz targets: each defines LLVMFuzzerTestOneInput, for clang's libFuzzer (scripts/fuzz) and for fuzz_main.c,
 * which runs files. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The path of a file with these bytes and this ending of its name, for readers that need a path. Every call
 * reuses the file, and it is removed at the end of the program. */
const char *fuzz_file(const char *ending, const uint8_t *data, size_t size);

/* The bytes as a source of choices. After the last byte all choices are 0. */
typedef struct fuzz_bytes {
  const uint8_t *next, *end;
} fuzz_bytes;
static inline int fuzz_read(fuzz_bytes *b, int count) {
  return b->next < b->end ? *b->next++ % count : 0;
}
/* One of a few numbers: ordinary, extreme, or not finite. */
double fuzz_number(fuzz_bytes *b);
float fuzz_float(fuzz_bytes *b); /* as a float, infinite if it is too large */

#endif
