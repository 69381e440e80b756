/* Opening and closing the multi backend, and its operation table. */
#include <stdlib.h>
#include <string.h>

#include "common/core/cores.h"
#include "common/core/pool.h"
#include "multi.h"

static int is_mine(const multi_state *state, int p) {
  return p >= state->first && p < state->first + state->own;
}

ts_status multi_begin(ts_context *context, int p) {
  ts_context *part = multi_part(context, p);
  const ts_status status = tsi_enter(part);
  return status == TS_OK ? TS_OK : tsi_fail(context, status, "%s: %s", part->backend_name, part->error);
}

ts_status multi_end(ts_context *context, int p, ts_status status) {
  ts_context *part = multi_part(context, p);
  tsi_leave(part, status);
  return multi_report(context, p, status);
}

ts_status multi_report(ts_context *context, int p, ts_status status) {
  const ts_context *part = multi_part(context, p);
  if (status >= 0) return status;
  return tsi_fail(context, status, "part %d (%s): %s", p, part->backend_name,
                  part->error[0] ? part->error : ts_status_text(status));
}

void multi_account(ts_context *context) {
  const multi_state *state = multi_state_of(context);
  size_t bytes = 0;
  for (int p = 0; p < state->count; p++)
    if (is_mine(state, p)) bytes += state->parts[p]->bytes_device;
  context->bytes_device = bytes - state->own_bytes;
}

/* ---- Names ---- */

/* Extracts "cpu" from "multi:cpu+cpu", "cuda:1" from "cuda:0+1". Returns the rest, or NULL after the last
 * name. */
static const char *next_name(const char *prefix, const char *names, char *name, size_t size) {
  const size_t length = strcspn(names, "+");
  snprintf(name, size, "%s%.*s", prefix, (int)length, names);
  return names[length] ? names + length + 1 : NULL;
}

static ts_status check_name(ts_context *context, const char *name, const char *first) {
  const size_t length = strcspn(name, ":");
  if ((length == 3 && !strncmp(name, "cpu", 3)) || (length == 4 && !strncmp(name, "cuda", 4))) {
    if (strcspn(first, ":") == length && !strncmp(name, first, length)) return TS_OK;
    return tsi_fail(context, TS_ERROR_UNSUPPORTED, "backend %s: all parts must be of one kind, not %s and %s",
                    context->backend_name, first, name);
  }
  return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                  "backend %s: a part must be cpu, cuda or cuda:N, as in multi:cpu+cpu, not \"%s\"",
                  context->backend_name, name);
}

/* ---- Opening ---- */

/* Parts run one at a time on the host, so they share the threads. */
static void share_threads(ts_context *context, ts_context *part) {
#ifdef TEXSOLVE_HAVE_THREADS
  tsi_pool_destroy(part, &part->pool);
#endif
  part->pool = context->pool;
  part->threads = context->threads;
}

static ts_status open_part(ts_context *context, const char *name, int threads) {
  multi_state *state = multi_state_of(context);
  ts_context_desc desc = context->desc;
  desc.backend = name;
  desc.gl = NULL;
  desc.threads = threads;
  const ts_status status = ts_context_create(&desc, &state->parts[state->own]);
  if (status < 0) return tsi_fail(context, status, "part %d: %s", state->own, ts_last_error(NULL));
  share_threads(context, state->parts[state->own++]);
  return TS_OK;
}

/* Opens devices until there are no more. */
static ts_status open_all(ts_context *context, int threads) {
  multi_state *state = multi_state_of(context);
  for (int n = 0; n < MULTI_MOST_PARTS; n++) {
    char name[32];
    snprintf(name, sizeof name, "cuda:%d", n);
    const ts_status status = open_part(context, name, threads);
    if (status == TS_ERROR_UNAVAILABLE && state->own > 0) break;
    TSI_TRY(status);
  }
  tsi_clear_error(context);
  return TS_OK;
}

/* The ranks of a host use separate devices while there are enough. Otherwise they share devices in turn. */
static ts_status open_device_of_rank(ts_context *context, int host_rank, int threads) {
  char name[32];
  ts_status status = TS_ERROR_UNAVAILABLE;
  int device = host_rank;
  for (; device >= 0 && status == TS_ERROR_UNAVAILABLE; device--) {
    snprintf(name, sizeof name, "cuda:%d", device);
    status = open_part(context, name, threads);
  }
  if (status < 0 || ++device == host_rank || host_rank % (device + 1) == device) return status;
  multi_state *state = multi_state_of(context);
  ts_context_destroy(&state->parts[--state->own]);
  snprintf(name, sizeof name, "cuda:%d", host_rank % (device + 1));
  return open_part(context, name, threads);
}

