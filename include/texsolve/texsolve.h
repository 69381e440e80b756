/* texsolve: sparse linear systems on the graphics pipeline.
 *
 * Vectors and matrices live on a device (OpenGL textures, CUDA memory, or host memory for the CPU backend) and
 * are used through opaque handles. The same program runs on another backend by changing one string:
 *
 *   #include <stdio.h>
 *   #include <texsolve/solver.h>
 *
 *   int main(void) {
 *     const int offsets[] = {0, 2, 5, 7}, columns[] = {0, 1, 0, 1, 2, 1, 2};
 *     const double values[] = {2, -1, -1, 2, -1, -1, 2}, b[] = {1, 2, 3};
 *     double x[] = {0, 0, 0};
 *     ts_context_desc device = {.backend = "cpu"}; // or "gl", "cuda", "auto"
 *     ts_matrix_desc desc = {.csr = ts_host_csr(3, 3, offsets, columns, values)};
 *     ts_context *context = NULL;
 *     ts_matrix *A = NULL;
 *     ts_status status = ts_context_create(&device, &context);
 *     if (status == TS_OK) status = ts_matrix_create(context, &desc, &A);
 *     if (status == TS_OK) status = ts_solve(A, ts_host(b, 3), ts_host(x, 3), NULL, NULL);
 *     if (status == TS_OK) printf("x = %g %g %g\n", x[0], x[1], x[2]); // 2.5 4 3.5
 *     if (status != TS_OK) fprintf(stderr, "%s\n", ts_last_error(context));
 *     ts_matrix_destroy(&A);
 *     ts_context_destroy(&context);
 *     return status != TS_OK;
 *   }
 *
 * The headers, each with an example at its head, in an order to read them in:
 *
 * - array.h: arrays of the application
 * - texsolve.h: contexts, spaces, vectors, scalars on the device, matrices
 * - solver.h: Krylov solvers
 * - preconditioner.h, amg.h: preconditioners, algebraic multigrid
 * - operator.h: matrices that are functions
 * - system.h, reorder.h: equations instead of matrices; orders of the unknowns
 * - grid.h, mesh.h, fluid.h: stencils and multigrid on grids; smoothing of meshes; flows
 * - lcp.h: complementarity problems, contact and friction
 * - gl.h, cuda.h: for programs that use OpenGL or CUDA themselves
 * - ranks.h, mpi.h: several processes
 *
 * Conventions that hold everywhere:
 *
 * - A function that can fail returns ts_status: 0 on success, a negative error, or the positive
 *   TS_NOT_CONVERGED, with the reason in ts_last_error(). After an error, output handles are NULL and output
 *   data is unchanged, unless the function says otherwise; ts_last_error() names the argument and its value.
 * - Errors that any function may return are listed here only: TS_ERROR_INVALID_ARGUMENT if a pointer that is
 *   not optional is NULL, or a reserved field is not 0; TS_ERROR_DEVICE; and on OpenGL, which compiles programs
 *   on first use, TS_ERROR_SHADER. "Memory" in a list of errors is TS_ERROR_OUT_OF_HOST_MEMORY and
 *   TS_ERROR_OUT_OF_DEVICE_MEMORY. Functions that return no status return NULL or 0 for a NULL handle.
 * - Names: ts_OBJECT_VERB, ts_OBJECT_get_PROPERTY, ts_OBJECT_set_PROPERTY; the enumerators of ts_ENUM are
 *   TS_ENUM_NAME. An enum with names has a list, TS_ENUM_LIST(X), which has X(enumerator, value, text) for each
 *   enumerator, and the functions ts_ENUM_name and ts_ENUM_from_name.
 * - A descriptor filled with zeros means the defaults, which are documented with each field. In an enum 0 is
 *   the default; it is called AUTO if the library then chooses.
 * - Structs grow: a new field takes a part of `reserved`, which is 0 in descriptors, and 0 in a new field means
 *   what the library did before it. Sizes and the places of other fields stay. Value structs without
 *   `reserved`, such as ts_slot, stay as they are.
 * - Arrays of the application are a ts_array (array.h): they are read or written during the call and never
 *   kept. On CUDA the call may return before the device has done it: see ts_array.
 * - Strings of an info struct live as long as the object. A result holds its text itself.
 * - Destroying takes the address of a handle, accepts NULL, and sets the handle to NULL. Objects keep
 *   what they need alive: a space may be destroyed before its vectors. A context is the exception:
 *   destroy it last; objects that outlive it must not be used, not even destroyed.
 * - Thread safety: one thread at a time may use a context and its objects, and another one afterwards, except
 *   with OpenGL contexts that stay on a thread (TS_GL_PLATFORM_WINDOW, TS_GL_PLATFORM_CURRENT,
 *   TS_GL_KEEP_CURRENT, ts_gl_make_current). Different contexts are independent. This holds for every function
 *   unless its comment says "Any thread".
 * - Version: every function and type of these headers is there since version 0.2, unless its comment names a
 *   later one.
 * - The library never aborts, exits or prints. It reports through return values and the log callback.
 */
