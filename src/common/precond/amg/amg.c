/* Smoothed aggregation as a preconditioner: its descriptor, and the hierarchy on the device. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/matrix/csr.h"
#include "amg_halo.h"
#include "common/layout/layout.h"

/* ---- Names ---- */

static const char *const smoother_names[] = {
#define NAME(name, value, text) text,
    TS_AMG_SMOOTHER_LIST(NAME)
#undef NAME
};
enum { SMOOTHERS = sizeof smoother_names / sizeof *smoother_names };

const char *ts_amg_smoother_name(ts_amg_smoother smoother) {
  return (int)smoother >= 0 && (int)smoother < SMOOTHERS ? smoother_names[smoother] : NULL;
}

int ts_amg_smoother_from_name(const char *name) {
  for (int k = 0; name && k < SMOOTHERS; k++)
    if (!strcmp(name, smoother_names[k])) return k;
  return -1;
}

/* ---- The descriptor ---- */

static ts_status check_range(ts_context *context, const char *name, int *value, int most, int standard) {
  if (*value < 0 || *value > most)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "amg.%s is %d; it must be 1 to %d, or 0 for the default", name, *value, most);
  if (*value == 0) *value = standard;
  return TS_OK;
}

/* Checks that all numbers of an array are finite. */
static ts_status check_array(ts_context *context, const char *name, const double *values, size_t count,
                             int columns) {
  for (size_t i = 0; i < count; i++)
    if (!isfinite(values[i]))
      return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "amg.%s[%zu][%zu] is %g", name, i / (size_t)columns,
                      i % (size_t)columns, values[i]);
  return TS_OK;
}

/* Replaces the array by one of doubles on the host. */
static ts_status borrow_array(ts_context *context, const char *name, ts_array *array, size_t count,
                              tsi_loans *loans) {
  const double *doubles;
  TSI_TRY(tsi_array_borrow_doubles(context, name, array, count, loans, &doubles));
  *array = ts_host(doubles, count);
  return TS_OK;
}

static ts_status check_near_null(ts_context *context, int32_t rows, ts_amg_desc *desc, tsi_loans *loans) {
  if (!tsi_doubles(&desc->near_null) != !desc->near_null_vectors)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "amg.near_null_vectors is %d and amg.near_null is %s",
                    desc->near_null_vectors, tsi_doubles(&desc->near_null) ? "given" : "NULL");
  if (!tsi_doubles(&desc->coordinates) != !desc->dimensions)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "amg.dimensions is %d and amg.coordinates is %s",
                    desc->dimensions, tsi_doubles(&desc->coordinates) ? "given" : "NULL");
  if (tsi_doubles(&desc->near_null) && tsi_doubles(&desc->coordinates))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "amg.near_null and amg.coordinates are both given");
  if (tsi_doubles(&desc->near_null)) {
    const size_t count = (size_t)rows * (size_t)desc->near_null_vectors;
    TSI_TRY(borrow_array(context, "amg.near_null", &desc->near_null, count, loans));
    return check_array(context, "near_null", tsi_doubles(&desc->near_null), count, desc->near_null_vectors);
  }
  if (!tsi_doubles(&desc->coordinates)) return TS_OK;
  if (desc->dimensions < 2 || desc->dimensions > 3)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "amg.dimensions is %d; it must be 2 or 3",
                    desc->dimensions);
  if (desc->unknowns != desc->dimensions)
    return tsi_fail(
        context, TS_ERROR_INVALID_ARGUMENT,
        "amg.unknowns is %d and amg.dimensions %d; with coordinates a node has one unknown per dimension",
        desc->unknowns, desc->dimensions);
  const size_t count = (size_t)(rows / desc->unknowns) * (size_t)desc->dimensions;
  TSI_TRY(borrow_array(context, "amg.coordinates", &desc->coordinates, count, loans));
  return check_array(context, "coordinates", tsi_doubles(&desc->coordinates), count, desc->dimensions);
}

