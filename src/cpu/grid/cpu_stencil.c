/* Stencil matrices: nine planes of coefficients in the order of the grid's points; a five-point stencil has
 * only the first five. A row of points is a loop over its interior and two single end points. */
#include "cpu/core/cpu.h"
#include "cpu_grid.h"
#include "common/grid/grid.h"

const int cpu_direction_x[9] = {0, -1, 1, 0, 0, -1, 1, -1, 1};
const int cpu_direction_y[9] = {0, 0, 0, -1, 1, -1, -1, 1, 1};

static cpu_stencil *stencil_of(const ts_matrix *A) {
  return A->impl;
}

static size_t points_of(const ts_matrix *A) {
  return (size_t)A->row_space->tiling.size;
}

/* ---- Storage ---- */

typedef struct transfer_job {
  float *planes;
  float *values;
  size_t points, width;
  int directions;
} transfer_job;

/* Processes a row of points at a time. It stays in cache while it is distributed to the planes. */
static void body_write(const void *arguments, size_t first, size_t last) {
  const transfer_job *job = arguments;
  for (size_t row = first; row < last; row++)
    for (int k = 0; k < job->directions; k++) {
      float *restrict plane = job->planes + (size_t)k * job->points;
      const float *restrict value = job->values + cpu_value_index(k);
      for (size_t p = row * job->width; p < (row + 1) * job->width; p++) plane[p] = value[9 * p];
    }
}

static void body_read(const void *arguments, size_t first, size_t last) {
  const transfer_job *job = arguments;
  for (size_t row = first; row < last; row++)
    for (int k = 0; k < 9; k++) {
      const float *restrict plane = job->planes + (size_t)k * job->points;
      float *restrict value = job->values + cpu_value_index(k);
      const int stored = k < job->directions;
      for (size_t p = row * job->width; p < (row + 1) * job->width; p++) value[9 * p] = stored ? plane[p] : 0;
    }
}

static void transfer(const ts_matrix *A, const float *values, tsi_body body) {
  const tsi_grid *g = &A->row_space->grid;
  const cpu_stencil *s = stencil_of(A);
  const transfer_job job = {s->planes, (float *)values, points_of(A), (size_t)g->width, s->directions};
  cpu_for(A->context, (size_t)g->height, 18 * (size_t)g->width, body, &job);
}

/* Without corner coefficients, their four planes are not stored. */
static ts_status create_planes(const ts_matrix *A, cpu_stencil *s) {
  ts_context *context = A->context;
  const int directions = A->stencil->five_point ? 5 : 9;
  const size_t bytes = (size_t)directions * points_of(A) * sizeof(float);
  TSI_TRY(tsi_device_alloc(context, bytes, "a stencil"));
  float *planes = tsi_malloc(context, bytes, 1);
  if (!planes) {
    tsi_device_free(context, bytes);
    return tsi_out_of_memory(context, "a stencil", bytes);
  }
  *s = (cpu_stencil){planes, directions, bytes};
  return TS_OK;
}

static void free_planes(ts_context *context, const cpu_stencil *s) {
  tsi_device_free(context, s->bytes);
  tsi_free(context, s->planes);
}

ts_status cpu_stencil_create(ts_matrix *A, const float *values) {
  cpu_stencil *s = tsi_calloc(A->context, 1, sizeof *s);
  if (!s) return tsi_out_of_memory(A->context, "a stencil", sizeof *s);
  const ts_status status = create_planes(A, s);
  if (status < 0) {
    tsi_free(A->context, s);
    return status;
  }
  A->impl = s;
  A->kind = &cpu_stencil_kind;
  transfer(A, values, body_write);
  return TS_OK;
}

ts_status cpu_stencil_write(ts_matrix *A, const float *values) {
  cpu_stencil *s = stencil_of(A);
  if (s->directions != (A->stencil->five_point ? 5 : 9)) {
    const cpu_stencil old = *s;
    TSI_TRY(create_planes(A, s));
    free_planes(A->context, &old);
  }
  transfer(A, values, body_write);
  return TS_OK;
}

ts_status cpu_stencil_read(const ts_matrix *A, float *values) {
  transfer(A, values, body_read);
  return TS_OK;
}

static void cpu_stencil_destroy(ts_matrix *A) {
  cpu_stencil *s = stencil_of(A);
  free_planes(A->context, s);
  tsi_free(A->context, s);
  A->impl = NULL;
}

/* ---- Products ---- */

/* PRODUCT: single precision; RESIDUAL: double precision. The others: products in pairs, residuals of x + low,
 * and residuals in pairs with error-free sums. */
typedef enum product_kind { PRODUCT, RESIDUAL, PAIR_PRODUCT, LOW_RESIDUAL, PAIR_RESIDUAL } product_kind;

typedef struct product_job {
  const tsi_grid *grid;
  const float *planes;
  size_t points;
  int directions, components;
  product_kind kind;
  cpu_parts y, b, x;
} product_job;

