#include "profile.h"

#include <math.h>
#include <stdlib.h>

#include "simulation.h"

typedef struct velocity_field {
  float *values; /* two components over (width + 1) x (height + 1) */
  int width, height, staggered;
} velocity_field;

static int read_field(const simulation *s, velocity_field *field, char message[SIMULATION_MESSAGE]) {
  const ts_fluid_info *info = &s->info;
  const size_t count = 2 * ((size_t)info->width + 1) * ((size_t)info->height + 1);
  *field = (velocity_field){malloc(count * sizeof *field->values), info->width, info->height,
                            info->layout == TS_FLUID_STAGGERED};
  if (!field->values) return simulation_fail(message, "out of memory for %zu velocities", count);
  const ts_status status = ts_vector_read(ts_fluid_velocity(s->fluid), field->values, count);
  if (status == TS_OK) return 0;
  free(field->values);
  simulation_fail_status(s->context, status, message);
  return 1;
}

static double clamp(double value, double most) {
  return fmin(fmax(value, 0), most);
}

/* Component c at a place that counts in cells. */
static double velocity_at(const velocity_field *f, int c, double x, double y) {
  const double columns = f->staggered && c == 0 ? f->width : f->width - 1;
  const double rows = f->staggered && c == 1 ? f->height : f->height - 1;
  x = clamp(f->staggered && c == 0 ? x : x - 0.5, columns);
  y = clamp(f->staggered && c == 1 ? y : y - 0.5, rows);
  const size_t i = (size_t)fmin(floor(x), columns - 1), j = (size_t)fmin(floor(y), rows - 1);
  const size_t row = (size_t)f->width + 1;
  const float *lower = &f->values[2 * (j * row + i) + (size_t)c], *upper = lower + 2 * row;
  const double part_x = x - (double)i, part_y = y - (double)j;
  return (1 - part_y) * ((1 - part_x) * (double)lower[0] + part_x * (double)lower[2]) +
         part_y * ((1 - part_x) * (double)upper[0] + part_x * (double)upper[2]);
}

int profile_probe(const simulation *s, const double at[2], double velocity[2],
                  char message[SIMULATION_MESSAGE]) {
  const double h = s->info.cell_size;
  velocity_field field;
  if (read_field(s, &field, message)) return 1;
  for (int c = 0; c < 2; c++) velocity[c] = velocity_at(&field, c, at[0] / h, at[1] / h);
  free(field.values);
  return 0;
}

int profile_write(const simulation *s, FILE *file, char message[SIMULATION_MESSAGE]) {
  const double h = s->info.cell_size;
  velocity_field f;
  if (read_field(s, &f, message)) return 1;
  fprintf(file, "line,position,u,v\n");
  for (int j = 0; j < f.height; j++)
    fprintf(file, "vertical,%.9g,%.9g,%.9g\n", (j + 0.5) * h, velocity_at(&f, 0, 0.5 * f.width, j + 0.5),
            velocity_at(&f, 1, 0.5 * f.width, j + 0.5));
  for (int i = 0; i < f.width; i++)
    fprintf(file, "horizontal,%.9g,%.9g,%.9g\n", (i + 0.5) * h, velocity_at(&f, 0, i + 0.5, 0.5 * f.height),
            velocity_at(&f, 1, i + 0.5, 0.5 * f.height));
  free(f.values);
  return 0;
}
