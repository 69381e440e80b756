/* The interface between solvers and backends: the objects behind the public handles, the capabilities of a
 * backend (tsi_caps), and the table of its operations (tsi_ops). Operations that only some clients need are in
 * separate tables, which tsi_ops points to.
 *
 * Rules: src/common validates before it calls, so a backend trusts its arguments. A backend never decides a
 * layout. Every operation that writes a vector writes all of its texels, and 0 to those without an index. A
 * backend allocates host memory with tsi_malloc, reports errors with tsi_fail, and accounts for device memory
 * with tsi_device_alloc and tsi_device_free. */
#ifndef TSI_OPS_H
#define TSI_OPS_H

#include <texsolve/grid.h>
#include <texsolve/gl.h>
#include <texsolve/ranks.h>
#include <texsolve/texsolve.h>

#include "common/core/tiling.h"
#include "tuning.h"

/* The maximum number of indices, rows, columns, unknowns, vertices and points of a grid. A count plus 1, or
 * rounded up to whole blocks, slices or quads, still is an int32_t. */
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
typedef struct tsi_cg_ops tsi_cg_ops;             /* common/krylov/cg_operations.h */
typedef struct tsi_batch_ops tsi_batch_ops;       /* common/krylov/batch_solve.h */
typedef struct tsi_amg_ops tsi_amg_ops;           /* common/precond/amg/amg.h */
typedef struct tsi_amg_part_ops tsi_amg_part_ops; /* common/precond/amg/amg_part.h */
typedef struct tsi_ilu_ops tsi_ilu_ops;           /* common/precond/ilu/ilu.h */
typedef struct tsi_grid_ops tsi_grid_ops;         /* common/grid/grid.h */
typedef struct tsi_mesh_ops tsi_mesh_ops;         /* mesh/mesh_operator.h */
typedef struct tsi_fluid_ops tsi_fluid_ops;       /* fluid/fluid.h */
typedef struct tsi_lcp_ops tsi_lcp_ops;           /* lcp/lcp.h */
typedef struct tsi_part_ops tsi_part_ops;         /* multi/part.h */
typedef struct tsi_ranks_ops tsi_ranks_ops;       /* core/ranks.h */
typedef struct tsi_array_ops tsi_array_ops;       /* core/array.h */

typedef struct tsi_caps {
  char device[128], driver[240];
  int is_hardware;
  int max_texture_size; /* 0: no textures */
  int linear_spaces;    /* position = index, and formats are compared by bytes, not by fetches */
  int rectangle_width, rectangle_height; /* the default: the fastest measured on this device */
  unsigned formats;                      /* bit 1 << TS_FORMAT_... */
  unsigned amg_formats; /* likewise: AMG's set-up on the device reads matrices in these formats there */
  int row_plans;        /* CSR needs a tsi_row_plan */
  int csr_on_host;      /* matrix_read of CSR returns the matrix's own arrays */
  int single_residuals; /* b - A x is summed in single precision, without compensation */
  int pairs;            /* operations compute in pairs if vectors have a second part */
  int texture_barrier;
  int threads;
  int parts;                         /* devices that each own a part of every object; 0: a single device */
  size_t bytes_total;                /* memory of one device; 0: unknown */
  unsigned grid_storages;            /* bit 1 << TS_GRID_STORAGE_...; 0: no grids */
  ts_grid_storage pointwise_storage; /* the fastest one for Jacobi and Chebyshev */
} tsi_caps;

/* A multi-rank context while it is opened. */
typedef struct tsi_opening {
  ts_transport transport;
  int agrees; /* this rank has joined the agreements; until then its failure must be announced to the others */
} tsi_opening;

/* A growing block, initially all 0. */
typedef struct tsi_memory {
  void *block;
  size_t bytes;
} tsi_memory;
enum { TSI_KEPT_BLOCKS = 4 };

/* The application's poll function (poll.c). */
typedef struct tsi_polls {
  ts_poll_fn function;
  void *user;
  double interval, last; /* seconds between calls; when the last one was */
  int depth;             /* of nested public functions that call it */
  int stopped;           /* it asked the outermost one to stop */
  int running;
  ts_context *outer; /* the context that this thread called before; NULL: none */
} tsi_polls;

