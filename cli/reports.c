#include "reports.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "message.h"

json_t *report_number(double value) {
  return isfinite(value) ? json_real(value) : json_null();
}

json_t *report_milliseconds(double seconds) {
  return report_number(1e3 * seconds);
}

json_t *report_text(const char *text) {
  return text ? json_string(text) : json_null();
}

const char *report_precisions(const int iterations[4]) {
  static char text[100];
  int used = 0;
  text[0] = 0;
  for (int p = TS_PRECISION_SINGLE; p <= TS_PRECISION_DOUBLE; p++)
    if (iterations[p] > 0)
      used += snprintf(text + used, sizeof text - (size_t)used, "%s%d %s", used ? ", " : " (", iterations[p],
                       ts_precision_name((ts_precision)p));
  if (used) snprintf(text + used, sizeof text - (size_t)used, ")");
  return text;
}

json_t *report_precisions_object(const int iterations[4]) {
  json_t *const object = json_object();
  for (int p = TS_PRECISION_SINGLE; p <= TS_PRECISION_DOUBLE; p++)
    json_object_set_new(object, ts_precision_name((ts_precision)p), json_integer(iterations[p]));
  return object;
}

int report_print(json_t *object, int lost) {
  if (!lost) lost = !object || json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
  putchar('\n');
  json_decref(object);
  if (message_flush_stdout()) return -1;
  if (lost) message("out of memory, or a file name that is not UTF-8: no JSON object");
  return lost ? -1 : 0;
}

void report_plural(int count, const char *one, const char *more) {
  printf("%d %s", count, count == 1 ? one : more);
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double report_median(double *values, int count) {
  qsort(values, (size_t)count, sizeof *values, by_size);
  return count % 2 ? values[count / 2] : 0.5 * (values[count / 2 - 1] + values[count / 2]);
}

void report_opengl(const ts_context_info *context) {
  if (context->seconds_shaders <= 0) return;
  printf("OpenGL      %scompiling its shaders took %.3f s, once\n",
         context->is_hardware ? "" : "runs on the CPU here, as software; ", context->seconds_shaders);
}
