/* A channel between the devices of all ranks. It carries messages between their memories in stream order, so
 * that the host waits for none of them. For CUDA parts, the channel is NCCL.
 *
 * Either all ranks have the channel or none has. Each rank reports whether it can, all open it, and each
 * reports whether it succeeded. It is opened with the context if ghosts would otherwise go through the host. If
 * not, it is opened with the first matrix for which the tuning number ghost_transfer requires it. A matrix uses
 * it if all ranks want that; sums use it while it is open.
 *
 * A call that fails on one rank may leave messages in the channel that nobody receives. So if any rank has used
 * the channel in that call, all close it when they agree on the failure, and open a new one. */
#include <stdio.h>
#include <string.h>

#include "multi.h"

static const tsi_part_ops *part_of(const ts_context *context) {
  const multi_state *state = multi_state_of(context);
  return state->parts[state->first]->ops->part;
}

/* The result is the same on all ranks, because their parts are of one kind. */
static int is_possible(const ts_context *context) {
  const multi_state *state = multi_state_of(context);
  return state->ranks && state->ranks->transport.ranks > 1 && state->own == 1 && part_of(context)->channel_open;
}

static int wants_channel(const ts_context *context, int transfer) {
  const int to_device = multi_ranks_of(context)->transport.takes_device_memory;
  return transfer == MULTI_TRANSFER_CHANNEL || (transfer == MULTI_TRANSFER_BEST && !to_device);
}

/* ---- Opening ---- */

/* The data that the ranks exchange to open the channel. */
typedef struct ticket {
  int32_t failed; /* the first rank that failed, or INT32_MAX */
  char why[sizeof((multi_channel *)0)->why];
  unsigned char number[TSI_CHANNEL_BYTES]; /* set on rank 0; 0 on the others */
} ticket;

static void merge_tickets(void *mine, const void *other) {
  ticket *a = mine;
  const ticket *b = other;
  for (int k = 0; k < TSI_CHANNEL_BYTES; k++) a->number[k] |= b->number[k];
  if (b->failed >= a->failed) return;
  a->failed = b->failed;
  memcpy(a->why, b->why, sizeof a->why);
}

static void note(ts_context *context, ts_status status, ticket *t) {
  const multi_state *state = multi_state_of(context);
  ts_context *part = state->parts[state->first];
  tsi_leave(part, TS_OK);
  if (status < 0) {
    t->failed = state->ranks->transport.rank;
    snprintf(t->why, sizeof t->why, "%.95s", part->error);
  }
  tsi_clear_error(part);
}

static ts_status find(ts_context *context, ticket *t) {
  const multi_state *state = multi_state_of(context);
  ts_context *part = state->parts[state->first];
  TSI_TRY(multi_begin(context, state->first));
  ts_status status = TS_OK;
  if (!state->ranks->transport.look)
    status = tsi_fail(part, TS_ERROR_UNSUPPORTED, "the transport cannot look for failures");
  if (status == TS_OK)
    status = part->ops->part->channel_find(part, state->ranks->transport.rank == 0 ? t->number : NULL);
  note(context, status, t);
  return TS_OK;
}

static ts_status multi_channel_start(ts_context *context, ticket *t) {
  const multi_state *state = multi_state_of(context);
  const ts_transport *transport = &state->ranks->transport;
  ts_context *part = state->parts[state->first];
  const tsi_watch watch = {.look = multi_look, .whole = context};
  TSI_TRY(multi_begin(context, state->first));
  const ts_status status =
      part->ops->part->channel_open(part, transport->rank, transport->ranks, t->number, &watch);
  note(context, status, t);
  multi_state_of(context)->channel.is_open = status == TS_OK;
  return TS_OK;
}

void multi_channel_close(ts_context *context, int finishes) {
  multi_state *state = multi_state_of(context);
  if (!state->channel.is_open) return;
  ts_context *part = state->parts[state->first];
  tsi_enter_to_destroy(part);
  part->ops->part->channel_close(part, finishes);
  tsi_leave(part, TS_OK);
  state->channel.is_open = state->channel.is_used = 0;
}

