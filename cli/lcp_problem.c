/* The problem of `texsolve lcp`: reads its files, and computes the residual of an answer from their numbers. */
#include "lcp.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contact_file.h"
#include "message.h"
#include "progress.h"
#include "text_file.h"

#define LCP_MAP_FUNCTION static inline
#include "lcp/lcp_map.h"

/* ---- Files ---- */

/* Accepts entries in any order, drops zeros and adds entries at the same place. */
static int make_matrix(mm_file *file, lcp_problem *p) {
  const mm_entries *const e = &file->entries;
  mm_error error;
  int64_t count = 0;
  for (int64_t k = 0; e->rows && k < file->header.entries; k++) {
    if (e->values[k] == 0) continue;
    e->rows[count] = e->rows[k];
    e->columns[count] = e->columns[k];
    e->values[count++] = e->values[k];
  }
  if (e->rows) file->header.entries = count;
  if (!mm_read_csr(file, &p->matrix, &error)) return 0;
  message("%s", error.text);
  return -1;
}

/* Reads a Matrix Market file of `rows` numbers in one column. */
static int read_column(const char *path, int32_t rows, int may_be_infinite, double **values) {
  mm_file file;
  mm_error error;
  int64_t duplicates;
  if ((may_be_infinite ? mm_open_bounds : mm_open)(&file, path, &error)) {
    message("%s", error.text);
    return -1;
  }
  int failed = -1;
  if (file.header.rows != rows || file.header.columns != 1)
    message("%s:%lld: %lld rows and %lld columns, expected %d rows and 1 column", file.name,
            (long long)file.header.size_line, (long long)file.header.rows, (long long)file.header.columns,
            (int)rows);
  else if (mm_read_dense(&file, 1, values, &duplicates, &error))
    message("%s", error.text);
  else
    failed = 0;
  mm_close(&file);
  return failed;
}

static int read_matrix_market(const lcp_options *o, const text_file *text, lcp_problem *p) {
  const mm_source source = {.name = text->name, .text = text->text, .length = text->length};
  mm_file file = {.name = text->name};
  mm_error error;
  if (mm_parse(&source, &file.header, &file.entries, &error)) {
    message("%s", error.text);
    return -1;
  }
  int failed = -1;
  p->form = LCP_MATRIX_MARKET;
  p->dimension = 1;
  p->size = (int32_t)file.header.rows;
  if (!o->q)
    message("%s: a matrix alone, expected a second file, q", text->name);
  else if (mm_check_square(&file, &error))
    message("%s", error.text);
  else
    failed = make_matrix(&file, p) || read_column(o->q, p->size, 0, &p->q);
  mm_free_entries(&file.entries);
  return failed;
}

/* Converts the list to arrays and frees it. If memory is exhausted, nothing changes. */
static int convert_entries(contact_file *file, mm_file *matrix) {
  const size_t count = (size_t)file->count;
  mm_entries *const to = &matrix->entries;
  to->rows = malloc((count + 1) * sizeof *to->rows);
  to->columns = malloc((count + 1) * sizeof *to->columns);
  to->values = malloc((count + 1) * sizeof *to->values);
  if (!to->rows || !to->columns || !to->values) {
    mm_free_entries(to);
    message("%.200s: out of memory for %zu entries", matrix->name, count);
    return -1;
  }
  for (size_t k = 0; k < count; k++) {
    to->rows[k] = file->entries[k].row;
    to->columns[k] = file->entries[k].column;
    to->values[k] = file->entries[k].value;
  }
  free(file->entries);
  file->entries = NULL;
  matrix->header = (mm_header){.rows = file->size, .columns = file->size, .entries = file->count};
  return 0;
}

static int move_contact_file(char *name, contact_file *file, lcp_problem *p) {
  mm_file matrix = {.name = name};
  if (convert_entries(file, &matrix)) return -1;
  p->dimension = file->dimension;
  p->size = file->size;
  p->q = file->q;
  p->friction = file->mu;
  p->solution = file->solution;
  p->z0 = file->guess;
  p->guess = file->guess_number;
  file->q = file->mu = file->solution = file->guess = NULL;
  const int failed = make_matrix(&matrix, p);
  mm_free_entries(&matrix.entries);
  return failed;
}

static int read_contact_file(const lcp_options *o, const text_file *text, lcp_problem *p) {
  contact_file file = {0};
  mm_error error;
  const int is_fclib = fclib_is_file(text->text, text->length);
  p->form = is_fclib ? LCP_FCLIB : LCP_SICONOS;
  if (o->q) {
    message("%s: not a Matrix Market file, expected one before %s", text->name, o->q);
    return -1;
  }
  if (is_fclib && !strcmp(o->input, "-")) {
    message("%s: an HDF5 file, expected its name", text->name);
    return -1;
  }
  if (is_fclib && text->was_compressed) {
    message("%s: an HDF5 file, compressed by gzip, expected one that is not (hint: `gzip -d' uncompresses it)",
            text->name);
    return -1;
  }
  int failed = is_fclib ? fclib_read(o->input, o->z0 ? 0 : o->guess, &file, &error)
                        : siconos_parse(text->name, text->text, text->length, &file, &error);
  if (failed)
    message("%s", error.text);
  else
    failed = move_contact_file(text->name, &file, p);
  contact_file_free(&file);
  return failed;
}

static int read_problem(const lcp_options *o, lcp_problem *p) {
  static const char expected[] = "a problem of Siconos or FCLIB, or a Matrix Market file";
  text_file text;
  mm_error error;
  if (text_open(&text, o->input, expected, &error)) {
    message("%s", error.text);
    return -1;
  }
  const size_t blanks = strspn(text.text, " \t\r\n");
  const int failed = text.length > blanks + 1 && !memcmp(text.text + blanks, "%%", 2)
                         ? read_matrix_market(o, &text, p)
                         : read_contact_file(o, &text, p);
  text_close(&text);
  return failed;
}

