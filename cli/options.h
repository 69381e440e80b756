/* A table of a program's options. Each row defines an option's name, its field in program_options and its
 * range. An invalid argument ends the program as in arguments.h. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stddef.h>

#include <texsolve/texsolve.h>
#include <texsolve/gl.h>

typedef enum option_kind {
  OPTION_IS_END,
  OPTION_IS_HEADING,  /* `help` is the heading of the next rows */
  OPTION_IS_FLAG,     /* int: 1 */
  OPTION_IS_COUNT,    /* int: how often the option occurs */
  OPTION_IS_TEXT,     /* const char *, not empty */
  OPTION_IS_PICTURE,  /* const char *: name of a PNG file */
  OPTION_IS_INPUT,    /* const char *: the argument that is not an option; with `parse`, each of them */
  OPTION_IS_WHOLE,    /* int */
  OPTION_IS_NUMBER,   /* double; `expected` describes its range */
  OPTION_IS_POSITIVE, /* double greater than 0 */
  OPTION_IS_RTOL,     /* double between 0 and 1 */
  OPTION_IS_WORD,     /* int or enum: the index of the word */
  OPTION_IS_NAME,     /* int or enum: the index in the names that a function returns for 0, 1, ... until NULL */
  OPTION_IS_FORMAT,   /* ts_format; `expected` lists the formats, NULL: all; `help` follows the list */
  OPTION_IS_BACKEND,  /* const char * */
  OPTION_IS_PLATFORM, /* ts_gl_platform, for programs without a window */
  OPTION_IS_SIZE,     /* int[2], or two successive ints */
  OPTION_IS_PARSED    /* parsed by a function of the program */
} option_kind;

typedef struct option_row {
  option_kind kind;
  int letter; /* 0: none */
  const char *name, *argument, *help;
  size_t at; /* in program_options */
  double least, most;
  const char *expected;
  const char *const *words;
  const char *(*names)(int index);
  void (*parse)(void *options, const char *text);
} option_row;

#define OPTION_ROW(is, called, takes, field, ...)                                                              \
  {                                                                                                            \
    .kind = OPTION_IS_##is, .name = called, .argument = takes, .at = offsetof(program_options, field),         \
    __VA_ARGS__                                                                                                \
  }
#define OPTION_HEADING(text)                                                                                   \
  { .kind = OPTION_IS_HEADING, .help = text }
#define OPTION_FLAG(name, field, text) OPTION_ROW(FLAG, name, NULL, field, .help = text)
#define OPTION_TEXT(name, takes, field, text) OPTION_ROW(TEXT, name, takes, field, .help = text)
#define OPTION_PICTURE(name, field, text) OPTION_ROW(PICTURE, name, "FILE", field, .help = text)
#define OPTION_INPUT(what, field) OPTION_ROW(INPUT, what, "[FILE]", field, .help = NULL)
#define OPTION_WHOLE(name, takes, field, low, high, text)                                                      \
  OPTION_ROW(WHOLE, name, takes, field, .least = low, .most = high, .help = text)
#define OPTION_NUMBER(name, takes, field, low, high, range, text)                                              \
  OPTION_ROW(NUMBER, name, takes, field, .least = low, .most = high, .expected = range, .help = text)
#define OPTION_POSITIVE(name, takes, field, high, range, text)                                                 \
  OPTION_ROW(POSITIVE, name, takes, field, .most = high, .expected = range, .help = text)
#define OPTION_RTOL(field, text) OPTION_ROW(RTOL, "rtol", "R", field, .help = text)
#define OPTION_WORD(name, takes, field, list, text)                                                            \
  OPTION_ROW(WORD, name, takes, field, .words = list, .help = text)
#define OPTION_NAME(name, takes, field, function, text)                                                        \
  OPTION_ROW(NAME, name, takes, field, .names = function, .help = text)
#define OPTION_FORMAT(field, list, text)                                                                       \
  OPTION_ROW(FORMAT, "format", "NAME", field, .expected = list, .help = text)
#define OPTION_SIZE(name, width, low, high, unit, text)                                                        \
  OPTION_ROW(SIZE, name, "WxH", width, .least = low, .most = high, .expected = unit, .help = text)
#define OPTION_PARSED(called, takes, function, text)                                                           \
  { .kind = OPTION_IS_PARSED, .name = called, .argument = takes, .parse = function, .help = text }
#define OPTION_END                                                                                             \
  { .kind = OPTION_IS_END }

/* Options of several programs. */
#define OPTION_OUTPUT(text) OPTION_ROW(TEXT, "output", "FILE", output, .letter = 'o', .help = text)
/* Options of texsolve's commands. The library itself rejects unknown backends. */
#define OPTIONS_COMMAND_DEVICE                                                                                 \
  OPTION_TEXT("backend", "NAME", backend,                                                                      \
              "auto, cuda, cuda:N (device N), cuda:N+N or cuda:all (several), gl, gl:N, cpu, check:NAME, or "  \
              "multi:NAME+NAME (several of one kind); see `texsolve info' (default: auto, CUDA if a device "   \
              "exists, otherwise OpenGL on a GPU, otherwise the CPU)"),                                        \
      OPTION_WHOLE("threads", "N", threads, 1, 4096,                                                           \
                   "threads of the CPU backend, and of reading and writing files")
#define OPTIONS_REPORT                                                                                         \
  OPTION_HEADING("Output:"), OPTION_FLAG("json", json, "report as one JSON object on standard output"),        \
      OPTION_ROW(FLAG, "quiet", NULL, quiet, .letter = 'q',                                                    \
                 .help = "print only errors and failures to converge, no report"),                             \
      OPTION_ROW(COUNT, "verbose", NULL, verbosity, .letter = 'v',                                             \
                 .help = "log what the library does; twice: in detail")

/* Sets the given options in the program_options `options`, which contains the defaults. --help begins with
 * `description`; its part after a vertical tab follows the options. */
void options_read(const char *program, const option_row *rows, const char *description, int argc, char **argv,
                  void *options);
/* Whether an option was given to options_read. */
int options_given(const char *name);
/* Ends the program if any of these options was given (list until NULL), with the message BEFORE--NAMEAFTER. */
void options_refuse(const char *before, const char *const *names, const char *after);
#define OPTION_NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

#endif
