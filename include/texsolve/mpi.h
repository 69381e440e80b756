/* texsolve on MPI: the separate library texsolve-mpi, so that other programs do not need MPI.
 *
 *   MPI_Init(&argc, &argv);
 *   ts_context_desc desc = {.backend = "cpu"};
 *   ts_mpi_context_create(&desc, MPI_COMM_WORLD, &context);
 *   // ... as in texsolve/ranks.h
 *   ts_context_destroy(&context);
 *   MPI_Finalize();
 *
 * texsolve/ranks.h describes contexts of several ranks. */
#ifndef TEXSOLVE_MPI_H
#define TEXSOLVE_MPI_H

#include <mpi.h>

#include <texsolve/ranks.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opens a context on the ranks of a communicator. The communicator is duplicated, so messages of the program
 * and of the library do not mix. All ranks must call it, after MPI_Init, and must destroy the context before
 * MPI_Finalize. If it fails on one rank, it fails on all. One thread at a time may use the library, for which
 * MPI_THREAD_SINGLE is sufficient.
 *
 * If a rank destroys its context or calls MPI_Finalize while others wait for it, their calls return
 * TS_ERROR_UNREACHABLE two seconds later, and the message names the rank. Destroying a context waits up to two
 * seconds for the other ranks to do so.
 * Errors: those of ts_ranks_context_create. ts_last_error(NULL) explains an error. */
TS_API ts_status ts_mpi_context_create(const ts_context_desc *desc, MPI_Comm communicator,
                                       ts_context **context);

/* Creates the transport of such a context, for ts_ranks_context_create. `error` receives one line of at most
 * `size` bytes if it fails. */
TS_API ts_status ts_mpi_transport_create(MPI_Comm communicator, ts_transport *transport, char *error,
                                         size_t size);

#ifdef __cplusplus
}
#endif
#endif
