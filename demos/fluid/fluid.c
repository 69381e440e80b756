/* The program fluid: incompressible flow in two dimensions, in a window or without one. */
#include "fluid.h"

#include "program.h"

int main(int argc, char **argv) {
  program_options options;
  program_begin("fluid");
  options_parse(argc, argv, &options);
  return run_program(&options, &options.run);
}