/* If the matrix is not symmetric, auto stays, and so does sweeps = 0: the set-up makes polynomials for the
 * levels. */
static ts_status resolve_smoother(const ts_matrix *A, ts_amg_desc *desc) {
  const int is_own = desc->smoother == TS_AMG_SMOOTHER_AUTO && !A->info.symmetric;
  if (!A->info.symmetric &&
      (desc->smoother == TS_AMG_SMOOTHER_CHEBYSHEV || desc->smoother == TS_AMG_SMOOTHER_CHEBYSHEV4))
    return tsi_fail(
        A->context, TS_ERROR_INVALID_ARGUMENT,
        "amg.smoother is %s, which needs a symmetric matrix; the entries (%d, %d) and (%d, %d) differ",
        ts_amg_smoother_name(desc->smoother), A->info.unsymmetric_row, A->info.unsymmetric_column,
        A->info.unsymmetric_column, A->info.unsymmetric_row);
  if (desc->smoother == TS_AMG_SMOOTHER_AUTO && !is_own) desc->smoother = TS_AMG_SMOOTHER_CHEBYSHEV;
  return check_range(A->context, "sweeps", &desc->sweeps, 16, is_own ? 0 : 2);
}

/* Resolves the descriptor; `loans` own the converted arrays. */
static ts_status resolve(const ts_matrix *A, ts_amg_desc *desc, tsi_loans *loans) {
  ts_context *context = A->context;
  const int32_t rows = A->info.rows;
  if (!ts_amg_smoother_name(desc->smoother))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "amg.smoother is %d, not a ts_amg_smoother",
                    (int)desc->smoother);
  if (isnan(desc->strength) || desc->strength >= 1)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "amg.strength is %g; it must be below 1",
                    desc->strength);
  TSI_TRY(resolve_smoother(A, desc));
  TSI_TRY(check_range(context, "visits", &desc->visits, 2, 2));
  TSI_TRY(check_range(context, "max_levels", &desc->max_levels, TSI_AMG_MAX_LEVELS, TSI_AMG_MAX_LEVELS));
  TSI_TRY(check_range(context, "coarsest", &desc->coarsest, 1000, 500));
  TSI_TRY(check_range(context, "unknowns", &desc->unknowns, 8, desc->dimensions ? desc->dimensions : 1));
  const double usual = desc->unknowns > 1 ? 0.02 : A->info.symmetric ? 0.08 : 0.15;
  desc->strength = desc->strength == 0 ? usual : fmax(0, desc->strength);
  if (rows % desc->unknowns)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "amg.unknowns is %d; the matrix has %d rows, not a multiple of it", desc->unknowns, rows);
  if (desc->near_null_vectors < 0 || desc->near_null_vectors > 8)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "amg.near_null_vectors is %d; it must be 0 to 8",
                    desc->near_null_vectors);
  TSI_TRY(check_near_null(context, rows, desc, loans));
  return tsi_check_reserved(context, "amg.", desc->reserved, sizeof desc->reserved);
}

/* ---- The matrix ---- */

static ts_status check_matrix(const ts_matrix *A) {
  if (A->context->ops->ranks && !A->all_rows && A->context->ops->ranks->is_of_ranks(A->row_space))
    return tsi_fail(A->context, TS_ERROR_UNSUPPORTED,
                    "the matrix is rank-local; amg over several ranks needs one of ts_ranks_matrix_create");
  return TS_OK;
}

/* Required over several ranks, or by a hierarchy created for symmetric values. */
static ts_status check_symmetry(const ts_matrix *A, const char *what) {
  if (A->info.symmetric) return TS_OK;
  return tsi_fail(A->context, TS_ERROR_INVALID_ARGUMENT,
                  "%s needs a symmetric matrix; the entries (%d, %d) and (%d, %d) differ", what,
                  A->info.unsymmetric_row, A->info.unsymmetric_column, A->info.unsymmetric_column,
                  A->info.unsymmetric_row);
}

