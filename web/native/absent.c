/* What the module does not contain: the backend check, and several devices or processes as one. The linker
 * takes these definitions and leaves the objects in src/check and src/multi out. */
#include <texsolve/ranks.h>

#include "common/core/core.h"

static ts_status open_absent(ts_context *context) {
  return tsi_fail(context, TS_ERROR_UNAVAILABLE, "the WebAssembly module has the backends gl and cpu");
}

const tsi_ops tsi_check_ops = {.open = open_absent};
const tsi_ops tsi_multi_ops = {.open = open_absent};

int ts_ranks_get_rank(const ts_context *context) {
  (void)context;
  return 0;
}

int ts_ranks_get_count(const ts_context *context) {
  (void)context;
  return 1;
}
