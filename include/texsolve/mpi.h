/* texsolve on MPI: a library of its own, texsolve-mpi, so that nobody else needs MPI.
 *
 *   MPI_Init(&argc, &argv);
 *   ts_context_desc desc = {.backend = "cpu"};
 *   ts_mpi_context_create(&desc, MPI_COMM_WORLD, &context);
 *   // ... as in texsolve/ranks.h
 *   ts_context_destroy(&context);
 *   MPI_Finalize();
 *
 * What a context of several ranks does is in texsolve/ranks.h. */
#ifndef TEXSOLVE_MPI_H
#define TEXSOLVE_MPI_H

#include <mpi.h>

#include <texsolve/ranks.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opens a context on the ranks of a communicator, of which it makes one of its own: messages of the program do
 * not meet the library's. All ranks call it, after MPI_Init; the context is destroyed on all of them before
 * MPI_Finalize. If it fails on one rank, it fails on all. A rank that destroys its context or calls
 * MPI_Finalize while others wait for it is gone: two seconds later their calls return TS_ERROR_UNREACHABLE,
 * which names it. Destroying a context waits up to two seconds for the other ranks to do so. MPI_THREAD_SINGLE
 * is enough while one thread uses the library. Errors: those of ts_ranks_context_create. Message:
 * ts_last_error(NULL). */
TS_API ts_status ts_mpi_context_create(const ts_context_desc *desc, MPI_Comm communicator,
                                       ts_context **context);

/* What carries the messages of such a context, for ts_ranks_context_create: the first half of the above. */
TS_API ts_status ts_mpi_transport_create(MPI_Comm communicator, ts_transport *transport, char *error,
                                         size_t size);

#ifdef __cplusplus
}
#endif
#endif
