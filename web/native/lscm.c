/* Assembles and solves the system of a conformal map: see lscm.h. */
#include "lscm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/core/core.h"
#include "factor.h"

static const double most_numbers = 6e7; /* of a factor: 480 MB */

/* A triangle in its own plane: the edges opposite to its corners, as complex numbers, and 1 / (4 area). The
 * area of slivers is bounded from below, so that the matrix stays positive definite. */
typedef struct flat {
  double re[3], im[3], weight;
} flat;

typedef struct assembly {
  int32_t vertices, triangles, free_count;
  const int32_t *corners;
  int32_t *unknown; /* of each vertex: its number among the free ones; -1: pinned or without triangles */
  int32_t *first, *incident;      /* triangles of each vertex */
  flat *flats;                    /* of each triangle */
  int32_t *row_offsets, *columns; /* the matrix, 2 rows per free vertex */
  double *values, *b, *x;
  int32_t *place;  /* of each free vertex: its position in the present row, or -1 */
  int32_t *near;   /* neighbours of the present vertex */
  double *re, *im; /* their complex entries */
} assembly;

static flat flatten(const double *positions, const int32_t *corner) {
  double e[3][3], squares = 0;
  for (int k = 0; k < 3; k++) /* e[k]: from corner k + 1 to corner k + 2 */
    for (int d = 0; d < 3; d++) {
      const double from = positions[3 * (size_t)corner[(k + 1) % 3] + (size_t)d];
      e[k][d] = positions[3 * (size_t)corner[(k + 2) % 3] + (size_t)d] - from;
      squares += e[k][d] * e[k][d];
    }
  const double *a = e[2], *c = e[1]; /* from corner 0 to 1, and from 2 to 0 */
  const double normal[3] = {a[2] * c[1] - a[1] * c[2], a[0] * c[2] - a[2] * c[0], a[1] * c[0] - a[0] * c[1]};
  const double length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
  const double twice = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
  const double along = length > 0 ? -(a[0] * c[0] + a[1] * c[1] + a[2] * c[2]) / length : 0;
  const double across = length > 0 ? twice / length : 0;
  /* The corners are 0, length and along + i across. */
  flat found = {{along - length, -along, length}, {across, -across, 0}, 0};
  const double size = fmax(twice, 1e-3 * squares);
  found.weight = size > 0 ? 1 / (2 * size) : 0;
  return found;
}

static ts_status list_incident(ts_context *context, assembly *s) {
  s->first = tsi_calloc(context, (size_t)s->vertices + 1, sizeof *s->first);
  s->incident = tsi_malloc(context, 3 * (size_t)s->triangles, sizeof *s->incident);
  if (!s->first || !s->incident) return tsi_out_of_memory(context, "a conformal map", sizeof *s->incident);
  for (size_t k = 0; k < 3 * (size_t)s->triangles; k++) s->first[s->corners[k] + 1]++;
  for (int32_t v = 0; v < s->vertices; v++) s->first[v + 1] += s->first[v];
  for (int32_t t = s->triangles - 1; t >= 0; t--)
    for (int k = 0; k < 3; k++) {
      const int32_t v = s->corners[3 * (size_t)t + (size_t)k];
      s->incident[--s->first[v + 1]] = t;
    }
  /* The loop above moved every end to its begin: first[v + 1] is now the begin of v. */
  memmove(s->first, s->first + 1, (size_t)s->vertices * sizeof *s->first);
  s->first[s->vertices] = 3 * s->triangles;
  return TS_OK;
}

/* Adds entry (v, w) of a triangle to the row of v. */
static void add_entry(assembly *s, int32_t w, double re, double im, const double *uv, double b[2],
                      int32_t *count) {
  const int32_t unknown = s->unknown[w];
  if (unknown < 0) { /* pinned: to the right-hand side */
    b[0] -= re * uv[2 * (size_t)w] - im * uv[2 * (size_t)w + 1];
    b[1] -= im * uv[2 * (size_t)w] + re * uv[2 * (size_t)w + 1];
    return;
  }
  if (s->place[unknown] < 0) {
    s->place[unknown] = *count;
    s->near[*count] = unknown;
    s->re[*count] = s->im[*count] = 0;
    ++*count;
  }
  s->re[s->place[unknown]] += re;
  s->im[s->place[unknown]] += im;
}

