/* The text that Siconos writes for its problems, with numbers in lines of any length:
 *
 *   LCP:       n;                         the matrix; q
 *   friction:  dimension, contacts;       the matrix; q; mu of each contact; optionally 0 or 1, an unused flag
 *   matrix:    storage, rows, columns;    0: rows, columns, and numbers column by column
 *                                         1: blocks in compressed rows, each column by column
 *                                         2: 1 or 2, and cs_print output of CSparse for triplets or columns
 *
 * Comments may follow. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "contact_file.h"
#include "progress.h"
#include "scan.h"

enum { dense = 0, blocks = 1, sparse = 2, max_size = INT_MAX / 16 };

typedef struct reader {
  scanner s;
  contact_file *file;
  int64_t room; /* allocated entries */
} reader;

void contact_file_free(contact_file *file) {
  free(file->entries);
  free(file->q);
  free(file->mu);
  free(file->solution);
  free(file->guess);
  memset(file, 0, sizeof *file);
}

/* ---- Numbers ---- */

/* The next token, on any line; empty at the end. */
static token next_token(scanner *s) {
  for (;;) {
    const token t = scan_token(s);
    if (t.length || !scan_line(s)) return t;
  }
}

static int next_whole(scanner *s, const char *what, int64_t least, int64_t most, int64_t *value) {
  const token t = next_token(s);
  if (!t.length) return scan_fail(s, "the file ends, expected %s", what);
  *value = scan_whole(t);
  if (*value >= least && *value <= most) return 0;
  return scan_fail(s, "%s '%.*s', expected a whole number from %lld to %lld", what, scan_shown(t), t.text,
                   (long long)least, (long long)most);
}

static int next_value(scanner *s, const char *what, int64_t k, double *value) {
  const token t = next_token(s);
  if (!t.length) return scan_fail(s, "the file ends, expected number %lld of %s", (long long)k + 1, what);
  return scan_decimal(s, t, what, 0, value);
}

static int expect_word(scanner *s, const char *word) {
  const token t = next_token(s);
  if (t.length == (int)strlen(word) && !memcmp(t.text, word, strlen(word))) return 0;
  return scan_fail(s, "'%.*s', expected '%s'", scan_shown(t), t.text, word);
}

/* A number takes at least two bytes. So sizes that exceed the rest of the file are detected before memory is
 * allocated. */
static int check_room(scanner *s, const char *what, int64_t count) {
  const int64_t most = (s->end - s->p) / 2 + 1;
  if (count <= most) return 0;
  return scan_fail(s, "%s: %lld numbers, expected at most the %lld that the rest of the file has room for",
                   what, (long long)count, (long long)most);
}

static int add_entry(reader *r, int64_t row, int64_t column, double value) {
  contact_file *file = r->file;
  if (value == 0) return 0;
  if (file->count == r->room) {
    const int64_t room = 2 * r->room + 1024;
    mm_entry *larger = realloc(file->entries, (size_t)room * sizeof *larger);
    if (!larger) return scan_fail(&r->s, "out of memory for %lld entries", (long long)room);
    file->entries = larger;
    r->room = room;
  }
  file->entries[file->count++] = (mm_entry){(int32_t)row, (int32_t)column, value};
  if (file->count % 4096 == 0)
    progress_step((double)(r->s.next - r->s.text) / (double)(r->s.end - r->s.text), "entry %lld",
                  (long long)file->count);
  return 0;
}

/* ---- Matrices ---- */

static int read_dense(reader *r) {
  scanner *s = &r->s;
  const int64_t n = r->file->size;
  int64_t size;
  if (next_whole(s, "rows", n, n, &size) || next_whole(s, "columns", n, n, &size)) return -1;
  if (check_room(s, "the matrix", n * n)) return -1;
  for (int64_t k = 0; k < n * n; k++) {
    double value;
    if (next_value(s, "the matrix", k, &value) || add_entry(r, k % n, k / n, value)) return -1;
  }
  return 0;
}

/* Reads `count` integers that do not decrease, end with `last` and follow a zero. */
static int read_rising(scanner *s, const char *what, int64_t count, int64_t last, int64_t **list) {
  if (check_room(s, what, count)) return -1;
  *list = calloc((size_t)count + 1, sizeof **list);
  if (!*list) return scan_fail(s, "out of memory for %s", what);
  for (int64_t k = 1; k <= count; k++) {
    const int64_t least = k == count ? last : (*list)[k - 1];
    if (next_whole(s, what, least, last, *list + k)) return -1;
  }
  return 0;
}

typedef struct block_lists {
  int64_t block_count, block_rows, block_columns;
  int64_t *rows, *columns; /* first row of each block row, first column of each block column, and the ends */
  int64_t *starts;         /* offset of each row of blocks */
  int64_t *indices;        /* block columns */
} block_lists;

