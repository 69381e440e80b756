/* Products of the parts of a matrix, each with the ghosts it needs. If ghosts are sent by other ranks, rows
 * that need none are computed during the transfer. This requires that the part's backend can skip the other
 * rows. */
#include "multi.h"

/* A product or smoothing step: the arguments of `multiply`. */
typedef struct product {
  ts_status (*multiply)(const struct product *job, const ts_matrix *local, int p);
  const ts_matrix *A;
  ts_vector *y;
  const ts_vector *x, *b;
  const tsi_smoothing *step;
} product;

static const multi_matrix *matrix_of(const ts_matrix *A) {
  return A->impl;
}

#define GHOSTLY(v) multi_with_ghosts(matrix_of(job->A)->halo, v, p, &(multi_view){{{0}}})

static int has_interior(const ts_matrix *local) {
  const tsi_part_ops *part = local->context->ops->part;
  return part->has_interior && part->has_interior(local);
}

/* For parts without interior rows, or without the ability to skip rows, all rows are boundary rows. */
static ts_status multiply_rows(const product *job, tsi_rows rows) {
  ts_context *context = job->A->context;
  for (int p = 0; p < multi_count(context); p++) {
    const ts_matrix *local = matrix_of(job->A)->local[p];
    if (!local || (rows == TSI_INTERIOR_ROWS && !has_interior(local))) continue;
    ts_matrix some = *local;
    some.rows = has_interior(local) ? rows : TSI_ALL_ROWS;
    MULTI_TRY(context, p, job->multiply(job, &some, p));
  }
  return TS_OK;
}

/* Uses `parts` parts of x, 1 or 2. */
static ts_status multiply_parts(const product *job, int parts) {
  multi_halo *halo = matrix_of(job->A)->halo;
  if (!halo->remote || parts > 1) {
    TSI_TRY(multi_exchange_ghosts(halo, job->x, parts));
    return multiply_rows(job, TSI_ALL_ROWS);
  }
  TSI_TRY(multi_begin_ghosts(halo, job->x));
  /* A channel orders the transfer before later work on the device, so there is nothing to overlap. */
  const int hides = halo->is_begun;
  const ts_status interior = hides ? multiply_rows(job, TSI_INTERIOR_ROWS) : TS_OK;
  const ts_status ghosts = multi_end_ghosts(halo, job->x);
  TSI_TRY(interior < 0 ? interior : ghosts);
  return multiply_rows(job, hides ? TSI_BOUNDARY_ROWS : TSI_ALL_ROWS);
}

static ts_status multi_product_run(const product *job, int parts) {
  multi_begin_call(job->A->context);
  return multi_end_call(job->A->context, multiply_parts(job, parts));
}

static ts_status spmv(const product *job, const ts_matrix *local, int p) {
  return local->kind->spmv(LOCAL(job->y), local, GHOSTLY(job->x));
}

ts_status multi_spmv(ts_vector *y, const ts_matrix *A, const ts_vector *x) {
  return multi_product_run(&(product){.multiply = spmv, .A = A, .y = y, .x = x}, y->low ? 2 : 1);
}

static ts_status residual(const product *job, const ts_matrix *local, int p) {
  return local->kind->residual(LOCAL(job->y), LOCAL(job->b), local, GHOSTLY(job->x));
}

ts_status multi_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x) {
  return multi_product_run(&(product){.multiply = residual, .A = A, .y = r, .x = x, .b = b}, 1);
}

static ts_status quick_residual(const product *job, const ts_matrix *local, int p) {
  return tsi_quick_residual(LOCAL(job->y), LOCAL(job->b), local, GHOSTLY(job->x));
}

ts_status multi_quick_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x) {
  return multi_product_run(&(product){.multiply = quick_residual, .A = A, .y = r, .x = x, .b = b}, 1);
}

static ts_status smooth(const product *job, const ts_matrix *local, int p) {
  tsi_smoothing step = *job->step;
  step.w = LOCAL(step.w), step.b = LOCAL(step.b), step.before = LOCAL(step.before);
  step.x = GHOSTLY(job->x);
  return local->kind->smooth(LOCAL(job->y), local, &step);
}

ts_status multi_smooth(ts_vector *out, const ts_matrix *A, const tsi_smoothing *s) {
  return multi_product_run(&(product){.multiply = smooth, .A = A, .y = out, .x = s->x, .step = s}, 1);
}

static ts_status diagonal(const product *job, const ts_matrix *local, int p) {
  return local->kind->diagonal(LOCAL(job->y), local);
}

ts_status multi_diagonal(ts_vector *d, const ts_matrix *A) {
  return multiply_rows(&(product){.multiply = diagonal, .A = A, .y = d}, TSI_ALL_ROWS);
}
