/* texsolve: sparse linear systems on the graphics pipeline.
 *
 * Vectors and matrices live on a device (OpenGL textures, CUDA memory, or host memory for the CPU backend) and
 * are used through opaque handles. The same program runs on another backend by changing one string.
 *
 *   ts_context    a device and everything made on it
 *   ts_space      an index space: how many unknowns there are and where each of them is stored
 *   ts_vector     1 to 4 numbers, floats or doubles, for every index of a space
 *   ts_scalars    numbers that stay on the device: results of reductions, coefficients of updates
 *   ts_matrix     a sparse matrix that maps one space to another
 *
 * Other headers: solver.h (Krylov solvers), preconditioner.h and amg.h, grid.h (stencils and multigrid),
 * system.h (equations instead of matrices), lcp.h (complementarity and contact), mesh.h, fluid.h, reorder.h;
 * gl.h and cuda.h for programs that use OpenGL or CUDA themselves; mpi.h and ranks.h for several processes.
 *
 * Conventions that hold everywhere:
 *
 * - A function that can fail returns ts_status: 0 on success, a negative error, or the positive
 *   TS_NOT_CONVERGED, with the reason in ts_last_error(). After an error, output handles are NULL and output
 *   data is unchanged, unless the function says otherwise; ts_last_error() names the argument and its value.
 * - Errors that any function may return are listed here only: TS_ERROR_INVALID_ARGUMENT if a pointer that is
 *   not optional is NULL, TS_ERROR_DEVICE, and on OpenGL, which compiles programs on first use,
 *   TS_ERROR_SHADER. "Memory" in a list of errors is TS_ERROR_OUT_OF_HOST_MEMORY and
 *   TS_ERROR_OUT_OF_DEVICE_MEMORY. Functions that return no status return NULL or 0 for a NULL handle.
 * - A descriptor filled with zeros means the defaults, which stand beside each field. Reserved fields are 0.
 * - Host arrays passed in are read during the call and never kept. Host arrays passed out are the caller's.
 * - Destroying takes the address of a handle, accepts NULL, and sets the handle to NULL. Objects keep
 *   what they need alive: a space may be destroyed before its vectors. A context is the exception:
 *   destroy it last; objects that outlive it must not be used, not even destroyed.
 * - Thread safety: one thread at a time may use a context and its objects, and another one afterwards, except
 *   with OpenGL contexts that stay on a thread (TS_GL_PLATFORM_WINDOW, TS_GL_PLATFORM_CURRENT,
 *   TS_GL_KEEP_CURRENT, ts_gl_make_current). Different contexts are independent. This holds for every function
 *   unless its comment says "Any thread".
 * - Version: every function and type of these headers is there since version 0.1, unless its comment names a
 *   later one.
 * - The library never aborts, exits or prints. It reports through return values and the log callback.
 */
#ifndef TEXSOLVE_TEXSOLVE_H
#define TEXSOLVE_TEXSOLVE_H

#include <stddef.h>
#include <stdint.h>

#define TS_VERSION_MAJOR 0
#define TS_VERSION_MINOR 1
#define TS_VERSION_PATCH 0

/* On Windows a program that links the shared library may define TEXSOLVE_SHARED, as the CMake targets do, which
 * saves an indirection in each call. TEXSOLVE_EXPORTS is for the library itself. */
#if defined(_WIN32) && defined(TEXSOLVE_EXPORTS)
#define TS_API __declspec(dllexport)
#elif defined(_WIN32) && defined(TEXSOLVE_SHARED)
#define TS_API __declspec(dllimport)
#elif defined(__GNUC__)
#define TS_API __attribute__((visibility("default")))
#else
#define TS_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status ---------------------------------------------------------------------------------- */

