#include "mesh_shapes.h"

#include <math.h>
#include <stddef.h>

#include "mesh_random.h"

static const double pi = 3.14159265358979323846;

typedef void surface(double u, double v, double p[3]);

static void place(mesh *m, int32_t vertex, surface *at, double u, double v) {
  double p[3];
  at(u, v, p);
  for (int c = 0; c < 3; c++) m->positions[3 * (size_t)vertex + (size_t)c] = random_round(p[c]);
}

static void put(int32_t *triangle, int32_t a, int32_t b, int32_t c) {
  triangle[0] = a;
  triangle[1] = b;
  triangle[2] = c;
}

/* ---- A disk of rings: ring k has 6 k vertices, so that triangles are nearly equilateral ---- */

static int32_t ring_vertex(int32_t ring, int32_t number) {
  return ring == 0 ? 0 : 1 + 3 * ring * (ring - 1) + number % (6 * ring);
}

static int disk_create(int32_t about_vertices, surface *at, mesh *m, char message[MESH_MESSAGE]) {
  const int32_t rings = (int32_t)fmax(floor(sqrt((about_vertices - 1) / 3.0 + 0.25)), 2);
  if (mesh_create(1 + 3 * rings * (rings + 1), 6 * rings * rings, m, message)) return 1;
  int32_t *triangle = m->triangles;
  place(m, 0, at, 0, 0);
  for (int32_t ring = 1; ring <= rings; ring++) {
    const double radius = (double)ring / rings;
    for (int32_t k = 0; k < 6 * ring; k++) {
      const double angle = pi * k / (3.0 * ring);
      place(m, ring_vertex(ring, k), at, radius * cos(angle), radius * sin(angle));
    }
    for (int32_t sector = 0; sector < 6; sector++)
      for (int32_t k = 0; k < ring; k++) {
        const int32_t outer = ring_vertex(ring, sector * ring + k),
                      next = ring_vertex(ring, sector * ring + k + 1),
                      inner = ring_vertex(ring - 1, sector * (ring - 1) + k);
        put(triangle, inner, outer, next);
        triangle += 3;
        if (k + 1 == ring) continue;
        put(triangle, inner, next, ring_vertex(ring - 1, sector * (ring - 1) + k + 1));
        triangle += 3;
      }
  }
  return 0;
}

/* ---- A rectangle of squares, (u, v) in 0 .. 1; its width is `aspect` times its height ---- */

static int rectangle_create(int32_t about_vertices, double aspect, surface *at, mesh *m,
                            char message[MESH_MESSAGE]) {
  const int32_t high = (int32_t)fmax(floor(sqrt(about_vertices / aspect) - 0.5), 1);
  const int32_t wide = (int32_t)fmax(floor((double)about_vertices / (high + 1) - 0.5), 1);
  if (mesh_create((wide + 1) * (high + 1), 2 * wide * high, m, message)) return 1;
  int32_t *triangle = m->triangles;
  for (int32_t j = 0; j <= high; j++)
    for (int32_t i = 0; i <= wide; i++) {
      const int32_t a = j * (wide + 1) + i, b = a + 1, c = a + wide + 2, d = a + wide + 1;
      place(m, a, at, (double)i / wide, (double)j / high);
      if (i == wide || j == high) continue;
      /* Alternate the direction of diagonals, so that the mesh has no preferred direction. */
      put(triangle, a, b, (i + j) % 2 ? d : c);
      put(triangle + 3, (i + j) % 2 ? b : a, c, d);
      triangle += 6;
    }
  return 0;
}

/* ---- The surfaces ---- */

/* Half a sphere, with the pole in the middle and equidistant angles. */
static void cap(double u, double v, double p[3]) {
  const double radius = sqrt(u * u + v * v), angle = 0.5 * pi * radius;
  const double scale = radius > 0 ? sin(angle) / radius : 0;
  p[0] = scale * u;
  p[1] = scale * v;
  p[2] = cos(angle);
}

/* Three quarters of a cylinder's wall. */
static void bent(double u, double v, double p[3]) {
  const double angle = 1.5 * pi * (u - 0.5);
  p[0] = sin(angle);
  p[1] = 2.4 * (v - 0.5);
  p[2] = cos(angle);
}

