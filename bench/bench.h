/* What the parts of `texsolve bench` share: options, matrices, messages. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdint.h>
#include <texsolve/amg.h>
#include <texsolve/gl.h>

#include "generate.h"
#include "reorder.h"

struct report;

/* The shortest batch of a measurement, in seconds. */
#define BENCH_BATCH_SECONDS 0.02

/* How long a GPU works before it is measured if it was idle until then. */
#define BENCH_WARM_UP_SECONDS 0.5

enum { BENCH_MATRICES = 64, BENCH_SIZES = 16 };

typedef struct bench_options {
  const char *backend;
  const char *matrix;                    /* a generated one or a file; NULL: all generated ones */
  ts_format format;                      /* AUTO: every format of the backend, or its default */
  int32_t size;                          /* rows; 0: the benchmark's default */
  int components;                        /* 1 to 4 */
  int rectangle_width, rectangle_height; /* 0: the device's */
  int threads;                           /* 0: the default */
  int repeat;                            /* batches per measurement */
  reorder_kind reorder;
  int json;

  /* Of precision, answer, amg, ilu and families. */
  int precision; /* a ts_precision; -1: all, of the others auto */
  double rtol;
  int preconditioner; /* a ts_preconditioner_kind; -1: Jacobi and AMG */
  ts_amg_desc amg;

  /* Of compare, paper, precision, answer, amg and ilu; matrices and sizes of lcp too. */
  const char *backends;                 /* "gl,cuda,cpu"; NULL: these three as far as they are there */
  const char *matrices[BENCH_MATRICES]; /* beside `matrix` */
  int matrix_count;
  int32_t sizes[BENCH_SIZES]; /* all that were given; the first is `size` */
  int size_count;
  int set; /* all generated matrices */

  int peers; /* of families and answer: other libraries too */
  int batch; /* of lcp: problems that are solved at once; 0: one */
} bench_options;

/* A benchmark that could not measure all that it was asked for; what it could is in the report. */
enum { BENCH_INCOMPLETE = 2 };

int bench_answer(const bench_options *options, struct report *r);
int bench_amg(const bench_options *options, struct report *r);
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

/* One line on standard error, "texsolve: bench: ...". */
void bench_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* From now on such lines begin with "texsolve: bench: SUBJECT: "; NULL: no longer. */
void bench_error_subject(const char *subject);

/* Reports a failed call of the library; returns nonzero if `status` is an error. */
int bench_check(ts_status status, const ts_context *context, const char *what);

/* For what is not the library's and has failed on some ranks of a context, after a message: it fails on all,
 * and rank 0 says so if it was another's. Returns nonzero then. */
int bench_agree(ts_context *context, int failed, const char *what);

/* Opens the backend of the options, with a rectangle of w x h texels (0: the options', or the device's).
 *
 * One context at a time: opened while no other is current, an OpenGL context stays so from the first call on
 * (TS_GL_KEEP_CURRENT), and no call of the library has to switch. (ts_gl_make_current is not for this: the
 * library would no longer rely on the state that it left behind, and set all of it in every call.) So limits
 * are measured, in a context that is gone afterwards, before the context is opened that the library is measured
 * in. */
int bench_open(const bench_options *options, int w, int h, ts_context **context);

/* What benchmarks need to know of the device before they begin. */
typedef struct bench_device {
  int is_gl, is_cuda, is_hardware;
  int threads;      /* at least 1 */
  unsigned formats; /* bit 1 << TS_FORMAT_... */
} bench_device;

/* Opens the backend, puts it, its device and driver into the report, and closes it. */
int bench_describe(const bench_options *options, struct report *r, bench_device *device);

/* A generated matrix of `rows` rows or the file called `name`, as CSR. */
int bench_matrix(generated_matrix *A, const char *name, int32_t rows);

/* The order of all matrices that bench_matrix makes from now on. */
void bench_order_set(reorder_kind kind);
/* Brings a matrix into that order. Nonzero after a message. */
int bench_order(generated_matrix *A, const char *name);
/* The bandwidths of all matrices that were reordered. */
void bench_order_report(struct report *r);

/* A matrix's name for a table: of a file, the last part without .mtx, as far as there is room. */
enum { BENCH_NAME_SIZE = 13 };
void bench_short_name(char short_name[BENCH_NAME_SIZE], const char *name);

/* Makes a vector and fills it with reproducible numbers between 0.5 and 1.5. */
int bench_vector(ts_space *space, int components, ts_vector **v);

#endif