#ifndef TEXSOLVE_TEXSOLVE_H
#define TEXSOLVE_TEXSOLVE_H

#include <stddef.h>
#include <stdint.h>

#include <texsolve/array.h>

#define TS_VERSION_MAJOR 0
#define TS_VERSION_MINOR 2
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

/* The library's version, "0.2.0". Any thread. */
TS_API const char *ts_version(void);

typedef struct ts_context ts_context; /* a device and everything made on it */
typedef struct ts_space ts_space;   /* an index space: how many unknowns there are, and where each is stored */
typedef struct ts_vector ts_vector; /* 1 to 4 numbers, floats or doubles, for every index of a space */
typedef struct ts_scalars ts_scalars; /* numbers that stay on the device: sums, coefficients of updates */
typedef struct ts_matrix ts_matrix;   /* a sparse matrix that maps one space to another */

/* One line that explains the last error of this context, or "" after a success. With NULL: of the last
 * call on this thread that had no context to keep the message (ts_context_create and NULL arguments).
 * The text stays until the next call on the context (on the thread). */
TS_API const char *ts_last_error(const ts_context *context);
/* The row of the matrix that this error is about, from 0, for programs that count rows in another way or have
 * them in another order; -1 if it is about none, or is another rank's. */
TS_API int64_t ts_last_error_row(const ts_context *context);

/* ---- Context --------------------------------------------------------------------------------- */

/* How important a message is. */
typedef enum ts_log_level {
  TS_LOG_LEVEL_WARNING = 1,
  TS_LOG_LEVEL_INFO = 2,
  TS_LOG_LEVEL_DEBUG = 3
} ts_log_level;

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
  ts_log_level log_level;      /* the most detailed level wanted; default: TS_LOG_LEVEL_WARNING */
  ts_allocator allocator;      /* default: malloc, realloc, free */
  int threads;                 /* threads of the CPU backend, and of set-ups on the host elsewhere; default:
                                  OMP_NUM_THREADS, else the cores that this process may use. They start with
                                  the first operation that is large enough, and pause while other programs
                                  need their cores */
  size_t max_device_bytes;     /* most memory of a device, beside a context's own few MB; default: no limit */
  unsigned flags;              /* TS_CONTEXT_... */
  const struct ts_gl_desc *gl; /* options of OpenGL (texsolve/gl.h); ignored by other backends. Default: NULL */
  ts_partition partition;      /* of matrices on several devices; default: auto */
  uint64_t reserved[8];        /* 0 */
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
  uint64_t reserved[8];
} ts_context_info;

/* Describes the device and what is in use of it. No host synchronisation. The strings live as long as the
 * context. */
TS_API ts_status ts_context_get_info(const ts_context *context, ts_context_info *info);

/* A measured number that steers a choice, such as that of a format. */
typedef struct ts_tuning_entry {
  const char *name, *meaning; /* live as long as the library */
  double value;
  uint64_t reserved[4];
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

/* What numbers on the device are made of, and how a solver computes. Arrays of the application hold floats or
 * doubles, whatever this is. Name, value, text. */
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
  int32_t size;         /* number of indices, from 1 to 2^31 - 1024 */
  uint64_t reserved[8]; /* 0 */
} ts_space_desc;

/* Creates an index space of `size` indices in natural order, for vectors that belong to no matrix and for the
 * columns of rectangular matrices. ts_matrix_create makes the space of a matrix's rows, which it sorts by
 * length (Bolz et al. 2003, section 3.2.2).
 * Errors: TS_ERROR_INVALID_ARGUMENT, TS_ERROR_LIMIT (more texels than a texture holds, more than 2^31 - 1024
 * indices), memory. */
TS_API ts_status ts_space_create(ts_context *context, const ts_space_desc *desc, ts_space **space);
TS_API void ts_space_destroy(ts_space **space);
TS_API int32_t ts_space_get_size(const ts_space *space); /* the number of indices */

