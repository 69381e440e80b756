#include "ranks.h"

#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "message.h"
#include "platform.h"

static int rank, ranks = 1, is_job, agreed;
static const ts_ranks_module *module;
static ts_transport transport; /* with its description; the context has a copy */

/* The value of the first variable that is set. */
static int number_of(const char *const names[], int otherwise) {
  for (; *names; names++) {
    const char *text = getenv(*names);
    if (text && *text) return atoi(text);
  }
  return otherwise;
}

int ranks_begin(void) {
  /* Open MPI; MPICH and Intel MPI. Slurm's own start with PMIx sets neither. */
  static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", NULL}, *const numbers[] = {
                                                                                     "OMPI_COMM_WORLD_RANK",
                                                                                     "PMI_RANK", NULL};
  ranks = number_of(sizes, 0);
  is_job = ranks > 0;
  if (!is_job) ranks = 1;
  rank = number_of(numbers, 0);
  if (rank > 0) platform_be_silent();
  return ranks;
}

int ranks_are_several(void) {
  return ranks > 1;
}

int ranks_is_root(void) {
  return rank == 0;
}

int ranks_are_a_job(void) {
  return is_job;
}

int ranks_refuse(const char *command) {
  message("mpirun started %d processes, but %s uses one; info, solve and bench scaling use several", ranks,
          command);
  return EXIT_USAGE;
}

#ifdef TEXSOLVE_HAVE_MPI
/* The module is next to the program in the build's bin/, and in the library directory after installation. */
static ts_status load_module(void) {
  static const char *const places[] = {"", "/" TEXSOLVE_MODULES};
  char directory[3000], path[3400], why[400] = "", error[600];
  if (platform_own_directory(directory, sizeof directory)) directory[0] = 0;
  for (int k = 0; k < 2 && !module; k++) {
    snprintf(path, sizeof path, "%s%s/%s", directory, places[k], TS_RANKS_MODULE);
    module = platform_load(path, "texsolve_mpi", why, sizeof why);
  }
  if (module) return TS_OK;
  snprintf(error, sizeof error,
           "mpirun has started %d processes, which " TS_RANKS_MODULE
           " would join, and that cannot be loaded: %s",
           ranks, why);
  return ts_ranks_report(TS_ERROR_UNAVAILABLE, error);
}
#else
/* Installing an MPI after the build does not help. */
static ts_status load_module(void) {
  char error[600];
  snprintf(error, sizeof error,
           "mpirun has started %d processes, and this texsolve was built without MPI; install an MPI (Debian: "
           "libopenmpi-dev), then configure and build again",
           ranks);
  return ts_ranks_report(TS_ERROR_UNAVAILABLE, error);
}
#endif

ts_status ranks_open(const ts_context_desc *desc, ts_context **context) {
  char error[600];
  *context = NULL;
  ts_status status = module ? TS_OK : load_module();
  if (status < 0) return status;
  status = module->start(&transport, error, sizeof error);
  return status < 0 ? ts_ranks_report(status, error) : ts_ranks_context_create(desc, &transport, context);
}

const ts_transport *ranks_transport(void) {
  return &transport;
}

void ranks_agreed(void) {
  agreed = 1;
}

void ranks_end(int failed) {
  if (module) module->finish(failed && !agreed);
}
