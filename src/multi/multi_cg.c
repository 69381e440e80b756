/* Conjugate gradient iterations that the parts run without the host (cg.c has the method): one kernel per
 * device, and the kernels exchange sums and ghosts. If one part has all rows, it iterates as a single device
 * would. */
#include "common/krylov/cg_operations.h"
#include "multi.h"

/* The parts that have rows. */
typedef struct owners {
  int count;
  int parts[MULTI_MOST_PARTS];
  void *peers[MULTI_MOST_PARTS];
} owners;

static void find_owners(const ts_matrix *A, owners *own) {
  const multi_state *state = multi_state_of(A->context);
  const multi_matrix *m = A->impl;
  own->count = 0;
  for (int p = 0; p < state->count; p++) {
    if (!m->local[p]) continue;
    own->parts[own->count] = p;
    own->peers[own->count++] = state->peers[p];
  }
}

static int fits_together(const ts_matrix *A, const owners *own) {
  const multi_matrix *m = A->impl;
  const tsi_part_ops *part = multi_ops_of(A->context, 0)->part;
  for (int k = 0; k < own->count; k++)
    if (m->halo->extended[own->parts[k]]) return 0; /* ghosts are not stored in the vectors themselves */
  return part->cg_fits && part->cg_fits(own->peers, own->count);
}

static int fits(const ts_matrix *A) {
  const multi_matrix *m = A->impl;
  owners own;
  find_owners(A, &own);
  if (A->row_space != A->column_space) return 0;
  for (int k = 0; k < own.count; k++) {
    const ts_matrix *local = m->local[own.parts[k]];
    if (!local->context->ops->cg->fits(local)) return 0;
  }
  return own.count == 1 ? !m->halo->exchange_count : own.count > 1 && fits_together(A, &own);
}

/* ---- Iterations ---- */

/* One part's share of a run. */
typedef struct local_run {
  tsi_cg_iterations run;
  multi_view e, r, d, q, m;
  multi_slots slots;
} local_run;

static void localise(const tsi_cg_iterations *run, int p, local_run *local) {
  const multi_matrix *m = run->matrix->impl;
  local->run = *run;
  local->run.matrix = m->local[p];
  local->run.e = multi_local(run->e, p, &local->e), local->run.r = multi_local(run->r, p, &local->r);
  local->run.d = multi_local(run->d, p, &local->d), local->run.q = multi_local(run->q, p, &local->q);
  local->run.m = multi_local(run->m, p, &local->m);
  local->run.slots = multi_local_scalars(run->slots, p, &local->slots);
}

static float *ghosts_of(const ts_vector *v, const multi_exchange *e) {
  multi_view view;
  const ts_vector *local = multi_local(v, e->to, &view);
  if (!local) return NULL;
  return local->context->ops->part->ghosts(local) + (size_t)e->first * (size_t)v->components;
}

static int find_pushes(const tsi_cg_iterations *run, int p, tsi_part_push *pushes) {
  const multi_halo *halo = ((const multi_matrix *)run->matrix->impl)->halo;
  int count = 0;
  for (int i = 0; i < halo->exchange_count; i++) {
    const multi_exchange *e = &halo->exchanges[i];
    if (e->from == p)
      pushes[count++] = (tsi_part_push){.list = e->list,
                                        .e = ghosts_of(run->e, e),
                                        .d = ghosts_of(run->d, e),
                                        .r = ghosts_of(run->r, e),
                                        .q = ghosts_of(run->q, e),
                                        .m = ghosts_of(run->m, e)};
  }
  return count;
}

static ts_status multi_cg_prepare(const tsi_cg_iterations *run, const owners *own, int number) {
  const int p = own->parts[number];
  ts_context *context = run->e->context;
  multi_state *state = multi_state_of(context);
  const multi_halo *halo = ((const multi_matrix *)run->matrix->impl)->halo;
  tsi_part_push pushes[MULTI_MOST_PARTS];
  local_run local;
  localise(run, p, &local);
  const tsi_part_cg with = {.peers = own->peers,
                            .number = number,
                            .count = own->count,
                            .pushes = pushes,
                            .push_count = find_pushes(run, p, pushes),
                            .ghosts = halo->ghosts[p],
                            .run = state->runs,
                            .first_round = state->rounds + 1,
                            .wait_seconds = state->wait_seconds};
  MULTI_TRY(context, p, multi_ops_of(context, p)->part->cg_prepare(&local.run, &with));
  return TS_OK;
}

static ts_status start_all(ts_context *context, const owners *own) {
  for (int k = 0; k < own->count; k++) {
    const int p = own->parts[k];
    MULTI_TRY(context, p, multi_ops_of(context, p)->part->cg_start(own->peers[k]));
  }
  return TS_OK;
}

