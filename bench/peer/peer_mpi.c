#include "peer_mpi.h"

#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

static int32_t first_row(const peer_system *s, int process, int processes) {
  const int32_t nodes = s->A.rows / s->A.unknowns;
  const int32_t row = (int32_t)((int64_t)nodes * process / processes) * s->A.unknowns;
  return process == processes ? s->A.rows : row;
}

peer_rows peer_mpi_rows_of(const peer_system *s, int rank, int processes) {
  const int32_t first = first_row(s, rank, processes);
  return (peer_rows){rank, processes, first, first_row(s, rank + 1, processes) - first};
}

peer_rows peer_mpi_rows(const peer_system *s) {
  int rank, processes;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  return peer_mpi_rows_of(s, rank, processes);
}

void *peer_mpi_alloc(size_t count, size_t size) {
  void *block = calloc(count + 1, size);
  if (!block) {
    fputs("out of memory\n", stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
  }
  return block;
}

double peer_mpi_begin(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Wtime();
}

double peer_mpi_seconds_since(double start) {
  double mine = MPI_Wtime() - start, longest;
  MPI_Allreduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return longest;
}

double peer_mpi_residual(const peer_system *s, const double *mine) {
  const peer_rows p = peer_mpi_rows(s);
  double *x = NULL, residual = 0;
  int *counts = NULL, *starts = NULL;
  if (p.rank == 0) {
    x = peer_mpi_alloc((size_t)s->A.rows, sizeof *x);
    counts = peer_mpi_alloc((size_t)p.processes, sizeof *counts);
    starts = peer_mpi_alloc((size_t)p.processes, sizeof *starts);
    for (int k = 0; k < p.processes; k++) {
      const peer_rows rows = peer_mpi_rows_of(s, k, p.processes);
      starts[k] = rows.first;
      counts[k] = rows.count;
    }
  }
  MPI_Gatherv(mine, p.count, MPI_DOUBLE, x, counts, starts, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (p.rank == 0) residual = peer_system_residual(s, x);
  free(starts);
  free(counts);
  free(x);
  return residual;
}
