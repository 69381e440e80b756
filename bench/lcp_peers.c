/* The peers of `texsolve bench lcp`: programs that read the problem from standard input (peer/lcp_peer.h). */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lcp_solves.h"
#include "peer/lcp_peer.h"
#include "peer_program.h"
#include "timing.h"

static const char *const PROGRAMS[] = {"lcp-siconos", "lcp-bullet", "lcp-eigen"};
enum { PROGRAM_COUNT = sizeof PROGRAMS / sizeof *PROGRAMS };

void lcp_peer_names(char *names, size_t size) {
  char path[PEER_PATH_SIZE];
  size_t length = 0;
  *names = '\0';
  for (int i = 0; i < PROGRAM_COUNT && length < size; i++)
    if (peer_find(PROGRAMS[i], path))
      length += (size_t)snprintf(names + length, size - length, "%s%s", length ? " " : "", PROGRAMS[i]);
}

static int write_numbers(FILE *file, const double *numbers, size_t count) {
  return fwrite(numbers, sizeof *numbers, count, file) != count;
}

/* Row by row, including zeros. */
static int write_matrix(FILE *file, const mm_csr *m) {
  const size_t n = (size_t)m->columns;
  double *row = calloc(n, sizeof *row);
  int failed = !row;
  for (int32_t i = 0; i < m->rows && !failed; i++) {
    memset(row, 0, n * sizeof *row);
    for (int32_t e = m->row_offsets[i]; e < m->row_offsets[i + 1]; e++)
      row[m->column_indices[e]] += m->values[e];
    failed = write_numbers(file, row, n);
  }
  free(row);
  return failed;
}

/* A missing bound is 0 or infinity. */
static int write_bounds(FILE *file, const double *bounds, double missing, size_t count) {
  int failed = 0;
  for (size_t i = 0; i < count && !failed; i++) failed = write_numbers(file, bounds ? bounds + i : &missing, 1);
  return failed;
}

static int write_problem(FILE *file, const void *problem) {
  const lcp_problem *p = problem;
  const size_t n = (size_t)p->size;
  lcp_peer_header header = {
      .size = p->size, .dimension = p->dimension, .has_bounds = p->lower != NULL || p->upper != NULL};
  memcpy(header.magic, LCP_PEER_MAGIC, sizeof header.magic);
  if (fwrite(&header, sizeof header, 1, file) != 1 || write_matrix(file, &p->matrix) ||
      write_numbers(file, p->q, n))
    return 1;
  if (p->dimension > 1) return write_numbers(file, p->friction, n / (size_t)p->dimension);
  return header.has_bounds &&
         (write_bounds(file, p->lower, 0, n) || write_bounds(file, p->upper, (double)INFINITY, n));
}

static int read_answer(const json_t *answer, double rtol, lcp_solves *solves) {
  size_t index;
  json_t *entry;
  json_array_foreach(json_object_get(answer, "results"), index, entry) {
    const char *solver = json_string_value(json_object_get(entry, "implementation"));
    const char *setting = json_string_value(json_object_get(entry, "setting"));
    const double residual = json_number_value(json_object_get(entry, "residual"));
    const double seconds = json_number_value(json_object_get(entry, "seconds"));
    if (!solver || !setting) continue;
    lcp_solve *row = lcp_solves_add(solves);
    if (!row) return 1;
    snprintf(row->solver, sizeof row->solver, "%s", solver);
    snprintf(row->setting, sizeof row->setting, "%s", setting);
    row->is_peer = 1;
    row->sweeps = (int)json_integer_value(json_object_get(entry, "sweeps"));
    row->setup = json_number_value(json_object_get(entry, "setup"));
    row->residual = residual >= 0 ? residual : (double)NAN;
    const int is_there = residual >= 0 && residual <= rtol && seconds > 0;
    row->seconds = is_there ? seconds : (double)NAN;
    row->spread = is_there ? json_number_value(json_object_get(entry, "spread")) : (double)NAN;
    if (is_there) timing_add_spread(row->spread);
  }
  return 0;
}

int lcp_peers(const bench_options *options, const lcp_problem *problem, lcp_solves *solves) {
  char path[PEER_PATH_SIZE], repeat[16], rtol[32], sweeps[16];
  int failed = 0;
  snprintf(repeat, sizeof repeat, "%d", options->repeat);
  snprintf(rtol, sizeof rtol, "%.17g", options->rtol);
  snprintf(sweeps, sizeof sweeps, "%d", (int)LCP_MAX_SWEEPS);
  for (int i = 0; i < PROGRAM_COUNT; i++) {
    if (!peer_find(PROGRAMS[i], path)) continue;
    const char *const arguments[] = {path, repeat, rtol, sweeps, NULL};
    json_t *answer = peer_ask(arguments, write_problem, problem);
    failed |= !answer || read_answer(answer, options->rtol, solves);
    json_decref(answer);
  }
  return failed;
}
