#include "compressed.h"

#include <string.h>

const char *compressed_by(const char *bytes, size_t length) {
  static const struct {
    const char *program, *bytes;
    size_t length;
  } known[] = {{"gzip", "\x1f\x8b\x08", 3},
               {"bzip2", "BZh", 3},
               {"xz",
                "\xfd"
                "7zXZ",
                5},
               {"zstd", "\x28\xb5\x2f\xfd", 4}};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    if (length >= known[i].length && !memcmp(bytes, known[i].bytes, known[i].length)) return known[i].program;
  return NULL;
}