ts_status tsi_amg_refuse_row(ts_context *context, int32_t row, float diagonal) {
  return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                  "amg needs a matrix that is positive on the diagonal; row %d has %g there", row,
                  (double)diagonal);
}

int32_t tsi_amg_bad_row(const ts_matrix *A, const tsi_amg_csr *csr, float *diagonal) {
  const unsigned char *constrained = A->row_space->constrained;
  for (int32_t i = 0; i < csr->rows; i++) {
    *diagonal = 0;
    for (int32_t e = csr->offsets[i]; e < csr->offsets[i + 1]; e++)
      if (csr->indices[e] == i) *diagonal = csr->values[e];
    if (!(*diagonal > 0) && !(constrained && constrained[i])) return i;
  }
  return -1;
}

static ts_status check_diagonal(const ts_matrix *A, const tsi_amg_csr *csr) {
  float diagonal = 0;
  const int32_t row = tsi_amg_bad_row(A, csr, &diagonal);
  return row < 0 ? TS_OK : tsi_amg_refuse_row(A->context, row, diagonal);
}

static ts_status copy_matrix(const ts_matrix *A, tsi_amg_csr *csr) {
  tsi_csr copy;
  TSI_TRY(tsi_matrix_stored_copy(A, &copy));
  *csr = (tsi_amg_csr){copy.rows, copy.columns, (int32_t *)copy.row_offsets, (int32_t *)copy.column_indices,
                       (float *)copy.values};
  return TS_OK;
}

/* ---- Upload ---- */

static tsi_csr view(const tsi_amg_csr *A) {
  return (tsi_csr){.rows = A->rows,
                   .columns = A->columns,
                   .row_offsets = A->offsets,
                   .column_indices = A->indices,
                   .values = A->values};
}

/* If A has blocks, so have the matrices connected to it. If A is csr, the choice of a format would take a tenth
 * of the set-up. */
static ts_format format_below(const ts_matrix *A) {
  const int same = A->row_space->tiling.log2_block || A->info.format == TS_FORMAT_CSR;
  return same ? A->info.format : TS_FORMAT_AUTO;
}

/* Creates a matrix, or replaces the values of an existing one. */
static ts_status upload_as(const tsi_amg *amg, ts_format format, const tsi_csr *csr, ts_space *rows,
                           ts_space *columns, ts_matrix **matrix) {
  if (*matrix)
    return (*matrix)->row_space->constrained ? tsi_matrix_set_values_as_is(*matrix, csr)
                                             : tsi_matrix_set_values_unchecked(*matrix, csr);
  const tsi_matrix_desc desc = {.csr = *csr, .format = format, .row_space = rows, .column_space = columns};
  return tsi_matrix_create_as_is(amg->context, &desc, matrix);
}

/* Uploads a matrix of the hierarchy. Its arrays are used without a copy if the backend can refer to them. */
static ts_status upload(const tsi_amg *amg, const tsi_amg_csr *A, ts_space *rows, ts_space *columns,
                        ts_matrix **matrix) {
  ts_context *context = amg->context;
  const ts_format format = format_below(amg->level[0].A);
  const tsi_matrix_desc desc = {.csr = view(A), .row_space = rows, .column_space = columns};
  if (format != TS_FORMAT_CSR || !context->ops->matrix_refer)
    return upload_as(amg, format, &desc.csr, rows, columns, matrix);
  if (*matrix) return TS_OK;
  TSI_TRY(tsi_enter(context));
  return tsi_leave(context, context->ops->matrix_refer(context, &desc, matrix));
}

