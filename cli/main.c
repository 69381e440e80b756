/* The texsolve command: finds the subcommand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <texsolve/texsolve.h>

#include "commands.h"
#include "message.h"
#include "program.h"

typedef struct command {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *summary;
} command;

static const command commands[] = {
    {"info", cmd_info, "list backends, devices and limits"},
    {"solve", cmd_solve, "solve a system from Matrix Market files"},
    {"poisson", cmd_poisson, "solve a Poisson problem on a grid by multigrid"},
    {"lcp", cmd_lcp, "solve a complementarity problem, with friction or without"},
    {"bench", cmd_bench, "measure the device and the library on it"},
};
enum { command_count = sizeof commands / sizeof commands[0] };

static void print_help(FILE *stream) {
  fputs("Usage: texsolve COMMAND [OPTION...]\n"
        "Sparse linear systems on the graphics pipeline.\n\n",
        stream);
  for (int i = 0; i < command_count; i++) fprintf(stream, "  %-8s %s\n", commands[i].name, commands[i].summary);
  fputs("\n`texsolve COMMAND --help' lists a command's options; `texsolve --version' prints the version.\nExit "
        "status: 0 success, 1 error, 2 wrong usage, 3 a solve that did not converge.\nCtrl+C stops a solve and "
        "writes the last x; pressed again, it ends the program at once.\n",
        stream);
}

int main(int argc, char **argv) {
  program_begin("texsolve");
  if (argc < 2) {
    print_help(stderr);
    return EXIT_USAGE;
  }
  const char *word = argv[1];
  if (!strcmp(word, "--version") || !strcmp(word, "-V")) {
    printf("texsolve %s\n", ts_version());
    return message_flush_stdout() ? EXIT_ERROR : EXIT_SUCCESS;
  }
  if (!strcmp(word, "--help") || !strcmp(word, "-?") || !strcmp(word, "-h") ||
      (!strcmp(word, "help") && argc == 2)) {
    print_help(stdout);
    return message_flush_stdout() ? EXIT_ERROR : EXIT_SUCCESS;
  }
  /* "texsolve help solve" is "texsolve solve --help". */
  char help_option[] = "--help";
  char *help_arguments[] = {argv[0], help_option, NULL};
  const int help = !strcmp(word, "help");
  if (help) word = argv[2];
  for (int i = 0; i < command_count; i++) {
    if (strcmp(word, commands[i].name)) continue;
    return help ? commands[i].run(2, help_arguments) : commands[i].run(argc - 1, argv + 1);
  }
  char known[100] = "";
  for (int i = 0; i < command_count; i++) {
    const size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", commands[i].name);
  }
  message("unknown command '%.40s', expected one of %s", word, known);
  return EXIT_USAGE;
}