/* ---- Scalars on the device ------------------------------------------------------------------- */

typedef struct ts_scalars_desc {
  int count;              /* number of slots, 1 to 4096 */
  ts_precision precision; /* default: single */
  uint64_t reserved[8];   /* 0 */
} ts_scalars_desc;

/* Creates an array of device slots. Each holds four components, of which a reduction writes as many as its
 * vectors have. New slots hold 0. Errors: TS_ERROR_INVALID_ARGUMENT (a count out of range), memory. */
TS_API ts_status ts_scalars_create(ts_context *context, const ts_scalars_desc *desc, ts_scalars **scalars);
TS_API void ts_scalars_destroy(ts_scalars **scalars);

/* Copies slots from `first` on from or to an array of floats or doubles on the host, four numbers a slot:
 * values.count / 4 slots. Reading synchronises with the device, and rounds to the array's type. Errors:
 * TS_ERROR_INVALID_ARGUMENT (no such slots, a count that is not a multiple of 4, `values`), memory. */
TS_API ts_status ts_scalars_write(ts_scalars *scalars, int first, ts_array values);
TS_API ts_status ts_scalars_read(ts_scalars *scalars, int first, ts_array values);

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

/* Make a coefficient: value; scale * slot `index`; scale * numerator / denominator. Any thread. */
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
  uint64_t reserved[8];   /* 0 */
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
TS_API ts_space *ts_vector_get_space(const ts_vector *vector); /* the space that it is over, borrowed */
TS_API int ts_vector_get_components(const ts_vector *vector);  /* 1 to 4 */

/* Copies the whole vector from or to an array of floats or doubles: component c of index i is number
 * i * components + c, and values.count is size * components.
 *
 * Writing rounds to the precision of the vector. A vector of precision auto or double keeps every double, of
 * any size: numbers far from 1 are stored times a power of two. A number that is 2^94 times smaller than the
 * largest one begins to lose digits. In single precision a finite number beyond the range of floats is
 * TS_ERROR_INVALID_ARGUMENT: the index and the component are named.
 *
 * Reading floats rounds doubles; it fails with TS_ERROR_INVALID_ARGUMENT if the largest number is out of the
 * range of floats. Reading into host memory synchronises with the device.
 *
 * Arrays in CUDA memory are not copied to the host. Writing doubles waits once for the device, which looks for
 * the largest of them and for numbers that are not floats. So does reading floats from a vector that is stored
 * times a power of two.
 * Errors: TS_ERROR_INVALID_ARGUMENT (`values`), TS_ERROR_UNSUPPORTED (its memory), memory. */
TS_API ts_status ts_vector_write(ts_vector *vector, ts_array values);
TS_API ts_status ts_vector_read(const ts_vector *vector, ts_array values);

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
TS_API ts_status ts_vector_axpby(ts_vector *y, ts_coefficient a, const ts_vector *x,
                                 ts_coefficient b);                                        /* y = a x + b y */
TS_API ts_status ts_vector_multiply(ts_vector *z, const ts_vector *x, const ts_vector *y); /* z_i = x_i y_i */
TS_API ts_status ts_vector_reciprocal(ts_vector *y, const ts_vector *x); /* y_i = 1/x_i, 0 where x_i is 0 */

/* The Euclidean norm, and the largest magnitude. */
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
TS_API ts_status ts_vector_max(ts_scalars *result, int index, const ts_vector *x); /* max x_i, not |x_i| */

/* ---- Sparse matrices ------------------------------------------------------------------------- */

/* How a matrix is stored on the device.
 *
 * Blocks are made of n consecutive rows and columns, those of index i / n. If the unknowns of a node of a mesh
 * are numbered together, blocks are full, and x and the pattern are read once per block instead of once per
 * entry; otherwise blocks store zeros (ts_matrix_info.fill_ratio). A block multiplies x by its zeros too: a NaN
 * or an infinity in x reaches every row of its blocks. */
#define TS_FORMAT_LIST(X)                                                                                      \
  X(TS_FORMAT_AUTO, 0, "auto")         /* chosen for the matrix; ts_matrix_info.choice says why */             \
  X(TS_FORMAT_JAGGED, 1, "jagged")     /* k-th entries of rows side by side (gl, cuda) */                      \
  X(TS_FORMAT_SEGMENTS, 2, "segments") /* Bolz et al. 2003, section 3.1.1 */                                   \
  X(TS_FORMAT_CSR, 3, "csr")           /* compressed sparse rows (cpu, cuda) */                                \
  X(TS_FORMAT_STENCIL, 4, "stencil")   /* nine coefficients a point of a grid: texsolve/grid.h */              \
  X(TS_FORMAT_BCRS2, 5, "bcrs2")       /* compressed rows of 2 x 2 blocks; Buatois et al. 2008 */              \
  X(TS_FORMAT_BCRS4, 6, "bcrs4")       /* the same of 4 x 4 blocks */                                          \
  X(TS_FORMAT_OPERATOR, 7, "operator") /* a function instead of entries: texsolve/operator.h */

