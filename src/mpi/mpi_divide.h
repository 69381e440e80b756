/* Partitions a graph over the ranks: ts_transport.divide. */
#ifndef MPI_DIVIDE_H
#define MPI_DIVIDE_H

#include <texsolve/mpi.h>

/* Whether PT-Scotch is built in. */
extern const int mpi_divides;
ts_status mpi_divide(MPI_Comm communicator, int rank, int ranks, const ts_ranks_graph *graph, int32_t *rank_of,
                     char *error, size_t size);

#endif
