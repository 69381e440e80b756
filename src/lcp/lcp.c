/* Complementarity problems: the descriptor, its limits, queries and replacements. */
#include <math.h>
#include <string.h>

#include "lcp.h"

/* ---- Names ---- */

#define CASE_TEXT(name, value, text)                                                                           \
  case name:                                                                                                   \
    return text;

const char *ts_lcp_scheme_name(ts_lcp_scheme scheme) {
  switch (scheme) { TS_LCP_SCHEME_LIST(CASE_TEXT) }
  return NULL;
}

int ts_lcp_scheme_from_name(const char *name) {
  for (int k = 0; name && ts_lcp_scheme_name((ts_lcp_scheme)k); k++)
    if (strcmp(name, ts_lcp_scheme_name((ts_lcp_scheme)k)) == 0) return k;
  return -1;
}

const char *ts_lcp_local_name(ts_lcp_local local) {
  switch (local) { TS_LCP_LOCAL_LIST(CASE_TEXT) }
  return NULL;
}

int ts_lcp_local_from_name(const char *name) {
  for (int k = 0; name && ts_lcp_local_name((ts_lcp_local)k); k++)
    if (strcmp(name, ts_lcp_local_name((ts_lcp_local)k)) == 0) return k;
  return -1;
}

const char *ts_lcp_storage_name(ts_lcp_storage storage) {
  switch (storage) { TS_LCP_STORAGE_LIST(CASE_TEXT) }
  return NULL;
}

int ts_lcp_storage_from_name(const char *name) {
  for (int k = 0; name && ts_lcp_storage_name((ts_lcp_storage)k); k++)
    if (strcmp(name, ts_lcp_storage_name((ts_lcp_storage)k)) == 0) return k;
  return -1;
}

const char *ts_lcp_acceleration_name(ts_lcp_acceleration acceleration) {
  switch (acceleration) { TS_LCP_ACCELERATION_LIST(CASE_TEXT) }
  return NULL;
}

int ts_lcp_acceleration_from_name(const char *name) {
  for (int k = 0; name && ts_lcp_acceleration_name((ts_lcp_acceleration)k); k++)
    if (strcmp(name, ts_lcp_acceleration_name((ts_lcp_acceleration)k)) == 0) return k;
  return -1;
}

ts_lcp_storage ts_lcp_scheme_storage(ts_lcp_scheme scheme) {
  if (scheme == TS_LCP_SCHEME_COLOUR) return TS_LCP_STORAGE_SPARSE;
  const int is_both = scheme <= TS_LCP_SCHEME_ROW || scheme == TS_LCP_SCHEME_GRAPH;
  return is_both ? TS_LCP_STORAGE_AUTO : TS_LCP_STORAGE_DENSE;
}

int ts_lcp_has_scheme(const ts_context *context, ts_lcp_scheme scheme) {
  if (!context || !context->ops->lcp || !ts_lcp_scheme_name(scheme)) return 0;
  return scheme == TS_LCP_SCHEME_AUTO || context->ops->lcp->scheme(context, NULL, scheme) == scheme;
}

/* ---- The descriptor ---- */

static ts_status check_sizes(ts_context *context, const ts_lcp_desc *desc) {
  const int dimension = desc->dimension ? desc->dimension : 1;
  if (!context->ops->lcp)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED, "backend %s does not support complementarity problems",
                    context->backend_name);
  TSI_TRY(tsi_check_reserved(context, "", desc->reserved, sizeof desc->reserved));
  TSI_TRY(tsi_check_precision(context, desc->precision));
  if (desc->size < 1)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "size is %d; a problem has at least 1 unknown",
                    desc->size);
  if (desc->batch < 0) return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "batch is %d", desc->batch);
  if (dimension < 1 || dimension > 3)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "dimension is %d; contacts have 2 or 3 unknowns, problems without friction 1", dimension);
  if (desc->size % dimension)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "size is %d; contacts have %d unknowns each",
                    desc->size, dimension);
  if (!ts_lcp_storage_name(desc->storage))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "storage is %d, not a ts_lcp_storage", desc->storage);
  if ((int64_t)desc->size * (desc->batch ? desc->batch : 1) > INT32_MAX / 16)
    return tsi_fail(context, TS_ERROR_LIMIT, "%d problems of %d unknowns are too many", desc->batch,
                    desc->size);
  return TS_OK;
}

