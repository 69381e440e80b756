/* A matrix as the user gives it: validated, then brought to canonical form. */
#ifndef TSI_CSR_H
#define TSI_CSR_H

#include "common/core/array.h"
#include "common/core/core.h"
#include "common/layout/layout.h"

/* csr_given.c: the application's matrix, which the loans hold as long as they are there. Checks its arrays, not
 * what is in them. */
ts_status tsi_csr_given(ts_context *context, const ts_csr *given, tsi_loans *loans, tsi_csr *csr);
ts_status tsi_triplets_given(ts_context *context, const ts_triplets *given, tsi_loans *loans, tsi_csr *csr);
/* One of csr and triplets is set; and all else of the descriptor. */
ts_status tsi_matrix_desc_check(ts_context *context, const ts_matrix_desc *given);
tsi_matrix_desc tsi_matrix_desc_without_arrays(const ts_matrix_desc *given);
ts_status tsi_matrix_desc_given(ts_context *context, const ts_matrix_desc *given, tsi_loans *loans,
                                tsi_matrix_desc *desc);

/* Brings a matrix to canonical form in the device's memory, of arrays that are there or on the host: one of the
 * two is given. `refusal`: why the host has to do it, NULL if it need not. given->refusal is set if the caller
 * has to work with the host's arrays; else tsi_array_ops.give_matrix follows. */
ts_status tsi_matrix_take_given(ts_context *context, const ts_csr *csr, const ts_triplets *triplets,
                                const char *refusal, tsi_given_options options, tsi_given *given);
static inline tsi_given_options tsi_given_options_of(ts_precision precision, int may_scale) {
  return (tsi_given_options){precision != TS_PRECISION_SINGLE, may_scale};
}

/* ---- csr_look.c ---- */

/* What is known of a matrix as it is given. */
typedef struct tsi_csr_facts {
  int in_order;  /* columns ascend in every row, none is there twice, constrained rows are empty */
  int has_rests; /* values are doubles that floats do not hold */
  int32_t longest_row;
  uint64_t fingerprint;      /* tsi_csr_fingerprint */
  tsi_exponents exponents;   /* of the values */
  double norm_infinity;      /* the largest sum of magnitudes in a row, */
  int32_t zero_diagonal_row; /* the first row with 0 on the diagonal, -1: none, or the matrix is not square, */
  int negative_diagonal;     /* whether a number on the diagonal is negative: all three of values as floats */
  int is_negative;           /* square, and every diagonal entry is there and negative */
  int has_mirrors;           /* symmetric; if not set, it may be so within rounding */
} tsi_csr_facts;

/* Offsets ascend, columns are in range, values are finite; the message names row and entry. Without values
 * everything counts as 0. */
ts_status tsi_csr_look(ts_context *context, const tsi_csr *csr, const unsigned char *constrained,
                       tsi_csr_facts *facts);
ts_status tsi_csr_validate(ts_context *context, const tsi_csr *csr);
/* A 64-bit hash of the sparsity pattern. */
uint64_t tsi_csr_fingerprint(const ts_context *context, const tsi_csr *csr);

/* ---- csr_canonical.c ---- */

enum {
  TSI_CSR_COPY = 1,        /* arrays of its own */
  TSI_CSR_COPY_VALUES = 2, /* at least of values, which there are */
  TSI_CSR_RESTS = 4        /* what floats lack of doubles */
};

/* The flag for what a precision asks for. */
static inline unsigned tsi_csr_rests(ts_precision precision) {
  return precision == TS_PRECISION_SINGLE ? 0 : TSI_CSR_RESTS;
}

/* Canonical form: columns ascending, duplicates added up (their number in *duplicates), constrained rows empty.
 * Borrows the user's arrays if they are so already and the flags do not ask for a copy. `facts`: of csr; NULL:
 * it looks itself. */
ts_status tsi_csr_canonical(ts_context *context, const tsi_csr *csr, const unsigned char *constrained,
                            const tsi_csr_facts *facts, unsigned flags, tsi_host_csr *out, int64_t *duplicates);
void tsi_csr_free(ts_context *context, tsi_host_csr *csr);

/* csr_transpose.c: arrays of its own, with columns that ascend. Values are floats or doubles as in `from`. */
ts_status tsi_csr_transpose(ts_context *context, const tsi_csr *from, tsi_csr *to);
void tsi_csr_transposed_free(ts_context *context, tsi_csr *csr);

/* ---- csr_scale.c ---- */

/* out = csr with its values times 2^-exponent, or -2^-exponent if `negated`. They are in `memory`, NULL if they
 * are csr's own. */
ts_status tsi_csr_scale(ts_context *context, const tsi_csr *csr, int exponent, int negated, tsi_csr *out,
                        void **memory);

/* csr_inspect.c: two entries that mirror each other are equal within what assembly in single precision leaves.
 */
int tsi_nearly_equal(float a, float b, float diagonal_a, float diagonal_b);

