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

void check_count_wait(const ts_context *context) {
  tsi_check_counts *counts = &check_state_of(context)->counts;
  counts->waits++;
  counts->since_wait = 0;
}

/* A vector that an operation reads, NULL if its term is dropped. */
static const ts_vector *term(ts_coefficient c, const ts_vector *v) {
  return c.scale != 0 ? v : NULL;
}

static ts_status poison_unless_read(ts_vector *out, const ts_vector *x, const ts_vector *y,
                                    const ts_vector *w) {
  return out == x || out == y || out == w ? TS_OK : check_poison(out);
}

static ts_status written(const char *operation, const ts_vector *v, int locked_zero) {
  check_count(v->context, operation);
  return check_vector(operation, v, locked_zero);
}

/* ---- Waits ---- */

static ts_status watched_finish(ts_context *context) {
  check_count_wait(context);
  return inner_of(context)->finish(context);
}

static ts_status watched_vector_read(const ts_vector *v, float *texels) {
  check_count_wait(v->context);
  return inner_of(v->context)->vector_read(v, texels);
}

static ts_status watched_scalars_read_begin(ts_scalars *s, int first, int count) {
  TSI_TRY(inner_of(s->context)->scalars_read_begin(s, first, count));
  check_state_of(s->context)->reads_begun++;
  return TS_OK;
}

static ts_status watched_scalars_read_end(ts_scalars *s, float *values) {
  check_state_of(s->context)->reads_begun--;
  check_count_wait(s->context);
  return inner_of(s->context)->scalars_read_end(s, values);
}

/* ---- Objects ---- */

static ts_status watched_vector_create(ts_vector *v) {
  TSI_TRY(inner_of(v->context)->vector_create(v));
  const ts_status status = check_new_vector(v);
  if (status < 0) inner_of(v->context)->vector_destroy(v);
  return status;
}

static ts_status watched_scalars_create(ts_scalars *s) {
  TSI_TRY(inner_of(s->context)->scalars_create(s));
  const ts_status status = check_new_scalars(s);
  if (status < 0) inner_of(s->context)->scalars_destroy(s);
  return status;
}

static ts_status watched_group_create(ts_vector **vectors, int count, ts_scalars *scalars) {
  const tsi_ops *inner = inner_of(vectors[0]->context);
  TSI_TRY(inner->group_create(vectors, count, scalars));
  ts_status status = scalars ? check_new_scalars(scalars) : TS_OK;
  for (int i = 0; i < count && status == TS_OK; i++) status = check_new_vector(vectors[i]);
  if (status < 0) {
    for (int i = 0; i < count; i++) inner->vector_destroy(vectors[i]);
    if (scalars) inner->scalars_destroy(scalars);
  }
  return status;
}

static ts_status watched_vector_write(ts_vector *v, const float *texels) {
  TSI_TRY(check_poison(v));
  TSI_TRY(inner_of(v->context)->vector_write(v, texels));
  return check_vector("vector_write", v, 0);
}

static void watched_space_destroy(ts_space *space) {
  check_forget_space(space);
  if (inner_of(space->context)->space_destroy) inner_of(space->context)->space_destroy(space);
}

static ts_status watched_scalars_normalise(ts_scalars *s, int from, int to) {
  TSI_TRY(check_poison_slot(s, to));
  TSI_TRY(check_poison_slot(s, to + 1));
  TSI_TRY(inner_of(s->context)->scalars_normalise(s, from, to));
  check_count(s->context, "scalars_normalise");
  TSI_TRY(check_slot("scalars_normalise", s, to, 4));
  return check_slot("scalars_normalise", s, to + 1, 4);
}

/* ---- Operations on vectors ---- */

static ts_status watched_fill(ts_vector *y, float value) {
  TSI_TRY(check_poison(y));
  TSI_TRY(inner_of(y->context)->fill(y, value));
  return written("fill", y, 0);
}

static ts_status watched_axpby(ts_vector *out, ts_coefficient a, const ts_vector *x, ts_coefficient b,
                               const ts_vector *y) {
  TSI_TRY(poison_unless_read(out, term(a, x), term(b, y), NULL));
  TSI_TRY(inner_of(out->context)->axpby(out, a, x, b, y));
  return written("axpby", out, 0);
}

static ts_status watched_multiply(ts_vector *out, const ts_vector *x, const ts_vector *y) {
  TSI_TRY(poison_unless_read(out, x, y, NULL));
  TSI_TRY(inner_of(out->context)->multiply(out, x, y));
  return written("multiply", out, 0);
}

static ts_status watched_reciprocal(ts_vector *out, const ts_vector *x) {
  TSI_TRY(poison_unless_read(out, x, NULL, NULL));
  TSI_TRY(inner_of(out->context)->reciprocal(out, x));
  return written("reciprocal", out, 0);
}

static ts_status watched_free_rows(ts_vector *out, const ts_vector *x) {
  TSI_TRY(poison_unless_read(out, x, NULL, NULL));
  TSI_TRY(inner_of(out->context)->free_rows(out, x));
  return written("free_rows", out, 1);
}

static ts_status watched_multiply_add(ts_vector *out, const ts_vector *w, const ts_vector *x, ts_coefficient b,
                                      const ts_vector *y) {
  TSI_TRY(poison_unless_read(out, w, x, term(b, y)));
  TSI_TRY(inner_of(out->context)->multiply_add(out, w, x, b, y));
  return written("multiply_add", out, 0);
}

static ts_status watched_axpy2(ts_vector *x, ts_coefficient a, const ts_vector *d, ts_vector *r,
                               ts_coefficient b, const ts_vector *q) {
  TSI_TRY(inner_of(x->context)->axpy2(x, a, d, r, b, q));
  TSI_TRY(written("axpy2", x, 0));
  return check_vector("axpy2", r, 0);
}

