#include "generate_problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "generate_mesh.h"

int generated_problem_allocate(generated_problem *p, int32_t rows, int64_t entries, int unknowns,
                               int dimensions) {
  const size_t numbers = (size_t)(rows / unknowns) * (size_t)dimensions;
  *p = (generated_problem){.rows = rows, .unknowns = unknowns, .dimensions = dimensions};
  if (entries > INT32_MAX) return 2;
  p->row_offsets = malloc(((size_t)rows + 1) * sizeof *p->row_offsets);
  p->column_indices = malloc((size_t)entries * sizeof *p->column_indices);
  p->values = calloc((size_t)entries, sizeof *p->values);
  p->coordinates = numbers ? malloc(numbers * sizeof *p->coordinates) : NULL;
  if (p->row_offsets && p->column_indices && p->values && (p->coordinates || !numbers)) {
    p->row_offsets[0] = 0;
    return 0;
  }
  generated_problem_free(p);
  return 2;
}

void generated_problem_free(generated_problem *p) {
  free(p->row_offsets);
  free(p->column_indices);
  free(p->values);
  free(p->coordinates);
  free(p->near_null);
  *p = (generated_problem){0};
}

/* ---- -div c grad u on a square or cube, u = 0 around it ---- */

/* `rows` cells; the last layer may be partly filled. */
typedef struct box {
  int32_t rows, side;
  int dimensions, jumps;
} box;

static double cell_coefficient(int32_t i) {
  return generated_noise((uint32_t)i, 17u) < 0.5f ? 1 : 1e6;
}

/* The coefficient of the face between a cell and its neighbour along an axis. Outside the box the cell's
 * coefficient continues. */
static double face_coefficient(const box *b, int32_t cell, int64_t neighbour, int is_inside, int axis) {
  if (!b->jumps) return axis == b->dimensions - 1 ? 1000 : 1;
  const double here = cell_coefficient(cell), there = is_inside ? cell_coefficient((int32_t)neighbour) : here;
  return 2 * here * there / (here + there);
}

static int64_t stride(const box *b, int axis) {
  return axis == 0 ? 1 : axis == 1 ? b->side : (int64_t)b->side * b->side;
}

static void add_entry(generated_problem *p, int32_t column, double value) {
  const int32_t at = p->row_offsets[p->rows]++;
  p->column_indices[at] = column;
  p->values[at] = value;
}

/* Columns ascend: neighbours below along the last axis first, the diagonal, then those above. */
static void add_cell(const box *b, generated_problem *p, int32_t cell) {
  int32_t diagonal_at = 0;
  double sum = 0;
  for (int k = 0; k < 2 * b->dimensions; k++) {
    const int above = k >= b->dimensions, axis = above ? k - b->dimensions : b->dimensions - 1 - k;
    const int64_t step = stride(b, axis), place = cell / step % b->side;
    const int64_t neighbour = cell + (above ? step : -step);
    const int is_inside = above ? place < b->side - 1 && neighbour < b->rows : place > 0;
    const double c = face_coefficient(b, cell, neighbour, is_inside, axis);
    if (k == b->dimensions) {
      diagonal_at = p->row_offsets[p->rows];
      add_entry(p, cell, 0);
    }
    if (is_inside) add_entry(p, (int32_t)neighbour, -c);
    sum += c;
  }
  p->values[diagonal_at] = sum;
}

static int generate_box(generated_problem *p, int32_t rows, int dimensions, int jumps) {
  const double n = (double)rows;
  const box b = {rows, (int32_t)ceil((dimensions == 2 ? sqrt(n) : cbrt(n)) - 1e-9), dimensions, jumps};
  const int failed = generated_problem_allocate(p, rows, (2 * (int64_t)dimensions + 1) * rows, 1, 0);
  if (failed) return failed;
  /* The last offset counts the entries. */
  p->row_offsets[rows] = 0;
  for (int32_t i = 0; i < rows; i++) {
    p->row_offsets[i] = p->row_offsets[rows];
    add_cell(&b, p, i);
  }
  return 0;
}

/* ---- By name ---- */

static const struct {
  const char *name;
  int dimensions, jumps;
} boxes[] = {{"anisotropic2d", 2, 0}, {"anisotropic3d", 3, 0}, {"jumps2d", 2, 1}, {"jumps3d", 3, 1}};

enum { BOXES = sizeof boxes / sizeof *boxes };

int generated_is_problem(const char *name) {
  for (int i = 0; i < BOXES; i++)
    if (!strcmp(name, boxes[i].name)) return 1;
  return !strcmp(name, "cantilever");
}

/* Converts a matrix that is generated in single precision. */
static int widen(generated_problem *p, const char *name, int32_t rows) {
  generated_matrix A;
  const int failed = generate_matrix(&A, name, rows);
  if (failed) return failed;
  const size_t entries = (size_t)A.row_offsets[A.rows];
  *p = (generated_problem){.rows = A.rows,
                           .row_offsets = A.row_offsets,
                           .column_indices = A.column_indices,
                           .values = calloc(entries + 1, sizeof *p->values),
                           .unknowns = 1};
  for (size_t k = 0; p->values && k < entries; k++) p->values[k] = (double)A.values[k];
  free(A.values);
  if (p->values) return 0;
  generated_problem_free(p);
  return 2;
}

/* A node is a vertex of the map. An odd number of rows would end in half a node, which is left out: otherwise
 * rows would be nodes, and for 19999 rows AMG takes 971 iterations instead of 67. */
static int generate_conformal(generated_problem *p, int32_t rows) {
  rows -= rows % 2;
  const int failed = widen(p, "lscm", rows);
  if (failed) return failed;
  p->unknowns = 2;
  p->vectors = GENERATED_LSCM_VECTORS;
  p->near_null = malloc((size_t)rows * GENERATED_LSCM_VECTORS * sizeof *p->near_null);
  if (!p->near_null) {
    generated_problem_free(p);
    return 2;
  }
  generate_lscm_near_null(rows, p->near_null);
  return 0;
}

int generate_problem(generated_problem *p, const char *name, int32_t rows) {
  *p = (generated_problem){0};
  for (int i = 0; i < BOXES; i++)
    if (!strcmp(name, boxes[i].name)) return generate_box(p, rows, boxes[i].dimensions, boxes[i].jumps);
  if (!strcmp(name, "lscm")) return generate_conformal(p, rows);
  return strcmp(name, "cantilever") ? widen(p, name, rows) : generate_cantilever(p, rows);
}

int generate_rounded_problem(generated_matrix *A, const char *name, int32_t rows) {
  generated_problem p;
  const int failed = generate_problem(&p, name, rows);
  if (failed) return failed;
  const size_t entries = (size_t)p.row_offsets[p.rows];
  *A = (generated_matrix){p.rows, p.rows, p.row_offsets, p.column_indices,
                          malloc((entries + 1) * sizeof(float))};
  for (size_t k = 0; A->values && k < entries; k++) A->values[k] = (float)p.values[k];
  free(p.values);
  free(p.coordinates);
  if (A->values) return 0;
  generated_free(A);
  return 2;
}
