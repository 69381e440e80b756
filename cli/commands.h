/* The subcommands. Each receives its own argv and returns the program's exit status. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

enum { EXIT_CONVERGED = 0, EXIT_ERROR = 1, EXIT_USAGE = 2, EXIT_NOT_CONVERGED = 3 };

int cmd_info(int argc, char **argv);
int cmd_solve(int argc, char **argv);
int cmd_poisson(int argc, char **argv);
int cmd_lcp(int argc, char **argv);
int cmd_bench(int argc, char **argv);

#endif
