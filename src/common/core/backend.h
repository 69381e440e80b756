/* The seam between solvers and backends: the objects behind the public handles, what a backend can do
 * (tsi_caps), and the table of its operations (tsi_ops). Operations that only some clients need are in tables
 * of their own, to which tsi_ops has pointers.
 *
 * Rules: src/common validates before it calls, so a backend trusts its arguments. A backend never decides a
 * layout. Every operation that writes a vector writes all of its texels and leaves 0 in those that belong to
 * no index. A backend allocates host memory with tsi_malloc, reports with tsi_fail, and accounts device
 * memory with tsi_device_take and tsi_device_give.
 */
#ifndef TSI_OPS_H
#define TSI_OPS_H

#include <texsolve/grid.h>
#include <texsolve/gl.h>
#include <texsolve/ranks.h>
#include <texsolve/texsolve.h>

#include "common/core/tiling.h"
#include "tuning.h"

/* Indices, rows, columns, unknowns, vertices and points of a grid: so many at most, so that a count plus 1, or
 * rounded up to whole blocks, slices or quads, is an int32_t too. */
enum { TSI_MAX_SIZE = INT32_MAX - 1023 };

typedef struct tsi_ops tsi_ops;
typedef struct tsi_matrix_kind tsi_matrix_kind;
typedef struct tsi_layout tsi_layout; /* layout.h */
typedef struct tsi_packed tsi_packed;
typedef struct tsi_host_csr tsi_host_csr;
typedef struct tsi_given tsi_given;           /* core/array.h */
typedef struct tsi_samples tsi_samples;       /* common/layout/format_samples.h */
typedef struct tsi_stencil tsi_stencil;       /* common/grid/grid.h */
typedef struct tsi_operator tsi_operator;     /* common/matrix/operator.h */
typedef struct tsi_cg_kernels tsi_cg_kernels; /* a backend's own */
/* Optional tables. */
typedef struct tsi_cg_ops tsi_cg_ops;       /* common/krylov/cg_operations.h */
typedef struct tsi_amg_ops tsi_amg_ops;     /* common/precond/amg/amg.h */
typedef struct tsi_ilu_ops tsi_ilu_ops;     /* common/precond/ilu/ilu.h */
typedef struct tsi_grid_ops tsi_grid_ops;   /* common/grid/grid.h */
typedef struct tsi_mesh_ops tsi_mesh_ops;   /* mesh/mesh_operator.h */
typedef struct tsi_fluid_ops tsi_fluid_ops; /* fluid/fluid.h */
typedef struct tsi_lcp_ops tsi_lcp_ops;     /* lcp/lcp.h */
typedef struct tsi_part_ops tsi_part_ops;   /* multi/part.h */
typedef struct tsi_ranks_ops tsi_ranks_ops; /* core/ranks.h */
typedef struct tsi_array_ops tsi_array_ops; /* core/array.h */

typedef struct tsi_caps {
  char device[128], driver[240];
  int is_hardware;
  int max_texture_size; /* 0: no textures */
  int linear_spaces;    /* position = index, and formats are counted in bytes, not in fetches */
  int rectangle_width, rectangle_height; /* the default, best measured for this device */
  unsigned formats;                      /* bit 1 << TS_FORMAT_... */
  int row_plans;                         /* CSR comes with a tsi_row_plan */
  int csr_on_host;                       /* matrix_read of CSR hands out the matrix's own arrays */
  int single_residuals; /* b - A x is summed in single precision, without its rounding errors */
  int pairs;            /* operations compute in pairs where vectors have a second part */
  int texture_barrier;
  int threads;
  int parts;                         /* devices that each have a part of everything; 0: it is one device */
  size_t bytes_total;                /* memory of one; 0: not known */
  unsigned grid_storages;            /* bit 1 << TS_GRID_STORAGE_...; 0: no grids */
  ts_grid_storage pointwise_storage; /* the fastest for Jacobi and Chebyshev */
} tsi_caps;

/* A context of several ranks while it is opened. */
typedef struct tsi_opening {
  ts_transport transport;
  int agrees; /* this rank takes part in the agreements; before that its failure has to be told to the others */
} tsi_opening;