/* Name, value and text of every status; the texts are what ts_status_text() returns. */
#define TS_STATUS_LIST(X)                                                                                      \
  X(TS_OK, 0, "success")                                                                                       \
  X(TS_NOT_CONVERGED, 1, "the solver stopped before it converged")                                             \
  X(TS_ERROR_INVALID_ARGUMENT, -1, "invalid argument")                                                         \
  X(TS_ERROR_OUT_OF_HOST_MEMORY, -2, "out of host memory")                                                     \
  X(TS_ERROR_OUT_OF_DEVICE_MEMORY, -3, "out of device memory")                                                 \
  X(TS_ERROR_UNAVAILABLE, -4, "the backend was not built or has no device")                                    \
  X(TS_ERROR_UNSUPPORTED, -5, "the backend does not support this")                                             \
  X(TS_ERROR_LIMIT, -6, "a limit of the device is exceeded")                                                   \
  X(TS_ERROR_INCOMPATIBLE, -7, "the objects do not belong together")                                           \
  X(TS_ERROR_SHADER, -8, "a shader is missing or does not compile")                                            \
  X(TS_ERROR_DEVICE, -9, "the device or its driver reported an error")                                         \
  X(TS_ERROR_UNREACHABLE, -10, "another process of the job cannot be reached")

typedef enum ts_status {
#define TS_STATUS_ENUM(name, value, text) name = value,
  TS_STATUS_LIST(TS_STATUS_ENUM)
#undef TS_STATUS_ENUM
} ts_status;

/* The name of a status ("TS_ERROR_LIMIT") and its text; "unknown status" for other values. Any thread. */
TS_API const char *ts_status_name(ts_status status);
TS_API const char *ts_status_text(ts_status status);

/* The library's version, "0.1.0". Any thread. */
TS_API const char *ts_version(void);

typedef struct ts_context ts_context;
typedef struct ts_space ts_space;
typedef struct ts_vector ts_vector;
typedef struct ts_scalars ts_scalars;
typedef struct ts_matrix ts_matrix;

/* One line that explains the last error of this context, or "" after a success. With NULL: of the last
 * call on this thread that had no context to keep the message (ts_context_create and NULL arguments).
 * The text stays until the next call on the context (on the thread). */
TS_API const char *ts_last_error(const ts_context *context);
/* The row of the matrix that this error is about, from 0, for programs that count rows in another way or have
 * them in another order; -1 if it is about none, or is another rank's. */
TS_API int64_t ts_last_error_row(const ts_context *context);

/* ---- Context --------------------------------------------------------------------------------- */

typedef enum ts_log_level { TS_LOG_WARNING = 1, TS_LOG_INFO = 2, TS_LOG_DEBUG = 3 } ts_log_level;

/* Receives one line without a newline. Called on the thread that called the library. */
typedef void (*ts_log_fn)(ts_log_level level, const char *message, void *user);

/* Host memory: all three functions or none; realloc_fn(NULL, n) allocates. The library takes all of its own
 * host memory from here. Drivers and the creation of threads allocate elsewhere. */
typedef struct ts_allocator {
  void *(*malloc_fn)(size_t bytes, void *user);
  void *(*realloc_fn)(void *block, size_t bytes, void *user);
  void (*free_fn)(void *block, void *user);
  void *user;
} ts_allocator;

enum {
  /* Use the generic fallbacks instead of a backend's fused operations, and in OpenGL single fetches instead of
     gathers (to test and to compare). */
  TS_CONTEXT_NO_FUSED_OPERATIONS = 1
};

/* Who has which rows of a matrix where a backend has several parts. Name, value, text. */
#define TS_PARTITION_LIST(X)                                                                                   \
  X(TS_PARTITION_AUTO, 0, "auto")     /* as many parts as pay; METIS's if they need far less of each other */  \
  X(TS_PARTITION_BLOCKS, 1, "blocks") /* contiguous rows of all parts, balanced by entries */                  \
  X(TS_PARTITION_METIS, 2, "metis")   /* METIS's parts of the graph; blocks where it does not apply */         \
  X(TS_PARTITION_SCOTCH, 3, "scotch") /* PT-Scotch's, found by several processes; blocks within one */