/* Sums up the complex row of a vertex from its triangles. */
static int32_t gather_row(assembly *s, int32_t v, const double *uv, double b[2]) {
  int32_t count = 0;
  for (int32_t at = s->first[v]; at < s->first[v + 1]; at++) {
    const int32_t t = s->incident[at], *corner = s->corners + 3 * (size_t)t;
    const flat *f = &s->flats[t];
    int k = 0;
    while (corner[k] != v) k++;
    for (int l = 0; l < 3; l++) {
      /* conj(W_k) W_l / (4 area). The imaginary part is 1/2, 0 or -1/2, unless the area is bounded: of the two
       * triangles at an edge the parts cancel exactly, so u and v are coupled on the boundary only. */
      const double re = (f->re[k] * f->re[l] + f->im[k] * f->im[l]) * f->weight;
      double im = (f->re[k] * f->im[l] - f->im[k] * f->re[l]) * f->weight;
      if (fabs(fabs(im) - 0.5) < 1e-6) im = im > 0 ? 0.5 : -0.5;
      add_entry(s, corner[l], re, l == k ? 0 : im, uv, b, &count);
    }
  }
  return count;
}

/* Writes the two real rows of a free vertex. */
static void write_rows(assembly *s, int32_t unknown, int32_t count, const double b[2]) {
  int32_t to = s->row_offsets[2 * unknown];
  for (int part = 0; part < 2; part++) {
    for (int32_t k = 0; k < count; k++) {
      const double same = s->re[k], other = part ? s->im[k] : -s->im[k];
      s->columns[to] = 2 * s->near[k] + part;
      s->values[to++] = same;
      if (other == 0) continue;
      s->columns[to] = 2 * s->near[k] + 1 - part;
      s->values[to++] = other;
    }
    s->row_offsets[2 * unknown + part + 1] = to;
    s->b[2 * unknown + part] = b[part];
  }
  for (int32_t k = 0; k < count; k++) s->place[s->near[k]] = -1;
}

static ts_status assemble(ts_context *context, assembly *s, const double *uv) {
  for (int32_t v = 0; v < s->vertices; v++) {
    if (s->unknown[v] < 0) continue;
    double b[2] = {0, 0};
    const int32_t count = gather_row(s, v, uv, b);
    const int32_t own = s->place[s->unknown[v]];
    if (own < 0 || !(s->re[own] > 0))
      return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                      "vertex %d has the same position as all its neighbours, so its u and v are undefined",
                      (int)v);
    write_rows(s, s->unknown[v], count, b);
  }
  return TS_OK;
}

/* Numbers the free vertices; sets the coordinates of pins, and NaN for vertices without triangles. */
static void number(assembly *s, const int32_t *pins, int32_t pin_count, const double *pin_uv, double *uv) {
  for (int32_t v = 0; v < s->vertices; v++) {
    s->unknown[v] = s->first[v + 1] > s->first[v] ? 0 : -1;
    uv[2 * (size_t)v] = uv[2 * (size_t)v + 1] = NAN;
  }
  for (int32_t k = 0; k < pin_count; k++) {
    s->unknown[pins[k]] = -1;
    memcpy(uv + 2 * (size_t)pins[k], pin_uv + 2 * (size_t)k, 2 * sizeof *uv);
  }
  for (int32_t v = 0; v < s->vertices; v++)
    if (s->unknown[v] == 0) s->unknown[v] = s->free_count++;
}

