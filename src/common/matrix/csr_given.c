/* The application's matrices: converts ts_csr and ts_triplets to tsi_csr, with 32-bit integers on the host. */
#include <string.h>

#include "common/core/array.h"
#include "common/core/core.h"
#include "common/core/pool.h"
#include "csr.h"

static ts_status check_reserved_words(ts_context *context, const char *name, const uint64_t *reserved,
                                      size_t bytes) {
  char prefix[64];
  snprintf(prefix, sizeof prefix, "%s.", name);
  return tsi_check_reserved(context, prefix, reserved, bytes);
}

static ts_status check_size(ts_context *context, int64_t rows, int64_t columns, size_t entries) {
  if (rows < 1 || columns < 1)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "the matrix is %lld x %lld; it needs at least one row and column", (long long)rows,
                    (long long)columns);
  if (rows > TSI_MAX_SIZE || columns > TSI_MAX_SIZE)
    return tsi_fail(context, TS_ERROR_LIMIT,
                    "the matrix is %lld x %lld; one device has at most %d rows and columns", (long long)rows,
                    (long long)columns, TSI_MAX_SIZE);
  if (entries > INT32_MAX)
    return tsi_fail(context, TS_ERROR_LIMIT, "the matrix has %zu entries; one device has at most %d", entries,
                    INT32_MAX);
  return TS_OK;
}

/* Checks that an array is in the same memory as the column indices. */
static ts_status check_one_memory(ts_context *context, const ts_array *columns, const char *name,
                                  const ts_array *array) {
  static const char *const memories[] = {"host", "CUDA"};
  if (!context || !context->device_ops->arrays) return TS_OK; /* CUDA memory is an error in this case */
  if (!tsi_is_given(array) || !tsi_is_given(columns) || array->memory == columns->memory ||
      (unsigned)array->memory > 1 || (unsigned)columns->memory > 1)
    return TS_OK;
  return tsi_fail(
      context, TS_ERROR_INVALID_ARGUMENT,
      "%s is in %s memory and column_indices in %s memory; all arrays of a matrix must be in the same memory",
      name, memories[array->memory], memories[columns->memory]);
}

static ts_status check_given_csr(ts_context *context, const ts_csr *given) {
  TSI_TRY(check_reserved_words(context, "csr", given->reserved, sizeof given->reserved));
  TSI_TRY(check_size(context, given->rows, given->columns, given->column_indices.count));
  TSI_TRY(check_one_memory(context, &given->column_indices, "row_offsets", &given->row_offsets));
  return check_one_memory(context, &given->column_indices, "values", &given->values);
}

ts_status tsi_csr_given(ts_context *context, const ts_csr *given, tsi_loans *loans, tsi_csr *csr) {
  TSI_TRY(check_given_csr(context, given));
  *csr = (tsi_csr){.rows = (int32_t)given->rows, .columns = (int32_t)given->columns};
  TSI_TRY(tsi_array_borrow_int32(context, "row_offsets", &given->row_offsets, (size_t)given->rows + 1, loans,
                                 &csr->row_offsets));
  if (csr->row_offsets[csr->rows] < 0)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "row_offsets[%d] is %d", csr->rows,
                    csr->row_offsets[csr->rows]);
  const size_t entries = (size_t)csr->row_offsets[csr->rows];
  TSI_TRY(tsi_array_borrow_int32(context, "column_indices", &given->column_indices, entries, loans,
                                 &csr->column_indices));
  return tsi_array_borrow_values(context, "values", &given->values, entries, loans, &csr->values,
                                 &csr->double_values);
}

/* ---- Triplets ---- */

static ts_status check_given_triplets(ts_context *context, const ts_triplets *given) {
  TSI_TRY(check_reserved_words(context, "triplets", given->reserved, sizeof given->reserved));
  TSI_TRY(check_size(context, given->rows, given->columns, given->column_indices.count));
  TSI_TRY(check_one_memory(context, &given->column_indices, "row_indices", &given->row_indices));
  return check_one_memory(context, &given->column_indices, "values", &given->values);
}

static ts_status check_indices(ts_context *context, const char *name, const int32_t *indices, size_t entries,
                               int32_t size) {
  for (size_t k = 0; k < entries; k++)
    if (indices[k] < 0 || indices[k] >= size)
      return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "%s[%zu] is %d; it must be 0 to %d", name, k,
                      indices[k], size - 1);
  return TS_OK;
}

