/* Vectors: one vector for each part that has indices. */
#include <string.h>

#include "multi.h"

static ts_vector **locals_of(const ts_vector *v) {
  return v->impl;
}

static const multi_space *space_of(const ts_vector *v) {
  return v->space->impl;
}

int multi_has(const ts_vector *v, int p) {
  return locals_of(v)[p] != NULL;
}

ts_vector *multi_local(const ts_vector *v, int p, multi_view *view) {
  if (!v || !multi_has(v, p)) return NULL;
  int k = 0;
  for (const ts_vector *part = v; part; part = part->low, k++) {
    view->parts[k] = *locals_of(part)[p];
    view->parts[k].low = NULL;
    if (k > 0) view->parts[k - 1].low = &view->parts[k];
  }
  return &view->parts[0];
}

/* ---- Storage ---- */

static ts_status create_locals(ts_vector *v, const multi_space *s) {
  for (int p = 0; p < multi_count(v->context); p++)
    if (s->local[p])
      MULTI_TRY(v->context, p, tsi_arena_create(s->local[p], v->components, 1, &locals_of(v)[p], 1, 0, NULL));
  return TS_OK;
}

ts_status multi_vector_create(ts_vector *v) {
  ts_context *context = v->context;
  multi_space *s;
  TSI_TRY(multi_space_of(v->space, NULL, &s));
  const size_t parts = (size_t)multi_count(context);
  v->impl = tsi_calloc(context, parts, sizeof(ts_vector *));
  if (!v->impl) return tsi_out_of_memory(context, "a vector", parts * sizeof(ts_vector *));
  const ts_status status = create_locals(v, s);
  if (status < 0) multi_vector_destroy(v);
  multi_account(context);
  return status;
}

void multi_vector_destroy(ts_vector *v) {
  ts_context *context = v->context;
  for (int p = 0; p < multi_count(context); p++) ts_vector_destroy(&locals_of(v)[p]);
  tsi_free(context, v->impl);
  v->impl = NULL;
  multi_account(context);
}

static size_t offset_of(const ts_vector *v, int p) {
  return (size_t)space_of(v)->first[p] * (size_t)v->components;
}

/* Runs an operation on each part that has elements of a vector. */
#define EACH(v, call)                                                                                          \
  do {                                                                                                         \
    for (int p = 0; p < multi_count((v)->context); p++)                                                        \
      if (multi_has(v, p)) MULTI_TRY((v)->context, p, multi_ops_of((v)->context, p)->call);                    \
    return TS_OK;                                                                                              \
  } while (0)

/* If indices are permuted: allocates all elements, ordered by position. */
static ts_status alloc_elements(const ts_vector *v, float **elements) {
  const size_t count = (size_t)v->space->tiling.size * (size_t)v->components;
  *elements = tsi_malloc(v->context, count, sizeof **elements);
  return *elements ? TS_OK : tsi_out_of_memory(v->context, "a vector", count * sizeof **elements);
}

static ts_status write_parts(ts_vector *v, const float *elements) {
  EACH(v, vector_write(LOCAL(v), elements + offset_of(v, p)));
}

ts_status multi_vector_write(ts_vector *v, const float *texels) {
  const multi_space *s = space_of(v);
  const size_t n = (size_t)v->components;
  float *elements;
  if (!s->order) return write_parts(v, texels);
  TSI_TRY(alloc_elements(v, &elements));
  for (int32_t k = 0; k < v->space->tiling.size; k++)
    memcpy(elements + (size_t)k * n, texels + (size_t)s->order[k] * n, n * sizeof *elements);
  const ts_status status = write_parts(v, elements);
  tsi_free(v->context, elements);
  return status;
}

