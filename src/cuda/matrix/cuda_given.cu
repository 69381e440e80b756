/* Checks the arrays of a matrix in device memory and converts them: integers to 32 bits, values to floats and
 * their low-order parts. If an array has an error, the host reads it and describes the error. */
#include "cuda/core/cuda_split.cuh"
#include "cuda_given.h"
#include "cuda_matrix.h"

static const char *const given_name = "a matrix";

/* The results of the checks, all 0 initially. */
struct findings {
  unsigned bad;      /* an error that the host reports */
  unsigned disorder; /* the columns of some row do not ascend */
  unsigned has_low[2];
  cuda_range range;
};

/* ---- Integers ---- */

template <typename Integer>
static __global__ void __launch_bounds__(CUDA_THREADS)
    copy_offsets(size_t rows, int64_t entries, const Integer *from, int32_t *to, findings *found) {
  CUDA_EACH(i, rows + 1) {
    const int64_t offset = from[i], least = i > 0 ? (int64_t)from[i - 1] : 0;
    const bool bad =
        offset < least || offset > entries || (i == 0 && offset != 0) || (i == rows && offset != entries);
    if (bad) found->bad = 1;
    to[i] = bad ? 0 : (int32_t)offset;
  }
}

template <typename Integer>
static __global__ void __launch_bounds__(CUDA_THREADS)
    copy_indices(size_t count, int32_t size, const Integer *from, int32_t *to, findings *found) {
  CUDA_EACH(e, count) {
    const int64_t index = from[e];
    if (index < 0 || index >= size) found->bad = 1;
    to[e] = (int32_t)index;
  }
}

static ts_status run_offsets(ts_context *context, const ts_array *from, int64_t entries, int32_t *to,
                             findings *found) {
  const size_t rows = from->count - 1;
  const unsigned blocks = cuda_blocks_each(context, from->count);
  return from->type == TS_TYPE_INT64
             ? cuda_launch(context, "copy_offsets", copy_offsets<int64_t>, blocks, CUDA_THREADS, rows, entries,
                           (const int64_t *)from->data, to, found)
             : cuda_launch(context, "copy_offsets", copy_offsets<int32_t>, blocks, CUDA_THREADS, rows, entries,
                           (const int32_t *)from->data, to, found);
}

static ts_status run_indices(ts_context *context, const ts_array *from, int32_t size, int32_t *to,
                             findings *found) {
  const unsigned blocks = cuda_blocks_each(context, from->count);
  return from->type == TS_TYPE_INT64
             ? cuda_launch(context, "copy_indices", copy_indices<int64_t>, blocks, CUDA_THREADS, from->count,
                           size, (const int64_t *)from->data, to, found)
             : cuda_launch(context, "copy_indices", copy_indices<int32_t>, blocks, CUDA_THREADS, from->count,
                           size, (const int32_t *)from->data, to, found);
}