/* A block that grows, all 0 at first. */
typedef struct tsi_memory {
  void *block;
  size_t bytes;
} tsi_memory;
enum { TSI_KEPT_BLOCKS = 4 };

struct ts_context {
  const tsi_ops *ops;
  const tsi_ops *device_ops; /* of the backend that has the device: `ops`, or what the check backend watches */
  void *backend;             /* the backend's state */
  void *check;               /* the state of the check backend around it (check.h), NULL without */
  ts_context_desc desc;      /* resolved; its strings are not kept */
  ts_gl_desc gl;             /* the same, all 0 where there was none */
  char backend_name[96];
  int device_index; /* the N of "gl:N", -1 if none was given */
  tsi_caps caps;
  tsi_tuning tuning;
  struct tsi_pool *pool; /* of the host's threads (pool.h), NULL: none */
  int threads;           /* on the host, 0 before they are asked for */
  size_t bytes_device;
  tsi_memory kept[TSI_KEPT_BLOCKS]; /* of tsi_keep */
  uint64_t host_synchronisations;
  double seconds_shaders;
  tsi_opening *opening; /* of several ranks, while it is opened (src/multi); NULL: one process */
  int together;         /* public functions within each other that all ranks call */
  char error[512];
  int64_t error_row; /* that the error is about; -1: none */
};

/* The grid that a space is; width 0 where it is none. Its tiling is natural with rectangles of one texel,
 * `width` of which stand side by side; there is no zero texel. */
typedef struct tsi_grid {
  int32_t width, height;
  int periodic_x, periodic_y;
} tsi_grid;

struct ts_space {
  ts_context *context;
  int references;
  tsi_tiling tiling;
  unsigned char *constrained; /* per index, NULL if none is */
  tsi_grid grid;
  /* Of a part of a larger space (multi/part.h): its vectors have room behind their elements for so many of
   * other parts, from index tsi_first_ghost on. No operation but products sees them. */
  int32_t ghosts;
  void *impl; /* the backend's, may be NULL */
};

/* Apart from the elements by at least what a backend keeps at 0 behind them, and aligned. */
static inline int32_t tsi_first_ghost(const ts_space *space) {
  return (space->tiling.size + 31) / 16 * 16;
}
/* Indices that columns of a matrix may have, and that a vector has room for. */
static inline int32_t tsi_columns_of(const ts_space *space) {
  return space->ghosts ? tsi_first_ghost(space) + space->ghosts : space->tiling.size;
}

/* A vector is the sum of its parts: itself, low and low->low, each at most half an ulp of the one before. With
 * one part it has single precision, with two (a pair) about 48 bits; three hold every double. To an operation
 * that says nothing of parts a vector is its first part, and out->low makes componentwise operations and
 * products compute in pairs, x->low reductions. A part that is missing counts as 0. */
struct ts_vector {
  ts_context *context;
  ts_space *space;
  int components;
  ts_vector *low; /* the next part, with the same space and components; NULL: none */
  /* Of the first part: the user's vector is this one times 2^exponent. Only a vector in double precision may
   * have one other than 0, and only functions that say so know it; others settle it first (tsi_settle). */
  int exponent;
  int is_lent; /* the application has its texture or pointer: the exponent stays 0 */
  /* Precision auto: it gets low-order parts when it is to hold what floats do not (tsi_hold_doubles). */
  int may_grow;
  void *impl;
};

static inline int tsi_parts(const ts_vector *v) {
  return !v->low ? 1 : !v->low->low ? 2 : 3;
}

/* The first part by itself. */
static inline ts_vector tsi_first_part(const ts_vector *v) {
  ts_vector part = *v;
  part.low = NULL;
  return part;
}

/* What a texel holds: the components of an index, or the one component of a block of them. */
static inline int tsi_channels(const ts_vector *v) {
  return v->components << v->space->tiling.log2_block;
}

/* Floats a texel: RGB is not a format that can be rendered to, so 3 components are stored as 4, the last 0. */
static inline int tsi_texel_floats(const ts_vector *v) {
  return v->components == 3 && !v->space->tiling.linear ? 4 : tsi_channels(v);
}

