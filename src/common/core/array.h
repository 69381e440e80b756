/* Arrays of the application (ts_array): checks, and access on the host in the type that the library needs. */
#ifndef TSI_ARRAY_H
#define TSI_ARRAY_H

#include "core.h"

/* Facts about an array of doubles. */
typedef struct tsi_looked {
  tsi_exponents exponents;
  int are_floats;      /* every number is a float; NaN counts as one */
  size_t out_of_range; /* index of the first finite number that overflows as a float; SIZE_MAX: none */
  double value;        /* that number */
} tsi_looked;

/* tsi_vector_write_doubles with this exponent, for numbers with known facts. */
ts_status tsi_vector_write_looked(ts_vector *v, const double *values, const tsi_looked *found, int exponent);

/* A matrix in canonical form in device memory, and facts about it for the host. */
struct tsi_given {
  const char *refusal; /* why the arrays must be copied to the host instead; NULL: not necessary */
  int32_t rows, columns;
  int64_t nonzeros, duplicates;
  size_t bytes; /* memory of the final matrix */
  tsi_exponents exponents;
  int in_order;          /* the columns of each row were already ascending */
  int exponent;          /* the stored values are the given ones times 2^-exponent */
  int negated;           /* and times -1 */
  int negative_diagonal; /* of the stored diagonal: an entry is negative */
  int parts;             /* of the values, including low-order parts; 0: all values are 0 */
  double norm_infinity;
  int32_t longest_row, zero_diagonal_row, unsymmetric_row, unsymmetric_column; /* -1: none */
  int64_t thread_steps;                                                        /* as in tsi_row_lengths */
  int log2_subwarp;                                                            /* of csr, as in tsi_row_plan */
  int32_t row_block_count;                                                     /* as in tsi_row_plan */
  void *impl;                                                                  /* of the backend */
};

typedef struct tsi_given_options {
  int keeps_low_order; /* keep the low-order parts of doubles */
  int may_scale;       /* by a power of two and by -1 */
} tsi_given_options;

/* A backend's operations for arrays in device memory. */
struct tsi_array_ops {
  /* Checks that the device can access the array, and that the stream belongs to the device. The message starts
   * with `name`. */
  ts_status (*check)(ts_context *context, const char *name, const ts_array *array);
  /* Copies the bytes of the array to or from host memory, ordered with its stream. Synchronises. */
  ts_status (*read)(ts_context *context, const ts_array *array, void *host, size_t bytes);
  ts_status (*write)(ts_context *context, const ts_array *array, const void *host, size_t bytes);

  /* ---- Called between tsi_enter and tsi_leave, and ordered with the arrays' streams ---- */

  /* Finds the facts of doubles. Synchronises. */
  ts_status (*look)(ts_context *context, const ts_array *array, tsi_looked *found);
  /* The largest finite magnitude in the first part of v, as stored. Synchronises. */
  ts_status (*largest)(const ts_vector *v, float *largest);
  /* Splits the numbers of the array, times 2^-exponent, into all parts of v; and the reverse, with v's
   * exponent. */
  ts_status (*split)(ts_vector *v, const ts_array *array, int exponent);
  ts_status (*join)(const ts_vector *v, const ts_array *array);
  /* Allocates an array of the library on the context's stream; and uploads one from the host. */
  ts_status (*alloc)(ts_context *context, size_t count, ts_type type, ts_array *array);
  ts_status (*upload)(ts_context *context, const ts_array *host, ts_array *array);
  void (*free)(ts_context *context, const ts_array *array);
  /* Copies columns first .. first+width-1 of `whole`, which has `count` columns, to or from `part`, which has
   * only these. */
  ts_status (*copy_columns)(ts_context *context, const ts_array *whole, size_t count, size_t first,
                            const ts_array *part, size_t width, int to_part);

  /* Converts a matrix of checked arrays, csr or triplets, to canonical form on the device. On failure, or if
   * `refusal` is set, nothing is allocated. */
  ts_status (*convert_matrix)(ts_context *context, const ts_csr *csr, const ts_triplets *triplets,
                              tsi_given_options options, tsi_given *given);
  void (*free_matrix)(ts_context *context, tsi_given *given);
  /* Reads ranges of the row offsets or of the columns. Synchronises. */
  ts_status (*read_samples)(ts_context *context, const tsi_given *given, const tsi_samples *samples,
                            int are_offsets, int32_t *numbers);
  /* Prepares such a matrix for csr or jagged, with the layout of the latter on the host. Synchronises. */
  ts_status (*lay_out)(ts_context *context, ts_format format, tsi_given *given, tsi_layout *layout);
  /* Whether A has this pattern. A is csr, or jagged created from device arrays. Synchronises. */
  ts_status (*has_pattern)(const ts_matrix *A, const tsi_given *given, int *same);
};