typedef enum ts_format {
#define TS_FORMAT_ENUM(name, value, text) name = value,
  TS_FORMAT_LIST(TS_FORMAT_ENUM)
#undef TS_FORMAT_ENUM
} ts_format;

/* A format's text, NULL if there is no such format; and the format with a text, -1 if none. Any thread. */
TS_API const char *ts_format_name(ts_format format);
TS_API int ts_format_from_name(const char *name);

/* A matrix in compressed sparse rows: the entries of row i are row_offsets[i] .. row_offsets[i+1]-1. Columns
 * within a row may come in any order; entries with the same row and column are added up, in double precision.
 *
 * Offsets and indices are integers of 32 or 64 bits, values floats or doubles. Doubles are kept as a float and
 * low-order parts, which products in double precision and residuals read, unless the matrix's precision is
 * single. Without values the matrix is 0, and ts_matrix_set_values follows.
 *
 * Values may have any size that doubles have: if the largest is far from 1, the matrix is stored times a power
 * of two, and products, diagonals and solutions are scaled back. A value that is 2^78 times smaller than the
 * largest one begins to lose digits.
 *
 * One device holds at most 2^31 - 1024 rows and columns and 2^31 - 1 entries; more are TS_ERROR_LIMIT.
 *
 * Arrays in CUDA memory fit as CuPy and PyTorch have them. The matrix is then made on the device, as csr. What
 * needs the arrays on the host copies them (keep_host_copy, another format, constrained rows, an error that is
 * to be named), which the log says (TS_LOG_LEVEL_INFO). All arrays of a matrix are in one memory. */
typedef struct ts_csr {
  int64_t rows, columns;
  ts_array row_offsets;    /* rows + 1 integers, ascending, from 0 */
  ts_array column_indices; /* integers, 0 .. columns-1 */
  ts_array values;         /* finite floats or doubles, or not given */
  uint64_t reserved[4];    /* 0 */
} ts_csr;

/* The matrix of three arrays. On the host their counts follow from `rows` and the last offset; elsewhere they
 * are those of the arrays. */
static inline ts_csr ts_csr_make(int64_t rows, int64_t columns, ts_array row_offsets, ts_array column_indices,
                                 ts_array values) {
  ts_csr csr = {0,
                0,
                {NULL, 0, TS_TYPE_NONE, TS_MEMORY_HOST, 0, 0, NULL},
                {NULL, 0, TS_TYPE_NONE, TS_MEMORY_HOST, 0, 0, NULL},
                {NULL, 0, TS_TYPE_NONE, TS_MEMORY_HOST, 0, 0, NULL},
                {0, 0, 0, 0}};
  int64_t entries = 0;
  csr.rows = rows;
  csr.columns = columns;
  csr.row_offsets = row_offsets;
  csr.column_indices = column_indices;
  csr.values = values;
  if (row_offsets.memory != TS_MEMORY_HOST) return csr;
  if (rows > 0 && row_offsets.data && row_offsets.type == TS_TYPE_INT64)
    entries = ((const int64_t *)row_offsets.data)[rows];
  if (rows > 0 && row_offsets.data && row_offsets.type == TS_TYPE_INT32)
    entries = ((const int32_t *)row_offsets.data)[rows];
  csr.row_offsets.count = rows > 0 ? (size_t)rows + 1 : 0;
  csr.column_indices.count = entries > 0 ? (size_t)entries : 0;
  csr.values.count = values.data ? csr.column_indices.count : 0;
  return csr;
}

/* The matrix of three arrays on the host; values may be NULL. */
#define ts_host_csr(rows, columns, row_offsets, column_indices, values)                                        \
  ts_csr_make((rows), (columns), ts_host((row_offsets), 0), ts_host((column_indices), 0), ts_host((values), 0))

/* A matrix as a list of entries in any order: entry k is values[k] in row row_indices[k] and column
 * column_indices[k]. Entries with the same row and column are added up, in double precision and in the order of
 * the list. Types, values and memory are as in ts_csr. */