/* A slot is the sum of its parts too. Reductions in pairs fill both. */
struct ts_scalars {
  ts_context *context;
  int count;
  ts_scalars *low; /* as many; NULL: none */
  int read_count;  /* of the read under way */
  void *impl;
};

/* A matrix on the host as creation works on it: ts_csr with integers of 32 bits, and one of the two arrays of
 * values or none. */
typedef struct tsi_csr {
  int32_t rows, columns;
  const int32_t *row_offsets, *column_indices;
  const float *values;
  const double *double_values;
} tsi_csr;

/* ts_matrix_desc with such a matrix. */
typedef struct tsi_matrix_desc {
  tsi_csr csr;
  ts_format format;
  const unsigned char *constrained;
  ts_space *row_space, *column_space;
  int keep_host_copy;
  ts_precision precision;
  int components;
  int borrow; /* the pattern's arrays are the application's, and outlast the matrix */
} tsi_matrix_desc;

/* Rows of a part of a larger matrix: boundary rows refer to its ghosts, interior rows do not. */
typedef enum tsi_rows { TSI_ALL_ROWS, TSI_INTERIOR_ROWS, TSI_BOUNDARY_ROWS } tsi_rows;

/* What a sample of the rows of a symmetric matrix tells auto (precond/choose_facts.c). */
typedef struct tsi_couplings {
  int64_t bad;     /* a row that is not positive on the diagonal; -1: none */
  int32_t samples; /* rows that were looked at */
  int32_t jumps;   /* those with a neighbour that has far less on the diagonal */
  int32_t small;   /* those where |sum_j a_ij| is small beside a_ii */
  double across; /* about how many couplings the matrix is across; 0 if less than half of the sums are small */
} tsi_couplings;

/* What auto has found in entries of which the host keeps no copy. */
typedef struct tsi_entry_facts {
  int is_known;
  int changes;                   /* ts_matrix.changes at that time: other values have other facts */
  tsi_couplings couplings;       /* of a symmetric matrix with at least TSI_AUTO_ROWS rows */
  int is_dominant, is_transport; /* of a matrix that is not symmetric */
} tsi_entry_facts;

struct ts_matrix {
  ts_context *context;
  const tsi_matrix_kind *kind;
  int references;
  ts_space *row_space, *column_space;
  int64_t all_rows;       /* of all ranks; 0: info.rows */
  int has_diagonal;       /* row and column space are one: the diagonal is stored by itself */
  tsi_layout *layout;     /* NULL for a stencil */
  tsi_stencil *stencil;   /* NULL for others */
  tsi_operator *function; /* of an operator, which has no layout; NULL for others */
  ts_matrix *transposed;  /* matrix_transposed.c; NULL before it is needed */
  int transposed_changes; /* `changes` when it took its values */
  ts_matrix_info info;
  char choice[200]; /* info.choice */
  /* Those that products in single precision and residuals compute: of copies of this struct, for the time of a
   * call, and only where tsi_part_ops.has_interior says so. */
  tsi_rows rows;
  uint64_t fingerprint; /* of the sparsity pattern as given */
  /* The user's matrix is this one times 2^exponent, and -1 if it is negated. All that is inside the library,
   * host_copy, norm_infinity and info included, is about this one; public functions scale what they return. A
   * solver's x has the sign. */
  int exponent;
  int negated;
  int may_scale;    /* new values may have another exponent */
  int loses_digits; /* some values are so much smaller than others that digits are below the range of floats */
  double norm_infinity;   /* largest sum of magnitudes in a row */
  ts_precision precision; /* as asked for */
  int changes;            /* how often its values were replaced */
  int made_on_device;     /* of arrays in the device's memory: the pattern is there only, without fingerprint */
  int device_values;      /* the device computes the values: nothing is known of them on the host */
  struct tsi_host_csr *host_copy;
  int has_nodes;          /* tsi_preconditioner_has_nodes of the entries that auto looked at */
  tsi_entry_facts facts;  /* tsi_preconditioner_find_facts */
  char without_copy[160]; /* why auto has no use for a host copy, which was therefore dropped; "" otherwise */
  float *user_values;     /* those of the host copy times 2^exponent, once the user asked for them */
  /* Beside a host copy of the rows of a rank: their entries in columns of others, which are counted from 0. */
  struct tsi_host_csr *host_ghosts;
  /* What the values lack of those that were given, over the same spaces and with the same layout; NULL: 0. It
   * may have a rest too. Only products in pairs and residuals read it. */
  ts_matrix *rest;
  ts_vector *rest_product; /* that product by itself */
  const ts_matrix
      *whole; /* of a rest: the matrix, with which it shares what the layout is made of; else NULL */
  void *impl;
};

