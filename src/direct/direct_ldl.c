/* P A P^T = L D L^T of a symmetric positive definite matrix, by LDL (Davis 2005, "Algorithm 849: a concise
 * sparse Cholesky factorization package"): row by row, each by a sparse triangular solve along the elimination
 * tree. P is an approximate minimum degree ordering (Amestoy, Davis and Duff 2004, "Algorithm 837: AMD").
 *
 * Without pivoting: a pivot that is not positive ends the factorisation, and another method takes the
 * matrix. */
#include <amd.h>
#include <ldl.h>

#include "direct_methods.h"

typedef struct ldl_factors {
  tsi_direct_memory memory;
  int32_t n;
  int32_t *order, *place; /* the row that comes k-th, and where a row comes */
  int32_t *parent, *counts, *flags, *pattern;
  int32_t *offsets, *rows; /* L by columns, without its diagonal */
  double *values, *pivots, *work;
} ldl_factors;

static void *ldl_alloc(const ldl_factors *f, size_t count, size_t size) {
  return f->memory.allocate(f->memory.user, count, size);
}

static void ldl_free(const ldl_factors *f, void *block) {
  f->memory.release(f->memory.user, block);
}

static void ldl_release(void *factors) {
  ldl_factors *f = factors;
  const tsi_direct_memory memory = f->memory;
  void *const blocks[] = {f->order,   f->place, f->parent, f->counts, f->flags, f->pattern,
                          f->offsets, f->rows,  f->values, f->pivots, f->work};
  for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) ldl_free(f, blocks[k]);
  memory.release(memory.user, f);
}

static int allocate(ldl_factors *f) {
  const size_t n = (size_t)f->n;
  int32_t **const arrays[] = {&f->order, &f->place, &f->parent, &f->counts, &f->flags, &f->pattern};
  int failed = 0;
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
    *arrays[k] = ldl_alloc(f, n, sizeof **arrays[k]);
    failed |= !*arrays[k];
  }
  f->offsets = ldl_alloc(f, n + 1, sizeof *f->offsets);
  f->pivots = ldl_alloc(f, n, sizeof *f->pivots);
  f->work = ldl_alloc(f, n, sizeof *f->work);
  return failed || !f->offsets || !f->pivots || !f->work ? -1 : 0;
}

static tsi_direct_fault ldl_analyse(const tsi_direct_memory *memory, const tsi_direct_rows *A, void **factors,
                                    tsi_direct_finding *found) {
  double info[AMD_INFO];
  ldl_factors *f = memory->allocate(memory->user, 1, sizeof *f);
  *factors = f;
  if (!f) return TSI_DIRECT_NO_MEMORY;
  *f = (ldl_factors){.memory = *memory, .n = A->n};
  if (allocate(f)) return TSI_DIRECT_NO_MEMORY;
  const int status = amd_order(A->n, A->offsets, A->columns, f->order, NULL, info);
  if (status == AMD_OUT_OF_MEMORY) return TSI_DIRECT_NO_MEMORY;
  if (status != AMD_OK && status != AMD_OK_BUT_JUMBLED) return TSI_DIRECT_FAILED;
  found->entries = info[AMD_LNZ] + A->n;
  return found->entries < INT32_MAX ? TSI_DIRECT_NONE : TSI_DIRECT_TOO_LARGE;
}

static tsi_direct_fault inspect_pivots(const ldl_factors *f, tsi_direct_finding *found) {
  for (int32_t k = 0; k < f->n; k++) {
    if (!(f->pivots[k] > 0)) return TSI_DIRECT_NOT_POSITIVE;
    if (k > 0 && !(f->pivots[k] < found->pivot)) continue;
    found->pivot = f->pivots[k];
    found->row = f->order[k];
  }
  return TSI_DIRECT_NONE;
}

static tsi_direct_fault ldl_factor(void *factors, const tsi_direct_rows *A, tsi_direct_finding *found) {
  ldl_factors *f = factors;
  ldl_symbolic(f->n, A->offsets, A->columns, f->offsets, f->parent, f->counts, f->flags, f->order, f->place);
  const size_t entries = (size_t)f->offsets[f->n];
  f->rows = ldl_alloc(f, entries + 1, sizeof *f->rows);
  f->values = ldl_alloc(f, entries + 1, sizeof *f->values);
  if (!f->rows || !f->values) return TSI_DIRECT_NO_MEMORY;
  const int32_t done =
      ldl_numeric(f->n, A->offsets, A->columns, A->values, f->offsets, f->parent, f->counts, f->rows, f->values,
                  f->pivots, f->work, f->pattern, f->flags, f->order, f->place);
  found->entries = (double)entries + f->n;
  return done < f->n ? TSI_DIRECT_NOT_POSITIVE : inspect_pivots(f, found);
}

static void ldl_solve(void *factors, double *x) {
  ldl_factors *f = factors;
  for (int32_t k = 0; k < f->n; k++) f->work[k] = x[f->order[k]];
  ldl_lsolve(f->n, f->work, f->offsets, f->rows, f->values);
  ldl_dsolve(f->n, f->work, f->pivots);
  ldl_ltsolve(f->n, f->work, f->offsets, f->rows, f->values);
  for (int32_t k = 0; k < f->n; k++) x[f->order[k]] = f->work[k];
}

const tsi_direct_method direct_ldl = {.name = "LDL^T",
                                      .reads = 2,
                                      .analyse = ldl_analyse,
                                      .factor = ldl_factor,
                                      .solve = ldl_solve,
                                      .release = ldl_release};
