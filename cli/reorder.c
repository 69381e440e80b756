#include "reorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef TEXSOLVE_HAVE_AMD
#include <amd.h>
#endif
#ifdef TEXSOLVE_HAVE_METIS
#include <metis.h>
#endif

enum { ERROR_SIZE = 256 };

const char *const reorder_names[] = {"none", "rcm", "amd", "metis", "random", NULL};

static int fail(char *error, const char *text) {
  snprintf(error, ERROR_SIZE, "%s", text);
  return -1;
}

static int by_rcm(const ts_csr *csr, int32_t *order, char *error) {
  return ts_reorder_rcm(NULL, csr, order) < 0 ? fail(error, ts_last_error(NULL)) : 0;
}

/* Fisher and Yates, from a xorshift that always begins alike. */
static int by_chance(const ts_csr *csr, int32_t *order, char *error) {
  uint64_t x = 88172645463325252u;
  (void)error;
  for (int32_t i = 0; i < csr->rows; i++) order[i] = i;
  for (int32_t i = csr->rows - 1; i > 0; i--) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    const int32_t j = (int32_t)((x >> 11) % (uint64_t)(i + 1)), k = order[i];
    order[i] = order[j];
    order[j] = k;
  }
  return 0;
}

#ifdef TEXSOLVE_HAVE_AMD
static int by_amd(const ts_csr *csr, int32_t *order, char *error) {
  const int status = amd_order(csr->rows, csr->row_offsets, csr->column_indices, order, NULL, NULL);
  if (status == AMD_OK || status == AMD_OK_BUT_JUMBLED) return 0;
  return fail(error, status == AMD_OUT_OF_MEMORY ? "AMD: out of memory" : "AMD does not take the matrix");
}
#else
static int by_amd(const ts_csr *csr, int32_t *order, char *error) {
  (void)csr, (void)order;
  return fail(error, "--reorder amd: this texsolve was built without SuiteSparse's AMD");
}
#endif

#ifdef TEXSOLVE_HAVE_METIS
typedef struct graph {
  idx_t *offsets, *neighbours, *part;
  int32_t *rcm, *next;
} graph;

static void free_graph(graph *g) {
  free(g->offsets);
  free(g->neighbours);
  free(g->part);
  free(g->rcm);
  free(g->next);
}

/* The neighbours of A + A^T, some of them twice, which METIS takes for a heavier edge. */
static void collect(const ts_csr *csr, graph *g) {
  const int32_t n = csr->rows;
  for (int32_t i = 0; i <= n; i++) g->offsets[i] = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t i = 0; i < n; i++)
      for (int32_t k = csr->row_offsets[i]; k < csr->row_offsets[i + 1]; k++) {
        const int32_t j = csr->column_indices[k];
        if (j == i) continue;
        if (pass == 0) {
          g->offsets[i + 1]++;
          g->offsets[j + 1]++;
        } else {
          g->neighbours[g->next[i]++] = j;
          g->neighbours[g->next[j]++] = i;
        }
      }
    if (pass) break;
    for (int32_t i = 0; i < n; i++) g->offsets[i + 1] += g->offsets[i];
    for (int32_t i = 0; i < n; i++) g->next[i] = g->offsets[i];
  }
}

/* The order of rcm, stably sorted by parts. */
static void sort_by_part(const graph *g, int32_t rows, idx_t parts, int32_t *order) {
  for (idx_t p = 0; p <= parts; p++) g->next[p] = 0;
  for (int32_t i = 0; i < rows; i++) g->next[g->part[i] + 1]++;
  for (idx_t p = 0; p < parts; p++) g->next[p + 1] += g->next[p];
  for (int32_t k = 0; k < rows; k++) order[g->next[g->part[g->rcm[k]]]++] = g->rcm[k];
}

static int by_metis(const ts_csr *csr, int32_t *order, char *error) {
  enum { rows_a_part = 4096 };
  const size_t n = (size_t)csr->rows, ends = 2 * (size_t)csr->row_offsets[csr->rows];
  idx_t size = csr->rows, constraints = 1, parts = (csr->rows + rows_a_part - 1) / rows_a_part, cut = 0;
  graph g = {malloc((n + 1) * sizeof *g.offsets), malloc((ends + 1) * sizeof *g.neighbours),
             calloc(n, sizeof *g.part), malloc(n * sizeof *g.rcm), malloc((n + 2) * sizeof *g.next)};
  int failed = 0;
  if (!g.offsets || !g.neighbours || !g.part || !g.rcm || !g.next)
    failed = fail(error, "out of memory for an order");
  if (!failed) failed = by_rcm(csr, g.rcm, error);
  if (!failed) {
    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    collect(csr, &g);
    if (parts > 1 && METIS_PartGraphKway(&size, &constraints, g.offsets, g.neighbours, NULL, NULL, NULL, &parts,
                                         NULL, NULL, options, &cut, g.part) != METIS_OK)
      failed = fail(error, "METIS cannot cut the matrix into parts");
  }
  if (!failed) sort_by_part(&g, csr->rows, parts, order);
  free_graph(&g);
  return failed;
}
#else
static int by_metis(const ts_csr *csr, int32_t *order, char *error) {
  (void)csr, (void)order;
  return fail(error, "--reorder metis: this texsolve was built without METIS");
}
#endif

int32_t *reorder_compute(reorder_kind kind, const ts_csr *csr, char *error) {
  static int (*const methods[])(const ts_csr *, int32_t *, char *) = {NULL, by_rcm, by_amd, by_metis,
                                                                      by_chance};
  int32_t *order = malloc((size_t)csr->rows * sizeof *order);
  if (!order) {
    fail(error, "out of memory for an order");
    return NULL;
  }
  if (!methods[kind](csr, order, error)) return order;
  free(order);
  return NULL;
}

int reorder_permute(const ts_csr *csr, const int32_t *order, reorder_matrix *out, char *error) {
  const size_t entries = (size_t)csr->row_offsets[csr->rows] + 1;
  *out = (reorder_matrix){malloc(((size_t)csr->rows + 1) * sizeof(int32_t)), malloc(entries * sizeof(int32_t)),
                          malloc(entries * sizeof(float))};
  int failed = 0;
  if (!out->row_offsets || !out->column_indices || !out->values)
    failed = fail(error, "out of memory for a matrix in another order");
  else if (ts_csr_permute(NULL, csr, order, out->row_offsets, out->column_indices, out->values) < 0)
    failed = fail(error, ts_last_error(NULL));
  if (failed) reorder_free(out);
  return failed;
}

void reorder_free(reorder_matrix *m) {
  free(m->row_offsets);
  free(m->column_indices);
  free(m->values);
  *m = (reorder_matrix){0};
}
