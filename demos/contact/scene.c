/* The scenes. Each has a floor with its top at z = 0. */
#include "scene.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

enum { density = 500 }; /* kg/m^3, wood */

/* ---- Materials ---- */

typedef struct paint {
  float r, g, b;
} paint;

static const paint stones[] = {{0.80F, 0.66F, 0.47F}, {0.72F, 0.57F, 0.40F}, {0.86F, 0.74F, 0.56F}},
                   toys[] = {{0.84F, 0.34F, 0.28F}, {0.93F, 0.68F, 0.27F}, {0.30F, 0.55F, 0.70F},
                             {0.40F, 0.64F, 0.42F}, {0.62F, 0.45F, 0.66F}, {0.88F, 0.83F, 0.74F}},
                   bricks[] = {{0.71F, 0.36F, 0.27F}, {0.78F, 0.43F, 0.32F}, {0.63F, 0.31F, 0.24F}},
                   iron = {0.25F, 0.27F, 0.30F}, paper = {0.93F, 0.92F, 0.88F}, back = {0.33F, 0.45F, 0.66F},
                   earth = {0.55F, 0.56F, 0.57F};

#define PAINT(b, from, index) paint_body(b, &(from)[(unsigned)(index) % (sizeof(from) / sizeof *(from))])

static body *paint_body(body *b, const paint *p) {
  if (b) memcpy(b->colour, p, sizeof b->colour);
  return b;
}

static body *box(world *w, double x, double y, double z, double a, double b, double c, double weight) {
  return world_add(w, BODY_BOX, (double[3]){a, b, c}, 1, (double[3]){x, y, z}, weight);
}

static int floor_of(world *w, double half) {
  return !paint_body(box(w, 0, 0, -0.5, half, half, 0.5, 0), &earth);
}

/* Random number from 0 to 1, equal on every machine. */
static double random_of(unsigned *state) {
  *state = *state * 1664525U + 1013904223U;
  return (*state >> 8) / 16777216.0;
}

static void turn_at_random(body *b, unsigned *state) {
  const double z = 2 * random_of(state) - 1, angle = 2 * pi * random_of(state), r = sqrt(1 - z * z);
  body_turn(b, (double[3]){r * cos(angle), r * sin(angle), z}, pi * random_of(state));
}

/* ---- Heaps ---- */

static int is_ball(int index) {
  return index % 2;
}

/* Adds bodies in layers of `across` x `across`, which fall one after the other. */
static int drop(world *w, int count, int across, double spacing, int balls) {
  unsigned state = 1;
  for (int k = 0; k < count; k++) {
    const int layer = k / (across * across), row = k / across % across, column = k % across;
    const double middle = 0.5 * (across - 1), jitter = 0.1 * spacing;
    const double place[3] = {(column - middle) * spacing + jitter * (random_of(&state) - 0.5),
                             (row - middle) * spacing + jitter * (random_of(&state) - 0.5),
                             0.45 + layer * spacing};
    const double size = 0.17 + 0.08 * random_of(&state),
                 half[3] = {size, size * (0.7 + 0.3 * random_of(&state)),
                            size * (0.7 + 0.3 * random_of(&state))};
    const int ball = balls && is_ball(k);
    body *b = world_add(w, ball ? BODY_SPHERE : BODY_BOX, ball ? (double[3]){size, size, size} : half, 1, place,
                        density);
    if (!PAINT(b, toys, state >> 20)) return 1;
    turn_at_random(b, &state);
  }
  return 0;
}

static int fence(world *w, double inside, double height) {
  static const double thick = 0.15;
  const double at = inside + thick;
  for (int k = 0; k < 4; k++) {
    const double side = k & 1 ? 1 : -1;
    const int along_x = k < 2;
    if (!paint_body(box(w, along_x ? 0 : side * at, along_x ? side * at : 0, 0.5 * height,
                        along_x ? inside + 2 * thick : thick, along_x ? thick : inside, 0.5 * height, 0),
                    &earth))
      return 1;
  }
  return 0;
}

