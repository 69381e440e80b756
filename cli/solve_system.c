/* The system of `texsolve solve`: reads it, and rejects systems that cannot be solved. */
#include "solve.h"

#include <float.h>
#include <limits.h>
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

/* Below this exponent, floats can also represent the remainders of matrices and vectors that are stored as
 * floats. */
enum { ordinary = 60 };

static int exponent_of(double largest) {
  int exponent;
  frexp(largest, &exponent);
  return exponent < -ordinary || exponent > ordinary ? exponent : 0;
}

/* Compares bits, which have the order of absolute values. The result is not finite if one of the values is
 * not. */
static double largest_of(const double *values, size_t count) {
  uint64_t largest = 0;
  double value;
  for (size_t i = 0; i < count; i++) {
    uint64_t bits;
    value = fabs(values[i]);
    memcpy(&bits, &value, sizeof bits);
    if (bits > largest) largest = bits;
  }
  memcpy(&value, &largest, sizeof value);
  return value;
}

/* Below the range of single precision. */
static int is_small(double value, int exponent) {
  return fabs(exponent ? ldexp(value, -exponent) : value) < FLT_MIN;
}

/* Also not negligible compared with the largest number of its row or column. */
static int vanishes(double value, double largest, int exponent) {
  return is_small(value, exponent) && fabs(value) > ldexp(largest, -24);
}

static void say_vanishes(const char *name, size_t row, size_t column, double value, double largest,
                         int exponent) {
  message("%s: row %zu, column %zu: %.9g, expected at least %.7g, the range of single precision relative to "
          "%.7g, the largest number",
          name, row, column, value, ldexp(FLT_MIN, exponent), largest);
}

static void scale(double *values, size_t count, int exponent) {
  for (size_t i = 0; i < count && exponent; i++) values[i] = ldexp(values[i], -exponent);
}

