/* Shared code of `texsolve bench`: options, matrices and messages. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdint.h>
#include <texsolve/amg.h>
#include <texsolve/gl.h>

#include "generate.h"
#include "reorder.h"

struct report;

/* The minimum length of a batch of measurements, in seconds. */
#define BENCH_BATCH_SECONDS 0.02

/* The warm-up time of a GPU that was idle before a measurement. */
#define BENCH_WARM_UP_SECONDS 0.5

enum { BENCH_MATRICES = 64, BENCH_SIZES = 16 };

typedef struct bench_options {
  const char *backend;
  const char *matrix;                    /* a generated matrix or a file; NULL: all generated matrices */
  ts_format format;                      /* AUTO: every format of the backend, or its default */
  int32_t size;                          /* rows; 0: the benchmark's default */
  int components;                        /* 1 to 4 */
  int rectangle_width, rectangle_height; /* 0: the device's default */
  int threads;                           /* 0: the default */
  int repeat;                            /* batches per measurement */
  reorder_kind reorder;
  int json;

  /* For precision, answer, amg, ilu and families. */
  int precision; /* a ts_precision; -1: all (in the other benchmarks auto) */
  double rtol;
  int preconditioner; /* a ts_preconditioner_kind; -1: Jacobi and AMG */
  ts_amg_desc amg;

  /* For compare, paper, precision, answer, amg and ilu; lcp also uses matrices and sizes. */
  const char *backends; /* such as "gl,cuda,cpu"; NULL: those of these three that are available */
  const char *matrices[BENCH_MATRICES]; /* in addition to `matrix` */
  int matrix_count;
  int32_t sizes[BENCH_SIZES]; /* all given sizes; the first is `size` */
  int size_count;
  int set; /* all generated matrices */

  int peers; /* for families, answer and batch: also run other libraries */
  int batch; /* for lcp: problems solved at once; 0: one. For batch: systems; 0: 10000 */
} bench_options;

/* Returned if a benchmark could not measure everything requested. The report contains the rest. */
enum { BENCH_INCOMPLETE = 2 };

int bench_answer(const bench_options *options, struct report *r);
int bench_amg(const bench_options *options, struct report *r);
int bench_batch(const bench_options *options, struct report *r);
int bench_auto(const bench_options *options, struct report *r);
int bench_ilu(const bench_options *options, struct report *r);
int bench_families(const bench_options *options, struct report *r);
int bench_lcp(const bench_options *options, struct report *r);
int bench_limits(const bench_options *options, struct report *r);
int bench_scaling(const bench_options *options, struct report *r);
int bench_spmv(const bench_options *options, struct report *r);
int bench_blas(const bench_options *options, struct report *r);
int bench_cg(const bench_options *options, struct report *r);
int bench_compare(const bench_options *options, struct report *r);
int bench_paper(const bench_options *options, struct report *r);
int bench_precision(const bench_options *options, struct report *r);
int bench_multigrid(const bench_options *options, struct report *r);
int bench_system(const bench_options *options, struct report *r);
int bench_tune(const bench_options *options, struct report *r);

/* Prints a line on standard error, "texsolve: bench: ...". */
void bench_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Later lines begin with "texsolve: bench: SUBJECT: "; NULL ends this. */
void bench_error_subject(const char *subject);

/* Reports a failed call of the library. Returns nonzero if `status` is an error. */
int bench_check(ts_status status, const ts_context *context, const char *what);

/* For failures outside the library that occur on some ranks of a context, after a message. All ranks then fail,
 * and rank 0 reports it if the failure was on another rank. Returns nonzero in this case. */
int bench_agree(ts_context *context, int failed, const char *what);

/* Opens the backend in the options, with a rectangle of w x h texels (0: the options' or the device's).
 *
 * Use one context at a time. An OpenGL context that is opened while no other is current stays current from the
 * first call (TS_GL_KEEP_CURRENT), and library calls need not switch. ts_gl_make_current is unsuitable here:
 * the library would stop relying on its own OpenGL state, and set all of it in every call. So the limits are
 * measured first, in a context that is closed before the library's context is opened. */
int bench_open(const bench_options *options, int w, int h, ts_context **context);

/* Facts about the device that benchmarks need before they start. */
typedef struct bench_device {
  int is_gl, is_cuda, is_hardware;
  int threads;      /* at least 1 */
  unsigned formats; /* bit 1 << TS_FORMAT_... per supported format */
} bench_device;

/* Opens the backend, adds its device and driver to the report, and closes it. */
int bench_describe(const bench_options *options, struct report *r, bench_device *device);

/* A generated matrix of `rows` rows, or the file `name`, as CSR. */
int bench_matrix(generated_matrix *A, const char *name, int32_t rows);

/* Sets the order of all matrices that bench_matrix creates later. */
void bench_order_set(reorder_kind kind);
/* Reorders a matrix accordingly. Nonzero after a message. */
int bench_order(generated_matrix *A, const char *name);
/* Reports the bandwidths of all reordered matrices. */
void bench_order_report(struct report *r);

/* A matrix's name for a table. For a file it is the last part without .mtx, cut to the width. */
enum { BENCH_NAME_SIZE = 13 };
void bench_short_name(char short_name[BENCH_NAME_SIZE], const char *name);

/* Creates a vector with reproducible numbers between 0.5 and 1.5. */
int bench_vector(ts_space *space, int components, ts_vector **v);

#endif