static ts_status allocate(ts_context *context, assembly *s) {
  const size_t free_count = (size_t)s->free_count + 1, most = (size_t)s->triangles * 3 * 2 * 4 + 4 * free_count;
  int32_t widest = 0;
  for (int32_t v = 0; v < s->vertices; v++)
    if (s->first[v + 1] - s->first[v] > widest) widest = s->first[v + 1] - s->first[v];
  const size_t width = 3 * (size_t)widest + 1;
  s->row_offsets = tsi_calloc(context, 2 * free_count + 1, sizeof *s->row_offsets);
  s->columns = tsi_malloc(context, most, sizeof *s->columns);
  s->values = tsi_malloc(context, most, sizeof *s->values);
  s->b = tsi_malloc(context, 2 * free_count, sizeof *s->b);
  s->x = tsi_calloc(context, 2 * free_count, sizeof *s->x);
  s->place = tsi_malloc(context, free_count, sizeof *s->place);
  s->near = tsi_malloc(context, width, sizeof *s->near);
  s->re = tsi_malloc(context, width, sizeof *s->re);
  s->im = tsi_malloc(context, width, sizeof *s->im);
  if (!s->row_offsets || !s->columns || !s->values || !s->b || !s->x || !s->place || !s->near || !s->re ||
      !s->im)
    return tsi_out_of_memory(context, "a conformal map", most * sizeof *s->values);
  memset(s->place, 0xff, free_count * sizeof *s->place);
  return TS_OK;
}

/* Iterates in the library. Many conformal maps almost satisfy the equations, so only factors close to the
 * matrix help much. */
static ts_status iterate(ts_context *context, const assembly *s, const ts_solver_desc *desc,
                         ts_result *result) {
  const int32_t size = 2 * s->free_count;
  const ts_matrix_desc matrix = {.csr = ts_host_csr(size, size, s->row_offsets, s->columns, s->values),
                                 .keep_host_copy = 1};
  const ts_preconditioner_desc ic = {.kind = TS_PRECONDITIONER_IC, .fill = 30, .drop_tolerance = 1e-3};
  ts_solver_desc options = *desc;
  ts_matrix *A = NULL;
  ts_status status = ts_matrix_create(context, &matrix, &A);
  if (status == TS_OK && !desc->preconditioner_kind)
    status = ts_preconditioner_create(A, &ic, &options.preconditioner);
  if (options.method == TS_METHOD_AUTO) options.method = TS_METHOD_CG;
  if (status == TS_OK)
    status = ts_solve(A, ts_host(s->b, (size_t)size), ts_host(s->x, (size_t)size), &options, result);
  ts_preconditioner_destroy(&options.preconditioner);
  ts_matrix_destroy(&A);
  return status;
}

/* r = b - A x. Returns its norm relative to b. */
static double residual(const assembly *s, double *r) {
  double sum = 0, all = 0;
  for (int32_t i = 0; i < 2 * s->free_count; i++) {
    double row = s->b[i];
    for (int32_t k = s->row_offsets[i]; k < s->row_offsets[i + 1]; k++)
      row -= s->values[k] * s->x[s->columns[k]];
    r[i] = row;
    sum += row * row;
    all += s->b[i] * s->b[i];
  }
  return all > 0 ? sqrt(sum / all) : sqrt(sum);
}

/* Refines x with a factor of the matrix until the tolerance is met. Returns 1 if it is. */
static int refine(const assembly *s, const factor *f, double *r, double rtol, ts_result *result) {
  double before = INFINITY;
  result->relative_residual = residual(s, r);
  for (int step = 0; step < 5 && result->relative_residual > rtol; step++) {
    if (!(result->relative_residual < 0.5 * before)) return 0;
    before = result->relative_residual;
    factor_solve(f, r);
    for (int32_t i = 0; i < 2 * s->free_count; i++) s->x[i] += r[i];
    result->iterations++;
    result->relative_residual = residual(s, r);
  }
  return result->relative_residual <= rtol;
}

/* Solves by a factor of the matrix. Returns 1 if that has an outcome, which is then in `status` and `result`.
 */
