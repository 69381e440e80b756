/* The program contact: rigid bodies with contacts, in a window or without one. */
#include "contact.h"

#include "program.h"

int main(int argc, char **argv) {
  program_options options;
  program_begin("contact");
  options_parse(argc, argv, &options);
  return run_program(&options, &options.run);
}
