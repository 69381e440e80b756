/* Parts of `texsolve info`. */
#ifndef CLI_INFO_H
#define CLI_INFO_H

/* Reports on a job of several processes, as text or JSON: their number, the transport, and each rank's device.
 * All ranks call it. `backend` NULL: the default of solve. Returns the program's exit status. */
int info_of_ranks(const char *backend, int json);

#endif
