/* Orderings: the bandwidth compared with counting, reverse Cuthill-McKee on graphs with a known best bandwidth,
 * and reordered matrices compared with the definition. */
#include <texsolve/reorder.h>

#include "helpers.h"

static int is_order(const int32_t *order, int32_t count) {
  unsigned char *seen = calloc((size_t)count, 1);
  int good = 1;
  for (int32_t k = 0; k < count && good; k++) {
    good = order[k] >= 0 && order[k] < count && !seen[order[k]];
    if (good) seen[order[k]] = 1;
  }
  free(seen);
  return good;
}

static int32_t *random_order(int32_t count, uint64_t seed) {
  ref_random r = {seed};
  int32_t *order = malloc((size_t)count * sizeof *order);
  for (int32_t i = 0; i < count; i++) order[i] = i;
  for (int32_t i = count - 1; i > 0; i--) {
    const int32_t j = ref_below(&r, i + 1), k = order[i];
    order[i] = order[j];
    order[j] = k;
  }
  return order;
}

/* P A P^T by ts_csr_permute. Frees m. */
static ref_matrix permuted(ref_matrix m, const int32_t *order) {
  const size_t entries = (size_t)ref_nonzeros(&m);
  ref_matrix p = {m.rows, m.columns, malloc(((size_t)m.rows + 1) * sizeof(int32_t)),
                  malloc(entries * sizeof(int32_t)), malloc(entries * sizeof(float))};
  const ts_csr csr = ref_csr(&m), result = {.row_offsets = ts_host(p.offsets, (size_t)m.rows + 1),
                                            .column_indices = ts_host(p.indices, entries),
                                            .values = ts_host(p.values, entries)};
  CHECK_OK(NULL, ts_csr_permute(NULL, &csr, order, &result));
  ref_free(&m);
  return p;
}

static ts_bandwidth bandwidth(const ref_matrix *m) {
  const ts_csr csr = ref_csr(m);
  ts_bandwidth b = {.maximum = -1, .mean = -1};
  CHECK_OK(NULL, ts_csr_bandwidth(NULL, &csr, &b));
  return b;
}

/* The matrix in the order of reverse Cuthill-McKee. */
static ref_matrix reordered(ref_matrix m) {
  const ts_csr csr = ref_csr(&m);
  int32_t *order = malloc((size_t)m.rows * sizeof *order);
  CHECK_OK(NULL, ts_reorder_rcm(NULL, &csr, order));
  CHECK(is_order(order, m.rows));
  ref_matrix p = permuted(m, order);
  free(order);
  return p;
}

static ref_matrix shuffled(ref_matrix m, uint64_t seed) {
  int32_t *order = random_order(m.rows, seed);
  ref_matrix p = permuted(m, order);
  free(order);
  return p;
}

static void bandwidths(void) {
  ref_matrix m = ref_skew(9);
  CHECK_INT(bandwidth(&m).maximum, 1);
  CHECK_CLOSE(bandwidth(&m).mean, 1, 0);
  ref_free(&m);
  m = ref_cyclic_shift(10); /* nine of 1, one of 9 */
  CHECK_INT(bandwidth(&m).maximum, 9);
  CHECK_CLOSE(bandwidth(&m).mean, 1.8, 1e-12);
  ref_free(&m);
  m = ref_dense(3, 5, 1); /* not square: 0 1 2 3 4, 1 0 1 2 3, 2 1 0 1 2 */
  CHECK_INT(bandwidth(&m).maximum, 4);
  CHECK_CLOSE(bandwidth(&m).mean, 23.0 / 15, 1e-12);
  ref_free(&m);
  m = ref_gaps(1, 1, 1);
  CHECK_INT(bandwidth(&m).maximum, 0);
  ref_free(&m);
}