typedef enum ts_partition {
#define TS_PARTITION_ENUM(name, value, text) name = value,
  TS_PARTITION_LIST(TS_PARTITION_ENUM)
#undef TS_PARTITION_ENUM
} ts_partition;

/* A partition's text, NULL if there is none such; and the partition with a text, -1 if none. Any thread. */
TS_API const char *ts_partition_name(ts_partition partition);
TS_API int ts_partition_from_name(const char *name);

typedef struct ts_context_desc {
  /* "cuda", "cuda:1" (the second device), "gl", "gl:1", "cpu", "check:gl" (a backend wrapped in checks);
   * "cuda:0+1" or "cuda:all": several devices as one, each with a part of every vector and matrix (Cevahir et
   * al. 2009, section 3.3), for all but grids, meshes and fluids, which are TS_ERROR_UNSUPPORTED there. A
   * matrix too small to gain (ts_tuning_entry "part_rows") takes fewer of them, which ts_matrix_info.choice
   * says, unless a partition is asked for. Results are the same bits on every run with the same parts.
   * "multi:cpu+cpu" is the same of the processor, and takes all parts; or
   * "auto": CUDA if there is a device, else OpenGL on a hardware device, else the CPU; with
   * TS_GL_PLATFORM_CURRENT OpenGL before CUDA. The log says which and why. Default: "auto". */
  const char *backend;
  ts_log_fn log; /* default: none */
  void *log_user;
  ts_log_level log_level;      /* the most detailed level wanted; default: TS_LOG_WARNING */
  ts_allocator allocator;      /* default: malloc, realloc, free */
  int threads;                 /* threads of the CPU backend, and of set-ups on the host elsewhere; default:
                                  OMP_NUM_THREADS, else the cores that this process may use. They start with
                                  the first operation that is large enough, and pause while other programs
                                  need their cores */
  size_t max_device_bytes;     /* most memory of a device, beside a context's own few MB; default: no limit */
  unsigned flags;              /* TS_CONTEXT_... */
  const struct ts_gl_desc *gl; /* options of OpenGL (texsolve/gl.h); ignored by other backends. Default: NULL */
  ts_partition partition;      /* of matrices on several devices; default: auto */
  int reserved[7];             /* 0 */
} ts_context_desc;

/* Opens a device. `desc` may be NULL for the defaults.
 * Errors: TS_ERROR_INVALID_ARGUMENT (unknown backend, a field and its value), TS_ERROR_UNAVAILABLE (not built,
 * no device, no display, no current context), TS_ERROR_UNSUPPORTED (OpenGL older than 3.3), TS_ERROR_SHADER,
 * TS_ERROR_OUT_OF_HOST_MEMORY. Message: ts_last_error(NULL). */
TS_API ts_status ts_context_create(const ts_context_desc *desc, ts_context **context);
TS_API void ts_context_destroy(ts_context **context);

typedef struct ts_context_info {
  const char *backend;            /* as requested: "gl", "cuda:1", ...; with "auto" the one chosen */
  const char *device;             /* the device's name */
  const char *driver;             /* the driver's name and version */
  int is_hardware;                /* 0 for a software rasterizer, 1 for a GPU or the CPU backend */
  int threads;                    /* of the CPU backend; 0 elsewhere */
  unsigned formats;               /* that ts_matrix_create can store: bit 1 << TS_FORMAT_... */
  size_t bytes_device;            /* device memory in use by this context's objects */
  uint64_t host_synchronisations; /* so far */
  int parts;                      /* of vectors and matrices, each on a device of its own; 1 on one device */
  size_t bytes_total;             /* memory of the device, or of one of several; 0: not known, as of OpenGL */
  double seconds_shaders; /* so far, for compiling shaders, each when it is first needed; OpenGL's only */
} ts_context_info;

/* No host synchronisation. The strings live as long as the context. */
TS_API ts_status ts_context_get_info(const ts_context *context, ts_context_info *info);

/* A measured number that steers a choice, such as that of a format. */
typedef struct ts_tuning_entry {
  const char *name, *meaning; /* live as long as the library */
  double value;
} ts_tuning_entry;

