#include "generate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "generate_box.h"
#include "generate_edges.h"
#include "generate_graph.h"
#include "generate_mesh.h"
#include "generate_problem.h"

static uint32_t hash(uint32_t i, uint32_t j) {
  uint64_t h = ((uint64_t)i * UINT64_C(0x100000000) + j) * UINT64_C(0x9e3779b97f4a7c15);
  h = (h ^ (h >> 29)) * UINT64_C(0xbf58476d1ce4e5b9);
  return (uint32_t)(h >> 32);
}

float generated_noise(uint32_t i, uint32_t j) {
  return (float)(hash(i, j) >> 8) * (1.0f / 16777216.0f);
}

const char *generated_name(int index) {
  static const char *const names[] = {"grid", "laplace2d", "laplace3d", "random", "fem3",
                                      "fem4", "powerlaw",  "uneven",    "banded", "denserow"};
  return index >= 0 && index < (int)(sizeof names / sizeof *names) ? names[index] : NULL;
}

int generated_is_name(const char *name) {
  if (!strcmp(name, "lscm") || !strcmp(name, "dsi") || !strcmp(name, "poisson2d") ||
      !strcmp(name, "poisson3d") || generated_is_graph(name) || generated_is_problem(name))
    return 1;
  for (int i = 0; generated_name(i); ++i)
    if (!strcmp(name, generated_name(i))) return 1;
  return 0;
}

static int generate_box(generated_matrix *A, const generated_box *box) {
  int64_t columns[GENERATED_BOX_ENTRIES], entries = 0;
  for (int64_t i = 0; i < box->rows; ++i) entries += generated_box_row(box, i, columns);
  const int failed = generated_allocate(A, (int32_t)box->rows, entries);
  if (failed) return failed;
  int32_t to = 0;
  for (int32_t i = 0; i < A->rows; ++i) {
    A->row_offsets[i] = to;
    const int count = generated_box_row(box, i, columns);
    for (int k = 0; k < count; ++k) A->column_indices[to++] = (int32_t)columns[k];
  }
  A->row_offsets[A->rows] = to;
  generated_fill_values(A);
  return 0;
}

/* The textbook Laplacian: 2 on the diagonal per dimension, and -1 per neighbour. */
static void set_poisson_values(generated_matrix *A, int dimensions) {
  for (int32_t i = 0; i < A->rows; ++i)
    for (int32_t e = A->row_offsets[i]; e < A->row_offsets[i + 1]; ++e)
      A->values[e] = A->column_indices[e] == i ? 2.0f * (float)dimensions : -1.0f;
}

int generated_grows(const char *name) {
  generated_box box;
  return generated_box_find(name, 1, 1, &box) == 0;
}

int generate_grown(generated_matrix *A, const char *name, int32_t rows, int times) {
  memset(A, 0, sizeof *A);
  generated_box box;
  if (generated_box_find(name, rows, times, &box)) return 1;
  if (box.rows > INT32_MAX) return 2;
  const int failed = generate_box(A, &box);
  if (!failed && box.poisson) set_poisson_values(A, box.poisson);
  return failed;
}

/* Every node of the 7-point pattern of a cube has `unknowns` rows, and a full block per neighbour. The last
 * node has the remaining rows. */
static int generate_nodes(generated_matrix *A, int32_t rows, int32_t unknowns) {
  const int32_t nodes = (rows - 1) / unknowns + 1;
  generated_box box;
  int64_t near[GENERATED_BOX_ENTRIES], entries = 0;
  generated_box_find("laplace3d", nodes, 1, &box);
  for (int32_t i = 0; i < nodes; ++i)
    entries += (int64_t)generated_box_row(&box, i, near) * unknowns * unknowns;
  const int failed = generated_allocate(A, rows, entries); /* slightly too many if the last node is cut */
  if (failed) return failed;
  int32_t to = 0;
  A->row_offsets[0] = 0;
  for (int32_t i = 0; i < rows; ++i) {
    const int count = generated_box_row(&box, i / unknowns, near);
    for (int k = 0; k < count; ++k)
      for (int32_t j = (int32_t)near[k] * unknowns; j < (near[k] + 1) * unknowns && j < rows; ++j)
        A->column_indices[to++] = j;
    A->row_offsets[i + 1] = to;
  }
  generated_fill_values(A);
  return 0;
}

