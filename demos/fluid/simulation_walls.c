/* The walls of a simulation: from pictures and brushes to the device. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform.h"
#include "png_image.h"
#include "simulation.h"

/* Shortens a long path to its end, so that a message has room for the reason. */
static const char *short_name(const char *path) {
  enum { most = 160 };
  const size_t length = strlen(path);
  return length > most ? path + length - most : path;
}

/* The range of pixels that a cell covers, at least one. */
static void covered(int32_t cell, int32_t cells, int pixels, int *from, int *to) {
  *from = (int)((int64_t)cell * pixels / cells);
  *to = (int)(((int64_t)(cell + 1) * pixels + cells - 1) / cells);
  if (*to <= *from) *to = *from + 1;
  if (*to > pixels) *to = pixels;
}

static int is_dark(const image *picture, int left, int right, int upper, int lower) {
  double sum = 0;
  for (int y = upper; y < lower; y++)
    for (int x = left; x < right; x++) {
      const unsigned char *rgb = &picture->rgb[3 * ((size_t)y * (size_t)picture->width + (size_t)x)];
      sum += 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2];
    }
  return sum < 127.5 * (right - left) * (lower - upper);
}

int simulation_read_walls(const char *path, int32_t width, int32_t height, unsigned char **solid,
                          char message[SIMULATION_MESSAGE]) {
  char why[200];
  image picture;
  if (png_image_load(path, &picture, why, sizeof why))
    return simulation_fail(message, "%s: %s, expected a picture of walls as a PNG file", short_name(path), why);
  *solid = malloc((size_t)width * (size_t)height);
  for (int32_t j = 0; *solid && j < height; j++)
    for (int32_t i = 0; i < width; i++) {
      int left, right, upper, lower;
      covered(i, width, picture.width, &left, &right);
      covered(height - 1 - j, height, picture.height, &upper, &lower);
      (*solid)[(size_t)j * (size_t)width + (size_t)i] =
          (unsigned char)is_dark(&picture, left, right, upper, lower);
    }
  image_destroy(&picture);
  if (*solid && !memchr(*solid, 0, (size_t)width * (size_t)height)) {
    free(*solid);
    *solid = NULL;
    return simulation_fail(message, "%s: all cells are dark, expected some without a wall", short_name(path));
  }
  return *solid ? 0 : simulation_fail(message, "out of memory for %d x %d cells", (int)width, (int)height);
}

int simulation_look(simulation *s, char message[SIMULATION_MESSAGE]) {
  const ts_status status = ts_fluid_get_info(s->fluid, &s->info);
  if (status != TS_OK) return simulation_fail_status(s->context, status, message);
  s->warning[0] = 0;
  const char *what = s->options.walls ? short_name(s->options.walls) : "the walls";
  if (s->info.outlet_closed)
    snprintf(s->warning, sizeof s->warning,
             "%s: every outlet is closed; an inflow of %.3g m^2/s has no outlet and is subtracted evenly", what,
             s->info.incompatible);
  else if (s->info.incompatible > 0)
    snprintf(s->warning, sizeof s->warning,
             "%s: an inflow of %.3g m^2/s has no outlet and is subtracted evenly", what, s->info.incompatible);
  return 0;
}

int simulation_brush(simulation *s, double x, double y, double radius, int solid) {
  const double h = s->setup.cell_size;
  const int32_t low_i = (int32_t)fmax(floor((x - radius) / h), 0),
                low_j = (int32_t)fmax(floor((y - radius) / h), 0);
  const int32_t high_i = (int32_t)fmin(ceil((x + radius) / h), s->setup.width);
  const int32_t high_j = (int32_t)fmin(ceil((y + radius) / h), s->setup.height);
  int changed = 0;
  for (int32_t j = low_j; j < high_j; j++)
    for (int32_t i = low_i; i < high_i; i++) {
      unsigned char *cell = &s->solid[(size_t)j * (size_t)s->setup.width + (size_t)i];
      if (*cell == (solid != 0) || hypot((i + 0.5) * h - x, (j + 0.5) * h - y) > radius) continue;
      *cell = solid != 0;
      changed = 1;
    }
  s->walls_changed |= changed;
  return changed;
}

int simulation_apply_walls(simulation *s, char message[SIMULATION_MESSAGE]) {
  if (!s->walls_changed) return 0;
  const ts_status status = ts_fluid_set_walls(s->fluid, s->solid, NULL);
  if (status == TS_OK) {
    s->walls_changed = 0;
    return simulation_look(s, message);
  }
  simulation_fail_status(s->context, status, message);
  /* The device still has the old walls. Restore them here, otherwise the next step would be refused too. */
  const size_t cells = (size_t)s->setup.width * (size_t)s->setup.height;
  float *held = malloc(2 * cells * sizeof *held);
  if (held && ts_vector_read(ts_fluid_get_walls(s->fluid), ts_host(held, 2 * cells)) == TS_OK)
    for (size_t k = 0; k < cells; k++) s->solid[k] = held[2 * k] > 0.5F;
  free(held);
  s->walls_changed = 0;
  return 1;
}

int simulation_clear_walls(simulation *s, char message[SIMULATION_MESSAGE]) {
  memset(s->solid, 0, (size_t)s->setup.width * (size_t)s->setup.height);
  s->walls_changed = 1;
  return simulation_apply_walls(s, message);
}

int simulation_load_walls(simulation *s, const char *path, char message[SIMULATION_MESSAGE]) {
  unsigned char *solid = NULL;
  char *name = copy_text(path);
  if (!name) return simulation_fail(message, "out of memory");
  if (simulation_read_walls(path, s->setup.width, s->setup.height, &solid, message)) {
    free(name);
    return 1;
  }
  const ts_status status = ts_fluid_set_walls(s->fluid, solid, NULL);
  if (status != TS_OK) {
    char why[SIMULATION_MESSAGE];
    simulation_fail_status(s->context, status, why);
    free(solid);
    free(name);
    return simulation_fail(message, "%s: %.200s", short_name(path), why);
  }
  free(s->solid);
  free(s->walls_path);
  s->solid = solid;
  s->walls_path = name;
  s->options.walls = name;
  s->walls_changed = 0;
  return simulation_look(s, message);
}
