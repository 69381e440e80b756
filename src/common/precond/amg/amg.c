/* Smoothed aggregation as a preconditioner: its descriptor, and the hierarchy on the device. */
#include <math.h>
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
                    "amg.%s is %d; it goes from 1 to %d, or 0 for the default", name, *value, most);
  if (*value == 0) *value = standard;
  return TS_OK;
}

/* Arrays of numbers: all finite. */
static ts_status check_array(ts_context *context, const char *name, const double *values, size_t count,
                             int columns) {
  for (size_t i = 0; i < count; i++)
    if (!isfinite(values[i]))
      return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "amg.%s[%zu][%zu] is %g", name, i / (size_t)columns,
                      i % (size_t)columns, values[i]);
  return TS_OK;
}

static ts_status check_near_null(ts_context *context, int32_t rows, ts_amg_desc *desc) {
  if (!desc->near_null != !desc->near_null_vectors)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "amg.near_null_vectors is %d and amg.near_null is %s",
                    desc->near_null_vectors, desc->near_null ? "given" : "NULL");
  if (!desc->coordinates != !desc->dimensions)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "amg.dimensions is %d and amg.coordinates is %s",
                    desc->dimensions, desc->coordinates ? "given" : "NULL");
  if (desc->near_null && desc->coordinates)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "amg.near_null and amg.coordinates are both given");
  if (desc->near_null)
    return check_array(context, "near_null", desc->near_null, (size_t)rows * (size_t)desc->near_null_vectors,
                       desc->near_null_vectors);
  if (!desc->coordinates) return TS_OK;
  if (desc->dimensions < 2 || desc->dimensions > 3)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "amg.dimensions is %d; it is 2 or 3", desc->dimensions);
  if (desc->unknowns != desc->dimensions)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "amg.unknowns is %d and amg.dimensions %d; with coordinates a node has an unknown for each",
                    desc->unknowns, desc->dimensions);
  return check_array(context, "coordinates", desc->coordinates,
                     (size_t)(rows / desc->unknowns) * (size_t)desc->dimensions, desc->dimensions);
}

static ts_status resolve(ts_context *context, int32_t rows, ts_amg_desc *desc) {
  if (!ts_amg_smoother_name(desc->smoother))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "amg.smoother is %d, which is no ts_amg_smoother",
                    (int)desc->smoother);
  if (isnan(desc->strength) || desc->strength >= 1)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "amg.strength is %g; it is below 1", desc->strength);
  TSI_TRY(check_range(context, "sweeps", &desc->sweeps, 16, 2));
  TSI_TRY(check_range(context, "visits", &desc->visits, 2, 2));
  TSI_TRY(check_range(context, "max_levels", &desc->max_levels, TSI_AMG_MAX_LEVELS, TSI_AMG_MAX_LEVELS));
  TSI_TRY(check_range(context, "coarsest", &desc->coarsest, 1000, 500));
  TSI_TRY(check_range(context, "unknowns", &desc->unknowns, 8, desc->dimensions ? desc->dimensions : 1));
  const double usual = desc->unknowns > 1 ? 0.02 : 0.08;
  desc->strength = desc->strength == 0 ? usual : fmax(0, desc->strength);
  if (rows % desc->unknowns)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "amg.unknowns is %d; the matrix has %d rows, which is no multiple of it", desc->unknowns,
                    rows);
  if (desc->near_null_vectors < 0 || desc->near_null_vectors > 8)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "amg.near_null_vectors is %d; it goes from 0 to 8",
                    desc->near_null_vectors);
  TSI_TRY(check_near_null(context, rows, desc));
  return tsi_check_reserved(context, "amg.", desc->reserved, sizeof desc->reserved);
}

/* ---- The matrix ---- */

static ts_status check_matrix(const ts_matrix *A) {
  if (A->stencil)
    return tsi_fail(A->context, TS_ERROR_UNSUPPORTED,
                    "the matrix is a stencil, which has geometric multigrid (ts_multigrid_create)");
  if (A->context->ops->ranks && !A->all_rows && A->context->ops->ranks->is_of_ranks(A->row_space))
    return tsi_fail(A->context, TS_ERROR_UNSUPPORTED,
                    "the matrix is of each rank by itself; amg over several ranks needs one of "
                    "ts_ranks_matrix_create");
  if (!A->host_copy)
    return tsi_fail(A->context, TS_ERROR_INVALID_ARGUMENT,
                    "amg needs a matrix made with keep_host_copy, from which it makes its levels");
  return TS_OK;
}