/* A team of LANES threads per row. */
template <int LANES>
static __global__ void __launch_bounds__(CUDA_THREADS)
    find_disorder(int32_t rows, const int32_t *offsets, const int32_t *columns, findings *found) {
  const int64_t row = ((int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x) / LANES;
  if (row >= rows) return;
  for (int32_t e = offsets[row] + 1 + (int32_t)threadIdx.x % LANES; e < offsets[row + 1]; e += LANES)
    if (columns[e] <= columns[e - 1]) found->disorder = 1;
}

static __global__ void __launch_bounds__(CUDA_THREADS)
    name_rows(int32_t rows, const int32_t *offsets, int32_t *row_of) {
  const int64_t row = ((int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x) / 32;
  if (row >= rows) return;
  for (int32_t e = offsets[row] + (int32_t)threadIdx.x % 32; e < offsets[row + 1]; e += 32)
    row_of[e] = (int32_t)row;
}

/* ---- Values ---- */

template <typename Real>
static __global__ void __launch_bounds__(CUDA_THREADS)
    look_at_values(size_t count, const Real *values, findings *found) {
  cuda_range range = {};
  CUDA_EACH(e, count) {
    if (!isfinite(values[e])) found->bad = 1;
    cuda_count_exponent(&range, (double)values[e]);
  }
  cuda_store_largest(&found->range.largest, range.largest);
  cuda_store_largest(&found->range.smallest, range.smallest);
}

template <typename Real>
static __global__ void __launch_bounds__(CUDA_THREADS)
    split_values(size_t count, const Real *from, int exponent, cuda_parts to, findings *found) {
  CUDA_EACH(e, count) {
    const double scaled = exponent ? ldexp((double)from[e], -exponent) : (double)from[e];
    const cuda_three parts = cuda_split(scaled);
    if (!isfinite(parts.part[0])) found->bad = 1;
    cuda_store_parts(to, e, parts);
    for (int p = 1; p < 3; p++)
      if (to.part[p] && parts.part[p] != 0) found->has_low[p - 1] = 1;
  }
}

/* ---- Memory ---- */

static size_t entry_bytes(const tsi_given *given) {
  return cuda_given_room((size_t)given->nonzeros) * 4;
}

static void free_part(ts_context *context, const tsi_given *given, int p) {
  cuda_given *g = (cuda_given *)given->impl;
  cuda_free(context, g->values[p], entry_bytes(given));
  g->values[p] = NULL;
}

void cuda_given_free(ts_context *context, tsi_given *given) {
  cuda_given *g = (cuda_given *)given->impl;
  if (!g) return;
  cuda_free(context, g->offsets, ((size_t)given->rows + 1) * sizeof *g->offsets);
  cuda_free(context, g->columns, entry_bytes(given));
  for (int p = 0; p < 3; p++) free_part(context, given, p);
  cuda_free(context, g->row_blocks, g->row_block_bytes);
  cuda_free(context, g->ends, cuda_given_ends_bytes((size_t)given->nonzeros));
  tsi_free(context, g);
  given->impl = NULL;
}

/* ---- Control flow ---- */

typedef struct conversion {
  ts_context *context;
  const ts_array *rows, *columns, *values; /* rows: offsets or indices; values: NULL: none */
  int has_offsets;
  tsi_given_options options;
  tsi_given *given;
  findings *found; /* on the device */
  cuda_amg_memory scratch;
} conversion;

static ts_status wait_for_findings(const conversion *t, findings *found) {
  t->context->host_synchronisations++;
  TSI_TRY(cuda_download(t->context, found, t->found, sizeof *found));
  if (found->bad) t->given->refusal = "it has an error, which the host names";
  return TS_OK;
}

static ts_status run_look(const conversion *t) {
  if (!t->values) return TS_OK;
  const unsigned blocks = cuda_blocks_each(t->context, t->values->count);
  return t->values->type == TS_TYPE_DOUBLE
             ? cuda_launch(t->context, "look_at_values", look_at_values<double>, blocks, CUDA_THREADS,
                           t->values->count, (const double *)t->values->data, t->found)
             : cuda_launch(t->context, "look_at_values", look_at_values<float>, blocks, CUDA_THREADS,
                           t->values->count, (const float *)t->values->data, t->found);
}

/* `values` has one value per entry of the canonical form. */
static ts_status convert_values(conversion *t, const void *values, ts_type type, int exponent) {
  ts_context *context = t->context;
  tsi_given *given = t->given;
  cuda_given *g = (cuda_given *)given->impl;
  const size_t count = (size_t)given->nonzeros;
  const int parts = values && t->values->type == TS_TYPE_DOUBLE && t->options.keeps_low_order ? 3 : 1;
  for (int p = 0; p < parts; p++)
    TSI_TRY(cuda_alloc_zeroed(context, (void **)&g->values[p], entry_bytes(given), given_name));
  if (!values) return TS_OK;
  const cuda_parts to = {{g->values[0], g->values[1], g->values[2]}};
  const unsigned blocks = cuda_blocks_each(context, count);
  findings found;
  TSI_TRY(type == TS_TYPE_DOUBLE
              ? cuda_launch(context, "split_values", split_values<double>, blocks, CUDA_THREADS, count,
                            (const double *)values, exponent, to, t->found)
              : cuda_launch(context, "split_values", split_values<float>, blocks, CUDA_THREADS, count,
                            (const float *)values, exponent, to, t->found));
  TSI_TRY(wait_for_findings(t, &found));
  given->parts = !found.has_low[0] ? 1 : !found.has_low[1] ? 2 : 3;
  for (int p = given->parts; p < 3; p++) free_part(context, given, p);
  return TS_OK;
}

/* Entries in any order. */
static ts_status convert_unsorted(conversion *t, const int32_t *rows, const int32_t *columns) {
  const cuda_entries entries = {rows,
                                columns,
                                t->values ? t->values->data : NULL,
                                t->values ? t->values->type : TS_TYPE_NONE,
                                t->given->exponent,
                                (int32_t)t->columns->count};
  double *sums = NULL;
  TSI_TRY(cuda_given_sort(t->context, &entries, t->given, &sums));
  const ts_status status = convert_values(t, sums, TS_TYPE_DOUBLE, 0);
  cuda_free(t->context, sums, (size_t)t->given->nonzeros * sizeof *sums);
  return status;
}

static void set_exponents(const conversion *t, const findings *found) {
  t->given->exponents = cuda_exponents_of(found->range);
  t->given->exponent =
      t->options.may_scale ? tsi_scaling_exponent(t->given->exponents, TSI_ORDINARY_MATRIX) : 0;
}

static ts_status run_disorder(const conversion *t) {
  const tsi_given *given = t->given;
  const cuda_given *g = (const cuda_given *)given->impl;
  const int lanes = cuda_lanes_of_rows(given->rows, given->nonzeros);
  return cuda_launch(t->context, "find_disorder", lanes < 32 ? find_disorder<8> : find_disorder<32>,
                     cuda_blocks_for((size_t)lanes * (size_t)given->rows), CUDA_THREADS, given->rows,
                     (const int32_t *)g->offsets, (const int32_t *)g->columns, t->found);
}

/* Expands the offsets to a row index per entry. The indices and a copy of the columns replace the given arrays,
 * which the sort overwrites. */
static ts_status unsort(conversion *t) {
  ts_context *context = t->context;
  tsi_given *given = t->given;
  cuda_given *g = (cuda_given *)given->impl;
  int32_t *row_of, *columns;
  const size_t count = t->columns->count;
  CUDA_AMG_ALLOC(&t->scratch, count, row_of);
  CUDA_AMG_ALLOC(&t->scratch, count, columns);
  TSI_TRY(cuda_launch(context, "name_rows", name_rows, cuda_blocks_for(32 * (size_t)given->rows), CUDA_THREADS,
                      given->rows, (const int32_t *)g->offsets, row_of));
  CUDA_TRY(context, cudaMemcpyAsync(columns, g->columns, count * sizeof *columns, cudaMemcpyDeviceToDevice,
                                    cuda_stream(context)));
  cuda_free(context, g->offsets, ((size_t)given->rows + 1) * sizeof *g->offsets);
  cuda_free(context, g->columns, entry_bytes(given));
  g->offsets = g->columns = NULL;
  return convert_unsorted(t, row_of, columns);
}

static ts_status convert_csr(conversion *t) {
  ts_context *context = t->context;
  tsi_given *given = t->given;
  cuda_given *g = (cuda_given *)given->impl;
  findings found;
  TSI_TRY(
      cuda_alloc(context, (void **)&g->offsets, ((size_t)given->rows + 1) * sizeof *g->offsets, given_name));
  TSI_TRY(cuda_alloc_zeroed(context, (void **)&g->columns, entry_bytes(given), given_name));
  TSI_TRY(run_offsets(context, t->rows, given->nonzeros, g->offsets, t->found));
  TSI_TRY(run_indices(context, t->columns, given->columns, g->columns, t->found));
  TSI_TRY(run_look(t));
  TSI_TRY(wait_for_findings(t, &found));
  if (given->refusal) return TS_OK;
  set_exponents(t, &found);
  TSI_TRY(run_disorder(t));
  TSI_TRY(wait_for_findings(t, &found));
  given->in_order = !found.disorder;
  if (found.disorder) return unsort(t);
  return t->values ? convert_values(t, t->values->data, t->values->type, given->exponent)
                   : convert_values(t, NULL, TS_TYPE_NONE, 0);
}

static ts_status convert_triplets(conversion *t) {
  ts_context *context = t->context;
  int32_t *rows, *columns;
  findings found;
  CUDA_AMG_ALLOC(&t->scratch, t->rows->count, rows);
  CUDA_AMG_ALLOC(&t->scratch, t->columns->count, columns);
  TSI_TRY(run_indices(context, t->rows, t->given->rows, rows, t->found));
  TSI_TRY(run_indices(context, t->columns, t->given->columns, columns, t->found));
  TSI_TRY(run_look(t));
  TSI_TRY(wait_for_findings(t, &found));
  if (t->given->refusal) return TS_OK;
  set_exponents(t, &found);
  return convert_unsorted(t, rows, columns);
}

static ts_status in_order(const conversion *t, ts_status (*order)(ts_context *context, const ts_array *array)) {
  TSI_TRY(order(t->context, t->rows));
  TSI_TRY(order(t->context, t->columns));
  return t->values ? order(t->context, t->values) : TS_OK;
}

static ts_status inspect(const conversion *t) {
  int is_negative;
  TSI_TRY(cuda_given_inspect(t->context, t->given, &is_negative));
  if (!is_negative || !t->options.may_scale) return TS_OK;
  return cuda_given_negate(t->context, t->given);
}

static ts_status run_conversion(conversion *t) {
  findings *found;
  TSI_TRY(in_order(t, cuda_after));
  CUDA_AMG_ALLOC(&t->scratch, 1, found);
  CUDA_TRY(t->context, cudaMemsetAsync(found, 0, sizeof *found, cuda_stream(t->context)));
  t->found = found;
  TSI_TRY(t->has_offsets ? convert_csr(t) : convert_triplets(t));
  TSI_TRY(in_order(t, cuda_before));
  return t->given->refusal ? TS_OK : inspect(t);
}

/* ---- Formats ---- */

ts_status cuda_given_lay_out(ts_context *context, ts_format format, tsi_given *given, tsi_layout *layout) {
  cuda_given *g = (cuda_given *)given->impl;
  layout->format = format;
  if (format == TS_FORMAT_JAGGED) return cuda_given_slices(context, given, &layout->slices);
  TSI_TRY(cuda_given_plan(context, given));
  given->bytes = ((size_t)given->rows + 1) * sizeof *g->offsets + 2 * entry_bytes(given) + g->row_block_bytes +
                 (g->ends ? cuda_given_ends_bytes((size_t)given->nonzeros) : 0);
  return TS_OK;
}

ts_status cuda_given_create(ts_context *context, const ts_csr *csr, const ts_triplets *triplets,
                            tsi_given_options options, tsi_given *given) {
  conversion t = {};
  *given = {};
  given->rows = (int32_t)(csr ? csr->rows : triplets->rows);
  given->columns = (int32_t)(csr ? csr->columns : triplets->columns);
  given->impl = tsi_calloc(context, 1, sizeof(cuda_given));
  if (!given->impl) return tsi_out_of_memory(context, given_name, sizeof(cuda_given));
  t.context = t.scratch.context = context;
  t.scratch.what = given_name;
  t.given = given;
  t.options = options;
  t.has_offsets = csr != NULL;
  t.rows = csr ? &csr->row_offsets : &triplets->row_indices;
  t.columns = csr ? &csr->column_indices : &triplets->column_indices;
  const ts_array *values = csr ? &csr->values : &triplets->values;
  t.values = tsi_is_given(values) ? values : NULL;
  given->nonzeros = (int64_t)t.columns->count;
  const ts_status status = run_conversion(&t);
  cuda_amg_free(&t.scratch);
  if (status < 0 || given->refusal) cuda_given_free(context, given);
  return status;
}

/* ---- Patterns ---- */

static __global__ void __launch_bounds__(CUDA_THREADS)
    compare(size_t count, const int32_t *a, const int32_t *b, int *different) {
  CUDA_EACH(i, count) {
    if (a[i] != b[i]) *different = 1;
  }
}

static ts_status run_compare(ts_context *context, size_t count, const int32_t *a, const int32_t *b,
                             int *different) {
  return cuda_launch(context, "compare", compare, cuda_blocks_each(context, count), CUDA_THREADS, count, a, b,
                     different);
}

static ts_status compare_csr(ts_context *context, const cuda_matrix *m, const tsi_given *given, int *same) {
  const cuda_given *g = (const cuda_given *)given->impl;
  int *different, found = 1;
  TSI_TRY(cuda_alloc_zeroed(context, (void **)&different, sizeof *different, given_name));
  ts_status status = run_compare(context, (size_t)given->rows + 1, m->csr.row_offsets, g->offsets, different);
  if (status == TS_OK) status = run_compare(context, m->value_count, m->csr.columns, g->columns, different);
  context->host_synchronisations++;
  if (status == TS_OK) status = cuda_download(context, &found, different, sizeof found);
  cuda_free(context, different, sizeof *different);
  *same = !found;
  return status;
}

ts_status cuda_given_has_pattern(const ts_matrix *A, const tsi_given *given, int *same) {
  const cuda_matrix *m = cuda_matrix_of(A);
  uint64_t fingerprint;
  *same = 0;
  if (given->nonzeros != A->info.nonzeros) return TS_OK;
  if (A->layout->format == TS_FORMAT_CSR) return compare_csr(A->context, m, given, same);
  TSI_TRY(cuda_given_fingerprint(A->context, given, &fingerprint));
  *same = fingerprint == m->fingerprint;
  return TS_OK;
}
