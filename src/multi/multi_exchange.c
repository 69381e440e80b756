/* The exchange of ghosts before a product: between parts of a process directly, between ranks by messages.
 * Messages of a channel (multi_channel.c) arrive in place; the host waits for all others.
 *
 * If a host has to wait for its device to gather the data to send, it does so in the second half of the
 * exchange. The device then has rows without ghosts to compute before the host waits. */
#include "multi.h"

/* ---- Copies with room for ghosts, of vectors that have none ---- */

static ts_status create_copy(const multi_halo *halo, int k, int p, int components) {
  ts_vector **copy = &halo->copies[k][p];
  if (*copy && (*copy)->components == components) return TS_OK;
  tsi_vector_destroy(*copy);
  *copy = NULL;
  return tsi_arena_create(halo->extended[p], components, 1, copy, 1, 0, NULL);
}

static ts_status copy_to_extended(const multi_halo *halo, const ts_vector *x, int k) {
  ts_context *context = x->context;
  const ts_vector first = tsi_first_part(x);
  for (int p = 0; p < multi_count(context); p++) {
    if (!halo->extended[p]) continue;
    MULTI_TRY(context, p, create_copy(halo, k, p, x->components));
    const ts_vector *own = LOCAL(&first);
    if (own)
      MULTI_TRY(context, p,
                multi_ops_of(context, p)->axpby(halo->copies[k][p], ts_constant(1), own, ts_constant(0), own));
  }
  return TS_OK;
}

static const ts_vector *target(const multi_halo *halo, const ts_vector *x, int k, int p, multi_view *view) {
  return halo->extended[p] ? halo->copies[k][p] : multi_local(x, p, view);
}

/* ---- Messages ---- */

void multi_message_destroy(ts_context *part, multi_exchange *e) {
  const tsi_part_ops *ops = part->ops->part;
  if (e->message && ops->message_destroy) ops->message_destroy(part, e->message, e->on_device);
  if (!ops->message_destroy) tsi_free(part, e->message);
  e->message = NULL;
}

/* Whether the transport sends and receives in device memory. */
static int are_on_device(const ts_context *context) {
  const multi_state *state = multi_state_of(context);
  return state->ranks->transport.takes_device_memory && state->parts[state->first]->ops->part->message_create &&
         context->tuning.ghost_transfer >= MULTI_TRANSFER_DEVICE;
}

static int goes_by_channel(const ts_context *context, const multi_exchange *e) {
  return e->has_channel && multi_state_of(context)->channel.is_open;
}

static ts_status create_message(ts_context *part, multi_exchange *e, size_t floats, int on_device) {
  const tsi_part_ops *ops = part->ops->part;
  if (e->floats == floats && e->on_device == on_device) return TS_OK;
  multi_message_destroy(part, e);
  e->floats = 0;
  e->on_device = on_device;
  if (ops->message_create) {
    TSI_TRY(ops->message_create(part, floats * sizeof(float), on_device, (void **)&e->message));
  } else {
    e->message = tsi_malloc(part, floats, sizeof(float));
    if (!e->message) return tsi_out_of_memory(part, "a message", floats * sizeof(float));
  }
  e->floats = floats;
  return TS_OK;
}

static int is_sent(const ts_context *context, const multi_exchange *e) {
  return multi_part(context, e->to) == NULL;
}
static int is_received(const ts_context *context, const multi_exchange *e) {
  return multi_part(context, e->from) == NULL;
}

/* Prepares the message of one exchange. A channel sends from device memory and receives in place. A part in
 * host memory receives in place too. */
