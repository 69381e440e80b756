/* texsolve: sparse linear systems on the graphics pipeline.
 *
 * Vectors and matrices live on a device: in OpenGL textures, in CUDA memory, or in host memory for the CPU
 * backend. Programs use them through opaque handles. To run the same program on another backend, change one
 * string:
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
 * The headers, in reading order; each begins with an example:
 *
 * - array.h: arrays of the application
 * - texsolve.h: contexts, spaces, vectors, scalars on the device, matrices
 * - solver.h: Krylov solvers
 * - batch.h: many small systems in one call
 * - preconditioner.h, amg.h: preconditioners, algebraic multigrid
 * - operator.h: matrix-free operators
 * - system.h, reorder.h: systems assembled equation by equation; orderings of the unknowns
 * - grid.h, mesh.h, fluid.h: stencils and multigrid on grids; mesh smoothing; fluid flow
 * - lcp.h: complementarity problems, contact and friction
 * - gl.h, cuda.h: interoperation with OpenGL and CUDA programs
 * - ranks.h, mpi.h: several processes
 *
 * Conventions that hold everywhere:
 *
 * - A function that can fail returns ts_status: 0 on success, a negative error, or the positive
 *   TS_NOT_CONVERGED. ts_last_error() gives the reason and names the argument and its value. After an error,
 *   output handles are NULL and output data is unchanged, unless the function's comment says otherwise.
 * - Any function may return three errors that are listed only here. TS_ERROR_INVALID_ARGUMENT: a required
 *   pointer is NULL, or a reserved field is not 0. TS_ERROR_DEVICE: the device failed. TS_ERROR_SHADER: OpenGL
 *   compiles shaders on first use, and one did not compile. "Memory" in a list of errors means
 *   TS_ERROR_OUT_OF_HOST_MEMORY and TS_ERROR_OUT_OF_DEVICE_MEMORY. Functions that do not return a status return
 *   NULL or 0 for a NULL handle.
 * - Names: ts_OBJECT_VERB, ts_OBJECT_get_PROPERTY, ts_OBJECT_set_PROPERTY. The enumerators of ts_ENUM are
 *   TS_ENUM_NAME. An enum with names has a list macro, TS_ENUM_LIST(X), which expands X(enumerator, value,
 *   text) for each enumerator, and the functions ts_ENUM_name and ts_ENUM_from_name.
 * - A descriptor filled with zeros selects the defaults, which are documented with each field. In an enum 0 is
 *   the default; it is called AUTO if the library then chooses.
 * - Structs grow: a new field replaces part of `reserved`, which must be 0 in descriptors. A new field that is
 *   0 keeps the earlier behaviour. Struct sizes and the offsets of other fields do not change. Value structs
 *   without `reserved`, such as ts_slot, never change.
 * - Arrays of the application are passed as ts_array (array.h). The library reads or writes them during the
 *   call and does not keep them. On CUDA a call may return before the device has finished: see ts_array.
 * - Strings of an info struct live as long as the object. A result contains its own text.
 * - A destroy function takes the address of a handle, accepts NULL, and sets the handle to NULL. Objects keep
 *   alive what they need, so a space may be destroyed before its vectors. The context is the exception: destroy
 *   it last. Objects that outlive it must not be used, not even destroyed.
 * - Thread safety: only one thread at a time may use a context and its objects; they may move to another thread
 *   between calls. OpenGL contexts that stay on one thread do not allow this (TS_GL_PLATFORM_WINDOW,
 *   TS_GL_PLATFORM_CURRENT, TS_GL_KEEP_CURRENT, ts_gl_make_current). Different contexts are independent. This
 *   applies to every function unless its comment says "Any thread".
 * - Version: every function and type exists since version 0.2, unless its comment names a later one.
 * - The library never aborts, exits or prints. It reports through return values and the log callback. */
#ifndef TEXSOLVE_TEXSOLVE_H
#define TEXSOLVE_TEXSOLVE_H

#include <stddef.h>
#include <stdint.h>

#include <texsolve/array.h>

#define TS_VERSION_MAJOR 0
#define TS_VERSION_MINOR 2
#define TS_VERSION_PATCH 0

/* On Windows a program that links the shared library may define TEXSOLVE_SHARED, which saves an indirection in
 * each call. The CMake targets define it. TEXSOLVE_EXPORTS is for building the library. */
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

/* Name, value and text of every status. ts_status_text() returns the text. */
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
  X(TS_ERROR_UNREACHABLE, -10, "another process of the job cannot be reached")                                 \
  X(TS_ERROR_STOPPED, -11, "stopped by the poll function")

typedef enum ts_status {
#define TS_STATUS_ENUM(name, value, text) name = value,
  TS_STATUS_LIST(TS_STATUS_ENUM)
#undef TS_STATUS_ENUM
} ts_status;

