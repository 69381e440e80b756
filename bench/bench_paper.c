/* texsolve bench paper: the measurements of Buatois, Caumon and Levy 2008, on meshes of the same sizes. */
#include <stdio.h>
#include <string.h>

#include "compare_report.h"
#include "generate_mesh.h"
#include "paper.h"

const paper_mesh PAPER_MESH[PAPER_MESHES] = {
    {"Girl Face 1", 1536, 2304},
    {"Girl Face 2", 6500, 9800},
    {"Girl Face 3", 25900, 38800},
    {"Girl Face 4", 103100, 154700},
    {"Phlegmatic Dragon", 671400, 1007100},
};

/* One matrix on all backends. */
static int run_matrix(const bench_options *o, const char *name, const char *heading, const generated_matrix *A,
                      compare_results *results, report *r) {
  int failed = 0;
  compare_report_matrix(r, heading, A);
  for (int i = 0; i < results->backend_count; ++i) {
    const int first = results->count;
    if (results->backends[i].is_absent) continue;
    failed |= compare_measure(o, &results->backends[i], name, A, results);
    compare_report_rows(r, results, first);
  }
  return failed;
}

static int run_task(const bench_options *o, int smoothing, compare_results *results, report *r) {
  int failed = 0;
  for (int i = 0; i < PAPER_MESHES; ++i) {
    const paper_mesh *mesh = &PAPER_MESH[i];
    const int32_t rows = smoothing ? mesh->smoothing : mesh->parameterization;
    char heading[96];
    generated_matrix A;
    if (o->size && rows > o->size) break;
    snprintf(heading, sizeof heading, "%s as large as %s",
             smoothing ? "Smoothing (dsi)" : "Parameterization (lscm)", mesh->name);
    if (bench_matrix(&A, smoothing ? "dsi" : "lscm", rows)) return 1;
    failed |= run_matrix(o, smoothing ? "dsi" : "lscm", heading, &A, results, r);
    generated_free(&A);
  }
  return failed;
}

/* Figure 11, for the largest parameterization. */
static int run_convergence(const bench_options *o, const compare_results *results, report *r) {
  static paper_curve curves[PAPER_CURVES];
  paper_system system;
  const paper_mesh *mesh = &PAPER_MESH[0];
  int count = 1;
  for (int i = 0; i < PAPER_MESHES; ++i)
    if (!o->size || PAPER_MESH[i].parameterization <= o->size) mesh = &PAPER_MESH[i];
  int failed = paper_system_create(&system, mesh->parameterization);
  if (!failed) {
    curves[0] = system.curve;
    for (int i = 0; i < results->backend_count; ++i) {
      if (results->backends[i].is_absent) continue;
      if (paper_converge(o, &results->backends[i], &system, &curves[count]))
        failed = 1;
      else
        ++count;
    }
    paper_report_curves(r, mesh->name, &system, curves, count);
  }
  paper_system_free(&system);
  return failed;
}

int bench_paper(const bench_options *options, report *r) {
  compare_results results;
  memset(&results, 0, sizeof results);
  results.no_peers = 1;
  if (options->size && options->size < PAPER_MESH[0].parameterization) {
    bench_error("the smallest mesh has %d unknowns, more than --size %d", PAPER_MESH[0].parameterization,
                options->size);
    return 1;
  }
  if (compare_open_all(options, &results)) return 1;
  compare_report_begin(r, &results);
  results.left_out |= run_task(options, 0, &results, r);
  results.left_out |= run_task(options, 1, &results, r);
  const int nothing = results.count == 0;
  if (!nothing) results.left_out |= run_convergence(options, &results, r);
  const int left_out = results.left_out;
  compare_free(&results);
  return nothing ? 1 : left_out ? BENCH_INCOMPLETE : 0;
}
