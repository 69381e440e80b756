/* Messages between ranks by MPI.
 *
 * Data uses a separate communicator, with the epoch as tag. Waiting for a batch is a loop over MPI_Testall.
 * From time to time it checks two other things: whether a rank has sent word, on a second communicator, and
 * whether the processes of this host still exist. (mpirun watches those of other hosts, and ends a job that has
 * lost a process.)
 *
 * A word reports that an epoch is over or that a rank leaves. A rank leaves when it closes its transport or
 * calls MPI_Finalize, which first deletes the attributes of MPI_COMM_SELF. A rank that waits for a rank that
 * has left notifies all others before it fails, because they may be waiting for it. */
#define _GNU_SOURCE 1 /* readlink, gethostname, clock_gettime */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mpi_divide.h"
#if defined OPEN_MPI && defined __has_include
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#endif

enum { largest = 1 << 30, least_tags = 32768 /* guaranteed by every MPI */ };
/* Seconds in which the last messages of a rank that leaves arrive. */
static const double grace = 2;

/* Where a rank runs. Process ids are comparable only within one host and one pid namespace. */
typedef struct place {
  char host[120];
  long process;
} place;

/* An epoch that was stopped, and the first call affected. Instead of an epoch: */
typedef struct stop_word {
  int epoch, call;
} stop_word;
enum {
  LEAVES = -2, /* the sender leaves */
  MISSING = -3 /* the sender has waited for rank `call`, which has left */
};

/* Exists while its message may be in transit. */
typedef struct stop_note {
  struct stop_note *next;
  stop_word word;
} stop_note;

enum { FEW = 2 /* requests of an agreement, which does not allocate */ };

typedef struct mpi_batch {
  int epoch, count;
  MPI_Request *requests;
  int *ranks; /* of the requests */
} mpi_batch;

typedef struct mpi_state {
  MPI_Comm data, control;
  int rank, ranks;
  int tags; /* number of distinguishable epochs; leftover messages must not match a new epoch */
  place *places;
  stop_note *notes, *reserve; /* reserve: for the next stop if out of memory */
  stop_word missed;           /* the word sent as MISSING */
  double *left;               /* per rank: the time when it announced leaving; 0: it has not */
  int missing;                /* a rank that has left and is waited for; -1: none */
  int keyval, attached;       /* for the attribute of MPI_COMM_SELF */
  mpi_batch few;              /* a preallocated batch; free if requests is NULL */
  MPI_Request few_requests[FEW];
  int few_ranks[FEW];
  stop_word heard; /* of the last epoch stopped by another rank, the first call; -1: none */
  int lost;
  double looked; /* when `look` last checked the processes */
} mpi_state;

static ts_status failed(mpi_state *state, int code, const char *what, char *error, size_t size) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  for (char *c = text; *c; c++)
    if (*c == '\n') *c = ' ';
  snprintf(error, size, "%s: %s", what, text);
  if (state) state->lost = 1;
  return TS_ERROR_UNREACHABLE;
}

/* ---- Batches ---- */

static int pieces_of(size_t bytes) {
  return bytes ? (int)((bytes - 1) / largest + 1) : 1;
}

static int mpi_transport_start(const mpi_state *state, int tag, const ts_message *m, size_t from,
                               MPI_Request *request) {
  const size_t left = m->bytes - from;
  const int bytes = left > largest ? largest : (int)left;
  char *data = (char *)m->data + from;
  return m->receives ? MPI_Irecv(data, bytes, MPI_BYTE, m->rank, tag, state->data, request)
                     : MPI_Isend(data, bytes, MPI_BYTE, m->rank, tag, state->data, request);
}

static int count_tags(MPI_Comm communicator) {
  int *most = NULL, found = 0;
  if (MPI_Comm_get_attr(communicator, MPI_TAG_UB, &most, &found) != MPI_SUCCESS || !found) return least_tags;
  return *most;
}

