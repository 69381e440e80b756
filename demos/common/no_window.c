/* Of a program in a build without windows. */
#include <stdlib.h>

#include "message.h"

struct program_options;
int run_window(const struct program_options *options);

int run_window(const struct program_options *options) {
  (void)options;
  message("no window in this build, expected --headless");
  return EXIT_FAILURE;
}
