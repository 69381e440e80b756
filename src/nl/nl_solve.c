/* texsolve-nl: solving by iterative refinement. The device solves A d = r for the correction d in the precision
 * that this needs. r = b - A x is then recomputed from the equations in double precision. This repeats until r
 * is small enough or stops decreasing. In least squares d minimizes ||r - A d||. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nl_private.h"

/* The lowest tolerance of a correction: doubles do not reach more. */
static const double least_rtol = 1e-15;

typedef struct solve {
  tsn_context *c;
  tsn_method method;
  ts_system_result last; /* of the device */
  size_t rows;
  double *x, *r;           /* n x systems, rows x systems */
  double *d;               /* the correction, n x systems */
  double *part_r, *part_d; /* of up to four systems, as passed to texsolve */
  double *work, *ratios, *scales;
  double *memory;
  double ratio; /* the ratio that NL_THRESHOLD bounds */
  int iterations, max_iterations, passes;
  int64_t nonzeros;
  double operations;
} solve;

static double now(void) {
#ifdef TIME_UTC
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
#else /* the old C library of Windows, where clock() is wall-clock time */
  return (double)clock() / CLOCKS_PER_SEC;
#endif
}

/* ---- Memory ---- */

static int allocate(solve *s) {
  const size_t n = s->c->n, systems = s->c->systems, rows = s->rows, part = systems < 4 ? systems : 4;
  const size_t count = 4 * n * systems + rows * systems + (n + rows) * part + 2 * systems;
  s->memory = calloc(count, sizeof *s->memory);
  if (!s->memory) {
    tsn_fail(s->c, NL_OUT_OF_MEMORY, "nlSolve: no memory for %zu numbers", count);
    return 0;
  }
  s->x = s->memory;
  s->d = s->x + n * systems;
  s->work = s->d + n * systems;
  s->r = s->work + 2 * n * systems;
  s->part_d = s->r + rows * systems;
  s->part_r = s->part_d + n * part;
  s->ratios = s->part_r + rows * part;
  s->scales = s->ratios + systems;
  return 1;
}

static int read_variables(solve *s) {
  const tsn_context *c = s->c;
  for (size_t i = 0; i < c->n; i++)
    for (size_t k = 0; k < c->systems; k++) {
      const double value = *tsn_value(c, i, k);
      if (!isfinite(value)) {
        tsn_fail(s->c, NL_INVALID_VALUE, "nlSolve: the value of variable %zu is %g in system %zu", i, value, k);
        return 0;
      }
      s->x[i * c->systems + k] = value;
    }
  return 1;
}

static void write_variables(const solve *s) {
  const tsn_context *c = s->c;
  for (size_t i = 0; i < c->n; i++)
    for (size_t k = 0; k < c->systems && !c->locked[i]; k++) *tsn_value(c, i, k) = s->x[i * c->systems + k];
}

/* ---- One correction ---- */

/* Scales residuals to a maximum of 1, because single precision ends at 1e-38. */
static void scale_residuals(solve *s) {
  const size_t systems = s->c->systems;
  for (size_t k = 0; k < systems; k++) {
    double largest = 0;
    for (size_t row = 0; row < s->rows; row++) largest = fmax(largest, fabs(s->r[row * systems + k]));
    s->scales[k] = largest > 0 ? largest : 1;
  }
}

static int report_progress(const ts_progress *state, void *user) {
  const solve *s = user;
  NLfunc function = s->c->parameters.progress;
  void (*progress)(NLuint, NLuint, double, double);
  memcpy(&progress, &function, sizeof progress);
  const double bound = s->c->parameters.threshold;
  for (int k = 0; k < state->count; k++) {
    const double error = s->ratio * state->history[k];
    progress((NLuint)(s->iterations + state->iteration - state->count + 1 + k), (NLuint)s->max_iterations,
             error * error, bound * bound);
  }
  return 0;
}

static ts_status solve_part(solve *s, size_t first, size_t count) {
  tsn_context *c = s->c;
  const size_t systems = c->systems, part = (size_t)c->system_components;
  memset(s->part_r, 0, s->rows * part * sizeof *s->part_r);
  for (size_t row = 0; row < s->rows; row++)
    for (size_t k = 0; k < count; k++)
      s->part_r[row * part + k] = s->r[row * systems + first + k] / s->scales[first + k];
  memset(s->part_d, 0, c->n * part * sizeof *s->part_d);
  ts_status status = ts_system_set_values(c->system, ts_host(s->part_d, c->n * part));
  if (status == TS_OK) status = ts_system_set_right_hand_sides(c->system, ts_host(s->part_r, s->rows * part));
  if (status < 0) return status;
  const double rtol = 0.5 * c->parameters.threshold / s->ratio;
  const NLint inner = c->parameters.inner_iterations ? c->parameters.inner_iterations : 5;
  const int restart = s->method.method != TS_METHOD_GMRES ? 0 : inner < 200 ? inner : 200;
  const ts_system_solve_desc desc = {.solver = {.method = s->method.method,
                                                .preconditioner_kind = s->method.preconditioner,
                                                .rtol = fmin(fmax(rtol, least_rtol), 0.5),
                                                .max_iterations = s->max_iterations - s->iterations,
                                                .restart = restart,
                                                .progress = c->parameters.progress ? report_progress : NULL,
                                                .progress_user = s},
                                     .format = s->method.format,
                                     .normal = s->method.normal,
                                     .leave_on_device = 1};
  const ts_status solved = ts_system_solve(c->system, &desc, &s->last);
  if (solved < 0) return solved;
  status = ts_system_get_values(c->system, ts_host(s->part_d, c->n * part));
  for (size_t i = 0; i < c->n; i++)
    for (size_t k = 0; k < count; k++)
      s->d[i * systems + first + k] = s->part_d[i * part + k] * s->scales[first + k];
  return status < 0 ? status : solved;
}

