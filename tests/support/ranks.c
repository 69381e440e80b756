#define _GNU_SOURCE
#include "ranks.h"

#include <dlfcn.h>
#include <stdio.h>

static const ts_ranks_module *module;

static const char *load(void) {
#ifdef TEXSOLVE_TEST_MPI
  void *library = dlopen(TEXSOLVE_TEST_MPI, RTLD_NOW | RTLD_GLOBAL);
  if (!library) return dlerror();
  module = dlsym(library, "texsolve_mpi");
  return module ? NULL : dlerror();
#else
  return "texsolve was built without MPI";
#endif
}

ts_status ranks_open(const ts_context_desc *desc, ts_context **context) {
  ts_transport transport;
  char error[256];
  if (context) *context = NULL;
  const char *missing = module ? NULL : load();
  if (missing) return ts_ranks_report(TS_ERROR_UNAVAILABLE, missing);
  const ts_status status = module->start(&transport, error, sizeof error);
  return status < 0 ? ts_ranks_report(status, error) : ts_ranks_context_create(desc, &transport, context);
}

void ranks_close(int failed) {
  if (module) module->finish(failed);
  module = NULL;
}
