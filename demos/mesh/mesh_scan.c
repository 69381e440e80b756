#include "mesh_shapes.h"

#include <math.h>
#include <stdlib.h>

#include "mesh_random.h"

/* A face seen from the front, sampled along -z on a regular grid in x and y as by a range scanner. There are
 * no triangles where the scanner sees nothing: outside the ragged outline, in the holes, across a step in
 * depth. */
static const double half_width = 0.85, half_height = 1.1;

static double bump(double x, double y, double centre_x, double centre_y, double width, double height) {
  const double u = (x - centre_x) / width, v = (y - centre_y) / height;
  return exp(-(u * u + v * v));
}

/* The neck is behind the jaw: a step that fades out towards the sides. */
static double behind_jaw(double x, double y) {
  if (y > -0.72 + 0.45 * x * x) return 0;
  const double side = 1 - x * x / (0.42 * 0.42);
  return side > 0 ? 0.3 * side : 0;
}

static double depth(double x, double y) {
  double z = 0.9 * sqrt(fmax(0.05, 1.25 - x * x - 0.45 * y * y));
  z += 0.20 * bump(x, y, 0, -0.14, 0.10, 0.13) + 0.12 * bump(x, y, 0, 0.1, 0.07, 0.22);    /* nose */
  z += 0.05 * bump(x, y, 0, -0.43, 0.22, 0.035) + 0.06 * bump(x, y, 0, -0.55, 0.18, 0.04); /* lips */
  z += 0.05 * bump(x, y, 0, -0.70, 0.16, 0.08);                                            /* chin */
  for (int side = -1; side <= 1; side += 2) {
    z -= 0.09 * bump(x, y, 0.27 * side, 0.2, 0.13, 0.08); /* eyes, below the brows and above the cheeks */
    z += 0.06 * bump(x, y, 0.27 * side, 0.38, 0.2, 0.05) + 0.07 * bump(x, y, 0.4 * side, -0.1, 0.17, 0.15);
  }
  return z - behind_jaw(x, y);
}

/* A number in -1 .. 1 for a point of a lattice. The next function interpolates it smoothly between the
 * points. */
static double lattice(int64_t i, int64_t j, uint64_t seed) {
  uint64_t state =
      seed + (uint64_t)i * UINT64_C(0x8cb92ba72f3d8dd7) + (uint64_t)j * UINT64_C(0xaaaaaaaaaaaaaaab);
  return 2 * random_uniform(&state) - 1;
}

static double wobble(double x, double y, uint64_t seed) {
  const double fx = floor(x), fy = floor(y);
  const int64_t i = (int64_t)fx, j = (int64_t)fy;
  const double u = (x - fx) * (x - fx) * (3 - 2 * (x - fx)), v = (y - fy) * (y - fy) * (3 - 2 * (y - fy));
  return (lattice(i, j, seed) * (1 - u) + lattice(i + 1, j, seed) * u) * (1 - v) +
         (lattice(i, j + 1, seed) * (1 - u) + lattice(i + 1, j + 1, seed) * u) * v;
}

/* hypot differs between C libraries. */
static double length(double x, double y) {
  return sqrt(x * x + y * y);
}

/* Returns 1 if the scanner sees this point. Borders are irregular, and fray by about the grid's spacing. */
static int seen(double x, double y, double fray) {
  static const double holes[][4] = {{-0.27, 0.2, 0.085, 0.05},
                                    {0.27, 0.21, 0.09, 0.05}, /* wet eyes */
                                    {0.46, -0.38, 0.07, 0.1},
                                    {-0.2, 0.72, 0.1, 0.06},
                                    {0, -0.32, 0.085, 0.035}}; /* in the nose's shadow */
  const double ragged = 0.05 * wobble(5 * x, 5 * y, 1) + 0.03 * wobble(14 * x, 14 * y, 2) + fray;
  if (length(x / 0.74, y) > 0.97 + ragged) return 0;
  for (size_t h = 0; h < sizeof holes / sizeof holes[0]; h++) {
    const double distance = length((x - holes[h][0]) / holes[h][2], (y - holes[h][1]) / holes[h][3]);
    if (distance < 1 + 0.5 * ragged / holes[h][3]) return 0;
  }
  return 1;
}

typedef struct scan_grid {
  int32_t width, height; /* in vertices */
  double spacing;
  float *z;        /* NAN: not seen */
  int32_t *number; /* of the vertex; -1: in no triangle */
} scan_grid;

