/* Runs a fuzz target on files and on the files in directories: fuzz_x PATH... */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static int run_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) {
    perror(path);
    return 1;
  }
  size_t size = 0, room = 1 << 16;
  uint8_t *data = malloc(room);
  for (size_t got; data && (got = fread(data + size, 1, room - size, file)) > 0;) {
    size += got;
    if (size == room) data = realloc(data, room *= 2);
  }
  fclose(file);
  if (!data) return 1;
  /* Exactly as large as the data, so that a sanitizer detects reads past the end. */
  uint8_t *exact = malloc(size ? size : 1);
  if (exact) memcpy(exact, data, size);
  free(data);
  if (!exact) return 1;
  printf("%s\n", path);
  fflush(stdout);
  LLVMFuzzerTestOneInput(exact, size);
  free(exact);
  return 0;
}

int main(int argc, char **argv) {
  int failed = 0, count = 0;
  for (int i = 1; i < argc; i++) {
    DIR *directory = opendir(argv[i]);
    if (!directory) {
      failed |= run_file(argv[i]);
      count++;
      continue;
    }
    char path[4096];
    for (const struct dirent *e; (e = readdir(directory));) {
      if (e->d_name[0] == '.') continue;
      snprintf(path, sizeof path, "%s/%s", argv[i], e->d_name);
      failed |= run_file(path);
      count++;
    }
    closedir(directory);
  }
  printf("%d inputs\n", count);
  return failed || count == 0;
}
