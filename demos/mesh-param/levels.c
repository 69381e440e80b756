#include "levels.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hierarchy.h"

enum { least_vertices = 800 };

static double now(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A level as a mesh of its own. `number`: of a flat vertex in it. */
typedef struct level_mesh {
  mesh m;
  charts c;
  unsigned char *pinned;
  double *uv;
} level_mesh;

static void level_free(level_mesh *l) {
  mesh_destroy(&l->m);
  free(l->pinned);
  free(l->uv);
}

static int level_build(const mesh *m, const charts *c, const unsigned char *pinned, const double *uv,
                       const hierarchy_level *from, int32_t *number, level_mesh *l,
                       char message[MESH_MESSAGE]) {
  *l = (level_mesh){.pinned = malloc((size_t)from->vertex_count + 1),
                    .uv = malloc((2 * (size_t)from->vertex_count + 1) * sizeof *l->uv)};
  if (mesh_create(from->vertex_count, from->triangle_count, &l->m, message)) return 1;
  if (!l->pinned || !l->uv) return mesh_fail(message, "out of memory for a coarser mesh");
  for (int32_t i = 0; i < from->vertex_count; i++) {
    const int32_t v = from->vertices[i];
    number[v] = i;
    l->pinned[i] = pinned[v];
    memcpy(l->uv + 2 * (size_t)i, uv + 2 * (size_t)v, 2 * sizeof *uv);
    memcpy(l->m.positions + 3 * (size_t)i, m->positions + 3 * (size_t)c->vertex[v], 3 * sizeof *m->positions);
  }
  for (size_t i = 0; i < 3 * (size_t)from->triangle_count; i++) l->m.triangles[i] = number[from->triangles[i]];
  /* Flat vertices are the mesh's own here. */
  l->c = (charts){.vertices = from->vertex_count, .corner = l->m.triangles};
  return 0;
}

static int level_solve(ts_context *context, const mesh *m, const charts *c, const unsigned char *pinned,
                       const conformal_options *options, const hierarchy_level *level, int32_t *number,
                       double *uv, levels_result *result, char message[MESH_MESSAGE]) {
  level_mesh l;
  conformal_result solved = {0};
  int failed = level_build(m, c, pinned, uv, level, number, &l, message);
  if (!failed) failed = conformal_solve(context, &l.m, &l.c, l.pinned, options, l.uv, &solved, message);
  for (int32_t i = 0; i < level->vertex_count && !failed; i++)
    memcpy(uv + 2 * (size_t)level->vertices[i], l.uv + 2 * (size_t)i, 2 * sizeof *uv);
  result->iterations += solved.iterations;
  level_free(&l);
  return failed;
}

/* Vertices that were taken away come back, the last one first. */
static void put_back(const hierarchy *h, int32_t from, int32_t to, double *uv) {
  for (int32_t i = from; i-- > to;) {
    const hierarchy_vertex *r = &h->removed[i];
    double sum[2] = {0};
    for (int32_t k = 0; k < r->neighbours; k++)
      for (size_t x = 0; x < 2; x++) sum[x] += (double)r->weight[k] * uv[2 * (size_t)r->neighbour[k] + x];
    memcpy(uv + 2 * (size_t)r->vertex, sum, sizeof sum);
  }
}

int levels_solve(ts_context *context, const mesh *m, const charts *c, const unsigned char *pinned,
                 const conformal_options *options, double *uv, levels_result *result,
                 char message[MESH_MESSAGE]) {
  const double begin = now();
  hierarchy h;
  *result = (levels_result){0};
  if (hierarchy_create(m, c, pinned, least_vertices, &h, message)) return 1;
  int32_t *number = malloc(((size_t)c->vertices + 1) * sizeof *number);
  if (!number) {
    hierarchy_destroy(&h);
    return mesh_fail(message, "out of memory for coarser meshes");
  }
  int failed = 0;
  for (int k = h.count - 1; k >= 0 && !failed; k--) {
    failed = level_solve(context, m, c, pinned, options, &h.level[k], number, uv, result, message);
    if (!failed) put_back(&h, h.level[k].removed, k ? h.level[k - 1].removed : 0, uv);
  }
  result->levels = h.count;
  result->seconds = now() - begin;
  free(number);
  hierarchy_destroy(&h);
  return failed;
}