struct ts_context {
  const tsi_ops *ops;
  const tsi_ops *device_ops; /* `ops`, or the operations of the backend that the check backend wraps */
  void *backend;             /* the backend's state */
  void *check;               /* the state of the check backend around it (check.h); NULL: none */
  ts_context_desc desc;      /* resolved; its strings are not kept */
  ts_gl_desc gl;             /* resolved likewise; all 0 if there was none */
  char backend_name[96];
  int device_index; /* the N of "gl:N"; -1: not given */
  tsi_caps caps;
  tsi_tuning tuning;
  struct tsi_pool *pool; /* the threads of the host (pool.h); NULL: none */
  int threads;           /* on the host; 0 before the first request */
  size_t bytes_device;
  tsi_memory kept[TSI_KEPT_BLOCKS]; /* of tsi_keep */
  uint64_t host_synchronisations;
  double seconds_shaders;
  tsi_opening *opening; /* of several ranks, while the context is opened (src/multi); NULL: one process */
  int together;         /* nesting depth of collective public functions */
  int stays;            /* nesting depth of public functions that stay in the context (tsi_stay_begin) */
  int has_stayed;       /* between two entries of such a function: the backend is entered */
  tsi_polls polls;
  char error[512];
  int64_t error_row; /* the row that the error is about; -1: none */
};

/* The grid of a space; width 0: not a grid. Its tiling is natural, with rectangles of one texel, `width` of
 * them side by side, and without a zero texel. */
typedef struct tsi_grid {
  int32_t width, height;
  int periodic_x, periodic_y;
} tsi_grid;

struct ts_space {
  ts_context *context;
  int references;
  tsi_tiling tiling;
  unsigned char *constrained; /* per index; NULL: none */
  tsi_grid grid;
  /* For a part of a larger space (multi/part.h): the number of elements of other parts that its vectors have
   * room for, from index tsi_first_ghost on. Only products use them. */
  int32_t ghosts;
  void *impl; /* of the backend, may be NULL */
};

/* Ghosts are aligned, and follow the elements at a distance that covers the zeros kept by a backend. */
static inline int32_t tsi_first_ghost(const ts_space *space) {
  return (space->tiling.size + 31) / 16 * 16;
}
/* The number of column indices of a matrix, and the number of elements that a vector has room for. */
static inline int32_t tsi_columns_of(const ts_space *space) {
  return space->ghosts ? tsi_first_ghost(space) + space->ghosts : space->tiling.size;
}

/* A vector is the sum of its parts: the vector itself, low and low->low. Each is at most half an ulp of the
 * previous one. One part is single precision, two (a pair) have about 48 bits, and three represent every
 * double. Unless an operation documents parts, it uses only the first part. If out->low is set, componentwise
 * operations and products compute in pairs; if x->low is set, reductions do. A missing part counts as 0. */
struct ts_vector {
  ts_context *context;
  ts_space *space;
  int components;
  ts_vector *low; /* the next part, over the same space and with the same components; NULL: none */
  /* Of the first part: the user's vector is this one times 2^exponent. The exponent is 0 except for vectors
   * in double precision. Only functions that document it support an exponent; others apply it first
   * (tsi_apply_exponent). */
  int exponent;
  int is_lent; /* the application has its texture or pointer: the exponent stays 0 */
  /* Precision auto: the vector gets low-order parts when floats are not sufficient (tsi_hold_doubles). */
  int may_grow;
  void *impl;
};

static inline int tsi_parts(const ts_vector *v) {
  return !v->low ? 1 : !v->low->low ? 2 : 3;
}

/* The first part only. */
static inline ts_vector tsi_first_part(const ts_vector *v) {
  ts_vector part = *v;
  part.low = NULL;
  return part;
}

/* The channels of a texel: the components of an index, or the single component of a block of indices. */
static inline int tsi_channels(const ts_vector *v) {
  return v->components << v->space->tiling.log2_block;
}

/* Floats per texel. RGB is not renderable, so 3 components are stored as 4, with the last one 0. */
static inline int tsi_texel_floats(const ts_vector *v) {
  return v->components == 3 && !v->space->tiling.linear ? 4 : tsi_channels(v);
}

/* A slot is the sum of its parts, too. Reductions in pairs write both. */
struct ts_scalars {
  ts_context *context;
  int count;
  ts_scalars *low; /* the same number of slots; NULL: none */
  int read_count;  /* of the pending read */
  void *impl;
};

/* A matrix on the host during creation: ts_csr with 32-bit integers, and one of the two arrays of values, or
 * none. */
