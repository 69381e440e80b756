#include "backend_choice.h"

#include <stdio.h>
#include <string.h>

#include <texsolve/texsolve.h>

#include "ui.h"

/* The window itself is proof of OpenGL, and a CPU is always there. */
static const char *why_absent(const char *backend) {
  static char reason[160];
  static int asked;
  if (strcmp(backend, "cuda") != 0) return NULL;
  if (!asked) {
    const ts_context_desc desc = {.backend = backend};
    ts_context *context = NULL;
    asked = 1;
    if (ts_context_create(&desc, &context) != TS_OK) snprintf(reason, sizeof reason, "%s", ts_last_error(NULL));
    ts_context_destroy(&context);
  }
  /* "backend cuda is not available: this texsolve was built without CUDA" */
  const char *colon = strstr(reason, ": ");
  return colon ? colon + 2 : reason[0] ? reason : NULL;
}

const char *backend_choice(const char *now) {
  const size_t length = strcspn(now, ":");
  const char *chosen = NULL, *name;
  if (!ui_menu_begin("backend", now)) return NULL;
  for (int k = 0; (name = ts_backend_name(k)); k++) {
    const int used = strlen(name) == length && strncmp(name, now, length) == 0;
    if (ui_menu_item(name, used, used ? NULL : why_absent(name)) && !used) chosen = name;
  }
  ui_menu_end();
  return chosen;
}