/* Returns an error, TS_OK, or TS_NOT_CONVERGED with the reason in `last`. */
static ts_status solve_correction(solve *s) {
  const size_t systems = s->c->systems;
  int iterations = 0;
  ts_status worst = TS_OK;
  ts_system_result reason = {0};
  scale_residuals(s);
  for (size_t first = 0; first < systems; first += 4) {
    const ts_status status = solve_part(s, first, systems - first < 4 ? systems - first : 4);
    if (status < 0) return status;
    if (s->last.iterations > iterations) iterations = s->last.iterations;
    if (status != TS_OK && worst == TS_OK) {
      worst = status;
      reason = s->last;
    }
    const double products = s->last.method == TS_METHOD_CG ? 1 : 2;
    s->nonzeros = s->last.nonzeros;
    s->operations += (double)s->last.iterations * products *
                     (2 * (double)s->last.nonzeros + 10 * (double)s->last.unknowns) *
                     (double)(systems - first < 4 ? systems - first : 4);
  }
  if (worst != TS_OK) s->last = reason;
  s->iterations += iterations;
  s->passes++;
  return worst;
}

/* ---- Until it is solved ---- */

/* Switches to another method if this one fails. Returns 0 if none is left. */
static int change_method(solve *s) {
  const ts_reason reason = s->last.reason;
  if (reason == TS_REASON_ZERO_DIAGONAL && s->method.preconditioner == TS_PRECONDITIONER_JACOBI &&
      !s->c->parameters.preconditioner_set) {
    s->method.preconditioner = TS_PRECONDITIONER_NONE;
    return 1;
  }
  if (s->c->square && s->last.method == TS_METHOD_CG &&
      (reason == TS_REASON_INDEFINITE || reason == TS_REASON_NOT_SYMMETRIC)) {
    s->method.method = TS_METHOD_BICGSTAB;
    snprintf(s->method.note, sizeof s->method.note, "; bicgstab instead of cg: %s", ts_reason_text(reason));
    return 1;
  }
  return 0;
}

/* Accepts x + d if it is better. Returns whether it is at least twice as good. */
static int accept_correction(solve *s) {
  const size_t count = s->c->n * s->c->systems;
  const double before = s->ratio;
  for (size_t i = 0; i < count; i++) s->x[i] += s->d[i];
  s->ratio = tsn_residual(s->c, s->x, s->r, s->ratios, s->work);
  if (s->ratio < before) return s->ratio <= 0.5 * before;
  /* Conjugate gradients approach the solution even if the residual grows. So the result of the requested
   * iterations is kept, for programs that continue from it. */
  if (s->last.reason == TS_REASON_MAX_ITERATIONS && isfinite(s->ratio)) return 0;
  for (size_t i = 0; i < count; i++) s->x[i] -= s->d[i];
  s->ratio = tsn_residual(s->c, s->x, s->r, s->ratios, s->work);
  return 0;
}

/* Corrects x until NL_THRESHOLD is met or progress stops. A status below 0 is an error. */
static ts_status refine(solve *s) {
  s->ratio = tsn_residual(s->c, s->x, s->r, s->ratios, s->work);
  while (!(s->ratio <= s->c->parameters.threshold)) {
    const ts_status status = solve_correction(s);
    if (status < 0) return status;
    const int better = accept_correction(s);
    if (status != TS_OK && change_method(s)) continue;
    if (s->ratio <= s->c->parameters.threshold) break;
    if (!better || s->iterations >= s->max_iterations) return TS_NOT_CONVERGED;
  }
  return TS_OK;
}