typedef struct tsi_csr {
  int32_t rows, columns;
  const int32_t *row_offsets, *column_indices;
  const float *values;
  const double *double_values;
} tsi_csr;

/* ts_matrix_desc for a tsi_csr. */
typedef struct tsi_matrix_desc {
  tsi_csr csr;
  ts_format format;
  const unsigned char *constrained;
  ts_space *row_space, *column_space;
  int keep_host_copy;
  ts_precision precision;
  int components;
  int borrow; /* the pattern's arrays belong to the application, and outlive the matrix */
} tsi_matrix_desc;

/* Rows of a part of a larger matrix: boundary rows refer to its ghosts, interior rows do not. */
typedef enum tsi_rows { TSI_ALL_ROWS, TSI_INTERIOR_ROWS, TSI_BOUNDARY_ROWS } tsi_rows;

/* Facts for auto from a sample of the rows of a symmetric matrix (precond/choose_facts.c). */
typedef struct tsi_couplings {
  int64_t bad;     /* a row with a diagonal that is not positive; -1: none */
  int32_t samples; /* number of sampled rows */
  int32_t jumps;   /* sampled rows with a neighbour that has a much smaller diagonal */
  int32_t small;   /* sampled rows with a small |sum_j a_ij| compared with a_ii */
  double across;   /* estimated graph diameter; 0 if less than half of the sums are small */
  double
      growth; /* rows within d couplings of a row are about d^growth: 2 in the plane, 3 in space; 0 as above */
  double entries; /* of A */
} tsi_couplings;

/* The facts that auto found in entries without a host copy. */
typedef struct tsi_entry_facts {
  int is_known;
  int changes;                   /* ts_matrix.changes at that time: other values have other facts */
  tsi_couplings couplings;       /* of a symmetric matrix with at least TSI_AUTO_ROWS rows */
  int is_dominant, is_transport; /* of an unsymmetric matrix */
} tsi_entry_facts;

struct ts_matrix {
  ts_context *context;
  const tsi_matrix_kind *kind;
  int references;
  ts_space *row_space, *column_space;
  int64_t all_rows;       /* of all ranks; 0: info.rows */
  int has_diagonal;       /* row and column space are the same, and the diagonal is stored separately */
  tsi_layout *layout;     /* NULL for stencils and operators */
  tsi_stencil *stencil;   /* NULL for others */
  tsi_operator *function; /* of an operator, without a layout; NULL for others */
  ts_matrix *transposed;  /* matrix_transposed.c; NULL until needed */
  int transposed_changes; /* `changes` when the transpose got its values */
  ts_matrix_info info;
  char choice[200]; /* info.choice */
  /* The rows that products in single precision and residuals compute. Set only in temporary copies of this
   * struct, and only if tsi_part_ops.has_interior permits it. */
  tsi_rows rows;
  uint64_t fingerprint; /* of the user's sparsity pattern */
  /* The user's matrix is this one times 2^exponent, and times -1 if negated. Everything inside the library,
   * including host_copy, norm_infinity and info, describes this one. Public functions scale their results. A
   * solver's x has the sign. */
  int exponent;
  int negated;
  int may_scale;        /* new values may have a different exponent */
  int loses_digits;     /* some values are so much smaller than others that they have digits below the range of
                           floats */
  double norm_infinity; /* maximum row sum of magnitudes */
  ts_precision precision; /* as requested */
  int components;         /* of the vectors to multiply, as announced; 0: unknown */
  int changes;            /* how often the values were replaced */
  int made_on_device;     /* from arrays in device memory: the pattern is only there, without a fingerprint */
  int device_values;      /* the device computes the values: the host does not know them */
  struct tsi_host_csr *host_copy;
  int copies;             /* how often another copy, with other entries, took its place */
  int has_nodes;          /* tsi_preconditioner_has_nodes for the entries that auto read */
  int on_diagonals;       /* tsi_preconditioner_on_diagonals, likewise */
  tsi_entry_facts facts;  /* tsi_preconditioner_find_facts */
  char without_copy[160]; /* why auto chose a kind that does not need a host copy, at creation; "" otherwise */
  int prefers_sweeps;     /* auto then chose Chebyshev */
  float *user_values;     /* the values of the host copy times 2^exponent, after the user requested them */
  /* In addition to a host copy of a rank's rows: their entries in columns of other ranks, with columns counted
   * from 0. */
  struct tsi_host_csr *host_ghosts;
  /* The low-order parts of the given values, over the same spaces and with the same layout; NULL: 0. It may
   * have low-order parts too. Only products in pairs and residuals read it. */
  ts_matrix *low;
  ts_vector *low_product; /* the product with the low-order parts alone */
  const ts_matrix *whole; /* of a low-order part: the matrix that it shares its layout with; otherwise NULL */
  void *impl;
};

