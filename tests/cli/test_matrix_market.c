/* Matrix Market files are read by several threads and in chunks of any size, with the same numbers bit for bit
 * and the same errors. The test writes the files, and reads them also with a few lines of code that do not use
 * chunks. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "matrix_market.h"
#include "threads.h"

#define CHECK(condition)                                                                                       \
  ((condition) ? (void)0 : (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition), exit(1)))

static const int thread_counts[] = {1, 2, 3, 7};
enum { thread_kinds = sizeof thread_counts / sizeof *thread_counts };

/* With TEXSOLVE_TEST_BRIEF every other large file is left out, and most places of a bad line. */
static int is_brief(void) {
  return getenv("TEXSOLVE_TEST_BRIEF") != NULL;
}

static uint32_t random_below(uint32_t count) {
  static uint64_t state = 88172645463325252u;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (uint32_t)((state >> 20) % count);
}

/* ---- Texts ---- */

typedef struct text {
  char *bytes;
  size_t length, room;
} text;

__attribute__((format(printf, 2, 3))) static void add(text *t, const char *format, ...) {
  va_list arguments;
  if (t->length + 4096 > t->room) {
    t->room = 2 * t->room + 8192;
    t->bytes = realloc(t->bytes, t->room);
    CHECK(t->bytes);
  }
  va_start(arguments, format);
  t->length += (size_t)vsnprintf(t->bytes + t->length, t->room - t->length, format, arguments);
  va_end(arguments);
}

static void clear(text *t) {
  free(t->bytes);
  *t = (text){0};
}

/* ---- The contents of a file ---- */

typedef struct entry {
  int32_t row, column;
  int64_t number; /* in the file; a mirror image has the number of its entry */
  double value;
  int is_mirror;
} entry;

typedef struct form {
  const char *field, *symmetry, *newline;
  int is_array, rows, columns, entries, order; /* 0 any, 1 by rows, 2 by columns */
  int duplicates, comments;                    /* one per this number of lines; 0: none */
} form;

static int by_place(const void *a, const void *b) {
  const entry *x = a, *y = b;
  if (x->row != y->row) return x->row < y->row ? -1 : 1;
  if (x->column != y->column) return x->column < y->column ? -1 : 1;
  return (x->number > y->number) - (x->number < y->number);
}

static int by_column(const void *a, const void *b) {
  const entry *x = a, *y = b;
  if (x->column != y->column) return x->column < y->column ? -1 : 1;
  return by_place(a, b);
}

static void put_number(text *t, const form *f, entry *e) {
  char number[64];
  static const char *const formats[] = {"%.17g", "%.6g", "%.3f", "%+.2e", "%.25g", "%.0f", "%g"};
  const double size = random_below(50) ? 1000 : ldexp(1, (int)random_below(1800) - 900);
  e->value = 1;
  if (*f->field == 'p') return;
  const double value = size * ((double)random_below(2000000) / 1000000 - 1);
  snprintf(number, sizeof number, *f->field == 'i' ? "%.0f" : formats[random_below(7)],
           *f->field == 'i' ? fmod(value, 1e6) : value);
  e->value = strtod(number, NULL);
  add(t, " %s", number);
}

static void put_comments(text *t, const form *f) {
  if (!f->comments || random_below((uint32_t)f->comments)) return;
  static const char *const lines[] = {"%", "% 1 2 3", "", "  ", "%%", "\t"};
  add(t, "%s%s", lines[random_below(6)], f->newline);
}

/* Assigns the entries' places in the file's order. */
static void make_places(const form *f, entry *entries) {
  const int is_lower = *f->symmetry != 'g', is_skew = f->symmetry[1] == 'k';
  for (int k = 0; k < f->entries; k++) {
    entry *const e = &entries[k];
    if (f->duplicates && k && !random_below((uint32_t)f->duplicates)) {
      *e = entries[random_below((uint32_t)k)];
      continue;
    }
    do {
      e->row = (int32_t)random_below((uint32_t)f->rows);
      e->column = (int32_t)random_below((uint32_t)f->columns);
    } while (is_lower && e->row < e->column + is_skew);
  }
  for (int k = 0; k < f->entries; k++) entries[k].number = k;
  if (f->order) qsort(entries, (size_t)f->entries, sizeof *entries, f->order == 1 ? by_place : by_column);
}

