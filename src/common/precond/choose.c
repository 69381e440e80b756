/* TS_PRECONDITIONER_AUTO: which preconditioner a matrix gets, before any of them is made.
 *
 * An iteration of conjugate gradients with Jacobi carries a number from a row to those that it is coupled with,
 * so where constants are almost in the null space there are about as many iterations as the matrix is couplings
 * across: some 1.4 times 2 n on a grid of n x n points, 1.2 times 3 n on one of n x n x n. AMG costs as much as
 * hundreds of them, set-up included (core/tuning.c). Networks with many rows are few couplings across, and
 * Jacobi solves them soon; it does so too where A is diagonally dominant. */
#include <math.h>
#include <stdio.h>

#include "common/core/core.h"
#include "common/layout/layout.h"
#include "preconditioner.h"

enum { least_rows = 16384 };
static const double near_null = 1.0 / 512;

/* ---- Constants ---- */

/* -1, or the first row that is not positive on the diagonal; and the rows where |sum_j a_ij| is small beside
 * a_ii. */
static int32_t look_at_rows(const tsi_host_csr *A, int32_t *small) {
  *small = 0;
  for (int32_t i = 0; i < A->rows; i++) {
    double sum = 0, diagonal = 0;
    for (int32_t e = A->row_offsets[i]; e < A->row_offsets[i + 1]; e++) {
      sum += A->values[e];
      if (A->column_indices[e] == i) diagonal = A->values[e];
    }
    if (!(diagonal > 0)) return i;
    *small += fabs(sum) <= near_null * diagonal;
  }
  return -1;
}

/* ---- Couplings ---- */

typedef struct search {
  const tsi_host_csr *A;
  int32_t *queue;
  unsigned char *seen;
} search;

/* How many couplings the row that is furthest from `start` is away among the rows whose mark is not `mark`,
 * which they get; `last` is that row. */
static int32_t search_from(const search *s, int32_t start, unsigned char mark, int32_t *last) {
  int32_t depth = -1, at = 0, end = 1;
  s->queue[0] = start;
  s->seen[start] = mark;
  while (at < end) {
    for (const int32_t level_end = end; at < level_end; at++) {
      const int32_t i = s->queue[at];
      for (int32_t e = s->A->row_offsets[i]; e < s->A->row_offsets[i + 1]; e++) {
        const int32_t j = s->A->column_indices[e];
        if (s->seen[j] == mark) continue;
        s->seen[j] = mark;
        s->queue[end++] = j;
      }
    }
    depth++;
  }
  *last = s->queue[end - 1];
  return depth;
}

/* About how many couplings A is across: from the row that is furthest from the first row of its part to the row
 * furthest from there. */
static ts_status couplings_across(ts_context *context, const tsi_host_csr *A, int32_t *across) {
  const size_t rows = (size_t)A->rows;
  search s = {A, tsi_malloc(context, rows, sizeof *s.queue), tsi_calloc(context, rows, 1)};
  int32_t last, furthest = 0;
  *across = 0;
  if (s.queue && s.seen) {
    for (int32_t i = 0; i < A->rows; i++) {
      const int32_t depth = s.seen[i] ? 0 : search_from(&s, i, 1, &last);
      if (depth <= *across) continue;
      *across = depth;
      furthest = last;
    }
    *across = search_from(&s, furthest, 2, &last);
  }
  const int lost = !s.queue || !s.seen;
  tsi_free(context, s.queue);
  tsi_free(context, s.seen);
  return lost ? tsi_out_of_memory(context, "the choice of a preconditioner", rows * (sizeof *s.queue + 1))
              : TS_OK;
}

/* ---- The choice ---- */

/* From the entries, where all else is for AMG. */
static ts_status choose_by_entries(const ts_matrix *A, ts_preconditioner_kind *kind, char *why, size_t size) {
  const int32_t rows = A->info.rows;
  int32_t small, across;
  const int32_t row = look_at_rows(A->host_copy, &small);
  if (row >= 0) {
    snprintf(why, size, "row %d is not positive on the diagonal", row);
  } else if (small < rows / 2) {
    snprintf(why, size, "constants are far from the null space");
  } else {
    TSI_TRY(couplings_across(A->context, A->host_copy, &across));
    const double least = A->context->tuning.amg_couplings;
    const int is_amg = across >= least;
    if (is_amg) *kind = TS_PRECONDITIONER_AMG;
    snprintf(why, size, "%d rows, %d couplings across, %s %.0f", rows, across,
             is_amg ? "at least" : "less than", least);
  }
  return TS_OK;
}

ts_status tsi_preconditioner_choose(const ts_matrix *A, ts_preconditioner_kind *kind, char *choice,
                                    size_t size) {
  char why[160];
  const char *text = why;
  *kind = TS_PRECONDITIONER_JACOBI;
  if (A->stencil)
    text = "the matrix is a stencil";
  else if (!A->info.symmetric)
    text = "the matrix is not symmetric";
  else if (A->row_space->constrained)
    text = "the matrix has constrained rows";
  else if (A->info.rows < least_rows)
    snprintf(why, sizeof why, "%d rows, less than %d", A->info.rows, least_rows);
  else if (!A->host_copy)
    text = "the matrix has no host copy";
  else
    TSI_TRY(choose_by_entries(A, kind, why, sizeof why));
  snprintf(choice, size, "%s: %s", ts_preconditioner_kind_name(*kind), text);
  return TS_OK;
}