static void describe(const solve *s, int converged) {
  tsn_context *c = s->c;
  if (s->passes == 0) {
    snprintf(
        c->report, sizeof c->report,
        "converged: residual %.1e, NL_THRESHOLD is %.1e; the values that the variables had need no correction",
        s->ratio, c->parameters.threshold);
    return;
  }
  ts_context_info info;
  const char *backend = ts_context_get_info(c->device->context, &info) == TS_OK ? info.backend : "";
  char why[sizeof s->last.message + 8] = "";
  if (!converged && s->iterations >= s->max_iterations)
    snprintf(why, sizeof why, ": %s", ts_reason_text(TS_REASON_MAX_ITERATIONS));
  else if (!converged)
    snprintf(why, sizeof why, ": %s",
             s->last.reason <= TS_REASON_ZERO_RESIDUAL ? "no correction makes it smaller" : s->last.message);
  snprintf(c->report, sizeof c->report,
           "%sconverged: residual %.1e, NL_THRESHOLD is %.1e%s; %d iterations of %s in %d passes on %s, %s%s",
           converged ? "" : "not ", s->ratio, c->parameters.threshold, why, s->iterations,
           ts_method_name(s->last.method), s->passes, backend, ts_format_name(s->last.format), s->method.note);
}

static NLboolean finish(solve *s, ts_status status) {
  tsn_context *c = s->c;
  if (status < 0) {
    /* AMG rejected a matrix that is not empty. */
    if (status == TS_ERROR_INVALID_ARGUMENT && s->method.preconditioner == TS_PRECONDITIONER_AMG &&
        s->last.nonzeros > 0)
      tsn_fail(c, NL_NOT_SUPPORTED, "nlSolve: %s", ts_last_error(c->device->context));
    else
      tsn_fail_status(c, "nlSolve", status);
    return NL_FALSE;
  }
  write_variables(s);
  c->result.iterations = s->iterations;
  c->result.passes = s->passes;
  c->result.operations = s->operations;
  if (s->passes) c->result.nonzeros = s->nonzeros;
  c->result.error = s->ratio;
  describe(s, status == TS_OK);
  if (status != TS_OK) {
    tsn_fail(c, NL_NOT_CONVERGED, "nlSolve: %s", c->report);
    return NL_FALSE;
  }
  if (c->idle_count && !c->parameters.allow_singular) {
    char others[40] = "";
    if (c->idle_count > 1) snprintf(others, sizeof others, " (the first of %zu)", c->idle_count);
    tsn_fail(
        c, NL_SINGULAR,
        "nlSolve: variable %zu%s is not locked and in no equation; it kept its value, and the rest is solved. "
        "Lock it, or nlEnable(NL_ALLOW_SINGULAR)",
        c->first_idle, others);
    return NL_FALSE;
  }
  return NL_TRUE;
}

static NLboolean nl_solve_run(tsn_context *c) {
  if (c->free_count == 0) {
    snprintf(c->report, sizeof c->report, "all %zu variables are locked: there is nothing to solve", c->n);
    return NL_TRUE;
  }
  if (!tsn_device_of(c) || !tsn_system_state(c)) return NL_FALSE;
  solve s = {.c = c,
             .method = tsn_method_of(c),
             .rows = tsn_residual_rows(c),
             .max_iterations = tsn_max_iterations(c)};
  NLboolean solved = NL_FALSE;
  if (allocate(&s) && read_variables(&s)) solved = finish(&s, refine(&s));
  free(s.memory);
  return solved;
}

/* Returns 0 and sets an error if no system is ready to be solved. */
static int can_solve(tsn_context *c, const char *function) {
  if (c->state != TSN_READY)
    tsn_fail(c, NL_INVALID_OPERATION, "%s: no system was assembled; nlEnd(NL_SYSTEM) comes first", function);
  else if (c->refused)
    tsn_fail(c, NL_INVALID_OPERATION,
             "%s: a call that assembled the system failed, so the system is not the intended one", function);
  return c->state == TSN_READY && !c->refused;
}

NLboolean NLAPIENTRY nlSolve(void) {
  tsn_context *c = tsn_current(__func__);
  if (!c) return NL_FALSE;
  const double start = now();
  c->result = (tsn_result){.nonzeros = c->result.nonzeros};
  c->report[0] = 0;
  const NLboolean solved = can_solve(c, __func__) ? nl_solve_run(c) : NL_FALSE;
  if (!c->report[0]) snprintf(c->report, sizeof c->report, "not solved: %s", c->error_text);
  c->result.seconds = now() - start;
  tsn_print_report(c);
  return solved;
}

void NLAPIENTRY nlUpdateRightHandSide(NLdouble *values) {
  tsn_context *c = tsn_current(__func__);
  if (!c || !can_solve(c, __func__)) return;
  if (c->systems != 1 || !c->square) {
    tsn_fail(c, NL_NOT_SUPPORTED, "%s: it is for one system, not for %s", __func__,
             c->square ? "several" : "least squares");
    return;
  }
  for (size_t k = 0; k < c->free_count; k++)
    if (!values || !isfinite(values[k])) {
      tsn_fail(c, NL_INVALID_VALUE, "%s: right-hand side %zu is %g", __func__, k, values ? values[k] : NAN);
      return;
    }
  size_t k = 0;
  for (size_t i = 0; i < c->n; i++)
    if (!c->locked[i]) c->added[i] = values[k++] * !c->idle[i];
  c->updated = 1;
}
