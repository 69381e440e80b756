/* Conjugate gradients in single precision on a backend, evaluated in double precision on the host. */
#include <texsolve/solver.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paper.h"

typedef struct solve {
  ts_context *context;
  ts_matrix *matrix;
  ts_vector *b, *x;
  float *read;
  double *values;
} solve;

static int make_vector(solve *s, ts_vector **v, const float *values, size_t n) {
  const ts_vector_desc desc = {.components = 1};
  return bench_check(ts_vector_create(ts_matrix_get_row_space(s->matrix), &desc, v), s->context,
                     "making a vector") ||
         bench_check(ts_vector_write(*v, ts_host(values, n)), s->context, "writing a vector");
}

static int paper_converge_prepare(solve *s, const bench_options *o, const paper_system *system) {
  const size_t n = (size_t)system->A.rows;
  const ts_csr csr = generated_csr(&system->A);
  const ts_matrix_desc desc = {.csr = csr, .format = o->format, .components = 1};
  s->read = calloc(n, sizeof *s->read);
  s->values = calloc(n, sizeof *s->values);
  if (!s->read || !s->values) {
    bench_error("no memory for a solution of %d unknowns", system->A.rows);
    return 1;
  }
  return bench_open(o, 0, 0, &s->context) ||
         bench_check(ts_matrix_create(s->context, &desc, &s->matrix), s->context, "making the matrix") ||
         make_vector(s, &s->b, system->b, n) || make_vector(s, &s->x, s->read, n);
}

/* Solves with `iterations` iterations from 0; *done is the number performed. Every solve starts at 0, because a
 * continued solve would be a different method. */
static int paper_converge_run(solve *s, int iterations, int *done) {
  ts_solver_desc desc = {.method = TS_METHOD_CG,
                         .preconditioner_kind = TS_PRECONDITIONER_JACOBI,
                         .precision = TS_PRECISION_SINGLE};
  ts_result result;
  ts_solver *cg = NULL;
  desc.rtol = 1e-30;
  desc.max_iterations = iterations;
  desc.zero_start = 1;
  int failed = bench_check(ts_solver_create(s->matrix, &desc, &cg), s->context, "making the solver") ||
               bench_check(ts_solver_solve(cg, s->b, s->x, &result), s->context, "solving");
  ts_solver_destroy(&cg);
  *done = failed ? 0 : result.iterations;
  if (!failed && result.reason != TS_REASON_MAX_ITERATIONS && result.reason != TS_REASON_STAGNATED &&
      result.reason > TS_REASON_ZERO_RESIDUAL) {
    bench_error("after %d of %d iterations: %s", result.iterations, iterations, result.message);
    failed = 1;
  }
  return failed;
}

static int sample_all(solve *s, const paper_system *system, paper_curve *curve) {
  const size_t n = (size_t)system->A.rows;
  int done = 0;
  paper_sample(system, s->values, curve); /* 0 iterations: x = 0 */
  for (int k = 1; k < PAPER_SAMPLES; ++k) {
    if (paper_converge_run(s, PAPER_ITERATION[k], &done) ||
        bench_check(ts_vector_read(s->x, ts_host(s->read, n)), s->context, "reading the solution"))
      return 1;
    /* If a solve stops at the limit of single precision, a longer one would also stop there. */
    if (done < PAPER_ITERATION[k]) break;
    for (size_t i = 0; i < n; ++i) s->values[i] = (double)s->read[i];
    paper_sample(system, s->values, curve);
  }
  return 0;
}

int paper_converge(const bench_options *options, const compare_backend *backend, const paper_system *system,
                   paper_curve *curve) {
  char subject[64];
  solve s;
  bench_options o = *options;
  o.backend = backend->name;
  memset(&s, 0, sizeof s);
  memset(curve, 0, sizeof *curve);
  snprintf(curve->name, sizeof curve->name, "%s", backend->name);
  snprintf(subject, sizeof subject, "convergence on %s is left out", backend->name);
  bench_error_subject(subject);
  const int failed = paper_converge_prepare(&s, &o, system) || sample_all(&s, system, curve);
  bench_error_subject(NULL);
  ts_vector_destroy(&s.x);
  ts_vector_destroy(&s.b);
  ts_matrix_destroy(&s.matrix);
  ts_context_destroy(&s.context);
  free(s.read);
  free(s.values);
  return failed;
}
