/* The module that a program without MPI loads if it was started by mpirun: ts_ranks_module. */
#include <stdio.h>

#include <texsolve/mpi.h>

static ts_status mpi_module_start(ts_transport *transport, char *error, size_t size) {
  int started = 0;
  if (MPI_Initialized(&started) != MPI_SUCCESS || (!started && MPI_Init(NULL, NULL) != MPI_SUCCESS)) {
    snprintf(error, size, "MPI cannot be started");
    return TS_ERROR_UNREACHABLE;
  }
  return ts_mpi_transport_create(MPI_COMM_WORLD, transport, error, size);
}

static void finish(int failed) {
  if (failed)
    MPI_Abort(MPI_COMM_WORLD, failed);
  else
    MPI_Finalize();
}

extern TS_API const ts_ranks_module texsolve_mpi;
const ts_ranks_module texsolve_mpi = {mpi_module_start, finish};
