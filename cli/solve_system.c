/* The system of `texsolve solve`: reading it, refusing what cannot be solved, and judging a solution. */
#include "solve.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "progress.h"

static int say(const mm_error *error) {
  message("%s", error->text);
  return -1;
}

static void say_duplicates(const char *name, int64_t duplicates) {
  if (duplicates == 1) message_note("%s: 1 duplicate entry was added to the one before", name);
  if (duplicates > 1) message_note("%s: %lld duplicate entries were added up", name, (long long)duplicates);
}

/* ---- The matrix ---- */

/* Before anything of the announced size is allocated: few entries in an absurd number of rows end here. */
static int check_sizes(const mm_file *file) {
  const mm_header *h = &file->header;
  if (h->rows != h->columns) {
    message("%s:%lld: %lld rows and %lld columns, expected a square matrix", file->name,
            (long long)h->size_line, (long long)h->rows, (long long)h->columns);
    return -1;
  }
  const int64_t filled = h->coordinate ? h->entries * (h->symmetry == MM_GENERAL ? 1 : 2)
                         : h->entries  ? h->rows
                                       : 0;
  if (filled >= h->rows) return 0;
  message("%s:%lld: %lld entries leave some of the %lld rows empty, expected a matrix with an entry in each",
          file->name, (long long)h->size_line, (long long)h->entries, (long long)h->rows);
  return -1;
}

/* Neither held in single precision nor nothing beside the largest of its row or column. */
static int vanishes(double value, double largest) {
  return fabs(value) < FLT_MIN && fabs(value) > ldexp(largest, -24);
}

static int check_entries(const char *name, const mm_csr *A, ts_preconditioner_kind preconditioner) {
  for (int32_t i = 0; i < A->rows; i++) {
    const double *diagonal = NULL;
    double largest = 0;
    for (int32_t k = A->row_offsets[i]; k < A->row_offsets[i + 1]; k++)
      largest = fmax(largest, fabs(A->values[k]));
    for (int32_t k = A->row_offsets[i]; k < A->row_offsets[i + 1]; k++) {
      if (A->column_indices[k] == i) diagonal = &A->values[k];
      if (vanishes(A->values[k], largest)) {
        message("%s: row %d, column %d: %.9g, expected at least %.7g, the range of single precision", name,
                i + 1, A->column_indices[k] + 1, A->values[k], (double)FLT_MIN);
        return -1;
      }
      /* Single entries were checked in the file; sums of duplicates can still be too large. */
      if (isfinite((float)A->values[k])) continue;
      message(
          "%s: row %d, column %d: the duplicate entries add up to %.9g, expected a number of single precision",
          name, i + 1, A->column_indices[k] + 1, A->values[k]);
      return -1;
    }
    if (preconditioner != TS_PRECONDITIONER_JACOBI || (diagonal && (float)*diagonal != 0)) continue;
    message(
        "%s: row %d has %s on the diagonal, expected a nonzero number for --preconditioner jacobi (hint: try "
        "--preconditioner none)",
        name, i + 1, diagonal ? "a zero" : "no entry");
    return -1;
  }
  return 0;
}

static int read_matrix(const solve_options *options, mm_csr *A) {
  mm_file file = {0};
  mm_error error;
  if (mm_open(&file, options->matrix, &error)) return say(&error);
  int failed = check_sizes(&file);
  if (!failed && mm_read_csr(&file, A, &error)) failed = say(&error);
  if (!failed) {
    say_duplicates(file.name, A->duplicates);
    failed = check_entries(file.name, A, options->preconditioner);
  }
  mm_close(&file);
  return failed;
}

/* ---- Vectors ---- */

/* Of b: numbers that vanish in single precision. */
static int check_small(const char *name, const double *values, int32_t rows, int columns) {
  double largest[4] = {0};
  const size_t count = (size_t)rows * (size_t)columns;
  for (size_t i = 0; i < count; i++)
    largest[i % (size_t)columns] = fmax(largest[i % (size_t)columns], fabs(values[i]));
  for (size_t i = 0; i < count; i++) {
    if (!vanishes(values[i], largest[i % (size_t)columns])) continue;
    message("%s: row %zu, column %zu: %.9g, expected at least %.7g, the range of single precision", name,
            i / (size_t)columns + 1, i % (size_t)columns + 1, values[i], (double)FLT_MIN);
    return -1;
  }
  return 0;
}