/* Of the whole matrix, where this process has a part of its rows. */
static inline int64_t tsi_all_rows(const ts_matrix *A) {
  return A->all_rows ? A->all_rows : A->info.rows;
}

typedef enum tsi_reduction {
  TSI_REDUCE_DOT,    /* sum x y */
  TSI_REDUCE_NORM2,  /* sqrt(sum x x) */
  TSI_REDUCE_SUM,    /* sum x */
  TSI_REDUCE_MAX,    /* max x over the indices of the space */
  TSI_REDUCE_MAX_ABS /* max |x| */
} tsi_reduction;

/* sum x y w of each component, or sum x y where w is NULL, into a slot. */
typedef struct tsi_dot {
  int index;
  const ts_vector *x, *y, *w;
} tsi_dot;

enum { TSI_MAX_DOTS = 3 };

/* ---- Tables ----
 *
 * A table's operations are one list: ENTRY(prefix, result, name, (parameters)). The table's fields, a backend's
 * prototypes, its table and the check backend's all come from it:
 *
 *   REQUIRED   every backend that has the table has it
 *   UNWATCHED  the same, and makes no number that the check backend could look at
 *   OPTIONAL   may be NULL. Of the core table: a fused form; common/core/fallback.c has the generic one
 *
 *   TSI_CORE_OPERATIONS(TSI_PROTOTYPE, TSI_PROTOTYPE, TSI_PROTOTYPE, cpu_)
 *   const tsi_ops tsi_cpu_ops = {.dot3 = cpu_dot3, TSI_CORE_OPERATIONS(TSI_ENTRY, TSI_ENTRY, TSI_OMIT, cpu_)};
 *
 * What is required and missing does not link. */
#define TSI_FIELD(prefix, result, name, parameters) result(*name) parameters;
#define TSI_PROTOTYPE(prefix, result, name, parameters) result prefix##name parameters;
#define TSI_OMIT(prefix, result, name, parameters)
#ifdef __cplusplus /* which has no designators; of tables whose operations are all there */
#define TSI_ENTRY(prefix, result, name, parameters) prefix##name,
#else
#define TSI_ENTRY(prefix, result, name, parameters) .name = prefix##name,
#endif

/* A vector that a term reads: none if its coefficient drops it. */
static inline const ts_vector *tsi_term(ts_coefficient c, const ts_vector *v) {
  return c.scale != 0 ? v : NULL;
}

/* Operations that write each component of `out` from the same component of others, in pairs where out has two
 * parts: ENTRY(KIND, prefix, result, name, (parameters), (arguments), (vectors that are read)). The check
 * backend makes its own from that. */
#define TSI_OF_TABLE(KIND, prefix, result, name, parameters, arguments, read)                                  \
  KIND(prefix, result, name, parameters)

/* clang-format off */
#define TSI_COMPONENTWISE_OPERATIONS(ENTRY, REQUIRED, OPTIONAL, prefix)                                        \
  /* out = a x + b y */                                                                                        \
  ENTRY(REQUIRED, prefix, ts_status, axpby,                                                                    \
        (ts_vector *out, ts_coefficient a, const ts_vector *x, ts_coefficient b, const ts_vector *y),          \
        (out, a, x, b, y), (tsi_term(a, x), tsi_term(b, y)))                                                   \
  /* out = x y */                                                                                              \
  ENTRY(REQUIRED, prefix, ts_status, multiply, (ts_vector *out, const ts_vector *x, const ts_vector *y),       \
        (out, x, y), (x, y))                                                                                   \
  /* out = 1 / x, 0 where x is 0 */                                                                            \
  ENTRY(REQUIRED, prefix, ts_status, reciprocal, (ts_vector *out, const ts_vector *x), (out, x), (x))          \
  /* out = w x + b y */                                                                                        \
  ENTRY(OPTIONAL, prefix, ts_status, multiply_add,                                                             \
        (ts_vector *out, const ts_vector *w, const ts_vector *x, ts_coefficient b, const ts_vector *y),        \
        (out, w, x, b, y), (w, x, tsi_term(b, y)))