/* Two thirds of a cone's wall, without its tip. */
static void cone(double u, double v, double p[3]) {
  const double angle = 4 * pi / 3 * (0.5 - u), down = 0.3 + 1.7 * v;
  p[0] = 0.6 * down * sin(angle);
  p[1] = -0.8 * down;
  p[2] = 0.6 * down * cos(angle);
}

static double bump(double x, double y, double centre_x, double centre_y, double width, double height) {
  const double a = (x - centre_x) / width, b = (y - centre_y) / height;
  return exp(-(a * a + b * b));
}

/* A mask: the front of a head with nose, lips, chin, brows, and holes for the eyes. */
static void face(double u, double v, double p[3]) {
  const double side = 0.5 * pi * 1.15 * u, x = sin(side), y = 1.25 * v;
  double out = 0.20 * bump(x, y, 0, -0.12, 0.13, 0.14) + 0.12 * bump(x, y, 0, 0.12, 0.09, 0.24);
  out += 0.05 * bump(x, y, 0, -0.42, 0.24, 0.05) + 0.06 * bump(x, y, 0, -0.56, 0.20, 0.06);
  out += 0.08 * bump(x, y, 0, -0.78, 0.20, 0.12);
  for (int half = -1; half <= 1; half += 2) {
    out -= 0.09 * bump(x, y, 0.33 * half, 0.22, 0.16, 0.10);
    out += 0.06 * bump(x, y, 0.33 * half, 0.42, 0.26, 0.07) + 0.06 * bump(x, y, 0.48 * half, -0.12, 0.2, 0.18);
  }
  const double round = sqrt(fmax(0.1, 1 - 0.32 * y * y));
  p[0] = round * 0.9 * x;
  p[1] = y;
  p[2] = round * 0.9 * cos(side) + out;
}

int mesh_cap_create(int32_t about_vertices, mesh *m, char message[MESH_MESSAGE]) {
  return disk_create(about_vertices, cap, m, message);
}

int mesh_face_create(int32_t about_vertices, mesh *m, char message[MESH_MESSAGE]) {
  return disk_create(about_vertices, face, m, message);
}

int mesh_bent_create(int32_t about_vertices, mesh *m, char message[MESH_MESSAGE]) {
  return rectangle_create(about_vertices, 1.5 * pi / 2.4, bent, m, message);
}

int mesh_cone_create(int32_t about_vertices, mesh *m, char message[MESH_MESSAGE]) {
  return rectangle_create(about_vertices, 1.7, cone, m, message);
}

/* ---- The four patches side by side, in different sizes ---- */

static int append(mesh *all, const mesh *part, const double move[2], double scale, char message[MESH_MESSAGE]) {
  mesh joined;
  const int32_t v = all->vertex_count, t = all->triangle_count;
  if (mesh_create(v + part->vertex_count, t + part->triangle_count, &joined, message)) return 1;
  for (size_t i = 0; i < 3 * (size_t)v; i++) joined.positions[i] = all->positions[i];
  for (size_t i = 0; i < 3 * (size_t)t; i++) joined.triangles[i] = all->triangles[i];
  for (size_t i = 0; i < 3 * (size_t)part->vertex_count; i++)
    joined.positions[3 * (size_t)v + i] = scale * part->positions[i] + (i % 3 < 2 ? move[i % 3] : 0);
  for (size_t i = 0; i < 3 * (size_t)part->triangle_count; i++)
    joined.triangles[3 * (size_t)t + i] = part->triangles[i] + v;
  mesh_destroy(all);
  *all = joined;
  return 0;
}

int mesh_patches_create(int32_t about_vertices, mesh *m, char message[MESH_MESSAGE]) {
  static const struct {
    mesh_shape_fn *create;
    double share, move[2], scale;
  } parts[] = {{mesh_face_create, 0.4, {0, 0}, 1},
               {mesh_bent_create, 0.3, {2.4, 0}, 1},
               {mesh_cap_create, 0.2, {0, -2.4}, 0.8},
               {mesh_cone_create, 0.1, {2.4, -1.8}, 0.5}};
  *m = (mesh){0};
  for (int k = 0; k < 4; k++) {
    mesh part;
    int failed = parts[k].create((int32_t)fmax(parts[k].share * about_vertices, 7), &part, message);
    if (!failed) failed = append(m, &part, parts[k].move, parts[k].scale, message);
    mesh_destroy(&part);
    if (!failed) continue;
    mesh_destroy(m);
    return 1;
  }
  return 0;
}
