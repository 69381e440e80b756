/* contact: rigid bodies that touch, in a window or without one. */
#include "contact.h"

#include "interrupt.h"
#include "message.h"
#include "program.h"
#include "progress.h"

int main(int argc, char **argv) {
  program_options options;
  program_begin("contact");
  options_parse(argc, argv, &options);
  message_set_quiet(options.quiet);
  progress_enable(!options.quiet);
  return interrupt_finish(options.bench      ? run_bench(&options)
                          : options.headless ? run_headless(&options)
                                             : run_window(&options));
}
