#include "peer_system.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../family.h"
#include "matrix_market.h"

static int whole(const char *argument, const char *option, int most, int *value) {
  const size_t length = strlen(option);
  char *end;
  if (strncmp(argument, option, length) != 0) return 0;
  const long number = strtol(argument + length, &end, 10);
  if (*end || end == argument + length || number < 1 || number > most) return 0;
  *value = (int)number;
  return 1;
}

int peer_system_option(peer_system *s, const char *argument) {
  if (argument[0] != '-') {
    if (s->matrix) return 0;
    s->matrix = argument;
    return 1;
  }
  if (!strcmp(argument, "--json")) {
    s->json = 1;
    return 1;
  }
  if (!strncmp(argument, "--rtol=", 7)) {
    char *end;
    s->rtol = strtod(argument + 7, &end);
    return !*end && s->rtol > 0 && s->rtol < 1;
  }
  return whole(argument, "--size=", INT32_MAX, &s->size) ||
         whole(argument, "--repeats=", PEER_REPEATS, &s->repeats) ||
         whole(argument, "--threads=", 4096, &s->threads);
}

static int read_file(peer_system *s, const char *program) {
  mm_file file = {0};
  mm_csr csr = {0};
  mm_error error;
  const int failed = mm_open(&file, s->matrix, &error) || mm_read_csr(&file, &csr, &error);
  mm_close(&file);
  if (failed) fprintf(stderr, "%s: %s\n", program, error.text);
  if (!failed && csr.rows != csr.columns) fprintf(stderr, "%s: %s is not square\n", program, s->matrix);
  if (failed || csr.rows != csr.columns) {
    mm_free_csr(&csr);
    return 1;
  }
  s->A = (generated_problem){.rows = csr.rows,
                             .row_offsets = csr.row_offsets,
                             .column_indices = csr.column_indices,
                             .values = csr.values,
                             .unknowns = 1};
  return 0;
}

static int make_matrix(peer_system *s, const char *program, int family) {
  const int32_t rows = s->size ? s->size : 100000;
  if (family < 0 && !generated_is_name(s->matrix)) return read_file(s, program);
  const int failed = family < 0 ? generate_problem(&s->A, s->matrix, rows) : family_make(family, rows, &s->A);
  if (failed) fprintf(stderr, "%s: the matrix %s cannot be made in this size\n", program, s->matrix);
  return failed;
}

int peer_system_make(peer_system *s, const char *program) {
  const int family = family_find(s->matrix);
  if (s->rtol == 0) s->rtol = 1e-8;
  if (!s->repeats) s->repeats = 3;
  const int failed = make_matrix(s, program, family);
  if (failed) return failed;
  s->b = malloc((size_t)s->A.rows * sizeof *s->b);
  for (int32_t i = 0; s->b && i < s->A.rows; i++) s->b[i] = family < 0 ? 1 : family_right_side(i);
  if (s->b) return 0;
  fprintf(stderr, "%s: no memory for %d rows\n", program, s->A.rows);
  peer_system_free(s);
  return 1;
}

void peer_system_free(peer_system *s) {
  generated_problem_free(&s->A);
  free(s->b);
}

double peer_system_residual(const peer_system *s, const double *x) {
  const generated_problem *A = &s->A;
  long double squares = 0, all = 0;
  for (int32_t i = 0; i < A->rows; i++) {
    long double r = s->b[i];
    all += r * r;
    for (int32_t k = A->row_offsets[i]; k < A->row_offsets[i + 1]; k++)
      r -= (long double)A->values[k] * x[A->column_indices[k]];
    squares += r * r;
  }
  return (double)sqrtl(squares / all);
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

void peer_system_header(const peer_system *s, const char *library) {
  if (s->json) {
    printf("{\"library\": \"%s\", \"results\": [", library);
    return;
  }
  printf("%s\n%s: %d rows, %d entries, to %g\n", library, s->matrix, s->A.rows, s->A.row_offsets[s->A.rows],
         s->rtol);
  printf("%-34s %6s %5s %9s %9s %9s %9s %6s %9s\n", "", "levels", "cost", "set-up s", "least", "solve s",
         "least", "iter.", "residual");
}

void peer_system_row(peer_system *s, const char *setting, int levels, double cost, peer_times *times,
                     int iterations, double residual) {
  const size_t count = (size_t)s->repeats;
  qsort(times->setup, count, sizeof *times->setup, ascending);
  qsort(times->solve, count, sizeof *times->solve, ascending);
  if (s->json) {
    printf("%s{\"setting\": \"%s\", \"levels\": %d, \"cost\": %g, \"setup\": %g, \"solve\": %g, "
           "\"iterations\": %d",
           s->rows_written++ ? ", " : "", setting, levels, cost, times->setup[0], times->solve[0], iterations);
    if (isfinite(residual)) printf(", \"residual\": %g", residual);
    putchar('}');
    return;
  }
  printf("%-34s %6d %5.2f %9.4f %9.4f %9.4f %9.4f %6d %9.2e\n", setting, levels, cost, times->setup[count / 2],
         times->setup[0], times->solve[count / 2], times->solve[0], iterations, residual);
  fflush(stdout);
}

void peer_system_end(const peer_system *s) {
  if (s->json) puts("]}");
}
