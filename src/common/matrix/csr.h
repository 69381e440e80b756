/* The user's matrix: validation and conversion to canonical form. */
#ifndef TSI_CSR_H
#define TSI_CSR_H

#include "common/core/array.h"
#include "common/core/core.h"
#include "common/layout/layout.h"

/* csr_given.c: the application's matrix. The result is valid as long as the loans exist. Checks the arrays, not
 * their contents. */
ts_status tsi_csr_given(ts_context *context, const ts_csr *given, tsi_loans *loans, tsi_csr *csr);
ts_status tsi_triplets_given(ts_context *context, const ts_triplets *given, tsi_loans *loans, tsi_csr *csr);
/* Checks that either csr or triplets is set, and all other fields of the descriptor. */
ts_status tsi_matrix_desc_check(ts_context *context, const ts_matrix_desc *given);
tsi_matrix_desc tsi_matrix_desc_without_arrays(const ts_matrix_desc *given);
ts_status tsi_matrix_desc_given(ts_context *context, const ts_matrix_desc *given, tsi_loans *loans,
                                tsi_matrix_desc *desc);

/* Converts a matrix to canonical form in the device's memory. Its arrays are there or on the host; one of csr
 * and triplets is NULL. `refusal` is the reason why the host must do it, or NULL. On return, given->refusal is
 * set if the caller must use the host's arrays. Otherwise the caller calls tsi_array_ops.free_matrix next. */
ts_status tsi_matrix_convert_given(ts_context *context, const ts_csr *csr, const ts_triplets *triplets,
                                   const char *refusal, tsi_given_options options, tsi_given *given);
static inline tsi_given_options tsi_given_options_of(ts_precision precision, int may_scale) {
  return (tsi_given_options){precision != TS_PRECISION_SINGLE, may_scale};
}

/* ---- csr_look.c ---- */

/* Facts about a matrix as given. */
typedef struct tsi_csr_facts {
  int in_order;      /* columns ascend in every row without duplicates, constrained rows are empty */
  int has_low_parts; /* some values are doubles that are not floats */
  int32_t longest_row;
  uint64_t fingerprint;      /* tsi_csr_fingerprint */
  tsi_exponents exponents;   /* of the values */
  double norm_infinity;      /* the largest row sum of magnitudes */
  int32_t zero_diagonal_row; /* first row with 0 on the diagonal; -1: none, or not square */
  int negative_diagonal;     /* some diagonal element is negative; these three use the values as floats */
  int is_negative;           /* square, and every diagonal entry exists and is negative */
  int has_mirrors;           /* symmetric; if 0, the matrix may be symmetric within rounding */
} tsi_csr_facts;

/* Checks that offsets ascend, columns are in range and values are finite. The message names row and entry. If
 * values are missing, all are 0. */
ts_status tsi_csr_look(ts_context *context, const tsi_csr *csr, const unsigned char *constrained,
                       tsi_csr_facts *facts);
ts_status tsi_csr_validate(ts_context *context, const tsi_csr *csr);
/* A 64-bit hash of the sparsity pattern. */
uint64_t tsi_csr_fingerprint(const ts_context *context, const tsi_csr *csr);

/* ---- csr_canonical.c ---- */

enum {
  TSI_CSR_COPY = 1,        /* arrays owned by the result */
  TSI_CSR_COPY_VALUES = 2, /* at least its values, which must exist */
  TSI_CSR_LOW_PARTS = 4    /* the low-order parts of doubles */
};

/* The flag that a precision requires. */
static inline unsigned tsi_csr_low_parts(ts_precision precision) {
  return precision == TS_PRECISION_SINGLE ? 0 : TSI_CSR_LOW_PARTS;
}

/* Converts to canonical form: columns ascend, duplicates are added (*duplicates is their number), constrained
 * rows are empty. Borrows the user's arrays if they already are in this form and the flags do not request a
 * copy. `facts` are those of csr; NULL: the function finds them. */
ts_status tsi_csr_canonical(ts_context *context, const tsi_csr *csr, const unsigned char *constrained,
                            const tsi_csr_facts *facts, unsigned flags, tsi_host_csr *out, int64_t *duplicates);
void tsi_csr_free(ts_context *context, tsi_host_csr *csr);

/* csr_transpose.c: owns its arrays; its columns ascend. Values are floats or doubles as in `from`. */
ts_status tsi_csr_transpose(ts_context *context, const tsi_csr *from, tsi_csr *to);
void tsi_csr_transposed_free(ts_context *context, tsi_csr *csr);

/* ---- csr_scale.c ---- */

/* out = csr with its values times 2^-exponent, or -2^-exponent if `negated`. The values are in `memory`, or
 * NULL if they are those of csr. */
ts_status tsi_csr_scale(ts_context *context, const tsi_csr *csr, int exponent, int negated, tsi_csr *out,
                        void **memory);

/* csr_diagonals.c: the offsets j - i of the diagonals if the entries of a square matrix lie on few of them and
 * fill most of each, according to a few rows; they ascend, and for each there is its negative. Returns their
 * number, or 0. */
enum { TSI_MOST_DIAGONALS = 32 };
int tsi_csr_diagonals(int32_t rows, const int32_t *row_offsets, const int32_t *columns, int32_t *offsets);

/* csr_inspect.c: whether two mirrored entries are equal within the rounding errors of assembly in single
 * precision. */