/* The number of neighbours that row i requests: 1 to 96, mostly few, four on average. */
static int wanted_neighbours(int32_t i) {
  const double u = (double)generated_noise((uint32_t)i, 0x51ed270bu);
  const int n = (int)(1.0 / (1.0 - 0.995 * pow(u, 0.9)));
  return n < 96 ? n : 96;
}

/* Neighbours chosen by row i; -1 or i stands for none. */
typedef struct picks {
  int (*count)(int32_t i);
  int32_t (*pick)(int32_t i, int k, int32_t rows);
} picks;

static int32_t pick_anywhere(int32_t i, int k, int32_t rows) {
  return (int32_t)(hash((uint32_t)i, (uint32_t)k) % (uint32_t)rows);
}

static int four(int32_t i) {
  (void)i;
  return 4;
}

/* Row j is chosen in proportion to j^-1/2, as in networks that grow by preferential attachment. */
static int32_t pick_popular(int32_t i, int k, int32_t rows) {
  const double u = (double)generated_noise((uint32_t)i, (uint32_t)k);
  return (int32_t)(u * u * rows);
}

/* About every eighth row is long. */
static int one_or_many(int32_t i) {
  const int n = (int)(generated_noise((uint32_t)i, 0x2c1b3c6du) * 512);
  return n < 64 ? n : 1;
}

static int32_t pick_near(int32_t i, int k, int32_t rows) {
  const int32_t j = i - 1000 + (int32_t)(hash((uint32_t)i, (uint32_t)k) % 2001);
  return j < rows ? j : -1;
}

static int sixteen(int32_t i) {
  (void)i;
  return 16;
}

static int32_t pick_before(int32_t i, int k, int32_t rows) {
  (void)rows;
  return i - 1 - k;
}

static int three(int32_t i) {
  (void)i;
  return 3;
}

/* A square grid, and row 0, which is connected with all others. */
static int32_t pick_first(int32_t i, int k, int32_t rows) {
  const int32_t w = (int32_t)ceil(sqrt((double)rows));
  return k == 0 ? 0 : k == 1 ? (i % w ? i - 1 : -1) : i - w;
}

static int generate_picked(generated_matrix *A, int32_t rows, const picks *p) {
  edge_list list = {0};
  int failed = 0;
  for (int32_t i = 0; i < rows && !failed; ++i)
    for (int k = 0, n = p->count(i); k < n && !failed; ++k) failed = edges_add(&list, i, p->pick(i, k, rows));
  failed = failed ? 2 : edges_to_matrix(&list, rows, A);
  edges_free(&list);
  return failed;
}

int generate_matrix(generated_matrix *A, const char *name, int32_t rows) {
  memset(A, 0, sizeof *A);
  if (generated_grows(name)) return generate_grown(A, name, rows, 1);
  static const struct {
    const char *name;
    picks picks;
  } picked[] = {{"random", {wanted_neighbours, pick_anywhere}},
                {"powerlaw", {four, pick_popular}},
                {"uneven", {one_or_many, pick_near}},
                {"banded", {sixteen, pick_before}},
                {"denserow", {three, pick_first}}};
  for (size_t i = 0; i < sizeof picked / sizeof *picked; ++i)
    if (!strcmp(name, picked[i].name)) return generate_picked(A, rows, &picked[i].picks);
  if (!strcmp(name, "fem3")) return generate_nodes(A, rows, 3);
  if (!strcmp(name, "fem4")) return generate_nodes(A, rows, 4);
  if (!strcmp(name, "lscm")) return generate_lscm(A, rows, 1, NULL);
  if (!strcmp(name, "dsi")) return generate_dsi(A, rows);
  if (generated_is_problem(name)) return generate_rounded_problem(A, name, rows);
  return generate_graph(A, name, rows);
}

void generated_free(generated_matrix *A) {
  free(A->row_offsets);
  free(A->column_indices);
  free(A->values);
  memset(A, 0, sizeof *A);
}

ts_csr generated_csr(const generated_matrix *A) {
  return ts_host_csr(A->rows, A->columns, A->row_offsets, A->column_indices, A->values);
}