#define TSI_CORE_OPERATIONS(REQUIRED, UNWATCHED, OPTIONAL, prefix)                                             \
  /* ---- The context ---- */                                                                                  \
                                                                                                               \
  /* Fills context->caps and context->backend. On failure nothing stays behind; close is not called. */        \
  UNWATCHED(prefix, ts_status, open, (ts_context *context))                                                    \
  UNWATCHED(prefix, void, close, (ts_context *context))                                                        \
  /* Called before and after the public functions: make the device current, keep an application's state. */    \
  UNWATCHED(prefix, ts_status, enter, (ts_context *context))                                                   \
  UNWATCHED(prefix, void, leave, (ts_context *context))                                                        \
  REQUIRED(prefix, ts_status, finish, (ts_context *context))                                                   \
                                                                                                               \
  /* ---- Objects ---- */                                                                                      \
                                                                                                               \
  OPTIONAL(prefix, void, space_destroy, (ts_space *space))                                                     \
                                                                                                               \
  /* The caller has set context, space and components; a new vector is all 0. */                               \
  REQUIRED(prefix, ts_status, vector_create, (ts_vector *v))                                                   \
  UNWATCHED(prefix, void, vector_destroy, (ts_vector *v))                                                      \
  /* All texels of the space's texture in row-major order, tsi_texel_floats(v) floats each. */                 \
  REQUIRED(prefix, ts_status, vector_write, (ts_vector *v, const float *texels))                               \
  REQUIRED(prefix, ts_status, vector_read, (const ts_vector *v, float *texels))                                \
                                                                                                               \
  REQUIRED(prefix, ts_status, scalars_create, (ts_scalars *s))                                                 \
  UNWATCHED(prefix, void, scalars_destroy, (ts_scalars *s))                                                    \
  UNWATCHED(prefix, ts_status, scalars_write, (ts_scalars *s, int first, int count, const float *values))      \
  /* The only operation of a solver that synchronises. scalars_read_begin asks for the values of now, and             \
   * scalars_read_end waits for them; operations between the two do not change what is read. One read at a     \
   * time per ts_scalars. */                                                                                   \
  REQUIRED(prefix, ts_status, scalars_read_begin, (ts_scalars *s, int first, int count))                       \
  REQUIRED(prefix, ts_status, scalars_read_end, (ts_scalars *s, double *values))                               \
  /* For each component of slot `from`, which holds max |v|: slot `to` becomes the power of two that brings it \
   * to between 1/2 and 1, and slot `to` + 1 the inverse; both at most 2^120, and 1 where the number is 0 or   \
   * not finite. */                                                                                            \
  REQUIRED(prefix, ts_status, scalars_normalise, (ts_scalars *s, int from, int to))                            \
                                                                                                               \
  /* `count` vectors over one space, and slots, that will be used together. On failure nothing is made. */     \
  OPTIONAL(prefix, ts_status, arena_create, (ts_vector **vectors, int count, ts_scalars *scalars))             \
                                                                                                               \
  /* ---- Arithmetic. Any vector may be any other one. A coefficient whose scale is 0 drops its term unread */ \
                                                                                                               \
  TSI_COMPONENTWISE_OPERATIONS(TSI_OF_TABLE, REQUIRED, OPTIONAL, prefix)                                       \
  REQUIRED(prefix, ts_status, fill, (ts_vector *out, float value))                                             \
  /* out = x where the space has an equation, 0 at constrained indices, whatever x is there. */                \
  REQUIRED(prefix, ts_status, zero_constrained, (ts_vector *out, const ts_vector *x))                          \
  /* x = x + a e, where x has two or three parts, which are normalised, and e is one part of no other vector   \
   * here. a is a power of two or its slots hold some. */                                                      \
  REQUIRED(prefix, ts_status, add_to_parts, (ts_vector *x, ts_coefficient a, const ts_vector *e))              \
  /* y is read by DOT only. Writes as many components of the slot as x has, and 0 to the others. */            \
  REQUIRED(prefix, ts_status, reduce,                                                                          \
           (ts_scalars *out, int index, tsi_reduction kind, const ts_vector *x, const ts_vector *y))           \
                                                                                                               \
  /* sum x y w */                                                                                              \
  OPTIONAL(prefix, ts_status, dot3,                                                                            \
           (ts_scalars *out, int index, const ts_vector *x, const ts_vector *y, const ts_vector *w))           \
  /* Up to TSI_MAX_DOTS sums over one space that do not wait for each other. */                                \
  OPTIONAL(prefix, ts_status, dots, (ts_scalars *out, const tsi_dot *sums, int count))                         \
  /* x = x + a d;  r = r + b q. Four different vectors. */                                                     \
  OPTIONAL(prefix, ts_status, axpy2,                                                                           \
           (ts_vector *x, ts_coefficient a, const ts_vector *d, ts_vector *r, ts_coefficient b,                \
            const ts_vector *q))                                                                               \
  /* The same, then sum r r w, or sum r r where w is NULL. A backend may be quicker where x and r are the      \
   * first two vectors of an arena. */                                                                          \
  OPTIONAL(prefix, ts_status, axpy2_dot,                                                                       \
           (ts_vector *x, ts_coefficient a, const ts_vector *d, ts_vector *r, ts_coefficient b,                \
            const ts_vector *q, const ts_vector *w, ts_scalars *out, int index))                               \
                                                                                                               \
  /* ---- Matrices ---- */                                                                                     \
                                                                                                               \
  /* matrix->layout is set, A->kind is not yet; `packed` is to be uploaded and is freed by the caller. A rest    \
   * (A->whole is set) needs its values only, and may use the rest of what its whole has. */                   \
  REQUIRED(prefix, ts_status, matrix_create, (ts_matrix *A, const tsi_packed *packed))                         \
  /* New values, same layout. */                                                                               \
  UNWATCHED(prefix, ts_status, matrix_write, (ts_matrix *A, const tsi_packed *packed))                          \
  /* The arrays back that tsi_format.unpack needs: in `packed`, or in `csr`, whose arrays may be A's own. The    \
   * caller frees both, after failures too. */                                                                 \
  UNWATCHED(prefix, ts_status, matrix_read, (const ts_matrix *A, tsi_packed *packed, tsi_host_csr *csr))
