/* Fuzz targets: each defines LLVMFuzzerTestOneInput, for clang's libFuzzer (scripts/fuzz) and for fuzz_main.c,
 * which runs files. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A file with these bytes, whose name has this ending, for readers that take a path. The same file each time;
 * it is gone when the program ends. */
const char *fuzz_file(const char *ending, const uint8_t *data, size_t size);

/* The bytes as a source of choices; 0 where there are no more. */
typedef struct fuzz_bytes {
  const uint8_t *next, *end;
} fuzz_bytes;
static inline int fuzz_read(fuzz_bytes *b, int count) {
  return b->next < b->end ? *b->next++ % count : 0;
}
/* One of a few numbers: ordinary, extreme, and none. */
double fuzz_number(fuzz_bytes *b);
float fuzz_float(fuzz_bytes *b); /* the same as a float, infinite where it is too large */

#endif
