#include "mm_parse.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform.h"
#include "progress.h"

/* The longest line that Matrix Market allows; sizes are the library's, a little below what an int holds. */
enum { max_line = 1024, max_shown = 40, max_size = INT_MAX - 1023 };

typedef struct scanner {
  const char *name;
  const char *text, *next, *end; /* `next`: what is not read yet */
  const char *p, *line_end;
  int64_t line;
  mm_error *error;
} scanner;

typedef struct token {
  const char *text;
  int length;
} token;

__attribute__((format(printf, 2, 3))) static int fail(scanner *s, const char *format, ...) {
  char *text = s->error->text;
  const size_t size = sizeof s->error->text;
  snprintf(text, size, "%.200s:%lld: ", s->name, (long long)(s->line ? s->line : 1));
  const size_t used = strlen(text);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + used, size - used, format, arguments);
  va_end(arguments);
  /* Bytes of a binary file would upset the terminal. */
  for (unsigned char *c = (unsigned char *)text + used; *c; c++)
    if (*c < 0x20 || *c == 0x7f) *c = '?';
  return -1;
}

/* ---- Lines and tokens ---- */

static int is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

static int next_line(scanner *s) {
  if (s->next >= s->end) return 0;
  const char *newline = memchr(s->next, '\n', (size_t)(s->end - s->next));
  s->p = s->next;
  s->line_end = newline ? newline : s->end;
  s->next = newline ? newline + 1 : s->end;
  s->line++;
  return 1;
}

static void skip_spaces(scanner *s) {
  while (s->p < s->line_end && is_space(*s->p)) s->p++;
}

/* The next line that is neither blank nor a comment, its leading blanks skipped: 1, 0 at the end, -1 an error.
 */
static int next_data_line(scanner *s) {
  while (next_line(s)) {
    if (s->line_end - s->p > max_line) {
      fail(s, "a line of %lld characters, expected at most %d", (long long)(s->line_end - s->p), max_line);
      return -1;
    }
    if (s->p < s->line_end && *s->p == '%') continue;
    skip_spaces(s);
    if (s->p < s->line_end) return 1;
  }
  return 0;
}

/* An empty token at the end of the line. */
static token next_token(scanner *s) {
  skip_spaces(s);
  token t = {s->p, 0};
  while (s->p < s->line_end && !is_space(*s->p)) s->p++;
  t.length = (int)(s->p - t.text);
  return t;
}

static int shown(token t) {
  return t.length < max_shown ? t.length : max_shown;
}

static int is_word(token t, const char *word) {
  return (size_t)t.length == strlen(word) && same_letters(t.text, word, (size_t)t.length);
}

/* A whole number without a sign, up to INT64_MAX; -1 if it is not one. */
static int64_t whole_number(token t) {
  int64_t n = 0;
  if (t.length == 0) return -1;
  for (int i = 0; i < t.length; i++) {
    if (t.text[i] < '0' || t.text[i] > '9') return -1;
    if (n > (INT64_MAX - 9) / 10) return INT64_MAX;
    n = 10 * n + (t.text[i] - '0');
  }
  return n;
}

/* ---- The first line and the line of sizes ---- */

static const char *const header_form = "'%%MatrixMarket matrix coordinate real symmetric' or the like";

/* Which of the words the next token is; -1 after a message. */
static int choose(scanner *s, const char *what, const char *const *words, const char *expected) {
  const token t = next_token(s);
  for (int i = 0; words[i]; i++)
    if (is_word(t, words[i])) return i;
  return fail(s, "%s '%.*s', expected %s", what, shown(t), t.text, expected);
}

