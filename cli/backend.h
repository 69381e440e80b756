/* Opens the backend that the user selected. */
#ifndef CLI_BACKEND_H
#define CLI_BACKEND_H

#include <texsolve/texsolve.h>

/* `desc` contains the backend's name and the other selections; the program does the logging. Returns
 * EXIT_CONVERGED, or the exit status after a message. */
int backend_open(const ts_context_desc *desc, int verbosity, ts_context **context);

#endif
