/* The matrix of a heat flow step on a surface, as a Matrix Market file on standard output:
 *
 *   mesh-matrix MESH T >A.mtx
 *
 * M + t L with the cotangent Laplacian L (Pinkall and Polthier 1993) and vertex areas M, a third of the
 * vertex's triangles each. t is T times the mean area. The matrix is divided by that mean, so that numbers are
 * about 1. MESH is a file (OBJ, PLY, OFF, STL) or a name for mesh_generate, such as "torus:50000". Vertices
 * without triangles are omitted. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "mesh_file.h"
#include "mesh_generate.h"
#include "mesh_repair.h"

/* An edge of a triangle, with half the cotangent of the opposite angle. */
typedef struct edge {
  int32_t low, high;
  double weight;
} edge;

typedef struct laplacian {
  edge *edges; /* sorted, with duplicates added */
  size_t count;
  double *areas, *diagonal; /* per vertex; the diagonal of L */
  int32_t *numbers;         /* number of each vertex in the matrix, from 1; 0: not in a triangle */
  int32_t rows;
} laplacian;

static int by_place(const void *a, const void *b) {
  const edge *x = a, *y = b;
  if (x->low != y->low) return x->low < y->low ? -1 : 1;
  return (x->high > y->high) - (x->high < y->high);
}

/* The dot product and the length of the cross product of the vectors from corner k to the other two. */
static void corner(const mesh *m, const int32_t *triangle, int k, double *dot, double *cross) {
  const double *p = m->positions + 3 * (size_t)triangle[k],
               *q = m->positions + 3 * (size_t)triangle[(k + 1) % 3],
               *r = m->positions + 3 * (size_t)triangle[(k + 2) % 3];
  double squares = 0;
  *dot = 0;
  for (int c = 0; c < 3; c++) {
    const int d = (c + 1) % 3;
    const double normal = (q[c] - p[c]) * (r[d] - p[d]) - (q[d] - p[d]) * (r[c] - p[c]);
    *dot += (q[c] - p[c]) * (r[c] - p[c]);
    squares += normal * normal;
  }
  *cross = sqrt(squares);
}

/* A triangle without area has no angles, but still connects its vertices. */
static void add_triangle(laplacian *l, const mesh *m, const int32_t *triangle) {
  for (int k = 0; k < 3; k++) {
    const int32_t a = triangle[(k + 1) % 3], b = triangle[(k + 2) % 3];
    double dot, cross;
    corner(m, triangle, k, &dot, &cross);
    l->edges[l->count++] = (edge){a < b ? a : b, a < b ? b : a, cross > 0 ? 0.5 * dot / cross : 0};
    l->areas[triangle[k]] += cross / 6;
    l->numbers[triangle[k]] = 1;
  }
}

static void merge_edges(laplacian *l) {
  size_t to = 0;
  qsort(l->edges, l->count, sizeof *l->edges, by_place);
  for (size_t k = 1; k < l->count; k++)
    if (by_place(&l->edges[to], &l->edges[k]) == 0)
      l->edges[to].weight += l->edges[k].weight;
    else
      l->edges[++to] = l->edges[k];
  l->count = l->count ? to + 1 : 0;
}

static int make_laplacian(laplacian *l, const mesh *m) {
  const size_t vertices = (size_t)m->vertex_count;
  l->edges = malloc((3 * (size_t)m->triangle_count + 1) * sizeof *l->edges);
  l->areas = calloc(vertices + 1, sizeof *l->areas);
  l->diagonal = calloc(vertices + 1, sizeof *l->diagonal);
  l->numbers = calloc(vertices + 1, sizeof *l->numbers);
  if (!l->edges || !l->areas || !l->diagonal || !l->numbers) return 1;
  for (size_t t = 0; t < (size_t)m->triangle_count; t++) add_triangle(l, m, m->triangles + 3 * t);
  merge_edges(l);
  for (size_t k = 0; k < l->count; k++) {
    l->diagonal[l->edges[k].low] += l->edges[k].weight;
    l->diagonal[l->edges[k].high] += l->edges[k].weight;
  }
  for (size_t v = 0; v < vertices; v++)
    if (l->numbers[v]) l->numbers[v] = ++l->rows;
  return 0;
}

static void laplacian_free(laplacian *l) {
  free(l->edges);
  free(l->areas);
  free(l->diagonal);
  free(l->numbers);
}

/* The lower triangle. */
static void write_matrix(const laplacian *l, int32_t vertices, double step) {
  double total = 0;
  for (int32_t v = 0; v < vertices; v++) total += l->areas[v];
  const double mean = total / l->rows;
  printf("%%%%MatrixMarket matrix coordinate real symmetric\n%d %d %zu\n", l->rows, l->rows,
         l->count + (size_t)l->rows);
  for (int32_t v = 0; v < vertices; v++)
    if (l->numbers[v])
      printf("%d %d %.17g\n", l->numbers[v], l->numbers[v], l->areas[v] / mean + step * l->diagonal[v]);
  for (size_t k = 0; k < l->count; k++)
    printf("%d %d %.17g\n", l->numbers[l->edges[k].high], l->numbers[l->edges[k].low],
           -step * l->edges[k].weight);
}

static int load(const char *name, mesh *m, char message[MESH_MESSAGE]) {
  const mesh_repair_options options = {0};
  mesh_file_report file;
  mesh_repair_report repair;
  const int is_file = mesh_format_of(name) != MESH_FORMATS;
  if (is_file ? mesh_file_read(name, m, &file, message) : mesh_generate(name, m, message)) return 1;
  return mesh_repair(m, &options, &repair, NULL, message);
}

int main(int argc, char **argv) {
  mesh m = {0};
  laplacian l = {0};
  char message[MESH_MESSAGE], *end = NULL;
  const double step = argc == 3 ? strtod(argv[2], &end) : 0;
  if (argc != 3 || *end || !(step > 0 && isfinite(step))) {
    fputs("usage: mesh-matrix MESH T >A.mtx\n", stderr);
    return 2;
  }
  int failed = load(argv[1], &m, message);
  if (failed) fprintf(stderr, "mesh-matrix: %s\n", message);
  if (!failed && make_laplacian(&l, &m)) {
    fputs("mesh-matrix: out of memory\n", stderr);
    failed = 1;
  }
  if (!failed) write_matrix(&l, m.vertex_count, step);
  laplacian_free(&l);
  mesh_destroy(&m);
  if (fflush(stdout) != EOF && !ferror(stdout)) return failed;
  fputs("mesh-matrix: writing to standard output failed\n", stderr);
  return 1;
}
