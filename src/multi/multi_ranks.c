/* Several processes: messages, data merged over all ranks, and the agreement on errors.
 *
 * Data between two ranks travels in batches that both wait for. If a rank fails, it notifies the others, and
 * their waits end. All ranks, including those without a failure, then meet in multi_agree at the end of the
 * public function and return one status. Messages that were sent and never received belong to a finished epoch.
 *
 * Products and sums that an application calls directly do not end with an agreement. So a rank may have failed
 * in a later call while another rank is still busy with this one. Each call therefore has a number within the
 * epoch. The report of a failure contains the first number for which no data will arrive.
 *
 * Numbers of all ranks are merged by recursive doubling. For P a power of two, there are log2 P exchanges
 * between pairs at distances that double. Ranks beyond the largest power of two pass their numbers to a partner
 * first and receive the result afterwards. Both ranks of a pair compute a + b from the same numbers, so all
 * ranks have the same bits. */
#include <limits.h>
#include <string.h>

#include "multi.h"

enum { most_bytes = 1024 };

/* ---- Opening ---- */

ts_status multi_ranks_open(ts_context *context, tsi_opening *opening, multi_ranks **ranks) {
  *ranks = tsi_calloc(context, 1, sizeof **ranks);
  if (!*ranks) return tsi_out_of_memory(context, "the ranks", sizeof **ranks);
  (*ranks)->transport = opening->transport;
  opening->agrees = 1;
  return TS_OK;
}

void multi_ranks_close(ts_context *context, multi_ranks *ranks) {
  if (ranks && ranks->transport.close) ranks->transport.close(ranks->transport.user);
  tsi_free(context, ranks);
}

/* ---- Messages ---- */

static ts_status lost(ts_context *context, ts_status status) {
  multi_ranks *ranks = multi_ranks_of(context);
  if (!ranks->why[0]) snprintf(ranks->why, sizeof ranks->why, "a rank cannot be reached");
  return tsi_fail(context, status, "%s", ranks->why);
}

static ts_status heard(ts_context *context) {
  multi_ranks_of(context)->heard = 1;
  return tsi_fail(context, TS_ERROR_UNREACHABLE, "another rank has failed");
}

/* ---- Calls without an agreement ---- */

/* An operation with an agreement follows these calls. */
static int this_call(const ts_context *context) {
  return multi_ranks_of(context)->calls + (context->together > 0);
}

void multi_begin_call(ts_context *context) {
  multi_ranks *ranks = multi_ranks_of(context);
  if (ranks && !context->together && ranks->calls < INT_MAX - 1) ranks->calls++;
}

ts_status multi_end_call(ts_context *context, ts_status status) {
  multi_ranks *ranks = multi_ranks_of(context);
  if (ranks && !context->together && status < 0 && !ranks->failed_call) ranks->failed_call = ranks->calls;
  return status;
}

/* ---- Batches ---- */

/* Data transfers stop if a rank has failed; the agreement does not. */
static ts_status multi_ranks_begin(ts_context *context, const ts_message *messages, int count, int stops,
                                   void **batch) {
  multi_ranks *ranks = multi_ranks_of(context);
  const ts_transport *t = &ranks->transport;
  if (ranks->why[0]) return lost(context, TS_ERROR_UNREACHABLE);
  const ts_status status =
      t->begin(t->user, 2 * ranks->epoch + !stops, messages, count, batch, ranks->why, sizeof ranks->why);
  return status < 0 ? lost(context, status) : TS_OK;
}

static ts_status end(ts_context *context, void *batch, int stops) {
  multi_ranks *ranks = multi_ranks_of(context);
  const ts_transport *t = &ranks->transport;
  int stopped = 0;
  const ts_status status =
      t->end(t->user, batch, stops ? this_call(context) : -1, &stopped, ranks->why, sizeof ranks->why);
  if (status < 0) return lost(context, status);
  return stopped ? heard(context) : TS_OK;
}

static ts_status carry(ts_context *context, const ts_message *messages, int count, int stops) {
  void *batch = NULL;
  TSI_TRY(multi_ranks_begin(context, messages, count, stops, &batch));
  return end(context, batch, stops);
}

ts_status multi_begin_messages(ts_context *context, const ts_message *messages, int count, void **batch) {
  return multi_ranks_begin(context, messages, count, 1, batch);
}

ts_status multi_end_messages(ts_context *context, void *batch) {
  return end(context, batch, 1);
}

