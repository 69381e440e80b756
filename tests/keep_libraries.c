/* For leak checks: an OpenGL driver that was unloaded before the check has no name any more, and
 * tests/lsan.supp can not tell its leaks from ours. Marks every library that is loaded now as one that stays.
 */
#define _GNU_SOURCE 1 /* dl_iterate_phdr, RTLD_NOLOAD */
#include <dlfcn.h>
#include <link.h>

#include "test.h"

static int keep(struct dl_phdr_info *info, size_t size, void *user) {
  (void)size, (void)user;
  /* The handle is let go: with NODELETE the library stays all the same. */
  void *handle = info->dlpi_name[0] ? dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) : NULL;
  if (handle) dlclose(handle);
  return 0;
}

void test_keep_libraries(void) {
  dl_iterate_phdr(keep, NULL);
}
