/* Vectors: a vector of its own for each part that has indices. */
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

/* Runs an operation on each part that has some of a vector. */
#define EACH(v, call)                                                                                          \
  do {                                                                                                         \
    for (int p = 0; p < multi_count((v)->context); p++)                                                        \
      if (multi_has(v, p)) MULTI_TRY((v)->context, p, multi_ops_of((v)->context, p)->call);                    \
    return TS_OK;                                                                                              \
  } while (0)

/* Where indices have an order of their own: a part's elements, gathered on the host. */
typedef ts_status (*transfer)(const ts_vector *v, int p, float *elements);

static ts_status each_in_order(const ts_vector *v, int gathers, float *texels, transfer body) {
  ts_context *context = v->context;
  const multi_space *s = space_of(v);
  const size_t n = (size_t)v->components;
  for (int p = 0; p < multi_count(context); p++) {
    const size_t count = (size_t)(s->first[p + 1] - s->first[p]);
    if (!multi_has(v, p)) continue;
    float *elements = tsi_malloc(context, count * n, sizeof *elements);
    if (!elements) return tsi_out_of_memory(context, "a part of a vector", count * n * sizeof *elements);
    const int32_t *order = s->order + s->first[p];
    for (size_t k = 0; k < count && gathers; k++)
      memcpy(elements + k * n, texels + (size_t)order[k] * n, n * sizeof *elements);
    const ts_status status = body(v, p, elements);
    for (size_t k = 0; k < count && !gathers && status == TS_OK; k++)
      memcpy(texels + (size_t)order[k] * n, elements + k * n, n * sizeof *elements);
    tsi_free(context, elements);
    TSI_TRY(status);
  }
  return TS_OK;
}

static ts_status write_part(const ts_vector *v, int p, float *elements) {
  MULTI_TRY(v->context, p, multi_ops_of(v->context, p)->vector_write(LOCAL(v), elements));
  return TS_OK;
}

static ts_status read_part(const ts_vector *v, int p, float *elements) {
  MULTI_TRY(v->context, p, multi_ops_of(v->context, p)->vector_read(LOCAL(v), elements));
  return TS_OK;
}

ts_status multi_vector_write(ts_vector *v, const float *texels) {
  if (space_of(v)->order) return each_in_order(v, 1, (float *)texels, write_part);
  EACH(v, vector_write(LOCAL(v), texels + offset_of(v, p)));
}

ts_status multi_vector_read(const ts_vector *v, float *texels) {
  if (space_of(v)->order) return each_in_order(v, 0, texels, read_part);
  EACH(v, vector_read(LOCAL(v), texels + offset_of(v, p)));
}

/* ---- Component-wise operations ---- */

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
