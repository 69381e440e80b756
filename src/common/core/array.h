/* Arrays of the application (ts_array): checked, and on the host in the type that the library works with. */
#ifndef TSI_ARRAY_H
#define TSI_ARRAY_H

#include "core.h"

/* What there is among doubles. */
typedef struct tsi_looked {
  tsi_exponents exponents;
  int are_floats;      /* NaN counts as one */
  size_t out_of_range; /* the first finite number that as a float is infinite; SIZE_MAX: none */
  double value;        /* that number */
} tsi_looked;

/* tsi_vector_write_doubles of numbers that have been looked at, with this exponent. */
ts_status tsi_vector_write_looked(ts_vector *v, const double *values, const tsi_looked *found, int exponent);

/* A matrix in canonical form in the device's memory, and what the host wants to know of it. */
struct tsi_given {
  const char *refusal; /* why the arrays have to be copied to the host instead; NULL: they need not */
  int32_t rows, columns;
  int64_t nonzeros, duplicates;
  size_t bytes; /* of what becomes the matrix */
  tsi_exponents exponents;
  int in_order;          /* the columns of each row ascend as given */
  int exponent;          /* the values are those given times 2^-exponent, */
  int negated;           /* or minus that */
  int negative_diagonal; /* of what is stored: an entry is negative */
  int parts;             /* of the values, low-order parts included; 0: they are 0 */
  double norm_infinity;
  int32_t longest_row, zero_diagonal_row, unsymmetric_row, unsymmetric_column; /* -1: none */
  int64_t thread_steps;                                                        /* as in tsi_row_lengths */
  int log2_subwarp;                                                            /* of csr, as in tsi_row_plan */
  int32_t row_block_count;                                                     /* the same */
  void *impl;                                                                  /* the backend's */
};

typedef struct tsi_given_options {
  int keeps_low_order; /* low-order parts of doubles are kept */
  int may_scale;       /* by a power of two and -1 */
} tsi_given_options;

/* What a backend does with arrays in its device's memory. */
struct tsi_array_ops {
  /* The array is in memory that the device can access, and its stream is the device's; the message begins with
   * `name`. */
  ts_status (*check)(ts_context *context, const char *name, const ts_array *array);
  /* Copies the bytes of the array to or from host memory, ordered with its stream. Waits. */
  ts_status (*read)(ts_context *context, const ts_array *array, void *host, size_t bytes);
  ts_status (*write)(ts_context *context, const ts_array *array, const void *host, size_t bytes);

  /* ---- Within tsi_enter and tsi_leave, and ordered with the arrays' streams ---- */

  /* Looks at doubles. Waits. */
  ts_status (*look)(ts_context *context, const ts_array *array, tsi_looked *found);
  /* The largest finite magnitude in the first part of v, as it is stored. Waits. */
  ts_status (*largest)(const ts_vector *v, float *largest);
  /* All parts of v become the numbers of the array times 2^-exponent; and the reverse, with v's exponent. */
  ts_status (*split)(ts_vector *v, const ts_array *array, int exponent);
  ts_status (*join)(const ts_vector *v, const ts_array *array);
  /* An array of the library's own, on the context's stream; and a copy of one on the host. */
  ts_status (*take)(ts_context *context, size_t count, ts_type type, ts_array *array);
  ts_status (*upload)(ts_context *context, const ts_array *host, ts_array *array);
  void (*give)(ts_context *context, const ts_array *array);
  /* Columns first .. first+width-1 of `whole`, which has `count`, to or from `part`, which has no others. */
  ts_status (*copy_columns)(ts_context *context, const ts_array *whole, size_t count, size_t first,
                            const ts_array *part, size_t width, int to_part);

  /* Brings a matrix of checked arrays, one of the two, to canonical form on the device. Nothing is there if it
   * fails, or if `refusal` is set. */
  ts_status (*take_matrix)(ts_context *context, const ts_csr *csr, const ts_triplets *triplets,
                           tsi_given_options options, tsi_given *given);
  void (*give_matrix)(ts_context *context, tsi_given *given);
  /* Its row offsets, which the caller frees, and the columns in some ranges. They wait. */
  ts_status (*read_offsets)(ts_context *context, const tsi_given *given, int32_t **offsets);
  ts_status (*read_samples)(ts_context *context, const tsi_given *given, const tsi_samples *samples,
                            int32_t *columns);
  /* Prepares such a matrix for csr or jagged, with the layout of the latter on the host. Waits. */
  ts_status (*lay_out)(ts_context *context, ts_format format, tsi_given *given, tsi_layout *layout);
  /* Whether A, which is csr, or jagged and made of arrays on the device, has this pattern. Waits. */
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

/* Number k of a checked array on the host, `missing` if the array is not given; and a new one. */
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

/* Those of an array that the library has made of doubles; NULL if it is not given. */
static inline const double *tsi_doubles(const ts_array *array) {
  return (const double *)array->data;
}

/* An array of `count` numbers of one of these types (TSI_FLOATING, TSI_INTEGER), which is written to or read.
 */
typedef enum tsi_access { TSI_READ, TSI_WRITE } tsi_access;
ts_status tsi_array_check(ts_context *context, const char *name, const ts_array *array, size_t count, int types,
                          tsi_access access);

/* What a call holds of the application's arrays: copies and converted numbers, to be freed at its end. */
enum { TSI_MAX_LOANS = 16 };
typedef struct tsi_loans {
  void *blocks[TSI_MAX_LOANS];
  int count;
} tsi_loans;
/* Memory for `count` numbers; `what` is for the message if there is none. */
ts_status tsi_loan(ts_context *context, const char *what, size_t count, ts_type type, tsi_loans *loans,
                   void **block);
void tsi_loans_free(ts_context *context, tsi_loans *loans);

/* Checks an array that is read, and returns its numbers on the host as they are: the array itself, or a copy of
 * what is on the device. */
ts_status tsi_array_borrow(ts_context *context, const char *name, const ts_array *array, size_t count,
                           int types, tsi_loans *loans, const void **numbers);
/* The same in one type. An integer beyond 32 bits is an error that names it. NULL if the array is not given. */
ts_status tsi_array_borrow_doubles(ts_context *context, const char *name, const ts_array *array, size_t count,
                                   tsi_loans *loans, const double **numbers);
ts_status tsi_array_borrow_floats(ts_context *context, const char *name, const ts_array *array, size_t count,
                                  tsi_loans *loans, const float **numbers);
ts_status tsi_array_borrow_int32(ts_context *context, const char *name, const ts_array *array, size_t count,
                                 tsi_loans *loans, const int32_t **numbers);
ts_status tsi_array_borrow_int64(ts_context *context, const char *name, const ts_array *array, size_t count,
                                 tsi_loans *loans, const int64_t **numbers);
/* Floats or doubles as they are, in one of the two; both NULL if the array is not given. */
ts_status tsi_array_borrow_values(ts_context *context, const char *name, const ts_array *array, size_t count,
                                  tsi_loans *loans, const float **floats, const double **doubles);

/* Memory on the host for numbers that are to be written to a checked array: the array itself, or a loan that
 * tsi_array_return copies to it, from then on. */
ts_status tsi_array_lend(ts_context *context, const ts_array *array, tsi_loans *loans, void **numbers);
ts_status tsi_array_return(ts_context *context, const ts_array *array, const void *numbers);
/* Writes numbers to a checked array, in its type: array->count doubles or floats. */
ts_status tsi_array_put(ts_context *context, const ts_array *array, const double *numbers);
ts_status tsi_array_put_floats(ts_context *context, const ts_array *array, const float *numbers);

#endif