/* Returns number `index`, from 0; TS_ERROR_INVALID_ARGUMENT past the last one. Names and values belong to this
 * version and device. No host synchronisation. */
TS_API ts_status ts_context_get_tuning(const ts_context *context, int index, ts_tuning_entry *entry);

/* Changes a number for matrices and solvers created from now on; `texsolve bench tune` measures which values
 * suit a device. Errors: TS_ERROR_INVALID_ARGUMENT (an unknown name; a value that is not positive, or out of
 * the range that the message names), TS_ERROR_UNSUPPORTED (the present value is 0: the backend has no such
 * choice). No host synchronisation. */
TS_API ts_status ts_context_set_tuning(ts_context *context, const char *name, double value);

/* Waits until the device has finished all work of the context. */
TS_API ts_status ts_context_finish(ts_context *context);

/* Returns the name of backend number `index`, from 0, whether built or not; NULL past the last one. check,
 * which wraps the others, is not among them. Any thread. */
TS_API const char *ts_backend_name(int index);

/* ---- Index spaces ---------------------------------------------------------------------------- */

/* What numbers on the device are made of, and how a solver computes. Host arrays may be of either precision:
 * see ts_csr and ts_vector_write_double. Name, value, text. */
#define TS_PRECISION_LIST(X)                                                                                   \
  X(TS_PRECISION_AUTO, 0, "auto")     /* of vectors and scalars: single; of matrices: what the values need */  \
  X(TS_PRECISION_SINGLE, 1, "single") /* floats */                                                             \
  X(TS_PRECISION_MIXED, 2, "mixed")   /* of solvers only: see ts_solver_desc */                                \
  X(TS_PRECISION_DOUBLE, 3, "double") /* every double, as the sum of three floats */

typedef enum ts_precision {
#define TS_PRECISION_ENUM(name, value, text) name = value,
  TS_PRECISION_LIST(TS_PRECISION_ENUM)
#undef TS_PRECISION_ENUM
} ts_precision;

/* A precision's text, NULL if there is no such precision; and the precision with a text, -1 if none. Any
 * thread. */
TS_API const char *ts_precision_name(ts_precision precision);
TS_API int ts_precision_from_name(const char *name);

typedef struct ts_space_desc {
  int32_t size; /* number of indices, from 1 to 2^31 - 1024 */
} ts_space_desc;

/* Creates an index space of `size` indices in natural order, for vectors that belong to no matrix and for the
 * columns of rectangular matrices. ts_matrix_create makes the space of a matrix's rows, which it sorts by
 * length (Bolz et al. 2003, section 3.2.2).
 * Errors: TS_ERROR_INVALID_ARGUMENT, TS_ERROR_LIMIT (more texels than a texture holds, more than 2^31 - 1024
 * indices), memory. */
TS_API ts_status ts_space_create(ts_context *context, const ts_space_desc *desc, ts_space **space);
TS_API void ts_space_destroy(ts_space **space);
TS_API int32_t ts_space_size(const ts_space *space);

/* ---- Scalars on the device ------------------------------------------------------------------- */

typedef struct ts_scalars_desc {
  int count;              /* number of slots, 1 to 4096 */
  ts_precision precision; /* default: single */
  int reserved[6];        /* 0 */
} ts_scalars_desc;

/* Creates an array of device slots. Each holds four components, of which a reduction writes as many as its
 * vectors have. New slots hold 0. Errors: TS_ERROR_INVALID_ARGUMENT (a count out of range), memory. */
TS_API ts_status ts_scalars_create(ts_context *context, const ts_scalars_desc *desc, ts_scalars **scalars);
TS_API void ts_scalars_destroy(ts_scalars **scalars);

/* Copies slots first .. first+count-1 from or to `values`, four numbers a slot. Reading synchronises with the
 * device. Errors: TS_ERROR_INVALID_ARGUMENT (no such slots), memory. */
