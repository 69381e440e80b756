/* A simulation's steps and what is remembered of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulation.h"

/* ---- History ---- */

static void push(float *values, int count, double value) {
  if (count == SIMULATION_HISTORY) {
    memmove(values, values + 1, (SIMULATION_HISTORY - 1) * sizeof *values);
    count--;
  }
  values[count] = isfinite(value) ? (float)value : 0;
}

static void remember(simulation *s) {
  simulation_history *h = &s->history;
  const ts_fluid_result *r = &s->result;
  for (int k = 0; k < TS_FLUID_STAGES; k++) push(h->milliseconds[k], h->count, 1e3 * r->seconds[k]);
  push(h->draw, h->count, 0);
  push(h->divergence_before, h->count, r->divergence_before);
  push(h->divergence_after, h->count, r->divergence_after);
  if (h->count < SIMULATION_HISTORY) h->count++;
}

void simulation_note_draw(simulation *s, double seconds) {
  if (s->history.count) s->history.draw[s->history.count - 1] += (float)(1e3 * seconds);
}

void simulation_forget(simulation *s) {
  s->history = (simulation_history){0};
  s->result = (ts_fluid_result){0};
  s->steps = s->broken = 0;
}

int simulation_reset(simulation *s, char message[SIMULATION_MESSAGE]) {
  const size_t cells = (size_t)s->setup.width * (size_t)s->setup.height;
  ts_status status = ts_fluid_reset(s->fluid);
  if (status != TS_OK) return simulation_fail_status(s->context, status, message);
  simulation_forget(s);
  if (s->options.walls) return simulation_load_walls(s, s->options.walls, message);
  memset(s->solid, 0, cells);
  if (s->setup.solid) memcpy(s->solid, s->setup.solid, cells);
  s->walls_changed = 1;
  return simulation_apply_walls(s, message);
}

/* ---- Steps ---- */

int simulation_splat(simulation *s, const scene_splat *splat, char message[SIMULATION_MESSAGE]) {
  const ts_status status = ts_fluid_splat(s->fluid, splat->x, splat->y, splat->radius, splat->velocity,
                                          splat->dye, splat->temperature);
  return status == TS_OK ? 0 : simulation_fail_status(s->context, status, message);
}

int simulation_step(simulation *s, int measure, int scripted, char message[SIMULATION_MESSAGE]) {
  enum { most = 8 };
  scene_splat splats[most];
  if (simulation_apply_walls(s, message)) return 1;
  const scene *at = s->options.scene;
  const int by_itself = at->splats && (scripted || !at->scripted);
  const int count = by_itself ? at->splats(&s->setup, s->steps, splats, most) : 0;
  for (int k = 0; k < count; k++)
    if (simulation_splat(s, &splats[k], message)) return 1;
  const ts_status status = ts_fluid_step(s->fluid, measure, &s->result);
  if (status < 0) return simulation_fail_status(s->context, status, message);
  s->steps++;
  remember(s);
  if (status == TS_OK) return 0;
  s->broken = 1;
  return simulation_fail(message,
                         "step %d: the flow is not finite any more, expected a shorter time step than %g s or "
                         "weaker forces",
                         s->steps, s->parameters.time_step);
}
