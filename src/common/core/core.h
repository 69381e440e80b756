/* What every part of the library uses: memory, errors, log, and the internal forms of public functions. */
#ifndef TSI_COMMON_H
#define TSI_COMMON_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include "backend.h"

#if defined(__MINGW_PRINTF_FORMAT) /* of <stdio.h> */
#define TSI_PRINTF(string, first) __attribute__((format(__MINGW_PRINTF_FORMAT, string, first)))
#elif defined(__GNUC__)
#define TSI_PRINTF(string, first) __attribute__((format(printf, string, first)))
#else
#define TSI_PRINTF(string, first)
#endif

/* ---- Errors: stores the message, returns the status. `context` may be NULL: the thread's message. ---- */
ts_status tsi_fail(ts_context *context, ts_status status, const char *format, ...) TSI_PRINTF(3, 4);
/* The error that was just made, of which `status` comes back, is about this row of the matrix. */
ts_status tsi_fail_at_row(ts_context *context, ts_status status, int64_t row);
void tsi_clear_error(ts_context *context);
/* The precision of a vector, of scalars or of a matrix is one that the backend has. */
ts_status tsi_check_precision(ts_context *context, ts_precision precision);
/* A descriptor's reserved fields are 0; `prefix` stands before the name in the message. */
ts_status tsi_check_reserved(ts_context *context, const char *prefix, const uint64_t *reserved, size_t bytes);

#define TSI_TRY(call)                                                                                          \
  do {                                                                                                         \
    const ts_status tsi_status_ = (call);                                                                      \
    if (tsi_status_ < 0) return tsi_status_;                                                                   \
  } while (0)

/* ---- Log ---- */
void tsi_log(ts_context *context, ts_log_level level, const char *format, ...) TSI_PRINTF(3, 4);

/* ---- Host memory from the context's allocator, or without a context from malloc: NULL when there is none;
 * sizes are checked for overflow ---- */
void *tsi_malloc(ts_context *context, size_t count, size_t size);
void *tsi_calloc(ts_context *context, size_t count, size_t size);
/* For an array few places of which are written: pages that are not touched take no memory. */
void *tsi_malloc_sparse(ts_context *context, size_t count, size_t size);
void tsi_free(ts_context *context, void *block);
ts_status tsi_out_of_memory(ts_context *context, const char *what, size_t bytes);

/* What is made for every frame of a game reserves blocks that the context has kept: fresh pages of the system
 * take longer than what is written there. At least so many bytes; if there were fewer, what was in them is
 * lost. Failure changes nothing. */
ts_status tsi_reserve(ts_context *context, tsi_memory *memory, size_t bytes, const char *what);
/* Leaves the block to the context, for what reserves one of its size next; one beyond 64 MiB is freed. */
void tsi_keep(ts_context *context, tsi_memory *memory);

#ifdef __clang_analyzer__
/* Tells the analyzer, which does not look into error.c, that a failure is never TS_OK. */
#define tsi_fail(context, status, ...) (tsi_fail(context, status, __VA_ARGS__), (status))
#define tsi_out_of_memory(context, what, bytes)                                                                \
  (tsi_out_of_memory(context, what, bytes), TS_ERROR_OUT_OF_HOST_MEMORY)
#endif

/* ---- Device memory: counted, and refused above desc.max_device_bytes ---- */
ts_status tsi_device_take(ts_context *context, size_t bytes, const char *what);
void tsi_device_give(ts_context *context, size_t bytes);

/* Seconds from a monotonic clock. */
double tsi_seconds(void);

/* Fails with "FUNCTION: NAME is NULL" from a public function. */
#define TSI_REQUIRE(context, pointer)                                                                          \
  do {                                                                                                         \
    if (!(pointer)) return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "%s: %s is NULL", __func__, #pointer); \
  } while (0)

/* ---- Entering and leaving a public function ---- */
/* How one begins: its object is there, and the last error is forgotten. */
#define TSI_BEGIN(object, context)                                                                             \
  do {                                                                                                         \
    TSI_REQUIRE(NULL, object);                                                                                 \
    tsi_clear_error(context);                                                                                  \
  } while (0)
ts_status tsi_enter(ts_context *context);
ts_status tsi_leave(ts_context *context, ts_status status);
/* Calls a function of the caller's, which enters and leaves the library by itself; `what` names it if it fails
 * without a message. */
typedef ts_status (*tsi_function)(void *user, ts_vector *out, const ts_vector *in);
ts_status tsi_call(ts_context *context, tsi_function function, void *user, ts_vector *out, const ts_vector *in,
                   const char *what);