TS_API ts_status ts_scalars_write(ts_scalars *scalars, int first, int count, const float *values);
TS_API ts_status ts_scalars_read(ts_scalars *scalars, int first, int count, float *values);
TS_API ts_status ts_scalars_write_double(ts_scalars *scalars, int first, int count, const double *values);
TS_API ts_status ts_scalars_read_double(ts_scalars *scalars, int first, int count, double *values);

/* One slot of an array. */
typedef struct ts_slot {
  const ts_scalars *scalars;
  int index;
} ts_slot;

/* A coefficient of a vector operation, evaluated on the device component by component:
 *     scale * numerator / denominator
 * where a slot without scalars counts as 1, and the quotient is 0 where its denominator is 0 or less than
 * FLT_MIN in size, where it has lost digits. Make one with ts_constant, ts_scaled or ts_quotient. */
typedef struct ts_coefficient {
  double scale; /* rounded to the precision of the vectors */
  ts_slot numerator, denominator;
} ts_coefficient;

static inline ts_coefficient ts_constant(double value) {
  ts_coefficient c = {value, {NULL, 0}, {NULL, 0}};
  return c;
}
static inline ts_coefficient ts_scaled(double scale, const ts_scalars *scalars, int index) {
  ts_coefficient c = {scale, {NULL, 0}, {NULL, 0}};
  c.numerator.scalars = scalars;
  c.numerator.index = index;
  return c;
}
static inline ts_coefficient ts_quotient(double scale, ts_slot numerator, ts_slot denominator) {
  ts_coefficient c = {0, {NULL, 0}, {NULL, 0}};
  c.scale = scale;
  c.numerator = numerator;
  c.denominator = denominator;
  return c;
}

/* ---- Vectors --------------------------------------------------------------------------------- */

typedef struct ts_vector_desc {
  int components;         /* 1 to 4; default: 1 */
  ts_precision precision; /* single: a float a number, and what is written is rounded. double: three floats a
                             number. Default: auto, see ts_vector_create */
  int reserved[6];        /* 0 */
} ts_vector_desc;

/* Creates a vector over `space`, filled with 0. `desc` may be NULL.
 *
 * With precision auto a vector holds floats until they are not enough: if doubles are written or filled that
 * are not floats, if an operand of an operation holds doubles, or if a solution rounded to floats would miss
 * its tolerance or their range. Then the vector gets memory for doubles, and keeps it. Choose single for a
 * fixed cost per frame. Once the application has its texture or pointer, such a vector holds floats only.
 *
 * Errors: TS_ERROR_INVALID_ARGUMENT (components), TS_ERROR_UNSUPPORTED (more than one over the space of a
 * matrix in blocks in OpenGL), memory. */
TS_API ts_status ts_vector_create(ts_space *space, const ts_vector_desc *desc, ts_vector **vector);
TS_API void ts_vector_destroy(ts_vector **vector);
TS_API ts_space *ts_vector_space(const ts_vector *vector); /* borrowed */
TS_API int ts_vector_components(const ts_vector *vector);

/* Copies the whole vector from or to the host: component c of index i is values[i * components + c].
 * `count` is the number of floats and must be size * components (TS_ERROR_INVALID_ARGUMENT otherwise). Reading
 * rounds doubles to floats; it fails with TS_ERROR_INVALID_ARGUMENT if the largest number is out of the range
 * of floats. It synchronises with the device. */
TS_API ts_status ts_vector_write(ts_vector *vector, const float *values, size_t count);
TS_API ts_status ts_vector_read(const ts_vector *vector, float *values, size_t count);

/* The same with doubles on the host. Writing rounds to the precision of the vector: one in precision auto or
 * double keeps every double, of any size: numbers far from 1 are stored times a power of two. A number that
 * is 2^94 times smaller than the largest one begins to lose digits. In single precision a finite number
 * beyond the range of floats is TS_ERROR_INVALID_ARGUMENT: the index and the component are named. Errors: as
 * above, memory. */