/* Return the name of a status, such as "TS_ERROR_LIMIT", and its text; "unknown status" for other values. Any
 * thread. */
TS_API const char *ts_status_name(ts_status status);
TS_API const char *ts_status_text(ts_status status);

/* Returns the library's version, "0.2.0". Any thread. */
TS_API const char *ts_version(void);

typedef struct ts_context ts_context; /* a device and all objects created on it */
typedef struct ts_space ts_space;     /* an index space: the number of unknowns and where each is stored */
typedef struct ts_vector ts_vector;   /* 1 to 4 numbers, floats or doubles, for each index of a space */
typedef struct ts_scalars ts_scalars; /* numbers that stay on the device, such as sums and coefficients */
typedef struct ts_matrix ts_matrix;   /* a sparse matrix that maps one space to another */

/* Returns one line that explains the last error of this context, or "" after a success. With NULL it describes
 * the last call on this thread without a context, such as ts_context_create or a call with a NULL handle. The
 * text is valid until the next call on the context or, with NULL, on the thread. */
TS_API const char *ts_last_error(const ts_context *context);
/* Returns the matrix row, from 0, that the last error concerns, for programs that number or order rows
 * differently. Returns -1 if the error does not concern a row, or concerns a row of another rank. */
TS_API int64_t ts_last_error_row(const ts_context *context);

/* ---- Context --------------------------------------------------------------------------------- */

/* Severity of a log message. */
typedef enum ts_log_level {
  TS_LOG_LEVEL_WARNING = 1,
  TS_LOG_LEVEL_INFO = 2,
  TS_LOG_LEVEL_DEBUG = 3
} ts_log_level;

/* Receives one line without a newline, on the thread that called the library. It must not use the context or
 * its objects, nor OpenGL, which may have the library's state then. */
typedef void (*ts_log_fn)(ts_log_level level, const char *message, void *user);

/* Host memory functions: set all three or none. realloc_fn(NULL, n) allocates. The library allocates all of its
 * own host memory with them; drivers and thread creation allocate elsewhere. */
typedef struct ts_allocator {
  void *(*malloc_fn)(size_t bytes, void *user);
  void *(*realloc_fn)(void *block, size_t bytes, void *user);
  void (*free_fn)(void *block, void *user);
  void *user;
} ts_allocator;

enum {
  /* Use generic fallbacks instead of a backend's fused operations and, in OpenGL, single fetches instead of
   * gathers. For tests and comparisons. */
  TS_CONTEXT_NO_FUSED_OPERATIONS = 1
};

/* How the rows of a matrix are distributed over the parts of a multi-device backend. Name, value, text. */
#define TS_PARTITION_LIST(X)                                                                                   \
  X(TS_PARTITION_AUTO, 0, "auto")     /* as many parts as help; METIS's if they communicate much less */       \
  X(TS_PARTITION_BLOCKS, 1, "blocks") /* contiguous rows on all parts, balanced by entries */                  \
  X(TS_PARTITION_METIS, 2, "metis")   /* METIS graph partition; blocks if not applicable */                    \
  X(TS_PARTITION_SCOTCH, 3, "scotch") /* PT-Scotch, across processes; blocks within one */

typedef enum ts_partition {
#define TS_PARTITION_ENUM(name, value, text) name = value,
  TS_PARTITION_LIST(TS_PARTITION_ENUM)
#undef TS_PARTITION_ENUM
} ts_partition;

/* Return a partition's text, or NULL for other values; and the partition with that text, or -1. Any thread. */
TS_API const char *ts_partition_name(ts_partition partition);
TS_API int ts_partition_from_name(const char *name);

typedef struct ts_context_desc {
  /* The device. Default: "auto".
   * "cuda", "cuda:1" (the second device), "gl", "gl:1", "cpu": one device.
   * "check:gl": a backend wrapped in checks.
   * "cuda:0+1", "cuda:all": several devices as one, each with a part of every vector and matrix (Cevahir et al.
   * 2009, section 3.3). Grids, meshes and fluids return TS_ERROR_UNSUPPORTED there. A matrix too small to
   * benefit (ts_tuning_entry "part_rows") uses fewer devices, unless a partition is requested;
   * ts_matrix_info.choice reports it. With the same parts, results are bitwise identical on every run.
   * "multi:cpu+cpu": several parts on the CPU; every matrix uses all of them.
   * "auto": CUDA if a CUDA device exists, otherwise OpenGL on a hardware device, otherwise the CPU. With
   * TS_GL_PLATFORM_CURRENT OpenGL precedes CUDA. The log reports the choice and the reason. */
  const char *backend;
  ts_log_fn log; /* default: none */
  void *log_user;
  ts_log_level log_level; /* the most detailed level to report. Default: TS_LOG_LEVEL_WARNING */
  ts_allocator allocator; /* default: malloc, realloc, free */
  int threads; /* threads of the CPU backend, and of host set-up on other backends. Default: OMP_NUM_THREADS,
                  otherwise the cores available to the process. Threads start with the first large operation and
                  pause while other programs need their cores */
  size_t max_device_bytes;     /* limit of device memory; a context's own few MB are extra. Default: none */
  unsigned flags;              /* TS_CONTEXT_... */
  const struct ts_gl_desc *gl; /* OpenGL options (texsolve/gl.h); other backends ignore them. Default: NULL */
  ts_partition partition;      /* of matrices on several devices. Default: auto */
  uint64_t reserved[8];        /* 0 */
} ts_context_desc;

