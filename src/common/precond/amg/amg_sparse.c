/* Products of sparse matrices, row by row (Gustavson 1978, "Two fast algorithms for sparse matrices").
 *
 * Each entry is a sum in double in the order of the columns of the left factor, rounded to a float once. */
#include <string.h>

#include "amg.h"

ts_status tsi_amg_csr_create(ts_context *context, int32_t rows, int32_t columns, int64_t entries,
                             tsi_amg_csr *A) {
  *A = (tsi_amg_csr){.rows = rows, .columns = columns};
  if (entries > INT32_MAX)
    return tsi_fail(context, TS_ERROR_LIMIT, "a matrix of a level of amg has %lld entries; the most are %d",
                    (long long)entries, INT32_MAX);
  A->offsets = tsi_malloc(context, (size_t)rows + 1, sizeof *A->offsets);
  A->indices = tsi_malloc(context, (size_t)entries, sizeof *A->indices);
  A->values = tsi_malloc(context, (size_t)entries, sizeof *A->values);
  if (A->offsets && A->indices && A->values) return TS_OK;
  tsi_amg_csr_free(context, A);
  return tsi_out_of_memory(context, "a level of amg",
                           (size_t)entries * (sizeof *A->indices + sizeof *A->values));
}

void tsi_amg_csr_free(ts_context *context, tsi_amg_csr *A) {
  tsi_free(context, A->offsets);
  tsi_free(context, A->indices);
  tsi_free(context, A->values);
  *A = (tsi_amg_csr){0};
}

/* ---- Transposition ---- */

ts_status tsi_amg_transpose(ts_context *context, const tsi_amg_csr *A, tsi_amg_csr *T) {
  const int32_t entries = A->offsets[A->rows];
  if (!T->offsets) TSI_TRY(tsi_amg_csr_create(context, A->columns, A->rows, entries, T));
  int32_t *at = tsi_malloc(context, (size_t)T->rows + 2, sizeof *at);
  if (!at) return tsi_out_of_memory(context, "a level of amg", (size_t)T->rows * sizeof *at);
  memset(at, 0, ((size_t)T->rows + 2) * sizeof *at);
  for (int32_t e = 0; e < entries; e++) at[A->indices[e] + 2]++;
  for (int32_t j = 0; j < T->rows; j++) at[j + 2] += at[j + 1];
  for (int32_t i = 0; i < A->rows; i++)
    for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++) {
      const int32_t to = at[A->indices[e] + 1]++;
      T->indices[to] = i;
      T->values[to] = A->values[e];
    }
  memcpy(T->offsets, at, ((size_t)T->rows + 1) * sizeof *at);
  tsi_free(context, at);
  return TS_OK;
}

/* ---- Products ---- */

/* A P, the columns of a row in the order in which they are found, which is of no matter to the second product.
 */
typedef struct product {
  size_t *offsets;
  int32_t *indices;
  float *values;
  int32_t *place; /* of each column in the row at hand; -1: none */
  double *sums;
} product;

static void product_free(ts_context *context, product *AP) {
  tsi_free(context, AP->offsets);
  tsi_free(context, AP->indices);
  tsi_free(context, AP->values);
  tsi_free(context, AP->place);
  tsi_free(context, AP->sums);
}

static ts_status product_create(ts_context *context, const tsi_amg_csr *A, const tsi_amg_csr *P, product *AP) {
  size_t most = 0;
  for (int32_t e = 0; e < A->offsets[A->rows]; e++)
    most += (size_t)(P->offsets[A->indices[e] + 1] - P->offsets[A->indices[e]]);
  *AP = (product){.offsets = tsi_malloc(context, (size_t)A->rows + 1, sizeof *AP->offsets),
                  .indices = tsi_malloc(context, most, sizeof *AP->indices),
                  .values = tsi_malloc(context, most, sizeof *AP->values),
                  .place = tsi_malloc(context, (size_t)P->columns, sizeof *AP->place),
                  .sums = tsi_malloc(context, (size_t)P->columns, sizeof *AP->sums)};
  if (AP->offsets && AP->indices && AP->values && AP->place && AP->sums) {
    memset(AP->place, -1, (size_t)P->columns * sizeof *AP->place);
    return TS_OK;
  }
  product_free(context, AP);
  return tsi_out_of_memory(context, "a product of amg", most * sizeof *AP->indices);
}

static void multiply(const tsi_amg_csr *A, const tsi_amg_csr *P, product *AP) {
  size_t to = 0;
  for (int32_t i = 0; i < A->rows; i++) {
    int32_t count = 0;
    int32_t *columns = AP->indices + to;
    for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++) {
      const double a = (double)A->values[e];
      const int32_t k = A->indices[e];
      for (int32_t f = P->offsets[k]; f < P->offsets[k + 1]; f++) {
        const int32_t j = P->indices[f];
        if (AP->place[j] < 0) {
          AP->place[j] = count;
          AP->sums[count] = 0;
          columns[count++] = j;
        }
        AP->sums[AP->place[j]] += a * (double)P->values[f];
      }
    }
    AP->offsets[i] = to;
    for (int32_t c = 0; c < count; c++) {
      AP->place[columns[c]] = -1;
      AP->values[to++] = (float)AP->sums[c];
    }
  }
  AP->offsets[A->rows] = to;
}