static ts_status multi_exchange_prepare(const multi_halo *halo, multi_exchange *e, const ts_vector *x, int k,
                                        ts_message *message) {
  ts_context *context = x->context;
  const size_t n = (size_t)x->components, floats = (size_t)e->count * n;
  const int by_channel = goes_by_channel(context, e);
  const int receives = is_received(context, e), p = receives ? e->to : e->from;
  const tsi_part_ops *part = multi_ops_of(context, p)->part;
  multi_view view;
  *message = (ts_message){.rank = multi_rank_of_part(context, receives ? e->from : e->to),
                          .receives = receives,
                          .bytes = floats * sizeof(float)};
  if (receives && (by_channel || !part->ghosts_write)) {
    message->data = part->ghosts(target(halo, x, k, p, &view)) + (size_t)e->first * n;
    return TS_OK;
  }
  MULTI_TRY(context, p,
            create_message(multi_part(context, p), e, floats, by_channel || are_on_device(context)));
  message->data = e->message;
  if (receives) return TS_OK;
  const ts_vector first = tsi_first_part(x);
  MULTI_TRY(context, p, part->gather(multi_local(&first, p, &view), e->list, e->message));
  return TS_OK;
}

static ts_status exchange_by_channel(const multi_halo *halo, const ts_vector *x, int k) {
  ts_context *context = x->context;
  multi_state *state = multi_state_of(context);
  int count = 0;
  for (int i = 0; i < halo->exchange_count; i++) {
    multi_exchange *e = &halo->exchanges[i];
    if (goes_by_channel(context, e)) TSI_TRY(multi_exchange_prepare(halo, e, x, k, &halo->messages[count++]));
  }
  if (!count) return TS_OK;
  state->channel.is_used = 1;
  MULTI_TRY(context, state->first,
            multi_ops_of(context, state->first)
                ->part->channel_exchange(state->parts[state->first], halo->messages, count));
  return TS_OK;
}

static ts_status write_received(const multi_halo *halo, const ts_vector *x, int k) {
  ts_context *context = x->context;
  for (int i = 0; i < halo->exchange_count; i++) {
    const multi_exchange *e = &halo->exchanges[i];
    if (!is_received(context, e) || goes_by_channel(context, e)) continue;
    const tsi_part_ops *part = multi_ops_of(context, e->to)->part;
    multi_view view;
    const size_t n = (size_t)x->components;
    if (part->ghosts_write)
      MULTI_TRY(context, e->to,
                part->ghosts_write(target(halo, x, k, e->to, &view), (size_t)e->first * n, (size_t)e->count * n,
                                   e->message));
  }
  return TS_OK;
}

static const tsi_part_ops *own_part(const ts_context *context) {
  const multi_state *state = multi_state_of(context);
  return state->parts[state->first]->ops->part;
}

static ts_status mark_devices(ts_context *context) {
  const multi_state *state = multi_state_of(context);
  for (int p = state->first; p < state->first + state->own; p++)
    MULTI_TRY(context, p, own_part(context)->mark(state->parts[p]));
  return TS_OK;
}

/* Waits until the devices have gathered data to send, and have stored data received earlier. */
static ts_status wait_for_devices(ts_context *context) {
  const multi_state *state = multi_state_of(context);
  for (int p = state->first; p < state->first + state->own; p++)
    MULTI_TRY(context, p, own_part(context)->wait_for_mark(state->parts[p]));
  return TS_OK;
}

/* A transport that supports device memory expects it on the current device. */
static ts_status begin_messages(ts_context *context, multi_halo *halo) {
  const int p = multi_state_of(context)->first, count = halo->message_count;
  if (!are_on_device(context)) return multi_begin_messages(context, halo->messages, count, &halo->batch);
  TSI_TRY(multi_begin(context, p));
  return tsi_leave(multi_part(context, p), multi_begin_messages(context, halo->messages, count, &halo->batch));
}

static ts_status end_messages(ts_context *context, const multi_halo *halo) {
  const int p = multi_state_of(context)->first;
  if (!are_on_device(context)) return multi_end_messages(context, halo->batch);
  const ts_status entered = multi_begin(context, p), status = multi_end_messages(context, halo->batch);
  return entered < 0 ? entered : tsi_leave(multi_part(context, p), status);
}

