/* Memory of devices that ranks of one host share, so that ghosts need no way through the host.
 *
 * The part that has the elements gathers them into one of two messages of a share, and waits for its device. A
 * message of one byte then says which of the two it is, and the other part copies it into its ghosts. In the
 * same batch the other part answers, after it has waited for its own device: what it has copied in exchanges
 * before this one is done. So once a batch has ended, the message of the exchange before has been read, and the
 * next exchange may write it. Where a batch fails the turn stays, and the next exchange writes the same message
 * again: only copies of the exchange that failed can read it meanwhile, and what they lead to is undefined. The
 * turn goes along in the byte, as the two ranks may not have failed in the same batch. */
#include <stdio.h>
#include <string.h>

#include "multi.h"

enum { most_components = 4 };

/* What the sender has made, and whether the receiver can use it. */
typedef struct offer {
  unsigned char is_made, is_taken;
  unsigned char description[TSI_SHARE_BYTES];
} offer;

static int is_own(const ts_context *context, int p) {
  return multi_part(context, p) != NULL;
}

static unsigned char *ways_of(const multi_state *state, int own, int other) {
  return &state->shares[(size_t)(own - state->first) * (size_t)state->count + (size_t)other];
}

static int may_share(const ts_context *context, const multi_exchange *e) {
  const multi_state *state = multi_state_of(context);
  if (is_own(context, e->from) && is_own(context, e->to)) return 0;
  return is_own(context, e->from) ? *ways_of(state, e->from, e->to) & MULTI_SENDS
                                  : *ways_of(state, e->to, e->from) & MULTI_RECEIVES;
}

void multi_share_destroy(ts_context *part, multi_exchange *e) {
  if (e->share) part->ops->part->share_destroy(part, e->share, 1);
  e->share = NULL;
}

/* ---- Making them ---- */

static ts_status make_offer(ts_context *context, multi_exchange *e, offer *made) {
  ts_context *part = multi_part(context, e->from);
  const size_t bytes = (size_t)e->count * most_components * sizeof(float);
  TSI_TRY(multi_begin(context, e->from));
  made->is_made = part->ops->part->share_export(part, bytes, made->description, &e->share) == TS_OK;
  tsi_leave(part, TS_OK);
  tsi_clear_error(part);
  return TS_OK;
}

static ts_status take_offer(ts_context *context, multi_exchange *e, offer *made) {
  ts_context *part = multi_part(context, e->to);
  const size_t bytes = (size_t)e->count * most_components * sizeof(float);
  if (!made->is_made) return TS_OK;
  TSI_TRY(multi_begin(context, e->to));
  made->is_taken = part->ops->part->share_import(part, bytes, made->description, &e->share) == TS_OK;
  tsi_leave(part, TS_OK);
  tsi_clear_error(part);
  return TS_OK;
}

static ts_status give_up_offer(ts_context *context, multi_exchange *e, const offer *made) {
  ts_context *part = multi_part(context, e->from);
  if (!e->share || made->is_taken) return TS_OK;
  TSI_TRY(multi_begin(context, e->from));
  part->ops->part->share_destroy(part, e->share, 0);
  tsi_leave(part, TS_OK);
  e->share = NULL;
  return TS_OK;
}

/* What offers are made of, or the answers. */
static ts_status carry(ts_context *context, const multi_exchange *exchanges, int count, offer *offers,
                       ts_message *messages, int answers) {
  int n = 0;
  for (int i = 0; i < count; i++) {
    const multi_exchange *e = &exchanges[i];
    if (!may_share(context, e)) continue;
    const int sends = is_own(context, e->from);
    messages[n++] = (ts_message){.rank = multi_rank_of_part(context, sends ? e->to : e->from),
                                 .receives = sends == answers,
                                 .data = answers ? &offers[i].is_taken : (void *)&offers[i],
                                 .bytes = answers ? 1 : sizeof *offers};
  }
  return multi_exchange_messages(context, messages, n);
}

static ts_status settle(ts_context *context, multi_exchange *exchanges, int count, int wanted, offer *offers,
                        ts_message *messages) {
  for (int i = 0; i < count && wanted; i++)
    if (may_share(context, &exchanges[i]) && is_own(context, exchanges[i].from))
      TSI_TRY(make_offer(context, &exchanges[i], &offers[i]));
  TSI_TRY(carry(context, exchanges, count, offers, messages, 0));
  for (int i = 0; i < count; i++)
    if (may_share(context, &exchanges[i]) && is_own(context, exchanges[i].to))
      TSI_TRY(take_offer(context, &exchanges[i], &offers[i]));
  TSI_TRY(carry(context, exchanges, count, offers, messages, 1));
  for (int i = 0; i < count; i++)
    if (is_own(context, exchanges[i].from)) TSI_TRY(give_up_offer(context, &exchanges[i], &offers[i]));
  return TS_OK;
}

