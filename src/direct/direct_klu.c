/* P A Q = L U by KLU (Davis and Palamadai Natarajan 2010, "Algorithm 907: KLU, a direct sparse solver for
 * circuit simulation problems"). A permutation to block triangular form with a full diagonal comes
 * first, then an approximate minimum degree ordering of each block and left-looking elimination with partial
 * pivoting, which prefers the diagonal.
 *
 * KLU takes columns. It is given rows, so it factors the transpose, and what it calls a column is a row here.
 */
#include <btf.h>
#include <klu.h>
#include <math.h>

#include "direct_methods.h"

typedef struct klu_factors {
  tsi_direct_memory memory;
  int32_t n;
  klu_common common;
  klu_symbolic *analysis;
  klu_numeric *numbers;
} klu_factors;

static void klu_release(void *factors) {
  klu_factors *f = factors;
  const tsi_direct_memory memory = f->memory;
  if (f->numbers) klu_free_numeric(&f->numbers, &f->common);
  if (f->analysis) klu_free_symbolic(&f->analysis, &f->common);
  memory.release(memory.user, f);
}

static tsi_direct_fault fault_of(const klu_factors *f) {
  switch (f->common.status) {
  case KLU_OUT_OF_MEMORY:
    return TSI_DIRECT_NO_MEMORY;
  case KLU_TOO_LARGE:
    return TSI_DIRECT_TOO_LARGE;
  default:
    return TSI_DIRECT_FAILED;
  }
}

/* A row that a matching of the most rows with columns leaves out. */
static tsi_direct_fault find_unmatched(const klu_factors *f, const tsi_direct_rows *A, int32_t *row) {
  const size_t n = (size_t)A->n;
  int32_t *match = f->memory.allocate(f->memory.user, 6 * n, sizeof *match),
          *is_matched = match ? match + n : 0;
  double work;
  if (!match) return TSI_DIRECT_NO_MEMORY;
  btf_maxtrans(A->n, A->n, A->offsets, A->columns, 0, &work, match, match + n);
  for (int32_t i = 0; i < A->n; i++) is_matched[i] = 0;
  for (int32_t j = 0; j < A->n; j++)
    if (match[j] >= 0) is_matched[match[j]] = 1;
  *row = 0;
  while (*row < A->n - 1 && is_matched[*row]) ++*row;
  f->memory.release(f->memory.user, match);
  return TSI_DIRECT_NO_MATCHING;
}

static tsi_direct_fault klu_find_order(const tsi_direct_memory *memory, const tsi_direct_rows *A,
                                       void **factors, tsi_direct_finding *found) {
  klu_factors *f = memory->allocate(memory->user, 1, sizeof *f);
  *factors = f;
  if (!f) return TSI_DIRECT_NO_MEMORY;
  *f = (klu_factors){.memory = *memory, .n = A->n};
  klu_defaults(&f->common);
  f->common.scale = 0;      /* the library has scaled the matrix */
  f->common.maxwork = 1000; /* of the matching, in passes over the matrix */
  f->analysis = klu_analyze(A->n, A->offsets, A->columns, &f->common);
  if (!f->analysis) return fault_of(f);
  if (f->analysis->structural_rank >= 0 && f->analysis->structural_rank < A->n)
    return find_unmatched(f, A, &found->row);
  found->entries = f->analysis->lnz + f->analysis->unz - A->n + f->analysis->nzoff;
  return found->entries < INT32_MAX ? TSI_DIRECT_NONE : TSI_DIRECT_TOO_LARGE;
}

static void inspect_pivots(const klu_factors *f, tsi_direct_finding *found) {
  const double *pivots = f->numbers->Udiag;
  for (int32_t k = 0; k < f->n; k++) {
    const double size = fabs(pivots[k]);
    if (k > 0 && !(size < found->pivot)) continue;
    found->pivot = size;
    found->row = f->analysis->Q[k];
  }
}

static tsi_direct_fault klu_compute(void *factors, const tsi_direct_rows *A, tsi_direct_finding *found) {
  klu_factors *f = factors;
  f->numbers = klu_factor(A->offsets, A->columns, A->values, f->analysis, &f->common);
  found->row = f->common.singular_col;
  if (f->common.status == KLU_SINGULAR) return TSI_DIRECT_ZERO_PIVOT;
  if (!f->numbers) return fault_of(f);
  found->entries = (double)f->numbers->lnz + f->numbers->unz - A->n + f->numbers->nzoff;
  inspect_pivots(f, found);
  return TSI_DIRECT_NONE;
}

static void klu_substitute(void *factors, double *x) {
  klu_factors *f = factors;
  klu_tsolve(f->analysis, f->numbers, f->n, 1, x, &f->common);
}

const tsi_direct_method direct_klu = {.name = "LU",
                                      .reads = 1,
                                      .analyse = klu_find_order,
                                      .factor = klu_compute,
                                      .solve = klu_substitute,
                                      .release = klu_release};
