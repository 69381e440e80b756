/* The peers of `texsolve bench compare`: programs that read the matrix from standard input
 * (peer/compare_peer.h).
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "peer/compare_peer.h"
#include "peer_program.h"
#include "timing.h"

static const struct {
  const char *backend, *program;
} PEERS[] = {{"cuda", "compare-cusparse"}, {"cpu", "compare-eigen"}};
enum { PEER_COUNT = sizeof PEERS / sizeof *PEERS };

/* "cuda" of "cuda:1" */
static const char *program_of(const char *backend) {
  for (int i = 0; i < PEER_COUNT; ++i) {
    const size_t length = strlen(PEERS[i].backend);
    if (!strncmp(backend, PEERS[i].backend, length) && (!backend[length] || backend[length] == ':'))
      return PEERS[i].program;
  }
  return NULL;
}

const char *compare_peer_name(const char *backend, int *is_present) {
  char path[PEER_PATH_SIZE];
  const char *program = program_of(backend);
  *is_present = program && peer_find(program, path);
  return program;
}

static int write_array(FILE *file, const void *data, size_t size, size_t count) {
  return fwrite(data, size, count, file) != count;
}

static int write_matrix(FILE *file, const void *matrix) {
  const generated_matrix *A = matrix;
  peer_matrix_header header = {.rows = A->rows, .columns = A->columns, .entries = A->row_offsets[A->rows]};
  const size_t entries = (size_t)header.entries;
  memcpy(header.magic, PEER_MAGIC, sizeof header.magic);
  return write_array(file, &header, sizeof header, 1) ||
         write_array(file, A->row_offsets, sizeof *A->row_offsets, (size_t)A->rows + 1) ||
         write_array(file, A->column_indices, sizeof *A->column_indices, entries) ||
         write_array(file, A->values, sizeof *A->values, entries);
}

static compare_row *row_of(compare_results *results, int first, const char *implementation, const char *format,
                           const char *matrix, const generated_matrix *A, const char *backend) {
  for (int i = first; i < results->count; ++i)
    if (!strcmp(results->rows[i].implementation, implementation) && !strcmp(results->rows[i].format, format))
      return &results->rows[i];
  compare_row *row = compare_add(results, matrix, A, backend);
  if (!row) return NULL;
  row->is_peer = 1;
  snprintf(row->implementation, sizeof row->implementation, "%s", implementation);
  snprintf(row->format, sizeof row->format, "%s", format);
  return row;
}

static int read_answer(json_t *answer, const compare_backend *backend, const char *matrix,
                       const generated_matrix *A, compare_results *results) {
  const int first = results->count;
  size_t index;
  json_t *entry;
  json_array_foreach(json_object_get(answer, "results"), index, entry) {
    const char *implementation = json_string_value(json_object_get(entry, "implementation"));
    const char *format = json_string_value(json_object_get(entry, "format"));
    const char *operation = json_string_value(json_object_get(entry, "operation"));
    const double seconds = json_number_value(json_object_get(entry, "seconds"));
    if (!implementation || !format || !operation || !(seconds > 0)) continue;
    compare_row *row = row_of(results, first, implementation, format, matrix, A, backend->name);
    if (!row) return 1;
    for (int i = 0; i < COMPARE_OPERATIONS; ++i) {
      if (strcmp(operation, compare_operation_name((compare_operation)i)) != 0) continue;
      row->seconds[i] = seconds;
      row->spread[i] = json_number_value(json_object_get(entry, "spread"));
      timing_add_spread(row->spread[i]);
    }
    const double bytes = json_number_value(json_object_get(entry, "bytes"));
    if (bytes > 0) row->spmv_bytes = bytes;
  }
  return 0;
}

int compare_peers(const bench_options *options, const compare_backend *backend, const char *matrix,
                  const generated_matrix *A, compare_results *results) {
  char path[PEER_PATH_SIZE], repeat[16], threads[16], subject[160];
  const char *program = program_of(backend->name), *colon = strchr(backend->name, ':');
  if (!program || !peer_find(program, path)) return 0;
  snprintf(repeat, sizeof repeat, "%d", options->repeat);
  snprintf(threads, sizeof threads, "%d", options->threads);
  char device[16];
  snprintf(device, sizeof device, "%s", colon ? colon + 1 : "0");
  const char *const arguments[] = {path, repeat, threads, device, NULL};
  snprintf(subject, sizeof subject, "%.64s: the peers of %s are left out", matrix, backend->name);
  bench_error_subject(subject);
  json_t *answer = peer_ask(arguments, write_matrix, A);
  const int failed = !answer || read_answer(answer, backend, matrix, A, results);
  json_decref(answer);
  bench_error_subject(NULL);
  return failed;
}