/* Opens a device. `desc` may be NULL for the defaults. Destroy all of the context's objects before the context.
 * ts_last_error(NULL) explains an error.
 * Errors: TS_ERROR_INVALID_ARGUMENT (an unknown backend, an invalid field), TS_ERROR_UNAVAILABLE (a backend
 * that was not built, no device, no display, no current context), TS_ERROR_UNSUPPORTED (OpenGL older than 3.3),
 * TS_ERROR_SHADER, TS_ERROR_OUT_OF_HOST_MEMORY. */
TS_API ts_status ts_context_create(const ts_context_desc *desc, ts_context **context);
TS_API void ts_context_destroy(ts_context **context);

typedef struct ts_context_info {
  const char *backend; /* as requested: "gl", "cuda:1", ...; the chosen backend if "auto" was requested */
  const char *device;  /* name of the device */
  const char *driver;  /* name and version of the driver */
  int is_hardware;     /* 1 for a GPU or the CPU backend, 0 for a software rasterizer */
  int threads;         /* threads of the CPU backend; 0 on other backends */
  unsigned formats;    /* formats that ts_matrix_create can store: bit 1 << TS_FORMAT_... */
  size_t bytes_device; /* device memory in use by the context's objects */
  uint64_t host_synchronisations; /* host synchronisations since creation */
  int parts;                      /* parts of vectors and matrices, one per device; 1 on a single device */
  size_t bytes_total;             /* memory of the device (or of one of several); 0 if unknown, as on OpenGL */
  double seconds_shaders;         /* time to compile shaders, on first use, so far; OpenGL only */
  uint64_t reserved[8];
} ts_context_info;

/* Describes the device and its present use. The strings live as long as the context. No host
 * synchronisation. */
TS_API ts_status ts_context_get_info(const ts_context *context, ts_context_info *info);

/* A measured number that controls a choice of the library, such as the matrix format. */
typedef struct ts_tuning_entry {
  const char *name, *meaning; /* live as long as the library */
  double value;
  uint64_t reserved[4];
} ts_tuning_entry;

/* Returns the tuning entry `index`, from 0. Names and values are specific to this version and device. No host
 * synchronisation.
 * Errors: TS_ERROR_INVALID_ARGUMENT (an index past the last entry). */
TS_API ts_status ts_context_get_tuning(const ts_context *context, int index, ts_tuning_entry *entry);

/* Changes a tuning value for matrices and solvers created afterwards. `texsolve bench tune` measures the values
 * that suit a device. No host synchronisation.
 * Errors: TS_ERROR_INVALID_ARGUMENT (an unknown name; a value that is not positive or is outside the range that
 * the message names), TS_ERROR_UNSUPPORTED (the present value is 0: the backend does not make this choice). */
TS_API ts_status ts_context_set_tuning(ts_context *context, const char *name, double value);

/* Waits until the device has finished all work of the context. */
TS_API ts_status ts_context_finish(ts_context *context);

/* Called by long functions of the library, on the thread that called them. A nonzero result stops the function.
 * It must not use the context or its objects, nor OpenGL, which has the library's state then. */
typedef int (*ts_poll_fn)(void *user);

/* Sets a function that the library calls while it works on the host: to follow a long call, to end it after a
 * time, or when the user asks for it. NULL, the default: none. It replaces the function that was set before.
 *
 * These functions call it: creation of matrices and new values for them, creation and update of
 * preconditioners, creation of solvers, factors, hierarchies of multigrid, and solves at each check. Two calls
 * are at least `seconds` apart; 0 selects 0.005. The library reads the clock between its steps and between
 * blocks of long loops, where some milliseconds pass: a solve of a small system makes no call. One call of a
 * driver, of SuiteSparse, METIS or PT-Scotch is not interrupted, nor an iteration of a solver, nor a solve with
 * fixed_iterations.
 *
 * If it returns a value other than 0, a solve returns TS_NOT_CONVERGED with TS_REASON_STOPPED and the iterate,
 * as after the progress callback; if no iteration was done, x is the start. Every other function releases what
 * it has made and returns TS_ERROR_STOPPED. New values are then incomplete: write them again. All objects stay
 * usable, and a preconditioner whose update was stopped is updated by the next solve. With several ranks all
 * must stop in the same call.
 * Errors: TS_ERROR_INVALID_ARGUMENT (`seconds` is negative or not finite; the call comes from the function
 * itself). */