static int solve_directly(ts_context *context, const assembly *s, const double *positions,
                          const ts_solver_desc *desc, ts_result *result, ts_status *status) {
  const double rtol = desc->rtol > 0 ? desc->rtol : 1e-8;
  double *places = tsi_malloc(context, 3 * (size_t)s->free_count, sizeof *places);
  double *r = tsi_malloc(context, 2 * (size_t)s->free_count, sizeof *r);
  factor *f = NULL;
  factor_outcome outcome = FACTOR_NO_MEMORY;
  for (int32_t v = 0; v < s->vertices && places; v++)
    if (s->unknown[v] >= 0)
      memcpy(places + 3 * (size_t)s->unknown[v], positions + 3 * (size_t)v, 3 * sizeof *places);
  if (places && r) {
    const factor_problem problem = {.nodes = s->free_count,
                                    .positions = places,
                                    .row_offsets = s->row_offsets,
                                    .columns = s->columns,
                                    .values = s->values,
                                    .progress = desc->progress,
                                    .progress_user = desc->progress_user,
                                    .most = most_numbers};
    outcome = factor_create(&problem, &f);
  }
  result->method = TS_METHOD_RICHARDSON;
  result->precision = TS_PRECISION_DOUBLE;
  result->reason = outcome == FACTOR_STOPPED ? TS_REASON_STOPPED : TS_REASON_CONVERGED;
  *status = outcome == FACTOR_STOPPED ? TS_NOT_CONVERGED : TS_OK;
  const int done = outcome == FACTOR_STOPPED || (f && refine(s, f, r, rtol, result));
  factor_destroy(f);
  tsi_free(context, places);
  tsi_free(context, r);
  return done;
}

/* By a factor, unless the caller selects a method or a preconditioner; by iterations if that does not serve. */
static ts_status solve(ts_context *context, const assembly *s, const double *positions,
                       const ts_solver_desc *desc, ts_result *result) {
  ts_status status;
  const int is_auto =
      !desc->method && !desc->preconditioner_kind && !desc->max_iterations && !desc->fixed_iterations;
  if (is_auto && solve_directly(context, s, positions, desc, result, &status)) return status;
  memset(result, 0, sizeof *result);
  return iterate(context, s, desc, result);
}

static void release(ts_context *context, assembly *s) {
  void *blocks[] = {s->unknown, s->first, s->incident, s->flats, s->row_offsets, s->columns, s->values,
                    s->b,       s->x,     s->place,    s->near,  s->re,          s->im};
  for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) tsi_free(context, blocks[k]);
}

ts_status tsw_lscm(ts_context *context, const double *positions, int32_t vertices, const int32_t *corners,
                   int32_t triangles, const int32_t *pins, int32_t pin_count, const double *pin_uv,
                   const ts_solver_desc *desc, double *uv, ts_result *result) {
  assembly s = {.vertices = vertices, .triangles = triangles, .corners = corners};
  memset(result, 0, sizeof *result);
  s.unknown = tsi_malloc(context, (size_t)vertices, sizeof *s.unknown);
  s.flats = tsi_malloc(context, (size_t)triangles, sizeof *s.flats);
  ts_status status = s.unknown && s.flats
                         ? list_incident(context, &s)
                         : tsi_out_of_memory(context, "a conformal map", (size_t)triangles * sizeof *s.flats);
  for (int32_t t = 0; t < triangles && status == TS_OK; t++)
    s.flats[t] = flatten(positions, corners + 3 * (size_t)t);
  if (status == TS_OK) number(&s, pins, pin_count, pin_uv, uv);
  if (status == TS_OK && s.free_count > 0) {
    status = allocate(context, &s);
    if (status == TS_OK) status = assemble(context, &s, uv);
    if (status == TS_OK) status = solve(context, &s, positions, desc, result);
    for (int32_t v = 0; v < vertices && status >= 0; v++)
      if (s.unknown[v] >= 0) memcpy(uv + 2 * (size_t)v, s.x + 2 * (size_t)s.unknown[v], 2 * sizeof *uv);
  }
  release(context, &s);
  return status;
}