static ts_status upload_inverse(tsi_amg *amg) {
  const tsi_amg_host *host = &amg->host;
  if (!host->inverse) return TS_OK;
  const int32_t rows = host->level[host->levels - 1].A.rows;
  tsi_amg_csr dense;
  TSI_TRY(tsi_amg_csr_create(amg->context, rows, rows, (int64_t)rows * rows, &dense));
  for (int32_t i = 0; i <= rows; i++) dense.offsets[i] = i * rows;
  for (int32_t e = 0; e < rows * rows; e++) {
    dense.indices[e] = e % rows;
    dense.values[e] = host->inverse[e];
  }
  const tsi_csr csr = view(&dense);
  ts_space *space = ts_matrix_get_row_space(amg->level[amg->levels - 1].A);
  const int has_csr = (amg->context->caps.formats & 1u << TS_FORMAT_CSR) != 0;
  const ts_format format = has_csr ? TS_FORMAT_CSR : format_below(amg->level[0].A);
  const ts_status status = upload_as(amg, format, &csr, space, NULL, &amg->inverse);
  tsi_amg_csr_free(amg->context, &dense);
  return status;
}

static ts_status upload_levels(tsi_amg *amg) {
  const tsi_amg_host *host = &amg->host;
  for (int l = 0; l + 1 < amg->levels; l++) {
    tsi_amg_level *fine = &amg->level[l], *coarse = fine + 1;
    TSI_TRY(tsi_poll(amg->context));
    TSI_TRY(upload(amg, &host->level[l + 1].A, NULL, NULL, &coarse->A));
    ts_space *of_fine = ts_matrix_get_row_space(fine->A), *of_coarse = ts_matrix_get_row_space(coarse->A);
    TSI_TRY(upload(amg, &host->level[l].P, of_fine, of_coarse, &fine->P));
    TSI_TRY(upload(amg, &host->level[l].R, of_coarse, of_fine, &fine->R));
  }
  return TS_OK;
}

static ts_status measure_level(const tsi_amg *amg, tsi_amg_level *level) {
  const ts_matrix_info *of = &level->A->info;
  double counts[3] = {of->rows, (double)of->nonzeros};
  if (level->P) counts[2] = (double)level->P->info.nonzeros + (double)level->R->info.nonzeros;
  if (amg->level[0].A->all_rows) TSI_TRY(amg->context->ops->ranks->add(amg->context, counts, 3));
  level->rows = (int64_t)counts[0];
  level->entries = (int64_t)counts[1];
  level->transfers = counts[2];
  return TS_OK;
}

static ts_status measure(tsi_amg *amg, double seconds) {
  ts_amg_info *info = &amg->info;
  *info = (ts_amg_info){.levels = amg->levels, .seconds = seconds};
  const tsi_amg_level *first = &amg->level[0];
  for (int l = 0; l < amg->levels; l++) {
    tsi_amg_level *level = &amg->level[l];
    TSI_TRY(measure_level(amg, level));
    info->operator_complexity += (double)level->entries / fmax(1, (double)first->entries);
    info->grid_complexity += (double)level->rows / (double)first->rows;
  }
  info->stalled = !tsi_amg_ends_exactly(amg) && amg->levels < amg->desc.max_levels;
  return TS_OK;
}

/* ---- A level on the host ---- */

ts_status tsi_amg_read_level(const tsi_amg *amg, int l, tsi_amg_csr *A) {
  if (l == 0 && amg->level[0].A->all_rows) {
    tsi_amg_halo *halo;
    TSI_TRY(tsi_amg_copy_rows(amg->level[0].A, amg->desc.unknowns, A, &halo));
    tsi_amg_halo_free(amg->context, halo);
    return TS_OK;
  }
  if (l == 0) return copy_matrix(amg->level[0].A, A);
  if (amg->device) return amg->context->ops->amg->read(amg->level[l].A, A);
  *A = amg->host.level[l].A;
  return TS_OK;
}

void tsi_amg_forget_level(const tsi_amg *amg, int l, tsi_amg_csr *A) {
  if (l > 0 ? amg->device != NULL : amg->level[0].A->all_rows > 0) tsi_amg_csr_free(amg->context, A);
}

/* ---- Creation ---- */

static ts_status make_host_levels(tsi_amg *amg, const tsi_amg_csr *A, int keep) {
  ts_context *context = amg->context;
  if (amg->is_unsymmetric) return tsi_amg_setup_unsymmetric(context, &amg->desc, A, keep, &amg->host);
  if (amg->depth > 0) return tsi_amg_setup_below(context, &amg->desc, A, amg->depth, &amg->host);
  return tsi_amg_setup(context, &amg->desc, A, keep, &amg->host);
}

