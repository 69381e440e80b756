/* The problem of `texsolve poisson`: converts options and files to the library's form. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "grid_file.h"
#include "message.h"
#include "poisson.h"

void poisson_describe(const poisson_options *o, ts_poisson_desc *desc) {
  *desc = (ts_poisson_desc){.width = o->width,
                            .height = o->height,
                            .centring = o->centring,
                            .left = o->left,
                            .right = o->right,
                            .bottom = o->bottom,
                            .top = o->top,
                            .uniform_sigma = o->sigma};
  const int ends = o->centring == TS_CENTRING_VERTEX && o->left != TS_BOUNDARY_PERIODIC;
  desc->spacing = 1.0 / (o->width - ends);
}

/* ---- Generated parts ---- */

/* Reproducible numbers in [0, 1): splitmix64. */
static double random_number(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static size_t count_of(const ts_poisson_desc *desc) {
  return (size_t)desc->width * (size_t)desc->height;
}

static int is_wall(double x, double y, double h) {
  const double disc = (x - 0.3) * (x - 0.3) + (y - 0.5) * (y - 0.5);
  const double small = (x - 0.8) * (x - 0.8) + (y - 0.3) * (y - 0.3);
  const int upright = fabs(x - 0.6) < 1.01 * h && y < 0.7;
  const int level = fabs(y - 0.8) < 0.5 * h && x > 0.5 && x < 0.9;
  return disc < 0.01 || small < 0.002 || upright || level;
}

static void make_walls(poisson_problem *p) {
  const ts_poisson_desc *d = &p->desc;
  const double larger = d->width > d->height ? d->width : d->height;
  for (int32_t j = 0; j < d->height; j++)
    for (int32_t i = 0; i < d->width; i++)
      p->solid[(size_t)j * (size_t)d->width + (size_t)i] =
          (unsigned char)is_wall(i / (double)d->width, j / (double)d->height, 1 / larger);
}

static void make_jumps(poisson_problem *p) {
  enum { SQUARE = 8 };
  const ts_poisson_desc *d = &p->desc;
  for (int32_t j = 0; j < d->height; j++)
    for (int32_t i = 0; i < d->width; i++) {
      uint64_t state = (uint64_t)(j / SQUARE) << 32 | (uint64_t)(i / SQUARE);
      p->coefficient[(size_t)j * (size_t)d->width + (size_t)i] = random_number(&state) < 0.5 ? 1 : 1000;
    }
}

static void make_noise(poisson_problem *p) {
  uint64_t state = 1;
  for (size_t k = 0; k < count_of(&p->desc); k++) p->g[k] = 2 * random_number(&state) - 1;
}

/* g, k and u at the points, and the boundary values at their positions. */
static void make_manufactured(poisson_problem *p, poisson_problem_name name) {
  const ts_poisson_desc *d = &p->desc;
  const double right = poisson_length(d, d->width, d->left == TS_BOUNDARY_PERIODIC);
  const double top = poisson_length(d, d->height, d->bottom == TS_BOUNDARY_PERIODIC);
  manufactured m;
  for (int32_t j = 0; j < d->height; j++)
    for (int32_t i = 0; i < d->width; i++) {
      const size_t at = (size_t)j * (size_t)d->width + (size_t)i;
      poisson_manufactured(d, name, poisson_position(d, i), poisson_position(d, j), &m);
      p->g[at] = m.g;
      p->exact[at] = m.u;
      if (p->coefficient) p->coefficient[at] = m.k;
    }
  for (int32_t j = 0; j < d->height; j++) {
    poisson_manufactured(d, name, 0, poisson_position(d, j), &m);
    p->boundaries[0][j] = d->left == TS_BOUNDARY_DIRICHLET ? m.u : -m.flux_x;
    poisson_manufactured(d, name, right, poisson_position(d, j), &m);
    p->boundaries[1][j] = d->right == TS_BOUNDARY_DIRICHLET ? m.u : m.flux_x;
  }
  for (int32_t i = 0; i < d->width; i++) {
    poisson_manufactured(d, name, poisson_position(d, i), 0, &m);
    p->boundaries[2][i] = d->bottom == TS_BOUNDARY_DIRICHLET ? m.u : -m.flux_y;
    poisson_manufactured(d, name, poisson_position(d, i), top, &m);
    p->boundaries[3][i] = d->top == TS_BOUNDARY_DIRICHLET ? m.u : m.flux_y;
  }
}

/* ---- Parts from files ---- */

static int read_numbers(const char *option, const char *path, const ts_poisson_desc *d, double **numbers) {
  double *values;
  if (grid_file_read(option, path, d->width, d->height, &values)) return -1;
  free(*numbers);
  *numbers = values;
  return 0;
}

static int read_coefficient(const char *path, poisson_problem *p) {
  const ts_poisson_desc *d = &p->desc;
  if (read_numbers("--coefficient", path, d, &p->coefficient)) return -1;
  p->desc.coefficient = ts_host(p->coefficient, count_of(d));
  for (size_t k = 0; k < count_of(d); k++) {
    if (p->coefficient[k] > 0) continue;
    message("--coefficient %s: row %zu, column %zu: %.9g, expected a positive number", path,
            k / (size_t)d->width + 1, k % (size_t)d->width + 1, p->coefficient[k]);
    return -1;
  }
  return 0;
}

static int read_walls(const char *path, poisson_problem *p) {
  double *values;
  size_t open = 0;
  const ts_poisson_desc *d = &p->desc;
  if (grid_file_read("--solid", path, d->width, d->height, &values)) return -1;
  for (size_t k = 0; k < count_of(d); k++) {
    p->solid[k] = values[k] != 0;
    open += values[k] == 0;
  }
  free(values);
  if (open) return 0;
  message("--solid %s: all %zu points are walls, expected some that are not", path, count_of(d));
  return -1;
}

/* ---- Scale ---- */

/* The binary exponents of the smallest and the largest nonzero magnitude. */
typedef struct exponents {
  int least, most;
} exponents;

static exponents exponents_of(const double *numbers, size_t count) {
  exponents e = {0, 0};
  int found = 0;
  for (size_t k = 0; k < count; k++) {
    int exponent;
    if (numbers[k] == 0) continue;
    frexp(numbers[k], &exponent);
    if (!found || exponent < e.least) e.least = exponent;
    if (!found || exponent > e.most) e.most = exponent;
    found = 1;
  }
  return e;
}

static void scale_numbers(double *numbers, size_t count, int exponent) {
  for (size_t k = 0; k < count && exponent; k++) numbers[k] = ldexp(numbers[k], exponent);
}

/* The device's numbers have the range of floats. So powers of two are factored out of k and g if they are far
 * from 1: (A / 2^a) x = g / 2^c has the solution of A u = g times 2^(a - c). */
static void scale(poisson_problem *p) {
  enum { FAR = 40 };
  const size_t n = count_of(&p->desc);
  const exponents k = exponents_of(p->coefficient, p->coefficient ? n : 0);
  const int middle = (k.least + k.most) / 2, largest = exponents_of(p->g, n).most;
  const int a = abs(middle) > FAR ? middle : 0, c = abs(largest) > FAR ? largest : 0;
  if (p->coefficient) scale_numbers(p->coefficient, n, -a);
  scale_numbers(p->g, n, -c);
  p->desc.uniform_sigma = ldexp(p->desc.uniform_sigma, -a);
  p->exponent = c - a;
}

/* ---- The whole ---- */

static int allocate(const poisson_options *o, poisson_problem *p, int known) {
  const size_t n = count_of(&p->desc);
  const int has_k = o->coefficient || o->problem == PROBLEM_VARIABLE || o->problem == PROBLEM_JUMPS;
  int failed = !(p->g = calloc(n, sizeof *p->g));
  if (has_k) failed |= !(p->coefficient = calloc(n, sizeof *p->coefficient));
  if (o->solid || o->problem == PROBLEM_OBSTACLES) failed |= !(p->solid = calloc(n, 1));
  if (known) failed |= !(p->exact = calloc(n, sizeof *p->exact));
  for (int s = 0; known && s < 4; s++)
    failed |= !(p->boundaries[s] =
                    calloc((size_t)(s < 2 ? p->desc.height : p->desc.width), sizeof *p->boundaries[s]));
  if (failed) message("out of memory for a problem of %dx%d points", o->width, o->height);
  p->desc.coefficient = ts_host(p->coefficient, n);
  p->desc.solid = p->solid;
  return failed ? -1 : 0;
}

int poisson_make(const poisson_options *o, poisson_problem *p) {
  memset(p, 0, sizeof *p);
  poisson_describe(o, &p->desc);
  const int known = o->problem == PROBLEM_SMOOTH || o->problem == PROBLEM_VARIABLE;
  int failed = allocate(o, p, known);
  if (!failed && known) make_manufactured(p, (poisson_problem_name)o->problem);
  if (!failed && !known) make_noise(p);
  if (!failed && o->problem == PROBLEM_JUMPS) make_jumps(p);
  if (!failed && o->problem == PROBLEM_OBSTACLES) make_walls(p);
  if (!failed && o->rhs) failed = read_numbers("--rhs", o->rhs, &p->desc, &p->g);
  if (!failed && o->coefficient) failed = read_coefficient(o->coefficient, p);
  if (!failed && o->solid) failed = read_walls(o->solid, p);
  if (!failed && !known) scale(p);
  if (failed) poisson_free(p);
  return failed;
}

ts_boundary_values poisson_boundaries(const poisson_problem *p) {
  const size_t width = (size_t)p->desc.width, height = (size_t)p->desc.height;
  return (ts_boundary_values){.left = ts_host(p->boundaries[0], height),
                              .right = ts_host(p->boundaries[1], height),
                              .bottom = ts_host(p->boundaries[2], width),
                              .top = ts_host(p->boundaries[3], width)};
}

void poisson_free(poisson_problem *p) {
  free(p->coefficient);
  free(p->solid);
  free(p->g);
  free(p->exact);
  for (int s = 0; s < 4; s++) free(p->boundaries[s]);
  memset(p, 0, sizeof *p);
}