/* The rows of the whole matrix, even if this process has only a part of them. */
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

/* sum x y w of each component, or sum x y if w is NULL, written to a slot. */
typedef struct tsi_dot {
  int index;
  const ts_vector *x, *y, *w;
} tsi_dot;

enum { TSI_MAX_DOTS = 3 };

/* ---- Tables ----
 *
 * A table's operations are one list: ENTRY(prefix, result, name, (parameters)). The fields of the table, the
 * prototypes of a backend, its table and that of the check backend are all generated from it:
 *
 *   REQUIRED   every backend with the table implements it
 *   UNWATCHED  required too, but without a result that the check backend could verify
 *   OPTIONAL   may be NULL. In the core table: a fused form; common/core/fallback.c has the generic one
 *
 *   TSI_CORE_OPERATIONS(TSI_PROTOTYPE, TSI_PROTOTYPE, TSI_PROTOTYPE, cpu_)
 *   const tsi_ops tsi_cpu_ops = {.dot3 = cpu_dot3, TSI_CORE_OPERATIONS(TSI_ENTRY, TSI_ENTRY, TSI_OMIT, cpu_)};
 *
 * A missing required operation is a link error. */
#define TSI_FIELD(prefix, result, name, parameters) result(*name) parameters;
#define TSI_PROTOTYPE(prefix, result, name, parameters) result prefix##name parameters;
#define TSI_OMIT(prefix, result, name, parameters)
#ifdef __cplusplus /* without designated initialisers: only for tables with all operations */
#define TSI_ENTRY(prefix, result, name, parameters) prefix##name,
#else
#define TSI_ENTRY(prefix, result, name, parameters) .name = prefix##name,
#endif

/* The vector that a term reads; NULL if its coefficient drops it. */
static inline const ts_vector *tsi_term(ts_coefficient c, const ts_vector *v) {
  return c.scale != 0 ? v : NULL;
}

/* Operations that write each component of `out` from the same component of others, in pairs if out has two
 * parts: ENTRY(KIND, prefix, result, name, (parameters), (arguments), (vectors that are read)). The check
 * backend generates its own versions from this list. */
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
  /* matrix->layout is set, A->kind is not yet; `packed` is to be uploaded and is freed by the caller. A       \
   * low-order part (A->whole is set) needs its values only, and may use everything else of A->whole. */       \
  REQUIRED(prefix, ts_status, matrix_create, (ts_matrix *A, const tsi_packed *packed))                         \
  /* New values, same layout. */                                                                               \
  UNWATCHED(prefix, ts_status, matrix_write, (ts_matrix *A, const tsi_packed *packed))                          \
  /* The arrays back that tsi_format.unpack needs: in `packed`, or in `csr`, whose arrays may be A's own. The    \
   * caller frees both, after failures too. */                                                                 \
  UNWATCHED(prefix, ts_status, matrix_read, (const ts_matrix *A, tsi_packed *packed, tsi_host_csr *csr))
/* clang-format on */

struct tsi_ops {
  TSI_CORE_OPERATIONS(TSI_FIELD, TSI_FIELD, TSI_FIELD, )
  /* Creates a csr matrix that refers to the arrays of desc->csr. They are canonical, outlive the matrix, and
   * may get other values. Only the spaces of the rest of desc are used. NULL: the backend has its own
   * arrays. */
  ts_status (*matrix_refer)(ts_context *context, const tsi_matrix_desc *desc, ts_matrix **matrix);
  /* Ends a collective operation of all ranks: returns one status for all, with the message of a failure. NULL:
   * there is only one process. */
  ts_status (*agree)(ts_context *context, ts_status status);
  /* Replaces `leave` between two entries of one public function (tsi_stay_begin). Returns whether the context
   * stays entered, so that the next entry does not call `enter`. NULL: entering and leaving are cheap. */
  int (*stay)(ts_context *context);
  const tsi_ranks_ops *ranks; /* NULL if there is only one process */
  const tsi_cg_ops *cg;       /* NULL: iterations consist of the operations above */
  const tsi_batch_ops *batch; /* NULL: batches of systems are solved on the host */
  const tsi_amg_ops *amg;     /* NULL: hierarchies are set up on the host */
  const tsi_ilu_ops *ilu;     /* NULL: triangular systems are solved on the host, or by sweeps */
  const tsi_grid_ops *grid;
  const tsi_mesh_ops *mesh;
  const tsi_fluid_ops *fluid;
  const tsi_lcp_ops *lcp;
  const tsi_part_ops *part;         /* NULL: contexts cannot be parts of others */
  const tsi_amg_part_ops *amg_part; /* of parts; NULL: the host sets up hierarchies of several parts */
  const tsi_array_ops *arrays;      /* NULL: arrays of the application are in host memory */
};