static double value_of(cpu_parts v, size_t i) {
  return v.low ? (double)v.high[i] + (double)v.low[i] : (double)v.high[i];
}

static void store(const product_job *job, size_t at, cpu_exact result) {
  if (job->y.low)
    cpu_exact_split(result, &job->y.high[at], &job->y.low[at]);
  else
    job->y.high[at] = (float)result.sum;
}

/* One point with neighbour look-up. Points beyond the grid are ignored. */
static void point(const product_job *job, int32_t i, int32_t j) {
  const tsi_grid *g = job->grid;
  const size_t p = (size_t)j * (size_t)g->width + (size_t)i, n = (size_t)job->components;
  cpu_exact result[4] = {{0, 0}, {0, 0}, {0, 0}, {0, 0}};
  double sum[4] = {0, 0, 0, 0};
  if (job->planes[p] != 0) {
    for (size_t c = 0; c < n && job->kind == PAIR_RESIDUAL; c++) result[c] = cpu_exact_value(job->b, p * n + c);
    for (int k = 0; k < job->directions; k++) {
      const double a = job->planes[(size_t)k * job->points + p];
      const int32_t q = cpu_grid_point(g, i + cpu_direction_x[k], j + cpu_direction_y[k]);
      if (q < 0) continue;
      for (size_t c = 0; c < n; c++) {
        const double term = a * value_of(job->x, (size_t)q * n + c);
        if (job->kind == PAIR_RESIDUAL)
          cpu_exact_add(&result[c], -term);
        else
          sum[c] += term;
      }
    }
    if (job->kind != PAIR_RESIDUAL)
      for (size_t c = 0; c < n; c++) result[c].sum = job->b.high ? job->b.high[p * n + c] - sum[c] : sum[c];
  }
  for (size_t c = 0; c < n; c++) store(job, p * n + c, result[c]);
}

/* A row of points as offsets from its first point: into the planes, and into the three rows of x. Beyond a
 * boundary that is not periodic, the row itself is used, because all coefficients are 0 there. */
typedef struct row_view {
  size_t start;
  ptrdiff_t south, north; /* offsets of the rows relative to this one */
} row_view;

static row_view view_row(const tsi_grid *g, int32_t j) {
  const int32_t south = cpu_grid_point(g, 0, j - 1), north = cpu_grid_point(g, 0, j + 1);
  const ptrdiff_t start = (ptrdiff_t)j * g->width;
  return (row_view){(size_t)start, south < 0 ? 0 : south - start, north < 0 ? 0 : north - start};
}

CPU_INLINE float float_sum(const float *a, size_t plane, const float *x, row_view v, ptrdiff_t i, int nine) {
  float sum = a[i] * x[i];
  sum += a[plane + (size_t)i] * x[i - 1] + a[2 * plane + (size_t)i] * x[i + 1];
  sum += a[3 * plane + (size_t)i] * x[i + v.south] + a[4 * plane + (size_t)i] * x[i + v.north];
  if (nine) {
    sum += a[5 * plane + (size_t)i] * x[i + v.south - 1] + a[6 * plane + (size_t)i] * x[i + v.south + 1];
    sum += a[7 * plane + (size_t)i] * x[i + v.north - 1] + a[8 * plane + (size_t)i] * x[i + v.north + 1];
  }
  return sum;
}

CPU_INLINE double value_at(const float *x, const float *low, ptrdiff_t i) {
  return low ? (double)x[i] + (double)low[i] : (double)x[i];
}

CPU_INLINE double double_sum(const float *a, size_t plane, const float *x, const float *low, row_view v,
                             ptrdiff_t i, int nine) {
  const size_t p = (size_t)i;
  double sum = a[p] * value_at(x, low, i);
  sum += a[plane + p] * value_at(x, low, i - 1) + a[2 * plane + p] * value_at(x, low, i + 1);
  sum += a[3 * plane + p] * value_at(x, low, i + v.south) + a[4 * plane + p] * value_at(x, low, i + v.north);
  if (nine) {
    sum += a[5 * plane + p] * value_at(x, low, i + v.south - 1) +
           a[6 * plane + p] * value_at(x, low, i + v.south + 1);
    sum += a[7 * plane + p] * value_at(x, low, i + v.north - 1) +
           a[8 * plane + p] * value_at(x, low, i + v.north + 1);
  }
  return sum;
}