/* Distributes the entries to their rows; each row keeps the order of the list. */
static void sort_by_rows(const int32_t *rows, const int32_t *columns, const tsi_csr *list, int32_t *offsets,
                         int32_t *sorted_columns, void *sorted_values) {
  const int32_t entries = offsets[0];
  float *floats = list->values ? sorted_values : NULL;
  double *doubles = list->double_values ? sorted_values : NULL;
  memset(offsets, 0, ((size_t)list->rows + 1) * sizeof *offsets);
  for (int32_t k = 0; k < entries; k++) offsets[rows[k] + 1]++;
  for (int32_t i = 0; i < list->rows; i++) offsets[i + 1] += offsets[i];
  for (int32_t k = 0; k < entries; k++) { /* offsets[i] advances to the end of row i */
    const int32_t to = offsets[rows[k]]++;
    sorted_columns[to] = columns[k];
    if (floats) floats[to] = list->values[k];
    if (doubles) doubles[to] = list->double_values[k];
  }
  memmove(offsets + 1, offsets, (size_t)list->rows * sizeof *offsets);
  offsets[0] = 0;
}

ts_status tsi_triplets_given(ts_context *context, const ts_triplets *given, tsi_loans *loans, tsi_csr *csr) {
  const size_t entries = given->column_indices.count;
  const int32_t *rows, *columns;
  TSI_TRY(check_given_triplets(context, given));
  tsi_csr list = {.rows = (int32_t)given->rows, .columns = (int32_t)given->columns};
  TSI_TRY(tsi_array_borrow_int32(context, "row_indices", &given->row_indices, entries, loans, &rows));
  TSI_TRY(tsi_array_borrow_int32(context, "column_indices", &given->column_indices, entries, loans, &columns));
  TSI_TRY(tsi_array_borrow_values(context, "values", &given->values, entries, loans, &list.values,
                                  &list.double_values));
  TSI_TRY(check_indices(context, "row_indices", rows, entries, list.rows));
  TSI_TRY(check_indices(context, "column_indices", columns, entries, list.columns));
  void *offsets, *sorted, *values = NULL;
  TSI_TRY(tsi_loan(context, "row offsets", (size_t)list.rows + 1, TS_TYPE_INT32, loans, &offsets));
  TSI_TRY(tsi_loan(context, "column indices", entries, TS_TYPE_INT32, loans, &sorted));
  if (given->values.type) TSI_TRY(tsi_loan(context, "values", entries, given->values.type, loans, &values));
  *(int32_t *)offsets = (int32_t)entries;
  sort_by_rows(rows, columns, &list, offsets, sorted, values);
  *csr = (tsi_csr){.rows = list.rows,
                   .columns = list.columns,
                   .row_offsets = offsets,
                   .column_indices = sorted,
                   .values = list.values ? values : NULL,
                   .double_values = list.double_values ? values : NULL};
  return TS_OK;
}

/* ---- On the device ---- */

static ts_status check_values(ts_context *context, const ts_array *values, size_t entries) {
  return tsi_is_given(values) ? tsi_array_check(context, "values", values, entries, TSI_FLOATING, TSI_READ)
                              : TS_OK;
}

/* Performs the checks that do not need the contents. The number of entries is that of the column indices. */
static ts_status check_on_device(ts_context *context, const ts_csr *csr, const ts_triplets *triplets) {
  const ts_array *columns = csr ? &csr->column_indices : &triplets->column_indices;
  const size_t entries = columns->count;
  if (csr)
    TSI_TRY(check_given_csr(context, csr));
  else
    TSI_TRY(check_given_triplets(context, triplets));
  if (csr)
    TSI_TRY(tsi_array_check(context, "row_offsets", &csr->row_offsets, (size_t)csr->rows + 1, TSI_INTEGER,
                            TSI_READ));
  else
    TSI_TRY(tsi_array_check(context, "row_indices", &triplets->row_indices, entries, TSI_INTEGER, TSI_READ));
  TSI_TRY(tsi_array_check(context, "column_indices", columns, entries, TSI_INTEGER, TSI_READ));
  return check_values(context, csr ? &csr->values : &triplets->values, entries);
}

typedef struct staged {
  ts_csr csr;
  ts_triplets triplets;
  ts_array *arrays[3];
  int count;
} staged;

static ts_status stage(ts_context *context, ts_array *array, staged *s) {
  const ts_array host = *array;
  if (!tsi_is_given(array)) return TS_OK;
  TSI_TRY(context->device_ops->arrays->upload(context, &host, array));
  s->arrays[s->count++] = array;
  return TS_OK;
}

