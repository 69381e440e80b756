/* Shared code of the programs that run under MPI. Every process makes the whole matrix and solves with its own
 * rows. All functions except peer_mpi_alloc and peer_mpi_rows_of are collective. */
#ifndef BENCH_PEER_MPI_H
#define BENCH_PEER_MPI_H

#include "peer_system.h"

typedef struct peer_rows {
  int rank, processes;
  int32_t first, count; /* this process's rows */
} peer_rows;

/* Contiguous and equal parts; a node's rows stay in one process. */
peer_rows peer_mpi_rows_of(const peer_system *s, int rank, int processes);
peer_rows peer_mpi_rows(const peer_system *s);

/* Allocates zeros. Ends all processes if memory is exhausted. */
void *peer_mpi_alloc(size_t count, size_t size);

/* Wall-clock seconds of the slowest process since the common start. */
double peer_mpi_begin(void);
double peer_mpi_seconds_since(double start);

/* peer_system_residual on the first process, 0 on others. `mine`: this process's rows of x. */
double peer_mpi_residual(const peer_system *s, const double *mine);

#endif
