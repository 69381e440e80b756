#include "fuzz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[64], path[128];

static void remove_file(void) {
  unlink(path);
  rmdir(directory);
}

const char *fuzz_file(const char *ending, const uint8_t *data, size_t size) {
  if (!*directory) {
    snprintf(directory, sizeof directory, "%s/texsolve-fuzz-XXXXXX",
             access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    if (!mkdtemp(directory)) abort();
    atexit(remove_file);
  }
  if (*path) unlink(path);
  snprintf(path, sizeof path, "%s/file.%s", directory, ending);
  FILE *file = fopen(path, "wb");
  if (!file || (size && fwrite(data, 1, size, file) != size) || fclose(file)) abort();
  return path;
}

double fuzz_number(fuzz_bytes *b) {
  static const double numbers[] = {0,    1,     -1,     2,      4,     0.5,      -0.25,    3,
                                   1e-6, 1e6,   -1e3,   1e20,   1e-20, 1e38,     1e-38,    1e-44,
                                   3e38, 1e150, -1e300, 1e-300, NAN,   INFINITY, -INFINITY};
  const int count = (int)(sizeof numbers / sizeof numbers[0]);
  const int choice = fuzz_read(b, 256);
  /* Mostly small integers, because solves make progress with them. */
  return choice < 192 ? choice % 16 - 4 : numbers[choice % count];
}

float fuzz_float(fuzz_bytes *b) {
  const double number = fuzz_number(b);
  return fabs(number) > 3.4e38 ? (float)copysign(INFINITY, number) : (float)number;
}
