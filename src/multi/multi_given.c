/* Moves numbers of rows from the ranks that passed in the rows to those that hold them, and back. */
#include "multi_given.h"

#include <string.h>

#include "common/core/doubles.h"
#include "multi.h"

void multi_given_destroy(ts_context *context, multi_given *given) {
  if (!given) return;
  tsi_free(context, given->first);
  tsi_free(context, given->rank_of);
  tsi_free(context, given->from);
  tsi_free(context, given->rows);
  tsi_free(context, given);
}

static int32_t given_rows(const ts_context *context, const multi_given *given) {
  const int mine = ts_ranks_get_rank(context);
  return (int32_t)(given->first[mine + 1] - given->first[mine]);
}

static void *arrived(const ts_context *context, const multi_parcels *p, int r) {
  return r == ts_ranks_get_rank(context) ? p->out[r] : p->in[r];
}

static ts_status send(ts_context *context, const multi_given *given, size_t bytes, const char *values,
                      multi_parcels *p) {
  const int32_t rows = given_rows(context, given);
  for (int32_t i = 0; i < rows; i++) p->out_bytes[given->rank_of[i]] += bytes;
  TSI_TRY(multi_parcels_allocate(context, p));
  for (int32_t i = 0; i < rows; i++) {
    const int r = given->rank_of[i];
    memcpy((char *)p->out[r] + p->out_bytes[r], values + (size_t)i * bytes, bytes);
    p->out_bytes[r] += bytes;
  }
  return multi_parcels_exchange(context, p);
}

ts_status multi_carry_given(ts_context *context, const multi_given *given, size_t bytes, const void *values,
                            void *held) {
  multi_parcels p;
  TSI_TRY(multi_parcels_create(context, &p));
  const ts_status status = send(context, given, bytes, values, &p);
  for (int r = 0; r < ts_ranks_get_count(context) && status == TS_OK; r++) {
    const size_t count = (size_t)(given->from[r + 1] - given->from[r]);
    if (count) memcpy((char *)held + (size_t)given->from[r] * bytes, arrived(context, &p, r), count * bytes);
  }
  multi_parcels_destroy(context, &p);
  return status;
}

static ts_status send_back(ts_context *context, const multi_given *given, size_t bytes, const char *held,
                           multi_parcels *p) {
  const int ranks = ts_ranks_get_count(context);
  for (int r = 0; r < ranks; r++) p->out_bytes[r] = (size_t)(given->from[r + 1] - given->from[r]) * bytes;
  TSI_TRY(multi_parcels_allocate(context, p));
  for (int r = 0; r < ranks; r++) {
    p->out_bytes[r] = (size_t)(given->from[r + 1] - given->from[r]) * bytes;
    if (p->out_bytes[r]) memcpy(p->out[r], held + (size_t)given->from[r] * bytes, p->out_bytes[r]);
  }
  return multi_parcels_exchange(context, p);
}

ts_status multi_carry_back(ts_context *context, const multi_given *given, size_t bytes, const void *held,
                           void *values) {
  multi_parcels p;
  const int32_t rows = given_rows(context, given);
  TSI_TRY(multi_parcels_create(context, &p));
  const ts_status status = send_back(context, given, bytes, held, &p);
  memset(p.out_bytes, 0, (size_t)ts_ranks_get_count(context) * sizeof *p.out_bytes); /* now bytes read */
  for (int32_t i = 0; i < rows && status == TS_OK; i++) {
    const int r = given->rank_of[i];
    memcpy((char *)values + (size_t)i * bytes, (char *)arrived(context, &p, r) + p.out_bytes[r], bytes);
    p.out_bytes[r] += bytes;
  }
  multi_parcels_destroy(context, &p);
  return status;
}

/* ---- Numbers of rows ---- */

static void merge_known(void *mine, const void *other) {
  for (int k = 0; k < 3; k++)
    if (((int32_t *)mine)[k] < ((const int32_t *)other)[k]) ((int32_t *)mine)[k] = ((const int32_t *)other)[k];
}

ts_status multi_name_given_rows(ts_matrix *A) {
  ts_context *context = A->context;
  const multi_rows *rows = ((const multi_space *)A->row_space->impl)->rows;
  const multi_state *state = multi_state_of(context);
  int32_t *const names[3] = {&A->info.unsymmetric_row, &A->info.unsymmetric_column, &A->info.zero_diagonal_row};
  const int64_t first = rows->first[state->first], end = rows->first[state->first + state->own];
  int32_t known[3];
  for (int k = 0; k < 3; k++) {
    const int64_t row = *names[k];
    const int64_t given = row >= first && row < end ? rows->given->rows[row - first] : -1;
    known[k] = given > INT32_MAX ? INT32_MAX : (int32_t)given;
  }
  TSI_TRY(multi_merge_ranks(context, known, sizeof known, merge_known));
  for (int k = 0; k < 3; k++) *names[k] = known[k];
  return TS_OK;
}

/* ---- Vectors ---- */

static const multi_rows *rows_of(const ts_vector *v) {
  const multi_space *s = v->space->impl;
  return s ? s->rows : NULL;
}