/* Whole vectors: sends this rank's elements to all others and receives theirs. */
static ts_status share_elements(const ts_vector *v, float *elements) {
  ts_context *context = v->context;
  const multi_state *state = multi_state_of(context);
  const multi_space *s = space_of(v);
  if (!state->ranks || s->rows) return TS_OK;
  const int own = state->own, ranks = state->count / own, rank = state->first / own;
  ts_message *messages = tsi_malloc(context, 2 * (size_t)ranks, sizeof *messages);
  if (!messages) return tsi_out_of_memory(context, "messages", 2 * (size_t)ranks * sizeof *messages);
  int count = 0;
  for (int r = 0; r < ranks; r++)
    for (int receives = 0; receives < 2 && r != rank; receives++) {
      const int of = receives ? r : rank;
      const size_t first = offset_of(v, of * own), end = offset_of(v, (of + 1) * own);
      messages[count++] = (ts_message){
          .rank = r, .receives = receives, .data = elements + first, .bytes = (end - first) * sizeof *elements};
    }
  multi_begin_call(context);
  const ts_status status = multi_end_call(context, multi_exchange_messages(context, messages, count));
  tsi_free(context, messages);
  return status;
}

static ts_status read_own(const ts_vector *v, float *elements) {
  EACH(v, vector_read(LOCAL(v), elements + offset_of(v, p)));
}

/* Iterations without a convergence test have not been checked before. */
static ts_status read_parts(const ts_vector *v, float *elements) {
  TSI_TRY(read_own(v, elements));
  TSI_TRY(multi_check_run(v->context));
  return share_elements(v, elements);
}

ts_status multi_vector_read(const ts_vector *v, float *texels) {
  const multi_space *s = space_of(v);
  const size_t n = (size_t)v->components;
  float *elements;
  if (!s->order) return read_parts(v, texels);
  TSI_TRY(alloc_elements(v, &elements));
  const ts_status status = read_parts(v, elements);
  for (int32_t k = 0; k < v->space->tiling.size && status == TS_OK; k++)
    memcpy(texels + (size_t)s->order[k] * n, elements + (size_t)k * n, n * sizeof *elements);
  tsi_free(v->context, elements);
  return status;
}

/* ---- Element-wise operations ---- */

ts_status multi_axpby(ts_vector *out, ts_coefficient a, const ts_vector *x, ts_coefficient b,
                      const ts_vector *y) {
  EACH(out, axpby(LOCAL(out), COEFFICIENT(a), LOCAL(x), COEFFICIENT(b), LOCAL(y)));
}

ts_status multi_multiply(ts_vector *out, const ts_vector *x, const ts_vector *y) {
  EACH(out, multiply(LOCAL(out), LOCAL(x), LOCAL(y)));
}

ts_status multi_reciprocal(ts_vector *out, const ts_vector *x) {
  EACH(out, reciprocal(LOCAL(out), LOCAL(x)));
}

ts_status multi_multiply_add(ts_vector *out, const ts_vector *w, const ts_vector *x, ts_coefficient b,
                             const ts_vector *y) {
  EACH(out, multiply_add(LOCAL(out), LOCAL(w), LOCAL(x), COEFFICIENT(b), LOCAL(y)));
}

ts_status multi_fill(ts_vector *out, float value) {
  EACH(out, fill(LOCAL(out), value));
}

ts_status multi_zero_constrained(ts_vector *out, const ts_vector *x) {
  EACH(out, zero_constrained(LOCAL(out), LOCAL(x)));
}

ts_status multi_add_to_parts(ts_vector *x, ts_coefficient a, const ts_vector *e) {
  EACH(x, add_to_parts(LOCAL(x), COEFFICIENT(a), LOCAL(e)));
}

ts_status multi_axpy2(ts_vector *x, ts_coefficient a, const ts_vector *d, ts_vector *r, ts_coefficient b,
                      const ts_vector *q) {
  EACH(x, axpy2(LOCAL(x), COEFFICIENT(a), LOCAL(d), LOCAL(r), COEFFICIENT(b), LOCAL(q)));
}