static void permutation(void) {
  ref_matrix m = ref_random_dominant(60, 9, 5), dense = ref_random_dominant(60, 9, 5);
  int32_t *order = random_order(60, 3);
  double *a = calloc(3600, sizeof *a);
  for (int32_t i = 0; i < 60; i++)
    for (int32_t k = dense.offsets[i]; k < dense.offsets[i + 1]; k++)
      a[60 * i + dense.indices[k]] = dense.values[k];
  ref_matrix p = permuted(m, order);
  CHECK_INT(ref_nonzeros(&p), ref_nonzeros(&dense));
  for (int32_t i = 0; i < 60; i++)
    for (int32_t k = p.offsets[i]; k < p.offsets[i + 1]; k++) {
      CHECK(p.values[k] == (float)a[60 * order[i] + order[p.indices[k]]]);
      CHECK(k == p.offsets[i] || p.indices[k] > p.indices[k - 1]);
    }
  free(a), free(order);
  ref_free(&p);
  ref_free(&dense);
}

/* A path, a grid and a cube in random order are restored to their best bandwidth, or close to it. */
static void known_graphs(void) {
  ref_matrix m = reordered(shuffled(ref_skew(500), 7));
  CHECK_INT(bandwidth(&m).maximum, 1);
  ref_free(&m);
  m = reordered(shuffled(ref_cyclic_shift(501), 7)); /* a ring: 2; its pattern is unsymmetric */
  CHECK_INT(bandwidth(&m).maximum, 2);
  ref_free(&m);
  m = shuffled(ref_convection(40, 12, 1), 9);
  CHECK(bandwidth(&m).mean > 100);
  m = reordered(m);
  CHECK(bandwidth(&m).maximum <= 12 + 2 && bandwidth(&m).mean < 12);
  ref_free(&m);
  m = reordered(shuffled(ref_laplacian_3d(10), 9));
  CHECK(bandwidth(&m).maximum <= 120);
  ref_free(&m);
}

/* Every connected part of a graph stays together, for any number of parts, including single vertices. */
static void parts(void) {
  ref_matrix m = ref_diagonal(100, 1, 2);
  m = reordered(m);
  CHECK_INT(bandwidth(&m).maximum, 0);
  ref_free(&m);
  /* Every tenth link of a path is missing. */
  m = ref_skew(200);
  for (int64_t k = 0; k < ref_nonzeros(&m); k++) m.values[k] = 1;
  int32_t kept = 0;
  for (int32_t i = 0; i < 200; i++) {
    const int32_t first = m.offsets[i], end = m.offsets[i + 1];
    m.offsets[i] = kept;
    for (int32_t k = first; k < end; k++)
      if (m.indices[k] / 10 == i / 10) m.indices[kept++] = m.indices[k];
  }
  m.offsets[200] = kept;
  m = reordered(shuffled(m, 4));
  CHECK_INT(bandwidth(&m).maximum, 1);
  ref_free(&m);
  /* Empty rows, and a full row. */
  m = reordered(ref_gaps(300, 300, 13));
  ref_free(&m);
  m = reordered(ref_arrow(300));
  CHECK(bandwidth(&m).maximum >= 150);
  ref_free(&m);
  m = reordered(ref_dense(40, 40, 3)); /* degrees above the number of vertices */
  CHECK_INT(bandwidth(&m).maximum, 39);
  ref_free(&m);
}

/* Doubles keep their bits, floats become doubles, and both are placed like floats. */
static void doubles(void) {
  ref_matrix m = ref_random_spd(301, 9, 4);
  const size_t entries = (size_t)ref_nonzeros(&m);
  int32_t *order = random_order(m.rows, 3), *offsets = malloc((size_t)(m.rows + 1) * sizeof *offsets),
          *columns = malloc(entries * sizeof *columns);
  double *values = ref_doubles(entries, 1, -1, 1), *found = malloc(entries * sizeof *found);
  for (size_t k = 0; k < entries; k++) m.values[k] = (float)values[k];
  for (int kind = 0; kind < 2; kind++) {
    ts_csr csr = ref_csr(&m);
    if (kind) csr.values = ts_host(values, csr.column_indices.count);
    ts_csr result = {.row_offsets = ts_host(offsets, (size_t)m.rows + 1),
                     .column_indices = ts_host(columns, entries),
                     .values = ts_host(found, entries)};
    CHECK_OK(NULL, ts_csr_permute(NULL, &csr, order, &result));
    for (int32_t i = 0; i < m.rows; i++)
      for (int32_t k = offsets[i]; k < offsets[i + 1]; k++) {
        int32_t from = m.offsets[order[i]];
        while (from < m.offsets[order[i] + 1] && m.indices[from] != order[columns[k]]) from++;
        if (!CHECK(k == offsets[i] || columns[k - 1] < columns[k])) break;
        if (!CHECK_CLOSE(found[k], kind ? values[from] : (double)m.values[from], 0)) break;
      }
    result.values = (ts_array){0};
    CHECK_FAILS(NULL, ts_csr_permute(NULL, &csr, order, &result), TS_ERROR_INVALID_ARGUMENT, "result.values");
  }
  free(order), free(offsets), free(columns), free(values), free(found);
  ref_free(&m);
}

