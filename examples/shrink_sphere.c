/* Smooths a triangle mesh by mean-curvature flow: a sphere of radius 1 shrinks, with r^2 = 1 - 2 t.
 * Build: cc shrink_sphere.c $(pkg-config --cflags --libs texsolve) -lm. Run: ./a.out gl
 * Prints the height of the pole after 20 steps of 0.01, and the radius by the formula. */
#include <math.h>
#include <stdio.h>
#include <texsolve/mesh.h>

/* Ends the program with the library's message if a call fails. */
#define CHECK(call)                                                                                            \
  do {                                                                                                         \
    if ((call) != TS_OK) return fprintf(stderr, "%s\n", ts_last_error(context)), 1;                            \
  } while (0)

enum { RINGS = 31, SIDES = 64, SOUTH = RINGS * SIDES, NORTH, VERTICES, TRIANGLES = 2 * SOUTH };

static int32_t triangles[3 * TRIANGLES], count;
static float positions[VERTICES][3];

static int32_t vertex(int ring, int side) {
  return ring < 0 ? SOUTH : ring >= RINGS ? NORTH : ring * SIDES + side % SIDES;
}

static void add_triangle(int32_t a, int32_t b, int32_t c) {
  if (a == b || b == c) return; /* at a pole */
  triangles[count++] = a, triangles[count++] = b, triangles[count++] = c;
}

static void make_sphere(void) {
  for (int ring = -1; ring <= RINGS; ring++)
    for (int side = 0; side < SIDES; side++) {
      const double latitude = acos(-1) * (ring + 1) / (RINGS + 1), longitude = 2 * acos(-1) * side / SIDES;
      float *p = positions[vertex(ring, side)];
      p[0] = (float)(sin(latitude) * cos(longitude));
      p[1] = (float)(sin(latitude) * sin(longitude));
      p[2] = (float)-cos(latitude);
      add_triangle(vertex(ring, side), vertex(ring, side + 1), vertex(ring + 1, side + 1));
      add_triangle(vertex(ring, side), vertex(ring + 1, side + 1), vertex(ring + 1, side));
    }
}

int main(int argc, char **argv) {
  ts_context_desc device = {.backend = argc > 1 ? argv[1] : "auto"};
  ts_mesh_flow_desc desc = {.vertices = VERTICES, .triangles = TRIANGLES, .triangle_vertices = triangles};
  ts_context *context = NULL;
  ts_mesh_flow *flow = NULL;
  ts_vector *x = NULL;

  make_sphere();
  CHECK(ts_context_create(&device, &context));
  CHECK(ts_mesh_flow_create(context, &desc, &flow));
  CHECK(ts_vector_create(ts_mesh_flow_get_space(flow), &(ts_vector_desc){.components = 3}, &x));
  CHECK(ts_vector_write(x, ts_host(&positions[0][0], sizeof positions / sizeof(float))));
  for (int step = 0; step < 20; step++) CHECK(ts_mesh_flow_step(flow, x, 0.01, NULL));
  CHECK(ts_vector_read(x, ts_host(&positions[0][0], sizeof positions / sizeof(float))));
  printf("pole %.3f, radius %.3f\n", positions[NORTH][2], sqrt(1 - 2 * 0.2));
  ts_vector_destroy(&x);
  ts_mesh_flow_destroy(&flow);
  ts_context_destroy(&context);
  return fabs(positions[NORTH][2] - sqrt(0.6)) > 0.01;
}
