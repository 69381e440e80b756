/* Opens the module texsolve-direct. The module stays loaded, so a further call takes microseconds and keeps
 * nothing here. */
#define _GNU_SOURCE 1 /* dladdr, readlink */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/core/core.h"
#include "direct.h"

#if defined(TEXSOLVE_HAVE_DIRECT)

#include <dlfcn.h>
#include <unistd.h>

#if !defined(RTLD_NODELETE)
#define RTLD_NODELETE 0
#endif

/* Sets `text` to the directory of the path; "" if it has none. */
static void directory_of(const char *path, char *text, size_t size) {
  snprintf(text, size, "%s", path);
  char *slash = strrchr(text, '/');
  *(slash ? slash : text) = 0;
}

static void library_directory(char *text, size_t size) {
  Dl_info found;
  const void *here = TSI_DIRECT_FILE; /* an address among this library's constants */
  *text = 0;
  if (dladdr(here, &found) && found.dli_fname) directory_of(found.dli_fname, text, size);
}

/* If the library is linked statically, dladdr returns the name that the user typed. */
static void program_directory(char *text, size_t size) {
  char path[2000];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  *text = 0;
  if (length <= 0) return;
  path[length] = 0;
  directory_of(path, text, size);
}

static int is_file(const char *path) {
  return access(path, R_OK) == 0;
}

/* Searches next to the library or the program (the build's bin/), then in the directory of installed
 * libraries. */
static int find_module(char *path, size_t size) {
  static const char *const below[] = {"", "/texsolve", TEXSOLVE_MODULES};
  const char *given = getenv("TEXSOLVE_DIRECT_MODULE");
  char places[2][2000];
  if (given) {
    snprintf(path, size, "%s", given);
    return 1;
  }
  library_directory(places[0], sizeof places[0]);
  program_directory(places[1], sizeof places[1]);
  for (int p = 0; p < 2; p++)
    for (size_t k = 0; k < sizeof below / sizeof *below && *places[p]; k++) {
      snprintf(path, size, "%s%s/" TSI_DIRECT_FILE, places[p], below[k]);
      if (is_file(path)) return 1;
    }
  snprintf(path, size, "%s/" TSI_DIRECT_FILE, TEXSOLVE_MODULE_DIR);
  return is_file(path);
}

static ts_status fail(ts_context *context, const char *why) {
  return tsi_fail(context, TS_ERROR_UNAVAILABLE, "direct needs the module " TSI_DIRECT_FILE ": %s", why);
}

ts_status tsi_direct_open(ts_context *context, const tsi_direct_module **module) {
  char path[5000];
  *module = NULL;
  if (!find_module(path, sizeof path))
    return fail(context, "it is neither next to the library nor in " TEXSOLVE_MODULE_DIR
                         " (TEXSOLVE_DIRECT_MODULE names another file)");
  void *library = *path ? dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE) : NULL;
  if (!library) {
    const char *why = *path ? dlerror() : "TEXSOLVE_DIRECT_MODULE is empty";
    return fail(context, why ? why : path);
  }
  const tsi_direct_module *found = dlsym(library, TSI_DIRECT_SYMBOL);
  dlclose(library);
  if (!found || found->version != TSI_DIRECT_VERSION) return fail(context, "the file has another version");
  *module = found;
  return TS_OK;
}

#else

ts_status tsi_direct_open(ts_context *context, const tsi_direct_module **module) {
  *module = NULL;
  return tsi_fail(context, TS_ERROR_UNAVAILABLE,
                  "direct needs SuiteSparse, and this texsolve was built without it; install it (Debian: "
                  "libsuitesparse-dev), then configure and build again");
}

#endif

const char *ts_direct_libraries(void) {
  const tsi_direct_module *module;
  return tsi_direct_open(NULL, &module) < 0 ? NULL : module->libraries;
}