/* Fills longest_row, symmetric, unsymmetric_row, unsymmetric_column, zero_diagonal_row and negative_diagonal of
 * `info`, and the largest sum of magnitudes in a row, of a matrix in canonical form. `facts`: of the matrix as
 * it was given, which serve if it was in order. */
ts_status tsi_csr_inspect(ts_context *context, const tsi_host_csr *A, const unsigned char *constrained,
                          const tsi_csr_facts *facts, ts_matrix_info *info, double *norm_infinity);
/* The last of these alone. */
ts_status tsi_csr_norm(ts_context *context, const tsi_host_csr *A, double *norm_infinity);

/* ---- matrix_read.c ---- */

/* What a matrix stores, which may be more than was given: zeros that fill blocks and diagonals. Columns within
 * a row have no order. Values are doubles where the matrix has rests. */
typedef struct tsi_matrix_entries {
  tsi_csr csr; /* refers to the host copy, or to these */
  int32_t *offsets, *columns;
  float *values;
  double *doubles;
} tsi_matrix_entries;
/* Calls `visit` for each entry that A or a rest has, without its own rests, in one order for all of them. */
ts_status tsi_matrix_visit(const ts_matrix *A, tsi_entry_visitor visitor, void *user);
ts_status tsi_matrix_read(const ts_matrix *A, tsi_matrix_entries *entries);
void tsi_matrix_entries_free(ts_context *context, tsi_matrix_entries *entries);

/* ---- matrix_copy.c ---- */

/* Of csr, which is A in canonical form. Unless the application has asked for it, the CPU's may be A's arrays.
 */
ts_status tsi_matrix_make_host_copy(ts_matrix *A, const tsi_host_csr *csr, int asked_for);
void tsi_matrix_drop_host_copy(ts_matrix *A);
/* A matrix of the caller's that has no host copy gets one of what the device has, unless that has its own AMG.
 * Synchronises with the device. */
ts_status tsi_matrix_keep_host_copy(ts_matrix *A);
/* The host copy, whose values times 2^exponent are the matrix's. */
ts_status tsi_matrix_stored_copy(const ts_matrix *matrix, tsi_csr *csr);

/* ---- matrix_values.c ---- */

/* New values, stored as they are, and the check of their pattern. */
ts_status tsi_matrix_set_values(ts_matrix *A, const tsi_csr *csr, const tsi_csr_facts *facts);
ts_status tsi_matrix_check_pattern(const ts_matrix *A, const tsi_csr *csr, const tsi_csr_facts *facts);
/* New values in canonical form, of A alone and of its rest, which is created where there is none. */
ts_status tsi_matrix_write_values(ts_matrix *A, const tsi_host_csr *values);
ts_status tsi_matrix_write_rest(ts_matrix *A, const tsi_host_csr *values);
/* Makes A's rests those of `csr`; blocks are NULL where the layout has them already. */
ts_status tsi_matrix_write_rests(ts_matrix *A, const tsi_host_csr *csr, tsi_blocks *blocks);
void tsi_matrix_destroy_rest(ts_matrix *A);
/* The low-order parts of values that are on the device already. */
ts_status tsi_matrix_write_given_rests(ts_matrix *A, const tsi_given *given);
/* What is known of them. */
void tsi_matrix_inform(ts_matrix *A, const tsi_given *given);
/* `lost`: the largest magnitude that the rests have no digits for. */
void tsi_matrix_warn_of_lost_digits(const ts_matrix *A, double lost);
tsi_layout_input tsi_matrix_layout_input(const ts_matrix *A, const tsi_host_csr *csr, tsi_blocks *blocks);

/* ---- matrix.c ---- */

/* ts_matrix_create and ts_matrix_set_values of arrays on the host. */
ts_status tsi_matrix_create(ts_context *context, const tsi_matrix_desc *desc, ts_matrix **matrix);
ts_status tsi_matrix_replace_values(ts_matrix *A, const tsi_csr *csr);
/* The same without scaling, for matrices of the library's own: nothing scales their products back. */
ts_status tsi_matrix_create_as_is(ts_context *context, const tsi_matrix_desc *desc, ts_matrix **matrix);
ts_status tsi_matrix_set_values_as_is(ts_matrix *A, const tsi_csr *csr);
/* The same without looking at them, of a matrix that the library made, without constrained rows, a host copy or
 * double precision: the pattern is A's, in canonical form, and A->info stays. */
ts_status tsi_matrix_set_values_unchecked(ts_matrix *A, const tsi_csr *csr);

/* A matrix as csr that the backend has made by itself, in a linear space: `impl` is its own and goes
 * to the matrix unless this fails. */
typedef struct tsi_device_csr {
  int32_t rows, columns;
  int64_t entries;
  size_t bytes;
  ts_space *row_space, *column_space; /* NULL: a new one; of a square matrix one for both */
} tsi_device_csr;
ts_status tsi_matrix_adopt(ts_context *context, const tsi_device_csr *csr, const tsi_matrix_kind *kind,
                           void *impl, ts_matrix **matrix);

#endif
