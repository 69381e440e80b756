/* Shared by all parts of the library: memory, errors, log, and the internal forms of public functions. */
#ifndef TSI_COMMON_H
#define TSI_COMMON_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include "backend.h"

#if defined(__MINGW_PRINTF_FORMAT) /* from <stdio.h> */
#define TSI_PRINTF(string, first) __attribute__((format(__MINGW_PRINTF_FORMAT, string, first)))
#elif defined(__GNUC__)
#define TSI_PRINTF(string, first) __attribute__((format(printf, string, first)))
#else
#define TSI_PRINTF(string, first)
#endif

/* ---- Errors: stores the message, returns the status. If `context` is NULL, the message belongs to the thread.
 * ---- */
ts_status tsi_fail(ts_context *context, ts_status status, const char *format, ...) TSI_PRINTF(3, 4);
/* Sets the row of the matrix that the last error is about; returns `status`. */
ts_status tsi_fail_at_row(ts_context *context, ts_status status, int64_t row);
void tsi_clear_error(ts_context *context);
/* Checks that the backend supports the precision of a vector, of scalars or of a matrix. */
ts_status tsi_check_precision(ts_context *context, ts_precision precision);
/* Checks that a descriptor's reserved fields are 0. `prefix` precedes the name in the message. */
ts_status tsi_check_reserved(ts_context *context, const char *prefix, const uint64_t *reserved, size_t bytes);

#define TSI_TRY(call)                                                                                          \
  do {                                                                                                         \
    const ts_status tsi_status_ = (call);                                                                      \
    if (tsi_status_ < 0) return tsi_status_;                                                                   \
  } while (0)

/* ---- Log ---- */
void tsi_log(ts_context *context, ts_log_level level, const char *format, ...) TSI_PRINTF(3, 4);

/* ---- Host memory from the context's allocator, or from malloc without a context. NULL if memory is exhausted;
 * sizes are checked for overflow ---- */
void *tsi_malloc(ts_context *context, size_t count, size_t size);
void *tsi_calloc(ts_context *context, size_t count, size_t size);
/* For a sparsely written array: untouched pages are not allocated. */
void *tsi_malloc_sparse(ts_context *context, size_t count, size_t size);
void tsi_free(ts_context *context, void *block);
ts_status tsi_out_of_memory(ts_context *context, const char *what, size_t bytes);

/* Objects created for every frame of a game reuse blocks kept by the context, because fresh pages from the
 * system cost more than writing the data. The block gets at least `bytes`; if it was smaller, its contents are
 * lost. Failure changes nothing. */
ts_status tsi_reserve(ts_context *context, tsi_memory *memory, size_t bytes, const char *what);
/* Returns the block to the context, for the next object of its size. A block above 64 MiB is freed. */
void tsi_keep(ts_context *context, tsi_memory *memory);

#ifdef __clang_analyzer__
/* The analyzer does not look into error.c: a failure is never TS_OK. */
#define tsi_fail(context, status, ...) (tsi_fail(context, status, __VA_ARGS__), (status))
#define tsi_out_of_memory(context, what, bytes)                                                                \
  (tsi_out_of_memory(context, what, bytes), TS_ERROR_OUT_OF_HOST_MEMORY)
#endif

/* ---- Device memory: accounted for, and refused above desc.max_device_bytes ---- */
ts_status tsi_device_alloc(ts_context *context, size_t bytes, const char *what);
void tsi_device_free(ts_context *context, size_t bytes);

/* Seconds from a monotonic clock. */
double tsi_seconds(void);

/* Fails with "FUNCTION: NAME is NULL" from a public function. */
#define TSI_REQUIRE(context, pointer)                                                                          \
  do {                                                                                                         \
    if (!(pointer)) return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "%s: %s is NULL", __func__, #pointer); \
  } while (0)

/* ---- Entering and leaving a public function ---- */
/* Start of a public function: checks its object and clears the last error. */
#define TSI_BEGIN(object, context)                                                                             \
  do {                                                                                                         \
    TSI_REQUIRE(NULL, object);                                                                                 \
    tsi_clear_error(context);                                                                                  \
  } while (0)
