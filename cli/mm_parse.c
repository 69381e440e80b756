#include "mm_parse.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mm_entries.h"
#include "mm_line.h"
#include "platform.h"
#include "progress.h"

/* max_line: the format's limit, here of the first line. max_size: the library's limit, slightly below
 * INT_MAX. */
enum { max_line = 1024, max_size = INT_MAX - 1023 };

int(mm_fail)(mm_error *error, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error->text, sizeof error->text, format, arguments);
  va_end(arguments);
  return -1;
}

static int is_word(token t, const char *word) {
  return (size_t)t.length == strlen(word) && same_letters(t.text, word, (size_t)t.length);
}

/* ---- The first line and the line of sizes ---- */

static const char *const header_form = "'%%MatrixMarket matrix coordinate real symmetric' or the like";

/* Returns the index of the next token in `words`, or -1 after a message. */
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
  const int found = mm_next_line(s);
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
    return scan_fail(s, "%lld rows and %lld columns, expected equal numbers of both in a %s matrix",
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

int mm_parse(const mm_source *source, mm_header *header, mm_entries *entries, mm_error *error) {
  scanner s = {.name = source->name,
               .text = source->text,
               .next = source->text,
               .end = source->text + source->length,
               .error = error};
  memset(header, 0, sizeof *header);
  memset(entries, 0, sizeof *entries);
  header->may_be_infinite = source->may_be_infinite;
  if (scan_first_line(&s, header) || scan_sizes(&s, header)) return -1;
  const int failed = mm_scan_entries(&s, header, source->chunk_bytes, entries);
  progress_clear();
  return failed;
}

void mm_free_entries(mm_entries *entries) {
  free(entries->rows);
  free(entries->columns);
  free(entries->values);
  memset(entries, 0, sizeof *entries);
}
