/* The application's poll function: who is called when, and a stop at each of its calls. */
#include <texsolve/amg.h>
#include <texsolve/grid.h>
#include <texsolve/preconditioner.h>

#include "heap.h"

/* Always, rather than after milliseconds. */
#define AT_ONCE 1e-12

typedef struct caller {
  long calls, stop; /* it stops at this call, counted from 1; 0: never */
  int strangers;    /* calls from other threads */
  const int *thread;
} caller;

static ts_context *context;
static _Thread_local int this_thread;

static int poll(void *user) {
  caller *c = user;
  c->calls++;
  c->strangers += c->thread != &this_thread;
  return c->calls == c->stop;
}

static caller polled(void) {
  CHECK_OK(context, ts_context_set_poll(context, NULL, NULL, 0));
  return (caller){.thread = &this_thread};
}

static int set_again(void *user) {
  *(ts_status *)user = ts_context_set_poll(context, NULL, NULL, 0);
  return 0;
}

static void arguments(void) {
  caller c = polled();
  CHECK_FAILS(NULL, ts_context_set_poll(NULL, poll, &c, 0), TS_ERROR_INVALID_ARGUMENT, "context");
  CHECK_FAILS(context, ts_context_set_poll(context, poll, &c, -1), TS_ERROR_INVALID_ARGUMENT, "seconds is -1");
  CHECK_FAILS(context, ts_context_set_poll(context, poll, &c, NAN), TS_ERROR_INVALID_ARGUMENT, "seconds");
  CHECK_OK(context, ts_context_set_poll(context, poll, &c, 1e6));
  ref_matrix m = ref_grid(20, 20);
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  CHECK_INT(c.calls, 0);
  ts_matrix_destroy(&matrix);
  CHECK_OK(context, ts_context_set_poll(context, poll, &c, AT_ONCE));
  matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  CHECK(c.calls > 0);
  const long calls = c.calls;
  ts_matrix_destroy(&matrix);
  CHECK_OK(context, ts_context_set_poll(context, NULL, NULL, 0));
  matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  CHECK_INT(c.calls, calls);
  ts_matrix_destroy(&matrix);
  ts_status status = TS_OK;
  CHECK_OK(context, ts_context_set_poll(context, set_again, &status, AT_ONCE));
  matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  CHECK_INT(status, TS_ERROR_INVALID_ARGUMENT);
  CHECK_OK(context, ts_context_set_poll(context, NULL, NULL, 0));
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

/* A function of the library under test, which may create `object`. */
typedef struct step {
  const char *name;
  const ref_matrix *m;
  ts_matrix *matrix;
  ts_preconditioner *M;
  ts_preconditioner_kind kind;
  ts_multigrid *multigrid;
  ts_status (*run)(struct step *s);
} step;

static ts_status create_matrix(step *s) {
  const ts_matrix_desc desc = {.csr = ref_csr(s->m), .keep_host_copy = 1};
  return ts_matrix_create(context, &desc, &s->matrix);
}

static ts_status set_values(step *s) {
  const ts_csr csr = ref_csr(s->m);
  return ts_matrix_set_values(s->matrix, &csr);
}

static ts_status create_preconditioner(step *s) {
  const ts_preconditioner_desc desc = {.kind = s->kind};
  return ts_preconditioner_create(s->matrix, &desc, &s->M);
}

static ts_status update_preconditioner(step *s) {
  return ts_preconditioner_update(s->M);
}

/* Calls the function, stopped at the first call of the application, at the second, ... until it succeeds. */
static void stop_at_each(step *s, void *const *object) {
  const long most = test_is_brief() ? 60 : 100000;
  int succeeded = 0;
  long calls = 0;
  for (long stop = 1; !succeeded && stop < most; stop++) {
    caller c = polled();
    c.stop = stop;
    test_context_label("%s, stopped at call %ld", s->name, stop);
    const size_t bytes = context_info(context).bytes_device;
    CHECK_OK(context, ts_context_set_poll(context, poll, &c, AT_ONCE));
    const ts_status status = s->run(s);
    CHECK_OK(context, ts_context_set_poll(context, NULL, NULL, 0));
    CHECK_INT(c.strangers, 0);
    calls = c.calls;
    succeeded = c.calls < stop;
    if (succeeded) {
      CHECK_INT(status, TS_OK);
      break;
    }
    if (!CHECK_INT(status, TS_ERROR_STOPPED)) break;
    if (!object) continue;
    if (!is_null(*object)) break;
    CHECK_INT(context_info(context).bytes_device, bytes);
  }
  test_context_label("%s", s->name);
  CHECK(calls > 0);
  if (!succeeded) { /* a brief run */
    CHECK(test_is_brief());
    CHECK_OK(context, s->run(s));
  }
  test_context_label("%s", "");
}

static int is_unsupported(ts_matrix *matrix, ts_preconditioner_kind kind) {
  const ts_preconditioner_desc desc = {.kind = kind};
  ts_preconditioner *M = NULL;
  const ts_status status = ts_preconditioner_create(matrix, &desc, &M);
  ts_preconditioner_destroy(&M);
  if (status == TS_OK) return 0;
  CHECK(status == TS_ERROR_UNSUPPORTED || status == TS_ERROR_UNAVAILABLE ||
        status == TS_ERROR_INVALID_ARGUMENT);
  test_context_label("%s", ts_last_error(context));
  return 1;
}

static void stop_preconditioners(step *s) {
  static const ts_preconditioner_kind kinds[] = {TS_PRECONDITIONER_AMG,  TS_PRECONDITIONER_BLOCK_JACOBI,
                                                 TS_PRECONDITIONER_ISAI, TS_PRECONDITIONER_ILU,
                                                 TS_PRECONDITIONER_IC,   TS_PRECONDITIONER_DIRECT};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    char name[40];
    s->kind = kinds[k];
    if (is_unsupported(s->matrix, s->kind)) continue;
    snprintf(name, sizeof name, "create %s", ts_preconditioner_kind_name(s->kind));
    s->name = name;
    s->run = create_preconditioner;
    stop_at_each(s, (void *const *)&s->M);
    if (!s->M) continue;
    snprintf(name, sizeof name, "update %s", ts_preconditioner_kind_name(s->kind));
    s->run = update_preconditioner;
    stop_at_each(s, NULL);
    ts_preconditioner_destroy(&s->M);
  }
}

