/* The matrices of the check backend are those of the wrapped backend, with a kind whose products are
 * watched. */
#include "check/core/check.h"

static ts_status written(const char *operation, const ts_vector *v, int parts) {
  check_count(v->context, operation);
  return check_parts(operation, v, parts, 1);
}

static ts_status check_quick_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A,
                                      const ts_vector *x) {
  if (r->impl != b->impl) TSI_TRY(check_poison(r));
  TSI_TRY(check_inner_kind(A)->quick_residual(r, b, A, x));
  return written("quick_residual", r, 1);
}

static ts_status check_smooth(ts_vector *out, const ts_matrix *A, const tsi_smoothing *s) {
  if (!s->before || out->impl != s->before->impl) TSI_TRY(check_poison(out));
  TSI_TRY(check_inner_kind(A)->smooth(out, A, s));
  return written("smooth", out, 1);
}

static ts_status check_smooth_all(ts_vector *x, const ts_matrix *A, const tsi_smoothing *steps, int count,
                                  int *done) {
  TSI_TRY(check_poison(x));
  TSI_TRY(check_inner_kind(A)->smooth_all(x, A, steps, count, done));
  return *done ? written("smooth_all", x, 1) : TS_OK;
}

static const check_kind *kind_around(check_state *state, ts_context *context, const tsi_matrix_kind *inner) {
  for (const check_kind *k = state->kinds; k; k = k->next)
    if (k->inner == inner) return k;
  check_kind *k = tsi_calloc(context, 1, sizeof *k);
  if (!k) return NULL;
  *k = (check_kind){.kind = {.destroy = inner->destroy,
                             TSI_MATRIX_OPERATIONS(TSI_ENTRY, check_).cg = inner->cg,
                             .quick_residual = inner->quick_residual ? check_quick_residual : NULL,
                             .smooth = inner->smooth ? check_smooth : NULL,
                             .smooth_all = inner->smooth_all ? check_smooth_all : NULL,
                             .has_no_entries = inner->has_no_entries,
                             .has_constrained = inner->has_constrained,
                             .drop_constrained = inner->drop_constrained},
                    .inner = inner,
                    .next = state->kinds};
  state->kinds = k;
  return k;
}

ts_status check_watch_products(ts_matrix *A) {
  const check_kind *k = kind_around(check_state_of(A->context), A->context, A->kind);
  if (!k) {
    A->kind->destroy(A);
    return tsi_out_of_memory(A->context, "a check", sizeof *k);
  }
  A->kind = &k->kind;
  return TS_OK;
}

ts_status check_matrix_create(ts_matrix *A, const tsi_packed *packed) {
  TSI_TRY(check_state_of(A->context)->inner->matrix_create(A, packed));
  return check_watch_products(A);
}

ts_status check_spmv(ts_vector *y, const ts_matrix *A, const ts_vector *x) {
  TSI_TRY(check_poison_pair(y));
  TSI_TRY(check_inner_kind(A)->spmv(y, A, x));
  return written("spmv", y, 2);
}

ts_status check_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x) {
  if (r->impl != b->impl) TSI_TRY(check_poison_pair(r));
  TSI_TRY(check_inner_kind(A)->residual(r, b, A, x));
  return written("residual", r, 2);
}

ts_status check_diagonal(ts_vector *d, const ts_matrix *A) {
  TSI_TRY(check_poison(d));
  TSI_TRY(check_inner_kind(A)->diagonal(d, A));
  return written("diagonal", d, 1);
}
