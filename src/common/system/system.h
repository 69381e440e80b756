/* The system builder, in steps: what is added (system_rows.c), the equations from it (system_equations.c), the
 * matrix without locked unknowns (system_reduce.c, system_normal.c) on the device (system_matrix.c), vectors
 * and solvers (system_solve.c), and how good the solution is (system_residual.c). Unknowns are in system.c. */
#ifndef TSI_SYSTEM_H
#define TSI_SYSTEM_H

#include <texsolve/reorder.h>
#include <texsolve/system.h>

#include "common/core/core.h"
#include "common/matrix/csr.h"

/* What was added, in the order of the calls. Places outlive ts_system_begin, so that the same ones are
 * recognised when they come again. */
typedef struct tsi_assembly {
  int32_t *rows; /* of entry e: the number of the row, or, added with ts_system_add, -1 - the equation */
  int32_t *unknowns;
  double *coefficients;
  int64_t count, capacity;
  int64_t known;            /* so many places are those of the equations before; 0 once one was another */
  double *right_hand_sides; /* `components` a row */
  double *weights;
  int32_t row_count, row_capacity;
  double *added; /* right-hand sides of ts_system_add_right_hand_side, for all equations; NULL: none */
} tsi_assembly;

/* Equations or conditions over all unknowns: CSR, columns ascending, each once. */
typedef struct tsi_equations {
  int32_t rows;
  int32_t *offsets, *columns;
  double *values;
  int32_t *slots;           /* where entry e as added goes, then those of mirrors; NULL: in their order */
  int64_t places_of;        /* entries that the places are of */
  int32_t *row_of;          /* the equation that row r is; NULL: its number */
  double *right_hand_sides; /* rows x components; in a square system multiplied by weights, as the values are */
  double *weights;
} tsi_equations;

/* The matrix without locked unknowns, whose rows and columns are empty, and what they are coupled by: the
 * system is scale M x = scale (b - K x_locked), of which the left side is stored so. */
typedef struct tsi_reduced {
  int64_t count, capacity;
  int32_t *offsets, *columns;
  double *values;
  int64_t coupling_count, coupling_capacity;
  int32_t *coupling_offsets, *coupling_columns;
  double *coupling_values;
  double *right_hand_sides; /* A^T W b of normal equations; NULL: those of the equations */
  double scale;             /* a power of two that both sides are multiplied by */
  int positive_diagonal;    /* of all unlocked unknowns */
} tsi_reduced;

/* A matrix of doubles with arrays of its own. */
typedef struct tsi_system_csr {
  int32_t rows, columns;
  int32_t *row_offsets, *column_indices;
  double *values;
} tsi_system_csr;

typedef enum tsi_system_state {
  TSI_SYSTEM_EMPTY,
  TSI_SYSTEM_OPEN,
  TSI_SYSTEM_IN_ROW,
  TSI_SYSTEM_READY
} tsi_system_state;

struct ts_system {
  ts_context *context;
  ts_system_desc desc; /* resolved */
  tsi_system_state state;
  double *values; /* unknowns x components */
  unsigned char *locked;
  int32_t locked_count;
  double open_row[4]; /* right-hand sides of the open row */
  int64_t open_entry; /* its first one */

  tsi_assembly assembly;
  tsi_equations equations;
  tsi_reduced reduced;

  /* What has to be done before the next solve. */
  int new_pattern; /* other places or locks: everything is rebuilt */
  int new_values;  /* of the matrix */
  int new_right_hand_sides;
  int new_locked_values;
  int new_start;        /* all values */
  int values_on_device; /* the solution is there, and not yet in `values` */

  double *numbers; /* on the way to and from the device */
  size_t numbers_capacity;
  ts_system_solve_desc how; /* resolved, what the objects below were made for */
  int32_t *order, *places; /* unknowns by their index on the device, and the other way round; NULL: their own */
  ts_bandwidth bandwidth, bandwidth_natural;
  int applied;                        /* A and A^T instead of A^T A */
  double bytes_formed, bytes_applied; /* that a product would read, as far as known */
  ts_precision storage;               /* of the objects below: single, or double, which single solves use too */
  ts_matrix *matrix, *transposed;     /* the second where they are applied */
  ts_vector *b, *x;
  ts_vector *given; /* values of locked unknowns, 0 elsewhere; made when it is needed */
  ts_solver *solver;
  int host_copy;                     /* of `matrix`, as tsi_matrix_desc.keep_host_copy was */
  ts_preconditioner *preconditioner; /* made from `matrix`; it outlives solvers with other options */
  double seconds_build;              /* since the last solve */
};