TS_API ts_status ts_context_set_poll(ts_context *context, ts_poll_fn poll, void *user, double seconds);

/* Returns the name of backend `index`, from 0, built or not; NULL past the last one. The list does not contain
 * check, which wraps other backends. Any thread. */
TS_API const char *ts_backend_name(int index);

/* ---- Index spaces ---------------------------------------------------------------------------- */

/* How the device stores numbers, and how a solver computes. Arrays of the application hold floats or doubles
 * independently of it. Name, value, text. */
#define TS_PRECISION_LIST(X)                                                                                   \
  X(TS_PRECISION_AUTO, 0, "auto")     /* vectors, scalars: single; matrices: as the values require */          \
  X(TS_PRECISION_SINGLE, 1, "single") /* floats */                                                             \
  X(TS_PRECISION_MIXED, 2, "mixed")   /* solvers only: see ts_solver_desc */                                   \
  X(TS_PRECISION_DOUBLE, 3, "double") /* every double, as the sum of three floats */

typedef enum ts_precision {
#define TS_PRECISION_ENUM(name, value, text) name = value,
  TS_PRECISION_LIST(TS_PRECISION_ENUM)
#undef TS_PRECISION_ENUM
} ts_precision;

/* Return a precision's text, or NULL for other values; and the precision with that text, or -1. Any thread. */
TS_API const char *ts_precision_name(ts_precision precision);
TS_API int ts_precision_from_name(const char *name);

typedef struct ts_space_desc {
  int32_t size;         /* number of indices, 1 to 2^31 - 1024 */
  uint64_t reserved[8]; /* 0 */
} ts_space_desc;

/* Creates an index space of `size` indices in natural order, for vectors that do not belong to a matrix and for
 * the columns of rectangular matrices. ts_matrix_create creates the space of a matrix's rows itself and sorts
 * it by row length (Bolz et al. 2003, section 3.2.2).
 * Errors: TS_ERROR_INVALID_ARGUMENT, TS_ERROR_LIMIT (more indices than a texture has texels, or more than
 * 2^31 - 1024), memory. */
TS_API ts_status ts_space_create(ts_context *context, const ts_space_desc *desc, ts_space **space);
TS_API void ts_space_destroy(ts_space **space);
TS_API int32_t ts_space_get_size(const ts_space *space); /* number of indices */

/* ---- Scalars on the device ------------------------------------------------------------------- */

typedef struct ts_scalars_desc {
  int count;              /* number of slots, 1 to 4096 */
  ts_precision precision; /* default: single */
  uint64_t reserved[8];   /* 0 */
} ts_scalars_desc;

/* Creates an array of slots on the device, filled with 0. A slot has four components. A reduction writes one
 * per component of its vectors.
 * Errors: TS_ERROR_INVALID_ARGUMENT (a count out of range), memory. */
TS_API ts_status ts_scalars_create(ts_context *context, const ts_scalars_desc *desc, ts_scalars **scalars);
TS_API void ts_scalars_destroy(ts_scalars **scalars);

/* Copy values.count / 4 slots, beginning with slot `first`, from or to a host array of floats or doubles, four
 * numbers per slot. Reading synchronises with the device and rounds to the array's type.
 * Errors: TS_ERROR_INVALID_ARGUMENT (a slot out of range, a count that is not a multiple of 4, `values`),
 * memory. */
TS_API ts_status ts_scalars_write(ts_scalars *scalars, int first, ts_array values);
TS_API ts_status ts_scalars_read(ts_scalars *scalars, int first, ts_array values);

/* One slot of an array. */
typedef struct ts_slot {
  const ts_scalars *scalars;
  int index;
} ts_slot;

/* A coefficient of a vector operation, evaluated on the device for each component:
 *     scale * numerator / denominator
 * A slot with scalars == NULL counts as 1. If the denominator's magnitude is below FLT_MIN, where floats lose
 * digits, the quotient is 0. Make one with ts_constant, ts_scaled or ts_quotient. */
typedef struct ts_coefficient {
  double scale; /* rounded to the precision of the vectors */
  ts_slot numerator, denominator;
} ts_coefficient;

/* Make a coefficient: ts_constant value, ts_scaled scale * slot `index`, ts_quotient
 * scale * numerator / denominator. Any thread. */
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
  ts_precision precision; /* single: one float per number; writes are rounded. double: three floats per number.
                             Default: auto, see ts_vector_create */
  uint64_t reserved[8];   /* 0 */
} ts_vector_desc;