/* clang-format on */

struct tsi_ops {
  TSI_CORE_OPERATIONS(TSI_FIELD, TSI_FIELD, TSI_FIELD, )
  /* A matrix as csr that refers to the arrays of desc->csr, which are canonical, outlive it and may get other
   * values. Of the rest of desc the spaces count. NULL: the backend has arrays of its own. */
  ts_status (*matrix_refer)(ts_context *context, const tsi_matrix_desc *desc, ts_matrix **matrix);
  /* Ends what all ranks of a context do together: one status for all, a failure with its message. NULL: there
   * is one process. */
  ts_status (*agree)(ts_context *context, ts_status status);
  const tsi_ranks_ops *ranks; /* NULL likewise */
  const tsi_cg_ops *cg;       /* NULL: iterations are made of the operations above */
  const tsi_amg_ops *amg;     /* NULL: hierarchies are set up on the host */
  const tsi_ilu_ops *ilu;     /* NULL: triangular systems are solved there, or by sweeps */
  const tsi_grid_ops *grid;
  const tsi_mesh_ops *mesh;
  const tsi_fluid_ops *fluid;
  const tsi_lcp_ops *lcp;
  const tsi_part_ops *part;    /* NULL: contexts are no parts of others */
  const tsi_array_ops *arrays; /* NULL: arrays of the application are in host memory */
};