enum {
  TSI_FLOATING = 1 << TS_TYPE_FLOAT | 1 << TS_TYPE_DOUBLE,
  TSI_INTEGER = 1 << TS_TYPE_INT32 | 1 << TS_TYPE_INT64
};

static inline int tsi_is_given(const ts_array *array) {
  return array->data != NULL;
}
static inline size_t tsi_type_size(ts_type type) {
  return type == TS_TYPE_FLOAT || type == TS_TYPE_INT32 ? 4 : 8;
}

/* Number k of a checked array on the host, `missing` if the array is not given; and sets number k. */
static inline double tsi_array_number(const ts_array *array, size_t k, double missing) {
  if (!tsi_is_given(array)) return missing;
  return array->type == TS_TYPE_DOUBLE ? ((const double *)array->data)[k]
                                       : (double)((const float *)array->data)[k];
}
static inline void tsi_array_set(const ts_array *array, size_t k, double value) {
  if (array->type == TS_TYPE_DOUBLE)
    ((double *)array->data)[k] = value;
  else
    ((float *)array->data)[k] = (float)value;
}

/* The numbers of an array that the library converted to doubles; NULL if the array is not given. */
static inline const double *tsi_doubles(const ts_array *array) {
  return (const double *)array->data;
}

/* Checks an array of `count` numbers of one of these types (TSI_FLOATING, TSI_INTEGER) for reading or
 * writing. */
typedef enum tsi_access { TSI_READ, TSI_WRITE } tsi_access;
ts_status tsi_array_check(ts_context *context, const char *name, const ts_array *array, size_t count, int types,
                          tsi_access access);

/* Copies and converted numbers of the application's arrays, freed at the end of a call. */
enum { TSI_MAX_LOANS = 16 };
typedef struct tsi_loans {
  void *blocks[TSI_MAX_LOANS];
  int count;
} tsi_loans;
/* Allocates memory for `count` numbers. `what` is for the message of a failure. */
ts_status tsi_loan(ts_context *context, const char *what, size_t count, ts_type type, tsi_loans *loans,
                   void **block);
void tsi_loans_free(ts_context *context, tsi_loans *loans);

/* Checks an array for reading, and returns its numbers on the host in their type: the array itself, or a copy
 * of device memory. */
ts_status tsi_array_borrow(ts_context *context, const char *name, const ts_array *array, size_t count,
                           int types, tsi_loans *loans, const void **numbers);
/* Borrows the array in one type. An integer beyond 32 bits is an error with its index. NULL if the array is not
 * given. */
ts_status tsi_array_borrow_doubles(ts_context *context, const char *name, const ts_array *array, size_t count,
                                   tsi_loans *loans, const double **numbers);
ts_status tsi_array_borrow_floats(ts_context *context, const char *name, const ts_array *array, size_t count,
                                  tsi_loans *loans, const float **numbers);
ts_status tsi_array_borrow_int32(ts_context *context, const char *name, const ts_array *array, size_t count,
                                 tsi_loans *loans, const int32_t **numbers);
ts_status tsi_array_borrow_int64(ts_context *context, const char *name, const ts_array *array, size_t count,
                                 tsi_loans *loans, const int64_t **numbers);
/* Borrows floats or doubles without conversion, in one of the two. Both are NULL if the array is not given. */
ts_status tsi_array_borrow_values(ts_context *context, const char *name, const ts_array *array, size_t count,
                                  tsi_loans *loans, const float **floats, const double **doubles);

/* Host memory for numbers to be written to a checked array: the array itself, or a loan that tsi_array_return
 * copies to it. */
ts_status tsi_array_lend(ts_context *context, const ts_array *array, tsi_loans *loans, void **numbers);
ts_status tsi_array_return(ts_context *context, const ts_array *array, const void *numbers);
/* Writes numbers to a checked array in its type: array->count doubles or floats. */
ts_status tsi_array_put(ts_context *context, const ts_array *array, const double *numbers);
ts_status tsi_array_put_floats(ts_context *context, const ts_array *array, const float *numbers);

#endif