/* Copies limits. On failure nothing is allocated. */
static ts_status copy(const ts_lcp *lcp, const double *from, size_t count, double **to) {
  *to = NULL;
  if (!from) return TS_OK;
  *to = tsi_malloc(lcp->context, count, sizeof **to);
  if (!*to) return tsi_out_of_memory(lcp->context, "limits", count * sizeof **to);
  memcpy(*to, from, count * sizeof **to);
  return TS_OK;
}

static ts_status check_bounds(const ts_lcp *lcp, const double *lower, const double *upper) {
  for (size_t i = 0; i < tsi_lcp_unknowns(lcp); i++) {
    const double least = lower ? lower[i] : 0, most = upper ? upper[i] : INFINITY;
    if (least <= most && least < INFINITY && most > -INFINITY) continue;
    return tsi_fail(lcp->context, TS_ERROR_INVALID_ARGUMENT, "the bounds of unknown %zu are %g and %g", i,
                    least, most);
  }
  return TS_OK;
}

static ts_status check_friction(const ts_lcp *lcp, const double *friction) {
  for (size_t k = 0; k < tsi_lcp_unknowns(lcp) / (size_t)lcp->dimension; k++)
    if (!(friction[k] >= 0 && isfinite(friction[k])))
      return tsi_fail(lcp->context, TS_ERROR_INVALID_ARGUMENT,
                      "friction of contact %zu is %g; a coefficient is at least 0 and finite", k, friction[k]);
  return TS_OK;
}

static void swap(double **a, double **b) {
  double *kept = *a;
  *a = *b;
  *b = kept;
}

/* Takes ownership of new limits. On failure the old ones stay in use. */
static ts_status replace_limits(ts_lcp *lcp, double **lower, double **upper, double **friction) {
  swap(&lcp->lower, lower), swap(&lcp->upper, upper), swap(&lcp->friction, friction);
  ts_status status = tsi_enter(lcp->context);
  if (status == TS_OK) status = tsi_leave(lcp->context, lcp->context->ops->lcp->write_limits(lcp));
  if (status < 0) swap(&lcp->lower, lower), swap(&lcp->upper, upper), swap(&lcp->friction, friction);
  tsi_free(lcp->context, *lower);
  tsi_free(lcp->context, *upper);
  tsi_free(lcp->context, *friction);
  return status;
}

static ts_status set_limits(ts_lcp *lcp, const double *lower, const double *upper, const double *friction) {
  double *new_lower = NULL, *new_upper = NULL, *new_friction = NULL;
  if (lcp->dimension == 1 && friction)
    return tsi_fail(lcp->context, TS_ERROR_INVALID_ARGUMENT, "friction is set; dimension must then be 2 or 3");
  if (lcp->dimension > 1 && (lower || upper))
    return tsi_fail(lcp->context, TS_ERROR_INVALID_ARGUMENT,
                    "bounds are set, which contacts with friction do not support");
  if (lcp->dimension > 1 && !friction)
    return tsi_fail(lcp->context, TS_ERROR_INVALID_ARGUMENT, "friction is NULL");
  TSI_TRY(friction ? check_friction(lcp, friction) : check_bounds(lcp, lower, upper));
  ts_status status = copy(lcp, lower, tsi_lcp_unknowns(lcp), &new_lower);
  if (status == TS_OK) status = copy(lcp, upper, tsi_lcp_unknowns(lcp), &new_upper);
  if (status == TS_OK)
    status = copy(lcp, friction, tsi_lcp_unknowns(lcp) / (size_t)lcp->dimension, &new_friction);
  if (status == TS_OK) return replace_limits(lcp, &new_lower, &new_upper, &new_friction);
  tsi_free(lcp->context, new_lower);
  tsi_free(lcp->context, new_upper);
  return status;
}

static ts_status write_matrix(ts_lcp *lcp, const tsi_lcp_matrix *matrix) {
  TSI_TRY(tsi_enter(lcp->context));
  return tsi_leave(lcp->context, lcp->context->ops->lcp->write_matrix(lcp, matrix));
}

