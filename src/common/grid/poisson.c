/* Poisson and Helmholtz problems on a rectangle as stencils, by finite volumes. Host code only. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "common/core/array.h"
#include "common/core/core.h"

/* A descriptor and its resolved defaults. */
typedef struct problem {
  const ts_poisson_desc *desc;
  int32_t width, height;
  double h;
  int vertex_centred;
  int periodic_x, periodic_y;
  int in_doubles; /* flows keep full precision */
} problem;

/* ---- Validation ---- */

static ts_status check_sides(ts_context *context, const ts_poisson_desc *desc) {
  const struct {
    const char *name;
    ts_boundary boundary;
  } boundaries[4] = {
      {"left", desc->left}, {"right", desc->right}, {"bottom", desc->bottom}, {"top", desc->top}};
  for (int k = 0; k < 4; k++)
    if (!ts_boundary_name(boundaries[k].boundary))
      return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "%s is %d, not a ts_boundary", boundaries[k].name,
                      boundaries[k].boundary);
  for (int k = 0; k < 4; k += 2)
    if ((boundaries[k].boundary == TS_BOUNDARY_PERIODIC) !=
        (boundaries[k + 1].boundary == TS_BOUNDARY_PERIODIC))
      return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                      "%s is %s and %s is %s; opposite boundaries must both be periodic", boundaries[k].name,
                      ts_boundary_name(boundaries[k].boundary), boundaries[k + 1].name,
                      ts_boundary_name(boundaries[k + 1].boundary));
  return TS_OK;
}

static ts_status resolve(ts_context *context, const ts_poisson_desc *desc, problem *p) {
  if (desc->width < 3)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "width is %d, less than 3", desc->width);
  if (desc->height < 3)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "height is %d, less than 3", desc->height);
  if ((int64_t)desc->width * desc->height > TSI_MAX_SIZE)
    return tsi_fail(context, TS_ERROR_LIMIT, "%d x %d points are more than %d", desc->width, desc->height,
                    TSI_MAX_SIZE);
  if (!(desc->spacing >= 0 && desc->spacing < INFINITY))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "spacing is %g; it must be positive", desc->spacing);
  if (!(desc->uniform_sigma >= 0 && desc->uniform_sigma < INFINITY))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "uniform_sigma is %g; it must be 0 or positive",
                    desc->uniform_sigma);
  TSI_TRY(tsi_check_reserved(context, "", desc->reserved, sizeof desc->reserved));
  if (desc->centring != TS_CENTRING_VERTEX && desc->centring != TS_CENTRING_CELL)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "centring is %d, not a ts_centring", desc->centring);
  TSI_TRY(check_sides(context, desc));
  *p = (problem){.desc = desc,
                 .width = desc->width,
                 .height = desc->height,
                 .vertex_centred = desc->centring == TS_CENTRING_VERTEX,
                 .periodic_x = desc->left == TS_BOUNDARY_PERIODIC,
                 .periodic_y = desc->bottom == TS_BOUNDARY_PERIODIC};
  p->h = desc->spacing;
  if (p->h == 0) p->h = 1.0 / (p->vertex_centred && !p->periodic_x ? desc->width - 1 : desc->width);
  return TS_OK;
}

static int is_solid(const problem *p, int32_t i, int32_t j) {
  return p->desc->solid && p->desc->solid[(size_t)j * (size_t)p->width + (size_t)i];
}

/* ---- Functions of the point ---- */

static int has_coefficient(const ts_poisson_desc *desc) {
  return tsi_is_given(&desc->coefficient);
}

static int has_sigma(const ts_poisson_desc *desc) {
  return tsi_is_given(&desc->sigma);
}

static double coefficient_at(const problem *p, int32_t i, int32_t j) {
  const size_t at = (size_t)j * (size_t)p->width + (size_t)i;
  return tsi_array_number(&p->desc->coefficient, at, 1);
}

static double sigma_at(const problem *p, int32_t i, int32_t j) {
  const size_t at = (size_t)j * (size_t)p->width + (size_t)i;
  return tsi_array_number(&p->desc->sigma, at, p->desc->uniform_sigma);
}