static ts_status begin_between_ranks(multi_halo *halo, const ts_vector *x, int k) {
  ts_context *context = x->context;
  const size_t most = (size_t)halo->remote;
  int count = 0;
  if (!halo->messages) halo->messages = tsi_malloc(context, most, sizeof *halo->messages);
  if (!halo->messages) return tsi_out_of_memory(context, "messages", most * sizeof *halo->messages);
  halo->is_begun = 0;
  TSI_TRY(exchange_by_channel(halo, x, k));
  for (int i = 0; i < halo->exchange_count; i++) {
    multi_exchange *e = &halo->exchanges[i];
    if (!goes_by_channel(context, e) && (is_sent(context, e) || is_received(context, e)))
      TSI_TRY(multi_exchange_prepare(halo, e, x, k, &halo->messages[count++]));
  }
  if (!count) return TS_OK;
  halo->message_count = count;
  halo->is_begun = 1;
  return own_part(context)->mark ? mark_devices(context) : begin_messages(context, halo);
}

static ts_status end_between_ranks(multi_halo *halo, const ts_vector *x, int k) {
  if (!halo->is_begun) return TS_OK;
  if (own_part(x->context)->mark) {
    TSI_TRY(wait_for_devices(x->context));
    TSI_TRY(begin_messages(x->context, halo));
  }
  TSI_TRY(end_messages(x->context, halo));
  return write_received(halo, x, k);
}

/* ---- Exchanges of all parts ---- */

ts_status multi_join(ts_context *context) {
  const multi_state *state = multi_state_of(context);
  if (own_part(context)->join)
    MULTI_TRY(context, state->first, own_part(context)->join(state->parts + state->first, state->own));
  return TS_OK;
}

static ts_status join(ts_context *context, const multi_halo *halo) {
  return halo->exchange_count > halo->remote ? multi_join(context) : TS_OK;
}

static ts_status exchange_within(const multi_halo *halo, const ts_vector *x, int k) {
  ts_context *context = x->context;
  const ts_vector first = tsi_first_part(x);
  for (int i = 0; i < halo->exchange_count; i++) {
    const multi_exchange *e = &halo->exchanges[i];
    if (is_sent(context, e) || is_received(context, e)) continue;
    multi_view from, to;
    const tsi_part_ops *part = multi_ops_of(context, e->from)->part;
    float *ghosts = part->ghosts(target(halo, x, k, e->to, &to)) + (size_t)e->first * (size_t)x->components;
    MULTI_TRY(context, e->from, part->gather(multi_local(&first, e->from, &from), e->list, ghosts));
  }
  return TS_OK;
}

static ts_status begin_part(multi_halo *halo, const ts_vector *x, int k) {
  TSI_TRY(exchange_within(halo, x, k));
  return halo->remote ? begin_between_ranks(halo, x, k) : TS_OK;
}

static ts_status end_part(multi_halo *halo, const ts_vector *x, int k) {
  return halo->remote ? end_between_ranks(halo, x, k) : TS_OK;
}

/* Other parts write the ghosts of copies, so they do so after the copies are complete. */
ts_status multi_begin_ghosts(multi_halo *halo, const ts_vector *x) {
  TSI_TRY(copy_to_extended(halo, x, 0));
  TSI_TRY(join(x->context, halo));
  return begin_part(halo, x, 0);
}

ts_status multi_end_ghosts(multi_halo *halo, const ts_vector *x) {
  TSI_TRY(end_part(halo, x, 0));
  return join(x->context, halo);
}

ts_status multi_exchange_ghosts(multi_halo *halo, const ts_vector *x, int parts) {
  ts_context *context = x->context;
  const ts_vector *part = x;
  for (int k = 0; k < parts && part; k++, part = part->low) TSI_TRY(copy_to_extended(halo, part, k));
  TSI_TRY(join(context, halo));
  part = x;
  for (int k = 0; k < parts && part; k++, part = part->low) {
    TSI_TRY(begin_part(halo, part, k));
    TSI_TRY(end_part(halo, part, k));
  }
  return join(context, halo);
}

ts_vector *multi_with_ghosts(const multi_halo *halo, const ts_vector *x, int p, multi_view *view) {
  if (!halo->extended[p]) return multi_local(x, p, view);
  view->parts[0] = *halo->copies[0][p];
  if (x->low && halo->copies[1][p]) {
    view->parts[1] = *halo->copies[1][p];
    view->parts[0].low = &view->parts[1];
  }
  return &view->parts[0];
}
