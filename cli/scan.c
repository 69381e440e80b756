#include "scan.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decimal.h"

enum { max_shown = 40 };

#undef scan_fail /* the analyzer's form */
int scan_fail(scanner *s, const char *format, ...) {
  char *text = s->error->text;
  const size_t size = sizeof s->error->text;
  snprintf(text, size, "%.200s:%lld: ", s->name, (long long)(s->line ? s->line : 1));
  const size_t used = strlen(text);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + used, size - used, format, arguments);
  va_end(arguments);
  /* Bytes of a binary file could control the terminal. */
  for (unsigned char *c = (unsigned char *)text + used; *c; c++)
    if (*c < 0x20 || *c == 0x7f) *c = '?';
  return -1;
}

static int is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

int scan_line(scanner *s) {
  if (s->next >= s->end) return 0;
  const char *newline = memchr(s->next, '\n', (size_t)(s->end - s->next));
  s->p = s->next;
  s->line_end = newline ? newline : s->end;
  s->next = newline ? newline + 1 : s->end;
  s->line++;
  return 1;
}

void scan_spaces(scanner *s) {
  while (s->p < s->line_end && is_space(*s->p)) s->p++;
}

token scan_token(scanner *s) {
  scan_spaces(s);
  token t = {s->p, 0};
  while (s->p < s->line_end && !is_space(*s->p)) s->p++;
  t.length = (int)(s->p - t.text);
  return t;
}

int scan_shown(token t) {
  return t.length < max_shown ? t.length : max_shown;
}

int64_t scan_whole(token t) {
  int64_t n = 0;
  if (t.length == 0) return -1;
  for (int i = 0; i < t.length; i++) {
    if (t.text[i] < '0' || t.text[i] > '9') return -1;
    if (n > (INT64_MAX - 9) / 10) return INT64_MAX;
    n = 10 * n + (t.text[i] - '0');
  }
  return n;
}

int scan_decimal(scanner *s, token t, const char *what, int is_integer, double *value) {
  char *end;
  if (!is_integer && t.length > 0 && decimal_read(t.text, t.text + t.length, value) == t.text + t.length)
    return 0;
  *value = strtod(t.text, &end);
  const int is_number = t.length > 0 && end == t.text + t.length;
  const int is_decimal = (int)strspn(t.text, is_integer ? "+-0123456789" : "+-.0123456789eE") == t.length;
  if (is_number && !is_decimal && !isfinite(*value))
    return scan_fail(s, "%s '%.*s', expected a finite number", what, scan_shown(t), t.text);
  if (!is_number || !is_decimal)
    return scan_fail(s, "%s '%.*s', expected %s", what, scan_shown(t), t.text,
                     is_integer ? "a whole number" : "a number");
  if (!isfinite(*value))
    return scan_fail(s, "%s '%.*s', expected at most %.17g, the range of double precision", what, scan_shown(t),
                     t.text, DBL_MAX);
  return 0;
}