/* Creates a vector over `space`, filled with 0. `desc` may be NULL.
 *
 * A vector of precision auto holds floats until floats are not enough. It changes to doubles if doubles that
 * are not floats are written or filled, or if an operand of an operation holds doubles. It also changes if a
 * solution rounded to floats would miss its tolerance or exceed their range. The vector then allocates memory
 * for doubles and keeps it. Choose single for a fixed cost per frame. Once the application has its texture or
 * pointer, such a vector holds floats only.
 *
 * Errors: TS_ERROR_INVALID_ARGUMENT (components), TS_ERROR_UNSUPPORTED (in OpenGL, more than one component over
 * the space of a matrix in a block format), memory. */
TS_API ts_status ts_vector_create(ts_space *space, const ts_vector_desc *desc, ts_vector **vector);
TS_API void ts_vector_destroy(ts_vector **vector);
TS_API ts_space *ts_vector_get_space(const ts_vector *vector); /* the vector's space, borrowed */
TS_API int ts_vector_get_components(const ts_vector *vector);  /* 1 to 4 */

/* Copy the whole vector from or to an array of floats or doubles. Component c of index i is number
 * i * components + c, and values.count is size * components.
 *
 * Writing rounds to the precision of the vector. A vector of precision auto or double keeps every double of any
 * magnitude: numbers far from 1 are stored times a power of two. A number 2^94 times smaller than the largest
 * one begins to lose digits. With precision single a finite number beyond the range of floats is
 * TS_ERROR_INVALID_ARGUMENT, and the message names its index and component.
 *
 * Reading floats rounds doubles. It fails with TS_ERROR_INVALID_ARGUMENT if the largest number exceeds the
 * range of floats. Reading into host memory synchronises with the device.
 *
 * Arrays in CUDA memory are not copied to the host. Writing doubles from CUDA memory waits once for the device,
 * which finds the largest number and the numbers that are not floats. Reading floats into CUDA memory from a
 * vector that is stored times a power of two also waits once.
 * Errors: TS_ERROR_INVALID_ARGUMENT (`values`), TS_ERROR_UNSUPPORTED (its memory), memory. */
TS_API ts_status ts_vector_write(ts_vector *vector, ts_array values);
TS_API ts_status ts_vector_read(const ts_vector *vector, ts_array values);

/* Component-wise operations. All vectors of a call must share one space and the same number of components
 * (TS_ERROR_INCOMPATIBLE otherwise). Arguments may be the same vector. A coefficient's slots must belong to the
 * same context (TS_ERROR_INCOMPATIBLE) and exist (TS_ERROR_INVALID_ARGUMENT). A term with the constant
 * coefficient 0 is skipped, even if its vector contains a NaN.
 *
 * The result's precision is the precision of the computation; operands may have any. If the result holds
 * doubles, filling and copying are exact, and other operations are accurate to about 48 bits. Filling, copying,
 * scaling, ts_matrix_multiply and ts_matrix_residual preserve numbers of any magnitude. The other operations
 * compute with floats: numbers outside their range become 0 or infinite. No host synchronisation. */
TS_API ts_status ts_vector_fill(ts_vector *y, double value);       /* y_i = value   */
TS_API ts_status ts_vector_copy(ts_vector *y, const ts_vector *x); /* y = x         */
TS_API ts_status ts_vector_scale(ts_vector *y, ts_coefficient a);  /* y = a y       */
TS_API ts_status ts_vector_axpby(ts_vector *y, ts_coefficient a, const ts_vector *x,
                                 ts_coefficient b);                                        /* y = a x + b y */
TS_API ts_status ts_vector_multiply(ts_vector *z, const ts_vector *x, const ts_vector *y); /* z_i = x_i y_i */
TS_API ts_status ts_vector_reciprocal(ts_vector *y, const ts_vector *x); /* y_i = 1/x_i, 0 where x_i is 0 */

/* The Euclidean norm and the maximum magnitude. */
typedef enum ts_norm { TS_NORM_2 = 0, TS_NORM_INFINITY = 1 } ts_norm;

/* Reductions over all indices, separately for each component, into slot `index` of `result`. The order of
 * summation is fixed, so the same input gives the same bits (Bolz et al. 2003, section 3.1.3). A NaN in x makes
 * the result NaN. If both x (of a dot product, x or y) and `result` have precision double, about 48 bits are
 * accurate. No host synchronisation.
 * Errors: TS_ERROR_INVALID_ARGUMENT (a slot out of range, an invalid norm), TS_ERROR_INCOMPATIBLE (vectors that
 * do not match as above, scalars of another context). */