static ts_status check_symmetry(const ts_matrix *A) {
  if (A->info.symmetric) return TS_OK;
  return tsi_fail(A->context, TS_ERROR_INVALID_ARGUMENT,
                  "amg needs a symmetric matrix; the entries (%d, %d) and (%d, %d) differ",
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

static ts_status take_matrix(const ts_matrix *A, tsi_amg_csr *csr) {
  ts_csr copy;
  TSI_TRY(tsi_matrix_stored_copy(A, &copy));
  *csr = (tsi_amg_csr){copy.rows, copy.columns, (int32_t *)copy.row_offsets, (int32_t *)copy.column_indices,
                       (float *)copy.values};
  return TS_OK;
}

/* ---- Upload ---- */

static ts_csr view(const tsi_amg_csr *A) {
  return (ts_csr){.rows = A->rows,
                  .columns = A->columns,
                  .row_offsets = A->offsets,
                  .column_indices = A->indices,
                  .values = A->values};
}

/* What stands beside A's blocks is in blocks; where A is csr, a choice would take a tenth of the set-up. */
static ts_format format_below(const ts_matrix *A) {
  const int same = A->row_space->tiling.log2_block || A->info.format == TS_FORMAT_CSR;
  return same ? A->info.format : TS_FORMAT_AUTO;
}

/* A matrix, or the values of one that is there. */
static ts_status upload_as(const tsi_amg *amg, ts_format format, const ts_csr *csr, ts_space *rows,
                           ts_space *columns, ts_matrix **matrix) {
  if (*matrix) return tsi_matrix_set_values_as_is(*matrix, csr);
  const ts_matrix_desc desc = {.csr = *csr, .format = format, .row_space = rows, .column_space = columns};
  return tsi_matrix_create_as_is(amg->context, &desc, matrix);
}

/* Of a matrix of the hierarchy, whose arrays serve as they are where the backend can refer to them. */
static ts_status upload(const tsi_amg *amg, const tsi_amg_csr *A, ts_space *rows, ts_space *columns,
                        ts_matrix **matrix) {
  ts_context *context = amg->context;
  const ts_format format = format_below(amg->level[0].A);
  const ts_matrix_desc desc = {.csr = view(A), .row_space = rows, .column_space = columns};
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
  const ts_csr csr = view(&dense);
  ts_space *space = ts_matrix_row_space(amg->level[amg->levels - 1].A);
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
    TSI_TRY(upload(amg, &host->level[l + 1].A, NULL, NULL, &coarse->A));
    ts_space *of_fine = ts_matrix_row_space(fine->A), *of_coarse = ts_matrix_row_space(coarse->A);
    TSI_TRY(upload(amg, &host->level[l].P, of_fine, of_coarse, &fine->P));
    TSI_TRY(upload(amg, &host->level[l].R, of_coarse, of_fine, &fine->R));
  }
  return TS_OK;
}

static ts_status measure_level(const tsi_amg *amg, tsi_amg_level *level) {
  const ts_matrix_info *of = &level->A->info;
  double counts[2] = {of->rows, (double)of->nonzeros};
  if (amg->level[0].A->all_rows) TSI_TRY(amg->context->ops->ranks->add(amg->context, counts, 2));
  level->rows = (int64_t)counts[0];
  level->entries = (int64_t)counts[1];
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
  info->stalled = !amg->inverse && amg->levels < amg->desc.max_levels;
  return TS_OK;
}

/* ---- A level on the host ---- */

ts_status tsi_amg_read_level(const tsi_amg *amg, int l, tsi_amg_csr *A) {
  if (l == 0 && amg->level[0].A->all_rows) {
    tsi_amg_halo *halo;
    TSI_TRY(tsi_amg_take_rows(amg->level[0].A, amg->desc.unknowns, A, &halo));
    tsi_amg_halo_free(amg->context, halo);
    return TS_OK;
  }
  if (l == 0) return take_matrix(amg->level[0].A, A);
  if (amg->device) return amg->context->ops->amg->read(amg->level[l].A, A);
  *A = amg->host.level[l].A;
  return TS_OK;
}

void tsi_amg_forget_level(const tsi_amg *amg, int l, tsi_amg_csr *A) {
  if (l > 0 ? amg->device != NULL : amg->level[0].A->all_rows > 0) tsi_amg_csr_free(amg->context, A);
}

/* ---- Creation ---- */

static ts_status set_up_on_host(tsi_amg *amg, int keep) {
  tsi_amg_csr A;
  TSI_TRY(take_matrix(amg->level[0].A, &A));
  TSI_TRY(check_diagonal(amg->level[0].A, &A));
  TSI_TRY(tsi_amg_setup(amg->context, &amg->desc, &A, keep, &amg->host));
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

/* Once: matrices of ranks get no other values. */
static ts_status set_up_on_ranks(tsi_amg *amg) {
  tsi_amg_csr A;
  tsi_amg_halo *halo;
  TSI_TRY(tsi_amg_take_rows(amg->level[0].A, amg->desc.unknowns, &A, &halo));
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

/* The levels' matrices: of a hierarchy that is there new numbers. */
static ts_status set_up(tsi_amg *amg, int keep) {
  TSI_TRY(check_symmetry(amg->level[0].A));
  if (amg->level[0].A->all_rows) return set_up_on_ranks(amg);
  if (keep ? amg->device != NULL : amg->context->ops->amg != NULL) {
    TSI_TRY(set_up_on_device(amg));
    if (amg->device) return TS_OK;
  }
  return set_up_on_host(amg, keep);
}

static ts_status build(tsi_amg *amg, int keep) {
  const double start = tsi_seconds();
  const size_t before = amg->context->bytes_device - amg->info.bytes_device;
  TSI_TRY(set_up(amg, keep));
  if (!amg->inverse || keep) TSI_TRY(upload_inverse(amg));
  const int components = amg->components ? amg->components : 1;
  amg->components = 0;
  TSI_TRY(tsi_amg_prepare(amg, components));
  TSI_TRY(measure(amg, tsi_seconds() - start));
  if (amg->info.stalled && !keep)
    tsi_log(amg->context, TS_LOG_WARNING,
            "amg: coarsening stalls on level %d: few of its %lld rows are strongly coupled at strength %g",
            amg->levels - 1, (long long)amg->level[amg->levels - 1].rows,
            ldexp(amg->desc.strength, 1 - amg->levels));
  amg->info.bytes_device = amg->context->bytes_device - before;
  return TS_OK;
}

ts_status tsi_amg_create(ts_preconditioner *M) {
  ts_context *context = M->context;
  static const ts_amg_desc defaults;
  ts_amg_desc desc = M->desc.amg ? *M->desc.amg : defaults;
  M->desc.amg = NULL;
  TSI_TRY(check_matrix(M->matrix));
  TSI_TRY(resolve(context, M->matrix->info.rows, &desc));
  tsi_amg *amg = tsi_calloc(context, 1, sizeof *amg);
  if (!amg) return tsi_out_of_memory(context, "a preconditioner", sizeof *amg);
  amg->context = context;
  amg->desc = desc;
  amg->level[0].A = M->matrix;
  M->amg = amg;
  const ts_status status = build(amg, 0);
  amg->desc.near_null = amg->desc.coordinates = NULL;
  if (status < 0) tsi_amg_destroy(context, &M->amg);
  return status;
}

/* Over ranks' rows: another hierarchy in place of the old one, which stays where one cannot be made. */
static ts_status renew(ts_preconditioner *M) {
  ts_context *context = M->context;
  tsi_amg *before = M->amg;
  ts_amg_desc desc = before->desc;
  if (desc.near_null_vectors || desc.dimensions)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED,
                    "amg over several ranks with near_null or coordinates has no update; create it again");
  if (desc.strength == 0) desc.strength = -1; /* as it was given */
  M->desc.amg = &desc;
  M->amg = NULL;
  ts_status status = tsi_amg_create(M);
  if (status == TS_OK && before->components) status = tsi_amg_prepare(M->amg, before->components);
  status = context->ops->agree(context, status);
  if (status < 0) {
    tsi_amg_destroy(context, &M->amg);
    M->amg = before;
    return status;
  }
  tsi_amg_destroy(context, &before);
  return TS_OK;
}

ts_status tsi_amg_update(ts_preconditioner *M) {
  return M->matrix->all_rows ? renew(M) : build(M->amg, 1);
}

void tsi_amg_destroy(ts_context *context, tsi_amg **amg) {
  tsi_amg *a = *amg;
  *amg = NULL;
  if (!a) return;
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
  tsi_amg_host_free(context, &a->host);
  tsi_free(context, a);
}

/* ---- Info ---- */

static ts_status amg_of(const ts_preconditioner *M, const tsi_amg **amg) {
  *amg = M->amg;
  if (*amg) return TS_OK;
  return tsi_fail(M->context, TS_ERROR_INVALID_ARGUMENT, "the preconditioner is %s, not amg",
                  ts_preconditioner_kind_name(M->desc.kind));
}

ts_status ts_preconditioner_amg_info(const ts_preconditioner *preconditioner, ts_amg_info *info) {
  TSI_BEGIN(preconditioner, preconditioner->context);
  TSI_REQUIRE(preconditioner->context, info);
  const tsi_amg *amg;
  TSI_TRY(amg_of(preconditioner, &amg));
  *info = amg->info;
  return TS_OK;
}

ts_status ts_preconditioner_amg_level(const ts_preconditioner *preconditioner, int level,
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