typedef struct ts_triplets {
  int64_t rows, columns;
  ts_array row_indices, column_indices; /* integers from 0, as many as there are entries */
  ts_array values;
  uint64_t reserved[4]; /* 0 */
} ts_triplets;

typedef struct ts_matrix_desc {
  ts_csr csr;                  /* the matrix in compressed rows */
  const ts_triplets *triplets; /* instead of csr, which is all 0 then. Default: NULL */
  ts_format format; /* default: TS_FORMAT_AUTO, the fastest in products by the bytes or texels that it reads; on
                       a GPU csr or jagged for small matrices; blocks on gl only if `components` is 1 */
  const unsigned char *constrained; /* `rows` flags; rows flagged nonzero have no equation: their unknowns are
                                  stored and used by other rows, and A x is 0 there (Bolz et al. 2003, 3.1.2,
                                  boundaries). For square matrices. Default: none */
  ts_space *row_space;              /* use this space for the rows; default: a new one, rows sorted by length */
  ts_space *column_space;           /* default: the row space if rows == columns, else a new natural one */
  int keep_host_copy;     /* 1: keep the CSR arrays on the host for ts_matrix_get_host_copy: 8 bytes per
                        entry, and up to 0.4 times the time of creation more; -1: do not. Default: 0,
                        only if TS_PRECONDITIONER_AUTO is amg or ilu for the matrix and its first
                        values, and so needs them (texsolve/preconditioner.h). Of arrays in CUDA memory only 1 keeps
                        them; amg works without, but auto does not choose it then */
  ts_precision precision; /* single: doubles are rounded to floats. Default: auto, they are kept */
  int components; /* of the vectors that it will multiply, 1 to 4, as a hint for TS_FORMAT_AUTO. With 1 backend
                     gl may choose blocks, over whose spaces vectors have one component only. Default: 0, not
                     known */
  int borrow;     /* 1: csr's row_offsets and column_indices stay where they are, unchanged, until the matrix is
                     destroyed, and the library may refer to them instead of copying them. It does so on backend
                     cpu, and for a host copy on any, if they are on the host, of 32 bits, and ascend within each
                     row. Values are always copied. Default: 0, the arrays are free after creation */
  uint64_t reserved[8]; /* 0 */
} ts_matrix_desc;

/* Creates a matrix from rows or triplets, which it copies (but see `borrow`): chooses the format, lays it out
 * and uploads it. Make vectors over ts_matrix_get_row_space and ts_matrix_get_column_space. Errors:
 * TS_ERROR_INVALID_ARGUMENT (offsets that do not ascend, a column out of range, NaN or Inf: the row and the
 * entry are named; constrained rows of a matrix that is not square, or beside a row_space, which has
 * constrained rows of its own; components beyond 4), TS_ERROR_INCOMPATIBLE (a space of another size or context,
 * or made for other blocks), TS_ERROR_UNSUPPORTED (a format that the backend lacks, a space that is a grid),
 * TS_ERROR_LIMIT (texture size), memory. */
TS_API ts_status ts_matrix_create(ts_context *context, const ts_matrix_desc *desc, ts_matrix **matrix);
TS_API void ts_matrix_destroy(ts_matrix **matrix);

/* Replaces the values; the layout stays. `csr` must have the sparsity pattern that the matrix was created
 * with, offsets and columns in the same order, or that of its host copy (TS_ERROR_INCOMPATIBLE otherwise); its
 * arrays may be the host copy's own. Solvers made for the matrix use the new values. Errors as above;
 * TS_ERROR_INVALID_ARGUMENT for a stencil (ts_stencil_set_values). */
TS_API ts_status ts_matrix_set_values(ts_matrix *matrix, const ts_csr *csr);

/* Replaces the values of a matrix that was created from triplets; the same rows and columns in the same order.
 * Errors: as ts_matrix_set_values. */
TS_API ts_status ts_matrix_set_triplets(ts_matrix *matrix, const ts_triplets *triplets);

TS_API ts_space *ts_matrix_get_row_space(const ts_matrix *matrix);    /* of y in y = A x, borrowed */
TS_API ts_space *ts_matrix_get_column_space(const ts_matrix *matrix); /* of x in y = A x, borrowed */