static mpi_batch *make_batch(mpi_state *state, int epoch, int pieces) {
  const size_t bytes = sizeof(mpi_batch) + (size_t)pieces * (sizeof(MPI_Request) + sizeof(int));
  mpi_batch *batch = pieces <= FEW && !state->few.requests ? &state->few : malloc(bytes);
  if (!batch) return NULL;
  MPI_Request *requests = batch == &state->few ? state->few_requests : (MPI_Request *)(batch + 1);
  int *ranks = batch == &state->few ? state->few_ranks : (int *)(requests + pieces);
  *batch = (mpi_batch){.epoch = epoch, .requests = requests, .ranks = ranks};
  return batch;
}

static void free_batch(mpi_state *state, mpi_batch *batch) {
  if (batch == &state->few)
    batch->requests = NULL;
  else
    free(batch);
}

static ts_status mpi_transport_begin(void *user, int epoch, const ts_message *messages, int count, void **out,
                                     char *error, size_t size) {
  mpi_state *state = user;
  int pieces = 0;
  for (int k = 0; k < count; k++) pieces += pieces_of(messages[k].bytes);
  mpi_batch *batch = make_batch(state, epoch, pieces);
  if (!batch) {
    snprintf(error, size, "out of host memory for %d messages", pieces);
    return TS_ERROR_OUT_OF_HOST_MEMORY;
  }
  for (int k = 0; k < count; k++)
    for (int piece = 0; piece < pieces_of(messages[k].bytes); piece++) {
      batch->ranks[batch->count] = messages[k].rank;
      const int code = mpi_transport_start(state, epoch % state->tags, &messages[k], (size_t)piece * largest,
                                           &batch->requests[batch->count++]);
      if (code == MPI_SUCCESS) continue;
      free_batch(state, batch);
      return failed(state, code, messages[k].receives ? "MPI_Irecv" : "MPI_Isend", error, size);
    }
  *out = batch;
  return TS_OK;
}

/* ---- Waiting ---- */

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void note_word(mpi_state *state, stop_word word, int from) {
  stop_word *heard = &state->heard;
  if (word.epoch == LEAVES) state->left[from] = seconds();
  if (word.epoch == MISSING) state->missing = word.call;
  if (word.epoch < 0) return;
  if (word.epoch > heard->epoch || (word.epoch == heard->epoch && word.call < heard->call)) *heard = word;
}

static int is_stopped(const mpi_state *state, int epoch, int call) {
  return call >= 0 && state->heard.epoch == epoch && state->heard.call <= call;
}

/* Receives words about stopped epochs. */
static int listen_to_others(mpi_state *state) {
  for (int there = 1; there;) {
    MPI_Status status;
    stop_word word;
    int code = MPI_Iprobe(MPI_ANY_SOURCE, 0, state->control, &there, &status);
    if (code == MPI_SUCCESS && there)
      code = MPI_Recv(&word, 2, MPI_INT, status.MPI_SOURCE, 0, state->control, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) return code;
    if (there) note_word(state, word, status.MPI_SOURCE);
  }
  return MPI_SUCCESS;
}

/* Neither waits nor allocates: `word` must remain valid until all ranks have received it. */
static int notify_all(const mpi_state *state, const stop_word *word) {
  int failed = MPI_SUCCESS;
  for (int r = 0; r < state->ranks; r++) {
    MPI_Request request;
    if (r == state->rank) continue;
    const int code = MPI_Isend(word, 2, MPI_INT, r, 0, state->control, &request);
    if (code == MPI_SUCCESS)
      MPI_Request_free(&request);
    else
      failed = code;
  }
  return failed;
}