static ts_status set_up_on_host(tsi_amg *amg, int keep) {
  tsi_amg_csr A;
  TSI_TRY(tsi_matrix_keep_host_copy(amg->level[0].A));
  TSI_TRY(copy_matrix(amg->level[0].A, &A));
  if (amg->depth == 0) TSI_TRY(check_diagonal(amg->level[0].A, &A));
  TSI_TRY(make_host_levels(amg, &A, keep));
  amg->levels = amg->host.levels;
  for (int l = 0; l < amg->levels; l++) amg->level[l].eigenvalue = amg->host.level[l].eigenvalue;
  return upload_levels(amg);
}

static ts_status set_up_rows(tsi_amg *amg, const tsi_amg_csr *A, tsi_amg_halo *halo) {
  const ts_status status = tsi_amg_check_rows(amg->level[0].A, &amg->desc, A);
  if (status < 0) {
    tsi_amg_halo_free(amg->context, halo);
    return status;
  }
  TSI_TRY(tsi_amg_setup_on_ranks(amg->context, &amg->desc, A, halo, &amg->host));
  amg->levels = amg->host.levels;
  for (int l = 0; l < amg->levels; l++) amg->level[l].eigenvalue = amg->host.level[l].eigenvalue;
  return tsi_amg_upload_on_ranks(amg);
}

/* Used only once, because matrices of ranks keep their values. */
static ts_status set_up_on_ranks(tsi_amg *amg) {
  tsi_amg_csr A;
  tsi_amg_halo *halo;
  TSI_TRY(tsi_amg_copy_rows(amg->level[0].A, amg->desc.unknowns, &A, &halo));
  const ts_status status = set_up_rows(amg, &A, halo);
  tsi_amg_csr_free(amg->context, &A);
  amg->host.level[0].A = (tsi_amg_csr){0};
  return status;
}

static ts_status set_up_on_device(tsi_amg *amg) {
  TSI_TRY(tsi_enter(amg->context));
  TSI_TRY(tsi_leave(amg->context, amg->context->ops->amg->setup(amg)));
  if (!amg->device || amg->inverse) return TS_OK;
  TSI_TRY(tsi_amg_finish(amg->context, &amg->host));
  const int last = amg->levels - 1;
  amg->level[last].eigenvalue = amg->host.level[last].eigenvalue;
  return TS_OK;
}

/* Computes the matrices of the levels, or new values for those of an existing hierarchy. */
static ts_status set_up(tsi_amg *amg, int keep) {
  const ts_matrix *A = amg->level[0].A;
  if (A->all_rows) TSI_TRY(check_symmetry(A, "amg over several ranks"));
  if (A->all_rows) return set_up_on_ranks(amg);
  if (keep && !amg->is_unsymmetric) TSI_TRY(check_symmetry(A, "an update of amg for a symmetric matrix"));
  if (!keep) amg->is_unsymmetric = !A->info.symmetric;
  if (!keep) amg->copies = A->copies;
  if (keep ? amg->device != NULL : amg->context->ops->amg && !amg->is_unsymmetric) {
    TSI_TRY(set_up_on_device(amg));
    if (amg->device) return TS_OK;
  }
  return set_up_on_host(amg, keep && amg->host.levels > 0);
}

static ts_status amg_build(tsi_amg *amg, int keep) {
  const double start = tsi_seconds();
  const size_t before = amg->context->bytes_device - amg->info.bytes_device;
  TSI_TRY(set_up(amg, keep));
  if (!amg->inverse || keep) TSI_TRY(upload_inverse(amg));
  TSI_TRY(tsi_poll(amg->context));
  TSI_TRY(tsi_amg_factor_last(amg));
  const int components = amg->components ? amg->components : 1;
  amg->components = 0;
  TSI_TRY(tsi_amg_prepare(amg, components));
  TSI_TRY(measure(amg, tsi_seconds() - start));
  if (amg->info.stalled && !keep)
    tsi_log(amg->context, TS_LOG_LEVEL_WARNING,
            "amg: coarsening stalls on level %d: few of its %lld rows are strongly coupled at strength %g",
            amg->levels - 1, (long long)amg->level[amg->levels - 1].rows, amg->desc.strength);
  amg->info.bytes_device = amg->context->bytes_device - before;
  return TS_OK;
}

