/* The system builder: the matrix to solve, from equations to the device. */
#include <math.h>
#include <string.h>

#include "common/layout/layout_build.h"
#include "common/precond/preconditioner.h"
#include "reorder.h"
#include "system.h"

/* Numbers far from 1 would leave the range of single precision, where the squares of small coefficients
 * underflow early. If the largest number is above 2^20 or below 2^-20, returns the power of two that scales it
 * to about 1. */
static double choose_scale(double largest) {
  int exponent;
  if (!(largest > 0 && isfinite(largest))) return 1;
  frexp(largest, &exponent);
  return exponent > 20 || exponent < -20 ? ldexp(1, -exponent) : 1;
}

/* Finds the largest diagonal number of the normal equations, which are positive definite, or the largest of all
 * numbers. */
static ts_status find_scale(ts_system *s) {
  const tsi_equations *q = &s->equations;
  double largest = 0, *sums = NULL;
  if (s->desc.least_squares) {
    sums = tsi_calloc(s->context, (size_t)s->desc.unknowns, sizeof *sums);
    if (!sums)
      return tsi_out_of_memory(s->context, "normal equations", (size_t)s->desc.unknowns * sizeof *sums);
  }
  for (int32_t r = 0; r < q->rows; r++)
    for (int32_t e = q->offsets[r]; e < q->offsets[r + 1]; e++) {
      const int32_t j = q->columns[e];
      if (s->locked[j] || (!sums && s->locked[r])) continue;
      if (sums) sums[j] += q->weights[r] * (q->values[e] * q->values[e]);
      const double size = sums ? sums[j] : fabs(q->values[e]);
      if (!(size <= largest)) largest = size;
    }
  tsi_free(s->context, sums);
  s->reduced.scale = choose_scale(s->applied ? sqrt(largest) : largest);
  return TS_OK;
}

int32_t tsi_system_rows(const ts_system *s) {
  return s->applied ? s->equations.rows : s->desc.unknowns;
}

/* ---- Normal equations, formed or applied ---- */

/* The bytes of the matrices per iteration, plus the vector traffic beyond that of the formed system. r has the
 * length of the conditions and is read or written six times. */
static double applied_bytes(const ts_system *s) {
  const double entries = s->equations.offsets[s->equations.rows], rows = s->equations.rows;
  return 16 * entries + 4 * (rows + s->desc.unknowns) + 24 * rows * s->desc.components;
}

static ts_status form(ts_system *s, int64_t most, int *fits) {
  s->applied = 0;
  TSI_TRY(find_scale(s));
  TSI_TRY(tsi_system_form_normal(s, most, fits));
  s->bytes_formed = 8 * (double)s->reduced.count + 4 * (double)s->desc.unknowns;
  return TS_OK;
}

/* Measured on an H200, an iteration of CGLS takes 2 (OpenGL) to 4 times (CUDA) as long as one of conjugate
 * gradients that moves the same number of bytes. It has more host synchronisations. */
static const double worth_applying = 3;

/* Applies the normal equations if that is faster or requested. */
static ts_status build_least_squares(ts_system *s, ts_normal normal) {
  int fits = 0;
  s->bytes_applied = applied_bytes(s);
  const double most = normal == TS_NORMAL_AUTO ? worth_applying * s->bytes_applied / 8 : INT32_MAX;
  if (normal != TS_NORMAL_APPLIED) TSI_TRY(form(s, (int64_t)most, &fits));
  if (fits) return TS_OK;
  tsi_reduced_free(s->context, &s->reduced);
  s->applied = 1;
  s->bytes_formed = normal == TS_NORMAL_AUTO ? INFINITY : 0;
  TSI_TRY(find_scale(s));
  return tsi_system_weigh(s);
}

/* ---- From equations to the device ---- */

