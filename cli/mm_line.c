#include "mm_line.h"

#include <math.h>
#include <string.h>

#include "decimal.h"
#include "platform.h"

/* The maximum line length of Matrix Market. */
enum { max_line = 1024 };

/* ---- In general ---- */

int mm_next_line(scanner *s) {
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

int64_t mm_count_lines(const char *text, const char *end) {
  mm_error error;
  scanner s = {.name = "", .text = text, .next = text, .end = end, .error = &error};
  int64_t count = 0;
  while (mm_next_line(&s)) count++;
  return count;
}

static const char *entry_form(const mm_header *h) {
  return !h->coordinate ? "one value" : h->pattern ? "ROW COLUMN" : "ROW COLUMN VALUE";
}

static int scan_value(scanner *s, const mm_header *h, double *value) {
  const token t = scan_token(s);
  if (t.length == 0) return scan_fail(s, "no value, expected %s", entry_form(h));
  const int is_signed = *t.text == '+' || *t.text == '-';
  if (h->may_be_infinite && t.length - is_signed == 3 && same_letters(t.text + is_signed, "inf", 3)) {
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

int mm_scan_entry(scanner *s, const mm_header *h, mm_entry *e) {
  if (h->coordinate && scan_place(s, h, e)) return -1;
  e->value = 1;
  if (!h->pattern && scan_value(s, h, &e->value)) return -1;
  const token rest = scan_token(s);
  if (rest.length == 0) return 0;
  return scan_fail(s, "'%.*s' at the end of the line, expected %s", scan_shown(rest), rest.text, entry_form(h));
}

/* ---- Quickly ---- */

static int is_blank(const char *p, const char *end) {
  return p < end && (*p == ' ' || *p == '\t');
}

static const char *skip_blanks(const char *p, const char *end) {
  while (is_blank(p, end)) p++;
  return p;
}

static const char *quick_index(const char *p, const char *end, int64_t limit, int32_t *index) {
  uint64_t number = 0;
  int count = 0;
  p = decimal_digits(skip_blanks(p, end), end, &number, &count);
  *index = (int32_t)(number - 1);
  return count <= 19 && number >= 1 && number <= (uint64_t)limit ? p : NULL;
}

static const char *quick_integer(const char *p, const char *end, double *value) {
  uint64_t number = 0;
  int count = 0;
  const int is_negative = p < end && *p == '-';
  p = decimal_digits(p + is_negative, end, &number, &count);
  *value = is_negative ? -(double)number : (double)number;
  return count >= 1 && count <= 19 ? p : NULL;
}

const char *mm_quick_entry(const char *p, const char *end, const mm_header *h, mm_entry *e) {
  const char *const line = p;
  e->value = 1;
  if (h->coordinate) {
    if (!(p = quick_index(p, end, h->rows, &e->row)) || !(p = quick_index(p, end, h->columns, &e->column)))
      return NULL;
    if (h->symmetry != MM_GENERAL && e->row < e->column + (h->symmetry == MM_SKEW_SYMMETRIC)) return NULL;
    if (!h->pattern && !is_blank(p, end)) return NULL;
  }
  if (!h->pattern) {
    p = skip_blanks(p, end);
    if (!(p = h->integer ? quick_integer(p, end, &e->value) : decimal_read(p, end, &e->value))) return NULL;
  }
  while (p < end && (*p == ' ' || *p == '\t' || *p == '\r')) p++;
  if (p - line > max_line) return NULL;
  return p == end ? p : *p == '\n' ? p + 1 : NULL;
}