static void make_array_places(const form *f, entry *entries) {
  const int is_lower = *f->symmetry != 'g', is_skew = f->symmetry[1] == 'k';
  int k = 0;
  for (int32_t c = 0; c < f->columns; c++)
    for (int32_t r = is_lower ? c + is_skew : 0; r < f->rows; r++)
      entries[k++] = (entry){.row = r, .column = c};
}

/* Returns the entries and their mirror images, sorted by row, column and number. */
static entry *make(const form *f, text *t, int *count) {
  entry *entries = calloc(2 * (size_t)f->entries + 1, sizeof *entries);
  CHECK(entries);
  add(t, "%%%%MatrixMarket matrix %s %s %s%s", f->is_array ? "array" : "coordinate", f->field, f->symmetry,
      f->newline);
  put_comments(t, f);
  add(t, "%d %d", f->rows, f->columns);
  if (!f->is_array) add(t, " %d", f->entries);
  add(t, "%s", f->newline);
  if (f->is_array)
    make_array_places(f, entries);
  else
    make_places(f, entries);
  *count = f->entries;
  for (int k = 0; k < f->entries; k++) {
    entry *const e = &entries[k];
    put_comments(t, f);
    e->number = k;
    if (!f->is_array)
      add(t, "%s%d%s%d", random_below(9) ? "" : " ", e->row + 1, random_below(9) ? " " : "\t", e->column + 1);
    put_number(t, f, e);
    add(t, "%s%s", random_below(9) ? "" : " ", k + 1 < f->entries || random_below(2) ? f->newline : "");
    if (*f->symmetry == 'g' || e->row == e->column) continue;
    entries[*count] = (entry){e->column, e->row, k, f->symmetry[1] == 'k' ? -e->value : e->value, 1};
    ++*count;
  }
  qsort(entries, (size_t)*count, sizeof *entries, by_place);
  return entries;
}

/* ---- Comparisons ---- */

static void check_csr(const entry *entries, int count, int is_array, const mm_csr *csr) {
  int64_t at = 0, duplicates = 0;
  int32_t row = 0;
  for (int k = 0; k < count;) {
    double sum = entries[k].value;
    int n = 1;
    for (; k + n < count && entries[k + n].row == entries[k].row && entries[k + n].column == entries[k].column;
         n++) {
      sum += entries[k + n].value;
      duplicates += !entries[k + n].is_mirror;
    }
    if (!is_array || sum != 0) {
      for (; row < entries[k].row; row++) CHECK(csr->row_offsets[row + 1] == at);
      CHECK(at < csr->nonzeros && csr->column_indices[at] == entries[k].column);
      CHECK(csr->values[at] == sum && !signbit(csr->values[at]) == !signbit(sum));
      at++;
    }
    k += n;
  }
  CHECK(csr->row_offsets[0] == 0 && csr->nonzeros == at && csr->duplicates == duplicates);
  for (; row < csr->rows; row++) CHECK(csr->row_offsets[row + 1] == at);
}

static void check_dense(const entry *entries, int count, const form *f, const double *values, int by_columns) {
  double *wanted = calloc((size_t)f->rows * (size_t)f->columns, sizeof *wanted);
  CHECK(wanted);
  for (int k = 0; k < count; k++)
    wanted[by_columns ? entries[k].column * f->rows + entries[k].row
                      : entries[k].row * f->columns + entries[k].column] += entries[k].value;
  CHECK(!memcmp(values, wanted, (size_t)f->rows * (size_t)f->columns * sizeof *wanted));
  free(wanted);
}

