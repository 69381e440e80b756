/* Opens the backend that the user named. */
#ifndef CLI_BACKEND_H
#define CLI_BACKEND_H

#include <texsolve/texsolve.h>

/* `desc` has the backend's name and what else the user chose; the log is the program's. Returns EXIT_CONVERGED,
 * or the exit status after a message. */
int backend_open(const ts_context_desc *desc, int verbosity, ts_context **context);

#endif
