#include "scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scene_domains.h"

const char *fluid_field_name(fluid_field field) {
  static const char *const names[] = {
#define FLUID_FIELD_NAME(name, text) text,
      FLUID_FIELD_LIST(FLUID_FIELD_NAME)
#undef FLUID_FIELD_NAME
  };
  return (unsigned)field < FLUID_FIELDS ? names[field] : NULL;
}

struct scene {
  const char *name, *text;
  int32_t width, height;
  scene_domain_fn *domain;
  scene_splats_fn *splats; /* NULL: none */
  int scripted;
};

static const scene scenes[] = {
    {"splat", "a closed box and a brush full of dye", 320, 180, scene_splat_domain, scene_splat_script, 1},
    {"backward-step", "a fast inlet above a step, behind which vortices are shed", 513, 129, scene_step_domain,
     scene_step_push, 0},
    {"cylinder", "a round obstacle and its street of vortices", 480, 160, scene_cylinder_domain,
     scene_cylinder_push, 0},
    {"smoke", "hot smoke rises and curls", 192, 256, scene_smoke_domain, scene_smoke_push, 0},
    {"cavity", "a box whose lid moves", 129, 129, scene_cavity_domain, NULL, 0},
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

const char *scene_name(const scene *s) {
  return s->name;
}

const char *scene_text(const scene *s) {
  return s->text;
}

void scene_default_size(const scene *s, int32_t *width, int32_t *height) {
  *width = s->width;
  *height = s->height;
}

int scene_set_up(const scene *s, int32_t width, int32_t height, scene_setup *setup) {
  *setup = (scene_setup){.width = width,
                         .height = height,
                         .cell_size = 1.0 / height,
                         .steps_per_frame = 1,
                         .particle_lifetime = 8};
  ts_fluid_default_parameters(&setup->parameters);
  setup->parameters.advection = TS_FLUID_MACCORMACK;
  return s->domain(setup);
}

void scene_setup_destroy(scene_setup *setup) {
  free(setup->solid);
  *setup = (scene_setup){0};
}

int scene_splats(const scene *s, const scene_setup *setup, int step, scene_splat *splats, int most) {
  return s->splats ? s->splats(setup, step, splats, most) : 0;
}

int scene_is_scripted(const scene *s) {
  return s->scripted;
}