void tsi_amg_destroy(ts_context *context, tsi_amg *a) {
  tsi_amg_drop_vectors(a);
  if (a->device) {
    tsi_enter_to_destroy(context);
    context->ops->amg->drop(a);
    tsi_leave(context, TS_OK);
  }
  for (int l = 0; l < TSI_AMG_MAX_LEVELS; l++) {
    if (l > 0) ts_matrix_destroy(&a->level[l].A);
    ts_matrix_destroy(&a->level[l].P);
    ts_matrix_destroy(&a->level[l].R);
  }
  ts_matrix_destroy(&a->inverse);
  tsi_direct_drop(context, &a->factors);
  tsi_amg_host_free(context, &a->host);
  tsi_free(context, a);
}

static ts_status make_resolved(ts_matrix *A, const ts_amg_desc *desc, tsi_amg **made) {
  ts_context *context = A->context;
  tsi_amg *amg = tsi_calloc(context, 1, sizeof *amg);
  if (!amg) return tsi_out_of_memory(context, "a preconditioner", sizeof *amg);
  amg->context = context;
  amg->desc = *desc;
  amg->level[0].A = A;
  const ts_status status = amg_build(amg, 0);
  amg->desc.near_null = amg->desc.coordinates = (ts_array){0};
  if (status < 0)
    tsi_amg_destroy(context, amg);
  else
    *made = amg;
  return status;
}

ts_status tsi_amg_create_below(ts_matrix *A, const ts_amg_desc *desc, int depth, tsi_amg **made) {
  ts_context *context = A->context;
  tsi_amg *amg = tsi_calloc(context, 1, sizeof *amg);
  if (!amg) return tsi_out_of_memory(context, "a preconditioner", sizeof *amg);
  amg->context = context;
  amg->desc = *desc;
  amg->depth = depth;
  amg->level[0].A = A;
  ts_status status = set_up(amg, 0);
  if (status == TS_OK && !amg->inverse) status = upload_inverse(amg);
  amg->desc.near_null = amg->desc.coordinates = (ts_array){0};
  if (status < 0)
    tsi_amg_destroy(context, amg);
  else
    *made = amg;
  return status;
}

static ts_status make(ts_matrix *A, const ts_amg_desc *given, tsi_amg **made) {
  ts_amg_desc desc = *given;
  tsi_loans loans = {0};
  TSI_TRY(check_matrix(A));
  ts_status status = resolve(A, &desc, &loans);
  if (status == TS_OK) status = make_resolved(A, &desc, made);
  tsi_loans_free(A->context, &loans);
  return status;
}

static ts_status create(ts_preconditioner *M) {
  static const ts_amg_desc defaults;
  const ts_amg_desc *desc = M->desc.amg ? M->desc.amg : &defaults;
  tsi_amg *amg = NULL;
  M->desc.amg = NULL; /* it belongs to the caller */
  TSI_TRY(make(M->matrix, desc, &amg));
  M->state = amg;
  return TS_OK;
}

/* For rows of several ranks, and for another pattern: replaces the hierarchy by a new one. If that fails, the
 * old one stays. */
static ts_status renew(ts_preconditioner *M) {
  ts_context *context = M->context;
  tsi_amg *before = M->state, *amg = NULL;
  ts_amg_desc desc = before->desc;
  if (desc.near_null_vectors || desc.dimensions)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED,
                    "this amg with near_null or coordinates cannot be updated; create it again");
  if (desc.strength == 0) desc.strength = -1; /* the given value */
  ts_status status = make(M->matrix, &desc, &amg);
  if (status == TS_OK && before->components) status = tsi_amg_prepare(amg, before->components);
  if (context->ops->agree) status = context->ops->agree(context, status);
  if (status == TS_OK) M->state = amg;
  tsi_amg *other = status == TS_OK ? before : amg;
  if (other) tsi_amg_destroy(context, other);
  return status;
}