ts_status tsi_enter(ts_context *context);
ts_status tsi_leave(ts_context *context, ts_status status);
/* A public function that enters and leaves more than once, itself or by calling other public functions, is
 * enclosed in these. The context then stays entered from its first tsi_enter to tsi_stay_end, so that an
 * application's OpenGL state is saved and restored once. They may be nested. Functions of the application are
 * called with its own state (tsi_call, tsi_call_progress), except the poll function. tsi_stay_end returns
 * `status`. */
void tsi_stay_begin(ts_context *context);
ts_status tsi_stay_end(ts_context *context, ts_status status);
/* Calls a function of the caller, which may enter and leave the library. `what` names it if it fails without a
 * message. */
typedef ts_status (*tsi_function)(void *user, ts_vector *out, const ts_vector *in);
ts_status tsi_call(ts_context *context, tsi_function function, void *user, ts_vector *out, const ts_vector *in,
                   const char *what);
/* Calls a ts_progress_fn. An application finds its own OpenGL state there and may draw. *stops: it asks to
 * stop. */
struct ts_progress;
ts_status tsi_call_progress(ts_context *context, int (*function)(const struct ts_progress *, void *),
                            const struct ts_progress *progress, void *user, int *stops);
/* A collective public function, called by all ranks of a context at the same point, encloses everything that
 * may fail in these. It returns the same status on all ranks (texsolve/ranks.h). They may be nested, and
 * include tsi_stay_begin and tsi_stay_end. */
void tsi_begin_together(ts_context *context);
ts_status tsi_end_together(ts_context *context, ts_status status);
/* ---- The application's poll function (poll.c) ----
 *
 * Public functions whose host work may take long are enclosed in tsi_polls_begin and tsi_polls_end, which
 * collective ones include. They may be nested. */
void tsi_polls_begin(ts_context *context);
/* Turns TS_OK into TS_ERROR_STOPPED if the outermost function was asked to stop after its last tsi_poll. */
ts_status tsi_polls_end(ts_context *context, ts_status status);
/* The outermost function has a result, which counts even if it was asked to stop since. */
void tsi_polls_end_in_time(ts_context *context);
/* Called between steps of some milliseconds at most. TS_ERROR_STOPPED if the function has to end: it frees its
 * memory and returns, as after any other error. Costs a read of the clock. */
ts_status tsi_poll(ts_context *context);
/* For iterations, which end with a result: whether the application asks to stop. */
int tsi_poll_stops(ts_context *context);
/* For loops that cannot end early. The next tsi_poll fails if the application asks to stop. */
void tsi_poll_within(const ts_context *context);
/* The same from loops over many rows, in any thread; only the calling thread calls the application. i: the
 * row. */
void tsi_poll_here(void);
static inline void tsi_poll_rows(int32_t i) {
  if (i % 1024 == 0) tsi_poll_here();
}
/* Whether loops have to be split for tsi_poll_within. */
int tsi_polls_now(const ts_context *context);

/* Opens the backend of a descriptor, on several ranks, or in one process if `opening` is NULL. */
ts_status tsi_context_open(const ts_context_desc *desc, tsi_opening *opening, ts_context **context);
/* Destroying never fails and keeps the last error. A backend that cannot enter drops its handles. */
void tsi_enter_to_destroy(ts_context *context);

/* ---- Objects ---- */
void tsi_space_retain(ts_space *space);
void tsi_space_release(ts_space *space);
void tsi_matrix_release(ts_matrix *A);
/* Creates a space from a finished tiling, which it owns (also on failure), and constrained flags, which it
 * copies. */
ts_status tsi_space_create(ts_context *context, tsi_tiling *tiling, const unsigned char *constrained,
                           ts_space **out);
/* Creates a tiling from row lengths to sort by (NULL: natural order) and constrained flags of the indices
 * (NULL: none). With blocks, lengths are those of blocks of rows. Linear spaces do not have blocks. */
