/* Shared declarations of `texsolve bench paper`: figures 8, 9 and 11 of Buatois, Caumon and Levy 2008. */
#ifndef BENCH_PAPER_H
#define BENCH_PAPER_H

#include "compare.h"
#include "report.h"

/* A mesh of their table 3. */
typedef struct paper_mesh {
  const char *name;
  int32_t parameterization, smoothing; /* unknowns */
} paper_mesh;

enum { PAPER_MESHES = 5 };
extern const paper_mesh PAPER_MESH[PAPER_MESHES];

/* The error of x after the sampled iterations of conjugate gradients from x = 0. */
enum { PAPER_SAMPLES = 13, PAPER_ITERATIONS = 1000 /* of the last sample */ };
extern const int PAPER_ITERATION[PAPER_SAMPLES];
typedef struct paper_curve {
  char name[16];                                        /* of the backend, or "double" */
  int count;                                            /* samples */
  double residual[PAPER_SAMPLES], error[PAPER_SAMPLES]; /* |b - A x| / |b|, |x - x*| / |x*| */
} paper_curve;

/* A parameterization with its solution x* in double precision. `curve` samples the conjugate gradients in
 * double precision that computed x*. */
typedef struct paper_system {
  generated_matrix A;
  int32_t charts;
  double *solution;
  float *b;
  paper_curve curve;
} paper_system;

/* Nonzero after a message. Free it in any case. */
int paper_system_create(paper_system *s, int32_t unknowns);
void paper_system_free(paper_system *s);

/* Samples an iterate in single or double precision. */
void paper_sample(const paper_system *s, const double *x, paper_curve *curve);

/* Runs conjugate gradients on a backend in single precision. Nonzero after a message. */
int paper_converge(const bench_options *options, const compare_backend *backend, const paper_system *s,
                   paper_curve *curve);

/* The tables of figure 11. */
enum { PAPER_CURVES = 1 + COMPARE_BACKENDS };
void paper_report_curves(report *r, const char *mesh, const paper_system *s, const paper_curve *curves,
                         int count);

#endif
