/* TS_PRECONDITIONER_DIRECT: z = A^-1 r by factors on the host (direct.c), in double precision. r is read from
 * the device and z is written to it. Every backend therefore supports it, at the price of one host
 * synchronisation. */
#include <math.h>

#include "common/core/core.h"
#include "common/matrix/csr.h"
#include "direct.h"
#include "preconditioner.h"

static const double default_entries = 1e8; /* 1.2 GB */

static ts_status resolve(const ts_matrix *A, ts_preconditioner_desc *desc) {
  if (A->kind->has_no_entries)
    return tsi_fail(A->context, TS_ERROR_UNSUPPORTED, "the matrix is %s, which direct does not support",
                    A->kind->has_no_entries);
  if (A->all_rows)
    return tsi_fail(A->context, TS_ERROR_UNSUPPORTED,
                    "the matrix is made of the rows of ranks; direct needs it in one process");
  if (!(desc->max_factor_entries >= 0) || isinf(desc->max_factor_entries))
    return tsi_fail(A->context, TS_ERROR_INVALID_ARGUMENT,
                    "max_factor_entries is %g; it must be a number of at least 0", desc->max_factor_entries);
  if (desc->max_factor_entries == 0) desc->max_factor_entries = default_entries;
  return TS_OK;
}

static void destroy(ts_preconditioner *M) {
  tsi_direct_applied *s = M->state;
  tsi_direct_drop(M->context, s);
  tsi_free(M->context, s);
}

static ts_status factor(const ts_preconditioner *M, tsi_direct **out) {
  const ts_matrix *A = M->matrix;
  tsi_matrix_entries entries;
  *out = NULL;
  TSI_TRY(tsi_matrix_read(A, &entries));
  const ts_status status =
      tsi_direct_create(M->context, &entries.csr, A->row_space->constrained, M->desc.max_factor_entries, out);
  tsi_matrix_entries_free(M->context, &entries);
  return status;
}

static ts_status create(ts_preconditioner *M) {
  tsi_direct_applied *s = tsi_calloc(M->context, 1, sizeof *s);
  if (!s) return tsi_out_of_memory(M->context, "a preconditioner", sizeof *s);
  M->state = s;
  return factor(M, &s->direct); /* if it fails, `destroy` frees s */
}

/* Repeats the analysis, because other values may be zeros. */
static ts_status update(ts_preconditioner *M) {
  tsi_direct_applied *s = M->state;
  tsi_direct *made;
  TSI_TRY(factor(M, &made));
  tsi_direct_destroy(M->context, s->direct);
  s->direct = made;
  return TS_OK;
}

static ts_status measure(const ts_preconditioner *M, tsi_cost *cost) {
  const tsi_direct *d = ((const tsi_direct_applied *)M->state)->direct;
  cost->operations = 2;
  cost->waits = 1;
  return tsi_preconditioner_products(M, d->method->reads * d->entries, &cost->products);
}

static int is_symmetric(const ts_preconditioner *M) {
  const tsi_direct *d = ((const tsi_direct_applied *)M->state)->direct;
  return d->is_cholesky && d->sign > 0;
}

static ts_status prepare(const ts_preconditioner *M, int components) {
  return tsi_direct_prepare(M->context, M->state, components);
}

static ts_status apply(const ts_preconditioner *M, ts_vector *z, const ts_vector *r) {
  return tsi_direct_apply(M->state, z, r);
}

static void describe(const ts_preconditioner *M, ts_preconditioner_info *info) {
  const tsi_direct *d = ((const tsi_direct_applied *)M->state)->direct;
  info->factors = d->method->name;
  info->factor_entries = (int64_t)d->entries;
}

const tsi_preconditioner_kind tsi_preconditioner_direct = {
    .kind = TS_PRECONDITIONER_DIRECT,
    .fields = TSI_FIELD_DIRECT,
    .is_from_matrix = 1,
    .is_exact = 1,
    .is_double = 1,
    .has_scale = 1,
    .unsymmetric = "direct finds that the matrix is not symmetric and positive definite, as cg needs",
    .resolve = resolve,
    .create = create,
    .update = update,
    .destroy = destroy,
    .measure = measure,
    .describe = describe,
    .is_symmetric = is_symmetric,
    .prepare = prepare,
    .apply = apply};