/* Opens one part, for a rank. */
static ts_status open_one(ts_context *context, int host_rank, int threads) {
  const char *name = context->backend_name;
  if (!strcmp(name, "cuda")) return open_device_of_rank(context, host_rank, threads);
  if (strcmp(name, "auto")) {
    TSI_TRY(check_name(context, name, name));
    return open_part(context, name, threads);
  }
  const ts_status status = open_device_of_rank(context, host_rank, threads);
  if (status != TS_ERROR_UNAVAILABLE) return status;
  tsi_clear_error(context);
  return open_part(context, "cpu", threads);
}

static int has_several(const char *backend_name) {
  return !strncmp(backend_name, "multi:", 6) || strchr(backend_name, '+') || !strcmp(backend_name, "cuda:all");
}

static ts_status open_parts(ts_context *context) {
  const multi_state *state = multi_state_of(context);
  int count = 1, threads;
  TSI_TRY(tsi_threads(context, &threads));
  if (!has_several(context->backend_name)) return open_one(context, state->ranks->transport.host_rank, threads);
  const char *names = strchr(context->backend_name, ':') + 1;
  const char *prefix = strncmp(context->backend_name, "cuda:", 5) ? "" : "cuda:";
  char first[32], name[32];
  if (prefix[0] && !strcmp(names, "all")) return open_all(context, threads);
  for (const char *c = names; *c; c++) count += *c == '+';
  if (count > MULTI_MOST_PARTS)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "backend %s has %d parts, more than %d",
                    context->backend_name, count, MULTI_MOST_PARTS);
  next_name(prefix, names, first, sizeof first);
  for (const char *rest = names; rest;) {
    rest = next_name(prefix, rest, name, sizeof name);
    TSI_TRY(check_name(context, name, first));
    TSI_TRY(open_part(context, name, threads));
  }
  return TS_OK;
}

static ts_status connect(ts_context *context) {
  const multi_state *state = multi_state_of(context);
  const int end = state->first + state->own;
  for (int p = state->first; p < end; p++)
    for (int q = state->first; q < end; q++) {
      const tsi_part_ops *part = state->parts[p]->ops->part;
      if (part->connect && p != q) MULTI_TRY(context, p, part->connect(state->parts[p], state->parts[q]));
    }
  return TS_OK;
}

static ts_status make_peers(ts_context *context) {
  multi_state *state = multi_state_of(context);
  for (int p = 0; p < state->count; p++) {
    const tsi_part_ops *part = state->parts[p]->ops->part;
    if (part->peers_create && state->count > 1)
      MULTI_TRY(context, p, part->peers_create(state->parts[p], &state->peers[p]));
  }
  return TS_OK;
}

static ts_status make_sums(ts_context *context) {
  multi_state *state = multi_state_of(context);
  const ts_scalars_desc desc = {.count = 2 * TSI_MAX_DOTS, .precision = TS_PRECISION_DOUBLE};
  for (int p = state->first; p < state->first + state->own; p++) {
    const ts_status status = ts_scalars_create(state->parts[p], &desc, &state->sums[p]);
    if (status < 0) return tsi_fail(context, status, "part %d: %s", p, ts_last_error(state->parts[p]));
  }
  for (int p = state->first; p < state->first + state->own; p++)
    state->own_bytes += state->parts[p]->bytes_device;
  return TS_OK;
}

/* ---- Ranks ---- */

/* The ranks of a host divide its cores, unless they were bound to some. */
static void divide_threads(ts_context *context, const ts_transport *transport) {
  const int threads = tsi_default_threads() / (transport->host_ranks > 1 ? transport->host_ranks : 1);
  if (!context->desc.threads && !getenv("OMP_NUM_THREADS")) context->desc.threads = threads > 1 ? threads : 1;
}

/* Properties of a rank that must be equal on all ranks. */
typedef struct rank_parts {
  int32_t count;
  char kind[12];
} rank_parts;

static ts_status compare(ts_context *context, const rank_parts *all, int ranks) {
  for (int r = 1; r < ranks; r++)
    if (all[r].count != all[0].count || strcmp(all[r].kind, all[0].kind) != 0)
      return tsi_fail(context, TS_ERROR_INCOMPATIBLE, "rank %d has %d parts of %s, and rank 0 %d of %s", r,
                      all[r].count, all[r].kind, all[0].count, all[0].kind);
  return TS_OK;
}

