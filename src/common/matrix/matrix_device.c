/* Matrices laid out by the device, from the application's arrays there or on the host. Host arrays are uploaded
 * unchanged and then checked, sorted and packed by kernels. The host handles arrays with errors, formats of
 * blocks and constrained rows. It also handles small matrices, for which kernel launches take longer than the
 * work. */
#include <stdio.h>
#include <string.h>

#include "common/core/core.h"
#include "common/core/pool.h"
#include "common/layout/layout_build.h"
#include "common/precond/preconditioner.h"
#include "matrix_create.h"

static int is_laid_out(ts_format format) {
  return format == TS_FORMAT_CSR || format == TS_FORMAT_JAGGED;
}

/* The reason why the host has to lay the matrix out; NULL: the device can do it. */
static const char *needs_host(const tsi_matrix_desc *desc) {
  const int is_open =
      desc->format == TS_FORMAT_AUTO || desc->format == TS_FORMAT_CSR || desc->format == TS_FORMAT_JAGGED;
  return desc->keep_host_copy > 0 ? "keep_host_copy is set"
         : !is_open               ? "the format is neither csr nor jagged"
         : (desc->constrained || (desc->row_space && desc->row_space->constrained)) ? "it has constrained rows"
                                                                                    : NULL;
}

/* The pattern for the choice of a format: 32-bit offsets and columns on the host. Their contents are unchecked
 * input, so offsets that do not ascend are rejected. */
static int has_pattern(const ts_csr *given, tsi_host_csr *csr) {
  if (!given) return 0;
  const ts_array *offsets = &given->row_offsets, *columns = &given->column_indices;
  const int32_t *numbers = offsets->data;
  if (offsets->memory != TS_MEMORY_HOST || columns->memory != TS_MEMORY_HOST) return 0;
  if (offsets->type != TS_TYPE_INT32 || columns->type != TS_TYPE_INT32 || !numbers) return 0;
  if (given->rows < 1 || given->rows > TSI_MAX_SIZE) return 0;
  if (offsets->count != (size_t)given->rows + 1 || numbers[0] != 0) return 0;
  int descends = 0;
  for (int64_t i = 0; i < given->rows; i++) descends |= numbers[i + 1] < numbers[i];
  if (descends || (size_t)numbers[given->rows] != columns->count) return 0;
  *csr = (tsi_host_csr){.rows = (int32_t)given->rows,
                        .columns = (int32_t)given->columns,
                        .row_offsets = offsets->data,
                        .column_indices = columns->data};
  return 1;
}

/* The plan for a matrix that the device lays out. */
typedef struct plan {
  ts_format format;
  int is_on_device; /* the arrays are on the device */
  int needs_order;  /* the choice of the format requires columns in order */
  char choice[sizeof((ts_matrix *)NULL)->choice];
} plan;

/* Plans before the arrays are on the device. Returns the reason why it cannot lay the matrix out, or NULL. */
static const char *plan_ahead(const ts_context *context, const ts_matrix_desc *given,
                              const tsi_matrix_desc *desc, plan *p) {
  const ts_array *columns = given->triplets ? &given->triplets->column_indices : &given->csr.column_indices;
  const char *refusal = needs_host(desc);
  tsi_host_csr pattern;
  *p = (plan){.format = desc->format, .is_on_device = columns->memory == TS_MEMORY_CUDA};
  if (refusal) return refusal;
  if (!p->is_on_device && (double)columns->count < context->tuning.device_entries) return "it has few entries";
  if (desc->format != TS_FORMAT_AUTO) {
    snprintf(p->choice, sizeof p->choice, "%s: asked for", ts_format_name(desc->format));
  } else if (has_pattern(given->triplets ? NULL : &given->csr, &pattern)) {
    p->format = tsi_format_choose(context, &pattern, tsi_matrix_blocks_to_consider(context, desc), p->choice,
                                  sizeof p->choice);
    p->needs_order = 1;
  }
  return p->format == TS_FORMAT_AUTO || is_laid_out(p->format) ? NULL : "the format is neither csr nor jagged";
}

/* Chooses the format of a matrix that is on the device. Arrays that were already there are not copied to the
 * host for the sake of blocks. */
static ts_status finish_plan(ts_context *context, const tsi_matrix_desc *desc, const tsi_given *given,
                             plan *p) {
  const int blocks = p->is_on_device ? TSI_NO_BLOCKS : tsi_matrix_blocks_to_consider(context, desc);
  if (p->format != TS_FORMAT_AUTO && (!p->needs_order || given->in_order)) return TS_OK;
  TSI_TRY(tsi_format_choose_on_device(context, given, blocks, &p->format, p->choice, sizeof p->choice));
  if (!p->is_on_device || is_laid_out(p->format)) return TS_OK;
  p->format = TS_FORMAT_CSR;
  snprintf(p->choice, sizeof p->choice, "csr: made of arrays in CUDA memory");
  return TS_OK;
}

static void inform_of_layout(ts_matrix *A) {
  const tsi_slices *slices = &A->layout->slices;
  if (A->info.format != TS_FORMAT_JAGGED) return;
  A->info.stored_entries = (int64_t)slices->entries + slices->long_entries;
  for (int32_t w = 0; w < slices->row_block_count; w++) A->info.split_rows += slices->row_blocks[w].piece == 0;
}