static void errors(void) {
  ref_matrix m = ref_skew(4), wide = ref_dense(2, 3, 1);
  ts_csr csr = ref_csr(&m), no_square = ref_csr(&wide);
  int32_t order[4] = {0, 1, 2, 3}, offsets[5], columns[6];
  float values[6];
  ts_csr result = {.row_offsets = HOST(offsets), .column_indices = HOST(columns), .values = HOST(values)};
  ts_bandwidth b;
  CHECK_FAILS(NULL, ts_csr_bandwidth(NULL, NULL, &b), TS_ERROR_INVALID_ARGUMENT, "csr");
  CHECK_FAILS(NULL, ts_csr_bandwidth(NULL, &csr, NULL), TS_ERROR_INVALID_ARGUMENT, "bandwidth");
  CHECK_FAILS(NULL, ts_reorder_rcm(NULL, &no_square, order), TS_ERROR_INVALID_ARGUMENT, "2 x 3");
  CHECK_FAILS(NULL, ts_reorder_rcm(NULL, &csr, NULL), TS_ERROR_INVALID_ARGUMENT, "order");
  CHECK_FAILS(NULL, ts_csr_permute(NULL, &no_square, order, &result), TS_ERROR_INVALID_ARGUMENT, "2 x 3");
  order[2] = 1;
  CHECK_FAILS(NULL, ts_csr_permute(NULL, &csr, order, &result), TS_ERROR_INVALID_ARGUMENT,
              "order[1] and order[2] are both 1");
  order[2] = 4;
  CHECK_FAILS(NULL, ts_csr_permute(NULL, &csr, order, &result), TS_ERROR_INVALID_ARGUMENT, "order[2] is 4");
  order[2] = 2;
  result.values = (ts_array){0};
  CHECK_FAILS(NULL, ts_csr_permute(NULL, &csr, order, &result), TS_ERROR_INVALID_ARGUMENT, "result.values");
  result.values = ts_host((const float *)values, 6);
  CHECK_FAILS(NULL, ts_csr_permute(NULL, &csr, order, &result), TS_ERROR_INVALID_ARGUMENT, "result.values",
              "pointer to const");
  result.values = HOST(values);
  result.row_offsets.count = 4;
  CHECK_FAILS(NULL, ts_csr_permute(NULL, &csr, order, &result), TS_ERROR_INVALID_ARGUMENT,
              "result.row_offsets has 4 numbers", "5");
  result.row_offsets.count = 5;
  m.indices[1] = 4;
  CHECK_FAILS(NULL, ts_reorder_rcm(NULL, &csr, order), TS_ERROR_INVALID_ARGUMENT, "in row 1 is 4");
  m.indices[1] = 0;
  m.offsets[2] = 9;
  CHECK_FAILS(NULL, ts_csr_bandwidth(NULL, &csr, &b), TS_ERROR_INVALID_ARGUMENT, "row_offsets[3]");
  m.offsets[0] = 1;
  CHECK_FAILS(NULL, ts_csr_bandwidth(NULL, &csr, &b), TS_ERROR_INVALID_ARGUMENT, "row_offsets[0] is 1");
  csr.row_offsets.data = NULL;
  CHECK_FAILS(NULL, ts_csr_bandwidth(NULL, &csr, &b), TS_ERROR_INVALID_ARGUMENT, "NULL");
  ref_free(&m);
  ref_free(&wide);
}

TEST_MAIN_ON_HOST(CASES(bandwidths, permutation, known_graphs, parts, doubles, errors))