TS_API ts_status ts_vector_dot(ts_scalars *result, int index, const ts_vector *x, const ts_vector *y);
TS_API ts_status ts_vector_norm(ts_scalars *result, int index, const ts_vector *x, ts_norm norm);
TS_API ts_status ts_vector_sum(ts_scalars *result, int index, const ts_vector *x);
TS_API ts_status ts_vector_max(ts_scalars *result, int index, const ts_vector *x); /* max x_i, not max |x_i| */

/* ---- Sparse matrices ------------------------------------------------------------------------- */

/* How the device stores a matrix.
 *
 * A block format divides the rows and columns into blocks of n consecutive indices: index i belongs to block
 * i / n. If the unknowns of each mesh node are numbered consecutively, the blocks are full, and x and the
 * pattern are read once per block instead of once per entry. Otherwise blocks store zeros
 * (ts_matrix_info.fill_ratio). A block also multiplies x by its zeros: a NaN or infinity in x reaches every row
 * of its blocks. */
#define TS_FORMAT_LIST(X)                                                                                      \
  X(TS_FORMAT_AUTO, 0, "auto")         /* chosen for the matrix: see ts_matrix_info.choice */                  \
  X(TS_FORMAT_JAGGED, 1, "jagged")     /* k-th entries of rows are adjacent (gl, cuda) */                      \
  X(TS_FORMAT_SEGMENTS, 2, "segments") /* Bolz et al. 2003, section 3.1.1 */                                   \
  X(TS_FORMAT_CSR, 3, "csr")           /* compressed sparse rows (cpu, cuda) */                                \
  X(TS_FORMAT_STENCIL, 4, "stencil")   /* nine coefficients per grid point: texsolve/grid.h */                 \
  X(TS_FORMAT_BCRS2, 5, "bcrs2")       /* compressed rows of 2 x 2 blocks; Buatois et al. 2008 */              \
  X(TS_FORMAT_BCRS4, 6, "bcrs4")       /* compressed rows of 4 x 4 blocks */                                   \
  X(TS_FORMAT_OPERATOR, 7, "operator") /* a function instead of entries: texsolve/operator.h */

typedef enum ts_format {
#define TS_FORMAT_ENUM(name, value, text) name = value,
  TS_FORMAT_LIST(TS_FORMAT_ENUM)
#undef TS_FORMAT_ENUM
} ts_format;

/* Return a format's text, or NULL for other values; and the format with that text, or -1. Any thread. */
TS_API const char *ts_format_name(ts_format format);
TS_API int ts_format_from_name(const char *name);

/* A matrix in compressed sparse rows (CSR): the entries of row i are row_offsets[i] .. row_offsets[i+1]-1. The
 * columns of a row may be in any order. Entries with the same row and column are added in double precision.
 *
 * Offsets and indices are integers of 32 or 64 bits, values floats or doubles. Doubles are stored as a float
 * and low-order parts, which products in double precision and residuals read. A matrix of precision single
 * stores only the float. A matrix without values is 0 until ts_matrix_set_values.
 *
 * Values may have any magnitude that doubles can represent. If the largest is far from 1, the matrix is stored
 * times a power of two, and products, diagonals and solutions are scaled back. A value 2^78 times smaller than
 * the largest one begins to lose digits.
 *
 * One device holds at most 2^31 - 1024 rows and columns and 2^31 - 1 entries; larger matrices return
 * TS_ERROR_LIMIT.
 *
 * Arrays in CUDA memory may be those of CuPy and PyTorch, unchanged. The matrix is then built on the device, in
 * format csr or jagged. Some requests need the arrays on the host and copy them there: keep_host_copy, another
 * format, constrained rows, and errors that name an entry. The log reports the copy (TS_LOG_LEVEL_INFO). All
 * arrays of a matrix must be in the same memory. */
typedef struct ts_csr {
  int64_t rows, columns;
  ts_array row_offsets;    /* rows + 1 integers, ascending, from 0 */
  ts_array column_indices; /* integers, 0 .. columns - 1 */
  ts_array values;         /* finite floats or doubles; optional */
  uint64_t reserved[4];    /* 0 */
} ts_csr;

/* Makes a CSR matrix of three arrays. For host arrays the counts follow from `rows` and the last offset; for
 * others they are those of the arrays. Any thread. */
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

/* Makes a CSR matrix of three host arrays; values may be NULL. */
#define ts_host_csr(rows, columns, row_offsets, column_indices, values)                                        \
  ts_csr_make((rows), (columns), ts_host((row_offsets), 0), ts_host((column_indices), 0), ts_host((values), 0))

/* A matrix as a list of entries in any order: entry k is values[k] in row row_indices[k] and column
 * column_indices[k]. Entries with the same row and column are added in double precision, in the order of the
 * list. Types, values and memory are as in ts_csr. */