/* A heap, for rows of any length. */
static void sift(int32_t *list, int32_t root, int32_t count) {
  const int32_t value = list[root];
  for (int32_t child; (child = 2 * root + 1) < count; root = child) {
    if (child + 1 < count && list[child + 1] > list[child]) child++;
    if (list[child] <= value) break;
    list[root] = list[child];
  }
  list[root] = value;
}

void tsi_amg_sort(int32_t *list, int32_t count) {
  if (count <= 64) {
    for (int32_t i = 1; i < count; i++) {
      const int32_t value = list[i];
      int32_t k = i;
      for (; k > 0 && list[k - 1] > value; k--) list[k] = list[k - 1];
      list[k] = value;
    }
    return;
  }
  for (int32_t i = count / 2; i-- > 0;) sift(list, i, count);
  for (int32_t last = count - 1; last > 0; last--) {
    const int32_t largest = list[0];
    list[0] = list[last];
    list[last] = largest;
    sift(list, 0, last);
  }
}

/* The columns of row i of R AP, in the order in which they are found; returns their number. */
static int32_t collect(const tsi_amg_csr *R, const product *AP, int32_t i, int32_t *columns) {
  int32_t count = 0;
  for (int32_t e = R->offsets[i]; e < R->offsets[i + 1]; e++)
    for (size_t f = AP->offsets[R->indices[e]]; f < AP->offsets[R->indices[e] + 1]; f++) {
      const int32_t j = AP->indices[f];
      if (AP->place[j] >= 0) continue;
      AP->place[j] = 0;
      columns[count++] = j;
    }
  for (int32_t c = 0; c < count; c++) AP->place[columns[c]] = -1;
  return count;
}

static ts_status find_pattern(ts_context *context, const tsi_amg_csr *R, const product *AP, tsi_amg_csr *C) {
  const int32_t columns = R->rows;
  int32_t *row = tsi_malloc(context, (size_t)columns, sizeof *row);
  if (!row) return tsi_out_of_memory(context, "a product of amg", (size_t)columns * sizeof *row);
  int64_t entries = 0;
  for (int32_t i = 0; i < R->rows; i++) entries += collect(R, AP, i, row);
  tsi_free(context, row);
  TSI_TRY(tsi_amg_csr_create(context, R->rows, columns, entries, C));
  C->offsets[0] = 0;
  for (int32_t i = 0; i < R->rows; i++) {
    const int32_t count = collect(R, AP, i, C->indices + C->offsets[i]);
    tsi_amg_sort(C->indices + C->offsets[i], count);
    C->offsets[i + 1] = C->offsets[i] + count;
  }
  return TS_OK;
}

/* A row of zeros is that of an unknown which nothing needs: its diagonal becomes 1. */
static void fill(const tsi_amg_csr *R, const product *AP, const tsi_amg_csr *C) {
  for (int32_t i = 0; i < R->rows; i++) {
    const int32_t first = C->offsets[i], count = C->offsets[i + 1] - first;
    for (int32_t c = 0; c < count; c++) {
      AP->place[C->indices[first + c]] = c;
      AP->sums[c] = 0;
    }
    for (int32_t e = R->offsets[i]; e < R->offsets[i + 1]; e++) {
      const double r = (double)R->values[e];
      for (size_t f = AP->offsets[R->indices[e]]; f < AP->offsets[R->indices[e] + 1]; f++)
        AP->sums[AP->place[AP->indices[f]]] += r * (double)AP->values[f];
    }
    int zero = 1;
    int32_t diagonal = -1;
    for (int32_t c = 0; c < count; c++) {
      const int32_t j = C->indices[first + c];
      C->values[first + c] = (float)AP->sums[c];
      AP->place[j] = -1;
      zero = zero && C->values[first + c] == 0;
      if (j == i) diagonal = first + c;
    }
    if (zero && diagonal >= 0) C->values[diagonal] = 1;
  }
}

ts_status tsi_amg_galerkin(ts_context *context, const tsi_amg_csr *R, const tsi_amg_csr *A,
                           const tsi_amg_csr *P, tsi_amg_csr *C) {
  product AP;
  TSI_TRY(product_create(context, A, P, &AP));
  multiply(A, P, &AP);
  const ts_status status = C->offsets ? TS_OK : find_pattern(context, R, &AP, C);
  if (status == TS_OK) fill(R, &AP, C);
  product_free(context, &AP);
  return status;
}
