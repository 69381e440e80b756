/* The command as a job of several processes that mpirun has started: rank 0 reads, says and writes, the others
 * compute. */
#ifndef CLI_RANKS_H
#define CLI_RANKS_H

#include <texsolve/ranks.h>

/* How many processes the job has, 1 without mpirun. From here on only rank 0 prints. */
int ranks_begin(void);
int ranks_are_several(void);
int ranks_is_root(void);
/* Whether mpirun has started this process, be it the only one. */
int ranks_are_a_job(void);
/* For a command that one process carries out: the exit status, after a message. */
int ranks_refuse(const char *command);
/* A context of all of them; the first call starts MPI. Message: ts_last_error(NULL). */
ts_status ranks_open(const ts_context_desc *desc, ts_context **context);
/* What joins them, after that. */
const ts_transport *ranks_transport(void);
/* All of them know of the failure that ends the command. */
void ranks_agreed(void);
/* Ends MPI where it was started: for all processes at once after a failure that only this one knows of. */
void ranks_end(int failed);

#endif
