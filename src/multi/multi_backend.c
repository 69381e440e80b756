/* Opening and closing the multi backend, and its table. */
#include <stdlib.h>
#include <string.h>

#include "common/core/pool.h"
#include "multi.h"

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
  for (int p = 0; p < state->count; p++) bytes += state->parts[p]->bytes_device;
  context->bytes_device = bytes - state->own_bytes;
}

/* ---- Names ---- */

/* "cpu" of "multi:cpu+cpu", "cuda:1" of "cuda:0+1"; returns what follows, NULL behind the last one. */
static const char *next_name(const char *prefix, const char *names, char *name, size_t size) {
  const size_t length = strcspn(names, "+");
  snprintf(name, size, "%s%.*s", prefix, (int)length, names);
  return names[length] ? names + length + 1 : NULL;
}

static ts_status check_name(ts_context *context, const char *name, const char *first) {
  const size_t length = strcspn(name, ":");
  if ((length == 3 && !strncmp(name, "cpu", 3)) || (length == 4 && !strncmp(name, "cuda", 4))) {
    if (strcspn(first, ":") == length && !strncmp(name, first, length)) return TS_OK;
    return tsi_fail(context, TS_ERROR_UNSUPPORTED, "backend %s: parts are of one kind, not %s and %s",
                    context->backend_name, first, name);
  }
  return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                  "backend %s: a part is cpu, cuda or cuda:N, as in multi:cpu+cpu, and not \"%s\"",
                  context->backend_name, name);
}

/* ---- Opening ---- */

/* Parts take turns on the host, and so have the same threads. */
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
  const ts_status status = ts_context_create(&desc, &state->parts[state->count]);
  if (status < 0) return tsi_fail(context, status, "part %d: %s", state->count, ts_last_error(NULL));
  share_threads(context, state->parts[state->count++]);
  return TS_OK;
}

/* Until there is no other device. */
static ts_status open_all(ts_context *context, int threads) {
  multi_state *state = multi_state_of(context);
  for (int n = 0; n < MULTI_MOST_PARTS; n++) {
    char name[32];
    snprintf(name, sizeof name, "cuda:%d", n);
    const ts_status status = open_part(context, name, threads);
    if (status == TS_ERROR_UNAVAILABLE && state->count > 0) break;
    TSI_TRY(status);
  }
  tsi_clear_error(context);
  return TS_OK;
}

static ts_status open_parts(ts_context *context) {
  const char *names = strchr(context->backend_name, ':') + 1;
  const char *prefix = strncmp(context->backend_name, "cuda:", 5) ? "" : "cuda:";
  char first[32], name[32];
  int count = 1, threads;
  TSI_TRY(tsi_threads(context, &threads));
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
  for (int p = 0; p < state->count; p++)
    for (int q = 0; q < state->count; q++) {
      const tsi_part_ops *part = state->parts[p]->ops->part;
      if (part->connect && p != q) MULTI_TRY(context, p, part->connect(state->parts[p], state->parts[q]));
    }
  return TS_OK;
}

static ts_status make_sums(ts_context *context) {
  multi_state *state = multi_state_of(context);
  const ts_scalars_desc desc = {.count = 2, .precision = TS_PRECISION_DOUBLE};
  for (int p = 0; p < state->count; p++) {
    const ts_status status = ts_scalars_create(state->parts[p], &desc, &state->sums[p]);
    if (status < 0) return tsi_fail(context, status, "part %d: %s", p, ts_last_error(state->parts[p]));
  }
  for (int p = 0; p < state->count; p++) state->own_bytes += state->parts[p]->bytes_device;
  return TS_OK;
}

/* Fused operations that a part lacks are lacking here too, so that the fallbacks see what they would see. */
static void choose_operations(multi_state *state) {
  const tsi_ops *part = state->parts[0]->ops;
  state->table = tsi_multi_ops;
  if (!part->dot3) state->table.dot3 = NULL;
  if (!part->axpy2) state->table.axpy2 = NULL;
  if (!part->multiply_add) state->table.multiply_add = NULL;
}

static void describe(ts_context *context) {
  const multi_state *state = multi_state_of(context);
  const ts_context *first = state->parts[0];
  tsi_caps *caps = &context->caps;
  *caps = first->caps;
  caps->formats = 1u << TS_FORMAT_CSR; /* each part then chooses its own */
  caps->row_plans = 0;
  caps->grid_storages = 0;
  snprintf(caps->device, sizeof caps->device, "%d part%s: %.100s", state->count, state->count == 1 ? "" : "s",
           first->caps.device);
  context->tuning = first->tuning;
}

ts_status multi_open(ts_context *context) {
  multi_state *state = tsi_calloc(context, 1, sizeof *state);
  if (!state) return tsi_out_of_memory(context, "the multi backend", sizeof *state);
  context->backend = state;
  ts_status status = open_parts(context);
  if (status == TS_OK) status = connect(context);
  if (status == TS_OK) status = make_sums(context);
  if (status < 0) {
    multi_close(context);
    return status;
  }
  choose_operations(state);
  describe(context);
  context->ops = context->device_ops = &state->table;
  return TS_OK;
}

void multi_close(ts_context *context) {
  multi_state *state = multi_state_of(context);
  for (int p = 0; p < state->count; p++) {
    ts_scalars_destroy(&state->sums[p]);
    state->parts[p]->pool = NULL;
    ts_context_destroy(&state->parts[p]);
  }
  tsi_free(context, state);
  context->backend = NULL;
}

/* Parts are entered one by one. */
ts_status multi_enter(ts_context *context) {
  (void)context;
  return TS_OK;
}

void multi_leave(ts_context *context) {
  multi_account(context);
}

ts_status multi_finish(ts_context *context) {
  for (int p = 0; p < multi_count(context); p++)
    MULTI_TRY(context, p, multi_ops_of(context, p)->finish(multi_part(context, p)));
  return TS_OK;
}

const tsi_ops tsi_multi_ops = {.space_destroy = multi_space_destroy,
                               .dot3 = multi_dot3,
                               .axpy2 = multi_axpy2,
                               .multiply_add = multi_multiply_add,
                               TSI_CORE_OPERATIONS(TSI_ENTRY, TSI_ENTRY, TSI_OMIT, multi_)};