/* Writes into the spare. On failure the old matrix stays in use, and the next write reuses the spare. */
static ts_status set_sparse(ts_lcp *lcp, const tsi_lcp_desc *desc) {
  tsi_lcp_sparse *made = lcp->spare, *old = lcp->sparse;
  if (!made) made = lcp->spare = tsi_calloc(lcp->context, 1, sizeof *made);
  if (!made) return tsi_out_of_memory(lcp->context, "sparse contacts", sizeof *made);
  TSI_TRY(tsi_lcp_sparse_write(lcp, desc, made));
  TSI_TRY(write_matrix(lcp, &(tsi_lcp_matrix){.sparse = made}));
  double largest = 0;
  for (size_t k = 0; k < (size_t)made->contacts * (size_t)(made->dimension * made->dimension); k++)
    largest = fmax(largest, made->diagonal[k]);
  tsi_lcp_set_target(lcp, largest);
  lcp->sparse = made;
  lcp->spare = old;
  return TS_OK;
}

static ts_status set_matrix(ts_lcp *lcp, const tsi_lcp_desc *desc) {
  tsi_lcp_matrix matrix;
  double *made = NULL;
  if (lcp->storage == TS_LCP_STORAGE_SPARSE) return set_sparse(lcp, desc);
  TSI_TRY(tsi_lcp_matrix_of(lcp, desc, &matrix, &made));
  const ts_status status = write_matrix(lcp, &matrix);
  double largest = 0;
  for (size_t i = 0, n = (size_t)lcp->size; i < tsi_lcp_unknowns(lcp); i++)
    largest =
        fmax(largest, matrix.single ? (double)matrix.single[i * n + i % n] : matrix.doubles[i * n + i % n]);
  if (status == TS_OK) tsi_lcp_set_target(lcp, largest);
  tsi_free(lcp->context, made);
  return status;
}

static ts_status create_storage(ts_lcp *lcp) {
  TSI_TRY(tsi_enter(lcp->context));
  return tsi_leave(lcp->context, lcp->context->ops->lcp->create(lcp));
}

static ts_status lcp_create(ts_lcp *lcp, const tsi_lcp_desc *desc) {
  ts_context *context = lcp->context;
  tsi_lcp_scale *scale = lcp->scale = tsi_calloc(context, 1, sizeof *lcp->scale);
  if (!scale) return tsi_out_of_memory(context, "a complementarity problem", sizeof *scale);
  const ts_precision precision = lcp->is_double ? TS_PRECISION_DOUBLE : TS_PRECISION_SINGLE;
  const ts_vector_desc vector = {.components = 1, .precision = precision};
  const ts_vector_desc pair = {.components = 1,
                               .precision = context->caps.pairs ? TS_PRECISION_DOUBLE : precision};
  const ts_space_desc space = {.size = lcp->size * lcp->batch};
  TSI_TRY(ts_space_create(context, &space, &lcp->space));
  TSI_TRY(ts_vector_create(lcp->space, &vector, &lcp->z));
  TSI_TRY(ts_vector_create(lcp->space, &vector, &lcp->best));
  TSI_TRY(ts_vector_create(lcp->space, &vector, &lcp->map));
  TSI_TRY(ts_vector_create(lcp->space, &pair, &scale->q));
  TSI_TRY(ts_vector_create(lcp->space, &vector, &scale->z));
  TSI_TRY(ts_scalars_create(context, &(ts_scalars_desc){.count = 1}, &scale->max));
  TSI_TRY(ts_scalars_create(context, &(ts_scalars_desc){.count = 2, .precision = precision}, &lcp->slots));
  TSI_TRY(create_storage(lcp));
  TSI_TRY(set_limits(lcp, desc->lower, desc->upper, desc->friction));
  return set_matrix(lcp, desc);
}

static ts_status create_given(ts_lcp *lcp, const ts_lcp_desc *desc) {
  tsi_lcp_given given = {0};
  ts_status status = tsi_lcp_matrix_given(lcp, desc, &given);
  if (status == TS_OK) status = tsi_lcp_bounds_given(lcp, &desc->lower, &desc->upper, &given);
  if (status == TS_OK) status = tsi_lcp_friction_given(lcp, &desc->friction, &given);
  lcp->storage = desc->storage ? desc->storage : tsi_lcp_choose_storage(lcp, &given.desc);
  if (status == TS_OK) status = lcp_create(lcp, &given.desc);
  tsi_loans_free(lcp->context, &given.loans);
  return status;
}