/* `columns` 0 accepts 1 to 4 of them and says how many there are. */
static int read_vector(const char *path, const char *matrix, int32_t rows, int *columns, double **values) {
  mm_file file = {0};
  mm_error error;
  if (mm_open(&file, path, &error)) return say(&error);
  const mm_header *h = &file.header;
  int failed = 0;
  if (h->rows != rows) {
    message("%s:%lld: %lld rows, expected %d, as many as %s has", file.name, (long long)h->size_line,
            (long long)h->rows, rows, matrix);
    failed = -1;
  } else if (*columns ? h->columns != *columns : h->columns > 4) {
    message(*columns ? "%s:%lld: %lld columns, expected %d, as many as b has"
                     : "%s:%lld: %lld columns, expected 1 to %d right-hand sides",
            file.name, (long long)h->size_line, (long long)h->columns, *columns ? *columns : 4);
    failed = -1;
  } else {
    int64_t duplicates;
    *columns = (int)h->columns;
    if (mm_read_dense(&file, values, &duplicates, &error)) failed = say(&error);
    if (!failed) say_duplicates(file.name, duplicates);
    for (size_t i = 0; !failed && i < (size_t)rows * (size_t)h->columns; i++) {
      if (isfinite((float)(*values)[i])) continue;
      message("%s: row %zu: the duplicate entries add up to %.9g, expected a number of single precision",
              file.name, i / (size_t)h->columns + 1, (*values)[i]);
      failed = -1;
    }
  }
  mm_close(&file);
  return failed;
}

static int fill_ones(int32_t rows, double **b) {
  *b = malloc((size_t)rows * sizeof **b);
  if (!*b) {
    message("out of memory for a right-hand side of %d rows", rows);
    return -1;
  }
  for (int32_t i = 0; i < rows; i++) (*b)[i] = 1;
  return 0;
}

int solve_read(const solve_options *options, solve_system *system) {
  memset(system, 0, sizeof *system);
  int failed = read_matrix(options, &system->A);
  const int32_t rows = system->A.rows;
  if (!failed && options->b)
    failed = read_vector(options->b, options->matrix, rows, &system->components, &system->b);
  if (!failed && options->b) failed = check_small(options->b, system->b, rows, system->components);
  if (!failed && !options->b) {
    system->components = 1;
    failed = fill_ones(rows, &system->b);
  }
  if (!failed && options->x0)
    failed = read_vector(options->x0, options->matrix, rows, &system->components, &system->x0);
  progress_clear();
  if (failed) solve_free(system);
  return failed;
}

void solve_free(solve_system *system) {
  mm_free_csr(&system->A);
  free(system->b);
  free(system->x0);
  memset(system, 0, sizeof *system);
}

/* ---- The solution ---- */

int solve_residual(const solve_system *system, const float *x, double *r, double *relative_residual) {
  const mm_csr *A = &system->A;
  const size_t components = (size_t)system->components;
  const size_t count = (size_t)A->rows * components;
  double *written = malloc(count * sizeof *written);
  if (!written) {
    message("out of memory for the residual of %d rows", A->rows);
    return -1;
  }
  for (size_t i = 0; i < count; i++) written[i] = mm_written_value(x[i]);

  double r_squares[4] = {0}, b_squares[4] = {0};
  for (int32_t i = 0; i < A->rows; i++) {
    const double *b = &system->b[(size_t)i * components];
    double *rest = &r[(size_t)i * components];
    for (size_t c = 0; c < components; c++) rest[c] = b[c];
    for (int32_t k = A->row_offsets[i]; k < A->row_offsets[i + 1]; k++) {
      const double *x_j = &written[(size_t)A->column_indices[k] * components];
      for (size_t c = 0; c < components; c++) rest[c] -= A->values[k] * x_j[c];
    }
    for (size_t c = 0; c < components; c++) {
      r_squares[c] += rest[c] * rest[c];
      b_squares[c] += b[c] * b[c];
    }
  }
  free(written);
  double largest = 0;
  for (size_t c = 0; c < components && !isnan(largest); c++) {
    const double ratio = sqrt(b_squares[c] > 0 ? r_squares[c] / b_squares[c] : r_squares[c]);
    if (isnan(ratio) || ratio > largest) largest = ratio;
  }
  char digits[32];
  snprintf(digits, sizeof digits, "%.8e", largest);
  *relative_residual = strtod(digits, NULL);
  return 0;
}

const char *solve_residual_text(double relative_residual, double rtol) {
  static char text[32];
  for (int digits = 3; digits <= 8; digits++) {
    snprintf(text, sizeof text, "%.*e", digits, relative_residual);
    if ((strtod(text, NULL) <= rtol) == (relative_residual <= rtol)) break;
  }
  return text;
}