/* A rank that has left and for which the batch has waited long enough; -1: none. */
static int find_missing(const mpi_state *state, const mpi_batch *batch, double now) {
  for (int k = 0; k < batch->count; k++) {
    int done = 0;
    const double left = state->left[batch->ranks[k]];
    if (left == 0 || now - left < grace) continue;
    if (MPI_Request_get_status(batch->requests[k], &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done)
      return batch->ranks[k];
  }
  return -1;
}

static ts_status check_leaving(mpi_state *state, const mpi_batch *batch, double now, char *error, size_t size) {
  if (state->missing < 0 && batch) {
    state->missing = find_missing(state, batch, now);
    state->missed = (stop_word){MISSING, state->missing};
    if (state->missing >= 0) notify_all(state, &state->missed);
  }
  if (state->missing < 0) return TS_OK;
  snprintf(error, size, "rank %d is gone: it has closed its context or called MPI_Finalize", state->missing);
  state->lost = 1;
  return TS_ERROR_UNREACHABLE;
}

static ts_status check_processes(mpi_state *state, char *error, size_t size) {
  const place *mine = &state->places[state->rank];
  for (int r = 0; r < state->ranks; r++) {
    const place *p = &state->places[r];
    if (strcmp(p->host, mine->host) != 0 || kill((pid_t)p->process, 0) == 0 || errno != ESRCH) continue;
    snprintf(error, size, "rank %d is gone: process %ld has ended", r, p->process);
    state->lost = 1;
    return TS_ERROR_UNREACHABLE;
  }
  return TS_OK;
}

/* Cancels the rest of a batch that nobody waits for. MPI keeps sends that nobody receives. */
static void abandon(mpi_batch *batch) {
  for (int k = 0; k < batch->count; k++) {
    if (batch->requests[k] == MPI_REQUEST_NULL) continue;
    MPI_Cancel(&batch->requests[k]);
    MPI_Request_free(&batch->requests[k]);
  }
}

/* The first tries follow each other closely. A long wait gives the core to others. */
static void pause_after(long tries) {
  if (tries > 20000)
    nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
  else if (tries > 200)
    sched_yield();
}

static ts_status wait_for(mpi_state *state, mpi_batch *batch, int call, int *stopped, char *error,
                          size_t size) {
  double checked = 0;
  for (long tries = 0;; tries++) {
    int done = 0;
    int code = MPI_Testall(batch->count, batch->requests, &done, MPI_STATUSES_IGNORE);
    if (code == MPI_SUCCESS && done) return TS_OK;
    if (code == MPI_SUCCESS && tries % 64 == 63) code = listen_to_others(state);
    if (code != MPI_SUCCESS) return failed(state, code, "MPI", error, size);
    *stopped = is_stopped(state, batch->epoch, call);
    if (*stopped) return TS_OK;
    if (tries % 4096 == 4095) {
      const double now = seconds();
      if (checked == 0) checked = now;
      if (now - checked > 0.5) {
        ts_status status = check_processes(state, error, size);
        if (status == TS_OK) status = check_leaving(state, batch, now, error, size);
        if (status < 0) return status;
        checked = now;
      }
    }
    pause_after(tries);
  }
}

static ts_status end(void *user, void *batch, int call, int *stopped, char *error, size_t size) {
  mpi_state *state = user;
  *stopped = 0;
  const ts_status status = wait_for(state, batch, call, stopped, error, size);
  if (*stopped) abandon(batch);
  free_batch(state, batch);
  return status;
}

/* ---- Stopping ---- */

static ts_status stop(void *user, int epoch, int call, char *error, size_t size) {
  mpi_state *state = user;
  stop_note *note = malloc(sizeof *note);
  if (!note) {
    note = state->reserve;
    state->reserve = NULL;
  }
  if (!note) {
    snprintf(error, size, "out of host memory for a message");
    return TS_ERROR_OUT_OF_HOST_MEMORY;
  }
  if (!state->reserve) state->reserve = malloc(sizeof *note);
  *note = (stop_note){state->notes, {epoch, call}};
  state->notes = note;
  const int code = notify_all(state, &note->word);
  return code == MPI_SUCCESS ? TS_OK : failed(state, code, "MPI_Isend", error, size);
}

static ts_status look(void *user, int epoch, int call, int *stopped, char *error, size_t size) {
  mpi_state *state = user;
  const int code = listen_to_others(state);
  if (code != MPI_SUCCESS) return failed(state, code, "MPI", error, size);
  *stopped = is_stopped(state, epoch, call);
  const double now = seconds();
  if (now - state->looked < 0.5) return TS_OK;
  state->looked = now;
  const ts_status status = check_processes(state, error, size);
  return status < 0 ? status : check_leaving(state, NULL, now, error, size);
}

/* ---- Graphs ---- */

static ts_status divide(void *user, const ts_ranks_graph *graph, int32_t *rank_of, char *error, size_t size) {
  const mpi_state *state = user;
  return mpi_divide(state->data, state->rank, state->ranks, graph, rank_of, error, size);
}

/* ---- Opening and closing ---- */

static void mpi_transport_destroy(mpi_state *state) {
  for (stop_note *note = state->notes, *next; note; note = next) {
    next = note->next;
    free(note);
  }
  free(state->places);
  free(state->left);
  free(state->reserve);
  free(state);
}

static const stop_word leaves = {LEAVES, 0};

/* Called at the start of MPI_Finalize, or when the transport is closed. */
static int leave(MPI_Comm self, int keyval, void *value, void *extra) {
  const mpi_state *state = value;
  (void)self, (void)keyval, (void)extra;
  if (!state->lost) notify_all(state, &leaves);
  return MPI_SUCCESS;
}

/* Sets an attribute; its deletion notifies the other ranks. */
static int attach(mpi_state *state) {
  int code = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, leave, &state->keyval, NULL);
  if (code == MPI_SUCCESS) code = MPI_Comm_set_attr(MPI_COMM_SELF, state->keyval, state);
  state->attached = code == MPI_SUCCESS;
  return code;
}