static ts_status lay_out(ts_matrix *A, tsi_given *given) {
  A->layout = tsi_calloc(A->context, 1, sizeof *A->layout);
  if (!A->layout) return tsi_out_of_memory(A->context, "a layout", sizeof *A->layout);
  TSI_TRY(A->context->device_ops->arrays->lay_out(A->context, A->info.format, given, A->layout));
  inform_of_layout(A);
  return TS_OK;
}

static ts_status build_of_given(ts_matrix *A, const tsi_matrix_desc *desc, const plan *p, tsi_given *given) {
  ts_context *context = A->context;
  const tsi_host_csr none = {.rows = given->rows, .columns = given->columns};
  const tsi_packed packed = {.csr = &none, .given = given};
  A->info = (ts_matrix_info){.rows = given->rows,
                             .columns = given->columns,
                             .nonzeros = given->nonzeros,
                             .duplicates = given->duplicates,
                             .stored_entries = given->nonzeros,
                             .format = p->format,
                             .fill_ratio = 1,
                             .parts = 1};
  A->made_on_device = A->may_scale = 1;
  snprintf(A->without_copy, sizeof A->without_copy, "%s",
           p->is_on_device ? "the matrix is made of arrays in CUDA memory"
                           : "the device has laid the matrix out");
  A->precision = desc->precision;
  A->components = desc->components;
  memcpy(A->choice, p->choice, sizeof A->choice);
  tsi_matrix_inform(A, given);
  TSI_TRY(tsi_matrix_make_spaces(A, desc, &none));
  TSI_TRY(lay_out(A, given));
  const size_t before = context->bytes_device;
  TSI_TRY(context->ops->matrix_create(A, &packed));
  A->info.bytes_device = given->bytes + (context->bytes_device - before);
  const ts_status status = tsi_matrix_write_given_low_parts(A, given);
  if (status == TS_OK) return TS_OK;
  tsi_matrix_destroy_low_parts(A);
  A->kind->destroy(A);
  return status;
}

static ts_status create(ts_context *context, const tsi_matrix_desc *desc, plan *p, tsi_given *given,
                        ts_matrix **matrix) {
  TSI_TRY(finish_plan(context, desc, given, p));
  if (!is_laid_out(p->format)) return TS_OK;
  ts_matrix *A = tsi_calloc(context, 1, sizeof *A);
  if (!A) return tsi_out_of_memory(context, "a matrix", sizeof *A);
  A->context = context;
  A->references = 1;
  const ts_status status = build_of_given(A, desc, p, given);
  if (status < 0)
    tsi_matrix_release_parts(A);
  else
    *matrix = A;
  return status;
}

/* Finds the facts for auto from arrays on the host. */
ts_status tsi_matrix_find_facts(ts_matrix *A, const ts_csr *given, int in_order) {
  tsi_host_csr pattern;
  if (!in_order || !has_pattern(given, &pattern) || !given->values.data) return TS_OK;
  const int are_doubles = given->values.type == TS_TYPE_DOUBLE;
  const tsi_csr entries = {.rows = pattern.rows,
                           .columns = pattern.columns,
                           .row_offsets = pattern.row_offsets,
                           .column_indices = pattern.column_indices,
                           .values = are_doubles ? NULL : given->values.data,
                           .double_values = are_doubles ? given->values.data : NULL};
  return tsi_preconditioner_find_facts(A, &entries, A->exponent, A->negated);
}

static void free_given(ts_context *context, tsi_given *given) {
  tsi_enter_to_destroy(context);
  context->device_ops->arrays->free_matrix(context, given);
  tsi_leave(context, TS_OK);
}

ts_status tsi_matrix_create_on_device(ts_context *context, const ts_matrix_desc *given, ts_matrix **matrix) {
  const double start = tsi_seconds();
  tsi_matrix_desc desc = tsi_matrix_desc_without_arrays(given);
  tsi_given converted;
  plan p;
  if (!context->device_ops->arrays) return TS_OK;
  TSI_TRY(tsi_threads_for(context, INT32_MAX));
  const char *refusal = plan_ahead(context, given, &desc, &p);
  TSI_TRY(tsi_matrix_convert_given(context, given->triplets ? NULL : &given->csr, given->triplets, refusal,
                                   tsi_given_options_of(desc.precision, 1), &converted));
  if (converted.refusal) return TS_OK;
  desc.csr = (tsi_csr){.rows = converted.rows, .columns = converted.columns};
  ts_status status = tsi_matrix_desc_validate(context, &desc);
  if (status == TS_OK) status = tsi_enter(context);
  if (status == TS_OK) status = tsi_leave(context, create(context, &desc, &p, &converted, matrix));
  free_given(context, &converted);
  if (!p.is_on_device && status == TS_ERROR_OUT_OF_DEVICE_MEMORY) {
    tsi_clear_error(context); /* the host needs less memory */
    return TS_OK;
  }
  if (status == TS_OK && *matrix)
    status = tsi_matrix_find_facts(*matrix, given->triplets ? NULL : &given->csr, converted.in_order);
  if (!*matrix) return status;
  (*matrix)->info.seconds_layout = tsi_seconds() - start;
  tsi_matrix_log(*matrix);
  return status;
}