/* A public function that all ranks of a context call at the same place has these around what may fail: it
 * returns the same status on all of them (texsolve/ranks.h). They may be within each other. */
void tsi_begin_together(ts_context *context);
ts_status tsi_end_together(ts_context *context, ts_status status);
/* Opens the backend of a descriptor, on several ranks or with NULL in one process. */
ts_status tsi_context_open(const ts_context_desc *desc, tsi_opening *opening, ts_context **context);
/* Destroying never fails and keeps the last error; a backend that cannot enter drops its handles. */
void tsi_enter_to_destroy(ts_context *context);

/* ---- Objects ---- */
void tsi_space_retain(ts_space *space);
void tsi_space_release(ts_space *space);
void tsi_matrix_release(ts_matrix *A);
/* A space from a finished tiling, which it takes over (also on failure), and constrained flags, which it
 * copies. */
ts_status tsi_space_create(ts_context *context, tsi_tiling *tiling, const unsigned char *constrained,
                           ts_space **out);
/* A tiling: lengths of rows to sort by (NULL: natural order) and constrained flags of indices (NULL: none).
 * With blocks, lengths are those of blocks of rows; a linear space has none. */
ts_status tsi_tiling_create_blocks(ts_context *context, int32_t size, int log2_block, const int32_t *lengths,
                                   const unsigned char *constrained, tsi_tiling *tiling);
ts_status tsi_tiling_create(ts_context *context, int32_t size, const int32_t *lengths,
                            const unsigned char *constrained, tsi_tiling *tiling);

/* TS_ERROR_INCOMPATIBLE where v is not over `space`. The words for the message: v's name; who works on the
 * space
 * ("the solver"); the space ("the matrix's space"); and what gives it ("ts_matrix_get_row_space"). */
ts_status tsi_check_space(const ts_vector *v, const ts_space *space, const char *name, const char *owner,
                          const char *space_name, const char *giver);
/* The b and x of a solve: two vectors with as many components. */
ts_status tsi_check_components(const ts_vector *b, const ts_vector *x);

/* TS_ERROR_UNSUPPORTED where a texel of the space has no room for so many components. */
ts_status tsi_check_channels(const ts_space *space, int components);

/* Vectors of `parts` parts over one space, and `slots` scalars of as many, two at most, in one go; uses the
 * backend's arena_create where it can. */
ts_status tsi_arena_create(ts_space *space, int components, int parts, ts_vector **vectors, int count,
                           int slots, ts_scalars **scalars);
/* What a backend does that gains nothing from knowing what is used together. */
ts_status tsi_create_singly(ts_vector **vectors, int count, ts_scalars *scalars);
/* Within a public function. v may be NULL. */
void tsi_vector_destroy(ts_vector *v);
/* Leaves the first part only. */
void tsi_vector_drop_low(ts_vector *v);
/* Gives a vector as many parts, new ones 0; what it has stays. On failure it is as it was. */
ts_status tsi_vector_add_parts(ts_vector *v, int parts);
/* Whether it has floats now and may hold doubles; and lets it hold them, which changes no number. */
int tsi_may_grow(const ts_vector *v);
ts_status tsi_hold_doubles(ts_vector *v);
/* The same for the result of an operation if one of the operands, the last of which is NULL, holds doubles. */
ts_status tsi_hold_result(ts_vector *y, const ts_vector *const *operands);
#define TSI_HOLD_RESULT(y, ...) tsi_hold_result((y), (const ts_vector *const[]){__VA_ARGS__, NULL})
/* The message of a solve that converged to an x which its vector rounds. */
void tsi_say_rounded(ts_result *result);
/* The first part becomes these values, in the order of indices. */
ts_status tsi_write_floats(ts_vector *v, const float *values);
/* The first part, in the order of indices. Synchronises with the device. */
ts_status tsi_read_floats(const ts_vector *v, float *values);
/* All parts become what they hold of these values; `floats` is as long, to work in. */
ts_status tsi_write_parts(ts_vector *v, const double *values, size_t count, float *floats);
/* The parts behind the first become 0. */
ts_status tsi_clear_low(ts_vector *v);
/* All parts together become what tsi_vector_read_doubles reads. May synchronise with the device. */
ts_status tsi_round_to_doubles(ts_vector *v);
/* Leaves a public function that has computed y, in pairs at most: a third part becomes 0. */
ts_status tsi_leave_computed(ts_vector *y, ts_status status);
/* Every number, in all parts. */
ts_status tsi_fill(ts_vector *v, double value);
/* out = a x in all parts; a is a power of two, or its slots hold some. Parts that x lacks become 0. */
ts_status tsi_copy_parts(ts_vector *out, ts_coefficient a, const ts_vector *x);
/* The binary exponents of the largest of some numbers, and of the smallest that is not 0. */
typedef struct tsi_exponents {
  int largest, smallest;
} tsi_exponents;
extern const tsi_exponents tsi_no_exponents; /* there are no such numbers */
/* What they should be divided by: 0 if the largest is ordinary. */
enum { TSI_ORDINARY_MATRIX = 24, TSI_ORDINARY_VECTOR = 40 };
int tsi_scaling_exponent(tsi_exponents exponents, int ordinary);
/* Whether a number loses low-order parts with this exponent. */
int tsi_loses_digits(tsi_exponents exponents, int exponent);

