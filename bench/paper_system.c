/* The system of figure 11 and its solution in double precision. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "generate_mesh.h"
#include "paper.h"

const int PAPER_ITERATION[PAPER_SAMPLES] = {
    0, 50, 100, 150, 200, 300, 400, 500, 600, 700, 800, 900, PAPER_ITERATIONS};

/* The paper's Phlegmatic Dragon converges in 500 iterations. This sheet size matches that; a single sheet with
 * all unknowns needs tens of thousands. */
static const int32_t CHART_UNKNOWNS = 656;

/* The residual of x*, which charts of this size permit; otherwise the best reached. */
static const double REFERENCE_RTOL = 1e-13;
enum { REFERENCE_ITERATIONS = 8 * PAPER_ITERATIONS };

static void multiply(const generated_matrix *A, const double *x, double *y) {
#pragma omp parallel for schedule(static)
  for (int32_t i = 0; i < A->rows; ++i) {
    double sum = 0;
    for (int32_t k = A->row_offsets[i]; k < A->row_offsets[i + 1]; ++k)
      sum += (double)A->values[k] * x[A->column_indices[k]];
    y[i] = sum;
  }
}

void paper_sample(const paper_system *s, const double *x, paper_curve *curve) {
  const generated_matrix *A = &s->A;
  double rr = 0, bb = 0, ee = 0, xx = 0;
#pragma omp parallel for schedule(static) reduction(+ : rr, bb, ee, xx)
  for (int32_t i = 0; i < A->rows; ++i) {
    double r = (double)s->b[i];
    for (int32_t k = A->row_offsets[i]; k < A->row_offsets[i + 1]; ++k)
      r -= (double)A->values[k] * x[A->column_indices[k]];
    const double e = x[i] - s->solution[i];
    rr += r * r;
    bb += (double)s->b[i] * (double)s->b[i];
    ee += e * e;
    xx += s->solution[i] * s->solution[i];
  }
  curve->residual[curve->count] = sqrt(rr / bb);
  curve->error[curve->count++] = sqrt(ee / xx);
}

typedef struct workspace {
  double *x, *r, *d, *q, *m;
  double delta;
} workspace;

static int workspace_make(workspace *w, size_t n) {
  double **const vectors[] = {&w->x, &w->r, &w->d, &w->q, &w->m};
  int failed = 0;
  for (int i = 0; i < 5; ++i) {
    *vectors[i] = calloc(n, sizeof **vectors[i]);
    failed |= !*vectors[i];
  }
  return failed;
}

static void workspace_free(workspace *w) {
  free(w->x);
  free(w->r);
  free(w->d);
  free(w->q);
  free(w->m);
}

/* x = 0; returns ||b||^2. */
static double paper_system_begin(const paper_system *s, workspace *w) {
  const generated_matrix *A = &s->A;
  double bb = 0;
  w->delta = 0;
  for (int32_t i = 0; i < A->rows; ++i) {
    for (int32_t k = A->row_offsets[i]; k < A->row_offsets[i + 1]; ++k)
      if (A->column_indices[k] == i) w->m[i] = 1 / (double)A->values[k];
    w->x[i] = 0;
    w->r[i] = (double)s->b[i];
    w->d[i] = w->m[i] * w->r[i];
    w->delta += w->d[i] * w->r[i];
    bb += w->r[i] * w->r[i];
  }
  return bb;
}

/* An iteration of section 1.2; returns ||r||^2. */
static double paper_system_iterate(const generated_matrix *A, workspace *w) {
  double dq = 0, delta = 0, rr = 0;
  multiply(A, w->d, w->q);
#pragma omp parallel for schedule(static) reduction(+ : dq)
  for (int32_t i = 0; i < A->rows; ++i) dq += w->d[i] * w->q[i];
  const double alpha = dq > 0 ? w->delta / dq : 0;
#pragma omp parallel for schedule(static) reduction(+ : delta, rr)
  for (int32_t i = 0; i < A->rows; ++i) {
    w->x[i] += alpha * w->d[i];
    w->r[i] -= alpha * w->q[i];
    delta += w->r[i] * w->m[i] * w->r[i];
    rr += w->r[i] * w->r[i];
  }
  const double beta = w->delta > 0 ? delta / w->delta : 0;
#pragma omp parallel for schedule(static)
  for (int32_t i = 0; i < A->rows; ++i) w->d[i] = w->m[i] * w->r[i] + beta * w->d[i];
  w->delta = delta;
  return rr;
}

/* Keeps the sampled iterates until x* is known. Returns the final ||r|| / ||b||. */
static double paper_system_solve(paper_system *s, workspace *w, double *iterates) {
  const size_t n = (size_t)s->A.rows;
  const double bb = paper_system_begin(s, w), enough = REFERENCE_RTOL * REFERENCE_RTOL * bb;
  double rr = bb;
  for (int k = 0, sample = 0; sample < PAPER_SAMPLES || (rr > enough && k < REFERENCE_ITERATIONS); ++k) {
    if (sample < PAPER_SAMPLES && k == PAPER_ITERATION[sample])
      memcpy(iterates + (size_t)sample++ * n, w->x, n * sizeof *w->x);
    if (rr > enough) rr = paper_system_iterate(&s->A, w);
  }
  memcpy(s->solution, w->x, n * sizeof *w->x);
  for (size_t k = 0; k < PAPER_SAMPLES; ++k) paper_sample(s, iterates + k * n, &s->curve);
  return sqrt(rr / bb);
}

static int solve_in_double(paper_system *s) {
  const size_t n = (size_t)s->A.rows;
  workspace w = {0};
  double *iterates = malloc(PAPER_SAMPLES * n * sizeof *iterates);
  int failed = !iterates || workspace_make(&w, n);
  if (failed) {
    bench_error("no memory for %d unknowns in double precision", s->A.rows);
  } else {
    const double residual = paper_system_solve(s, &w, iterates);
    failed = !(residual <= REFERENCE_RTOL);
    if (failed)
      bench_error("in double precision %d iterations leave a residual of %.2g", (int)REFERENCE_ITERATIONS,
                  residual);
  }
  workspace_free(&w);
  free(iterates);
  return failed;
}

int paper_system_create(paper_system *s, int32_t unknowns) {
  memset(s, 0, sizeof *s);
  strcpy(s->curve.name, "double");
  s->charts = unknowns < 2 * CHART_UNKNOWNS ? 1 : unknowns / CHART_UNKNOWNS;
  const size_t n = (size_t)unknowns;
  double *b = calloc(n, sizeof *b);
  s->b = calloc(n, sizeof *s->b);
  s->solution = calloc(n, sizeof *s->solution);
  int failed = !b || !s->b || !s->solution || generate_lscm(&s->A, unknowns, s->charts, b);
  if (failed) bench_error("no memory for a parameterization of %d unknowns", unknowns);
  for (size_t i = 0; i < n && !failed; ++i) s->b[i] = (float)b[i];
  free(b);
  return failed || solve_in_double(s);
}

void paper_system_free(paper_system *s) {
  generated_free(&s->A);
  free(s->solution);
  free(s->b);
  memset(s, 0, sizeof *s);
}