ts_status multi_shares_create(ts_context *context, multi_exchange *exchanges, int count, int offers) {
  int any = 0;
  if (!multi_state_of(context)->shares) return TS_OK;
  for (int i = 0; i < count && !any; i++) any = may_share(context, &exchanges[i]);
  if (!any) return TS_OK;
  const size_t n = (size_t)count;
  offer *made = tsi_calloc(context, n, sizeof *made);
  ts_message *messages = tsi_malloc(context, n, sizeof *messages);
  const ts_status status = made && messages
                               ? settle(context, exchanges, count, offers, made, messages)
                               : tsi_out_of_memory(context, "messages", n * (sizeof *made + sizeof *messages));
  tsi_free(context, made);
  tsi_free(context, messages);
  return status;
}

/* ---- Who shares ---- */

/* One index for each way between parts that may try, in the same order on both ranks of a pair. */
static int list_ways(ts_context *context, multi_exchange *ways) {
  const multi_state *state = multi_state_of(context);
  int count = 0;
  for (int from = 0; from < state->count; from++) {
    const int sends = is_own(context, from);
    const int first = sends ? 0 : state->first, end = sends ? state->count : state->first + state->own;
    for (int to = first; to < end; to++) {
      const multi_exchange way = {.from = from, .to = to, .count = 1};
      if (may_share(context, &way)) ways[count++] = way;
    }
  }
  return count;
}

/* Keeps the ways that have a share, and gives that back. */
static void keep_ways(ts_context *context, multi_exchange *ways, int count) {
  const multi_state *state = multi_state_of(context);
  memset(state->shares, 0, (size_t)state->own * (size_t)state->count);
  for (int i = 0; i < count; i++) {
    const int sends = is_own(context, ways[i].from), p = sends ? ways[i].from : ways[i].to;
    if (!ways[i].share) continue;
    *ways_of(state, p, sends ? ways[i].to : ways[i].from) |= sends ? MULTI_SENDS : MULTI_RECEIVES;
    tsi_enter_to_destroy(multi_part(context, p));
    multi_share_destroy(multi_part(context, p), &ways[i]);
    tsi_leave(multi_part(context, p), TS_OK);
  }
}

ts_status multi_shares_open(ts_context *context) {
  const multi_state *state = multi_state_of(context);
  int count = 0;
  for (size_t k = 0; state->shares && k < (size_t)state->own * (size_t)state->count; k++)
    count += 2 * (state->shares[k] != 0);
  if (!count) return TS_OK;
  multi_exchange *ways = tsi_calloc(context, (size_t)count, sizeof *ways);
  if (!ways) return tsi_out_of_memory(context, "the ranks", (size_t)count * sizeof *ways);
  count = list_ways(context, ways);
  const ts_status status = multi_shares_create(context, ways, count, 1);
  keep_ways(context, ways, count);
  tsi_free(context, ways);
  return status;
}

void multi_ghosts_describe(const ts_context *context, char *text, size_t size) {
  const multi_state *state = multi_state_of(context);
  const int from_device = state->ranks && state->ranks->transport.takes_device_memory;
  const int is_forced = context->tuning.ghost_transfer == MULTI_TRANSFER_CHANNEL && state->channel.is_open;
  char messages[144] = "";
  size_t shared = 0;
  text[0] = 0;
  if (!state->shares || state->count == state->own) return;
  if (!from_device || is_forced) multi_channel_describe(context, messages, sizeof messages);
  if (!messages[0])
    snprintf(messages, sizeof messages, from_device ? "from device memory" : "through the host");
  const size_t all = 2 * (size_t)state->own * (size_t)(state->count - state->own);
  for (size_t k = 0; k < (size_t)state->own * (size_t)state->count; k++)
    shared += (state->shares[k] & 1u) + (state->shares[k] >> 1u);
  if (shared == 0 || is_forced)
    snprintf(text, size, ", ghosts %s", messages);
  else
    snprintf(text, size, ", ghosts in shared memory%s%s", shared < all ? " and " : "",
             shared < all ? messages : "");
}
