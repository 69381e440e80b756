/* A context on the ranks of a communicator. */
#include <texsolve/mpi.h>

ts_status ts_mpi_context_create(const ts_context_desc *desc, MPI_Comm communicator, ts_context **context) {
  ts_transport transport;
  char error[256] = "";
  if (context) *context = NULL;
  const ts_status status = ts_mpi_transport_create(communicator, &transport, error, sizeof error);
  if (status < 0) return ts_ranks_report(status, error);
  return ts_ranks_context_create(desc, &transport, context);
}
