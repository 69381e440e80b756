/* Stencils on a box, and graph Laplacians. */
#include "family.h"

#include <math.h>
#include <stdlib.h>

/* ---- Stencils ---- */

static double stencil_weight(int points, int distance) {
  const int reach = points == 5 || points == 7 ? 1 : points == 19 || points == 9 ? 2 : 3;
  if (distance > reach) return 0;
  return points == 19 && distance == 1 ? 2 : 1;
}

int generate_stencil(generated_problem *p, int points, int32_t rows) {
  const int dimensions = points == 5 || points == 9 ? 2 : 3, depth = dimensions == 3;
  const int32_t n = (int32_t)floor(pow((double)rows, 1.0 / dimensions) + 1e-9), layers = depth ? n : 1;
  assembly list = {0};
  for (int32_t i = 0; i < n * n * layers; i++) {
    const int32_t x = i % n, y = i / n % n, z = i / n / n;
    double sum = 0;
    for (int32_t dz = -depth; dz <= depth; dz++)
      for (int32_t dy = -1; dy <= 1; dy++)
        for (int32_t dx = -1; dx <= 1; dx++) {
          const double weight = stencil_weight(points, abs(dx) + abs(dy) + abs(dz));
          const int here = !dx && !dy && !dz;
          const int inside =
              x + dx >= 0 && x + dx < n && y + dy >= 0 && y + dy < n && z + dz >= 0 && z + dz < layers;
          if (here || weight == 0) continue;
          sum += weight;
          if (inside) assembly_add(&list, i, i + dx + n * (dy + n * dz), -weight);
        }
    assembly_add(&list, i, i, sum);
  }
  return assembly_finish(&list, n * n * layers, 1, 0, p);
}

/* ---- Graphs ---- */

static double chance(int64_t k, uint32_t stream) {
  return (double)generated_noise((uint32_t)k, stream + 1000u * (uint32_t)(k >> 32));
}

static void add_edge(assembly *list, int32_t i, int32_t j) {
  if (i == j || i < 0 || j < 0) return;
  assembly_add(list, i, i, 1);
  assembly_add(list, j, j, 1);
  assembly_add(list, i, j, -1);
  assembly_add(list, j, i, -1);
}

/* Quadrants with the probabilities 0.57, 0.19, 0.19 and 0.05. */
static int32_t add_rmat(assembly *list, int32_t rows) {
  int levels = 0;
  while (levels < 30 && (int64_t)2 << levels <= rows) levels++;
  for (int64_t k = 0; k < (int64_t)12 << levels; k++) {
    int32_t i = 0, j = 0;
    for (int level = 0; level < levels; level++) {
      const double u = chance(k, 100u + (uint32_t)level);
      i = 2 * i + (u >= 0.76);
      j = 2 * j + (u >= 0.95 || (u >= 0.57 && u < 0.76));
    }
    add_edge(list, i, j);
  }
  return 1 << levels;
}

/* A node's new edges go to random ends of old ones. */
static int32_t add_preferential(assembly *list, int32_t rows) {
  enum { EDGES = 6 };
  int32_t(*ends)[2] = malloc((size_t)rows * EDGES * sizeof *ends);
  list->failed |= !ends;
  for (int32_t i = 1; i < rows && ends; i++)
    for (int k = 0; k < EDGES; k++) {
      const int64_t edge = (int64_t)EDGES * i + k, before = (int64_t)EDGES * (i - 1);
      const int64_t other = EDGES + (int64_t)(chance(edge, 51u) * (double)before);
      ends[edge][0] = i;
      ends[edge][1] = i == 1 ? 0 : ends[other][chance(edge, 52u) < 0.5];
      add_edge(list, i, ends[edge][1]);
    }
  free(ends);
  return rows;
}

/* Chains of 3 nodes between crossings. Isolated crossings become components, which 1e-4 keeps nonsingular. */
static int32_t add_roads(assembly *list, int32_t rows) {
  enum { CHAIN = 3 };
  const int32_t n = (int32_t)floor(sqrt(rows / (1 + 2 * CHAIN * 2.0 / 3)));
  int32_t next = n * n;
  for (int32_t i = 0; i < n * n; i++)
    for (int axis = 0; axis < 2; axis++) {
      const int inside = axis ? i / n + 1 < n : i % n + 1 < n;
      if (!inside || chance(i, 53u + (uint32_t)axis) < 1.0 / 3) continue;
      int32_t last = i;
      for (int k = 0; k < CHAIN; k++) {
        add_edge(list, last, next);
        last = next++;
      }
      add_edge(list, last, axis ? i + n : i + 1);
    }
  return next;
}

static int32_t add_tree(assembly *list, int32_t rows, int is_binary) {
  for (int32_t i = 1; i < rows; i++) add_edge(list, i, is_binary ? (i - 1) / 2 : (int32_t)(chance(i, 55u) * i));
  return rows;
}

static int32_t add_hubs(assembly *list, int32_t rows) {
  enum { HUBS = 8, EVERY = 100 };
  const int32_t n = (int32_t)floor(sqrt((double)(rows - HUBS)));
  for (int32_t i = 0; i < n * n; i++) {
    if (i % n + 1 < n) add_edge(list, i, i + 1);
    if (i / n + 1 < n) add_edge(list, i, i + n);
    for (int32_t h = 0; h < HUBS; h++)
      if (chance(i, 56u + (uint32_t)h) < 1.0 / EVERY) add_edge(list, i, n * n + h);
  }
  return n * n + HUBS;
}

static int32_t add_graph(assembly *list, graph_kind kind, int32_t rows) {
  switch (kind) {
  case GRAPH_RMAT:
    return add_rmat(list, rows);
  case GRAPH_BA:
    return add_preferential(list, rows);
  case GRAPH_ROADS:
    return add_roads(list, rows);
  case GRAPH_HUBS:
    return add_hubs(list, rows);
  default:
    return add_tree(list, rows, kind == GRAPH_BINARY);
  }
}

int generate_laplacian(generated_problem *p, graph_kind kind, int32_t rows) {
  assembly list = {0};
  const int32_t count = add_graph(&list, kind, rows);
  for (int32_t i = 0; i < count; i++) assembly_add(&list, i, i, 1e-4);
  return assembly_finish(&list, count, 1, 0, p);
}
