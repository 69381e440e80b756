#include "progress.h"

#include <stdarg.h>
#include <stdio.h>

#include "message.h"

static int enabled, visible;
static double last_shown;

void progress_enable(int enable) {
  enabled = enable && platform_is_terminal(stderr);
}

int progress_due(void) {
  return enabled && seconds_now() - last_shown >= 0.1;
}

void progress_show(const char *format, ...) {
  if (!progress_due()) return;
  last_shown = seconds_now();
  va_list arguments;
  va_start(arguments, format);
  /* No longer than a narrow terminal, or the line would wrap and not be overwritten. */
  char line[80];
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  fprintf(stderr, "\r\033[K%s", line);
  fflush(stderr);
  visible = 1;
}

void progress_clear(void) {
  if (!visible) return;
  fputs("\r\033[K", stderr);
  fflush(stderr);
  visible = 0;
}

int progress_fail(const char *why) {
  progress_clear();
  message("%s", why);
  return -1;
}