static int across_of(int bodies) {
  return (int)ceil(cbrt(1.5 * bodies) - 1e-9);
}

static int build_pile(world *w, int bodies) {
  const int across = across_of(bodies);
  const double spacing = 0.56, inside = 0.5 * spacing * (across + 2);
  return floor_of(w, 4 * inside) || fence(w, inside, 0.4 * inside) || drop(w, bodies, across, spacing, 1);
}

static int build_boxes(world *w, int bodies) {
  const int across = across_of(bodies);
  return floor_of(w, 4 + 2.0 * across) || drop(w, bodies, across, 0.5, 0);
}

/* ---- Masonry ---- */

static int build_stack(world *w, int bodies) {
  if (floor_of(w, 6)) return 1;
  for (int k = 0; k < bodies; k++)
    if (!PAINT(box(w, 0, 0, 0.25 + 0.5 * k, 0.25, 0.25, 0.25, density), toys, k)) return 1;
  return 0;
}

static int build_wall(world *w, int bodies) {
  static const double length = 0.25, half_width = 0.13, height = 0.125;
  const int across = (int)fmax(ceil(sqrt(0.9 * bodies)), 1);
  if (floor_of(w, 16)) return 1;
  for (int k = 0, row = 0, column = 0; k < bodies; k++) {
    const int odd = row % 2;
    const double x = 2 * length * (column - 0.5 * (across - 1) + (odd ? 0.5 : 0));
    if (!PAINT(box(w, x, 0, height * (2 * row + 1), length - 0.002, half_width, height, density), bricks,
               7 * k + row))
      return 1;
    if (++column == across - odd) {
      column = 0;
      row++;
    }
  }
  body *ball = world_add(w, BODY_SPHERE, (double[3]){0.5, 0.5, 0.5}, 1, (double[3]){-0.4, -7, 1.2}, 3000);
  if (!paint_body(ball, &iron)) return 1;
  ball->velocity[1] = 12;
  ball->velocity[2] = 2;
  return 0;
}

/* Half a circle of stones. Planes through the centre separate them. */
static int build_arch(world *w, int bodies) {
  static const double middle = 2.1, thick = 0.28;
  const double half_angle = 0.5 * pi / bodies, taper = (middle - thick) / (middle + thick);
  const double half[3] = {(middle + thick) * tan(half_angle), 0.45, thick};
  const double radius = middle + thick * (1 - taper) / (3 * (1 + taper)); /* radius of the centres of mass */
  if (floor_of(w, 10)) return 1;
  for (int k = 0; k < bodies; k++) {
    const double angle = (2 * k + 1) * half_angle;
    body *b =
        world_add(w, BODY_WEDGE, half, taper, (double[3]){-radius * cos(angle), 0, radius * sin(angle)}, 2000);
    if (!PAINT(b, stones, 2 * k)) return 1;
    body_turn(b, (double[3]){0, 1, 0}, angle - 0.5 * pi);
  }
  return 0;
}

/* ---- Cards ---- */

/* half sizes; rad */
static const double card_thick = 0.008, card_wide = 0.315, card_high = 0.44, card_lean = 0.35;

/* Two cards that lean on each other, with their feet at height `foot`. */
static int lean_two(world *w, double x, double foot) {
  const double wide = card_thick * cos(card_lean) + card_high * sin(card_lean),
               high = card_thick * sin(card_lean) + card_high * cos(card_lean);
  for (int side = -1; side <= 1; side += 2) {
    body *b = box(w, x + side * wide, 0, foot + high, card_thick, card_wide, card_high, density);
    if (!paint_body(b, side < 0 ? &paper : &back)) return 1;
    body_turn(b, (double[3]){0, 1, 0}, -side * card_lean);
  }
  return 0;
}