static void set_ups(void) {
  ref_matrix m = ref_grid(40, 40);
  step s = {.name = "create a matrix", .m = &m, .run = create_matrix};
  stop_at_each(&s, (void *const *)&s.matrix);
  if (s.matrix) {
    s.name = "set values";
    s.run = set_values;
    stop_at_each(&s, NULL);
    stop_preconditioners(&s);
  }
  ts_matrix_destroy(&s.matrix);
  ref_free(&m);
}

/* ---- Solves ---- */

static ts_result solve_stopped(ts_solver *solver, ts_vector *b, ts_vector *x, long stop, ts_status *status,
                               caller *c) {
  ts_result result = {0};
  *c = polled();
  c->stop = stop;
  CHECK_OK(context, ts_context_set_poll(context, poll, c, AT_ONCE));
  *status = ts_solver_solve(solver, b, x, &result);
  if (*status == TS_NOT_CONVERGED) CHECK_CONTAINS(ts_last_error(context), "poll function");
  CHECK_OK(context, ts_context_set_poll(context, NULL, NULL, 0));
  return result;
}

/* Stops solves, of which each begins with an update of the preconditioner. The last one is not stopped, and
 * takes as many iterations as a solve by a new solver. */
static void solve_with(const ts_solver_desc *desc) {
  ref_matrix m = ref_grid(40, 40);
  float *bs = ref_values(1600, 3, -1, 1);
  ts_matrix *matrix = NULL;
  const ts_matrix_desc matrix_desc = {.csr = ref_csr(&m), .keep_host_copy = 1};
  CHECK_OK(context, ts_matrix_create(context, &matrix_desc, &matrix));
  ts_vector *b = make_vector(ts_matrix_get_row_space(matrix), 1, bs);
  ts_vector *x = make_vector(ts_matrix_get_row_space(matrix), 1, NULL);
  ts_solver *solver = NULL;
  CHECK_OK(context, ts_solver_create(matrix, desc, &solver));
  ts_result whole, stopped = {0};
  CHECK_OK(context, ts_solver_solve(solver, b, x, &whole));
  ts_status status = TS_NOT_CONVERGED;
  long stop = 1;
  caller c;
  for (; status == TS_NOT_CONVERGED; stop += test_is_brief() ? 7 : 1) {
    test_context_label("%s, stopped at call %ld", ts_preconditioner_kind_name(desc->preconditioner_kind), stop);
    const ts_csr csr = ref_csr(&m);
    CHECK_OK(context, ts_matrix_set_values(matrix, &csr));
    CHECK_OK(context, ts_vector_fill(x, 0));
    stopped = solve_stopped(solver, b, x, stop, &status, &c);
    CHECK_INT(c.strangers, 0);
    if (status != TS_NOT_CONVERGED) break;
    CHECK_INT(stopped.reason, TS_REASON_STOPPED);
    CHECK_CONTAINS(stopped.message, "poll function");
    CHECK(stopped.iterations <= whole.iterations);
    if (stopped.iterations > 0) CHECK(stopped.relative_residual > 0);
  }
  test_context_label("%s", ts_preconditioner_kind_name(desc->preconditioner_kind));
  CHECK_INT(status, TS_OK);
  CHECK(stop > 2 && c.calls > 2);
  CHECK_INT(stopped.iterations, whole.iterations);
  ts_solver_destroy(&solver);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  ts_matrix_destroy(&matrix);
  free(bs);
  ref_free(&m);
  test_context_label("%s", "");
}

