#include "mm_parse.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform.h"
#include "progress.h"
#include "scan.h"

/* The longest line that Matrix Market allows; sizes are the library's, a little below what an int holds. */
enum { max_line = 1024, max_size = INT_MAX - 1023 };

int(mm_fail)(mm_error *error, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error->text, sizeof error->text, format, arguments);
  va_end(arguments);
  return -1;
}

/* ---- Lines ---- */

/* The next line that is neither blank nor a comment, its leading blanks skipped: 1, 0 at the end, -1 an error.
 */
static int next_data_line(scanner *s) {
  while (scan_line(s)) {
    if (s->line_end - s->p > max_line) {
      scan_fail(s, "a line of %lld characters, expected at most %d", (long long)(s->line_end - s->p), max_line);
      return -1;
    }
    if (s->p < s->line_end && *s->p == '%') continue;
    scan_spaces(s);
    if (s->p < s->line_end) return 1;
  }
  return 0;
}

static int is_word(token t, const char *word) {
  return (size_t)t.length == strlen(word) && same_letters(t.text, word, (size_t)t.length);
}

/* ---- The first line and the line of sizes ---- */

static const char *const header_form = "'%%MatrixMarket matrix coordinate real symmetric' or the like";

/* Which of the words the next token is; -1 after a message. */
static int choose(scanner *s, const char *what, const char *const *words, const char *expected) {
  const token t = scan_token(s);
  for (int i = 0; words[i]; i++)
    if (is_word(t, words[i])) return i;
  return scan_fail(s, "%s '%.*s', expected %s", what, scan_shown(t), t.text, expected);
}

static int scan_first_line(scanner *s, mm_header *h) {
  static const char banner[] = "%%MatrixMarket";
  static const char *const objects[] = {"matrix", NULL}, *const formats[] = {"array", "coordinate", NULL};
  static const char *const fields[] = {"real", "integer", "pattern", "complex", NULL};
  static const char *const symmetries[] = {"general", "symmetric", "skew-symmetric", "hermitian", NULL};
  if (!scan_line(s)) return scan_fail(s, "an empty file, expected %s", header_form);
  if (s->line_end - s->p > max_line)
    return scan_fail(s, "a line of %lld characters, expected %s", (long long)(s->line_end - s->p), header_form);
  const char *start = s->p;
  token t = scan_token(s);
  if (s->line_end - start >= 2 && (!memcmp(start, "\xff\xfe", 2) || !memcmp(start, "\xfe\xff", 2)))
    return scan_fail(s, "text in UTF-16, expected ASCII or UTF-8");
  if (t.length == 0) return scan_fail(s, "a blank line, expected %s", header_form);
  if (t.text != start && is_word(t, banner))
    return scan_fail(s, "blanks before '%.*s', expected it at the start of the line", scan_shown(t), t.text);
  if (t.text != start || t.length != (int)sizeof banner - 1 || memcmp(t.text, banner, sizeof banner - 1) != 0)
    return scan_fail(s, "'%.*s', expected %s", scan_shown(t), t.text, header_form);
  if (choose(s, "object", objects, "'matrix'") < 0) return -1;
  h->coordinate = choose(s, "format", formats, "'coordinate' or 'array'");
  if (h->coordinate < 0) return -1;
  const int field = choose(s, "field", fields, "'real', 'integer' or 'pattern'");
  if (field < 0) return -1;
  if (field == 3) return scan_fail(s, "a complex matrix, expected real, integer or pattern");
  h->integer = field == 1;
  h->pattern = field == 2;
  if (h->pattern && !h->coordinate) return scan_fail(s, "an array of field 'pattern', expected 'real'");
  const int symmetry = choose(s, "symmetry", symmetries, "'general', 'symmetric' or 'skew-symmetric'");
  if (symmetry < 0) return -1;
  h->symmetry = symmetry == 3 ? MM_SYMMETRIC : (mm_symmetry)symmetry;
  if (h->pattern && h->symmetry == MM_SKEW_SYMMETRIC)
    return scan_fail(s, "a skew-symmetric pattern, expected 'general' or 'symmetric'");
  t = scan_token(s);
  if (t.length)
    return scan_fail(s, "'%.*s' after the symmetry, expected the end of the line", scan_shown(t), t.text);
  return 0;
}

