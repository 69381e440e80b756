#include "options.h"

#include <argp.h>
#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "message.h"

enum { most_rows = 64, first_key = 256 };

static const option_row *table;
static unsigned char given[most_rows];

static int key_of(const option_row *o) {
  return o->letter ? o->letter : first_key + (int)(o - table);
}

static void store_size(const option_row *o, const char *option_name, const char *text, int size[2]) {
  if (!parse_size(text, &size[0], &size[1]) && size[0] >= o->least && size[1] >= o->least &&
      size[0] <= o->most && size[1] <= o->most)
    return;
  arguments_usage("%s: '%.40s', expected WIDTHxHEIGHT of %.0f to %.0f %s", option_name, text, o->least, o->most,
                  o->expected);
}

/* "auto, jagged, segments, csr, bcrs2 or bcrs4": the formats of matrices. */
static const char *all_formats(void) {
  static char text[128];
  const char *last = NULL, *next;
  size_t used = 0;
  if (text[0]) return text;
  for (int f = 0; (next = ts_format_name((ts_format)f)); f++) {
    if (f == TS_FORMAT_STENCIL || f == TS_FORMAT_OPERATOR) continue;
    if (last) used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? ", " : "", last);
    last = next;
  }
  snprintf(text + used, sizeof text - used, " or %s", last);
  return text;
}

static int format_named(const option_row *o, const char *text) {
  const int format = ts_format_from_name(text);
  if (format < 0 || format == TS_FORMAT_STENCIL || format == TS_FORMAT_OPERATOR)
    arguments_usage("--format: '%.40s', expected %s", text, o->expected ? o->expected : all_formats());
  return format;
}

static const char *help_of(const option_row *o) {
  static char text[256]; /* of one row */
  if (o->kind != OPTION_IS_FORMAT || o->expected) return o->help;
  snprintf(text, sizeof text, "%s %s", all_formats(), o->help);
  return text;
}

static void store(const option_row *o, char *text, void *options) {
  static const char *const platforms[] = {"egl", "window", NULL};
  char *const field = (char *)options + o->at;
  char name[40];
  int number = 0;
  double real = 0;
  if (o->name)
    snprintf(name, sizeof name, "--%s", o->name);
  else
    snprintf(name, sizeof name, "-%c", o->letter);
  switch (o->kind) {
  case OPTION_IS_INPUT:
    if (!*text) arguments_usage("the name of a file is empty, expected one");
    if (o->parse) {
      o->parse(options, text);
      return;
    }
    if (given[o - table]) arguments_usage("'%.80s' after the %s, expected one %s only", text, o->name, o->name);
    memcpy(field, &text, sizeof text);
    return;
  case OPTION_IS_BACKEND:
    arguments_backend(name, text);
    memcpy(field, &text, sizeof text);
    return;
  case OPTION_IS_PICTURE:
    if (strlen(text) < 4 || !same_letters(text + strlen(text) - 4, ".png", 4))
      arguments_usage("%s: '%.80s', expected a name that ends in .png", name, text);
    memcpy(field, &text, sizeof text);
    return;
  case OPTION_IS_TEXT:
    if (!*text) arguments_usage("%s: '', expected %s", name, o->argument);
    memcpy(field, &text, sizeof text);
    return;
  case OPTION_IS_NUMBER:
    real = arguments_number(name, text, o->least, o->most, o->expected);
    memcpy(field, &real, sizeof real);
    return;
  case OPTION_IS_POSITIVE:
    real = arguments_positive(name, text, o->most, o->expected);
    memcpy(field, &real, sizeof real);
    return;
  case OPTION_IS_RTOL:
    real = arguments_rtol(text);
    memcpy(field, &real, sizeof real);
    return;
  case OPTION_IS_SIZE:
    store_size(o, name, text, (int *)(void *)field);
    return;
  case OPTION_IS_PARSED:
    o->parse(options, text);
    return;
  case OPTION_IS_WHOLE:
    number = arguments_whole_number(name, text, (int)o->least, (int)o->most);
    break;
  case OPTION_IS_WORD:
    number = arguments_one_of(name, text, o->words);
    break;
  case OPTION_IS_NAME:
    number = arguments_named(name, text, o->names);
    break;
  case OPTION_IS_FORMAT:
    number = format_named(o, text);
    break;
  case OPTION_IS_COUNT:
    memcpy(&number, field, sizeof number);
    number++;
    break;
  case OPTION_IS_PLATFORM:
    number = arguments_one_of(name, text, platforms) ? TS_GL_PLATFORM_WINDOW : TS_GL_PLATFORM_EGL;
    break;
  default: /* a flag */
    number = 1;
    break;
  }
  memcpy(field, &number, sizeof number);
}

static error_t parse(int key, char *text, struct argp_state *state) {
  for (const option_row *o = table; o->kind != OPTION_IS_END; o++) {
    if (o->kind == OPTION_IS_HEADING || key != (o->kind == OPTION_IS_INPUT ? ARGP_KEY_ARG : key_of(o)))
      continue;
    store(o, text, state->input);
    given[o - table] = 1;
    return 0;
  }
  if (key == ARGP_KEY_ARG) arguments_usage("'%.80s', expected options only", text);
  return ARGP_ERR_UNKNOWN;
}

void options_read(const char *program, const option_row *rows, const char *description, int argc, char **argv,
                  void *options) {
  struct argp_option list[most_rows + 2] = {0};
  struct argp argp = {.options = list, .parser = parse, .doc = description};
  int group = 0, count = 0;
  table = rows;
  for (const option_row *o = rows; o->kind != OPTION_IS_END && count < most_rows; o++) {
    if (o->kind == OPTION_IS_INPUT) argp.args_doc = o->argument;
    if (o->kind == OPTION_IS_INPUT) continue;
    if (o->kind == OPTION_IS_HEADING) group++;
    list[count++] = (struct argp_option){.name = o->name,
                                         .key = o->kind == OPTION_IS_HEADING ? 0 : key_of(o),
                                         .arg = o->argument,
                                         .doc = help_of(o),
                                         .group = group};
  }
  list[count] = (struct argp_option){.doc = "Help:", .group = -1};
  arguments_parse(program, &argp, argc, argv, options);
}

int options_given(const char *name) {
  for (const option_row *o = table; o->kind != OPTION_IS_END; o++)
    if (o->name && strcmp(o->name, name) == 0) return given[o - table];
  return 0;
}

void options_refuse(const char *before, const char *const *names, const char *after) {
  for (; *names; names++)
    if (options_given(*names)) arguments_usage("%s--%s%s", before, *names, after);
}
