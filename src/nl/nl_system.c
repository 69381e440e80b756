/* texsolve-nl: the system passed to texsolve, and its method. */
#include "nl_private.h"

/* ---- The method ---- */

/* In least squares texsolve chooses between the formed A^T A and products with A and A^T. */
static ts_method method_of(const tsn_context *c) {
  switch (c->parameters.solver) {
  case NL_SOLVER_DEFAULT:
    return TS_METHOD_AUTO;
  case NL_BICGSTAB:
    return TS_METHOD_BICGSTAB;
  case NL_GMRES:
    return TS_METHOD_GMRES;
  default:
    return c->square ? TS_METHOD_CG : TS_METHOD_AUTO;
  }
}

/* Uses blocks if OpenNL 3 was asked for them and the device supports them for these vectors. */
static ts_format format_of(const tsn_context *c, tsn_method *m) {
  const NLenum solver = c->parameters.solver;
  if (solver != NL_CNC_FLOAT_BCRS2 && solver != NL_CNC_DOUBLE_BCRS2) return TS_FORMAT_AUTO;
  ts_context_info info;
  const int known = ts_context_get_info(c->device->context, &info) == TS_OK;
  if (known && info.formats & 1U << TS_FORMAT_BCRS2 && c->systems == 1) return TS_FORMAT_BCRS2;
  snprintf(m->note, sizeof m->note, "; another format instead of bcrs2, which is for one system");
  return TS_FORMAT_AUTO;
}

tsn_method tsn_method_of(const tsn_context *c) {
  const tsn_parameters *p = &c->parameters;
  tsn_method m = {.method = method_of(c), .preconditioner = TS_PRECONDITIONER_JACOBI};
  m.format = format_of(c, &m);
  if (p->preconditioner_set ? p->preconditioner == NL_PRECOND_NONE : p->solver != NL_SOLVER_DEFAULT)
    m.preconditioner = TS_PRECONDITIONER_NONE;
  if (p->preconditioner_set && p->preconditioner == NL_PRECOND_AMG) {
    m.preconditioner = TS_PRECONDITIONER_AMG;
    m.normal = c->square ? TS_NORMAL_AUTO : TS_NORMAL_FORMED;
  }
  if (p->preconditioner_set &&
      (p->preconditioner == NL_PRECOND_SSOR || p->preconditioner == NL_CUDA_PRECOND_ILU_EXT))
    snprintf(m.note, sizeof m.note, "; Jacobi preconditioner instead of %s",
             p->preconditioner == NL_PRECOND_SSOR ? "SSOR" : "incomplete LU");
  return m;
}

/* ---- The system ---- */

void tsn_system_free(tsn_context *c) {
  ts_system_destroy(&c->system);
}

static ts_status nl_system_create(tsn_context *c) {
  const int components = c->systems < 4 ? (int)c->systems : 4;
  if (c->system && (c->system_components != components || c->system_square != c->square ||
                    c->system_singular != c->parameters.allow_singular || c->system_size != c->n))
    tsn_system_free(c);
  if (c->system) return TS_OK;
  c->system_components = components;
  c->system_square = c->square;
  c->system_singular = c->parameters.allow_singular;
  c->system_size = c->n;
  const ts_system_desc desc = {.unknowns = (int32_t)c->n,
                               .components = components,
                               .least_squares = !c->square,
                               .allow_singular = !c->square && c->parameters.allow_singular};
  return ts_system_create(c->device->context, &desc, &c->system);
}

static ts_status lock(tsn_context *c) {
  ts_status status = TS_OK;
  for (size_t i = 0; i < c->n && status == TS_OK; i++)
    status = c->locked[i] || c->idle[i] ? ts_system_lock(c->system, (int32_t)i)
                                        : ts_system_unlock(c->system, (int32_t)i);
  return status;
}

static ts_status state_entries(tsn_context *c) {
  const tsn_entries *e = &c->entries;
  ts_status status = TS_OK;
  for (size_t k = 0; k < e->count && status == TS_OK; k++)
    status = ts_system_add(c->system, e->rows[k], e->columns[k], e->values[k]);
  return status;
}

static ts_status state_rows(tsn_context *c) {
  const tsn_entries *e = &c->entries;
  ts_status status = TS_OK;
  size_t first = 0;
  for (size_t row = 0; row < c->row_count && status == TS_OK; row++) {
    size_t end = first;
    while (end < e->count && (size_t)e->rows[end] == row) end++;
    status = ts_system_row(c->system, (int)(end - first), e->columns + first, e->values + first, NULL, 1);
    first = end;
  }
  return status;
}

int tsn_system_state(tsn_context *c) {
  if (c->system && !c->new_numbers && c->system_singular == c->parameters.allow_singular) return 1;
  ts_status status = nl_system_create(c);
  if (status == TS_OK) status = lock(c);
  if (status == TS_OK) status = ts_system_begin(c->system);
  if (status == TS_OK) status = c->square ? state_entries(c) : state_rows(c);
  if (status == TS_OK) status = ts_system_end(c->system);
  c->new_numbers = 0;
  if (status == TS_OK) return 1;
  tsn_fail_status(c, "nlSolve", status);
  tsn_system_free(c);
  return 0;
}