ts_status multi_exchange_messages(ts_context *context, const ts_message *messages, int count) {
  return count > 0 ? carry(context, messages, count, 1) : TS_OK;
}

ts_status multi_look(ts_context *context) {
  multi_ranks *ranks = multi_ranks_of(context);
  const ts_transport *t = &ranks->transport;
  int stopped = 0;
  if (ranks->why[0]) return lost(context, TS_ERROR_UNREACHABLE);
  const ts_status status =
      t->look(t->user, 2 * ranks->epoch, this_call(context), &stopped, ranks->why, sizeof ranks->why);
  if (status < 0) return lost(context, status);
  return stopped ? heard(context) : TS_OK;
}

/* ---- All ranks ---- */

static ts_status swap(ts_context *context, int rank, void *mine, void *other, size_t bytes, int stops) {
  const ts_message messages[2] = {{.rank = rank, .data = mine, .bytes = bytes},
                                  {.rank = rank, .receives = 1, .data = other, .bytes = bytes}};
  return carry(context, messages, 2, stops);
}

static ts_status move(ts_context *context, int rank, int receives, void *data, size_t bytes, int stops) {
  return carry(context, &(ts_message){.rank = rank, .receives = receives, .data = data, .bytes = bytes}, 1,
               stops);
}

static ts_status merge_all(ts_context *context, void *data, size_t bytes, multi_merge merge, int stops) {
  const ts_transport *t = &multi_ranks_of(context)->transport;
  double other[most_bytes / sizeof(double)] = {0};
  int power = 1;
  while (2 * power <= t->ranks) power *= 2;
  if (t->rank >= power) {
    TSI_TRY(move(context, t->rank - power, 0, data, bytes, stops));
    return move(context, t->rank - power, 1, data, bytes, stops);
  }
  const int partner = t->rank + power < t->ranks ? t->rank + power : -1;
  if (partner >= 0) {
    TSI_TRY(move(context, partner, 1, other, bytes, stops));
    merge(data, other);
  }
  for (int distance = 1; distance < power; distance *= 2) {
    TSI_TRY(swap(context, t->rank ^ distance, data, other, bytes, stops));
    merge(data, other);
  }
  return partner >= 0 ? move(context, partner, 0, data, bytes, stops) : TS_OK;
}

ts_status multi_merge_ranks(ts_context *context, void *data, size_t bytes, multi_merge merge) {
  return multi_ranks_of(context) ? merge_all(context, data, bytes, merge, 1) : TS_OK;
}

ts_status multi_collect(ts_context *context, const void *mine, size_t bytes, void *all) {
  const ts_transport *t = &multi_ranks_of(context)->transport;
  const size_t ranks = (size_t)t->ranks;
  ts_message *messages = tsi_malloc(context, 2 * ranks, sizeof *messages);
  if (!messages) return tsi_out_of_memory(context, "messages", 2 * ranks * sizeof *messages);
  unsigned char *to = all;
  int count = 0;
  memcpy(to + bytes * (size_t)t->rank, mine, bytes);
  for (int r = 0; r < t->ranks; r++) {
    if (r == t->rank) continue;
    messages[count++] = (ts_message){.rank = r, .data = (void *)mine, .bytes = bytes};
    messages[count++] = (ts_message){.rank = r, .receives = 1, .data = to + bytes * (size_t)r, .bytes = bytes};
  }
  const ts_status status = multi_exchange_messages(context, messages, count);
  tsi_free(context, messages);
  return status;
}

/* ---- Parcels ---- */

ts_status multi_parcels_create(ts_context *context, multi_parcels *p) {
  const size_t ranks = (size_t)ts_ranks_get_count(context);
  *p = (multi_parcels){.out_bytes = tsi_calloc(context, ranks, sizeof(size_t)),
                       .in_bytes = tsi_calloc(context, ranks, sizeof(size_t)),
                       .out = tsi_calloc(context, ranks, sizeof(void *)),
                       .in = tsi_calloc(context, ranks, sizeof(void *))};
  if (p->out_bytes && p->in_bytes && p->out && p->in) return TS_OK;
  multi_parcels_destroy(context, p);
  return tsi_out_of_memory(context, "messages", ranks * 4 * sizeof(size_t));
}

