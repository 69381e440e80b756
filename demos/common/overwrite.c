#include "overwrite.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

int overwrite_may(overwrite *o, const char *path, char question[OVERWRITE_QUESTION]) {
  const int known = !strcmp(path, o->written) || !strcmp(path, o->asked);
  o->asked[0] = 0;
  if (known || access(path, F_OK) != 0) return 1;
  snprintf(o->asked, sizeof o->asked, "%s", path);
  snprintf(question, OVERWRITE_QUESTION, "%s exists already; the same again replaces it", o->asked);
  return 0;
}

const char *overwrite_done(overwrite *o, const char *path) {
  const int again = !strcmp(path, o->written);
  snprintf(o->written, sizeof o->written, "%s", path);
  return again ? ", replaced" : "";
}