/* If one rank cannot open it, no rank does. This is not an error. */
static ts_status open_channel(ts_context *context) {
  multi_channel *channel = &multi_state_of(context)->channel;
  ticket t = {.failed = INT32_MAX};
  channel->was_tried = 1;
  TSI_TRY(find(context, &t));
  TSI_TRY(multi_merge_ranks(context, &t, sizeof t, merge_tickets));
  if (t.failed == INT32_MAX) {
    ts_status status = multi_channel_start(context, &t);
    if (status == TS_OK) status = multi_merge_ranks(context, &t, sizeof t, merge_tickets);
    if (status < 0 || t.failed != INT32_MAX) multi_channel_close(context, 0);
    TSI_TRY(status);
  }
  memcpy(channel->why, t.why, sizeof channel->why);
  return TS_OK;
}

/* ---- When ---- */

typedef struct wishes {
  int32_t wanted;  /* a rank that has ghosts wants it */
  int32_t refused; /* a rank refuses */
} wishes;

static void merge_wishes(void *mine, const void *other) {
  wishes *a = mine;
  const wishes *b = other;
  a->wanted |= b->wanted;
  a->refused |= b->refused;
}

static ts_status agree_on_wishes(ts_context *context, int transfer, int has_use, int *wanted) {
  const int wants = wants_channel(context, transfer);
  wishes all = {.wanted = wants && has_use, .refused = !wants};
  TSI_TRY(multi_merge_ranks(context, &all, sizeof all, merge_wishes));
  *wanted = all.wanted && !all.refused;
  return TS_OK;
}

ts_status multi_channel_open(ts_context *context) {
  const multi_state *state = multi_state_of(context);
  int wanted;
  if (!is_possible(context)) return TS_OK;
  const int transfer = (int)state->parts[state->first]->tuning.ghost_transfer;
  TSI_TRY(agree_on_wishes(context, transfer, 1, &wanted));
  return wanted ? open_channel(context) : TS_OK;
}

static int is_candidate(const ts_context *context, const multi_exchange *e) {
  return !multi_part(context, e->from) || !multi_part(context, e->to);
}

ts_status multi_channel_choose(ts_context *context, multi_exchange *exchanges, int count) {
  multi_channel *channel = &multi_state_of(context)->channel;
  int any = 0, wanted;
  if (!is_possible(context) || (channel->was_tried && !channel->is_open)) return TS_OK;
  for (int i = 0; i < count; i++) any |= is_candidate(context, &exchanges[i]);
  TSI_TRY(agree_on_wishes(context, (int)context->tuning.ghost_transfer, any, &wanted));
  if (!wanted) return TS_OK;
  if (!channel->was_tried) {
    TSI_TRY(open_channel(context));
    multi_describe_driver(context);
  }
  for (int i = 0; i < count; i++)
    exchanges[i].has_channel = channel->is_open && is_candidate(context, &exchanges[i]);
  return TS_OK;
}

/* ---- After failures ---- */

int multi_channel_is_spoilt(const ts_context *context) {
  const multi_state *state = multi_state_of(context);
  return state->channel.is_open &&
         (state->channel.is_used || part_of(context)->channel_is_broken(state->parts[state->first]));
}

void multi_channel_renew(ts_context *context) {
  if (!multi_state_of(context)->channel.is_open) return;
  multi_channel_close(context, 0);
  open_channel(context);
  multi_describe_driver(context);
}

/* ---- Description ---- */

static void describe(const ts_context *context, char *text, size_t size) {
  const multi_state *state = multi_state_of(context);
  char name[64];
  text[0] = 0;
  if (state->channel.is_open) {
    part_of(context)->channel_describe(state->parts[state->first], name, sizeof name);
    snprintf(text, size, "by %s", name);
  } else if (state->channel.was_tried) {
    snprintf(text, size, "through the host (%s)", state->channel.why);
  }
}

void multi_ghosts_describe(const ts_context *context, char *text, size_t size) {
  const multi_state *state = multi_state_of(context);
  char way[144] = "";
  text[0] = 0;
  if (!state->ranks || state->count == state->own || !part_of(context)->message_create) return;
  const int from_device = state->ranks->transport.takes_device_memory;
  const int is_forced = context->tuning.ghost_transfer == MULTI_TRANSFER_CHANNEL && state->channel.is_open;
  if (!from_device || is_forced) describe(context, way, sizeof way);
  if (!way[0]) snprintf(way, sizeof way, from_device ? "from device memory" : "through the host");
  snprintf(text, size, ", ghosts %s", way);
}
