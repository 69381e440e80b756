/* A channel between all ranks over NCCL, which is loaded at run time if it is installed.
 *
 * Messages are sent and received on the context's stream, and the host does not wait. Neither NCCL nor the
 * runtime limits how long a stream waits for another rank. So before the host waits for the stream, it waits
 * here for the last messages. Meanwhile it checks whether NCCL has failed and whether the other ranks are alive
 * and make progress. If not, it aborts the channel, which ends all waits on the device. The host also stays at
 * most a few exchanges ahead of the stream, so that it never blocks in a kernel launch.
 *
 * NCCL's communicator does not block either: calls that wait for other ranks return "in progress", and the same
 * loop polls them. That requires NCCL 2.14. */
#define _GNU_SOURCE 1 /* nanosleep, dlfcn.h */
#include <stdio.h>
#include <string.h>

#ifdef __linux__
#include <dlfcn.h>
#include <sched.h>
#include <time.h>
#endif

#include "common/core/thread.h"
#include "cuda.h"
#include "cuda_part.h"

/* The interface of NCCL 2.14, unchanged in all later versions. */
typedef struct nccl_communicator nccl_communicator;
typedef struct nccl_id {
  char bytes[TSI_CHANNEL_BYTES];
} nccl_id;
typedef struct nccl_config {
  size_t size;
  unsigned magic, version;
  int blocking;
} nccl_config;
enum { MOST_AHEAD = 16 /* exchanges */, SLOT_FLOATS = 4 * TSI_MAX_DOTS };
enum { NCCL_SUCCESS = 0, NCCL_IN_PROGRESS = 7, NCCL_BYTES = 0, NCCL_FLOATS = 7, NCCL_LEAST = 21400 };

/* clang-format off */
#define NCCL_FUNCTIONS(X)                                                                                      \
  X(int, GetVersion, (int *version))                                                                           \
  X(const char *, GetErrorString, (int result))                                                                \
  X(int, GetUniqueId, (nccl_id *id))                                                                           \
  X(int, CommInitRankConfig,                                                                                   \
    (nccl_communicator **made, int ranks, nccl_id id, int rank, const nccl_config *config))                    \
  X(int, CommGetAsyncError, (nccl_communicator *of, int *result))                                              \
  X(int, CommFinalize, (nccl_communicator *of))                                                                \
  X(int, CommDestroy, (nccl_communicator *of))                                                                 \
  X(int, CommAbort, (nccl_communicator *of))                                                                   \
  X(int, GroupStart, (void))                                                                                   \
  X(int, GroupEnd, (void))                                                                                     \
  X(int, Send,                                                                                                 \
    (const void *data, size_t count, int type, int rank, nccl_communicator *of, cudaStream_t stream))          \
  X(int, Recv, (void *data, size_t count, int type, int rank, nccl_communicator *of, cudaStream_t stream))     \
  X(int, AllGather,                                                                                            \
    (const void *data, void *all, size_t count, int type, nccl_communicator *of, cudaStream_t stream))
/* clang-format on */

/* The library stays loaded until the process ends. */
static struct {
  void *library;
  int version;
#define FIELD(result, name, parameters) result(*name) parameters;
  NCCL_FUNCTIONS(FIELD)
#undef FIELD
} nccl;
static tsi_lock lock = TSI_LOCK_INITIAL;

struct cuda_channel {
  nccl_communicator *communicator; /* NULL: broken */
  tsi_watch watch;
  cudaEvent_t carried[MOST_AHEAD]; /* recorded after each of the last exchanges */
  unsigned long begun, done;       /* numbers of exchanges; `done` is a lower bound */
  int ranks;
  float *slots; /* of reductions, for all ranks; their low-order parts follow */
};

enum { OPEN_SECONDS = 60, CLOSE_SECONDS = 10, GRACE_SECONDS = 1 };

/* ---- The library ---- */

