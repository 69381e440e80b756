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

/* ---- Scale ---- */

/* Floats of matrices and vectors below this have remainders that floats hold, too. */
enum { ordinary = 60 };

static int exponent_of(double largest) {
  int exponent;
  frexp(largest, &exponent);
  return exponent < -ordinary || exponent > ordinary ? exponent : 0;
}

static double largest_of(const double *values, size_t count, size_t stride) {
  double largest = 0;
  for (size_t i = 0; i < count; i += stride) largest = fmax(largest, fabs(values[i]));
  return largest;
}

/* Neither held in single precision nor nothing beside the largest of its row or column. */
static int vanishes(double value, double largest, int exponent) {
  return fabs(ldexp(value, -exponent)) < FLT_MIN && fabs(value) > ldexp(largest, -24);
}

static void say_vanishes(const char *name, size_t row, size_t column, double value, double largest,
                         int exponent) {
  message("%s: row %zu, column %zu: %.9g, expected at least %.7g, the range of single precision beside %.7g, "
          "the largest number",
          name, row, column, value, ldexp(FLT_MIN, exponent), largest);
}

static void scale(double *values, size_t count, size_t stride, int exponent) {
  for (size_t i = 0; i < count && exponent; i += stride) values[i] = ldexp(values[i], -exponent);
}

/* diagonal: NULL if there is no entry. */
static int check_diagonal(const char *name, int32_t row, const double *diagonal, int exponent,
                          ts_preconditioner_kind preconditioner) {
  if (preconditioner == TS_PRECONDITIONER_AUTO) preconditioner = TS_PRECONDITIONER_JACOBI; /* needs least */
  const float value = diagonal ? (float)ldexp(*diagonal, -exponent) : 0;
  const int positive = preconditioner == TS_PRECONDITIONER_AMG;
  const int nonzero =
      positive || preconditioner == TS_PRECONDITIONER_JACOBI || preconditioner == TS_PRECONDITIONER_CHEBYSHEV;
  if (!nonzero || value > 0 || (!positive && value < 0)) return 0;
  message("%s: row %d has %s on the diagonal, expected a %s number for --preconditioner %s (hint: try "
          "--preconditioner none)",
          name, row + 1,
          value < 0  ? "a negative number"
          : diagonal ? "a zero"
                     : "no entry",
          positive ? "positive" : "nonzero", ts_preconditioner_kind_name(preconditioner));
  return -1;
}

static int check_entries(const char *name, const mm_csr *A, int exponent, double largest_entry,
                         ts_preconditioner_kind preconditioner) {
  for (int32_t i = 0; i < A->rows; i++) {
    const int32_t first = A->row_offsets[i], end = A->row_offsets[i + 1];
    const double largest = largest_of(A->values + first, (size_t)(end - first), 1);
    const double *diagonal = NULL;
    for (int32_t k = first; k < end; k++) {
      if (A->column_indices[k] == i) diagonal = &A->values[k];
      if (!vanishes(A->values[k], largest, exponent)) continue;
      say_vanishes(name, (size_t)i + 1, (size_t)A->column_indices[k] + 1, A->values[k], largest_entry,
                   exponent);
      return -1;
    }
    if (check_diagonal(name, i, diagonal, exponent, preconditioner)) return -1;
  }
  return 0;
}

/* Single entries were checked in the file; sums of duplicates can still be too large. */
static int check_sums(const char *name, const mm_csr *A) {
  for (int32_t i = 0; i < A->rows; i++)
    for (int32_t k = A->row_offsets[i]; k < A->row_offsets[i + 1]; k++) {
      if (isfinite(A->values[k])) continue;
      message("%s: row %d, column %d: the duplicate entries add up to %.9g, expected a finite number", name,
              i + 1, A->column_indices[k] + 1, A->values[k]);
      return -1;
    }
  return 0;
}

static int check_matrix(const char *name, const solve_options *options, solve_system *system) {
  mm_csr *const A = &system->A;
  const size_t entries = (size_t)A->nonzeros;
  if (check_sums(name, A)) return -1;
  const double largest = largest_of(A->values, entries, 1);
  system->exponent = exponent_of(largest);
  if (check_entries(name, A, system->exponent, largest, options->preconditioner)) return -1;
  scale(A->values, entries, 1, system->exponent);
  return 0;
}