TS_API ts_status ts_vector_write_double(ts_vector *vector, const double *values, size_t count);
TS_API ts_status ts_vector_read_double(const ts_vector *vector, double *values, size_t count);

/* Component-wise operations. All vectors of a call must share one space and the number of components
 * (TS_ERROR_INCOMPATIBLE otherwise), and any of them may be the same vector. A coefficient's slots must be of
 * the same context (TS_ERROR_INCOMPATIBLE) and exist (TS_ERROR_INVALID_ARGUMENT); a term whose coefficient is
 * the constant 0 is left out, even if its vector holds a NaN. The precision of the result is that of the
 * computation, of whatever precision the others are: if it holds doubles, filled and copied vectors hold every
 * double, and the others are right to about 48 bits. Filling, copying and scaling, ts_matrix_multiply and
 * ts_matrix_residual keep numbers of any size; the others compute with floats, and numbers out of their range
 * become 0 or infinite. No host synchronisation. */
TS_API ts_status ts_vector_fill(ts_vector *y, double value);       /* y_i = value   */
TS_API ts_status ts_vector_copy(ts_vector *y, const ts_vector *x); /* y = x         */
TS_API ts_status ts_vector_scale(ts_vector *y, ts_coefficient a);  /* y = a y       */
TS_API ts_status ts_vector_axpby(ts_vector *y, ts_coefficient a, const ts_vector *x, ts_coefficient b);
/* y = a x + b y */
TS_API ts_status ts_vector_multiply(ts_vector *z, const ts_vector *x, const ts_vector *y); /* z_i = x_i y_i */
TS_API ts_status ts_vector_reciprocal(ts_vector *y, const ts_vector *x); /* y_i = 1/x_i, 0 where x_i is 0 */

typedef enum ts_norm { TS_NORM_2 = 0, TS_NORM_INFINITY = 1 } ts_norm;

/* Reductions over all indices, each component separately, into slot `index` of `result`. The order of
 * summation is fixed: the same input gives the same bits (Bolz et al. 2003, section 3.1.3). A NaN in x makes
 * the result NaN. With TS_PRECISION_DOUBLE of x (of a dot: or y) and of `result` about 48 bits are right. No
 * host synchronisation.
 * Errors: TS_ERROR_INVALID_ARGUMENT (no such slot, no such norm), TS_ERROR_INCOMPATIBLE (as above, and scalars
 * of another context). */
TS_API ts_status ts_vector_dot(ts_scalars *result, int index, const ts_vector *x, const ts_vector *y);
TS_API ts_status ts_vector_norm(ts_scalars *result, int index, const ts_vector *x, ts_norm norm);
TS_API ts_status ts_vector_sum(ts_scalars *result, int index, const ts_vector *x);
TS_API ts_status ts_vector_max(ts_scalars *result, int index, const ts_vector *x); /* of x_i, not |x_i| */

/* ---- Sparse matrices ------------------------------------------------------------------------- */

/* How a matrix is stored on the device. */
#define TS_FORMAT_LIST(X)                                                                                      \
  X(TS_FORMAT_AUTO, 0, "auto")         /* chosen for the matrix; ts_matrix_info.choice says why */             \
  X(TS_FORMAT_JAGGED, 1, "jagged")     /* k-th entries of rows side by side (gl, cuda) */                      \
  X(TS_FORMAT_SEGMENTS, 2, "segments") /* Bolz et al. 2003, section 3.1.1 */                                   \
  X(TS_FORMAT_CSR, 3, "csr")           /* compressed sparse rows (cpu, cuda) */                                \
  X(TS_FORMAT_STENCIL, 4, "stencil")   /* nine coefficients a point of a grid: texsolve/grid.h */              \
  X(TS_FORMAT_BCRS2, 5, "bcrs2")       /* compressed rows of 2 x 2 blocks; Buatois et al. 2008 */              \
  X(TS_FORMAT_BCRS4, 6, "bcrs4")       /* the same of 4 x 4 blocks */

