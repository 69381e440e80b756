/* Undo and redo: positions on the device, each with its start. */
#include <stdlib.h>
#include <string.h>

#include "smoother.h"

static const size_t past_bytes = (size_t)256 << 20;

/* ---- Starts ---- */

smoother_start *smoother_start_create(smoother *s, mesh *m, char message[MESH_MESSAGE]) {
  static const double centre[3];
  smoother_start *start = calloc(1, sizeof *start);
  float *unit = malloc(3 * (size_t)m->vertex_count * sizeof *unit);
  if (!start || !unit) {
    free(start);
    free(unit);
    mesh_destroy(m);
    mesh_fail(message, "out of memory for %d vertices", (int)m->vertex_count);
    return NULL;
  }
  const double d = s->measures.diagonal;
  *start = (smoother_start){.references = 1, .number = ++s->starts, .m = *m, .unit = unit};
  *m = (mesh){0};
  mesh_to_unit(&start->m, &s->measures, unit);
  mesh_area_volume(&start->m, unit, 3, centre, &start->area, &start->volume);
  start->area *= d * d;
  start->volume *= d * d * d;
  return start;
}

void smoother_start_release(smoother_start *start) {
  if (!start || --start->references > 0) return;
  mesh_destroy(&start->m);
  free(start->unit);
  free(start);
}

void smoother_set_start(smoother *s, smoother_start *start) {
  if (s->start != start) smoother_dsi_forget(s);
  s->start = start;
  s->measures.area = start->area;
  s->measures.volume = start->volume;
}

/* ---- The history ---- */

static void drop(past_state *state) {
  ts_vector_destroy(&state->x);
  smoother_start_release(state->start);
  *state = (past_state){0};
}

static void drop_future(smoother *s) {
  while (s->future > 0) drop(&s->states[s->past + --s->future]);
}

static void drop_oldest(smoother *s) {
  drop(&s->states[0]);
  s->past--;
  memmove(s->states, s->states + 1, (size_t)(s->past + s->future) * sizeof *s->states);
}

void smoother_past_forget(smoother *s) {
  drop_future(s);
  while (s->past > 0) drop(&s->states[--s->past]);
  free(s->states);
  s->states = NULL;
  s->room = 0;
}

static int create_before(smoother *s) {
  const ts_vector_desc three = {.components = 3};
  return ts_vector_create(ts_mesh_flow_get_space(s->device.flow), &three, &s->device.before) != TS_OK;
}

int smoother_past_prepare(smoother *s, char message[MESH_MESSAGE]) {
  if (s->options.forgets) return 0;
  const size_t bytes = 4 * sizeof(float) * (size_t)s->start->m.vertex_count; /* a texel has four components */
  const int most = past_bytes / bytes > 1 ? (int)(past_bytes / bytes) : 1;
  if (s->past + 1 > s->room) {
    const int room = s->room ? 2 * s->room : 64;
    past_state *states = realloc(s->states, (size_t)room * sizeof *states);
    if (!states) return mesh_fail(message, "out of memory for the undo history");
    s->states = states;
    s->room = room;
  }
  while (s->past > 1 && s->past >= most) drop_oldest(s);
  /* If device memory runs out, drop the oldest state instead of failing. */
  while (!s->device.before && create_before(s)) {
    if (s->past + s->future == 0)
      return smoother_fail_status(s->device.context, TS_ERROR_OUT_OF_DEVICE_MEMORY, "the undo history",
                                  message);
    if (s->future > 0)
      drop_future(s);
    else
      drop_oldest(s);
  }
  const ts_status status = ts_vector_copy(s->device.before, s->device.x);
  return status == TS_OK ? 0 : smoother_fail_status(s->device.context, status, "the undo history", message);
}

void smoother_past_commit(smoother *s, smoother_start *start, int steps) {
  if (s->options.forgets) return;
  drop_future(s);
  start->references++;
  s->states[s->past++] = (past_state){.x = s->device.before, .start = start, .steps = steps};
  s->device.before = NULL;
}

/* Swaps the present state with another one. x remains the same vector, because others draw from it. */
static int exchange(smoother *s, past_state *state, char message[MESH_MESSAGE]) {
  ts_vector *const then = state->x;
  if (!s->device.before && create_before(s))
    return smoother_fail_status(s->device.context, TS_ERROR_OUT_OF_DEVICE_MEMORY, "the undo history", message);
  ts_status status = ts_vector_copy(s->device.before, s->device.x);
  if (status == TS_OK) status = ts_vector_copy(s->device.x, then);
  if (status != TS_OK) return smoother_fail_status(s->device.context, status, "the undo history", message);
  const past_state now = {s->device.before, s->start, s->steps};
  s->device.before = then;
  smoother_set_start(s, state->start);
  s->steps = state->steps;
  *state = now;
  return 0;
}

int smoother_undo(smoother *s, char message[MESH_MESSAGE]) {
  if (!s->past) return mesh_fail(message, "nothing to undo");
  if (exchange(s, &s->states[s->past - 1], message)) return 1;
  s->past--;
  s->future++;
  return 0;
}

int smoother_redo(smoother *s, char message[MESH_MESSAGE]) {
  if (!s->future) return mesh_fail(message, "nothing to redo");
  if (exchange(s, &s->states[s->past], message)) return 1;
  s->past++;
  s->future--;
  return 0;
}

/* ---- Changing the device ---- */

int smoother_past_move(smoother *s, const smoother_device *to, ts_vector ***moved, char message[MESH_MESSAGE]) {
  const ts_vector_desc three = {.components = 3};
  const int count = s->past + s->future;
  *moved = calloc((size_t)count + 1, sizeof(ts_vector *));
  if (!*moved) return mesh_fail(message, "out of memory for the undo history");
  for (int k = 0; k < count; k++) {
    ts_status status = smoother_read(s, s->states[k].x);
    if (status != TS_OK) smoother_fail_status(s->device.context, status, "the undo history", message);
    if (status == TS_OK) {
      status = ts_vector_create(ts_mesh_flow_get_space(to->flow), &three, &(*moved)[k]);
      if (status == TS_OK) status = smoother_write(s, (*moved)[k]);
      if (status != TS_OK) smoother_fail_status(to->context, status, "the undo history", message);
    }
    if (status == TS_OK) continue;
    while (k >= 0) ts_vector_destroy(&(*moved)[k--]);
    free(*moved);
    *moved = NULL;
    return 1;
  }
  return 0;
}

void smoother_past_move_done(smoother *s, ts_vector **moved) {
  for (int k = 0; k < s->past + s->future; k++) {
    ts_vector_destroy(&s->states[k].x);
    s->states[k].x = moved[k];
  }
  free(moved);
}