static void read_as(const form *f, const text *t, const entry *entries, int count, size_t chunk_bytes) {
  const mm_source source = {.name = "m.mtx", .text = t->bytes, .length = t->length, .chunk_bytes = chunk_bytes};
  mm_file file = {0};
  mm_error error;
  mm_csr csr;
  if (mm_parse(&source, &file.header, &file.entries, &error)) {
    fprintf(stderr, "%s\n", error.text);
    exit(1);
  }
  CHECK(file.header.rows == f->rows && file.header.columns == f->columns && file.header.entries == f->entries);
  CHECK(mm_read_csr(&file, &csr, &error) == 0);
  check_csr(entries, count, f->is_array, &csr);
  mm_free_csr(&csr);
  mm_close(&file);
  if ((int64_t)f->rows * f->columns > 1 << 16) return;
  for (int by_columns = 0; by_columns < 2; by_columns++) {
    double *values;
    int64_t duplicates;
    CHECK(mm_parse(&source, &file.header, &file.entries, &error) == 0);
    CHECK(mm_read_dense(&file, by_columns, &values, &duplicates, &error) == 0);
    check_dense(entries, count, f, values, by_columns);
    free(values);
    mm_close(&file);
  }
}

static void test_form(const form *f) {
  const size_t few[] = {0, 1, 7, 64, 1000}, many[] = {0, 10000};
  const int is_large = f->entries > 10000;
  text t = {0};
  int count;
  entry *entries = make(f, &t, &count);
  for (int k = 0; k < thread_kinds; k++) {
    threads_limit(thread_counts[k]);
    for (size_t c = 0; c < (is_large ? 2 : 5); c++) read_as(f, &t, entries, count, is_large ? many[c] : few[c]);
  }
  free(entries);
  clear(&t);
}

static void test_forms(void) {
  static const char *const fields[] = {"real", "integer", "pattern"};
  static const char *const symmetries[] = {"general", "symmetric", "skew-symmetric"};
  for (int field = 0; field < 3; field++)
    for (int symmetry = 0; symmetry < 3; symmetry++)
      for (int variant = 0; variant < 12; variant++) {
        const int n = 1 + (int)random_below(40), is_square = symmetry > 0, is_array = variant % 4 == 3;
        const int other = is_square ? n : 1 + (int)random_below(40);
        form f = {.field = fields[field],
                  .symmetry = symmetries[symmetry],
                  .newline = variant % 3 ? "\n" : "\r\n",
                  .is_array = is_array,
                  .rows = symmetry == 2 ? n + 1 : n,
                  .columns = symmetry == 2 ? n + 1 : other,
                  .entries = (int)random_below(200),
                  .order = variant % 3,
                  .duplicates = variant % 5 == 0 ? 4 : 0,
                  .comments = variant % 7 == 0 ? 5 : 0};
        if (field == 2 && (symmetry == 2 || is_array)) continue;
        if (is_array)
          f.entries = symmetry == 0   ? f.rows * f.columns
                      : symmetry == 1 ? f.rows * (f.rows + 1) / 2
                                      : f.rows * (f.rows - 1) / 2;
        test_form(&f);
      }
}

/* Several groups of rows and parts of entries, with rows too long for the short sort. */
static void test_large(void) {
  const form forms[] = {
      {"real", "general", "\n", .rows = 3000, .columns = 2000, .entries = 600000},
      {"real", "general", "\n", .rows = 3000, .columns = 2000, .entries = 600000, .order = 1},
      {"real", "general", "\n", .rows = 100, .columns = 20000, .entries = 300000, .duplicates = 3,
       .comments = 9},
      {"real", "symmetric", "\n", .rows = 3000, .columns = 3000, .entries = 400000, .order = 2},
      {"integer", "skew-symmetric", "\r\n", .rows = 1000, .columns = 1000, .entries = 300000},
      {"pattern", "symmetric", "\n", .rows = 200000, .columns = 200000, .entries = 300000, .order = 1}};
  for (size_t k = 0; k < sizeof forms / sizeof *forms; k += is_brief() ? 2 : 1) test_form(&forms[k]);
}