static int scan_sizes(scanner *s, mm_header *h) {
  const char *form = h->coordinate ? "ROWS COLUMNS ENTRIES" : "ROWS COLUMNS";
  const int found = next_data_line(s);
  if (found < 0) return -1;
  if (!found) return scan_fail(s, "the file ends, expected a line of sizes: %s", form);
  static const char *const names[] = {"rows", "columns", "entries"};
  int64_t sizes[3] = {0, 0, 0};
  const int count = h->coordinate ? 3 : 2;
  for (int i = 0; i < count; i++) {
    const token t = scan_token(s);
    if (t.length == 0) return scan_fail(s, "%d numbers, expected %s", i, form);
    sizes[i] = scan_whole(t);
    if (sizes[i] < (i < 2 ? 1 : 0) || sizes[i] > max_size)
      return scan_fail(s, "%s '%.*s', expected a whole number from %d to %d", names[i], scan_shown(t), t.text,
                       i < 2 ? 1 : 0, max_size);
  }
  const token rest = scan_token(s);
  if (rest.length)
    return scan_fail(s, "'%.*s' after the sizes, expected %s", scan_shown(rest), rest.text, form);
  h->rows = sizes[0];
  h->columns = sizes[1];
  h->entries = sizes[2];
  h->size_line = s->line;
  if (h->symmetry != MM_GENERAL && h->rows != h->columns)
    return scan_fail(s, "%lld rows and %lld columns, expected as many of both in a %s matrix",
                     (long long)h->rows, (long long)h->columns,
                     h->symmetry == MM_SYMMETRIC ? "symmetric" : "skew-symmetric");
  if (h->coordinate) return 0;
  if (h->rows * h->columns > max_size)
    return scan_fail(s, "%lld x %lld values, expected at most %d", (long long)h->rows, (long long)h->columns,
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

static int scan_value(scanner *s, const mm_header *h, double *value) {
  const token t = scan_token(s);
  if (t.length == 0) return scan_fail(s, "no value, expected %s", entry_form(h));
  const int is_signed = *t.text == '+' || *t.text == '-';
  if (h->may_be_infinite && is_word((token){t.text + is_signed, t.length - is_signed}, "inf")) {
    *value = *t.text == '-' ? -INFINITY : INFINITY;
    return 0;
  }
  return scan_decimal(s, t, "value", h->integer, value);
}

static int scan_index(scanner *s, token t, const char *what, int64_t limit, int32_t *index) {
  const int64_t number = scan_whole(t);
  *index = (int32_t)(number - 1);
  if (number >= 1 && number <= limit) return 0;
  return scan_fail(s, "%s '%.*s', expected a whole number from 1 to %lld", what, scan_shown(t), t.text,
                   (long long)limit);
}

static int scan_place(scanner *s, const mm_header *h, mm_entry *e) {
  if (scan_index(s, scan_token(s), "row", h->rows, &e->row)) return -1;
  const token t = scan_token(s);
  if (t.length == 0) return scan_fail(s, "one number, expected %s", entry_form(h));
  if (scan_index(s, t, "column", h->columns, &e->column)) return -1;
  if (h->symmetry != MM_GENERAL && e->row < e->column)
    return scan_fail(s,
                     "entry %d %d above the diagonal, expected the lower triangle only or 'general' in line 1",
                     e->row + 1, e->column + 1);
  if (h->symmetry == MM_SKEW_SYMMETRIC && e->row == e->column)
    return scan_fail(s, "entry %d %d on the diagonal, expected none in a skew-symmetric matrix", e->row + 1,
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
  const token rest = scan_token(s);
  if (rest.length == 0) return 0;
  return scan_fail(s, "'%.*s' at the end of the line, expected %s", scan_shown(rest), rest.text, entry_form(h));
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
      return scan_fail(s, "the file ends after %lld %s, expected the %lld of line %lld", (long long)k,
                       h->coordinate ? "entries" : "values", (long long)h->entries, (long long)h->size_line);
    if (k == h->entries)
      return scan_fail(s, "a further %s, expected no more than the %lld of line %lld", what, (long long)k,
                       (long long)h->size_line);
    if (!h->coordinate) next_place(h, k, &e);
    if (scan_entry(s, h, &e)) return -1;
    entries[k] = e;
    if (k % 4096 == 0)
      progress_step((double)(s->next - s->text) / (double)(s->end - s->text), "%s %lld of %lld", what,
                    (long long)k, (long long)h->entries);
  }
}

int mm_parse(const char *name, const char *text, size_t length, int may_be_infinite, mm_header *header,
             mm_entry **entries, mm_error *error) {
  scanner s = {.name = name, .text = text, .next = text, .end = text + length, .error = error};
  memset(header, 0, sizeof *header);
  header->may_be_infinite = may_be_infinite;
  *entries = NULL;
  if (scan_first_line(&s, header) || scan_sizes(&s, header)) return -1;
  *entries = make_room(&s, header);
  if (!*entries) return scan_fail(&s, "out of memory for %lld entries", (long long)header->entries);
  const int failed = scan_entries(&s, header, *entries);
  progress_clear();
  if (!failed) return 0;
  free(*entries);
  *entries = NULL;
  return -1;
}