/* ---- Kinds of matrix ----
 *
 * How a matrix is stored tells how it is multiplied. What makes one sets its kind: a backend's matrix_create
 * for a layout, its stencil_create for the stencils of a grid. */

/* clang-format off */
#define TSI_MATRIX_OPERATIONS(REQUIRED, prefix)                                                                \
  /* y = A x; y is not x. Constrained rows of y become 0. In pairs where y has two parts. */                    \
  REQUIRED(prefix, ts_status, spmv, (ts_vector *y, const ts_matrix *A, const ts_vector *x))                    \
  /* r = b - A x; r may be b, and is not x. Constrained rows of r become 0. Of x the first part counts. Where r \
   * has two parts all those of b count, and products and sums keep about 70 bits. */                          \
  REQUIRED(prefix, ts_status, residual,                                                                        \
           (ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x))                         \
  /* The diagonal into every component; A has has_diagonal. Constrained rows become 0. */                           \
  REQUIRED(prefix, ts_status, diagonal, (ts_vector *d, const ts_matrix *A))
/* clang-format on */

/* out = x' + alpha w (b - A x') + gamma (x' - before),  x' = scale x,  of vectors with one part each. */
typedef struct tsi_smoothing {
  const ts_vector *w, *b, *x, *before; /* w: the multiplication is component-wise; before: NULL for 0 */
  float scale, alpha, gamma;
} tsi_smoothing;

struct tsi_matrix_kind {
  void (*destroy)(ts_matrix *A);
  TSI_MATRIX_OPERATIONS(TSI_FIELD, )
  const tsi_cg_kernels *cg; /* its iterations of conjugate gradients in one kernel, NULL: none */
  /* The first parts of r = b - A x, where a product is quicker than the residual; may be NULL. */
  ts_status (*quick_residual)(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x);
  /* A step of a smoother, of a square matrix; `out` may be s->before, and is none of the others. All but
   * b hold 0 in constrained rows. May be NULL. */
  ts_status (*smooth)(ts_vector *out, const ts_matrix *A, const tsi_smoothing *s);
  /* y = A x and the sum of x y, which are pairs; may be NULL. */
  ts_status (*spmv_dot)(ts_vector *y, const ts_matrix *A, const ts_vector *x, ts_scalars *out, int index);
  const char *has_no_entries; /* what it is instead of rows of entries, "a stencil"; NULL: it has them */
  /* Rows without an equation that the space does not know of: whether there are any; and out = v where there
   * are equations, else 0, with `zero` to work in, which is none of the others. Both NULL: the space knows all.
   */
  int (*has_constrained)(const ts_matrix *A);
  ts_status (*drop_constrained)(ts_vector *out, const ts_matrix *A, const ts_vector *v, ts_vector *zero);
};

/* matrix_product.c: the same with all that A has. The product in pairs counts both parts of x and a rest of A;
 * the residual all parts of b and x, and of A. */
ts_status tsi_spmv(ts_vector *y, const ts_matrix *A, const ts_vector *x);
ts_status tsi_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x);
/* The same where products below 2^(-24 parts) of A x do not matter: 1 to 3. */
ts_status tsi_residual_of_parts(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x,
                                int parts);
/* r = b - A x in single precision as quickly as a product: for smoothers. r, b and x have one part each. */
static inline ts_status tsi_quick_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A,
                                           const ts_vector *x) {
  return (A->kind->quick_residual ? A->kind->quick_residual : A->kind->residual)(r, b, A, x);
}
static inline ts_status tsi_diagonal(ts_vector *d, const ts_matrix *A) {
  return A->kind->diagonal(d, A);
}

/* The backends. tsi_gl_ops exists only where TEXSOLVE_HAVE_GL is defined, tsi_cuda_ops where TEXSOLVE_HAVE_CUDA
 * is. */
extern const tsi_ops tsi_cpu_ops;
extern const tsi_ops tsi_gl_ops;
extern const tsi_ops tsi_cuda_ops;
extern const tsi_ops tsi_check_ops;
extern const tsi_ops tsi_multi_ops;

#endif