void multi_parcels_destroy(ts_context *context, multi_parcels *p) {
  for (int r = 0; r < ts_ranks_get_count(context); r++) {
    if (p->out) tsi_free(context, p->out[r]);
    if (p->in) tsi_free(context, p->in[r]);
  }
  tsi_free(context, p->out_bytes);
  tsi_free(context, p->in_bytes);
  tsi_free(context, p->out);
  tsi_free(context, p->in);
  *p = (multi_parcels){0};
}

static ts_status allocate_blocks(ts_context *context, const size_t *bytes, void **blocks) {
  for (int r = 0; r < ts_ranks_get_count(context); r++) {
    blocks[r] = tsi_malloc(context, bytes[r], 1);
    if (!blocks[r]) return tsi_out_of_memory(context, "messages", bytes[r]);
  }
  return TS_OK;
}

ts_status multi_parcels_allocate(ts_context *context, multi_parcels *p) {
  TSI_TRY(allocate_blocks(context, p->out_bytes, p->out));
  memset(p->out_bytes, 0, (size_t)ts_ranks_get_count(context) * sizeof *p->out_bytes);
  return TS_OK;
}

/* Exchanges the sizes or the contents. */
static ts_status carry_parcels(ts_context *context, multi_parcels *p, int contents, ts_message *messages) {
  int count = 0;
  for (int r = 0; r < ts_ranks_get_count(context); r++) {
    if (r == ts_ranks_get_rank(context)) continue;
    const size_t sent = contents ? p->out_bytes[r] : sizeof(size_t),
                 received = contents ? p->in_bytes[r] : sizeof(size_t);
    if (sent)
      messages[count++] =
          (ts_message){.rank = r, .data = contents ? p->out[r] : &p->out_bytes[r], .bytes = sent};
    if (received)
      messages[count++] = (ts_message){
          .rank = r, .receives = 1, .data = contents ? p->in[r] : &p->in_bytes[r], .bytes = received};
  }
  return multi_exchange_messages(context, messages, count);
}

ts_status multi_parcels_exchange(ts_context *context, multi_parcels *p) {
  const size_t most = 2 * (size_t)ts_ranks_get_count(context);
  ts_message *messages = tsi_malloc(context, most, sizeof *messages);
  if (!messages) return tsi_out_of_memory(context, "messages", most * sizeof *messages);
  ts_status status = carry_parcels(context, p, 0, messages);
  if (status == TS_OK) status = allocate_blocks(context, p->in_bytes, p->in);
  if (status == TS_OK) status = carry_parcels(context, p, 1, messages);
  tsi_free(context, messages);
  return status;
}

/* ---- Agreement ---- */

typedef struct verdict {
  int32_t rank; /* the first rank that failed, or INT32_MAX */
  int32_t status;
  int32_t alike;     /* all ranks failed in the same way, usually with an invalid argument */
  int32_t is_spoilt; /* the channel of some rank has leftover messages */
  char text[512];
} verdict;

static void merge_verdicts(void *mine, const void *other) {
  verdict *a = mine;
  const verdict *b = other;
  const int alike = a->alike && b->alike && a->status == b->status && !strcmp(a->text, b->text);
  const int is_spoilt = a->is_spoilt || b->is_spoilt;
  if (b->rank < a->rank) *a = *b;
  a->alike = alike;
  a->is_spoilt = is_spoilt;
}

/* The first failure of a rank ends the waits of the others, which may be some calls behind. */
static void stop_others(ts_context *context) {
  multi_ranks *ranks = multi_ranks_of(context);
  const ts_transport *t = &ranks->transport;
  if (ranks->stopped || ranks->heard || ranks->why[0]) return;
  ranks->stopped = 1;
  t->stop(t->user, 2 * ranks->epoch, ranks->failed_call ? ranks->failed_call : ranks->calls + 1, ranks->why,
          sizeof ranks->why);
}

ts_status multi_agree(ts_context *context, ts_status status) {
  multi_ranks *ranks = multi_ranks_of(context);
  if (!ranks) return status;
  const int failed = status < 0 && !ranks->heard;
  verdict all = {.rank = failed ? ranks->transport.rank : INT32_MAX,
                 .status = status,
                 .alike = failed,
                 .is_spoilt = multi_channel_is_spoilt(context)};
  if (failed)
    snprintf(all.text, sizeof all.text, "%s", context->error[0] ? context->error : ts_status_text(status));
  if (failed) stop_others(context);
  TSI_TRY(merge_all(context, &all, sizeof all, merge_verdicts, 0));
  ranks->epoch++;
  ranks->calls = ranks->failed_call = ranks->stopped = ranks->heard = 0;
  multi_state_of(context)->channel.is_used = 0;
  if (all.rank == INT32_MAX) return status;
  if (all.is_spoilt) multi_channel_renew(context);
  if (all.alike) return tsi_fail(context, (ts_status)all.status, "%s", all.text);
  return tsi_fail(context, (ts_status)all.status, "rank %d: %s", all.rank, all.text);
}

