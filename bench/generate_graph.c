#include "generate_graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "generate_edges.h"

/* ---- R-MAT: recursive matrices (Chakrabarti, Zhan and Faloutsos 2004), parameters of Graph 500 ---- */

enum { RMAT_EDGES_A_ROW = 16 };

/* Chooses each bit of both ends together: the quadrants have the probabilities 0.57, 0.19, 0.19 and 0.05. */
static void rmat_edge(int64_t k, int levels, int32_t edge[2]) {
  edge[0] = edge[1] = 0;
  for (int level = 0; level < levels; ++level) {
    const float u = generated_noise((uint32_t)k, (uint32_t)(level + 64 * (int)(k >> 32)));
    edge[0] = 2 * edge[0] + (u >= 0.76f);
    edge[1] = 2 * edge[1] + (u >= 0.95f || (u >= 0.57f && u < 0.76f));
  }
}

static int rmat(edge_list *list, int32_t rows) {
  int levels = 0;
  while (levels < 31 && (int64_t)1 << levels < rows) ++levels;
  for (int64_t k = 0; k < (int64_t)RMAT_EDGES_A_ROW * rows; ++k) {
    int32_t edge[2];
    rmat_edge(k, levels, edge);
    if (edge[0] < rows && edge[1] < rows && edges_add(list, edge[0], edge[1])) return 1;
  }
  return 0;
}

/* ---- Delaunay triangulations of random points, one per grid cell ---- */

/* A cell of the Voronoi diagram, as a polygon around its point. Points are neighbours in the triangulation if
 * their cells share a side. */
typedef struct polygon {
  int count;
  double x[32], y[32];
  int32_t owner[32]; /* the point across the side that begins here; -1: the frame */
} polygon;

typedef struct point_grid {
  int32_t wide, points;
} point_grid;

static void point_of(const point_grid *g, int32_t point, double *x, double *y) {
  *x = point % g->wide + (double)generated_noise((uint32_t)point, 21u);
  *y = point / g->wide + (double)generated_noise((uint32_t)point, 22u); /* NOLINT(bugprone-integer-division) */
}

/* Keeps the part nearer to the origin than to the point (x, y). */
static void clip(polygon *p, double x, double y, int32_t owner) {
  const double half = (x * x + y * y) / 2;
  polygon kept = {.count = 0};
  for (int i = 0; i < p->count; ++i) {
    const int j = (i + 1) % p->count;
    const double here = half - x * p->x[i] - y * p->y[i], next = half - x * p->x[j] - y * p->y[j];
    if (here >= 0) {
      kept.x[kept.count] = p->x[i], kept.y[kept.count] = p->y[i];
      kept.owner[kept.count++] = p->owner[i];
    }
    if (here >= 0 ? next >= 0 : next < 0) continue;
    const double t = here / (here - next);
    kept.x[kept.count] = p->x[i] + t * (p->x[j] - p->x[i]);
    kept.y[kept.count] = p->y[i] + t * (p->y[j] - p->y[i]);
    kept.owner[kept.count++] = here >= 0 ? owner : p->owner[i];
  }
  *p = kept;
}

/* Points more than four cells away are not neighbours, except for some along the border, which are ignored. */
static void voronoi_cell(const point_grid *g, int32_t point, polygon *p) {
  enum { REACH = 4 };
  static const double frame = REACH;
  double x, y;
  *p = (polygon){4, {-frame, frame, frame, -frame}, {-frame, -frame, frame, frame}, {-1, -1, -1, -1}};
  point_of(g, point, &x, &y);
  const int32_t column = point % g->wide;
  for (int32_t ring = 1; ring <= REACH; ++ring)
    for (int32_t dy = -ring; dy <= ring; ++dy)
      for (int32_t dx = -ring; dx <= ring; dx += dy == -ring || dy == ring ? 1 : 2 * ring) {
        const int64_t other = (int64_t)point + (int64_t)dy * g->wide + dx;
        if (column + dx < 0 || column + dx >= g->wide || other < 0 || other >= g->points) continue;
        double there_x, there_y;
        point_of(g, (int32_t)other, &there_x, &there_y);
        if (p->count < 30) clip(p, there_x - x, there_y - y, (int32_t)other);
      }
}

/* Numbers points randomly within strips of `lines` lines, like a program that processes them in arrival
 * order. */
static void shuffle(const point_grid *g, int32_t lines, int32_t *number) {
  const int64_t strip = (int64_t)g->wide * lines;
  for (int32_t i = 0; i < g->points; ++i) number[i] = i;
  for (int64_t first = 0; first < g->points; first += strip) {
    const int64_t count = g->points - first < strip ? g->points - first : strip;
    for (int64_t i = count - 1; i > 0; --i) {
      const int64_t j = (int64_t)((double)generated_noise((uint32_t)(first + i), 23u) * (double)(i + 1));
      const int32_t other = number[first + j];
      number[first + j] = number[first + i];
      number[first + i] = other;
    }
  }
}

static int delaunay(edge_list *list, int32_t rows) {
  enum { LINES_A_STRIP = 16 };
  const point_grid g = {(int32_t)ceil(sqrt((double)rows)), rows};
  int32_t *number = malloc((size_t)rows * sizeof *number);
  if (!number) return 1;
  shuffle(&g, LINES_A_STRIP, number);
  int failed = 0;
  for (int32_t i = 0; i < rows && !failed; ++i) {
    polygon p;
    voronoi_cell(&g, i, &p);
    for (int k = 0; k < p.count && !failed; ++k)
      if (p.owner[k] >= 0) failed = edges_add(list, number[i], number[p.owner[k]]);
  }
  free(number);
  return failed;
}

/* ---- Names ---- */

static const struct {
  const char *name;
  int (*generate)(edge_list *list, int32_t rows);
} graphs[] = {{"delaunay", delaunay}, {"rmat", rmat}};
enum { GRAPHS = sizeof graphs / sizeof *graphs };

int generated_is_graph(const char *name) {
  for (int i = 0; i < GRAPHS; ++i)
    if (!strcmp(name, graphs[i].name)) return 1;
  return 0;
}

int generate_graph(generated_matrix *A, const char *name, int32_t rows) {
  for (int i = 0; i < GRAPHS; ++i)
    if (!strcmp(name, graphs[i].name)) {
      edge_list list = {0};
      const int failed = graphs[i].generate(&list, rows) ? 2 : edges_to_matrix(&list, rows, A);
      edges_free(&list);
      return failed;
    }
  return 1;
}