/* Consecutive rows with ascending columns. Every second row is empty. Entry `late` may be exchanged with the
 * one before it. */
static void test_in_order(int late) {
  enum { rows = 200000, each = 3, entry_count = rows / 2 * each };
  const form f = {"integer", "general", "\n", .rows = rows, .columns = rows, .entries = entry_count};
  entry *entries = calloc(entry_count, sizeof *entries);
  text t = {0};
  CHECK(entries);
  add(&t, "%%%%MatrixMarket matrix coordinate integer general\n%d %d %d\n", rows, rows, entry_count);
  for (int k = 0; k < entry_count; k++)
    entries[k] = (entry){.row = 1 + k / each * 2, .column = k / each + k % each * 1000, .value = k};
  for (int k = 0; k < entry_count; k++) {
    const entry *e = &entries[late && k == late - 1 ? late : late && k == late ? late - 1 : k];
    add(&t, "%d %d %.0f\n", e->row + 1, e->column + 1, e->value);
  }
  for (int k = 0; k < thread_kinds; k++) {
    threads_limit(thread_counts[k]);
    read_as(&f, &t, entries, entry_count, 100000);
  }
  free(entries);
  clear(&t);
}

/* ---- Errors ---- */

static void expect_error(const text *t, const char *wanted) {
  for (int k = 0; k < thread_kinds; k++)
    for (size_t chunk = 0; chunk < 40; chunk += 1 + chunk / 4) {
      const mm_source source = {.name = "m.mtx", .text = t->bytes, .length = t->length, .chunk_bytes = chunk};
      mm_header header;
      mm_entries entries;
      mm_error error = {""};
      threads_limit(thread_counts[k]);
      CHECK(mm_parse(&source, &header, &entries, &error) == -1);
      CHECK(!entries.rows && !entries.columns && !entries.values);
      if (!strcmp(error.text, wanted)) continue;
      fprintf(stderr, "'%s', expected '%s'\n", error.text, wanted);
      exit(1);
    }
}

/* Ten lines of entries with one bad line. With all sizes of chunks it is at every place of a chunk. */
static void test_bad_line(int bad, const char *line, const char *message, int entries, int comment) {
  text t = {0};
  char wanted[200];
  add(&t, "%%%%MatrixMarket matrix coordinate real general\n10 10 %d\n", entries);
  for (int k = 0; k < 10; k++) {
    if (k == comment) add(&t, "%% comment\n\n");
    if (k == bad)
      add(&t, "%s\n", line);
    else
      add(&t, "%d %d %d.5\n", k + 1, 10 - k, k);
  }
  snprintf(wanted, sizeof wanted, "m.mtx:%d: %s", 3 + bad + (comment <= bad ? 2 : 0), message);
  expect_error(&t, wanted);
  clear(&t);
}

/* The last line may lack its line ending. */
static void test_short_array(int values, int is_open) {
  text t = {0};
  char wanted[200];
  add(&t, "%%%%MatrixMarket matrix array real general\n20 1\n%%\n");
  for (int k = 0; k < values; k++) add(&t, "%d\n\n", k + 1);
  if (is_open) add(&t, "%% end");
  snprintf(wanted, sizeof wanted, "m.mtx:%d: the file ends after %d values, expected the 20 of line 2",
           3 + 2 * values + is_open, values);
  expect_error(&t, wanted);
  clear(&t);
}

