/* Shared by all benchmarks: opens backends, creates matrices and vectors, reports errors. */
#include "bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <texsolve/ranks.h>

#include "matrix_market.h"
#include "message.h"
#include "report.h"
#include "timing.h"

static char error_subject[192];

void bench_error_subject(const char *subject) {
  snprintf(error_subject, sizeof error_subject, "%s", subject ? subject : "");
}

void bench_error(const char *format, ...) {
  char text[600];
  va_list arguments;
  fflush(stdout);
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  message("bench: %s%s%s", error_subject, *error_subject ? ": " : "", text);
}

int bench_check(ts_status status, const ts_context *context, const char *what) {
  if (status >= 0) return 0;
  const char *message = ts_last_error(context);
  bench_error("%s: %s", what, message && *message ? message : ts_status_text(status));
  return 1;
}

int bench_agree(ts_context *context, int failed, const char *what) {
  const ts_status status = ts_ranks_agree(context, failed ? TS_ERROR_OUT_OF_HOST_MEMORY : TS_OK, NULL);
  return failed || bench_check(status, context, what);
}

int bench_open(const bench_options *options, int w, int h, ts_context **context) {
  const ts_gl_desc gl = {.flags = TS_GL_KEEP_CURRENT,
                         .rectangle_width = w ? w : options->rectangle_width,
                         .rectangle_height = h ? h : options->rectangle_height};
  const ts_context_desc desc = {.backend = options->backend, .threads = options->threads, .gl = &gl};
  return bench_check(ts_context_create(&desc, context), NULL, "opening the backend");
}

int bench_describe(const bench_options *options, report *r, bench_device *device) {
  ts_context *context;
  ts_context_info info;
  if (bench_open(options, 0, 0, &context)) return 1;
  if (bench_check(ts_context_get_info(context, &info), context, "reading the device's limits")) {
    ts_context_destroy(&context);
    return 1;
  }
  device->is_gl = strstr(info.backend, "gl") != NULL;
  device->is_cuda = strstr(info.backend, "cuda") != NULL;
  device->is_hardware = info.is_hardware;
  device->formats = info.formats;
  device->threads = info.threads > 0 ? info.threads : 1;
  timing_set_warm_up(device->is_hardware && !info.threads ? BENCH_WARM_UP_SECONDS : 0);
  report_field(r, "backend", "backend", "%s", info.backend);
  report_field(r, "device", "device", "%s", info.device);
  report_field(r, "driver", "driver", "%s", info.driver);
#ifdef TEXSOLVE_HAVE_GL
  ts_gl_info gl;
  if (device->is_gl && ts_gl_get_info(context, &gl) == TS_OK)
    report_field(r, "rectangle", "rectangle", "%dx%d", gl.rectangle_width, gl.rectangle_height);
#endif
  if (info.threads) report_field(r, "threads", "threads", "%d", info.threads);
  ts_context_destroy(&context);
  return 0;
}

/* Reads a file's matrix in single precision. */
static int read_matrix(generated_matrix *A, const char *name) {
  mm_file file = {0};
  mm_csr csr = {0};
  mm_error error;
  const int failed = mm_open(&file, name, &error) || mm_read_csr(&file, &csr, &error);
  mm_close(&file);
  if (failed) {
    bench_error("%s", error.text);
    return 1;
  }
  *A = (generated_matrix){csr.rows, csr.columns, csr.row_offsets, csr.column_indices,
                          malloc(((size_t)csr.nonzeros + 1) * sizeof(float))};
  for (int64_t k = 0; A->values && k < csr.nonzeros; ++k) A->values[k] = (float)csr.values[k];
  free(csr.values);
  if (A->values) return 0;
  bench_error("%s: no memory for a matrix of %d rows", name, csr.rows);
  generated_free(A);
  return 1;
}

int bench_matrix(generated_matrix *A, const char *name, int32_t rows) {
  int failed = generate_matrix(A, name, rows);
  if (failed == 2) bench_error("no memory for the matrix %s of %d rows, or more than 2^31 entries", name, rows);
  if (failed == 3) bench_error("the matrix %s has at least %d rows, not %d", name, GENERATED_MESH_ROWS, rows);
  if (failed == 1) failed = read_matrix(A, name);
  if (failed) return failed;
  failed = bench_order(A, name);
  if (failed) generated_free(A);
  return failed;
}

void bench_short_name(char short_name[BENCH_NAME_SIZE], const char *name) {
  const char *slash = strrchr(name, '/');
  if (slash && slash[1]) name = slash + 1;
  size_t length = strlen(name);
  if (length > 4 && !strcmp(name + length - 4, ".mtx")) length -= 4;
  if (length >= BENCH_NAME_SIZE) length = BENCH_NAME_SIZE - 1;
  memcpy(short_name, name, length);
  short_name[length] = '\0';
}

int bench_vector(ts_space *space, int components, ts_vector **v) {
  *v = NULL;
  ts_status status = ts_vector_create(space, &(ts_vector_desc){.components = components}, v);
  if (status < 0) {
    bench_error("making a vector: %s", ts_status_text(status));
    return 1;
  }
  const size_t count = (size_t)ts_space_get_size(space) * (size_t)components;
  float *values = malloc(count * sizeof *values);
  if (values) {
    for (size_t i = 0; i < count; ++i) values[i] = 0.5f + generated_noise((uint32_t)i, 7u);
    status = ts_vector_write(*v, ts_host(values, count));
  }
  if (!values || status < 0) {
    bench_error("filling a vector: %s", values ? ts_status_text(status) : "out of host memory");
    ts_vector_destroy(v);
  }
  free(values);
  return *v == NULL;
}