static ts_status update(ts_preconditioner *M) {
  tsi_amg *amg = M->state;
  return M->matrix->all_rows || amg->copies != M->matrix->copies ? renew(M) : amg_build(amg, 1);
}

static void destroy(ts_preconditioner *M) {
  tsi_amg_destroy(M->context, M->state);
}

/* ---- The functions of the kind ---- */

static int disappoints(const ts_preconditioner *M, char *why, size_t size) {
  const tsi_amg *amg = M->state;
  if (tsi_amg_ends_exactly(amg)) return 0;
  snprintf(why, size, "aggregation leaves %lld of %lld rows", (long long)amg->level[amg->levels - 1].rows,
           (long long)tsi_all_rows(M->matrix));
  return 1;
}

static ts_status measure_cycle(const ts_preconditioner *M, tsi_cost *cost) {
  *cost = tsi_amg_cost(M->state);
  return TS_OK;
}

static int is_symmetric(const ts_preconditioner *M) {
  return !((const tsi_amg *)M->state)->is_unsymmetric;
}

static ts_status prepare(const ts_preconditioner *M, int components) {
  return tsi_amg_prepare(M->state, components);
}

static ts_status apply(const ts_preconditioner *M, ts_vector *z, const ts_vector *r) {
  return tsi_amg_cycle(M->state, z, r);
}

const tsi_preconditioner_kind tsi_preconditioner_amg = {
    .kind = TS_PRECONDITIONER_AMG,
    .fields = TSI_FIELD_AMG,
    .is_from_matrix = 1,
    .needs_entries = 1,
    .accepts_device_entries = 1,
    .has_scale = 1,
    .unsymmetric = "amg was made for a matrix that is not symmetric, and cg and minres need a symmetric one",
    .create = create,
    .update = update,
    .destroy = destroy,
    .disappoints = disappoints,
    .measure = measure_cycle,
    .is_symmetric = is_symmetric,
    .prepare = prepare,
    .apply = apply};

/* ---- Info ---- */

static ts_status amg_of(const ts_preconditioner *M, const tsi_amg **amg) {
  *amg = M->state;
  if (M->kind == &tsi_preconditioner_amg) return TS_OK;
  return tsi_fail(M->context, TS_ERROR_INVALID_ARGUMENT, "the preconditioner is %s, not amg",
                  ts_preconditioner_kind_name(M->desc.kind));
}

ts_status ts_preconditioner_get_amg_info(const ts_preconditioner *preconditioner, ts_amg_info *info) {
  TSI_BEGIN(preconditioner, preconditioner->context);
  TSI_REQUIRE(preconditioner->context, info);
  const tsi_amg *amg;
  TSI_TRY(amg_of(preconditioner, &amg));
  *info = amg->info;
  return TS_OK;
}

ts_status ts_preconditioner_get_amg_level(const ts_preconditioner *preconditioner, int level,
                                          ts_amg_level_info *info) {
  TSI_BEGIN(preconditioner, preconditioner->context);
  TSI_REQUIRE(preconditioner->context, info);
  const tsi_amg *amg;
  TSI_TRY(amg_of(preconditioner, &amg));
  if (level < 0 || level >= amg->levels)
    return tsi_fail(preconditioner->context, TS_ERROR_INVALID_ARGUMENT, "level is %d; there are %d, from 0",
                    level, amg->levels);
  const tsi_amg_level *of = &amg->level[level];
  *info = (ts_amg_level_info){.rows = of->rows > INT32_MAX ? INT32_MAX : (int32_t)of->rows,
                              .entries = of->entries,
                              .eigenvalue = of->eigenvalue};
  return TS_OK;
}