typedef enum ts_format {
#define TS_FORMAT_ENUM(name, value, text) name = value,
  TS_FORMAT_LIST(TS_FORMAT_ENUM)
#undef TS_FORMAT_ENUM
} ts_format;

/* Blocks are made of n consecutive rows and columns, those of index i / n. Where the unknowns of a node of a
 * mesh are numbered together, blocks are full, and x and the pattern are read once a block instead of once an
 * entry; elsewhere they store zeros (ts_matrix_info.fill_ratio). A block multiplies x by its zeros too: a NaN
 * or an infinity in x reaches every row of its blocks.
 *
 * A format's text, NULL if there is no such format; and the format with a text, -1 if none. Any thread. */
TS_API const char *ts_format_name(ts_format format);
TS_API int ts_format_from_name(const char *name);

/* A matrix in compressed sparse rows: the entries of row i are row_offsets[i] .. row_offsets[i+1]-1. Columns
 * within a row may come in any order; entries with the same row and column are added up, in double precision.
 *
 * Values are floats or doubles: set `values` or `double_values`, or neither for a matrix of zeros whose values
 * follow later. Doubles are kept as a float and remainders, which products in double precision and residuals
 * read, unless the matrix's precision is single.
 *
 * Values may have any size that doubles have: if the largest is far from 1, the matrix is stored times a power
 * of two, and products, diagonals and solutions are scaled back. A value that is
 * 2^78 times smaller than the largest one begins to lose digits. */
typedef struct ts_csr {
  int32_t rows, columns;         /* 1 to 2^31 - 1024 */
  const int32_t *row_offsets;    /* rows + 1, ascending, from 0 */
  const int32_t *column_indices; /* 0 .. columns-1 */
  const float *values;           /* finite; or NULL */
  const double *double_values;   /* instead of `values`: finite; or NULL */
} ts_csr;

typedef struct ts_matrix_desc {
  ts_csr csr;
  ts_format format; /* default: TS_FORMAT_AUTO, the fastest in products by the bytes or texels that it reads; on
                       a GPU csr or jagged for small matrices; blocks on gl only if `components` is 1 */
  const unsigned char *constrained; /* `rows` flags; rows flagged nonzero have no equation: their unknowns are
                                  stored and used by other rows, and A x is 0 there (Bolz et al. 2003, 3.1.2,
                                  boundaries). For square matrices. Default: none */
  ts_space *row_space;              /* use this space for the rows; default: a new one, rows sorted by length */
  ts_space *column_space;           /* default: the row space if rows == columns, else a new natural one */
  int keep_host_copy;               /* keep the CSR arrays on the host for ts_matrix_host_copy */
  ts_precision precision;           /* single: doubles are rounded to floats. Default: auto, they are kept */
  int components;  /* of the vectors that it will multiply, 1 to 4, as a hint for TS_FORMAT_AUTO. With 1 backend
                      gl may choose blocks, over whose spaces vectors have one component only. Default: 0, not
                      known */
  int reserved[7]; /* 0 */
} ts_matrix_desc;

/* Creates a matrix: chooses the format, lays it out and uploads it.
 * Errors: TS_ERROR_INVALID_ARGUMENT (offsets that do not ascend, a column out of range, NaN or Inf: the
 * row and the entry are named; constrained rows of a matrix that is not square, or beside a
 * row_space, which has constrained rows of its own; components beyond 4), TS_ERROR_INCOMPATIBLE (a space of
 * another size or context, or made for other blocks), TS_ERROR_UNSUPPORTED (a format that the backend lacks, a
 * space that is a grid), TS_ERROR_LIMIT (texture size), memory. */
TS_API ts_status ts_matrix_create(ts_context *context, const ts_matrix_desc *desc, ts_matrix **matrix);
TS_API void ts_matrix_destroy(ts_matrix **matrix);

/* Replaces the values; the layout stays. `csr` must have the sparsity pattern that the matrix was created
 * with, offsets and columns in the same order, or that of its host copy (TS_ERROR_INCOMPATIBLE otherwise); its
 * arrays may be the host copy's own. Solvers made for the matrix use the new values. Errors as above;
 * TS_ERROR_INVALID_ARGUMENT for a stencil (ts_stencil_set_values). */
