/* Preconditioners: creation, and their interface to solvers. */
#include <stdio.h>

#include "common/core/core.h"
#include "common/core/ranks.h"
#include "common/matrix/operator.h"
#include "multigrid/multigrid.h"
#include "preconditioner.h"

/* ---- The descriptor ---- */

static ts_status check_fields(ts_context *context, const ts_preconditioner_desc *desc) {
  const tsi_preconditioner_kind *kind = tsi_preconditioner_row(desc->kind);
  if (!kind)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "kind is %d, not a ts_preconditioner_kind", desc->kind);
  const struct {
    const char *name;
    int is_set;
    unsigned field;
  } fields[] = {{"block_size", desc->block_size != 0, TSI_FIELD_BLOCK_SIZE},
                {"multigrid", desc->multigrid != NULL, TSI_FIELD_MULTIGRID},
                {"amg", desc->amg != NULL, TSI_FIELD_AMG},
                {"degree", desc->degree != 0, TSI_FIELD_DEGREE},
                {"fill", desc->fill != 0, TSI_FIELD_ILU},
                {"drop_tolerance", desc->drop_tolerance != 0, TSI_FIELD_ILU},
                {"levels", desc->levels != 0, TSI_FIELD_ILU},
                {"scaling", desc->scaling != 0, TSI_FIELD_SCALING},
                {"sweeps", desc->sweeps != 0, TSI_FIELD_ILU},
                {"apply", desc->apply != NULL, TSI_FIELD_CUSTOM},
                {"user", desc->user != NULL, TSI_FIELD_CUSTOM},
                {"symmetric", desc->symmetric != 0, TSI_FIELD_CUSTOM},
                {"products", desc->products != 0, TSI_FIELD_CUSTOM},
                {"sums", desc->sums != 0, TSI_FIELD_CUSTOM},
                {"max_factor_entries", desc->max_factor_entries != 0, TSI_FIELD_DIRECT}};
  for (size_t k = 0; k < sizeof fields / sizeof *fields; k++)
    if (fields[k].is_set && !(kind->fields & fields[k].field))
      return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "%s is set, but kind is %s, which does not use it",
                      fields[k].name, ts_preconditioner_kind_name(desc->kind));
  return tsi_check_reserved(context, "", desc->reserved, sizeof desc->reserved);
}

/* without_copy is empty if the application refused the copy. */
int tsi_preconditioner_reads_on_device(const ts_matrix *A) {
  const int is_readable = A->context->ops->amg && A->context->caps.amg_formats >> A->info.format & 1;
  return A->made_on_device || (is_readable && A->layout && A->info.symmetric && A->without_copy[0]);
}

int tsi_preconditioner_has_entries(const ts_matrix *A, ts_preconditioner_kind kind) {
  const tsi_preconditioner_kind *row = tsi_preconditioner_row(kind);
  const int on_device = row->accepts_device_entries && tsi_preconditioner_reads_on_device(A);
  const int is_readable = row->reads_entries && !A->kind->has_no_entries && !A->all_rows;
  return !row->needs_entries || A->host_copy || on_device || is_readable;
}

static ts_status check_entries(const ts_matrix *A, const tsi_preconditioner_kind *kind) {
  const char *name = ts_preconditioner_kind_name(kind->kind);
  if (kind->needs_diagonal && !tsi_knows_diagonal(A))
    return tsi_fail(A->context, TS_ERROR_INVALID_ARGUMENT,
                    "%s needs the diagonal of the matrix, but the operator was created without it", name);
  if (tsi_preconditioner_has_entries(A, kind->kind)) return TS_OK;
  if (A->kind->has_no_entries)
    return tsi_fail(A->context, TS_ERROR_UNSUPPORTED, "the matrix is %s, which %s does not support",
                    A->kind->has_no_entries, name);
  return tsi_fail(A->context, TS_ERROR_INVALID_ARGUMENT, "%s needs a matrix created with keep_host_copy", name);
}

/* ---- Creation ---- */

static void destroy_state(ts_preconditioner *M) {
  if (M->state) M->kind->destroy(M);
  M->state = NULL;
}

/* Also records the cost, the time and the memory. */
static ts_status set_up(ts_preconditioner *M, ts_status (*how)(ts_preconditioner *M)) {
  const double start = tsi_seconds();
  const size_t before = M->context->bytes_device;
  const int changes = M->matrix->changes;
  M->changes = changes - 1; /* after a failure the next solve repeats the update */
  TSI_TRY(tsi_poll(M->context));
  if (how) TSI_TRY(how(M));
  M->changes = changes;
  M->cost = (tsi_cost){0};
  if (M->kind->measure) TSI_TRY(M->kind->measure(M, &M->cost));
  M->bytes_device += M->context->bytes_device - before;
  M->seconds = tsi_seconds() - start;
  return TS_OK;
}

