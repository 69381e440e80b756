#include "window_state.h"

#include <math.h>
#include <string.h>

void pointer_set_up(window_pointer *p) {
  *p = (window_pointer){.brush = 0.03, .push = 1, .dye = 0.5, .colour = {0.2f, 0.5f, 0.95f}};
}

static unsigned what_it_does(const window_pointer *p) {
  unsigned does = 0;
  for (int k = 0; k < POINTER_BUTTONS; k++)
    if (p->buttons & 1U << k) does |= p->does[k];
  return does;
}

/* If the path is full, its last point is replaced. */
static void add_point(window_pointer *p, double x, double y) {
  if (p->path_count == POINTER_PATH) p->path_count--;
  p->path[p->path_count].x = x;
  p->path[p->path_count].y = y;
  p->path[p->path_count].does = what_it_does(p);
  p->path_count++;
}

void pointer_press(window_pointer *p, int button, unsigned does) {
  if (button < 0 || button >= POINTER_BUTTONS) return;
  p->buttons |= 1U << button;
  p->does[button] = does;
  add_point(p, p->x, p->y);
}

void pointer_release(window_pointer *p, int button) {
  if (button < 0 || button >= POINTER_BUTTONS || !(p->buttons & 1U << button)) return;
  p->buttons &= ~(1U << button);
  add_point(p, p->x, p->y);
}

void pointer_move(window_pointer *p, double x, double y) {
  p->x = x;
  p->y = y;
  if (p->buttons) add_point(p, x, y);
}

/* In metres. */
static double brush_radius(const window_pointer *p, const simulation *s) {
  const ts_fluid_info *info = &s->info;
  return p->brush * info->height * info->cell_size;
}

/* Colour of the dye at a time in seconds. */
static void colour_at(const window_pointer *p, double time, float rgb[3]) {
  if (p->colour_fixed) {
    memcpy(rgb, p->colour, sizeof p->colour);
    return;
  }
  /* One cycle through the hues takes 12 s. */
  for (int k = 0; k < 3; k++) rgb[k] = (float)(0.5 + 0.5 * cos(6.283185307179586 * (time / 12 - k / 3.0)));
}

/* Draws one segment of the path as wall: discs half a radius apart, so that they join. Returns 1 if a cell
 * changed. */
static int stroke(simulation *s, double x0, double y0, double x1, double y1, double radius, int solid) {
  const double h = s->info.cell_size, length = hypot(x1 - x0, y1 - y0);
  const int pieces = (int)fmin(ceil(length / fmax(0.5 * radius, 0.5 * h)), 4096);
  int changed = 0;
  for (int k = 0; k <= pieces; k++) {
    const double t = pieces ? (double)k / pieces : 0;
    changed |= simulation_brush(s, x0 + t * (x1 - x0), y0 + t * (y1 - y0), radius, solid);
  }
  return changed;
}

typedef struct pushing {
  double radius, seconds; /* simulated time of each segment */
  float dye[3];
  float heat;
  double strength;
} pushing;

/* The effect on a point must not depend on the number of frames and segments. So segments shorter than the
 * radius have a proportionate effect. A pointer at rest still adds dye. */
static int push(simulation *s, const pushing *how, double x0, double y0, double x1, double y1,
                char message[SIMULATION_MESSAGE]) {
  const double length = hypot(x1 - x0, y1 - y0), share = fmin(length / how->radius, 1);
  const int pieces = (int)fmin(fmax(ceil(length / how->radius), 1), 32);
  const double speed = share * how->strength / how->seconds;
  const float amount = (float)fmax(share, 0.1);
  for (int k = 0; k < pieces; k++) {
    const double t = (k + 0.5) / pieces;
    const scene_splat splat = {.x = x0 + t * (x1 - x0),
                               .y = y0 + t * (y1 - y0),
                               .radius = how->radius,
                               .velocity = {(float)(speed * (x1 - x0)), (float)(speed * (y1 - y0))},
                               .dye = {amount * how->dye[0], amount * how->dye[1], amount * how->dye[2]},
                               .temperature = amount * how->heat};
    if (simulation_splat(s, &splat, message)) return 1;
  }
  return 0;
}

int pointer_apply(window_pointer *p, simulation *s, double seconds, double time,
                  char message[SIMULATION_MESSAGE]) {
  const double radius = brush_radius(p, s);
  pushing how = {.radius = radius, .strength = p->push, .heat = (float)p->heat};
  int moves = 0, failed = 0, walls = 0;
  /* A button that is held still acts in every frame. */
  if (p->path_count < 2 && p->buttons) add_point(p, p->x, p->y);
  for (int k = 0; k + 1 < p->path_count; k++)
    moves += p->path[k].x != p->path[k + 1].x || p->path[k].y != p->path[k + 1].y;
  how.seconds = seconds / (moves ? moves : 1);
  colour_at(p, time, how.dye);
  for (int k = 0; k < 3; k++) how.dye[k] *= (float)p->dye;
  for (int k = 0; k + 1 < p->path_count && !failed; k++) {
    const unsigned does = p->path[k].does;
    const double x0 = p->path[k].x, y0 = p->path[k].y, x1 = p->path[k + 1].x, y1 = p->path[k + 1].y;
    if (does & POINTER_PUSH) failed = push(s, &how, x0, y0, x1, y1, message);
    if (does & POINTER_WALL) walls |= stroke(s, x0, y0, x1, y1, radius, 1);
    if (does & POINTER_ERASE) walls |= stroke(s, x0, y0, x1, y1, radius, 0);
  }
  if (walls && !failed) failed = simulation_apply_walls(s, message);
  p->path_count = 0;
  if (p->buttons) add_point(p, p->x, p->y);
  return failed;
}
