/* Replaces the window of a program in a build without windows. */
#include "message.h"
#include "run_options.h"

int run_window(const struct program_options *options) {
  (void)options;
  message("this build has no windows, expected --headless");
  return EXIT_ERROR;
}