/* The next kind for auto after a choice has failed. */
static ts_preconditioner_kind next_choice(const ts_matrix *A, ts_preconditioner_kind failed) {
  const int is_amg = failed == TS_PRECONDITIONER_ILU && tsi_preconditioner_is_transport(A) &&
                     tsi_preconditioner_has_entries(A, TS_PRECONDITIONER_AMG);
  return is_amg ? TS_PRECONDITIONER_AMG : tsi_preconditioner_choose_diagonal(A);
}

/* The choice of auto rests on a sample of rows. The kind may still reject the matrix when it reads all rows, or
 * turn out less effective than expected. Auto then selects another kind, and finally Jacobi. */
static ts_status confirm_choice(ts_preconditioner *M, ts_status status) {
  for (;;) {
    char why[180];
    const int is_refused =
        status == TS_ERROR_INVALID_ARGUMENT || status == TS_ERROR_UNSUPPORTED || status == TS_ERROR_LIMIT;
    if (status < 0 && !is_refused) return status;
    if (is_refused) snprintf(why, sizeof why, "%.179s", M->context->error);
    if (!is_refused && !(M->kind->disappoints && M->kind->disappoints(M, why, sizeof why))) break;
    const ts_preconditioner_kind next = next_choice(M->matrix, M->kind->kind);
    if (next == M->kind->kind) return status;
    tsi_clear_error(M->context);
    destroy_state(M);
    if (!M->left_out) M->left_out = M->kind->kind;
    M->kind = tsi_preconditioner_row(next);
    M->desc.kind = next;
    M->bytes_device = 0;
    snprintf(M->choice, sizeof M->choice, "%s: %s", ts_preconditioner_kind_name(next), why);
    status = set_up(M, M->kind->create);
  }
  tsi_log(M->context, TS_LOG_LEVEL_INFO, "preconditioner %s", M->choice);
  return TS_OK;
}

/* M is new, except for its choice if the kind was auto. */
static ts_status build(ts_preconditioner *M, ts_matrix *A, const ts_preconditioner_desc *desc) {
  const tsi_preconditioner_kind *asked = tsi_preconditioner_row(desc->kind);
  M->context = A->context;
  M->references = 1;
  M->matrix = A;
  M->desc = *desc;
  if (asked->choose) TSI_TRY(asked->choose(A, M->rtol, &M->desc.kind, M->choice, sizeof M->choice));
  M->kind = tsi_preconditioner_row(M->desc.kind);
  TSI_TRY(check_entries(A, M->kind));
  if (M->kind->resolve) TSI_TRY(M->kind->resolve(A, &M->desc));
  const ts_status status = set_up(M, M->kind->create);
  return asked->choose ? confirm_choice(M, status) : status;
}

ts_status tsi_preconditioner_create_for(ts_matrix *A, const ts_preconditioner_desc *desc, double rtol,
                                        ts_preconditioner **out) {
  ts_preconditioner *M = tsi_calloc(A->context, 1, sizeof *M);
  if (!M) return tsi_out_of_memory(A->context, "a preconditioner", sizeof *M);
  M->rtol = rtol;
  const ts_status status = build(M, A, desc);
  if (status < 0) {
    destroy_state(M);
    tsi_free(A->context, M);
    return status;
  }
  A->references++;
  *out = M;
  return TS_OK;
}

ts_status tsi_preconditioner_create(ts_matrix *A, const ts_preconditioner_desc *desc, ts_preconditioner **out) {
  return tsi_preconditioner_create_for(A, desc, 0, out);
}

static ts_status create(ts_matrix *A, const ts_preconditioner_desc *desc, ts_preconditioner **M) {
  TSI_TRY(check_fields(A->context, desc));
  if (!A->has_diagonal)
    return tsi_fail(
        A->context, TS_ERROR_INVALID_ARGUMENT,
        "a preconditioner needs a square matrix with one space for rows and columns; this one is %d x %d",
        A->info.rows, A->info.columns);
  return tsi_preconditioner_create(A, desc, M);
}

ts_status ts_preconditioner_create(ts_matrix *matrix, const ts_preconditioner_desc *desc,
                                   ts_preconditioner **preconditioner) {
  static const ts_preconditioner_desc defaults;
  if (!desc) desc = &defaults;
  if (!matrix && desc->multigrid) matrix = desc->multigrid->matrix;
  TSI_BEGIN(matrix, matrix->context);
  ts_context *context = matrix->context;
  TSI_REQUIRE(context, preconditioner);
  *preconditioner = NULL;
  tsi_begin_together(context);
  const ts_status status = tsi_end_together(context, create(matrix, desc, preconditioner));
  if (status < 0) ts_preconditioner_destroy(preconditioner);
  return status;
}

