/* The module texsolve-ranks.so, which has MPI in it: a program loads it by dlopen and asks for the symbol
 * "texsolve_mpi", so that it needs no MPI where it is started alone. */
#ifndef TEXSOLVE_MPI_MODULE_H
#define TEXSOLVE_MPI_MODULE_H

#include <texsolve/ranks.h>

typedef struct texsolve_mpi_module {
  /* Starts MPI where it is not yet, and makes a transport of all ranks. */
  ts_status (*start)(ts_transport *transport, char *error, size_t size);
  /* Ends MPI: with 0 when all ranks have come so far, else the whole job, which ends with that status. */
  void (*finish)(int failed);
} texsolve_mpi_module;

#define TEXSOLVE_MPI_MODULE "texsolve-ranks.so"

#endif