/* ---- Checks of the library, with messages about the file ---- */

static double diagonal_of(const mm_csr *m, int32_t i) {
  double sum = 0;
  for (int32_t e = m->row_offsets[i]; e < m->row_offsets[i + 1]; e++)
    if (m->column_indices[e] == i) sum += m->values[e];
  return sum;
}

static int check_diagonal(const lcp_options *o, const lcp_problem *p) {
  for (int32_t i = 0; i < p->size; i += p->dimension) {
    const double value = diagonal_of(&p->matrix, i);
    if (value > 0) continue;
    message("%s: diagonal entry of row %d%s: %g, expected a positive number", o->input, (int)i + 1,
            p->dimension > 1 ? ", the normal of a contact" : "", value);
    return -1;
  }
  return 0;
}

static int check_bounds(const lcp_options *o, const lcp_problem *p) {
  for (int32_t i = 0; i < p->size; i++) {
    const double lower = p->lower ? p->lower[i] : 0, upper = p->upper ? p->upper[i] : INFINITY;
    if (lower <= upper && lower < INFINITY && upper > -INFINITY) continue;
    message("%s: row %d: bounds %g and %g, expected a lower one that is not above the upper one",
            o->lower ? o->lower : o->upper, (int)i + 1, lower, upper);
    return -1;
  }
  return 0;
}

static int set_friction(const lcp_options *o, lcp_problem *p) {
  if (o->friction < 0) return 0;
  if (p->dimension == 1) {
    message("%s: a problem without contacts, expected no --friction", o->input);
    return -1;
  }
  for (int32_t k = 0; k < p->size / p->dimension; k++) p->friction[k] = o->friction;
  return 0;
}

int lcp_read(const lcp_options *o, lcp_problem *p) {
  memset(p, 0, sizeof *p);
  progress_begin("reading %.50s", o->input);
  if (read_problem(o, p)) return -1;
  if (p->dimension > 1 && (o->lower || o->upper)) {
    message("%s: contacts with friction, expected no --%s", o->input, o->lower ? "lower" : "upper");
    return -1;
  }
  if (o->guess > 0 && p->form != LCP_FCLIB) {
    message("%s: --guess requires an FCLIB file", o->input);
    return -1;
  }
  if ((o->lower && read_column(o->lower, p->size, 1, &p->lower)) ||
      (o->upper && read_column(o->upper, p->size, 1, &p->upper)) ||
      (o->z0 && read_column(o->z0, p->size, 0, &p->z0)) || set_friction(o, p) || check_diagonal(o, p) ||
      check_bounds(o, p))
    return -1;
  return 0;
}

void lcp_free(lcp_problem *p) {
  double *const arrays[] = {p->q, p->z0, p->lower, p->upper, p->friction, p->solution};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
  mm_free_csr(&p->matrix);
  memset(p, 0, sizeof *p);
}

ts_status lcp_problem_create(ts_context *context, const lcp_problem *p, ts_lcp_storage storage,
                             ts_precision precision, ts_lcp **lcp) {
  const ts_csr matrix = ts_host_csr(p->matrix.rows, p->matrix.columns, p->matrix.row_offsets,
                                    p->matrix.column_indices, p->matrix.values);
  const ts_lcp_desc desc = {.size = p->size,
                            .dimension = p->dimension,
                            .sparse_matrix = &matrix,
                            .storage = storage,
                            .lower = ts_host(p->lower, (size_t)p->size),
                            .upper = ts_host(p->upper, (size_t)p->size),
                            .friction = ts_host(p->friction, (size_t)(p->size / p->dimension)),
                            .precision = precision};
  return ts_lcp_create(context, &desc, lcp);
}

const char *lcp_kind(const lcp_problem *p) {
  if (p->dimension > 1)
    return p->dimension == 2 ? "contacts with friction in 2-D" : "contacts with friction in 3-D";
  return p->lower || p->upper ? "linear complementarity problem with bounds" : "linear complementarity problem";
}

const char *lcp_kind_name(const lcp_problem *p) {
  if (p->dimension > 1) return p->dimension == 2 ? "friction-2d" : "friction-3d";
  return p->lower || p->upper ? "boxed" : "lcp";
}

/* ---- Residuals ---- */

void lcp_multiply(const lcp_problem *p, const double *z, double *w) {
  const mm_csr *m = &p->matrix;
  for (int32_t i = 0; i < p->size; i++) {
    double sum = p->q[i], error = 0;
    for (int32_t e = m->row_offsets[i]; e < m->row_offsets[i + 1]; e++)
      lcp_map_add_product(m->values[e], z[m->column_indices[e]], &sum, &error);
    w[i] = sum + error;
  }
}

double lcp_natural_map(const lcp_problem *p, const double *z, const double *w) {
  double norm = 0, map[3] = {0, 0, 0};
  for (int32_t i = 0; i < p->size && p->dimension > 1; i += p->dimension) {
    lcp_map_contact(map, z + i, w + i, p->friction[i / p->dimension], p->dimension);
    norm = hypot(norm, hypot(map[0], hypot(map[1], map[2])));
  }
  for (int32_t i = 0; i < p->size && p->dimension == 1; i++)
    norm =
        hypot(norm, lcp_map_unknown(z[i], w[i], p->lower ? p->lower[i] : 0, p->upper ? p->upper[i] : INFINITY));
  return norm;
}
