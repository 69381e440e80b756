#include "matrix_market.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cholmod.h>

#include "progress.h"

__attribute__((format(printf, 2, 3))) static int fail(mm_error *error, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error->text, sizeof error->text, format, arguments);
  va_end(arguments);
  return -1;
}

/* ---- The file in memory ---- */

static int read_all(FILE *stream, mm_file *file) {
  size_t capacity = 1 << 16;
  struct stat info;
  if (fstat(fileno(stream), &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0)
    capacity = (size_t)info.st_size + 1;
  file->text = malloc(capacity);
  if (!file->text) return ENOMEM;
  for (;;) {
    const size_t wanted = capacity - file->length;
    errno = 0;
    const size_t got = fread(file->text + file->length, 1, wanted, stream);
    file->length += got;
    if (got < wanted) return ferror(stream) ? (errno ? errno : EIO) : 0;
    char *larger = capacity > SIZE_MAX / 2 ? NULL : realloc(file->text, 2 * capacity);
    if (!larger) return ENOMEM;
    file->text = larger;
    capacity *= 2;
  }
}

int mm_open(mm_file *file, const char *path, mm_error *error) {
  memset(file, 0, sizeof *file);
  const int standard_input = !strcmp(path, "-");
  FILE *stream = standard_input ? stdin : fopen(path, "rb");
  if (!stream) return fail(error, "%.200s: %s, expected a Matrix Market file", path, strerror(errno));
  const int failed = read_all(stream, file);
  if (!standard_input) fclose(stream);
  file->name = strdup(standard_input ? "standard input" : path);
  if (failed || !file->name) {
    fail(error, "%.200s: %s, expected a Matrix Market file", path, strerror(failed ? failed : ENOMEM));
  } else if (mm_scan(file->name, file->text, file->length, &file->header, error) == 0) {
    return 0;
  }
  mm_close(file);
  return -1;
}

void mm_close(mm_file *file) {
  free(file->name);
  free(file->text);
  memset(file, 0, sizeof *file);
}

/* A stream over the text for CHOLMOD, which shows how far CHOLMOD has come. */
typedef struct text_stream {
  const mm_file *file;
  size_t position;
} text_stream;

static ssize_t text_read(void *cookie, char *buffer, size_t size) {
  text_stream *s = cookie;
  const size_t left = s->file->length - s->position;
  if (size > left) size = left;
  memcpy(buffer, s->file->text + s->position, size);
  s->position += size;
  progress_show("reading %.50s: %3.0f %%", s->file->name,
                100.0 * (double)s->position / (double)s->file->length);
  return (ssize_t)size;
}

/* ---- CHOLMOD ---- */

static void start(cholmod_common *common) {
  cholmod_start(common);
  common->print = 0;         /* no messages of its own */
  common->prefer_binary = 1; /* a symmetric pattern is all 1 too */
}

static int cholmod_failed(const mm_file *file, const cholmod_common *common, mm_error *error) {
  if (common->status == CHOLMOD_OUT_OF_MEMORY)
    return fail(error, "%.200s: out of memory for %lld entries", file->name, (long long)file->header.entries);
  if (common->status == CHOLMOD_TOO_LARGE)
    return fail(error, "%.200s: %lld entries, expected at most %d with both triangles", file->name,
                (long long)file->header.entries, INT_MAX);
  return fail(error, "%.200s: CHOLMOD's reader refused the file (status %d)", file->name, common->status);
}

/* The file as CHOLMOD reads it: a triplet or a dense matrix, the other one NULL. */
static int read_file(const mm_file *file, cholmod_triplet **triplet, cholmod_dense **dense,
                     cholmod_common *common, mm_error *error) {
  text_stream cookie = {file, 0};
  const cookie_io_functions_t functions = {.read = text_read};
  *triplet = NULL;
  *dense = NULL;
  if (!file->header.coordinate &&
      file->header.entries == 0) { /* skew-symmetric of 1 x 1: CHOLMOD would crash */
    *dense = cholmod_zeros((size_t)file->header.rows, (size_t)file->header.columns, CHOLMOD_REAL, common);
    return *dense ? 0 : cholmod_failed(file, common, error);
  }
  FILE *stream = fopencookie(&cookie, "r", functions);
  if (!stream) return fail(error, "%.200s: %s", file->name, strerror(errno));
  if (file->header.coordinate)
    *triplet = cholmod_read_triplet(stream, common);
  else
    *dense = cholmod_read_dense(stream, common);
  fclose(stream);
  progress_clear();
  if (*triplet || *dense) return 0;
  return cholmod_failed(file, common, error);
}

/* CHOLMOD compresses columns; the columns of the transpose are our rows. */
static cholmod_sparse *transposed(cholmod_triplet *t, int64_t *duplicates, cholmod_common *common) {
  void *const rows = t->i;
  const size_t row_count = t->nrow;
  t->i = t->j;
  t->j = rows;
  t->nrow = t->ncol;
  t->ncol = row_count;
  t->stype = -t->stype;
  cholmod_sparse *lower = cholmod_triplet_to_sparse(t, 0, common);
  if (!lower) return NULL;
  *duplicates = (int64_t)t->nnz - (int64_t)cholmod_nnz(lower, common);
  if (lower->stype == 0) return lower;
  cholmod_sparse *both = cholmod_copy(lower, 0, 1, common);
  cholmod_free_sparse(&lower, common);
  return both;
}

static cholmod_sparse *transposed_dense(cholmod_dense *d, cholmod_common *common) {
  cholmod_sparse *columns = cholmod_dense_to_sparse(d, 1, common);
  if (!columns) return NULL;
  cholmod_sparse *rows = cholmod_transpose(columns, 1, common);
  cholmod_free_sparse(&columns, common);
  return rows;
}

int mm_read_csr(const mm_file *file, mm_csr *csr, mm_error *error) {
  memset(csr, 0, sizeof *csr);
  cholmod_common common;
  cholmod_triplet *triplet;
  cholmod_dense *dense;
  cholmod_sparse *sparse = NULL;
  start(&common);
  int result = read_file(file, &triplet, &dense, &common, error);
  if (result == 0) {
    sparse = triplet ? transposed(triplet, &csr->duplicates, &common) : transposed_dense(dense, &common);
    if (!sparse) result = cholmod_failed(file, &common, error);
    /* CHOLMOD's reader has expanded a skew-symmetric matrix, which doubles its duplicates. */
    if (file->header.symmetry == MM_SKEW_SYMMETRIC) csr->duplicates /= 2;
  }
  cholmod_free_triplet(&triplet, &common);
  cholmod_free_dense(&dense, &common);
  cholmod_finish(&common);
  if (result || !sparse) return -1;
  csr->rows = (int32_t)sparse->ncol;
  csr->columns = (int32_t)sparse->nrow;
  csr->row_offsets = sparse->p;
  csr->column_indices = sparse->i;
  csr->values = sparse->x;
  csr->nonzeros = csr->row_offsets[csr->rows];
  csr->storage = sparse;
  return 0;
}

void mm_free_csr(mm_csr *csr) {
  cholmod_common common;
  cholmod_sparse *sparse = csr->storage;
  if (sparse) {
    start(&common);
    cholmod_free_sparse(&sparse, &common);
    cholmod_finish(&common);
  }
  memset(csr, 0, sizeof *csr);
}

/* ---- Dense matrices ---- */

/* One flag per value tells entries apart that a file has twice. */
static void scatter(const cholmod_triplet *t, mm_symmetry symmetry, double *values, unsigned char *seen,
                    int64_t *duplicates) {
  const int *const i = t->i, *const j = t->j;
  const double *const x = t->x;
  for (size_t k = 0; k < t->nnz; k++) {
    const size_t at = (size_t)i[k] * t->ncol + (size_t)j[k];
    values[at] += x[k];
    /* A skew-symmetric triplet comes with both of its triangles: count in one. */
    if (symmetry != MM_SKEW_SYMMETRIC || i[k] > j[k]) *duplicates += seen[at];
    seen[at] = 1;
    if (symmetry == MM_SYMMETRIC && i[k] != j[k]) values[(size_t)j[k] * t->ncol + (size_t)i[k]] += x[k];
  }
}

int mm_read_dense(const mm_file *file, double **values, int64_t *duplicates, mm_error *error) {
  const mm_header *h = &file->header;
  const size_t count = (size_t)h->rows * (size_t)h->columns;
  *duplicates = 0;
  *values = calloc(count, sizeof **values);
  unsigned char *seen = h->coordinate ? calloc(count, 1) : NULL;
  if (!*values || (h->coordinate && !seen)) {
    fail(error, "%.200s: out of memory for %lld x %lld values", file->name, (long long)h->rows,
         (long long)h->columns);
    free(seen);
    free(*values);
    *values = NULL;
    return -1;
  }
  cholmod_common common;
  cholmod_triplet *triplet;
  cholmod_dense *dense;
  start(&common);
  const int result = read_file(file, &triplet, &dense, &common, error);
  if (result == 0 && triplet && seen) scatter(triplet, h->symmetry, *values, seen, duplicates);
  if (result == 0 && dense) {
    const double *const x = dense->x;
    for (size_t i = 0; i < dense->nrow; i++)
      for (size_t c = 0; c < dense->ncol; c++) (*values)[i * dense->ncol + c] = x[c * dense->d + i];
  }
  cholmod_free_triplet(&triplet, &common);
  cholmod_free_dense(&dense, &common);
  cholmod_finish(&common);
  free(seen);
  if (result) {
    free(*values);
    *values = NULL;
  }
  return result;
}

#define VALUE_FORMAT "%.9g"

double mm_written_value(float value) {
  char text[32];
  snprintf(text, sizeof text, VALUE_FORMAT, (double)value);
  return strtod(text, NULL);
}

void mm_write_dense(FILE *stream, const char *comment, int32_t rows, int columns, const float *values) {
  fprintf(stream, "%%%%MatrixMarket matrix array real general\n%% %s\n%d %d\n", comment, (int)rows, columns);
  for (int c = 0; c < columns; c++)
    for (int32_t i = 0; i < rows; i++)
      fprintf(stream, VALUE_FORMAT "\n", (double)values[(size_t)i * (size_t)columns + (size_t)c]);
}