static ts_status system_matrix_build(ts_system *s, ts_normal normal) {
  TSI_TRY(tsi_system_check_singular(s));
  if (s->applied) tsi_reduced_free(s->context, &s->reduced); /* its rows are conditions */
  s->applied = 0;
  if (s->desc.least_squares) return build_least_squares(s, normal);
  TSI_TRY(find_scale(s));
  return tsi_system_reduce(s);
}

/* The builder knows the number of components of the vectors. */
ts_format tsi_system_choose_format(const ts_system *s, const tsi_csr *csr, ts_format format, char *why,
                                   size_t size) {
  if (format != TS_FORMAT_AUTO) return format;
  const tsi_host_csr host = {.rows = csr->rows,
                             .columns = csr->columns,
                             .row_offsets = (int32_t *)csr->row_offsets,
                             .column_indices = (int32_t *)csr->column_indices};
  const int blocks = s->desc.components == 1 ? TSI_ONE_COMPONENT : TSI_SEVERAL_COMPONENTS;
  return tsi_format_choose(s->context, &host, blocks, why, size);
}

ts_status tsi_system_csr_create(ts_context *context, int32_t rows, int32_t columns, size_t entries,
                                const char *what, tsi_system_csr *out) {
  *out = (tsi_system_csr){.rows = rows,
                          .columns = columns,
                          .row_offsets = tsi_calloc(context, (size_t)rows + 1, sizeof *out->row_offsets),
                          .column_indices = tsi_malloc(context, entries, sizeof *out->column_indices),
                          .values = tsi_malloc(context, entries, sizeof *out->values)};
  if (out->row_offsets && out->column_indices && out->values) return TS_OK;
  return tsi_out_of_memory(context, what, 12 * entries);
}

void tsi_system_csr_free(ts_context *context, tsi_system_csr *csr) {
  tsi_free(context, csr->row_offsets);
  tsi_free(context, csr->column_indices);
  tsi_free(context, csr->values);
  *csr = (tsi_system_csr){0};
}

ts_precision tsi_system_storage_for(const ts_system *s, ts_precision of_solver) {
  const int single =
      of_solver == TS_PRECISION_AUTO ? !s->context->caps.pairs : of_solver == TS_PRECISION_SINGLE;
  return single ? TS_PRECISION_SINGLE : TS_PRECISION_DOUBLE;
}

/* Messages of solvers report rows as unknowns. */
static void name_unknowns(const ts_system *s) {
  ts_matrix_info *info = &s->matrix->info;
  int32_t *const rows[] = {&info->unsymmetric_row, &info->unsymmetric_column, &info->zero_diagonal_row};
  for (size_t k = 0; s->order && k < sizeof rows / sizeof *rows; k++)
    if (*rows[k] >= 0) *rows[k] = s->order[*rows[k]];
}

/* As tsi_matrix_desc.keep_host_copy. A larger number includes the uses of a smaller one. */
static int host_copy_for(const ts_system_solve_desc *how) {
  const tsi_preconditioner_kind *kind = tsi_preconditioner_row(how->solver.preconditioner_kind);
  return !kind || kind->choose ? 0 : kind->needs_entries ? 1 : -1;
}

static ts_status create_matrix(ts_system *s, const tsi_csr *csr, const unsigned char *locked,
                               const ts_system_solve_desc *how) {
  ts_matrix *matrix = NULL;
  char why[sizeof matrix->choice] = "";
  const tsi_matrix_desc desc = {.csr = *csr,
                                .format = tsi_system_choose_format(s, csr, how->format, why, sizeof why),
                                .precision = s->storage,
                                .keep_host_copy = host_copy_for(how),
                                .constrained = s->locked_count ? locked : NULL};
  TSI_TRY(tsi_matrix_create(s->context, &desc, &matrix));
  if (why[0]) memcpy(matrix->choice, why, sizeof why);
  s->matrix = matrix;
  s->host_copy = desc.keep_host_copy;
  return tsi_csr_bandwidth(s->context, csr, &s->bandwidth);
}