/* diagonal: NULL if the entry is missing. */
static int check_diagonal(const char *name, int32_t row, const double *diagonal, int exponent,
                          ts_preconditioner_kind preconditioner) {
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
                         ts_preconditioner_kind of_diagonal) {
  for (int32_t i = 0; i < A->rows; i++) {
    const int32_t first = A->row_offsets[i], end = A->row_offsets[i + 1];
    const double *diagonal = NULL;
    double largest = -1; /* not known yet */
    for (int32_t k = first; k < end; k++) {
      if (A->column_indices[k] == i) diagonal = &A->values[k];
      if (!is_small(A->values[k], exponent)) continue;
      if (largest < 0) largest = largest_of(A->values + first, (size_t)(end - first));
      if (!vanishes(A->values[k], largest, exponent)) continue;
      say_vanishes(name, (size_t)i + 1, (size_t)A->column_indices[k] + 1, A->values[k], largest_entry,
                   exponent);
      return -1;
    }
    if (check_diagonal(name, i, diagonal, exponent, of_diagonal)) return -1;
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

/* For least squares, Jacobi divides by norms of columns. */
static int check_matrix(const char *name, const solve_options *options, int is_least_squares,
                        solve_system *system) {
  mm_csr *const A = &system->A;
  const ts_preconditioner_kind of_diagonal =
      is_least_squares ? TS_PRECONDITIONER_NONE : options->preconditioner;
  const size_t entries = (size_t)A->nonzeros;
  const double largest = largest_of(A->values, entries);
  if (!isfinite(largest) && check_sums(name, A)) return -1;
  system->exponent = exponent_of(largest);
  if (check_entries(name, A, system->exponent, largest, of_diagonal)) return -1;
  scale(A->values, entries, system->exponent);
  return is_least_squares ? solve_begin_least_squares(system) : 0;
}

/* Only least squares permits rows and columns without entries. */
static int read_entries(mm_file *file, int is_least_squares, mm_csr *A) {
  mm_error error;
  const int failed = is_least_squares ? mm_check_filled(file, &error) : mm_check_square(file, &error);
  return failed || mm_read_csr(file, A, &error) ? say(&error) : 0;
}

static int read_matrix(const solve_options *options, solve_system *system) {
  mm_csr *const A = &system->A;
  mm_file file = {0};
  mm_error error;
  if (mm_open(&file, options->matrix, &error)) return say(&error);
  const int is_least_squares =
      solve_is_least_squares(options->method) || file.header.rows != file.header.columns;
  int failed = solve_check_shape(options, &file) || read_entries(&file, is_least_squares, A);
  if (!failed) {
    say_duplicates(file.name, A->duplicates);
    failed = check_matrix(file.name, options, is_least_squares, system);
  }
  mm_close(&file);
  return failed;
}

/* ---- Vectors ---- */

/* Checks for numbers of b that vanish in single precision, and of x0 beyond its range. The exponents of a
 * column of zeros keep x unscaled. */
static int check_column(const solve_options *options, solve_system *system, size_t c) {
  const size_t rows = (size_t)system->A.rows, unknowns = (size_t)system->A.columns;
  double *const b = system->b + c * rows, *const x0 = system->x0 ? system->x0 + c * unknowns : NULL;
  const double largest = largest_of(b, rows);
  const int b_exponent = largest > 0 ? exponent_of(largest) : system->exponent;
  const int x_exponent = b_exponent - system->exponent;
  for (size_t i = 0; i < rows; i++) {
    if (!vanishes(b[i], largest, b_exponent)) continue;
    say_vanishes(options->b, i + 1, c + 1, b[i], largest, b_exponent);
    return -1;
  }
  system->exponents[c] = (solve_exponents){b_exponent, x_exponent};
  scale(b, rows, b_exponent);
  if (x0) scale(x0, unknowns, x_exponent);
  for (size_t i = 0; x0 && i < unknowns; i++) {
    if (isfinite((float)x0[i])) continue;
    message("%s: row %zu, column %zu: %.9g, beyond the range of single precision in this system", options->x0,
            i + 1, c + 1, ldexp(x0[i], x_exponent));
    return -1;
  }
  return 0;
}

static int check_vectors(const solve_options *options, solve_system *system) {
  const size_t columns = (size_t)system->columns;
  system->exponents = malloc(columns * sizeof *system->exponents);
  if (!system->exponents) {
    message("out of memory for %zu columns", columns);
    return -1;
  }
  for (size_t c = 0; c < columns; c++)
    if (check_column(options, system, c)) return -1;
  return 0;
}

/* Reads the numbers of a file after its sizes were checked. */
static int read_numbers(mm_file *file, int by_columns, double **values) {
  const mm_header *const h = &file->header;
  int64_t duplicates;
  mm_error error;
  if (mm_read_dense(file, by_columns, values, &duplicates, &error)) return say(&error);
  say_duplicates(file->name, duplicates);
  for (size_t i = 0; i < (size_t)h->rows * (size_t)h->columns; i++) {
    if (isfinite((*values)[i])) continue;
    message("%s: row %zu: the duplicate entries add up to %.9g, expected a finite number", file->name,
            (by_columns ? i % (size_t)h->rows : i / (size_t)h->columns) + 1, (*values)[i]);
    return -1;
  }
  return 0;
}

/* `columns` 0 accepts any number and receives it. `rows` must be the matrix's number of `what`. */
static int read_vector(const char *path, const char *matrix, int32_t rows, const char *what, int *columns,
                       double **values) {
  mm_file file = {0};
  mm_error error;
  if (mm_open(&file, path, &error)) return say(&error);
  const mm_header *h = &file.header;
  int failed = 0;
  if (h->rows != rows) {
    message("%s:%lld: %lld rows, expected %d, as many as %s has%s", file.name, (long long)h->size_line,
            (long long)h->rows, rows, matrix, what);
    failed = -1;
  } else if (*columns && h->columns != *columns) {
    message("%s:%lld: %lld columns, expected %d, as many as b has", file.name, (long long)h->size_line,
            (long long)h->columns, *columns);
    failed = -1;
  } else if (h->rows * h->columns > INT_MAX) { /* as coordinates, which can omit most of them */
    message("%s:%lld: %lld x %lld values, expected at most %d", file.name, (long long)h->size_line,
            (long long)h->rows, (long long)h->columns, INT_MAX);
    failed = -1;
  } else {
    *columns = (int)h->columns;
    failed = read_numbers(&file, 1, values);
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

/* ---- Input of AMG ---- */

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
  if (!failed) failed = read_numbers(&file, 0, o->near_null ? &system->near_null : &system->coordinates);
  *(o->near_null ? &system->near_null_vectors : &system->dimensions) = (int)file.header.columns;
  mm_close(&file);
  return failed;
}

int solve_read(const solve_options *options, solve_system *system) {
  memset(system, 0, sizeof *system);
  int failed = read_matrix(options, system);
  const int32_t rows = system->A.rows, unknowns = system->A.columns;
  const int is_square = rows == unknowns;
  if (!failed && options->b)
    failed =
        read_vector(options->b, options->matrix, rows, is_square ? "" : " rows", &system->columns, &system->b);
  if (!failed && !options->b) {
    system->columns = 1;
    failed = fill_ones(rows, &system->b);
  }
  if (!failed && options->x0)
    failed = read_vector(options->x0, options->matrix, unknowns, is_square ? "" : " columns", &system->columns,
                         &system->x0);
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
  free(system->exponents);
  free(system->transposed);
  free(system->near_null);
  free(system->coordinates);
  memset(system, 0, sizeof *system);
}