/* Copies host arrays to the device. */
static ts_status stage_all(ts_context *context, const ts_csr *csr, const ts_triplets *triplets, staged *s) {
  int threads;
  TSI_TRY(tsi_threads(context, &threads));
  if (csr) s->csr = *csr;
  if (triplets) s->triplets = *triplets;
  TSI_TRY(stage(context, csr ? &s->csr.row_offsets : &s->triplets.row_indices, s));
  TSI_TRY(stage(context, csr ? &s->csr.column_indices : &s->triplets.column_indices, s));
  return stage(context, csr ? &s->csr.values : &s->triplets.values, s);
}

static ts_status convert_staged(ts_context *context, const ts_csr *csr, const ts_triplets *triplets,
                                tsi_given_options options, tsi_given *given) {
  const tsi_array_ops *ops = context->device_ops->arrays;
  staged s = {.count = 0};
  ts_status status = stage_all(context, csr, triplets, &s);
  if (status == TS_OK)
    status = ops->convert_matrix(context, csr ? &s.csr : NULL, triplets ? &s.triplets : NULL, options, given);
  while (s.count > 0) ops->free(context, s.arrays[--s.count]);
  if (status != TS_ERROR_OUT_OF_DEVICE_MEMORY) return status;
  given->refusal = "the device has no memory to prepare it";
  tsi_clear_error(context);
  return TS_OK;
}

static ts_status convert(ts_context *context, const ts_csr *csr, const ts_triplets *triplets,
                         tsi_given_options options, tsi_given *given) {
  const ts_array *columns = csr ? &csr->column_indices : &triplets->column_indices;
  TSI_TRY(tsi_enter(context));
  return tsi_leave(context,
                   columns->memory == TS_MEMORY_CUDA
                       ? context->device_ops->arrays->convert_matrix(context, csr, triplets, options, given)
                       : convert_staged(context, csr, triplets, options, given));
}

ts_status tsi_matrix_convert_given(ts_context *context, const ts_csr *csr, const ts_triplets *triplets,
                                   const char *refusal, tsi_given_options options, tsi_given *given) {
  const ts_array *columns = csr ? &csr->column_indices : &triplets->column_indices;
  const int is_on_device = tsi_is_given(columns) && columns->memory == TS_MEMORY_CUDA;
  *given = (tsi_given){.refusal = refusal ? refusal : ""};
  if (!is_on_device && (refusal || !tsi_is_given(columns) || !context->device_ops->arrays)) return TS_OK;
  ts_status status = check_on_device(context, csr, triplets);
  if (status == TS_OK && !refusal) status = convert(context, csr, triplets, options, given);
  if (is_on_device && status == TS_OK && given->refusal)
    tsi_log(context, TS_LOG_LEVEL_INFO, "a matrix in CUDA memory is copied to the host: %s", given->refusal);
  if (is_on_device || status != TS_ERROR_INVALID_ARGUMENT) return status;
  tsi_clear_error(context); /* the host reports the error */
  return TS_OK;
}

/* ---- The descriptor ---- */

ts_status tsi_matrix_desc_check(ts_context *context, const ts_matrix_desc *given) {
  const int has_csr = tsi_is_given(&given->csr.row_offsets) || given->csr.rows || given->csr.columns;
  TSI_TRY(tsi_check_reserved(context, "", given->reserved, sizeof given->reserved));
  if (!given->triplets && !has_csr)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "neither csr nor triplets is set");
  if (given->triplets && has_csr)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "csr and triplets are both set");
  return TS_OK;
}

tsi_matrix_desc tsi_matrix_desc_without_arrays(const ts_matrix_desc *given) {
  return (tsi_matrix_desc){.format = given->format,
                           .constrained = given->constrained,
                           .row_space = given->row_space,
                           .column_space = given->column_space,
                           .keep_host_copy = given->keep_host_copy,
                           .precision = given->precision,
                           .components = given->components,
                           .borrow = given->borrow};
}

ts_status tsi_matrix_desc_given(ts_context *context, const ts_matrix_desc *given, tsi_loans *loans,
                                tsi_matrix_desc *desc) {
  TSI_TRY(tsi_matrix_desc_check(context, given));
  *desc = tsi_matrix_desc_without_arrays(given);
  if (given->triplets) TSI_TRY(tsi_triplets_given(context, given->triplets, loans, &desc->csr));
  if (!given->triplets) TSI_TRY(tsi_csr_given(context, &given->csr, loans, &desc->csr));
  /* Converted copies of arrays are freed with the loans. */
  desc->borrow = desc->borrow && desc->csr.row_offsets == given->csr.row_offsets.data &&
                 desc->csr.column_indices == given->csr.column_indices.data;
  return TS_OK;
}