CPU_INLINE void inside_row(const product_job *job, int32_t j, product_kind kind, int nine) {
  const row_view v = view_row(job->grid, j);
  const float *a = job->planes + v.start, *x = job->x.high + v.start;
  const float *low = kind == LOW_RESIDUAL || kind == PAIR_PRODUCT ? job->x.low + v.start : NULL;
  const float *b = kind == PRODUCT || kind == PAIR_PRODUCT ? NULL : job->b.high + v.start;
  const size_t plane = job->points;
  float *y = job->y.high + v.start, *y_low = kind == PAIR_PRODUCT ? job->y.low + v.start : NULL;
  const ptrdiff_t end = job->grid->width - 1;
  CPU_SIMD
  for (ptrdiff_t i = 1; i < end; i++) {
    if (kind == PAIR_PRODUCT) {
      const double result = double_sum(a, plane, x, low, v, i, nine);
      cpu_split(a[i] != 0 ? result : 0, &y[i], &y_low[i]);
    } else {
      float result;
      if (kind == PRODUCT)
        result = float_sum(a, plane, x, v, i, nine);
      else
        result = (float)(b[i] - double_sum(a, plane, x, low, v, i, nine));
      y[i] = a[i] != 0 ? result : 0;
    }
  }
}

/* Computes rows first .. last-1 of one component. */
CPU_INLINE void rows(const void *arguments, size_t first, size_t last, product_kind kind, int nine) {
  const product_job *job = arguments;
  const int32_t width = job->grid->width;
  for (int32_t j = (int32_t)first; j < (int32_t)last; j++) {
    point(job, 0, j);
    inside_row(job, j, kind, nine);
    if (width > 1) point(job, width - 1, j);
  }
}

#define BODY(name, kind, nine)                                                                                 \
  CPU_CLONES static void name(const void *arguments, size_t first, size_t last) {                              \
    rows(arguments, first, last, kind, nine);                                                                  \
  }
BODY(product_5, PRODUCT, 0)
BODY(product_9, PRODUCT, 1)
BODY(residual_5, RESIDUAL, 0)
BODY(residual_9, RESIDUAL, 1)
BODY(pair_product_5, PAIR_PRODUCT, 0)
BODY(pair_product_9, PAIR_PRODUCT, 1)
BODY(low_residual_5, LOW_RESIDUAL, 0)
BODY(low_residual_9, LOW_RESIDUAL, 1)

static void body_points(const void *arguments, size_t first, size_t last) {
  const product_job *job = arguments;
  for (int32_t j = (int32_t)first; j < (int32_t)last; j++)
    for (int32_t i = 0; i < job->grid->width; i++) point(job, i, j);
}

static ts_status cpu_stencil_run(const ts_matrix *A, int components, product_job *job) {
  static const tsi_body bodies[][2] = {[PRODUCT] = {product_5, product_9},
                                       [RESIDUAL] = {residual_5, residual_9},
                                       [PAIR_PRODUCT] = {pair_product_5, pair_product_9},
                                       [LOW_RESIDUAL] = {low_residual_5, low_residual_9},
                                       [PAIR_RESIDUAL] = {body_points, body_points}};
  const int nine = !A->stencil->five_point;
  job->grid = &A->row_space->grid;
  job->planes = stencil_of(A)->planes;
  job->points = points_of(A);
  job->directions = nine ? 9 : 5;
  job->components = components;
  const int by_points = components > 1 || (job->kind == PAIR_PRODUCT && !job->x.low);
  const size_t cost = (size_t)(job->directions + 2 * components) * (size_t)job->grid->width;
  cpu_for(A->context, (size_t)job->grid->height, cost, by_points ? body_points : bodies[job->kind][nine], job);
  return TS_OK;
}

/* Only the first part, for operations in single precision. */
static cpu_parts first_part(const ts_vector *v) {
  return (cpu_parts){cpu_data(v), NULL, NULL};
}

static ts_status spmv(ts_vector *y, const ts_matrix *A, const ts_vector *x) {
  product_job job = {.kind = PRODUCT, .y = first_part(y), .x = first_part(x)};
  if (y->low) job = (product_job){.kind = PAIR_PRODUCT, .y = cpu_parts_of(y), .x = cpu_parts_of(x)};
  return cpu_stencil_run(A, y->components, &job);
}

static ts_status residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x) {
  return cpu_stencil_run(A, r->components,
                         &(product_job){.kind = r->low ? PAIR_RESIDUAL : RESIDUAL,
                                        .y = cpu_parts_of(r),
                                        .b = cpu_parts_of(b),
                                        .x = first_part(x)});
}

ts_status cpu_stencil_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x,
                               const ts_vector *low) {
  return cpu_stencil_run(A, r->components,
                         &(product_job){.kind = LOW_RESIDUAL,
                                        .y = first_part(r),
                                        .b = first_part(b),
                                        .x = {cpu_data(x), cpu_data(low), NULL}});
}

static ts_status diagonal(ts_vector *d, const ts_matrix *A) {
  const float *plane = stencil_of(A)->planes;
  const size_t points = points_of(A), n = (size_t)d->components;
  float *data = cpu_data(d);
  for (size_t p = 0; p < points; p++)
    for (size_t c = 0; c < n; c++) data[p * n + c] = plane[p];
  return TS_OK;
}

const tsi_matrix_kind cpu_stencil_kind = {
    .destroy = cpu_stencil_destroy, .spmv = spmv, .residual = residual, .diagonal = diagonal, TSI_STENCIL_KIND};
