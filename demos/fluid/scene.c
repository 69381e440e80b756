/* The scenes. Each domain is one metre high. */
#include "scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *fluid_field_name(fluid_field field) {
  static const char *const names[] = {
#define FLUID_FIELD_NAME(name, text) text,
      FLUID_FIELD_LIST(FLUID_FIELD_NAME)
#undef FLUID_FIELD_NAME
  };
  return (unsigned)field < FLUID_FIELDS ? names[field] : NULL;
}

static double width_of(const scene_setup *s) {
  return s->width * s->cell_size;
}

static ts_fluid_boundary wall(float u, float v) {
  return (ts_fluid_boundary){TS_FLUID_BOUNDARY_WALL, {u, v}};
}

static ts_fluid_boundary side(ts_fluid_boundary_kind kind) {
  return (ts_fluid_boundary){kind, {0, 0}};
}

static int make_solid(scene_setup *s) {
  s->solid = calloc((size_t)s->width * (size_t)s->height, 1);
  return !s->solid;
}

static void particles(scene_setup *s, int32_t columns, int32_t rows, double lifetime) {
  s->particle_columns = columns;
  s->particle_rows = rows;
  s->particle_lifetime = lifetime;
}

/* A source of dye at the left boundary, between two heights. */
static void inlet_dye(scene_setup *s, double low, double high, float r, float g, float b) {
  s->sources[s->source_count++] = (ts_fluid_source){.x = (float)s->cell_size,
                                                    .y = (float)(0.5 * (low + high)),
                                                    .half_width = (float)(2 * s->cell_size),
                                                    .half_height = (float)(0.5 * (high - low)),
                                                    .dye = {r, g, b},
                                                    .sets_dye = 1};
}

/* ---- splat: for interactive use ---- */

static int splat_domain(scene_setup *s) {
  s->parameters.dye_decay = 0.15;
  s->parameters.vorticity_confinement = 0.05;
  s->field = FLUID_FIELD_DYE;
  s->steps_per_frame = 2;
  return 0;
}

/* A hue of the colour wheel; `turn` is 0 to 1. */
static void hue(double turn, float colour[3]) {
  for (int c = 0; c < 3; c++) colour[c] = (float)(0.5 + 0.5 * cos(2 * acos(-1.0) * (turn - (double)c / 3)));
}

/* Two brushes that draw loops of different size and colour, in opposite directions. */
static int splat_script(const scene_setup *s, int step, scene_splat *splats, int most) {
  const double pi = acos(-1.0), wide = width_of(s), dt = s->parameters.time_step, t = step * dt;
  int count = 0;
  if (t > 8) return 0;
  for (int brush = 0; brush < 2 && count < most; brush++) {
    const double turn = brush ? -1 : 1, rate = brush ? 0.37 : 0.29,
                 angle = 2 * pi * (turn * rate * t + 0.5 * brush);
    const double across = 0.30 * wide, up = 0.27;
    scene_splat *splat = &splats[count++];
    *splat =
        (scene_splat){.x = 0.5 * wide + across * cos(angle), .y = 0.5 + up * sin(2 * angle), .radius = 0.03};
    /* Each step the brush drags the fluid along a little more. */
    splat->velocity[0] = (float)(-0.2 * across * sin(angle) * 2 * pi * turn * rate);
    splat->velocity[1] = (float)(0.2 * up * 2 * cos(2 * angle) * 2 * pi * turn * rate);
    hue(0.11 * t + 0.45 * brush, splat->dye);
    for (int c = 0; c < 3; c++) splat->dye[c] *= 0.14F;
  }
  return count;
}

/* ---- backward-step: figure 5 of Bolz et al. 2003 ---- */

static int step_domain(scene_setup *s) {
  const double step_height = 1.0 / 3, step_length = fmin(0.5, 0.16 * width_of(s));
  if (make_solid(s)) return 1;
  for (int32_t j = 0; j < s->height; j++)
    for (int32_t i = 0; i < s->width; i++)
      s->solid[(size_t)j * (size_t)s->width + (size_t)i] =
          (i + 0.5) * s->cell_size < step_length && (j + 0.5) * s->cell_size < step_height;
  s->left = wall(1, 0);
  s->right = side(TS_FLUID_BOUNDARY_OUTLET);
  s->speed = 1;
  s->length = step_height;
  /* The flow moves two grid spaces per step, as in the paper. */
  s->parameters.time_step = 2 * s->cell_size / s->speed;
  s->parameters.viscosity = s->speed * s->length / 5000;
  inlet_dye(s, 0.34, 0.40, 1.0F, 0.45F, 0.05F);
  inlet_dye(s, 0.46, 0.52, 0.10F, 0.75F, 0.95F);
  inlet_dye(s, 0.62, 0.68, 0.55F, 0.30F, 0.95F);
  s->field = FLUID_FIELD_DYE;
  particles(s, 120, 40, 6);
  s->steps_per_frame = 3;
  return 0;
}

/* The shear layer behind the edge rolls up only after a disturbance. */
static int step_push(const scene_setup *s, int step, scene_splat *splats, int most) {
  if (step || !most) return 0;
  splats[0] = (scene_splat){.x = 0.2 * width_of(s), .y = 0.5, .radius = 0.06, .velocity = {0, 0.3F}};
  return 1;
}

/* ---- cylinder: a Karman vortex street ---- */

