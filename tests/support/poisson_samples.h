/* Poisson problems for the tests: manufactured ones, and their objects on a device. */
#ifndef POISSON_SAMPLES_H
#define POISSON_SAMPLES_H

#include <texsolve/grid.h>

#include "helpers.h"

typedef struct sample_boundary_set {
  const char *name;
  ts_boundary left, right, bottom, top;
} sample_boundary_set;

/* Ends with one without a name. */
extern const sample_boundary_set sample_boundaries[];
const sample_boundary_set *sample_boundaries_named(const char *name);

typedef struct sample_desc {
  const sample_boundary_set *boundaries;
  ts_centring centring;
  int32_t width, height;
  int variable; /* k varies smoothly */
  double sigma;
  int homogeneous; /* nothing but 0 is given on the boundaries */
} sample_desc;

int sample_has_dirichlet(const sample_desc *desc);

typedef struct poisson_sample {
  ts_poisson_desc desc;
  float *g, *k, *boundaries[4];
  unsigned char *solid; /* NULL */
  double *exact;
} poisson_sample;

/* g, k and what is given on the boundaries follow from a smooth u. */
void sample_make(const sample_desc *desc, poisson_sample *sample);
void sample_free(poisson_sample *sample);
size_t sample_count(const poisson_sample *sample);

typedef struct sample_objects {
  ts_space *grid;
  ts_matrix *A;
  ts_vector *b, *x;
  ts_multigrid *multigrid;
} sample_objects;

/* Everything on the device, x as it starts; 0 after a failed check. `method` may be NULL. */
int sample_upload(ts_context *context, const poisson_sample *sample, const ts_multigrid_desc *method,
                  sample_objects *objects);
void sample_destroy(sample_objects *objects);

#endif