typedef struct ts_triplets {
  int64_t rows, columns;
  ts_array row_indices, column_indices; /* integers from 0, one per entry */
  ts_array values;
  uint64_t reserved[4]; /* 0 */
} ts_triplets;

typedef struct ts_matrix_desc {
  ts_csr csr;                  /* the matrix in CSR */
  const ts_triplets *triplets; /* the matrix as triplets; csr must then be all 0. Default: NULL */
  ts_format format; /* default: TS_FORMAT_AUTO, the format with the fastest product, predicted from the bytes or
                       texels it reads. On a GPU small matrices are csr or jagged. On gl auto chooses blocks
                       only if `components` is 1 */
  const unsigned char *constrained; /* `rows` flags. A row with a nonzero flag has no equation: its unknown is
                                       stored and used by other rows, and (A x)_i is 0 (boundaries in Bolz et
                                       al. 2003, section 3.1.2). Square matrices only. Default: none */
  ts_space *row_space;              /* space of the rows. Default: a new one, rows sorted by length */
  ts_space *column_space; /* space of the columns. Default: the row space if rows == columns, otherwise a new
                             one in natural order */
  /* 1: keep the CSR arrays on the host for ts_matrix_get_host_copy, which takes 8 bytes per entry and up to 0.4
   * times the creation time in addition; -1: do not keep them. Default: 0, keep them only if
   * TS_PRECONDITIONER_AUTO chooses amg or ilu for the matrix and its first values, and so needs them
   * (texsolve/preconditioner.h). They are also kept if a solve may change to amg and they are fewer than 2^20
   * entries in blocks or textures. Backend cuda builds most matrices on the device, where amg and ilu work
   * without the copy; it keeps one only with 1 */
  int keep_host_copy;
  ts_precision precision; /* single: round doubles to floats. Default: auto, keep them */
  int components; /* number of components, 1 to 4, of the vectors to multiply: a hint for TS_FORMAT_AUTO and the
                     preconditioner auto. With 1 backend gl may choose blocks, and vectors over their spaces can
                     have only one component. Default: 0, unknown */
  /* 1: csr's row_offsets and column_indices stay in place, unchanged, until the matrix is destroyed, and the
   * library may use them without a copy. Backend cpu and host copies on any backend do so, if the arrays are on
   * the host, have 32 bits and ascend in each row. Values are always copied. Default: 0, the arrays may be
   * freed after creation */
  int borrow;
  uint64_t reserved[8]; /* 0 */
} ts_matrix_desc;

/* Creates a matrix from rows or triplets: chooses the format, builds the layout and uploads it. The arrays are
 * copied unless `borrow` is set. If the entries lie on few diagonals, as those of regular grids, the CPU
 * backend also stores them by diagonals: the first product with one component takes up to 6 bytes an entry for
 * that, unless memory is short. Products then take a third to a half of the time, and multiply x by the zeros
 * of gaps, as blocks do. Create vectors over ts_matrix_get_row_space and ts_matrix_get_column_space. Errors:
 * TS_ERROR_INVALID_ARGUMENT, TS_ERROR_INCOMPATIBLE (a space of another size or context, or made for other
 * blocks), TS_ERROR_UNSUPPORTED (a format that the backend lacks, the space of a grid), TS_ERROR_LIMIT (texture
 * size), memory. Invalid arguments are offsets that do not ascend, a column out of range, NaN and infinity (the
 * message names the row and the entry), and components above 4. Constrained rows are invalid for a matrix that
 * is not square and together with row_space, which has its own. */
TS_API ts_status ts_matrix_create(ts_context *context, const ts_matrix_desc *desc, ts_matrix **matrix);
TS_API void ts_matrix_destroy(ts_matrix **matrix);

/* Replaces the values and keeps the layout. `csr` must have the sparsity pattern that the matrix was created
 * with, offsets and columns in the same order, or the pattern of its host copy (TS_ERROR_INCOMPATIBLE
 * otherwise). Its arrays may be the host copy's own. Solvers created for the matrix use the new values. Errors:
 * as ts_matrix_create; TS_ERROR_INVALID_ARGUMENT for a stencil (use ts_stencil_set_values). */
TS_API ts_status ts_matrix_set_values(ts_matrix *matrix, const ts_csr *csr);

/* Replaces the values of a matrix created from triplets. Rows and columns must be the same, in the same order.
 * Errors: as ts_matrix_set_values. */
TS_API ts_status ts_matrix_set_triplets(ts_matrix *matrix, const ts_triplets *triplets);

TS_API ts_space *ts_matrix_get_row_space(const ts_matrix *matrix);    /* space of y in y = A x, borrowed */
TS_API ts_space *ts_matrix_get_column_space(const ts_matrix *matrix); /* space of x in y = A x, borrowed */

