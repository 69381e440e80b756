#include "poisson_samples.h"

#define D TS_BOUNDARY_DIRICHLET
#define N TS_BOUNDARY_NEUMANN
#define P TS_BOUNDARY_PERIODIC
const sample_boundary_set sample_boundaries[] = {
    {"dirichlet", D, D, D, D},
    {"neumann", N, N, N, N},
    {"periodic", P, P, P, P},
    {"mixed", D, N, N, N},
    {"mixed at corners", N, D, D, N},
    {"periodic and dirichlet", P, P, D, D},
    {"neumann and periodic", N, N, P, P},
    {NULL, D, D, D, D},
};
#undef D
#undef N
#undef P

const sample_boundary_set *sample_boundaries_named(const char *name) {
  int k = 0;
  while (sample_boundaries[k].name && strcmp(sample_boundaries[k].name, name) != 0) k++;
  return &sample_boundaries[k];
}

int sample_has_dirichlet(const sample_desc *d) {
  const sample_boundary_set *s = d->boundaries;
  return s->left == TS_BOUNDARY_DIRICHLET || s->right == TS_BOUNDARY_DIRICHLET ||
         s->bottom == TS_BOUNDARY_DIRICHLET || s->top == TS_BOUNDARY_DIRICHLET;
}

size_t sample_count(const poisson_sample *s) {
  return (size_t)s->desc.width * (size_t)s->desc.height;
}

/* ---- The manufactured solution: u(x, y) = X(x) Y(y) ---- */

typedef struct function {
  double value, slope, curvature;
} function;

/* 0 on a Dirichlet boundary, and slope 0 on a Neumann boundary. */
static function homogeneous_factor(double s, double length, ts_boundary first, ts_boundary last) {
  const double w = 3.14159265358979323846 / length * (first == last ? 1 : 0.5);
  if (first == TS_BOUNDARY_DIRICHLET) return (function){sin(w * s), w * cos(w * s), -w * w * sin(w * s)};
  if (last == TS_BOUNDARY_DIRICHLET || first == TS_BOUNDARY_NEUMANN)
    return (function){cos(w * s), -w * sin(w * s), -w * w * cos(w * s)};
  return (function){sin(2 * w * s), 2 * w * cos(2 * w * s), -4 * w * w * sin(2 * w * s)};
}

static function factor(double s, double length, int periodic, double phase) {
  if (periodic) {
    const double w = 2 * 3.14159265358979323846 / length;
    return (function){1.5 + sin(w * s + phase), w * cos(w * s + phase), -w * w * sin(w * s + phase)};
  }
  const double a = 1.3 / length;
  return (function){exp(a * s) + sin(3 * s + phase), a * exp(a * s) + 3 * cos(3 * s + phase),
                    a * a * exp(a * s) - 9 * sin(3 * s + phase)};
}

typedef struct field {
  double u, k, g, flux_x, flux_y;
} field;

static field field_at(const sample_desc *d, double length_x, double length_y, double x, double y) {
  const int periodic_x = d->boundaries->left == TS_BOUNDARY_PERIODIC,
            periodic_y = d->boundaries->bottom == TS_BOUNDARY_PERIODIC;
  function X = factor(x, length_x, periodic_x, 0.7), Y = factor(y, length_y, periodic_y, 0.2);
  if (d->homogeneous) {
    X = homogeneous_factor(x, length_x, d->boundaries->left, d->boundaries->right);
    Y = homogeneous_factor(y, length_y, d->boundaries->bottom, d->boundaries->top);
  }
  function p = {1, 0, 0}, q = {1, 0, 0};
  if (d->variable) {
    p = factor(x, length_x, 1, 2);
    q = factor(y, length_y, 1, 1);
  }
  field f;
  f.u = X.value * Y.value;
  f.k = p.value * q.value;
  f.flux_x = f.k * X.slope * Y.value;
  f.flux_y = f.k * X.value * Y.slope;
  f.g = -(p.slope * q.value * X.slope * Y.value + p.value * q.slope * X.value * Y.slope +
          f.k * (X.curvature * Y.value + X.value * Y.curvature)) +
        d->sigma * f.u;
  return f;
}

static void fill_boundaries(const sample_desc *d, poisson_sample *s, double length_x, double length_y,
                            double offset) {
  const double h = s->desc.spacing;
  const ts_boundary kinds[4] = {s->desc.left, s->desc.right, s->desc.bottom, s->desc.top};
  for (int side = 0; side < 4; side++) {
    const int upright = side < 2;
    const int32_t count = upright ? d->height : d->width;
    s->boundaries[side] = calloc((size_t)count, sizeof(float));
    for (int32_t i = 0; i < count; i++) {
      const double along = (i + offset) * h, across = side % 2 ? (upright ? length_x : length_y) : 0;
      const field f = field_at(d, length_x, length_y, upright ? across : along, upright ? along : across);
      const double outwards = (side % 2 ? 1 : -1) * (upright ? f.flux_x : f.flux_y);
      s->boundaries[side][i] = (float)(kinds[side] == TS_BOUNDARY_DIRICHLET ? f.u : outwards);
    }
  }
}