typedef struct ts_matrix_info {
  int32_t rows, columns;
  int64_t nonzeros;       /* entries after duplicates were added up, explicit zeros included */
  int64_t duplicates;     /* entries that were added to another one */
  int64_t stored_entries; /* entries the device stores, padding and the diagonal included */
  size_t bytes_device;    /* without bytes_low_order */
  size_t bytes_low_order; /* of the low-order parts of doubles */
  ts_format format;
  /* Why it has this format: what a product reads in each that the backend has, in bytes or texel fetches an
   * entry, such as "jagged: 5.4 bytes an entry; csr 8.6, bcrs2 10.3 (fill 0.50, x 1.11)", where each byte
   * counts 1.11 times because it takes that much longer. The numbers are those of the matrix as it was created;
   * in "jagged: asked for" the descriptor named the format. */
  const char *choice; /* lives as long as the matrix */
  int32_t blocks;     /* that the matrix has in a format of blocks; else 0 */
  double fill_ratio;  /* nonzeros / numbers in those blocks; 1 in the other formats */
  int32_t constrained_rows;
  int32_t rectangles;  /* that rows are packed in; 0 without packing */
  int32_t loops;       /* runs of rectangles with one loop length */
  int32_t longest_row; /* entries of the longest row */
  int32_t split_rows;  /* rows so long that they are summed in several passes */
  int symmetric;       /* 1 if A equals its transpose within single precision (constrained rows aside) */
  int32_t unsymmetric_row, unsymmetric_column; /* the first entry that differs from its mirror, or -1 */
  int32_t zero_diagonal_row;                   /* the first row whose diagonal is missing or 0, or -1 */
  int negative_diagonal; /* 1 if a diagonal entry is negative, so that the matrix is not positive definite. 0 of
                            stencils and of arrays in device memory, where it is not looked at */
  double seconds_layout, seconds_upload;
  int parts;    /* of a backend of several devices that have rows of it; 1 on one device */
  int64_t halo; /* elements of x that a product brings from other parts, summed over the parts */
  uint64_t reserved[7];
} ts_matrix_info;

/* Describes a matrix: sizes, format, symmetry. No host synchronisation. */
TS_API ts_status ts_matrix_get_info(const ts_matrix *matrix, ts_matrix_info *info);

/* Returns the matrix in CSR (columns ascending, duplicates added up, constrained rows empty; integers of 32
 * bits, floats), borrowed until the matrix is destroyed; ts_matrix_set_values replaces the values in place.
 * TS_ERROR_INVALID_ARGUMENT unless it keeps a host copy; TS_ERROR_UNSUPPORTED if a value is out of the
 * range of floats, which the copy holds. */
TS_API ts_status ts_matrix_get_host_copy(const ts_matrix *matrix, ts_csr *csr);

/* y = A x, and r = b - A x; y and r must not be x (TS_ERROR_INVALID_ARGUMENT), r may be b. Every component
 * of x is multiplied by the same matrix. Constrained rows of the result are 0. y, r and b are over the row
 * space, x over the column space, all with as many components (TS_ERROR_INCOMPATIBLE otherwise). No host
 * synchronisation. */
TS_API ts_status ts_matrix_multiply(ts_vector *y, const ts_matrix *matrix, const ts_vector *x);
TS_API ts_status ts_matrix_residual(ts_vector *r, const ts_vector *b, const ts_matrix *matrix,
                                    const ts_vector *x);

/* y = A^T x. y is over the column space and x over the row space; otherwise as ts_matrix_multiply. Rows without
 * an equation contribute nothing, and constrained elements of y are 0: of a matrix with constrained rows, A^T
 * is the transpose of its free rows and columns. The result is the same bits on every run.
 *
 * The first call makes A^T, as a matrix that belongs to this one and takes about as much device memory; the
 * first call after ts_matrix_set_values gives A^T the new values. For that the entries are read back from the
 * device, unless the matrix has a host copy and was given floats; the log reports the time (info). Errors: as
 * ts_matrix_multiply; TS_ERROR_INVALID_ARGUMENT (an operator without apply_transposed), TS_ERROR_UNSUPPORTED (a
 * stencil; rows of ranks; in several processes a matrix without a host copy of floats), memory. */
TS_API ts_status ts_matrix_multiply_transposed(ts_vector *y, const ts_matrix *matrix, const ts_vector *x);

/* The diagonal into every component of `d`, which is over the row space (TS_ERROR_INCOMPATIBLE otherwise) of a
 * matrix with one space for rows and columns (TS_ERROR_INVALID_ARGUMENT otherwise). */
TS_API ts_status ts_matrix_diagonal(ts_vector *d, const ts_matrix *matrix);

#ifdef __cplusplus
}
#endif
#endif
