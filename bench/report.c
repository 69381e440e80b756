#include "report.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "progress.h"

struct report {
  const char *command; /* not copied */
  double begin;
  int row_count, expected_rows; /* expected_rows: 0 if unknown */
  char section[64];
  int json;
  json_t *object;
  json_t *rows; /* rows of the current table, borrowed from `object` */
  const report_column *columns;
  int column_count;
  int need_blank_line;
};

/* Text follows. */
static void pause_progress(const report *r) {
  if (!r->json) progress_clear();
}

static void show_progress(const report *r) {
  const int known = r->expected_rows > 0 && r->row_count <= r->expected_rows;
  char of[16] = "";
  if (known) snprintf(of, sizeof of, " of %d", r->expected_rows);
  progress_begin("bench %s", r->command); /* replaces that of steps such as reading a file */
  progress_since(r->begin);
  progress_step(known ? (double)r->row_count / r->expected_rows : -1, "%d%s results%s%s", r->row_count, of,
                r->section[0] ? ", " : "", r->section);
}

void report_expect(report *r, int rows) {
  r->expected_rows = rows;
  show_progress(r);
}

report *report_open(const char *command, int json) {
  report *r = calloc(1, sizeof *r);
  if (!r) return NULL;
  r->json = json;
  r->command = command;
  r->begin = seconds_now();
  progress_begin("bench %s", command);
  r->object = json_object();
  if (!r->object) {
    free(r);
    return NULL;
  }
  json_object_set_new(r->object, "bench", json_string(command));
  return r;
}

void report_field(report *r, const char *key, const char *label, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  json_object_set_new(r->object, key, json_string(text));
  pause_progress(r);
  if (!r->json) printf("%-10s %s\n", label, text);
  r->need_blank_line = 1;
  show_progress(r);
}

void report_note(report *r, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  json_t *notes = json_object_get(r->object, "notes");
  if (!notes) {
    notes = json_array();
    json_object_set_new(r->object, "notes", notes);
  }
  json_array_append_new(notes, json_string(text));
  pause_progress(r);
  if (!r->json) printf("%s\n", text);
  r->need_blank_line = 1;
  show_progress(r);
}

/* The columns' names above a line. */
static void print_header(const report *r) {
  for (int i = 0; i < r->column_count; ++i)
    if (r->columns[i].width) printf("%s%*s", i ? "  " : "", r->columns[i].width, r->columns[i].header);
  putchar('\n');
  for (int i = 0; i < r->column_count; ++i) {
    if (i && r->columns[i].width) printf("  ");
    for (int k = 0; k < abs(r->columns[i].width); ++k) putchar('-');
  }
  putchar('\n');
  fflush(stdout);
}

void report_table(report *r, const char *key, const char *title, const report_column *columns, int count) {
  r->columns = columns;
  r->column_count = count;
  r->rows = json_array();
  json_object_set_new(r->object, key, r->rows);
  if (r->json || !title) return; /* sections have their own headers */
  pause_progress(r);
  if (r->need_blank_line) putchar('\n');
  r->need_blank_line = 1;
  printf("%s\n", title);
  print_header(r);
  show_progress(r);
}

void report_section(report *r, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(r->section, sizeof r->section, format, arguments);
  va_end(arguments);
  show_progress(r);
  if (r->json) return;
  pause_progress(r);
  putchar('\n');
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  putchar('\n');
  r->need_blank_line = 1;
  print_header(r);
  show_progress(r);
}

void report_row(report *r, ...) {
  json_t *row = json_object();
  va_list arguments;
  pause_progress(r);
  va_start(arguments, r);
  for (int i = 0; i < r->column_count; ++i) {
    const report_column *c = &r->columns[i];
    json_t *value = NULL;
    const int shown = !r->json && c->width;
    if (shown && i) printf("  ");
    if (c->type == 's') {
      const char *text = va_arg(arguments, const char *);
      value = json_string(text);
      if (shown) printf("%*s", c->width, text);
    } else if (c->type == 'i') {
      const long long number = va_arg(arguments, long long);
      value = json_integer(number);
      if (shown) printf("%*lld", c->width, number);
    } else {
      const double number = va_arg(arguments, double);
      value = isfinite(number) ? json_real(number) : json_null();
      if (shown && isfinite(number)) printf(c->type == 'e' ? "%*.*e" : "%*.*f", c->width, c->decimals, number);
      if (shown && !isfinite(number)) printf("%*s", c->width, "-");
    }
    json_object_set_new(row, c->key, value);
  }
  va_end(arguments);
  json_array_append_new(r->rows, row);
  if (!r->json) {
    putchar('\n');
    fflush(stdout);
  }
  r->row_count++;
  show_progress(r);
}

void report_abandon(report **r) {
  if (!*r) return;
  progress_clear();
  json_decref((*r)->object);
  free(*r);
  *r = NULL;
}

int report_close(report **r) {
  int failed = 0;
  progress_clear();
  if ((*r)->json)
    failed =
        json_dumpf((*r)->object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(7)) != 0 || putchar('\n') == EOF;
  if (fflush(stdout) == EOF || ferror(stdout)) failed = 1;
  report_abandon(r);
  return failed;
}