static int read_block_lists(reader *r, block_lists *b) {
  scanner *s = &r->s;
  const int64_t n = r->file->size;
  int64_t starts, indices, first;
  if (next_whole(s, "the number of blocks", 0, max_size, &b->block_count) ||
      next_whole(s, "rows of blocks", 1, n, &b->block_rows) ||
      next_whole(s, "columns of blocks", 1, n, &b->block_columns) ||
      read_rising(s, "ends of rows of blocks", b->block_rows, n, &b->rows) ||
      read_rising(s, "ends of columns of blocks", b->block_columns, n, &b->columns) ||
      next_whole(s, "the number of starts of rows of blocks", b->block_rows + 1, b->block_rows + 1, &starts) ||
      next_whole(s, "the number of columns of blocks", b->block_count, b->block_count, &indices) ||
      next_whole(s, "the start of the first row of blocks", 0, 0, &first) ||
      read_rising(s, "starts of rows of blocks", b->block_rows, b->block_count, &b->starts) ||
      check_room(s, "columns of blocks", b->block_count))
    return -1;
  b->indices = calloc((size_t)b->block_count + 1, sizeof *b->indices);
  if (!b->indices) return scan_fail(s, "out of memory for %lld blocks", (long long)b->block_count);
  for (int64_t k = 0; k < b->block_count; k++)
    if (next_whole(s, "the column of a block", 0, b->block_columns - 1, b->indices + k)) return -1;
  return 0;
}

static int read_block(reader *r, const block_lists *b, int64_t row, int64_t k) {
  const int64_t top = b->rows[row], height = b->rows[row + 1] - top;
  const int64_t left = b->columns[b->indices[k]], width = b->columns[b->indices[k] + 1] - left;
  int64_t number;
  if (next_whole(&r->s, "the number of a block", k, k, &number)) return -1;
  for (int64_t e = 0; e < width * height; e++) {
    double value;
    if (next_value(&r->s, "a block", e, &value) || add_entry(r, top + e % height, left + e / height, value))
      return -1;
  }
  return 0;
}

static int read_blocks(reader *r) {
  block_lists b = {0};
  int failed = read_block_lists(r, &b);
  for (int64_t row = 0; row < b.block_rows && !failed; row++)
    for (int64_t k = b.starts[row]; k < b.starts[row + 1] && !failed; k++) failed = read_block(r, &b, row, k);
  free(b.rows);
  free(b.columns);
  free(b.starts);
  free(b.indices);
  return failed;
}

/* Reads "ROW : VALUE", or "ROW COLUMN : VALUE" if the column is not known. */
static int read_printed_entry(reader *r, int64_t column) {
  const int64_t n = r->file->size;
  int64_t row;
  double value;
  if (next_whole(&r->s, "a row", 0, n - 1, &row)) return -1;
  if (column < 0 && next_whole(&r->s, "a column", 0, n - 1, &column)) return -1;
  if (expect_word(&r->s, ":") || next_value(&r->s, "an entry", r->file->count, &value)) return -1;
  return add_entry(r, row, column, value);
}

static int read_printed_columns(reader *r, int64_t count) {
  scanner *s = &r->s;
  int64_t number, first, last, e = 0;
  for (int64_t c = 0; c < r->file->size; c++) {
    if (expect_word(s, "col") || next_whole(s, "a column", c, c, &number) || expect_word(s, ":") ||
        expect_word(s, "locations") || next_whole(s, "the first place of a column", e, e, &first) ||
        expect_word(s, "to"))
      return -1;
    token t = next_token(s); /* -1 for an empty first column */
    last = t.length == 2 && !memcmp(t.text, "-1", 2) ? -1 : scan_whole(t);
    if (last < first - 1 || last >= count)
      return scan_fail(s, "the last place of a column '%.*s', expected a whole number from %lld to %lld",
                       scan_shown(t), t.text, (long long)first - 1, (long long)count - 1);
    for (; e <= last; e++)
      if (read_printed_entry(r, c)) return -1;
  }
  if (e != count)
    return scan_fail(s, "%lld entries, expected the %lld that are announced", (long long)e, (long long)count);
  return 0;
}

/* "ROWS-by-COLUMNS," is a single token. */
static int check_printed_size(reader *r, token t) {
  char *end;
  const long long rows = strtoll(t.text, &end, 10);
  const long long columns = strncmp(end, "-by-", 4) ? -1 : strtoll(end + 4, &end, 10);
  if (rows == r->file->size && columns == rows && *end == ',') return 0;
  return scan_fail(&r->s, "'%.*s', expected '%d-by-%d,'", scan_shown(t), t.text, (int)r->file->size,
                   (int)r->file->size);
}

