#include "lcp_graphs.h"

#include "common/core/core.h"
#include "helpers.h"

ts_csr lcp_csr_of(const double *matrix, int32_t rows, int32_t columns) {
  const size_t all = (size_t)rows * (size_t)columns;
  int32_t count = 0, *offsets = calloc((size_t)rows + 1, sizeof *offsets), *indices;
  for (size_t k = 0; k < all; k++) count += matrix[k] != 0;
  indices = calloc((size_t)count + 1, sizeof *indices);
  double *values = calloc((size_t)count + 1, sizeof *values);
  count = 0;
  for (int32_t i = 0; i < rows; i++) {
    for (int32_t j = 0; j < columns; j++) {
      const double value = matrix[(size_t)i * (size_t)columns + (size_t)j];
      if (value != 0) indices[count] = j, values[count++] = value;
    }
    offsets[i + 1] = count;
  }
  return ts_host_csr(rows, columns, offsets, indices, values);
}

void lcp_csr_free(ts_csr *csr) {
  free(csr->row_offsets.data);
  free(csr->column_indices.data);
  free(csr->values.data);
  *csr = (ts_csr){0};
}

static int32_t count_rows(int dimension, int32_t pairs) {
  int32_t contacts = 0;
  for (int32_t p = 0; p < pairs; p++) contacts += 1 + p % 3;
  return contacts * dimension;
}

static void fill_jacobian(lcp_graph *g, int32_t pairs, unsigned seed) {
  ref_random random = {seed};
  const size_t block = (size_t)g->mass_block, columns = (size_t)g->bodies * block;
  size_t row = 0;
  for (int32_t problem = 0; problem < g->batch; problem++)
    for (int32_t p = 0; p < pairs; p++) {
      const size_t first = (size_t)p + 1, second = p % 7 == 0 ? 0 : (size_t)(p % 3 ? p + 2 : p + 3);
      for (int32_t k = 0; k < (1 + p % 3) * g->dimension; k++, row++)
        for (size_t c = 0; c < block; c++) {
          g->H[row * columns + first * block + c] = (double)ref_uniform(&random, -1, 1);
          g->H[row * columns + second * block + c] = (double)ref_uniform(&random, -1, 1);
        }
    }
}

/* Diagonally dominant. The mass of the first body is 0. */
static void fill_mass(lcp_graph *g, unsigned seed) {
  ref_random random = {seed};
  const int32_t block = g->mass_block;
  for (int32_t b = 1; b < g->bodies; b++)
    for (int32_t i = 0; i < block; i++)
      for (int32_t j = 0; j <= i; j++) {
        double *m = g->mass + (size_t)b * (size_t)block * (size_t)block;
        const double value = (double)ref_uniform(&random, -0.1F, 0.1F) + (i == j);
        m[i * block + j] = m[j * block + i] = value;
      }
}

static double entry_of(const lcp_graph *g, size_t i, size_t j) {
  const size_t block = (size_t)g->mass_block, columns = (size_t)g->bodies * block;
  const double *a = g->H + i * columns, *b = g->H + j * columns;
  double sum = 0;
  for (size_t c = 0; c < columns; c++)
    for (size_t k = 0; k < block && a[c] != 0; k++)
      sum += a[c] * g->mass[c * block + k] * b[c / block * block + k];
  return sum;
}

static void fill_matrix(lcp_graph *g) {
  const size_t n = (size_t)g->n, rows = n * (size_t)g->batch;
  double *all = calloc(rows * rows, sizeof *all);
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < n; j++) {
      const size_t column = i / n * n + j;
      g->matrix[i * n + j] = all[i * rows + column] = entry_of(g, i, column);
    }
  g->sparse = lcp_csr_of(all, (int32_t)rows, (int32_t)rows);
  free(all);
}

lcp_graph lcp_graph_make(int dimension, int32_t pairs, int32_t batch, unsigned seed) {
  lcp_graph g = {.dimension = dimension, .n = count_rows(dimension, pairs), .batch = batch};
  g.mass_block = dimension == 1 ? 2 : 3 * (dimension - 1);
  g.bodies = pairs + 3;
  const size_t rows = (size_t)g.n * (size_t)batch, columns = (size_t)g.bodies * (size_t)g.mass_block;
  g.H = calloc(rows * columns, sizeof *g.H);
  g.mass = calloc(columns * (size_t)g.mass_block, sizeof *g.mass);
  g.matrix = calloc(rows * (size_t)g.n, sizeof *g.matrix);
  g.friction = ref_doubles(rows / (size_t)dimension, seed + 3, 0, 0.6);
  g.q = calloc(rows, sizeof *g.q);
  fill_jacobian(&g, pairs, seed);
  fill_mass(&g, seed + 1);
  fill_matrix(&g);
  g.jacobian = lcp_csr_of(g.H, (int32_t)rows, (int32_t)columns);
  double *velocity = ref_doubles(columns, seed + 2, -1, 1);
  for (size_t i = 0; i < rows; i++)
    for (size_t c = 0; c < columns; c++) g.q[i] += g.H[i * columns + c] * velocity[c];
  for (size_t i = 0; i < rows; i++) g.q[i] = (double)(float)g.q[i];
  free(velocity);
  return g;
}

void lcp_graph_free(lcp_graph *g) {
  free(g->H), free(g->mass), free(g->matrix), free(g->q), free(g->friction);
  lcp_csr_free(&g->jacobian);
  lcp_csr_free(&g->sparse);
  *g = (lcp_graph){0};
}

ts_lcp_desc lcp_graph_desc(const lcp_graph *g, lcp_graph_form form, ts_lcp_storage storage,
                           ts_precision precision) {
  const size_t rows = (size_t)g->n * (size_t)g->batch;
  ts_lcp_desc desc = {
      .size = g->n, .batch = g->batch, .dimension = g->dimension, .storage = storage, .precision = precision};
  if (g->dimension > 1) desc.friction = ts_host(g->friction, rows / (size_t)g->dimension);
  if (form == LCP_GRAPH_FACTORS)
    desc.jacobian = &g->jacobian, desc.mass_block = g->mass_block,
    desc.inverse_mass = ts_host(g->mass, (size_t)(g->bodies * g->mass_block * g->mass_block));
  else if (form == LCP_GRAPH_BLOCKS)
    desc.sparse_matrix = &g->sparse;
  else
    desc.matrix = ts_host(g->matrix, rows * (size_t)g->n);
  return desc;
}