static void detach(mpi_state *state) {
  if (!state->attached) return;
  MPI_Comm_delete_attr(MPI_COMM_SELF, state->keyval);
  MPI_Comm_free_keyval(&state->keyval);
  state->attached = 0;
}

/* A communicator can be freed when nothing is in transit on it, neither messages nor words. The last word of a
 * rank is that it leaves. A rank that leaves much later does not hold up the others, because its program may be
 * waiting for theirs. */
static int hear_that_all_leave(mpi_state *state) {
  const double start = seconds();
  for (long tries = 0; state->missing < 0; tries++) {
    int present = 0;
    if (listen_to_others(state) != MPI_SUCCESS) return 0;
    for (int r = 0; r < state->ranks; r++) present += r != state->rank && state->left[r] == 0;
    if (present == 0) return 1;
    if (tries % 64 == 63 && seconds() - start > grace) return 0;
    pause_after(tries);
  }
  return 0;
}

/* Frees the communicators only if all other ranks leave too. */
static void close_transport(void *user) {
  mpi_state *state = user;
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (!finalized) detach(state);
  if (!finalized && !state->lost && hear_that_all_leave(state)) {
    MPI_Comm_free(&state->data);
    MPI_Comm_free(&state->control);
  }
  mpi_transport_destroy(state);
}

static place own_place(void) {
  char name[64] = "", numbers[48] = "";
  place p = {.process = (long)getpid()};
  if (gethostname(name, sizeof name - 1) != 0) name[0] = 0;
  if (readlink("/proc/self/ns/pid", numbers, sizeof numbers - 1) < 0) numbers[0] = 0;
  snprintf(p.host, sizeof p.host, "%s %s", name, numbers);
  return p;
}

static int exchange_places(mpi_state *state) {
  const place mine = own_place();
  return MPI_Allgather(&mine, (int)sizeof mine, MPI_BYTE, state->places, (int)sizeof mine, MPI_BYTE,
                       state->control);
}

/* Duplicates the program's communicator twice. From here on, errors are returned on all three, and on every
 * communicator derived from ours. */
