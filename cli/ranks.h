/* The command as a job of several processes started by mpirun: rank 0 reads, prints and writes, the others only
 * compute. */
#ifndef CLI_RANKS_H
#define CLI_RANKS_H

#include <texsolve/ranks.h>

/* The number of processes; 1 without mpirun. From now on only rank 0 prints. */
int ranks_begin(void);
int ranks_are_several(void);
int ranks_is_root(void);
/* Whether mpirun started this process, even if it is the only one. */
int ranks_are_a_job(void);
/* For commands that run in one process: prints a message and returns the exit status. */
int ranks_refuse(const char *command);
/* Opens a context of all processes; the first call starts MPI. Message: ts_last_error(NULL). */
ts_status ranks_open(const ts_context_desc *desc, ts_context **context);
/* The transport between the ranks, after ranks_open. */
const ts_transport *ranks_transport(void);
/* Call it when all ranks know of the failure that ends the command. */
void ranks_agreed(void);
/* Ends MPI if it was started. After a failure that only this rank knows of, it ends all processes. */
void ranks_end(int failed);

#endif