typedef struct ts_matrix_info {
  int32_t rows, columns;
  int64_t nonzeros;       /* entries, explicit zeros included, after duplicates were added */
  int64_t duplicates;     /* entries that were added to another entry */
  int64_t stored_entries; /* entries stored on the device, padding and the diagonal included */
  size_t bytes_device;    /* device memory without bytes_low_order */
  size_t bytes_low_order; /* device memory of the low-order parts of doubles */
  ts_format format;
  /* Why the format was chosen: the bytes or texel fetches per entry that a product reads in each format of the
   * backend, such as "jagged: 5.4 bytes an entry; csr 8.6, bcrs2 10.3 (fill 0.50, x 1.11)". Here "x 1.11" means
   * that each byte takes 1.11 times longer. The numbers are those at creation. "jagged: asked for" means that
   * the descriptor named the format. */
  const char *choice; /* lives as long as the matrix */
  int32_t blocks;     /* number of blocks in a block format; otherwise 0 */
  double fill_ratio;  /* nonzeros / numbers stored in blocks; 1 in other formats */
  int32_t constrained_rows;
  int32_t rectangles;  /* rectangles that the rows are packed in; 0 without packing */
  int32_t loops;       /* runs of rectangles with the same loop length */
  int32_t longest_row; /* entries of the longest row */
  int32_t split_rows;  /* rows so long that they are summed in several passes */
  int symmetric;       /* 1 if A equals its transpose within single precision; constrained rows are ignored */
  int32_t unsymmetric_row, unsymmetric_column; /* the first entry that differs from its mirror entry, or -1 */
  int32_t zero_diagonal_row;                   /* the first row whose diagonal is missing or 0, or -1 */
  int negative_diagonal; /* 1 if a diagonal entry is negative, so that the matrix is not positive definite.
                            Always 0 for stencils and for arrays in device memory, where it is not checked */
  double seconds_layout, seconds_upload;
  int parts;    /* parts of a multi-device backend that hold rows; 1 on one device */
  int64_t halo; /* elements of x that a product receives from other parts, summed over the parts */
  uint64_t reserved[7];
} ts_matrix_info;

/* Describes a matrix: sizes, format, symmetry. No host synchronisation. */
TS_API ts_status ts_matrix_get_info(const ts_matrix *matrix, ts_matrix_info *info);

/* Returns the matrix in CSR, borrowed until the matrix is destroyed: columns ascending, duplicates added,
 * constrained rows empty, 32-bit integers, floats. ts_matrix_set_values replaces the values in place. If
 * keep_host_copy was not 1, stored zeros may be missing, and ts_matrix_set_values ends the loan.
 * Errors: TS_ERROR_INVALID_ARGUMENT (a matrix without a host copy), TS_ERROR_UNSUPPORTED (a value outside the
 * range of floats). */
TS_API ts_status ts_matrix_get_host_copy(const ts_matrix *matrix, ts_csr *csr);

/* y = A x, and r = b - A x. Each component of x is multiplied by the same matrix. Constrained rows of the
 * result are 0. y, r and b are over the row space, x over the column space, all with the same number of
 * components (TS_ERROR_INCOMPATIBLE otherwise). y and r must not be x (TS_ERROR_INVALID_ARGUMENT); r may be b.
 * No host synchronisation. */
TS_API ts_status ts_matrix_multiply(ts_vector *y, const ts_matrix *matrix, const ts_vector *x);
TS_API ts_status ts_matrix_residual(ts_vector *r, const ts_vector *b, const ts_matrix *matrix,
                                    const ts_vector *x);

/* y = A^T x. y is over the column space and x over the row space; the rest is as in ts_matrix_multiply.
 * Constrained rows contribute nothing, and constrained elements of y are 0: A^T is the transpose of the free
 * rows and columns. The result has the same bits on every run.
 *
 * The first call builds A^T, which belongs to the matrix and uses about as much device memory. The first call
 * after ts_matrix_set_values updates the values of A^T. Both read the entries back from the device, unless the
 * matrix has a host copy and was given floats; the log reports the time (info).
 * Errors: as ts_matrix_multiply; TS_ERROR_INVALID_ARGUMENT (an operator without apply_transposed),
 * TS_ERROR_UNSUPPORTED (a stencil; rows of ranks; in several processes a matrix without a host copy of floats),
 * memory. */
TS_API ts_status ts_matrix_multiply_transposed(ts_vector *y, const ts_matrix *matrix, const ts_vector *x);

/* Copies the diagonal into every component of `d`. The matrix must use one space for rows and columns
 * (TS_ERROR_INVALID_ARGUMENT otherwise), and `d` must be over it (TS_ERROR_INCOMPATIBLE otherwise). */
TS_API ts_status ts_matrix_diagonal(ts_vector *d, const ts_matrix *matrix);

#ifdef __cplusplus
}
#endif
#endif
