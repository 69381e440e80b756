#include <cstring>
#include <exception>
#include <vector>

extern "C" {
#include "conformal.h"
#include "progress.h"
}

#include "hierarchy.h"

enum { least_vertices = 800 };

/* Solves on a level as a separate mesh. `number` has room for each flat vertex's number in that mesh. */
static int level_solve(ts_context *context, const mesh *m, const charts *c, const unsigned char *pinned,
                       const conformal_options *options, const hierarchy_level &level,
                       std::vector<int32_t> &number, double *uv, levels_result *result,
                       char message[MESH_MESSAGE]) {
  const size_t vertices = (size_t)level.vertex_count, corners = 3 * (size_t)level.triangle_count;
  std::vector<unsigned char> own_pinned(vertices);
  std::vector<double> own_uv(2 * vertices), positions(3 * vertices);
  std::vector<int32_t> triangles(corners);
  for (size_t i = 0; i < vertices; i++) {
    const int32_t v = level.vertices[i];
    number[v] = (int32_t)i;
    own_pinned[i] = pinned[v];
    memcpy(&own_uv[2 * i], uv + 2 * (size_t)v, 2 * sizeof *uv);
    memcpy(&positions[3 * i], m->positions + 3 * (size_t)c->vertex[v], 3 * sizeof *m->positions);
  }
  for (size_t i = 0; i < corners; i++) triangles[i] = number[level.triangles[i]];
  const mesh own = {level.vertex_count, level.triangle_count, positions.data(), triangles.data(), nullptr, {}};
  charts own_charts{}; /* here the flat vertices are the mesh's vertices */
  own_charts.vertices = level.vertex_count;
  own_charts.corner = triangles.data();
  conformal_result solved;
  if (conformal_solve(context, &own, &own_charts, own_pinned.data(), options, own_uv.data(), &solved, message))
    return 1;
  for (size_t i = 0; i < vertices; i++)
    memcpy(uv + 2 * (size_t)level.vertices[i], &own_uv[2 * i], 2 * sizeof *uv);
  result->iterations += solved.iterations;
  return 0;
}

/* Restores the removed vertices, the last one first. */
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
  const double begin = seconds_now();
  hierarchy h;
  *result = {};
  if (hierarchy_create(m, c, pinned, least_vertices, &h, message)) return 1;
  int failed = 0;
  try {
    std::vector<int32_t> number((size_t)c->vertices);
    for (int k = h.count - 1; k >= 0 && !failed; k--) {
      failed = level_solve(context, m, c, pinned, options, h.level[k], number, uv, result, message);
      if (!failed) put_back(&h, h.level[k].removed, k ? h.level[k - 1].removed : 0, uv);
    }
  } catch (const std::exception &) {
    failed = mesh_fail(message, "out of memory for coarser meshes");
  }
  result->levels = h.count;
  result->seconds = seconds_now() - begin;
  hierarchy_destroy(&h);
  return failed;
}
