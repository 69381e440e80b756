/* Poisson problems for tests: manufactured solutions, and the objects of the problem on a device. */
#ifndef POISSON_SAMPLES_H
#define POISSON_SAMPLES_H

#include <texsolve/grid.h>

#include "helpers.h"

typedef struct sample_boundary_set {
  const char *name;
  ts_boundary left, right, bottom, top;
} sample_boundary_set;

/* The last element has no name. */
extern const sample_boundary_set sample_boundaries[];
const sample_boundary_set *sample_boundaries_named(const char *name);

typedef struct sample_desc {
  const sample_boundary_set *boundaries;
  ts_centring centring;
  int32_t width, height;
  int variable; /* k varies smoothly */
  double sigma;
  int homogeneous; /* all boundary values are 0 */
} sample_desc;

int sample_has_dirichlet(const sample_desc *desc);

typedef struct poisson_sample {
  ts_poisson_desc desc;
  float *g, *k, *boundaries[4];
  unsigned char *solid; /* NULL */
  double *exact;
} poisson_sample;

/* A smooth u determines g, k and the boundary values. */
void sample_make(const sample_desc *desc, poisson_sample *sample);
void sample_free(poisson_sample *sample);
size_t sample_count(const poisson_sample *sample);

typedef struct sample_objects {
  ts_space *grid;
  ts_matrix *A;
  ts_vector *b, *x;
  ts_multigrid *multigrid;
} sample_objects;

/* Creates everything on the device, with the start in x. Returns 0 after a failed check. `method` may be
 * NULL. */
int sample_upload(ts_context *context, const poisson_sample *sample, const ts_multigrid_desc *method,
                  sample_objects *objects);
void sample_destroy(sample_objects *objects);

#endif
