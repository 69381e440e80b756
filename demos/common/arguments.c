#include "arguments.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

void arguments_usage(const char *format, ...) {
  char text[320];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  message("%s", text);
  exit(ARGUMENTS_EXIT);
}

int arguments_whole_number(const char *option, const char *text, int least, int most) {
  int value;
  if (parse_int(text, least, most, &value))
    arguments_usage("%s: '%.40s', expected a whole number from %d to %d", option, text, least, most);
  return value;
}

int arguments_one_of(const char *option, const char *text, const char *const *words) {
  char known[128] = "";
  for (int i = 0; words[i]; i++) {
    if (!strcmp(text, words[i])) return i;
    const size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s%s", !i ? "" : words[i + 1] ? ", " : " or ", words[i]);
  }
  arguments_usage("%s: '%.40s', expected %s", option, text, known);
}

double arguments_positive(const char *option, const char *text, double most, const char *expected) {
  double value;
  if (parse_double(text, &value) || value <= 0 || value > most)
    arguments_usage("%s: '%.40s', expected %s", option, text, expected);
  return value;
}

double arguments_rtol(const char *text) {
  const double rtol = arguments_positive("--rtol", text, 1, "a number between 0 and 1");
  if (rtol >= 1) arguments_usage("--rtol: '%.40s', expected a number between 0 and 1", text);
  return rtol;
}

/* "gl:1" and "check:gl" are names too. */
const char *arguments_backend(const char *text) {
  const char *name = strncmp(text, "check:", 6) ? text : text + 6;
  const size_t length = strcspn(name, ":");
  char known[128] = "auto";
  if (!strcmp(text, "auto")) return text;
  for (int i = 0; ts_backend_name(i); i++) {
    if (strlen(ts_backend_name(i)) == length && !strncmp(name, ts_backend_name(i), length)) return text;
    const size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, ", %s", ts_backend_name(i));
  }
  arguments_usage("--backend: '%.40s', expected one of %s, or check:NAME", text, known);
}

void arguments_size(const char *text, int *width, int *height) {
  if (parse_size(text, width, height) || *width < 16 || *height < 16 || *width > 16384 || *height > 16384)
    arguments_usage("--size: '%.40s', expected WIDTHxHEIGHT of 16 to 16384 pixels, such as 1200x900", text);
}
