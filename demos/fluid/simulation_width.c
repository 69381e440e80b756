/* Changes the width of the domain of a running simulation. The flow and the walls are kept. */
#include <stdlib.h>
#include <string.h>

#include "simulation.h"

/* A field in host memory, row by row. */
typedef struct field {
  float *values;
  size_t components, columns, rows;
} field;

static size_t count_of(const field *f) {
  return f->components * f->columns * f->rows;
}

/* Copies the columns that both fields have, aligned at the middle. The rest of `to` is 0. */
static void copy_middle(const field *from, field *to) {
  const size_t common = from->columns < to->columns ? from->columns : to->columns;
  const size_t skip = (from->columns - common) / 2, left = (to->columns - common) / 2;
  for (size_t row = 0; row < to->rows; row++)
    memcpy(to->values + to->components * (row * to->columns + left),
           from->values + from->components * (row * from->columns + skip),
           common * from->components * sizeof *to->values);
}

static void copy_walls(const unsigned char *from, size_t from_columns, unsigned char *to, size_t to_columns,
                       size_t rows) {
  const size_t common = from_columns < to_columns ? from_columns : to_columns;
  const size_t skip = (from_columns - common) / 2, left = (to_columns - common) / 2;
  for (size_t row = 0; row < rows; row++)
    memcpy(to + row * to_columns + left, from + row * from_columns + skip, common);
}

/* The fields that are kept. */
typedef struct flow {
  field velocity, dye;
  unsigned char *solid;
  int32_t width;
  int steps;
  ts_fluid_parameters parameters;
} flow;

static void free_flow(flow *f) {
  free(f->velocity.values);
  free(f->dye.values);
  free(f->solid);
}

static ts_status read_field(field *f, const ts_vector *vector) {
  f->values = malloc(count_of(f) * sizeof *f->values);
  return f->values ? ts_vector_read(vector, ts_host(f->values, count_of(f))) : TS_ERROR_OUT_OF_HOST_MEMORY;
}

static ts_status read_flow(simulation *s, flow *f) {
  const size_t width = (size_t)s->info.width, height = (size_t)s->info.height;
  *f = (flow){.velocity = {.components = 2, .columns = width + 1, .rows = height + 1},
              .dye = {.components = 4, .columns = width, .rows = height},
              .solid = malloc(width * height),
              .width = s->info.width,
              .steps = s->steps,
              .parameters = s->parameters};
  if (!f->solid) return TS_ERROR_OUT_OF_HOST_MEMORY;
  memcpy(f->solid, s->solid, width * height);
  const ts_status status = read_field(&f->velocity, ts_fluid_get_velocity(s->fluid));
  return status == TS_OK ? read_field(&f->dye, ts_fluid_get_dye(s->fluid)) : status;
}

static ts_status write_field(const field *from, ts_vector *vector, size_t columns) {
  field to = {.components = from->components, .columns = columns, .rows = from->rows};
  to.values = calloc(count_of(&to), sizeof *to.values);
  if (!to.values) return TS_ERROR_OUT_OF_HOST_MEMORY;
  copy_middle(from, &to);
  const ts_status status = ts_vector_write(vector, ts_host(to.values, count_of(&to)));
  free(to.values);
  return status;
}

static ts_status write_flow(simulation *s, const flow *f) {
  const size_t width = (size_t)s->info.width, height = (size_t)s->info.height;
  copy_walls(f->solid, (size_t)f->width, s->solid, width, height);
  s->walls_changed = 1;
  s->steps = f->steps;
  const ts_status status = write_field(&f->velocity, ts_fluid_get_velocity(s->fluid), width + 1);
  return status == TS_OK ? write_field(&f->dye, ts_fluid_get_dye(s->fluid), width) : status;
}

int simulation_set_width(simulation *s, int32_t width, char message[SIMULATION_MESSAGE]) {
  flow f;
  int failed = 1;
  ts_status status = read_flow(s, &f);
  if (status == TS_OK && !simulation_set_scene(s, s->options.scene, width, s->info.height, message)) {
    status = write_flow(s, &f);
    failed = simulation_set_parameters(s, &f.parameters, message) || simulation_apply_walls(s, message);
  }
  if (status != TS_OK) failed = simulation_fail_status(s->context, status, message);
  free_flow(&f);
  return failed;
}
