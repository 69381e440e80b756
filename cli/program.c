#include "program.h"

#include <stdlib.h>

#include "message.h"
#include "platform.h"

static void flush_at_exit(void) {
  if (message_flush_stdout()) _Exit(1);
}

void program_begin(const char *name) {
  if (platform_reserve_descriptors()) _Exit(1);
  message_set_program(name);
  atexit(flush_at_exit);
}