#ifdef __linux__
static ts_status load_functions(ts_context *context, void *library) {
#define LOAD(result, name, parameters)                                                                         \
  {                                                                                                            \
    void *symbol = dlsym(library, "nccl" #name);                                                               \
    if (!symbol)                                                                                               \
      return tsi_fail(context, TS_ERROR_UNSUPPORTED, "libnccl.so.2 is older than 2.14: no nccl" #name);        \
    memcpy(&nccl.name, &symbol, sizeof symbol);                                                                \
  }
  NCCL_FUNCTIONS(LOAD)
#undef LOAD
  if (nccl.GetVersion(&nccl.version) == NCCL_SUCCESS && nccl.version >= NCCL_LEAST) return TS_OK;
  return tsi_fail(context, TS_ERROR_UNSUPPORTED, "libnccl.so.2 is older than 2.14");
}

static ts_status load(ts_context *context) {
  if (nccl.library) return TS_OK;
  void *library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!library) return tsi_fail(context, TS_ERROR_UNSUPPORTED, "no libnccl.so.2");
  const ts_status status = load_functions(context, library);
  if (status < 0)
    dlclose(library);
  else
    nccl.library = library;
  return status;
}

/* The first polls are as frequent as possible. A long wait yields the core to other threads. */
static void pause_after(long tries) {
  if (tries > 20000)
    nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
  else if (tries > 200)
    sched_yield();
}
#else
static ts_status load(ts_context *context) {
  return tsi_fail(context, TS_ERROR_UNSUPPORTED, "NCCL is available on Linux only");
}
static void pause_after(long tries) {
  (void)tries;
}
#endif

static cuda_channel *channel_of(const ts_context *context) {
  return cuda_state_of(context)->channel;
}

/* ---- Failures ---- */

static void break_channel(cuda_channel *c) {
  if (c->communicator) nccl.CommAbort(c->communicator);
  c->communicator = NULL;
  c->done = c->begun;
}

static ts_status look(ts_context *context, cuda_channel *c) {
  const ts_status status = c->watch.look(c->watch.whole);
  if (status == TS_OK) return TS_OK;
  break_channel(c);
  return tsi_fail(context, status, "%s", c->watch.whole->error);
}

/* Waits up to `grace` seconds for the cause. If another rank has failed and aborted its channel, NCCL may
 * report it before that rank's message arrives. */
static ts_status nccl_failed(ts_context *context, cuda_channel *c, const char *call, int result, double grace) {
  const double start = tsi_seconds();
  for (long tries = 0; c->communicator && tsi_seconds() - start < grace; tries++) {
    TSI_TRY(look(context, c));
    pause_after(tries);
  }
  break_channel(c);
  return tsi_fail(context, TS_ERROR_DEVICE, "NCCL, %s: %s", call, nccl.GetErrorString(result));
}

static int has_failed(int result) {
  return result != NCCL_SUCCESS && result != NCCL_IN_PROGRESS;
}

static ts_status check(ts_context *context, cuda_channel *c, const char *call) {
  int result = NCCL_SUCCESS;
  const int code = nccl.CommGetAsyncError(c->communicator, &result);
  if (code != NCCL_SUCCESS) result = code;
  if (has_failed(result)) return nccl_failed(context, c, call, result, GRACE_SECONDS);
  return look(context, c);
}

/* ---- Waiting ---- */

/* Waits until the call that returned `result` is complete. `limit` is in seconds; 0 means no limit. */
static ts_status wait_for_call(ts_context *context, cuda_channel *c, const char *call, int result,
                               double limit) {
  const double start = tsi_seconds();
  for (long tries = 0; result == NCCL_IN_PROGRESS; tries++) {
    const int code = nccl.CommGetAsyncError(c->communicator, &result);
    if (code != NCCL_SUCCESS) result = code;
    if (result == NCCL_IN_PROGRESS && tries % 64 == 63) TSI_TRY(look(context, c));
    if (result == NCCL_IN_PROGRESS && limit > 0 && tsi_seconds() - start > limit) {
      break_channel(c);
      return tsi_fail(context, TS_ERROR_DEVICE, "NCCL, %s: not done within %g s", call, limit);
    }
    if (result == NCCL_IN_PROGRESS) pause_after(tries);
  }
  return result == NCCL_SUCCESS ? TS_OK : nccl_failed(context, c, call, result, limit > 0 ? 0 : GRACE_SECONDS);
}

/* Waits until `count` exchanges are complete. */
static ts_status wait_until(ts_context *context, cuda_channel *c, unsigned long count) {
  if (c->done >= count) return TS_OK;
  const cudaEvent_t carried = c->carried[(count - 1) % MOST_AHEAD];
  cudaError_t error = cudaEventQuery(carried);
  for (long tries = 0; error == cudaErrorNotReady; tries++) {
    cudaGetLastError();
    if (tries % 64 == 63) TSI_TRY(check(context, c, "messages"));
    pause_after(tries);
    error = cudaEventQuery(carried);
  }
  c->done = count;
  CUDA_TRY(context, error);
  return TS_OK;
}

ts_status cuda_wait_for_messages(ts_context *context) {
  return cuda_wait_for_exchanges(context, cuda_exchanges(context));
}

unsigned long cuda_exchanges(const ts_context *context) {
  const cuda_channel *c = channel_of(context);
  return c ? c->begun : 0;
}

/* If the channel was closed in the meantime, nothing is left to wait for. */
ts_status cuda_wait_for_exchanges(ts_context *context, unsigned long count) {
  cuda_channel *c = channel_of(context);
  return c ? wait_until(context, c, count < c->begun ? count : c->begun) : TS_OK;
}

/* ---- The channel ---- */

ts_status cuda_part_channel_find(ts_context *context, unsigned char *number) {
  tsi_lock_acquire(&lock);
  const ts_status status = load(context);
  tsi_lock_release(&lock);
  TSI_TRY(status);
  nccl_id id;
  const int result = number ? nccl.GetUniqueId(&id) : NCCL_SUCCESS;
  if (result != NCCL_SUCCESS)
    return tsi_fail(context, TS_ERROR_DEVICE, "NCCL: %s", nccl.GetErrorString(result));
  if (number) memcpy(number, &id, sizeof id);
  return TS_OK;
}

static ts_status join(ts_context *context, cuda_channel *c, int rank, int ranks, const unsigned char *number) {
  const nccl_config config = {
      .size = sizeof config, .magic = 0xcafebeefu, .version = NCCL_LEAST, .blocking = 0};
  nccl_id id;
  memcpy(&id, number, sizeof id);
  c->ranks = ranks;
  CUDA_TRY(context, cudaMalloc((void **)&c->slots, 2 * (size_t)ranks * SLOT_FLOATS * sizeof(float)));
  for (int k = 0; k < MOST_AHEAD; k++)
    CUDA_TRY(context, cudaEventCreateWithFlags(&c->carried[k], cudaEventDisableTiming));
  const int result = nccl.CommInitRankConfig(&c->communicator, ranks, id, rank, &config);
  return wait_for_call(context, c, "ncclCommInitRankConfig", result, OPEN_SECONDS);
}

ts_status cuda_part_channel_open(ts_context *context, int rank, int ranks, const unsigned char *number,
                                 const tsi_watch *watch) {
  cuda_channel *c = tsi_calloc(context, 1, sizeof *c);
  if (!c) return tsi_out_of_memory(context, "NCCL's messages", sizeof *c);
  c->watch = *watch;
  cuda_state_of(context)->channel = c;
  const ts_status status = join(context, c, rank, ranks, number);
  if (status < 0) cuda_part_channel_close(context, 0);
  return status;
}

void cuda_part_channel_close(ts_context *context, int finishes) {
  cuda_channel *c = channel_of(context);
  if (finishes && c->communicator && cuda_wait_for_messages(context) == TS_OK)
    wait_for_call(context, c, "ncclCommFinalize", nccl.CommFinalize(c->communicator), CLOSE_SECONDS);
  if (finishes && c->communicator) {
    nccl.CommDestroy(c->communicator);
    c->communicator = NULL;
  }
  break_channel(c);
  for (int k = 0; k < MOST_AHEAD; k++)
    if (c->carried[k]) cudaEventDestroy(c->carried[k]);
  cudaFree(c->slots);
  cudaGetLastError();
  tsi_free(context, c);
  cuda_state_of(context)->channel = NULL;
}

/* ---- Messages ---- */

static ts_status begin_exchange(ts_context *context, cuda_channel *c) {
  if (!c->communicator) return tsi_fail(context, TS_ERROR_DEVICE, "NCCL has failed before");
  if (c->begun >= MOST_AHEAD) TSI_TRY(wait_until(context, c, c->begun - MOST_AHEAD + 1));
  const int result = nccl.GroupStart();
  return result == NCCL_SUCCESS ? TS_OK : nccl_failed(context, c, "ncclGroupStart", result, GRACE_SECONDS);
}

/* `result` is the combined result of the calls within the group. */
static ts_status end_exchange(ts_context *context, cuda_channel *c, const char *what, int result) {
  const int ended = nccl.GroupEnd();
  if (!has_failed(result)) result = ended;
  TSI_TRY(wait_for_call(context, c, what, result, 0));
  c->begun++;
  CUDA_TRY(context, cudaEventRecord(c->carried[(c->begun - 1) % MOST_AHEAD], cuda_stream(context)));
  return TS_OK;
}

static int start(const cuda_channel *c, cudaStream_t stream, const ts_message *m) {
  return m->receives ? nccl.Recv(m->data, m->bytes, NCCL_BYTES, m->rank, c->communicator, stream)
                     : nccl.Send(m->data, m->bytes, NCCL_BYTES, m->rank, c->communicator, stream);
}

ts_status cuda_part_channel_exchange(ts_context *context, const ts_message *messages, int count) {
  cuda_channel *c = channel_of(context);
  int result = NCCL_SUCCESS;
  TSI_TRY(begin_exchange(context, c));
  for (int k = 0; k < count && !has_failed(result); k++) result = start(c, cuda_stream(context), &messages[k]);
  return end_exchange(context, c, "messages", result);
}

static const float *slots_of(const ts_scalars *s, int slot) {
  return ((const cuda_scalars *)s->impl)->values + 4 * (size_t)slot;
}

static int gather(const cuda_channel *c, cudaStream_t stream, const float *slots, float *all, size_t floats) {
  return nccl.AllGather(slots, all, floats, NCCL_FLOATS, c->communicator, stream);
}

/* All ranks add the same numbers in the same order. */
ts_status cuda_part_channel_combine(ts_scalars *out, const int *index, int count, tsi_reduction kind,
                                    int components, int pair, ts_scalars *sums, int slot) {
  ts_context *context = out->context;
  cuda_channel *c = channel_of(context);
  const size_t floats = 4 * (size_t)count;
  float *lows = pair ? c->slots + (size_t)c->ranks * SLOT_FLOATS : NULL;
  TSI_TRY(begin_exchange(context, c));
  int result = gather(c, cuda_stream(context), slots_of(sums, slot), c->slots, floats);
  if (pair && !has_failed(result))
    result = gather(c, cuda_stream(context), slots_of(sums->low, slot), lows, floats);
  TSI_TRY(end_exchange(context, c, "sums", result));
  return cuda_combine_ranks(out, index, count, kind, components, c->ranks, c->slots, lows);
}

int cuda_part_channel_is_broken(const ts_context *context) {
  return !channel_of(context)->communicator;
}

void cuda_part_channel_describe(const ts_context *context, char *text, size_t size) {
  (void)context;
  snprintf(text, size, "NCCL %d.%d.%d", nccl.version / 10000, nccl.version / 100 % 100, nccl.version % 100);
}
