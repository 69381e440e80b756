/* Start and end of every program. */
#ifndef CLI_PROGRAM_H
#define CLI_PROGRAM_H

/* Call it first in main. The name, which is not copied, begins every message. Closed descriptors among 0 to 2
 * are reserved, so that files opened later do not receive standard output or error. At exit, also after argp's
 * help, the program ends with status 1 if output to standard output was lost. */
void program_begin(const char *name);

#endif
