/* The watched operations: poison, run, verify, count. */
#include <string.h>

#include "check.h"

static const tsi_ops *inner_of(const ts_context *context) {
  return check_state_of(context)->inner;
}

static void count_by_name(tsi_check_counts *counts, const char *operation) {
  tsi_check_operation *each = counts->each;
  for (int i = 0; i < TSI_CHECK_OPERATIONS; i++) {
    if (each[i].name && strcmp(each[i].name, operation) != 0) continue;
    each[i].name = operation;
    each[i].times++;
    return;
  }
}

void check_count(const ts_context *context, const char *operation) {
  tsi_check_counts *counts = &check_state_of(context)->counts;
  counts->operations++;
  count_by_name(counts, operation);
  if (++counts->since_wait > counts->longest) counts->longest = counts->since_wait;
}

void check_count_synchronisation(const ts_context *context) {
  tsi_check_counts *counts = &check_state_of(context)->counts;
  counts->host_synchronisations++;
  counts->since_wait = 0;
}

static ts_status written(const char *operation, const ts_vector *v, int constrained_zero) {
  check_count(v->context, operation);
  return check_vector(operation, v, constrained_zero);
}

static ts_status written_pair(const char *operation, const ts_vector *v) {
  check_count(v->context, operation);
  return check_parts(operation, v, 2, 0);
}

/* ---- Host synchronisations ---- */

ts_status check_finish(ts_context *context) {
  check_count_synchronisation(context);
  return inner_of(context)->finish(context);
}

ts_status check_vector_read(const ts_vector *v, float *texels) {
  check_count_synchronisation(v->context);
  return inner_of(v->context)->vector_read(v, texels);
}

ts_status check_scalars_read_begin(ts_scalars *s, int first, int count) {
  TSI_TRY(inner_of(s->context)->scalars_read_begin(s, first, count));
  check_state_of(s->context)->reads_begun++;
  return TS_OK;
}

ts_status check_scalars_read_end(ts_scalars *s, double *values) {
  check_state_of(s->context)->reads_begun--;
  check_count_synchronisation(s->context);
  return inner_of(s->context)->scalars_read_end(s, values);
}

/* ---- Objects ---- */

ts_status check_vector_create(ts_vector *v) {
  TSI_TRY(inner_of(v->context)->vector_create(v));
  const ts_status status = check_new_vector(v);
  if (status < 0) inner_of(v->context)->vector_destroy(v);
  return status;
}

ts_status check_scalars_create(ts_scalars *s) {
  TSI_TRY(inner_of(s->context)->scalars_create(s));
  const ts_status status = check_new_scalars(s);
  if (status < 0) inner_of(s->context)->scalars_destroy(s);
  return status;
}

ts_status check_arena_create(ts_vector **vectors, int count, ts_scalars *scalars) {
  const tsi_ops *inner = inner_of(vectors[0]->context);
  TSI_TRY(inner->arena_create(vectors, count, scalars));
  ts_status status = scalars ? check_new_scalars(scalars) : TS_OK;
  for (int i = 0; i < count; i++)
    for (const ts_vector *v = vectors[i]; v && status == TS_OK; v = v->low) status = check_new_vector(v);
  if (status < 0) {
    for (int i = 0; i < count; i++)
      for (ts_vector *v = vectors[i]; v; v = v->low) inner->vector_destroy(v);
    for (ts_scalars *s = scalars; s; s = s->low) inner->scalars_destroy(s);
  }
  return status;
}

ts_status check_vector_write(ts_vector *v, const float *texels) {
  TSI_TRY(check_poison(v));
  TSI_TRY(inner_of(v->context)->vector_write(v, texels));
  return check_vector("vector_write", v, 0);
}

void check_space_destroy(ts_space *space) {
  check_forget_space(space);
  if (inner_of(space->context)->space_destroy) inner_of(space->context)->space_destroy(space);
}

ts_status check_scalars_normalise(ts_scalars *s, int from, int to) {
  TSI_TRY(check_poison_slot(s, to, 0));
  TSI_TRY(check_poison_slot(s, to + 1, 0));
  TSI_TRY(inner_of(s->context)->scalars_normalise(s, from, to));
  check_count(s->context, "scalars_normalise");
  TSI_TRY(check_slot("scalars_normalise", s, to, 4, 0));
  return check_slot("scalars_normalise", s, to + 1, 4, 0);
}

