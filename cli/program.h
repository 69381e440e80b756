/* How every program begins and ends. */
#ifndef CLI_PROGRAM_H
#define CLI_PROGRAM_H

/* To be called first in main. The name, which is not copied, begins every message. Closed descriptors among 0
 * to 2 are reserved, so that no file that is opened later gets what is meant for standard output or error; and
 * what was written to standard output is known to have arrived when the program ends, also where argp printed
 * the help: else it ends with status 1. */
void program_begin(const char *name);

#endif
