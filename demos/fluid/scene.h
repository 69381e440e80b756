/* Scenes: domains with boundaries, walls, sources and parameters, for grids of any size. */
#ifndef SCENE_H
#define SCENE_H

#include <texsolve/fluid.h>

/* The quantity that a picture shows. view.h draws it. */
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

const char *fluid_field_name(fluid_field field); /* NULL past the last one */

/* A scene on a grid of a given size. Lengths are in metres; cells are square. */
typedef struct scene_setup {
  int32_t width, height; /* cells */
  double cell_size;
  ts_fluid_boundary left, right, bottom, top;
  ts_fluid_parameters parameters;
  ts_fluid_source sources[TS_FLUID_MAX_SOURCES];
  int source_count;
  unsigned char *solid; /* width * height flags; NULL: no walls. The caller frees it */
  double speed, length; /* define the Reynolds number, speed * length / viscosity; 0: it is undefined */
  int steps_per_frame;  /* of a video */
  fluid_field field;    /* the default field of pictures */
  int32_t particle_columns, particle_rows; /* 0: no particles */
  double particle_lifetime;                /* seconds */
} scene_setup;

/* A blob of velocity, dye and heat that is added to the fluid. */
typedef struct scene_splat {
  double x, y, radius; /* m */
  float velocity[2];   /* m/s */
  float dye[3];
  float temperature;
} scene_splat;

/* Fills in the differences from a closed box of fluid at rest. Returns 0, or 1 if memory runs out. */
typedef int scene_domain_fn(scene_setup *setup);
/* Writes at most `most` blobs to add before a step, and returns their number. Steps count from 0. */
typedef int scene_splats_fn(const scene_setup *setup, int step, scene_splat *splats, int most);

typedef struct scene {
  const char *name, *text; /* text: a description in one line */
  int32_t width, height;   /* default size in cells */
  scene_domain_fn *domain;
  scene_splats_fn *splats; /* blobs that the scene adds, such as an initial disturbance; NULL: none */
  int fills;               /* a box of any width, which can fill the window */
  int scripted;            /* `splats` imitates a user's mouse, for videos */
} scene;

int scene_count(void);
const scene *scene_at(int index);
const scene *scene_find(const char *name); /* NULL if unknown */
int scene_index(const scene *s);

/* Accepts any size that a fluid may have. Returns 0, or 1 if memory runs out. */
int scene_set_up(const scene *s, int32_t width, int32_t height, scene_setup *setup);
void scene_setup_destroy(scene_setup *setup);

#endif