/* ---- Reductions ---- */

static ts_status reduced(const char *operation, ts_scalars *out, int index, const ts_vector *x) {
  check_count(out->context, operation);
  return check_slot(operation, out, index, x->components);
}

static ts_status watched_reduce(ts_scalars *out, int index, tsi_reduction kind, const ts_vector *x,
                                const ts_vector *y) {
  TSI_TRY(check_poison_slot(out, index));
  TSI_TRY(inner_of(out->context)->reduce(out, index, kind, x, y));
  return reduced("reduce", out, index, x);
}

static ts_status watched_axpy2_dot(ts_vector *x, ts_coefficient a, const ts_vector *d, ts_vector *r,
                                   ts_coefficient b, const ts_vector *q, const ts_vector *w, ts_scalars *out,
                                   int index) {
  TSI_TRY(check_poison_slot(out, index));
  TSI_TRY(inner_of(x->context)->axpy2_dot(x, a, d, r, b, q, w, out, index));
  TSI_TRY(written("axpy2_dot", x, 0));
  TSI_TRY(check_vector("axpy2_dot", r, 0));
  return reduced("axpy2_dot", out, index, r);
}

static ts_status watched_dot3(ts_scalars *out, int index, const ts_vector *x, const ts_vector *y,
                              const ts_vector *w) {
  TSI_TRY(check_poison_slot(out, index));
  TSI_TRY(inner_of(out->context)->dot3(out, index, x, y, w));
  return reduced("dot3", out, index, x);
}

static ts_status watched_dots(ts_scalars *out, const tsi_dot *sums, int count) {
  for (int k = 0; k < count; k++) TSI_TRY(check_poison_slot(out, sums[k].index));
  TSI_TRY(inner_of(out->context)->dots(out, sums, count));
  for (int k = 0; k < count; k++) TSI_TRY(reduced("dots", out, sums[k].index, sums[k].x));
  return TS_OK;
}

static ts_status watched_cg_update(const tsi_cg_update *u) {
  TSI_TRY(check_poison(u->r_new));
  TSI_TRY(check_poison(u->d_new));
  TSI_TRY(inner_of(u->e->context)->cg_update(u));
  TSI_TRY(written("cg_update", u->e, 0));
  TSI_TRY(check_vector("cg_update", u->r_new, 0));
  return check_vector("cg_update", u->d_new, 0);
}

static ts_status watched_cg_iterate(const tsi_cg_iterations *run) {
  TSI_TRY(check_poison(run->q));
  TSI_TRY(check_poison_slot(run->slots, run->rr));
  TSI_TRY(check_poison_slot(run->slots, run->done));
  TSI_TRY(inner_of(run->e->context)->cg_iterate(run));
  TSI_TRY(written("cg_iterate", run->e, 0));
  TSI_TRY(check_vector("cg_iterate", run->r, 0));
  TSI_TRY(check_vector("cg_iterate", run->d, 0));
  TSI_TRY(check_slot("cg_iterate", run->slots, run->rr, run->e->components));
  return check_slot("cg_iterate", run->slots, run->done, 1);
}

/* ---- Matrices ---- */

static ts_status watched_spmv(ts_vector *y, const ts_matrix *A, const ts_vector *x) {
  TSI_TRY(check_poison(y));
  TSI_TRY(inner_of(y->context)->spmv(y, A, x));
  return written("spmv", y, 1);
}

static ts_status watched_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x) {
  TSI_TRY(poison_unless_read(r, b, NULL, NULL));
  TSI_TRY(inner_of(r->context)->residual(r, b, A, x));
  return written("residual", r, 1);
}

static ts_status watched_diagonal(ts_vector *d, const ts_matrix *A) {
  TSI_TRY(check_poison(d));
  TSI_TRY(inner_of(d->context)->diagonal(d, A));
  return written("diagonal", d, 1);
}

/* Optional operations that the inner backend lacks stay NULL, so that the fallbacks see what they would see. */
void check_watch(check_state *state) {
  tsi_ops *table = &state->table;
  table->finish = watched_finish;
  table->vector_create = watched_vector_create;
  table->vector_write = watched_vector_write;
  table->vector_read = watched_vector_read;
  table->scalars_create = watched_scalars_create;
  table->scalars_read_begin = watched_scalars_read_begin;
  table->scalars_read_end = watched_scalars_read_end;
  table->scalars_normalise = watched_scalars_normalise;
  table->fill = watched_fill;
  table->axpby = watched_axpby;
  table->multiply = watched_multiply;
  table->reciprocal = watched_reciprocal;
  table->free_rows = watched_free_rows;
  table->reduce = watched_reduce;
  table->spmv = watched_spmv;
  table->residual = watched_residual;
  table->diagonal = watched_diagonal;
  table->space_destroy = watched_space_destroy; /* the checks keep something about every space */
  if (table->group_create) table->group_create = watched_group_create;
  if (table->dot3) table->dot3 = watched_dot3;
  if (table->axpy2) table->axpy2 = watched_axpy2;
  if (table->axpy2_dot) table->axpy2_dot = watched_axpy2_dot;
  if (table->multiply_add) table->multiply_add = watched_multiply_add;
  if (table->dots) table->dots = watched_dots;
  if (table->cg_update) table->cg_update = watched_cg_update;
  if (table->cg_iterate) table->cg_iterate = watched_cg_iterate;
  check_watch_meshes(state);
  check_watch_grids(state);
  check_watch_fluids(state);
}