static void test_errors(void) {
  static char too_long[1400];
  memset(too_long, ' ', 1100);
  strcpy(too_long + 1100, "1 1 1");
  for (int bad = 0; bad < 10; bad += is_brief() ? 3 : 1)
    for (int comment = 0; comment <= 10; comment += 5) {
      test_bad_line(bad, "1 1 x", "value 'x', expected a number", 10, comment);
      test_bad_line(bad, "0 1 1", "row '0', expected a whole number from 1 to 10", 10, comment);
      test_bad_line(bad, "1 1-3", "column '1-3', expected a whole number from 1 to 10", 10, comment);
      test_bad_line(bad, "1 1", "no value, expected ROW COLUMN VALUE", 10, comment);
      test_bad_line(bad, "1 1 1e999",
                    "value '1e999', expected at most 1.7976931348623157e+308, the range of double precision",
                    10, comment);
      test_bad_line(bad, "1 1 1 1", "'1' at the end of the line, expected ROW COLUMN VALUE", 11, comment);
      test_bad_line(bad, too_long, "a line of 1105 characters, expected at most 1024", 10, comment);
      if (bad < 9)
        test_bad_line(bad, "1 11 1\n2 12 1", "column '11', expected a whole number from 1 to 10", 9, comment);
    }
  /* Too many lines, with an error after the last valid one, and too few lines. */
  for (int entries = 0; entries < 10; entries++) {
    text t = {0};
    char wanted[200];
    add(&t, "%%%%MatrixMarket matrix coordinate real general\n\n10 10 %d\n", entries);
    for (int k = 0; k < 10; k++) add(&t, k > entries ? "x\n" : "%d 1 1\n", k + 1);
    snprintf(wanted, sizeof wanted, "m.mtx:%d: a further entry, expected no more than the %d of line 3",
             4 + entries, entries);
    expect_error(&t, wanted);
    clear(&t);
    test_short_array(entries, 0);
    test_short_array(entries, 1);
  }
}

/* ---- Writing ---- */

static char *contents(FILE *file, size_t *length) {
  fseek(file, 0, SEEK_END);
  *length = (size_t)ftell(file);
  rewind(file);
  char *bytes = malloc(*length + 1);
  CHECK(bytes && fread(bytes, 1, *length, file) == *length);
  return bytes;
}

static void test_writing_of(int rows, int columns) {
  double *values = malloc((size_t)rows * (size_t)columns * sizeof *values);
  CHECK(values);
  for (int k = 0; k < rows * columns; k++)
    values[k] = ldexp((double)random_below(1 << 30) - (1 << 29), (int)random_below(120) - 80);
  for (int by_columns = 0; by_columns < 2; by_columns++) {
    FILE *wanted = tmpfile();
    size_t wanted_length, length;
    CHECK(wanted);
    fprintf(wanted, "%%%%MatrixMarket matrix array real general\n%% a comment\n%d %d\n", rows, columns);
    for (int c = 0; c < columns; c++)
      for (int i = 0; i < rows; i++)
        fprintf(wanted, "%.17g\n", values[by_columns ? c * rows + i : i * columns + c]);
    char *wanted_text = contents(wanted, &wanted_length);
    for (int k = 0; k < thread_kinds; k++) {
      FILE *file = tmpfile();
      CHECK(file);
      threads_limit(thread_counts[k]);
      mm_write_dense(file, "a comment", rows, columns, by_columns, values);
      char *bytes = contents(file, &length);
      CHECK(length == wanted_length && !memcmp(bytes, wanted_text, length));
      free(bytes);
      fclose(file);
    }
    free(wanted_text);
    fclose(wanted);
  }
  free(values);
}

static void test_writing(void) {
  test_writing_of(1, 1);
  test_writing_of(16384, 1);
  test_writing_of(3, 16385);
  test_writing_of(100003, 3);
  test_writing_of(1 << 19, 1);
}

int main(void) {
  test_writing();
  test_forms();
  test_large();
  test_in_order(0);
  test_in_order(1);
  test_in_order(1 << 18); /* at the beginning of the second part of the entries */
  test_errors();
  puts("the same by any number of threads");
  return 0;
}
