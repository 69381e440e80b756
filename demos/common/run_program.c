#include "run_options.h"

#include "interrupt.h"
#include "message.h"
#include "progress.h"

void run_options_check(const run_options *run) {
  if (run->bench)
    options_refuse("--bench writes no files and cannot be combined with ",
                   OPTION_NAMES("output", "profile", "video", "picture", "frames-dir"), "");
  if (!run->headless && !run->bench)
    options_refuse("", OPTION_NAMES("frames-dir", "profile", "json", "frames"), " needs --headless");
}

int run_program(const struct program_options *options, const run_options *run) {
  message_set_quiet(run->quiet);
  progress_enable(!run->quiet);
  return interrupt_finish(run->bench      ? run_bench(options)
                          : run->headless ? run_headless(options)
                                          : run_window(options));
}