static int scan_first_line(scanner *s, mm_header *h) {
  static const char banner[] = "%%MatrixMarket";
  static const char *const objects[] = {"matrix", NULL}, *const formats[] = {"array", "coordinate", NULL};
  static const char *const fields[] = {"real", "integer", "pattern", "complex", NULL};
  static const char *const symmetries[] = {"general", "symmetric", "skew-symmetric", "hermitian", NULL};
  if (!next_line(s)) return fail(s, "an empty file, expected %s", header_form);
  if (s->line_end - s->p > max_line)
    return fail(s, "a line of %lld characters, expected %s", (long long)(s->line_end - s->p), header_form);
  const char *start = s->p;
  token t = next_token(s);
  if (t.text != start || t.length != (int)sizeof banner - 1 || memcmp(t.text, banner, sizeof banner - 1) != 0)
    return fail(s, "'%.*s', expected %s", shown(t), t.text, header_form);
  if (choose(s, "object", objects, "'matrix'") < 0) return -1;
  h->coordinate = choose(s, "format", formats, "'coordinate' or 'array'");
  if (h->coordinate < 0) return -1;
  const int field = choose(s, "field", fields, "'real', 'integer' or 'pattern'");
  if (field < 0) return -1;
  if (field == 3) return fail(s, "a complex matrix, expected real, integer or pattern");
  h->integer = field == 1;
  h->pattern = field == 2;
  if (h->pattern && !h->coordinate) return fail(s, "an array of field 'pattern', expected 'real'");
  const int symmetry = choose(s, "symmetry", symmetries, "'general', 'symmetric' or 'skew-symmetric'");
  if (symmetry < 0) return -1;
  h->symmetry = symmetry == 3 ? MM_SYMMETRIC : (mm_symmetry)symmetry;
  if (h->pattern && h->symmetry == MM_SKEW_SYMMETRIC)
    return fail(s, "a skew-symmetric pattern, expected 'general' or 'symmetric'");
  t = next_token(s);
  if (t.length) return fail(s, "'%.*s' after the symmetry, expected the end of the line", shown(t), t.text);
  return 0;
}

static int scan_sizes(scanner *s, mm_header *h) {
  const char *form = h->coordinate ? "ROWS COLUMNS ENTRIES" : "ROWS COLUMNS";
  const int found = next_data_line(s);
  if (found < 0) return -1;
  if (!found) return fail(s, "the file ends, expected a line of sizes: %s", form);
  static const char *const names[] = {"rows", "columns", "entries"};
  int64_t sizes[3] = {0, 0, 0};
  const int count = h->coordinate ? 3 : 2;
  for (int i = 0; i < count; i++) {
    const token t = next_token(s);
    if (t.length == 0) return fail(s, "%d numbers, expected %s", i, form);
    sizes[i] = whole_number(t);
    if (sizes[i] < (i < 2 ? 1 : 0) || sizes[i] > max_size)
      return fail(s, "%s '%.*s', expected a whole number from %d to %d", names[i], shown(t), t.text,
                  i < 2 ? 1 : 0, max_size);
  }
  const token rest = next_token(s);
  if (rest.length) return fail(s, "'%.*s' after the sizes, expected %s", shown(rest), rest.text, form);
  h->rows = sizes[0];
  h->columns = sizes[1];
  h->entries = sizes[2];
  h->size_line = s->line;
  if (h->symmetry != MM_GENERAL && h->rows != h->columns)
    return fail(s, "%lld rows and %lld columns, expected as many of both in a %s matrix", (long long)h->rows,
                (long long)h->columns, h->symmetry == MM_SYMMETRIC ? "symmetric" : "skew-symmetric");
  if (h->coordinate) return 0;
  if (h->rows * h->columns > max_size)
    return fail(s, "%lld x %lld values, expected at most %d", (long long)h->rows, (long long)h->columns,
                max_size);
  h->entries = h->symmetry == MM_GENERAL     ? h->rows * h->columns
               : h->symmetry == MM_SYMMETRIC ? h->rows * (h->rows + 1) / 2
                                             : h->rows * (h->rows - 1) / 2;
  return 0;
}

/* ---- Entries ---- */

static const char *entry_form(const mm_header *h) {
  return !h->coordinate ? "one value" : h->pattern ? "ROW COLUMN" : "ROW COLUMN VALUE";
}

/* Numbers are decimal: no hexadecimal digits, no words, no commas. */
static int scan_value(scanner *s, const mm_header *h, double *value) {
  const token t = next_token(s);
  if (t.length == 0) return fail(s, "no value, expected %s", entry_form(h));
  char *end;
  *value = strtod(t.text, &end);
  const int is_number = end == t.text + t.length;
  const int is_decimal = (int)strspn(t.text, h->integer ? "+-0123456789" : "+-.0123456789eE") == t.length;
  if (is_number && !is_decimal && !isfinite(*value))
    return fail(s, "value '%.*s', expected a finite number", shown(t), t.text);
  if (!is_number || !is_decimal)
    return fail(s, "value '%.*s', expected %s", shown(t), t.text, h->integer ? "a whole number" : "a number");
  if (!isfinite(*value))
    return fail(s, "value '%.*s', expected at most %.17g, the range of double precision", shown(t), t.text,
                DBL_MAX);
  return 0;
}