ts_status tsi_tiling_create_blocks(ts_context *context, int32_t size, int log2_block, const int32_t *lengths,
                                   const unsigned char *constrained, tsi_tiling *tiling);
ts_status tsi_tiling_create(ts_context *context, int32_t size, const int32_t *lengths,
                            const unsigned char *constrained, tsi_tiling *tiling);

/* TS_ERROR_INCOMPATIBLE if v is not over `space`. For the message: the name of v; the owner of the space ("the
 * solver"); the space ("the matrix's space"); and the function that returns it ("ts_matrix_get_row_space"). */
ts_status tsi_check_space(const ts_vector *v, const ts_space *space, const char *name, const char *owner,
                          const char *space_name, const char *getter);
/* Checks that b and x of a solve have the same number of components. */
ts_status tsi_check_components(const ts_vector *b, const ts_vector *x);

/* TS_ERROR_UNSUPPORTED if a texel of the space has too few channels for this number of components. */
ts_status tsi_check_channels(const ts_space *space, int components);

/* Creates vectors of `parts` parts over one space, and `slots` scalars with the same number of parts, two at
 * most. Uses the backend's arena_create if possible. */
ts_status tsi_arena_create(ts_space *space, int components, int parts, ts_vector **vectors, int count,
                           int slots, ts_scalars **scalars);
/* For backends that do not benefit from vectors created together. */
ts_status tsi_create_singly(ts_vector **vectors, int count, ts_scalars *scalars);
/* Called within a public function. v may be NULL. */
void tsi_vector_destroy(ts_vector *v);
/* Keeps the first part only. */
void tsi_vector_drop_low(ts_vector *v);
/* Extends a vector to this number of parts. New parts are 0, existing ones are kept. On failure it is
 * unchanged. */
ts_status tsi_vector_add_parts(ts_vector *v, int parts);
/* Whether the vector holds floats now and may hold doubles. The second function lets it hold doubles, without
 * changing its numbers. */
int tsi_may_grow(const ts_vector *v);
ts_status tsi_hold_doubles(ts_vector *v);
/* Lets the result of an operation hold doubles if one of the operands does. The list of operands ends with
 * NULL. */
ts_status tsi_hold_result(ts_vector *y, const ts_vector *const *operands);
#define TSI_HOLD_RESULT(y, ...) tsi_hold_result((y), (const ts_vector *const[]){__VA_ARGS__, NULL})
/* The message of a solve that converged to an x which its vector rounds. */
void tsi_say_rounded(ts_result *result);
/* Sets the first part to these values, in the order of indices. */
ts_status tsi_write_floats(ts_vector *v, const float *values);
/* Reads the first part, in the order of indices. Synchronises with the device. */
ts_status tsi_read_floats(const ts_vector *v, float *values);
/* Splits these values into all parts of v. `floats` is a work array of the same length. */
ts_status tsi_write_parts(ts_vector *v, const double *values, size_t count, float *floats);
/* Sets all parts except the first to 0. */
ts_status tsi_clear_low(ts_vector *v);
/* Rounds the sum of all parts to the value that tsi_vector_read_doubles reads. May synchronise with the
 * device. */
ts_status tsi_round_to_doubles(ts_vector *v);
/* Leaves a public function that computed y in at most two parts: sets a third part to 0. */
ts_status tsi_leave_computed(ts_vector *y, ts_status status);
/* Sets every number, in all parts. */
ts_status tsi_fill(ts_vector *v, double value);
/* out = a x in all parts. a is a power of two, or its slots hold powers of two. Parts that x does not have
 * become 0. */
ts_status tsi_copy_parts(ts_vector *out, ts_coefficient a, const ts_vector *x);
/* The binary exponents of the largest number and of the smallest nonzero number. */
typedef struct tsi_exponents {
  int largest, smallest;
} tsi_exponents;
extern const tsi_exponents tsi_no_exponents; /* if all numbers are 0 */
/* The exponent to divide the numbers by: 0 if the largest one is ordinary. */
enum { TSI_ORDINARY_MATRIX = 24, TSI_ORDINARY_VECTOR = 40 };
int tsi_scaling_exponent(tsi_exponents exponents, int ordinary);
/* Whether a number loses low-order digits with this exponent. */
int tsi_loses_digits(tsi_exponents exponents, int exponent);