static const double diameter = 0.1;

static double cylinder_x(const scene_setup *s) {
  return fmin(0.5, 0.25 * width_of(s));
}

static int cylinder_domain(scene_setup *s) {
  if (make_solid(s)) return 1;
  for (int32_t j = 0; j < s->height; j++)
    for (int32_t i = 0; i < s->width; i++)
      s->solid[(size_t)j * (size_t)s->width + (size_t)i] =
          hypot((i + 0.5) * s->cell_size - cylinder_x(s), (j + 0.5) * s->cell_size - 0.5) < 0.5 * diameter;
  s->left = wall(1, 0);
  s->right = side(TS_FLUID_BOUNDARY_OUTLET);
  s->bottom = s->top = side(TS_FLUID_BOUNDARY_SLIP);
  s->speed = 1;
  s->length = diameter;
  s->parameters.time_step = 1.0 * s->cell_size / s->speed;
  s->parameters.viscosity = s->speed * s->length / 150;
  s->steps_per_frame = 4;
  static const float stripes[][3] = {{1.0F, 0.35F, 0.10F}, {0.15F, 0.65F, 1.0F}};
  for (int k = 0; k < 8; k++) {
    const double middle = 0.5 + 0.05 * (k - 3.5);
    const float *colour = stripes[k % 2];
    inlet_dye(s, middle - 0.0125, middle + 0.0125, colour[0], colour[1], colour[2]);
  }
  s->field = FLUID_FIELD_DYE;
  return 0;
}

/* Breaks the symmetry, which the flow would keep for a long time. */
static int cylinder_push(const scene_setup *s, int step, scene_splat *splats, int most) {
  if (step >= s->height / 4 || !most) return 0;
  splats[0] = (scene_splat){.x = cylinder_x(s) + diameter, .y = 0.5, .radius = 0.6 * diameter};
  splats[0].velocity[1] = (float)(8 * s->parameters.time_step);
  return 1;
}

/* ---- smoke ---- */

static int smoke_domain(scene_setup *s) {
  s->top = side(TS_FLUID_BOUNDARY_OUTLET);
  s->parameters.time_step = 1.0 / 90;
  s->parameters.buoyancy = 3;
  s->parameters.smoke_weight = 0.1;
  s->parameters.vorticity_confinement = 0.25;
  s->parameters.temperature_decay = 0.4;
  s->parameters.dye_decay = 0.1;
  s->sources[s->source_count++] = (ts_fluid_source){.x = (float)(0.5 * width_of(s)),
                                                    .y = 0.07F,
                                                    .half_width = 0.05F,
                                                    .dye = {0.95F, 0.93F, 0.90F},
                                                    .temperature = 1,
                                                    .sets_dye = 1,
                                                    .sets_temperature = 1};
  s->field = FLUID_FIELD_DYE;
  s->steps_per_frame = 2;
  return 0;
}

static int smoke_push(const scene_setup *s, int step, scene_splat *splats, int most) {
  if (step >= 30 || !most) return 0;
  splats[0] = (scene_splat){.x = 0.5 * width_of(s), .y = 0.18, .radius = 0.05, .velocity = {0.01F, 0}};
  return 1;
}

/* ---- cavity: Ghia, Ghia and Shin 1982 ---- */

static int cavity_domain(scene_setup *s) {
  s->top = wall(1, 0);
  s->speed = 1;
  s->length = 1;
  s->parameters.time_step = 2 * s->cell_size / s->speed;
  s->parameters.viscosity = s->speed * s->length / 1000;
  s->field = FLUID_FIELD_SPEED;
  s->steps_per_frame = 4;
  particles(s, 100, 100, 0);
  return 0;
}

/* ---- The list ---- */

static const scene scenes[] = {
    {"splat", "a closed box with brushes of dye", 320, 180, splat_domain, splat_script, 1, 1},
    {"backward-step", "a fast inlet above a step that sheds vortices", 513, 129, step_domain, step_push, 0, 0},
    {"cylinder", "a round obstacle with a vortex street", 480, 160, cylinder_domain, cylinder_push, 0, 0},
    {"smoke", "hot smoke rises and curls", 192, 256, smoke_domain, smoke_push, 1, 0},
    {"cavity", "a box with a moving lid", 129, 129, cavity_domain, NULL, 0, 0},
};

int scene_count(void) {
  return sizeof scenes / sizeof scenes[0];
}

const scene *scene_at(int index) {
  return index >= 0 && index < scene_count() ? &scenes[index] : NULL;
}

const scene *scene_find(const char *name) {
  for (int k = 0; k < scene_count(); k++)
    if (!strcmp(scenes[k].name, name)) return &scenes[k];
  return NULL;
}

int scene_index(const scene *s) {
  return (int)(s - scenes);
}

int scene_set_up(const scene *s, int32_t width, int32_t height, scene_setup *setup) {
  *setup = (scene_setup){.width = width,
                         .height = height,
                         .cell_size = 1.0 / height,
                         .steps_per_frame = 1,
                         .particle_lifetime = 8};
  ts_fluid_default_parameters(&setup->parameters);
  setup->parameters.advection = TS_FLUID_ADVECTION_MACCORMACK;
  return s->domain(setup);
}

void scene_setup_destroy(scene_setup *setup) {
  free(setup->solid);
  *setup = (scene_setup){0};
}