void tsi_preconditioner_retain(ts_preconditioner *M) {
  M->references++;
}

void ts_preconditioner_destroy(ts_preconditioner **preconditioner) {
  if (!preconditioner || !*preconditioner) return;
  ts_preconditioner *M = *preconditioner;
  *preconditioner = NULL;
  if (--M->references > 0) return;
  ts_context *context = M->context;
  tsi_stay_begin(context);
  destroy_state(M);
  tsi_enter_to_destroy(context);
  tsi_matrix_release(M->matrix);
  tsi_leave(context, TS_OK);
  tsi_stay_end(context, TS_OK);
  tsi_free(context, M);
}

ts_status ts_preconditioner_update(ts_preconditioner *preconditioner) {
  TSI_BEGIN(preconditioner, preconditioner->context);
  tsi_begin_together(preconditioner->context);
  return tsi_end_together(preconditioner->context, set_up(preconditioner, preconditioner->kind->update));
}

/* ---- Information ---- */

ts_status ts_preconditioner_get_info(const ts_preconditioner *preconditioner, ts_preconditioner_info *info) {
  TSI_BEGIN(preconditioner, preconditioner->context);
  const ts_preconditioner *M = preconditioner;
  TSI_REQUIRE(M->context, info);
  *info = (ts_preconditioner_info){.kind = M->kind->kind,
                                   .choice = M->choice,
                                   .products = M->cost.products,
                                   .sums = M->cost.sums,
                                   .operations = M->cost.operations,
                                   .symmetric = tsi_preconditioner_is_symmetric(M),
                                   .seconds_setup = M->seconds,
                                   .bytes_device = M->bytes_device,
                                   .factors = ""};
  if (M->kind->describe) M->kind->describe(M, info);
  return TS_OK;
}

ts_status tsi_preconditioner_products(const ts_preconditioner *M, double entries, double *products) {
  const ts_matrix *A = M->matrix;
  double counts[2] = {entries, (double)A->info.nonzeros};
  if (A->all_rows) TSI_TRY(A->context->ops->ranks->add(A->context, counts, 2));
  *products = counts[1] > 0 ? counts[0] / counts[1] : 0;
  return TS_OK;
}

/* ---- Application ---- */

ts_status tsi_preconditioner_prepare(ts_preconditioner *M, int components) {
  if (!M->kind->prepare) return TS_OK;
  const size_t before = M->context->bytes_device;
  const ts_status status = M->kind->prepare(M, components);
  M->bytes_device += M->context->bytes_device - before;
  return status;
}

static ts_status apply_diagonal(const ts_preconditioner *M, ts_vector *z, const ts_vector *r) {
  TSI_TRY(M->kind->write_diagonal(M, z));
  return M->context->ops->multiply(z, z, r);
}

ts_status ts_preconditioner_apply(ts_preconditioner *preconditioner, ts_vector *z, const ts_vector *r) {
  TSI_REQUIRE(NULL, preconditioner);
  ts_preconditioner *M = preconditioner;
  ts_context *context = M->context;
  tsi_clear_error(context);
  TSI_REQUIRE(context, z);
  TSI_REQUIRE(context, r);
  const ts_space *space = M->matrix->row_space;
  TSI_TRY(
      tsi_check_space(z, space, "z", "the preconditioner", "the matrix's space", "ts_matrix_get_row_space"));
  TSI_TRY(
      tsi_check_space(r, space, "r", "the preconditioner", "the matrix's space", "ts_matrix_get_row_space"));
  if (z == r) return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "z is r");
  if (z->components != r->components)
    return tsi_fail(context, TS_ERROR_INCOMPATIBLE, "z has %d components and r %d", z->components,
                    r->components);
  TSI_TRY(tsi_preconditioner_prepare(M, r->components));
  TSI_TRY(TSI_ENTER_WITH(context, z, r));
  ts_status status = tsi_clear_low(z); /* most kinds write only the first part */
  if (status == TS_OK)
    status = tsi_preconditioner_is_diagonal(M) ? apply_diagonal(M, z, r) : tsi_precondition(M, z, r);
  const int exponent = tsi_preconditioner_exponent(M);
  if (status == TS_OK && tsi_preconditioner_is_negated(M)) status = tsi_negate(z);
  if (status == TS_OK && exponent) status = tsi_multiply_by_power(z, -exponent);
  return tsi_leave(context, status);
}