TS_API ts_status ts_matrix_set_values(ts_matrix *matrix, const ts_csr *csr);

TS_API ts_space *ts_matrix_row_space(const ts_matrix *matrix);    /* borrowed: of y in y = A x */
TS_API ts_space *ts_matrix_column_space(const ts_matrix *matrix); /* borrowed: of x in y = A x */

typedef struct ts_matrix_info {
  int32_t rows, columns;
  int64_t nonzeros;       /* entries after duplicates were added up, explicit zeros included */
  int64_t duplicates;     /* entries that were added to another one */
  int64_t stored_entries; /* entries the device stores, padding and the diagonal included */
  size_t bytes_device;    /* without bytes_rest */
  size_t bytes_rest;      /* of what floats lack of the doubles that were given */
  ts_format format;
  /* Why it has this format: what a product reads in each that the backend has, in bytes or texel fetches an
   * entry, such as "jagged: 5.4 bytes an entry; csr 8.6, bcrs2 10.3 (fill 0.50, x 1.11)", where each byte
   * counts 1.11 times because it takes that much longer. The numbers are those of the matrix as it was created;
   * in "jagged: asked for" the descriptor named the format. */
  char choice[200];
  int32_t blocks;    /* that the matrix has in a format of blocks; else 0 */
  double fill_ratio; /* nonzeros / numbers in those blocks; 1 in the other formats */
  int32_t constrained_rows;
  int32_t rectangles;  /* that rows are packed in; 0 without packing */
  int32_t loops;       /* runs of rectangles with one loop length */
  int32_t longest_row; /* entries of the longest row */
  int32_t split_rows;  /* rows so long that they are summed in several passes */
  int symmetric;       /* 1 if A equals its transpose within single precision (constrained rows aside) */
  int32_t unsymmetric_row, unsymmetric_column; /* the first entry that differs from its mirror, or -1 */
  int32_t zero_diagonal_row;                   /* the first row whose diagonal is missing or 0, or -1 */
  double seconds_layout, seconds_upload;
  int parts;    /* of a backend of several devices that have rows of it; 1 on one device */
  int64_t halo; /* elements of x that a product brings from other parts, summed over the parts */
} ts_matrix_info;

/* No host synchronisation. */
TS_API ts_status ts_matrix_get_info(const ts_matrix *matrix, ts_matrix_info *info);

/* Returns the matrix in CSR with `values` set (columns ascending, duplicates added up, constrained rows empty),
 * borrowed until the matrix is destroyed; ts_matrix_set_values replaces the values in place.
 * TS_ERROR_INVALID_ARGUMENT unless made with keep_host_copy; TS_ERROR_UNSUPPORTED if a value is out of the
 * range of floats, which the copy holds. */
TS_API ts_status ts_matrix_host_copy(const ts_matrix *matrix, ts_csr *csr);

/* y = A x, and r = b - A x; y and r must not be x (TS_ERROR_INVALID_ARGUMENT), r may be b. Every component
 * of x is multiplied by the same matrix. Constrained rows of the result are 0. y, r and b are over the row
 * space, x over the column space, all with as many components (TS_ERROR_INCOMPATIBLE otherwise). No host
 * synchronisation. */
TS_API ts_status ts_matrix_multiply(ts_vector *y, const ts_matrix *matrix, const ts_vector *x);
TS_API ts_status ts_matrix_residual(ts_vector *r, const ts_vector *b, const ts_matrix *matrix,
                                    const ts_vector *x);

/* The diagonal into every component of `d`, which is over the row space (TS_ERROR_INCOMPATIBLE otherwise) of a
 * matrix with one space for rows and columns (TS_ERROR_INVALID_ARGUMENT otherwise). */
TS_API ts_status ts_matrix_diagonal(ts_vector *d, const ts_matrix *matrix);

#ifdef __cplusplus
}
#endif
#endif