static int duplicate(mpi_state *state, MPI_Comm communicator) {
  int code = MPI_Comm_dup(communicator, &state->control);
  if (code == MPI_SUCCESS) code = MPI_Comm_set_errhandler(state->control, MPI_ERRORS_RETURN);
  if (code == MPI_SUCCESS) code = MPI_Comm_dup(state->control, &state->data);
  if (code == MPI_SUCCESS) code = MPI_Comm_set_errhandler(state->data, MPI_ERRORS_RETURN);
  if (code == MPI_SUCCESS) code = MPI_Comm_rank(state->control, &state->rank);
  if (code == MPI_SUCCESS) code = MPI_Comm_size(state->control, &state->ranks);
  if (code == MPI_SUCCESS) state->tags = count_tags(state->data);
  return code;
}

/* Whether MPI was built with CUDA support and finds it at run time, if it can be queried. */
static int takes_device_memory(void) {
#if defined MPIX_CUDA_AWARE_SUPPORT && MPIX_CUDA_AWARE_SUPPORT
  return MPIX_Query_cuda_support() == 1;
#else
  return 0;
#endif
}

static void describe(const mpi_state *state, ts_transport *transport) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(version, &length);
  snprintf(transport->name, sizeof transport->name, "%.*s", (int)strcspn(version, ",\n"), version);
  transport->rank = state->rank;
  transport->ranks = state->ranks;
  transport->host_rank = transport->host_ranks = 0;
  transport->takes_device_memory = takes_device_memory();
  for (int r = 0; r < state->ranks; r++) {
    if (strcmp(state->places[r].host, state->places[state->rank].host) != 0) continue;
    transport->host_rank += r < state->rank;
    transport->host_ranks++;
  }
}

static int make_state(const mpi_state *opened, mpi_state **state) {
  *state = calloc(1, sizeof **state);
  if (!*state) return 0;
  **state = *opened;
  (*state)->places = calloc((size_t)opened->ranks, sizeof *(*state)->places);
  (*state)->left = calloc((size_t)opened->ranks, sizeof *(*state)->left);
  (*state)->reserve = malloc(sizeof *(*state)->reserve);
  return (*state)->places && (*state)->left && (*state)->reserve && attach(*state) == MPI_SUCCESS;
}

/* Does not notify the others, which already know. */
static void discard(mpi_state *state) {
  if (!state) return;
  state->lost = 1;
  detach(state);
  mpi_transport_destroy(state);
}

/* The first rank without memory, or the number of ranks. No rank continues alone. */
static int find_without_memory(const mpi_state *opened, int has_memory, int *rank) {
  const int mine = has_memory ? opened->ranks : opened->rank;
  return MPI_Allreduce(&mine, rank, 1, MPI_INT, MPI_MIN, opened->control);
}

ts_status ts_mpi_transport_create(MPI_Comm communicator, ts_transport *transport, char *error, size_t size) {
  mpi_state *state = NULL;
  int started = 0;
  MPI_Initialized(&started);
  if (!started) {
    snprintf(error, size, "MPI_Init has not been called");
    return TS_ERROR_INVALID_ARGUMENT;
  }
  mpi_state opened = {.heard = {-1, 0}, .missing = -1};
  int code = duplicate(&opened, communicator), without;
  if (code == MPI_SUCCESS) code = find_without_memory(&opened, make_state(&opened, &state), &without);
  if (code == MPI_SUCCESS && without < opened.ranks) {
    discard(state);
    MPI_Comm_free(&opened.data);
    MPI_Comm_free(&opened.control);
    snprintf(error, size, "rank %d: out of host memory for the ranks", without);
    return TS_ERROR_OUT_OF_HOST_MEMORY;
  }
  if (code == MPI_SUCCESS) code = exchange_places(state);
  if (code != MPI_SUCCESS) {
    const ts_status status = failed(state, code, "MPI", error, size);
    discard(state);
    return status;
  }
  *transport = (ts_transport){.user = state,
                              .begin = mpi_transport_begin,
                              .end = end,
                              .stop = stop,
                              .look = look,
                              .divide = mpi_divides ? divide : NULL,
                              .close = close_transport};
  describe(state, transport);
  return TS_OK;
}