static int scan_index(scanner *s, token t, const char *what, int64_t limit, int32_t *index) {
  const int64_t number = whole_number(t);
  *index = (int32_t)(number - 1);
  if (number >= 1 && number <= limit) return 0;
  return fail(s, "%s '%.*s', expected a whole number from 1 to %lld", what, shown(t), t.text, (long long)limit);
}

static int scan_place(scanner *s, const mm_header *h, mm_entry *e) {
  if (scan_index(s, next_token(s), "row", h->rows, &e->row)) return -1;
  const token t = next_token(s);
  if (t.length == 0) return fail(s, "one number, expected %s", entry_form(h));
  if (scan_index(s, t, "column", h->columns, &e->column)) return -1;
  if (h->symmetry != MM_GENERAL && e->row < e->column)
    return fail(s, "entry %d %d above the diagonal, expected the lower triangle only or 'general' in line 1",
                e->row + 1, e->column + 1);
  if (h->symmetry == MM_SKEW_SYMMETRIC && e->row == e->column)
    return fail(s, "entry %d %d on the diagonal, expected none in a skew-symmetric matrix", e->row + 1,
                e->column + 1);
  return 0;
}

/* An array goes down one column after the other, from the first row that its symmetry leaves. */
static void next_place(const mm_header *h, int64_t k, mm_entry *e) {
  const int32_t below = h->symmetry == MM_SKEW_SYMMETRIC;
  if (k == 0) {
    *e = (mm_entry){.row = below};
  } else if (++e->row == h->rows) {
    e->column++;
    e->row = h->symmetry == MM_GENERAL ? 0 : e->column + below;
  }
}

static int scan_entry(scanner *s, const mm_header *h, mm_entry *e) {
  if (h->coordinate && scan_place(s, h, e)) return -1;
  e->value = 1;
  if (!h->pattern && scan_value(s, h, &e->value)) return -1;
  const token rest = next_token(s);
  if (rest.length == 0) return 0;
  return fail(s, "'%.*s' at the end of the line, expected %s", shown(rest), rest.text, entry_form(h));
}

/* Room for so many entries, of which each line has two characters or more: a header alone can ask for nothing.
 */
static mm_entry *make_room(const scanner *s, const mm_header *h) {
  const int64_t lines = (s->end - s->next) / 2 + 1;
  return calloc((size_t)(h->entries < lines ? h->entries : lines) + 1, sizeof(mm_entry));
}

static int scan_entries(scanner *s, const mm_header *h, mm_entry *entries) {
  const char *const what = h->coordinate ? "entry" : "value";
  mm_entry e = {0};
  for (int64_t k = 0;; k++) {
    const int found = next_data_line(s);
    if (found < 0) return -1;
    if (!found && k == h->entries) return 0;
    if (!found)
      return fail(s, "the file ends after %lld %s, expected the %lld of line %lld", (long long)k,
                  h->coordinate ? "entries" : "values", (long long)h->entries, (long long)h->size_line);
    if (k == h->entries)
      return fail(s, "a further %s, expected no more than the %lld of line %lld", what, (long long)k,
                  (long long)h->size_line);
    if (!h->coordinate) next_place(h, k, &e);
    if (scan_entry(s, h, &e)) return -1;
    entries[k] = e;
    if (k % 4096 == 0)
      progress_show("reading %.50s: %3.0f %%", s->name,
                    100.0 * (double)(s->next - s->text) / (double)(s->end - s->text));
  }
}

int mm_parse(const char *name, const char *text, size_t length, mm_header *header, mm_entry **entries,
             mm_error *error) {
  scanner s = {.name = name, .text = text, .next = text, .end = text + length, .error = error};
  memset(header, 0, sizeof *header);
  *entries = NULL;
  if (scan_first_line(&s, header) || scan_sizes(&s, header)) return -1;
  *entries = make_room(&s, header);
  if (!*entries) return fail(&s, "out of memory for %lld entries", (long long)header->entries);
  const int failed = scan_entries(&s, header, *entries);
  progress_clear();
  if (!failed) return 0;
  free(*entries);
  *entries = NULL;
  return -1;
}