static ts_status check_vector(const ts_vector *v) {
  if (!v->context->ops->agree || !rows_of(v))
    return tsi_fail(v->context, TS_ERROR_INVALID_ARGUMENT, "the vector is not over the rows of ranks");
  return TS_OK;
}

static size_t held_count(const ts_vector *v) {
  return (size_t)v->space->tiling.size * (size_t)v->components;
}

static ts_status alloc_held(const ts_vector *v, double **held) {
  *held = tsi_malloc(v->context, held_count(v), sizeof **held);
  return *held ? TS_OK : tsi_out_of_memory(v->context, "a vector", held_count(v) * sizeof **held);
}

/* Called by all ranks, which agree on the exponent. */
static ts_status write_held(ts_vector *v, const double *values) {
  tsi_looked found;
  TSI_TRY(tsi_doubles_look(v->context, values, held_count(v), &found));
  TSI_TRY(multi_merge_ranks(v->context, &found.exponents, sizeof found.exponents, multi_merge_exponents));
  if (tsi_may_grow(v)) { /* on every rank, otherwise some ranks would round */
    TSI_TRY(tsi_enter(v->context));
    TSI_TRY(tsi_leave(v->context, tsi_hold_doubles(v)));
  }
  return tsi_vector_write_looked(v, values, &found, tsi_exponent_for(v, found.exponents));
}

ts_status multi_write_given(ts_vector *v, const double *values) {
  ts_context *context = v->context;
  const multi_given *given = rows_of(v)->given;
  double *held;
  if (!given) return write_held(v, values);
  TSI_TRY(alloc_held(v, &held));
  ts_status status = multi_carry_given(context, given, (size_t)v->components * sizeof *held, values, held);
  if (status == TS_OK) status = write_held(v, held);
  tsi_free(context, held);
  return status;
}

ts_status multi_read_given(const ts_vector *v, double *values) {
  ts_context *context = v->context;
  const multi_given *given = rows_of(v)->given;
  double *held;
  if (!given) return tsi_vector_read_doubles(v, values);
  TSI_TRY(alloc_held(v, &held));
  ts_status status = tsi_vector_read_doubles(v, held);
  if (status == TS_OK)
    status = multi_carry_back(context, given, (size_t)v->components * sizeof *held, held, values);
  tsi_free(context, held);
  return status;
}

/* The count of numbers in the rows that this rank passed in. */
static size_t given_count(const ts_vector *v) {
  const multi_given *given = rows_of(v)->given;
  const int rank = ts_ranks_get_rank(v->context);
  return given ? (size_t)(given->first[rank + 1] - given->first[rank]) * (size_t)v->components : held_count(v);
}

static ts_status write_array(ts_vector *v, const ts_array *values) {
  tsi_loans loans = {0};
  const double *doubles = NULL;
  TSI_TRY(check_vector(v));
  ts_status status = tsi_array_borrow_doubles(v->context, "values", values, given_count(v), &loans, &doubles);
  if (status == TS_OK && !doubles) status = tsi_fail(v->context, TS_ERROR_INVALID_ARGUMENT, "values is NULL");
  if (status == TS_OK) status = multi_write_given(v, doubles);
  tsi_loans_free(v->context, &loans);
  return status;
}

ts_status ts_ranks_vector_write(ts_vector *vector, ts_array values) {
  TSI_BEGIN(vector, vector->context);
  tsi_begin_together(vector->context);
  return tsi_end_together(vector->context, write_array(vector, &values));
}

static ts_status read_array(const ts_vector *v, const ts_array *values) {
  tsi_loans loans = {0};
  void *doubles;
  TSI_TRY(check_vector(v));
  const size_t count = given_count(v);
  TSI_TRY(tsi_array_check(v->context, "values", values, count, TSI_FLOATING, TSI_WRITE));
  ts_status status = tsi_loan(v->context, "a vector", count, TS_TYPE_DOUBLE, &loans, &doubles);
  if (status == TS_OK) status = multi_read_given(v, doubles);
  if (status == TS_OK) status = tsi_array_put(v->context, values, doubles);
  tsi_loans_free(v->context, &loans);
  return status;
}

ts_status ts_ranks_vector_read(const ts_vector *vector, ts_array values) {
  TSI_BEGIN(vector, vector->context);
  tsi_begin_together(vector->context);
  return tsi_end_together(vector->context, read_array(vector, &values));
}

ts_status ts_ranks_matrix_get_rows(const ts_matrix *matrix, int64_t *rows) {
  TSI_BEGIN(matrix, matrix->context);
  TSI_REQUIRE(matrix->context, rows);
  if (!matrix->all_rows)
    return tsi_fail(matrix->context, TS_ERROR_INVALID_ARGUMENT, "the matrix is not made of the rows of ranks");
  const multi_rows *r = ((const multi_space *)matrix->row_space->impl)->rows;
  const int64_t first = r->first[multi_state_of(matrix->context)->first];
  for (int32_t i = 0; i < matrix->info.rows; i++) rows[i] = r->given ? r->given->rows[i] : first + i;
  return TS_OK;
}
