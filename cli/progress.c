#include "progress.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "message.h"

/* Work shorter than a second is not shown. A step is shown once it has lasted long enough to be read. */
static const double first_second = 1, shortest_step = 0.3, interval = 0.2;
static int enabled, has_thread;
static volatile sig_atomic_t visible;

/* Under platform_lock: */
static int active;
static char what[64], detail[80];
static double fraction, program_begin_time, step_begin, last_shown;

void progress_enable(int enable) {
  enabled = enable && platform_is_terminal(stderr);
  program_begin_time = seconds_now();
}

/* "3 s", "4 min", "1.5 h" */
static void put_time(char text[16], double seconds) {
  if (seconds < 99.5)
    snprintf(text, 16, "%.0f s", seconds);
  else if (seconds < 99.5 * 60)
    snprintf(text, 16, "%.0f min", seconds / 60);
  else
    snprintf(text, 16, "%.1f h", fmin(seconds / 3600, 1e6));
}

static void draw(double now) {
  char line[sizeof what + sizeof detail + 4], passed[16], left[16], end[64];
  const double seconds = now - step_begin;
  put_time(passed, seconds);
  put_time(left, fraction > 0 ? seconds * (1 - fraction) / fraction : 0);
  if (fraction > 0.01 && fraction <= 1)
    snprintf(end, sizeof end, "; %s, %s left", passed, left);
  else
    snprintf(end, sizeof end, "; %s", passed);
  snprintf(line, sizeof line, "%s%s%s", what, detail[0] ? ": " : "", detail);
  message_make_safe(line);
  /* A line that wraps could not be overwritten. */
  fprintf(stderr, "\r\033[K%.*s%s", platform_columns(stderr) - 1 - (int)strlen(end), line, end);
  fflush(stderr);
  last_shown = now;
  visible = 1;
}

static void erase(void) {
  if (!visible) return;
  visible = 0;
  fputs("\r\033[K", stderr);
  fflush(stderr);
}

static int is_due(double now) {
  return active && now - program_begin_time >= first_second && now - step_begin >= shortest_step &&
         now - last_shown >= interval;
}

static void tick(void) {
  platform_lock();
  const double now = seconds_now();
  if (is_due(now)) draw(now);
  platform_unlock();
}

void progress_begin(const char *format, ...) {
  if (!enabled) return;
  if (!has_thread) platform_every(interval, tick);
  has_thread = 1;
  platform_lock();
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  erase();
  detail[0] = 0;
  fraction = -1;
  step_begin = seconds_now();
  active = 1;
  platform_unlock();
}

void progress_since(double begin) {
  if (!enabled) return;
  platform_lock();
  step_begin = begin;
  platform_unlock();
}

void progress_step(double part, const char *format, ...) {
  if (!enabled) return;
  platform_lock();
  const double now = seconds_now();
  active = 1;
  fraction = part;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(detail, sizeof detail, format, arguments);
  va_end(arguments);
  if (is_due(now)) draw(now);
  platform_unlock();
}

void progress_clear(void) {
  if (!enabled) return;
  platform_lock();
  erase();
  active = 0;
  platform_unlock();
}

int progress_fail(const char *why) {
  progress_clear();
  message("%s", why);
  return -1;
}

double progress_of_residual(double first, double now, double target) {
  if (!(first > target && target > 0 && now > 0)) return -1;
  return fmin(fmax(log(first / now) / log(first / target), 0), 1);
}

void progress_hide(void) {
  if (!enabled) return;
  platform_lock();
  erase();
}

void progress_unhide(void) {
  if (enabled) platform_unlock();
}

int progress_is_visible(void) {
  return visible;
}