/* ---- Operations on vectors ---- */

static ts_status poison_unless_read(ts_vector *out, const ts_vector *const *read, size_t count) {
  for (size_t k = 0; k < count; k++)
    if (read[k] && read[k]->impl == out->impl) return TS_OK; /* one may be the first part of the other */
  return check_poison_pair(out);
}

#define THESE(...) __VA_ARGS__
#define CHECK_COMPONENTWISE(KIND, prefix, result, name, parameters, arguments, read)                           \
  result prefix##name parameters {                                                                             \
    const ts_vector *const others[] = {THESE read};                                                            \
    TSI_TRY(poison_unless_read(out, others, sizeof others / sizeof others[0]));                                \
    TSI_TRY(inner_of(out->context)->name arguments);                                                           \
    return written_pair(#name, out);                                                                           \
  }
TSI_COMPONENTWISE_OPERATIONS(CHECK_COMPONENTWISE, , , check_)

ts_status check_fill(ts_vector *out, float value) {
  TSI_TRY(check_poison(out));
  TSI_TRY(inner_of(out->context)->fill(out, value));
  return written("fill", out, 0);
}

ts_status check_zero_constrained(ts_vector *out, const ts_vector *x) {
  if (x->impl != out->impl) TSI_TRY(check_poison(out));
  TSI_TRY(inner_of(out->context)->zero_constrained(out, x));
  return written("zero_constrained", out, 1);
}

ts_status check_axpy2(ts_vector *x, ts_coefficient a, const ts_vector *d, ts_vector *r, ts_coefficient b,
                      const ts_vector *q) {
  TSI_TRY(inner_of(x->context)->axpy2(x, a, d, r, b, q));
  TSI_TRY(written_pair("axpy2", x));
  return check_parts("axpy2", r, 2, 0);
}

ts_status check_add_to_parts(ts_vector *x, ts_coefficient a, const ts_vector *e) {
  TSI_TRY(check_remember(e));
  TSI_TRY(inner_of(x->context)->add_to_parts(x, a, e));
  check_count(x->context, "add_to_parts");
  TSI_TRY(check_unchanged("add_to_parts", e));
  return check_parts("add_to_parts", x, 3, 0);
}

/* ---- Reductions ---- */

static ts_status reduced(const char *operation, ts_scalars *out, int index, const ts_vector *x) {
  check_count(out->context, operation);
  return check_slot(operation, out, index, x->components, x->low != NULL);
}

ts_status check_reduce(ts_scalars *out, int index, tsi_reduction kind, const ts_vector *x, const ts_vector *y) {
  TSI_TRY(check_poison_slot(out, index, x->low != NULL));
  TSI_TRY(inner_of(out->context)->reduce(out, index, kind, x, y));
  return reduced("reduce", out, index, x);
}

ts_status check_axpy2_dot(ts_vector *x, ts_coefficient a, const ts_vector *d, ts_vector *r, ts_coefficient b,
                          const ts_vector *q, const ts_vector *w, ts_scalars *out, int index) {
  TSI_TRY(check_poison_slot(out, index, r->low != NULL));
  TSI_TRY(inner_of(x->context)->axpy2_dot(x, a, d, r, b, q, w, out, index));
  TSI_TRY(written_pair("axpy2_dot", x));
  TSI_TRY(check_parts("axpy2_dot", r, 2, 0));
  return reduced("axpy2_dot", out, index, r);
}

ts_status check_dot3(ts_scalars *out, int index, const ts_vector *x, const ts_vector *y, const ts_vector *w) {
  TSI_TRY(check_poison_slot(out, index, x->low != NULL));
  TSI_TRY(inner_of(out->context)->dot3(out, index, x, y, w));
  return reduced("dot3", out, index, x);
}

ts_status check_dots(ts_scalars *out, const tsi_dot *sums, int count) {
  for (int k = 0; k < count; k++) TSI_TRY(check_poison_slot(out, sums[k].index, sums[k].x->low != NULL));
  TSI_TRY(inner_of(out->context)->dots(out, sums, count));
  for (int k = 0; k < count; k++) TSI_TRY(reduced("dots", out, sums[k].index, sums[k].x));
  return TS_OK;
}