int tsi_nearly_equal(float a, float b, float diagonal_a, float diagonal_b);

/* Sets longest_row, symmetric, unsymmetric_row, unsymmetric_column, zero_diagonal_row and negative_diagonal of
 * `info` for a matrix in canonical form, and computes its largest row sum of magnitudes. `facts` are those of
 * the matrix as given; they are used if it was in order. */
ts_status tsi_csr_inspect(ts_context *context, const tsi_host_csr *A, const unsigned char *constrained,
                          const tsi_csr_facts *facts, ts_matrix_info *info, double *norm_infinity);
/* Computes only the last of these. */
ts_status tsi_csr_norm(ts_context *context, const tsi_host_csr *A, double *norm_infinity);

/* ---- matrix_read.c ---- */

/* The stored entries of a matrix. They may include zeros that fill blocks and diagonals. Columns within a row
 * are unordered. Values are doubles if the matrix has low-order parts. */
typedef struct tsi_matrix_entries {
  tsi_csr csr; /* refers to the host copy, or to the arrays below */
  int32_t *offsets, *columns;
  float *values;
  double *doubles;
} tsi_matrix_entries;
/* Calls `visit` for each entry of A, or of one of its low-order parts, without the parts below it. The order is
 * the same for all of them. */
ts_status tsi_matrix_visit(const ts_matrix *A, tsi_entry_visitor visitor, void *user);
ts_status tsi_matrix_read(const ts_matrix *A, tsi_matrix_entries *entries);
void tsi_matrix_entries_free(ts_context *context, tsi_matrix_entries *entries);

/* ---- matrix_copy.c ---- */

/* Copies csr, which is A in canonical form. On the CPU the copy may refer to A's arrays, unless the application
 * has requested it. */
ts_status tsi_matrix_make_host_copy(ts_matrix *A, const tsi_host_csr *csr, int asked_for);
void tsi_matrix_drop_host_copy(ts_matrix *A);
/* Reads a host copy back from the device if the caller's matrix has none, unless the device has its own AMG.
 * Waits for the device. */
ts_status tsi_matrix_keep_host_copy(ts_matrix *A);
/* The host copy. Its values times 2^exponent are those of the matrix. */
ts_status tsi_matrix_stored_copy(const ts_matrix *matrix, tsi_csr *csr);

/* ---- matrix_values.c ---- */

/* Stores new values unchanged; checks their pattern. */
ts_status tsi_matrix_set_values(ts_matrix *A, const tsi_csr *csr, const tsi_csr_facts *facts);
ts_status tsi_matrix_check_pattern(const ts_matrix *A, const tsi_csr *csr, const tsi_csr_facts *facts);
/* Writes new values in canonical form to A alone, or to its low-order part, which is created if necessary. */
ts_status tsi_matrix_write_values(ts_matrix *A, const tsi_host_csr *values);
ts_status tsi_matrix_write_low_part(ts_matrix *A, const tsi_host_csr *values);
/* Replaces A's low-order parts by those of `csr`; `blocks` is NULL if the layout already has them. */
ts_status tsi_matrix_write_low_parts(ts_matrix *A, const tsi_host_csr *csr, tsi_blocks *blocks);
void tsi_matrix_destroy_low_parts(ts_matrix *A);
/* Writes the low-order parts of values that are already on the device. */
ts_status tsi_matrix_write_given_low_parts(ts_matrix *A, const tsi_given *given);
/* Sets the facts known about these values. */
void tsi_matrix_inform(ts_matrix *A, const tsi_given *given);
/* `lost` is the largest magnitude that the low-order parts cannot represent. */
void tsi_matrix_warn_of_lost_digits(const ts_matrix *A, double lost);
tsi_layout_input tsi_matrix_layout_input(const ts_matrix *A, const tsi_host_csr *csr, tsi_blocks *blocks);

/* ---- matrix.c ---- */

/* ts_matrix_create and ts_matrix_set_values for arrays on the host. */
ts_status tsi_matrix_create(ts_context *context, const tsi_matrix_desc *desc, ts_matrix **matrix);
ts_status tsi_matrix_replace_values(ts_matrix *A, const tsi_csr *csr);
/* The same functions without scaling, for internal matrices: their products are not scaled back. */
ts_status tsi_matrix_create_as_is(ts_context *context, const tsi_matrix_desc *desc, ts_matrix **matrix);
ts_status tsi_matrix_set_values_as_is(ts_matrix *A, const tsi_csr *csr);
/* The same function without checks, for an internal matrix without constrained rows, host copy or double
 * precision. The pattern must be A's, in canonical form. A->info stays unchanged. */
ts_status tsi_matrix_set_values_unchecked(ts_matrix *A, const tsi_csr *csr);

/* A csr matrix in a linear space that the backend itself has built. `impl` belongs to the backend, and to the
 * matrix if the call succeeds. */
typedef struct tsi_device_csr {
  int32_t rows, columns;
  int64_t entries;
  size_t bytes;
  ts_space *row_space, *column_space; /* NULL: a new space; a square matrix has one for both */
} tsi_device_csr;
ts_status tsi_matrix_adopt(ts_context *context, const tsi_device_csr *csr, const tsi_matrix_kind *kind,
                           void *impl, ts_matrix **matrix);

#endif
