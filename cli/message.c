#include "message.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "progress.h"

static const char *program_name = "texsolve";
static int be_quiet;

enum { longest = 8192 };

/* Also replaces control characters above 0x80. In UTF-8 their second byte is below 0xa0. */
void message_make_safe(char *text) {
  for (unsigned char *c = (unsigned char *)text; *c; c++) {
    if (*c < 0x20 || *c == 0x7f) *c = '?';
    if (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0) c[0] = c[1] = '?';
  }
}

const char *message_safe(const char *text) {
  static char copies[4][longest];
  static int next;
  char *const copy = copies[next];
  next = (next + 1) % 4;
  snprintf(copy, longest, "%s", text);
  message_make_safe(copy);
  return copy;
}

static void print_message(const char *format, va_list arguments) {
  char text[longest];
  vsnprintf(text, sizeof text, format, arguments);
  message_make_safe(text);
  progress_hide();
  fprintf(stderr, "%s: %s\n", program_name, text);
  progress_unhide();
}

void message(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_message(format, arguments);
  va_end(arguments);
}

void message_note(const char *format, ...) {
  if (be_quiet) return;
  va_list arguments;
  va_start(arguments, format);
  print_message(format, arguments);
  va_end(arguments);
}

void message_set_quiet(int quiet) {
  be_quiet = quiet;
}

int message_is_quiet(void) {
  return be_quiet;
}

const char *message_program(void) {
  return program_name;
}

void message_set_program(const char *name) {
  program_name = name;
}

int message_flush_stdout(void) {
  static int said;
  errno = 0;
  if (fflush(stdout) == 0 && !ferror(stdout)) return 0;
  if (!said) message("standard output: %s", errno ? strerror(errno) : "write error");
  said = 1;
  return -1;
}

int parse_int(const char *text, int least, int most, int *value) {
  char *end;
  errno = 0;
  const long number = strtol(text, &end, 10);
  if (end == text || *end || errno || number < least || number > most) return -1;
  *value = (int)number;
  return 0;
}

int parse_double(const char *text, double *value) {
  char *end;
  const double number = strtod(text, &end);
  if (end == text || *end || !isfinite(number)) return -1;
  *value = number;
  return 0;
}

int parse_size(const char *text, int *width, int *height) {
  const char *x = strchr(text, 'x');
  char first[12];
  if (!x || (size_t)(x - text) >= sizeof first) return -1;
  memcpy(first, text, (size_t)(x - text));
  first[x - text] = 0;
  if (parse_int(first, 1, 1 << 20, width) || parse_int(x + 1, 1, 1 << 20, height)) return -1;
  return 0;
}