/* Determines this rank's parts among those of all ranks. */
static ts_status join_ranks(ts_context *context) {
  multi_state *state = multi_state_of(context);
  const ts_transport *t = &state->ranks->transport;
  const size_t ranks = (size_t)t->ranks;
  rank_parts mine = {.count = state->own};
  snprintf(mine.kind, sizeof mine.kind, "%.*s", (int)strcspn(state->parts[0]->backend_name, ":"),
           state->parts[0]->backend_name);
  rank_parts *all = tsi_malloc(context, ranks, sizeof *all);
  if (!all) return tsi_out_of_memory(context, "the ranks", ranks * sizeof *all);
  ts_status status = multi_collect(context, &mine, sizeof mine, all);
  if (status == TS_OK) status = compare(context, all, t->ranks);
  tsi_free(context, all);
  TSI_TRY(status);
  const size_t count = ranks * (size_t)state->own;
  ts_context **parts = tsi_calloc(context, count, sizeof(ts_context *));
  ts_scalars **sums = tsi_calloc(context, count, sizeof(ts_scalars *));
  if (!parts || !sums) {
    tsi_free(context, parts);
    tsi_free(context, sums);
    return tsi_out_of_memory(context, "the ranks", count * 2 * sizeof(ts_context *));
  }
  state->first = t->rank * state->own;
  memcpy(parts + state->first, state->parts, (size_t)state->own * sizeof(ts_context *));
  tsi_free(context, state->parts);
  tsi_free(context, state->sums);
  state->parts = parts;
  state->sums = sums;
  state->count = (int)count;
  return TS_OK;
}

/* Removes fused operations that a part lacks, so that the fallbacks behave as they would on the part. */
static void choose_operations(multi_state *state) {
  const tsi_ops *part = state->parts[state->first]->ops;
  state->table = tsi_multi_ops;
  if (!state->ranks) state->table.agree = NULL, state->table.ranks = NULL;
  if (!part->axpy2_dot) state->table.axpy2_dot = NULL;
  if (!part->dot3) state->table.dots = NULL;
  if (!part->dot3) state->table.dot3 = NULL;
  if (!part->axpy2) state->table.axpy2 = NULL;
  if (!part->multiply_add) state->table.multiply_add = NULL;
  if (!state->ranks && part->amg_part) state->table.amg = &multi_amg_ops;
  if (part->cg && part->cg->iterate) state->table.cg = state->ranks ? &multi_cg_ops_of_ranks : &multi_cg_ops;
}

void multi_describe_driver(ts_context *context) {
  const multi_state *state = multi_state_of(context);
  const ts_context *first = state->parts[state->first];
  char ghosts[128];
  if (!state->ranks) return;
  multi_ghosts_describe(context, ghosts, sizeof ghosts);
  snprintf(context->caps.driver, sizeof context->caps.driver, "%.50s, %.58s%s", first->caps.driver,
           state->ranks->transport.name, ghosts);
}

static void describe(ts_context *context) {
  const multi_state *state = multi_state_of(context);
  const ts_context *first = state->parts[state->first];
  tsi_caps *caps = &context->caps;
  *caps = first->caps;
  caps->formats = 1u << TS_FORMAT_CSR; /* each part then chooses its own */
  caps->row_plans = caps->csr_on_host = 0;
  caps->amg_formats = 0;
  caps->grid_storages = 0;
  caps->parts = state->count;
  char ranks[32] = "", name[sizeof context->backend_name], which[24] = "";
  if (state->ranks) {
    memcpy(name, context->backend_name, sizeof name);
    snprintf(context->backend_name, sizeof context->backend_name, "%.70s on %d ranks", name,
             state->ranks->transport.ranks);
    snprintf(ranks, sizeof ranks, "%d ranks, ", state->ranks->transport.ranks);
  }
  if (strchr(first->backend_name, ':')) snprintf(which, sizeof which, " (%.20s)", first->backend_name);
  if (state->ranks && state->own == 1)
    snprintf(caps->device, sizeof caps->device, "%.*s: %.70s%s", (int)strcspn(ranks, ","), ranks,
             first->caps.device, which);
  else
    snprintf(caps->device, sizeof caps->device, "%s%d part%s: %.80s", ranks, state->count,
             state->count == 1 ? "" : "s", first->caps.device);
  context->tuning = first->tuning;
  if (state->count > 1) context->tuning.diagonals_part = 1; /* parts have ghosts, whose columns are elsewhere */
  /* A list of parts with "multi:" uses all of them if there are more rows than parts. */
  context->tuning.part_rows =
      state->ranks || strncmp(context->backend_name, "cuda:", 5) ? 1 : tsi_part_rows_cuda;
  multi_describe_driver(context);
}