/* If only floats are stored, passes floats, which ts_matrix_create does not copy. */
static ts_status upload_natural(ts_system *s, const tsi_csr *csr, const ts_system_solve_desc *how,
                                int rebuild) {
  tsi_csr view = *csr;
  float *floats = NULL;
  if (s->storage == TS_PRECISION_SINGLE) {
    const size_t entries = (size_t)csr->row_offsets[csr->rows];
    floats = tsi_malloc(s->context, entries, sizeof *floats);
    if (!floats) return tsi_out_of_memory(s->context, "a system's matrix", entries * sizeof *floats);
    for (size_t e = 0; e < entries; e++) floats[e] = (float)csr->double_values[e];
    view.values = floats;
    view.double_values = NULL;
  }
  const ts_status status =
      rebuild ? create_matrix(s, &view, s->locked, how) : tsi_matrix_replace_values(s->matrix, &view);
  tsi_free(s->context, floats);
  return status;
}

/* Uploads in the order of the unknowns, or permuted. */
static ts_status upload(ts_system *s, const tsi_csr *csr, const ts_system_solve_desc *how, int rebuild) {
  if (!s->order) return upload_natural(s, csr, how, rebuild);
  unsigned char *locked = tsi_malloc(s->context, (size_t)s->desc.unknowns, 1);
  if (!locked) return tsi_out_of_memory(s->context, "another order", (size_t)s->desc.unknowns);
  tsi_system_csr ordered;
  ts_status status = tsi_system_permute(s, csr, &ordered, locked);
  const tsi_csr view = tsi_system_csr_view(&ordered);
  if (status == TS_OK)
    status = rebuild ? create_matrix(s, &view, locked, how) : tsi_matrix_replace_values(s->matrix, &view);
  if (status == TS_OK) name_unknowns(s);
  tsi_system_csr_free(s->context, &ordered);
  tsi_free(s->context, locked);
  return status;
}

static ts_status lay_out(ts_system *s, const ts_system_solve_desc *how, int rebuild) {
  if (s->applied) return tsi_system_lay_out_applied(s, how->format, rebuild);
  const tsi_csr csr = {.rows = s->desc.unknowns,
                       .columns = s->desc.unknowns,
                       .row_offsets = s->reduced.offsets,
                       .column_indices = s->reduced.columns,
                       .double_values = s->reduced.values};
  if (rebuild) {
    TSI_TRY(tsi_system_fetch(s));
    s->new_start = 1;
    tsi_system_release_device(s);
    if (how->order == TS_ORDER_RCM)
      TSI_TRY(tsi_system_find_order(s));
    else
      tsi_system_forget_order(s);
    TSI_TRY(tsi_csr_bandwidth(s->context, &csr, &s->bandwidth_natural));
  }
  return upload(s, &csr, how, rebuild);
}

ts_status tsi_system_prepare_matrix(ts_system *s, const ts_system_solve_desc *how, double *seconds_build,
                                    double *seconds_layout) {
  const double start = tsi_seconds();
  if (how->normal != s->how.normal) s->new_pattern = 1;
  const int other = s->new_pattern || s->new_values;
  const int rebuild = !s->matrix || s->new_pattern || how->format != s->how.format ||
                      how->order != s->how.order || (!s->applied && host_copy_for(how) > s->host_copy) ||
                      tsi_system_storage_for(s, how->solver.precision) > s->storage;
  if (rebuild) s->storage = tsi_system_storage_for(s, how->solver.precision);
  if (other) TSI_TRY(system_matrix_build(s, how->normal));
  const double built = tsi_seconds();
  *seconds_build = s->seconds_build + (other ? built - start : 0);
  if (other || rebuild) TSI_TRY(lay_out(s, how, rebuild));
  *seconds_layout = other || rebuild ? tsi_seconds() - built : 0;
  s->how.format = how->format;
  s->how.normal = how->normal;
  s->how.order = how->order;
  if (other) s->new_right_hand_sides = 1; /* the scale may have changed */
  s->new_pattern = s->new_values = 0;
  s->seconds_build = 0;
  return TS_OK;
}