ts_status ts_lcp_create(ts_context *context, const ts_lcp_desc *desc, ts_lcp **out) {
  TSI_BEGIN(context, context);
  TSI_REQUIRE(context, out);
  *out = NULL;
  TSI_REQUIRE(context, desc);
  TSI_TRY(check_sizes(context, desc));
  ts_lcp *lcp = tsi_calloc(context, 1, sizeof *lcp);
  if (!lcp) return tsi_out_of_memory(context, "a complementarity problem", sizeof *lcp);
  lcp->context = context;
  lcp->size = desc->size;
  lcp->batch = desc->batch ? desc->batch : 1;
  lcp->dimension = desc->dimension ? desc->dimension : 1;
  lcp->is_double = desc->precision == TS_PRECISION_DOUBLE;
  tsi_stay_begin(context);
  const ts_status status = tsi_stay_end(context, create_given(lcp, desc));
  if (status < 0) {
    ts_lcp_destroy(&lcp);
    return status;
  }
  *out = lcp;
  return TS_OK;
}

void ts_lcp_destroy(ts_lcp **out) {
  if (!out || !*out) return;
  ts_lcp *lcp = *out;
  ts_context *context = lcp->context;
  tsi_stay_begin(context);
  if (lcp->impl) {
    tsi_enter_to_destroy(context);
    context->ops->lcp->destroy(lcp);
    tsi_leave(context, TS_OK);
  }
  tsi_lcp_accelerator_destroy(lcp);
  ts_vector_destroy(&lcp->z);
  ts_vector_destroy(&lcp->best);
  ts_vector_destroy(&lcp->map);
  if (lcp->scale)
    ts_vector_destroy(&lcp->scale->q), ts_vector_destroy(&lcp->scale->z), ts_scalars_destroy(&lcp->scale->max);
  tsi_free(context, lcp->scale);
  ts_scalars_destroy(&lcp->slots);
  ts_space_destroy(&lcp->space);
  tsi_stay_end(context, TS_OK);
  tsi_free(context, lcp->lower);
  tsi_free(context, lcp->upper);
  tsi_free(context, lcp->friction);
  if (lcp->sparse) tsi_keep(context, &lcp->sparse->lists), tsi_keep(context, &lcp->sparse->numbers);
  tsi_lcp_sparse_destroy(context, lcp->sparse);
  tsi_lcp_sparse_destroy(context, lcp->spare);
  tsi_free(context, lcp);
  *out = NULL;
}

/* ---- Replacements and queries ---- */

ts_status ts_lcp_set_matrix(ts_lcp *lcp, const ts_lcp_desc *desc) {
  TSI_BEGIN(lcp, lcp->context);
  TSI_REQUIRE(lcp->context, desc);
  tsi_lcp_given given = {0};
  ts_status status = tsi_lcp_matrix_given(lcp, desc, &given);
  tsi_stay_begin(lcp->context);
  if (status == TS_OK) status = set_matrix(lcp, &given.desc);
  tsi_stay_end(lcp->context, status);
  tsi_loans_free(lcp->context, &given.loans);
  return status;
}

ts_status ts_lcp_set_bounds(ts_lcp *lcp, ts_array lower, ts_array upper) {
  TSI_BEGIN(lcp, lcp->context);
  if (lcp->dimension > 1)
    return tsi_fail(lcp->context, TS_ERROR_INVALID_ARGUMENT, "contacts with friction have no bounds");
  tsi_lcp_given given = {0};
  ts_status status = tsi_lcp_bounds_given(lcp, &lower, &upper, &given);
  if (status == TS_OK) status = set_limits(lcp, given.desc.lower, given.desc.upper, NULL);
  tsi_loans_free(lcp->context, &given.loans);
  return status;
}

ts_status ts_lcp_set_friction(ts_lcp *lcp, ts_array friction) {
  TSI_BEGIN(lcp, lcp->context);
  if (lcp->dimension > 1 && !tsi_is_given(&friction))
    return tsi_fail(lcp->context, TS_ERROR_INVALID_ARGUMENT, "friction is NULL");
  tsi_lcp_given given = {0};
  ts_status status = tsi_lcp_friction_given(lcp, &friction, &given);
  if (status == TS_OK) status = set_limits(lcp, NULL, NULL, given.desc.friction);
  tsi_loans_free(lcp->context, &given.loans);
  return status;
}

ts_space *ts_lcp_get_space(const ts_lcp *lcp) {
  return lcp ? lcp->space : NULL;
}
