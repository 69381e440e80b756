/* The check backend: "check:gl" is the gl backend with every operation watched.
 *
 * Before an operation its outputs are filled with a NaN of a special bit pattern, unless they are inputs too.
 * After it they are read back: an element that still has the pattern was not written (or was computed from what
 * was there before); a texel that belongs to no index, and a constrained row of a product, must be 0. A
 * violation is TS_ERROR_DEVICE with the operation, the texel and what was found there. The vectors, matrices
 * and spaces are those of the wrapped backend; only the table of the context is replaced.
 *
 * Operations and host synchronisations are counted apart from ts_context.host_synchronisations: tests read the
 * counts. What the checks read back for themselves is not counted. */
#ifndef TSI_CHECK_H
#define TSI_CHECK_H

#include "common/core/core.h"
#include "common/grid/grid.h"
#include "common/krylov/cg_operations.h"
#include "fluid/fluid.h"
#include "lcp/lcp.h"
#include "mesh/mesh_operator.h"

/* One operation of the table, and how often it ran; NULL and 0 behind the last one. */
typedef struct tsi_check_operation {
  const char *name;
  uint64_t times;
} tsi_check_operation;

enum { TSI_CHECK_OPERATIONS = 96 };

typedef struct tsi_check_counts {
  uint64_t
      operations; /* operations of the table that wrote a vector or a slot, creations and transfers aside */
  uint64_t host_synchronisations; /* scalars_read_end, vector_read, stencil_read, level_read and finish */
  uint64_t since_wait;            /* operations since the last wait */
  uint64_t longest; /* the most operations between two host synchronisations, the run that goes on included */
  tsi_check_operation each[TSI_CHECK_OPERATIONS]; /* what `operations` sums, in the order of their first run */
} tsi_check_counts;

/* NULL for a context without checks. */
tsi_check_counts *tsi_check_counts_of(const ts_context *context);
/* The table of the wrapped backend; context->ops for a context without checks. */
const tsi_ops *tsi_check_inner(const ts_context *context);

/* ---- Inside the check backend ---- */

/* What the texels of a space are for. */
enum { CHECK_INDEX, CHECK_CONSTRAINED, CHECK_PADDING };

typedef struct check_space {
  const ts_space *space;
  unsigned char *texels; /* one of the above for each */
  struct check_space *next;
} check_space;

/* A kind of matrix with watched products, as matrices of the check backend have it. */
typedef struct check_kind {
  tsi_matrix_kind kind; /* the first: ts_matrix.kind points to it */
  const tsi_matrix_kind *inner;
  struct check_kind *next;
} check_kind;

typedef struct check_state {
  const tsi_ops *inner;
  tsi_ops table; /* the inner tables with watched operations where they have any */
  tsi_cg_ops cg;
  tsi_grid_ops grid;
  tsi_mesh_ops mesh;
  tsi_fluid_ops fluid;
  tsi_lcp_ops lcp;
  tsi_check_counts counts;
  int reads_begun; /* scalars_read_begin without its end: slots cannot be read for checks then */
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
/* The first part, or those of a pair. */
ts_status check_poison(ts_vector *v);
ts_status check_poison_pair(ts_vector *v);
/* Its second part too, if `pair` and it has one. */
ts_status check_poison_slot(ts_scalars *s, int index, int pair);
/* After `operation` wrote the first part of v. `constrained_zero`: constrained rows must be 0. */
ts_status check_vector(const char *operation, const ts_vector *v, int constrained_zero);
/* After it wrote as many parts as v has, `parts` at most: each is at most an ulp of the one before. */
ts_status check_parts(const char *operation, const ts_vector *v, int parts, int constrained_zero);
ts_status check_slot(const char *operation, ts_scalars *s, int index, int components, int pair);
/* A new object holds 0. */
ts_status check_new_vector(const ts_vector *v);
ts_status check_new_scalars(ts_scalars *s);
/* All floats of a vector, valid until the next look at one. */
ts_status check_read(const ts_vector *v, const float **found, size_t *count);
/* An operation does not change what it only reads: before and after it. */
ts_status check_remember(const ts_vector *v);
ts_status check_unchanged(const char *operation, const ts_vector *v);
void check_forget_space(ts_space *space);
void check_release(ts_context *context, check_state *state);

/* ---- The operations ---- */

/* Operations that write a vector or a slot, and host synchronisations. */
void check_count(const ts_context *context, const char *operation);
void check_count_synchronisation(const ts_context *context);

TSI_CORE_OPERATIONS(TSI_PROTOTYPE, TSI_OMIT, TSI_PROTOTYPE, check_)
TSI_MATRIX_OPERATIONS(TSI_PROTOTYPE, check_)
/* A matrix that the inner backend has just made; destroys it on failure. */
ts_status check_watch_products(ts_matrix *A);
TSI_CG_OPERATIONS(TSI_PROTOTYPE, TSI_PROTOTYPE, check_cg_)
TSI_GRID_OPERATIONS(TSI_PROTOTYPE, TSI_OMIT, TSI_OMIT, check_)
TSI_MESH_OPERATIONS(TSI_PROTOTYPE, TSI_OMIT, check_mesh_)
TSI_FLUID_OPERATIONS(TSI_PROTOTYPE, check_fluid_)
TSI_LCP_OPERATIONS(TSI_PROTOTYPE, TSI_OMIT, check_lcp_)

#endif