static ts_status open_own(ts_context *context) {
  multi_state *state = multi_state_of(context);
  TSI_TRY(open_parts(context));
  state->count = state->own;
  TSI_TRY(connect(context));
  return state->ranks ? TS_OK : make_peers(context);
}

static ts_status open_in_one_process(ts_context *context) {
  TSI_TRY(open_own(context));
  return make_sums(context);
}

/* Any failure on a rank leads to an agreement, which all ranks reach. */
static ts_status agree_on_opening(ts_context *context) {
  TSI_TRY(multi_agree(context, open_own(context)));
  TSI_TRY(multi_agree(context, join_ranks(context)));
  ts_status status = multi_channel_open(context);
  if (status == TS_OK) status = make_sums(context);
  return multi_agree(context, status);
}

static ts_status open_on_ranks(ts_context *context) {
  divide_threads(context, &context->opening->transport);
  TSI_TRY(multi_ranks_open(context, context->opening, &multi_state_of(context)->ranks));
  context->together++; /* the report of a failure then ends every wait */
  const ts_status status = agree_on_opening(context);
  context->together--;
  return status;
}

static ts_status open_all_parts(ts_context *context) {
  return context->opening ? open_on_ranks(context) : open_in_one_process(context);
}

ts_status multi_open(ts_context *context) {
  multi_state *state = tsi_calloc(context, 1, sizeof *state);
  if (!state) return tsi_out_of_memory(context, "the multi backend", sizeof *state);
  context->backend = state;
  state->parts = tsi_calloc(context, MULTI_MOST_PARTS, sizeof(ts_context *));
  state->sums = tsi_calloc(context, MULTI_MOST_PARTS, sizeof(ts_scalars *));
  const size_t bytes = (size_t)MULTI_MOST_PARTS * 2 * sizeof(ts_context *);
  const ts_status status = state->parts && state->sums ? open_all_parts(context)
                                                       : tsi_out_of_memory(context, "the multi backend", bytes);
  if (status < 0) {
    if (state->ranks) state->ranks->transport.close = NULL; /* it still belongs to the caller */
    multi_close(context);
    return status;
  }
  choose_operations(state);
  describe(context);
  context->ops = context->device_ops = &state->table;
  return TS_OK;
}

static void destroy_peers(const multi_state *state, int p) {
  tsi_enter_to_destroy(state->parts[p]);
  state->parts[p]->ops->part->peers_destroy(state->parts[p], state->peers[p]);
  tsi_leave(state->parts[p], TS_OK);
}

void multi_close(ts_context *context) {
  multi_state *state = multi_state_of(context);
  multi_channel_close(context, state->ranks && !state->ranks->why[0]);
  for (int p = state->first; p < state->first + state->own; p++) {
    ts_scalars_destroy(&state->sums[p]);
    if (!state->ranks && state->peers[p]) destroy_peers(state, p);
    state->parts[p]->pool = NULL;
    ts_context_destroy(&state->parts[p]);
  }
  multi_ranks_close(context, state->ranks);
  tsi_free(context, state->parts);
  tsi_free(context, state->sums);
  tsi_free(context, state);
  context->backend = NULL;
}

/* Parts are entered individually. */
ts_status multi_enter(ts_context *context) {
  (void)context;
  return TS_OK;
}

void multi_leave(ts_context *context) {
  multi_account(context);
}

ts_status multi_finish(ts_context *context) {
  for (int p = 0; p < multi_count(context); p++)
    if (multi_part(context, p)) MULTI_TRY(context, p, multi_ops_of(context, p)->finish(multi_part(context, p)));
  return multi_check_run(context);
}

const tsi_ops tsi_multi_ops = {.space_destroy = multi_space_destroy,
                               .dot3 = multi_dot3,
                               .dots = multi_dots,
                               .axpy2 = multi_axpy2,
                               .axpy2_dot = multi_axpy2_dot,
                               .multiply_add = multi_multiply_add,
                               .agree = multi_agree,
                               .ranks = &multi_ranks_ops,
                               TSI_CORE_OPERATIONS(TSI_ENTRY, TSI_ENTRY, TSI_OMIT, multi_)};
