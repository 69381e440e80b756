/* From the next level to this one: the tentative prolongator, which holds the near-null space, and the smoothed
 * one (Vanek, Mandel, Brezina 1996, section 3). */
#include <math.h>
#include <string.h>

#include "amg.h"

enum { MOST = 8 }; /* vectors of the near-null space, and unknowns of a node */

/* ---- The tentative prolongator ---- */

/* A column that loses all but this share of its length to earlier ones depends on them. */
static const double dependent = 1e-8;

/* The nodes of each aggregate in ascending order. */
static void list_members(const tsi_amg_host_level *level, int32_t *offsets, int32_t *members) {
  const int32_t count = level->aggregate_count;
  memset(offsets, 0, ((size_t)count + 2) * sizeof *offsets);
  for (int32_t i = 0; i < level->nodes; i++)
    if (level->aggregates[i] >= 0) offsets[level->aggregates[i] + 2]++;
  for (int32_t a = 0; a < count; a++) offsets[a + 2] += offsets[a + 1];
  for (int32_t i = 0; i < level->nodes; i++)
    if (level->aggregates[i] >= 0) members[offsets[level->aggregates[i] + 1]++] = i;
}

/* An aggregate's rows of the near-null space. */
typedef struct rows {
  const int32_t *members;
  int32_t count, unknowns, vectors;
  double *values;
} rows;

static double dot(const rows *r, int v, int w) {
  double sum = 0;
  for (int32_t m = 0; m < r->count; m++) {
    const double *row = r->values + (size_t)r->members[m] * (size_t)(r->unknowns * r->vectors);
    for (int32_t u = 0; u < r->unknowns; u++, row += r->vectors) sum += row[v] * row[w];
  }
  return sum;
}

/* Column v = scale times itself - factor times column w */
static void combine(const rows *r, int v, double scale, double factor, int w) {
  for (int32_t m = 0; m < r->count; m++) {
    double *row = r->values + (size_t)r->members[m] * (size_t)(r->unknowns * r->vectors);
    for (int32_t u = 0; u < r->unknowns; u++, row += r->vectors) row[v] = scale * row[v] - factor * row[w];
  }
}

/* Q R by modified Gram-Schmidt, twice; Q in place. */
static void orthonormalise(const rows *r, double *upper) {
  for (int v = 0; v < r->vectors; v++) {
    const double before = dot(r, v, v);
    for (int pass = 0; pass < 2; pass++)
      for (int w = 0; w < v; w++) {
        const double factor = dot(r, w, v);
        combine(r, v, 1, factor, w);
        upper[w * r->vectors + v] += factor;
      }
    const double after = v > 0 ? dot(r, v, v) : before;
    const int none = !(after > dependent * dependent * before);
    upper[v * r->vectors + v] = none ? 0 : sqrt(after);
    combine(r, v, none ? 0 : 1 / sqrt(after), 0, v);
  }
}

ts_status tsi_amg_tentative(ts_context *context, const tsi_amg_host_level *level, double *coarse) {
  const size_t count = (size_t)level->aggregate_count, vectors = (size_t)level->vectors;
  const size_t numbers = (size_t)level->A.rows * vectors;
  int32_t *offsets = tsi_malloc(context, count + 2 + (size_t)level->nodes, sizeof *offsets);
  if (!offsets)
    return tsi_out_of_memory(context, "aggregates of amg", (count + (size_t)level->nodes) * sizeof *offsets);
  int32_t *members = offsets + count + 2;
  list_members(level, offsets, members);
  memset(coarse, 0, count * vectors * vectors * sizeof *coarse);
  for (size_t a = 0; a < count; a++) {
    const rows r = {members + offsets[a], offsets[a + 1] - offsets[a], level->unknowns, level->vectors,
                    level->near_null};
    orthonormalise(&r, coarse + a * vectors * vectors);
  }
  tsi_free(context, offsets);
  for (size_t k = 0; k < numbers; k++) {
    const size_t node = k / (vectors * (size_t)level->unknowns);
    level->tentative[k] = level->aggregates[node] < 0 ? 0 : (float)level->near_null[k];
  }
  return TS_OK;
}

/* ---- Smoothing ---- */

/* What row i of A_F has on its diagonal, 0 where A has nothing positive there; and what weak entries add to the
 * entries within the node. */
static double filter_row(const tsi_amg_host_level *level, int32_t i, double added[MOST]) {
  const tsi_amg_csr *A = &level->A;
  const int32_t unknowns = level->unknowns;
  double diagonal = 0;
  for (int32_t u = 0; u < unknowns; u++) added[u] = 0;
  for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++) {
    if (level->strong[e] == TSI_AMG_WEAK) added[A->indices[e] % unknowns] += (double)A->values[e];
    if (A->indices[e] == i && A->values[e] > 0) diagonal = (double)A->values[e];
  }
  const double filtered = diagonal + added[i % unknowns];
  if (filtered > 0.1 * diagonal) return filtered;
  for (int32_t u = 0; u < unknowns; u++) added[u] = 0;
  return diagonal;
}

