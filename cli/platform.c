/* What is the same on all systems. platform_posix.c, platform_processes.c and platform_windows.c have the rest.
 */
#include "platform.h"

#include <stdlib.h>
#include <string.h>

char *copy_text(const char *text) {
  const size_t size = strlen(text) + 1;
  char *copy = malloc(size);
  return copy ? memcpy(copy, text, size) : NULL;
}

static int lower(char c) {
  return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

int same_letters(const char *a, const char *b, size_t length) {
  size_t k = 0;
  while (k < length && lower(a[k]) == lower(b[k])) k++;
  return k == length;
}