static int read_matrix(const solve_options *options, solve_system *system) {
  mm_csr *const A = &system->A;
  mm_file file = {0};
  mm_error error;
  if (mm_open(&file, options->matrix, &error)) return say(&error);
  int failed = mm_check_square(&file, &error) || mm_read_csr(&file, A, &error) ? say(&error) : 0;
  if (!failed) {
    say_duplicates(file.name, A->duplicates);
    failed = check_matrix(file.name, options, system);
  }
  mm_close(&file);
  return failed;
}

/* ---- Vectors ---- */

/* The exponents of b and x; those of a column without numbers are such that x keeps its own. */
static void scale_vectors(solve_system *system, const double *largest) {
  const size_t columns = (size_t)system->components, count = (size_t)system->A.rows * columns;
  for (size_t c = 0; c < columns; c++) {
    system->b_exponents[c] = largest[c] > 0 ? exponent_of(largest[c]) : system->exponent;
    system->x_exponents[c] = system->b_exponents[c] - system->exponent;
    scale(system->b + c, count - c, columns, system->b_exponents[c]);
    if (system->x0) scale(system->x0 + c, count - c, columns, system->x_exponents[c]);
  }
}

/* Numbers of b that vanish in single precision, and of x0 beyond it. */
static int check_vectors(const solve_options *options, solve_system *system) {
  const size_t columns = (size_t)system->components, count = (size_t)system->A.rows * columns;
  double largest[4] = {0};
  for (size_t c = 0; c < columns; c++) largest[c] = largest_of(system->b + c, count - c, columns);
  for (size_t i = 0; i < count; i++) {
    const double most = largest[i % columns];
    if (!vanishes(system->b[i], most, exponent_of(most))) continue;
    say_vanishes(options->b, i / columns + 1, i % columns + 1, system->b[i], most, exponent_of(most));
    return -1;
  }
  scale_vectors(system, largest);
  for (size_t i = 0; system->x0 && i < count; i++) {
    if (isfinite((float)system->x0[i])) continue;
    message("%s: row %zu, column %zu: %.9g, beyond the range of single precision in this system", options->x0,
            i / columns + 1, i % columns + 1, ldexp(system->x0[i], system->x_exponents[i % columns]));
    return -1;
  }
  return 0;
}

