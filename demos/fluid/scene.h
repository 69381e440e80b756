/* What there is to simulate: domains with their boundaries, walls, sources and parameters, for grids of any
 * size. */
#ifndef SCENE_H
#define SCENE_H

#include <texsolve/fluid.h>

/* What is drawn of a fluid; view.h draws it. */
#define FLUID_FIELD_LIST(X)                                                                                    \
  X(FLUID_FIELD_DYE, "dye")                                                                                    \
  X(FLUID_FIELD_SPEED, "speed")                                                                                \
  X(FLUID_FIELD_PRESSURE, "pressure")                                                                          \
  X(FLUID_FIELD_DIVERGENCE, "divergence")                                                                      \
  X(FLUID_FIELD_VORTICITY, "vorticity")

typedef enum fluid_field {
#define FLUID_FIELD_ENUM(name, text) name,
  FLUID_FIELD_LIST(FLUID_FIELD_ENUM)
#undef FLUID_FIELD_ENUM
      FLUID_FIELDS
} fluid_field;

const char *fluid_field_name(fluid_field field); /* NULL past the end */

/* A scene on a grid of one size. Lengths in metres; cells are square. */
typedef struct scene_setup {
  int32_t width, height; /* cells */
  double cell_size;
  ts_fluid_boundary left, right, bottom, top;
  ts_fluid_parameters parameters;
  ts_fluid_source sources[TS_FLUID_MAX_SOURCES];
  int source_count;
  unsigned char *solid; /* width * height flags; NULL: none. The caller's to free */
  double speed, length; /* of the Reynolds number, speed * length / viscosity; 0: it has none */
  int steps_per_frame;  /* of a video */
  fluid_field field;    /* what to look at */
  int32_t particle_columns, particle_rows; /* 0: none */
  double particle_lifetime;                /* s */
} scene_setup;

/* A blob that is added to the fluid at some time. */
typedef struct scene_splat {
  double x, y, radius; /* m */
  float velocity[2];   /* m/s */
  float dye[3];
  float temperature;
} scene_splat;

/* Fills in what differs from a closed box of fluid at rest. Returns 0, or 1 without memory. */
typedef int scene_domain_fn(scene_setup *setup);
/* Blobs before a step, the first one being 0: at most `most`, whose number is returned. */
typedef int scene_splats_fn(const scene_setup *setup, int step, scene_splat *splats, int most);

typedef struct scene {
  const char *name, *text; /* the latter one line: what one sees */
  int32_t width, height;   /* cells by default */
  scene_domain_fn *domain;
  scene_splats_fn *splats; /* what it adds by itself, a push to begin with; NULL: nothing */
  int fills;               /* a box that may have any width */
  int scripted;            /* they stand for somebody's mouse, for videos */
} scene;

int scene_count(void);
const scene *scene_at(int index);
const scene *scene_find(const char *name); /* NULL: there is none */
int scene_index(const scene *s);

/* Returns 0, or 1 without memory. Any size that a fluid can have will do. */
int scene_set_up(const scene *s, int32_t width, int32_t height, scene_setup *setup);
void scene_setup_destroy(scene_setup *setup);

#endif
