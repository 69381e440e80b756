/* Least squares in `texsolve solve`, by lsmr or cgls: their valid options and their preconditioner.
 *
 * M = diag(A^T A) scales the columns of A, which helps if their norms are far apart. If several least squares
 * solutions exist, scaling also changes which one is found: the smallest M^(1/2) x instead of the shortest x.
 * So auto scales only if the norms require it, and not if the matrix has more columns than rows. */
#include "solve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "message.h"
#include "ranks.h"

/* Auto scales from this ratio of the largest to the smallest column norm. */
static const double unlike = 10;

int solve_is_least_squares(ts_method method) {
  return method == TS_METHOD_LSMR || method == TS_METHOD_CGLS;
}

const char *solve_measure(const solve_outcome *outcome) {
  return solve_is_least_squares(outcome->method) ? "||A^T r|| / ||A^T b|| =" : "a relative residual of";
}

/* ---- Options that do not apply ---- */

static int refuse(const mm_file *file, const char *option, const char *name, const char *hint) {
  const mm_header *h = &file->header;
  message("%s:%lld: %lld rows and %lld columns, expected a square matrix for %s%s%s", file->name,
          (long long)h->size_line, (long long)h->rows, (long long)h->columns, option, name, hint);
  return -1;
}

int solve_check_shape(const solve_options *o, const mm_file *file) {
  const mm_header *h = &file->header;
  if (ranks_are_several() && h->rows == h->columns && solve_is_least_squares(o->method)) {
    message("%s: several processes cannot transpose a matrix, expected one for --solver %s", file->name,
            ts_method_name(o->method));
    return -1;
  }
  if (h->rows == h->columns) return 0;
  if (o->is_direct) return refuse(file, "--solver ", "direct", " (hint: try --solver lsmr)");
  if (o->method != TS_METHOD_AUTO && !solve_is_least_squares(o->method))
    return refuse(file, "--solver ", ts_method_name(o->method), " (hint: try --solver lsmr)");
  if (o->preconditioner > TS_PRECONDITIONER_AUTO && o->preconditioner != TS_PRECONDITIONER_NONE &&
      o->preconditioner != TS_PRECONDITIONER_JACOBI)
    return refuse(file, "--preconditioner ", ts_preconditioner_kind_name(o->preconditioner),
                  " (hint: least squares support auto, none or jacobi)");
  if (o->stop == TS_STOP_DELTA) return refuse(file, "--stop ", "delta", "");
  if (o->reorder) return refuse(file, "--reorder ", reorder_names[o->reorder], "");
  if (ranks_are_several()) return refuse(file, "several processes", "", "");
  return 0;
}

/* ---- The preconditioner ---- */

static int are_unlike(const long double *squares, int32_t columns) {
  long double least = INFINITY, most = 0;
  for (int32_t j = 0; j < columns; j++) {
    if (squares[j] == 0) continue;
    least = fminl(least, squares[j]);
    most = fmaxl(most, squares[j]);
  }
  return sqrtl(most) > unlike * sqrtl(least);
}

int solve_begin_least_squares(solve_system *system) {
  const mm_csr *A = &system->A;
  const size_t count = 3 * (size_t)A->columns;
  system->transposed = calloc(count, sizeof *system->transposed);
  if (!system->transposed) {
    message("out of memory for %zu numbers", count);
    return -1;
  }
  system->is_least_squares = 1;
  for (int32_t k = 0; k < A->row_offsets[A->rows]; k++)
    system->transposed[A->column_indices[k]] += (long double)A->values[k] * A->values[k];
  system->has_unlike_columns = are_unlike(system->transposed, A->columns);
  return 0;
}

void solve_choose_of_least_squares(const solve_options *o, const solve_system *system, solve_outcome *outcome) {
  const int is_wide = outcome->matrix.columns > outcome->matrix.rows;
  const int scales = system->has_unlike_columns && !is_wide;
  outcome->preconditioner = o->preconditioner;
  if (o->preconditioner == TS_PRECONDITIONER_AUTO)
    outcome->preconditioner = scales ? TS_PRECONDITIONER_JACOBI : TS_PRECONDITIONER_NONE;
  outcome->jacobi_may_help = system->has_unlike_columns && outcome->preconditioner == TS_PRECONDITIONER_NONE;
  if (o->preconditioner != TS_PRECONDITIONER_AUTO) return;
  snprintf(outcome->preconditioner_choice, sizeof outcome->preconditioner_choice, "%s",
           scales    ? "jacobi: the norms of the columns are far apart"
           : is_wide ? "none: with jacobi x would not be the shortest"
                     : "none: the columns have similar norms");
}
