#include "compare_peer.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../product_error.h"

/* The minimum length of a batch of measurements in seconds, as in texsolve. */
static const double BATCH_SECONDS = 0.02;

static const char *program_name = "peer";
static json_t *answer, *results;

void peer_fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "%s: ", program_name);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  exit(1);
}

static void *alloc_memory(size_t count, size_t size) {
  void *block = calloc(count + !count, size);
  if (!block) peer_fail("no memory for %zu numbers", count);
  return block;
}

static void read_array(void *to, size_t size, size_t count) {
  if (fread(to, size, count, stdin) != count) peer_fail("the matrix on standard input ends early");
}

static void read_matrix(peer *p) {
  peer_matrix_header header;
  read_array(&header, sizeof header, 1);
  if (memcmp(header.magic, PEER_MAGIC, sizeof header.magic) != 0 || header.rows < 1 || header.columns < 1 ||
      header.entries < 0 || header.entries > INT32_MAX)
    peer_fail("what is on standard input is no matrix of texsolve bench compare");
  const size_t entries = (size_t)header.entries;
  generated_matrix *A = &p->A;
  A->rows = header.rows;
  A->columns = header.columns;
  A->row_offsets = alloc_memory((size_t)header.rows + 1, sizeof *A->row_offsets);
  A->column_indices = alloc_memory(entries, sizeof *A->column_indices);
  A->values = alloc_memory(entries, sizeof *A->values);
  read_array(A->row_offsets, sizeof *A->row_offsets, (size_t)header.rows + 1);
  read_array(A->column_indices, sizeof *A->column_indices, entries);
  read_array(A->values, sizeof *A->values, entries);
  for (int32_t i = 0; i < A->rows; ++i) {
    const int32_t length = A->row_offsets[i + 1] - A->row_offsets[i];
    if (length > p->longest_row) p->longest_row = length;
  }
}

static float *numbers(int32_t count) {
  float *v = alloc_memory((size_t)count, sizeof *v);
  for (int32_t i = 0; i < count; ++i) v[i] = 0.5f + generated_noise((uint32_t)i, 7u);
  return v;
}

void peer_begin(peer *p, const char *program, int argc, char **argv) {
  program_name = program;
  memset(p, 0, sizeof *p);
  if (argc != 4)
    peer_fail("usage: %s REPEAT THREADS DEVICE <matrix; texsolve bench compare starts it", program);
  p->repeat = atoi(argv[1]);
  p->threads = atoi(argv[2]);
  p->device = atoi(argv[3]);
  read_matrix(p);
  p->x = numbers(p->A.columns);
  p->y = numbers(p->A.rows);
  answer = json_object();
  results = json_array();
  if (!answer || !results) peer_fail("out of memory");
}

double peer_measure(const peer *p, const char *implementation, const char *format, const char *operation,
                    double times, double bytes, timing_fn fn, void *user) {
  timing t;
  if (timing_measure(&t, p->repeat, BATCH_SECONDS, fn, user)) peer_fail("%s failed", operation);
  json_t *entry = json_pack("{s:s, s:s, s:s, s:f, s:f}", "implementation", implementation, "format", format,
                            "operation", operation, "seconds", t.seconds / times, "spread", t.spread);
  if (!entry) peer_fail("out of memory");
  if (bytes > 0) json_object_set_new(entry, "bytes", json_real(bytes));
  json_array_append_new(results, entry);
  return t.seconds / times;
}

void peer_check_product(const peer *p, const char *format, const float *y) {
  const double error = product_error(&p->A, 1, p->x, y), bound = product_error_bound(p->longest_row);
  if (!(error <= bound))
    peer_fail("the product as %s is wrong: relative error %.2g, at most %.2g is rounding", format, error,
              bound);
}

int peer_end(peer *p) {
  json_object_set_new(answer, "results", results);
  const int failed = json_dumpf(answer, stdout, JSON_COMPACT) != 0 || fflush(stdout) == EOF;
  json_decref(answer);
  generated_free(&p->A);
  free(p->x);
  free(p->y);
  return failed;
}
