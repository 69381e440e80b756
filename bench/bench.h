/* What the parts of `texsolve bench` share: options, matrices, messages. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdint.h>
#include <texsolve/texsolve.h>

#include "generate.h"

struct report;

/* The shortest batch of a measurement, in seconds. */
#define BENCH_BATCH_SECONDS 0.02

typedef struct bench_options {
  const char *backend;
  const char *matrix;                    /* a generated one or a file; NULL: all generated ones */
  ts_format format;                      /* AUTO: every format of the backend, or its default */
  int32_t size;                          /* rows; 0: the benchmark's default */
  int components;                        /* 1 to 4 */
  int rectangle_width, rectangle_height; /* 0: the device's */
  int threads;                           /* 0: the default */
  int repeat;                            /* batches per measurement */
  int json;
} bench_options;

int bench_limits(const bench_options *options, struct report *r);
int bench_spmv(const bench_options *options, struct report *r);
int bench_blas(const bench_options *options, struct report *r);
int bench_cg(const bench_options *options, struct report *r);

#if defined(__GNUC__)
#define BENCH_PRINTF(string, first) __attribute__((format(printf, string, first)))
#else
#define BENCH_PRINTF(string, first)
#endif

/* One line on standard error, "texsolve bench: ...". */
void bench_error(const char *format, ...) BENCH_PRINTF(1, 2);

/* Reports a failed call of the library; returns nonzero if `status` is an error. */
int bench_check(ts_status status, const ts_context *context, const char *what);

/* Opens the backend of the options, with a rectangle of w x h texels (0: the options', or the device's). */
int bench_open(const bench_options *options, int w, int h, ts_context **context);

/* Backend, device and driver into the report. */
void bench_describe(ts_context *context, struct report *r);

/* A generated matrix of `rows` rows or the file called `name`, as CSR. */
int bench_matrix(generated_matrix *A, const char *name, int32_t rows);

/* A matrix's name for a table: of a file, the last part without .mtx, as far as there is room. */
enum { BENCH_NAME_SIZE = 13 };
void bench_short_name(char short_name[BENCH_NAME_SIZE], const char *name);

/* Makes a vector and fills it with reproducible numbers between 0.5 and 1.5. */
int bench_vector(ts_space *space, int components, ts_vector **v);

#endif
