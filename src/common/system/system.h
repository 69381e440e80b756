/* The system builder, in steps: coefficients are added (system_rows.c), equations are built from them
 * (system_equations.c), and the matrix without locked unknowns is formed (system_reduce.c, system_normal.c,
 * system_applied.c). It is reordered (system_order.c) and moved to the device (system_matrix.c). Then follow
 * vectors and solvers (system_solve.c), and the quality of the solution (system_residual.c). Unknowns are in
 * system.c. */
#ifndef TSI_SYSTEM_H
#define TSI_SYSTEM_H

#include <texsolve/reorder.h>
#include <texsolve/system.h>

#include "common/core/core.h"
#include "common/matrix/csr.h"

/* The added coefficients, in the order of the calls. Their places are kept by ts_system_begin, so that equal
 * places in the next assembly are recognised. */
typedef struct tsi_assembly {
  int32_t *rows; /* of entry e: the number of the row, or -1 - the equation for ts_system_add */
  int32_t *unknowns;
  double *coefficients;
  int64_t count, capacity;
  int64_t known;            /* number of places of the previous equations; 0 after the first difference */
  double *right_hand_sides; /* `components` per row */
  double *weights;
  int32_t row_count, row_capacity;
  double *added; /* right-hand sides of ts_system_add_right_hand_side, for all equations; NULL: none */
} tsi_assembly;

/* Equations or conditions over all unknowns: CSR with ascending, unique columns. */
typedef struct tsi_equations {
  int32_t rows;
  int32_t *offsets, *columns;
  double *values;
  int32_t *slots;           /* slot of entry e as added, followed by those of the mirrors; NULL: in order */
  int64_t places_of;        /* number of added entries that the pattern was created from */
  int32_t *row_of;          /* equation of row r; NULL: r */
  double *right_hand_sides; /* rows x components; in a square system multiplied by weights, like the values */
  double *weights;
} tsi_equations;

/* The matrix without locked unknowns, which have empty rows and columns, and their coupling K. The system is
 * scale M x = scale (b - K x_locked), and M is stored scaled. */
typedef struct tsi_reduced {
  int64_t count, capacity;
  int32_t *offsets, *columns;
  double *values;
  int64_t coupling_count, coupling_capacity;
  int32_t *coupling_offsets, *coupling_columns;
  double *coupling_values;
  double *right_hand_sides; /* A^T W b of normal equations; NULL: those of the equations */
  double scale;             /* a power of two that multiplies both sides */
  int positive_diagonal;    /* for all unlocked unknowns */
} tsi_reduced;

/* A matrix of doubles that owns its arrays. */
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
  int64_t open_entry; /* the first entry of the open row */

  tsi_assembly assembly;
  tsi_equations equations;
  tsi_reduced reduced;

  /* Pending work before the next solve. */
  int new_pattern; /* other places or locks: everything is rebuilt */
  int new_values;  /* of the matrix */
  int new_right_hand_sides;
  int new_locked_values;
  int new_start;        /* all values */
  int values_on_device; /* the solution is there, but not yet in `values` */

  double *numbers; /* buffer for transfers to and from the device */
  size_t numbers_capacity;
  ts_system_solve_desc how; /* resolved options that the objects below were created for */
  int32_t *order, *places;  /* unknowns by their index on the device, and the inverse; NULL: natural order */
  ts_bandwidth bandwidth, bandwidth_natural;
  int applied;                        /* A and A^T are applied instead of A^T A */
  double bytes_formed, bytes_applied; /* that a product would read, as far as known */
  ts_precision storage; /* of the objects below: single, or double, which single-precision solves can use too */
  ts_matrix *matrix, *transposed; /* the latter only if they are applied */
  ts_vector *b, *x;
  ts_vector *given; /* values of locked unknowns, 0 elsewhere; created when needed */
  ts_solver *solver;
  int host_copy;                     /* of `matrix`: its tsi_matrix_desc.keep_host_copy */
  ts_preconditioner *preconditioner; /* created from `matrix`; it outlives solvers with other options */
  double seconds_build;              /* since the last solve */
};

static inline size_t tsi_system_numbers(const ts_system *s) {
  return (size_t)s->desc.unknowns * (size_t)s->desc.components;
}

/* Grows an array to `capacity` elements of `size` bytes and keeps the first `used` elements. */
ts_status tsi_system_grow(ts_context *context, void **array, int64_t used, int64_t capacity, size_t size,
                          const char *what);
/* The next capacity of an array that is too small. */
int64_t tsi_system_larger(int64_t capacity, int64_t needed);

/* An error if the unknown does not exist; and an error if no equations are finished. */
ts_status tsi_system_check_unknown(const ts_system *s, int32_t unknown, const char *function);
ts_status tsi_system_check_ready(const ts_system *s, const char *function);

/* Reads the solution back if it still is on the device. */
ts_status tsi_system_fetch(ts_system *s);

/* ---- system_equations.c: from the added coefficients; if the places are the same, only the values ---- */
ts_status tsi_equations_create(ts_system *s);
void tsi_equations_free(ts_context *context, tsi_equations *equations);

/* ---- system_reduce.c, system_normal.c ---- */
ts_status tsi_system_reduce(ts_system *s);
/* Forms the normal equations. If they would have more than `most` entries, *fits is 0 and nothing is formed. */
ts_status tsi_system_form_normal(ts_system *s, int64_t most, int *fits);
/* A^T W b as assembled, for all unknowns. */
ts_status tsi_system_normal_right_hand_sides(ts_system *s);
void tsi_reduced_free(ts_context *context, tsi_reduced *reduced);
/* b - K x_locked, for an applied system times the square roots of the weights; 0 in rows of locked unknowns. An
 * error if the largest number is outside the range of single precision. */
ts_status tsi_system_right_hand_sides(const ts_system *s, double *out);
/* Starts an empty matrix with offsets for `rows` rows; reserves `more` entries; appends entries and ends rows
 * in order. A row with only zeros in single precision is an error. */
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
/* Permutes a matrix over the unknowns, and the locks if requested. The caller frees the matrix, even after an
 * error. */
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
/* The precision of matrices and vectors that a solver needs: single or double. */
ts_precision tsi_system_storage_for(const ts_system *s, ts_precision of_solver);
/* Builds and lays out what has changed, and measures the seconds of both. */
ts_status tsi_system_prepare_matrix(ts_system *s, const ts_system_solve_desc *how, double *seconds_build,
                                    double *seconds_layout);
/* Chooses the format if it is auto, with the reason. `why` is unchanged if ts_matrix_create should choose. */
ts_format tsi_system_choose_format(const ts_system *s, const tsi_csr *csr, ts_format format, char *why,
                                   size_t size);
/* The number of rows of the matrix to solve. */
int32_t tsi_system_rows(const ts_system *s);

/* ---- system_solve.c ---- */
void tsi_system_release_device(ts_system *s);

/* ---- system_residual.c ---- */
ts_status tsi_system_check_singular(ts_system *s);
ts_status tsi_system_residual(ts_system *s, ts_system_result *result);

#endif