/* ---- Multigrid ---- */

static ts_status create_multigrid(step *s) {
  return ts_multigrid_create(s->matrix, NULL, &s->multigrid);
}

static ts_status update_multigrid(step *s) {
  return ts_multigrid_update(s->multigrid);
}

static int make_stencil(const ts_poisson_desc *desc, ts_matrix **matrix) {
  ts_grid_desc grid;
  ts_space *space = NULL;
  static float values[9 * 1600];
  const int done = CHECK_OK(context, ts_poisson_grid(desc, &grid)) &&
                   CHECK_OK(context, ts_poisson_stencil(context, desc, HOST(values))) &&
                   CHECK_OK(context, ts_grid_create(context, &grid, &space)) &&
                   CHECK_OK(context, ts_stencil_create(space, HOST(values), matrix));
  ts_space_destroy(&space);
  return done;
}

static void multigrid(void) {
  const ts_poisson_desc desc = {.width = 40, .height = 40};
  step s = {.name = "create multigrid", .run = create_multigrid};
  if (test_is_multi()) return;
  if (!make_stencil(&desc, &s.matrix)) return;
  stop_at_each(&s, (void *const *)&s.multigrid);
  if (s.multigrid) {
    s.name = "update multigrid";
    s.run = update_multigrid;
    stop_at_each(&s, NULL);
    ts_space *space = ts_matrix_get_row_space(s.matrix);
    float *bs = ref_values(1600, 3, -1, 1);
    ts_vector *b = make_vector(space, 1, bs), *x = make_vector(space, 1, NULL);
    caller c = polled();
    ts_result result;
    c.stop = 2;
    CHECK_OK(context, ts_context_set_poll(context, poll, &c, AT_ONCE));
    CHECK_INT(ts_multigrid_solve(s.multigrid, b, x, &result), TS_NOT_CONVERGED);
    CHECK_INT(result.reason, TS_REASON_STOPPED);
    CHECK_INT(result.iterations, 1);
    CHECK_OK(context, ts_context_set_poll(context, NULL, NULL, 0));
    ts_vector_destroy(&b);
    ts_vector_destroy(&x);
    free(bs);
  }
  ts_multigrid_destroy(&s.multigrid);
  ts_matrix_destroy(&s.matrix);
}

static void solves(void) {
  solve_with(&(ts_solver_desc){.method = TS_METHOD_CG, .preconditioner_kind = TS_PRECONDITIONER_JACOBI});
  solve_with(&(ts_solver_desc){.method = TS_METHOD_CG, .preconditioner_kind = TS_PRECONDITIONER_AMG});
}

static ts_context_desc desc_of_round(int round) {
  (void)round;
  return heap_desc();
}

static const test_fixture with_heap = {.context = &context, .desc = desc_of_round};

TEST_MAIN(CASES_WITH(&with_heap, arguments, set_ups, solves, multigrid))