ts_status multi_check_root(ts_context *context, int root) {
  if (!context->ops->agree)
    return tsi_fail(
        context, TS_ERROR_UNSUPPORTED,
        "backend %s has a single process; create contexts of several ranks with ts_ranks_context_create",
        context->backend_name);
  if (root < 0 || root >= ts_ranks_get_count(context))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "root is %d; there are %d ranks", root,
                    ts_ranks_get_count(context));
  return TS_OK;
}

ts_status ts_ranks_agree(ts_context *context, ts_status status, const char *text) {
  TSI_BEGIN(context, context);
  if (status < 0) tsi_fail(context, status, "%s", text ? text : ts_status_text(status));
  tsi_begin_together(context);
  return tsi_end_together(context, status);
}

static ts_status broadcast(ts_context *context, int root, void *data, size_t bytes) {
  const int ranks = ts_ranks_get_count(context), mine = ts_ranks_get_rank(context);
  if (mine != root)
    return multi_exchange_messages(context,
                                   &(ts_message){.rank = root, .receives = 1, .data = data, .bytes = bytes}, 1);
  ts_message *messages = tsi_malloc(context, (size_t)ranks, sizeof *messages);
  if (!messages) return tsi_out_of_memory(context, "messages", (size_t)ranks * sizeof *messages);
  int count = 0;
  for (int r = 0; r < ranks; r++)
    if (r != root) messages[count++] = (ts_message){.rank = r, .data = data, .bytes = bytes};
  const ts_status status = multi_exchange_messages(context, messages, count);
  tsi_free(context, messages);
  return status;
}

ts_status ts_ranks_broadcast(ts_context *context, int root, void *data, size_t bytes) {
  TSI_BEGIN(context, context);
  TSI_REQUIRE(context, data);
  TSI_TRY(multi_check_root(context, root));
  tsi_begin_together(context);
  return tsi_end_together(context, broadcast(context, root, data, bytes));
}

/* ---- Queries ---- */

static const multi_ranks *ranks_of(const ts_context *context) {
  return context && context->ops->agree ? multi_ranks_of(context) : NULL;
}

int ts_ranks_get_rank(const ts_context *context) {
  const multi_ranks *ranks = ranks_of(context);
  return ranks ? ranks->transport.rank : 0;
}

int ts_ranks_get_count(const ts_context *context) {
  const multi_ranks *ranks = ranks_of(context);
  return ranks ? ranks->transport.ranks : 1;
}

ts_status ts_ranks_report(ts_status status, const char *text) {
  return tsi_fail(NULL, status, "%s", text ? text : ts_status_text(status));
}

/* For a rank that failed before it had a context: takes part in the first agreement of the others. */
static ts_status agree_without_context(const ts_transport *transport, ts_status status) {
  multi_ranks ranks = {.transport = *transport};
  multi_state state = {.ranks = &ranks};
  ts_context context = {.backend = &state, .together = 1};
  snprintf(context.error, sizeof context.error, "%s", ts_last_error(NULL));
  status = multi_agree(&context, status);
  return tsi_fail(NULL, status, "%s", context.error);
}

ts_status ts_ranks_context_create(const ts_context_desc *desc, const ts_transport *transport,
                                  ts_context **context) {
  tsi_clear_error(NULL);
  if (context) *context = NULL;
  TSI_REQUIRE(NULL, transport);
  const ts_transport *t = transport;
  tsi_opening opening = {.transport = *t};
  ts_status status = TS_OK;
  if (t->ranks < 1 || t->rank < 0 || t->rank >= t->ranks) {
    status = tsi_fail(NULL, TS_ERROR_INVALID_ARGUMENT, "transport.rank is %d of %d ranks", t->rank, t->ranks);
  } else {
    status = context ? tsi_context_open(desc, &opening, context)
                     : tsi_fail(NULL, TS_ERROR_INVALID_ARGUMENT, "context is NULL");
    if (status < 0 && !opening.agrees) status = agree_without_context(t, status);
  }
  if (status < 0 && t->close) t->close(t->user);
  return status;
}
