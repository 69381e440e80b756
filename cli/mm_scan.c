#include "mm_scan.h"

#include <float.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The longest line that Matrix Market allows. CHOLMOD's reader breaks longer ones. */
/* Sizes stay where the library's do, a little below what an int holds. */
enum { max_line = 1024, max_shown = 40, max_size = INT_MAX - 1023 };

typedef struct scanner {
  const char *name;
  const char *next, *end; /* of what is not read yet */
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
static int is_digit(char c) {
  return c >= '0' && c <= '9';
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
  return (size_t)t.length == strlen(word) && strncasecmp(t.text, word, (size_t)t.length) == 0;
}

/* A whole number without a sign, up to INT64_MAX; -1 if it is not one. */
static int64_t whole_number(token t) {
  int64_t n = 0;
  if (t.length == 0) return -1;
  for (int i = 0; i < t.length; i++) {
    if (!is_digit(t.text[i])) return -1;
    if (n > (INT64_MAX - 9) / 10) return INT64_MAX;
    n = 10 * n + (t.text[i] - '0');
  }
  return n;
}

/* ---- The first line and the line of sizes ---- */

static const char *const header_form = "'%%MatrixMarket matrix coordinate real symmetric' or the like";

static int scan_first_line(scanner *s, mm_header *h) {
  static const char banner[] = "%%MatrixMarket";
  if (!next_line(s)) return fail(s, "an empty file, expected %s", header_form);
  if (s->line_end - s->p > max_line)
    return fail(s, "a line of %lld characters, expected %s", (long long)(s->line_end - s->p), header_form);
  const char *start = s->p;
  token t = next_token(s);
  /* Blanks before it hide it from CHOLMOD. */
  if (t.text != start || t.length != (int)sizeof banner - 1 || memcmp(t.text, banner, sizeof banner - 1) != 0)
    return fail(s, "'%.*s', expected %s", shown(t), t.text, header_form);
  t = next_token(s);
  if (!is_word(t, "matrix")) return fail(s, "object '%.*s', expected 'matrix'", shown(t), t.text);
  t = next_token(s);
  if (!is_word(t, "coordinate") && !is_word(t, "array"))
    return fail(s, "format '%.*s', expected 'coordinate' or 'array'", shown(t), t.text);
  h->coordinate = is_word(t, "coordinate");

  t = next_token(s);
  if (is_word(t, "complex")) return fail(s, "a complex matrix, expected real, integer or pattern");
  if (is_word(t, "real"))
    h->field = MM_REAL;
  else if (is_word(t, "integer"))
    h->field = MM_INTEGER;
  else if (is_word(t, "pattern"))
    h->field = MM_PATTERN;
  else
    return fail(s, "field '%.*s', expected 'real', 'integer' or 'pattern'", shown(t), t.text);
  if (h->field == MM_PATTERN && !h->coordinate) return fail(s, "an array of field 'pattern', expected 'real'");

  t = next_token(s);
  if (is_word(t, "general"))
    h->symmetry = MM_GENERAL;
  else if (is_word(t, "symmetric") || is_word(t, "hermitian"))
    h->symmetry = MM_SYMMETRIC;
  else if (is_word(t, "skew-symmetric"))
    h->symmetry = MM_SKEW_SYMMETRIC;
  else
    return fail(s, "symmetry '%.*s', expected 'general', 'symmetric' or 'skew-symmetric'", shown(t), t.text);
  if (h->field == MM_PATTERN && h->symmetry == MM_SKEW_SYMMETRIC)
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

static int is_not_finite_word(token t) {
  if (t.length && (*t.text == '-' || *t.text == '+')) t.text++, t.length--;
  return is_word(t, "nan") || is_word(t, "inf") || is_word(t, "infinity") ||
         (t.length > 4 && strncasecmp(t.text, "nan(", 4) == 0);
}

/* Where the decimal number that starts the token ends, and an estimate of its power of ten from above. */
static const char *skip_number(token t, int integer, int *magnitude) {
  const char *p = t.text, *const end = t.text + t.length;
  if (p < end && (*p == '-' || *p == '+')) p++;
  const char *digits = p;
  while (p < end && is_digit(*p)) p++;
  int digit_count = (int)(p - digits);
  *magnitude = digit_count;
  if (integer) return digit_count ? p : t.text;
  if (p < end && *p == '.') {
    const char *fraction = ++p;
    while (p < end && is_digit(*p)) p++;
    digit_count += (int)(p - fraction);
  }
  if (digit_count == 0) return t.text;
  if (p < end && (*p == 'e' || *p == 'E')) {
    const char *exponent = p + 1;
    const int negative = exponent < end && *exponent == '-';
    if (exponent < end && (*exponent == '-' || *exponent == '+')) exponent++;
    if (exponent == end || !is_digit(*exponent)) return p;
    int power = 0;
    for (p = exponent; p < end && is_digit(*p); p++)
      if (power < 10000) power = 10 * power + (*p - '0');
    *magnitude += negative ? -power : power;
  }
  return p;
}

static int scan_value(scanner *s, const mm_header *h, token t) {
  int magnitude;
  const int integer = h->field == MM_INTEGER;
  if (skip_number(t, integer, &magnitude) != t.text + t.length) {
    if (is_not_finite_word(t)) return fail(s, "value '%.*s', expected a finite number", shown(t), t.text);
    return fail(s, "value '%.*s', expected %s", shown(t), t.text, integer ? "a whole number" : "a number");
  }
  if (magnitude > 38) {
    char copy[max_line + 1];
    memcpy(copy, t.text, (size_t)t.length);
    copy[t.length] = 0;
    const double value = strtod(copy, NULL);
    if (value > FLT_MAX || value < -FLT_MAX)
      return fail(s, "value '%.*s', expected at most %.7g, the range of single precision", shown(t), t.text,
                  (double)FLT_MAX);
  }
  return 0;
}

static int scan_index(scanner *s, token t, const char *what, int64_t limit, int64_t *index) {
  *index = whole_number(t);
  if (*index >= 1 && *index <= limit) return 0;
  return fail(s, "%s '%.*s', expected a whole number from 1 to %lld", what, shown(t), t.text, (long long)limit);
}

static int scan_entry(scanner *s, const mm_header *h) {
  const char *form = !h->coordinate ? "one value" : h->field == MM_PATTERN ? "ROW COLUMN" : "ROW COLUMN VALUE";
  if (h->coordinate) {
    int64_t row, column;
    token t = next_token(s);
    if (scan_index(s, t, "row", h->rows, &row)) return -1;
    t = next_token(s);
    if (t.length == 0) return fail(s, "one number, expected %s", form);
    if (scan_index(s, t, "column", h->columns, &column)) return -1;
    if (h->symmetry != MM_GENERAL && row < column)
      return fail(s,
                  "entry %lld %lld above the diagonal, expected the lower triangle only or 'general' in line 1",
                  (long long)row, (long long)column);
    if (h->symmetry == MM_SKEW_SYMMETRIC && row == column)
      return fail(s, "entry %lld %lld on the diagonal, expected none in a skew-symmetric matrix",
                  (long long)row, (long long)column);
  }
  if (h->field != MM_PATTERN) {
    const token t = next_token(s);
    if (t.length == 0) return fail(s, "no value, expected %s", form);
    if (scan_value(s, h, t)) return -1;
  }
  const token rest = next_token(s);
  if (rest.length == 0) return 0;
  return fail(s, "'%.*s' at the end of the line, expected %s", shown(rest), rest.text, form);
}

int mm_scan(const char *name, const char *text, size_t length, mm_header *header, mm_error *error) {
  scanner s = {.name = name, .next = text, .end = text + length, .error = error};
  memset(header, 0, sizeof *header);
  if (scan_first_line(&s, header) || scan_sizes(&s, header)) return -1;
  for (int64_t k = 0;; k++) {
    const int found = next_data_line(&s);
    if (found < 0) return -1;
    if (!found && k == header->entries) return 0;
    if (!found)
      return fail(&s, "the file ends after %lld %s, expected the %lld of line %lld", (long long)k,
                  header->coordinate ? "entries" : "values", (long long)header->entries,
                  (long long)header->size_line);
    if (k == header->entries)
      return fail(&s, "a further %s, expected no more than the %lld of line %lld",
                  header->coordinate ? "entry" : "value", (long long)k, (long long)header->size_line);
    if (scan_entry(&s, header)) return -1;
  }
}
