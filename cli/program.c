#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "message.h"

/* Opened the wrong way round: to use a descriptor that was closed stays an error. */
static void reserve_descriptors(void) {
  for (int descriptor = 0; descriptor <= 2; descriptor++)
    if (fcntl(descriptor, F_GETFD) < 0 && errno == EBADF &&
        open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY) != descriptor)
      _exit(1);
}

static void flush_at_exit(void) {
  if (message_flush_stdout()) _exit(1);
}

void program_begin(const char *name) {
  reserve_descriptors();
  message_set_program(name);
  atexit(flush_at_exit);
}