/* Waits for all parts, even after a failure. */
static void finish_all(const multi_state *state) {
  for (int p = 0; p < state->count; p++) {
    ts_context *part = state->parts[p];
    if (tsi_enter(part) == TS_OK) tsi_leave(part, part->ops->finish(part));
  }
}

/* After a failure: waits until no kernel is running, and discards the state of this run. */
static void forget_run(const multi_state *state) {
  finish_all(state);
  for (int p = 0; p < state->count; p++) state->parts[p]->ops->part->cg_silent(state->peers[p]);
}

/* Restarts the round numbers when they would not suffice for another run. */
static ts_status clear_peers(ts_context *context, const owners *own) {
  for (int k = 0; k < own->count; k++) {
    const int p = own->parts[k];
    MULTI_TRY(context, p, multi_ops_of(context, p)->part->peers_clear(multi_part(context, p), own->peers[k]));
  }
  multi_state_of(context)->rounds = 0;
  return TS_OK;
}

static ts_status iterate_together(const tsi_cg_iterations *run, const owners *own) {
  ts_context *context = run->e->context;
  multi_state *state = multi_state_of(context);
  state->wait_seconds = context->tuning.peer_seconds;
  state->runs++;
  if (UINT32_MAX - state->rounds < tsi_part_rounds(run)) TSI_TRY(clear_peers(context, own));
  TSI_TRY(multi_join(context));
  for (int k = 0; k < own->count; k++) TSI_TRY(multi_cg_prepare(run, own, k));
  state->rounds += tsi_part_rounds(run);
  const ts_status status = start_all(context, own);
  if (status < 0) {
    forget_run(state); /* parts that were started wait in vain */
    return status;
  }
  for (int k = 0; k < own->count; k++) state->run_parts[k] = own->parts[k];
  return TS_OK;
}

/* ---- Parts that did not answer ---- */

/* All parts have stopped or will stop soon: their time limits have passed too, or they were notified. */
static ts_status name_silent(ts_context *context, int silent[MULTI_MOST_PARTS]) {
  const multi_state *state = multi_state_of(context);
  finish_all(state);
  for (int p = 0; p < state->count; p++)
    if (!silent[p]) silent[p] = multi_ops_of(context, p)->part->cg_silent(state->peers[p]);
  int p = 0;
  while (p < state->count - 1 && silent[p] <= 0) p++;
  return tsi_fail(context, TS_ERROR_DEVICE, "part %d (%s): no answer from part %d within %g s", p,
                  state->parts[p]->backend_name, state->run_parts[silent[p] > 0 ? silent[p] - 1 : 0],
                  state->wait_seconds);
}

ts_status multi_check_run(ts_context *context) {
  const multi_state *state = multi_state_of(context);
  int silent[MULTI_MOST_PARTS], any = 0;
  for (int p = 0; state->runs && p < state->count; p++) {
    silent[p] = multi_ops_of(context, p)->part->cg_silent(state->peers[p]);
    any |= silent[p];
  }
  return any ? name_silent(context, silent) : TS_OK;
}

static ts_status multi_cg_iterate(const tsi_cg_iterations *run) {
  owners own = {0};
  local_run local;
  find_owners(run->matrix, &own);
  const int p = own.parts[0];
  multi_read_from(run->slots, p);
  if (own.count > 1) return iterate_together(run, &own);
  localise(run, p, &local);
  MULTI_TRY(run->e->context, p, multi_ops_of(run->e->context, p)->cg->iterate(&local.run));
  return TS_OK;
}

/* ---- One reduction ---- */

static ts_status update(const tsi_cg_update *u) {
  ts_context *context = u->e->context;
  for (int p = 0; p < multi_count(context); p++) {
    if (!multi_has(u->e, p)) continue;
    tsi_cg_update local = *u;
    local.e = LOCAL(u->e), local.r_new = LOCAL(u->r_new), local.d_new = LOCAL(u->d_new);
    local.r = LOCAL(u->r), local.d = LOCAL(u->d), local.q = LOCAL(u->q), local.m = LOCAL(u->m);
    local.slots = multi_local_scalars(u->slots, p, &(multi_slots){{{0}}});
    MULTI_TRY(context, p, multi_ops_of(context, p)->cg->update(&local));
  }
  return TS_OK;
}

const tsi_cg_ops multi_cg_ops = {.update = update, .fits = fits, .iterate = multi_cg_iterate};
const tsi_cg_ops multi_cg_ops_of_ranks = {.update = update};