/* Vectors with an exponent (ts_vector). Settling sets it to 0, and numbers outside the range of floats are
 * lost. */
enum { TSI_LARGEST_EXPONENT = 896 };
int tsi_may_have_exponent(const ts_vector *v);
int tsi_exponent_for(const ts_vector *v, tsi_exponents exponents);
/* ts_vector_write and ts_vector_read for numbers on the host. Like public functions, they enter and leave. */
ts_status tsi_vector_write_floats(ts_vector *v, const float *values);
ts_status tsi_vector_read_floats(const ts_vector *v, float *values);
ts_status tsi_vector_write_doubles(ts_vector *v, const double *values);
ts_status tsi_vector_read_doubles(const ts_vector *v, double *values);
ts_status tsi_apply_exponent(const ts_vector *v);
/* Enters, and applies the exponents of the vectors of a NULL-terminated list: for public functions without
 * support for exponents. */
ts_status tsi_enter_with(ts_context *context, const ts_vector *const *vectors);
#define TSI_ENTER_WITH(context, ...) tsi_enter_with((context), (const ts_vector *const[]){__VA_ARGS__, NULL})
/* Called before the application gets v's texture or pointer, outside other functions of the library. */
ts_status tsi_lend(ts_vector *v);
/* Sets the user's vector to 0. */
ts_status tsi_set_zero(ts_vector *v);
/* v = -v. */
ts_status tsi_negate(ts_vector *v);
/* v = 2^exponent v in all parts. */
ts_status tsi_multiply_by_power(ts_vector *v, int exponent);
/* x = x + a e in all parts of both, with a as in tsi_copy_parts. */
ts_status tsi_add_to_parts(ts_vector *x, ts_coefficient a, const ts_vector *e);

/* ---- Fused operations or their fallbacks; arguments as in tsi_ops ---- */
/* y = A x, as tsi_spmv, and the sum of x y. */
ts_status tsi_spmv_dot(ts_vector *y, const ts_matrix *A, const ts_vector *x, ts_scalars *out, int index);
/* Whether A->kind->smooth exists and should be used. */
int tsi_smooths(const ts_matrix *A);
ts_status tsi_dots(ts_scalars *out, const tsi_dot *sums, int count, ts_vector *scratch);
ts_status tsi_axpy2(ts_vector *x, ts_coefficient a, const ts_vector *d, ts_vector *r, ts_coefficient b,
                    const ts_vector *q);
ts_status tsi_axpy2_dot(ts_vector *x, ts_coefficient a, const ts_vector *d, ts_vector *r, ts_coefficient b,
                        const ts_vector *q, const ts_vector *w, ts_scalars *out, int index, ts_vector *scratch);
ts_status tsi_multiply_add(ts_vector *out, const ts_vector *w, const ts_vector *x, ts_coefficient b,
                           const ts_vector *y, ts_vector *scratch);
/* Whether a fallback needs its scratch vector. */
int tsi_needs_scratch(const ts_context *context);
/* The core of ts_scalars_create, for any number of slots. */
ts_status tsi_scalars_create(ts_context *context, int count, ts_precision precision, ts_scalars **scalars);
/* Called within a public function. */
void tsi_scalars_destroy(ts_scalars *s);
/* Slots including their low parts, four numbers each. A read counts as one synchronisation. */
ts_status tsi_scalars_read(ts_scalars *s, int first, int count, double *values);
ts_status tsi_scalars_read_begin(ts_scalars *s, int first, int count);
ts_status tsi_scalars_read_end(ts_scalars *s, double *values);
ts_status tsi_scalars_write(ts_scalars *s, int first, int count, const double *values);

#endif