/* The triangles of a cell, 0 to 2, as indices of the grid. A triangle across a step in depth is omitted. */
static int cell_triangles(const scan_grid *g, int32_t i, int32_t j, int32_t triangles[2][3]) {
  const double longest = 0.06 + 2.5 * g->spacing;
  const int32_t a = j * g->width + i, b = a + 1, d = a + g->width, c = d + 1;
  const float *z = g->z;
  /* Use the shorter diagonal, or the only one if a corner is missing. */
  const int along_ac =
      isnan(z[b]) || isnan(z[d]) || (!isnan(z[a]) && !isnan(z[c]) && fabsf(z[a] - z[c]) <= fabsf(z[b] - z[d]));
  const int32_t choice[2][2][3] = {{{a, b, d}, {b, c, d}}, {{a, b, c}, {a, c, d}}};
  int count = 0;
  for (int k = 0; k < 2; k++) {
    const int32_t *t = choice[along_ac][k];
    const float low = fminf(z[t[0]], fminf(z[t[1]], z[t[2]])), high = fmaxf(z[t[0]], fmaxf(z[t[1]], z[t[2]]));
    if (isnan(z[t[0]]) || isnan(z[t[1]]) || isnan(z[t[2]]) || high - low > longest) continue;
    for (int corner = 0; corner < 3; corner++) triangles[count][corner] = t[corner];
    count++;
  }
  return count;
}

static void grid_free(scan_grid *g) {
  free(g->z);
  free(g->number);
  *g = (scan_grid){0};
}

/* Scans the relief with this spacing and numbers the vertices that have triangles. */
static int grid_scan(double spacing, scan_grid *g, int32_t *vertices, int32_t *triangles) {
  *g = (scan_grid){(int32_t)(2 * half_width / spacing) + 2, (int32_t)(2 * half_height / spacing) + 2, spacing,
                   NULL, NULL};
  const size_t places = (size_t)g->width * (size_t)g->height;
  g->z = malloc(sizeof *g->z * places);
  g->number = calloc(places, sizeof *g->number);
  if (!g->z || !g->number) {
    grid_free(g);
    return 1;
  }
  uint64_t noise = 3, fray = 4;
  const double deviation = fmin(0.004, 0.3 * spacing);
  for (int32_t j = 0; j < g->height; j++)
    for (int32_t i = 0; i < g->width; i++) {
      const double x = i * spacing - half_width, y = j * spacing - half_height;
      const double error = deviation * random_normal(&noise);
      const int here = seen(x, y, spacing * (random_uniform(&fray) - 0.5));
      g->z[j * g->width + i] = here ? (float)random_round(depth(x, y) + error) : NAN;
      g->number[j * g->width + i] = -1;
    }
  *vertices = *triangles = 0;
  for (int32_t j = 0; j + 1 < g->height; j++)
    for (int32_t i = 0; i + 1 < g->width; i++) {
      int32_t cell[2][3];
      const int count = cell_triangles(g, i, j, cell);
      *triangles += count;
      for (int k = 0; k < 3 * count; k++) g->number[cell[k / 3][k % 3]] = 0;
    }
  for (size_t p = 0; p < places; p++)
    if (g->number[p] == 0) g->number[p] = (*vertices)++;
  return 0;
}

int mesh_scan_create(int32_t about_vertices, mesh *m, char message[MESH_MESSAGE]) {
  scan_grid g = {0};
  int32_t vertices = 0, triangles = 0;
  /* The visible part of the grid depends slightly on the spacing, so correct it a few times. */
  double spacing = sqrt(2.1 / about_vertices);
  for (int attempt = 0; attempt < 5; attempt++) {
    grid_free(&g);
    if (grid_scan(spacing, &g, &vertices, &triangles))
      return mesh_fail(message, "out of memory for a scan of %d vertices", about_vertices);
    if (abs(vertices - about_vertices) * 50.0 < about_vertices) break;
    spacing *= sqrt(fmax(vertices, 4) / about_vertices);
  }
  const int failed = mesh_create(vertices, triangles, m, message);
  int32_t t = 0;
  for (int32_t j = 0; j < g.height && !failed; j++)
    for (int32_t i = 0; i < g.width; i++) {
      const int32_t p = j * g.width + i, v = g.number[p];
      if (v >= 0) {
        m->positions[3 * (size_t)v] = i * g.spacing - half_width;
        m->positions[3 * (size_t)v + 1] = j * g.spacing - half_height;
        m->positions[3 * (size_t)v + 2] = (double)g.z[p];
      }
      if (i + 1 == g.width || j + 1 == g.height) continue;
      int32_t cell[2][3];
      const int count = cell_triangles(&g, i, j, cell);
      for (int k = 0; k < 3 * count; k++) m->triangles[3 * t + k] = g.number[cell[k / 3][k % 3]];
      t += count;
    }
  grid_free(&g);
  return failed;
}
