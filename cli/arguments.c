#include "arguments.h"

#include <argp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

void arguments_usage(const char *format, ...) {
  char text[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  message("%s", text);
  exit(ARGUMENTS_EXIT);
}

static const char *program;

static void print_version(FILE *stream, struct argp_state *state) {
  (void)state;
  fprintf(stream, "%.*s %s\n", (int)strcspn(program, " "), program, ts_version());
}

void arguments_parse(const char *name, const struct argp *argp, int argc, char **argv, void *input) {
  static char first[32]; /* argp begins its messages with argv[0] */
  program = name;
  snprintf(first, sizeof first, "%s", name);
  argv[0] = first;
  argp_program_version_hook = print_version;
  argp_err_exit_status = ARGUMENTS_EXIT;
  const error_t error = argp_parse(argp, argc, argv, 0, NULL, input);
  if (!error) return;
  message("the arguments cannot be read: %s", strerror(error));
  exit(EXIT_FAILURE);
}

int arguments_whole_number(const char *option, const char *text, int least, int most) {
  int value;
  if (parse_int(text, least, most, &value))
    arguments_usage("%s: '%.40s', expected a whole number from %d to %d", option, text, least, most);
  return value;
}

double arguments_number(const char *option, const char *text, double least, double most, const char *expected) {
  double value;
  if (parse_double(text, &value) || !(value >= least && value <= most))
    arguments_usage("%s: '%.40s', expected %s", option, text, expected);
  return value;
}

double arguments_positive(const char *option, const char *text, double most, const char *expected) {
  const double value = arguments_number(option, text, 0, most, expected);
  if (value == 0) arguments_usage("%s: '%.40s', expected %s", option, text, expected);
  return value;
}

double arguments_rtol(const char *text) {
  const double rtol = arguments_positive("--rtol", text, 1, "a number between 0 and 1");
  if (rtol >= 1) arguments_usage("--rtol: '%.40s', expected a number between 0 and 1", text);
  return rtol;
}

/* Appends "a", ", b" or " or c" to a list. */
static void put_word(char *list, size_t size, const char *word, int is_first, int is_last) {
  const size_t used = strlen(list);
  snprintf(list + used, size - used, "%s%s", is_first ? "" : is_last ? " or " : ", ", word);
}

int arguments_one_of(const char *option, const char *text, const char *const *words) {
  char known[200] = "";
  for (int i = 0; words[i]; i++) {
    if (!strcmp(text, words[i])) return i;
    put_word(known, sizeof known, words[i], i == 0, !words[i + 1]);
  }
  arguments_usage("%s: '%.40s', expected %s", option, text, known);
}

int arguments_named(const char *option, const char *text, const char *(*name)(int index)) {
  char known[200] = "";
  for (int i = 0; name(i); i++) {
    if (!strcmp(text, name(i))) return i;
    put_word(known, sizeof known, name(i), i == 0, !name(i + 1));
  }
  arguments_usage("%s: '%.40s', expected %s", option, text, known);
}

/* Accepts "" and ":1", for cuda also ":all" and ":0+1". */
static int is_device(const char *text, size_t length, int several) {
  if (length == 0) return 1;
  if (*text != ':') return 0;
  if (several && length == 4 && !strncmp(text, ":all", 4)) return 1;
  for (size_t k = 1; k < length;) {
    const size_t digits = strspn(text + k, "0123456789");
    k += digits;
    if (digits == 0 || k > length) return 0;
    if (k == length) return 1;
    if (text[k++] != '+' || !several) return 0;
  }
  return 0;
}

/* Also accepts "gl:1", "check:gl" and "multi:cpu+cpu". */
static int is_backend(const char *text, size_t length) {
  if (length > 6 && !strncmp(text, "check:", 6)) return is_backend(text + 6, length - 6);
  if (length > 6 && !strncmp(text, "multi:", 6)) {
    for (size_t k = 6; k <= length;) {
      const size_t part = strcspn(text + k, "+") < length - k ? strcspn(text + k, "+") : length - k;
      if (!is_backend(text + k, part)) return 0;
      k += part + 1;
    }
    return 1;
  }
  for (int i = 0; ts_backend_name(i); i++) {
    const size_t name = strlen(ts_backend_name(i));
    if (length >= name && !strncmp(text, ts_backend_name(i), name) &&
        is_device(text + name, length - name, !strcmp(ts_backend_name(i), "cuda")))
      return 1;
  }
  return 0;
}

static void check_backend(const char *option, const char *text, size_t length) {
  char known[128] = "auto, ";
  if (is_backend(text, length)) return;
  for (int i = 0; ts_backend_name(i); i++) {
    const size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s, ", ts_backend_name(i));
  }
  arguments_usage("%s: '%.*s', expected one of %sNAME:N, cuda:N+N, cuda:all, check:NAME or multi:NAME+NAME",
                  option, length < 40 ? (int)length : 40, text, known);
}

void arguments_backend(const char *option, const char *text) {
  if (strcmp(text, "auto") != 0) check_backend(option, text, strlen(text));
}

void arguments_backends(const char *option, const char *text) {
  for (size_t length = strcspn(text, ",");; length = strcspn(text, ",")) {
    check_backend(option, text, length);
    if (!text[length]) return;
    text += length + 1;
  }
}