/* ---- Kinds of matrix ----
 *
 * The storage of a matrix determines its product. The function that creates a matrix sets its kind: a backend's
 * matrix_create for a layout, its stencil_create for the stencils of a grid. */

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

/* out = x' + alpha w (b - A x') + gamma (x' - before),  x' = scale x,  for vectors with one part each. */
typedef struct tsi_smoothing {
  const ts_vector *w, *b, *x, *before; /* w: multiplied componentwise; before: NULL for 0 */
  float scale, alpha, gamma;
} tsi_smoothing;

struct tsi_matrix_kind {
  void (*destroy)(ts_matrix *A);
  TSI_MATRIX_OPERATIONS(TSI_FIELD, )
  const tsi_cg_kernels *cg; /* its iterations of conjugate gradients in one kernel; NULL: none */
  /* The first parts of r = b - A x, if a product is faster than the residual; may be NULL. */
  ts_status (*quick_residual)(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x);
  /* One step of a smoother for a square matrix. `out` may be s->before, but none of the others. All vectors
   * except b are 0 in constrained rows. May be NULL. */
  ts_status (*smooth)(ts_vector *out, const ts_matrix *A, const tsi_smoothing *s);
  /* The result of `count` steps from x = 0, which have the same w and b, each with the result of the step
   * before it; x and before of the steps are not read. *done is 0 if steps one by one are as quick. x is none
   * of the others. May be NULL. */
  ts_status (*smooth_all)(ts_vector *x, const ts_matrix *A, const tsi_smoothing *steps, int count, int *done);
  /* y = A x and the sum of x y. x and y have one part each, or two, and A has no low-order part then. May be
   * NULL. */
  ts_status (*spmv_dot)(ts_vector *y, const ts_matrix *A, const ts_vector *x, ts_scalars *out, int index);
  const char *has_no_entries; /* its storage, such as "a stencil", if not rows of entries; otherwise NULL */
  /* Rows without an equation that the space does not know. The functions return whether such rows exist, and
   * set out = v in rows with equations, 0 in the others. `zero` is a work vector different from the others.
   * NULL: the space knows all such rows. */
  int (*has_constrained)(const ts_matrix *A);
  ts_status (*drop_constrained)(ts_vector *out, const ts_matrix *A, const ts_vector *v, ts_vector *zero);
};

/* matrix_product.c: product and residual with all parts of A. The product in pairs uses both parts of x and a
 * low-order part of A; the residual uses all parts of b, x and A. */
ts_status tsi_spmv(ts_vector *y, const ts_matrix *A, const ts_vector *x);
ts_status tsi_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x);
/* The residual without products below 2^(-24 parts) of A x; parts is 1 to 3. */
ts_status tsi_residual_of_parts(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x,
                                int parts);
/* r = b - A x in single precision at the speed of a product, for smoothers. r, b and x have one part each. */
static inline ts_status tsi_quick_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A,
                                           const ts_vector *x) {
  return (A->kind->quick_residual ? A->kind->quick_residual : A->kind->residual)(r, b, A, x);
}
static inline ts_status tsi_diagonal(ts_vector *d, const ts_matrix *A) {
  return A->kind->diagonal(d, A);
}

/* The backends. tsi_gl_ops exists only if TEXSOLVE_HAVE_GL is defined, tsi_cuda_ops only if TEXSOLVE_HAVE_CUDA
 * is defined. */
extern const tsi_ops tsi_cpu_ops;
extern const tsi_ops tsi_gl_ops;
extern const tsi_ops tsi_cuda_ops;
extern const tsi_ops tsi_check_ops;
extern const tsi_ops tsi_multi_ops;

#endif
