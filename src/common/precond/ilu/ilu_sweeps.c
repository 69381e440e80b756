/* Solves triangular systems by Jacobi sweeps (Anzt, Chow and Dongarra 2015, "Iterative sparse triangular solves
 * for preconditioning"). L y = t with ones on the diagonal of L is
 *
 *   y = t - (L - I) y,  from y = t
 *
 * It is exact after n sweeps at the latest. A few suffice for a preconditioner with factors close to their
 * diagonals. A sweep is a residual of a sparse matrix. The result is a fixed polynomial in L - I times t, so a
 * solver sees one linear operator.
 *
 * Step k of the factorisation is at index rows[k] of A's space, in the order of that space. The last product
 * moves it to columns[k]:
 *
 *   t = D_r r;  y: L y = t;  v = D^-1 y;  w: U w = v;  z = Q D_c w */
#include "ilu.h"

#include "common/matrix/csr.h"

typedef struct sweep_csr {
  int32_t *offsets, *columns;
  float *values;
} sweep_csr;

void tsi_ilu_sweeps_destroy(tsi_ilu_sweeps *s) {
  ts_matrix_destroy(&s->lower);
  ts_matrix_destroy(&s->upper);
  ts_matrix_destroy(&s->back);
  ts_vector_destroy(&s->row_scales);
  ts_vector_destroy(&s->inverse);
  for (int k = 0; k < 3; k++) ts_vector_destroy(&s->work[k]);
}

/* ---- Matrices ---- */

static ts_status upload(const ts_matrix *A, const sweep_csr *from, ts_matrix **matrix) {
  const int blocks = !A->context->caps.linear_spaces && A->layout->blocks.log2_size;
  const tsi_matrix_desc desc = {.csr = {.rows = A->info.rows,
                                        .columns = A->info.rows,
                                        .row_offsets = from->offsets,
                                        .column_indices = from->columns,
                                        .values = from->values},
                                .format = blocks ? A->info.format : TS_FORMAT_AUTO,
                                .row_space = A->row_space};
  return tsi_matrix_create_as_is(A->context, &desc, matrix);
}

/* Places the rows of a factor at the indices of A. */
static void place_factor(const tsi_ilu_order *order, const tsi_ilu_rows *rows, sweep_csr *to) {
  for (int32_t k = 0; k < order->n; k++)
    to->offsets[order->rows[k] + 1] = (int32_t)(rows->offsets[k + 1] - rows->offsets[k]);
  to->offsets[0] = 0;
  for (int32_t i = 0; i < order->n; i++) to->offsets[i + 1] += to->offsets[i];
  for (int32_t k = 0; k < order->n; k++) {
    int32_t next = to->offsets[order->rows[k]];
    for (int64_t e = rows->offsets[k]; e < rows->offsets[k + 1]; e++, next++) {
      to->columns[next] = order->rows[rows->columns[e]];
      to->values[next] = (float)rows->values[e];
    }
  }
}

static void place_back(const tsi_ilu_order *order, sweep_csr *to) {
  for (int32_t k = 0; k < order->n; k++) {
    to->offsets[k] = k;
    to->columns[order->columns[k]] = order->rows[k];
    to->values[order->columns[k]] = (float)order->column_scales[k];
  }
  to->offsets[order->n] = order->n;
}

static ts_status make_matrices(const ts_matrix *A, const tsi_ilu_order *order, const tsi_ilu_factors *factors,
                               sweep_csr *work, tsi_ilu_sweeps *s) {
  place_factor(order, &factors->lower, work);
  TSI_TRY(upload(A, work, &s->lower));
  place_factor(order, &factors->upper, work);
  TSI_TRY(upload(A, work, &s->upper));
  place_back(order, work);
  return upload(A, work, &s->back);
}

/* ---- Vectors ---- */

static ts_status make_diagonal(const tsi_ilu_order *order, const double *from, float *work, ts_space *space,
                               ts_vector **v) {
  for (int32_t k = 0; k < order->n; k++) work[order->rows[k]] = (float)from[k];
  TSI_TRY(ts_vector_create(space, &(ts_vector_desc){.components = 1}, v));
  return tsi_vector_write_floats(*v, work);
}

ts_status tsi_ilu_sweeps_create(const ts_matrix *A, const tsi_ilu_order *order, const tsi_ilu_factors *factors,
                                tsi_ilu_sweeps *s) {
  ts_context *context = A->context;
  const int64_t n = order->n, lower = factors->lower.offsets[n], upper = factors->upper.offsets[n],
                most = lower > upper ? lower : upper;
  if (most > TSI_MAX_SIZE)
    return tsi_fail(context, TS_ERROR_LIMIT, "a factor has %lld entries, more than %d", (long long)most,
                    TSI_MAX_SIZE);
  const size_t room = (size_t)(most > n ? most : n);
  sweep_csr work = {tsi_malloc(context, (size_t)n + 1, sizeof *work.offsets),
                    tsi_malloc(context, room, sizeof *work.columns),
                    tsi_malloc(context, room, sizeof *work.values)};
  ts_status status = work.offsets && work.columns && work.values
                         ? make_matrices(A, order, factors, &work, s)
                         : tsi_out_of_memory(context, "incomplete factors", 8 * room);
  if (status == TS_OK)
    status = make_diagonal(order, order->row_scales, work.values, A->row_space, &s->row_scales);
  if (status == TS_OK) status = make_diagonal(order, factors->inverse, work.values, A->row_space, &s->inverse);
  tsi_free(context, work.offsets);
  tsi_free(context, work.columns);
  tsi_free(context, work.values);
  if (status < 0) tsi_ilu_sweeps_destroy(s);
  return status;
}

ts_status tsi_ilu_sweeps_prepare(const ts_matrix *A, int components, tsi_ilu_sweeps *s) {
  if (s->work[2] && s->work[2]->components == components) return TS_OK;
  for (int k = 0; k < 3; k++) ts_vector_destroy(&s->work[k]);
  for (int k = 0; k < 3; k++)
    TSI_TRY(ts_vector_create(A->row_space, &(ts_vector_desc){.components = components}, &s->work[k]));
  return TS_OK;
}

/* ---- Application ---- */

/* Performs the sweeps, starting from `right` = t. On return, *v is the result; it may have been exchanged with
 * *other. */
static ts_status sweep(const ts_matrix *strict, int sweeps, const ts_vector *right, ts_vector **v,
                       ts_vector **other) {
  const ts_vector *from = right;
  for (int k = 0; k < sweeps; k++) {
    TSI_TRY(tsi_quick_residual(*other, right, strict, from));
    ts_vector *const next = *v;
    from = *v = *other;
    *other = next;
  }
  return TS_OK;
}

ts_status tsi_ilu_sweeps_apply(const tsi_ilu_sweeps *s, int count, ts_vector *z, const ts_vector *r) {
  const tsi_ops *ops = z->context->ops;
  const ts_vector given = tsi_first_part(r);
  ts_vector first = tsi_first_part(z), *v = s->work[1], *other = s->work[2];
  TSI_TRY(ops->multiply(s->work[0], s->row_scales, &given));
  TSI_TRY(sweep(s->lower, count, s->work[0], &v, &other));
  TSI_TRY(ops->multiply(s->work[0], s->inverse, v));
  TSI_TRY(sweep(s->upper, count, s->work[0], &v, &other));
  return tsi_spmv(&first, s->back, v);
}