/* The largest row sum of magnitudes of D_F^-1 A_F, and that of D^-1 A. */
static double find_bounds(const tsi_amg_host_level *level, double *bound) {
  const tsi_amg_csr *A = &level->A;
  const int32_t unknowns = level->unknowns;
  double largest = 0;
  *bound = 0;
  for (int32_t i = 0; i < A->rows; i++) {
    double added[MOST], sum = 0, filtered_sum = 0, diagonal = 0;
    const double filtered = filter_row(level, i, added);
    if (filtered == 0) continue;
    for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++) {
      const int32_t j = A->indices[e];
      const double a = (double)A->values[e];
      if (level->strong[e] == TSI_AMG_DROPPED) continue;
      sum += fabs(a);
      if (j == i) diagonal = a;
      if (level->strong[e] == TSI_AMG_WEAK) continue;
      filtered_sum += fabs(j / unknowns == i / unknowns ? a + added[j % unknowns] : a);
    }
    *bound = fmax(*bound, sum / diagonal);
    largest = fmax(largest, filtered_sum / filtered);
  }
  return largest;
}

/* The aggregates of row i of P, in the order in which they are found; returns their number. */
static int32_t collect(const tsi_amg_host_level *level, int32_t i, int32_t *place, int32_t *list) {
  const tsi_amg_csr *A = &level->A;
  int32_t count = 0;
  for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++) {
    const int32_t aggregate = level->aggregates[A->indices[e] / level->unknowns];
    if (level->strong[e] != TSI_AMG_STRONG || aggregate < 0 || place[aggregate] >= 0) continue;
    place[aggregate] = 0;
    list[count++] = aggregate;
  }
  for (int32_t c = 0; c < count; c++) place[list[c]] = -1;
  return count;
}

static ts_status find_pattern(ts_context *context, tsi_amg_host_level *level, int32_t *place) {
  const int32_t vectors = level->vectors, rows = level->A.rows;
  int32_t *list = tsi_malloc(context, (size_t)level->aggregate_count, sizeof *list);
  if (!list)
    return tsi_out_of_memory(context, "a prolongator of amg", (size_t)level->aggregate_count * sizeof *list);
  int64_t entries = 0;
  for (int32_t i = 0; i < rows; i++) entries += collect(level, i, place, list);
  tsi_amg_csr *P = &level->P;
  const ts_status status =
      tsi_amg_csr_create(context, rows, level->aggregate_count * vectors, entries * vectors, P);
  if (status == TS_OK) {
    P->offsets[0] = 0;
    for (int32_t i = 0; i < rows; i++) {
      const int32_t count = collect(level, i, place, list);
      int32_t *to = P->indices + P->offsets[i];
      tsi_amg_sort(list, count);
      for (int32_t c = 0; c < count; c++)
        for (int32_t v = 0; v < vectors; v++) *to++ = list[c] * vectors + v;
      P->offsets[i + 1] = P->offsets[i] + count * vectors;
    }
  }
  tsi_free(context, list);
  return status;
}

static void fill_row(const tsi_amg_host_level *level, double omega, int32_t i, int32_t *place, double *sums) {
  const tsi_amg_csr *A = &level->A, *P = &level->P;
  const int32_t unknowns = level->unknowns, vectors = level->vectors;
  const int32_t first = P->offsets[i], count = P->offsets[i + 1] - first;
  for (int32_t c = 0; c < count; c += vectors) place[P->indices[first + c] / vectors] = c;
  for (int32_t c = 0; c < count; c++) sums[c] = 0;
  double added[MOST];
  const double diagonal = filter_row(level, i, added), scale = diagonal > 0 ? omega / diagonal : 0;
  for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++) {
    const int32_t j = A->indices[e], aggregate = level->aggregates[j / unknowns];
    if (level->strong[e] != TSI_AMG_STRONG || aggregate < 0) continue;
    const double more = j / unknowns == i / unknowns ? added[j % unknowns] : 0;
    const double s = (double)(float)(j == i ? 1 - omega : -scale * ((double)A->values[e] + more));
    const float *t = level->tentative + (size_t)j * (size_t)vectors;
    for (int32_t v = 0; v < vectors; v++) sums[place[aggregate] + v] += s * (double)t[v];
  }
  for (int32_t c = 0; c < count; c++) P->values[first + c] = (float)sums[c];
}

ts_status tsi_amg_smooth(ts_context *context, tsi_amg_host_level *level) {
  const size_t columns = (size_t)level->aggregate_count * (size_t)level->vectors;
  int32_t *place = tsi_malloc(context, (size_t)level->aggregate_count, sizeof *place);
  double *sums = tsi_malloc(context, columns, sizeof *sums);
  ts_status status = TS_OK;
  if (!place || !sums)
    status = tsi_out_of_memory(context, "a prolongator of amg", columns * sizeof *sums);
  else {
    memset(place, -1, (size_t)level->aggregate_count * sizeof *place);
    if (!level->P.offsets) status = find_pattern(context, level, place);
  }
  if (status == TS_OK) {
    const double omega = 4. / 3 / find_bounds(level, &level->bound);
    for (int32_t i = 0; i < level->A.rows; i++)
      if (level->P.offsets[i] < level->P.offsets[i + 1]) fill_row(level, omega, i, place, sums);
  }
  tsi_free(context, place);
  tsi_free(context, sums);
  return status;
}