static int read_sparse(reader *r) {
  scanner *s = &r->s;
  int64_t form, most, count;
  if (next_whole(s, "the sparse form (1: triplets, 2: columns)", 1, 2, &form) || expect_word(s, "CSparse"))
    return -1;
  s->p = s->line_end; /* its version */
  if (form == 1 && expect_word(s, "triplet:")) return -1;
  if (check_printed_size(r, next_token(s)) || expect_word(s, "nzmax:") ||
      next_whole(s, "the room for entries", 0, INT_MAX, &most) || expect_word(s, "nnz:"))
    return -1;
  const token t = next_token(s); /* columns have a comma before their norm */
  const int has_comma = t.length > 1 && t.text[t.length - 1] == ',';
  count = scan_whole((token){t.text, t.length - has_comma});
  if (count < 0 || count > most)
    return scan_fail(s, "the number of entries '%.*s', expected a whole number from 0 to %lld", scan_shown(t),
                     t.text, (long long)most);
  s->p = s->line_end;
  if (form == 2) return read_printed_columns(r, count);
  for (int64_t e = 0; e < count; e++)
    if (read_printed_entry(r, -1)) return -1;
  return 0;
}

/* ---- Problems ---- */

/* The first numbers distinguish the two formats. An LCP begins with n, storage, n, n; friction begins with
 * dimension, contacts, storage, n, n. Only 2, 1, 2, 2, 2 is ambiguous. */
static int is_friction(scanner s) {
  int64_t number[5];
  for (int k = 0; k < 5; k++) number[k] = scan_whole(next_token(&s));
  const int is_lcp = number[1] >= dense && number[1] <= sparse && number[2] == number[0];
  const int is_contacts = (number[0] == 2 || number[0] == 3) && number[2] >= dense && number[2] <= sparse &&
                          number[1] <= max_size && number[3] == number[0] * number[1];
  if (is_lcp && is_contacts && number[3] == number[0]) {
    next_token(&s);
    return *next_token(&s).text == 'C'; /* CSparse: */
  }
  return is_contacts;
}

static int read_vector(scanner *s, const char *what, int32_t count, double **values) {
  if (check_room(s, what, count)) return -1;
  *values = calloc((size_t)count, sizeof **values);
  if (!*values) return scan_fail(s, "out of memory for %s", what);
  for (int32_t k = 0; k < count; k++) {
    if (next_value(s, what, k, *values + k)) return -1;
  }
  return 0;
}

static int read_friction(reader *r) {
  contact_file *file = r->file;
  const int32_t contacts = file->size / file->dimension;
  if (read_vector(&r->s, "mu", contacts, &file->mu)) return -1;
  for (int32_t k = 0; k < contacts; k++)
    if (file->mu[k] < 0)
      return scan_fail(&r->s, "mu of contact %d is %g, expected a number that is not negative", (int)k + 1,
                       file->mu[k]);
  return 0;
}

static int read_sizes(reader *r, int64_t *storage) {
  scanner *s = &r->s;
  int64_t number, rows, columns;
  const int friction = is_friction(*s);
  const char *const what = friction ? "the dimension" : "the size";
  if (next_whole(s, what, 1, max_size, &number)) return -1;
  r->file->dimension = friction ? (int)number : 1;
  if (friction) {
    int64_t contacts;
    if (next_whole(s, "the number of contacts", 1, max_size / number, &contacts)) return -1;
    number *= contacts;
  }
  r->file->size = (int32_t)number;
  if (next_whole(s, "the storage (0: dense, 1: blocks, 2: sparse)", dense, sparse, storage) ||
      next_whole(s, "the rows", number, number, &rows) ||
      next_whole(s, "the columns", number, number, &columns))
    return -1;
  return check_room(s, "q", number);
}

/* Numbers after the problem mean that its sizes are wrong. */
static int read_end(reader *r) {
  scanner *s = &r->s;
  token t = next_token(s);
  if (r->file->dimension > 1 && t.length == 1 && (*t.text == '0' || *t.text == '1')) t = next_token(s);
  if (!t.length || !strspn(t.text, "+-.0123456789")) return 0;
  return scan_fail(s, "'%.*s' after the problem, expected no further numbers", scan_shown(t), t.text);
}

static int read_problem(reader *r) {
  int64_t storage;
  if (read_sizes(r, &storage)) return -1;
  if (storage == dense ? read_dense(r) : storage == blocks ? read_blocks(r) : read_sparse(r)) return -1;
  if (read_vector(&r->s, "q", r->file->size, &r->file->q)) return -1;
  if (r->file->dimension > 1 && read_friction(r)) return -1;
  return read_end(r);
}

int siconos_parse(const char *name, const char *text, size_t length, contact_file *file, mm_error *error) {
  reader r = {.s = {.name = name, .text = text, .next = text, .end = text + length, .error = error},
              .file = file};
  memset(file, 0, sizeof *file);
  if (length > INT_MAX) return scan_fail(&r.s, "%zu bytes, expected at most %d", length, INT_MAX);
  if (!scan_line(&r.s)) return scan_fail(&r.s, "an empty file, expected a problem of contact");
  const int failed = read_problem(&r);
  progress_clear();
  if (failed) contact_file_free(file);
  return failed;
}