static inline size_t tsi_system_numbers(const ts_system *s) {
  return (size_t)s->desc.unknowns * (size_t)s->desc.components;
}

/* Makes room for `needed` elements of `size` bytes; `capacity` is the array's, and `used` elements are kept. */
ts_status tsi_system_grow(ts_context *context, void **array, int64_t used, int64_t capacity, size_t size,
                          const char *what);
/* The capacity that follows one that is too small. */
int64_t tsi_system_larger(int64_t capacity, int64_t needed);

/* One line of error where the unknown does not exist, and where there are no finished equations. */
ts_status tsi_system_check_unknown(const ts_system *s, int32_t unknown, const char *function);
ts_status tsi_system_check_ready(const ts_system *s, const char *function);

/* Brings the solution back if it is still on the device. */
ts_status tsi_system_fetch(ts_system *s);

/* ---- system_equations.c: from what was added; at the same places values only ---- */
ts_status tsi_equations_create(ts_system *s);
void tsi_equations_free(ts_context *context, tsi_equations *equations);

/* ---- system_reduce.c, system_normal.c ---- */
ts_status tsi_system_reduce(ts_system *s);
/* `*fits` is 0 and nothing is formed where it would have more entries than `most`. */
ts_status tsi_system_form_normal(ts_system *s, int64_t most, int *fits);
/* A^T W b as assembled, of all unknowns. */
ts_status tsi_system_normal_right_hand_sides(ts_system *s);
void tsi_reduced_free(ts_context *context, tsi_reduced *reduced);
/* b - K x_locked, of an applied system with the roots of weights; 0 in rows of locked unknowns. An error where
 * single precision does not hold the largest. */
ts_status tsi_system_right_hand_sides(const ts_system *s, double *out);
/* Empty, with offsets for `rows` rows; then room for `more` entries; then entries and ends of rows in order; a
 * row of nothing but zeros in single precision is an error. */
ts_status tsi_reduced_begin(ts_context *context, tsi_reduced *r, int32_t rows);
ts_status tsi_reduced_reserve(ts_context *context, tsi_reduced *r, int64_t more);
void tsi_reduced_append(tsi_reduced *r, int32_t column, double value, int locked);
ts_status tsi_reduced_end_row(const ts_system *s, tsi_reduced *r, int32_t row);

/* ---- system_applied.c ---- */
ts_status tsi_system_weigh(ts_system *s);
ts_status tsi_system_lay_out_applied(ts_system *s, ts_format format, int rebuild);

/* ---- system_order.c ---- */
ts_status tsi_system_find_order(ts_system *s);
void tsi_system_forget_order(ts_system *s);
/* A matrix over the unknowns, and locks where they are asked for, in that order; the caller frees it, also
 * after an error. */
ts_status tsi_system_permute(ts_system *s, const tsi_csr *csr, tsi_system_csr *out, unsigned char *locked);
static inline size_t tsi_system_place(const ts_system *s, int32_t unknown) {
  return (size_t)(s->places ? s->places[unknown] : unknown);
}

/* ---- system_matrix.c ---- */
ts_status tsi_system_csr_create(ts_context *context, int32_t rows, int32_t columns, size_t entries,
                                const char *what, tsi_system_csr *out);
void tsi_system_csr_free(ts_context *context, tsi_system_csr *csr);
static inline tsi_csr tsi_system_csr_view(const tsi_system_csr *csr) {
  return (tsi_csr){csr->rows, csr->columns, csr->row_offsets, csr->column_indices, NULL, csr->values};
}
/* What a solver needs of matrices and vectors: single or double. */
ts_precision tsi_system_storage_for(const ts_system *s, ts_precision of_solver);
/* Builds and lays out what has changed; seconds of both. */
ts_status tsi_system_prepare_matrix(ts_system *s, const ts_system_solve_desc *how, double *seconds_build,
                                    double *seconds_layout);
/* What a format that is left open becomes, with the reason; `why` stays as it is where ts_matrix_create may
 * choose. */
ts_format tsi_system_choose_format(const ts_system *s, const tsi_csr *csr, ts_format format, char *why,
                                   size_t size);
/* Rows of the matrix that is solved. */
int32_t tsi_system_rows(const ts_system *s);

/* ---- system_solve.c ---- */
void tsi_system_release_device(ts_system *s);

/* ---- system_residual.c ---- */
ts_status tsi_system_check_singular(ts_system *s);
ts_status tsi_system_residual(ts_system *s, ts_system_result *result);

#endif