/* The numbers of a file whose sizes are right. */
static int read_numbers(const mm_file *file, double **values) {
  const mm_header *h = &file->header;
  int64_t duplicates;
  mm_error error;
  if (mm_read_dense(file, values, &duplicates, &error)) return say(&error);
  say_duplicates(file->name, duplicates);
  for (size_t i = 0; i < (size_t)h->rows * (size_t)h->columns; i++) {
    if (isfinite((*values)[i])) continue;
    message("%s: row %zu: the duplicate entries add up to %.9g, expected a finite number", file->name,
            i / (size_t)h->columns + 1, (*values)[i]);
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
    *columns = (int)h->columns;
    failed = read_numbers(&file, values);
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

/* ---- What amg is told ---- */

static int check_unknowns(const solve_options *o, int32_t rows) {
  if (o->amg.unknowns <= 1 || rows % o->amg.unknowns == 0) return 0;
  message("%s: %d rows, expected a multiple of %d for --amg-unknowns %d", o->matrix, rows, o->amg.unknowns,
          o->amg.unknowns);
  return -1;
}

static int check_near_null(const mm_file *file, const solve_options *o, int32_t rows) {
  const mm_header *h = &file->header;
  if (h->rows == rows && h->columns <= 8) return 0;
  if (h->rows != rows)
    message("%s:%lld: %lld rows, expected %d, as many as %s has", file->name, (long long)h->size_line,
            (long long)h->rows, rows, o->matrix);
  else
    message("%s:%lld: %lld columns, expected 1 to 8 vectors", file->name, (long long)h->size_line,
            (long long)h->columns);
  return -1;
}

static int check_coordinates(const mm_file *file, const solve_options *o, int32_t rows) {
  const mm_header *h = &file->header;
  const int unknowns = o->amg.unknowns;
  if (h->columns < 2 || h->columns > 3)
    message("%s:%lld: %lld columns, expected 2 or 3 coordinates", file->name, (long long)h->size_line,
            (long long)h->columns);
  else if (unknowns && unknowns != h->columns)
    message("%s:%lld: %lld columns, expected %d, as many as --amg-unknowns", file->name,
            (long long)h->size_line, (long long)h->columns, unknowns);
  else if (rows % h->columns)
    message("%s:%lld: %lld columns, expected a number that divides the %d rows of %s", file->name,
            (long long)h->size_line, (long long)h->columns, rows, o->matrix);
  else if (h->rows != rows / h->columns)
    message("%s:%lld: %lld rows, expected %lld, a node for each %lld rows of %s", file->name,
            (long long)h->size_line, (long long)h->rows, (long long)(rows / h->columns), (long long)h->columns,
            o->matrix);
  else
    return 0;
  return -1;
}

static int read_of_amg(const solve_options *o, solve_system *system) {
  const char *path = o->near_null ? o->near_null : o->coordinates;
  const int32_t rows = system->A.rows;
  mm_file file = {0};
  mm_error error;
  if (check_unknowns(o, rows)) return -1;
  if (!path) return 0;
  if (mm_open(&file, path, &error)) return say(&error);
  int failed = o->near_null ? check_near_null(&file, o, rows) : check_coordinates(&file, o, rows);
  if (!failed) failed = read_numbers(&file, o->near_null ? &system->near_null : &system->coordinates);
  *(o->near_null ? &system->near_null_vectors : &system->dimensions) = (int)file.header.columns;
  mm_close(&file);
  return failed;
}

int solve_read(const solve_options *options, solve_system *system) {
  memset(system, 0, sizeof *system);
  int failed = read_matrix(options, system);
  const int32_t rows = system->A.rows;
  if (!failed && options->b)
    failed = read_vector(options->b, options->matrix, rows, &system->components, &system->b);
  if (!failed && !options->b) {
    system->components = 1;
    failed = fill_ones(rows, &system->b);
  }
  if (!failed && options->x0)
    failed = read_vector(options->x0, options->matrix, rows, &system->components, &system->x0);
  if (!failed) failed = check_vectors(options, system);
  if (!failed) failed = read_of_amg(options, system);
  progress_clear();
  if (failed) solve_free(system);
  return failed;
}

void solve_free(solve_system *system) {
  mm_free_csr(&system->A);
  free(system->b);
  free(system->x0);
  free(system->near_null);
  free(system->coordinates);
  memset(system, 0, sizeof *system);
}

/* ---- The solution ---- */

/* Of a row: r = b - A x, and |A| |x|. */
static void multiply_row(const solve_system *system, const double *x, int32_t row, size_t c, long double *r,
                         long double *size) {
  const mm_csr *A = &system->A;
  const size_t components = (size_t)system->components;
  *r = system->b[(size_t)row * components + c];
  *size = 0;
  for (int32_t k = A->row_offsets[row]; k < A->row_offsets[row + 1]; k++) {
    const double x_j = ldexp(x[(size_t)A->column_indices[k] * components + c], -system->x_exponents[c]);
    const long double term = (long double)A->values[k] * x_j;
    *r -= term;
    *size += fabsl(term);
  }
}

/* Of one column. */
static solve_accuracy column_accuracy(const solve_system *system, const double *x, size_t c) {
  long double r_squares = 0, sizes = 0, b_squares = 0;
  for (int32_t i = 0; i < system->A.rows; i++) {
    const long double b = system->b[(size_t)i * (size_t)system->components + c];
    long double r, size;
    multiply_row(system, x, i, c, &r, &size);
    r_squares += r * r;
    sizes += size * size;
    b_squares += b * b;
  }
  const double b = b_squares > 0 ? (double)sqrtl(b_squares) : ldexp(1, -system->b_exponents[c]);
  return (solve_accuracy){(double)sqrtl(r_squares) / b, ldexp((double)sqrtl(sizes) / b, -53)};
}

static double larger(double a, double b) {
  return isnan(a) || a > b ? a : b;
}

solve_accuracy solve_residual(const solve_system *system, const double *x) {
  solve_accuracy largest = {0, 0};
  for (size_t c = 0; c < (size_t)system->components; c++) {
    const solve_accuracy a = column_accuracy(system, x, c);
    largest.residual = larger(largest.residual, a.residual);
    largest.rounding = larger(largest.rounding, a.rounding);
  }
  char digits[32];
  snprintf(digits, sizeof digits, "%.8e", largest.residual);
  largest.residual = strtod(digits, NULL);
  return largest;
}

const char *solve_residual_text(double relative_residual, double rtol) {
  static char text[32];
  for (int digits = 3; digits <= 8; digits++) {
    snprintf(text, sizeof text, "%.*e", digits, relative_residual);
    if ((strtod(text, NULL) <= rtol) == (relative_residual <= rtol)) break;
  }
  return text;
}