/* Vectors with an exponent (ts_vector). Settling brings it to 0, and what floats do not hold is lost then. */
enum { TSI_LARGEST_EXPONENT = 896 };
int tsi_may_have_exponent(const ts_vector *v);
int tsi_exponent_for(const ts_vector *v, tsi_exponents exponents);
/* ts_vector_write and ts_vector_read of numbers on the host, as public functions: they enter and leave. */
ts_status tsi_vector_write_floats(ts_vector *v, const float *values);
ts_status tsi_vector_read_floats(const ts_vector *v, float *values);
ts_status tsi_vector_write_doubles(ts_vector *v, const double *values);
ts_status tsi_vector_read_doubles(const ts_vector *v, double *values);
ts_status tsi_settle(const ts_vector *v);
/* Enters, and settles the vectors, the last of which is NULL: for public functions that know no exponents. */
ts_status tsi_enter_with(ts_context *context, const ts_vector *const *vectors);
#define TSI_ENTER_WITH(context, ...) tsi_enter_with((context), (const ts_vector *const[]){__VA_ARGS__, NULL})
/* Before the application gets v's texture or pointer. Not within another function of the library. */
ts_status tsi_lend(ts_vector *v);
/* The user's vector becomes 0. */
ts_status tsi_set_zero(ts_vector *v);
/* v = -v. */
ts_status tsi_negate(ts_vector *v);
/* v = 2^exponent v in all parts. */
ts_status tsi_multiply_by_power(ts_vector *v, int exponent);
/* x = x + a e in all parts of both, a as above. */
ts_status tsi_add_to_parts(ts_vector *x, ts_coefficient a, const ts_vector *e);

/* ---- Fused operations or their fallbacks; arguments as in tsi_ops ---- */
/* y = A x, as tsi_spmv, and the sum of x y. */
ts_status tsi_spmv_dot(ts_vector *y, const ts_matrix *A, const ts_vector *x, ts_scalars *out, int index);
/* Whether A->kind->smooth is there and to be used. */
int tsi_smooths(const ts_matrix *A);
ts_status tsi_dots(ts_scalars *out, const tsi_dot *sums, int count, ts_vector *scratch);
ts_status tsi_axpy2(ts_vector *x, ts_coefficient a, const ts_vector *d, ts_vector *r, ts_coefficient b,
                    const ts_vector *q);
ts_status tsi_axpy2_dot(ts_vector *x, ts_coefficient a, const ts_vector *d, ts_vector *r, ts_coefficient b,
                        const ts_vector *q, const ts_vector *w, ts_scalars *out, int index, ts_vector *scratch);
ts_status tsi_multiply_add(ts_vector *out, const ts_vector *w, const ts_vector *x, ts_coefficient b,
                           const ts_vector *y, ts_vector *scratch);
/* Whether some fallback needs its scratch vector. */
int tsi_needs_scratch(const ts_context *context);
/* As ts_scalars_create, which it is part of, but any number of slots. */
ts_status tsi_scalars_create(ts_context *context, int count, ts_precision precision, ts_scalars **scalars);
/* Within a public function. */
void tsi_scalars_destroy(ts_scalars *s);
/* Slots with their low parts, four numbers each. A read counts one wait. */
ts_status tsi_scalars_read(ts_scalars *s, int first, int count, double *values);
ts_status tsi_scalars_read_begin(ts_scalars *s, int first, int count);
ts_status tsi_scalars_read_end(ts_scalars *s, double *values);
ts_status tsi_scalars_write(ts_scalars *s, int first, int count, const double *values);

#endif