/* Checks an optional array on the host. */
static ts_status check_array(ts_context *context, const char *name, const ts_array *array, size_t count) {
  if (!tsi_is_given(array)) return TS_OK;
  if (array->memory == TS_MEMORY_CUDA)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED, "%s is in CUDA memory; problems are discretized on the host",
                    name);
  return tsi_array_check(context, name, array, count, TSI_FLOATING, TSI_READ);
}

static ts_status check_values(ts_context *context, const problem *p) {
  const ts_poisson_desc *desc = p->desc;
  const size_t points = (size_t)p->width * (size_t)p->height;
  TSI_TRY(check_array(context, "coefficient", &desc->coefficient, points));
  TSI_TRY(check_array(context, "sigma", &desc->sigma, points));
  if (!has_coefficient(desc) && !has_sigma(desc)) return TS_OK;
  for (int32_t j = 0; j < p->height; j++)
    for (int32_t i = 0; i < p->width; i++) {
      const double k = coefficient_at(p, i, j), sigma = sigma_at(p, i, j);
      if (is_solid(p, i, j)) continue;
      if (!(k > 0 && isfinite(k)))
        return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                        "coefficient of point (%d, %d) is %g; it must be positive", i, j, k);
      if (!(sigma >= 0 && isfinite(sigma)))
        return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                        "sigma of point (%d, %d) is %g; it must be 0 or positive", i, j, sigma);
    }
  return TS_OK;
}

ts_status ts_poisson_grid(const ts_poisson_desc *desc, ts_grid_desc *grid) {
  TSI_REQUIRE(NULL, desc);
  TSI_REQUIRE(NULL, grid);
  problem p = {0};
  TSI_TRY(resolve(NULL, desc, &p));
  *grid = (ts_grid_desc){
      .width = p.width, .height = p.height, .periodic_x = p.periodic_x, .periodic_y = p.periodic_y};
  return TS_OK;
}

/* ---- The finite volumes ---- */

/* Whether the point is on a Dirichlet boundary, so that its value is given. */
static int is_given(const problem *p, int32_t i, int32_t j) {
  const ts_poisson_desc *d = p->desc;
  return p->vertex_centred && ((i == 0 && d->left == TS_BOUNDARY_DIRICHLET) ||
                               (i == p->width - 1 && d->right == TS_BOUNDARY_DIRICHLET) ||
                               (j == 0 && d->bottom == TS_BOUNDARY_DIRICHLET) ||
                               (j == p->height - 1 && d->top == TS_BOUNDARY_DIRICHLET));
}

/* The extent of a point's volume inside the domain: points on a boundary have half of it. */
static double extent_x(const problem *p, int32_t i) {
  return p->vertex_centred && !p->periodic_x && (i == 0 || i == p->width - 1) ? 0.5 : 1;
}
static double extent_y(const problem *p, int32_t j) {
  return p->vertex_centred && !p->periodic_y && (j == 0 || j == p->height - 1) ? 0.5 : 1;
}

/* Moves to the neighbour at (i + di, j + dj); returns 0 if it does not exist. */
static int step(const problem *p, int32_t *i, int32_t *j, int di, int dj) {
  *i += di;
  *j += dj;
  if (p->periodic_x) *i = (*i + p->width) % p->width;
  if (p->periodic_y) *j = (*j + p->height) % p->height;
  return *i >= 0 && *i < p->width && *j >= 0 && *j < p->height;
}

static ts_boundary boundary_towards(const ts_poisson_desc *desc, int di, int dj) {
  if (di) return di < 0 ? desc->left : desc->right;
  return dj < 0 ? desc->bottom : desc->top;
}

static const int face_x[4] = {-1, 1, 0, 0}, face_y[4] = {0, 0, -1, 1};

/* The flow through a face for a difference of 1, times h^2. *inside returns whether there is a point behind the
 * face. */
static double face(const problem *p, int32_t i, int32_t j, int direction, int *inside) {
  const int di = face_x[direction], dj = face_y[direction];
  int32_t ni = i, nj = j;
  const double k = coefficient_at(p, i, j), length = di ? extent_y(p, j) : extent_x(p, i);
  *inside = step(p, &ni, &nj, di, dj);
  if (!*inside) /* the boundary of a cell is half a spacing away */
    return !p->vertex_centred && boundary_towards(p->desc, di, dj) == TS_BOUNDARY_DIRICHLET ? 2 * k : 0;
  if (is_solid(p, ni, nj)) return 0;
  const double other = coefficient_at(p, ni, nj);
  return 2 * length * (k / (k + other)) * other;
}

