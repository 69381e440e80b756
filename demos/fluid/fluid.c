/* fluid: incompressible flow in two dimensions, in a window or without one. */
#include "fluid.h"

#include "message.h"
#include "program.h"
#include "progress.h"
#ifdef FLUID_WINDOW
#include "window.h"

static int run_window(const program_options *given) {
  program_options options = *given;
  char why[SIMULATION_MESSAGE];
  simulation *s = NULL;
  if (fluid_window_open(0, 0, why)) {
    message("%s; --headless does without", why);
    return EXIT_ERROR;
  }
  options.simulation.platform = TS_GL_PLATFORM_CURRENT;
  int failed = simulation_create(&options.simulation, &s, why);
  if (!failed) {
    fluid_look look = fluid_look_of(s);
    if (options.field_given) look.field = options.look.field;
    if (options.look.arrows) look.arrows = 1;
    if (options.look.range > 0) look.range = options.look.range;
    const fluid_window_options window = {.look = &look,
                                         .steps_per_frame = options.steps_per_frame,
                                         .screenshot = options.screenshot,
                                         .film = options.film};
    failed = fluid_window_run(&s, &window, why);
  }
  if (failed) message("%s", why);
  simulation_destroy(&s);
  fluid_window_close();
  return failed ? EXIT_ERROR : EXIT_MADE;
}

#else

static int run_window(const program_options *options) {
  (void)options;
  message("no window in this build, expected --headless");
  return EXIT_ERROR;
}

#endif

int main(int argc, char **argv) {
  program_options options;
  program_begin("fluid");
  options_parse(argc, argv, &options);
  message_set_quiet(options.quiet);
  progress_enable(!options.quiet);
  if (options.bench) return run_bench(&options);
  return options.headless ? run_headless(&options) : run_window(&options);
}
