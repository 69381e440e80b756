/* Contexts over several ranks, for test programs that mpirun starts. */
#ifndef TEST_RANKS_H
#define TEST_RANKS_H

#include <texsolve/ranks.h>

/* Calls ts_ranks_context_create on the ranks of the job. The first call starts MPI. */
ts_status ranks_open(const ts_context_desc *desc, ts_context **context);
/* Ends MPI if it was started. A failure ends the whole job. */
void ranks_close(int failed);

#endif