/* Keeps 21 of the 24 bits of a float, so that a sum of four similar coefficients is exact. Otherwise the
 * rounding of the diagonal would act like a sigma of 2^-24 / h^2. On fine grids this exceeds the discretisation
 * error. Rounding k by 2^-22 is harmless. */
static double rounded_flow(const problem *p, double flow) {
  /* Veltkamp's splitting: a product with 2^32 + 1 keeps the upper 53 - 32 bits. */
  const double product = flow * 4294967297.0;
  return p->in_doubles ? flow : product - (product - flow);
}

static void fill_stencil(const problem *p, int32_t i, int32_t j, double *a) {
  memset(a, 0, 9 * sizeof *a);
  if (is_solid(p, i, j) || is_given(p, i, j)) return;
  const double scale = 1 / (p->h * p->h);
  double centre = 0;
  for (int f = 0; f < 4; f++) {
    int inside;
    const double rounded = rounded_flow(p, face(p, i, j, f, &inside) * scale);
    centre += rounded;
    if (inside) a[3 * (face_y[f] + 1) + face_x[f] + 1] = -rounded;
  }
  a[4] = centre + sigma_at(p, i, j) * extent_x(p, i) * extent_y(p, j);
}

/* Away from boundaries and solids, with k = 1 and constant sigma, all rows are equal to that of point (1,
 * 1). */
static void fill_regular(const problem *p, double a[9]) {
  ts_poisson_desc desc = *p->desc;
  problem regular = *p;
  desc.solid = NULL;
  regular.desc = &desc;
  fill_stencil(&regular, 1, 1, a);
}

static int is_regular(const problem *p, int32_t i, int32_t j) {
  const ts_poisson_desc *desc = p->desc;
  if (has_coefficient(desc) || has_sigma(desc) || i < 1 || i >= p->width - 1 || j < 1 || j >= p->height - 1)
    return 0;
  if (!desc->solid) return 1;
  const unsigned char *here = desc->solid + (size_t)j * (size_t)p->width + (size_t)i;
  return !(here[0] | here[-1] | here[1] | here[-p->width] | here[p->width]);
}

static ts_status check_output(ts_context *context, const char *name, const ts_array *array, size_t count) {
  if (!tsi_is_given(array)) return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "%s is NULL", name);
  TSI_TRY(check_array(context, name, array, count));
  return tsi_array_check(context, name, array, count, TSI_FLOATING, TSI_WRITE);
}

ts_status ts_poisson_stencil(ts_context *context, const ts_poisson_desc *desc, ts_array values) {
  if (context) tsi_clear_error(context);
  TSI_REQUIRE(context, desc);
  problem p = {0};
  TSI_TRY(resolve(context, desc, &p));
  TSI_TRY(check_values(context, &p));
  TSI_TRY(check_output(context, "values", &values, 9 * (size_t)p.width * (size_t)p.height));
  p.in_doubles = values.type == TS_TYPE_DOUBLE;
  double regular[9], own[9];
  fill_regular(&p, regular);
  for (int32_t j = 0; j < p.height; j++)
    for (int32_t i = 0; i < p.width; i++) {
      const size_t at = 9 * ((size_t)j * (size_t)p.width + (size_t)i);
      const double *a = is_regular(&p, i, j) ? regular : own;
      if (a == own) fill_stencil(&p, i, j, own);
      for (size_t k = 0; k < 9; k++) tsi_array_set(&values, at + k, a[k]);
    }
  return TS_OK;
}

/* ---- The right-hand side ---- */

/* The given value or flow on the boundary next to a point. */
static double given_on_boundary(const ts_boundary_values *boundary, int32_t i, int32_t j, int di, int dj) {
  if (!boundary) return 0;
  const size_t at = (size_t)(di ? j : i);
  const ts_array *side = di < 0   ? &boundary->left
                         : di > 0 ? &boundary->right
                         : dj < 0 ? &boundary->bottom
                                  : &boundary->top;
  return tsi_array_number(side, at, 0);
}