void sample_make(const sample_desc *d, poisson_sample *s) {
  const size_t n = (size_t)d->width * (size_t)d->height;
  const int points = d->centring == TS_CENTRING_VERTEX;
  const int periodic_x = d->boundaries->left == TS_BOUNDARY_PERIODIC,
            periodic_y = d->boundaries->bottom == TS_BOUNDARY_PERIODIC;
  const double cells_x = d->width - (points && !periodic_x), cells_y = d->height - (points && !periodic_y);
  const double h = 1 / cells_x, offset = points ? 0 : 0.5;
  memset(s, 0, sizeof *s);
  s->g = malloc(n * sizeof *s->g);
  s->k = malloc(n * sizeof *s->k);
  s->exact = malloc(n * sizeof *s->exact);
  for (int32_t j = 0; j < d->height; j++)
    for (int32_t i = 0; i < d->width; i++) {
      const size_t at = (size_t)j * (size_t)d->width + (size_t)i;
      const field f = field_at(d, cells_x * h, cells_y * h, (i + offset) * h, (j + offset) * h);
      s->g[at] = (float)f.g;
      s->k[at] = (float)f.k;
      s->exact[at] = f.u;
    }
  s->desc = (ts_poisson_desc){.width = d->width,
                              .height = d->height,
                              .spacing = h,
                              .centring = d->centring,
                              .left = d->boundaries->left,
                              .right = d->boundaries->right,
                              .bottom = d->boundaries->bottom,
                              .top = d->boundaries->top,
                              .coefficient = ts_host(d->variable ? s->k : NULL, n),
                              .uniform_sigma = d->sigma};
  fill_boundaries(d, s, cells_x * h, cells_y * h, offset);
}

void sample_free(poisson_sample *s) {
  free(s->g);
  free(s->k);
  free(s->exact);
  free(s->solid);
  for (int side = 0; side < 4; side++) free(s->boundaries[side]);
  memset(s, 0, sizeof *s);
}

/* ---- On the device ---- */

int sample_upload(ts_context *context, const poisson_sample *s, const ts_multigrid_desc *method,
                  sample_objects *o) {
  const size_t n = sample_count(s);
  const size_t width = (size_t)s->desc.width, height = (size_t)s->desc.height;
  const ts_boundary_values given = {.left = ts_host(s->boundaries[0], height),
                                    .right = ts_host(s->boundaries[1], height),
                                    .bottom = ts_host(s->boundaries[2], width),
                                    .top = ts_host(s->boundaries[3], width)};
  ts_grid_desc grid;
  float *values = malloc(9 * n * sizeof *values), *b = malloc(n * sizeof *b), *x = malloc(n * sizeof *x);
  memset(o, 0, sizeof *o);
  const int done = CHECK_OK(NULL, ts_poisson_grid(&s->desc, &grid)) &&
                   CHECK_OK(context, ts_grid_create(context, &grid, &o->grid)) &&
                   CHECK_OK(context, ts_poisson_stencil(context, &s->desc, ts_host(values, 9 * n))) &&
                   CHECK_OK(context, ts_stencil_create(o->grid, stencil_over(o->grid, values), &o->A)) &&
                   CHECK_OK(context, ts_vector_create(o->grid, NULL, &o->b)) &&
                   CHECK_OK(context, ts_vector_create(o->grid, NULL, &o->x)) &&
                   CHECK_OK(context, ts_poisson_right_hand_side(context, &s->desc, ts_host(s->g, n), &given,
                                                                ts_host(b, n), ts_host(x, n))) &&
                   CHECK_OK(context, ts_vector_write(o->b, ts_host(b, n))) &&
                   CHECK_OK(context, ts_vector_write(o->x, ts_host(x, n))) &&
                   CHECK_OK(context, ts_multigrid_create(o->A, method, &o->multigrid));
  free(values);
  free(b);
  free(x);
  return done;
}

void sample_destroy(sample_objects *o) {
  ts_multigrid_destroy(&o->multigrid);
  ts_vector_destroy(&o->x);
  ts_vector_destroy(&o->b);
  ts_matrix_destroy(&o->A);
  ts_space_destroy(&o->grid);
}
