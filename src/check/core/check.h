/* The check backend: "check:gl" is the gl backend with every operation watched.
 *
 * Before an operation, its outputs are filled with a NaN of a special bit pattern, unless they are inputs too.
 * After it, they are read back. An element that still has the pattern was not written, or was computed from its
 * old value. A texel without an index must be 0, and so must a constrained row of a product. A violation is
 * TS_ERROR_DEVICE with the operation, the texel and the value found. The vectors, matrices and spaces are those
 * of the wrapped backend; only the table of the context is replaced.
 *
 * Operations and host synchronisations are counted separately from ts_context.host_synchronisations; tests read
 * the counts. Reads by the checks themselves are not counted. */
#ifndef TSI_CHECK_H
#define TSI_CHECK_H

#include "common/core/core.h"
#include "common/grid/grid.h"
#include "common/krylov/cg_operations.h"
#include "fluid/fluid.h"
#include "lcp/lcp.h"
#include "mesh/mesh_operator.h"

/* One operation of the table and its number of runs. The last entry has NULL and 0. */
typedef struct tsi_check_operation {
  const char *name;
  uint64_t times;
} tsi_check_operation;

enum { TSI_CHECK_OPERATIONS = 96 };

typedef struct tsi_check_counts {
  uint64_t
      operations; /* operations of the table that wrote a vector or a slot, except creations and transfers */
  uint64_t host_synchronisations; /* scalars_read_end, vector_read, stencil_read, level_read and finish */
  uint64_t since_wait;            /* operations since the last synchronisation */
  uint64_t longest; /* maximum number of operations between host synchronisations, including the current run */
  tsi_check_operation each[TSI_CHECK_OPERATIONS]; /* the terms of `operations`, in order of first run */
} tsi_check_counts;

/* Returns NULL for a context without checks. */
tsi_check_counts *tsi_check_counts_of(const ts_context *context);
/* The table of the wrapped backend, or context->ops for a context without checks. */
const tsi_ops *tsi_check_inner(const ts_context *context);

/* ---- Inside the check backend ---- */

/* The kinds of texels of a space. */
enum { CHECK_INDEX, CHECK_CONSTRAINED, CHECK_PADDING };

typedef struct check_space {
  const ts_space *space;
  unsigned char *texels; /* a CHECK_... value per texel */
  struct check_space *next;
} check_space;

/* A kind of matrix with watched products, used by all matrices of the check backend. */
typedef struct check_kind {
  tsi_matrix_kind kind; /* the first member, because ts_matrix.kind points to it */
  const tsi_matrix_kind *inner;
  struct check_kind *next;
} check_kind;

typedef struct check_state {
  const tsi_ops *inner;
  tsi_ops table; /* the inner tables, with watched operations in place of existing ones */
  tsi_cg_ops cg;
  tsi_grid_ops grid;
  tsi_mesh_ops mesh;
  tsi_fluid_ops fluid;
  tsi_lcp_ops lcp;
  tsi_check_counts counts;
  int reads_begun; /* scalars_read_begin calls without their end; in between, the checks cannot read slots */
  check_space *spaces;
  check_kind *kinds;
  float *poison, *found, *remembered;
  size_t poison_count, found_count, remembered_count;
} check_state;

static inline const tsi_matrix_kind *check_inner_kind(const ts_matrix *A) {
  return ((const check_kind *)A->kind)->inner;
}
static inline check_state *check_state_of(const ts_context *context) {
  return context->check;
}

/* ---- check_verify.c ---- */
/* Poison the first part, or both parts of a pair. */
ts_status check_poison(ts_vector *v);
ts_status check_poison_pair(ts_vector *v);
/* Also poisons the second part if `pair` is set and the slot has one. */
ts_status check_poison_slot(ts_scalars *s, int index, int pair);
/* Checks v after `operation` wrote its first part. `constrained_zero`: constrained rows must be 0. */
ts_status check_vector(const char *operation, const ts_vector *v, int constrained_zero);
/* Checks v after `operation` wrote all of its parts, at most `parts`: each is at most an ulp of the previous
 * one. */
ts_status check_parts(const char *operation, const ts_vector *v, int parts, int constrained_zero);
ts_status check_slot(const char *operation, ts_scalars *s, int index, int components, int pair);
/* Check that a new object holds 0. */
ts_status check_new_vector(const ts_vector *v);
ts_status check_new_scalars(ts_scalars *s);
/* All floats of a vector, valid until the next call. */
ts_status check_read(const ts_vector *v, const float **found, size_t *count);
/* Called before and after an operation, to check that it did not change a vector that it only reads. */
ts_status check_remember(const ts_vector *v);
ts_status check_unchanged(const char *operation, const ts_vector *v);
void check_forget_space(ts_space *space);
void check_release(ts_context *context, check_state *state);

/* ---- The operations ---- */

/* Count operations that write a vector or a slot, and host synchronisations. */
void check_count(const ts_context *context, const char *operation);
void check_count_synchronisation(const ts_context *context);

TSI_CORE_OPERATIONS(TSI_PROTOTYPE, TSI_OMIT, TSI_PROTOTYPE, check_)
TSI_MATRIX_OPERATIONS(TSI_PROTOTYPE, check_)
/* For a matrix that the inner backend has just created. Destroys it on failure. */
ts_status check_watch_products(ts_matrix *A);
TSI_CG_OPERATIONS(TSI_PROTOTYPE, TSI_PROTOTYPE, check_cg_)
TSI_GRID_OPERATIONS(TSI_PROTOTYPE, TSI_OMIT, TSI_OMIT, check_)
TSI_MESH_OPERATIONS(TSI_PROTOTYPE, TSI_OMIT, check_mesh_)
TSI_FLUID_OPERATIONS(TSI_PROTOTYPE, check_fluid_)
TSI_LCP_OPERATIONS(TSI_PROTOTYPE, TSI_OMIT, check_lcp_)

#endif
