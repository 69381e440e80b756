#include "backend_list.h"

#include <string.h>

int backend_list(const char *names[BACKEND_LIST_MOST]) {
  int count = 0;
  names[count++] = "gl";
#ifdef TEXSOLVE_HAVE_CUDA
  names[count++] = "cuda";
#endif
  names[count++] = "cpu";
  return count;
}

int backend_list_find(const char *backend) {
  const char *names[BACKEND_LIST_MOST];
  const int count = backend_list(names);
  const size_t length = strcspn(backend, ":");
  for (int k = 0; k < count; k++)
    if (strlen(names[k]) == length && strncmp(names[k], backend, length) == 0) return k;
  return 0;
}