/* The value of a point on a Dirichlet boundary; left and right precede bottom and top. */
static double given_value(const problem *p, const ts_boundary_values *boundary, int32_t i, int32_t j) {
  for (int f = 0; f < 4; f++) {
    int32_t ni = i, nj = j;
    if (boundary_towards(p->desc, face_x[f], face_y[f]) == TS_BOUNDARY_DIRICHLET &&
        !step(p, &ni, &nj, face_x[f], face_y[f]))
      return given_on_boundary(boundary, i, j, face_x[f], face_y[f]);
  }
  return 0;
}

static double right_hand_side(const problem *p, const ts_boundary_values *boundary, double g, int32_t i,
                              int32_t j) {
  double sum = g * extent_x(p, i) * extent_y(p, j);
  for (int f = 0; f < 4; f++) {
    const int di = face_x[f], dj = face_y[f];
    int inside;
    const double flow = face(p, i, j, f, &inside);
    if (inside) continue;
    const double given = given_on_boundary(boundary, i, j, di, dj);
    if (boundary_towards(p->desc, di, dj) == TS_BOUNDARY_NEUMANN)
      sum += given * (di ? extent_y(p, j) : extent_x(p, i)) / p->h;
    else
      sum += given * flow / (p->h * p->h);
  }
  return sum;
}

/* Whether all flows of the point are 0. */
static int is_isolated(const problem *p, int32_t i, int32_t j) {
  double a[9];
  if (!p->desc->solid) return 0;
  fill_stencil(p, i, j, a);
  return a[4] == 0;
}

static ts_status check_boundary_values(ts_context *context, const problem *p,
                                       const ts_boundary_values *boundary) {
  if (!boundary) return TS_OK;
  TSI_TRY(tsi_check_reserved(context, "boundary.", boundary->reserved, sizeof boundary->reserved));
  TSI_TRY(check_array(context, "left", &boundary->left, (size_t)p->height));
  TSI_TRY(check_array(context, "right", &boundary->right, (size_t)p->height));
  TSI_TRY(check_array(context, "bottom", &boundary->bottom, (size_t)p->width));
  return check_array(context, "top", &boundary->top, (size_t)p->width);
}

/* Rejects numbers that floats cannot represent. */
static ts_status check_range(ts_context *context, const char *name, ts_type type, double largest) {
  if (type == TS_TYPE_DOUBLE || !isfinite(largest) || (largest <= FLT_MAX && largest >= FLT_MIN) ||
      largest == 0)
    return TS_OK;
  return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                  "the largest number of %s is %.2g, which leaves the range of single precision", name,
                  largest);
}

ts_status ts_poisson_right_hand_side(ts_context *context, const ts_poisson_desc *desc, ts_array g,
                                     const ts_boundary_values *boundary, ts_array b, ts_array x) {
  if (context) tsi_clear_error(context);
  TSI_REQUIRE(context, desc);
  problem p = {0};
  TSI_TRY(resolve(context, desc, &p));
  TSI_TRY(check_values(context, &p));
  TSI_TRY(check_boundary_values(context, &p, boundary));
  const size_t points = (size_t)p.width * (size_t)p.height;
  TSI_TRY(check_array(context, "g", &g, points));
  TSI_TRY(check_output(context, "b", &b, points));
  TSI_TRY(check_output(context, "x", &x, points));
  p.in_doubles = b.type == TS_TYPE_DOUBLE;
  double largest = 0;
  for (int32_t j = 0; j < p.height; j++)
    for (int32_t i = 0; i < p.width; i++) {
      const size_t at = (size_t)j * (size_t)p.width + (size_t)i;
      double sum = 0, given = 0;
      if (is_solid(&p, i, j))
        sum = 0;
      else if (is_given(&p, i, j))
        given = given_value(&p, boundary, i, j);
      else if (!is_isolated(&p, i, j))
        sum = right_hand_side(&p, boundary, tsi_array_number(&g, at, 0), i, j);
      tsi_array_set(&b, at, sum);
      tsi_array_set(&x, at, given);
      largest = fmax(largest, fmax(fabs(sum), fabs(given)));
    }
  TSI_TRY(check_range(context, "the right-hand side", b.type, largest));
  return check_range(context, "x", x.type, largest);
}
