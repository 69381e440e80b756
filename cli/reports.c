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