/* `bodies` is the approximate number of cards. A house of L levels has L (3 L + 1) / 2 - L. */
static int build_cards(world *w, int bodies) {
  const double wide = card_thick * cos(card_lean) + card_high * sin(card_lean),
               high = 2 * (card_thick * sin(card_lean) + card_high * cos(card_lean)), apart = 4 * wide + 0.02;
  int levels = 1;
  while ((levels + 1) * (3 * (levels + 1) + 1) / 2 - (levels + 1) <= bodies) levels++;
  if (floor_of(w, 8)) return 1;
  for (int level = 0; level < levels; level++) {
    const int pairs = levels - level;
    const double foot = level * (high + 2 * card_thick);
    for (int k = 0; k < pairs; k++) {
      const double x = apart * (k - 0.5 * (pairs - 1));
      if (lean_two(w, x, foot)) return 1;
      if (k + 1 < pairs && !paint_body(box(w, x + 0.5 * apart, 0, foot + high + card_thick, 0.5 * apart - 0.002,
                                           card_wide, card_thick, density),
                                       &paper))
        return 1;
    }
  }
  return 0;
}

/* ---- One box ---- */

static int build_slope(world *w, int bodies) {
  static const double lean = 25 * 3.14159265358979323846 / 180, axis[3] = {0, 1, 0};
  (void)bodies;
  if (floor_of(w, 8)) return 1;
  body *plate = paint_body(box(w, 0, 0, 1.6, 3, 1, 0.1, 0), &earth);
  if (!plate) return 1;
  body_turn(plate, axis, lean);
  const double above = 0.1 + 0.2, along = -1.5;
  body *b = paint_body(box(w, along * cos(lean) + above * sin(lean), 0,
                           1.6 - along * sin(lean) + above * cos(lean), 0.3, 0.3, 0.2, density),
                       &toys[0]);
  if (!b) return 1;
  body_turn(b, axis, lean);
  return 0;
}

static int build_slide(world *w, int bodies) {
  (void)bodies;
  if (floor_of(w, 8)) return 1;
  body *b = paint_body(box(w, -1, 0, 0.15, 0.3, 0.3, 0.15, density), &toys[0]);
  if (!b) return 1;
  b->velocity[0] = 3;
  return 0;
}

/* clang-format off */
static const scene scenes[] = {
    {"pile", "boxes and balls fall into a pen", 2000, 2000, 0.5, {14, -20, 13}, {0, 0, 1.5}, build_pile},
    {"boxes", "boxes fall onto a heap", 300, 2000, 0.6, {8, -11, 6}, {0, 0, 1}, build_boxes},
    {"wall", "a heavy ball breaks a wall of bricks", 170, 2000, 0.6, {6, -8, 4}, {0, 0, 1.3}, build_wall},
    {"arch", "an arch held by friction alone", 15, 10000, 0.7, {3.5, -6.5, 2.6}, {0, 0, 1.1}, build_arch},
    {"cards", "a house of cards", 15, 2000, 0.7, {2.4, -5.6, 2.2}, {0, 0, 1.25}, build_cards},
    {"stack", "a stack of boxes", 10, 10000, 0.6, {5, -8, 4}, {0, 0, 2.4}, build_stack},
    {"slope", "a box on a slope of 25 degrees", 1, 500, 0.5, {2, -6, 3.5}, {0, 0, 1.2}, build_slope},
    {"slide", "a box slides and stops", 1, 500, 0.3, {1, -5, 2.5}, {0, 0, 0.1}, build_slide},
};
/* clang-format on */
enum { scenes_count = sizeof scenes / sizeof *scenes };

int scene_count(void) {
  return scenes_count;
}

const scene *scene_at(int index) {
  return index >= 0 && index < scenes_count ? &scenes[index] : NULL;
}

const scene *scene_find(const char *name) {
  for (int k = 0; k < scenes_count; k++)
    if (!strcmp(scenes[k].name, name)) return &scenes[k];
  return NULL;
}
